//! A time limit for what a session runs.
//!
//! Takes the session's interrupt flag, which it sets when the time has passed; reports afterward if
//! it has. An input that is stopped so ends as by Ctrl-C: nothing of it is kept.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

/// A time limit that is in force until [`Deadline::end`].
pub(super) struct Deadline {
    expired: Arc<AtomicBool>,
    interrupt: Arc<AtomicBool>,
    clock: Option<(Sender<()>, JoinHandle<()>)>,
}

/// The interval at which the flag is set again. An input clears it when it begins, which may be
/// later than the end of a short limit.
const RESET_INTERVAL: Duration = Duration::from_millis(5);

impl Deadline {
    /// Begins to count, if there is a limit.
    pub(super) fn start(limit: Option<Duration>, interrupt: &Arc<AtomicBool>) -> Deadline {
        let expired = Arc::new(AtomicBool::new(false));
        let clock = limit.and_then(|limit| {
            let (end, ended) = channel::<()>();
            let (expired, interrupt) = (expired.clone(), interrupt.clone());
            let count = move || {
                let mut wait = limit;
                while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                    expired.store(true, Ordering::SeqCst);
                    interrupt.store(true, Ordering::SeqCst);
                    wait = RESET_INTERVAL;
                }
            };
            // Without a thread there is no limit, as if none had been given.
            Some((end, Builder::new().name("limit".into()).spawn(count).ok()?))
        });
        Deadline { expired, interrupt: interrupt.clone(), clock }
    }

    /// Stops counting; whether the time was over. Then the flag is clear again for what comes next.
    pub(super) fn end(mut self) -> bool {
        self.stop();
        let expired = self.expired.load(Ordering::SeqCst);
        if expired {
            self.interrupt.store(false, Ordering::SeqCst);
        }
        expired
    }

    /// Stops the thread that counts.
    fn stop(&mut self) {
        if let Some((end, thread)) = self.clock.take() {
            drop(end);
            let _ = thread.join();
        }
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        self.stop();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flag_is_set_until_the_end() {
        let flag = Arc::new(AtomicBool::new(false));
        let limit = Deadline::start(Some(Duration::from_millis(1)), &flag);
        for _ in 0..2 {
            // It is set again when somebody clears it.
            while !flag.swap(false, Ordering::SeqCst) {
                std::thread::yield_now();
            }
        }
        assert!(limit.end() && !flag.load(Ordering::SeqCst));
        assert!(!Deadline::start(None, &flag).end());
        assert!(!Deadline::start(Some(Duration::from_secs(3_600)), &flag).end());
        assert!(!flag.load(Ordering::SeqCst));
    }
}
