//! Whether somebody wants the work of this thread to stop.
//!
//! Takes a flag and work that may run long ([`heeding`]); the work looks at the flag wherever it takes a step
//! ([`poll`]), and is left at once when the flag is set. Work that is left has said nothing: whoever began it puts
//! back what it has changed, as after a panic.
//!
//! Never stops work that nobody has asked it to watch.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The flag that the work of this thread looks at.
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// What work says that was left: it is no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// Does `work`, unless the flag is set before it is done.
///
/// # Errors
/// The flag was set, and the work was left where it was.
pub fn with_cancellation<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    /// Puts back the flag of the work around, also when `work` panics.
    struct RestoreFlag(Option<Arc<AtomicBool>>);
    impl Drop for RestoreFlag {
        fn drop(&mut self) {
            FLAG.replace(self.0.take());
        }
    }
    let _before = RestoreFlag(FLAG.replace(Some(flag.clone())));
    catch_unwind(AssertUnwindSafe(work)).map_err(|cause| match cause.is::<Cancelled>() {
        true => Cancelled,
        false => resume_unwind(cause),
    })
}

/// Leaves the work around if it is to stop.
pub fn poll() {
    let set = FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    // What is dropped on the way out is not left a second time.
    if set && !std::thread::panicking() {
        resume_unwind(Box::new(Cancelled));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_left_when_the_flag_is_set() {
        let flag = Arc::new(AtomicBool::new(false));
        let mut steps = 0;
        let done = with_cancellation(&flag, || {
            loop {
                poll();
                steps += 1;
                flag.store(steps == 3, Ordering::Relaxed);
            }
        });
        assert_eq!((done, steps), (Err::<(), _>(Cancelled), 3));
        // Nobody watches now.
        poll();
        flag.store(false, Ordering::Relaxed);
        assert_eq!(with_cancellation(&flag, || 7), Ok(7));
    }

    #[test]
    fn a_panic_goes_on() {
        let flag = Arc::new(AtomicBool::new(false));
        let done = catch_unwind(|| with_cancellation(&flag, || resume_unwind(Box::new("other"))));
        assert!(done.is_err_and(|cause| cause.is::<&str>()));
    }
}
