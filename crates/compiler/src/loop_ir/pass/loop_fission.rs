//! Loop fission around ordered accumulations: what a sum of floats adds is computed by vectors, and
//! added in its order by a loop of its own.
//!
//! ```text
//!                                       for p in 0..<(n + 255) / 256
//! for i in 0..<n                          for j < 256: t[j] <- f(p * 256 + j)
//!   v := v + f(i)                 =>      for j < 256: v := v + t[j]
//! ```
//!
//! Floats are added in the order of the program, so a variable that adds up keeps a loop from going
//! by vectors, though most of its work is the same for all rounds (D. Kuck et al., *Dependence
//! graphs and compiler optimizations*, 1981: distribution of a loop by its recurrences).
//!
//! Variables that accumulate in any order, as the least number does, keep their lanes: they are in
//! the first loop.
//!
//! A number that is added under a condition is one that changes nothing elsewhere: -0.0 for sums,
//! 0.0 for differences, 1.0 for products (a NaN stays the same, but for the bit of those that
//! signal). So the condition is chosen by vectors, too.
//!
//! **Why nothing changes.** The body computes and sets variables. What depends on a variable that it
//! sets is done for one round after the other, as before; everything else depends on the index only.
//!
//! **When.** Vectors have all operations that do not depend on the variables
//! ([`vector_forms`](super::vector_forms)), in lanes of 8 bytes, and these take longer than the
//! strips do. A loop whose number of rounds arrives stays as it is for few. Costs time in proportion
//! to the statements, and for each variable once more.

use super::super::accumulator::{Accumulator, accumulators};
use super::super::cost::op_cost;
use super::super::{
    Binary, Compare, Kernel, Label, Op, Origin, Reg, ScalarType, Stmt, Unary, Var, for_each_stmt,
};
use super::affine::Forms;
use super::clone_stmts::Cloner;
use super::vector_forms::{Lanes, VectorForms};
use super::{
    Builder, LoopParts, known_rounds, loop_parts, rewrite, set_variables, strip_mined, variable_dependents,
};
use crate::hash::{HashMap, HashSet};

/// Rounds of a strip.
const STRIP: u64 = 256;

/// Rounds of a loop, at least.
const MIN_ROUNDS: i64 = 48;

/// Statements of the longest body.
const MAX_STATEMENTS: usize = 400;

/// Operations that depend on variables, at most.
const MAX_ORDERED: usize = 12;

/// Numbers of a round that are read by the loop in order.
const MAX_STRIPS: usize = 6;

/// The minimum time of the operations of a round that go by vectors, in nanoseconds. Less is done
/// while a sum waits for the one before.
const MIN_VECTOR_NS: f64 = 4.0;

/// Nanoseconds of an operation, one by one. Quotients and roots of floats take several times as long
/// as others.
pub(super) fn scalar_ns(op: &Op) -> f64 {
    match op {
        Op::Binary(Binary::DivFloat, ..) | Op::Unary(Unary::Sqrt, _) => 1.5,
        op => op_cost(op),
    }
}

/// Nanoseconds of the least of two floats, in a recurrence.
const EXTREME_NS: f64 = 3.0;

/// Returns true if operations that take so many nanoseconds are worth a loop of their own.
pub(super) fn is_profitable(vector_ns: f64) -> bool {
    vector_ns >= MIN_VECTOR_NS
}

/// Returns true for a loop in order that has not too few rounds.
pub(super) fn may_be_split(forms: &mut Forms<'_>, parts: &LoopParts<'_>) -> bool {
    parts.item.is_none()
        && parts.low.is_some()
        && known_rounds(forms, parts.low, parts.high).is_none_or(|rounds| rounds >= MIN_ROUNDS)
}

/// Returns true if so many operations may be done in order, which read so many numbers of the first
/// loop.
pub(super) fn is_small(in_order: usize, strips: usize) -> bool {
    in_order <= MAX_ORDERED && strips <= MAX_STRIPS
}

/// Returns true for an operation that may be done in order, after those that go by vectors.
pub(super) fn may_be_ordered(op: &Op) -> bool {
    matches!(op, Op::Get(_) | Op::Binary(..) | Op::Unary(..) | Op::Select(..) | Op::Compare(..))
}

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut sets = false;
    for_each_stmt(&kernel.body, &mut |stmt| sets |= matches!(stmt, Stmt::Set(..)));
    if !sets || !kernel.target.has_wide_vectors() {
        return;
    }
    rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if let Stmt::For { body, .. } = stmt
                && is_straight(body)
            {
                *body = unconditional(kernel, std::mem::take(body));
            }
        }
        stmts
    });
    // The results that were chosen between are read no more.
    super::dce::run(kernel);
    let fissions = fissions(kernel);
    if fissions.is_empty() {
        return;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::For { label, index, low, high, body } if fissions.contains_key(&index) => {
                    split(kernel, &fissions[&index], (label, index, low, high), body, &mut out);
                }
                other => out.push(other),
            }
        }
        out
    });
}

/// Returns true for a body that only computes and sets variables.
fn is_straight(body: &[Stmt]) -> bool {
    body.len() <= MAX_STATEMENTS
        && body.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..)))
        && body.iter().any(|stmt| matches!(stmt, Stmt::Set(..)))
}

/// The bits of the number that changes nothing as the second operand.
fn identity(op: Binary) -> Option<u64> {
    match op {
        Binary::Add => Some((-0.0f64).to_bits()),
        Binary::Sub => Some(0.0f64.to_bits()),
        Binary::Mul => Some(1.0f64.to_bits()),
        _ => None,
    }
}

/// The body with operands that are chosen in place of results.
fn unconditional(kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
    let ordered = variable_dependents(&set_variables(&body), &body);
    let mut ops: HashMap<Reg, (Binary, Reg, Reg)> = HashMap::default();
    let mut build = Builder::new(kernel);
    for stmt in body {
        match stmt {
            Stmt::Let(reg, Op::Binary(op, a, b)) => {
                // A sum has the operand from the round before as the first one here.
                let swaps = op != Binary::Sub && ordered.contains(&b);
                let (first, second) = if swaps { (b, a) } else { (a, b) };
                if ordered.contains(&first) && !ordered.contains(&second) {
                    ops.insert(reg, (op, first, second));
                }
                build.stmts.push(Stmt::Let(reg, Op::Binary(op, a, b)));
            }
            Stmt::Let(reg, Op::Select(c, a, b))
                if build.kernel.regs[reg] == ScalarType::F64 && !ordered.contains(&c) =>
            {
                let joined =
                    |reg: Reg, old: Reg| ops.get(&reg).filter(|(_, first, _)| *first == old).copied();
                let chosen =
                    joined(a, b).map(|found| (found, true)).or(joined(b, a).map(|found| (found, false)));
                match chosen
                    .and_then(|((op, old, operand), holds)| Some((op, old, operand, holds, identity(op)?)))
                {
                    Some((op, old, operand, holds, bits)) => {
                        let ty = ScalarType::F64;
                        let nothing = build.define(ty, Op::Const(ty, bits));
                        let (yes, no) = if holds { (operand, nothing) } else { (nothing, operand) };
                        let operand = build.define(ty, Op::Select(c, yes, no));
                        build.stmts.push(Stmt::Let(reg, Op::Binary(op, old, operand)));
                    }
                    None => build.stmts.push(Stmt::Let(reg, Op::Select(c, a, b))),
                }
            }
            stmt => build.stmts.push(stmt),
        }
    }
    build.stmts
}

/// A loop that is split.
struct Fission {
    /// The registers that are computed in order, and the variables that are set to them.
    ordered: HashSet<Reg>,
    ordered_vars: HashSet<Var>,
    /// Registers that belong to variables that accumulate in any order.
    joined: HashSet<Reg>,
    /// Registers that differ from round to round and that are computed in the first loop only.
    varying: HashSet<Reg>,
    /// Registers of these that the second loop reads, in the order in which they are set.
    strips: Vec<Reg>,
    /// The number of rounds is known, and not small.
    is_long: bool,
}

/// The loops to split, by their indices.
fn fissions(kernel: &Kernel) -> HashMap<Reg, Fission> {
    let mut forms = Forms::new(kernel);
    let mut found = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Some(parts) = loop_parts(stmt)
            && is_straight(parts.body)
            && may_be_split(&mut forms, &parts)
            && let Some(fission) = fission(kernel, &mut forms, &parts)
        {
            found.insert(parts.index, fission);
        }
    });
    found
}

/// The split of a loop, if it is worth while.
fn fission(kernel: &Kernel, forms: &mut Forms<'_>, parts: &LoopParts<'_>) -> Option<Fission> {
    let LoopParts { index, body, .. } = *parts;
    let is_long = known_rounds(forms, parts.low, parts.high).is_some();
    // Others have lanes as they are.
    if accumulators(kernel, body).is_some() {
        return None;
    }
    let mut ordered_vars = set_variables(body);
    let mut ordered = variable_dependents(&ordered_vars, body);
    let joined = joined(kernel, body, &ordered);
    let mut time = 0.0;
    for accumulator in &joined {
        ordered.retain(|reg| !accumulator.chain.contains(reg));
        ordered_vars.remove(&accumulator.var);
        time += if accumulator.ty.is_float() { EXTREME_NS } else { 0.0 };
    }
    let joined: HashSet<Reg> = joined.into_iter().flat_map(|accumulator| accumulator.chain).collect();
    let mut vectors = VectorForms::new(kernel, index, forms);
    let (mut in_order, mut cheap) = (0, HashSet::from_iter([index]));
    for stmt in body {
        let Stmt::Let(reg, op) = stmt else { continue };
        if ordered.contains(reg) {
            in_order += 1;
            if !may_be_ordered(op) {
                return None;
            }
        } else if vectors.varies(op) && !joined.contains(reg) {
            if !vectors.define(*reg, op) {
                return None;
            }
            if vectors.lanes[reg] == Lanes::Index || matches!(op, Op::Load(..)) {
                cheap.insert(*reg);
            }
            if vectors.lanes[reg] != Lanes::Index {
                time += scalar_ns(op);
            }
        }
    }
    if vectors.has_short_operations {
        return None;
    }
    let varying: HashSet<Reg> = vectors.lanes.into_keys().filter(|reg| !cheap.contains(reg)).collect();
    let mut read: HashSet<Reg> = HashSet::default();
    for stmt in body {
        let is_ordered = match stmt {
            Stmt::Let(reg, _) => ordered.contains(reg),
            Stmt::Set(var, _) => ordered_vars.contains(var),
            _ => false,
        };
        if is_ordered {
            stmt.for_each_reg(&mut |reg| read.extend(varying.get(&reg)));
        }
    }
    let strips: Vec<Reg> = body
        .iter()
        .filter_map(|stmt| match stmt {
            Stmt::Let(reg, _) if read.contains(reg) => Some(*reg),
            _ => None,
        })
        .collect();
    let is_split = !ordered_vars.is_empty() && (!strips.is_empty() || !joined.is_empty());
    (is_split && is_small(in_order, strips.len()) && is_profitable(time)).then_some(Fission {
        ordered,
        ordered_vars,
        joined,
        varying,
        strips,
        is_long,
    })
}

/// The variables of 8 bytes that accumulate in any order, and with which no other one has a register
/// in common.
fn joined(kernel: &Kernel, body: &[Stmt], ordered: &HashSet<Reg>) -> Vec<Accumulator> {
    let set = set_variables(body);
    let chain = |var: &Var| (*var, variable_dependents(&HashSet::from_iter([*var]), body));
    let chains: HashMap<Var, HashSet<Reg>> = set.iter().map(chain).collect();
    let alone = |var: &Var| {
        let mut others = chains.iter().filter(|(other, _)| *other != var);
        others.all(|(_, chain)| chain.is_disjoint(&chains[var]))
    };
    let mut found = Vec::new();
    for var in set.iter().filter(|var| kernel.vars[**var].bytes() == 8 && alone(var)) {
        let is_kept = |stmt: &&Stmt| match stmt {
            Stmt::Let(reg, _) => !ordered.contains(reg) || chains[var].contains(reg),
            Stmt::Set(of, _) => of == var,
            _ => false,
        };
        let slice: Vec<Stmt> = body.iter().filter(is_kept).cloned().collect();
        found.extend(accumulators(kernel, &slice).into_iter().flatten());
    }
    found
}

/// Appends a loop over strips, each of which is computed, then read in order.
fn split(
    kernel: &mut Kernel,
    fission: &Fission,
    (label, index, low, high): (Label, Reg, Reg, Reg),
    body: Vec<Stmt>,
    out: &mut Vec<Stmt>,
) {
    let arrays: Vec<_> =
        fission.strips.iter().map(|_| kernel.add_array(Origin::Stack(STRIP as u32), 8, STRIP)).collect();
    let mut build = Builder::new(kernel);
    let zero = build.int(0);
    let strips = strip_mined(&mut build, (low, high), STRIP);
    out.append(&mut build.stmts);
    let strip = strips.strip(&mut build);
    let mut inside = std::mem::take(&mut build.stmts);
    for is_in_order in [false, true] {
        let at = build.reg(ScalarType::I64);
        let place = build.binary(Binary::Add, strip.base, at);
        let mut stmts = std::mem::take(&mut build.stmts);
        let mut cloner = Cloner::new(build.kernel);
        cloner.names.regs.insert(index, place);
        for stmt in &body {
            match stmt {
                Stmt::Let(reg, _) if fission.ordered.contains(reg) && !is_in_order => {}
                Stmt::Let(reg, _) if fission.joined.contains(reg) && is_in_order => {}
                Stmt::Set(var, _) if fission.ordered_vars.contains(var) != is_in_order => {}
                Stmt::Let(reg, _) if fission.varying.contains(reg) && is_in_order => {
                    if let Some(number) = fission.strips.iter().position(|strip| strip == reg) {
                        let ty = cloner.kernel.regs[*reg];
                        let loaded = cloner.fresh(*reg);
                        stmts.push(Stmt::Let(loaded, Op::Load(arrays[number], at, ty)));
                    }
                }
                stmt => {
                    cloner.stmt(stmt, &mut stmts);
                    if let Stmt::Let(reg, _) = stmt
                        && let Some(number) = fission.strips.iter().position(|strip| strip == reg)
                    {
                        stmts.push(Stmt::Store(arrays[number], at, cloner.reg(*reg)));
                    }
                }
            }
        }
        let label = build.label();
        inside.push(Stmt::For { label, index: at, low: zero, high: strip.rounds, body: stmts });
    }
    let over_strips = build.label();
    let split =
        Stmt::For { label: over_strips, index: strips.number, low: zero, high: strips.count, body: inside };
    if fission.is_long {
        return out.push(split);
    }
    let least = build.int(MIN_ROUNDS);
    let is_short = build.define(ScalarType::I64, Op::Compare(Compare::Lt, strips.rounds, least));
    out.append(&mut build.stmts);
    out.push(Stmt::If(is_short, vec![Stmt::For { label, index, low, high, body }], vec![split]));
}
