//! The keys of BFV: generation, encryption, decryption, and the bytes of the public ones.

use super::context::{VARIANCE, contexts};
use super::encoding::{self, Plain};
use super::noise::{NoiseModel, canonical_norm};
use super::poly::{self, Form, coefficients, message, poly_bytes, ring};
use super::{Packed, Parameters, Shape};
use crate::key::{self, Fingerprint, Head, Kind, same_key};
use crate::magnitude::Magnitude;
use crate::{CipherError, random};
use fhe::bfv::{self, BfvParameters, Encoding, EvaluationKey, EvaluationKeyBuilder, Plaintext};
use fhe::proto::bfv as proto;
use fhe_math::rq::traits::TryConvertFrom;
use fhe_math::rq::{Poly, Representation};
use fhe_traits::{DeserializeParametrized, FheDecrypter, FheEncrypter, Serialize};
use prost::Message;
use rand_of_fhe::SeedableRng;
use rand_of_fhe::rngs::StdRng;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// The number of bytes of the seed of the random half of a key-switching key.
const SEED_BYTES: usize = 32;

/// Returns an error for a failure of `fhe` after all preconditions were checked.
pub(super) fn internal<E>(operation: &'static str) -> impl Fn(E) -> CipherError {
    move |_| CipherError::Internal { operation }
}

/// Returns a random generator of the kind that `fhe` takes, seeded by the operating system.
pub(super) fn generator() -> Result<StdRng, CipherError> {
    let mut seed = Zeroizing::new([0; 32]);
    random::fill(&mut *seed)?;
    Ok(StdRng::from_seed(*seed))
}

/// A public key: encrypts. Clones share the key.
#[derive(Clone)]
pub struct PublicKey(Arc<PublicParts>);

pub(super) struct PublicParts {
    pub(super) parameters: Parameters,
    pub(super) contexts: Vec<Arc<BfvParameters>>,
    keys: Vec<bfv::PublicKey>,
    body: Vec<u8>,
    pub(super) fingerprint: Fingerprint,
    pub(super) model: NoiseModel,
}

impl PublicKey {
    /// Returns the key of a body, which is checked.
    fn new(parameters: Parameters, body: &[u8]) -> Result<PublicKey, CipherError> {
        let size = poly_bytes(parameters);
        if body.len() != 2 * size {
            return Err(CipherError::Malformed { part: "length" });
        }
        let contexts = contexts(parameters)?;
        let (first, second) = body.split_at(size);
        let c = [message(first, parameters, Form::Ntt)?, message(second, parameters, Form::Ntt)?];
        let c = Some(proto::Ciphertext { c: c.to_vec(), seed: Vec::new(), level: 0 });
        let bytes = proto::PublicKey { c }.encode_to_vec();
        let keys = contexts.iter().map(|context| bfv::PublicKey::from_bytes(&bytes, context));
        let keys = keys.collect::<Result<_, _>>().map_err(internal("reading a public key"))?;
        let fingerprint = Fingerprint::of(key::Parameters::Bfv(parameters), &[body]);
        let model = NoiseModel::new(parameters);
        let body = body.to_vec();
        Ok(PublicKey(Arc::new(PublicParts { parameters, contexts, keys, body, fingerprint, model })))
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
        Head { kind, parameters: key::Parameters::Bfv(self.0.parameters), key: self.0.fingerprint }
    }

    /// Writes the key.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = self.head(Kind::PublicKey).write(self.0.body.len());
        bytes.extend(&self.0.body);
        key::seal(bytes)
    }

    /// Reads a key.
    ///
    /// # Errors
    /// Bytes that no key writes, or whose fingerprint is not that of their content.
    pub fn from_bytes(bytes: &[u8]) -> Result<PublicKey, CipherError> {
        let (head, body) = Head::of_kind(bytes, Kind::PublicKey)?;
        let key::Parameters::Bfv(parameters) = head.parameters else {
            let (expected, found) = (key::Scheme::Bfv, head.parameters.scheme());
            return Err(CipherError::Scheme { expected, found });
        };
        if body.len() != 2 * poly_bytes(parameters) {
            return Err(CipherError::Malformed { part: "length" });
        }
        let computed = Fingerprint::of(head.parameters, &[body]);
        if computed != head.key {
            return Err(CipherError::Fingerprint { carried: head.key, computed });
        }
        PublicKey::new(parameters, body)
    }

    /// Encrypts a plain vector.
    ///
    /// # Errors
    /// [`CipherError::Parameters`] if it was encoded for other parameters.
    pub fn encrypt(&self, plain: &Plain) -> Result<Packed, CipherError> {
        self.same_parameters(plain.parameters)?;
        let parts = self.encrypt_parts(&plain.parts)?;
        let noise = self.0.model.check(self.0.model.encryption())?;
        Ok(Packed::new(self.clone(), parts, plain.shape, plain.bound, plain.scale, noise))
    }

    /// Encodes and encrypts a vector; see [`Plain::encode`].
    ///
    /// # Errors
    /// Those of [`Plain::encode`].
    pub fn encrypt_values(
        &self,
        shape: Shape,
        values: &[i128],
        bound: Magnitude,
        scale: u32,
    ) -> Result<Packed, CipherError> {
        self.encrypt(&Plain::encode(self.0.parameters, shape, values, bound, scale)?)
    }

    /// Encrypts a plaintext of each prime.
    fn encrypt_parts(&self, parts: &[Plaintext]) -> Result<Vec<bfv::Ciphertext>, CipherError> {
        let mut generator = generator()?;
        let pairs = self.0.keys.iter().zip(parts);
        let parts = pairs.map(|(key, part)| key.try_encrypt(part, &mut generator));
        parts.collect::<Result<_, _>>().map_err(internal("encryption"))
    }

    /// Returns encryptions of zero.
    pub(super) fn encrypt_zero(&self) -> Result<Vec<bfv::Ciphertext>, CipherError> {
        let zeros = self.0.contexts.iter().map(|context| Plaintext::zero(Encoding::poly(), context));
        let zeros = zeros.collect::<Result<Vec<_>, _>>().map_err(internal("encoding"))?;
        self.encrypt_parts(&zeros)
    }

    pub(super) fn same_parameters(&self, found: Parameters) -> Result<(), CipherError> {
        if self.0.parameters == found {
            return Ok(());
        }
        let text = |parameters| key::Parameters::Bfv(parameters).to_string();
        Err(CipherError::Parameters { expected: text(self.0.parameters), found: text(found) })
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.0.fingerprint)
    }
}

/// A secret key: decrypts, and generates the keys of products and rotations. It is overwritten when
/// it is dropped, and cannot be copied, printed or written.
pub struct SecretKey {
    public: PublicKey,
    coefficients: Zeroizing<Vec<i64>>,
    /// The same key for each prime.
    keys: Vec<bfv::SecretKey>,
}

/// Generates a pair of keys whose secret and whose error have a canonical norm of at most the bound
/// S that the bound of the noise is built on.
///
/// # Errors
/// [`CipherError::NoRandomness`].
pub fn generate(parameters: Parameters) -> Result<(SecretKey, PublicKey), CipherError> {
    let contexts = contexts(parameters)?;
    let model = NoiseModel::new(parameters);
    let mut generator = generator()?;
    let coefficients = loop {
        let drawn = fhe_util::sample_vec_cbd(parameters.degree(), VARIANCE, &mut generator);
        let drawn = Zeroizing::new(drawn.map_err(internal("sampling"))?);
        if canonical_norm(&drawn) <= model.chosen() {
            break drawn;
        }
    };
    let mut secret = proto::SecretKey { coeffs: coefficients.to_vec() };
    let bytes = Zeroizing::new(secret.encode_to_vec());
    secret.coeffs.zeroize();
    let keys = contexts.iter().map(|context| bfv::SecretKey::from_bytes(&bytes, context));
    let keys: Vec<_> = keys.collect::<Result<_, _>>().map_err(internal("a secret key"))?;
    let s = secret_poly(&coefficients, &contexts[0])?;
    let zero = Plaintext::zero(Encoding::poly(), &contexts[0]).map_err(internal("encoding"))?;
    let body = loop {
        let pair: bfv::Ciphertext =
            keys[0].try_encrypt(&zero, &mut generator).map_err(internal("encryption"))?;
        let mut error = Zeroizing::new(pair[1].clone());
        error.disallow_variable_time_computations();
        *error *= &*s;
        *error += &pair[0];
        error.change_representation(Representation::PowerBasis);
        let modulus = parameters.moduli()[0];
        let centered = |&residue: &u64| {
            if residue > modulus / 2 { -((modulus - residue) as i64) } else { residue as i64 }
        };
        let row = error.coefficients();
        let error: Zeroizing<Vec<i64>> =
            Zeroizing::new(row.iter().take(parameters.degree()).map(centered).collect());
        if canonical_norm(&error) <= model.chosen() {
            break [poly::to_bytes(&pair[0]), poly::to_bytes(&pair[1])].concat();
        }
    };
    let public = PublicKey::new(parameters, &body)?;
    Ok((SecretKey { public: public.clone(), coefficients, keys }, public))
}

/// Returns the secret as a polynomial in the form of values at roots.
fn secret_poly(coefficients: &[i64], context: &BfvParameters) -> Result<Zeroizing<Poly>, CipherError> {
    let s = Poly::try_convert_from(coefficients, ring(context)?, false, Representation::PowerBasis);
    let mut s = Zeroizing::new(s.map_err(internal("a secret key"))?);
    s.change_representation(Representation::Ntt);
    Ok(s)
}

impl SecretKey {
    /// Returns the public key.
    pub fn public_key(&self) -> &PublicKey {
        &self.public
    }

    /// Decrypts a vector: all elements of the first row, then those of the second.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`].
    pub fn decrypt(&self, cipher: &Packed) -> Result<Vec<i128>, CipherError> {
        same_key(self.public.fingerprint(), cipher.key().fingerprint())?;
        let pairs = self.keys.iter().zip(cipher.parts());
        let parts = pairs.map(|(key, part)| key.try_decrypt(part));
        let parts = parts.collect::<Result<Vec<_>, _>>().map_err(internal("decryption"))?;
        encoding::decode(self.public.parameters(), cipher.shape(), &parts)
    }

    /// Measures the noise: the base 2 logarithm of its largest coefficient in magnitude. It depends
    /// on the secret key and must not be told to anybody who sees ciphertexts.
    ///
    /// # Errors
    /// [`CipherError::ForeignKey`].
    pub fn measure_noise(&self, cipher: &Packed) -> Result<f64, CipherError> {
        same_key(self.public.fingerprint(), cipher.key().fingerprint())?;
        let parameters = self.public.parameters();
        let contexts = &self.public.parts().contexts;
        let magnitudes = Magnitudes::new(parameters.moduli());
        let mut largest = 0.0f64;
        for ((part, context), &prime) in cipher.parts().iter().zip(contexts).zip(parameters.primes()) {
            let s = secret_poly(&self.coefficients, context)?;
            let mut phase = Zeroizing::new(part[1].clone());
            phase.disallow_variable_time_computations();
            *phase *= &*s;
            *phase += &part[0];
            phase.change_representation(Representation::PowerBasis);
            // t·phase = q·m + t·v, so t·v is the residue of t·phase modulo q nearest to zero.
            let coefficients = phase.coefficients();
            for column in coefficients.columns() {
                let residues: Vec<u64> = column.to_vec();
                largest = largest.max(magnitudes.centered(&residues, prime) / prime as f64);
            }
        }
        Ok(largest.max(1.0).log2())
    }

    /// Generates the key for the relinearization of products.
    ///
    /// # Errors
    /// [`CipherError::NoRandomness`].
    pub fn relinearization_key(&self) -> Result<RelinearizationKey, CipherError> {
        let key = bfv::RelinearizationKey::new(&self.keys[0], &mut generator()?);
        let key = key.map_err(internal("a relinearization key"))?;
        Ok(RelinearizationKey { public: self.public.clone(), key })
    }

    /// Generates keys for rotations by some numbers of columns, and for the exchange of rows. With
    /// those of [`GaloisKeys::powers_of_two`] all rotations and sums are possible.
    ///
    /// # Errors
    /// [`CipherError::NoRotation`] for a number of columns that is 0 or not below the slots of a
    /// row; [`CipherError::NoRandomness`].
    pub fn galois_keys(&self, columns: &[usize]) -> Result<GaloisKeys, CipherError> {
        let row = self.public.parameters().row();
        let mut builder = EvaluationKeyBuilder::new(&self.keys[0]).map_err(internal("Galois keys"))?;
        builder.enable_row_rotation().map_err(internal("Galois keys"))?;
        for &columns in columns {
            if !(1..row).contains(&columns) {
                return Err(CipherError::NoRotation { columns });
            }
            builder.enable_column_rotation(columns).map_err(internal("Galois keys"))?;
        }
        let keys = builder.build(&mut generator()?).map_err(internal("Galois keys"))?;
        Ok(GaloisKeys { public: self.public.clone(), keys })
    }
}

/// Residues modulo the qᵢ as magnitudes.
struct Magnitudes {
    moduli: &'static [u64],
    /// The inverse of each modulus modulo each later one.
    inverses: Vec<Vec<u64>>,
}

fn multiply(a: u64, b: u64, modulus: u64) -> u64 {
    (u128::from(a) * u128::from(b) % u128::from(modulus)) as u64
}

impl Magnitudes {
    fn new(moduli: &'static [u64]) -> Magnitudes {
        // By Fermat's theorem.
        let inverse = |value: u64, modulus: u64| {
            let bits = (0..64).rev().map(|bit| (modulus - 2) >> bit & 1);
            bits.fold(1, |power, bit| {
                let square = multiply(power, power, modulus);
                if bit == 1 { multiply(square, value % modulus, modulus) } else { square }
            })
        };
        let inverses = moduli.iter().map(|&modulus| moduli.iter().map(|&m| inverse(m, modulus)).collect());
        Magnitudes { moduli, inverses: inverses.collect() }
    }

    /// Returns the number with these residues as a float, by its digits in the mixed radix of the
    /// moduli.
    fn size(&self, residues: &[u64]) -> f64 {
        let mut digits = Zeroizing::new(residues.to_vec());
        for (at, &modulus) in self.moduli.iter().enumerate() {
            for below in 0..at {
                let difference = (digits[at] + modulus - digits[below] % modulus) % modulus;
                digits[at] = multiply(difference, self.inverses[at][below], modulus);
            }
        }
        let places = digits.iter().zip(self.moduli).rev();
        places.fold(0.0, |sum, (&digit, &modulus)| sum * modulus as f64 + digit as f64)
    }

    /// Returns the magnitude of the number nearest to zero that is `factor` times these residues. A
    /// float is exact in its leading bits for a number near zero, so one near q is taken by its
    /// negative.
    fn centered(&self, residues: &[u64], factor: u64) -> f64 {
        let pairs = residues.iter().zip(self.moduli);
        let scaled: Vec<u64> = pairs.map(|(&r, &modulus)| multiply(r, factor, modulus)).collect();
        let pairs = scaled.iter().zip(self.moduli);
        let negated: Vec<u64> = pairs.map(|(&r, &modulus)| (modulus - r) % modulus).collect();
        self.size(&scaled).min(self.size(&negated))
    }
}

/// The key with which a product is relinearized.
pub struct RelinearizationKey {
    public: PublicKey,
    pub(super) key: bfv::RelinearizationKey,
}

impl RelinearizationKey {
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
        let key = bfv::RelinearizationKey::from_bytes(&message, &public.0.contexts[0]);
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
    public: PublicKey,
    pub(super) keys: EvaluationKey,
}

impl GaloisKeys {
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
        let keys = EvaluationKey::from_bytes(&message.encode_to_vec(), &public.0.contexts[0]);
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

impl PublicKey {
    /// Returns the body of an object that belongs to this key.
    pub(super) fn body_of<'a>(&self, bytes: &'a [u8], kind: Kind) -> Result<&'a [u8], CipherError> {
        let parameters = key::Parameters::Bfv(self.0.parameters);
        Head::of_key(bytes, kind, parameters, self.0.fingerprint)
    }
}
