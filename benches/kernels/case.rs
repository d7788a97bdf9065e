//! The kernels, their sizes, and lower bounds of their memory traffic and operations.
//!
//! A case is a kernel at a size. Gives its program, split at the measured call: the text before it
//! is run once as a setup, the text after it checks the result. Runs nothing.

use std::path::Path;

/// A kernel.
pub struct Kernel {
    /// The name of its program in `benches/kernels`.
    pub name: &'static str,
    /// The values of `N` in its program, from small to large.
    pub sizes: &'static [usize],
    /// The number of its elements, for display.
    pub elements: fn(f64) -> f64,
    /// The number of bytes that it must read and write.
    pub bytes: fn(f64) -> f64,
    /// The number of floating-point operations that it must do; none if the number depends on the
    /// data or on the method of a library.
    pub flops: fn(f64) -> f64,
}

const VECTOR: &[usize] = &[1_000, 30_000, 1_000_000, 30_000_000];
const MATRIX: &[usize] = &[100, 1_000, 4_096];

/// All kernels.
pub const KERNELS: &[Kernel] = &[
    kernel("axpy", VECTOR, |n| n, |n| 24.0 * n, |n| 2.0 * n),
    kernel("half_norm", VECTOR, |n| n, |n| 24.0 * n, |n| 6.0 * n),
    kernel("distance", VECTOR, |n| n, |n| 16.0 * n, |n| 3.0 * n),
    kernel("softplus", &[1_000, 30_000, 1_000_000, 10_000_000], |n| n, |n| 16.0 * n, |_| 0.0),
    kernel("stencil", &[100, 1_000, 2_048], square, |n| 16.0 * n * n, |n| 7.0 * n * n),
    kernel("row_sums", MATRIX, square, |n| 8.0 * n * n, |n| n * n),
    kernel("column_sums", MATRIX, square, |n| 8.0 * n * n, |n| n * n),
    kernel("prefix_sums", &[1_000, 30_000, 1_000_000, 10_000_000], |n| n, |n| 16.0 * n, |n| n),
    kernel("gather", &[1_000, 30_000, 1_000_000, 10_000_000], |n| n, |n| 20.0 * n, |_| 0.0),
    kernel("histogram", &[1_000, 1_000_000, 10_000_000], |n| n, |n| 2.0 * n, |_| 0.0),
    kernel("matmul", &[64, 512, 1_024], square, |n| 24.0 * n * n, |n| 2.0 * n * n * n),
    kernel("mandelbrot", &[64, 1_024], square, |n| 8.0 * n * n, |_| 0.0),
    kernel("bodies", &[200, 2_000], |n| n, |n| 56.0 * n, |n| 19.0 * n * n),
    kernel("laplacian", &[100, 1_024], square, |n| 16.0 * n * n, |n| 5.0 * n * n),
    kernel("diffusion", &[32, 256], levels, |n| 16.0 * levels(n), |n| 25.0 * levels(n)),
    kernel("vertex_sum", &[1_000, 333_333], |n| n, |n| 56.0 * n, |n| 5.0 * n),
    kernel("tridiagonal", &[16, 256], levels, |n| 32.0 * levels(n), |n| 8.0 * levels(n)),
];

fn square(n: f64) -> f64 {
    n * n
}

fn levels(n: f64) -> f64 {
    64.0 * n * n
}

const fn kernel(
    name: &'static str,
    sizes: &'static [usize],
    elements: fn(f64) -> f64,
    bytes: fn(f64) -> f64,
    flops: fn(f64) -> f64,
) -> Kernel {
    Kernel { name, sizes, elements, bytes, flops }
}

/// A program in three parts.
pub struct Program {
    /// The definitions and data.
    pub before: String,
    /// The measured call, whose value is called `out`.
    pub call: String,
    /// The statement that prints one number that depends on all of the result.
    pub check: String,
}

impl Program {
    /// Reads the program of a kernel at a size.
    pub fn read(name: &str, size: usize) -> Program {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/kernels").join(format!("{name}.flx"));
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text: Vec<String> = text
            .lines()
            .map(|line| match line.strip_prefix("typedef N = ") {
                Some(_) => format!("typedef N = {size};"),
                None => line.to_string(),
            })
            .collect();
        let at = text.iter().position(|line| line.starts_with("var out = ")).expect("a line `var out = …;`");
        let call = text[at].trim_start_matches("var out = ").trim_end_matches(';').to_string();
        Program { before: text[..at].join("\n"), call, check: text[at + 1..].join("\n") }
    }
}
