//! Counts of process resources: copies, allocations, resident memory.
//!
//! A program of its own, in which one test runs at a time ([`alone`]). Copies are counted by a
//! static variable of the library, allocations by the allocator of this program, memory by the
//! system; each count includes all threads of the process. No other tests belong here.

mod fields;
mod last_uses;
mod reshape;
mod sizes_memory;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Returns a lock that each test holds while it runs, so that one test runs at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
