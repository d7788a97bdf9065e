//! Tiling of transpositions: nests of two loops that load along one index and store along the other
//! one fill whole cache lines.
//!
//! ```text
//! parallel for i < n                    parallel for s < n / 64
//!   for j in 0..<m                        for t in 0..<m / 8            j = 8 * t
//!     a[m * i + j] <- b[n * j + i]   =>     for i in 32 * s ..< 32 * s + 32
//!                                             a[m * i + j] <- b[n * j + i]
//!                                             …
//!                                             a[m * i + j + 7] <- b[n * (j + 7) + i]
//!                                         the rest of the columns, as they were
//! ```
//!
//! A column of a matrix has a cache line for each of its elements, and if the matrix is large, a
//! page, too: each line is loaded, or stored, once for each of its elements. So slots of a line that is
//! stored are computed one after the other, from as many lines that are loaded and go on to be loaded
//! in the next round (Wolf and Lam, *A data locality optimizing algorithm*, 1991).
//!
//! **Why nothing changes.** Rounds of the outer loop are independent, and each does its own
//! operations in the order that they had. What stands before the inner loop is computed again, and
//! loads no array that the nest stores into.
//!
//! **When.** The inner loop computes, loads and stores, over a range that is the same in all rounds.
//! Slots that are stored are contiguous by one index, slots that are loaded by the other one, and far
//! apart otherwise.
//!
//! Costs time in proportion to the statements; the inner loop is copied up to [`MAX_COPIES`] times
//! and once more.

use super::super::{Binary, Compare, Kernel, Label, Op, Origin, Reg, ScalarType, Stmt, defined_registers};
use super::affine::{Affine, Forms};
use super::clone_stmts::{Cloner, Renaming};
use super::parallelize::independent_loops;
use super::{Builder, LoopParts, loop_parts, rewrite, strip_mined};
use crate::hash::{HashMap, HashSet};

/// Bytes of a cache line.
const LINE_BYTES: u64 = 64;

/// Rounds that go together, at least and at most. More would need more lines of the same set of a
/// cache where rows are a power of two.
const MIN_COPIES: u64 = 8;
const MAX_COPIES: u64 = 16;

/// Rounds of the outer loop in which the lines that the inner one stores are filled: their pages
/// have entries in the processor's table of pages.
const STRIP: u64 = 32;

/// Slots between elements that are far apart, at least.
const MIN_STRIDE: u64 = 16;

/// Statements of an inner loop, at most.
const MAX_STATEMENTS: usize = 24;

/// A loop whose body ends with a loop in order.
struct Nest<'s> {
    index: Reg,
    /// The first index; 0 if there is none.
    low: Option<Reg>,
    high: Reg,
    is_parallel: bool,
    /// The body.
    body: &'s [Stmt],
    /// The statements before the inner loop.
    before: &'s [Stmt],
    inner: Inner<'s>,
}

/// The loop at the end of a nest.
#[derive(Clone, Copy)]
struct Inner<'s> {
    label: Label,
    index: Reg,
    low: Reg,
    high: Reg,
    body: &'s [Stmt],
}

impl Nest<'_> {
    fn of(stmt: &Stmt) -> Option<Nest<'_>> {
        let LoopParts { index, low, high, body, item: None } = loop_parts(stmt)? else { return None };
        let (Stmt::For { label, index: column, low: first, high: last, body: rounds }, before) =
            body.split_last()?
        else {
            return None;
        };
        let inner = Inner { label: *label, index: *column, low: *first, high: *last, body: rounds };
        let is_parallel = matches!(stmt, Stmt::ParallelFor { .. });
        Some(Nest { index, low, high, is_parallel, body, before, inner })
    }
}

/// The way in which a nest transposes.
#[derive(Clone, Copy)]
struct Transposition {
    /// True if stores are contiguous by the outer index.
    stores_by_outer: bool,
    /// The rounds that go together.
    copies: u64,
}

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let found = transpositions(kernel);
    if found.is_empty() {
        return;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            let nest = Nest::of(&stmt).and_then(|nest| Some((*found.get(&nest.index)?, nest)));
            match nest {
                Some((transposition, nest)) => out.extend(tiled(kernel, transposition, &nest)),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The outer loops of nests that transpose, by their indices.
fn transpositions(kernel: &Kernel) -> HashMap<Reg, Transposition> {
    let mut forms = Forms::new(kernel);
    let (mut found, mut in_order) = (HashMap::default(), HashSet::default());
    super::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Some(nest) = Nest::of(stmt)
            && let Some(transposition) = transposition(kernel, &mut forms, &nest)
        {
            found.insert(nest.index, transposition);
            if !nest.is_parallel {
                in_order.insert(nest.index);
            }
        }
    });
    if !in_order.is_empty() {
        let independent = independent_loops(kernel, &in_order, false);
        found.retain(|index, _| !in_order.contains(index) || independent.contains(index));
    }
    found
}

/// The way in which a nest transposes, if it does.
fn transposition(kernel: &Kernel, forms: &mut Forms<'_>, nest: &Nest<'_>) -> Option<Transposition> {
    let Nest { index: outer, body, before, inner, .. } = *nest;
    let defined = defined_registers(body);
    let is_varying = |reg: Reg| reg == outer || defined.contains(&reg);
    if inner.body.len() > MAX_STATEMENTS || is_varying(inner.low) || is_varying(inner.high) {
        return None;
    }
    let (mut loads, mut stores, mut stored) = (Vec::new(), Vec::new(), HashSet::default());
    for stmt in inner.body {
        match stmt {
            Stmt::Let(_, Op::Load(array, at, _)) => loads.push((*array, *at)),
            Stmt::Let(_, Op::Call(..)) => return None,
            Stmt::Let(..) => {}
            Stmt::Store(array, at, _) => {
                // Memory of a round is that of the next one, too.
                if matches!(kernel.arrays[*array].origin, Origin::Stack(_) | Origin::ThreadLocal) {
                    return None;
                }
                stored.insert(*array);
                stores.push((*array, *at));
            }
            _ => return None,
        }
    }
    let is_repeatable = |stmt: &Stmt| match stmt {
        Stmt::Let(_, Op::Load(array, ..)) => !stored.contains(array),
        Stmt::Let(_, Op::Call(..)) => false,
        stmt => matches!(stmt, Stmt::Let(..)),
    };
    if !before.iter().all(is_repeatable) {
        return None;
    }
    let mut goes_along = |at: Reg, along: Reg, across: Reg| {
        let form: Affine = forms.of(at);
        form.coefficient(along) == 1 && form.coefficient(across).unsigned_abs() >= MIN_STRIDE
    };
    for (stores_by_outer, along, across) in [(true, outer, inner.index), (false, inner.index, outer)] {
        let store = stores.iter().find(|(_, at)| goes_along(*at, along, across));
        if let Some((array, _)) = store
            && loads.iter().any(|(_, at)| goes_along(*at, across, along))
        {
            let slots = LINE_BYTES / u64::from(kernel.arrays[*array].width).max(1);
            return Some(Transposition { stores_by_outer, copies: slots.clamp(MIN_COPIES, MAX_COPIES) });
        }
    }
    None
}

/// A nest by tiles.
fn tiled(kernel: &mut Kernel, transposition: Transposition, nest: &Nest<'_>) -> Vec<Stmt> {
    let copies = transposition.copies;
    let mut build = Builder::new(kernel);
    let zero = build.int(0);
    let length = if transposition.stores_by_outer { copies } else { STRIP };
    let strips = strip_mined(&mut build, (nest.low.unwrap_or(zero), nest.high), length);
    let mut out = std::mem::take(&mut build.stmts);
    let strip = strips.strip(&mut build);
    let end = build.binary(Binary::Add, strip.base, strip.rounds);
    let rows = (nest.index, strip.base, end);
    if transposition.stores_by_outer {
        let begun = std::mem::take(&mut build.stmts);
        in_order(&mut build, rows, nest.body);
        let few = std::mem::replace(&mut build.stmts, begun);
        let length = build.int(copies as i64);
        let is_whole = build.define(ScalarType::I64, Op::Compare(Compare::Eq, strip.rounds, length));
        let begun = std::mem::take(&mut build.stmts);
        rows_together(&mut build, nest, strip.base, copies);
        let whole = std::mem::replace(&mut build.stmts, begun);
        build.stmts.push(Stmt::If(is_whole, whole, few));
    } else {
        columns_together(&mut build, nest, (strip.base, end), copies);
    }
    let body = std::mem::take(&mut build.stmts);
    let label = build.label();
    out.push(match nest.is_parallel {
        true => Stmt::ParallelFor { index: strips.number, count: strips.count, body },
        false => Stmt::For { label, index: strips.number, low: zero, high: strips.count, body },
    });
    out
}

/// A number `k` beyond another one.
fn beyond(build: &mut Builder<'_>, first: Reg, k: u64) -> Reg {
    let skipped = build.int(k as i64);
    build.binary(Binary::Add, first, skipped)
}

/// Adds rounds of the outer loop as they were.
fn in_order(build: &mut Builder<'_>, (index, low, high): (Reg, Reg, Reg), body: &[Stmt]) {
    let label = build.label();
    let mut copy = Cloner::new(build.kernel);
    let row = copy.fresh(index);
    let body = copy.stmts(body);
    build.stmts.push(Stmt::For { label, index: row, low, high, body });
}

/// Adds so many rounds of the outer loop from `base` on, whose inner loops are one.
fn rows_together(build: &mut Builder<'_>, nest: &Nest<'_>, base: Reg, copies: u64) {
    let mut rows: Vec<Renaming> = Vec::new();
    for k in 0..copies {
        let row = beyond(build, base, k);
        let mut copy = Cloner::new(build.kernel);
        copy.names.regs.insert(nest.index, row);
        let before = copy.stmts(nest.before);
        rows.push(copy.names);
        build.stmts.extend(before);
    }
    let (label, place) = (build.label(), build.reg(ScalarType::I64));
    let mut body = Vec::new();
    for names in rows {
        let mut copy = Cloner { kernel: build.kernel, names };
        copy.names.regs.insert(nest.inner.index, place);
        body.extend(copy.stmts(nest.inner.body));
    }
    let (low, high) = (nest.inner.low, nest.inner.high);
    build.stmts.push(Stmt::For { label, index: place, low, high, body });
}

/// Adds rounds of the outer loop, so many rounds of the inner one at a time.
fn columns_together(build: &mut Builder<'_>, nest: &Nest<'_>, (base, end): (Reg, Reg), copies: u64) {
    let Inner { label, index: column, low, high, body: inner } = nest.inner;
    let (zero, length) = (build.int(0), build.int(copies as i64));
    let rounds = build.rounds(low, high);
    let tiles = build.binary(Binary::DivUnsigned, rounds, length);
    let done = build.binary(Binary::Mul, tiles, length);
    let rest = build.binary(Binary::Add, low, done);
    let begun = std::mem::take(&mut build.stmts);

    let number = build.reg(ScalarType::I64);
    let skipped = build.binary(Binary::Mul, number, length);
    let first = build.binary(Binary::Add, low, skipped);
    let columns: Vec<Reg> = (0..copies).map(|k| beyond(build, first, k)).collect();
    let (row_label, tile_label) = (build.label(), build.label());
    let mut copy = Cloner::new(build.kernel);
    let row = copy.fresh(nest.index);
    let mut in_row = copy.stmts(nest.before);
    for place in columns {
        copy.names.regs.insert(column, place);
        in_row.extend(copy.stmts(inner));
    }
    build.stmts.push(Stmt::For { label: row_label, index: row, low: base, high: end, body: in_row });
    let in_tile = std::mem::replace(&mut build.stmts, begun);
    build.stmts.push(Stmt::For { label: tile_label, index: number, low: zero, high: tiles, body: in_tile });

    let mut rows = nest.before.to_vec();
    rows.push(Stmt::For { label, index: column, low: rest, high, body: inner.to_vec() });
    in_order(build, (nest.index, base, end), &rows);
}
