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
//! architectures*, 2001, 5.6). Sums of floats stay in order. The body has no other effect.
//!
//! **Which.** Loops in no parallel loop that are estimated to take long enough.
//!
//! Costs a copy of the body.

use super::super::accumulator::{Accumulator, AccumulatorOp, accumulators};
use super::super::cost::loop_costs;
use super::super::{Binary, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt};
use super::clone_stmts::Cloner;
use super::parallel_level::MIN_PARALLEL_NS;
use super::{Builder, Position, rewrite};

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
                    sole_accumulators(kernel, body)
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

/// The variables of a loop that does nothing but accumulate.
fn sole_accumulators(kernel: &Kernel, body: &[Stmt]) -> Option<Vec<Accumulator>> {
    let computes = |stmt: &Stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..));
    let found = if body.iter().all(computes) { accumulators(kernel, body)? } else { return None };
    (!found.is_empty()).then_some(found)
}

/// A loop in pieces, and the loop that joins their results.
fn in_pieces(kernel: &mut Kernel, stmt: Stmt, found: &[Accumulator]) -> Vec<Stmt> {
    let Stmt::For { label, index, low, high, body } = stmt else { return vec![stmt] };
    let results: Vec<_> = found
        .iter()
        .map(|total| {
            let var = kernel.vars.push(total.ty);
            (var, kernel.add_array(Origin::Scratch, total.ty.bytes() as u8, PIECES))
        })
        .collect();
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
    for (total, (var, _)) in found.iter().zip(&results) {
        let identity = build.define(total.ty, Op::Const(total.ty, total.join.identity(total.ty)));
        build.stmts.push(Stmt::Set(*var, identity));
    }
    let mut copy = Cloner::new(build.kernel);
    copy.names.vars.extend(found.iter().zip(&results).map(|(total, (var, _))| (total.var, *var)));
    let place = copy.fresh(index);
    let inside = copy.stmts(&body);
    build.stmts.push(Stmt::For { label, index: place, low: from, high: to, body: inside });
    for (total, (var, array)) in found.iter().zip(&results) {
        let value = build.define(total.ty, Op::Get(*var));
        build.stmts.push(Stmt::Store(*array, piece, value));
    }
    let in_piece = std::mem::take(&mut build.stmts);

    let number = build.reg(ScalarType::I64);
    for (total, (_, array)) in found.iter().zip(&results) {
        let before = build.define(total.ty, Op::Get(total.var));
        let part = build.define(total.ty, Op::Load(*array, number, total.ty));
        let joined = join(&mut build, total.join, before, part);
        build.stmts.push(Stmt::Set(total.var, joined));
    }
    let label = build.label();
    let joining = std::mem::replace(&mut build.stmts, front);
    build.stmts.push(Stmt::ParallelFor { index: piece, count: pieces, body: in_piece });
    build.stmts.push(Stmt::For { label, index: number, low: zero, high: pieces, body: joining });
    build.stmts
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
