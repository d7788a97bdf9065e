//! Modules of a session: found and read through a [`Loader`], checked among their own names, run once.
//!
//! Takes the imports of a text; gives the modules behind them. The session itself reads no file.
//!
//! One input goes through three steps, so that nothing runs unless everything is right:
//!
//! 1. [`Session::read`] follows the imports, depth first, to texts that have not been read, and parses
//!    them; what imports itself is refused. Afterward each text comes after those it imports.
//! 2. [`Session::enter`] checks these texts in that order, each in an `Env` of its own, and then makes
//!    the imports of the input known. All share one program; numbers of type variables and declared
//!    types go on from one `Env` to the next.
//! 3. The checked scripts run in the same order, before the input's own.
//!
//! A module is known by the id that the loader gives: who imports it second gets the same one. If the
//! input fails at any step, all modules that it has read are forgotten with it.

use super::{Session, library};
use crate::cancellation;
use crate::check::Env;
use crate::check::error::{CheckError, ModuleError};
use crate::check::module::{self, Module};
use crate::core::Script;
use crate::diagnostic::Diagnostic;
use crate::hash::HashMap;
use crate::source::{Source, Span};
use crate::suggest::similar;
use crate::syntax::ast::{Import, ImportTarget, Stmt, StmtKind};
use crate::syntax::{self, Parsed};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Where the texts of modules come from; a frontend gives one.
pub trait Loader: Send {
    /// Where a path leads, seen from a module, or from the texts that the frontend gives itself.
    fn find(&self, from: Option<&Place>, path: &str) -> Result<Place, NotFound>;
    /// The text there, or why there is none, in the words that follow "cannot be imported: ".
    fn read(&self, place: &Place) -> Result<String, String>;
}

/// Where a module is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// What tells it from all others, however its path was written.
    pub id: String,
    /// What messages call it.
    pub name: String,
}

/// A path that leads to no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// There is nothing.
    Absent {
        /// Where it was looked for.
        looked: String,
        /// Paths that could have been meant, as they would be written instead.
        beside: Vec<String>,
    },
    /// There is something, but no text; in the words that follow "cannot be imported: ".
    Unusable(String),
}

/// Modules that a session has, by their ids.
pub(super) type Loaded = HashMap<String, Arc<Module>>;

/// How deep imports may go.
const MAX_DEPTH: usize = 100;
/// How many modules a session may have.
const MOST: usize = 1_000;

/// How many bytes the modules that one input reads may have, together.
const LARGEST: usize = 256 << 20;

/// What stands behind an import.
enum Target {
    /// A module that has been checked.
    Known(Arc<Module>),
    /// A text that will be: its number.
    New(usize),
}

/// The imports of a text; those that lead nowhere have been reported.
type Targets = Vec<(Import, Target)>;

/// A text that has been read and not been checked.
struct Fresh {
    place: Place,
    source: Arc<Source>,
    parsed: Parsed,
    targets: Targets,
    /// The import that has led here.
    import: Span,
    /// Something is wrong with it, or with what it imports, and has been said.
    broken: bool,
}

/// The script of a module, which runs before the input that has led to it.
pub(super) struct First {
    pub script: Script,
    pub import: Span,
}

/// What the imports of an input have led to.
#[derive(Default)]
pub(super) struct Reading {
    fresh: Vec<Fresh>,
    targets: Targets,
    by_id: HashMap<String, usize>,
    /// The length of all texts.
    bytes: usize,
    /// The modules on the way to the present text.
    way: Vec<Place>,
    diagnostics: Vec<Diagnostic>,
}

impl Session {
    /// Says where imported files come from; without a loader there are none.
    pub fn set_loader(&mut self, loader: Box<dyn Loader>) {
        self.loader = Some(loader);
    }

    /// Reads what the imports of an input lead to.
    pub(super) fn read(&mut self, stmts: &[Stmt], diagnostics: &mut Vec<Diagnostic>) -> Reading {
        let mut reading = Reading::default();
        let (targets, _) = self.follow(stmts, &mut reading);
        reading.targets = targets;
        diagnostics.append(&mut reading.diagnostics);
        reading
    }

    /// The modules that a text imports, and whether all of them are there.
    fn follow(&mut self, stmts: &[Stmt], reading: &mut Reading) -> (Targets, bool) {
        let (mut targets, mut whole) = (Vec::new(), true);
        for stmt in stmts {
            let StmtKind::Import(import) = &stmt.kind else { continue };
            let found = match &import.target {
                ImportTarget::Library(name) => match library::part(&name.text) {
                    Some(part) => Ok(Some(Target::Known(part))),
                    None => {
                        let parts: Vec<String> = library::parts().map(str::to_string).collect();
                        let similar = similar(&name.text, library::parts());
                        let (span, name) = (name.span, name.text.to_string());
                        Err(ModuleError::UnknownPart { span, name, similar, parts })
                    }
                },
                ImportTarget::File { path, span } => self.follow_path(path, *span, reading),
            };
            match found {
                Ok(Some(target)) => targets.push((import.clone(), target)),
                Ok(None) => whole = false,
                Err(error) => {
                    reading.diagnostics.push(CheckError::from(error).to_diagnostic());
                    whole = false;
                }
            }
        }
        (targets, whole)
    }

    /// The module at a path, seen from the text being read; `None` if it is broken, which has been said.
    fn follow_path(
        &mut self,
        path: &str,
        span: Span,
        reading: &mut Reading,
    ) -> Result<Option<Target>, ModuleError> {
        let unreadable = |why: String| ModuleError::Unreadable { span, path: path.to_string(), why };
        let Some(loader) = &self.loader else {
            return Err(unreadable("there are no files here".to_string()));
        };
        let place = loader.find(reading.way.last(), path).map_err(|missing| match missing {
            NotFound::Unusable(why) => unreadable(why),
            NotFound::Absent { looked, beside } => {
                // What is most often missing is the ending.
                let full = format!("{path}.flx");
                let similar = match beside.contains(&full) {
                    true => Some(full),
                    false => similar(path, beside.iter().map(String::as_str)),
                };
                ModuleError::NoFile { span, path: path.to_string(), looked, similar }
            }
        })?;
        if let Some(module) = self.modules.get(&place.id) {
            return Ok(Some(Target::Known(module.clone())));
        }
        if let Some(&at) = reading.by_id.get(&place.id) {
            return Ok(if reading.fresh[at].broken { None } else { Some(Target::New(at)) });
        }
        if let Some(at) = reading.way.iter().position(|open| open.id == place.id) {
            let mut chain: Vec<String> = reading.way[at..].iter().map(|p| p.name.clone()).collect();
            chain.push(place.name);
            return Err(ModuleError::Cycle { span, chain });
        }
        if reading.way.len() >= MAX_DEPTH {
            return Err(ModuleError::TooMany { span, limit: MAX_DEPTH, deep: true });
        }
        if self.modules.len() + reading.fresh.len() + reading.way.len() >= MOST {
            return Err(ModuleError::TooMany { span, limit: MOST, deep: false });
        }
        let text = loader.read(&place).map_err(unreadable)?;
        reading.bytes += text.len();
        if reading.bytes > LARGEST {
            return Err(unreadable(format!("all modules together are larger than {} MiB", LARGEST >> 20)));
        }
        let source = self.sources.add(place.name.clone(), text);
        let mut parsed = syntax::parse(&source);
        let mut broken = parsed.errors.iter().any(Diagnostic::is_error);
        reading.diagnostics.extend(said_at(std::mem::take(&mut parsed.errors), span));
        reading.way.push(place.clone());
        let (targets, whole) = self.follow(&parsed.stmts, reading);
        reading.way.pop();
        broken |= !whole;
        let at = reading.fresh.len();
        reading.by_id.insert(place.id.clone(), at);
        reading.fresh.push(Fresh { place, source, parsed, targets, import: span, broken });
        Ok(if broken { None } else { Some(Target::New(at)) })
    }

    /// Loads what the new modules need of the library.
    pub(super) fn load_for(&mut self, reading: &Reading) -> Result<(), Vec<Diagnostic>> {
        for fresh in &reading.fresh {
            self.load(&library::mentions(&fresh.source))?;
        }
        Ok(())
    }

    /// Checks the new modules and makes the imports of the input known; gives what is to run first.
    pub(super) fn enter(
        &mut self,
        reading: Reading,
        source: &Source,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<First> {
        let (mut scripts, mut modules) = (Vec::new(), Vec::new());
        let instances = self.program.instances.len();
        for fresh in reading.fresh {
            modules.push(self.enter_module(fresh, &modules, &mut scripts, diagnostics));
        }
        if self.program.instances.len() > instances {
            self.machine.forget_instances();
        }
        let (imports, whole) = resolved(reading.targets, &modules);
        self.note_imports(&imports);
        // Who is asked what a text says goes on with the imports that are right.
        if whole || self.noting.is_some() {
            let library = &self.library.env;
            let said = module::open(&mut self.env, &mut self.program, &imports, library);
            diagnostics.extend(said);
            module::qualify(&mut self.env, library, syntax::mentioned_names(source).into_iter());
        }
        scripts
    }

    fn enter_module(
        &mut self,
        fresh: Fresh,
        modules: &[Option<Arc<Module>>],
        scripts: &mut Vec<First>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Arc<Module>> {
        if let Some(noting) = &mut self.noting {
            noting.module(fresh.source.id, &fresh.place.id);
        }
        let (imports, whole) = resolved(fresh.targets, modules);
        self.note_imports(&imports);
        if !whole || fresh.broken {
            return None;
        }
        let mut env = super::own_env();
        env.number_after(&self.env);
        let names = syntax::mentioned_names(&fresh.source);
        let (mentioned, _) = self.library.needed(&library::mentions(&fresh.source), &BTreeSet::new());
        library::adopt(&self.library.env, &mut env, &mentioned);
        let mut said = module::open(&mut env, &mut self.program, &imports, &self.library.env);
        module::qualify(&mut env, &self.library.env, names.into_iter());
        let wrong = said.iter().any(Diagnostic::is_error);
        let (script, found) = if wrong {
            (None, Vec::new())
        } else {
            let (noting, program, parsed) = (&mut self.noting, &mut self.program, &fresh.parsed);
            let sources = &self.sources;
            // Whoever asked for it to stop stops what imports it, too.
            let checked = || super::edition_check::checked(noting, &mut env, program, sources, parsed);
            cancellation::with_cancellation(&self.interrupt, checked).unwrap_or_default()
        };
        said.extend(found);
        let unused =
            script.as_ref().and_then(|script| crate::check::unused_result(&fresh.parsed.stmts, script));
        let script = script.filter(|_| !unused.as_ref().is_some_and(Diagnostic::is_error));
        said.extend(unused);
        diagnostics.extend(said_at(said, fresh.import));
        self.env.number_after(&env);
        scripts.push(First { script: script?, import: fresh.import });
        let module = Arc::new(Module::file(&fresh.source, env));
        self.modules.insert(fresh.place.id, module.clone());
        Some(module)
    }

    fn note_imports(&mut self, imports: &[(Import, Arc<Module>)]) {
        if let Some(noting) = &mut self.noting {
            imports.iter().for_each(|(import, module)| noting.import(import.target.span(), module.source));
        }
    }

    /// The names that imported modules show, as they are written.
    pub(super) fn qualified_names(env: &Env) -> impl Iterator<Item = String> {
        env.modules.iter().flat_map(|(name, module)| module.names().map(move |own| format!("{name}::{own}")))
    }
}

/// What is said about a module, the first error with the import that has led there.
fn said_at(said: Vec<Diagnostic>, import: Span) -> impl Iterator<Item = Diagnostic> {
    let mut first = true;
    said.into_iter().map(move |diagnostic| {
        if diagnostic.is_error() && std::mem::take(&mut first) {
            diagnostic.label(import, "imported here")
        } else {
            diagnostic
        }
    })
}

/// Imports with their modules, and whether all of these are there.
fn resolved(targets: Targets, modules: &[Option<Arc<Module>>]) -> (Vec<(Import, Arc<Module>)>, bool) {
    let all = targets.len();
    let found: Vec<(Import, Arc<Module>)> = targets
        .into_iter()
        .filter_map(|(import, target)| match target {
            Target::Known(module) => Some((import, module)),
            Target::New(at) => Some((import, modules.get(at).cloned().flatten()?)),
        })
        .collect();
    let whole = found.len() == all;
    (found, whole)
}
