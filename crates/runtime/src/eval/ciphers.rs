//! Keys and ciphertexts: the primitives that work on them, and their bytes.
//!
//! A key or ciphertext is a [`Value::Native`], a value of an abstract type that has no
//! representation (`stdlib/ciphers.flx`). The schemes are those of `crates/ciphers`, behind the
//! feature `ciphers`: without it every primitive is the error [`Failure::WithoutCiphers`], and no
//! such value is made.
//!
//! The number of a key, which its types have for `k`, is the first 128 bits of its fingerprint. So
//! sizes tell keys apart: `?k` opens one, `reveal k` tells all parties which one it is. An object
//! that is made, read or received is compared with its type.

#[cfg(feature = "ciphers")]
mod object;
#[cfg(feature = "ciphers")]
mod operation;
#[cfg(feature = "ciphers")]
mod private_join;

use super::code::PrimTypes;
use super::error::Failure;
use super::machine::Host;
use crate::core::Prim;
use crate::layout::Layouts;
use crate::types::Type;
use crate::value::Value;

#[cfg(feature = "ciphers")]
pub(super) use object::{KeyTable, Purpose};

/// The public keys of one message.
#[cfg(not(feature = "ciphers"))]
#[derive(Default)]
pub(super) struct KeyTable;

/// The reason for which bytes of an object are made.
#[cfg(not(feature = "ciphers"))]
#[derive(Clone, Copy)]
pub(super) enum Purpose {
    /// They leave the place.
    Move,
    /// They are compared with what all know.
    Compare,
}

/// Evaluates a primitive on keys and ciphertexts.
#[cfg(feature = "ciphers")]
pub(super) fn eval_cipher_primitive(
    prim: Prim,
    types: &PrimTypes,
    args: &[Value],
    layouts: &Layouts,
    host: &mut Host<'_>,
) -> Result<Value, Failure> {
    operation::Operation { types, args, layouts }.evaluate(prim, host)
}

/// Evaluates a primitive on keys and ciphertexts.
#[cfg(not(feature = "ciphers"))]
pub(super) fn eval_cipher_primitive(
    _: Prim,
    _: &PrimTypes,
    _: &[Value],
    _: &Layouts,
    _: &mut Host<'_>,
) -> Result<Value, Failure> {
    Err(Failure::WithoutCiphers)
}

/// Appends the bytes of a native value to a message.
///
/// # Errors
/// A ciphertext that leaves the place and cannot hide how it was computed.
///
/// # Panics
/// If the value is a secret key: no type that has one is moved.
#[cfg(feature = "ciphers")]
pub(super) fn put_native(
    value: &Value,
    purpose: Purpose,
    keys: &mut KeyTable,
    out: &mut Vec<u8>,
) -> Result<(), Failure> {
    let object = object::Object::of(value).expect("a native value is a key or a ciphertext");
    let put = object.encode(purpose, keys, out).map_err(object::cipher_failure)?;
    assert!(put, "a secret key is not moved");
    Ok(())
}

/// Appends the bytes of a native value to a message.
///
/// # Panics
/// Always: there is no such value.
#[cfg(not(feature = "ciphers"))]
pub(super) fn put_native(_: &Value, _: Purpose, _: &mut KeyTable, _: &mut Vec<u8>) -> Result<(), Failure> {
    unreachable!("no native value is made")
}

/// Takes a native value of a type from the front of the bytes of a message; `None` if they are not
/// those of one.
#[cfg(feature = "ciphers")]
pub(super) fn take_native(ty: &Type, keys: &mut KeyTable, rest: &mut &[u8]) -> Option<Value> {
    let object = object::Object::decode(keys, rest).ok()?;
    object.check_type(ty).ok()?;
    Some(object.into_value())
}

/// Takes a native value of a type from the front of the bytes of a message; `None` if they are not
/// those of one.
#[cfg(not(feature = "ciphers"))]
pub(super) fn take_native(_: &Type, _: &mut KeyTable, _: &mut &[u8]) -> Option<Value> {
    None
}
