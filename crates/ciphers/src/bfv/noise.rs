//! Bounds of the noise; the derivation is in the head of the module above.
//!
//! The arithmetic is that of floats: relative errors of 2⁻⁵² a step are covered by the factor
//! [`SLACK`] at the limit, for up to 2²⁰ steps.

use super::Parameters;
use super::context::VARIANCE;
use crate::CipherError;

/// A bound of the canonical norm of the noise of a ciphertext, at least 1.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Noise(f64);

/// The part of the limit that is usable.
const SLACK: f64 = 1.0 - 1.0 / (1 << 20) as f64;

/// Bounds of random polynomials, in multiples of the square root of N·variance: those that key
/// generation chooses, and those that hold but for a probability of 2⁻⁸⁸.
const CHOSEN: f64 = 4.0;
const TAIL: f64 = 12.0;

/// The constants of some parameters.
#[derive(Clone, Copy, Debug)]
pub(super) struct NoiseModel {
    /// N.
    degree: f64,
    /// The largest t.
    prime: f64,
    /// q.
    modulus: f64,
    /// The sum of the moduli.
    moduli: f64,
}

impl NoiseModel {
    pub(super) fn new(parameters: Parameters) -> NoiseModel {
        let moduli = parameters.moduli().iter().map(|&modulus| modulus as f64);
        let prime = parameters.primes().iter().max().expect("a prime");
        NoiseModel {
            degree: parameters.degree() as f64,
            prime: *prime as f64,
            modulus: moduli.clone().product(),
            moduli: moduli.sum(),
        }
    }

    /// S: what the canonical norms of the secret and of the error of the public key are at most.
    pub(super) fn chosen(&self) -> f64 {
        CHOSEN * (self.degree * VARIANCE as f64).sqrt()
    }

    /// D.
    fn tail(&self) -> f64 {
        TAIL * (self.degree * VARIANCE as f64).sqrt()
    }

    /// Returns the largest noise that decrypts rightly.
    pub(super) fn limit(&self) -> f64 {
        SLACK * self.modulus / (2.0 * self.prime)
    }

    /// Returns the base 2 logarithm of the limit.
    pub(super) fn limit_bits(&self) -> f64 {
        self.limit().log2()
    }

    /// Returns a bound if it is below the limit.
    pub(super) fn check(&self, noise: f64) -> Result<Noise, CipherError> {
        if noise < self.limit() {
            return Ok(Noise(noise.max(1.0)));
        }
        let millibits = |noise: f64| (noise.log2() * 1000.0).ceil() as u64;
        Err(CipherError::NoiseExhausted { millibits: millibits(noise), limit: millibits(self.limit()) })
    }

    pub(super) fn encryption(&self) -> f64 {
        self.tail() * (2.0 * self.chosen().powi(2) + 1.0).sqrt() + self.degree
    }

    pub(super) fn sum(&self, a: Noise, b: Noise) -> f64 {
        a.0 + b.0
    }

    pub(super) fn plain_sum(&self, a: Noise) -> f64 {
        a.0 + self.degree
    }

    pub(super) fn plain_product(&self, a: Noise) -> f64 {
        a.0 * self.degree * self.prime
    }

    pub(super) fn scaled(&self, a: Noise, factor: u128) -> f64 {
        a.0 * (factor as f64).min(self.prime)
    }

    /// Returns the bound of a product that is relinearized.
    pub(super) fn product(&self, a: Noise, b: Noise) -> f64 {
        let s = self.chosen();
        let half = self.degree / 2.0;
        let mixed = self.prime * half * (1.0 + s) * (a.0 + b.0);
        let both = self.prime / self.modulus * a.0 * b.0;
        self.switched(mixed + both + half * (1.0 + s + s * s))
    }

    /// Returns the bound after a key switch.
    pub(super) fn switched(&self, noise: f64) -> f64 {
        noise + self.degree * self.tail() * self.moduli
    }

    /// Returns the exponent of B, and the bound after flooding.
    pub(super) fn flooded(&self, a: Noise, bits: u32) -> (u32, f64) {
        let exponent = (a.0 * self.degree).log2() + f64::from(bits);
        // The limit is below 2^500, so an exponent above it is refused by the bound.
        let exponent = exponent.ceil().clamp(0.0, 1000.0) as u32;
        let flood = TAIL * self.degree.sqrt() * 2f64.powi(exponent as i32);
        (exponent, a.0 + self.encryption() + flood)
    }
}

impl Noise {
    /// Returns the bound as a number.
    pub(super) fn value(self) -> f64 {
        self.0
    }

    /// Returns the base 2 logarithm of the bound.
    pub(super) fn bits(self) -> f64 {
        self.0.log2()
    }
}

/// Returns the canonical norm of a polynomial with small integer coefficients, rounded up: the
/// largest magnitude of its values at the roots of Xᴺ + 1, by a fast Fourier transform of its
/// coefficients times powers of the first root.
pub(super) fn canonical_norm(coefficients: &[i64]) -> f64 {
    let n = coefficients.len();
    let root = |k: usize, order: usize| {
        let angle = 2.0 * std::f64::consts::PI * k as f64 / order as f64;
        (angle.cos(), angle.sin())
    };
    let bits = n.trailing_zeros();
    let mut values = zeroize::Zeroizing::new(vec![(0.0, 0.0); n]);
    for (at, &coefficient) in coefficients.iter().enumerate() {
        let (re, im) = root(at, 2 * n);
        values[at.reverse_bits() >> (usize::BITS - bits)] =
            (coefficient as f64 * re, coefficient as f64 * im);
    }
    let mut half = 1;
    while half < n {
        let twiddles: Vec<(f64, f64)> = (0..half).map(|k| root(k, 2 * half)).collect();
        for block in values.chunks_mut(2 * half) {
            let (low, high) = block.split_at_mut(half);
            for ((a, b), (re, im)) in low.iter_mut().zip(high).zip(&twiddles) {
                let turned = (b.0 * re - b.1 * im, b.0 * im + b.1 * re);
                (*a, *b) = ((a.0 + turned.0, a.1 + turned.1), (a.0 - turned.0, a.1 - turned.1));
            }
        }
        half *= 2;
    }
    let largest = values.iter().map(|(re, im)| re.hypot(*im)).fold(0.0, f64::max);
    // Errors of the transform are below 1e-10 for coefficients up to 20.
    largest + 1e-6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_norm_is_that_of_the_definition() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for n in [2, 8, 64] {
            let coefficients: Vec<i64> = (0..n).map(|_| random.i64(-20..=20)).collect();
            let mut largest = 0.0f64;
            for j in 0..n {
                let angle = std::f64::consts::PI * (2 * j + 1) as f64 / n as f64;
                let term = |part: fn(f64) -> f64| -> f64 {
                    coefficients.iter().enumerate().map(|(k, &c)| c as f64 * part(angle * k as f64)).sum()
                };
                largest = largest.max(term(f64::cos).hypot(term(f64::sin)));
            }
            assert!((canonical_norm(&coefficients) - largest).abs() < 1e-5, "{n}");
        }
    }

    #[test]
    fn the_table_of_products_is_right() {
        for (degree, products) in [(4096, 1), (8192, 4), (16384, 9)] {
            let model = NoiseModel::new(Parameters::new(degree, 1).expect("parameters"));
            let mut noise = model.check(model.encryption()).expect("room");
            let mut count = 0;
            while let Ok(next) = model.check(model.product(noise, noise)) {
                (noise, count) = (next, count + 1);
            }
            assert_eq!(count, products, "{degree}: {}", noise.bits());
        }
    }
}
