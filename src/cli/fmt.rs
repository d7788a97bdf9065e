//! `felis fmt`: files laid out in place.
//!
//! A file is written only if its layout changes, in one step, and not if it has changed since it was
//! read: an editor may have it open.

use super::input::{self, Text};
use super::output::complain;
use super::{Shell, exit};
use std::io::Write;
use std::path::Path;

impl Shell {
    /// Lays a file out, or says with `check` that it would change. Standard input goes to standard
    /// output.
    pub(super) fn format(&mut self, file: &Path, check: bool) -> u8 {
        let Text { name, text } = match input::read(file) {
            Ok(text) => text,
            Err(refusal) => return refusal.tell(&self.output),
        };
        let laid = match self.session.format(&name, &text) {
            Ok(laid) => laid,
            Err(diagnostics) => {
                self.tell(&diagnostics);
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
        match replace(file, &text, &laid) {
            Ok(()) => exit::OK,
            Err(why) => {
                self.output.flush();
                complain(&format!("felis: `{name}` is left as it was: {why}"));
                exit::USAGE
            }
        }
    }
}

/// Puts another text in the place of what was read from a file.
fn replace(file: &Path, before: &str, after: &str) -> Result<(), String> {
    let said = |error: std::io::Error| error.to_string();
    // A link stays one.
    let file = file.canonicalize().map_err(said)?;
    let folder = file.parent().unwrap_or(Path::new("."));
    let metadata = std::fs::metadata(&file).map_err(said)?;
    if metadata.permissions().readonly() {
        return Err("it may not be written".to_string());
    }
    let name = file.file_name().unwrap_or_default().to_string_lossy();
    let other = folder.join(format!(".{name}.{}.tmp", std::process::id()));
    let written = (|| {
        let mut out = std::fs::File::options().write(true).create_new(true).open(&other)?;
        out.write_all(after.as_bytes())?;
        out.set_permissions(metadata.permissions())?;
        out.sync_all()
    })();
    let moved = written.map_err(said).and_then(|()| match std::fs::read(&file) {
        Ok(now) if now == before.as_bytes() => std::fs::rename(&other, &file).map_err(said),
        Ok(_) => Err("it has changed while it was laid out".to_string()),
        Err(error) => Err(said(error)),
    });
    if moved.is_err() {
        // What is left over is nobody's file.
        let _ = std::fs::remove_file(&other);
    }
    moved
}
