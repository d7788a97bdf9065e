//! Compiled execution: loops → machine code, run on all cores.
//!
//! [`Jit`] is the [`Accelerator`] of a session. It asks [`crate::lower`] for the loops of a part, looks
//! whether code of that structure exists, and otherwise makes it ([`phase`], [`emit`], [`vector`], [`code`]).
//! [`kernel`] feeds values in, runs the phases (parallel ones in pieces, through rayon) and makes values
//! of the results.
//!
//! All `unsafe` of the compiler is in [`native`], with its reasons.
//!
//! Never evaluates by itself: what cannot be compiled, and whatever fails, is the evaluator's.

mod code;
mod contract;
#[cfg(target_arch = "x86_64")]
mod eight;
mod emit;
mod evex;
mod kernel;
mod masks;
mod math;
mod native;
mod phase;
mod vector;
mod wide;

use crate::hash::HashMap;
use crate::kernel::{Accelerator, Kernel, Part, What};
use crate::loops::{Key, Nest};
use crate::lower::{self, Lowered, No};
use crate::source::Span;
use code::Code;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

/// Code that is kept.
const MOST_CODE: usize = 2_000;

/// What has been done so far.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Parts that were turned into loops.
    pub lowered: AtomicU64,
    /// Parts that were declined.
    pub declined: AtomicU64,
    /// Nests that were compiled: one for all shapes of a structure.
    pub compiled: AtomicU64,
    /// Nanoseconds spent on making code.
    pub compiling: AtomicU64,
    /// Runs of kernels.
    pub runs: AtomicU64,
    /// Runs that ended in a failure.
    pub failed: AtomicU64,
}

/// A stage on the way to machine code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The part as core.
    Core,
    /// As loops.
    Loops,
    /// As instructions of the code generator.
    Instructions,
}

/// What became of a part.
#[derive(Clone, Debug)]
pub struct Trace {
    /// Where the part stands.
    pub span: Span,
    /// How it looks at the stage; or why it is left to the evaluator.
    pub text: Result<String, &'static str>,
}

/// Compiles parts of programs.
pub struct Jit {
    shared: Arc<Shared>,
    trace: Mutex<Option<(Stage, Vec<Trace>)>>,
    code: Mutex<HashMap<Key, Option<Arc<Code>>>>,
}

/// What kernels have in common.
pub(crate) struct Shared {
    /// Threads; 0 for as many as there are cores.
    threads: usize,
    pool: OnceLock<Option<rayon::ThreadPool>>,
    statistics: Statistics,
}

impl Shared {
    /// The threads of this compiler, started when first wanted; `None` if there is only one.
    pub(crate) fn pool(&self) -> Option<&rayon::ThreadPool> {
        let start = || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads).build().ok()?;
            (pool.current_num_threads() > 1).then_some(pool)
        };
        self.pool.get_or_init(start).as_ref()
    }
}

impl Jit {
    /// A compiler that uses that many threads; 0 for one on each core.
    pub fn new(threads: usize) -> Jit {
        let shared = Shared { threads, pool: OnceLock::new(), statistics: Statistics::default() };
        Jit { shared: Arc::new(shared), trace: Mutex::default(), code: Mutex::new(HashMap::default()) }
    }

    /// What has been done so far.
    pub fn statistics(&self) -> &Statistics {
        &self.shared.statistics
    }

    /// The code of a nest: made, or made before for another of its structure.
    fn code(&self, nest: &Nest) -> Option<Arc<Code>> {
        let key = nest.key();
        let mut known = self.code.lock().ok()?;
        if let Some(code) = known.get(&key) {
            return code.clone();
        }
        let begun = std::time::Instant::now();
        let made = Code::compile(nest).ok().map(Arc::new);
        let statistics = &self.shared.statistics;
        statistics.compiled.fetch_add(1, Ordering::Relaxed);
        statistics.compiling.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        if known.len() >= MOST_CODE {
            known.clear();
        }
        known.insert(key, made.clone());
        made
    }

    /// From here on, notes how each part looks at a stage.
    pub fn trace(&self, stage: Stage) {
        if let Ok(mut trace) = self.trace.lock() {
            *trace = Some((stage, Vec::new()));
        }
    }

    /// What was noted since.
    pub fn traced(&self) -> Vec<Trace> {
        let noted = |mut trace: std::sync::MutexGuard<'_, Option<(Stage, Vec<Trace>)>>| {
            trace.as_mut().map(|(_, noted)| std::mem::take(noted)).unwrap_or_default()
        };
        self.trace.lock().map(noted).unwrap_or_default()
    }

    fn note(&self, part: &Part<'_>, lowered: &Result<Lowered, No>) {
        let Ok(mut trace) = self.trace.lock() else { return };
        let Some((stage, noted)) = &mut *trace else { return };
        let span = match part.what {
            What::Term(term) => term.span,
            What::Loop(stmt) => stmt.span,
        };
        let text = lowered.as_ref().map_err(|no| no.0).map(|lowered| match stage {
            Stage::Core => crate::core::print::part(part.program, part.locals, part.what.term_or_loop()),
            Stage::Loops => crate::loops::print::nest(&lowered.nest),
            Stage::Instructions => Code::show(&lowered.nest).unwrap_or_else(|error| error),
        });
        noted.push(Trace { span, text });
    }
}

impl Accelerator for Jit {
    fn prepare(&self, part: &Part<'_>) -> Option<Arc<dyn Kernel>> {
        let statistics = &self.shared.statistics;
        let lowered = lower::lower(part).map(|mut lowered| {
            crate::loops::pass::run(&mut lowered.nest);
            lowered
        });
        self.note(part, &lowered);
        let lowered = match lowered {
            Ok(lowered) => lowered,
            Err(_) => {
                statistics.declined.fetch_add(1, Ordering::Relaxed);
                return None;
            }
        };
        statistics.lowered.fetch_add(1, Ordering::Relaxed);
        // Machine code is made only of what holds together; that everything does is asked in tests.
        if let Err(why) = crate::loops::validate::validate(&lowered.nest) {
            debug_assert!(false, "an invalid nest: {why}\n{}", crate::loops::print::nest(&lowered.nest));
            return None;
        }
        let code = self.code(&lowered.nest)?;
        Some(Arc::new(kernel::NestKernel::new(lowered, code, self.shared.clone())))
    }
}
