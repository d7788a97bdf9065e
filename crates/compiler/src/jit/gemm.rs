//! Contractions: sums of products for each row and column, of binary64 or binary32, in the lanes of
//! [`crate::core::reduction`].
//!
//! **Method.** A tile of six rows and four vectors of eight columns is twenty-four independent
//! accumulators, which hide the latency of FMA: each step multiplies four vectors of columns by six
//! numbers, one of each row (Goto and van de Geijn, "Anatomy of high-performance matrix
//! multiplication", 2008). The lanes of a sum are eight such products, one after the other: lane
//! `l` takes the depths `l`, `l + 8`, …; then lanes are joined, whole vectors of columns at a time.
//! So each lane of each sum has its numbers in the order of depths, and all bits are those of one
//! sum alone.
//!
//! **Packing.** A panel of columns is copied to where its lanes lie one after the other, each step
//! a few whole lines of cache. A lane of it stays in the first or second level of cache for all
//! tiles of some rows, which are copied, too; meanwhile the next lane is fetched. Of shallow
//! matrices the whole panel stays there, and the next one is fetched. What is small is read where
//! it is. Threads that have different rows of one product have the panels in common: whoever needs
//! one first packs it, and each begins at another one. A multiplication is rounded before it is
//! added, or not, as it is asked for.
//!
//! Written for fixed lengths, so that the compiler makes vectors of it; once for each family of
//! processors.

use super::partition::{STATUS_DONE, STATUS_STOPPED};
use crate::core::reduction::{LANES, combine_lanes};
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Mutex, OnceLock};

/// Rows of a tile.
pub const TILE_ROWS: usize = 6;
/// Columns of a panel; at most so many of a tile.
pub const PANEL_COLUMNS: usize = 4 * LANES;
/// Numbers of packed rows.
const MAX_PACKED_NUMBERS: usize = 1 << 20;
/// Depths up to which a tile has all lanes in turn, and rows are read where they are: they stay in
/// the first level of cache.
const MAX_SHALLOW_DEPTH: usize = 512;
/// Tiles that take a lane of a panel in turns.
const TILES_PER_LANE: usize = 22;
/// Steps of a tile in which a line of the next lane is fetched.
pub const STEPS_PER_PREFETCH: usize = 2;
/// Rows of a panel that are fetched before they are copied.
const PREFETCH_ROWS: usize = 12;
/// Slots from the first to the last of columns that are read where they are.
const MAX_UNPACKED_SPREAD: usize = 1 << 14;
/// Numbers of panels that threads have in common; and of those that are kept for the next product.
const MAX_SHARED_NUMBERS: usize = 1 << 25;
const MAX_KEPT_NUMBERS: usize = 1 << 23;

/// A matrix in memory: the slots from its first one on, with strides.
#[derive(Clone, Copy)]
pub struct Strided<'a, T> {
    /// The slots.
    pub slots: &'a [T],
    /// The stride from a row to the next, in slots.
    pub row: usize,
    /// The stride from a column to the next, in slots.
    pub column: usize,
}

/// Eight numbers.
pub type Lanes = [f64; LANES];

/// A line of the cache, for packed numbers of either type: no vector of them crosses two.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Line(#[expect(dead_code, reason = "read as numbers of either type")] pub Lanes);

/// The numbers of a contraction: binary64 or binary32.
pub trait Number: Copy + std::ops::Add<Output = Self> + 'static {
    /// The number that changes no sum.
    const NEGATIVE_ZERO: Self;
    /// Columns that a tile has at a time.
    const COLUMNS_AT_ONCE: usize;

    /// The number with these bits.
    fn from_bits(bits: u64) -> Self;

    /// `sum + a * b`, the product rounded before unless it is fused.
    fn accumulate<const FUSED: bool>(sum: Self, a: Self, b: Self) -> Self;

    /// The sums of tiles. `lanes` has room for those of each lane; `next` is what is read after
    /// this panel, if it is known, or what one tile alone fetches of it.
    fn sums<const FUSED: bool>(
        to: Sums<'_, Self>,
        tiles: &[Tile<'_, Self>],
        columns: Factors<'_, Self>,
        depth: usize,
        lanes: &mut [Line],
        next: &[Line],
    );
}

impl Number for f64 {
    const NEGATIVE_ZERO: f64 = -0.0;
    const COLUMNS_AT_ONCE: usize = LANES;

    fn from_bits(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    #[inline(always)]
    fn accumulate<const FUSED: bool>(sum: f64, a: f64, b: f64) -> f64 {
        if FUSED { a.mul_add(b, sum) } else { sum + a * b }
    }

    fn sums<const FUSED: bool>(
        to: Sums<'_, f64>,
        tiles: &[Tile<'_, f64>],
        columns: Factors<'_, f64>,
        depth: usize,
        lanes: &mut [Line],
        next: &[Line],
    ) {
        #[cfg(target_arch = "x86_64")]
        {
            if std::is_x86_feature_detected!("avx512f") {
                return super::native::gemm_avx512::<FUSED>(to, tiles, columns, depth, lanes, next);
            }
            if std::is_x86_feature_detected!("avx2") && super::emit::has_fma() {
                return super::native::gemm_avx2::<FUSED>(to, tiles, columns, depth);
            }
        }
        let _ = (lanes, next);
        gemm_portable::<f64, FUSED>(to, tiles, columns, depth);
    }
}

impl Number for f32 {
    const NEGATIVE_ZERO: f32 = -0.0;
    const COLUMNS_AT_ONCE: usize = 2 * LANES;

    fn from_bits(bits: u64) -> f32 {
        f32::from_bits(bits as u32)
    }

    #[inline(always)]
    fn accumulate<const FUSED: bool>(sum: f32, a: f32, b: f32) -> f32 {
        if FUSED { a.mul_add(b, sum) } else { sum + a * b }
    }

    fn sums<const FUSED: bool>(
        to: Sums<'_, f32>,
        tiles: &[Tile<'_, f32>],
        columns: Factors<'_, f32>,
        depth: usize,
        _lanes: &mut [Line],
        _next: &[Line],
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && super::emit::has_fma() {
            return super::native::gemm_avx2_single::<FUSED>(to, tiles, columns, depth);
        }
        gemm_portable::<f32, FUSED>(to, tiles, columns, depth);
    }
}

/// The factors of a tile, by lanes: the one at step `s` of lane `l` lies at `l * lane + s * step`.
/// Those of other rows are `row` slots on; those of other columns lie side by side.
#[derive(Clone, Copy)]
pub struct Factors<'a, T> {
    /// The slots.
    pub slots: &'a [T],
    /// The stride from a lane to the next, in slots.
    pub lane: usize,
    /// The stride from a step to the next, in slots.
    pub step: usize,
    /// The stride from a row to the next, in slots.
    pub row: usize,
}

/// Steps of a lane.
pub fn steps(depth: usize, lane: usize) -> usize {
    depth.saturating_sub(lane).div_ceil(LANES)
}

/// The mode of a contraction.
#[derive(Clone, Copy)]
pub struct GemmMode<T> {
    /// Products are not rounded before they are added.
    pub fused: bool,
    /// The number to which each sum is added.
    pub start: T,
}

/// The destination of the sums of tiles that begin at the same column.
pub struct Sums<'a, T> {
    /// The number to which each is added.
    pub start: T,
    /// The slots from the first column on.
    pub into: &'a mut [T],
    /// The stride from a row to the next, in slots.
    pub stride: usize,
    /// The number of columns, at most [`PANEL_COLUMNS`].
    pub columns: usize,
}

/// The rows of a tile.
#[derive(Clone, Copy)]
pub struct Tile<'a, T> {
    /// The factors of [`TILE_ROWS`] rows.
    pub factors: Factors<'a, T>,
    /// The number of the first.
    pub first: usize,
    /// The number of rows; sums of others are discarded.
    pub own: usize,
}

thread_local! {
    /// Memory for packed rows, for a packed panel, and for sums of lanes.
    static PACK_BUFFERS: RefCell<(Vec<Line>, Vec<Line>, Vec<Line>)> = const { RefCell::new((Vec::new(), Vec::new(), Vec::new())) };
}

/// Packed panels that several threads have in common.
#[derive(Default)]
pub struct Panels {
    made: OnceLock<Vec<OnceLock<Vec<Line>>>>,
    /// The number of threads that have begun.
    comers: AtomicU32,
}

/// The memory of panels that are not needed any more.
static FREE_PANELS: Mutex<Vec<Vec<Line>>> = Mutex::new(Vec::new());

impl Panels {
    /// Each, if it has been packed.
    fn all(&self, count: usize) -> &[OnceLock<Vec<Line>>] {
        self.made.get_or_init(|| (0..count).map(|_| OnceLock::new()).collect())
    }

    /// The panel at which the next thread begins: a half of the way, a quarter, three quarters …
    /// (van der Corput's sequence).
    fn begin(&self, count: usize) -> usize {
        let part = self.comers.fetch_add(1, Ordering::Relaxed).reverse_bits();
        ((count as u64 * u64::from(part)) >> 32) as usize
    }
}

impl Drop for Panels {
    fn drop(&mut self) {
        let Ok(mut left) = FREE_PANELS.lock() else { return };
        let made = self.made.take().into_iter().flatten().filter_map(OnceLock::into_inner);
        let mut kept: usize = left.iter().map(|panel| panel.capacity() * LANES).sum();
        for panel in made {
            kept += panel.capacity() * LANES;
            if kept > MAX_KEPT_NUMBERS {
                break;
            }
            left.push(panel);
        }
    }
}

/// `into[r * columns + c]` = `start` + the sum over `k` of `left[r, k] * right[k, c]`, products
/// `fused` with additions or rounded before; [`STATUS_DONE`], or [`STATUS_STOPPED`] on the way.
pub fn gemm<T: Number>(
    into: &mut [T],
    left: Strided<'_, T>,
    right: Strided<'_, T>,
    (rows, columns, depth): (usize, usize, usize),
    GemmMode { fused, start }: GemmMode<T>,
    shared: Option<&Panels>,
    stop: &AtomicBool,
) -> i64 {
    if depth == 0 {
        into.fill(start + T::NEGATIVE_ZERO);
        return STATUS_DONE;
    }
    let sums = if fused { T::sums::<true> } else { T::sums::<false> };
    let per_line = size_of::<Line>() / size_of::<T>();
    let steps = depth.div_ceil(LANES);
    // Of a packed tile.
    let slots = steps * LANES * TILE_ROWS;
    let height = (MAX_PACKED_NUMBERS / slots).max(1) * TILE_ROWS;
    let in_place = left.column == 1 && depth <= MAX_SHALLOW_DEPTH;
    // Of a packed panel.
    let lines = steps * LANES * PANEL_COLUMNS / per_line;
    let panels = columns.div_ceil(PANEL_COLUMNS);
    let shared = shared.filter(|_| panels.saturating_mul(lines * per_line) <= MAX_SHARED_NUMBERS);
    PACK_BUFFERS.with_borrow_mut(|(packed, panel, lanes)| {
        let at_once =
            if depth <= MAX_SHALLOW_DEPTH { 1 } else { TILES_PER_LANE.min(rows.div_ceil(TILE_ROWS)) };
        // A line for each lane of eight sums.
        grow(lanes, at_once * TILE_ROWS * PANEL_COLUMNS, Line([0.0; LANES]));
        for first in (0..rows).step_by(height) {
            let end = rows.min(first + height);
            let copied = if in_place { end - (end - first) % TILE_ROWS } else { first };
            let numbers = (end - copied).div_ceil(TILE_ROWS) * slots;
            grow(packed, numbers.div_ceil(per_line), Line([0.0; LANES]));
            let packed: &mut [T] = super::native::numbers_mut(packed);
            for (tile, row) in (copied..end).step_by(TILE_ROWS).enumerate() {
                pack_rows(&mut packed[tile * slots..][..slots], left, (row, TILE_ROWS.min(end - row)), depth);
            }
            let tile = |row: usize| {
                let factors = if row < copied {
                    Factors { slots: &left.slots[row * left.row..], lane: 1, step: LANES, row: left.row }
                } else {
                    let slots = &packed[(row - copied) / TILE_ROWS * slots..];
                    Factors { slots, lane: steps * TILE_ROWS, step: TILE_ROWS, row: 1 }
                };
                Tile { factors, first: row, own: TILE_ROWS.min(end - row) }
            };
            let tiles: Vec<Tile<'_, T>> = (first..end).step_by(TILE_ROWS).map(tile).collect();
            let begin = shared.map_or(0, |shared| shared.begin(panels));
            for turn in 0..panels {
                let number = (begin + turn) % panels;
                let column = number * PANEL_COLUMNS;
                let own = PANEL_COLUMNS.min(columns - column);
                let near = right.column == 1
                    && depth * right.row <= MAX_UNPACKED_SPREAD
                    && own.is_multiple_of(T::COLUMNS_AT_ONCE);
                let of_columns = if near {
                    let slots = &right.slots[column..];
                    Factors { slots, lane: right.row, step: right.row * LANES, row: 0 }
                } else {
                    let pack = |panel: &mut Vec<Line>| {
                        grow(panel, lines, Line([0.0; LANES]));
                        pack_columns(super::native::numbers_mut(panel), right, (column, own), depth);
                    };
                    let packed: &[Line] = match shared {
                        Some(shared) => shared.all(panels)[number].get_or_init(|| {
                            let free =
                                FREE_PANELS.lock().expect("no thread panics while it holds the lock").pop();
                            let mut panel = free.unwrap_or_default();
                            pack(&mut panel);
                            panel
                        }),
                        None => {
                            pack(panel);
                            panel
                        }
                    };
                    Factors {
                        slots: super::native::numbers(packed),
                        lane: steps * PANEL_COLUMNS,
                        step: PANEL_COLUMNS,
                        row: 0,
                    }
                };
                let next = shared.and_then(|shared| shared.all(panels)[(number + 1) % panels].get());
                let mut next = next.map_or(&[][..], |panel| &panel[..lines]);
                for tiles in tiles.chunks(at_once) {
                    if stop.load(Ordering::Relaxed) {
                        return STATUS_STOPPED;
                    }
                    let to = Sums { start, into: &mut into[column..], stride: columns, columns: own };
                    sums(to, tiles, of_columns, depth, lanes, next);
                    if let [_] = tiles {
                        next = &next[(depth / STEPS_PER_PREFETCH).min(next.len())..];
                    }
                }
            }
        }
        STATUS_DONE
    })
}

/// Makes room for so many.
fn grow<T: Copy>(space: &mut Vec<T>, least: usize, of: T) {
    if space.len() < least {
        space.resize(least, of);
    }
}

/// Packs up to six rows, for each lane its steps, for each step a number of each row. What is
/// beyond is left as it was; it makes sums that nobody looks at.
fn pack_rows<T: Copy>(space: &mut [T], from: Strided<'_, T>, (first, own): (usize, usize), depth: usize) {
    let lane = depth.div_ceil(LANES) * TILE_ROWS;
    let row = |r: usize| &from.slots[(first + r) * from.row..];
    if from.column == 1 {
        // What is written lies together for all rows of a few steps.
        for (s, k) in (0..depth).step_by(LANES).enumerate() {
            for r in 0..own {
                for (l, number) in row(r)[k..depth.min(k + LANES)].iter().enumerate() {
                    space[l * lane + s * TILE_ROWS + r] = *number;
                }
            }
        }
        return;
    }
    for r in 0..own {
        let row = row(r);
        for k in 0..depth {
            space[k % LANES * lane + k / LANES * TILE_ROWS + r] = row[k * from.column];
        }
    }
}

/// Packs a panel of columns, for each lane its steps, for each step the numbers of all columns.
/// What is beyond is left as it was.
fn pack_columns<T: Number>(
    panel: &mut [T],
    from: Strided<'_, T>,
    (first, own): (usize, usize),
    depth: usize,
) {
    let lane = depth.div_ceil(LANES) * PANEL_COLUMNS;
    let place = |l: usize, s: usize| l * lane + s * PANEL_COLUMNS;
    if from.column == 1 {
        for k in 0..depth {
            // Rows may lie too far apart for the processor to foresee.
            super::native::prefetch(
                &from.slots[from.slots.len().min((k + PREFETCH_ROWS) * from.row + first)..],
                own,
            );
            let numbers = &from.slots[k * from.row + first..][..own];
            panel[place(k % LANES, k / LANES)..][..own].copy_from_slice(numbers);
        }
        return;
    }
    for start in (0..own).step_by(LANES) {
        let width = LANES.min(own - start);
        let column = |c: usize| &from.slots[(first + start + c) * from.column..];
        for s in 0..depth.div_ceil(LANES) {
            // Eight depths of eight columns, turned.
            let deep = LANES.min(depth - s * LANES);
            let mut turned = [[T::NEGATIVE_ZERO; LANES]; LANES];
            for c in 0..width {
                let numbers = &column(c)[s * LANES * from.row..];
                for (l, line) in turned.iter_mut().enumerate().take(deep) {
                    line[c] = numbers[l * from.row];
                }
            }
            for (l, line) in turned.iter().enumerate().take(deep) {
                panel[place(l, s) + start..][..LANES].copy_from_slice(line);
            }
        }
    }
}

/// The sums of tiles, for whatever processor it is compiled for.
#[inline(always)]
pub(super) fn gemm_portable<T: Number, const FUSED: bool>(
    to: Sums<'_, T>,
    tiles: &[Tile<'_, T>],
    columns: Factors<'_, T>,
    depth: usize,
) {
    for Tile { factors: rows, first, own: here } in tiles {
        for start in (0..to.columns).step_by(LANES) {
            let columns = Factors { slots: &columns.slots[start..], ..columns };
            let mut lanes = [[[T::NEGATIVE_ZERO; LANES]; TILE_ROWS]; LANES];
            for (l, lane) in lanes.iter_mut().enumerate() {
                let mut sums = [[T::NEGATIVE_ZERO; LANES]; TILE_ROWS];
                for s in 0..steps(depth, l) {
                    let column: &[T; LANES] =
                        columns.slots[l * columns.lane + s * columns.step..].first_chunk().unwrap();
                    for (r, sums) in sums.iter_mut().enumerate() {
                        let factor = rows.slots[l * rows.lane + s * rows.step + r * rows.row];
                        for (sum, number) in sums.iter_mut().zip(column) {
                            *sum = T::accumulate::<FUSED>(*sum, factor, *number);
                        }
                    }
                }
                *lane = sums;
            }
            for r in (0..TILE_ROWS).take(*here) {
                let joined =
                    combine_lanes(lanes.map(|lane| lane[r]), |a, b| std::array::from_fn(|c| a[c] + b[c]));
                let own = LANES.min(to.columns - start);
                let joined = joined.map(|sum| to.start + sum);
                to.into[(first + r) * to.stride + start..][..own].copy_from_slice(&joined[..own]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A number of either type for tests.
    trait TestNumber: Number + PartialEq + std::fmt::Display + std::fmt::Debug {
        fn of(number: f64) -> Self;
        /// The bits, those of one NaN for all.
        fn bits(self) -> u64;
    }

    impl TestNumber for f64 {
        fn of(number: f64) -> f64 {
            number
        }

        fn bits(self) -> u64 {
            if self.is_nan() { f64::NAN.to_bits() } else { self.to_bits() }
        }
    }

    impl TestNumber for f32 {
        fn of(number: f64) -> f32 {
            number as f32
        }

        fn bits(self) -> u64 {
            u64::from(if self.is_nan() { f32::NAN.to_bits() } else { self.to_bits() })
        }
    }

    /// Sums of tiles by one kind of vectors.
    type TileSums<'a, T> = &'a dyn Fn(Sums<'_, T>, &[Tile<'_, T>]);

    /// The sum as the evaluator has it.
    fn one<T: TestNumber>(left: &[T], right: &[T], fused: bool) -> T {
        let mut lanes = [T::NEGATIVE_ZERO; LANES];
        for (k, (a, b)) in left.iter().zip(right).enumerate() {
            let lane = &mut lanes[k % LANES];
            *lane = match fused {
                true => T::accumulate::<true>(*lane, *a, *b),
                false => T::accumulate::<false>(*lane, *a, *b),
            };
        }
        combine_lanes(lanes, |a, b| a + b)
    }

    #[test]
    fn sums_are_those_of_the_lanes() {
        sums_agree::<f64>();
        sums_agree::<f32>();
    }

    fn sums_agree<T: TestNumber>() {
        let mut random = fastrand::Rng::with_seed(11);
        let stop = AtomicBool::new(false);
        for round in 0..400 {
            let wide = if round % 10 == 1 { 150 } else { 20 };
            let most = if round % 10 == 0 { 700 } else { 20 };
            let (rows, columns, depth) = (random.usize(0..20), random.usize(0..wide), random.usize(0..most));
            let mut number = || match random.u8(0..20) {
                0 => -0.0,
                1 => f64::INFINITY,
                _ => random.f64() * 2e3 - 1e3,
            };
            let numbers: Vec<T> = (0..rows * depth).map(|_| T::of(number())).collect();
            // Each by rows, or by columns.
            let (row, column) = if round % 4 < 2 { (depth, 1) } else { (1, rows) };
            let left = Strided { slots: &numbers, row, column };
            let numbers: Vec<T> = (0..columns * depth).map(|_| T::of(number())).collect();
            let (row, column) = if round % 2 == 0 { (columns, 1) } else { (1, depth) };
            let right = Strided { slots: &numbers, row, column };
            let mut into = vec![T::of(7.0); rows * columns];
            let fused = round % 3 == 0;
            let start = [-0.0, 0.0, 0.7].map(T::of)[round % 5 % 3];
            let kind = GemmMode { fused, start };
            let shape = (rows, columns, depth);
            let panels = Panels::default();
            let shared = (round % 7 < 3).then_some(&panels);
            // Others have come before.
            if round % 7 == 1 {
                assert_eq!(gemm(&mut into.clone(), left, right, shape, kind, shared, &stop), STATUS_DONE);
            }
            assert_eq!(gemm(&mut into, left, right, shape, kind, shared, &stop), STATUS_DONE);
            for r in 0..rows {
                for c in 0..columns {
                    let get = |m: Strided<'_, T>, row: usize, column: usize| {
                        m.slots[row * m.row + column * m.column]
                    };
                    let a: Vec<T> = (0..depth).map(|k| get(left, r, k)).collect();
                    let b: Vec<T> = (0..depth).map(|k| get(right, k, c)).collect();
                    let (sum, wanted) = (into[r * columns + c], start + one(&a, &b, fused));
                    assert!(
                        sum.bits() == wanted.bits(),
                        "round {round}: {rows} by {columns}, depth {depth}: {sum} at {r}, {c} in place of {wanted}"
                    );
                }
            }
        }
    }

    #[test]
    fn every_width_of_vectors_gives_the_same_bits() {
        widths_agree::<f64>();
        widths_agree::<f32>();
    }

    fn widths_agree<T: TestNumber>() {
        let mut random = fastrand::Rng::with_seed(12);
        let mut numbers =
            |count: usize| -> Vec<T> { (0..count).map(|_| T::of(random.f64() - 0.5)).collect() };
        let (depth, step) = (77, 10 * PANEL_COLUMNS);
        let (of_rows, of_columns) = (numbers(2000), numbers(80 * step));
        let rows = Factors { slots: &of_rows, lane: 1, step: LANES, row: 90 };
        let columns = Factors { slots: &of_columns, lane: step, step: step * LANES, row: 0 };
        for own in [(6, 32), (1, 1), (5, 8), (3, 9), (6, 16), (2, 17), (4, 31)] {
            let fused = same::<T, true>(rows, columns, depth, own);
            let rounded = same::<T, false>(rows, columns, depth, own);
            assert!(own == (1, 1) || fused != rounded);
        }
    }

    /// A tile by the vectors of this processor, and by those that it is compiled for.
    fn same<T: TestNumber, const FUSED: bool>(
        rows: Factors<'_, T>,
        columns: Factors<'_, T>,
        depth: usize,
        own: (usize, usize),
    ) -> Vec<T> {
        let run = |sums: TileSums<'_, T>| {
            let mut into = vec![T::of(7.0); 2 * TILE_ROWS * 40];
            let to = Sums { start: T::of(0.3), into: &mut into, stride: 40, columns: own.1 };
            let tile = Tile { factors: rows, first: 0, own: own.0 };
            let other =
                Tile { factors: Factors { slots: &rows.slots[1..], ..rows }, first: TILE_ROWS, own: own.0 };
            sums(to, &[tile, other]);
            into
        };
        let mut lanes = vec![Line([7.0; LANES]); 2 * TILE_ROWS * PANEL_COLUMNS];
        let lanes = RefCell::new(&mut lanes[..]);
        let wanted = run(&|to, tiles| gemm_portable::<T, FUSED>(to, tiles, columns, depth));
        assert_eq!(wanted.iter().filter(|x| **x != T::of(7.0)).count(), 2 * own.0 * own.1);
        let next = [Line([0.0; LANES])];
        for next in [&[][..], &next] {
            assert_eq!(
                run(&|to, tiles| T::sums::<FUSED>(to, tiles, columns, depth, *lanes.borrow_mut(), next)),
                wanted
            );
        }
        wanted
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn vectors_of_256_bits_are_those_of_512() {
        use super::super::native::{gemm_avx2, gemm_avx512};
        let has_both = std::is_x86_feature_detected!("avx512f") && super::super::emit::has_fma();
        if !has_both {
            return;
        }
        let numbers: Vec<f64> = (0..20_000).map(|n| f64::from(n % 97) / 7.0).collect();
        let factors = Factors { slots: &numbers[..], lane: 1, step: LANES, row: 90 };
        let columns = Factors { slots: &numbers[..], lane: 32, step: 32 * LANES, row: 0 };
        let mut lanes = vec![Line([7.0; LANES]); TILE_ROWS * PANEL_COLUMNS];
        let mut run = |wide: bool| {
            let mut into = vec![7.0; TILE_ROWS * 40];
            let to = Sums { start: 0.3, into: &mut into, stride: 40, columns: 29 };
            let tiles = [Tile { factors, first: 0, own: TILE_ROWS }];
            match wide {
                true => gemm_avx512::<true>(to, &tiles, columns, 77, &mut lanes, &[]),
                false => gemm_avx2::<true>(to, &tiles, columns, 77),
            }
            into
        };
        assert_eq!(run(true), run(false));
    }
}
