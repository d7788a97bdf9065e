//! Primitives that read and write JSON at any type that data has.
//!
//! Takes a text and a type, or a value and its type; gives the value that the text describes, or
//! the text. What a type is in JSON is computed once for each call ([`shape`]); [`decode`] and
//! [`encode`] walk it. A mistake in a text is a result with its position in characters; a type that
//! JSON has no form for, such as that of a function, is a failure of the program.

mod decode;
mod encode;
mod shape;

use super::code::PrimTypes;
use super::error::Failure;
use super::prim::{MAX_STRING_BYTES, result_case};
use crate::data::{JsonError, Limits, parse_json};
use crate::layout::{Layout, Layouts};
use crate::types::encoding::Code;
use crate::value::{Class, Value};
use decode::Decoder;
use encode::Encoder;
use shape::Shapes;
use std::sync::atomic::Ordering;

/// Returns case 1 with the value of the first type argument that a text describes, or case 0 with
/// the position of a mistake and its description.
pub(super) fn decode_json(
    types: &PrimTypes,
    text: &Value,
    layouts: &Layouts,
    limits: &Limits<'_>,
) -> Result<Value, Failure> {
    let (shapes, root) = Shapes::of(&types.args[0], layouts)?;
    let characters = text.as_text();
    let read = match parse_json(text.as_str(), limits) {
        Ok(tree) => Decoder { shapes: &shapes, limits }.decode(&tree, root),
        Err(error) => Err(error),
    };
    let (at, why) = match read {
        Ok(value) => return Ok(result_case(types, Code::Small(1), value)),
        Err(JsonError::Mistake { at, why }) => (at, why),
        Err(JsonError::Interrupted) => return Err(Failure::Interrupted),
        Err(JsonError::TooLarge) => {
            return Err(super::arithmetic::memory_failure(text.as_str().len(), 8, limits.memory));
        }
    };
    let at = Value::int(characters.chars_before(at) as i64);
    let mistake = Value::tuple(vec![(at, 1), (Value::str(why), 1)], Class::Any, 2);
    let mistake = mistake.ok_or(Failure::Internal { message: "no memory for two slots" })?;
    Ok(result_case(types, Code::ZERO, mistake))
}

/// Returns a value as JSON, indented by so many blanks for each level, or in one line for 0.
pub(super) fn encode_json(
    types: &PrimTypes,
    value: &Value,
    indent: i64,
    layouts: &Layouts,
    limits: &Limits<'_>,
) -> Result<Value, Failure> {
    let (shapes, root) = Shapes::of(&types.args[0], layouts)?;
    let most = limits.memory.min(MAX_STRING_BYTES as u64) as usize;
    let indent = usize::try_from(indent.clamp(0, 16)).unwrap_or(0);
    let mut encoder = Encoder { shapes: &shapes, limits, most, indent, rounds: 0, out: String::new() };
    encoder.write(value, root, 0)?;
    if limits.interrupt.load(Ordering::Relaxed) {
        return Err(Failure::Interrupted);
    }
    Ok(Value::str(encoder.out))
}

/// Returns a part of a value whose whole has this many slots.
fn part_of(value: &Value, whole: usize, start: usize, part: usize) -> Value {
    if whole == part { value.clone() } else { value.slots(start, part) }
}

/// Returns the class of slots of elements.
fn element_class(element: &Layout) -> Class {
    if element.slots == 0 { Class::U8 } else { element.class }
}
