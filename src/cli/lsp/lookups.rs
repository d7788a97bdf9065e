//! Requests about a position in a text: hover, definition, references, highlights, inlay hints.

use super::diagnostics::location;
use super::documents::Document;
use super::{RequestResult, Server, json_result, workspace};
use felis::editor::{Hover, Index, Occurrence, Target, TokenClass, tokens};
use felis_base::source::Span;
use lsp_types::{
    DocumentHighlight, DocumentHighlightParams, GotoDefinitionParams, HoverParams, InlayHint, InlayHintKind,
    InlayHintLabel, InlayHintParams, InlayHintTooltip, Location, MarkupContent, MarkupKind, ReferenceParams,
    TextDocumentPositionParams,
};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::rc::Rc;

/// The maximum length of a type in an inlay hint, in characters; longer types are cut.
const MAX_HINT_CHARS: usize = 40;

/// Indexes of programs that are not open, at most.
const MAX_UNOPENED: usize = 64;

/// Returns true if the words of a text suggest that it imports a file. A text that does not cannot
/// use declarations of other files, and need not be checked.
fn imports_a_file(text: &str) -> bool {
    if !text.contains("import") {
        return false;
    }
    let mut after_import = false;
    tokens(text).into_iter().filter(|(_, class)| *class != TokenClass::Comment).any(|(range, class)| {
        let imports = after_import && class == TokenClass::Text;
        after_import = &text[range] == "import";
        imports
    })
}

impl Server {
    /// Returns an open text, its index, and the byte offset of a position.
    pub(super) fn document_position(
        &mut self,
        at: &TextDocumentPositionParams,
    ) -> Option<(&Document, Rc<Index>, usize)> {
        let index = self.index_of(&at.text_document.uri)?;
        let document = self.documents.get(&at.text_document.uri)?;
        Some((document, index, document.lines.byte(&document.text, at.position)))
    }

    /// Answers `textDocument/hover`.
    pub(super) fn hover(&mut self, params: HoverParams) -> RequestResult {
        let Some((_, index, at)) = self.document_position(&params.text_document_position_params) else {
            return Ok(Value::Null);
        };
        let uri = params.text_document_position_params.text_document.uri;
        let hover = self
            .with_edited(&uri, |session, edited| felis::editor::hover(session, edited, &index, at))
            .flatten();
        let (Some(hover), Some(document)) = (hover, self.documents.get(&uri)) else { return Ok(Value::Null) };
        let range = document.lines.span(&document.text, hover.span);
        let contents = MarkupContent { kind: MarkupKind::Markdown, value: hover_markdown(&hover) };
        json_result(lsp_types::Hover {
            contents: lsp_types::HoverContents::Markup(contents),
            range: Some(range),
        })
    }

    /// Answers `textDocument/definition`.
    pub(super) fn definition(&mut self, params: GotoDefinitionParams) -> RequestResult {
        let Some((_, index, at)) = self.document_position(&params.text_document_position_params) else {
            return Ok(Value::Null);
        };
        let span = match index.use_at(at).map(|found| found.target) {
            Some(Target::Declared(span)) => span,
            Some(Target::Module(source)) => Span::new(source, 0, 0),
            Some(Target::BuiltIn) | None => return Ok(Value::Null),
        };
        json_result(location(&index, &self.copies, span))
    }

    /// Answers `textDocument/references`.
    pub(super) fn references(&mut self, params: ReferenceParams) -> RequestResult {
        let Some((_, index, at)) = self.document_position(&params.text_document_position) else {
            return Ok(Value::Null);
        };
        let Some(found) = index.use_at(at) else { return Ok(Value::Null) };
        let mut places: Vec<Location> = Vec::new();
        let declared = match found.target {
            Target::Declared(declared) => Some(declared),
            _ => None,
        };
        let indexes = match declared.and_then(|declared| index.occurrence(declared)) {
            Some(spot) => {
                let word = index.sources().slice(found.span).to_string();
                self.indexes_naming(&index, &spot, &word)
            }
            None => vec![index.clone()],
        };
        for other in indexes {
            // The numbers of texts are valid within one index only.
            let target = match declared.and_then(|declared| index.occurrence(declared)) {
                Some(spot) => other.span_of(&spot).map(Target::Declared),
                None => Some(found.target),
            };
            let Some(target) = target else { continue };
            let with = params.context.include_declaration;
            let uses = other.uses_for(target).filter(|span| with || Target::Declared(*span) != target);
            for place in uses.filter_map(|span| location(&other, &self.copies, span)) {
                if !places.contains(&place) {
                    places.push(place);
                }
            }
        }
        places.sort_by(|a, b| {
            let key = |place: &Location| (place.uri.as_str().to_string(), place.range.start);
            key(a).cmp(&key(b))
        });
        json_result(places)
    }

    /// Returns the indexes of all texts that may use a declaration, this one first.
    pub(super) fn indexes_naming(
        &mut self,
        index: &Rc<Index>,
        declared: &Occurrence,
        word: &str,
    ) -> Vec<Rc<Index>> {
        let mut all = vec![index.clone()];
        let mut known: BTreeSet<String> = index.id_of(index.root).map(str::to_string).into_iter().collect();
        let open: Vec<_> = self.documents.iter().filter(|document| !document.library).collect();
        let open: Vec<_> = open
            .into_iter()
            .filter(|document| document.text.contains(word) || document.id == declared.id)
            .map(|document| (document.uri.clone(), document.id.clone()))
            .collect();
        for (uri, id) in open {
            if known.insert(id)
                && let Some(other) = self.index_of(&uri)
                && other.span_of(declared).is_some()
            {
                all.push(other);
            }
        }
        for path in workspace::find_programs(&self.folders) {
            let id = workspace::file_id(&path);
            if known.contains(&id) || self.documents.of_file(&id).is_some() {
                continue;
            }
            let Some(text) = workspace::read(&path) else { continue };
            if !text.contains(word) || !imports_a_file(&text) {
                continue;
            }
            let other = self.index_of_unopened(&path, &id, &text);
            if other.span_of(declared).is_some() && known.insert(id) {
                all.push(other);
            }
        }
        all
    }

    /// Returns the index of a program that is not open: the one of before if all texts that it has
    /// read are as they were.
    fn index_of_unopened(&mut self, path: &Path, id: &str, text: &str) -> Rc<Index> {
        let is_current = |(id, text): (&str, &str)| match self.documents.of_file(id) {
            Some(document) => document.text == text,
            None => workspace::read(Path::new(id)).is_some_and(|now| now == text),
        };
        if let Some(known) = self.unopened.get(id)
            && known.text() == text
            && known.files().all(is_current)
        {
            return known.clone();
        }
        let index = Rc::new(self.build_index(path, &path.display().to_string(), id, text));
        if self.unopened.len() >= MAX_UNOPENED {
            self.unopened.clear();
        }
        // An import that was not found may be found later.
        if !index.has_unresolved_imports {
            self.unopened.insert(id.to_string(), index.clone());
        }
        index
    }

    /// Answers `textDocument/documentHighlight`.
    pub(super) fn highlights(&mut self, params: DocumentHighlightParams) -> RequestResult {
        let Some((document, index, at)) = self.document_position(&params.text_document_position_params)
        else {
            return Ok(Value::Null);
        };
        let Some(found) = index.use_at(at) else { return Ok(Value::Null) };
        let alike = |target: Target| match target {
            // A built-in name has no place, so its occurrences cannot be distinguished from others
            // of the same name.
            Target::BuiltIn => false,
            target => target == found.target,
        };
        let own = index.uses_of(index.root).iter().filter(|other| alike(other.target) || **other == found);
        let all: Vec<DocumentHighlight> = own
            .map(|other| DocumentHighlight {
                range: document.lines.span(&document.text, other.span),
                kind: None,
            })
            .collect();
        json_result(all)
    }

    /// Answers `textDocument/inlayHint`: types that are inferred.
    pub(super) fn inlay_hints(&mut self, params: InlayHintParams) -> RequestResult {
        let uri = params.text_document.uri;
        let Some(index) = self.index_of(&uri) else { return Ok(Value::Null) };
        let Some(document) = self.documents.get(&uri).filter(|document| !document.library) else {
            return Ok(Value::Null);
        };
        let (text, lines) = (&document.text, &document.lines);
        let wanted = lines.byte(text, params.range.start)..=lines.byte(text, params.range.end);
        let hints = index.type_hints().into_iter().filter(|hint| wanted.contains(&hint.at));
        let hints: Vec<InlayHint> = hints
            .map(|hint| {
                let long = hint.ty.chars().count() > MAX_HINT_CHARS;
                let cut: String = hint.ty.chars().take(MAX_HINT_CHARS).collect();
                let label = if long { format!(": {cut}…") } else { format!(": {}", hint.ty) };
                InlayHint {
                    position: lines.position(text, hint.at),
                    label: InlayHintLabel::String(label),
                    kind: Some(InlayHintKind::TYPE),
                    text_edits: None,
                    tooltip: long.then_some(InlayHintTooltip::String(hint.ty)),
                    padding_left: Some(true),
                    padding_right: None,
                    data: None,
                }
            })
            .collect();
        json_result(hints)
    }
}

/// Renders a hover as Markdown.
fn hover_markdown(hover: &Hover) -> String {
    let mut out = format!("```felis\n{}\n```\n", hover.code);
    if !hover.facts.is_empty() {
        out.push_str(&format!("\n{}\n", hover.facts.join(" · ")));
    }
    if let Some(doc) = &hover.doc {
        out.push_str(&format!("\n---\n\n{}\n", doc_markdown(doc)));
    }
    out
}

/// Returns a doc comment as Markdown: its lines unchanged, its examples as code blocks.
pub fn doc_markdown(doc: &str) -> String {
    let mut out = String::new();
    let mut lines = doc.lines().peekable();
    while let Some(line) = lines.next() {
        if !line.trim_start().starts_with("> ") {
            out.push_str(line);
            out.push_str("  \n");
            continue;
        }
        out.push_str("```felis\n");
        out.push_str(line.trim_start());
        out.push('\n');
        while let Some(result) = lines.next_if(|next| !next.trim().is_empty()) {
            out.push_str(result);
            out.push('\n');
        }
        out.push_str("```\n");
    }
    out.trim_end().to_string()
}
