//! Primitives of the array IR as operations of the loop form.
//!
//! Those of the array IR are total: a quotient by 0 is 0, and the remainder is the dividend. Those
//! of the loop form have no meaning there, so a divisor that is not a constant is made 1 where it
//! is 0.

use super::storage::scalar_type;
use super::{Emitter, Result};
use crate::array_ir::{self as ir, Element, Prim};
use crate::loop_ir::{Binary, Cast, Compare, Op, Reg, ScalarFunction, ScalarType, Unary};

impl Emitter<'_> {
    /// The result of a primitive for operands of an element type.
    pub(super) fn prim(&mut self, prim: Prim, element: Element, args: &[Reg]) -> Result<Reg> {
        let ty = scalar_type(element);
        match (prim, args) {
            (Prim::Binary(op), &[a, b]) => self.arithmetic(op, element, a, b),
            (Prim::Unary(ir::Unary::Neg), &[a]) => self.set(ty, Op::Unary(Unary::Neg, a)),
            (Prim::Unary(ir::Unary::Not), &[a]) if element == Element::B1 => {
                let zero = self.int(0)?;
                self.compare(Compare::Eq, a, zero)
            }
            (Prim::Unary(ir::Unary::Not), &[a]) => self.set(ty, Op::Unary(Unary::Not, a)),
            (Prim::Compare(op), &[a, b]) => {
                let op = match op {
                    ir::Compare::Eq => Compare::Eq,
                    ir::Compare::Ne => Compare::Ne,
                    ir::Compare::Lt => Compare::Lt,
                    ir::Compare::Le => Compare::Le,
                    ir::Compare::LtUnsigned => Compare::LtUnsigned,
                    ir::Compare::LeUnsigned => Compare::LeUnsigned,
                };
                self.compare(op, a, b)
            }
            (Prim::Cast(cast, to), &[a]) => self.cast(cast, element, to, a),
            (Prim::Function(function), args) => self.function(function, args),
            _ => unreachable!("a primitive has the operands that the validator accepts"),
        }
    }

    /// An operation on two words.
    pub(super) fn arithmetic(&mut self, op: ir::Binary, element: Element, a: Reg, b: Reg) -> Result<Reg> {
        use ir::Binary as B;
        let ty = scalar_type(element);
        let plain = match op {
            B::Add => Binary::Add,
            B::Sub => Binary::Sub,
            B::Mul => Binary::Mul,
            B::Div => Binary::DivFloat,
            B::And => Binary::And,
            B::Or => Binary::Or,
            B::Xor => Binary::Xor,
            B::Min | B::MinUnsigned if element.is_float() => Binary::Min,
            B::Max | B::MaxUnsigned if element.is_float() => Binary::Max,
            B::Min | B::Max | B::MinUnsigned | B::MaxUnsigned => {
                let unsigned = matches!(op, B::MinUnsigned | B::MaxUnsigned);
                let less = self.compare(if unsigned { Compare::LtUnsigned } else { Compare::Lt }, a, b)?;
                let (first, second) = if matches!(op, B::Min | B::MinUnsigned) { (a, b) } else { (b, a) };
                return self.set(ty, Op::Select(less, first, second));
            }
            B::DivSigned => return self.division(Binary::DivSigned, ty, a, b),
            B::DivUnsigned => return self.division(Binary::DivUnsigned, ty, a, b),
            B::RemSigned => return self.division(Binary::RemSigned, ty, a, b),
            B::RemUnsigned => return self.division(Binary::RemUnsigned, ty, a, b),
        };
        self.binary(plain, a, b)
    }

    fn division(&mut self, op: Binary, ty: ScalarType, a: Reg, b: Reg) -> Result<Reg> {
        if self.known(b).is_some_and(|b| b != 0) || self.sizes_are(b) {
            return self.binary(op, a, b);
        }
        let (zero, one) = (self.set(ty, Op::Const(ty, 0))?, self.set(ty, Op::Const(ty, 1))?);
        let none = self.compare(Compare::Eq, b, zero)?;
        let divisor = self.set(ty, Op::Select(none, one, b))?;
        let result = self.binary(op, a, divisor)?;
        let otherwise = if matches!(op, Binary::DivSigned | Binary::DivUnsigned) { zero } else { a };
        self.set(ty, Op::Select(none, otherwise, result))
    }

    /// Returns true for a register that holds a size above 0.
    fn sizes_are(&self, reg: Reg) -> bool {
        let size = |(op, found): (&Op, &Reg)| match op {
            Op::Size(at) if *found == reg => Some(self.kernel.sizes[*at as usize]),
            _ => None,
        };
        self.open.iter().flat_map(|open| &open.computed).find_map(size).is_some_and(|size| size > 0)
    }

    fn cast(&mut self, cast: ir::Cast, from: Element, to: Element, a: Reg) -> Result<Reg> {
        let (source, target) = (scalar_type(from), scalar_type(to));
        let kind = match cast {
            // The register of a truth value is wide.
            ir::Cast::ZeroExtend if from == Element::B1 => match target {
                ScalarType::I64 => return Ok(a),
                _ => Cast::Truncate,
            },
            ir::Cast::Truncate if to == Element::B1 => {
                let wide = match source {
                    ScalarType::I64 => a,
                    _ => self.set(ScalarType::I64, Op::Cast(Cast::ZeroExtend, ScalarType::I64, a))?,
                };
                let one = self.int(1)?;
                return self.binary(Binary::And, wide, one);
            }
            ir::Cast::SignExtend => Cast::SignExtend,
            ir::Cast::ZeroExtend => Cast::ZeroExtend,
            ir::Cast::Truncate => Cast::Truncate,
            ir::Cast::SignedToFloat => Cast::SignedToFloat,
            ir::Cast::UnsignedToFloat => Cast::UnsignedToFloat,
            ir::Cast::FloatToSigned => Cast::FloatToSigned,
            ir::Cast::FloatToFloat => Cast::FloatToFloat,
            ir::Cast::FloatToBits => Cast::FloatToBits,
        };
        self.set(target, Op::Cast(kind, target, a))
    }

    /// A function of scalars: by instructions where there are some, otherwise by a call.
    fn function(&mut self, function: ScalarFunction, args: &[Reg]) -> Result<Reg> {
        use ScalarFunction as F;
        let unary = |this: &mut Self, op: Unary| {
            let ty = this.kernel.regs[args[0]];
            this.set(ty, Op::Unary(op, args[0]))
        };
        match function {
            F::Sqrt => unary(self, Unary::Sqrt),
            F::Floor => unary(self, Unary::Floor),
            F::Ceil => unary(self, Unary::Ceil),
            F::Trunc => unary(self, Unary::Trunc),
            F::Round => self.nearest(args[0]),
            F::BitNot => unary(self, Unary::Not),
            F::PopCount => unary(self, Unary::PopCount),
            F::Ctz => unary(self, Unary::TrailingZeros),
            F::IsNan => self.compare(Compare::Ne, args[0], args[0]),
            F::RoundToSingle => {
                self.set(ScalarType::F32, Op::Cast(Cast::FloatToFloat, ScalarType::F32, args[0]))
            }
            F::BitAnd => self.binary(Binary::And, args[0], args[1]),
            F::BitOr => self.binary(Binary::Or, args[0], args[1]),
            F::BitXor => self.binary(Binary::Xor, args[0], args[1]),
            F::Shl | F::Shr => {
                let op = if function == F::Shl { Binary::Shl } else { Binary::Shr };
                if self.open.iter().any(|open| open.bounds.get(&args[1]).is_some_and(|bound| *bound <= 64)) {
                    return self.binary(op, args[0], args[1]);
                }
                // Below zero places nothing moves, beyond 63 nothing stays.
                let (zero, bits) = (self.int(0)?, self.int(64)?);
                let below = self.compare(Compare::Lt, args[1], zero)?;
                let within = self.compare(Compare::LtUnsigned, args[1], bits)?;
                let places = self.set(ScalarType::I64, Op::Select(within, args[1], zero))?;
                let moved = self.set(ScalarType::I64, Op::Binary(op, args[0], places))?;
                let stays = self.binary(Binary::Or, within, below)?;
                self.set(ScalarType::I64, Op::Select(stays, moved, zero))
            }
            _ => self.set(function.signature().1, Op::Call(function, args.to_vec())),
        }
    }

    /// The nearest whole number, halves away from zero: the whole part, or one beyond it where what
    /// is dropped, which is exact, is a half or more. A whole part keeps the sign of a zero.
    fn nearest(&mut self, x: Reg) -> Result<Reg> {
        let ty = ScalarType::F64;
        let whole = self.set(ty, Op::Unary(Unary::Trunc, x))?;
        let rest = self.binary(Binary::Sub, x, whole)?;
        let float = |this: &mut Self, x: f64| this.set(ty, Op::Const(ty, x.to_bits()));
        let (half, minus_half) = (float(self, 0.5)?, float(self, -0.5)?);
        let (one, minus_one) = (float(self, 1.0)?, float(self, -1.0)?);
        let (above, below) =
            (self.binary(Binary::Add, whole, one)?, self.binary(Binary::Add, whole, minus_one)?);
        let is_above = self.compare(Compare::Le, half, rest)?;
        let is_below = self.compare(Compare::Le, rest, minus_half)?;
        let rounded = self.set(ty, Op::Select(is_below, below, whole))?;
        self.set(ty, Op::Select(is_above, above, rounded))
    }
}
