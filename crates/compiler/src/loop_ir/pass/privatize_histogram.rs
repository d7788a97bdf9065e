//! Histogram into bins by several at once.
//!
//! ```text
//! for i in low..<high             each p < PARTITIONS
//!   … k, n …                        bins of p := 0
//!   a[k] <- a[k] + n         ⟶      for i in the p-th part of low..<high
//!                                     … k, n …
//!                                     bins of p [k] <- bins of p [k] + n
//!                                 each b < slots of a
//!                                   a[b] <- a[b] + the b-th bins of all p
//! ```
//!
//! Integers are added in any order with the same result; floats are not, so loops that add these
//! stay. The loop stands at the top, its body does nothing else but compute, and nothing it reads
//! is `a` otherwise. It must be long enough that the bins of all parts are little beside it.

use super::super::{Array, ArrayInfo, Binary, Kernel, Op, Origin, Reg, ScalarType, Stmt};
use super::clone_stmts::Cloner;
use super::{Builder, Position, rewrite};
use crate::hash::HashMap;

/// Parts of a loop, each with bins of its own.
const PARTITIONS: u64 = 16;

/// Rounds of the shortest loop that is cut.
const MIN_ITERATIONS: u64 = 1 << 17;

/// Rounds for each bin.
const MIN_ITERATIONS_PER_BIN: u64 = 4;

/// Cuts loops that count.
pub fn run(kernel: &mut Kernel) {
    rewrite(kernel, &mut |kernel, stmts, position| {
        if position != Position::TopLevel {
            return stmts;
        }
        let mut sizes: HashMap<Reg, u64> = HashMap::default();
        let mut out = Vec::new();
        for stmt in stmts {
            match &stmt {
                Stmt::Let(reg, Op::Const(ScalarType::I64, n)) => {
                    sizes.insert(*reg, *n);
                }
                Stmt::Let(reg, Op::Size(n)) => {
                    sizes.insert(*reg, kernel.sizes[*n as usize]);
                }
                _ => {}
            }
            match privatize(kernel, &stmt, &sizes) {
                Some(parts) => out.extend(parts),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// A body that adds to a bin.
struct Histogram {
    array: Array,
    at: Reg,
    /// The type of the numbers.
    ty: ScalarType,
    /// The statement that reads the slot.
    read: usize,
}

/// A body that adds to one slot of one array.
fn match_histogram(kernel: &Kernel, body: &[Stmt]) -> Option<Histogram> {
    let mut ops: HashMap<Reg, &Op> = HashMap::default();
    let mut store = None;
    for stmt in body {
        match stmt {
            Stmt::Let(reg, op) if store.is_none() && !matches!(op, Op::Get(_)) => {
                ops.insert(*reg, op);
            }
            Stmt::Store(array, at, value) if store.is_none() => store = Some((*array, *at, *value)),
            _ => return None,
        }
    }
    let (array, at, value) = store?;
    let Op::Binary(Binary::Add, a, b) = ops.get(&value)? else { return None };
    let ty = kernel.regs[value];
    if ty.is_float() {
        return None;
    }
    // Of the two, one is the slot itself; and that is all that is read of the array.
    let is_slot =
        |reg: &Reg| matches!(ops.get(reg), Some(Op::Load(from, place, _)) if (*from, *place) == (array, at));
    let (slot, number) = if is_slot(a) { (*a, *b) } else { (*b, *a) };
    let others = ops.iter().filter(|(reg, _)| **reg != slot);
    let reads = |reg: &Reg| matches!(ops[reg], Op::Load(from, ..) if *from == array);
    let elsewhere = others.clone().any(|(reg, _)| reads(reg));
    let mut used = 0;
    ops.values().for_each(|op| op.for_each_reg(&mut |reg| used += usize::from(reg == slot)));
    if !is_slot(&slot) || number == slot || elsewhere || used != 1 {
        return None;
    }
    let read = body.iter().position(|stmt| matches!(stmt, Stmt::Let(reg, _) if *reg == slot))?;
    Some(Histogram { array, at, ty, read })
}

fn privatize(kernel: &mut Kernel, stmt: &Stmt, sizes: &HashMap<Reg, u64>) -> Option<Vec<Stmt>> {
    let Stmt::For { index, low, high, body, .. } = stmt else { return None };
    let rounds = sizes.get(high)?.saturating_sub(*sizes.get(low)?);
    let Histogram { array, at, ty, read } = match_histogram(kernel, body)?;
    let bins = kernel.slots[array];
    if rounds < MIN_ITERATIONS || rounds / MIN_ITERATIONS_PER_BIN < bins.saturating_mul(PARTITIONS) {
        return None;
    }
    let ArrayInfo { width, .. } = kernel.arrays[array];
    let copies = kernel.add_array(Origin::Scratch, width, bins * PARTITIONS);
    kernel.sizes.push(bins);
    let bins_size = kernel.sizes.len() as u32 - 1;

    let mut build = Builder::new(kernel);
    let (count, bins) = (build.int(PARTITIONS as i64), build.define(ScalarType::I64, Op::Size(bins_size)));
    let all = build.binary(Binary::Sub, *high, *low);
    let rest = build.int(PARTITIONS as i64 - 1);
    let padded = build.binary(Binary::Add, all, rest);
    let each = build.binary(Binary::DivUnsigned, padded, count);
    let part = build.reg(ScalarType::I64);
    let front = std::mem::take(&mut build.stmts);

    let base = build.binary(Binary::Mul, part, bins);
    let end = build.binary(Binary::Add, base, bins);
    let nothing = build.define(ty, Op::Const(ty, 0));
    let (bin, label) = (build.reg(ScalarType::I64), build.label());
    let clear = vec![Stmt::Store(copies, bin, nothing)];
    build.stmts.push(Stmt::For { label, index: bin, low: base, high: end, body: clear });
    let skipped = build.binary(Binary::Mul, part, each);
    let from = build.binary(Binary::Add, *low, skipped);
    let from = build.min(from, *high);
    let to = build.binary(Binary::Add, from, each);
    let to = build.min(to, *high);
    let label = build.label();
    let mut copy = Cloner::new(build.kernel);
    let own = copy.fresh(*index);
    let mut inside = copy.stmts(body);
    let at_own = copy.reg(at);
    let slot = build.reg(ScalarType::I64);
    for stmt in &mut inside {
        match stmt {
            Stmt::Let(_, Op::Load(a, at, _)) | Stmt::Store(a, at, _) if *a == array => {
                (*a, *at) = (copies, slot);
            }
            _ => {}
        }
    }
    inside.insert(read, Stmt::Let(slot, Op::Binary(Binary::Add, base, at_own)));
    build.stmts.push(Stmt::For { label, index: own, low: from, high: to, body: inside });
    let counted = std::mem::replace(&mut build.stmts, front);
    build.stmts.push(Stmt::ParallelFor { index: part, count, body: counted });

    let bin = build.reg(ScalarType::I64);
    let front = std::mem::take(&mut build.stmts);
    let mut sum = build.define(ty, Op::Load(array, bin, ty));
    let mut slot = bin;
    for copy in 0..PARTITIONS {
        if copy > 0 {
            slot = build.binary(Binary::Add, slot, bins);
        }
        let number = build.define(ty, Op::Load(copies, slot, ty));
        sum = build.binary(Binary::Add, sum, number);
    }
    build.stmts.push(Stmt::Store(array, bin, sum));
    let joined = std::mem::replace(&mut build.stmts, front);
    build.stmts.push(Stmt::ParallelFor { index: bin, count: bins, body: joined });
    Some(build.stmts)
}
