//! Runs of one text on several executors, whose results can be compared.
//!
//! Takes a text and executors; gives the end of the text on each. The text is checked once, and
//! each run begins with the state before it.

use super::transaction::TransactionEnd;
use super::{ExecutorSetup, Mode, Session, Statistics, Status};
use felis_base::diagnostic::Diagnostic;
use felis_compiler::jit::Jit;
use std::sync::Arc;

/// The end of a text on one executor.
pub struct ExecutorRun {
    /// The end, as that of an [`super::Outcome`].
    pub status: Status,
    /// The printed text.
    pub output: String,
    /// Errors, warnings and notes.
    pub diagnostics: Vec<Diagnostic>,
    jit: Option<Arc<Jit>>,
}

impl ExecutorRun {
    /// Returns the statistics of compiled code; `None` where nothing is compiled.
    pub fn statistics(&self) -> Option<&Statistics> {
        self.jit.as_deref().map(Jit::statistics)
    }
}

impl Session {
    /// Runs a text, which messages call `name`, on each of these executors.
    /// The last one stays the executor of the session, which keeps what its run leaves. A text that
    /// is refused has only one end.
    pub fn evaluate_on_each(
        &mut self,
        name: &str,
        text: &str,
        executors: &[ExecutorSetup],
    ) -> Vec<ExecutorRun> {
        self.run_on_each(name, text, executors, TransactionEnd::Commit)
    }

    /// Does the same, and keeps of the text only what it has read of the library.
    pub fn try_on_each(&mut self, name: &str, text: &str, executors: &[ExecutorSetup]) -> Vec<ExecutorRun> {
        self.run_on_each(name, text, executors, TransactionEnd::RollBack)
    }

    /// Runs a text on each of these executors, the last time with this end.
    fn run_on_each(
        &mut self,
        name: &str,
        text: &str,
        executors: &[ExecutorSetup],
        end: TransactionEnd,
    ) -> Vec<ExecutorRun> {
        let mut runs = Vec::new();
        let mut output = String::new();
        let out = &mut |text: &str| output.push_str(text);
        let outcome =
            self.evaluate_after(name, text, Mode::Script, out, end, |session, first, script, said| {
                let Some((last, others)) = executors.split_last() else { return };
                for setup in others {
                    let saved = session.snapshot();
                    session.set_executor(*setup);
                    let (mut output, mut diagnostics) = (String::new(), said.to_vec());
                    let out = &mut |text: &str| output.push_str(text);
                    let done =
                        session.run_modules_and_script(first, script, Mode::Script, out, &mut diagnostics);
                    let status = done.map_or_else(|status| status, |_| Status::Ok);
                    runs.push(ExecutorRun { status, output, diagnostics, jit: session.jit.clone() });
                    session.restore(saved);
                    session.clear_interrupt();
                }
                session.set_executor(*last);
            });
        let (status, diagnostics) = (outcome.status, outcome.diagnostics);
        runs.push(ExecutorRun { status, output, diagnostics, jit: self.jit.clone() });
        runs
    }
}
