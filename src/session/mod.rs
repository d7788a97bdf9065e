//! The session: the library's interface for frontends.
//!
//! Takes texts; gives values, types, verdicts and diagnostics. Reads no file and prints nothing:
//! the output of a program goes to the caller. An input is a transaction: one that is rejected,
//! fails or is interrupted leaves names, functions and every variable as they were.
//!
//! Programs may nest and recurse deeper than the stack of a usual thread allows, within bounds:
//! callers that run texts of unknown origin do so inside [`on_large_stack`].

mod analysis;
mod annotation_collector;
pub mod book;
mod deadline;
mod definition;
mod diagnostics;
mod dispatch;
mod display;
pub mod docs;
mod edition_check;
mod entry_point;
mod evaluate;
mod executor_runs;
mod file_types;
mod host;
mod inputs;
mod large_stack;
mod laws;
pub mod library;
mod library_modules;
mod metrics;
mod modules;
mod names;
pub mod outline;
mod parties;
mod program_export;
mod program_texts;
mod query;
pub mod reference;
mod resolve_query;
mod results;
mod shown_sizes;
mod signature;
mod snapshot;
mod source_text;
mod stages;
mod test_runner;
mod transaction;
mod written_types;

pub use analysis::{Analysis, Draft, SelectedStatements, TextPart};
pub use definition::DefinitionText;
pub use entry_point::{ArgumentError, EntryPoint, Parameter};
pub use executor_runs::ExecutorRun;
pub use felis_base::suggest::similar;
pub use felis_calculus::iso::Verdict;
pub use felis_calculus::types::number::Conversion;
pub use felis_check::check::annotations::{Annotations, Referent};
pub use felis_check::check::env::Scheme;
pub use felis_compiler::jit::Statistics;
pub use felis_runtime::data::FileSystem;
pub use felis_runtime::eval::preview::Window;
pub use felis_runtime::eval::{Colors, Progress, Screen, Watcher};
pub use felis_runtime::network::{Network, PartyId, Traffic};
pub use felis_runtime::system::{System, SystemError};
pub use felis_syntax::syntax::brackets::IncrementalSplit;
pub use host::{AnnotationRule, HostRegistry, HostValue, ValueRule};
pub use large_stack::{on_large_stack, try_on_large_stack};
pub use laws::{LawTrial, LawVerdict};
pub use metrics::Metrics;
pub use modules::{Loader, ModuleLocation, NotFound};
pub use names::{
    BUILT_IN_TYPE_NAMES, Definition, KEYWORDS, NameDescription, NameKind, Overload, is_primitive, primitive,
};
pub use query::{Comparison, Explanation};
pub use resolve_query::Resolution;
pub use stages::{Built, Stage};
pub use test_runner::{BenchReport, TestOutcome, TestReport, TestRun, TestSelection};

use annotation_collector::AnnotationCollector;
use felis_base::diagnostic::{self, Diagnostic};
use felis_base::source::{Source, SourceMap, Span};
use felis_calculus::core::Program;
use felis_calculus::types::Type;
use felis_check::check::Env;
use felis_compiler::jit::Jit;
use felis_runtime::eval::Machine;
use felis_runtime::kernel::Accelerator;
use inputs::EvaluatedInput;
use library::Library;
use library::load::initial_env;
use modules::LoadedModules;
use parties::Parties;
use results::Results;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A session: the definitions of a user, and the stages that evaluate further inputs.
pub struct Session {
    sources: SourceMap,
    env: Env,
    modules: LoadedModules,
    program: Program,
    machine: Machine,
    library: Library,
    /// The statements of the library that `env` knows.
    adopted: BTreeSet<usize>,
    loader: Option<Box<dyn Loader>>,
    files: Option<Arc<dyn FileSystem>>,
    system: Option<Arc<dyn System>>,
    hosts: HostRegistry,
    results: Results,
    /// The inputs that have succeeded, in order.
    inputs: Vec<EvaluatedInput>,
    /// The annotations, while a text is checked that they are collected of.
    collector: Option<AnnotationCollector>,
    interrupt: Arc<AtomicBool>,
    memory: u64,
    screen: Screen,
    jit: Option<Arc<Jit>>,
    /// The statements as array IR, if that is asked for.
    array_trace: Option<Vec<(Span, Result<String, String>)>>,
    executor: ExecutorSetup,
    parties: Parties,
}

/// The executor of programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The reference evaluator alone.
    Reference,
    /// The evaluator, and compiled code where it is profitable.
    Compiled,
    /// Compiled code for everything that can be compiled, profitable or not.
    Eager,
}

/// An executor with its settings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutorSetup {
    /// The executor.
    pub executor: Executor,
    /// Threads of compiled code; 0 for one on each core.
    pub threads: usize,
    /// Bits of a vector, at most; by default as many as the machine has.
    pub max_vector_bits: Option<usize>,
}

impl ExecutorSetup {
    /// Makes the setup of an executor on that many threads, with the widest vectors.
    pub const fn new(executor: Executor, threads: usize) -> ExecutorSetup {
        ExecutorSetup { executor, threads, max_vector_bits: None }
    }
}

/// The kind of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file: shows only what it prints.
    Script,
    /// A line: the value of a last expression is shown.
    Line,
    /// A line of a session: its value is laid out for people, and has a name afterward.
    Display(Window),
    /// A line of which the value itself is wanted: no text is made of it.
    Value,
}

/// The end of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Success.
    Ok,
    /// The text could not be parsed, or its types are wrong; nothing has run.
    Rejected,
    /// An error at run time stopped it.
    Failed,
    /// The interrupt flag stopped it.
    Interrupted,
    /// It has ended itself with an exit code.
    Exited(u8),
}

/// The result of an input.
#[derive(Debug)]
pub struct Outcome {
    /// The end of the input. Other than after [`Status::Ok`], the session is as it was before.
    pub status: Status,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The value of the last expression, unless the input is a [`Mode::Script`].
    pub value: Option<ValueText>,
    /// The text ends too early and more lines could complete it.
    pub incomplete: bool,
}

/// A value as text.
#[derive(Clone, Debug)]
pub struct ValueText {
    /// Its type.
    pub ty: Type,
    /// For people. In [`Mode::Display`] lines for the window, and of a large value not all; empty
    /// in [`Mode::Value`].
    pub text: String,
    /// For reading back; empty in [`Mode::Display`] and [`Mode::Value`].
    pub read_back: String,
    /// The sizes that arrived at run time and that the type mentions, with what they are.
    pub sizes: Vec<(String, String)>,
    /// The value at its type without variables, in [`Mode::Value`].
    pub value: Option<HostValue>,
}

impl ValueText {
    /// Returns the text that a session shows: a string in quotes, since `1 : int : string` is
    /// ambiguous.
    pub fn display_text(&self) -> &str {
        if self.ty == Type::string() { &self.read_back } else { &self.text }
    }
}

/// The limit of bytes for one value, unless the frontend sets another.
const DEFAULT_MAX_VALUE_BYTES: u64 = 8 << 30;

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

impl Session {
    /// A session in which nothing has been defined.
    pub fn new() -> Session {
        Session {
            sources: library::sources().clone(),
            env: initial_env(false),
            program: Program::default(),
            machine: Machine::new(),
            library: Library::new(),
            adopted: BTreeSet::new(),
            modules: LoadedModules::default(),
            loader: None,
            files: None,
            system: None,
            hosts: HostRegistry::default(),
            results: Results::default(),
            inputs: Vec::new(),
            collector: None,
            interrupt: Arc::new(AtomicBool::new(false)),
            memory: DEFAULT_MAX_VALUE_BYTES,
            screen: Screen::default(),
            jit: None,
            array_trace: None,
            executor: ExecutorSetup::new(Executor::Reference, 0),
            parties: Parties::default(),
        }
        .with_executor(Executor::Compiled, 0)
    }

    /// The session with another executor, which uses that many threads; 0 for one on each core.
    pub fn with_executor(mut self, executor: Executor, threads: usize) -> Session {
        self.set_executor(ExecutorSetup::new(executor, threads));
        self
    }

    /// Replaces the executor.
    fn set_executor(&mut self, setup: ExecutorSetup) {
        self.executor = setup;
        let ExecutorSetup { executor, threads, max_vector_bits } = setup;
        self.jit = (executor != Executor::Reference).then(|| Arc::new(Jit::new(threads, max_vector_bits)));
        let accelerator = self.jit.clone().map(|jit| jit as Arc<dyn Accelerator>);
        let eager = executor == Executor::Eager;
        self.machines().for_each(|machine| machine.set_accelerator(accelerator.clone(), eager));
    }

    /// Returns the statistics of compiled code; `None` where nothing is compiled.
    pub fn statistics(&self) -> Option<&Statistics> {
        self.jit.as_deref().map(Jit::statistics)
    }

    /// Sets the file system that programs read and write; there is none by default.
    pub fn set_files(&mut self, files: Arc<dyn FileSystem>) {
        self.files = Some(files);
    }

    /// Sets the machine that programs ask; there is none by default.
    pub fn set_system(&mut self, system: Arc<dyn System>) {
        self.system = Some(system);
    }

    /// Sets the screen for pictures that programs draw; by default a page without colors.
    pub fn set_screen(&mut self, screen: Screen) {
        self.screen = screen;
    }

    /// Discards all definitions; the loader, the files, the machine, the host's rules, the
    /// executor, the watcher, the interrupt flag, the screen and the limit on memory stay.
    pub fn reset(&mut self) {
        let (interrupt, loader) = (self.interrupt.clone(), self.loader.take());
        let (files, system) = (self.files.take(), self.system.take());
        let hosts = std::mem::take(&mut self.hosts);
        let executor = self.executor;
        let watcher = self.machine.set_watcher(None);
        let mut new = Session::new();
        new.set_executor(executor);
        *self = Session {
            interrupt,
            loader,
            files,
            system,
            hosts,
            memory: self.memory,
            screen: self.screen,
            ..new
        };
        self.machine.set_watcher(watcher);
    }

    /// Sets the function that receives the progress of long loops.
    pub fn set_watcher(&mut self, watcher: Watcher) {
        self.machine.set_watcher(Some(watcher));
    }

    /// Sets how many bytes one value may take.
    pub fn set_max_value_bytes(&mut self, bytes: u64) {
        self.memory = bytes;
    }

    /// Clears the interrupt flag.
    fn clear_interrupt(&self) {
        self.interrupt.store(false, Ordering::SeqCst);
    }

    /// Returns the flag that stops the input that is running; each input clears it when it begins.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// The texts seen so far, the library's among them.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Renders a diagnostic for people.
    pub fn render(&self, diagnostic: &Diagnostic, color: bool) -> String {
        diagnostic::render(diagnostic, &self.sources, color)
    }

    /// Renders a diagnostic for a terminal of so many columns, if they are known.
    pub fn render_within(&self, diagnostic: &Diagnostic, color: bool, columns: Option<usize>) -> String {
        diagnostic::render_within(diagnostic, &self.sources, color, columns)
    }
}

/// Returns a text as a source of its own, outside the session.
fn detached_source(text: &str) -> Arc<Source> {
    SourceMap::new().add("", text)
}
