//! Static slices: `x.(1..2)`, `x.(2..<5)`, `` m.(`1:3 \, _) ``, `m.(_ \, 0..1)`.
//!
//! Takes a value and a key with constant ranges or `_` (a whole axis); returns core. A contiguous
//! slice is a component after a reshape, by the law `T ^ a * T ^ k * T ^ r ≅ T ^ (a \+ k \+ r)`,
//! and costs nothing at run time: a part of a tuple or array, or a row of a matrix. Any other slice
//! is an array construction that reads at each index: the index `i : k` of a range that begins at
//! `a` is case 1 of `a \+ k \+ r`, with code `a + i`. No index is checked at run time.

use crate::check::context::Checker;
use crate::check::error::{MoveError, PartError};
use crate::check::terms::with_prefix;
use crate::core::{Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::number::MAX_COMPONENTS;
use crate::types::{Type, TypeKind};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// The part of one axis that a slice selects.
enum Axis {
    /// One index.
    At(Term),
    /// The whole axis.
    All(Type),
    /// The `count` indices from `start` on, of an axis with `size` indices.
    Some { start: BigUint, count: BigUint, size: BigUint },
}

/// Returns true if a key is a slice.
pub(in crate::check) fn is_slice(key: &Expr) -> bool {
    match &key.kind {
        ExprKind::IntRange { .. } | ExprKind::Axis => true,
        ExprKind::CompactTuple(parts) => {
            parts.iter().any(|part| matches!(part.kind, ExprKind::IntRange { .. } | ExprKind::Axis))
        }
        _ => false,
    }
}

impl Checker<'_> {
    /// Returns a slice of a value whose type is settled.
    pub(in crate::check) fn slice(&mut self, base: Term, key: &Expr, span: Span) -> Term {
        let ty = base.ty.clone();
        let unfolded = ty.unfold();
        match (unfolded.kind(), &key.kind) {
            (_, ExprKind::Axis) if matches!(unfolded.kind(), TypeKind::Array(..)) => base,
            (
                TypeKind::Array(element, index) | TypeKind::CompactPower(element, index),
                ExprKind::IntRange { .. },
            ) => {
                let Some(size) = index.unfold().as_unit_sum().cloned() else {
                    let error = MoveError::SliceAxis { span: key.span, axis: index.clone(), ty };
                    return self.error_term(error, span);
                };
                let Some((start, count)) = self.range(key, &size, &ty) else {
                    return Term::new(TermKind::Error, Type::error(), span);
                };
                let rest = &size - &start - &count;
                let compact = matches!(unfolded.kind(), TypeKind::CompactPower(..));
                let power = if compact { Type::compact_power } else { Type::array };
                let parts = [start, count, rest].map(|n| power(element.clone(), Type::unit_sum(n)));
                let whole = if compact { Type::compact_product } else { Type::product };
                Self::piece(base, parts.to_vec(), 1, whole, span, compact)
            }
            (TypeKind::Product(parts) | TypeKind::CompactProduct(parts), ExprKind::IntRange { .. }) => {
                let Some((start, count)) = self.range(key, &parts.len().into(), &ty) else {
                    return Term::new(TermKind::Error, Type::error(), span);
                };
                let [start, count] =
                    [start, count].map(|n| n.to_usize().expect("a slice lies within its parts"));
                let compact = matches!(unfolded.kind(), TypeKind::CompactProduct(_));
                let whole = if compact { Type::compact_product } else { Type::product };
                let middle = whole(parts[start..start + count].to_vec());
                let grouped = [&parts[..start], &[middle], &parts[start + count..]].concat();
                Self::piece(base, grouped, start, whole, span, compact)
            }
            (TypeKind::Array(element, index), ExprKind::CompactTuple(keys)) => {
                self.axes(base, element, index, keys, key.span, span)
            }
            (TypeKind::Error, _) => base,
            _ => self.error_term(PartError::NotIndexable { span: base.span, ty }, span),
        }
    }

    /// Returns part `at` of a value, reshaped as the product of these consecutive parts.
    fn piece(
        base: Term,
        parts: Vec<Type>,
        at: usize,
        whole: fn(Vec<Type>) -> Type,
        span: Span,
        compact: bool,
    ) -> Term {
        let part = parts[at].clone();
        let grouped = whole(parts.clone());
        let base = match base.ty == grouped {
            true => base,
            false => Term::new(TermKind::Reshape(Box::new(base)), grouped, span),
        };
        if parts.len() == 1 {
            return Term { span, ..base };
        }
        let (base, at) = (Box::new(base), BigUint::from(at));
        Term::new(
            if compact { TermKind::Factor(base, at) } else { TermKind::Component(base, at) },
            part,
            span,
        )
    }

    /// Returns the first index and the length of a constant range within an axis of this size;
    /// reports an error and returns `None` otherwise.
    fn range(&mut self, key: &Expr, size: &BigUint, ty: &Type) -> Option<(BigUint, BigUint)> {
        let ExprKind::IntRange { low, high, inclusive } = &key.kind else { return None };
        let (ExprKind::Int(low), ExprKind::Int(high)) = (&low.kind, &high.kind) else {
            self.report(MoveError::SliceNotConstant { span: key.span });
            return None;
        };
        let end = if *inclusive { high + 1u32 } else { high.clone() };
        if end > *size || *low > end {
            let (size, ty, backwards) = (size.clone(), ty.clone(), *low > end);
            self.report(MoveError::SliceRange { span: key.span, size, ty, backwards });
            return None;
        }
        Some((low.clone(), end - low))
    }

    /// Returns a slice along several axes: `` m.(`1:3 \, _) ``.
    fn axes(
        &mut self,
        base: Term,
        element: &Type,
        index: &Type,
        keys: &[Expr],
        at: Span,
        span: Span,
    ) -> Term {
        let array = base.ty.clone();
        let factors = index.unfold().compact_factors(MAX_COMPONENTS);
        let Some(factors) = factors.filter(|factors| factors.len() == keys.len()) else {
            let found = index.unfold().compact_factors(MAX_COMPONENTS).map_or(1, |factors| factors.len());
            let (index, found, axes) = (index.clone(), keys.len(), found);
            return self.error_term(PartError::IndexParts { span: at, found, axes, index, array }, span);
        };
        let mut prefix = Vec::new();
        let mut axes = Vec::new();
        for (key, factor) in keys.iter().zip(&factors) {
            axes.push(match &key.kind {
                ExprKind::Axis => Axis::All(factor.clone()),
                ExprKind::IntRange { .. } => {
                    let Some(size) = factor.unfold().as_unit_sum().cloned() else {
                        let (axis, ty) = (factor.clone(), array);
                        return self.error_term(MoveError::SliceAxis { span: key.span, axis, ty }, span);
                    };
                    match self.range(key, &size, &array) {
                        Some((start, count)) => Axis::Some { start, count, size },
                        None => return Term::new(TermKind::Error, Type::error(), span),
                    }
                }
                _ => {
                    let index = self.index_value(key, factor, &array);
                    if index.ty.is_error() {
                        return index;
                    }
                    Axis::At(self.bind_index(index, &mut prefix))
                }
            });
        }
        let leading = axes.iter().take_while(|axis| matches!(axis, Axis::At(_))).count();
        if leading > 0 && axes[leading..].iter().all(|axis| matches!(axis, Axis::All(_))) {
            // The slice is contiguous.
            let (first, rest) = factors.split_at(leading);
            let (first, rest) = (Type::compact_product(first.to_vec()), Type::compact_product(rest.to_vec()));
            let row = Type::array(element.clone(), rest);
            let rows = Type::array(row.clone(), first.clone());
            let indices = axes.into_iter().filter_map(|axis| match axis {
                Axis::At(index) => Some(index),
                _ => None,
            });
            let index = packed(indices.collect(), first, span);
            let rows = Term::new(TermKind::Reshape(Box::new(base)), rows, span);
            let row = Term::new(TermKind::Index(Box::new(rows), Box::new(index)), row, span);
            return with_prefix(prefix, row);
        }
        let base = self.bound_if_large(base, &mut prefix);
        let (mut clauses, mut indices) = (Vec::new(), Vec::new());
        for (axis, factor) in axes.into_iter().zip(&factors) {
            let own = match &axis {
                Axis::At(_) => None,
                Axis::All(ty) => Some(ty.clone()),
                Axis::Some { count, .. } => Some(Type::unit_sum(count.clone())),
            };
            let local = own.map(|ty| {
                let local = self.new_local("i", ty.clone());
                clauses.push((local, ty));
                self.local_term(local, span)
            });
            indices.push(match (axis, local) {
                (Axis::At(index), _) => index,
                (Axis::Some { start, count, size }, Some(local)) => {
                    let parts = [start.clone(), count.clone(), size - start - count];
                    let sum = Type::compact_sum(parts.into_iter().map(Type::unit_sum).collect());
                    let case = Term::new(TermKind::Inject(BigUint::from(1u32), Box::new(local)), sum, span);
                    Term::new(TermKind::Reshape(Box::new(case)), factor.clone(), span)
                }
                (_, Some(local)) => local,
                (_, None) => return Term::new(TermKind::Error, Type::error(), span),
            });
        }
        let index = packed(indices, index.clone(), span);
        let body = Term::new(TermKind::Index(Box::new(base), Box::new(index)), element.clone(), span);
        let axes = clauses.iter().map(|(_, ty)| ty.clone()).collect();
        let ty = Type::array(element.clone(), Type::compact_product(axes));
        with_prefix(prefix, Term::new(TermKind::Build(clauses, Box::new(body)), ty, span))
    }

    /// Binds the array that is read at each index, so that it is computed once. A variable, or a
    /// part of one, is read in place, so that the slice is a place.
    fn bound_if_large(&mut self, base: Term, prefix: &mut Vec<crate::core::Stmt>) -> Term {
        let mut at = &base;
        while let TermKind::Component(inner, _) | TermKind::Reshape(inner) = &at.kind {
            at = inner;
        }
        match at.kind {
            TermKind::Local(_) | TermKind::Global(_) => base,
            _ => self.bind_value(base, prefix),
        }
    }
}

/// Returns the indices of several axes as one index.
fn packed(mut indices: Vec<Term>, whole: Type, span: Span) -> Term {
    match indices.len() {
        1 => indices.remove(0),
        _ => Term::new(TermKind::Pack(indices), whole, span),
    }
}
