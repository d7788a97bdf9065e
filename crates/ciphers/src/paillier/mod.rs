//! Paillier's scheme: ciphertexts of integers that can be added, and multiplied by plain integers.
//!
//! The scheme is that of Paillier (EUROCRYPT 1999) with generator 1 + n: the ciphertext of m is
//! (1 + m·n)·rⁿ modulo n², for r uniform among the residues modulo n; the powers of 1 + n cost one
//! product. r is not a unit with a probability below 2^-1000. Decryption works modulo p² and q²
//! apart and joins the results by the Chinese remainder theorem (Paillier 1999, section 7; Damgård
//! and Jurik, PKC 2001).
//!
//! # Integers
//! The residues modulo n stand for the integers nearest to zero. A ciphertext carries a bound of
//! the magnitude of its integer, computed from public operations alone: the sum of the bounds for a
//! sum, the product for a product. An operation whose bound reaches 2^(bits of n - 2) is refused,
//! so no result wraps around. A scale, the number of binary digits after the point, is carried
//! along: sums need equal scales, products add them.
//!
//! # What time tells
//! Keys, plain integers, factors and randomness are handled in constant time: a factor that is
//! known at one place only is a secret, as is its sign. [`Ciphertext::scale_public`] is faster and
//! tells its factor, which must be public. Ciphertexts are handled in constant time, too, or
//! multiplied by a random number first (for an inverse): one that is not re-randomized tells the
//! factors that it was multiplied by to who can guess them.
//!
//! # What is hidden
//! The result of a computation goes back to the owner of the key after
//! [`PublicKey::rerandomize`]: before it, a product with a small factor can be recognized.

mod cipher;
mod inverse;
mod keys;
mod limbs;
mod prime;
mod square;

pub use crate::parameters::PaillierParameters as Parameters;
pub use cipher::Ciphertext;
pub use keys::{PublicKey, SecretKey, generate};
