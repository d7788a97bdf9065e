//! The kernels in Rust: plain loops over flat slices, as a Rust programmer writes them, with rayon
//! where it is faster.
//!
//! Takes the name of a kernel and a size; gives the work ready to run, on the same data as the
//! program of that name in `benches/kernels`. Results are stored into memory allocated before:
//! nothing is allocated during a measurement. `RUSTFLAGS="-C target-cpu=native"` enables vectors
//! wider than those of SSE2.

mod grids;
mod others;
mod vectors;

use rayon::prelude::*;

/// The number of elements from which a loop is shared among threads.
const PARALLEL: usize = 50_000;

/// The number of elements of a piece of a shared loop.
const PIECE: usize = 16_384;

/// The results of a kernel.
#[derive(Default)]
pub struct Out {
    /// The reals, in storage order.
    pub reals: Vec<f64>,
    /// The integers, in storage order.
    pub ints: Vec<i64>,
}

impl Out {
    fn reals(n: usize) -> Out {
        Out { reals: vec![0.0; n], ints: Vec::new() }
    }

    fn ints(n: usize) -> Out {
        Out { reals: Vec::new(), ints: vec![0; n] }
    }

    /// Returns one number that depends on each element and its position, and the sum of the
    /// magnitudes of its terms.
    pub fn check(&self) -> (f64, f64) {
        if self.reals.len() == 1 {
            return (self.reals[0], self.reals[0].abs());
        }
        let weight = |i: usize| (i % 7 + 1) as f64;
        let terms = self.reals.iter().enumerate().map(|(i, v)| v * weight(i));
        let whole = self.ints.iter().enumerate().map(|(i, v)| *v as f64 * weight(i));
        terms.chain(whole).fold((0.0, 0.0), |(sum, size), v| (sum + v, size + v.abs()))
    }
}

/// A kernel with its data.
pub struct Native {
    run: Box<dyn FnMut(&mut Out)>,
    /// The results of the last run.
    pub out: Out,
}

impl Native {
    fn new(out: Out, run: impl FnMut(&mut Out) + 'static) -> Native {
        Native { run: Box::new(run), out }
    }

    /// Runs the kernel once.
    pub fn run(&mut self) {
        (self.run)(std::hint::black_box(&mut self.out));
        std::hint::black_box(&self.out);
    }
}

/// Returns the kernel of this name at a size.
pub fn kernel(name: &str, n: usize) -> Native {
    match name {
        "axpy" => vectors::axpy(n),
        "half_norm" => vectors::half_norm(n),
        "distance" => vectors::distance(n),
        "softplus" => vectors::softplus(n),
        "prefix_sums" => vectors::prefix_sums(n),
        "gather" => vectors::gather(n),
        "histogram" => vectors::histogram(n),
        "stencil" => grids::stencil(n),
        "row_sums" => grids::row_sums(n),
        "column_sums" => grids::column_sums(n),
        "laplacian" => grids::laplacian(n),
        "diffusion" => grids::diffusion(n),
        "mandelbrot" => grids::mandelbrot(n),
        "matmul" => others::matmul(n),
        "bodies" => others::bodies(n),
        "vertex_sum" => others::vertex_sum(n),
        "tridiagonal" => others::tridiagonal(n),
        _ => panic!("no kernel `{name}` in Rust"),
    }
}

/// Returns numbers between 0 and 1 without a simple order.
fn numbers(n: usize, p: usize) -> Vec<f64> {
    (0..n).into_par_iter().map(|i| (i * (i + p) % 10007) as f64 / 10007.0).collect()
}

/// Processes pieces of `out`, each with the position at which it begins; on all threads if there
/// are many elements.
fn pieces<T: Send>(out: &mut [T], piece: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    if out.len() < PARALLEL {
        out.chunks_mut(piece).enumerate().for_each(|(k, part)| work(k * piece, part));
    } else {
        out.par_chunks_mut(piece).enumerate().for_each(|(k, part)| work(k * piece, part));
    }
}
