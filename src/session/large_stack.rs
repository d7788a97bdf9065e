//! A stack for the deepest programs.
//!
//! Takes work; does it on a thread whose stack is as large as the bound on nested calls (E0508)
//! needs. The stack of a usual thread is smaller.

use felis_runtime::eval::stack_guard;

/// The stack that programs run on: calls end by their number (E0508), not by the stack, in all
/// executors. Only pages that are touched take memory.
const STACK_BYTES: usize = 1 << 30;

/// Does `work` on a stack that holds the deepest programs; gives it back where the system has no
/// room for one.
///
/// # Errors
/// There is no such stack, nor a sixteenth of it. The work has not begun.
pub fn try_on_large_stack<T, W: FnOnce() -> T>(work: W) -> Result<T, W> {
    let mut work = Some(work);
    for size in [STACK_BYTES, STACK_BYTES / 2, STACK_BYTES / 16] {
        let slot = &mut work;
        // Where the system gives no such stack, it may give a smaller one.
        if let Ok(Some(done)) = stack_guard::with_stack(size, move || slot.take().map(|work| work())) {
            return Ok(done);
        }
    }
    match work.take() {
        Some(work) => Err(work),
        None => unreachable!("work that was done has returned"),
    }
}

/// Does `work` on a stack that holds the deepest programs, or on the present one if the system has
/// no room for one.
pub fn on_large_stack<T>(work: impl FnOnce() -> T) -> T {
    try_on_large_stack(work).unwrap_or_else(|work| work())
}
