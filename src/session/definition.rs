//! The texts of definitions, and the session as a program.
//!
//! Takes names; gives where they are defined, in the words of whoever defined them. Keeps for that a
//! list of the inputs that have succeeded.

use super::results::ResultUse;
use super::{Mode, Outcome, Session, detached, library};
use crate::check::env::{Callable, Definition, TypeDefinition};
use crate::core::GlobalId;
use crate::source::{Source, SourceId, Span, line};
use crate::syntax::{self, Chunk};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The text of a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DefinitionText {
    /// Where it stands: a file with a line, or what the input was called.
    pub place: String,
    /// The `///` comment before it.
    pub doc: Option<Arc<str>>,
    /// The definition.
    pub text: String,
}

impl DefinitionText {
    /// The first line of the definition.
    pub fn head(&self) -> &str {
        self.text.lines().next().unwrap_or("").trim_end()
    }
}

/// An input that has succeeded.
#[derive(Clone, Debug)]
pub(super) struct Input {
    source: SourceId,
    /// Its value, if that has a name.
    result: Option<GlobalId>,
    /// The results it names, in order.
    uses: Vec<ResultUse>,
}

impl Session {
    /// Remembers an input that has succeeded.
    pub(super) fn note_input(&mut self, source: SourceId, result: Option<GlobalId>, uses: Vec<ResultUse>) {
        self.inputs.push(Input { source, result, uses });
    }

    /// The definitions that a name has now, in the order in which they were made.
    pub fn definition_texts(&mut self, name: &str) -> Vec<DefinitionText> {
        let name = name.trim();
        if self.load_library(&detached(name)).is_err() {
            return Vec::new();
        }
        let mut found: BTreeMap<(SourceId, u32), DefinitionText> = BTreeMap::new();
        for span in self.spans(name) {
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
            let own = self.inputs.iter().rev().filter_map(|input| self.sources.get(input.source));
            let library = library::sources().iter();
            // The texts of modules come after the library's, and are no inputs.
            let other = self.sources.iter().skip(library::sources().len());
            let found_type = own.chain(library).chain(other).find_map(|source| {
                let chunks = syntax::chunks(source);
                let declares = |chunk: &Chunk| is_type(chunk) && chunk.defines.iter().any(|n| **n == *last);
                let chunk = chunks.into_iter().rev().find(declares)?;
                Some(((source.id, chunk.span.start), definition_text(source, &chunk)))
            });
            found.extend(found_type);
        }
        found.into_values().collect()
    }

    /// Where what a name stands for is defined.
    fn spans(&self, name: &str) -> Vec<Span> {
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

    /// What the session has defined, as a program: each input as it was written, but for functions and
    /// types that have been replaced since, and for expressions that only showed a value. A result that
    /// something relies on has a name of its own there.
    pub fn program_text(&self) -> String {
        let current: BTreeSet<(SourceId, u32)> = self.current_functions();
        let mut newest: BTreeMap<Arc<str>, (SourceId, u32)> = BTreeMap::new();
        let inputs: Vec<(&Input, &Arc<Source>, Vec<Chunk>)> = self
            .inputs
            .iter()
            .filter_map(|input| self.sources.get(input.source).map(|source| (input, source)))
            .map(|(input, source)| (input, source, syntax::chunks(source)))
            .collect();
        for (_, source, chunks) in &inputs {
            for chunk in chunks.iter().filter(|chunk| is_type(chunk)) {
                newest.extend(chunk.defines.iter().map(|name| (name.clone(), (source.id, chunk.span.start))));
            }
        }
        let stays = |source: &Source, chunk: &Chunk| {
            let place = (source.id, chunk.span.start);
            match chunk.word {
                "fun" | "proc" => current.contains(&place),
                _ if is_type(chunk) => {
                    chunk.defines.first().is_none_or(|name| newest.get(name) == Some(&place))
                }
                _ => true,
            }
        };
        // What relies on a result comes after it: the last input first.
        let mut needed: BTreeSet<GlobalId> = BTreeSet::new();
        let mut written: Vec<String> = Vec::new();
        for (input, source, chunks) in inputs.iter().rev() {
            let value = chunks.last().filter(|_| input.result.is_some()).map(|chunk| chunk.span.start);
            let named = input.result.filter(|id| needed.contains(id));
            let mut texts = Vec::new();
            for chunk in chunks.iter().filter(|chunk| stays(source, chunk)) {
                let shows = value == Some(chunk.span.start);
                if shows && named.is_none() {
                    continue;
                }
                let text = definition_text(source, chunk);
                let (renamed, used) = renamed(&text.text, chunk.span.start as usize, &input.uses);
                needed.extend(used);
                let mut out = String::new();
                for line in text.doc.iter().flat_map(|doc| doc.lines()) {
                    out.push_str(format!("/// {line}").trim_end());
                    out.push('\n');
                }
                if let Some(id) = named.filter(|_| shows) {
                    out.push_str(&format!("val {} = ", result_name(id)));
                }
                out.push_str(&renamed);
                if !out.ends_with([';', '}']) {
                    out.push(';');
                }
                texts.push(out);
            }
            if !texts.is_empty() {
                written.push(texts.join("\n"));
            }
        }
        written.reverse();
        written.iter().map(|text| format!("{text}\n")).collect()
    }

    /// The chunks of functions that can still be called.
    fn current_functions(&self) -> BTreeSet<(SourceId, u32)> {
        let mut spans: BTreeMap<SourceId, Vec<Span>> = BTreeMap::new();
        for definition in self.env.values.values() {
            let Definition::Callables(callables) = definition else { continue };
            for callable in callables {
                let Callable::Function(id) = callable else { continue };
                if let Some(signature) = self.env.signatures.get(id) {
                    spans.entry(signature.span.source).or_default().push(signature.span);
                }
            }
        }
        let mut found = BTreeSet::new();
        for input in &self.inputs {
            let (Some(source), Some(spans)) = (self.sources.get(input.source), spans.get(&input.source))
            else {
                continue;
            };
            let chunks = syntax::chunks(source);
            let alive = chunks.iter().filter(|chunk| spans.iter().any(|span| covers(chunk.span, *span)));
            found.extend(alive.map(|chunk| (source.id, chunk.span.start)));
        }
        found
    }

    /// Runs a text in place of what an earlier text of this name has defined; modules are read again.
    /// If it fails, everything is as it was.
    pub fn reload(&mut self, name: &str, text: &str, out: &mut dyn FnMut(&str)) -> Outcome {
        let (env, modules, inputs) = (self.env.clone(), self.modules.clone(), self.inputs.clone());
        self.modules.clear();
        self.forget_text(name);
        let outcome = self.evaluate(name, text, Mode::Script, out);
        if outcome.status != super::Status::Ok {
            // What has been read of the library since stays.
            (self.env, self.modules, self.inputs) = (env, modules, inputs);
            library::adopt(&self.library.env, &mut self.env, &self.adopted);
        }
        outcome
    }

    /// Forgets the names that texts of this name have defined. Values made with them stay.
    fn forget_text(&mut self, name: &str) {
        let named = |id: SourceId| self.sources.get(id).is_some_and(|source| source.name == name);
        let texts: BTreeSet<SourceId> =
            self.inputs.iter().map(|input| input.source).filter(|id| named(*id)).collect();
        let chunks =
            texts.iter().filter_map(|id| self.sources.get(*id)).flat_map(|source| syntax::chunks(source));
        let types: BTreeSet<Arc<str>> = chunks.filter(is_type).flat_map(|chunk| chunk.defines).collect();
        let env = &mut self.env;
        let (signatures, classes) = (&env.signatures, &env.classes);
        for definition in env.values.values_mut() {
            let Definition::Callables(callables) = definition else { continue };
            callables.retain(|callable| match callable {
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
        self.inputs.retain(|input| !texts.contains(&input.source));
    }
}

fn covers(outer: Span, inner: Span) -> bool {
    outer.source == inner.source && outer.start <= inner.start && inner.end <= outer.end
}

fn is_type(chunk: &Chunk) -> bool {
    matches!(chunk.word, "typedef" | "newtype" | "struct" | "variant" | "typefun" | "type" | "kind" | "class")
}

fn definition_text(source: &Source, chunk: &Chunk) -> DefinitionText {
    let line = line(&source.text, chunk.span.start as usize);
    let several = source.text.trim_end().contains('\n');
    let place = if several { format!("{}:{line}", source.name) } else { source.name.clone() };
    let text = source.text.get(chunk.span.range()).unwrap_or("").trim_end().to_string();
    DefinitionText { place, doc: chunk.doc.clone(), text }
}

/// The name of a result in a program.
fn result_name(id: GlobalId) -> String {
    format!("result_{id}")
}

/// A text that begins at a byte of its input, with other names for the results it uses, and which these are.
fn renamed(text: &str, start: usize, uses: &[ResultUse]) -> (String, Vec<GlobalId>) {
    let (mut out, mut used, mut end) = (String::new(), Vec::new(), 0);
    for (range, id) in uses {
        let inside = range.start.checked_sub(start).filter(|from| *from >= end);
        let Some((from, to)) = inside.zip(range.end.checked_sub(start)).filter(|(_, to)| *to <= text.len())
        else {
            continue;
        };
        out.push_str(&text[end..from]);
        out.push_str(&result_name(*id));
        used.push(*id);
        end = to;
    }
    out.push_str(&text[end..]);
    (out, used)
}
