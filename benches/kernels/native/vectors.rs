//! Kernels over one axis.

use super::{Native, Out, PARALLEL, PIECE, numbers, pieces};
use rayon::prelude::*;

/// a·x + y
pub fn axpy(n: usize) -> Native {
    let (x, y) = (numbers(n, 7919), numbers(n, 4799));
    Native::new(Out::reals(n), move |out| {
        pieces(&mut out.reals, PIECE, |at, part| {
            let (x, y) = (&x[at..at + part.len()], &y[at..at + part.len()]);
            for ((o, x), y) in part.iter_mut().zip(x).zip(y) {
                *o = 2.5 * x + y;
            }
        });
    })
}

/// √(x² + y²) / 2 + 1
pub fn half_norm(n: usize) -> Native {
    let (x, y) = (numbers(n, 7919), numbers(n, 4799));
    Native::new(Out::reals(n), move |out| {
        pieces(&mut out.reals, PIECE, |at, part| {
            let (x, y) = (&x[at..at + part.len()], &y[at..at + part.len()]);
            for ((o, x), y) in part.iter_mut().zip(x).zip(y) {
                *o = (x * x + y * y).sqrt() / 2.0 + 1.0;
            }
        });
    })
}

/// Σ (x - y)², in eight lanes, which lets the compiler use vectors.
pub fn distance(n: usize) -> Native {
    fn piece(x: &[f64], y: &[f64]) -> f64 {
        let mut lanes = [0.0; 8];
        let (xs, ys) = (x.chunks_exact(8), y.chunks_exact(8));
        let rest: f64 = xs.remainder().iter().zip(ys.remainder()).map(|(x, y)| (x - y) * (x - y)).sum();
        for (x, y) in xs.zip(ys) {
            for k in 0..8 {
                lanes[k] += (x[k] - y[k]) * (x[k] - y[k]);
            }
        }
        lanes.iter().sum::<f64>() + rest
    }
    let (x, y) = (numbers(n, 7919), numbers(n, 4799));
    Native::new(Out::reals(1), move |out| {
        out.reals[0] = if n < PARALLEL {
            piece(&x, &y)
        } else {
            x.par_chunks(PIECE).zip(y.par_chunks(PIECE)).map(|(x, y)| piece(x, y)).sum()
        };
    })
}

/// log (1 + exp x)
pub fn softplus(n: usize) -> Native {
    let x = numbers(n, 7919);
    Native::new(Out::reals(n), move |out| {
        pieces(&mut out.reals, 2_048, |at, part| {
            for (o, x) in part.iter_mut().zip(&x[at..]) {
                *o = (1.0 + x.exp()).ln();
            }
        });
    })
}

/// The prefix sums; for many elements by pieces: first the sums of the pieces, then each piece from
/// its start value.
pub fn prefix_sums(n: usize) -> Native {
    let x = numbers(n, 7919);
    fn piece(out: &mut [f64], x: &[f64], mut sum: f64) {
        for (o, x) in out.iter_mut().zip(x) {
            sum += x;
            *o = sum;
        }
    }
    Native::new(Out::reals(n), move |out| {
        if n < 10 * PARALLEL {
            return piece(&mut out.reals, &x, 0.0);
        }
        let sums: Vec<f64> = x.par_chunks(PIECE).map(|x| x.iter().sum()).collect();
        let mut before = 0.0;
        let starts = sums.iter().map(|sum| {
            let start = before;
            before += sum;
            start
        });
        let starts: Vec<f64> = starts.collect();
        let parts = out.reals.par_chunks_mut(PIECE).zip(x.par_chunks(PIECE)).zip(starts);
        parts.for_each(|((out, x), start)| piece(out, x, start));
    })
}

fn scattered(i: usize) -> usize {
    i * 2_654_435_761 % 4_294_967_296
}

/// The elements at given indices.
pub fn gather(n: usize) -> Native {
    let x = numbers(n, 7919);
    let at: Vec<u32> = (0..n).map(|i| (scattered(i) % n) as u32).collect();
    Native::new(Out::reals(n), move |out| {
        pieces(&mut out.reals, PIECE, |from, part| {
            for (o, at) in part.iter_mut().zip(&at[from..]) {
                *o = x[*at as usize];
            }
        });
    })
}

/// The number of occurrences of each of 1024 values; for many elements by pieces, which are added.
pub fn histogram(n: usize) -> Native {
    let x: Vec<u16> = (0..n).map(|i| (scattered(i) / 64 % 1024) as u16).collect();
    fn count(x: &[u16], out: &mut [i64]) {
        for v in x {
            out[usize::from(*v)] += 1;
        }
    }
    Native::new(Out::ints(1024), move |out| {
        out.ints.fill(0);
        if n < PARALLEL {
            return count(&x, &mut out.ints);
        }
        let parts: Vec<Vec<i64>> = x
            .par_chunks(n.div_ceil(rayon::current_num_threads() * 4))
            .map(|x| {
                let mut counts = vec![0; 1024];
                count(x, &mut counts);
                counts
            })
            .collect();
        for part in parts {
            out.ints.iter_mut().zip(part).for_each(|(o, c)| *o += c);
        }
    })
}
