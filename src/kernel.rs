//! What the evaluator asks of an executor that is faster than itself.
//!
//! The evaluator hands out parts of a program (a term, a loop) at concrete types. An [`Accelerator`]
//! may answer with a [`Kernel`] that computes the same, or decline. The two know nothing else of each
//! other: the evaluator stays the meaning, and a kernel that cannot go on says so and leaves the rest,
//! errors included, to the evaluator.

use crate::core::{FunctionId, LocalInfo, Program, Root, Stmt, Term};
use crate::layout::Layouts;
use crate::types::Type;
use crate::value::Value;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// An executor of parts.
pub trait Accelerator: Send + Sync {
    /// A kernel for a part, if it can make one.
    ///
    /// # Errors
    /// Why the part is left to the evaluator.
    fn prepare(&self, part: &CompilationUnit<'_>) -> Result<Arc<dyn Executable>, NotCompiled>;
}

/// Why there is no kernel for a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotCompiled {
    /// Something in it is the evaluator's.
    Unsupported,
    /// It would be too much code.
    TooLong,
    /// [`Part::may_continue`] said no.
    Stopped,
}

/// A part of a program.
pub struct CompilationUnit<'a> {
    /// The program it belongs to.
    pub program: &'a Program,
    /// Layouts of types.
    pub layouts: &'a Layouts,
    /// The locals of its body.
    pub locals: &'a [LocalInfo],
    /// Makes types of the part concrete.
    pub concrete: &'a dyn Fn(&Type) -> Type,
    /// What is to be computed.
    pub region: Region<'a>,
    /// Which functions the variables outside hold that hold functions.
    pub functions: &'a [(Root, KnownValue)],
    /// Whether work on it may go on: nobody has interrupted it, and there is stack left.
    pub may_continue: &'a dyn Fn() -> bool,
}

/// What a part is.
#[derive(Clone, Copy)]
pub enum Region<'a> {
    /// A pure term: its value is the only result.
    Term(&'a Term),
    /// A loop: the variables it changes are the results.
    Loop(&'a Stmt),
}

impl<'a> Region<'a> {
    /// The one or the other.
    pub fn as_result(self) -> Result<&'a Term, &'a Stmt> {
        match self {
            Region::Term(term) => Ok(term),
            Region::Loop(stmt) => Err(stmt),
        }
    }
}

/// What is known of a value outside a part.
#[derive(Clone, Debug, PartialEq)]
pub enum KnownValue {
    /// Nothing: data.
    Data,
    /// A function at these types, and its captured values.
    Function(FunctionId, Vec<Type>, Vec<KnownValue>),
}

/// A value that a kernel is given: a variable, or something a function captured.
#[derive(Clone, Debug, PartialEq)]
pub struct Input {
    /// The variable.
    pub root: Root,
    /// Positions among captures, outermost first.
    pub path: Vec<usize>,
}

/// Bounds on a run.
pub struct Limits<'a> {
    /// Set from outside to stop it.
    pub interrupt: &'a AtomicBool,
    /// Bytes that one value may take.
    pub memory: u64,
    /// Who is told now and then how many rounds of a loop are over, and how many there will be; by any thread.
    pub report_progress: Option<&'a (dyn Fn(u64, u64) + Sync)>,
}

/// How a run ended.
pub enum RunResult {
    /// The value of a term; or the variables changed, in the order of [`Kernel::changes`].
    Done(Vec<Value>),
    /// Something went wrong: the evaluator finds out what.
    Failed,
    /// It was given what it was not made for, and has left everything as it was.
    Refused,
    /// It was stopped.
    Interrupted,
}

/// A part of a program that can be run.
pub trait Executable: Send + Sync {
    /// What it wants to be given.
    fn inputs(&self) -> &[Input];
    /// The variables it changes. They are inputs, too, the first ones, in this order.
    fn changes(&self) -> &[Root];
    /// Whether the result may be written over an input, if nobody else holds it: then the input is taken, and the run does not
    /// fail.
    fn overwrites(&self, input: usize) -> bool;
    /// Whether it may write the result into the memory of a value that nobody reads any more: then a run that has taken
    /// it does not fail.
    fn accepts_spare(&self) -> bool;
    /// Whether it may fail: then the values of `changes` are kept until it is done.
    fn can_fail(&self) -> bool;
    /// Runs it. An input that it has not taken is still there if it fails, and so is the spare value.
    fn run(&self, inputs: &mut [Value], spare: &mut Option<Value>, limits: &Limits<'_>) -> RunResult;
}
