//! How much of the machine stack is left.
//!
//! The evaluator recurses with the program. Whoever starts the thread says how large its stack is
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

/// Runs work on a thread of its own with this much stack. Only pages that are touched count.
pub fn with_stack<T: Send>(bytes: usize, work: impl FnOnce() -> T + Send) -> std::io::Result<T> {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().name("felis".into()).stack_size(bytes).spawn_scoped(
            scope,
            move || {
                declare(bytes);
                work()
            },
        )?;
        match thread.join() {
            Ok(result) => Ok(result),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}
