//! Reductions and scans, as [`crate::core::reduction`] defines them.

use super::{
    AbstractValue, Aggregate, Declined, FunctionValue, Lower, Place, Result, UnexpectedForm, UnsupportedType,
};
use crate::core::prim::fuses;
use crate::core::reduction::{self, CHUNK, ReductionOp};
use crate::loop_ir::{Array, Binary, Compare, Op, Reg, ScalarFunction, ScalarType, Stmt, Summand};
use crate::types::{Scalar, Type};
use std::rc::Rc;

/// Elements up to which they are joined without a loop.
const MAX_UNROLLED_ELEMENTS: u64 = 4;

/// The operand of a reduction.
#[derive(Clone, Copy)]
enum Terms<'s, 'a> {
    /// Elements, by an operation; perhaps in lanes.
    Elements { op: &'s FunctionValue<'a>, lanes: Option<ReductionOp>, x: &'s AbstractValue<'a> },
    /// The products of the elements of two arrays, by `+`.
    Products(&'s AbstractValue<'a>, &'s AbstractValue<'a>),
    /// Elements, by `_max` if `max`, else by `_min`.
    Extremes { max: bool, x: &'s AbstractValue<'a> },
}

impl<'a> Lower<'a> {
    /// Elements joined as [`reduction`] has it.
    pub(super) fn reduce(
        &mut self,
        op: &FunctionValue<'a>,
        zero: &AbstractValue<'a>,
        x: &AbstractValue<'a>,
        types: &[Type],
        from: &Type,
    ) -> Result<AbstractValue<'a>> {
        let element = types.first().cloned().ok_or(Declined::Form(UnexpectedForm::ReductionWithoutTypes))?;
        // Not by the type of `x`: an array of one array is that array.
        let index = types.get(1).ok_or(Declined::Form(UnexpectedForm::ReductionWithoutTypes))?;
        let count = self.count(index)?;
        match count {
            0 => return Ok(zero.clone()),
            1 => return self.apply(op, zero.clone(), x.clone(), &element),
            _ => {}
        }
        let layout = self.stored(&element)?;
        if layout.slots == 0 {
            return Err(Declined::Type(UnsupportedType::ReductionOfUnits));
        }
        let lanes = match element.as_scalar() {
            Some(Scalar::Real | Scalar::Single) => {
                reduction::reduction_op(self.program, op.function, &op.type_args)
            }
            _ => None,
        };
        if count <= MAX_UNROLLED_ELEMENTS && !matches!(lanes, Some(ReductionOp::Add | ReductionOp::Mul)) {
            // Joined where they are: of no consequence to lanes of the smallest or the largest.
            let mut part = None;
            let mut starts_with_zero = false;
            for i in 0..count {
                let at = self.int(i)?;
                let value = self.index(x, from, &AbstractValue::Word(at), &element)?;
                starts_with_zero |= i == 0 && is_same_register(zero, &value);
                part = Some(match part {
                    Some(part) => self.apply(op, part, value, &element)?,
                    None => value,
                });
            }
            let part = part.unwrap_or(AbstractValue::Unit);
            // The smallest of some numbers stays the same if one of them comes twice.
            if starts_with_zero && lanes.is_some() {
                return Ok(part);
            }
            return self.apply(op, zero.clone(), part, &element);
        }
        self.terms(Terms::Elements { op, lanes, x }, zero, &element, (from, count))
    }

    /// The first index of the largest element if `max`, else of the smallest. The chunks are
    /// compared by what is best in them, and then one of them is searched.
    pub(super) fn arg_extreme(
        &mut self,
        max: bool,
        x: &AbstractValue<'a>,
        types: &[Type],
        from: &Type,
    ) -> Result<AbstractValue<'a>> {
        let [element, index] = types else { return Err(Declined::Form(UnexpectedForm::ExtremeWithoutTypes)) };
        let count = self.count(index)?;
        match count {
            0 => {
                self.emit(Stmt::Fail)?;
                return self.zero(index);
            }
            1 => return Ok(AbstractValue::Unit),
            _ => {}
        }
        let layout = self.stored(element)?;
        if layout.slots == 0 {
            return Err(Declined::Type(UnsupportedType::OrderOfUnits));
        }
        let terms = Terms::Extremes { max, x };
        let chunks = count.div_ceil(CHUNK as u64);
        let place = self.place_for(element)?;
        let chosen = self.var(ScalarType::I64);
        let zero = self.int(0)?;
        self.emit(Stmt::Set(chosen, zero))?;
        if chunks == 1 {
            let (low, high) = (self.int(0)?, self.size(count)?);
            let part = self.chunk(terms, element, (from, count), low, high)?;
            self.assign(&place, &part, element)?;
        } else {
            let top = self.may_be_parallel();
            let partial = self.working(layout.class, chunks)?;
            self.chunks(chunks, top, &mut |this, chunk| {
                let (low, high) = this.bounds(chunk, count)?;
                let part = this.chunk(terms, element, (from, count), low, high)?;
                this.fill(partial, chunk, &part, element)
            })?;
            let first = self.fetch(partial, zero, element, false)?;
            self.assign(&place, &first, element)?;
            self.chunks(chunks, false, &mut |this, chunk| {
                let part = this.fetch(partial, chunk, element, false)?;
                let (part, best) = (this.as_word(&part, element)?, this.read(&place)?);
                let best = this.as_word(&best, element)?;
                let joined = this.extreme(max, best, part, element)?;
                let same = this.same_rank(joined, best)?;
                let (better, ()) = this.under_condition(|this| {
                    this.assign(&place, &AbstractValue::Word(part), element)?;
                    this.emit(Stmt::Set(chosen, chunk))
                })?;
                this.emit(Stmt::If(same, Vec::new(), better))
            })?;
        }
        let best = self.read(&place)?;
        let best = self.as_word(&best, element)?;
        let chunk = self.set(ScalarType::I64, Op::Get(chosen))?;
        let (low, high) = if chunks == 1 { (zero, self.size(count)?) } else { self.bounds(chunk, count)? };
        let (found, label, at) = (self.var(ScalarType::I64), self.label(), self.reg(ScalarType::I64));
        self.emit(Stmt::Set(found, zero))?;
        self.facts.bound(at, count);
        let body = self.times(count.min(CHUNK as u64), |this| {
            this.under_condition(|this| {
                let value = this.index(x, from, &AbstractValue::Word(at), element)?;
                let value = this.as_word(&value, element)?;
                // The sign of zeros is looked at where it may matter only.
                let mut near = this.set(ScalarType::I64, Op::Compare(Compare::Eq, value, best))?;
                if this.type_of(value).is_float() {
                    let nan = this.set(ScalarType::I64, Op::Compare(Compare::Ne, value, value))?;
                    near = this.binary(Binary::Or, near, nan)?;
                }
                let (leave, ()) = this.under_condition(|this| {
                    let same = this.same_rank(value, best)?;
                    let leave = vec![Stmt::Set(found, at), Stmt::Break(label)];
                    this.emit(Stmt::If(same, leave, Vec::new()))
                })?;
                this.emit(Stmt::If(near, leave, Vec::new()))
            })
        });
        let (body, ()) = body?;
        self.emit(Stmt::For { label, index: at, low, high, body })?;
        let found = self.set(ScalarType::I64, Op::Get(found))?;
        self.facts.bound(found, count);
        Ok(AbstractValue::Word(found))
    }

    /// Returns true if two values are the same in the order of [`Self::extreme`], as a truth value.
    fn same_rank(&mut self, a: Reg, b: Reg) -> Result<Reg> {
        let ty = self.type_of(a);
        let equal = self.set(ScalarType::I64, Op::Compare(Compare::Eq, a, b))?;
        if !ty.is_float() {
            return Ok(equal);
        }
        let zero = self.constant(ty, 0)?;
        let one = self
            .constant(ty, if ty == ScalarType::F32 { u64::from(1f32.to_bits()) } else { 1f64.to_bits() })?;
        // Zeros of unlike signs have unlike reciprocals.
        let number = self.set(ScalarType::I64, Op::Compare(Compare::Ne, a, zero))?;
        let (x, y) = (
            self.set(ty, Op::Binary(Binary::DivFloat, one, a))?,
            self.set(ty, Op::Binary(Binary::DivFloat, one, b))?,
        );
        let signs = self.set(ScalarType::I64, Op::Compare(Compare::Eq, x, y))?;
        let alike = self.binary(Binary::Or, number, signs)?;
        let alike = self.binary(Binary::And, equal, alike)?;
        let (a, b) = (
            self.set(ScalarType::I64, Op::Compare(Compare::Ne, a, a))?,
            self.set(ScalarType::I64, Op::Compare(Compare::Ne, b, b))?,
        );
        let nan = self.binary(Binary::And, a, b)?;
        self.binary(Binary::Or, alike, nan)
    }

    /// The sum of products, as [`reduction`] has it.
    pub(super) fn dot(
        &mut self,
        x: &AbstractValue<'a>,
        y: &AbstractValue<'a>,
        types: &[Type],
        from: &Type,
    ) -> Result<AbstractValue<'a>> {
        let [element, index] = types else {
            return Err(Declined::Form(UnexpectedForm::ProductsWithoutTypes));
        };
        if !fuses(std::slice::from_ref(element)) {
            return Err(Declined::Type(UnsupportedType::ProductOfNonReal));
        }
        let zero = self.constant(ScalarType::F64, 0)?;
        match self.count(index)? {
            0 => Ok(AbstractValue::Word(zero)),
            1 => {
                let (x, y) = (self.as_word(x, element)?, self.as_word(y, element)?);
                self.set(ScalarType::F64, Op::Call(ScalarFunction::Fma, vec![x, y, zero]))
                    .map(AbstractValue::Word)
            }
            count => self.terms(Terms::Products(x, y), &AbstractValue::Word(zero), element, (from, count)),
        }
    }

    /// A reduction of more than one element.
    fn terms(
        &mut self,
        terms: Terms<'_, 'a>,
        zero: &AbstractValue<'a>,
        element: &Type,
        (from, count): (&Type, u64),
    ) -> Result<AbstractValue<'a>> {
        let layout = self.stored(element)?;
        let chunks = count.div_ceil(CHUNK as u64);
        let place = self.place_for(element)?;
        self.assign(&place, zero, element)?;
        if chunks == 1 {
            let (low, high) = (self.int(0)?, self.size(count)?);
            let part = self.chunk(terms, element, (from, count), low, high)?;
            self.take(terms, &place, &part, element)?;
            return self.frozen(&place);
        }
        if !self.may_be_parallel() {
            self.chunks(chunks, false, &mut |this, chunk| {
                let (low, high) = this.bounds(chunk, count)?;
                let part = this.chunk(terms, element, (from, count), low, high)?;
                this.take(terms, &place, &part, element)
            })?;
            return self.frozen(&place);
        }
        let slots = layout.slots as u64;
        let partial = self.working(layout.class, chunks * slots)?;
        self.chunks(chunks, true, &mut |this, chunk| {
            let (low, high) = this.bounds(chunk, count)?;
            let part = this.chunk(terms, element, (from, count), low, high)?;
            let slot = this.scaled(chunk, layout.slots)?;
            this.fill(partial, slot, &part, element)
        })?;
        self.chunks(chunks, false, &mut |this, chunk| {
            let slot = this.scaled(chunk, layout.slots)?;
            let part = this.fetch(partial, slot, element, false)?;
            this.take(terms, &place, &part, element)
        })?;
        self.frozen(&place)
    }

    /// A loop over chunks, in parallel if `top`.
    fn chunks(
        &mut self,
        chunks: u64,
        top: bool,
        round: &mut dyn FnMut(&mut Self, Reg) -> Result<()>,
    ) -> Result<()> {
        self.nested(&[chunks], top, CHUNK as u64, &mut |this, indices| {
            let chunk = this.as_word(&indices[0], &Type::int())?;
            round(this, chunk)
        })
    }

    /// The first element of a chunk and the one past its last.
    fn bounds(&mut self, chunk: Reg, count: u64) -> Result<(Reg, Reg)> {
        let (each, all) = (self.int(CHUNK as u64)?, self.size(count)?);
        let low = self.binary(Binary::Mul, chunk, each)?;
        let end = self.binary(Binary::Add, low, each)?;
        let less = self.set(ScalarType::I64, Op::Compare(Compare::Lt, end, all))?;
        let high = self.set(ScalarType::I64, Op::Select(less, end, all))?;
        Ok((low, high))
    }

    /// Running results as [`reduction`] has them: within chunks first, then over the chunks.
    pub(super) fn scan(
        &mut self,
        op: &FunctionValue<'a>,
        x: &AbstractValue<'a>,
        types: &[Type],
        from: &Type,
        to: &Type,
    ) -> Result<AbstractValue<'a>> {
        let [element, index] = types else { return Err(Declined::Form(UnexpectedForm::ScanWithoutTypes)) };
        let count = self.count(index)?;
        if count <= 1 {
            return Ok(x.clone());
        }
        let layout = self.stored(element)?;
        if layout.slots == 0 {
            return Err(Declined::Type(UnsupportedType::ScanOfUnits));
        }
        let out = self.scratch(&*self.stored(to)?)?;
        let scanned = AbstractValue::Array(Rc::new(Aggregate::Stored {
            array: out,
            base: self.int(0)?,
            changing: false,
        }));
        let chunks = count.div_ceil(CHUNK as u64);
        if chunks == 1 {
            let (low, high) = (self.int(0)?, self.size(count)?);
            self.running(op, x, element, (from, count), out, low, high)?;
            return Ok(scanned);
        }
        let top = self.may_be_parallel();
        self.chunks(chunks, top, &mut |this, chunk| {
            let (low, high) = this.bounds(chunk, count)?;
            this.running(op, x, element, (from, count), out, low, high)
        })?;
        // What comes before each chunk but the first: the last results of the chunks before,
        // joined.
        let before = self.working(layout.class, (chunks - 1) * layout.slots as u64)?;
        let place = self.place_for(element)?;
        let zero = self.int(0)?;
        let last = self.last(zero, out, count, element)?;
        self.assign(&place, &last, element)?;
        let total = self.read(&place)?;
        self.fill(before, zero, &total, element)?;
        let (label, chunk) = (self.label(), self.reg(ScalarType::I64));
        let (low, high) = (self.int(1)?, self.size(chunks - 1)?);
        let (body, ()) = self.under_condition(|this| {
            let last = this.last(chunk, out, count, element)?;
            this.join(op, &place, &last, element)?;
            let total = this.read(&place)?;
            let slot = this.scaled(chunk, layout.slots)?;
            this.fill(before, slot, &total, element)
        })?;
        self.emit(Stmt::For { label, index: chunk, low, high, body })?;
        self.chunks(chunks - 1, top, &mut |this, earlier| {
            let slot = this.scaled(earlier, layout.slots)?;
            let before = this.fetch(before, slot, element, false)?;
            let one = this.int(1)?;
            let chunk = this.binary(Binary::Add, earlier, one)?;
            let (low, high) = this.bounds(chunk, count)?;
            let (label, at) = (this.label(), this.reg(ScalarType::I64));
            let (body, ()) = this.under_condition(|this| {
                let slot = this.scaled(at, layout.slots)?;
                let total = this.fetch(out, slot, element, true)?;
                let joined = this.apply(op, before.clone(), total, element)?;
                this.assign(&Place::Memory(out, slot), &joined, element)
            })?;
            this.emit(Stmt::For { label, index: at, low, high, body })
        })?;
        Ok(scanned)
    }

    /// The last running result of a chunk.
    fn last(&mut self, chunk: Reg, out: Array, count: u64, element: &Type) -> Result<AbstractValue<'a>> {
        let slots = self.stored(element)?.slots;
        let (_, end) = self.bounds(chunk, count)?;
        let one = self.int(1)?;
        let last = self.binary(Binary::Sub, end, one)?;
        let last = self.scaled(last, slots)?;
        self.fetch(out, last, element, false)
    }

    /// The running results of the elements of one chunk, of which there is at least one.
    #[allow(clippy::too_many_arguments)] // a scan has that many parts
    fn running(
        &mut self,
        op: &FunctionValue<'a>,
        x: &AbstractValue<'a>,
        element: &Type,
        (from, count): (&Type, u64),
        out: Array,
        low: Reg,
        high: Reg,
    ) -> Result<()> {
        let slots = self.stored(element)?.slots;
        let place = self.place_for(element)?;
        let first = self.index(x, from, &AbstractValue::Word(low), element)?;
        self.assign(&place, &first, element)?;
        let slot = self.scaled(low, slots)?;
        let total = self.read(&place)?;
        self.fill(out, slot, &total, element)?;
        let one = self.int(1)?;
        let second = self.binary(Binary::Add, low, one)?;
        let (label, index) = (self.label(), self.reg(ScalarType::I64));
        self.facts.bound(index, count);
        self.strict.whole(index, count);
        let body = self.times(count.min(CHUNK as u64), |this| {
            this.block(|this| {
                let value = this.index(x, from, &AbstractValue::Word(index), element)?;
                this.join(op, &place, &value, element)?;
                let slot = this.scaled(index, slots)?;
                let total = this.read(&place)?;
                this.fill(out, slot, &total, element)
            })
        });
        let (body, ()) = body?;
        self.emit(Stmt::For { label, index, low: second, high, body })
    }

    /// The first slot of an element.
    fn scaled(&mut self, at: Reg, slots: usize) -> Result<Reg> {
        let stride = self.size(slots as u64)?;
        self.binary(Binary::Mul, at, stride)
    }

    /// `place = op (place, part)`.
    fn join(
        &mut self,
        op: &FunctionValue<'a>,
        place: &Place,
        part: &AbstractValue<'a>,
        element: &Type,
    ) -> Result<()> {
        let total = self.read(place)?;
        let joined = self.apply(op, total, part.clone(), element)?;
        self.assign(place, &joined, element)
    }

    fn apply(
        &mut self,
        op: &FunctionValue<'a>,
        a: AbstractValue<'a>,
        b: AbstractValue<'a>,
        element: &Type,
    ) -> Result<AbstractValue<'a>> {
        self.call(op, vec![(a, element.clone()), (b, element.clone())], element)
    }

    /// Joins the result of a chunk to what `place` holds.
    fn take(
        &mut self,
        terms: Terms<'_, 'a>,
        place: &Place,
        part: &AbstractValue<'a>,
        element: &Type,
    ) -> Result<()> {
        match terms {
            Terms::Elements { op, .. } => self.join(op, place, part, element),
            Terms::Extremes { max, .. } => {
                let total = self.read(place)?;
                let (total, part) = (self.as_word(&total, element)?, self.as_word(part, element)?);
                let best = self.extreme(max, total, part, element)?;
                self.assign(place, &AbstractValue::Word(best), element)
            }
            Terms::Products(..) => {
                let total = self.read(place)?;
                let (total, part) = (self.as_word(&total, element)?, self.as_word(part, element)?);
                let sum = self.binary(Binary::Add, total, part)?;
                self.assign(place, &AbstractValue::Word(sum), element)
            }
        }
    }

    /// The elements of one chunk, of which there is at least one, joined.
    fn chunk(
        &mut self,
        terms: Terms<'_, 'a>,
        element: &Type,
        (from, count): (&Type, u64),
        low: Reg,
        high: Reg,
    ) -> Result<AbstractValue<'a>> {
        let index = self.reg(ScalarType::I64);
        self.facts.bound(index, count);
        self.strict.whole(index, count);
        let rounds = count.min(CHUNK as u64);
        let word = |this: &mut Self, x: &AbstractValue<'a>| {
            let value = this.index(x, from, &AbstractValue::Word(index), element)?;
            this.as_word(&value, element)
        };
        let (lanes, x) = match terms {
            Terms::Elements { lanes, x, .. } => (lanes, x),
            Terms::Extremes { max, x } => {
                let float = element.as_scalar().is_some_and(Scalar::is_float);
                (float.then_some(if max { ReductionOp::Max } else { ReductionOp::Min }), x)
            }
            Terms::Products(x, y) => {
                let body =
                    self.times(rounds, |this| this.reduce_body(|this| Ok((word(this, x)?, word(this, y)?))));
                let (body, (x, y)) = body?;
                let result = self.reg(ScalarType::F64);
                self.emit(Stmt::Reduce { index, low, high, body, item: Summand::Product(x, y), result })?;
                return Ok(AbstractValue::Word(result));
            }
        };
        if let Some(joining) = lanes {
            let body = self.times(rounds, |this| this.reduce_body(|this| word(this, x)));
            let (body, value) = body?;
            let result = self.reg(self.type_of(value));
            self.emit(Stmt::Reduce { index, low, high, body, item: Summand::Value(joining, value), result })?;
            return Ok(AbstractValue::Word(result));
        }
        let place = self.place_for(element)?;
        let first = self.index(x, from, &AbstractValue::Word(low), element)?;
        self.assign(&place, &first, element)?;
        let one = self.int(1)?;
        let second = self.binary(Binary::Add, low, one)?;
        let label = self.label();
        let body = self.times(rounds, |this| {
            this.block(|this| {
                let value = this.index(x, from, &AbstractValue::Word(index), element)?;
                this.take(terms, &place, &value, element)
            })
        });
        let (body, ()) = body?;
        self.emit(Stmt::For { label, index, low: second, high, body })?;
        self.frozen(&place)
    }
}

/// Returns true if two values are one register.
fn is_same_register(a: &AbstractValue<'_>, b: &AbstractValue<'_>) -> bool {
    matches!((a, b), (AbstractValue::Word(a), AbstractValue::Word(b)) if a == b)
}
