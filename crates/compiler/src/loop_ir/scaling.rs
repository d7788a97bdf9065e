//! Work and span of a kernel: what it computes, and what of it has to come one after the other
//! however many threads there are (Brent, *The parallel evaluation of general arithmetic
//! expressions*, 1974; Blelloch, *Programming parallel algorithms*, 1996).
//!
//! Both are estimates of [`cost`](super::cost), from the sizes of the kernel. The span is that of
//! statements in no parallel loop and, of each parallel loop, of one round: what a round does is
//! not divided. Rounds of a loop in order around parallel ones come one after the other.

use super::cost::Estimator;
use super::{Kernel, Op, Reg, Stmt, has_parallel_loop};
use std::fmt::Write;

/// A parallel loop.
pub struct ParallelLoop {
    /// The number of times that it runs.
    pub times: f64,
    /// Its rounds, which may all run at the same time.
    pub rounds: f64,
    /// Nanoseconds of a round.
    pub round_ns: f64,
    /// Bytes that a round loads and stores.
    pub round_bytes: f64,
}

/// The work and the span of a kernel, and its parallel loops.
#[derive(Default)]
pub struct Scaling {
    /// Nanoseconds on one thread.
    pub work_ns: f64,
    /// Nanoseconds on any number of threads.
    pub span_ns: f64,
    /// The parallel loops, in their order.
    pub loops: Vec<ParallelLoop>,
}

/// Estimates the scaling of a kernel.
pub fn scaling(kernel: &Kernel) -> Scaling {
    let mut walk = Walk { kernel, estimator: Estimator::new(kernel), found: Scaling::default() };
    walk.stmts(&kernel.body, 1.0);
    walk.found
}

struct Walk<'k> {
    kernel: &'k Kernel,
    estimator: Estimator<'k>,
    found: Scaling,
}

impl Walk<'_> {
    fn stmts(&mut self, stmts: &[Stmt], times: f64) {
        for stmt in stmts {
            match stmt {
                Stmt::ParallelFor { index, count, body } => self.parallel_loop(*index, *count, body, times),
                _ if !has_parallel_loop(std::slice::from_ref(stmt)) => {
                    let ns = times * self.estimator.stmt(stmt);
                    self.found.work_ns += ns;
                    self.found.span_ns += ns;
                }
                Stmt::For { low, high, body, .. } => {
                    self.stmts(body, times * self.estimator.rounds(*low, *high));
                }
                _ => stmt.bodies().into_iter().for_each(|body| self.stmts(body, times)),
            }
        }
    }

    fn parallel_loop(&mut self, index: Reg, count: Reg, body: &[Stmt], times: f64) {
        let rounds = self.estimator.count(count);
        let round_ns = self.estimator.iteration(index, body);
        let round_bytes = self.bytes(body);
        self.found.work_ns += times * rounds * round_ns;
        self.found.span_ns += times * round_ns;
        self.found.loops.push(ParallelLoop { times, rounds, round_ns, round_bytes });
    }

    /// The bytes that statements load and store.
    fn bytes(&self, stmts: &[Stmt]) -> f64 {
        let each = |stmt: &Stmt| {
            let own = match stmt {
                Stmt::Let(_, Op::Load(array, ..)) | Stmt::Store(array, ..) => {
                    f64::from(self.kernel.arrays[*array].width)
                }
                _ => 0.0,
            };
            let rounds = match stmt {
                Stmt::For { low, high, .. } | Stmt::Reduce { low, high, .. } => {
                    self.estimator.rounds(*low, *high)
                }
                _ => 1.0,
            };
            own + rounds * stmt.bodies().into_iter().map(|body| self.bytes(body)).sum::<f64>()
        };
        stmts.iter().map(each).sum()
    }
}

/// Nanoseconds of work that are worth a line.
const MIN_SHOWN_NS: f64 = 10_000.0;

impl Scaling {
    /// Returns the estimates as readable text; nothing if there is little work.
    pub fn text(&self) -> String {
        if self.work_ns < MIN_SHOWN_NS {
            return String::new();
        }
        let mut text = format!("work about {}, span {}\n", duration(self.work_ns), duration(self.span_ns));
        for ParallelLoop { times, rounds, round_ns, round_bytes } in &self.loops {
            let times = if *times == 1.0 { String::new() } else { format!(", {times:.0} times") };
            let _ = writeln!(
                text,
                "  a parallel loop of {rounds:.0} rounds{times}: each takes about {} and moves {round_bytes:.0} bytes",
                duration(*round_ns)
            );
        }
        text
    }
}

/// Returns nanoseconds as readable text.
fn duration(ns: f64) -> String {
    match ns {
        ..1e3 => format!("{ns:.1} ns"),
        1e3..1e6 => format!("{:.1} µs", ns / 1e3),
        1e6..1e9 => format!("{:.1} ms", ns / 1e6),
        _ => format!("{:.1} s", ns / 1e9),
    }
}
