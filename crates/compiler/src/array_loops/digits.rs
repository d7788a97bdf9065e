//! Digits, codes and opened sizes as registers.

use super::storage::LoweredValue;
use super::{Declined, Emitter, Result};
use crate::array_ir::{DigitExpr, Size, SizeAtom, Space};
use crate::loop_ir::{Binary, Compare, Op, Reg, ScalarType};
use std::rc::Rc;

/// The place of a digit in a code that is written with digits of these sizes.
#[derive(Clone)]
pub(super) struct DigitOfCode {
    code: Reg,
    sizes: Rc<[u64]>,
    place: usize,
}

/// A size that is known when the kernel runs.
#[derive(Clone, Copy)]
pub(super) struct OpenedSize {
    /// The size.
    pub(super) count: Reg,
    /// The largest size that there may be.
    pub(super) bound: u64,
}

/// The bound of a size of which nothing is known but that there is an array in memory.
pub(super) const UNBOUNDED: u64 = crate::loop_ir::UNBOUNDED_SLOTS;

/// The largest coefficient of a size that is a sum of opened ones: no such sum is beyond 2^62.
const MAX_MULTIPLE: u64 = 1 << 16;

impl<'p> Emitter<'p> {
    /// Returns true for a space of one digit whose size is known when the kernel runs.
    pub(super) fn is_opened(&self, space: &Space) -> bool {
        self.largest(space).is_some()
    }

    /// The largest size that a space of one digit may have, if it is known when the kernel runs.
    fn largest(&self, space: &Space) -> Option<u64> {
        let [digit] = &space.digits[..] else { return None };
        let size = digit.size().filter(|size| size.to_constant().is_none())?;
        let opened = self.opened.iter().rev().find(|(var, _)| size == Size::var(*var));
        Some(opened.map_or(UNBOUNDED, |(_, opened)| opened.bound))
    }

    /// The size of a space of one digit that is known when the kernel runs.
    pub(super) fn opened(&mut self, space: &Space) -> Result<Option<OpenedSize>> {
        let Some(bound) = self.largest(space) else { return Ok(None) };
        let size = space.digits[0].size().ok_or(Declined::Width)?;
        Ok(Some(OpenedSize { count: self.size_register(&size)?, bound }))
    }

    /// The number of indices of a space, or the most that there may be.
    pub(super) fn capacity(&self, space: &Space) -> Result<u64> {
        match self.largest(space) {
            Some(bound) => Ok(bound),
            None => self.count(space),
        }
    }

    /// The register of a size: one that is opened, a sum of multiples of such ones, or a number.
    pub(super) fn size_register(&mut self, size: &Size) -> Result<Reg> {
        if size.to_constant().is_some() {
            return self.number(size).and_then(|number| self.size(number));
        }
        let opened = |this: &Self, atom| match atom {
            SizeAtom::Var(var) => {
                this.opened.iter().rev().find(|(own, _)| *own == var).map(|(_, opened)| *opened)
            }
            SizeAtom::Bound(_) => None,
        };
        if let [atom] = size.atoms().collect::<Vec<_>>()[..]
            && *size == Size::atom(atom)
        {
            return opened(self, atom).map(|opened| opened.count).ok_or(Declined::Arrival);
        }
        let mut sum = self.int(0)?;
        for (coefficient, powers) in size.terms().iter() {
            let coefficient = u64::try_from(coefficient).ok().filter(|n| *n <= MAX_MULTIPLE);
            let mut product = self.int(coefficient.ok_or(Declined::Width)?)?;
            match &powers[..] {
                [] => {}
                [(atom, 1)] => {
                    let OpenedSize { count, bound } = opened(self, *atom).ok_or(Declined::Arrival)?;
                    if bound > UNBOUNDED {
                        return Err(Declined::Width);
                    }
                    product = self.binary(Binary::Mul, product, count)?;
                }
                _ => return Err(Declined::Width),
            }
            sum = self.binary(Binary::Add, sum, product)?;
        }
        Ok(sum)
    }

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
            DigitExpr::Constant(size) => self.size_register(size),
            DigitExpr::Affine { offset, stride, of } => {
                let of = self.digit(of, target)?;
                let (stride, offset) = (self.size(*stride)?, self.size_register(offset)?);
                let part = self.binary(Binary::Mul, of, stride)?;
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
                let size = self.size_register(size)?;
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
                let (size, one) = (self.size_register(size)?, self.int(1)?);
                let last = self.binary(Binary::Sub, size, one)?;
                self.binary(Binary::Sub, last, of)
            }
            // A digit alone is the number, whatever its size is.
            DigitExpr::Join(digits) if digits.len() == 1 => self.digit(&digits[0].0, target),
            DigitExpr::Join(digits) => {
                let mut sized = Vec::new();
                for (of, size) in digits {
                    sized.push((self.digit(of, target)?, self.number(size)?));
                }
                let mut code = self.int(0)?;
                for (of, size) in self.merged_digits(&sized)? {
                    let size = self.size(size)?;
                    code = self.binary(Binary::Mul, code, size)?;
                    code = self.binary(Binary::Add, code, of)?;
                }
                Ok(code)
            }
            DigitExpr::Split { of, sizes, .. } if sizes.len() == 1 => self.digit(of, target),
            DigitExpr::Split { of, sizes, digit } => {
                let of = self.digit(of, target)?;
                let sizes = sizes.iter().map(|size| self.number(size)).collect::<Result<Vec<_>>>()?;
                self.part_of_code(of, &sizes, (*digit as usize, *digit as usize + 1))
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

    /// Digits, for the digits of the index that a view is asked for. Where all digits of one number
    /// stand in order, they are known to be its digits.
    pub(super) fn digits(&mut self, digits: &[DigitExpr], target: &[Reg]) -> Result<Vec<Reg>> {
        let regs = digits.iter().map(|digit| self.digit(digit, target)).collect::<Result<Vec<_>>>()?;
        for (at, first) in digits.iter().enumerate() {
            if let DigitExpr::Split { of, sizes, digit: 0 } = first
                && let Some(own) = digits.get(at..at + sizes.len())
                && (0..).zip(own).all(|(position, other)| is_digit_of(other, of, sizes, position))
            {
                let code = self.digit(of, target)?;
                let extents = sizes.iter().map(|size| self.number(size)).collect::<Result<Vec<_>>>()?;
                self.remember_digits(code, extents, &regs[at..at + sizes.len()]);
            }
        }
        Ok(regs)
    }

    /// The number that digits of a code from one place up to another one make.
    fn part_of_code(&mut self, code: Reg, sizes: &[u64], (from, to): (usize, usize)) -> Result<Reg> {
        let product = |sizes: &[u64]| {
            let product = sizes.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
            product.ok_or(Declined::Width)
        };
        // Without any code there is none to be taken apart.
        if sizes.contains(&0) || sizes[from..to].iter().all(|size| *size == 1) {
            return self.int(0);
        }
        let by = self.size(product(&sizes[to..])?)?;
        let digit = self.binary(Binary::DivUnsigned, code, by)?;
        if sizes[..from].iter().all(|size| *size == 1) {
            return Ok(digit);
        }
        let by = self.size(product(&sizes[from..to])?)?;
        self.binary(Binary::RemUnsigned, digit, by)
    }

    /// The index with a code.
    pub(super) fn index_of_code(&mut self, code: Reg, space: &Space) -> Result<LoweredValue<'p>> {
        if self.is_opened(space) {
            return Ok(LoweredValue::Index([code].into()));
        }
        let extents = self.extents(space)?;
        let digits = (0..extents.len()).map(|at| self.part_of_code(code, &extents, (at, at + 1)));
        let digits = digits.collect::<Result<Vec<_>>>()?;
        self.remember_digits(code, extents, &digits);
        Ok(LoweredValue::Index(digits.into()))
    }

    /// Remembers the registers of the digits of a code: arrays whose digits are a part of them are
    /// read at that part of the code.
    fn remember_digits(&mut self, code: Reg, sizes: Vec<u64>, digits: &[Reg]) {
        if sizes.iter().filter(|size| **size > 1).count() < 2 {
            return;
        }
        let sizes: Rc<[u64]> = sizes.into();
        for (place, digit) in digits.iter().enumerate().filter(|(place, _)| sizes[*place] > 1) {
            self.digits_of_codes.insert(*digit, DigitOfCode { code, sizes: sizes.clone(), place });
        }
    }

    /// Digits with their sizes, without those of size 1: neighbors that are neighbors in a code are
    /// one digit.
    pub(super) fn merged_digits(&mut self, digits: &[(Reg, u64)]) -> Result<Vec<(Reg, u64)>> {
        let digits: Vec<(Reg, u64)> = digits.iter().copied().filter(|(_, size)| *size != 1).collect();
        let mut merged = Vec::new();
        let mut at = 0;
        while at < digits.len() {
            let (first, mut size) = digits[at];
            at += 1;
            let known = self.digits_of_codes.get(&first).cloned();
            let Some(DigitOfCode { code, sizes, place }) =
                known.filter(|known| known.sizes[known.place] == size)
            else {
                merged.push((first, size));
                continue;
            };
            let mut end = place + 1;
            while let Some((next, next_size)) = digits.get(at) {
                let Some(known) = self.digits_of_codes.get(next) else { break };
                let is_next = known.code == code
                    && known.sizes == sizes
                    && known.place >= end
                    && sizes[end..known.place].iter().all(|size| *size == 1)
                    && sizes[known.place] == *next_size;
                if !is_next {
                    break;
                }
                size = size.checked_mul(*next_size).ok_or(Declined::Width)?;
                (end, at) = (known.place + 1, at + 1);
            }
            let digit = if end == place + 1 { first } else { self.part_of_code(code, &sizes, (place, end))? };
            merged.push((digit, size));
        }
        Ok(merged)
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
