//! The checker: tree → core, by bidirectional elaboration.
//!
//! Takes the statements of one input and the session's definitions ([`Env`], [`Program`]); gives a
//! [`Script`] with its diagnostics, and extends both. Type information flows down where a type is
//! stated (annotations, arguments) and up elsewhere (Dunfield & Krishnaswami 2021). Holes are
//! solved by unification modulo the definitional equalities ([`infer`]); conversions by `:>>` are
//! proved by [`crate::iso`]. The result has no holes: an input with an error gives no script.
//!
//! The order of one input: types by name, on demand; headers of functions; statements in order (a
//! function whose result type is not written is checked when first needed); remaining bodies.
//!
//! Never evaluates, never prints.

pub mod annotations;
mod context;
mod dependency_order;
mod elaborate;
pub mod env;
pub mod error;
mod expectation;
pub mod foreign_names;
mod hints;
mod items;
mod names;
mod query;
mod report;
mod resolve;
mod solve;
mod state;
mod terms;
mod types;

pub use crate::check::env::Env;
pub use error::CheckError;
pub use items::module;
pub use items::top_level::unused_result;
pub use query::type_query;
pub use solve::infer;

use crate::check::annotations::Annotations;
use crate::check::context::Checker;
use crate::check::env::Constraint;
use crate::check::items::decl::new_checker;
use crate::core::operand_order::order_in_statements;
use crate::core::{FunctionId, Program, Script};
use crate::diagnostic::Diagnostic;
use crate::hash::HashSet;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::Type;
use crate::types::opaque::with_hidden_representations;
use std::ops::Range;

/// Checks the statements of one input.
///
/// Diagnostics may be warnings and notes alone. If one is an error there is no script, and the
/// caller restores `env` and `program`.
pub fn check(env: &mut Env, program: &mut Program, stmts: &[ast::Stmt]) -> (Option<Script>, Vec<Diagnostic>) {
    check_noting(env, program, stmts, &mut None, None)
}

/// Checks the statements of one input, as [`check`] does, and takes notes for editors. With
/// `bodies`, bodies outside these sorted ranges of the text are checked only where the type of
/// another function depends on them; then there is no whole script.
pub fn check_noting(
    env: &mut Env,
    program: &mut Program,
    stmts: &[ast::Stmt],
    notes: &mut Option<Annotations>,
    bodies: Option<&[Range<u32>]>,
) -> (Option<Script>, Vec<Diagnostic>) {
    let hidden = env.hidden.iter().copied().collect();
    let mut checker = new_checker(env, program);
    checker.notes = notes.take();
    checker.check_exports(stmts);
    let script = with_hidden_representations(hidden, || {
        checker.input(&module::desugar_module_statements(stmts), bodies)
    });
    *notes = checker.notes.take();
    if let Some(notes) = notes {
        notes.settle(&mut checker.infer);
    }
    let errors = checker.reports.any_error();
    (if errors { None } else { Some(script) }, checker.reports.into_diagnostics())
}

/// Returns the message for a module that declares parties: the main program does.
pub fn party_in_module(stmt: &ast::Stmt) -> Option<Diagnostic> {
    match &stmt.kind {
        ast::StmtKind::Party { name, .. } => {
            Some(error::PlaceError::PartyHere { span: name.span }.to_diagnostic())
        }
        _ => None,
    }
}

/// Returns the messages for a module of a program with parties whose statements read or write
/// files.
pub fn files_of_module(program: &Program, script: &Script) -> Vec<Diagnostic> {
    items::place_rules::files_of_module(program, script)
        .iter()
        .map(error::PlaceError::to_diagnostic)
        .collect()
}

/// Returns true if a constraint without variables holds.
pub fn holds(env: &mut Env, program: &mut Program, constraint: &Constraint) -> bool {
    new_checker(env, program).entails(constraint) == solve::constraint::Answer::Yes
}

/// Returns the type that a written type denotes. With `implicit`, unknown names that begin with an
/// upper-case letter are COMPACTLINEAR variables.
pub fn lower_type(env: &mut Env, ty: &ast::TypeExpr, implicit: bool) -> (Type, Vec<Diagnostic>) {
    let (types, diagnostics) = lower_types(env, &[ty], implicit);
    (types.into_iter().next().expect("one type was given"), diagnostics)
}

/// Returns the types that several written types denote, read in one scope: they share their
/// implicit variables.
pub fn lower_types(env: &mut Env, types: &[&ast::TypeExpr], implicit: bool) -> (Vec<Type>, Vec<Diagnostic>) {
    let mut program = Program::default();
    let mut checker = new_checker(env, &mut program);
    checker.implicit_vars = implicit;
    let types = types.iter().map(|ty| checker.lower_argument(ty)).collect();
    (types, checker.reports.into_diagnostics())
}

impl Checker<'_> {
    /// Checks the statements in the order that the head of this file gives, and returns the script.
    fn input(&mut self, stmts: &[ast::Stmt], bodies: Option<&[Range<u32>]>) -> Script {
        let waiting = dependency_order::dependent_declarations(stmts);
        let late: HashSet<usize> = waiting.values().flatten().copied().collect();
        let early: Vec<&ast::Stmt> =
            stmts.iter().enumerate().filter(|(at, _)| !late.contains(at)).map(|(_, stmt)| stmt).collect();
        self.collect_types(&early);
        self.collect_classes(stmts);
        self.collect_type_constraints();
        self.collect_instances(stmts);
        self.check_applications();
        self.collect_functions(early.iter().copied());
        let mut script = Script { locals: Vec::new(), body: Vec::new(), result: None };
        self.frame();
        for (at, stmt) in stmts.iter().enumerate() {
            let last = at + 1 == stmts.len();
            self.top_level(stmt, last, &mut script);
            if let Some(late) = waiting.get(&at) {
                let late: Vec<&ast::Stmt> = late.iter().map(|&at| &stmts[at]).collect();
                self.collect_types(&late);
                self.collect_type_constraints();
                self.check_applications();
                self.collect_functions(late.iter().copied());
            }
        }
        script.locals = std::mem::take(&mut self.frame().locals);
        for local in &mut script.locals {
            local.ty = self.infer.zonk_with_defaults(&local.ty);
        }
        let wanted = |header: Span| {
            bodies.is_none_or(|bodies| {
                let after = bodies.partition_point(|body| body.start <= header.start);
                after > 0 && header.start < bodies[after - 1].end
            })
        };
        let pending = self.pending_functions.iter().filter(|(_, pending)| wanted(pending.function.header));
        let mut waiting: Vec<FunctionId> = pending.map(|(id, _)| *id).collect();
        waiting.sort_unstable();
        for function in waiting {
            self.check_pending(function);
        }
        self.place_rules(&script);
        if self.program.party.is_none() {
            order_in_statements(&mut script.body, &mut script.locals);
        }
        script
    }
}
