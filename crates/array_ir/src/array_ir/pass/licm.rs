//! Loop-invariant code motion: what has loops of its own and is the same in all rounds of a loop is
//! computed before the loop.
//!
//! ```text
//! v9: [n0] f64 = map (v1: idx [n0]) {             v5: f64 = reduce add fixed v2 (v3: idx [n0]) {…}
//!   v5: f64 = reduce add fixed v2 (v3: …) {…}     v9: [n0] f64 = map (v1: idx [n0]) {
//!   v6: f64 = index v0 v1                     =>    v6: f64 = index v0 v1
//!   v7: f64 = div v6 v5                             v7: f64 = div v6 v5
//!   yield v7                                        yield v7
//! }                                               }
//! ```
//!
//! **What is moved.** A statement of the body of a loop that holds a loop itself, or calls a
//! function; that is total; and whose operands, and those of the statements inside, are defined
//! outside of the loop. Statements that it needs and that are the same in all rounds go with it.
//! Nothing is moved out of the sides of a branch: they may never run. Inner loops come first, so a
//! statement goes as far out as it can (Aho, Lam, Sethi and Ullman, *Compilers*, 9.5).
//!
//! **Why nothing changes.** A total statement has a value and no effect, also where no round runs.
//!
//! **Work.** The length of a statement for each loop around it. When the budget is spent, the rest
//! stays where it is.

use super::super::visit::{Part, PartMut};
use super::super::{Block, Effect, Op, Program, Stmt, Value};
use super::{Declined, Work, op_weight, weight};
use crate::hash::{HashMap, HashSet};

/// Runs the pass.
pub(super) fn run(program: &Program, work: &mut Work) -> Result<Program, Declined> {
    work.spend(weight(program))?;
    let mut result = program.clone();
    for function in &mut result.functions {
        move_out(&mut function.body, work);
    }
    Ok(result)
}

/// Moves invariants of the loops of a block, inner loops first.
fn move_out(block: &mut Block, work: &mut Work) {
    let mut stmts = Vec::with_capacity(block.stmts.len());
    for mut stmt in std::mem::take(&mut block.stmts) {
        let is_loop = is_loop(&stmt.op);
        stmt.op.for_each_part_mut(&mut |part| {
            if let PartMut::Block(inner) = part {
                move_out(inner, work);
                if is_loop {
                    invariants(inner, work, &mut stmts);
                }
            }
        });
        stmts.push(stmt);
    }
    block.stmts = stmts;
}

/// Returns true for an operation that runs its blocks in rounds.
fn is_loop(op: &Op) -> bool {
    matches!(
        op,
        Op::Map(_)
            | Op::Reduce { .. }
            | Op::Scan { .. }
            | Op::ReduceAt { .. }
            | Op::Filter(_)
            | Op::Order(_)
            | Op::For { .. }
            | Op::While { .. }
    )
}

/// Moves the invariants of the body of a loop behind other statements.
fn invariants(body: &mut Block, work: &mut Work, before: &mut Vec<Stmt>) {
    let mut inner: HashSet<Value> = body.params.iter().map(|param| param.0).collect();
    // For each statement, the ones of the body that it reads, if it is the same in all rounds.
    let mut same: Vec<Option<Vec<usize>>> = Vec::with_capacity(body.stmts.len());
    let mut wanted = vec![false; body.stmts.len()];
    let mut positions: HashMap<Value, usize> = HashMap::default();
    for (at, stmt) in body.stmts.iter().enumerate() {
        // The sizes that it opens are in scope from there on.
        if matches!(stmt.op, Op::Open(..) | Op::Require(..)) {
            break;
        }
        let Some(reads) = free_values(stmt, work) else { break };
        let is_same = stmt.op.effect() == Effect::Total
            && !leaves(stmt)
            && reads.iter().all(|value| !inner.contains(value));
        if is_same {
            same.push(Some(reads.iter().filter_map(|value| positions.get(value).copied()).collect()));
            positions.insert(stmt.value, at);
            wanted[at] = has_loop(&stmt.op);
        } else {
            same.push(None);
            inner.insert(stmt.value);
        }
    }
    for at in (0..same.len()).rev() {
        if wanted[at] {
            for needed in same[at].iter().flatten() {
                wanted[*needed] = true;
            }
        }
    }
    if !wanted.contains(&true) {
        return;
    }
    let mut wanted = wanted.into_iter();
    let stmts = std::mem::take(&mut body.stmts);
    let (moved, kept) = stmts.into_iter().partition(|_| wanted.next() == Some(true));
    body.stmts = kept;
    before.extend::<Vec<Stmt>>(moved);
}

/// Returns true for an operation that has a loop inside, or calls a function.
fn has_loop(op: &Op) -> bool {
    is_loop(op)
        || matches!(op, Op::Call { .. })
        || op.blocks().iter().any(|block| block.stmts.iter().any(|stmt| has_loop(&stmt.op)))
}

/// The values that a statement reads and that are defined outside of it; `None` if the work is
/// spent.
fn free_values(stmt: &Stmt, work: &mut Work) -> Option<Vec<Value>> {
    let (mut reads, mut defined) = (Vec::new(), HashSet::default());
    collect(&stmt.op, &mut reads, &mut defined, work)?;
    reads.retain(|value| !defined.contains(value));
    Some(reads)
}

fn collect(op: &Op, reads: &mut Vec<Value>, defined: &mut HashSet<Value>, work: &mut Work) -> Option<()> {
    work.spend(op_weight(op)).ok()?;
    op.for_each_use(&mut |value| reads.push(value));
    for block in op.blocks() {
        defined.extend(block.params.iter().map(|param| param.0));
        for stmt in &block.stmts {
            collect(&stmt.op, reads, defined, work)?;
            defined.insert(stmt.value);
        }
        reads.push(block.end.value());
    }
    Some(())
}

/// Returns true for a statement that leaves or continues a loop or block around it.
fn leaves(stmt: &Stmt) -> bool {
    let (mut declared, mut named) = (HashSet::default(), HashSet::default());
    let mut look = |op: &Op| {
        op.for_each_part(&mut |part| match part {
            Part::Label(label) => drop(declared.insert(*label)),
            Part::Block(block) => named.extend(block.end.label()),
            _ => {}
        });
    };
    look(&stmt.op);
    for block in stmt.op.blocks() {
        block.for_each_stmt(&mut |inner| look(&inner.op));
    }
    !named.is_subset(&declared)
}
