//! A session at a real pseudo-terminal: keys in, display out.
//!
//! Waits for expected output, never for a time.

use expectrl::{ControlCode, Eof, Expect, process::Healthcheck, session::OsSession};
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub const PROMPT: &str = "felis> ";

/// Returns a folder for each terminal, for its history.
pub fn folder() -> PathBuf {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    let number = NEXT.fetch_add(1, Ordering::SeqCst);
    let folder = std::env::temp_dir().join(format!("felis-repl-{}-{number}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

pub struct Terminal {
    session: OsSession,
    /// All output so far.
    seen: String,
}

impl Terminal {
    pub fn open() -> Terminal {
        Terminal::with_data(&folder())
    }

    /// Starts a wide terminal, in which messages with file names fit on one line.
    pub fn wide() -> Terminal {
        Terminal::of_width(240)
    }

    /// Starts a terminal of so many columns. A command that sets the size itself would race with
    /// the library, which sets its own after the start of the command.
    pub fn of_width(columns: u16) -> Terminal {
        let mut terminal = Terminal::open();
        terminal.session.get_process_mut().set_window_size(columns, 24).expect("a size");
        terminal
    }

    pub fn with_data(data: &std::path::Path) -> Terminal {
        Terminal::with(|command| {
            command.env("XDG_DATA_HOME", data).env("NO_COLOR", "1");
        })
    }

    /// Starts a terminal with colors.
    pub fn colored() -> Terminal {
        Terminal::with(|command| {
            command.env("XDG_DATA_HOME", folder());
        })
    }

    /// Starts a terminal whose command is set up by `prepare`.
    pub fn with(prepare: impl FnOnce(&mut Command)) -> Terminal {
        let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
        command.env("TERM", "xterm").env("PAGER", "cat").env_remove("FELIS_HISTORY").env_remove("NO_COLOR");
        prepare(&mut command);
        let mut session = OsSession::spawn(command).expect("a pseudo-terminal");
        session.set_expect_timeout(Some(Duration::from_secs(20)));
        let mut terminal = Terminal { session, seen: String::new() };
        terminal.sees(":help");
        terminal.sees(PROMPT);
        terminal
    }

    pub fn sees(&mut self, text: &str) {
        match self.session.expect(text) {
            Ok(found) => self.seen.push_str(&String::from_utf8_lossy(found.as_bytes())),
            Err(error) => panic!("waiting for {text:?}: {error}"),
        }
    }

    /// Types a line and waits for its hint. The session makes no hint for a while after one that took
    /// long, as on a busy machine, and keys that come while the terminal changes its mode may be lost:
    /// so the line is typed anew until there is one.
    pub fn types_to_hint(&mut self, line: &str, hint: &str) {
        self.session.set_expect_timeout(Some(Duration::from_secs(3)));
        let seen = (0..10).any(|_| {
            self.types(&format!("\u{15}{line}"));
            self.session.expect(hint).is_ok()
        });
        self.session.set_expect_timeout(Some(Duration::from_secs(20)));
        assert!(seen, "waiting for the hint {hint:?} of {line:?}");
    }

    /// Returns all output so far.
    pub fn everything(&self) -> &str {
        &self.seen
    }

    pub fn types(&mut self, text: &str) {
        self.session.send(text).expect("keys");
    }

    /// Enters a line until the answer appears: text typed while the terminal changes its mode may
    /// be lost.
    pub fn insists(&mut self, line: &str, answer: &str) {
        self.session.set_expect_timeout(Some(Duration::from_secs(2)));
        let seen = (0..9).any(|_| {
            self.types(&format!("{line}\r"));
            self.session.expect(answer).is_ok()
        });
        self.session.set_expect_timeout(Some(Duration::from_secs(20)));
        assert!(seen, "nothing says {answer:?} after {line:?}");
    }

    /// Enters a line; expects an answer that contains this text, and then a prompt.
    pub fn answers(&mut self, line: &str, answer: &str) {
        self.types(&format!("{line}\r"));
        // The terminal echoes typed text: the answer begins on the next line.
        self.sees("\r\n");
        self.sees(answer);
        self.sees(PROMPT);
    }

    pub fn takes(&mut self, line: &str) {
        self.types(&format!("{line}\r"));
        self.sees("\r\n");
        self.sees(PROMPT);
    }

    pub fn presses(&mut self, key: &str) {
        self.session.send(ControlCode::try_from(key).expect("a key")).expect("keys");
    }

    /// Presses Ctrl-C until this text appears. A shell loses the signal when it comes between its fork
    /// and the start of the program.
    pub fn interrupts_until(&mut self, text: &str) {
        self.session.set_expect_timeout(Some(Duration::from_secs(2)));
        let seen = (0..9).any(|_| {
            self.presses("^C");
            self.session.expect(text).is_ok()
        });
        self.session.set_expect_timeout(Some(Duration::from_secs(20)));
        assert!(seen, "nothing says {text:?} after Ctrl-C");
    }

    /// Interrupts a program that has printed 42, which the echo of its text does not contain.
    pub fn is_interrupted(&mut self) {
        self.sees("42");
        self.presses("^C");
        self.sees("interrupted");
        self.sees(PROMPT);
    }

    pub fn ends(mut self) {
        self.session.expect(Eof).expect("an end");
        for _ in 0..100 {
            if !self.session.get_process().is_alive().unwrap_or(false) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("felis still runs");
    }
}
