//! Conversions to integers that never fail, `wrap` and `saturate`, and those of floats to integers
//! of at most 32 bits.

use super::{Builder, Result};
use crate::array_ir::{Binary, Cast, Compare, Element, Op, Prim, ScalarFunction, Type, Value};

const TWO_31: f64 = (1u64 << 31) as f64;
const TWO_63: f64 = (1u64 << 63) as f64;
const TWO_64: f64 = TWO_63 * 2.0;

/// The bounds of an integer type.
pub(super) type Bounds = (i128, i128);

/// Returns true for bounds within those of 32 bits with sign.
pub(super) fn is_short(&(low, high): &Bounds) -> bool {
    i128::from(i32::MIN) <= low && high <= i128::from(i32::MAX)
}

impl Builder<'_> {
    /// An integer, as a word, moved into the bounds of another type from those of its own.
    pub(super) fn saturated(
        &mut self,
        word: Value,
        (least, most): Bounds,
        (low, high): Bounds,
    ) -> Result<Value> {
        let mut word = word;
        if high < most {
            let op = if least == 0 { Binary::MinUnsigned } else { Binary::Min };
            let high = self.constant(Element::I64, high as u64)?;
            word = self.binary(op, word, high)?;
        }
        if low > least {
            let low = self.constant(Element::I64, low as u64)?;
            word = self.binary(Binary::Max, word, low)?;
        }
        Ok(word)
    }

    /// A float as a word: the nearest bound where it does not fit if `saturate`, else wrapped
    /// around. The fraction is dropped; NaN is 0, and so is a wrapped infinity.
    pub(super) fn fitted_float(&mut self, float: Value, bounds: Bounds, saturate: bool) -> Result<Value> {
        match (saturate, bounds.1) {
            (false, _) => self.wrapped_float(float),
            (true, high) if high == i128::from(u64::MAX) => self.saturated_natural(float),
            (true, _) => self.saturated_float(float, bounds),
        }
    }

    /// Returns whether a float without its fraction is within the bounds of a short integer. It is
    /// compared as it is, in lanes as wide as its own.
    pub(super) fn is_within(&mut self, float: Value, (low, high): Bounds) -> Result<Value> {
        let (below, above) = (low - 1, high + 1);
        let element = self.element(float);
        // A binary32 has no number between -2^31 - 1 and -2^31.
        let (kind, least) = match element {
            Element::F32 if i128::from(below as f32 as i64) != below => (Compare::Le, low),
            _ => (Compare::Lt, below),
        };
        let (least, most) = (self.float_of(element, least as f64)?, self.float_of(element, above as f64)?);
        let (is_above, is_below) =
            (self.compare(kind, least, float)?, self.compare(Compare::Lt, float, most)?);
        self.binary(Binary::And, is_above, is_below)
    }

    /// Returns true if a float within these bounds becomes an integer in lanes as wide as its own:
    /// of a short integer, or of 32 bits without sign for a binary32.
    pub(super) fn has_short_form(&self, float: Value, bounds: Bounds) -> bool {
        is_short(&bounds) || self.element(float) == Element::F32 && bounds == (0, i128::from(u32::MAX))
    }

    /// A float within the bounds of an integer type that has a [short
    /// form](Builder::has_short_form) as an integer, without its fraction.
    pub(super) fn short_of_float(&mut self, float: Value, bounds: Bounds, target: Element) -> Result<Value> {
        let (mut float, mut sign) = (float, None);
        if !is_short(&bounds) {
            // A number from 2^31 on is converted less 2^31, exactly, and gets the highest bit.
            let element = self.element(float);
            let half = self.float_of(element, TWO_31)?;
            let rest = self.binary(Binary::Sub, float, half)?;
            let (zero, bit) = (self.constant(Element::I32, 0)?, self.constant(Element::I32, 1 << 31)?);
            sign = Some(self.choose(Compare::Le, (half, float), bit, zero)?);
            float = self.choose(Compare::Le, (half, float), rest, float)?;
        }
        let mut short = self.cast(float, Cast::FloatToSigned, Element::I32)?;
        if let Some(sign) = sign {
            short = self.binary(Binary::Xor, short, sign)?;
        }
        match target {
            Element::I32 => Ok(short),
            target => self.cast(short, Cast::Truncate, target),
        }
    }

    /// A float as a short integer: the nearest bound where it does not fit, 0 for NaN.
    pub(super) fn saturated_short(&mut self, float: Value, bounds: Bounds, target: Element) -> Result<Value> {
        let (low, high) = bounds;
        // A binary32 has all integers of 24 bits.
        let is_exact = self.element(float) == Element::F64 || high < 1 << 24;
        let float = if is_exact { float } else { self.cast(float, Cast::FloatToFloat, Element::F64)? };
        let element = self.element(float);
        let (low, high) = (self.float_of(element, low as f64)?, self.float_of(element, high as f64)?);
        let within = self.choose(Compare::Lt, (float, low), low, float)?;
        let within = self.choose(Compare::Lt, (high, within), high, within)?;
        let within = self.number(within)?;
        self.short_of_float(within, bounds, target)
    }

    fn element(&self, value: Value) -> Element {
        self.types[&value].element().expect("a number is an element")
    }

    fn float_of(&mut self, element: Element, x: f64) -> Result<Value> {
        let bits = if element == Element::F32 { u64::from((x as f32).to_bits()) } else { x.to_bits() };
        self.constant(element, bits)
    }

    /// A float that is within the bounds of words, without its fraction.
    fn word_of_float(&mut self, float: Value) -> Result<Value> {
        self.define(Type::I64, Op::Prim(Prim::Cast(Cast::FloatToSigned, Element::I64), vec![float]))
    }

    fn float(&mut self, x: f64) -> Result<Value> {
        self.float_of(Element::F64, x)
    }

    /// `yes` where a comparison of floats holds, else `no`.
    fn choose(&mut self, kind: Compare, (a, b): (Value, Value), yes: Value, no: Value) -> Result<Value> {
        let holds = self.define(Type::B1, Op::Prim(Prim::Compare(kind), vec![a, b]))?;
        let ty = self.types[&yes].clone();
        self.define(ty, Op::Select(holds, yes, no))
    }

    /// A float, or 0 for NaN.
    fn number(&mut self, float: Value) -> Result<Value> {
        let zero = self.float_of(self.element(float), 0.0)?;
        self.choose(Compare::Eq, (float, float), float, zero)
    }

    /// A float moved into bounds within those of 64 bits with sign.
    fn saturated_float(&mut self, float: Value, (low, high): Bounds) -> Result<Value> {
        let is_word = high == i128::from(i64::MAX);
        let (lowest, highest) = (low as f64, if is_word { TWO_63.next_down() } else { high as f64 });
        let (low, highest) = (self.float(lowest)?, self.float(highest)?);
        let within = self.choose(Compare::Lt, (float, low), low, float)?;
        let within = self.choose(Compare::Lt, (highest, within), highest, within)?;
        let within = self.number(within)?;
        let word = self.word_of_float(within)?;
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
        let low = self.word_of_float(low)?;
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
        self.word_of_float(word)
    }
}
