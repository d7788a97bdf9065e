//! Promotion: lanes of 8 bytes that hold numbers of fewer.
//!
//! A loop that has numbers of several widths goes by vectors all of whose lanes have 8 bytes: an
//! integer of fewer bytes has the lane of the number with its sign extended, a binary32 that of the
//! binary64 of the same value. Integers are wrapped to their bytes, and floats rounded, after each
//! operation whose result may need it.
//!
//! **Same bits.** A sum, a difference, a product, a quotient or a square root of numbers of 24 bits
//! that is rounded to 53 bits and then to 24 is the one that is rounded to 24 bits at once, since 53
//! is at least twice 24 and two more (Figueroa, *When is double rounding innocuous?*, 1995). That
//! does not hold for a product that is added to without rounding, nor for an integer of more than
//! 53 bits.

use super::{Binary, Cast, Kernel, Op, Reg, ScalarType};

/// Returns true if lanes of 8 bytes have an operation with a result of type `ty`, whose result or
/// operands may have fewer bytes. `is_small` says of an integer whether a binary64 has it.
pub fn has_promoted_form(kernel: &Kernel, ty: ScalarType, op: &Op, is_small: impl Fn(Reg) -> bool) -> bool {
    use Binary::{Add, And, DivFloat, Max, Min, Mul, Or, Sub, Xor};
    let is_double = ty == ScalarType::F64;
    match op {
        Op::Binary(kind, ..) if ty == ScalarType::F32 => {
            matches!(kind, Add | Sub | Mul | DivFloat | Min | Max)
        }
        Op::Binary(kind, _, by) if ty.bytes() < 8 => {
            let divides = || kernel.constants.get(by).is_some_and(|by| divides_narrow(*kind, ty, *by));
            matches!(kind, Add | Sub | Mul | And | Or | Xor) || kind.is_integer_division() && divides()
        }
        Op::Call(..) => is_double,
        Op::Cast(kind, _, a) => match kind {
            Cast::SignExtend | Cast::ZeroExtend | Cast::Truncate | Cast::FloatToFloat => true,
            Cast::SignedToFloat => is_double || kernel.regs[*a].bytes() < 8 || is_small(*a),
            Cast::UnsignedToFloat => kernel.regs[*a].bytes() == 8 && (is_double || is_small(*a)),
            Cast::FloatToSigned | Cast::FloatToBits => true,
        },
        _ => true,
    }
}

/// Returns true for a conversion that lanes of 4 bytes have: between integers and floats of 4 bytes,
/// and between integers of 4 bytes and of fewer, which such lanes hold with their sign extended.
pub fn converts_in_short_lanes(cast: Cast, from: ScalarType, to: ScalarType) -> bool {
    use ScalarType::{F32, I8, I16, I32};
    match cast {
        Cast::SignExtend | Cast::ZeroExtend => to == I32,
        Cast::Truncate => from == I32 && matches!(to, I8 | I16),
        Cast::SignedToFloat | Cast::UnsignedToFloat => (from, to) == (I32, F32),
        Cast::FloatToSigned => (from, to) == (F32, I32),
        Cast::FloatToFloat | Cast::FloatToBits => false,
    }
}

/// Returns true if lanes of 8 bytes divide integers of a narrower type by a constant: one above 1.
pub fn divides_narrow(kind: Binary, ty: ScalarType, divisor: u64) -> bool {
    let bits = 8 * ty.bytes();
    let most = match kind {
        Binary::DivUnsigned | Binary::RemUnsigned => u64::MAX >> (64 - bits),
        _ => u64::MAX >> (65 - bits),
    };
    let divisor = divisor & (u64::MAX >> (64 - bits));
    (2..=most).contains(&divisor)
}
