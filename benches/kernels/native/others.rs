//! Kernels with a loop for each element.

use super::{Native, Out, numbers, pieces};
use rayon::prelude::*;

/// The product of two matrices: for each row, row after row of the other matrix, in blocks that
/// stay in cache. A library of linear algebra, such as that of NumPy, is faster.
pub fn matmul(n: usize) -> Native {
    const BLOCK: usize = 64;
    let (a, b) = (numbers(n * n, 7919), numbers(n * n, 4799));
    Native::new(Out::reals(n * n), move |out| {
        pieces(&mut out.reals, 8 * n, |at, rows| {
            let first = at / n;
            rows.fill(0.0);
            for block in (0..n).step_by(BLOCK) {
                for (i, row) in rows.chunks_mut(n).enumerate() {
                    for k in block..n.min(block + BLOCK) {
                        let factor = a[(first + i) * n + k];
                        for (o, b) in row.iter_mut().zip(&b[k * n..(k + 1) * n]) {
                            *o += factor * b;
                        }
                    }
                }
            }
        });
    })
}

/// The forces between bodies.
pub fn bodies(n: usize) -> Native {
    let (x, y, z) = (numbers(n, 7919), numbers(n, 4799), numbers(n, 6007));
    let mass = numbers(n, 3571);
    let pull = move |i: usize| {
        let (mut px, mut py, mut pz) = (0.0, 0.0, 0.0);
        for j in 0..n {
            let (dx, dy, dz) = (x[j] - x[i], y[j] - y[i], z[j] - z[i]);
            let r2 = dx * dx + dy * dy + dz * dz + 0.01;
            let force = mass[j] / (r2 * r2.sqrt());
            px += force * dx;
            py += force * dy;
            pz += force * dz;
        }
        [px, py, pz]
    };
    Native::new(Out::reals(3 * n), move |out| {
        let work = |(i, o): (usize, &mut [f64])| o.copy_from_slice(&pull(i));
        out.reals.par_chunks_mut(3).with_min_len(32).enumerate().for_each(work);
    })
}

/// The sum over the six edges at each vertex.
pub fn vertex_sum(n: usize) -> Native {
    let flow = numbers(3 * n, 7919);
    let edge = |v: usize, k: usize| {
        let from = v as i64 + (k as i64 / 3) * 997 * (k as i64 - 2);
        (from * 3 + k as i64 % 3).rem_euclid(3 * n as i64) as u32
    };
    let around: Vec<[u32; 6]> = (0..n).map(|v| std::array::from_fn(|k| edge(v, k))).collect();
    Native::new(Out::reals(n), move |out| {
        pieces(&mut out.reals, 4_096, |at, part| {
            for (o, edges) in part.iter_mut().zip(&around[at..]) {
                *o = edges.iter().map(|e| flow[*e as usize]).sum();
            }
        });
    })
}

/// Tridiagonal systems of equations, with 64 unknowns each.
pub fn tridiagonal(n: usize) -> Native {
    const K: usize = 64;
    let (a, c, d) = (numbers(n * n * K, 7919), numbers(n * n * K, 4799), numbers(n * n * K, 6007));
    fn solve(x: &mut [f64], a: &[f64], c: &[f64], d: &[f64]) {
        let (x, a, c, d) = (&mut x[..K], &a[..K], &c[..K], &d[..K]);
        let mut factor = [0.0; K];
        factor[0] = c[0] / 3.0;
        x[0] = d[0] / 3.0;
        for k in 1..K {
            let pivot = 3.0 - a[k] * factor[k - 1];
            factor[k] = c[k] / pivot;
            x[k] = (d[k] - a[k] * x[k - 1]) / pivot;
        }
        for k in (0..K - 1).rev() {
            x[k] -= factor[k] * x[k + 1];
        }
    }
    Native::new(Out::reals(n * n * K), move |out| {
        pieces(&mut out.reals, 128 * K, |at, part| {
            for (i, x) in part.chunks_mut(K).enumerate() {
                let from = at + i * K;
                solve(x, &a[from..from + K], &c[from..from + K], &d[from..from + K]);
            }
        });
    })
}
