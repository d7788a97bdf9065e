//! Arithmetic of big integers in machine words, where bounds say that all of it fits.
//!
//! The code of a value is below the size of its type, and sums, products and quotients of numbers
//! with bounds have bounds. A register that holds a big integer has its bounds in `Lower::ranges`,
//! and these are within 64 bits with a sign; an operation whose bounds would not be is left to the
//! evaluator, as is a big integer that is stored. So `i :>> bigint` and what is computed from it is
//! right for every size, and runs in words at those sizes at which nothing can overflow.
//!
//! Bounds come from the sizes that a part is lowered at. They choose which operations there are and
//! never appear in them, so code is shared by all sizes that choose alike.

use super::{AbstractValue, Declined, Lower, Result, UnsupportedType};
use crate::core::Op as CoreOp;
use crate::core::integer_range::{Range, is_word, result_range};
use crate::loop_ir::{Binary, Compare, Op, Reg, ScalarType, Unary};

const BIG_INTEGERS: Declined = Declined::Type(UnsupportedType::BigInteger);

impl<'a> Lower<'a> {
    /// The bounds of a register that holds a big integer.
    pub(crate) fn range(&self, reg: Reg) -> Option<Range> {
        let known = || self.known(reg).map(|n| (i128::from(n as i64), i128::from(n as i64)));
        self.ranges.get(&reg).copied().or_else(known)
    }

    /// A value with bounds, if these are within a word.
    pub(crate) fn ranged(&mut self, reg: Reg, (low, high): Range) -> Result<AbstractValue<'a>> {
        if !is_word((low, high)) {
            return Err(BIG_INTEGERS);
        }
        // Whatever is known of it by another way stays true.
        let (least, most) = self.range(reg).unwrap_or((low, high));
        self.ranges.insert(reg, (low.max(least), high.min(most)));
        Ok(AbstractValue::Word(reg))
    }

    /// An operator applied to big integers.
    pub(crate) fn big(&mut self, op: CoreOp, a: Reg, b: Reg) -> Result<AbstractValue<'a>> {
        let (Some(first), Some(second)) = (self.range(a), self.range(b)) else {
            return Err(BIG_INTEGERS);
        };
        let compare = |this: &mut Self, kind, a, b| {
            this.set(ScalarType::I64, Op::Compare(kind, a, b)).map(AbstractValue::Word)
        };
        let natural = first.0 >= 0 && second.0 >= 0;
        let kind = match op {
            CoreOp::Eq => return compare(self, Compare::Eq, a, b),
            CoreOp::Ne => return compare(self, Compare::Ne, a, b),
            CoreOp::Lt => return compare(self, Compare::Lt, a, b),
            CoreOp::Le => return compare(self, Compare::Le, a, b),
            CoreOp::Gt => return compare(self, Compare::Lt, b, a),
            CoreOp::Ge => return compare(self, Compare::Le, b, a),
            CoreOp::Neg(_) => {
                let range = result_range(op, first, second).ok_or(BIG_INTEGERS)?;
                let negative = self.set(ScalarType::I64, Op::Unary(Unary::Neg, a))?;
                return self.ranged(negative, range);
            }
            CoreOp::Add(_) => Binary::Add,
            CoreOp::Sub(_) => Binary::Sub,
            CoreOp::Mul(_) => Binary::Mul,
            CoreOp::Div(_) if natural => Binary::DivUnsigned,
            CoreOp::Div(_) => Binary::DivSigned,
            CoreOp::Rem(_) if natural => Binary::RemUnsigned,
            CoreOp::Rem(_) => Binary::RemSigned,
            CoreOp::Pow(_) | CoreOp::Not | CoreOp::And | CoreOp::Or => return Err(BIG_INTEGERS),
        };
        let range = result_range(op, first, second).ok_or(BIG_INTEGERS)?;
        if matches!(op, CoreOp::Div(_) | CoreOp::Rem(_)) && second.0 <= 0 && second.1 >= 0 {
            let zero = self.int(0)?;
            let nonzero = self.set(ScalarType::I64, Op::Compare(Compare::Ne, b, zero))?;
            self.check(nonzero)?;
        }
        self.repeat.integers(kind);
        let result = self.binary(kind, a, b)?;
        self.ranged(result, range)
    }
}
