//! The machine: the state of a session between its inputs.
//!
//! Holds the variables of the session, the functions specialized so far and the journal of stores
//! by which a failed input is undone. Runs nothing: see [`super::run`].

use super::bindings::Bindings;
use super::code::Instance;
use super::communication::Party;
use super::progress::{ProgressMonitor, Watcher};
use super::regex_ops::Patterns;
use crate::core::Region;
use crate::core::free_variables::FreeVariables;
use crate::core::last_use::ReachableGlobals;
use crate::core::{Function, FunctionId, GlobalId, LocalInfo, Program, Term};
use crate::data::FileSystem;
use crate::hash::HashMap;
use crate::kernel::{Accelerator, CompilationUnit};
use crate::layout::Layouts;
use crate::picture::Screen;
use crate::source::Span;
use crate::system::System;
use crate::types::Type;
use crate::value::{Cell, Value};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The environment of a run: output, files, limits and the interrupt flag.
pub struct Host<'a> {
    /// Receives what the program prints.
    pub out: &'a mut dyn FnMut(&str),
    /// Receives what the program prints at a place; an empty text when work there begins. Otherwise
    /// `out` receives it.
    pub out_here: Option<&'a mut dyn FnMut(&str)>,
    /// The interrupt flag.
    pub interrupt: &'a AtomicBool,
    /// The largest value, in bytes.
    pub memory: u64,
    /// The file system, if there is one.
    pub files: Option<&'a dyn FileSystem>,
    /// The machine that programs ask, if there is one.
    pub system: Option<&'a dyn System>,
    /// The screen on which pictures are printed.
    pub screen: Screen,
}

/// Runs programs; holds the variables of the session and the functions specialized so far.
#[derive(Default)]
pub struct Machine {
    /// The cache of layouts.
    pub(super) layouts: Layouts,
    /// The variables of the session.
    pub(super) globals: Vec<Arc<Cell>>,
    /// The specialized functions.
    pub(super) instances: HashMap<(FunctionId, Vec<Type>), Arc<Instance>>,
    /// Functions with their last uses marked, while the number of instances of classes is
    /// `marked_instance_count`.
    pub(super) marked_functions: HashMap<FunctionId, Arc<Function>>,
    /// The session variables that functions reach.
    pub(super) reachable_globals: ReachableGlobals,
    /// The number of instances of classes for which last uses are marked.
    pub(super) marked_instance_count: usize,
    /// Old values of cells since the last checkpoint, the newest last.
    pub(super) journal: Vec<(Arc<Cell>, Option<Value>)>,
    /// The number of the current input.
    pub(super) input: u64,
    /// The chain of calls: functions and positions, the innermost last.
    pub(super) calls: Vec<(FunctionId, Span)>,
    /// Empty vectors with room, for arguments and frames.
    pub(super) spare: Vec<Vec<Value>>,
    /// Sizes opened at the top level; they are valid to the end of the session.
    pub(super) sizes: Arc<Bindings>,
    /// The number of specializations for sizes that arrived at run time.
    pub(super) opening_count: u64,
    /// The progress of the outermost loop.
    pub(super) progress: ProgressMonitor,
    /// Compiled regular expressions.
    pub(super) patterns: Patterns,
    /// The compiler of hot parts, if there is one.
    pub(super) accelerator: Option<Arc<dyn Accelerator>>,
    /// True if parts are compiled before their first execution.
    pub(super) eager: bool,
    /// The party that the machine runs the program for, if the program has parties.
    pub(super) party: Option<Party>,
}

/// A state of the machine to which it can be restored.
pub struct Checkpoint {
    globals: usize,
    functions: usize,
    sizes: Arc<Bindings>,
}

impl Machine {
    /// Creates a machine without variables.
    pub fn new() -> Machine {
        Machine::default()
    }

    /// Sets the compiler of hot parts. If `eager`, parts are compiled before their first execution.
    pub fn set_accelerator(&mut self, accelerator: Option<Arc<dyn Accelerator>>, eager: bool) {
        self.accelerator = accelerator;
        self.eager = eager;
        self.clear_instances();
    }

    /// Returns a machine for another party of the program: with the same variables, so far.
    pub fn for_another_party(&self) -> Machine {
        let globals = self.globals.iter().map(|cell| Cell::new(cell.get())).collect();
        let (sizes, accelerator, eager) = (self.sizes.clone(), self.accelerator.clone(), self.eager);
        Machine { globals, sizes, accelerator, eager, input: self.input, ..Machine::default() }
    }

    /// Sets the party that the machine runs the program for. Functions are specialized anew.
    pub fn set_party(&mut self, party: Option<Party>) {
        self.party = party;
        self.clear_instances();
    }

    /// Returns the party that the machine runs the program for.
    pub fn party_mut(&mut self) -> Option<&mut Party> {
        self.party.as_mut()
    }

    /// Calls `read` with a term as the unit that the compiler is offered where the term is
    /// evaluated; `None` if a type in it has a size that is not known yet.
    pub fn with_unit<T>(
        &self,
        program: &Program,
        locals: &[LocalInfo],
        term: &Term,
        interrupt: &AtomicBool,
        read: impl FnOnce(&CompilationUnit<'_>) -> T,
    ) -> Option<T> {
        let concrete = |ty: &Type| self.sizes.concrete(ty);
        let mentioned = FreeVariables::of_term(term);
        let types = [&term.ty]
            .into_iter()
            .chain(mentioned.locals.iter().map(|local| &locals[local.index()].ty))
            .chain(mentioned.globals.iter().map(|global| &program.globals[global.index()].ty));
        if types.into_iter().any(|ty| concrete(ty).has_var()) {
            return None;
        }
        Some(read(&CompilationUnit {
            program,
            layouts: &self.layouts,
            locals,
            concrete: &concrete,
            region: Region::Term(term),
            known: &[],
            may_continue: &|| !interrupt.load(Ordering::Relaxed) && super::stack_guard::has_room(),
        }))
    }

    /// Begins an input and returns the state before it.
    pub fn checkpoint(&mut self, program: &Program) -> Checkpoint {
        self.journal.clear();
        self.input += 1;
        Checkpoint {
            globals: self.globals.len(),
            functions: program.functions.len(),
            sizes: self.sizes.clone(),
        }
    }

    /// Undoes every store since the checkpoint, and drops functions specialized since.
    pub fn restore(&mut self, checkpoint: &Checkpoint) {
        for (cell, old) in std::mem::take(&mut self.journal).into_iter().rev() {
            cell.set(old);
        }
        self.globals.truncate(checkpoint.globals);
        self.sizes = checkpoint.sizes.clone();
        self.instances.retain(|(function, _), _| function.index() < checkpoint.functions);
        self.clear_last_use_marks();
    }

    /// Sets a session variable.
    pub fn set_global(&mut self, id: GlobalId, value: Value) {
        while self.globals.len() <= id.index() {
            self.globals.push(Cell::new(None));
        }
        self.globals[id.index()].set(Some(value));
    }

    /// Replaces the watcher of progress, and returns the old one.
    pub fn set_watcher(&mut self, watcher: Option<Watcher>) -> Option<Watcher> {
        self.progress.replace_watcher(watcher)
    }

    /// Drops the value of a session variable.
    pub fn clear_global(&mut self, id: GlobalId) {
        if let Some(cell) = self.globals.get(id.index()) {
            cell.set(None);
        }
    }

    /// Drops all specialized functions: a new instance of a class may replace one that they used.
    pub fn clear_instances(&mut self) {
        self.instances.clear();
        self.clear_last_use_marks();
    }

    /// Drops the marks of last uses.
    pub(super) fn clear_last_use_marks(&mut self) {
        self.marked_functions.clear();
        self.reachable_globals = ReachableGlobals::default();
    }

    /// Returns the value of a session variable, if it has been set.
    pub fn global(&self, id: GlobalId) -> Option<Value> {
        self.globals.get(id.index()).and_then(|cell| cell.get())
    }

    /// Returns a type with the sizes that the session has opened in place of their variables, as
    /// its values are shown.
    pub fn concrete(&self, ty: &Type) -> Type {
        match &self.party {
            Some(party) => self.sizes.concrete(ty).endpoint_projection_with_names(party.me),
            None => self.sizes.concrete(ty),
        }
    }
}
