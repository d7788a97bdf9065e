//! Unroll and jam: several iterations of a loop side by side, where a loop inside is bound by
//! latency.
//!
//! # Parallel loops
//!
//! In a recurrence along a row (tridiagonal equations, a filter) each iteration of the inner loop
//! needs the result of the one before, and the processor waits for a division and for slots of
//! memory that have just been written. Iterations of the outer loop are independent, so
//! [`UNROLL_FACTOR`] of them go side by side, which hides the latency. Where no operation takes
//! long (running sums, counts), nothing is gained: the memory of several places at once costs more
//! than an addition.
//!
//! ```text
//! each r < count                   each g < groups + rest
//!   A                                if g < groups
//!   for k in low..<high                A of four rounds r, one after the other
//!     B                      ⟶         for t below the shortest of high - low
//!   C                                    B of each, k = low + t
//!                                      for each that has more: for k in low + t ..< high, B
//!                                      C of each
//!                                    else: one round r, as it was
//! ```
//!
//! If the bounds of a loop inside are the same in all iterations, no remainder is left. Each round
//! still does its own statements in their order, with variables and working memory of its own, so
//! no bit changes. Only inner loops that wait for themselves and write something are put together
//! (what has no such loop goes by vectors, and loops per element that write nothing go by masks);
//! everything else in a body is written out for one round after the other, as long as the code
//! stays short ([`MAX_STATEMENTS`]).
//!
//! # Loops in order
//!
//! A sum in order waits for each addition. Triangular loops are full of them: Cholesky and LU
//! factors, equations with a triangular matrix. There a round needs what the rounds before have
//! stored, but only in the last terms of its sum:
//!
//! ```text
//! for j in first..<last            for g in 0..<(last - first) / 4, j = first + 4 * g
//!   A                                A of j, j + 1, j + 2, j + 3
//!   for k in low..<end(j)            for k in low..<end(j)
//!     v := v - a[k] * b[j, k]   ⟶      the term of each
//!   C, which stores into a[j]        C of j
//!                                    for k in end(j)..<end(j + 1): the term of j + 1
//!                                    C of j + 1
//!                                    …
//!                                  the rounds that are left, as they were
//! ```
//!
//! Each sum has its terms in their order, and each store has its place among the stores. What moves
//! is what a round loads in `A` and for `k` below the first end: in front of the stores of up to
//! three rounds before. So no such load may meet such a store ([`dependence`](super::dependence)).

use super::super::cost::loop_costs;
use super::super::{
    Array, Binary, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt, Unary, defined_registers,
    for_each_stmt, is_straight_line,
};
use super::affine::Forms;
use super::clone_stmts::{Cloner, Renaming};
use super::dependence::{Dependences, Rounds};
use super::parallelize::{Mentions, variables_are_private};
use super::{Builder, Position, assigned_vars, has_alias, known_rounds, rewrite};
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeSet;

/// The minimum estimated run time of a loop that is jammed, in nanoseconds.
const MIN_LOOP_NS: f64 = 200_000.0;
/// Rounds that go side by side.
const UNROLL_FACTOR: usize = 4;
/// Statements of a body.
const MAX_STATEMENTS: usize = 100;
/// Bytes of working memory on the stack of one round.
const MAX_STACK_BYTES: u64 = 2048;

/// Statements of a sum in order, at most.
const MAX_CHAIN_STATEMENTS: usize = 16;
/// Rounds of loops, at least, if their number is known.
const MIN_ROUNDS: i64 = 8;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let (loop_costs, in_order) = (loop_costs(kernel), loops_in_order(kernel));
    rewrite(kernel, &mut |kernel, stmts, position| {
        if position == Position::Parallel {
            return stmts;
        }
        let jammed = |stmt: Stmt| match stmt {
            Stmt::For { index, .. } if in_order.contains(&index) => jam_in_order(kernel, stmt),
            Stmt::ParallelFor { index, count, body } => match loop_costs.get(&index) {
                Some(total) if *total >= MIN_LOOP_NS && is_profitable(kernel, &body) => {
                    jam(kernel, index, count, &body)
                }
                _ => vec![Stmt::ParallelFor { index, count, body }],
            },
            other => vec![other],
        };
        stmts.into_iter().flat_map(jammed).collect()
    });
}

/// Returns true if there is a loop to jam, and not too much around it.
fn is_profitable(kernel: &Kernel, body: &[Stmt]) -> bool {
    let (mut statements, mut calls) = (0, false);
    for_each_stmt(body, &mut |stmt| {
        statements += 1;
        calls |= matches!(stmt, Stmt::Call(_));
    });
    let local = private_arrays(kernel, body).into_iter().map(|array| kernel.stack_bytes(array));
    body.iter().any(|stmt| matches!(stmt, Stmt::For { body, .. } if has_loop_carried_latency(body)))
        && !calls
        && statements <= MAX_STATEMENTS
        && local.sum::<u64>() <= MAX_STACK_BYTES
}

/// Returns true if each iteration of a loop needs a slow result of the one before and stores
/// something: without loops inside, and without leaving early.
fn has_loop_carried_latency(body: &[Stmt]) -> bool {
    let (mut got, mut set) = (BTreeSet::new(), BTreeSet::new());
    let (mut read, mut written) = (BTreeSet::new(), BTreeSet::new());
    let mut long = false;
    for_each_stmt(body, &mut |stmt| match stmt {
        Stmt::Let(_, Op::Binary(op, ..)) if divides(*op) => long = true,
        Stmt::Let(_, Op::Unary(Unary::Sqrt, _) | Op::Call(..)) => long = true,
        Stmt::Let(_, Op::Get(var)) => drop(got.insert(*var)),
        Stmt::Let(_, Op::Load(array, ..)) => drop(read.insert(*array)),
        Stmt::Set(var, _) => drop(set.insert(*var)),
        Stmt::Store(array, ..) => drop(written.insert(*array)),
        _ => {}
    });
    let again = got.intersection(&set).next().is_some() || read.intersection(&written).next().is_some();
    is_straight_line(body) && long && again && !written.is_empty()
}

fn divides(op: Binary) -> bool {
    op == Binary::DivFloat || op.is_integer_division()
}

/// The arrays that each round has of its own.
fn private_arrays(kernel: &Kernel, body: &[Stmt]) -> BTreeSet<Array> {
    let (mut arrays, mut grown) = (BTreeSet::new(), BTreeSet::new());
    for_each_stmt(body, &mut |stmt| {
        match stmt {
            Stmt::Grow(array, _) => _ = grown.insert(*array),
            Stmt::Swap(a, b) => grown.extend([*a, *b]),
            _ => {}
        }
        arrays.extend(stmt.arrays());
    });
    let of_a_round =
        |array: &Array| matches!(kernel.arrays[*array].origin, Origin::Stack(_) | Origin::ThreadLocal);
    arrays.retain(|array| of_a_round(array) || grown.contains(array));
    arrays
}

/// Names of [`UNROLL_FACTOR`] rounds from `first` on, each with variables of its own for those that
/// the body sets.
fn names_of_rounds(build: &mut Builder<'_>, index: Reg, first: Reg, body: &[Stmt]) -> Vec<Renaming> {
    let vars = assigned_vars(body);
    let mut rounds: Vec<Renaming> = (0..UNROLL_FACTOR).map(|_| Renaming::default()).collect();
    for (n, names) in rounds.iter_mut().enumerate() {
        let number = build.int(n as i64);
        names.regs.insert(index, build.binary(Binary::Add, first, number));
        for var in &vars {
            let copy = build.kernel.vars.push(build.kernel.vars[*var]);
            names.vars.insert(*var, copy);
        }
    }
    rounds
}

fn jam(kernel: &mut Kernel, index: Reg, count: Reg, body: &[Stmt]) -> Vec<Stmt> {
    let arrays = private_arrays(kernel, body);
    let mut build = Builder::new(kernel);
    let together = build.int(UNROLL_FACTOR as i64);
    let groups = build.binary(Binary::DivUnsigned, count, together);
    let in_groups = build.binary(Binary::Mul, groups, together);
    let rest = build.binary(Binary::Sub, count, in_groups);
    let rounds = build.binary(Binary::Add, groups, rest);
    let group = build.reg(ScalarType::I64);
    let front = std::mem::take(&mut build.stmts);

    let several = build.define(ScalarType::I64, Op::Compare(Compare::Lt, group, groups));
    let top = std::mem::take(&mut build.stmts);
    let first = build.binary(Binary::Mul, group, together);
    let mut copies = names_of_rounds(&mut build, index, first, body);
    for names in &mut copies {
        for array in &arrays {
            let (info, slots) = (build.kernel.arrays[*array], build.kernel.slots[*array]);
            names.arrays.insert(*array, build.kernel.add_array(info.origin, info.width, slots));
        }
    }
    let varying_regs = varying_regs(index, body);
    for stmt in body {
        match stmt {
            Stmt::For { index, low, high, body, .. }
                if is_straight_line(body) && !varying_regs.contains(low) && !varying_regs.contains(high) =>
            {
                let (low, high) = (copies[0].reg(*low), copies[0].reg(*high));
                let label = build.label();
                let together = build.reg(ScalarType::I64);
                for names in &mut copies {
                    names.regs.insert(*index, together);
                }
                let body = interleave(&mut build, &mut copies, body);
                build.stmts.push(Stmt::For { label, index: together, low, high, body });
            }
            Stmt::For { index, low, high, body, .. } if has_loop_carried_latency(body) => {
                jam_uneven_loops(&mut build, &mut copies, (*index, *low, *high), body);
            }
            _ => {
                for names in &mut copies {
                    continue_clone(&mut build, names, |copy, out| copy.stmt(stmt, out));
                }
            }
        }
    }
    let jammed = std::mem::take(&mut build.stmts);

    let skipped = build.binary(Binary::Sub, group, groups);
    let round = build.binary(Binary::Add, in_groups, skipped);
    let mut names = Renaming::default();
    names.regs.insert(index, round);
    continue_clone(&mut build, &mut names, |copy, out| out.extend(copy.stmts(body)));
    let alone = std::mem::replace(&mut build.stmts, front);
    let body = top.into_iter().chain([Stmt::If(several, jammed, alone)]).collect();
    build.stmts.push(Stmt::ParallelFor { index: group, count: rounds, body });
    build.stmts
}

/// Goes on with a copy.
fn continue_clone(
    build: &mut Builder<'_>,
    names: &mut Renaming,
    go_on: impl FnOnce(&mut Cloner<'_>, &mut Vec<Stmt>),
) {
    let mut copy = Cloner { kernel: build.kernel, names: std::mem::take(names) };
    go_on(&mut copy, &mut build.stmts);
    *names = copy.names;
}

/// The registers that are not the same in all rounds of the loop over `index`.
fn varying_regs(index: Reg, body: &[Stmt]) -> BTreeSet<Reg> {
    let mut varying_regs = BTreeSet::from([index]);
    for_each_stmt(body, &mut |stmt| match stmt {
        Stmt::Let(reg, op) => {
            let mut varies = matches!(op, Op::Load(..) | Op::Get(_));
            op.for_each_reg(&mut |reg| varies |= varying_regs.contains(&reg));
            if varies {
                varying_regs.insert(*reg);
            }
        }
        Stmt::For { index, .. } => drop(varying_regs.insert(*index)),
        Stmt::Reduce { index, result, .. } => varying_regs.extend([*index, *result]),
        _ => {}
    });
    varying_regs
}

/// Each statement of all copies, then the next: what they read comes before what they write. Places
/// of different rounds often lie a multiple of a page apart, and a processor takes such a read for
/// one of what was just written. What is the same in all copies is computed once.
fn interleave(build: &mut Builder<'_>, copies: &mut [Renaming], body: &[Stmt]) -> Vec<Stmt> {
    let front = std::mem::take(&mut build.stmts);
    for stmt in body {
        if let Stmt::Let(reg, op) = stmt
            && is_shared(copies, stmt, op)
        {
            let (first, others) = copies.split_first_mut().expect("there are several copies");
            continue_clone(build, first, |copy, out| copy.stmt(stmt, out));
            let shared = first.reg(*reg);
            others.iter_mut().for_each(|names| _ = names.regs.insert(*reg, shared));
            continue;
        }
        for names in copies.iter_mut() {
            continue_clone(build, names, |copy, out| copy.stmt(stmt, out));
        }
    }
    std::mem::replace(&mut build.stmts, front)
}

/// Returns true if an operation gives the same in all copies: it has the same operands.
fn is_shared(copies: &[Renaming], stmt: &Stmt, op: &Op) -> bool {
    let (first, others) = copies.split_first().expect("there are several copies");
    let mut shared = !matches!(op, Op::Get(_));
    op.for_each_reg(&mut |reg| shared &= others.iter().all(|names| names.reg(reg) == first.reg(reg)));
    for array in stmt.arrays() {
        let array = |names: &Renaming| names.arrays.get(&array).copied();
        shared &= others.iter().all(|names| array(names) == array(first));
    }
    shared
}

/// A loop of each copy: together as long as all of them last, then the rest of each.
fn jam_uneven_loops(
    build: &mut Builder<'_>,
    copies: &mut [Renaming],
    (index, low, high): (Reg, Reg, Reg),
    body: &[Stmt],
) {
    let ends: Vec<(Reg, Reg)> = copies.iter().map(|names| (names.reg(low), names.reg(high))).collect();
    let lengths: Vec<Reg> = ends.iter().map(|(low, high)| build.binary(Binary::Sub, *high, *low)).collect();
    let shortest = lengths.into_iter().reduce(|a, b| build.min(a, b));
    let nothing = build.int(0);
    let length = shortest.map_or(nothing, |shortest| build.max(shortest, nothing));

    let (label, round) = (build.label(), build.reg(ScalarType::I64));
    let front = std::mem::take(&mut build.stmts);
    for (names, (low, _)) in copies.iter_mut().zip(&ends) {
        names.regs.insert(index, build.binary(Binary::Add, *low, round));
    }
    let places = std::mem::replace(&mut build.stmts, front);
    let body_of_all = interleave(build, copies, body);
    let body_of_all = places.into_iter().chain(body_of_all).collect();
    build.stmts.push(Stmt::For { label, index: round, low: nothing, high: length, body: body_of_all });
    for (names, (low, high)) in copies.iter_mut().zip(&ends) {
        let from = build.binary(Binary::Add, *low, length);
        let label = build.label();
        continue_clone(build, names, |copy, out| {
            let index = copy.fresh(index);
            let body = copy.stmts(body);
            out.push(Stmt::For { label, index, low: from, high: *high, body });
        });
    }
}

/// The loops in order that are jammed, by their indices.
fn loops_in_order(kernel: &Kernel) -> HashSet<Reg> {
    let mut candidates = Vec::new();
    for_each_stmt(&kernel.body, &mut |stmt| candidates.extend(LoopAroundSum::of(kernel, stmt)));
    if candidates.is_empty() {
        return HashSet::default();
    }
    let (mentioned, mut dependences) = (Mentions::of(&kernel.body), Dependences::new(kernel));
    let mut may_jam = |around: &LoopAroundSum<'_>| {
        variables_are_private(around.body, &[], &mentioned)
            && around.has_increasing_end(dependences.forms())
            && around.loads_may_move(kernel, &mut dependences)
    };
    candidates.iter().filter(|around| may_jam(around)).map(|around| around.index).collect()
}

/// A loop in order around a sum in order: statements, a loop that is a sum, statements that store.
struct LoopAroundSum<'s> {
    index: Reg,
    /// The ends of the loop.
    range: (Reg, Reg),
    body: &'s [Stmt],
    before: &'s [Stmt],
    /// The loop inside: its index, its ends, its terms.
    sum: (Reg, Reg, Reg, &'s [Stmt]),
    after: &'s [Stmt],
}

impl<'s> LoopAroundSum<'s> {
    fn of(kernel: &Kernel, stmt: &'s Stmt) -> Option<LoopAroundSum<'s>> {
        let Stmt::For { index, low, high, body, .. } = stmt else { return None };
        let at = body.iter().position(|stmt| matches!(stmt, Stmt::For { .. }))?;
        let Stmt::For { index: inner, low: from, high: to, body: terms, .. } = &body[at] else {
            return None;
        };
        let (before, after) = (&body[..at], &body[at + 1..]);
        let computes = |stmt: &Stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..));
        let stores = |stmt: &Stmt| computes(stmt) || matches!(stmt, Stmt::Store(..));
        let short = body.len() + terms.len() <= MAX_STATEMENTS && terms.len() <= MAX_CHAIN_STATEMENTS;
        (short
            && before.iter().all(computes)
            && terms.iter().all(computes)
            && after.iter().all(stores)
            && is_sum_in_order(kernel, terms))
        .then_some(LoopAroundSum {
            index: *index,
            range: (*low, *high),
            body,
            before,
            sum: (*inner, *from, *to, terms),
            after,
        })
    }

    /// Returns true if the sum begins at the same index in all rounds, and ends at none below that
    /// of the round before; and the loops are not short.
    fn has_increasing_end(&self, forms: &mut Forms<'_>) -> bool {
        let mut own = defined_registers(self.body);
        let (low, high) = (forms.of(self.sum.1), forms.of(self.sum.2));
        let is_long = |rounds: Option<i64>| rounds.is_none_or(|rounds| rounds >= MIN_ROUNDS);
        let long = is_long(known_rounds(forms, Some(self.range.0), self.range.1))
            && is_long(known_rounds(forms, Some(self.sum.1), self.sum.2));
        let increases = high.coefficient(self.index) >= 0;
        let same_end = high.terms.iter().all(|term| !own.contains(&term.0));
        own.insert(self.index);
        long && increases && same_end && low.terms.iter().all(|term| !own.contains(&term.0))
    }

    /// Returns true if what a round loads before its sum, and in it below the end of the sum of an
    /// earlier round, is nothing that the earlier round has stored.
    fn loads_may_move(&self, kernel: &Kernel, dependences: &mut Dependences<'_>) -> bool {
        let mut stored: HashMap<Array, Vec<Reg>> = HashMap::default();
        for stmt in self.after {
            if let Stmt::Store(array, at, _) = stmt {
                stored.entry(*array).or_default().push(*at);
            }
        }
        let inner = defined_registers(self.body);
        let rounds = Rounds { index: self.index, inner: &inner, prefix: Some(self.sum.0) };
        stored.keys().all(|array| !has_alias(kernel, *array))
            && self.before.iter().chain(self.sum.3).all(|stmt| match stmt {
                Stmt::Let(_, Op::Load(array, at, _)) => {
                    let load = dependences.forms().of(*at);
                    stored.get(array).into_iter().flatten().all(|at| {
                        let store = dependences.forms().of(*at);
                        !dependences.may_meet(&store, &load, &rounds)
                    })
                }
                _ => true,
            })
    }
}

/// Returns true if the rounds of a loop only wait for a sum of floats: a variable that each reads
/// and sets.
fn is_sum_in_order(kernel: &Kernel, terms: &[Stmt]) -> bool {
    let (mut got, mut set) = (BTreeSet::new(), BTreeSet::new());
    for stmt in terms {
        match stmt {
            // Functions of many numbers go by vectors.
            Stmt::Let(_, Op::Call(..)) => return false,
            Stmt::Let(_, Op::Get(var)) => drop(got.insert(*var)),
            Stmt::Set(var, _) => drop(set.insert(*var)),
            _ => {}
        }
    }
    !set.is_empty() && set.iter().all(|var| got.contains(var) && kernel.vars[*var].is_float())
}

/// Several rounds of a loop in order, side by side.
fn jam_in_order(kernel: &mut Kernel, stmt: Stmt) -> Vec<Stmt> {
    let Some(around) = LoopAroundSum::of(kernel, &stmt) else { return vec![stmt] };
    let (inner, from, to, terms) = around.sum;
    let mut build = Builder::new(kernel);
    let together = build.int(UNROLL_FACTOR as i64);
    let zero = build.int(0);
    let rounds = build.rounds(around.range.0, around.range.1);
    let groups = build.binary(Binary::DivUnsigned, rounds, together);
    let in_groups = build.binary(Binary::Mul, groups, together);
    let next = build.binary(Binary::Add, around.range.0, in_groups);
    let (group, label) = (build.reg(ScalarType::I64), build.label());
    let front = std::mem::take(&mut build.stmts);

    let skipped = build.binary(Binary::Mul, group, together);
    let first = build.binary(Binary::Add, around.range.0, skipped);
    let mut copies = names_of_rounds(&mut build, around.index, first, around.body);
    let before = interleave(&mut build, &mut copies, around.before);
    build.stmts.extend(before);
    let (low, shortest) = (copies[0].reg(from), copies[0].reg(to));
    let (index, sum) = (build.reg(ScalarType::I64), build.label());
    for names in &mut copies {
        names.regs.insert(inner, index);
    }
    let body = interleave(&mut build, &mut copies, terms);
    build.stmts.push(Stmt::For { label: sum, index, low, high: shortest, body });
    let done = build.max(low, shortest);
    for (n, names) in copies.iter_mut().enumerate() {
        let high = names.reg(to);
        if n > 0 && high != shortest {
            let label = build.label();
            continue_clone(&mut build, names, |copy, out| {
                let index = copy.fresh(inner);
                let body = copy.stmts(terms);
                out.push(Stmt::For { label, index, low: done, high, body });
            });
        }
        continue_clone(&mut build, names, |copy, out| out.extend(copy.stmts(around.after)));
    }
    let body = std::mem::replace(&mut build.stmts, front);
    build.stmts.push(Stmt::For { label, index: group, low: zero, high: groups, body });
    let mut out = build.stmts;
    if let Stmt::For { label, index, high, body, .. } = stmt {
        out.push(Stmt::For { label, index, low: next, high, body });
    }
    out
}
