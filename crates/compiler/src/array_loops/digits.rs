//! Digits and codes as registers.

use super::storage::LoweredValue;
use super::{Declined, Emitter, Result};
use crate::array_ir::{DigitExpr, Size, Space};
use crate::loop_ir::{Binary, Compare, Op, Reg, ScalarType};

impl<'p> Emitter<'p> {
    /// The number of a size.
    pub(super) fn number(&self, size: &Size) -> Result<u64> {
        size.to_constant().filter(|n| *n < 1 << 62).ok_or(Declined::Width)
    }

    /// An operation on numbers of one type, simplified where an operand is known to be 0 or 1.
    pub(super) fn binary(&mut self, op: Binary, a: Reg, b: Reg) -> Result<Reg> {
        let ty = self.kernel.regs[a];
        if ty == ScalarType::I64 {
            match (op, self.known(a), self.known(b)) {
                (Binary::Add, Some(x), Some(y)) => return self.int(x.wrapping_add(y)),
                (Binary::Sub, Some(x), Some(y)) => return self.int(x.wrapping_sub(y)),
                (Binary::Mul, Some(x), Some(y)) => return self.int(x.wrapping_mul(y)),
                (Binary::Add, Some(0), _) => return Ok(b),
                (Binary::Add | Binary::Sub, _, Some(0)) => return Ok(a),
                (Binary::Mul, Some(1), _) => return Ok(b),
                (Binary::Mul | Binary::DivUnsigned | Binary::DivSigned, _, Some(1)) => return Ok(a),
                (Binary::Mul, Some(0), _) => return Ok(a),
                (Binary::Mul, _, Some(0)) => return Ok(b),
                (Binary::RemUnsigned, _, Some(1)) => return self.int(0),
                _ => {}
            }
        }
        self.set(ty, Op::Binary(op, a, b))
    }

    pub(super) fn compare(&mut self, op: Compare, a: Reg, b: Reg) -> Result<Reg> {
        self.set(ScalarType::I64, Op::Compare(op, a, b))
    }

    /// A digit, for the digits of the index that a view is asked for.
    pub(super) fn digit(&mut self, digit: &DigitExpr, target: &[Reg]) -> Result<Reg> {
        match digit {
            DigitExpr::Target(at) => Ok(target[*at as usize]),
            DigitExpr::Of(value, at) => match &self.values[value] {
                LoweredValue::Index(digits) => Ok(digits[*at as usize]),
                _ => unreachable!("an index has digits"),
            },
            DigitExpr::Constant(size) => {
                let number = self.number(size)?;
                self.size(number)
            }
            DigitExpr::Affine { offset, stride, of } => {
                let of = self.digit(of, target)?;
                let (stride, offset) = (self.size(*stride)?, self.number(offset)?);
                let part = self.binary(Binary::Mul, of, stride)?;
                let offset = self.size(offset)?;
                self.binary(Binary::Add, part, offset)
            }
            DigitExpr::Sum(digits) => {
                let mut sum = self.int(0)?;
                for of in digits {
                    let of = self.digit(of, target)?;
                    sum = self.binary(Binary::Add, sum, of)?;
                }
                Ok(sum)
            }
            DigitExpr::Modular { size, plus, minus } => {
                let size = self.number(size)?;
                let size = self.size(size)?;
                let mut sum = self.int(0)?;
                for of in plus {
                    let of = self.digit(of, target)?;
                    if self.known(sum) == Some(0) {
                        sum = of;
                        continue;
                    }
                    // Both are below the size.
                    let next = self.binary(Binary::Add, sum, of)?;
                    let wrapped = self.binary(Binary::Sub, next, size)?;
                    let beyond = self.compare(Compare::Le, size, next)?;
                    sum = self.set(ScalarType::I64, Op::Select(beyond, wrapped, next))?;
                }
                for of in minus {
                    let of = self.digit(of, target)?;
                    let next = self.binary(Binary::Sub, sum, of)?;
                    let wrapped = self.binary(Binary::Add, next, size)?;
                    let below = self.compare(Compare::Lt, sum, of)?;
                    sum = self.set(ScalarType::I64, Op::Select(below, wrapped, next))?;
                }
                Ok(sum)
            }
            DigitExpr::Reverse { size, of } => {
                let of = self.digit(of, target)?;
                let last = self.number(size)?.wrapping_sub(1);
                let last = self.size(last)?;
                self.binary(Binary::Sub, last, of)
            }
            DigitExpr::Join(digits) => {
                let mut code = self.int(0)?;
                for (of, size) in digits {
                    let of = self.digit(of, target)?;
                    let size = self.number(size)?;
                    let size = self.size(size)?;
                    code = self.binary(Binary::Mul, code, size)?;
                    code = self.binary(Binary::Add, code, of)?;
                }
                Ok(code)
            }
            DigitExpr::Split { of, sizes, digit } => {
                let of = self.digit(of, target)?;
                let sizes = sizes.iter().map(|size| self.number(size)).collect::<Result<Vec<_>>>()?;
                self.part_of_code(of, &sizes, *digit as usize)
            }
            DigitExpr::Remainder(value, size) => {
                let word = self.word(*value);
                if size.is_power_of_two() {
                    let mask = self.int(size - 1)?;
                    return self.binary(Binary::And, word, mask);
                }
                let size = self.size(*size)?;
                self.binary(Binary::RemUnsigned, word, size)
            }
        }
    }

    /// Digits, for the digits of the index that a view is asked for. Those of one number, all of
    /// them in order, are known to be its digits: an array over them is read at the number.
    pub(super) fn digits(&mut self, digits: &[DigitExpr], target: &[Reg]) -> Result<Vec<Reg>> {
        let regs = digits.iter().map(|digit| self.digit(digit, target)).collect::<Result<Vec<_>>>()?;
        if let [DigitExpr::Split { of, sizes, .. }, _, ..] = digits
            && sizes.len() == digits.len()
            && (0..).zip(digits).all(|(at, other)| is_digit_of(other, of, sizes, at))
        {
            let code = self.digit(of, target)?;
            let extents = sizes.iter().map(|size| self.number(size)).collect::<Result<Vec<_>>>()?;
            self.codes.insert(regs.clone(), (extents, code));
        }
        Ok(regs)
    }

    /// A digit of a code that is written with digits of these sizes.
    fn part_of_code(&mut self, code: Reg, sizes: &[u64], at: usize) -> Result<Reg> {
        // Without any code there is none to be taken apart.
        if sizes.contains(&0) || sizes[at] == 1 {
            return self.int(0);
        }
        let weight = sizes[at + 1..].iter().try_fold(1u64, |weight, size| weight.checked_mul(*size));
        let by = self.size(weight.ok_or(Declined::Width)?)?;
        let digit = self.binary(Binary::DivUnsigned, code, by)?;
        if sizes[..at].iter().all(|size| *size == 1) {
            return Ok(digit);
        }
        let by = self.size(sizes[at])?;
        self.binary(Binary::RemUnsigned, digit, by)
    }

    /// The index with a code.
    pub(super) fn index_of_code(&mut self, code: Reg, space: &Space) -> Result<LoweredValue<'p>> {
        let extents = self.extents(space)?;
        let digits = (0..extents.len()).map(|at| self.part_of_code(code, &extents, at));
        let digits = digits.collect::<Result<Vec<_>>>()?;
        if extents.iter().filter(|extent| **extent > 1).count() > 1 {
            self.codes.insert(digits.clone(), (extents, code));
        }
        Ok(LoweredValue::Index(digits.into()))
    }

    /// The code of digits.
    pub(super) fn flat(&mut self, space: &Space, digits: &[Reg]) -> Result<Reg> {
        let zero = self.int(0)?;
        self.slot_of(space, 1, zero, digits)
    }
}

/// Returns true if a digit is the one at a position of a number written with digits of these sizes.
fn is_digit_of(digit: &DigitExpr, number: &DigitExpr, bases: &[Size], position: u32) -> bool {
    matches!(digit, DigitExpr::Split { of, sizes, digit } if **of == *number && sizes[..] == *bases && *digit == position)
}
