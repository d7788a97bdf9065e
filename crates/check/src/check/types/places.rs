//! Declaration of parties, and places in written types.
//!
//! `party Party = alice | bob | carol;` declares an enumeration of kind PLACES whose cases are also
//! types: sets of one place. The rules of places are those of [`crate::types::places`].

use crate::check::context::Checker;
use crate::check::env::{Callable, TypeDefinition};
use crate::check::error::{PlaceError, TypeError};
use crate::source::Span;
use crate::syntax::ast::{Name, TypeExpr, TypeExprKind};
use crate::types::places::MAX_PARTIES;
use crate::types::{Kind, Nominal, NominalBody, Type, TypeKind};
use std::sync::Arc;

impl Checker<'_> {
    /// Declares the parties of the program.
    pub(in crate::check) fn declare_party(&mut self, name: &Name, places: &[Name]) {
        if let Some(previous) = &self.program.party {
            let previous = previous.name.to_string();
            self.report(PlaceError::SecondParty { span: name.span, previous });
            return;
        }
        if places.len() >= MAX_PARTIES {
            let (span, found) = (name.span, places.len());
            self.report(PlaceError::TooManyParties { span, found, limit: MAX_PARTIES - 1 });
            return;
        }
        let mut cases: Vec<(Arc<str>, Type)> = Vec::new();
        for place in places {
            if cases.iter().any(|(known, _)| *known == place.text) {
                let name = place.text.to_string();
                self.report(TypeError::Duplicate { span: place.span, what: "place", name });
                continue;
            }
            cases.push((place.text.clone(), Type::unit()));
        }
        let party = Nominal::declare(self.env.fresh_id(), name.text.clone(), Vec::new(), Kind::Places);
        party.define(NominalBody::Variant(cases.clone()));
        self.env.types.insert(name.text.clone(), TypeDefinition::Nominal(party.clone()));
        let scope = self.env.own_scope();
        for (at, (case, _)) in cases.iter().enumerate() {
            self.hide(case, scope);
            self.env.add_callable(case, Callable::Case(party.clone(), at), scope);
            let place = Type::places(party.clone(), 1 << at);
            self.env.types.insert(case.clone(), TypeDefinition::Alias(Vec::new(), place));
        }
        self.program.party = Some(party);
    }

    /// Lowers `{alice, bob}`.
    pub(in crate::check) fn lower_places(&mut self, names: &[Name], span: Span) -> Type {
        let Some(party) = self.program.party.clone() else {
            self.report(PlaceError::NoParty { span });
            return Type::error();
        };
        let known = party.place_names();
        let mut mask = 0u64;
        for name in names {
            match known.iter().position(|place| *place == name.text) {
                Some(at) if mask & (1 << at) == 0 => mask |= 1 << at,
                Some(_) => {
                    let text = name.text.to_string();
                    self.report(TypeError::Duplicate { span: name.span, what: "place", name: text });
                }
                None => {
                    let places = known.iter().map(|place| place.to_string()).collect();
                    let (span, name) = (name.span, name.text.to_string());
                    self.report(PlaceError::NotAPlace { span, name, places });
                    return Type::error();
                }
            }
        }
        Type::places(party, mask)
    }

    /// Lowers the places after `@` and after `at`.
    pub(in crate::check) fn lower_set_of_places(&mut self, written: &TypeExpr) -> Type {
        if let (TypeExprKind::Name(name, args), None) = (&written.kind, &self.program.party)
            && args.is_empty()
            && !self.item.type_scope.contains_key(&name.text)
            && self.type_definition(&name.text).is_none()
        {
            self.report(PlaceError::NoParty { span: written.span });
            return Type::error();
        }
        let places = self.lower_argument(written);
        if places.is_error() || places.has_kind(Kind::Places) {
            return places;
        }
        if let TypeKind::Meta(_) = places.kind() {
            let hole = self.infer.fresh(Kind::Places);
            if self.infer.try_unify(&places, &hole) {
                return hole;
            }
        }
        self.report(PlaceError::NotPlaces { span: written.span, ty: places });
        Type::error()
    }

    /// Lowers `T @ S`.
    pub(in crate::check) fn lower_placed(&mut self, written: &TypeExpr, places: &TypeExpr) -> Type {
        let ty = self.lower(written);
        let set = self.lower_set_of_places(places);
        if ty.is_error() || set.is_error() {
            return Type::error();
        }
        if ty.is_spread() {
            self.report(PlaceError::Nested { span: written.span, outer: None });
            return Type::error();
        }
        Type::placed(ty, set)
    }

    /// Returns a type that is a part of values that are the same for all places; reports one that
    /// is spread over places. `role` says what it would be.
    pub(in crate::check) fn check_not_spread(&mut self, ty: Type, role: &str, span: Span) -> Type {
        if !ty.is_spread() || matches!(ty.kind(), TypeKind::Meta(_)) {
            return ty;
        }
        self.report(PlaceError::Spread { span, ty, role: role.to_string() });
        Type::error()
    }
}
