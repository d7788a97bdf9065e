//! Function values: lambdas, local functions, and functions synthesized for constructors and
//! projections.
//!
//! Takes the written function and its expected type; returns a closure. Each inner function becomes
//! a function of the program that captures the variables it uses from the outer ones (closure
//! conversion). Curried parameter groups become nested functions.

use crate::check::context::{Checker, Frame, FrameKind};
use crate::check::elaborate::stmt;
use crate::check::error::{CallError, StatementError};
use crate::check::expectation::Expectation;
use crate::check::terms::with_prefix;
use crate::core::{Function, FunctionId, LocalId, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Body, Param};
use crate::types::{Kind, Type, TypeKind};
use std::sync::Arc;

impl Checker<'_> {
    /// Returns a function value `domain -> …` whose body is made from its parameter.
    pub(in crate::check) fn synthesize(
        &mut self,
        domain: Type,
        span: Span,
        body: impl FnOnce(&mut Self, Term) -> Term,
    ) -> Term {
        self.item.frames.push(Frame::new(FrameKind::Fun, "fun".into(), span));
        let param = self.new_local("x", domain.clone());
        let x = self.local_term(param, span);
        let body = body(self, x);
        let ty = Type::function(domain.clone(), body.ty.clone());
        self.close(vec![param], None, domain, body, ty, span)
    }

    /// Ends the innermost frame; returns the closure of the function that the frame was for.
    fn close(
        &mut self,
        params: Vec<LocalId>,
        this: Option<LocalId>,
        domain: Type,
        body: Term,
        ty: Type,
        span: Span,
    ) -> Term {
        self.choose_deferred_of_function();
        let Some(frame) = self.item.frames.pop() else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        let id = self.new_function();
        let (outer, inner): (Vec<LocalId>, Vec<LocalId>) = frame.captures.iter().copied().unzip();
        let function = Function {
            name: frame.name,
            type_params: self.item.type_params.clone(),
            params,
            captures: inner,
            this,
            locals: frame.locals,
            domain,
            given: self.equations(),
            body,
            span,
        };
        self.item.closed_outside = frame.outside;
        if frame.kind == FrameKind::Fun && !frame.may_store {
            self.item.sequence.unordered.insert(id);
        }
        self.item.owned.insert(id, frame.opened);
        self.item.unfinished.push((id, function));
        let type_args = self.item.type_params.iter().cloned().map(Type::var).collect();
        Term::new(TermKind::Closure { function: id, type_args, captures: outer }, ty, span)
    }

    /// Reserves a number for a function whose body follows later.
    pub(in crate::check) fn new_function(&mut self) -> FunctionId {
        self.program.functions.push(None);
        FunctionId::new(self.program.functions.len() - 1)
    }

    /// Elaborates a lambda, or a local function that refers to itself by the name in `this`.
    pub(in crate::check) fn lambda(
        &mut self,
        function: &ast::Function,
        expected: Expectation<'_>,
        this: Option<(&ast::Name, &Type)>,
        span: Span,
    ) -> Term {
        let name: Arc<str> = this.map_or_else(|| "fun".into(), |(n, _)| n.text.clone());
        let hint = expected.ty.map(|h| self.infer.shallow(h));
        let (domain_hint, result_hint) = match hint.as_ref().map(Type::kind) {
            Some(TypeKind::Function(d, c)) => (Some(d.clone()), Some(c.clone())),
            Some(TypeKind::Procedure(d)) => (Some(d.clone()), None),
            _ => (None, None),
        };
        let kind = if function.is_proc { FrameKind::Proc } else { FrameKind::Fun };
        if this.is_none() {
            self.report_defaults(&function.params);
        }
        let groups: Vec<&[Param]> = function.params.iter().map(Vec::as_slice).collect();
        self.with_sizes(|checker| {
            checker.group(&groups, function, kind, &name, domain_hint, result_hint, this, span)
        })
    }

    /// Elaborates one parameter group of a curried function; the remaining groups are the result.
    #[allow(clippy::too_many_arguments)] // the parts of one lambda, for each of its groups
    pub(in crate::check) fn group(
        &mut self,
        groups: &[&[Param]],
        function: &ast::Function,
        kind: FrameKind,
        name: &Arc<str>,
        domain_hint: Option<Type>,
        result_hint: Option<Type>,
        this: Option<(&ast::Name, &Type)>,
        span: Span,
    ) -> Term {
        let last = groups.len() <= 1;
        let own_kind = if last { kind } else { FrameKind::Fun };
        self.item.frames.push(Frame::new(own_kind, name.clone(), function.header));
        self.frame().may_store = last && this.is_some();
        let own = groups.first().copied().unwrap_or(&[]);
        // The meaning of a recursive call depends on the parameter types, so they must be written.
        let this = this.filter(|_| own.iter().all(is_typed));
        let this_local = this.map(|(n, ty)| {
            let local = self.new_local(&n.text, ty.clone());
            self.bind_function(&n.text, local, n.span);
            // A recursive call adds no effect to those of the body.
            self.frame().contained.insert(local);
            local
        });
        let (params, prefix, domain) = self.parameters(own, domain_hint);
        if let Some((_, ty)) = this {
            let known = match last && own_kind == FrameKind::Proc && function.result.is_none() {
                true => Type::procedure(domain.clone()),
                false => Type::function(domain.clone(), self.infer.fresh(Kind::Spread)),
            };
            let _ = self.infer.try_unify(ty, &known);
        }
        let (body, ty) = if last {
            self.function_body(function, result_hint, &domain, prefix, span)
        } else {
            let (d, r) = match result_hint.as_ref().map(|h| self.infer.shallow(h)).as_ref().map(Type::kind) {
                Some(TypeKind::Function(d, r)) => (Some(d.clone()), Some(r.clone())),
                _ => (None, None),
            };
            let inner = self.group(&groups[1..], function, kind, name, d, r, None, span);
            let ty = Type::function(domain.clone(), inner.ty.clone());
            (with_prefix(prefix, inner), ty)
        };
        self.close(params, this_local, domain, body, ty, span)
    }

    /// Elaborates the parameters of one group. Returns their locals, the statements that bind
    /// patterns among them, and the argument type.
    pub(in crate::check) fn parameters(
        &mut self,
        params: &[Param],
        hint: Option<Type>,
    ) -> (Vec<LocalId>, Vec<Stmt>, Type) {
        let hints: Option<Vec<Type>> = match (hint, params.len()) {
            (None, _) => None,
            (Some(ty), 1) => Some(vec![ty]),
            (Some(ty), n) => {
                let holes: Vec<Type> = (0..n).map(|_| self.infer.fresh(Kind::Spread)).collect();
                let product = Type::product(holes.clone());
                // If the tuple has another length, the caller reports the mismatch.
                if self.infer.try_unify(&product, &ty) { Some(holes) } else { None }
            }
        };
        self.check_duplicate_names(params.iter().map(|p| &p.pattern), "parameter");
        let (mut locals, mut prefix, mut types) = (Vec::new(), Vec::new(), Vec::new());
        for (i, param) in params.iter().enumerate() {
            let ty = match (&param.ty, &hints) {
                (Some(written), _) => {
                    let ty = self.lower(written);
                    if let Some(hints) = &hints {
                        // If the types differ, the mismatch of the whole function is reported by
                        // the caller.
                        let _ = self.infer.try_unify(&ty, &hints[i]);
                    }
                    ty
                }
                (None, Some(hints)) => hints[i].clone(),
                (None, None) => match &param.pattern.kind {
                    ast::PatternKind::Typed(_, written) => self.lower(written),
                    _ => self.infer.fresh(Kind::Spread),
                },
            };
            match &param.pattern.kind {
                ast::PatternKind::Name(name) if name.qualified().is_none() => {
                    let local = self.new_local(&name.text, ty.clone());
                    self.bind(&name.text, local, false, name.span);
                    locals.push(local);
                }
                _ => {
                    let local = self.new_local("_", ty.clone());
                    let pattern = self.irrefutable_pattern(&param.pattern, &ty);
                    let value = self.local_term(local, param.pattern.span);
                    prefix.push(Stmt { kind: StmtKind::Let(pattern, value), span: param.pattern.span });
                    prefix.append(&mut self.take_pattern_openings());
                    locals.push(local);
                }
            }
            types.push(ty);
        }
        (locals, prefix, Type::product(types))
    }

    /// Elaborates the body of the innermost function; returns it with the function's type.
    pub(in crate::check) fn function_body(
        &mut self,
        function: &ast::Function,
        result_hint: Option<Type>,
        domain: &Type,
        prefix: Vec<Stmt>,
        span: Span,
    ) -> (Term, Type) {
        if let (true, Some(result)) = (function.is_proc && !self.frame().valued, &function.result) {
            self.report(CallError::ValuedProcedureHere { span: result.span });
            // What it returns is of the stated type all the same.
            self.frame().valued = true;
        }
        if function.is_proc && !self.frame().valued {
            let body = match &function.body {
                Body::Expr(e) => {
                    self.in_sequence(e);
                    let (term, mut body) =
                        self.with_opening_scope(|this| this.expr(e, Expectation::STATEMENT));
                    body.push(Stmt { span: term.span, kind: StmtKind::Expr(term) });
                    body
                }
                Body::Block(stmts) => self.block(stmts),
            };
            let stmts = prefix.into_iter().chain(body).collect();
            let body = Term::new(TermKind::Block(stmts, None), Type::unit(), span);
            return (body, Type::procedure(domain.clone()));
        }
        let written = function.result.as_ref().map(|r| (self.lower_result(r), r.span));
        let because = written.as_ref().map(|(_, at)| (*at, "the declared result".to_string()));
        let free = written.is_none() && result_hint.is_none();
        let mut result = match (written, result_hint) {
            (Some((ty, _)), _) => ty,
            (None, Some(hint)) => hint,
            (None, None) => self.infer.fresh(Kind::Spread),
        };
        let body = match &function.body {
            Body::Expr(e) => {
                self.in_sequence(e);
                let (value, openings) = self.with_opening_scope(|this| match free {
                    true => {
                        let value = this.expr(e, Expectation::of(&result));
                        this.generalize(value)
                    }
                    false => this.elaborate_result(e, &result, because),
                });
                if free {
                    result = value.ty.clone();
                }
                with_prefix(prefix.into_iter().chain(openings).collect(), value)
            }
            Body::Block(stmts) => {
                self.frame().result = Some(result.clone());
                self.frame().free_result = free;
                let body = self.block(stmts);
                result = self.frame().result.clone().unwrap_or(result);
                if !stmt::diverges(&body) {
                    let name = self.frame().name.to_string();
                    self.report(StatementError::MissingReturn { span: function.header, name });
                }
                let stmts = prefix.into_iter().chain(body).collect();
                Term::new(TermKind::Block(stmts, None), result.clone(), span)
            }
        };
        (body, Type::function(domain.clone(), result))
    }
}

/// Returns true if the type of a parameter is written.
pub(in crate::check) fn is_typed(param: &Param) -> bool {
    param.ty.is_some() || matches!(param.pattern.kind, ast::PatternKind::Typed(..))
}
