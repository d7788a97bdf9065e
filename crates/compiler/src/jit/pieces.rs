//! Runs of parallel loops: how many pieces they have, on how many threads, and how they are stopped.
//!
//! Takes the rounds of a loop and a function that runs some of them. How long a round has taken is
//! measured, and decides on the next run: by the model ([`cost`](crate::loop_ir::cost)) loops by
//! vectors take up to ten times as long as they do.
//!
//! A piece that fails stops the others, which may have no end of their own: all poll one flag, which
//! a failure sets, and the waiting thread where the run is interrupted.

use super::POLL_INTERVAL;
use super::partition::{INTERRUPT_WORD, STATUS_DONE, STATUS_FAILED, STATUS_STOPPED};
use crate::kernel::Limits;
use rayon::ThreadPool;
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Instant;

/// Nanoseconds of a parallel loop by the model from which its rounds are measured.
const MIN_MEASURED_NS: f64 = 20_000.0;

/// Nanoseconds of work of a piece of a long loop.
const LONG_PIECE_NS: f64 = 4_000_000.0;

/// Pieces for each thread, so that uneven ones even out.
const PIECES_PER_THREAD: usize = 4;

/// The work of a parallel loop, by its model or as measured in its last run.
#[derive(Clone, Copy)]
struct Work {
    /// Nanoseconds of a round.
    round_ns: f64,
    /// Nanoseconds from which the loop is run on several threads.
    min_parallel_ns: f64,
    /// Nanoseconds of a piece: between two of them a run can be stopped.
    min_piece_ns: f64,
}

impl Work {
    /// The work by the model.
    fn estimated(round_ns: f64) -> Work {
        Work { round_ns: round_ns.max(0.05), min_parallel_ns: 200_000.0, min_piece_ns: 100_000.0 }
    }

    /// The work as measured: of less, waking a thread takes longer than what it saves.
    fn measured(round_ns: f64) -> Work {
        Work { round_ns, min_parallel_ns: 60_000.0, min_piece_ns: 15_000.0 }
    }
}

/// The time of a round of a loop in its last run, in picoseconds; 0 before it.
#[derive(Default)]
pub struct RoundTime(AtomicU64);

impl RoundTime {
    fn last(&self) -> Option<Work> {
        let ps = self.0.load(Ordering::Relaxed);
        (ps > 0).then(|| Work::measured(ps as f64 / 1e3))
    }

    fn note(&self, taken_ns: u64, rounds: i64) {
        let rounds = u64::try_from(rounds).unwrap_or(0).max(1);
        self.0.store((taken_ns.saturating_mul(1_000) / rounds).max(1), Ordering::Relaxed);
    }
}

/// The rounds of a parallel loop.
pub struct Rounds<'a> {
    /// The number of rounds.
    pub count: i64,
    /// Nanoseconds of a round by the model.
    pub estimated_ns: f64,
    /// The time of a round.
    pub time: &'a RoundTime,
}

/// A function that does the rounds from one to below another one with the words of a frame, and gives
/// a status.
pub type RunPiece<'a> = dyn Fn(&mut [u64], (i64, i64)) -> i64 + Sync + 'a;

/// Does the rounds of a parallel loop in pieces; gives a status. `pool` is asked for threads if the
/// loop is long.
pub fn run<'p>(
    rounds: &Rounds<'_>,
    pool: impl FnOnce() -> Option<&'p ThreadPool>,
    (words, limits): (&mut [u64], &Limits<'_>),
    run_piece: &RunPiece<'_>,
) -> i64 {
    let count = rounds.count;
    let estimate = Work::estimated(rounds.estimated_ns);
    let is_measured = estimate.round_ns * count as f64 >= MIN_MEASURED_NS;
    let work = rounds.time.last().filter(|_| is_measured).unwrap_or(estimate);
    let is_long = work.round_ns * count as f64 >= work.min_parallel_ns;
    let report_progress = limits.report_progress.filter(|_| is_long);
    let report = |done: u64| {
        if let Some(report_progress) = report_progress {
            report_progress(done, count as u64);
        }
    };
    report(0);
    // All pieces together.
    let taken_ns = AtomicU64::new(0);
    let run_measured = |words: &mut [u64], range: (i64, i64)| {
        let begun = Instant::now();
        let status = run_piece(words, range);
        taken_ns.fetch_add(begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        status
    };
    let run_piece = if is_measured { &run_measured } else { run_piece };
    let pieces = Pieces { count, work, stop: limits.interrupt, report: &report, run_piece };
    let pool = if is_long { pool() } else { None };
    let status = match pool {
        Some(pool) => pieces.run_on(pool, words),
        None => pieces.run_in_order(words),
    };
    if is_measured && status == STATUS_DONE {
        rounds.time.note(taken_ns.into_inner(), count);
    }
    status
}

/// A run of a parallel loop.
struct Pieces<'a> {
    count: i64,
    work: Work,
    /// Set from outside to stop the run.
    stop: &'a AtomicBool,
    /// Called with the number of rounds that are done.
    report: &'a (dyn Fn(u64) + Sync),
    run_piece: &'a RunPiece<'a>,
}

impl Pieces<'_> {
    /// The number of rounds of a piece, at least.
    fn min_rounds(&self) -> i64 {
        ((self.work.min_piece_ns / self.work.round_ns) as i64).clamp(1, self.count.max(1))
    }

    fn run_in_order(&self, words: &mut [u64]) -> i64 {
        let mut low = 0;
        while low < self.count {
            let high = self.count.min(low + self.min_rounds());
            match (self.run_piece)(words, (low, high)) {
                STATUS_DONE if self.stop.load(Ordering::Relaxed) && high < self.count => {
                    return STATUS_STOPPED;
                }
                STATUS_DONE => {
                    low = high;
                    (self.report)(low as u64);
                }
                other => return other,
            }
        }
        STATUS_DONE
    }

    fn run_on(&self, pool: &ThreadPool, words: &[u64]) -> i64 {
        let count = self.count;
        let whole = self.work.round_ns * count as f64;
        let threads = pool.current_num_threads() as i64;
        let most = ((whole / LONG_PIECE_NS) as i64).max(threads * PIECES_PER_THREAD as i64);
        let wanted = (count / self.min_rounds()).clamp(1, most);
        // Rounds of which some pieces would have two and others one are pieces themselves.
        let wanted = if count < 2 * wanted { count } else { wanted };
        let (status, done) = (AtomicI64::new(STATUS_DONE), AtomicU64::new(0));
        // Pieces poll this in place of the interruption.
        let halt = AtomicBool::new(false);
        let mut frame = words.to_vec();
        frame[INTERRUPT_WORD] = std::ptr::from_ref(&halt) as u64;
        // A failure counts for more: the evaluator can be stopped, too.
        let note_stop = || {
            let _ =
                status.compare_exchange(STATUS_DONE, STATUS_STOPPED, Ordering::Relaxed, Ordering::Relaxed);
        };
        let run = |piece: i64| {
            if halt.load(Ordering::Relaxed) {
                return note_stop();
            }
            let bound = |k: i64| (i128::from(count) * i128::from(k) / i128::from(wanted)) as i64;
            let (low, high) = (bound(piece), bound(piece + 1));
            // Addresses of own arrays are written into a copy.
            match (self.run_piece)(&mut frame.clone(), (low, high)) {
                STATUS_DONE => {
                    let rounds = (high - low) as u64;
                    (self.report)(done.fetch_add(rounds, Ordering::Relaxed) + rounds);
                }
                STATUS_FAILED => {
                    status.store(STATUS_FAILED, Ordering::Relaxed);
                    halt.store(true, Ordering::Relaxed);
                }
                _ => note_stop(),
            }
        };
        let (ended, end) = mpsc::channel::<()>();
        pool.in_place_scope(|scope| {
            scope.spawn(|_| {
                (0..wanted).into_par_iter().for_each(run);
                drop(ended);
            });
            while end.recv_timeout(POLL_INTERVAL) == Err(RecvTimeoutError::Timeout) {
                if self.stop.load(Ordering::Relaxed) {
                    halt.store(true, Ordering::Relaxed);
                }
            }
        });
        status.into_inner()
    }
}
