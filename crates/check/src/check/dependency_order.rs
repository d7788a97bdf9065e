//! The order of the types and functions of an input among the statements that name sizes.
//!
//! The types and functions of one input are known before its statements run, in any order. An
//! exception is a type over a size that a statement names, as in `val x : real ^ ?N = …;` and
//! `newtype Vertex = N;`, and a function whose header mentions such a size or such a type: it is
//! collected after that statement.
//!
//! Takes statements; gives for each statement that names sizes the declarations that wait for it.
//! One pass over the statements.

use crate::hash::HashMap;
use crate::syntax::ast::{Function, Generics, Param, Stmt, StmtKind, TypeExpr, TypeExprKind};
use std::sync::Arc;

/// Returns, for the position of a statement, the positions of the declarations that wait for it.
pub(super) fn dependent_declarations(stmts: &[Stmt]) -> HashMap<usize, Vec<usize>> {
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
            StmtKind::Newtype(declaration, body) | StmtKind::Typedef(declaration, body)
                if !named.is_empty() =>
            {
                let own = own_names(&declaration.generics);
                let mut last = None;
                mentions(body, &mut |name| {
                    if !own.contains(&name) {
                        last = last.max(named.get(name).copied());
                    }
                });
                if let Some(last) = last {
                    named.insert(declaration.name.text.clone(), last);
                    waiting.entry(last).or_default().push(at);
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
    let own = own_names(&function.generics);
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

/// Returns the names of the type parameters of a declaration.
fn own_names(generics: &Generics) -> Vec<&Arc<str>> {
    generics.params.iter().map(|param| &param.name.text).collect()
}

/// Calls `f` for each name mentioned in a type.
fn mentions(ty: &TypeExpr, f: &mut dyn FnMut(&Arc<str>)) {
    if let TypeExprKind::Name(name, _) | TypeExprKind::Call(name, _) = &ty.kind {
        f(&name.text);
    }
    ty.for_each_child(&mut |child| mentions(child, f));
}
