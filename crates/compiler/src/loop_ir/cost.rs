//! Estimates of the run time of loops, in nanoseconds, by which small loops are left whole.

use super::{Binary, Compare, Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt};
use crate::hash::HashMap;

/// Rounds of a loop whose number is not known.
pub const DEFAULT_TRIP_COUNT: f64 = 16.0;

/// Nanoseconds for one iteration of each [`Stmt::ParallelFor`], in their order.
pub fn iteration_costs(kernel: &Kernel) -> Vec<f64> {
    let known = first_iteration_values(kernel);
    let mut costs = Vec::new();
    super::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::ParallelFor { body, .. } = stmt {
            costs.push(stmts_cost(body, &known));
        }
    });
    costs
}

/// Nanoseconds for all iterations of each [`Stmt::ParallelFor`] and [`Stmt::For`], one after the
/// other, by its index.
pub fn loop_costs(kernel: &Kernel) -> HashMap<Reg, f64> {
    let known = first_iteration_values(kernel);
    let mut costs = HashMap::default();
    super::for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::ParallelFor { index, count, body } => {
            let rounds = known.get(count).copied().unwrap_or(DEFAULT_TRIP_COUNT);
            costs.insert(*index, rounds * stmts_cost(body, &known));
        }
        Stmt::For { index, .. } => drop(costs.insert(*index, stmt_cost(stmt, &known))),
        _ => {}
    });
    costs
}

/// The values of registers in the first iteration of each loop, as far as sizes and constants
/// determine them: where an inner loop begins and ends is computed from the index of the outer one.
fn first_iteration_values(kernel: &Kernel) -> HashMap<Reg, f64> {
    let mut known: HashMap<Reg, i64> = HashMap::default();
    super::for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(reg, op) => {
            let get = |reg: &Reg| known.get(reg).copied();
            let value = match op {
                Op::Const(ScalarType::I64, bits) => Some(*bits as i64),
                Op::Size(n) => Some(kernel.sizes[*n as usize] as i64),
                Op::Binary(op, a, b) => match (get(a), get(b)) {
                    (Some(a), Some(b)) => match op {
                        Binary::Add => a.checked_add(b),
                        Binary::Sub => a.checked_sub(b),
                        Binary::Mul => a.checked_mul(b),
                        Binary::DivUnsigned => a.checked_div(b),
                        Binary::RemUnsigned => a.checked_rem(b),
                        _ => None,
                    },
                    _ => None,
                },
                Op::Compare(Compare::Lt, a, b) => get(a).zip(get(b)).map(|(a, b)| i64::from(a < b)),
                Op::Select(c, a, b) => get(c).and_then(|c| if c != 0 { get(a) } else { get(b) }),
                _ => None,
            };
            known.extend(value.map(|value| (*reg, value)));
        }
        Stmt::ParallelFor { index, .. } => {
            known.insert(*index, 0);
        }
        Stmt::For { index, low, .. } | Stmt::Reduce { index, low, .. } => {
            let low = known.get(low).copied();
            known.extend(low.map(|low| (*index, low)));
        }
        _ => {}
    });
    known.into_iter().map(|(reg, value)| (reg, value as f64)).collect()
}

/// Nanoseconds that an operation takes.
pub fn op_cost(op: &Op) -> f64 {
    match op {
        Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => 0.0,
        Op::Call(ScalarFunction::Fma, _) => 0.25,
        Op::Call(..) => 8.0,
        Op::Load(..) => 0.5,
        Op::Binary(op, ..) => binary_cost(*op),
        Op::Unary(..) | Op::Compare(..) | Op::Select(..) | Op::Cast(..) => 0.25,
    }
}

/// Nanoseconds that an operation on two numbers takes.
pub fn binary_cost(op: Binary) -> f64 {
    match op {
        op if op.is_integer_division() => 4.0,
        _ => 0.25,
    }
}

/// Nanoseconds of a contraction to so many results, by the number of products of each.
pub fn gemm_cost(results: f64, depth: f64) -> f64 {
    results * depth * 0.05
}

fn stmts_cost(stmts: &[Stmt], known: &HashMap<Reg, f64>) -> f64 {
    stmts.iter().map(|stmt| stmt_cost(stmt, known)).sum()
}

fn stmt_cost(stmt: &Stmt, known: &HashMap<Reg, f64>) -> f64 {
    let rounds = |low: &Reg, high: &Reg| match (known.get(low), known.get(high)) {
        (Some(low), Some(high)) if high > low => high - low,
        // Not known, or none in the first round of a loop around.
        _ => DEFAULT_TRIP_COUNT,
    };
    match stmt {
        Stmt::Let(_, op) => op_cost(op),
        Stmt::Set(..) | Stmt::Store(..) => 0.5,
        Stmt::If(_, then, otherwise) => 0.5 + stmts_cost(then, known).max(stmts_cost(otherwise, known)),
        Stmt::For { low, high, body, .. } => rounds(low, high) * (0.5 + stmts_cost(body, known)),
        Stmt::Reduce { low, high, body, .. } => {
            let rounds = match (known.get(low), known.get(high)) {
                (Some(low), Some(high)) => high - low,
                _ => crate::core::reduction::CHUNK as f64,
            };
            rounds * (0.25 + stmts_cost(body, known) / 2.0)
        }
        Stmt::Loop(_, body) => DEFAULT_TRIP_COUNT * (0.5 + stmts_cost(body, known)),
        Stmt::Block(_, body) => stmts_cost(body, known),
        Stmt::ParallelFor { body, .. } => stmts_cost(body, known),
        Stmt::Gemm(c) => {
            let size = |reg: &Reg| known.get(reg).copied().unwrap_or(DEFAULT_TRIP_COUNT * DEFAULT_TRIP_COUNT);
            gemm_cost(size(&c.rows) * size(&c.columns), size(&c.depth))
        }
        Stmt::Swap(..) | Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => 0.0,
    }
}
