//! Progress reports of long loops.
//!
//! Counts the rounds of the outermost loop with a known number of rounds, and reports them to a
//! callback, if there is one. Measures no time beyond the interval of reports.

use std::time::{Duration, Instant};

/// The progress of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The number of the loop: different loops have different numbers.
    pub number: u64,
    /// The number of finished rounds.
    pub done: u64,
    /// The number of all rounds, unless the loop is left early.
    pub total: u64,
}

/// A callback with the progress of the outermost loop; `None` when that loop has ended.
pub type Watcher = Box<dyn FnMut(Option<Progress>) + Send>;

/// The longest time between two reports while rounds end.
const REPORT_INTERVAL: Duration = Duration::from_millis(10);

/// The outermost loop and its watcher.
#[derive(Default)]
pub(super) struct ProgressMonitor {
    watcher: Option<Watcher>,
    outermost: Option<Progress>,
    /// The number of loops so far.
    loop_count: u64,
    /// True if a report of this loop has been made.
    reported: bool,
    /// The time of the last report.
    last_report: Option<Instant>,
}

impl ProgressMonitor {
    /// Replaces the watcher, and returns the old one.
    pub fn replace_watcher(&mut self, watcher: Option<Watcher>) -> Option<Watcher> {
        std::mem::replace(&mut self.watcher, watcher)
    }

    /// Begins a run. The run before may have been stopped within a loop.
    pub fn reset(&mut self) {
        self.outermost = None;
    }

    /// Begins a loop, and returns true if it is the outermost one and watched.
    pub fn enter_loop(&mut self, total: Option<u64>) -> bool {
        let (Some(_), None, Some(total)) = (&self.watcher, self.outermost, total) else { return false };
        self.loop_count += 1;
        self.outermost = Some(Progress { number: self.loop_count, done: 0, total });
        self.reported = false;
        true
    }

    /// Counts a round of the outermost loop.
    pub fn finish_round(&mut self) {
        if let Some(progress) = &mut self.outermost {
            progress.done += 1;
        }
        // A round may take long with few ticks, if its work is compiled.
        if self.last_report.is_none_or(|last| last.elapsed() > REPORT_INTERVAL) {
            self.report();
        }
    }

    /// Sets the finished rounds and all rounds of the outermost loop, or of the next loop that
    /// takes its place.
    pub fn set_rounds(&mut self, done: u64, total: u64) {
        if let Some(progress) = &mut self.outermost {
            // Reports of several threads may arrive out of order.
            let next = total != progress.total || done < progress.done / 2;
            self.loop_count += u64::from(next);
            let done = if next { done } else { done.max(progress.done) };
            *progress = Progress { number: self.loop_count, done, total };
        }
        self.report();
    }

    /// Ends the outermost loop.
    pub fn leave_loop(&mut self) {
        self.outermost = None;
        if let (true, Some(watcher)) = (self.reported, &mut self.watcher) {
            watcher(None);
        }
    }

    /// Reports the progress.
    pub fn report(&mut self) {
        if let (Some(progress), Some(watcher)) = (self.outermost, &mut self.watcher) {
            self.reported = true;
            self.last_report = Some(Instant::now());
            watcher(Some(progress));
        }
    }
}
