//! Quick fixes: the edits that the helps of diagnostics offer.

use super::diagnostics::{diagnostic, file};
use super::position::Lines;
use super::{RequestResult, Server, json_result};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, TextEdit, Uri, WorkspaceEdit,
};
use serde_json::Value;
use std::collections::HashMap;

impl Server {
    /// Answers `textDocument/codeAction`: the edits of diagnostics in a range.
    pub(super) fn code_actions(&mut self, params: CodeActionParams) -> RequestResult {
        let uri = params.text_document.uri;
        let wanted = params.context.only.as_ref().is_none_or(|kinds| {
            kinds.iter().any(|kind| *kind == CodeActionKind::QUICKFIX || *kind == CodeActionKind::EMPTY)
        });
        let Some(index) = self.index_of(&uri).filter(|_| wanted) else { return Ok(Value::Null) };
        let Some(document) = self.documents.get(&uri) else { return Ok(Value::Null) };
        let (lines, text) = (&document.lines, &document.text);
        let (from, to) = (lines.byte(text, params.range.start), lines.byte(text, params.range.end));
        let mut actions = Vec::new();
        let helps = index.diagnostics.iter().flat_map(|found| found.helps().map(move |help| (found, help)));
        for (found, help) in helps.filter(|(_, help)| !help.edits.is_empty()) {
            let touches = |span: felis_base::source::Span| {
                span.source == index.root && span.start as usize <= to && from <= span.end as usize
            };
            let near = touches(found.primary.span) || help.edits.iter().any(|(span, _)| touches(*span));
            let library = help.edits.iter().any(|(span, _)| index.is_library(span.source));
            if library || !near {
                continue;
            }
            let mut changes: HashMap<Uri, Vec<TextEdit>> = HashMap::new();
            for (span, replacement) in &help.edits {
                let Some(target) = file(&index, &self.copies, span.source) else { continue };
                let Some(source) = index.sources().get(span.source) else { continue };
                // This text keeps the URI of the editor.
                let target = if span.source == index.root { uri.clone() } else { target };
                let range = Lines::of(&source.text).span(&source.text, *span);
                let new_text = arms_in_lines(&source.text, span.start as usize, replacement);
                changes.entry(target).or_default().push(TextEdit { range, new_text });
            }
            actions.push(CodeActionOrCommand::CodeAction(CodeAction {
                title: help.text.clone(),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![diagnostic(found, document, &index, &self.copies)]),
                edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
                is_preferred: Some(found.alternatives.is_empty()),
                ..CodeAction::default()
            }));
        }
        json_result(actions)
    }
}

/// Formats arms added to a match: each on its own line if the final word of the match stands on its
/// own line.
fn arms_in_lines(text: &str, at: usize, replacement: &str) -> String {
    let line = text.get(..at).map_or("", |before| before.rsplit('\n').next().unwrap_or(before));
    let ends = |word: &&str| text.get(at..).is_some_and(|rest| rest.starts_with(*word));
    let alone = line.trim().is_empty() && ["endmatch", "done"].iter().any(ends);
    match replacement.strip_prefix("| ").filter(|_| alone) {
        Some(arms) => {
            let arms: Vec<&str> = arms.trim_end().split(" | ").collect();
            arms.iter().map(|arm| format!("| {arm}\n{line}")).collect()
        }
        None => replacement.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::arms_in_lines;

    #[test]
    fn arms_stand_as_those_before_them() {
        let text = "match x do\n  | A => ;\n  done";
        let at = text.find("done").expect("an end");
        assert_eq!(arms_in_lines(text, at, "| B => ; | C _ => ; "), "| B => ;\n  | C _ => ;\n  ");
        assert_eq!(arms_in_lines("match x do | A => ; done", 20, "| B => ; "), "| B => ; ");
        assert_eq!(arms_in_lines("x", 0, "y"), "y");
    }
}
