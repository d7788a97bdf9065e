//! Loops of a few rounds are written out.
//!
//! The sum over the six edges that meet at a vertex, or over the three parts of a point, has few
//! terms: to count them and to keep eight lanes in memory takes longer than to add them. A loop
//! whose ends are constants becomes its rounds, one after the other; a sum in lanes becomes the
//! additions that its lanes would do. A lane starts from a number that changes nothing
//! ([`ReductionOp::identity`](crate::core::reduction::ReductionOp::identity)),
//! so it is left out.
//!
//! Inner loops first, as long as the code stays short ([`MAX_STATEMENTS`]).

use super::super::{Binary, Kernel, Op, Reg, Stmt, Summand, for_each_stmt, identity_bits};
use super::Builder;
use super::clone_stmts::Cloner;
use crate::core::reduction::{LANES, combine_lanes};

/// Rounds of a loop that is written out.
const MAX_TRIP_COUNT: u64 = 16;
/// Statements of all its rounds.
const MAX_STATEMENTS: u64 = 240;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    super::rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match written_out(kernel, &stmt) {
                Some(stmts) => out.extend(stmts),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The rounds of a loop, if it is one to be written out.
fn written_out(kernel: &mut Kernel, stmt: &Stmt) -> Option<Vec<Stmt>> {
    let (index, low, high, own, body) = match stmt {
        Stmt::For { label, index, low, high, body } => (*index, *low, *high, Some(*label), body),
        Stmt::Reduce { index, low, high, body, .. } => (*index, *low, *high, None, body),
        _ => return None,
    };
    let known = |reg: Reg| kernel.constants.get(&reg).copied().filter(|n| *n < 1 << 32);
    let (low, high) = (known(low)?, known(high)?);
    let rounds = high.checked_sub(low).filter(|rounds| (1..=MAX_TRIP_COUNT).contains(rounds))?;
    let (mut statements, mut stays) = (0, true);
    for_each_stmt(body, &mut |stmt| {
        statements += 1;
        stays &= !matches!(stmt, Stmt::Break(label) | Stmt::Continue(label) if Some(*label) == own);
    });
    if !stays || statements * rounds > MAX_STATEMENTS {
        return None;
    }
    let mut build = Builder::new(kernel);
    let mut lanes: [Option<Reg>; LANES] = [None; LANES];
    for round in low..high {
        let at = build.int(round as i64);
        let mut copy = Cloner::new(build.kernel);
        copy.names.regs.insert(index, at);
        let stmts = copy.stmts(body);
        let value = match stmt {
            Stmt::Reduce { item, .. } => Some(item.map(|reg| copy.reg(reg))),
            _ => None,
        };
        build.stmts.extend(stmts);
        if let Some(item) = value {
            let lane = &mut lanes[(round - low) as usize % LANES];
            let op = match (item, *lane) {
                (item, Some(lane)) => item.accumulate(lane),
                (Summand::Value(_, value), None) => {
                    *lane = Some(value);
                    continue;
                }
                (Summand::Product(a, b), None) => Op::Binary(Binary::Mul, a, b),
            };
            *lane = Some(build.define(item.ty(build.kernel), op));
        }
    }
    if let Stmt::Reduce { item, result, .. } = stmt {
        let joining = item.op();
        // The sum has the register of the loop that it replaces, and what lanes start from comes
        // first.
        let sum = combine_lanes(lanes, |a, b| match (a, b) {
            (Some(a), Some(b)) => Some(build.binary(joining.into(), a, b)),
            (a, b) => a.or(b),
        })?;
        let ty = build.kernel.regs[sum];
        let start = build.define(ty, Op::Const(ty, identity_bits(joining, ty)));
        build.stmts.push(Stmt::Let(*result, Op::Binary(joining.into(), start, sum)));
    }
    Some(build.stmts)
}
