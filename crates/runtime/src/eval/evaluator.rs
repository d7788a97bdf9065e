//! The evaluator: the services that every construct uses while it runs.
//!
//! Errors with their call chain, interruption, bounds on memory and sizes, instances of functions,
//! and the journal of stores. Evaluates nothing itself: terms are in [`super::terms`], statements
//! in [`super::statements`], calls in [`super::calls`].

use super::arithmetic::memory_failure;
use super::bindings::Bindings;
use super::code::{Callee, Instance};
use super::error::{Failure, RuntimeError};
use super::machine::{Host, Machine};
use super::specialize::{Specializer, specialize_function};
use super::tier_up::{CoreFragment, CoreRoot};
use crate::core::projection::Projection;
use crate::core::{Function, FunctionId, LocalInfo, Program, last_use};
use crate::layout::{TOO_MANY_SLOTS, is_countable};
use crate::source::Span;
use crate::types::encoding::Code;
use crate::types::{MAX_TYPE_DEPTH, MAX_TYPE_NODES, Type};
use crate::value::{Buffer, Cell, Class, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// The reason why evaluation ended without a value.
pub(super) enum AbruptCompletion {
    /// A run-time error.
    Error(Box<RuntimeError>),
    /// A `return` with its value.
    Return(Value),
    /// A `break`.
    Break,
    /// A `continue`.
    Continue,
}

impl AbruptCompletion {
    /// Returns the error that ends a script.
    pub(super) fn into_error(self) -> Box<RuntimeError> {
        match self {
            AbruptCompletion::Error(error) => error,
            _ => Box::new(RuntimeError {
                failure: Failure::Internal { message: "control left the script" },
                span: Span::default(),
                calls: Vec::new(),
                place: None,
            }),
        }
    }
}

/// The result of evaluation.
pub(super) type Result<T> = std::result::Result<T, AbruptCompletion>;

/// The number of instances that are cached: sizes that arrive at run time make an unbounded number
/// of them.
const MAX_INSTANCES: usize = 4_000;

/// The state of one run.
pub(super) struct Evaluator<'r, 'h> {
    /// The state of the session.
    pub(super) machine: &'r mut Machine,
    /// The program.
    pub(super) program: &'r Program,
    /// The environment of the run.
    pub(super) host: &'r mut Host<'h>,
    /// The number of steps so far, modulo 2^32.
    pub(super) ticks: u32,
}

impl Evaluator<'_, '_> {
    /// Creates a specializer for core at the sizes that the session has opened.
    pub(super) fn specializer<'s>(&'s self, locals: &'s [LocalInfo], core: CoreRoot) -> Specializer<'s> {
        let sites = self.machine.accelerator.is_some();
        let whole = CoreFragment::new(core);
        Specializer::new(self.program, &self.machine.layouts, &self.machine.sizes, locals, sites, whole)
    }

    /// Exchanges the output of all parties and the output at a place.
    pub(super) fn switch_output(&mut self) {
        if let Some(here) = &mut self.host.out_here {
            std::mem::swap(&mut self.host.out, here);
            (self.host.out)("");
        }
    }

    /// Returns a failure with its position and the chain of calls.
    pub(super) fn fail(&self, failure: Failure, span: Span) -> AbruptCompletion {
        let name = |function: FunctionId| match self.program.functions.get(function.index()) {
            Some(Some(function)) => function.name.to_string(),
            _ => unreachable!("a function that is called has a body"),
        };
        let calls = self.machine.calls.iter().rev().map(|(function, at)| (name(*function), *at)).collect();
        AbruptCompletion::Error(Box::new(RuntimeError { failure, span, calls, place: None }))
    }

    /// Counts a step. Polls the interrupt flag and reports progress once in 64 steps.
    pub(super) fn tick(&mut self, span: Span) -> Result<()> {
        self.ticks = self.ticks.wrapping_add(1);
        if self.ticks.is_multiple_of(64) {
            self.poll_interrupt(span)?;
            self.machine.progress.report();
        }
        Ok(())
    }

    /// Fails if the interrupt flag is set.
    pub(super) fn poll_interrupt(&self, span: Span) -> Result<()> {
        match self.host.interrupt.load(Ordering::Relaxed) {
            true => Err(self.fail(Failure::Interrupted, span)),
            false => Ok(()),
        }
    }

    /// Runs a loop of `total` rounds, if that is known. `rounds` is passed true if it has to count
    /// them.
    pub(super) fn with_progress<T>(
        &mut self,
        total: Option<u64>,
        rounds: impl FnOnce(&mut Self, bool) -> Result<T>,
    ) -> Result<T> {
        let outermost = self.machine.progress.enter_loop(total);
        let done = rounds(self, outermost);
        if outermost {
            self.machine.progress.leave_loop();
        }
        done
    }

    /// Fails if codes are not computed for types of this size.
    pub(super) fn require_countable(&self, size: &Code, span: Span) -> Result<()> {
        match is_countable(size) {
            true => Ok(()),
            false => Err(self.fail(Failure::Uncountable, span)),
        }
    }

    /// Fails if a value of `slots` slots exceeds the memory bound.
    pub(super) fn require_memory(&self, class: Class, slots: usize, span: Span) -> Result<()> {
        let bytes = (slots as u64).checked_mul(class.bytes()).filter(|_| slots != TOO_MANY_SLOTS);
        if bytes.is_some_and(|bytes| bytes <= self.host.memory) {
            return Ok(());
        }
        Err(self.fail(memory_failure(slots, class.bytes(), self.host.memory), span))
    }

    /// Creates an empty buffer with capacity for `slots` slots, within the memory bound.
    pub(super) fn allocate_buffer(&self, class: Class, slots: usize, span: Span) -> Result<Buffer> {
        self.require_memory(class, slots, span)?;
        Buffer::with_capacity(class, slots)
            .ok_or_else(|| self.fail(memory_failure(slots, class.bytes(), self.host.memory), span))
    }

    /// Returns an empty vector with room for this many values.
    pub(super) fn take_vector(&mut self, room: usize) -> Vec<Value> {
        match self.machine.spare.pop() {
            Some(mut values) => {
                values.reserve(room);
                values
            }
            None => Vec::with_capacity(room),
        }
    }

    /// Drops values, and keeps their vector for [`Self::take_vector`] if it is small.
    pub(super) fn recycle_vector(&mut self, mut values: Vec<Value>) {
        /// The number of vectors that are kept.
        const MAX_SPARE: usize = 64;
        /// The most values that a vector which is kept has room for.
        const MAX_ROOM: usize = 64;
        // Words have nothing to drop, which costs a call for each value otherwise.
        if values.iter().all(|value| matches!(value, Value::Word(_))) {
            values.drain(..).for_each(std::mem::forget);
        } else {
            values.clear();
        }
        if self.machine.spare.len() < MAX_SPARE && values.capacity() <= MAX_ROOM {
            self.machine.spare.push(values);
        }
    }

    /// Returns the instance of a callee, specialized at its first call.
    pub(super) fn callee_instance<'c>(
        &mut self,
        callee: &'c Callee,
        span: Span,
    ) -> Result<&'c Arc<Instance>> {
        if let Some(known) = callee.instance.get() {
            return Ok(known);
        }
        let key = (callee.function, callee.type_args.clone());
        let made = match self.machine.instances.get(&key) {
            Some(made) => made.clone(),
            None => {
                let Some(Some(function)) = self.program.functions.get(callee.function.index()) else {
                    return Err(self.fail(Failure::Internal { message: "a function without body" }, span));
                };
                let large = |t: &Type| t.nodes() > MAX_TYPE_NODES || t.depth() > MAX_TYPE_DEPTH;
                if callee.type_args.iter().any(large) {
                    return Err(self.fail(Failure::TypeTooLarge, span));
                }
                let machine = &mut *self.machine;
                let mut mark = |function: &Function| {
                    Arc::new(last_use::mark_function(self.program, &mut machine.reachable_globals, function))
                };
                let function = match &machine.party {
                    // What a party does depends on the places among the type arguments.
                    Some(party) if function.mentions_places() => {
                        let own =
                            function.type_params.iter().map(|p| p.id).zip(callee.type_args.iter().cloned());
                        let outer = Some(machine.sizes.clone());
                        let bindings = Bindings { types: own.collect(), outer };
                        let concrete = &|ty: &Type| bindings.concrete(ty);
                        mark(
                            &Projection::new(party.me, concrete, &self.program.placed_sizes)
                                .function(function),
                        )
                    }
                    _ => machine
                        .marked_functions
                        .entry(callee.function)
                        .or_insert_with(|| mark(function))
                        .clone(),
                };
                let (machine, sizes) = (&*self.machine, &self.machine.sizes);
                let (made, unbound) = specialize_function(
                    self.program,
                    &machine.layouts,
                    sizes,
                    callee.function,
                    &function,
                    &callee.type_args,
                    machine.accelerator.is_some(),
                );
                self.require_bound(unbound, span)?;
                let made = Arc::new(made);
                if self.machine.instances.len() >= MAX_INSTANCES {
                    self.machine.instances.clear();
                }
                self.machine.instances.insert(key, made.clone());
                made
            }
        };
        Ok(callee.instance.get_or_init(|| made))
    }

    /// Sets a variable, and records its old value in the journal.
    pub(super) fn set_cell(&mut self, cell: &Arc<Cell>, value: Value) {
        let old = cell.set(Some(value));
        // Restoring needs the oldest value only.
        if cell.is_first_store_of_input(self.machine.input) {
            self.machine.journal.push((cell.clone(), old));
        }
    }

    /// Moves out the value of a variable that is assigned next.
    pub(super) fn take_cell(&mut self, cell: &Arc<Cell>) -> Option<Value> {
        let value = cell.set(None)?;
        self.journal(cell, &value);
        Some(value)
    }

    /// Records the value of a variable that is about to be changed in place. The record shares its
    /// storage: the first change of an input copies, no later one.
    pub(super) fn journal(&mut self, cell: &Arc<Cell>, value: &Value) {
        if cell.is_first_store_of_input(self.machine.input) {
            self.machine.journal.push((cell.clone(), Some(value.clone())));
        }
    }
}
