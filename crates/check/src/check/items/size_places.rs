//! The search for sizes where they are not known: in types, in arguments of functions and methods,
//! and in the functions that are called with them. [`super::place_rules`] states the rule.
//!
//! Takes terms of finished core in the order in which they run; notes errors with their places.

use super::function_effects::{Bodies, MethodCall, Reach};
use crate::check::error::PlaceError;
use crate::core::visit::Part;
use crate::core::{Function, FunctionId, Program, Stmt, StmtKind, Term, TermKind};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::{Kind, Type, TypeKind, TypeVar};
use std::sync::Arc;

/// The maximum number of functions with type arguments of kind SPREAD that the search of one call
/// follows.
const MAX_SPREAD_INSTANCES: usize = 1_000;

/// The maximum number of nodes of such a type argument.
const MAX_SPREAD_NODES: u32 = 1_000;

/// The search for sizes where they are not known.
pub(super) struct SizeWalk<'a> {
    /// The program.
    program: &'a Program,
    /// The places of sizes; a statement that tells one removes it.
    pub(super) sizes: HashMap<u32, Type>,
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
        let bodies = Bodies::new(program);
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
            next.extend(body.references.iter().map(|reference| reference.function));
            let methods = body.methods.iter();
            next.extend(methods.flat_map(|method| self.bodies.implementations(method, Reach::Outside)));
        }
        let found: Arc<[FunctionId]> = found.into();
        self.through.insert(id, found.clone());
        found
    }
}

impl<'a> SizeWalk<'a> {
    /// Creates the search of an input, whose functions begin at a number.
    pub(super) fn new(
        program: &'a Program,
        first: FunctionId,
        sizes: HashMap<u32, Type>,
        found: &'a mut Vec<(Span, PlaceError)>,
        known: &'a mut HashMap<(FunctionId, u32, Type), bool>,
    ) -> SizeWalk<'a> {
        let calls = Some(Calls::new(program, first));
        SizeWalk { program, sizes, own: HashSet::default(), found, known, calls }
    }
}

impl SizeWalk<'_> {
    /// Notes that a function is called where some sizes are not known to all.
    pub(super) fn note_call(&mut self, id: FunctionId, sizes: &HashMap<u32, Type>) {
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
        functions.into_iter().for_each(|id| self.note_call(id, &sizes));
        self.sizes = sizes;
    }

    /// Searches the functions that are called, and those that they call.
    pub(super) fn functions(&mut self) {
        while let Some((id, sizes)) = self.calls.as_mut().and_then(|calls| calls.left.pop()) {
            let Some(Some(function)) = self.program.functions.get(id.index()).cloned() else { continue };
            self.sizes = sizes;
            self.own = function.type_params.iter().map(|var| var.id).collect();
            self.term(&function.body, None);
        }
    }

    /// Searches a term of work at these places.
    pub(super) fn term(&mut self, term: &Term, here: Option<&Type>) {
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
    pub(super) fn stmt(&mut self, stmt: &Stmt, here: Option<&Type>) {
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
        let mut bodies = Bodies::new(self.program);
        let (mut seen, mut next) = (HashSet::default(), vec![(function, args.to_vec())]);
        while let Some((function, args)) = next.pop() {
            if !seen.insert((function, args.clone())) {
                continue;
            }
            self.own_type_arguments(function, &args, span, here);
            if !args.iter().any(|arg| arg.is_spread() && self.size_in(arg, here).is_some()) {
                continue;
            }
            let Some(Some(callee)) = self.program.functions.get(function.index()) else { continue };
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
            for reference in &body.references {
                let args: Vec<Type> = reference.type_args.iter().map(|arg| arg.substitute(&known)).collect();
                next.push((reference.function, args));
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
        let bodies = Bodies::new(self.program);
        for id in bodies.implementations(call, Reach::Outside) {
            let Some(Some(callee)) = self.program.functions.get(id.index()).cloned() else { continue };
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
        let Some(Some(callee)) = self.program.functions.get(function.index()).cloned() else { return };
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
