//! The level of parallel loops: a short one inside a loop that runs in order runs in order, too.
//!
//! A step of a simulation is a parallel loop inside the loop over steps. Between two rounds of the
//! outer loop the threads meet, and what one phase sets and another reads travels through memory:
//! for few elements that costs more than the threads save. The estimate is that of
//! [`cost`](super::super::cost), at the sizes of this run, so kernels of small and of large arrays
//! differ in structure.
//!
//! A parallel loop at the top stays one: it is cut by its estimate when it runs. Arrays that each
//! piece had of its own, of pieces that are none any more, belong to the run.

use super::super::{Array, Kernel, Origin, Stmt, cost, for_each_stmt};
use super::{Position, rewrite};
use crate::hash::HashSet;

/// Nanoseconds of a loop inside a loop in order from which it is parallel.
pub(super) const MIN_PARALLEL_NS: f64 = 60_000.0;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let costs = cost::loop_costs(kernel);
    let mut changed = false;
    rewrite(kernel, &mut |kernel, stmts, position| {
        if position == Position::TopLevel {
            return stmts;
        }
        let sequential = |stmt: Stmt| match stmt {
            Stmt::ParallelFor { index, count, body } if costs[&index] < MIN_PARALLEL_NS => {
                changed = true;
                let (label, mut build) = (kernel.new_label(), super::Builder::new(kernel));
                let low = build.int(0);
                build.stmts.push(Stmt::For { label, index, low, high: count, body });
                build.stmts
            }
            other => vec![other],
        };
        stmts.into_iter().flat_map(sequential).collect()
    });
    if changed {
        let in_parallel = arrays_in_parallel_loops(&kernel.body);
        for array in kernel.arrays.ids() {
            if kernel.arrays[array].origin == Origin::ThreadLocal && !in_parallel.contains(&array) {
                kernel.arrays[array].origin = Origin::Scratch;
            }
        }
    }
}

/// The arrays that rounds of parallel loops read or write.
fn arrays_in_parallel_loops(stmts: &[Stmt]) -> HashSet<Array> {
    let mut found = HashSet::default();
    for_each_stmt(stmts, &mut |stmt| {
        if let Stmt::ParallelFor { body, .. } = stmt {
            for_each_stmt(body, &mut |inner| found.extend(inner.arrays()));
        }
    });
    found
}
