//! Conversion of columns to the type that a program states.
//!
//! Converts where every value of the type of the file is exactly one of the stated type, and
//! integers to compact values, each checked against the size.

use super::error::CellMismatch;
use super::{Column, DataError, Element, Format, Limits};
use crate::calendar;
use crate::hash::HashMap;
use crate::types::encoding::{Code, Width};
use crate::types::stored::Cell;
use crate::types::{Scalar, Type};
use crate::value::{Buffer, Case, Class, Value};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use std::sync::Arc;

/// Returns the cells of a column at another type. `place` names a cell in messages.
pub fn convert_cells(
    column: Column,
    wanted: &Cell,
    place: impl Fn(usize) -> String,
    mismatch: impl Fn() -> DataError,
    format: Format,
    limits: &Limits<'_>,
) -> Result<Buffer, DataError> {
    let too_large = || DataError::too_large(format);
    match (column.element, wanted.inner()) {
        (Element::Scalar(from), Cell::Scalar(to)) if from == *to => Ok(column.cells),
        (Element::Scalar(from), Cell::Scalar(to)) if from.fits(*to) => {
            let mut out =
                Buffer::with_capacity(Class::of_scalar(*to), column.cells.len()).ok_or_else(too_large)?;
            for i in 0..column.cells.len() {
                limits.poll(i)?;
                out.push(widen(from, *to, &column.cells.get(i)));
            }
            Ok(out)
        }
        (Element::Bool, Cell::Code(ty)) if ty.is_bool() => Ok(column.cells),
        (Element::Scalar(Scalar::String), Cell::Case(names, ty)) => {
            // The cases of an enumeration are codes.
            let (class, codes) = match ty.is_compact() {
                true => (class_of_codes(ty), true),
                false => (Class::Any, false),
            };
            let mut out = Buffer::with_capacity(class, column.cells.len()).ok_or_else(too_large)?;
            let cases = (0..names.len()).map(Code::from).map(|case| match codes {
                true => Value::code(case),
                false => Value::Sum(Arc::new(Case(case, Value::UNIT))),
            });
            let cases: HashMap<&str, Value> = names.iter().map(|name| &**name).zip(cases).collect();
            for i in 0..column.cells.len() {
                limits.poll(i)?;
                let missing = column.is_missing(i);
                let cell = column.cells.get(i);
                out.push(match cases.get(cell.as_str()) {
                    Some(case) => case.clone(),
                    None if missing => Value::UNIT,
                    None => {
                        let (text, wanted) = (cell.as_str().to_string(), ty.to_string());
                        return Err(DataError::Cell {
                            place: place(i),
                            text,
                            wanted,
                            why: CellMismatch::Unparsable,
                        });
                    }
                });
            }
            Ok(out)
        }
        (Element::Scalar(Scalar::String), Cell::Day(ty)) => {
            let mut out = Buffer::with_capacity(Class::Word, column.cells.len()).ok_or_else(too_large)?;
            for i in 0..column.cells.len() {
                limits.poll(i)?;
                let missing = column.is_missing(i);
                let cell = column.cells.get(i);
                let day = if missing { Some(0) } else { calendar::parse_day(cell.as_str().trim()) };
                let day = day.ok_or_else(|| DataError::Cell {
                    place: place(i),
                    text: cell.as_str().to_string(),
                    wanted: ty.to_string(),
                    why: CellMismatch::Unparsable,
                })?;
                out.push(Value::int(day));
            }
            Ok(out)
        }
        (Element::Scalar(from), Cell::Code(ty)) if from.bounds().is_some() => {
            // Codes of a type that is too large to be counted have no bound here.
            let size = ty.size().ok();
            let class = class_of_codes(ty);
            let mut column = column;
            if column.cells.is_mapped() {
                // Compiled code relies on codes below their size: a copy is checked, which cannot
                // be changed through the file.
                let own = Buffer::with_capacity(column.cells.class(), column.cells.len());
                let mut own = own.ok_or_else(too_large)?;
                own.append_all(&column.cells);
                column.cells = own;
            }
            let fits = |i: usize| {
                let missing = column.is_missing(i);
                missing || is_code_below(from, &column.cells.get(i), size.as_ref())
            };
            let mut other = None;
            for i in 0..column.cells.len() {
                limits.poll(i)?;
                if !fits(i) {
                    other = Some(i);
                    break;
                }
            }
            if let Some(at) = other {
                let text = integer_value(from, &column.cells.get(at)).to_string();
                return Err(DataError::Cell {
                    place: place(at),
                    text,
                    wanted: ty.to_string(),
                    why: CellMismatch::CodeOutOfRange,
                });
            }
            if class == column.cells.class() {
                return Ok(column.cells);
            }
            let mut out = Buffer::with_capacity(class, column.cells.len()).ok_or_else(too_large)?;
            (0..column.cells.len()).for_each(|i| out.push(column.cells.get(i)));
            Ok(out)
        }
        _ => Err(mismatch()),
    }
}

/// Returns the storage class of the codes of a compact type.
pub fn class_of_codes(ty: &Type) -> Class {
    ty.size().map_or(Class::Any, |size| Class::of(Width::of(&size)))
}

/// Returns the integer that a slot of an integer type holds.
fn integer_value(scalar: Scalar, value: &Value) -> i128 {
    match scalar {
        Scalar::Fixed(fixed) => fixed.decode(value.word()),
        _ => i128::from(value.as_int()),
    }
}

/// Returns true if an integer is a code below `size`, if there is a bound.
fn is_code_below(scalar: Scalar, value: &Value, size: Option<&BigUint>) -> bool {
    let code = integer_value(scalar, value).to_u128();
    code.is_some_and(|n| size.is_none_or(|size| BigUint::from(n) < *size))
}

/// Converts a number to a type that holds it exactly.
fn widen(from: Scalar, to: Scalar, value: &Value) -> Value {
    match (from, to) {
        (Scalar::Single, Scalar::Real) => Value::real(f64::from(value.as_single())),
        (_, Scalar::Real) => Value::real(integer_value(from, value) as f64),
        (_, Scalar::Single) => Value::single(integer_value(from, value) as f32),
        (_, Scalar::Bigint) => Value::bigint(BigInt::from(integer_value(from, value))),
        (_, Scalar::Fixed(fixed)) => Value::Word(fixed.encode(integer_value(from, value))),
        _ => Value::int(integer_value(from, value) as i64),
    }
}

/// Returns the name among these that is most similar.
pub fn similar_name(name: &str, there: &[String]) -> Option<String> {
    let plain = |name: &str| name.trim().to_lowercase().replace(['_', ' ', '-'], "");
    let same = there.iter().find(|other| plain(other) == plain(name));
    let part = || there.iter().find(|other| plain(other).starts_with(&plain(name)));
    let near = || crate::suggest::similar(name, there.iter().map(String::as_str));
    same.or_else(part).cloned().or_else(near)
}
