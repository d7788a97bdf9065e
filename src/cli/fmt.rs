//! `felis fmt`: formats files in place.
//!
//! A file is written only if its layout changes, in one step, and not if it has changed since it
//! was read, because an editor may have it open.

use super::input::{self, SourceText};
use super::output::print_error;
use super::{Shell, exit, replace};
use std::path::Path;

impl Shell {
    /// Formats a file; with `check`, only reports that it would change. With `from_v01`, the file
    /// is read by the grammar of version 0.1 and written in the present one. Standard input is
    /// written to standard output. Returns the exit code.
    pub(super) fn format(&mut self, file: &Path, check: bool, from_v01: bool) -> u8 {
        let SourceText { name, text } = match input::read(file) {
            Ok(text) => text,
            Err(refusal) => return self.report_input_error(&refusal),
        };
        let today = match from_v01 {
            true => self.session.migrate(&name, &text),
            false => Ok(text.clone()),
        };
        let laid = match today.and_then(|today| self.session.format(&name, &today)) {
            Ok(laid) => laid,
            Err(diagnostics) => {
                self.report_diagnostics(&diagnostics);
                return exit::REJECTED;
            }
        };
        if check {
            if laid == text {
                return exit::OK;
            }
            self.output.write(&format!("{name}\n"));
            return exit::FAILED;
        }
        if file.as_os_str() == "-" {
            self.output.write(&laid);
            return exit::OK;
        }
        if laid == text {
            return exit::OK;
        }
        match replace_if_unchanged(file, &text, &laid) {
            Ok(()) => exit::OK,
            Err(why) => {
                self.output.flush();
                print_error(&format!("felis: `{name}` is left as it was: {why}"));
                exit::USAGE
            }
        }
    }
}

/// Replaces the text of a file, unless it has changed since it was read.
fn replace_if_unchanged(file: &Path, before: &str, after: &str) -> Result<(), String> {
    replace::replace(file, after.as_bytes(), &|file| match std::fs::read(file) {
        Ok(now) if now == before.as_bytes() => Ok(()),
        Ok(_) => Err("it has changed while it was laid out".to_string()),
        Err(error) => Err(error.to_string()),
    })
}
