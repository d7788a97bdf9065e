//! All unsafe code of the compiler, with the argument for its soundness.
//!
//! **Why this is sound.** A function made by [`super::emit`] reads and writes memory only through
//! the addresses in its frame: slots of arrays, at numbers that come from values of index types and
//! are therefore below the number of slots (the type checker has proved it, `:>>` checks it, and a
//! case of a sum is taken apart only behind a test of its code), or from loops over exactly those
//! slots. The kernel that fills the frame keeps every array alive and in place for as long as the
//! function runs, gives arrays that are written to nobody else, and never gives one array as two.
//! Such an array may hold what was left in its memory; it is initialized, and a kernel reads no
//! slot of it that it has not set. An array that grows has as many slots as the loops and updates
//! over its elements reach: room for all elements is made before they are stored, the number of
//! slots is exchanged with the memory, and a run or a piece of a parallel loop keeps the memory as
//! long as its frame has the address. Rounds of a parallel statement write different slots, namely
//! those of their own index; they only read what others have set before. So there is no data race:
//! threads meet only at the end of a phase, where rayon synchronizes them. An array that each piece
//! has of its own is made for a piece and written into its copy of the frame. A loop by
//! [`super::vector_loops`] reads and writes the slots of its own rounds: lanes beyond them are
//! masked.

#[cfg(target_arch = "x86_64")]
use super::gemm::{Factors, Lanes, STEPS_PER_PREFETCH, Sums, TILE_ROWS, Tile, steps};
use super::gemm::{GemmMode, Line, Number, Panels, Strided};
use super::growable::Growables;
use super::partition::GROWABLES_WORD;
use super::sort::SortForm;
#[cfg(target_arch = "x86_64")]
use crate::core::reduction::LANES;
use crate::value::sort::{Slot, SortKey, order_slots, sort_slots};
use cranelift_jit::JITModule;
use cranelift_module::FuncId;
#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::{
    __m256, __m256d, __m512d, __m512i, _MM_HINT_T0, _MM_HINT_T1, _mm_prefetch, _mm256_add_pd, _mm256_add_ps,
    _mm256_fmadd_pd, _mm256_fmadd_ps, _mm256_loadu_pd, _mm256_loadu_ps, _mm256_mul_pd, _mm256_mul_ps,
    _mm256_set1_pd, _mm256_set1_ps, _mm256_setzero_pd, _mm256_setzero_ps, _mm256_storeu_pd, _mm256_storeu_ps,
    _mm512_add_pd, _mm512_fmadd_pd, _mm512_i64gather_pd, _mm512_load_pd, _mm512_loadu_pd,
    _mm512_mask_storeu_pd, _mm512_min_epu64, _mm512_mul_pd, _mm512_set1_epi64, _mm512_set1_pd,
    _mm512_setzero_pd, _mm512_slli_epi64, _mm512_store_pd, _mm512_storeu_pd,
};

/// Finished functions, with the memory that holds them.
pub struct Functions {
    module: Option<JITModule>,
    entries: Vec<usize>,
}

// SAFETY: the module is not touched between `finish` and `drop`, and code is only read.
unsafe impl Send for Functions {}
// SAFETY: as above.
unsafe impl Sync for Functions {}

type Entry = extern "C" fn(*mut u64, i64, i64) -> i64;

impl Functions {
    /// Finishes the functions of a module.
    pub fn finish(mut module: JITModule, ids: &[FuncId]) -> Result<Functions, String> {
        module.finalize_definitions().map_err(|error| error.to_string())?;
        let entries = ids.iter().map(|id| module.get_finalized_function(*id) as usize).collect();
        Ok(Functions { module: Some(module), entries })
    }

    /// Calls a function with a frame and a range of rounds.
    ///
    /// The frame is as [`super::partition::Frame`] says: the caller has put live addresses into it.
    pub(super) fn call(&self, at: usize, frame: FrameAddress, low: i64, high: i64) -> i64 {
        // SAFETY: the address is that of a function of this signature, made by `emit`, and the
        // module that holds it lives as long as `self`. What the function does is argued at the
        // top.
        let entry: Entry = unsafe { std::mem::transmute::<usize, Entry>(self.entries[at]) };
        entry(frame.0 as *mut u64, low, high)
    }
}

impl Drop for Functions {
    fn drop(&mut self) {
        if let Some(module) = self.module.take() {
            // SAFETY: `self` is the only owner of the entries, and it is going.
            unsafe { module.free_memory() }
        }
    }
}

/// Makes room in an array of [`Growables`]; called by compiled code with its frame, the numbers of
/// the words there that are the address and the number of slots of the array, and the number of
/// slots that it needs, of `width` bytes. Gives 0 if there is not so much memory.
pub(super) extern "C" fn grow(frame: *mut u64, address: i64, capacity: i64, slots: u64, width: u64) -> i64 {
    // SAFETY: the frame has these words, and nobody else reads or writes it while this function
    // runs: each piece of a parallel loop that grows arrays has a frame of its own. The kernel has
    // put the address of its growables there, which nobody else has while it runs.
    unsafe {
        let (address, capacity) = (&mut *frame.add(address as usize), &mut *frame.add(capacity as usize));
        let growables = &mut *(*frame.add(GROWABLES_WORD) as *mut Growables);
        match growables.grow(*address, slots, width) {
            Some(grown) => {
                (*address, *capacity) = grown;
                1
            }
            None => 0,
        }
    }
}

/// Computes a [`Gemm`](crate::loop_ir::Gemm); called by compiled code. `words` are the address of
/// the flag that stops a run, that of [`Panels`] or 0, those of three arrays (results, left,
/// right), a bit if products are fused and one if slots are of binary32, and the numbers in the
/// order of [`Gemm::regs`](crate::loop_ir::Gemm::regs). Gives
/// [`STATUS_DONE`](super::partition::STATUS_DONE), or
/// [`STATUS_STOPPED`](super::partition::STATUS_STOPPED) if it was stopped.
pub(super) extern "C" fn gemm(words: *const u64) -> i64 {
    /// The slots from one on that strides reach.
    fn reach(rows: usize, row: usize, columns: usize, column: usize) -> usize {
        match (rows, columns) {
            (0, _) | (_, 0) => 0,
            _ => (rows - 1) * row + (columns - 1) * column + 1,
        }
    }
    /// # Safety
    /// As [`gemm`] is called.
    unsafe fn run<T: Number>(words: &[u64]) -> i64 {
        let size = |i: usize| words[6 + i] as usize;
        let (rows, columns, depth) = (size(1), size(2), size(3));
        // SAFETY: the arrays are alive and no round of the same phase writes what others read or
        // write; the slots are those that the loops in place of which this stands would read and
        // write, and they are initialized. The panels are alive while the phase runs, or there are
        // none.
        unsafe {
            let stop = &*(words[0] as *const std::sync::atomic::AtomicBool);
            let shared = (words[1] as *const Panels).as_ref();
            let array = |base: usize, from: usize| (words[base] as *mut T).add(from);
            let into = std::slice::from_raw_parts_mut(array(2, size(0)), rows * columns);
            let left = Strided {
                slots: std::slice::from_raw_parts(array(3, size(4)), reach(rows, size(5), depth, size(6))),
                row: size(5),
                column: size(6),
            };
            let right = Strided {
                slots: std::slice::from_raw_parts(array(4, size(7)), reach(depth, size(8), columns, size(9))),
                row: size(8),
                column: size(9),
            };
            let mode = GemmMode { fused: words[5] & 1 != 0, start: T::from_bits(words[16]) };
            super::gemm::gemm(into, left, right, (rows, columns, depth), mode, shared, stop)
        }
    }
    // SAFETY: code that `emit` makes passes the address of 17 words on its stack.
    let words = unsafe { std::slice::from_raw_parts(words, 17) };
    // SAFETY: the second bit says of which type the slots are.
    unsafe { if words[5] & 2 != 0 { run::<f32>(words) } else { run::<f64>(words) } }
}

/// The numbers of lines, one after the other.
pub(super) fn numbers<T: Number>(lines: &[Line]) -> &[T] {
    // SAFETY: a line is floats without gaps: its alignment is its size, and all bits are floats.
    unsafe { std::slice::from_raw_parts(lines.as_ptr().cast(), size_of_val(lines) / size_of::<T>()) }
}

/// The numbers of lines, to be changed.
pub(super) fn numbers_mut<T: Number>(lines: &mut [Line]) -> &mut [T] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(lines.as_mut_ptr().cast(), size_of_val(lines) / size_of::<T>()) }
}

/// Prefetches the cache lines of the first `count` numbers.
pub(super) fn prefetch<T: Number>(numbers: &[T], count: usize) {
    #[cfg(target_arch = "x86_64")]
    for line in numbers[..count.min(numbers.len())].chunks(size_of::<Line>() / size_of::<T>()) {
        // SAFETY: a hint; every processor of this kind has it.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (numbers, count);
}

/// Computes a [`Sort`](crate::loop_ir::Sort); called by compiled code, with the addresses of the
/// first slot of the result and of the keys, the number of slots, and what [`SortForm`] reads.
pub(super) extern "C" fn sort(into: *mut u8, keys: *const u8, count: usize, form: i64) {
    /// # Safety
    /// As [`sort`] is called, with slots of this type.
    unsafe fn of<T: Slot>(into: *mut u8, keys: *const u8, count: usize, form: SortForm) {
        /// # Safety
        /// There are as many slots of this type.
        unsafe fn indices<T: Slot, I: Slot>(into: *mut u8, keys: &[T], key: SortKey) {
            // SAFETY: the slots are initialized, of this width, and apart from the keys.
            order_slots(keys, key, unsafe { std::slice::from_raw_parts_mut(into.cast::<I>(), keys.len()) });
        }
        // SAFETY: the arrays are alive, no round that runs at the same time writes what this one
        // reads or writes, and the slots are initialized. A sort of the slots has one array or two
        // that are apart; the numbers of slots have one of their own.
        unsafe {
            if form.index_bytes == 0 {
                std::ptr::copy(keys.cast::<T>(), into.cast::<T>(), count);
                return sort_slots(std::slice::from_raw_parts_mut(into.cast::<T>(), count), form.key);
            }
            let keys = std::slice::from_raw_parts(keys.cast::<T>(), count);
            match form.index_bytes {
                1 => indices::<T, u8>(into, keys, form.key),
                2 => indices::<T, u16>(into, keys, form.key),
                4 => indices::<T, u32>(into, keys, form.key),
                _ => indices::<T, u64>(into, keys, form.key),
            }
        }
    }
    let form = SortForm::decode(form);
    // SAFETY: the word says how wide the slots are.
    unsafe {
        match form.bytes {
            1 => of::<u8>(into, keys, count, form),
            2 => of::<u16>(into, keys, count, form),
            4 => of::<u32>(into, keys, count, form),
            _ => of::<u64>(into, keys, count, form),
        }
    }
}

/// The sums of tiles with vectors of 512 bits, written out: compilers that are told of a certain
/// processor prefer shorter ones. Each lane of the columns is taken by all tiles in turns, and the
/// next one is fetched meanwhile.
#[cfg(target_arch = "x86_64")]
pub(super) fn gemm_avx512<const FUSED: bool>(
    mut to: Sums<'_, f64>,
    tiles: &[Tile<'_, f64>],
    columns: Factors<'_, f64>,
    depth: usize,
    lanes: &mut [Line],
    next: &[Line],
) {
    /// # Safety
    /// All factors of [`TILE_ROWS`] rows and `V` vectors of columns are there, and so is room for
    /// the sums and their lanes.
    #[target_feature(enable = "avx512f")]
    unsafe fn gemm_avx512<const FUSED: bool, const V: usize>(
        to: &mut Sums<'_, f64>,
        tiles: &[Tile<'_, f64>],
        columns: Factors<'_, f64>,
        depth: usize,
        lanes: &mut [Line],
        next: &[Line],
    ) {
        let lanes = lanes.as_mut_ptr().cast::<f64>();
        let place =
            |t: usize, l: usize, r: usize, v: usize| (((t * LANES + l) * TILE_ROWS + r) * V + v) * LANES;
        for l in 0..LANES {
            let column = columns.slots.as_ptr().wrapping_add(l * columns.lane);
            let steps = steps(depth, l);
            // What will be read next, or what is read anyway.
            let ahead: *const i8 = match l {
                0..7 if tiles.len() > 1 => column.wrapping_add(columns.lane).cast(),
                _ if next.is_empty() => column.cast(),
                _ if tiles.len() > 1 => next.as_ptr().cast(),
                _ => next.as_ptr().wrapping_add(l * steps / STEPS_PER_PREFETCH).cast(),
            };
            for (t, tile) in tiles.iter().enumerate() {
                let rows = tile.factors;
                let row = rows.slots.as_ptr().wrapping_add(l * rows.lane);
                let mut ahead = ahead.wrapping_add(t * steps * size_of::<Line>() / STEPS_PER_PREFETCH);
                let mut sums = [[_mm512_set1_pd(-0.0); V]; TILE_ROWS];
                for s in 0..steps {
                    _mm_prefetch::<_MM_HINT_T1>(ahead);
                    ahead = ahead.wrapping_add(size_of::<Line>() / STEPS_PER_PREFETCH);
                    let mut vectors = [_mm512_setzero_pd(); V];
                    // SAFETY: these factors are there (above).
                    let (column, row) = unsafe { (column.add(s * columns.step), row.add(s * rows.step)) };
                    for (v, vector) in vectors.iter_mut().enumerate() {
                        // SAFETY: as above.
                        *vector = unsafe { _mm512_loadu_pd(column.add(v * LANES)) };
                    }
                    for (r, sums) in sums.iter_mut().enumerate() {
                        // SAFETY: as above.
                        let factor = _mm512_set1_pd(unsafe { *row.add(r * rows.row) });
                        for (sum, vector) in sums.iter_mut().zip(vectors) {
                            *sum = if FUSED {
                                _mm512_fmadd_pd(factor, vector, *sum)
                            } else {
                                _mm512_add_pd(*sum, _mm512_mul_pd(factor, vector))
                            };
                        }
                    }
                }
                // An address of the sums would keep them in memory.
                #[expect(clippy::needless_range_loop, reason = "by numbers, not by addresses")]
                for r in 0..TILE_ROWS {
                    for v in 0..V {
                        // SAFETY: there is room for lanes (above), and a line is a vector.
                        unsafe { _mm512_store_pd(lanes.add(place(t, l, r, v)), sums[r][v]) }
                    }
                }
            }
        }
        for (t, tile) in tiles.iter().enumerate() {
            for r in (0..TILE_ROWS).take(tile.own) {
                for (v, start) in (0..to.columns).step_by(LANES).enumerate() {
                    // As `combine_lanes` does it: what is handed to a function that is not made for
                    // these vectors goes through memory.
                    let mut joined = [_mm512_setzero_pd(); LANES];
                    for (l, joined) in joined.iter_mut().enumerate() {
                        // SAFETY: as above.
                        *joined = unsafe { _mm512_load_pd(lanes.add(place(t, l, r, v))) };
                    }
                    for half in [4, 2, 1] {
                        for l in 0..half {
                            joined[l] = _mm512_add_pd(joined[l], joined[l + half]);
                        }
                    }
                    let [joined, ..] = joined;
                    let joined = _mm512_add_pd(_mm512_set1_pd(to.start), joined);
                    let own = LANES.min(to.columns - start);
                    // SAFETY: there is room for the sums (above), and no others are written.
                    unsafe {
                        let into = to.into.as_mut_ptr().add((tile.first + r) * to.stride + start);
                        _mm512_mask_storeu_pd(into, u8::MAX >> (LANES - own), joined);
                    }
                }
            }
        }
    }
    let vectors = to.columns.div_ceil(LANES);
    assert!(std::is_x86_feature_detected!("avx512f"));
    assert!(tiles.len() * LANES * TILE_ROWS * vectors <= lanes.len());
    check_factors(&to, tiles, columns, depth);
    // SAFETY: the processor has these instructions; factors and room were looked at.
    unsafe {
        match vectors {
            0 => {}
            1 => gemm_avx512::<FUSED, 1>(&mut to, tiles, columns, depth, lanes, next),
            2 => gemm_avx512::<FUSED, 2>(&mut to, tiles, columns, depth, lanes, next),
            3 => gemm_avx512::<FUSED, 3>(&mut to, tiles, columns, depth, lanes, next),
            4 => gemm_avx512::<FUSED, 4>(&mut to, tiles, columns, depth, lanes, next),
            _ => unreachable!("a panel has four vectors"),
        }
    }
}

/// Checks that all factors of [`TILE_ROWS`] rows and of whole vectors of columns are there, and
/// room for the sums.
#[cfg(target_arch = "x86_64")]
fn check_factors<T: Number>(to: &Sums<'_, T>, tiles: &[Tile<'_, T>], columns: Factors<'_, T>, depth: usize) {
    /// The slot of the last factor, `side` beyond those of one row or column.
    fn last<T>(factors: Factors<'_, T>, depth: usize, side: usize) -> Option<usize> {
        let ends =
            (0..LANES.min(depth)).map(|l| l * factors.lane + (steps(depth, l) - 1) * factors.step + side);
        ends.max()
    }
    let wide = to.columns.next_multiple_of(T::COLUMNS_AT_ONCE);
    assert!(last(columns, depth, wide.saturating_sub(1)) < Some(columns.slots.len().max(1)));
    for Tile { factors, first, own } in tiles {
        assert!(last(*factors, depth, (TILE_ROWS - 1) * factors.row) < Some(factors.slots.len().max(1)));
        assert!(*own <= TILE_ROWS && (first + own.max(&1) - 1) * to.stride + to.columns <= to.into.len());
    }
}

/// Defines the sums of tiles with vectors of 256 bits, written out: six rows and two vectors of
/// columns are twelve accumulators, and sixteen registers hold two vectors of columns and a factor
/// beside them.
#[cfg(target_arch = "x86_64")]
macro_rules! gemm_avx2 {
    (
        $name:ident $number:ident $vector:ident $doc:literal
        $zero:ident $same:ident $load:ident $store:ident $add:ident $mul:ident $fma:ident
    ) => {
        #[doc = $doc]
        pub(super) fn $name<const FUSED: bool>(
            mut to: Sums<'_, $number>,
            tiles: &[Tile<'_, $number>],
            columns: Factors<'_, $number>,
            depth: usize,
        ) {
            /// Numbers of a vector, and of two.
            const EACH: usize = size_of::<$vector>() / size_of::<$number>();
            const COLUMNS: usize = <$number as Number>::COLUMNS_AT_ONCE;
            const V: usize = COLUMNS / EACH;

            /// # Safety
            /// As [`check_factors`] says.
            #[target_feature(enable = "avx2,fma")]
            unsafe fn tiles_of_columns<const FUSED: bool>(
                to: &mut Sums<'_, $number>,
                tiles: &[Tile<'_, $number>],
                columns: Factors<'_, $number>,
                depth: usize,
            ) {
                for Tile { factors: rows, first, own: here } in tiles {
                    for start in (0..to.columns).step_by(COLUMNS) {
                        let mut lanes = [[[$zero(); V]; TILE_ROWS]; LANES];
                        for (l, lane) in lanes.iter_mut().enumerate() {
                            let mut column = columns.slots.as_ptr().wrapping_add(start + l * columns.lane);
                            let mut row = rows.slots.as_ptr().wrapping_add(l * rows.lane);
                            let mut sums = [[$same(-0.0); V]; TILE_ROWS];
                            for _ in 0..steps(depth, l) {
                                // SAFETY: these factors are there (above).
                                let vectors = unsafe { [$load(column), $load(column.add(EACH))] };
                                for (r, sums) in sums.iter_mut().enumerate() {
                                    // SAFETY: as above.
                                    let factor = $same(unsafe { *row.add(r * rows.row) });
                                    for (sum, vector) in sums.iter_mut().zip(vectors) {
                                        *sum = if FUSED {
                                            $fma(factor, vector, *sum)
                                        } else {
                                            $add(*sum, $mul(factor, vector))
                                        };
                                    }
                                }
                                column = column.wrapping_add(columns.step);
                                row = row.wrapping_add(rows.step);
                            }
                            *lane = sums;
                        }
                        let own = COLUMNS.min(to.columns - start);
                        for r in (0..TILE_ROWS).take(*here) {
                            let mut numbers = [0.0; COLUMNS];
                            for v in 0..V {
                                // As `combine_lanes` does it: a closure would not have these
                                // instructions, and take a copy of all lanes.
                                let mut joined = [$zero(); LANES];
                                for l in 0..LANES {
                                    joined[l] = lanes[l][r][v];
                                }
                                for half in [4, 2, 1] {
                                    for l in 0..half {
                                        joined[l] = $add(joined[l], joined[l + half]);
                                    }
                                }
                                let [joined, ..] = joined;
                                let joined = $add($same(to.start), joined);
                                // SAFETY: there are as many numbers as in all vectors.
                                unsafe { $store(numbers.as_mut_ptr().add(EACH * v), joined) };
                            }
                            let into = &mut to.into[(first + r) * to.stride + start..][..own];
                            into.copy_from_slice(&numbers[..own]);
                        }
                    }
                }
            }
            assert!(std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma"));
            check_factors(&to, tiles, columns, depth);
            // SAFETY: the processor has these instructions; factors and room were looked at.
            unsafe { tiles_of_columns::<FUSED>(&mut to, tiles, columns, depth) }
        }
    };
}

#[cfg(target_arch = "x86_64")]
gemm_avx2! {
    gemm_avx2 f64 __m256d "The sums of tiles of binary64 with vectors of 256 bits."
    _mm256_setzero_pd _mm256_set1_pd _mm256_loadu_pd _mm256_storeu_pd _mm256_add_pd _mm256_mul_pd
    _mm256_fmadd_pd
}

#[cfg(target_arch = "x86_64")]
gemm_avx2! {
    gemm_avx2_single f32 __m256 "The sums of tiles of binary32 with vectors of 256 bits."
    _mm256_setzero_ps _mm256_set1_ps _mm256_loadu_ps _mm256_storeu_ps _mm256_add_ps _mm256_mul_ps
    _mm256_fmadd_ps
}

macro_rules! blocks {
    ($at:ident $block:ident $medium:ident $all:ident $doc:literal) => {
        #[doc = $doc]
        pub(super) fn $block(numbers: &mut [f64]) {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx2")]
                fn $medium(numbers: &mut [f64]) {
                    crate::elementary::$all(numbers);
                }
                use std::is_x86_feature_detected as has;
                if has!("avx512f") {
                    // SAFETY: the processor has these instructions.
                    return unsafe { super::elementary_avx512::$all(numbers) };
                }
                if has!("avx2") {
                    // SAFETY: as above.
                    return unsafe { $medium(numbers) };
                }
            }
            crate::elementary::$all(numbers);
        }

        /// The same for so many numbers at an address, as code calls it.
        pub(super) extern "C" fn $at(numbers: *mut f64, count: i64) {
            // SAFETY: code that `emit` makes passes numbers on its stack.
            $block(unsafe { std::slice::from_raw_parts_mut(numbers, count as usize) });
        }
    };
}

blocks!(exp_at exp_block exp_medium exp_all "e to the power of each number, in place, by the widest vectors there are.");
blocks!(ln_at ln_block ln_medium ln_all "The natural logarithm of each number, in place, by the widest vectors there are.");
blocks!(log2_at log2_block log2_medium log2_all "The logarithm to base 2 of each number, in place, by the widest vectors there are.");
blocks!(log10_at log10_block log10_medium log10_all "The logarithm to base 10 of each number, in place, by the widest vectors there are.");

blocks!(tanh_at tanh_block tanh_medium tanh_all "The hyperbolic tangent of each number, in place, by the widest vectors there are.");
blocks!(pow_at pow_block pow_medium pow_all "Numbers of the first half to the powers of the second half, in place of the numbers, by the widest vectors there are.");
blocks!(atan_at atan_block atan_medium atan_all "The arc tangent of each number, in place, by the widest vectors there are.");
blocks!(asin_at asin_block asin_medium asin_all "The arc sine of each number, in place, by the widest vectors there are.");
blocks!(acos_at acos_block acos_medium acos_all "The arc cosine of each number, in place, by the widest vectors there are.");
blocks!(atan2_at atan2_block atan2_medium atan2_all "Angles of points: numbers of the first half over those of the second half, in place of the numbers, by the widest vectors there are.");
blocks!(sin_at sin_block sin_medium sin_all "The sine of each number, in place, by the widest vectors there are.");
blocks!(cos_at cos_block cos_medium cos_all "The cosine of each number, in place, by the widest vectors there are.");

/// Eight numbers as a vector.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn load_lanes(numbers: &Lanes) -> __m512d {
    // SAFETY: eight numbers are there.
    unsafe { _mm512_loadu_pd(numbers.as_ptr()) }
}

/// A vector to where eight numbers are.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn store_lanes(vector: __m512d, numbers: &mut Lanes) {
    // SAFETY: eight numbers are there.
    unsafe { _mm512_storeu_pd(numbers.as_mut_ptr(), vector) }
}

/// The pairs of a table at eight places, the first numbers and the second ones; of places beyond
/// its end, the last.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn gather<const N: usize>(table: &[[f64; 2]; N], places: __m512i) -> (__m512d, __m512d) {
    const { assert!(N > 0) };
    let places = _mm512_min_epu64(places, _mm512_set1_epi64(N as i64 - 1));
    let first = table.as_ptr().cast::<f64>();
    // SAFETY: places are below the length, and each is that of two numbers.
    unsafe {
        let places = _mm512_slli_epi64::<1>(places);
        (_mm512_i64gather_pd::<8>(places, first), _mm512_i64gather_pd::<8>(places, first.add(1)))
    }
}

/// Bytes of an allocation for which huge pages are requested.
const MIN_HUGE_PAGE_BYTES: u64 = 4 << 20;

/// Asks the system to back fresh memory by large pages, if there is much of it.
pub(super) fn advise_huge_pages(address: u64, bytes: u64) {
    #[cfg(target_os = "linux")]
    if bytes >= MIN_HUGE_PAGE_BYTES {
        const HUGE_PAGE_BYTES: u64 = 2 << 20;
        let (low, high) = (
            address.next_multiple_of(HUGE_PAGE_BYTES),
            (address + bytes) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES,
        );
        if low < high {
            // SAFETY: the range lies in a live allocation, and the advice changes no contents. A
            // refusal does no harm.
            unsafe {
                libc::madvise(low as *mut libc::c_void, (high - low) as usize, libc::MADV_HUGEPAGE);
            }
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (address, bytes, MIN_HUGE_PAGE_BYTES);
}

/// The address of a frame, for threads to share.
#[derive(Clone, Copy)]
pub(super) struct FrameAddress(usize);

impl FrameAddress {
    /// The address of these words.
    pub(super) fn of(words: &mut [u64]) -> FrameAddress {
        FrameAddress(words.as_mut_ptr() as usize)
    }
}
