//! Cache blocking: parallel loops one after the other, and in sequential loops, that all go over
//! the same columns are done for a block of columns at a time.
//!
//! ```text
//! parallel for c in 0..<n                    parallel for t in 0..<n / B
//!   a[c] <- 0                                  for c in the block: a[c] <- 0
//! for k in 0..<m                      =>       for k in 0..<m
//!   parallel for c in 0..<n                      for c in the block
//!     a[c] <- a[c] + x[k * n + c]                  a[c] <- a[c] + x[k * n + c]
//! ```
//!
//! A sweep over rows, as that of a tridiagonal solver, writes arrays that the next sweep reads. If
//! they exceed the caches, each goes to memory and back; a block of columns stays in the second
//! level (Wolf and Lam, *A data locality optimizing algorithm*, 1991).
//!
//! **Why nothing changes.** An array that a statement of the group stores into is read and written
//! only at slots that are the column plus a multiple of the number of columns (by their
//! [`Affine`](super::affine::Affine) forms), so no round of one column touches a slot of another
//! one. The rounds of a column keep their order.
//!
//! **When.** The statements stand at the top of a kernel, there is a sequential loop among them,
//! and the arrays that they store into exceed [`MIN_BYTES`]. The bodies of the parallel loops only
//! compute, read and store.
//!
//! Costs time in proportion to the statements.

use super::super::{Array, Binary, Kernel, Op, Reg, Stmt};
use super::affine::Forms;
use super::{Builder, has_alias, strip_mined};
use crate::hash::HashSet;
use std::ops::Range;

/// Bytes of the arrays that are stored into, at least.
const MIN_BYTES: u64 = 1 << 20;

/// Bytes of a block of these arrays, about.
const BLOCK_BYTES: u64 = 512 << 10;

/// Columns of a block.
const BLOCK_COLUMNS: Range<u64> = 64..8193;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let groups = groups(kernel);
    if groups.is_empty() {
        return;
    }
    let mut groups = groups.into_iter().peekable();
    let mut body = std::mem::take(&mut kernel.body).into_iter().enumerate().peekable();
    let mut out = Vec::new();
    while let Some((at, stmt)) = body.next() {
        let Some(group) = groups.next_if(|group| group.stmts.start == at) else {
            out.push(stmt);
            continue;
        };
        let mut stmts = vec![stmt];
        while let Some((_, stmt)) = body.next_if(|(at, _)| *at < group.stmts.end) {
            stmts.push(stmt);
        }
        blocked(kernel, group, stmts, &mut out);
    }
    kernel.body = out;
}

/// Statements of the top of a kernel that are done by blocks.
struct Group {
    stmts: Range<usize>,
    /// The number of columns.
    count: Reg,
    /// The number of columns of a block.
    block: u64,
}

/// A parallel loop, alone or as the last statement of a sequential loop.
struct Sweep<'s> {
    column: Reg,
    count: Reg,
    body: &'s [Stmt],
    is_repeated: bool,
}

/// The sweep that a statement is.
fn sweep(stmt: &Stmt) -> Option<Sweep<'_>> {
    match stmt {
        Stmt::ParallelFor { index, count, body } => {
            let plain = body.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Store(..)));
            plain.then_some(Sweep { column: *index, count: *count, body, is_repeated: false })
        }
        Stmt::For { body, .. } => {
            let (last, before) = body.split_last()?;
            let inner = sweep(last).filter(|inner| !inner.is_repeated)?;
            before.iter().all(computes).then_some(Sweep { is_repeated: true, ..inner })
        }
        _ => None,
    }
}

/// Returns true for a definition that reads neither an array nor a variable.
fn computes(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Let(_, op) if !matches!(op, Op::Load(..) | Op::Get(_)))
}

/// The longest groups, in their order.
fn groups(kernel: &Kernel) -> Vec<Group> {
    let mut forms = Forms::new(kernel);
    let (mut groups, mut start) = (Vec::new(), 0);
    while start < kernel.body.len() {
        // A group begins and ends with a sweep.
        let mut end = start;
        if let Some(columns) = sweep(&kernel.body[start]).and_then(|first| forms.constant(first.count)) {
            let mut accessed = Accessed::default();
            for (at, stmt) in kernel.body.iter().enumerate().skip(start) {
                match sweep(stmt) {
                    Some(next) if accessed.add(kernel, &mut forms, &next, columns) => end = at + 1,
                    None if computes(stmt) => {}
                    _ => break,
                }
            }
        }
        groups.extend(group(kernel, &mut forms, start..end));
        start = end.max(start + 1);
    }
    groups
}

/// The group of some statements, if it is worth while.
fn group(kernel: &Kernel, forms: &mut Forms<'_>, stmts: Range<usize>) -> Option<Group> {
    let sweeps: Vec<Sweep<'_>> = kernel.body[stmts.clone()].iter().filter_map(sweep).collect();
    let count = sweeps.first()?.count;
    let columns = u64::try_from(forms.constant(count)?).ok()?;
    let stored: HashSet<Array> =
        sweeps.iter().flat_map(|sweep| sweep.body).flat_map(Stmt::written_arrays).collect();
    let bytes: u64 = stored
        .into_iter()
        .map(|array| kernel.slots[array].saturating_mul(u64::from(kernel.arrays[array].width)))
        .sum();
    if !sweeps.iter().any(|sweep| sweep.is_repeated) || bytes < MIN_BYTES {
        return None;
    }
    let block = (BLOCK_BYTES / (bytes / columns.max(1)).max(1)).max(1).next_power_of_two();
    let block = block.min(BLOCK_COLUMNS.end - 1);
    (block >= BLOCK_COLUMNS.start && 2 * block <= columns).then_some(Group { stmts, count, block })
}

/// The arrays that sweeps read and write.
#[derive(Default)]
struct Accessed {
    /// Those that are stored into.
    stored: HashSet<Array>,
    /// Those of which a column touches a slot of another one.
    shared: HashSet<Array>,
}

impl Accessed {
    /// Adds a sweep. Returns false if it does not go over so many columns, or if now one column
    /// touches a slot of another one that is stored into.
    fn add(&mut self, kernel: &Kernel, forms: &mut Forms<'_>, sweep: &Sweep<'_>, columns: i64) -> bool {
        if columns <= 0 || forms.constant(sweep.count) != Some(columns) {
            return false;
        }
        self.stored.extend(sweep.body.iter().flat_map(Stmt::written_arrays));
        for stmt in sweep.body {
            let (Stmt::Let(_, Op::Load(array, at, _)) | Stmt::Store(array, at, _)) = stmt else { continue };
            let form = forms.of(*at);
            let is_own = form.constant % columns == 0
                && form.terms.contains(&(sweep.column, 1))
                && form.terms.iter().all(|(reg, factor)| *reg == sweep.column || factor % columns == 0);
            if !is_own {
                self.shared.insert(*array);
            }
        }
        // Only an array of this sweep can have become one that is stored into and shared.
        let mut arrays = sweep.body.iter().flat_map(Stmt::arrays);
        !arrays.any(|array| {
            self.stored.contains(&array) && (self.shared.contains(&array) || has_alias(kernel, array))
        })
    }
}

/// Appends a group by blocks.
fn blocked(kernel: &mut Kernel, group: Group, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
    let (before, sweeps): (Vec<Stmt>, Vec<Stmt>) = stmts.into_iter().partition(computes);
    out.extend(before);
    let mut build = Builder::new(kernel);
    let zero = build.int(0);
    let strips = strip_mined(&mut build, (zero, group.count), group.block);
    out.append(&mut build.stmts);
    let strip = strips.strip(&mut build);
    let end = build.binary(Binary::Add, strip.base, strip.rounds);
    for stmt in sweeps {
        let stmt = over(&mut build, stmt, (strip.base, end));
        build.stmts.push(stmt);
    }
    out.push(Stmt::ParallelFor { index: strips.number, count: strips.count, body: build.stmts });
}

/// A sweep over a range of columns, in order.
fn over(build: &mut Builder<'_>, stmt: Stmt, (low, high): (Reg, Reg)) -> Stmt {
    match stmt {
        Stmt::ParallelFor { index, body, .. } => Stmt::For { label: build.label(), index, low, high, body },
        Stmt::For { label, index, low: first, high: last, body } => {
            let inside = |stmt| if computes(&stmt) { stmt } else { over(build, stmt, (low, high)) };
            let body = body.into_iter().map(inside).collect();
            Stmt::For { label, index, low: first, high: last, body }
        }
        other => other,
    }
}
