//! The keys of relinearization and rotation, which switch a ciphertext from one secret to another,
//! and their bytes.

use super::keys::internal;
use super::poly::{Form, coefficients, message, poly_bytes};
use super::{Parameters, PublicKey};
use crate::CipherError;
use crate::key::{self, Fingerprint, Kind};
use fhe::bfv::{self, EvaluationKey};
use fhe::proto::bfv as proto;
use fhe_traits::{DeserializeParametrized, Serialize};
use prost::Message;
use std::collections::BTreeMap;
use std::fmt;

/// The number of bytes of the seed of the random half of a key-switching key.
const SEED_BYTES: usize = 32;

/// The key with which a product is relinearized.
pub struct RelinearizationKey {
    pub(super) public: PublicKey,
    pub(super) key: bfv::RelinearizationKey,
}

impl RelinearizationKey {
    /// Returns the public key of the pair that it belongs to.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Returns the fingerprint of the pair of keys that it belongs to.
    pub fn fingerprint(&self) -> Fingerprint {
        self.public.fingerprint()
    }

    /// Writes the key.
    pub fn to_bytes(&self) -> Vec<u8> {
        let message = proto::RelinearizationKey::decode(self.key.to_bytes().as_slice());
        let ksk = message.expect("a key that was just written").ksk.expect("a key has one");
        let mut bytes =
            self.public.head(Kind::RelinearizationKey).write(switching_bytes(self.public.parameters()));
        write_switching_key(&ksk, &mut bytes);
        key::seal(bytes)
    }

    /// Reads a key that belongs to a public key.
    ///
    /// # Errors
    /// Bytes that no such key writes.
    pub fn from_bytes(bytes: &[u8], public: &PublicKey) -> Result<RelinearizationKey, CipherError> {
        let body = public.body_of(bytes, Kind::RelinearizationKey)?;
        if body.len() != switching_bytes(public.parameters()) {
            return Err(CipherError::Malformed { part: "length" });
        }
        let ksk = Some(read_switching_key(body, public.parameters())?);
        let message = proto::RelinearizationKey { ksk }.encode_to_vec();
        let key = bfv::RelinearizationKey::from_bytes(&message, &public.parts().contexts[0]);
        let key = key.map_err(internal("reading a relinearization key"))?;
        Ok(RelinearizationKey { public: public.clone(), key })
    }
}

impl fmt::Debug for RelinearizationKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RelinearizationKey({})", self.fingerprint())
    }
}

/// The keys with which vectors are rotated.
pub struct GaloisKeys {
    pub(super) public: PublicKey,
    pub(super) keys: EvaluationKey,
}

impl GaloisKeys {
    /// Returns the public key of the pair that they belong to.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Returns the powers of two below the number of slots of a row: what all rotations and sums
    /// are made of.
    pub fn powers_of_two(parameters: Parameters) -> Vec<usize> {
        (0..parameters.row().ilog2()).map(|bit| 1 << bit).collect()
    }

    /// Returns the fingerprint of the pair of keys that they belong to.
    pub fn fingerprint(&self) -> Fingerprint {
        self.public.fingerprint()
    }

    /// Writes the keys: their number, then each with its number of columns, where 0 is the exchange
    /// of rows, in ascending order.
    pub fn to_bytes(&self) -> Vec<u8> {
        let parameters = self.public.parameters();
        let message = proto::EvaluationKey::decode(self.keys.to_bytes().as_slice());
        let message = message.expect("keys that were just written");
        let columns: BTreeMap<u32, u32> =
            (0..parameters.row() as u32).map(|columns| (exponent(parameters, columns), columns)).collect();
        let keys: BTreeMap<u32, proto::KeySwitchingKey> = message
            .gk
            .into_iter()
            .map(|key| (columns[&key.exponent], key.ksk.expect("a key has one")))
            .collect();
        let size = 4 + switching_bytes(parameters);
        let mut bytes = self.public.head(Kind::GaloisKeys).write(4 + keys.len() * size);
        bytes.extend((keys.len() as u32).to_le_bytes());
        for (columns, key) in &keys {
            bytes.extend(columns.to_le_bytes());
            write_switching_key(key, &mut bytes);
        }
        key::seal(bytes)
    }

    /// Reads keys that belong to a public key.
    ///
    /// # Errors
    /// Bytes that no such keys write.
    pub fn from_bytes(bytes: &[u8], public: &PublicKey) -> Result<GaloisKeys, CipherError> {
        let parameters = public.parameters();
        let body = public.body_of(bytes, Kind::GaloisKeys)?;
        let Some((count, body)) = body.split_first_chunk() else {
            return Err(CipherError::Malformed { part: "number of keys" });
        };
        let (count, size) = (u32::from_le_bytes(*count) as usize, 4 + switching_bytes(parameters));
        if count > parameters.row() || body.len() != count * size {
            return Err(CipherError::Malformed { part: "length" });
        }
        let mut previous = None;
        let mut gk = Vec::with_capacity(count);
        for key in body.chunks(size) {
            let (columns, key) = key.split_first_chunk().expect("a chunk has a number of columns");
            let columns = u32::from_le_bytes(*columns);
            let ascending = previous.is_none_or(|previous| previous < columns);
            if !ascending || columns as usize >= parameters.row() {
                return Err(CipherError::Malformed { part: "number of columns" });
            }
            previous = Some(columns);
            let ksk = Some(read_switching_key(key, parameters)?);
            gk.push(proto::GaloisKey { ksk, exponent: exponent(parameters, columns) });
        }
        let message = proto::EvaluationKey { gk, ciphertext_level: 0, evaluation_key_level: 0 };
        let keys = EvaluationKey::from_bytes(&message.encode_to_vec(), &public.parts().contexts[0]);
        let keys = keys.map_err(internal("reading Galois keys"))?;
        Ok(GaloisKeys { public: public.clone(), keys })
    }
}

impl fmt::Debug for GaloisKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GaloisKeys({})", self.fingerprint())
    }
}

/// Returns the exponent of the automorphism that rotates by columns, or exchanges rows for 0.
fn exponent(parameters: Parameters, columns: u32) -> u32 {
    let order = 2 * parameters.degree() as u64;
    if columns == 0 {
        return order as u32 - 1;
    }
    let (mut result, mut power, mut rest) = (1, 3, columns);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * power % order;
        }
        power = power * power % order;
        rest >>= 1;
    }
    result as u32
}

/// Returns the number of bytes of a key-switching key: its seed and a polynomial for each modulus.
fn switching_bytes(parameters: Parameters) -> usize {
    SEED_BYTES + parameters.moduli().len() * poly_bytes(parameters)
}

fn write_switching_key(key: &proto::KeySwitchingKey, to: &mut Vec<u8>) {
    to.extend(&key.seed);
    for part in &key.c0 {
        to.extend(coefficients(part).expect("a polynomial that was just written"));
    }
}

/// Reads a key-switching key from as many bytes as it has.
fn read_switching_key(bytes: &[u8], parameters: Parameters) -> Result<proto::KeySwitchingKey, CipherError> {
    let (seed, parts) = bytes.split_at(SEED_BYTES);
    let parts = parts.chunks(poly_bytes(parameters));
    let c0 = parts.map(|part| message(part, parameters, Form::NttShoup)).collect::<Result<_, _>>()?;
    Ok(proto::KeySwitchingKey {
        c0,
        c1: Vec::new(),
        seed: seed.to_vec(),
        ciphertext_level: 0,
        ksk_level: 0,
        log_base: 0,
    })
}
