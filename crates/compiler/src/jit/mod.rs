//! Compiled execution: loops → machine code, run on all cores.
//!
//! [`Jit`] is the [`Accelerator`] of a session. It asks [`crate::array_loops`] for the kernel of
//! a unit, reuses the code of an earlier kernel of the same structure, or compiles it
//! ([`partition`], [`emit`], [`simd128`], [`code`]). [`kernel`] feeds values in, runs the phases
//! (parallel ones in pieces, through rayon) and makes values of the results.
//!
//! All `unsafe` of the compiler is in [`native`], with its reasons.
//!
//! Never evaluates by itself: what cannot be compiled, and whatever fails, is the evaluator's.

mod asm_x64;
mod call;
mod code;
mod component_stores;
mod division;
#[cfg(target_arch = "x86_64")]
mod elementary_avx512;
mod emit;
mod fields;
mod gemm;
mod growable;
mod induction;
mod kernel;
mod lane_control;
mod lane_cost;
mod lane_ranges;
mod masked_simd;
mod math;
mod native;
mod partition;
mod pieces;
mod private_variables;
mod simd128;
mod sort;
mod vector_call;
mod vector_loops;
mod vector_operations;
mod vector_plan;
mod vector_planner;
mod vector_registers;

use crate::array_loops::{self, Declined, Lowered};
use crate::build;
use crate::hash::{HashMap, stable_hash};
use crate::kernel::{Accelerator, CompilationUnit, Executable, NotCompiled};
pub use crate::loop_ir::MAX_CONSTANT_SIZE;
use crate::loop_ir::{Kernel, Origin, StructuralKey, TargetMachine};
use crate::source::Span;
use code::Code;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, mpsc};
use std::thread;
use std::time::Duration;

/// Compiled kernels that are cached.
const MAX_CACHED_KERNELS: usize = 2_000;

/// Statements from which a kernel is compiled on a background thread, so that waiting for it can be
/// interrupted.
const MIN_BACKGROUND_STATEMENTS: usize = 300;

/// Bytes of the stack of such a thread.
const COMPILE_STACK_BYTES: usize = 64 << 20;

/// The interval between two polls for an interruption while code, or its pieces on other threads, are
/// awaited.
const POLL_INTERVAL: Duration = Duration::from_millis(10);

/// Counters of the compiler's work so far.
#[derive(Debug, Default)]
pub struct Statistics {
    /// Parts that were turned into loops.
    pub lowered: AtomicU64,
    /// Parts that were declined.
    pub declined: AtomicU64,
    /// Kernels that were compiled: one for all shapes of a structure.
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
    /// The loop form.
    Loops,
    /// The work and the span, and the parallel loops; nothing of what takes no time.
    Scaling,
    /// The instructions of the code generator.
    Instructions,
}

/// The outcome for a unit.
#[derive(Clone, Debug)]
pub struct Trace {
    /// The place of the region.
    pub span: Span,
    /// The text of the stage; or the reason why the unit is left to the evaluator.
    pub text: Result<String, String>,
}

/// The key of a kernel: units of equal keys share their machine code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelKey {
    /// A hash of the structure of the loops.
    pub hash: u64,
    /// Bytes of a slot of each array that is read: of its elements, or of the codes of its indices.
    pub read: Vec<u8>,
    /// Bytes of a slot of each array of the result.
    pub written: Vec<u8>,
    /// Sizes, and numbers that follow from them, that are parameters.
    pub parameters: usize,
}

/// Compiles parts of programs.
pub struct Jit {
    shared: Arc<Shared>,
    trace: Mutex<Option<(Stage, Vec<Trace>)>>,
}

/// The state that kernels share.
pub(crate) struct Shared {
    /// The machine, with at least one thread.
    target: TargetMachine,
    pool: OnceLock<Option<rayon::ThreadPool>>,
    statistics: Statistics,
    code: Mutex<HashMap<StructuralKey, Option<Arc<Code>>>>,
}

impl Shared {
    /// The threads of this compiler, started when first wanted; `None` if there is only one.
    pub(crate) fn thread_pool(&self) -> Option<&rayon::ThreadPool> {
        let start = || {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(self.target.threads);
            let pool = pool.stack_size(call::WORKER_STACK_BYTES).start_handler(|_| call::begin_worker());
            let pool = pool.build().ok()?;
            (pool.current_num_threads() > 1).then_some(pool)
        };
        self.pool.get_or_init(start).as_ref()
    }

    /// The code of a kernel: made, or made before for another of its structure. Others may look for
    /// theirs while it is made.
    fn code(&self, kernel: &Kernel) -> Option<Arc<Code>> {
        let key = kernel.key();
        if let Some(code) = self.code.lock().expect(LOCK_NOT_POISONED).get(&key) {
            return code.clone();
        }
        let begun = std::time::Instant::now();
        let made = Code::compile(kernel).ok().map(Arc::new);
        self.statistics.compiled.fetch_add(1, Ordering::Relaxed);
        self.statistics.compiling.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let mut known = self.code.lock().expect(LOCK_NOT_POISONED);
        if known.len() >= MAX_CACHED_KERNELS {
            known.clear();
        }
        known.insert(key, made.clone());
        made
    }

    /// Optimizes a kernel, and compiles it.
    fn optimize_and_compile(&self, mut lowered: Lowered) -> Compiled {
        optimize(&mut lowered.kernel, self.target);
        // Code of an invalid kernel could read or write any memory.
        if let Err(why) = crate::loop_ir::validate::validate(&lowered.kernel) {
            panic!("an invalid kernel: {why}\n{}", crate::loop_ir::print::kernel(&lowered.kernel));
        }
        let code = self.code(&lowered.kernel);
        (lowered, code)
    }
}

/// The reason why no lock is poisoned: to look up, to take and to add is all that is done under
/// one.
const LOCK_NOT_POISONED: &str = "no thread panics while it holds a lock of the compiler";

/// Loops in their last form, and their code if there is some.
type Compiled = (Lowered, Option<Arc<Code>>);

/// Finishes loops; of many statements on a thread of its own, which is left to itself if nobody may
/// wait for it any more.
fn compile_cancellable(
    shared: &Arc<Shared>,
    lowered: Lowered,
    may_continue: &dyn Fn() -> bool,
) -> Option<Compiled> {
    if lowered.statements < MIN_BACKGROUND_STATEMENTS {
        return Some(shared.optimize_and_compile(lowered));
    }
    let (sender, receiver) = mpsc::channel();
    let (own, waiting) = (shared.clone(), Arc::new(Mutex::new(Some(lowered))));
    let given = waiting.clone();
    let work = move || {
        let lowered = given.lock().expect(LOCK_NOT_POISONED).take();
        if let Some(lowered) = lowered {
            // The receiver may be gone: then the result is not needed.
            let _ = sender.send(own.optimize_and_compile(lowered));
        }
    };
    let Ok(thread) = thread::Builder::new().stack_size(COMPILE_STACK_BYTES).spawn(work) else {
        let lowered = waiting.lock().expect(LOCK_NOT_POISONED).take()?;
        return Some(shared.optimize_and_compile(lowered));
    };
    loop {
        match receiver.recv_timeout(POLL_INTERVAL) {
            Ok(finished) => return Some(finished),
            Err(mpsc::RecvTimeoutError::Timeout) if may_continue() => {}
            Err(mpsc::RecvTimeoutError::Timeout) => return None,
            Err(mpsc::RecvTimeoutError::Disconnected) => match thread.join() {
                Ok(()) => return None,
                Err(panic) => std::panic::resume_unwind(panic),
            },
        }
    }
}

/// Runs the passes over a kernel for a machine.
fn optimize(kernel: &mut Kernel, target: TargetMachine) {
    kernel.target = target;
    crate::loop_ir::pass::run(kernel);
}

impl Jit {
    /// A compiler that uses that many threads, 0 for one on each core, and vectors of at most so
    /// many bits; by default the widest that this machine has.
    pub fn new(threads: usize, max_vector_bits: Option<usize>) -> Jit {
        let cores = || thread::available_parallelism().map_or(1, usize::from);
        let threads = if threads == 0 { cores() } else { threads };
        let (pool, code) = (OnceLock::new(), Mutex::default());
        let target = vector_loops::target(threads, max_vector_bits);
        let shared = Shared { target, pool, statistics: Statistics::default(), code };
        Jit { shared: Arc::new(shared), trace: Mutex::default() }
    }

    /// Counters of the compiler's work so far.
    pub fn statistics(&self) -> &Statistics {
        &self.shared.statistics
    }

    /// Records the text of each unit at a stage from this call on.
    pub fn trace(&self, stage: Stage) {
        *self.trace.lock().expect(LOCK_NOT_POISONED) = Some((stage, Vec::new()));
    }

    /// Takes the traces recorded since.
    pub fn take_traces(&self) -> Vec<Trace> {
        let mut trace = self.trace.lock().expect(LOCK_NOT_POISONED);
        trace.as_mut().map(|(_, noted)| std::mem::take(noted)).unwrap_or_default()
    }

    /// The key of the kernel of a unit, for which no code is made.
    ///
    /// # Errors
    /// The reason why the unit is left to the evaluator.
    pub fn kernel_key(unit: &CompilationUnit<'_>) -> Result<KernelKey, String> {
        let lowered = array_loops::lower(unit).map_err(|declined| declined.word().to_string())?;
        let mut kernel = lowered.kernel;
        optimize(&mut kernel, vector_loops::target(0, None));
        let widths = |is_of: &dyn Fn(Origin) -> bool| {
            kernel.arrays.iter().filter(|array| is_of(array.origin)).map(|array| array.width).collect()
        };
        Ok(KernelKey {
            hash: stable_hash(&kernel.key()),
            read: widths(&|origin| matches!(origin, Origin::Input(_) | Origin::InOut(_))),
            written: widths(&|origin| matches!(origin, Origin::Result(_))),
            parameters: kernel.sizes.len(),
        })
    }

    fn record_trace(&self, unit: &CompilationUnit<'_>, lowered: &Result<Lowered, Declined>) {
        let stage = self.trace.lock().expect(LOCK_NOT_POISONED).as_ref().map(|(stage, _)| *stage);
        let Some(stage) = stage else { return };
        let span = unit.region.span();
        let declined = |declined: &Declined| declined.word().to_string();
        let text = lowered.as_ref().map_err(declined).map(|lowered| match stage {
            Stage::Core => crate::core::print::unit(unit.program, unit.locals, unit.region),
            Stage::Loops => crate::loop_ir::print::kernel(&lowered.kernel),
            Stage::Scaling => crate::loop_ir::scaling::scaling(&lowered.kernel).text(),
            Stage::Instructions => Code::show(&lowered.kernel).unwrap_or_else(|error| error),
        });
        if let Some((_, noted)) = &mut *self.trace.lock().expect(LOCK_NOT_POISONED) {
            noted.push(Trace { span, text });
        }
    }
}

impl Accelerator for Jit {
    fn prepare(&self, unit: &CompilationUnit<'_>) -> Result<Arc<dyn Executable>, NotCompiled> {
        let statistics = &self.shared.statistics;
        let lowered = match array_loops::lower(unit) {
            Ok(lowered) => lowered,
            Err(Declined::Stopped) => return Err(NotCompiled::Stopped),
            Err(no) => {
                self.record_trace(unit, &Err(no));
                statistics.declined.fetch_add(1, Ordering::Relaxed);
                return Err(match no {
                    Declined::Length | Declined::Build(build::Declined::Length) => NotCompiled::TooLong,
                    _ => NotCompiled::Unsupported,
                });
            }
        };
        let (lowered, code) =
            compile_cancellable(&self.shared, lowered, unit.may_continue).ok_or(NotCompiled::Stopped)?;
        let lowered = Ok(lowered);
        self.record_trace(unit, &lowered);
        statistics.lowered.fetch_add(1, Ordering::Relaxed);
        match (lowered, code) {
            (Ok(lowered), Some(code)) => {
                Ok(Arc::new(kernel::CompiledKernel::new(lowered, code, self.shared.clone())))
            }
            _ => Err(NotCompiled::Unsupported),
        }
    }
}
