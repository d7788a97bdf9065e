//! The program: all functions, variables, classes and instances of a session.
//!
//! Grows only, except that a failed input is removed ([`Program::extent`], [`Program::truncate`]).
//! Selects the function of a method at given types; the checker has ensured that an instance
//! exists.

use super::prim::Prim;
use super::{Function, FunctionId, Global};
use crate::hash::{HashMap, HashSet};
use crate::types::matching::{Match, matching};
use crate::types::number::{converts, widen_numbers};
use crate::types::{MAX_TYPE_NODES, Nominal, NominalBody, Scalar, Type, TypeKind, TypeVar};
use std::sync::Arc;

/// The maximum depth of requirements of requirements: an instance may require more than it gives
/// (`instance[T with C[T ^ 2]] C[T]`).
pub const MAX_REQUIREMENT_DEPTH: u32 = 100;

crate::id::ids! {
    /// A class of the program, by its number.
    ClassId "";
}

/// The definitions of a session so far.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The functions by [`FunctionId`]; `None` while the body is being checked.
    pub functions: Vec<Option<Arc<Function>>>,
    /// The session variables by [`super::GlobalId`].
    pub globals: Vec<Global>,
    /// The sizes opened at the top level: variables that are not parameters of any function.
    pub sizes: Vec<TypeVar>,
    /// The classes by [`ClassId`].
    pub classes: Vec<Class>,
    /// The instances of all classes. Of two instances at the same types, the later one has replaced
    /// the other.
    pub instances: Vec<Instance>,
    /// The classes of the library that the language uses.
    pub known: KnownClasses,
    /// The parties that run the program, if it declares them.
    pub party: Option<Nominal>,
    /// The places at which a size is known, for sizes that are not known everywhere.
    pub placed_sizes: HashMap<u32, Type>,
    /// The sizes among them that a statement has told to all parties since.
    pub revealed_sizes: Vec<u32>,
}

/// The classes of the library that give syntax a meaning; `None` until read.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownClasses {
    /// `Show`: types with a text of their own.
    pub show: Option<ClassId>,
    /// `Eq`: types with an equality of their own.
    pub eq: Option<ClassId>,
    /// `Literal`: types of literals.
    pub literal: Option<ClassId>,
    /// `Convert`: the conversions of `:>`.
    pub convert: Option<ClassId>,
    /// `Widen`: implicit conversions.
    pub widen: Option<ClassId>,
    /// `Index`: types that can be indexed.
    pub index: Option<ClassId>,
    /// `Arbitrary`: types whose random values come from a function of their own.
    pub arbitrary: Option<ClassId>,
    /// `Wire`: abstract types whose values can be moved between places.
    pub wire: Option<ClassId>,
    /// The function that converts one number type to another, at any two: the method of `Literal`
    /// and `Convert` for built-in conversions.
    pub conversion: Option<FunctionId>,
}

impl KnownClasses {
    /// Looks up the classes by their names in the library.
    pub fn read(class: impl Fn(&str) -> Option<ClassId>) -> KnownClasses {
        KnownClasses {
            show: class("Show"),
            eq: class("Eq"),
            literal: class("Literal"),
            convert: class("Convert"),
            widen: class("Widen"),
            index: class("Index"),
            arbitrary: class("Arbitrary"),
            wire: class("Wire"),
            conversion: None,
        }
    }

    /// Returns true if the language itself makes these types an instance of a class: numbers
    /// convert to numbers, some of them implicitly, and a literal has any number type that holds
    /// it. `None` if the language defines nothing for the class or the types.
    pub fn built_in_instance(&self, class: ClassId, args: &[Type]) -> Option<bool> {
        let [from, to] = args else { return None };
        let number = |ty: &Type| ty.as_scalar().filter(|scalar| scalar.is_number());
        let (from, to) = (number(from)?, number(to)?);
        let class = Some(class);
        if class == self.convert {
            return Some(true);
        }
        if class == self.widen {
            return Some(from == to || from.fits(to));
        }
        if class == self.literal {
            return Some(from == Scalar::Int || from == Scalar::Real && to.is_float());
        }
        None
    }
}

/// A class, as far as evaluation needs it.
#[derive(Clone, Debug)]
pub struct Class {
    /// The name.
    pub name: Arc<str>,
    /// The type parameters.
    pub params: Vec<TypeVar>,
    /// The methods that an instance has.
    pub methods: Vec<Method>,
}

/// A method of a class.
#[derive(Clone, Debug)]
pub struct Method {
    /// The name.
    pub name: Arc<str>,
    /// Its own type parameters.
    pub params: Vec<TypeVar>,
    /// The type.
    pub ty: Type,
    /// True for `joint fun`: functions of instances may move data.
    pub joint: bool,
    /// The function, over the parameters of the class, of an instance that does not define the
    /// method.
    pub default: Option<FunctionId>,
}

/// An instance: types that belong to a class.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The class.
    pub class: ClassId,
    /// The type parameters: the instance exists at each of their arguments.
    pub params: Vec<TypeVar>,
    /// The arguments of the class.
    pub args: Vec<Type>,
    /// The constraints on the parameters.
    pub requires: Vec<(ClassId, Vec<Type>)>,
    /// A function for each method.
    pub methods: Vec<Implementation>,
    /// True if the declaration states that there is no instance; only type queries of programs use
    /// it.
    pub refused: bool,
}

/// The function that is a method of an instance.
#[derive(Clone, Debug)]
pub struct Implementation {
    /// The function.
    pub function: FunctionId,
    /// The type arguments in terms of the instance's parameters; those of the method's own follow.
    pub type_args: Vec<Type>,
}

/// The numbers of definitions in a program, to which it can be cut back.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    functions: usize,
    globals: usize,
    sizes: usize,
    revealed_sizes: usize,
    classes: usize,
    instances: usize,
    known: KnownClasses,
    party: bool,
}

impl Program {
    /// Returns true if nothing is defined.
    pub fn is_empty(&self) -> bool {
        self.functions.is_empty()
            && self.globals.is_empty()
            && self.sizes.is_empty()
            && self.classes.is_empty()
            && self.instances.is_empty()
            && self.party.is_none()
    }

    /// Returns the present numbers of definitions.
    pub fn extent(&self) -> Extent {
        Extent {
            functions: self.functions.len(),
            globals: self.globals.len(),
            sizes: self.sizes.len(),
            revealed_sizes: self.revealed_sizes.len(),
            classes: self.classes.len(),
            instances: self.instances.len(),
            known: self.known,
            party: self.party.is_some(),
        }
    }

    /// Discards the definitions since an extent was taken.
    pub fn truncate(&mut self, extent: &Extent) {
        self.functions.truncate(extent.functions);
        self.globals.truncate(extent.globals);
        self.sizes.truncate(extent.sizes);
        self.revealed_sizes.truncate(extent.revealed_sizes);
        self.classes.truncate(extent.classes);
        self.instances.truncate(extent.instances);
        self.known = extent.known;
        self.party = self.party.take().filter(|_| extent.party);
    }

    /// Returns the declared types in a concrete type that have a function of their own for a method
    /// of a class, each with that function and its type arguments. The parts of a compact value,
    /// and of a type that has such a function, are not searched.
    pub fn overriding_methods(
        &self,
        class: Option<ClassId>,
        method: &str,
        ty: &Type,
    ) -> Vec<(Type, FunctionId, Vec<Type>)> {
        /// The maximum number of types searched: polymorphic recursion makes new types without end.
        const MAX_TYPES: usize = 1_000;
        let mut own = Vec::new();
        let Some(class) = class else { return own };
        let methods = &self.classes[class.index()].methods;
        let Some(method) = methods.iter().position(|m| *m.name == *method) else { return own };
        let default = methods[method].default;
        let mut seen: HashSet<Type> = HashSet::default();
        let mut waiting = vec![ty.clone()];
        while let Some(ty) = waiting.pop() {
            if seen.len() >= MAX_TYPES || !seen.insert(ty.clone()) {
                continue;
            }
            let TypeKind::Nominal(nominal, args) = ty.kind() else {
                if !ty.is_compact() {
                    ty.kind().for_each_child(&mut |child| waiting.push(child.clone()));
                }
                continue;
            };
            if let Some((function, type_args)) = self.implementation(class, method, std::slice::from_ref(&ty))
                && Some(function) != default
            {
                own.push((ty, function, type_args));
                continue;
            }
            match nominal.body() {
                Some(NominalBody::Newtype(_)) => waiting.extend(nominal.newtype_definition(args)),
                Some(NominalBody::Struct(_)) => {
                    waiting.extend(nominal.struct_fields(args).into_iter().flatten().map(|(_, t)| t));
                }
                Some(NominalBody::Variant(_)) => {
                    waiting.extend(nominal.variant_cases(args).into_iter().flatten().map(|(_, t)| t));
                }
                Some(NominalBody::Abstract(_)) => waiting.extend(nominal.representation(args)),
                None => {}
            }
        }
        own
    }

    /// Returns the function of a method, with its type arguments. `type_args` are those of the
    /// class, then those of the method, concrete. For a type that is in the class by its structure
    /// alone ([`KnownClasses::show`], [`KnownClasses::eq`]) the default is returned.
    pub fn implementation(
        &self,
        class: ClassId,
        method: usize,
        type_args: &[Type],
    ) -> Option<(FunctionId, Vec<Type>)> {
        let count = self.classes.get(class.index())?.params.len();
        let (args, own) = type_args.split_at_checked(count)?;
        let Some((instance, bindings)) = self.instance(class, args) else {
            if self.known.built_in_instance(class, args) == Some(true) {
                return Some((self.known.conversion?, args.to_vec()));
            }
            let default = self.classes[class.index()].methods.get(method)?.default?;
            return self.by_structure(class).then(|| (default, type_args.to_vec()));
        };
        let implementation = instance.methods.get(method)?;
        let mut types: Vec<Type> = implementation.type_args.iter().map(|t| t.substitute(&bindings)).collect();
        types.extend(own.iter().cloned());
        Some((implementation.function, types))
    }

    /// Returns the instance of a class at these types, and types for its parameters. Of several
    /// instances that match, the first that holds, by the preference of [`crate::types::matching`],
    /// is returned.
    pub fn instance(&self, class: ClassId, args: &[Type]) -> Option<(&Instance, HashMap<u32, Type>)> {
        self.find_instance(class, args, &mut Proof::default())
    }

    /// Returns the preferred matching instance whose requirements hold, with types for its
    /// parameters.
    fn find_instance(
        &self,
        class: ClassId,
        args: &[Type],
        proof: &mut Proof,
    ) -> Option<(&Instance, HashMap<u32, Type>)> {
        let mut found = self.matching(class, args, proof.question);
        // The checker has ensured that an instance holds, so a single candidate is the result. This
        // does not apply to the classes that hold by structure.
        if found.len() == 1 && proof.depth == 0 && !proof.question && !self.by_structure(class) {
            return found.pop();
        }
        let before = proof.refused;
        found.into_iter().find(|(instance, bindings)| {
            proof.refused = before;
            let holds = instance.requires.iter().all(|(class, args)| {
                let args: Vec<Type> = args.iter().map(|ty| ty.substitute(bindings)).collect();
                self.holds(*class, &args, proof)
            });
            proof.refused = if holds { proof.refused || instance.refused } else { before };
            holds
        })
    }

    /// Returns the instances that match, by preference; `refused` includes refusals.
    fn matching(&self, class: ClassId, args: &[Type], refused: bool) -> Vec<(&Instance, HashMap<u32, Type>)> {
        let of_class = self.instances.iter().rev();
        let of_class = of_class.filter(|i| i.class == class && (refused || !i.refused));
        let mut found: Vec<(&Instance, Match)> = Vec::new();
        for instance in of_class {
            let Some(new) = matching(&instance.params, &instance.args, args) else { continue };
            // An older instance with an equal head has been replaced.
            if let Err(at) = found.binary_search_by(|(_, known)| known.preference(&new)) {
                found.insert(at, (instance, new));
            }
        }
        found.into_iter().map(|(instance, found)| (instance, found.bindings)).collect()
    }

    /// Returns a part of a type whose values cannot be moved between places: see
    /// [`Type::unmovable_part`]. Those of an abstract type can if its module says so by an instance
    /// of `Wire`.
    pub fn unmovable_part(&self, ty: &Type) -> Option<Type> {
        ty.unmovable_part(&|nominal| {
            let wire = self.instances.iter().filter(|instance| Some(instance.class) == self.known.wire);
            let mut heads = wire.filter_map(|instance| instance.args.first());
            heads.any(|head| matches!(head.kind(), TypeKind::Nominal(known, _) if known == nominal))
        })
    }

    /// Returns true if types are in a class by their structure unless an instance defines it
    /// differently.
    fn by_structure(&self, class: ClassId) -> bool {
        self.known.show == Some(class) || self.known.eq == Some(class)
    }

    /// Returns true if concrete types are in a class.
    fn holds(&self, class: ClassId, args: &[Type], proof: &mut Proof) -> bool {
        if self.known.show == Some(class) {
            return true;
        }
        if proof.depth > MAX_REQUIREMENT_DEPTH || args.iter().any(|ty| ty.nodes() > MAX_TYPE_NODES) {
            return false;
        }
        let question = (class, args.to_vec());
        if let Some((holds, refused)) = proof.known.get(&question) {
            proof.refused |= *refused;
            return *holds;
        }
        proof.known.insert(question.clone(), (false, false));
        proof.depth += 1;
        let before = std::mem::take(&mut proof.refused);
        let holds = if self.known.eq == Some(class) {
            args.iter().all(|ty| opaque_part(ty, |ty| self.is_comparable(class, ty, proof)).is_none())
        } else {
            self.find_instance(class, args, proof).is_some()
                || self.known.built_in_instance(class, args) == Some(true)
        };
        proof.depth -= 1;
        proof.known.insert(question, (holds, proof.refused));
        proof.refused |= before;
        holds
    }

    /// Returns the answer of a primitive that is a query about concrete types; `None` for other
    /// primitives.
    pub fn type_query_answer(&self, prim: Prim, types: &[Type]) -> Option<bool> {
        match (prim, types) {
            (Prim::Convertible, [from, to]) => {
                Some(converts(from, to, &mut |from, to| self.is_member(self.known.convert, from, to)))
            }
            (Prim::CallableWith, [function, argument]) => Some(match function.kind() {
                TypeKind::Function(domain, _) | TypeKind::Procedure(domain) => {
                    self.converts_implicitly(argument, domain)
                }
                _ => false,
            }),
            _ => None,
        }
    }

    /// Returns true if a value of one concrete type converts implicitly to another.
    fn converts_implicitly(&self, from: &Type, to: &Type) -> bool {
        from == to || widen_numbers(from, to) == *to || self.is_member(self.known.widen, from, to)
    }

    /// Returns true if two concrete types are in a class; false without the class.
    fn is_member(&self, class: Option<ClassId>, from: &Type, to: &Type) -> bool {
        let mut proof = Proof { question: true, ..Proof::default() };
        class.is_some_and(|class| self.holds(class, &[from.clone(), to.clone()], &mut proof))
            && !proof.refused
    }

    /// Returns true if a matching instance makes a type comparable, false if none of them holds,
    /// and `None` if none matches.
    fn is_comparable(&self, eq: ClassId, ty: &Type, proof: &mut Proof) -> Option<bool> {
        let ty = std::slice::from_ref(ty);
        (!self.matching(eq, ty, proof.question).is_empty())
            .then(|| self.find_instance(eq, ty, proof).is_some())
    }
}

/// The answers found during a proof: each constraint is decided once.
#[derive(Default)]
struct Proof {
    /// The depth of nested requirements.
    depth: u32,
    /// True for a query of a program, for which refusals count.
    question: bool,
    /// True if the proof has used a refusal.
    refused: bool,
    /// The answers: true if the constraint holds, and true if a refusal was used. A constraint
    /// whose proof is in progress counts as false.
    known: HashMap<(ClassId, Vec<Type>), (bool, bool)>,
}

/// Returns a part of a type whose values cannot be compared by structure: a function or a
/// parameter. `comparable` returns true or false for a type that an instance decides, or `None`,
/// and then the parts of the type are searched.
pub fn opaque_part(ty: &Type, mut comparable: impl FnMut(&Type) -> Option<bool>) -> Option<Type> {
    /// The maximum number of types searched: polymorphic recursion makes new types without end.
    const MAX_TYPES: usize = 1_000;
    let mut seen: HashSet<Type> = HashSet::default();
    let mut waiting = vec![ty.clone()];
    while let Some(ty) = waiting.pop() {
        if ty.is_compact() || seen.len() >= MAX_TYPES || !seen.insert(ty.clone()) {
            continue;
        }
        match (comparable(&ty), ty.kind()) {
            (Some(true), _) => {}
            (Some(false), _) => return Some(ty),
            (
                None,
                TypeKind::Function(..) | TypeKind::Procedure(_) | TypeKind::Var(_) | TypeKind::Apply(..),
            ) => return Some(ty),
            (None, TypeKind::Rest(list)) => match list.kind() {
                TypeKind::List(_, parts, Some(end)) => {
                    waiting.extend(parts.iter().cloned());
                    waiting.push(Type::product_of(end.clone()));
                }
                _ => return Some(ty),
            },
            // A value of unknown representation cannot be compared.
            (None, TypeKind::Nominal(nominal, args)) if nominal.as_abstract().is_some() => {
                match nominal.stored_as(args) {
                    Some(known) => waiting.push(known),
                    None => return Some(ty),
                }
            }
            (None, _) => waiting.extend(component_types(&ty)),
        }
    }
    None
}

/// Returns the types of the components of a value; for a declared type, those of its declaration.
pub fn component_types(ty: &Type) -> Vec<Type> {
    let types =
        |parts: Option<Vec<(Arc<str>, Type)>>| parts.into_iter().flatten().map(|(_, ty)| ty).collect();
    match ty.kind() {
        TypeKind::Nominal(nominal, args) => match nominal.body() {
            Some(NominalBody::Newtype(_)) => nominal.newtype_definition(args).into_iter().collect(),
            Some(NominalBody::Struct(_)) => types(nominal.struct_fields(args)),
            Some(NominalBody::Variant(_)) => types(nominal.variant_cases(args)),
            Some(NominalBody::Abstract(_)) => nominal.stored_as(args).into_iter().collect(),
            None => Vec::new(),
        },
        kind => {
            let mut parts = Vec::new();
            kind.for_each_child(&mut |child| parts.push(child.clone()));
            parts
        }
    }
}
