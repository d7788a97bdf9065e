//! Random primes for the factors of a modulus.
//!
//! A candidate is a random odd number with its two highest bits set, so that a product of two has
//! exactly twice as many bits, and with its two lowest bits set, so that a round of Miller–Rabin
//! (Rabin 1980) is one power: for a prime p = 2d + 1 with d odd, a^d is 1 or -1. Each of
//! [`ROUNDS`] rounds with a random base lets a composite number pass with a probability of at most
//! 1/4, whatever the number is: together at most 2^-128.

use crate::{CipherError, random};
use crypto_bigint::modular::{BoxedMontyForm, BoxedMontyParams};
use crypto_bigint::{BoxedUint, CtEq, Odd};
use std::sync::LazyLock;
use zeroize::Zeroizing;

/// The number of rounds of Miller–Rabin.
const ROUNDS: u32 = 64;

/// The odd primes below 2^14: two thirds of the candidates that remain after those below 2^8 have
/// no factor among the others.
static SMALL_PRIMES: LazyLock<Vec<u32>> = LazyLock::new(|| {
    let composite = |n: u32| (3..).step_by(2).take_while(|d| d * d <= n).any(|d| n.is_multiple_of(d));
    (3..1 << 14).step_by(2).filter(|&n| !composite(n)).collect()
});

/// Returns a random number of words as a number.
pub(crate) fn random_number(words: usize) -> Result<Zeroizing<BoxedUint>, CipherError> {
    let words = random::words(words)?;
    let bits = 64 * words.len() as u32;
    Ok(Zeroizing::new(BoxedUint::from_words_with_precision(words.iter().copied(), bits)))
}

/// Returns a random prime of `bits` bits, a multiple of 64.
pub(crate) fn random_prime(bits: u32) -> Result<Odd<BoxedUint>, CipherError> {
    loop {
        let mut candidate = random::words((bits / 64) as usize)?;
        candidate[0] |= 3;
        *candidate.last_mut().expect("a word") |= 3 << 62;
        let rest = |divisor: u32| {
            let step = |rest: u64, word: &u64| {
                ((u128::from(rest) << 64 | u128::from(*word)) % u128::from(divisor)) as u64
            };
            candidate.iter().rev().fold(0, step)
        };
        if SMALL_PRIMES.iter().any(|&divisor| rest(divisor) == 0) {
            continue;
        }
        let number = BoxedUint::from_words_with_precision(candidate.iter().copied(), bits);
        let number = Odd::new(number).into_option().expect("the lowest bit is set");
        if is_probable_prime(&number)? {
            return Ok(number);
        }
    }
}

/// Tests an odd number that is 3 modulo 4 in [`ROUNDS`] rounds; the time tells after how many
/// rounds a number is found composite, and nothing of a number that passes.
fn is_probable_prime(number: &Odd<BoxedUint>) -> Result<bool, CipherError> {
    let bits = number.as_ref().bits_precision();
    let params = BoxedMontyParams::new(number.clone());
    let half = Zeroizing::new(number.as_ref().shr(1));
    let one = BoxedMontyForm::one(&params);
    let minus_one = -one.clone();
    for _ in 0..ROUNDS {
        let base = random_number((bits / 64) as usize)?;
        let base = BoxedMontyForm::new((*base).clone(), &params);
        let power = base.pow_bounded_exp(&half, bits);
        let (a, b, c) = (power.as_montgomery(), one.as_montgomery(), minus_one.as_montgomery());
        if !(a.ct_eq(b) | a.ct_eq(c)).to_bool() {
            return Ok(false);
        }
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn composite_numbers_are_found() {
        let number = |value: u64| Odd::new(BoxedUint::from(value)).into_option().expect("odd");
        // Strong pseudoprimes to base 2 that are 3 modulo 4, Carmichael numbers, and a square.
        for composite in
            [15841, 29341 * 3, 8911, 1_024_651, 3215031751, 4759123141, 341, 2047, 0xffff_fffb * 3]
        {
            if composite % 4 == 3 {
                assert!(!is_probable_prime(&number(composite)).expect("random bytes"), "{composite}");
            }
        }
        for prime in [0xffff_ffff_ffff_ff43, 4_294_967_291, (1 << 61) - 1] {
            if prime % 4 == 3 {
                assert!(is_probable_prime(&number(prime)).expect("random bytes"), "{prime}");
            }
        }
    }

    #[test]
    fn a_prime_has_its_bits() {
        let prime = random_prime(256).expect("random bytes");
        let words = prime.as_ref().to_words();
        assert_eq!((words[0] & 3, words[3] >> 62), (3, 3));
    }
}
