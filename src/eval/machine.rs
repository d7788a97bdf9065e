//! The machine: the state of a session between its inputs.
//!
//! Holds the variables of the session, the functions specialized so far and the journal of stores by
//! which a failed input is undone. Runs nothing: see [`super::run`].

use super::code::Instance;
use super::progress::{ProgressMonitor, Watcher};
use super::specialize::Bindings;
use crate::core::last_use::ReachableGlobals;
use crate::core::{Function, FunctionId, GlobalId, Program};
use crate::data::FileSystem;
use crate::hash::HashMap;
use crate::kernel::Accelerator;
use crate::layout::Layouts;
use crate::picture::Screen;
use crate::source::Span;
use crate::types::Type;
use crate::value::{Cell, Value};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// What a run may use of the world.
pub struct Host<'a> {
    /// Receives what the program prints.
    pub out: &'a mut dyn FnMut(&str),
    /// Set from outside to stop the run.
    pub interrupt: &'a AtomicBool,
    /// Bytes that one value may take.
    pub memory: u64,
    /// Where files are, if there are any.
    pub files: Option<&'a dyn FileSystem>,
    /// Where pictures are seen that the program prints.
    pub screen: Screen,
}

/// Runs programs; holds the session's variables and the functions specialized so far.
#[derive(Default)]
pub struct Machine {
    pub(super) layouts: Layouts,
    pub(super) globals: Vec<Arc<Cell>>,
    pub(super) instances: HashMap<(FunctionId, Vec<Type>), Arc<Instance>>,
    /// Functions with their last uses marked, what they reach, and how many instances of classes
    /// there were.
    pub(super) marked_functions: HashMap<FunctionId, Arc<Function>>,
    pub(super) reachable_globals: ReachableGlobals,
    pub(super) marked_instance_count: usize,
    /// Old values of cells, since the last checkpoint, newest last.
    pub(super) journal: Vec<(Arc<Cell>, Option<Value>)>,
    /// Number of the present input.
    pub(super) input: u64,
    pub(super) calls: Vec<(Arc<str>, Span)>,
    /// Sizes opened at the top level, for as long as the session lives.
    pub(super) sizes: Arc<Bindings>,
    /// How often code has been specialized for sizes that arrived at run time.
    pub(super) opening_count: u64,
    /// The outermost loop, for whoever waits.
    pub(super) progress: ProgressMonitor,
    /// Who may take over parts of programs.
    pub(super) accelerator: Option<Arc<dyn Accelerator>>,
    /// Whether parts are taken over before they have cost anything.
    pub(super) eager: bool,
}

/// A state to return to.
pub struct Checkpoint {
    globals: usize,
    functions: usize,
    sizes: Arc<Bindings>,
}

impl Machine {
    /// A machine without variables.
    pub fn new() -> Machine {
        Machine::default()
    }

    /// Sets who may take over parts of programs; `eager`, before they have cost anything.
    pub fn set_accelerator(&mut self, accelerator: Option<Arc<dyn Accelerator>>, eager: bool) {
        self.accelerator = accelerator;
        self.eager = eager;
        self.clear_instances();
    }

    /// The present state. Take one before an input, with the program as it was.
    pub fn checkpoint(&mut self, program: &Program) -> Checkpoint {
        self.journal.clear();
        self.input += 1;
        Checkpoint {
            globals: self.globals.len(),
            functions: program.functions.len(),
            sizes: self.sizes.clone(),
        }
    }

    /// Undoes every store since the checkpoint, and forgets functions made since.
    pub fn restore(&mut self, checkpoint: &Checkpoint) {
        for (cell, old) in std::mem::take(&mut self.journal).into_iter().rev() {
            cell.set(old);
        }
        self.globals.truncate(checkpoint.globals);
        self.sizes = checkpoint.sizes.clone();
        self.instances.retain(|(function, _), _| (*function as usize) < checkpoint.functions);
        self.clear_last_use_marks();
    }

    /// Gives a session variable a value from outside.
    pub fn set_global(&mut self, id: GlobalId, value: Value) {
        while self.globals.len() <= id as usize {
            self.globals.push(Cell::new(None));
        }
        self.globals[id as usize].set(Some(value));
    }

    /// Sets who is told how far loops are, and gives who was.
    pub fn set_watcher(&mut self, watcher: Option<Watcher>) -> Option<Watcher> {
        self.progress.replace_watcher(watcher)
    }

    /// Lets go of the value of a session variable.
    pub fn clear_global(&mut self, id: GlobalId) {
        if let Some(cell) = self.globals.get(id as usize) {
            cell.set(None);
        }
    }

    /// Forgets how functions look at concrete types: a new instance may replace one they used.
    pub fn clear_instances(&mut self) {
        self.instances.clear();
        self.clear_last_use_marks();
    }

    pub(super) fn clear_last_use_marks(&mut self) {
        self.marked_functions.clear();
        self.reachable_globals = ReachableGlobals::default();
    }

    /// The value of a session variable, if it has been set.
    pub fn global(&self, id: GlobalId) -> Option<Value> {
        self.globals.get(id as usize).and_then(|cell| cell.get())
    }

    /// A type with the sizes that the session has opened in place of their variables.
    pub fn concrete(&self, ty: &Type) -> Type {
        self.sizes.concrete(ty)
    }
}
