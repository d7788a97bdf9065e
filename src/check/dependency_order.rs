//! Which functions of an input come after the sizes they mention.
//!
//! Functions of one input are known before its statements run, in any order. One whose header
//! mentions a size that a statement before it names, as in `val x : real ^ ?N = …;` and
//! `fun f(y:real ^ N) => …`, can be known only when the statement has been checked, and is made
//! known then.
//!
//! Takes statements; gives for each that names sizes the functions that wait for it.

use crate::hash::HashMap;
use crate::syntax::ast::{Function, Param, Stmt, StmtKind, TypeExpr, TypeExprKind};
use std::sync::Arc;

/// For the position of a statement the positions of the functions that wait for it.
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

/// The names that `?` gives in a type.
fn opens(ty: &TypeExpr, f: &mut dyn FnMut(&Arc<str>)) {
    if let TypeExprKind::Open(name) = &ty.kind {
        f(&name.text);
    }
    // What a function type names is bound by it.
    if !matches!(ty.kind, TypeExprKind::Function(..)) {
        ty.for_each_child(&mut |child| opens(child, f));
    }
}

/// The names of types in the header of a function that are not its parameters.
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

fn mentions(ty: &TypeExpr, f: &mut dyn FnMut(&Arc<str>)) {
    if let TypeExprKind::Name(name, _) | TypeExprKind::Call(name, _) = &ty.kind {
        f(&name.text);
    }
    ty.for_each_child(&mut |child| mentions(child, f));
}
