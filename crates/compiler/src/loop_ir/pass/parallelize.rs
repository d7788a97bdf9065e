//! Automatic parallelization: loops in order whose rounds are independent become parallel.
//!
//! ```text
//! for i in 0..<n                 parallel for i < n
//!   v = call exp(a[i])     =>      v = call exp(a[i])
//!   b[i] <- v                      b[i] <- v
//! ```
//!
//! **When rounds are independent** (loops without carried dependence; Allen and Kennedy,
//! *Optimizing compilers for modern architectures*, 2001, chapter 2). For each array that a round
//! stores into, slots are affine in the index ([`Affine`]): `c * i + s + r`, where `s` is the same
//! in all rounds, and `r` has an interval, by the intervals of inner indices. Two accesses of
//! different rounds meet only where a multiple of `c` is the difference of two numbers of these
//! intervals. Slots that do not depend on the index lie below all that are stored or above them. A
//! variable that a round sets is set before it is read, and read nowhere else. No round leaves the
//! loop, but for a failure of the kernel, which no later round without end may keep from its end.
//!
//! An array to work in that only the rounds mention, and that each fills before it reads it, has
//! memory for each piece.
//!
//! **Which.** The outermost such loop, if all its rounds are estimated to take long enough
//! ([`cost`](super::super::cost)) and hold no parallel loop that does.
//!
//! Costs time in proportion to the statements times the depth of loops; of an array, to the
//! accesses in the loop.

use super::super::{
    Array, Binary, Kernel, Label, Op, Origin, Part, Reg, ScalarType, Stmt, Var, cost, defined_registers,
    for_each_stmt,
};
use super::affine::{Affine, Forms};
use super::integer_ranges::Interval;
use super::value_ranges::definition_intervals;
use super::{Builder, has_alias, mentions, rewrite};
use crate::hash::{HashMap, HashSet};

/// Nanoseconds of a loop from which it is parallel, if nothing repeats it.
const MIN_NS: f64 = 15_000.0;

/// Bytes of the largest array of which each piece has its own.
const MAX_PRIVATE_BYTES: u64 = 1 << 20;

/// Bounds of numbers whose products with coefficients are summed without overflow.
const MAX_BOUND: i64 = 1 << 48;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let costs = cost::loop_costs(kernel);
    let mut worthwhile = false;
    for_each_stmt(&kernel.body, &mut |stmt| {
        worthwhile |= matches!(stmt, Stmt::For { index, .. } if costs[index] >= MIN_NS);
    });
    if !worthwhile {
        return;
    }
    let mut search = Search::new(kernel);
    let (mut loops, mut private) = (HashSet::default(), Vec::new());
    search.find_parallel_loops(&kernel.body, false, &costs, &mut |index, arrays| {
        loops.insert(index);
        private.extend(arrays);
    });
    if loops.is_empty() {
        return;
    }
    for array in private {
        kernel.arrays[array].origin = Origin::ThreadLocal;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::For { label, index, low, high, body } if loops.contains(&index) => {
                    out.extend(parallel_for(kernel, label, index, (low, high), body));
                }
                stmt => out.push(stmt),
            }
        }
        out
    });
}

/// The sequential loops among these, by their indices, whose rounds are independent and share the
/// memory of all arrays. Pieces of a loop that is cut (`in_pieces`) share none on the stack.
pub(super) fn independent_loops(kernel: &Kernel, candidates: &HashSet<Reg>, in_pieces: bool) -> HashSet<Reg> {
    let mut search = Search::new(kernel);
    let mut found = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, .. } = stmt
            && candidates.contains(index)
            && search.check_independence(stmt, in_pieces).is_some_and(|private| private.is_empty())
        {
            found.insert(*index);
        }
    });
    found
}

/// A parallel loop for one in order.
fn parallel_for(
    kernel: &mut Kernel,
    label: Label,
    index: Reg,
    (low, high): (Reg, Reg),
    mut body: Vec<Stmt>,
) -> Vec<Stmt> {
    if replace_continues(&mut body, label) {
        body = vec![Stmt::Block(label, body)];
    }
    if kernel.constants.get(&low) == Some(&0) {
        return vec![Stmt::ParallelFor { index, count: high, body }];
    }
    let mut build = Builder::new(kernel);
    let last = build.max(low, high);
    let count = build.binary(Binary::Sub, last, low);
    let round = build.reg(ScalarType::I64);
    let mut out = build.stmts;
    body.insert(0, Stmt::Let(index, Op::Binary(Binary::Add, round, low)));
    out.push(Stmt::ParallelFor { index: round, count, body });
    out
}

/// Replaces each `continue` of a loop by a `break` out of a block around its body; returns true if
/// there is one.
fn replace_continues(stmts: &mut [Stmt], label: Label) -> bool {
    let mut found = false;
    for stmt in stmts {
        if *stmt == Stmt::Continue(label) {
            *stmt = Stmt::Break(label);
            found = true;
        }
        for body in stmt.bodies_mut() {
            found |= replace_continues(body, label);
        }
    }
    found
}

/// A load or a store of a round.
struct Access {
    /// The coefficient of the index.
    coefficient: i64,
    /// The part that is the same in all rounds.
    same: Affine,
    /// The bounds of the rest.
    low: i64,
    high: i64,
    is_store: bool,
}

impl Access {
    /// Returns true if a slot of one round may be one of the other access in another round: a
    /// multiple of the coefficient is the distance of two of their slots.
    fn may_conflict(&self, other: &Access, coefficient: i64, rounds: i64) -> bool {
        let (nearest, farthest) = (other.low - self.high, other.high - self.low);
        let first = nearest.div_euclid(coefficient) + i64::from(nearest.rem_euclid(coefficient) != 0);
        let last = farthest.div_euclid(coefficient);
        let (first, last) = (first.max(1 - rounds), last.min(rounds - 1));
        first <= last && (first, last) != (0, 0)
    }
}

struct Search<'k> {
    kernel: &'k Kernel,
    forms: Forms<'k>,
    intervals: HashMap<Reg, Interval>,
    mentioned: Mentions,
}

/// The number of times that statements mention variables and arrays.
#[derive(Default)]
struct Mentions {
    vars: HashMap<Var, u32>,
    arrays: HashMap<Array, u32>,
}

impl Mentions {
    fn of(stmts: &[Stmt]) -> Mentions {
        let mut this = Mentions::default();
        for_each_stmt(stmts, &mut |stmt| {
            stmt.for_each_part(&mut |part| match part {
                Part::VarRead(var) | Part::VarWrite(var) => *this.vars.entry(*var).or_default() += 1,
                Part::ArrayRead(array) | Part::ArrayWrite(array) | Part::ArrayChange(array) => {
                    *this.arrays.entry(*array).or_default() += 1;
                }
                _ => {}
            });
        });
        this
    }
}

impl<'k> Search<'k> {
    fn new(kernel: &'k Kernel) -> Search<'k> {
        Search {
            kernel,
            forms: Forms::new(kernel),
            intervals: definition_intervals(kernel),
            mentioned: Mentions::of(&kernel.body),
        }
    }

    /// Calls `found` on the outermost independent loops that take long enough, by their indices,
    /// with the arrays of which each piece has its own.
    fn find_parallel_loops(
        &mut self,
        stmts: &'k [Stmt],
        repeated: bool,
        costs: &HashMap<Reg, f64>,
        found: &mut dyn FnMut(Reg, Vec<Array>),
    ) {
        for stmt in stmts {
            match stmt {
                Stmt::ParallelFor { .. } | Stmt::Reduce { .. } => continue,
                Stmt::For { index, .. } => {
                    let least = if repeated { super::parallel_level::MIN_PARALLEL_NS } else { MIN_NS };
                    if costs[index] < least {
                        continue;
                    }
                    if let Some(private) = self.check_independence(stmt, true) {
                        found(*index, private);
                        continue;
                    }
                }
                _ => {}
            }
            let repeats = matches!(stmt, Stmt::For { .. } | Stmt::Loop(..));
            for body in stmt.bodies() {
                self.find_parallel_loops(body, repeated || repeats, costs, found);
            }
        }
    }

    /// The arrays of which each piece has its own, if the rounds of a loop are independent. Arrays on
    /// the stack are not shared by pieces of a loop that is cut (`in_pieces`).
    fn check_independence(&mut self, stmt: &'k Stmt, in_pieces: bool) -> Option<Vec<Array>> {
        let Stmt::For { label, index, low, high, body } = stmt else { return None };
        let (mut plain, mut fails, mut may_not_end) = (true, false, false);
        let mut written: HashSet<Array> = HashSet::default();
        // Arrays of which any slot may be read.
        let mut read: HashSet<Array> = HashSet::default();
        for_each_stmt(body, &mut |inner| {
            plain &= match inner {
                Stmt::Swap(..)
                | Stmt::Grow(..)
                | Stmt::Gemm(_)
                | Stmt::Sort(_)
                | Stmt::ParallelFor { .. } => false,
                Stmt::Call(call) => {
                    read.extend(call.read.iter().map(|(array, _)| *array));
                    call.written.is_empty()
                }
                Stmt::Break(target) => target != label,
                _ => true,
            };
            fails |= matches!(inner, Stmt::Fail | Stmt::Call(_));
            may_not_end |= matches!(inner, Stmt::Loop(..));
            written.extend(inner.written_arrays());
        });
        plain &= !written.iter().any(|array| has_alias(self.kernel, *array) || read.contains(array));
        // A round that fails ends the loop; a later one may not end.
        plain &= !fails || !may_not_end;
        if !plain || stmt.leaves() {
            return None;
        }
        let defined = defined_registers(body);
        let own = Mentions::of(body);
        self.variables_are_private(body, &own)?;
        let mut private = Vec::new();
        let mut arrays: Vec<Array> = written.into_iter().collect();
        arrays.sort_unstable();
        for array in arrays {
            let only_here = own.arrays.get(&array) == self.mentioned.arrays.get(&array);
            match self.kernel.arrays[array].origin {
                Origin::Stack(_) | Origin::ThreadLocal if only_here && is_filled_first(body, array) => {}
                Origin::Stack(_) | Origin::ThreadLocal if in_pieces => return None,
                _ if self.has_own_slots(array, body, &defined, *index, (*low, *high)).is_some() => {}
                Origin::Scratch if only_here && is_filled_first(body, array) => {
                    let width = u64::from(self.kernel.arrays[array].width);
                    if self.kernel.slots[array].saturating_mul(width) > MAX_PRIVATE_BYTES {
                        return None;
                    }
                    private.push(array);
                }
                _ => return None,
            }
        }
        Some(private)
    }

    /// `Some` if each variable that a round sets is its own.
    fn variables_are_private(&self, body: &[Stmt], own: &Mentions) -> Option<()> {
        let mut set_here = HashSet::default();
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Set(var, _) = stmt {
                set_here.insert(*var);
            }
        });
        let only_here = |var: &Var| own.vars.get(var) == self.mentioned.vars.get(var);
        (set_here.iter().all(only_here) && are_set_first(body, &set_here, &mut HashSet::default()))
            .then_some(())
    }

    /// `Some` if a round stores into slots of an array that no other round loads or stores.
    fn has_own_slots(
        &mut self,
        array: Array,
        body: &'k [Stmt],
        inner: &HashSet<Reg>,
        index: Reg,
        (low, high): (Reg, Reg),
    ) -> Option<()> {
        let mut slots: Vec<(Reg, bool)> = Vec::new();
        for_each_stmt(body, &mut |stmt| match stmt {
            Stmt::Store(stored, at, _) if *stored == array => slots.push((*at, true)),
            Stmt::Let(_, Op::Load(loaded, at, _)) if *loaded == array => slots.push((*at, false)),
            _ => {}
        });
        slots.sort_unstable();
        slots.dedup();
        let accesses: Option<Vec<Access>> = slots
            .into_iter()
            .map(|(at, is_store)| {
                let form = self.forms.of(at);
                self.access(&form, index, inner, is_store)
            })
            .collect();
        let accesses = accesses?;
        let first = accesses.iter().find(|access| access.is_store)?;
        let coefficient = first.coefficient;
        let bound = self.intervals.get(&index).copied().filter(|range| is_small(*range))?;
        let reach = i128::from(bound.low.abs().max(bound.high.abs())) * i128::from(coefficient);
        if coefficient == 0 || reach.abs() > 1 << 62 {
            return None;
        }
        let (mut moving, mut fixed) = (Vec::new(), Vec::new());
        for access in &accesses {
            if access.coefficient == coefficient && access.same == first.same {
                moving.push(access);
            } else if access.is_store || access.coefficient != 0 {
                return None;
            } else {
                fixed.push(access);
            }
        }
        if coefficient < 0 && !fixed.is_empty() {
            return None;
        }
        let stores = || moving.iter().filter(|access| access.is_store);
        let rounds = bound.high - bound.low + 1;
        if stores()
            .any(|store| moving.iter().any(|other| store.may_conflict(other, coefficient.abs(), rounds)))
        {
            return None;
        }
        let least = stores().map(|store| store.low).min()?;
        let most = stores().map(|store| store.high).max()?;
        // Slots that stay the same lie below those of the first round, or above those of the last.
        let (low, high) = (self.forms.of(low), self.forms.of(high));
        let distance = |other: &Access, round: &Affine| {
            let difference = first.same.add_scaled(round, coefficient)?.add_scaled(&other.same, -1)?;
            (difference.terms.is_empty() && difference.constant.abs() <= MAX_BOUND)
                .then_some(difference.constant)
        };
        let is_apart = |other: &&Access| {
            let below = distance(other, &low).is_some_and(|start| start + least > other.high);
            let last = high.add_scaled(&Affine::constant(1), -1);
            let above =
                last.and_then(|last| distance(other, &last)).is_some_and(|end| end + most < other.low);
            below || above
        };
        fixed.iter().all(is_apart).then_some(())
    }

    fn access(&self, form: &Affine, index: Reg, inner: &HashSet<Reg>, is_store: bool) -> Option<Access> {
        let mut access = Access {
            coefficient: 0,
            same: Affine::constant(0),
            low: form.constant,
            high: form.constant,
            is_store,
        };
        for (reg, coefficient) in &form.terms {
            if *reg == index {
                access.coefficient = *coefficient;
            } else if inner.contains(reg) {
                let range = self.intervals.get(reg).copied().filter(|range| is_small(*range))?;
                let ends = [range.low.checked_mul(*coefficient)?, range.high.checked_mul(*coefficient)?];
                access.low = access.low.checked_add(ends[0].min(ends[1]))?;
                access.high = access.high.checked_add(ends[0].max(ends[1]))?;
            } else {
                access.same.terms.push((*reg, *coefficient));
            }
        }
        (access.low >= -MAX_BOUND && access.high <= MAX_BOUND).then_some(access)
    }
}

/// Returns true if sums of products of such numbers do not overflow.
fn is_small(range: Interval) -> bool {
    range.low >= -MAX_BOUND && range.high <= MAX_BOUND
}

/// Returns true if each of these variables is set before it is read; adds those that are set.
fn are_set_first(stmts: &[Stmt], vars: &HashSet<Var>, set: &mut HashSet<Var>) -> bool {
    for stmt in stmts {
        match stmt {
            Stmt::Set(var, _) => drop(set.insert(*var)),
            Stmt::Let(_, Op::Get(var)) if vars.contains(var) && !set.contains(var) => return false,
            Stmt::If(_, then, otherwise) => {
                let (mut one, mut other) = (set.clone(), set.clone());
                if !are_set_first(then, vars, &mut one) || !are_set_first(otherwise, vars, &mut other) {
                    return false;
                }
                set.extend(one.intersection(&other));
            }
            // May run not at all, or be left before its end.
            stmt => {
                let inside = |body: &[Stmt]| are_set_first(body, vars, &mut set.clone());
                if !stmt.bodies().into_iter().all(inside) {
                    return false;
                }
            }
        }
    }
    true
}

/// Returns true if the first statement that mentions an array stores into it, under no condition:
/// an array that belongs to a round is filled before it is read.
fn is_filled_first(stmts: &[Stmt], array: Array) -> bool {
    let Some(stmt) = stmts.iter().find(|stmt| mentions(stmt, array)) else { return false };
    match stmt {
        Stmt::Store(stored, ..) => *stored == array,
        Stmt::For { body, .. } | Stmt::Block(_, body) => is_filled_first(body, array),
        _ => false,
    }
}
