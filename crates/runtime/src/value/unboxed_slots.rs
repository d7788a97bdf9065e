//! Slots of values with sums, as words: each element is boxed when it is read.
//!
//! A sum is one slot, which leads to its argument; an array of them is an allocation for each
//! element. Compiled code has arrays of words instead, and most of them are read by compiled code
//! again. So a result stays as it is, and becomes values where the evaluator reads it. It is copied
//! before the first change, as mapped slots are.

use super::{Buffer, Class, Value, pool};
use std::sync::Arc;

/// The form of the elements of an array as words.
pub trait ElementForm: Send + Sync {
    /// The slots of an element; at least 1.
    fn slots(&self) -> usize;

    /// The words of an element.
    fn words(&self) -> usize;

    /// Numbers that tell forms apart: elements of forms with equal numbers have equal words for
    /// equal values.
    fn signature(&self) -> &[usize];

    /// Appends the slots of the element with these words to a buffer of [`Class::Any`].
    fn append_slots(&self, words: &[u64], into: &mut Buffer);
}

/// Elements of one form, as words.
#[derive(Clone)]
pub struct UnboxedSlots {
    form: Arc<dyn ElementForm>,
    words: Vec<u64>,
}

impl UnboxedSlots {
    /// Makes elements of their words, one behind the other.
    pub fn new(form: Arc<dyn ElementForm>, words: Vec<u64>) -> UnboxedSlots {
        assert!(form.words() > 0 && words.len().is_multiple_of(form.words()), "whole elements");
        UnboxedSlots { form, words }
    }

    /// Returns the number of slots.
    pub(super) fn len(&self) -> usize {
        self.words.len() / self.form.words() * self.form.slots()
    }

    /// Returns the bytes of the words.
    pub(super) fn bytes(&self) -> u64 {
        8 * self.words.capacity() as u64
    }

    /// Returns the words from slot `start` on, if it is the first of an element and elements have
    /// this form.
    pub fn words_from(&self, start: usize, form: &dyn ElementForm) -> Option<&[u64]> {
        let is_first = start.is_multiple_of(self.form.slots());
        let same = is_first && self.form.signature() == form.signature();
        same.then(|| &self.words[start / self.form.slots() * self.form.words()..])
    }

    /// Appends a range of slots to a buffer of [`Class::Any`].
    pub(super) fn append_to(&self, into: &mut Buffer, range: std::ops::Range<usize>) {
        let (slots, words) = (self.form.slots(), self.form.words());
        let mut at = range.start;
        while at < range.end {
            let (element, first) = (at / slots, at % slots);
            let last = slots.min(first + range.end - at);
            let element = &self.words[element * words..(element + 1) * words];
            if last - first == slots {
                self.form.append_slots(element, into);
            } else {
                let mut whole = Buffer::empty(Class::Any);
                self.form.append_slots(element, &mut whole);
                into.extend(&whole, first, last - first);
            }
            at += last - first;
        }
    }

    /// Returns slot `i`.
    pub(super) fn get(&self, i: usize) -> Value {
        let mut one = Buffer::empty(Class::Any);
        self.append_to(&mut one, i..i + 1);
        one.get(0)
    }
}

impl Drop for UnboxedSlots {
    fn drop(&mut self) {
        pool::recycle(std::mem::take(&mut self.words));
    }
}
