//! Snapshots of a session, which a failed input or a question restores.

use super::Session;
use super::diagnostics::internal_error;
use super::modules::LoadedModules;
use super::parties::PartiesCheckpoint;
use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;
use felis_calculus::core::program::Extent;
use felis_check::check::Env;
use felis_runtime::eval::Checkpoint;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The state of a session. The program only grows, so that its extent suffices.
pub(super) struct Snapshot {
    env: Env,
    modules: LoadedModules,
    program: Extent,
    checkpoint: Checkpoint,
    parties: PartiesCheckpoint,
}

impl Session {
    /// Does `work` and puts everything back.
    pub(super) fn with_rollback<T>(
        &mut self,
        span: Span,
        work: impl FnOnce(&mut Session) -> Result<T, Vec<Diagnostic>>,
    ) -> Result<T, Vec<Diagnostic>> {
        let saved = self.snapshot();
        let done = catch_unwind(AssertUnwindSafe(|| work(self)));
        self.restore(saved);
        done.unwrap_or_else(|_| Err(vec![internal_error(span)]))
    }

    /// Takes a snapshot of the session.
    pub(super) fn snapshot(&mut self) -> Snapshot {
        Snapshot {
            env: self.env.clone(),
            modules: self.modules.clone(),
            program: self.program.extent(),
            checkpoint: self.machine.checkpoint(&self.program),
            parties: self.parties_checkpoint(),
        }
    }

    /// Puts a snapshot back.
    pub(super) fn restore(&mut self, saved: Snapshot) {
        // A type that is taken back keeps its number: what is known of it must not be taken for
        // another's.
        let after = std::mem::replace(&mut self.env, saved.env);
        self.env.number_after(&after);
        self.modules = saved.modules;
        let instances = self.program.instances.len();
        self.program.truncate(&saved.program);
        if self.program.instances.len() < instances {
            self.clear_instances();
        }
        self.machine.restore(&saved.checkpoint);
        self.restore_parties(&saved.parties);
    }

    /// Does work whose texts are removed afterward.
    pub fn with_temporary_sources<T>(&mut self, look: impl FnOnce(&mut Session) -> T) -> T {
        let texts = self.sources.len();
        let found = look(self);
        self.sources.truncate(texts);
        found
    }
}
