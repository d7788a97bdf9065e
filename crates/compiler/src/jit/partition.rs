//! The partition of a kernel into functions: its phases, and the frame of values that travel
//! between them.
//!
//! A kernel is cut into [`Partition`]s at its parallel statements, and at its outermost loops, so
//! that progress can be reported between pieces: each becomes one function of three arguments, the
//! address of the [`Frame`] and the range of rounds it is to do. Loops and branches around parallel
//! statements are [`Control`] between phases: the threads meet at the end of each parallel phase,
//! and whoever runs the phases keeps the index of such a loop in the frame. What one phase sets and
//! another reads travels through the frame; constants are made again. A function gives
//! [`STATUS_DONE`], [`STATUS_FAILED`] or [`STATUS_STOPPED`].
//!
//! Writes no instructions: that is [`super::emit`].

use crate::hash::HashMap;
use crate::loop_ir::{
    Array, Kernel, Label, Op, Origin, Part, Reg, Stmt, Var, for_each_stmt, has_parallel_loop,
};
use cranelift_codegen::ir::{AbiParam, Signature, types};
use std::collections::{BTreeMap, BTreeSet};

/// All iterations are done.
pub const STATUS_DONE: i64 = 0;
/// A check of the kernel failed.
pub const STATUS_FAILED: i64 = 1;
/// The run was stopped from outside.
pub const STATUS_STOPPED: i64 = 2;

/// A piece of a kernel that is one function.
#[derive(Clone, Debug)]
pub struct Partition {
    /// The lists of statements around it: for each, the number of a statement in the list and of
    /// one of its bodies.
    path: Vec<(usize, usize)>,
    /// The statements that belong to it, in the innermost list.
    range: std::ops::Range<usize>,
    /// The iterations.
    pub rounds: IterationSpace,
}

impl Partition {
    /// The statements that belong to it.
    pub fn stmts<'k>(&self, kernel: &'k Kernel) -> &'k [Stmt] {
        let list = self.path.iter().fold(&kernel.body[..], |list, (at, body)| list[*at].bodies()[*body]);
        &list[self.range.clone()]
    }
}

/// The iterations of the statements of a phase.
#[derive(Clone, Copy, Debug)]
pub enum IterationSpace {
    /// Once.
    Once,
    /// The integers from 0 to below what a register holds, in any order; with the number of the
    /// loop in [`Kernel::iteration_costs`].
    Parallel(Reg, usize),
    /// The integers from what a register holds to below what another one holds, in order.
    InOrder(Reg, Reg),
}

/// The control flow between the phases.
#[derive(Clone, Debug)]
pub enum Control {
    /// A phase by its number.
    Phase(usize),
    /// The index from one register up to, not including, another one.
    For {
        /// The label, for [`Control::Break`] and [`Control::Continue`].
        label: Label,
        /// The index.
        index: Reg,
        /// The first index.
        low: Reg,
        /// The one after the last.
        high: Reg,
        /// The body.
        body: Vec<Control>,
    },
    /// An endless loop, until a statement leaves it.
    Loop(Label, Vec<Control>),
    /// Once; can be left early.
    Block(Label, Vec<Control>),
    /// Either one or the other.
    If(Reg, Vec<Control>, Vec<Control>),
    /// Leaves a loop or block.
    Break(Label),
    /// Goes on with a loop.
    Continue(Label),
}

/// A kernel cut into phases.
#[derive(Clone, Debug)]
pub struct Phases {
    /// The phases.
    pub phases: Vec<Partition>,
    /// The order in which they run.
    pub control: Vec<Control>,
    /// The values that travel between them.
    pub frame: Frame,
}

/// The word that is the address of the flag that stops the run.
pub const INTERRUPT_WORD: usize = 0;

/// The word that is the address of the panels that threads of a phase have in common, or 0.
pub const PANELS_WORD: usize = INTERRUPT_WORD + 1;

/// The word that is the address of the memory of arrays that grow.
pub const GROWABLES_WORD: usize = PANELS_WORD + 1;

/// The word that is the lowest address of the stack which a function of the kernel may begin at.
pub const STACK_WORD: usize = GROWABLES_WORD + 1;

/// The word that is the number of calls of functions of the kernel that may be nested.
pub const CALLS_WORD: usize = STACK_WORD + 1;

/// The values that travel between the phases, with their places: in words from the start.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Addresses of arrays, in order.
    pub arrays: usize,
    /// The number of slots of each array that grows, by the numbers of arrays.
    pub capacities: BTreeMap<Array, usize>,
    /// Sizes.
    pub sizes: usize,
    /// Scalars that are given.
    pub scalars: usize,
    /// Sizes of each function.
    pub functions: Vec<usize>,
    /// Registers that are read outside of the phase that sets them.
    pub regs: BTreeMap<Reg, usize>,
    /// Variables of several phases.
    pub vars: BTreeMap<Var, usize>,
    /// Arrays whose memory is exchanged or grows somewhere.
    pub exchanged: BTreeSet<Array>,
    /// Words in all.
    pub words: usize,
}

/// The construction of phases.
struct Partitioner<'k> {
    kernel: &'k Kernel,
    phases: Vec<Partition>,
    /// The registers that the control flow reads or sets.
    controlling: BTreeSet<Reg>,
    /// The phases that stand in loops.
    repeated: BTreeSet<usize>,
    /// The parallel loops met so far.
    parallel_loops: usize,
    path: Vec<(usize, usize)>,
    loops: usize,
}

/// Returns true if a statement becomes control flow between phases: there is a parallel loop in it,
/// and no loop without one is left by what would then be control flow.
fn is_control(stmt: &Stmt) -> bool {
    let holds = match stmt {
        Stmt::For { body, .. } | Stmt::Loop(_, body) | Stmt::Block(_, body) => has_parallel_loop(body),
        Stmt::If(_, then, otherwise) => has_parallel_loop(then) || has_parallel_loop(otherwise),
        _ => false,
    };
    let mut cheap = true;
    for_each_stmt(std::slice::from_ref(stmt), &mut |inner| {
        let whole_loop = matches!(inner, Stmt::For { .. } | Stmt::Loop(..))
            && !has_parallel_loop(std::slice::from_ref(inner));
        cheap &= !(whole_loop && inner.leaves());
    });
    holds && cheap
}

impl Partitioner<'_> {
    fn phase(&mut self, range: std::ops::Range<usize>, rounds: IterationSpace, out: &mut Vec<Control>) {
        if range.is_empty() {
            return;
        }
        let number = self.phases.len();
        self.phases.push(Partition { path: self.path.clone(), range, rounds });
        if self.loops > 0 {
            self.repeated.insert(number);
        }
        out.push(Control::Phase(number));
    }

    /// The statements inside another one.
    fn body(&mut self, at: usize, number: usize, stmts: &[Stmt]) -> Vec<Control> {
        self.path.push((at, number));
        let control = self.list(stmts);
        self.path.pop();
        control
    }

    fn list(&mut self, stmts: &[Stmt]) -> Vec<Control> {
        let mut out = Vec::new();
        let mut start = 0;
        for (at, stmt) in stmts.iter().enumerate() {
            let rounds = match stmt {
                Stmt::ParallelFor { count, .. } => {
                    self.controlling.insert(*count);
                    self.parallel_loops += 1;
                    IterationSpace::Parallel(*count, self.parallel_loops - 1)
                }
                Stmt::For { low, high, .. }
                    if self.path.is_empty() && !is_control(stmt) && is_divisible(self.kernel, stmt) =>
                {
                    self.controlling.extend([*low, *high]);
                    self.count_parallel_loops(stmt);
                    IterationSpace::InOrder(*low, *high)
                }
                _ if is_control(stmt) || stmt.leaves() => {
                    self.phase(start..at, IterationSpace::Once, &mut out);
                    start = at + 1;
                    let control = self.control(at, stmt);
                    out.push(control);
                    continue;
                }
                _ => {
                    self.count_parallel_loops(stmt);
                    continue;
                }
            };
            self.phase(start..at, IterationSpace::Once, &mut out);
            self.phase(at..at + 1, rounds, &mut out);
            start = at + 1;
        }
        self.phase(start..stmts.len(), IterationSpace::Once, &mut out);
        out
    }

    /// Counts the parallel loops of a statement that is part of one phase.
    fn count_parallel_loops(&mut self, stmt: &Stmt) {
        for_each_stmt(std::slice::from_ref(stmt), &mut |inner| {
            self.parallel_loops += usize::from(matches!(inner, Stmt::ParallelFor { .. }));
        });
    }

    fn control(&mut self, at: usize, stmt: &Stmt) -> Control {
        match stmt {
            Stmt::For { label, index, low, high, body } => {
                self.controlling.extend([*index, *low, *high]);
                self.loops += 1;
                let body = self.body(at, 0, body);
                self.loops -= 1;
                Control::For { label: *label, index: *index, low: *low, high: *high, body }
            }
            Stmt::Loop(label, body) => {
                self.loops += 1;
                let body = self.body(at, 0, body);
                self.loops -= 1;
                Control::Loop(*label, body)
            }
            Stmt::Block(label, body) => Control::Block(*label, self.body(at, 0, body)),
            Stmt::If(condition, then, otherwise) => {
                self.controlling.insert(*condition);
                let then = self.body(at, 0, then);
                Control::If(*condition, then, self.body(at, 1, otherwise))
            }
            Stmt::Break(label) => Control::Break(*label),
            Stmt::Continue(label) => Control::Continue(*label),
            other => unreachable!("{other:?} holds no statements in order"),
        }
    }
}

/// The phases of a kernel, and their frame.
pub fn partition(kernel: &Kernel) -> Phases {
    let (phases, controlling, repeated) = (Vec::new(), BTreeSet::new(), BTreeSet::new());
    let mut cutter =
        Partitioner { kernel, phases, controlling, repeated, parallel_loops: 0, path: Vec::new(), loops: 0 };
    let control = cutter.list(&kernel.body);
    let Partitioner { phases, controlling, repeated, .. } = cutter;
    // Word 0 is the address of the flag that stops a run.
    let arrays = CALLS_WORD + 1;
    let sizes = arrays + kernel.arrays.len();
    let scalars = sizes + kernel.sizes.len();
    let mut words = scalars + kernel.scalars.len();
    let mut functions = Vec::new();
    for function in &kernel.functions {
        functions.push(words);
        words += function.sizes.len();
    }
    let (mut regs, mut vars) = (BTreeMap::new(), BTreeMap::new());
    let mut set_in: HashMap<Reg, usize> = HashMap::default();
    let mut var_in: HashMap<Var, usize> = HashMap::default();
    // Ends of loops and conditions are read between phases.
    let mut crossing: BTreeSet<Reg> = kernel.scalar_results.iter().copied().chain(controlling).collect();
    let mut shared: BTreeSet<Var> = BTreeSet::new();
    for (p, phase) in phases.iter().enumerate() {
        for reg in phase.stmts(kernel).iter().flat_map(Stmt::results) {
            set_in.insert(*reg, p);
        }
    }
    for (p, phase) in phases.iter().enumerate() {
        let stmts = phase.stmts(kernel);
        let mut read = |reg: Reg| {
            if set_in.get(&reg).is_some_and(|at| *at != p) && !kernel.constants.contains_key(&reg) {
                crossing.insert(reg);
            }
        };
        let anew = match (&phase.rounds, stmts) {
            (IterationSpace::InOrder(..), [Stmt::For { body, .. }]) => Some(set_before_read(body)),
            (IterationSpace::Once, stmts) if repeated.contains(&p) => Some(set_before_read(stmts)),
            _ => None,
        };
        let mut touched = |var: Var| {
            // A piece of a loop goes on with what the one before has left.
            let goes_on = anew.as_ref().is_some_and(|anew| !anew.contains(&var));
            if *var_in.entry(var).or_insert(p) != p || goes_on {
                shared.insert(var);
            }
        };
        for_each_stmt(stmts, &mut |stmt| {
            stmt.for_each_part(&mut |part| match part {
                Part::Use(reg) | Part::Item(reg) => read(*reg),
                Part::VarRead(var) | Part::VarWrite(var) => touched(*var),
                Part::Def(_)
                | Part::ArrayRead(_)
                | Part::ArrayWrite(_)
                | Part::ArrayChange(_)
                | Part::Label(_)
                | Part::Target(_)
                | Part::Body(_) => {}
            });
        });
    }
    for reg in crossing {
        regs.insert(reg, words);
        words += 1;
    }
    for var in shared {
        vars.insert(var, words);
        words += 1;
    }
    let mut capacities = BTreeMap::new();
    for array in kernel.arrays.ids().filter(|array| kernel.arrays[*array].origin == Origin::Growable) {
        capacities.insert(array, words);
        words += 1;
    }
    let exchanged = exchanged_arrays(kernel);
    Phases {
        phases,
        control,
        frame: Frame { arrays, capacities, sizes, scalars, functions, regs, vars, exchanged, words },
    }
}

/// The arrays whose memory is exchanged or grows somewhere in a kernel.
fn exchanged_arrays(kernel: &Kernel) -> BTreeSet<Array> {
    let mut found = BTreeSet::new();
    for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Swap(a, b) => found.extend([*a, *b]),
        Stmt::Grow(array, _) => _ = found.insert(*array),
        _ => {}
    });
    found
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
