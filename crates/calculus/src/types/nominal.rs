//! Declared types: newtypes, structs, variants and abstract types.
//!
//! A declared type is identified by its number. Its body is set after the declaration, because
//! types may mention themselves and each other.

use super::{Kind, Type, TypeKind, TypeVar, opaque};
use crate::hash::HashMap;
use num_bigint::BigInt;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, OnceLock};

/// A declared type, identified by its number.
#[derive(Clone)]
pub struct Nominal(pub(super) Arc<NominalDef>);

/// The declaration of a type.
pub struct NominalDef {
    /// Unique in a session.
    pub id: u32,
    /// The name as declared.
    pub name: Arc<str>,
    /// Type parameters.
    pub params: Vec<TypeVar>,
    /// The number of the last parameters that the program does not write: the sizes and parameters
    /// of a surrounding function that the definition mentions.
    pub implicit: usize,
    /// The kind of an application.
    pub kind: Kind,
    /// True if arithmetic on the values is modulo their number: `cyclic` of the library.
    pub cyclic: bool,
    /// The first label of an index type whose values have integers as labels: `-1` of `-1..4`.
    pub origin: Option<Origin>,
    /// True if the parameters are the named parts of a compact record.
    pub(super) compact_record: bool,
    /// The body, set once: a variant may mention itself.
    pub(super) body: OnceLock<NominalBody>,
}

impl Type {
    /// Returns the label of the first value of an index type; `None` for types without labels, and
    /// while the type does not determine it.
    pub fn first_label(&self) -> Option<BigInt> {
        match self.kind() {
            TypeKind::Nominal(nominal, args) => nominal.first_label(args),
            _ => None,
        }
    }

    /// Returns true for an index type whose values have integers as labels.
    pub fn is_labeled(&self) -> bool {
        matches!(self.kind(), TypeKind::Nominal(nominal, _) if nominal.origin.is_some())
    }
}

/// The label of the first value of an index type; the labels are consecutive.
#[derive(Clone, Debug)]
pub enum Origin {
    /// A number.
    Number(BigInt),
    /// The negated size of an index type, which may be a type parameter.
    MinusSize(Type),
}

/// The nominal forms.
#[derive(Clone, Debug)]
pub enum NominalBody {
    /// Same values and storage as the definition.
    Newtype(Type),
    /// Named fields in storage order.
    Struct(Vec<(Arc<str>, Type)>),
    /// Named cases with their arguments (`1` when without).
    Variant(Vec<(Arc<str>, Type)>),
    /// An abstract type: its layout, and its representation where that is known.
    Abstract(opaque::Abstract),
}

impl NominalDef {
    /// Returns a declaration without a body and without any of the special forms.
    pub(super) fn new(id: u32, name: Arc<str>, params: Vec<TypeVar>, kind: Kind) -> NominalDef {
        NominalDef {
            id,
            name,
            params,
            implicit: 0,
            kind,
            cyclic: false,
            origin: None,
            compact_record: false,
            body: OnceLock::new(),
        }
    }
}

impl From<NominalDef> for Nominal {
    fn from(def: NominalDef) -> Nominal {
        Nominal(Arc::new(def))
    }
}

impl Nominal {
    /// Declares a nominal type whose body is set later by [`Nominal::define`].
    pub fn declare(id: u32, name: Arc<str>, params: Vec<TypeVar>, kind: Kind) -> Nominal {
        NominalDef::new(id, name, params, kind).into()
    }

    /// Declares a newtype whose last `implicit` parameters are not written. With an `origin` its
    /// values have consecutive integers as labels.
    pub fn declare_newtype(
        id: u32,
        name: Arc<str>,
        params: Vec<TypeVar>,
        implicit: usize,
        kind: Kind,
        origin: Option<Origin>,
    ) -> Nominal {
        NominalDef { implicit, origin, ..NominalDef::new(id, name, params, kind) }.into()
    }

    /// Returns the label of the first value at these arguments; `None` for types without labels,
    /// and while the arguments do not determine it.
    pub fn first_label(&self, args: &[Type]) -> Option<BigInt> {
        match self.origin_at(args)? {
            Origin::Number(number) => Some(number),
            Origin::MinusSize(ty) => Some(-BigInt::from(ty.size().ok()?)),
        }
    }

    /// Returns the first label at these arguments; `None` for types without labels.
    pub fn origin_at(&self, args: &[Type]) -> Option<Origin> {
        Some(match self.origin.as_ref()? {
            Origin::Number(number) => Origin::Number(number.clone()),
            Origin::MinusSize(ty) => Origin::MinusSize(ty.substitute(&self.bindings(args))),
        })
    }

    /// Declares a newtype of an index type whose values are the integers modulo their number.
    pub fn declare_cyclic(id: u32, name: Arc<str>, params: Vec<TypeVar>) -> Nominal {
        NominalDef { cyclic: true, ..NominalDef::new(id, name, params, Kind::Compact) }.into()
    }

    /// Sets the body. Later calls have no effect.
    pub fn define(&self, body: NominalBody) {
        let _ = self.0.body.set(body);
    }

    /// Returns the body; `None` while the declaration is being checked, or if that failed.
    pub fn body(&self) -> Option<&NominalBody> {
        self.0.body.get()
    }

    /// Returns the type that the values are codes of: the definition of a newtype at these
    /// arguments, the unit sum with a value for each case of an enumeration.
    pub fn definition(&self, args: &[Type]) -> Option<Type> {
        self.newtype_definition(args).or_else(|| self.enumeration())
    }

    /// Returns true for an enumeration: a variant whose cases are constants, which makes it an
    /// index type.
    pub fn is_enumeration(&self) -> bool {
        matches!(self.body(), Some(NominalBody::Variant(_)))
            && matches!(self.kind, Kind::Compact | Kind::Places)
    }

    /// Returns the unit sum with as many values as an enumeration has cases.
    pub fn enumeration(&self) -> Option<Type> {
        match self.body()? {
            NominalBody::Variant(cases) if self.is_enumeration() => Some(Type::unit_sum(cases.len())),
            _ => None,
        }
    }

    /// Returns the definition of a newtype at these arguments.
    pub fn newtype_definition(&self, args: &[Type]) -> Option<Type> {
        match self.body()? {
            NominalBody::Newtype(def) => Some(def.substitute(&self.bindings(args))),
            _ => None,
        }
    }

    /// Returns the fields of a struct at these arguments.
    pub fn struct_fields(&self, args: &[Type]) -> Option<Vec<(Arc<str>, Type)>> {
        match self.body()? {
            NominalBody::Struct(fields) => Some(self.instantiate_parts(fields, args)),
            _ => None,
        }
    }

    /// Returns true for a struct with a field of existential type. Such a struct is stored like its
    /// fields, but no reshape takes it apart.
    pub fn has_existential_field(&self) -> bool {
        match self.body() {
            Some(NominalBody::Struct(fields)) => fields.iter().any(|(_, ty)| ty.is_exists()),
            _ => false,
        }
    }

    /// Returns true if a case of a variant is declared with an argument, be it `()` at some type
    /// arguments.
    pub fn case_has_argument(&self, case: usize) -> bool {
        match self.body() {
            Some(NominalBody::Variant(cases)) => cases.get(case).is_some_and(|(_, ty)| !ty.is_unit()),
            _ => false,
        }
    }

    /// Returns the cases of a variant at these arguments.
    pub fn variant_cases(&self, args: &[Type]) -> Option<Vec<(Arc<str>, Type)>> {
        match self.body()? {
            NominalBody::Variant(cases) => Some(self.instantiate_parts(cases, args)),
            _ => None,
        }
    }

    /// Returns named parts at these arguments.
    fn instantiate_parts(&self, parts: &[(Arc<str>, Type)], args: &[Type]) -> Vec<(Arc<str>, Type)> {
        let bindings = self.bindings(args);
        parts.iter().map(|(name, ty)| (name.clone(), ty.substitute(&bindings))).collect()
    }

    /// Returns the substitution of arguments for parameters.
    pub(super) fn bindings(&self, args: &[Type]) -> HashMap<u32, Type> {
        self.0.params.iter().map(|p| p.id).zip(args.iter().cloned()).collect()
    }
}

impl std::ops::Deref for Nominal {
    type Target = NominalDef;
    fn deref(&self) -> &NominalDef {
        &self.0
    }
}

impl PartialEq for Nominal {
    fn eq(&self, other: &Nominal) -> bool {
        self.id == other.id
    }
}

impl Eq for Nominal {}

impl Hash for Nominal {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

impl fmt::Debug for Nominal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}#{}", self.name, self.id)
    }
}
