//! The inputs of a session that have succeeded, with what the checker has noted of them.

use super::Session;
use super::results::ResultUse;
use felis_base::source::{SourceId, Span};
use felis_calculus::core::GlobalId;
use felis_check::check::annotations::Annotations;
use felis_check::check::module::Module;
use felis_syntax::syntax;
use felis_syntax::syntax::ast::{self, Import, ImportTarget};
use std::ops::Range;
use std::sync::Arc;

/// An input that has succeeded.
#[derive(Clone, Debug)]
pub(super) struct EvaluatedInput {
    pub source: SourceId,
    /// True if the value of its last expression was shown.
    pub shows_value: bool,
    /// The value of that, if it has a name.
    pub result: Option<GlobalId>,
    /// The results it names, in order.
    pub uses: Vec<ResultUse>,
    /// Its variables, in the order of their declarations.
    pub globals: Range<GlobalId>,
    /// The referents of its names.
    pub notes: Arc<Annotations>,
    /// The files it imports, by where it names them, with their ids and what they are.
    pub imports: Vec<(Span, String, Arc<Module>)>,
    /// The number of inputs when another one replaced it.
    pub replaced_at: Option<usize>,
}

impl Session {
    /// The files that a text imports, by where it names them, with their ids and what they are.
    pub(super) fn imported_files(&self, source: SourceId) -> Vec<(Span, String, Arc<Module>)> {
        let (Some(source), Some(loader)) = (self.sources.get(source), &self.loader) else {
            return Vec::new();
        };
        if !source.text.contains("import") {
            return Vec::new();
        }
        let parsed = syntax::parse(source);
        let found = parsed.stmts.iter().filter_map(|stmt| match &stmt.kind {
            ast::StmtKind::Import(Import { target: ImportTarget::File { path, span }, .. }) => {
                let id = loader.find(None, path).ok()?.id;
                let module = self.modules.get(&id)?.clone();
                Some((*span, id, module))
            }
            _ => None,
        });
        found.collect()
    }
}
