//! The names of a session: values, functions with their signatures, types, kinds, classes.
//!
//! An [`Env`] outlives one input. The caller clones it before an input is checked and restores the
//! clone if that fails, so that a failed input changes nothing.

use crate::check::solve::infer::Infer;
use crate::check::state::Reduced;
use crate::core::{ClassId, FunctionId, GlobalId, Prim};
use crate::hash::HashMap;
use crate::source::{SourceId, Span};
use crate::syntax::Chunk;
use crate::types::apply::Refusal;
use crate::types::variable_numbers::SESSION;
use crate::types::{FiniteKind, Kind, Nominal, Type, TypeFun, TypeKind, TypeVar};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

/// An importable text.
#[derive(Debug)]
pub struct Module {
    /// The name of the file in messages.
    pub file: String,
    /// The number of its text.
    pub source: SourceId,
    /// Its statements.
    pub(super) chunks: Arc<[Chunk]>,
    /// The positions in `chunks` of the definitions of each name.
    pub(super) by_name: Arc<HashMap<Arc<str>, Vec<usize>>>,
    /// The environment in which it was checked; `None` for a part of the library, which uses the
    /// library's.
    pub(super) env: Option<Env>,
    /// The statements that have been checked, of a module of which only some are; `None` for all.
    pub(super) checked: Option<BTreeSet<usize>>,
}

/// The scopes of top-level names, from near to far. The scopes of blocks are nearer still; they are
/// in the frames of the function being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// The present text, or the present session with all its inputs.
    Module,
    /// Names that an import lists.
    Listed,
    /// Names that an import brings by `*`, and operators, which cannot be listed.
    Starred,
    /// The library with the primitives.
    Library,
}

impl Scope {
    /// Returns the name of the scope for a message, to follow the word "in".
    pub fn words(self) -> &'static str {
        match self {
            Scope::Module => "this module",
            Scope::Listed => "an import of this name",
            Scope::Starred => "an import with `*`",
            Scope::Library => "the library",
        }
    }
}

/// The definition of the name of a value.
#[derive(Clone, Debug)]
pub enum Definition {
    /// A session variable. No callable of a farther scope has its name.
    Global {
        /// Its number.
        id: GlobalId,
        /// True if declared with `var`.
        mutable: bool,
        /// The place of its name.
        span: Span,
        /// The word `val` of its statement, if it has one.
        word: Option<Span>,
        /// The scope it is in.
        scope: Scope,
    },
    /// The functions, constructors and primitives of the name.
    Callables(Candidates),
}

impl Definition {
    /// Makes a variable that no text declares: a value of the host, or the name of a result.
    pub fn of_session(id: GlobalId) -> Definition {
        Definition::Global { id, mutable: false, span: Span::default(), word: None, scope: Scope::Module }
    }

    /// Returns the same variable as a name of another scope.
    pub fn with_scope(mut self, to: Scope) -> Definition {
        if let Definition::Global { scope, .. } = &mut self {
            *scope = to;
        }
        self
    }
}

/// The callables of one name, from the nearest scope to the farthest, within a scope in the order
/// of declaration.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    /// The callables, ordered by scope.
    all: Vec<Callable>,
    /// The scope of each callable.
    scopes: Vec<Scope>,
}

impl Deref for Candidates {
    type Target = [Callable];
    fn deref(&self) -> &[Callable] {
        &self.all
    }
}

impl Candidates {
    /// Adds a candidate as the last of its scope.
    pub fn add(&mut self, callable: Callable, scope: Scope) {
        let at = self.scopes.partition_point(|known| *known <= scope);
        self.all.insert(at, callable);
        self.scopes.insert(at, scope);
    }

    /// Keeps the candidates for which `keep` holds.
    pub fn retain(&mut self, mut keep: impl FnMut(&Callable, Scope) -> bool) {
        let mut scopes = std::mem::take(&mut self.scopes).into_iter();
        let kept = &mut self.scopes;
        self.all.retain(|callable| {
            scopes.next().is_some_and(|scope| {
                let keeps = keep(callable, scope);
                kept.extend(keeps.then_some(scope));
                keeps
            })
        });
    }

    /// Returns the candidates with their scopes.
    pub fn with_scopes(&self) -> impl Iterator<Item = (&Callable, Scope)> {
        self.all.iter().zip(self.scopes.iter().copied())
    }

    /// Returns the candidates of one scope.
    pub fn in_scope(&self, scope: Scope) -> impl Iterator<Item = &Callable> {
        self.with_scopes().filter(move |(_, of)| *of == scope).map(|(callable, _)| callable)
    }

    /// Returns the scope of the nearest candidate.
    pub fn nearest(&self) -> Option<Scope> {
        self.scopes.first().copied()
    }
}

/// A callable: the referent of a name that can be applied.
#[derive(Clone, Debug, PartialEq)]
pub enum Callable {
    /// A declared function.
    Function(FunctionId),
    /// A primitive.
    Prim(Prim),
    /// A case of a variant.
    Case(Nominal, usize),
    /// The constructor of a struct.
    Struct(Nominal),
    /// A method of a class.
    Method(ClassId, usize),
}

/// A constraint: types are an instance of a class, as in `Add[T]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// The class.
    pub class: ClassId,
    /// One type for each parameter of the class.
    pub args: Vec<Type>,
}

impl Constraint {
    /// Returns the constraint with types substituted for its variables.
    pub fn substitute(&self, bindings: &HashMap<u32, Type>) -> Constraint {
        Constraint { class: self.class, args: self.args.iter().map(|t| t.substitute(bindings)).collect() }
    }
}

/// A declared class.
#[derive(Clone, Debug)]
pub struct Class {
    /// Its number.
    pub id: ClassId,
    /// Its name.
    pub name: Arc<str>,
    /// Its type parameters.
    pub params: Vec<TypeVar>,
    /// The superclasses, as constraints of its parameters.
    pub supers: Vec<Constraint>,
    /// The methods that its instances provide.
    pub methods: Vec<Method>,
    /// The laws that hold in every instance.
    pub laws: Vec<Law>,
    /// The place of its name.
    pub span: Span,
    /// Its `///` comment.
    pub doc: Option<Arc<str>>,
}

/// A method of a class.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name, which may be an operator.
    pub name: Arc<str>,
    /// Its type, over the parameters of the class and then its own.
    pub scheme: Scheme,
    /// True for `joint fun`: functions of instances may move data.
    pub joint: bool,
    /// The function of an instance that does not define the method.
    pub default: Option<FunctionId>,
    /// The place of its name.
    pub span: Span,
}

/// A law of a class: a function from its variables to `bool`, over the class's parameters.
#[derive(Clone, Debug)]
pub struct Law {
    /// Its name.
    pub name: Arc<str>,
    /// The function that computes it.
    pub function: FunctionId,
    /// The types of its variables.
    pub domain: Type,
    /// The place of its name.
    pub span: Span,
}

/// A declared instance.
#[derive(Clone, Debug)]
pub struct Membership {
    /// Its own type parameters.
    pub params: Vec<TypeVar>,
    /// The arguments of the class.
    pub args: Vec<Type>,
    /// The constraints of the parameters that the instance requires.
    pub requires: Vec<Constraint>,
    /// The refusal, in words of its author, if the declaration states that no such instance exists.
    pub refusal: Option<Refusal>,
    /// The place of its declaration.
    pub span: Span,
}

/// The definition of the name of a type.
#[derive(Clone, Debug)]
pub enum TypeDefinition {
    /// `typedef name[params] = body`.
    Alias(Vec<TypeVar>, Type),
    /// A declared type.
    Nominal(Nominal),
    /// A size named by the type of a variable: `val x : int ^ ?N`.
    Size(Type),
    /// A type function.
    Function(TypeFun),
}

/// The type of a callable.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Type parameters.
    pub params: Vec<TypeVar>,
    /// The argument.
    pub domain: Type,
    /// The result; `None` for a procedure.
    pub result: Option<Type>,
    /// The constraints of the type arguments.
    pub constraints: Vec<Constraint>,
}

impl Scheme {
    /// Makes a scheme without constraints.
    pub fn new(params: Vec<TypeVar>, domain: Type, result: Option<Type>) -> Scheme {
        Scheme { params, domain, result, constraints: Vec::new() }
    }

    /// Returns the scheme as a type.
    pub fn ty(&self) -> Type {
        match &self.result {
            Some(result) => Type::function(self.domain.clone(), result.clone()),
            None => Type::procedure(self.domain.clone()),
        }
    }

    /// Instantiates the scheme: parameters beyond the `given` type arguments become fresh holes.
    pub fn instantiate(&self, infer: &mut Infer, given: &[Type]) -> Instance {
        let mut args: Vec<Type> = given
            .iter()
            .zip(&self.params)
            .map(|(ty, param)| match ty.kind() {
                // `_` is inferred, at the kind of the parameter.
                TypeKind::Meta(meta) if meta.kind != param.kind => infer.fresh(param.kind),
                _ => match param.kind {
                    Kind::List(form) if !ty.has_kind(param.kind) => ty.clone().into_list(form),
                    _ => ty.clone(),
                },
            })
            .collect();
        args.extend(self.params.iter().skip(given.len()).map(|p| infer.fresh(p.kind)));
        let bindings = self.params.iter().map(|p| p.id).zip(args.iter().cloned()).collect();
        Instance {
            domain: self.domain.substitute(&bindings),
            result: self.result.as_ref().map(|r| r.substitute(&bindings)),
            constraints: self.constraints.iter().map(|c| c.substitute(&bindings)).collect(),
            args,
        }
    }
}

/// A scheme at types.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The type arguments.
    pub args: Vec<Type>,
    /// The argument.
    pub domain: Type,
    /// The result; `None` for a procedure.
    pub result: Option<Type>,
    /// The constraints that must hold.
    pub constraints: Vec<Constraint>,
}

impl Instance {
    /// Returns the type of the instance.
    pub fn ty(&self) -> Type {
        match &self.result {
            Some(result) => Type::function(self.domain.clone(), result.clone()),
            None => Type::procedure(self.domain.clone()),
        }
    }
}

/// A parameter of a declared function, as seen by its calls.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name; `None` if it is a pattern.
    pub name: Option<Arc<str>>,
    /// The function that computes its value where a call omits it.
    pub default: Option<FunctionId>,
}

/// The header of a declared function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name.
    pub name: Arc<str>,
    /// Its type. A result that is not declared is missing until the body has been checked.
    pub scheme: Scheme,
    /// True while `scheme.result` is not inferred yet.
    pub unknown_result: bool,
    /// True for a `joint fun`, which moves data between places.
    pub joint: bool,
    /// True for a `proc` with a result: its calls are expressions where procedures may be called.
    pub procedure: bool,
    /// The parameters in their groups; calls may name and omit them.
    pub parameters: Vec<Vec<Parameter>>,
    /// The place of its declaration.
    pub span: Span,
    /// Its `///` comment.
    pub doc: Option<Arc<str>>,
}

/// The constraints of a declared type.
#[derive(Clone, Debug)]
pub struct TypeConstraints {
    /// Its parameters.
    pub params: Vec<TypeVar>,
    /// The constraints of the parameters.
    pub constraints: Vec<Constraint>,
}

/// The names of a session with their definitions.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Values and functions.
    pub values: HashMap<Arc<str>, Definition>,
    /// Declared kinds.
    pub kinds: HashMap<Arc<str>, FiniteKind>,
    /// The kinds of imported modules, with or without a name here.
    pub foreign_kinds: Vec<FiniteKind>,
    /// Types.
    pub types: HashMap<Arc<str>, TypeDefinition>,
    /// The equations of sizes required at the top level.
    pub equations: Vec<(Type, Type)>,
    /// Classes by name.
    pub class_names: HashMap<Arc<str>, ClassId>,
    /// Classes.
    pub classes: HashMap<ClassId, Arc<Class>>,
    /// The instances of each class.
    pub instances: HashMap<ClassId, Vec<Arc<Membership>>>,
    /// The number of texts of the library: texts numbered below this belong to it, and the user
    /// cannot replace their declarations. 0 in the library itself.
    pub library_texts: u32,
    /// The texts of imported modules: neither of the library nor this one.
    pub foreign: BTreeSet<SourceId>,
    /// The parts of the library that can be imported by name.
    pub parts: Vec<&'static str>,
    /// Imported modules, by the names they have here.
    pub modules: HashMap<Arc<str>, Arc<Module>>,
    /// The abstract types whose representation is not known here, and the lists of the library, by
    /// number.
    pub hidden: BTreeSet<u32>,
    /// The abstract types of this module that blocks have declared, by number: no name refers to
    /// them.
    pub unnamed: BTreeSet<u32>,
    /// The constraints of declared types, by the number of the type's first parameter.
    pub type_constraints: HashMap<u32, TypeConstraints>,
    /// Headers, by [`FunctionId`].
    pub signatures: HashMap<FunctionId, Signature>,
    /// The functions held by immutable variables of the session.
    pub(super) held_functions: HashMap<GlobalId, Reduced>,
    /// The last number given out by [`Env::fresh_id`].
    next_id: u32,
}

impl Env {
    /// Makes an environment that holds the primitives alone.
    pub fn new() -> Env {
        let mut env = Env::default();
        for &prim in Prim::ALL {
            env.add_callable(&Arc::from(prim.name()), Callable::Prim(prim), Scope::Library);
        }
        env
    }

    /// Returns a number that no other type variable or declared type of the session has.
    pub fn fresh_id(&mut self) -> u32 {
        self.next_id = SESSION.nth(self.next_id as usize + 1);
        self.next_id
    }

    /// Returns true if a number has been given out here, or elsewhere in the session.
    pub fn has_given_numbers(&self) -> bool {
        self.next_id != 0
    }

    /// Ensures that numbers given out later differ from those that `other` has given out.
    pub fn number_after(&mut self, other: &Env) {
        self.next_id = self.next_id.max(other.next_id);
    }

    /// Makes a rigid variable.
    pub fn fresh_var(&mut self, name: &Arc<str>, kind: Kind) -> TypeVar {
        TypeVar { id: self.fresh_id(), name: name.clone(), kind }
    }

    /// Returns the kind of this name.
    pub fn lookup_kind(&self, name: &str) -> Option<Kind> {
        Kind::from_name(name).or_else(|| self.kinds.get(name).map(FiniteKind::kind))
    }

    /// Returns the declaration of a kind, if it has one.
    pub fn finite_kind(&self, kind: Kind) -> Option<&FiniteKind> {
        self.kinds.values().chain(&self.foreign_kinds).find(|k| k.kind() == kind)
    }

    /// Returns the name of a kind.
    pub fn kind_name(&self, kind: Kind) -> String {
        let declared = self.finite_kind(kind).map(|k| k.name.to_string());
        declared.unwrap_or_else(|| kind.to_string())
    }

    /// Adds a callable to those of its name. Hides a variable of the name, unless the variable is
    /// in a nearer scope.
    pub fn add_callable(&mut self, name: &Arc<str>, callable: Callable, scope: Scope) {
        self.candidates_in(name, scope).into_iter().for_each(|known| known.add(callable.clone(), scope));
    }

    /// Returns the candidates of a name, for adding one of this scope; `None` if a variable of a
    /// nearer scope has the name.
    pub(super) fn candidates_in(&mut self, name: &Arc<str>, scope: Scope) -> Option<&mut Candidates> {
        let known = self.values.entry(name.clone());
        let known = known.or_insert_with(|| Definition::Callables(Candidates::default()));
        if let Definition::Global { scope: nearer, .. } = known {
            if *nearer < scope {
                return None;
            }
            *known = Definition::Callables(Candidates::default());
        }
        match known {
            Definition::Callables(candidates) => Some(candidates),
            Definition::Global { .. } => None,
        }
    }

    /// Defines a name as a variable, unless a nearer scope defines it.
    pub fn define_global(&mut self, name: &Arc<str>, definition: Definition) {
        let Definition::Global { scope, .. } = &definition else { return };
        let nearer = match self.values.get(name) {
            Some(Definition::Global { scope: known, .. }) => known < scope,
            Some(Definition::Callables(candidates)) => {
                candidates.nearest().is_some_and(|known| known < *scope)
            }
            None => false,
        };
        if !nearer {
            self.values.insert(name.clone(), definition);
        }
    }

    /// Returns the scope of the declarations of the present text.
    pub fn own_scope(&self) -> Scope {
        // The texts of the library are read at their first mention, in no fixed order: they share
        // one scope with the primitives.
        if self.is_library() { Scope::Library } else { Scope::Module }
    }

    /// Returns the scope of the methods of a class that are found by their operator alone.
    fn class_scope(&self, class: &Class) -> Scope {
        if self.is_library() || self.of_library(class.span) {
            Scope::Library
        } else if self.foreign.contains(&class.span.source) {
            Scope::Starred
        } else {
            Scope::Module
        }
    }

    /// Returns the class of this name.
    pub fn class(&self, name: &str) -> Option<&Arc<Class>> {
        self.classes.get(self.class_names.get(name)?)
    }

    /// Returns true if this is the environment of the library itself.
    pub fn is_library(&self) -> bool {
        self.library_texts == 0
    }

    /// Returns true if the present text or session has the declaration at this place.
    pub fn replaceable(&self, span: Span) -> bool {
        !self.of_library(span) && !self.foreign.contains(&span.source)
    }

    /// Returns true if the library has the declaration at this place.
    pub fn of_library(&self, span: Span) -> bool {
        span.source.0 < self.library_texts
    }

    /// Returns the named parts of a type, as far as an expression may name them.
    pub fn visible_parts(&self, ty: &Type, at: Span) -> Option<Vec<(Arc<str>, Type)>> {
        if self.hides_parts(ty, at) { None } else { ty.named_parts() }
    }

    /// Returns true for a list of the library outside of it. No text may name its fields: they fit
    /// each other, and a position would be that of a field.
    pub fn hides_parts(&self, ty: &Type, at: Span) -> bool {
        let TypeKind::Nominal(nominal, _) = ty.kind() else { return false };
        self.hidden.contains(&nominal.id) && nominal.as_abstract().is_none() && !self.of_library(at)
    }

    /// Returns true for a function that the library declares.
    pub fn is_library_function(&self, callable: &Callable) -> bool {
        let Callable::Function(id) = callable else { return false };
        self.signatures.get(id).is_some_and(|signature| self.of_library(signature.span))
    }

    /// Returns a constraint as source text.
    pub fn text(&self, constraint: &Constraint) -> String {
        let name = self.classes.get(&constraint.class).map_or("?", |class| &class.name);
        let args: Vec<String> = constraint.args.iter().map(Type::to_string).collect();
        format!("{name}[{}]", args.join(", "))
    }

    /// Returns the callables of a name.
    pub fn callables(&self, name: &str) -> Option<&[Callable]> {
        match self.values.get(name) {
            Some(Definition::Callables(callables)) => Some(callables),
            _ => None,
        }
    }

    /// Returns the meanings of an operator: functions of its name, and methods of all classes. An
    /// operator needs no import; its methods are known with the instances.
    pub fn operators(&self, symbol: &str) -> Candidates {
        let mut all = match self.values.get(symbol) {
            Some(Definition::Callables(known)) => known.clone(),
            _ => Candidates::default(),
        };
        let mut classes: Vec<&Arc<Class>> = self.classes.values().collect();
        classes.sort_unstable_by_key(|class| class.id);
        for class in classes {
            let of_class = class.methods.iter().enumerate().filter(|(_, m)| *m.name == *symbol);
            for (at, _) in of_class {
                let method = Callable::Method(class.id, at);
                if !all.contains(&method) {
                    all.add(method, self.class_scope(class));
                }
            }
        }
        all
    }

    /// Returns the callables of a name with their scopes. An operator has the methods of all
    /// classes.
    pub fn candidates(&self, name: &str) -> Candidates {
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return self.operators(name);
        }
        match self.values.get(name) {
            Some(Definition::Callables(candidates)) => candidates.clone(),
            _ => Candidates::default(),
        }
    }

    /// Returns the constructor of this name, if there is one.
    pub fn constructor(&self, name: &str) -> Option<(Nominal, usize)> {
        self.scoped_constructor(name).map(|(nominal, case, _)| (nominal, case))
    }

    /// Returns the constructor of this name with its scope.
    pub fn scoped_constructor(&self, name: &str) -> Option<(Nominal, usize, Scope)> {
        let Some(Definition::Callables(candidates)) = self.values.get(name) else { return None };
        candidates.with_scopes().find_map(|(c, scope)| match c {
            Callable::Case(nominal, case) => Some((nominal.clone(), *case, scope)),
            _ => None,
        })
    }
}

/// Returns the substitution of type arguments for type parameters, by the numbers of the
/// parameters.
pub(super) fn bindings(params: &[TypeVar], args: &[Type]) -> HashMap<u32, Type> {
    params.iter().map(|p| p.id).zip(args.iter().cloned()).collect()
}

/// Returns true if two functions have the same domain up to the names of type parameters.
pub(super) fn same_domain(a: &Scheme, b: &Scheme) -> bool {
    if a.params.len() != b.params.len() || a.params.iter().zip(&b.params).any(|(p, q)| p.kind != q.kind) {
        return false;
    }
    let args: Vec<Type> = b.params.iter().cloned().map(Type::var).collect();
    a.domain.substitute(&bindings(&a.params, &args)) == b.domain
}
