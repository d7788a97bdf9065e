//! Unordered pairs of index values: `below[I]` and `lower[I]`.
//!
//! A value of `below[I]` is a pair (i, j) of values of `I` whose second part comes before the
//! first, one of `lower[I]` a pair whose second part comes before the first or equals it: the
//! positions below the diagonal of a square, without it and with it. They are numbered row by row
//! (the combinatorial number system of degree 2)
//!
//! ```text
//! below   j < i   i(i - 1)/2 + j   below n(n - 1)/2
//! lower   j ≤ i   i(i + 1)/2 + j   below n(n + 1)/2
//! ```
//!
//! so that a triangle with one row more is the triangle and that row: `below[N \+ 1]` has the codes
//! of `below[N]`, then those of `N`. The row of a code is found by one square root, exact for codes
//! of any length.

use super::encoding::Code;
use num_bigint::BigUint;
use num_traits::{One, Zero};

/// A set of positions of a square.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Triangle {
    /// The positions below the diagonal.
    Below,
    /// The positions below and on the diagonal.
    Lower,
}

impl Triangle {
    /// The two triangles.
    pub const ALL: [Triangle; 2] = [Triangle::Below, Triangle::Lower];

    /// Returns the name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Triangle::Below => "below",
            Triangle::Lower => "lower",
        }
    }

    /// Returns the triangle with this name.
    pub fn from_name(name: &str) -> Option<Triangle> {
        Triangle::ALL.into_iter().find(|triangle| triangle.name() == name)
    }

    /// Returns the number of positions in a square of `n` rows.
    pub fn count(self, n: &BigUint) -> BigUint {
        match self {
            Triangle::Below if n.is_zero() => BigUint::zero(),
            Triangle::Below => (n * (n - BigUint::one())) >> 1,
            Triangle::Lower => (n * (n + BigUint::one())) >> 1,
        }
    }

    /// Returns the number of positions in row `i`.
    pub fn row_length(self, i: &BigUint) -> BigUint {
        match self {
            Triangle::Below => i.clone(),
            Triangle::Lower => i + 1u32,
        }
    }

    /// Returns the number of positions in the rows before row `i`.
    fn before(self, i: &Code) -> Code {
        let Some(i) = i.to_u64() else { return Code::from(self.count(&i.to_big())) };
        let i = u128::from(i);
        Code::from(match self {
            Triangle::Below => i * i.saturating_sub(1) / 2,
            Triangle::Lower => i * (i + 1) / 2,
        })
    }

    /// Returns the code of row `i`, column `j`.
    pub fn code(self, i: &Code, j: &Code) -> Code {
        self.before(i).add(j)
    }

    /// Returns row and column of a code.
    pub fn position(self, code: &Code) -> (Code, Code) {
        // The largest i with i(i ∓ 1)/2 ≤ c is the whole part of (√(8c + 1) ± 1)/2.
        let row = match code.to_u64() {
            Some(code) => {
                let root = (8 * u128::from(code) + 1).isqrt();
                Code::from(match self {
                    Triangle::Below => root.div_ceil(2),
                    Triangle::Lower => (root - 1) / 2,
                })
            }
            None => {
                let root = (code.to_big() * 8u32 + 1u32).sqrt();
                Code::from(match self {
                    Triangle::Below => (root + 1u32) >> 1,
                    Triangle::Lower => (root - 1u32) >> 1,
                })
            }
        };
        let column = code.sub(&self.before(&row));
        (row, column)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn positions_come_row_by_row() {
        for triangle in Triangle::ALL {
            let mut code = 0u64;
            for i in 0..40u64 {
                let end = if triangle == Triangle::Below { i } else { i + 1 };
                for j in 0..end {
                    let (i, j) = (Code::from(i), Code::from(j));
                    assert_eq!(triangle.code(&i, &j), Code::from(code));
                    assert_eq!(triangle.position(&Code::from(code)), (i, j));
                    code += 1;
                }
                assert_eq!(triangle.count(&BigUint::from(i + 1)), BigUint::from(code));
            }
        }
    }

    proptest! {
        /// Near the ends of rows, where a root that is off by one would show.
        #[test]
        fn rows_are_exact_at_any_length(row in any::<u128>(), shift in 0u32..200, back in 0u32..3) {
            let n = (BigUint::from(row) << shift) + 3u32;
            for triangle in Triangle::ALL {
                let end = triangle.count(&n);
                let (i, j) = triangle.position(&Code::from(&end - 1u32 - back));
                prop_assert_eq!(i.to_big(), &n - 1u32);
                prop_assert!(j.to_big() < n);
                prop_assert_eq!(triangle.code(&i, &j).to_big(), &end - 1u32 - back);
                let (i, j) = triangle.position(&Code::from(&end));
                prop_assert_eq!((i.to_big(), j.to_big()), (n.clone(), BigUint::zero()));
            }
        }
    }
}
