//! Arrays aligned by the names of their axes: `over[D] x`, `like y x`, `transpose_to[D] x`.
//!
//! Takes an array `x : T ^ A` and an index type `D`; returns core for the array `T ^ D` whose
//! element at an index of `D` is the element of `x` at the same axes. `over` requires that the axes
//! of `A` occur in `D` in their order, each once; along the other axes of `D` the array is
//! repeated. `like y` is `over` with the index type of `y`. `transpose_to` requires that `D` has
//! the axes of `A` in any order. An axis is a factor of the product ([`Type::axes`]); it is found
//! by its type.
//!
//! The core is an array construction over the axes of `D` with one index expression, which the
//! compiler turns into one loop; a reshape where the axes are the same in the same order.

use crate::check::context::Checker;
use crate::check::error::{AxisError, TypeError};
use crate::check::terms::with_prefix;
use crate::core::{Prim, Term, TermKind};
use crate::source::Span;
use crate::types::{Type, TypeKind};

impl Checker<'_> {
    /// Elaborates `over[D] x` or `transpose_to[D] x`, where `to` is `D`.
    pub(in crate::check) fn permute_axes(&mut self, prim: Prim, x: Term, to: Type, span: Span) -> Term {
        let to = self.infer.zonk_with_defaults(&to);
        if to.is_error() {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let TypeKind::Array(element, index) = x.ty.kind() else {
            return self.error_term(AxisError::NotAnArray { span: x.span, ty: x.ty }, span);
        };
        let (element, index) = (element.clone(), index.clone());
        if let Some(open) = [&index, &to].into_iter().find(|ty| ty.has_meta()) {
            let what = format!("the axes of `{}`", self.infer.display_type(open));
            let instead = "write its type out".to_string();
            return self.error_term(TypeError::CannotInfer { span: x.span, what, instead }, span);
        }
        let whole = Type::array(element.clone(), to.clone());
        let (own, wanted) = (index.axes(), to.axes());
        let places = match places(prim, (&x.ty, &own), (&whole, &wanted)) {
            Ok(places) => places,
            Err(wrong) => {
                let error = match wrong {
                    Misfit::LeftOut(axis) => {
                        let function = prim.name();
                        AxisError::LeftOut { span: x.span, function, found: x.ty.clone(), axis, to }
                    }
                    Misfit::Added(axis) => AxisError::Added { span: x.span, found: x.ty.clone(), axis },
                    Misfit::Repeated(found, axis) => {
                        AxisError::Repeated { span: x.span, found, axis, because: None }
                    }
                    Misfit::Order(first, second) => {
                        AxisError::KeptOrder { span: x.span, found: x.ty.clone(), first, second, to }
                    }
                };
                return self.error_term(error, span);
            }
        };
        if own == wanted {
            return Term::new(TermKind::Reshape(Box::new(x)), whole, span);
        }
        let index_type = |axis: &Type| match axis.list_form() {
            Some(_) => Type::product_of(axis.clone()),
            None => axis.clone(),
        };
        let mut prefix = Vec::new();
        let flat = Type::index_of(own.clone());
        let x = self.bind_value(x, &mut prefix);
        let x = Term::new(TermKind::Reshape(Box::new(x)), Type::array(element.clone(), flat.clone()), span);
        let locals: Vec<_> =
            wanted.iter().map(|axis| (self.new_local("i", index_type(axis)), index_type(axis))).collect();
        let mut indices: Vec<Term> =
            places.iter().map(|place| self.local_term(locals[*place].0, span)).collect();
        let at = match indices.len() {
            1 => indices.remove(0),
            _ => {
                let pair = Type::compact_product(own.iter().map(index_type).collect());
                let pack = Term::new(TermKind::Pack(indices), pair.clone(), span);
                match pair == flat {
                    true => pack,
                    false => Term::new(TermKind::Reshape(Box::new(pack)), flat, span),
                }
            }
        };
        let body = Term::new(TermKind::Index(Box::new(x), Box::new(at)), element.clone(), span);
        let made = Type::compact_product(wanted.iter().map(index_type).collect());
        let made = Type::array(element, made);
        let built = Term::new(TermKind::Build(locals, Box::new(body)), made.clone(), span);
        with_prefix(
            prefix,
            match made == whole {
                true => built,
                false => Term::new(TermKind::Reshape(Box::new(built)), whole, span),
            },
        )
    }

    /// Elaborates `like y x`.
    pub(in crate::check) fn like(&mut self, y: &Term, x: Term, span: Span) -> Term {
        let ty = self.infer.zonk_with_defaults(&y.ty);
        match ty.kind() {
            TypeKind::Array(_, index) => self.permute_axes(Prim::Over, x, index.clone(), span),
            TypeKind::Error => Term::new(TermKind::Error, Type::error(), span),
            _ => self.error_term(AxisError::NotAnArray { span: y.span, ty }, span),
        }
    }

    /// Reports `over x` or `transpose_to x` without a type.
    pub(in crate::check) fn report_missing_axes(&mut self, name: &str, span: Span) -> Term {
        self.error_term(AxisError::NoTarget { span, name: name.to_string() }, span)
    }
}

/// The reason why an array cannot be aligned.
enum Misfit {
    /// An axis of the array that the result does not have.
    LeftOut(Type),
    /// An axis of the result that the array does not have.
    Added(Type),
    /// A type of an array with an axis more than once.
    Repeated(Type, Type),
    /// Two axes that change places.
    Order(Type, Type),
}

/// Returns for each axis of an array its place among the axes of the result.
fn places(
    prim: Prim,
    (from, own): (&Type, &[Type]),
    (to, wanted): (&Type, &[Type]),
) -> Result<Vec<usize>, Misfit> {
    let twice = |axes: &[Type], axis: &Type| axes.iter().filter(|one| *one == axis).count() > 1;
    let mut found = Vec::with_capacity(own.len());
    for axis in own {
        if twice(own, axis) {
            return Err(Misfit::Repeated(from.clone(), axis.clone()));
        }
        let place = wanted.iter().position(|one| one == axis);
        let place = place.ok_or_else(|| Misfit::LeftOut(axis.clone()))?;
        if twice(wanted, axis) {
            return Err(Misfit::Repeated(to.clone(), axis.clone()));
        }
        if let (Prim::Over, Some(last)) = (prim, found.last())
            && place < *last
        {
            return Err(Misfit::Order(wanted[place].clone(), wanted[*last].clone()));
        }
        found.push(place);
    }
    match wanted.iter().find(|axis| prim == Prim::TransposeTo && !own.contains(axis)) {
        Some(axis) => Err(Misfit::Added(axis.clone())),
        None => Ok(found),
    }
}
