//! Delinearization: a loop that takes its index apart becomes a loop for each digit.
//!
//! ```text
//! for i in 0..<(n * m)           for q in 0..<n
//!   r0 = div_unsigned i m          for r in 0..<m
//!   r1 = rem_unsigned i m    =>      i = add (mul q m) r
//!   … r0 … r1 … i                    … q … r … i
//! ```
//!
//! A sum over two axes goes through one number, so that its chunks do not depend on the shape, and
//! divides it in each round; a quotient of 64 bits takes as long as some twenty additions, and no
//! vector has it. With a loop for each digit slots are affine in the inner index, and loops are cut
//! where a digit wraps around ([`index_set_splitting`](super::index_set_splitting)).
//!
//! **Why nothing changes.** The rounds are the same in the same order: the first and the last value
//! of `q` have the part of `0..<m` that is within the ends of the loop. A reduction keeps its
//! lanes: its items go to an array of a chunk first.
//!
//! **When.** The divisor stays the same and is known to be at least [`MIN_DIVISOR`]; the index is
//! natural; no round leaves the loop. Costs time in proportion to the statements times the depth of
//! loops.

use super::super::{
    Array, Binary, Kernel, Label, Op, Origin, Reg, ScalarType, Stmt, Summand, defined_registers,
    for_each_stmt,
};
use super::affine::Forms;
use super::clone_stmts::rename_all;
use super::{Builder, LoopParts, Position, loop_parts};
use crate::core::reduction::CHUNK;
use crate::hash::HashMap;

/// The smallest divisor: the rounds of the inner loop.
const MIN_DIVISOR: i64 = 16;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let loops = candidates(kernel);
    if loops.is_empty() {
        return;
    }
    super::rewrite(kernel, &mut |kernel, stmts, position| {
        let mut out = Vec::new();
        for stmt in stmts {
            let divisor = loop_parts(&stmt).and_then(|parts| loops.get(&parts.index).cloned());
            match divisor {
                Some(divisor) => digits(kernel, stmt, divisor, position, &mut out),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// A divisor of an index.
#[derive(Clone)]
struct Divisor {
    reg: Reg,
    /// The operation that sets it in the loop: a constant or a size.
    inside: Option<Op>,
    /// True if the loop begins at 0 and ends at one of its multiples.
    is_whole: bool,
}

impl Divisor {
    /// A register in front of the loop that holds it.
    fn outside(&self, build: &mut Builder<'_>) -> Reg {
        match &self.inside {
            Some(op) => build.define(ScalarType::I64, op.clone()),
            None => self.reg,
        }
    }
}

/// The loops, by their indices, that take these apart.
fn candidates(kernel: &Kernel) -> HashMap<Reg, Divisor> {
    let mut forms = Forms::new(kernel);
    let mut found = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        let Some(LoopParts { index, low, high, body, .. }) = loop_parts(stmt) else { return };
        let (mut divisors, mut leaves) = (Vec::new(), false);
        for_each_stmt(body, &mut |inner| match inner {
            Stmt::Let(_, Op::Binary(kind, a, n)) if kind.is_integer_division() && *a == index => {
                divisors.push(*n);
            }
            Stmt::Break(label) => {
                leaves |= matches!(stmt, Stmt::For { label: own, .. } if own == label);
            }
            _ => {}
        });
        if divisors.is_empty() {
            return;
        }
        let defined = defined_registers(body);
        let mut known = HashMap::default();
        for_each_stmt(body, &mut |inner| {
            if let Stmt::Let(reg, op @ (Op::Const(..) | Op::Size(_))) = inner {
                known.insert(*reg, op.clone());
            }
        });
        let is_same = |n: &Reg| !defined.contains(n) || known.contains_key(n);
        let Some(divisor) = divisors.into_iter().find(is_same) else { return };
        let Some(n) = forms.constant(divisor).filter(|n| *n >= MIN_DIVISOR) else { return };
        let first = low.map_or(Some(0), |low| forms.constant(low));
        let last = forms.constant(high);
        let is_whole = first == Some(0) && last.is_some_and(|high| high >= 0 && high % n == 0);
        let natural = first.is_some_and(|first| first >= 0) || matches!(stmt, Stmt::Reduce { .. });
        let fits = natural && !leaves && (is_whole || !matches!(stmt, Stmt::ParallelFor { .. }));
        if fits {
            found.insert(index, Divisor { reg: divisor, inside: known.remove(&divisor), is_whole });
        }
    });
    found
}

/// The loops over the digits.
fn digits(kernel: &mut Kernel, stmt: Stmt, divisor: Divisor, position: Position, out: &mut Vec<Stmt>) {
    match stmt {
        Stmt::For { label, index, low, high, body } => {
            let mut build = Builder::new(kernel);
            let size = divisor.outside(&mut build);
            let nest = Nest { divisor, size, index, label: Some(label), low, high };
            out.extend(nest.in_order(&mut build, body));
        }
        Stmt::ParallelFor { index, count, body } => {
            let mut build = Builder::new(kernel);
            let low = build.int(0);
            let size = divisor.outside(&mut build);
            let rows = build.binary(Binary::DivUnsigned, count, size);
            let nest = Nest { divisor, size, index, label: None, low, high: count };
            let (number, body) = nest.rows(&mut build, low, body);
            let mut made = build.stmts;
            made.push(Stmt::ParallelFor { index: number, count: rows, body });
            out.extend(made);
        }
        Stmt::Reduce { index, low, high, mut body, item, result } => {
            let mut build = Builder::new(kernel);
            let items = chunk_arrays(&mut build, item, position);
            let start = build.binary(Binary::Sub, index, low);
            let at = build.stmts.pop();
            body.extend(at);
            body.extend(items.iter().map(|(reg, array)| Stmt::Store(*array, start, *reg)));
            let size = divisor.outside(&mut build);
            let nest = Nest { divisor, size, index, label: None, low, high };
            out.extend(nest.in_order(&mut build, body));
            out.extend(reduce_chunk(&mut build, (low, high), &items, item, result));
        }
        stmt => out.push(stmt),
    }
}

/// Arrays of a chunk for the items of a reduction at this position.
pub(super) fn chunk_arrays(build: &mut Builder<'_>, item: Summand, position: Position) -> Vec<(Reg, Array)> {
    let parallel = position == Position::Parallel;
    let origin = if parallel { Origin::ThreadLocal } else { Origin::Scratch };
    let mut items: Vec<(Reg, Array)> = Vec::new();
    for reg in item.regs() {
        if items.iter().all(|(known, _)| *known != reg) {
            let width = build.kernel.regs[reg].bytes() as u8;
            items.push((reg, build.kernel.add_array(origin, width, CHUNK as u64)));
        }
    }
    items
}

/// The reduction of the rounds from `low` below `high`, whose items lie in arrays from slot 0 on.
pub(super) fn reduce_chunk(
    build: &mut Builder<'_>,
    (low, high): (Reg, Reg),
    items: &[(Reg, Array)],
    item: Summand,
    result: Reg,
) -> Vec<Stmt> {
    let (zero, rounds) = (build.int(0), build.binary(Binary::Sub, high, low));
    let mut out = std::mem::take(&mut build.stmts);
    let index = build.reg(ScalarType::I64);
    let mut names = HashMap::default();
    for (reg, array) in items {
        let ty = build.kernel.regs[*reg];
        names.insert(*reg, build.define(ty, Op::Load(*array, index, ty)));
    }
    let body = std::mem::take(&mut build.stmts);
    out.push(Stmt::Reduce {
        index,
        low: zero,
        high: rounds,
        body,
        item: item.map(|reg| names[&reg]),
        result,
    });
    out
}

/// A loop that is taken apart.
struct Nest {
    divisor: Divisor,
    /// The divisor, in front of the loop.
    size: Reg,
    index: Reg,
    label: Option<Label>,
    low: Reg,
    high: Reg,
}

impl Nest {
    /// The loops over both digits, in order.
    fn in_order(self, build: &mut Builder<'_>, body: Vec<Stmt>) -> Vec<Stmt> {
        let n = self.size;
        let zero = build.int(0);
        let (first, rows) = match self.divisor.is_whole {
            true => (zero, build.binary(Binary::DivUnsigned, self.high, n)),
            false => {
                // No round runs if the end is below the start, or below 0.
                let end = build.max(self.low, self.high);
                let one = build.int(1);
                let less = build.binary(Binary::Sub, n, one);
                let padded = build.binary(Binary::Add, end, less);
                let first = build.binary(Binary::DivUnsigned, self.low, n);
                (first, build.binary(Binary::DivUnsigned, padded, n))
            }
        };
        let mut out = std::mem::take(&mut build.stmts);
        let (number, body) = self.rows(build, zero, body);
        let label = build.label();
        out.push(Stmt::For { label, index: number, low: first, high: rows, body });
        out
    }

    /// The index of the outer loop, and its body: the loop over the inner digit.
    fn rows(self, build: &mut Builder<'_>, zero: Reg, mut body: Vec<Stmt>) -> (Reg, Vec<Stmt>) {
        let before = std::mem::take(&mut build.stmts);
        let (n, inside) = (self.size, self.divisor.reg);
        let (number, digit) = (build.reg(ScalarType::I64), build.reg(ScalarType::I64));
        let base = build.binary(Binary::Mul, number, n);
        let (low, high) = match self.divisor.is_whole {
            true => (zero, n),
            false => {
                let skipped = build.binary(Binary::Sub, self.low, base);
                let left = build.binary(Binary::Sub, self.high, base);
                (build.max(skipped, zero), build.min(left, n))
            }
        };
        let mut rows = std::mem::replace(&mut build.stmts, before);
        let mut same = HashMap::default();
        for_each_stmt(&body, &mut |stmt| match stmt {
            Stmt::Let(reg, Op::Binary(Binary::DivUnsigned | Binary::DivSigned, a, by))
                if *a == self.index && *by == inside =>
            {
                same.insert(*reg, number);
            }
            Stmt::Let(reg, Op::Binary(Binary::RemUnsigned | Binary::RemSigned, a, by))
                if *a == self.index && *by == inside =>
            {
                same.insert(*reg, digit);
            }
            _ => {}
        });
        rename_all(&mut body, &same);
        body.insert(0, Stmt::Let(self.index, Op::Binary(Binary::Add, base, digit)));
        let label = self.label.unwrap_or_else(|| build.label());
        rows.push(Stmt::For { label, index: digit, low, high, body });
        (number, rows)
    }
}
