//! Rules of places that hold of finished core: sizes that are known at some places only, and
//! effects that the parties may not have in common.
//!
//! Takes the script and the functions of an input, in core; reports what breaks a rule. Inference
//! may put a size into any type, and a function may read a file through another one, so both are
//! decided on core, where all types and calls are written out.
//!
//! - A size variable that is opened at S ([`crate::core::Program::placed_sizes`]) stands in a type
//!   only under `@ R`, R inside S, and in terms of work at R.
//!   A function is called with such a size for a parameter N if its body keeps the rule for N as a
//!   size that is known at the same places. So does a method, whose size may stand under `@` in the
//!   type by which it is chosen.
//! - Work at places calls no function that has work at places of its own: another party would have
//!   to do it. It calls no procedure that moves data, or that changes a variable which is not at
//!   these places: the other parties would not do the same. A procedure that is not known, because
//!   it is a parameter, is not called there.
//! - Outside of work at places, no statement reads or writes a file, nor calls a function that
//!   does.
//! - A function that moves data whose type mentions a parameter T is called with no T that has a
//!   part which cannot be moved ([`Type::unmovable_part`]).
//! - Keys and ciphertexts ([`Type::is_native`]) have no text, in programs without parties either.
//!
//! Cost: one walk over the core of the input, and one over each function that it reaches.

use super::function_effects::{Bodies, Reach};
use super::size_places::SizeWalk;
use crate::check::context::Checker;
use crate::check::error::PlaceError;
use crate::core::prim::Effect;
use crate::core::visit::Part;
use crate::core::{
    ClassId, Function, FunctionId, GlobalId, LocalId, PatKind, Program, Script, Stmt, StmtKind, Term,
    TermKind,
};
use crate::hash::HashMap;
use crate::source::Span;
use crate::types::{Type, TypeKind};
use std::sync::Arc;

impl Checker<'_> {
    /// Checks the rules of places for an input without other errors.
    pub(in crate::check) fn place_rules(&mut self, script: &Script) {
        if self.reports.any_error() && self.notes.is_none() {
            return;
        }
        let functions: Vec<Arc<Function>> =
            self.program.functions.iter().skip(self.first_function.index()).flatten().cloned().collect();
        if let Some(notes) = &mut self.notes {
            let bodies = functions.iter().map(|function| &function.body);
            let native = || {
                let mut terms = script.body.iter().any(|stmt| {
                    let mut found = false;
                    stmt.for_each_term(&mut |term| found |= has_native_part(term));
                    found
                });
                terms |= script.result.iter().chain(bodies.clone()).any(has_native_part);
                terms
            };
            notes.has_places |= self.program.party.is_some()
                || script.mentions_places()
                || functions.iter().any(|f| f.mentions_places())
                || self.program.known.wire.is_some() && native();
            if self.reports.any_error() {
                return;
            }
        }
        if self.program.known.wire.is_some() {
            let mut bodies = Bodies::new(self.program);
            let mut found = Vec::new();
            let mut search = |term: &Term| bodies.texts_of_native_values(term, &mut found);
            script.body.iter().for_each(|stmt| stmt.for_each_term(&mut search));
            script.result.iter().for_each(&mut search);
            functions.iter().for_each(|function| search(&function.body));
            report_innermost(found, |error| self.report(error));
        }
        // A module that the program with the parties imports is checked before.
        let party = self.program.party.clone();
        let mention = || script.mentions_places() || functions.iter().any(|f| f.mentions_places());
        if party.is_none() && !mention() {
            return;
        }
        let mut found = Vec::new();
        let mut known = HashMap::default();
        let mut sizes = self.program.placed_sizes.clone();
        self.program.revealed_sizes[..self.revealed_before].iter().for_each(|id| drop(sizes.remove(id)));
        let mut walk =
            SizeWalk::new(self.program, self.first_function, sizes.clone(), &mut found, &mut known);
        script.body.iter().for_each(|stmt| walk.stmt(stmt, None));
        script.result.iter().for_each(|term| walk.term(term, None));
        // Methods that syntax and the display of values call may be called before the statement
        // that tells a size. What no statement calls is called by later inputs.
        let first = self.first_function.index();
        for id in implicit_methods(self.program) {
            walk.note_call(id, &sizes);
        }
        let told = walk.sizes.clone();
        (first..self.program.functions.len()).for_each(|id| walk.note_call(FunctionId::new(id), &told));
        walk.functions();
        let mut bodies = Bodies::new(self.program);
        script.body.iter().for_each(|stmt| {
            stmt.for_each_term(&mut |term| bodies.unmovable_arguments(term, &mut found));
        });
        script.result.iter().for_each(|term| bodies.unmovable_arguments(term, &mut found));
        functions.iter().for_each(|function| bodies.unmovable_arguments(&function.body, &mut found));
        let mut inside = InsideWalk { bodies, bound: HashMap::default(), found: &mut found };
        script.body.iter().for_each(|stmt| inside.stmt(stmt, None));
        script.result.iter().for_each(|term| inside.term(term, None));
        for function in &functions {
            inside.bound.clear();
            inside.term(&function.body, None);
        }
        if let Some(party) = party {
            let place = party.first_place();
            for (name, span) in files_of(self.program, script) {
                found.push((span, PlaceError::Effect { span, name, party: place.to_string() }));
            }
        }
        report_innermost(found, |error| self.report(error));
    }
}

/// Returns the functions that are methods of classes which give syntax a meaning: no call of these
/// is written where a value is shown, compared or converted.
fn implicit_methods(program: &Program) -> impl Iterator<Item = FunctionId> {
    let known = &program.known;
    let classes = [known.show, known.eq, known.literal, known.convert, known.widen, known.index];
    let classes: Vec<ClassId> = classes.into_iter().chain([known.arbitrary]).flatten().collect();
    let instances = program.instances.iter().filter(move |instance| classes.contains(&instance.class));
    instances.flat_map(|instance| instance.methods.iter().map(|method| method.function))
}

/// Returns true if a term, or one in it, has a type with values that are none of the language.
fn has_native_part(term: &Term) -> bool {
    let mut found = term.ty.native_part().is_some();
    term.for_each_child(&mut |child| found |= has_native_part(child));
    found
}

/// Reports errors, but for those around another one: a wrong size is mentioned by every term around
/// the innermost one.
fn report_innermost<E>(mut found: Vec<(Span, E)>, mut report: impl FnMut(E)) {
    found.sort_by_key(|(span, _)| span.end - span.start);
    let mut reported: Vec<Span> = Vec::new();
    for (own, error) in found {
        if !reported.iter().any(|inner| own.start <= inner.start && inner.end <= own.end) {
            reported.push(own);
            report(error);
        }
    }
}

/// Returns an error for each place of a module's own statements that reads or writes a file: all
/// parties carry them out.
pub(in crate::check) fn files_of_module(program: &Program, script: &Script) -> Vec<PlaceError> {
    let effects = files_of(program, script);
    effects.into_iter().map(|(name, span)| PlaceError::EffectOfModule { span, name }).collect()
}

/// Returns the calls outside of work at places that read or write files, by name and place.
fn files_of(program: &Program, script: &Script) -> Vec<(String, Span)> {
    let mut files = FileWalk { bodies: Bodies::new(program), found: Vec::new() };
    script.body.iter().for_each(|stmt| stmt.for_each_term(&mut |term| files.term(term)));
    script.result.iter().for_each(|term| files.term(term));
    files.found
}

/// The search for calls inside work at places whose effects the other parties would not have.
struct InsideWalk<'a> {
    /// The bodies of the functions of the program.
    bodies: Bodies<'a>,
    /// The functions that variables of the present body hold, with those that these capture.
    bound: HashMap<LocalId, Vec<FunctionId>>,
    /// The errors, with their places.
    found: &'a mut Vec<(Span, PlaceError)>,
}

/// Work at places: the places, and where it is written.
type Work<'a> = (&'a Type, Span);

impl InsideWalk<'_> {
    /// Searches a term.
    fn term(&mut self, term: &Term, here: Option<Work<'_>>) {
        match (&term.kind, here) {
            (TermKind::At(places, body), _) => return self.term(body, Some((places, term.span))),
            // What gives a value at places is evaluated before, by all.
            (TermKind::Here(inner), _) => return self.term(inner, None),
            (TermKind::Closure { function, captures, .. }, Some(here)) => {
                self.call(*function, false, term.span, here);
                captures.iter().for_each(|local| self.call_bound(*local, term.span, here));
            }
            (TermKind::Method { .. }, Some(here)) => {
                for function in self.bodies.functions(term, Reach::Inside) {
                    self.call(function, false, term.span, here);
                }
            }
            (TermKind::Call(head, _), Some(here)) if matches!(head.ty.kind(), TypeKind::Procedure(_)) => {
                let seen = matches!(
                    head.kind,
                    TermKind::Closure { .. }
                        | TermKind::Method { .. }
                        | TermKind::Local(_)
                        | TermKind::Global(_)
                );
                if !seen {
                    self.unknown(head.span, here);
                }
            }
            (TermKind::Local(local), Some(here)) if matches!(term.ty.kind(), TypeKind::Procedure(_)) => {
                if !self.bound.contains_key(local) {
                    self.unknown(term.span, here);
                }
                self.call_bound(*local, term.span, here);
            }
            (TermKind::Local(local), Some(here)) => self.call_bound(*local, term.span, here),
            (TermKind::Global(_), Some(here)) if matches!(term.ty.kind(), TypeKind::Procedure(_)) => {
                self.unknown(term.span, here);
            }
            _ => {}
        }
        term.for_each_part(&mut |part| self.part(part, here));
    }

    /// Searches a statement.
    fn stmt(&mut self, stmt: &Stmt, here: Option<Work<'_>>) {
        if let (StmtKind::Let(pat, value), None) = (&stmt.kind, here)
            && let (PatKind::Bind(local), TermKind::Closure { function, captures, .. }) =
                (&pat.kind, &value.kind)
        {
            let captured = captures.iter().filter_map(|local| self.bound.get(local)).flatten();
            let functions: Vec<FunctionId> = std::iter::once(function).chain(captured).copied().collect();
            self.bound.insert(*local, functions);
        }
        stmt.for_each_part(&mut |part| self.part(part, here));
    }

    /// Searches a part.
    fn part(&mut self, part: Part<'_>, here: Option<Work<'_>>) {
        match part {
            Part::Term(term) => self.term(term, here),
            Part::Body(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt, here)),
            _ => {}
        }
    }

    /// Reports what the function of a variable does that work at these places may not.
    fn call_bound(&mut self, local: LocalId, span: Span, here: Work<'_>) {
        let functions = self.bound.get(&local).cloned().unwrap_or_default();
        functions.into_iter().for_each(|function| self.call(function, true, span, here));
    }

    /// Reports a procedure that is not known.
    fn unknown(&mut self, span: Span, (places, _): Work<'_>) {
        let (name, here) = ("it".to_string(), places.clone());
        self.found.push((span, PlaceError::ProcedureInside { span, name, here, variable: None }));
    }

    /// Reports what a function does that work at these places may not. `outside` is true for one
    /// that was made outside of the work.
    fn call(&mut self, function: FunctionId, outside: bool, span: Span, (places, at): Work<'_>) {
        let name = self.bodies.name(function);
        let reached = self.bodies.reachable_bodies(function, Reach::Inside);
        if reached.iter().any(|body| !body.moved.is_empty()) {
            self.found.push((span, PlaceError::MoveInside { span, name, at }));
            return;
        }
        if reached.iter().any(|body| body.works) {
            self.found.push((span, PlaceError::WorkInside { span, name, at }));
            return;
        }
        let globals = &self.bodies.program.globals;
        let is_elsewhere = |id: &&GlobalId| {
            let own = globals[id.index()].ty.as_placed();
            !own.is_some_and(|(_, own)| places.is_within_places(own))
        };
        let elsewhere = reached.iter().flat_map(|body| &body.globals).filter(is_elsewhere).min();
        // A variable that a function inside captures may be one of the function around it.
        let variable = match elsewhere {
            Some(id) => Some(globals[id.index()].name.to_string()),
            None => reached[0].captured.clone().filter(|_| outside),
        };
        if variable.is_some() {
            let here = places.clone();
            self.found.push((span, PlaceError::ProcedureInside { span, name, here, variable }));
        }
    }
}

/// The search for files that are read or written by all parties.
struct FileWalk<'a> {
    /// The bodies of the functions of the program.
    bodies: Bodies<'a>,
    /// The calls that read or write files, by name and place.
    found: Vec<(String, Span)>,
}

impl FileWalk<'_> {
    /// Searches a term.
    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::At(..) => return,
            TermKind::Prim(prim, ..) if prim.effect() == Effect::Files => {
                self.found.push((prim.name().to_string(), term.span));
            }
            _ => {
                for function in self.bodies.functions(term, Reach::Outside) {
                    let reached = self.bodies.reachable_bodies(function, Reach::Outside);
                    if let Some(prim) = reached.iter().find_map(|body| body.files) {
                        // A function without a name is named by what it does.
                        let name = self.bodies.name(function);
                        let name = if name == "fun" { prim.name().to_string() } else { name };
                        self.found.push((name, term.span));
                    }
                }
            }
        }
        term.for_each_child(&mut |child| self.term(child));
    }
}
