//! First components and rests: `A * ..R` in types, `(a, ..r)` in patterns and expressions, and the
//! compact forms with `\*` and `\,`. Their meaning is defined in [`crate::types::rest`].
//!
//! Takes patterns and tuples whose last part is `..`; returns core in which `(a, ..r)` is a reshape
//! of the pair `(a, r)`. Core has no other form for it: when a function is specialized its types
//! are concrete, and the slots stay in place.

use crate::check::context::Checker;
use crate::check::error::{RestError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::types::list_types::no_list_reason;
use crate::check::types::lower;
use crate::core::{Pat, PatKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Pattern, PatternKind};
use crate::types::{Kind, ProductForm, Type, TypeKind};

impl Checker<'_> {
    /// Reports `..r` that is not the last part of a tuple.
    pub(in crate::check) fn rest_not_last(&mut self, pattern: &Pattern) {
        if let PatternKind::Rest(name) = &pattern.kind {
            let what = name.as_ref().map_or("_".to_string(), |name| name.text.to_string());
            self.report(RestError::NotLast { span: pattern.span, what });
        }
    }

    /// Elaborates a pattern for a tuple, or compact tuple, whose last part is `..r`.
    pub(in crate::check) fn rest_pattern(
        &mut self,
        form: ProductForm,
        parts: &[Pattern],
        ty: &Type,
        mutable: bool,
        span: Span,
    ) -> Pat {
        let Some((last, first)) = parts.split_last() else { return self.error_pattern(None, mutable, span) };
        if let TypeKind::Meta(_) = ty.kind() {
            let holes = first.iter().map(|_| self.infer.fresh(form.kind())).collect();
            let list = self.infer.fresh(Kind::List(form));
            let _ = self.infer.try_unify(ty, &Type::product_of(Type::list(form, holes, Some(list))));
        }
        let ty = self.infer.zonk(ty);
        let list = ty.unfold().as_list(form);
        let list = list.as_ref().and_then(Type::list_prefix);
        let split = match &list {
            Some((known, end)) if known.len() >= first.len() => {
                let (own, more) = known.split_at(first.len());
                // Only for `\*` may the rest be empty.
                let left = form == ProductForm::Compact || !more.is_empty() || end.is_some();
                left.then(|| (own.to_vec(), Type::list(form, more.to_vec(), end.clone())))
            }
            _ => None,
        };
        let Some((types, rest)) = split else {
            let what = match form {
                ProductForm::Tuple => format!("a tuple of {} and a rest", first.len()),
                ProductForm::Compact => format!("a compact tuple of {} and a rest", first.len()),
            };
            let help = match &list {
                Some((known, None)) => Some(format!("it has {} components", known.len())),
                Some((known, Some(end))) => Some(format!(
                    "only {} of its components are known one by one: `{end}` may be one component",
                    known.len()
                )),
                _ => no_list_reason(form, &ty),
            };
            self.report_pattern_mismatch(&what, &ty, help, span);
            self.error_parts(parts, mutable);
            return self.error_pattern(None, mutable, span);
        };
        let mut pats: Vec<Pat> = first.iter().zip(&types).map(|(p, t)| self.pattern(p, t, mutable)).collect();
        let rest = Type::product_of(rest);
        pats.push(match &last.kind {
            PatternKind::Rest(Some(name)) => self.variable_pattern(name, &rest, mutable),
            _ => Pat { kind: PatKind::Wild, ty: rest.clone(), span: last.span },
        });
        let pair = form.product(types.into_iter().chain([rest]).collect());
        let kind = match form {
            ProductForm::Tuple => PatKind::Tuple(pats),
            ProductForm::Compact => PatKind::Pack(pats),
        };
        let inner = Pat { kind, ty: pair, span };
        match inner.ty == ty {
            true => inner,
            false => Pat { kind: PatKind::Reshape(Box::new(inner)), ty, span },
        }
    }

    /// Elaborates a tuple, or compact tuple, whose last part is `..e`. Returns `None` for other
    /// tuples.
    pub(in crate::check) fn rest_tuple(
        &mut self,
        form: ProductForm,
        parts: &[Expr],
        expected: Expectation<'_>,
        span: Span,
    ) -> Option<Term> {
        let (Expr { kind: ExprKind::Rest(rest), .. }, first) = parts.split_last()? else { return None };
        let hint = expected.ty.map(|hint| self.infer.zonk(hint).unfold()).and_then(|hint| hint.as_list(form));
        let hints = hint.as_ref().and_then(Type::list_prefix).map_or(&[][..], |(known, _)| known);
        let mut terms = Vec::new();
        let mut types = Vec::new();
        for (at, part) in first.iter().chain([&**rest]).enumerate() {
            let last = at == first.len();
            let term = match hints.get(at).filter(|_| !last) {
                Some(hint) => self.check(part, hint, None),
                None => self.expr(part, Expectation::NONE),
            };
            // The components of the rest must be known here.
            let ty = match form {
                ProductForm::Tuple if !last => self.infer.zonk(&term.ty),
                _ => self.infer.zonk_with_defaults(&term.ty),
            };
            if let (true, TypeKind::Meta(_)) = (last, ty.kind()) {
                let what = "which components follow".to_string();
                let instead = "write the type of the value".to_string();
                return Some(
                    self.error_term(TypeError::CannotInfer { span: part.span, what, instead }, span),
                );
            }
            if ty.is_error() {
                return Some(Term::new(TermKind::Error, Type::error(), span));
            }
            if form == ProductForm::Compact && !ty.is_compact() {
                let role = "be part of a compact tuple";
                let error = lower::not_compact_error(&ty, ty.to_string(), role, part.span);
                return Some(self.error_term(error, span));
            }
            types.push(ty);
            terms.push(term);
        }
        let ty = types.pop()?;
        if let TypeKind::Var(_) | TypeKind::Apply(..) = ty.kind() {
            return Some(self.error_term(RestError::Unknown { span: rest.span, ty }, span));
        }
        let list = Type::list(form, types.clone(), Some(ty.clone().into_list(form)));
        let whole = Type::product_of(list);
        types.push(ty);
        let pair = form.product(types);
        let kind = match form {
            ProductForm::Tuple => TermKind::Tuple(terms),
            ProductForm::Compact => TermKind::Pack(terms),
        };
        let pair = Term::new(kind, pair, span);
        Some(match pair.ty == whole {
            true => pair,
            false => Term::new(TermKind::Reshape(Box::new(pair)), whole, span),
        })
    }
}
