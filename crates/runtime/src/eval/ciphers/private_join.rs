//! Keyed hashes and blinded points of the keys of tables, by `felis_ciphers::intersection`.
//!
//! Takes texts and points of a call; gives codes: tags below 2^128, points below 2^256.

use super::object::{Object, cipher_failure};
use super::operation::{OTHER_OPERANDS, Operation};
use crate::eval::error::Failure;
use crate::types::Type;
use crate::types::encoding::Code;
use crate::value::Value;
use felis_ciphers::intersection::{Point, PrfKey};
use num_bigint::BigUint;

/// Returns the number of elements of an array over an index type.
fn length(index: &Type) -> usize {
    index.size().ok().and_then(|size| usize::try_from(size).ok()).expect("an array that is there has a size")
}

/// Returns the element of an array of so many.
fn element(array: &Value, count: usize, at: usize) -> Value {
    if count == 1 { array.clone() } else { array.slots(at, 1) }
}

impl Operation<'_> {
    /// Returns the key of a keyed hash that has the words of the argument.
    pub(super) fn tag_key(&self) -> Object {
        let mut bytes = [0; 32];
        for (at, chunk) in bytes.chunks_exact_mut(8).enumerate() {
            chunk.copy_from_slice(&self.args[0].slots(at, 1).word().to_le_bytes());
        }
        Object::TagKey(PrfKey::from_common(bytes))
    }

    /// Returns the tags of texts, or their blinded points.
    pub(super) fn keyed_hashes(&self) -> Result<Value, Failure> {
        let count = length(&self.types.args[2]);
        let values: Vec<Value> = (0..count).map(|at| element(&self.args[1], count, at)).collect();
        let texts: Vec<&[u8]> = values.iter().map(|text| text.as_str().as_bytes()).collect();
        match Object::of(&self.args[0])? {
            Object::TagKey(key) => {
                let tags = key.tags(&texts);
                self.codes(tags.into_iter().map(|tag| Code::from(u128::from_be_bytes(tag.0))))
            }
            Object::Exponent(exponent) => self.points(&exponent.blind(&texts)),
            _ => Err(OTHER_OPERANDS),
        }
    }

    /// Returns points to the power of a secret exponent.
    pub(super) fn raise_to_exponent(&self) -> Result<Value, Failure> {
        let Object::Exponent(exponent) = Object::of(&self.args[0])? else { return Err(OTHER_OPERANDS) };
        let count = length(&self.types.args[2]);
        let point = |at| {
            let code = element(&self.args[1], count, at).to_code().to_big().to_bytes_be();
            let mut bytes = [0; 32];
            let unused = bytes.len().checked_sub(code.len()).expect("a point is below 2^256");
            bytes[unused..].copy_from_slice(&code);
            Point(bytes)
        };
        let points: Vec<Point> = (0..count).map(point).collect();
        self.points(&exponent.blind_again(&points).map_err(cipher_failure)?)
    }

    /// Returns points as an array of codes.
    fn points(&self, points: &[Point]) -> Result<Value, Failure> {
        self.codes(points.iter().map(|point| Code::from(BigUint::from_bytes_be(&point.0))))
    }

    /// Returns codes as an array, the result.
    fn codes(&self, codes: impl Iterator<Item = Code>) -> Result<Value, Failure> {
        let parts: Vec<(Value, usize)> = codes.map(|code| (Value::code(code), 1)).collect();
        let (count, class) = (parts.len(), self.types.result.class);
        if count != self.types.result.slots {
            return Err(OTHER_OPERANDS);
        }
        Value::tuple(parts, class, count).ok_or(OTHER_OPERANDS)
    }
}
