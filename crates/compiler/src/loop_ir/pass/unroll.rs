//! Loops of a few rounds are written out.
//!
//! The sum over the six edges that meet at a vertex, or over the three parts of a point, has few
//! terms: to count them and to keep eight lanes in memory takes longer than to add them. A loop
//! whose ends are known becomes its rounds, one after the other; a sum in lanes becomes the
//! additions that its lanes would do. A lane starts from a number that changes nothing
//! ([`ReductionOp::identity`](crate::core::reduction::ReductionOp::identity)),
//! so it is left out. A loop of no rounds goes.
//!
//! Inner loops first, as long as the code stays short. Of a loop that accumulates what counts is
//! what is left when indices have become constants: most of the slot numbers of a window are folded
//! or computed once ([`simplify`](super::simplify)). One of more than [`MAX_TRIP_COUNT`] rounds is
//! written out where that removes divisions, comparisons and choices of its index; a sum of numbers
//! that lie side by side goes by vectors.

use super::super::{Binary, Kernel, Op, Reg, ScalarType, Stmt, Summand, for_each_stmt, identity_bits};
use super::Builder;
use super::clone_stmts::Cloner;
use super::simplify::simplify_stmts;
use crate::core::reduction::{LANES, combine_lanes};
use crate::hash::HashMap;

/// Rounds of a loop that is written out.
const MAX_TRIP_COUNT: u64 = 16;
/// Statements of all rounds of a loop that stores: without being written out it goes by vectors.
const MAX_STORING_STATEMENTS: u64 = 240;
/// Rounds of an accumulation whose indices have to be computed.
const MAX_WINDOW_TRIP_COUNT: u64 = 64;
/// Statements of all rounds of an accumulation, simplified.
const MAX_STATEMENTS: usize = 600;
/// Statements of all its rounds as they are written out.
const MAX_COPIED_STATEMENTS: u64 = 4_000;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    // Other sizes have code of their own where loops over them are written out.
    let mut sizes: HashMap<Reg, u64> = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(reg, Op::Size(n)) = stmt {
            sizes.insert(*reg, kernel.sizes[*n as usize]);
        }
    });
    super::rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match written_out(kernel, &stmt, &sizes) {
                Some(stmts) => out.extend(stmts),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The rounds of a loop, if it is one to be written out.
fn written_out(kernel: &mut Kernel, stmt: &Stmt, sizes: &HashMap<Reg, u64>) -> Option<Vec<Stmt>> {
    let (index, low, high, own, body) = match stmt {
        Stmt::For { label, index, low, high, body } => (*index, *low, *high, Some(*label), body),
        Stmt::Reduce { index, low, high, body, .. } => (*index, *low, *high, None, body),
        _ => return None,
    };
    let known = |reg: Reg| -> Option<i64> {
        let bits = kernel.constants.get(&reg).or_else(|| sizes.get(&reg))?;
        Some(*bits as i64).filter(|n| n.unsigned_abs() < 1 << 32)
    };
    let (low, high) = (known(low)?, known(high)?);
    if high <= low && own.is_some() {
        return Some(Vec::new());
    }
    let rounds =
        u64::try_from(high - low).ok().filter(|rounds| (1..=MAX_WINDOW_TRIP_COUNT).contains(rounds))?;
    let (mut statements, mut stays) = (0, true);
    let (mut stores, mut leaves, mut computes_indices) = (false, false, false);
    for_each_stmt(body, &mut |stmt| {
        statements += 1;
        stores |= match stmt {
            // A slot that is known may become a variable.
            Stmt::Store(_, at, _) => !kernel.constants.contains_key(at),
            Stmt::Swap(..) | Stmt::Grow(..) | Stmt::Gemm(_) | Stmt::Sort(_) | Stmt::Call(_) => true,
            _ => false,
        };
        computes_indices |= match stmt {
            Stmt::Let(_, Op::Compare(_, a, _) | Op::Select(_, a, _)) => kernel.regs[*a] == ScalarType::I64,
            Stmt::Let(_, Op::Binary(op, a, _)) => {
                kernel.regs[*a] == ScalarType::I64 && op.is_integer_division()
            }
            _ => false,
        };
        leaves |= matches!(stmt, Stmt::Break(_) | Stmt::Continue(_));
        stays &= !matches!(stmt, Stmt::Break(label) | Stmt::Continue(label) if Some(*label) == own);
    });
    let most = if stores { MAX_STORING_STATEMENTS } else { MAX_COPIED_STATEMENTS };
    let is_short = rounds <= MAX_TRIP_COUNT || computes_indices && !stores && !leaves;
    if !stays || !is_short || statements * rounds > most {
        return None;
    }
    let mut build = Builder::new(kernel);
    let mut lanes: [Option<Reg>; LANES] = [None; LANES];
    for round in low..high {
        let at = build.int(round);
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
    let stmts = std::mem::take(&mut build.stmts);
    let wanted = match stmt {
        Stmt::Reduce { result, .. } => Some(*result),
        _ => None,
    };
    let stmts = simplify_stmts(kernel, stmts, wanted);
    let mut left = 0;
    for_each_stmt(&stmts, &mut |stmt| left += usize::from(!matches!(stmt, Stmt::Let(_, Op::Const(..)))));
    (left <= MAX_STATEMENTS).then_some(stmts)
}
