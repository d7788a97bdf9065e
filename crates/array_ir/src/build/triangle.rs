//! Indices of triangles as rows and columns.
//!
//! The largest row `i` with `i(i ∓ 1)/2 ≤ c` is the whole part of `(√(8c + 1) ± 1)/2`. The whole
//! part of the square root is exact in binary64 for `8c + 1` below 2^52: the root of `k^2 - 1` is
//! below `k` by more than half a unit in the last place.

use super::{Builder, Declined, Result};
use crate::array_ir::{Binary, Cast, DigitExpr, Element, Op, Prim, ScalarFunction, Size, Type, Value};
use crate::types::{Triangle, Type as CoreType};

/// Rows of the largest triangle whose codes `c` have `8c + 1` below 2^52.
const MAX_ROWS: u64 = 1 << 24;

impl Builder<'_> {
    /// The row (0) or the column (1) of an index of a triangle over an index type.
    pub(super) fn triangle_factor(
        &mut self,
        value: Value,
        (triangle, side): (Triangle, &CoreType),
        at: usize,
    ) -> Result<Value> {
        let size = self.size(side)?.to_constant().filter(|size| (1..=MAX_ROWS).contains(size));
        let size = size.ok_or(Declined::Size)?;
        let code = self.code(value)?;
        let [one, two, eight] = [1, 2, 8].map(|n| self.constant(Element::I64, n));
        let (one, two, eight) = (one?, two?, eight?);
        let scaled = self.binary(Binary::Mul, code, eight)?;
        let scaled = self.binary(Binary::Add, scaled, one)?;
        let float = self.cast(scaled, Cast::SignedToFloat, Element::F64)?;
        let root = Op::Prim(Prim::Function(ScalarFunction::Sqrt), vec![float]);
        let root = self.define(Type::Element(Element::F64), root)?;
        let root = self.cast(root, Cast::FloatToSigned, Element::I64)?;
        let doubled = match triangle {
            Triangle::Below => self.binary(Binary::Add, root, one)?,
            Triangle::Lower => self.binary(Binary::Sub, root, one)?,
        };
        let row = self.binary(Binary::DivSigned, doubled, two)?;
        let factor = match at {
            0 => row,
            _ => {
                let first = self.first_of_row(triangle, row)?;
                self.binary(Binary::Sub, code, first)?
            }
        };
        self.compact_of_code(side, DigitExpr::Remainder(factor, size), Size::constant(size))
    }

    /// The code of the first index of a row.
    fn first_of_row(&mut self, triangle: Triangle, row: Value) -> Result<Value> {
        let (one, two) = (self.constant(Element::I64, 1)?, self.constant(Element::I64, 2)?);
        let other = match triangle {
            Triangle::Below => self.binary(Binary::Sub, row, one)?,
            Triangle::Lower => self.binary(Binary::Add, row, one)?,
        };
        let product = self.binary(Binary::Mul, row, other)?;
        self.binary(Binary::DivSigned, product, two)
    }
}

#[cfg(test)]
mod tests {
    use super::MAX_ROWS;
    use crate::build::Declined;
    use crate::build::run::{code, count, datum, run};
    use crate::types::{Triangle, Type as CoreType};

    /// Returns the row and the column of a code, as they are computed.
    fn position(triangle: Triangle, rows: u64, number: u64) -> Result<(u64, u64), Declined> {
        let side = CoreType::unit_sum(rows);
        let ty = CoreType::triangle(triangle, side.clone());
        let factor = |at| {
            let found = run(&[&ty], &[datum(&ty, number)], |builder, values| {
                builder.triangle_factor(values[0], (triangle, &side), at)
            })?;
            Ok(code(&side, &found))
        };
        Ok((factor(0)?, factor(1)?))
    }

    /// Rows and columns are those that the type itself has.
    fn is_exact(triangle: Triangle, rows: u64, number: u64) {
        let (row, column) = triangle.position(&number.into());
        let expected = row.to_u64().zip(column.to_u64());
        assert_eq!(
            position(triangle, rows, number).ok(),
            expected,
            "{} in {rows} rows: {number}",
            triangle.name()
        );
    }

    #[test]
    fn rows_and_columns_are_those_of_the_code() {
        for triangle in Triangle::ALL {
            for rows in 1..6 {
                for number in 0..count(&CoreType::triangle(triangle, CoreType::unit_sum(rows))) {
                    is_exact(triangle, rows, number);
                }
            }
        }
    }

    /// Near the ends of the last rows, where the root is the least exact.
    #[test]
    fn the_largest_triangle_is_exact_at_the_ends_of_rows() {
        for triangle in Triangle::ALL {
            let mut end = count(&CoreType::triangle(triangle, CoreType::unit_sum(MAX_ROWS)));
            for row in (MAX_ROWS - 4..MAX_ROWS).rev() {
                is_exact(triangle, MAX_ROWS, end - 1);
                let length = if triangle == Triangle::Below { row } else { row + 1 };
                end -= length;
                is_exact(triangle, MAX_ROWS, end);
            }
        }
    }

    #[test]
    fn larger_triangles_are_declined() {
        for triangle in Triangle::ALL {
            assert_eq!(position(triangle, MAX_ROWS + 1, 0), Err(Declined::Size));
        }
    }
}
