//! The memory that values keep, in bytes.
//!
//! Takes values; gives the bytes of the buffers, texts and numbers that stay allocated as long as
//! the values are there. What several parts share is counted once if it is a buffer of an array.
//! What a function has captured, and keys and ciphertexts, are not looked into.

use super::{Buffer, Value};
use std::collections::HashSet;
use std::mem::size_of;
use std::sync::Arc;

/// Returns the bytes that values keep, or some number above `limit` as soon as that is exceeded:
/// the work is proportional to the limit at most.
pub fn footprint<'v>(values: impl IntoIterator<Item = &'v Value>, limit: u64) -> u64 {
    let mut open: Vec<&Value> = values.into_iter().collect();
    let mut seen = HashSet::new();
    let mut bytes = 0;
    while let Some(value) = open.pop() {
        if bytes > limit {
            break;
        }
        bytes += match value {
            Value::Word(_) | Value::Function(_) | Value::Native(_) | Value::Cell(_) => 0,
            Value::Wide(_) => size_of::<u128>() as u64,
            Value::Big(code) => code.bits() / 8,
            Value::Bigint(number) => number.bits() / 8,
            Value::Str(text) => text.allocated_bytes() as u64,
            Value::Sum(case) => {
                open.push(&case.1);
                size_of::<super::Case>() as u64
            }
            Value::Packed(packed) => {
                open.push(&packed.value);
                size_of::<super::Packed>() as u64
            }
            Value::Seq(seq) => {
                let mut own = 0;
                for buffer in seq.buffers() {
                    if seen.insert(Arc::as_ptr(buffer)) {
                        own += buffer.allocated_bytes();
                        if let Buffer::Any(slots) = &**buffer {
                            open.extend(slots);
                        }
                    }
                }
                own
            }
        };
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::footprint;
    use crate::value::{Buffer, Class, Seq, Value};
    use std::sync::Arc;

    #[test]
    fn shared_buffers_are_counted_once() {
        let buffer = Arc::new(Buffer::Word(vec![7; 1000]));
        let all = Value::Seq(Seq::shared(buffer.clone()));
        let Value::Seq(seq) = &all else { unreachable!() };
        let part = Value::Seq(seq.slice(0, 900));
        assert_eq!(footprint([&all], u64::MAX), 8000);
        assert_eq!(footprint([&all, &part, &all], u64::MAX), 8000);
        let other = Value::Seq(Seq::new(Buffer::Word(vec![7; 500])));
        assert_eq!(footprint([&all, &other], u64::MAX), 12_000);
    }

    #[test]
    fn texts_in_arrays_are_counted() {
        let texts = vec![Value::str("a".repeat(100)), Value::str("b".repeat(50))];
        let array = Value::Seq(Seq::new(Buffer::Any(texts)));
        assert_eq!(footprint([&array], u64::MAX), 2 * Class::Any.bytes() + 150);
    }

    #[test]
    fn counting_ends_at_the_limit() {
        let array = |n: usize| Value::Seq(Seq::new(Buffer::Word(vec![0; n])));
        let values: Vec<Value> = (1..100).map(array).collect();
        let counted = footprint(&values, 1000);
        assert!(counted > 1000 && counted < 3000, "{counted}");
    }
}
