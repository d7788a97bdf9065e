//! `felis check --watch`: programs are checked again whenever one of their files changes.
//!
//! Files are looked at a few times a second: that works on every system and every kind of disk, and
//! needs no service of either.

use super::files::{Files, Seen};
use super::input::{self, Text};
use super::{Shell, code, exit};
use felis::session::Status;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// How often files are looked at.
const PAUSE: Duration = Duration::from_millis(200);

/// What tells a file from itself before a change; nothing if it is not there.
type Stamp = Option<(SystemTime, u64)>;

impl Shell {
    /// Checks files until Ctrl-C.
    pub(super) fn watch(&mut self, files: &[PathBuf]) -> u8 {
        if files.iter().any(|file| file.as_os_str() == "-") {
            super::output::complain("felis: standard input cannot be watched");
            return exit::USAGE;
        }
        loop {
            let seen = Seen::default();
            let stamps =
                |files: &BTreeSet<PathBuf>| -> Vec<Stamp> { files.iter().map(|f| stamp(f)).collect() };
            // Taken before they are read: a change meanwhile is seen in the next round.
            let own: BTreeSet<PathBuf> = files.iter().cloned().collect();
            let before = stamps(&own);
            let wrong = files.iter().filter(|file| self.check_noting(file, &seen) != exit::OK).count();
            let all = seen.lock().map(|seen| seen.clone()).unwrap_or_default();
            let imported = stamps(&all);
            let count = files.len();
            self.output.write(&match (wrong, count) {
                (0, 1) => format!("{}: nothing is wrong\n", files[0].display()),
                (_, 1) => format!("{}: refused\n", files[0].display()),
                (0, _) => format!("{count} programs: nothing is wrong\n"),
                _ => format!("{wrong} of {count} programs refused\n"),
            });
            self.output.flush();
            while stamps(&own) == before && stamps(&all) == imported {
                std::thread::sleep(PAUSE);
            }
        }
    }

    fn check_noting(&mut self, file: &Path, seen: &Seen) -> u8 {
        // Modules are read again.
        self.session.reset();
        let Text { name, text } = match input::read(file) {
            Ok(text) => text,
            Err(refusal) => return refusal.tell(&self.output),
        };
        self.session.set_loader(Box::new(Files::beside(file).noting(seen.clone())));
        self.define_arguments(&text, &[]);
        let outcome = self.session.check(&name, &text);
        self.tell(&outcome.diagnostics);
        if outcome.status == Status::Ok { exit::OK } else { code(outcome.status) }
    }
}

fn stamp(file: &Path) -> Stamp {
    let metadata = std::fs::metadata(file).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}
