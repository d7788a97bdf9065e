//! Inverses modulo an odd number by Lehmer's algorithm (Lehmer 1938; Knuth, volume 2, 4.5.2,
//! algorithm L), in time that depends on the number: for numbers that are public or blinded.
//!
//! Euclid's algorithm on (n, y) keeps pairs x = u·y and x' = v·y modulo n, where u and v have
//! opposite signs. Its quotients are found from the 63 highest bits of the two numbers, as long as
//! those decide them; some thirty bits of quotients are then applied to the whole numbers at once.

use super::limbs::{difference, multiply_add};
use crypto_bigint::{BoxedUint, Odd};
use zeroize::Zeroizing;

/// The steps of Euclid's algorithm that the highest bits decide, as a matrix (a, b; c, d) of
/// magnitudes: x becomes a·x - b·y and y becomes d·y - c·x, or the negated of these after an odd
/// number of steps. All are below 2^63.
struct Steps {
    matrix: [u64; 4],
    odd: bool,
}

impl Steps {
    /// Returns the steps for numbers whose highest bits are `x >= y`, below 2^63.
    fn of(mut x: u64, mut y: u64) -> Steps {
        let [mut a, mut b, mut c, mut d] = [1u64, 0, 0, 1];
        let mut odd = false;
        loop {
            // The unknown bits below the highest ones move the numbers by less than one unit each:
            // x lies between x - b and x + a, y between y - c and y + d, or the other way around.
            let [below_x, above_x, below_y, above_y] = if odd { [a, b, d, c] } else { [b, a, c, d] };
            let low_y = y.saturating_sub(below_y);
            if low_y == 0 {
                break;
            }
            let quotient = x.saturating_sub(below_x) / (y + above_y);
            if quotient != (x + above_x) / low_y {
                break;
            }
            (a, b, c, d) = (c, d, a + quotient * c, b + quotient * d);
            (x, y) = (y, x - quotient * y);
            odd = !odd;
        }
        Steps { matrix: [a, b, c, d], odd }
    }
}

/// Returns the number of bits of a number in words.
fn bits(words: &[u64]) -> usize {
    let top = words.iter().rposition(|&word| word != 0);
    top.map_or(0, |top| 64 * (top + 1) - words[top].leading_zeros() as usize)
}

/// Returns the bits of a number from position `low` on, which are fewer than 64.
fn bits_from(words: &[u64], low: usize) -> u64 {
    let word = |at: usize| words.get(at).copied().unwrap_or(0);
    let (at, shift) = (low / 64, low % 64);
    let wide = u128::from(word(at)) | u128::from(word(at + 1)) << 64;
    (wide >> shift) as u64
}

/// Replaces x by a·x - b·y and y by d·y - c·x, which are not negative.
fn apply_to_rest(x: &mut [u64], y: &mut [u64], [a, b, c, d]: [u64; 4]) {
    let wide = |a: u64, b: u64| i128::from(a) * i128::from(b);
    let (mut carry_x, mut carry_y) = (0i128, 0i128);
    for (x, y) in x.iter_mut().zip(y) {
        let sum_x = wide(a, *x) - wide(b, *y) + carry_x;
        let sum_y = wide(d, *y) - wide(c, *x) + carry_y;
        (*x, carry_x) = (sum_x as u64, sum_x >> 64);
        (*y, carry_y) = (sum_y as u64, sum_y >> 64);
    }
}

/// Replaces u by a·u + b·v and v by c·u + d·v, which are at most n.
fn apply_to_factors(u: &mut [u64], v: &mut [u64], [a, b, c, d]: [u64; 4]) {
    let wide = |a: u64, b: u64| u128::from(a) * u128::from(b);
    let (mut carry_u, mut carry_v) = (0u128, 0u128);
    for (u, v) in u.iter_mut().zip(v) {
        let sum_u = wide(a, *u) + wide(b, *v) + carry_u;
        let sum_v = wide(c, *u) + wide(d, *v) + carry_v;
        (*u, carry_u) = (sum_u as u64, sum_u >> 64);
        (*v, carry_v) = (sum_v as u64, sum_v >> 64);
    }
}

/// Returns the inverse of a number below n modulo n, in as many words, or none if the two have a
/// common factor. Time depends on the number.
pub(super) fn inverse_vartime(number: &[u64], n: &Odd<BoxedUint>) -> Option<Zeroizing<Vec<u64>>> {
    let count = number.len();
    let own = |words: &[u64]| Zeroizing::new(words.to_vec());
    let modulus = own(&n.as_ref().to_words()[..count]);
    let (mut x, mut y) = (modulus.clone(), own(number));
    let (mut u, mut v) = (Zeroizing::new(vec![0; count]), Zeroizing::new(vec![0; count]));
    v[0] = 1;
    // The sign of v; u has the other one.
    let mut negative = false;
    loop {
        let (x_bits, y_bits) = (bits(&x), bits(&y));
        if y_bits == 0 {
            break;
        }
        let low = x_bits.saturating_sub(63);
        let words = x_bits.div_ceil(64);
        let steps = Steps::of(bits_from(&x, low), bits_from(&y, low));
        if steps.matrix[1] == 0 {
            // A quotient that is too large, or numbers whose highest bits are alike.
            let (quotient, rest) = divide(&x[..words], &y[..words]);
            for (at, &part) in quotient.iter().enumerate().take(count) {
                // The sum is at most n: nothing is carried out.
                multiply_add(&mut u[at..], &v[..count - at], part);
            }
            x[..words].copy_from_slice(&rest);
            std::mem::swap(&mut x, &mut y);
            std::mem::swap(&mut u, &mut v);
            negative = !negative;
            continue;
        }
        let [a, b, c, d] = steps.matrix;
        if steps.odd {
            // b·y - a·x and c·x - d·y.
            apply_to_rest(&mut y[..words], &mut x[..words], [b, a, d, c]);
            std::mem::swap(&mut x, &mut y);
            negative = !negative;
        } else {
            apply_to_rest(&mut x[..words], &mut y[..words], [a, b, c, d]);
        }
        apply_to_factors(&mut u, &mut v, [a, b, c, d]);
    }
    if bits(&x) != 1 {
        return None;
    }
    // u·y = ±1 modulo n, and u has the sign that v has not.
    if negative {
        return Some(u);
    }
    let mut result = Zeroizing::new(vec![0; count]);
    difference(&mut result, &modulus, &u);
    Some(result)
}

/// Returns the quotient and the rest, in as many words as x has.
fn divide(x: &[u64], y: &[u64]) -> (Zeroizing<Vec<u64>>, Zeroizing<Vec<u64>>) {
    if x.len() == 1 {
        return (Zeroizing::new(vec![x[0] / y[0]]), Zeroizing::new(vec![x[0] % y[0]]));
    }
    let precision = 64 * x.len() as u32;
    let number = |words: &[u64]| {
        Zeroizing::new(BoxedUint::from_words_with_precision(words.iter().copied(), precision))
    };
    let (x, y) = (number(x), number(y));
    let divisor = y.as_nz_vartime().expect("a divisor above zero");
    let (quotient, rest) = x.div_rem_vartime(divisor);
    let (quotient, rest) = (Zeroizing::new(quotient), Zeroizing::new(rest));
    let words = |number: &BoxedUint| Zeroizing::new(number.to_words()[..x.nlimbs()].to_vec());
    (words(&quotient), words(&rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn big(words: &[u64]) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64u32) + word)
    }

    fn check(number: &[u64], n: &[u64]) {
        let odd = BoxedUint::from_words_with_precision(n.iter().copied(), 64 * n.len() as u32);
        let odd = Odd::new(odd).into_option().expect("odd");
        let found = inverse_vartime(number, &odd).map(|inverse| big(&inverse));
        assert_eq!(found, big(number).modinv(&big(n)), "{number:?} modulo {n:?}");
    }

    #[test]
    fn agrees_with_integers() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..2000 {
            let count = [1, 2, 3, 8, 33][round % 5];
            // Runs of ones and zeros, and numbers that are far shorter than n, have long quotients.
            let mut words = || -> Vec<u64> {
                let word = |random: &mut fastrand::Rng| match random.u8(..6) {
                    0 | 1 => 0,
                    2 => u64::MAX,
                    3 => 1 << random.u8(..64),
                    _ => random.u64(..),
                };
                (0..count).map(|_| word(&mut random)).collect()
            };
            let (mut n, number) = (words(), words());
            n[0] |= 1;
            n[count - 1] |= 1 << 63;
            let number = big(&number) % big(&n);
            let mut number = number.to_u64_digits();
            number.resize(count, 0);
            check(&number, &n);
        }
    }

    #[test]
    fn smallest_and_largest_numbers() {
        for n in [[u64::MAX, u64::MAX], [1, 1 << 63], [u64::MAX, 1 << 63]] {
            for number in [[0, 0], [1, 0], [2, 0], [3, 0], [u64::MAX, 0], [0, 1], [n[0] - 1, n[1]]] {
                check(&number, &n);
            }
        }
    }

    /// Quotients that are all 1 have the longest sequences.
    #[test]
    fn numbers_of_fibonacci() {
        let (mut a, mut b) = (BigUint::from(1u8), BigUint::from(1u8));
        while b.bits() <= 2048 {
            (a, b) = (b.clone(), a + b);
            if b.bits().is_multiple_of(64) && b.bit(0) {
                let n = b.to_u64_digits();
                let mut number = a.to_u64_digits();
                number.resize(n.len(), 0);
                check(&number, &n);
            }
        }
    }
}
