//! Memory-mapped files: pages are read at their first access, and evicted when memory is short.
//!
//! Takes an open file; gives its bytes, which are read-only and keep their addresses as long as
//! they are used. Felis itself never changes a file in place: it writes a new file and renames it,
//! so that a map keeps the old one.
//!
//! **Soundness, and its limit.** A map assumes that the bytes do not change while they are read; no
//! system enforces it: another program may write into the file, or truncate it. Such writes may be
//! visible or not. Numbers are read again from memory at each use, so that every value is one that
//! was in the file. Values that are validated and then relied on (texts, codes below their size)
//! are copied first. After a truncation, the system ends a process that reads beyond the new end
//! (`SIGBUS`); on Linux a message is printed. Files that are quick to read are therefore not
//! mapped, and `files.md` documents the rest.

use bytes::Bytes;
use memmap2::Mmap;
use std::fs::File;

/// Returns the bytes of a file; `None` if it cannot be mapped.
pub fn bytes(file: &File) -> Option<Bytes> {
    #[cfg(target_os = "linux")]
    truncation::install_handler();
    // SAFETY: the map is read-only, its length is that of the file, and it lives as long as its
    // bytes. The head of this file states what holds if another program changes the file meanwhile.
    let map = unsafe { Mmap::map(file) }.ok()?;
    Some(Bytes::from_owner(map))
}

/// The message for a file that is truncated while it is mapped.
#[cfg(target_os = "linux")]
mod truncation {
    use std::sync::Once;
    use std::sync::atomic::{AtomicBool, Ordering};

    /// The message.
    const MESSAGE: &[u8] = b"felis: another program has shortened a file that is in use\n";

    /// Installs a handler of `SIGBUS` that prints a message before the process ends.
    pub fn install_handler() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            use nix::sys::signal::{SigHandler, Signal, signal};
            // SAFETY: the handler has the required signature and does only async-signal-safe work.
            // The Rust runtime does not need this signal on Linux, where a stack overflow raises
            // `SIGSEGV`.
            let _ = unsafe { signal(Signal::SIGBUS, SigHandler::Handler(handle_sigbus)) };
        });
    }

    /// Prints the message and ends the process: the handler of the signal.
    extern "C" fn handle_sigbus(_: nix::libc::c_int) {
        static REPORTED: AtomicBool = AtomicBool::new(false);
        // Other threads that receive the signal wait for the first one to end the process.
        while REPORTED.swap(true, Ordering::Relaxed) {
            nix::unistd::pause();
        }
        let _ = nix::unistd::write(std::io::stderr(), MESSAGE);
        // SAFETY: `_exit` is allowed in a handler; it runs no destructors.
        unsafe { nix::libc::_exit(1) };
    }
}
