//! Ciphertexts of Paillier's scheme and what is computed with them.

use super::PublicKey;
use super::square::{Residue, SquareRing};
use crate::CipherError;
use crate::key::{self, Head, Kind, same_key, same_scale};
use crate::magnitude::Magnitude;
use crypto_bigint::Choice;
use std::fmt;
use zeroize::{Zeroize, Zeroizing};

/// The number of bytes before the residue: the bound and the scale.
const FIELD_BYTES: usize = 16;

/// The ciphertext of an integer, with its key, the bound of its magnitude and its scale.
#[derive(Clone)]
pub struct Ciphertext {
    key: PublicKey,
    residue: Residue,
    bound: Magnitude,
    scale: u32,
}

impl Ciphertext {
    pub(super) fn new(key: PublicKey, residue: Residue, bound: Magnitude, scale: u32) -> Ciphertext {
        Ciphertext { key, residue, bound, scale }
    }

    pub(super) fn residue(&self) -> &Residue {
        &self.residue
    }

    /// Returns the key that the ciphertext belongs to.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Returns the bound of the magnitude of the integer.
    pub fn bound(&self) -> Magnitude {
        self.bound
    }

    /// Returns the number of binary digits after the point.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    fn ring(&self) -> &SquareRing {
        &self.key.parts().ring
    }

    fn with(&self, residue: Residue, bound: Magnitude, scale: u32) -> Ciphertext {
        Ciphertext { key: self.key.clone(), residue, bound, scale }
    }

    /// Returns the sum of two: one product modulo n².
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`], [`CipherError::Scale`], [`CipherError::Overflow`].
    pub fn add(&self, other: &Ciphertext) -> Result<Ciphertext, CipherError> {
        same_key(self.key.fingerprint(), other.key.fingerprint())?;
        same_scale(self.scale, other.scale)?;
        let bound = self.key.check(self.bound.sum(other.bound))?;
        Ok(self.with(self.ring().multiply(&self.residue, &other.residue), bound, self.scale))
    }

    /// Returns the difference of two: one inverse and one product.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`], [`CipherError::Scale`], [`CipherError::Overflow`]; those of
    /// [`Self::negate`].
    pub fn subtract(&self, other: &Ciphertext) -> Result<Ciphertext, CipherError> {
        same_key(self.key.fingerprint(), other.key.fingerprint())?;
        self.add(&other.negate()?)
    }

    /// Returns the sum of the elements of a slice; the sum of none is no ciphertext.
    ///
    /// # Errors
    /// [`CipherError::Length`] for an empty slice; those of [`Self::add`].
    pub fn sum(ciphers: &[Ciphertext]) -> Result<Ciphertext, CipherError> {
        let Some((first, rest)) = ciphers.split_first() else {
            return Err(CipherError::Length { expected: 1, found: 0 });
        };
        let mut bound = first.bound;
        for cipher in rest {
            same_key(first.key.fingerprint(), cipher.key.fingerprint())?;
            same_scale(first.scale, cipher.scale)?;
            bound = bound.sum(cipher.bound);
        }
        let bound = first.key.check(bound)?;
        let residue = first.ring().product(ciphers.iter().map(|cipher| &cipher.residue));
        Ok(first.with(residue, bound, first.scale))
    }

    /// Returns the sum with a plain integer of the same scale, whose magnitude is at most `bound`.
    ///
    /// # Errors
    /// [`CipherError::Magnitude`], [`CipherError::Overflow`].
    pub fn add_plain(&self, value: i128, bound: Magnitude) -> Result<Ciphertext, CipherError> {
        let sum = self.key.check(self.bound.sum(bound))?;
        within(0, value, bound)?;
        let residue = self.ring().multiply(&self.residue, &self.key.trivial(value));
        Ok(self.with(residue, sum, self.scale))
    }

    /// Returns the negated ciphertext: one inverse modulo n.
    ///
    /// # Errors
    /// [`CipherError::Malformed`] for a ciphertext that was read and is no unit modulo n.
    /// [`CipherError::NoRandomness`].
    pub fn negate(&self) -> Result<Ciphertext, CipherError> {
        Ok(self.with(self.inverse()?, self.bound, self.scale))
    }

    fn inverse(&self) -> Result<Residue, CipherError> {
        let blind = self.key.random_unit()?;
        let inverse = self.ring().inverse(&self.residue, &self.key.parts().n, &blind);
        inverse.ok_or(CipherError::Malformed { part: "ciphertext" })
    }

    /// Returns the product with a plain integer of `scale` binary digits after the point, whose
    /// magnitude is at most `bound`. Time depends on the bound and not on the factor or its sign.
    ///
    /// # Errors
    /// [`CipherError::Magnitude`], [`CipherError::Overflow`]; those of [`Self::negate`].
    pub fn scale_by(&self, factor: i128, bound: Magnitude, scale: u32) -> Result<Ciphertext, CipherError> {
        Ciphertext::dot(std::slice::from_ref(self), &[factor], bound, scale)
    }

    /// Returns the sum of the products with plain integers of `scale` binary digits after the
    /// point, whose magnitudes are at most `bound`: one inversion, and squarings together. Time
    /// depends on the bound and the length and not on the factors.
    ///
    /// # Errors
    /// [`CipherError::Length`] for no elements or another number of factors; those of
    /// [`Self::sum`]; [`CipherError::Magnitude`]; those of [`Self::negate`].
    pub fn dot(
        ciphers: &[Ciphertext],
        factors: &[i128],
        bound: Magnitude,
        scale: u32,
    ) -> Result<Ciphertext, CipherError> {
        let (expected, found) = (ciphers.len().max(1), factors.len());
        let (Some(first), true) = (ciphers.first(), expected == found) else {
            return Err(CipherError::Length { expected, found });
        };
        let mut sum = Magnitude::ZERO;
        for cipher in ciphers {
            same_key(first.key.fingerprint(), cipher.key.fingerprint())?;
            same_scale(first.scale, cipher.scale)?;
            sum = sum.sum(cipher.bound.product(bound));
        }
        let sum = first.key.check(sum)?;
        let scale = first.product_scale(scale)?;
        for (position, &factor) in factors.iter().enumerate() {
            within(position, factor, bound)?;
        }
        let residues: Vec<&Residue> = ciphers.iter().map(|cipher| &cipher.residue).collect();
        let blind = first.key.random_unit()?;
        let inverses = first.ring().inverses(&residues, &first.key.parts().n, &blind);
        let inverses = inverses.ok_or(CipherError::Malformed { part: "ciphertext" })?;
        let mut bases = Vec::with_capacity(ciphers.len());
        let mut exponents = Zeroizing::new(Vec::with_capacity(ciphers.len()));
        for ((residue, inverse), &factor) in residues.iter().zip(&inverses).zip(factors) {
            let negative = Choice::from_u8_lsb((factor >> 127) as u8 & 1);
            bases.push(SquareRing::select(residue, inverse, negative));
            let exponent = factor.unsigned_abs();
            exponents.push([exponent as u64, (exponent >> 64) as u64]);
        }
        let bits = bound.bits().saturating_add(1).min(128);
        let powers: Vec<_> = bases.iter().zip(exponents.iter().map(|words| &words[..])).collect();
        let residue = first.ring().power_product(&powers, bits);
        bases.zeroize();
        Ok(first.with(residue, sum, scale))
    }

    /// Returns the product with a public integer of `scale` binary digits after the point. Time
    /// tells the factor and its sign.
    ///
    /// # Errors
    /// [`CipherError::Overflow`]; those of [`Self::negate`].
    pub fn scale_public(&self, factor: i128, scale: u32) -> Result<Ciphertext, CipherError> {
        let bound = self.key.check(self.bound.product(Magnitude::new(factor.unsigned_abs())))?;
        let scale = self.product_scale(scale)?;
        let exponent = factor.unsigned_abs();
        let exponent = [exponent as u64, (exponent >> 64) as u64];
        let residue = match factor {
            0.. => self.ring().power_public(&self.residue, &exponent),
            _ => self.ring().power_public(&self.inverse()?, &exponent),
        };
        Ok(self.with(residue, bound, scale))
    }

    fn product_scale(&self, scale: u32) -> Result<u32, CipherError> {
        let limit = self.key.parameters().modulus_bits();
        self.scale.checked_add(scale).ok_or(CipherError::Overflow { bits: u32::MAX, limit })
    }

    /// Writes the ciphertext: its bound, its scale, and the residue modulo n².
    pub fn to_bytes(&self) -> Vec<u8> {
        let words = self.ring().number(&self.residue);
        let mut bytes = self.key.head(Kind::Ciphertext).write(FIELD_BYTES + 8 * words.len());
        bytes.extend(self.bound.to_bytes());
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        key::seal(bytes)
    }

    /// Reads a ciphertext of a key.
    ///
    /// # Errors
    /// Bytes that no ciphertext of this key writes.
    pub fn from_bytes(bytes: &[u8], key: &PublicKey) -> Result<Ciphertext, CipherError> {
        let parameters = key::Parameters::Paillier(key.parameters());
        let body = Head::of_key(bytes, Kind::Ciphertext, parameters, key.fingerprint())?;
        if body.len() != FIELD_BYTES + key.parameters().modulus_bits() as usize / 4 {
            return Err(CipherError::Malformed { part: "length" });
        }
        let (fields, body) = body.split_at(FIELD_BYTES);
        let bound = Magnitude::from_bytes(fields[..12].try_into().expect("12 bytes"));
        let bound = bound.filter(|&bound| bound < key.max_magnitude());
        let bound = bound.ok_or(CipherError::Malformed { part: "bound" })?;
        let scale = u32::from_le_bytes(fields[12..].try_into().expect("4 bytes"));
        let words: Vec<u64> = body.as_chunks().0.iter().map(|&word| u64::from_le_bytes(word)).collect();
        let ring = &key.parts().ring;
        let residue = ring.convert(&words);
        // Only a residue below n² is written to the same words.
        if ring.number(&residue) != words || words.iter().all(|&word| word == 0) {
            return Err(CipherError::Malformed { part: "ciphertext" });
        }
        Ok(Ciphertext::new(key.clone(), residue, bound, scale))
    }
}

impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Ciphertext { key, bound, scale, .. } = self;
        write!(f, "Ciphertext {{ {key:?}, {bound:?}, scale: {scale} }}")
    }
}

/// Refuses a plain integer above its bound.
fn within(position: usize, value: i128, bound: Magnitude) -> Result<(), CipherError> {
    if bound.contains(value) { Ok(()) } else { Err(CipherError::Magnitude { position }) }
}
