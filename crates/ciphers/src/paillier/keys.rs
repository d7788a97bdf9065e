//! The keys of Paillier's scheme: generation, encryption, decryption, and the bytes of a public
//! key.

use super::prime::{random_number, random_prime};
use super::square::{Residue, SquareRing, words};
use super::{Ciphertext, Parameters};
use crate::CipherError;
use crate::key::{self, Fingerprint, Head, Kind, same_key};
use crate::magnitude::Magnitude;
use crypto_bigint::{BoxedUint, Choice, ConcatenatingMul, CtEq, CtLt, CtSelect, Odd, Resize};
use std::fmt;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// A public key: encrypts, and computes with ciphertexts. Clones share the key.
#[derive(Clone)]
pub struct PublicKey(Arc<PublicParts>);

pub(super) struct PublicParts {
    pub(super) parameters: Parameters,
    pub(super) n: Odd<BoxedUint>,
    n_words: Vec<u64>,
    pub(super) ring: SquareRing,
    pub(super) fingerprint: Fingerprint,
}

impl PublicKey {
    fn new(parameters: Parameters, n: Odd<BoxedUint>) -> PublicKey {
        let body = n.as_ref().to_le_bytes();
        let fingerprint = Fingerprint::of(key::Parameters::Paillier(parameters), &[&body]);
        let ring = SquareRing::new(&n);
        let n_words = words(n.as_ref(), (parameters.modulus_bits() / 64) as usize);
        PublicKey(Arc::new(PublicParts { parameters, n, n_words, ring, fingerprint }))
    }

    pub(super) fn parts(&self) -> &PublicParts {
        &self.0
    }

    /// Returns the parameters.
    pub fn parameters(&self) -> Parameters {
        self.0.parameters
    }

    /// Returns the fingerprint of the key.
    pub fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint
    }

    pub(super) fn head(&self, kind: Kind) -> Head {
        let parameters = key::Parameters::Paillier(self.0.parameters);
        Head { kind, parameters, key: self.0.fingerprint }
    }

    /// Writes the key.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head(Kind::PublicKey).write(self.0.n_words.len() * 8);
        bytes.extend(self.0.n.as_ref().to_le_bytes());
        key::seal(bytes)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// Bytes that no key writes, or whose fingerprint is not that of their content. Whether the
    /// modulus has two factors cannot be seen.
    pub fn from_bytes(bytes: &[u8]) -> Result<PublicKey, CipherError> {
        let (head, body) = Head::of_kind(bytes, Kind::PublicKey)?;
        let key::Parameters::Paillier(parameters) = head.parameters else {
            let (expected, found) = (key::Scheme::Paillier, head.parameters.scheme());
            return Err(CipherError::Scheme { expected, found });
        };
        let bits = parameters.modulus_bits();
        if body.len() != bits as usize / 8 {
            return Err(CipherError::Malformed { part: "length" });
        }
        let computed = Fingerprint::of(head.parameters, &[body]);
        if computed != head.key {
            return Err(CipherError::Fingerprint { carried: head.key, computed });
        }
        let n = BoxedUint::from_le_slice(body, bits).expect("as many bytes as the precision has");
        let highest = body.last().expect("a modulus has bytes") >> 7 == 1;
        match Odd::new(n).into_option() {
            Some(n) if highest => Ok(PublicKey::new(parameters, n)),
            _ => Err(CipherError::Malformed { part: "modulus" }),
        }
    }

    /// Returns the bound that magnitudes must stay below: 2^(bits of n - 2), which is less than
    /// n/2.
    pub fn max_magnitude(&self) -> Magnitude {
        Magnitude::power_of_two(self.0.parameters.modulus_bits() - 2)
    }

    pub(super) fn check(&self, bound: Magnitude) -> Result<Magnitude, CipherError> {
        let limit = self.max_magnitude();
        if bound < limit {
            return Ok(bound);
        }
        Err(CipherError::Overflow { bits: bound.bits(), limit: limit.bits() })
    }

    /// Returns the residue modulo n of an integer, in constant time.
    pub(super) fn lift(&self, value: i128) -> Zeroizing<BoxedUint> {
        let n = self.0.n.as_ref();
        let magnitude = Zeroizing::new(BoxedUint::from(value.unsigned_abs()).resize(n.bits_precision()));
        let negated = Zeroizing::new(magnitude.neg_mod(self.0.n.as_nz_ref()));
        let negative = Choice::from_u8_lsb((value >> 127) as u8 & 1);
        Zeroizing::new(BoxedUint::ct_select(&magnitude, &negated, negative))
    }

    /// Returns the form of 1 + m·n for an integer m.
    pub(super) fn trivial(&self, value: i128) -> Residue {
        let m = self.lift(value);
        let m = Zeroizing::new(words(&m, self.0.n_words.len()));
        self.0.ring.one_plus_multiple(&m)
    }

    /// Returns a uniform number below n other than zero, in words.
    pub(super) fn random_unit(&self) -> Result<Zeroizing<Vec<u64>>, CipherError> {
        let n = self.0.n.as_ref();
        loop {
            let r = random_number(self.0.n_words.len())?;
            // The choice is of a number that is thrown away.
            if (r.ct_lt(n) & !r.ct_eq(&BoxedUint::zero_with_precision(r.bits_precision()))).to_bool() {
                return Ok(Zeroizing::new(words(&r, self.0.n_words.len())));
            }
        }
    }

    /// Returns rⁿ for a uniform r.
    fn mask(&self) -> Result<Residue, CipherError> {
        let mut base = self.0.ring.convert(&self.random_unit()?);
        let mask = self.0.ring.power_public(&base, &self.0.n_words);
        base.zeroize();
        Ok(mask)
    }

    /// Encrypts an integer with `scale` binary digits after the point, whose magnitude is at most
    /// `bound`, in constant time.
    ///
    /// # Errors
    /// [`CipherError::Magnitude`] for a value above its bound, [`CipherError::Overflow`] for a
    /// bound that the key has no room for.
    pub fn encrypt(&self, value: i128, bound: Magnitude, scale: u32) -> Result<Ciphertext, CipherError> {
        let bound = self.check(bound)?;
        if !bound.contains(value) {
            return Err(CipherError::Magnitude { position: 0 });
        }
        let residue = self.0.ring.multiply(&self.trivial(value), &self.mask()?);
        Ok(Ciphertext::new(self.clone(), residue, bound, scale))
    }

    /// Returns another ciphertext of the same integer, uniform among all of them.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`].
    pub fn rerandomize(&self, cipher: &Ciphertext) -> Result<Ciphertext, CipherError> {
        same_key(self.fingerprint(), cipher.key().fingerprint())?;
        let residue = self.0.ring.multiply(cipher.residue(), &self.mask()?);
        Ok(Ciphertext::new(self.clone(), residue, cipher.bound(), cipher.scale()))
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.0.fingerprint)
    }
}

/// One prime factor of the modulus, and what decryption needs modulo it.
struct Factor {
    number: Zeroizing<BoxedUint>,
    ring: SquareRing,
    /// The factor minus one.
    exponent: Zeroizing<Vec<u64>>,
    /// 1/(the other factor) modulo this one.
    inverse: Zeroizing<Residue>,
}

impl Factor {
    fn new(prime: &Odd<BoxedUint>, other: &Odd<BoxedUint>) -> Factor {
        let count = (prime.as_ref().bits_precision() / 64) as usize;
        let rest = Zeroizing::new(other.as_ref().rem(prime.as_nz_ref()));
        let inverse = rest.invert_odd_mod(prime).into_option().expect("the factors are different primes");
        let inverse = Zeroizing::new(inverse);
        let mut exponent = Zeroizing::new(words(prime.as_ref(), count));
        exponent[0] &= !1;
        let ring = SquareRing::new(prime);
        let inverse = Zeroizing::new(ring.convert(&Zeroizing::new(words(&inverse, count))));
        Factor { number: Zeroizing::new(prime.as_ref().clone()), ring, exponent, inverse }
    }

    fn bits(&self) -> u32 {
        self.number.bits_precision()
    }

    /// Returns a number modulo this factor divided by the other one.
    fn divide_by_other(&self, number: &[u64]) -> Zeroizing<BoxedUint> {
        let quotient = self.ring.multiply_modulo_n(&self.inverse, number);
        Zeroizing::new(BoxedUint::from_words_with_precision(quotient.iter().copied(), self.bits()))
    }

    fn negate(&self, number: &BoxedUint) -> Zeroizing<BoxedUint> {
        let negated = self.number.wrapping_sub(number);
        let zero = BoxedUint::zero_with_precision(self.bits());
        Zeroizing::new(BoxedUint::ct_select(&negated, &zero, number.is_zero()))
    }

    /// Returns the integer of a ciphertext modulo this factor. With g = 1 + n, the power p - 1 of
    /// the ciphertext is 1 + m·(p - 1)·q·p modulo p², whose second component is -m·q modulo p.
    fn decrypt(&self, cipher: &[u64]) -> Zeroizing<BoxedUint> {
        let base = Zeroizing::new(self.ring.convert(cipher));
        let power = Zeroizing::new(self.ring.power(&base, &self.exponent, self.bits()));
        let (_, second) = self.ring.components(&power);
        self.negate(&self.divide_by_other(&second))
    }
}

/// A secret key: decrypts. It is overwritten when it is dropped, and cannot be copied, printed or
/// written.
pub struct SecretKey {
    public: PublicKey,
    p: Factor,
    q: Factor,
}

/// Generates a pair of keys. The primes are random, at least 2^(bits of a prime - 100) apart
/// (FIPS 186-5), and n is coprime to (p - 1)(q - 1).
///
/// # Errors
/// [`CipherError::NoRandomness`].
pub fn generate(parameters: Parameters) -> Result<(SecretKey, PublicKey), CipherError> {
    let bits = parameters.modulus_bits();
    loop {
        let (p, q) = (random_prime(bits / 2)?, random_prime(bits / 2)?);
        let (p, q) = (Zeroizing::new(p), Zeroizing::new(q));
        if let Some(secret) = SecretKey::from_primes(parameters, &p, &q) {
            let public = secret.public.clone();
            return Ok((secret, public));
        }
    }
}

impl SecretKey {
    /// Returns the key of two primes of half the size of the modulus, if they are far enough apart
    /// and their product is coprime to (p - 1)(q - 1).
    fn from_primes(parameters: Parameters, p: &Odd<BoxedUint>, q: &Odd<BoxedUint>) -> Option<SecretKey> {
        let bits = parameters.modulus_bits();
        let less = p.as_ref().ct_lt(q.as_ref());
        let (high, low) = if less.to_bool() { (q, p) } else { (p, q) };
        let distance = Zeroizing::new(high.as_ref().wrapping_sub(low.as_ref()));
        if distance.shr(bits / 2 - 100).is_zero().to_bool() {
            return None;
        }
        let n = p.as_ref().concatenating_mul(q.as_ref()).resize(bits);
        let n = Odd::new(n).into_option().expect("a product of odd numbers");
        let one = BoxedUint::one_with_precision(bits / 2);
        let minus_one = |prime: &Odd<BoxedUint>| prime.as_ref().wrapping_sub(&one);
        let phi = Zeroizing::new(minus_one(p).concatenating_mul(&minus_one(q)).resize(bits));
        phi.invert_odd_mod(&n).into_option()?.zeroize();
        let public = PublicKey::new(parameters, n);
        Some(SecretKey { public, p: Factor::new(p, q), q: Factor::new(q, p) })
    }

    /// Returns the public key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Decrypts a ciphertext, in constant time.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`]; [`CipherError::Overflow`] if the integer could be too large for
    /// the result by its bound.
    pub fn decrypt(&self, cipher: &Ciphertext) -> Result<i128, CipherError> {
        same_key(self.public.fingerprint(), cipher.key().fingerprint())?;
        if cipher.bound() >= Magnitude::power_of_two(127) {
            return Err(CipherError::Overflow { bits: cipher.bound().bits(), limit: 127 });
        }
        let (negative, magnitude) = self.integer(cipher);
        Ok(signed(negative, &magnitude))
    }

    /// Decrypts a ciphertext whose bound may be larger than the result: `None` for an integer that
    /// is not below 2^127 in magnitude. Time tells that alone.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`].
    pub fn decrypt_if_small(&self, cipher: &Ciphertext) -> Result<Option<i128>, CipherError> {
        same_key(self.public.fingerprint(), cipher.key().fingerprint())?;
        let (negative, magnitude) = self.integer(cipher);
        let small = bool::from(magnitude.shr(127).is_zero());
        Ok(small.then(|| signed(negative, &magnitude)))
    }

    /// Returns the sign and the magnitude of the integer of a ciphertext.
    fn integer(&self, cipher: &Ciphertext) -> (Choice, Zeroizing<BoxedUint>) {
        let number = self.public.0.ring.number(cipher.residue());
        let (mp, mq) = (self.p.decrypt(&number), self.q.decrypt(&number));
        // m = mq + q·((mp - mq)/q modulo p). Both primes have their highest bit set: mq < q < 2p.
        let above = !mq.ct_lt(&self.p.number);
        let reduced = Zeroizing::new(mq.wrapping_sub(&*self.p.number));
        let reduced = Zeroizing::new(BoxedUint::ct_select(&mq, &reduced, above));
        let sum = Zeroizing::new(mp.concatenating_add(&*self.p.negate(&reduced)));
        let count = self.p.exponent.len();
        let wide = Zeroizing::new((*self.p.number).clone().resize(sum.bits_precision()));
        let less = Zeroizing::new(sum.wrapping_sub(&*wide));
        let difference = Zeroizing::new(BoxedUint::ct_select(&sum, &less, !sum.ct_lt(&wide)));
        let high = self.p.divide_by_other(&Zeroizing::new(words(&difference, count)));
        let bits = self.public.0.parameters.modulus_bits();
        let product = Zeroizing::new(high.concatenating_mul(&*self.q.number).resize(bits));
        let low = Zeroizing::new((*mq).clone().resize(bits));
        let m = Zeroizing::new(product.wrapping_add(&*low));
        // The nearest integer to zero: m or m - n, both below 2^(bits - 2) in magnitude by the
        // bound, and n is at least 2^(bits - 1).
        let negative = !m.shr(bits - 2).is_zero();
        let magnitude = Zeroizing::new(m.neg_mod(self.public.0.n.as_nz_ref()));
        (negative, Zeroizing::new(BoxedUint::ct_select(&m, &magnitude, negative)))
    }
}

/// Returns the integer with a sign and a magnitude below 2^127.
fn signed(negative: Choice, magnitude: &BoxedUint) -> i128 {
    let words = magnitude.as_words();
    let magnitude = u128::from(words[0]) | u128::from(words[1]) << 64;
    let mask = u128::from(negative.to_u8()).wrapping_neg();
    ((magnitude ^ mask).wrapping_sub(mask)) as i128
}

/// Returns a key of two primes of a test.
#[cfg(test)]
pub(super) fn from_primes_for_tests(parameters: Parameters, p: &Odd<BoxedUint>, q: &Odd<BoxedUint>) -> bool {
    SecretKey::from_primes(parameters, p, q).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_and_close_primes_are_refused() {
        let parameters = Parameters::BITS_2048;
        let p = random_prime(1024).expect("random bytes");
        assert!(!from_primes_for_tests(parameters, &p, &p));
        let close = p.as_ref().wrapping_add(BoxedUint::from(4u8).resize(1024));
        let close = Odd::new(close).into_option().expect("odd");
        assert!(!from_primes_for_tests(parameters, &p, &close));
    }

    /// A public key that holds the primes is a mistake that others have made.
    #[test]
    fn a_public_key_does_not_contain_the_primes() {
        let (secret, public) = generate(Parameters::BITS_2048).expect("random numbers");
        let bytes = public.to_bytes();
        let holds = |bytes: &[u8], part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
        for factor in [&secret.p, &secret.q] {
            for form in [factor.number.to_le_bytes(), factor.number.to_be_bytes()] {
                assert!(!holds(&bytes, &form[40..72]), "the public key contains a prime");
                assert!(holds(&[&bytes[..], &form[..]].concat(), &form[40..72]), "it would be found");
            }
        }
    }
}
