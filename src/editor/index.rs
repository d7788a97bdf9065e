//! The index of a text: the referents of its names, the types of its expressions, its declarations.
//!
//! Takes a text with its modules, which is checked and not run; keeps nothing in the session. The
//! [`Index`] owns the texts that it refers to, so that it stays valid when the session changes. A
//! broken text has an index of the statements that can be parsed. Its diagnostics are those of
//! [`Session::check`].

use super::resolve::{CheckerNotes, collect_imports, resolve_uses};
use crate::session::outline::{Declaration, outline_of_statements};
use crate::session::{Analysis, Draft, Referent, Scheme, SelectedStatements, Session, library};
use felis_base::diagnostic::Diagnostic;
use felis_base::hash::{HashMap, HashSet};
use felis_base::source::{SourceId, SourceMap, Span};
use felis_calculus::types::Type;
use felis_syntax::syntax;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The referent of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Target {
    /// A declaration, by the span of its name.
    Declared(Span),
    /// A built-in of the language.
    BuiltIn,
    /// A module.
    Module(SourceId),
}

/// A use of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// The place of the name; for `geometry::area`, the part that names the target.
    pub span: Span,
    /// The referent.
    pub target: Target,
}

/// An index of a text.
#[derive(Clone, Debug)]
pub struct Index {
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    /// The number of the text.
    pub root: SourceId,
    /// True if an import of the text, or of a module that it imports, was not found.
    pub has_unresolved_imports: bool,
    /// The texts that the spans refer to.
    pub(super) sources: SourceMap,
    /// The ids of the text and of the modules that it imports, by the numbers of their texts.
    pub(super) modules: BTreeMap<SourceId, String>,
    /// The uses of names, in the order of their places.
    pub(super) uses: Vec<Use>,
    /// The types of expressions and written types, in the order of their places, larger ones first.
    pub(super) types: Vec<(Span, Type)>,
    /// The types of variables, by the places of their names.
    pub(super) variables: HashMap<Span, Type>,
    /// The types of functions, by the places of their names.
    pub(super) signatures: HashMap<Span, Scheme>,
    /// The kinds of type parameters and named sizes, by the places of their names.
    pub(super) kinds: HashMap<Span, String>,
    /// The declared functions that operators refer to, by the spans of their expressions.
    pub(super) operators: HashMap<Span, Span>,
    /// The spans of written types.
    pub(super) written: HashSet<Span>,
    /// The spans of names of record fields.
    pub(super) record_fields: HashSet<Span>,
    /// The declarations of each text.
    pub(super) outlines: HashMap<SourceId, Arc<Vec<Declaration>>>,
}

/// Builds the index of a text.
pub fn index(session: &mut Session, draft: Draft<'_>) -> Index {
    let (analysis, _) = session.analyze(draft, None, SelectedStatements::all, |_, _| ());
    Index::new(session, analysis)
}

impl Index {
    /// Builds the index from an analysis.
    pub(super) fn new(session: &Session, analysis: Analysis) -> Index {
        let Analysis {
            root,
            stmts,
            chunks,
            diagnostics,
            sources,
            modules,
            imports: targets,
            annotations,
            signatures,
            has_unresolved_imports,
            ..
        } = analysis;
        let mut index = Index {
            diagnostics,
            root,
            has_unresolved_imports,
            sources,
            modules,
            uses: Vec::new(),
            types: annotations.types,
            variables: annotations.variables.into_iter().collect(),
            signatures,
            kinds: annotations.kinds,
            operators: HashMap::default(),
            written: annotations.written,
            record_fields: HashSet::default(),
            outlines: HashMap::default(),
        };
        // Of several notes for one place the last one holds; larger expressions come first.
        index.types.sort_by_key(|(span, _)| (span.source, span.start, std::cmp::Reverse(span.end)));
        let mut imports = Vec::new();
        collect_imports(&stmts, &mut imports);
        let source = index.sources.get(root).expect("an analysis keeps its texts");
        index.outlines.insert(root, Arc::new(outline_of_statements(source, &stmts, &chunks)));
        for &id in index.modules.keys().filter(|id| **id != root) {
            if let Some(text) = index.sources.get(id) {
                let parsed = syntax::parse(text);
                collect_imports(&parsed.stmts, &mut imports);
                let chunks = syntax::chunks(text);
                index.outlines.insert(id, Arc::new(outline_of_statements(text, &parsed.stmts, &chunks)));
            }
        }
        for (span, referent) in &annotations.uses {
            match referent {
                Referent::RecordField => {
                    index.record_fields.insert(*span);
                }
                // A name is noted at its use, an operator for its whole expression.
                Referent::At(declared) if !syntax::is_name(index.sources.slice(*declared)) => {
                    index.operators.insert(*span, *declared);
                }
                _ => {}
            }
        }
        let noted = CheckerNotes {
            uses: annotations.uses,
            nominals: annotations.nominals,
            parameters: annotations.parameters,
            imports,
            targets,
        };
        index.uses = resolve_uses(&index, noted);
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
        index.signatures.extend(session.library_signatures(&wanted));
        index
    }

    /// Returns all that it holds of the text itself, as sorted lines: for comparing two indexes.
    pub fn lines(&self) -> Vec<String> {
        let own = |span: &Span| span.source == self.root;
        let mut all: Vec<String> =
            self.uses.iter().filter(|one| own(&one.span)).map(|one| format!("{one:?}")).collect();
        let types = self.types.iter().filter(|(span, _)| own(span));
        all.extend(types.map(|(span, ty)| format!("type {span:?} {ty}")));
        let variables = self.variables.iter().filter(|(span, _)| own(span));
        all.extend(variables.map(|(span, ty)| format!("variable {span:?} {ty}")));
        let signatures = self.signatures.iter().filter(|(span, _)| own(span));
        all.extend(signatures.map(|(span, scheme)| format!("signature {span:?} {}", scheme.ty())));
        all.extend(self.kinds.iter().filter(|(span, _)| own(span)).map(|one| format!("kind {one:?}")));
        all.extend(
            self.operators.iter().filter(|(span, _)| own(span)).map(|one| format!("operator {one:?}")),
        );
        all.extend(self.written.iter().filter(|span| own(span)).map(|span| format!("written {span:?}")));
        let fields = self.record_fields.iter().filter(|span| own(span));
        all.extend(fields.map(|span| format!("field {span:?}")));
        all.extend(self.declarations().iter().map(|declaration| format!("{declaration:?}")));
        all.sort();
        all
    }

    /// Returns the texts that its spans refer to.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// Returns the id of a text: its own, or that of a module it has read.
    pub fn id_of(&self, source: SourceId) -> Option<&str> {
        self.modules.get(&source).map(String::as_str)
    }

    /// Returns true if a text with this id was read for the index.
    pub fn includes(&self, id: &str) -> bool {
        self.modules.values().any(|known| known == id)
    }

    /// Returns true if the text imports no file.
    pub fn has_no_imports(&self) -> bool {
        self.modules.len() <= 1
    }

    /// Returns the text with an id, if it has been read.
    pub fn text_with(&self, id: &str) -> Option<&str> {
        let (source, _) = self.modules.iter().find(|(_, known)| *known == id)?;
        self.sources.get(*source).map(|source| source.text.as_str())
    }

    /// Returns the texts of files that have been read for it, this one included, with their ids.
    pub fn files(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.modules.iter().filter(|(source, _)| !self.is_library(**source));
        own.filter_map(|(source, id)| Some((id.as_str(), self.sources.get(*source)?.text.as_str())))
    }

    /// Returns true if a text is one of the library's.
    pub fn is_library(&self, source: SourceId) -> bool {
        (source.0 as usize) < library::sources().len()
            || self.id_of(source).is_some_and(|id| id.starts_with(library::modules::ID_PREFIX))
    }

    /// Returns the declarations of the text.
    pub fn declarations(&self) -> &[Declaration] {
        &self.outlines[&self.root]
    }
}
