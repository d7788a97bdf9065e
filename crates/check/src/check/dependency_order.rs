//! The order of the functions of an input among the statements that name sizes.
//!
//! The functions of one input are known before its statements run, in any order. An exception is a
//! function whose header mentions a size that a statement names, as in `val x : real ^ ?N = …;` and
//! `fun f(y:real ^ N) => …`: it is collected after that statement.
//!
//! Takes statements; gives for each statement that names sizes the functions that wait for it. One
//! pass over the statements.

use crate::hash::HashMap;
use crate::syntax::ast::{Function, Param, Stmt, StmtKind, TypeExpr, TypeExprKind};
use std::sync::Arc;

/// Returns, for the position of a statement, the positions of the functions that wait for it.
pub(super) fn waiting(stmts: &[Stmt]) -> HashMap<usize, Vec<usize>> {
    let mut named: HashMap<Arc<str>, usize> = HashMap::default();
    let mut waiting: HashMap<usize, Vec<usize>> = HashMap::default();
    for (at, stmt) in stmts.iter().enumerate() {
        match &stmt.kind {
            StmtKind::Let { pattern, ty, .. } => {
                let mut note = |ty: &TypeExpr| {
                    opens(ty, &mut |name| {
                        named.insert(name.clone(), at);
                    })
                };
                ty.iter().for_each(&mut note);
                pattern.for_each_type(&mut note);
            }
            StmtKind::Require(left, right) => {
                for side in [left, right] {
                    opens(side, &mut |name| {
                        named.insert(name.clone(), at);
                    });
                }
            }
            StmtKind::Function { function, .. } if !named.is_empty() => {
                let mut last = None;
                header(function, &mut |name| last = last.max(named.get(name).copied()));
                if let Some(last) = last {
                    waiting.entry(last).or_default().push(at);
                }
            }
            _ => {}
        }
    }
    waiting
}

/// Calls `f` for each name that `?` opens in a type.
fn opens(ty: &TypeExpr, f: &mut dyn FnMut(&Arc<str>)) {
    if let TypeExprKind::Open(name) = &ty.kind {
        f(&name.text);
    }
    // A function type binds the names that it opens.
    if !matches!(ty.kind, TypeExprKind::Function(..)) {
        ty.for_each_child(&mut |child| opens(child, f));
    }
}

/// Calls `f` for each name of a type in the header of a function, except its own type parameters.
fn header(function: &Function, f: &mut dyn FnMut(&Arc<str>)) {
    let own: Vec<&Arc<str>> = function.generics.params.iter().map(|p| &p.name.text).collect();
    let mut names = |ty: &TypeExpr| {
        mentions(ty, &mut |name| {
            if !own.contains(&name) {
                f(name)
            }
        })
    };
    for Param { pattern, ty, .. } in function.params.iter().flatten() {
        ty.iter().for_each(&mut names);
        pattern.for_each_type(&mut names);
    }
    function.result.iter().for_each(names);
}

/// Calls `f` for each name mentioned in a type.
fn mentions(ty: &TypeExpr, f: &mut dyn FnMut(&Arc<str>)) {
    if let TypeExprKind::Name(name, _) | TypeExprKind::Call(name, _) = &ty.kind {
        f(&name.text);
    }
    ty.for_each_child(&mut |child| mentions(child, f));
}
