//! Private set intersection: keyed hashes for a third party, and blinded points for two parties.
//!
//! A plain hash of an element is broken by a dictionary of all elements. Two remedies:
//!
//! - **Keyed hash**: the owners share a key that the party who compares does not have, and send
//!   [`Tag`]s, HMAC-SHA-256 (RFC 2104) cut to 128 bits. Two of n elements have the same tag with a
//!   probability of at most n²/2^129.
//! - **Diffie–Hellman** (Meadows, IEEE S&P 1986; Huberman, Franklin, Hogg, EC 1999): each party has
//!   a secret exponent a or b. They send H(x)^a and H(y)^b, raise what they receive, and compare
//!   H(x)^(ab) with H(y)^(ba). The group is ristretto255 (RFC 9496), H its map of SHA-512 values,
//!   whose discrete logarithms nobody knows. Points are sent in ascending order where their order
//!   must tell nothing.
//!
//! Both tell the number of elements of each set, and of the intersection.

use crate::{CipherError, random};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256, Sha512};
use std::collections::HashSet;
use std::hash::Hash;
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

/// The key of a keyed hash. It is overwritten when it is dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct PrfKey([u8; 32]);

/// The keyed hash of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tag(pub [u8; 16]);

impl PrfKey {
    /// Generates a key.
    ///
    /// # Errors
    /// [`CipherError::NoRandomness`].
    pub fn generate() -> Result<PrfKey, CipherError> {
        let mut key = PrfKey([0; 32]);
        random::fill(&mut key.0)?;
        Ok(key)
    }

    /// Returns the key of bytes that the owners have in common: uniform ones, such as those of
    /// their random stream.
    pub fn from_common(bytes: [u8; 32]) -> PrfKey {
        PrfKey(bytes)
    }

    /// Returns the tag of each element.
    pub fn tags(&self, elements: &[&[u8]]) -> Vec<Tag> {
        let keyed = Hmac::<Sha256>::new_from_slice(&self.0).expect("HMAC takes keys of any length");
        let tag = |element: &&[u8]| {
            let mut mac = keyed.clone();
            mac.update(element);
            Tag(mac.finalize().into_bytes()[..16].try_into().expect("16 of 32 bytes"))
        };
        elements.iter().map(tag).collect()
    }
}

/// A secret exponent. It is overwritten when it is dropped.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Exponent(Scalar);

/// An element of the group, as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Point(pub [u8; 32]);

impl Exponent {
    /// Generates an exponent, uniform among the numbers that are not 0 modulo the order of the
    /// group.
    ///
    /// # Errors
    /// [`CipherError::NoRandomness`].
    pub fn generate() -> Result<Exponent, CipherError> {
        loop {
            let mut bytes = Zeroizing::new([0; 64]);
            random::fill(&mut *bytes)?;
            let scalar = Scalar::from_bytes_mod_order_wide(&bytes);
            if scalar != Scalar::ZERO {
                return Ok(Exponent(scalar));
            }
        }
    }

    /// Returns the blinded point of each element.
    pub fn blind(&self, elements: &[&[u8]]) -> Vec<Point> {
        let blind = |element: &&[u8]| {
            let mut hash = Sha512::new();
            hash.update(b"felis intersection\0");
            hash.update(element);
            let point = RistrettoPoint::from_uniform_bytes(&hash.finalize().into());
            Point((point * self.0).compress().to_bytes())
        };
        elements.iter().map(blind).collect()
    }

    /// Returns the points that another party has blinded, blinded again, in the same order.
    ///
    /// # Errors
    /// [`CipherError::NotInGroup`] for bytes that are no point, or its neutral element.
    pub fn blind_again(&self, points: &[Point]) -> Result<Vec<Point>, CipherError> {
        let blind = |(position, point): (usize, &Point)| {
            let point = CompressedRistretto(point.0).decompress().filter(|point| !point.is_identity());
            let point = point.ok_or(CipherError::NotInGroup { position })?;
            Ok(Point((point * self.0).compress().to_bytes()))
        };
        points.iter().enumerate().map(blind).collect()
    }
}

/// Returns the positions of the elements of `own` that `other` has, too: tags under one key, or
/// points blinded by both.
pub fn common<T: Eq + Hash>(own: &[T], other: &[T]) -> Vec<usize> {
    let other: HashSet<&T> = other.iter().collect();
    (0..own.len()).filter(|&at| other.contains(&own[at])).collect()
}
