//! The session: the one door for frontends.
//!
//! Takes texts; gives values, types, verdicts and diagnostics. Reads no file and prints nothing:
//! what a program prints goes to the caller. An input is a transaction: one that is refused, fails or
//! is stopped leaves names, functions and every variable as they were.
//!
//! Programs nest and recurse as deep as they like, within bounds that a usual thread's stack does not
//! hold: whoever runs texts of unknown origin does so inside [`on_large_stack`].

mod can;
mod complete;
mod definition;
mod dispatch;
mod display;
pub mod docs;
mod entry;
mod host;
pub mod index;
mod laws;
mod library;
mod limit;
mod modules;
mod program;
mod query;
pub mod reference;
mod reread;
mod stated;
mod tested;
mod work;

pub use crate::suggest::similar;
mod results;
mod shown;
mod tokens;

pub use crate::data::FileSystem;
pub use crate::eval::view::Window;
pub use crate::eval::{Colors, Progress, Screen, Watcher};
pub use crate::iso::Verdict;
pub use crate::jit::{Stage, Statistics};
pub use crate::syntax::brackets::Growing;
pub use crate::types::number::Conversion;
pub use can::Able;
pub use complete::{Completions, import_path};
pub use definition::DefinitionText;
pub use entry::{Main, Misfit, Parameter};
pub use host::{AnnotationRule, HostValue, Hosts, ValueRule};
pub use laws::{Trial, Verdict as LawVerdict};
pub use modules::{Loader, NotFound, Place};
pub use query::{Comparison, Definition, Overload, Reasons};
pub use tested::{Fate, Ran, Selection, Tested, Timed};
pub use tokens::{Blocks, TokenClass, blocks, matching_bracket, tokens};
pub use work::Work;

use crate::check::note::Notes;
use crate::check::{self, Env, module};
use crate::core::{GlobalId, Program, Script, TermKind};
use crate::diagnostic::{self, Diagnostic};
use crate::eval::{self, Checkpoint, Host, Machine, RuntimeError, stack};
use crate::jit::Jit;
use crate::kernel::Accelerator;
use crate::source::{self, Source, SourceId, SourceMap, Span};
use crate::stop;
use crate::syntax::{self, Parsed};
use crate::types::{Type, TypeKind, TypeVar};
use crate::value::Value;
use library::Library;
use modules::{First, Loaded};
use results::Results;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, RefUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// What a user has made so far, and the means to go on.
pub struct Session {
    sources: SourceMap,
    env: Env,
    modules: Loaded,
    program: Program,
    machine: Machine,
    library: Library,
    /// The statements of the library that `env` knows.
    adopted: BTreeSet<usize>,
    loader: Option<Box<dyn Loader>>,
    files: Option<Arc<dyn FileSystem>>,
    hosts: Hosts,
    results: Results,
    /// The inputs that have succeeded, in order.
    inputs: Vec<definition::Input>,
    /// What is collected while an index is made.
    noting: Option<index::Noting>,
    interrupt: Arc<AtomicBool>,
    memory: u64,
    screen: Screen,
    jit: Option<Arc<Jit>>,
    executor: (Executor, usize),
}

/// Who runs programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Executor {
    /// The reference evaluator alone.
    Reference,
    /// The evaluator, and compiled code for what is worth it.
    Compiled,
    /// Compiled code for everything that can be compiled, worth it or not.
    Eager,
}

/// What an input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// A file: shows only what it prints.
    Script,
    /// A line: the value of a last expression is shown.
    Line,
    /// A line of a session: its value is laid out for people, and has a name afterwards.
    Display(Window),
    /// A line of which the value itself is wanted: no text is made of it.
    Value,
}

/// How an input ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As it should.
    Ok,
    /// It could not be read, or its types are wrong; nothing has run.
    Rejected,
    /// It stopped by an error while it ran.
    Failed,
    /// The interrupt flag stopped it.
    Interrupted,
}

/// What became of an input.
#[derive(Debug)]
pub struct Outcome {
    /// How it ended. Other than [`Status::Ok`], the session is as it was before.
    pub status: Status,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The value of the last expression, unless the input is a [`Mode::Script`].
    pub value: Option<Shown>,
    /// The text ends too early and more lines could complete it.
    pub incomplete: bool,
}

/// A value as text.
#[derive(Clone, Debug)]
pub struct Shown {
    /// Its type.
    pub ty: Type,
    /// For people. In [`Mode::Display`] lines for the window, and of a large value not all; empty in [`Mode::Value`].
    pub text: String,
    /// For reading back; empty in [`Mode::Display`] and [`Mode::Value`].
    pub read_back: String,
    /// The sizes that arrived at run time and that the type mentions, with what they are.
    pub sizes: Vec<(String, String)>,
    /// The value at its type without variables, in [`Mode::Value`].
    pub value: Option<HostValue>,
}

impl Shown {
    /// What a session shows: a string as one writes it, for `1 : int : string` says nothing clear.
    pub fn in_session(&self) -> &str {
        if self.ty == Type::string() { &self.read_back } else { &self.text }
    }
}

/// The names of a user who has not defined any.
fn own_env() -> Env {
    let mut env = Env::new();
    env.library_texts = library::sources().iter().count() as u32;
    env.parts = library::parts().collect();
    env
}

/// Bytes one value may take, unless the frontend knows better.
const MEMORY: u64 = 8 << 30;

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
            env: own_env(),
            program: Program::default(),
            machine: Machine::new(),
            library: Library::new(),
            adopted: BTreeSet::new(),
            modules: Loaded::default(),
            loader: None,
            files: None,
            hosts: Hosts::default(),
            results: Results::default(),
            inputs: Vec::new(),
            noting: None,
            interrupt: Arc::new(AtomicBool::new(false)),
            memory: MEMORY,
            screen: Screen::default(),
            jit: None,
            executor: (Executor::Reference, 0),
        }
        .with_executor(Executor::Compiled, 0)
    }

    /// The session with another executor, which uses that many threads; 0 for one on each core.
    pub fn with_executor(mut self, executor: Executor, threads: usize) -> Session {
        self.executor = (executor, threads);
        self.jit = (executor != Executor::Reference).then(|| Arc::new(Jit::new(threads)));
        let accelerator = self.jit.clone().map(|jit| jit as Arc<dyn Accelerator>);
        self.machine.accelerate(accelerator, executor == Executor::Eager);
        self
    }

    /// From here on, notes how parts of programs look at a stage on the way to machine code.
    pub fn trace(&mut self, stage: Stage) {
        if let Some(jit) = &self.jit {
            jit.trace(stage);
        }
    }

    /// What was noted since: where each part stands (file and line), and how it looks or why it was left to
    /// the evaluator.
    pub fn traced(&mut self) -> Vec<(String, Result<String, &'static str>)> {
        let noted = self.jit.as_ref().map(|jit| jit.traced()).unwrap_or_default();
        let place = |span: Span| match self.sources.get(span.source) {
            Some(source) => {
                format!("{}:{}", source.name, source::line(&source.text, span.start as usize))
            }
            None => String::new(),
        };
        noted.into_iter().map(|trace| (place(trace.span), trace.text)).collect()
    }

    /// What compiled code has done so far; `None` where nothing is compiled.
    pub fn statistics(&self) -> Option<&Statistics> {
        self.jit.as_deref().map(Jit::statistics)
    }

    /// Says where data are read and written; without files there are none.
    pub fn set_files(&mut self, files: Arc<dyn FileSystem>) {
        self.files = Some(files);
    }

    /// Says where pictures are seen that programs draw; until then on a page without colours.
    pub fn set_screen(&mut self, screen: Screen) {
        self.screen = screen;
    }

    /// Forgets everything; the loader, the files, the host's rules, the executor, the watcher, the interrupt flag, the
    /// screen and the limit on memory stay.
    pub fn reset(&mut self) {
        let (interrupt, loader) = (self.interrupt.clone(), self.loader.take());
        let files = self.files.take();
        let hosts = std::mem::take(&mut self.hosts);
        let (executor, threads) = self.executor;
        let watcher = self.machine.set_watcher(None);
        let new = Session::new().with_executor(executor, threads);
        *self = Session { interrupt, loader, files, hosts, memory: self.memory, screen: self.screen, ..new };
        self.machine.set_watcher(watcher);
    }

    /// Says who is told how far long loops are.
    pub fn set_watcher(&mut self, watcher: Watcher) {
        self.machine.set_watcher(Some(watcher));
    }

    /// Sets how many bytes one value may take.
    pub fn set_memory(&mut self, bytes: u64) {
        self.memory = bytes;
    }

    /// What is done from here on goes on until the interrupt flag is set again.
    fn listen(&self) {
        self.interrupt.store(false, Ordering::SeqCst);
    }

    /// Whoever sets this stops the input that is running; each input clears it when it begins.
    pub fn interrupt_flag(&self) -> Arc<AtomicBool> {
        self.interrupt.clone()
    }

    /// The texts seen so far, the library's among them.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Lays a diagnostic out for people.
    pub fn render(&self, diagnostic: &Diagnostic, color: bool) -> String {
        diagnostic::render(diagnostic, &self.sources, color)
    }

    /// The same on a terminal of so many columns, if they are known.
    pub fn render_within(&self, diagnostic: &Diagnostic, color: bool, columns: Option<usize>) -> String {
        diagnostic::render_within(diagnostic, &self.sources, color, columns)
    }

    /// Runs a text, which messages call `name`; what it prints goes to `out`.
    pub fn evaluate(&mut self, name: &str, text: &str, mode: Mode, out: &mut dyn FnMut(&str)) -> Outcome {
        // Whether a name that is one of a result stands for it only the checker knows; it is asked if there is one.
        let named = self.results.named(&syntax::idents(&detached(text)));
        let before = self.results.last();
        let source = SourceId(self.sources.len() as u32);
        let (mut uses, mut notes, mut globals) = (Vec::new(), Notes::default(), 0);
        let mut outcome = self.transaction(name, text, |session, first, parsed, diagnostics| {
            let functions = session.program.functions.len();
            session.noting = Some(index::Noting::of_names(source.0));
            globals = session.program.globals.len() as GlobalId;
            let script = match mode {
                Mode::Script => session.file(parsed, diagnostics),
                Mode::Line | Mode::Display(_) | Mode::Value => session.script(parsed, diagnostics),
            };
            notes = session.noting.take().map(index::Noting::into_notes).unwrap_or_default();
            uses = results::uses(text, source, &notes, &named);
            let script = script?;
            let value = session.run_all(first, &script, mode, out, diagnostics)?;
            if session.program.functions.len() > functions && !computes(&script) {
                session.results.need(uses.iter().map(|(_, id)| *id));
            }
            Ok((value, Keep::Changes))
        });
        // A panic may have left it.
        self.noting = None;
        self.look_into_files(&mut outcome.diagnostics);
        if outcome.status == Status::Ok {
            self.inputs.push(definition::Input {
                source,
                shows: outcome.value.is_some(),
                result: self.results.last().filter(|last| Some(*last) != before),
                uses,
                globals: globals..self.program.globals.len() as GlobalId,
                notes: Arc::new(notes),
                imports: self.imports_of(source),
                forgotten: None,
            });
        }
        outcome
    }

    /// Checks a text without running it, and keeps nothing of it.
    pub fn check(&mut self, name: &str, text: &str) -> Outcome {
        let mut outcome = self.transaction(name, text, |session, _, parsed, diagnostics| {
            session.file(parsed, diagnostics).map(|_| (None, Keep::Nothing))
        });
        self.look_into_files(&mut outcome.diagnostics);
        outcome
    }

    /// Lays a text out anew; it is read, not checked. It is kept only if something is wrong with it, which is
    /// said of its places.
    pub fn format(&mut self, name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
        self.rewritten(name, text, syntax::layout::layout)
    }

    fn rewritten(
        &mut self,
        name: &str,
        text: &str,
        rewrite: impl Fn(&Source) -> Result<String, Vec<Diagnostic>> + RefUnwindSafe,
    ) -> Result<String, Vec<Diagnostic>> {
        let texts = self.sources.len();
        let source = self.sources.add(name, text);
        let done = catch_unwind(|| rewrite(&source));
        let laid = done.unwrap_or_else(|_| Err(vec![internal_error(Span::new(source.id, 0, 0))]));
        if laid.is_ok() {
            self.sources.truncate(texts);
        }
        laid
    }

    /// A text of version 0.1 as it is written today, which no errors are known of.
    pub fn migrate(&mut self, name: &str, text: &str) -> Result<String, Vec<Diagnostic>> {
        self.rewritten(name, text, syntax::edition::migrate)
    }

    /// Whether a text ends too early and more lines could complete it.
    pub fn incomplete(text: &str) -> bool {
        syntax::parse(&detached(text)).incomplete
    }

    /// The inputs that some lines are: all of them one, if they can be read so; else those that they would be if
    /// they were written one after the other.
    pub fn inputs_of(text: &str) -> Vec<&str> {
        let broken = |text: &str| syntax::parse(&detached(text)).errors.iter().any(Diagnostic::is_error);
        if !text.trim_end().contains('\n') || !broken(text) {
            return vec![text];
        }
        let (mut inputs, mut start, mut end) = (Vec::new(), 0, 0);
        let mut growing = Growing::default();
        for line in text.split_inclusive('\n') {
            end += line.len();
            let open = growing.push(line);
            let piece = &text[start..end];
            let command = piece.trim_start().starts_with(':');
            let announces = piece.lines().rfind(|line| !line.trim().is_empty());
            let announces = announces.is_some_and(|line| line.trim_start().starts_with("///"));
            if piece.trim().is_empty() || command || !announces && !open && !Session::incomplete(piece) {
                inputs.push(piece);
                start = end;
                growing = Growing::default();
            }
        }
        inputs.push(&text[start..]);
        inputs.retain(|piece| !piece.trim().is_empty());
        inputs
    }

    /// Reads a text with what it imports and does `work` on the scripts of new modules and on its
    /// statements; puts everything back unless that succeeds.
    fn transaction(
        &mut self,
        name: &str,
        text: &str,
        work: impl FnOnce(
            &mut Session,
            &[First],
            &Parsed,
            &mut Vec<Diagnostic>,
        ) -> Result<(Option<Shown>, Keep), Status>,
    ) -> Outcome {
        self.listen();
        let source = self.sources.add(name, text);
        let mut outcome =
            Outcome { status: Status::Rejected, diagnostics: Vec::new(), value: None, incomplete: false };
        let mut saved = None;
        let diagnostics = &mut outcome.diagnostics;
        // A bug in a stage must not cost the user the session.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let mut parsed = syntax::parse(&source);
            outcome.incomplete = parsed.incomplete;
            diagnostics.append(&mut parsed.errors);
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Status::Rejected);
            }
            let reading = self.read(&parsed.stmts, diagnostics);
            // What the input needs of the library stays, whatever becomes of the input.
            let loaded = self.load_library(&source).and_then(|()| self.load_for(&reading));
            loaded.map_err(|errors| {
                diagnostics.extend(errors);
                Status::Rejected
            })?;
            saved = Some(self.save());
            self.know_shown_sizes(&source);
            let first = self.enter(reading, &source, diagnostics);
            if self.interrupt.load(Ordering::SeqCst) {
                diagnostics.push(interrupted(Span::new(source.id, 0, 0)));
                return Err(Status::Interrupted);
            }
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Status::Rejected);
            }
            work(self, &first, &parsed, diagnostics)
        }));
        let result = done.unwrap_or_else(|_| {
            outcome.diagnostics.push(internal_error(Span::new(source.id, 0, 0)));
            Err(Status::Failed)
        });
        let keep = match result {
            Ok((value, keep)) => {
                outcome.status = Status::Ok;
                outcome.value = value;
                keep
            }
            Err(status) => {
                outcome.status = status;
                Keep::Nothing
            }
        };
        if let (Keep::Nothing, Some(saved)) = (keep, saved) {
            self.restore(saved);
        }
        outcome
    }

    /// The checked form of an input, unless it has an error.
    fn script(&mut self, parsed: &Parsed, diagnostics: &mut Vec<Diagnostic>) -> Result<Script, Status> {
        let instances = self.program.instances.len();
        let (noting, env, program) = (&mut self.noting, &mut self.env, &mut self.program);
        let sources = &self.sources;
        let done = stop::heeding(&self.interrupt, || reread::checked(noting, env, program, sources, parsed));
        let Ok((script, found)) = done else {
            diagnostics.push(interrupted(parsed.stmts.first().map_or(Span::default(), |stmt| stmt.span)));
            return Err(Status::Interrupted);
        };
        diagnostics.extend(found.into_iter().map(|diagnostic| self.with_library(diagnostic)));
        if self.program.instances.len() > instances {
            self.machine.forget_instances();
        }
        script.ok_or(Status::Rejected)
    }

    /// The checked form of a file, whose last expression shows no value.
    fn file(&mut self, parsed: &Parsed, diagnostics: &mut Vec<Diagnostic>) -> Result<Script, Status> {
        let script = self.script(parsed, diagnostics)?;
        let unused = check::unused_result(&parsed.stmts, &script);
        let wrong = unused.as_ref().is_some_and(Diagnostic::is_error);
        diagnostics.extend(unused);
        if wrong { Err(Status::Rejected) } else { Ok(script) }
    }

    /// Adds to a message about an unknown name the one of the library that may have been meant: the checker knows
    /// only what has been read of it.
    fn with_library(&self, diagnostic: Diagnostic) -> Diagnostic {
        if diagnostic.code != "E0401" || diagnostic.help.is_some() {
            return diagnostic;
        }
        let span = diagnostic.primary.span;
        let names = library::index().names().filter(|name| !name.starts_with('_'));
        match similar(self.sources.slice(span), names) {
            Some(name) => diagnostic.fix(format!("did you mean `{name}`?"), span, name),
            None => diagnostic,
        }
    }

    /// Runs new modules, and then the script that imports them; its value.
    fn run_all(
        &mut self,
        first: &[First],
        script: &Script,
        mode: Mode,
        out: &mut dyn FnMut(&str),
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Result<Option<Shown>, Status> {
        for First { script, import } in first {
            self.run(script, Mode::Script, out).map_err(|(status, diagnostic)| {
                diagnostics.push(diagnostic.label(*import, "imported here"));
                status
            })?;
        }
        self.run(script, mode, out).map_err(|(status, diagnostic)| {
            diagnostics.push(*diagnostic);
            status
        })
    }

    fn run(
        &mut self,
        script: &Script,
        mode: Mode,
        out: &mut dyn FnMut(&str),
    ) -> Result<Option<Shown>, (Status, Box<Diagnostic>)> {
        let interrupt = self.interrupt.clone();
        let files = self.files.clone();
        let mut host = Host {
            out,
            interrupt: &interrupt,
            memory: self.memory,
            files: files.as_deref(),
            screen: self.screen,
        };
        let done = self.machine.run(&self.program, script, &mut host).and_then(|value| {
            let Some((value, term)) = value.zip(script.result.as_ref()) else { return Ok(None) };
            if mode == Mode::Script {
                return Ok(None);
            }
            let shown = self.show(&value, &term.ty, mode, &mut host)?;
            Ok(Some((value, shown)))
        });
        match done {
            Ok(None) => Ok(None),
            Ok(Some((value, shown))) => {
                // To look at a result is no new one.
                let again = match script.result.as_ref().map(|term| &term.kind) {
                    Some(TermKind::Global(id)) => script.body.is_empty() && self.results.contains(*id),
                    _ => false,
                };
                if matches!(mode, Mode::Display(_)) && !again {
                    self.remember(value, &shown.ty);
                }
                Ok(Some(shown))
            }
            Err(error) => Err(Self::stopped(*error)),
        }
    }

    /// A value as the mode of its input wants it.
    fn show(
        &mut self,
        value: &Value,
        ty: &Type,
        mode: Mode,
        host: &mut Host<'_>,
    ) -> Result<Shown, Box<RuntimeError>> {
        let concrete = self.machine.concrete(ty);
        let (text, read_back) = match mode {
            Mode::Display(window) => {
                let view = self.machine.view(&self.program, value, &concrete, window, host)?;
                (display::lay_out(view, window), String::new())
            }
            Mode::Value => (String::new(), String::new()),
            _ => {
                (self.machine.text(&self.program, value, &concrete, host)?, eval::read_back(value, &concrete))
            }
        };
        let mut vars = Vec::new();
        variables(ty, &mut vars);
        let size = |var: &TypeVar| (var.name.to_string(), self.machine.concrete(&Type::var(var.clone())));
        let sizes = vars.iter().map(size).map(|(name, size)| (name, size.size_text())).collect();
        let value = (mode == Mode::Value).then(|| HostValue { ty: concrete, value: value.clone() });
        Ok(Shown { ty: ty.clone(), text, read_back, sizes, value })
    }

    /// The text of a value as a program prints it.
    ///
    /// # Errors
    /// The type has a `show` of its own that fails or is stopped.
    pub fn text_of(&mut self, value: &HostValue) -> Result<String, (Status, Box<Diagnostic>)> {
        self.listen();
        let saved = self.save();
        let interrupt = self.interrupt.clone();
        let mut host = Host {
            out: &mut |_| (),
            interrupt: &interrupt,
            memory: self.memory,
            files: None,
            screen: self.screen,
        };
        let text = self.machine.text(&self.program, &value.value, &value.ty, &mut host);
        self.restore(saved);
        text.map_err(|error| Self::stopped(*error))
    }

    /// How an input ended that stopped by an error, and what is said of it.
    fn stopped(error: RuntimeError) -> (Status, Box<Diagnostic>) {
        let status = if error.interrupted() { Status::Interrupted } else { Status::Failed };
        // The library's texts come first; its users are shown their own.
        let own = library::sources().iter().count();
        let error = error.seen_from_outside(|source| (source.0 as usize) < own);
        (status, Box::new(error.to_diagnostic()))
    }

    /// Reads what a text needs of the library and makes it known.
    fn load_library(&mut self, source: &Source) -> Result<(), Vec<Diagnostic>> {
        self.know(&library::mentions(source))?;
        module::qualify(&mut self.env, &self.library.env, syntax::idents(source).into_iter());
        Ok(())
    }

    /// Reads what the library has under some names and makes it known.
    fn know(&mut self, names: &[impl AsRef<str>]) -> Result<(), Vec<Diagnostic>> {
        self.load(names)?;
        let (new, _) = self.library.needed(names, &self.adopted);
        if !new.is_empty() {
            library::adopt(&self.library.env, &mut self.env, &new);
            self.adopted.extend(new);
        }
        Ok(())
    }

    /// Adds functions to the library of this session, as a later one may have them; for tests of what that
    /// changes.
    pub fn extend_library(&mut self, text: &str) -> Result<(), Vec<Diagnostic>> {
        let source = self.sources.add("library", text);
        let parsed = syntax::parse(&source);
        let mut errors = parsed.errors;
        self.library.env.number_after(&self.env);
        let (script, found) = check::check(&mut self.library.env, &mut self.program, &parsed.stmts);
        errors.extend(found.into_iter().filter(Diagnostic::is_error));
        if script.is_none() || !errors.is_empty() {
            return Err(errors);
        }
        self.env.number_after(&self.library.env);
        let signatures = self.library.env.signatures.iter();
        self.env.signatures.extend(signatures.map(|(id, signature)| (*id, signature.clone())));
        library::adopt_names(
            &self.library.env,
            &mut self.env,
            Self::names_defined_in(text).iter().map(String::as_str),
        );
        Ok(())
    }

    /// Reads the whole library; for tests of it.
    pub fn load_whole_library(&mut self) -> Result<(), Vec<Diagnostic>> {
        let names: Vec<&str> = library::index().names().chain(library::NARROW).collect();
        self.know(&names)
    }

    /// Reads what the library has under some names, if it has not been read.
    fn load(&mut self, names: &[impl AsRef<str>]) -> Result<(), Vec<Diagnostic>> {
        let (missing, narrow) = self.library.needed(names, &self.library.loaded);
        self.library.narrow = narrow;
        if missing.is_empty() {
            return Ok(());
        }
        let read = library::read(&missing);
        let (stmts, mut errors) = (read.stmts, read.errors);
        let saved = (self.save(), self.library.clone());
        self.library.env.number_after(&self.env);
        let (script, found) = check::check(&mut self.library.env, &mut self.program, &stmts);
        errors.extend(found.into_iter().filter(Diagnostic::is_error));
        if let Some(script) = script.filter(|_| errors.is_empty()) {
            // The library's own variables are made at once: an interrupt is for the user's input.
            let mut host = Host {
                out: &mut |_| (),
                interrupt: &AtomicBool::new(false),
                memory: self.memory,
                files: None,
                screen: Screen::default(),
            };
            match self.machine.run(&self.program, &script, &mut host) {
                Ok(_) => {
                    self.library.loaded.extend(&missing);
                    self.env.number_after(&self.library.env);
                    return Ok(());
                }
                Err(error) => errors.push(error.to_diagnostic()),
            }
        }
        self.library = saved.1;
        self.restore(saved.0);
        Err(errors)
    }

    /// Does `work` and puts everything back.
    fn undone<T>(
        &mut self,
        span: Span,
        work: impl FnOnce(&mut Session) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, Vec<Diagnostic>> {
        let saved = self.save();
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        self.restore(saved);
        done.unwrap_or_else(|_| Err(vec![internal_error(span)]))
    }

    fn save(&mut self) -> Saved {
        Saved {
            env: self.env.clone(),
            modules: self.modules.clone(),
            program: self.program.extent(),
            checkpoint: self.machine.checkpoint(&self.program),
        }
    }

    fn restore(&mut self, saved: Saved) {
        // A type that is taken back keeps its number: what is known of it must not be taken for another's.
        let after = std::mem::replace(&mut self.env, saved.env);
        self.env.number_after(&after);
        self.modules = saved.modules;
        let instances = self.program.instances.len();
        self.program.truncate(&saved.program);
        if self.program.instances.len() < instances {
            self.machine.forget_instances();
        }
        self.machine.restore(&saved.checkpoint);
    }
}

/// Whether an input that succeeded changes the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Keep {
    Changes,
    Nothing,
}

/// A session as it was. The program only grows, so its extent says it all.
struct Saved {
    env: Env,
    modules: Loaded,
    program: crate::core::program::Extent,
    checkpoint: Checkpoint,
}

/// Whether a script only computes a value that holds no function: what it mentions can be forgotten.
fn computes(script: &Script) -> bool {
    fn holds_function(ty: &Type) -> bool {
        let mut found = matches!(
            ty.kind(),
            TypeKind::Function(..) | TypeKind::Procedure(_) | TypeKind::Nominal(..) | TypeKind::Var(_)
        );
        ty.kind().for_each_child(&mut |child| found = found || holds_function(child));
        found
    }
    script.body.is_empty() && script.result.as_ref().is_some_and(|term| !holds_function(&term.ty))
}

/// The variables of a type, each once.
fn variables(ty: &Type, found: &mut Vec<TypeVar>) {
    if let TypeKind::Var(var) = ty.kind()
        && !found.iter().any(|known| known.id == var.id)
    {
        found.push(var.clone());
    }
    ty.kind().for_each_child(&mut |child| variables(child, found));
}

/// A text that is only looked at.
fn detached(text: &str) -> Arc<Source> {
    SourceMap::new().add("", text)
}

/// What is said of a text whose check was stopped: as of a program that is stopped while it runs.
fn interrupted(span: Span) -> Diagnostic {
    Diagnostic::error("E0511", span, "interrupted", "stopped here")
}

fn internal_error(span: Span) -> Diagnostic {
    Diagnostic::error("E0999", span, "Felis itself has failed", "while it worked on this")
        .note("this is a mistake in Felis, not in your program; nothing has changed")
        .help("please report it together with the program")
}

/// The stack that programs run on: calls end by their number (E0508), not by the stack, in all executors. Only pages that
/// are touched take memory.
const STACK: usize = 1 << 30;

/// Does `work` on a stack that holds the deepest programs; gives it back where the system has no room for one.
///
/// # Errors
/// There is no such stack, nor a sixteenth of it. The work has not begun.
pub fn try_on_large_stack<T, W: FnOnce() -> T>(work: W) -> Result<T, W> {
    let mut work = Some(work);
    for size in [STACK, STACK / 2, STACK / 16] {
        let slot = &mut work;
        // Where the system gives no such stack, it may give a smaller one.
        if let Ok(Some(done)) = stack::with_stack(size, move || slot.take().map(|work| work())) {
            return Ok(done);
        }
    }
    match work.take() {
        Some(work) => Err(work),
        None => unreachable!("work that was done has returned"),
    }
}

/// Does `work` on a stack that holds the deepest programs, or on the present one if the system has no room for one.
pub fn on_large_stack<T>(work: impl FnOnce() -> T) -> T {
    try_on_large_stack(work).unwrap_or_else(|work| work())
}
