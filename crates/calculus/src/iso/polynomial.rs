//! Integer polynomials in several variables: exact division and greatest common divisors.
//!
//! Takes polynomials by their exponents and coefficients; gives quotients and common divisors, so
//! that [`super::size_form`] can write the bases of powers over a basis without common factors.
//!
//! **Method.** The heuristic algorithm of B. Char, K. Geddes and G. Gonnet (*GCDHEU*, EUROSAM
//! 1984): one variable after the other is replaced by a large integer, the integers' divisor is
//! reconstructed in that radix, and a candidate is accepted only if it divides both polynomials. So
//! a divisor that is returned is a common divisor for certain. That it is the greatest one follows
//! from the size of the radix; no soundness argument depends on it.
//!
//! Cost: bounded by [`MAX_BITS`] for the integers and [`MAX_STEPS`] for divisions; `None` beyond.

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, Signed, Zero};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

/// Bits of the integers that polynomials are evaluated to, at most.
const MAX_BITS: u64 = 1 << 17;
/// Terms subtracted in one division, at most.
const MAX_STEPS: usize = 20_000;
/// Radices tried for one variable.
const MAX_TRIALS: usize = 6;

/// A polynomial: coefficients by exponents, one exponent for each variable; no coefficient is 0.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Polynomial {
    /// Coefficients by the exponents of the variables.
    pub terms: BTreeMap<Vec<u32>, BigInt>,
}

impl Polynomial {
    /// Adds a term.
    fn insert(&mut self, exponents: Vec<u32>, coefficient: BigInt) {
        if coefficient.is_zero() {
            return;
        }
        match self.terms.entry(exponents) {
            Entry::Vacant(free) => {
                free.insert(coefficient);
            }
            Entry::Occupied(mut known) => {
                *known.get_mut() += coefficient;
                if known.get().is_zero() {
                    known.remove();
                }
            }
        }
    }

    /// Returns true if no variable occurs.
    pub fn is_constant(&self) -> bool {
        self.terms.keys().all(|exponents| exponents.iter().all(|e| *e == 0))
    }

    /// Returns the greatest common divisor of the coefficients.
    fn content(&self) -> BigInt {
        self.terms.values().fold(BigInt::zero(), |gcd, n| gcd.gcd(n))
    }

    /// Returns the primitive part: the polynomial divided by its integer content, with a positive
    /// leading coefficient.
    pub fn primitive(mut self) -> Polynomial {
        let Some((_, leading)) = self.terms.last_key_value() else { return self };
        let mut content = self.content();
        if leading.is_negative() {
            content = -content;
        }
        if !content.is_one() {
            self.terms.values_mut().for_each(|n| *n = &*n / &content);
        }
        self
    }

    /// Returns the quotient, if `divisor` divides the polynomial within the bounds.
    pub fn divide(&self, divisor: &Polynomial) -> Option<Polynomial> {
        let (lead, lead_coefficient) = divisor.terms.last_key_value()?;
        let mut rest = self.terms.clone();
        let mut quotient = Polynomial::default();
        let mut steps = 0;
        while let Some((top, coefficient)) = rest.last_key_value() {
            steps += divisor.terms.len();
            if steps > MAX_STEPS {
                return None;
            }
            let shift: Option<Vec<u32>> = top.iter().zip(lead).map(|(a, b)| a.checked_sub(*b)).collect();
            let (shift, (factor, remainder)) = (shift?, coefficient.div_rem(lead_coefficient));
            if !remainder.is_zero() {
                return None;
            }
            for (exponents, n) in &divisor.terms {
                let at: Vec<u32> = exponents.iter().zip(&shift).map(|(a, b)| a + b).collect();
                let sum = rest.entry(at.clone()).or_default();
                *sum -= &factor * n;
                if sum.is_zero() {
                    rest.remove(&at);
                }
            }
            quotient.insert(shift, factor);
        }
        Some(quotient)
    }

    /// Returns a primitive common divisor of two polynomials other than 0.
    pub fn common_divisor(&self, other: &Polynomial) -> Option<Polynomial> {
        let variables = self.terms.first_key_value()?.0.len();
        let found = evaluated_divisor(self.clone(), other.clone(), variables)?;
        Some(found.primitive())
    }

    /// Estimates the bits of the integers that two polynomials are evaluated to in
    /// [`Self::common_divisor`].
    pub fn evaluation_bits(&self, other: &Polynomial) -> u64 {
        let variables = self.terms.first_key_value().map_or(0, |(exponents, _)| exponents.len());
        let degree = |at: usize| {
            let exponents = self.terms.keys().chain(other.terms.keys()).map(|exponents| exponents[at]);
            u64::from(exponents.max().unwrap_or(0))
        };
        let number = self.norm().min(other.norm()).bits() + 6;
        (0..variables).fold(number, |bits, at| bits.saturating_mul(degree(at) + 1))
    }

    /// Returns the largest absolute value of a coefficient.
    fn norm(&self) -> BigInt {
        self.terms.values().map(Signed::abs).max().unwrap_or_default()
    }

    /// Returns the polynomial with a variable replaced by a number; `None` beyond [`MAX_BITS`].
    fn evaluate(&self, variable: usize, at: &BigInt) -> Option<Polynomial> {
        let mut value = Polynomial::default();
        for (exponents, n) in &self.terms {
            let exponent = exponents[variable];
            if at.bits() * u64::from(exponent) + n.bits() > MAX_BITS {
                return None;
            }
            let mut rest = exponents.clone();
            rest[variable] = 0;
            value.insert(rest, n * at.pow(exponent));
        }
        Some(value)
    }

    /// Returns the polynomial in one variable more whose value at `at` is `self`, with coefficients
    /// between `-at/2` and `at/2`.
    fn reconstruct(&self, variable: usize, at: &BigInt) -> Polynomial {
        let mut polynomial = Polynomial::default();
        let mut rest = self.terms.clone();
        let half = at / 2;
        let mut exponent = 0;
        while !rest.is_empty() {
            let mut next = BTreeMap::new();
            for (exponents, n) in rest {
                let mut digit = n.mod_floor(at);
                if digit > half {
                    digit -= at;
                }
                let carry = (n - &digit) / at;
                let mut whole = exponents.clone();
                whole[variable] = exponent;
                polynomial.insert(whole, digit);
                if !carry.is_zero() {
                    next.insert(exponents, carry);
                }
            }
            rest = next;
            exponent += 1;
        }
        polynomial
    }
}

/// Returns a common divisor of polynomials in the first `variables` variables.
fn evaluated_divisor(a: Polynomial, b: Polynomial, variables: usize) -> Option<Polynomial> {
    let used = |p: &Polynomial, at: usize| p.terms.keys().any(|exponents| exponents[at] > 0);
    let Some(variable) = (0..variables).rev().find(|&at| used(&a, at) || used(&b, at)) else {
        let content = a.content().gcd(&b.content());
        let zero = vec![0; a.terms.first_key_value()?.0.len()];
        return Some(Polynomial { terms: BTreeMap::from([(zero, content)]) });
    };
    let content = a.content().gcd(&b.content());
    let reduce = |mut p: Polynomial| {
        p.terms.values_mut().for_each(|n| *n = &*n / &content);
        p
    };
    let (a, b) = (reduce(a), reduce(b));
    let mut at: BigInt = a.norm().min(b.norm()) * 2 + 29;
    for _ in 0..MAX_TRIALS {
        let (left, right) = (a.evaluate(variable, &at)?, b.evaluate(variable, &at)?);
        if !left.terms.is_empty() && !right.terms.is_empty() {
            let candidate = evaluated_divisor(left, right, variable)?.reconstruct(variable, &at).primitive();
            if a.divide(&candidate).is_some() && b.divide(&candidate).is_some() {
                let mut found = candidate;
                found.terms.values_mut().for_each(|n| *n *= &content);
                return Some(found);
            }
        }
        at = &at * 73_794 * at.sqrt().sqrt() / 27_011;
    }
    None
}
