//! Homomorphic encryption of integers: keys, ciphertexts, and bounds that are checked.
//!
//! Takes integers and gives ciphertexts that can be added, scaled and multiplied without the secret
//! key. Every operation checks that its operands belong to one key and have one form, and that the
//! result cannot be wrong: the magnitude of values and the noise are bounded by public arithmetic,
//! and an operation whose result could wrap or decrypt wrongly is an error before it is done.
//! Knows no language and opens no file.
//!
//! [`paillier`] encrypts single integers, [`bfv`] vectors of integers; [`key`] says whose an object
//! is, and [`magnitude`] how large its values can be. [`shamir`] shares secrets among parties, and
//! [`intersection`] finds the elements that sets of two parties have in common.
//!
//! Secret keys are overwritten when they are dropped. They cannot be copied, printed or written:
//!
//! - no `Clone`, no `Debug`, no function that gives their bytes;
//! - what is written of a pair of keys is made of the public parts alone.
//!
//! The parties are semi-honest: ciphertexts and the bounds that travel with them are what an honest
//! party computes. Bytes that were damaged, exchanged or made up are an error or another ciphertext
//! of the same form, and never a panic.

#![deny(missing_docs)]

pub mod bfv;
mod error;
pub mod intersection;
pub mod key;
pub mod magnitude;
pub mod paillier;
mod parameters;
mod random;
pub mod shamir;

pub use error::CipherError;
