//! Which functions of an input come after the sizes they mention.
//!
//! Functions of one input are known before its statements run, in any order. One whose header mentions
//! a size that a statement before it names, as in `val x : real ^ ?N = …;` and `fun f(y:real ^ N) => …`,
//! can be known only when the statement has been checked, and is made known then.
//!
//! Takes statements; gives for each that names sizes the functions that wait for it.

use crate::hash::HashMap;
use crate::syntax::ast::{Function, Param, Pattern, PatternKind, Stmt, StmtKind, TypeExpr, TypeExprKind};
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
                types_of(pattern, &mut note);
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
        children(ty, &mut |child| opens(child, f));
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
        types_of(pattern, &mut names);
    }
    function.result.iter().for_each(names);
}

fn mentions(ty: &TypeExpr, f: &mut dyn FnMut(&Arc<str>)) {
    if let TypeExprKind::Name(name, _) | TypeExprKind::Call(name, _) = &ty.kind {
        f(&name.text);
    }
    children(ty, &mut |child| mentions(child, f));
}

fn children(ty: &TypeExpr, f: &mut dyn FnMut(&TypeExpr)) {
    use TypeExprKind as T;
    match &ty.kind {
        T::Number(_) | T::Open(_) | T::Hole | T::Refusal(_) | T::Error => {}
        T::Name(_, parts)
        | T::Call(_, parts)
        | T::Product(parts)
        | T::Sum(parts)
        | T::CompactProduct(parts)
        | T::CompactSum(parts) => {
            parts.iter().for_each(f);
        }
        T::Array(a, b) | T::CompactPower(a, b) | T::Repeat(a, b) | T::Function(a, b) => {
            f(a);
            f(b);
        }
        T::Record(fields) | T::CompactRecord(fields) => fields.iter().for_each(|(_, ty)| f(ty)),
        T::TypeMatch(subjects, arms) => {
            subjects.iter().for_each(&mut *f);
            arms.iter().for_each(|arm| {
                arm.patterns.iter().for_each(&mut *f);
                f(&arm.result);
            });
        }
    }
}

/// The types written in a pattern.
fn types_of(pattern: &Pattern, f: &mut dyn FnMut(&TypeExpr)) {
    use PatternKind as P;
    match &pattern.kind {
        P::Typed(inner, ty) => {
            f(ty);
            types_of(inner, f);
        }
        P::Tuple(parts) | P::CompactTuple(parts) => parts.iter().for_each(|part| types_of(part, f)),
        P::Record(fields) | P::CompactRecord(fields) => fields.iter().for_each(|(_, part)| types_of(part, f)),
        P::Case(_, Some(inner)) | P::Constructor(_, inner) | P::As(inner, _) => types_of(inner, f),
        _ => {}
    }
}
