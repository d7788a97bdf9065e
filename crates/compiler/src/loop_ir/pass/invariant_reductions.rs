//! Invariant reductions: a reduction that is the same in all rounds of a loop is computed before the
//! loop.
//!
//! ```text
//! for j in r0..<r1                            r4 = reduce add a0[r2 + k], k in r0..<r1
//!   r4 = reduce add a0[r2 + k], k in r0..<r1  for j in r0..<r1
//!   r5 = a0[r2 + j]                       =>    r5 = a0[r2 + j]
//!   r6 = div_float r5 r4                        r6 = div_float r5 r4
//! ```
//!
//! The passes of the array IR move what does not depend on an index; here the index is a product,
//! of which a loop for each factor has been made, and a reduction depends on some of the factors.
//!
//! **What is moved.** A reduction of the list of statements that is the body of a loop. What it
//! reads is the same in all rounds, nothing of it is stored into in the loop, it reads no variable,
//! and no statement before it fails or leaves: the slots that it reads are slots wherever the loop
//! stands, since indices are indices by their types.
//!
//! Inner loops come first, so a reduction goes as far out as it can. Costs time in proportion to the
//! statements times the depth of loops.

use super::super::{Array, Kernel, Op, Origin, Reg, Stmt, defined_registers, for_each_stmt};
use super::clone_stmts::{rename_all, rename_summand, rename_uses};
use super::licm::{MAX_DEPTH, Moving};
use crate::hash::{HashMap, HashSet};

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    // A load by a second name may be one of a slot that is stored into.
    if kernel.arrays.iter().any(|info| matches!(info.origin, Origin::Alias(_))) {
        return;
    }
    super::rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for mut stmt in stmts {
            if matches!(stmt, Stmt::For { .. } | Stmt::ParallelFor { .. }) {
                out.extend(reductions(kernel, &mut stmt));
            }
            out.push(stmt);
        }
        out
    });
}

/// Moves the invariant reductions out of a loop; returns them, behind what they need.
fn reductions(kernel: &mut Kernel, stmt: &mut Stmt) -> Vec<Stmt> {
    let has_reduction = |body: &[Stmt]| body.iter().any(|inner| matches!(inner, Stmt::Reduce { .. }));
    if !stmt.bodies().into_iter().any(has_reduction) {
        return Vec::new();
    }
    let mut written: HashSet<Array> = HashSet::default();
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| written.extend(inner.written_arrays()));
    let mut moving = Moving::new(kernel, stmt);
    let mut same: HashMap<Reg, Reg> = HashMap::default();
    let mut moved = Vec::new();
    for body in stmt.bodies_mut() {
        let mut may_leave = false;
        let mut kept = Vec::with_capacity(body.len());
        for inner in std::mem::take(body) {
            match &inner {
                Stmt::Reduce { .. } if !may_leave && reads_alone(&inner, &written) => {
                    match outside(&mut moving, &inner, &mut same) {
                        true => moved.push(inner),
                        false => kept.push(inner),
                    }
                }
                _ => {
                    for_each_stmt(std::slice::from_ref(&inner), &mut |part| {
                        may_leave |= matches!(part, Stmt::Fail | Stmt::Break(_) | Stmt::Continue(_));
                    });
                    kept.push(inner);
                }
            }
        }
        *body = kept;
    }
    let mut out = moving.build.stmts;
    for mut reduction in moved {
        rename_uses(&mut reduction, &same);
        rename_summand(&mut reduction, &same);
        for body in reduction.bodies_mut() {
            rename_all(body, &same);
        }
        out.push(reduction);
    }
    out
}

/// Returns true for a reduction that reads no variable and nothing of these arrays, and that has
/// nothing but operations inside.
fn reads_alone(reduction: &Stmt, written: &HashSet<Array>) -> bool {
    let mut alone = true;
    for body in reduction.bodies() {
        for_each_stmt(body, &mut |stmt| {
            alone &= match stmt {
                Stmt::Let(_, Op::Get(_)) => false,
                Stmt::Let(_, Op::Load(array, ..)) => !written.contains(array),
                Stmt::Let(..) => true,
                _ => false,
            };
        });
    }
    alone
}

/// Adds the registers outside of the loop that are equal to those that a reduction reads; false if
/// one is not the same in all rounds.
fn outside(moving: &mut Moving<'_>, reduction: &Stmt, same: &mut HashMap<Reg, Reg>) -> bool {
    let own = defined_registers(std::slice::from_ref(reduction));
    let mut reads = Vec::new();
    for_each_stmt(std::slice::from_ref(reduction), &mut |stmt| {
        stmt.for_each_read(&mut |reg| reads.push(reg))
    });
    reads.retain(|reg| !own.contains(reg));
    let found: Option<Vec<(Reg, Reg)>> =
        reads.into_iter().map(|reg| Some((reg, moving.outside(reg, MAX_DEPTH)?))).collect();
    match found {
        Some(found) => {
            same.extend(found.into_iter().filter(|(reg, outside)| reg != outside));
            true
        }
        None => false,
    }
}
