//! Loops of a few rounds are written out.
//!
//! The sum over the six edges that meet at a vertex, or over the three parts of a point, has few terms: to count them and to
//! keep eight lanes in memory takes longer than to add them. A loop whose ends are constants becomes its rounds, one after
//! the other; a sum in lanes becomes the additions that its lanes would do. A lane starts from a number that changes nothing
//! ([`Joining::neutral`](super::super::Joining)), so it is left out.
//!
//! Inner loops first, as long as the code stays short ([`LONGEST`]).

use super::super::{Binary, Item, Nest, Op, Reg, Stmt, for_each_stmt};
use super::Build;
use super::copy::Copy;
use crate::core::reduction::{LANES, tree};

/// Rounds of a loop that is written out.
const ROUNDS: u64 = 16;
/// Statements of all its rounds.
const LONGEST: u64 = 240;

/// Runs the pass.
pub(super) fn run(nest: &mut Nest) {
    super::rewrite(nest, &mut |nest, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match written_out(nest, &stmt) {
                Some(stmts) => out.extend(stmts),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The rounds of a loop, if it is one to be written out.
fn written_out(nest: &mut Nest, stmt: &Stmt) -> Option<Vec<Stmt>> {
    let (index, low, high, own, body) = match stmt {
        Stmt::For { label, index, low, high, body } => (*index, *low, *high, Some(*label), body),
        Stmt::Total { index, low, high, body, .. } => (*index, *low, *high, None, body),
        _ => return None,
    };
    let known = |reg: Reg| nest.constants.get(&reg).copied().filter(|n| *n < 1 << 32);
    let (low, high) = (known(low)?, known(high)?);
    let rounds = high.checked_sub(low).filter(|rounds| (1..=ROUNDS).contains(rounds))?;
    let (mut statements, mut stays) = (0, true);
    for_each_stmt(body, &mut |stmt| {
        statements += 1;
        stays &= !matches!(stmt, Stmt::Break(label) | Stmt::Continue(label) if Some(*label) == own);
    });
    if !stays || statements * rounds > LONGEST {
        return None;
    }
    let mut build = Build::new(nest);
    let mut lanes: [Option<Reg>; LANES] = [None; LANES];
    for round in low..high {
        let at = build.int(round as i64);
        let mut copy = Copy::new(build.nest);
        copy.names.regs.insert(index, at);
        let stmts = copy.stmts(body);
        let value = match stmt {
            Stmt::Total { item, .. } => Some(item.map(|reg| copy.reg(reg))),
            _ => None,
        };
        build.stmts.extend(stmts);
        if let Some(item) = value {
            let lane = &mut lanes[(round - low) as usize % LANES];
            let op = match (item, *lane) {
                (item, Some(lane)) => item.taken(lane),
                (Item::One(_, value), None) => {
                    *lane = Some(value);
                    continue;
                }
                (Item::Product(a, b), None) => Op::Binary(Binary::Mul, a, b),
            };
            *lane = Some(build.set(item.ty(build.nest), op));
        }
    }
    if let Stmt::Total { item, result, .. } = stmt {
        let joining = item.joining();
        // The sum has the register of the loop that it replaces, and what lanes start from comes first.
        let sum = tree(lanes, |a, b| match (a, b) {
            (Some(a), Some(b)) => Some(build.binary(joining.into(), a, b)),
            (a, b) => a.or(b),
        })?;
        let ty = build.nest.regs[sum as usize];
        let start = build.set(ty, Op::Const(ty, ty.bits_of(joining.neutral())));
        build.stmts.push(Stmt::Let(*result, Op::Binary(joining.into(), start, sum)));
    }
    Some(build.stmts)
}
