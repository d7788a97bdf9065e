//! Sinking: comparisons that are read once stand in front of the statement that reads them.
//!
//! ```text
//! r1 = a[i] < r9                     r2 = a[j]
//! r2 = a[j]                          r3 = r2 < r9
//! r3 = r2 < r9                =>     r4 = select r3 r8 r7
//! r4 = select r3 r8 r7               r1 = a[i] < r9
//! r5 = select r1 r8 r4               r5 = select r1 r8 r4
//! ```
//!
//! A vector loop has seven masks. A chain of choices reads its conditions from the last one to the
//! first, so all would be live at once. Loads stay where they are: vectors have more registers than
//! masks.
//!
//! Costs time in proportion to the statements (Click, *Global code motion, global value numbering*,
//! 1995: as late as possible).

use super::super::{Kernel, Op, Reg, for_each_stmt};
use super::{place_late, rewrite};
use crate::hash::HashMap;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut reads: HashMap<Reg, usize> = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        stmt.for_each_read(&mut |reg| *reads.entry(reg).or_default() += 1);
    });
    // One that a loop around the list accumulates has no reader in it, and stands at its end.
    let is_late = |reg: Reg, op: &Op| matches!(op, Op::Compare(..)) && reads.get(&reg) == Some(&1);
    rewrite(kernel, &mut |_, stmts, _| place_late(stmts, &is_late));
}
