//! Digits of compact exponentials, and sets: exponentials of `2`.
//!
//! The space of `B \^ n` has the digits of `B` that many times, up to [`MAX_POWER`] of them. A
//! longer one has one digit, the code, from which digits are taken by division and to which they
//! are put by sums of products with the powers of the size of `B`: by shifts and masks if that is a
//! power of two. So a value of a long exponential is one word, whatever is read of it or stored.

use super::types::structural_type;
use super::{Builder, Declined, Result};
use crate::array_ir::{
    Binary, Compare, Digit, DigitExpr, Element, Op, Prim, ScalarFunction, Size, Type, Value,
};
use crate::types::{Type as CoreType, TypeKind};

/// A compact exponential.
pub(super) struct Power {
    /// The type of a digit.
    base: CoreType,
    /// The number of digits.
    count: u64,
}

/// The largest exponent of a compact exponential that becomes digits.
const MAX_POWER: u64 = 8;

impl Power {
    /// The number of digits.
    pub(super) fn count(&self) -> u64 {
        self.count
    }
}

impl Builder<'_> {
    /// The exponential that a type is.
    pub(super) fn power(&mut self, ty: &CoreType) -> Result<Power> {
        match structural_type(ty).kind() {
            TypeKind::CompactPower(base, exponent) => {
                let count = self.size(exponent)?.to_constant().ok_or(Declined::Power)?;
                Ok(Power { base: base.clone(), count })
            }
            _ => Err(Declined::Power.into()),
        }
    }

    /// The digits of the space of an exponential.
    pub(super) fn power_digits(&mut self, ty: &CoreType) -> Result<Vec<Digit>> {
        let Power { base, count } = self.power(ty)?;
        if count > MAX_POWER {
            return Ok(vec![Digit::new(self.size(ty)?)]);
        }
        let base = self.space(&base)?.digits;
        Ok((0..count).flat_map(|_| base.iter().cloned()).collect())
    }

    /// The digit of an exponential at a position that is known.
    pub(super) fn power_factor(&mut self, value: Value, power: &Power, at: u64) -> Result<Value> {
        let digits = self.digits(value)?;
        if power.count <= MAX_POWER {
            let own = self.space(&power.base)?.digits.len();
            let digits = digits.into_iter().skip(at as usize * own).take(own).map(|(digit, _)| digit);
            let digits = digits.collect();
            return self.compact(&power.base, digits);
        }
        let (code, size) = (self.code_digit(value)?, self.size(&structural_type(&power.base))?);
        let repeated = |count: u64| {
            (0..count).try_fold(Size::constant(1), |product, _| product.mul(&size)).ok_or(Declined::Size)
        };
        let sizes = vec![repeated(at)?, size.clone(), repeated(power.count - 1 - at)?];
        let digit = DigitExpr::Split { of: Box::new(code), sizes, digit: 1 };
        self.compact_of_code(&power.base, digit, size)
    }

    /// The digit of an exponential at a position that is computed.
    pub(super) fn power_digit(&mut self, value: Value, power: &Power, at: Value) -> Result<Value> {
        if power.count <= MAX_POWER {
            let last = power.count.checked_sub(1).ok_or(Declined::Power)?;
            let (mut found, at) = (self.power_factor(value, power, last)?, self.code(at)?);
            for position in (0..last).rev() {
                let (own, is_it) = (self.power_factor(value, power, position)?, self.is_at(at, position)?);
                found = self.define(self.types[&own].clone(), Op::Select(is_it, own, found))?;
            }
            return Ok(found);
        }
        let code = self.code(value)?;
        let (digit, size) = self.digit_of_code(code, power, at)?;
        self.compact_of_code(&power.base, DigitExpr::Remainder(digit, size), Size::constant(size))
    }

    /// An exponential with another digit at a position that is computed.
    pub(super) fn with_power_digit(
        &mut self,
        value: Value,
        (ty, power): (&CoreType, &Power),
        at: Value,
        digit: Value,
    ) -> Result<Value> {
        if power.count <= MAX_POWER {
            let (mut digits, at) = (Vec::new(), self.code(at)?);
            for position in 0..power.count {
                let (own, is_it) = (self.power_factor(value, power, position)?, self.is_at(at, position)?);
                let own = self.define(self.types[&own].clone(), Op::Select(is_it, digit, own))?;
                digits.extend(self.digits(own)?.into_iter().map(|(digit, _)| digit));
            }
            return self.compact(ty, digits);
        }
        let whole = self.size(&structural_type(ty))?.to_constant().ok_or(Declined::Power)?;
        let (code, new) = (self.code(value)?, self.code(digit)?);
        let changed = match self.shift_to(power, at)? {
            Some((mask, places)) => {
                let mask = self.constant(Element::I64, mask)?;
                let mask = self.shift(ScalarFunction::Shl, mask, places)?;
                let new = self.shift(ScalarFunction::Shl, new, places)?;
                // What differs from the mask where the code has a one is kept.
                let both = self.binary(Binary::And, code, mask)?;
                let others = self.binary(Binary::Xor, code, both)?;
                self.binary(Binary::Or, others, new)?
            }
            None => {
                let (before, size) = self.digit_of_code(code, power, at)?;
                let before = self.define(Type::I64, Op::Number(DigitExpr::Remainder(before, size)))?;
                let weight = self.weight(power, at)?;
                let change = self.binary(Binary::Sub, new, before)?;
                let change = self.binary(Binary::Mul, change, weight)?;
                self.binary(Binary::Add, code, change)?
            }
        };
        self.compact_of_code(ty, DigitExpr::Remainder(changed, whole), Size::constant(whole))
    }

    /// The digits of two sets joined one by one, or those of one set the other way round.
    pub(super) fn set_operation(
        &mut self,
        ty: &CoreType,
        op: Option<Binary>,
        sets: &[Value],
    ) -> Result<Value> {
        let all = sets.iter().map(|set| self.digits(*set)).collect::<Result<Vec<_>>>()?;
        let mut digits = Vec::new();
        for (at, (digit, size)) in all[0].iter().enumerate() {
            digits.push(match op {
                None => DigitExpr::Reverse { size: size.clone(), of: Box::new(digit.clone()) },
                Some(op) => {
                    let size = size.to_constant().ok_or(Declined::Power)?;
                    let a = self.define(Type::I64, Op::Number(digit.clone()))?;
                    let b = self.define(Type::I64, Op::Number(all[1][at].0.clone()))?;
                    DigitExpr::Remainder(self.binary(op, a, b)?, size)
                }
            });
        }
        self.compact(ty, digits)
    }

    /// A word whose remainder by the size of a digit, which comes with it, is the digit of a code.
    fn digit_of_code(&mut self, code: Value, power: &Power, at: Value) -> Result<(Value, u64)> {
        let size = self.base_size(power)?;
        let word = match self.shift_to(power, at)? {
            Some((_, places)) => self.shift(ScalarFunction::Shr, code, places)?,
            None => {
                let weight = self.weight(power, at)?;
                self.binary(Binary::DivUnsigned, code, weight)?
            }
        };
        Ok((word, size))
    }

    /// The size of a digit.
    fn base_size(&mut self, power: &Power) -> Result<u64> {
        let size = self.size(&structural_type(&power.base))?.to_constant();
        Ok(size.filter(|size| *size > 0).ok_or(Declined::Power)?)
    }

    /// The largest digit and the number of bits after the one at a position, if digits have whole
    /// bits.
    fn shift_to(&mut self, power: &Power, at: Value) -> Result<Option<(u64, Value)>> {
        let size = self.base_size(power)?;
        if !size.is_power_of_two() {
            return Ok(None);
        }
        let (bits, position) = (u64::from(size.trailing_zeros()), self.code_digit(at)?);
        let after = DigitExpr::Reverse { size: Size::constant(power.count), of: Box::new(position) };
        let places = match bits {
            0 => DigitExpr::Constant(Size::constant(0)),
            bits => DigitExpr::Affine { offset: Size::constant(0), stride: bits, of: Box::new(after) },
        };
        Ok(Some((size - 1, self.define(Type::I64, Op::Number(places))?)))
    }

    fn shift(&mut self, function: ScalarFunction, value: Value, places: Value) -> Result<Value> {
        self.define(Type::I64, Op::Prim(Prim::Function(function), vec![value, places]))
    }

    /// The power of the size of a digit with which the one at a position stands in a code.
    fn weight(&mut self, power: &Power, at: Value) -> Result<Value> {
        let size = self.base_size(power)?;
        let (mut found, at) = (self.constant(Element::I64, 1)?, self.code(at)?);
        let mut weight = 1u64;
        for position in (0..power.count - 1).rev() {
            weight = weight.checked_mul(size).ok_or(Declined::Power)?;
            let (own, is_it) = (self.constant(Element::I64, weight)?, self.is_at(at, position)?);
            found = self.define(Type::I64, Op::Select(is_it, own, found))?;
        }
        Ok(found)
    }

    /// The truth of the code of a position being a number.
    fn is_at(&mut self, at: Value, position: u64) -> Result<Value> {
        let position = self.constant(Element::I64, position)?;
        self.compare(Compare::Eq, at, position)
    }
}

#[cfg(test)]
mod tests {
    use crate::array_ir::{Binary, Space, Type};
    use crate::build::run::{code, count, datum, run};
    use crate::types::Type as CoreType;

    /// Sizes of digits and numbers of them, up to the longest power that is written in digits and
    /// beyond.
    const POWERS: [(u64, u64); 9] =
        [(2, 1), (3, 2), (2, 8), (3, 8), (2, 9), (3, 9), (4, 20), (5, 20), (2, 61)];

    fn power(base: u64, exponent: u64) -> CoreType {
        CoreType::compact_power(CoreType::unit_sum(base), CoreType::unit_sum(exponent))
    }

    /// The digits of a code, the first one of the largest weight.
    fn digits(base: u64, exponent: u64, code: u64) -> Vec<u64> {
        (0..exponent).map(|at| code / base.pow((exponent - 1 - at) as u32) % base).collect()
    }

    /// Calls a test with random codes of the powers.
    fn with_codes(test: impl Fn(&mut fastrand::Rng, (u64, u64), &CoreType, u64)) {
        let seed = 9u64;
        println!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for (base, exponent) in POWERS {
            let ty = power(base, exponent);
            let last = count(&ty) - 1;
            let codes: Vec<u64> = (0..12).map(|_| random.u64(..=last)).collect();
            for code in [0, last].into_iter().chain(codes) {
                test(&mut random, (base, exponent), &ty, code);
            }
        }
    }

    #[test]
    fn a_digit_is_that_of_the_code() {
        with_codes(|random, (base, exponent), ty, number| {
            let (digit, index) = (CoreType::unit_sum(base), CoreType::unit_sum(exponent));
            let at = random.u64(..exponent);
            let expected = digits(base, exponent, number)[at as usize];
            let arguments = [datum(ty, number), datum(&index, at)];
            let computed = run(&[ty, &index], &arguments, |builder, values| {
                let power = builder.power(ty)?;
                builder.power_digit(values[0], &power, values[1])
            });
            let known = run(&[ty], &arguments[..1], |builder, values| {
                let power = builder.power(ty)?;
                assert_eq!(power.count(), exponent);
                builder.power_factor(values[0], &power, at)
            });
            for found in [computed, known] {
                let found = found.unwrap_or_else(|why| panic!("{ty}: {why:?}"));
                assert_eq!(code(&digit, &found), expected, "digit {at} of {number} in {ty}");
            }
        });
    }

    #[test]
    fn a_digit_that_is_stored_changes_no_other() {
        with_codes(|random, (base, exponent), ty, number| {
            let (digit, index) = (CoreType::unit_sum(base), CoreType::unit_sum(exponent));
            let (at, new) = (random.u64(..exponent), random.u64(..base));
            let mut expected = digits(base, exponent, number);
            expected[at as usize] = new;
            let arguments = [datum(ty, number), datum(&index, at), datum(&digit, new)];
            let found = run(&[ty, &index, &digit], &arguments, |builder, values| {
                let power = builder.power(ty)?;
                builder.with_power_digit(values[0], (ty, &power), values[1], values[2])
            });
            let found = code(ty, &found.unwrap_or_else(|why| panic!("{ty}: {why:?}")));
            assert_eq!(digits(base, exponent, found), expected, "digit {at} of {number} in {ty}: {new}");
        });
    }

    #[test]
    fn operations_on_sets_are_those_on_bits() {
        with_codes(|random, (base, exponent), ty, a| {
            if base != 2 {
                return;
            }
            let b = random.u64(..count(ty));
            let arguments = [datum(ty, a), datum(ty, b)];
            let operation = |op: Option<Binary>| {
                let found = run(&[ty, ty], &arguments, |builder, values| {
                    let sets = if op.is_some() { values } else { &values[..1] };
                    builder.set_operation(ty, op, sets)
                });
                code(ty, &found.unwrap_or_else(|why| panic!("{ty}: {why:?}")))
            };
            assert_eq!(operation(Some(Binary::And)), a & b);
            assert_eq!(operation(Some(Binary::Or)), a | b);
            assert_eq!(operation(None), a ^ ((1 << exponent) - 1));
        });
    }

    /// A power of up to eight digits has them as digits, a longer one is one number.
    #[test]
    fn long_powers_are_one_digit() {
        let space = |exponent| {
            let core = crate::core::Program::default();
            let mut builder = crate::build::Builder::new(&core);
            builder.ty(&power(3, exponent)).ok()
        };
        let numbers = |sizes: &[u64]| {
            Some(Type::Index(Space::new(sizes.iter().map(|size| crate::array_ir::Size::constant(*size)))))
        };
        assert_eq!(space(8), numbers(&[3; 8]));
        assert_eq!(space(9), numbers(&[3u64.pow(9)]));
    }
}
