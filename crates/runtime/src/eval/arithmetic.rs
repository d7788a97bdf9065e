//! Arithmetic, comparison and conversion of single values.

use super::error::{Failure, format_bytes};
use super::overrides::Overrides;
use super::show::real_text;
use crate::core::scalar_function::wrapping_power;
use crate::core::{Num, Op};
use crate::elementary;
use crate::layout::{Form, Layout, Layouts};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type, TypeKind};
use crate::value::Value;
use num_bigint::{BigInt, BigUint, Sign};
use num_integer::Integer;
use num_traits::{Float, FromPrimitive, One, Signed, ToPrimitive, Zero};
use std::cmp::Ordering;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// The largest `bigint`, in bits: 631 305 digits. One operation on it, of which division and
/// printing are the slowest, takes about as long as a user waits after pressing Ctrl-C.
pub const MAX_BIGINT_BITS: u64 = 1 << 21;

/// Applies an operator to one or two operands of one number system.
pub fn arithmetic(op: Op, num: Num, modulus: Option<&Code>, a: &Value, b: &Value) -> Result<Value, Failure> {
    match num {
        Num::Int => int_arithmetic(op, a.as_int(), b.as_int()).map(Value::int),
        Num::Real => Ok(Value::real(float_arithmetic(op, a.as_real(), b.as_real(), elementary::pow))),
        Num::Single => {
            Ok(Value::single(float_arithmetic(op, a.as_single(), b.as_single(), elementary::pow_single)))
        }
        Num::Fixed(fixed) => {
            let (a, b) = (fixed.decode(a.word()), fixed.decode(b.word()));
            wide_arithmetic(op, a, b).map(|n| Value::Word(fixed.encode(n)))
        }
        Num::Bigint if matches!(op, Op::Neg(_)) => Ok(Value::bigint(-a.as_bigint())),
        Num::Bigint => bigint_arithmetic(op, a.as_bigint(), b.as_bigint()).map(Value::bigint),
        Num::Mod => Ok(Value::code(modular_arithmetic(
            op,
            modulus.expect("modular arithmetic has a modulus"),
            &a.to_code(),
            &b.to_code(),
        ))),
        Num::String => Ok(Value::Str(a.as_text().clone().with_appended(b.as_str()))),
    }
}

/// The specializer makes arithmetic of arithmetic operators only.
const NOT_ARITHMETIC: &str = "the operator is no arithmetic operator";

/// Applies an operator to two `int`s; overflow wraps around.
fn int_arithmetic(op: Op, a: i64, b: i64) -> Result<i64, Failure> {
    Ok(match op {
        Op::Neg(_) => a.wrapping_neg(),
        Op::Add(_) => a.wrapping_add(b),
        Op::Sub(_) => a.wrapping_sub(b),
        Op::Mul(_) => a.wrapping_mul(b),
        Op::Div(_) | Op::Rem(_) if b == 0 => return Err(Failure::DivisionByZero),
        Op::Div(_) => a.wrapping_div(b),
        Op::Rem(_) => a.wrapping_rem(b),
        Op::Pow(_) => power(a, i128::from(b))?,
        _ => unreachable!("{NOT_ARITHMETIC}"),
    })
}

/// Returns the lowest 64 bits of a power; it wraps as products do.
fn power(base: i64, exponent: i128) -> Result<i64, Failure> {
    let exponent = u64::try_from(exponent).map_err(|_| Failure::NegativePower)?;
    Ok(wrapping_power(base, exponent as i64))
}

/// Applies an operator to integers of at most 64 bits. The lowest 64 bits of the result are exact.
fn wide_arithmetic(op: Op, a: i128, b: i128) -> Result<i128, Failure> {
    Ok(match op {
        Op::Neg(_) => a.wrapping_neg(),
        Op::Add(_) => a.wrapping_add(b),
        Op::Sub(_) => a.wrapping_sub(b),
        Op::Mul(_) => a.wrapping_mul(b),
        Op::Div(_) | Op::Rem(_) if b == 0 => return Err(Failure::DivisionByZero),
        Op::Div(_) => a.wrapping_div(b),
        Op::Rem(_) => a.wrapping_rem(b),
        Op::Pow(_) => i128::from(power(a as i64, b)?),
        _ => unreachable!("{NOT_ARITHMETIC}"),
    })
}

/// Applies an operator to two floats, with `power` for `**`.
fn float_arithmetic<F: Float>(op: Op, a: F, b: F, power: fn(F, F) -> F) -> F {
    match op {
        Op::Neg(_) => -a,
        Op::Add(_) => a + b,
        Op::Sub(_) => a - b,
        Op::Mul(_) => a * b,
        Op::Div(_) => a / b,
        Op::Rem(_) => a % b,
        Op::Pow(_) => power(a, b),
        _ => unreachable!("{NOT_ARITHMETIC}"),
    }
}

/// Applies a binary operator to two `bigint`s.
fn bigint_arithmetic(op: Op, a: BigInt, b: BigInt) -> Result<BigInt, Failure> {
    Ok(match op {
        Op::Add(_) => a + b,
        Op::Sub(_) => a - b,
        Op::Mul(_) => a * b,
        Op::Div(_) | Op::Rem(_) if b.is_zero() => return Err(Failure::DivisionByZero),
        Op::Div(_) => a / b,
        Op::Rem(_) => a % b,
        Op::Pow(_) => {
            if b.is_negative() {
                return Err(Failure::NegativePower);
            }
            if a.is_zero() || a.is_one() {
                return Ok(if b.is_zero() { BigInt::one() } else { a });
            }
            if a == BigInt::from(-1) {
                return Ok(if b.is_even() { BigInt::one() } else { a });
            }
            let exponent = b.to_u64().ok_or(Failure::HugeNumber)?;
            if (a.bits() - 1).saturating_mul(exponent) > MAX_BIGINT_BITS {
                return Err(Failure::HugeNumber);
            }
            let exponent = u32::try_from(exponent).map_err(|_| Failure::HugeNumber)?;
            num_traits::Pow::pow(a, exponent)
        }
        _ => unreachable!("{NOT_ARITHMETIC}"),
    })
}

/// Applies an operator of the ring of integers modulo `n`, the size of a unit sum.
fn modular_arithmetic(op: Op, n: &Code, a: &Code, b: &Code) -> Code {
    assert!(!n.is_zero(), "a type without values has no operands");
    let negative = |x: &Code| if x.is_zero() { Code::ZERO } else { n.sub(x) };
    let result = match op {
        Op::Neg(_) => negative(a),
        Op::Add(_) => a.add(b),
        Op::Sub(_) => a.add(&negative(b)),
        Op::Mul(_) => a.mul(b),
        _ => unreachable!("the checker refuses other operators on indices"),
    };
    result.div_rem(n).1
}

/// Returns true if two values of one type are equal; floats compare as IEEE 754 says.
///
/// Parts with an overridden equality count as equal and are collected in `overridden`. The result
/// is undefined once `stop` is set.
pub fn equal(
    layouts: &Layouts,
    overrides: &Overrides,
    ty: &Type,
    a: &Value,
    b: &Value,
    overridden: &mut Vec<(usize, Value, Value)>,
    stop: &AtomicBool,
) -> bool {
    /// The number of elements between two polls of the interrupt flag.
    const ELEMENTS_PER_POLL: usize = 1 << 14;
    let goes_on = |round: usize| !(round.is_multiple_of(ELEMENTS_PER_POLL) && stop.load(Relaxed));
    let mut round = 0usize;
    // A work list instead of recursion: lists are as deep as they are long.
    let mut waiting: Vec<(Type, Value, Value)> = vec![(ty.clone(), a.clone(), b.clone())];
    while let Some((ty, a, b)) = waiting.pop() {
        round = round.wrapping_add(1);
        if !goes_on(round) {
            return false;
        }
        let ty = match overrides.index_of(&ty) {
            Ok(at) => {
                overridden.push((at, a, b));
                continue;
            }
            Err(structure) => structure,
        };
        let layout = layouts.of(&ty);
        if layout.slots == 0 {
            continue;
        }
        // The executors know how an abstract type is stored.
        if let TypeKind::Nominal(nominal, args) = ty.kind()
            && let Some(stored) = nominal.representation(args)
        {
            waiting.push((stored, a, b));
            continue;
        }
        let same = match (&layout.form, ty.kind()) {
            (Form::Compact(_), _) => a.to_code() == b.to_code(),
            (Form::Scalar(scalar), _) => equal_scalars(*scalar, &a, &b),
            (Form::Array { element, count }, TypeKind::Array(inner, _)) => {
                let of =
                    |v: &Value, i: usize| super::show::value_part(v, &layout, i * element.slots, element);
                match &element.form {
                    _ if overrides.index_of(inner).is_ok() => {
                        let pairs = (0..*count).rev().map(|i| (inner.clone(), of(&a, i), of(&b, i)));
                        waiting.extend(pairs);
                        true
                    }
                    Form::Compact(_) => {
                        (0..*count).all(|i| goes_on(i) && of(&a, i).to_code() == of(&b, i).to_code())
                    }
                    Form::Scalar(Scalar::Int) => {
                        (0..*count).all(|i| goes_on(i) && of(&a, i).word() == of(&b, i).word())
                    }
                    Form::Scalar(Scalar::Real) => {
                        (0..*count).all(|i| goes_on(i) && of(&a, i).as_real() == of(&b, i).as_real())
                    }
                    _ => {
                        let pairs = (0..*count).rev().map(|i| (inner.clone(), of(&a, i), of(&b, i)));
                        waiting.extend(pairs);
                        true
                    }
                }
            }
            (Form::Parts(parts), _) => {
                let types = ty.components(parts.len()).expect("a product has components");
                for ((start, part), ty) in parts.iter().zip(types).rev() {
                    let of = |v: &Value| super::show::value_part(v, &layout, *start, part);
                    waiting.push((ty, of(&a), of(&b)));
                }
                true
            }
            (Form::Sum(sum), _) => {
                let ((n, x), (m, y)) = (sum.split(&a), sum.split(&b));
                if n == m {
                    waiting.push((ty.case_type(&n.to_big()).expect("a sum has the case of its value"), x, y));
                }
                n == m
            }
            (_, TypeKind::Nominal(nominal, args)) => match (&a, &b) {
                (Value::Sum(x), Value::Sum(y)) if x.0 == y.0 => {
                    let cases = nominal.variant_cases(args).expect("a variant has cases");
                    let case = x.0.to_usize().and_then(|i| cases.into_iter().nth(i));
                    let (_, ty) = case.expect("a variant has the case of its value");
                    waiting.push((ty, x.1.clone(), y.1.clone()));
                    true
                }
                _ => false,
            },
            (Form::Packed, _) => match (&a, &b) {
                (Value::Packed(x), Value::Packed(y)) if x.has_same_sizes(y) => {
                    waiting.push((x.value_type(&ty), x.value.clone(), y.value.clone()));
                    true
                }
                _ => false,
            },
            _ => unreachable!("the checker refuses to compare functions"),
        };
        if !same {
            return false;
        }
    }
    true
}

/// Compares two scalars, or two compact values by their codes; `None` if one is NaN.
pub fn scalar_order(layout: &Layout, a: &Value, b: &Value) -> Option<Ordering> {
    match &layout.form {
        Form::Scalar(Scalar::Int) => Some(a.as_int().cmp(&b.as_int())),
        Form::Scalar(Scalar::Real) => a.as_real().partial_cmp(&b.as_real()),
        Form::Scalar(Scalar::Single) => a.as_single().partial_cmp(&b.as_single()),
        Form::Scalar(Scalar::Fixed(fixed)) => Some(fixed.decode(a.word()).cmp(&fixed.decode(b.word()))),
        Form::Scalar(Scalar::String) => Some(a.as_str().cmp(b.as_str())),
        Form::Scalar(Scalar::Char) => Some(a.word().cmp(&b.word())),
        Form::Scalar(Scalar::Bigint) => Some(a.as_bigint().cmp(&b.as_bigint())),
        _ => Some(a.to_code().cmp(&b.to_code())),
    }
}

/// Applies a comparison operator. The result is undefined once `stop` is set.
pub fn compare(
    op: Op,
    layouts: &Layouts,
    ty: &Type,
    layout: &Layout,
    a: &Value,
    b: &Value,
    stop: &AtomicBool,
) -> bool {
    match op {
        Op::Eq | Op::Ne => {
            let same = match &layout.form {
                // The most frequent cases first.
                Form::Compact(_) => a.to_code() == b.to_code(),
                Form::Scalar(scalar) => equal_scalars(*scalar, a, b),
                _ => equal(layouts, &Overrides::default(), ty, a, b, &mut Vec::new(), stop),
            };
            same == (op == Op::Eq)
        }
        Op::Lt => scalar_order(layout, a, b) == Some(Ordering::Less),
        Op::Le => matches!(scalar_order(layout, a, b), Some(Ordering::Less | Ordering::Equal)),
        Op::Gt => scalar_order(layout, a, b) == Some(Ordering::Greater),
        _ => matches!(scalar_order(layout, a, b), Some(Ordering::Greater | Ordering::Equal)),
    }
}

/// Returns true if two scalars of a type are equal.
fn equal_scalars(scalar: Scalar, a: &Value, b: &Value) -> bool {
    match scalar {
        Scalar::Int | Scalar::Fixed(_) | Scalar::Char => a.word() == b.word(),
        Scalar::Real => a.as_real() == b.as_real(),
        Scalar::Single => a.as_single() == b.as_single(),
        Scalar::String => a.as_str() == b.as_str(),
        Scalar::Bigint => a.as_bigint() == b.as_bigint(),
    }
}

/// Converts between number types: toward zero to integers, to nearest to floats; between integers
/// and characters by code point.
///
/// # Errors
///
/// The new type does not hold the number.
pub fn convert(from: Scalar, to: Scalar, value: &Value) -> Result<Value, Failure> {
    if from == to {
        return Ok(value.clone());
    }
    let misfit = |value: String| Failure::ConversionRange { value, ty: to.name().to_string() };
    let float = match from {
        Scalar::Real => Some(value.as_real()),
        Scalar::Single => Some(f64::from(value.as_single())),
        _ => None,
    };
    match (float, to) {
        (Some(x), Scalar::Real) => Ok(Value::real(x)),
        (Some(x), Scalar::Single) => {
            let narrow = x as f32;
            if narrow.is_infinite() && x.is_finite() {
                Err(misfit(real_text(x)))
            } else {
                Ok(Value::single(narrow))
            }
        }
        (Some(x), _) => {
            let whole = BigInt::from_f64(x.trunc()).ok_or_else(|| misfit(real_text(x)))?;
            from_integer(to, whole).ok_or_else(|| misfit(real_text(x)))
        }
        (None, Scalar::Char) => {
            let n = to_bigint(from, value);
            let c = n.to_u32().and_then(char::from_u32);
            c.map(Value::char).ok_or_else(|| Failure::NoCharacter { code: abbreviated_integer(&n) })
        }
        (None, _) => {
            let n = to_bigint(from, value);
            let shown = || match from {
                Scalar::Char => {
                    format!("the code point {n} of {}", super::show::quoted_char(value.as_char()))
                }
                _ => abbreviated_integer(&n),
            };
            from_integer(to, n.clone()).ok_or_else(|| misfit(shown()))
        }
    }
}

/// Returns an integer as a value of a number type; `None` if it does not fit. Floats are rounded to
/// nearest.
fn from_integer(to: Scalar, n: BigInt) -> Option<Value> {
    match to {
        Scalar::Real => n.to_f64().filter(|x| x.is_finite()).map(Value::real),
        Scalar::Single => n.to_f32().filter(|x| x.is_finite()).map(Value::single),
        Scalar::Int => n.to_i64().map(Value::int),
        Scalar::Fixed(fixed) if to.holds(&n) => n.to_i128().map(|n| Value::Word(fixed.encode(n))),
        Scalar::Bigint => Some(Value::bigint(n)),
        Scalar::Fixed(_) => None,
        Scalar::Char | Scalar::String => unreachable!("the target of the conversion is a number type"),
    }
}

/// Converts a number to an integer type without failing: the number wraps around, or is moved to
/// the nearest bound if `saturate`. The fraction of a float is dropped; NaN becomes 0.
pub fn wrap_or_saturate(from: Scalar, to: Scalar, value: &Value, saturate: bool) -> Value {
    let n = match from {
        Scalar::Real | Scalar::Single => {
            let x = if from == Scalar::Real { value.as_real() } else { f64::from(value.as_single()) };
            let bound = BigInt::one() << 200u32;
            BigInt::from_f64(x.trunc()).unwrap_or_else(|| match x {
                x if x.is_nan() || !saturate => BigInt::ZERO,
                x if x > 0.0 => bound,
                _ => -bound,
            })
        }
        _ => to_bigint(from, value),
    };
    let Some((low, high)) = to.bounds() else { return from_integer(to, n).expect(BOUNDED) };
    let (low, high) = (BigInt::from(low), BigInt::from(high));
    let n = if saturate {
        n.clamp(low, high)
    } else {
        let size = &high - &low + 1u32;
        (n - &low).mod_floor(&size) + low
    };
    from_integer(to, n).expect(BOUNDED)
}

/// An integer is within the bounds of its new type after wrapping or saturation.
const BOUNDED: &str = "the number is within the bounds of its type";

/// Returns an integer, or the code point of a character, as a big integer.
pub fn to_bigint(scalar: Scalar, value: &Value) -> BigInt {
    match scalar {
        Scalar::Bigint => value.as_bigint(),
        Scalar::Fixed(fixed) => BigInt::from(fixed.decode(value.word())),
        _ => BigInt::from(value.as_int()),
    }
}

/// Returns the value with code `n` of a compact type of this size.
pub fn from_code(n: &BigInt, size: &BigUint, ty: &dyn std::fmt::Display) -> Result<Value, Failure> {
    if n.sign() == Sign::Minus || n.magnitude() >= size {
        return Err(Failure::CodeRange {
            value: abbreviated_integer(n),
            ty: ty.to_string(),
            size: abbreviated_integer(&BigInt::from(size.clone())),
        });
    }
    Ok(Value::code(Code::from(n.magnitude())))
}

/// Returns an integer as text for a message, abbreviated if it is long.
pub fn abbreviated_integer(n: &BigInt) -> String {
    let text = n.to_string();
    if text.len() > 60 {
        format!("{}… ({} digits)", &text[..20], text.trim_start_matches('-').len())
    } else {
        text
    }
}

/// Returns the failure of a value of `slots` slots that exceeds the memory bound.
pub fn memory_failure(slots: usize, bytes_each: u64, limit: u64) -> Failure {
    let bytes = match (slots as u64).checked_mul(bytes_each) {
        Some(bytes) if slots != crate::layout::TOO_MANY_SLOTS => format!("{} of memory", format_bytes(bytes)),
        _ => "more memory than any machine has".to_string(),
    };
    Failure::Memory { bytes, limit }
}
