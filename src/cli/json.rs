//! Diagnostics for other programs: one line of JSON each.
//!
//! The schema is described in the book's chapter on the command. Its number changes if a field
//! changes its meaning or is removed, not if one is added.

use felis_base::diagnostic::{Diagnostic, Help, Severity};
use felis_base::source::{self, SourceMap, Span};
use serde_json::{Value, json};

/// The version of the schema.
pub const SCHEMA: u32 = 1;

/// Returns a diagnostic as a line of JSON without the line break.
pub fn diagnostic_line(diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    diagnostic_object(diagnostic, sources).to_string()
}

/// Returns a diagnostic as JSON.
pub fn diagnostic_object(diagnostic: &Diagnostic, sources: &SourceMap) -> Value {
    let severity = match diagnostic.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    let labels: Vec<Value> = diagnostic
        .labels
        .iter()
        .map(|label| json!({ "place": span_object(label.span, sources), "text": label.text }))
        .collect();
    let told = |help: &Help| {
        let edit = |(span, text): &(Span, String)| json!({ "place": span_object(*span, sources), "replacement": text });
        // A single edit has the field of schema versions with at most one edit.
        let only = match &help.edits[..] {
            [only] => Some(edit(only)),
            _ => None,
        };
        json!({
            "text": help.text,
            "edit": only,
            "edits": help.edits.iter().map(edit).collect::<Vec<_>>(),
        })
    };
    let help = diagnostic.help.as_ref().map(told);
    let others: Vec<Value> = diagnostic.alternatives.iter().map(told).collect();
    json!({
        "schema": SCHEMA,
        "severity": severity,
        "code": diagnostic.code.as_str(),
        "message": diagnostic.message,
        "place": span_object(diagnostic.primary.span, sources),
        "label": diagnostic.primary.text,
        "labels": labels,
        "notes": diagnostic.notes,
        "help": help,
        "others": others,
    })
}

/// Returns a span as JSON: its file, and its ends as bytes from 0, and as lines and characters from
/// 1.
fn span_object(span: Span, sources: &SourceMap) -> Value {
    let Some(source) = sources.get(span.source) else { return Value::Null };
    let end = |at: u32| {
        let at = (at as usize).min(source.text.len());
        let (line, column) = source::line_and_column(&source.text, at);
        json!({ "byte": at, "line": line, "column": column })
    };
    json!({ "file": source.name, "start": end(span.start), "end": end(span.end) })
}
