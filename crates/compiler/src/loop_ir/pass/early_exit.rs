//! Strip-mining of search loops: a loop that does nothing in most rounds looks by vectors whether a
//! block of rounds does anything.
//!
//! ```text
//! for i < n                        for b < n / 512
//!   if c[i]                          count = 0
//!     S; break            =>         for i in the block: count += c[i]
//!                                    if count
//!                                      for i in the block: if c[i]: S; break
//!                                  for the rest i: if c[i]: S; break
//! ```
//!
//! The same goes for a loop that sets variables where a condition holds and goes on, such as the
//! search for the place of the largest element: `if x[i] > best: best = x[i]; at = i`. While the
//! condition holds in no round, the variables are what they were before the block, so that is what
//! the condition of the block reads.
//!
//! **Sound** because a round without a hit only computes a condition, which has no effect, and what
//! it reads is a slot at a number that is made of the index and what stays the same, and nothing is
//! checked before: such a slot exists for each index of the range, though no round may have read
//! it.
//!
//! **When.** The condition is made of comparisons, sums and bitwise operations of slots of one
//! width, which go by vectors, at most [`MAX_OPERATIONS`] of them. Rounds behind the hit that
//! leaves a loop are computed for nothing, those of one block. A loop that goes on is done as it
//! was from the block on at which more than half of those before, and [`MAX_HITS`], had a hit.
//!
//! Blocks of a loop that is known to have few rounds are shorter.
//!
//! Costs three copies of the body.

use super::super::{Compare, Kernel, Label, Op, Reg, ScalarType, Stmt, Unary, for_each_stmt};
use super::affine::Forms;
use super::clone_stmts::Cloner;
use super::{Builder, known_rounds, rewrite, slice};
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::Binary;
use crate::loop_ir::accumulator::accumulators;

/// Rounds of a block.
const BLOCK: i64 = 512;
/// Rounds of a block of a loop that is known to have few.
const SHORT_BLOCK: i64 = 128;
/// Rounds of the shortest loop whose blocks are not short.
const LONG: i64 = 8 * BLOCK;
/// Blocks with a hit in a loop that goes on, beside half of all.
const MAX_HITS: i64 = 16;
/// Operations of a condition.
const MAX_OPERATIONS: usize = 16;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let short = short_loops(kernel);
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match Search::of(kernel, &stmt, &short) {
                Some(search) => out.push(search.in_blocks(kernel)),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The indices of the loops that are known to have few rounds.
fn short_loops(kernel: &Kernel) -> HashSet<Reg> {
    let (mut forms, mut short) = (Forms::new(kernel), HashSet::default());
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, low, high, .. } = stmt
            && known_rounds(&mut forms, Some(*low), *high).is_some_and(|rounds| rounds < LONG)
        {
            short.insert(*index);
        }
    });
    short
}

/// A loop that does something where a condition holds.
struct Search<'s> {
    label: Label,
    index: Reg,
    low: Reg,
    high: Reg,
    body: &'s [Stmt],
    /// Rounds of a block.
    block: i64,
    /// The statements that the condition is made of.
    tests: Vec<Stmt>,
    condition: Reg,
    /// A hit leaves the loop.
    leaves: bool,
}

impl<'s> Search<'s> {
    /// A statement as a search, if it is one.
    fn of(kernel: &Kernel, stmt: &'s Stmt, short: &HashSet<Reg>) -> Option<Search<'s>> {
        let Stmt::For { label, index, low, high, body } = stmt else { return None };
        let (condition, leaves) = match body.last()? {
            Stmt::If(condition, hit, other) if other.is_empty() => {
                let is_simple = |stmt: &Stmt| matches!(stmt, Stmt::Let(..) | Stmt::Set(..) | Stmt::Store(..));
                let (last, others) = hit.split_last()?;
                // A check before the condition may be that of a slot.
                let computes = body[..body.len() - 1].iter().all(|stmt| matches!(stmt, Stmt::Let(..)));
                if !computes || !matches!(last, Stmt::Break(_)) || !others.iter().all(is_simple) {
                    return None;
                }
                (*condition, true)
            }
            Stmt::Set(..) => (condition_of_updates(kernel, body)?, false),
            _ => return None,
        };
        let tests = tests_of(body, condition);
        (is_vectorizable(kernel, &tests, condition)).then_some(Search {
            label: *label,
            index: *index,
            low: *low,
            high: *high,
            body,
            block: if short.contains(index) { SHORT_BLOCK } else { BLOCK },
            tests,
            condition,
            leaves,
        })
    }

    /// The search by blocks; a break of the loop leaves all of it.
    fn in_blocks(&self, kernel: &mut Kernel) -> Stmt {
        let mut build = Builder::new(kernel);
        let (block, zero) = (build.int(self.block), build.int(0));
        let rounds = build.binary(Binary::Sub, self.high, self.low);
        let rounds = build.max(rounds, zero);
        let blocks = build.binary(Binary::DivUnsigned, rounds, block);
        // The first round that no block has done, and twice the number of blocks with a hit.
        let [next, hits] = [(); 2].map(|()| build.kernel.vars.push(ScalarType::I64));
        let skipped = build.binary(Binary::Mul, blocks, block);
        let rest = build.binary(Binary::Add, self.low, skipped);
        build.stmts.extend([Stmt::Set(next, rest), Stmt::Set(hits, zero)]);
        let outer = std::mem::take(&mut build.stmts);

        let number = build.reg(ScalarType::I64);
        let skipped = build.binary(Binary::Mul, number, block);
        let from = build.binary(Binary::Add, self.low, skipped);
        let to = build.binary(Binary::Add, from, block);
        let count = build.kernel.vars.push(ScalarType::I64);
        build.stmts.push(Stmt::Set(count, zero));
        let mut copy = Cloner::new(build.kernel);
        let index = copy.fresh(self.index);
        let mut body = copy.stmts(&self.tests);
        let condition = copy.reg(self.condition);
        let (old, new) = (build.reg(ScalarType::I64), build.reg(ScalarType::I64));
        body.push(Stmt::Let(old, Op::Get(count)));
        body.push(Stmt::Let(new, Op::Binary(Binary::Add, old, condition)));
        body.push(Stmt::Set(count, new));
        let label = build.label();
        build.stmts.push(Stmt::For { label, index, low: from, high: to, body });
        let found = build.define(ScalarType::I64, Op::Get(count));
        let label = build.label();
        let mut hit = vec![self.rounds(build.kernel, from, to)];
        if !self.leaves {
            let outer = std::mem::take(&mut build.stmts);
            let old = build.define(ScalarType::I64, Op::Get(hits));
            let two = build.int(2);
            let new = build.binary(Binary::Add, old, two);
            build.stmts.push(Stmt::Set(hits, new));
            let most = build.int(MAX_HITS);
            let most = build.binary(Binary::Add, number, most);
            let many = build.define(ScalarType::I64, Op::Compare(Compare::Lt, most, new));
            build.stmts.push(Stmt::If(many, vec![Stmt::Set(next, to), Stmt::Break(label)], Vec::new()));
            hit.extend(std::mem::replace(&mut build.stmts, outer));
        }
        build.stmts.push(Stmt::If(found, hit, Vec::new()));

        let body = std::mem::replace(&mut build.stmts, outer);
        build.stmts.push(Stmt::For { label, index: number, low: zero, high: blocks, body });
        let rest = build.define(ScalarType::I64, Op::Get(next));
        let rest = self.rounds(build.kernel, rest, self.high);
        build.stmts.push(rest);
        Stmt::Block(self.label, build.stmts)
    }

    /// The loop as it was, over a part of its range.
    fn rounds(&self, kernel: &mut Kernel, low: Reg, high: Reg) -> Stmt {
        let mut copy = Cloner::new(kernel);
        let index = copy.fresh(self.index);
        let body = copy.stmts(self.body);
        Stmt::For { label: kernel.new_label(), index, low, high, body }
    }
}

/// The condition under which a loop sets its variables, if it is the same for all: each is set to a
/// choice between a number and what it is. `None` for variables that accumulate, which have lanes.
fn condition_of_updates(kernel: &Kernel, body: &[Stmt]) -> Option<Reg> {
    let mut ops: HashMap<Reg, &Op> = HashMap::default();
    let (mut condition, mut updated, mut read) = (None, HashSet::default(), HashSet::default());
    for stmt in body {
        match stmt {
            Stmt::Let(reg, op) => {
                ops.insert(*reg, op);
                if let Op::Get(var) = op {
                    read.insert(*var);
                    // What a variable is after it has been set is no value of the round before.
                    if updated.contains(var) {
                        return None;
                    }
                }
            }
            Stmt::Set(var, new) => {
                let Op::Select(own, _, old) = ops.get(new)? else { return None };
                let is_old = matches!(ops.get(old), Some(Op::Get(of)) if of == var);
                if !is_old || !updated.insert(*var) || *condition.get_or_insert(*own) != *own {
                    return None;
                }
            }
            _ => return None,
        }
    }
    match accumulators(kernel, body) {
        Some(_) => None,
        None => condition,
    }
}

/// The statements of a body that a condition is made of.
fn tests_of(body: &[Stmt], condition: Reg) -> Vec<Stmt> {
    slice(body, |stmt| stmt.as_definition().is_some_and(|(reg, _)| reg == condition))
}

/// Returns true for the statements of a condition on slots that goes by vectors.
fn is_vectorizable(kernel: &Kernel, tests: &[Stmt], condition: Reg) -> bool {
    // Registers that are made of slots, and the bytes of the slots.
    let (mut read, mut lane): (HashSet<Reg>, Option<u8>) = (HashSet::default(), None);
    // Registers that are 0 or 1: hits are counted.
    let mut truths: HashSet<Reg> = HashSet::default();
    for stmt in tests {
        let Stmt::Let(reg, op) = stmt else { return false };
        let mut of_slots = matches!(op, Op::Load(..));
        op.for_each_reg(&mut |reg| of_slots |= read.contains(&reg));
        let fits = match op {
            Op::Load(array, at, _) => {
                let width = kernel.arrays[*array].width;
                !read.contains(at) && *lane.get_or_insert(width) == width
            }
            Op::Binary(kind, ..) => match kind {
                Binary::Add | Binary::Sub => true,
                Binary::And | Binary::Or | Binary::Xor => of_slots,
                Binary::Mul if !of_slots => true,
                _ => kernel.regs[*reg].is_float(),
            },
            Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => true,
            Op::Compare(..) | Op::Select(..) => true,
            Op::Unary(Unary::Neg, _) => true,
            Op::Unary(..) | Op::Cast(..) | Op::Call(..) => false,
        };
        if !fits {
            return false;
        }
        let is_truth = match op {
            Op::Compare(..) => true,
            // A slot of a condition is one of truth values.
            Op::Load(array, ..) => kernel.arrays[*array].width == 1,
            Op::Binary(Binary::And | Binary::Or | Binary::Xor, a, b) => {
                truths.contains(a) && truths.contains(b)
            }
            _ => false,
        };
        if is_truth {
            truths.insert(*reg);
        }
        if of_slots {
            read.insert(*reg);
        }
    }
    read.contains(&condition) && truths.contains(&condition) && tests.len() <= MAX_OPERATIONS
}
