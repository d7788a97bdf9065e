//! Components of a tuple that is an input of a kernel: words, and arrays that bring their sizes
//! along ([`FieldBinding`]).

use crate::array_loops::FieldBinding;
use crate::value::{Buffer, Class, Value};
use std::sync::Arc;

/// Bytes of the longest text whose code points are read.
const MAX_TEXT_BYTES: usize = 1 << 26;

/// The size of an array that brings it along, or of a text, and its slots as a buffer with the
/// first of them; `None` for another value.
pub(super) fn sized_slots(value: &Value, class: Class) -> Option<(u64, Arc<Buffer>, usize)> {
    match value {
        Value::Packed(packed) => {
            let (buffer, start) = slots_of(&packed.value, class)?;
            Some((packed.axis_size()?, buffer, start))
        }
        Value::Str(text) => {
            let points = text.code_points();
            Some((points.len() as u64, points, 0))
        }
        _ => None,
    }
}

/// The size of an array that brings it along, or of a text; `None` for another value.
pub(super) fn size_of(value: &Value) -> Option<u64> {
    match value {
        Value::Packed(packed) => packed.axis_size(),
        Value::Str(text) => Some(text.char_count() as u64),
        _ => None,
    }
}

/// The slots of an array as a buffer with the first of them.
fn slots_of(value: &Value, class: Class) -> Option<(Arc<Buffer>, usize)> {
    if let Value::Seq(seq) = value {
        return seq.to_flat(class);
    }
    let mut buffer = Buffer::with_capacity(class, 1)?;
    if let Value::Word(_) = value {
        buffer.push(value.clone());
    }
    Some((Arc::new(buffer), 0))
}

/// The value in a slot of a tuple, or the whole value of one slot.
pub(super) fn field_at(value: &Value, slot: usize) -> Value {
    match value {
        Value::Seq(seq) => seq.get(slot),
        value => value.clone(),
    }
}

/// Returns true if a component is what the code was made for: a code of its type, or an array of
/// one axis with as many slots as its size says. Of an array that lies in several pieces of memory
/// at most `copied` slots are copied.
pub(super) fn accepts_field(field: &FieldBinding, value: &Value, copied: u64) -> bool {
    match (field, value) {
        (FieldBinding::Scalar(_, below), Value::Word(word)) => below.is_none_or(|below| *word < below),
        (FieldBinding::Size(_) | FieldBinding::Sized(..), Value::Str(text)) => {
            text.as_str().len() <= MAX_TEXT_BYTES
        }
        (FieldBinding::Size(_), Value::Packed(packed)) => packed.axis_size().is_some(),
        (FieldBinding::Sized(_, class, _, stride), Value::Packed(packed)) => {
            let size = packed.axis_size().and_then(|size| size.checked_mul(*stride));
            size.is_some_and(|size| match &packed.value {
                Value::Seq(seq) => seq.len() as u64 == size && (size <= copied || seq.is_flat(*class)),
                _ => size <= 1,
            })
        }
        _ => false,
    }
}
