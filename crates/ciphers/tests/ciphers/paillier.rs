//! Paillier's scheme against plain arithmetic, and everything that it refuses.

use crate::random;
use felis_ciphers::CipherError;
use felis_ciphers::magnitude::Magnitude;
use felis_ciphers::paillier::{Ciphertext, Parameters, PublicKey, SecretKey, generate};
use std::sync::LazyLock;

pub static ALICE: LazyLock<(SecretKey, PublicKey)> =
    LazyLock::new(|| generate(Parameters::BITS_2048).expect("keys"));
static BOB: LazyLock<(SecretKey, PublicKey)> =
    LazyLock::new(|| generate(Parameters::BITS_2048).expect("keys"));

fn bits(bits: u32) -> Magnitude {
    Magnitude::power_of_two(bits)
}

pub fn encrypt(value: i128) -> Ciphertext {
    ALICE.1.encrypt(value, bits(64), 0).expect("a ciphertext")
}

/// Returns a number that is often at an end of its range.
fn number(random: &mut fastrand::Rng) -> i128 {
    match random.u8(..6) {
        0 => i64::MIN.into(),
        1 => i64::MAX.into(),
        2 => 0,
        3 => -1,
        _ => random.i64(..).into(),
    }
}

#[test]
fn results_are_those_of_integers() {
    let mut random = random("paillier");
    let (secret, public) = &*ALICE;
    let decrypt = |cipher: Result<Ciphertext, CipherError>| {
        secret.decrypt(&cipher.expect("a ciphertext")).expect("a number")
    };
    for _ in 0..8 {
        let (x, y, k) = (number(&mut random), number(&mut random), number(&mut random) >> 4);
        let (a, b) = (encrypt(x), encrypt(y));
        assert_eq!(decrypt(Ok(a.clone())), x);
        assert_eq!(decrypt(a.add(&b)), x + y);
        assert_eq!(decrypt(a.subtract(&b)), x - y);
        assert_eq!(decrypt(a.negate()), -x);
        assert_eq!(decrypt(a.add_plain(y, bits(64))), x + y);
        let a = public.encrypt(x >> 3, bits(61), 0).expect("a ciphertext");
        assert_eq!(decrypt(a.scale_by(k, bits(60), 0)), (x >> 3) * k);
        assert_eq!(decrypt(a.scale_public(k, 0)), (x >> 3) * k);
        let again = public.rerandomize(&a).expect("a ciphertext");
        assert_ne!(again.to_bytes(), a.to_bytes());
        assert_eq!(decrypt(Ok(again)), x >> 3);
        let read = Ciphertext::from_bytes(&a.to_bytes(), public).expect("a ciphertext");
        assert_eq!((decrypt(Ok(read.clone())), read.bound()), (x >> 3, bits(61)));
        assert_eq!(read.to_bytes(), a.to_bytes());
    }
    let values: Vec<i128> = (0..20).map(|_| number(&mut random)).collect();
    let ciphers: Vec<Ciphertext> = values.iter().map(|&value| encrypt(value)).collect();
    assert_eq!(decrypt(Ciphertext::sum(&ciphers)), values.iter().sum::<i128>());
    let factors: Vec<i128> = (0..20).map(|_| random.i128(-(1 << 32)..=1 << 32)).collect();
    let expected = values.iter().zip(&factors).map(|(value, factor)| value * factor).sum::<i128>();
    assert_eq!(decrypt(Ciphertext::dot(&ciphers, &factors, bits(32), 0)), expected);
    let error = Ciphertext::dot(&ciphers, &factors[1..], bits(32), 0).expect_err("a factor is missing");
    assert_eq!(error, CipherError::Length { expected: 20, found: 19 });
}

#[test]
fn the_ends_of_the_result_are_decrypted() {
    let (secret, public) = &*ALICE;
    for value in [i128::MAX, -i128::MAX, 1 - i128::MAX] {
        let cipher = public.encrypt(value, Magnitude::new(i128::MAX as u128), 0);
        // A bound of 2^127 - 1 is rounded up to 2^127, which the result does not hold.
        let error = secret.decrypt(&cipher.expect("a ciphertext")).expect_err("too large");
        assert_eq!(error, CipherError::Overflow { bits: 127, limit: 127 });
        let cipher = public.encrypt(value >> 1, bits(126), 0).expect("a ciphertext");
        assert_eq!(secret.decrypt(&cipher), Ok(value >> 1));
    }
}

#[test]
fn a_modulus_of_3072_bits_works() {
    let (secret, public) = generate(Parameters::BITS_3072).expect("keys");
    let cipher = public.encrypt(-5, bits(3), 0).expect("a ciphertext");
    let product = cipher.scale_by(-7, bits(3), 0).expect("a ciphertext");
    assert_eq!(secret.decrypt(&product), Ok(35));
    assert_eq!(secret.decrypt(&encrypt(1)).map_err(|error| error.to_string()), {
        let (expected, found) = (public.fingerprint(), ALICE.1.fingerprint());
        Err(format!("this belongs to the key {found}, not to {expected}"))
    });
}

#[test]
fn operands_of_two_keys_are_refused() {
    let a = encrypt(1);
    let b = BOB.1.encrypt(1, bits(8), 0).expect("a ciphertext");
    let foreign = CipherError::ForeignKey { expected: ALICE.1.fingerprint(), found: BOB.1.fingerprint() };
    assert_eq!(a.add(&b).err(), Some(foreign.clone()));
    assert_eq!(a.subtract(&b).err(), Some(foreign.clone()));
    assert_eq!(Ciphertext::sum(&[a.clone(), b.clone()]).err(), Some(foreign.clone()));
    assert_eq!(ALICE.0.decrypt(&b).err(), Some(foreign.clone()));
    assert_eq!(ALICE.1.rerandomize(&b).err(), Some(foreign.clone()));
    assert_eq!(Ciphertext::from_bytes(&b.to_bytes(), &ALICE.1).err(), Some(foreign));
}

#[test]
fn scales_must_be_equal() {
    let fixed = |scale: u32| ALICE.1.encrypt(3i128 << scale, bits(40), scale).expect("a ciphertext");
    let error = CipherError::Scale { left: 16, right: 8 };
    assert_eq!(fixed(16).add(&fixed(8)).err(), Some(error.clone()));
    assert_eq!(Ciphertext::sum(&[fixed(16), fixed(8)]).err(), Some(error));
    let product = fixed(16).scale_by(5 << 8, bits(20), 8).expect("a ciphertext");
    assert_eq!((product.scale(), ALICE.0.decrypt(&product)), (24, Ok(15 << 24)));
    assert!(matches!(fixed(1).scale_public(1, u32::MAX), Err(CipherError::Overflow { .. })));
}

#[test]
fn nothing_wraps_around() {
    let public = &ALICE.1;
    let mut cipher = encrypt(3);
    let mut steps = 0;
    let error = loop {
        match cipher.scale_public(i128::MAX, 0) {
            Ok(product) => (cipher, steps) = (product, steps + 1),
            Err(error) => break error,
        }
    };
    // 64 bits and 15 factors of 127 are 1969 bits; one more would be 2096.
    assert_eq!((steps, error), (15, CipherError::Overflow { bits: 2096, limit: 2046 }));
    assert!(matches!(ALICE.0.decrypt(&cipher), Err(CipherError::Overflow { limit: 127, .. })));
    let half = public.encrypt(1, bits(2045), 0).expect("a ciphertext");
    let overflow = CipherError::Overflow { bits: 2046, limit: 2046 };
    assert_eq!(half.add(&half).err(), Some(overflow.clone()));
    assert_eq!(half.subtract(&half).err(), Some(overflow.clone()));
    assert_eq!(Ciphertext::sum(&[half.clone(), half.clone()]).err(), Some(overflow.clone()));
    assert_eq!(half.add_plain(0, bits(2045)).err(), Some(overflow.clone()));
    assert_eq!(public.encrypt(0, bits(2046), 0).err(), Some(overflow));
    assert_eq!(public.encrypt(9, bits(3), 0).err(), Some(CipherError::Magnitude { position: 0 }));
    assert_eq!(half.scale_by(-2, Magnitude::ONE, 0).err(), Some(CipherError::Magnitude { position: 0 }));
    assert_eq!(Ciphertext::sum(&[]).err(), Some(CipherError::Length { expected: 1, found: 0 }));
}
