//! Analysis of a text that is being written: checked, not run, with everything that the checker
//! notes of it.
//!
//! Takes a text, however broken; gives its diagnostics, the annotations of the statements that can
//! be parsed, and the answer to a question that is asked while the names of the text are known.
//! Keeps nothing in the session.

use super::annotation_collector::AnnotationCollector;
use super::diagnostics::internal_error;
use super::snapshot::Snapshot;
use super::{Mode, Session, detached_source, library};
use felis_base::diagnostic::Diagnostic;
use felis_base::hash::HashMap;
use felis_base::source::{Source, SourceId, SourceMap, Span};
use felis_check::check::annotations::Annotations;
use felis_check::check::env::Scheme;
use felis_syntax::syntax::{self, Chunk, Parsed, ast};
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// A text to be analyzed.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'t> {
    /// The name of the text in messages.
    pub name: &'t str,
    /// The text.
    pub text: &'t str,
    /// The id of the text, as a loader would give it.
    pub id: &'t str,
    /// A text that is evaluated before and rolled back afterward.
    pub before: Option<&'t str>,
}

/// The statements of a text that are analyzed.
pub struct SelectedStatements {
    /// The statements, parsed.
    pub parsed: Parsed,
    /// The names that they define and mention, one entry for each statement.
    pub chunks: Vec<Chunk>,
    /// Set for a part of a text.
    pub part: Option<TextPart>,
}

/// A part of a text: statements with those that their meaning depends on.
pub struct TextPart {
    /// The names that the part mentions, as they are written.
    pub names: Vec<String>,
    /// The sorted ranges of the text in which bodies of functions are checked. Those elsewhere are
    /// checked only if the type of a function depends on them.
    pub bodies: Vec<Range<u32>>,
}

impl SelectedStatements {
    /// Parses all statements of a text.
    pub fn all(source: &Source) -> SelectedStatements {
        let parsed = syntax::parse(source);
        SelectedStatements { parsed, chunks: syntax::chunks(source), part: None }
    }
}

/// The findings of the checker about a text.
pub struct Analysis {
    /// The number of the text.
    pub root: SourceId,
    /// The statements of the text that can be parsed.
    pub stmts: Vec<ast::Stmt>,
    /// The names that the statements define and mention.
    pub chunks: Vec<Chunk>,
    /// Errors, warnings and notes, as [`Session::check`] reports them.
    pub diagnostics: Vec<Diagnostic>,
    /// The findings of the checker that are not reported because the text has errors of syntax.
    pub unsaid: Vec<Diagnostic>,
    /// All texts that the spans below refer to.
    pub sources: SourceMap,
    /// The ids of the text and of the modules that it imports, by the numbers of their texts.
    pub modules: BTreeMap<SourceId, String>,
    /// The texts behind imports, by the spans of their paths.
    pub imports: HashMap<Span, SourceId>,
    /// The annotations of the checker.
    pub annotations: Annotations,
    /// The types of the functions that these texts declare, by the spans of their names.
    pub signatures: HashMap<Span, Scheme>,
    /// True if an import of the text, or of a module that it imports, leads to no module.
    pub has_unresolved_imports: bool,
}

/// The state of an analysis, which outlives a panic in it.
#[derive(Default)]
struct AnalysisState {
    parsed: Parsed,
    chunks: Vec<Chunk>,
    diagnostics: Vec<Diagnostic>,
    unsaid: Vec<Diagnostic>,
    collector: Option<AnnotationCollector>,
    /// The session before it.
    saved: Option<Snapshot>,
    inputs: usize,
}

impl Session {
    /// Checks the statements of a text that are selected, asks the session as it is then, and puts
    /// everything back. With a cursor, a byte of the text, the annotations say what is in scope
    /// there. The answer is `None` where the text could not be checked.
    pub fn analyze<T>(
        &mut self,
        draft: Draft<'_>,
        cursor: Option<usize>,
        select: impl FnOnce(&Source) -> SelectedStatements,
        ask: impl FnOnce(&Session, &Annotations) -> T,
    ) -> (Analysis, Option<T>) {
        let texts = self.sources.len();
        let source = self.sources.add(draft.name, draft.text);
        let cursor = cursor.map(|at| (source.id, at as u32));
        self.collector = Some(AnnotationCollector::new(library::sources().len() as u32, cursor));
        let mut state = AnalysisState::default();
        let answer = catch_unwind(AssertUnwindSafe(|| {
            let selected = select(&source);
            state.parsed = selected.parsed;
            state.chunks = selected.chunks;
            self.check_keeping_notes(&source, selected.part, draft.before, &mut state, ask)
        }));
        let answer = answer.unwrap_or_else(|_| {
            state.diagnostics = vec![internal_error(Span::new(source.id, 0, 0))];
            None
        });
        let collector = self.collector.take().or(state.collector.take()).unwrap_or_default();
        let has_unresolved_imports = collector.has_unresolved_imports();
        let (mut modules, imports, annotations, signatures) = collector.into_parts();
        modules.insert(source.id, draft.id.to_string());
        let analysis = Analysis {
            root: source.id,
            stmts: state.parsed.stmts,
            chunks: state.chunks,
            diagnostics: state.diagnostics,
            unsaid: state.unsaid,
            sources: self.sources.clone(),
            modules,
            imports,
            annotations,
            signatures,
            has_unresolved_imports,
        };
        if let Some(saved) = state.saved {
            self.restore(saved);
            self.inputs.truncate(state.inputs);
        }
        self.sources.truncate(texts);
        (analysis, answer)
    }

    /// The types of those functions of the library, as far as it has been read, whose names stand
    /// at these spans.
    pub fn library_signatures(&self, names: &BTreeSet<Span>) -> Vec<(Span, Scheme)> {
        let signatures = self.library.env.signatures.values();
        let wanted = signatures.filter(|signature| names.contains(&signature.span));
        wanted.map(|signature| (signature.span, signature.scheme.clone())).collect()
    }

    /// Checks a text as [`Session::check`] does, but continues after errors as long as there is
    /// something to annotate; the diagnostics of that are dropped.
    fn check_keeping_notes<T>(
        &mut self,
        source: &Arc<Source>,
        part: Option<TextPart>,
        before: Option<&str>,
        state: &mut AnalysisState,
        ask: impl FnOnce(&Session, &Annotations) -> T,
    ) -> Option<T> {
        state.diagnostics.append(&mut state.parsed.errors);
        let stopped = |said: &[Diagnostic]| said.iter().any(Diagnostic::is_error);
        let said = if stopped(&state.diagnostics) { &mut state.unsaid } else { &mut state.diagnostics };
        let names = match &part {
            Some(part) => part.names.iter().map(String::as_str).collect(),
            None => syntax::mentioned_names(source),
        };
        let reading = self.read_imports(&state.parsed.stmts, &names, said);
        // What the text needs of the library stays, as it does after an input: all else is put
        // back.
        let loaded = match &part {
            Some(part) => self.load_names(&part.names),
            None => self.load_mentioned(source),
        };
        let mut loaded = loaded.and_then(|()| self.load_mentioned_by_modules(&reading));
        if let Some(before) = before {
            let mentions = library::mentioned_names(&detached_source(before));
            loaded = loaded.and_then(|()| self.load_and_adopt(&mentions));
        }
        if let Err(errors) = loaded {
            said.extend(errors);
            return None;
        }
        state.inputs = self.inputs.len();
        state.saved = Some(self.snapshot());
        if let Some(before) = before {
            let collector = self.collector.take();
            self.evaluate("arguments", before, Mode::Script, &mut |_| ());
            self.collector = collector;
        }
        let _ = self.check_modules(reading, &names, said);
        if let Some(collector) = &mut self.collector {
            collector.limit_bodies(part.map(|part| part.bodies));
        }
        let said = if stopped(&state.diagnostics) { &mut state.unsaid } else { &mut state.diagnostics };
        let _ = self.check_file(&state.parsed, said);
        state.collector = self.collector.take();
        state.collector.as_ref()?.annotations().map(|notes| ask(self, notes))
    }
}
