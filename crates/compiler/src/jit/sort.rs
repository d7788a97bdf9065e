//! Sorts of compiled code: which function of [`crate::value::sort`] a statement calls.

use crate::loop_ir::ScalarType;
use crate::value::sort::SortKey;

/// The type of the indices of an order, where their slots have so many bytes.
const INDEX_SHIFT: u32 = 16;

/// Returns the word that says how slots of so many bytes are ordered by their values of a type: with
/// `index_bytes`, those of the slots for their numbers.
pub(super) fn encode(ty: ScalarType, bytes: u8, index_bytes: Option<u8>) -> i64 {
    let key = match ty {
        ScalarType::F32 => 2,
        ScalarType::F64 => 3,
        _ => i64::from(usize::from(bytes) == ty.bytes()),
    };
    i64::from(bytes) | key << 8 | i64::from(index_bytes.unwrap_or(0)) << INDEX_SHIFT
}

/// The form that [`encode`] has put into a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SortForm {
    /// Bytes of a slot.
    pub bytes: u8,
    /// The key by which slots are ordered.
    pub key: SortKey,
    /// Bytes of a slot for the number of a slot; 0 if the slots themselves are sorted.
    pub index_bytes: u8,
}

impl SortForm {
    /// Reads the word.
    pub fn decode(word: i64) -> SortForm {
        let [bytes, key, index_bytes, ..] = word.to_le_bytes();
        let key = match key {
            0 => SortKey::Unsigned,
            1 => SortKey::Signed(8 * u32::from(bytes)),
            2 => SortKey::Single,
            _ => SortKey::Double,
        };
        SortForm { bytes, key, index_bytes }
    }
}
