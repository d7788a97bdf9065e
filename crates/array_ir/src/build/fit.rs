//! Conversions to integers that never fail: `wrap` and `saturate`.

use super::types::{is_unsigned, scalar_element};
use super::{Builder, Declined, Result};
use crate::array_ir::{Binary, Cast, Compare, Element, Op, Prim, ScalarFunction, Type, Value};
use crate::types::Scalar;
use crate::types::number::Fixed;

const TWO_63: f64 = (1u64 << 63) as f64;
const TWO_64: f64 = TWO_63 * 2.0;

impl Builder<'_> {
    /// A number as an integer of type `to`: the nearest bound where it does not fit if `saturate`,
    /// else wrapped around. The fraction of a float is dropped; NaN is 0, and so is a wrapped
    /// infinity.
    pub(super) fn wrap_or_saturate(
        &mut self,
        value: Value,
        from: Scalar,
        to: Scalar,
        saturate: bool,
    ) -> Result<Value> {
        let target = scalar_element(to)?;
        let bounds = to.bounds().ok_or(Declined::Conversion)?;
        let word = match from.bounds() {
            Some(source) => {
                let word = self.widened(value, from)?;
                if saturate { self.saturated(word, (from, source), bounds)? } else { word }
            }
            None if from.is_float() => {
                let float = match from {
                    Scalar::Single => self.cast(value, Cast::FloatToFloat, Element::F64)?,
                    _ => value,
                };
                match (saturate, to) {
                    (false, _) => self.wrapped_float(float)?,
                    (true, Scalar::Fixed(Fixed::U64)) => self.saturated_natural(float)?,
                    (true, _) => self.saturated_float(float, bounds)?,
                }
            }
            None => return Err(Declined::Conversion.into()),
        };
        match target {
            Element::I64 => Ok(word),
            target => self.cast(word, Cast::Truncate, target),
        }
    }

    /// An integer moved into the bounds of another type.
    fn saturated(
        &mut self,
        word: Value,
        (from, source): (Scalar, (i128, i128)),
        (low, high): (i128, i128),
    ) -> Result<Value> {
        let mut word = word;
        if high < source.1 {
            let op = if is_unsigned(from) { Binary::MinUnsigned } else { Binary::Min };
            let high = self.constant(Element::I64, high as u64)?;
            word = self.binary(op, word, high)?;
        }
        if low > source.0 {
            let low = self.constant(Element::I64, low as u64)?;
            word = self.binary(Binary::Max, word, low)?;
        }
        Ok(word)
    }

    fn float(&mut self, x: f64) -> Result<Value> {
        self.constant(Element::F64, x.to_bits())
    }

    /// `yes` where a comparison of floats holds, else `no`.
    fn choose(&mut self, kind: Compare, (a, b): (Value, Value), yes: Value, no: Value) -> Result<Value> {
        let holds = self.compare(kind, a, b)?;
        let ty = self.types[&yes].clone();
        self.define(ty, Op::Select(holds, yes, no))
    }

    /// A float, or 0 for NaN.
    fn number(&mut self, float: Value) -> Result<Value> {
        let zero = self.float(0.0)?;
        self.choose(Compare::Eq, (float, float), float, zero)
    }

    /// A float moved into bounds within those of 64 bits with sign.
    fn saturated_float(&mut self, float: Value, (low, high): (i128, i128)) -> Result<Value> {
        let is_word = high == i128::from(i64::MAX);
        let (lowest, highest) = (low as f64, if is_word { TWO_63.next_down() } else { high as f64 });
        let (low, highest) = (self.float(lowest)?, self.float(highest)?);
        let within = self.choose(Compare::Lt, (float, low), low, float)?;
        let within = self.choose(Compare::Lt, (highest, within), highest, within)?;
        let within = self.number(within)?;
        let word = self.cast(within, Cast::FloatToSigned, Element::I64)?;
        if !is_word {
            return Ok(word);
        }
        let (most, above) = (self.constant(Element::I64, i64::MAX as u64)?, self.float(TWO_63)?);
        self.choose(Compare::Le, (above, float), most, word)
    }

    /// A float moved into the bounds of 64 bits without sign.
    fn saturated_natural(&mut self, float: Value) -> Result<Value> {
        let (zero, half, above) = (self.float(0.0)?, self.float(TWO_63)?, self.float(TWO_64)?);
        let (bit, most) = (self.constant(Element::I64, 1 << 63)?, self.constant(Element::I64, u64::MAX)?);
        // NaN is not above 0.
        let natural = self.choose(Compare::Lt, (zero, float), float, zero)?;
        let rest = self.binary(Binary::Sub, natural, half)?;
        let low = self.choose(Compare::Le, (half, natural), rest, natural)?;
        let low = self.choose(Compare::Lt, (low, half), low, zero)?;
        let low = self.cast(low, Cast::FloatToSigned, Element::I64)?;
        let high = self.binary(Binary::Xor, low, bit)?;
        let word = self.choose(Compare::Le, (half, natural), high, low)?;
        self.choose(Compare::Le, (above, natural), most, word)
    }

    /// A float modulo 2^64. Quotients by a power of two, whole parts and the differences are exact.
    fn wrapped_float(&mut self, float: Value) -> Result<Value> {
        let (inverse, modulus) = (self.float(1.0 / TWO_64)?, self.float(TWO_64)?);
        let (low, high) = (self.float(-TWO_63)?, self.float(TWO_63)?);
        let turns = self.binary(Binary::Mul, float, inverse)?;
        let turns = Op::Prim(Prim::Function(ScalarFunction::Trunc), vec![turns]);
        let turns = self.define(Type::Element(Element::F64), turns)?;
        let whole = self.binary(Binary::Mul, turns, modulus)?;
        let rest = self.binary(Binary::Sub, float, whole)?;
        let (less, more) =
            (self.binary(Binary::Sub, rest, modulus)?, self.binary(Binary::Add, rest, modulus)?);
        let word = self.choose(Compare::Le, (high, rest), less, rest)?;
        let word = self.choose(Compare::Lt, (rest, low), more, word)?;
        let word = self.number(word)?;
        self.cast(word, Cast::FloatToSigned, Element::I64)
    }
}
