//! Reports: the messages of one input, each with the error that it was made from.
//!
//! A hint that depends on the surroundings of a mistake is added after the mistake was reported. It
//! selects reports by the variant and the fields of their [`CheckError`], never by rendered text.

use crate::check::error::CheckError;
use crate::diagnostic::{Diagnostic, Help};
use crate::source::Span;
use crate::types::Type;

/// An error and its message, to which a hint may have been added.
pub(super) struct Report {
    /// The error.
    pub(super) error: CheckError,
    /// The message made from it, with later hints.
    diagnostic: Diagnostic,
}

impl Report {
    /// Returns the primary place of the message.
    pub(super) fn span(&self) -> Span {
        self.diagnostic.primary.span
    }

    /// Returns true for errors, false for warnings and notes.
    pub(super) fn is_error(&self) -> bool {
        self.diagnostic.is_error()
    }

    /// Returns true if the message offers an edit.
    pub(super) fn has_edit(&self) -> bool {
        self.diagnostic.help.as_ref().is_some_and(|help| !help.edits.is_empty())
    }

    /// Replaces the help of the message.
    pub(super) fn set_help(&mut self, help: Help) {
        self.diagnostic.help = Some(help);
    }
}

/// The reports of one input, in the order in which the mistakes were found.
#[derive(Default)]
pub(super) struct Reports(Vec<Report>);

impl Reports {
    /// Adds a report, unless there is one with the same message at the same places.
    pub(super) fn add(&mut self, error: CheckError) {
        let diagnostic = error.to_diagnostic();
        if self.0.iter().all(|report| report.diagnostic != diagnostic) {
            self.0.push(Report { error, diagnostic });
        }
    }

    /// Returns the number of reports: a mark for [`Reports::since`] and [`Reports::keep_one`].
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if a report is an error.
    pub(super) fn any_error(&self) -> bool {
        self.0.iter().any(Report::is_error)
    }

    /// Returns the number of errors.
    pub(super) fn errors(&self) -> usize {
        self.0.iter().filter(|report| report.is_error()).count()
    }

    /// Returns all reports.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Report> {
        self.0.iter()
    }

    /// Returns the reports added after a mark.
    pub(super) fn since(&mut self, mark: usize) -> &mut [Report] {
        &mut self.0[mark..]
    }

    /// Returns the report added last.
    pub(super) fn last_mut(&mut self) -> Option<&mut Report> {
        self.0.last_mut()
    }

    /// Keeps, of the reports added after a mark, the one at position `kept` after the mark.
    pub(super) fn keep_one(&mut self, mark: usize, kept: usize) {
        self.0.swap(mark, mark + kept);
        self.0.truncate(mark + 1);
    }

    /// Removes the reports that do not satisfy `keep`.
    pub(super) fn retain(&mut self, keep: impl Fn(&Report) -> bool) {
        self.0.retain(keep);
    }

    /// Returns the messages.
    pub(super) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.0.into_iter().map(|report| report.diagnostic).collect()
    }
}

/// Returns true if a part of the type is the error type, whose error has been reported.
pub(super) fn mentions_error(ty: &Type) -> bool {
    let mut found = ty.is_error();
    ty.kind().for_each_child(&mut |child| found = found || mentions_error(child));
    found
}
