//! The texts of definitions, and the replacement of those that a file has defined.
//!
//! Takes names; gives the statements that define them, as they were written, with their places.

use super::{Mode, Outcome, Session, detached_source, library};
use felis_base::source::{Source, SourceId, Span, line_number};
use felis_check::check::env::{Callable, Definition, TypeDefinition};
use felis_syntax::syntax::{self, Chunk};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The text of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionText {
    /// Its place: a file with a line, or the name of the input.
    pub place: String,
    /// The `///` comment before it.
    pub doc: Option<Arc<str>>,
    /// The definition.
    pub text: String,
}

impl DefinitionText {
    /// The first line of the definition.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or("").trim_end()
    }
}

impl Session {
    /// The definitions that a name has now, in the order in which they were made.
    pub fn definition_texts(&mut self, name: &str) -> Vec<DefinitionText> {
        let name = name.trim();
        if self.load_mentioned(&detached_source(name)).is_err() {
            return Vec::new();
        }
        let mut found: BTreeMap<(SourceId, u32), DefinitionText> = BTreeMap::new();
        for span in self.definition_spans(name) {
            let Some(source) = self.sources.get(span.source) else { continue };
            let chunk = syntax::chunks(source).into_iter().find(|chunk| covers(chunk.span, span));
            if let Some(chunk) = chunk {
                found.insert((source.id, chunk.span.start), definition_text(source, &chunk));
            }
        }
        // Of types there is no place but their text: the newest is the one that counts.
        let last = name.rsplit("::").next().unwrap_or(name);
        let has_type = [self.env.types.contains_key(name), self.env.kinds.contains_key(name)];
        let is_constructor = self.env.callables(name).is_some_and(|all| {
            all.iter().any(|callable| matches!(callable, Callable::Case(..) | Callable::Struct(_)))
        });
        if has_type.contains(&true) || is_constructor {
            let known = self.inputs.iter().rev().filter(|input| input.replaced_at.is_none());
            let own = known.filter_map(|input| self.sources.get(input.source));
            let library = library::sources().iter();
            // The texts of modules come after the library's, and are no inputs.
            let other = self.sources.iter().skip(library::sources().len());
            let found_type = own.chain(library).chain(other).find_map(|source| {
                let chunks = syntax::chunks(source);
                let declares =
                    |chunk: &Chunk| declares_type(chunk) && chunk.defines.iter().any(|n| **n == *last);
                let chunk = chunks.into_iter().rev().find(declares)?;
                Some(((source.id, chunk.span.start), definition_text(source, &chunk)))
            });
            found.extend(found_type);
        }
        found.into_values().collect()
    }

    /// Returns the spans of the definitions of a name.
    fn definition_spans(&self, name: &str) -> Vec<Span> {
        let mut spans = Vec::new();
        match self.env.values.get(name) {
            Some(Definition::Global { span, .. }) if *span != Span::default() => spans.push(*span),
            Some(Definition::Callables(callables)) => {
                spans.extend(callables.iter().filter_map(|callable| match callable {
                    Callable::Function(id) => self.env.signatures.get(id).map(|signature| signature.span),
                    Callable::Method(class, _) => self.env.classes.get(class).map(|class| class.span),
                    _ => None,
                }));
            }
            _ => {}
        }
        spans.extend(self.env.class(name).map(|class| class.span));
        spans
    }

    /// Runs a text in place of what an earlier text of this name has defined; modules that are
    /// files are read again. If it fails, everything is as it was.
    pub fn reload(&mut self, name: &str, text: &str, out: &mut dyn FnMut(&str)) -> Outcome {
        let (env, modules, inputs) = (self.env.clone(), self.modules.clone(), self.inputs.clone());
        self.modules.retain(|id, _| id.starts_with(library::modules::ID_PREFIX));
        self.remove_definitions_of(name);
        let outcome = self.evaluate(name, text, Mode::Script, out);
        if outcome.status != super::Status::Ok {
            // What has been read of the library since stays.
            (self.env, self.modules, self.inputs) = (env, modules, inputs);
            library::adopt_statements(&self.library.env, &mut self.env, &self.adopted);
        }
        outcome
    }

    /// Forgets the names that texts of this name have defined. Values made with them stay.
    fn remove_definitions_of(&mut self, name: &str) {
        let named = |id: SourceId| self.sources.get(id).is_some_and(|source| source.name == name);
        let texts: BTreeSet<SourceId> =
            self.inputs.iter().map(|input| input.source).filter(|id| named(*id)).collect();
        let inputs = self.inputs.len();
        let chunks =
            texts.iter().filter_map(|id| self.sources.get(*id)).flat_map(|source| syntax::chunks(source));
        let types: BTreeSet<Arc<str>> =
            chunks.filter(declares_type).flat_map(|chunk| chunk.defines).collect();
        let env = &mut self.env;
        let (signatures, classes) = (&env.signatures, &env.classes);
        for definition in env.values.values_mut() {
            let Definition::Callables(callables) = definition else { continue };
            callables.retain(|callable, _| match callable {
                Callable::Function(id) => {
                    signatures.get(id).is_none_or(|signature| !texts.contains(&signature.span.source))
                }
                Callable::Method(class, _) => {
                    classes.get(class).is_none_or(|class| !texts.contains(&class.span.source))
                }
                Callable::Case(nominal, _) | Callable::Struct(nominal) => !types.contains(&nominal.name),
                Callable::Prim(_) => true,
            });
        }
        env.values.retain(|_, definition| match definition {
            Definition::Global { span, .. } => *span == Span::default() || !texts.contains(&span.source),
            Definition::Callables(callables) => !callables.is_empty(),
        });
        env.class_names
            .retain(|_, id| env.classes.get(id).is_none_or(|class| !texts.contains(&class.span.source)));
        env.types.retain(|name, definition| {
            matches!(definition, TypeDefinition::Size(_)) || !types.contains(name)
        });
        env.kinds.retain(|name, _| !types.contains(name));
        for input in self.inputs.iter_mut().filter(|input| texts.contains(&input.source)) {
            input.replaced_at.get_or_insert(inputs);
        }
    }
}

/// Returns true if a span contains another.
fn covers(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}

/// Returns true if a statement declares a type, kind or class.
fn declares_type(chunk: &Chunk) -> bool {
    matches!(
        chunk.word,
        "typedef" | "newtype" | "struct" | "variant" | "enum" | "typefun" | "type" | "kind" | "class"
    )
}

/// Returns the text of a statement of a source.
pub(super) fn definition_text(source: &Source, chunk: &Chunk) -> DefinitionText {
    let line = line_number(&source.text, chunk.span.start as usize);
    let several = source.text.trim_end().contains('\n');
    let place = if several { format!("{}:{line}", source.name) } else { source.name.clone() };
    let text = source.text[chunk.span.range()].trim_end().to_string();
    DefinitionText { place, doc: chunk.doc.clone(), text }
}
