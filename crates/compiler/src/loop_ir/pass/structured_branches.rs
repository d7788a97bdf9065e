//! Structured branches in place of forward jumps: a block that branches leave early, and rounds that
//! are left for the next one, become branches around the rest.
//!
//! ```text
//! block @0                      if r0
//!   if r0                         v := r1
//!     v := r1                   else
//!     break @0             =>     r2 = ...
//!   r2 = ...                      v := r2
//!   v := r2
//! ```
//!
//! A function that returns early is such a block. Other passes look for branches and for loops
//! without jumps (Erosa and Hendren, *Taming control flow: a structured approach to eliminating goto
//! statements*, 1994, for the jumps that leave nothing to repeat). A loop whose first round always
//! leaves it is a block, too.
//!
//! **Method.** Branches inside each other that all do nothing but in the innermost one, as those of a
//! pattern of several parts, are one branch by all their conditions: what is computed between them is
//! cheap, total and loads nothing. Then what follows a branch with a jump goes to the end of the side
//! that may reach it, and the jumps of each side are removed alike. If both sides may reach it, or
//! the jump is inside a loop, nothing changes: no statement is copied.
//!
//! Costs time in proportion to the statements times the depth of the branches, of which there are at
//! most [`MAX_DEPTH`].

use super::super::{Binary, Compare, Kernel, Label, Op, Reg, ScalarType, Stmt, for_each_stmt};
use super::if_conversion::check;
use super::{Builder, falls_through};

/// Branches inside each other that the pass makes of one block.
const MAX_DEPTH: u32 = 32;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut jumps = false;
    for_each_stmt(&kernel.body, &mut |stmt| jumps |= matches!(stmt, Stmt::Break(_) | Stmt::Continue(_)));
    if !jumps {
        return;
    }
    super::rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match once(stmt) {
                Stmt::Block(label, body) => {
                    let body =
                        body.into_iter().flat_map(|stmt| merge_branches(kernel, stmt)).collect::<Vec<_>>();
                    match without_jumps(&body, &Stmt::Break(label), MAX_DEPTH) {
                        Some(body) => out.extend(body),
                        None => out.push(Stmt::Block(label, body)),
                    }
                }
                Stmt::For { label, index, low, high, body } => {
                    let body = without_jumps(&body, &Stmt::Continue(label), MAX_DEPTH).unwrap_or(body);
                    out.push(Stmt::For { label, index, low, high, body });
                }
                stmt => out.push(stmt),
            }
        }
        out
    });
}

/// The condition of a branch of which one side is empty, the other side, and whether that one runs
/// where the condition holds.
fn one_sided(stmt: &Stmt) -> Option<(Reg, &[Stmt], bool)> {
    match stmt {
        Stmt::If(condition, side, other) if other.is_empty() && !side.is_empty() => {
            Some((*condition, side, true))
        }
        Stmt::If(condition, other, side) if other.is_empty() && !side.is_empty() => {
            Some((*condition, side, false))
        }
        _ => None,
    }
}

/// A branch of which one side is empty, and the other one ends with such a branch, as one branch.
fn merge_branches(kernel: &mut Kernel, stmt: Stmt) -> Vec<Stmt> {
    let Some((outer, side, runs)) = one_sided(&stmt) else { return vec![stmt] };
    let merged = side.iter().cloned().flat_map(|stmt| merge_branches(kernel, stmt));
    let mut side: Vec<Stmt> = merged.collect();
    let inner = side.split_last().and_then(|(last, before)| {
        // A check is looked for by its own condition.
        let merges = before.iter().all(is_cheap) && check(last).is_none();
        let (inner, inside, runs) = one_sided(last).filter(|_| merges)?;
        Some((inner, inside.to_vec(), runs))
    });
    let Some((inner, inside, inner_runs)) = inner else {
        let (then, otherwise) = if runs { (side, Vec::new()) } else { (Vec::new(), side) };
        return vec![Stmt::If(outer, then, otherwise)];
    };
    side.pop();
    let mut build = Builder::new(kernel);
    let zero = build.int(0);
    let mut is_left = |condition: Reg, runs: bool| {
        let kind = if runs { Compare::Eq } else { Compare::Ne };
        build.define(ScalarType::I64, Op::Compare(kind, condition, zero))
    };
    let (first, second) = (is_left(outer, runs), is_left(inner, inner_runs));
    let either = build.binary(Binary::Or, first, second);
    side.append(&mut build.stmts);
    side.push(Stmt::If(either, Vec::new(), inside));
    side
}

/// Returns true for what may be computed where nobody asks for it.
fn is_cheap(stmt: &Stmt) -> bool {
    let Stmt::Let(_, op) = stmt else { return false };
    match op {
        Op::Load(..) | Op::Call(..) => false,
        Op::Binary(kind, ..) => !kind.is_integer_division(),
        _ => true,
    }
}

/// A loop that has no second round as a block, other statements as they are.
fn once(stmt: Stmt) -> Stmt {
    let Stmt::Loop(label, body) = stmt else { return stmt };
    let mut continues = falls_through(&body);
    for_each_stmt(&body, &mut |inner| continues |= *inner == Stmt::Continue(label));
    if continues { Stmt::Loop(label, body) } else { Stmt::Block(label, body) }
}

/// The label of a jump.
fn target(jump: &Stmt) -> Option<Label> {
    match jump {
        Stmt::Break(label) | Stmt::Continue(label) => Some(*label),
        _ => None,
    }
}

/// Returns true if a statement is a jump, or has it inside.
fn has_jump(stmt: &Stmt, jump: &Stmt) -> bool {
    let mut found = false;
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| found |= target(inner) == target(jump));
    found
}

/// The statements without jumps to their end; `None` if a statement would have to be copied, or the
/// branches would be too deep.
fn without_jumps(stmts: &[Stmt], jump: &Stmt, depth: u32) -> Option<Vec<Stmt>> {
    let mut out = Vec::new();
    for (at, stmt) in stmts.iter().enumerate() {
        match stmt {
            stmt if stmt == jump => break,
            stmt if !has_jump(stmt, jump) => out.push(stmt.clone()),
            Stmt::If(condition, then, otherwise) if depth > 0 => {
                let rest = &stmts[at + 1..];
                let both = falls_through(then) && falls_through(otherwise);
                if both && !rest.is_empty() {
                    return None;
                }
                let side = |side: &[Stmt]| match falls_through(side) {
                    true => without_jumps(&[side, rest].concat(), jump, depth - 1),
                    false => without_jumps(side, jump, depth - 1),
                };
                out.push(Stmt::If(*condition, side(then)?, side(otherwise)?));
                break;
            }
            _ => return None,
        }
    }
    Some(out)
}
