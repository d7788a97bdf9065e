//! Loop predication: checks of slot numbers are done once in front of a loop.
//!
//! ```text
//! for i in r0..<r1                    r5 = (r2 + r0 <u n) and (r2 + r1 - 1 <u n)
//!   r3 = add r2 i                     if r5
//!   r4 = r3 <u n               =>       for i in r0..<r1
//!   if r4 else fail                       a[r2 + i] <- ...
//!   a[r3] <- ...                      else
//!                                       for i in r0..<r1: as it was
//! ```
//!
//! An index that is made of integers is checked in each round, which keeps a loop from going by
//! vectors. Where a number is linear in the index it is extreme in the first and the last round; if
//! both pass the check, all do, and a copy of the loop runs without it. Otherwise the loop runs as
//! it was, and fails where it fails (Kawahito, Komatsu and Nakatani, *Effective null pointer check
//! elimination*, 2000, and Würthinger, Wimmer and Mössenböck, *Array bounds check elimination for
//! the Java HotSpot client compiler*, 2007, for the same with exceptions).
//!
//! **Method.** A check of an outer loop or of any loop inside it compares two numbers that are sums
//! and products of constants, of registers that are the same in all rounds, and of indices of
//! loops with the same ends in all rounds, each index at most once in a product. Such a number is
//! extreme at a corner of the box of the indices: the check is done at each of these, at most
//! 2^[`MAX_INDICES`]. The registers are tested to be small, so that no number between wraps; how
//! small is decided by the number of factors. The outermost loop comes first; what it leaves is
//! tried in the loops inside its copy.
//!
//! **Reductions** run all of their rounds, so one that has rounds fails if a check in its body does
//! not hold in the first or the last one. Such checks stand in front of it alone; nothing is copied.
//!
//! Costs a copy of the loop, and time in proportion to its statements times the depth of loops.

use super::super::{Binary, Compare, Kernel, Op, Reg, ScalarType, Stmt, defined_registers, for_each_stmt};
use super::clone_stmts::Cloner;
use super::if_conversion::check;
use super::{Builder, loop_parts};
use crate::hash::{HashMap, HashSet};
use std::collections::{BTreeMap, BTreeSet};

/// Statements of the largest loop that is copied.
const MAX_STATEMENTS: usize = 250;

/// Statements of the largest loop that is copied for checks in loops around others only.
const MAX_CHEAP_STATEMENTS: usize = 40;

/// Checks of a loop that are done in front of it.
const MAX_CHECKS: usize = 24;

/// Indices that a number depends on.
const MAX_INDICES: usize = 3;

/// Factors of a product that are not constants.
const MAX_DEGREE: usize = 3;

/// Operations between a number and what it is made of.
const MAX_DEPTH: u32 = 24;

/// The bits of small registers, the fewer the more factors.
const SMALL_BITS: [u32; 3] = [40, 30, 20];

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut checks = false;
    let mut sizes = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        checks |= *stmt == Stmt::Fail;
        if let Stmt::Let(reg, Op::Size(size)) = stmt {
            sizes.insert(*reg, kernel.sizes[*size as usize]);
        }
    });
    if checks {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = predicated(kernel, body, &sizes);
    }
}

/// The statements, with copies of loops that check less.
fn predicated(kernel: &mut Kernel, stmts: Vec<Stmt>, sizes: &HashMap<Reg, u64>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        let found = Nest::of(&stmt, sizes).and_then(|nest| Checks::of(kernel, nest));
        let Some(checks) = found else {
            for body in stmt.bodies_mut() {
                *body = predicated(kernel, std::mem::take(body), sizes);
            }
            out.push(stmt);
            continue;
        };
        let (front, holds) = checks.front(kernel);
        if let Stmt::Reduce { low, high, .. } = stmt {
            let conditions: HashSet<Reg> = checks.conditions.into_iter().collect();
            let mut build = Builder::new(kernel);
            let is_empty = build.define(ScalarType::I64, Op::Compare(Compare::Le, high, low));
            let passes = build.binary(Binary::Or, holds, is_empty);
            out.extend(front);
            out.append(&mut build.stmts);
            out.push(Stmt::If(passes, Vec::new(), vec![Stmt::Fail]));
            for body in stmt.bodies_mut() {
                body.retain(|inner| check(inner).is_none_or(|found| !conditions.contains(&found.0)));
            }
            out.push(stmt);
            continue;
        }
        let mut copy = checks.copy(kernel);
        for body in copy.bodies_mut() {
            *body = predicated(kernel, std::mem::take(body), sizes);
        }
        out.extend(front);
        out.push(Stmt::If(holds, vec![copy], vec![stmt]));
    }
    out
}

/// A number that is linear in each index that it depends on.
#[derive(Clone, Default)]
struct Form {
    indices: BTreeSet<Reg>,
    /// Registers that are the same in all rounds, constants left out.
    factors: BTreeSet<Reg>,
    /// The sum of the coefficients of products of so many indices and factors, without signs.
    weights: [f64; MAX_DEGREE + 1],
}

impl Form {
    fn constant(number: i64) -> Form {
        let mut form = Form::default();
        form.weights[0] = (number as f64).abs();
        form
    }

    fn add(mut self, other: Form) -> Form {
        self.indices.extend(other.indices);
        self.factors.extend(other.factors);
        for (weight, more) in self.weights.iter_mut().zip(other.weights) {
            *weight += more;
        }
        self
    }

    fn mul(self, other: Form) -> Option<Form> {
        if !self.indices.is_disjoint(&other.indices) {
            return None;
        }
        let mut weights = [0.0; MAX_DEGREE + 1];
        for (i, a) in self.weights.iter().enumerate() {
            for (j, b) in other.weights.iter().enumerate().filter(|(_, b)| a * **b != 0.0) {
                *weights.get_mut(i + j)? += a * b;
            }
        }
        let sum = self.add(other);
        Some(Form { weights, ..sum })
    }

    /// The most bits that indices and factors may have, so that no number on the way wraps.
    fn small_bits(&self) -> Option<u32> {
        let largest = |bits: u32| -> f64 {
            let powers = (0..).map(|degree| 2f64.powi(bits as i32 * degree));
            self.weights.iter().zip(powers).map(|(weight, power)| weight * power).sum()
        };
        SMALL_BITS.into_iter().find(|bits| largest(*bits) < 2f64.powi(61))
    }
}

/// A loop and those inside it.
struct Nest<'s> {
    stmt: &'s Stmt,
    /// The sizes that registers in front of it hold.
    sizes: &'s HashMap<Reg, u64>,
    /// The registers that it sets, and the operations of those that have one.
    defined: HashSet<Reg>,
    ops: HashMap<Reg, &'s Op>,
    /// The ends of the loops, by their indices; the first one of a parallel loop is 0.
    ends: HashMap<Reg, (Option<Reg>, Reg)>,
    /// The number of statements.
    statements: usize,
}

impl<'s> Nest<'s> {
    /// The nest of a loop that checks.
    fn of(stmt: &'s Stmt, sizes: &'s HashMap<Reg, u64>) -> Option<Nest<'s>> {
        if !matches!(stmt, Stmt::For { .. } | Stmt::ParallelFor { .. } | Stmt::Reduce { .. }) {
            return None;
        }
        let whole = std::slice::from_ref(stmt);
        let (mut ops, mut ends) = (HashMap::default(), HashMap::default());
        let (mut statements, mut checks) = (0, false);
        for_each_stmt(whole, &mut |inner| {
            statements += 1;
            match inner {
                Stmt::Let(reg, op) => drop(ops.insert(*reg, op)),
                Stmt::For { index, low, high, .. } | Stmt::Reduce { index, low, high, .. } => {
                    ends.insert(*index, (Some(*low), *high));
                }
                Stmt::ParallelFor { index, count, .. } => drop(ends.insert(*index, (None, *count))),
                Stmt::Fail => checks = true,
                _ => {}
            }
        });
        if !checks || statements > MAX_STATEMENTS {
            return None;
        }
        Some(Nest { stmt, sizes, defined: defined_registers(whole), ops, ends, statements })
    }

    /// The form of a register; `None` if it is not linear.
    fn form(&self, kernel: &Kernel, reg: Reg, depth: u32) -> Option<Form> {
        if kernel.regs[reg] != ScalarType::I64 || depth == 0 {
            return None;
        }
        if let Some(bits) = kernel.constants.get(&reg) {
            return Some(Form::constant(*bits as i64));
        }
        if let Some(size) = self.sizes.get(&reg) {
            return Some(Form::constant(*size as i64));
        }
        if let Some((low, high)) = self.ends.get(&reg) {
            // An index is between the ends, which are the same in all rounds.
            let mut form = Form::constant(1);
            form.indices.insert(reg);
            for end in low.iter().chain([high]) {
                let end = self.form(kernel, *end, depth - 1)?;
                if !end.indices.is_empty() {
                    return None;
                }
                form.factors.extend(end.factors);
                for (weight, other) in form.weights.iter_mut().zip(end.weights) {
                    *weight = weight.max(other);
                }
            }
            return Some(form);
        }
        if !self.defined.contains(&reg) {
            let mut form = Form::default();
            form.factors.insert(reg);
            form.weights[1] = 1.0;
            return Some(form);
        }
        let of = |reg: &Reg| self.form(kernel, *reg, depth - 1);
        match self.ops.get(&reg)? {
            Op::Size(size) => Some(Form::constant(kernel.sizes[*size as usize] as i64)),
            Op::Binary(Binary::Add | Binary::Sub, a, b) => Some(of(a)?.add(of(b)?)),
            Op::Binary(Binary::Mul, a, b) => of(a)?.mul(of(b)?),
            Op::Binary(Binary::Shl, a, places) => {
                let places = kernel.constants.get(places).filter(|places| **places < 32)?;
                of(a)?.mul(Form::constant(1 << places))
            }
            _ => None,
        }
    }
}

/// The conditions of the checks of loops without loops inside. Others cost little beside the loops
/// in their rounds.
fn costly_checks(stmt: &Stmt) -> HashSet<Reg> {
    let mut costly = HashSet::default();
    let mut is_innermost = true;
    let bodies = stmt.bodies();
    for inner in bodies.iter().copied().flatten() {
        for_each_stmt(std::slice::from_ref(inner), &mut |inner| is_innermost &= loop_parts(inner).is_none());
    }
    for inner in bodies.into_iter().flatten() {
        if is_innermost {
            for_each_stmt(std::slice::from_ref(inner), &mut |inner| {
                costly.extend(check(inner).map(|found| found.0))
            });
        } else {
            costly.extend(costly_checks(inner));
        }
    }
    costly
}

/// Checks that are done in front of a loop.
struct Checks<'s> {
    nest: Nest<'s>,
    /// The conditions of the checks.
    conditions: Vec<Reg>,
    /// The comparisons that they consist of, with the indices that these depend on.
    comparisons: BTreeMap<Reg, BTreeSet<Reg>>,
    /// The most bits that registers may have that are the same in all rounds.
    small: BTreeMap<Reg, u32>,
    /// Bounds without sign.
    bounds: BTreeSet<Reg>,
}

impl<'s> Checks<'s> {
    /// The checks of a nest, if there are any that can be done in front of it.
    fn of(kernel: &Kernel, nest: Nest<'s>) -> Option<Checks<'s>> {
        let mut wanted = Vec::new();
        let mut want = |stmt: &Stmt| {
            if let Some((condition, true)) = check(stmt) {
                wanted.push(condition);
            }
        };
        match nest.stmt {
            // Other checks do not concern all rounds.
            Stmt::Reduce { body, .. } => body.iter().for_each(&mut want),
            stmt => for_each_stmt(std::slice::from_ref(stmt), &mut want),
        }
        let costly = costly_checks(nest.stmt);
        let (conditions, comparisons) = (Vec::new(), BTreeMap::new());
        let mut this =
            Checks { nest, conditions, comparisons, small: BTreeMap::new(), bounds: BTreeSet::new() };
        for condition in wanted.into_iter().take(MAX_CHECKS) {
            let mut found = Vec::new();
            if this.comparisons_of(kernel, condition, &mut found, MAX_DEPTH).is_some() {
                this.conditions.push(condition);
                for (comparison, form, bits) in found {
                    this.comparisons.insert(comparison, form.indices);
                    for factor in form.factors {
                        let small = this.small.entry(factor).or_insert(bits);
                        *small = bits.min(*small);
                    }
                }
            }
        }
        let is_small = this.nest.statements <= MAX_CHEAP_STATEMENTS;
        this.conditions.iter().any(|condition| is_small || costly.contains(condition)).then_some(this)
    }

    /// The comparisons of a condition that is one, or several of which all hold.
    fn comparisons_of(
        &mut self,
        kernel: &Kernel,
        condition: Reg,
        found: &mut Vec<(Reg, Form, u32)>,
        depth: u32,
    ) -> Option<()> {
        match **self.nest.ops.get(&condition)? {
            Op::Binary(Binary::And, a, b) if depth > 0 => {
                self.comparisons_of(kernel, a, found, depth - 1)?;
                self.comparisons_of(kernel, b, found, depth - 1)
            }
            Op::Compare(kind @ (Compare::Lt | Compare::Le | Compare::LtUnsigned), a, b) => {
                let (a, bound) =
                    (self.nest.form(kernel, a, MAX_DEPTH)?, self.nest.form(kernel, b, MAX_DEPTH)?);
                if kind == Compare::LtUnsigned && !bound.indices.is_empty() {
                    return None;
                }
                let form = a.add(bound);
                let bits = form.small_bits()?;
                if !(1..=MAX_INDICES).contains(&form.indices.len()) {
                    return None;
                }
                if kind == Compare::LtUnsigned {
                    self.bounds.insert(b);
                }
                found.push((condition, form, bits));
                Some(())
            }
            _ => None,
        }
    }

    /// The statements in front of the loop, and the register that is true if all checks hold.
    fn front(&self, kernel: &mut Kernel) -> (Vec<Stmt>, Reg) {
        let mut build = Builder::new(kernel);
        let mut same = HashMap::default();
        let mut tests = Vec::new();
        for (reg, bits) in &self.small {
            // From -2^bits up to 2^bits.
            let (offset, size) = (build.int(1 << bits), build.int(2 << bits));
            let moved = build.binary(Binary::Add, *reg, offset);
            tests.push(build.define(ScalarType::I64, Op::Compare(Compare::LtUnsigned, moved, size)));
        }
        for bound in &self.bounds {
            let (bound, zero) = (self.value(&mut build, *bound, &mut same), build.int(0));
            tests.push(build.define(ScalarType::I64, Op::Compare(Compare::Le, zero, bound)));
        }
        let mut last = HashMap::default();
        let indices: BTreeSet<Reg> = self.comparisons.values().flatten().copied().collect();
        for index in indices {
            let (low, high) = self.nest.ends[&index];
            let low = match low {
                Some(low) => self.value(&mut build, low, &mut same),
                None => build.int(0),
            };
            let high = self.value(&mut build, high, &mut same);
            let one = build.int(1);
            last.insert(index, [low, build.binary(Binary::Sub, high, one)]);
        }
        for (comparison, indices) in &self.comparisons {
            for corner in 0..1usize << indices.len() {
                let mut known = same.clone();
                for (place, index) in indices.iter().enumerate() {
                    known.insert(*index, last[index][corner >> place & 1]);
                }
                tests.push(self.value(&mut build, *comparison, &mut known));
            }
        }
        let all = tests.into_iter().reduce(|all, test| build.binary(Binary::And, all, test));
        let all = all.expect("a check has a comparison");
        (build.stmts, all)
    }

    /// A register in front of the loop that holds what another one holds where the indices have the
    /// `known` values.
    fn value(&self, build: &mut Builder<'_>, reg: Reg, known: &mut HashMap<Reg, Reg>) -> Reg {
        if let Some(known) = known.get(&reg) {
            return *known;
        }
        let Some(op) = self.nest.ops.get(&reg) else { return reg };
        let mut op = (*op).clone();
        op.for_each_reg_mut(&mut |operand| *operand = self.value(build, *operand, known));
        let value = build.define(build.kernel.regs[reg], op);
        known.insert(reg, value);
        value
    }

    /// A copy of the loop without the checks.
    fn copy(&self, kernel: &mut Kernel) -> Stmt {
        let mut cloner = Cloner::new(kernel);
        cloner.names.known_conditions.extend(self.conditions.iter().map(|condition| (*condition, true)));
        let copy = cloner.stmts(std::slice::from_ref(self.nest.stmt));
        copy.into_iter().next().expect("a statement has a copy")
    }
}
