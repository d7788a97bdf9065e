//! Ctrl-C, and the signal that a terminal has another size.
//!
//! Takes the session's flag; what Ctrl-C does depends on what is going on ([`Doing`]). News of the
//! size are for the thread alone that edits a line, while it does.

use signal_hook::consts::SIGINT;
use signal_hook::flag::{register, register_conditional_shutdown};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// What is going on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Doing {
    /// Nothing that has to be put in order: a signal ends the command.
    Waiting,
    /// The user edits a line: the editor reads Ctrl-C as a key, and a signal from elsewhere is not
    /// meant for it.
    Editing,
    /// A program runs: a signal sets the flag; if it is still set at the next, the program does not
    /// react, and the command ends. A session, which holds what has been done in it, says so and
    /// ends at the third.
    Evaluating,
}

/// What a signal does.
///
/// One program is served by flags that the handler itself sets: a thread that waits for signals
/// takes a quarter of the time of a short program. A session has one, because it has something to
/// say ([`Interrupts::hold_on`]).
pub struct Interrupts {
    doing: Arc<AtomicU8>,
    flag: Arc<AtomicBool>,
    /// The next signal ends the command; of no account in a session.
    ends: Arc<AtomicBool>,
    /// Signals so far; of a session.
    heard: Arc<AtomicU8>,
}

/// Signals in a row that end a session.
const ENOUGH: u8 = 3;

impl Interrupts {
    /// Begins to heed Ctrl-C. Where the system does not let us, Ctrl-C ends the command as it
    /// would.
    pub fn install(flag: Arc<AtomicBool>) -> Interrupts {
        let ends = Arc::new(AtomicBool::new(true));
        let status = super::exit::INTERRUPTED.into();
        // In this order: what a signal sets is for the next one.
        let _ = register_conditional_shutdown(SIGINT, status, ends.clone())
            .and_then(|_| register(SIGINT, flag.clone()))
            .and_then(|_| register(SIGINT, ends.clone()));
        let doing = Arc::new(AtomicU8::new(Doing::Waiting as u8));
        Interrupts { doing, flag, ends, heard: Arc::new(AtomicU8::new(0)) }
    }

    /// A session begins: what is in it is not lost by a second signal.
    pub fn hold_on(&self) {
        let (seen, set, count) = (self.doing.clone(), self.flag.clone(), self.heard.clone());
        // It takes the place of the flags.
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

    /// Says what is going on until the result is dropped.
    pub fn while_doing(&self, doing: Doing) -> Until {
        // A signal that came too late for the last input does not count for this one.
        self.flag.store(false, Ordering::SeqCst);
        self.heard.store(0, Ordering::SeqCst);
        let before = self.doing.swap(doing as u8, Ordering::SeqCst);
        self.ends.store(doing == Doing::Waiting, Ordering::SeqCst);
        Until { doing: self.doing.clone(), ends: self.ends.clone(), before }
    }
}

/// No thread that begins after this hears that the terminal has another size, but for the one that
/// edits a line: any other would take the signal, and the line editor would go on waiting.
pub fn hold_resizes() {
    #[cfg(unix)]
    let _ = resizes().thread_block();
}

/// Hears such signals until it is dropped.
pub struct Resizes(());

impl Resizes {
    /// This thread does from now on.
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
fn resizes() -> nix::sys::signal::SigSet {
    nix::sys::signal::SigSet::from(nix::sys::signal::Signal::SIGWINCH)
}

/// What was going on before goes on again when this is dropped.
pub struct Until {
    doing: Arc<AtomicU8>,
    ends: Arc<AtomicBool>,
    before: u8,
}

impl Drop for Until {
    fn drop(&mut self) {
        self.doing.store(self.before, Ordering::SeqCst);
        self.ends.store(self.before == Doing::Waiting as u8, Ordering::SeqCst);
    }
}
