//! Sorting of arrays of words: numbers, characters and codes, in their own order.
//!
//! The order is that of `before` in the standard library: numbers ascend; of floats -0 equals 0 and
//! NaN is last; the sort is stable. Keys that differ in few bytes are distributed by each of them,
//! the lowest first (radix sort: Knuth, *The Art of Computer Programming* 3, 5.2.5). Otherwise runs of
//! [`RUN_ELEMENTS`] are sorted ([`sort_slots`]) and merged. The interrupt flag is
//! polled between runs and during merges and distributions.

use super::arithmetic::memory_failure;
use super::code::PrimTypes;
use super::error::Failure;
use super::evaluator::{Evaluator, Result};
use crate::layout::Leaf;
use crate::source::Span;
use crate::types::Scalar;
use crate::value::sort::{Slot, SortKey, differing_bits, sort_slots};
use crate::value::{Buffer, Class, Seq, Value};
use num_traits::ToPrimitive;

/// The number of elements of a run.
const RUN_ELEMENTS: usize = 1 << 19;

/// Bytes in which keys differ up to which they are distributed: each pass moves all elements, which
/// takes about as long as two levels of a comparison sort.
const MAX_RADIX_PASSES: usize = 4;

/// The number of elements from which on they are distributed.
const MIN_RADIX_ELEMENTS: usize = 256;

/// Returns the key of slots with this content.
pub(super) fn sort_key(leaf: &Leaf) -> SortKey {
    match leaf {
        Leaf::Scalar(Scalar::Int) => SortKey::Signed(64),
        Leaf::Scalar(Scalar::Real) => SortKey::Double,
        Leaf::Scalar(Scalar::Single) => SortKey::Single,
        Leaf::Scalar(Scalar::Fixed(fixed)) if fixed.shape().1 => SortKey::Signed(fixed.shape().0),
        _ => SortKey::Unsigned,
    }
}

impl Evaluator<'_, '_> {
    /// Evaluates `_sort x`, or `_order x` if `indices`: the elements in order, or their indices.
    pub(super) fn sort(
        &mut self,
        types: &PrimTypes,
        args: &[Value],
        indices: bool,
        span: Span,
    ) -> Result<Value> {
        let unsuitable = || self.fail(Failure::Internal { message: "elements that `_sorts` refuses" }, span);
        let leaf = types.args.first().and_then(|ty| self.machine.layouts.of(ty).leaf());
        // An array of at most one slot is in order: its elements have none, or there is only one.
        let Value::Seq(seq) = &args[0] else {
            return if indices { self.all_indices(types, span) } else { Ok(args[0].clone()) };
        };
        let Some(leaf) = leaf else { return Err(unsuitable()) };
        let (class, count, keys) = (seq.class(), seq.len(), sort_key(&leaf));
        let mut out = self.allocate_buffer(types.result.class, count, span)?;
        // Twice the pairs of key and index, or the slots, for the merge; the keys are less.
        self.require_memory(if indices { Class::Wide } else { class }, count.saturating_mul(2), span)?;
        let Some((from, start)) = seq.to_flat(class) else {
            return Err(self.fail(memory_failure(count, class.bytes(), self.host.memory), span));
        };
        if indices {
            let mut all: Vec<u64> = Vec::with_capacity(count);
            while all.len() < count {
                self.poll_interrupt(span)?;
                let run = RUN_ELEMENTS.min(count - all.len());
                from.for_each_word(start + all.len(), run, |slot| all.push(keys.key(slot)));
            }
            self.order(all, &mut out, span)?;
            return Ok(Value::Seq(Seq::new(out)));
        }
        out.extend(&from, start, count);
        match &mut out {
            Buffer::U8(slots) => self.sort_values(slots, keys, span)?,
            Buffer::U16(slots) => self.sort_values(slots, keys, span)?,
            Buffer::U32(slots) => self.sort_values(slots, keys, span)?,
            Buffer::Word(slots) => self.sort_values(slots, keys, span)?,
            Buffer::Wide(_) | Buffer::Any(_) | Buffer::Mapped(_) | Buffer::Unboxed(_) => {
                return Err(unsuitable());
            }
        }
        Ok(Value::Seq(Seq::new(out)))
    }

    /// Evaluates to the array of all indices.
    fn all_indices(&mut self, types: &PrimTypes, span: Span) -> Result<Value> {
        // For so many that no number says it there is no memory.
        let count = types.args[1].size().ok().and_then(|size| size.to_usize()).unwrap_or(usize::MAX);
        if count <= 1 {
            return Ok(Value::UNIT);
        }
        let mut out = self.allocate_buffer(types.result.class, count, span)?;
        for first in (0..count).step_by(RUN_ELEMENTS) {
            self.poll_interrupt(span)?;
            out.extend_with_words((first..count.min(first + RUN_ELEMENTS)).map(|index| index as u64));
        }
        Ok(Value::Seq(Seq::new(out)))
    }

    /// Appends the indices of keys in the order of the keys. Where the bits in which keys differ lie
    /// within 32, the key and the index are one word.
    fn order(&mut self, keys: Vec<u64>, out: &mut Buffer, span: Span) -> Result<()> {
        let differing = differing_bits(keys.iter().copied());
        let low = differing.trailing_zeros() % 64;
        if differing >> low <= u64::from(u32::MAX) && u32::try_from(keys.len()).is_ok() {
            let word = |(i, key): (usize, u64)| (key >> low) << 32 | i as u64;
            let words = keys.into_iter().enumerate().map(word).collect();
            return self.append_indices(
                words,
                |word| word >> 32,
                |word| word & u64::from(u32::MAX),
                out,
                span,
            );
        }
        let pairs = keys.into_iter().enumerate().map(|(i, key)| (key, i as u64)).collect();
        self.append_indices(pairs, |pair: &(u64, u64)| pair.0, |pair| pair.1, out, span)
    }

    /// Sorts elements by a key, and appends the index that each one has.
    fn append_indices<T: Copy>(
        &mut self,
        mut all: Vec<T>,
        key: impl Fn(&T) -> u64,
        index: impl Fn(&T) -> u64,
        out: &mut Buffer,
        span: Span,
    ) -> Result<()> {
        self.stable_sort(&mut all, &key, |run| run.sort_by_key(&key), span)?;
        for run in all.chunks(RUN_ELEMENTS) {
            self.poll_interrupt(span)?;
            out.extend_with_words(run.iter().map(&index));
        }
        Ok(())
    }

    /// Sorts slots.
    fn sort_values<T: Slot>(&mut self, slots: &mut Vec<T>, key: SortKey, span: Span) -> Result<()> {
        self.stable_sort(slots, |slot| key.key(slot.word()), |run| sort_slots(run, key), span)
    }

    /// Sorts by a key, and a run by a function; the sort is stable.
    fn stable_sort<T: Copy>(
        &mut self,
        all: &mut Vec<T>,
        key: impl Fn(&T) -> u64,
        sort_run: impl Fn(&mut [T]),
        span: Span,
    ) -> Result<()> {
        if all.len() >= MIN_RADIX_ELEMENTS {
            let differing = differing_bits(all.iter().map(&key));
            let places: Vec<u32> =
                (0..64).step_by(8).filter(|place| differing >> place & 0xff != 0).collect();
            if places.len() <= MAX_RADIX_PASSES {
                return self.radix_sort(all, key, &places, span);
            }
        }
        self.merge_sort(all, key, sort_run, span)
    }

    /// Sorts by the bytes of a key at some places, the lowest first.
    fn radix_sort<T: Copy>(
        &mut self,
        all: &mut Vec<T>,
        key: impl Fn(&T) -> u64,
        places: &[u32],
        span: Span,
    ) -> Result<()> {
        let mut sorted = all.clone();
        for place in places {
            let byte = |element: &T| (key(element) >> place) as u8 as usize;
            let mut next = [0usize; 256];
            for run in all.chunks(RUN_ELEMENTS) {
                self.poll_interrupt(span)?;
                run.iter().for_each(|element| next[byte(element)] += 1);
            }
            let mut first = 0;
            for count in &mut next {
                first += std::mem::replace(count, first);
            }
            for run in all.chunks(RUN_ELEMENTS) {
                self.poll_interrupt(span)?;
                for element in run {
                    let at = &mut next[byte(element)];
                    sorted[*at] = *element;
                    *at += 1;
                }
            }
            std::mem::swap(all, &mut sorted);
        }
        Ok(())
    }

    /// Sorts by a key and comparisons; the sort is stable.
    fn merge_sort<T: Copy>(
        &mut self,
        all: &mut Vec<T>,
        key: impl Fn(&T) -> u64,
        sort_run: impl Fn(&mut [T]),
        span: Span,
    ) -> Result<()> {
        for run in all.chunks_mut(RUN_ELEMENTS) {
            self.poll_interrupt(span)?;
            sort_run(run);
        }
        let mut width = RUN_ELEMENTS;
        let mut merged: Vec<T> = Vec::new();
        while width < all.len() {
            merged.clear();
            merged.reserve_exact(all.len());
            for pair in all.chunks(2 * width) {
                let (mut a, mut b) = pair.split_at(width.min(pair.len()));
                while let (Some(x), Some(y)) = (a.first(), b.first()) {
                    if merged.len().is_multiple_of(RUN_ELEMENTS) {
                        self.poll_interrupt(span)?;
                    }
                    // Of two equal elements the left one comes first.
                    if key(y) < key(x) {
                        merged.push(*y);
                        b = &b[1..];
                    } else {
                        merged.push(*x);
                        a = &a[1..];
                    }
                }
                merged.extend_from_slice(a);
                merged.extend_from_slice(b);
            }
            std::mem::swap(all, &mut merged);
            width *= 2;
        }
        Ok(())
    }
}
