//! Statements at the top level: variables of the session, results, effects.

use crate::check::context::{Binding, Checker};
use crate::check::elaborate::stmt::{unused_value_error, val_keyword_span};
use crate::check::env::Definition;
use crate::check::expectation::Expectation;
use crate::core::{Global, GlobalId, PatKind, Script, Stmt, StmtKind};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::ast::{self, Expr};
use std::sync::Arc;

impl Checker<'_> {
    /// Checks one statement at the top level and solves its holes. A pure expression that is the
    /// `last` statement becomes the result of the script.
    pub(in crate::check) fn top_level(&mut self, stmt: &ast::Stmt, last: bool, script: &mut Script) {
        let mut result = None;
        let (mut body, mut out) = self.with_opening_scope_at(Some(stmt.span), |this| {
            let mut out = Vec::new();
            match &stmt.kind {
                ast::StmtKind::Let { mutable, pattern, ty, init } => {
                    this.global_let(*mutable, pattern, ty.as_ref(), init, stmt.span, &mut out);
                }
                ast::StmtKind::Function { .. } => {}
                ast::StmtKind::Expr(e) if this.size_to_reveal(e).is_none() => {
                    let term = this.expr(e, Expectation::STATEMENT);
                    let effect = this.is_effect(&term);
                    if !effect && last {
                        result = Some(term);
                    } else {
                        this.warn_unused(e, &term, effect);
                        out.push(Stmt { kind: StmtKind::Expr(term), span: stmt.span });
                    }
                }
                _ => this.stmt_in_scope(stmt, &mut out),
            }
            this.choose_deferred(0);
            out
        });
        out.append(&mut body);
        self.finish_stmts(&mut out, &mut result);
        script.body.append(&mut out);
        if result.is_some() {
            script.result = result;
        }
    }

    /// Checks `val` or `var` at the top level, which declares session variables.
    fn global_let(
        &mut self,
        mutable: bool,
        pattern: &ast::Pattern,
        ty: Option<&ast::TypeExpr>,
        init: &Expr,
        stmt: Span,
        out: &mut Vec<Stmt>,
    ) {
        let (ty, init) = self.initial_value(ty, init, true);
        self.check_duplicate_names([pattern], "variable");
        let span = pattern.span;
        let (pat, bound) = self.in_scope(|this| {
            this.item.names_last = true;
            this.let_word = val_keyword_span(mutable, stmt);
            let pat = this.irrefutable_binding(pattern, &ty, mutable);
            this.let_word = None;
            this.item.names_last = false;
            let scope = this.frame().scopes.last().expect("a frame has a scope").clone();
            (pat, scope)
        });
        let mut names: Vec<(Arc<str>, Binding)> = bound.into_iter().collect();
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
        out.append(&mut self.take_pattern_openings());
        for (name, binding) in names {
            let ty = self.frame().locals[binding.local.index()].ty.clone();
            let id = GlobalId::new(self.program.globals.len());
            self.program.globals.push(Global { name: name.clone(), ty });
            self.item.new_globals.push(id);
            let value = match init.take() {
                Some(init) => init,
                None => self.local_term(binding.local, binding.span),
            };
            if !mutable && let Some(function) = self.known_function_value(&value) {
                self.env.held_functions.insert(id, function);
            }
            out.push(Stmt { kind: StmtKind::SetGlobal(id, value), span });
            let (span, word, scope) = (binding.span, binding.word, self.env.own_scope());
            self.env.define_global(&name, Definition::Global { id, mutable, span, word, scope });
        }
    }
}

/// Returns the warning about the unused value of a script's last expression.
pub fn unused_result(stmts: &[ast::Stmt], script: &Script) -> Option<Diagnostic> {
    let result = script.result.as_ref()?;
    let Some(ast::StmtKind::Expr(e)) = stmts.last().map(|stmt| &stmt.kind) else { return None };
    (!result.ty.is_error()).then(|| unused_value_error(e, result.span, result.ty.clone()).to_diagnostic())
}
