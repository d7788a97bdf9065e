//! Reshapes `x :>> T`, which keep the value in storage.
//!
//! Takes a term and the stated type; returns the reshaped term, or reports the verdict of
//! [`crate::iso`]. `:>>` accepts types that are equal or naturally isomorphic, a compact value as
//! its code of type `int` (up to size 2^63) or `bigint`, and an integer as the compact value with
//! that code (checked at run time). The conversion `x :> T` is in
//! [`crate::check::elaborate::conversion`].

use crate::check::context::Checker;
use crate::check::elaborate::conversion::{large_size_text, representation_of};
use crate::check::error::{ConversionError, PlaceError, TypeError};
use crate::check::hints::mismatch;
use crate::check::resolve::behavior::convertible;
use crate::core::{Term, TermKind};
use crate::iso::{self, Verdict};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, TypeExpr};
use crate::types::number::scalars;
use crate::types::{Alignment, Scalar, Type, TypeKind};
use num_bigint::BigInt;
use num_traits::Signed;
use std::collections::BTreeSet;

impl Checker<'_> {
    /// Elaborates `e :>> T`, with help where the operators are grouped otherwise than intended.
    pub(in crate::check) fn reshape(&mut self, inner: &Expr, written: &TypeExpr, span: Span) -> Term {
        let before = self.reports.len();
        let term = self.reshaped(inner, written, span);
        self.regroup_left(before, inner, ":>>", |name| format!("{name} (x :>> T)"));
        term
    }

    /// Elaborates `e :>> T`.
    fn reshaped(&mut self, inner: &Expr, written: &TypeExpr, span: Span) -> Term {
        let to = self.lower(written);
        let to = if to.has_error() { Type::error() } else { to };
        // An expression that does not determine its own type takes the stated type.
        let hint = matches!(inner.kind, ExprKind::Lambda(_) | ExprKind::Inject { .. }).then_some(&to);
        let term = self.expr(inner, hint.into());
        if self.infer.literal_of(&term.ty).is_some() && !to.is_compact() {
            // Examples are `3 :>> real`, and `3 :>> Length` for a newtype of `real`.
            let _ = self.infer.try_unify(&term.ty, &representation_of(&to));
        }
        self.literals_as(&term.ty, &representation_of(&to));
        self.resolve_deferred_call(&term.ty);
        let from = self.infer.zonk_with_defaults(&term.ty);
        if from.is_error() || to.is_error() {
            return Term { ty: to, ..term };
        }
        if let TypeKind::Meta(_) = to.kind() {
            return term;
        }
        if from.has_meta() || to.has_meta() {
            if self.infer.try_unify(&from, &to) {
                return term;
            }
            let instead = "write the type of the value with `:` where it is bound".to_string();
            return self.error_term(
                TypeError::CannotInfer { span, what: "the type that is reshaped".into(), instead },
                span,
            );
        }
        self.reshape_term(Term { ty: from, ..term }, to, span)
    }

    /// Reshapes a value of a known type to another known type.
    pub(in crate::check) fn reshape_term(&mut self, term: Term, to: Type, span: Span) -> Term {
        if let (Some((_, own)), Some((_, places))) = (term.ty.as_placed(), to.as_placed())
            && own != places
        {
            let (found, expected) = (term.ty.clone(), to);
            return self.error_term(PlaceError::OtherPlaces { span, found, expected }, span);
        }
        let reshape = |this: &mut Self, term: Term, to: &Type| this.reshape_term(term, to.clone(), span);
        let term = match self.lift_with_type(term, &to, span, reshape) {
            Ok(term) => return term,
            Err(term) => term,
        };
        let from = term.ty.clone();
        match (from.as_scalar(), to.as_scalar()) {
            (None, Some(scalar @ (Scalar::Int | Scalar::Bigint))) if from.is_compact() => {
                if scalar == Scalar::Int
                    && let Some(size) = large_size_text(&from)
                {
                    let why = format!("`{from}` has {size} values, more than `int` has codes for");
                    let help = Some("`:>> bigint` gives the code of any compact value".to_string());
                    return self
                        .error_term(ConversionError::NoConversion { span, from, to, why, help }, span);
                }
                return Term::new(TermKind::ToCode(Box::new(term)), to, span);
            }
            (Some(scalar), None) if scalar.is_integer() && to.is_compact() => {
                if let TermKind::Int(value) = &term.kind {
                    return self.constant_code(value, &to, span);
                }
                return Term::new(TermKind::FromCode(Box::new(term)), to, span);
            }
            _ => {}
        }
        match iso::verdict(&from, &to) {
            Verdict::Equal => term,
            Verdict::Natural => {
                if let (Some(own), Some(new)) = (from.nested_index(), to.nested_index())
                    && Alignment::of(&own, &new) == Some(Alignment::Permuted)
                {
                    let help = self.conversion_hint(&from, &to);
                    self.report(ConversionError::RelabelsNamed { span, from, to: to.clone(), help });
                } else if iso::permutes_axes(&from, &to) {
                    let help = self.conversion_hint(&from, &to);
                    self.report(ConversionError::Relabels { span, from, to: to.clone(), help });
                }
                Term::new(TermKind::Reshape(Box::new(term)), to, span)
            }
            _ if self.is_naturally_isomorphic(&from, &to) => {
                Term::new(TermKind::Reshape(Box::new(term)), to, span)
            }
            Verdict::Unknown => {
                let (_, notes, _) = iso::compare(&from, &to).explanation();
                self.error_term(ConversionError::Undecided { span, from, to, notes }, span)
            }
            Verdict::Isomorphic | Verdict::Different => {
                if let Some(error) = self.unequal_sizes_error(&from, &to, span) {
                    return self.error_term(error, span);
                }
                let (message, notes, help) = self.compare_for_message(&from, &to).explanation();
                let help = mismatch::pair_hint(&from, &to).or(help);
                let help = help.or_else(|| {
                    let advised = convertible(&from, &to) && self.convertible_words(&from, &to).is_ok();
                    advised.then(|| format!("`:> {}` converts one to the other", iso::text_after_cast(&to)))
                });
                self.error_term(ConversionError::NotNatural { span, from, to, message, notes, help }, span)
            }
        }
    }

    /// Gives the literals in a type that is reshaped the number type of the target, if the target
    /// has exactly one.
    fn literals_as(&mut self, from: &Type, to: &Type) {
        let mut numbers: BTreeSet<Scalar> = scalars(to).into_iter().filter(|s| s.is_number()).collect();
        if let (Some(only), 1) = (numbers.pop_first(), numbers.len() + 1) {
            let mut open = vec![self.infer.zonk(from)];
            while let Some(ty) = open.pop() {
                if self.infer.literal_of(&ty).is_some() {
                    // A literal that cannot have this number type keeps its default.
                    let _ = self.infer.try_unify(&ty, &Type::scalar(only));
                } else if ty.has_meta() {
                    ty.kind().for_each_child(&mut |child| open.push(child.clone()));
                }
            }
        }
    }

    /// Returns the compact value of a constant code, checked now if the size of the type is known.
    fn constant_code(&mut self, value: &BigInt, ty: &Type, span: Span) -> Term {
        match ty.size() {
            Ok(size) if value.is_negative() || value.magnitude() >= &size => {
                let error = ConversionError::CodeRange {
                    span,
                    value: value.clone(),
                    ty: ty.clone(),
                    size: size.to_string(),
                };
                self.error_term(error, span)
            }
            Ok(_) => Term::new(TermKind::Code(value.magnitude().clone()), ty.clone(), span),
            Err(_) => {
                let literal = Term::new(TermKind::Int(value.clone()), Type::bigint(), span);
                Term::new(TermKind::FromCode(Box::new(literal)), ty.clone(), span)
            }
        }
    }
}
