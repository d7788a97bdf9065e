//! Cooperative cancellation of the work of a thread.
//!
//! Takes a flag and work that may run long ([`with_cancellation`]). The work polls the flag at each
//! step ([`poll`]) and is left by unwinding when the flag is set. Canceled work has reported
//! nothing: its caller restores what it has changed, as after a panic.
//!
//! Never cancels work outside [`with_cancellation`].

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

thread_local! {
    /// The flag that the work of this thread polls.
    static FLAG: RefCell<Option<Arc<AtomicBool>>> = const { RefCell::new(None) };
}

/// The payload of the unwinding by which canceled work is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cancelled;

/// Runs `work`, unless the flag is set before it ends.
///
/// # Errors
/// [`Cancelled`] if the flag was set and the work was left.
pub fn with_cancellation<T>(flag: &Arc<AtomicBool>, work: impl FnOnce() -> T) -> Result<T, Cancelled> {
    /// Restores the flag of the enclosing work, also when `work` panics.
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

/// Unwinds out of the enclosing [`with_cancellation`] if its flag is set.
pub fn poll() {
    let set = FLAG.with_borrow(|flag| flag.as_ref().is_some_and(|flag| flag.load(Ordering::Relaxed)));
    // Destructors that poll during the unwinding must not unwind again.
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
        // No flag is installed here.
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
