//! Statements, and control flow.

use super::annotations::Referent;
use super::error::{CheckError, ClassError, ModuleError};
use super::exhaustive::{self, End};
use super::{Checker, FrameKind};
use crate::core::{ForRange, Global, Pat, PatKind, Root, Script, Stmt, StmtKind, Term, TermKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, Expr, ExprKind, TypeDecl};
use crate::types::{Kind, Type, TypeKind};
use std::sync::Arc;

/// What is said of the value of a script's last expression, which nobody sees.
pub fn unused_result(stmts: &[ast::Stmt], script: &Script) -> Option<Diagnostic> {
    let result = script.result.as_ref()?;
    let Some(ast::StmtKind::Expr(e)) = stmts.last().map(|stmt| &stmt.kind) else { return None };
    (!result.ty.is_error()).then(|| unused(e, result.span, result.ty.clone()).to_diagnostic())
}

/// The report about an expression that stands as a statement and has no effect.
fn unused(e: &Expr, span: Span, ty: Type) -> CheckError {
    match ty.kind() {
        TypeKind::Procedure(domain) => {
            let name = match &e.kind {
                ExprKind::Name(name) => Some(name.text.to_string()),
                _ => None,
            };
            CheckError::NotCalled { span, name, domain: domain.clone() }
        }
        _ => CheckError::Unused { span, ty },
    }
}

impl Checker<'_> {
    /// One statement at the top level, with its holes solved.
    pub(super) fn top_level(&mut self, stmt: &ast::Stmt, last: bool, script: &mut Script) {
        let mut result = None;
        let (mut body, mut out) = self.host_at(Some(stmt.span), |this| {
            let mut out = Vec::new();
            match &stmt.kind {
                ast::StmtKind::Let { mutable, pattern, ty, init } => {
                    this.global_let(*mutable, pattern, ty.as_ref(), init, stmt.span, &mut out);
                }
                ast::StmtKind::Function { .. } => {}
                ast::StmtKind::Expr(e) => {
                    this.at_statement = true;
                    let term = this.expr(e, None);
                    let effect = this.is_effect(&term);
                    if !effect && last {
                        result = Some(term);
                    } else {
                        this.warn_unused(e, &term, effect);
                        out.push(Stmt { kind: StmtKind::Expr(term), span: stmt.span });
                    }
                }
                _ => this.stmt_here(stmt, &mut out),
            }
            this.choose_waiting(0);
            out
        });
        out.append(&mut body);
        self.finish_stmts(&mut out, &mut result);
        script.body.append(&mut out);
        if result.is_some() {
            script.result = result;
        }
    }

    /// Whether a term is the call of a procedure.
    fn is_effect(&mut self, term: &Term) -> bool {
        match &term.kind {
            TermKind::Prim(crate::core::Prim::Fail, ..) => {
                // As a statement it gives nothing.
                let _ = self.infer.try_unify(&term.ty, &Type::unit());
                true
            }
            TermKind::Prim(prim, ..) => prim.is_procedure(),
            TermKind::Call(function, _) => {
                matches!(self.infer.shallow(&function.ty).kind(), TypeKind::Procedure(_))
            }
            TermKind::Block(_, Some(value)) => self.is_effect(value),
            TermKind::Error => true,
            _ => false,
        }
    }

    /// Reports a function that takes the same as another of its name in its block.
    fn one_of_block(&mut self, name: &ast::Name, ty: &Type) {
        let domain = |this: &mut Self, ty: &Type| match this.infer.shown(ty).kind() {
            TypeKind::Function(domain, _) | TypeKind::Procedure(domain) => Some(domain.clone()),
            _ => None,
        };
        let Some(known) = self.frame().scopes.last().and_then(|scope| scope.get(&name.text)).cloned() else {
            return;
        };
        let new = domain(self, ty);
        for other in std::iter::once(&known).chain(&known.overloads).filter(|other| other.function) {
            let old = self.frame().locals[other.local as usize].ty.clone();
            if domain(self, &old) == new {
                let (span, previous) = (name.span, other.span);
                self.report(CheckError::DuplicateFunction { span, name: name.text.to_string(), previous });
                // Calls mean the new one.
                let _ = self.frame().scopes.last_mut().and_then(|scope| scope.remove(&name.text));
                return;
            }
        }
    }

    fn warn_unused(&mut self, e: &Expr, term: &Term, effect: bool) {
        let ty = self.infer.settle(&term.ty);
        if !effect && !ty.is_error() {
            self.report(unused(e, term.span, ty));
        }
    }

    /// `var x = e;` at the top level: session variables.
    fn global_let(
        &mut self,
        mutable: bool,
        pattern: &ast::Pattern,
        ty: Option<&ast::TypeExpr>,
        init: &Expr,
        stmt: Span,
        out: &mut Vec<Stmt>,
    ) {
        let (ty, init) = self.initial(ty, init, true);
        self.names_once([pattern], "variable");
        let span = pattern.span;
        let (pat, bound) = self.in_scope(|this| {
            this.item.names_last = true;
            this.let_word = val_word(mutable, stmt);
            let pat = this.total_binding(pattern, &ty, mutable);
            this.let_word = None;
            this.item.names_last = false;
            let scope = this.frame().scopes.last().cloned().unwrap_or_default();
            (pat, scope)
        });
        let mut names: Vec<(Arc<str>, super::Binding)> = bound.into_iter().collect();
        names.sort_by_key(|(_, b)| b.local);
        let single = match pat.kind {
            PatKind::Bind(local) => Some(local),
            _ => None,
        };
        let mut init = Some(init);
        if single.is_none()
            && let Some(init) = init.take()
        {
            out.push(Stmt { kind: StmtKind::Let(pat, init), span });
        }
        out.append(&mut self.matched_openings());
        for (name, binding) in names {
            let ty = self.frame().locals[binding.local as usize].ty.clone();
            let id = self.program.globals.len() as u32;
            self.program.globals.push(Global { name: name.clone(), ty });
            self.item.new_globals.push(id);
            let value = match init.take() {
                Some(init) => init,
                None => self.local_term(binding.local, binding.span),
            };
            if !mutable && let Some(function) = self.held_function(&value) {
                self.env.held_functions.insert(id, function);
            }
            out.push(Stmt { kind: StmtKind::SetGlobal(id, value), span });
            let (span, word, scope) = (binding.span, binding.word, self.env.own_scope());
            self.env.define_global(&name, super::Definition::Global { id, mutable, span, word, scope });
        }
    }

    /// The declared or inferred type of a binding, which may be for the rest of the session, and its
    /// value.
    fn initial(&mut self, ty: Option<&ast::TypeExpr>, init: &Expr, lasts: bool) -> (Type, Term) {
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
                let init = self.expr(init, None);
                (self.infer.settle(&init.ty), init)
            }
        }
    }

    /// Statements in a scope of their own.
    pub(super) fn block(&mut self, stmts: &[ast::Stmt]) -> Vec<Stmt> {
        self.in_scope(|this| {
            let mut out = Vec::new();
            for (at, stmt) in stmts.iter().enumerate() {
                this.declare_run(stmts, at);
                this.stmt(stmt, &mut out);
            }
            out
        })
    }

    fn in_loop(&mut self, body: &[ast::Stmt]) -> Vec<Stmt> {
        self.frame().loops += 1;
        let body = self.block(body);
        self.frame().loops -= 1;
        body
    }

    /// A statement, after what is opened in it.
    pub(super) fn stmt(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        let (mut body, mut openings) = self.host_at(Some(stmt.span), |this| {
            let (mut body, waiting) = (Vec::new(), this.item.waiting.len());
            this.stmt_here(stmt, &mut body);
            this.choose_waiting(waiting);
            body
        });
        out.append(&mut openings);
        out.append(&mut body);
    }

    fn stmt_here(&mut self, stmt: &ast::Stmt, out: &mut Vec<Stmt>) {
        let span = stmt.span;
        let mut push = |kind| out.push(Stmt { kind, span });
        use ast::StmtKind as S;
        match &stmt.kind {
            S::Let { mutable, pattern, ty, init } => {
                let (ty, init) = self.initial(ty.as_ref(), init, false);
                self.names_once([pattern], "variable");
                self.let_word = val_word(*mutable, span);
                let pat = self.total_binding(pattern, &ty, *mutable);
                self.let_word = None;
                if let (PatKind::Bind(local), false) = (&pat.kind, *mutable)
                    && let Some(function) = self.held_function(&init)
                {
                    self.frame().functions.insert(*local, function);
                }
                push(StmtKind::Let(pat, init));
                out.append(&mut self.matched_openings());
            }
            S::Function { name, function, .. } => {
                if !function.generics.params.is_empty() {
                    self.generic_local(name, function, span);
                    return;
                }
                if let Some((first, _)) = function.generics.constraints.first() {
                    let whose = format!("the local function `{}`", name.text);
                    let instead = "without type parameters it needs nothing: leave `with` out";
                    self.report(ClassError::ConstraintHere { span: first.span, whose, instead }.into());
                }
                let ty = self.infer.fresh(Kind::Type);
                let parameters = self.parameters_in_block(&function.params, self.item.type_params.len());
                self.item.local_parameters.insert(name.span, parameters);
                let term = self.lambda(function, None, Some((name, &ty)), span);
                let contained = function.is_proc && function.params.len() == 1 && !self.item.closed_outside;
                if !self.infer.try_unify(&ty, &term.ty) {
                    let (expected, found) = (self.infer.settle(&ty), self.infer.settle(&term.ty));
                    let error =
                        CheckError::Mismatch { span: name.span, expected, found, because: None, hint: None };
                    self.report(error);
                }
                self.one_of_block(name, &term.ty);
                let local = self.new_local(&name.text, term.ty.clone());
                self.bind_function(&name.text, local, name.span);
                if contained {
                    self.frame().contained.insert(local);
                }
                let pat = Pat { kind: PatKind::Bind(local), ty: term.ty.clone(), span: name.span };
                push(StmtKind::Let(pat, term));
            }
            S::Expr(e) => {
                self.at_statement = true;
                let term = self.expr(e, None);
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
                let scrutinee = self.expr(scrutinee, None);
                self.decide(&scrutinee.ty);
                let subject = self.infer.settle(&scrutinee.ty);
                let mut done = Vec::new();
                for arm in arms {
                    done.push(self.in_scope(|this| {
                        this.names_once([&arm.pattern], "variable");
                        let pattern = this.arm_pattern(&arm.pattern, &subject);
                        let mut openings = this.matched_openings();
                        let guard = arm.guard.as_ref().map(|g| {
                            let guard = this.condition(g);
                            super::expr::with_prefix(openings.clone(), guard)
                        });
                        openings.append(&mut this.block(&arm.body));
                        (pattern, guard, openings)
                    }));
                }
                let covered: Vec<(&Pat, bool)> = done.iter().map(|(p, g, _)| (p, g.is_some())).collect();
                let reports = exhaustive::check(&covered, &subject, scrutinee.span, End::of_statement(span));
                reports.into_iter().for_each(|r| self.report(r));
                push(StmtKind::Match(scrutinee, done));
            }
            S::For { pattern, iterable, body } => {
                if let Some(stmt) = self.for_loop(pattern, iterable, body) {
                    push(stmt);
                }
            }
            S::While { condition, body } => {
                let condition = self.condition(condition);
                let body = self.in_loop(body);
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
                if self.frame().loops == 0 {
                    self.report(CheckError::OutsideFunction { span, what, needs: "a loop" });
                }
                push(kind);
            }
            S::Return(value) => {
                if let Some(stmt) = self.return_stmt(value.as_ref(), span) {
                    push(stmt);
                }
            }
            // They have been declared before: those of a block with the declarations beside them.
            S::Typedef(..)
            | S::Newtype(..)
            | S::Struct(..)
            | S::Variant(..)
            | S::Abstract { .. }
            | S::Kind { .. }
            | S::Typefun { .. } => {}
            S::Class(TypeDecl { name, .. }, _) | S::Instance { class: name, .. } => {
                // Those of the top level have been declared before any statement.
                if self.item.frames.len() > 1 || self.frame().scopes.len() > 1 {
                    let what = if matches!(stmt.kind, S::Class(..)) { "a class" } else { "an instance" };
                    let instead = "declare it at the top level";
                    self.report(ClassError::NotHere { span: name.span, what, instead }.into());
                }
            }
            // Those of the top level have been taken apart before.
            S::Import(_) => {
                let error =
                    ModuleError::NotAtTop { span: super::module::word(span, "import"), word: "import" };
                self.report(error.into());
            }
            S::Export(inner) => {
                let error =
                    ModuleError::NotAtTop { span: super::module::word(span, "export"), word: "export" };
                self.report(error.into());
                self.stmt(inner, out);
            }
            S::Test { bench, .. } => {
                let word = if *bench { "bench" } else { "test" };
                let error = ModuleError::NotAtTop { span: super::module::word(span, word), word };
                self.report(error.into());
            }
            S::Require(left, right) => {
                if let Some(stmt) = self.require(left, right, span) {
                    push(stmt);
                }
            }
            // Outside of a block with a value it has been reported.
            S::Value(_) | S::Error => {}
        }
    }

    fn return_stmt(&mut self, value: Option<&Expr>, span: Span) -> Option<StmtKind> {
        if self.frame().block.is_some() {
            self.report(CheckError::BlockEffect { span, what: "it cannot leave the function".to_string() });
            return None;
        }
        let kind = self.frame().kind;
        match (kind, value) {
            (FrameKind::Script, _) => {
                self.report(CheckError::OutsideFunction { span, what: "return", needs: "a function" });
                None
            }
            (FrameKind::Proc, None) => Some(StmtKind::Return(Term::unit(span))),
            (FrameKind::Proc, Some(value)) => {
                let value = self.expr(value, None);
                let found = self.infer.settle(&value.ty);
                let hint = Some("a procedure returns nothing: make it a `fun` to return a value".into());
                self.report(CheckError::Mismatch {
                    span: value.span,
                    expected: Type::unit(),
                    found,
                    because: None,
                    hint,
                });
                None
            }
            (FrameKind::Fun, value) => {
                let result = self.frame().result.clone();
                // An expression body has no statements; a nested one returns for itself.
                let result = result.unwrap_or_else(|| self.infer.fresh(Kind::Type));
                let header = self.frame().header;
                let because = Some((header, "returned from this function".into()));
                let value = match value {
                    Some(value) if self.frame().free_result => self.first_return(value, &result, because),
                    Some(value) => self.returned(value, &result, because),
                    None => {
                        let unit = Term::unit(span);
                        self.coerce(unit, &result, None)
                    }
                };
                Some(StmtKind::Return(value))
            }
        }
    }

    /// A variable that is about to be stored into.
    pub(super) fn storable(&mut self, name: &ast::Name, form: Stored) -> Option<(Root, Type)> {
        self.note_scope(name.span);
        if let Some((binding, own)) = self.lookup_local(&name.text) {
            self.note(name.span, |_| Some(Referent::At(binding.span)));
            if self.frame().block.is_some_and(|first| !own || binding.local < first) {
                let what = format!("it cannot store into `{}`, which is not its own", name.text);
                self.report(CheckError::BlockEffect { span: name.span, what });
                return None;
            }
            // A variable of a pure function is changed from outside it if one stands between.
            let pure_between = !own && self.pure_between(&name.text);
            self.frame().outside |= pure_between;
            if !own && self.frame().pure() {
                let header = self.frame().header;
                self.report(CheckError::StoreOutside {
                    span: name.span,
                    name: name.text.to_string(),
                    header,
                });
                return None;
            }
            if !binding.mutable {
                let (declared, word) = (Some(binding.span), binding.word);
                let name_text = name.text.to_string();
                self.report(CheckError::NotAVar { span: name.span, name: name_text, declared, word });
                return None;
            }
            let ty = self.frame().locals[binding.local as usize].ty.clone();
            return Some((Root::Local(binding.local), ty));
        }
        if let Some((id, mutable, declared, word)) = self.global(&name.text) {
            self.note_global(name.span, &name.text);
            if self.frame().block.is_some() {
                let what = format!("it cannot store into `{}`, which is not its own", name.text);
                self.report(CheckError::BlockEffect { span: name.span, what });
                return None;
            }
            self.frame().outside = true;
            if self.frame().pure() {
                let header = self.frame().header;
                self.report(CheckError::StoreOutside {
                    span: name.span,
                    name: name.text.to_string(),
                    header,
                });
                return None;
            }
            if !mutable {
                let declared = Some(declared);
                let name_text = name.text.to_string();
                self.report(CheckError::NotAVar { span: name.span, name: name_text, declared, word });
                return None;
            }
            return Some((Root::Global(id), self.program.globals[id as usize].ty.clone()));
        }
        if self.env.callables(&name.text).is_some() {
            let (name_text, declared) = (name.text.to_string(), None);
            self.report(CheckError::NotAVar { span: name.span, name: name_text, declared, word: None });
        } else if name.qualified().is_some() || form == Stored::Part {
            self.unknown(name);
        } else {
            let similar = self.similar_name(&name.text);
            let (span, compound) = (name.span, form == Stored::Changed);
            let name_text = name.text.to_string();
            self.report(CheckError::AssignedUnknown { span, name: name_text, similar, compound });
            // Later mentions are no mistakes of their own.
            if let FrameKind::Script = self.frame().kind {
                let id = self.program.globals.len() as u32;
                self.program.globals.push(Global { name: name.text.clone(), ty: Type::error() });
                self.item.new_globals.push(id);
                let scope = self.env.own_scope();
                let definition = super::Definition::Global { id, mutable: true, span, word: None, scope };
                self.env.define_global(&name.text, definition);
            } else {
                let local = self.new_local(&name.text, Type::error());
                self.bind(&name.text, local, true, span);
            }
        }
        None
    }

    fn assign(
        &mut self,
        name: &ast::Name,
        op: Option<BinaryOp>,
        value: &Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let target = self.storable(name, if op.is_some() { Stored::Changed } else { Stored::Whole });
        let Some((root, ty)) = target else {
            self.expr(value, None);
            return None;
        };
        let value = match op {
            None => {
                let because = Some((name.span, format!("the type of `{}`", name.text)));
                self.check(value, &ty, because)
            }
            Some(op) => {
                let variable = Expr { kind: ExprKind::Name(name.clone()), span: name.span };
                let sum = self.binary(op, &variable, value, Some(&ty), span);
                self.coerce(sum, &ty, None)
            }
        };
        Some(match root {
            Root::Local(id) => StmtKind::SetLocal(id, value),
            Root::Global(id) => StmtKind::SetGlobal(id, value),
        })
    }

    /// `a, b = b, a;`: the values are there before the first variable changes.
    fn assign_all(&mut self, places: &ast::Pattern, value: &Expr, span: Span, out: &mut Vec<Stmt>) {
        self.names_once([places], "variable");
        let mut targets = Vec::new();
        let Some(pat) = self.targets(places, &mut targets) else {
            self.expr(value, None);
            return;
        };
        let because = Some((places.span, "the types of these variables".to_string()));
        let value = self.check(value, &pat.ty, because);
        out.push(Stmt { kind: StmtKind::Let(pat, value), span });
        for (root, local, at) in targets {
            let value = self.local_term(local, at);
            let kind = match root {
                Root::Local(id) => StmtKind::SetLocal(id, value),
                Root::Global(id) => StmtKind::SetGlobal(id, value),
            };
            out.push(Stmt { kind, span });
        }
    }

    /// A pattern that holds what variables become, and the variables with what holds their values.
    fn targets(&mut self, places: &ast::Pattern, out: &mut Vec<(Root, u32, Span)>) -> Option<Pat> {
        let span = places.span;
        match &places.kind {
            ast::PatternKind::Name(name) => {
                let (root, ty) = self.storable(name, Stored::Whole)?;
                let local = self.new_local(&name.text, ty.clone());
                out.push((root, local, span));
                Some(Pat { kind: PatKind::Bind(local), ty, span })
            }
            ast::PatternKind::Tuple(parts) => {
                // All are looked at, so that each wrong one is reported.
                let parts: Vec<Option<Pat>> = parts.iter().map(|part| self.targets(part, out)).collect();
                let parts: Vec<Pat> = parts.into_iter().collect::<Option<_>>()?;
                let ty = Type::product(parts.iter().map(|part| self.infer.zonk(&part.ty)).collect());
                Some(Pat { kind: PatKind::Tuple(parts), ty, span })
            }
            _ => None,
        }
    }

    /// `for j in ..<i`: a loop over the codes below that of `i`.
    fn for_up_to(
        &mut self,
        pattern: &ast::Pattern,
        high: &Expr,
        inclusive: bool,
        span: Span,
        body: &[ast::Stmt],
    ) -> Option<StmtKind> {
        let high = self.expr(high, None);
        self.decide(&high.ty);
        let ty = self.infer.settle(&high.ty);
        if ty.is_error() {
            return None;
        }
        if !ty.is_compact() || ty.is_bool() {
            self.report(CheckError::UpToNoIndex { span, ty, inclusive });
            return None;
        }
        let at = high.span;
        let high = self.convert_term(Term { ty: ty.clone(), ..high }, &Type::int(), at);
        let low = Term::new(TermKind::Int(0.into()), Type::int(), span);
        let range = ForRange::Ints { low, high, inclusive };
        self.in_scope(|this| {
            let local = this.new_local("code", Type::int());
            let code = this.local_term(local, pattern.span);
            let kind = TermKind::Prim(crate::core::Prim::ModInt, vec![ty.clone()], vec![code]);
            let value = Term::new(kind, ty.clone(), pattern.span);
            this.names_once([pattern], "variable");
            let pat = this.total_pattern(pattern, &ty);
            let mut stmts = vec![Stmt { kind: StmtKind::Let(pat, value), span: pattern.span }];
            stmts.append(&mut this.in_loop(body));
            Some(StmtKind::For(local, range, stmts))
        })
    }

    fn for_loop(&mut self, pattern: &ast::Pattern, iterable: &Expr, body: &[ast::Stmt]) -> Option<StmtKind> {
        let (range, element) = match &iterable.kind {
            ExprKind::AllOf(written) => {
                let index = self.lower_index(written, "be walked");
                (ForRange::All(index.clone()), index)
            }
            ExprKind::IntRange { low, high, inclusive } => {
                let low = self.check(low, &Type::int(), None);
                let high = self.check(high, &Type::int(), None);
                (ForRange::Ints { low, high, inclusive: *inclusive }, Type::int())
            }
            ExprKind::UpTo { high, inclusive } => {
                return self.for_up_to(pattern, high, *inclusive, iterable.span, body);
            }
            _ => {
                let array = self.expr(iterable, None);
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
                    return Some(StmtKind::For(local, range, this.in_loop(body)));
                }
                _ => this.new_local("_", element.clone()),
            };
            let value = this.local_term(local, pattern.span);
            this.names_once([pattern], "variable");
            let pat = this.total_pattern(pattern, &element);
            let mut stmts = vec![Stmt { kind: StmtKind::Let(pat, value), span: pattern.span }];
            stmts.append(&mut this.matched_openings());
            stmts.append(&mut this.in_loop(body));
            Some(StmtKind::For(local, range, stmts))
        })
    }
}

/// What of a variable gets another value.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Stored {
    /// `x = v;`
    Whole,
    /// `x += v;`
    Changed,
    /// `&x.1 <- v;`
    Part,
}

/// The word that begins the statement of a `val`.
fn val_word(mutable: bool, stmt: Span) -> Option<Span> {
    (!mutable).then(|| super::module::word(stmt, "val"))
}

/// Whether statements always leave the function by `return` (or stop the program).
pub(super) fn always_leaves(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Return(_) => true,
        StmtKind::Expr(term) => matches!(&term.kind, TermKind::Prim(crate::core::Prim::Fail, ..)),
        StmtKind::If(_, then, otherwise) => always_leaves(then) && always_leaves(otherwise),
        StmtKind::Match(_, arms) => arms.iter().all(|(_, _, body)| always_leaves(body)),
        StmtKind::While(condition, body) => {
            matches!(&condition.kind, TermKind::Code(n) if *n == 1u32.into()) && !breaks(body)
        }
        _ => false,
    })
}

/// Whether a loop body can leave its own loop.
fn breaks(stmts: &[Stmt]) -> bool {
    stmts.iter().any(|stmt| match &stmt.kind {
        StmtKind::Break => true,
        StmtKind::If(_, then, otherwise) => breaks(then) || breaks(otherwise),
        StmtKind::Match(_, arms) => arms.iter().any(|(_, _, body)| breaks(body)),
        _ => false,
    })
}
