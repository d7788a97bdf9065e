//! What drawing may take: bytes, and time until somebody stops it; and why nothing is drawn.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rounds of a loop after which it looks whether it is to stop.
const ROUNDS_PER_POLL: usize = 1 << 12;

/// The bounds of one drawing.
#[derive(Clone, Copy, Debug)]
pub struct Bounds<'a> {
    /// The most bytes that a picture as text may have.
    pub max_bytes: usize,
    /// Set from outside to stop the work.
    pub interrupt: &'a AtomicBool,
}

/// Why there is no picture, or nothing of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DrawError {
    /// A text describes none.
    InvalidDescription,
    /// A file of this name does not hold it; why not.
    Unsupported(String),
    /// It has more bytes than it may.
    TooLong,
    /// It was stopped from outside.
    Interrupted,
}

impl Bounds<'_> {
    /// Looks, now and then, whether the work is to stop; `round` counts the rounds of a loop.
    pub fn poll(&self, round: usize) -> Result<(), DrawError> {
        match round.is_multiple_of(ROUNDS_PER_POLL) && self.interrupt.load(Ordering::Relaxed) {
            true => Err(DrawError::Interrupted),
            false => Ok(()),
        }
    }

    /// The text that is written; writing fails where it goes beyond the bounds.
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
