//! Records and structs made from others: `r with (x = 3)`, `(...r, x = 3)`.
//!
//! Takes a record and replaced or added fields; returns the record of all parts. A field that is
//! kept is a component of a variable that holds the record, so the record is evaluated once. The
//! new values are evaluated once each, in the order in which they are written.

use crate::check::annotations::Referent;
use crate::check::context::Checker;
use crate::check::error::{PartError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::terms;
use crate::core::{Stmt, Term, TermKind};
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{Expr, Name};
use crate::types::{Type, TypeKind};
use std::sync::Arc;

/// The name and type of each field.
type Fields = Vec<(Arc<str>, Type)>;

/// The new value of a field.
enum NewValue<'e> {
    /// One that is elaborated with the type of the field.
    Written(&'e Expr),
    /// One that is elaborated already.
    Done(Term),
}

impl Checker<'_> {
    /// Elaborates `r with (x = 3, y = 4)`, a value of the type of `r`.
    pub(in crate::check) fn update(
        &mut self,
        record: &Expr,
        values: &[(Name, Expr)],
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let record = self.expr(record, expected);
        let values = values.iter().map(|(name, value)| (name, NewValue::Written(value))).collect();
        self.update_term(record, values, span)
    }

    /// Elaborates `r with (x = 3)` anywhere: a record or values at places mean work at these
    /// places. If data are moved in it, the record and then the values are evaluated in order,
    /// before the work.
    pub(in crate::check) fn update_with_places(
        &mut self,
        e: &Expr,
        (record, values): (&Expr, &[(Name, Expr)]),
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let moves = |this: &Self| values.iter().any(|(_, value)| this.mentions_move(value));
        if !self.may_lift() || !(self.mentions_move(record) || moves(self)) {
            let work = |this: &mut Self| this.update(record, values, Expectation::NONE, span);
            return match self.lift_expression(e, span, work) {
                Some(term) => term,
                None => self.update(record, values, expected, span),
            };
        }
        let record = self.expr(record, expected);
        let ty = self.infer.zonk(&record.ty);
        let plain = ty.as_placed().map_or(&ty, |(plain, _)| plain);
        let fields = plain.fields().or_else(|| plain.compact_fields()).unwrap_or_default();
        let mut terms = vec![record];
        for (name, value) in values {
            let field = fields.iter().find(|(field, _)| *field == name.text);
            terms.push(self.expr(value, field.map(|(_, ty)| ty).into()));
        }
        let update = |this: &mut Self, terms: Vec<Term>| {
            let mut terms = terms.into_iter();
            let record = terms.next().unwrap_or_else(|| unreachable!("the record is the first term"));
            let names = values.iter().map(|(name, _)| name);
            this.update_term(record, names.zip(terms.map(NewValue::Done)).collect(), span)
        };
        match self.lift_terms(terms, span, update) {
            Ok(work) => work,
            Err(terms) => update(self, terms),
        }
    }

    /// Elaborates `r with (x = 3)` for a record that is already elaborated.
    fn update_term(&mut self, record: Term, values: Vec<(&Name, NewValue<'_>)>, span: Span) -> Term {
        let mut prefix = Vec::new();
        let Some((record, fields)) = self.record(record, &mut prefix) else {
            for (_, value) in values {
                if let NewValue::Written(value) = value {
                    self.expr(value, Expectation::NONE);
                }
            }
            return Term::new(TermKind::Error, Type::error(), span);
        };
        let mut parts: Vec<Option<Term>> = vec![None; fields.len()];
        for (name, value) in values {
            let Some(at) = fields.iter().position(|(field, _)| *field == name.text) else {
                let known: Vec<String> = fields.iter().map(|(field, _)| field.to_string()).collect();
                let similar = similar(&name.text, known.iter().map(String::as_str));
                let (name_text, ty) = (name.text.to_string(), record.ty.clone());
                let error = PartError::UpdatedField { span: name.span, name: name_text, ty, known, similar };
                self.report(error);
                if let NewValue::Written(value) = value {
                    self.expr(value, Expectation::NONE);
                }
                continue;
            };
            self.note_field(name.span, &record.ty, at);
            let because = Some((name.span, format!("the type of the field `{}`", name.text)));
            let value = match value {
                NewValue::Written(value) => self.check(value, &fields[at].1, because),
                NewValue::Done(value) => self.coerce(value, &fields[at].1, because),
            };
            if parts[at].is_some() {
                self.field_twice(name);
            }
            parts[at] = Some(self.bind_value(value, &mut prefix));
        }
        let parts = parts.into_iter().enumerate().map(|(at, part)| match part {
            Some(part) => part,
            None => self.component(record.clone(), &at.into(), span),
        });
        let mut parts: Vec<Term> = parts.collect();
        let kind = match (record.ty.kind(), parts.len()) {
            _ if record.ty.compact_fields().is_some() => TermKind::Pack(parts),
            (TypeKind::Nominal(..), 1) => TermKind::Reshape(Box::new(parts.remove(0))),
            _ => TermKind::Tuple(parts),
        };
        terms::with_prefix(prefix, Term::new(kind, record.ty, span))
    }

    /// Elaborates `(...r, x = 3)`: a record with the fields of `r` and others. The fields are in
    /// the order in which each name first occurs; a later value replaces an earlier one.
    pub(in crate::check) fn spread(
        &mut self,
        parts: &[(Option<Name>, Expr)],
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let hints = expected.ty.and_then(|hint| self.infer.shallow(hint).fields()).unwrap_or_default();
        let mut prefix = Vec::new();
        let mut fields: Vec<(Arc<str>, Term)> = Vec::new();
        let mut written: Vec<&Name> = Vec::new();
        for (name, value) in parts {
            let new: Vec<(Arc<str>, Term)> = match name {
                None => {
                    let Some((record, known)) = self.spread_record(value, &mut prefix) else {
                        return Term::new(TermKind::Error, Type::error(), span);
                    };
                    let span = value.span;
                    let known = known.into_iter().enumerate();
                    known
                        .map(|(at, (name, _))| (name, self.component(record.clone(), &at.into(), span)))
                        .collect()
                }
                Some(name) => {
                    self.note(name.span, |_| Some(Referent::RecordField));
                    if written.iter().any(|known| known.text == name.text) {
                        self.field_twice(name);
                    }
                    written.push(name);
                    let value = match hints.iter().find(|(field, _)| *field == name.text) {
                        Some((_, ty)) => self.check(value, &ty.clone(), None),
                        None => self.expr(value, Expectation::NONE),
                    };
                    vec![(name.text.clone(), self.bind_value(value, &mut prefix))]
                }
            };
            for (name, term) in new {
                match fields.iter_mut().find(|(field, _)| *field == name) {
                    Some((_, known)) => *known = term,
                    None => fields.push((name, term)),
                }
            }
        }
        let types: Fields = fields.iter().map(|(name, term)| (name.clone(), term.ty.clone())).collect();
        let terms = fields.into_iter().map(|(_, term)| term).collect();
        terms::with_prefix(prefix, Term::new(TermKind::Tuple(terms), Type::record(types), span))
    }

    /// Returns a value with fields, held by a variable, and its fields. Reports an error and
    /// returns `None` if the value has no fields.
    fn record(&mut self, term: Term, prefix: &mut Vec<Stmt>) -> Option<(Term, Fields)> {
        self.resolve_deferred_call(&term.ty);
        let ty = self.infer.zonk_with_defaults(&term.ty);
        if ty.is_error() {
            return None;
        }
        let fields = ty.fields().or_else(|| ty.compact_fields());
        let Some(fields) = fields.filter(|_| !self.env.hides_parts(&ty, term.span)) else {
            self.report(PartError::NotARecord { span: term.span, ty });
            return None;
        };
        let term = Term { ty, ..term };
        // Nothing sets a variable while an expression is evaluated, and a second name for it would
        // share the parts that the new values are made of.
        match term.kind {
            TermKind::Local(_) => Some((term, fields)),
            _ => Some((self.bind_value(term, prefix), fields)),
        }
    }

    /// Elaborates the record of `...r`.
    fn spread_record(&mut self, e: &Expr, prefix: &mut Vec<Stmt>) -> Option<(Term, Fields)> {
        let term = self.expr(e, Expectation::NONE);
        self.record(term, prefix)
    }

    /// Reports a field that is written twice.
    fn field_twice(&mut self, name: &Name) {
        let (span, name) = (name.span, name.text.to_string());
        self.report(TypeError::Duplicate { span, what: "field", name });
    }
}
