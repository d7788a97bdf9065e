//! Arithmetic modulo the square of an odd number `n`, in constant time.
//!
//! A residue modulo n² is a pair (a, b) of residues modulo n that stands for a + b·n, so a product
//! is (a + b·n)(c + d·n) = ac + (ad + bc)·n: three products of half the size and two reductions by
//! n in place of one product and one reduction of full size, which take twice as long. The product
//! ac is not below n; the quotient of its Montgomery reduction (Montgomery 1985) says what it
//! carries into the second component:
//!
//! Let R = 2^(64k) for k words, and ac + q·n = R·u with q < R. Then modulo n²
//! ac + s·n = R·u + (s - q)·n, hence (ac + s·n)/R = u + ((s - q)/R)·n, where the inner quotient is
//! a Montgomery reduction modulo n again.
//!
//! Residues are kept in Montgomery form, multiplied by R. Time depends on the number of words and
//! on the exponents that are said to be public, not on other values.

use super::inverse::inverse_vartime;
use super::limbs::{
    add, add_if, difference, multiply_add, multiply_add_2, product, square, subtract_if_not_less,
};
use crypto_bigint::{BoxedUint, Choice, ConcatenatingMul, CtSelect, NonZero, Odd, Resize};
use zeroize::{Zeroize, Zeroizing};

/// The ring of integers modulo n².
pub(crate) struct SquareRing {
    /// n, least word first; its highest bit is set.
    n: Vec<u64>,
    /// -1/n modulo 2^128, for n of one word modulo 2^64.
    neg_inverse: [u64; 2],
    /// R^(j+2) modulo n², for j from 0 to 3.
    powers: Vec<Residue>,
    /// R modulo n²: the form of 1.
    one: Residue,
}

/// An element of the ring in Montgomery form: 2k words, of which the first k are the first
/// component.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Residue(Vec<u64>);

impl Zeroize for Residue {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl Drop for SquareRing {
    fn drop(&mut self) {
        self.n.zeroize();
        self.neg_inverse.zeroize();
        self.powers.zeroize();
        self.one.zeroize();
    }
}

/// The number of bits of a window of an exponent that is secret.
const WINDOW: u32 = 5;

/// The number of bits of a window of an exponent that is public.
const PUBLIC_WINDOW: u32 = 6;

/// Returns the words of a number, as many as `count`.
pub(crate) fn words(number: &BoxedUint, count: usize) -> Vec<u64> {
    let mut words = number.to_words().to_vec();
    debug_assert!(words.iter().skip(count).all(|&word| word == 0));
    words.resize(count, 0);
    words
}

/// Memory of a product, overwritten at the end.
struct Scratch {
    /// The product of the first components, 2k words.
    first: Zeroizing<Vec<u64>>,
    /// One of the mixed products, 2k words.
    second: Zeroizing<Vec<u64>>,
    /// The other one, 2k words.
    part: Zeroizing<Vec<u64>>,
    /// The quotient of the first reduction, k words.
    quotient: Zeroizing<Vec<u64>>,
}

impl SquareRing {
    /// Returns the ring modulo the square of an odd number whose highest bit is set.
    pub(crate) fn new(n: &Odd<BoxedUint>) -> SquareRing {
        let bits = n.as_ref().bits_precision();
        let k = (bits / 64) as usize;
        let words_of_n = words(n.as_ref(), k);
        assert_eq!(words_of_n[k - 1] >> 63, 1, "the highest bit of the modulus is set");
        // Newton's iteration doubles the number of right bits, from 3.
        let low = u128::from(words_of_n[0]) | u128::from(*words_of_n.get(1).unwrap_or(&0)) << 64;
        let mut inverse = low;
        for _ in 0..6 {
            inverse = inverse.wrapping_mul(2u128.wrapping_sub(low.wrapping_mul(inverse)));
        }
        let inverse = inverse.wrapping_neg();
        let mut ring = SquareRing {
            n: words_of_n,
            neg_inverse: [inverse as u64, (inverse >> 64) as u64],
            powers: Vec::new(),
            one: Residue(Vec::new()),
        };
        // R^j modulo n² as pairs, from one division of R by n: R = r + s·n is the pair (r, s).
        let wide = 2 * bits;
        let modulus = n.as_ref().concatenating_mul(n.as_ref());
        let modulus = NonZero::new(modulus).into_option().expect("n is odd");
        let divisor = NonZero::new(n.as_ref().clone().resize(wide)).into_option().expect("n is odd");
        let mut power = BoxedUint::one_with_precision(wide).shl(bits);
        let base = power.clone();
        let pair = |number: &BoxedUint| {
            let (quotient, rest) = number.div_rem(&divisor);
            let mut pair = words(&rest, k);
            pair.extend(words(&quotient, k));
            Residue(pair)
        };
        ring.one = pair(&power.rem(&modulus));
        for _ in 0..4 {
            power = power.mul_mod(&base, &modulus);
            ring.powers.push(pair(&power));
        }
        ring
    }

    fn words(&self) -> usize {
        self.n.len()
    }

    fn scratch(&self) -> Scratch {
        let k = self.words();
        let zeros = |count| Zeroizing::new(vec![0; count]);
        Scratch { first: zeros(2 * k), second: zeros(2 * k), part: zeros(2 * k), quotient: zeros(k) }
    }

    /// Adds q·n to 2k words, so that the lower k are zero; writes q, and returns the carry.
    #[inline(always)]
    fn reduce_product(&self, to: &mut [u64], mut quotient: Option<&mut [u64]>) -> u64 {
        let k = self.words();
        let [inverse, inverse_1] = self.neg_inverse;
        let mut carry = 0;
        for at in (0..k).step_by(2) {
            if at + 1 == k {
                let q = to[at].wrapping_mul(inverse);
                if let Some(quotient) = &mut quotient {
                    quotient[at] = q;
                }
                let high = multiply_add(&mut to[at..at + k], &self.n, q);
                let sum = u128::from(to[at + k]) + u128::from(high) + u128::from(carry);
                (to[at + k], carry) = (sum as u64, (sum >> 64) as u64);
                break;
            }
            // Two words of q from two words, without waiting for the first row.
            let low = u128::from(to[at]) * u128::from(inverse);
            let high = to[at].wrapping_mul(inverse_1).wrapping_add(to[at + 1].wrapping_mul(inverse));
            let q = [low as u64, ((low >> 64) as u64).wrapping_add(high)];
            if let Some(quotient) = &mut quotient {
                [quotient[at], quotient[at + 1]] = q;
            }
            let top = multiply_add_2(&mut to[at..at + k], &self.n, q, 0);
            for (to, top) in to[at + k..at + k + 2].iter_mut().zip(top) {
                let sum = u128::from(*to) + u128::from(top) + u128::from(carry);
                (*to, carry) = (sum as u64, (sum >> 64) as u64);
            }
        }
        carry
    }

    /// Reduces the product in `first` and the sum of `second` and `part`, or twice `second`, and
    /// writes the result to `to`.
    #[inline(always)]
    fn reduce<const TWICE: bool>(&self, scratch: &mut Scratch, to: &mut Residue) {
        let k = self.words();
        let Scratch { first, second, part, quotient } = scratch;
        let carry = self.reduce_product(first, Some(quotient));
        let (a, b) = to.0.split_at_mut(k);
        // ac < n² and q·n < R·n, so u < 2n: at most one subtraction, which adds R to what is
        // divided by R in the second component.
        let borrow = difference(a, &first[k..], &self.n);
        let less = borrow & (carry ^ 1);
        add_if(a, &self.n, less);
        let extra = 1 - less;
        // s + R·(n + extra) - q, which is positive and below 2n² + R·n + R. The lower half has -q;
        // the upper half has n - 1 and what is left of 1 after the borrow.
        let (low, high) = second.split_at_mut(k);
        let (part_low, part_high) = part.split_at(k);
        let (mut carry, mut borrow) = (false, false);
        for ((word, &other), &q) in low.iter_mut().zip(part_low).zip(&quotient[..]) {
            let (sum, over) = word.carrying_add(if TWICE { *word } else { other }, carry);
            carry = over;
            (*word, borrow) = sum.borrowing_sub(q, borrow);
        }
        let mut carry_1 = !borrow;
        let mut less = 1 - extra;
        for ((word, &other), &n) in high.iter_mut().zip(part_high).zip(&self.n) {
            let (sum, over) = word.carrying_add(if TWICE { *word } else { other }, carry);
            carry = over;
            (*word, carry_1) = sum.carrying_add(n - less, carry_1);
            less = 0;
        }
        let carry = u64::from(carry) + u64::from(carry_1);
        let reduced = self.reduce_product(&mut second[..2 * k], None);
        // At most (2n² + 2R·n)/R + 1, hence at most 4n. The two highest words tell how often n is
        // subtracted, or one less: for t·2^(64(k-1)) <= value and the highest word h of n,
        // t >= j·(h + 1) implies value >= j·n, and t < (j + 1)·(h + 1) implies value < (j + 2)·n.
        let value = &mut second[k..2 * k];
        let top = u128::from(carry + reduced) << 64 | u128::from(value[k - 1]);
        let step = u128::from(self.n[k - 1]) + 1;
        let times = (1..4).map(|j| 1 - (top.wrapping_sub(j * step) >> 127) as u64).sum::<u64>();
        let (mut high, mut borrow) = (0, false);
        for (value, &n) in value.iter_mut().zip(&self.n) {
            let product = u128::from(n) * u128::from(times) + u128::from(high);
            high = (product >> 64) as u64;
            (*value, borrow) = value.borrowing_sub(product as u64, borrow);
        }
        let borrow = high + u64::from(borrow);
        let top = carry + reduced - borrow;
        let borrow = difference(b, value, &self.n);
        add_if(b, &self.n, borrow & (top ^ 1));
    }

    #[inline(never)]
    fn multiply_into(&self, scratch: &mut Scratch, x: &Residue, y: &Residue, to: &mut Residue) {
        let k = self.words();
        let ((a, b), (c, d)) = (x.0.split_at(k), y.0.split_at(k));
        product(&mut scratch.first, a, c);
        product(&mut scratch.part, a, d);
        product(&mut scratch.second, b, c);
        self.reduce::<false>(scratch, to);
    }

    #[inline(never)]
    fn square_into(&self, scratch: &mut Scratch, x: &Residue, to: &mut Residue) {
        let (a, b) = x.0.split_at(self.words());
        square(&mut scratch.first, a);
        product(&mut scratch.second, a, b);
        self.reduce::<true>(scratch, to);
    }

    fn zero(&self) -> Residue {
        Residue(vec![0; 2 * self.words()])
    }

    /// Returns the form of 1.
    pub(crate) fn one(&self) -> Residue {
        self.one.clone()
    }

    /// Returns the product.
    pub(crate) fn multiply(&self, x: &Residue, y: &Residue) -> Residue {
        let mut to = self.zero();
        self.multiply_into(&mut self.scratch(), x, y, &mut to);
        to
    }

    /// Returns the product of many.
    pub(crate) fn product<'a>(&self, factors: impl IntoIterator<Item = &'a Residue>) -> Residue {
        let (mut scratch, mut result, mut next) = (self.scratch(), self.one(), self.zero());
        for factor in factors {
            self.multiply_into(&mut scratch, &result, factor, &mut next);
            std::mem::swap(&mut result, &mut next);
        }
        result
    }

    /// Returns the sum.
    fn add(&self, x: &Residue, y: &Residue) -> Residue {
        let k = self.words();
        let (mut a, mut b) = (x.0[..k].to_vec(), x.0[k..].to_vec());
        a.push(0);
        b.push(0);
        a[k] = add(&mut a[..k], &y.0[..k]);
        let carried = subtract_if_not_less(&mut a, &self.n);
        b[k] = add(&mut b[..k], &y.0[k..]);
        let mut carry = carried;
        for word in &mut b {
            let (sum, over) = word.overflowing_add(carry);
            (*word, carry) = (sum, u64::from(over));
        }
        subtract_if_not_less(&mut b, &self.n);
        a.truncate(k);
        a.extend(&b[..k]);
        b.zeroize();
        Residue(a)
    }

    /// Returns x·y modulo n, for a number y below n in k words, out of Montgomery form.
    pub(crate) fn multiply_modulo_n(&self, x: &Residue, y: &[u64]) -> Zeroizing<Vec<u64>> {
        let mut plain = self.zero();
        plain.0[..self.words()].copy_from_slice(y);
        let mut product = self.multiply(x, &plain);
        plain.zeroize();
        let first = Zeroizing::new(product.0[..self.words()].to_vec());
        product.zeroize();
        first
    }

    /// Returns the form of `1 + m·n`, for m below n in k words.
    pub(crate) fn one_plus_multiple(&self, m: &[u64]) -> Residue {
        let mut plain = self.zero();
        plain.0[0] = 1;
        plain.0[self.words()..].copy_from_slice(m);
        self.multiply(&plain, &self.powers[0])
    }

    /// Returns the form of a number in words, up to 4k of them: for words w of R each, the sum of
    /// w_j · R^j.
    pub(crate) fn convert(&self, number: &[u64]) -> Residue {
        let k = self.words();
        let mut sum = self.zero();
        for (part, power) in number.chunks(k).zip(&self.powers) {
            // Below R < 2n: the pair of it has a second component of 0 or 1.
            let mut plain = self.zero();
            plain.0[..part.len()].copy_from_slice(part);
            plain.0[k] = subtract_if_not_less(&mut plain.0[..k], &self.n);
            sum = self.add(&sum, &self.multiply(&plain, power));
        }
        sum
    }

    /// Returns the two components of an element, out of Montgomery form.
    pub(crate) fn components(&self, x: &Residue) -> (Zeroizing<Vec<u64>>, Zeroizing<Vec<u64>>) {
        let mut one = self.zero();
        one.0[0] = 1;
        let mut plain = self.multiply(x, &one);
        let second = plain.0[self.words()..].to_vec();
        let first = plain.0[..self.words()].to_vec();
        plain.zeroize();
        (Zeroizing::new(first), Zeroizing::new(second))
    }

    /// Returns an element as a number below n² in 2k words.
    pub(crate) fn number(&self, x: &Residue) -> Vec<u64> {
        let k = self.words();
        let (first, second) = self.components(x);
        let mut number = vec![0; 2 * k];
        number[..k].copy_from_slice(&first);
        for (at, &word) in second.iter().enumerate() {
            let carry = multiply_add(&mut number[at..at + k], &self.n, word);
            let mut carry = carry;
            for to in &mut number[at + k..] {
                let (sum, over) = to.overflowing_add(carry);
                (*to, carry) = (sum, u64::from(over));
            }
        }
        number
    }

    /// Returns `x^exponent` for an exponent in words of which the lowest `bits` count. Time depends
    /// on `bits` and not on the exponent.
    pub(crate) fn power(&self, x: &Residue, exponent: &[u64], bits: u32) -> Residue {
        self.power_product(&[(x, exponent)], bits)
    }

    /// Returns the product of powers, whose squarings are done together (Straus 1964). Time depends
    /// on `bits` and the number of powers, and not on the exponents.
    pub(crate) fn power_product(&self, powers: &[(&Residue, &[u64])], bits: u32) -> Residue {
        let mut scratch = self.scratch();
        let table = |&(x, _): &(&Residue, &[u64])| {
            let mut scratch = self.scratch();
            let mut table = vec![self.one(), x.clone()];
            for at in 2..1 << WINDOW {
                let mut next = self.zero();
                match at % 2 {
                    0 => self.square_into(&mut scratch, &table[at / 2], &mut next),
                    _ => self.multiply_into(&mut scratch, &table[at - 1], x, &mut next),
                }
                table.push(next);
            }
            table
        };
        let mut tables: Vec<Vec<Residue>> = powers.iter().map(table).collect();
        let digit = |exponent: &[u64], window: u32| {
            (0..WINDOW).rev().fold(0, |digit, bit| {
                let at = window * WINDOW + bit;
                let word = if at < bits { exponent[(at / 64) as usize] } else { 0 };
                (digit << 1) | ((word >> (at % 64)) & 1)
            })
        };
        let (mut result, mut next, mut chosen) = (self.one(), self.zero(), self.zero());
        for window in (0..bits.div_ceil(WINDOW)).rev() {
            for _ in 0..WINDOW {
                self.square_into(&mut scratch, &result, &mut next);
                std::mem::swap(&mut result, &mut next);
            }
            for (table, (_, exponent)) in tables.iter().zip(powers) {
                // All of the table is read, whatever the digit is.
                let digit = digit(exponent, window);
                chosen.0.fill(0);
                for (at, entry) in table.iter().enumerate() {
                    let different = at as u64 ^ digit;
                    let mask = (different.wrapping_sub(1) & !different) >> 63;
                    let mask = std::hint::black_box(mask.wrapping_neg());
                    for (to, &word) in chosen.0.iter_mut().zip(&entry.0) {
                        *to |= word & mask;
                    }
                }
                self.multiply_into(&mut scratch, &result, &chosen, &mut next);
                std::mem::swap(&mut result, &mut next);
            }
        }
        for table in &mut tables {
            table.zeroize();
        }
        next.zeroize();
        chosen.zeroize();
        result
    }

    /// Returns `x^exponent` for a public exponent, by windows that slide over its zeros. Time
    /// depends on the exponent and not on x.
    pub(crate) fn power_public(&self, x: &Residue, exponent: &[u64]) -> Residue {
        let bit = |at: usize| exponent[at / 64] >> (at % 64) & 1 == 1;
        let top = (0..64 * exponent.len()).rev().find(|&at| bit(at));
        let Some(top) = top else { return self.one() };
        let window = if top < 128 { 4 } else { PUBLIC_WINDOW as usize };
        let mut scratch = self.scratch();
        let (mut square, mut next) = (self.zero(), self.zero());
        self.square_into(&mut scratch, x, &mut square);
        // The odd powers.
        let mut table = vec![x.clone()];
        for at in 1..1usize << (window - 1) {
            self.multiply_into(&mut scratch, &table[at - 1], &square, &mut next);
            table.push(next.clone());
        }
        let mut result: Option<Residue> = None;
        let mut at = top + 1;
        while at > 0 {
            if !bit(at - 1) {
                at -= 1;
                let result = result.as_mut().expect("the first bit is set");
                self.square_into(&mut scratch, result, &mut next);
                std::mem::swap(result, &mut next);
                continue;
            }
            let low = (at.saturating_sub(window)..at).find(|&low| bit(low)).expect("the bit is set");
            let digit = (low..at).rev().fold(0, |digit, at| digit << 1 | usize::from(bit(at)));
            match &mut result {
                None => result = Some(table[digit / 2].clone()),
                Some(result) => {
                    for _ in low..at {
                        self.square_into(&mut scratch, result, &mut next);
                        std::mem::swap(result, &mut next);
                    }
                    self.multiply_into(&mut scratch, result, &table[digit / 2], &mut next);
                    std::mem::swap(result, &mut next);
                }
            }
            at = low;
        }
        table.zeroize();
        next.zeroize();
        result.expect("an exponent above zero")
    }

    /// Returns the inverse, or none for an element that has a factor in common with n.
    ///
    /// A ciphertext that has not been re-randomized tells a secret factor to who can guess it, so
    /// time must not depend on it. `blind` is a uniform unit modulo n that is used once: what is
    /// inverted is the product of the two, which is uniform whatever the element is, and so is the
    /// time that the inversion takes. In constant time it takes ten times as long.
    pub(crate) fn inverse(&self, x: &Residue, n: &Odd<BoxedUint>, blind: &[u64]) -> Option<Residue> {
        let bits = n.as_ref().bits_precision();
        let inverse = inverse_vartime(&self.multiply_modulo_n(x, blind), n)?;
        let mut blind = self.convert(blind);
        let y = self.multiply(&self.convert(&inverse), &blind);
        blind.zeroize();
        // Newton's step: the inverse modulo n is y; modulo n² it is y·(2 - x·y).
        let product = self.multiply(x, &y);
        // x·y = 1 + e·n, and 2 - x·y = 1 - e·n.
        let (_, e) = self.components(&product);
        let e = BoxedUint::from_words_with_precision(e.iter().copied(), bits);
        let negated = e.neg_mod(n.as_nz_ref());
        Some(self.multiply(&y, &self.one_plus_multiple(&words(&negated, self.words()))))
    }

    /// Returns the inverses of many by one inversion, or none if one has a factor in common with n
    /// (Montgomery 1987). For `blind` see [`Self::inverse`].
    pub(crate) fn inverses(
        &self,
        elements: &[&Residue],
        n: &Odd<BoxedUint>,
        blind: &[u64],
    ) -> Option<Vec<Residue>> {
        let mut products = vec![self.one()];
        for element in elements {
            products.push(self.multiply(products.last().expect("a product"), element));
        }
        let mut rest = self.inverse(products.last().expect("a product"), n, blind)?;
        let mut inverses = Vec::with_capacity(elements.len());
        for (element, product) in elements.iter().zip(&products).rev() {
            inverses.push(self.multiply(&rest, product));
            rest = self.multiply(&rest, element);
        }
        inverses.reverse();
        Some(inverses)
    }

    /// Returns the second element where the choice is set, else the first.
    pub(crate) fn select(first: &Residue, second: &Residue, choice: Choice) -> Residue {
        let pairs = first.0.iter().zip(&second.0);
        Residue(pairs.map(|(first, second)| u64::ct_select(first, second, choice)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigUint;

    fn big(words: &[u64]) -> BigUint {
        words.iter().rev().fold(BigUint::ZERO, |sum, &word| (sum << 64u32) + word)
    }

    fn random_words(random: &mut fastrand::Rng, count: usize) -> Vec<u64> {
        // Runs of ones and zeros meet carries that random words do not.
        (0..count)
            .map(|_| match random.u8(..4) {
                0 => 0,
                1 => u64::MAX,
                _ => random.u64(..),
            })
            .collect()
    }

    #[test]
    fn agrees_with_integers() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for round in 0..60 {
            let k = [1, 2, 3, 8][round % 4];
            let mut n = random_words(&mut random, k);
            n[0] |= 1;
            n[k - 1] |= 1 << 63;
            if round < 4 {
                n.fill(u64::MAX);
            }
            let modulus = big(&n).pow(2);
            let boxed = BoxedUint::from_words_with_precision(n.iter().copied(), 64 * k as u32);
            let odd = Odd::new(boxed).into_option().expect("odd");
            let ring = SquareRing::new(&odd);
            for _ in 0..10 {
                let (x, y) = (random_words(&mut random, 4 * k), random_words(&mut random, 2 * k));
                let (fx, fy) = (ring.convert(&x), ring.convert(&y));
                assert_eq!(big(&ring.number(&fx)), big(&x) % &modulus);
                assert_eq!(big(&ring.number(&ring.multiply(&fx, &fy))), big(&x) * big(&y) % &modulus);
                let squared = ring.power_public(&fx, &[2]);
                assert_eq!(big(&ring.number(&squared)), big(&x).pow(2) % &modulus);
                assert_eq!(big(&ring.number(&ring.add(&fx, &fy))), (big(&x) + big(&y)) % &modulus);
                let exponent = random_words(&mut random, 2);
                let bits = random.u32(1..=128);
                let kept = big(&exponent) % (BigUint::from(1u8) << bits);
                let power = big(&ring.number(&ring.power(&fx, &exponent, bits)));
                assert_eq!(power, big(&x).modpow(&kept, &modulus));
                let power = big(&ring.number(&ring.power_public(&fx, &exponent)));
                assert_eq!(power, big(&x).modpow(&big(&exponent), &modulus));
                let blind = random_words(&mut random, k);
                let blind = words(&BoxedUint::from_words(blind).rem(odd.as_nz_ref()), k);
                let units = [big(&x), big(&blind)].iter().all(|x| x.modinv(&big(&n)).is_some());
                let inverse = ring.inverse(&fx, &odd, &blind);
                assert_eq!(inverse.is_some(), units);
                if let Some(inverse) = inverse {
                    assert!(ring.multiply(&fx, &inverse) == ring.one());
                }
            }
        }
    }
}
