//! What is to be seen while an input takes long: a bar with the time left where a loop tells how far it
//! is, else the time so far.
//!
//! Takes what a session tells while it runs; draws on standard error, on a terminal only, and takes away
//! what it has drawn before anything else is written there. A thread of its own draws: what runs may say
//! nothing for a long time.

use super::commands::duration;
use felis::session::{Progress, Session};
use std::io::{IsTerminal, Write};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What takes less is not worth a word.
const PATIENCE: Duration = Duration::from_secs(1);
/// Between two looks.
const PAUSE: Duration = Duration::from_millis(100);
/// Characters of the bar itself.
const MAX_LINE_WIDTH: u64 = 30;

/// There is one standard error, and so one bar.
static BAR: Mutex<Bar> = Mutex::new(Bar { begun: None, told: None, drawn: false, in_line: false });
/// An input has begun.
static BEGUN: Condvar = Condvar::new();

struct Bar {
    /// When the present input began.
    begun: Option<Instant>,
    /// How far its outermost loop is, and when that loop was first heard of.
    told: Option<(Progress, Instant)>,
    /// Something is to be seen.
    drawn: bool,
    /// The program has left a line open: there is no place for a bar.
    in_line: bool,
}

/// Shows how far long inputs of this session are, if somebody can see it.
pub fn watch(session: &mut Session) {
    let dumb = std::env::var_os("TERM").is_none_or(|term| term == "dumb");
    if !std::io::stderr().is_terminal() || dumb {
        return;
    }
    session.set_watcher(Box::new(|progress| bar().hear(progress)));
    // Without the thread nothing is drawn, and all else is as it would be.
    let _ = std::thread::Builder::new().name("progress".into()).spawn(draw);
}

/// An input begins, and ends when the result is dropped.
pub fn begin() -> Running {
    bar().begun = Some(Instant::now());
    BEGUN.notify_one();
    Running
}

/// An input that runs.
pub struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        let mut bar = bar();
        bar.clear();
        (bar.begun, bar.told, bar.in_line) = (None, None, false);
    }
}

/// Writes output of a program; the bar makes room for it.
pub fn make_room(text: &str, write: impl FnOnce(&str)) {
    let mut bar = bar();
    bar.clear();
    if let Some(last) = text.chars().next_back() {
        bar.in_line = last != '\n';
    }
    // The bar waits until it is written.
    write(text);
}

fn bar() -> MutexGuard<'static, Bar> {
    BAR.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Draws now and then, as long as the command lives.
fn draw() {
    let mut bar = bar();
    loop {
        if bar.begun.is_none() {
            bar = BEGUN.wait(bar).unwrap_or_else(PoisonError::into_inner);
            continue;
        }
        drop(bar);
        std::thread::sleep(PAUSE);
        bar = self::bar();
        bar.show(Instant::now());
    }
}

impl Bar {
    fn hear(&mut self, progress: Option<Progress>) {
        self.told = progress.map(|progress| match self.told {
            Some((known, since)) if known.number == progress.number => (progress, since),
            _ => (progress, Instant::now()),
        });
    }

    fn show(&mut self, now: Instant) {
        let Some(begun) = self.begun.filter(|_| !self.in_line) else { return };
        let loop_time = self.told.map(|(progress, since)| (progress, now.saturating_duration_since(since)));
        let text = match loop_time.filter(|(_, time)| *time >= PATIENCE) {
            Some((progress, time)) => line(progress, time),
            None => match now.saturating_duration_since(begun) {
                time if time < PATIENCE => return,
                time => format!("{} so far, Ctrl-C stops", whole(time)),
            },
        };
        self.drawn = true;
        // If nobody listens there is nobody to tell.
        let _ = write!(std::io::stderr(), "\r{text}\x1b[K");
    }

    fn clear(&mut self) {
        if std::mem::take(&mut self.drawn) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
    }
}

/// The bar of a loop that has run for some time.
fn line(progress: Progress, time: Duration) -> String {
    let Progress { done, total, .. } = progress;
    let part = |of: u64| (u128::from(done) * u128::from(of) / u128::from(total.max(1))) as u64;
    let filled = part(MAX_LINE_WIDTH).min(MAX_LINE_WIDTH);
    let bar = format!("{}{}", "━".repeat(filled as usize), "╌".repeat((MAX_LINE_WIDTH - filled) as usize));
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
