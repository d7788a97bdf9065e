//! BFV: ciphertexts of vectors of integers, with sums, products and rotations, through `fhe`.
//!
//! The scheme is that of Brakerski (CRYPTO 2012) and Fan and Vercauteren (ePrint 2012/144) in
//! residue number systems (Halevi, Polyakov, Shoup, CT-RSA 2019; Kim, Polyakov, Zucca, ASIACRYPT
//! 2021), as the crate `fhe` computes it. `fhe` panics or gives wrong numbers where operands do not
//! fit or noise is too large; here every operation compares keys, parameters, shapes and scales
//! first, and refuses a result that could be wrong.
//!
//! # Vectors
//! A ciphertext has two rows of N/2 slots. A vector of `length` elements in a row, which divides
//! N/2, is repeated until the row is full, so that a rotation of the row is a rotation of the
//! vector in cyclic indices. With one row of data, both rows hold it; with two, each holds its own.
//!
//! # Integers
//! A slot holds an integer by its residues modulo the primes t of the parameters, one ciphertext of
//! `fhe` each (Chinese remainder theorem). A bound of the magnitude, computed from public
//! operations, is carried along; an operation whose bound exceeds half the product of the primes is
//! refused, so no result wraps around. A scale, the number of binary digits after the point, is
//! carried as in [`paillier`](crate::paillier).
//!
//! # The bound of the noise
//! Let R be the polynomials modulo Xᴺ + 1 and s the secret key. A ciphertext (c₀, c₁) of m modulo t
//! has c₀ + c₁s = (q/t)·m + v modulo q, and decrypts to m if all coefficients of the noise v are
//! below q/(2t) in magnitude. The bound V carried by a ciphertext is one of the *canonical norm*
//! ‖v‖, the largest magnitude of v(ζ) over the complex roots ζ of Xᴺ + 1. It suffices, because each
//! coefficient is a mean of values v(ζ)·ζ^-j, hence at most ‖v‖; and it composes: ‖a + b‖ ≤
//! ‖a‖ + ‖b‖, ‖ab‖ ≤ ‖a‖·‖b‖, an automorphism X → Xʲ permutes the roots and keeps the norm, and a
//! polynomial whose coefficients are at most b has a norm of at most N·b (Costache and Smart,
//! CT-RSA 2016; Iliashenko 2019). Kim, Polyakov and Zucca estimate the same quantities by their
//! averages; here each step is a bound for all ciphertexts, because decryptions that fail now and
//! then reveal the secret key (Cheon, Choe, Passelègue, Stehlé, Suvanto 2024).
//!
//! Constants: S bounds ‖s‖ and ‖e‖, e the error of the public key. Key generation draws s and e
//! until S = 4·√(10N) holds, which nearly all do (the coefficients are centered binomial of
//! variance 10). Other randomness a of the same distribution has ‖a‖ ≤ D = 12·√(10N) but for a
//! probability of 2N·exp(-72) < 2⁻⁸⁸: with f fixed and ζ a root, the real and the imaginary part of
//! f(ζ)a(ζ) are sub-Gaussian with proxy variance 10·|f(ζ)|²·N/2, as the coefficients are sums of 40
//! centered bits divided by 2 (Hoeffding).
//!
//! - **Encryption**: v = eu + e₁ + e₂s + r, with r the rounding of (q/t)·m, coefficients below 1:
//!   V = D·√(S² + S² + 1) + N.
//! - **Sum, difference**: V₁ + V₂. **Sum with a plain vector**: V + N, again by rounding.
//! - **Product with a plain vector** p, coefficients in [0, t): V·N·t. With an integer a:
//!   V·min(|a|, t).
//! - **Product**: let φ = c₀ + c₁s over the integers, where coefficients of c₀ and c₁ are in
//!   [-q/2, q/2]: ‖φ‖ ≤ (q/2)·N·(1 + S). As φ = (q/t)·M + v with M an integer polynomial that is m
//!   modulo t, (t/q)·φ₁φ₂ = (q/t)·M₁M₂ + M₁v₂ + M₂v₁ + (t/q)·v₁v₂, and M = (t/q)·(φ - v) gives the
//!   noise (t/q)·(φ₁v₂ + φ₂v₁ - v₁v₂), without a term for m. Rounding the three parts of the
//!   product adds at most (N/2)·(1 + S + S²). So V = t·(N/2)·(1 + S)·(V₁ + V₂) + (t/q)·V₁V₂ +
//!   (N/2)·(1 + S + S²).
//! - **Key switching**, for relinearization, rotation and the exchange of rows: with c the
//!   polynomial switched and cᵢ its residues modulo qᵢ, coefficients in [0, qᵢ), the noise grows by
//!   Σ cᵢeᵢ, at most K = N·D·Σ qᵢ.
//! - **Flooding**: an encryption of zero, and a polynomial with uniform coefficients in [-B, B) in
//!   c₀, with B ≥ 2^bits·N·V: two noises within V differ by at most 2V in a coefficient, so the
//!   statistical distance of their sums with the flood is at most N·2V/(2B) ≤ 2^-bits. It adds its
//!   encryption and 12·√N·B, by the same tail. c₁ is hidden by the encryption of zero, as in any
//!   ciphertext.
//!
//! An operation is refused as [`CipherError::NoiseExhausted`](crate::CipherError::NoiseExhausted)
//! unless V < (1 - 2⁻²⁰)·q/(2t) for the largest t; the small rest is for the fixed point numbers by
//! which `fhe` rounds. What is proven and what is measured differ: products in a row, each
//! relinearized, t = 65537:
//!
//! | N | bound allows | decrypts rightly, measured |
//! |---|---|---|
//! | 4096 | 1 | 2 |
//! | 8192 | 4 | 5 |
//! | 16384 | 9 | 12 |

mod context;
mod encoding;
mod keys;
mod noise;
mod packed;
mod poly;
mod residues;
mod switching;

pub use crate::parameters::{BfvParameters as Parameters, MAX_PRIMES};
pub use encoding::{Plain, Shape};
pub use keys::{PublicKey, SecretKey, generate};
pub use packed::Packed;
pub use switching::{GaloisKeys, RelinearizationKey};
