//! Statements and control flow.
//!
//! Takes statements of the tree; appends statements of core, with the openings of existential
//! values before the statements that contain them. Reports statements in places where they are not
//! allowed.

use crate::check::context::{Checker, FrameKind};
use crate::check::error::{
    CallError, CheckError, ClassError, ConversionError, ModuleError, PlaceError, StatementError,
};
use crate::check::expectation::Expectation;
use crate::check::solve::exhaustive::{self, ArmsEnd};
use crate::check::{names, terms};
use crate::core::{Pat, PatKind, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind, TypeDecl};
use crate::types::{Kind, Type, TypeKind};

impl Checker<'_> {
    /// Elaborates statements in a scope of their own.
    pub(in crate::check) fn block(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        self.in_scope(|this| {
            let mut out = Vec::new();
            for (at, stmt) in stmts.iter().enumerate() {
                this.declare_type_group(stmts, at);
                this.stmt(stmt, &mut out);
            }
            out
        })
    }

    /// Elaborates the body of a loop.
    pub(in crate::check) fn loop_body(&mut self, body: &[ast::Stmt]) -> Vec<Stmt> {
        self.frame().loops += 1;
        let body = self.block(body);
        self.frame().loops -= 1;
        body
    }

    /// Elaborates a statement; the openings made in it precede it.
    pub(in crate::check) fn stmt(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        let (mut body, mut openings) = self.with_opening_scope_at(Some(stmt.span), |this| {
            let (mut body, deferred) = (Vec::new(), this.item.deferred_calls.len());
            this.stmt_in_scope(stmt, &mut body);
            this.choose_deferred(deferred);
            body
        });
        out.append(&mut openings);
        out.append(&mut body);
    }

    /// Elaborates a statement inside its opening scope.
    pub(in crate::check) fn stmt_in_scope(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let mut push = |kind| out.push(Stmt { kind, span });
        use ast::StmtKind as S;
        match &stmt.kind {
            S::Let { mutable, pattern, ty, init } => {
                let (ty, init) = self.initial_value(ty.as_ref(), init, false);
                self.check_duplicate_names([pattern], "variable");
                self.let_word = val_keyword_span(*mutable, span);
                let pat = self.irrefutable_binding(pattern, &ty, *mutable);
                self.let_word = None;
                if let (PatKind::Bind(local), false) = (&pat.kind, *mutable)
                    && let Some(function) = self.known_function_value(&init)
                {
                    self.frame().functions.insert(*local, function);
                }
                push(StmtKind::Let(pat, init));
                out.append(&mut self.take_pattern_openings());
            }
            S::Function { name, function, .. } => {
                if function.is_joint {
                    self.report(PlaceError::JointHere { span: function.header });
                }
                if !function.generics.params.is_empty() {
                    self.generic_local(name, function, span);
                    return;
                }
                if let Some((first, _)) = function.generics.constraints.first() {
                    let whose = format!("the local function `{}`", name.text);
                    let instead = "without type parameters it needs nothing: leave `with` out";
                    self.report(ClassError::ConstraintHere { span: first.span, whose, instead });
                }
                let ty = self.infer.fresh(Kind::Spread);
                let parameters = self.parameters_in_block(&function.params, self.item.type_params.len());
                self.item.local_parameters.insert(name.span, parameters);
                let term = self.lambda(function, Expectation::NONE, Some((name, &ty)), span);
                let contained = function.is_proc && function.params.len() == 1 && !self.item.closed_outside;
                if !self.infer.try_unify(&ty, &term.ty) {
                    let (expected, found) =
                        (self.infer.zonk_with_defaults(&ty), self.infer.zonk_with_defaults(&term.ty));
                    let error = ConversionError::Mismatch {
                        span: name.span,
                        expected,
                        found,
                        because: None,
                        hint: None,
                    };
                    self.report(error);
                }
                self.report_duplicate_in_block(name, &term.ty);
                let local = self.new_local(&name.text, term.ty.clone());
                self.bind_function(&name.text, local, name.span);
                if contained {
                    self.frame().contained.insert(local);
                }
                let pat = Pat { kind: PatKind::Bind(local), ty: term.ty.clone(), span: name.span };
                push(StmtKind::Let(pat, term));
            }
            S::Expr(e) => {
                if let Some(size) = self.size_to_reveal(e) {
                    self.reveal_size(size, span, out);
                    return;
                }
                self.in_sequence(e);
                let term = self.expr(e, Expectation::STATEMENT);
                let effect = self.is_effect(&term);
                self.warn_unused(e, &term, effect);
                push(StmtKind::Expr(term));
            }
            S::Assign { name, op, value } => {
                if let Some(stmt) = self.assign(name, *op, value, span) {
                    push(stmt);
                }
            }
            S::AssignAll { places, value } => self.assign_all(places, value, span, out),
            S::Store { place, op, value } => {
                let mut before = Vec::new();
                if let Some(kind) = self.store(place, *op, value, span, &mut before) {
                    out.append(&mut before);
                    out.push(Stmt { kind, span });
                }
            }
            S::If { arms, otherwise } => {
                let mut conditions = Vec::new();
                for (at, (condition, body)) in arms.iter().enumerate() {
                    self.in_sequence(condition);
                    let condition = match at {
                        0 => self.check(condition, &Type::bool(), None),
                        _ => self.condition(condition),
                    };
                    conditions.push((condition, self.block(body)));
                }
                let mut rest = otherwise.as_ref().map_or_else(Vec::new, |b| self.block(b));
                for (condition, body) in conditions.into_iter().rev() {
                    let span = condition.span;
                    rest = vec![Stmt { kind: StmtKind::If(condition, body, rest), span }];
                }
                out.append(&mut rest);
            }
            S::Match { scrutinee, arms } => {
                self.in_sequence(scrutinee);
                let scrutinee = self.expr(scrutinee, Expectation::NONE);
                self.resolve_deferred_call(&scrutinee.ty);
                let subject = self.infer.zonk_with_defaults(&scrutinee.ty);
                if !self.is_public(&subject, "a value", scrutinee.span) {
                    return;
                }
                let mut done = Vec::new();
                for arm in arms {
                    done.push(self.in_scope(|this| {
                        this.check_duplicate_names([&arm.pattern], "variable");
                        let pattern = this.arm_pattern(&arm.pattern, &subject);
                        let mut openings = this.take_pattern_openings();
                        let guard = arm.guard.as_ref().map(|g| {
                            let guard = this.condition(g);
                            terms::with_prefix(openings.clone(), guard)
                        });
                        openings.append(&mut this.block(&arm.body));
                        (pattern, guard, openings)
                    }));
                }
                let covered: Vec<(&Pat, bool)> = done.iter().map(|(p, g, _)| (p, g.is_some())).collect();
                let reports =
                    exhaustive::check(&covered, &subject, scrutinee.span, ArmsEnd::of_statement(span));
                reports.into_iter().for_each(|r| self.report(r));
                push(StmtKind::Match(scrutinee, done));
            }
            S::For { pattern, iterable, body } => {
                if let Some(stmt) = self.for_loop(pattern, iterable, body) {
                    push(stmt);
                }
            }
            S::While { condition, body } => {
                self.in_sequence(condition);
                let condition = self.condition(condition);
                let body = self.loop_body(body);
                push(StmtKind::While(condition, body));
            }
            S::Block(stmts) => {
                let mut inner = self.block(stmts);
                out.append(&mut inner);
            }
            S::Break | S::Continue => {
                let (what, kind) = match stmt.kind {
                    S::Break => ("break", StmtKind::Break),
                    _ => ("continue", StmtKind::Continue),
                };
                if self.frame().loops == 0 && self.item.place_scope.is_some() {
                    self.report(PlaceError::LeavesAt { span, word: what });
                } else if self.frame().loops == 0 {
                    self.report(StatementError::OutsideFunction { span, what, needs: "a loop" });
                }
                push(kind);
            }
            S::Return(value) => {
                if let Some(stmt) = self.return_stmt(value.as_ref(), span) {
                    push(stmt);
                }
            }
            // Types are declared before: in a block by `declare_type_group`, with the adjacent
            // declarations.
            S::Typedef(..)
            | S::Newtype(..)
            | S::Struct(..)
            | S::Variant(..)
            | S::Abstract { .. }
            | S::Kind { .. }
            | S::Typefun { .. } => {}
            S::Party { name, .. } => {
                if self.item.frames.len() > 1 || self.frame().scopes.len() > 1 {
                    self.report(PlaceError::PartyHere { span: name.span });
                }
            }
            S::Class(TypeDecl { name, .. }, _) | S::Instance { class: name, .. } => {
                // Classes and instances of the top level are declared before any statement.
                if self.item.frames.len() > 1 || self.frame().scopes.len() > 1 {
                    let what = if matches!(stmt.kind, S::Class(..)) { "a class" } else { "an instance" };
                    let instead = "declare it at the top level";
                    self.report(ClassError::NotHere { span: name.span, what, instead });
                }
            }
            // Imports at the top level are processed before.
            S::Import(_) => {
                let error =
                    ModuleError::NotAtTop { span: names::first_word_span(span, "import"), word: "import" };
                self.report(error);
            }
            S::Export(inner) => {
                let error =
                    ModuleError::NotAtTop { span: names::first_word_span(span, "export"), word: "export" };
                self.report(error);
                self.stmt(inner, out);
            }
            S::Test { bench, .. } => {
                let word = if *bench { "bench" } else { "test" };
                let error = ModuleError::NotAtTop { span: names::first_word_span(span, word), word };
                self.report(error);
            }
            S::Require(left, right) => {
                if let Some(stmt) = self.require(left, right, span) {
                    push(stmt);
                }
            }
            // A value outside of a block with a value has been reported.
            S::Value(_) | S::Error => {}
        }
    }

    /// Elaborates a `return` statement. Returns `None` after reporting an error.
    fn return_stmt(&mut self, value: Option<&Expr>, span: Span) -> Option<StmtKind> {
        if self.frame().block.is_some() {
            self.report(StatementError::BlockEffect {
                span,
                what: "it cannot leave the function".to_string(),
            });
            return None;
        }
        if self.item.place_scope.is_some() {
            self.report(PlaceError::LeavesAt { span, word: "return" });
            return None;
        }
        let kind = self.frame().kind;
        match (kind, value) {
            (FrameKind::Script, _) => {
                self.report(StatementError::OutsideFunction { span, what: "return", needs: "a function" });
                None
            }
            (FrameKind::Proc, None) if !self.frame().valued => Some(StmtKind::Return(Term::unit(span))),
            (FrameKind::Proc, Some(value)) if !self.frame().valued => {
                let value = self.expr(value, Expectation::NONE);
                let found = self.infer.zonk_with_defaults(&value.ty);
                let hint = Some("a procedure returns nothing: make it a `fun` to return a value".into());
                self.report(ConversionError::Mismatch {
                    span: value.span,
                    expected: Type::unit(),
                    found,
                    because: None,
                    hint,
                });
                None
            }
            (FrameKind::Fun | FrameKind::Proc, value) => {
                let result = self.frame().result.clone();
                // An expression body has no statements, and a nested function has a frame of its
                // own.
                let result = result.unwrap_or_else(|| self.infer.fresh(Kind::Spread));
                value.into_iter().for_each(|value| self.in_sequence(value));
                let header = self.frame().header;
                let because = Some((header, "returned from this function".into()));
                let value = match value {
                    Some(value) if self.frame().free_result => {
                        self.elaborate_first_return(value, &result, because)
                    }
                    Some(value) => self.elaborate_result(value, &result, because),
                    None => {
                        let unit = Term::unit(span);
                        self.coerce(unit, &result, None)
                    }
                };
                Some(StmtKind::Return(value))
            }
        }
    }

    /// Elaborates the initial value of a binding; returns the declared or inferred type and the
    /// value. `lasts` is true if the binding lasts for the rest of the session.
    pub(in crate::check) fn initial_value(
        &mut self,
        ty: Option<&ast::TypeExpr>,
        init: &Expr,
        lasts: bool,
    ) -> (Type, Term) {
        self.in_sequence(init);
        match ty {
            Some(written) => {
                let (ty, names) = self.lower_named(written);
                let outer = std::mem::replace(&mut self.stated, names.clone());
                let init = self.check(init, &ty, Some((written.span, "the declared type".to_string())));
                self.stated = outer;
                self.item.names_last = lasts;
                let ty = self.name_sizes(names, &ty);
                self.item.names_last = false;
                (ty, init)
            }
            None => {
                let init = self.expr(init, Expectation::NONE);
                (self.infer.zonk_with_defaults(&init.ty), init)
            }
        }
    }

    /// Returns true if a term is a procedure with a result.
    fn is_valued_procedure(&self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Closure { function, .. } => {
                self.env.signatures.get(function).is_some_and(|signature| signature.procedure)
            }
            _ => false,
        }
    }

    /// Returns true if a term is the call of a procedure.
    pub(in crate::check) fn is_effect(&mut self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Prim(crate::core::Prim::Fail, ..) => {
                // As a statement, `fail` has the unit type.
                let _ = self.infer.try_unify(&term.ty, &Type::unit());
                true
            }
            TermKind::Prim(prim, ..) => prim.is_procedure(),
            TermKind::Call(function, _) if self.is_valued_procedure(function) => true,
            TermKind::Call(function, _) => {
                matches!(self.infer.shallow(&function.ty).kind(), TypeKind::Procedure(_))
            }
            TermKind::Block(_, Some(value)) => self.is_effect(value),
            TermKind::At(_, body) => body.ty.is_unit(),
            TermKind::Error => true,
            _ => false,
        }
    }

    /// Reports a function with the same parameter type as another of its name in the same block.
    pub(in crate::check) fn report_duplicate_in_block(&mut self, name: &ast::Name, ty: &Type) {
        let domain = |this: &mut Self, ty: &Type| match this.infer.display_type(ty).kind() {
            TypeKind::Function(domain, _) | TypeKind::Procedure(domain) => Some(domain.clone()),
            _ => None,
        };
        let Some(known) = self.frame().scopes.last().and_then(|scope| scope.get(&name.text)).cloned() else {
            return;
        };
        let new = domain(self, ty);
        for other in std::iter::once(&known).chain(&known.overloads).filter(|other| other.function) {
            let old = self.frame().locals[other.local.index()].ty.clone();
            if domain(self, &old) == new {
                let (span, previous) = (name.span, other.span);
                self.report(CallError::DuplicateFunction { span, name: name.text.to_string(), previous });
                // Later calls refer to the new function.
                let _ = self.frame().scopes.last_mut().and_then(|scope| scope.remove(&name.text));
                return;
            }
        }
    }

    /// Warns about an expression statement without an effect.
    pub(in crate::check) fn warn_unused(&mut self, e: &Expr, term: &Term, effect: bool) {
        let ty = self.infer.zonk_with_defaults(&term.ty);
        // A benchmark is about the evaluation and not about the value.
        let timed = self.item.frames.last().is_some_and(|frame| frame.is_bench());
        if effect || timed || ty.is_error() {
            return;
        }
        let error = unused_value_error(e, term.span, ty);
        match &term.kind {
            // The function may change a variable; that is known only when the whole item is
            // checked.
            TermKind::Call(head, _) if matches!(head.kind, TermKind::Local(_) | TermKind::Closure { .. }) => {
                self.item.sequence.unused.push((term.span, error));
            }
            _ => self.report(error),
        }
    }
}

/// Returns the span of the word `val` at the beginning of a statement; `None` for a `var`.
pub(in crate::check) fn val_keyword_span(mutable: bool, stmt: Span) -> Option<Span> {
    (!mutable).then(|| names::first_word_span(stmt, "val"))
}

/// Returns true if the statements always leave the function by `return` or stop the program.
pub(in crate::check) fn diverges(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Expr(term) => matches!(&term.kind, TermKind::Prim(crate::core::Prim::Fail, ..)),
        StmtKind::If(_, then, otherwise) => diverges(then) && diverges(otherwise),
        StmtKind::Match(_, arms) => arms.iter().all(|(_, _, body)| diverges(body)),
        StmtKind::While(condition, body) => {
            matches!(&condition.kind, TermKind::Code(n) if *n == 1u32.into()) && !breaks(body)
        }
        _ => false,
    })
}

/// Returns true if a loop body can leave its own loop by `break`.
fn breaks(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::If(_, then, otherwise) => breaks(then) || breaks(otherwise),
        StmtKind::Match(_, arms) => arms.iter().any(|(_, _, body)| breaks(body)),
        _ => false,
    })
}

/// Returns the error about an expression statement without an effect.
pub(in crate::check) fn unused_value_error(e: &Expr, span: Span, ty: Type) -> CheckError {
    match ty.kind() {
        TypeKind::Procedure(domain) => {
            let name = match &e.kind {
                ExprKind::Name(name) => Some(name.text.to_string()),
                _ => None,
            };
            CallError::NotCalled { span, name, domain: domain.clone() }.into()
        }
        _ => StatementError::Unused { span, ty }.into(),
    }
}
