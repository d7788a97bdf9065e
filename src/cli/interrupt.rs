//! Ctrl-C, and the signal that the terminal has another size.
//!
//! Takes the session's flag. The effect of Ctrl-C depends on the present activity ([`Doing`]). Only
//! the thread that edits a line receives the signal for the size, and only while it edits.

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The present activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Doing {
    /// No activity that needs a cleanup: a signal ends the command.
    Waiting,
    /// The user edits a line: the editor reads Ctrl-C as a key. A signal from elsewhere is ignored.
    Editing,
    /// A program runs: a signal sets the flag. If the flag is still set at the next signal, the
    /// program does not react, and the command ends. A session, which holds the user's definitions,
    /// prints a message instead and ends at the third signal.
    Evaluating,
}

/// The handling of signals.
///
/// A single program is served by flags that the handler itself sets: a thread that waits for
/// signals would cost a quarter of the time of a short program. A session has such a thread,
/// because it prints a message ([`Interrupts::hold_on`]).
pub struct Interrupts {
    /// The present activity, as the number of a [`Doing`].
    doing: Arc<AtomicU8>,
    /// The session's flag, which stops a program.
    flag: Arc<AtomicBool>,
    /// True if the next signal ends the command; unused in a session.
    ends: Arc<AtomicBool>,
    /// The number of signals so far; used in a session.
    heard: Arc<AtomicU8>,
}

/// The number of signals in a row that end a session.
const ENOUGH: u8 = 3;

impl Interrupts {
    /// Installs the handlers for Ctrl-C. If the system refuses, Ctrl-C ends the command by default.
    pub fn install(flag: Arc<AtomicBool>) -> Interrupts {
        let ends = Arc::new(AtomicBool::new(true));
        let status = super::exit::INTERRUPTED.into();
        // The order matters: each signal sets flags that apply to the next one.
        let _ = register_conditional_shutdown(SIGINT, status, ends.clone())
            .and_then(|_| register(SIGINT, flag.clone()))
            .and_then(|_| register(SIGINT, ends.clone()));
        let doing = Arc::new(AtomicU8::new(Doing::Waiting as u8));
        Interrupts { doing, flag, ends, heard: Arc::new(AtomicU8::new(0)) }
    }

    /// Prepares for a session, which must not be lost by a second signal.
    pub fn hold_on(&self) {
        let (seen, set, count) = (self.doing.clone(), self.flag.clone(), self.heard.clone());
        // This handler replaces the flags.
        let _ = ctrlc::set_handler(move || {
            let doing = seen.load(Ordering::SeqCst);
            if doing == Doing::Editing as u8 {
                return;
            }
            set.store(true, Ordering::SeqCst);
            let signals = count.fetch_add(1, Ordering::SeqCst).saturating_add(1);
            if doing == Doing::Waiting as u8 || signals >= ENOUGH {
                std::process::exit(super::exit::INTERRUPTED.into());
            }
            if signals > 1 {
                eprintln!(
                    "\nit stops as soon as it can; Ctrl-C once more ends the session, with all that is in it"
                );
            }
        });
    }

    /// Sets the present activity until the result is dropped.
    pub fn while_doing(&self, doing: Doing) -> Until {
        // A signal that came after the last input does not count for this one.
        self.flag.store(false, Ordering::SeqCst);
        self.heard.store(0, Ordering::SeqCst);
        let before = self.doing.swap(doing as u8, Ordering::SeqCst);
        self.ends.store(doing == Doing::Waiting, Ordering::SeqCst);
        Until { doing: self.doing.clone(), ends: self.ends.clone(), before }
    }
}

/// Blocks the signal for a new terminal size in all threads that start later. Only the thread that
/// edits a line unblocks it: in any other thread, the signal would not interrupt the wait of the
/// line editor.
pub fn hold_resizes() {
    #[cfg(unix)]
    let _ = resizes().thread_block();
}

/// A guard within which this thread receives the signal for a new terminal size.
pub struct Resizes(());

impl Resizes {
    /// Unblocks the signal in this thread.
    pub fn heard() -> Resizes {
        #[cfg(unix)]
        let _ = resizes().thread_unblock();
        Resizes(())
    }
}

impl Drop for Resizes {
    fn drop(&mut self) {
        hold_resizes();
    }
}

#[cfg(unix)]
/// Returns the set of the signal for a new terminal size.
fn resizes() -> nix::sys::signal::SigSet {
    nix::sys::signal::SigSet::from(nix::sys::signal::Signal::SIGWINCH)
}

/// A guard that restores the previous activity when dropped.
pub struct Until {
    /// The present activity, as the number of a [`Doing`].
    doing: Arc<AtomicU8>,
    /// See [`Interrupts::ends`].
    ends: Arc<AtomicBool>,
    /// The previous activity.
    before: u8,
}

impl Drop for Until {
    fn drop(&mut self) {
        self.doing.store(self.before, Ordering::SeqCst);
        self.ends.store(self.before == Doing::Waiting as u8, Ordering::SeqCst);
    }
}
