//! Primitives whose results are existential: their sizes are found at run time.
//!
//! Each primitive returns its value together with the sizes. Memory is requested before it is used.

use super::arithmetic::memory_failure;
use super::code::PrimTypes;
use super::error::Failure;
use crate::core::Prim;
use crate::data::Limits;
use crate::layout::Layout;
use crate::types::Type;
use crate::types::encoding::Code;
use crate::value::{Buffer, Class, Packed, Seq, Value};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// Evaluates a primitive with an existential result.
pub(super) fn eval_existential_primitive(
    prim: Prim,
    types: &PrimTypes,
    args: &[Value],
    limits: Limits<'_>,
) -> Result<Value, Failure> {
    let memory = limits.memory;
    let text = || args[0].as_str();
    match prim {
        Prim::Compress => compress(types, args, limits),
        Prim::Iota => {
            let n = args[0].as_int();
            let count = usize::try_from(n).map_err(|_| Failure::NegativeSize { size: n })?;
            let mut buffer = allocate_buffer(Class::Word, count, memory)?;
            for i in 0..n {
                poll(i as usize, limits)?;
                buffer.push(Value::int(i));
            }
            Ok(sized_vector(buffer))
        }
        Prim::Characters => string_vector(characters(text()), limits),
        Prim::Words => string_vector(text().split_whitespace(), limits),
        Prim::Lines => string_vector(text().lines(), limits),
        Prim::Split => {
            let separator = args[1].as_str();
            if separator.is_empty() {
                return string_vector(characters(text()), limits);
            }
            string_vector(text().split(separator), limits)
        }
        Prim::Numbers => {
            let mut buffer = Buffer::Word(Vec::new());
            for (at, number) in parse_numbers(text(), text()).enumerate() {
                poll(at, limits)?;
                buffer.push(Value::real(number?));
            }
            Ok(sized_vector(buffer))
        }
        Prim::Table => parse_table(text(), limits),
        _ => Err(Failure::Internal { message: "a primitive that gives no size" }),
    }
}

/// The number of rounds between two polls of the interrupt flag.
const ROUNDS_PER_POLL: usize = 1 << 12;

/// Polls the interrupt flag in some rounds of a loop.
fn poll(round: usize, limits: Limits<'_>) -> Result<(), Failure> {
    match round.is_multiple_of(ROUNDS_PER_POLL) && limits.interrupt.load(Ordering::Relaxed) {
        true => Err(Failure::Interrupted),
        false => Ok(()),
    }
}

/// Parses a table of numbers, one row for each line.
fn parse_table(text: &str, limits: Limits<'_>) -> Result<Value, Failure> {
    let mut buffer = Buffer::Word(Vec::new());
    let (mut rows, mut columns, mut first) = (0usize, 0, 0);
    for (at, line) in text.lines().enumerate() {
        let before = buffer.len();
        for number in parse_numbers(text, line) {
            poll(buffer.len(), limits)?;
            buffer.push(Value::real(number?));
        }
        match buffer.len() - before {
            0 => continue,
            count if rows == 0 => (columns, first) = (count, at + 1),
            count if count == columns => {}
            count => return Err(Failure::Ragged { first, columns, line: at + 1, count }),
        }
        rows += 1;
    }
    Ok(pack_with_sizes(vec![Code::from(rows), Code::from(columns)], buffer_value(buffer)))
}

/// Returns the characters of a text, each as a text.
fn characters(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()])
}

/// Parses the numbers between blanks and commas of a text, or of a part of it.
fn parse_numbers<'t>(whole: &'t str, part: &'t str) -> impl Iterator<Item = Result<f64, Failure>> + 't {
    let words = part.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty());
    words.map(move |word| {
        word.parse().map_err(|_| {
            let before = &whole[..word.as_ptr() as usize - whole.as_ptr() as usize];
            let line = before.rsplit_once('\n').map_or(before, |(_, line)| line);
            Failure::NotANumber {
                text: word.chars().take(40).collect(),
                line: before.matches('\n').count() + 1,
                column: line.chars().count() + 1,
            }
        })
    })
}

/// Selects the elements of an array at which a mask is true.
fn compress(types: &PrimTypes, args: &[Value], limits: Limits<'_>) -> Result<Value, Failure> {
    let (Some(element), Some(index)) = (&types.layout, types.args.get(1)) else {
        return Err(Failure::Internal { message: "a primitive without types" });
    };
    let count = index.size().ok().and_then(|n| usize::try_from(n).ok()).expect("a mask fits the memory");
    let (array, mask) = (&args[0], &args[1]);
    let (flat, own): (Arc<Buffer>, Vec<u8>);
    let flat_mask: &[u8] = match mask {
        Value::Seq(mask) => {
            let refused = || memory_failure(count, Class::U8.bytes(), limits.memory);
            let first;
            (flat, first) = mask.to_flat(Class::U8).ok_or_else(refused)?;
            match &*flat {
                Buffer::U8(bytes) => &bytes[first..first + count],
                _ => {
                    own = bytes_of(mask, limits.memory)?;
                    &own
                }
            }
        }
        one => {
            own = vec![u8::from(one.as_bool()); count];
            &own
        }
    };
    let mut kept = 0;
    for part in flat_mask.chunks(ELEMENTS_PER_POLL) {
        poll(0, limits)?;
        kept += part.iter().filter(|chosen| **chosen != 0).count();
    }
    let size = vec![Code::from(kept)];
    if kept == count {
        return Ok(pack_with_sizes(size, array.clone()));
    }
    let mut buffer = allocate_buffer(slot_class(element), kept * element.slots, limits.memory)?;
    let slots = element.slots;
    match array {
        _ if slots == 0 || kept == 0 => {}
        Value::Seq(array) => {
            let refused = || memory_failure(array.len(), element.class.bytes(), limits.memory);
            let (from, start) = array.to_flat(element.class).ok_or_else(refused)?;
            for (at, part) in flat_mask.chunks(ELEMENTS_PER_POLL).enumerate() {
                poll(0, limits)?;
                buffer.append_masked(&from, start + at * ELEMENTS_PER_POLL * slots, slots, part);
            }
        }
        one => buffer.append(one, slots),
    }
    Ok(pack_with_sizes(size, buffer_value(buffer)))
}

/// Elements that are chosen between two polls of the interrupt flag.
const ELEMENTS_PER_POLL: usize = 1 << 18;

/// Copies the slots of an array of truth values, which may lie in a file, into bytes.
fn bytes_of(mask: &Seq, memory: u64) -> Result<Vec<u8>, Failure> {
    let mut bytes = allocate_buffer(Class::U8, mask.len(), memory)?;
    bytes.append(&Value::Seq(mask.clone()), mask.len());
    match &mut bytes {
        Buffer::U8(bytes) => Ok(std::mem::take(bytes)),
        _ => unreachable!("the buffer has bytes"),
    }
}

/// Returns the storage class of elements.
fn slot_class(element: &Layout) -> Class {
    if element.slots == 0 { Class::U8 } else { element.class }
}

/// Creates an empty buffer with capacity for `slots` slots, within the memory bound.
pub(super) fn allocate_buffer(class: Class, slots: usize, memory: u64) -> Result<Buffer, Failure> {
    let refused = || memory_failure(slots, class.bytes(), memory);
    let bytes = (slots as u64).checked_mul(class.bytes()).filter(|bytes| *bytes <= memory);
    bytes.and_then(|_| Buffer::with_capacity(class, slots)).ok_or_else(refused)
}

/// Creates a buffer of `slots` slots with undefined contents, of a class other than [`Class::Any`],
/// within the memory bound.
pub(super) fn allocate_slots(class: Class, slots: usize, memory: u64) -> Result<Buffer, Failure> {
    let refused = || memory_failure(slots, class.bytes(), memory);
    let bytes = (slots as u64).checked_mul(class.bytes()).filter(|bytes| *bytes <= memory);
    bytes.and_then(|_| Buffer::with_len(class, slots)).map(|(buffer, _)| buffer).ok_or_else(refused)
}

/// Returns texts as an array, with its size.
pub(super) fn string_vector<'t>(
    parts: impl Iterator<Item = &'t str> + Clone,
    limits: Limits<'_>,
) -> Result<Value, Failure> {
    let mut count = 0;
    for _ in parts.clone() {
        poll(count, limits)?;
        count += 1;
    }
    let mut buffer = allocate_buffer(Class::Any, count, limits.memory)?;
    for (at, part) in parts.enumerate() {
        poll(at, limits)?;
        buffer.push(Value::str(part));
    }
    Ok(sized_vector(buffer))
}

/// Returns the slots as an array of elements of one slot, with its size.
pub(super) fn sized_vector(buffer: Buffer) -> Value {
    pack_with_sizes(vec![Code::from(buffer.len())], buffer_value(buffer))
}

/// Returns the slots as a value.
pub(super) fn buffer_value(buffer: Buffer) -> Value {
    match buffer.len() {
        0 => Value::UNIT,
        1 => buffer.get(0),
        _ => Value::Seq(Seq::new(buffer)),
    }
}

/// Returns an existential value.
pub(super) fn pack_with_sizes(sizes: Vec<Code>, value: Value) -> Value {
    let sizes = sizes.iter().map(|size| Type::unit_sum(size.to_big())).collect();
    Value::Packed(Arc::new(Packed { sizes, value }))
}
