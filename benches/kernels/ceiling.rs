//! The limits of the machine: bytes moved by a triad (the STREAM benchmark, J. McCalpin 1995), and
//! fused multiply-adds, on all threads.
//!
//! Measured in the same run as the kernels. Gives the least time that a number of bytes and
//! operations can take.

use rayon::prelude::*;
use std::collections::HashMap;
use std::time::Instant;

/// The limits measured so far.
pub struct Ceilings {
    /// The bytes per second of a triad, by the total size of its arrays.
    triads: HashMap<usize, f64>,
    /// The floating-point operations per second.
    flops: f64,
}

/// The number of bytes from which all threads are used.
const SHARED: usize = 1 << 20;

impl Ceilings {
    /// Measures multiplications; triads are measured when needed.
    pub fn measure() -> Ceilings {
        Ceilings { triads: HashMap::new(), flops: multiplications() }
    }

    /// Returns the operations per second.
    pub fn flops(&self) -> f64 {
        self.flops
    }

    /// Returns the bytes per second, read and written, for work on about this many bytes.
    pub fn bandwidth(&mut self, bytes: f64) -> f64 {
        let size = 1usize << (bytes.clamp(4_096.0, 768e6).log2().round() as u32);
        *self.triads.entry(size).or_insert_with(|| triad(size))
    }

    /// Returns the least number of seconds that this work can take.
    pub fn least(&mut self, bytes: f64, flops: f64) -> f64 {
        (bytes / self.bandwidth(bytes)).max(flops / self.flops)
    }
}

/// Returns the minimum time of many rounds, to exclude other activity of the machine.
fn best(mut work: impl FnMut()) -> f64 {
    work();
    let mut rounds = 1;
    let mut best = f64::INFINITY;
    let start = Instant::now();
    while start.elapsed().as_secs_f64() < 0.4 {
        let begun = Instant::now();
        for _ in 0..rounds {
            work();
        }
        let taken = begun.elapsed().as_secs_f64();
        best = best.min(taken / rounds as f64);
        if taken < 2e-4 {
            rounds = (rounds as f64 * (2e-4 / taken.max(1e-7)).clamp(1.5, 100.0)) as usize;
        }
    }
    best
}

fn triad(bytes: usize) -> f64 {
    let n = bytes / 24;
    let (x, y, mut out) = (vec![1.0f64; n], vec![2.0f64; n], vec![0.0f64; n]);
    let part = |out: &mut [f64], x: &[f64], y: &[f64]| {
        for ((o, x), y) in out.iter_mut().zip(x).zip(y) {
            *o = 3.0 * x + y;
        }
    };
    let seconds = best(|| {
        if bytes < SHARED {
            part(&mut out, &x, &y);
        } else {
            const PIECE: usize = 16_384;
            let parts = out.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).zip(y.par_chunks(PIECE));
            parts.for_each(|((out, x), y)| part(out, x, y));
        }
        std::hint::black_box(&mut out);
    });
    24.0 * n as f64 / seconds
}

fn multiplications() -> f64 {
    const LANES: usize = 64;
    const ROUNDS: usize = 10_000;
    let threads = rayon::current_num_threads();
    let seconds = best(|| {
        rayon::broadcast(|_| {
            let mut lanes = std::hint::black_box([1.0f64; LANES]);
            let (factor, term) = std::hint::black_box((0.999_999, 1e-6));
            for _ in 0..ROUNDS {
                for lane in &mut lanes {
                    // Without the instruction, the measurement would include a call.
                    *lane = if cfg!(target_feature = "fma") {
                        lane.mul_add(factor, term)
                    } else {
                        *lane * factor + term
                    };
                }
            }
            std::hint::black_box(lanes);
        });
    });
    2.0 * (LANES * ROUNDS * threads) as f64 / seconds
}
