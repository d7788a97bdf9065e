//! The forms in Rust of the kernels of `grid.py`, as one process: takes lines `load CELL SIZE` and
//! `turn SECONDS`, and answers each with a line of JSON, as `turns.py` does for Python.
//!
//! Knows no cell: `grid.py` writes them into `cells.rs`, and a `Cargo.toml` beside it.

mod cells;

use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::time::{Duration, Instant};

/// A form with its data.
trait Kernel {
    /// Returns the seconds of a call, and the check of its result.
    fn first(&self) -> (f64, Check);
    fn call(&self);
}

impl<Out: Elements, F: Fn() -> Out> Kernel for F {
    fn first(&self) -> (f64, Check) {
        let begun = Instant::now();
        let out = self();
        (begun.elapsed().as_secs_f64(), weighed(&out))
    }

    fn call(&self) {
        black_box(self());
    }
}

/// A sum that weighs each element by its place, and that of the magnitudes of its terms.
struct Check {
    sum: f64,
    scale: f64,
}

fn weighed(out: &impl Elements) -> Check {
    let mut place = 0;
    let mut check = Check { sum: 0.0, scale: 0.0 };
    out.each(&mut |element| {
        let term = element * f64::from(place % 1009 + 1);
        check.sum += term;
        check.scale += term.abs();
        place += 1;
    });
    check
}

/// Numbers, arrays and records as their numbers in storage order.
trait Elements {
    fn each(&self, visit: &mut impl FnMut(f64));
}

macro_rules! numbers {
    ($($number:ty),*) => {$(
        impl Elements for $number {
            fn each(&self, visit: &mut impl FnMut(f64)) {
                visit(*self as f64);
            }
        }
    )*};
}

numbers!(f64, f32, i64, u8, usize);

impl Elements for bool {
    fn each(&self, visit: &mut impl FnMut(f64)) {
        visit(f64::from(u8::from(*self)));
    }
}

impl<E: Elements, const N: usize> Elements for [E; N] {
    fn each(&self, visit: &mut impl FnMut(f64)) {
        self.iter().for_each(|element| element.each(visit));
    }
}

impl<E: Elements> Elements for Vec<E> {
    fn each(&self, visit: &mut impl FnMut(f64)) {
        self.iter().for_each(|element| element.each(visit));
    }
}

/// Integers below 10007: the same numbers as in `data.py`.
fn codes(p: i64, n: usize) -> impl Iterator<Item = i64> {
    (0..n as i64).map(move |i| i * (i + p) % 10007)
}

/// Places below `n` in a scattered order.
fn places(n: usize) -> Vec<usize> {
    (0..n).map(|i| i * 2654435761 % 4294967296 % n).collect()
}

/// Calls a form for some seconds; returns the fastest and the median call.
fn turn(kernel: &dyn Kernel, seconds: f64) -> (f64, f64) {
    let timed = |calls: u32| {
        let begun = Instant::now();
        (0..calls).for_each(|_| kernel.call());
        begun.elapsed().as_secs_f64() / f64::from(calls)
    };
    let calls = (50e-6 / timed(1)).clamp(1.0, 1000.0) as u32;
    let (begun, turn) = (Instant::now(), Duration::from_secs_f64(seconds));
    let mut taken = vec![timed(calls)];
    while begun.elapsed() < turn {
        taken.push(timed(calls));
    }
    taken.sort_by(f64::total_cmp);
    let middle = taken.len() / 2;
    let median = if taken.len() % 2 == 1 { taken[middle] } else { (taken[middle - 1] + taken[middle]) / 2.0 };
    (taken[0], median)
}

fn main() -> io::Result<()> {
    let mut loaded: Option<Box<dyn Kernel>> = None;
    for line in io::stdin().lock().lines() {
        let line = line?;
        let words: Vec<&str> = line.split(' ').collect();
        let answer = match (words.as_slice(), &loaded) {
            (["load", cell, size], _) => {
                // The data of the one before are dropped first.
                drop(loaded.take());
                loaded = size.parse().ok().and_then(|size| cells::load(cell, size));
                loaded.as_deref().map(|kernel| {
                    let (first, Check { sum, scale }) = kernel.first();
                    format!(r#"{{"check": {sum:?}, "scale": {scale:?}, "first": {first:?}}}"#)
                })
            }
            (["turn", seconds], Some(kernel)) => seconds.parse().ok().map(|seconds| {
                let (fastest, median) = turn(kernel.as_ref(), seconds);
                format!(r#"{{"fastest": {fastest:?}, "median": {median:?}}}"#)
            }),
            _ => None,
        };
        println!("{}", answer.unwrap_or_else(|| format!(r#"{{"error": "not understood: {line}"}}"#)));
        io::stdout().flush()?;
    }
    Ok(())
}
