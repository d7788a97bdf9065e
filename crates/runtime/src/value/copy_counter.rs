//! Counter of copied slots, for tests of copying behavior.
//!
//! Counts slots that were copied because a value was stored into, grew, or was appended to another
//! one. Does not count the construction of new values.

use std::sync::atomic::{AtomicU64, Ordering};

/// The number of slots copied by this process.
static COPIED: AtomicU64 = AtomicU64::new(0);

/// Returns the number of slots that all sessions of the process have copied.
pub fn copied_slots() -> u64 {
    COPIED.load(Ordering::Relaxed)
}

/// Adds `slots` to the counter.
pub(super) fn count_copied_slots(slots: usize) {
    COPIED.fetch_add(slots as u64, Ordering::Relaxed);
}
