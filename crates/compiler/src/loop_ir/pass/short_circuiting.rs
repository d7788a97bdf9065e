//! Array short-circuiting: an array that is computed only to be copied is computed where the copy
//! is.
//!
//! ```text
//! parallel for i < n                        parallel for i < n
//!   for j < m: s := s + x[i, j]               for j < m: s := s + x[i, j]
//!     row[j] <- s                                 out[m * i + j] <- s
//!   for j < m: out[m * i + j] <- row[j]  =>
//! ```
//!
//! The rows that a function gives are put together to a matrix, a matrix is transposed, an array of
//! arrays becomes a longer one: each reads and writes all slots once more (P. Munksgaard,
//! C. Oancea, T. Henriksen, *Memory optimizations in an array language*, 2022).
//!
//! **Method.** A nest of loops copies the slot `c0 * i0 + c1 * i1 + …` of an array to the slot
//! `base + g0 * i0 + g1 * i1 + …` of another one, for all indices `ik` below `nk`, and the
//! coefficients `ck` are the place values of digits of these radices, so it copies each slot once;
//! the `gk` are so far apart that each slot has one of its own, and nothing else is done with it.
//! All other accesses of the array come before, and those of its copy afterward. If all `gk` are
//! the same multiple of `ck`, the slot `e` is `base + multiple * e` in the copy. Else the affine
//! form ([`Affine`](super::affine::Affine)) of each slot number is cut into digits: a term belongs
//! to the largest place value that divides it, and the digit has to be below its radix for all
//! values that its registers may have ([`value_ranges`](super::value_ranges)).
//!
//! **Why nothing changes.** Different slots of the array have different slots in the copy, so each
//! slot that is read holds what was stored into it. The array belongs to a run, or to a round of the
//! parallel loop in whose body the copy is, and the slots of the copy to that round as well. What a
//! failed kernel leaves is undefined.
//!
//! **When.** An array whose order of slots changes is only written where it is stored far apart in a
//! loop that reads as far apart, and side by side by the parallel index around, for
//! [`interchange_tile`](super::interchange_tile).
//!
//! Costs time in proportion to the statements, for each of at most [`MAX_COPIES`] copies.

use super::super::{
    Array, Binary, IdMap, Kernel, Op, Origin, Reg, ScalarType, Stmt, defined_registers, for_each_stmt,
};
use super::affine::{Affine, Forms, digits_of};
use super::integer_ranges::Interval;
use super::value_ranges::definition_intervals;
use super::{Builder, has_second_name, loop_parts, mentions, rewrite};
use crate::hash::HashMap;

/// Copies that are removed from a kernel, at most.
const MAX_COPIES: usize = 16;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    for _ in 0..MAX_COPIES {
        let mut search = Search::new(kernel);
        let Some(copy) = search.list(&kernel.body, List::TopLevel) else { return };
        let slots = search.slots(&copy);
        remove(kernel, &copy, &slots);
    }
}

/// A copy of all slots of an array.
#[derive(Clone, Debug)]
struct ArrayCopy {
    source: Array,
    target: Array,
    /// The register that holds a slot between load and store.
    value: Reg,
    digits: Vec<Digit>,
    /// The slot of the copy of the first slot.
    base: Affine,
}

/// A digit of the slot numbers of an array that is copied.
#[derive(Clone, Copy, Debug)]
struct Digit {
    /// The place value in the array.
    source: i64,
    /// The number of values.
    radix: i64,
    /// The coefficient in the slot numbers of the copy.
    target: i64,
}

impl ArrayCopy {
    /// The difference of the slots of the copy from one slot of the array to the next, if it is the
    /// same everywhere.
    fn stride(&self) -> Option<i64> {
        let mut digits = self.digits.iter().filter(|digit| digit.radix > 1);
        let first = digits.next().map_or(1, |digit| digit.target / digit.source);
        let same = |digit: &Digit| Some(digit.target) == digit.source.checked_mul(first);
        (first > 0 && self.digits.iter().filter(|digit| digit.radix > 1).all(same)).then_some(first)
    }

    /// The slot of the copy for a slot of the array with an affine form.
    fn slot(&self, form: &Affine, intervals: &IdMap<Reg, Interval>) -> Option<Affine> {
        let place = |coefficient: i64| {
            let fits = |digit: &Digit| coefficient % digit.source == 0;
            self.digits.iter().rposition(fits)
        };
        let mut digits = vec![Affine::default(); self.digits.len()];
        for (reg, coefficient) in &form.terms {
            let at = place(*coefficient)?;
            let term = Affine::register(*reg);
            digits[at] = digits[at].add_scaled(&term, coefficient / self.digits[at].source)?;
        }
        let mut constant = form.constant;
        for (digit, form) in self.digits.iter().zip(&mut digits).rev() {
            form.constant = constant / digit.source;
            constant %= digit.source;
        }
        let mut slot = self.base.clone();
        for (digit, form) in self.digits.iter().zip(&digits) {
            let (low, high) = bounds(form, intervals)?;
            if constant != 0 || low < 0 || high >= i128::from(digit.radix) {
                return None;
            }
            slot = slot.add_scaled(form, digit.target)?;
        }
        Some(slot)
    }
}

/// The lowest and the highest value of a form.
fn bounds(form: &Affine, intervals: &IdMap<Reg, Interval>) -> Option<(i128, i128)> {
    let constant = i128::from(form.constant);
    form.terms.iter().try_fold((constant, constant), |(low, high), (reg, coefficient)| {
        let Interval { low: first, high: last } = intervals.get(reg)?;
        let ends = [first, last].map(|end| i128::from(*end) * i128::from(*coefficient));
        Some((low + ends[0].min(ends[1]), high + ends[0].max(ends[1])))
    })
}

/// The array and the slot number of a load or a store.
fn access(stmt: &Stmt) -> Option<(Array, Reg)> {
    match stmt {
        Stmt::Let(_, Op::Load(array, at, _)) | Stmt::Store(array, at, _) => Some((*array, *at)),
        _ => None,
    }
}

/// Returns true if different digits have different slots in the copy: each coefficient is above all
/// that the smaller ones make together.
fn are_apart(digits: &[Digit]) -> bool {
    let mut targets: Vec<(u64, i64)> = digits
        .iter()
        .filter(|digit| digit.radix > 1)
        .map(|digit| (digit.target.unsigned_abs(), digit.radix))
        .collect();
    targets.sort_unstable();
    let mut reached = 0u64;
    targets.into_iter().all(|(target, radix)| {
        let above = target > reached;
        reached = reached.saturating_add(target.saturating_mul(radix as u64 - 1));
        above
    })
}

/// A list of statements.
#[derive(Clone, Copy)]
enum List {
    /// The body of the kernel.
    TopLevel,
    /// The body of a parallel loop over an index.
    Round(Reg),
    Other,
}

/// The loops around a statement: the parallel one, and the innermost one of others.
#[derive(Clone, Copy)]
struct Around<'s> {
    parallel: Option<Reg>,
    inner: Option<(Reg, &'s [Stmt])>,
}

struct Search<'k> {
    kernel: &'k Kernel,
    forms: Forms<'k>,
    intervals: IdMap<Reg, Interval>,
    /// The number of statements that access each array, or mention it otherwise.
    counts: HashMap<Array, usize>,
    /// The number of reads of each register.
    reads: HashMap<Reg, usize>,
}

impl<'k> Search<'k> {
    fn new(kernel: &'k Kernel) -> Search<'k> {
        let (counts, mut reads) = (counts(&kernel.body), HashMap::default());
        for_each_stmt(&kernel.body, &mut |stmt| {
            stmt.for_each_read(&mut |reg| *reads.entry(reg).or_insert(0) += 1);
        });
        Search { kernel, forms: Forms::new(kernel), intervals: definition_intervals(kernel), counts, reads }
    }

    /// The first copy that can be removed, in lists inside others first.
    fn list(&mut self, stmts: &'k [Stmt], list: List) -> Option<ArrayCopy> {
        for (at, stmt) in stmts.iter().enumerate() {
            for body in stmt.bodies() {
                let inside = match stmt {
                    Stmt::ParallelFor { index, .. } => List::Round(*index),
                    _ => List::Other,
                };
                if let Some(copy) = self.list(body, inside) {
                    return Some(copy);
                }
            }
            let mut copies = Vec::new();
            if !matches!(list, List::Other) {
                self.copies(stmt, &mut Vec::new(), &mut copies);
            }
            let removable = copies.into_iter().find(|copy| self.may_be_removed(copy, &stmts[..=at], list));
            if removable.is_some() {
                return removable;
            }
        }
        None
    }

    /// Collects the copies of all slots of an array in a nest of loops; `loops` are those around,
    /// with their numbers of rounds.
    fn copies(&mut self, stmt: &'k Stmt, loops: &mut Vec<(Reg, i64)>, copies: &mut Vec<ArrayCopy>) {
        if !matches!(stmt, Stmt::For { .. } | Stmt::ParallelFor { .. }) {
            return;
        }
        let Some(parts) = loop_parts(stmt) else { return };
        let begins = parts.low.is_none_or(|low| self.forms.constant(low) == Some(0));
        let Some(rounds) = self.forms.constant(parts.high).filter(|rounds| begins && *rounds > 0) else {
            return;
        };
        if parts.body.iter().any(Stmt::leaves) {
            return;
        }
        loops.push((parts.index, rounds));
        let mut loaded: HashMap<Reg, (Array, Reg)> = HashMap::default();
        for stmt in parts.body {
            match stmt {
                Stmt::Let(reg, Op::Load(array, at, _)) => drop(loaded.insert(*reg, (*array, *at))),
                Stmt::Store(target, to, value) => {
                    let Some((source, from)) = loaded.get(value) else { continue };
                    copies.extend(self.copy((*source, *from), (*target, *to), *value, loops));
                }
                stmt => self.copies(stmt, loops, copies),
            }
        }
        loops.pop();
    }

    fn copy(
        &mut self,
        (source, from): (Array, Reg),
        (target, to): (Array, Reg),
        value: Reg,
        loops: &[(Reg, i64)],
    ) -> Option<ArrayCopy> {
        let (from, to) = (self.forms.of(from), self.forms.of(to));
        let digits = digits_of(&from.terms, loops, 1, self.kernel.slots[source])?;
        if from.constant != 0 {
            return None;
        }
        let others_run_once = loops
            .iter()
            .all(|(index, rounds)| *rounds == 1 || digits.iter().any(|(digit, ..)| digit == index));
        let mut base = to.clone();
        base.terms.retain(|(reg, _)| !loops.iter().any(|(index, _)| index == reg));
        let digits: Vec<Digit> = digits
            .iter()
            .map(|(reg, place, rounds)| Digit {
                source: *place,
                radix: *rounds,
                target: to.coefficient(*reg),
            })
            .collect();
        let is_only_copied = self.reads.get(&value) == Some(&1);
        (others_run_once && is_only_copied && are_apart(&digits)).then_some(ArrayCopy {
            source,
            target,
            value,
            digits,
            base,
        })
    }

    /// Returns true if a copy that the last one of some statements makes can be removed.
    fn may_be_removed(&mut self, copy: &ArrayCopy, stmts: &'k [Stmt], list: List) -> bool {
        let (source, target) = (copy.source, copy.target);
        let (from, to) = (self.kernel.arrays[source], self.kernel.arrays[target]);
        let is_own = match list {
            List::TopLevel => matches!(from.origin, Origin::Scratch | Origin::ThreadLocal | Origin::Stack(_)),
            List::Round(_) => matches!(from.origin, Origin::ThreadLocal | Origin::Stack(_)),
            List::Other => false,
        };
        let is_made = match list {
            List::TopLevel => matches!(to.origin, Origin::Scratch | Origin::Result(_)),
            _ => !matches!(to.origin, Origin::Input(_) | Origin::InOut(_) | Origin::Alias(_)),
        };
        let here = counts(stmts);
        let copied_once = counts(&stmts[stmts.len() - 1..]).get(&source) == Some(&1);
        let named_once = ![source, target].iter().any(|array| has_second_name(self.kernel, *array));
        if !(is_own && is_made && named_once && copied_once && source != target && from.width == to.width)
            || here.get(&source) != self.counts.get(&source)
            || here.get(&target) != Some(&1)
        {
            return false;
        }
        // The slot of the copy is known before the first access.
        let first = stmts.iter().position(|stmt| mentions(stmt, source)).expect("the copy reads the array");
        let later = defined_registers(&stmts[first..]);
        if first + 1 == stmts.len() || copy.base.terms.iter().any(|(reg, _)| later.contains(reg)) {
            return false;
        }
        let mut plain = true;
        for_each_stmt(&stmts[first..], &mut |stmt| {
            plain &= access(stmt).is_some() || !stmt.arrays().contains(&source);
        });
        let parallel = if let List::Round(index) = list { Some(index) } else { None };
        let around = Around { parallel, inner: None };
        plain
            && (copy.stride() == Some(1) || self.is_profitable(copy, &stmts[first..stmts.len() - 1], around))
    }

    /// Returns true if all accesses of an array are as far apart in its copy as what is read beside
    /// them, in loops inside a parallel loop by whose index they are side by side.
    fn is_profitable(&mut self, copy: &ArrayCopy, stmts: &'k [Stmt], around: Around<'k>) -> bool {
        stmts.iter().all(|stmt| {
            if let Some((array, at)) = access(stmt)
                && array == copy.source
            {
                return self.is_tiled(copy, at, around);
            }
            let around = match (stmt, loop_parts(stmt)) {
                (Stmt::ParallelFor { index, .. }, _) => Around { parallel: Some(*index), inner: None },
                (_, Some(parts)) => Around { inner: Some((parts.index, parts.body)), ..around },
                _ => around,
            };
            stmt.bodies().into_iter().all(|body| self.is_profitable(copy, body, around))
        })
    }

    /// The slots of a copy in place of the slot numbers of its array, where the order of slots
    /// changes.
    fn slots(&mut self, copy: &ArrayCopy) -> HashMap<Reg, Affine> {
        let mut slots = HashMap::default();
        if copy.stride().is_none() {
            for_each_stmt(&self.kernel.body, &mut |stmt| {
                if let Some((array, at)) = access(stmt)
                    && array == copy.source
                    && let Some(slot) = copy.slot(&self.forms.of(at), &self.intervals)
                {
                    slots.insert(at, slot);
                }
            });
        }
        slots
    }

    fn is_tiled(&mut self, copy: &ArrayCopy, at: Reg, around: Around<'k>) -> bool {
        let form = self.forms.of(at);
        let Some(slot) = copy.slot(&form, &self.intervals) else { return false };
        let Some(parallel) = around.parallel else { return false };
        let Some((inner, body)) = around.inner else { return slot.coefficient(parallel) == 1 };
        slot.coefficient(parallel) == 1
            && body.iter().any(|stmt| match stmt {
                Stmt::Let(_, Op::Load(array, at, _)) if *array != copy.source => {
                    let form = self.forms.of(*at);
                    form.coefficient(parallel) == 1 && form.coefficient(inner).unsigned_abs() > 1
                }
                _ => false,
            })
    }
}

/// The number of statements that mention each array.
fn counts(stmts: &[Stmt]) -> HashMap<Array, usize> {
    let mut counts = HashMap::default();
    for_each_stmt(stmts, &mut |stmt| {
        for array in stmt.arrays() {
            *counts.entry(array).or_insert(0) += 1;
        }
    });
    counts
}

/// Removes a copy: the slots of the array are those of the copy, `slots` for each slot number where
/// their order changes.
fn remove(kernel: &mut Kernel, copy: &ArrayCopy, slots: &HashMap<Reg, Affine>) {
    let stride = copy.stride();
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut build = Builder::new(kernel);
        for mut stmt in stmts {
            match &mut stmt {
                Stmt::Let(reg, Op::Load(array, ..)) if *array == copy.source && *reg == copy.value => {
                    continue;
                }
                Stmt::Store(array, _, value) if *array == copy.target && *value == copy.value => continue,
                Stmt::Let(_, Op::Load(array, at, _)) | Stmt::Store(array, at, _) if *array == copy.source => {
                    *array = copy.target;
                    *at = match stride {
                        Some(stride) => affine(&mut build, &copy.base, Some((*at, stride))),
                        None => affine(&mut build, &slots[at], None),
                    };
                }
                _ => {}
            }
            let is_empty = loop_parts(&stmt).is_some_and(|parts| {
                parts.item.is_none() && parts.body.iter().all(|stmt| matches!(stmt, Stmt::Let(..)))
            });
            if !is_empty {
                build.stmts.push(stmt);
            }
        }
        build.stmts
    });
}

/// Computes an affine form, plus a register times a factor.
fn affine(build: &mut Builder<'_>, form: &Affine, more: Option<(Reg, i64)>) -> Reg {
    let mut sum = None;
    for (reg, factor) in form.terms.iter().copied().chain(more) {
        let term = match factor {
            1 => reg,
            _ => {
                let factor = build.int(factor);
                build.binary(Binary::Mul, reg, factor)
            }
        };
        sum = Some(match sum {
            None => term,
            Some(sum) => build.binary(Binary::Add, sum, term),
        });
    }
    match sum {
        None => build.int(form.constant),
        Some(sum) if form.constant == 0 => sum,
        Some(sum) => {
            let constant = build.define(ScalarType::I64, Op::Const(ScalarType::I64, form.constant as u64));
            build.binary(Binary::Add, sum, constant)
        }
    }
}
