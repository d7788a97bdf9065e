//! Ciphertexts of vectors and what is computed with them.

use super::encoding::{Plain, Reduction, Shape, check_bound};
use super::keys::internal;
use super::noise::Noise;
use super::poly::{self, poly_bytes};
use super::{GaloisKeys, PublicKey, RelinearizationKey};
use crate::key::{self, Kind, same_key, same_scale};
use crate::magnitude::Magnitude;
use crate::{CipherError, random};
use fhe::bfv::{Ciphertext, Encoding, Plaintext};
use fhe_math::rq::traits::TryConvertFrom;
use fhe_math::rq::{Poly, Representation};
use fhe_traits::FheEncoder;
use std::fmt;
use zeroize::Zeroizing;

/// The number of bytes before the polynomials: length, rows, bound, scale and noise.
const FIELD_BYTES: usize = 32;

/// The ciphertext of a vector, with its key, its shape, and the bounds of its values and its noise.
#[derive(Clone)]
pub struct Packed {
    key: PublicKey,
    parts: Vec<Ciphertext>,
    shape: Shape,
    bound: Magnitude,
    scale: u32,
    noise: Noise,
}

impl Packed {
    pub(super) fn new(
        key: PublicKey,
        parts: Vec<Ciphertext>,
        shape: Shape,
        bound: Magnitude,
        scale: u32,
        noise: Noise,
    ) -> Packed {
        Packed { key, parts, shape, bound, scale, noise }
    }

    pub(super) fn parts(&self) -> &[Ciphertext] {
        &self.parts
    }

    /// Returns the key that the ciphertext belongs to.
    pub fn key(&self) -> &PublicKey {
        &self.key
    }

    /// Returns the shape of the vector.
    pub fn shape(&self) -> Shape {
        self.shape
    }

    /// Returns the bound of the magnitude of the elements.
    pub fn bound(&self) -> Magnitude {
        self.bound
    }

    /// Returns the number of binary digits after the point.
    pub fn scale(&self) -> u32 {
        self.scale
    }

    /// Returns the base 2 logarithm of the bound of the noise.
    pub fn noise_bits(&self) -> f64 {
        self.noise.bits()
    }

    /// Returns the base 2 logarithm of the noise that can still be multiplied in: 0 is none.
    pub fn budget_bits(&self) -> f64 {
        self.key.parts().model.limit_bits() - self.noise.bits()
    }

    fn with(&self, parts: Vec<Ciphertext>, bound: Magnitude, scale: u32, noise: Noise) -> Packed {
        Packed { key: self.key.clone(), parts, shape: self.shape, bound, scale, noise }
    }

    fn bounded(&self, bound: Magnitude) -> Result<Magnitude, CipherError> {
        check_bound(self.key.parameters(), bound)
    }

    fn fits(&self, other: &Packed) -> Result<(), CipherError> {
        same_key(self.key.fingerprint(), other.key.fingerprint())?;
        self.shape.same(other.shape)
    }

    fn fits_plain(&self, other: &Plain) -> Result<(), CipherError> {
        self.key.same_parameters(other.parameters)?;
        self.shape.same(other.shape)
    }

    fn product_scale(&self, scale: u32) -> Result<u32, CipherError> {
        let limit = self.key.parameters().max_magnitude().ilog2();
        self.scale.checked_add(scale).ok_or(CipherError::Overflow { bits: u32::MAX, limit })
    }

    /// Returns the element-wise sum.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`], [`CipherError::Length`], [`CipherError::Scale`],
    /// [`CipherError::Overflow`], [`CipherError::NoiseExhausted`].
    pub fn add(&self, other: &Packed) -> Result<Packed, CipherError> {
        self.combine(other, |a, b| a + b)
    }

    /// Returns the element-wise difference.
    ///
    /// # Errors
    /// The errors of [`Self::add`].
    pub fn subtract(&self, other: &Packed) -> Result<Packed, CipherError> {
        self.combine(other, |a, b| a - b)
    }

    fn combine(
        &self,
        other: &Packed,
        operation: impl Fn(&Ciphertext, &Ciphertext) -> Ciphertext,
    ) -> Result<Packed, CipherError> {
        self.fits(other)?;
        same_scale(self.scale, other.scale)?;
        let bound = self.bounded(self.bound.sum(other.bound))?;
        let model = &self.key.parts().model;
        let noise = model.check(model.sum(self.noise, other.noise))?;
        let parts = self.parts.iter().zip(&other.parts).map(|(a, b)| operation(a, b)).collect();
        Ok(self.with(parts, bound, self.scale, noise))
    }

    /// Returns the negated vector.
    #[must_use]
    pub fn negate(&self) -> Packed {
        let parts = self.parts.iter().map(|part| -part).collect();
        self.with(parts, self.bound, self.scale, self.noise)
    }

    /// Returns the element-wise sum with a plain vector.
    ///
    /// # Errors
    /// [`CipherError::Parameters`] and those of [`Self::add`].
    pub fn add_plain(&self, other: &Plain) -> Result<Packed, CipherError> {
        self.fits_plain(other)?;
        same_scale(self.scale, other.scale)?;
        let bound = self.bounded(self.bound.sum(other.bound))?;
        let model = &self.key.parts().model;
        let noise = model.check(model.plain_sum(self.noise))?;
        let parts = self.parts.iter().zip(&other.parts).map(|(a, b)| a + b).collect();
        Ok(self.with(parts, bound, self.scale, noise))
    }

    /// Returns the element-wise product with a plain vector. A factor that is private is visible to
    /// the owner of the key until the result is flooded: see [`Self::flood`].
    ///
    /// # Errors
    /// [`CipherError::Parameters`], [`CipherError::Length`], [`CipherError::Overflow`],
    /// [`CipherError::NoiseExhausted`].
    pub fn multiply_plain(&self, other: &Plain) -> Result<Packed, CipherError> {
        self.fits_plain(other)?;
        let bound = self.bounded(self.bound.product(other.bound))?;
        let scale = self.product_scale(other.scale)?;
        let model = &self.key.parts().model;
        let noise = model.check(model.plain_product(self.noise))?;
        let parts = self.parts.iter().zip(&other.parts).map(|(a, b)| a * b).collect();
        Ok(self.with(parts, bound, scale, noise))
    }

    /// Returns the product of all elements with a public integer of `scale` binary digits after the
    /// point. It costs less noise than a plain vector.
    ///
    /// # Errors
    /// [`CipherError::Overflow`], [`CipherError::NoiseExhausted`].
    pub fn scale_public(&self, factor: i128, scale: u32) -> Result<Packed, CipherError> {
        let magnitude = factor.unsigned_abs();
        let bound = self.bounded(self.bound.product(Magnitude::new(magnitude)))?;
        let scale = self.product_scale(scale)?;
        let model = &self.key.parts().model;
        let noise = model.check(model.scaled(self.noise, magnitude))?;
        let parts = self.key.parts();
        let mut scaled = Vec::with_capacity(self.parts.len());
        for ((part, context), &prime) in self.parts.iter().zip(&parts.contexts).zip(parts.parameters.primes())
        {
            // Of zeros, any factor is in the range; its residue may then be any.
            let magnitude = magnitude.min(i128::MAX as u128) as i128;
            let residue = Reduction::new(prime).residue(magnitude, 128);
            let constant = Plaintext::try_encode(&[residue], Encoding::poly(), context);
            let product = part * &constant.map_err(internal("encoding"))?;
            scaled.push(if factor < 0 { -product } else { product });
        }
        Ok(self.with(scaled, bound, scale, noise))
    }

    /// Returns the element-wise product, relinearized.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`] for the operand or the relinearization key,
    /// [`CipherError::Length`], [`CipherError::Overflow`], [`CipherError::NoiseExhausted`].
    pub fn multiply(&self, other: &Packed, key: &RelinearizationKey) -> Result<Packed, CipherError> {
        self.fits(other)?;
        same_key(self.key.fingerprint(), key.fingerprint())?;
        let bound = self.bounded(self.bound.product(other.bound))?;
        let scale = self.product_scale(other.scale)?;
        let model = &self.key.parts().model;
        let noise = model.check(model.product(self.noise, other.noise))?;
        let mut parts = Vec::with_capacity(self.parts.len());
        for (a, b) in self.parts.iter().zip(&other.parts) {
            let mut product = a * b;
            key.key.relinearizes(&mut product).map_err(internal("relinearization"))?;
            parts.push(product);
        }
        Ok(self.with(parts, bound, scale, noise))
    }

    /// Returns the vector whose element i is element i + `columns` of each row, in cyclic indices.
    /// A rotation without a key of its own is made of rotations by powers of two.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`], [`CipherError::NoRotation`], [`CipherError::NoiseExhausted`].
    pub fn rotate(&self, columns: usize, keys: &GaloisKeys) -> Result<Packed, CipherError> {
        same_key(self.key.fingerprint(), keys.fingerprint())?;
        let columns = columns % self.shape.length();
        let mut steps = Vec::new();
        if columns != 0 && keys.keys.supports_column_rotation_by(columns) {
            steps.push(columns);
        } else {
            steps.extend((0..usize::BITS).map(|bit| columns & 1 << bit).filter(|&step| step != 0));
        }
        if let Some(&step) = steps.iter().find(|&&step| !keys.keys.supports_column_rotation_by(step)) {
            return Err(CipherError::NoRotation { columns: step });
        }
        let model = &self.key.parts().model;
        let mut noise = self.noise;
        for _ in &steps {
            noise = model.check(model.switched(noise.value()))?;
        }
        let turn = |part: &Ciphertext, step| {
            keys.keys.rotates_columns_by(part, step).map_err(internal("a rotation"))
        };
        let turn_all = |part: &Ciphertext| match steps.split_first() {
            None => Ok(part.clone()),
            Some((&first, rest)) => rest.iter().try_fold(turn(part, first)?, |part, &step| turn(&part, step)),
        };
        let parts = self.parts.iter().map(turn_all).collect::<Result<_, _>>()?;
        Ok(self.with(parts, self.bound, self.scale, noise))
    }

    /// Returns the vector with its two rows exchanged.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`], [`CipherError::NoiseExhausted`]; [`CipherError::NoRotation`]
    /// for keys that were read without this one.
    pub fn exchange_rows(&self, keys: &GaloisKeys) -> Result<Packed, CipherError> {
        same_key(self.key.fingerprint(), keys.fingerprint())?;
        if !keys.keys.supports_row_rotation() {
            return Err(CipherError::NoRotation { columns: 0 });
        }
        let model = &self.key.parts().model;
        let noise = model.check(model.switched(self.noise.value()))?;
        let parts = self.parts.iter().map(|part| keys.keys.rotates_rows(part));
        let parts = parts.collect::<Result<_, _>>().map_err(internal("the exchange of rows"))?;
        Ok(self.with(parts, self.bound, self.scale, noise))
    }

    /// Returns the vector each of whose elements is the sum of all elements: a rotation and a sum
    /// for each bit of the length, and for two rows their exchange and a sum.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`], [`CipherError::NoRotation`], [`CipherError::Overflow`],
    /// [`CipherError::NoiseExhausted`]. Nothing is computed before the whole is known to be right.
    pub fn inner_sum(&self, keys: &GaloisKeys) -> Result<Packed, CipherError> {
        same_key(self.key.fingerprint(), keys.fingerprint())?;
        let count = Magnitude::new(self.shape.elements() as u128);
        let bound = self.bounded(self.bound.product(count))?;
        let model = &self.key.parts().model;
        let steps: Vec<usize> = (0..self.shape.length().ilog2()).map(|bit| 1 << bit).collect();
        let mut noise = self.noise;
        for _ in 0..steps.len() + self.shape.rows() - 1 {
            let switched = model.check(model.switched(noise.value()))?;
            noise = model.check(model.sum(noise, switched))?;
        }
        if let Some(&columns) = steps.iter().find(|&&step| !keys.keys.supports_column_rotation_by(step)) {
            return Err(CipherError::NoRotation { columns });
        }
        if self.shape.rows() == 2 && !keys.keys.supports_row_rotation() {
            return Err(CipherError::NoRotation { columns: 0 });
        }
        let mut parts = self.parts.clone();
        for part in &mut parts {
            for &step in &steps {
                *part += &keys.keys.rotates_columns_by(part, step).map_err(internal("a rotation"))?;
            }
            if self.shape.rows() == 2 {
                *part += &keys.keys.rotates_rows(part).map_err(internal("the exchange of rows"))?;
            }
        }
        Ok(self.with(parts, bound, self.scale, noise))
    }

    /// Returns a ciphertext of the same vector whose noise tells nothing of how it was computed:
    /// the statistical distance between the noises of any two computations with this bound is at
    /// most 2^-bits for each prime. It is fresh among the ciphertexts of the key.
    ///
    /// # Errors
    /// [`CipherError::NoiseExhausted`]: flooding by many bits needs room.
    pub fn flood(&self, bits: u32) -> Result<Packed, CipherError> {
        let model = &self.key.parts().model;
        let (exponent, noise) = model.flooded(self.noise, bits);
        let noise = model.check(noise)?;
        let parameters = self.key.parameters();
        let mut parts = self.key.encrypt_zero()?;
        for ((part, old), context) in parts.iter_mut().zip(&self.parts).zip(&self.key.parts().contexts) {
            *part += old;
            let residues = uniform(parameters.degree(), exponent, parameters.moduli())?;
            let ring = poly::ring(context)?;
            let flood = Poly::try_convert_from(residues, ring, false, Representation::PowerBasis);
            let mut flood = Zeroizing::new(flood.map_err(internal("flooding"))?);
            flood.change_representation(Representation::Ntt);
            part[0] += &flood;
        }
        Ok(self.with(parts, self.bound, self.scale, noise))
    }

    /// Writes the ciphertext: its shape, its bounds and its polynomials.
    pub fn to_bytes(&self) -> Vec<u8> {
        let size = 2 * self.parts.len() * poly_bytes(self.key.parameters());
        let mut bytes = self.key.head(Kind::Ciphertext).write(FIELD_BYTES + size);
        bytes.extend((self.shape.length() as u32).to_le_bytes());
        bytes.extend((self.shape.rows() as u32).to_le_bytes());
        bytes.extend(self.bound.to_bytes());
        bytes.extend(self.scale.to_le_bytes());
        bytes.extend(self.noise.value().to_le_bytes());
        for part in &self.parts {
            bytes.extend(poly::to_bytes(&part[0]));
            bytes.extend(poly::to_bytes(&part[1]));
        }
        key::seal(bytes)
    }

    /// Reads a ciphertext of a key. The bounds that it carries are those that its sender computed.
    ///
    /// # Errors
    /// Bytes that no ciphertext of this key writes.
    pub fn from_bytes(bytes: &[u8], key: &PublicKey) -> Result<Packed, CipherError> {
        let body = key.body_of(bytes, Kind::Ciphertext)?;
        let (parameters, size) = (key.parameters(), poly_bytes(key.parameters()));
        if body.len() != FIELD_BYTES + 2 * parameters.primes().len() * size {
            return Err(CipherError::Malformed { part: "length" });
        }
        let (fields, body) = body.split_at(FIELD_BYTES);
        let word = |at: usize| u32::from_le_bytes(fields[at..at + 4].try_into().expect("4 bytes"));
        let shape = Shape::new(parameters, word(0) as usize, word(4) as usize)?;
        let bound = Magnitude::from_bytes(fields[8..20].try_into().expect("12 bytes"));
        let bound = check_bound(parameters, bound.ok_or(CipherError::Malformed { part: "bound" })?)?;
        let scale = word(20);
        let noise = f64::from_le_bytes(fields[24..].try_into().expect("8 bytes"));
        let model = &key.parts().model;
        if !(noise >= 1.0 && noise.is_finite()) {
            return Err(CipherError::Malformed { part: "noise" });
        }
        let noise = model.check(noise)?;
        let mut parts = Vec::with_capacity(parameters.primes().len());
        for (pair, context) in body.chunks(2 * size).zip(&key.parts().contexts) {
            let (first, second) = pair.split_at(size);
            let first = poly::from_bytes(first, parameters, context)?;
            let second = poly::from_bytes(second, parameters, context)?;
            parts.push(Ciphertext::new(vec![first, second], context).map_err(internal("reading"))?);
        }
        Ok(Packed::new(key.clone(), parts, shape, bound, scale, noise))
    }
}

impl fmt::Debug for Packed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Packed { key, shape, bound, scale, noise, .. } = self;
        write!(f, "Packed {{ {key:?}, {shape:?}, {bound:?}, scale: {scale}, {noise:?} }}")
    }
}

/// Returns `degree` uniform numbers in [-2^exponent, 2^exponent), as their residues modulo each of
/// the moduli in turn.
fn uniform(degree: usize, exponent: u32, moduli: &[u64]) -> Result<Vec<u64>, CipherError> {
    let words = (exponent + 1).div_ceil(64) as usize;
    let mut numbers = random::words(degree * words)?;
    let unused = 64 * words as u32 - (exponent + 1);
    for number in numbers.chunks_mut(words) {
        *number.last_mut().expect("a word") >>= unused;
    }
    let mut residues = Vec::with_capacity(degree * moduli.len());
    for &modulus in moduli {
        let step = |residue: u64, word: u64| {
            ((u128::from(residue) << 64 | u128::from(word)) % u128::from(modulus)) as u64
        };
        let offset = (0..exponent).fold(1, |power, _| power * 2 % modulus);
        for number in numbers.chunks(words) {
            let residue = number.iter().rev().fold(0, |residue, &word| step(residue, word));
            residues.push((residue + modulus - offset) % modulus);
        }
    }
    Ok(residues)
}
