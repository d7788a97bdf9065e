//! Objects of the schemes: keys and ciphertexts, their identity, and the bytes that they travel as.
//!
//! Takes what `crates/ciphers` makes; gives native values. The bytes of an object are its kind, its
//! public key unless the message had it before, and the form that `crates/ciphers` writes. Secret
//! keys have none.

use crate::eval::error::Failure;
use crate::types::{Type, TypeKind};
use crate::value::Value;
use felis_ciphers::key::{Fingerprint, Head, Kind, Parameters, Scheme};
use felis_ciphers::{CipherError, bfv, intersection, paillier};
use num_bigint::BigUint;
use num_traits::ToPrimitive;
use std::ops::Deref;
use std::sync::{Arc, OnceLock};

/// The bytes of a fingerprint that are the number of a key.
const NUMBER_BYTES: usize = 16;

/// A secret key.
pub(super) enum SecretKey {
    /// A key of Paillier.
    Paillier(Box<paillier::SecretKey>),
    /// A key of BFV.
    Bfv(bfv::SecretKey),
}

/// A public key.
#[derive(Clone)]
pub(super) enum PublicKey {
    /// A key of Paillier.
    Paillier(paillier::PublicKey),
    /// A key of BFV.
    Bfv(bfv::PublicKey),
}

impl PublicKey {
    /// Returns the fingerprint.
    fn fingerprint(&self) -> Fingerprint {
        match self {
            PublicKey::Paillier(key) => key.fingerprint(),
            PublicKey::Bfv(key) => key.fingerprint(),
        }
    }

    /// Returns the scheme with its parameters.
    fn parameters(&self) -> Parameters {
        match self {
            PublicKey::Paillier(key) => Parameters::Paillier(key.parameters()),
            PublicKey::Bfv(key) => Parameters::Bfv(key.parameters()),
        }
    }

    /// Writes the key.
    fn to_bytes(&self) -> Vec<u8> {
        match self {
            PublicKey::Paillier(key) => key.to_bytes(),
            PublicKey::Bfv(key) => key.to_bytes(),
        }
    }

    /// Reads a key of either scheme.
    fn from_bytes(bytes: &[u8]) -> Result<PublicKey, CipherError> {
        Ok(match Head::read(bytes)?.parameters.scheme() {
            Scheme::Paillier => PublicKey::Paillier(paillier::PublicKey::from_bytes(bytes)?),
            Scheme::Bfv => PublicKey::Bfv(bfv::PublicKey::from_bytes(bytes)?),
        })
    }
}

/// The base 2 logarithm of the statistical distance, of one prime, between the noises of two
/// computations of what leaves a place.
const FLOODING_BITS: u32 = 40;

/// A scheme's ciphertext that can be replaced by one that does not tell how it was computed.
pub(super) trait Refresh: Sized {
    /// Returns a ciphertext of the same numbers, uniform among those or with flooded noise.
    fn refreshed(&self) -> Result<Self, CipherError>;
}

impl Refresh for paillier::Ciphertext {
    fn refreshed(&self) -> Result<Self, CipherError> {
        self.key().rerandomize(self)
    }
}

impl Refresh for bfv::Packed {
    fn refreshed(&self) -> Result<Self, CipherError> {
        self.flood(FLOODING_BITS)
    }
}

/// A ciphertext, and the form of it that leaves a place.
///
/// The randomness and the noise of a ciphertext tell who has the secret key which operations it
/// came from, or which other ciphertext it is: what private factors and choices computed would be
/// told with it. So a ciphertext that was not made by encryption or refreshing right here is
/// refreshed once before it is moved or written.
pub(super) struct RerandomizedOnExport<C> {
    /// The ciphertext that is computed with.
    cipher: C,
    /// True if it was encrypted or refreshed here, and nothing was computed with it since.
    fresh: bool,
    /// The form that was moved, of one that is not fresh.
    moved: OnceLock<C>,
}

impl<C: Refresh> RerandomizedOnExport<C> {
    /// Returns the form that leaves the place.
    fn outgoing(&self) -> Result<&C, CipherError> {
        if self.fresh {
            return Ok(&self.cipher);
        }
        match self.moved.get() {
            Some(moved) => Ok(moved),
            None => {
                let refreshed = self.cipher.refreshed()?;
                Ok(self.moved.get_or_init(|| refreshed))
            }
        }
    }

    /// Returns the form that has left the place, or the ciphertext itself where none has.
    fn known_to_others(&self) -> &C {
        self.moved.get().unwrap_or(&self.cipher)
    }
}

impl<C> Deref for RerandomizedOnExport<C> {
    type Target = C;

    fn deref(&self) -> &C {
        &self.cipher
    }
}

/// The reason for which bytes of an object are made.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(in crate::eval) enum Purpose {
    /// They leave the place.
    Move,
    /// They are compared with what all know.
    Compare,
}

/// A key or a ciphertext.
pub(super) enum Object {
    /// A secret key, with its public key.
    Secret(SecretKey),
    /// A public key.
    Public(PublicKey),
    /// The ciphertext of a number.
    Cipher(RerandomizedOnExport<paillier::Ciphertext>),
    /// The ciphertext of a vector.
    Packed(RerandomizedOnExport<bfv::Packed>),
    /// A key for products.
    Products(bfv::RelinearizationKey),
    /// Keys for rotations.
    Rotations(bfv::GaloisKeys),
    /// The secret exponent of a party for a private intersection.
    Exponent(intersection::Exponent),
    /// The key of a keyed hash that two parties have in common.
    TagKey(intersection::PrfKey),
}

/// The public keys of one message, which has each of them once.
#[derive(Default)]
pub(in crate::eval) struct KeyTable(Vec<PublicKey>);

/// Returns the error of a refused operation.
pub(super) fn cipher_failure(error: CipherError) -> Failure {
    match error {
        CipherError::NoiseExhausted { .. } => Failure::NoiseExhausted { message: error.to_string() },
        CipherError::Overflow { .. } => Failure::CipherOverflow { message: error.to_string() },
        _ => Failure::CipherRefused { message: error.to_string() },
    }
}

/// Returns the scheme and the parameters that a type names: `paillier[2048]`, `bfv[8192, 2]`.
pub(super) fn parameters_of_type(ty: &Type) -> Result<Parameters, Failure> {
    let number = |ty: &Type| ty.size().ok().and_then(|size| size.to_u32()).unwrap_or(u32::MAX);
    if let TypeKind::Nominal(nominal, args) = ty.kind() {
        match (&*nominal.name, &args[..]) {
            ("paillier", [bits]) => {
                return paillier::Parameters::new(number(bits))
                    .map(Parameters::Paillier)
                    .map_err(cipher_failure);
            }
            ("bfv", [degree, primes]) => {
                let parameters = bfv::Parameters::new(number(degree) as usize, number(primes) as usize);
                return parameters.map(Parameters::Bfv).map_err(cipher_failure);
            }
            _ => {}
        }
    }
    Err(Failure::CipherRefused { message: format!("`{ty}` is no scheme of encryption") })
}

/// Returns the number of binary digits after the point of a type of numbers: F of `fxp[F, M]`.
fn scale_of(ty: &Type) -> u32 {
    match ty.kind() {
        TypeKind::Nominal(nominal, args) if &*nominal.name == "fxp" => {
            args.first().and_then(|digits| digits.size().ok()?.to_u32()).unwrap_or(u32::MAX)
        }
        _ => 0,
    }
}

impl Object {
    /// Returns a ciphertext of a number that was computed from others.
    pub(super) fn from_paillier(cipher: paillier::Ciphertext) -> Object {
        Object::Cipher(RerandomizedOnExport { cipher, fresh: false, moved: OnceLock::new() })
    }

    /// Returns a ciphertext of a vector that was computed from others.
    pub(super) fn from_bfv(cipher: bfv::Packed) -> Object {
        Object::Packed(RerandomizedOnExport { cipher, fresh: false, moved: OnceLock::new() })
    }

    /// Returns the object marked as one that was encrypted or refreshed here.
    pub(super) fn mark_rerandomized(mut self) -> Object {
        match &mut self {
            Object::Cipher(cipher) => cipher.fresh = true,
            Object::Packed(cipher) => cipher.fresh = true,
            _ => {}
        }
        self
    }

    /// Returns the object of a native value.
    pub(super) fn of(value: &Value) -> Result<&Object, Failure> {
        let found = match value {
            Value::Native(any) => any.downcast_ref::<Object>(),
            _ => None,
        };
        found.ok_or(Failure::Internal { message: "a value that is no key or ciphertext" })
    }

    /// Returns the object as a native value.
    pub(super) fn into_value(self) -> Value {
        Value::Native(Arc::new(self))
    }

    /// Returns the public key that the object belongs to; `None` for what belongs to no pair.
    fn key(&self) -> Option<PublicKey> {
        Some(match self {
            Object::Secret(SecretKey::Paillier(key)) => PublicKey::Paillier(key.public_key().clone()),
            Object::Secret(SecretKey::Bfv(key)) => PublicKey::Bfv(key.public_key().clone()),
            Object::Public(key) => key.clone(),
            Object::Cipher(cipher) => PublicKey::Paillier(cipher.key().clone()),
            Object::Packed(cipher) => PublicKey::Bfv(cipher.key().clone()),
            Object::Products(key) => PublicKey::Bfv(key.public_key().clone()),
            Object::Rotations(key) => PublicKey::Bfv(key.public_key().clone()),
            Object::Exponent(_) | Object::TagKey(_) => return None,
        })
    }

    /// Returns the public key of a secret key.
    pub(super) fn public_part(&self) -> Option<Object> {
        self.key().map(Object::Public)
    }

    /// Returns the number of the key that the object belongs to.
    pub(super) fn number(&self) -> Option<BigUint> {
        let key = self.key()?;
        Some(BigUint::from_bytes_be(&key.fingerprint().as_bytes()[..NUMBER_BYTES]))
    }

    /// Compares the object with a type.
    ///
    /// # Errors
    /// Another kind of object, another key, other parameters, another scale or another length.
    pub(super) fn check_type(&self, ty: &Type) -> Result<(), Failure> {
        let message = match ty.kind() {
            TypeKind::Nominal(nominal, args) => self.difference(&nominal.name, args),
            _ => Some(format!("{} is no `{ty}`", self.name())),
        };
        message.map_or(Ok(()), |message| Err(Failure::CipherRefused { message }))
    }

    /// Returns what differs between the object and a type with this name and these arguments.
    fn difference(&self, name: &str, args: &[Type]) -> Option<String> {
        let known = matches!(
            (name, self),
            ("secret_key", Object::Secret(_))
                | ("public_key", Object::Public(_))
                | ("cipher", Object::Cipher(_))
                | ("packed", Object::Packed(_))
                | ("product_key", Object::Products(_))
                | ("rotation_keys", Object::Rotations(_))
                | ("blinding", Object::Exponent(_))
                | ("tag_key", Object::TagKey(_))
        );
        if !known {
            return Some(format!("this is {}, where `{name}` is needed", self.name()));
        }
        let key = self.key()?;
        if args.first().is_none_or(|number| number.size().ok() != self.number()) {
            let number = |ty: &Type| {
                let bytes = ty.size().map(|size| size.to_bytes_be()).unwrap_or_default();
                bytes.iter().take(8).fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
            };
            let (found, expected) = (key.fingerprint(), args.first().map(number).unwrap_or_default());
            return Some(format!("this belongs to the key {found}, not to {expected}"));
        }
        match self {
            Object::Secret(_) | Object::Public(_) => {
                let found = key.parameters();
                match parameters_of_type(&args[1]) {
                    Ok(expected) if found == expected => None,
                    Ok(expected) => Some(format!("the parameters are {found}, where {expected} are needed")),
                    Err(_) => Some(format!("the parameters are {found}, where `{}` is needed", args[1])),
                }
            }
            Object::Cipher(cipher) => digits_differ(cipher.scale(), &args[1]),
            Object::Packed(cipher) => {
                let (found, expected) = (cipher.shape().elements(), args[2].size().ok());
                let differ = || format!("there are {found} elements where `{}` are needed", args[2]);
                (expected != Some(BigUint::from(found)))
                    .then(differ)
                    .or_else(|| digits_differ(cipher.scale(), &args[1]))
            }
            Object::Products(_) | Object::Rotations(_) | Object::Exponent(_) | Object::TagKey(_) => None,
        }
    }

    /// Returns the kind of the object, for messages.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Object::Secret(_) => "a secret key",
            Object::Public(_) => "a public key",
            Object::Cipher(_) => "the ciphertext of a number",
            Object::Packed(_) => "the ciphertext of a vector",
            Object::Products(_) => "a key for products",
            Object::Rotations(_) => "keys for rotations",
            Object::Exponent(_) => "a secret exponent",
            Object::TagKey(_) => "the key of a keyed hash",
        }
    }

    /// Appends the bytes of the object; returns false, and appends none, for a secret.
    ///
    /// # Errors
    /// A ciphertext that leaves the place and has no room for flooding.
    pub(super) fn encode(
        &self,
        purpose: Purpose,
        keys: &mut KeyTable,
        out: &mut Vec<u8>,
    ) -> Result<bool, CipherError> {
        let moves = purpose == Purpose::Move;
        let (kind, body) = match self {
            Object::Secret(_) | Object::Exponent(_) | Object::TagKey(_) => return Ok(false),
            Object::Public(_) => (Kind::PublicKey, Vec::new()),
            Object::Cipher(cipher) => {
                let sent = if moves { cipher.outgoing()? } else { cipher.known_to_others() };
                (Kind::Ciphertext, sent.to_bytes())
            }
            Object::Packed(cipher) => {
                let sent = if moves { cipher.outgoing()? } else { cipher.known_to_others() };
                (Kind::Ciphertext, sent.to_bytes())
            }
            Object::Products(key) => (Kind::RelinearizationKey, key.to_bytes()),
            Object::Rotations(key) => (Kind::GaloisKeys, key.to_bytes()),
        };
        let Some(key) = self.key() else { return Ok(false) };
        let at = keys.0.iter().position(|known| known.fingerprint() == key.fingerprint());
        out.push(kind as u8);
        out.extend((at.unwrap_or(keys.0.len()) as u32).to_le_bytes());
        if at.is_none() {
            put_bytes(&key.to_bytes(), out);
            keys.0.push(key);
        }
        if kind != Kind::PublicKey {
            put_bytes(&body, out);
        }
        Ok(true)
    }

    /// Takes an object from the front of bytes.
    ///
    /// # Errors
    /// Bytes that no object writes.
    pub(super) fn decode(keys: &mut KeyTable, rest: &mut &[u8]) -> Result<Object, CipherError> {
        let damaged = |part| CipherError::Malformed { part };
        let (&kind, more) = rest.split_first().ok_or(damaged("kind"))?;
        let (at, more) = more.split_first_chunk().ok_or(damaged("key"))?;
        let at = u32::from_le_bytes(*at) as usize;
        *rest = more;
        if at > keys.0.len() {
            return Err(damaged("key"));
        }
        if at == keys.0.len() {
            let key = PublicKey::from_bytes(take_bytes(rest)?)?;
            // Each key has one place.
            if keys.0.iter().any(|known| known.fingerprint() == key.fingerprint()) {
                return Err(damaged("key"));
            }
            keys.0.push(key);
        }
        let key = &keys.0[at];
        if kind == Kind::PublicKey as u8 {
            return Ok(Object::Public(key.clone()));
        }
        let body = take_bytes(rest)?;
        let head = Head::read(body)?.kind;
        if kind != head as u8 {
            return Err(damaged("kind"));
        }
        Ok(match (head, key) {
            (Kind::Ciphertext, PublicKey::Paillier(key)) => {
                Object::from_paillier(paillier::Ciphertext::from_bytes(body, key)?)
            }
            (Kind::Ciphertext, PublicKey::Bfv(key)) => Object::from_bfv(bfv::Packed::from_bytes(body, key)?),
            (Kind::RelinearizationKey, PublicKey::Bfv(key)) => {
                Object::Products(bfv::RelinearizationKey::from_bytes(body, key)?)
            }
            (Kind::GaloisKeys, PublicKey::Bfv(key)) => {
                Object::Rotations(bfv::GaloisKeys::from_bytes(body, key)?)
            }
            _ => return Err(damaged("kind")),
        })
    }
}

/// Returns what differs between the scale of a ciphertext and that of the type of its numbers.
fn digits_differ(found: u32, ty: &Type) -> Option<String> {
    let expected = scale_of(ty);
    (found != expected)
        .then(|| format!("there are {found} binary digits after the point where {expected} are needed"))
}

/// Appends a length and bytes.
fn put_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    out.extend((bytes.len() as u64).to_le_bytes());
    out.extend(bytes);
}

/// Takes bytes with their length from the front.
fn take_bytes<'b>(rest: &mut &'b [u8]) -> Result<&'b [u8], CipherError> {
    let damaged = CipherError::Malformed { part: "length" };
    let Some((length, more)) = rest.split_first_chunk() else { return Err(damaged) };
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| damaged.clone())?;
    let (taken, more) = more.split_at_checked(length).ok_or(damaged)?;
    *rest = more;
    Ok(taken)
}

#[cfg(test)]
mod tests {
    use super::*;
    use felis_ciphers::magnitude::Magnitude;

    /// Returns the bytes of an object.
    fn bytes(object: &Object, purpose: Purpose) -> Vec<u8> {
        let mut out = Vec::new();
        assert!(object.encode(purpose, &mut KeyTable::default(), &mut out).expect("there is room"));
        out
    }

    #[test]
    fn what_leaves_a_place_does_not_tell_how_it_was_computed() {
        let parameters = paillier::Parameters::new(2048).expect("supported");
        let (secret, public) = paillier::generate(parameters).expect("random numbers");
        let cipher = public.encrypt(5, Magnitude::new(9), 0).expect("5 is at most 9");
        // What was encrypted here goes as it is.
        let own = Object::from_paillier(cipher.clone()).mark_rerandomized();
        assert_eq!(bytes(&own, Purpose::Move), bytes(&own, Purpose::Compare));
        // Whoever made a ciphertext does not know it again: it could have been chosen by what is
        // secret.
        let received = Object::from_paillier(cipher.clone());
        assert_eq!(bytes(&received, Purpose::Compare), bytes(&own, Purpose::Compare));
        let moved = bytes(&received, Purpose::Move);
        assert_ne!(moved, bytes(&own, Purpose::Move));
        // All who get it, and all who compare it, see one form.
        assert_eq!(moved, bytes(&received, Purpose::Move));
        assert_eq!(moved, bytes(&received, Purpose::Compare));
        let again = Object::decode(&mut KeyTable::default(), &mut &moved[..]).expect("what was written");
        let Object::Cipher(again) = again else { panic!("a ciphertext") };
        assert_eq!(secret.decrypt_if_small(&again), Ok(Some(5)));
        assert!(!again.fresh, "what arrives is not known to be fresh");
    }

    #[test]
    fn secrets_have_no_bytes() {
        let exponent = Object::Exponent(intersection::Exponent::generate().expect("random numbers"));
        let tag_key = Object::TagKey(intersection::PrfKey::generate().expect("random numbers"));
        let parameters = bfv::Parameters::new(4096, 1).expect("supported");
        let secret = Object::Secret(SecretKey::Bfv(bfv::generate(parameters).expect("random numbers").0));
        for object in [exponent, tag_key, secret] {
            let mut out = Vec::new();
            assert_eq!(object.encode(Purpose::Move, &mut KeyTable::default(), &mut out), Ok(false));
            assert!(out.is_empty());
        }
    }
}
