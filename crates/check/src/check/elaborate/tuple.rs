//! Tuples, compact tuples and compact records.
//!
//! Takes their parts and the expected type; returns the terms with product types.

use crate::check::annotations::Referent;
use crate::check::context::Checker;
use crate::check::elaborate::apply;
use crate::check::error::TypeError;
use crate::check::expectation::Expectation;
use crate::check::types::lower;
use crate::core::{Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr};
use crate::types::number::MAX_COMPONENTS;
use crate::types::{ProductForm, Type};
use std::sync::Arc;

impl Checker<'_> {
    /// Elaborates `(a, b)`.
    pub(in crate::check) fn tuple(&mut self, parts: &[Expr], expected: Expectation<'_>, span: Span) -> Term {
        if parts.is_empty() {
            return Term::unit(span);
        }
        if let Some(tuple) = self.rest_tuple(ProductForm::Tuple, parts, expected, span) {
            return tuple;
        }
        let hints = expected
            .ty
            .map(|h| self.infer.zonk(h).unfold())
            .and_then(|h| h.components(MAX_COMPONENTS))
            .filter(|h| h.len() == parts.len());
        let mut terms: Vec<Option<Term>> = vec![None; parts.len()];
        // Functions with untyped parameters are elaborated last: the other parts may determine
        // their types.
        for late in [false, true] {
            for (i, part) in parts.iter().enumerate() {
                if apply::needs_hint(part) == late {
                    let hint = hints.as_ref().map(|h| &h[i]);
                    let before = self.reports.len();
                    let term = self.expr(part, hint.into());
                    if i == 0 {
                        let how = "application binds tighter than `,`: write `p$ a, b` to give it both";
                        self.regroup_procedure(before, how);
                    }
                    // Unification with the expected type here helps the later parts; the place
                    // itself reports a mismatch.
                    terms[i] = Some(match hint {
                        Some(ty) => self.coerce_softly(term, ty),
                        None => term,
                    });
                }
            }
        }
        let terms: Vec<Term> = terms.into_iter().flatten().collect();
        let ty = Type::product(terms.iter().map(|t| self.infer.zonk(&t.ty)).collect());
        Term::new(TermKind::Tuple(terms), ty, span)
    }

    /// Elaborates `(row = r \, col = c)`.
    pub(in crate::check) fn compact_record(
        &mut self,
        fields: &[(ast::Name, Expr)],
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let hints = expected.ty.and_then(|hint| self.infer.zonk(hint).compact_fields()).unwrap_or_default();
        let (mut terms, mut types): (Vec<Term>, Vec<(Arc<str>, Type)>) = Default::default();
        for (at, (name, value)) in fields.iter().enumerate() {
            self.note(name.span, |_| Some(Referent::RecordField));
            if types.iter().any(|(known, _)| *known == name.text) {
                let (span, name) = (name.span, name.text.to_string());
                self.report(TypeError::Duplicate { span, what: "field", name });
            }
            let term = match hints.get(at).filter(|(known, _)| *known == name.text) {
                Some((_, ty)) => self.check(value, ty, None),
                None => self.expr(value, Expectation::NONE),
            };
            let ty = self.infer.zonk_with_defaults(&term.ty);
            if !ty.is_compact() {
                let role = "be part of a compact record";
                let error = lower::not_compact_error(&ty, ty.to_string(), role, value.span);
                return self.error_term(error, span);
            }
            types.push((name.text.clone(), ty));
            terms.push(term);
        }
        Term::new(TermKind::Pack(terms), Type::compact_record(types), span)
    }

    /// Elaborates `(i \, j)`.
    pub(in crate::check) fn compact_tuple(
        &mut self,
        parts: &[Expr],
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        if let Some(tuple) = self.rest_tuple(ProductForm::Compact, parts, expected, span) {
            return tuple;
        }
        let hint = expected.ty.map(|h| self.infer.zonk(h));
        let factors = hint
            .as_ref()
            .filter(|h| h.compact_fields().is_none())
            .and_then(|h| h.unfold().compact_factors(MAX_COMPONENTS))
            .filter(|f| f.len() == parts.len());
        let terms = parts.iter().enumerate().map(|(i, part)| match &factors {
            Some(factors) => self.check(part, &factors[i], None),
            None => self.expr(part, Expectation::NONE),
        });
        let terms = terms.collect();
        let whole = hint.filter(|_| factors.is_some());
        match self.lift_terms(terms, span, |this, terms| this.pack_of(terms, None, span)) {
            Ok(work) => work,
            Err(terms) => self.pack_of(terms, whole, span),
        }
    }

    /// Returns the compact tuple of elaborated parts, of the stated type.
    fn pack_of(&mut self, terms: Vec<Term>, stated: Option<Type>, span: Span) -> Term {
        for term in &terms {
            let ty = self.infer.zonk_with_defaults(&term.ty);
            if !ty.is_compact() {
                let role = "be part of a compact tuple";
                let error = lower::not_compact_error(&ty, ty.to_string(), role, term.span);
                return self.error_term(error, span);
            }
        }
        let ty = stated
            .unwrap_or_else(|| Type::compact_product(terms.iter().map(|t| self.infer.zonk(&t.ty)).collect()));
        Term::new(TermKind::Pack(terms), ty, span)
    }
}
