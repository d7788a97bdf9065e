//! Arithmetic of unbounded integers in words, where bounds say that all of it fits.
//!
//! The code of a value is below the size of its type, and sums, products and quotients of numbers
//! with bounds have bounds. A value that stands for an unbounded integer has its bounds in
//! [`Builder::ranges`], and these are within 64 bits with a sign; an operation whose bounds would
//! not be is declined, as is an unbounded integer that is stored. So `i :>> bigint` and what is
//! computed from it is right for every size, and is in words at those sizes at which nothing can
//! overflow.
//!
//! Bounds come from sizes. They choose which operations there are and never appear in them.

use super::{Builder, Declined, Result};
use crate::array_ir::{Element, Value};
use crate::core::{Num, Op};
use crate::source::Span;

/// The least and the greatest value of an unbounded integer.
pub type Range = (i128, i128);

impl Builder<'_> {
    /// A word as an unbounded integer with bounds.
    pub(super) fn ranged(&mut self, value: Value, range: Range) -> Result<Value> {
        if !is_word(range) {
            return Err(Declined::Bigint.into());
        }
        self.ranges.insert(value, range);
        Ok(value)
    }

    /// The bounds of an unbounded integer.
    pub(super) fn range(&self, value: Value) -> Result<Range> {
        self.ranges.get(&value).copied().ok_or(Declined::Bigint.into())
    }

    /// An unbounded integer that is known.
    pub(super) fn big_constant(&mut self, number: Option<i64>) -> Result<Value> {
        let number = number.ok_or(Declined::Bigint)?;
        let value = self.constant(Element::I64, number as u64)?;
        self.ranged(value, (number.into(), number.into()))
    }

    /// An operator of unbounded integers.
    pub(super) fn big_arithmetic(&mut self, op: Op, values: &[Value], span: Span) -> Result<Value> {
        let a = self.range(values[0])?;
        let b = values.get(1).map_or(Ok(a), |b| self.range(*b))?;
        let range = result_range(op, a, b).ok_or(Declined::Bigint)?;
        let result = self.arithmetic(op, Num::Int, values, span)?;
        self.ranged(result, range)
    }
}

/// The bounds of the result of an arithmetic operator on integers with bounds: they are within 64
/// bits with a sign. The second operand of a negation is not looked at. `None` beyond, and for
/// other operators.
pub fn result_range(op: Op, (a_low, a_high): Range, (b_low, b_high): Range) -> Option<Range> {
    let corners = |f: &dyn Fn(i128, i128) -> i128| {
        let all = [f(a_low, b_low), f(a_low, b_high), f(a_high, b_low), f(a_high, b_high)];
        all.iter().fold((all[0], all[0]), |(low, high), n| (low.min(*n), high.max(*n)))
    };
    let magnitude = |low: i128, high: i128| low.abs().max(high.abs());
    let range = match op {
        Op::Neg(_) => (-a_high, -a_low),
        Op::Add(_) => corners(&|a, b| a + b),
        Op::Sub(_) => corners(&|a, b| a - b),
        Op::Mul(_) => corners(&|a, b| a * b),
        // A quotient is furthest from 0 where the divisor is nearest.
        Op::Div(_) if b_low > 0 || b_high < 0 => corners(&|a, b| a / b),
        Op::Div(_) => (-magnitude(a_low, a_high), magnitude(a_low, a_high)),
        Op::Rem(_) => {
            let most = magnitude(a_low, a_high).min(magnitude(b_low, b_high) - 1).max(0);
            (if a_low < 0 { -most } else { 0 }, if a_high > 0 { most } else { 0 })
        }
        _ => return None,
    };
    is_word(range).then_some(range)
}

/// Returns true for bounds within 64 bits with a sign.
pub fn is_word((low, high): Range) -> bool {
    low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX)
}
