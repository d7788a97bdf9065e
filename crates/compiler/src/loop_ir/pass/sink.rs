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

use super::super::{Kernel, Op, Reg, Stmt, for_each_stmt};
use super::rewrite;
use crate::hash::HashMap;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut reads: HashMap<Reg, usize> = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        stmt.for_each_read(&mut |reg| *reads.entry(reg).or_default() += 1);
    });
    rewrite(kernel, &mut |_, stmts, _| sunk(stmts, &reads));
}

/// A list of statements with its comparisons as late as possible.
fn sunk(stmts: Vec<Stmt>, reads: &HashMap<Reg, usize>) -> Vec<Stmt> {
    let mut waiting: HashMap<Reg, Stmt> = HashMap::default();
    let mut order = Vec::new();
    let mut out = Vec::with_capacity(stmts.len());
    for stmt in stmts {
        match stmt {
            Stmt::Let(reg, Op::Compare(..)) if reads.get(&reg) == Some(&1) => {
                order.push(reg);
                waiting.insert(reg, stmt);
            }
            stmt => {
                place(&stmt, &mut waiting, &mut out);
                out.push(stmt);
            }
        }
    }
    // One that a loop around the list accumulates has no reader in it.
    out.extend(order.iter().filter_map(|reg| waiting.remove(reg)));
    out
}

/// Places the comparisons that a statement reads, and those that these read.
fn place(stmt: &Stmt, waiting: &mut HashMap<Reg, Stmt>, out: &mut Vec<Stmt>) {
    if waiting.is_empty() {
        return;
    }
    let mut read = Vec::new();
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| inner.for_each_read(&mut |reg| read.push(reg)));
    for reg in read {
        if let Some(comparison) = waiting.remove(&reg) {
            place(&comparison, waiting, out);
            out.push(comparison);
        }
    }
}
