//! How much of the machine stack is left.
//!
//! The evaluator recurses with the program. Whoever gives it a stack says how large that is
//! ([`with_stack`], [`declare`]); a thread that says nothing is taken to have the least that any
//! thread has. Recursion then stops with an error of the program before the stack ends.

use std::cell::Cell;

/// What is left untouched for the code between two checks.
const RESERVE_BYTES: usize = 128 << 10;
/// The stack of a thread that says nothing.
const DEFAULT_STACK_BYTES: usize = 1 << 20;

thread_local! {
    /// Address near the beginning of the stack, and its size.
    static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

#[inline(never)]
fn stack_address() -> usize {
    let marker = 0u8;
    std::ptr::from_ref(std::hint::black_box(&marker)) as usize
}

/// Says that the present thread has at least this many bytes of stack below here.
pub fn declare_stack_bytes(bytes: usize) {
    STACK.with(|s| s.set(Some((stack_address(), bytes))));
}

/// Whether there is room for another call.
pub fn has_room() -> bool {
    has_room_for(0)
}

/// Whether there is room for another call and this many bytes below it.
pub fn has_room_for(bytes: usize) -> bool {
    STACK.with(|s| {
        let at = stack_address();
        let (base, size) = s.get().unwrap_or_else(|| {
            s.set(Some((at, DEFAULT_STACK_BYTES)));
            (at, DEFAULT_STACK_BYTES)
        });
        base.abs_diff(at) + RESERVE_BYTES + bytes < size
    })
}

/// Runs work on a stack of its own with this many bytes, on the present thread: another one would begin with cold
/// caches and an empty heap, which is a fifth of the time that a short program takes. Only pages that are touched
/// count.
///
/// # Errors
/// The system does not give so much; the work has not begun.
pub fn with_stack<T>(bytes: usize, work: impl FnOnce() -> T) -> std::io::Result<T> {
    /// What the thread said before holds again, also after a panic.
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
