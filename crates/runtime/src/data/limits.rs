//! Limits of reading and writing: memory and interruption.

use super::{DataError, Format};
use crate::value::{Buffer, Class};
use std::io::Read;
use std::sync::atomic::{AtomicBool, Ordering};

/// The number of rounds of a loop between two polls of the interrupt flag.
const ROUNDS_PER_POLL: usize = 1 << 12;
/// The number of bytes that are decompressed between two polls of the interrupt flag.
const CHUNK_BYTES: u64 = 1 << 20;

/// The limits of one reading or writing.
#[derive(Clone, Copy, Debug)]
pub struct Limits<'a> {
    /// The number of bytes that the result may take: cells of a file, or a file of cells.
    pub memory: u64,
    /// The interrupt flag.
    pub interrupt: &'a AtomicBool,
}

impl Limits<'_> {
    /// Polls the interrupt flag in some rounds of a loop; `round` is the number of the round.
    pub fn poll(&self, round: usize) -> Result<(), DataError> {
        match round.is_multiple_of(ROUNDS_PER_POLL) && self.interrupt.load(Ordering::Relaxed) {
            true => Err(DataError::Interrupted),
            false => Ok(()),
        }
    }

    /// Reserves bytes of the memory; `None` if they exceed it.
    pub fn reserve(&mut self, bytes: u64) -> Option<()> {
        self.memory = self.memory.checked_sub(bytes)?;
        Some(())
    }

    /// Reserves the memory of a text beside its slot: its bytes and its reference counts.
    pub fn reserve_text(&mut self, bytes: usize) -> Option<()> {
        self.reserve((bytes + 2 * size_of::<usize>()) as u64)
    }

    /// Creates an empty buffer for cells of a file, and reserves its memory.
    pub fn allocate_cells(
        &mut self,
        slots: usize,
        class: Class,
        format: Format,
    ) -> Result<Buffer, DataError> {
        let taken = self.reserve((slots as u64).saturating_mul(class.bytes()));
        taken.and_then(|()| Buffer::with_capacity(class, slots)).ok_or_else(|| DataError::too_large(format))
    }

    /// Creates an empty vector for a file of this many bytes, and reserves its memory.
    pub fn allocate_file(&mut self, bytes: u64) -> Result<Vec<u8>, DataError> {
        self.reserve(bytes).ok_or_else(DataError::too_large_to_write)?;
        let mut out = Vec::new();
        let room = usize::try_from(bytes).ok().and_then(|bytes| out.try_reserve_exact(bytes).ok());
        let why = || DataError::Unwritable { why: "there is not enough memory".to_string() };
        room.map(|()| out).ok_or_else(why)
    }

    /// Reads all bytes of a reader, at most `most`. Memory is allocated as bytes arrive,
    /// independently of a size that a file claims. `malformed` makes an error of a text.
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
