//! Modules of the library in a session: a statement of a module is checked when a text first needs
//! one of its names.
//!
//! Takes the names that importers mention; gives the modules with the definitions of these. A
//! module is cut into statements by lexing when a text first imports it; which statements a name
//! requires says [`Module::statements_for`]. Since each statement is checked among the names of the
//! module alone, it means the same whenever it is checked.
//!
//! Nothing here reports an error of a user: a module of the library has none.

use super::library::load::initial_env;
use super::modules::ModuleScript;
use super::{Session, edition_check, library};
use felis_base::diagnostic::Diagnostic;
use felis_base::source::{Source, Span};
use felis_check::check::env::{Definition, Scope};
use felis_check::check::module::{self, Module};
use felis_syntax::syntax;
use felis_syntax::syntax::ast::{Import, ImportNames, ImportTarget, StmtKind};
use std::collections::BTreeSet;
use std::sync::Arc;

/// A module of the library that texts import, with what they need of it.
struct ImportedLibraryModule {
    id: String,
    module: Arc<Module>,
    source: Arc<Source>,
    /// Its imports, with the ids of their modules.
    imports: Vec<(Import, String)>,
    /// The import that has led here.
    import: Span,
    /// The names that are needed; `None` for all.
    names: Option<BTreeSet<String>>,
    /// The statements that these require and that have not been checked.
    statements: BTreeSet<usize>,
}

/// The modules of the library that the imports of an input lead to. Each comes after those that it
/// imports.
#[derive(Default)]
pub(super) struct LibraryImports(Vec<ImportedLibraryModule>);

/// Returns the id of a module of the library.
pub(super) fn id_of(name: &str) -> String {
    format!("{}{name}", library::modules::ID_PREFIX)
}

impl Session {
    /// Reads what a text needs of the library and makes it known.
    pub(super) fn load_mentioned(&mut self, source: &Source) -> Result<(), Vec<Diagnostic>> {
        let mut names = library::mentioned_names(source);
        names.retain(|name| !self.is_own_variable(name));
        self.load_and_adopt(&names)?;
        self.load_of_imported_modules(&syntax::mentioned_names(source))
    }

    /// Returns true for the name of a variable of the session alone, of which the library has no type.
    fn is_own_variable(&self, name: &str) -> bool {
        matches!(self.env.values.get(name), Some(Definition::Global { scope: Scope::Module, .. }))
            && !library::is_type(name)
    }

    /// Reads what names need of the library, which stand in a text as they are given here, and
    /// makes it known.
    pub(super) fn load_names(&mut self, names: &[String]) -> Result<(), Vec<Diagnostic>> {
        let last = |name: &String| name.rsplit("::").next().expect("a name has a last part").to_string();
        self.load_and_adopt(&names.iter().map(last).collect::<Vec<_>>())?;
        self.load_of_imported_modules(&names.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// Enters a module of the library, which exists, and those that it imports; returns its id.
    pub(super) fn enter_library_module(
        &mut self,
        name: &str,
        import: Span,
        into: &mut LibraryImports,
    ) -> String {
        let id = id_of(name);
        if into.0.iter().any(|entered| entered.id == id) {
            return id;
        }
        let module = self.modules.get(&id).cloned().unwrap_or_else(|| {
            let (file, text) = library::modules::text(name).expect("the module exists");
            let source = self.sources.add(file, text);
            Arc::new(Module::unchecked(&source, initial_env(true)))
        });
        let source = self.sources.get(module.source).expect("the text of a module stays").clone();
        let ranges = module.statements().iter().filter(|chunk| is_import(&source, chunk));
        let parsed = syntax::parse_ranges(&source, ranges.map(|chunk| chunk.span.range()));
        let mut imports = Vec::new();
        for stmt in parsed.stmts {
            let StmtKind::Import(import_of_module) = stmt.kind else { continue };
            let ImportTarget::Library(target) = &import_of_module.target else {
                panic!("a module of the library imports a file");
            };
            let target = self.enter_library_module(&target.text, import, into);
            imports.push((import_of_module, target));
        }
        let names = Some(BTreeSet::new());
        let statements = BTreeSet::new();
        into.0.push(ImportedLibraryModule {
            id: id.clone(),
            module,
            source,
            imports,
            import,
            names,
            statements,
        });
        id
    }

    /// Loads what the statements need of the prelude that are to be checked, and makes known what
    /// can be done with the types that they export values of.
    pub(super) fn load_mentioned_by_library_modules(
        &mut self,
        imports: &LibraryImports,
    ) -> Result<(), Vec<Diagnostic>> {
        for entered in &imports.0 {
            let chunks = || entered.statements.iter().map(|&at| &entered.module.statements()[at]);
            let names: Vec<&str> = chunks().flat_map(|chunk| &chunk.mentions).map(|name| &**name).collect();
            self.load_statements(&names)?;
            let types: Vec<String> = library::exported_types(chunks()).into_iter().collect();
            self.load_and_adopt(&types)?;
        }
        Ok(())
    }

    /// Checks the statements of modules that are needed; adds their scripts.
    pub(super) fn check_library_modules(
        &mut self,
        imports: LibraryImports,
        scripts: &mut Vec<ModuleScript>,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        for entered in imports.0 {
            let is_new = !self.modules.contains_key(&entered.id);
            if is_new && let Some(collector) = &mut self.collector {
                collector.record_module(entered.module.source, &entered.id);
            }
            let module = match entered.statements.is_empty() {
                true => entered.module,
                false => match self.check_statements(&entered, scripts, diagnostics) {
                    Some(module) => Arc::new(module),
                    None => continue,
                },
            };
            diagnostics.extend(module::replace_module(&mut self.env, &mut self.program, &module));
            self.modules.insert(entered.id, module);
        }
    }

    /// Checks statements of a module among its own names; returns the module after that, `None` if
    /// that was interrupted.
    fn check_statements(
        &mut self,
        entered: &ImportedLibraryModule,
        scripts: &mut Vec<ModuleScript>,
        diagnostics: &mut Vec<Diagnostic>,
    ) -> Option<Module> {
        let ImportedLibraryModule { module, source, statements, .. } = entered;
        let mut env = module.env().expect("a module has an environment").clone();
        env.number_after(&self.env);
        let checked = module.checked_statements().into_iter().flatten();
        let chunks = checked.chain(statements).map(|&at| &module.statements()[at]);
        let names: Vec<&str> = chunks.flat_map(|chunk| &chunk.mentions).map(|name| &**name).collect();
        let (mentioned, _) = self.library.required_statements(&names, &BTreeSet::new());
        library::adopt_statements(&self.library.env, &mut env, &mentioned);
        let find = |(import, id): &(Import, String)| Some((import.clone(), self.modules.get(id)?.clone()));
        let imports: Vec<(Import, Arc<Module>)> = entered.imports.iter().map(find).collect::<Option<_>>()?;
        if let Some(collector) = &mut self.collector {
            collector.record_imports(&imports);
        }
        let instances = self.program.instances.len();
        let mut said = module::add_imports(&mut env, &mut self.program, &imports, &self.library.env);
        module::define_qualified_names(
            &mut env,
            &self.library.env,
            syntax::mentioned_names(source).into_iter(),
        );
        let ranges = statements.iter().map(|&at| module.statements()[at].range_with_comment(&source.text));
        let parsed = syntax::parse_ranges(source, ranges);
        let (collector, program, sources) = (&mut self.collector, &mut self.program, &self.sources);
        let check = || edition_check::check_both_readings(collector, &mut env, program, sources, &parsed);
        let done = felis_base::cancellation::with_cancellation(&self.interrupt, check);
        let (script, found) = done.ok()?;
        if self.program.instances.len() > instances {
            self.clear_instances();
        }
        said.extend(found);
        diagnostics.extend(said);
        self.env.number_after(&env);
        scripts.push(ModuleScript { script: script?, import: entered.import });
        Some(module.with_checked(statements, env))
    }

    /// Makes known what names, which stand in a text as they are given here, mean of the modules
    /// that have been imported. Of those of the library it checks what they need.
    fn load_of_imported_modules(&mut self, names: &[&str]) -> Result<(), Vec<Diagnostic>> {
        self.check_of_imported_modules(names)?;
        module::define_qualified_names(&mut self.env, &self.library.env, names.iter().copied());
        Ok(())
    }

    /// Checks what names need of the modules of the library that have been imported.
    fn check_of_imported_modules(&mut self, names: &[&str]) -> Result<(), Vec<Diagnostic>> {
        let mut imports = LibraryImports::default();
        for name in names {
            let Some((alias, own)) = name.split_once("::") else { continue };
            let Some(module) = self.env.modules.get(alias) else { continue };
            let of_library = module.checked_statements().is_some();
            let Some(name) = library::modules::module_name(&module.file).filter(|_| of_library) else {
                continue;
            };
            let name = name.to_string();
            let id = self.enter_library_module(&name, Span::default(), &mut imports);
            imports.require(&id, [own.to_string()]);
        }
        imports.find_statements();
        if imports.0.iter().all(|entered| entered.statements.is_empty()) {
            return Ok(());
        }
        self.load_mentioned_by_library_modules(&imports)?;
        let (mut scripts, mut said) = (Vec::new(), Vec::new());
        // What is known to an index of these modules stays as it is.
        let collector = self.collector.take();
        self.check_library_modules(imports, &mut scripts, &mut said);
        self.collector = collector;
        for ModuleScript { script, .. } in &scripts {
            let computed = self.compute_variables(script);
            said.extend(computed.err().map(|error| error.to_diagnostic()));
        }
        said.retain(Diagnostic::is_error);
        if said.is_empty() { Ok(()) } else { Err(said) }
    }
}

impl LibraryImports {
    /// Notes what a text that mentions these names needs by an import.
    pub(super) fn require_by_import(&mut self, import: &Import, id: &str, mentions: &[&str]) {
        let alias = import.module_name().text;
        let qualified = |name: &&str| {
            let (of, own) = name.split_once("::")?;
            (*of == *alias).then(|| own.to_string())
        };
        self.require(id, mentions.iter().filter_map(qualified));
        match &import.names {
            ImportNames::Qualified => (),
            ImportNames::Listed(names) => self.require(id, names.iter().map(|name| name.text.to_string())),
            ImportNames::All { .. } => self.require_all(id),
        }
    }

    /// Returns the module of this id, which has been entered.
    fn entered(&mut self, id: &str) -> &mut ImportedLibraryModule {
        self.0.iter_mut().find(|entered| entered.id == id).expect("the module has been entered")
    }

    /// Notes that names of a module are needed.
    fn require(&mut self, id: &str, names: impl IntoIterator<Item = String>) {
        if let Some(needed) = &mut self.entered(id).names {
            needed.extend(names);
        }
    }

    /// Notes that all names of a module are needed.
    fn require_all(&mut self, id: &str) {
        self.entered(id).names = None;
    }

    /// Finds the statements that the names require, in the modules that these modules import, too.
    pub(super) fn find_statements(&mut self) {
        for at in (0..self.0.len()).rev() {
            let entered = &mut self.0[at];
            entered.statements = entered.module.statements_for(entered.names.as_ref());
            let chunks = entered.statements.iter().map(|&at| &entered.module.statements()[at]);
            let own = chunks.filter(|chunk| !is_import(&entered.source, chunk));
            let names: BTreeSet<String> =
                own.flat_map(|chunk| &chunk.mentions).map(|name| name.to_string()).collect();
            let imported: Vec<String> = entered.imports.iter().map(|(_, id)| id.clone()).collect();
            imported.iter().for_each(|id| self.require(id, names.iter().cloned()));
        }
    }
}

/// Returns true for a statement that imports a module.
fn is_import(source: &Source, chunk: &syntax::Chunk) -> bool {
    &source.text[chunk.word_at.range()] == "import"
}
