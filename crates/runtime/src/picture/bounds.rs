//! Bounds of drawing: bytes and interruption; errors of drawing.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of rounds of a loop between two polls of the interrupt flag.
const ROUNDS_PER_POLL: usize = 1 << 12;

/// The bounds of one drawing.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// The largest size in bytes of a picture as text.
    pub max_bytes: usize,
    /// The interrupt flag.
    pub interrupt: &'a AtomicBool,
}

/// The reason why a picture is not drawn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawError {
    /// The text describes no picture.
    InvalidDescription,
    /// The picture cannot be saved in a file of this name, with the reason.
    Unsupported(String),
    /// The picture exceeds the bound on bytes.
    TooLong,
    /// The user interrupted the work.
    Interrupted,
}

impl Bounds<'_> {
    /// Polls the interrupt flag in some rounds of a loop; `round` is the number of the round.
    pub fn poll(&self, round: usize) -> Result<(), DrawError> {
        match round.is_multiple_of(ROUNDS_PER_POLL) && self.interrupt.load(Ordering::Relaxed) {
            true => Err(DrawError::Interrupted),
            false => Ok(()),
        }
    }

    /// Returns the text that `write` produces, unless it exceeds the bounds.
    pub fn write_text(
        &self,
        write: impl FnOnce(&mut BoundedText<'_>) -> fmt::Result,
    ) -> Result<String, DrawError> {
        let mut text = BoundedText { written: String::new(), parts: 0, bounds: *self };
        match write(&mut text) {
            Ok(()) => Ok(text.written),
            Err(fmt::Error) => Err(self.poll(0).err().unwrap_or(DrawError::TooLong)),
        }
    }
}

/// A text within bounds.
pub struct BoundedText<'a> {
    written: String,
    parts: usize,
    bounds: Bounds<'a>,
}

impl fmt::Write for BoundedText<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.parts += 1;
        self.bounds.poll(self.parts).map_err(|_| fmt::Error)?;
        if part.len() > self.bounds.max_bytes - self.written.len() {
            return Err(fmt::Error);
        }
        self.written.push_str(part);
        Ok(())
    }
}
