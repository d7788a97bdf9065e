//! Transactions: an input changes the session as a whole or not at all.

use super::diagnostics::{internal_error, interruption};
use super::modules::ModuleScript;
use super::{Outcome, Session, Status, ValueText};
use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;
use felis_syntax::syntax::{self, Parsed};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::Ordering;

/// The end of a transaction that succeeds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TransactionEnd {
    Commit,
    RollBack,
}

impl Session {
    /// Reads a text with what it imports and does `work` on the scripts of new modules and on its
    /// statements; puts everything back unless that succeeds.
    pub(super) fn transaction(
        &mut self,
        name: &str,
        text: &str,
        work: impl FnOnce(
            &mut Session,
            &[ModuleScript],
            &Parsed,
            &mut Vec<Diagnostic>,
        ) -> Result<(Option<ValueText>, TransactionEnd), Status>,
    ) -> Outcome {
        self.clear_interrupt();
        let source = self.sources.add(name, text);
        let mut outcome =
            Outcome { status: Status::Rejected, diagnostics: Vec::new(), value: None, incomplete: false };
        let mut saved = None;
        let diagnostics = &mut outcome.diagnostics;
        // A bug in a stage must not cost the user the session.
        let done = catch_unwind(AssertUnwindSafe(|| {
            let mut parsed = syntax::parse(&source);
            outcome.incomplete = parsed.incomplete;
            diagnostics.append(&mut parsed.errors);
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Status::Rejected);
            }
            let reading = self.read_imports(&parsed.stmts, &syntax::mentioned_names(&source), diagnostics);
            // What the input needs of the library stays, whatever becomes of the input.
            let loaded = self.load_mentioned(&source).and_then(|()| self.load_mentioned_by_modules(&reading));
            loaded.map_err(|errors| {
                diagnostics.extend(errors);
                Status::Rejected
            })?;
            saved = Some(self.snapshot());
            self.bind_shown_sizes(&source);
            let first = self.check_modules(reading, &syntax::mentioned_names(&source), diagnostics);
            if self.interrupt.load(Ordering::SeqCst) {
                diagnostics.push(interruption(Span::new(source.id, 0, 0)));
                return Err(Status::Interrupted);
            }
            if diagnostics.iter().any(Diagnostic::is_error) {
                return Err(Status::Rejected);
            }
            work(self, &first, &parsed, diagnostics)
        }));
        let result = done.unwrap_or_else(|_| {
            outcome.diagnostics.push(internal_error(Span::new(source.id, 0, 0)));
            Err(Status::Failed)
        });
        let keep = match result {
            Ok((value, keep)) => {
                outcome.status = Status::Ok;
                outcome.value = value;
                keep
            }
            Err(status) => {
                outcome.status = status;
                TransactionEnd::RollBack
            }
        };
        if let (TransactionEnd::RollBack, Some(saved)) = (keep, saved) {
            self.restore(saved);
        }
        outcome
    }
}
