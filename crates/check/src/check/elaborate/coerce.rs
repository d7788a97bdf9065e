//! Coercion: a term converted to the type that its place requires.
//!
//! Takes a term and the required type; returns a term of that type, or reports E0301 with the help
//! of [`crate::check::hints::mismatch`]. A coercion never loses information.
//!
//! The steps, in order: unification; the type of a literal; a conversion without loss (of numbers,
//! of the components of a written tuple, by an instance of `Widen`); packing of sizes.

use crate::check::context::Checker;
use crate::check::error::{AxisError, ConversionError, PlaceError};
use crate::check::hints::mismatch::element_hint;
use crate::check::solve::axes::{AxisMismatch, axis_mismatch};
use crate::core::{Term, TermKind};
use crate::source::Span;
use crate::types::number::{Conversion, MAX_COMPONENTS, conversion, widen_numbers};
use crate::types::{Type, TypeKind};

impl Checker<'_> {
    /// Returns the term at the required type: unified with it, or converted without loss. `because`
    /// is the place and reason of the requirement, for the message.
    pub(in crate::check) fn coerce(
        &mut self,
        term: Term,
        ty: &Type,
        because: Option<(Span, String)>,
    ) -> Term {
        self.infer.here = term.span;
        if self.infer.try_unify(&term.ty, ty) {
            return term;
        }
        let term = match self.restrict_places(term, ty) {
            Ok(term) => return term,
            Err(term) => term,
        };
        if self.infer.shallow(ty).is_exists() {
            return self.pack(term, ty, because);
        }
        let term = match self.with_axes_in_one_product(term, ty) {
            Ok(term) => return term,
            Err(term) => term,
        };
        let widened_parts = self.widen_parts(term, ty, because.clone());
        let term = match widened_parts.or_else(|term| self.convert_literal(term, ty)) {
            Ok(term) => return term,
            Err(term) => term,
        };
        let (found, expected) = (self.infer.zonk_with_defaults(&term.ty), self.infer.zonk(ty));
        if self.infer.try_unify(&found, &expected) {
            return Term { ty: found, ..term };
        }
        let span = term.span;
        let wide = widen_numbers(&found, &expected);
        if wide != found && self.infer.try_unify(&wide, &expected) {
            return self.convert_term(Term { ty: found, ..term }, &wide, span);
        }
        let term = match self.widen_by_instance(Term { ty: found.clone(), ..term }, &expected) {
            Ok(term) => return term,
            Err(term) => term,
        };
        if let Some(parts) = self.one_wrong_part(&term, &expected) {
            let TermKind::Tuple(terms) = term.kind else { return term };
            let terms = terms.into_iter().zip(&parts).map(|(t, ty)| self.coerce(t, ty, because.clone()));
            return Term::new(TermKind::Tuple(terms.collect()), expected, span);
        }
        let (found, expected) = (self.infer.display_type(&found), self.infer.display_type(&expected));
        if self.check_reducible(found.clone(), span).is_error()
            || self.check_reducible(expected.clone(), span).is_error()
        {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if let Some((found, mismatch)) = axis_mismatch(&found, &expected) {
            let error = match mismatch {
                AxisMismatch::Missing(axis) => {
                    let help = self.missing_axis_help(&found, &axis, &term);
                    AxisError::Missing { span, found, axis, because, help }
                }
                AxisMismatch::TooFew(axis) => {
                    let help = self.missing_axis_help(&found, &axis, &term);
                    AxisError::TooFew { span, found, axis, because, help }
                }
                AxisMismatch::Repeated(axis) => AxisError::Repeated { span, found, axis, because },
                AxisMismatch::Order(first, second) => {
                    AxisError::Order { span, found, first, second, because }
                }
            };
            return self.error_term(error, span);
        }
        if found.as_placed().is_some() && !expected.is_spread() {
            if let TypeKind::Meta(_) = expected.kind() {
                let role = "be a part of a value that is the same for all parties".to_string();
                return self.error_term(PlaceError::Spread { span, ty: found, role }, span);
            }
            let what = format!("a value of `{expected}`");
            return self.error_term(PlaceError::NotPublic { span, ty: found, what }, span);
        }
        let each = || because.as_ref().and_then(|_| element_hint(&found, &expected));
        let hint = self.mismatch_hint(&found, &expected, &term).or_else(each);
        self.error_term(ConversionError::Mismatch { span, expected, found, because, hint }, span)
    }

    /// Coerces a written tuple component by component, if a component is a literal of a declared
    /// type, needs packing, or converts without loss. Returns any other term unchanged, as the
    /// error.
    fn widen_parts(&mut self, term: Term, ty: &Type, because: Option<(Span, String)>) -> Result<Term, Term> {
        let TermKind::Tuple(parts) = &term.kind else { return Err(term) };
        let wanted = self.infer.zonk(ty);
        // A tuple is not a record, and neither is a value of a declared type.
        let alike = match (self.infer.shallow(&term.ty).kind(), wanted.kind()) {
            (TypeKind::Record(found), TypeKind::Record(wanted)) => {
                found.iter().map(|(name, _)| name).eq(wanted.iter().map(|(name, _)| name))
            }
            (TypeKind::Record(_) | TypeKind::Nominal(..), _) => false,
            (_, TypeKind::Record(_) | TypeKind::Nominal(..)) => false,
            _ => true,
        };
        let Some(wanted) = wanted.components(MAX_COMPONENTS).filter(|w| alike && w.len() == parts.len())
        else {
            return Err(term);
        };
        let short = |this: &Self, part: &Term, ty: &Type| {
            let (found, wanted) = (this.infer.shallow(&part.ty), this.infer.shallow(ty));
            let literal = this.infer.literal_of(&found).is_some()
                && matches!(wanted.kind(), TypeKind::Nominal(..) | TypeKind::Var(_));
            // A component with an existential expected type is packed with its sizes.
            let packed = wanted.is_exists() && !found.is_exists();
            literal || packed || conversion(&found, &wanted) == Conversion::Implicit
        };
        if !parts.iter().zip(&wanted).any(|(part, ty)| short(self, part, ty)) {
            return Err(term);
        }
        let parts =
            parts.iter().zip(&wanted).map(|(part, ty)| self.coerce(part.clone(), ty, because.clone()));
        let parts: Vec<Term> = parts.collect();
        Ok(Term::new(TermKind::Tuple(parts), self.infer.zonk(ty), term.span))
    }

    /// Reshapes a term whose axes stand in products within a product, `(I \* J) \* K`, where the
    /// required type has lists of axes: there the factors form one product.
    fn with_axes_in_one_product(&mut self, term: Term, ty: &Type) -> Result<Term, Term> {
        if !self.infer.zonk(ty).has_spliced() {
            return Err(term);
        }
        let found = self.infer.zonk_with_defaults(&term.ty);
        let flat = found.with_flat_indices();
        if flat == found || !self.infer.try_unify(&flat, ty) {
            return Err(term);
        }
        let span = term.span;
        Ok(Term::new(TermKind::Reshape(Box::new(Term { ty: found, ..term })), flat, span))
    }

    /// Returns the expected types of a tuple's components if exactly one component has a wrong
    /// type. The error is then reported at that component and not at the whole tuple.
    fn one_wrong_part(&mut self, term: &Term, expected: &Type) -> Option<Vec<Type>> {
        let TermKind::Tuple(terms) = &term.kind else { return None };
        if !matches!(expected.kind(), TypeKind::Product(_) | TypeKind::Array(..)) {
            return None;
        }
        let parts = expected.components(terms.len()).filter(|p| p.len() == terms.len())?;
        let mark = self.infer.mark();
        let wrong = terms.iter().zip(&parts).filter(|(t, ty)| self.infer.unify(&t.ty, ty).is_err()).count();
        self.infer.undo(mark);
        (wrong == 1 && terms.len() > 1).then_some(parts)
    }

    /// Converts a term without loss where that applies. Reports nothing if the types differ; the
    /// caller reports a mismatch of the whole.
    pub(in crate::check) fn coerce_softly(&mut self, term: Term, ty: &Type) -> Term {
        if conversion(&self.infer.shallow(&term.ty), &self.infer.shallow(ty)) == Conversion::Implicit {
            self.coerce(term, ty, None)
        } else {
            let _ = self.infer.try_unify(&term.ty, ty);
            term
        }
    }
}
