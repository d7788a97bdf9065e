//! Reductions, as [`crate::core::reduction`] groups them.

use super::digits::OpenedSize;
use super::storage::{Location, LoweredValue, scalar_type};
use super::{Emitter, Result};
use crate::array_ir::scalar::idempotent_identity;
use crate::array_ir::{
    Binary as ArrayBinary, Block, Combine, DigitExpr, End, Grouping, Op as ArrayOp, Space, Type, Value,
};
use crate::core::reduction::{CHUNK, ReductionOp};
use crate::loop_ir::{Binary, Compare, Op, Reg, ScalarType, Stmt, Summand};

/// A reduction: its operation, its body, and the type of its values.
#[derive(Clone, Copy)]
pub(super) struct Reduction<'p> {
    pub(super) combine: &'p Combine,
    pub(super) body: &'p Block,
    pub(super) space: &'p Space,
    pub(super) ty: &'p Type,
    /// The values of a search, if it is one.
    pub(super) first_hit: Option<FirstHit>,
}

/// The least number of an index for which a condition holds, or the start: a search, which ends at
/// the first hit.
#[derive(Clone, Copy)]
pub(super) struct FirstHit {
    condition: Value,
    number: Value,
    start: Value,
}

/// A reduction as a search: the minimum of numbers of indices where a condition holds, and
/// elsewhere of its start.
fn first_hit(combine: &Combine, start: Value, body: &Block) -> Option<FirstHit> {
    let (Combine::Prim(ArrayBinary::Min), End::Yield(value)) = (combine, &body.end) else { return None };
    let op = |value: Value| body.stmts.iter().find(|stmt| stmt.value == value).map(|stmt| &stmt.op);
    let ArrayOp::Select(condition, number, other) = op(*value)? else { return None };
    let index = body.params[0].0;
    let is_number = matches!(op(*number), Some(ArrayOp::Number(DigitExpr::Of(of, 0))) if *of == index);
    let one_digit = matches!(&body.params[0].1, Type::Index(space) if space.digits.len() == 1);
    (*other == start && is_number && one_digit).then_some(FirstHit {
        condition: *condition,
        number: *number,
        start,
    })
}

impl<'p> Reduction<'p> {
    /// The operation of the lanes, if there are some.
    fn lanes(self) -> Option<ReductionOp> {
        let Combine::Prim(op) = self.combine else { return None };
        if !self.ty.element().is_some_and(|element| element.is_float()) {
            return None;
        }
        match op {
            ArrayBinary::Add => Some(ReductionOp::Add),
            ArrayBinary::Mul => Some(ReductionOp::Mul),
            ArrayBinary::Min => Some(ReductionOp::Min),
            ArrayBinary::Max => Some(ReductionOp::Max),
            _ => None,
        }
    }
}

impl<'p> Emitter<'p> {
    pub(super) fn reduce(
        &mut self,
        combine: &'p Combine,
        grouping: Grouping,
        start: Value,
        body: &'p Block,
        ty: &'p Type,
    ) -> Result<LoweredValue<'p>> {
        let (_, Type::Index(space)) = &body.params[0] else { unreachable!("a reduction runs over indices") };
        let first_hit = first_hit(combine, start, body);
        let reduction = Reduction { combine, body, space, ty, first_hit };
        let start = self.values[&start].clone();
        if let Some(opened) = self.opened(space)? {
            return self.reduce_opened(reduction, grouping, opened, &start);
        }
        let count = self.count(space)?;
        if count == 0 {
            return Ok(start);
        }
        let extents = self.extents(space)?;
        let several = extents.iter().filter(|extent| **extent > 1).count() > 1;
        let few = count <= CHUNK as u64 || self.slots(ty)? == 0;
        let sequential = self.in_parallel || self.in_lanes || few;
        if grouping == Grouping::Left
            || grouping == Grouping::Any && reduction.lanes().is_none() && several && sequential
        {
            return self.reduce_left(reduction, &start);
        }
        let chunks = count.div_ceil(CHUNK as u64);
        if chunks == 1 {
            let (low, high) = (self.int(0)?, self.size(count)?);
            let part = self.chunk(reduction, low, high)?;
            let total = match self.is_identity(reduction, &start) {
                true => part,
                false => self.combine(reduction, &start, &part)?,
            };
            return self.readable(&total, ty);
        }
        let location = self.new_location(ty)?;
        self.assign(&location, &start, ty)?;
        let partial = match sequential {
            true => None,
            false => Some(self.allocate_elements(ty, chunks)?),
        };
        let slots = self.slots(ty)?;
        if let Some(partial) = partial {
            self.loop_nest(&[chunks], CHUNK as u64, &mut |this, chunk| {
                let (low, high) = this.chunk_bounds(chunk[0], count)?;
                let part = this.chunk(reduction, low, high)?;
                let slot = this.first_slot(chunk[0], slots)?;
                this.store(&part, ty, partial, slot)
            })?;
        }
        let (low, high) = (self.int(0)?, self.size(chunks)?);
        let (label, chunk) = (self.kernel.new_label(), self.reg(ScalarType::I64));
        let (body, ()) = self.block(|this| {
            let part = match partial {
                Some(partial) => {
                    let slot = this.first_slot(chunk, slots)?;
                    this.load(ty, partial, slot)?
                }
                None => {
                    let (low, high) = this.chunk_bounds(chunk, count)?;
                    this.chunk(reduction, low, high)?
                }
            };
            this.join(reduction, &location, &part)
        })?;
        self.emit(Stmt::For { label, index: chunk, low, high, body })?;
        self.read(&location)
    }

    /// A reduction over indices below a size that is opened, in order.
    fn reduce_opened(
        &mut self,
        reduction: Reduction<'p>,
        grouping: Grouping,
        opened: OpenedSize,
        start: &LoweredValue<'p>,
    ) -> Result<LoweredValue<'p>> {
        let OpenedSize { count, bound } = opened;
        if grouping == Grouping::Left {
            return self.reduce_left(reduction, start);
        }
        let location = self.new_location(reduction.ty)?;
        self.assign(&location, start, reduction.ty)?;
        let zero = self.int(0)?;
        let join = |this: &mut Self, low: Reg, high: Reg| {
            let part = this.chunk(reduction, low, high)?;
            this.join(reduction, &location, &part)
        };
        if bound <= CHUNK as u64 {
            let is_any = self.compare(Compare::Lt, zero, count)?;
            let (stmts, ()) = self.block(|this| join(this, zero, count))?;
            self.emit(Stmt::If(is_any, stmts, Vec::new()))?;
        } else {
            let (each, past) = (self.int(CHUNK as u64)?, self.int(CHUNK as u64 - 1)?);
            let rounded = self.binary(Binary::Add, count, past)?;
            let chunks = self.binary(Binary::DivUnsigned, rounded, each)?;
            self.sequential_loop(zero, chunks, &mut |this, chunk| {
                let (low, high) = this.chunk_bounds_below(chunk, count)?;
                join(this, low, high)
            })?;
        }
        self.read(&location)
    }

    /// The first element of a chunk and the one past its last.
    pub(super) fn chunk_bounds(&mut self, chunk: Reg, count: u64) -> Result<(Reg, Reg)> {
        let all = self.size(count)?;
        self.chunk_bounds_below(chunk, all)
    }

    /// The first element of a chunk and the one past its last, of a number of elements.
    fn chunk_bounds_below(&mut self, chunk: Reg, all: Reg) -> Result<(Reg, Reg)> {
        let each = self.int(CHUNK as u64)?;
        let low = self.binary(Binary::Mul, chunk, each)?;
        let end = self.binary(Binary::Add, low, each)?;
        let less = self.compare(Compare::Lt, end, all)?;
        let high = self.set(ScalarType::I64, Op::Select(less, end, all))?;
        Ok((low, high))
    }

    /// The first slot of an element by its number.
    pub(super) fn first_slot(&mut self, at: Reg, slots: u64) -> Result<Reg> {
        let slots = self.size(slots)?;
        self.binary(Binary::Mul, at, slots)
    }

    /// All elements joined to the start, one after another.
    fn reduce_left(
        &mut self,
        reduction: Reduction<'p>,
        start: &LoweredValue<'p>,
    ) -> Result<LoweredValue<'p>> {
        let location = self.new_location(reduction.ty)?;
        self.assign(&location, start, reduction.ty)?;
        self.loops_in_order(reduction.space, &mut |this, digits| {
            let value = this.round(reduction.body, digits)?;
            this.join(reduction, &location, &value)
        })?;
        self.read(&location)
    }

    /// Joins a value to the one at a location.
    fn join(
        &mut self,
        reduction: Reduction<'p>,
        location: &Location,
        value: &LoweredValue<'p>,
    ) -> Result<()> {
        let total = self.read(location)?;
        let total = self.combine(reduction, &total, value)?;
        self.assign(location, &total, reduction.ty)
    }

    /// The elements of a chunk, of which there is at least one, joined.
    fn chunk(&mut self, reduction: Reduction<'p>, low: Reg, high: Reg) -> Result<LoweredValue<'p>> {
        let Reduction { combine, body, space, ty, .. } = reduction;
        let is_dot = matches!(combine, Combine::Dot);
        if is_dot || reduction.lanes().is_some() {
            let index = self.reg(ScalarType::I64);
            let outer = std::mem::replace(&mut self.in_lanes, true);
            let made = self.block(|this| {
                let at = this.index_of_code(index, space)?;
                this.at(body, at)
            });
            self.in_lanes = outer;
            let (stmts, value) = made?;
            let item = match (&value, reduction.lanes()) {
                (LoweredValue::Word(reg), Some(op)) => Summand::Value(op, *reg),
                (LoweredValue::Tuple(parts), None) => match &parts[..] {
                    [LoweredValue::Word(a), LoweredValue::Word(b)] => Summand::Product(*a, *b),
                    _ => unreachable!("a sum of products has two factors"),
                },
                _ => unreachable!("lanes are of words"),
            };
            let element = ty.element().expect("lanes are of elements");
            let result = self.reg(scalar_type(element));
            self.emit(Stmt::Reduce { index, low, high, body: stmts, item, result })?;
            return Ok(LoweredValue::Word(result));
        }
        if let Some(hit) = reduction.first_hit {
            return self.search(reduction, hit, (low, high));
        }
        let location = self.new_location(ty)?;
        let first = self.index_of_code(low, space)?;
        let first = self.at(body, first)?;
        self.assign(&location, &first, ty)?;
        let one = self.int(1)?;
        let second = self.binary(Binary::Add, low, one)?;
        self.sequential_loop(second, high, &mut |this, at| {
            let at = this.index_of_code(at, space)?;
            let value = this.at(body, at)?;
            this.join(reduction, &location, &value)
        })?;
        self.read(&location)
    }

    /// The first hit of a range, or the start.
    fn search(
        &mut self,
        reduction: Reduction<'p>,
        hit: FirstHit,
        (low, high): (Reg, Reg),
    ) -> Result<LoweredValue<'p>> {
        let Reduction { body, space, ty, .. } = reduction;
        let location = self.new_location(ty)?;
        let start = self.values[&hit.start].clone();
        self.assign(&location, &start, ty)?;
        let label = self.kernel.new_label();
        let (search, ()) = self.block(|this| {
            this.sequential_loop(low, high, &mut |this, at| {
                let at = this.index_of_code(at, space)?;
                this.at(body, at)?;
                let (LoweredValue::Word(condition), number) =
                    (this.values[&hit.condition].clone(), this.values[&hit.number].clone())
                else {
                    unreachable!("a condition is a word")
                };
                let (found, ()) = this.block(|this| {
                    this.assign(&location, &number, ty)?;
                    this.emit(Stmt::Break(label))
                })?;
                this.emit(Stmt::If(condition, found, Vec::new()))
            })
        })?;
        self.emit(Stmt::Block(label, search))?;
        self.read(&location)
    }

    /// A loop in order, inside of which nothing runs in parallel.
    pub(super) fn sequential_loop(
        &mut self,
        low: Reg,
        high: Reg,
        round: &mut dyn FnMut(&mut Self, Reg) -> Result<()>,
    ) -> Result<()> {
        let (label, index) = (self.kernel.new_label(), self.reg(ScalarType::I64));
        let outer = std::mem::replace(&mut self.in_parallel, true);
        let made = self.block(|this| round(this, index));
        self.in_parallel = outer;
        let (body, ()) = made?;
        self.emit(Stmt::For { label, index, low, high, body })
    }

    /// The value of a body at an index.
    fn at(&mut self, body: &'p Block, index: LoweredValue<'p>) -> Result<LoweredValue<'p>> {
        match index {
            LoweredValue::Index(digits) => self.round(body, &digits),
            _ => unreachable!("an index has digits"),
        }
    }

    /// Returns true for a number that changes nothing: the largest where the smallest is asked for.
    fn is_identity(&self, reduction: Reduction<'p>, value: &LoweredValue<'p>) -> bool {
        let (Combine::Prim(op), LoweredValue::Word(reg)) = (reduction.combine, value) else { return false };
        let known = self.kernel.constants.get(reg).copied();
        let element = reduction.ty.element().expect("words are elements");
        known.is_some() && known == idempotent_identity(*op, element)
    }

    /// Two results joined.
    pub(super) fn combine(
        &mut self,
        reduction: Reduction<'p>,
        a: &LoweredValue<'p>,
        b: &LoweredValue<'p>,
    ) -> Result<LoweredValue<'p>> {
        match (reduction.combine, a, b) {
            (Combine::Prim(op), LoweredValue::Word(a), LoweredValue::Word(b)) => {
                let element = reduction.ty.element().expect("words are elements");
                self.arithmetic(*op, element, *a, *b).map(LoweredValue::Word)
            }
            (Combine::Dot, LoweredValue::Word(a), LoweredValue::Word(b)) => {
                self.binary(Binary::Add, *a, *b).map(LoweredValue::Word)
            }
            (Combine::Block(block), a, b) => {
                for (param, lowered) in block.params.iter().zip([a, b]) {
                    let lowered = self.readable(lowered, reduction.ty)?;
                    self.values.insert(param.0, lowered);
                }
                self.stmts(&block.stmts)?;
                let End::Yield(value) = block.end else { unreachable!("a value is joined") };
                Ok(self.values[&value].clone())
            }
            _ => unreachable!("an operation on words"),
        }
    }
}
