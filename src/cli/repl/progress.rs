//! A bar for loops that take long: how far they are, and how long they will still take.
//!
//! Takes what a session tells while it runs; draws on standard error, on a terminal only, and takes the
//! bar away before anything else is written there.

use super::commands::duration;
use felis::session::{Progress, Session};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// A loop that takes less has no bar.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks of the bar.
const PAUSE: Duration = Duration::from_millis(100);
/// Characters of the bar itself.
const WIDTH: u64 = 30;

/// There is one standard error, and so one bar.
static BAR: Mutex<Bar> = Mutex::new(Bar { watched: None, drawn: None, in_line: false });

struct Bar {
    /// The loop, and when it was first heard of.
    watched: Option<(u64, Instant)>,
    /// When the bar was drawn last, if it is to be seen.
    drawn: Option<Instant>,
    /// The program has left a line open: there is no place for a bar.
    in_line: bool,
}

/// Shows how far long loops of this session are, if somebody can see it.
pub fn watch(session: &mut Session) {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if std::io::stderr().is_terminal() && !dumb {
        session.set_watcher(Box::new(|progress| match progress {
            Some(progress) => bar().show(progress),
            None => bar().clear(),
        }));
    }
}

/// To be called before a program's output is written.
pub fn before(text: &str) {
    let mut bar = bar();
    bar.clear();
    if let Some(last) = text.chars().next_back() {
        bar.in_line = last != '\n';
    }
}

/// To be called when an input has ended.
pub fn end() {
    let mut bar = bar();
    bar.clear();
    (bar.watched, bar.in_line) = (None, false);
}

fn bar() -> MutexGuard<'static, Bar> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Bar {
    fn show(&mut self, progress: Progress) {
        let now = Instant::now();
        let start = match self.watched {
            Some((number, start)) if number == progress.number => start,
            _ => {
                self.watched = Some((progress.number, now));
                return;
            }
        };
        let seen_now = self.drawn.is_some_and(|drawn| now - drawn < PAUSE);
        if self.in_line || now - start < PATIENCE || seen_now {
            return;
        }
        self.drawn = Some(now);
        // If nobody listens there is nobody to tell.
        let _ = write!(std::io::stderr(), "\r{}\x1b[K", line(progress, now - start));
    }

    fn clear(&mut self) {
        if self.drawn.take().is_some() {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// The bar of a loop that has run for some time.
fn line(progress: Progress, time: Duration) -> String {
    let Progress { done, total, .. } = progress;
    let part = |of: u64| (u128::from(done) * u128::from(of) / u128::from(total.max(1))) as u64;
    let filled = part(WIDTH).min(WIDTH);
    let bar = format!("{}{}", "━".repeat(filled as usize), "╌".repeat((WIDTH - filled) as usize));
    let rest = match done {
        0 => format!("{} so far", whole(time)),
        _ => {
            let left = time.as_secs_f64() * (total.saturating_sub(done)) as f64 / done as f64;
            // More than a year is no forecast.
            match Duration::try_from_secs_f64(left).ok().filter(|left| left.as_secs() < 365 * 24 * 3600) {
                Some(left) => format!("{} left", whole(left)),
                None => format!("{} so far", whole(time)),
            }
        }
    };
    format!("{:>3}% {bar} {rest}", part(100))
}

/// A time in whole seconds.
fn whole(time: Duration) -> String {
    match time.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        _ => duration(time),
    }
}

#[cfg(test)]
mod tests {
    use super::line;
    use felis::session::Progress;
    use std::time::Duration;

    #[test]
    fn a_bar_tells_how_far_and_how_long() {
        let at =
            |done, total, seconds| line(Progress { number: 1, done, total }, Duration::from_secs(seconds));
        assert_eq!(at(1, 2, 10), " 50% ━━━━━━━━━━━━━━━╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 10 s left");
        assert_eq!(at(0, 7, 3), "  0% ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 3 s so far");
        assert_eq!(at(1, 100, 2), "  1% ╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌╌ 3 min 18 s left");
        assert!(at(1, u64::MAX, 2).ends_with("2 s so far"));
        assert!(at(u64::MAX, u64::MAX, 2).starts_with("100% "));
    }
}
