//! `for` loops: over ranges, and over the elements of arrays.
//!
//! Takes the pattern, the iterable and the body; returns a core loop over one index variable, or
//! reports why the iterable is none.

use crate::check::context::Checker;
use crate::check::elaborate::dot::signed_literal;
use crate::check::error::StatementError;
use crate::check::expectation::Expectation;
use crate::core::{ForRange, Prim, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::{Type, TypeKind};

impl Checker<'_> {
    /// Elaborates `for j in ..<i`: a loop over the indices whose codes are below that of `i`.
    fn for_up_to(
        &mut self,
        pattern: &ast::Pattern,
        high: &Expr,
        inclusive: bool,
        span: Span,
        body: &[ast::Stmt],
    ) -> Option<StmtKind> {
        let (high, ty) = self.last_index(high, inclusive, span, false)?;
        let low = Term::new(TermKind::Int(0.into()), Type::int(), span);
        let range = ForRange::Ints { low, high, inclusive };
        self.in_scope(|this| {
            let local = this.new_local("code", Type::int());
            let code = this.local_term(local, pattern.span);
            let kind = TermKind::Prim(Prim::ModInt, vec![ty.clone()], vec![code]);
            let value = Term::new(kind, ty.clone(), pattern.span);
            this.check_duplicate_names([pattern], "variable");
            let pat = this.irrefutable_pattern(pattern, &ty);
            let mut stmts = vec![Stmt { kind: StmtKind::Let(pat, value), span: pattern.span }];
            stmts.append(&mut this.loop_body(body));
            Some(StmtKind::For(local, range, stmts))
        })
    }

    /// Elaborates a `for` loop. Returns `None` after reporting an error.
    pub(in crate::check) fn for_loop(
        &mut self,
        pattern: &ast::Pattern,
        iterable: &Expr,
        body: &[ast::Stmt],
    ) -> Option<StmtKind> {
        let (range, element) = match &iterable.kind {
            ExprKind::AllOf(written) => {
                let index = self.lower_index(written, "be walked");
                (ForRange::All(index.clone()), index)
            }
            ExprKind::IntRange { low, high, inclusive } => {
                if let (Some(first), Some(last)) = (signed_literal(low), signed_literal(high))
                    && first > last
                {
                    let count = &first - last + i32::from(*inclusive);
                    self.report(StatementError::CountsDown { span: iterable.span, first, count });
                }
                let low = self.check(low, &Type::int(), None);
                let high = self.check(high, &Type::int(), None);
                (ForRange::Ints { low, high, inclusive: *inclusive }, Type::int())
            }
            ExprKind::UpTo { high, inclusive } => {
                return self.for_up_to(pattern, high, *inclusive, iterable.span, body);
            }
            _ => {
                self.in_sequence(iterable);
                let array = self.expr(iterable, Expectation::NONE);
                let (array, _) = self.as_array(array)?;
                let TypeKind::Array(element, _) = array.ty.kind() else { return None };
                let element = element.clone();
                (ForRange::Elements(array), element)
            }
        };
        self.in_scope(|this| {
            let local = match &pattern.kind {
                ast::PatternKind::Name(name)
                    if this.env.constructor(&name.text).is_none() && name.qualified().is_none() =>
                {
                    let local = this.new_local(&name.text, element.clone());
                    this.bind(&name.text, local, false, name.span);
                    return Some(StmtKind::For(local, range, this.loop_body(body)));
                }
                _ => this.new_local("_", element.clone()),
            };
            let value = this.local_term(local, pattern.span);
            this.check_duplicate_names([pattern], "variable");
            let pat = this.irrefutable_pattern(pattern, &element);
            let mut stmts = vec![Stmt { kind: StmtKind::Let(pat, value), span: pattern.span }];
            stmts.append(&mut this.take_pattern_openings());
            stmts.append(&mut this.loop_body(body));
            Some(StmtKind::For(local, range, stmts))
        })
    }
}
