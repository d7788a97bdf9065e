//! Arithmetic of numbers in words of 64 bits, least word first, in constant time.
//!
//! Slices of words in, words and carries out; nothing here knows a modulus.

/// Adds `a · b` to the words of `to`, and returns the word that is carried out of `a.len()` words.
#[inline(always)]
pub(super) fn multiply_add(to: &mut [u64], a: &[u64], b: u64) -> u64 {
    let mut carry = 0;
    for (to, &a) in to.iter_mut().zip(a) {
        let sum = u128::from(a) * u128::from(b) + u128::from(*to) + u128::from(carry);
        (*to, carry) = (sum as u64, (sum >> 64) as u64);
    }
    carry
}

/// Adds `a · (b[0] + 2^64 · b[1]) + carry` to the words of `to`, and returns the two words that are
/// carried out of `a.len()` words. The carries of the two rows do not wait for each other.
#[inline(always)]
pub(super) fn multiply_add_2(to: &mut [u64], a: &[u64], b: [u64; 2], carry: u64) -> [u64; 2] {
    let (mut carry, mut carry_1, mut previous) = (carry, 0, 0);
    for (to, &a) in to.iter_mut().zip(a) {
        let sum = u128::from(a) * u128::from(b[0]) + u128::from(*to) + u128::from(carry);
        carry = (sum >> 64) as u64;
        let sum = u128::from(previous) * u128::from(b[1]) + u128::from(sum as u64) + u128::from(carry_1);
        (*to, carry_1) = (sum as u64, (sum >> 64) as u64);
        previous = a;
    }
    let sum = u128::from(previous) * u128::from(b[1]) + u128::from(carry) + u128::from(carry_1);
    [sum as u64, (sum >> 64) as u64]
}

/// Adds `b` to `a` of the same length, and returns the carry.
#[inline(always)]
pub(super) fn add(a: &mut [u64], b: &[u64]) -> u64 {
    let mut carry = 0;
    for (a, &b) in a.iter_mut().zip(b) {
        let sum = u128::from(*a) + u128::from(b) + u128::from(carry);
        (*a, carry) = (sum as u64, (sum >> 64) as u64);
    }
    carry
}

/// Subtracts `b` from `a`, which may be longer, and returns the borrow.
#[inline(always)]
pub(super) fn subtract(a: &mut [u64], b: &[u64]) -> u64 {
    let mut borrow = 0;
    let (low, high) = a.split_at_mut(b.len());
    for (a, &b) in low.iter_mut().zip(b) {
        let difference = u128::from(*a).wrapping_sub(u128::from(b)).wrapping_sub(u128::from(borrow));
        (*a, borrow) = (difference as u64, (difference >> 127) as u64);
    }
    for a in high {
        let difference = u128::from(*a).wrapping_sub(u128::from(borrow));
        (*a, borrow) = (difference as u64, (difference >> 127) as u64);
    }
    borrow
}

/// Subtracts `b` from `a` if that leaves no borrow; returns 1 if it was subtracted.
#[inline(always)]
pub(super) fn subtract_if_not_less(a: &mut [u64], b: &[u64]) -> u64 {
    let borrow = subtract(a, b);
    let mask = borrow.wrapping_neg();
    let mut carry = 0;
    for (at, a) in a.iter_mut().enumerate() {
        let b = b.get(at).map_or(0, |&b| b & mask);
        let sum = u128::from(*a) + u128::from(b) + u128::from(carry);
        (*a, carry) = (sum as u64, (sum >> 64) as u64);
    }
    1 - borrow
}

/// Writes the product of two numbers of k words to 2k words.
#[inline(always)]
pub(super) fn product(to: &mut [u64], a: &[u64], b: &[u64]) {
    let k = a.len();
    to.fill(0);
    let (pairs, last) = a.as_chunks();
    for (row, &pair) in pairs.iter().enumerate() {
        let at = 2 * row;
        let top = multiply_add_2(&mut to[at..at + k], b, pair, 0);
        to[at + k..at + k + 2].copy_from_slice(&top);
    }
    if let [last] = last {
        to[2 * k - 1] = multiply_add(&mut to[k - 1..2 * k - 1], b, *last);
    }
}

/// Writes the square of a number of k words to 2k words: each product of two words once, doubled.
#[inline(always)]
pub(super) fn square(to: &mut [u64], a: &[u64]) {
    let k = a.len();
    to.fill(0);
    let (pairs, _) = a.as_chunks();
    for (row, &pair) in pairs.iter().enumerate() {
        let at = 4 * row + 1;
        let rest = &a[2 * row + 2..];
        let cross = u128::from(pair[0]) * u128::from(pair[1]) + u128::from(to[at]);
        to[at] = cross as u64;
        let top = multiply_add_2(&mut to[at + 1..at + 1 + rest.len()], rest, pair, (cross >> 64) as u64);
        to[at + 1 + rest.len()..at + 3 + rest.len()].copy_from_slice(&top);
    }
    let (mut high, mut carry) = (0, 0);
    for at in 0..k {
        let diagonal = u128::from(a[at]) * u128::from(a[at]);
        for (to, part) in to[2 * at..2 * at + 2].iter_mut().zip([diagonal as u64, (diagonal >> 64) as u64]) {
            let doubled = *to << 1 | high;
            high = *to >> 63;
            let sum = u128::from(doubled) + u128::from(part) + u128::from(carry);
            (*to, carry) = (sum as u64, (sum >> 64) as u64);
        }
    }
}
