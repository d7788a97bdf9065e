//! The collector of annotations, modules and imports while an input is checked.
//!
//! A session has one while it checks for an index, or to find the results that an input mentions.

use felis_base::hash::HashMap;
use felis_base::source::{SourceId, Span};
use felis_check::check::Env;
use felis_check::check::annotations::Annotations;
use felis_check::check::env::Scheme;
use felis_check::check::module::Module;
use felis_syntax::syntax::ast::Import;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The annotations, modules and signatures that are collected while a text is checked.
#[derive(Default)]
pub(super) struct AnnotationCollector {
    notes: Option<Annotations>,
    first: u32,
    modules: BTreeMap<SourceId, String>,
    /// The texts behind imports, by where these name them.
    imports: HashMap<Span, SourceId>,
    signatures: HashMap<Span, Scheme>,
    /// True if an import leads to no module.
    unresolved_imports: bool,
    /// The ranges of the text in which bodies are checked; `None` for all.
    bodies: Option<Vec<Range<u32>>>,
}

/// The parts of a collection: modules, texts behind imports, annotations, types of functions.
pub(super) type Parts =
    (BTreeMap<SourceId, String>, HashMap<Span, SourceId>, Annotations, HashMap<Span, Scheme>);

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

    /// The annotations so far, if they are collected.
    pub(super) fn annotations(&self) -> Option<&Annotations> {
        self.notes.as_ref()
    }

    /// The modules, the texts behind imports, the annotations and the types of functions.
    pub(super) fn into_parts(self) -> Parts {
        (self.modules, self.imports, self.notes.unwrap_or_default(), self.signatures)
    }

    /// Returns the annotations of the checker.
    pub(super) fn into_annotations(self) -> Annotations {
        self.notes.unwrap_or_default()
    }

    /// Returns the annotations to write to.
    pub(super) fn annotations_mut(&mut self) -> &mut Option<Annotations> {
        &mut self.notes
    }

    /// Limits the bodies that are checked in the next text.
    pub(super) fn limit_bodies(&mut self, bodies: Option<Vec<Range<u32>>>) {
        self.bodies = bodies;
    }

    /// Returns the limit of bodies, which holds for one text.
    pub(super) fn take_bodies(&mut self) -> Option<Vec<Range<u32>>> {
        self.bodies.take()
    }

    /// Notes that an import leads to no module.
    pub(super) fn record_unresolved_import(&mut self) {
        self.unresolved_imports = true;
    }

    /// Returns true if an import leads to no module.
    pub(super) fn has_unresolved_imports(&self) -> bool {
        self.unresolved_imports
    }

    /// Notes a module that has been read.
    pub(super) fn record_module(&mut self, source: SourceId, id: &str) {
        self.modules.insert(source, id.to_string());
    }

    /// Notes the texts that imports lead to.
    pub(super) fn record_imports(&mut self, imports: &[(Import, Arc<Module>)]) {
        self.imports.extend(imports.iter().map(|(import, module)| (import.target.span(), module.source)));
    }

    /// Notes the functions that the texts of interest have declared.
    pub(super) fn record_functions(&mut self, env: &Env) {
        for signature in env.signatures.values() {
            if signature.span.source.0 >= self.first && !signature.unknown_result {
                self.signatures.entry(signature.span).or_insert_with(|| signature.scheme.clone());
            }
        }
    }
}
