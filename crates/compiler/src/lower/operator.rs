//! Operators, conversions and equality of numbers, as operations on registers.

use super::term::unsigned;
use super::{
    AbstractValue, Declined, Frame, Lower, Result, UnexpectedForm, UnsupportedConstruct, UnsupportedType,
    bare,
};
use crate::core::{Num, Op as CoreOp, Term};
use crate::layout::{Form, Leaf};
use crate::loop_ir::{Binary, Cast, Compare, Op, Reg, ScalarFunction, ScalarType, Unary};
use crate::types::{Scalar, Type};

impl<'a> Lower<'a> {
    pub(crate) fn operator(
        &mut self,
        op: CoreOp,
        args: &'a [Term],
        frame: &mut Frame<'a>,
    ) -> Result<AbstractValue<'a>> {
        let ty = self.ty(frame, &args[0].ty);
        let mut values = Vec::new();
        for arg in args {
            values.push(self.term(arg, frame)?);
        }
        if ty.as_scalar() == Some(Scalar::Bigint) {
            let a = self.as_word(&values[0], &ty)?;
            let b = values.get(1).map_or(Ok(a), |b| self.as_word(b, &ty))?;
            return self.big(op, a, b);
        }
        match op {
            CoreOp::Eq | CoreOp::Ne => {
                if self.equality_of_its_own(&args[0].ty, frame) {
                    return Err(Declined::Type(UnsupportedType::OverriddenEquality));
                }
                let same = self.same(&values[0], &values[1], &ty)?;
                if op == CoreOp::Eq {
                    return Ok(AbstractValue::Word(same));
                }
                let zero = self.int(0)?;
                return Ok(AbstractValue::Word(
                    self.set(ScalarType::I64, Op::Compare(Compare::Eq, same, zero))?,
                ));
            }
            CoreOp::Not | CoreOp::And | CoreOp::Or if !ty.is_bool() => {
                return self.set_operation(op, &values, &ty);
            }
            _ => {}
        }
        let a = self.as_word(&values[0], &ty)?;
        let b = match values.get(1) {
            Some(b) => self.as_word(b, &ty)?,
            None => a,
        };
        if self.type_of(a) == ScalarType::I64 {
            self.repeat.integers(match op {
                CoreOp::Div(_) | CoreOp::Rem(_) => Binary::DivSigned,
                _ => Binary::Add,
            });
        }
        let unsigned = matches!(self.layout(&ty).leaf(), Some(leaf) if unsigned(&leaf));
        let compare = |this: &mut Self, less: bool, a: Reg, b: Reg| {
            let kind = match (less, unsigned) {
                (true, true) => Compare::LtUnsigned,
                (true, false) => Compare::Lt,
                (false, true) => Compare::LeUnsigned,
                (false, false) => Compare::Le,
            };
            this.set(ScalarType::I64, Op::Compare(kind, a, b)).map(AbstractValue::Word)
        };
        match op {
            CoreOp::Not => {
                let zero = self.int(0)?;
                Ok(AbstractValue::Word(self.set(ScalarType::I64, Op::Compare(Compare::Eq, a, zero))?))
            }
            CoreOp::Lt => compare(self, true, a, b),
            CoreOp::Le => compare(self, false, a, b),
            CoreOp::Gt => compare(self, true, b, a),
            CoreOp::Ge => compare(self, false, b, a),
            CoreOp::Neg(Num::Mod) | CoreOp::Add(Num::Mod) | CoreOp::Sub(Num::Mod) | CoreOp::Mul(Num::Mod) => {
                match self.stored(&ty)?.slots {
                    0 => Ok(AbstractValue::Unit),
                    _ => self.modular(op, &ty, a, b),
                }
            }
            CoreOp::Neg(_) => {
                let word = self.type_of(a);
                Ok(AbstractValue::Word(self.set(word, Op::Unary(Unary::Neg, a))?))
            }
            CoreOp::Add(_) => self.binary(Binary::Add, a, b).map(AbstractValue::Word),
            CoreOp::Sub(_) => self.binary(Binary::Sub, a, b).map(AbstractValue::Word),
            CoreOp::Mul(_) => self.binary(Binary::Mul, a, b).map(AbstractValue::Word),
            CoreOp::Div(_) | CoreOp::Rem(_) => {
                let word = self.type_of(a);
                let div = matches!(op, CoreOp::Div(_));
                if word.is_float() {
                    if let Some(factor) = self.known(b).filter(|_| div).and_then(|b| reciprocal(word, b)) {
                        let factor = self.constant(word, factor)?;
                        return self.binary(Binary::Mul, a, factor).map(AbstractValue::Word);
                    }
                    let op = match (div, word) {
                        (true, _) => Op::Binary(Binary::DivFloat, a, b),
                        (false, ScalarType::F32) => Op::Call(ScalarFunction::RemSingle, vec![a, b]),
                        (false, _) => Op::Call(ScalarFunction::Rem, vec![a, b]),
                    };
                    return self.set(word, op).map(AbstractValue::Word);
                }
                if self.known(b).is_none_or(|n| n == 0) {
                    let zero = self.constant(word, 0)?;
                    let nonzero = self.set(ScalarType::I64, Op::Compare(Compare::Ne, b, zero))?;
                    self.check(nonzero)?;
                }
                let kind = match (div, unsigned) {
                    (true, true) => Binary::DivUnsigned,
                    (true, false) => Binary::DivSigned,
                    (false, true) => Binary::RemUnsigned,
                    (false, false) => Binary::RemSigned,
                };
                self.set(word, Op::Binary(kind, a, b)).map(AbstractValue::Word)
            }
            CoreOp::Pow(_) => self.power(a, b, unsigned),
            CoreOp::Eq | CoreOp::Ne => Err(Declined::Construct(UnsupportedConstruct::Comparison)),
            CoreOp::And | CoreOp::Or => Err(Declined::Construct(UnsupportedConstruct::Condition)),
        }
    }

    /// `and`, `or` and `not` of the truth values of a `2 \^ I`, which are the bits of its code.
    fn set_operation(
        &mut self,
        op: CoreOp,
        values: &[AbstractValue<'a>],
        ty: &Type,
    ) -> Result<AbstractValue<'a>> {
        let (layout, size) = self.encoding(ty)?;
        if layout.slots == 0 {
            return Ok(AbstractValue::Unit);
        }
        let a = self.as_word(&values[0], ty)?;
        let (kind, b) = match (op, values.get(1)) {
            (CoreOp::And, Some(b)) => (Binary::And, self.as_word(b, ty)?),
            (CoreOp::Or, Some(b)) => (Binary::Or, self.as_word(b, ty)?),
            _ => {
                let (size, one) = (self.size(size)?, self.int(1)?);
                (Binary::Xor, self.binary(Binary::Sub, size, one)?)
            }
        };
        self.repeat.integers(kind);
        self.binary(kind, a, b).map(AbstractValue::Word)
    }

    /// The larger of two values of a type that has an order, if `max`, else the smaller.
    pub(crate) fn extreme(&mut self, max: bool, a: Reg, b: Reg, ty: &Type) -> Result<Reg> {
        let word = self.type_of(a);
        if word.is_float() {
            return self.set(word, Op::Binary(if max { Binary::Max } else { Binary::Min }, a, b));
        }
        let unsigned = matches!(self.layout(ty).leaf(), Some(leaf) if unsigned(&leaf));
        let less = if unsigned { Compare::LtUnsigned } else { Compare::Lt };
        let (low, high) = if max { (a, b) } else { (b, a) };
        let second = self.set(ScalarType::I64, Op::Compare(less, low, high))?;
        self.set(word, Op::Select(second, b, a))
    }

    fn power(&mut self, a: Reg, b: Reg, unsigned: bool) -> Result<AbstractValue<'a>> {
        let word = self.type_of(a);
        // What `elementary::pow` does for these, and what products that wrap come to.
        let factors = match (word, self.known(b)) {
            (ScalarType::F64, Some(bits)) if bits == 2f64.to_bits() => 2,
            (ScalarType::F64, Some(bits)) if bits == 3f64.to_bits() => 3,
            (ScalarType::F32, Some(bits)) if bits == u64::from(2f32.to_bits()) => 2,
            (ScalarType::F64 | ScalarType::F32, _) => 0,
            (_, Some(n @ 2..=3)) => n,
            _ => 0,
        };
        if factors > 0 {
            let square = self.set(word, Op::Binary(Binary::Mul, a, a))?;
            return match factors {
                2 => Ok(AbstractValue::Word(square)),
                _ => self.set(word, Op::Binary(Binary::Mul, square, a)).map(AbstractValue::Word),
            };
        }
        let f = match word {
            ScalarType::F64 => ScalarFunction::Pow,
            ScalarType::F32 => ScalarFunction::PowSingle,
            _ => {
                let (a, b) = (self.widened(a, unsigned)?, self.widened(b, unsigned)?);
                if !unsigned {
                    let zero = self.int(0)?;
                    let natural = self.set(ScalarType::I64, Op::Compare(Compare::Le, zero, b))?;
                    self.check(natural)?;
                }
                let power = self.set(ScalarType::I64, Op::Call(ScalarFunction::PowInt, vec![a, b]))?;
                return self.narrowed(power, word).map(AbstractValue::Word);
            }
        };
        self.set(word, Op::Call(f, vec![a, b])).map(AbstractValue::Word)
    }

    /// An integer as one of 64 bits.
    pub(crate) fn widened(&mut self, reg: Reg, unsigned: bool) -> Result<Reg> {
        match self.type_of(reg) {
            ScalarType::I64 => Ok(reg),
            _ => {
                let cast = if unsigned { Cast::ZeroExtend } else { Cast::SignExtend };
                self.set(ScalarType::I64, Op::Cast(cast, ScalarType::I64, reg))
            }
        }
    }

    /// The lower bits of an integer of 64.
    pub(crate) fn narrowed(&mut self, reg: Reg, ty: ScalarType) -> Result<Reg> {
        if ty == ScalarType::I64 { Ok(reg) } else { self.set(ty, Op::Cast(Cast::Truncate, ty, reg)) }
    }

    /// Arithmetic modulo the size of a unit sum.
    fn modular(&mut self, op: CoreOp, ty: &Type, a: Reg, b: Reg) -> Result<AbstractValue<'a>> {
        let n = self.count(ty)?;
        let size = self.size(n)?;
        let zero = self.int(0)?;
        match op {
            CoreOp::Add(_) => {
                let sum = self.binary(Binary::Add, a, b)?;
                let less = self.binary(Binary::Sub, sum, size)?;
                let over = self.set(ScalarType::I64, Op::Compare(Compare::LeUnsigned, size, sum))?;
                Ok(AbstractValue::Word(self.set(ScalarType::I64, Op::Select(over, less, sum))?))
            }
            CoreOp::Sub(_) => {
                let difference = self.binary(Binary::Sub, a, b)?;
                let more = self.binary(Binary::Add, difference, size)?;
                let under = self.set(ScalarType::I64, Op::Compare(Compare::LtUnsigned, a, b))?;
                Ok(AbstractValue::Word(self.set(ScalarType::I64, Op::Select(under, more, difference))?))
            }
            CoreOp::Neg(_) => {
                let rest = self.binary(Binary::Sub, size, a)?;
                let none = self.set(ScalarType::I64, Op::Compare(Compare::Eq, a, zero))?;
                Ok(AbstractValue::Word(self.set(ScalarType::I64, Op::Select(none, zero, rest))?))
            }
            _ if n <= 1 << 32 => {
                let product = self.binary(Binary::Mul, a, b)?;
                Ok(AbstractValue::Word(self.binary(Binary::RemUnsigned, product, size)?))
            }
            _ => Err(Declined::Type(UnsupportedType::WideProduct)),
        }
    }

    /// Returns true if two values of a type are the same, as a truth value.
    pub(crate) fn same(&mut self, a: &AbstractValue<'a>, b: &AbstractValue<'a>, ty: &Type) -> Result<Reg> {
        self.step()?;
        if let (AbstractValue::Sum(m, x), AbstractValue::Sum(n, y), Some(types)) = (a, b, self.cases(ty)?) {
            return self.same_case((*m, x), (*n, y), &types);
        }
        let layout = self.stored(ty)?;
        match layout.slots {
            0 => self.int(1),
            1 => {
                let (a, b) = (self.as_word(a, ty)?, self.as_word(b, ty)?);
                self.set(ScalarType::I64, Op::Compare(Compare::Eq, a, b))
            }
            _ => match &layout.form {
                Form::Parts(parts) => {
                    let types = ty
                        .components(parts.len())
                        .ok_or(Declined::Form(UnexpectedForm::PartsWithoutTypes))?;
                    let mut all = None;
                    for (i, part) in types.iter().enumerate() {
                        let part = bare(part);
                        let x = self.component(a, ty, i as u64, &part)?;
                        let y = self.component(b, ty, i as u64, &part)?;
                        let same = self.same(&x, &y, &part)?;
                        all = Some(match all {
                            None => same,
                            Some(all) => self.binary(Binary::And, all, same)?,
                        });
                    }
                    all.map_or_else(|| self.int(1), Ok)
                }
                Form::Array { .. } => self.same_arrays(a, b, ty),
                _ => Err(Declined::Type(UnsupportedType::SumWithArguments)),
            },
        }
    }

    /// Returns true if a declared type in a type has an equality of its own.
    pub(crate) fn equality_of_its_own(&self, ty: &Type, frame: &Frame<'a>) -> bool {
        // Names are gone from an unfolded type: look at the type as it is written.
        let ty = if ty.has_var() { ty.substitute(&frame.infos.types) } else { ty.clone() };
        let ty = (self.unit.concrete)(&ty);
        !self.program.overriding_methods(self.program.known.eq, "==", &ty).is_empty()
    }

    // ---- conversions ------------------------------------------------------------------------

    pub(crate) fn convert(
        &mut self,
        value: &AbstractValue<'a>,
        from: &Type,
        to: &Type,
    ) -> Result<AbstractValue<'a>> {
        let (Some(f), Some(t)) = (from.as_scalar(), to.as_scalar()) else {
            return Err(Declined::Type(UnsupportedType::ConversionOfNonScalar));
        };
        let a = self.as_word(value, from)?;
        if f == t {
            return Ok(AbstractValue::Word(a));
        }
        let from_unsigned = unsigned(&Leaf::Scalar(f));
        if t == Scalar::Bigint {
            let range = f.bounds().filter(|_| self.type_of(a) != ScalarType::I64 || f == Scalar::Int);
            let wide = self.widened(a, from_unsigned)?;
            return self.ranged(wide, range.ok_or(Declined::Type(UnsupportedType::BigInteger))?);
        }
        let big = if f == Scalar::Bigint {
            Some(self.range(a).ok_or(Declined::Type(UnsupportedType::BigInteger))?)
        } else {
            None
        };
        let x = if big.is_some() { ScalarType::I64 } else { self.word_type(from)? };
        let y = self.word_type(to)?;
        if x.is_float() && y.is_float() {
            let cast = self.set(y, Op::Cast(Cast::FloatToFloat, y, a))?;
            if y == ScalarType::F32 {
                // A finite number does not become infinite.
                let (zero, inf) = (self.set(x, Op::Binary(Binary::Sub, a, a))?, cast);
                let finite = self.set(ScalarType::I64, Op::Compare(Compare::Eq, zero, zero))?;
                let rest = self.set(y, Op::Binary(Binary::Sub, inf, inf))?;
                let stays = self.set(ScalarType::I64, Op::Compare(Compare::Eq, rest, rest))?;
                let fits = self.set(ScalarType::I64, Op::Compare(Compare::LeUnsigned, finite, stays))?;
                self.check(fits)?;
            }
            return Ok(AbstractValue::Word(cast));
        }
        if y.is_float() {
            let wide = self.widened(a, from_unsigned)?;
            let cast = if from_unsigned { Cast::UnsignedToFloat } else { Cast::SignedToFloat };
            return Ok(AbstractValue::Word(self.set(y, Op::Cast(cast, y, wide))?));
        }
        if t == Scalar::Char {
            return Err(Declined::Construct(UnsupportedConstruct::CharacterFromNumber));
        }
        let bounds = t.bounds().ok_or(Declined::Type(UnsupportedType::BigInteger))?;
        if x.is_float() {
            let a = if x == ScalarType::F32 {
                self.set(ScalarType::F64, Op::Cast(Cast::FloatToFloat, ScalarType::F64, a))?
            } else {
                a
            };
            if bounds.1 > i128::from(i64::MAX) {
                return Err(Declined::Type(UnsupportedType::RealToUnsignedWord));
            }
            let whole = self.set(ScalarType::F64, Op::Unary(Unary::Trunc, a))?;
            // Both ends are powers of two, or near zero: exact as reals.
            let low = self.constant(ScalarType::F64, (bounds.0 as f64).to_bits())?;
            let high = self.constant(ScalarType::F64, ((bounds.1 + 1) as f64).to_bits())?;
            let above = self.set(ScalarType::I64, Op::Compare(Compare::Le, low, whole))?;
            let below = self.set(ScalarType::I64, Op::Compare(Compare::Lt, whole, high))?;
            let fits = self.binary(Binary::And, above, below)?;
            self.check(fits)?;
            let whole = self.set(ScalarType::I64, Op::Cast(Cast::FloatToSigned, ScalarType::I64, whole))?;
            return self.narrowed(whole, y).map(AbstractValue::Word);
        }
        // Between integers: within both the signed 64 bits, or unsigned 64 with a check of the
        // sign.
        let wide = self.widened(a, from_unsigned)?;
        let (low, high) = big.or_else(|| f.bounds()).unwrap_or((0, 0x10_FFFF));
        if low < bounds.0 {
            let least = self.int(bounds.0 as i64 as u64)?;
            let fits = self.set(ScalarType::I64, Op::Compare(Compare::Le, least, wide))?;
            self.check(fits)?;
        }
        if high > bounds.1 {
            let most = self.int(bounds.1 as u64)?;
            let kind = if low < 0 { Compare::Le } else { Compare::LeUnsigned };
            let fits = self.set(ScalarType::I64, Op::Compare(kind, wide, most))?;
            self.check(fits)?;
        }
        self.narrowed(wide, y).map(AbstractValue::Word)
    }
}

/// The bits of a float by which to multiply is to divide, to the last bit: that of a power of two.
fn reciprocal(ty: ScalarType, bits: u64) -> Option<u64> {
    let number = match ty {
        ScalarType::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    };
    let (factor, power) = (1.0 / number, number.to_bits().trailing_zeros() >= f64::MANTISSA_DIGITS - 1);
    let (normal, bits) = match ty {
        ScalarType::F32 => {
            let (number, factor) = (number as f32, factor as f32);
            (number.is_normal() && factor.is_normal(), u64::from(factor.to_bits()))
        }
        _ => (number.is_normal() && factor.is_normal(), factor.to_bits()),
    };
    (power && normal).then_some(bits)
}
