//! Modules: the names that a text exports, and the effect of an import.
//!
//! A module is a text that has been checked with an environment of its own ([`Env`]); an importer
//! sees the definitions that stand after `export`. The definitions of a text are found by lexing
//! ([`Chunk`]); the meaning of a name is found in the module's `Env`. A function belongs to the
//! module if its header lies in one of the module's exported definitions, a constructor if its type
//! does. So a name does not export what the module itself imports or takes from the library under
//! the same name.
//!
//! **Qualified names.** `geometry::area` is an ordinary name to the checker. Before a text is
//! checked, [`define_qualified_names`] defines the qualified names that the text mentions: only
//! these are copied, and every lookup works as for other names. No definition can have such a name,
//! because the grammar of definitions has names without `::`.
//!
//! **Unqualified names.** `import … (area)` defines `area` in the scope [`Scope::Listed`]; `(*)`
//! defines all exported names in [`Scope::Starred`], which is farther. The text's own definitions
//! are nearer than both. Two imports of one text that bring, in one scope, the same name for the
//! same arguments are an error. A type brings its constructors, a class its methods. An operator
//! has no qualified name, so an exported `fun +` comes with every import.
//!
//! **Definitions without a name** come with every import: the instances that a module knows, and
//! the classes, kinds and equations that its types mention. The instances of two modules are
//! compared in pairs: each module was coherent alone ([`crate::check::items::class`]), but two of
//! them together may not be. The representation of the abstract types of a module stays hidden.
//!
//! The cost is linear in the names that are mentioned or listed, plus, for each class, the number
//! of new instances times the number of known ones.

use crate::check::context::Checker;
pub use crate::check::env::Module;
use crate::check::env::{
    Callable, Constraint, Definition, Env, Membership, Scope, Signature, TypeDefinition, same_domain,
};
use crate::check::error::module::NotExportable;
use crate::check::error::{ModuleError, TypeError};
use crate::check::items::decl::new_checker;
use crate::check::names::first_word_span;
use crate::core::{ClassId, FunctionId, Program};
use crate::diagnostic::Diagnostic;
use crate::hash::HashMap;
use crate::source::{Source, SourceId, Span};
use crate::syntax::ast::{Import, ImportNames, ImportTarget, Name, Stmt, StmtKind};
use crate::syntax::{self, Chunk};
use crate::types::{FiniteKind, Nominal};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Module {
    /// Makes the module of a file that has been checked with the environment `env`.
    pub fn file(source: &Source, env: Env) -> Module {
        Module::new(source, Some(env), None)
    }

    /// Makes the module of a text of which no statement has been checked, with an environment that
    /// knows none of its names.
    pub fn unchecked(source: &Source, env: Env) -> Module {
        Module::new(source, Some(env), Some(BTreeSet::new()))
    }

    /// Returns the module after more statements have been checked with a copy of its environment.
    pub fn with_checked(&self, statements: &BTreeSet<usize>, env: Env) -> Module {
        let checked = self.checked.as_ref().map(|known| known.union(statements).copied().collect());
        let (chunks, by_name) = (self.chunks.clone(), self.by_name.clone());
        Module { file: self.file.clone(), source: self.source, chunks, by_name, env: Some(env), checked }
    }

    /// Makes the module of a part of the library; all its definitions are visible.
    pub fn part(source: &Source) -> Module {
        Module::new(source, None, None)
    }

    /// Finds the definitions of a text.
    fn new(source: &Source, env: Option<Env>, checked: Option<BTreeSet<usize>>) -> Module {
        let chunks: Arc<[Chunk]> = syntax::chunks(source).into();
        let mut by_name: HashMap<Arc<str>, Vec<usize>> = HashMap::default();
        for (at, chunk) in chunks.iter().enumerate() {
            for name in &chunk.defines {
                let known = by_name.entry(name.clone()).or_default();
                if known.last() != Some(&at) {
                    known.push(at);
                }
            }
        }
        let by_name = Arc::new(by_name);
        Module { file: source.name.clone(), source: source.id, chunks, by_name, env, checked }
    }

    /// Returns the statements.
    pub fn statements(&self) -> &[Chunk] {
        &self.chunks
    }

    /// Returns the environment in which it was checked; `None` for a part of the library.
    pub fn env(&self) -> Option<&Env> {
        self.env.as_ref()
    }

    /// Returns the statements that have been checked, of a module of which only some are.
    pub fn checked_statements(&self) -> Option<&BTreeSet<usize>> {
        self.checked.as_ref()
    }

    /// Returns the statements that importers need who mention these names, or all, without those
    /// that have been checked: the definitions of the names, what these mention in turn, the
    /// instances of the types and classes among them, and those that define no name.
    pub fn statements_for(&self, names: Option<&BTreeSet<String>>) -> BTreeSet<usize> {
        let Some(checked) = &self.checked else { return BTreeSet::new() };
        let all = || (0..self.chunks.len()).filter(|at| !checked.contains(at));
        let Some(names) = names else { return all().collect() };
        let is_own = |name: &&Arc<str>| self.by_name.contains_key(*name);
        // With an operator comes what is done with it.
        let unnamed = |chunk: &Chunk| match chunk.head.is_empty() {
            true => chunk.defines.iter().all(|name| is_operator(name)),
            false => !chunk.head.iter().any(|name| is_own(&name)),
        };
        let mut waiting: Vec<usize> = all().filter(|at| unnamed(&self.chunks[*at])).collect();
        let definitions = |name: &str| self.by_name.get(name).into_iter().flatten().copied();
        waiting.extend(names.iter().flat_map(|name| definitions(name)));
        let mut found = BTreeSet::new();
        while let Some(at) = waiting.pop() {
            if checked.contains(&at) || !found.insert(at) {
                continue;
            }
            let chunk = &self.chunks[at];
            waiting.extend(chunk.mentions.iter().flat_map(|name| definitions(name)));
            let instances = all()
                .filter(|of| self.chunks[*of].head.iter().any(|name| chunk.defines.first() == Some(name)));
            waiting.extend(instances);
        }
        found
    }

    /// Returns true if the module declares this type.
    pub fn declares(&self, nominal: &Nominal) -> bool {
        let named = self.env.as_ref().and_then(|env| env.types.get(&nominal.name));
        let own = self.definitions(&nominal.name).next().is_some();
        own && matches!(named, Some(TypeDefinition::Nominal(known)) if known == nominal)
    }

    /// Returns the names that importers see, each once, sorted.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.all_names().into_iter().filter(|name| !is_operator(name))
    }

    /// Returns the operators that importers see, each once, sorted.
    fn operators(&self) -> impl Iterator<Item = &str> {
        self.all_names().into_iter().filter(|name| is_operator(name))
    }

    /// Returns the names and operators that importers see, each once, sorted.
    fn all_names(&self) -> BTreeSet<&str> {
        let visible = self.chunks.iter().filter(|chunk| self.is_visible(chunk));
        visible.flat_map(|chunk| chunk.defines.iter().map(|name| &**name)).collect()
    }

    /// Returns true if the module exports this name.
    pub fn exports(&self, name: &str) -> bool {
        self.visible(name).next().is_some()
    }

    /// Returns all definitions of a name, exported or not.
    pub(in crate::check) fn definitions(&self, name: &str) -> impl Iterator<Item = &Chunk> {
        self.by_name.get(name).into_iter().flatten().map(|&at| &self.chunks[at])
    }

    /// Returns the definitions of a name that importers see.
    fn visible(&self, name: &str) -> impl Iterator<Item = &Chunk> {
        self.definitions(name).filter(|chunk| self.is_visible(chunk))
    }

    /// Returns true for an exported definition, and for all definitions of a part of the library.
    fn is_visible(&self, chunk: &Chunk) -> bool {
        chunk.exported || self.env.is_none()
    }

    /// Returns the meanings of a name for importers.
    fn exported_meanings(&self, name: &str, library: &Env) -> Meanings {
        let env = self.env.as_ref().unwrap_or(library);
        let mut picked = Meanings::default();
        let callables = env.callables(name).unwrap_or(&[]);
        let mut take = |wanted: &dyn Fn(&Callable) -> bool| {
            picked.callables.extend(callables.iter().filter(|c| wanted(c)).cloned());
        };
        let mut signatures = Vec::new();
        for chunk in self.visible(name) {
            let inside = |span: Span| {
                span.source == chunk.span.source
                    && chunk.span.start <= span.start
                    && span.end <= chunk.span.end
            };
            let first = chunk.defines.first().map_or("", |first| first);
            match (chunk.word, env.values.get(name)) {
                ("fun" | "proc" | "joint", _) => {
                    take(&|callable| match callable {
                        Callable::Function(id) => env.signatures.get(id).is_some_and(|s| inside(s.span)),
                        _ => false,
                    });
                    signatures.extend(callables.iter().filter_map(|callable| match callable {
                        Callable::Function(id) => {
                            Some((*id, env.signatures.get(id).filter(|s| inside(s.span))?.clone()))
                        }
                        _ => None,
                    }));
                }
                ("val" | "var", Some(definition @ Definition::Global { span, .. })) if inside(*span) => {
                    picked.global = Some(definition.clone());
                }
                ("class", _) => {
                    let class = env.class_names.get(first).copied();
                    if first == name {
                        picked.class = class;
                    }
                    take(&|callable| matches!(callable, Callable::Method(of, _) if Some(*of) == class));
                }
                ("kind", _) if first == name => picked.kind = env.kinds.get(name).cloned(),
                // A member of the kind.
                ("kind", _) => picked.ty = env.types.get(name).cloned(),
                _ => {
                    let definition = env.types.get(first);
                    if first == name {
                        picked.ty = definition.cloned();
                    }
                    if let Some(TypeDefinition::Nominal(nominal)) = definition {
                        take(&|callable| match callable {
                            Callable::Case(of, _) | Callable::Struct(of) => of == nominal,
                            _ => false,
                        });
                    }
                }
            }
        }
        picked.signatures = signatures;
        picked
    }
}

/// Returns true for the name of an operator.
fn is_operator(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_punctuation() && c != '_')
}

/// The meanings of a name of a module.
#[derive(Default)]
struct Meanings {
    /// The functions, constructors, methods and primitives.
    callables: Vec<Callable>,
    /// The signatures of the functions among them.
    signatures: Vec<(FunctionId, Signature)>,
    /// The session variable.
    global: Option<Definition>,
    /// The type.
    ty: Option<TypeDefinition>,
    /// The class.
    class: Option<ClassId>,
    /// The kind.
    kind: Option<FiniteKind>,
}

/// Defines the qualified names of a text, as far as their modules are imported and export them.
pub fn define_qualified_names<'a>(env: &mut Env, library: &Env, names: impl Iterator<Item = &'a str>) {
    for name in names {
        let Some((module, own)) = name.split_once("::") else { continue };
        let Some(module) = env.modules.get(module).cloned() else { continue };
        let picked = module.exported_meanings(own, library);
        let key: Arc<str> = name.into();
        env.forget(&key);
        env.signatures.extend(picked.signatures);
        for callable in picked.callables {
            env.add_callable(&key, callable, Scope::Listed);
        }
        if let Some(global) = picked.global {
            env.define_global(&key, global.with_scope(Scope::Listed));
        }
        if let Some(ty) = picked.ty {
            env.types.insert(key.clone(), ty);
        }
        if let Some(kind) = picked.kind {
            env.kinds.insert(key.clone(), kind);
        }
        if let Some(class) = picked.class {
            env.class_names.insert(key, class);
        }
    }
}

impl Env {
    /// Removes all definitions of a name.
    fn forget(&mut self, name: &str) {
        self.values.remove(name);
        self.types.remove(name);
        self.class_names.remove(name);
        self.kinds.remove(name);
    }
}

/// Replaces a module, of which more statements have been checked, under all its names.
pub fn replace_module(env: &mut Env, program: &mut Program, module: &Arc<Module>) -> Vec<Diagnostic> {
    let mut is_known = false;
    for known in env.modules.values_mut().filter(|known| known.source == module.source) {
        *known = module.clone();
        is_known = true;
    }
    if !is_known {
        return Vec::new();
    }
    let mut checker = new_checker(env, program);
    checker.import_unnamed(module, Span::default());
    checker.reports.into_diagnostics()
}

/// Returns the name of the procedure of a test or of a benchmark. The name is not an identifier, so
/// no text can call it.
pub fn test_name(bench: bool, title: &str) -> Arc<str> {
    format!("{} \"{title}\"", if bench { "bench" } else { "test" }).into()
}

/// Returns the statements at the top level without `import`s and without the word `export`; tests
/// become procedures.
pub(in crate::check) fn desugar_module_statements(stmts: &[Stmt]) -> Cow<'_, [Stmt]> {
    let about_modules =
        |stmt: &Stmt| matches!(stmt.kind, StmtKind::Import(_) | StmtKind::Export(_) | StmtKind::Test { .. });
    if !stmts.iter().any(about_modules) {
        return Cow::Borrowed(stmts);
    }
    let plain = stmts.iter().filter_map(|stmt| match &stmt.kind {
        StmtKind::Import(_) => None,
        StmtKind::Export(inner) => Some((**inner).clone()),
        StmtKind::Test { bench, title, function } => {
            let name = Name { text: test_name(*bench, &title.text), span: title.span };
            let kind = StmtKind::Function { name, function: function.clone(), doc: None };
            Some(Stmt { kind, span: stmt.span })
        }
        _ => Some(stmt.clone()),
    });
    Cow::Owned(plain.collect())
}

/// Returns the name of the module of an import, or an error if the file name is not a name.
fn imported_module_name(import: &Import) -> Result<Name, ModuleError> {
    let name = import.module_name();
    match (&import.alias, &import.target) {
        (None, ImportTarget::File { path, span }) if !syntax::is_name(&name.text) => {
            let mut alias: String =
                name.text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            if !syntax::is_name(&alias) {
                alias = format!("m_{alias}");
            }
            Err(ModuleError::NoName { span: *span, path: path.to_string(), alias })
        }
        _ => Ok(name),
    }
}

/// Adds the imports of one text to its environment, and returns the diagnostics.
pub fn add_imports(
    env: &mut Env,
    program: &mut Program,
    imports: &[(Import, Arc<Module>)],
    library: &Env,
) -> Vec<Diagnostic> {
    let mut checker = new_checker(env, program);
    let mut imported: HashMap<Arc<str>, (SourceId, Span)> = HashMap::default();
    let mut brought = Imported::default();
    for (import, module) in imports {
        let name = match imported_module_name(import) {
            Ok(name) => name,
            Err(error) => {
                checker.report(error);
                continue;
            }
        };
        match imported.get(&name.text) {
            Some((source, previous)) if *source != module.source => {
                let (span, previous) = (name.span, *previous);
                let module = name.text.to_string();
                checker.report(ModuleError::ModuleTaken { span, module, previous });
                continue;
            }
            _ => {}
        }
        imported.insert(name.text.clone(), (module.source, name.span));
        checker.name_module(&name.text, module);
        checker.import_unnamed(module, import.target.span());
        if module.env.is_some() {
            for operator in module.operators() {
                let span = import.target.span();
                checker.import_name(&operator.into(), module, library, (Scope::Starred, span), &mut brought);
            }
        }
        let (scope, names): (Scope, Vec<(Arc<str>, Span)>) = match &import.names {
            ImportNames::Qualified => (Scope::Listed, Vec::new()),
            ImportNames::Listed(names) => {
                for (at, name) in names.iter().enumerate() {
                    if names[..at].iter().any(|earlier| earlier.text == name.text) {
                        let (span, what) = (name.span, "imported name");
                        let name = name.text.to_string();
                        checker.report(TypeError::Duplicate { span, what, name });
                    }
                }
                (Scope::Listed, names.iter().map(|n| (n.text.clone(), n.span)).collect())
            }
            ImportNames::All { span } => {
                (Scope::Starred, module.names().map(|n| (n.into(), *span)).collect())
            }
        };
        for (text, span) in names {
            if !module.exports(&text) {
                let at = Name { text: text.clone(), span };
                checker.report_not_in_module(&at, &name.text, module, &text);
                continue;
            }
            for name in module.accompanying_names(&text) {
                checker.import_name(&name, module, library, (scope, span), &mut brought);
            }
        }
    }
    checker.reports.into_diagnostics()
}

impl Module {
    /// Returns the names that come with a name: itself, the constructors of a type, the methods of
    /// a class.
    fn accompanying_names(&self, name: &str) -> Vec<Arc<str>> {
        let mut out: Vec<Arc<str>> = vec![name.into()];
        for chunk in self.visible(name).filter(|chunk| chunk.defines.first().is_some_and(|n| **n == *name)) {
            if !matches!(chunk.word, "val" | "var") {
                out.extend(chunk.defines.iter().skip(1).cloned());
            }
        }
        out
    }
}

/// The names that the imports of one text have brought, with their origins.
#[derive(Default)]
struct Imported {
    /// The imports by the names that they have brought.
    names: HashMap<Arc<str>, Vec<Importer>>,
}

/// The origin of a name: an import that has brought it.
#[derive(Clone)]
struct Importer {
    /// The text of the module.
    source: SourceId,
    /// The name of its file in messages.
    file: String,
    /// The scope that the name was brought into.
    scope: Scope,
    /// The place of the name in the import.
    span: Span,
}

impl Checker<'_> {
    /// Gives a module its name. Another module of the same name becomes unreachable.
    fn name_module(&mut self, name: &Arc<str>, module: &Arc<Module>) {
        let before = self.env.modules.insert(name.clone(), module.clone());
        if before.is_some_and(|before| before.source != module.source) {
            let outside = |key: &Arc<str>| key.split_once("::").is_none_or(|(m, _)| *m != **name);
            self.env.values.retain(|key, _| outside(key));
            self.env.types.retain(|key, _| outside(key));
            self.env.class_names.retain(|key, _| outside(key));
            self.env.kinds.retain(|key, _| outside(key));
        }
    }

    /// Adds the definitions of a module that have no name: instances, classes and kinds that types
    /// mention, equations of sizes. Also marks the abstract types of the module as hidden.
    fn import_unnamed(&mut self, module: &Module, import: Span) {
        let Some(theirs) = &module.env else { return };
        self.env.foreign.insert(module.source);
        self.env.foreign.extend(&theirs.foreign);
        for kind in theirs.kinds.values().chain(&theirs.foreign_kinds) {
            if self.env.finite_kind(kind.kind()).is_none() {
                self.env.foreign_kinds.push(kind.clone());
            }
        }
        for equation in &theirs.equations {
            if !self.env.equations.contains(equation) {
                self.env.equations.push(equation.clone());
            }
        }
        let constraints = theirs.type_constraints.iter();
        self.env.type_constraints.extend(constraints.map(|(id, known)| (*id, known.clone())));
        self.env.hidden.extend(theirs.hidden.iter().chain(&theirs.unnamed));
        self.env.hidden.extend(theirs.types.values().filter_map(|definition| match definition {
            TypeDefinition::Nominal(nominal) if nominal.as_abstract().is_some() => Some(nominal.id),
            _ => None,
        }));
        for (id, class) in &theirs.classes {
            self.env.classes.entry(*id).or_insert_with(|| class.clone());
        }
        let mut classes: Vec<&ClassId> = theirs.instances.keys().collect();
        classes.sort_unstable();
        for class in classes {
            let known: Vec<Arc<Membership>> = self.env.instances.get(class).cloned().unwrap_or_default();
            let is_known = |i: &Arc<Membership>| known.iter().any(|k| Arc::ptr_eq(k, i));
            let new: Vec<Arc<Membership>> =
                theirs.instances[class].iter().filter(|i| !is_known(i)).cloned().collect();
            for instance in &new {
                let other = known.iter().find(|known| self.overlap(instance, known).is_some());
                let Some(other) = other else { continue };
                let instance_text = self.env.text(&Constraint { class: *class, args: instance.args.clone() });
                let (one, other) = (other.span, instance.span);
                let error = ModuleError::InstancesMeet { span: import, instance: instance_text, one, other };
                self.report(error);
            }
            self.env.instances.entry(*class).or_default().extend(new);
        }
    }

    /// Defines a name of a module without the module's name, in the scope that the import states.
    fn import_name(
        &mut self,
        name: &Arc<str>,
        module: &Module,
        library: &Env,
        (scope, span): (Scope, Span),
        brought: &mut Imported,
    ) {
        let picked = module.exported_meanings(name, library);
        let entry = brought.names.entry(name.clone()).or_default();
        if entry.iter().any(|known| known.source == module.source && known.scope <= scope) {
            return;
        }
        let before = entry.clone();
        entry.push(Importer { source: module.source, file: module.file.clone(), scope, span });
        // A name of another scope is nearer or farther, so it does not clash.
        let clash = |this: &mut Self, source: Option<SourceId>| {
            let mut others = before.iter().filter(|known| known.scope == scope);
            let other = others.find(|known| source.is_none_or(|source| source == known.source));
            if let Some(Importer { file: other, span: previous, .. }) = other {
                let (name, file) = (name.to_string(), module.file.clone());
                let (other, previous) = (other.clone(), *previous);
                this.report(ModuleError::NameTaken { span, name, file, other, previous });
            }
        };
        let constructs = |c: &Callable| matches!(c, Callable::Case(..) | Callable::Struct(_));
        // All except functions and methods have one meaning.
        let single = picked.global.is_some()
            || picked.ty.is_some()
            || picked.class.is_some()
            || picked.kind.is_some()
            || picked.callables.iter().any(constructs);
        let single_before = matches!(self.env.values.get(name), Some(Definition::Global { .. }))
            || self.env.constructor(name).is_some();
        if single || single_before {
            clash(self, None);
        }
        if single && before.iter().any(|known| known.scope < scope) {
            return;
        }
        if picked.callables.iter().any(constructs) {
            // A type and its constructors are those of the newest import or declaration.
            [Scope::Module, Scope::Listed, Scope::Starred]
                .into_iter()
                .for_each(|scope| self.hide(name, scope));
        }
        self.env.signatures.extend(picked.signatures.iter().cloned());
        for callable in picked.callables {
            if let Some(Definition::Callables(known)) = self.env.values.get_mut(name) {
                // The same function may come by a list and by `*`.
                known.retain(|known, of| of <= scope || *known != callable);
            }
            let signature = match callable {
                Callable::Function(id) => self.env.signatures.get(&id).cloned().map(|s| (id, s)),
                _ => None,
            };
            let Some((id, signature)) = signature else {
                if !self.env.callables(name).is_some_and(|known| known.contains(&callable)) {
                    self.env.add_callable(name, callable, scope);
                }
                continue;
            };
            let replaced = self.env.candidates(name).with_scopes().find_map(|(known, of)| match known {
                Callable::Function(known) if *known != id && of == scope => {
                    let known = self.env.signatures.get(known)?;
                    same_domain(&known.scheme, &signature.scheme).then_some(known.span.source)
                }
                _ => None,
            });
            if let Some(source) = replaced {
                clash(self, Some(source));
            }
            self.add_or_replace_function(name, id, &signature, scope);
        }
        if let Some(global) = picked.global {
            self.env.define_global(name, global.with_scope(scope));
        }
        if let Some(ty) = picked.ty {
            self.env.types.insert(name.clone(), ty);
        }
        if let Some(kind) = picked.kind {
            self.env.kinds.insert(name.clone(), kind);
        }
        if let Some(class) = picked.class {
            if self.env.class_names.get(name) != Some(&class) {
                self.forget_class(name);
            }
            self.env.class_names.insert(name.clone(), class);
        }
    }

    /// Reports the exports of a text that are not allowed.
    pub(in crate::check) fn check_exports(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            let StmtKind::Export(inner) = &stmt.kind else { continue };
            let what = match &inner.kind {
                StmtKind::Let { mutable: true, .. } => NotExportable::Var,
                StmtKind::Instance { .. } => NotExportable::Instance,
                StmtKind::Require(..) => NotExportable::Require,
                _ => continue,
            };
            let gap = Span { end: inner.span.start, ..stmt.span };
            let span = first_word_span(stmt.span, "export");
            self.report(ModuleError::NotExportable { span, gap, what });
        }
    }
}
