//! Quick fixes: the edits that the helps of diagnostics offer.

use super::position::Lines;
use super::report::{diagnostic, file};
use super::{Answer, Server, said};
use lsp_types::{CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, TextEdit, WorkspaceEdit};
use serde_json::Value;

impl Server {
    pub(super) fn actions(&mut self, asked: CodeActionParams) -> Answer {
        let uri = asked.text_document.uri;
        let wanted = asked.context.only.as_ref().is_none_or(|kinds| {
            kinds.iter().any(|kind| *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY)
        });
        let Some(index) = self.index(&uri).filter(|_| wanted) else { return Ok(Value::Null) };
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let (lines, text) = (&document.lines, &document.text);
        let (from, to) = (lines.byte(text, asked.range.start), lines.byte(text, asked.range.end));
        let mut actions = Vec::new();
        for found in &index.diagnostics {
            let Some((span, replacement)) = found.help.as_ref().and_then(|help| help.edit.as_ref()) else {
                continue;
            };
            let touches = |span: felis::source::Span| {
                span.source == index.root && span.start as usize <= to && from <= span.end as usize
            };
            if index.is_library(span.source) || !(touches(found.primary.span) || touches(*span)) {
                continue;
            }
            let Some(target) = file(&index, &self.copies, span.source) else { continue };
            let Some(source) = index.sources().get(span.source) else { continue };
            // Of this text the editor has the name that it knows.
            let target = if span.source == index.root { uri.clone() } else { target };
            let range = Lines::of(&source.text).span(&source.text, *span);
            let edit = TextEdit { range, new_text: replacement.clone() };
            let title = found.help.as_ref().map_or_else(String::new, |help| help.text.clone());
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title,
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostic(found, document, &index, &self.copies)]),
                edit: Some(WorkspaceEdit {
                    changes: Some([(target, vec![edit])].into_iter().collect()),
                    ..WorkspaceEdit::default()
                }),
                is_preferred: Some(true),
                ..CodeAction::default()
            }));
        }
        said(actions)
    }
}
