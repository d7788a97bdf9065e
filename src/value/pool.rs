//! Memory that was used before: buffers are kept when they are dropped, and handed out again.
//!
//! The system gives fresh memory page by page, each zeroed and entered into the tables of the process when it
//! is first touched. For a loop that writes a large array once, that takes longer than the loop. A program
//! that computes a result of the same size again and again finds the memory of the one before last here.
//!
//! Takes and gives vectors of numbers, whose contents are left over from their last use. Keeps at most [`MOST_BYTES`],
//! the youngest; small ones are not kept ([`LEAST_BYTES`]), because the allocator is quick with these.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Bytes that were taken from the allocator so far, and bytes that were kept and used again.
pub(super) static TAKEN_BYTES: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Bytes of the smallest vector that is kept.
const MIN_POOLED_BYTES: usize = 1 << 12;
/// Bytes that are kept of each width of slots.
const MAX_POOLED_BYTES: usize = 1 << 29;
/// Vectors that are kept of each width of slots.
const MAX_POOLED_VECTORS: usize = 32;

/// Vectors of one type, the youngest last.
#[derive(Default)]
pub(super) struct FreeList<T> {
    kept: Mutex<Vec<Vec<T>>>,
}

impl<T: Pooled> FreeList<T> {
    const fn new() -> FreeList<T> {
        FreeList { kept: Mutex::new(Vec::new()) }
    }

    /// A vector with room for that many, and not for many more.
    fn take(&self, slots: usize) -> Option<Vec<T>> {
        let mut kept = self.kept.lock().ok()?;
        let fits = |v: &Vec<T>| v.capacity() >= slots && v.capacity() - slots <= slots / 4;
        let at = kept.iter().rposition(fits)?;
        TAKEN_BYTES[1].fetch_add((slots * size_of::<T>()) as u64, Ordering::Relaxed);
        Some(kept.remove(at))
    }

    fn put(&self, vec: Vec<T>) {
        // The old ones are dropped outside of the lock.
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

/// Numbers whose vectors are kept.
pub(super) trait Pooled: Copy + Default + 'static {
    /// Where.
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

fn is_too_small<T>(slots: usize) -> bool {
    slots.saturating_mul(size_of::<T>()) < MIN_POOLED_BYTES
}

/// A vector with room for that many, of any contents; `None` if there is no such room.
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

fn count_fresh<T>(slots: usize) {
    if !is_too_small::<T>(slots) {
        TAKEN_BYTES[0].fetch_add((slots * size_of::<T>()) as u64, Ordering::Relaxed);
    }
}

/// A vector of that many of any value, and whether its memory is fresh from the system; `None` if there
/// is no such room.
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

/// Keeps a vector for later, if it is worth it.
pub(super) fn recycle<T: Pooled>(vec: Vec<T>) {
    if !is_too_small::<T>(vec.capacity()) {
        T::free_list().put(vec);
    }
}
