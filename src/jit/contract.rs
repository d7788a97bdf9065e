//! Contractions: sums of products for each row and column, as fast as memory and arithmetic allow, in the lanes
//! of [`crate::core::reduction`].
//!
//! **Method.** Each sum has its eight lanes in one vector: lane `l` takes the products at depths `l`, `l + 8`, …, so four
//! rows and four columns are sixteen vectors that wait for nobody, and each step reads eight vectors for sixteen
//! multiplications and additions. Columns are packed so that depths lie side by side, a block of columns that stays in the
//! second level of cache; rows, which four at a time stay in the first, are packed too. Depths are filled up to
//! whole vectors by products of -0 and 1, which change nothing that they are added to. A multiplication is rounded before
//! it is added, or not, as it is asked for.
//!
//! Written for fixed lengths, so that the compiler makes vectors of it; once for each family of processors.

use super::phase::{DONE, STOPPED};
use crate::core::reduction::{LANES, tree};
use std::sync::atomic::{AtomicBool, Ordering};

/// Rows and columns of a tile.
pub const TILE: usize = 4;
/// Numbers of packed columns that stay in cache.
const PACKED: usize = 1 << 17;

/// A matrix in memory: the slots from its first one on, with strides.
#[derive(Clone, Copy)]
pub struct Strided<'a> {
    /// The slots.
    pub slots: &'a [f64],
    /// From a row to the next.
    pub row: usize,
    /// From a column to the next.
    pub column: usize,
}

impl Strided<'_> {
    fn get(&self, row: usize, column: usize) -> f64 {
        self.slots[row * self.row + column * self.column]
    }
}

/// Eight numbers.
pub type Lanes = [f64; LANES];

/// `into[r * columns + c]` = the sum over `k` of `left[r, k] * right[k, c]`, products `fused` with additions or rounded
/// before; [`DONE`], or [`STOPPED`] on the way.
pub fn contract(
    into: &mut [f64],
    left: Strided<'_>,
    right: Strided<'_>,
    (rows, columns, depth): (usize, usize, usize),
    fused: bool,
    stop: &AtomicBool,
) -> i64 {
    let product = if fused { product::<true> } else { product::<false> };
    let vectors = depth.div_ceil(LANES);
    let width = (PACKED / (vectors.max(1) * LANES)).max(TILE) / TILE * TILE;
    let mut packed: Vec<Lanes> = Vec::new();
    let mut tile: Vec<Lanes> = vec![[0.0; LANES]; TILE * vectors];
    let mut from = 0;
    while from < columns {
        let to = columns.min(from + width);
        pack_columns(&mut packed, right, from, to, depth);
        for first in (0..rows).step_by(TILE) {
            if stop.load(Ordering::Relaxed) {
                return STOPPED;
            }
            // Rows beyond the last are zeros that nobody looks at.
            tile.fill([-0.0; LANES]);
            pack(&mut tile, left, (first, TILE.min(rows - first)), depth);
            for (number, columns_of) in packed.chunks_exact((TILE * vectors).max(1)).enumerate() {
                let column = from + number * TILE;
                let sums = product(&tile, columns_of, vectors);
                for (r, sums) in sums.iter().enumerate().take(rows - first) {
                    for (c, sum) in sums.iter().enumerate().take(to - column) {
                        into[(first + r) * columns + column + c] = *sum;
                    }
                }
            }
        }
        from = to;
    }
    if depth == 0 {
        into.fill(-0.0);
    }
    DONE
}

/// Packs columns, four at a time; numbers beyond the last depth are 1.
fn pack_columns(packed: &mut Vec<Lanes>, right: Strided<'_>, from: usize, to: usize, depth: usize) {
    let vectors = depth.div_ceil(LANES);
    packed.clear();
    packed.resize((to - from).div_ceil(TILE) * TILE * vectors, [1.0; LANES]);
    let turned = Strided { row: right.column, column: right.row, ..right };
    for (number, tile) in packed.chunks_exact_mut((TILE * vectors).max(1)).enumerate() {
        let first = from + number * TILE;
        pack(tile, turned, (first, TILE.min(to - first)), depth);
    }
}

/// Packs up to four rows: for each eight depths, a vector of each row.
fn pack(tile: &mut [Lanes], from: Strided<'_>, (first, own): (usize, usize), depth: usize) {
    if from.column == 1 {
        for r in 0..own {
            let start = (first + r) * from.row;
            let (whole, rest) = from.slots[start..start + depth].as_chunks::<LANES>();
            whole.iter().enumerate().for_each(|(v, lanes)| tile[v * TILE + r] = *lanes);
            rest.iter().enumerate().for_each(|(l, number)| tile[whole.len() * TILE + r][l] = *number);
        }
        return;
    }
    for k in 0..depth {
        let place = &mut tile[k / LANES * TILE..][..TILE];
        let start = k * from.column + first * from.row;
        match from.slots.get(start..start + TILE) {
            Some(four) if from.row == 1 && own == TILE => {
                place.iter_mut().zip(four).for_each(|(vector, number)| vector[k % LANES] = *number);
            }
            _ => {
                let numbers = (0..own).map(|r| from.get(first + r, k));
                place.iter_mut().zip(numbers).for_each(|(vector, number)| vector[k % LANES] = number);
            }
        }
    }
}

/// The sums of four rows and four columns.
fn product<const FUSED: bool>(rows: &[Lanes], columns: &[Lanes], vectors: usize) -> [[f64; TILE]; TILE] {
    #[cfg(target_arch = "x86_64")]
    {
        if std::is_x86_feature_detected!("avx512f") {
            return super::native::wide::<FUSED>(rows, columns, vectors);
        }
        if std::is_x86_feature_detected!("avx2") && super::emit::fuses() {
            return super::native::medium::<FUSED>(rows, columns, vectors);
        }
    }
    tile::<FUSED>(rows, columns, vectors)
}

/// The sums of four rows and four columns, for whatever processor it is compiled for.
#[inline(always)]
pub(super) fn tile<const FUSED: bool>(
    rows: &[Lanes],
    columns: &[Lanes],
    vectors: usize,
) -> [[f64; TILE]; TILE] {
    let mut lanes = [[[-0.0; LANES]; TILE]; TILE];
    let rows = rows.as_chunks::<TILE>().0;
    let columns = columns.as_chunks::<TILE>().0;
    for (row, column) in rows.iter().zip(columns).take(vectors) {
        for r in 0..TILE {
            for c in 0..TILE {
                for l in 0..LANES {
                    let (a, b, lane) = (row[r][l], column[c][l], &mut lanes[r][c][l]);
                    *lane = if FUSED { a.mul_add(b, *lane) } else { *lane + a * b };
                }
            }
        }
    }
    lanes.map(|row| row.map(joined))
}

/// Lanes joined in their order.
fn joined(lanes: Lanes) -> f64 {
    tree(lanes, |a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum as the evaluator has it.
    fn plain(left: &[f64], right: &[f64], fused: bool) -> f64 {
        let mut lanes = [-0.0; LANES];
        for (k, (a, b)) in left.iter().zip(right).enumerate() {
            let lane = &mut lanes[k % LANES];
            *lane = if fused { a.mul_add(*b, *lane) } else { *lane + a * b };
        }
        joined(lanes)
    }

    #[test]
    fn sums_are_those_of_the_lanes() {
        let mut random = fastrand::Rng::with_seed(11);
        let stop = AtomicBool::new(false);
        for round in 0..300 {
            let most = if round % 10 == 0 { 300 } else { 20 };
            let (rows, columns, depth) = (random.usize(0..20), random.usize(0..20), random.usize(0..most));
            let mut number = || match random.u8(0..20) {
                0 => -0.0,
                1 => f64::INFINITY,
                _ => random.f64() * 2e3 - 1e3,
            };
            let left: Vec<f64> = (0..rows * depth).map(|_| number()).collect();
            let right: Vec<f64> = (0..columns * depth).map(|_| number()).collect();
            // The right one by columns, or by rows.
            let (row, column) = if round % 2 == 0 { (columns, 1) } else { (1, depth) };
            let left = Strided { slots: &left, row: depth, column: 1 };
            let right = Strided { slots: &right, row, column };
            let mut into = vec![7.0; rows * columns];
            let fused = round % 3 == 0;
            assert_eq!(contract(&mut into, left, right, (rows, columns, depth), fused, &stop), DONE);
            for r in 0..rows {
                for c in 0..columns {
                    let a: Vec<f64> = (0..depth).map(|k| left.get(r, k)).collect();
                    let b: Vec<f64> = (0..depth).map(|k| right.get(k, c)).collect();
                    let (sum, wanted) = (into[r * columns + c], plain(&a, &b, fused));
                    assert!(sum.to_bits() == wanted.to_bits() || sum.is_nan() && wanted.is_nan());
                }
            }
        }
    }

    #[test]
    fn every_width_of_vectors_gives_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(12);
        let lanes: Vec<Lanes> = (0..80).map(|_| std::array::from_fn(|_| random.f64() - 0.5)).collect();
        same::<true>(&lanes[..40], &lanes[40..]);
        same::<false>(&lanes[..40], &lanes[40..]);
        assert_ne!(
            tile::<true>(&lanes[..40], &lanes[40..], 10),
            tile::<false>(&lanes[..40], &lanes[40..], 10)
        );
    }

    fn same<const FUSED: bool>(rows: &[Lanes], columns: &[Lanes]) {
        let wanted = tile::<FUSED>(rows, columns, 10);
        assert_eq!(product::<FUSED>(rows, columns, 10), wanted);
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx2") && super::super::emit::fuses() {
                assert_eq!(super::super::native::medium::<FUSED>(rows, columns, 10), wanted);
            }
            if std::is_x86_feature_detected!("avx512f") {
                assert_eq!(super::super::native::wide::<FUSED>(rows, columns, 10), wanted);
            }
        }
    }
}
