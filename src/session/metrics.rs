//! Metrics of a session: compilation, runs of kernels, memory.

use super::Session;
use std::ops::Sub;
use std::sync::atomic::Ordering;

/// The work of a session since it began, or between two calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Parts of programs that were compiled.
    pub parts: u64,
    /// Kernels that were made for them: one for all shapes of a structure.
    pub kernels: u64,
    /// Seconds spent on making these.
    pub compiling: f64,
    /// Parts that were left to the evaluator.
    pub declined: u64,
    /// Runs of kernels.
    pub runs: u64,
    /// Runs that failed and were done again by the evaluator.
    pub failed: u64,
    /// Bytes of memory for arrays that were taken from the system.
    pub fresh: u64,
    /// Bytes of memory of earlier arrays that was used again.
    pub reused: u64,
    /// Slots of values that were copied because a value that others hold was stored into, or one
    /// grew.
    pub copied: u64,
}

impl Sub for Metrics {
    type Output = Metrics;

    fn sub(self, before: Metrics) -> Metrics {
        Metrics {
            parts: self.parts - before.parts,
            kernels: self.kernels - before.kernels,
            compiling: self.compiling - before.compiling,
            declined: self.declined - before.declined,
            runs: self.runs - before.runs,
            failed: self.failed - before.failed,
            fresh: self.fresh - before.fresh,
            reused: self.reused - before.reused,
            copied: self.copied - before.copied,
        }
    }
}

impl Session {
    /// Returns the metrics so far; memory counts for all sessions of the process.
    pub fn metrics(&self) -> Metrics {
        let (fresh, reused) = felis_runtime::value::memory_counters();
        let mut work =
            Metrics { fresh, reused, copied: felis_runtime::value::copied_slots(), ..Metrics::default() };
        if let Some(done) = self.statistics() {
            let get = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
            work.parts = get(&done.lowered);
            work.kernels = get(&done.compiled);
            work.compiling = get(&done.compiling) as f64 / 1e9;
            work.declined = get(&done.declined);
            work.runs = get(&done.runs);
            work.failed = get(&done.failed);
        }
        work
    }
}
