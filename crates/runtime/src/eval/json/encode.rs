//! Values of a type → JSON.
//!
//! Takes a value and a shape; gives the text, or the failure of a number that JSON has none for.

use super::super::error::Failure;
use super::super::show::real_text;
use super::super::stack_guard;
use super::part_of;
use super::shape::{Shape, ShapeId, Shapes};
use crate::data::{Limits, MAX_JSON_DEPTH, write_json_text};
use crate::types::Scalar;
use crate::types::encoding::Code;
use crate::value::Value;
use num_traits::ToPrimitive;
use std::fmt::Write;

/// The writing of a text.
pub(super) struct Encoder<'a> {
    pub shapes: &'a Shapes,
    pub limits: &'a Limits<'a>,
    /// The longest text, in bytes.
    pub most: usize,
    /// The number of blanks for each level; 0 for one line.
    pub indent: usize,
    /// The number of values so far.
    pub rounds: usize,
    pub out: String,
}

/// Whole reals below this bound are written without a point by the variant that holds any value.
const MAX_PLAIN_REAL: f64 = 1e15;

type Result<T, E = Failure> = std::result::Result<T, E>;

/// A state that types rule out.
const ILL_TYPED: Failure = Failure::Internal { message: "a value that is not of its type" };

impl Encoder<'_> {
    /// Writes a value at a level.
    pub fn write(&mut self, value: &Value, id: ShapeId, level: usize) -> Result<()> {
        self.begin(level)?;
        let shapes = self.shapes;
        let layout = shapes.layout(id);
        match shapes.shape(id) {
            Shape::Any => self.any(value, level),
            Shape::Null => self.word("null"),
            Shape::Bool => self.word(if value.as_bool() { "true" } else { "false" }),
            Shape::Scalar(scalar) => self.scalar(value, *scalar),
            Shape::Names(names) => {
                let name = value.to_code().to_usize().and_then(|at| names.get(at)).ok_or(ILL_TYPED)?;
                write_json_text(name, &mut self.out);
                Ok(())
            }
            Shape::Code(_) => {
                let _ = write!(self.out, "{}", value.to_code());
                Ok(())
            }
            Shape::Tuple(parts, whole) => {
                let parts = parts.iter().map(|(start, part)| {
                    (part_of(value, whole.slots, *start, shapes.layout(*part).slots), *part)
                });
                self.list(parts, level)
            }
            Shape::Object(fields, whole) => {
                let fields = fields.iter().map(|(name, start, field)| {
                    (&**name, part_of(value, whole.slots, *start, shapes.layout(*field).slots), *field)
                });
                self.object(fields, level)
            }
            Shape::Array(element, count, each) => {
                let slots = each.slots;
                let parts = (0..*count).map(|at| (part_of(value, layout.slots, at * slots, slots), *element));
                self.list(parts, level)
            }
            Shape::Growing(element) => self.growing(value, *element, usize::MAX, level),
            Shape::List(slots, whole) => {
                let (Shape::Growing(element), Some((start, part))) = (shapes.shape(*slots), whole.part(1))
                else {
                    return Err(ILL_TYPED);
                };
                let count = value.slots(0, 1).as_int();
                let count = usize::try_from(count).map_err(|_| ILL_TYPED)?;
                self.growing(&value.slots(start, part.slots), *element, count, level)
            }
            Shape::Option(some) => match value {
                Value::Sum(case) if case.0.is_zero() => self.word("null"),
                Value::Sum(case) => self.write(&case.1, *some, level),
                _ => Err(ILL_TYPED),
            },
            Shape::Sum(some, sum) => {
                let (case, argument) = sum.split(value);
                if case.is_zero() { self.word("null") } else { self.write(&argument, *some, level) }
            }
            Shape::CodeOption(some) => {
                let code = value.to_code();
                if code.is_zero() {
                    return self.word("null");
                }
                self.write(&Value::code(code.sub(&Code::Small(1))), *some, level)
            }
            Shape::Variant(cases) => {
                let Value::Sum(case) = value else { return Err(ILL_TYPED) };
                let (name, argument) = case.0.to_usize().and_then(|at| cases.get(at)).ok_or(ILL_TYPED)?;
                match argument {
                    None => {
                        write_json_text(name, &mut self.out);
                        Ok(())
                    }
                    Some(argument) => self.object([(&**name, case.1.clone(), *argument)].into_iter(), level),
                }
            }
        }
    }

    /// Checks the limits before a value.
    fn begin(&mut self, level: usize) -> Result<()> {
        self.limits.poll(self.rounds).map_err(|_| Failure::Interrupted)?;
        self.rounds += 1;
        if self.out.len() > self.most {
            return Err(super::super::arithmetic::memory_failure(self.out.len(), 1, self.most as u64));
        }
        if level > MAX_JSON_DEPTH || !stack_guard::has_room() {
            return Err(Failure::TooDeep { depth: level });
        }
        Ok(())
    }

    /// Writes a word.
    fn word(&mut self, word: &str) -> Result<()> {
        self.out.push_str(word);
        Ok(())
    }

    /// Begins a line at a level, if the text has several.
    fn line(&mut self, level: usize) {
        if self.indent > 0 {
            self.out.push('\n');
            let blanks = level * self.indent;
            self.out.extend(std::iter::repeat_n(' ', blanks));
        }
    }

    /// Writes a list.
    fn list(&mut self, parts: impl Iterator<Item = (Value, ShapeId)>, level: usize) -> Result<()> {
        self.out.push('[');
        let mut any = false;
        for (value, shape) in parts {
            self.separate(&mut any, level);
            self.write(&value, shape, level + 1)?;
        }
        self.close(any, ']', level)
    }

    /// Writes an object.
    fn object<'n>(
        &mut self,
        fields: impl Iterator<Item = (&'n str, Value, ShapeId)>,
        level: usize,
    ) -> Result<()> {
        self.out.push('{');
        let mut any = false;
        for (name, value, shape) in fields {
            self.separate(&mut any, level);
            self.name(name);
            self.write(&value, shape, level + 1)?;
        }
        self.close(any, '}', level)
    }

    /// Writes what stands before a part.
    fn separate(&mut self, any: &mut bool, level: usize) {
        if *any {
            self.out.push(',');
        }
        *any = true;
        self.line(level + 1);
    }

    /// Writes the name of a member.
    fn name(&mut self, name: &str) {
        write_json_text(name, &mut self.out);
        self.out.push_str(if self.indent > 0 { ": " } else { ":" });
    }

    /// Writes the end of a list or an object.
    fn close(&mut self, any: bool, end: char, level: usize) -> Result<()> {
        if any {
            self.line(level);
        }
        self.out.push(end);
        Ok(())
    }

    /// Writes the first `count` elements of an array that has its size with it.
    fn growing(&mut self, value: &Value, element: ShapeId, count: usize, level: usize) -> Result<()> {
        let Value::Packed(packed) = value else { return Err(ILL_TYPED) };
        let size = packed.sizes.first().and_then(|size| size.size().ok()).and_then(|size| size.to_usize());
        let size = size.ok_or(ILL_TYPED)?;
        let slots = self.shapes.layout(element).slots;
        let whole = &packed.value;
        let parts = (0..size.min(count)).map(|at| (part_of(whole, size * slots, at * slots, slots), element));
        self.list(parts, level)
    }

    /// Writes a number, a text or a character.
    fn scalar(&mut self, value: &Value, scalar: Scalar) -> Result<()> {
        match scalar {
            Scalar::Real => self.real(value.as_real(), real_text(value.as_real())),
            Scalar::Single => {
                let number = value.as_single();
                self.real(f64::from(number), format!("{number:?}"))
            }
            Scalar::Bigint => {
                let _ = write!(self.out, "{}", value.as_bigint());
                Ok(())
            }
            Scalar::String => {
                write_json_text(value.as_str(), &mut self.out);
                Ok(())
            }
            Scalar::Char => {
                write_json_text(value.as_char().encode_utf8(&mut [0; 4]), &mut self.out);
                Ok(())
            }
            Scalar::Fixed(fixed) => {
                let _ = write!(self.out, "{}", fixed.decode(value.word()));
                Ok(())
            }
            Scalar::Int => {
                let _ = write!(self.out, "{}", value.as_int());
                Ok(())
            }
        }
    }

    /// Writes a real by its text.
    fn real(&mut self, number: f64, text: String) -> Result<()> {
        if !number.is_finite() {
            return Err(Failure::Failed {
                message: format!("JSON has no number {text}: `option` has `None`"),
            });
        }
        self.out.push_str(&text);
        Ok(())
    }

    /// Writes a value of the variant that holds any.
    fn any(&mut self, value: &Value, level: usize) -> Result<()> {
        let Value::Sum(case) = value else { return Err(ILL_TYPED) };
        let argument = &case.1;
        match case.0.to_usize() {
            Some(0) => self.word("null"),
            Some(1) => self.word(if argument.as_bool() { "true" } else { "false" }),
            Some(2) => {
                let number = argument.as_real();
                let whole = number == number.trunc() && number.abs() < MAX_PLAIN_REAL;
                let plain = whole && !(number == 0.0 && number.is_sign_negative());
                self.real(number, if plain { format!("{}", number as i64) } else { real_text(number) })
            }
            Some(3) => {
                write_json_text(argument.as_str(), &mut self.out);
                Ok(())
            }
            Some(4) => {
                let (elements, count) = opened(argument)?;
                self.out.push('[');
                let mut any = false;
                for at in 0..count {
                    self.separate(&mut any, level);
                    self.begin(level + 1)?;
                    self.any(&part_of(elements, count, at, 1), level + 1)?;
                }
                self.close(any, ']', level)
            }
            Some(5) => {
                let (members, count) = opened(argument)?;
                self.out.push('{');
                let mut any = false;
                for at in 0..count {
                    self.separate(&mut any, level);
                    self.begin(level + 1)?;
                    let name = members.slots(2 * at, 1);
                    self.name(name.as_str());
                    self.any(&members.slots(2 * at + 1, 1), level + 1)?;
                }
                self.close(any, '}', level)
            }
            _ => Err(ILL_TYPED),
        }
    }
}

/// Returns an array that has its size with it, and its size.
fn opened(value: &Value) -> Result<(&Value, usize)> {
    let Value::Packed(packed) = value else { return Err(ILL_TYPED) };
    let size = packed.sizes.first().and_then(|size| size.size().ok()).and_then(|size| size.to_usize());
    Ok((&packed.value, size.ok_or(ILL_TYPED)?))
}
