//! Shamir's secret sharing (Communications of the ACM 1979) over the field of 2^127 - 1.
//!
//! A secret is the value at 0 of a random polynomial of degree `threshold - 1`; the share of party
//! i is its value at i. Any `threshold` shares determine it, and fewer tell nothing. Sums of
//! secrets and products with public numbers are those of the shares. Arithmetic of elements takes
//! the same time for all values.
//!
//! The field holds 64-bit integers, their products, and sums of up to 2^62 of them; signed integers
//! are the elements nearest to zero.

use crate::{CipherError, random};
use crypto_bigint::{Choice, CtEq, CtLt, CtSelect};
use std::fmt;
use std::ops::{Add, Mul, Neg, Sub};
use zeroize::{Zeroize, Zeroizing};

/// The prime 2^127 - 1.
const PRIME: u128 = (1 << 127) - 1;

/// The number of parties at most.
pub const MAX_PARTIES: u32 = 255;

/// An element of the field.
#[derive(Clone, Copy, Default)]
pub struct Element(u128);

impl Element {
    /// The element 0.
    pub const ZERO: Element = Element(0);

    /// The element 1.
    pub const ONE: Element = Element(1);

    /// Returns `value` or `value - PRIME`, for values up to 2^127.
    fn reduced(value: u128) -> Element {
        let less = value.ct_lt(&PRIME);
        Element(u128::ct_select(&value.wrapping_sub(PRIME), &value, less))
    }

    /// Returns a uniform element.
    fn random() -> Result<Element, CipherError> {
        loop {
            let words = random::words(2)?;
            let value = (u128::from(words[0]) | u128::from(words[1]) << 64) & PRIME;
            // The one value that is none, with a probability of 2^-127.
            if value != PRIME {
                return Ok(Element(value));
            }
        }
    }

    /// Returns the integer nearest to zero that the element stands for.
    pub fn to_integer(self) -> i128 {
        let negative = (PRIME / 2).ct_lt(&self.0);
        u128::ct_select(&self.0, &self.0.wrapping_sub(PRIME), negative) as i128
    }

    /// Writes the element.
    pub fn to_bytes(self) -> [u8; 16] {
        self.0.to_le_bytes()
    }

    /// Reads an element.
    ///
    /// # Errors
    /// [`CipherError::NotInGroup`] for 2^127 - 1 and above.
    pub fn from_bytes(bytes: [u8; 16]) -> Result<Element, CipherError> {
        let value = u128::from_le_bytes(bytes);
        if value < PRIME { Ok(Element(value)) } else { Err(CipherError::NotInGroup { position: 0 }) }
    }

    /// Returns the inverse of an element that is not 0, by Fermat's theorem.
    fn inverse(self) -> Element {
        // PRIME - 2 = 2^127 - 3: all bits but the second lowest.
        (0..127).rev().fold(Element::ONE, |power, bit| {
            let square = power * power;
            if bit == 1 { square } else { square * self }
        })
    }
}

impl From<i64> for Element {
    fn from(value: i64) -> Element {
        let magnitude = Element(value.unsigned_abs().into());
        let negative = Choice::from_u8_lsb((value >> 63) as u8);
        Element(u128::ct_select(&magnitude.0, &(-magnitude).0, negative))
    }
}

impl Add for Element {
    type Output = Element;

    fn add(self, other: Element) -> Element {
        Element::reduced(self.0 + other.0)
    }
}

impl Neg for Element {
    type Output = Element;

    fn neg(self) -> Element {
        Element::reduced(PRIME - self.0)
    }
}

impl Sub for Element {
    type Output = Element;

    fn sub(self, other: Element) -> Element {
        self + -other
    }
}

impl Mul for Element {
    type Output = Element;

    fn mul(self, other: Element) -> Element {
        let halves = |value: u128| (u128::from(value as u64), value >> 64);
        let ((a, b), (c, d)) = (halves(self.0), halves(other.0));
        // The high halves are below 2^63, so no sum is too large.
        let lowest = a * c;
        let middle = a * d + b * c + (lowest >> 64);
        let low = u128::from(lowest as u64) | (middle << 64);
        let high = b * d + (middle >> 64);
        // 2^128 is 2, and 2^127 is 1.
        let folded = (low & PRIME) + ((high << 1) | (low >> 127));
        Element::reduced((folded & PRIME) + (folded >> 127))
    }
}

impl CtEq for Element {
    fn ct_eq(&self, other: &Element) -> Choice {
        self.0.ct_eq(&other.0)
    }
}

impl Zeroize for Element {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

/// The shares of one party of a vector of secrets. They are overwritten when they are dropped.
#[derive(Clone)]
pub struct Share {
    party: u32,
    values: Zeroizing<Vec<Element>>,
}

impl Share {
    /// Returns the share of a party, from 1, that was received.
    pub fn new(party: u32, values: Vec<Element>) -> Share {
        Share { party, values: Zeroizing::new(values) }
    }

    /// Returns the party, from 1.
    pub fn party(&self) -> u32 {
        self.party
    }

    /// Returns the elements.
    pub fn values(&self) -> &[Element] {
        &self.values
    }

    /// Returns the share of the sums of two vectors of secrets.
    ///
    /// # Errors
    /// [`CipherError::Length`]; [`CipherError::Shares`] for shares of two parties.
    pub fn add(&self, other: &Share) -> Result<Share, CipherError> {
        let (expected, found) = (self.values.len(), other.values.len());
        if expected != found {
            return Err(CipherError::Length { expected, found });
        }
        if self.party != other.party {
            return Err(CipherError::Shares { expected: 1, found: 2 });
        }
        let sums = self.values.iter().zip(other.values.iter()).map(|(&a, &b)| a + b);
        Ok(Share::new(self.party, sums.collect()))
    }

    /// Returns the share of the products with a public element.
    #[must_use]
    pub fn scale(&self, factor: Element) -> Share {
        Share::new(self.party, self.values.iter().map(|&value| value * factor).collect())
    }
}

impl fmt::Debug for Share {
    /// Writes all but the elements.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share {{ party: {}, length: {} }}", self.party, self.values.len())
    }
}

/// A number of parties, and how many of them determine a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Sharing {
    parties: u32,
    threshold: u32,
}

impl Sharing {
    /// Returns a sharing.
    ///
    /// # Errors
    /// [`CipherError::Unsupported`] for more parties than [`MAX_PARTIES`], and for a threshold that
    /// is 0 or above their number.
    pub fn new(parties: u32, threshold: u32) -> Result<Sharing, CipherError> {
        if !(1..=MAX_PARTIES).contains(&parties) {
            let (parameter, value) = ("number of parties", parties.into());
            return Err(CipherError::Unsupported { parameter, value });
        }
        if !(1..=parties).contains(&threshold) {
            return Err(CipherError::Unsupported { parameter: "threshold", value: threshold.into() });
        }
        Ok(Sharing { parties, threshold })
    }

    /// Returns the shares of each party of a vector of secrets.
    ///
    /// # Errors
    /// [`CipherError::NoRandomness`].
    pub fn share(self, secrets: &[Element]) -> Result<Vec<Share>, CipherError> {
        let parties = 1..=self.parties;
        let mut shares: Vec<Share> =
            parties.map(|party| Share::new(party, Vec::with_capacity(secrets.len()))).collect();
        let mut polynomial = Zeroizing::new(vec![Element::ZERO; self.threshold as usize]);
        for &secret in secrets {
            polynomial[0] = secret;
            for coefficient in &mut polynomial[1..] {
                *coefficient = Element::random()?;
            }
            for share in &mut shares {
                let at = Element(share.party.into());
                let value = polynomial.iter().rev().fold(Element::ZERO, |value, &c| value * at + c);
                share.values.push(value);
            }
        }
        Ok(shares)
    }

    /// Returns the secrets that some shares determine, in constant time. Shares beyond the
    /// threshold are compared with the others.
    ///
    /// # Errors
    /// [`CipherError::Shares`] for too few parties, a party twice, or one that does not exist;
    /// [`CipherError::Length`] for shares of different lengths; [`CipherError::Inconsistent`] for a
    /// share that does not fit the others.
    pub fn reconstruct(self, shares: &[Share]) -> Result<Vec<Element>, CipherError> {
        let mut parties: Vec<u32> = shares.iter().map(|share| share.party).collect();
        parties.retain(|&party| (1..=self.parties).contains(&party));
        parties.sort_unstable();
        parties.dedup();
        let threshold = self.threshold as usize;
        if parties.len() != shares.len() || shares.len() < threshold {
            let expected = threshold.max(shares.len());
            return Err(CipherError::Shares { expected, found: parties.len() });
        }
        let expected = shares[0].values.len();
        if let Some(other) = shares.iter().find(|share| share.values.len() != expected) {
            return Err(CipherError::Length { expected, found: other.values.len() });
        }
        let (used, rest) = shares.split_at(threshold);
        for share in rest {
            let predicted = interpolate(used, share.party);
            let pairs = predicted.iter().zip(share.values.iter());
            let equal = pairs.fold(Choice::TRUE, |equal, (a, b)| equal & a.ct_eq(b));
            if !equal.to_bool() {
                return Err(CipherError::Inconsistent { party: share.party });
            }
        }
        Ok(interpolate(used, 0).to_vec())
    }
}

/// Returns the values at a point of the polynomials through some shares (Lagrange).
fn interpolate(shares: &[Share], at: u32) -> Zeroizing<Vec<Element>> {
    let at = Element(at.into());
    let mut values = Zeroizing::new(vec![Element::ZERO; shares[0].values.len()]);
    for share in shares {
        let own = Element(share.party.into());
        let mut factor = Element::ONE;
        for other in shares.iter().filter(|other| other.party != share.party) {
            let other = Element(other.party.into());
            factor = factor * (at - other) * (own - other).inverse();
        }
        for (value, &part) in values.iter_mut().zip(share.values.iter()) {
            *value = *value + part * factor;
        }
    }
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    #[test]
    fn elements_are_those_of_the_field() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        let mut draw = || match random.u8(..6) {
            0 => 0,
            1 => PRIME - 1,
            2 => 1,
            _ => random.u128(..PRIME),
        };
        let big = |value: u128| BigUint::from(value);
        for _ in 0..20_000 {
            let (a, b) = (draw(), draw());
            let (x, y) = (Element(a), Element(b));
            assert_eq!(big((x + y).0), (big(a) + big(b)) % PRIME);
            assert_eq!(big((x * y).0), big(a) * big(b) % PRIME, "{a} {b}");
            assert_eq!((x - y + y).0, a);
        }
        for value in [0, 1, -1, i64::MAX, i64::MIN] {
            assert_eq!(Element::from(value).to_integer(), i128::from(value));
            let element = Element::from(value);
            assert_eq!((element * element.inverse()).0, u128::from(value != 0));
        }
        assert!(Element::from_bytes(PRIME.to_le_bytes()).is_err());
    }
}
