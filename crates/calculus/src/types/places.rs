//! Places: the parties that run a program, sets of them, and types of values at places.
//!
//! `party Party = alice | bob | carol;` declares an enumeration of kind PLACES. A set of its places
//! is a type of kind PLACES as well: an index type with one value for each place, in the order of
//! the declaration. The set of all places is the enumeration itself, so equal sets are equal types.
//! `T @ S` ([`TypeKind::Placed`]) is the type of a value of `T` at each place of `S`; its kind is
//! SPREAD.
//!
//! *Endpoint projection* ([`Type::endpoint_projection`]) is the type that one party has of a type:
//! `T` of `T @ S` at a party of `S`, and `1` at any other (M. Carbone and F. Montesi,
//! *Deadlock-freedom by design: multiparty asynchronous global programming*, POPL 2013).

use super::{Kind, Nominal, NominalBody, Type, TypeKind, TypeVar};
use crate::hash::HashSet;
use std::sync::Arc;

/// Parties of a program, at most: a set of them is one word.
pub const MAX_PARTIES: usize = 64;

/// Parts of a type that are searched for one that cannot be moved. A declared type may mention
/// itself at other arguments each time.
const MAX_PARTS: usize = 10_000;

/// Constructors of the largest part of a type that can be moved.
const MAX_PART_NODES: u32 = 10_000;

/// A set of places of a party: neither empty nor the set of all places, which is the enumeration
/// itself.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PlaceSet {
    /// The enumeration of all places.
    pub party: Nominal,
    /// Bit `i` is set if place `i` belongs to the set.
    pub mask: u64,
}

/// The types of `stdlib/ciphers.flx` whose first argument is the number of a key.
const OF_KEYS: [&str; 6] = ["secret_key", "public_key", "cipher", "packed", "product_key", "rotation_keys"];

/// Returns the mask of all places of a party.
fn all_places(party: &Nominal) -> u64 {
    match party.body() {
        Some(NominalBody::Variant(cases)) if cases.len() < MAX_PARTIES => (1 << cases.len()) - 1,
        _ => u64::MAX,
    }
}

impl PlaceSet {
    /// Returns the names of the places in order.
    pub fn names(&self) -> Vec<Arc<str>> {
        let Some(NominalBody::Variant(cases)) = self.party.body() else { return Vec::new() };
        let member = |i: usize| self.mask & (1 << i) != 0;
        cases.iter().enumerate().filter(|(i, _)| member(*i)).map(|(_, (name, _))| name.clone()).collect()
    }

    /// Returns the number of places.
    pub fn count(&self) -> u32 {
        self.mask.count_ones()
    }

    /// Returns true if a place, by its number, belongs to the set.
    pub fn contains(&self, place: usize) -> bool {
        place < MAX_PARTIES && self.mask & (1 << place) != 0
    }

    /// Returns the numbers of the places in order.
    pub fn numbers(&self) -> impl Iterator<Item = usize> + use<> {
        let mask = self.mask;
        (0..MAX_PARTIES).filter(move |i| mask & (1 << i) != 0)
    }

    /// Returns the position of a place among those of the set.
    pub fn position(&self, place: usize) -> Option<usize> {
        self.contains(place).then(|| (self.mask & ((1 << place) - 1)).count_ones() as usize)
    }
}

impl Nominal {
    /// Returns true for the enumeration that a `party` declares.
    pub fn is_party(&self) -> bool {
        self.kind == Kind::Places
    }

    /// Returns the name of the first place of a party.
    pub fn first_place(&self) -> Arc<str> {
        self.place_names().into_iter().next().expect("a party has a place")
    }

    /// Returns the names of the places of a party, in order.
    pub fn place_names(&self) -> Vec<Arc<str>> {
        PlaceSet { party: self.clone(), mask: all_places(self) }.names()
    }
}

impl Type {
    /// Returns the set of the places of a party with these bits; the party itself for all of them.
    pub fn places(party: Nominal, mask: u64) -> Type {
        match mask == all_places(&party) {
            true => Type::nominal(party, Vec::new()),
            false => Type::new(TypeKind::Places(PlaceSet { party, mask })),
        }
    }

    /// Returns `T @ S`. A value that is the same at places and at fewer of them is at the fewer.
    pub fn placed(ty: Type, places: Type) -> Type {
        Type::new(TypeKind::Placed(ty, places))
    }

    /// Returns the set of places that a type of kind PLACES is; `None` for other types and for
    /// variables.
    pub fn as_places(&self) -> Option<PlaceSet> {
        match self.kind() {
            TypeKind::Places(set) => Some(set.clone()),
            TypeKind::Nominal(party, _) if party.is_party() => {
                Some(PlaceSet { party: party.clone(), mask: all_places(party) })
            }
            _ => None,
        }
    }

    /// Returns the type and the places of `T @ S`.
    pub fn as_placed(&self) -> Option<(&Type, &Type)> {
        match self.kind() {
            TypeKind::Placed(ty, places) => Some((ty, places)),
            _ => None,
        }
    }

    /// Returns true if all places of this type of kind PLACES are known to belong to another one.
    pub fn is_within_places(&self, outer: &Type) -> bool {
        if self == outer {
            return true;
        }
        match (self.as_places(), outer.as_places(), outer.kind()) {
            (Some(inner), Some(outer), _) => inner.mask & !outer.mask == 0,
            // Every variable stands for some of the places.
            (None, _, TypeKind::Nominal(party, _)) => party.is_party() && self.has_kind(Kind::Places),
            _ => false,
        }
    }

    /// Returns the places that belong to both types of kind PLACES; `None` if there is none, or
    /// none is known.
    pub fn common_places(&self, other: &Type) -> Option<Type> {
        if self.is_within_places(other) {
            return Some(self.clone());
        }
        if other.is_within_places(self) {
            return Some(other.clone());
        }
        let (a, b) = (self.as_places()?, other.as_places()?);
        let mask = a.mask & b.mask;
        (mask != 0).then(|| Type::places(a.party, mask))
    }

    /// Returns a part of the type whose values cannot be moved between places: a function, a value
    /// of an abstract type that is not `movable`, or a type that more than [`MAX_PARTS`] parts lead
    /// to.
    pub fn unmovable_part(&self, movable: &dyn Fn(&Nominal) -> bool) -> Option<Type> {
        let fixed = |nominal: &Nominal| nominal.as_abstract().is_some() && !movable(nominal);
        self.part_where(&|ty| match ty.kind() {
            TypeKind::Function(..) | TypeKind::Procedure(_) => true,
            TypeKind::Nominal(nominal, _) => fixed(nominal),
            _ => false,
        })
    }

    /// Returns a part of the type whose values are native: keys and ciphertexts, which have no
    /// text.
    pub fn native_part(&self) -> Option<Type> {
        self.part_where(&|ty| ty.is_native())
    }

    /// Returns true for an abstract type without representation.
    pub fn is_native(&self) -> bool {
        let TypeKind::Nominal(nominal, _) = self.kind() else { return false };
        nominal.as_abstract().is_some_and(|known| known.representation.is_none())
    }

    /// Returns the number of the key that a key or ciphertext belongs to; `None` for other types.
    pub fn key_number(&self) -> Option<&Type> {
        match self.kind() {
            TypeKind::Nominal(nominal, args) if self.is_native() && OF_KEYS.contains(&&*nominal.name) => {
                args.first()
            }
            _ => None,
        }
    }

    /// Returns true if values of the type may hold data of the type that a variable stands for. The
    /// arguments of a native type only tell its values apart.
    pub fn holds_data_of(&self, var: &TypeVar) -> bool {
        match self.kind() {
            TypeKind::Var(known) => known == var,
            _ if !self.mentions(var) || self.is_native() => false,
            kind => {
                let mut found = false;
                kind.for_each_child(&mut |child| found |= child.holds_data_of(var));
                found
            }
        }
    }

    /// Returns a part of the type, itself included, that is `wanted`, or that more than
    /// [`MAX_PARTS`] parts lead to. The arguments of a native type are no parts.
    fn part_where(&self, wanted: &dyn Fn(&Type) -> bool) -> Option<Type> {
        let (mut seen, mut next) = (HashSet::default(), vec![self.clone()]);
        while let Some(ty) = next.pop() {
            match ty.kind() {
                _ if wanted(&ty) => return Some(ty),
                TypeKind::Nominal(nominal, args) if nominal.as_abstract().is_some() => {
                    next.extend(nominal.representation(args));
                }
                TypeKind::Function(..) | TypeKind::Procedure(_) => {}
                _ if seen.len() == MAX_PARTS || ty.nodes() > MAX_PART_NODES => return Some(ty),
                _ if !seen.insert(ty.clone()) => {}
                TypeKind::Nominal(nominal, args) => {
                    let declared = nominal.struct_fields(args).or_else(|| nominal.variant_cases(args));
                    next.extend(declared.unwrap_or_default().into_iter().map(|(_, part)| part));
                    next.extend(nominal.newtype_definition(args));
                }
                kind => kind.for_each_child(&mut |child| next.push(child.clone())),
            }
        }
        None
    }

    /// Returns the endpoint projection of a type: the type that the party with number `me` has of
    /// it. Places that are variables remain.
    pub fn endpoint_projection(&self, me: usize) -> Type {
        self.projected_with(me, &|_, representation| representation)
    }

    /// Returns the endpoint projection of a type whose values are shown: abstract types with parts
    /// at places keep their names, and have no other property than their storage.
    pub fn endpoint_projection_with_names(&self, me: usize) -> Type {
        self.projected_with(me, &|nominal, representation| nominal.stored_like(representation))
    }

    /// Returns the endpoint projection of a type, with what `named` makes of an abstract type and
    /// the projection of its representation.
    fn projected_with(&self, me: usize, named: &dyn Fn(&Nominal, Type) -> Type) -> Type {
        if !self.is_spread() {
            return self.clone();
        }
        match self.kind() {
            TypeKind::Placed(ty, places) => match places.as_places() {
                Some(set) if set.contains(me) => ty.projected_with(me, named),
                Some(_) => Type::unit(),
                None => self.clone(),
            },
            TypeKind::Nominal(nominal, args) => match nominal.representation(args) {
                Some(representation) => named(nominal, representation.endpoint_projection(me)),
                None => self.clone(),
            },
            _ => self.map_children(&mut |child| child.projected_with(me, named)),
        }
    }

    /// Returns the type with each `@` at the leaves: `(A * B) @ S` is `(A @ S) * (B @ S)`.
    pub fn with_places_at_leaves(&self) -> Type {
        if !self.is_spread() {
            return self.clone();
        }
        match self.kind() {
            TypeKind::Placed(ty, places) => {
                let at = |part: &Type| Type::placed(part.clone(), places.clone()).with_places_at_leaves();
                match ty.kind() {
                    TypeKind::UnitSum(_) if ty.is_unit() => ty.clone(),
                    TypeKind::Product(parts) => Type::product(parts.iter().map(at).collect()),
                    TypeKind::Record(fields) => {
                        Type::record(fields.iter().map(|(name, part)| (name.clone(), at(part))).collect())
                    }
                    TypeKind::Array(element, index) => Type::array(at(element), index.clone()),
                    TypeKind::Nominal(nominal, args) => {
                        let fields = || nominal.struct_fields(args).map(Type::record);
                        match nominal.stored_as(args).or_else(fields) {
                            Some(stored) => at(&stored),
                            None => self.clone(),
                        }
                    }
                    _ => self.clone(),
                }
            }
            TypeKind::Nominal(nominal, args) => match nominal.stored_as(args) {
                Some(stored) => stored.with_places_at_leaves(),
                None => self.clone(),
            },
            _ => self.map_children(&mut |child| child.with_places_at_leaves()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::NominalDef;

    fn party() -> Nominal {
        let party: Nominal = NominalDef::new(7, "Party".into(), Vec::new(), Kind::Places).into();
        let cases = ["alice", "bob", "carol"].map(|name| (Arc::from(name), Type::unit()));
        party.define(NominalBody::Variant(cases.to_vec()));
        party
    }

    #[test]
    fn sets_of_places_are_canonical_and_index_types() {
        let all = Type::places(party(), 0b111);
        assert_eq!(all, Type::nominal(party(), Vec::new()));
        let two = Type::places(party(), 0b101);
        assert_eq!(two.to_string(), "{alice, carol}");
        assert_eq!(two.size().unwrap(), 2u32.into());
        assert!(two.is_compact() && all.is_compact());
        assert!(two.is_within_places(&all) && !all.is_within_places(&two));
        assert_eq!(two.common_places(&Type::places(party(), 0b110)), Some(Type::places(party(), 0b100)));
        assert_eq!(two.common_places(&Type::places(party(), 0b010)), None);
        assert_eq!(two.as_places().unwrap().position(2), Some(1));
    }

    #[test]
    fn a_tuple_of_placed_values_is_no_array() {
        let at = |mask| Type::placed(Type::int(), Type::places(party(), mask));
        let pair = Type::product(vec![at(1), at(1)]);
        assert_eq!(pair.to_string(), "(int @ alice) * (int @ alice)");
        assert_eq!(pair.kind_of(), Kind::Spread);
        assert_eq!(pair.endpoint_projection(0), Type::array(Type::int(), Type::unit_sum(2u32)));
        assert_eq!(pair.endpoint_projection(1), Type::array(Type::unit(), Type::unit_sum(2u32)));
        assert_eq!(at(2).to_string(), "int @ bob");
    }
}
