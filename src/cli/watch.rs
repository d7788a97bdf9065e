//! `felis check --watch`: programs are checked again whenever one of their files changes.
//!
//! Files are looked at a few times a second: that works on every system and every kind of disk, and
//! needs no service of either.

use super::files::{Files, Seen, stamp};
use super::input::{self, Text};
use super::output::shown;
use super::{Messages, Shell, code, exit, json};
use felis::session::Status;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often files are looked at.
const PAUSE: Duration = Duration::from_millis(200);

impl Shell {
    /// Checks files until Ctrl-C.
    pub(super) fn watch(&mut self, files: &[PathBuf]) -> u8 {
        if files.iter().any(|file| file.as_os_str() == "-") {
            super::output::complain("felis: standard input cannot be watched");
            return exit::USAGE;
        }
        loop {
            // Stamps are taken before files are read: a change meanwhile is seen in the next round.
            let seen = Seen::default();
            if let Ok(mut seen) = seen.lock() {
                seen.extend(files.iter().map(|file| (file.clone(), stamp(file))));
            }
            let wrong = files.iter().filter(|file| self.check_noting(file, &seen) != exit::OK).count();
            let count = files.len();
            self.output.write(&match (wrong, count) {
                _ if self.messages == Messages::JsonOut => {
                    format!("{}\n", json!({ "schema": json::SCHEMA, "programs": count, "refused": wrong }))
                }
                (0, 1) => format!("{}: nothing is wrong\n", shown(&files[0])),
                (_, 1) => format!("{}: refused\n", shown(&files[0])),
                (0, _) => format!("{count} programs: nothing is wrong\n"),
                _ => format!("{wrong} of {count} programs refused\n"),
            });
            self.output.flush();
            let seen = seen.lock().map(|seen| seen.clone()).unwrap_or_default();
            while seen.iter().all(|(file, before)| stamp(file) == *before) {
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn check_noting(&mut self, file: &Path, seen: &Seen) -> u8 {
        // Modules are read again.
        self.session.reset();
        let Text { name, text } = match input::read(file) {
            Ok(text) => text,
            Err(refusal) => return self.refuse(&refusal),
        };
        self.session.set_loader(Box::new(Files::beside(file).noting(seen.clone())));
        self.define_arguments(&text, &[]);
        let outcome = self.session.check(&name, &text);
        self.tell(&outcome.diagnostics);
        if outcome.status == Status::Ok { exit::OK } else { code(outcome.status) }
    }
}
