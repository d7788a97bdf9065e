//! Values at run time, and the flat storage they live in.
//!
//! The storage of a value is the sequence of its *slots* (see `LANGUAGE.md` section 3): a scalar, a
//! compact value or a tagged sum is one slot; tuples, records and arrays are the slots of their
//! parts in order. How a value is represented depends on that sequence and on nothing else, so
//! naturally isomorphic types share representations and `:>>` does nothing:
//!
//! - no slot: [`Value::UNIT`];
//! - one slot: the slot itself;
//! - more: a [`Seq`], a view into a flat buffer of the narrowest class that holds every slot.
//!
//! A tuple of large parts is a *rope* of the parts' buffers, so that building it copies nothing;
//! small parts are copied into one buffer. Values are shared until a store.

use crate::types::Scalar;
use crate::types::encoding::{Code, Width};
use num_bigint::{BigInt, BigUint};
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// A value. What it means is told by its type.
#[derive(Clone)]
pub enum Value {
    /// Numbers of fixed width by their bits (those above the width are 0); a compact value below 2^64
    /// by its code.
    Word(u64),
    /// A compact value from 2^64 to below 2^128.
    Wide(Arc<u128>),
    /// A larger compact value.
    Big(Arc<BigUint>),
    /// `bigint`
    Bigint(Arc<BigInt>),
    /// `string`
    Str(Arc<str>),
    /// A tagged sum: the number of the flattened case, and its argument.
    Sum(Arc<Case>),
    /// A function; only the executor that made it looks inside.
    Function(Arc<dyn Any + Send + Sync>),
    /// Two or more slots.
    Seq(Seq),
    /// A value of an existential type: what a call gives until it is opened. Never inside other values.
    Packed(Arc<Packed>),
    /// A variable shared by functions. Only in frames, never inside other values.
    Cell(Arc<Cell>),
}

/// Sizes, and the value whose type mentions them.
pub struct Packed {
    /// One for each variable that the type binds.
    pub sizes: Vec<Code>,
    /// The value at these sizes.
    pub value: Value,
}

/// The number of a case, and its argument.
pub struct Case(pub Code, pub Value);

impl Drop for Case {
    fn drop(&mut self) {
        release(std::mem::replace(&mut self.1, Value::UNIT));
    }
}

/// Drops a value that may hold a chain of others, however long, without recursion: a list is a case
/// in a case in a case. Whatever owns one link of such a chain lets go of it here.
pub fn release(value: Value) {
    thread_local! {
        /// Values waiting to be dropped, while one is.
        static WAITING: RefCell<Option<Vec<Value>>> = const { RefCell::new(None) };
    }
    if matches!(value, Value::Word(_) | Value::Wide(_) | Value::Big(_) | Value::Bigint(_) | Value::Str(_)) {
        return;
    }
    let mut first = Some(value);
    let outermost = WAITING.try_with(|waiting| {
        let mut waiting = waiting.borrow_mut();
        match &mut *waiting {
            Some(others) => {
                others.extend(first.take());
                false
            }
            None => {
                *waiting = Some(Vec::new());
                true
            }
        }
    });
    // At the end of a thread there may be no list any more: then the plain way has to do.
    if let Ok(true) = outermost {
        let mut next = first.take();
        while let Some(value) = next {
            drop(value);
            next = WAITING.with(|w| w.borrow_mut().as_mut().and_then(Vec::pop));
        }
        WAITING.with(|w| *w.borrow_mut() = None);
    }
}

/// A shared variable.
pub struct Cell {
    /// Its value; `None` before it is set.
    value: Mutex<Option<Value>>,
    /// The last input in which its old value was noted.
    noted: AtomicU64,
}

impl Cell {
    /// A cell with a value, or still without.
    pub fn new(value: Option<Value>) -> Arc<Cell> {
        Arc::new(Cell { value: Mutex::new(value), noted: AtomicU64::new(0) })
    }

    /// Whether this is the first time it is asked in this input (inputs count from 1).
    pub fn first_in(&self, input: u64) -> bool {
        self.noted.swap(input, Ordering::Relaxed) != input
    }

    /// The value now.
    pub fn get(&self) -> Option<Value> {
        self.value.lock().map_or(None, |v| v.clone())
    }

    /// Sets the value and gives the old one.
    pub fn set(&self, value: Option<Value>) -> Option<Value> {
        self.value.lock().map_or(None, |mut v| std::mem::replace(&mut *v, value))
    }
}

impl Value {
    /// The value without slots.
    pub const UNIT: Value = Value::Word(0);

    /// An `int`.
    pub fn int(n: i64) -> Value {
        Value::Word(n as u64)
    }

    /// A `real`.
    pub fn real(x: f64) -> Value {
        Value::Word(x.to_bits())
    }

    /// An `f32`, by its bits.
    pub fn single(x: f32) -> Value {
        Value::Word(u64::from(x.to_bits()))
    }

    /// As an `f32`.
    pub fn as_single(&self) -> f32 {
        f32::from_bits(self.word() as u32)
    }

    /// A `char`, by its code point.
    pub fn char(c: char) -> Value {
        Value::Word(u64::from(u32::from(c)))
    }

    /// As a `char`.
    pub fn as_char(&self) -> char {
        u32::try_from(self.word()).ok().and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// A truth value.
    pub fn bool(b: bool) -> Value {
        Value::Word(u64::from(b))
    }

    /// A `bigint`.
    pub fn bigint(n: BigInt) -> Value {
        Value::Bigint(Arc::new(n))
    }

    /// A `string`.
    pub fn str(text: impl Into<Arc<str>>) -> Value {
        Value::Str(text.into())
    }

    /// A compact value by its code.
    pub fn code(code: Code) -> Value {
        match code {
            Code::Small(n) => Value::Word(n),
            Code::Wide(n) => Value::Wide(Arc::new(n)),
            Code::Big(n) => Value::Big(Arc::new(n)),
        }
    }

    /// The bits of a one-word slot; 0 for what is none.
    pub fn word(&self) -> u64 {
        match self {
            Value::Word(n) => *n,
            _ => 0,
        }
    }

    /// As an `int`.
    pub fn as_int(&self) -> i64 {
        self.word() as i64
    }

    /// As a `real`.
    pub fn as_real(&self) -> f64 {
        f64::from_bits(self.word())
    }

    /// As a truth value.
    pub fn as_bool(&self) -> bool {
        self.word() != 0
    }

    /// The code of a compact value.
    pub fn to_code(&self) -> Code {
        match self {
            Value::Word(n) => Code::Small(*n),
            Value::Wide(n) => Code::Wide(**n),
            Value::Big(n) => Code::Big((**n).clone()),
            _ => Code::ZERO,
        }
    }

    /// As text; empty for what is none.
    pub fn as_str(&self) -> &str {
        match self {
            Value::Str(s) => s,
            _ => "",
        }
    }

    /// As a big integer.
    pub fn as_bigint(&self) -> BigInt {
        match self {
            Value::Bigint(n) => (**n).clone(),
            _ => BigInt::ZERO,
        }
    }

    /// Slots `start..start + len` of a value of more than `len` slots.
    pub fn slots(&self, start: usize, len: usize) -> Value {
        match (self, len) {
            (_, 0) => Value::UNIT,
            (Value::Seq(seq), 1) => seq.get(start),
            (Value::Seq(seq), _) => Value::Seq(seq.slice(start, len)),
            (other, _) => other.clone(),
        }
    }
}

/// What one slot of a buffer can hold, narrowest first.
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
    /// Everything.
    Any,
}

impl Class {
    /// The class for codes of this width.
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

    /// The class for values of a scalar type.
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

    /// Bytes a slot takes.
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
}

impl Buffer {
    /// An empty buffer with room, or `None` if there is no such room.
    pub fn with_room(class: Class, slots: usize) -> Option<Buffer> {
        fn room<T>(slots: usize) -> Option<Vec<T>> {
            let mut vec = Vec::new();
            vec.try_reserve_exact(slots).ok()?;
            Some(vec)
        }
        Some(match class {
            Class::U8 => Buffer::U8(room(slots)?),
            Class::U16 => Buffer::U16(room(slots)?),
            Class::U32 => Buffer::U32(room(slots)?),
            Class::Word => Buffer::Word(room(slots)?),
            Class::Wide => Buffer::Wide(room(slots)?),
            Class::Any => Buffer::Any(room(slots)?),
        })
    }

    /// A buffer of that many slots, all 0, or `None` if there is no such room. Not of [`Class::Any`].
    pub fn zeroed(class: Class, slots: usize) -> Option<Buffer> {
        // The system's fresh pages are zero already: nothing is written here.
        fn room<T: Clone + Default>(slots: usize) -> Option<Vec<T>> {
            let mut probe: Vec<T> = Vec::new();
            probe.try_reserve_exact(slots).ok()?;
            drop(probe);
            Some(vec![T::default(); slots])
        }
        Some(match class {
            Class::U8 => Buffer::U8(room(slots)?),
            Class::U16 => Buffer::U16(room(slots)?),
            Class::U32 => Buffer::U32(room(slots)?),
            Class::Word => Buffer::Word(room(slots)?),
            Class::Wide => Buffer::Wide(room(slots)?),
            Class::Any => return None,
        })
    }

    /// The address of its first slot.
    pub fn address(&self) -> u64 {
        match self {
            Buffer::U8(v) => v.as_ptr() as u64,
            Buffer::U16(v) => v.as_ptr() as u64,
            Buffer::U32(v) => v.as_ptr() as u64,
            Buffer::Word(v) => v.as_ptr() as u64,
            Buffer::Wide(v) => v.as_ptr() as u64,
            Buffer::Any(v) => v.as_ptr() as u64,
        }
    }

    /// Its class.
    pub fn class(&self) -> Class {
        match self {
            Buffer::U8(_) => Class::U8,
            Buffer::U16(_) => Class::U16,
            Buffer::U32(_) => Class::U32,
            Buffer::Word(_) => Class::Word,
            Buffer::Wide(_) => Class::Wide,
            Buffer::Any(_) => Class::Any,
        }
    }

    /// Slots in it.
    pub fn len(&self) -> usize {
        match self {
            Buffer::U8(v) => v.len(),
            Buffer::U16(v) => v.len(),
            Buffer::U32(v) => v.len(),
            Buffer::Word(v) => v.len(),
            Buffer::Wide(v) => v.len(),
            Buffer::Any(v) => v.len(),
        }
    }

    /// Whether it has no slot.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One slot.
    pub fn get(&self, i: usize) -> Value {
        match self {
            Buffer::U8(v) => Value::Word(u64::from(v[i])),
            Buffer::U16(v) => Value::Word(u64::from(v[i])),
            Buffer::U32(v) => Value::Word(u64::from(v[i])),
            Buffer::Word(v) => Value::Word(v[i]),
            Buffer::Wide(v) => Value::code(Code::from(v[i])),
            Buffer::Any(v) => v[i].clone(),
        }
    }

    /// Replaces one slot by a value its class holds.
    pub fn set(&mut self, i: usize, value: Value) {
        match self {
            Buffer::U8(v) => v[i] = value.word() as u8,
            Buffer::U16(v) => v[i] = value.word() as u16,
            Buffer::U32(v) => v[i] = value.word() as u32,
            Buffer::Word(v) => v[i] = value.word(),
            Buffer::Wide(v) => v[i] = wide(&value),
            Buffer::Any(v) => v[i] = value,
        }
    }

    /// Adds one slot of a value its class holds.
    pub fn push(&mut self, value: Value) {
        match self {
            Buffer::U8(v) => v.push(value.word() as u8),
            Buffer::U16(v) => v.push(value.word() as u16),
            Buffer::U32(v) => v.push(value.word() as u32),
            Buffer::Word(v) => v.push(value.word()),
            Buffer::Wide(v) => v.push(wide(&value)),
            Buffer::Any(v) => v.push(value),
        }
    }

    /// Adds the slots `start..start + len` of another buffer, whose slots its class holds.
    fn extend(&mut self, other: &Buffer, start: usize, len: usize) {
        let range = start..start + len;
        match (self, other) {
            (Buffer::U8(v), Buffer::U8(w)) => v.extend_from_slice(&w[range]),
            (Buffer::U16(v), Buffer::U16(w)) => v.extend_from_slice(&w[range]),
            (Buffer::U32(v), Buffer::U32(w)) => v.extend_from_slice(&w[range]),
            (Buffer::Word(v), Buffer::Word(w)) => v.extend_from_slice(&w[range]),
            (Buffer::Wide(v), Buffer::Wide(w)) => v.extend_from_slice(&w[range]),
            (Buffer::Any(v), Buffer::Any(w)) => v.extend_from_slice(&w[range]),
            (this, other) => range.for_each(|i| this.push(other.get(i))),
        }
    }

    /// Adds the slots of a value of `slots` slots.
    pub fn append(&mut self, value: &Value, slots: usize) {
        match (value, slots) {
            (_, 0) => {}
            (Value::Seq(seq), _) => seq.for_each_part(|buffer, start, len| self.extend(buffer, start, len)),
            (one, _) => self.push(one.clone()),
        }
    }
}

fn wide(value: &Value) -> u128 {
    match value {
        Value::Word(n) => u128::from(*n),
        Value::Wide(n) => **n,
        _ => 0,
    }
}

/// A view of two or more slots.
#[derive(Clone)]
pub struct Seq {
    store: Store,
    start: usize,
    len: usize,
}

#[derive(Clone)]
enum Store {
    Flat(Arc<Buffer>),
    Rope(Arc<Vec<Part>>),
}

/// Part of a rope: it holds the slots from `at` of the rope on.
#[derive(Clone)]
struct Part {
    at: usize,
    buffer: Arc<Buffer>,
    start: usize,
    len: usize,
}

impl Seq {
    /// All of a buffer.
    pub fn new(buffer: Buffer) -> Seq {
        let len = buffer.len();
        Seq { store: Store::Flat(Arc::new(buffer)), start: 0, len }
    }

    /// The views one after the other, sharing their buffers.
    pub fn rope(views: &[Seq]) -> Seq {
        let mut parts: Vec<Part> = Vec::new();
        let mut at = 0;
        for view in views {
            view.for_each_shared(|buffer, start, len| {
                parts.push(Part { at, buffer: buffer.clone(), start, len });
                at += len;
            });
        }
        Seq { store: Store::Rope(Arc::new(parts)), start: 0, len: at }
    }

    /// All of a buffer that others may see, too.
    pub fn shared(buffer: Arc<Buffer>) -> Seq {
        let len = buffer.len();
        Seq { store: Store::Flat(buffer), start: 0, len }
    }

    /// One buffer of a class that holds the view, with the position of the first slot; copied if it is
    /// not so already. `None` if there is no room for the copy.
    pub fn flat(&self, class: Class) -> Option<(Arc<Buffer>, usize)> {
        if let Store::Flat(buffer) = &self.store
            && buffer.class() == class
        {
            return Some((buffer.clone(), self.start));
        }
        let mut buffer = Buffer::with_room(class, self.len)?;
        self.for_each_part(|part, start, len| buffer.extend(part, start, len));
        Some((Arc::new(buffer), 0))
    }

    /// Slots in view.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it shows no slot.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One slot.
    pub fn get(&self, i: usize) -> Value {
        match &self.store {
            Store::Flat(buffer) => buffer.get(self.start + i),
            Store::Rope(parts) => {
                let part = &parts[part_of(parts, self.start + i)];
                part.buffer.get(part.start + self.start + i - part.at)
            }
        }
    }

    /// A narrower view of the same storage.
    pub fn slice(&self, start: usize, len: usize) -> Seq {
        let start = self.start + start;
        if let Store::Rope(parts) = &self.store {
            let part = &parts[part_of(parts, start)];
            if start + len <= part.at + part.len {
                let store = Store::Flat(part.buffer.clone());
                return Seq { store, start: part.start + start - part.at, len };
            }
        }
        Seq { store: self.store.clone(), start, len }
    }

    /// The address of the first slot's buffer and the position in it: equal for views of the same
    /// storage.
    pub fn address(&self) -> (usize, usize) {
        match &self.store {
            Store::Flat(buffer) => (Arc::as_ptr(buffer) as usize, self.start),
            Store::Rope(parts) => {
                let part = &parts[part_of(parts, self.start)];
                (Arc::as_ptr(&part.buffer) as usize, part.start + self.start - part.at)
            }
        }
    }

    /// The widest class among the buffers in view.
    pub fn class(&self) -> Class {
        let mut class = Class::U8;
        self.for_each_part(|buffer, _, _| class = class.max(buffer.class()));
        class
    }

    fn for_each_part(&self, mut f: impl FnMut(&Buffer, usize, usize)) {
        self.for_each_shared(|buffer, start, len| f(buffer, start, len));
    }

    fn for_each_shared(&self, mut f: impl FnMut(&Arc<Buffer>, usize, usize)) {
        match &self.store {
            Store::Flat(buffer) => f(buffer, self.start, self.len),
            Store::Rope(parts) => {
                let end = self.start + self.len;
                for part in &parts[part_of(parts, self.start)..] {
                    if part.at >= end {
                        break;
                    }
                    let from = self.start.max(part.at);
                    let to = end.min(part.at + part.len);
                    f(&part.buffer, part.start + from - part.at, to - from);
                }
            }
        }
    }

    /// The buffer of the view, its own and flat, with the position of the view in it: what a store
    /// needs. Copies unless nobody else sees the buffer.
    pub fn make_mut(&mut self, class: Class) -> (&mut Buffer, usize) {
        let flat = match &self.store {
            Store::Flat(buffer) => Arc::strong_count(buffer) == 1 && buffer.class() >= class,
            Store::Rope(_) => false,
        };
        if !flat {
            let mut buffer = Buffer::with_room(self.class().max(class), self.len)
                .unwrap_or_else(|| Buffer::Any(Vec::new()));
            self.for_each_part(|part, start, len| buffer.extend(part, start, len));
            *self = Seq::new(buffer);
        }
        let start = self.start;
        match &mut self.store {
            Store::Flat(buffer) => (Arc::make_mut(buffer), start),
            Store::Rope(_) => unreachable!("a copied view is flat"),
        }
    }
}

/// The part that holds a slot of a rope.
fn part_of(parts: &[Part], slot: usize) -> usize {
    parts.partition_point(|p| p.at <= slot).max(1) - 1
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Word(n) => write!(f, "{n:#x}"),
            Value::Wide(n) => write!(f, "{n}"),
            Value::Big(n) => write!(f, "{n}"),
            Value::Bigint(n) => write!(f, "{n}"),
            Value::Str(s) => write!(f, "{s:?}"),
            Value::Sum(s) => write!(f, "case {} {:?}", s.0, s.1),
            Value::Function(_) => write!(f, "<function>"),
            Value::Packed(packed) => write!(f, "{:?} with sizes {:?}", packed.value, packed.sizes),
            Value::Seq(seq) => f.debug_list().entries((0..seq.len()).map(|i| seq.get(i))).finish(),
            Value::Cell(cell) => write!(f, "cell {:?}", cell.get()),
        }
    }
}
