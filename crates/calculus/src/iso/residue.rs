//! Exact modular arithmetic on numbers too large to represent, through chains of residues.
//!
//! Takes naturals built with `+`, `·` and `^`; gives each one's residue modulo a prime `p`, modulo
//! `φ(p)`, modulo `φ(φ(p))` and so on, and its value if that is small. Euler's theorem, in the form
//! that needs no coprimality (`a^e = a^(e mod φ(m) + φ(m)) mod m` for `e ≥ log2 m`), gives every
//! level of a power from the next level of its exponent, so that a tower such as `2^(2^100)` costs
//! a few hundred multiplications. A power is known at one level fewer than its exponent: [`Ring`]
//! is made with as many levels as exponents are nested.
//!
//! **Halves.** The pairs of n things are `n(n - 1)/2`, and no residue modulo an even number can be
//! halved: of `x mod 2m` only `x/2 mod m` is known. So a ring may carry *spare* bits: residues
//! modulo `2^s·m` for each modulus m of the chain, of which each halving uses up one. The chain
//! stays one: `φ(2^s·m)` divides `2^s·φ(m)`, and a multiple of `φ` satisfies the theorem as well.
//! Below the last modulus, 1, all moduli are `2^s`, and `φ(2^s)` divides `2^s`.
//!
//! Equal residues are evidence (error about 2^-60 for each prime, for numbers not constructed to
//! collide), no proof; different residues prove that the numbers differ.

use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// Chains `p, φ(p), φ(φ(p)), …, 1`. Each `p` heads five primes with `p = 2q + 1`, so that the
/// first exponents down are known modulo twice a large prime and not modulo a smooth number.
#[rustfmt::skip]
const CHAINS: [&[u64]; 3] = [
    &[
        1706833418713706399, 1706833418713706398, 853416709356853198, 426708354678426598,
        213354177339213298, 106677088669606648, 53338544334803320, 21335417733921312, 6095833638263040,
        1393333403025408, 428717969768448, 139043637559296, 43051678433280, 10436770529280, 2783138807808,
        927712935936, 309237645312, 103079215104, 34359738368, 17179869184, 8589934592, 4294967296,
        2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608,
        4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512,
        256, 128, 64, 32, 16, 8, 4, 2, 1,
    ],
    &[
        1708672965160777439, 1708672965160777438, 854336482580388718, 427168241290194358,
        213584120645097178, 106792060322548588, 47069569187665920, 9894425379471360, 2071177111535616,
        591764889010176, 169075682574336, 56358560858112, 18786186952704, 6262062317568, 2087354105856,
        695784701952, 231928233984, 77309411328, 25769803776, 8589934592, 4294967296, 2147483648,
        1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216, 8388608, 4194304,
        2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048, 1024, 512, 256,
        128, 64, 32, 16, 8, 4, 2, 1,
    ],
    &[
        1573408156039026719, 1573408156039026718, 786704078019513358, 393352039009756678,
        196676019504878338, 98338009752439168, 48458181334118400, 11928167597998080, 2630066173378560,
        601157982486528, 200385994162176, 66795331387392, 22265110462464, 7421703487488, 2473901162496,
        824633720832, 274877906944, 137438953472, 68719476736, 34359738368, 17179869184, 8589934592,
        4294967296, 2147483648, 1073741824, 536870912, 268435456, 134217728, 67108864, 33554432, 16777216,
        8388608, 4194304, 2097152, 1048576, 524288, 262144, 131072, 65536, 32768, 16384, 8192, 4096, 2048,
        1024, 512, 256, 128, 64, 32, 16, 8, 4, 2, 1,
    ],
];

/// Values below this are known exactly. More than the bits of any modulus.
pub const EXACT_BELOW: u8 = 128;

/// Residues modulo one chain of moduli.
#[derive(Clone, Copy)]
pub struct Ring {
    /// The chain, from the prime down.
    moduli: &'static [u64],
    /// The number of spare bits.
    spare: u32,
}

/// A natural number as its residues, first modulo the prime; and its value if that is small.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// The value, or [`EXACT_BELOW`] for that and more.
    pub low: u8,
    /// Modulo the first moduli of the ring, each times `2^spare`.
    pub residues: Vec<u64>,
    /// The number of further halvings possible.
    pub spare_bits: u32,
}

impl Number {
    /// Returns true if the number is 0.
    pub fn is_zero(&self) -> bool {
        self.low == 0
    }

    /// Returns true if the number is 1.
    pub fn is_one(&self) -> bool {
        self.low == 1
    }
}

impl Ring {
    /// The number of rings.
    pub const COUNT: usize = CHAINS.len();

    /// Spare bits of a ring, at most, such that its moduli fit a word.
    pub const MAX_SPARE_BITS: u32 = 3;

    /// Returns ring `which`, for exponents nested at most `levels` deep.
    pub fn new(which: usize, levels: usize) -> Ring {
        let chain = CHAINS[which % CHAINS.len()];
        Ring { moduli: &chain[..levels.clamp(2, chain.len())], spare: 0 }
    }

    /// Returns the ring with spare bits for `halvings` nested halvings, at most
    /// [`Ring::MAX_SPARE_BITS`].
    pub fn with_spare(self, halvings: u32) -> Ring {
        Ring { spare: halvings.min(Ring::MAX_SPARE_BITS), ..self }
    }

    /// Returns the prime, the first modulus.
    pub fn prime(self) -> u64 {
        self.moduli[0]
    }

    /// Returns the residues of a number that fits a word.
    pub fn of_u64(self, n: u64) -> Number {
        Number {
            low: n.min(u64::from(EXACT_BELOW)) as u8,
            residues: self.moduli.iter().map(|m| n % (m << self.spare)).collect(),
            spare_bits: self.spare,
        }
    }

    /// Returns the residues of a number.
    pub fn of_biguint(self, n: &BigUint) -> Number {
        match n.to_u64() {
            Some(n) => self.of_u64(n),
            None => Number {
                low: EXACT_BELOW,
                residues: self
                    .moduli
                    .iter()
                    .map(|m| (n % (m << self.spare)).to_u64().expect("a residue fits a word"))
                    .collect(),
                spare_bits: self.spare,
            },
        }
    }

    /// Returns `a + b`.
    pub fn add(self, a: &Number, b: &Number) -> Number {
        Number {
            low: a.low.saturating_add(b.low).min(EXACT_BELOW),
            residues: self.zip(a, b, |x, y, m| ((u128::from(x) + u128::from(y)) % u128::from(m)) as u64),
            spare_bits: a.spare_bits.min(b.spare_bits),
        }
    }

    /// Returns `a · b`.
    pub fn mul(self, a: &Number, b: &Number) -> Number {
        Number {
            low: (u16::from(a.low) * u16::from(b.low)).min(u16::from(EXACT_BELOW)) as u8,
            residues: self.zip(a, b, multiply),
            spare_bits: a.spare_bits.min(b.spare_bits),
        }
    }

    /// Returns `n(n - 1)/2`; `None` where no spare bit is left.
    pub fn pairs(self, n: &Number) -> Option<Number> {
        if n.low < EXACT_BELOW {
            return Some(self.of_u64(u64::from(n.low) * u64::from(n.low).saturating_sub(1) / 2));
        }
        let spare = n.spare_bits.checked_sub(1)?;
        let halves = n.residues.iter().zip(self.moduli).map(|(&x, m)| {
            let m = m << n.spare_bits;
            // The residue of an even number modulo an even number is even.
            multiply(x, if x == 0 { m - 1 } else { x - 1 }, m) / 2
        });
        Some(Number { low: EXACT_BELOW, residues: halves.collect(), spare_bits: spare })
    }

    /// Returns the number without its spare bits.
    pub fn without_spare_bits(self, n: &Number) -> Number {
        if n.spare_bits == 0 {
            return n.clone();
        }
        let residues = n.residues.iter().zip(self.moduli).map(|(x, m)| x % m).collect();
        Number { low: n.low, residues, spare_bits: 0 }
    }

    /// Returns `a ^ e`, with `0 ^ 0 = 1`.
    pub fn pow(self, a: &Number, e: &Number) -> Number {
        let mut low: u16 = 1;
        for _ in 0..e.low {
            low = (low * u16::from(a.low)).min(u16::from(EXACT_BELOW));
            if low == u16::from(a.low) && a.low <= 1 {
                break;
            }
        }
        let spare = a.spare_bits.min(e.spare_bits);
        let mut residues = Vec::with_capacity(a.residues.len());
        for (level, (&base, &modulus)) in a.residues.iter().zip(self.moduli).enumerate() {
            let exponent = if e.low < EXACT_BELOW {
                u128::from(e.low)
            } else {
                let below = if modulus == 1 { level } else { level + 1 };
                match e.residues.get(below) {
                    // A multiple of `φ(m)`, added once, makes the exponent large enough for the
                    // theorem.
                    Some(&rest) => {
                        let period = self.moduli[below] << spare;
                        u128::from(rest % period) + u128::from(period)
                    }
                    None => break,
                }
            };
            residues.push(power(base, exponent, modulus << spare));
        }
        Number { low: low as u8, residues, spare_bits: spare }
    }

    /// Applies an operation to the residues of two numbers, modulus by modulus.
    fn zip(self, a: &Number, b: &Number, f: impl Fn(u64, u64, u64) -> u64) -> Vec<u64> {
        let spare = a.spare_bits.min(b.spare_bits);
        let pairs = a.residues.iter().zip(&b.residues).zip(self.moduli);
        pairs.map(|((&x, &y), &m)| f(x, y, m << spare)).collect()
    }
}

/// Returns `a · b mod m`.
pub fn multiply(a: u64, b: u64, m: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(m)) as u64
}

/// Returns `a ^ e mod m`.
pub fn power(a: u64, mut e: u128, m: u64) -> u64 {
    let (mut square, mut result) = (a % m, 1 % m);
    while e > 0 {
        if e & 1 == 1 {
            result = multiply(result, square, m);
        }
        square = multiply(square, square, m);
        e >>= 1;
    }
    result
}

/// Returns `1 / a mod p`, for a prime `p` and `a` other than 0 (Fermat).
pub fn inverse(a: u64, p: u64) -> u64 {
    power(a, u128::from(p - 2), p)
}

/// Returns a pseudorandom number determined by `words` (the finalizer of SplitMix64; G. Steele, D.
/// Lea and C. Flood 2014).
pub fn pseudorandom(words: &[u64]) -> u64 {
    words.iter().fold(0x243f_6a88_85a3_08d3, |state, word| {
        let mut z = (state ^ word).wrapping_add(0x9e37_79b9_7f4a_7c15);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The residues of towers agree with the towers themselves where those can be written down.
    #[test]
    fn powers_agree_with_exact_arithmetic() {
        for which in 0..Ring::COUNT {
            let ring = Ring::new(which, 6);
            for base in [0u32, 1, 2, 3, 6, 10, 97, 1 << 20] {
                for exponent in [0u32, 1, 2, 61, 62, 127, 128, 200, 1000] {
                    let exact = BigUint::from(base).pow(exponent);
                    let ours = ring.pow(&ring.of_u64(base.into()), &ring.of_u64(exponent.into()));
                    let expected = ring.of_biguint(&exact);
                    assert_eq!(ours.low, expected.low, "{base}^{exponent}");
                    assert_eq!(
                        ours.residues[..],
                        expected.residues[..ours.residues.len()],
                        "{base}^{exponent}"
                    );
                }
            }
            let two = ring.of_u64(2);
            let tower = ring.pow(&two, &ring.pow(&two, &ring.of_u64(12)));
            assert_eq!(tower.residues[0], ring.of_biguint(&(BigUint::from(1u32) << 4096)).residues[0]);
        }
    }

    /// Halves, and powers by halves, agree with the numbers themselves.
    #[test]
    fn pairs_agree_with_exact_arithmetic() {
        let count = |n: &BigUint| if *n == BigUint::ZERO { n.clone() } else { (n * (n - 1u32)) >> 1 };
        for which in 0..Ring::COUNT {
            for n in [0u64, 1, 2, 15, 16, 17, 127, 128, 1 << 20, (1 << 20) + 1, u64::MAX, u64::MAX - 1] {
                let ring = Ring::new(which, 6).with_spare(3);
                let (mut exact, mut ours) = (BigUint::from(n), ring.of_u64(n));
                for halving in 1..=3 {
                    exact = count(&exact);
                    ours = ring.pairs(&ours).expect("a spare bit");
                    let expected = Ring::new(which, 6).of_biguint(&exact);
                    assert_eq!(ring.without_spare_bits(&ours), expected, "{halving} halvings of {n}");
                }
            }
            // 3^(n(n-1)/2), pairs of a power, and a tower that runs out of levels.
            let ring = Ring::new(which, 60).with_spare(2);
            let pairs = ring.pairs(&ring.of_u64(300)).expect("a spare bit");
            let exact = BigUint::from(3u32).pow(300 * 299 / 2);
            let power = ring.pow(&ring.of_u64(3), &pairs);
            assert_eq!(
                ring.without_spare_bits(&power).residues[..40],
                Ring::new(which, 60).of_biguint(&exact).residues[..40]
            );
            let again = ring.pairs(&power).expect("another");
            assert_eq!(
                ring.without_spare_bits(&again).residues[0],
                Ring::new(which, 60).of_biguint(&count(&exact)).residues[0]
            );
            let mut tower = ring.of_u64(200);
            for _ in 0..100 {
                tower = ring.pow(&ring.of_u64(2), &tower);
            }
            assert!(!tower.residues.is_empty());
        }
    }

    /// Each modulus is the totient of the one above, as Euler's theorem needs.
    #[test]
    fn chains_descend_by_the_totient() {
        for chain in CHAINS {
            assert_eq!(chain.last(), Some(&1));
            for pair in chain.windows(2) {
                assert!(pair[1] < pair[0]);
                // `a^φ(m) = 1` for some `a` prime to `m`: a consequence, cheap to see.
                let a = (2..200).find(|a| num_integer::gcd(*a, pair[0]) == 1).unwrap_or(1);
                assert_eq!(power(a, pair[1].into(), pair[0]), 1 % pair[0]);
            }
        }
    }
}
