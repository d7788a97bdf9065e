//! Loop-invariant code motion: floats that are the same in all rounds are computed before the loop.
//!
//! ```text
//! parallel for i < n              r0 = call exp(c)
//!   r0 = call exp(c)       =>     parallel for i < n
//!   r1 = mul a[i] r0                r1 = mul a[i] r0
//! ```
//!
//! **What is moved.** An operation of a list of statements that is the body of a loop, whose result
//! is a float or a comparison of floats, all of whose operands are the same in all rounds.
//! Operations have no effect, so it may be computed where no round runs. A load is moved with what it
//! is an operand of, if the loop does not write the array, and the slot is one of it whether a round
//! runs or not, by its interval ([`value_ranges`](super::value_ranges)). Whole numbers and
//! constants are moved with what they are an operand of, and stay where they are for others: slot
//! numbers have a form that other passes look for.
//!
//! Inner loops come first, so an operation goes as far out as it can (Aho, Lam, Sethi and Ullman,
//! *Compilers*, 9.5). Costs time in proportion to the statements times the depth of loops.

use super::super::{
    Array, Binary, Cast, Kernel, Op, Reg, ScalarType, Stmt, defined_registers, for_each_stmt,
};
use super::Builder;
use super::clone_stmts::{rename_all, rename_summand};
use super::has_second_name;
use super::value_ranges::{is_certain_slot, unconditional_intervals};
use crate::hash::{HashMap, HashSet};

/// Operations between a value and the operands from outside, in the longest chain.
pub(super) const MAX_DEPTH: u32 = 64;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let readable = readable_slots(kernel);
    super::rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for mut stmt in stmts {
            if matches!(
                stmt,
                Stmt::For { .. } | Stmt::Loop(..) | Stmt::ParallelFor { .. } | Stmt::Reduce { .. }
            ) {
                out.extend(invariants(kernel, &mut stmt, &readable));
            }
            out.push(stmt);
        }
        out
    });
}

/// The registers of loads in loops whose slots may be read where their loops have no round.
fn readable_slots(kernel: &Kernel) -> HashSet<Reg> {
    let mut loads = Vec::new();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if matches!(stmt, Stmt::For { .. } | Stmt::Loop(..) | Stmt::Reduce { .. }) {
            loads.extend(stmt.bodies().into_iter().flatten().filter_map(|inner| match inner {
                Stmt::Let(reg, Op::Load(array, at, _)) if !has_second_name(kernel, *array) => {
                    Some((*reg, *array, *at))
                }
                _ => None,
            }));
        }
    });
    if loads.is_empty() {
        return HashSet::default();
    }
    let intervals = unconditional_intervals(kernel);
    let is_readable = |(_, array, at): &(Reg, Array, Reg)| is_certain_slot(kernel, *array, intervals.get(at));
    loads.into_iter().filter(is_readable).map(|(reg, ..)| reg).collect()
}

/// Moves what is the same in all rounds out of a loop; returns it.
fn invariants(kernel: &mut Kernel, stmt: &mut Stmt, readable: &HashSet<Reg>) -> Vec<Stmt> {
    let wanted: Vec<Reg> = stmt
        .bodies()
        .into_iter()
        .flatten()
        .filter_map(|inner| match inner {
            Stmt::Let(reg, op) if is_worth_moving(kernel, *reg, op) => Some(*reg),
            _ => None,
        })
        .collect();
    let mut written: HashSet<Array> = HashSet::default();
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| written.extend(inner.written_arrays()));
    let mut moving = Moving::new(kernel, stmt);
    moving.loads = moving
        .ops
        .iter()
        .filter_map(|(reg, op)| match op {
            Op::Load(array, ..) if readable.contains(reg) && !written.contains(array) => Some(*reg),
            _ => None,
        })
        .collect();
    let mut same = HashMap::default();
    for reg in wanted {
        if let Some(outside) = moving.outside(reg, MAX_DEPTH) {
            same.insert(reg, outside);
        }
    }
    let moved = moving.build.stmts;
    if !same.is_empty() {
        for body in stmt.bodies_mut() {
            rename_all(body, &same);
        }
        rename_summand(stmt, &same);
    }
    moved
}

/// Returns true for an operation that costs more in each round than a register that keeps its
/// result.
fn is_worth_moving(kernel: &Kernel, reg: Reg, op: &Op) -> bool {
    match op {
        Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) | Op::Load(..) => false,
        Op::Compare(_, a, _) => kernel.regs[*a].is_float(),
        _ => kernel.regs[reg].is_float(),
    }
}

/// Operations on their way out of a loop.
pub(super) struct Moving<'k> {
    /// The operations outside.
    pub(super) build: Builder<'k>,
    /// The registers that the loop sets.
    defined: HashSet<Reg>,
    /// The operations of the body.
    ops: HashMap<Reg, Op>,
    /// The loads that may be moved.
    loads: HashSet<Reg>,
    /// Registers outside that are equal to those of the body, or `None`.
    known: HashMap<Reg, Option<Reg>>,
}

impl<'k> Moving<'k> {
    /// Nothing has been moved out of a loop.
    pub(super) fn new(kernel: &'k mut Kernel, stmt: &Stmt) -> Moving<'k> {
        let lets = stmt.bodies().into_iter().flatten().filter_map(Stmt::as_definition);
        let defined = defined_registers(std::slice::from_ref(stmt));
        let ops = lets.map(|(reg, op)| (reg, op.clone())).collect();
        Moving {
            build: Builder::new(kernel),
            defined,
            ops,
            loads: HashSet::default(),
            known: HashMap::default(),
        }
    }

    /// A condition of the body outside of the loop, if it is no constant and the same in all
    /// rounds.
    pub(super) fn condition(&mut self, reg: Reg) -> Option<Reg> {
        let known = self.build.kernel.constants.contains_key(&reg);
        if known { None } else { self.outside(reg, MAX_DEPTH) }
    }

    /// A register outside of the loop that is equal to one in all rounds.
    pub(super) fn outside(&mut self, reg: Reg, depth: u32) -> Option<Reg> {
        if !self.defined.contains(&reg) {
            return Some(reg);
        }
        if let Some(known) = self.known.get(&reg) {
            return *known;
        }
        let found = self.moved(reg, depth.checked_sub(1)?);
        self.known.insert(reg, found);
        found
    }

    fn moved(&mut self, reg: Reg, depth: u32) -> Option<Reg> {
        let mut op = self.ops.get(&reg)?.clone();
        match op {
            Op::Load(..) if self.loads.contains(&reg) => {}
            Op::Get(_) | Op::Load(..) | Op::Cast(Cast::FloatToSigned, ..) => return None,
            Op::Binary(kind, _, divisor) if Binary::is_integer_division(kind) => {
                let known = self.build.kernel.constants.get(&divisor).copied();
                known.filter(|bits| *bits as i64 > 0)?;
            }
            _ => {}
        }
        let mut all = true;
        op.for_each_reg_mut(&mut |operand| match self.outside(*operand, depth) {
            Some(outside) => *operand = outside,
            None => all = false,
        });
        let ty: ScalarType = self.build.kernel.regs[reg];
        all.then(|| self.build.define(ty, op))
    }
}
