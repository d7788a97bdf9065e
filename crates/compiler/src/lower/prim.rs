//! Primitives.

use super::{
    AbstractValue, Declined, Frame, Lower, Result, UnexpectedForm, UnsupportedConstruct, UnsupportedType,
};
use crate::core::prim::{PrimClass, type_answer};
use crate::core::{Prim, Term};
use crate::layout::Form;
use crate::loop_ir::{Binary, Cast, Compare, Op, Reg, ScalarFunction, ScalarType, Stmt, Unary};
use crate::types::encoding::Code;
use crate::types::{Scalar, Type};

impl<'a> Lower<'a> {
    /// A primitive applied.
    pub(crate) fn primitive(
        &mut self,
        prim: Prim,
        type_args: &[Type],
        args: &'a [Term],
        term: &'a Term,
        frame: &mut Frame<'a>,
    ) -> Result<AbstractValue<'a>> {
        let ty = self.ty(frame, &term.ty);
        if prim == Prim::Fail {
            self.emit(Stmt::Fail)?;
            return self.zero(&ty);
        }
        let answer = match prim {
            Prim::Fuses | Prim::Sorts | Prim::HasPlace | Prim::HasPlaces | Prim::Ranks | Prim::Hashes => {
                type_answer(prim, &self.types(frame, type_args))
            }
            Prim::Convertible | Prim::CallableWith => {
                self.program.type_query_answer(prim, &self.types(frame, type_args))
            }
            Prim::TypeText => return Err(Declined::Type(UnsupportedType::String)),
            _ => None,
        };
        if let Some(answer) = answer {
            return self.int(u64::from(answer)).map(AbstractValue::Word);
        }
        let types: Vec<Type> = type_args.iter().map(|t| self.ty(frame, t)).collect();
        let mut values = Vec::new();
        for arg in args {
            values.push(self.term(arg, frame)?);
        }
        if prim == Prim::Reduce {
            let [op, zero, x] = &values[..] else {
                return Err(Declined::Form(UnexpectedForm::ReductionWithoutParts));
            };
            let AbstractValue::Fun(op) = op else {
                return Err(Declined::Construct(UnsupportedConstruct::UnknownFunction));
            };
            let from = self.ty(frame, &args[2].ty);
            return self.reduce(&op.clone(), zero, x, &types, &from);
        }
        if prim == Prim::Dot {
            let [x, y] = &values[..] else {
                return Err(Declined::Form(UnexpectedForm::ProductsWithoutParts));
            };
            let from = self.ty(frame, &args[0].ty);
            return self.dot(x, y, &types, &from);
        }
        if let Prim::ArgMin | Prim::ArgMax = prim {
            let [x] = &values[..] else { return Err(Declined::Form(UnexpectedForm::ExtremeWithoutParts)) };
            let from = self.ty(frame, &args[0].ty);
            return self.arg_extreme(prim == Prim::ArgMax, x, &types, &from);
        }
        if prim == Prim::Scan {
            let [op, x] = &values[..] else { return Err(Declined::Form(UnexpectedForm::ScanWithoutParts)) };
            let AbstractValue::Fun(op) = op else {
                return Err(Declined::Construct(UnsupportedConstruct::UnknownFunction));
            };
            let from = self.ty(frame, &args[1].ty);
            return self.scan(&op.clone(), x, &types, &from, &ty);
        }
        let mut words = Vec::new();
        for (value, arg) in values.iter().zip(args) {
            let ty = self.ty(frame, &arg.ty);
            words.push(match self.layout(&ty).slots {
                0 => self.int(0)?,
                1 => self.as_word(value, &ty)?,
                _ => return Err(Declined::Construct(UnsupportedConstruct::AggregatePrimitive)),
            });
        }
        match prim {
            Prim::Scalar(function) => self.scalar_function(function, &words).map(AbstractValue::Word),
            Prim::Min | Prim::Max => match self.layout(&ty).slots {
                0 => Ok(AbstractValue::Unit),
                _ => self.extreme(prim == Prim::Max, words[0], words[1], &ty).map(AbstractValue::Word),
            },
            Prim::Assert => {
                self.check(words[0])?;
                Ok(AbstractValue::Unit)
            }
            Prim::Size => {
                let n = self.count(&types[0])?;
                Ok(AbstractValue::Word(self.size(n)?))
            }
            // The sum of the codes is below the size of the result.
            Prim::Shift => match self.layout(&ty).slots {
                0 => Ok(AbstractValue::Unit),
                _ => self.binary(Binary::Add, words[0], words[1]).map(AbstractValue::Word),
            },
            Prim::ModInt => {
                let n = self.count(&types[0])?;
                let size = self.size(n)?;
                let zero = self.int(0)?;
                if n == 0 {
                    self.emit(Stmt::Fail)?;
                    return self.zero(&ty);
                }
                if n == 1 {
                    return Ok(AbstractValue::Unit);
                }
                if let Some(known) = self.known(words[0]).filter(|known| *known < n) {
                    return Ok(AbstractValue::Word(self.int(known)?));
                }
                let rest = self.binary(Binary::RemSigned, words[0], size)?;
                let below = self.set(ScalarType::I64, Op::Compare(Compare::Lt, rest, zero))?;
                let more = self.binary(Binary::Add, rest, size)?;
                Ok(AbstractValue::Word(self.set(ScalarType::I64, Op::Select(below, more, rest))?))
            }
            Prim::IndexInt => {
                // All codes of `1 + I`: 0, and one more than the index.
                let layout = self.stored(&ty)?;
                let n = self.count(&types[0])?;
                if layout.slots != 1
                    || matches!(&layout.form, Form::Sum(s) if s.offset(&Code::Small(1)) != Code::Small(1))
                {
                    return Err(Declined::Form(UnexpectedForm::OptionWithoutCases));
                }
                let size = self.size(n)?;
                let (zero, one) = (self.int(0)?, self.int(1)?);
                let within = self.set(ScalarType::I64, Op::Compare(Compare::LtUnsigned, words[0], size))?;
                let code = self.binary(Binary::Add, words[0], one)?;
                Ok(AbstractValue::Word(self.set(ScalarType::I64, Op::Select(within, code, zero))?))
            }
            Prim::Wrap => self.wrap(words[0], &types),
            other => Err(match other.class() {
                PrimClass::Output => Declined::Construct(UnsupportedConstruct::Output),
                PrimClass::Reader { .. } | PrimClass::Writer { .. } | PrimClass::System => {
                    Declined::Construct(UnsupportedConstruct::Files)
                }
                PrimClass::Communication | PrimClass::Place => {
                    Declined::Construct(UnsupportedConstruct::Places)
                }
                PrimClass::Sort => Declined::Construct(UnsupportedConstruct::LibrarySort),
                PrimClass::Text | PrimClass::SelectText => Declined::Type(UnsupportedType::String),
                PrimClass::Character
                | PrimClass::ComputedResult
                | PrimClass::Code
                | PrimClass::Convert
                | PrimClass::Select
                | PrimClass::Container
                | PrimClass::Cipher { .. } => Declined::Construct(UnsupportedConstruct::Primitive),
                PrimClass::Scalar(_)
                | PrimClass::TypeQuery
                | PrimClass::Check
                | PrimClass::Fold
                | PrimClass::Order => unreachable!("{other:?} is lowered above"),
            }),
        }
    }

    /// A function of scalars: by instructions where there are some, otherwise by a call.
    fn scalar_function(&mut self, function: ScalarFunction, words: &[Reg]) -> Result<Reg> {
        use ScalarFunction as F;
        let unary = |this: &mut Self, op: Unary| {
            let ty = this.type_of(words[0]);
            this.set(ty, Op::Unary(op, words[0]))
        };
        match function {
            F::Sqrt => unary(self, Unary::Sqrt),
            F::Floor => unary(self, Unary::Floor),
            F::Ceil => unary(self, Unary::Ceil),
            F::Trunc => unary(self, Unary::Trunc),
            F::BitNot => unary(self, Unary::Not),
            F::PopCount => unary(self, Unary::PopCount),
            F::Ctz => unary(self, Unary::TrailingZeros),
            F::IsNan => self.set(ScalarType::I64, Op::Compare(Compare::Ne, words[0], words[0])),
            F::RoundToSingle => {
                self.set(ScalarType::F32, Op::Cast(Cast::FloatToFloat, ScalarType::F32, words[0]))
            }
            F::BitAnd => self.binary(Binary::And, words[0], words[1]),
            F::BitOr => self.binary(Binary::Or, words[0], words[1]),
            F::BitXor => self.binary(Binary::Xor, words[0], words[1]),
            F::Shl | F::Shr => {
                // Below zero places nothing moves, beyond 63 nothing stays.
                let (zero, bits) = (self.int(0)?, self.int(64)?);
                let below = self.set(ScalarType::I64, Op::Compare(Compare::Lt, words[1], zero))?;
                let within = self.set(ScalarType::I64, Op::Compare(Compare::LtUnsigned, words[1], bits))?;
                let places = self.set(ScalarType::I64, Op::Select(within, words[1], zero))?;
                let op = if function == F::Shl { Binary::Shl } else { Binary::Shr };
                let moved = self.set(ScalarType::I64, Op::Binary(op, words[0], places))?;
                let stays = self.binary(Binary::Or, within, below)?;
                self.set(ScalarType::I64, Op::Select(stays, moved, zero))
            }
            _ => self.set(function.signature().1, Op::Call(function, words.to_vec())),
        }
    }

    /// The lower bits of an integer as another integer type.
    fn wrap(&mut self, word: Reg, types: &[Type]) -> Result<AbstractValue<'a>> {
        let [to, from, ..] = types else {
            return Err(Declined::Form(UnexpectedForm::ConversionWithoutTypes));
        };
        let (Some(t), Some(f)) = (to.as_scalar(), from.as_scalar()) else {
            return Err(Declined::Type(UnsupportedType::ConversionOfNonScalar));
        };
        if !f.is_integer() || !t.is_integer() || matches!(f, Scalar::Bigint) || matches!(t, Scalar::Bigint) {
            return Err(Declined::Type(UnsupportedType::Conversion));
        }
        let (x, y) = (self.word_type(from)?, self.word_type(to)?);
        let unsigned = super::term::unsigned(&crate::layout::Leaf::Scalar(f));
        Ok(AbstractValue::Word(if x.bytes() < y.bytes() {
            let cast = if unsigned { Cast::ZeroExtend } else { Cast::SignExtend };
            self.set(y, Op::Cast(cast, y, word))?
        } else if x.bytes() > y.bytes() {
            self.set(y, Op::Cast(Cast::Truncate, y, word))?
        } else {
            word
        }))
    }
}
