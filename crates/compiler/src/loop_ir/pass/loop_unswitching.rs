//! Loop unswitching: a branch whose condition is the same in all rounds stands around the loop
//! (Allen and Cocke, *A catalogue of optimizing transformations*, 1972).
//!
//! ```text
//! for j < n                       if c
//!   if c                            for j < n
//!     A                      =>       A
//!   else                          else
//!     B                             for j < n
//!                                     B
//! ```
//!
//! **Method.** The condition of a branch at the top of the body is computed in front of the loop,
//! if all it is made of is the same in all rounds and has no loads ([`Moving`]), and each side has
//! a copy of the loop. What a round does is the same, and in the same order. Branches that are
//! choices already are none ([`if_conversion`](super::if_conversion) comes first): a choice takes
//! one operation, and other passes look for loops without branches around. But lanes of less than 8
//! bytes have no choice by a condition of 8, so one of such numbers in an innermost loop is a
//! branch.
//!
//! Costs a copy of the body for each side: at most 2^[`MAX_DEPTH`] copies of [`MAX_STATEMENTS`].

use super::super::{Kernel, Op, Reg, Stmt, for_each_stmt};
use super::Builder;
use super::clone_stmts::Cloner;
use super::licm::Moving;

/// Statements of a body that is copied.
const MAX_STATEMENTS: usize = 150;
/// Branches of one loop.
const MAX_DEPTH: u32 = 3;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    super::rewrite(kernel, &mut |kernel, stmts, _| {
        stmts.into_iter().flat_map(|stmt| unswitched(kernel, stmt, MAX_DEPTH)).collect()
    });
}

/// A statement, or the loops in its place.
fn unswitched(kernel: &mut Kernel, stmt: Stmt, depth: u32) -> Vec<Stmt> {
    let Some((mut stmts, outside, inside)) = invariant_branch(kernel, &stmt).filter(|_| depth > 0) else {
        return vec![stmt];
    };
    let [then, otherwise] = [true, false].map(|holds| {
        let copy = copy_of_loop(kernel, &stmt, (inside, holds));
        unswitched(kernel, copy, depth - 1)
    });
    stmts.push(Stmt::If(outside, then, otherwise));
    stmts
}

/// Statements that compute the condition of a branch in front of the loop, where it is then, and
/// the condition of the branch.
fn invariant_branch(kernel: &mut Kernel, stmt: &Stmt) -> Option<(Vec<Stmt>, Reg, Reg)> {
    let body = match stmt {
        Stmt::For { body, .. } | Stmt::ParallelFor { body, .. } => body,
        _ => return None,
    };
    let is_innermost = !body.iter().any(|stmt| matches!(stmt, Stmt::For { .. }));
    let condition = |stmt: &Stmt| match stmt {
        Stmt::If(condition, ..) => Some(*condition),
        Stmt::Let(reg, Op::Select(condition, ..)) if is_innermost && kernel.regs[*reg].bytes() < 8 => {
            Some(*condition)
        }
        _ => None,
    };
    let conditions: Vec<Reg> = body.iter().filter_map(condition).collect();
    if conditions.is_empty() {
        return None;
    }
    // A loop that nobody leaves or continues.
    let (mut statements, mut simple) = (0, true);
    for_each_stmt(body, &mut |stmt| {
        statements += 1;
        simple &= !matches!(stmt, Stmt::Break(_) | Stmt::Continue(_));
    });
    if !simple || statements > MAX_STATEMENTS {
        return None;
    }
    let mut moving = Moving::new(kernel, stmt);
    let found = conditions.into_iter().find_map(|inside| Some((moving.condition(inside)?, inside)));
    found.map(|(outside, inside)| (moving.build.stmts, outside, inside))
}

/// A copy of a loop in which a condition is known.
fn copy_of_loop(kernel: &mut Kernel, stmt: &Stmt, (condition, holds): (Reg, bool)) -> Stmt {
    let mut copy = Cloner::new(kernel);
    copy.names.known_conditions.insert(condition, holds);
    match stmt {
        Stmt::For { index, low, high, body, .. } => {
            let index = copy.fresh(*index);
            let body = copy.stmts(body);
            Stmt::For { label: Builder::new(kernel).label(), index, low: *low, high: *high, body }
        }
        Stmt::ParallelFor { index, count, body } => {
            let index = copy.fresh(*index);
            let body = copy.stmts(body);
            Stmt::ParallelFor { index, count: *count, body }
        }
        other => unreachable!("no loop: {other:?}"),
    }
}
