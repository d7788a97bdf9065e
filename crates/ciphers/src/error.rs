//! The errors of this crate: one enumeration, with the numbers that a message needs.

use crate::key::{Fingerprint, Kind, Scheme};
use std::fmt;

/// The reason why an operation was not done. The operands are unchanged.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum CipherError {
    /// Bytes that no version of this crate writes.
    Malformed {
        /// The part of the bytes that is wrong.
        part: &'static str,
    },
    /// Bytes of another version of the format.
    Version {
        /// The version of the bytes.
        found: u8,
    },
    /// Bytes of another kind of object than the one that is read.
    Kind {
        /// The kind that is read.
        expected: Kind,
        /// The kind of the bytes.
        found: Kind,
    },
    /// Bytes or parameters of another scheme.
    Scheme {
        /// The scheme that is needed.
        expected: Scheme,
        /// The scheme that was found.
        found: Scheme,
    },
    /// Bytes or keys with other parameters of the same scheme.
    Parameters {
        /// The parameters that are needed, as text.
        expected: String,
        /// The parameters that were found, as text.
        found: String,
    },
    /// Parameters that the scheme does not have.
    Unsupported {
        /// The parameter.
        parameter: &'static str,
        /// Its value.
        value: u64,
    },
    /// An object that belongs to another key.
    ForeignKey {
        /// The key that is needed.
        expected: Fingerprint,
        /// The key that the object belongs to.
        found: Fingerprint,
    },
    /// Bytes of a key that do not have the fingerprint that they carry.
    Fingerprint {
        /// The fingerprint that the bytes carry.
        carried: Fingerprint,
        /// The fingerprint of the content.
        computed: Fingerprint,
    },
    /// Operands with another number of elements or another number of rows.
    Length {
        /// The number of elements that is needed.
        expected: usize,
        /// The number of elements that was found.
        found: usize,
    },
    /// A length that does not divide the slots of a row, or a number of rows other than 1 and 2.
    Shape {
        /// The number of elements in a row.
        length: usize,
        /// The number of slots in a row.
        slots: usize,
    },
    /// Operands with different scales.
    Scale {
        /// The binary digits after the point of the first operand.
        left: u32,
        /// The binary digits after the point of the second operand.
        right: u32,
    },
    /// A value outside the magnitude that was stated for it.
    Magnitude {
        /// The position of the value.
        position: usize,
    },
    /// A result that could be larger than what the scheme represents.
    Overflow {
        /// The base 2 logarithm of the magnitude of the result, rounded up.
        bits: u32,
        /// The base 2 logarithm of the largest magnitude, rounded down.
        limit: u32,
    },
    /// A result that could decrypt wrongly.
    NoiseExhausted {
        /// The base 2 logarithm of the bound of the noise of the result, in thousandths.
        millibits: u64,
        /// The base 2 logarithm of the largest noise that decrypts rightly, in thousandths.
        limit: u64,
    },
    /// A rotation for which there is no key.
    NoRotation {
        /// The number of columns.
        columns: usize,
    },
    /// A number of shares other than the one that is needed, or two shares of one party.
    Shares {
        /// The number of shares that is needed.
        expected: usize,
        /// The number of different shares that was found.
        found: usize,
    },
    /// A share that does not fit the others: it was changed.
    Inconsistent {
        /// The party whose share it is.
        party: u32,
    },
    /// A value that is no element of the field or group.
    NotInGroup {
        /// The position of the value.
        position: usize,
    },
    /// The operating system gives no random bytes.
    NoRandomness,
    /// A failure of a library after its preconditions were checked; a mistake of this crate.
    Internal {
        /// The operation.
        operation: &'static str,
    },
}

impl fmt::Display for CipherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use CipherError as E;
        match self {
            E::Malformed { part } => write!(f, "the bytes are damaged: their {part} cannot be read"),
            E::Version { found } => {
                write!(f, "the bytes have version {found} of the format, not {}", crate::key::VERSION)
            }
            E::Kind { expected, found } => write!(f, "the bytes are {found}, not {expected}"),
            E::Scheme { expected, found } => {
                write!(f, "the scheme is {found}, where {expected} is needed")
            }
            E::Parameters { expected, found } => {
                write!(f, "the parameters are {found}, where {expected} are needed")
            }
            E::Unsupported { parameter, value } => write!(f, "the {parameter} cannot be {value}"),
            E::ForeignKey { expected, found } => {
                write!(f, "this belongs to the key {found}, not to {expected}")
            }
            E::Fingerprint { carried, computed } => write!(
                f,
                "the key is {computed}, and says that it is {carried}: it is damaged or was exchanged"
            ),
            E::Length { expected, found } => {
                write!(f, "there are {found} elements where {expected} are needed")
            }
            E::Shape { length, slots } => {
                write!(f, "{length} elements do not divide the {slots} slots of a row")
            }
            E::Scale { left, right } => write!(
                f,
                "the operands have {left} and {right} binary digits after the point: they must be equal"
            ),
            E::Magnitude { position } => {
                write!(f, "the element at position {position} is larger than the magnitude that was stated")
            }
            E::Overflow { bits, limit } => {
                write!(f, "the result could have a magnitude of {bits} bits, and there is room for {limit}")
            }
            E::NoiseExhausted { millibits, limit } => write!(
                f,
                "the result could decrypt wrongly: its noise is bounded by 2^{}.{:03}, \
                 and the limit is 2^{}.{:03}",
                millibits / 1000,
                millibits % 1000,
                limit / 1000,
                limit % 1000
            ),
            E::NoRotation { columns } => write!(f, "there is no key for a rotation by {columns} columns"),
            E::Shares { expected, found } => {
                write!(f, "there are {found} different shares where {expected} are needed")
            }
            E::Inconsistent { party } => write!(f, "the share of party {party} does not fit the others"),
            E::NotInGroup { position } => {
                write!(f, "the element at position {position} is not in the group")
            }
            E::NoRandomness => write!(f, "the operating system gives no random bytes"),
            E::Internal { operation } => {
                write!(f, "an internal error in {operation}: please report it")
            }
        }
    }
}

impl std::error::Error for CipherError {}
