//! Evaluation of the primitives.

use super::arithmetic::{from_code, to_bigint};
use super::code::{PrimTypes, SumRepresentation};
use super::error::Failure;
use super::machine::{Host, Machine};
use super::matching::split_case;
use super::{json, regex_ops, show, string_ops, system_ops, text_ops, time_ops};
use crate::core::Prim;
use crate::data::Limits;
use crate::layout::{Form, is_countable};
use crate::types::Scalar;
use crate::types::encoding::Code;
use crate::value::{Text, Value};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{Signed, ToPrimitive, Zero};
use std::sync::atomic::Ordering;

/// The longest string, in bytes.
pub const MAX_STRING_BYTES: usize = 1 << 30;

impl Machine {
    /// Evaluates a primitive that calls no function.
    pub(super) fn eval_primitive(
        &mut self,
        prim: Prim,
        types: &PrimTypes,
        args: &[Value],
        host: &mut Host<'_>,
    ) -> Result<Value, Failure> {
        let limits = Limits { memory: host.memory, interrupt: host.interrupt };
        let show = |read_back: bool, this: &Machine| {
            let ty = &types.args[0];
            let text = show::structural_text(&this.layouts, read_back, &args[0], ty, Some(limits.interrupt));
            match limits.interrupt.load(Ordering::Relaxed) {
                true => Err(Failure::Interrupted),
                false => Ok(text),
            }
        };
        let x = || args[0].as_real();
        let c = || args[0].as_char();
        let int = |n: i64| Ok(Value::int(n));
        match prim {
            Prim::Print => {
                show::write_output(&show(false, self)?, host.out, limits.interrupt)?;
                Ok(Value::UNIT)
            }
            Prim::Println => {
                let mut text = show(false, self)?;
                text.push('\n');
                show::write_output(&text, host.out, limits.interrupt)?;
                Ok(Value::UNIT)
            }
            Prim::Str => Ok(Value::str(show(false, self)?)),
            Prim::Strr => Ok(Value::str(show(true, self)?)),
            Prim::Fail => Err(Failure::Failed { message: args[0].as_str().to_string() }),
            Prim::Min | Prim::Max => {
                let Some(layout) = &types.layout else {
                    return Err(Failure::Internal { message: "an order without a type" });
                };
                Ok(super::reduce::extreme_value(layout, &args[0], &args[1], prim == Prim::Max))
            }
            Prim::Reduce
            | Prim::ArgMin
            | Prim::ArgMax
            | Prim::Dot
            | Prim::Scan
            | Prim::Sort
            | Prim::Order
            | Prim::Group
            | Prim::ListPush
            | Prim::ListGet
            | Prim::ListPut
            | Prim::HeapPush
            | Prim::HeapPop
            | Prim::DictPut
            | Prim::DictLookup
            | Prim::DictGet
            | Prim::DictRemove => {
                Err(Failure::Internal { message: "a primitive on whole arrays out of its place" })
            }
            Prim::Assert => {
                if args[0].as_bool() {
                    Ok(Value::UNIT)
                } else {
                    Err(Failure::Assertion)
                }
            }
            Prim::AInj => {
                let index = args[0].to_code();
                Ok(result_case(types, index, args[1].clone()))
            }
            Prim::CaseNo | Prim::CaseArg => {
                let sum = SumRepresentation::of(&self.layouts, &types.args[0]);
                let (case, argument) = split_case(&sum, &args[0]);
                Ok(if prim == Prim::CaseNo { Value::code(case) } else { argument })
            }
            Prim::Pack => pack_array(types, &args[0]),
            Prim::Unpack => unpack_array(types, &args[0]),
            Prim::TypeText
            | Prim::Convertible
            | Prim::CallableWith
            | Prim::AtMost
            | Prim::Fuses
            | Prim::Sorts
            | Prim::Ranks
            | Prim::Hashes
            | Prim::Compiled
            | Prim::HasPlace
            | Prim::HasPlaces => {
                Err(Failure::Internal { message: "a question about types that was not answered" })
            }
            Prim::Move | Prim::Over | Prim::TransposeTo | Prim::Like => {
                Err(Failure::Internal { message: "a move that was not written out" })
            }
            Prim::Size => {
                let size = first_type_size(types);
                match size.to_i64() {
                    Some(size) => int(size),
                    None if !is_countable(&Code::from(&size)) => Err(Failure::Uncountable),
                    None => {
                        let value = super::arithmetic::abbreviated_integer(&BigInt::from(size));
                        Err(Failure::ConversionRange { value, ty: "int".into() })
                    }
                }
            }
            Prim::Shift => {
                let sum = args[0].to_code().to_big() + args[1].to_code().to_big();
                Ok(Value::code(Code::from(&sum)))
            }
            Prim::FirstLabel => {
                let label = types.args[0].first_label().unwrap_or_default();
                match label.to_i64() {
                    Some(label) => int(label),
                    None => Err(Failure::ConversionRange { value: label.to_string(), ty: "int".into() }),
                }
            }
            Prim::Wrap | Prim::Saturate => {
                let scalar =
                    |i: usize| types.args[i].as_scalar().expect("a conversion is between number types");
                Ok(super::arithmetic::wrap_or_saturate(
                    scalar(1),
                    scalar(0),
                    &args[0],
                    prim == Prim::Saturate,
                ))
            }
            Prim::ModInt | Prim::ModBigint => {
                let size = first_type_size(types);
                if !is_countable(&Code::from(&size)) {
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
                if !is_countable(&Code::from(first_type_size(types))) {
                    return Err(Failure::Uncountable);
                }
                let (case, argument) = match from_code(&value, &first_type_size(types), &types.args[0]) {
                    Ok(index) => (Code::Small(1), index),
                    Err(_) => (Code::ZERO, Value::UNIT),
                };
                Ok(result_case(types, case, argument))
            }
            Prim::Scalar(function) => {
                let mut words = [0; 3];
                words.iter_mut().zip(args).for_each(|(word, arg)| *word = arg.word());
                Ok(Value::Word(function.apply(&words)))
            }
            Prim::StrLen => int(indexed(&args[0], limits)?.char_count() as i64),
            Prim::Substring => {
                let (from, to) = (position(&args[1]), position(&args[2]));
                Ok(Value::str(indexed(&args[0], limits)?.char_range(from, to)))
            }
            Prim::StrFind | Prim::StrFindFrom => {
                let text = indexed(&args[0], limits)?;
                let from = args.get(2).map_or(0, position);
                if from > text.char_count() {
                    return int(-1);
                }
                let at = text.byte_of(from);
                let found = string_ops::find_from(text.as_str(), args[1].as_str(), at, limits.interrupt)?;
                int(found.map_or(-1, |byte| text.chars_before(byte) as i64))
            }
            Prim::StrReplace => {
                let (text, old, new) = (args[0].as_str(), args[1].as_str(), args[2].as_str());
                match string_ops::replace_all(text, old, new, MAX_STRING_BYTES, limits.interrupt)? {
                    Ok(text) => Ok(Value::str(text)),
                    Err(found) => Err(super::arithmetic::memory_failure(
                        found,
                        new.len() as u64,
                        MAX_STRING_BYTES as u64,
                    )),
                }
            }
            Prim::Upper => Ok(Value::str(string_ops::convert_case(
                args[0].as_str(),
                str::to_uppercase,
                limits.interrupt,
            )?)),
            Prim::Lower => Ok(Value::str(string_ops::convert_case(
                args[0].as_str(),
                str::to_lowercase,
                limits.interrupt,
            )?)),
            Prim::UpperChar => Ok(Value::char(sole_char_or(c().to_uppercase(), c()))),
            Prim::LowerChar => Ok(Value::char(sole_char_or(c().to_lowercase(), c()))),
            Prim::IsLetter => Ok(Value::bool(c().is_alphabetic())),
            Prim::IsSpace => Ok(Value::bool(c().is_whitespace())),
            Prim::Trim => Ok(Value::str(args[0].as_str().trim())),
            Prim::Normalize => {
                text_ops::normalize(args[0].as_str(), args[1].as_int(), limits.interrupt).map(Value::str)
            }
            Prim::Sha256 => text_ops::sha256(args[0].as_str().as_bytes(), limits.interrupt).map(Value::str),
            Prim::Base64 => Ok(Value::str(text_ops::to_base64(args[0].as_str().as_bytes()))),
            Prim::FromBase64 => Ok(match text_ops::from_base64(args[0].as_str()) {
                Some(text) => result_case(types, Code::Small(1), Value::str(text)),
                None => result_case(types, Code::ZERO, Value::UNIT),
            }),
            Prim::RegexMistake | Prim::RegexMatches | Prim::RegexGroups | Prim::RegexReplace => {
                regex_ops::eval_regex_primitive(prim, types, args, &mut self.patterns, limits)
            }
            Prim::JsonDecode => json::decode_json(types, &args[0], &self.layouts, &limits),
            Prim::JsonEncode => json::encode_json(types, &args[0], args[1].as_int(), &self.layouts, &limits),
            Prim::TimeFormat => {
                let [day, nanoseconds, offset] = [1, 2, 3].map(|at: usize| args[at].as_int());
                let (format, zone) = (args[0].as_str(), args[4].as_str());
                Ok(match time_ops::format_time(format, day, nanoseconds, offset, zone) {
                    Ok(text) => result_case(types, Code::Small(1), Value::str(text)),
                    Err(why) => result_case(types, Code::ZERO, Value::str(why)),
                })
            }
            Prim::TimeParse => {
                Ok(time_ops::int_vector(time_ops::parse_time(args[0].as_str(), args[1].as_str())))
            }
            Prim::ZoneOffset => int(time_ops::zone_offset(args[0].as_str(), args[1].as_int())),
            Prim::ZoneTimes => {
                let times = time_ops::zone_times(args[0].as_str(), args[1].as_int(), args[2].as_int());
                Ok(time_ops::int_vector(times))
            }
            Prim::ReadLine
            | Prim::ReadInput
            | Prim::Environment
            | Prim::Now
            | Prim::Ticks
            | Prim::ListDir
            | Prim::Sleep
            | Prim::PrintError
            | Prim::Exit => system_ops::eval_system_primitive(prim, types, args, host),
            Prim::StrRepeat => {
                let text = args[0].as_str();
                let times = usize::try_from(args[1].as_int().max(0)).unwrap_or(usize::MAX);
                match text.len().checked_mul(times).filter(|bytes| *bytes <= MAX_STRING_BYTES) {
                    // An empty text is repeated without a loop.
                    Some(0) => Ok(Value::str("")),
                    Some(_) => Ok(Value::str(string_ops::repeat(text, times, limits.interrupt)?)),
                    None => Err(super::arithmetic::memory_failure(
                        times,
                        text.len() as u64,
                        MAX_STRING_BYTES as u64,
                    )),
                }
            }
            Prim::Chr => Ok(Value::str(string_ops::character(args[0].as_int())?.to_string())),
            // An array without elements is the value of no slots.
            Prim::TextOf if first_type_size(types).is_zero() => Ok(Value::str("")),
            Prim::TextOf => string_ops::text_of(&args[0], limits.interrupt),
            Prim::CodePoint => {
                let text = indexed(&args[0], limits)?;
                let at = usize::try_from(args[1].as_int()).unwrap_or(usize::MAX);
                let found = text.as_str()[text.byte_of(at)..].chars().next();
                int(found.map_or(-1, |c| i64::from(c as u32)))
            }
            Prim::ParseInt => {
                let read = args[0].as_str().trim().parse::<i64>();
                Ok(match read {
                    Ok(n) => result_case(types, Code::Small(1), Value::int(n)),
                    Err(_) => result_case(types, Code::ZERO, Value::UNIT),
                })
            }
            Prim::ParseReal => Ok(match super::string_ops::parse_real(args[0].as_str(), limits.interrupt)? {
                Some(x) => result_case(types, Code::Small(1), Value::real(x)),
                None => result_case(types, Code::ZERO, Value::UNIT),
            }),
            Prim::Me
            | Prim::Send
            | Prim::Give
            | Prim::Exchange
            | Prim::ShiftPlaces
            | Prim::Collect
            | Prim::Scatter
            | Prim::Join
            | Prim::Reveal
            | Prim::RevealAll
            | Prim::RevealNeighbors
            | Prim::Overlay
            | Prim::CommonWords
            | Prim::ZeroSums
            | Prim::ZeroBits
            | Prim::OwnWords => Err(Failure::Internal { message: "a move out of its place" }),
            Prim::Compress
            | Prim::Iota
            | Prim::Characters
            | Prim::Words
            | Prim::Lines
            | Prim::Split
            | Prim::Numbers
            | Prim::Table => super::existential_prims::eval_existential_primitive(prim, types, args, limits),
            Prim::Npy
            | Prim::Npz
            | Prim::Csv
            | Prim::CsvBy
            | Prim::CsvAfter
            | Prim::WriteCsvBy
            | Prim::Arrow
            | Prim::WriteArrow
            | Prim::Parquet
            | Prim::WriteParquet
            | Prim::Netcdf
            | Prim::NetcdfFilled
            | Prim::Ugrid
            | Prim::Raw
            | Prim::ReadText
            | Prim::ReadPixels
            | Prim::WriteNpy
            | Prim::WriteNpz
            | Prim::WriteCsv
            | Prim::WriteRaw
            | Prim::WriteNetcdf
            | Prim::WriteVtk
            | Prim::Cells
            | Prim::Svg
            | Prim::Draw
            | Prim::SavePicture
            | Prim::WriteText => super::files::eval_file_primitive(prim, types, args, &self.layouts, host),
            Prim::Keygen
            | Prim::KeyIdentity
            | Prim::Retype
            | Prim::PublicPart
            | Prim::EvaluationKey
            | Prim::Encrypt
            | Prim::Decrypt
            | Prim::CipherAdd
            | Prim::CipherSubtract
            | Prim::CipherNegate
            | Prim::CipherAddPlain
            | Prim::CipherScale
            | Prim::CipherTimesPlain
            | Prim::CipherSum
            | Prim::CipherDot
            | Prim::CipherTimes
            | Prim::CipherRotate
            | Prim::CipherInnerSum
            | Prim::CipherRefresh
            | Prim::CipherBudget
            | Prim::CipherMagnitude
            | Prim::Blinding
            | Prim::TagKey
            | Prim::KeyedHashes
            | Prim::BlindAgain
            | Prim::ReadCipher
            | Prim::WriteCipher => {
                super::ciphers::eval_cipher_primitive(prim, types, args, &self.layouts, host)
            }
            Prim::Fixed => {
                let digits = usize::try_from(args[1].as_int().clamp(0, 1000)).unwrap_or(0);
                // As `str` writes it.
                let text = if x().is_nan() { "nan".into() } else { format!("{:.digits$}", x()) };
                Ok(Value::str(text))
            }
        }
    }
}

/// Returns a text whose characters are found in a constant time.
fn indexed<'v>(value: &'v Value, limits: Limits<'_>) -> Result<&'v Text, Failure> {
    let text = value.as_text();
    text.ensure_index(|| match limits.interrupt.load(Ordering::Relaxed) {
        true => Err(Failure::Interrupted),
        false => Ok(()),
    })?;
    Ok(text)
}

/// Returns a position in a text; those before its beginning are its beginning.
fn position(value: &Value) -> usize {
    usize::try_from(value.as_int().max(0)).unwrap_or(usize::MAX)
}

/// Returns the only character of an iterator, or `otherwise` if there are several.
fn sole_char_or(mut several: impl Iterator<Item = char>, otherwise: char) -> char {
    several.next().filter(|_| several.next().is_none()).unwrap_or(otherwise)
}

/// Returns the size of the first type argument.
fn first_type_size(types: &PrimTypes) -> BigUint {
    let layout = types.layout.as_ref().expect("the primitive has a type argument");
    layout.require_compact().size.to_big()
}

/// Packs the elements of an array into a compact exponential.
fn pack_array(types: &PrimTypes, array: &Value) -> Result<Value, Failure> {
    let (Some(array_layout), Some(compact)) = (&types.layout, types.result.compact()) else {
        return Err(Failure::Internal { message: "packing without a type" });
    };
    let Form::Array { element, count } = &array_layout.form else {
        return Err(Failure::Internal { message: "packing what is no array" });
    };
    if !is_countable(&compact.size) {
        return Err(Failure::Uncountable);
    }
    if element.slots == 0 {
        return Ok(Value::UNIT);
    }
    let digits: Vec<Code> = (0..*count).map(|i| array.slots(i, 1).to_code()).collect();
    Ok(Value::code(compact.encoding.pack(&digits)))
}

/// Unpacks the digits of a compact exponential into an array.
fn unpack_array(types: &PrimTypes, code: &Value) -> Result<Value, Failure> {
    let (Some(compact), Form::Array { element, count }) =
        (types.layout.as_ref().and_then(|layout| layout.compact()), &types.result.form)
    else {
        return Err(Failure::Internal { message: "unpacking without a type" });
    };
    if element.slots == 0 || *count == 0 {
        return Ok(Value::UNIT);
    }
    let digits = compact.encoding.digits(&code.to_code(), *count);
    let parts = digits.into_iter().map(|digit| (Value::code(digit), 1)).collect();
    Value::tuple(parts, types.result.class, *count).ok_or(Failure::Internal { message: "an array too large" })
}

/// Returns a case of the result type, which is a sum.
pub(super) fn result_case(types: &PrimTypes, case: Code, argument: Value) -> Value {
    match &types.result.form {
        Form::Sum(sum) => sum.inject(&case, argument),
        // `1 + I` at a size 1 is the unit sum 2.
        Form::Compact(compact) => Value::code(compact.encoding.inject(&case, &argument.to_code())),
        _ => argument,
    }
}
