//! Estimates of the run time of loops, in nanoseconds, by which small loops are left whole.

use super::{Binary, Compare, Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt};
use crate::hash::HashMap;

/// Rounds of a loop whose number is not known.
pub const DEFAULT_TRIP_COUNT: f64 = 16.0;

/// The cost of a slot that is sorted, for each binary digit of their number.
const SORT_COST: f64 = 4.0;

/// The cost of a call of a recursive function: what it takes is not known, and may be long.
const CALL_COST: f64 = 10_000.0;

/// Nanoseconds for one iteration of each [`Stmt::ParallelFor`], in their order.
pub fn iteration_costs(kernel: &Kernel) -> Vec<f64> {
    let estimator = Estimator::new(kernel);
    let mut costs = Vec::new();
    super::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::ParallelFor { index, body, .. } = stmt {
            costs.push(estimator.iteration(*index, body));
        }
    });
    costs
}

/// Nanoseconds for all iterations of each [`Stmt::ParallelFor`] and [`Stmt::For`], one after the
/// other, by its index.
pub fn loop_costs(kernel: &Kernel) -> HashMap<Reg, f64> {
    let estimator = Estimator::new(kernel);
    let mut costs = HashMap::default();
    super::for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::ParallelFor { index, count, body } => {
            costs.insert(*index, estimator.count(*count) * estimator.iteration(*index, body));
        }
        Stmt::For { index, .. } => drop(costs.insert(*index, estimator.stmt(stmt))),
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
                        Binary::Shr => u32::try_from(b).ok().and_then(|b| a.checked_shr(b)),
                        Binary::And => Some(a & b),
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

/// The costs of the statements of a kernel.
pub(super) struct Estimator<'k> {
    kernel: &'k Kernel,
    /// The values of registers in the first iteration of each loop.
    known: HashMap<Reg, f64>,
}

impl Estimator<'_> {
    /// Collects what is known of the registers of a kernel.
    pub(super) fn new(kernel: &Kernel) -> Estimator<'_> {
        Estimator { kernel, known: first_iteration_values(kernel) }
    }

    fn stmts(&self, stmts: &[Stmt]) -> f64 {
        stmts.iter().map(|stmt| self.stmt(stmt)).sum()
    }

    /// The rounds of a loop between two ends.
    pub(super) fn rounds(&self, low: Reg, high: Reg) -> f64 {
        match (self.known.get(&low), self.known.get(&high)) {
            (Some(low), Some(high)) if high > low => high - low,
            // Not known, or none in the first round of a loop around.
            _ => DEFAULT_TRIP_COUNT,
        }
    }

    /// The rounds of a parallel loop.
    pub(super) fn count(&self, count: Reg) -> f64 {
        self.known.get(&count).copied().unwrap_or(DEFAULT_TRIP_COUNT)
    }

    /// An iteration of a loop. One that goes by vectors takes less, the narrower the slots are.
    pub(super) fn iteration(&self, index: Reg, body: &[Stmt]) -> f64 {
        let cost = self.stmts(body);
        match self.lane_bytes(index, body) {
            Some(bytes) => cost * f64::from(bytes.min(8)) / 8.0,
            None => cost,
        }
    }

    /// The bytes of the widest slot of a loop that only computes, and whose slots lie side by side.
    fn lane_bytes(&self, index: Reg, body: &[Stmt]) -> Option<u8> {
        let mut ops: HashMap<Reg, &Op> = HashMap::default();
        let (mut bytes, mut fits) = (None, true);
        for stmt in body {
            let slot = match stmt {
                Stmt::Let(reg, op) => {
                    ops.insert(*reg, op);
                    match op {
                        Op::Load(array, at, _) => Some((array, at)),
                        Op::Call(f, _) if *f != ScalarFunction::Fma => return None,
                        Op::Binary(kind, ..) if kind.is_integer_division() => return None,
                        _ => None,
                    }
                }
                Stmt::Store(array, at, _) => Some((array, at)),
                Stmt::Set(..) => None,
                _ => return None,
            };
            if let Some((array, at)) = slot {
                fits &= *at == index
                    || match ops.get(at) {
                        None => true,
                        Some(Op::Binary(Binary::Add | Binary::Sub, a, b)) => *a == index || *b == index,
                        Some(_) => false,
                    };
                bytes = bytes.max(Some(self.kernel.arrays[*array].width));
            }
        }
        bytes.filter(|_| fits)
    }

    /// The nanoseconds of a statement.
    pub(super) fn stmt(&self, stmt: &Stmt) -> f64 {
        let known = &self.known;
        match stmt {
            Stmt::Let(_, op) => op_cost(op),
            Stmt::Set(..) | Stmt::Store(..) => 0.5,
            Stmt::If(_, then, otherwise) => 0.5 + self.stmts(then).max(self.stmts(otherwise)),
            Stmt::For { index, low, high, body, .. } => {
                self.rounds(*low, *high) * (0.5 + self.iteration(*index, body))
            }
            Stmt::Reduce { low, high, body, .. } => {
                let rounds = match (known.get(low), known.get(high)) {
                    (Some(low), Some(high)) => high - low,
                    _ => crate::core::reduction::CHUNK as f64,
                };
                rounds * (0.25 + self.stmts(body) / 2.0)
            }
            Stmt::Loop(_, body) => DEFAULT_TRIP_COUNT * (0.5 + self.stmts(body)),
            Stmt::Block(_, body) => self.stmts(body),
            Stmt::ParallelFor { body, .. } => self.stmts(body),
            Stmt::Sort(sort) => {
                let count = known.get(&sort.count).copied().unwrap_or(DEFAULT_TRIP_COUNT);
                count * SORT_COST * count.max(2.0).log2()
            }
            Stmt::Gemm(c) => {
                let size =
                    |reg: &Reg| known.get(reg).copied().unwrap_or(DEFAULT_TRIP_COUNT * DEFAULT_TRIP_COUNT);
                gemm_cost(size(&c.rows) * size(&c.columns), size(&c.depth))
            }
            Stmt::Call(_) => CALL_COST,
            Stmt::Swap(..) | Stmt::Grow(..) | Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => 0.0,
        }
    }
}
