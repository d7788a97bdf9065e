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

use crate::check::context::Checker;
use crate::check::error::{OperatorError, PlaceError};
use crate::core::prim::{Effect, Prim};
use crate::core::visit::Part;
use crate::core::{
    ClassId, Function, FunctionId, GlobalId, LocalId, PatKind, Program, Root, Script, Stmt, StmtKind, Term,
    TermKind,
};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::{Kind, Type, TypeKind, TypeVar};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The maximum number of functions with type arguments of kind SPREAD that the search of one call
/// follows.
const MAX_SPREAD_INSTANCES: usize = 1_000;

/// The maximum number of nodes of such a type argument.
const MAX_SPREAD_NODES: u32 = 1_000;

impl Checker<'_> {
    /// Checks the rules of places for an input without other errors.
    pub(in crate::check) fn place_rules(&mut self, script: &Script) {
        if self.reports.any_error() && self.notes.is_none() {
            return;
        }
        let functions: Vec<Arc<Function>> =
            self.program.functions.iter().skip(self.first_function as usize).flatten().cloned().collect();
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
            let mut bodies = Bodies { program: self.program, known: HashMap::default() };
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
        let mut walk = SizeWalk {
            program: self.program,
            sizes: sizes.clone(),
            own: HashSet::default(),
            found: &mut found,
            known: &mut known,
            calls: Some(Calls::new(self.program, self.first_function)),
        };
        script.body.iter().for_each(|stmt| walk.stmt(stmt, None));
        script.result.iter().for_each(|term| walk.term(term, None));
        // Methods that syntax and the display of values call may be called before the statement
        // that tells a size. What no statement calls is called by later inputs.
        let first = self.first_function;
        for id in implicit_methods(self.program) {
            walk.called(id, &sizes);
        }
        let told = walk.sizes.clone();
        (first..self.program.functions.len() as FunctionId).for_each(|id| walk.called(id, &told));
        walk.functions();
        let mut bodies = Bodies { program: self.program, known: HashMap::default() };
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
    let mut files = FileWalk { bodies: Bodies { program, known: HashMap::default() }, found: Vec::new() };
    script.body.iter().for_each(|stmt| stmt.for_each_term(&mut |term| files.term(term)));
    script.result.iter().for_each(|term| files.term(term));
    files.found
}

/// The search for sizes where they are not known.
struct SizeWalk<'a> {
    /// The program.
    program: &'a Program,
    /// The places of sizes.
    sizes: HashMap<u32, Type>,
    /// The type parameters of the function.
    own: HashSet<u32>,
    /// The errors, with their places.
    found: &'a mut Vec<(Span, PlaceError)>,
    /// The answers for functions, their parameters for sizes, and the places of these; true while
    /// a function is searched.
    known: &'a mut HashMap<(FunctionId, u32, Type), bool>,
    /// The functions of the input that are called; `None` in the search of one function.
    calls: Option<Calls<'a>>,
}

/// The functions of an input that a search has found, with the sizes that not all parties know
/// where they are called first.
struct Calls<'a> {
    /// The number of the first function of the input.
    first: FunctionId,
    /// The bodies of the functions of the program.
    bodies: Bodies<'a>,
    /// The functions of the input that functions from before it call, as methods of instances.
    through: HashMap<FunctionId, Arc<[FunctionId]>>,
    /// The sizes with which a function has been searched, or will be.
    sizes: HashMap<FunctionId, HashSet<u32>>,
    /// The functions that are left to search.
    left: Vec<(FunctionId, HashMap<u32, Type>)>,
}

impl<'a> Calls<'a> {
    /// Creates a search that has found nothing.
    fn new(program: &'a Program, first: FunctionId) -> Calls<'a> {
        let bodies = Bodies { program, known: HashMap::default() };
        let (through, sizes, left) = (HashMap::default(), HashMap::default(), Vec::new());
        Calls { first, bodies, through, sizes, left }
    }

    /// Returns the functions of the input that a call of a function reaches first.
    fn of_input(&mut self, id: FunctionId) -> Arc<[FunctionId]> {
        if id >= self.first {
            return [id].into();
        }
        if let Some(known) = self.through.get(&id) {
            return known.clone();
        }
        let (mut seen, mut next, mut found) = (HashSet::default(), vec![id], Vec::new());
        while let Some(id) = next.pop() {
            if !seen.insert(id) {
                continue;
            }
            if id >= self.first {
                found.push(id);
                continue;
            }
            let body = self.bodies.body(id);
            next.extend(body.made.iter().map(|made| made.function));
            let methods = body.methods.iter();
            next.extend(methods.flat_map(|method| self.bodies.implementations(method, Reach::Outside)));
        }
        let found: Arc<[FunctionId]> = found.into();
        self.through.insert(id, found.clone());
        found
    }
}

impl SizeWalk<'_> {
    /// Notes that a function is called where some sizes are not known to all.
    fn called(&mut self, id: FunctionId, sizes: &HashMap<u32, Type>) {
        let Some(calls) = self.calls.as_mut() else { return };
        for id in calls.of_input(id).iter().copied() {
            let found = calls.sizes.get(&id);
            if found.is_none_or(|found| sizes.keys().any(|size| !found.contains(size))) {
                calls.sizes.entry(id).or_default().extend(sizes.keys());
                calls.left.push((id, sizes.clone()));
            }
        }
    }

    /// Notes the functions that a term makes or calls.
    fn calls_of(&mut self, term: &Term) {
        let Some(calls) = &self.calls else { return };
        let functions = calls.bodies.functions(term, Reach::Outside);
        let sizes = std::mem::take(&mut self.sizes);
        functions.into_iter().for_each(|id| self.called(id, &sizes));
        self.sizes = sizes;
    }

    /// Searches the functions that are called, and those that they call.
    fn functions(&mut self) {
        while let Some((id, sizes)) = self.calls.as_mut().and_then(|calls| calls.left.pop()) {
            let Some(Some(function)) = self.program.functions.get(id as usize).cloned() else { continue };
            self.sizes = sizes;
            self.own = function.type_params.iter().map(|var| var.id).collect();
            self.term(&function.body, None);
        }
    }

    /// Searches a term of work at these places.
    fn term(&mut self, term: &Term, here: Option<&Type>) {
        match &term.kind {
            TermKind::At(places, body) => self.term(body, Some(places)),
            TermKind::Block(stmts, value) => {
                self.ty(&term.ty, term.span, here);
                self.block(stmts, value.as_deref(), here);
            }
            TermKind::Closure { function, type_args, .. } => {
                self.ty(&term.ty, term.span, here);
                self.type_arguments(*function, type_args, term.span, here);
                self.calls_of(term);
            }
            TermKind::Method { .. } => {
                term.for_each_part(&mut |part| self.part(part, term.span, here));
                self.calls_of(term);
                MethodCall::of(term).iter().for_each(|call| self.method_arguments(call, term.span, here));
            }
            _ => term.for_each_part(&mut |part| self.part(part, term.span, here)),
        }
    }

    /// Searches a statement. Sizes that it opens outside of work at places are known to all after
    /// it.
    fn stmt(&mut self, stmt: &Stmt, here: Option<&Type>) {
        stmt.for_each_part(&mut |part| self.part(part, stmt.span, here));
        if let (StmtKind::Open { vars, value, .. }, None) = (&stmt.kind, here)
            && value.ty.as_placed().is_none()
        {
            vars.iter().for_each(|var| drop(self.sizes.remove(&var.id)));
        }
    }

    /// Searches the statements of a block, and its value.
    fn block(&mut self, stmts: &[Stmt], value: Option<&Term>, here: Option<&Type>) {
        let opens = stmts.iter().any(|stmt| matches!(stmt.kind, StmtKind::Open { .. }));
        let before = opens.then(|| self.sizes.clone());
        stmts.iter().for_each(|stmt| self.stmt(stmt, here));
        value.into_iter().for_each(|value| self.term(value, here));
        if let Some(before) = before {
            self.sizes = before;
        }
    }

    /// Searches a part.
    fn part(&mut self, part: Part<'_>, span: Span, here: Option<&Type>) {
        match part {
            Part::Type(ty) => self.ty(ty, span, here),
            Part::Term(term) => self.term(term, here),
            Part::Pat(pat) => self.ty(&pat.ty, pat.span, here),
            Part::Body(stmts) => self.block(stmts, None, here),
            Part::Use(_) | Part::Def(_) | Part::Set(_) => {}
        }
    }

    /// Searches a type.
    fn ty(&mut self, ty: &Type, span: Span, here: Option<&Type>) {
        if let Some((var, places)) = misplaced(ty, here, &self.sizes, &self.own) {
            let name = var.name.to_string();
            self.found.push((span, PlaceError::SizeElsewhere { span, name, places }));
        }
    }

    /// Searches the type arguments of a function, and of the functions and methods that it calls
    /// with its arguments of kind SPREAD: a size may stand in these under `@`, and the parameter of
    /// a method be the size alone.
    fn type_arguments(&mut self, function: FunctionId, args: &[Type], span: Span, here: Option<&Type>) {
        let mut bodies = Bodies { program: self.program, known: HashMap::default() };
        let (mut seen, mut next) = (HashSet::default(), vec![(function, args.to_vec())]);
        while let Some((function, args)) = next.pop() {
            if !seen.insert((function, args.clone())) {
                continue;
            }
            self.own_type_arguments(function, &args, span, here);
            if !args.iter().any(|arg| arg.is_spread() && self.size_in(arg, here).is_some()) {
                continue;
            }
            let Some(Some(callee)) = self.program.functions.get(function as usize) else { continue };
            // Recursion at ever larger types.
            let large = args.iter().any(|arg| arg.nodes() > MAX_SPREAD_NODES);
            if large || seen.len() > MAX_SPREAD_INSTANCES {
                if let Some((var, places)) = args.iter().find_map(|arg| self.size_in(arg, here)) {
                    let name = var.name.to_string();
                    self.found.push((span, PlaceError::SizeElsewhere { span, name, places }));
                }
                return;
            }
            let known = callee.type_params.iter().map(|param| param.id).zip(args).collect();
            let body = bodies.body(function);
            for made in &body.made {
                let args: Vec<Type> = made.type_args.iter().map(|arg| arg.substitute(&known)).collect();
                next.push((made.function, args));
            }
            for call in &body.methods {
                let type_args = call.type_args.iter().map(|arg| arg.substitute(&known)).collect();
                let call = MethodCall { class: call.class, method: call.method, type_args };
                next.extend(self.method_function(&call, span, here));
            }
        }
    }

    /// Searches the type arguments of a method: those of the function that it is.
    fn method_arguments(&mut self, call: &MethodCall, span: Span, here: Option<&Type>) {
        if let Some((function, args)) = self.method_function(call, span, here) {
            self.type_arguments(function, &args, span, here);
        }
    }

    /// Returns the function of a method and its type arguments, if these mention a size that is not
    /// known to all. Where parameters decide which function it is, each that it may be has to keep
    /// the rule for all of its sizes; `None` is returned.
    fn method_function(
        &mut self,
        call: &MethodCall,
        span: Span,
        here: Option<&Type>,
    ) -> Option<(FunctionId, Vec<Type>)> {
        let (var, places) = call.type_args.iter().find_map(|arg| self.size_in(arg, here))?;
        let mut open = false;
        let sizes = &self.sizes;
        call.type_args
            .iter()
            .for_each(|arg| arg.for_each_var(&mut |var| open |= !sizes.contains_key(&var.id)));
        // A class with one instance leaves no choice.
        let one = self.program.instances.iter().filter(|instance| instance.class == call.class).count() == 1;
        if (one || !open)
            && let Some(found) = self.program.implementation(call.class, call.method, &call.type_args)
        {
            return Some(found);
        }
        let bodies = Bodies { program: self.program, known: HashMap::default() };
        let any = MethodCall { class: call.class, method: call.method, type_args: call.type_args.clone() };
        for id in bodies.implementations(&any, Reach::Outside) {
            let Some(Some(callee)) = self.program.functions.get(id as usize).cloned() else { continue };
            let sizes = callee.type_params.iter().filter(|param| param.kind == Kind::Compact);
            if !sizes.into_iter().all(|param| self.keeps(id, &callee, param, places.clone())) {
                let name = var.name.to_string();
                self.found.push((span, PlaceError::SizeElsewhere { span, name, places }));
                return None;
            }
        }
        None
    }

    /// Returns a size in a type, also under `@`, that is known at some places only and not here.
    fn size_in(&self, ty: &Type, here: Option<&Type>) -> Option<(TypeVar, Type)> {
        let mut found = None;
        ty.for_each_var(&mut |var| {
            let places = self.sizes.get(&var.id).filter(|_| found.is_none() && !self.own.contains(&var.id));
            if let Some(places) = places.filter(|own| !here.is_some_and(|here| here.is_within_places(own))) {
                found = Some((var.clone(), places.clone()));
            }
        });
        found
    }

    /// Searches the type arguments of a function by its own parameters.
    fn own_type_arguments(&mut self, function: FunctionId, args: &[Type], span: Span, here: Option<&Type>) {
        let Some(Some(callee)) = self.program.functions.get(function as usize).cloned() else { return };
        for (param, arg) in callee.type_params.iter().zip(args) {
            let Some((var, places)) = misplaced(arg, here, &self.sizes, &self.own) else { continue };
            // The places as the function names them: by a parameter, or as they are.
            let named = callee.type_params.iter().zip(args).find(|(_, arg)| **arg == places);
            let inside = named.map_or_else(|| places.clone(), |(param, _)| Type::var(param.clone()));
            if !self.keeps(function, &callee, param, inside) {
                let name = var.name.to_string();
                self.found.push((span, PlaceError::SizeElsewhere { span, name, places }));
            }
        }
    }

    /// Returns true if a function mentions a parameter only as a size that is known at these
    /// places.
    fn keeps(&mut self, id: FunctionId, callee: &Function, param: &TypeVar, places: Type) -> bool {
        let key = (id, param.id, places.clone());
        if let Some(known) = self.known.get(&key) {
            return *known;
        }
        self.known.insert(key.clone(), true);
        let mut found = Vec::new();
        let own = callee.type_params.iter().map(|var| var.id).filter(|id| *id != param.id).collect();
        let sizes = [(param.id, places)].into_iter().collect();
        let mut walk = SizeWalk {
            program: self.program,
            sizes,
            own,
            found: &mut found,
            known: &mut *self.known,
            calls: None,
        };
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

/// The effects of the body of a function, without those of the functions that it makes or calls.
#[derive(Default)]
struct Body {
    /// The types of the data that it moves.
    moved: Vec<Type>,
    /// The types of the values whose texts it makes.
    shown: Vec<Type>,
    /// True if it has work at places.
    works: bool,
    /// The first primitive that reads or writes a file outside of work at places.
    files: Option<Prim>,
    /// The session variables that it sets or stores into.
    globals: BTreeSet<GlobalId>,
    /// A captured variable that it sets or stores into.
    captured: Option<String>,
    /// The functions that it makes or calls.
    made: Vec<Made>,
    /// The methods that it calls.
    methods: Vec<MethodCall>,
}

/// A method of a class at types.
struct MethodCall {
    /// The class.
    class: ClassId,
    /// The number of the method in the class.
    method: usize,
    /// Arguments of the class, then those of the method's own type parameters.
    type_args: Vec<Type>,
}

impl MethodCall {
    /// Returns the method that a term is; `None` for another term.
    fn of(term: &Term) -> Option<MethodCall> {
        let TermKind::Method { class, method, type_args } = &term.kind else { return None };
        Some(MethodCall { class: *class, method: *method, type_args: type_args.clone() })
    }

    /// Returns true if a type argument has a variable, so that the function depends on it.
    fn is_open(&self) -> bool {
        self.type_args.iter().any(Type::has_var)
    }
}

/// The calls whose effects are sought.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// Calls inside work at places.
    Inside,
    /// Calls outside of work at places.
    Outside,
}

/// A function that the body of another one makes or calls.
struct Made {
    /// The function.
    function: FunctionId,
    /// One type for each of its type parameters.
    type_args: Vec<Type>,
    /// True in work at places.
    at_place: bool,
}

/// A use of data that some types do not allow.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// A move between places.
    Move,
    /// A text.
    Text,
}

/// Returns the type of the value whose text a term makes.
fn text_type(term: &Term) -> Option<&Type> {
    match &term.kind {
        TermKind::Prim(Prim::Print | Prim::Println | Prim::Str | Prim::Strr, types, _) => types.first(),
        _ => None,
    }
}

/// The bodies of the functions of a program, each searched once.
struct Bodies<'a> {
    /// The program.
    program: &'a Program,
    /// The bodies that have been searched.
    known: HashMap<FunctionId, Arc<Body>>,
}

impl Bodies<'_> {
    /// Returns the name of a function.
    fn name(&self, id: FunctionId) -> String {
        let function = self.program.functions.get(id as usize).and_then(Option::as_ref);
        function.map_or_else(String::new, |function| function.name.to_string())
    }

    /// Returns the body of a function; an empty one for a function that could not be checked.
    fn body(&mut self, id: FunctionId) -> Arc<Body> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let mut body = Body::default();
        if let Some(Some(function)) = self.program.functions.get(id as usize) {
            body.add_term(&function.body, function, false);
        }
        let body = Arc::new(body);
        self.known.insert(id, body.clone());
        body
    }

    /// Returns the bodies that a call of a function reaches, its own first. Inside work at places
    /// all types are plain, so that methods of types at places are not reached.
    fn reached(&mut self, id: FunctionId, reach: Reach) -> Vec<Arc<Body>> {
        let (mut seen, mut next, mut found) = (HashSet::default(), vec![id], Vec::new());
        while let Some(id) = next.pop() {
            if seen.insert(id) {
                let body = self.body(id);
                let made = body.made.iter().filter(|made| reach == Reach::Inside || !made.at_place);
                next.extend(made.map(|made| made.function));
                next.extend(body.methods.iter().flat_map(|method| self.implementations(method, reach)));
                found.push(body);
            }
        }
        found
    }

    /// Returns the functions that a term may be: a function that is made or called, or a method.
    fn functions(&self, term: &Term, reach: Reach) -> Vec<FunctionId> {
        match (&term.kind, MethodCall::of(term)) {
            (TermKind::Closure { function, .. }, _) => vec![*function],
            (_, Some(call)) => self.implementations(&call, reach),
            _ => Vec::new(),
        }
    }

    /// Returns the functions that a call of a method may mean.
    fn implementations(&self, call: &MethodCall, reach: Reach) -> Vec<FunctionId> {
        if !call.is_open() {
            return self.implementation(call).into_iter().map(|(function, _)| function).collect();
        }
        let of_class = self.program.instances.iter().filter(|instance| instance.class == call.class);
        let plain = |args: &[Type]| !args.iter().any(Type::is_spread);
        let instances = of_class.filter(|instance| reach == Reach::Outside || plain(&instance.args));
        let own = instances.filter_map(|instance| instance.methods.get(call.method));
        let default = self.program.classes[call.class as usize].methods[call.method].default;
        own.map(|implementation| implementation.function).chain(default).collect()
    }

    /// Returns the function of a method at types without variables, with its type arguments.
    fn implementation(&self, call: &MethodCall) -> Option<(FunctionId, Vec<Type>)> {
        self.program.implementation(call.class, call.method, &call.type_args)
    }

    /// Reports type arguments of functions and methods that move data of them and cannot.
    fn unmovable_arguments(&mut self, term: &Term, found: &mut Vec<(Span, PlaceError)>) {
        let called = match &term.kind {
            TermKind::Closure { function, type_args, .. } => Some((*function, type_args.clone())),
            _ => MethodCall::of(term)
                .filter(|call| !call.is_open())
                .and_then(|call| self.implementation(&call)),
        };
        for (function, param, ty) in called.into_iter().flat_map(arguments) {
            if let Some(part) = self.program.unmovable_part(&ty)
                && self.uses_data_of(Use::Move, function, param, ty.clone())
            {
                let (span, by) = (term.span, Some(self.name(function)));
                found.push((span, PlaceError::NotWire { span, ty, part, by }));
            }
        }
        term.for_each_child(&mut |child| self.unmovable_arguments(child, found));
    }

    /// Reports texts of values that have none, in a term and in functions that it calls with their
    /// types as type arguments.
    fn texts_of_native_values(&mut self, term: &Term, found: &mut Vec<(Span, OperatorError)>) {
        let called = match &term.kind {
            TermKind::Closure { function, type_args, .. } => Some((*function, type_args.clone())),
            _ => MethodCall::of(term)
                .filter(|call| !call.is_open())
                .and_then(|call| self.implementation(&call)),
        };
        let shown = text_type(term).filter(|ty| ty.native_part().is_some()).cloned();
        let by_call = called.into_iter().flat_map(arguments).find(|(function, param, ty)| {
            ty.native_part().is_some() && self.uses_data_of(Use::Text, *function, *param, ty.clone())
        });
        if let Some(ty) = shown.or(by_call.map(|(.., ty)| ty)) {
            let (span, part) = (term.span, ty.native_part().unwrap_or_else(|| ty.clone()));
            found.push((span, OperatorError::NoText { span, ty, part }));
        }
        term.for_each_child(&mut |child| self.texts_of_native_values(child, found));
    }

    /// Returns true if a function, or one that it makes, uses data in this way whose type mentions
    /// this type parameter of it, for which it has this type.
    fn uses_data_of(&mut self, usage: Use, id: FunctionId, param: usize, ty: Type) -> bool {
        let (mut seen, mut next) = (HashSet::default(), vec![(id, param, ty)]);
        while let Some((id, param, ty)) = next.pop() {
            let Some(Some(function)) = self.program.functions.get(id as usize) else { continue };
            if !seen.insert((id, param)) {
                continue;
            }
            let (param, body) = (&function.type_params[param], self.body(id));
            let used = if usage == Use::Move { &body.moved } else { &body.shown };
            if used.iter().any(|ty| ty.holds_data_of(param)) {
                return true;
            }
            let known: HashMap<u32, Type> = [(param.id, ty)].into_iter().collect();
            for made in &body.made {
                let passed = arguments((made.function, made.type_args.clone()));
                let passed = passed.filter(|(.., arg)| arg.mentions(param));
                next.extend(passed.map(|(function, i, arg)| (function, i, arg.substitute(&known))));
            }
            for call in body.methods.iter().filter(|call| call.type_args.iter().any(|ty| ty.mentions(param)))
            {
                let type_args = call.type_args.iter().map(|arg| arg.substitute(&known)).collect();
                let call = MethodCall { class: call.class, method: call.method, type_args };
                // Where another parameter decides which function this is, it may move the data.
                if usage == Use::Move
                    && call.is_open()
                    && self.program.classes[call.class as usize].methods[call.method].joint
                {
                    return true;
                }
                let called = self.implementation(&call).filter(|_| !call.is_open());
                let passed = called.into_iter().flat_map(arguments);
                let matters = |ty: &Type| match usage {
                    Use::Move => self.program.unmovable_part(ty).is_some(),
                    Use::Text => ty.native_part().is_some(),
                };
                next.extend(passed.filter(|(.., arg)| matters(arg)));
            }
        }
        false
    }
}

/// Returns the type arguments of a function, each with the function and its number.
fn arguments((function, args): (FunctionId, Vec<Type>)) -> impl Iterator<Item = (FunctionId, usize, Type)> {
    args.into_iter().enumerate().map(move |(i, arg)| (function, i, arg))
}

impl Body {
    /// Adds the effects of a term of a function.
    fn add_term(&mut self, term: &Term, function: &Function, at_place: bool) {
        let inside = at_place || matches!(term.kind, TermKind::At(..));
        self.shown.extend(text_type(term).cloned());
        match &term.kind {
            TermKind::Prim(prim, types, _) => match prim.effect() {
                Effect::Communication => self.moved.extend(types.last().cloned()),
                Effect::Files if !at_place => self.files = self.files.or(Some(*prim)),
                _ => {}
            },
            TermKind::At(..) => self.works = true,
            _ if text_type(term).is_some() => {}
            TermKind::Closure { function: made, type_args, .. } => {
                self.made.push(Made { function: *made, type_args: type_args.clone(), at_place });
            }
            _ => self.methods.extend(MethodCall::of(term)),
        }
        term.for_each_part(&mut |part| self.add_part(part, function, inside));
    }

    /// Adds the effects of a part of a function.
    fn add_part(&mut self, part: Part<'_>, function: &Function, at_place: bool) {
        match part {
            Part::Term(term) => self.add_term(term, function, at_place),
            Part::Body(stmts) => {
                for stmt in stmts {
                    match stmt.stores_into() {
                        Some(Root::Global(id)) => drop(self.globals.insert(id)),
                        Some(Root::Local(local)) if function.captures.contains(&local) => {
                            self.captured = Some(function.locals[local as usize].name.to_string());
                        }
                        _ => {}
                    }
                    stmt.for_each_part(&mut |part| self.add_part(part, function, at_place));
                }
            }
            _ => {}
        }
    }
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
        let reached = self.bodies.reached(function, Reach::Inside);
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
            let own = globals[**id as usize].ty.as_placed();
            !own.is_some_and(|(_, own)| places.is_within_places(own))
        };
        let elsewhere = reached.iter().flat_map(|body| &body.globals).filter(is_elsewhere).min();
        // A variable that a function inside captures may be one of the function around it.
        let variable = match elsewhere {
            Some(id) => Some(globals[*id as usize].name.to_string()),
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
                    let reached = self.bodies.reached(function, Reach::Outside);
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
