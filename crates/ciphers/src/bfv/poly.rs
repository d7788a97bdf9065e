//! Polynomials modulo q as bytes: their coefficients modulo each qᵢ, each in as many bits as qᵢ
//! has.
//!
//! The coefficients are those of powers of X; the form in which `fhe` computes depends on its
//! choice of roots. All bytes that are read are checked here before `fhe` sees them.

use super::Parameters;
use super::context::VARIANCE;
use crate::CipherError;
use fhe::bfv::BfvParameters;
use fhe_math::rq::{Context, Poly};
use fhe_traits::{DeserializeWithContext, Serialize};
use prost::Message;
use std::sync::Arc;

/// The message in which `fhe` writes a polynomial.
#[derive(Clone, PartialEq, Message)]
struct Rq {
    #[prost(int32, tag = "1")]
    representation: i32,
    #[prost(uint32, tag = "2")]
    degree: u32,
    #[prost(bytes = "vec", tag = "3")]
    coefficients: Vec<u8>,
    #[prost(bool, tag = "4")]
    allow_variable_time: bool,
}

/// The form of a polynomial in the memory of `fhe`.
#[derive(Clone, Copy)]
pub(super) enum Form {
    /// Values at roots modulo each qᵢ.
    Ntt = 2,
    /// The same with precomputed quotients.
    NttShoup = 3,
}

const _: () = assert!(VARIANCE == 10, "the head of the module says 10");

fn bits(modulus: u64) -> usize {
    (64 - (modulus - 1).leading_zeros()) as usize
}

/// Returns the number of bytes of a polynomial.
pub(super) fn poly_bytes(parameters: Parameters) -> usize {
    parameters.moduli().iter().map(|&modulus| bits(modulus) * parameters.degree() / 8).sum()
}

/// Returns the context of the polynomials of ciphertexts.
pub(super) fn ring(context: &BfvParameters) -> Result<&Arc<Context>, CipherError> {
    context.context_at_level(0).map_err(|_| CipherError::Internal { operation: "level 0" })
}

/// Writes a polynomial.
pub(super) fn to_bytes(poly: &Poly) -> Vec<u8> {
    coefficients(&poly.to_bytes()).expect("a polynomial that was just written")
}

/// Returns the coefficients in the message of a polynomial that `fhe` wrote.
pub(super) fn coefficients(message: &[u8]) -> Option<Vec<u8>> {
    Rq::decode(message).ok().map(|message| message.coefficients)
}

/// Checks that bytes are the coefficients of a polynomial, and returns its message.
pub(super) fn message(bytes: &[u8], parameters: Parameters, form: Form) -> Result<Vec<u8>, CipherError> {
    let malformed = CipherError::Malformed { part: "polynomial" };
    if bytes.len() != poly_bytes(parameters) {
        return Err(malformed);
    }
    let mut rest = bytes;
    for &modulus in parameters.moduli() {
        let (own, others) = rest.split_at(bits(modulus) * parameters.degree() / 8);
        let residues = fhe_util::transcode_from_bytes(own, bits(modulus));
        if residues.len() != parameters.degree() || residues.iter().any(|&residue| residue >= modulus) {
            return Err(malformed);
        }
        rest = others;
    }
    let message = Rq {
        representation: form as i32,
        degree: parameters.degree() as u32,
        coefficients: bytes.to_vec(),
        // What is read is public.
        allow_variable_time: true,
    };
    Ok(message.encode_to_vec())
}

/// Reads a polynomial.
pub(super) fn from_bytes(
    bytes: &[u8],
    parameters: Parameters,
    context: &BfvParameters,
) -> Result<Poly, CipherError> {
    let message = message(bytes, parameters, Form::Ntt)?;
    Poly::from_bytes(&message, ring(context)?)
        .map_err(|_| CipherError::Internal { operation: "reading a polynomial" })
}
