//! Run-time values and their flat storage.
//!
//! The storage of a value is the sequence of its *slots* (see the book's chapter on compact types):
//! a scalar, a compact value or a tagged sum is one slot; tuples, records and arrays are the slots
//! of their parts in order. The representation of a value depends on that sequence alone, so
//! naturally isomorphic types share representations and `:>>` does nothing:
//!
//! - no slot: [`Value::UNIT`];
//! - one slot: the slot itself;
//! - more: a [`Seq`], a view into a flat buffer of the narrowest class that holds every slot.
//!
//! A tuple of large parts is a *rope* of the parts' buffers, so that building it copies nothing;
//! small parts are copied into one buffer. Values are shared until a store.

mod buffer;
mod compaction;
mod copy_counter;
mod footprint;
mod mapped;
mod pool;
mod seq;
pub mod sort;
mod text;
mod unboxed_slots;

pub use buffer::{Buffer, Class};
pub use copy_counter::copied_slots;
pub use footprint::footprint;
pub use mapped::Mapped;
pub use seq::Seq;
pub use text::Text;
pub use unboxed_slots::{ElementForm, UnboxedSlots};

use crate::types::encoding::Code;
use crate::types::{Type, TypeKind};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

/// Returns two counters of this process, in bytes: memory of large buffers that was taken from the
/// system, and memory that was reused from the pool.
pub fn memory_counters() -> (u64, u64) {
    let [fresh, reused] = &pool::TAKEN_BYTES;
    (fresh.load(Ordering::Relaxed), reused.load(Ordering::Relaxed))
}

/// A value. Its type is not stored in it: every operation is given the type or the layout.
#[derive(Clone)]
pub enum Value {
    /// Numbers of fixed width by their bits (those above the width are 0); a compact value below
    /// 2^64 by its code.
    Word(u64),
    /// A compact value from 2^64 to below 2^128.
    Wide(Arc<u128>),
    /// A larger compact value.
    Big(Arc<BigUint>),
    /// `bigint`
    Bigint(Arc<BigInt>),
    /// `string`
    Str(Text),
    /// A tagged sum: the number of the flattened case, and its argument.
    Sum(Arc<Case>),
    /// A function. Only the executor that made it looks inside.
    Function(Arc<dyn Any + Send + Sync>),
    /// A key or a ciphertext: an object of an abstract type without representation.
    Native(Arc<dyn Any + Send + Sync>),
    /// Two or more slots.
    Seq(Seq),
    /// A value of an existential type, together with its sizes: the result of a call before it is
    /// opened, or an element with sizes of its own.
    Packed(Arc<Packed>),
    /// A variable shared by several functions. Occurs only in frames, never inside another value.
    Cell(Arc<Cell>),
}

/// A value of an existential type: the sizes, and the value whose type mentions them.
#[derive(Clone)]
pub struct Packed {
    /// One size for each variable that the type binds: a unit sum, or a product of several where
    /// the axes of the data are kept.
    pub sizes: Vec<Type>,
    /// The value, whose type is the body of the existential type at these sizes.
    pub value: Value,
}

/// A value of a sum: the number of its case, and the argument of the case.
pub struct Case(pub Code, pub Value);

impl Packed {
    /// An array of so many elements along one axis.
    pub fn of_axis(size: u64, value: Value) -> Packed {
        Packed { sizes: vec![Type::unit_sum(size)], value }
    }

    /// The number of elements of an array of one axis; `None` for anything else.
    pub fn axis_size(&self) -> Option<u64> {
        match &self.sizes[..] {
            [size] => match size.kind() {
                TypeKind::UnitSum(size) => size.to_u64(),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if both values have the same sizes. Products of several axes are compared by
    /// their total size.
    pub fn has_same_sizes(&self, other: &Packed) -> bool {
        self.sizes.len() == other.sizes.len()
            && self.sizes.iter().zip(&other.sizes).all(|(a, b)| a == b || a.size() == b.size())
    }

    /// Returns the value. It is moved out, not shared, if this is the only reference to `packed`.
    pub fn into_value(packed: Arc<Packed>) -> Value {
        match Arc::try_unwrap(packed) {
            Ok(mut only) => std::mem::replace(&mut only.value, Value::UNIT),
            Err(shared) => shared.value.clone(),
        }
    }

    /// Returns the type of the value: the body of `exists` at the stored sizes.
    pub fn value_type(&self, exists: &Type) -> Type {
        exists.opened(&self.sizes)
    }
}

impl Drop for Packed {
    fn drop(&mut self) {
        drop_iteratively(std::mem::replace(&mut self.value, Value::UNIT));
    }
}

impl Drop for Case {
    fn drop(&mut self) {
        drop_iteratively(std::mem::replace(&mut self.1, Value::UNIT));
    }
}

/// Drops a value that may hold a chain of other values, of any length, without recursion: a list is
/// a case in a case in a case. Every owner of a link of such a chain drops it through this
/// function.
pub fn drop_iteratively(value: Value) {
    thread_local! {
        /// Work list of values to be dropped; `None` while no value is being dropped.
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
    // At the end of a thread the work list may already be destroyed: the value is then dropped
    // recursively.
    if let Ok(true) = outermost {
        let mut next = first.take();
        while let Some(value) = next {
            drop(value);
            next = WAITING.with(|w| w.borrow_mut().as_mut().and_then(Vec::pop));
        }
        WAITING.with(|w| *w.borrow_mut() = None);
    }
}

/// A variable shared by several functions, or a variable of a session.
pub struct Cell {
    /// The value; `None` before the variable is set, and while its value is moved out.
    value: Mutex<Option<Value>>,
    /// The number of the last input that has recorded the old value.
    noted: AtomicU64,
}

impl Cell {
    /// Creates a cell with a value, or an unset one.
    pub fn new(value: Option<Value>) -> Arc<Cell> {
        Arc::new(Cell { value: Mutex::new(value), noted: AtomicU64::new(0) })
    }

    /// Returns true at its first call with this input number, and records the number. Inputs are
    /// numbered from 1.
    pub fn is_first_store_of_input(&self, input: u64) -> bool {
        self.noted.swap(input, Ordering::Relaxed) != input
    }

    /// Returns the current value; `None` if the variable is not set.
    pub fn get(&self) -> Option<Value> {
        self.value.lock().expect(LOCK_NOT_POISONED).clone()
    }

    /// Sets the value, and returns the old one.
    pub fn set(&self, value: Option<Value>) -> Option<Value> {
        std::mem::replace(&mut *self.value.lock().expect(LOCK_NOT_POISONED), value)
    }
}

impl Value {
    /// The value without slots.
    pub const UNIT: Value = Value::Word(0);

    /// Makes an `int`.
    pub fn int(n: i64) -> Value {
        Value::Word(n as u64)
    }

    /// Makes a `real`.
    pub fn real(x: f64) -> Value {
        Value::Word(x.to_bits())
    }

    /// Makes an `f32` from its bits.
    pub fn single(x: f32) -> Value {
        Value::Word(u64::from(x.to_bits()))
    }

    /// Returns the `f32`.
    pub fn as_single(&self) -> f32 {
        f32::from_bits(self.word() as u32)
    }

    /// Makes a `char` from its code point.
    pub fn char(c: char) -> Value {
        Value::Word(u64::from(u32::from(c)))
    }

    /// Returns the `char`.
    pub fn as_char(&self) -> char {
        u32::try_from(self.word()).ok().and_then(char::from_u32).expect("a `char` is a code point")
    }

    /// Makes a truth value.
    pub fn bool(b: bool) -> Value {
        Value::Word(u64::from(b))
    }

    /// Makes a `bigint`.
    pub fn bigint(n: BigInt) -> Value {
        Value::Bigint(Arc::new(n))
    }

    /// Makes a `string`.
    pub fn str(text: impl Into<Text>) -> Value {
        Value::Str(text.into())
    }

    /// Makes a compact value from its code.
    pub fn code(code: Code) -> Value {
        match code {
            Code::Small(n) => Value::Word(n),
            Code::Wide(n) => Value::Wide(Arc::new(n)),
            Code::Big(n) => Value::Big(Arc::new(n)),
        }
    }

    /// Returns the bits of a slot of at most 64 bits.
    ///
    /// # Panics
    ///
    /// If the value is not stored in one word.
    pub fn word(&self) -> u64 {
        match self {
            Value::Word(n) => *n,
            _ => unreachable!("the value is not stored in a word"),
        }
    }

    /// Returns the `int`.
    pub fn as_int(&self) -> i64 {
        self.word() as i64
    }

    /// Returns the `real`.
    pub fn as_real(&self) -> f64 {
        f64::from_bits(self.word())
    }

    /// Returns the truth value.
    pub fn as_bool(&self) -> bool {
        self.word() != 0
    }

    /// Returns the code of a compact value.
    ///
    /// # Panics
    ///
    /// If the value is not compact.
    pub fn to_code(&self) -> Code {
        match self {
            Value::Word(n) => Code::Small(*n),
            Value::Wide(n) => Code::Wide(**n),
            Value::Big(n) => Code::Big((**n).clone()),
            _ => unreachable!("the value is not compact"),
        }
    }

    /// Returns the text of a `string`.
    ///
    /// # Panics
    ///
    /// If the value is not a `string`.
    pub fn as_str(&self) -> &str {
        self.as_text().as_str()
    }

    /// Returns the text of a `string`, with the places of its characters.
    ///
    /// # Panics
    ///
    /// If the value is not a `string`.
    pub fn as_text(&self) -> &Text {
        match self {
            Value::Str(text) => text,
            _ => unreachable!("the value is not a `string`"),
        }
    }

    /// Returns the `bigint`.
    ///
    /// # Panics
    ///
    /// If the value is not a `bigint`.
    pub fn as_bigint(&self) -> BigInt {
        match self {
            Value::Bigint(n) => (**n).clone(),
            _ => unreachable!("the value is not a `bigint`"),
        }
    }

    /// Builds a tuple or array of `slots` slots from its parts, each with its number of slots;
    /// `None` if there is no memory. Large parts are shared with the whole, small parts are copied.
    pub fn tuple(parts: Vec<(Value, usize)>, class: Class, slots: usize) -> Option<Value> {
        if slots <= 1 {
            if slots == 0 {
                return Some(Value::UNIT);
            }
            let one = parts.into_iter().find(|(_, own)| *own == 1);
            return Some(one.expect("a tuple of one slot has a part of one slot").0);
        }
        if parts.iter().all(|(_, slots)| *slots <= MAX_COPIED_SLOTS) {
            let mut buffer = Buffer::with_capacity(class, slots)?;
            parts.iter().for_each(|(value, slots)| buffer.append(value, *slots));
            return Some(Value::Seq(Seq::new(buffer)));
        }
        let parts = match Value::append_in_place(parts, class, slots) {
            Ok(whole) => return Some(whole),
            Err(parts) => parts,
        };
        let mut views = Vec::new();
        for (value, slots) in parts {
            match (value, slots) {
                (_, 0) => {}
                (Value::Seq(seq), _) => views.push(seq),
                (one, _) => {
                    let mut buffer = Buffer::with_capacity(one.class(), 1)?;
                    buffer.push(one);
                    views.push(Seq::new(buffer));
                }
            }
        }
        Some(Value::Seq(match views.len() {
            1 => views.remove(0),
            _ => Seq::rope(&views),
        }))
    }

    /// Appends the parts to the storage of the first part, if that storage is not shared and less
    /// is added than is there. The storage grows by doubling, so each slot is copied a bounded
    /// number of times when a program appends slot by slot. A first part that has become a rope of
    /// many parts is first copied into one buffer with room to grow. Returns the parts unchanged if
    /// they cannot be appended in place.
    fn append_in_place(
        mut parts: Vec<(Value, usize)>,
        class: Class,
        slots: usize,
    ) -> Result<Value, Vec<(Value, usize)>> {
        let Some(first) = parts.iter().position(|(_, own)| *own > 0) else { return Err(parts) };
        let (Value::Seq(seq), own) = &mut parts[first] else { return Err(parts) };
        if slots - *own > *own {
            return Err(parts);
        }
        if seq.part_count() >= MAX_ROPE_PARTS && !seq.flatten_with_capacity(class, slots)
            || !seq.can_grow(class)
        {
            return Err(parts);
        }
        if !seq.try_reserve(slots - *own) {
            return Err(parts);
        }
        let mut whole = std::mem::replace(&mut parts[first].0, Value::UNIT);
        let Value::Seq(seq) = &mut whole else { unreachable!("the first part is a sequence") };
        for (value, own) in &parts[first + 1..] {
            seq.append(value, *own);
        }
        Ok(whole)
    }

    /// Returns the narrowest class that holds this value of one slot.
    fn class(&self) -> Class {
        match self {
            Value::Word(_) => Class::Word,
            Value::Wide(_) => Class::Wide,
            _ => Class::Any,
        }
    }

    /// Returns slots `start..start + len` of a value that is not read afterward. If its storage is
    /// not shared, the rest of it is freed.
    pub fn into_slots(self, start: usize, len: usize) -> Value {
        match (self, len) {
            (_, 0) => Value::UNIT,
            (Value::Seq(seq), 1) => seq.get(start),
            (Value::Seq(seq), _) => Value::Seq(seq.into_slice(start, len)),
            (other, 1) => other,
            _ => unreachable!("{SEVERAL_SLOTS_ARE_SEQUENCE}"),
        }
    }

    /// Returns slots `start..start + len`, which are not read here afterward, though other slots
    /// are. They are moved out if the buffer that they lie in is not shared.
    pub fn take_slots(&mut self, start: usize, len: usize) -> Value {
        match (self, len) {
            (_, 0) => Value::UNIT,
            (Value::Seq(seq), 1) => seq.take(start),
            (Value::Seq(seq), _) => Value::Seq(seq.take_slice(start, len)),
            (other, 1) => other.clone(),
            _ => unreachable!("{SEVERAL_SLOTS_ARE_SEQUENCE}"),
        }
    }

    /// Returns slots `start..start + len` of the value, or the value itself if it is one slot.
    pub fn slots(&self, start: usize, len: usize) -> Value {
        match (self, len) {
            (_, 0) => Value::UNIT,
            (Value::Seq(seq), 1) => seq.get(start),
            (Value::Seq(seq), _) => Value::Seq(seq.slice(start, len)),
            (other, 1) => other.clone(),
            _ => unreachable!("{SEVERAL_SLOTS_ARE_SEQUENCE}"),
        }
    }
}

/// Values are cloned and replaced under the lock of a cell; neither panics.
const LOCK_NOT_POISONED: &str = "no thread panics while it holds the lock of a cell";

/// Only a value of one slot is stored without a sequence.
const SEVERAL_SLOTS_ARE_SEQUENCE: &str = "a value of several slots is a sequence";

/// The number of parts from which a rope is copied into one buffer when something is appended to
/// it.
const MAX_ROPE_PARTS: usize = 32;

/// The largest part of a tuple, in slots, that is copied into the tuple. Buffers of larger parts
/// are shared.
const MAX_COPIED_SLOTS: usize = 64;

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Word(n) => write!(f, "{n:#x}"),
            Value::Wide(n) => write!(f, "{n}"),
            Value::Big(n) => write!(f, "{n}"),
            Value::Bigint(n) => write!(f, "{n}"),
            Value::Str(text) => write!(f, "{:?}", text.as_str()),
            Value::Sum(s) => write!(f, "case {} {:?}", s.0, s.1),
            Value::Function(_) => write!(f, "<function>"),
            Value::Native(_) => write!(f, "<native>"),
            Value::Packed(packed) => write!(f, "{:?} with sizes {:?}", packed.value, packed.sizes),
            Value::Seq(seq) => f.debug_list().entries((0..seq.len()).map(|i| seq.get(i))).finish(),
            Value::Cell(cell) => write!(f, "cell {:?}", cell.get()),
        }
    }
}
