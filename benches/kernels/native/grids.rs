//! Kernels over two axes.

use super::{Native, Out, PARALLEL, numbers, pieces};
use rayon::prelude::*;

/// One step of heat on a torus.
pub fn stencil(n: usize) -> Native {
    let u = numbers(n * n, 7919);
    Native::new(Out::reals(n * n), move |out| {
        pieces(&mut out.reals, n, |at, row| {
            let i = at / n;
            let line = |i: usize| &u[i * n..(i + 1) * n];
            let (here, up, down) = (line(i), line((i + n - 1) % n), line((i + 1) % n));
            let one = |up: f64, down: f64, left: f64, right: f64, here: f64| {
                here + 0.2 * (up + down + left + right - 4.0 * here)
            };
            row[0] = one(up[0], down[0], here[n - 1], here[1], here[0]);
            row[n - 1] = one(up[n - 1], down[n - 1], here[n - 2], here[0], here[n - 1]);
            // Slices of equal length need no bounds checks in the loop.
            let inner = n - 2;
            let (row, up, down) = (&mut row[1..][..inner], &up[1..][..inner], &down[1..][..inner]);
            let (left, right, here) = (&here[..inner], &here[2..][..inner], &here[1..][..inner]);
            for j in 0..inner {
                row[j] = one(up[j], down[j], left[j], right[j], here[j]);
            }
        });
    })
}

/// The sum of each row, in eight lanes.
pub fn row_sums(n: usize) -> Native {
    fn sum(row: &[f64]) -> f64 {
        let mut lanes = [0.0; 8];
        let parts = row.chunks_exact(8);
        let rest: f64 = parts.remainder().iter().sum();
        for part in parts {
            for k in 0..8 {
                lanes[k] += part[k];
            }
        }
        lanes.iter().sum::<f64>() + rest
    }
    let x = numbers(n * n, 7919);
    Native::new(Out::reals(n), move |out| {
        if n * n < PARALLEL {
            out.reals.iter_mut().zip(x.chunks(n)).for_each(|(o, row)| *o = sum(row));
        } else {
            out.reals.par_iter_mut().with_min_len(16).zip(x.par_chunks(n)).for_each(|(o, row)| *o = sum(row));
        }
    })
}

/// The sum of each column, row by row.
pub fn column_sums(n: usize) -> Native {
    fn add(rows: &[f64], sums: &mut [f64]) {
        for row in rows.chunks(sums.len()) {
            sums.iter_mut().zip(row).for_each(|(s, v)| *s += v);
        }
    }
    let x = numbers(n * n, 7919);
    Native::new(Out::reals(n), move |out| {
        out.reals.fill(0.0);
        if n * n < PARALLEL {
            return add(&x, &mut out.reals);
        }
        let rows = n.div_ceil(rayon::current_num_threads() * 4);
        let parts: Vec<Vec<f64>> = x
            .par_chunks(rows * n)
            .map(|rows| {
                let mut sums = vec![0.0; n];
                add(rows, &mut sums);
                sums
            })
            .collect();
        for part in parts {
            out.reals.iter_mut().zip(part).for_each(|(o, v)| *o += v);
        }
    })
}

/// The Laplacian inside a border of one.
pub fn laplacian(n: usize) -> Native {
    let width = n + 2;
    let u = numbers(width * width, 7919);
    Native::new(Out::reals(n * n), move |out| {
        pieces(&mut out.reals, n, |at, row| {
            let i = at / n;
            let line = |i: usize| &u[i * width..(i + 1) * width];
            let (north, south) = (&line(i)[1..][..n], &line(i + 2)[1..][..n]);
            let (west, here, east) = (&line(i + 1)[..n], &line(i + 1)[1..][..n], &line(i + 1)[2..][..n]);
            let row = &mut row[..n];
            for j in 0..n {
                row[j] = north[j] + south[j] + west[j] + east[j] - 4.0 * here[j];
            }
        });
    })
}

/// Horizontal diffusion with flux limiters on 64 levels with borders of two. The Laplacian and the
/// fluxes of a level are stored before the update.
pub fn diffusion(n: usize) -> Native {
    const LEVELS: usize = 64;
    let (width, middle) = (n + 4, n + 2);
    let u = numbers(LEVELS * width * width, 7919);
    fn limited(flux: f64, gradient: f64) -> f64 {
        if flux * gradient > 0.0 { 0.0 } else { flux }
    }
    let level = move |u: &[f64], out: &mut [f64], lap: &mut [f64], across: &mut [f64], down: &mut [f64]| {
        // A row of the input from a column on: row and column of the middle.
        let v = |i: usize, j: usize, count: usize| &u[(i + 1) * width + j + 1..][..count];
        for i in 0..middle {
            let row = &mut lap[i * middle..][..middle];
            let line = |i: usize, j: usize| &u[i * width + j..][..middle];
            let (north, south) = (line(i, 1), line(i + 2, 1));
            let (west, here, east) = (line(i + 1, 0), line(i + 1, 1), line(i + 1, 2));
            for j in 0..middle {
                row[j] = 4.0 * here[j] - (north[j] + south[j] + west[j] + east[j]);
            }
        }
        for i in 0..middle {
            let count = middle - 1;
            let row = &mut across[i * middle..][..count];
            let (l, next) = (&lap[i * middle..][..count], &lap[i * middle + 1..][..count]);
            let (here, east) = (v(i, 0, count), v(i, 1, count));
            for j in 0..count {
                row[j] = limited(next[j] - l[j], east[j] - here[j]);
            }
        }
        for i in 0..middle - 1 {
            let row = &mut down[i * middle..][..middle];
            let (l, next) = (&lap[i * middle..][..middle], &lap[(i + 1) * middle..][..middle]);
            let (here, south) = (v(i, 0, middle), v(i + 1, 0, middle));
            for j in 0..middle {
                row[j] = limited(next[j] - l[j], south[j] - here[j]);
            }
        }
        for i in 0..n {
            let row = &mut out[i * n..][..n];
            let at = (i + 1) * middle + 1;
            let (east, west) = (&across[at..][..n], &across[at - 1..][..n]);
            let (south, north) = (&down[at..][..n], &down[at - middle..][..n]);
            let here = v(i + 1, 1, n);
            for j in 0..n {
                row[j] = here[j] - 0.025 * (east[j] - west[j] + south[j] - north[j]);
            }
        }
    };
    Native::new(Out::reals(LEVELS * n * n), move |out| {
        let work = || [(); 3].map(|()| vec![0.0; middle * middle]);
        let levels = out.reals.par_chunks_mut(n * n).zip(u.par_chunks(width * width));
        levels.for_each_init(work, |[lap, across, down], (out, u)| level(u, out, lap, across, down));
    })
}

/// The number of steps until a point leaves the circle of radius 2.
pub fn mandelbrot(n: usize) -> Native {
    fn escape(a: f64, b: f64) -> i64 {
        let (mut x, mut y) = (0.0, 0.0);
        for k in 0..200 {
            let (x2, y2) = (x * x, y * y);
            if x2 + y2 > 4.0 {
                return k;
            }
            y = 2.0 * x * y + b;
            x = x2 - y2 + a;
        }
        200
    }
    Native::new(Out::ints(n * n), move |out| {
        let step = 1.0 / n as f64;
        pieces(&mut out.ints, n, |at, row| {
            let b = 3.0 * step * (at / n) as f64 - 1.5;
            for (i, o) in row.iter_mut().enumerate() {
                *o = escape(3.0 * step * i as f64 - 2.2, b);
            }
        });
    })
}
