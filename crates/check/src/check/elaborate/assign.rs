//! Assignments to variables and to patterns of variables.
//!
//! Takes the assignment statements of the tree; returns core statements that store, or reports why
//! a variable cannot be stored into.

use crate::check::annotations::Referent;
use crate::check::context::{Checker, FrameKind};
use crate::check::env::Definition;
use crate::check::error::{PlaceError, StatementError};
use crate::check::expectation::Expectation;
use crate::core::{Global, GlobalId, LocalId, Pat, PatKind, Root, Stmt, StmtKind};
use crate::source::Span;
use crate::syntax::ast::{self, BinaryOp, Expr, ExprKind};
use crate::types::Type;

impl Checker<'_> {
    /// Returns the variable that a statement stores into, with its type. Returns `None` after
    /// reporting an error if the name is not a variable that may change here.
    pub(in crate::check) fn assignable_root(
        &mut self,
        name: &ast::Name,
        form: Stored,
    ) -> Option<(Root, Type)> {
        let (root, ty, declared) = self.storable_anywhere(name, form)?;
        let Some(here) = self.item.place_scope.clone() else { return Some((root, ty)) };
        let own = declared.source == here.whole.source
            && declared.start >= here.whole.start
            && declared.end <= here.whole.end;
        match ty.as_placed() {
            Some((inner, places)) if here.places.is_within_places(places) => Some((root, inner.clone())),
            None if own => Some((root, ty)),
            _ => {
                let (span, name) = (name.span, name.text.to_string());
                self.report(PlaceError::StoreElsewhere { span, name, ty, here: here.places });
                None
            }
        }
    }

    /// Returns the variable that a statement stores into, with its type and the place of its
    /// declaration, whatever places the work is at.
    fn storable_anywhere(&mut self, name: &ast::Name, form: Stored) -> Option<(Root, Type, Span)> {
        self.note_scope(name.span);
        if let Some((binding, own)) = self.lookup_local(&name.text) {
            self.note(name.span, |_| Some(Referent::At(binding.span)));
            if self.frame().block.is_some_and(|first| !own || binding.local < first) {
                let what = format!("it cannot store into `{}`, which is not its own", name.text);
                self.report(StatementError::BlockEffect { span: name.span, what });
                return None;
            }
            // A store into a variable of a pure function is an effect on the outside if a pure
            // function stands between the store and the variable.
            let pure_between = !own && self.crosses_unordered_function(&name.text);
            self.frame().outside |= pure_between;
            if !own && self.frame().is_unordered() {
                let header = self.frame().header;
                self.report(StatementError::StoreOutside {
                    span: name.span,
                    name: name.text.to_string(),
                    header,
                    local: true,
                });
                return None;
            }
            if !binding.mutable {
                let (declared, word) = (Some(binding.span), binding.word);
                let name_text = name.text.to_string();
                self.report(StatementError::NotAVar { span: name.span, name: name_text, declared, word });
                return None;
            }
            let ty = self.frame().locals[binding.local.index()].ty.clone();
            return Some((Root::Local(binding.local), ty, binding.span));
        }
        if let Some((id, mutable, declared, word)) = self.global(&name.text) {
            self.note_global(name.span, &name.text);
            if self.frame().block.is_some() {
                let what = format!("it cannot store into `{}`, which is not its own", name.text);
                self.report(StatementError::BlockEffect { span: name.span, what });
                return None;
            }
            self.frame().outside = true;
            if self.frame().is_pure() {
                let header = self.frame().header;
                self.report(StatementError::StoreOutside {
                    span: name.span,
                    name: name.text.to_string(),
                    header,
                    local: false,
                });
                return None;
            }
            if !mutable {
                let declared = Some(declared);
                let name_text = name.text.to_string();
                self.report(StatementError::NotAVar { span: name.span, name: name_text, declared, word });
                return None;
            }
            return Some((Root::Global(id), self.program.globals[id.index()].ty.clone(), declared));
        }
        if self.env.callables(&name.text).is_some() {
            let (name_text, declared) = (name.text.to_string(), None);
            self.report(StatementError::NotAVar { span: name.span, name: name_text, declared, word: None });
        } else if name.qualified().is_some() || form == Stored::Part {
            self.report_unknown_name(name);
        } else {
            let similar = self.similar_name(&name.text);
            let (span, compound) = (name.span, form == Stored::Changed);
            let name_text = name.text.to_string();
            self.report(StatementError::AssignedUnknown { span, name: name_text, similar, compound });
            // The name is defined with the error type, so that later uses report nothing more.
            if let FrameKind::Script = self.frame().kind {
                let id = GlobalId::new(self.program.globals.len());
                self.program.globals.push(Global { name: name.text.clone(), ty: Type::error() });
                self.item.new_globals.push(id);
                let scope = self.env.own_scope();
                let definition = Definition::Global { id, mutable: true, span, word: None, scope };
                self.env.define_global(&name.text, definition);
            } else {
                let local = self.new_local(&name.text, Type::error());
                self.bind(&name.text, local, true, span);
            }
        }
        None
    }

    /// Elaborates `x = v;` or `x op= v;`. Returns `None` after reporting an error.
    pub(in crate::check) fn assign(
        &mut self,
        name: &ast::Name,
        op: Option<BinaryOp>,
        value: &Expr,
        span: Span,
    ) -> Option<StmtKind> {
        let target = self.assignable_root(name, if op.is_some() { Stored::Changed } else { Stored::Whole });
        let Some((root, ty)) = target else {
            self.expr(value, Expectation::NONE);
            return None;
        };
        let value = match op {
            None => {
                self.in_sequence(value);
                let because = Some((name.span, format!("the type of `{}`", name.text)));
                self.check(value, &ty, because)
            }
            Some(op) => {
                let variable = Expr { kind: ExprKind::Name(name.clone()), span: name.span };
                let sum = self.binary(op, &variable, value, Expectation::of(&ty), span);
                self.coerce(sum, &ty, None)
            }
        };
        Some(root.assigned(value))
    }

    /// Elaborates `a, b = b, a;`: all values are computed before the first variable changes.
    pub(in crate::check) fn assign_all(
        &mut self,
        places: &ast::Pattern,
        value: &Expr,
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        self.check_duplicate_names([places], "variable");
        let mut targets = Vec::new();
        let Some(pat) = self.targets(places, &mut targets) else {
            self.expr(value, Expectation::NONE);
            return;
        };
        self.in_sequence(value);
        let because = Some((places.span, "the types of these variables".to_string()));
        let value = self.check(value, &pat.ty, because);
        out.push(Stmt { kind: StmtKind::Let(pat, value), span });
        for (root, local, at) in targets {
            let value = self.local_term(local, at);
            out.push(Stmt { kind: root.assigned(value), span });
        }
    }

    /// Returns a pattern that binds the new values to fresh locals. Appends to `out` each variable
    /// with its local.
    fn targets(&mut self, places: &ast::Pattern, out: &mut Vec<(Root, LocalId, Span)>) -> Option<Pat> {
        let span = places.span;
        match &places.kind {
            ast::PatternKind::Name(name) => {
                let (root, ty) = self.assignable_root(name, Stored::Whole)?;
                let local = self.new_local(&name.text, ty.clone());
                out.push((root, local, span));
                Some(Pat { kind: PatKind::Bind(local), ty, span })
            }
            ast::PatternKind::Tuple(parts) => {
                // Every part is elaborated before the first failure is returned, so that each wrong
                // one is reported.
                let parts: Vec<Option<Pat>> = parts.iter().map(|part| self.targets(part, out)).collect();
                let parts: Vec<Pat> = parts.into_iter().collect::<Option<_>>()?;
                let ty = Type::product(parts.iter().map(|part| self.infer.zonk(&part.ty)).collect());
                Some(Pat { kind: PatKind::Tuple(parts), ty, span })
            }
            _ => None,
        }
    }
}

/// The part of a variable that a statement replaces.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::check) enum Stored {
    /// The whole value: `x = v;`.
    Whole,
    /// The whole value, computed from the old one: `x += v;`.
    Changed,
    /// A part of the value: `&x.1 <- v;`.
    Part,
}
