//! Vectors of integers as slots: their shape, their residues modulo the primes, and back.

use super::Parameters;
use super::context::contexts;
use crate::CipherError;
use crate::magnitude::Magnitude;
use fhe::bfv::{Encoding, Plaintext};
use fhe_traits::{FheDecoder, FheEncoder};
use std::fmt;
use zeroize::Zeroizing;

/// The shape of a vector in slots.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Shape {
    length: usize,
    rows: usize,
}

impl Shape {
    /// Returns the shape of `rows` rows of `length` elements.
    ///
    /// # Errors
    /// [`CipherError::Shape`] unless there are one or two rows, and the length divides the slots of
    /// a row.
    pub fn new(parameters: Parameters, length: usize, rows: usize) -> Result<Shape, CipherError> {
        let slots = parameters.row();
        if length == 0 || !slots.is_multiple_of(length) || !(1..=2).contains(&rows) {
            return Err(CipherError::Shape { length, slots });
        }
        Ok(Shape { length, rows })
    }

    /// Returns the number of elements in a row.
    pub fn length(self) -> usize {
        self.length
    }

    /// Returns the number of rows.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// Returns the number of elements.
    pub fn elements(self) -> usize {
        self.length * self.rows
    }

    /// Refuses another shape.
    pub(super) fn same(self, other: Shape) -> Result<(), CipherError> {
        if self == other {
            return Ok(());
        }
        let (expected, found) = (self.elements(), other.elements());
        if expected != found {
            return Err(CipherError::Length { expected, found });
        }
        Err(CipherError::Length { expected: self.length, found: other.length })
    }
}

/// A plain vector, encoded to be added to ciphertexts or multiplied by them. It is overwritten when
/// it is dropped.
pub struct Plain {
    pub(super) parameters: Parameters,
    pub(super) parts: Vec<Plaintext>,
    pub(super) shape: Shape,
    pub(super) bound: Magnitude,
    pub(super) scale: u32,
}

impl Plain {
    /// Encodes a vector whose elements have `scale` binary digits after the point and a magnitude
    /// of at most `bound`: all elements of the first row, then those of the second.
    ///
    /// # Errors
    /// [`CipherError::Length`], [`CipherError::Magnitude`], and [`CipherError::Overflow`] for a
    /// bound that the parameters have no room for.
    pub fn encode(
        parameters: Parameters,
        shape: Shape,
        values: &[i128],
        bound: Magnitude,
        scale: u32,
    ) -> Result<Plain, CipherError> {
        // A shape of other parameters may not fit.
        let shape = Shape::new(parameters, shape.length, shape.rows)?;
        if values.len() != shape.elements() {
            return Err(CipherError::Length { expected: shape.elements(), found: values.len() });
        }
        check_bound(parameters, bound)?;
        // All elements are compared; where one is too large, the error tells its position.
        let outside = values.iter().fold(false, |outside, &value| outside | !bound.contains(value));
        if outside {
            let position = values.iter().position(|&value| !bound.contains(value));
            return Err(CipherError::Magnitude { position: position.expect("one is too large") });
        }
        let contexts = contexts(parameters)?;
        let row = parameters.row();
        let mut parts = Vec::with_capacity(contexts.len());
        for (context, &prime) in contexts.iter().zip(parameters.primes()) {
            // An element of magnitude 2^bits has a bit more.
            let (reduction, bits) = (Reduction::new(prime), bound.bits() + 1);
            let mut slots = Zeroizing::new(Vec::with_capacity(parameters.degree()));
            for at in 0..2 {
                let data = &values[at % shape.rows * shape.length..][..shape.length];
                slots.extend(data.iter().map(|&value| reduction.residue(value, bits)));
                for filled in slots.len()..(at + 1) * row {
                    let element = slots[filled - shape.length];
                    slots.push(element);
                }
            }
            let part = Plaintext::try_encode(slots.as_slice(), Encoding::simd(), context);
            parts.push(part.map_err(|_| CipherError::Internal { operation: "encoding" })?);
        }
        Ok(Plain { parameters, parts, shape, bound, scale })
    }

    /// Returns the shape.
    pub fn shape(&self) -> Shape {
        self.shape
    }
}

impl fmt::Debug for Plain {
    /// Writes all but the values.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plain {{ {:?}, {:?}, scale: {} }}", self.shape, self.bound, self.scale)
    }
}

/// Refuses a bound above half the product of the primes.
pub(super) fn check_bound(parameters: Parameters, bound: Magnitude) -> Result<Magnitude, CipherError> {
    let limit = parameters.max_magnitude();
    if bound.to_u128().is_some_and(|bound| bound <= limit) {
        return Ok(bound);
    }
    Err(CipherError::Overflow { bits: bound.bits(), limit: limit.ilog2() })
}

/// Reduction modulo a prime between 2¹⁶ and 2³¹, in constant time (Barrett, CRYPTO 1986).
#[derive(Clone, Copy)]
pub(super) struct Reduction {
    prime: u64,
    /// 2⁶⁴ divided by the prime, rounded down.
    reciprocal: u64,
}

impl Reduction {
    pub(super) fn new(prime: u64) -> Reduction {
        Reduction { prime, reciprocal: u64::MAX / prime }
    }

    /// Returns the residue of a word. The quotient by the reciprocal is at most one too small.
    fn word(self, word: u64) -> u64 {
        let quotient = ((u128::from(word) * u128::from(self.reciprocal)) >> 64) as u64;
        self.once(word.wrapping_sub(quotient.wrapping_mul(self.prime)))
    }

    /// Returns the residue of a number below twice the prime.
    fn once(self, number: u64) -> u64 {
        let (less, borrow) = number.overflowing_sub(self.prime);
        less.wrapping_add(self.prime & u64::from(borrow).wrapping_neg())
    }

    /// Returns the residue of an integer whose magnitude has at most `bits` bits, which are public.
    pub(super) fn residue(self, value: i128, bits: u32) -> u64 {
        let magnitude = value.unsigned_abs();
        let residue = if bits <= 64 {
            self.word(magnitude as u64)
        } else {
            let words = [96, 64, 32, 0].map(|shift| (magnitude >> shift) as u64 & 0xffff_ffff);
            words.into_iter().fold(0, |residue, word| self.word((residue << 32) | word))
        };
        let negated = self.once(self.prime - residue);
        let mask = (value >> 127) as u64;
        (residue & !mask) | (negated & mask)
    }
}

/// Returns the integers nearest to zero with these residues, for the elements of a shape.
pub(super) fn decode(
    parameters: Parameters,
    shape: Shape,
    parts: &[Plaintext],
) -> Result<Vec<i128>, CipherError> {
    let residues = parts
        .iter()
        .map(|part| Vec::<u64>::try_decode(part, Encoding::simd()).map(Zeroizing::new))
        .collect::<Result<Vec<_>, _>>()
        .map_err(|_| CipherError::Internal { operation: "decoding" })?;
    let primes = parameters.primes();
    let product: u128 = primes.iter().map(|&prime| u128::from(prime)).product();
    let inverses: Vec<Vec<u64>> = primes
        .iter()
        .map(|&prime| primes.iter().map(|&other| inverse(other % prime, prime)).collect())
        .collect();
    let join = |slot: usize| {
        // Garner's algorithm: the digits of the integer in the mixed radix of the primes.
        let mut digits = [0; super::MAX_PRIMES];
        for (at, &prime) in primes.iter().enumerate() {
            let mut digit = residues[at][slot] % prime;
            for below in 0..at {
                let difference = digit + prime - digits[below] % prime;
                digit = difference % prime * inverses[at][below] % prime;
            }
            digits[at] = digit;
        }
        let value = primes
            .iter()
            .zip(digits)
            .rev()
            .fold(0u128, |value, (&prime, digit)| value * u128::from(prime) + u128::from(digit));
        let value = value as i128;
        if value > (product / 2) as i128 { value - product as i128 } else { value }
    };
    let row = parameters.row();
    Ok((0..shape.rows).flat_map(|at| at * row..at * row + shape.length).map(join).collect())
}

/// Returns the inverse modulo a prime below 2³², by Fermat's theorem.
fn inverse(value: u64, prime: u64) -> u64 {
    let (mut result, mut power, mut exponent) = (1, value % prime, prime - 2);
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * power % prime;
        }
        power = power * power % prime;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn residues_are_those_of_integers() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for degree in [4096, 8192, 16384] {
            let parameters = Parameters::new(degree, super::super::MAX_PRIMES).expect("parameters");
            for &prime in parameters.primes() {
                let reduction = Reduction::new(prime);
                for _ in 0..2000 {
                    let value = random.i128(..) >> random.u32(..128);
                    let bits = 128 - value.unsigned_abs().leading_zeros();
                    let expected = value.rem_euclid(prime.into()) as u64;
                    assert_eq!(reduction.residue(value, bits), expected, "{value} {prime}");
                }
                for value in
                    [0, -1, 1, i128::MIN, i128::MAX, u64::MAX.into(), prime.into(), -i128::from(prime)]
                {
                    let bits = 128 - value.unsigned_abs().leading_zeros();
                    assert_eq!(reduction.residue(value, bits), value.rem_euclid(prime.into()) as u64);
                }
            }
        }
    }
}
