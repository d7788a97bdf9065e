//! JSON → values of a type.
//!
//! Takes a tree and a shape; gives the value, or the first place at which the tree is not of the
//! shape, with the way that leads there.

use super::element_class;
use super::shape::{Shape, ShapeId, Shapes};
use crate::data::{Json, JsonError, JsonKind, Limits, similar_name};
use crate::layout::Layout;
use crate::types::encoding::Code;
use crate::types::{Scalar, Type};
use crate::value::{Buffer, Case, Class, Packed, Seq, Value};
use num_bigint::{BigInt, BigUint};
use std::sync::Arc;

/// The reading of a tree.
pub(super) struct Decoder<'a> {
    pub shapes: &'a Shapes,
    pub limits: &'a Limits<'a>,
}

/// Reals of this size and more have no fraction, and not each integer is one.
const MAX_EXACT_INTEGER: f64 = 9_007_199_254_740_992.0;

/// The place of a mistake, with the way from there to the whole, innermost part first.
struct DecodeError {
    at: usize,
    why: String,
    way: Vec<Step>,
}

/// A step of a way.
enum Step {
    Member(String),
    Element(usize),
}

/// The reason why a tree is not read.
enum DecodeFailure {
    DecodeError(DecodeError),
    TooLarge,
    Interrupted,
}

type Result<T, E = DecodeFailure> = std::result::Result<T, E>;

/// Returns a mistake at a value.
fn misfit(json: &Json<'_>, why: String) -> DecodeFailure {
    DecodeFailure::DecodeError(DecodeError { at: json.at, why, way: Vec::new() })
}

/// Adds a step to the way to a mistake.
fn inside<T>(result: Result<T>, step: impl FnOnce() -> Step) -> Result<T> {
    result.map_err(|stop| match stop {
        DecodeFailure::DecodeError(mut found) => {
            found.way.push(step());
            DecodeFailure::DecodeError(found)
        }
        stop => stop,
    })
}

/// Returns the kind of a value, for messages.
fn kind_text(json: &Json<'_>) -> &'static str {
    match json.kind {
        JsonKind::Null => "`null`",
        JsonKind::Bool(_) => "a truth value",
        JsonKind::Number(_) => "a number",
        JsonKind::Text(_) => "a text",
        JsonKind::List(_) => "a list",
        JsonKind::Object(_) => "an object",
    }
}

impl Decoder<'_> {
    /// Returns the value that a tree describes.
    pub fn decode(&self, json: &Json<'_>, root: ShapeId) -> Result<Value, JsonError> {
        self.value(json, root).map_err(|stop| match stop {
            DecodeFailure::TooLarge => JsonError::TooLarge,
            DecodeFailure::Interrupted => JsonError::Interrupted,
            DecodeFailure::DecodeError(DecodeError { at, why, way }) if way.is_empty() => {
                JsonError::Mistake { at, why }
            }
            DecodeFailure::DecodeError(DecodeError { at, why, way }) => {
                let mut place = String::new();
                for step in way.iter().rev() {
                    match step {
                        Step::Member(name) if place.is_empty() => place.push_str(name),
                        Step::Member(name) => {
                            place.push('.');
                            place.push_str(name);
                        }
                        Step::Element(number) => place.push_str(&format!("[{number}]")),
                    }
                }
                JsonError::Mistake { at, why: format!("{place}: {why}") }
            }
        })
    }

    /// Returns the error of a value of another kind.
    fn other_kind(&self, json: &Json<'_>, id: ShapeId) -> DecodeFailure {
        misfit(json, format!("{} stands where `{}` is wanted", kind_text(json), self.shapes.ty(id)))
    }

    /// Reads a value.
    fn value(&self, json: &Json<'_>, id: ShapeId) -> Result<Value> {
        match (self.shapes.shape(id), &json.kind) {
            (Shape::Any, _) => self.any(json),
            (Shape::Null, JsonKind::Null) => Ok(Value::UNIT),
            (Shape::Bool, JsonKind::Bool(truth)) => Ok(Value::bool(*truth)),
            (Shape::Scalar(scalar), _) => self.scalar(json, *scalar, id),
            (Shape::Names(names), JsonKind::Text(text)) => {
                match names.iter().position(|name| **name == **text) {
                    Some(at) => Ok(Value::code(Code::from(at))),
                    None => Err(self.no_case(json, text, names.iter().map(|name| &**name), id)),
                }
            }
            (Shape::Code(size), JsonKind::Number(digits)) => match digits.parse::<BigUint>() {
                Ok(code) if code < *size => Ok(Value::code(Code::from(&code))),
                _ => Err(misfit(
                    json,
                    format!("{digits} is not the code of a value of `{}`", self.shapes.ty(id)),
                )),
            },
            (Shape::Tuple(parts, layout), JsonKind::List(elements)) => {
                if elements.len() != parts.len() {
                    return Err(self.other_length(json, elements.len(), parts.len(), id));
                }
                let mut values = Vec::with_capacity(parts.len());
                for (number, ((_, part), element)) in parts.iter().zip(elements).enumerate() {
                    let value = inside(self.value(element, *part), || Step::Element(number))?;
                    values.push((value, self.shapes.layout(*part).slots));
                }
                self.tuple(values, layout)
            }
            (Shape::Object(fields, layout), JsonKind::Object(members)) => {
                self.object(json, fields, layout, members)
            }
            (Shape::Array(element, count, layout), JsonKind::List(elements)) => {
                if elements.len() != *count {
                    return Err(self.other_length(json, elements.len(), *count, id));
                }
                self.elements(elements, *element, layout)
            }
            (Shape::Growing(element), JsonKind::List(elements)) => self.growing(elements, *element),
            (Shape::List(slots, layout), JsonKind::List(elements)) => {
                let Shape::Growing(element) = self.shapes.shape(*slots) else {
                    return Err(self.other_kind(json, id));
                };
                let count = Value::int(elements.len() as i64);
                self.tuple(vec![(count, 1), (self.growing(elements, *element)?, 1)], layout)
            }
            (Shape::Option(_), JsonKind::Null) => Ok(Value::Sum(Arc::new(Case(Code::ZERO, Value::UNIT)))),
            (Shape::Option(some), _) => {
                Ok(Value::Sum(Arc::new(Case(Code::Small(1), self.value(json, *some)?))))
            }
            (Shape::Sum(_, sum), JsonKind::Null) => Ok(sum.inject(&Code::ZERO, Value::UNIT)),
            (Shape::Sum(some, sum), _) => Ok(sum.inject(&Code::Small(1), self.value(json, *some)?)),
            (Shape::CodeOption(_), JsonKind::Null) => Ok(Value::code(Code::ZERO)),
            (Shape::CodeOption(some), _) => {
                let code = self.value(json, *some)?.to_code();
                Ok(Value::code(code.add(&Code::Small(1))))
            }
            (Shape::Variant(cases), JsonKind::Text(text)) => {
                match cases.iter().position(|(name, argument)| **name == **text && argument.is_none()) {
                    Some(at) => Ok(Value::Sum(Arc::new(Case(Code::from(at), Value::UNIT)))),
                    None => Err(self.no_case(json, text, cases.iter().map(|(name, _)| &**name), id)),
                }
            }
            (Shape::Variant(cases), JsonKind::Object(members)) => {
                let [(name, argument)] = &members[..] else { return Err(self.other_kind(json, id)) };
                let found = cases.iter().enumerate().find(|(_, (case, _))| **case == **name);
                match found {
                    Some((at, (_, Some(shape)))) => {
                        let value = inside(self.value(argument, *shape), || Step::Member(name.clone()))?;
                        Ok(Value::Sum(Arc::new(Case(Code::from(at), value))))
                    }
                    _ => Err(self.no_case(json, name, cases.iter().map(|(name, _)| &**name), id)),
                }
            }
            _ => Err(self.other_kind(json, id)),
        }
    }

    /// Returns the error of a list of another length.
    fn other_length(&self, json: &Json<'_>, found: usize, wanted: usize, id: ShapeId) -> DecodeFailure {
        misfit(json, format!("a list of {found} stands where `{}` wants {wanted}", self.shapes.ty(id)))
    }

    /// Returns the error of a case that a variant does not have.
    fn no_case<'n>(
        &self,
        json: &Json<'_>,
        found: &str,
        names: impl Iterator<Item = &'n str>,
        id: ShapeId,
    ) -> DecodeFailure {
        let shown: String = found.chars().take(40).collect();
        let names: Vec<String> = names.map(str::to_string).collect();
        let near = similar_name(found, &names).map(|near| format!("; `{near}` may be meant"));
        let near = near.unwrap_or_default();
        misfit(json, format!("`{}` has no case `{shown}` of this kind{near}", self.shapes.ty(id)))
    }

    /// Reads the members of an object as fields.
    fn object(
        &self,
        json: &Json<'_>,
        fields: &[(Arc<str>, usize, ShapeId)],
        layout: &Layout,
        members: &[(String, Json<'_>)],
    ) -> Result<Value> {
        let mut found: Vec<Option<&Json<'_>>> = vec![None; fields.len()];
        for (number, (name, member)) in members.iter().enumerate() {
            // Members mostly stand in the order of the fields.
            let guess = fields.get(number).filter(|(field, ..)| **field == **name).map(|_| number);
            let at = guess.or_else(|| fields.iter().position(|(field, ..)| **field == **name));
            let Some(at) = at else { continue };
            if found[at].replace(member).is_some() {
                return inside(Err(misfit(member, "it stands twice in its object".into())), || {
                    Step::Member(name.clone())
                });
            }
        }
        let mut values = Vec::with_capacity(fields.len());
        for ((name, _, shape), member) in fields.iter().zip(found) {
            let missing = Json { at: json.at, kind: JsonKind::Null };
            let value = match member {
                Some(member) => self.value(member, *shape),
                None if self.shapes.is_optional(*shape) => self.value(&missing, *shape),
                None => Err(misfit(json, "it is missing in the object that begins here".into())),
            };
            let value = inside(value, || Step::Member(name.to_string()))?;
            values.push((value, self.shapes.layout(*shape).slots));
        }
        self.tuple(values, layout)
    }

    /// Makes a tuple.
    fn tuple(&self, values: Vec<(Value, usize)>, layout: &Layout) -> Result<Value> {
        Value::tuple(values, layout.class, layout.slots).ok_or(DecodeFailure::TooLarge)
    }

    /// Reads the elements of an array.
    fn elements(&self, elements: &[Json<'_>], shape: ShapeId, element: &Layout) -> Result<Value> {
        let slots = elements.len().checked_mul(element.slots).ok_or(DecodeFailure::TooLarge)?;
        let class = element_class(element);
        if (slots as u64).saturating_mul(class.bytes()) > self.limits.memory {
            return Err(DecodeFailure::TooLarge);
        }
        let mut buffer = Buffer::with_capacity(class, slots).ok_or(DecodeFailure::TooLarge)?;
        for (number, json) in elements.iter().enumerate() {
            self.limits.poll(number).map_err(|_| DecodeFailure::Interrupted)?;
            let value = inside(self.value(json, shape), || Step::Element(number))?;
            buffer.append(&value, element.slots);
        }
        Ok(match slots {
            0 => Value::UNIT,
            1 => buffer.get(0),
            _ => Value::Seq(Seq::new(buffer)),
        })
    }

    /// Reads the elements of an array that has its size with it.
    fn growing(&self, elements: &[Json<'_>], shape: ShapeId) -> Result<Value> {
        let value = self.elements(elements, shape, self.shapes.layout(shape))?;
        let sizes = vec![Type::unit_sum(elements.len())];
        Ok(Value::Packed(Arc::new(Packed { sizes, value })))
    }

    /// Reads a number, a text or a character.
    fn scalar(&self, json: &Json<'_>, scalar: Scalar, id: ShapeId) -> Result<Value> {
        match (&json.kind, scalar) {
            (JsonKind::Text(text), Scalar::String) => Ok(Value::str(text.as_str())),
            (JsonKind::Text(text), Scalar::Char) => {
                let mut characters = text.chars();
                match (characters.next(), characters.next()) {
                    (Some(c), None) => Ok(Value::char(c)),
                    _ => Err(misfit(json, "the text is not one character".into())),
                }
            }
            (JsonKind::Number(digits), Scalar::Real) => Ok(Value::real(self.real(json, digits)?)),
            (JsonKind::Number(digits), Scalar::Single) => match digits.parse::<f32>() {
                Ok(number) if number.is_finite() => Ok(Value::single(number)),
                _ => Err(misfit(json, format!("{} does not fit `f32`", shown(digits)))),
            },
            (JsonKind::Number(digits), Scalar::Bigint) => match digits.parse::<BigInt>() {
                Ok(number) => Ok(Value::bigint(number)),
                Err(_) => Err(misfit(json, format!("{} is not a whole number", shown(digits)))),
            },
            (JsonKind::Number(digits), _) => {
                let Some((low, high)) = scalar.bounds() else { return Err(self.other_kind(json, id)) };
                let number = match digits.parse::<i128>() {
                    Ok(number) => number,
                    Err(_) if digits.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => i128::MAX,
                    Err(_) => {
                        let real = self.real(json, digits)?;
                        if real != real.trunc() || real.abs() > MAX_EXACT_INTEGER {
                            return Err(misfit(json, format!("{} is not a whole number", shown(digits))));
                        }
                        real as i128
                    }
                };
                if number < low || number > high {
                    return Err(misfit(json, format!("{} does not fit `{}`", shown(digits), scalar.name())));
                }
                Ok(match scalar {
                    Scalar::Fixed(fixed) => Value::Word(fixed.encode(number)),
                    _ => Value::int(number as i64),
                })
            }
            _ => Err(self.other_kind(json, id)),
        }
    }

    /// Reads a number as a real: the nearest one.
    fn real(&self, json: &Json<'_>, digits: &str) -> Result<f64> {
        let read = super::super::string_ops::parse_real(digits, self.limits.interrupt);
        match read.map_err(|_| DecodeFailure::Interrupted)? {
            Some(number) if number.is_finite() => Ok(number),
            _ => Err(misfit(json, format!("{} does not fit `real`", shown(digits)))),
        }
    }

    /// Reads a value of the variant that holds any.
    fn any(&self, json: &Json<'_>) -> Result<Value> {
        let (case, argument) = match &json.kind {
            JsonKind::Null => (0, Value::UNIT),
            JsonKind::Bool(truth) => (1, Value::bool(*truth)),
            JsonKind::Number(digits) => (2, Value::real(self.real(json, digits)?)),
            JsonKind::Text(text) => (3, Value::str(text.as_str())),
            JsonKind::List(elements) => {
                let mut buffer =
                    Buffer::with_capacity(Class::Any, elements.len()).ok_or(DecodeFailure::TooLarge)?;
                for (number, element) in elements.iter().enumerate() {
                    buffer.push(inside(self.any(element), || Step::Element(number))?);
                }
                (4, packed(buffer, elements.len()))
            }
            JsonKind::Object(members) => {
                let slots = 2 * members.len();
                let mut buffer = Buffer::with_capacity(Class::Any, slots).ok_or(DecodeFailure::TooLarge)?;
                for (name, member) in members {
                    buffer.push(Value::str(name.as_str()));
                    buffer.push(inside(self.any(member), || Step::Member(name.clone()))?);
                }
                (5, packed(buffer, members.len()))
            }
        };
        Ok(Value::Sum(Arc::new(Case(Code::Small(case), argument))))
    }
}

/// Returns an array with its size.
fn packed(buffer: Buffer, count: usize) -> Value {
    let value = match buffer.len() {
        0 => Value::UNIT,
        1 => buffer.get(0),
        _ => Value::Seq(Seq::new(buffer)),
    };
    Value::Packed(Arc::new(Packed { sizes: vec![Type::unit_sum(count)], value }))
}

/// Returns the beginning of a long number, for messages.
fn shown(digits: &str) -> String {
    if digits.len() <= 40 { digits.to_string() } else { format!("{}…", &digits[..40]) }
}
