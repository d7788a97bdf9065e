//! Loop collapsing: two loops, one inside the other, whose indices are only ever joined are one.
//!
//! ```text
//! for i in 0..<n                 for j in 0..<(n * m)
//!   for j in 0..<m          =>
//!     b[i * m + j] <- a[i * m + j] * c       b[j] <- a[j] * c
//! ```
//!
//! A function of fields works on one axis, and the axes before it and after it are written as they
//! stand. With one loop for those before and one for those after, its kernel is the same however
//! many there are, and inner loops are as long as can be (Padua and Wolfe, *Advanced compiler
//! optimizations for supercomputers*, 1986).
//!
//! **Why nothing changes.** The outer index is 0 and the inner one runs to the product. Whatever
//! takes part in more than sums and products with constants ([`Affine`](super::affine::Affine)) has
//! `m` times the coefficient of `j` as that of `i`, so it is the same number in round `i * m + j`.
//! Rounds keep their order; two parallel loops become one where the rounds of the inner one are
//! independent.
//!
//! A product with two numbers, `j * m * k`, is then one with their product, as it is where there
//! was one loop from the start.
//!
//! **When.** Both begin at 0, the number of inner rounds is the same in all outer ones, nothing
//! else has an effect in an outer round, and no loop is left or continued.

use super::super::{Binary, Kernel, MAX_CONSTANT_SIZE, Op, Reg, ScalarType, Stmt, for_each_stmt};
use super::affine::{Affine, Forms};
use super::parallelize::independent_loops;
use super::{Builder, LoopParts, loop_parts, rewrite};
use crate::hash::{HashMap, HashSet};

/// Loops inside each other that are collapsed.
const MAX_DEPTH: usize = 8;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    for depth in 0..MAX_DEPTH {
        let pairs = pairs(kernel);
        if pairs.is_empty() {
            if depth > 0 {
                join_factors(kernel);
            }
            return;
        }
        rewrite(kernel, &mut |kernel, stmts, _| {
            let mut out = Vec::new();
            for stmt in stmts {
                match loop_parts(&stmt).and_then(|parts| pairs.get(&parts.index)) {
                    Some(rounds) => collapsed(kernel, stmt, *rounds, &mut out),
                    None => out.push(stmt),
                }
            }
            out
        });
    }
}

/// A loop and the only loop inside, if there is nothing else in it that has an effect.
fn pair(stmt: &Stmt) -> Option<(LoopParts<'_>, LoopParts<'_>)> {
    let outer = loop_parts(stmt).filter(|parts| parts.item.is_none())?;
    let (last, before) = outer.body.split_last()?;
    let inner = loop_parts(last).filter(|_| matches!(last, Stmt::For { .. }))?;
    let is_number = |stmt: &Stmt| match stmt {
        Stmt::Let(_, op) => {
            matches!(op, Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Binary(..) | Op::Cast(..))
        }
        _ => false,
    };
    before.iter().all(is_number).then_some((outer, inner))
}

/// The outer loops, by their indices, that are one with the loop inside, with the rounds of both.
/// None of them is the inner loop of another.
fn pairs(kernel: &Kernel) -> HashMap<Reg, u64> {
    let mut forms = Forms::new(kernel);
    let mut found: Vec<(Reg, Reg, bool, u64)> = Vec::new();
    let mut targets = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Break(label) | Stmt::Continue(label) = stmt {
            targets.insert(*label);
        }
    });
    let is_left = |stmt: &Stmt| matches!(stmt, Stmt::For { label, .. } if targets.contains(label));
    for_each_stmt(&kernel.body, &mut |stmt| {
        let Some((outer, inner)) = pair(stmt) else { return };
        if is_left(stmt) || outer.body.last().is_some_and(is_left) {
            return;
        }
        let from_zero =
            [outer.low, inner.low].into_iter().flatten().all(|low| forms.constant(low) == Some(0));
        let (rounds, inner_rounds) = (forms.constant(outer.high), forms.constant(inner.high));
        let (Some(rounds), Some(inner_rounds)) = (rounds, inner_rounds) else { return };
        if !from_zero || rounds < 0 || inner_rounds < 0 {
            return;
        }
        let Some(all) = rounds.checked_mul(inner_rounds) else { return };
        if are_joined(&mut forms, outer.body, outer.index, inner.index, inner_rounds) {
            found.push((outer.index, inner.index, outer.low.is_none(), all as u64));
        }
    });
    let candidates = found.iter().filter(|(_, _, parallel, _)| *parallel).map(|(_, inner, ..)| *inner);
    let candidates: HashSet<Reg> = candidates.collect();
    let independent =
        if candidates.is_empty() { HashSet::default() } else { independent_loops(kernel, &candidates, true) };
    found.retain(|(_, inner, parallel, _)| !parallel || independent.contains(inner));
    let inner: HashSet<Reg> = found.iter().map(|(_, inner, ..)| *inner).collect();
    found.retain(|(outer, ..)| !inner.contains(outer));
    found.into_iter().map(|(outer, _, _, all)| (outer, all)).collect()
}

/// Returns true if whatever is made of the indices is made of `outer * inner_rounds + inner`.
fn are_joined(forms: &mut Forms<'_>, body: &[Stmt], outer: Reg, inner: Reg, inner_rounds: i64) -> bool {
    let mut read: Vec<Reg> = Vec::new();
    for_each_stmt(body, &mut |stmt| match stmt {
        Stmt::Let(reg, op) => {
            // A sum is what it is where it is used.
            if forms.of(*reg) == Affine::register(*reg) {
                op.for_each_reg(&mut |reg| read.push(reg));
            }
        }
        stmt => stmt.for_each_read(&mut |reg| read.push(reg)),
    });
    read.into_iter().all(|reg| {
        let form = forms.of(reg);
        let coefficient = |of: Reg| form.coefficient(of);
        coefficient(inner).checked_mul(inner_rounds) == Some(coefficient(outer))
    })
}

/// Makes one product of those of a register with several numbers.
fn join_factors(kernel: &mut Kernel) {
    let mut forms = Forms::new(kernel);
    let mut products: HashMap<Reg, (Reg, u64)> = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(reg, Op::Binary(Binary::Mul, a, b)) = stmt
            && let Affine { terms, constant: 0 } = forms.of(*reg)
            && let [(factor, coefficient)] = terms[..]
            && factor != *reg
            && factor != *a
            && factor != *b
            && coefficient > 1
        {
            products.insert(*reg, (factor, coefficient as u64));
        }
    });
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, _) if products.contains_key(&reg) => {
                    let (factor, coefficient) = products[&reg];
                    let mut build = Builder::new(kernel);
                    let coefficient = number(&mut build, coefficient);
                    out.extend(build.stmts);
                    out.push(Stmt::Let(reg, Op::Binary(Binary::Mul, factor, coefficient)));
                }
                stmt => out.push(stmt),
            }
        }
        out
    });
}

/// A number: a constant if it is small, else a size.
fn number(build: &mut Builder<'_>, number: u64) -> Reg {
    if number <= MAX_CONSTANT_SIZE {
        return build.int(number as i64);
    }
    let number = build.kernel.size_number(number);
    build.define(ScalarType::I64, Op::Size(number))
}

/// One loop for both.
fn collapsed(kernel: &mut Kernel, stmt: Stmt, rounds: u64, out: &mut Vec<Stmt>) {
    let (outer, is_parallel, mut before) = match stmt {
        Stmt::For { index, body, .. } => (index, false, body),
        Stmt::ParallelFor { index, body, .. } => (index, true, body),
        _ => unreachable!("a pair is two loops"),
    };
    let Some(Stmt::For { label, index, body, .. }) = before.pop() else {
        unreachable!("a loop is the last statement of the outer one")
    };
    let mut build = Builder::new(kernel);
    let count = number(&mut build, rounds);
    let start = build.int(0);
    out.extend(build.stmts);
    kernel.constants.insert(outer, 0);
    let mut whole = vec![Stmt::Let(outer, Op::Const(ScalarType::I64, 0))];
    whole.extend(before);
    whole.extend(body);
    out.push(match is_parallel {
        true => Stmt::ParallelFor { index, count, body: whole },
        false => Stmt::For { label, index, low: start, high: count, body: whole },
    });
}
