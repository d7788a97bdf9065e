//! Numbers modulo q by their residues modulo each qᵢ, as floats: for the measurement of noise.

use zeroize::Zeroizing;

/// The magnitudes of numbers that are given by their residues modulo the qᵢ.
pub(super) struct Magnitudes {
    moduli: &'static [u64],
    /// The inverse of each modulus modulo each later one.
    inverses: Vec<Vec<u64>>,
}

fn multiply(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

impl Magnitudes {
    pub(super) fn new(moduli: &'static [u64]) -> Magnitudes {
        // By Fermat's theorem.
        let inverse = |value: u64, modulus: u64| {
            let bits = (0..64).rev().map(|bit| (modulus - 2) >> bit & 1);
            bits.fold(1, |power, bit| {
                let square = multiply(power, power, modulus);
                if bit == 1 { multiply(square, value % modulus, modulus) } else { square }
            })
        };
        let inverses = moduli.iter().map(|&modulus| moduli.iter().map(|&m| inverse(m, modulus)).collect());
        Magnitudes { moduli, inverses: inverses.collect() }
    }

    /// Returns the number with these residues as a float, by its digits in the mixed radix of the
    /// moduli.
    fn size(&self, residues: &[u64]) -> f64 {
        let mut digits = Zeroizing::new(residues.to_vec());
        for (at, &modulus) in self.moduli.iter().enumerate() {
            for below in 0..at {
                let difference = (digits[at] + modulus - digits[below] % modulus) % modulus;
                digits[at] = multiply(difference, self.inverses[at][below], modulus);
            }
        }
        let places = digits.iter().zip(self.moduli).rev();
        places.fold(0.0, |sum, (&digit, &modulus)| sum * modulus as f64 + digit as f64)
    }

    /// Returns the magnitude of the number nearest to zero that is `factor` times these residues. A
    /// float is exact in its leading bits for a number near zero, so one near q is taken by its
    /// negative.
    pub(super) fn centered(&self, residues: &[u64], factor: u64) -> f64 {
        let pairs = residues.iter().zip(self.moduli);
        let scaled: Vec<u64> = pairs.map(|(&r, &modulus)| multiply(r, factor, modulus)).collect();
        let pairs = scaled.iter().zip(self.moduli);
        let negated: Vec<u64> = pairs.map(|(&r, &modulus)| (modulus - r) % modulus).collect();
        self.size(&scaled).min(self.size(&negated))
    }
}
