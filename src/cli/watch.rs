//! `felis check --watch`: checks programs again whenever one of their files changes.
//!
//! Files are polled, which works on every operating system and file system.

use super::files::{FileLoader, RecordedStamps, file_stamp};
use super::input::{self, SourceText};
use super::output::display_path;
use super::{MessageFormat, Shell, exit, exit_code, json};
use felis::session::Status;
use serde_json::json;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The interval between two checks of the files.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

impl Shell {
    /// Checks files until Ctrl-C. Returns the exit code.
    pub(super) fn watch(&mut self, files: &[PathBuf]) -> u8 {
        if files.iter().any(|file| file.as_os_str() == "-") {
            super::output::print_error("felis: standard input cannot be watched");
            return exit::USAGE;
        }
        loop {
            // Stamps are taken before files are read, so that a change in between is seen in the
            // next round.
            let seen = RecordedStamps::default();
            if let Ok(mut seen) = seen.lock() {
                seen.extend(files.iter().map(|file| (file.clone(), file_stamp(file))));
            }
            let wrong = files.iter().filter(|file| self.check_and_record(file, &seen) != exit::OK).count();
            let count = files.len();
            self.output.write(&match (wrong, count) {
                _ if self.messages == MessageFormat::JsonOut => {
                    format!("{}\n", json!({ "schema": json::SCHEMA, "programs": count, "refused": wrong }))
                }
                (0, 1) => format!("{}: nothing is wrong\n", display_path(&files[0])),
                (_, 1) => format!("{}: refused\n", display_path(&files[0])),
                (0, _) => format!("{count} programs: nothing is wrong\n"),
                _ => format!("{wrong} of {count} programs refused\n"),
            });
            self.output.flush();
            let seen = seen.lock().map(|seen| seen.clone()).unwrap_or_default();
            while seen.iter().all(|(file, before)| file_stamp(file) == *before) {
                std::thread::sleep(POLL_INTERVAL);
            }
        }
    }

    /// Checks a file in a new session; records the stamps of the files that it reads.
    fn check_and_record(&mut self, file: &Path, seen: &RecordedStamps) -> u8 {
        // Modules are read again.
        self.session.reset();
        let SourceText { name, text } = match input::read(file) {
            Ok(text) => text,
            Err(refusal) => return self.report_input_error(&refusal),
        };
        self.session.set_loader(Box::new(FileLoader::relative_to(file).with_recorded_stamps(seen.clone())));
        self.define_arguments(&text, &[]);
        let outcome = self.session.check(&name, &text);
        self.report_diagnostics(&outcome.diagnostics);
        if outcome.status == Status::Ok { exit::OK } else { exit_code(outcome.status) }
    }
}
