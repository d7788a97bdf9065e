//! Matches: patterns tried on values.

use super::{
    AbstractValue, Binding, Declined, Frame, Lower, Result, UnexpectedForm, UnsupportedConstruct,
    UnsupportedType,
};
use crate::core::{Arm, Pat, PatKind, Stmt as CoreStmt, Term};
use crate::layout::{Form, Leaf};
use crate::loop_ir::{Binary, Compare, Op, Reg, ScalarType, Stmt};
use crate::types::encoding::{Code, Encoding};
use crate::types::{Scalar, Type};
use num_traits::ToPrimitive;

/// A function called with each value that a pattern binds.
type OnBind<'f, 'a> =
    dyn FnMut(&mut Lower<'a>, u32, AbstractValue<'a>, Type, &mut Frame<'a>) -> Result<()> + 'f;

/// A local that an alternative binds, with value and type.
type Bound<'a> = (u32, AbstractValue<'a>, Type);

impl<'a> Lower<'a> {
    /// Binds what a pattern binds; gives the condition under which it fits, if there is one.
    pub(crate) fn fits(
        &mut self,
        pat: &'a Pat,
        value: &AbstractValue<'a>,
        frame: &mut Frame<'a>,
        bind: &mut OnBind<'_, 'a>,
    ) -> Result<Option<Reg>> {
        let ty = self.ty(frame, &pat.ty);
        let equal = |this: &mut Self, bits: u64| {
            let reg = this.as_word(value, &ty)?;
            let word = this.type_of(reg);
            let constant = this.constant(word, bits)?;
            this.set(ScalarType::I64, Op::Compare(Compare::Eq, reg, constant)).map(Some)
        };
        match &pat.kind {
            PatKind::Wild => Ok(None),
            PatKind::Bind(local) => {
                bind(self, *local, value.clone(), ty, frame)?;
                Ok(None)
            }
            PatKind::As(inner, local) => {
                bind(self, *local, value.clone(), ty, frame)?;
                self.fits(inner, value, frame, bind)
            }
            PatKind::Int(n) => match ty.as_scalar() {
                Some(Scalar::Int) => equal(self, n.to_i64().unwrap_or(0) as u64),
                Some(Scalar::Fixed(fixed)) => equal(self, fixed.encode(n.to_i128().unwrap_or(0))),
                _ => Err(Declined::Type(UnsupportedType::BigInteger)),
            },
            PatKind::Real(x) if ty.as_scalar() == Some(Scalar::Single) => {
                equal(self, u64::from(x.single.to_bits()))
            }
            PatKind::Real(x) => equal(self, x.double.to_bits()),
            PatKind::Char(c) => equal(self, u64::from(u32::from(*c))),
            PatKind::Ints(low, high) => {
                let (ends, signed) = match ty.as_scalar() {
                    Some(Scalar::Int) => ([low, high].map(|n| n.to_i64().unwrap_or(0) as u64), true),
                    Some(Scalar::Fixed(fixed)) => {
                        let ends = [low, high].map(|n| fixed.encode(n.to_i128().unwrap_or(0)));
                        (ends, fixed.shape().1)
                    }
                    _ => return Err(Declined::Type(UnsupportedType::BigInteger)),
                };
                self.between(value, &ty, ends, signed).map(Some)
            }
            PatKind::Chars(low, high) => {
                let ends = [low, high].map(|c| u64::from(u32::from(*c)));
                self.between(value, &ty, ends, false).map(Some)
            }
            PatKind::Or(parts) => {
                let (mut any, mut all) = (None, false);
                let mut found: Vec<(Option<Reg>, Vec<Bound<'a>>)> = Vec::new();
                for part in parts {
                    let mut bound = Vec::new();
                    let fits = self.fits(part, value, frame, &mut |_, local, value, ty, _| {
                        bound.push((local, value, ty));
                        Ok(())
                    })?;
                    found.push((fits, bound));
                    let Some(fits) = fits else {
                        all = true;
                        break;
                    };
                    any = match any {
                        None => Some(fits),
                        Some(any) => Some(self.binary(Binary::Or, any, fits)?),
                    };
                }
                let bound: Vec<(u32, Type)> =
                    found[0].1.iter().map(|(local, _, ty)| (*local, ty.clone())).collect();
                for (local, ty) in bound {
                    let value = self.of_first(&found, local, &ty, frame)?;
                    bind(self, local, value, ty, frame)?;
                }
                Ok(if all { None } else { any })
            }
            PatKind::Str(_) => Err(Declined::Type(UnsupportedType::String)),
            PatKind::Code(n) => match self.stored(&ty)?.slots {
                0 => Ok(None),
                _ => equal(self, n.to_u64().ok_or(Declined::Type(UnsupportedType::WideCode))?),
            },
            PatKind::Tuple(parts) => {
                let mut all = None;
                for (i, part) in parts.iter().enumerate() {
                    let to = self.ty(frame, &part.ty);
                    let value = self.component(value, &ty, i as u64, &to)?;
                    let fits = self.fits(part, &value, frame, bind)?;
                    all = self.both(all, fits)?;
                }
                Ok(all)
            }
            PatKind::Pack(parts) => {
                let mut all = None;
                for (i, part) in parts.iter().enumerate() {
                    let value = self.factor(value, &ty, &Code::from(i))?;
                    let fits = self.fits(part, &value, frame, bind)?;
                    all = self.both(all, fits)?;
                }
                Ok(all)
            }
            PatKind::Reshape(inner) => {
                let to = self.ty(frame, &inner.ty);
                let value = self.reshape(value.clone(), &ty, &to)?;
                self.fits(inner, &value, frame, bind)
            }
            PatKind::Coarray(..) => Err(Declined::Construct(UnsupportedConstruct::CaseIndex)),
            PatKind::Case(case, inner) if matches!(value, AbstractValue::Sum(..)) => {
                let AbstractValue::Sum(found, arguments) = value else { return Ok(None) };
                let case = case.to_u64().ok_or(Declined::Type(UnsupportedType::WideCode))?;
                let argument = arguments
                    .get(case as usize)
                    .cloned()
                    .ok_or(Declined::Form(UnexpectedForm::MissingCase))?;
                let inside = match inner {
                    Some(inner) => self.fits(inner, &argument, frame, bind)?,
                    None => None,
                };
                let here = match self.known(*found) {
                    Some(known) if known == case => None,
                    _ => {
                        let case = self.int(case)?;
                        Some(self.set(ScalarType::I64, Op::Compare(Compare::Eq, *found, case))?)
                    }
                };
                self.both(here, inside)
            }
            PatKind::Case(case, inner) => {
                let (offset, width) = self.case(&ty, &Code::from(case))?;
                let (code, argument) = match value {
                    AbstractValue::Unit => (None, AbstractValue::Unit),
                    _ => {
                        let code = self.as_word(value, &ty)?;
                        let offset = self.size(offset)?;
                        let argument = match width {
                            1 => AbstractValue::Unit,
                            _ => AbstractValue::Word(self.binary(Binary::Sub, code, offset)?),
                        };
                        (Some((code, offset)), argument)
                    }
                };
                let here = match code {
                    None => None,
                    Some((code, offset)) => {
                        let from = self.binary(Binary::Sub, code, offset)?;
                        let width = self.size(width)?;
                        Some(self.set(ScalarType::I64, Op::Compare(Compare::LtUnsigned, from, width))?)
                    }
                };
                let inside = match inner {
                    Some(inner) => self.fits(inner, &argument, frame, bind)?,
                    None => None,
                };
                self.both(here, inside)
            }
        }
    }

    /// The value of a local by the first alternative that fits, or by the last.
    fn of_first(
        &mut self,
        found: &[(Option<Reg>, Vec<Bound<'a>>)],
        local: u32,
        ty: &Type,
        frame: &mut Frame<'a>,
    ) -> Result<AbstractValue<'a>> {
        let Some(((fits, bound), rest)) = found.split_first() else {
            return Err(Declined::Construct(UnsupportedConstruct::NonBindingPattern));
        };
        let here = bound.iter().find(|(other, ..)| *other == local);
        let here = here
            .map(|(_, value, _)| value.clone())
            .ok_or(Declined::Construct(UnsupportedConstruct::NonBindingPattern))?;
        match fits {
            Some(fits) if !rest.is_empty() => self.either(*fits, ty, frame, &mut |this, frame, first| {
                if first { Ok(here.clone()) } else { this.of_first(rest, local, ty, frame) }
            }),
            _ => Ok(here),
        }
    }

    /// Returns true if a word is one from a first to a last.
    fn between(&mut self, value: &AbstractValue<'a>, ty: &Type, ends: [u64; 2], signed: bool) -> Result<Reg> {
        let reg = self.as_word(value, ty)?;
        let word = self.type_of(reg);
        let [low, high] = ends;
        let (low, high) = (self.constant(word, low)?, self.constant(word, high)?);
        let kind = if signed { Compare::Le } else { Compare::LeUnsigned };
        let above = self.set(ScalarType::I64, Op::Compare(kind, low, reg))?;
        let below = self.set(ScalarType::I64, Op::Compare(kind, reg, high))?;
        self.binary(Binary::And, above, below)
    }

    fn both(&mut self, a: Option<Reg>, b: Option<Reg>) -> Result<Option<Reg>> {
        match (a, b) {
            (Some(a), Some(b)) => self.binary(Binary::And, a, b).map(Some),
            (a, b) => Ok(a.or(b)),
        }
    }

    /// The first code of a case, and the number of its codes.
    fn case(&self, ty: &Type, case: &Code) -> Result<(u64, u64)> {
        let layout = self.stored(ty)?;
        let one = Code::Small(1);
        let (from, to) = match &layout.form {
            Form::Compact(compact) => match &compact.encoding {
                Encoding::Sum { .. } => {
                    let next = case.add(&one);
                    let end = match &compact.encoding {
                        Encoding::Sum { offsets } if next.to_usize() == Some(offsets.len() - 1) => {
                            compact.size.clone()
                        }
                        encoding => encoding.inject(&next, &Code::ZERO),
                    };
                    (compact.encoding.inject(case, &Code::ZERO), end)
                }
                _ => (case.clone(), case.add(&one)),
            },
            Form::Sum(sum) => match layout.leaf() {
                Some(Leaf::Code(_)) => (sum.offset(case), sum.end(case)),
                _ => return Err(Declined::Type(UnsupportedType::SumWithArguments)),
            },
            _ => return Err(Declined::Type(UnsupportedType::Variant)),
        };
        let width = to.sub(&from);
        match (from.to_u64(), width.to_u64()) {
            (Some(from), Some(width)) => Ok((from, width)),
            _ => Err(Declined::Type(UnsupportedType::WideCode)),
        }
    }

    /// A match as a term.
    pub(crate) fn arms(
        &mut self,
        value: &AbstractValue<'a>,
        arms: &'a [Arm],
        ty: &Type,
        frame: &mut Frame<'a>,
    ) -> Result<AbstractValue<'a>> {
        let Some((arm, rest)) = arms.split_first() else {
            self.emit(Stmt::Fail)?;
            return self.zero(ty);
        };
        let fits = self.fits(&arm.pattern, value, frame, &mut |_, local, value, _, frame| {
            frame.locals.set(local, Binding::Value(value));
            Ok(())
        })?;
        let fits = self.guarded(fits, arm.guard.as_ref(), frame)?;
        match fits {
            None => self.term(&arm.body, frame),
            // The last arm of a match that covers everything fits.
            Some(_) if rest.is_empty() && arm.guard.is_none() => self.term(&arm.body, frame),
            Some(fits) => self.either(fits, ty, frame, &mut |this, frame, first| {
                if first { this.term(&arm.body, frame) } else { this.arms(value, rest, ty, frame) }
            }),
        }
    }

    /// The condition of a pattern with that of its guard.
    fn guarded(
        &mut self,
        fits: Option<Reg>,
        guard: Option<&'a Term>,
        frame: &mut Frame<'a>,
    ) -> Result<Option<Reg>> {
        let Some(guard) = guard else { return Ok(fits) };
        let Some(fits) = fits else {
            let value = self.term(guard, frame)?;
            return self.as_word(&value, &Type::bool()).map(Some);
        };
        // A guard is looked at only where its pattern fits.
        let zero = self.int(0)?;
        let value = self.either(fits, &Type::bool(), frame, &mut |this, frame, first| {
            if first { this.term(guard, frame) } else { Ok(AbstractValue::Word(zero)) }
        })?;
        self.as_word(&value, &Type::bool()).map(Some)
    }

    /// A match as a statement.
    pub(crate) fn match_statement(
        &mut self,
        value: &AbstractValue<'a>,
        arms: &'a [(Pat, Option<Term>, Vec<CoreStmt>)],
        frame: &mut Frame<'a>,
    ) -> Result<()> {
        let Some(((pat, guard, body), rest)) = arms.split_first() else { return self.emit(Stmt::Fail) };
        let fits = self.fits(pat, value, frame, &mut |this, local, value, ty, frame| {
            let changes = frame.infos.stored.contains(&local);
            this.bind(local, value, &ty, changes, frame)
        })?;
        let fits = self.guarded(fits, guard.as_ref(), frame)?;
        match fits {
            None => self.statements(body, None, frame),
            Some(_) if rest.is_empty() && guard.is_none() => self.statements(body, None, frame),
            Some(fits) => {
                let (first, ()) = self.under_condition(|this| this.statements(body, None, frame))?;
                let (second, ()) = self.under_condition(|this| this.match_statement(value, rest, frame))?;
                self.emit(Stmt::If(fits, first, second))
            }
        }
    }
}
