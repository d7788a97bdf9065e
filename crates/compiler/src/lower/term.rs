//! Terms, run with registers.

use super::{
    AbstractValue, Aggregate, Binding, Declined, Digit, Frame, FunctionValue, Lower, Place, Result,
    UnexpectedForm, UnsupportedConstruct, UnsupportedType, bare, word,
};
use crate::core::{LocalInfo, Prim, Root, Term, TermKind};
use crate::kernel::Input;
use crate::layout::{Form, Layout, Leaf};
use crate::loop_ir::{Binary, Cast, Compare, Op, Reg, ScalarFunction, ScalarType, Stmt};
use crate::types::encoding::{Code, Encoding};
use crate::types::number::Fixed;
use crate::types::{Scalar, Type};
use num_traits::ToPrimitive;
use std::rc::Rc;

/// Statements that are done whether needed or not rather than branched around.
const MAX_SPECULATED_STATEMENTS: usize = 12;

/// A part of a packed value.
pub(super) enum CodePart {
    /// A factor, by its number.
    Factor(Code),
    /// A digit of an exponential, at a position that is computed.
    Digit(Reg),
}

impl<'a> Lower<'a> {
    /// The value of a term.
    pub(crate) fn term(&mut self, term: &'a Term, frame: &mut Frame<'a>) -> Result<AbstractValue<'a>> {
        self.step()?;
        match &term.kind {
            TermKind::Int(n) => {
                let ty = self.ty(frame, &term.ty);
                let bits = match ty.as_scalar() {
                    Some(Scalar::Int) => n.to_i64().unwrap_or(0) as u64,
                    Some(Scalar::Fixed(fixed)) => fixed.encode(n.to_i128().unwrap_or(0)),
                    Some(Scalar::Bigint) => {
                        let n = n.to_i64().ok_or(Declined::Type(UnsupportedType::BigInteger))?;
                        return self.int(n as u64).map(AbstractValue::Word);
                    }
                    _ => return Err(Declined::Type(UnsupportedType::BigInteger)),
                };
                let ty = self.word_type(&ty)?;
                Ok(AbstractValue::Word(self.constant(ty, bits)?))
            }
            TermKind::Real(x) => {
                let ty = self.ty(frame, &term.ty);
                let word = self.word_type(&ty)?;
                let bits =
                    if word == ScalarType::F32 { u64::from(x.single.to_bits()) } else { x.double.to_bits() };
                Ok(AbstractValue::Word(self.constant(word, bits)?))
            }
            TermKind::Char(c) => {
                Ok(AbstractValue::Word(self.constant(ScalarType::I32, u64::from(u32::from(*c)))?))
            }
            TermKind::Str(_) => Err(Declined::Type(UnsupportedType::String)),
            TermKind::Code(n) => {
                let ty = self.ty(frame, &term.ty);
                match self.stored(&ty)?.slots {
                    0 => Ok(AbstractValue::Unit),
                    _ => Ok(AbstractValue::Word(
                        self.int(n.to_u64().ok_or(Declined::Type(UnsupportedType::WideCode))?)?,
                    )),
                }
            }
            TermKind::Local(local) => self.local(*local, frame),
            TermKind::Move(place) => self.term(place, frame),
            TermKind::At(..) | TermKind::Here(_) | TermKind::Restrict(_) => {
                Err(Declined::Construct(UnsupportedConstruct::Places))
            }
            TermKind::Global(global) => {
                if let Some(place) = self.globals.get(global).cloned() {
                    return self.read(&place);
                }
                let ty = self.ty(frame, &term.ty);
                let root = Root::Global(*global);
                let shape = self.shape(root);
                self.input(Input::whole(root), &ty, &shape)
            }
            TermKind::Closure { function, type_args, captures } => {
                let captured = captures.iter().map(|local| self.local(*local, frame));
                let captures = captured.collect::<Result<Vec<_>>>()?;
                let type_args = self.types(frame, type_args);
                Ok(AbstractValue::Fun(Rc::new(FunctionValue { function: *function, type_args, captures })))
            }
            TermKind::Method { class, method, type_args } => {
                let types = self.types(frame, type_args);
                let found = self.program.implementation(*class, *method, &types);
                let (function, type_args) =
                    found.ok_or(Declined::Construct(UnsupportedConstruct::UnknownMethod))?;
                Ok(AbstractValue::Fun(Rc::new(FunctionValue { function, type_args, captures: Vec::new() })))
            }
            TermKind::Call(head, args) => {
                let AbstractValue::Fun(function) = self.term(head, frame)? else {
                    return Err(Declined::Construct(UnsupportedConstruct::UnknownFunction));
                };
                let mut values = Vec::new();
                for arg in args {
                    values.push((self.term(arg, frame)?, self.ty(frame, &arg.ty)));
                }
                let ty = self.ty(frame, &term.ty);
                self.call(&function, values, &ty)
            }
            TermKind::Prim(prim, type_args, args) => self.primitive(*prim, type_args, args, term, frame),
            TermKind::Op(op, args) => self.operator(*op, args, frame),
            TermKind::Tuple(parts) => {
                let ty = self.ty(frame, &term.ty);
                let mut values = Vec::new();
                for part in parts {
                    values.push((self.term(part, frame)?, self.ty(frame, &part.ty)));
                }
                self.tuple(values, &ty)
            }
            TermKind::Component(base, i) => {
                let value = self.term(base, frame)?;
                let (from, to) = (self.ty(frame, &base.ty), self.ty(frame, &term.ty));
                let i = i.to_u64().ok_or(Declined::Construct(UnsupportedConstruct::PositionBeyondMemory))?;
                self.component(&value, &from, i, &to)
            }
            TermKind::Index(array, index) => {
                let value = self.term(array, frame)?;
                let index = self.term(index, frame)?;
                let (from, to) = (self.ty(frame, &array.ty), self.ty(frame, &term.ty));
                self.index(&value, &from, &index, &to)
            }
            TermKind::Build(clauses, body) => {
                let ty = self.ty(frame, &term.ty);
                let layout = self.layout(&ty);
                let clauses: Vec<(u32, Type)> =
                    clauses.iter().map(|(local, ty)| (*local, self.ty(frame, ty))).collect();
                if layout.slots <= 1 {
                    // One element or none: as many slots as an element with slots has.
                    self.steps_of(frame.locals.len() / 8)?;
                    let mut inner = frame.clone();
                    for (local, ty) in &clauses {
                        match self.count(ty)? {
                            0 => return Ok(AbstractValue::Unit),
                            1 => {}
                            // Units that may fail, many times.
                            _ => return Err(Declined::Type(UnsupportedType::ArrayWithoutSlots)),
                        }
                        inner.locals.set(*local, Binding::Value(AbstractValue::Unit));
                    }
                    return self.term(body, &mut inner);
                }
                let mut one = true;
                for (_, ty) in &clauses {
                    one = one && self.count(ty)? == 1;
                }
                if one {
                    // An array of one element is that element.
                    let mut inner = frame.clone();
                    for (local, _) in &clauses {
                        inner.locals.set(*local, Binding::Value(AbstractValue::Unit));
                    }
                    return self.term(body, &mut inner);
                }
                let frame = self.captured(frame, body)?;
                self.build(clauses, body, frame, &ty)
            }
            TermKind::Pack(parts) => {
                let ty = self.ty(frame, &term.ty);
                let mut values = Vec::new();
                for part in parts {
                    values.push(self.term(part, frame)?);
                }
                self.pack(values, &ty)
            }
            TermKind::Factor(base, i) => {
                let value = self.term(base, frame)?;
                let ty = self.ty(frame, &base.ty);
                self.factor(&value, &ty, &Code::from(i))
            }
            TermKind::Digit(base, i) => {
                let value = self.term(base, frame)?;
                let position = self.term(i, frame)?;
                let ty = self.ty(frame, &base.ty);
                match self.part_at(&position)? {
                    CodePart::Factor(i) => self.factor(&value, &ty, &i),
                    CodePart::Digit(position) => self.digit(&value, position, &ty),
                }
            }
            TermKind::Inject(case, argument) => {
                let argument = self.term(argument, frame)?;
                let ty = self.ty(frame, &term.ty);
                self.inject(&ty, &Code::from(case), &argument)
            }
            TermKind::Reshape(inner) => {
                let value = self.term(inner, frame)?;
                let (from, to) = (self.ty(frame, &inner.ty), self.ty(frame, &term.ty));
                self.reshape(value, &from, &to)
            }
            TermKind::ToCode(inner) => {
                let (from, to) = (self.ty(frame, &inner.ty), self.ty(frame, &term.ty));
                let number = to.as_scalar().ok_or(Declined::Type(UnsupportedType::CodeToNonNumber))?;
                let size = self.codes(&from)?;
                if !number.holds_codes(&size.into()) {
                    return Err(Declined::Type(UnsupportedType::CodeBeyondNumber));
                }
                let value = self.term(inner, frame)?;
                let code = self.as_word(&value, &from)?;
                if number == Scalar::Bigint {
                    return self.ranged(code, (0, i128::from(size.max(1)) - 1));
                }
                let word = self.word_type(&to)?;
                match word.is_float() {
                    true => {
                        self.set(word, Op::Cast(Cast::SignedToFloat, word, code)).map(AbstractValue::Word)
                    }
                    false => self.narrowed(code, word).map(AbstractValue::Word),
                }
            }
            TermKind::FromCode(inner) => {
                // A literal is a number of any length.
                if let TermKind::Int(n) = &inner.kind {
                    let ty = self.ty(frame, &term.ty);
                    let count = self.count(&ty)?;
                    return match n.to_u64().filter(|n| *n < count) {
                        Some(_) if count == 1 => Ok(AbstractValue::Unit),
                        Some(n) => Ok(AbstractValue::Word(self.int(n)?)),
                        None => {
                            self.emit(Stmt::Fail)?;
                            self.zero(&ty)
                        }
                    };
                }
                let number = self.ty(frame, &inner.ty);
                if !matches!(number.as_scalar(), Some(Scalar::Int | Scalar::Bigint)) {
                    return Err(Declined::Type(UnsupportedType::CodeOfOtherNumber));
                }
                let ty = self.ty(frame, &term.ty);
                let value = self.term(inner, frame)?;
                let n = self.as_word(&value, &number)?;
                let size = self.codes(&ty)?;
                let known = if number.as_scalar() == Some(Scalar::Bigint) { self.range(n) } else { None };
                if known.is_some_and(|(low, high)| low >= 0 && high < i128::from(size)) {
                    return Ok(if size == 1 { AbstractValue::Unit } else { AbstractValue::Word(n) });
                }
                let bound = self.size(size)?;
                let fits = self.set(ScalarType::I64, Op::Compare(Compare::LtUnsigned, n, bound))?;
                self.check(fits)?;
                Ok(if size == 1 { AbstractValue::Unit } else { AbstractValue::Word(n) })
            }
            TermKind::Convert(inner) => {
                let (from, to) = (self.ty(frame, &inner.ty), self.ty(frame, &term.ty));
                let value = self.term(inner, frame)?;
                self.convert(&value, &from, &to)
            }
            TermKind::If(condition, then, otherwise) => {
                let ty = self.ty(frame, &term.ty);
                let value = self.term(condition, frame)?;
                let condition = self.as_word(&value, &Type::bool())?;
                // A branch that only fails has no value: what follows is not inside a condition,
                // and a loop of it can be vectorized.
                if is_failure(otherwise) {
                    self.check(condition)?;
                    return self.term(then, frame);
                }
                if is_failure(then) {
                    let zero = self.int(0)?;
                    let holds = self.set(ScalarType::I64, Op::Compare(Compare::Eq, condition, zero))?;
                    self.check(holds)?;
                    return self.term(otherwise, frame);
                }
                self.either(condition, &ty, frame, &mut |this, frame, first| {
                    this.term(if first { then } else { otherwise }, frame)
                })
            }
            TermKind::Match(scrutinee, arms) => {
                let value = self.term(scrutinee, frame)?;
                let ty = self.ty(frame, &term.ty);
                self.arms(&value, arms, &ty, frame)
            }
            TermKind::Block(stmts, value) => self.block_term(stmts, value.as_deref(), term, frame),
            TermKind::PackSizes(..) => Err(Declined::Construct(UnsupportedConstruct::RuntimeSizes)),
            TermKind::Error => Err(Declined::Construct(UnsupportedConstruct::ErrorTerm)),
        }
    }

    pub(crate) fn types(&self, frame: &Frame<'a>, types: &[Type]) -> Vec<Type> {
        // A type argument stays as it is written: functions are found by it.
        types
            .iter()
            .map(|ty| {
                let ty = if ty.has_var() { ty.substitute(&frame.infos.types) } else { ty.clone() };
                (self.unit.concrete)(&ty)
            })
            .collect()
    }

    /// A local variable of a body.
    pub(crate) fn local(&mut self, local: u32, frame: &mut Frame<'a>) -> Result<AbstractValue<'a>> {
        let LocalInfo { shared, ty, .. } = frame
            .infos
            .locals
            .get(local as usize)
            .cloned()
            .ok_or(Declined::Form(UnexpectedForm::UnknownLocal))?;
        if shared {
            return Err(Declined::Construct(UnsupportedConstruct::SharedVariable));
        }
        match frame.locals.get(local) {
            Some(Binding::Value(value)) => Ok(value.clone()),
            Some(Binding::Place(place)) => {
                let place = place.clone();
                self.read(&place)
            }
            None if frame.outermost => {
                let ty = self.ty(frame, &ty);
                let root = Root::Local(local);
                let shape = self.shape(root);
                let value = self.input(Input::whole(root), &ty, &shape)?;
                frame.locals.set(local, Binding::Value(value.clone()));
                Ok(value)
            }
            None => Err(Declined::Form(UnexpectedForm::LocalWithoutValue)),
        }
    }

    /// The present value of a place.
    pub(crate) fn read(&mut self, place: &Place) -> Result<AbstractValue<'a>> {
        self.step()?;
        Ok(match place {
            Place::Unit => AbstractValue::Unit,
            Place::Var(var) => {
                let ty = self.kernel.vars[*var];
                AbstractValue::Word(self.set(ty, Op::Get(*var))?)
            }
            Place::Parts(parts) => {
                let parts = parts.iter().map(|p| self.read(p)).collect::<Result<Vec<_>>>()?;
                AbstractValue::Parts(Rc::new(parts))
            }
            Place::Sum(case, places) => {
                let arguments = places.iter().map(|p| self.read(p)).collect::<Result<Vec<_>>>()?;
                AbstractValue::Sum(self.set(ScalarType::I64, Op::Get(*case))?, Rc::new(arguments))
            }
            Place::Memory(array, base) => AbstractValue::Array(Rc::new(Aggregate::Stored {
                array: *array,
                base: *base,
                changing: true,
            })),
        })
    }

    // ---- words ----------------------------------------------------------------------------

    pub(crate) fn word_type(&self, ty: &Type) -> Result<ScalarType> {
        word(&self.layout(ty).leaf().ok_or(Declined::Form(UnexpectedForm::NotOneSlot))?)
    }

    /// The register of a value of one slot; of none, 0.
    pub(crate) fn as_word(&mut self, value: &AbstractValue<'a>, ty: &Type) -> Result<Reg> {
        match value {
            AbstractValue::Word(reg) => Ok(*reg),
            AbstractValue::Unit => self.int(0),
            AbstractValue::Parts(parts) => {
                let one = parts.iter().find(|p| !matches!(p, AbstractValue::Unit)).cloned();
                match one {
                    Some(one) => self.as_word(&one, ty),
                    None => self.int(0),
                }
            }
            AbstractValue::Array(a) if matches!(**a, Aggregate::Zero) => {
                let ty = self.word_type(ty)?;
                self.constant(ty, 0)
            }
            _ => Err(Declined::Form(UnexpectedForm::ValueOfSeveralSlots)),
        }
    }

    /// Fails unless a condition holds.
    pub(crate) fn check(&mut self, condition: Reg) -> Result<()> {
        match self.known(condition) {
            Some(0) | None => self.emit(Stmt::If(condition, Vec::new(), vec![Stmt::Fail])),
            Some(_) => Ok(()),
        }
    }

    /// A tuple of parts at their types.
    pub(crate) fn tuple(
        &mut self,
        parts: Vec<(AbstractValue<'a>, Type)>,
        ty: &Type,
    ) -> Result<AbstractValue<'a>> {
        match self.layout(ty).slots {
            0 => Ok(AbstractValue::Unit),
            1 => {
                for (value, ty) in parts {
                    if self.layout(&ty).slots == 1 {
                        return Ok(value);
                    }
                }
                Ok(AbstractValue::Unit)
            }
            _ => Ok(AbstractValue::Parts(Rc::new(parts.into_iter().map(|(v, _)| v).collect()))),
        }
    }

    // ---- codes ----------------------------------------------------------------------------

    /// The number of codes of a type, if `int` holds all of them: a negative number is no code
    /// then.
    fn codes(&self, ty: &Type) -> Result<u64> {
        if ty.has_var() {
            return Err(Declined::Construct(UnsupportedConstruct::UnknownSize));
        }
        let size = self.layout(ty).compact().and_then(|compact| compact.size.to_u64());
        size.filter(|size| *size <= 1 << 63).ok_or(Declined::Type(UnsupportedType::CodeBeyondInt))
    }

    pub(crate) fn encoding(&self, ty: &Type) -> Result<(std::sync::Arc<Layout>, u64)> {
        let layout = self.stored(ty)?;
        let size = layout
            .compact()
            .and_then(|c| c.size.to_u64())
            .ok_or(Declined::Type(UnsupportedType::WideCode))?;
        Ok((layout, size))
    }

    /// A compact product from its parts.
    pub(crate) fn pack(&mut self, parts: Vec<AbstractValue<'a>>, ty: &Type) -> Result<AbstractValue<'a>> {
        let (layout, _) = self.encoding(ty)?;
        if layout.slots == 0 {
            return Ok(AbstractValue::Unit);
        }
        let Some(compact) = layout.compact() else {
            return Err(Declined::Type(UnsupportedType::NonCompactPair));
        };
        if matches!(compact.encoding, Encoding::Triangle(_)) {
            return Err(Declined::Type(UnsupportedType::UnorderedPair));
        }
        if let Some(whole) = self.whole_code(&parts, &compact.encoding) {
            return Ok(AbstractValue::Word(whole));
        }
        let mut code: Option<Reg> = None;
        let mut sizes = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let (size, _) = compact.encoding.size_and_weight(&Code::from(i));
            let size = size.to_u64().ok_or(Declined::Type(UnsupportedType::WideCode))?;
            sizes.push(size);
            let part = match part {
                AbstractValue::Unit => None,
                AbstractValue::Word(reg) => Some(*reg),
                _ => return Err(Declined::Form(UnexpectedForm::PartOfSeveralSlots)),
            };
            code = match (code, part) {
                (None, part) => part,
                (Some(code), part) => {
                    let size = self.size(size)?;
                    let scaled = self.binary(Binary::Mul, code, size)?;
                    Some(match part {
                        Some(part) => self.binary(Binary::Add, scaled, part)?,
                        None => scaled,
                    })
                }
            };
        }
        let code = match code {
            Some(code) => code,
            None => self.int(0)?,
        };
        self.packed.insert(code, (parts, sizes));
        Ok(AbstractValue::Word(code))
    }

    /// Part `i` of a compact product or exponential.
    pub(crate) fn factor(
        &mut self,
        value: &AbstractValue<'a>,
        ty: &Type,
        i: &Code,
    ) -> Result<AbstractValue<'a>> {
        let at = i.to_usize().ok_or(Declined::Construct(UnsupportedConstruct::PositionBeyondMemory))?;
        let (layout, whole) = self.encoding(ty)?;
        let Some(compact) = layout.compact() else {
            return Err(Declined::Form(UnexpectedForm::PartOfNonCompact));
        };
        if matches!(compact.encoding, Encoding::Triangle(_)) {
            // The only pair below 2 is (1\, 0): no slot, and yet not zeros.
            return Err(Declined::Type(UnsupportedType::UnorderedPair));
        }
        let AbstractValue::Word(code) = value else { return Ok(AbstractValue::Unit) };
        if let Some((parts, sizes)) = self.packed.get(code)
            && let Some(part) = parts.get(at)
            && cut_so(&compact.encoding, sizes)
        {
            return Ok(part.clone());
        }
        self.divided.insert(*code);
        let (size, weight) = compact.encoding.size_and_weight(i);
        let (Some(size), Some(weight)) = (size.to_u64(), weight.to_u64()) else {
            return Err(Declined::Type(UnsupportedType::WideCode));
        };
        if size == 1 {
            return Ok(AbstractValue::Unit);
        }
        let by = self.size(weight)?;
        let mut part = self.binary(Binary::DivUnsigned, *code, by)?;
        if weight.checked_mul(size) != Some(whole) {
            let by = self.size(size)?;
            part = self.binary(Binary::RemUnsigned, part, by)?;
        }
        if part != *code
            && let Some(sizes) = part_sizes(&compact.encoding)
        {
            self.parts.insert(part, Digit { code: *code, at, sizes });
        }
        Ok(AbstractValue::Word(part))
    }

    /// Returns the code of which `parts` are all parts in order, if a product with this encoding
    /// has the same code. The sizes of the parts must agree; that of the first has no weight.
    fn whole_code(&self, parts: &[AbstractValue<'a>], encoding: &Encoding) -> Option<Reg> {
        let digit = |part: &AbstractValue<'a>| match part {
            AbstractValue::Word(reg) => self.parts.get(reg),
            _ => None,
        };
        let first = digit(parts.first()?)?;
        let of_first = |(at, part): (usize, &AbstractValue<'a>)| {
            digit(part).is_some_and(|one| one.code == first.code && one.at == at && one.sizes == first.sizes)
        };
        let sizes = part_sizes(encoding)?;
        let alike = first.sizes.len() == sizes.len() && first.sizes[1..] == sizes[1..];
        (alike && sizes.len() == parts.len() && parts.iter().enumerate().all(of_first)).then_some(first.code)
    }

    /// The part of a compact exponential at a position.
    pub(super) fn part_at(&self, position: &AbstractValue<'a>) -> Result<CodePart> {
        match position {
            AbstractValue::Unit => Ok(CodePart::Factor(Code::ZERO)),
            AbstractValue::Word(reg) => {
                Ok(self.known(*reg).map_or(CodePart::Digit(*reg), |i| CodePart::Factor(Code::from(i))))
            }
            _ => Err(Declined::Form(UnexpectedForm::PositionOfSeveralSlots)),
        }
    }

    /// A digit of a compact exponential at a position that is not known.
    pub(super) fn digit(
        &mut self,
        value: &AbstractValue<'a>,
        position: Reg,
        ty: &Type,
    ) -> Result<AbstractValue<'a>> {
        let AbstractValue::Word(code) = value else { return Ok(AbstractValue::Unit) };
        let (base, places) = self.digit_places(position, ty)?;
        if base == 1 {
            return Ok(AbstractValue::Unit);
        }
        let part = if base == 2 {
            self.binary(Binary::Shr, *code, places)?
        } else {
            let weight = self.digit_weight(base, places)?;
            self.binary(Binary::DivUnsigned, *code, weight)?
        };
        let base = self.size(base)?;
        Ok(AbstractValue::Word(self.binary(Binary::RemUnsigned, part, base)?))
    }

    /// The base of a compact exponential, and the number of digits behind the one at a position:
    /// position 0 is the most significant one.
    pub(super) fn digit_places(&mut self, position: Reg, ty: &Type) -> Result<(u64, Reg)> {
        let (layout, _) = self.encoding(ty)?;
        let Some(compact) = layout.compact() else {
            return Err(Declined::Form(UnexpectedForm::DigitOfNonCompact));
        };
        let Encoding::Power { base, count } = &compact.encoding else {
            return Err(Declined::Construct(UnsupportedConstruct::DigitsOfProduct));
        };
        let (Some(base), Some(count)) = (base.to_u64(), count.to_u64()) else {
            return Err(Declined::Type(UnsupportedType::WideCode));
        };
        let last = self.size(count - 1)?;
        Ok((base, self.binary(Binary::Sub, last, position)?))
    }

    /// The weight of a digit with so many behind it: a power of the base.
    pub(super) fn digit_weight(&mut self, base: u64, places: Reg) -> Result<Reg> {
        if base == 2 {
            let one = self.int(1)?;
            return self.binary(Binary::Shl, one, places);
        }
        let base = self.size(base)?;
        self.set(ScalarType::I64, Op::Call(ScalarFunction::PowInt, vec![base, places]))
    }

    /// Case `i` of a sum all of whose cases are units, or of a unit sum.
    pub(crate) fn inject(
        &mut self,
        ty: &Type,
        case: &Code,
        argument: &AbstractValue<'a>,
    ) -> Result<AbstractValue<'a>> {
        if let Some(types) = self.cases(ty)? {
            return self.case_of(&types, case, argument);
        }
        let layout = self.stored(ty)?;
        if layout.slots == 0 {
            return Ok(AbstractValue::Unit);
        }
        let offset = match &layout.form {
            Form::Compact(compact) => compact.encoding.inject(case, &Code::ZERO),
            Form::Sum(sum) => match layout.leaf() {
                Some(Leaf::Code(_)) => sum.offset(case),
                _ => return Err(Declined::Type(UnsupportedType::SumWithArguments)),
            },
            _ => return Err(Declined::Type(UnsupportedType::Variant)),
        };
        let offset = self.size(offset.to_u64().ok_or(Declined::Type(UnsupportedType::WideCode))?)?;
        Ok(AbstractValue::Word(match argument {
            AbstractValue::Unit => offset,
            AbstractValue::Word(reg) if self.type_of(*reg) == ScalarType::I64 => {
                self.binary(Binary::Add, offset, *reg)?
            }
            _ => return Err(Declined::Type(UnsupportedType::SumWithArguments)),
        }))
    }

    // ---- choices ----------------------------------------------------------------------------

    /// The value of one of two branches.
    pub(crate) fn either(
        &mut self,
        condition: Reg,
        ty: &Type,
        frame: &mut Frame<'a>,
        branch: &mut dyn FnMut(&mut Self, &mut Frame<'a>, bool) -> Result<AbstractValue<'a>>,
    ) -> Result<AbstractValue<'a>> {
        if let Some(known) = self.known(condition) {
            return branch(self, frame, known != 0);
        }
        let (mut first, a) = self.under_condition(|this| branch(this, frame, true))?;
        let (mut second, b) = self.under_condition(|this| branch(this, frame, false))?;
        let short = |stmts: &[Stmt]| {
            let mut loads = 0;
            stmts.len() <= MAX_SPECULATED_STATEMENTS
                && stmts.iter().all(|s| match s {
                    Stmt::Let(_, Op::Load(..)) => {
                        loads += 1;
                        loads <= 2
                    }
                    Stmt::Let(_, Op::Call(..)) => false,
                    Stmt::Let(_, Op::Binary(op, ..)) => !matches!(
                        op,
                        Binary::DivSigned | Binary::DivUnsigned | Binary::RemSigned | Binary::RemUnsigned
                    ),
                    Stmt::Let(..) => true,
                    _ => false,
                })
        };
        let functions = |v: &AbstractValue<'a>| matches!(v, AbstractValue::Fun(_));
        if functions(&a) || functions(&b) {
            return Err(Declined::Construct(UnsupportedConstruct::ConditionalFunction));
        }
        if short(&first) && short(&second) {
            for stmt in first.into_iter().chain(second) {
                self.emit(stmt)?;
            }
            return self.choose(condition, &a, &b, ty);
        }
        // Arrays that are only remembered were made of registers of one branch.
        let place = self.place_for(ty)?;
        let (more, ()) = self.under_condition(|this| this.assign(&place, &a, ty))?;
        first.extend(more);
        let (more, ()) = self.under_condition(|this| this.assign(&place, &b, ty))?;
        second.extend(more);
        self.emit(Stmt::If(condition, first, second))?;
        self.frozen(&place)
    }

    /// One of two values, both of which are known.
    pub(crate) fn choose(
        &mut self,
        condition: Reg,
        a: &AbstractValue<'a>,
        b: &AbstractValue<'a>,
        ty: &Type,
    ) -> Result<AbstractValue<'a>> {
        self.step()?;
        if let (AbstractValue::Sum(m, x), AbstractValue::Sum(n, y), Some(types)) = (a, b, self.cases(ty)?) {
            return self.choose_case(condition, (*m, x), (*n, y), &types);
        }
        match self.layout(ty).slots {
            0 => Ok(AbstractValue::Unit),
            1 => {
                let (a, b) = (self.as_word(a, ty)?, self.as_word(b, ty)?);
                let word = self.type_of(a);
                let chosen = self.set(word, Op::Select(condition, a, b))?;
                if ty.as_scalar() == Some(Scalar::Bigint)
                    && let (Some(a), Some(b)) = (self.range(a), self.range(b))
                {
                    return self.ranged(chosen, (a.0.min(b.0), a.1.max(b.1)));
                }
                Ok(AbstractValue::Word(chosen))
            }
            _ => match (a, b) {
                (AbstractValue::Parts(x), AbstractValue::Parts(y)) if x.len() == y.len() => {
                    let types =
                        ty.components(x.len()).ok_or(Declined::Form(UnexpectedForm::PartsWithoutTypes))?;
                    let mut parts = Vec::new();
                    for ((x, y), ty) in x.iter().zip(y.iter()).zip(types) {
                        parts.push(self.choose(condition, x, y, &bare(&ty))?);
                    }
                    Ok(AbstractValue::Parts(Rc::new(parts)))
                }
                _ => Ok(AbstractValue::Array(Rc::new(Aggregate::Choice(condition, a.clone(), b.clone())))),
            },
        }
    }
}

/// Returns true if the order of a slot's values is that of unsigned numbers.
pub(crate) fn unsigned(leaf: &Leaf) -> bool {
    match leaf {
        Leaf::Code(_) | Leaf::Scalar(Scalar::Char) => true,
        Leaf::Scalar(Scalar::Fixed(fixed)) => {
            matches!(fixed, Fixed::U8 | Fixed::U16 | Fixed::U32 | Fixed::U64)
        }
        _ => false,
    }
}

/// Returns true if the parts of an encoding have these sizes.
fn cut_so(encoding: &Encoding, sizes: &[u64]) -> bool {
    part_sizes(encoding).is_some_and(|own| own == sizes)
}

/// Returns the sizes of the parts of a compact product or exponential; `None` if they are many or
/// large.
fn part_sizes(encoding: &Encoding) -> Option<Vec<u64>> {
    /// The number of equal parts of an exponential that is compared.
    const MAX_PARTS: usize = 64;
    match encoding {
        Encoding::Product { sizes, .. } => sizes.iter().map(Code::to_u64).collect(),
        Encoding::Power { base, count } => {
            let count = count.to_usize().filter(|count| *count <= MAX_PARTS)?;
            Some(vec![base.to_u64()?; count])
        }
        _ => None,
    }
}

/// Returns true for a call of `fail`, of which no value is used.
fn is_failure(term: &Term) -> bool {
    match &term.kind {
        TermKind::Prim(prim, _, _) => *prim == Prim::Fail,
        TermKind::Block(stmts, Some(value)) => stmts.is_empty() && is_failure(value),
        _ => false,
    }
}
