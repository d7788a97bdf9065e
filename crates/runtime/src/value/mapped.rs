//! Slots in memory that is owned elsewhere, such as a memory-mapped file: read in place, and copied
//! before a change.
//!
//! Takes bytes that their owner keeps alive and in place; gives slots as a buffer of the same class
//! does. Never writes to the bytes, and accepts only bytes that are laid out as the slots of a
//! buffer are.

use super::{Buffer, Class, Value};
use bytes::Bytes;
use std::ops::Range;

/// Slots of one class in such bytes.
#[derive(Clone)]
pub struct Mapped {
    bytes: Bytes,
    class: Class,
}

impl Mapped {
    /// Makes slots of all of `bytes`; `None` unless they are laid out as the slots of a buffer are:
    /// little-endian, a whole number of slots, at an address that is a multiple of the slot width.
    pub fn new(bytes: Bytes, class: Class) -> Option<Mapped> {
        let width = class.bytes() as usize;
        let alike = cfg!(target_endian = "little") && class <= Class::Word;
        let lies = bytes.len().is_multiple_of(width) && (bytes.as_ptr() as usize).is_multiple_of(width);
        (alike && lies).then_some(Mapped { bytes, class })
    }

    /// Returns the class of the slots.
    pub fn class(&self) -> Class {
        self.class
    }

    /// Returns the number of slots.
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.class.bytes() as usize
    }

    /// Returns the address of the first slot.
    pub(super) fn address(&self) -> u64 {
        self.bytes.as_ptr() as u64
    }

    /// Returns slot `i`.
    pub(super) fn get(&self, i: usize) -> Value {
        let mut word = [0u8; 8];
        let slot = self.bytes(i..i + 1);
        word[..slot.len()].copy_from_slice(slot);
        Value::Word(u64::from_le_bytes(word))
    }

    /// Returns the bytes of a range of slots.
    pub fn bytes(&self, range: Range<usize>) -> &[u8] {
        let width = self.class.bytes() as usize;
        &self.bytes[range.start * width..range.end * width]
    }

    /// Appends a range of slots to a buffer whose class holds them.
    pub(super) fn append_to(&self, into: &mut Buffer, range: Range<usize>) {
        let slots = self.bytes(range.clone());
        match (into, self.class) {
            (Buffer::U8(v), Class::U8) => v.extend_from_slice(slots),
            (Buffer::U16(v), Class::U16) => {
                v.extend(slots.as_chunks().0.iter().map(|slot| u16::from_le_bytes(*slot)));
            }
            (Buffer::U32(v), Class::U32) => {
                v.extend(slots.as_chunks().0.iter().map(|slot| u32::from_le_bytes(*slot)));
            }
            (Buffer::Word(v), Class::Word) => {
                v.extend(slots.as_chunks().0.iter().map(|slot| u64::from_le_bytes(*slot)));
            }
            (into, _) => range.for_each(|i| into.push(self.get(i))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::value::Seq;

    /// Bytes whose first stands at a multiple of eight.
    fn aligned(bytes: &[u8]) -> Bytes {
        let mut room = vec![0u8; bytes.len() + 8];
        let start = room.as_ptr().align_offset(8);
        room[start..start + bytes.len()].copy_from_slice(bytes);
        Bytes::from(room).slice(start..start + bytes.len())
    }

    #[test]
    fn slots_are_read_in_place_and_copied_when_they_change() {
        for class in [Class::U8, Class::U16, Class::U32, Class::Word] {
            let width = class.bytes() as usize;
            let bytes = aligned(&(0..5 * width).map(|n| n as u8).collect::<Vec<u8>>());
            let buffer = Buffer::mapped(bytes.clone(), class).expect("slots");
            assert_eq!((buffer.len(), buffer.class()), (5, class));
            assert_eq!(buffer.address(), bytes.as_ptr() as u64);
            let mut own = Buffer::with_capacity(class, 5).expect("room");
            own.append(&Value::Seq(Seq::new(buffer.clone())), 5);
            let shared = Seq::new(buffer);
            let mut part = shared.slice(1, 3);
            let (changed, start) = part.make_mut(class);
            // Only what is seen is copied.
            assert_eq!((changed.len(), start), (3, 0));
            changed.set(1, Value::Word(200));
            assert_eq!(part.get(1).word(), 200);
            for i in 0..5 {
                assert_eq!(shared.get(i).word(), own.get(i).word());
            }
            let mut pushed = Buffer::mapped(bytes, class).expect("slots");
            pushed.push(Value::Word(7));
            assert_eq!((pushed.len(), pushed.get(5).word(), pushed.get(4).word()), (6, 7, own.get(4).word()));
        }
    }

    #[test]
    fn what_lies_otherwise_is_not_taken() {
        let bytes = aligned(&[0; 24]);
        assert!(Mapped::new(bytes.clone(), Class::Word).is_some());
        assert!(Mapped::new(bytes.slice(4..20), Class::Word).is_none());
        assert!(Mapped::new(bytes.slice(4..20), Class::U32).is_some());
        assert!(Mapped::new(bytes.slice(0..20), Class::Word).is_none());
        assert!(Mapped::new(bytes.slice(0..16), Class::Wide).is_none());
    }
}
