//! The partition of a kernel into functions: its phases, and the frame of values that travel
//! between them.
//!
//! A kernel is cut into [`Partition`]s at its parallel statements, and at its outermost loops, so
//! that somebody can be told how far they are: each becomes one function of three arguments, the
//! address of the [`Frame`] and the range of rounds it is to do. What one phase sets and another
//! reads travels through the frame; constants are made again. A function gives [`STATUS_DONE`],
//! [`STATUS_FAILED`] or [`STATUS_STOPPED`].
//!
//! Writes no instructions: that is [`super::emit`].

use crate::hash::HashMap;
use crate::loop_ir::{Array, Kernel, Op, Origin, Part, Reg, Stmt, Var, for_each_stmt};
use cranelift_codegen::ir::{AbiParam, Signature, types};
use std::collections::{BTreeMap, BTreeSet};

/// All iterations are done.
pub const STATUS_DONE: i64 = 0;
/// Something went wrong.
pub const STATUS_FAILED: i64 = 1;
/// The run was stopped from outside.
pub const STATUS_STOPPED: i64 = 2;

/// A piece of a kernel that is one function.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The statements of the kernel's body that belong to it.
    pub stmts: std::ops::Range<usize>,
    /// The iterations.
    pub rounds: IterationSpace,
}

/// The iterations of the statements of a phase.
#[derive(Clone, Copy, Debug)]
pub enum IterationSpace {
    /// Once.
    Once,
    /// From 0 up to, not including, what a register holds, in any order.
    Parallel(Reg),
    /// From what a register holds up to, not including, what another one holds, in order.
    InOrder(Reg, Reg),
}

/// The word that is the address of the panels that threads of a phase have in common, or 0.
pub const PANELS_WORD: usize = 1;

/// The values that travel between the phases, with their places: in words from the start.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Addresses of arrays, in order.
    pub arrays: usize,
    /// Sizes.
    pub sizes: usize,
    /// Scalars that are given.
    pub scalars: usize,
    /// Registers that are read outside of the phase that sets them.
    pub regs: BTreeMap<Reg, usize>,
    /// Variables of several phases.
    pub vars: BTreeMap<Var, usize>,
    /// Words in all.
    pub words: usize,
}

/// The phases of a kernel, and their frame.
pub fn partition(kernel: &Kernel) -> (Vec<Partition>, Frame) {
    let mut phases: Vec<Partition> = Vec::new();
    let mut start = 0;
    for (at, stmt) in kernel.body.iter().enumerate() {
        let rounds = match stmt {
            Stmt::ParallelFor { count, .. } => IterationSpace::Parallel(*count),
            Stmt::For { low, high, .. } if is_divisible(kernel, stmt) => IterationSpace::InOrder(*low, *high),
            _ => continue,
        };
        if start < at {
            phases.push(Partition { stmts: start..at, rounds: IterationSpace::Once });
        }
        phases.push(Partition { stmts: at..at + 1, rounds });
        start = at + 1;
    }
    if start < kernel.body.len() {
        phases.push(Partition { stmts: start..kernel.body.len(), rounds: IterationSpace::Once });
    }
    // Word 0 is the address of the flag that stops a run.
    let arrays = PANELS_WORD + 1;
    let sizes = arrays + kernel.arrays.len();
    let scalars = sizes + kernel.sizes.len();
    let mut words = scalars + kernel.scalars.len();
    let (mut regs, mut vars) = (BTreeMap::new(), BTreeMap::new());
    let mut set_in: HashMap<Reg, usize> = HashMap::default();
    let mut var_in: HashMap<Var, usize> = HashMap::default();
    let mut crossing: BTreeSet<Reg> = kernel.scalar_results.iter().copied().collect();
    let mut shared: BTreeSet<Var> = BTreeSet::new();
    for (p, phase) in phases.iter().enumerate() {
        for stmt in &kernel.body[phase.stmts.clone()] {
            if let Stmt::Let(reg, _) | Stmt::Reduce { result: reg, .. } = stmt {
                set_in.insert(*reg, p);
            }
        }
        let mut read = |reg: Reg| {
            if set_in.get(&reg).is_some_and(|at| *at != p) {
                crossing.insert(reg);
            }
        };
        let anew = match (&phase.rounds, &kernel.body[phase.stmts.clone()]) {
            (IterationSpace::InOrder(..), [Stmt::For { body, .. }]) => Some(set_before_read(body)),
            _ => None,
        };
        let mut touched = |var: Var| {
            // A piece of a loop goes on with what the one before has left.
            let goes_on = anew.as_ref().is_some_and(|anew| !anew.contains(&var));
            if *var_in.entry(var).or_insert(p) != p || goes_on {
                shared.insert(var);
            }
        };
        for_each_stmt(&kernel.body[phase.stmts.clone()], &mut |stmt| {
            stmt.for_each_part(&mut |part| match part {
                Part::Use(reg) | Part::Item(reg) => read(*reg),
                Part::VarRead(var) | Part::VarWrite(var) => touched(*var),
                Part::Def(_)
                | Part::ArrayRead(_)
                | Part::ArrayWrite(_)
                | Part::Label(_)
                | Part::Target(_)
                | Part::Body(_) => {}
            });
        });
        // How many rounds there are is read by whoever cuts them.
        match phase.rounds {
            IterationSpace::Once => {}
            IterationSpace::Parallel(count) => drop(crossing.insert(count)),
            IterationSpace::InOrder(low, high) => crossing.extend([low, high]),
        }
    }
    for reg in crossing {
        regs.insert(reg, words);
        words += 1;
    }
    for var in shared {
        vars.insert(var, words);
        words += 1;
    }
    (phases, Frame { arrays, sizes, scalars, regs, vars, words })
}

/// The variables that a round sets before it reads them.
fn set_before_read(body: &[Stmt]) -> BTreeSet<Var> {
    let (mut anew, mut seen) = (BTreeSet::new(), BTreeSet::new());
    for stmt in body {
        if let Stmt::Set(var, _) = stmt
            && seen.insert(*var)
        {
            anew.insert(*var);
        }
        for_each_stmt(std::slice::from_ref(stmt), &mut |inner| {
            if let Stmt::Set(var, _) | Stmt::Let(_, Op::Get(var)) = inner {
                seen.insert(*var);
            }
        });
    }
    anew
}

/// Returns true if an outermost loop is done in pieces: nobody leaves it early, and nothing stays
/// on the stack from one round to the next.
fn is_divisible(kernel: &Kernel, stmt: &Stmt) -> bool {
    let Stmt::For { label, .. } = stmt else { return false };
    let mut whole = true;
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| {
        let local = |array: &Array| matches!(kernel.arrays[*array].origin, Origin::Stack(_));
        whole &= !matches!(inner, Stmt::Break(left) if left == label) && !inner.arrays().iter().any(local);
    });
    whole
}

/// The signature of a phase's function.
pub fn signature(mut signature: Signature) -> Signature {
    signature.params.extend([AbiParam::new(types::I64); 3]);
    signature.returns.push(AbiParam::new(types::I64));
    signature
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_set_first_in_each_iteration_are_not_carried() {
        let kernel = crate::loop_ir::parse::kernel(
            "var v0: i64
var v1: i64
var v2: i64
var v3: i64
r5: i64 = v0
v0 := r5
v1 := r5
r6: i64 = v1
for r9 in r0..<r1 @0
  v3 := r0
  v1 := r0
v3 := r5
v2 := r5",
        );
        let found = set_before_read(&kernel.unwrap().body);
        assert_eq!(found.iter().map(Var::to_string).collect::<Vec<_>>(), ["v1", "v2"]);
    }
}
