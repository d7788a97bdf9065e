//! Parallel reductions and prefixes: a loop in order whose rounds are independent but for variables
//! that accumulate, by operations whose results do not depend on the grouping of their operands, is
//! cut into pieces that run at the same time.
//!
//! ```text
//!                                    parallel for p < 64
//! for i in low..<high                  t := 0
//!   v := v + a[i]              =>      for i in piece p
//!                                        t := t + a[i]
//!                                      b[p] <- t
//!                                    for p in 0..<64
//!                                      v := v + b[p]
//! ```
//!
//! A loop that does more than accumulate reads the variables in between, as a running sum does.
//! Then the first parallel loop has those statements alone that the variables need, the loop in
//! order keeps what each variable is before a piece, and a second parallel loop does all of the
//! rounds (reduce, then scan; Blelloch, *Prefix sums and their applications*, 1990):
//!
//! ```text
//!                                    parallel for p < 64
//!                                      t := 0
//!                                      for i in piece p
//!                                        t := t + a[i]
//! for i in low..<high                  b[p] <- t
//!   v := v + a[i]              =>    for p in 0..<64
//!   c[i] <- v                          b[p], v := v, v + b[p]
//!                                    parallel for p < 64
//!                                      t := b[p]
//!                                      for i in piece p
//!                                        t := t + a[i]
//!                                        c[i] <- t
//! ```
//!
//! **Why nothing changes.** The operations are those of [`accumulator`](super::super::accumulator):
//! sums, products and bits of integers, and extremes, in every bit (reduction recurrences; Allen
//! and Kennedy, *Optimizing compilers for modern architectures*, 2001, 5.6). Variables that keep
//! the first best of the rounds are those of [`selection`](super::super::selection): their pieces
//! begin with what they hold before the loop, and are joined by the comparison of the loop. Sums of
//! floats stay in order. What else a round does depends on no other round
//! ([`parallelize`](super::parallelize)), and no slot that the variables need is stored into before
//! it is loaded.
//!
//! **Which.** Loops in no parallel loop that are estimated to take long enough; prefixes, for which
//! statements run twice, only where there are threads enough to gain by it.
//!
//! Costs a copy of the body, or two.

use super::super::accumulator::variables_set;
use super::super::accumulator::{Accumulator, AccumulatorOp, accumulators_among};
use super::super::cost::Estimator;
use super::super::selection::{Selection, selections};
use super::super::{
    Array, Binary, Compare, Kernel, Label, Op, Origin, Reg, ScalarType, Stmt, Var, defined_registers,
    for_each_stmt,
};
use super::clone_stmts::Cloner;
use super::parallel_level::MIN_PARALLEL_NS;
use super::parallelize::is_independent_but_for;
use super::{Builder, assigned_vars, rewrite, slice};
use crate::hash::{HashMap, HashSet};

/// Pieces of a loop, at most.
const MAX_PIECES: f64 = 64.0;

/// Pieces of a short loop.
const MIN_PIECES: f64 = 4.0;

/// Nanoseconds of a piece, at least: each begins anew, and has rounds that fill no vector.
const MIN_PIECE_NS: f64 = 60_000.0;

/// Nanoseconds of a loop from which a prefix is cut: on few threads it gains a part only.
const MIN_PREFIX_NS: f64 = 300_000.0;

/// The part of the time of a loop that its pieces take on all threads, at most, for a prefix.
const MAX_PREFIX_TIME: f64 = 0.85;

/// The part of the bandwidth of memory that another thread adds to that of one: with two virtual
/// cores an eighth to a quarter was measured.
const BANDWIDTH_OF_THREAD: f64 = 0.25;

/// Bytes that one thread moves from and to memory in a nanosecond.
const BYTES_PER_NS: f64 = 30.0;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut found = HashMap::default();
    find(kernel, &Estimator::new(kernel), &kernel.body, &mut found);
    if found.is_empty() {
        return;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            let reductions = match &stmt {
                Stmt::For { index, .. } => found.get(index),
                _ => None,
            };
            match reductions {
                Some((reductions, pieces)) => out.extend(in_pieces(kernel, stmt, reductions, *pieces)),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// Adds the outermost loops among statements that are cut, with the numbers of their pieces; those
/// of parallel statements are left out.
fn find(
    kernel: &Kernel,
    estimator: &Estimator<'_>,
    stmts: &[Stmt],
    found: &mut HashMap<Reg, (Reductions, u64)>,
) {
    for stmt in stmts {
        match stmt {
            Stmt::ParallelFor { .. } | Stmt::Reduce { .. } => continue,
            Stmt::For { index, .. } if estimator.stmt(stmt) >= MIN_PARALLEL_NS => {
                if let Some(reductions) = Reductions::of(kernel, stmt, estimator) {
                    let pieces = (estimator.stmt(stmt) / MIN_PIECE_NS).clamp(MIN_PIECES, MAX_PIECES);
                    found.insert(*index, (reductions, pieces as u64));
                    continue;
                }
            }
            _ => {}
        }
        for body in stmt.bodies() {
            find(kernel, estimator, body, found);
        }
    }
}

/// The variables that the rounds of a loop carry.
struct Reductions {
    accumulators: Vec<Accumulator>,
    selections: Vec<Selection>,
    /// The statements that they need, where a round has others.
    slice: Option<Vec<Stmt>>,
}

impl Reductions {
    /// The reductions of a loop in order.
    fn of(kernel: &Kernel, stmt: &Stmt, estimator: &Estimator<'_>) -> Option<Reductions> {
        let Stmt::For { label, index, low, high, body } = stmt else { return None };
        if body.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..)))
            && let Some(found) = Reductions::among(kernel, *index, body)
        {
            return Some(found);
        }
        // A round that goes on to the next one sets none of what follows.
        let mut continues = false;
        for_each_stmt(body, &mut |inner| continues |= *inner == Stmt::Continue(*label));
        if continues {
            return None;
        }
        let carried = carried_variables(body)?;
        let slice = carried_slice(body, &carried)?;
        let found = Reductions::among(kernel, *index, &slice)?;
        let rounds = estimator.rounds(*low, *high);
        let time = [rounds * estimator.iteration(*index, &slice), estimator.stmt(stmt)];
        let bytes = [&slice, body].map(|stmts| bytes_moved(kernel, stmts));
        let threads = kernel.target.threads as f64;
        let fits_bandwidth = bytes[1] <= BYTES_PER_NS * found.latency_ns()
            || bytes[0] + bytes[1] <= (1.0 + (threads - 1.0) * BANDWIDTH_OF_THREAD) * bytes[1];
        let gains = time[1] >= MIN_PREFIX_NS
            && time[0] + time[1] <= MAX_PREFIX_TIME * threads * time[1]
            && fits_bandwidth;
        (gains && is_independent_but_for(kernel, stmt, &carried))
            .then_some(Reductions { slice: Some(slice), ..found })
    }

    /// The nanoseconds from one round to the next that the variables take, at least.
    fn latency_ns(&self) -> f64 {
        let of_sums = self.accumulators.iter().map(|one| match one.join {
            AccumulatorOp::Binary(Binary::Min | Binary::Max | Binary::Mul) => 1.0,
            AccumulatorOp::Binary(_) => 0.25,
            AccumulatorOp::Extreme { .. } => 0.5,
        });
        of_sums.chain(self.selections.iter().map(|_| 1.0)).fold(0.0, f64::max)
    }

    /// The variables that a body sets, which does nothing but reduce.
    fn among(kernel: &Kernel, index: Reg, body: &[Stmt]) -> Option<Reductions> {
        let accumulators = accumulators_among(kernel, body);
        let selections = selections(kernel, (index, body), &accumulators)?;
        (!accumulators.is_empty() || !selections.is_empty()).then_some(Reductions {
            accumulators,
            selections,
            slice: None,
        })
    }
}

/// The variables that a round sets under no condition, and of which one reads what another has set;
/// `None` if there are none, or others that it sets under a condition as well.
fn carried_variables(body: &[Stmt]) -> Option<Vec<Var>> {
    let sets = variables_set(body)?;
    let is_carried = |var: &Var| {
        let set = body.iter().position(|stmt| matches!(stmt, Stmt::Set(set, _) if set == var));
        let read =
            body.iter().position(|stmt| stmt.as_definition().is_some_and(|(_, op)| *op == Op::Get(*var)));
        read < set
    };
    let carried: Vec<Var> = sets.into_iter().map(|(var, _)| var).filter(is_carried).collect();
    let inside = body.iter().flat_map(Stmt::bodies).flat_map(assigned_vars);
    (!carried.is_empty() && !inside.into_iter().any(|var| carried.contains(&var))).then_some(carried)
}

/// The statements of a body that set these variables, and those that they need; `None` if they may
/// compute something else where they stand alone.
fn carried_slice(body: &[Stmt], carried: &[Var]) -> Option<Vec<Stmt>> {
    let slice = slice(body, |stmt| matches!(stmt, Stmt::Set(var, _) if carried.contains(var)));
    // A register of the body that no definition sets is the result of another statement.
    let set = defined_registers(body);
    let defined: HashSet<Reg> = slice.iter().filter_map(Stmt::as_definition).map(|(reg, _)| reg).collect();
    let mut is_complete = true;
    for stmt in &slice {
        stmt.for_each_reg(&mut |reg| is_complete &= defined.contains(&reg) || !set.contains(&reg));
    }
    if !is_complete {
        return None;
    }
    let mut stored: HashSet<Array> = HashSet::default();
    let (mut is_plain, mut next) = (true, slice.iter().peekable());
    for stmt in body {
        if next.next_if_eq(&stmt).is_some() {
            let stands_alone = match stmt {
                Stmt::Let(_, Op::Get(var)) => carried.contains(var),
                Stmt::Let(_, Op::Load(array, ..)) => is_plain && !stored.contains(array),
                Stmt::Let(_, op) => {
                    is_plain || !matches!(op, Op::Binary(kind, ..) if kind.is_integer_division())
                }
                _ => true,
            };
            if !stands_alone {
                return None;
            }
        }
        // A load behind a check may be of a slot that exists only where the check has passed.
        is_plain &= matches!(stmt, Stmt::Let(..) | Stmt::Set(..) | Stmt::Store(..));
        stored.extend(stmt.written_arrays());
    }
    Some(slice)
}

/// The bytes of the slots that statements load and store, each once.
fn bytes_moved(kernel: &Kernel, stmts: &[Stmt]) -> f64 {
    let mut slots: HashSet<(Array, Reg)> = HashSet::default();
    for_each_stmt(stmts, &mut |stmt| match stmt {
        Stmt::Let(_, Op::Load(array, at, _)) | Stmt::Store(array, at, _) => drop(slots.insert((*array, *at))),
        _ => {}
    });
    slots.iter().map(|(array, _)| f64::from(kernel.arrays[*array].width)).sum()
}

/// A variable of a piece, and the array of its values at the ends of all pieces.
struct Piecewise {
    whole: Var,
    piece: Var,
    ends: Array,
    ty: ScalarType,
    /// True if the array holds what the variable is before each piece, once pieces are joined.
    keeps_before: bool,
}

/// A loop in pieces, and the loop that joins their results.
fn in_pieces(kernel: &mut Kernel, stmt: Stmt, found: &Reductions, pieces: u64) -> Vec<Stmt> {
    let Stmt::For { label, index, low, high, body } = stmt else { return vec![stmt] };
    let reducing = found.slice.as_ref().unwrap_or(&body);
    let mut piecewise = |whole: Var| {
        let ty = kernel.vars[whole];
        let ends = kernel.add_array(Origin::Scratch, ty.bytes() as u8, pieces);
        let keeps_before = found.slice.is_some();
        Piecewise { whole, piece: kernel.vars.push(ty), ends, ty, keeps_before }
    };
    let totals: Vec<Piecewise> = found.accumulators.iter().map(|one| piecewise(one.var)).collect();
    let selected = found.selections.iter().flat_map(|one| &one.members);
    let selected: Vec<Piecewise> = selected.map(|(var, _)| piecewise(*var)).collect();
    let mut build = Builder::new(kernel);
    let rounds = build.rounds(low, high);
    let (more, pieces, zero) = (build.int(pieces as i64 - 1), build.int(pieces as i64), build.int(0));
    let padded = build.binary(Binary::Add, rounds, more);
    let length = build.binary(Binary::DivUnsigned, padded, pieces);
    let cut = Cut { label, index, low, rounds, length };
    let front = std::mem::take(&mut build.stmts);

    let piece = build.reg(ScalarType::I64);
    for (total, var) in found.accumulators.iter().zip(&totals) {
        let identity = build.define(total.ty, Op::Const(total.ty, total.join.identity(total.ty)));
        build.stmts.push(Stmt::Set(var.piece, identity));
    }
    for var in &selected {
        let before = build.define(var.ty, Op::Get(var.whole));
        build.stmts.push(Stmt::Set(var.piece, before));
    }
    let variables = || totals.iter().chain(&selected);
    cut.rounds_of(&mut build, piece, variables(), reducing);
    for var in variables() {
        let value = build.define(var.ty, Op::Get(var.piece));
        build.stmts.push(Stmt::Store(var.ends, piece, value));
    }
    let in_piece = std::mem::take(&mut build.stmts);

    let number = build.reg(ScalarType::I64);
    for (total, var) in found.accumulators.iter().zip(&totals) {
        let (before, part) = before_and_end(&mut build, var, number);
        let joined = join(&mut build, total.join, before, part);
        build.stmts.push(Stmt::Set(var.whole, joined));
    }
    let mut left = &selected[..];
    for selection in &found.selections {
        let (members, others) = left.split_at(selection.members.len());
        join_selection(&mut build, selection, members, (number, reducing));
        left = others;
    }
    let joining = std::mem::take(&mut build.stmts);

    let scanned = build.reg(ScalarType::I64);
    if found.slice.is_some() {
        for var in variables() {
            let before = build.define(var.ty, Op::Load(var.ends, scanned, var.ty));
            build.stmts.push(Stmt::Set(var.piece, before));
        }
        let label = build.label();
        Cut { label, ..cut }.rounds_of(&mut build, scanned, variables(), &body);
    }
    let in_scan = std::mem::replace(&mut build.stmts, front);

    let label = build.label();
    build.stmts.push(Stmt::ParallelFor { index: piece, count: pieces, body: in_piece });
    // The variables of a selection have a key only where there is a round.
    let with_rounds = if selected.is_empty() { pieces } else { build.min(rounds, pieces) };
    build.stmts.push(Stmt::For { label, index: number, low: zero, high: with_rounds, body: joining });
    if found.slice.is_some() {
        build.stmts.push(Stmt::ParallelFor { index: scanned, count: pieces, body: in_scan });
    }
    build.stmts
}

/// A loop of so many rounds that is cut into pieces of `length` rounds.
#[derive(Clone, Copy)]
struct Cut {
    label: Label,
    index: Reg,
    low: Reg,
    rounds: Reg,
    length: Reg,
}

impl Cut {
    /// Adds the rounds of a piece, with its own variables.
    fn rounds_of<'p>(
        self,
        build: &mut Builder<'_>,
        piece: Reg,
        variables: impl Iterator<Item = &'p Piecewise>,
        body: &[Stmt],
    ) {
        // Sums of rounds in the loop: those of a bound and rounds beyond it might wrap.
        let before = build.binary(Binary::Mul, piece, self.length);
        let skipped = build.min(before, self.rounds);
        let left = build.binary(Binary::Sub, self.rounds, skipped);
        let count = build.min(self.length, left);
        let low = build.binary(Binary::Add, self.low, skipped);
        let high = build.binary(Binary::Add, low, count);
        let mut copy = Cloner::new(build.kernel);
        copy.names.vars.extend(variables.map(|var| (var.whole, var.piece)));
        let index = copy.fresh(self.index);
        let body = copy.stmts(body);
        build.stmts.push(Stmt::For { label: self.label, index, low, high, body });
    }
}

/// The value of a variable before a piece, and at its end; keeps the first in place of the second
/// if it is needed.
fn before_and_end(build: &mut Builder<'_>, var: &Piecewise, number: Reg) -> (Reg, Reg) {
    let before = build.define(var.ty, Op::Get(var.whole));
    let end = build.define(var.ty, Op::Load(var.ends, number, var.ty));
    if var.keeps_before {
        build.stmts.push(Stmt::Store(var.ends, number, before));
    }
    (before, end)
}

/// Sets variables to those of the piece `number`, if its key is beyond theirs.
fn join_selection(
    build: &mut Builder<'_>,
    selection: &Selection,
    members: &[Piecewise],
    (number, body): (Reg, &[Stmt]),
) {
    let is_held = |stmt: &Stmt| stmt.as_definition().is_some_and(|(reg, _)| reg == selection.held);
    let slice = slice(body, is_held);
    let (held, ends): (Vec<Reg>, Vec<Reg>) =
        members.iter().map(|var| before_and_end(build, var, number)).unzip();
    let [old, new] = [&held, &ends].map(|values| {
        let mut copy = Cloner::new(build.kernel);
        for (reg, op) in slice.iter().filter_map(Stmt::as_definition) {
            if let Op::Get(read) = op
                && let Some(at) = members.iter().position(|var| var.whole == *read)
            {
                copy.names.known_registers.insert(reg, values[at]);
            }
        }
        let computing = copy.stmts(&slice);
        let key = copy.reg(selection.held);
        build.stmts.extend(computing);
        key
    });
    let (first, second) = if selection.max { (old, new) } else { (new, old) };
    let replaces = build.define(ScalarType::I64, Op::Compare(selection.compare, first, second));
    for ((var, held), end) in members.iter().zip(held).zip(ends) {
        let joined = build.define(var.ty, Op::Select(replaces, end, held));
        build.stmts.push(Stmt::Set(var.whole, joined));
    }
}

/// A number joined to another one.
fn join(build: &mut Builder<'_>, op: AccumulatorOp, a: Reg, b: Reg) -> Reg {
    match op {
        AccumulatorOp::Binary(kind) => build.binary(kind, a, b),
        AccumulatorOp::Extreme { max, unsigned } => {
            let less = if unsigned { Compare::LtUnsigned } else { Compare::Lt };
            let (first, second) = if max { (a, b) } else { (b, a) };
            let replaces = build.define(ScalarType::I64, Op::Compare(less, first, second));
            let ty = build.kernel.regs[a];
            build.define(ty, Op::Select(replaces, b, a))
        }
    }
}
