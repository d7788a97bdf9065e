//! Injections into sums and projections of arrays by an index: `case n of T`, `case n e`, `aproj`,
//! `ainj`.

use crate::check::context::Checker;
use crate::check::error::{MoveError, PartError};
use crate::check::expectation::Expectation;
use crate::core::{Pat, PatKind, Prim, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::{Type, TypeKind};
use num_bigint::BigUint;
use std::sync::Arc;

impl Checker<'_> {
    /// Elaborates `case n of T`: a constant for a unit case, otherwise an injection function.
    pub(in crate::check) fn case_of(&mut self, index: &BigUint, sum: &Type, span: Span) -> Term {
        let Some(case) = self.case_type(sum, index, span) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        if case.is_unit() {
            let kind = match sum.unfold().as_unit_sum() {
                Some(_) => TermKind::Code(index.clone()),
                None => TermKind::Inject(index.clone(), Box::new(Term::unit(span))),
            };
            return Term::new(kind, sum.clone(), span);
        }
        let (index, sum) = (index.clone(), sum.clone());
        self.synthesize(case, span, move |_, x| Term::new(TermKind::Inject(index, Box::new(x)), sum, span))
    }

    /// Returns the argument type of a case, or reports that there is no such case.
    pub(in crate::check) fn case_type(&mut self, sum: &Type, index: &BigUint, span: Span) -> Option<Type> {
        let sum = self.infer.shallow(sum);
        if sum.is_error() {
            return None;
        }
        let unfolded = sum.unfold();
        let Some(count) = unfolded.case_count() else {
            self.report(PartError::NotASum { span, ty: sum });
            return None;
        };
        match unfolded.case_type(index) {
            Some(case) => Some(case),
            None => {
                self.report(PartError::CaseRange {
                    span,
                    index: index.clone(),
                    ty: sum,
                    count: count.to_string(),
                });
                None
            }
        }
    }

    /// Elaborates `case n e`, an injection into the sum that its place expects.
    pub(in crate::check) fn inject(
        &mut self,
        index: &BigUint,
        arg: &Expr,
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let Some(sum) =
            expected.ty.map(|h| self.infer.zonk(h)).filter(|h| !matches!(h.kind(), TypeKind::Meta(_)))
        else {
            return self.error_term(PartError::CaseNeedsType { span }, span);
        };
        let Some(case) = self.case_type(&sum, index, span) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        let arg = self.check(arg, &case, None);
        Term::new(TermKind::Inject(index.clone(), Box::new(arg)), sum, span)
    }

    /// Elaborates `aproj i of T ^ N`: a projection function of an array or compact exponential.
    pub(in crate::check) fn aproj(&mut self, index: &Expr, array: &Type, span: Span) -> Term {
        let array = self.infer.shallow(array);
        let (index_ty, digit) = match array.unfold().kind() {
            TypeKind::Array(_, index) => (index.clone(), None),
            TypeKind::CompactPower(digit, index) => (index.clone(), Some(digit.clone())),
            _ if array.is_error() => return Term::new(TermKind::Error, array, span),
            _ => return self.error_term(PartError::NotIndexable { span, ty: array }, span),
        };
        let index = self.index_value(index, &index_ty, &array);
        self.with_index(index, array, span, |this, index, x| match digit {
            None => this.array_at(x, index, span),
            Some(digit) => Term::new(TermKind::Digit(Box::new(x), Box::new(index)), digit, span),
        })
    }

    /// Elaborates `ainj i of N *+ T`: an injection function.
    pub(in crate::check) fn ainj(&mut self, index: &Expr, sum: &Type, span: Span) -> Term {
        let sum = self.infer.shallow(sum);
        let (cases, case) = match sum.unfold().kind() {
            TypeKind::Repeat(cases, case) => (cases.clone(), case.clone()),
            TypeKind::UnitSum(_) => (sum.unfold(), Type::unit()),
            _ if sum.is_error() => return Term::new(TermKind::Error, sum, span),
            _ => return self.error_term(MoveError::NotACoarray { span, ty: sum }, span),
        };
        let index = self.index_value(index, &cases, &sum);
        self.with_index(index, case.clone(), span, |_, index, x| match sum.is_compact() {
            true => Term::new(TermKind::Reshape(Box::new(index)), sum, span),
            false => Term::new(TermKind::Prim(Prim::AInj, vec![cases, case], vec![index, x]), sum, span),
        })
    }

    /// Returns a function whose body is made from an index and the function's parameter. The index
    /// is evaluated once, at the place of the function value.
    fn with_index(
        &mut self,
        index: Term,
        domain: Type,
        span: Span,
        body: impl FnOnce(&mut Self, Term, Term) -> Term,
    ) -> Term {
        if let TermKind::Code(_) = index.kind {
            return self.synthesize(domain, span, |this, x| body(this, index, x));
        }
        let index_ty = index.ty.clone();
        let local = self.new_local("index", index_ty.clone());
        let name: Arc<str> = Arc::from(" index");
        self.in_scope(|this| {
            this.bind(&name, local, false, span);
            let closure = this.synthesize(domain, span, |this, x| {
                let Some((binding, _)) = this.lookup_local(" index") else { return x };
                let index = this.local_term(binding.local, span);
                body(this, index, x)
            });
            let ty = closure.ty.clone();
            let bind = Pat { kind: PatKind::Bind(local), ty: index_ty, span };
            let kind = TermKind::Block(
                vec![Stmt { kind: StmtKind::Let(bind, index), span }],
                Some(Box::new(closure)),
            );
            Term::new(kind, ty, span)
        })
    }
}

/// Returns the number of an index that is written as a literal, with its type if one is written.
pub(in crate::check) fn constant_index(e: &Expr) -> Option<(BigUint, Option<&ast::TypeExpr>)> {
    match &e.kind {
        ExprKind::Int(n) => Some((n.clone(), None)),
        ExprKind::CaseOf { index, ty, tick: true } => Some((index.clone(), Some(ty))),
        _ => None,
    }
}
