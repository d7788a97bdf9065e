//! Types, as the checker and all later stages use them.
//!
//! A [`Type`] is a shared tree built only through constructors that put it into *canonical form*,
//! so that the definitional equalities of the language hold by construction:
//!
//! - `1 + 1 + … + 1` (n) is the unit sum `n`;
//! - `T * T * … * T` (n ≥ 2) is `T ^ n`;
//! - `A \* A \* … \* A` is `A \^ n`;
//! - `T + T + … + T` is `n *+ T`.
//!
//! Two types are equal iff their trees are. Every node caches its size as a tree, its depth and
//! whether it holds variables, so that no operation on ground types walks them twice and a type
//! that grows without bound (`typedef` chains, polymorphic calls) is detected in time.
//!
//! Knows no syntax.

pub mod apply;
mod axes;
mod compact_record;
pub mod encoding;
pub mod existential;
pub mod kind;
pub mod matching;
pub mod nominal;
pub mod number;
pub mod opaque;
pub mod places;
pub mod print;
pub mod rest;
pub mod scalar;
pub mod size;
pub mod stored;
pub mod table;
pub mod triangle;
pub mod variable_numbers;

pub use apply::TypeFun;
pub use axes::Alignment;
pub use kind::{FiniteKind, Kind, Member};
pub use nominal::{Nominal, NominalBody, NominalDef, Origin};
pub use places::PlaceSet;
pub use rest::ProductForm;
pub use scalar::Scalar;

use crate::hash::HashMap;
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
pub use triangle::Triangle;

/// A type in canonical form; cheap to clone.
#[derive(Clone)]
pub struct Type(Arc<Node>);

/// A node with cached properties of its tree.
struct Node {
    /// The form.
    kind: TypeKind,
    /// The hash of the tree.
    hash: u64,
    /// The number of nodes of the tree, saturating.
    nodes: u32,
    /// The height of the tree.
    depth: u32,
    /// True if a hole occurs in the tree.
    has_meta: bool,
    /// True if a rigid variable occurs free in the tree.
    has_var: bool,
    /// The number of enclosing binders that the loose bound variables need.
    loose: u32,
    /// True if a stuck application occurs in the tree.
    has_apply: bool,
    /// True if the product of an unknown list occurs in the tree.
    has_rest: bool,
    /// True if a value of the type may be spread over places.
    spread: bool,
}

/// The forms of types. Built through the constructors of [`Type`], never by hand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// `0`, `1`, `2` …: the finite type with that many values.
    UnitSum(BigUint),
    /// `int`, `real` …
    Scalar(Scalar),
    /// `A * B * …`: two or more components, not all the same.
    Product(Vec<Type>),
    /// `A + B + …`: two or more cases, not all the same.
    Sum(Vec<Type>),
    /// `N *+ T`: one case `T` for each value of `N`, a coarray. Where `N` is a unit sum from `2`
    /// on, `T` is not `1`.
    Repeat(Type, Type),
    /// `T ^ I`.
    Array(Type, Type),
    /// `A \* B \* …`: two or more, not all the same.
    CompactProduct(Vec<Type>),
    /// `A \+ B \+ …`: two or more.
    CompactSum(Vec<Type>),
    /// `A \^ B`.
    CompactPower(Type, Type),
    /// `below[I]`, `lower[I]`: unordered pairs of index values.
    Triangle(Triangle, Type),
    /// A set of places that is not the set of all: `{alice, bob}`; see [`places`].
    Places(PlaceSet),
    /// `T @ S`: a value at each of the places.
    Placed(Type, Type),
    /// `D -> C`, pure.
    Function(Type, Type),
    /// `D -> void`: a procedure, which may have effects.
    Procedure(Type),
    /// `T ^ ?K`: the type for that many existentially bound sizes; see [`existential`]. Only as the
    /// result of a function.
    Exists(usize, Type),
    /// `(a:A, b:B)`, in storage order.
    Record(Vec<(Arc<str>, Type)>),
    /// A declared type with its arguments.
    Nominal(Nominal, Vec<Type>),
    /// A stuck application: a type function whose arguments do not determine an arm.
    Apply(table::Application),
    /// Components of a product in order, and the list of those that follow: the type of no value;
    /// see [`rest`].
    List(ProductForm, Vec<Type>, Option<Type>),
    /// `A * ..R`, `N \* ..R`: the product of a list whose end is unknown.
    Rest(Type),
    /// A member of a declared kind: the type of no value.
    Member(Member),
    /// A type parameter or an opened size: fixed but unknown.
    Var(TypeVar),
    /// A hole of inference. Never in a checked program.
    Meta(Meta),
    /// The error type: an error has been reported.
    Error,
}

/// A rigid type variable, identified by its number; the name is for messages.
#[derive(Clone, Debug)]
pub struct TypeVar {
    /// Unique in a session.
    pub id: u32,
    /// The name as declared.
    pub name: Arc<str>,
    /// The kind it ranges over.
    pub kind: Kind,
}

impl PartialEq for TypeVar {
    fn eq(&self, other: &TypeVar) -> bool {
        self.id == other.id
    }
}
impl Eq for TypeVar {}
impl Hash for TypeVar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// A hole of inference.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Meta {
    /// Index into the inference table.
    pub id: u32,
    /// The largest kind its solution may have.
    pub kind: Kind,
}

/// The reason why a size is not a number.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSize {
    /// The type is not compact linear.
    NotCompact,
    /// The size depends on a variable.
    Variable(TypeVar),
    /// The size is a number of more than [`MAX_SIZE_BITS`] bits.
    TooLarge,
}

/// Bits of a ground size computed as a number, at most. Beyond, [`NoSize::TooLarge`].
pub const MAX_SIZE_BITS: u64 = 1 << 20;

/// Nodes of a type written out, at most. The checker reports larger ones.
pub const MAX_TYPE_NODES: u32 = 20_000;

/// Depth of a type, at most. The checker reports deeper ones.
pub const MAX_TYPE_DEPTH: u32 = 1_000;

/// Components of an array `T ^ n` that is viewed as a tuple with a first component and a rest, at
/// most.
pub const MAX_WRITTEN_COMPONENTS: usize = 64;

impl Type {
    /// Returns the node of a form, with its cached properties.
    fn new(kind: TypeKind) -> Type {
        let mut hasher = std::collections::hash_map::DefaultHasher::new();
        kind.hash(&mut hasher);
        let (mut nodes, mut depth) = (1u32, 0u32);
        let mut has_meta = matches!(kind, TypeKind::Meta(_));
        let (mut has_var, mut loose) = match &kind {
            TypeKind::Var(var) => (!var.is_bound(), var.as_bound().map_or(0, |(depth, _)| depth + 1)),
            _ => (false, 0),
        };
        let mut has_apply = matches!(kind, TypeKind::Apply(..));
        let mut has_rest = matches!(kind, TypeKind::Rest(_));
        let mut spread = match &kind {
            TypeKind::Placed(..) => true,
            TypeKind::Var(var) => var.kind == Kind::Spread,
            TypeKind::Meta(meta) => meta.kind == Kind::Spread,
            TypeKind::Nominal(nominal, _) => nominal.kind == Kind::Spread,
            _ => false,
        };
        // Arguments of declared types are no parts of their values.
        let holds_parts = !matches!(kind, TypeKind::Nominal(..) | TypeKind::Apply(_));
        kind.for_each_child(&mut |child| {
            spread |= holds_parts && child.0.spread;
            nodes = nodes.saturating_add(child.0.nodes);
            depth = depth.max(child.0.depth);
            has_meta |= child.0.has_meta;
            has_var |= child.0.has_var;
            has_apply |= child.0.has_apply;
            has_rest |= child.0.has_rest;
            loose = loose.max(child.0.loose);
        });
        if let TypeKind::Exists(..) = kind {
            loose = loose.saturating_sub(1);
        }
        Type(Arc::new(Node {
            kind,
            hash: hasher.finish(),
            nodes,
            depth: depth + 1,
            has_meta,
            has_var,
            loose,
            has_apply,
            has_rest,
            spread,
        }))
    }

    /// Returns true if a variable occurs in the type.
    pub fn mentions(&self, var: &TypeVar) -> bool {
        if !self.has_var() {
            return false;
        }
        let mut found = matches!(self.kind(), TypeKind::Var(v) if v == var);
        self.kind().for_each_child(&mut |child| found = found || child.mentions(var));
        found
    }

    /// Returns the unit sum with `n` values.
    pub fn unit_sum(n: impl Into<BigUint>) -> Type {
        Type::new(TypeKind::UnitSum(n.into()))
    }

    /// Returns `0`, the type without values.
    pub fn void() -> Type {
        Type::unit_sum(0u32)
    }

    /// Returns `1`, the type of `()`.
    pub fn unit() -> Type {
        Type::unit_sum(1u32)
    }

    /// Returns `2`, the type of `true` and `false`.
    pub fn bool() -> Type {
        Type::unit_sum(2u32)
    }

    /// Returns a scalar type.
    pub fn scalar(scalar: Scalar) -> Type {
        Type::new(TypeKind::Scalar(scalar))
    }

    /// Returns `int`.
    pub fn int() -> Type {
        Type::scalar(Scalar::Int)
    }

    /// Returns `real`.
    pub fn real() -> Type {
        Type::scalar(Scalar::Real)
    }

    /// Returns `bigint`.
    pub fn bigint() -> Type {
        Type::scalar(Scalar::Bigint)
    }

    /// Returns `string`.
    pub fn string() -> Type {
        Type::scalar(Scalar::String)
    }

    /// Returns `char`.
    pub fn char() -> Type {
        Type::scalar(Scalar::Char)
    }

    /// Returns `A * B * …`: `1` for no component, the component itself for one, `T ^ n` for n equal
    /// ones.
    pub fn product(mut components: Vec<Type>) -> Type {
        match components.len() {
            0 => Type::unit(),
            1 => components.remove(0),
            n if all_equal(&components) && !components[0].is_spread() => {
                Type::array(components.remove(0), Type::unit_sum(n))
            }
            _ => Type::new(TypeKind::Product(components)),
        }
    }

    /// Returns `A + B + …`: `0` for no case, the case itself for one, `n *+ T` for n equal ones.
    pub fn sum(mut cases: Vec<Type>) -> Type {
        match cases.len() {
            0 => Type::void(),
            1 => cases.remove(0),
            n if all_equal(&cases) => Type::repeat(Type::unit_sum(n), cases.remove(0)),
            _ => Type::new(TypeKind::Sum(cases)),
        }
    }

    /// Returns `N *+ T`; the unit sum `N` if `T` is `1` and `N` is a unit sum of at least 2. Like
    /// `T ^ 1`, `1 *+ T` is a type of its own, so that a coarray remains one when `N` becomes
    /// known.
    pub fn repeat(cases: Type, case: Type) -> Type {
        if case.is_unit() && cases.is_at_least_two() {
            return cases;
        }
        Type::new(TypeKind::Repeat(cases, case))
    }

    /// Returns true for `2`, `3`, …: a sum of units.
    pub fn is_at_least_two(&self) -> bool {
        self.as_unit_sum().is_some_and(|n| n.bits() > 1)
    }

    /// Returns `T ^ I`.
    pub fn array(element: Type, index: Type) -> Type {
        Type::new(TypeKind::Array(element, index))
    }

    /// Returns `A \* B \* …`: `1` for no factor, the factor itself for one, `A \^ n` for n equal
    /// ones.
    pub fn compact_product(mut factors: Vec<Type>) -> Type {
        match factors.len() {
            0 => Type::unit(),
            1 => factors.remove(0),
            n if all_equal(&factors) => Type::compact_power(factors.remove(0), Type::unit_sum(n)),
            _ => Type::new(TypeKind::CompactProduct(factors)),
        }
    }

    /// Returns `A \+ B \+ …`: `0` for no case, the case itself for one.
    pub fn compact_sum(mut cases: Vec<Type>) -> Type {
        match cases.len() {
            0 => Type::void(),
            1 => cases.remove(0),
            _ => Type::new(TypeKind::CompactSum(cases)),
        }
    }

    /// Returns `A \^ B`.
    pub fn compact_power(base: Type, exponent: Type) -> Type {
        Type::new(TypeKind::CompactPower(base, exponent))
    }

    /// Returns `below[I]` or `lower[I]`.
    pub fn triangle(triangle: Triangle, index: Type) -> Type {
        Type::new(TypeKind::Triangle(triangle, index))
    }

    /// Returns `D -> C`, pure.
    pub fn function(domain: Type, codomain: Type) -> Type {
        Type::new(TypeKind::Function(domain, codomain))
    }

    /// Returns `D -> void`, a procedure.
    pub fn procedure(domain: Type) -> Type {
        Type::new(TypeKind::Procedure(domain))
    }

    /// Returns `(a:A, b:B)`.
    pub fn record(fields: Vec<(Arc<str>, Type)>) -> Type {
        Type::new(TypeKind::Record(fields))
    }

    /// Returns a declared type at these arguments.
    pub fn nominal(nominal: Nominal, args: Vec<Type>) -> Type {
        Type::new(TypeKind::Nominal(nominal, args))
    }

    /// Returns a rigid variable.
    pub fn var(var: TypeVar) -> Type {
        Type::new(TypeKind::Var(var))
    }

    /// Returns a hole of inference.
    pub fn meta(id: u32, kind: Kind) -> Type {
        Type::new(TypeKind::Meta(Meta { id, kind }))
    }

    /// Returns the error type, for an error already reported.
    pub fn error() -> Type {
        Type::new(TypeKind::Error)
    }

    /// Returns the form of the type.
    pub fn kind(&self) -> &TypeKind {
        &self.0.kind
    }

    /// Returns the number of nodes of the type written out, saturating.
    pub fn nodes(&self) -> u32 {
        self.0.nodes
    }

    /// Returns the height of the type as a tree.
    pub fn depth(&self) -> u32 {
        self.0.depth
    }

    /// Returns true if a hole of inference occurs in the type.
    pub fn has_meta(&self) -> bool {
        self.0.has_meta
    }

    /// Returns true if a rigid variable occurs free in the type.
    pub fn has_var(&self) -> bool {
        self.0.has_var
    }

    /// Returns the number of enclosing binders that the loose bound variables need; 0 for a closed
    /// type.
    pub fn loose_bound_range(&self) -> u32 {
        self.0.loose
    }

    /// Returns true if a stuck application of a type function occurs in the type.
    pub fn has_apply(&self) -> bool {
        self.0.has_apply
    }

    /// Returns true if the product of an unknown list occurs in the type.
    pub fn has_rest(&self) -> bool {
        self.0.has_rest
    }

    /// Returns true if a value of the type may be spread over places: its kind is SPREAD.
    pub fn is_spread(&self) -> bool {
        self.0.spread
    }

    /// Returns true for `0`.
    pub fn is_void(&self) -> bool {
        matches!(self.kind(), TypeKind::UnitSum(n) if n.is_zero())
    }

    /// Returns true for `1`.
    pub fn is_unit(&self) -> bool {
        matches!(self.kind(), TypeKind::UnitSum(n) if n.is_one())
    }

    /// Returns true for `2`.
    pub fn is_bool(&self) -> bool {
        matches!(self.kind(), TypeKind::UnitSum(n) if *n == BigUint::from(2u32))
    }

    /// Returns the address of the root node: unique among the types alive.
    pub fn address(&self) -> usize {
        Arc::as_ptr(&self.0) as usize
    }

    /// Returns true for the error type.
    pub fn is_error(&self) -> bool {
        matches!(self.kind(), TypeKind::Error)
    }

    /// Returns true if the error type occurs in the type.
    pub fn has_error(&self) -> bool {
        let mut found = self.is_error();
        self.kind().for_each_child(&mut |child| found = found || child.has_error());
        found
    }

    /// Returns the scalar, if the type is one.
    pub fn as_scalar(&self) -> Option<Scalar> {
        match self.kind() {
            TypeKind::Scalar(s) => Some(*s),
            _ => None,
        }
    }

    /// Returns the number of values of a unit sum.
    pub fn as_unit_sum(&self) -> Option<&BigUint> {
        match self.kind() {
            TypeKind::UnitSum(n) => Some(n),
            _ => None,
        }
    }

    /// Returns the least kind of the type.
    pub fn kind_of(&self) -> Kind {
        match self.kind() {
            TypeKind::UnitSum(_) => Kind::UnitSum,
            TypeKind::CompactProduct(_)
            | TypeKind::CompactSum(_)
            | TypeKind::CompactPower(..)
            | TypeKind::Triangle(..)
            | TypeKind::Error => Kind::Compact,
            TypeKind::Places(set) if set.count() == 1 => Kind::Place,
            TypeKind::Places(_) => Kind::Places,
            TypeKind::Nominal(nominal, _) => nominal.kind,
            TypeKind::Apply(application) => application.fun.kind,
            TypeKind::List(form, ..) => Kind::List(*form),
            TypeKind::Rest(list) => list.list_form().map_or(Kind::Type, ProductForm::kind),
            TypeKind::Member(member) => member.kind.kind(),
            TypeKind::Var(var) => var.kind,
            TypeKind::Meta(meta) => meta.kind,
            _ if self.is_spread() => Kind::Spread,
            _ => Kind::Type,
        }
    }

    /// Returns true if the type can index an array.
    pub fn is_compact(&self) -> bool {
        self.kind_of().is_subkind_of(Kind::Compact)
    }

    /// Returns true if the type is of this kind, or the error type.
    pub fn has_kind(&self, kind: Kind) -> bool {
        self.is_error() || self.kind_of().is_subkind_of(kind)
    }

    /// Returns the components of a product, in order: of `A * B`, of `T ^ n` up to `limit` copies,
    /// of a struct or record, of `1`.
    pub fn components(&self, limit: usize) -> Option<Vec<Type>> {
        match self.kind() {
            TypeKind::Product(components) => Some(components.clone()),
            TypeKind::UnitSum(n) if n.is_one() => Some(Vec::new()),
            TypeKind::Array(element, index) => repeat_type(element, index.as_unit_sum()?, limit),
            TypeKind::Record(fields) => Some(fields.iter().map(|(_, ty)| ty.clone()).collect()),
            TypeKind::Nominal(nominal, args) => {
                nominal.struct_fields(args).map(|fields| fields.into_iter().map(|(_, ty)| ty).collect())
            }
            _ => None,
        }
    }

    /// Returns the factors of a compact product, `A \^ n` written out up to `limit` copies.
    pub fn compact_factors(&self, limit: usize) -> Option<Vec<Type>> {
        match self.kind() {
            TypeKind::CompactProduct(factors) => Some(factors.clone()),
            TypeKind::CompactPower(base, exponent) => repeat_type(base, exponent.as_unit_sum()?, limit),
            _ => None,
        }
    }

    /// Returns the parts that a compact value is destructed into: the factors of a compact product,
    /// the two indices of a pair. Only the former can be constructed from parts.
    pub fn compact_parts(&self, limit: usize) -> Option<Vec<Type>> {
        match self.kind() {
            TypeKind::Triangle(_, index) => Some(vec![index.clone(), index.clone()]),
            _ => self.compact_factors(limit),
        }
    }

    /// Returns true for `2 \^ I`: its values are the sets of values of `I`, one truth value for
    /// each.
    pub fn is_set(&self) -> bool {
        matches!(self.kind(), TypeKind::CompactPower(base, _) if base.is_bool())
    }

    /// Returns the declaration of an enumeration.
    pub fn as_enumeration(&self) -> Option<&Nominal> {
        match self.kind() {
            TypeKind::Nominal(nominal, _) if nominal.is_enumeration() => Some(nominal),
            _ => None,
        }
    }

    /// Returns the number of cases of a sum of any form.
    pub fn case_count(&self) -> Option<BigUint> {
        match self.kind() {
            TypeKind::UnitSum(n) => Some(n.clone()),
            TypeKind::Repeat(cases, _) => cases.size().ok(),
            TypeKind::Sum(cases) | TypeKind::CompactSum(cases) => Some(BigUint::from(cases.len())),
            _ => None,
        }
    }

    /// Returns the type of case `index` of a sum of any form.
    pub fn case_type(&self, index: &BigUint) -> Option<Type> {
        if *index >= self.case_count()? {
            return None;
        }
        match self.kind() {
            TypeKind::UnitSum(_) => Some(Type::unit()),
            TypeKind::Repeat(_, case) => Some(case.clone()),
            TypeKind::Sum(cases) | TypeKind::CompactSum(cases) => cases.get(index.to_usize()?).cloned(),
            _ => None,
        }
    }

    /// Returns the named fields of a record or struct.
    pub fn fields(&self) -> Option<Vec<(Arc<str>, Type)>> {
        match self.kind() {
            TypeKind::Record(fields) => Some(fields.clone()),
            TypeKind::Nominal(nominal, args) => nominal.struct_fields(args),
            _ => None,
        }
    }

    /// Returns the type with newtypes at its root replaced by their definitions.
    pub fn unfold(&self) -> Type {
        let mut ty = self.clone();
        while let TypeKind::Nominal(nominal, args) = ty.kind() {
            match nominal.newtype_definition(args) {
                Some(definition) => ty = definition,
                None => break,
            }
        }
        ty
    }

    /// Returns the number of values of a ground compact linear type, exactly.
    ///
    /// # Errors
    ///
    /// The reason why the size is not a number.
    pub fn size(&self) -> Result<BigUint, NoSize> {
        let small = |n: BigUint| {
            if n.bits() > MAX_SIZE_BITS { Err(NoSize::TooLarge) } else { Ok(n) }
        };
        match self.kind() {
            TypeKind::UnitSum(n) => Ok(n.clone()),
            TypeKind::CompactProduct(factors) => {
                let mut size = BigUint::one();
                let mut failure = None;
                for factor in factors {
                    match factor.size() {
                        // A factor 0 makes the whole 0, however large the others are.
                        Ok(n) if n.is_zero() => return Ok(n),
                        Ok(n) if failure.is_none() => match small(size * n) {
                            Ok(n) => size = n,
                            Err(e) => {
                                failure = Some(e);
                                size = BigUint::one();
                            }
                        },
                        Ok(_) => {}
                        Err(e) => failure = Some(e),
                    }
                }
                failure.map_or(Ok(size), Err)
            }
            TypeKind::CompactSum(cases) => {
                let mut size = BigUint::zero();
                for case in cases {
                    size = small(size + case.size()?)?;
                }
                Ok(size)
            }
            TypeKind::CompactPower(base, exponent) => {
                let base = base.size();
                let exponent = exponent.size();
                match (&base, &exponent) {
                    (_, Ok(e)) if e.is_zero() => return Ok(BigUint::one()),
                    (Ok(b), _) if b.is_one() => return Ok(BigUint::one()),
                    (Ok(b), Err(NoSize::TooLarge)) if b.is_zero() => return Ok(BigUint::zero()),
                    _ => {}
                }
                let (base, exponent) = (base?, exponent?);
                if base.is_zero() {
                    return Ok(base);
                }
                let exponent = exponent.to_u64().ok_or(NoSize::TooLarge)?;
                if (base.bits() - 1).saturating_mul(exponent) > MAX_SIZE_BITS {
                    return Err(NoSize::TooLarge);
                }
                small(base.pow(u32::try_from(exponent).map_err(|_| NoSize::TooLarge)?))
            }
            TypeKind::Triangle(triangle, index) => small(triangle.count(&index.size()?)),
            TypeKind::Places(set) => Ok(set.count().into()),
            TypeKind::Nominal(nominal, args) => match nominal.definition(args) {
                Some(definition) if self.is_compact() => definition.size(),
                _ => Err(NoSize::NotCompact),
            },
            TypeKind::Var(var) if self.is_compact() => Err(NoSize::Variable(var.clone())),
            TypeKind::Rest(list) if self.is_compact() => {
                let mut var = None;
                list.for_each_var(&mut |v| var = Some(v.clone()));
                Err(var.map_or(NoSize::NotCompact, NoSize::Variable))
            }
            TypeKind::Error => Ok(BigUint::one()),
            _ => Err(NoSize::NotCompact),
        }
    }

    /// Replaces rigid variables by types; the result is canonical again, and applications of type
    /// functions are reduced.
    pub fn substitute(&self, bindings: &HashMap<u32, Type>) -> Type {
        if !(self.has_var() && !bindings.is_empty() || self.has_apply()) {
            return self.clone();
        }
        if let TypeKind::Var(var) = self.kind() {
            return bindings.get(&var.id).cloned().unwrap_or_else(|| self.clone());
        }
        self.map_children(&mut |child| child.substitute(bindings))
    }

    /// Rebuilds the type with each child replaced, canonically.
    pub fn map_children(&self, f: &mut dyn FnMut(&Type) -> Type) -> Type {
        match self.kind() {
            TypeKind::UnitSum(_)
            | TypeKind::Scalar(_)
            | TypeKind::Var(_)
            | TypeKind::Meta(_)
            | TypeKind::Member(_)
            | TypeKind::Places(_)
            | TypeKind::Error => self.clone(),
            TypeKind::Placed(ty, places) => {
                let ty = f(ty);
                Type::placed(ty, f(places))
            }
            TypeKind::Product(parts) => Type::product(parts.iter().map(f).collect()),
            TypeKind::Sum(parts) => Type::sum(parts.iter().map(f).collect()),
            TypeKind::CompactProduct(parts) => Type::compact_product(parts.iter().map(f).collect()),
            TypeKind::CompactSum(parts) => Type::compact_sum(parts.iter().map(f).collect()),
            TypeKind::Repeat(cases, case) => {
                let cases = f(cases);
                Type::repeat(cases, f(case))
            }
            TypeKind::Array(element, index) => {
                let element = f(element);
                Type::array(element, f(index))
            }
            TypeKind::CompactPower(base, exponent) => {
                let base = f(base);
                Type::compact_power(base, f(exponent))
            }
            TypeKind::Function(domain, codomain) => {
                let domain = f(domain);
                Type::function(domain, f(codomain))
            }
            TypeKind::Triangle(triangle, index) => Type::triangle(*triangle, f(index)),
            TypeKind::Procedure(domain) => Type::procedure(f(domain)),
            TypeKind::Exists(n, body) => Type::new(TypeKind::Exists(*n, f(body))),
            TypeKind::Record(fields) => {
                Type::record(fields.iter().map(|(name, ty)| (name.clone(), f(ty))).collect())
            }
            TypeKind::Nominal(nominal, args) => Type::nominal(nominal.clone(), args.iter().map(f).collect()),
            TypeKind::Apply(application) => {
                let args: Vec<Type> = application.args.iter().map(&mut *f).collect();
                match application.is_tabled() && args == application.args {
                    // A table depends on the arguments only.
                    true => self.clone(),
                    false => Type::apply(application.fun.clone(), args),
                }
            }
            TypeKind::List(form, parts, rest) => {
                let parts = parts.iter().map(&mut *f).collect();
                Type::list(*form, parts, rest.as_ref().map(f))
            }
            TypeKind::Rest(list) => Type::product_of(f(list)),
        }
    }
}

impl TypeKind {
    /// Visits the direct children, left to right.
    pub fn for_each_child<'a>(&'a self, f: &mut dyn FnMut(&'a Type)) {
        match self {
            TypeKind::UnitSum(_)
            | TypeKind::Scalar(_)
            | TypeKind::Var(_)
            | TypeKind::Meta(_)
            | TypeKind::Member(_)
            | TypeKind::Places(_)
            | TypeKind::Error => {}
            TypeKind::Product(parts)
            | TypeKind::Sum(parts)
            | TypeKind::CompactProduct(parts)
            | TypeKind::CompactSum(parts)
            | TypeKind::Nominal(_, parts) => parts.iter().for_each(f),
            TypeKind::Apply(application) => application.args.iter().for_each(f),
            TypeKind::List(_, parts, rest) => parts.iter().chain(rest).for_each(f),
            TypeKind::Triangle(_, only)
            | TypeKind::Procedure(only)
            | TypeKind::Exists(_, only)
            | TypeKind::Rest(only) => f(only),
            TypeKind::Array(a, b)
            | TypeKind::Repeat(a, b)
            | TypeKind::CompactPower(a, b)
            | TypeKind::Placed(a, b)
            | TypeKind::Function(a, b) => {
                f(a);
                f(b);
            }
            TypeKind::Record(fields) => fields.iter().for_each(|(_, ty)| f(ty)),
        }
    }
}

/// Returns true if all types are equal.
fn all_equal(types: &[Type]) -> bool {
    types.windows(2).all(|pair| pair[0] == pair[1])
}

/// Returns `count` copies of a type; `None` beyond `limit`.
fn repeat_type(ty: &Type, count: &BigUint, limit: usize) -> Option<Vec<Type>> {
    let count = count.to_usize().filter(|&n| n <= limit)?;
    Some(vec![ty.clone(); count])
}

impl PartialEq for Type {
    fn eq(&self, other: &Type) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || (self.0.hash == other.0.hash && self.0.kind == other.0.kind)
    }
}
impl Eq for Type {}
impl Hash for Type {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}
impl fmt::Debug for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
