//! What the process holds is counted: copies, allocations, resident memory.
//!
//! A program of its own, in which one test runs at a time ([`alone`]): copies are counted by a
//! static variable of the library, allocations by the allocator of this program, memory by the
//! system, and each counts what all threads of the process do. Nothing else goes in here.

mod last_uses;
mod reshape;
mod sizes_memory;

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by each test while it runs: one at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}
