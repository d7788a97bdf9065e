//! One type for several values in one place: elements of an array, branches of an `if`, arms of a
//! `match`.
//!
//! Takes the expressions and the type of their place; returns their terms, all coerced to one type.
//! The result never depends on the order of the values.
//!
//! If the place states a type, each value is checked against it. Otherwise the values are
//! elaborated first, each by itself, and their types determine the common type together
//! ([`Checker::common`]), by the first rule that applies:
//!
//! 1. The same type for all, if unification succeeds.
//! 2. For numbers, the smallest type of one family that holds all of them ([`Scalar::join`]), or
//!    one among them that does.
//! 3. For arrays, tuples and records, the common type of each component.
//! 4. The declared type among them to which all others convert implicitly, as literals or by
//!    instances of `Widen`.
//!
//! Two families of numbers have no common type other than one that a value states.

use crate::check::context::Checker;
use crate::check::elaborate::apply::needs_hint;
use crate::core::Term;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::{Scalar, Type, TypeKind};

impl Checker<'_> {
    /// Returns the terms of `values`, each made by `make` and then coerced to one type. If `ty` is
    /// a hole, it becomes that type. `why` gives the reason for one type in messages.
    pub(in crate::check) fn with_common_type(
        &mut self,
        values: &[&Expr],
        ty: &Type,
        why: &str,
        mut make: impl FnMut(&mut Self, usize, Option<&Type>) -> Term,
    ) -> Vec<Term> {
        let mut terms: Vec<Term> = Vec::new();
        for (at, value) in values.iter().enumerate() {
            let first = terms.first().map(|first| first.ty.clone());
            let term = make(self, at, first.as_ref().filter(|_| takes_hint(value)));
            if let Some(first) = first
                && !(self.infer.open_holes(&first).is_empty() && self.infer.open_holes(&term.ty).is_empty())
            {
                // The type of the first value may determine holes of the values after it.
                let _ = self.infer.try_unify(&first, &term.ty);
            }
            terms.push(term);
        }
        let types: Vec<Type> = terms.iter().map(|term| term.ty.clone()).collect();
        if let Some(common) = self.common(&types).or_else(|| types.first().cloned()) {
            let _ = self.infer.try_unify(ty, &common);
        }
        let mut because: Option<(Span, String)> = None;
        let mut out = Vec::new();
        for term in terms {
            let span = term.span;
            out.push(self.coerce(term, ty, because.clone()));
            because = because.or(Some((span, why.to_string())));
        }
        out
    }

    /// Returns the common type of values of these types, independent of their order.
    fn common(&mut self, types: &[Type]) -> Option<Type> {
        let (first, rest) = types.split_first()?;
        let mark = self.infer.mark();
        if rest.iter().all(|ty| self.infer.unify(first, ty).is_ok()) {
            return Some(self.infer.zonk(first));
        }
        self.infer.undo(mark);
        let types: Vec<Type> = types.iter().map(|ty| self.infer.zonk(ty)).collect();
        if types.iter().any(Type::is_error) {
            return None;
        }
        let known: Vec<&Type> = types.iter().filter(|ty| !matches!(ty.kind(), TypeKind::Meta(_))).collect();
        let scalars: Option<Vec<Scalar>> = known.iter().map(|ty| ty.as_scalar()).collect();
        if let Some(scalars) = scalars {
            let joined = joined(&scalars)?;
            let literals = types.iter().filter_map(|ty| self.infer.literal_of(ty));
            return literals.into_iter().all(|literal| literal.allows(joined)).then(|| Type::scalar(joined));
        }
        self.common_parts(&types).or_else(|| self.declared_among(&types))
    }

    /// Returns the common type by component, for types of one form.
    fn common_parts(&mut self, types: &[Type]) -> Option<Type> {
        match types.first()?.kind() {
            TypeKind::Array(_, index) => {
                let mut elements = Vec::new();
                for ty in types {
                    let TypeKind::Array(element, other) = ty.kind() else { return self.common_tuples(types) };
                    if !self.infer.try_unify(index, other) {
                        return None;
                    }
                    elements.push(element.clone());
                }
                Some(Type::array(self.common(&elements)?, index.clone()))
            }
            TypeKind::Product(_) => self.common_tuples(types),
            TypeKind::Record(fields) => {
                let fields = fields.clone();
                let mut columns: Vec<Vec<Type>> = vec![Vec::new(); fields.len()];
                for ty in types {
                    let TypeKind::Record(others) = ty.kind() else { return None };
                    if others.len() != fields.len() || others.iter().zip(&fields).any(|(a, b)| a.0 != b.0) {
                        return None;
                    }
                    others.iter().zip(&mut columns).for_each(|(field, column)| column.push(field.1.clone()));
                }
                let types: Option<Vec<Type>> = columns.iter().map(|column| self.common(column)).collect();
                Some(Type::record(fields.into_iter().map(|(name, _)| name).zip(types?).collect()))
            }
            _ => None,
        }
    }

    /// Returns the common type of tuples of one length, including arrays that are tuples of equal
    /// types.
    fn common_tuples(&mut self, types: &[Type]) -> Option<Type> {
        let length = types.iter().find_map(|ty| match ty.kind() {
            TypeKind::Product(parts) => Some(parts.len()),
            _ => None,
        })?;
        let mut columns: Vec<Vec<Type>> = vec![Vec::new(); length];
        for ty in types {
            let parts = ty.components(length).filter(|parts| parts.len() == length)?;
            parts.into_iter().zip(&mut columns).for_each(|(part, column)| column.push(part));
        }
        let parts: Option<Vec<Type>> = columns.iter().map(|column| self.common(column)).collect();
        Some(Type::product(parts?))
    }

    /// Returns the first declared type or type parameter among these, if all others convert to it
    /// implicitly.
    fn declared_among(&mut self, types: &[Type]) -> Option<Type> {
        let declared = |ty: &&Type| matches!(ty.kind(), TypeKind::Nominal(..) | TypeKind::Var(_));
        let to = types.iter().find(declared)?.clone();
        let mut others = types.iter().filter(|ty| **ty != to);
        others.all(|ty| self.has_literal_instance(ty, &to) || self.widens(ty, &to)).then_some(to)
    }
}

/// Returns the smallest type of one family that holds all these scalars, or one of them that holds
/// all. Returns `None` if there is neither.
fn joined(scalars: &[Scalar]) -> Option<Scalar> {
    let (first, rest) = scalars.split_first()?;
    if let (true, true) = (scalars.contains(&Scalar::Bigint), scalars.iter().all(|s| s.is_integer())) {
        // `bigint` also holds integers that no smaller type holds together.
        return Some(Scalar::Bigint);
    }
    let join =
        |joined: Scalar, next: &Scalar| if joined == *next { Some(joined) } else { joined.join(*next) };
    let holds_all = |to: &&Scalar| scalars.iter().all(|from| from == *to || from.fits(**to));
    rest.iter().try_fold(*first, join).or_else(|| scalars.iter().find(holds_all).copied())
}

/// Returns true if an expression can use an expected type as a hint without being checked against
/// it.
fn takes_hint(e: &Expr) -> bool {
    needs_hint(e)
        || matches!(
            e.kind,
            ExprKind::Name(_) | ExprKind::Apply { .. } | ExprKind::Dot { .. } | ExprKind::TypeArgs(..)
        )
}
