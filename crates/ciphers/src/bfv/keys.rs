//! The keys of BFV: generation, encryption, decryption, and the bytes of the public ones.

use super::context::{VARIANCE, contexts};
use super::encoding::{self, Plain};
use super::noise::{NoiseModel, canonical_norm};
use super::poly::{self, Form, message, poly_bytes, ring};
use super::residues::Magnitudes;
use super::{GaloisKeys, Packed, Parameters, RelinearizationKey, Shape};
use crate::key::{self, Fingerprint, Head, Kind, same_key};
use crate::magnitude::Magnitude;
use crate::{CipherError, random};
use fhe::bfv::{self, BfvParameters, Encoding, EvaluationKeyBuilder, Plaintext};
use fhe::proto::bfv as proto;
use fhe_math::rq::traits::TryConvertFrom;
use fhe_math::rq::{Poly, Representation};
use fhe_traits::{DeserializeParametrized, FheDecrypter, FheEncrypter};
use prost::Message;
use rand_of_fhe::SeedableRng;
use rand_of_fhe::rngs::StdRng;
use std::fmt;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

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
    /// The errors of [`Plain::encode`].
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

impl PublicKey {
    /// Returns the body of an object that belongs to this key.
    pub(super) fn body_of<'a>(&self, bytes: &'a [u8], kind: Kind) -> Result<&'a [u8], CipherError> {
        let parameters = key::Parameters::Bfv(self.0.parameters);
        Head::of_key(bytes, kind, parameters, self.0.fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fhe_traits::Serialize;

    /// Returns true if bytes contain a part of others: 48 bytes at one of several offsets.
    fn holds_part(bytes: &[u8], of: &[u8]) -> bool {
        let part = 48;
        let offsets = [0, of.len() / 3, of.len() / 2, of.len() - part];
        offsets.iter().any(|&at| bytes.windows(part).any(|window| window == &of[at..at + part]))
    }

    /// A public key that holds the secret one, and a key for products with the secret key inside,
    /// are mistakes that others have made.
    #[test]
    fn keys_that_move_do_not_contain_the_secret() {
        let parameters = Parameters::new(4096, 1).expect("supported");
        let (secret, public) = generate(parameters).expect("random numbers");
        let s = secret_poly(&secret.coefficients, &public.parts().contexts[0]).expect("a polynomial");
        let mut powers = s.clone();
        powers.change_representation(Representation::PowerBasis);
        let mut shoup = s.clone();
        shoup.change_representation(Representation::NttShoup);
        let words: Vec<u8> = secret.coefficients.iter().flat_map(|c| c.to_le_bytes()).collect();
        let bytes: Vec<u8> = secret.coefficients.iter().map(|&c| c as u8).collect();
        let message = secret.keys[0].to_bytes();
        let forms =
            [poly::to_bytes(&s), poly::to_bytes(&powers), poly::to_bytes(&shoup), words, bytes, message];
        let columns = GaloisKeys::powers_of_two(parameters);
        let moved = [
            public.to_bytes(),
            secret.relinearization_key().expect("a key").to_bytes(),
            secret.galois_keys(&columns[..2]).expect("keys").to_bytes(),
        ];
        for form in &forms {
            for key in &moved {
                assert!(!holds_part(key, form), "a key that moves contains the secret");
                assert!(holds_part(&[&key[..99], form].concat(), form), "it would be found");
            }
        }
    }
}
