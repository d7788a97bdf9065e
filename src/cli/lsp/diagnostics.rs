//! Diagnostics in the form of the protocol.
//!
//! Takes the diagnostics of an index; gives them with ranges, links to the reference, and other
//! places as related information.

use super::documents::Document;
use super::position::Lines;
use super::workspace::LibraryCopies;
use super::{Server, uri};
use felis::editor::Index;
use felis_base::diagnostic::{Diagnostic, Severity};
use felis_base::source::{SourceId, Span};
use lsp_server::{Message, Notification};
use lsp_types::notification::{Notification as _, PublishDiagnostics};
use lsp_types::{
    CodeDescription, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    PublishDiagnosticsParams, Range, Uri,
};
use std::path::Path;

impl Server {
    /// Publishes the diagnostics of an open text.
    pub(super) fn publish_diagnostics(&mut self, uri: &Uri) {
        let Some(document) = self.documents.get(uri) else { return };
        let Some(index) = document.index.clone() else { return };
        let all = index.diagnostics.iter().map(|said| diagnostic(said, document, &index, &self.copies));
        let (all, version) = (all.collect(), document.version);
        self.send(publish_message(uri, Some(version), all));
    }
}

/// Returns the notification that publishes diagnostics.
pub fn publish_message(uri: &Uri, version: Option<i32>, diagnostics: Vec<lsp_types::Diagnostic>) -> Message {
    let told = PublishDiagnosticsParams { uri: uri.clone(), diagnostics, version };
    Message::Notification(Notification::new(PublishDiagnostics::METHOD.to_string(), told))
}

/// Translates one diagnostic.
pub fn diagnostic(
    said: &Diagnostic,
    document: &Document,
    index: &Index,
    copies: &LibraryCopies,
) -> lsp_types::Diagnostic {
    let severity = match said.severity {
        Severity::Error => DiagnosticSeverity::ERROR,
        Severity::Warning => DiagnosticSeverity::WARNING,
        Severity::Note => DiagnosticSeverity::INFORMATION,
    };
    let mut message = said.message.clone();
    if !said.primary.text.is_empty() {
        message.push_str(&format!("\n{}", said.primary.text));
    }
    for note in &said.notes {
        message.push_str(&format!("\nNote: {note}"));
    }
    for help in said.helps() {
        message.push_str(&format!("\nHelp: {}", help.text));
    }
    let mut related = Vec::new();
    let mut relate = |span: Span, text: &str| {
        if let Some(location) = location(index, copies, span) {
            related.push(DiagnosticRelatedInformation { location, message: text.to_string() });
        }
    };
    // An error in a module is shown where this text imports it.
    let here = (said.primary.span.source == index.root).then_some(said.primary.span);
    let here = here.unwrap_or_else(|| {
        let file = index.sources().get(said.primary.span.source).map_or("", |source| &source.name);
        message = format!("in {file}: {message}");
        relate(said.primary.span, &said.primary.text);
        let inside = said.labels.iter().find(|label| label.span.source == index.root);
        inside.map_or(Span::new(index.root, 0, 0), |label| label.span)
    });
    for label in &said.labels {
        relate(label.span, &label.text);
    }
    lsp_types::Diagnostic {
        range: document.lines.span(&document.text, here),
        severity: Some(severity),
        code: Some(NumberOrString::String(said.code.to_string())),
        code_description: copies.explanation(said.code.as_str()).map(|href| CodeDescription { href }),
        source: Some("felis".to_string()),
        message,
        related_information: (!related.is_empty()).then_some(related),
        ..lsp_types::Diagnostic::default()
    }
}

/// Returns the URI of a text's file; for a text of the library, that of the copy.
pub fn file(index: &Index, copies: &LibraryCopies, source: SourceId) -> Option<Uri> {
    let text = index.sources().get(source)?;
    if index.is_library(source) {
        return copies.library(&text.name, &text.text);
    }
    let id = index.id_of(source)?;
    if Path::new(id).is_absolute() {
        return uri::of(Path::new(id));
    }
    id.parse().ok()
}

/// Returns the file and range of a span.
pub fn location(index: &Index, copies: &LibraryCopies, span: Span) -> Option<Location> {
    let text = index.sources().get(span.source)?;
    let range: Range = Lines::of(&text.text).span(&text.text, span);
    Some(Location { uri: file(index, copies, span.source)?, range })
}
