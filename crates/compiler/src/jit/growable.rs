//! Memory of arrays that grow while a kernel runs ([`Origin::Growable`](crate::loop_ir::Origin)).
//!
//! Generated code has the address and the number of slots of such an array in its frame, and asks
//! for more by [`super::native::grow`]. An array without slots has the address 0. The number of
//! slots at least doubles, so that the work of copying is proportional to the slots.

use crate::value::{Buffer, Class};

/// The least number of slots that an array gets.
const MIN_SLOTS: u64 = 16;

/// The memory of the arrays of a run, or of a piece of a parallel loop.
pub(super) struct Growables {
    buffers: Vec<Buffer>,
    /// The most bytes that one array may take.
    memory: u64,
}

impl Growables {
    /// No memory yet, of arrays of at most `memory` bytes each.
    pub(super) fn new(memory: u64) -> Growables {
        Growables { buffers: Vec::new(), memory }
    }

    /// The address for the frame of generated code, which has the memory while it runs.
    pub(super) fn address(&mut self) -> u64 {
        std::ptr::from_mut(self) as u64
    }

    /// Makes room for `slots` slots of `width` bytes in the array at an address; gives the new
    /// address and the number of slots that there are. `None` if there is not so much memory: the
    /// array stays as it is.
    pub(super) fn grow(&mut self, address: u64, slots: u64, width: u64) -> Option<(u64, u64)> {
        let class = match width {
            1 => Class::U8,
            2 => Class::U16,
            4 => Class::U32,
            _ => Class::Word,
        };
        let position = self.position(address);
        let old = position.map_or(0, |at| self.buffers[at].len() as u64);
        let fits = |slots: &u64| slots.checked_mul(width).is_some_and(|bytes| bytes <= self.memory);
        let wanted =
            Some(slots.max(2 * old).max(MIN_SLOTS)).filter(fits).or_else(|| Some(slots).filter(fits))?;
        let count = usize::try_from(wanted).ok()?;
        let buffer = match position {
            Some(at) => self.buffers[at].grown(count)?,
            None => Buffer::with_len(class, count)?.0,
        };
        let grown = (buffer.address(), buffer.len() as u64);
        match position {
            Some(at) => self.buffers[at] = buffer,
            None => self.buffers.push(buffer),
        }
        Some(grown)
    }

    /// The position of the memory at an address; `None` for an array without slots.
    fn position(&self, address: u64) -> Option<usize> {
        self.buffers.iter().position(|buffer| address != 0 && buffer.address() == address)
    }

    /// The memory of the array at an address, which is its own from now on; `None` if it has none.
    pub(super) fn take(&mut self, address: u64) -> Option<Buffer> {
        self.position(address).map(|at| self.buffers.swap_remove(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_keeps_its_slots_and_at_least_doubles() {
        let mut growables = Growables::new(1 << 12);
        let (address, slots) = growables.grow(0, 3, 2).unwrap();
        assert_eq!(slots, MIN_SLOTS);
        let at = growables.buffers.iter().position(|buffer| buffer.address() == address).unwrap();
        growables.buffers[at].set(2, crate::value::Value::Word(7));
        let (address, slots) = growables.grow(address, slots + 1, 2).unwrap();
        assert_eq!(slots, 2 * MIN_SLOTS);
        // More than half of the memory: as many as are asked for.
        let (address, slots) = growables.grow(address, 1_500, 2).unwrap();
        assert_eq!(slots, 1_500);
        let (address, slots) = growables.grow(address, 1_501, 2).unwrap();
        assert_eq!(slots, 1_501);
        assert!(growables.grow(address, 2_049, 2).is_none());
        let buffer = growables.take(address).unwrap();
        assert_eq!(buffer.get(2).word(), 7);
        assert!(growables.buffers.is_empty() && growables.take(address).is_none());
    }
}
