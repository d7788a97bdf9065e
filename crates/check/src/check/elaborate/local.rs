//! Declarations in blocks: types, kinds, and functions with type parameters.
//!
//! **Types** and kinds are in scope from their declaration to the end of the block; consecutive
//! declarations are also in scope in one another. While in scope they are in the tables of the
//! session. The meanings they shadow are set aside ([`Hidden`]), and restored at the end of the
//! block and while another item is checked on demand.
//!
//! **Functions with type parameters** are functions of the program like all inner ones. Their type
//! parameters are those of the surrounding function followed by their own (lambda lifting; Johnsson
//! 1985). No variable holds such a function, because a value has one type: each use makes the value
//! at its own types from the variables that the function captures ([`LiftedFunction`]). In its own
//! body the function is monomorphic, as its parameters are.

use crate::check::context::{Binding, Checker, Frame, Hidden};
use crate::check::elaborate::function::is_typed;
use crate::check::env;
use crate::check::env::{Scheme, Signature};
use crate::check::error::{CallError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::state::LiftedFunction;
use crate::core::{FunctionId, LocalId, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Stmt, StmtKind};
use crate::types::{Kind, Type, TypeKind};
use std::sync::Arc;

impl Checker<'_> {
    /// Declares the consecutive types from statement `at` on, if it is the first of them.
    pub(in crate::check) fn declare_type_group(&mut self, stmts: &[Stmt], at: usize) {
        let declares = |at: usize| stmts.get(at).is_some_and(|stmt| !names(stmt).is_empty());
        if !declares(at) || at > 0 && declares(at - 1) {
            return;
        }
        let run: Vec<&Stmt> = (at..).take_while(|at| declares(*at)).map(|at| &stmts[at]).collect();
        for stmt in &run {
            // The members of a kind are types, so a value of the same name is not shadowed.
            let values = !matches!(stmt.kind, StmtKind::Kind { .. });
            names(stmt).into_iter().for_each(|name| self.hide_name(&name.text, values));
        }
        self.collect_types(&run);
        self.collect_type_constraints();
        self.check_applications();
    }

    /// Sets aside the meanings of a name before a type, kind or constructor is declared with it.
    fn hide_name(&mut self, name: &Arc<str>, values: bool) {
        let mut bindings = Vec::new();
        for (depth, frame) in self.item.frames.iter_mut().enumerate().filter(|_| values) {
            for (block, scope) in frame.scopes.iter_mut().enumerate() {
                bindings.extend(scope.remove(name).map(|binding| (depth, block, binding)));
            }
        }
        let hidden = Hidden {
            name: name.clone(),
            ty: self.env.types.get(name).cloned(),
            parameter: self.item.type_scope.remove(name),
            value: self.env.values.get(name).cloned(),
            kind: self.env.kinds.get(name).cloned(),
            bindings,
        };
        self.item.hidden.push(hidden);
    }

    /// Elaborates a function with type parameters that is declared inside another.
    pub(in crate::check) fn generic_local(&mut self, name: &ast::Name, function: &ast::Function, span: Span) {
        if let Some(param) = function.params.iter().flatten().find(|param| !is_typed(param)) {
            let (span, text) = (param.pattern.span, name.text.to_string());
            self.report(TypeError::GenericLocal { span, name: text });
            let local = self.new_local(&name.text, Type::error());
            self.bind(&name.text, local, false, name.span);
            return;
        }
        let first_hole = self.infer.next_hole();
        let scope = self.item.type_scope.clone();
        let outer = self.item.type_params.len();
        let params = self.declare_params(&function.generics.params);
        for var in &params {
            // A hole that is older than the function must not be solved by the function's type
            // parameters.
            self.infer.open_rigid_variable(var, first_hole);
        }
        self.item.type_params.extend(params.iter().cloned());
        let constraints = self.constraints(&function.generics.constraints);
        self.item.in_doubt |= constraints.len() < function.generics.constraints.len();
        // No other term has these types, so the constraints may stay given after the function.
        let givens = self.with_supers(constraints.clone());
        self.item.givens.extend(givens);
        let parameters = self.parameters_in_block(&function.params, outer);
        let ty = self.infer.fresh(Kind::Spread);
        let term = self.lambda(function, Expectation::NONE, Some((name, &ty)), span);
        let contained = function.is_proc && function.params.len() == 1 && !self.item.closed_outside;
        self.item.type_params.truncate(outer);
        self.item.type_scope = scope;
        let ty = self.infer.zonk_with_defaults(&term.ty);
        let (domain, result) = match ty.kind() {
            TypeKind::Function(domain, result) => (domain.clone(), Some(result.clone())),
            TypeKind::Procedure(domain) => (domain.clone(), None),
            _ => return,
        };
        let Some(id) = self.lift(&term, outer, contained) else { return };
        if result.as_ref().is_some_and(Type::has_meta) {
            let what = format!("what the local function `{}` gives", name.text);
            let instead = "write the type of its result".to_string();
            self.report(TypeError::CannotInfer { span: name.span, what, instead });
        }
        for (var, written) in params.iter().zip(&function.generics.params) {
            let asked = constraints.iter().any(|given| given.args.iter().any(|ty| ty.mentions(var)));
            if !asked && !self.item.mentioned.contains(&var.id) {
                let (span, text) = (written.name.span, var.name.to_string());
                let whose = format!("`{}`", name.text);
                self.report(TypeError::UnusedTypeParameter { span, name: text, whose });
            }
        }
        let scheme = Scheme { params, domain, result, constraints };
        let known = self.frame().scopes.last().and_then(|scope| scope.get(&name.text)).cloned();
        for other in known.iter().flat_map(|one| std::iter::once(one).chain(&one.overloads)) {
            let same = other.generic.and_then(|id| self.env.signatures.get(&id));
            if same.is_some_and(|same| env::same_domain(&same.scheme, &scheme)) {
                let (span, previous) = (name.span, other.span);
                self.report(CallError::DuplicateFunction { span, name: name.text.to_string(), previous });
                return;
            }
        }
        let signature = Signature {
            joint: false,
            procedure: false,
            name: name.text.clone(),
            scheme,
            unknown_result: false,
            parameters,
            span: name.span,
            doc: None,
        };
        self.env.signatures.insert(id, signature);
        // No value is stored under the name.
        let local = self.new_local(&name.text, Type::unit());
        self.bind_any_function(&name.text, local, name.span, Some(id));
    }

    /// Registers the function of a closure of the present frame as lifted: each use makes the
    /// closure anew. `outer` is the number of type parameters of the surrounding functions.
    pub(in crate::check) fn lift(
        &mut self,
        closure: &Term,
        outer: usize,
        contained: bool,
    ) -> Option<FunctionId> {
        let TermKind::Closure { function, captures, .. } = &closure.kind else { return None };
        let depth = self.item.frames.len() - 1;
        let lifted = LiftedFunction { depth, captures: captures.clone(), outer, contained };
        self.item.lifted.insert(*function, lifted);
        Some(*function)
    }

    /// Returns a declared function as a value: one of the top level, or one of a block with the
    /// variables that it captures.
    pub(in crate::check) fn function_value(&mut self, function: FunctionId, args: &[Type]) -> TermKind {
        let Some(LiftedFunction { depth, captures, outer, .. }) = self.item.lifted.get(&function) else {
            return TermKind::Closure { function, type_args: args.to_vec(), captures: Vec::new() };
        };
        let (depth, captures, outer) = (*depth, captures.clone(), *outer);
        let around = self.item.type_params[..outer].iter().cloned().map(Type::var);
        let type_args = around.chain(args.iter().cloned()).collect();
        let captures = captures.into_iter().map(|local| self.captured_local(depth, local)).collect();
        TermKind::Closure { function, type_args, captures }
    }

    /// Captures a variable of a surrounding frame; returns the corresponding local of the innermost
    /// frame.
    fn captured_local(&mut self, depth: usize, local: LocalId) -> LocalId {
        let (span, word, overloads) = (Span::default(), None, Vec::new());
        // The first capture has already recorded if the variable is shared with functions.
        let binding =
            Binding { local, mutable: false, span, word, function: false, overloads, generic: None };
        self.capture(depth, binding).0.local
    }

    /// Returns true if a procedure with type parameters may be called at this place although the
    /// place is pure.
    pub(in crate::check) fn is_contained_call(&self, id: FunctionId) -> bool {
        let Some(lifted) = self.item.lifted.get(&id) else { return false };
        lifted.contained && self.item.frames[lifted.depth + 1..].iter().all(|frame| !frame.is_unordered())
    }

    /// Returns true if a function whose calls have no order is between the frame that has a
    /// variable (exclusive) and the innermost frame (inclusive).
    pub(in crate::check) fn crosses_unordered_function(&self, name: &str) -> bool {
        let has = |frame: &Frame| frame.scopes.iter().any(|scope| scope.contains_key(name));
        let Some(depth) = self.item.frames.iter().rposition(has) else { return false };
        self.item.frames[depth + 1..].iter().any(Frame::is_unordered)
    }
}

/// Returns the names that a type declaration in a block defines: the type and its constructors, or
/// the kind and its members.
fn names(stmt: &Stmt) -> Vec<&ast::Name> {
    match &stmt.kind {
        StmtKind::Typedef(decl, _)
        | StmtKind::Newtype(decl, _)
        | StmtKind::Struct(decl, _)
        | StmtKind::Abstract { decl, .. } => vec![&decl.name],
        StmtKind::Kind { name, members, .. } => std::iter::once(name).chain(members).collect(),
        StmtKind::Typefun { name, .. } => vec![name],
        StmtKind::Variant(decl, cases) => {
            std::iter::once(&decl.name).chain(cases.iter().map(|(name, _)| name)).collect()
        }
        _ => Vec::new(),
    }
}
