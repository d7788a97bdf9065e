//! Keys: values that are compared and hashed by their slots, for groups and dictionaries.
//!
//! Takes the layout of a type that [`hashes`](crate::core::prim::hashes); gives hashes, equality
//! and order of its values. Two values are one key if neither is before the other in the order of
//! the language: of floats, -0 is 0, and NaN is one key that comes last.

use super::sort::sort_key;
use crate::layout::{Form, Layout};
use crate::types::Scalar;
use crate::value::sort::SortKey;
use crate::value::{Buffer, Class, Value};
use std::borrow::Cow;
use std::cmp::Ordering;
use std::hash::{DefaultHasher, Hash, Hasher};

/// The content of one slot of a key.
#[derive(Clone, Copy)]
pub(super) enum KeySlot {
    /// A number of one word, a character or a code.
    Word(SortKey),
    /// A text.
    Text,
    /// A `bigint`.
    Bigint,
}

/// The slots of a key and of the value that stands beside it.
pub(super) struct EntryForm {
    /// The content of each slot of the key.
    pub(super) key: Vec<KeySlot>,
    /// The number of slots of key and value together.
    pub(super) slots: usize,
    /// The class of the slots of an entry.
    pub(super) class: Class,
}

impl EntryForm {
    /// Returns the form of entries with a key and a value of these layouts; `None` if the key has
    /// slots that are no key.
    pub(super) fn new(key: &Layout, value: Option<&Layout>) -> Option<EntryForm> {
        let mut slots = Vec::new();
        push_slots(key, &mut slots)?;
        let parts = [Some(key), value];
        let stored = || parts.iter().flatten().filter(|part| part.slots > 0);
        let class = stored().map(|part| part.class).max().unwrap_or(Class::U8);
        Some(EntryForm { key: slots, slots: stored().map(|part| part.slots).sum(), class })
    }

    /// Returns the hash of a key.
    pub(super) fn hash(&self, key: &Value) -> u64 {
        match &self.key[..] {
            [only] => only.hash(key),
            several => several
                .iter()
                .enumerate()
                .fold(0, |hash: u64, (i, slot)| mix(hash.rotate_left(23) ^ slot.hash(&key.slots(i, 1)))),
        }
    }

    /// Returns true if the key in the slots from `a` on is before that in the slots from `b` on.
    pub(super) fn is_before(&self, buffer: &Buffer, a: usize, b: usize) -> bool {
        for (i, form) in self.key.iter().enumerate() {
            match form.compare(&slot(buffer, a + i), &slot(buffer, b + i)) {
                Ordering::Equal => {}
                unequal => return unequal == Ordering::Less,
            }
        }
        false
    }

    /// Exchanges two entries of a buffer whose first entry begins at `start`.
    pub(super) fn swap_entries(&self, buffer: &mut Buffer, start: usize, a: usize, b: usize) {
        for i in 0..self.slots {
            let (a, b) = (start + a * self.slots + i, start + b * self.slots + i);
            match &mut *buffer {
                Buffer::Word(words) => words.swap(a, b),
                Buffer::Any(values) => values.swap(a, b),
                other => {
                    let (x, y) = (other.get(a), other.get(b));
                    other.set(a, y);
                    other.set(b, x);
                }
            }
        }
    }

    /// Returns true if the slots of a buffer from `at` on are this key.
    pub(super) fn matches_at(&self, key: &Value, buffer: &Buffer, at: usize) -> bool {
        match &self.key[..] {
            [only] => only.equal(key, &slot(buffer, at)),
            several => {
                let mut slots = several.iter().enumerate();
                slots.all(|(i, form)| form.equal(&key.slots(i, 1), &slot(buffer, at + i)))
            }
        }
    }
}

/// Appends the contents of the slots of a key; `None` if one is no part of a key.
fn push_slots(layout: &Layout, slots: &mut Vec<KeySlot>) -> Option<()> {
    match &layout.form {
        Form::Compact(_) if layout.slots == 0 => {}
        Form::Scalar(Scalar::String) => slots.push(KeySlot::Text),
        Form::Scalar(Scalar::Bigint) => slots.push(KeySlot::Bigint),
        Form::Compact(_) | Form::Scalar(_) => slots.push(KeySlot::Word(sort_key(&layout.leaf()?))),
        Form::Parts(parts) => parts.iter().try_for_each(|(_, part)| push_slots(part, slots))?,
        Form::Array { element, count } => (0..*count).try_for_each(|_| push_slots(element, slots))?,
        Form::Sum(_) | Form::Variant | Form::Function | Form::Packed => return None,
    }
    Some(())
}

/// Returns a slot of a buffer.
pub(super) fn slot(buffer: &Buffer, at: usize) -> Cow<'_, Value> {
    match buffer {
        Buffer::Any(values) => Cow::Borrowed(&values[at]),
        words => Cow::Owned(words.get(at)),
    }
}

impl KeySlot {
    /// Returns the hash of a slot.
    fn hash(self, value: &Value) -> u64 {
        match (self, value) {
            (KeySlot::Word(order), _) => mix(order.key(value.word())),
            (KeySlot::Text, _) => hash(value.as_str().as_bytes()),
            (KeySlot::Bigint, Value::Bigint(n)) => hash(&**n),
            (KeySlot::Bigint, _) => unreachable!("the value is not a `bigint`"),
        }
    }

    /// Compares two slots.
    fn compare(self, a: &Value, b: &Value) -> Ordering {
        match (self, a, b) {
            (KeySlot::Word(order), ..) => order.key(a.word()).cmp(&order.key(b.word())),
            (KeySlot::Text, ..) => a.as_str().cmp(b.as_str()),
            (KeySlot::Bigint, Value::Bigint(a), Value::Bigint(b)) => a.cmp(b),
            (KeySlot::Bigint, ..) => unreachable!("the values are no `bigint`s"),
        }
    }

    /// Returns true if two slots are the same key.
    fn equal(self, a: &Value, b: &Value) -> bool {
        match (self, a, b) {
            (KeySlot::Word(order), ..) => order.key(a.word()) == order.key(b.word()),
            (KeySlot::Text, ..) => a.as_str() == b.as_str(),
            (KeySlot::Bigint, Value::Bigint(a), Value::Bigint(b)) => a == b,
            (KeySlot::Bigint, ..) => unreachable!("the values are no `bigint`s"),
        }
    }
}

/// Returns a hash that is the same at each run (SipHash with fixed keys).
pub(super) fn hash(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Returns a number each of whose bits depends on all bits of another: the finalizer of
/// MurmurHash3.
pub(super) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
    x = (x ^ (x >> 33)).wrapping_mul(0xc4ce_b9fe_1a85_ec53);
    x ^ (x >> 33)
}
