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
            let one = |j: usize, left: usize, right: usize| {
                here[j] + 0.2 * (up[j] + down[j] + here[left] + here[right] - 4.0 * here[j])
            };
            row[0] = one(0, n - 1, 1);
            for (j, o) in row.iter_mut().enumerate().take(n - 1).skip(1) {
                *o = one(j, j - 1, j + 1);
            }
            row[n - 1] = one(n - 1, n - 2, 0);
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
            let (north, here, south) = (line(i), line(i + 1), line(i + 2));
            for (j, o) in row.iter_mut().enumerate() {
                *o = north[j + 1] + south[j + 1] + here[j] + here[j + 2] - 4.0 * here[j + 1];
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
        // At (i, j) of the middle.
        let v = |i: usize, j: usize| u[(i + 1) * width + j + 1];
        for i in 0..middle {
            let line = |i: usize| &u[i * width..(i + 1) * width];
            let (north, here, south) = (line(i), line(i + 1), line(i + 2));
            for (j, o) in lap[i * middle..(i + 1) * middle].iter_mut().enumerate() {
                *o = 4.0 * here[j + 1] - (north[j + 1] + south[j + 1] + here[j] + here[j + 2]);
            }
        }
        for i in 0..middle {
            for j in 0..middle - 1 {
                let at = i * middle + j;
                across[at] = limited(lap[at + 1] - lap[at], v(i, j + 1) - v(i, j));
            }
        }
        for i in 0..middle - 1 {
            for j in 0..middle {
                let at = i * middle + j;
                down[at] = limited(lap[at + middle] - lap[at], v(i + 1, j) - v(i, j));
            }
        }
        for i in 0..n {
            for j in 0..n {
                let at = (i + 1) * middle + j + 1;
                let fluxes = across[at] - across[at - 1] + down[at] - down[at - middle];
                out[i * n + j] = v(i + 1, j + 1) - 0.025 * fluxes;
            }
        }
    };
    Native::new(Out::reals(LEVELS * n * n), move |out| {
        let work = || [(); 3].map(|()| vec![0.0; middle * middle]);
        let levels = out.reals.par_chunks_mut(n * n).zip(u.par_chunks(width * width));
        levels.for_each_init(work, |[lap, across, down], (out, u)| level(u, out, lap, across, down));
    })
}

/// Steps until a point leaves the circle of radius 2.
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
