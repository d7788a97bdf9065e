//! Loops of a few rounds are written out.
//!
//! The sum over the six edges that meet at a vertex, or over the three parts of a point, has few
//! terms: to count them and to keep eight lanes in memory takes longer than to add them. A loop
//! whose ends are known becomes its rounds, one after the other; a sum in lanes becomes the
//! additions that its lanes would do. A lane starts from a number that changes nothing
//! ([`ReductionOp::identity`](crate::core::reduction::ReductionOp::identity)),
//! so it is left out. A loop of no rounds goes.
//!
//! Inner loops first, as long as the code stays short; then those whose ends were indices of a loop
//! around them. Of a loop that accumulates what counts is what is left when indices have become
//! constants: most of the slot numbers of a window are folded or computed once
//! ([`simplify`](super::simplify)). One of more than [`MAX_TRIP_COUNT`] rounds is written out where that removes divisions, comparisons and choices of its index; a sum of numbers
//! that lie side by side goes by vectors.

use super::super::{
    Binary, Kernel, Op, Origin, Reg, ScalarType, Stmt, Summand, for_each_stmt, identity_bits,
};
use super::Builder;
use super::clone_stmts::Cloner;
use super::simplify::simplify_stmts;
use crate::core::reduction::{LANES, combine_lanes};
use crate::hash::{HashMap, HashSet};

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
/// Statements that loops inside a loop that is written out become, in total.
const MAX_NESTED_STATEMENTS: usize = 2_400;

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
                Some(stmts) => {
                    let mut left = MAX_NESTED_STATEMENTS;
                    out.extend(unrolled(kernel, stmts, &sizes, &mut left));
                }
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The rounds of a loop, with the loops in them written out whose ends have become known; as long
/// as not too many statements are left.
fn unrolled(kernel: &mut Kernel, stmts: Vec<Stmt>, sizes: &HashMap<Reg, u64>, left: &mut usize) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        for body in stmt.bodies_mut() {
            *body = unrolled(kernel, std::mem::take(body), sizes, left);
        }
        match written_out(kernel, &stmt, sizes) {
            Some(stmts) if stmts.len() <= *left => {
                *left -= stmts.len();
                out.extend(unrolled(kernel, stmts, sizes, left));
            }
            _ => out.push(stmt),
        }
    }
    out
}

/// Returns true if an operation is one of constants where these registers are.
fn is_folded(kernel: &Kernel, op: &Op, folded: &HashSet<Reg>) -> bool {
    let is_pure = matches!(op, Op::Binary(..) | Op::Unary(..) | Op::Compare(..) | Op::Select(..));
    let mut all = is_pure;
    op.for_each_reg(&mut |reg| all &= kernel.constants.contains_key(&reg) || folded.contains(&reg));
    all
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
    let (mut stores, mut keeps_stores, mut leaves, mut computes_indices) = (false, false, false, false);
    // Registers that are constants in each round that is written out.
    let mut folded = HashSet::from_iter([index]);
    for_each_stmt(body, &mut |stmt| {
        statements += 1;
        if let Stmt::Let(reg, op) = stmt
            && is_folded(kernel, op, &folded)
        {
            folded.insert(*reg);
        }
        let (is_store, stays_one) = match stmt {
            // A slot that is known may become a variable.
            Stmt::Store(array, at, _) => {
                let is_stack = matches!(kernel.arrays[*array].origin, Origin::Stack(_));
                let is_unknown = !kernel.constants.contains_key(at);
                (is_unknown, is_unknown && !(is_stack && folded.contains(at)))
            }
            Stmt::Swap(..) | Stmt::Grow(..) | Stmt::Gemm(_) | Stmt::Sort(_) | Stmt::Call(_) => (true, true),
            _ => (false, false),
        };
        stores |= is_store;
        keeps_stores |= stays_one;
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
    let most = if keeps_stores { MAX_STORING_STATEMENTS } else { MAX_COPIED_STATEMENTS };
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
