//! What reading and writing may take: memory, and time until somebody stops it.

use super::{DataError, Format};
use crate::value::{Buffer, Class};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

/// Rounds of a loop after which it looks whether it is to stop.
const ROUNDS_PER_POLL: usize = 1 << 12;
/// Bytes that are unpacked between two such looks.
const CHUNK_BYTES: u64 = 1 << 20;

/// The bounds of one reading or writing.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// Bytes that what is made may take: cells of a file, or a file of cells.
    pub memory: u64,
    /// Set from outside to stop the work.
    pub interrupt: &'a AtomicBool,
}

impl Limits<'_> {
    /// Looks, now and then, whether the work is to stop; `round` counts the rounds of a loop.
    pub fn poll(&self, round: usize) -> Result<(), DataError> {
        match round.is_multiple_of(ROUNDS_PER_POLL) && self.interrupt.load(Ordering::Relaxed) {
            true => Err(DataError::Interrupted),
            false => Ok(()),
        }
    }

    /// Takes so many bytes of the room, if they are there.
    pub fn reserve(&mut self, bytes: u64) -> Option<()> {
        self.memory = self.memory.checked_sub(bytes)?;
        Some(())
    }

    /// Takes what a text takes beside its slot: its bytes, and the counts of those who share it.
    pub fn reserve_text(&mut self, bytes: usize) -> Option<()> {
        self.reserve((bytes + 2 * size_of::<usize>()) as u64)
    }

    /// An empty buffer for so many cells of a file, which are taken of the room.
    pub fn allocate_cells(
        &mut self,
        slots: usize,
        class: Class,
        format: Format,
    ) -> Result<Buffer, DataError> {
        let taken = self.reserve((slots as u64).saturating_mul(class.bytes()));
        taken.and_then(|()| Buffer::with_capacity(class, slots)).ok_or_else(|| DataError::too_large(format))
    }

    /// Empty bytes with room for a file of so many, which are taken of the room.
    pub fn allocate_file(&mut self, bytes: u64) -> Result<Vec<u8>, DataError> {
        self.reserve(bytes).ok_or_else(DataError::too_large_to_write)?;
        let mut out = Vec::new();
        let room = usize::try_from(bytes).ok().and_then(|bytes| out.try_reserve_exact(bytes).ok());
        let why = || DataError::Unwritable { why: "there is not enough memory".to_string() };
        room.map(|()| out).ok_or_else(why)
    }

    /// All that a reader gives, if that is at most `most` bytes. What a file says of its size is not believed: room
    /// is taken as bytes arrive. `malformed` makes a trouble of words.
    pub fn read_decompressed(
        &self,
        from: impl Read,
        most: u64,
        malformed: impl Fn(String) -> DataError,
    ) -> Result<Vec<u8>, DataError> {
        let mut from = from.take(most.saturating_add(1));
        let mut all = Vec::new();
        loop {
            self.poll(0)?;
            let piece = from.by_ref().take(CHUNK_BYTES).read_to_end(&mut all);
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
