//! Bounds of magnitudes: computed from public operations, rounded up, never from values.

use std::cmp::Ordering;

/// An upper bound of `|x|` of the form `mantissa · 2^exponent`. Sums and products are rounded up;
/// they are exact below 2⁶⁴.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Magnitude {
    mantissa: u64,
    exponent: u32,
}

impl Magnitude {
    /// The bound of zero.
    pub const ZERO: Magnitude = Magnitude { mantissa: 0, exponent: 0 };

    /// The bound of a factor one.
    pub const ONE: Magnitude = Magnitude { mantissa: 1, exponent: 0 };

    /// Returns a bound of numbers up to `most` in magnitude.
    pub fn new(most: u128) -> Magnitude {
        Magnitude::rounded(most, 0)
    }

    /// Returns the bound 2^bits.
    pub fn power_of_two(bits: u32) -> Magnitude {
        Magnitude::rounded(1, bits)
    }

    /// Returns the least representable bound of `value · 2^exponent`, in its one canonical form:
    /// an exponent above 0 only if the mantissa has 64 bits.
    fn rounded(value: u128, exponent: u32) -> Magnitude {
        let width = 128 - value.leading_zeros();
        if value == 0 {
            return Magnitude::ZERO;
        }
        if width > 64 {
            let shift = width - 64;
            let mut mantissa = value >> shift;
            mantissa += u128::from(mantissa << shift != value);
            if mantissa >> 64 != 0 {
                return Magnitude { mantissa: 1 << 63, exponent: exponent.saturating_add(shift + 1) };
            }
            return Magnitude { mantissa: mantissa as u64, exponent: exponent.saturating_add(shift) };
        }
        let shift = exponent.min(64 - width);
        Magnitude { mantissa: (value as u64) << shift, exponent: exponent - shift }
    }

    /// Returns a bound of the sum.
    #[must_use]
    pub fn sum(self, other: Magnitude) -> Magnitude {
        let (high, low) = if self.exponent >= other.exponent { (self, other) } else { (other, self) };
        let distance = high.exponent - low.exponent;
        if low.mantissa == 0 {
            return high;
        }
        if distance > 63 {
            return Magnitude::rounded(u128::from(high.mantissa) + 1, high.exponent);
        }
        // Both mantissas at the lower exponent: less than 2^128, since the distance is below 64.
        let high_part = u128::from(high.mantissa) << distance;
        match high_part.checked_add(u128::from(low.mantissa)) {
            Some(sum) => Magnitude::rounded(sum, low.exponent),
            None => Magnitude::rounded(u128::from(high.mantissa) + 1, high.exponent),
        }
    }

    /// Returns a bound of the product.
    #[must_use]
    pub fn product(self, other: Magnitude) -> Magnitude {
        let product = u128::from(self.mantissa) * u128::from(other.mantissa);
        Magnitude::rounded(product, self.exponent.saturating_add(other.exponent))
    }

    /// Returns the base 2 logarithm, rounded up; 0 for bounds up to 1.
    pub fn bits(self) -> u32 {
        match self.mantissa {
            0 | 1 => self.exponent,
            mantissa => (64 - (mantissa - 1).leading_zeros()).saturating_add(self.exponent),
        }
    }

    /// Tells if a number is within the bound, in the same time for all numbers.
    pub fn contains(self, value: i128) -> bool {
        self.to_u128().is_none_or(|most| value.unsigned_abs() <= most)
    }

    /// Returns the bound as a number, if it is below 2¹²⁸.
    pub fn to_u128(self) -> Option<u128> {
        let mantissa = u128::from(self.mantissa);
        (self.exponent <= 64).then(|| mantissa << self.exponent)
    }

    /// Writes the bound in 12 bytes.
    pub(crate) fn to_bytes(self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..8].copy_from_slice(&self.mantissa.to_le_bytes());
        bytes[8..].copy_from_slice(&self.exponent.to_le_bytes());
        bytes
    }

    /// Reads a bound in its canonical form.
    pub(crate) fn from_bytes(bytes: [u8; 12]) -> Option<Magnitude> {
        let (mantissa, exponent) = bytes.split_at(8);
        let mantissa = u64::from_le_bytes(mantissa.try_into().ok()?);
        let exponent = u32::from_le_bytes(exponent.try_into().ok()?);
        let canonical = exponent == 0 || mantissa >> 63 == 1;
        canonical.then_some(Magnitude { mantissa, exponent })
    }
}

impl PartialOrd for Magnitude {
    fn partial_cmp(&self, other: &Magnitude) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Magnitude {
    fn cmp(&self, other: &Magnitude) -> Ordering {
        // The canonical form is ordered by exponent first.
        (self.exponent, self.mantissa).cmp(&(other.exponent, other.mantissa))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn exact(magnitude: Magnitude) -> BigUint {
        BigUint::from(magnitude.mantissa) << magnitude.exponent
    }

    fn random(random: &mut fastrand::Rng) -> Magnitude {
        let value = random.u128(..) >> random.u32(..128);
        Magnitude::rounded(value, if random.bool() { 0 } else { random.u32(..300) })
    }

    #[test]
    fn bounds_are_above_and_close() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut rng = fastrand::Rng::with_seed(seed);
        for _ in 0..20_000 {
            let (a, b) = (random(&mut rng), random(&mut rng));
            for (bound, value) in [(a.sum(b), exact(a) + exact(b)), (a.product(b), exact(a) * exact(b))] {
                assert!(exact(bound) >= value, "{a:?} {b:?}");
                assert!(exact(bound) <= &value + (&value >> 62u32), "{a:?} {b:?}");
                assert_eq!(bound, Magnitude::from_bytes(bound.to_bytes()).expect("canonical"));
                assert!(value <= BigUint::from(1u8) << bound.bits());
            }
            assert_eq!(a.cmp(&b), exact(a).cmp(&exact(b)), "{a:?} {b:?}");
        }
    }

    #[test]
    fn other_forms_are_refused() {
        let mut bytes = [0; 12];
        (bytes[0], bytes[8]) = (1, 1);
        assert_eq!(Magnitude::from_bytes(bytes), None);
        assert_eq!(Magnitude::new(7).to_u128(), Some(7));
        assert_eq!(Magnitude::power_of_two(500).to_u128(), None);
        assert_eq!(Magnitude::new(u128::MAX).bits(), 128);
        assert!(Magnitude::new(7).contains(-7) && !Magnitude::new(7).contains(-8));
        assert!(Magnitude::power_of_two(127).contains(i128::MIN));
        assert!(!Magnitude::power_of_two(126).contains(i128::MIN));
    }
}
