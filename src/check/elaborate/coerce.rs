//! Coercion: a term at the type that its place demands.
//!
//! In this order: unification; the type of a literal; a conversion that loses nothing (of numbers,
//! of the components of a written tuple, by an instance of `Widen`); packing of sizes. If none
//! applies, E0301 with the help of [`crate::check::hints::mismatch`].

use crate::check::context::Checker;
use crate::check::error::ConversionError;
use crate::core::{Term, TermKind};
use crate::source::Span;
use crate::types::number::{Conversion, MAX_COMPONENTS, conversion, widened};
use crate::types::{Type, TypeKind};

impl Checker<'_> {
    /// A term at the type its place demands: equal, or converted without loss.
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
        if self.infer.shallow(ty).is_exists() {
            return self.pack(term, ty, because);
        }
        let widened_parts = self.widen_parts(term, ty, because.clone());
        let term = match widened_parts.or_else(|term| self.literal_at(term, ty)) {
            Ok(term) => return term,
            Err(term) => term,
        };
        let (found, expected) = (self.infer.settle(&term.ty), self.infer.zonk(ty));
        if self.infer.try_unify(&found, &expected) {
            return Term { ty: found, ..term };
        }
        let span = term.span;
        let wide = widened(&found, &expected);
        if wide != found && self.infer.try_unify(&wide, &expected) {
            return self.convert_term(Term { ty: found, ..term }, &wide, span);
        }
        let term = match self.widened_by_instance(Term { ty: found.clone(), ..term }, &expected) {
            Ok(term) => return term,
            Err(term) => term,
        };
        if let Some(parts) = self.one_wrong_part(&term, &expected) {
            let TermKind::Tuple(terms) = term.kind else { return term };
            let terms = terms.into_iter().zip(&parts).map(|(t, ty)| self.coerce(t, ty, because.clone()));
            return Term::new(TermKind::Tuple(terms.collect()), expected, span);
        }
        let (found, expected) = (self.infer.shown(&found), self.infer.shown(&expected));
        if self.applicable(found.clone(), span).is_error()
            || self.applicable(expected.clone(), span).is_error()
        {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let hint = self.mismatch_hint(&found, &expected, &term);
        self.wrong(ConversionError::Mismatch { span, expected, found, because, hint }, span)
    }

    /// A written tuple in which an integer stands for a longer one, by component; any other term is
    /// given back.
    fn widen_parts(&mut self, term: Term, ty: &Type, because: Option<(Span, String)>) -> Result<Term, Term> {
        let TermKind::Tuple(parts) = &term.kind else { return Err(term) };
        let wanted = self.infer.zonk(ty);
        // A tuple is no record, and neither is a value of a declared type.
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
            // A part that brings its sizes along is put together with them.
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

    /// The types that the parts of a tuple should have, if all but one of them do: the mistake is
    /// in that part, not in the whole.
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

    /// Converts without loss where that helps; leaves a mismatch to be reported by the whole.
    pub(in crate::check) fn coerce_softly(&mut self, term: Term, ty: &Type) -> Term {
        if conversion(&self.infer.shallow(&term.ty), &self.infer.shallow(ty)) == Conversion::Implicit {
            self.coerce(term, ty, None)
        } else {
            let _ = self.infer.try_unify(&term.ty, ty);
            term
        }
    }
}
