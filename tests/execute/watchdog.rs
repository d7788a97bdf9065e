//! A limit of time for what a test runs: a flag that interrupts it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

/// Runs `run`, and sets the flag if it has not ended after so long.
pub(crate) fn interrupted_after<T>(limit: Duration, flag: &Arc<AtomicBool>, run: impl FnOnce() -> T) -> T {
    let (done, waiting) = channel::<()>();
    let flag = flag.clone();
    let watchdog = thread::spawn(move || {
        if waiting.recv_timeout(limit).is_err() {
            flag.store(true, Ordering::Relaxed);
        }
    });
    let result = run();
    drop(done);
    watchdog.join().expect("the watchdog");
    result
}
