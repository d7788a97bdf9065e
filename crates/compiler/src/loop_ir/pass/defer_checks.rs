//! Deferred checks: a loop whose rounds check numbers of data counts in a variable the rounds in which
//! a check has failed, and fails after its last round if there was one.
//!
//! ```text
//!                                      set v <- 0
//! for i in 0..<n                       for i in 0..<n
//!   r0 = a[i]                            r0 = a[i]
//!   r1 = r0 <u r9               =>       r1 = r0 <u r9
//!   if r1 else fail                      v <- add v (r1 == 0)
//!   b[i] <- r0                           b[i] <- r0
//!                                      if v fail
//! ```
//!
//! A branch in each round keeps a loop from going by vectors. The variable does what a sticky flag of
//! IEEE 754 (section 7.1) does: operations go on after an exception, which is looked at once. It
//! counts, since lanes of any width count truth values.
//!
//! **Why nothing changes.** A kernel that fails has no results, and its caller finds out what
//! failed and where by a run of its own; so a loop may fail later than at its first failed check,
//! as long as what is done until then does no harm. Operations are total, divisors are constants.
//! Slots that are read or written are sums and products of the index and of what stays the same,
//! and the conditions compare floats, or numbers that come from loads of the loop with each other or
//! with what stays the same, so no check is one of a slot: that of a slot at the index compares the
//! index.
//!
//! **When.** The rounds only compute by operations that vectors with lanes of 8 bytes have
//! ([`promotion`](super::super::promotion)), store at the index, and check. Such a parallel loop
//! goes by strips, each with a variable of its own.
//!
//! A function with a vector form, such as `exp`, is called for the rounds of a strip before, in a
//! loop of its own, which [`distribute`](super::distribute) takes further: it is total, and reads
//! nothing that the rounds store.
//!
//! Only vectors of 256 bits and more have the conditions and the narrow slots of such loops;
//! without them a predicted branch is cheaper, and nothing changes.
//!
//! Costs time in proportion to the statements.

use super::super::promotion::has_promoted_form;
use super::super::{
    Array, Binary, Compare, Kernel, Op, Origin as ArrayOrigin, Reg, ScalarType, Stmt, Unary, Var,
    for_each_stmt, has_vector_form, is_straight_line,
};
use super::clone_stmts::Cloner;
use super::if_conversion::check;
use super::parallelize::independent_loops;
use super::{Builder, LoopParts, Strip, loop_parts, rewrite, slice, strip_mined};
use crate::hash::{HashMap, HashSet};

/// Rounds of a strip of a parallel loop.
const STRIP: u64 = 4096;

/// Rounds of a strip whose functions are computed before.
const STRIP_WITH_CALLS: u64 = 512;

/// Functions that a round calls, at most.
const MAX_CALLS: usize = 4;

/// Statements of the longest body.
const MAX_STATEMENTS: usize = 200;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    if !kernel.target.has_wide_vectors() {
        return;
    }
    let mut with_calls: HashSet<Reg> = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, body, .. } = stmt
            && is_candidate(body)
            && !calls(kernel, body).is_empty()
        {
            with_calls.insert(*index);
        }
    });
    let independent = match with_calls.is_empty() {
        true => with_calls,
        false => independent_loops(kernel, &with_calls, false),
    };
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match deferred(kernel, &stmt, &independent) {
                Some(stmts) => out.extend(stmts),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The origin of a number in a round; that of a result is the last one of its operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Origin {
    /// The same in all rounds.
    Same,
    /// A sum or product of the index and of what is the same.
    Index,
    /// Computed from a load of the loop, or a float: no slot is known to exist by its value.
    Data,
    /// Computed from the index, and perhaps from data; a condition that is may be one of a slot.
    Mixed,
}

/// Returns `Some` if all statements of a round may run after a failed check, these calls before it.
fn runs_after_failure(kernel: &Kernel, index: Reg, body: &[Stmt], calls: &[Reg]) -> Option<()> {
    let mut origins: HashMap<Reg, Origin> = HashMap::from_iter([(index, Origin::Index)]);
    for stmt in body {
        let origin = |reg: &Reg| origins.get(reg).copied().unwrap_or(Origin::Same);
        match stmt {
            Stmt::Let(reg, op) => {
                let (mut last, mut of_index) = (Origin::Same, false);
                op.for_each_reg(&mut |operand| {
                    last = last.max(origin(&operand));
                    of_index |= origin(&operand) == Origin::Index;
                });
                let new = match op {
                    Op::Load(..) if last > Origin::Index => return None,
                    Op::Load(..) => Origin::Data,
                    Op::Const(..) | Op::Size(_) | Op::Scalar(_) => Origin::Same,
                    Op::Get(_) => return None,
                    Op::Call(..) if calls.contains(reg) => Origin::Data,
                    _ if !has_vectors(kernel, *reg, op) => return None,
                    Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) if last <= Origin::Index => last,
                    _ if kernel.regs[*reg].is_float() => Origin::Data,
                    _ if of_index => Origin::Mixed,
                    _ => last,
                };
                origins.insert(*reg, new);
            }
            Stmt::Store(array, at, value) => {
                let width = usize::from(kernel.arrays[*array].width);
                let ty = kernel.regs[*value];
                if origin(at) != Origin::Index || width != ty.bytes() && ty != ScalarType::I64 {
                    return None;
                }
            }
            stmt => {
                let (condition, _) = check(stmt)?;
                if origin(&condition) != Origin::Data {
                    return None;
                }
            }
        }
    }
    Some(())
}

/// Returns true if vectors with lanes of 8 bytes have an operation, and it is total.
fn has_vectors(kernel: &Kernel, reg: Reg, op: &Op) -> bool {
    let has_form = match op {
        Op::Binary(kind, _, b) => !kind.is_integer_division() || kernel.constants.contains_key(b),
        Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) => false,
        Op::Unary(..) | Op::Compare(..) | Op::Select(..) | Op::Cast(..) => true,
        _ => false,
    };
    has_form && has_promoted_form(kernel, kernel.regs[reg], op, |_| false)
}

/// The statements in place of a loop, if its checks can be deferred.
fn deferred(kernel: &mut Kernel, stmt: &Stmt, independent: &HashSet<Reg>) -> Option<Vec<Stmt>> {
    if !matches!(stmt, Stmt::For { .. } | Stmt::ParallelFor { .. }) {
        return None;
    }
    let LoopParts { index, low, high, body, .. } = loop_parts(stmt)?;
    if !is_candidate(body) {
        return None;
    }
    let calls = calls(kernel, body);
    let is_parallel = matches!(stmt, Stmt::ParallelFor { .. });
    runs_after_failure(kernel, index, body, &calls)?;
    let computing = slice(body, |stmt| stmt.as_definition().is_some_and(|(reg, _)| calls.contains(&reg)));
    let stored: HashSet<Array> = body.iter().flat_map(Stmt::written_arrays).collect();
    let reads_stored = computing.iter().flat_map(Stmt::arrays).any(|array| stored.contains(&array));
    let may_be_first = is_parallel || independent.contains(&index);
    if !calls.is_empty() && (calls.len() > MAX_CALLS || reads_stored || !may_be_first) {
        return None;
    }
    let failed = kernel.vars.push(ScalarType::I64);
    if let Stmt::For { label, low, high, .. } = stmt
        && calls.is_empty()
    {
        let body = noting(kernel, failed, body);
        let mut build = Builder::new(kernel);
        let zero = build.int(0);
        build.stmts.push(Stmt::Set(failed, zero));
        build.stmts.push(Stmt::For { label: *label, index, low: *low, high: *high, body });
        fail_if(&mut build, failed);
        return Some(build.stmts);
    }
    let mut build = Builder::new(kernel);
    let zero = build.int(0);
    let length = if calls.is_empty() { STRIP } else { STRIP_WITH_CALLS };
    let strips = strip_mined(&mut build, (low.unwrap_or(zero), high), length);
    let mut out = std::mem::take(&mut build.stmts);
    let Strip { base, rounds, .. } = strips.strip(&mut build);
    let end = build.binary(Binary::Add, base, rounds);
    build.stmts.push(Stmt::Set(failed, zero));
    let (label, start) = (build.label(), std::mem::take(&mut build.stmts));
    let (computing, rest) = match calls.is_empty() {
        true => (Vec::new(), body.to_vec()),
        false => without_calls(build.kernel, (index, base, end), body, (&calls, &computing)),
    };
    let body = noting(build.kernel, failed, &rest);
    build.stmts = [start, computing].concat();
    build.stmts.push(Stmt::For { label, index, low: base, high: end, body });
    fail_if(&mut build, failed);
    let (number, strip) = (strips.number, build.stmts);
    out.push(match is_parallel {
        true => Stmt::ParallelFor { index: number, count: strips.count, body: strip },
        false => {
            let label = kernel.new_label();
            Stmt::For { label, index: number, low: zero, high: strips.count, body: strip }
        }
    });
    Some(out)
}

/// Returns true for a straight body that checks and stores.
fn is_candidate(body: &[Stmt]) -> bool {
    body.len() <= MAX_STATEMENTS
        && is_straight_line(body)
        && body.iter().any(|stmt| check(stmt).is_some())
        && body.iter().any(|stmt| matches!(stmt, Stmt::Store(..)))
}

/// The functions with a vector form that a body calls, by their results.
fn calls(kernel: &Kernel, body: &[Stmt]) -> Vec<Reg> {
    let of_call = |stmt: &Stmt| match stmt {
        Stmt::Let(reg, Op::Call(function, _))
            if has_vector_form(*function) && kernel.regs[*reg] == ScalarType::F64 =>
        {
            Some(*reg)
        }
        _ => None,
    };
    body.iter().filter_map(of_call).collect()
}

/// A loop that computes what functions give for the rounds of a strip, with the statements that
/// they need, and the statements of a round that read it.
fn without_calls(
    kernel: &mut Kernel,
    (index, base, end): (Reg, Reg, Reg),
    body: &[Stmt],
    (calls, computing): (&[Reg], &[Stmt]),
) -> (Vec<Stmt>, Vec<Stmt>) {
    let mut build = Builder::new(kernel);
    let at = build.binary(Binary::Sub, index, base);
    let place = std::mem::take(&mut build.stmts);
    let mut rest = place.clone();
    let mut copy = Cloner::new(build.kernel);
    let own = copy.fresh(index);
    let mut first = copy.stmts(&place);
    first.extend(copy.stmts(computing));
    let (own_at, results) = (copy.reg(at), calls.iter().map(|reg| copy.reg(*reg)).collect::<Vec<_>>());
    let mut arrays = HashMap::default();
    for (call, result) in calls.iter().zip(results) {
        let array = kernel.add_array(ArrayOrigin::Stack(STRIP_WITH_CALLS as u32), 8, STRIP_WITH_CALLS);
        first.push(Stmt::Store(array, own_at, result));
        arrays.insert(*call, array);
    }
    rest.extend(body.iter().map(|stmt| match stmt {
        Stmt::Let(reg, _) if let Some(array) = arrays.get(reg) => {
            Stmt::Let(*reg, Op::Load(*array, at, ScalarType::F64))
        }
        stmt => stmt.clone(),
    }));
    let label = kernel.new_label();
    (vec![Stmt::For { label, index: own, low: base, high: end, body: first }], rest)
}

/// The statements of a round which add 1 to `failed` where one of its checks fails.
fn noting(kernel: &mut Kernel, failed: Var, body: &[Stmt]) -> Vec<Stmt> {
    let mut build = Builder::new(kernel);
    let zero = build.int(0);
    let mut any: Option<Reg> = None;
    for stmt in body {
        let Some((condition, wanted)) = check(stmt) else {
            build.stmts.push(stmt.clone());
            continue;
        };
        let kind = if wanted { Compare::Eq } else { Compare::Ne };
        let fails = build.define(ScalarType::I64, Op::Compare(kind, condition, zero));
        any = Some(match any {
            None => fails,
            Some(any) => build.binary(Binary::Or, any, fails),
        });
    }
    let any = any.expect("a round has a check");
    let before = build.define(ScalarType::I64, Op::Get(failed));
    let after = build.binary(Binary::Add, before, any);
    build.stmts.push(Stmt::Set(failed, after));
    build.stmts
}

/// Leaves the kernel if the variable is not 0.
fn fail_if(build: &mut Builder<'_>, failed: Var) {
    let now = build.define(ScalarType::I64, Op::Get(failed));
    build.stmts.push(Stmt::If(now, vec![Stmt::Fail], Vec::new()));
}
