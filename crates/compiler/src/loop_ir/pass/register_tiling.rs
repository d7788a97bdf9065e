//! Register tiling: rounds of a sequential loop that add to the same slots go together, so that
//! each slot is loaded and stored once for several of them.
//!
//! ```text
//! for k in low..<high                      for g in 0..<(high - low) / 4
//!   f = b[k]                                 f0 = b[k], f1 = b[k + 1], …    k = low + 4 * g
//!   for j in first..<last           =>       for j in first..<last
//!     a[j] <- a[j] + f * c[k, j]                t = a[j] + f0 * c[k, j]
//!                                               …
//!                                               a[j] <- t + f3 * c[k + 3, j]
//!                                          the rest of the rounds, as they were
//! ```
//!
//! Updates of a matrix by rows, sums of weighted rows and products by loops take three accesses of
//! memory for one product; tiled, they take one and a half (D. Callahan, S. Carr, K. Kennedy,
//! *Improving register allocation for subscripted variables*, 1990: unroll-and-jam with scalar
//! replacement).
//!
//! **Why nothing changes.** The inner loop runs over the same range in all rounds. A slot that it
//! stores into is affine in the inner index and in nothing else that changes
//! ([`Affine`](super::affine::Affine)), so each of its rounds has cells of its own, and all
//! accesses of the array are to these cells. Each cell gets the same operations in the same order.
//! Nothing else that a round does has an effect; where a check fails the results of a kernel are
//! undefined.
//!
//! Costs time in proportion to the statements.

use super::super::{
    Array, Binary, Kernel, Label, Op, Reg, ScalarType, Stmt, defined_registers, for_each_stmt,
};
use super::affine::Forms;
use super::clone_stmts::{Cloner, Renaming};
use super::if_conversion::check;
use super::{Builder, dependents, has_second_name, is_whole, known_rounds, loop_parts, reads_any, rewrite};
use crate::hash::{HashMap, HashSet};

/// Rounds that go together.
const ROUNDS: usize = 4;

/// Statements of an inner loop, at most.
const MAX_STATEMENTS: usize = 24;

/// Rounds of an inner loop, at least, if their number is known.
const MIN_INNER_ROUNDS: i64 = 8;

/// The largest factor of an inner index. Products with differences of indices are below 2^63, so
/// different rounds have different slots.
const MAX_STRIDE: u64 = 1 << 31;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let tiles = tiles(kernel);
    if tiles.is_empty() {
        return;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::For { label, index, low, high, body } if tiles.contains_key(&index) => {
                    tiled(kernel, &tiles[&index], (label, index, low, high), body, &mut out);
                }
                other => out.push(other),
            }
        }
        out
    });
}

/// A slot of an array that an inner loop stores into, up to what is the same in its whole round.
type Cell = (Array, i64);

/// A loop whose rounds go together.
struct Tile {
    /// Registers of the body that are not the same in all rounds of the outer loop.
    varying: HashSet<Reg>,
    /// The constant of each slot number of an array that is stored into.
    cells: HashMap<(Array, Reg), i64>,
}

impl Tile {
    /// The cell of a slot, if its array is stored into.
    fn cell(&self, array: Array, at: Reg) -> Option<Cell> {
        Some((array, *self.cells.get(&(array, at))?))
    }
}

/// The loops to tile, by their indices.
fn tiles(kernel: &Kernel) -> HashMap<Reg, Tile> {
    let mut forms = Forms::new(kernel);
    let mut tiles = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, low, high, body, .. } = stmt
            && known_rounds(&mut forms, Some(*low), *high).is_none_or(|rounds| rounds >= ROUNDS as i64)
            && let Some(tile) = tile(kernel, &mut forms, *index, body)
        {
            tiles.insert(*index, tile);
        }
    });
    tiles
}

/// The tile of a loop, if its rounds may go together.
fn tile(kernel: &Kernel, forms: &mut Forms<'_>, index: Reg, body: &[Stmt]) -> Option<Tile> {
    let (last, before) = body.split_last()?;
    let inner = loop_parts(last).filter(|inner| inner.item.is_none())?;
    if known_rounds(forms, inner.low, inner.high).is_some_and(|rounds| rounds < MIN_INNER_ROUNDS) {
        return None;
    }
    if inner.body.len() > MAX_STATEMENTS || !before.iter().all(computes) {
        return None;
    }
    if !inner.body.iter().all(|stmt| computes(stmt) || matches!(stmt, Stmt::Store(..))) {
        return None;
    }
    let stored: HashSet<Array> = inner.body.iter().flat_map(Stmt::written_arrays).collect();
    let reads_stored =
        |stmt: &Stmt| matches!(stmt, Stmt::Let(_, Op::Load(array, ..)) if stored.contains(array));
    if stored.is_empty()
        || stored.iter().any(|array| has_second_name(kernel, *array))
        || before.iter().any(reads_stored)
    {
        return None;
    }
    let loads = inner.body.iter().filter_map(|stmt| match stmt {
        Stmt::Let(reg, _) if reads_stored(stmt) => Some(*reg),
        _ => None,
    });
    let roots = loads.chain([index]).collect();
    let varying = dependents(roots, before.iter().chain(inner.body));
    if inner.low.is_some_and(|low| varying.contains(&low)) || varying.contains(&inner.high) {
        return None;
    }
    let own = defined_registers(inner.body);
    let is_same = |reg: &Reg| !varying.contains(reg) && !own.contains(reg);
    let mut cells = HashMap::default();
    // The terms of the slots of each array, and the factor of the inner index.
    let mut terms: HashMap<Array, (Vec<(Reg, i64)>, i64)> = HashMap::default();
    for stmt in inner.body {
        let (array, at, value) = match stmt {
            Stmt::Let(reg, Op::Load(array, at, _)) if stored.contains(array) => (*array, *at, *reg),
            Stmt::Store(array, at, value) => (*array, *at, *value),
            _ => continue,
        };
        let form = forms.of(at);
        let stride = form.terms.iter().find(|(reg, _)| *reg == inner.index)?.1;
        let is_own = stride.unsigned_abs() <= MAX_STRIDE
            && form.terms.iter().all(|(reg, _)| *reg == inner.index || is_same(reg));
        if !is_whole(kernel, array, value)
            || !is_own
            || terms.entry(array).or_insert_with(|| (form.terms.clone(), stride)).0 != form.terms
        {
            return None;
        }
        cells.insert((array, at), form.constant);
    }
    // Rounds that are apart by a whole number of strides would have a cell together.
    let is_apart = |((array, _), constant): (&(Array, Reg), &i64)| {
        let stride = terms[array].1;
        cells.iter().all(|((other, _), number)| {
            other != array || number == constant || number.wrapping_sub(*constant).wrapping_rem(stride) != 0
        })
    };
    cells.iter().all(is_apart).then_some(Tile { varying, cells })
}

/// Returns true for a statement without an effect: a definition that reads no variable, or a check.
fn computes(stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let(_, op) => !matches!(op, Op::Get(_)),
        _ => check(stmt).is_some(),
    }
}

/// Appends a loop by tiles, and the rounds that are left.
fn tiled(
    kernel: &mut Kernel,
    tile: &Tile,
    (label, index, low, high): (Label, Reg, Reg, Reg),
    mut body: Vec<Stmt>,
    out: &mut Vec<Stmt>,
) {
    let mut build = Builder::new(kernel);
    let rounds = build.rounds(low, high);
    let (zero, together) = (build.int(0), build.int(ROUNDS as i64));
    let groups = build.binary(Binary::DivUnsigned, rounds, together);
    let in_groups = build.binary(Binary::Mul, groups, together);
    let rest = build.binary(Binary::Add, low, in_groups);
    out.append(&mut build.stmts);

    let group = build.reg(ScalarType::I64);
    let skipped = build.binary(Binary::Mul, group, together);
    let base = build.binary(Binary::Add, low, skipped);
    let mut copies: Vec<Renaming> = Vec::new();
    for round in 0..ROUNDS {
        let number = build.int(round as i64);
        let mut names = Renaming::default();
        names.regs.insert(index, build.binary(Binary::Add, base, number));
        copies.push(names);
    }
    let mut tiled_body = std::mem::take(&mut build.stmts);

    let inner = body.pop().expect("a loop ends with the inner one");
    for round in 0..ROUNDS {
        copied(kernel, tile, &body, &mut copies, round, &mut |stmt| tiled_body.push(stmt));
    }
    tiled_body.push(joined(kernel, tile, &inner, copies));
    body.push(inner);
    let inside = kernel.new_label();
    out.push(Stmt::For { label: inside, index: group, low: zero, high: groups, body: tiled_body });
    out.push(Stmt::For { label, index, low: rest, high, body });
}

/// Copies statements for a round. What is the same in all rounds is copied for the first one.
fn copied(
    kernel: &mut Kernel,
    tile: &Tile,
    stmts: &[Stmt],
    copies: &mut [Renaming],
    round: usize,
    push: &mut dyn FnMut(Stmt),
) {
    for stmt in stmts {
        let is_same = match stmt {
            Stmt::Let(reg, _) => !tile.varying.contains(reg),
            Stmt::Store(..) => false,
            _ => !reads_any(stmt, &tile.varying),
        };
        if is_same && round > 0 {
            if let Stmt::Let(reg, _) = stmt {
                let first = copies[0].reg(*reg);
                copies[round].regs.insert(*reg, first);
            }
            continue;
        }
        let mut copy = Cloner { kernel, names: std::mem::take(&mut copies[round]) };
        let mut new = Vec::new();
        copy.stmt(stmt, &mut new);
        copies[round] = copy.names;
        new.into_iter().for_each(&mut *push);
    }
}

/// The inner loop for all rounds: a cell is loaded for the first and stored by the last of them.
fn joined(kernel: &mut Kernel, tile: &Tile, inner: &Stmt, mut copies: Vec<Renaming>) -> Stmt {
    let parts = loop_parts(inner).expect("a loop");
    let together = kernel.regs.push(ScalarType::I64);
    for names in &mut copies {
        names.regs.insert(parts.index, together);
    }
    let mut current: HashMap<Cell, Reg> = HashMap::default();
    let mut body = Vec::new();
    for round in 0..ROUNDS {
        for stmt in parts.body {
            match stmt {
                Stmt::Let(reg, Op::Load(array, at, _))
                    if let Some(value) = tile.cell(*array, *at).and_then(|cell| current.get(&cell)) =>
                {
                    copies[round].regs.insert(*reg, *value);
                    continue;
                }
                Stmt::Store(array, at, value) => {
                    let cell = tile.cell(*array, *at).expect("a store into a cell");
                    current.insert(cell, copies[round].reg(*value));
                    if round + 1 < ROUNDS {
                        continue;
                    }
                }
                _ => {}
            }
            copied(kernel, tile, std::slice::from_ref(stmt), &mut copies, round, &mut |stmt| body.push(stmt));
        }
    }
    let reg = |reg: &Reg| copies[0].reg(*reg);
    match inner {
        Stmt::For { low, high, .. } => {
            let (low, high) = (reg(low), reg(high));
            Stmt::For { label: kernel.new_label(), index: together, low, high, body }
        }
        Stmt::ParallelFor { count, .. } => Stmt::ParallelFor { index: together, count: reg(count), body },
        other => unreachable!("a loop over an index: {other:?}"),
    }
}
