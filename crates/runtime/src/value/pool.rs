//! Pool of vectors: memory of dropped buffers is kept and reused.
//!
//! The system zeroes each fresh page and enters it into the page table when it is first touched.
//! For a loop that writes a large array once, that takes longer than the loop itself. A program
//! that computes results of equal sizes in turn reuses the memory of the result before the last.
//!
//! Takes and gives vectors of numbers with undefined contents. Keeps at most [`MAX_POOLED_BYTES`],
//! the most recently dropped; vectors below [`MIN_POOLED_BYTES`] are not kept, because the
//! allocator is fast for them.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that were taken from the allocator, and bytes that were reused from the pool.
pub(super) static TAKEN_BYTES: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// The size in bytes of the smallest vector that is kept.
const MIN_POOLED_BYTES: usize = 1 << 12;
/// The number of bytes that are kept for each slot width.
const MAX_POOLED_BYTES: usize = 1 << 29;
/// The number of vectors that are kept for each slot width.
const MAX_POOLED_VECTORS: usize = 32;

/// The free vectors of one element type, the most recently dropped last.
#[derive(Default)]
pub(super) struct FreeList<T> {
    kept: Mutex<Vec<Vec<T>>>,
}

impl<T: Pooled> FreeList<T> {
    /// Creates an empty list.
    const fn new() -> FreeList<T> {
        FreeList { kept: Mutex::new(Vec::new()) }
    }

    /// Removes and returns a vector with a capacity of at least `slots` and at most a quarter more.
    fn take(&self, slots: usize) -> Option<Vec<T>> {
        let mut kept = self.kept.lock().expect("no thread panics while it holds the lock of a free list");
        let fits = |v: &Vec<T>| v.capacity() >= slots && v.capacity() - slots <= slots / 4;
        let at = kept.iter().rposition(fits)?;
        TAKEN_BYTES[1].fetch_add((slots * size_of::<T>()) as u64, Ordering::Relaxed);
        Some(kept.remove(at))
    }

    /// Adds a vector, and drops the oldest ones beyond the bounds.
    fn put(&self, vec: Vec<T>) {
        // The evicted vectors are dropped after the lock is released. Values are dropped while a
        // panic unwinds, too, where another one would end the process: it is `take` that tells of a
        // bad lock.
        let mut old = Vec::new();
        let Ok(mut kept) = self.kept.lock() else { return };
        kept.push(vec);
        let mut bytes: usize = kept.iter().map(|v| v.capacity() * size_of::<T>()).sum();
        while bytes > MAX_POOLED_BYTES || kept.len() > MAX_POOLED_VECTORS {
            let oldest = kept.remove(0);
            bytes -= oldest.capacity() * size_of::<T>();
            old.push(oldest);
        }
        drop(kept);
    }
}

/// Element types whose vectors are pooled.
pub(super) trait Pooled: Copy + Default + 'static {
    /// Returns the free list of this type.
    fn free_list() -> &'static FreeList<Self>;
}

macro_rules! pooled {
    ($($ty:ty)*) => { $(
        impl Pooled for $ty {
            fn free_list() -> &'static FreeList<$ty> {
                static FREE_LIST: FreeList<$ty> = FreeList::new();
                &FREE_LIST
            }
        }
    )* };
}

pooled!(u8 u16 u32 u64 u128);

/// Returns true if a vector of `slots` elements is not pooled.
fn is_too_small<T>(slots: usize) -> bool {
    slots.saturating_mul(size_of::<T>()) < MIN_POOLED_BYTES
}

/// Returns a vector with capacity for `slots` elements, its length and contents undefined; `None`
/// if there is no memory.
pub(super) fn with_capacity<T: Pooled>(slots: usize) -> Option<Vec<T>> {
    if !is_too_small::<T>(slots)
        && let Some(vec) = T::free_list().take(slots)
    {
        return Some(vec);
    }
    let mut vec = Vec::new();
    vec.try_reserve_exact(slots).ok()?;
    count_fresh::<T>(slots);
    Some(vec)
}

/// Counts fresh memory.
fn count_fresh<T>(slots: usize) {
    if !is_too_small::<T>(slots) {
        TAKEN_BYTES[0].fetch_add((slots * size_of::<T>()) as u64, Ordering::Relaxed);
    }
}

/// Returns a vector of length `slots` with undefined contents, and whether its memory is fresh from
/// the system; `None` if there is no memory.
pub(super) fn with_len<T: Pooled>(slots: usize) -> Option<(Vec<T>, bool)> {
    if !is_too_small::<T>(slots)
        && let Some(mut vec) = T::free_list().take(slots)
    {
        vec.resize(slots, T::default());
        return Some((vec, false));
    }
    let mut probe: Vec<T> = Vec::new();
    probe.try_reserve_exact(slots).ok()?;
    drop(probe);
    count_fresh::<T>(slots);
    // Fresh pages of the system are zero already: nothing is written here.
    Some((vec![T::default(); slots], true))
}

/// Puts a vector into the pool, unless it is too small.
pub(super) fn recycle<T: Pooled>(vec: Vec<T>) {
    if !is_too_small::<T>(vec.capacity()) {
        T::free_list().put(vec);
    }
}
