//! `felis fmt`: lays files out in place.
//!
//! A file is written only if its layout changes, in one step, and not if it has changed since it
//! was read: an editor may have it open.

use super::input::{self, SourceText};
use super::output::print_error;
use super::{Shell, exit, replace};
use std::path::Path;

impl Shell {
    /// Lays a file out, or says with `check` that it would change; with `from_v01`, it is read as
    /// version 0.1 read it, and written as it is written today. Standard input goes to standard
    /// output.
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

/// Puts another text in the place of what was read from a file.
fn replace_if_unchanged(file: &Path, before: &str, after: &str) -> Result<(), String> {
    replace::replace(file, after.as_bytes(), &|file| match std::fs::read(file) {
        Ok(now) if now == before.as_bytes() => Ok(()),
        Ok(_) => Err("it has changed while it was laid out".to_string()),
        Err(error) => Err(error.to_string()),
    })
}
