//! Bounds on the machine stack.
//!
//! The evaluator recurses with the program. The owner of a stack declares its size ([`with_stack`],
//! [`declare_stack_bytes`]); an undeclared thread is assumed to have [`DEFAULT_STACK_BYTES`].
//! Recursion then stops with an error of the program before the stack ends.

use std::cell::Cell;

/// The stack in bytes that is reserved for the code between two checks.
const RESERVE_BYTES: usize = 128 << 10;
/// The assumed stack in bytes of an undeclared thread.
const DEFAULT_STACK_BYTES: usize = 1 << 20;

thread_local! {
    /// An address near the beginning of the stack, and its size in bytes.
    static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

/// Returns an address in the current stack frame.
#[inline(never)]
fn stack_address() -> usize {
    let marker = 0u8;
    std::ptr::from_ref(std::hint::black_box(&marker)) as usize
}

/// Declares that the current thread has at least this many bytes of stack below the caller.
pub fn declare_stack_bytes(bytes: usize) {
    STACK.with(|s| s.set(Some((stack_address(), bytes))));
}

/// Returns true if there is stack for another call.
pub fn has_room() -> bool {
    has_room_for(0)
}

/// Returns true if there is stack for another call and this many bytes below it.
pub fn has_room_for(bytes: usize) -> bool {
    let at = stack_address();
    let (base, size) = bounds(at);
    base.abs_diff(at) + RESERVE_BYTES + bytes < size
}

/// Returns the lowest address of the stack of the current thread below which there is no room for
/// another call.
pub fn limit() -> usize {
    let (base, size) = bounds(stack_address());
    (base + RESERVE_BYTES).saturating_sub(size)
}

/// Returns an address near the beginning of the stack of the current thread, and its size in bytes;
/// an undeclared stack begins at the first address that is asked about.
fn bounds(at: usize) -> (usize, usize) {
    STACK.with(|s| {
        s.get().unwrap_or_else(|| {
            s.set(Some((at, DEFAULT_STACK_BYTES)));
            (at, DEFAULT_STACK_BYTES)
        })
    })
}

/// Runs `work` on a new stack of this many bytes, on the current thread: a new thread would begin
/// with cold caches and an empty heap, which costs a fifth of the time of a short program. Only
/// touched pages take memory.
///
/// # Errors
/// The system does not give so much; the work has not begun.
pub fn with_stack<T>(bytes: usize, work: impl FnOnce() -> T) -> std::io::Result<T> {
    /// Restores the declaration of the thread, also after a panic.
    struct RestoreStack(Option<(usize, usize)>);
    impl Drop for RestoreStack {
        fn drop(&mut self) {
            STACK.set(self.0);
        }
    }
    let stack = corosensei::stack::DefaultStack::new(bytes)?;
    let _before = RestoreStack(STACK.get());
    Ok(corosensei::on_stack(stack, || {
        declare_stack_bytes(bytes);
        work()
    }))
}
