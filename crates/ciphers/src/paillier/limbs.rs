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
    let mut carry = false;
    for (a, &b) in a.iter_mut().zip(b) {
        (*a, carry) = a.carrying_add(b, carry);
    }
    u64::from(carry)
}

/// Adds `b` of the same length to `a` if `choice` is 1 and not if it is 0; drops the carry.
#[inline(always)]
pub(super) fn add_if(a: &mut [u64], b: &[u64], choice: u64) {
    let mask = std::hint::black_box(choice.wrapping_neg());
    let mut carry = false;
    for (a, &b) in a.iter_mut().zip(b) {
        (*a, carry) = a.carrying_add(b & mask, carry);
    }
}

/// Writes `a - b` of the same length to `to`, and returns the borrow.
#[inline(always)]
pub(super) fn difference(to: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    let mut borrow = false;
    for ((to, &a), &b) in to.iter_mut().zip(a).zip(b) {
        (*to, borrow) = a.borrowing_sub(b, borrow);
    }
    u64::from(borrow)
}

/// Subtracts `b` from `a`, which may be longer, if that leaves no borrow; returns 1 if it was
/// subtracted.
#[inline(always)]
pub(super) fn subtract_if_not_less(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = false;
    for (a, &b) in low.iter_mut().zip(b) {
        (*a, borrow) = a.borrowing_sub(b, borrow);
    }
    for a in &mut *high {
        (*a, borrow) = a.borrowing_sub(0, borrow);
    }
    let mask = std::hint::black_box(u64::from(borrow).wrapping_neg());
    let mut carry = false;
    for (a, &b) in low.iter_mut().zip(b) {
        (*a, carry) = a.carrying_add(b & mask, carry);
    }
    for a in high {
        (*a, carry) = a.carrying_add(0, carry);
    }
    1 - u64::from(borrow)
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
        [to[at + k], to[at + k + 1]] = top;
    }
    if let [last] = last {
        to[2 * k - 1] = multiply_add(&mut to[k - 1..2 * k - 1], b, *last);
    }
}

/// Writes the square of a number of k words to 2k words: each product of two words once, doubled.
#[inline(always)]
pub(super) fn square(to: &mut [u64], a: &[u64]) {
    to.fill(0);
    let (pairs, _) = a.as_chunks();
    for (row, &pair) in pairs.iter().enumerate() {
        let at = 4 * row + 1;
        let rest = &a[2 * row + 2..];
        let cross = u128::from(pair[0]) * u128::from(pair[1]) + u128::from(to[at]);
        to[at] = cross as u64;
        let top = multiply_add_2(&mut to[at + 1..at + 1 + rest.len()], rest, pair, (cross >> 64) as u64);
        [to[at + 1 + rest.len()], to[at + 2 + rest.len()]] = top;
    }
    let (mut high, mut carry) = (0, false);
    for (to, &a) in to.as_chunks_mut().0.iter_mut().zip(a) {
        let diagonal = u128::from(a) * u128::from(a);
        let [low, next] = *to;
        (to[0], carry) = (low << 1 | high).carrying_add(diagonal as u64, carry);
        (to[1], carry) = (next << 1 | low >> 63).carrying_add((diagonal >> 64) as u64, carry);
        high = next >> 63;
    }
}
