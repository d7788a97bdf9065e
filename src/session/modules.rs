//! Modules of a session: found and read through a [`Loader`], checked among their own names, run
//! once.
//!
//! Takes the imports of a text; gives the modules behind them. The session itself reads no file.
//!
//! One input goes through three steps, so that nothing runs unless everything is right:
//!
//! 1. [`Session::read_imports`] follows the imports, depth first, to texts that have not been read,
//!    and parses them; cyclic imports are rejected. Afterward each text comes after those that it
//!    imports (a topological order).
//! 2. [`Session::check_modules`] checks these texts in that order, each in an `Env` of its own, and
//!    then makes the imports of the input known. All share one program; the numbers of type
//!    variables and declared types continue from one `Env` to the next.
//! 3. The checked scripts run in the same order, before the input's own.
//!
//! A module is identified by the id that the loader gives, so that a second import gets the same
//! module. If the input fails at any step, all modules that it has read are discarded.

use super::library::load::initial_env;
use super::library_modules::LibraryImports;
use super::{Session, library};
use felis_base::cancellation;
use felis_base::diagnostic::Diagnostic;
use felis_base::hash::HashMap;
use felis_base::source::{Source, Span};
use felis_base::suggest::similar;
use felis_calculus::core::Script;
use felis_check::check::Env;
use felis_check::check::error::{CheckError, ModuleError};
use felis_check::check::module::{self, Module};
use felis_syntax::syntax::ast::{Import, ImportTarget, Name, Stmt, StmtKind};
use felis_syntax::syntax::{self, Parsed};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The source of the texts of modules, which a frontend gives.
pub trait Loader: Send {
    /// Resolves a path in a module, or in a text of the frontend.
    fn find(&self, from: Option<&ModuleLocation>, path: &str) -> Result<ModuleLocation, NotFound>;
    /// The text there, or why there is none, in the words that follow "cannot be imported: ".
    fn read(&self, place: &ModuleLocation) -> Result<String, String>;
}

/// The location of a module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ModuleLocation {
    /// The id of the module, the same however its path was written.
    pub id: String,
    /// The name of the text in messages.
    pub name: String,
}

/// A path that leads to no text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotFound {
    /// There is nothing.
    Absent {
        /// The path at which it was looked for.
        looked: String,
        /// Paths of the programs beside it, as an import would write them.
        beside: Vec<String>,
    },
    /// There is something, but no text; in the words that follow "cannot be imported: ".
    Unusable(String),
}

/// Modules that a session has, by their ids.
pub(super) type LoadedModules = HashMap<String, Arc<Module>>;

/// The deepest chain of imports.
const MAX_IMPORT_DEPTH: usize = 100;
/// The most modules of a session.
const MAX_MODULES: usize = 1_000;

/// The most bytes of all modules that one input reads, together.
const MAX_MODULE_BYTES: usize = 256 << 20;

/// The module of an import.
enum ImportedModule {
    /// A module that has been checked.
    Known(Arc<Module>),
    /// A text that will be: its number.
    New(usize),
    /// A module of the library: its id.
    Library(String),
}

/// The imports of a text; those that lead nowhere have been reported.
type ImportTargets = Vec<(Import, ImportedModule)>;

/// A text that has been read and not been checked.
struct UncheckedModule {
    place: ModuleLocation,
    source: Arc<Source>,
    parsed: Parsed,
    targets: ImportTargets,
    /// The import that has led here.
    import: Span,
    /// True if it, or a module that it imports, has an error, which was reported.
    broken: bool,
}

/// The script of a module, which runs before the input that has led to it.
pub(super) struct ModuleScript {
    pub script: Script,
    pub import: Span,
}

/// The modules that were read for the imports of an input and are not checked yet.
#[derive(Default)]
pub(super) struct PendingModules {
    fresh: Vec<UncheckedModule>,
    targets: ImportTargets,
    by_id: HashMap<String, usize>,
    /// The modules of the library among what is imported.
    library: LibraryImports,
    /// True if the input, or one before it, declares parties.
    parties: bool,
    /// The length of all texts.
    bytes: usize,
    /// The modules on the way to the present text.
    way: Vec<ModuleLocation>,
    diagnostics: Vec<Diagnostic>,
}

impl Session {
    /// Sets the loader of imported files; without one no file can be imported.
    pub fn set_loader(&mut self, loader: Box<dyn Loader>) {
        self.loader = Some(loader);
    }

    /// Reads what the imports of an input, which mentions these names, lead to.
    pub(super) fn read_imports(
        &mut self,
        stmts: &[Stmt],
        names: &[&str],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> PendingModules {
        let declares = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Party { .. });
        let parties = self.program.party.is_some() || stmts.iter().any(declares);
        let mut reading = PendingModules { parties, ..PendingModules::default() };
        let (targets, _) = self.follow_imports(stmts, names, &mut reading);
        reading.targets = targets;
        reading.library.find_statements();
        diagnostics.append(&mut reading.diagnostics);
        reading
    }

    /// The modules that a text, which mentions these names, imports, and whether all of them are
    /// there.
    fn follow_imports(
        &mut self,
        stmts: &[Stmt],
        names: &[&str],
        reading: &mut PendingModules,
    ) -> (ImportTargets, bool) {
        let (mut targets, mut whole) = (Vec::new(), true);
        for stmt in stmts {
            let StmtKind::Import(import) = &stmt.kind else { continue };
            let found = match &import.target {
                ImportTarget::Library(name) => match library::part(&name.text) {
                    Some(part) => Ok(Some(ImportedModule::Known(part))),
                    None => self.library_module(name, reading).map(|id| {
                        reading.library.require_by_import(import, &id, names);
                        Some(ImportedModule::Library(id))
                    }),
                },
                ImportTarget::File { path, span } => self.read_module(path, *span, reading),
            };
            match found {
                Ok(Some(target)) => targets.push((import.clone(), target)),
                Ok(None) => whole = false,
                Err(error) => {
                    if let Some(collector) = &mut self.collector {
                        collector.record_unresolved_import();
                    }
                    reading.diagnostics.push(CheckError::from(*error).to_diagnostic());
                    whole = false;
                }
            }
        }
        (targets, whole)
    }

    /// The id of the module of the library that an import names. A file of the user is never meant:
    /// its path stands in quotes.
    fn library_module(
        &mut self,
        name: &Name,
        reading: &mut PendingModules,
    ) -> Result<String, Box<ModuleError>> {
        if library::modules::text(&name.text).is_some() {
            return Ok(self.enter_library_module(&name.text, name.span, &mut reading.library));
        }
        let known = || library::parts().chain(library::modules::names());
        let (span, name) = (name.span, name.text.to_string());
        let similar = similar(&name, known());
        let modules = library::modules::names().map(str::to_string).collect();
        let parts = library::parts().map(str::to_string).collect();
        Err(Box::new(ModuleError::UnknownPart { span, name, similar, modules, parts }))
    }

    /// The module at a path, seen from the text being read; `None` if it is broken, which has been
    /// said.
    fn read_module(
        &mut self,
        path: &str,
        span: Span,
        reading: &mut PendingModules,
    ) -> Result<Option<ImportedModule>, Box<ModuleError>> {
        let unreadable =
            |why: String| Box::new(ModuleError::Unreadable { span, path: path.to_string(), why });
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
                Box::new(ModuleError::NoFile { span, path: path.to_string(), looked, similar })
            }
        })?;
        if let Some(known) = self.module_at(&place, span, reading)? {
            return Ok(known);
        }
        let text = match &self.loader {
            Some(loader) => loader.read(&place).map_err(unreadable)?,
            None => return Err(unreadable("there are no files here".to_string())),
        };
        reading.bytes += text.len();
        if reading.bytes > MAX_MODULE_BYTES {
            return Err(unreadable(format!(
                "all modules together are larger than {} MiB",
                MAX_MODULE_BYTES >> 20
            )));
        }
        Ok(self.read_text(place, text, span, reading))
    }

    /// The module at a place if it has been read; `Some(None)` if it is broken, which has been
    /// said. An error if it cannot be read here.
    fn module_at(
        &self,
        place: &ModuleLocation,
        span: Span,
        reading: &PendingModules,
    ) -> Result<Option<Option<ImportedModule>>, Box<ModuleError>> {
        if let Some(module) = self.modules.get(&place.id) {
            return Ok(Some(Some(ImportedModule::Known(module.clone()))));
        }
        if let Some(&at) = reading.by_id.get(&place.id) {
            let broken = reading.fresh[at].broken;
            return Ok(Some((!broken).then_some(ImportedModule::New(at))));
        }
        if let Some(at) = reading.way.iter().position(|open| open.id == place.id) {
            let mut chain: Vec<String> = reading.way[at..].iter().map(|p| p.name.clone()).collect();
            chain.push(place.name.clone());
            return Err(Box::new(ModuleError::Cycle { span, chain }));
        }
        if reading.way.len() >= MAX_IMPORT_DEPTH {
            return Err(Box::new(ModuleError::TooMany { span, limit: MAX_IMPORT_DEPTH, deep: true }));
        }
        if self.modules.len() + reading.fresh.len() + reading.way.len() >= MAX_MODULES {
            return Err(Box::new(ModuleError::TooMany { span, limit: MAX_MODULES, deep: false }));
        }
        Ok(None)
    }

    /// Parses the text of a module and reads what it imports; `None` if it is broken, which has
    /// been said.
    fn read_text(
        &mut self,
        place: ModuleLocation,
        text: String,
        span: Span,
        reading: &mut PendingModules,
    ) -> Option<ImportedModule> {
        let source = self.sources.add(place.name.clone(), text);
        let mut parsed = syntax::parse(&source);
        let mut broken = parsed.errors.iter().any(Diagnostic::is_error);
        reading.diagnostics.extend(label_with_import(std::mem::take(&mut parsed.errors), span));
        reading.way.push(place.clone());
        let (targets, whole) = self.follow_imports(&parsed.stmts, &syntax::mentioned_names(&source), reading);
        reading.way.pop();
        broken |= !whole;
        let at = reading.fresh.len();
        reading.by_id.insert(place.id.clone(), at);
        reading.fresh.push(UncheckedModule { place, source, parsed, targets, import: span, broken });
        (!broken).then_some(ImportedModule::New(at))
    }

    /// Loads what the new modules need of the library, and makes known what can be done with the
    /// types that they export values of.
    pub(super) fn load_mentioned_by_modules(
        &mut self,
        reading: &PendingModules,
    ) -> Result<(), Vec<Diagnostic>> {
        for fresh in &reading.fresh {
            self.load_statements(&library::mentioned_names(&fresh.source))?;
            let chunks = syntax::chunks(&fresh.source);
            let types: Vec<String> = library::exported_types(chunks.iter()).into_iter().collect();
            self.load_and_adopt(&types)?;
        }
        self.load_mentioned_by_library_modules(&reading.library)
    }

    /// Checks the new modules and makes the imports of the input, which mentions these names,
    /// known; gives what is to run first.
    pub(super) fn check_modules(
        &mut self,
        reading: PendingModules,
        names: &[&str],
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Vec<ModuleScript> {
        let (mut scripts, mut modules) = (Vec::new(), Vec::new());
        let instances = self.program.instances.len();
        self.check_library_modules(reading.library, &mut scripts, diagnostics);
        for fresh in reading.fresh {
            modules.push(self.check_module(fresh, reading.parties, &modules, &mut scripts, diagnostics));
        }
        if self.program.instances.len() > instances {
            self.clear_instances();
        }
        let (imports, whole) = self.checked_modules(reading.targets, &modules);
        if let Some(collector) = &mut self.collector {
            collector.record_imports(&imports);
        }
        // For an index, the imports that are right are made known in any case.
        if whole || self.collector.is_some() {
            let library = &self.library.env;
            let said = module::add_imports(&mut self.env, &mut self.program, &imports, library);
            diagnostics.extend(said);
            module::define_qualified_names(&mut self.env, library, names.iter().copied());
        }
        scripts
    }

    /// Checks one module among its own names; adds its script. `None` if it is broken.
    fn check_module(
        &mut self,
        fresh: UncheckedModule,
        with_parties: bool,
        modules: &[Option<Arc<Module>>],
        scripts: &mut Vec<ModuleScript>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Arc<Module>> {
        if let Some(collector) = &mut self.collector {
            collector.record_module(fresh.source.id, &fresh.place.id);
        }
        let (imports, whole) = self.checked_modules(fresh.targets, modules);
        if let Some(collector) = &mut self.collector {
            collector.record_imports(&imports);
        }
        if !whole || fresh.broken {
            return None;
        }
        let mut env = initial_env(false);
        env.number_after(&self.env);
        let names = syntax::mentioned_names(&fresh.source);
        let (mentioned, _) =
            self.library.required_statements(&library::mentioned_names(&fresh.source), &BTreeSet::new());
        library::adopt_statements(&self.library.env, &mut env, &mentioned);
        let mut said = module::add_imports(&mut env, &mut self.program, &imports, &self.library.env);
        module::define_qualified_names(&mut env, &self.library.env, names.into_iter());
        let wrong = said.iter().any(Diagnostic::is_error);
        let (script, found) = if wrong {
            (None, Vec::new())
        } else {
            let (collector, program, parsed) = (&mut self.collector, &mut self.program, &fresh.parsed);
            let sources = &self.sources;
            // An interrupt stops the importers, too.
            let checked =
                || super::edition_check::check_both_readings(collector, &mut env, program, sources, parsed);
            cancellation::with_cancellation(&self.interrupt, checked).unwrap_or_default()
        };
        said.extend(found);
        let parties = fresh.parsed.stmts.iter().find_map(felis_check::check::party_in_module);
        let files = script.as_ref().filter(|_| with_parties);
        let files =
            files.map_or_else(Vec::new, |script| felis_check::check::files_of_module(&self.program, script));
        let script = script.filter(|_| parties.is_none() && files.is_empty());
        said.extend(files);
        said.extend(parties);
        let unused =
            script.as_ref().and_then(|script| felis_check::check::unused_result(&fresh.parsed.stmts, script));
        let script = script.filter(|_| !unused.as_ref().is_some_and(Diagnostic::is_error));
        said.extend(unused);
        diagnostics.extend(label_with_import(said, fresh.import));
        self.env.number_after(&env);
        scripts.push(ModuleScript { script: script?, import: fresh.import });
        let module = Arc::new(Module::file(&fresh.source, env));
        self.modules.insert(fresh.place.id, module.clone());
        Some(module)
    }

    /// Imports with their modules, and whether all of these are there.
    fn checked_modules(
        &self,
        targets: ImportTargets,
        modules: &[Option<Arc<Module>>],
    ) -> (Vec<(Import, Arc<Module>)>, bool) {
        let all = targets.len();
        let found = targets.into_iter().filter_map(|(import, target)| match target {
            ImportedModule::Known(module) => Some((import, module)),
            ImportedModule::New(at) => Some((import, modules.get(at).cloned().flatten()?)),
            ImportedModule::Library(id) => Some((import, self.modules.get(&id)?.clone())),
        });
        let found: Vec<(Import, Arc<Module>)> = found.collect();
        let whole = found.len() == all;
        (found, whole)
    }

    /// The names that imported modules show, as they are written.
    pub(super) fn qualified_names(env: &Env) -> impl Iterator<Item = String> {
        env.modules.iter().flat_map(|(name, module)| module.names().map(move |own| format!("{name}::{own}")))
    }
}

/// Returns the diagnostics of a module, the first error with a label at the import that has led
/// there.
fn label_with_import(said: Vec<Diagnostic>, import: Span) -> impl Iterator<Item = Diagnostic> {
    let mut first = true;
    said.into_iter().map(move |diagnostic| {
        if diagnostic.is_error() && std::mem::take(&mut first) {
            diagnostic.label(import, "imported here")
        } else {
            diagnostic
        }
    })
}
