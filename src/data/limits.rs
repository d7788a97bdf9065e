//! What reading and writing may take: memory, and time until somebody stops it.

use super::Trouble;
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rounds of a loop after which it looks whether it is to stop.
const ROUNDS: usize = 1 << 12;
/// Bytes that are unpacked between two such looks.
const PIECE: u64 = 1 << 20;

/// The bounds of one reading or writing.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Bytes that what is made of a file may take.
    pub room: u64,
    /// Set from outside to stop the work.
    pub stop: &'a AtomicBool,
}

impl Limits<'_> {
    /// Looks, now and then, whether the work is to stop; `round` counts the rounds of a loop.
    pub fn look(&self, round: usize) -> Result<(), Trouble> {
        match round.is_multiple_of(ROUNDS) && self.stop.load(Ordering::Relaxed) {
            true => Err(Trouble::Stopped),
            false => Ok(()),
        }
    }

    /// All that a reader gives, if that is at most `most` bytes. What a file says of its size is not believed: room
    /// is taken as bytes arrive. `malformed` makes a trouble of words.
    pub fn unpack(
        &self,
        from: impl Read,
        most: u64,
        malformed: impl Fn(String) -> Trouble,
    ) -> Result<Vec<u8>, Trouble> {
        let mut from = from.take(most.saturating_add(1));
        let mut all = Vec::new();
        loop {
            self.look(0)?;
            let piece = from.by_ref().take(PIECE).read_to_end(&mut all);
            if piece.map_err(|error| malformed(error.to_string()))? == 0 {
                break;
            }
        }
        match all.len() as u64 > most {
            true => Err(malformed("it takes more memory than there is".to_string())),
            false => Ok(all),
        }
    }
}
