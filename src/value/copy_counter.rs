//! How much storage has been copied, for whoever looks whether something costs what it should.
//!
//! Counts slots that were copied because a value was stored into, or grew, or was put behind
//! another one. Counts nothing that makes a value for the first time.

use std::sync::atomic::{AtomicU64, Ordering};

/// Slots so far.
static COPIED: AtomicU64 = AtomicU64::new(0);

/// Slots that were copied so far, by all sessions of the process.
pub fn copied_slots() -> u64 {
    COPIED.load(Ordering::Relaxed)
}

/// Notes that so many slots have been copied.
pub(super) fn count_copied_slots(slots: usize) {
    COPIED.fetch_add(slots as u64, Ordering::Relaxed);
}
