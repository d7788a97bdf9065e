//! The meaning of the primitives.

use super::arith::{from_code, to_bigint};
use super::code::{Cases, PrimTypes};
use super::error::Failure;
use super::matching::split;
use super::run::{Host, Machine};
use super::{show, text};
use crate::core::Prim;
use crate::core::prim::{fuses, ranks, sorts};
use crate::data::Limits;
use crate::layout::{Form, countable};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type};
use crate::value::Value;
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive};
use std::sync::atomic::Ordering;

/// A string is no longer than this many bytes.
pub const LONGEST_STRING: usize = 1 << 30;

impl Machine {
    pub(super) fn primitive(
        &mut self,
        prim: Prim,
        types: &PrimTypes,
        args: &[Value],
        host: &mut Host<'_>,
    ) -> Result<Value, Failure> {
        let limits = Limits { room: host.memory, stop: host.interrupt };
        let show = |read_back: bool, this: &Machine| {
            let ty = types.args.first().cloned().unwrap_or_else(Type::unit);
            let text = show::plain(&this.layouts, read_back, &args[0], &ty, Some(limits.stop));
            match limits.stop.load(Ordering::Relaxed) {
                true => Err(Failure::Interrupted),
                false => Ok(text),
            }
        };
        let x = || args[0].as_real();
        let n = || args[0].as_int();
        let c = || args[0].as_char();
        let int = |n: i64| Ok(Value::int(n));
        match prim {
            Prim::Print => {
                show::give_out(&show(false, self)?, host.out, limits.stop)?;
                Ok(Value::UNIT)
            }
            Prim::Println => {
                let mut text = show(false, self)?;
                text.push('\n');
                show::give_out(&text, host.out, limits.stop)?;
                Ok(Value::UNIT)
            }
            Prim::Str => Ok(Value::str(show(false, self)?)),
            Prim::Strr => Ok(Value::str(show(true, self)?)),
            Prim::Fail => Err(Failure::Failed { message: args[0].as_str().to_string() }),
            Prim::Fuses => Ok(Value::bool(fuses(&types.args))),
            Prim::Sorts => Ok(Value::bool(sorts(&types.args))),
            Prim::Ranks => Ok(Value::bool(ranks(&types.args))),
            Prim::Min | Prim::Max => {
                let Some(layout) = &types.layout else {
                    return Err(Failure::Internal { what: "an order without a type" });
                };
                Ok(super::reduce::larger(layout, &args[0], &args[1], prim == Prim::Max))
            }
            Prim::Reduce
            | Prim::ArgMin
            | Prim::ArgMax
            | Prim::Dot
            | Prim::Scan
            | Prim::Sort
            | Prim::Order => Err(Failure::Internal { what: "a primitive on whole arrays out of its place" }),
            Prim::Assert => {
                if args[0].as_bool() {
                    Ok(Value::UNIT)
                } else {
                    Err(Failure::Assertion)
                }
            }
            Prim::AInj => {
                let index = args[0].to_code();
                Ok(case_of(types, index, args[1].clone()))
            }
            Prim::CaseNo | Prim::CaseArg => {
                let ty = types.args.first().cloned().unwrap_or_else(Type::unit);
                let (case, argument) = split(&Cases::of(&self.layouts, &ty), &args[0]);
                Ok(if prim == Prim::CaseNo { Value::code(case) } else { argument })
            }
            Prim::Pack => packed(types, &args[0]),
            Prim::Unpack => unpacked(types, &args[0]),
            Prim::TypeText | Prim::Convertible | Prim::CallableWith => {
                Err(Failure::Internal { what: "a question about types that was not answered" })
            }
            Prim::Move => Err(Failure::Internal { what: "a move that was not written out" }),
            Prim::Size => {
                let size = size_of(types);
                match size.to_i64() {
                    Some(size) => int(size),
                    None if !countable(&Code::from(&size)) => Err(Failure::Uncountable),
                    None => {
                        let value = super::arith::short(&BigInt::from(size));
                        Err(Failure::ConversionRange { value, ty: "int".into() })
                    }
                }
            }
            Prim::Wrap | Prim::Saturate => {
                let scalar = |i: usize| types.args.get(i).and_then(Type::as_scalar).unwrap_or(Scalar::Int);
                Ok(super::arith::force(scalar(1), scalar(0), &args[0], prim == Prim::Saturate))
            }
            Prim::ModInt | Prim::ModBigint => {
                let size = size_of(types);
                if !countable(&Code::from(&size)) {
                    return Err(Failure::Uncountable);
                }
                let scalar = if prim == Prim::ModInt { Scalar::Int } else { Scalar::Bigint };
                let value = to_bigint(scalar, &args[0]);
                let modulus = BigInt::from(size.clone());
                if modulus.is_positive() {
                    from_code(&value.mod_floor(&modulus), &size, &types.args[0])
                } else {
                    from_code(&value, &size, &types.args[0])
                }
            }
            Prim::IndexInt | Prim::IndexBigint => {
                let scalar = if prim == Prim::IndexInt { Scalar::Int } else { Scalar::Bigint };
                let value = to_bigint(scalar, &args[0]);
                if !countable(&Code::from(size_of(types))) {
                    return Err(Failure::Uncountable);
                }
                let (case, argument) = match from_code(&value, &size_of(types), &types.args[0]) {
                    Ok(index) => (Code::Small(1), index),
                    Err(_) => (Code::ZERO, Value::UNIT),
                };
                Ok(case_of(types, case, argument))
            }
            Prim::Scalar(function) => {
                let mut words = [0; 3];
                words.iter_mut().zip(args).for_each(|(word, arg)| *word = arg.word());
                Ok(Value::Word(function.apply(&words)))
            }
            Prim::StrLen => int(text::length(args[0].as_str(), limits.stop)? as i64),
            Prim::Substring => {
                let text = args[0].as_str();
                let bound = |v: &Value| usize::try_from(v.as_int().max(0)).unwrap_or(usize::MAX);
                let (from, to) = (bound(&args[1]), bound(&args[2]));
                Ok(Value::str(text::part(text, from, to, limits.stop)?))
            }
            Prim::StrFind => {
                let at = text::position(args[0].as_str(), args[1].as_str(), limits.stop)?;
                int(at.map_or(-1, |at| at as i64))
            }
            Prim::StrReplace => {
                let (text, old, new) = (args[0].as_str(), args[1].as_str(), args[2].as_str());
                match text::replaced(text, old, new, LONGEST_STRING, limits.stop)? {
                    Ok(text) => Ok(Value::str(text)),
                    Err(found) => Err(super::arith::too_much(found, new.len() as u64, LONGEST_STRING as u64)),
                }
            }
            Prim::Upper => Ok(Value::str(text::in_case(args[0].as_str(), str::to_uppercase, limits.stop)?)),
            Prim::Lower => Ok(Value::str(text::in_case(args[0].as_str(), str::to_lowercase, limits.stop)?)),
            Prim::UpperChar => Ok(Value::char(alone(c().to_uppercase(), c()))),
            Prim::LowerChar => Ok(Value::char(alone(c().to_lowercase(), c()))),
            Prim::IsLetter => Ok(Value::bool(c().is_alphabetic())),
            Prim::IsSpace => Ok(Value::bool(c().is_whitespace())),
            Prim::Trim => Ok(Value::str(args[0].as_str().trim())),
            Prim::StrRepeat => {
                let text = args[0].as_str();
                let times = usize::try_from(args[1].as_int().max(0)).unwrap_or(usize::MAX);
                match text.len().checked_mul(times).filter(|bytes| *bytes <= LONGEST_STRING) {
                    // Nothing is repeated in no time, however often.
                    Some(0) => Ok(Value::str("")),
                    Some(_) => Ok(Value::str(text::repeated(text, times, limits.stop)?)),
                    None => Err(super::arith::too_much(times, text.len() as u64, LONGEST_STRING as u64)),
                }
            }
            Prim::Chr => match u32::try_from(n()).ok().and_then(char::from_u32) {
                Some(c) => Ok(Value::str(c.to_string())),
                None => Err(Failure::NoCharacter { code: n().to_string() }),
            },
            Prim::CodePoint => {
                let at = usize::try_from(args[1].as_int()).unwrap_or(usize::MAX);
                int(args[0].as_str().chars().nth(at).map_or(-1, |c| i64::from(c as u32)))
            }
            Prim::ParseInt => {
                let read = args[0].as_str().trim().parse::<i64>();
                Ok(match read {
                    Ok(n) => case_of(types, Code::Small(1), Value::int(n)),
                    Err(_) => case_of(types, Code::ZERO, Value::UNIT),
                })
            }
            Prim::ParseReal => Ok(match super::text::real(args[0].as_str(), limits.stop)? {
                Some(x) => case_of(types, Code::Small(1), Value::real(x)),
                None => case_of(types, Code::ZERO, Value::UNIT),
            }),
            Prim::Compress
            | Prim::Iota
            | Prim::Characters
            | Prim::Words
            | Prim::Lines
            | Prim::Split
            | Prim::Numbers
            | Prim::Table => super::select::select(prim, types, args, limits),
            Prim::Npy
            | Prim::Npz
            | Prim::Csv
            | Prim::CsvBy
            | Prim::WriteCsvBy
            | Prim::Arrow
            | Prim::WriteArrow
            | Prim::Parquet
            | Prim::WriteParquet
            | Prim::Raw
            | Prim::ReadText
            | Prim::WriteNpy
            | Prim::WriteNpz
            | Prim::WriteCsv
            | Prim::WriteRaw
            | Prim::Cells
            | Prim::Svg
            | Prim::Draw
            | Prim::SavePicture
            | Prim::WriteText => super::files::files(prim, types, args, &self.layouts, host),
            Prim::Fixed => {
                let digits = usize::try_from(args[1].as_int().clamp(0, 1000)).unwrap_or(0);
                Ok(Value::str(format!("{:.digits$}", x())))
            }
        }
    }
}

/// The only character of several, or the one that stands for them.
fn alone(mut several: impl Iterator<Item = char>, otherwise: char) -> char {
    several.next().filter(|_| several.next().is_none()).unwrap_or(otherwise)
}

/// The size of the first type argument.
fn size_of(types: &PrimTypes) -> BigUint {
    types.layout.as_ref().and_then(|l| l.compact()).map_or_else(BigUint::default, |c| c.size.to_big())
}

/// The compact exponential with the elements of an array.
fn packed(types: &PrimTypes, array: &Value) -> Result<Value, Failure> {
    let (Some(array_layout), Some(compact)) = (&types.layout, types.result.compact()) else {
        return Err(Failure::Internal { what: "packing without a type" });
    };
    let Form::Array { element, count } = &array_layout.form else {
        return Err(Failure::Internal { what: "packing what is no array" });
    };
    if !countable(&compact.size) {
        return Err(Failure::Uncountable);
    }
    if element.slots == 0 {
        return Ok(Value::UNIT);
    }
    let digits: Vec<Code> = (0..*count).map(|i| array.slots(i, 1).to_code()).collect();
    Ok(Value::code(compact.encoding.pack(&digits)))
}

/// The array with the digits of a compact exponential.
fn unpacked(types: &PrimTypes, code: &Value) -> Result<Value, Failure> {
    let (Some(compact), Form::Array { element, count }) =
        (types.layout.as_ref().and_then(|layout| layout.compact()), &types.result.form)
    else {
        return Err(Failure::Internal { what: "unpacking without a type" });
    };
    if element.slots == 0 || *count == 0 {
        return Ok(Value::UNIT);
    }
    let digits = compact.encoding.digits(&code.to_code(), *count);
    let parts = digits.into_iter().map(|digit| (Value::code(digit), 1)).collect();
    Value::tuple(parts, types.result.class, *count).ok_or(Failure::Internal { what: "an array too large" })
}

/// A case of the result type, which is a sum.
fn case_of(types: &PrimTypes, case: Code, argument: Value) -> Value {
    match &types.result.form {
        Form::Sum(sum) => sum.inject(&case, argument),
        // `1 + I` at a size 1 is the unit sum 2.
        Form::Compact(compact) => Value::code(compact.encoding.inject(&case, &argument.to_code())),
        _ => argument,
    }
}
