//! Counts of the uses of variables, by the syntax of core alone.

use crate::core::free_variables::FreeVariables;
use crate::core::{Prim, Root, Stmt, StmtKind, Term, TermKind};
use crate::types::Type;
use std::collections::BTreeSet;

/// Rounds of a loop whose number is not known.
const UNKNOWN_TRIP_COUNT: f64 = 1e6;

/// The locals that a term mentions, in order.
pub(crate) fn locals(term: &Term) -> BTreeSet<u32> {
    FreeVariables::by_term(term).locals
}

/// Terms inside a term, and itself.
pub(crate) fn terms(term: &Term) -> usize {
    let (mut count, mut waiting) = (0, vec![term]);
    while let Some(term) = waiting.pop() {
        count += 1;
        term.for_each_child(&mut |child| waiting.push(child));
    }
    count
}

/// The locals that statements, and a term after them, store into.
pub(crate) fn stored(stmts: &[Stmt], last: Option<&Term>) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let mut terms: Vec<&Term> = last.into_iter().collect();
    let mut waiting: Vec<&Stmt> = stmts.iter().collect();
    loop {
        while let Some(stmt) = waiting.pop() {
            stmt.for_each_stmt(&mut |stmt| {
                if let Some(Root::Local(local)) = stmt.stores_into() {
                    found.insert(local);
                }
            });
            stmt.for_each_term(&mut |term| terms.push(term));
        }
        let Some(term) = terms.pop() else { return found };
        if let TermKind::Block(stmts, value) = &term.kind {
            waiting.extend(stmts);
            terms.extend(value.as_deref());
        } else {
            term.for_each_child(&mut |child| terms.push(child));
        }
    }
}

/// Returns true if a local is read inside a loop of a statement.
pub(crate) fn in_loop(stmt: &Stmt, local: u32) -> bool {
    let reads = |stmts: &[Stmt]| {
        let mut found = false;
        stmts.iter().for_each(|s| s.for_each_term(&mut |t| found = found || locals(t).contains(&local)));
        found
    };
    match &stmt.kind {
        StmtKind::For(_, _, body) => reads(body),
        StmtKind::While(condition, body) => reads(body) || locals(condition).contains(&local),
        StmtKind::If(_, then, otherwise) => then.iter().chain(otherwise).any(|s| in_loop(s, local)),
        _ => false,
    }
}

/// The number of times that the elements of an array are read: each reading of the whole counts as
/// many times as it is done. `count` says how many values an index type has.
pub(crate) fn times(term: &Term, local: u32, count: &dyn Fn(&Type) -> f64) -> f64 {
    match &term.kind {
        // By itself it is read as a whole, once.
        TermKind::Local(found) if *found == local => array_size(&term.ty, count).unwrap_or(1.0),
        TermKind::Index(array, index) if is(array, local) => 1.0 + times(index, local, count),
        TermKind::Component(array, _) if is(array, local) => 1.0,
        TermKind::Closure { captures, .. } if captures.contains(&local) => UNKNOWN_TRIP_COUNT * 1e3,
        TermKind::Build(clauses, body) => {
            let rounds: f64 = clauses.iter().map(|(_, ty)| count(ty)).product();
            rounds * times(body, local, count)
        }
        // One of them is taken.
        TermKind::If(condition, then, otherwise) => {
            times(condition, local, count) + times(then, local, count).max(times(otherwise, local, count))
        }
        TermKind::Match(scrutinee, arms) => {
            let most = arms.iter().map(|arm| {
                let guard = arm.guard.as_ref().map_or(0.0, |guard| times(guard, local, count));
                guard + times(&arm.body, local, count)
            });
            times(scrutinee, local, count) + most.fold(0.0, f64::max)
        }
        TermKind::Block(stmts, value) => {
            let mut sum: f64 = stmts.iter().map(|s| times_stmt(s, local, count)).sum();
            if let Some(value) = value {
                sum += times(value, local, count);
            }
            sum
        }
        _ => {
            let mut sum = 0.0;
            term.for_each_child(&mut |child| sum += times(child, local, count));
            sum
        }
    }
}

fn times_stmt(stmt: &Stmt, local: u32, count: &dyn Fn(&Type) -> f64) -> f64 {
    use crate::core::ForRange;
    let list = |stmts: &[Stmt]| -> f64 { stmts.iter().map(|s| times_stmt(s, local, count)).sum() };
    match &stmt.kind {
        StmtKind::For(_, range, body) => {
            let (rounds, own) = match range {
                ForRange::All(ty) => (count(ty), 0.0),
                ForRange::Ints { low, high, .. } => {
                    (UNKNOWN_TRIP_COUNT, times(low, local, count) + times(high, local, count))
                }
                ForRange::Elements(array) => {
                    (array_size(&array.ty, count).unwrap_or(UNKNOWN_TRIP_COUNT), times(array, local, count))
                }
            };
            own + rounds * list(body)
        }
        StmtKind::While(condition, body) => {
            UNKNOWN_TRIP_COUNT * (times(condition, local, count) + list(body))
        }
        StmtKind::If(condition, then, otherwise) => {
            times(condition, local, count) + list(then).max(list(otherwise))
        }
        StmtKind::Match(scrutinee, arms) => {
            times(scrutinee, local, count) + arms.iter().map(|(_, _, body)| list(body)).fold(0.0, f64::max)
        }
        _ => {
            let mut sum = 0.0;
            stmt.for_each_term(&mut |term| sum += times(term, local, count));
            sum
        }
    }
}

fn array_size(ty: &Type, count: &dyn Fn(&Type) -> f64) -> Option<f64> {
    match ty.kind() {
        crate::types::TypeKind::Array(_, index) => Some(count(index)),
        _ => None,
    }
}

fn is(term: &Term, local: u32) -> bool {
    match &term.kind {
        TermKind::Local(found) => *found == local,
        TermKind::Reshape(inner) | TermKind::Move(inner) => is(inner, local),
        _ => false,
    }
}

/// Returns true if an element is no dearer to compute than to read.
pub(crate) fn cheap(body: &Term) -> bool {
    match &body.kind {
        TermKind::Int(_) | TermKind::Real(_) | TermKind::Code(_) | TermKind::Char(_) | TermKind::Local(_) => {
            true
        }
        TermKind::ToCode(a) | TermKind::Reshape(a) | TermKind::Move(a) => cheap(a),
        TermKind::Index(a, i) => cheap(a) && cheap(i),
        TermKind::Component(a, _) => cheap(a),
        TermKind::Pack(parts) => parts.iter().all(cheap),
        _ => false,
    }
}

/// Returns true if an element is an element of another array, at an index made of the own ones and
/// of sums of codes: a gather, such as a neighbor or a part of an axis.
pub(crate) fn gathers(body: &Term) -> bool {
    match &body.kind {
        // The clauses of an array construction give their indices names.
        TermKind::Block(stmts, Some(last)) => {
            let named = |stmt: &Stmt| matches!(&stmt.kind, StmtKind::Let(_, value) if cheap(value));
            stmts.iter().all(named) && gathers(last)
        }
        TermKind::Reshape(a) => gathers(a),
        TermKind::Index(a, i) => cheap(a) && gathers(i),
        TermKind::Pack(parts) | TermKind::Prim(Prim::Shift, _, parts) => parts.iter().all(gathers),
        TermKind::Inject(_, a) => body.ty.is_compact() && gathers(a),
        _ => cheap(body),
    }
}
