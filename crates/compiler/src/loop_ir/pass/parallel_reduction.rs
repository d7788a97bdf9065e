//! Parallel reductions: a loop in order that only accumulates, by operations whose results do not
//! depend on the grouping of their operands, is cut into pieces that run at the same time.
//!
//! ```text
//!                                    parallel for p < 64
//! for i in low..<high                  t := 0
//!   v := v + a[i]              =>      for i in low + p * s ..< min(low + p * s + s, high)
//!                                        t := t + a[i]
//!                                      b[p] <- t
//!                                    for p in 0..<64
//!                                      v := v + b[p]
//! ```
//!
//! **Why nothing changes.** The operations are those of
//! [`accumulator`](super::super::accumulator): sums, products and bits of integers, and extremes,
//! in every bit (reduction recurrences; Allen and Kennedy, *Optimizing compilers for modern
//! architectures*, 2001, 5.6). Variables that keep the first best of the rounds are those of
//! [`selection`](super::super::selection): their pieces begin with what they hold before the loop,
//! and are joined by the comparison of the loop. Sums of floats stay in order. The body has no other
//! effect.
//!
//! **Which.** Loops in no parallel loop that are estimated to take long enough.
//!
//! Costs a copy of the body.

use super::super::accumulator::{Accumulator, AccumulatorOp, accumulators_among};
use super::super::cost::loop_costs;
use super::super::selection::{Selection, selections};
use super::super::{Array, Binary, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt, Var};
use super::clone_stmts::Cloner;
use super::parallel_level::MIN_PARALLEL_NS;
use super::{Builder, Position, rewrite};
use crate::hash::HashSet;

/// Pieces of a loop.
const PIECES: u64 = 64;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let costs = loop_costs(kernel);
    rewrite(kernel, &mut |kernel, stmts, position| {
        let mut out = Vec::new();
        for stmt in stmts {
            let long = |index: &Reg| costs.get(index).is_some_and(|ns| *ns >= MIN_PARALLEL_NS);
            let found = match &stmt {
                Stmt::For { index, body, .. } if position != Position::Parallel && long(index) => {
                    Reductions::of(kernel, *index, body)
                }
                _ => None,
            };
            match found {
                Some(found) => out.extend(in_pieces(kernel, stmt, &found)),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The variables of a loop that does nothing but reduce.
struct Reductions {
    accumulators: Vec<Accumulator>,
    selections: Vec<Selection>,
}

impl Reductions {
    fn of(kernel: &Kernel, index: Reg, body: &[Stmt]) -> Option<Reductions> {
        if !body.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..))) {
            return None;
        }
        let accumulators = accumulators_among(kernel, body);
        let selections = selections(kernel, (index, body), &accumulators)?;
        (!accumulators.is_empty() || !selections.is_empty())
            .then_some(Reductions { accumulators, selections })
    }
}

/// A variable of a piece, and the array of its values at the ends of all pieces.
struct Piecewise {
    whole: Var,
    piece: Var,
    ends: Array,
    ty: ScalarType,
}

/// A loop in pieces, and the loop that joins their results.
fn in_pieces(kernel: &mut Kernel, stmt: Stmt, found: &Reductions) -> Vec<Stmt> {
    let Stmt::For { label, index, low, high, body } = stmt else { return vec![stmt] };
    let mut piecewise = |whole: Var| {
        let ty = kernel.vars[whole];
        let ends = kernel.add_array(Origin::Scratch, ty.bytes() as u8, PIECES);
        Piecewise { whole, piece: kernel.vars.push(ty), ends, ty }
    };
    let totals: Vec<Piecewise> = found.accumulators.iter().map(|one| piecewise(one.var)).collect();
    let selected = found.selections.iter().flat_map(|one| &one.members);
    let selected: Vec<Piecewise> = selected.map(|(var, _)| piecewise(*var)).collect();
    let mut build = Builder::new(kernel);
    let rounds = build.rounds(low, high);
    let (more, pieces, zero) = (build.int(PIECES as i64 - 1), build.int(PIECES as i64), build.int(0));
    let padded = build.binary(Binary::Add, rounds, more);
    let length = build.binary(Binary::DivUnsigned, padded, pieces);
    let front = std::mem::take(&mut build.stmts);

    let piece = build.reg(ScalarType::I64);
    let skipped = build.binary(Binary::Mul, piece, length);
    let from = build.binary(Binary::Add, low, skipped);
    let end = build.binary(Binary::Add, from, length);
    let to = build.min(end, high);
    for (total, var) in found.accumulators.iter().zip(&totals) {
        let identity = build.define(total.ty, Op::Const(total.ty, total.join.identity(total.ty)));
        build.stmts.push(Stmt::Set(var.piece, identity));
    }
    for var in &selected {
        let before = build.define(var.ty, Op::Get(var.whole));
        build.stmts.push(Stmt::Set(var.piece, before));
    }
    let mut copy = Cloner::new(build.kernel);
    copy.names.vars.extend(totals.iter().chain(&selected).map(|var| (var.whole, var.piece)));
    let place = copy.fresh(index);
    let inside = copy.stmts(&body);
    build.stmts.push(Stmt::For { label, index: place, low: from, high: to, body: inside });
    for var in totals.iter().chain(&selected) {
        let value = build.define(var.ty, Op::Get(var.piece));
        build.stmts.push(Stmt::Store(var.ends, piece, value));
    }
    let in_piece = std::mem::take(&mut build.stmts);

    let number = build.reg(ScalarType::I64);
    for (total, var) in found.accumulators.iter().zip(&totals) {
        let before = build.define(var.ty, Op::Get(var.whole));
        let part = build.define(var.ty, Op::Load(var.ends, number, var.ty));
        let joined = join(&mut build, total.join, before, part);
        build.stmts.push(Stmt::Set(var.whole, joined));
    }
    let mut left = &selected[..];
    for selection in &found.selections {
        let (members, others) = left.split_at(selection.members.len());
        join_selection(&mut build, selection, members, (number, &body));
        left = others;
    }
    let label = build.label();
    let joining = std::mem::replace(&mut build.stmts, front);
    build.stmts.push(Stmt::ParallelFor { index: piece, count: pieces, body: in_piece });
    // The variables of a selection have a key only where there is a round.
    let with_rounds = if selected.is_empty() { pieces } else { build.min(rounds, pieces) };
    build.stmts.push(Stmt::For { label, index: number, low: zero, high: with_rounds, body: joining });
    build.stmts
}

/// Sets variables to those of the piece `number`, if its key is beyond theirs.
fn join_selection(
    build: &mut Builder<'_>,
    selection: &Selection,
    members: &[Piecewise],
    (number, body): (Reg, &[Stmt]),
) {
    let slice = slice(body, selection.held);
    let held: Vec<Reg> = members.iter().map(|var| build.define(var.ty, Op::Get(var.whole))).collect();
    let ends: Vec<Reg> =
        members.iter().map(|var| build.define(var.ty, Op::Load(var.ends, number, var.ty))).collect();
    let [old, new] = [&held, &ends].map(|values| {
        let mut copy = Cloner::new(build.kernel);
        for (reg, op) in slice.iter().filter_map(Stmt::as_definition) {
            if let Op::Get(read) = op
                && let Some(at) = members.iter().position(|var| var.whole == *read)
            {
                copy.names.known_registers.insert(reg, values[at]);
            }
        }
        let computing = copy.stmts(&slice);
        let key = copy.reg(selection.held);
        build.stmts.extend(computing);
        key
    });
    let (first, second) = if selection.max { (old, new) } else { (new, old) };
    let replaces = build.define(ScalarType::I64, Op::Compare(selection.compare, first, second));
    for ((var, held), end) in members.iter().zip(held).zip(ends) {
        let joined = build.define(var.ty, Op::Select(replaces, end, held));
        build.stmts.push(Stmt::Set(var.whole, joined));
    }
}

/// The definitions of a body that a register is computed by.
fn slice(body: &[Stmt], reg: Reg) -> Vec<Stmt> {
    let mut needed = HashSet::from_iter([reg]);
    let mut slice = Vec::new();
    for stmt in body.iter().rev() {
        if stmt.as_definition().is_some_and(|(reg, _)| needed.contains(&reg)) {
            stmt.for_each_reg(&mut |operand| needed.extend([operand]));
            slice.push(stmt.clone());
        }
    }
    slice.reverse();
    slice
}

/// A number joined to another one.
fn join(build: &mut Builder<'_>, op: AccumulatorOp, a: Reg, b: Reg) -> Reg {
    match op {
        AccumulatorOp::Binary(kind) => build.binary(kind, a, b),
        AccumulatorOp::Extreme { max, unsigned } => {
            let less = if unsigned { Compare::LtUnsigned } else { Compare::Lt };
            let (first, second) = if max { (a, b) } else { (b, a) };
            let replaces = build.define(ScalarType::I64, Op::Compare(less, first, second));
            let ty = build.kernel.regs[a];
            build.define(ty, Op::Select(replaces, b, a))
        }
    }
}
