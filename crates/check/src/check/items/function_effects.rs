//! The effects of the bodies of functions: what they move, show, call, set, and whether they work
//! at places or use files. [`super::place_rules`] decides by them.
//!
//! Cost: one walk over each function that is asked for.

use crate::check::error::{OperatorError, PlaceError};
use crate::core::prim::{Effect, Prim};
use crate::core::visit::Part;
use crate::core::{ClassId, Function, FunctionId, GlobalId, Program, Root, Term, TermKind};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::Type;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The effects of the body of a function, without those of the functions that it makes or calls.
#[derive(Default)]
pub(super) struct Body {
    /// The types of the data that it moves.
    pub(super) moved: Vec<Type>,
    /// The types of the values whose texts it makes.
    pub(super) shown: Vec<Type>,
    /// True if it has work at places.
    pub(super) works: bool,
    /// The first primitive that reads or writes a file outside of work at places.
    pub(super) files: Option<Prim>,
    /// The session variables that it sets or stores into.
    pub(super) globals: BTreeSet<GlobalId>,
    /// A captured variable that it sets or stores into.
    pub(super) captured: Option<String>,
    /// The functions that it makes or calls.
    pub(super) references: Vec<FunctionReference>,
    /// The methods that it calls.
    pub(super) methods: Vec<MethodCall>,
}

/// A method of a class at types.
pub(super) struct MethodCall {
    /// The class.
    pub(super) class: ClassId,
    /// The number of the method in the class.
    pub(super) method: usize,
    /// Arguments of the class, then those of the method's own type parameters.
    pub(super) type_args: Vec<Type>,
}

impl MethodCall {
    /// Returns the method that a term is; `None` for another term.
    pub(super) fn of(term: &Term) -> Option<MethodCall> {
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
pub(super) enum Reach {
    /// Calls inside work at places.
    Inside,
    /// Calls outside of work at places.
    Outside,
}

/// A reference of a body to a function: a closure that it makes, or a call.
pub(super) struct FunctionReference {
    /// The function.
    pub(super) function: FunctionId,
    /// One type for each of its type parameters.
    pub(super) type_args: Vec<Type>,
    /// True in work at places.
    pub(super) at_place: bool,
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
pub(super) struct Bodies<'a> {
    /// The program.
    pub(super) program: &'a Program,
    /// The bodies that have been searched.
    known: HashMap<FunctionId, Arc<Body>>,
}

impl<'a> Bodies<'a> {
    /// Creates the table, of which nothing has been searched.
    pub(super) fn new(program: &'a Program) -> Bodies<'a> {
        Bodies { program, known: HashMap::default() }
    }
}

impl Bodies<'_> {
    /// Returns the name of a function.
    pub(super) fn name(&self, id: FunctionId) -> String {
        let function = self.program.functions.get(id.index()).and_then(Option::as_ref);
        function.map_or_else(String::new, |function| function.name.to_string())
    }

    /// Returns the body of a function; an empty one for a function that could not be checked.
    pub(super) fn body(&mut self, id: FunctionId) -> Arc<Body> {
        if let Some(known) = self.known.get(&id) {
            return known.clone();
        }
        let mut body = Body::default();
        if let Some(Some(function)) = self.program.functions.get(id.index()) {
            body.add_term(&function.body, function, false);
        }
        let body = Arc::new(body);
        self.known.insert(id, body.clone());
        body
    }

    /// Returns the bodies that a call of a function reaches, its own first. Inside work at places
    /// all types are plain, so that methods of types at places are not reached.
    pub(super) fn reachable_bodies(&mut self, id: FunctionId, reach: Reach) -> Vec<Arc<Body>> {
        let (mut seen, mut next, mut found) = (HashSet::default(), vec![id], Vec::new());
        while let Some(id) = next.pop() {
            if seen.insert(id) {
                let body = self.body(id);
                let references =
                    body.references.iter().filter(|reference| reach == Reach::Inside || !reference.at_place);
                next.extend(references.map(|reference| reference.function));
                next.extend(body.methods.iter().flat_map(|method| self.implementations(method, reach)));
                found.push(body);
            }
        }
        found
    }

    /// Returns the functions that a term may be: a function that is made or called, or a method.
    pub(super) fn functions(&self, term: &Term, reach: Reach) -> Vec<FunctionId> {
        match (&term.kind, MethodCall::of(term)) {
            (TermKind::Closure { function, .. }, _) => vec![*function],
            (_, Some(call)) => self.implementations(&call, reach),
            _ => Vec::new(),
        }
    }

    /// Returns the functions that a call of a method may mean.
    pub(super) fn implementations(&self, call: &MethodCall, reach: Reach) -> Vec<FunctionId> {
        if !call.is_open() {
            return self.implementation(call).into_iter().map(|(function, _)| function).collect();
        }
        let of_class = self.program.instances.iter().filter(|instance| instance.class == call.class);
        let plain = |args: &[Type]| !args.iter().any(Type::is_spread);
        let instances = of_class.filter(|instance| reach == Reach::Outside || plain(&instance.args));
        let own = instances.filter_map(|instance| instance.methods.get(call.method));
        let default = self.program.classes[call.class.index()].methods[call.method].default;
        own.map(|implementation| implementation.function).chain(default).collect()
    }

    /// Returns the function of a method at types without variables, with its type arguments.
    fn implementation(&self, call: &MethodCall) -> Option<(FunctionId, Vec<Type>)> {
        self.program.implementation(call.class, call.method, &call.type_args)
    }

    /// Reports type arguments of functions and methods that move data of them and cannot.
    pub(super) fn unmovable_arguments(&mut self, term: &Term, found: &mut Vec<(Span, PlaceError)>) {
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
    pub(super) fn texts_of_native_values(&mut self, term: &Term, found: &mut Vec<(Span, OperatorError)>) {
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
            let Some(Some(function)) = self.program.functions.get(id.index()) else { continue };
            if !seen.insert((id, param)) {
                continue;
            }
            let (param, body) = (&function.type_params[param], self.body(id));
            let used = if usage == Use::Move { &body.moved } else { &body.shown };
            if used.iter().any(|ty| ty.holds_data_of(param)) {
                return true;
            }
            let known: HashMap<u32, Type> = [(param.id, ty)].into_iter().collect();
            for reference in &body.references {
                let passed = arguments((reference.function, reference.type_args.clone()));
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
                    && self.program.classes[call.class.index()].methods[call.method].joint
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
            TermKind::Closure { function, type_args, .. } => {
                self.references.push(FunctionReference {
                    function: *function,
                    type_args: type_args.clone(),
                    at_place,
                });
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
                            self.captured = Some(function.locals[local.index()].name.to_string());
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
