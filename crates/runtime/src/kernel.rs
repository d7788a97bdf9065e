//! The interface between the evaluator and a compiler.
//!
//! The evaluator offers a [`CompilationUnit`]: a [`Region`] of a program (a term, a loop or a call) at
//! concrete types. An [`Accelerator`] returns an [`Executable`] that computes the same, or
//! declines. The two know nothing else of each other: the evaluator defines the meaning, and an
//! executable that fails says only that, and leaves the region, the error message included, to the
//! evaluator.

use crate::core::{KnownValue, LocalInfo, Program, Region, Root};
use crate::layout::Layouts;
use crate::types::Type;
use crate::value::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// A compiler of units.
pub trait Accelerator: Send + Sync {
    /// The executable of a unit.
    ///
    /// # Errors
    /// The reason why the unit is left to the evaluator.
    fn prepare(&self, part: &CompilationUnit<'_>) -> Result<Arc<dyn Executable>, NotCompiled>;
}

/// The reason why there is no executable for a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCompiled {
    /// The unit contains something that is not compiled.
    Unsupported,
    /// The code would be too long.
    TooLong,
    /// [`CompilationUnit::may_continue`] returned false.
    Stopped,
}

/// A region of a program with what is needed to compile it.
pub struct CompilationUnit<'a> {
    /// The program it belongs to.
    pub program: &'a Program,
    /// Layouts of types.
    pub layouts: &'a Layouts,
    /// The locals of its body.
    pub locals: &'a [LocalInfo],
    /// Makes types of the part concrete.
    pub concrete: &'a dyn Fn(&Type) -> Type,
    /// The region to compile.
    pub region: Region<'a>,
    /// The functions that variables outside hold, and which of these variables functions share.
    pub known: &'a [(Root, KnownValue)],
    /// Returns true as long as compilation may continue: it is not interrupted, and there is stack
    /// left.
    pub may_continue: &'a dyn Fn() -> bool,
}

/// An input of a run: a variable, or a value that a function has captured, or a part of one.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The variable.
    pub root: Root,
    /// Positions among captures, outermost first.
    pub path: Vec<usize>,
    /// The first slot and the number of slots of a part of the value; `None` for all of it.
    pub part: Option<(usize, usize)>,
}

impl Input {
    /// Returns the input that is all of a variable.
    pub fn whole(root: Root) -> Input {
        Input { root, path: Vec::new(), part: None }
    }
}

/// Bounds on a run.
pub struct Limits<'a> {
    /// Set from outside to stop the run.
    pub interrupt: &'a AtomicBool,
    /// Bytes that one value may take.
    pub memory: u64,
    /// Calls of the program that may still be nested.
    pub calls: u64,
    /// Gives the lowest address of the stack of the thread that calls it from which on a function
    /// may be called.
    pub stack_limit: &'a (dyn Fn() -> usize + Sync),
    /// Called now and then, by any thread, with the number of finished iterations of a loop and of
    /// all of them.
    pub report_progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

/// The end of a run.
pub enum RunResult {
    /// The value of a term or a call, if the region is one, and the variables changed, in the order of
    /// the inputs.
    Done(Vec<Value>),
    /// The run failed: the evaluator finds the error.
    Failed,
    /// The inputs are not those that the code was made for; nothing has changed.
    Refused,
    /// The run was interrupted.
    Interrupted,
}

/// A compiled unit.
pub trait Executable: Send + Sync {
    /// The inputs of a run, in order.
    fn inputs(&self) -> &[Input];
    /// The number of variables that a run changes. They are the first inputs.
    fn changes(&self) -> usize;
    /// Returns true if the result may be written over an input that is not shared: then the input
    /// is taken, and the run does not fail.
    fn overwrites(&self, input: usize) -> bool;
    /// Returns true if a run may write the result into the memory of a dead value: then a run that
    /// has taken it does not fail.
    fn accepts_spare(&self) -> bool;
    /// Returns true if a run may fail: then the values of variables that change are kept until it is
    /// done.
    fn can_fail(&self) -> bool;
    /// Runs it. An input that it has not taken is still there if it fails, and so is the spare
    /// value.
    fn run(&self, inputs: &mut [Value], spare: &mut Option<Value>, limits: &Limits<'_>) -> RunResult;
}
