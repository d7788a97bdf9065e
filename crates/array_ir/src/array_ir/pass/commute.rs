//! Commuting conversions: an array that a branch chooses becomes the array of the elements that the
//! branch chooses.
//!
//! ```text
//! v4: [n0] f64 = if v1 {                  v4: [n0] f64 = map (v8: idx [n0]) {
//!   v5: [n0] f64 = index v0 v2              v9: f64 = if v1 {
//!   yield v5                                  v5: [n0] f64 = index v0 v2
//! } {                                         v10: f64 = index v5 v8
//!   yield v3                        =>        yield v10
//! }                                         } {
//!                                             v11: f64 = index v3 v8
//!                                             yield v11
//!                                           }
//!                                           yield v9
//!                                         }
//! ```
//!
//! So a row that is chosen is read where it is and not copied, and the map is fused with what reads
//! it ([`super::fuse`]). A condition that is the same for all elements is cut out of their loop
//! later.
//!
//! **What is changed.** An `if`, a `switch` or a `select` of arrays of which nothing but elements is
//! read: an array that is the next state of a loop, say, would be copied. All of its sides are
//! total, of at most [`MAX_STATEMENTS`] statements, and give an array of outside, an element of an
//! array of arrays, a view, or a map; what they compute beside it has no loops and leaves nothing.
//!
//! **Why nothing changes.** The elements are those of the array that is chosen. A total side gives
//! the same value whenever it runs.
//!
//! **Work.** Proportional to the program.

use super::super::{Block, Effect, End, Op, Program, Stmt, Type, Value};
use super::{Declined, Work, for_each_block_mut, next_value, weight};
use crate::hash::HashSet;

/// Statements of a side, at most: they are repeated for each element if the map is fused.
const MAX_STATEMENTS: usize = 16;

/// Runs the pass.
pub(super) fn run(program: &Program, work: &mut Work) -> Result<Program, Declined> {
    work.spend(weight(program))?;
    let mut result = program.clone();
    for function in &mut result.functions {
        let (next, mut whole) = (next_value(function), HashSet::default());
        read_whole(&function.body, &mut whole);
        Commute { next, whole }.block(&mut function.body);
    }
    Ok(result)
}

/// Collects the values that are read otherwise than by their elements.
fn read_whole(block: &Block, whole: &mut HashSet<Value>) {
    whole.insert(block.end.value());
    for stmt in &block.stmts {
        match &stmt.op {
            Op::Index(_, at) => whole.extend([*at]),
            op => op.for_each_use(&mut |value| whole.extend([value])),
        }
        for inner in stmt.op.blocks() {
            read_whole(inner, whole);
        }
    }
}

struct Commute {
    /// Values that are read otherwise than by their elements.
    whole: HashSet<Value>,
    /// The number of the next new value.
    next: u32,
}

impl Commute {
    fn block(&mut self, block: &mut Block) {
        for stmt in &mut block.stmts {
            for_each_block_mut(&mut stmt.op, &mut |inner| self.block(inner));
            let is_choice = matches!(stmt.op, Op::If(..) | Op::Switch(..) | Op::Select(..));
            if is_choice
                && !self.whole.contains(&stmt.value)
                && matches!(stmt.ty, Type::Array(..))
                && stmt.op.blocks().iter().all(|side| gives_elements(side))
            {
                self.commute(stmt);
            }
        }
    }

    /// Makes a map of a choice of arrays.
    fn commute(&mut self, stmt: &mut Stmt) {
        let Type::Array(space, element) = stmt.ty.clone() else { return };
        let (at, chosen) = (self.value(), self.value());
        let mut stmts = Vec::new();
        if let Op::Select(_, first, second) = &mut stmt.op {
            for array in [first, second] {
                let read = self.value();
                stmts.push(Stmt { value: read, ty: (*element).clone(), op: Op::Index(*array, at) });
                *array = read;
            }
        }
        for_each_block_mut(&mut stmt.op, &mut |side| {
            let read = self.value();
            let op = Op::Index(side.end.value(), at);
            side.stmts.push(Stmt { value: read, ty: (*element).clone(), op });
            *side.end.value_mut() = read;
        });
        let choice = std::mem::replace(&mut stmt.op, Op::Tuple(Vec::new()));
        stmts.push(Stmt { value: chosen, ty: (*element).clone(), op: choice });
        let params = vec![(at, Type::Index(space))];
        stmt.op = Op::Map(Block { params, stmts, end: End::Yield(chosen) });
    }

    fn value(&mut self) -> Value {
        self.next += 1;
        Value(self.next - 1)
    }
}

/// Returns true for a side that gives an array whose elements cost no more than to read them, or
/// are computed one by one.
fn gives_elements(side: &Block) -> bool {
    let End::Yield(result) = side.end else { return false };
    let does_more = |block: &&Block| !block.stmts.is_empty() || block.end.label().is_some();
    let has_loop = |stmt: &Stmt| stmt.op.blocks().iter().any(does_more);
    side.stmts.len() <= MAX_STATEMENTS
        && side.effect() == Effect::Total
        && side.stmts.iter().all(|stmt| match stmt.op {
            Op::Map(_) => stmt.value == result,
            Op::Index(..) | Op::View(..) => true,
            _ => !matches!(stmt.ty, Type::Array(..)) && !has_loop(stmt),
        })
}
