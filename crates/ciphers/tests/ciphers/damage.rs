//! Bytes that are damaged, cut, exchanged or made up: an error, or an object of the same form that
//! is written to the same bytes. Never a panic.

use crate::bfv::SMALL;
use crate::paillier::{ALICE, encrypt};
use crate::random;
use felis_ciphers::CipherError;
use felis_ciphers::bfv;
use felis_ciphers::key::{Head, Kind};
use felis_ciphers::magnitude::Magnitude;
use felis_ciphers::paillier;
use sha2::{Digest, Sha256};

/// Writes the checksum of bytes to their end.
fn seal(bytes: &mut [u8]) {
    let (content, checksum) = bytes.split_last_chunk_mut::<32>().expect("a checksum");
    checksum.copy_from_slice(&Sha256::digest(content));
}

/// Reads damaged forms of bytes with `read`, which gives the bytes that the object is written to.
pub fn attack(name: &str, rounds: usize, good: &[u8], read: impl Fn(&[u8]) -> Result<Vec<u8>, CipherError>) {
    let mut random = random(name);
    assert_eq!(read(good).expect("the object itself"), good);
    for length in [0, 1, 3, 41, 42, 43, good.len() / 2, good.len() - 1] {
        assert!(read(&good[..length]).is_err(), "{name}: {length} bytes");
    }
    let mut longer = good.to_vec();
    longer.push(0);
    assert!(read(&longer).is_err(), "{name}: a byte too many");
    for _ in 0..rounds {
        let mut bad = good.to_vec();
        // Half of all damage is in the head and the fields after it.
        for _ in 0..random.usize(1..4) {
            let end = if random.bool() { good.len().min(64) } else { good.len() };
            bad[random.usize(..end)] = if random.bool() { random.u8(..) } else { 255 };
        }
        if random.u8(..8) == 0 {
            let from = random.usize(..bad.len());
            bad[from..].fill(255);
        }
        if bad == good {
            continue;
        }
        assert!(read(&bad).is_err(), "{name}: damage is found");
        // Somebody who makes up bytes computes the checksum, too.
        seal(&mut bad);
        if let Ok(written) = read(&bad) {
            assert_eq!(written, bad, "{name}: there is one form of each object");
        }
    }
}

#[test]
fn paillier_keys_and_ciphertexts() {
    let public = &ALICE.1;
    let read = |bytes: &[u8]| paillier::PublicKey::from_bytes(bytes).map(|key| key.to_bytes());
    attack("public key", 300, &public.to_bytes(), read);
    let read = |bytes: &[u8]| {
        paillier::Ciphertext::from_bytes(bytes, public).map(|cipher| {
            assert!(cipher.add(&cipher).is_ok() || cipher.bound().bits() > 2040);
            cipher.to_bytes()
        })
    };
    attack("ciphertext", 300, &encrypt(5).to_bytes(), read);
    // Residues that are no ciphertexts: 0, n², and more.
    let mut bytes = encrypt(5).to_bytes();
    let residue = bytes.len() - 544..bytes.len() - 32;
    for byte in [0, 255] {
        bytes[residue.clone()].fill(byte);
        seal(&mut bytes);
        let error = paillier::Ciphertext::from_bytes(&bytes, public).expect_err("no ciphertext");
        assert_eq!(error, CipherError::Malformed { part: "ciphertext" });
    }
}

#[test]
fn another_kind_is_named() {
    let error = paillier::PublicKey::from_bytes(&encrypt(5).to_bytes()).expect_err("no key");
    assert_eq!(error, CipherError::Kind { expected: Kind::PublicKey, found: Kind::Ciphertext });
    assert_eq!(error.to_string(), "the bytes are a ciphertext, not a public key");
    let mut bytes = ALICE.1.to_bytes();
    let head = Head::read(&bytes).expect("a head");
    assert_eq!((head.kind, head.key), (Kind::PublicKey, ALICE.1.fingerprint()));
    bytes[100] ^= 1;
    let damaged = CipherError::Malformed { part: "checksum" };
    assert_eq!(paillier::PublicKey::from_bytes(&bytes).err(), Some(damaged));
    seal(&mut bytes);
    assert!(matches!(
        paillier::PublicKey::from_bytes(&bytes),
        Err(CipherError::Fingerprint { carried, .. }) if carried == ALICE.1.fingerprint()
    ));
    bytes[3] = 2;
    assert_eq!(Head::read(&bytes), Err(CipherError::Version { found: 2 }));
    let any: Vec<u8> = (0..100).collect();
    assert_eq!(Head::read(&any), Err(CipherError::Malformed { part: "first bytes" }));
}

#[test]
fn bfv_keys_and_ciphertexts() {
    let keys = &*SMALL;
    let public = &keys.public;
    let read = |bytes: &[u8]| bfv::PublicKey::from_bytes(bytes).map(|key| key.to_bytes());
    attack("public key", 30, &public.to_bytes(), read);
    let read = |bytes: &[u8]| bfv::RelinearizationKey::from_bytes(bytes, public).map(|key| key.to_bytes());
    attack("relinearization key", 30, &keys.relinearization.to_bytes(), read);
    let few = keys.secret.galois_keys(&[1, 5]).expect("keys");
    let read = |bytes: &[u8]| bfv::GaloisKeys::from_bytes(bytes, public).map(|keys| keys.to_bytes());
    attack("Galois keys", 20, &few.to_bytes(), read);
    let shape = bfv::Shape::new(public.parameters(), 8, 1).expect("a shape");
    let cipher = public.encrypt_values(shape, &[1; 8], Magnitude::new(3), 0).expect("a ciphertext");
    let read = |bytes: &[u8]| {
        bfv::Packed::from_bytes(bytes, public).map(|cipher| {
            // Whatever was read is computed with, or refused.
            let _ = cipher.add(&cipher);
            let _ = cipher.multiply(&cipher, &keys.relinearization);
            let _ = cipher.rotate(3, &few);
            assert!(keys.secret.decrypt(&cipher).is_ok());
            cipher.to_bytes()
        })
    };
    attack("ciphertext", 60, &cipher.to_bytes(), read);
}

#[test]
fn keys_that_were_read_work() {
    let keys = &*SMALL;
    let public = bfv::PublicKey::from_bytes(&keys.public.to_bytes()).expect("a key");
    let relinearization =
        bfv::RelinearizationKey::from_bytes(&keys.relinearization.to_bytes(), &public).expect("a key");
    let galois = bfv::GaloisKeys::from_bytes(&keys.galois.to_bytes(), &public).expect("keys");
    let shape = bfv::Shape::new(public.parameters(), 4, 2).expect("a shape");
    let values = [1, 2, 3, 4, 5, 6, 7, 8];
    let cipher = public.encrypt_values(shape, &values, Magnitude::new(8), 0).expect("a ciphertext");
    let cipher = bfv::Packed::from_bytes(&cipher.to_bytes(), &public).expect("a ciphertext");
    let square = cipher.multiply(&cipher, &relinearization).expect("a product");
    assert_eq!(keys.secret.decrypt(&square), Ok(values.map(|value| value * value).to_vec()));
    let sum = square.rotate(3, &galois).expect("a rotation").inner_sum(&galois).expect("a sum");
    assert_eq!(keys.secret.decrypt(&sum), Ok(vec![204; 8]));
}
