//! How far a run is: told now and then, for whoever waits.
//!
//! Takes the rounds of the outermost loop that knows how many it will have; gives them to a watcher, if
//! there is one. Says nothing about time: that is the watcher's affair.

use std::time::{Duration, Instant};

/// How far a loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Which loop: each has a number of its own.
    pub number: u64,
    /// Rounds that are over.
    pub done: u64,
    /// Rounds that there will be, unless it is left early.
    pub total: u64,
}

/// Is told how far the outermost loop is, often; `None` when that loop is over.
pub type Watcher = Box<dyn FnMut(Option<Progress>) + Send>;

/// The watcher hears of long rounds at least about as often.
const REPORT_INTERVAL: Duration = Duration::from_millis(10);

/// The outermost loop, and who watches it.
#[derive(Default)]
pub(super) struct ProgressMonitor {
    watcher: Option<Watcher>,
    outermost: Option<Progress>,
    /// Loops so far.
    loop_count: u64,
    /// The watcher has been told of this loop.
    reported: bool,
    /// When it was told last.
    last_report: Option<Instant>,
}

impl ProgressMonitor {
    /// Sets who watches, and gives who did.
    pub fn replace_watcher(&mut self, watcher: Option<Watcher>) -> Option<Watcher> {
        std::mem::replace(&mut self.watcher, watcher)
    }

    /// A run begins: the last one may have ended in the middle of a loop.
    pub fn reset(&mut self) {
        self.outermost = None;
    }

    /// A loop begins. Whether it is the outermost one, and watched.
    pub fn enter_loop(&mut self, total: Option<u64>) -> bool {
        let (Some(_), None, Some(total)) = (&self.watcher, self.outermost, total) else { return false };
        self.loop_count += 1;
        self.outermost = Some(Progress { number: self.loop_count, done: 0, total });
        self.reported = false;
        true
    }

    /// A round of the outermost loop is over.
    pub fn finish_round(&mut self) {
        if let Some(progress) = &mut self.outermost {
            progress.done += 1;
        }
        // A round may take long although few things are evaluated in it: its work may be compiled.
        if self.last_report.is_none_or(|last| last.elapsed() > REPORT_INTERVAL) {
            self.report();
        }
    }

    /// So many rounds of the outermost loop are over, of so many; or of the next one that takes its place.
    pub fn set_rounds(&mut self, done: u64, total: u64) {
        if let Some(progress) = &mut self.outermost {
            // What several threads say may come a little out of order.
            let next = total != progress.total || done < progress.done / 2;
            self.loop_count += u64::from(next);
            let done = if next { done } else { done.max(progress.done) };
            *progress = Progress { number: self.loop_count, done, total };
        }
        self.report();
    }

    /// The outermost loop is over.
    pub fn leave_loop(&mut self) {
        self.outermost = None;
        if let (true, Some(watcher)) = (self.reported, &mut self.watcher) {
            watcher(None);
        }
    }

    /// Tells how far it is.
    pub fn report(&mut self) {
        if let (Some(progress), Some(watcher)) = (self.outermost, &mut self.watcher) {
            self.reported = true;
            self.last_report = Some(Instant::now());
            watcher(Some(progress));
        }
    }
}
