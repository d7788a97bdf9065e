//! The schemes and their parameters, and the five bytes that say them.
//!
//! Takes numbers; gives parameters that the schemes have, or an error.

use crate::CipherError;
use std::fmt;

/// A scheme of encryption.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Scheme {
    /// Paillier: one integer in a ciphertext; sums, and products with plain factors.
    Paillier = 1,
    /// BFV: a vector of integers in a ciphertext; sums, products, rotations.
    Bfv = 2,
}

impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scheme::Paillier => "Paillier",
            Scheme::Bfv => "BFV",
        })
    }
}

/// A scheme with its parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Parameters {
    /// The parameters of Paillier.
    Paillier(PaillierParameters),
    /// The parameters of BFV.
    Bfv(BfvParameters),
}

impl Parameters {
    /// Returns the scheme.
    pub fn scheme(self) -> Scheme {
        match self {
            Parameters::Paillier(_) => Scheme::Paillier,
            Parameters::Bfv(_) => Scheme::Bfv,
        }
    }

    /// Writes the scheme and the parameters: bytes 5 to 9 of a head.
    pub fn to_bytes(self) -> [u8; 5] {
        let (first, second) = match self {
            Parameters::Paillier(parameters) => (parameters.modulus_bits() as u16, 0),
            Parameters::Bfv(parameters) => (parameters.degree() as u16, parameters.primes().len() as u16),
        };
        let ([a, b], [c, d]) = (first.to_le_bytes(), second.to_le_bytes());
        [self.scheme() as u8, a, b, c, d]
    }

    /// Reads the scheme and the parameters.
    ///
    /// # Errors
    /// [`CipherError::Malformed`] for an unknown scheme, [`CipherError::Unsupported`] for
    /// parameters that the scheme does not have.
    pub fn from_bytes(bytes: [u8; 5]) -> Result<Parameters, CipherError> {
        let [scheme, a, b, c, d] = bytes;
        let (first, second) = (u16::from_le_bytes([a, b]), u16::from_le_bytes([c, d]));
        match scheme {
            1 if second == 0 => Ok(Parameters::Paillier(PaillierParameters::new(u32::from(first))?)),
            1 => Err(CipherError::Malformed { part: "parameters" }),
            2 => Ok(Parameters::Bfv(BfvParameters::new(usize::from(first), usize::from(second))?)),
            _ => Err(CipherError::Malformed { part: "scheme" }),
        }
    }
}

impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Parameters::Paillier(parameters) => write!(f, "Paillier with {parameters}"),
            Parameters::Bfv(parameters) => write!(f, "BFV with {parameters}"),
        }
    }
}

/// The parameters of Paillier.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PaillierParameters {
    modulus_bits: u32,
}

impl PaillierParameters {
    /// A modulus of 2048 bits: about 112 bits of security (NIST SP 800-57).
    pub const BITS_2048: PaillierParameters = PaillierParameters { modulus_bits: 2048 };

    /// A modulus of 3072 bits: about 128 bits of security (NIST SP 800-57).
    pub const BITS_3072: PaillierParameters = PaillierParameters { modulus_bits: 3072 };

    /// Returns the parameters with a modulus of this size in bits.
    ///
    /// # Errors
    /// [`CipherError::Unsupported`] for other sizes than 2048 and 3072.
    pub fn new(modulus_bits: u32) -> Result<PaillierParameters, CipherError> {
        match modulus_bits {
            2048 | 3072 => Ok(PaillierParameters { modulus_bits }),
            _ => Err(CipherError::Unsupported {
                parameter: "size of a modulus in bits",
                value: modulus_bits.into(),
            }),
        }
    }

    /// Returns the size of the modulus in bits.
    pub fn modulus_bits(self) -> u32 {
        self.modulus_bits
    }
}

impl fmt::Display for PaillierParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a modulus of {} bits", self.modulus_bits)
    }
}

/// The largest number of primes of the plaintext.
pub const MAX_PRIMES: usize = 6;

/// The primes of the plaintext by degree: the least ones from 65 537 that are 1 modulo twice the
/// degree, so that the plaintext polynomials are vectors of slots.
const PRIMES: [(usize, [u64; MAX_PRIMES]); 3] = [
    (4096, [65_537, 114_689, 147_457, 163_841, 188_417, 270_337]),
    (8192, [65_537, 114_689, 147_457, 163_841, 557_057, 638_977]),
    (16384, [65_537, 163_841, 557_057, 786_433, 1_146_881, 1_179_649]),
];

/// The parameters of BFV: a degree, which is the number of slots and decides how many products fit,
/// and a number of primes, whose product is the range of values.
///
/// The ciphertext moduli are those of `fhe` for 128 bits of security (109, 218 and 438 bits).
///
/// | primes | magnitude in bits, degree 4096 | 8192 | 16384 |
/// |---|---|---|---|
/// | 1 | 15 | 15 | 15 |
/// | 2 | 31 | 31 | 32 |
/// | 3 | 48 | 48 | 51 |
/// | 4 | 66 | 66 | 71 |
/// | 5 | 83 | 85 | 91 |
/// | 6 | 101 | 104 | 111 |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BfvParameters {
    degree: usize,
    primes: usize,
}

impl BfvParameters {
    /// Returns the parameters with this degree and this number of primes.
    ///
    /// # Errors
    /// [`CipherError::Unsupported`] for other degrees than 4096, 8192 and 16384, and for no prime
    /// or more than [`MAX_PRIMES`].
    pub fn new(degree: usize, primes: usize) -> Result<BfvParameters, CipherError> {
        if !PRIMES.iter().any(|&(known, _)| known == degree) {
            return Err(CipherError::Unsupported { parameter: "degree", value: degree as u64 });
        }
        if !(1..=MAX_PRIMES).contains(&primes) {
            return Err(CipherError::Unsupported { parameter: "number of primes", value: primes as u64 });
        }
        Ok(BfvParameters { degree, primes })
    }

    /// Returns the degree of the polynomials, which is the number of slots in two rows.
    pub fn degree(self) -> usize {
        self.degree
    }

    /// Returns the number of slots in a row.
    pub fn row(self) -> usize {
        self.degree / 2
    }

    /// Returns the primes of the plaintext.
    pub fn primes(self) -> &'static [u64] {
        let (_, primes) =
            PRIMES.iter().find(|&&(degree, _)| degree == self.degree).expect("a degree of the table");
        &primes[..self.primes]
    }

    /// Returns the largest magnitude of a value: half the product of the primes, rounded down.
    pub fn max_magnitude(self) -> u128 {
        self.primes().iter().map(|&prime| u128::from(prime)).product::<u128>() / 2
    }

    /// Returns the moduli of the ciphertext: those of `BfvParameters::default_parameters_128`.
    pub(crate) fn moduli(self) -> &'static [u64] {
        match self.degree {
            4096 => &[0xf_fffe_e001, 0xf_fffc_4001, 0x1f_fffe_0001],
            8192 => &[0x7ff_fffd_8001, 0x7ff_fffc_8001, 0xfff_ffff_c001, 0xfff_fff6_c001, 0xfff_ffeb_c001],
            _ => &[
                0xffff_fffd_8001,
                0xffff_fffa_0001,
                0xffff_fff0_0001,
                0x1_ffff_fff6_8001,
                0x1_ffff_fff5_0001,
                0x1_ffff_ffee_8001,
                0x1_ffff_ffea_0001,
                0x1_ffff_ffe8_8001,
                0x1_ffff_ffe4_8001,
            ],
        }
    }
}

impl fmt::Display for BfvParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.primes == 1 { "" } else { "s" };
        write!(f, "degree {} and {} prime{plural}", self.degree, self.primes)
    }
}
