//! Ctrl-C, and the signal that the terminal has another size.
//!
//! Takes the session's flag. The effect of Ctrl-C depends on the present activity ([`Activity`]).
//! Only the thread that edits a line receives the signal for the size, and only while it edits.
//!
//! **`unsafe`.** Registering a handler is `unsafe`, because a handler may run between any two
//! instructions of the program. This one reads and writes atomics and calls async-signal-safe
//! functions of the system; it allocates nothing and takes no lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};

/// The present activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Activity {
    /// No activity that needs a cleanup: a signal ends the command.
    Waiting,
    /// The user edits a line: the editor reads Ctrl-C as a key. A signal from elsewhere is ignored.
    Editing,
    /// A program runs: a signal sets the flag. If the flag is still set at the next signal, the
    /// program does not react, and the command ends. A session, which holds the user's definitions,
    /// prints a message instead and ends at the third signal.
    Evaluating,
}

/// The handling of signals: what the handler of `SIGINT` reads and writes.
///
/// The handler itself does the work. A thread that waits for signals would cost a quarter of the
/// time of a short program.
#[derive(Clone)]
pub struct Interrupts {
    /// The present activity, as the number of a [`Activity`].
    doing: Arc<AtomicU8>,
    /// The session's flag, which stops a program.
    flag: Arc<AtomicBool>,
    /// The number of signals during the present activity.
    signals: Arc<AtomicU8>,
    /// The number of signals in a row that end the command.
    limit: Arc<AtomicU8>,
}

/// [`Interrupts::limit`] of a single program.
const PROGRAM_SIGNALS: u8 = 2;

/// [`Interrupts::limit`] of a session.
const SESSION_SIGNALS: u8 = 3;

/// The message before the last signal that a session survives.
#[cfg(unix)]
const LAST_WARNING: &[u8] =
    b"\nit stops as soon as it can; Ctrl-C once more ends the session, with all that is in it\n";

/// The state that the handler of `SIGINT` reads and writes, once it is installed.
#[cfg(unix)]
static INSTALLED: std::sync::OnceLock<Interrupts> = std::sync::OnceLock::new();

/// The handler of `SIGINT`.
#[cfg(unix)]
extern "C" fn handle_sigint(_: nix::libc::c_int) {
    // The interrupted thread may be about to read the error of its last system call.
    let error = nix::errno::Errno::last_raw();
    if let Some(interrupts) = INSTALLED.get() {
        interrupts.on_signal();
    }
    nix::errno::Errno::set_raw(error);
}

impl Interrupts {
    /// Installs the handler for Ctrl-C. If the system refuses, Ctrl-C ends the command by default.
    pub fn install(flag: Arc<AtomicBool>) -> Interrupts {
        let interrupts = Interrupts {
            doing: Arc::new(AtomicU8::new(Activity::Waiting as u8)),
            flag,
            signals: Arc::new(AtomicU8::new(0)),
            limit: Arc::new(AtomicU8::new(PROGRAM_SIGNALS)),
        };
        #[cfg(unix)]
        if INSTALLED.set(interrupts.clone()).is_ok() {
            use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};
            let action =
                SigAction::new(SigHandler::Handler(handle_sigint), SaFlags::SA_RESTART, SigSet::empty());
            // SAFETY: the action is async-signal-safe: it loads and stores atomics, writes to a
            // descriptor, and ends the process without destructors.
            let _ = unsafe { sigaction(Signal::SIGINT, &action) };
        }
        interrupts
    }

    /// Prepares for a session, which must not be lost by a second signal.
    pub fn protect_session(&self) {
        self.limit.store(SESSION_SIGNALS, Ordering::SeqCst);
    }

    /// Reacts to a signal.
    #[cfg(unix)]
    fn on_signal(&self) {
        let doing = self.doing.load(Ordering::SeqCst);
        if doing == Activity::Editing as u8 {
            return;
        }
        self.flag.store(true, Ordering::SeqCst);
        let signals = self.signals.fetch_add(1, Ordering::SeqCst) + 1;
        if doing == Activity::Waiting as u8 || signals >= self.limit.load(Ordering::SeqCst) {
            // SAFETY: `_exit` is allowed in a handler; it runs no destructors.
            unsafe { nix::libc::_exit(super::exit::INTERRUPTED.into()) };
        }
        if signals > 1 {
            // Without the lock of standard error: the interrupted thread may hold it.
            let _ = nix::unistd::write(std::io::stderr(), LAST_WARNING);
        }
    }

    /// Sets the present activity until the result is dropped.
    pub fn while_doing(&self, doing: Activity) -> ActivityGuard {
        // A signal that came after the last input does not count for this one.
        self.flag.store(false, Ordering::SeqCst);
        self.signals.store(0, Ordering::SeqCst);
        let before = self.doing.swap(doing as u8, Ordering::SeqCst);
        ActivityGuard { doing: self.doing.clone(), before }
    }
}

/// Blocks the signal for a new terminal size in all threads that start later. Only the thread that
/// edits a line unblocks it: in any other thread, the signal would not interrupt the wait of the
/// line editor.
pub fn block_resize_signal() {
    #[cfg(unix)]
    let _ = resize_signal_set().thread_block();
}

/// A guard within which this thread receives the signal for a new terminal size.
pub struct ResizeSignalGuard(());

impl ResizeSignalGuard {
    /// Unblocks the signal in this thread.
    pub fn unblock() -> ResizeSignalGuard {
        #[cfg(unix)]
        let _ = resize_signal_set().thread_unblock();
        ResizeSignalGuard(())
    }
}

impl Drop for ResizeSignalGuard {
    fn drop(&mut self) {
        block_resize_signal();
    }
}

#[cfg(unix)]
/// Returns the set of the signal for a new terminal size.
fn resize_signal_set() -> nix::sys::signal::SigSet {
    nix::sys::signal::SigSet::from(nix::sys::signal::Signal::SIGWINCH)
}

/// A guard that restores the previous activity when dropped.
pub struct ActivityGuard {
    /// The present activity, as the number of a [`Activity`].
    doing: Arc<AtomicU8>,
    /// The previous activity.
    before: u8,
}

impl Drop for ActivityGuard {
    fn drop(&mut self) {
        self.doing.store(self.before, Ordering::SeqCst);
    }
}
