//! The index of a text: what its names stand for, the types of its expressions, what it declares.
//!
//! Takes a text with its modules; checks it without running it and keeps nothing in the session. The
//! [`Index`] that comes out owns the texts it speaks of and stays true to them. A broken text has an index,
//! too: of the statements that can be read. What is wrong with it is said as [`Session::check`] says it.

mod assist;
mod lookup;
mod operator;
pub mod outline;
mod rename;
mod resolve;

pub use assist::{Candidate, CandidateKind, Form, Invocation, Origin};
pub use lookup::{Hint, Hover, NameClass};
pub use outline::{Declaration, DeclarationKind};
pub use rename::{Occurrence, RenameEdits, RenameRefusal, apply_rename, check_name, check_same_meaning};

use super::{Mode, Session, Snapshot, library};
use crate::check::Env;
use crate::check::annotations::{Annotations, Referent};
use crate::check::env::Scheme;
use crate::diagnostic::Diagnostic;
use crate::hash::{HashMap, HashSet};
use crate::source::{Source, SourceId, SourceMap, Span};
use crate::syntax::{self, Parsed, ast};
use crate::types::Type;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A text to be looked at.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'t> {
    /// What messages call it.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
    /// What tells it from all others, as a loader would say it.
    pub id: &'t str,
    /// A text that is evaluated before and forgotten afterward.
    pub before: Option<&'t str>,
}

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// What is declared by the name that stands here.
    Declared(Span),
    /// What the language knows by itself.
    BuiltIn,
    /// A module.
    Module(SourceId),
}

/// A name where it stands, with what it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// Where; of `geometry::area` only the part that stands for it.
    pub span: Span,
    /// For what.
    pub target: Target,
}

/// What is known of a text.
#[derive(Debug)]
pub struct Index {
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Its number.
    pub root: SourceId,
    sources: SourceMap,
    /// Its own id and those of the modules it has read, by the number of their texts.
    modules: BTreeMap<SourceId, String>,
    uses: Vec<Use>,
    types: Vec<(Span, Type)>,
    variables: HashMap<Span, Type>,
    /// The types of functions, by where their names are declared.
    signatures: HashMap<Span, Scheme>,
    /// The kinds of type parameters and named sizes, by where they are declared.
    kinds: HashMap<Span, String>,
    /// What the operators of expressions stand for that are declared, by the places of the expressions.
    operators: HashMap<Span, Span>,
    /// Where types are written.
    written: HashSet<Span>,
    /// Where fields of records are named.
    record_fields: HashSet<Span>,
    outlines: HashMap<SourceId, Arc<Vec<Declaration>>>,
}

/// What has come of a text so far, if it goes on or not.
#[derive(Default)]
struct CheckProgress {
    parsed: Parsed,
    diagnostics: Vec<Diagnostic>,
    collector: Option<AnnotationCollector>,
    /// The session before it.
    saved: Option<Snapshot>,
    inputs: usize,
}

/// What a session collects while it checks for an index.
#[derive(Default)]
pub(super) struct AnnotationCollector {
    notes: Option<Annotations>,
    first: u32,
    modules: BTreeMap<SourceId, String>,
    /// The texts behind imports, by where these name them.
    imports: HashMap<Span, SourceId>,
    signatures: HashMap<Span, Scheme>,
}

impl AnnotationCollector {
    /// For texts numbered from `first`, and for a place in one of them.
    pub(super) fn new(first: u32, cursor: Option<(SourceId, u32)>) -> AnnotationCollector {
        AnnotationCollector {
            notes: Some(Annotations::new(first, cursor)),
            first,
            ..AnnotationCollector::default()
        }
    }

    /// For the names of texts numbered from `first`, without the types of expressions.
    pub(super) fn for_names(first: u32) -> AnnotationCollector {
        AnnotationCollector {
            notes: Some(Annotations::of_names(first)),
            first,
            ..AnnotationCollector::default()
        }
    }

    /// For choices among functions in texts numbered from `first`.
    pub(super) fn for_choices(first: u32) -> AnnotationCollector {
        AnnotationCollector {
            notes: Some(Annotations::of_choices(first)),
            first,
            ..AnnotationCollector::default()
        }
    }

    /// What the checker has written.
    pub(super) fn into_notes(self) -> Annotations {
        self.notes.unwrap_or_default()
    }

    /// Where the checker writes.
    pub(super) fn notes(&mut self) -> &mut Option<Annotations> {
        &mut self.notes
    }

    /// Notes a module that has been read.
    pub(super) fn module(&mut self, source: SourceId, id: &str) {
        self.modules.insert(source, id.to_string());
    }

    /// Notes what an import leads to.
    pub(super) fn import(&mut self, target: Span, source: SourceId) {
        self.imports.insert(target, source);
    }

    /// Notes the functions that the texts of interest have declared.
    pub(super) fn functions(&mut self, env: &Env) {
        for signature in env.signatures.values() {
            if signature.span.source.0 >= self.first && !signature.unknown_result {
                self.signatures.entry(signature.span).or_insert_with(|| signature.scheme.clone());
            }
        }
    }
}

impl Session {
    /// What there is to know of a text.
    pub fn index(&mut self, draft: Draft<'_>) -> Index {
        self.check_draft(draft, None, |_, _| ()).0
    }

    /// Checks a text, lets `look` see the session as it is then, and puts everything back. With a cursor,
    /// what is in scope there is noted.
    fn check_draft<T>(
        &mut self,
        draft: Draft<'_>,
        cursor: Option<usize>,
        look: impl FnOnce(&mut Session, &Annotations) -> T,
    ) -> (Index, Option<T>) {
        let texts = self.sources.len();
        let source = self.sources.add(draft.name, draft.text);
        let cursor = cursor.map(|at| (source.id, at as u32));
        self.collector = Some(AnnotationCollector::new(library::sources().len() as u32, cursor));
        let mut drawn = CheckProgress::default();
        let seen = catch_unwind(AssertUnwindSafe(|| {
            self.check_keeping_notes(&source, draft.before, &mut drawn, look)
        }));
        let seen = seen.unwrap_or_else(|_| {
            drawn.diagnostics = vec![super::internal_error(Span::new(source.id, 0, 0))];
            None
        });
        let collector = self.collector.take().or(drawn.collector.take()).unwrap_or_default();
        let inputs = drawn.inputs;
        let mut index = self.build_index(&source, &drawn.parsed.stmts, collector, drawn.diagnostics);
        index.modules.insert(source.id, draft.id.to_string());
        if let Some(saved) = drawn.saved {
            self.restore(saved);
            self.inputs.truncate(inputs);
        }
        self.sources.truncate(texts);
        (index, seen)
    }

    /// Checks a text as [`Session::check`] does, but goes on after mistakes as long as there is something
    /// to be noted; what is said then is not told.
    fn check_keeping_notes<T>(
        &mut self,
        source: &Arc<Source>,
        before: Option<&str>,
        drawn: &mut CheckProgress,
        look: impl FnOnce(&mut Session, &Annotations) -> T,
    ) -> Option<T> {
        let parsed = syntax::parse(source);
        drawn.parsed = parsed;
        drawn.diagnostics.append(&mut drawn.parsed.errors);
        let stopped = |said: &[Diagnostic]| said.iter().any(Diagnostic::is_error);
        let mut unsaid = Vec::new();
        let said = if stopped(&drawn.diagnostics) { &mut unsaid } else { &mut drawn.diagnostics };
        let reading = self.read_imports(&drawn.parsed.stmts, said);
        // What the text needs of the library stays, as it does after an input: all else is put back.
        let mut loaded = self.load_mentioned(source).and_then(|()| self.load_mentioned_by_modules(&reading));
        if let Some(before) = before {
            let mentions = library::mentioned_names(&super::detached_source(before));
            loaded = loaded.and_then(|()| self.load_and_adopt(&mentions));
        }
        if let Err(errors) = loaded {
            said.extend(errors);
            return None;
        }
        drawn.inputs = self.inputs.len();
        drawn.saved = Some(self.snapshot());
        if let Some(before) = before {
            let collector = self.collector.take();
            self.evaluate("arguments", before, Mode::Script, &mut |_| ());
            self.collector = collector;
        }
        let _ = self.check_modules(reading, source, said);
        let said = if stopped(&drawn.diagnostics) { &mut unsaid } else { &mut drawn.diagnostics };
        let _ = self.check_file(&drawn.parsed, said);
        drawn.collector = self.collector.take();
        drawn.collector.as_ref()?.notes.as_ref().map(|notes| look(self, notes))
    }

    fn build_index(
        &self,
        source: &Source,
        stmts: &[ast::Stmt],
        collector: AnnotationCollector,
        diagnostics: Vec<Diagnostic>,
    ) -> Index {
        let AnnotationCollector { notes, modules, imports: targets, signatures, .. } = collector;
        let notes = notes.unwrap_or_default();
        let mut index = Index {
            diagnostics,
            root: source.id,
            sources: self.sources.clone(),
            modules,
            uses: Vec::new(),
            types: notes.types,
            variables: notes.variables.into_iter().collect(),
            signatures,
            kinds: notes.kinds,
            operators: HashMap::default(),
            written: notes.written,
            record_fields: HashSet::default(),
            outlines: HashMap::default(),
        };
        // Of one place what was noted last holds; larger expressions come first.
        index.types.sort_by_key(|(span, _)| (span.source, span.start, std::cmp::Reverse(span.end)));
        let mut imports = Vec::new();
        resolve::collect_imports(stmts, &mut imports);
        index.outlines.insert(source.id, Arc::new(outline::outline_of_statements(source, stmts)));
        for &id in index.modules.keys() {
            if let Some(text) = self.sources.get(id) {
                let parsed = syntax::parse(text);
                resolve::collect_imports(&parsed.stmts, &mut imports);
                index.outlines.insert(id, Arc::new(outline::outline_of_statements(text, &parsed.stmts)));
            }
        }
        for (span, referent) in &notes.uses {
            match referent {
                Referent::RecordField => {
                    index.record_fields.insert(*span);
                }
                // A name stands where it is used; an operator is noted for its whole expression.
                Referent::At(declared) if !syntax::is_name(index.sources.slice(*declared)) => {
                    index.operators.insert(*span, *declared);
                }
                _ => {}
            }
        }
        let noted = resolve::CheckerNotes {
            uses: notes.uses,
            nominals: notes.nominals,
            parameters: notes.parameters,
            imports,
            targets,
        };
        index.uses = resolve::resolve_uses(&index, noted);
        let library = library::sources().len() as u32;
        let wanted: BTreeSet<Span> = index
            .uses
            .iter()
            .filter_map(|found| match found.target {
                Target::Declared(span) => Some(span),
                _ => None,
            })
            .chain(index.operators.values().copied())
            .filter(|span| span.source.0 < library)
            .collect();
        for signature in self.library.env.signatures.values() {
            if wanted.contains(&signature.span) {
                index.signatures.insert(signature.span, signature.scheme.clone());
            }
        }
        index
    }
}

impl Index {
    /// The texts it speaks of.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The id of a text: its own, or that of a module it has read.
    pub fn id_of(&self, source: SourceId) -> Option<&str> {
        self.modules.get(&source).map(String::as_str)
    }

    /// Whether a text with this id has been read.
    pub fn includes(&self, id: &str) -> bool {
        self.modules.values().any(|known| known == id)
    }

    /// Whether it imports no file.
    pub fn has_no_imports(&self) -> bool {
        self.modules.len() <= 1
    }

    /// The text with an id, if it has been read.
    pub fn text_with(&self, id: &str) -> Option<&str> {
        let (source, _) = self.modules.iter().find(|(_, known)| *known == id)?;
        self.sources.get(*source).map(|source| source.text.as_str())
    }

    /// Whether a text is one of the library's.
    pub fn is_library(&self, source: SourceId) -> bool {
        (source.0 as usize) < library::sources().len()
    }

    /// What the text declares.
    pub fn declarations(&self) -> &[Declaration] {
        self.outlines.get(&self.root).map_or(&[], |outline| outline)
    }
}
