//! Comprehensions: `[ e for x in a ]`, with several clauses and with a guard.
//!
//! Takes the body, the clauses and the guard; returns array constructions. Without a guard, the
//! result is an array indexed by the compact product of the clauses' index types. With a guard, the
//! result is an array of a size known at run time: the positions that satisfy the guard are
//! collected first.

use crate::check::context::Checker;
use crate::check::elaborate::dot::signed_literal;
use crate::check::error::{Inside, PlaceError, StatementError};
use crate::check::expectation::Expectation;
use crate::check::resolve::candidates::prim_scheme;
use crate::check::terms::is_list;
use crate::check::terms::{mentions_local, with_prefix};
use crate::core::{LocalId, Num, Op, Pat, PatKind, Prim, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::{Type, TypeKind};
use num_bigint::BigInt;
use num_traits::Zero;
use std::sync::Arc;

impl Checker<'_> {
    /// Returns an index variable with its type for each clause. Appends to `outer` the statements
    /// that run before the loop, and to `inner` those that bind the patterns in each round.
    fn walk(
        &mut self,
        clauses: &[(ast::Pattern, Expr)],
        outer: &mut Vec<Stmt>,
        inner: &mut Vec<Stmt>,
    ) -> Option<Vec<(LocalId, Type)>> {
        let first_own = LocalId::new(self.frame().locals.len());
        let mut walked = Vec::new();
        for (at, (pattern, iterable)) in clauses.iter().enumerate() {
            self.item.unordered += usize::from(at > 0);
            let clause = self.clause(iterable, first_own, outer, inner);
            self.item.unordered -= usize::from(at > 0);
            let (index, value) = clause?;
            let local = self.new_local("i", index.clone());
            walked.push((local, index));
            let position = self.local_term(local, pattern.span);
            let value = match value {
                Some(array) => self.array_at(array, position, pattern.span),
                None => position,
            };
            let ty = self.infer.zonk_with_defaults(&value.ty);
            self.check_duplicate_names([pattern], "variable");
            let pattern = self.irrefutable_pattern(pattern, &ty);
            inner.push(Stmt { span: pattern.span, kind: StmtKind::Let(pattern, value) });
            inner.append(&mut self.take_pattern_openings());
        }
        Some(walked)
    }

    /// Returns the element type of the expected array.
    fn element_of(&self, expected: Expectation<'_>) -> Option<Type> {
        match self.infer.shallow(expected.ty?).kind() {
            TypeKind::Array(element, _) => Some(element.clone()),
            _ => None,
        }
    }

    /// Elaborates the element of a comprehension, at the expected element type if there is one.
    fn element(&mut self, body: &Expr, wanted: Option<&Type>) -> Term {
        self.item.unordered += 1;
        let element = self.confined_term(Inside::Element, |this| match wanted {
            Some(ty) => {
                let term = this.expr(body, Expectation::of(ty));
                this.coerce_softly(term, ty)
            }
            None => this.expr(body, Expectation::NONE),
        });
        self.item.unordered -= 1;
        let (ty, span) = (self.infer.zonk(&element.ty), element.span);
        if ty.is_spread() && !matches!(ty.kind(), TypeKind::Meta(_)) {
            return self.error_term(
                PlaceError::Spread { span, ty, role: "be the element of an array".into() },
                span,
            );
        }
        element
    }

    /// Elaborates a comprehension without a guard.
    pub(in crate::check) fn comprehension(
        &mut self,
        body: &Expr,
        clauses: &[(ast::Pattern, Expr)],
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let element = self.element_of(expected);
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        let mut walked = Vec::new();
        let body = self.in_scope(|this| {
            walked = this.walk(clauses, &mut outer, &mut inner)?;
            Some(this.element(body, element.as_ref()))
        });
        let Some(body) = body else { return Term::new(TermKind::Error, Type::error(), span) };
        let index = Type::compact_product(walked.iter().map(|(_, ty)| ty.clone()).collect());
        let ty = Type::array(body.ty.clone(), index);
        let build = Term::new(TermKind::Build(walked, Box::new(with_prefix(inner, body))), ty, span);
        with_prefix(outer, build)
    }

    /// Elaborates `[ e for p in i, q in j if c ]`. The positions at which the condition holds are
    /// kept in order, by the primitive `compress`; then an element is made for each of them. Their
    /// number is known at run time, so the result type is existential and opened here.
    pub(in crate::check) fn filtered_comprehension(
        &mut self,
        body: &Expr,
        clauses: &[(ast::Pattern, Expr)],
        guard: &Expr,
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let element = self.element_of(expected);
        let first_opened = self.frame().opened.len();
        let ((value, mut stmts), openings) = self.with_opening_scope(|this| {
            let (mut outer, mut inner) = (Vec::new(), Vec::new());
            let value = this.in_scope(|this| {
                let walked = this.walk(clauses, &mut outer, &mut inner)?;
                this.item.unordered += 1;
                let holds =
                    this.confined_term(Inside::Element, |this| this.check(guard, &Type::bool(), None));
                this.item.unordered -= 1;
                let index = Type::compact_product(walked.iter().map(|(_, ty)| ty.clone()).collect());
                let mask = TermKind::Build(walked.clone(), Box::new(with_prefix(inner.clone(), holds)));
                let mask = Term::new(mask, Type::array(Type::bool(), index.clone()), guard.span);
                // The positions: tuples of the clauses' indices.
                let again: Vec<(LocalId, Type)> =
                    walked.iter().map(|(_, ty)| (this.new_local("i", ty.clone()), ty.clone())).collect();
                let mut parts: Vec<Term> =
                    again.iter().map(|(local, _)| this.local_term(*local, span)).collect();
                let place = match parts.len() {
                    1 => parts.remove(0),
                    _ => {
                        let ty = Type::product(parts.iter().map(|part| part.ty.clone()).collect());
                        Term::new(TermKind::Tuple(parts), ty, span)
                    }
                };
                let place_ty = place.ty.clone();
                let all = TermKind::Build(again, Box::new(place));
                let all = Term::new(all, Type::array(place_ty.clone(), index.clone()), span);
                let (scheme, _) = prim_scheme(Prim::Compress);
                let types = vec![place_ty.clone(), index];
                let kept_ty =
                    scheme.instantiate(&mut this.infer, &types).result.expect("`compress` has a result");
                let kept = Term::new(TermKind::Prim(Prim::Compress, types, vec![all, mask]), kept_ty, span);
                let (value, openings) = this.with_opening_scope(|this| {
                    let kept = this.open_existential(kept);
                    let TypeKind::Array(_, size) = this.infer.shallow(&kept.ty).kind().clone() else {
                        return Term::new(TermKind::Error, Type::error(), span);
                    };
                    let at = this.new_local("k", size.clone());
                    let position = this.local_term(at, span);
                    let place = this.array_at(kept, position, span);
                    let mut prefix = Vec::new();
                    let place = this.bind_value(place, &mut prefix);
                    for (number, (local, ty)) in walked.iter().enumerate() {
                        let value = match walked.len() {
                            1 => place.clone(),
                            _ => this.component(place.clone(), &number.into(), span),
                        };
                        let bind = Pat { kind: PatKind::Bind(*local), ty: ty.clone(), span };
                        prefix.push(Stmt { kind: StmtKind::Let(bind, value), span });
                    }
                    prefix.append(&mut inner);
                    let body = this.element(body, element.as_ref());
                    let ty = Type::array(body.ty.clone(), size.clone());
                    Term::new(
                        TermKind::Build(vec![(at, size)], Box::new(with_prefix(prefix, body))),
                        ty,
                        span,
                    )
                });
                outer.extend(openings);
                Some(value)
            });
            (value, outer)
        });
        let Some(value) = value else { return Term::new(TermKind::Error, Type::error(), span) };
        let mut prefix = openings;
        prefix.append(&mut stmts);
        let value = self.generalize_from(first_opened, value);
        // The sizes opened inside are not visible outside, so their names are free for the result.
        self.frame().opened[first_opened..].iter_mut().for_each(|var| var.name = Arc::from(" "));
        self.open_existential(with_prefix(prefix, value))
    }

    /// Returns the index type that a clause ranges over, and the array if it ranges over one. An
    /// array that does not depend on earlier clauses is evaluated once, before the loop.
    fn clause(
        &mut self,
        iterable: &Expr,
        first_own: LocalId,
        outer: &mut Vec<Stmt>,
        inner: &mut Vec<Stmt>,
    ) -> Option<(Type, Option<Term>)> {
        match &iterable.kind {
            ExprKind::AllOf(ty) => Some((self.lower_index(ty, "be walked"), None)),
            ExprKind::IntRange { low, high, inclusive } => {
                let from_zero = matches!(&low.kind, ExprKind::Int(n) if n.is_zero());
                let count = from_zero.then_some((high.span, *inclusive));
                let number =
                    |(low, high): (BigInt, BigInt)| (low.clone(), high - low + i32::from(*inclusive));
                let literal = signed_literal(low).zip(signed_literal(high)).map(number);
                let literal = literal.filter(|(_, count)| *count > BigInt::ZERO);
                self.report(StatementError::IntRangeSize { span: iterable.span, count, literal });
                None
            }
            _ => {
                let before = LocalId::new(self.frame().locals.len());
                let opened = self.frame().opening_scopes.last().map_or(0, |scope| scope.openings.len());
                let array = self.expr(iterable, Expectation::NONE);
                self.check_clause_independence(opened, first_own, before, iterable.span)?;
                let (array, index) = self.as_array(array)?;
                let span = array.span;
                let local = self.new_local("array", array.ty.clone());
                let dependent = mentions_local(&array, first_own, before);
                let bind = Pat { kind: PatKind::Bind(local), ty: array.ty.clone(), span };
                let stmts = if dependent { inner } else { outer };
                stmts.push(Stmt { kind: StmtKind::Let(bind, array), span });
                Some((index, Some(self.local_term(local, span))))
            }
        }
    }

    /// Elaborates the index of `..i` and `..<i`, in brackets or in a loop: its code, and its type.
    pub(in crate::check) fn last_index(
        &mut self,
        high: &Expr,
        inclusive: bool,
        span: Span,
        in_brackets: bool,
    ) -> Option<(Term, Type)> {
        let high = self.expr(high, Expectation::NONE);
        self.resolve_deferred_call(&high.ty);
        let ty = self.infer.zonk_with_defaults(&high.ty);
        if ty.is_error() {
            return None;
        }
        if !ty.is_compact() || ty.is_bool() {
            self.report(StatementError::UpToNoIndex { span, ty, inclusive, in_brackets });
            return None;
        }
        let at = high.span;
        Some((self.convert_term(Term { ty: ty.clone(), ..high }, &Type::int(), at), ty))
    }

    /// Elaborates `..i` and `..<i` in a comprehension: an array of these indices, whose size is
    /// known at run time.
    pub(in crate::check) fn indices_up_to(&mut self, high: &Expr, inclusive: bool, span: Span) -> Term {
        let Some((mut count, ty)) = self.last_index(high, inclusive, span, true) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        if inclusive {
            let one = Term::new(TermKind::Int(1.into()), Type::int(), span);
            count = Term::new(TermKind::Op(Op::Add(Num::Int), vec![count, one]), Type::int(), span);
        }
        let (scheme, _) = prim_scheme(Prim::Iota);
        let codes = scheme.instantiate(&mut self.infer, &[]).result.expect("`iota` has a result");
        let codes = Term::new(TermKind::Prim(Prim::Iota, Vec::new(), vec![count]), codes, span);
        let codes = self.open_existential(codes);
        let mut stmts = Vec::new();
        let codes = self.bind_value(codes, &mut stmts);
        let TypeKind::Array(_, size) = self.infer.shallow(&codes.ty).kind().clone() else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        let local = self.new_local("k", size.clone());
        let position = self.local_term(local, span);
        let code = self.array_at(codes, position, span);
        let index = Term::new(TermKind::Prim(Prim::ModInt, vec![ty.clone()], vec![code]), ty.clone(), span);
        let build = TermKind::Build(vec![(local, size.clone())], Box::new(index));
        with_prefix(stmts, Term::new(build, Type::array(ty, size), span))
    }

    /// Returns a term as an array, with its index type. Reports an error and returns `None` if it
    /// is not an array.
    pub(in crate::check) fn as_array(&mut self, term: Term) -> Option<(Term, Type)> {
        self.resolve_deferred_call(&term.ty);
        let ty = self.infer.zonk_with_defaults(&term.ty);
        if let TypeKind::Array(_, index) = ty.kind() {
            let index = index.clone();
            return Some((Term { ty, ..term }, index));
        }
        if self.is_public(&ty, "an array", term.span) && !ty.is_error() {
            let list = is_list(&ty);
            self.report(StatementError::NotIterable { span: term.span, ty, list });
        }
        None
    }
}
