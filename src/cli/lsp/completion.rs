//! Requests during typing: completion of names and of import paths, signature help, formatting.

use super::lookups::doc_markdown;
use super::{RequestResult, Server, json_result};
use felis::editor::{CandidateKind, import_path};
use lsp_types::{
    CompletionItem, CompletionItemKind, CompletionList, CompletionParams, CompletionTextEdit,
    DocumentFormattingParams, Documentation, MarkupContent, MarkupKind, ParameterInformation, ParameterLabel,
    SignatureHelp, SignatureHelpParams, SignatureInformation, TextEdit,
};
use serde_json::{Value, json};
use std::path::Path;

/// The maximum number of entries of a folder that are read to complete an import.
const MAX_DIRECTORY_ENTRIES: usize = 10_000;

/// Returns a text as documentation in Markdown.
fn markdown_documentation(text: &str) -> Documentation {
    Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value: text.to_string() })
}

impl Server {
    /// Answers `textDocument/completion`.
    pub(super) fn complete(&mut self, params: CompletionParams) -> RequestResult {
        let uri = params.text_document_position.text_document.uri;
        let position = params.text_document_position.position;
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let at = document.lines.byte(&document.text, position);
        if let Some(path) = document.text.get(..at).and_then(import_path) {
            let range = document.lines.range(&document.text, at - last_segment(path).len()..at);
            return json_result(CompletionList {
                is_incomplete: false,
                items: import_completions(&document.path(), path, range),
            });
        }
        // These two characters also occur outside of import paths, where nothing is completed.
        let trigger = params.context.as_ref().and_then(|context| context.trigger_character.as_deref());
        if matches!(trigger, Some("\"" | "/")) {
            return Ok(Value::Null);
        }
        let Some((start, candidates)) =
            self.with_edited(&uri, |session, edited| felis::editor::candidates(session, edited, at))
        else {
            return Ok(Value::Null);
        };
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let range = document.lines.range(&document.text, start..at);
        let items = candidates.into_iter().enumerate().map(|(order, candidate)| {
            let kind = match candidate.kind {
                CandidateKind::Keyword => CompletionItemKind::KEYWORD,
                CandidateKind::Variable => CompletionItemKind::VARIABLE,
                CandidateKind::Function => CompletionItemKind::FUNCTION,
                CandidateKind::Constructor => CompletionItemKind::CONSTRUCTOR,
                CandidateKind::Type => CompletionItemKind::STRUCT,
                CandidateKind::Class => CompletionItemKind::INTERFACE,
                CandidateKind::Field => CompletionItemKind::FIELD,
                CandidateKind::Module => CompletionItemKind::MODULE,
            };
            let edit = TextEdit { range, new_text: candidate.name.clone() };
            let asks = matches!(candidate.kind, CandidateKind::Function | CandidateKind::Constructor);
            CompletionItem {
                data: asks.then(|| json!({ "name": candidate.name })),
                label: candidate.name,
                kind: Some(kind),
                detail: candidate.detail,
                sort_text: Some(format!("{order:05}")),
                text_edit: Some(CompletionTextEdit::Edit(edit)),
                ..CompletionItem::default()
            }
        });
        json_result(CompletionList { is_incomplete: false, items: items.collect() })
    }

    /// Answers `completionItem/resolve`: adds type and doc comment to a candidate.
    pub(super) fn resolve(&mut self, mut item: CompletionItem) -> RequestResult {
        let name = item.data.as_ref().and_then(|data| data.get("name")).and_then(Value::as_str);
        let forms = name.map(|name| self.session.overloads(name)).unwrap_or_default();
        if let Some(first) = forms.first() {
            let more = forms.len() - 1;
            let also = if more == 0 { String::new() } else { format!("   (and {more} more)") };
            item.detail.get_or_insert_with(|| format!("{}{also}", first.signature));
            if let Some(doc) = &first.doc {
                item.documentation = Some(markdown_documentation(&doc_markdown(doc)));
            }
        }
        json_result(item)
    }

    /// Answers `textDocument/signatureHelp`.
    pub(super) fn signature_help(&mut self, params: SignatureHelpParams) -> RequestResult {
        let uri = params.text_document_position_params.text_document.uri;
        let position = params.text_document_position_params.position;
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let at = document.lines.byte(&document.text, position);
        let found = self.with_edited(&uri, |session, edited| felis::editor::invocation(session, edited, at));
        let Some(invocation) = found.flatten() else { return Ok(Value::Null) };
        // The first form that has at least as many parameters as are written is active.
        let count = |form: &felis::editor::Form| form.params.iter().map(Vec::len).sum::<usize>();
        let fitting = invocation.forms.iter().position(|form| count(form) > invocation.parameter);
        let signatures = invocation.forms.iter().map(|form| {
            let units = |bytes: usize| form.text[..bytes].encode_utf16().count() as u32;
            let params = form.params.iter().flatten().map(|range| ParameterInformation {
                label: ParameterLabel::LabelOffsets([units(range.start), units(range.end)]),
                documentation: None,
            });
            SignatureInformation {
                label: form.text.clone(),
                documentation: form.doc.as_ref().map(|doc| markdown_documentation(&doc_markdown(doc))),
                parameters: Some(params.collect()),
                active_parameter: None,
            }
        });
        json_result(SignatureHelp {
            signatures: signatures.collect(),
            active_signature: Some(fitting.unwrap_or(0) as u32),
            active_parameter: Some(invocation.parameter as u32),
        })
    }

    /// Answers `textDocument/formatting`.
    pub(super) fn format(&mut self, params: DocumentFormattingParams) -> RequestResult {
        let uri = params.text_document.uri;
        let Some(document) = self.documents.get(&uri).filter(|document| !document.library) else {
            return Ok(Value::Null);
        };
        // A text with errors is not formatted; its errors are published separately.
        let Ok(new) =
            self.session.with_temporary_sources(|session| session.format(&document.name, &document.text))
        else {
            return Ok(Value::Null);
        };
        let edits = changed_lines(&document.text, &new).map(|(old, new)| TextEdit {
            range: document.lines.range(&document.text, old),
            new_text: new.to_string(),
        });
        json_result(edits.into_iter().collect::<Vec<_>>())
    }
}

/// Returns the part of a path that is completed: the name after the last `/`.
fn last_segment(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// Returns the programs and folders that complete the path of an import in this file.
fn import_completions(program: &Path, path: &str, range: lsp_types::Range) -> Vec<CompletionItem> {
    let Some(folder) = program.parent() else { return Vec::new() };
    let begun = last_segment(path);
    let folder = folder.join(&path[..path.len() - begun.len()]);
    let own = program.file_name().map(|name| name.to_string_lossy().into_owned());
    let mut found: Vec<(bool, String)> = Vec::new();
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(MAX_DIRECTORY_ENTRIES) {
        let Ok(name) = entry.file_name().into_string() else { continue };
        // A link counts as its target.
        let is_folder = entry.path().is_dir();
        let itself = Some(&name) == own.as_ref() && program.parent() == Some(folder.as_path());
        let fits = name.starts_with(begun) && !name.starts_with('.') && !itself;
        if fits && (is_folder || name.ends_with(".flx")) {
            found.push((is_folder, if is_folder { format!("{name}/") } else { name }));
        }
    }
    found.sort();
    let item = |(order, (is_folder, name)): (usize, (bool, String))| CompletionItem {
        label: name.clone(),
        kind: Some(if is_folder { CompletionItemKind::FOLDER } else { CompletionItemKind::FILE }),
        sort_text: Some(format!("{order:05}")),
        text_edit: Some(CompletionTextEdit::Edit(TextEdit { range, new_text: name })),
        ..CompletionItem::default()
    };
    found.into_iter().enumerate().map(item).collect()
}

/// Returns the range of lines in which two texts differ, with its new text. The editor keeps the
/// cursor outside of that range.
fn changed_lines<'n>(old: &str, new: &'n str) -> Option<(std::ops::Range<usize>, &'n str)> {
    if old == new {
        return None;
    }
    let same = old.split_inclusive('\n').zip(new.split_inclusive('\n')).take_while(|(a, b)| a == b);
    let start: usize = same.map(|(line, _)| line.len()).sum();
    let (rest_old, rest_new) = (&old[start..], &new[start..]);
    let back = |text: &'n str| text.split_inclusive('\n').rev();
    let same = rest_old.split_inclusive('\n').rev().zip(back(rest_new)).take_while(|(a, b)| a == b);
    let end: usize = same.map(|(line, _)| line.len()).sum();
    Some((start..old.len() - end, &rest_new[..rest_new.len() - end]))
}

#[cfg(test)]
mod tests {
    use super::changed_lines;

    #[test]
    fn only_what_differs_is_replaced() {
        for (old, new, expected) in [
            ("a\nb\nc\n", "a\nb\nc\n", None),
            ("a\n b\nc\n", "a\nb\nc\n", Some((2..5, "b\n"))),
            ("a", "a\n", Some((0..1, "a\n"))),
            ("a\na\n", "a\n", Some((2..4, ""))),
            ("", "x", Some((0..0, "x"))),
        ] {
            assert_eq!(changed_lines(old, new), expected, "{old:?} {new:?}");
        }
    }
}
