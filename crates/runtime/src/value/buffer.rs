//! Flat storage: buffers of slots of one class.
//!
//! Dropped buffers go to the [`pool`](super::pool), and new ones are taken from it where possible:
//! fresh memory costs more than the work that is done in it.

use super::copy_counter::count_copied_slots;
use super::{Mapped, UnboxedSlots, Value, pool};
use crate::types::Scalar;
use crate::types::encoding::{Code, Width};
use bytes::Bytes;

/// The storage class of a slot: the values that it can hold. Ordered from narrow to wide.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Codes below 2^8.
    U8,
    /// Codes below 2^16.
    U16,
    /// Codes below 2^32.
    U32,
    /// `int`, `real`, codes below 2^64.
    Word,
    /// Codes below 2^128.
    Wide,
    /// Every value.
    Any,
}

impl Class {
    /// Returns the class for codes of this width.
    pub fn of(width: Width) -> Class {
        match width {
            Width::U8 => Class::U8,
            Width::U16 => Class::U16,
            Width::U32 => Class::U32,
            Width::U64 => Class::Word,
            Width::U128 => Class::Wide,
            Width::Big => Class::Any,
        }
    }

    /// Returns the class for values of a scalar type.
    pub fn of_scalar(scalar: Scalar) -> Class {
        match scalar {
            Scalar::Int | Scalar::Real => Class::Word,
            Scalar::Fixed(fixed) => match fixed.shape().0 {
                8 => Class::U8,
                16 => Class::U16,
                32 => Class::U32,
                _ => Class::Word,
            },
            Scalar::Single | Scalar::Char => Class::U32,
            Scalar::Bigint | Scalar::String => Class::Any,
        }
    }

    /// Returns the size of a slot in bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Class::U8 => 1,
            Class::U16 => 2,
            Class::U32 => 4,
            Class::Word => 8,
            Class::Wide => 16,
            Class::Any => std::mem::size_of::<Value>() as u64,
        }
    }
}

/// A flat buffer of slots.
#[derive(Clone)]
pub enum Buffer {
    /// See [`Class::U8`].
    U8(Vec<u8>),
    /// See [`Class::U16`].
    U16(Vec<u16>),
    /// See [`Class::U32`].
    U32(Vec<u32>),
    /// See [`Class::Word`].
    Word(Vec<u64>),
    /// See [`Class::Wide`].
    Wide(Vec<u128>),
    /// See [`Class::Any`].
    Any(Vec<Value>),
    /// Slots of a class up to [`Class::Word`] in memory that is owned elsewhere; copied before the
    /// first change.
    Mapped(Mapped),
    /// Slots of [`Class::Any`] that are words; copied before the first change.
    Unboxed(UnboxedSlots),
}

impl Buffer {
    /// Makes a buffer of these bytes without copying them; `None` if they are not laid out as slots
    /// are.
    pub fn mapped(bytes: Bytes, class: Class) -> Option<Buffer> {
        Mapped::new(bytes, class).map(Buffer::Mapped)
    }

    /// Returns true if the slots lie in memory that is owned elsewhere.
    pub fn is_mapped(&self) -> bool {
        matches!(self, Buffer::Mapped(_))
    }

    /// Returns true if the slots are copied before the first change.
    pub fn is_read_only(&self) -> bool {
        matches!(self, Buffer::Mapped(_) | Buffer::Unboxed(_))
    }

    /// Copies slots that are only read into a buffer of its own.
    fn make_owned(&mut self) {
        if self.is_read_only() {
            let mut own = Buffer::with_capacity(self.class(), self.len() + 1).expect(COPY_MEMORY_AVAILABLE);
            own.extend(self, 0, self.len());
            *self = own;
        }
    }

    /// Returns the bytes of memory of the buffer itself; 0 if they are those of a file.
    pub fn allocated_bytes(&self) -> u64 {
        match self {
            Buffer::Mapped(_) => 0,
            Buffer::Unboxed(slots) => slots.bytes(),
            own => own.capacity() as u64 * own.class().bytes(),
        }
    }

    /// Creates an empty buffer without capacity.
    pub fn empty(class: Class) -> Buffer {
        match class {
            Class::U8 => Buffer::U8(Vec::new()),
            Class::U16 => Buffer::U16(Vec::new()),
            Class::U32 => Buffer::U32(Vec::new()),
            Class::Word => Buffer::Word(Vec::new()),
            Class::Wide => Buffer::Wide(Vec::new()),
            Class::Any => Buffer::Any(Vec::new()),
        }
    }

    /// Creates an empty buffer with capacity for `slots` slots; `None` if there is no memory.
    pub fn with_capacity(class: Class, slots: usize) -> Option<Buffer> {
        fn room<T: pool::Pooled>(slots: usize) -> Option<Vec<T>> {
            let mut vec = pool::with_capacity(slots)?;
            vec.clear();
            Some(vec)
        }
        Some(match class {
            Class::U8 => Buffer::U8(room(slots)?),
            Class::U16 => Buffer::U16(room(slots)?),
            Class::U32 => Buffer::U32(room(slots)?),
            Class::Word => Buffer::Word(room(slots)?),
            Class::Wide => Buffer::Wide(room(slots)?),
            Class::Any => {
                let mut values = Vec::new();
                values.try_reserve_exact(slots).ok()?;
                Buffer::Any(values)
            }
        })
    }

    /// Creates a buffer of `slots` slots with undefined contents, and returns whether its memory is
    /// fresh from the system; `None` if there is no memory, or for [`Class::Any`].
    pub fn with_len(class: Class, slots: usize) -> Option<(Buffer, bool)> {
        fn pair<T: pool::Pooled>(slots: usize, of: fn(Vec<T>) -> Buffer) -> Option<(Buffer, bool)> {
            pool::with_len(slots).map(|(vec, fresh)| (of(vec), fresh))
        }
        match class {
            Class::U8 => pair(slots, Buffer::U8),
            Class::U16 => pair(slots, Buffer::U16),
            Class::U32 => pair(slots, Buffer::U32),
            Class::Word => pair(slots, Buffer::Word),
            Class::Wide => pair(slots, Buffer::Wide),
            Class::Any => None,
        }
    }

    /// Creates a buffer of `slots` slots, at least as many as this one has, which begins with those
    /// of this one; the others have undefined contents. `None` if there is no memory, or for
    /// [`Class::Any`] and mapped slots.
    pub fn grown(&self, slots: usize) -> Option<Buffer> {
        fn grown<T: pool::Pooled>(old: &[T], slots: usize) -> Option<Vec<T>> {
            let (mut new, _) = pool::with_len(slots)?;
            new[..old.len()].copy_from_slice(old);
            Some(new)
        }
        Some(match self {
            Buffer::U8(v) => Buffer::U8(grown(v, slots)?),
            Buffer::U16(v) => Buffer::U16(grown(v, slots)?),
            Buffer::U32(v) => Buffer::U32(grown(v, slots)?),
            Buffer::Word(v) => Buffer::Word(grown(v, slots)?),
            Buffer::Wide(v) => Buffer::Wide(grown(v, slots)?),
            Buffer::Any(_) | Buffer::Mapped(_) | Buffer::Unboxed(_) => return None,
        })
    }

    /// Returns the address of the first slot.
    pub fn address(&self) -> u64 {
        match self {
            Buffer::U8(v) => v.as_ptr() as u64,
            Buffer::U16(v) => v.as_ptr() as u64,
            Buffer::U32(v) => v.as_ptr() as u64,
            Buffer::Word(v) => v.as_ptr() as u64,
            Buffer::Wide(v) => v.as_ptr() as u64,
            Buffer::Any(v) => v.as_ptr() as u64,
            Buffer::Mapped(foreign) => foreign.address(),
            Buffer::Unboxed(_) => unreachable!("slots that are words have no address"),
        }
    }

    /// Returns the class of the slots.
    pub fn class(&self) -> Class {
        match self {
            Buffer::U8(_) => Class::U8,
            Buffer::U16(_) => Class::U16,
            Buffer::U32(_) => Class::U32,
            Buffer::Word(_) => Class::Word,
            Buffer::Wide(_) => Class::Wide,
            Buffer::Any(_) | Buffer::Unboxed(_) => Class::Any,
            Buffer::Mapped(foreign) => foreign.class(),
        }
    }

    /// Returns the number of slots.
    pub fn len(&self) -> usize {
        match self {
            Buffer::U8(v) => v.len(),
            Buffer::U16(v) => v.len(),
            Buffer::U32(v) => v.len(),
            Buffer::Word(v) => v.len(),
            Buffer::Wide(v) => v.len(),
            Buffer::Any(v) => v.len(),
            Buffer::Mapped(foreign) => foreign.len(),
            Buffer::Unboxed(slots) => slots.len(),
        }
    }

    /// Returns the number of slots that there is memory for.
    pub fn capacity(&self) -> usize {
        match self {
            Buffer::U8(v) => v.capacity(),
            Buffer::U16(v) => v.capacity(),
            Buffer::U32(v) => v.capacity(),
            Buffer::Word(v) => v.capacity(),
            Buffer::Wide(v) => v.capacity(),
            Buffer::Any(v) => v.capacity(),
            Buffer::Mapped(foreign) => foreign.len(),
            Buffer::Unboxed(slots) => slots.len(),
        }
    }

    /// Drops all slots after the first `slots`. Slots that are only read stay.
    pub fn truncate(&mut self, slots: usize) {
        match self {
            Buffer::U8(v) => v.truncate(slots),
            Buffer::U16(v) => v.truncate(slots),
            Buffer::U32(v) => v.truncate(slots),
            Buffer::Word(v) => v.truncate(slots),
            Buffer::Wide(v) => v.truncate(slots),
            Buffer::Any(v) => v.truncate(slots),
            Buffer::Mapped(_) | Buffer::Unboxed(_) => {}
        }
    }

    /// Makes room for `slots` more slots, and returns false if there is no memory. The capacity is
    /// at least doubled where memory allows.
    pub fn try_reserve(&mut self, slots: usize) -> bool {
        fn more<T>(v: &mut Vec<T>, slots: usize) -> bool {
            if v.capacity() - v.len() >= slots {
                return true;
            }
            count_copied_slots(v.len());
            v.try_reserve(slots).is_ok() || v.try_reserve_exact(slots).is_ok()
        }
        match self {
            Buffer::U8(v) => more(v, slots),
            Buffer::U16(v) => more(v, slots),
            Buffer::U32(v) => more(v, slots),
            Buffer::Word(v) => more(v, slots),
            Buffer::Wide(v) => more(v, slots),
            Buffer::Any(v) => more(v, slots),
            Buffer::Mapped(_) | Buffer::Unboxed(_) => false,
        }
    }

    /// Returns true if there is no slot.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns slot `i`.
    pub fn get(&self, i: usize) -> Value {
        match self {
            Buffer::U8(v) => Value::Word(u64::from(v[i])),
            Buffer::U16(v) => Value::Word(u64::from(v[i])),
            Buffer::U32(v) => Value::Word(u64::from(v[i])),
            Buffer::Word(v) => Value::Word(v[i]),
            Buffer::Wide(v) => Value::code(Code::from(v[i])),
            Buffer::Any(v) => v[i].clone(),
            Buffer::Mapped(foreign) => foreign.get(i),
            Buffer::Unboxed(slots) => slots.get(i),
        }
    }

    /// Replaces slot `i` by a value that the class holds.
    pub fn set(&mut self, i: usize, value: Value) {
        match self {
            Buffer::U8(v) => v[i] = value.word() as u8,
            Buffer::U16(v) => v[i] = value.word() as u16,
            Buffer::U32(v) => v[i] = value.word() as u32,
            Buffer::Word(v) => v[i] = value.word(),
            Buffer::Wide(v) => v[i] = u128_code(&value),
            Buffer::Any(v) => v[i] = value,
            Buffer::Mapped(_) | Buffer::Unboxed(_) => {
                self.make_owned();
                self.set(i, value);
            }
        }
    }

    /// Appends a value that the class holds.
    pub fn push(&mut self, value: Value) {
        match self {
            Buffer::U8(v) => v.push(value.word() as u8),
            Buffer::U16(v) => v.push(value.word() as u16),
            Buffer::U32(v) => v.push(value.word() as u32),
            Buffer::Word(v) => v.push(value.word()),
            Buffer::Wide(v) => v.push(u128_code(&value)),
            Buffer::Any(v) => v.push(value),
            Buffer::Mapped(_) | Buffer::Unboxed(_) => {
                self.make_owned();
                self.push(value);
            }
        }
    }

    /// Calls `f` with the words of slots `start..start + len`.
    pub fn for_each_word(&self, start: usize, len: usize, mut f: impl FnMut(u64)) {
        let range = start..start + len;
        match self {
            Buffer::U8(v) => v[range].iter().for_each(|slot| f(u64::from(*slot))),
            Buffer::U16(v) => v[range].iter().for_each(|slot| f(u64::from(*slot))),
            Buffer::U32(v) => v[range].iter().for_each(|slot| f(u64::from(*slot))),
            Buffer::Word(v) => v[range].iter().for_each(|slot| f(*slot)),
            other => range.for_each(|i| f(other.get(i).word())),
        }
    }

    /// Appends words that the class holds.
    pub fn extend_with_words(&mut self, words: impl Iterator<Item = u64>) {
        match self {
            Buffer::U8(v) => v.extend(words.map(|word| word as u8)),
            Buffer::U16(v) => v.extend(words.map(|word| word as u16)),
            Buffer::U32(v) => v.extend(words.map(|word| word as u32)),
            Buffer::Word(v) => v.extend(words),
            other => words.for_each(|word| other.push(Value::Word(word))),
        }
    }

    /// Appends slots `start..start + len` of another buffer, whose slots the class holds. An empty
    /// buffer is what a part that was moved out of a rope has left: nobody reads its slots, which are
    /// zeros in the copy.
    pub fn extend(&mut self, other: &Buffer, start: usize, len: usize) {
        let range = start..start + len;
        self.make_owned();
        if other.is_empty() {
            return range.for_each(|_| self.push(Value::Word(0)));
        }
        match (self, other) {
            (Buffer::U8(v), Buffer::U8(w)) => v.extend_from_slice(&w[range]),
            (Buffer::U16(v), Buffer::U16(w)) => v.extend_from_slice(&w[range]),
            (Buffer::U32(v), Buffer::U32(w)) => v.extend_from_slice(&w[range]),
            (Buffer::Word(v), Buffer::Word(w)) => v.extend_from_slice(&w[range]),
            (Buffer::Wide(v), Buffer::Wide(w)) => v.extend_from_slice(&w[range]),
            (Buffer::Any(v), Buffer::Any(w)) => v.extend_from_slice(&w[range]),
            (this, Buffer::Mapped(foreign)) => foreign.append_to(this, range),
            (this, Buffer::Unboxed(slots)) => slots.append_to(this, range),
            (this, other) => range.for_each(|i| this.push(other.get(i))),
        }
    }

    /// Appends all slots of another buffer, whose slots the class holds.
    pub fn append_all(&mut self, other: &Buffer) {
        self.extend(other, 0, other.len());
    }

    /// Appends the last `slots` slots, several times.
    pub fn repeat_end(&mut self, slots: usize, times: usize) {
        fn repeat<T: Clone>(v: &mut Vec<T>, slots: usize, times: usize) {
            v.reserve(slots * times);
            let first = v.len() - slots;
            if let [one] = &v[first..] {
                let one = one.clone();
                v.resize(first + 1 + times, one);
            } else {
                (0..times).for_each(|_| v.extend_from_within(first..first + slots));
            }
        }
        self.make_owned();
        match self {
            Buffer::U8(v) => repeat(v, slots, times),
            Buffer::U16(v) => repeat(v, slots, times),
            Buffer::U32(v) => repeat(v, slots, times),
            Buffer::Word(v) => repeat(v, slots, times),
            Buffer::Wide(v) => repeat(v, slots, times),
            Buffer::Any(v) => repeat(v, slots, times),
            Buffer::Mapped(_) | Buffer::Unboxed(_) => unreachable!("an owned buffer may be changed"),
        }
    }

    /// Appends the slots of a value of `slots` slots.
    pub fn append(&mut self, value: &Value, slots: usize) {
        match (value, slots) {
            (_, 0) => {}
            (Value::Seq(seq), _) => seq.for_each_part(|buffer, start, len| self.extend(buffer, start, len)),
            (one, _) => self.push(one.clone()),
        }
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match self {
            Buffer::U8(v) => pool::recycle(std::mem::take(v)),
            Buffer::U16(v) => pool::recycle(std::mem::take(v)),
            Buffer::U32(v) => pool::recycle(std::mem::take(v)),
            Buffer::Word(v) => pool::recycle(std::mem::take(v)),
            Buffer::Wide(v) => pool::recycle(std::mem::take(v)),
            Buffer::Any(_) | Buffer::Mapped(_) | Buffer::Unboxed(_) => {}
        }
    }
}

/// The evaluator compares the bytes of a copy with its bound on memory before it stores.
pub(super) const COPY_MEMORY_AVAILABLE: &str =
    "the system grants the memory of a copy that is within the bound";

/// Returns a code of at most 128 bits.
fn u128_code(value: &Value) -> u128 {
    match value {
        Value::Word(n) => u128::from(*n),
        Value::Wide(n) => **n,
        _ => unreachable!("the value is not a code of at most 128 bits"),
    }
}
