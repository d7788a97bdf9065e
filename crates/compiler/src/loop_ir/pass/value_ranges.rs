//! Value range analysis: bounds of registers, and what they decide.
//!
//! A window sum reads `x.(i + a)` for an index `i` below 1024 and an `a` below 7, and checks in
//! each round that the number is below 1030. The bounds of the two loops say so before the first
//! one.
//!
//! **Method.** A forward walk keeps an interval of signed numbers for each integer register: of
//! constants and sizes, of the index of a loop by the intervals of its ends, of an operation by
//! those of its operands (interval arithmetic, as in Harrison, *Compiler analysis of the value
//! ranges for variables*, 1977). Where a condition holds — in a branch, or behind a branch that
//! leaves — the intervals of the registers that it compares are narrowed. Floats that are computed
//! from integers have intervals, too ([`float_ranges`]). A register is set once,
//! so an interval holds wherever the register is read.
//!
//! A variable has one interval, wherever it is read: that of 0, which it begins as, and of all
//! numbers that it is set to ([`variable_intervals`]). A first walk assumes 0 alone; what it finds
//! variables set to is assumed by the next one, until nothing is added. A bound that moves in the
//! third walk is left out (widening; Cousot and Cousot, *Abstract interpretation: a unified lattice
//! model*, 1977), and what the last one finds is taken in its place if another walk confirms it
//! (narrowing): `i < n` bounds a variable `i` that a loop counts up. **Sound** by induction over the
//! statements of a run, since a walk is made with the assumption that it confirms.
//!
//! **What is decided.** A comparison that is the same for all values in the intervals becomes a
//! constant, and a branch on it the side that is taken. `x rem n` is `x` for `x` from `1 - n` to
//! `n - 1`, and a choice for `x` up to `2 n - 1`; a quotient of what is below its divisor is 0.
//! Numbers at constant distances from the same one, `i` and `i + 1`, are compared by these.
//! Natural numbers are compared with sign. An index is below the end of its loop. A comparison that
//! says which side of a choice was taken is its condition, and a number that is computed from a
//! choice is that of the side that is taken, where it is known. A choice between a truth value and
//! 0, or 1 and a truth value, is a combination of bits.
//!
//! Sizes are numbers here, those of the run that the kernel is made for. What is left of a kernel
//! decides whether it shares code with another one ([`Kernel::key`]), so other sizes get code for
//! what is decided at them.
//!
//! Costs time in proportion to the statements, for each of at most [`MAX_WALKS`] walks; of a choice,
//! twice a few definitions.

use super::super::{Array, Binary, Cast, Compare, IdMap, Kernel, Op, Reg, ScalarType, Stmt, Var};
use super::clone_stmts::{rename_results, rename_summand, rename_uses};
use super::float_ranges::FloatInterval;
use super::integer_ranges::{Interval, binary, decided, narrowed, rounds};
use super::{Builder, assigned_vars, float_ranges};
use crate::hash::{HashMap, HashSet};

/// Walks that look for the intervals of variables.
const MAX_WALKS: usize = 6;

/// Walks after which a bound that still moves is left out.
const MAX_EXACT_WALKS: usize = 2;

/// Sums of a number and constants, one after the other, that are looked through.
const MAX_OFFSETS: usize = 8;

/// Definitions that are computed again under the assumption of a choice.
const MAX_RECOMPUTED_DEPTH: u32 = 4;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let variables = variable_intervals(kernel);
    let body = std::mem::take(&mut kernel.body);
    let mut walk = Walk { variables, ..Walk::new(kernel) };
    let body = walk.list(body);
    let same = walk.same;
    kernel.body = body;
    rename_results(kernel, &same);
}

/// The intervals of the registers of a kernel where they are set, of those that have one.
pub(super) fn definition_intervals(kernel: &Kernel) -> IdMap<Reg, Interval> {
    intervals_of(kernel, false)
}

/// As [`definition_intervals`], but of registers that are set in branches the intervals that they
/// would have if the branches were taken always.
pub(super) fn unconditional_intervals(kernel: &Kernel) -> IdMap<Reg, Interval> {
    intervals_of(kernel, true)
}

/// Returns true if an array has a slot of this number in each run, for all numbers of the interval.
pub(super) fn is_certain_slot(kernel: &Kernel, array: Array, slot: Option<&Interval>) -> bool {
    let below = |high: i64| u64::try_from(high).is_ok_and(|high| high < kernel.certain_slots(array));
    slot.is_some_and(|slot| slot.low >= 0 && below(slot.high))
}

fn intervals_of(kernel: &Kernel, branches_always: bool) -> IdMap<Reg, Interval> {
    on_copy(kernel, |copy| Walk { branches_always, ..Walk::new(copy) }, |walk| walk.defined)
}

/// The result of a walk over a copy of a kernel.
fn on_copy<T>(
    kernel: &Kernel,
    walk: impl FnOnce(&mut Kernel) -> Walk<'_>,
    found: impl FnOnce(Walk<'_>) -> T,
) -> T {
    let mut copy = kernel.clone();
    let body = std::mem::take(&mut copy.body);
    let mut walk = walk(&mut copy);
    walk.list(body);
    found(walk)
}

/// The intervals of the integer variables of a kernel, of those that have one.
fn variable_intervals(kernel: &Kernel) -> HashMap<Var, Interval> {
    let is_word = |var: &Var| kernel.vars[*var] == ScalarType::I64;
    let mut assumed: HashMap<Var, Interval> =
        kernel.vars.ids().filter(is_word).map(|var| (var, Interval::exactly(0))).collect();
    if assumed.is_empty() {
        return assumed;
    }
    for walk in 0..MAX_WALKS {
        let found = assigned_intervals(kernel, &assumed);
        let is_within = |(var, found): (&Var, &Interval)| assumed[var].union(*found) == assumed[var];
        if found.iter().all(is_within) {
            let is_narrower = found.iter().any(|(var, found)| assumed[var] != *found);
            if !is_narrower {
                return assumed;
            }
            // The narrower intervals are assumed if another walk confirms them.
            let again = assigned_intervals(kernel, &found);
            let confirms = again.iter().all(|(var, again)| found[var].union(*again) == found[var]);
            return if confirms { found } else { assumed };
        }
        for (var, found) in found {
            let before = assumed[&var];
            let mut after = before.union(found);
            if walk >= MAX_EXACT_WALKS {
                after.low = if after.low < before.low { i64::MIN } else { after.low };
                after.high = if after.high > before.high { i64::MAX } else { after.high };
            }
            assumed.insert(var, after);
        }
    }
    HashMap::default()
}

/// The intervals of what variables are set to if they are within those that are assumed, 0 among
/// them.
fn assigned_intervals(kernel: &Kernel, assumed: &HashMap<Var, Interval>) -> HashMap<Var, Interval> {
    let variables = assumed.clone();
    on_copy(kernel, |copy| Walk { variables, ..Walk::new(copy) }, |walk| walk.assigned)
}

/// The facts that hold for registers in the list of statements that is walked, and those that will
/// hold again behind it.
struct Facts<T> {
    known: IdMap<Reg, T>,
    /// The facts before those that the open lists have learnt, in order.
    before: Vec<(Reg, Option<T>)>,
    /// The length of `before` where each of the open lists began.
    opened: Vec<usize>,
}

impl<T: Copy> Facts<T> {
    fn new() -> Facts<T> {
        Facts { known: IdMap::default(), before: Vec::new(), opened: Vec::new() }
    }

    fn get(&self, reg: Reg) -> Option<T> {
        self.known.get(&reg).copied()
    }

    fn learn(&mut self, reg: Reg, fact: T) {
        let before = self.known.insert(reg, fact);
        if !self.opened.is_empty() {
            self.before.push((reg, before));
        }
    }

    fn open(&mut self) {
        self.opened.push(self.before.len());
    }

    fn close(&mut self) {
        let begun = self.opened.pop().expect("a list is open");
        for (reg, before) in self.before.drain(begun..).rev() {
            self.known.set(reg, before);
        }
    }
}

/// The value of a variable behind a branch: what it is set to where the condition holds, and where
/// it does not.
#[derive(Clone, Copy)]
struct Merge {
    condition: Reg,
    then: Reg,
    otherwise: Reg,
}

impl Merge {
    /// The merge of a variable that both branches set last.
    fn of(condition: Reg, then: &[Stmt], otherwise: &[Stmt]) -> Option<(Var, Merge)> {
        match (then.last(), otherwise.last()) {
            (Some(Stmt::Set(var, then)), Some(Stmt::Set(other, otherwise))) if var == other => {
                Some((*var, Merge { condition, then: *then, otherwise: *otherwise }))
            }
            _ => None,
        }
    }
}

struct Walk<'k> {
    kernel: &'k mut Kernel,
    ops: IdMap<Reg, Op>,
    intervals: Facts<Interval>,
    floats: Facts<FloatInterval>,
    /// Registers that are always equal to others.
    same: HashMap<Reg, Reg>,
    /// The ends of the loops of indices.
    ends: IdMap<Reg, Reg>,
    /// The intervals of registers where they are set.
    defined: IdMap<Reg, Interval>,
    /// The intervals that the integer variables are assumed to have, and those of what they are set
    /// to, 0 among them.
    variables: HashMap<Var, Interval>,
    assigned: HashMap<Var, Interval>,
    /// Variables that the branches of a condition have set last, and registers that hold the value
    /// of such a variable.
    merges: HashMap<Var, Merge>,
    merged: HashMap<Reg, Merge>,
    /// True if what is known in a branch is what would be if it were taken always: neither its
    /// condition nor a check in it.
    branches_always: bool,
    /// The number of branches around.
    branches: usize,
}

impl<'k> Walk<'k> {
    fn new(kernel: &'k mut Kernel) -> Walk<'k> {
        let (ops, same, defined) = (IdMap::default(), HashMap::default(), IdMap::default());
        let (variables, assigned) = (HashMap::default(), HashMap::default());
        let (branches_always, branches) = (false, 0);
        let (merges, merged) = (HashMap::default(), HashMap::default());
        Walk {
            kernel,
            ops,
            intervals: Facts::new(),
            floats: Facts::new(),
            same,
            ends: IdMap::default(),
            defined,
            variables,
            assigned,
            merges,
            merged,
            branches_always,
            branches,
        }
    }

    /// Begins a list of statements, or an assumption: what is learnt from here on ends with it.
    fn open_list(&mut self) {
        self.intervals.open();
        self.floats.open();
    }

    fn close_list(&mut self) {
        self.intervals.close();
        self.floats.close();
    }

    fn interval(&self, reg: Reg) -> Interval {
        if self.kernel.regs[reg] != ScalarType::I64 {
            return Interval::ALL;
        }
        self.intervals.get(reg).unwrap_or(Interval::ALL)
    }

    fn learn(&mut self, reg: Reg, interval: Interval) {
        if interval != Interval::ALL && self.kernel.regs[reg] == ScalarType::I64 {
            self.intervals.learn(reg, interval);
        }
    }

    fn float(&self, reg: Reg) -> Option<FloatInterval> {
        self.floats.get(reg)
    }

    fn learn_float(&mut self, reg: Reg, interval: Option<FloatInterval>) {
        if let Some(interval) = interval {
            self.floats.learn(reg, interval);
        }
    }

    /// The interval of an integer of any width, read with a sign.
    fn signed_interval(&self, reg: Reg) -> Interval {
        let bits = |reg: Reg| 8 * self.kernel.regs[reg].bytes() as u32;
        let of_width = |bits: u32| Interval { low: i64::MIN >> (64 - bits), high: i64::MAX >> (64 - bits) };
        match self.ops.get(&reg) {
            _ if bits(reg) == 64 => self.interval(reg),
            Some(Op::Cast(Cast::ZeroExtend, _, from)) => {
                Interval { low: 0, high: i64::MAX >> (63 - bits(*from)) }
            }
            Some(Op::Cast(Cast::SignExtend, _, from)) => of_width(bits(*from)),
            _ => of_width(bits(reg)),
        }
    }

    /// The interval of a float of a type that an operation gives. Where the type is binary32, the
    /// bounds are rounded to it, as the result is.
    fn float_result(&self, ty: ScalarType, op: &Op) -> Option<FloatInterval> {
        let interval = self.wide_float_result(op)?;
        Some(if ty == ScalarType::F32 { interval.rounded_to_single() } else { interval })
    }

    fn wide_float_result(&self, op: &Op) -> Option<FloatInterval> {
        match op {
            Op::Const(ScalarType::F64, bits) => FloatInterval::of([f64::from_bits(*bits)]),
            Op::Const(ScalarType::F32, bits) => FloatInterval::of([f64::from(f32::from_bits(*bits as u32))]),
            Op::Cast(Cast::SignedToFloat, ty, a) => {
                let a = self.signed_interval(*a);
                match ty {
                    ScalarType::F32 => FloatInterval::of([a.low, a.high].map(|n| f64::from(n as f32))),
                    _ => FloatInterval::of([a.low, a.high].map(|n| n as f64)),
                }
            }
            Op::Cast(Cast::FloatToFloat, _, a) => self.float(*a),
            Op::Unary(kind, a) => self.float(*a)?.unary(*kind),
            Op::Binary(kind, a, b) => self.float(*a)?.binary(*kind, self.float(*b)?),
            Op::Select(_, a, b) => Some(self.float(*a)?.union(self.float(*b)?)),
            _ => None,
        }
    }

    /// Narrows what is compared by a condition that holds or does not. Returns false if that cannot
    /// be.
    fn assume(&mut self, condition: Reg, holds: bool) -> bool {
        self.assume_once(condition, holds, &mut HashSet::default())
    }

    /// Does the same, each condition once: conditions of branches inside each other lead to the same
    /// ones in very many ways.
    fn assume_once(&mut self, condition: Reg, holds: bool, seen: &mut HashSet<(Reg, bool)>) -> bool {
        if !seen.insert((condition, holds)) {
            return true;
        }
        if !holds {
            self.learn(condition, Interval::exactly(0));
        } else if self.is_truth(condition) {
            self.learn(condition, Interval::exactly(1));
        }
        if let Some(&Merge { condition, then, otherwise }) = self.merged.get(&condition) {
            // The value of the branch that was not taken is not that one.
            let is_other = |value: Reg| self.known_condition(value) == Some(!holds);
            return match (is_other(then), is_other(otherwise)) {
                (false, true) => {
                    self.assume_once(condition, true, seen) && self.assume_once(then, holds, seen)
                }
                (true, false) => {
                    self.assume_once(condition, false, seen) && self.assume_once(otherwise, holds, seen)
                }
                _ => true,
            };
        }
        let (kind, a, b) = match self.ops.get(&condition) {
            Some(Op::Compare(kind, a, b)) => (*kind, *a, *b),
            Some(Op::Binary(Binary::And, a, b)) if holds => {
                let (a, b) = (*a, *b);
                return !self.is_truth(a)
                    || !self.is_truth(b)
                    || self.assume_once(a, true, seen) && self.assume_once(b, true, seen);
            }
            Some(Op::Binary(Binary::Or, a, b)) if !holds => {
                let (a, b) = (*a, *b);
                return self.assume_once(a, false, seen) && self.assume_once(b, false, seen);
            }
            _ => return true,
        };
        // A truth value compared with 0.
        let zero = self.interval(b) == Interval::exactly(0);
        if zero && matches!(kind, Compare::Eq | Compare::Ne) && self.is_truth(a) {
            return self.assume_once(a, holds == (kind == Compare::Ne), seen);
        }
        if self.kernel.regs[a].is_float() {
            let (x, y) = float_ranges::narrowed(kind, holds, self.float(a), self.float(b));
            self.learn_float(a, x);
            self.learn_float(b, y);
        }
        if self.kernel.regs[a] != ScalarType::I64 {
            return true;
        }
        match narrowed(kind, holds, self.interval(a), self.interval(b)) {
            Some((x, y)) => {
                self.learn(a, x);
                self.learn(b, y);
                true
            }
            None => false,
        }
    }

    /// The answer to a question where a condition holds or does not; `None` if that cannot be.
    fn assuming<T>(&mut self, condition: Reg, holds: bool, ask: impl FnOnce(&Self) -> T) -> Option<T> {
        self.open_list();
        let answer = self.assume(condition, holds).then(|| ask(self));
        self.close_list();
        answer
    }

    /// Returns true if a register is 0 or 1.
    fn is_truth(&self, reg: Reg) -> bool {
        let interval = self.interval(reg);
        interval.low >= 0 && interval.high <= 1
    }

    /// The register that another one is equal to with what is assumed: the side of a choice whose
    /// condition is known, or what a constant was added to and is taken from again.
    fn specialized(&self, reg: Reg, depth: u32) -> Reg {
        match self.ops.get(&reg) {
            Some(Op::Select(condition, a, b)) if depth > 0 => match self.known_condition(*condition) {
                Some(holds) => self.specialized(if holds { *a } else { *b }, depth - 1),
                None => reg,
            },
            Some(Op::Binary(Binary::Add, a, added)) if depth > 0 => {
                let taken = match self.ops.get(&self.specialized(*a, depth - 1)) {
                    Some(Op::Binary(Binary::Add, x, taken)) => Some((*x, *taken)),
                    _ => None,
                };
                let number = |reg: Reg| self.kernel.constants.get(&reg).copied();
                match taken {
                    Some((x, taken))
                        if number(*added).zip(number(taken)).is_some_and(|(a, b)| a.wrapping_add(b) == 0) =>
                    {
                        self.specialized(x, depth - 1)
                    }
                    _ => reg,
                }
            }
            _ => reg,
        }
    }

    /// The answer to a comparison of two numbers at constant distances from the same one.
    fn decided_by_offsets(&self, kind: Compare, a: Reg, b: Reg) -> Option<bool> {
        let are_natural = || self.interval(a).is_natural() && self.interval(b).is_natural();
        let signed = match kind {
            Compare::LtUnsigned if are_natural() => Compare::Lt,
            Compare::LeUnsigned if are_natural() => Compare::Le,
            Compare::LtUnsigned | Compare::LeUnsigned => return None,
            kind => kind,
        };
        let ((one, near), (other, far)) = (self.offset(a), self.offset(b));
        (one == other).then(|| signed.holds(near as u64, far as u64))
    }

    /// A register and the constant that is added to it, where no sum on the way is beyond a word.
    fn offset(&self, mut reg: Reg) -> (Reg, i64) {
        let mut offset = 0i64;
        let constant = |reg: Reg| Some(self.interval(reg)).filter(|of| of.low == of.high).map(|of| of.low);
        for _ in 0..MAX_OFFSETS {
            let (of, added) = match self.ops.get(&reg) {
                Some(Op::Binary(Binary::Add, a, b)) => match (constant(*a), constant(*b)) {
                    (_, Some(added)) => (*a, added),
                    (Some(added), _) => (*b, added),
                    _ => break,
                },
                Some(Op::Binary(Binary::Sub, a, b)) => match constant(*b).and_then(i64::checked_neg) {
                    Some(added) => (*a, added),
                    None => break,
                },
                _ => break,
            };
            let range = self.interval(of);
            let fits = |n: i64| n.checked_add(added).is_some();
            let Some(sum) = offset.checked_add(added).filter(|_| fits(range.low) && fits(range.high)) else {
                break;
            };
            (reg, offset) = (of, sum);
        }
        (reg, offset)
    }

    /// The condition of a choice that a comparison tells, and whether the comparison holds where the
    /// condition does.
    fn told_condition(&mut self, kind: Compare, a: Reg, b: Reg) -> Option<(Reg, bool)> {
        let Some(Op::Select(condition, yes, no)) = self.ops.get(&a) else { return None };
        let ((condition, yes, no), b) = ((*condition, *yes, *no), self.interval(b));
        let mut side = |holds: bool, reg: Reg| {
            let interval =
                self.assuming(condition, holds, |walk| walk.recomputed(reg, MAX_RECOMPUTED_DEPTH))?;
            decided(kind, interval, b)
        };
        let (yes, no) = (side(true, yes)?, side(false, no)?);
        (yes != no).then_some((condition, yes))
    }

    /// The interval of a register whose definition is computed again with what is assumed.
    fn recomputed(&self, reg: Reg, depth: u32) -> Interval {
        let known = self.interval(reg);
        match self.ops.get(&reg) {
            Some(op @ Op::Binary(..)) if depth > 0 => {
                let again = self.result(op, &|operand| self.recomputed(operand, depth - 1));
                known.intersection(again).unwrap_or(known)
            }
            _ => known,
        }
    }

    /// The interval of an operation's result, by those of its operands.
    fn result(&self, op: &Op, of: &dyn Fn(Reg) -> Interval) -> Interval {
        match op {
            Op::Const(ScalarType::I64, bits) => Interval::exactly(*bits as i64),
            Op::Size(n) => Interval::exactly(self.kernel.sizes[*n as usize] as i64),
            Op::Compare(..) => Interval { low: 0, high: 1 },
            Op::Get(var) => self.variables.get(var).copied().unwrap_or(Interval::ALL),
            Op::Binary(kind, a, b) if self.kernel.regs[*a] == ScalarType::I64 => {
                binary(*kind, of(*a), of(*b))
            }
            Op::Load(array, _, ScalarType::I64) if self.kernel.arrays[*array].width < 8 => {
                Interval { low: 0, high: (1 << (8 * self.kernel.arrays[*array].width)) - 1 }
            }
            Op::Cast(Cast::ZeroExtend, ScalarType::I64, from) => {
                Interval { low: 0, high: (1i64 << (8 * self.kernel.regs[*from].bytes())) - 1 }
            }
            Op::Cast(Cast::FloatToSigned, ScalarType::I64, from) => match self.float(*from) {
                Some(float) => {
                    let (low, high) = float.whole();
                    Interval { low, high }
                }
                None => Interval::ALL,
            },
            _ => Interval::ALL,
        }
    }

    fn list(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in stmts {
            self.stmt(stmt, &mut out);
        }
        out
    }

    /// A list of statements in which some condition holds or does not.
    fn inside(
        &mut self,
        stmts: Vec<Stmt>,
        assumed: Option<(Reg, bool)>,
        index: Option<(Reg, Interval)>,
    ) -> Vec<Stmt> {
        self.open_list();
        if let Some((condition, holds)) = assumed {
            self.assume(condition, holds);
        }
        if let Some((index, interval)) = index {
            self.learn(index, interval);
            if interval != Interval::ALL {
                self.defined.insert(index, interval);
            }
        }
        let stmts = self.list(stmts);
        self.close_list();
        stmts
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        rename_uses(&mut stmt, &self.same);
        // In a branch a slot may have a simpler number.
        if self.branches > 0
            && !self.branches_always
            && let Stmt::Let(_, Op::Load(_, at, _)) | Stmt::Store(_, at, _) = &mut stmt
        {
            *at = self.specialized(*at, MAX_RECOMPUTED_DEPTH);
        }
        match stmt {
            Stmt::Let(reg, op) => self.define(reg, op, out),
            Stmt::Set(var, reg) => {
                if self.kernel.vars[var] == ScalarType::I64 {
                    let (zero, set) = (Interval::exactly(0), self.interval(reg));
                    let all = self.assigned.entry(var).or_insert(zero);
                    *all = all.union(set);
                }
                self.merges.remove(&var);
                out.push(Stmt::Set(var, reg));
            }
            Stmt::If(condition, then, otherwise) => {
                if let Some(holds) = self.known_condition(condition) {
                    return out.extend(self.list(if holds { then } else { otherwise }));
                }
                let assumed = |holds| (!self.branches_always).then_some((condition, holds));
                let (holds, fails) = (assumed(true), assumed(false));
                self.branches += 1;
                let before = self.merges.clone();
                let then = self.inside(then, holds, None);
                self.merges.clone_from(&before);
                let otherwise = self.inside(otherwise, fails, None);
                self.merges = before;
                for var in assigned_vars(&then).into_iter().chain(assigned_vars(&otherwise)) {
                    self.merges.remove(&var);
                }
                self.merges.extend(Merge::of(condition, &then, &otherwise));
                self.branches -= 1;
                let (first, second) = (never_ends(&then), never_ends(&otherwise));
                out.push(Stmt::If(condition, then, otherwise));
                if first != second && !(self.branches_always && self.branches > 0) {
                    self.assume(condition, second);
                }
            }
            mut stmt => {
                let index = match &stmt {
                    Stmt::For { index, low, high, .. } | Stmt::Reduce { index, low, high, .. } => {
                        Some((*index, rounds(self.interval(*low), self.interval(*high))))
                    }
                    Stmt::ParallelFor { index, count, .. } => {
                        Some((*index, rounds(Interval::exactly(0), self.interval(*count))))
                    }
                    _ => None,
                };
                if let Stmt::For { index, high, .. } | Stmt::Reduce { index, high, .. } = &stmt {
                    self.ends.insert(*index, *high);
                } else if let Stmt::ParallelFor { index, count, .. } = &stmt {
                    self.ends.insert(*index, *count);
                }
                for body in stmt.bodies_mut() {
                    // A round may come after another one.
                    self.merges.clear();
                    *body = self.inside(std::mem::take(body), None, index);
                    self.merges.clear();
                }
                rename_summand(&mut stmt, &self.same);
                out.push(stmt);
            }
        }
    }

    /// The value of a condition, if it is the same always.
    fn known_condition(&self, condition: Reg) -> Option<bool> {
        match self.interval(condition) {
            Interval { low: 0, high: 0 } => Some(false),
            Interval { low: 1.., .. } => Some(true),
            _ => None,
        }
    }

    /// The register that an operation is always equal to.
    fn equal_register(&self, op: &Op) -> Option<Reg> {
        match op {
            Op::Select(condition, a, b) => {
                self.known_condition(*condition).map(|holds| if holds { *a } else { *b })
            }
            Op::Binary(Binary::RemSigned, a, b) | Op::Binary(Binary::RemUnsigned, a, b) => {
                let (x, n) = (self.interval(*a), self.interval(*b));
                let small = n.low > 0 && x.high < n.low;
                let is_signed = matches!(op, Op::Binary(Binary::RemSigned, ..));
                (small && (x.is_natural() || is_signed && x.low > -n.low)).then_some(*a)
            }
            // A mask of all bits that a number may have.
            Op::Binary(Binary::And, a, b) => {
                let masks = |x: Reg, mask: Reg| {
                    let (x, mask) = (self.interval(x), self.interval(mask));
                    let is_mask =
                        mask.low == mask.high && mask.low >= 0 && mask.low & mask.low.wrapping_add(1) == 0;
                    is_mask && x.is_natural() && x.high <= mask.low
                };
                if masks(*a, *b) { Some(*a) } else { masks(*b, *a).then_some(*b) }
            }
            _ => None,
        }
    }

    /// Appends definitions.
    fn append(&mut self, stmts: Vec<Stmt>, out: &mut Vec<Stmt>) {
        for stmt in stmts {
            if let Stmt::Let(reg, op) = &stmt {
                self.ops.insert(*reg, op.clone());
            }
            out.push(stmt);
        }
    }

    /// 1 where a condition is not 0, else 0.
    fn truth(&mut self, condition: Reg, out: &mut Vec<Stmt>) -> Reg {
        if self.is_truth(condition) {
            return condition;
        }
        let mut build = Builder::new(self.kernel);
        let zero = build.int(0);
        let truth = build.define(ScalarType::I64, Op::Compare(Compare::Ne, condition, zero));
        let stmts = std::mem::take(&mut build.stmts);
        self.append(stmts, out);
        self.learn(zero, Interval::exactly(0));
        self.learn(truth, Interval { low: 0, high: 1 });
        truth
    }

    fn define(&mut self, reg: Reg, op: Op, out: &mut Vec<Stmt>) {
        if let Op::Get(var) = op
            && let Some(merge) = self.merges.get(&var)
        {
            self.merged.insert(reg, *merge);
        }
        if let Some(equal) = self.equal_register(&op) {
            self.same.insert(reg, equal);
            return;
        }
        let ty = self.kernel.regs[reg];
        if ty.is_float() {
            self.learn_float(reg, self.float_result(ty, &op));
        }
        if ty != ScalarType::I64 {
            self.ops.insert(reg, op.clone());
            return out.push(Stmt::Let(reg, op));
        }
        let op = match op {
            Op::Compare(kind, a, b) if self.kernel.regs[a] == ScalarType::I64 => {
                match self.told_condition(kind, a, b) {
                    Some((condition, true)) if self.is_truth(condition) => {
                        self.same.insert(reg, condition);
                        return;
                    }
                    Some((condition, holds)) => {
                        let mut build = Builder::new(self.kernel);
                        let zero = build.int(0);
                        let stmts = std::mem::take(&mut build.stmts);
                        self.append(stmts, out);
                        self.learn(zero, Interval::exactly(0));
                        let kind = if holds { Compare::Ne } else { Compare::Eq };
                        Op::Compare(kind, condition, zero)
                    }
                    None => Op::Compare(kind, a, b),
                }
            }
            Op::Select(condition, a, b) => {
                let mut side = |holds: bool, reg: Reg| {
                    let found =
                        self.assuming(condition, holds, |walk| walk.specialized(reg, MAX_RECOMPUTED_DEPTH));
                    found.unwrap_or(reg)
                };
                let (a, b) = (side(true, a), side(false, b));
                Op::Select(condition, a, b)
            }
            op => op,
        };
        let interval = match &op {
            // An index is below the end of its loop.
            Op::Compare(Compare::Lt | Compare::LtUnsigned, a, b)
                if self.ends.get(a) == Some(b) && self.interval(*a).is_natural() =>
            {
                Interval::exactly(1)
            }
            Op::Compare(kind, a, b) if a == b && !self.kernel.regs[*a].is_float() => {
                Interval::exactly(i64::from(kind.holds(0, 0)))
            }
            Op::Compare(kind, a, b) if self.kernel.regs[*a] == ScalarType::I64 => {
                let decided = decided(*kind, self.interval(*a), self.interval(*b));
                match decided.or_else(|| self.decided_by_offsets(*kind, *a, *b)) {
                    Some(holds) => Interval::exactly(i64::from(holds)),
                    None => Interval { low: 0, high: 1 },
                }
            }
            Op::Compare(kind, a, b) if let Some((a, b)) = self.float(*a).zip(self.float(*b)) => {
                match float_ranges::decided(*kind, a, b) {
                    Some(holds) => Interval::exactly(i64::from(holds)),
                    None => Interval { low: 0, high: 1 },
                }
            }
            Op::Select(condition, a, b) => {
                let mut side = |holds: bool, reg: Reg| {
                    self.assuming(*condition, holds, |walk| walk.recomputed(reg, MAX_RECOMPUTED_DEPTH))
                };
                match (side(true, *a), side(false, *b)) {
                    (Some(a), Some(b)) => a.union(b),
                    (a, b) => a.or(b).unwrap_or(Interval::ALL),
                }
            }
            op => self.result(op, &|reg| self.interval(reg)),
        };
        self.learn(reg, interval);
        if interval != Interval::ALL {
            self.defined.insert(reg, interval);
        }
        let op = match op {
            Op::Const(..) | Op::Size(_) => op,
            _ if interval.low == interval.high => Op::Const(ScalarType::I64, interval.low as u64),
            // One form of a comparison, for those who look for it.
            Op::Compare(kind @ (Compare::LtUnsigned | Compare::LeUnsigned), a, b)
                if self.interval(a).is_natural() && self.interval(b).is_natural() =>
            {
                let signed = if kind == Compare::LtUnsigned { Compare::Lt } else { Compare::Le };
                Op::Compare(signed, a, b)
            }
            // Of two truth values, one chosen by the other: both, or one of them.
            Op::Select(c, a, b) if self.is_truth(a) && self.interval(b) == Interval::exactly(0) => {
                Op::Binary(Binary::And, self.truth(c, out), a)
            }
            Op::Select(c, a, b) if self.is_truth(b) && self.interval(a) == Interval::exactly(1) => {
                Op::Binary(Binary::Or, self.truth(c, out), b)
            }
            Op::Binary(kind @ (Binary::RemSigned | Binary::RemUnsigned), a, b) => {
                let (x, n) = (self.interval(a), self.interval(b));
                if !x.is_natural() || n.low <= 0 || i128::from(x.high) >= 2 * i128::from(n.low) {
                    Op::Binary(kind, a, b)
                } else {
                    let mut build = Builder::new(self.kernel);
                    let less = build.define(ScalarType::I64, Op::Compare(Compare::Lt, a, b));
                    let rest = build.binary(Binary::Sub, a, b);
                    let stmts = std::mem::take(&mut build.stmts);
                    self.append(stmts, out);
                    self.learn(less, Interval { low: 0, high: 1 });
                    self.learn(rest, binary(Binary::Sub, x, n));
                    Op::Select(less, a, rest)
                }
            }
            op => op,
        };
        if let Op::Const(_, bits) = op {
            self.kernel.constants.insert(reg, bits);
        }
        self.ops.insert(reg, op.clone());
        out.push(Stmt::Let(reg, op));
    }
}

/// Returns true if the end of a list of statements is never reached.
fn never_ends(stmts: &[Stmt]) -> bool {
    matches!(stmts.last(), Some(Stmt::Fail | Stmt::Break(_) | Stmt::Continue(_)))
}
