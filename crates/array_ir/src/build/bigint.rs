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
use crate::core::integer_range::{Range, is_word, result_range};
use crate::core::{Num, Op};
use crate::source::Span;

impl Builder<'_> {
    /// A word as an unbounded integer with bounds.
    pub(super) fn with_range(&mut self, value: Value, range: Range) -> Result<Value> {
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
        self.with_range(value, (number.into(), number.into()))
    }

    /// An operator of unbounded integers.
    pub(super) fn big_arithmetic(&mut self, op: Op, values: &[Value], span: Span) -> Result<Value> {
        let a = self.range(values[0])?;
        let b = values.get(1).map_or(Ok(a), |b| self.range(*b))?;
        let range = result_range(op, a, b).ok_or(Declined::Bigint)?;
        let result = self.arithmetic(op, Num::Int, values, span)?;
        self.with_range(result, range)
    }
}
