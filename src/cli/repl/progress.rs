//! The progress bar of a long input: the time left where a loop reports its progress, else the time
//! so far.
//!
//! Takes the progress that a session reports; draws on standard error, on a terminal only, and
//! erases the bar before anything else is written there. A thread of its own draws, since a program
//! may report nothing for a long time.

use super::commands::format_duration;
use felis::session::{Progress, Session};
use std::io::{IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The time before which no bar is shown.
const MIN_SHOWN_TIME: Duration = Duration::from_secs(1);
/// The interval between two drawings.
const REDRAW_INTERVAL: Duration = Duration::from_millis(100);
/// The width of the bar itself, in characters.
const BAR_WIDTH: u64 = 30;

/// The only bar, because there is only one standard error.
static BAR: Mutex<ProgressBar> =
    Mutex::new(ProgressBar { begun: None, told: None, drawn: false, in_line: false });
/// The signal that an input has begun.
static INPUT_STARTED: Condvar = Condvar::new();

/// The state of the bar and of the present input.
struct ProgressBar {
    /// The time at which the present input began.
    begun: Option<Instant>,
    /// The progress of its outermost loop, and the time of the first report of that loop.
    told: Option<(Progress, Instant)>,
    /// True if the bar is drawn.
    drawn: bool,
    /// True if the program has left a line open, so that there is no place for a bar.
    in_line: bool,
}

/// Shows the progress of long inputs of this session, if standard error is a terminal.
pub fn install(session: &mut Session) {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if !std::io::stderr().is_terminal() || dumb {
        return;
    }
    session.set_watcher(Box::new(|progress| lock_bar().update(progress)));
    // Without the thread nothing is drawn; all else is unaffected.
    let _ = std::thread::Builder::new().name("progress".into()).spawn(draw_loop);
}

/// Marks the beginning of an input, and its end when the result is dropped.
pub fn start() -> RunningInput {
    lock_bar().begun = Some(Instant::now());
    INPUT_STARTED.notify_one();
    RunningInput
}

/// A guard for an input that runs.
pub struct RunningInput;

impl Drop for RunningInput {
    fn drop(&mut self) {
        let mut bar = lock_bar();
        bar.clear();
        (bar.begun, bar.told, bar.in_line) = (None, None, false);
    }
}

/// Writes output of a program, with the bar removed.
pub fn write_output(text: &str, write: impl FnOnce(&str)) {
    let mut bar = lock_bar();
    bar.clear();
    if let Some(last) = text.chars().next_back() {
        bar.in_line = last != '\n';
    }
    // The lock is held until the output is written, so the bar waits.
    write(text);
}

/// Locks the bar; a panic of another thread leaves it usable.
fn lock_bar() -> MutexGuard<'static, ProgressBar> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws the bar at intervals, as long as the process lives.
fn draw_loop() {
    let mut bar = lock_bar();
    loop {
        if bar.begun.is_none() {
            bar = INPUT_STARTED.wait(bar).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        drop(bar);
        std::thread::sleep(REDRAW_INTERVAL);
        bar = self::lock_bar();
        bar.draw(Instant::now());
    }
}

impl ProgressBar {
    /// Takes the progress of the outermost loop.
    fn update(&mut self, progress: Option<Progress>) {
        self.told = progress.map(|progress| match self.told {
            Some((known, since)) if known.number == progress.number => (progress, since),
            _ => (progress, Instant::now()),
        });
    }

    /// Draws the bar, if the input has run long enough.
    fn draw(&mut self, now: Instant) {
        let Some(begun) = self.begun.filter(|_| !self.in_line) else { return };
        let loop_time = self.told.map(|(progress, since)| (progress, now.saturating_duration_since(since)));
        let text = match loop_time.filter(|(_, time)| *time >= MIN_SHOWN_TIME) {
            Some((progress, time)) => bar_text(progress, time),
            None => match now.saturating_duration_since(begun) {
                time if time < MIN_SHOWN_TIME => return,
                time => format!("{} so far, Ctrl-C stops", whole_seconds(time)),
            },
        };
        self.drawn = true;
        // An error of standard error cannot be reported anywhere.
        let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
    }

    /// Removes the bar from the terminal.
    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// Returns the text of the bar of a loop that has run for `time`.
fn bar_text(progress: Progress, time: Duration) -> String {
    let Progress { done, total, .. } = progress;
    let part = |of: u64| (u128::from(done) * u128::from(of) / u128::from(total.max(1))) as u64;
    let filled = part(BAR_WIDTH).min(BAR_WIDTH);
    let bar = format!("{}{}", "━".repeat(filled as usize), "╌".repeat((BAR_WIDTH - filled) as usize));
    let rest = match done {
        0 => format!("{} so far", whole_seconds(time)),
        _ => {
            let left = time.as_secs_f64() * (total.saturating_sub(done)) as f64 / done as f64;
            // An estimate of more than a year is not shown.
            match Duration::try_from_secs_f64(left).ok().filter(|left| left.as_secs() < 365 * 24 * 3600) {
                Some(left) => format!("{} left", whole_seconds(left)),
                None => format!("{} so far", whole_seconds(time)),
            }
        }
    };
    format!("{:>3}% {bar} {rest}", part(100))
}

/// Returns a time in whole seconds.
fn whole_seconds(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        _ => format_duration(time),
    }
}

#[cfg(test)]
mod tests {
    use super::bar_text;
    use felis::session::Progress;
    use std::time::Duration;

    #[test]
    fn a_bar_tells_how_far_and_how_long() {
        let at = |done, total, seconds| {
            bar_text(Progress { number: 1, done, total }, Duration::from_secs(seconds))
        };
        assert_eq!(at(1, 2, 10), " 50% ━━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 10 s left");
        assert_eq!(at(0, 7, 3), "  0% ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 3 s so far");
        assert_eq!(at(1, 100, 2), "  1% ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 3 min 18 s left");
        assert!(at(1, u64::MAX, 2).ends_with("2 s so far"));
        assert!(at(u64::MAX, u64::MAX, 2).starts_with("100% "));
    }
}
