//! The identity of keys: fingerprints, and the heads of the bytes in which objects travel.
//!
//! Takes objects that are public; gives bytes with a head that says what they are, and back. The
//! length of a body follows from the parameters: bytes of another length are refused before memory
//! is taken. There is one form of each object, so that what is read is written to the same bytes.
//!
//! | bytes | content |
//! |---|---|
//! | 0 to 2 | `FLK` |
//! | 3 | the version of this format |
//! | 4 | the kind of the object |
//! | 5 | the scheme |
//! | 6 to 9 | the parameters: modulus in bits, or degree, then 2 bytes with the number of primes |
//! | 10 to 41 | the fingerprint of the key |
//!
//! The body follows, then the SHA-256 of all bytes before it, which finds damage. Numbers are
//! little-endian. The fingerprint is the SHA-256 of a separator, of bytes 5 to 9 and of the body of
//! the public key.

use crate::CipherError;
pub use crate::parameters::{Parameters, Scheme};
use sha2::{Digest, Sha256};
use std::fmt;

/// The version of the format.
pub const VERSION: u8 = 1;

/// The size of the head in bytes.
pub(crate) const HEAD_BYTES: usize = 42;

/// The size of the checksum at the end in bytes.
const CHECKSUM_BYTES: usize = 32;

const MAGIC: [u8; 3] = *b"FLK";

/// The identity of a pair of keys.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint as bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the fingerprint of a public key with this body.
    pub(crate) fn of(parameters: Parameters, body: &[&[u8]]) -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update(b"felis public key\0");
        hash.update(parameters.to_bytes());
        for part in body {
            hash.update(part);
        }
        Fingerprint(hash.finalize().into())
    }
}

impl fmt::Display for Fingerprint {
    /// Writes the first eight bytes in hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The kind of an object that travels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Kind {
    /// A public key.
    PublicKey = 1,
    /// A key for the relinearization of products.
    RelinearizationKey = 2,
    /// Keys for rotations.
    GaloisKeys = 3,
    /// A ciphertext.
    Ciphertext = 4,
}

const KINDS: [Kind; 4] = [Kind::PublicKey, Kind::RelinearizationKey, Kind::GaloisKeys, Kind::Ciphertext];

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Kind::PublicKey => "a public key",
            Kind::RelinearizationKey => "a relinearization key",
            Kind::GaloisKeys => "Galois keys",
            Kind::Ciphertext => "a ciphertext",
        })
    }
}

/// The head of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    /// The kind of the object.
    pub kind: Kind,
    /// The scheme and its parameters.
    pub parameters: Parameters,
    /// The key that the object belongs to.
    pub key: Fingerprint,
}

impl Head {
    /// Reads the head of an object, to choose the function that reads it whole.
    ///
    /// # Errors
    /// Bytes that are no head: [`CipherError::Malformed`], [`CipherError::Version`] or
    /// [`CipherError::Unsupported`].
    pub fn read(bytes: &[u8]) -> Result<Head, CipherError> {
        let Some((head, _)) = bytes.split_first_chunk::<HEAD_BYTES>() else {
            return Err(CipherError::Malformed { part: "head" });
        };
        if head[..3] != MAGIC {
            return Err(CipherError::Malformed { part: "first bytes" });
        }
        if head[3] != VERSION {
            return Err(CipherError::Version { found: head[3] });
        }
        let kind = KINDS.into_iter().find(|&kind| kind as u8 == head[4]);
        let kind = kind.ok_or(CipherError::Malformed { part: "kind" })?;
        let parameters = head[5..10].try_into().expect("five bytes");
        let key = Fingerprint(head[10..].try_into().expect("32 bytes"));
        Ok(Head { kind, parameters: Parameters::from_bytes(parameters)?, key })
    }

    /// Writes the head, with room for a body.
    pub(crate) fn write(&self, body_bytes: usize) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + body_bytes + CHECKSUM_BYTES);
        bytes.extend(MAGIC);
        bytes.extend([VERSION, self.kind as u8]);
        bytes.extend(self.parameters.to_bytes());
        bytes.extend(self.key.0);
        bytes
    }

    /// Reads the head of an object of a kind, and returns it with the body.
    pub(crate) fn of_kind(bytes: &[u8], kind: Kind) -> Result<(Head, &[u8]), CipherError> {
        let head = Head::read(bytes)?;
        if head.kind != kind {
            return Err(CipherError::Kind { expected: kind, found: head.kind });
        }
        let rest = &bytes[HEAD_BYTES..];
        let Some((body, checksum)) = rest.split_last_chunk::<CHECKSUM_BYTES>() else {
            return Err(CipherError::Malformed { part: "length" });
        };
        if Sha256::digest(&bytes[..HEAD_BYTES + body.len()])[..] != checksum[..] {
            return Err(CipherError::Malformed { part: "checksum" });
        }
        Ok((head, body))
    }

    /// Reads the head of an object of a kind that belongs to a key, and returns the body.
    pub(crate) fn of_key(
        bytes: &[u8],
        kind: Kind,
        parameters: Parameters,
        key: Fingerprint,
    ) -> Result<&[u8], CipherError> {
        let (head, body) = Head::of_kind(bytes, kind)?;
        if head.parameters.scheme() != parameters.scheme() {
            let (expected, found) = (parameters.scheme(), head.parameters.scheme());
            return Err(CipherError::Scheme { expected, found });
        }
        if head.parameters != parameters {
            let (expected, found) = (parameters.to_string(), head.parameters.to_string());
            return Err(CipherError::Parameters { expected, found });
        }
        same_key(key, head.key)?;
        Ok(body)
    }
}

/// Appends the checksum to a head and a body.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = Sha256::digest(&bytes);
    bytes.extend(checksum);
    bytes
}

/// Refuses an object of another key.
pub(crate) fn same_key(expected: Fingerprint, found: Fingerprint) -> Result<(), CipherError> {
    if expected == found { Ok(()) } else { Err(CipherError::ForeignKey { expected, found }) }
}

/// Refuses operands of different scales.
pub(crate) fn same_scale(left: u32, right: u32) -> Result<(), CipherError> {
    if left == right { Ok(()) } else { Err(CipherError::Scale { left, right }) }
}
