//! Rules of places that hold of finished core: sizes that are known at some places only, and effects
//! that the parties may not have in common.
//!
//! Takes the script and the functions of an input, in core; reports what breaks a rule. Inference may
//! put a size into any type, and a function may read a file through another one, so both are decided
//! on core, where all types and calls are written out.
//!
//! - A size variable that is opened at S ([`crate::core::Program::placed_sizes`]) stands in a type
//!   only under `@ R`, R inside S, and in terms of work at R.
//!   A function is called with such a size for a parameter N if its body keeps the rule for N as a
//!   size that is known at the same places.
//! - Work at places calls no function that has work at places of its own: another party would have to
//!   do it. It calls no procedure that moves data, or that changes a variable which is not at
//!   these places: the other parties would not do the same. A procedure that is not known, because it
//!   is a parameter, is not called there.
//! - Outside of work at places, no statement reads or writes a file, nor calls a function that does.
//!
//! Cost: one walk over the core of the input, and one over each function that it reaches.

use crate::check::context::Checker;
use crate::check::error::PlaceError;
use crate::core::prim::Effect;
use crate::core::visit::Part;
use crate::core::{
    Function, FunctionId, GlobalId, LocalId, PatKind, Prim, Program, Root, Script, Stmt, StmtKind, Term,
    TermKind,
};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::{Type, TypeKind, TypeVar};
use std::collections::BTreeSet;
use std::sync::Arc;

impl Checker<'_> {
    /// Checks the rules of places for an input without other errors.
    pub(in crate::check) fn place_rules(&mut self, script: &Script) {
        if self.reports.any_error() {
            return;
        }
        let functions: Vec<Arc<Function>> =
            self.program.functions.iter().skip(self.first_function as usize).flatten().cloned().collect();
        // A module that the program with the parties imports is checked before.
        let party = self.program.party.clone();
        let mention = || script.mentions_places() || functions.iter().any(|f| f.mentions_places());
        if party.is_none() && !mention() {
            return;
        }
        let mut found = Vec::new();
        let mut known = HashMap::default();
        let sizes = self.program.placed_sizes.clone();
        let mut walk = SizeWalk {
            program: self.program,
            sizes,
            own: HashSet::default(),
            found: &mut found,
            known: &mut known,
        };
        script.body.iter().for_each(|stmt| walk.stmt(stmt, None));
        script.result.iter().for_each(|term| walk.term(term, None));
        for function in &functions {
            walk.own = function.type_params.iter().map(|var| var.id).collect();
            walk.term(&function.body, None);
        }
        let mut inside = InsideWalk {
            program: self.program,
            known: HashMap::default(),
            bound: HashMap::default(),
            found: &mut found,
        };
        script.body.iter().for_each(|stmt| inside.stmt(stmt, None));
        script.result.iter().for_each(|term| inside.term(term, None));
        for function in &functions {
            inside.bound.clear();
            inside.term(&function.body, None);
        }
        if let Some(party) = party {
            let place = party.place_names().first().map_or_else(String::new, |name| name.to_string());
            for (name, span) in files_of(self.program, script) {
                found.push(PlaceError::Effect { span, name, party: place.clone() });
            }
        }
        // A wrong size is mentioned by every term around the innermost one.
        let span = |error: &PlaceError| match error {
            PlaceError::SizeElsewhere { span, .. }
            | PlaceError::Effect { span, .. }
            | PlaceError::MoveInside { span, .. }
            | PlaceError::WorkInside { span, .. }
            | PlaceError::ProcedureInside { span, .. } => *span,
            _ => Span::default(),
        };
        found.sort_by_key(|error| span(error).end - span(error).start);
        let mut reported: Vec<Span> = Vec::new();
        for error in found {
            let own = span(&error);
            if !reported.iter().any(|inner| own.start <= inner.start && inner.end <= own.end) {
                reported.push(own);
                self.report(error);
            }
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
    let mut files = FileWalk { program, known: HashMap::default() };
    let mut effects = Vec::new();
    script.body.iter().for_each(|stmt| files.stmt(stmt, &mut effects));
    script.result.iter().for_each(|term| files.term(term, &mut effects));
    effects
}

/// The search for sizes where they are not known.
struct SizeWalk<'a> {
    /// The program.
    program: &'a Program,
    /// The places of sizes.
    sizes: HashMap<u32, Type>,
    /// The type parameters of the function.
    own: HashSet<u32>,
    /// The errors.
    found: &'a mut Vec<PlaceError>,
    /// The answers for functions, their parameters for sizes, and the places of these; true while
    /// a function is searched.
    known: &'a mut HashMap<(FunctionId, u32, Type), bool>,
}

impl SizeWalk<'_> {
    /// Searches a term of work at these places.
    fn term(&mut self, term: &Term, here: Option<&Type>) {
        match &term.kind {
            TermKind::At(places, body) => self.term(body, Some(places)),
            TermKind::Closure { function, type_args, .. } => {
                self.ty(&term.ty, term.span, here);
                self.type_arguments(*function, type_args, term.span, here);
            }
            _ => term.for_each_part(&mut |part| self.part(part, term.span, here)),
        }
    }

    /// Searches a statement.
    fn stmt(&mut self, stmt: &Stmt, here: Option<&Type>) {
        stmt.for_each_part(&mut |part| self.part(part, stmt.span, here));
    }

    /// Searches a part.
    fn part(&mut self, part: Part<'_>, span: Span, here: Option<&Type>) {
        match part {
            Part::Type(ty) => self.ty(ty, span, here),
            Part::Term(term) => self.term(term, here),
            Part::Pat(pat) => self.ty(&pat.ty, pat.span, here),
            Part::Body(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt, here)),
            Part::Use(_) | Part::Def(_) | Part::Set(_) => {}
        }
    }

    /// Searches a type.
    fn ty(&mut self, ty: &Type, span: Span, here: Option<&Type>) {
        if let Some((var, places)) = misplaced(ty, here, &self.sizes, &self.own) {
            let name = var.name.to_string();
            self.found.push(PlaceError::SizeElsewhere { span, name, places });
        }
    }

    /// Searches the type arguments of a function.
    fn type_arguments(&mut self, function: FunctionId, args: &[Type], span: Span, here: Option<&Type>) {
        let Some(Some(callee)) = self.program.functions.get(function as usize).cloned() else { return };
        for (param, arg) in callee.type_params.iter().zip(args) {
            let Some((var, places)) = misplaced(arg, here, &self.sizes, &self.own) else { continue };
            // The places as the function names them: by a parameter, or as they are.
            let named = callee.type_params.iter().zip(args).find(|(_, arg)| **arg == places);
            let inside = named.map_or_else(|| places.clone(), |(param, _)| Type::var(param.clone()));
            if !self.keeps(function, &callee, param, inside) {
                let name = var.name.to_string();
                self.found.push(PlaceError::SizeElsewhere { span, name, places });
            }
        }
    }

    /// Returns true if a function mentions a parameter only as a size that is known at these places.
    fn keeps(&mut self, id: FunctionId, callee: &Function, param: &TypeVar, places: Type) -> bool {
        let key = (id, param.id, places.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.known.insert(key.clone(), true);
        let mut found = Vec::new();
        let own = callee.type_params.iter().map(|var| var.id).filter(|id| *id != param.id).collect();
        let sizes = [(param.id, places)].into_iter().collect();
        let mut walk =
            SizeWalk { program: self.program, sizes, own, found: &mut found, known: &mut *self.known };
        walk.ty(&callee.domain, callee.span, None);
        walk.term(&callee.body, None);
        let keeps = found.is_empty();
        self.known.insert(key, keeps);
        keeps
    }
}

/// Returns a size variable in a type that is not known at the places where the type is used.
fn misplaced(
    ty: &Type,
    here: Option<&Type>,
    sizes: &HashMap<u32, Type>,
    own: &HashSet<u32>,
) -> Option<(TypeVar, Type)> {
    if !ty.has_var() {
        return None;
    }
    match ty.kind() {
        TypeKind::Var(var) if own.contains(&var.id) => None,
        TypeKind::Var(var) => {
            let places = sizes.get(&var.id)?;
            let known = here.is_some_and(|here| here.is_within_places(places));
            (!known).then(|| (var.clone(), places.clone()))
        }
        TypeKind::Placed(inner, places) => misplaced(inner, Some(places), sizes, own),
        kind => {
            let mut found = None;
            kind.for_each_child(&mut |child| {
                found = found.take().or_else(|| misplaced(child, here, sizes, own))
            });
            found
        }
    }
}

/// The effects of a function that work at places may not have.
#[derive(Clone, Default)]
struct Effects {
    /// True if it moves data.
    moves: bool,
    /// True if it has work at places of its own.
    works: bool,
    /// The session variables that it sets or stores into.
    globals: BTreeSet<GlobalId>,
    /// A captured variable that it sets or stores into.
    captured: Option<String>,
}

/// The search for calls inside work at places whose effects the other parties would not have.
struct InsideWalk<'a> {
    /// The program.
    program: &'a Program,
    /// The effects of functions; none while they are searched.
    known: HashMap<FunctionId, Arc<Effects>>,
    /// The functions that variables of the present body hold, with those that these capture.
    bound: HashMap<LocalId, Vec<FunctionId>>,
    /// The errors.
    found: &'a mut Vec<PlaceError>,
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
            (TermKind::Call(head, _), Some(here)) if matches!(head.ty.kind(), TypeKind::Procedure(_)) => {
                let seen =
                    matches!(head.kind, TermKind::Closure { .. } | TermKind::Local(_) | TermKind::Global(_));
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
        self.found.push(PlaceError::ProcedureInside { span, name, here, variable: None });
    }

    /// Reports what a function does that work at these places may not. `outside` is true for one
    /// that was made outside of the work.
    fn call(&mut self, function: FunctionId, outside: bool, span: Span, (places, at): Work<'_>) {
        let known = self.program.functions.get(function as usize).and_then(Option::as_ref);
        let name = known.map_or_else(String::new, |known| known.name.to_string());
        let effects = self.effects(function);
        if effects.moves {
            self.found.push(PlaceError::MoveInside { span, name, at });
            return;
        }
        if effects.works {
            self.found.push(PlaceError::WorkInside { span, name, at });
            return;
        }
        let elsewhere = effects.globals.iter().find(|id| {
            let own = self.program.globals[**id as usize].ty.as_placed();
            !own.is_some_and(|(_, own)| places.is_within_places(own))
        });
        let variable = match elsewhere {
            Some(id) => Some(self.program.globals[*id as usize].name.to_string()),
            None => effects.captured.clone().filter(|_| outside),
        };
        if variable.is_some() {
            let here = places.clone();
            self.found.push(PlaceError::ProcedureInside { span, name, here, variable });
        }
    }

    /// Returns the effects of a function and of those that it makes or calls.
    fn effects(&mut self, id: FunctionId) -> Arc<Effects> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        // All that are reached, and not the answers for them: these may call each other.
        let mut effects = Effects::default();
        let (mut reached, mut next) = (HashSet::default(), vec![id]);
        while let Some(id) = next.pop() {
            if let (true, Some(Some(function))) =
                (reached.insert(id), self.program.functions.get(id as usize))
            {
                let mut own = Effects::default();
                self.effects_of(&function.body, function, &mut own, &mut next);
                // A variable that a function inside captures may be one of the function around it.
                effects.captured = effects.captured.or(own.captured.filter(|_| reached.len() == 1));
                effects.moves |= own.moves;
                effects.works |= own.works;
                effects.globals.append(&mut own.globals);
            }
        }
        let effects = Arc::new(effects);
        self.known.insert(id, effects.clone());
        effects
    }

    /// Adds the effects of a term of a function, and the functions that it makes or calls.
    fn effects_of(
        &self,
        term: &Term,
        function: &Function,
        effects: &mut Effects,
        next: &mut Vec<FunctionId>,
    ) {
        match &term.kind {
            TermKind::Prim(prim, ..) if prim.effect() == Effect::Communication && *prim != Prim::Me => {
                effects.moves = true;
            }
            TermKind::At(..) => effects.works = true,
            TermKind::Closure { function: inner, .. } => next.push(*inner),
            _ => {}
        }
        term.for_each_part(&mut |part| self.effects_of_part(part, function, effects, next));
    }

    /// Adds the effects of a part of a function, and the functions that it makes or calls.
    fn effects_of_part(
        &self,
        part: Part<'_>,
        function: &Function,
        effects: &mut Effects,
        next: &mut Vec<FunctionId>,
    ) {
        match part {
            Part::Term(term) => self.effects_of(term, function, effects, next),
            Part::Body(stmts) => {
                for stmt in stmts {
                    match stmt.stores_into() {
                        Some(Root::Global(id)) => drop(effects.globals.insert(id)),
                        Some(Root::Local(local)) if function.captures.contains(&local) => {
                            effects.captured = Some(function.locals[local as usize].name.to_string());
                        }
                        _ => {}
                    }
                    stmt.for_each_part(&mut |part| self.effects_of_part(part, function, effects, next));
                }
            }
            _ => {}
        }
    }
}

/// The search for files that are read or written by all parties.
struct FileWalk<'a> {
    /// The program.
    program: &'a Program,
    /// Functions that have been searched, with what they do; `false` while they are searched.
    known: HashMap<FunctionId, bool>,
}

impl FileWalk<'_> {
    /// Searches a statement; adds the calls that read or write files, by name and place.
    fn stmt(&mut self, stmt: &Stmt, found: &mut Vec<(String, Span)>) {
        stmt.for_each_term(&mut |term| self.term(term, found));
    }

    /// Searches a term.
    fn term(&mut self, term: &Term, found: &mut Vec<(String, Span)>) {
        match &term.kind {
            TermKind::At(..) => return,
            TermKind::Prim(prim, ..) if prim.effect() == Effect::Files => {
                found.push((prim.name().to_string(), term.span));
            }
            TermKind::Closure { function, .. } if self.touches_files(*function) => {
                let name = self.function(*function).map_or_else(String::new, |f| f.name.to_string());
                found.push((name, term.span));
            }
            _ => {}
        }
        term.for_each_child(&mut |child| self.term(child, found));
    }

    /// Returns a function.
    fn function(&self, id: FunctionId) -> Option<Arc<Function>> {
        self.program.functions.get(id as usize).cloned().flatten()
    }

    /// Returns true if a function reads or writes files outside of work at places.
    fn touches_files(&mut self, id: FunctionId) -> bool {
        if let Some(known) = self.known.get(&id) {
            return *known;
        }
        self.known.insert(id, false);
        let Some(function) = self.function(id) else { return false };
        let mut found = Vec::new();
        self.term(&function.body, &mut found);
        self.known.insert(id, !found.is_empty());
        !found.is_empty()
    }
}
