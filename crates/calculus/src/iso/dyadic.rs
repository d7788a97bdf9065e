//! Dyadic rationals, integers over powers of two: the coefficients of exact sizes.
//!
//! Takes big integers and the operations of a ring; gives numbers in lowest terms, so that equal
//! numbers are equal values. The pairs `n(n - 1)/2` of `n` things are the only source of
//! denominators. Arithmetic never rounds.

use num_bigint::{BigInt, BigUint, Sign};
use num_traits::{One, Signed, Zero};
use std::cmp::Ordering;
use std::ops::{Add, Mul, Neg, Sub};

/// The number `numerator / 2^halvings`, in lowest terms: the numerator is odd, or `halvings` is 0.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Dyadic {
    /// The numerator.
    numerator: BigInt,
    /// The exponent of two in the denominator.
    halvings: u64,
}

impl Dyadic {
    /// Returns `numerator / 2^halvings` in lowest terms.
    pub fn new(numerator: BigInt, halvings: u64) -> Dyadic {
        let shift = numerator.trailing_zeros().map_or(halvings, |zeros| zeros.min(halvings));
        if shift == 0 {
            return Dyadic { numerator, halvings };
        }
        Dyadic { numerator: numerator >> shift, halvings: halvings - shift }
    }

    /// Returns the numerator over the denominator `2^halvings`, which must be a multiple of the
    /// number's own denominator.
    pub fn numerator_over(&self, halvings: u64) -> BigInt {
        &self.numerator << (halvings - self.halvings)
    }

    /// Returns the exponent of two in the denominator.
    pub fn denominator_exponent(&self) -> u64 {
        self.halvings
    }

    /// Returns the number divided by 2.
    pub fn half(&self) -> Dyadic {
        Dyadic::new(self.numerator.clone(), self.halvings + 1)
    }

    /// Returns the number as a natural number, if it is one.
    pub fn as_natural(&self) -> Option<&BigUint> {
        (self.halvings == 0 && self.numerator.sign() != Sign::Minus).then(|| self.numerator.magnitude())
    }

    /// Returns the bits of the numerator plus those of the denominator.
    pub fn bits(&self) -> u64 {
        self.numerator.bits() + self.halvings
    }

    /// Returns true if the number is below 0.
    pub fn is_negative(&self) -> bool {
        self.numerator.is_negative()
    }

    /// Returns both numerators over a common denominator, and its exponent of two.
    fn align(&self, other: &Dyadic) -> (BigInt, BigInt, u64) {
        let halvings = self.halvings.max(other.halvings);
        (self.numerator_over(halvings), other.numerator_over(halvings), halvings)
    }
}

impl From<BigUint> for Dyadic {
    fn from(n: BigUint) -> Dyadic {
        Dyadic { numerator: n.into(), halvings: 0 }
    }
}

impl From<BigInt> for Dyadic {
    fn from(n: BigInt) -> Dyadic {
        Dyadic { numerator: n, halvings: 0 }
    }
}

impl Zero for Dyadic {
    fn zero() -> Dyadic {
        Dyadic { numerator: BigInt::zero(), halvings: 0 }
    }

    fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }
}

impl One for Dyadic {
    fn one() -> Dyadic {
        Dyadic { numerator: BigInt::one(), halvings: 0 }
    }

    fn is_one(&self) -> bool {
        self.halvings == 0 && self.numerator.is_one()
    }
}

impl Add for Dyadic {
    type Output = Dyadic;

    fn add(self, other: Dyadic) -> Dyadic {
        if self.halvings == 0 && other.halvings == 0 {
            return Dyadic { numerator: self.numerator + other.numerator, halvings: 0 };
        }
        let (a, b, halvings) = self.align(&other);
        Dyadic::new(a + b, halvings)
    }
}

impl Sub for Dyadic {
    type Output = Dyadic;

    fn sub(self, other: Dyadic) -> Dyadic {
        self + -other
    }
}

impl Mul for Dyadic {
    type Output = Dyadic;

    fn mul(self, other: Dyadic) -> Dyadic {
        Dyadic::new(self.numerator * other.numerator, self.halvings + other.halvings)
    }
}

impl Mul for &Dyadic {
    type Output = Dyadic;

    fn mul(self, other: &Dyadic) -> Dyadic {
        Dyadic::new(&self.numerator * &other.numerator, self.halvings + other.halvings)
    }
}

impl Neg for Dyadic {
    type Output = Dyadic;

    fn neg(self) -> Dyadic {
        Dyadic { numerator: -self.numerator, halvings: self.halvings }
    }
}

impl PartialOrd for Dyadic {
    fn partial_cmp(&self, other: &Dyadic) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Dyadic {
    fn cmp(&self, other: &Dyadic) -> Ordering {
        if self.halvings == other.halvings {
            return self.numerator.cmp(&other.numerator);
        }
        let (a, b, _) = self.align(other);
        a.cmp(&b)
    }
}
