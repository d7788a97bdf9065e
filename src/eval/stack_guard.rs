//! How much of the machine stack is left.
//!
//! The evaluator recurses with the program. Whoever gives it a stack says how large that is
//! ([`with_stack`], [`declare`]); a thread that says nothing is taken to have the least that any
//! thread has. Recursion then stops with an error of the program before the stack ends.

use std::cell::Cell;

/// What is left untouched for the code between two checks.
const RESERVE: usize = 128 << 10;
/// The stack of a thread that says nothing.
const UNKNOWN: usize = 1 << 20;

thread_local! {
    /// Address near the beginning of the stack, and its size.
    static STACK: Cell<Option<(usize, usize)>> = const { Cell::new(None) };
}

#[inline(never)]
fn here() -> usize {
    let marker = 0u8;
    std::ptr::from_ref(std::hint::black_box(&marker)) as usize
}

/// Says that the present thread has at least this many bytes of stack below here.
pub fn declare(bytes: usize) {
    STACK.with(|s| s.set(Some((here(), bytes))));
}

/// Whether there is room for another call.
pub fn has_room() -> bool {
    has_room_for(0)
}

/// Whether there is room for another call and this many bytes below it.
pub fn has_room_for(bytes: usize) -> bool {
    STACK.with(|s| {
        let at = here();
        let (base, size) = s.get().unwrap_or_else(|| {
            s.set(Some((at, UNKNOWN)));
            (at, UNKNOWN)
        });
        base.abs_diff(at) + RESERVE + bytes < size
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
    struct Before(Option<(usize, usize)>);
    impl Drop for Before {
        fn drop(&mut self) {
            STACK.set(self.0);
        }
    }
    let stack = corosensei::stack::DefaultStack::new(bytes)?;
    let _before = Before(STACK.get());
    Ok(corosensei::on_stack(stack, || {
        declare(bytes);
        work()
    }))
}
