//! Fingerprints of slot sequences, by which equality of storage is one comparison.
//!
//! The storage of a type is a word over letters, one letter for each slot: a scalar, the size of a
//! compact type, a function type, a declared type, or the list of cases of a sum. A [`Fingerprint`]
//! is the value of that word as a polynomial modulo the prime 2^127 - 1 at a point drawn when the
//! process starts (Karp and Rabin 1987). It is computed with the layout of a type, once: a
//! concatenation is one multiplication, an array of n elements about 2 log n.
//!
//! **Argument.** Equal words have equal fingerprints. Two different words of at most n slots have
//! equal ones at no more than n of the 2^127 points, and letters are hashed with a secret key, so
//! no program can be written that makes them collide: for words that fit any memory the probability
//! is below 2^-60. The number of slots, on which memory safety rests, is compared exactly
//! ([`super::Layout::stored_like`]).
//!
//! Independent of `iso`: this check stands behind the answers of `iso` and shares no code with it.

use crate::types::{Scalar, Type, TypeKind};
use num_bigint::BigUint;
use std::hash::{BuildHasher, Hash, Hasher, RandomState};
use std::sync::OnceLock;

/// The prime 2^127 - 1.
const PRIME: u128 = (1 << 127) - 1;

/// The fingerprint of a word: its value at the secret point, and the power of the point by which a
/// preceding word is multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Fingerprint {
    value: u128,
    shift: u128,
}

/// The content of one slot, or of one case of a sum.
#[derive(Hash)]
pub(super) enum Letter<'a> {
    /// A scalar.
    Scalar(Scalar),
    /// A code below this size.
    Code(&'a BigUint),
    /// A function, or a value of a declared type, up to the sizes in it.
    Type(Signature<'a>),
    /// A sum with these cases.
    Sum(Fingerprint),
    /// A run of this many cases without argument.
    Units(&'a BigUint),
    /// A case with an argument of this fingerprint.
    Argument(Fingerprint),
    /// More copies of some cases than a machine word counts.
    Copies(&'a BigUint, Fingerprint),
}

/// A type, where compact types of equal size count as equal.
pub(super) struct Signature<'a>(pub &'a Type);

/// The secret point, and the key by which letters are hashed. New in each process.
struct Secret {
    point: u128,
    key: [RandomState; 2],
}

/// Returns the secret of this process.
fn process_secret() -> &'static Secret {
    static SECRET: OnceLock<Secret> = OnceLock::new();
    SECRET.get_or_init(|| {
        let key = [RandomState::new(), RandomState::new()];
        let point = keyed_hash(&key, &"the point");
        Secret { point, key }
    })
}

/// Hashes `what` with the secret key to a number below the prime.
fn keyed_hash(key: &[RandomState; 2], what: &impl Hash) -> u128 {
    let [high, low] = [0, 1].map(|at: usize| u128::from(key[at].hash_one(what)));
    reduce((high << 64) | low)
}

impl Fingerprint {
    /// The fingerprint of the empty word.
    pub const EMPTY: Fingerprint = Fingerprint { value: 0, shift: 1 };

    /// Returns the fingerprint of one slot.
    pub fn of(letter: &Letter<'_>) -> Fingerprint {
        let secret = process_secret();
        Fingerprint { value: keyed_hash(&secret.key, letter), shift: secret.point }
    }

    /// Returns the fingerprint of the concatenation of both words.
    pub fn concat(self, next: Fingerprint) -> Fingerprint {
        let value = add_modulo(multiply_modulo(self.value, next.shift), next.value);
        Fingerprint { value, shift: multiply_modulo(self.shift, next.shift) }
    }

    /// Returns the fingerprint of `count` copies of this word.
    pub fn repeat(self, mut count: u64) -> Fingerprint {
        let (mut all, mut double) = (Fingerprint::EMPTY, self);
        while count > 0 {
            if count & 1 == 1 {
                all = all.concat(double);
            }
            double = double.concat(double);
            count >>= 1;
        }
        all
    }
}

/// Reduces a number modulo the prime.
fn reduce(n: u128) -> u128 {
    let n = (n & PRIME) + (n >> 127);
    if n >= PRIME { n - PRIME } else { n }
}

/// Adds two numbers modulo the prime.
fn add_modulo(a: u128, b: u128) -> u128 {
    reduce(a + b)
}

/// Multiplies two numbers modulo the prime.
fn multiply_modulo(a: u128, b: u128) -> u128 {
    let (low, high) = a.widening(b);
    // 2^128 is 2, and so is 2 * high: `high` is below 2^126.
    add_modulo(reduce(low), reduce(high << 1))
}

/// Widening multiplication.
trait Widening {
    /// Returns the 256-bit product: its low and its high half.
    fn widening(self, other: u128) -> (u128, u128);
}

impl Widening for u128 {
    fn widening(self, other: u128) -> (u128, u128) {
        const LOW: u128 = (1 << 64) - 1;
        let (a, b, c, d) = (self >> 64, self & LOW, other >> 64, other & LOW);
        let (bottom, top) = (b * d, a * c);
        let middle = (bottom >> 64) + ((a * d) & LOW) + ((b * c) & LOW);
        let low = (bottom & LOW) | (middle << 64);
        (low, top + ((a * d) >> 64) + ((b * c) >> 64) + (middle >> 64))
    }
}

impl Hash for Signature<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let ty = self.0;
        if ty.is_compact() {
            // Types with more values than are counted never have a value.
            return ty.size().ok().hash(state);
        }
        let kind = ty.kind();
        std::mem::discriminant(kind).hash(state);
        match kind {
            TypeKind::Scalar(scalar) => scalar.hash(state),
            TypeKind::Exists(count, _) => count.hash(state),
            TypeKind::Record(fields) => fields.iter().for_each(|(name, _)| name.hash(state)),
            TypeKind::Nominal(nominal, _) => nominal.id.hash(state),
            TypeKind::Apply(application) => application.fun.hash(state),
            TypeKind::Member(member) => member.hash(state),
            TypeKind::Var(var) => var.hash(state),
            _ => {}
        }
        let mut children = 0u32;
        kind.for_each_child(&mut |child| {
            children += 1;
            Signature(child).hash(state);
        });
        children.hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_big_integers() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..2_000 {
            let (a, b) = (reduce(random.u128(..)), reduce(random.u128(..)));
            let exact = BigUint::from(a) * BigUint::from(b) % BigUint::from(PRIME);
            assert_eq!(BigUint::from(multiply_modulo(a, b)), exact, "{a} * {b}");
        }
    }

    #[test]
    fn words_are_told_apart_by_letters_order_and_length() {
        let [a, b] = [Scalar::Int, Scalar::Real].map(|s| Fingerprint::of(&Letter::Scalar(s)));
        assert_eq!(a.concat(b).concat(a), a.concat(b.concat(a)));
        assert_eq!(a.concat(b).repeat(3).concat(a), a.concat(b.concat(a).repeat(3)));
        assert_eq!(a.repeat(10).repeat(7), a.repeat(70));
        assert_eq!(a.concat(Fingerprint::EMPTY), a);
        assert_ne!(a.concat(b), b.concat(a));
        assert_ne!(a.repeat(1484), a.repeat(3704));
    }
}
