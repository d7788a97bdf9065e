//! The laws of isomorphism, and derivations by them.
//!
//! The laws are those of commutative semirings with exponentiation (Tarski's high school
//! identities), restricted where storage must not move; see R. Di Cosmo, *Isomorphisms of Types*
//! (1995).
//!
//! A [`Witness`] leads from one type to another in steps; each step applies one [`Law`] to the
//! whole type, or rewrites children by witnesses of their own. The intermediate types are ordinary
//! types, so a derivation reads as a calculation. [`Connective`] is the view of products and of
//! sums as words that most laws share: `T * T * B` and `1 + 1 + B` obey the same ones.
//!
//! Only states the laws. [`super::search`] finds witnesses, [`mod@super::verify`] checks them.

use crate::types::{Type, TypeKind};
use num_traits::One;
use std::sync::Arc;

/// The two associative connectives: products of components, or sums of cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Connective {
    /// `A * B`, repeated as `T ^ I`.
    Product,
    /// `A + B`, repeated as `n *+ T`; a compact case of size n is n unit cases.
    Sum,
}

/// A law; each may be used in both directions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Law {
    /// Compact types of one size are the same integers.
    Linearize,
    /// A newtype is its definition; a struct or record is the product of its fields.
    Unfold,
    /// An abstract type is its representation, where that is known.
    Represent,
    /// Nested products or sums are flat; `1` and `0` are their units.
    Flatten(Connective),
    /// Neighboring powers of one base join.
    Concat(Connective),
    /// Powers of powers.
    Curry(Connective),
    /// A power by a number n is n copies.
    Unroll(Connective),
    /// `A * (B*A)^N ≅ (A*B)^N * A`
    Rotate(Connective),
    /// `T^1 ≅ T`, `1 *+ T ≅ T`
    PowerOne(Connective),
    /// `T^0 ≅ 1`, `0 *+ T ≅ 0`
    PowerZero(Connective),
    /// `1^I ≅ 1`, `n *+ 0 ≅ 0`
    UnitPower(Connective),
    /// Components, or cases, in another order.
    Commute(Connective),
    /// `A * (B + C) ≅ A*B + A*C`
    Distribute,
    /// `(A*B)^N ≅ A^N * B^N`
    Unzip,
    /// `A * B ≅ A \* B`, `A ^ B ≅ A \^ B` for compact `A`
    Pack,
    /// `A*T + B*T ≅ (A \+ B) * T` for compact `A` and `B`
    Collect,
    /// `A * 0 ≅ 0`
    Annihilate,
}

impl Law {
    /// Returns the name of the law.
    pub fn name(self) -> &'static str {
        match self {
            Law::Linearize => "linearize",
            Law::Unfold => "unfold",
            Law::Represent => "represent",
            Law::Flatten(Connective::Product) => "associate",
            Law::Flatten(Connective::Sum) => "flatten",
            Law::Concat(Connective::Product) => "concat",
            Law::Concat(Connective::Sum) => "units",
            Law::Curry(Connective::Product) => "curry",
            Law::Curry(Connective::Sum) => "repeat",
            Law::Unroll(Connective::Product) => "unroll",
            Law::Unroll(Connective::Sum) => "unroll cases",
            Law::Rotate(Connective::Product) => "rotate",
            Law::Rotate(Connective::Sum) => "rotate cases",
            Law::PowerOne(Connective::Product) => "power one",
            Law::PowerOne(Connective::Sum) => "one case",
            Law::PowerZero(Connective::Product) => "power zero",
            Law::PowerZero(Connective::Sum) => "no case",
            Law::UnitPower(Connective::Product) => "power of unit",
            Law::UnitPower(Connective::Sum) => "repeated void",
            Law::Commute(Connective::Product) => "swap",
            Law::Commute(Connective::Sum) => "swap cases",
            Law::Distribute => "distribute",
            Law::Unzip => "unzip",
            Law::Pack => "pack",
            Law::Collect => "collect",
            Law::Annihilate => "void factor",
        }
    }

    /// Returns the statement of the law, in one line.
    pub fn statement(self) -> &'static str {
        match self {
            Law::Linearize => "compact types of the same size are the same integers",
            Law::Unfold => "a newtype is its definition, a struct or record the product of its fields",
            Law::Represent => "an abstract type is its representation, where that is known",
            Law::Flatten(Connective::Product) => "A * (B * C) = A * B * C, 1 * A = A",
            Law::Flatten(Connective::Sum) => "A + (B + C) = A + B + C, 0 + A = A",
            Law::Concat(Connective::Product) => "T^A * T^B = T^(A \\+ B)",
            Law::Concat(Connective::Sum) => "3 + 2 = 5, N *+ T + M *+ T = (N \\+ M) *+ T",
            Law::Curry(Connective::Product) => "(T^A)^B = T^(B \\* A)",
            Law::Curry(Connective::Sum) => "N *+ (M *+ T) = (N \\* M) *+ T, N *+ A = N \\* A for compact A",
            Law::Unroll(Connective::Product) => "(A * B)^2 = A * B * A * B",
            Law::Unroll(Connective::Sum) => "2 *+ (A + B) = A + B + A + B",
            Law::Rotate(Connective::Product) => "A * (B * A)^N = (A * B)^N * A",
            Law::Rotate(Connective::Sum) => "A + N *+ (B + A) = N *+ (A + B) + A",
            Law::PowerOne(Connective::Product) => "T^1 = T",
            Law::PowerOne(Connective::Sum) => "1 *+ T = T",
            Law::PowerZero(Connective::Product) => "T^0 = 1",
            Law::PowerZero(Connective::Sum) => "0 *+ T = 0",
            Law::UnitPower(Connective::Product) => "1^A = 1",
            Law::UnitPower(Connective::Sum) => "N *+ 0 = 0",
            Law::Commute(Connective::Product) => "A * B and B * A, storage moves",
            Law::Commute(Connective::Sum) => "A + B and B + A, tags change",
            Law::Distribute => "A * (B + C) and A*B + A*C, storage moves",
            Law::Unzip => "(A * B)^N and A^N * B^N, storage moves",
            Law::Pack => "A * B and A \\* B, A^B and A \\^ B for compact types, storage moves",
            Law::Collect => "A*T + B*T and (A \\+ B) * T for compact A and B, storage moves",
            Law::Annihilate => "A * 0 and 0, neither has a value",
        }
    }

    /// Returns true if both sides have the same storage.
    pub fn keeps_storage(self) -> bool {
        !matches!(
            self,
            Law::Commute(_) | Law::Distribute | Law::Unzip | Law::Pack | Law::Collect | Law::Annihilate
        )
    }
}

/// A derivation of `to` from `from`.
#[derive(Clone, Debug)]
pub struct Witness {
    /// The first type.
    pub from: Type,
    /// The last type.
    pub to: Type,
    /// The steps; each begins at the type where the one before ends.
    pub steps: Vec<Step>,
    /// The number of steps including those inside; parts are shared, so it can be large.
    pub(super) weight: usize,
}

/// One step of a derivation.
#[derive(Clone, Debug)]
pub struct Step {
    /// The type before.
    pub from: Type,
    /// The type after.
    pub to: Type,
    /// The reason why the two are isomorphic.
    pub reason: Reason,
}

/// The reason why a step holds.
#[derive(Clone, Debug)]
pub enum Reason {
    /// The two types are an instance of a law, in either direction.
    Law(Law),
    /// Congruence: children of the type, by their positions, are rewritten, each by its own
    /// derivation; the others stay.
    Congruence(Vec<(usize, Arc<Witness>)>),
}

impl Witness {
    /// Returns the derivation without steps.
    pub fn identity(ty: &Type) -> Witness {
        Witness { from: ty.clone(), to: ty.clone(), steps: Vec::new(), weight: 0 }
    }

    /// Appends a step by a law, unless the type stays the same.
    pub fn apply_law(&mut self, law: Law, to: Type) {
        if to != self.to {
            self.weight = self.weight.saturating_add(1);
            self.steps.push(Step { from: self.to.clone(), to: to.clone(), reason: Reason::Law(law) });
            self.to = to;
        }
    }

    /// Appends a congruence step: child `i` of the last type becomes the last type of its witness.
    pub fn apply_inside(&mut self, children: Vec<(usize, Arc<Witness>)>) {
        let children: Vec<_> = children.into_iter().filter(|(_, w)| !w.steps.is_empty()).collect();
        if children.is_empty() {
            return;
        }
        let mut i = 0;
        let to = self.to.map_children(&mut |child| {
            let new = children.iter().find(|(at, _)| *at == i).map_or(child, |(_, w)| &w.to);
            i += 1;
            new.clone()
        });
        let inner = children.iter().fold(1, |sum: usize, (_, w)| sum.saturating_add(w.weight));
        self.weight = self.weight.saturating_add(inner);
        self.steps.push(Step { from: self.to.clone(), to: to.clone(), reason: Reason::Congruence(children) });
        self.to = to;
    }

    /// Appends another derivation, which starts where this one ends.
    pub fn append(&mut self, next: Witness) {
        self.weight = self.weight.saturating_add(next.weight);
        self.steps.extend(next.steps);
        self.to = next.to;
    }

    /// Returns the derivation read from its end to its start.
    pub fn reversed(&self) -> Witness {
        let steps = self.steps.iter().rev().map(|step| Step {
            from: step.to.clone(),
            to: step.from.clone(),
            reason: match &step.reason {
                Reason::Law(law) => Reason::Law(*law),
                Reason::Congruence(children) => {
                    Reason::Congruence(children.iter().map(|(i, w)| (*i, Arc::new(w.reversed()))).collect())
                }
            },
        });
        Witness { from: self.to.clone(), to: self.from.clone(), steps: steps.collect(), weight: self.weight }
    }

    /// Visits each law used, with the types it was used on, except those under an abstract type,
    /// which no function of the language can rewrite.
    pub fn for_each_law(&self, f: &mut dyn FnMut(Law, &Type, &Type)) {
        for step in &self.steps {
            match &step.reason {
                Reason::Law(law) => f(*law, &step.from, &step.to),
                Reason::Congruence(_) if matches!(step.from.kind(), TypeKind::Nominal(..)) => {}
                Reason::Congruence(children) => children.iter().for_each(|(_, w)| w.for_each_law(f)),
            }
        }
    }
}

impl Connective {
    /// Returns the parts of a word, in order.
    pub fn parts(self, ty: &Type) -> Vec<Type> {
        match (self, ty.kind()) {
            (Connective::Product, TypeKind::Product(parts)) | (Connective::Sum, TypeKind::Sum(parts)) => {
                parts.clone()
            }
            (Connective::Product, _) if ty.is_unit() => Vec::new(),
            (Connective::Sum, _) if ty.is_void() => Vec::new(),
            _ => vec![ty.clone()],
        }
    }

    /// Returns the word of these parts.
    pub fn combine(self, parts: Vec<Type>) -> Type {
        match self {
            Connective::Product => Type::product(parts),
            Connective::Sum => Type::sum(parts),
        }
    }

    /// Returns a part as base and exponent: `T ^ I` as `(T, I)`, `n *+ T` as `(T, n)`, a compact
    /// case `A` as `(1, A)`, others with exponent 1.
    pub fn base_and_exponent(self, part: &Type) -> (Type, Type) {
        match (self, part.kind()) {
            (Connective::Product, TypeKind::Array(base, index)) => (base.clone(), index.clone()),
            (Connective::Sum, TypeKind::Repeat(cases, case)) => (case.clone(), cases.clone()),
            (Connective::Sum, _) if part.is_compact() => (Type::unit(), part.clone()),
            _ => (part.clone(), Type::unit()),
        }
    }

    /// Returns the part with this base and exponent.
    pub fn power(self, base: &Type, exponent: Type) -> Type {
        match self {
            _ if exponent.is_unit() => base.clone(),
            Connective::Product => Type::array(base.clone(), exponent),
            Connective::Sum if base.is_unit() => exponent,
            Connective::Sum if exponent.is_void() => exponent,
            Connective::Sum => Type::repeat(exponent, base.clone()),
        }
    }

    /// Returns the parts of nested words in order, without the units: `1` of products, `0` of sums.
    pub fn flatten(self, ty: &Type) -> Vec<Type> {
        let parts = self.parts(ty);
        match parts.as_slice() {
            [only] if only == ty => parts,
            _ => parts.iter().flat_map(|part| self.flatten(part)).collect(),
        }
    }
}

/// Returns a term of a sum as its compact coefficient and the remaining factors: `n *+ (A * T)` as
/// `(n \* A, [T])`.
pub fn split_coefficient(case: &Type) -> (Type, Vec<Type>) {
    let mut factors = Vec::new();
    let mut ty = case.clone();
    while let TypeKind::Repeat(n, inner) = ty.kind() {
        factors.push(n.clone());
        ty = inner.clone();
    }
    let (compact, rest): (Vec<Type>, Vec<Type>) =
        Connective::Product.flatten(&ty).into_iter().partition(Type::is_compact);
    factors.extend(compact);
    factors.retain(|factor| !factor.as_unit_sum().is_some_and(One::is_one));
    (Type::compact_product(factors), rest)
}
