//! What a session knows by name: values, functions with their signatures, types.
//!
//! An [`Env`] outlives one input. It is cloned before an input is checked and put back if that
//! fails, so that a failed line changes nothing.

use crate::check::elaborate::place::Seen;
use crate::check::items::module::Module;
use crate::check::solve::infer::Infer;
use crate::core::{ClassId, FunctionId, GlobalId, Prim};
use crate::hash::HashMap;
use crate::source::{SourceId, Span};
use crate::types::apply::Refusal;
use crate::types::{FiniteKind, Kind, Nominal, Type, TypeFun, TypeKind, TypeVar};
use std::collections::BTreeSet;
use std::ops::Deref;
use std::sync::Arc;

/// The scopes of top-level names, from near to far. Those of blocks are nearer still; they are in
/// the frames of the function being checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    /// This text, or this session with all its inputs.
    Module,
    /// Names that an import lists.
    Listed,
    /// Names that an import brings by `*`, and operators, which nobody lists.
    Starred,
    /// The library with the primitives.
    Library,
}

impl Scope {
    /// The scope in words, after "in".
    pub fn words(self) -> &'static str {
        match self {
            Scope::Module => "this module",
            Scope::Listed => "an import of this name",
            Scope::Starred => "an import with `*`",
            Scope::Library => "the library",
        }
    }
}

/// What a name of a value stands for.
#[derive(Clone, Debug)]
pub enum Definition {
    /// A session variable. Nothing farther has its name.
    Global {
        /// Which.
        id: GlobalId,
        /// Declared with `var`.
        mutable: bool,
        /// Where.
        span: Span,
        /// The word `val` of its statement.
        word: Option<Span>,
        /// The scope it is in.
        scope: Scope,
    },
    /// Functions, constructors and primitives of that name.
    Callables(Candidates),
}

impl Definition {
    /// A variable that no text declares: a host's value, or the name of a result.
    pub fn of_session(id: GlobalId) -> Definition {
        Definition::Global { id, mutable: false, span: Span::default(), word: None, scope: Scope::Module }
    }

    /// The same variable as a name of another scope.
    pub fn within(mut self, to: Scope) -> Definition {
        if let Definition::Global { scope, .. } = &mut self {
            *scope = to;
        }
        self
    }
}

/// What can be called by one name, from the nearest scope to the farthest, in each in the order of
/// declaration.
#[derive(Clone, Debug, Default)]
pub struct Candidates {
    all: Vec<Callable>,
    /// The scope of each.
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

    /// The candidates with their scopes.
    pub fn scoped(&self) -> impl Iterator<Item = (&Callable, Scope)> {
        self.all.iter().zip(self.scopes.iter().copied())
    }

    /// The candidates of one scope.
    pub fn in_scope(&self, scope: Scope) -> impl Iterator<Item = &Callable> {
        self.scoped().filter(move |(_, of)| *of == scope).map(|(callable, _)| callable)
    }

    /// The scope of the nearest candidate.
    pub fn nearest(&self) -> Option<Scope> {
        self.scopes.first().copied()
    }
}

/// What can be called by a name.
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

/// That types belong to a class: `Add[T]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// The class.
    pub class: ClassId,
    /// One type for each of its parameters.
    pub args: Vec<Type>,
}

impl Constraint {
    /// The constraint at types for its variables.
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
    /// What its members must be instances of, too.
    pub supers: Vec<Constraint>,
    /// What its instances provide.
    pub methods: Vec<Method>,
    /// What holds in every instance.
    pub laws: Vec<Law>,
    /// Where its name is declared.
    pub span: Span,
    /// Its `///` comment.
    pub doc: Option<Arc<str>>,
}

/// A method of a class.
#[derive(Clone, Debug)]
pub struct Method {
    /// Its name; may be an operator.
    pub name: Arc<str>,
    /// Its type, over the class's parameters and then its own.
    pub scheme: Scheme,
    /// The function an instance has that does not define it.
    pub default: Option<FunctionId>,
    /// Where its name is declared.
    pub span: Span,
}

/// A law of a class: a function from its variables to `bool`, over the class's parameters.
#[derive(Clone, Debug)]
pub struct Law {
    /// Its name.
    pub name: Arc<str>,
    /// Its meaning.
    pub function: FunctionId,
    /// Types of its variables.
    pub domain: Type,
    /// Where its name is declared.
    pub span: Span,
}

/// A declared instance.
#[derive(Clone, Debug)]
pub struct Membership {
    /// Its own type parameters.
    pub params: Vec<TypeVar>,
    /// The arguments of the class.
    pub args: Vec<Type>,
    /// What must hold of the parameters.
    pub requires: Vec<Constraint>,
    /// There is to be no such instance, in the author's words.
    pub refusal: Option<Refusal>,
    /// Where it is declared.
    pub span: Span,
}

/// What a name of a type stands for.
#[derive(Clone, Debug)]
pub enum TypeDefinition {
    /// `typedef name[params] = body`.
    Alias(Vec<TypeVar>, Type),
    /// A declared type.
    Nominal(Nominal),
    /// A size that a variable's type has named: `val x : int ^ ?N`.
    Size(Type),
    /// A type function.
    Function(TypeFun),
}

/// The type of something that can be called.
#[derive(Clone, Debug)]
pub struct Scheme {
    /// Type parameters.
    pub params: Vec<TypeVar>,
    /// Argument.
    pub domain: Type,
    /// Result; `None` for a procedure.
    pub result: Option<Type>,
    /// What must hold of the type arguments.
    pub constraints: Vec<Constraint>,
}

impl Scheme {
    /// A scheme that demands nothing of its type arguments.
    pub fn new(params: Vec<TypeVar>, domain: Type, result: Option<Type>) -> Scheme {
        Scheme { params, domain, result, constraints: Vec::new() }
    }

    /// The scheme as a type.
    pub fn ty(&self) -> Type {
        match &self.result {
            Some(result) => Type::function(self.domain.clone(), result.clone()),
            None => Type::procedure(self.domain.clone()),
        }
    }

    /// The scheme at fresh holes: their list, argument, result.
    pub fn instantiate(&self, infer: &mut Infer, given: &[Type]) -> Instance {
        let mut args: Vec<Type> = given
            .iter()
            .zip(&self.params)
            .map(|(ty, param)| match ty.kind() {
                // `_`: to be inferred, at the kind of the parameter.
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
    /// Argument.
    pub domain: Type,
    /// Result; `None` for a procedure.
    pub result: Option<Type>,
    /// What must hold.
    pub constraints: Vec<Constraint>,
}

impl Instance {
    /// Its type.
    pub fn ty(&self) -> Type {
        match &self.result {
            Some(result) => Type::function(self.domain.clone(), result.clone()),
            None => Type::procedure(self.domain.clone()),
        }
    }
}

/// A parameter of a declared function, as its calls know it.
#[derive(Clone, Debug)]
pub struct Parameter {
    /// Its name, if it is one.
    pub name: Option<Arc<str>>,
    /// The function that gives its value where a call leaves it out.
    pub default: Option<FunctionId>,
}

/// The header of a declared function.
#[derive(Clone, Debug)]
pub struct Signature {
    /// Its name.
    pub name: Arc<str>,
    /// Its type; the result is missing until the body has been checked if it was not declared.
    pub scheme: Scheme,
    /// Whether `scheme.result` still is to be inferred.
    pub unknown_result: bool,
    /// What calls may name and leave out: the parameters in their groups.
    pub parameters: Vec<Vec<Parameter>>,
    /// Where it is declared.
    pub span: Span,
    /// Its `///` comment.
    pub doc: Option<Arc<str>>,
}

/// What a declared type asks of its arguments.
#[derive(Clone, Debug)]
pub struct TypeConstraints {
    /// Its parameters.
    pub params: Vec<TypeVar>,
    /// Constraints of them.
    pub constraints: Vec<Constraint>,
}

/// Everything a session knows by name.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Values and functions.
    pub values: HashMap<Arc<str>, Definition>,
    /// Declared kinds.
    pub kinds: HashMap<Arc<str>, FiniteKind>,
    /// Kinds of imported modules, whether they have a name here or not.
    pub foreign_kinds: Vec<FiniteKind>,
    /// Types.
    pub types: HashMap<Arc<str>, TypeDefinition>,
    /// Equations of sizes that have been required at the top level.
    pub equations: Vec<(Type, Type)>,
    /// Classes by name.
    pub class_names: HashMap<Arc<str>, ClassId>,
    /// Classes.
    pub classes: HashMap<ClassId, Arc<Class>>,
    /// Instances of each class.
    pub instances: HashMap<ClassId, Vec<Arc<Membership>>>,
    /// Texts numbered below this are the library's, and the user cannot replace what they declare;
    /// 0 in the library itself.
    pub library_texts: u32,
    /// Other texts than the library's that are not this one's: those of modules.
    pub foreign: BTreeSet<SourceId>,
    /// The parts of the library, which can be imported by name.
    pub parts: Vec<&'static str>,
    /// Imported modules, by the names they have here.
    pub modules: HashMap<Arc<str>, Arc<Module>>,
    /// Abstract types whose representation is not known here, by number.
    pub hidden: BTreeSet<u32>,
    /// Abstract types of this module that were declared in blocks, by number: no name leads to
    /// them.
    pub unnamed: BTreeSet<u32>,
    /// The constraints of declared types that have some, by the number of their first parameter.
    pub type_constraints: HashMap<u32, TypeConstraints>,
    /// Headers, by [`FunctionId`].
    pub signatures: HashMap<FunctionId, Signature>,
    /// Functions that variables of the session hold for good.
    pub(super) held_functions: HashMap<GlobalId, Seen>,
    /// Types of primitives, read when first used.
    pub(super) prim_schemes: HashMap<Prim, (Scheme, usize)>,
    next_id: u32,
}

impl Env {
    /// The primitives and nothing else.
    pub fn new() -> Env {
        let mut env = Env::default();
        for &prim in Prim::ALL {
            env.add_callable(&Arc::from(prim.name()), Callable::Prim(prim), Scope::Library);
        }
        env
    }

    /// A number no other type variable or declared type of the session has.
    pub fn fresh_id(&mut self) -> u32 {
        self.next_id += 1;
        self.next_id
    }

    /// Gives out from here on no number that `other` has given out.
    pub fn number_after(&mut self, other: &Env) {
        self.next_id = self.next_id.max(other.next_id);
    }

    /// A new rigid variable.
    pub fn fresh_var(&mut self, name: &Arc<str>, kind: Kind) -> TypeVar {
        TypeVar { id: self.fresh_id(), name: name.clone(), kind }
    }

    /// The kind of this name.
    pub fn kind_named(&self, name: &str) -> Option<Kind> {
        Kind::named(name).or_else(|| self.kinds.get(name).map(FiniteKind::kind))
    }

    /// The declaration of a kind, if it has one.
    pub fn finite_kind(&self, kind: Kind) -> Option<&FiniteKind> {
        self.kinds.values().chain(&self.foreign_kinds).find(|k| k.kind() == kind)
    }

    /// The name of a kind.
    pub fn kind_name(&self, kind: Kind) -> String {
        let declared = self.finite_kind(kind).map(|k| k.name.to_string());
        declared.unwrap_or_else(|| kind.to_string())
    }

    /// Adds a callable to those of its name; hides a variable of the name, unless that is nearer.
    pub fn add_callable(&mut self, name: &Arc<str>, callable: Callable, scope: Scope) {
        self.candidates_in(name, scope).into_iter().for_each(|known| known.add(callable.clone(), scope));
    }

    /// The candidates of a name, to which one of this scope is to be added; `None` if a nearer
    /// variable ends the search before.
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

    /// Lets a name stand for a variable, unless something nearer has it.
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

    /// The scope of what the present text declares.
    pub fn own_scope(&self) -> Scope {
        // The library's texts are read when they are mentioned, in no order: they are one scope
        // with the primitives.
        if self.is_library() { Scope::Library } else { Scope::Module }
    }

    /// The scope of the methods of a class where nothing but their operator names them.
    fn class_scope(&self, class: &Class) -> Scope {
        if self.is_library() || self.of_library(class.span) {
            Scope::Library
        } else if self.foreign.contains(&class.span.source) {
            Scope::Starred
        } else {
            Scope::Module
        }
    }

    /// The class of this name.
    pub fn class(&self, name: &str) -> Option<&Arc<Class>> {
        self.classes.get(self.class_names.get(name)?)
    }

    /// Whether these are the names of the library itself.
    pub fn is_library(&self) -> bool {
        self.library_texts == 0
    }

    /// Whether the user has declared what stands here.
    pub fn replaceable(&self, span: Span) -> bool {
        !self.of_library(span) && !self.foreign.contains(&span.source)
    }

    /// Whether the library has declared what stands here.
    pub fn of_library(&self, span: Span) -> bool {
        span.source.0 < self.library_texts
    }

    /// A constraint as people write it.
    pub fn text(&self, constraint: &Constraint) -> String {
        let name = self.classes.get(&constraint.class).map_or("?", |class| &class.name);
        let args: Vec<String> = constraint.args.iter().map(Type::to_string).collect();
        format!("{name}[{}]", args.join(", "))
    }

    /// The callables of a name.
    pub fn callables(&self, name: &str) -> Option<&[Callable]> {
        match self.values.get(name) {
            Some(Definition::Callables(callables)) => Some(callables),
            _ => None,
        }
    }

    /// What an operator can mean: functions of its name, and methods of all classes. Nobody imports
    /// an operator: it comes with the instances.
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

    /// What can be called by a name, with the scopes; an operator has methods of all classes.
    pub fn candidates(&self, name: &str) -> Candidates {
        if !name.starts_with(|c: char| c.is_alphabetic() || c == '_') {
            return self.operators(name);
        }
        match self.values.get(name) {
            Some(Definition::Callables(candidates)) => candidates.clone(),
            _ => Candidates::default(),
        }
    }

    /// The constructor of this name, if it is one.
    pub fn constructor(&self, name: &str) -> Option<(Nominal, usize)> {
        self.scoped_constructor(name).map(|(nominal, case, _)| (nominal, case))
    }

    /// The same, with the scope that has it.
    pub fn scoped_constructor(&self, name: &str) -> Option<(Nominal, usize, Scope)> {
        let Some(Definition::Callables(candidates)) = self.values.get(name) else { return None };
        candidates.scoped().find_map(|(c, scope)| match c {
            Callable::Case(nominal, case) => Some((nominal.clone(), *case, scope)),
            _ => None,
        })
    }
}

/// A type as the argument of a type parameter: its variables by number.
pub(super) fn bindings(params: &[TypeVar], args: &[Type]) -> HashMap<u32, Type> {
    params.iter().map(|p| p.id).zip(args.iter().cloned()).collect()
}

/// Whether two functions take the same, up to the names of type parameters.
pub(super) fn same_domain(a: &Scheme, b: &Scheme) -> bool {
    if a.params.len() != b.params.len() || a.params.iter().zip(&b.params).any(|(p, q)| p.kind != q.kind) {
        return false;
    }
    let args: Vec<Type> = b.params.iter().cloned().map(Type::var).collect();
    a.domain.substitute(&bindings(&a.params, &args)) == b.domain
}
