//! The meaning of primitives on words.
//!
//! A word holds the bits of an element, filled with 0 above, as the storage of the evaluator does.
//! Functions of the table of core are those of core; floats add, multiply and divide as IEEE 754
//! says; integers wrap.

use super::{Binary, Cast, Compare, Element, Prim, ScalarFunction, Unary};
use crate::core::reduction::min_max;
use crate::core::scalar_function::ScalarType;
use std::cmp::Ordering;

/// The type of the result of a primitive; `None` if it has no operands of these types.
pub fn result(prim: Prim, operands: &[Element]) -> Option<Element> {
    match (prim, operands) {
        (Prim::Binary(op), [a, b]) if a == b => {
            let fits = match op {
                Binary::Add | Binary::Sub | Binary::Mul | Binary::Min | Binary::Max => *a != Element::B1,
                Binary::Div => a.is_float(),
                Binary::MinUnsigned | Binary::MaxUnsigned => a.is_integer(),
                Binary::DivSigned | Binary::DivUnsigned | Binary::RemSigned | Binary::RemUnsigned => {
                    a.is_integer()
                }
                Binary::And | Binary::Or | Binary::Xor => !a.is_float(),
            };
            fits.then_some(*a)
        }
        (Prim::Unary(Unary::Neg), [a]) => (*a != Element::B1).then_some(*a),
        (Prim::Unary(Unary::Not), [a]) => (!a.is_float()).then_some(*a),
        (Prim::Compare(op), [a, b]) if a == b => {
            let fits = match op {
                Compare::Eq | Compare::Ne => true,
                Compare::Lt | Compare::Le => *a != Element::B1,
                Compare::LtUnsigned | Compare::LeUnsigned => a.is_integer(),
            };
            fits.then_some(Element::B1)
        }
        (Prim::Cast(cast, to), [from]) => {
            let (narrow, wide) = (from.bits() > to.bits(), from.bits() < to.bits());
            let fits = match cast {
                Cast::SignExtend => from.is_integer() && to.is_integer() && wide,
                Cast::ZeroExtend => !from.is_float() && to.is_integer() && wide,
                Cast::Truncate => from.is_integer() && !to.is_float() && narrow,
                Cast::SignedToFloat | Cast::UnsignedToFloat => from.is_integer() && to.is_float(),
                Cast::FloatToSigned => from.is_float() && matches!(to, Element::I32 | Element::I64),
                Cast::FloatToFloat => from.is_float() && to.is_float() && *from != to,
                Cast::FloatToBits => (*from, to) == (Element::F64, Element::I64),
            };
            fits.then_some(to)
        }
        (Prim::Function(function), operands) => {
            let (params, result) = function.signature();
            let fits = params.iter().copied().map(element).eq(operands.iter().copied());
            // The register of a truth value is a word; here it has a type of its own.
            let result = if function == ScalarFunction::IsNan { Element::B1 } else { element(result) };
            fits.then_some(result)
        }
        _ => None,
    }
}

/// The element type of a register of core.
fn element(ty: ScalarType) -> Element {
    match ty {
        ScalarType::I8 => Element::I8,
        ScalarType::I16 => Element::I16,
        ScalarType::I32 => Element::I32,
        ScalarType::I64 => Element::I64,
        ScalarType::F32 => Element::F32,
        ScalarType::F64 => Element::F64,
    }
}

/// Returns the number that an integer is when it is read with a sign.
pub fn sign_extend(ty: Element, word: u64) -> i64 {
    let unused = 64 - ty.bits();
    (word << unused) as i64 >> unused
}

/// Computes a primitive; the operands are of `ty`, but for functions, which have types of their
/// own.
///
/// # Panics
/// If [`result`] refuses the operands.
pub fn apply(prim: Prim, ty: Element, words: &[u64]) -> u64 {
    match (prim, words) {
        (Prim::Binary(op), &[a, b]) => binary(op, ty, a, b),
        (Prim::Unary(op), &[a]) => unary(op, ty, a),
        (Prim::Compare(op), &[a, b]) => u64::from(compare(op, ty, a, b)),
        (Prim::Cast(cast, to), &[a]) => convert(cast, ty, to, a),
        (Prim::Function(function), words) => function.apply(words),
        _ => unreachable!("{INVALID}"),
    }
}

/// The validator has accepted the program that is run.
const INVALID: &str = "the primitive has operands that the validator refuses";

fn binary(op: Binary, ty: Element, a: u64, b: u64) -> u64 {
    match ty {
        Element::F64 => {
            let (a, b) = (f64::from_bits(a), f64::from_bits(b));
            let result = match op {
                Binary::Add => a + b,
                Binary::Sub => a - b,
                Binary::Mul => a * b,
                Binary::Div => a / b,
                Binary::Min => min_max(false, a, b),
                Binary::Max => min_max(true, a, b),
                _ => unreachable!("{INVALID}"),
            };
            result.to_bits()
        }
        Element::F32 => {
            let (a, b) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
            let result = match op {
                Binary::Add => a + b,
                Binary::Sub => a - b,
                Binary::Mul => a * b,
                Binary::Div => a / b,
                Binary::Min => min_max(false, f64::from(a), f64::from(b)) as f32,
                Binary::Max => min_max(true, f64::from(a), f64::from(b)) as f32,
                _ => unreachable!("{INVALID}"),
            };
            u64::from(result.to_bits())
        }
        _ => {
            let (x, y) = (sign_extend(ty, a), sign_extend(ty, b));
            let result = match op {
                Binary::Add => a.wrapping_add(b),
                Binary::Sub => a.wrapping_sub(b),
                Binary::Mul => a.wrapping_mul(b),
                Binary::Min => x.min(y) as u64,
                Binary::Max => x.max(y) as u64,
                Binary::MinUnsigned => a.min(b),
                Binary::MaxUnsigned => a.max(b),
                Binary::DivSigned if b == 0 => 0,
                Binary::DivUnsigned if b == 0 => 0,
                Binary::RemSigned if b == 0 => a,
                Binary::RemUnsigned if b == 0 => a,
                Binary::DivSigned => x.wrapping_div(y) as u64,
                Binary::DivUnsigned => a / b,
                Binary::RemSigned => x.wrapping_rem(y) as u64,
                Binary::RemUnsigned => a % b,
                Binary::And => a & b,
                Binary::Or => a | b,
                Binary::Xor => a ^ b,
                Binary::Div => unreachable!("{INVALID}"),
            };
            ty.truncate(result)
        }
    }
}

fn unary(op: Unary, ty: Element, a: u64) -> u64 {
    match (op, ty) {
        (Unary::Neg, Element::F64) => (-f64::from_bits(a)).to_bits(),
        (Unary::Neg, Element::F32) => u64::from((-f32::from_bits(a as u32)).to_bits()),
        (Unary::Neg, _) => ty.truncate(a.wrapping_neg()),
        (Unary::Not, _) => ty.truncate(!a),
    }
}

/// The order of two words; `None` if one is NaN. Integers compare with sign.
fn order(ty: Element, a: u64, b: u64) -> Option<Ordering> {
    match ty {
        Element::F64 => f64::from_bits(a).partial_cmp(&f64::from_bits(b)),
        Element::F32 => f32::from_bits(a as u32).partial_cmp(&f32::from_bits(b as u32)),
        Element::B1 => Some(a.cmp(&b)),
        _ => Some(sign_extend(ty, a).cmp(&sign_extend(ty, b))),
    }
}

/// The order of keys of [`super::Op::Order`]: a NaN is last and equal to another.
pub fn key_order(ty: Element, a: u64, b: u64) -> Ordering {
    let is_nan = |word: u64| order(ty, word, word).is_none();
    order(ty, a, b).unwrap_or_else(|| is_nan(a).cmp(&is_nan(b)))
}

fn compare(op: Compare, ty: Element, a: u64, b: u64) -> bool {
    let order = order(ty, a, b);
    match op {
        Compare::Eq => order == Some(Ordering::Equal),
        Compare::Ne => order != Some(Ordering::Equal),
        Compare::Lt => order == Some(Ordering::Less),
        Compare::Le => matches!(order, Some(Ordering::Less | Ordering::Equal)),
        Compare::LtUnsigned => a < b,
        Compare::LeUnsigned => a <= b,
    }
}

fn convert(cast: Cast, from: Element, to: Element, a: u64) -> u64 {
    let float = |double: f64, single: f32| {
        if to == Element::F64 { double.to_bits() } else { u64::from(single.to_bits()) }
    };
    let n = sign_extend(from, a);
    match cast {
        Cast::SignExtend => to.truncate(n as u64),
        Cast::ZeroExtend => a,
        Cast::Truncate => to.truncate(a),
        Cast::SignedToFloat => float(n as f64, n as f32),
        Cast::UnsignedToFloat => float(a as f64, a as f32),
        Cast::FloatToSigned => {
            let float =
                if from == Element::F64 { f64::from_bits(a) } else { f64::from(f32::from_bits(a as u32)) };
            if to == Element::I32 { u64::from(float as i32 as u32) } else { float as i64 as u64 }
        }
        Cast::FloatToFloat if from == Element::F64 => u64::from((f64::from_bits(a) as f32).to_bits()),
        Cast::FloatToFloat => f64::from(f32::from_bits(a as u32)).to_bits(),
        Cast::FloatToBits => a,
    }
}

/// The bits of the number that changes nothing in a reduction whose grouping does not matter.
pub fn identity(op: Binary, element: Element) -> Option<u64> {
    match op {
        Binary::Add | Binary::Xor if !element.is_float() => Some(0),
        Binary::Mul if element.is_integer() => Some(1),
        op => idempotent_identity(op, element),
    }
}

/// The bits of the number that changes nothing in a reduction by an operation `x op x = x`.
pub fn idempotent_identity(op: Binary, element: Element) -> Option<u64> {
    let ones = element.truncate(u64::MAX);
    let highest = ones >> 1;
    let infinity = match element {
        Element::F32 => u64::from(f32::INFINITY.to_bits()),
        _ => f64::INFINITY.to_bits(),
    };
    Some(match op {
        Binary::Min if element.is_float() => infinity,
        Binary::Max if element.is_float() => infinity | (highest + 1),
        Binary::Min => highest,
        Binary::Max => highest + 1,
        Binary::MinUnsigned | Binary::And => ones,
        Binary::MaxUnsigned | Binary::Or => 0,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_wrap_within_their_width() {
        let int = |op, ty: Element, a: i64, b: i64| {
            sign_extend(ty, apply(Prim::Binary(op), ty, &[ty.truncate(a as u64), ty.truncate(b as u64)]))
        };
        assert_eq!(int(Binary::Add, Element::I8, 127, 1), -128);
        assert_eq!(int(Binary::Mul, Element::I16, 300, 300), 24464);
        assert_eq!(int(Binary::DivSigned, Element::I8, -128, -1), -128);
        assert_eq!(int(Binary::RemSigned, Element::I32, -7, 2), -1);
        assert_eq!(int(Binary::DivUnsigned, Element::I8, -1, 2), 127);
        assert_eq!(int(Binary::DivSigned, Element::I64, 5, 0), 0);
        assert_eq!(int(Binary::RemUnsigned, Element::I64, 5, 0), 5);
        assert_eq!(int(Binary::Min, Element::I8, -1, 1), -1);
        assert_eq!(int(Binary::MinUnsigned, Element::I8, -1, 1), 1);
    }

    #[test]
    fn floats_compare_and_convert_as_ieee_754_says() {
        let word = f64::to_bits;
        let less = |a, b| apply(Prim::Compare(Compare::Lt), Element::F64, &[word(a), word(b)]) == 1;
        assert!(less(-1.0, 1.0) && !less(f64::NAN, 1.0) && !less(-0.0, 0.0));
        let ne = |a, b| apply(Prim::Compare(Compare::Ne), Element::F64, &[word(a), word(b)]) == 1;
        assert!(ne(f64::NAN, f64::NAN) && !ne(-0.0, 0.0));
        let min = apply(Prim::Binary(Binary::Min), Element::F64, &[word(0.0), word(-0.0)]);
        assert_eq!(min, word(-0.0));
        let whole = |x| apply(Prim::Cast(Cast::FloatToSigned, Element::I64), Element::F64, &[word(x)]) as i64;
        assert_eq!([1e300, -2.9, f64::NAN].map(whole), [i64::MAX, -2, 0]);
        assert_eq!(key_order(Element::F64, word(f64::NAN), word(f64::INFINITY)), Ordering::Greater);
        assert_eq!(key_order(Element::F64, word(-f64::NAN), word(f64::NAN)), Ordering::Equal);
    }
}
