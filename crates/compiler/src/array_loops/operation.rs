//! Statements of the array IR, one by one.

use super::digits::OpenedSize;
use super::storage::{ArrayValue, Location, LoweredValue, is_array_in_sum, scalar_type, sized_element};
use super::{Declined, Emitter, Result, Target};
use crate::array_ir::storage::array_count;
use crate::array_ir::visit::Part;
use crate::array_ir::{
    self as ir, Block, Effect, End, FunctionId, Op as ArrayOp, Range, Size, SizeVar, Space,
    Stmt as ArrayStmt, Type, Value,
};
use crate::loop_ir::{Array, Binary, Compare, FunctionCall, Reg, ScalarType, Stmt};
use std::rc::Rc;

/// The values that a call hands over, or that a function gives back.
#[derive(Default)]
struct Handed {
    regs: Vec<Reg>,
    arrays: Vec<(Array, Reg)>,
}

/// The minimum number of result slots from which a loop is parallel, whatever its iteration count.
const MIN_PARALLEL_SLOTS: u64 = 4096;

impl<'p> Emitter<'p> {
    /// Emits statements; leaves early where a statement always leaves.
    pub(super) fn stmts(&mut self, stmts: &'p [ArrayStmt]) -> Result<()> {
        for stmt in stmts {
            let lowered = self.operation(stmt)?;
            self.values.insert(stmt.value, lowered);
        }
        Ok(())
    }

    pub(super) fn word(&self, value: Value) -> Reg {
        match &self.values[&value] {
            LoweredValue::Word(reg) => *reg,
            _ => unreachable!("{value} is a word"),
        }
    }

    fn operation(&mut self, stmt: &'p ArrayStmt) -> Result<LoweredValue<'p>> {
        match &stmt.op {
            ArrayOp::Const(element, bits) => {
                let ty = super::storage::scalar_type(*element);
                self.set(ty, crate::loop_ir::Op::Const(ty, *bits)).map(LoweredValue::Word)
            }
            ArrayOp::Size(size) => self.size_register(size).map(LoweredValue::Word),
            ArrayOp::Prim(prim, values) => {
                let element = values.first().and_then(|value| self.uses.types[value].element());
                let element = element.expect("a primitive is of elements");
                let args: Vec<Reg> = values.iter().map(|value| self.word(*value)).collect();
                self.prim(*prim, element, &args).map(LoweredValue::Word)
            }
            ArrayOp::Select(condition, a, b) if stmt.ty.has_array() => {
                let (location, condition) = (self.location_of(stmt.value)?, self.word(*condition));
                let (then, ()) = self.block(|this| this.move_to(&location, *a))?;
                let (otherwise, ()) = self.block(|this| this.move_to(&location, *b))?;
                self.emit(Stmt::If(condition, then, otherwise))?;
                self.read(&location)
            }
            ArrayOp::Select(condition, a, b) => {
                let (a, b) = (self.values[a].clone(), self.values[b].clone());
                self.select(self.word(*condition), &a, &b)
            }
            ArrayOp::Tuple(values) => {
                Ok(LoweredValue::Tuple(values.iter().map(|v| self.values[v].clone()).collect()))
            }
            ArrayOp::Part(value, part) => match &self.values[value] {
                LoweredValue::Tuple(parts) => Ok(parts[*part as usize].clone()),
                _ => unreachable!("{value} is a tuple"),
            },
            ArrayOp::Array(_, values) => {
                let items = values.iter().map(|value| self.values[value].clone()).collect();
                self.array_of_elements(stmt.value, &stmt.ty, items)
            }
            ArrayOp::Index(array, at) => match self.values[at].clone() {
                LoweredValue::Index(digits) => {
                    let element = self.element(*array, &digits)?;
                    self.with_copied_parts(stmt.value, &element, &stmt.ty, &mut 0)
                }
                _ => unreachable!("{at} is an index"),
            },
            ArrayOp::At(_, digits) => Ok(LoweredValue::Index(self.digits(digits, &[])?.into())),
            ArrayOp::Locate(space, values, _) => {
                let digits: Vec<Reg> = values.iter().map(|value| self.word(*value)).collect();
                let extents = match self.opened(space)? {
                    Some(opened) => vec![opened.count],
                    None => {
                        let extents = self.extents(space)?;
                        extents.into_iter().map(|extent| self.size(extent)).collect::<Result<_>>()?
                    }
                };
                for (digit, extent) in digits.iter().zip(extents) {
                    let fits = self.compare(Compare::LtUnsigned, *digit, extent)?;
                    self.check(fits)?;
                }
                Ok(LoweredValue::Index(digits.into()))
            }
            ArrayOp::TryLocate(size, value) => {
                let (number, size) = (self.word(*value), self.size_register(size)?);
                let (one, zero) = (self.int(1)?, self.int(0)?);
                let is_below = self.compare(Compare::LtUnsigned, number, size)?;
                let after = self.binary(Binary::Add, number, one)?;
                let digit = self.set(ScalarType::I64, crate::loop_ir::Op::Select(is_below, after, zero))?;
                Ok(LoweredValue::Index([digit].into()))
            }
            ArrayOp::Number(digit) => {
                let reg = self.digit(digit, &[])?;
                let index = |value| match self.uses.types[&value] {
                    Type::Index(space) => Ok(space),
                    ty => unreachable!("a digit is of an index, not of {ty}"),
                };
                let bound = ir::digit::bound(digit, None, &index).ok().and_then(|bound| bound.to_constant());
                if let Some(bound) = bound {
                    self.open.last_mut().expect("a block is open").bounds.insert(reg, bound);
                }
                Ok(LoweredValue::Word(reg))
            }
            ArrayOp::Check(condition, ..) => {
                self.check(self.word(*condition))?;
                Ok(LoweredValue::Tuple(Vec::new().into()))
            }
            ArrayOp::Map(body) => self.map(stmt, body),
            ArrayOp::Reduce { combine, grouping, start, body } => {
                self.reduce(combine, *grouping, *start, body, &stmt.ty)
            }
            ArrayOp::View(_, array, digits) => self.view(stmt, *array, digits),
            ArrayOp::Concat(a, b) => self.concat(stmt, *a, *b),
            ArrayOp::For { label, range, state, body } => {
                self.for_loop(stmt.value, *label, *range, *state, body)
            }
            ArrayOp::While { label, state, condition, body } => {
                self.while_loop(stmt.value, *label, *state, condition, body)
            }
            ArrayOp::Block(label, body) => {
                let (location, exit) = (self.location_of(stmt.value)?, self.kernel.new_label());
                self.labels
                    .insert(*label, Target { location: location.clone(), exit, next: Stmt::Break(exit) });
                let stmts = self.ending(body, &location)?;
                self.emit(Stmt::Block(exit, stmts))?;
                self.read(&location)
            }
            ArrayOp::If(condition, then, otherwise) => {
                let location = self.location_of(stmt.value)?;
                let then = self.ending(then, &location)?;
                let otherwise = self.ending(otherwise, &location)?;
                let condition = self.word(*condition);
                self.emit(Stmt::If(condition, then, otherwise))?;
                self.read(&location)
            }
            ArrayOp::Scan { combine, grouping, body } => self.scan(stmt, combine, *grouping, body),
            ArrayOp::ReduceAt { .. } => Err(Declined::Scatter),
            ArrayOp::Order(body) => self.order(stmt, body),
            ArrayOp::Sort(array) => self.sort(stmt, *array),
            ArrayOp::Filter(body) => self.filter(stmt, body),
            ArrayOp::Iota(count) => {
                // Without a bound: nothing of that size is stored.
                let size = OpenedSize { count: self.word(*count), bound: u64::MAX };
                Ok(LoweredValue::Packed(size, Rc::new(ArrayValue::Iota)))
            }
            ArrayOp::Open(vars, value) => self.open(vars, *value),
            ArrayOp::Pack(ty, sizes, value) => self.pack(ty, sizes, *value),
            ArrayOp::Update(array, at, element) => self.update(stmt, *array, *at, *element),
            ArrayOp::Call { function, changes, values, .. } => {
                self.call(stmt, *function, values.split_at(*changes))
            }
            ArrayOp::Io(..) => Err(Declined::Call),
            ArrayOp::Switch(value, blocks) => self.switch(stmt, *value, blocks),
            ArrayOp::Case(ty, case, value) => {
                let Type::Sum(types) = ty else { unreachable!("a case is of a sum") };
                let mut pieces = Vec::new();
                for (other, ty) in (0..).zip(types) {
                    pieces.push(if other == *case {
                        self.values[value].clone()
                    } else {
                        self.undefined_value(ty)?
                    });
                }
                Ok(LoweredValue::Sum(self.int(u64::from(*case))?, pieces.into()))
            }
            ArrayOp::Tag(value) => match &self.values[value] {
                LoweredValue::Sum(tag, _) => Ok(LoweredValue::Word(*tag)),
                _ => unreachable!("{value} is a sum"),
            },
            ArrayOp::Require(..) => Err(Declined::Arrival),
        }
    }

    /// The block of the case of a sum, or of the piece that an index of one digit is in.
    fn switch(&mut self, stmt: &'p ArrayStmt, value: Value, blocks: &'p [Block]) -> Result<LoweredValue<'p>> {
        let location = self.location_of(stmt.value)?;
        // Each case with the condition under which it is this one or one before, and its piece.
        let mut cases = Vec::new();
        match self.values[&value].clone() {
            LoweredValue::Sum(tag, pieces) => {
                for (case, piece) in (0..).zip(pieces.iter()) {
                    let number = self.int(case)?;
                    let is_it = self.compare(Compare::Eq, tag, number)?;
                    cases.push((is_it, piece.clone()));
                }
            }
            LoweredValue::Index(digits) => {
                let mut begin = Size::constant(0);
                for block in blocks {
                    let (_, Type::Index(space)) = &block.params[0] else {
                        unreachable!("a piece is of an index")
                    };
                    let from = self.size_register(&begin)?;
                    let size = space.size().ok_or(Declined::Width)?;
                    begin = begin.add(&size).ok_or(Declined::Width)?;
                    let end = self.size_register(&begin)?;
                    let is_below = self.compare(Compare::LtUnsigned, digits[0], end)?;
                    let digit = self.binary(Binary::Sub, digits[0], from)?;
                    cases.push((is_below, LoweredValue::Index([digit].into())));
                }
            }
            _ => unreachable!("{value} has cases"),
        }
        let mut stmts = Vec::new();
        let last = blocks.len() - 1;
        for (at, (block, (condition, piece))) in blocks.iter().zip(cases).enumerate().rev() {
            self.values.insert(block.params[0].0, piece);
            let own = self.ending(block, &location)?;
            stmts = if at == last { own } else { vec![Stmt::If(condition, own, stmts)] };
        }
        stmts.into_iter().try_for_each(|stmt| self.emit(stmt))?;
        self.read(&location)
    }

    pub(super) fn check(&mut self, condition: Reg) -> Result<()> {
        match self.known(condition) {
            Some(1) => Ok(()),
            _ => self.emit(Stmt::If(condition, Vec::new(), vec![Stmt::Fail])),
        }
    }

    /// The statements of a block whose value goes to a location.
    fn ending(&mut self, block: &'p Block, location: &Location) -> Result<Vec<Stmt>> {
        let (stmts, ()) = self.block(|this| {
            this.stmts(&block.stmts)?;
            this.end(block.end, location)
        })?;
        Ok(stmts)
    }

    /// The end of a block whose value goes to a location.
    fn end(&mut self, end: End, location: &Location) -> Result<()> {
        match end {
            End::Yield(value) => self.move_to(location, value),
            End::Exit(label, value) => {
                let target = &self.labels[&label];
                let (location, exit) = (target.location.clone(), target.exit);
                self.move_to(&location, value)?;
                self.emit(Stmt::Break(exit))
            }
            End::Next(label, value) => {
                let target = &self.labels[&label];
                let (location, next) = (target.location.clone(), target.next.clone());
                self.move_to(&location, value)?;
                self.emit(next)
            }
        }
    }

    // ---- arrays ---------------------------------------------------------------------------

    /// Loops over digits below these extents, one inside the other; `slots` are made in each round
    /// of the innermost one. The outermost loop is parallel if it is profitable and no loop around
    /// it is parallel.
    pub(super) fn loop_nest(
        &mut self,
        extents: &[u64],
        slots: u64,
        round: &mut dyn FnMut(&mut Self, &[Reg]) -> Result<()>,
    ) -> Result<()> {
        if extents.contains(&0) {
            return Ok(());
        }
        let all = extents.iter().fold(slots, |all, extent| all.saturating_mul(*extent));
        let first = extents.iter().find(|extent| **extent > 1);
        let parallel = !self.in_parallel
            && !self.in_lanes
            && (all >= MIN_PARALLEL_SLOTS || first.is_some_and(|extent| *extent > super::MAX_CONSTANT_SIZE));
        self.nest_inside(extents, parallel, &mut Vec::new(), round)
    }

    fn nest_inside(
        &mut self,
        extents: &[u64],
        parallel: bool,
        digits: &mut Vec<Reg>,
        round: &mut dyn FnMut(&mut Self, &[Reg]) -> Result<()>,
    ) -> Result<()> {
        let Some((extent, rest)) = extents.split_first() else { return round(self, digits) };
        if *extent == 1 {
            let zero = self.int(0)?;
            digits.push(zero);
            self.nest_inside(rest, parallel, digits, round)?;
            digits.pop();
            return Ok(());
        }
        let count = self.size(*extent)?;
        let index = self.reg(ScalarType::I64);
        digits.push(index);
        let outer = self.in_parallel;
        self.in_parallel = outer || parallel;
        let body = self.block(|this| this.nest_inside(rest, false, digits, round));
        self.in_parallel = outer;
        digits.pop();
        let (body, ()) = body?;
        if parallel {
            return self.emit(Stmt::ParallelFor { index, count, body });
        }
        let (low, label) = (self.int(0)?, self.kernel.new_label());
        self.emit(Stmt::For { label, index, low, high: count, body })
    }

    fn map(&mut self, stmt: &'p ArrayStmt, body: &'p Block) -> Result<LoweredValue<'p>> {
        let Type::Array(space, element) = &stmt.ty else { unreachable!("a map is an array") };
        let is_opened = self.is_opened(space);
        if is_opened && self.slots(element)? == 0 {
            return Err(Declined::Units);
        }
        match self.capacity(space)? {
            0 => return Ok(LoweredValue::Array(Rc::new(ArrayValue::List(Vec::new())))),
            1 if !is_opened => {
                let zero = self.int(0)?;
                let only = self.readable_round(body, &vec![zero; space.digits.len()], element)?;
                return self.one_element(stmt, only, element);
            }
            _ => {}
        }
        if self.slots(element)? == 0 {
            // Checks are all that there is to do.
            if body.effect() != Effect::Total {
                let extents = self.extents(space)?;
                self.loop_nest(&extents, 1, &mut |this, digits| this.round(body, digits).map(drop))?;
            }
            return self.without_slots(&stmt.ty);
        }
        let pending = LoweredValue::Array(Rc::new(ArrayValue::Pending(&stmt.op)));
        if self.storage.is_delayed(stmt.value) {
            Ok(pending)
        } else {
            self.store_in_class(stmt.value, &pending)
        }
    }

    /// The value of a body at digits, of whose arrays elements can be read.
    pub(super) fn readable_round(
        &mut self,
        body: &'p Block,
        digits: &[Reg],
        ty: &Type,
    ) -> Result<LoweredValue<'p>> {
        let lowered = self.round(body, digits)?;
        self.readable(&lowered, ty)
    }

    /// The value of a body at digits.
    pub(super) fn round(&mut self, body: &'p Block, digits: &[Reg]) -> Result<LoweredValue<'p>> {
        self.values.insert(body.params[0].0, LoweredValue::Index(digits.into()));
        self.stmts(&body.stmts)?;
        match body.end {
            End::Yield(value) => Ok(self.values[&value].clone()),
            End::Next(..) | End::Exit(..) => unreachable!("an element is the end of its block"),
        }
    }

    /// Returns true if the index of a map is only that of elements of other arrays in memory.
    fn is_used_whole(&self, body: &Block) -> bool {
        let index = body.params[0].0;
        let in_memory = |array: Value| {
            let lowered = self.values.get(&array);
            matches!(lowered, Some(LoweredValue::Array(value)) if matches!(**value, ArrayValue::Memory { .. }))
        };
        let mut whole = true;
        body.for_each_block(&mut |block| {
            whole &= block.end.value() != index;
            for stmt in &block.stmts {
                let is_place =
                    matches!(stmt.op, ArrayOp::Index(array, at) if at == index && in_memory(array));
                stmt.op.for_each_part(&mut |part| {
                    whole &= is_place || !matches!(part, Part::Use(used) if *used == index);
                });
            }
        });
        whole
    }

    /// Stores the elements of a map from a slot of an array on.
    pub(super) fn map_into(&mut self, body: &'p Block, array: Array, base: Reg) -> Result<()> {
        let (_, Type::Index(space)) = &body.params[0] else { unreachable!("a map runs over indices") };
        let element: &'p Type = self.uses.types[&body.end.value()];
        let stride = self.slots(element)?;
        let mut round = |this: &mut Self, digits: &[Reg]| {
            let lowered = this.round(body, digits)?;
            let slot = this.slot_of(space, stride, base, digits)?;
            this.store(&lowered, element, array, slot)
        };
        if let Some(opened) = self.opened(space)? {
            let low = self.int(0)?;
            return self.sequential_loop(low, opened.count, &mut |this, at| round(this, &[at]));
        }
        let extents = self.extents(space)?;
        if extents.len() > 1 && self.is_used_whole(body) {
            // The digits are not used one by one: one loop, with more rounds to share.
            let count = self.count(space)?;
            return self.loop_nest(&[count], stride, &mut |this, digits| {
                let LoweredValue::Index(digits) = this.index_of_code(digits[0], space)? else {
                    unreachable!("a code is that of an index")
                };
                round(this, &digits)
            });
        }
        self.loop_nest(&extents, stride, &mut round)
    }

    fn view(
        &mut self,
        stmt: &'p ArrayStmt,
        source: Value,
        digits: &'p [ir::DigitExpr],
    ) -> Result<LoweredValue<'p>> {
        let Type::Array(space, _) = &stmt.ty else { unreachable!("a view is an array") };
        if self.capacity(space)? == 0 {
            return Ok(LoweredValue::Array(Rc::new(ArrayValue::List(Vec::new()))));
        }
        // The pieces of a digit as one size, say; or the first elements.
        let Type::Array(of, _) = self.uses.types[&source] else { unreachable!("a view is of an array") };
        let sizes = |space: &Space| space.digits.iter().skip(1).map(|digit| digit.size()).collect::<Vec<_>>();
        let is_identity = (0..).zip(digits).all(|(at, digit)| *digit == ir::DigitExpr::Target(at));
        if is_identity && sizes(space) == sizes(of) {
            let lowered = self.values[&source].clone();
            return Ok(match &lowered {
                LoweredValue::Array(value) => match &**value {
                    ArrayValue::List(items) => {
                        let count = usize::try_from(self.capacity(space)?).unwrap_or(usize::MAX);
                        let items = items.iter().take(count).cloned().collect();
                        LoweredValue::Array(Rc::new(ArrayValue::List(items)))
                    }
                    _ => lowered,
                },
                _ => lowered,
            });
        }
        Ok(LoweredValue::Array(Rc::new(ArrayValue::View { source, digits })))
    }

    fn concat(&mut self, stmt: &'p ArrayStmt, a: Value, b: Value) -> Result<LoweredValue<'p>> {
        if self.slots(&stmt.ty)? == 0 {
            return self.without_slots(&stmt.ty);
        }
        if self.storage.is_delayed(stmt.value) {
            return Ok(LoweredValue::Array(Rc::new(ArrayValue::Pending(&stmt.op))));
        }
        let array = self.memory_with_room(stmt.value, 0, &stmt.ty)?;
        let zero = self.int(0)?;
        self.concat_into(a, b, array, zero)?;
        self.load(&stmt.ty, array, zero)
    }

    /// Stores two arrays one after the other, from a slot on.
    pub(super) fn concat_into(&mut self, a: Value, b: Value, array: Array, slot: Reg) -> Result<()> {
        let first = self.slots_register(self.uses.types[&a])?;
        let behind = self.binary(Binary::Add, slot, first)?;
        for (part, at) in [(a, slot), (b, behind)] {
            let (lowered, ty) = (self.values[&part].clone(), self.uses.types[&part]);
            self.store(&lowered, ty, array, at)?;
        }
        Ok(())
    }

    /// An array with another element: in its memory, or in a copy if the array is still read.
    fn update(
        &mut self,
        stmt: &'p ArrayStmt,
        array: Value,
        at: Value,
        element: Value,
    ) -> Result<LoweredValue<'p>> {
        let Type::Index(space) = self.uses.types[&at] else { unreachable!("{at} is an index") };
        let levels = stmt.ty.levels_at(space).expect("an array is updated at levels that it has");
        let (_, ty) = *levels.last().expect("an update has a level");
        let new = self.values[&element].clone();
        if self.slots(&stmt.ty)? == 0 {
            return Ok(self.values[&array].clone());
        }
        // Arrays in an element may be those of other values, which change.
        if self.capacity(space)? == 1 && !self.is_opened(space) && !ty.has_array() {
            let one = |lowered, _| LoweredValue::Array(Rc::new(ArrayValue::List(vec![lowered])));
            return Ok(levels.iter().rev().fold(new, one));
        }
        let mut unchanged = self.storage.unchanged_parts(stmt.value).iter().copied();
        let new = without_parts(&new, ty, &mut unchanged);
        // An element that is computed from the array is complete before the array changes.
        let new = self.detached(&new, ty)?;
        let lowered = self.store_for_update(stmt.value, array)?;
        let (array, base) = (self.whole_array(&lowered).expect("an array is stored"), self.int(0)?);
        let LoweredValue::Index(digits) = self.values[&at].clone() else { unreachable!("{at} is an index") };
        let (mut slot, mut digits) = (base, &digits[..]);
        for (space, element) in levels {
            let (own, rest) = digits.split_at(space.digits.len());
            slot = self.slot_of(space, self.slots(element)?, slot, own)?;
            digits = rest;
        }
        self.store(&new, ty, array, slot)?;
        Ok(lowered)
    }

    /// A value whose arrays are in memory.
    fn detached(&mut self, lowered: &LoweredValue<'p>, ty: &Type) -> Result<LoweredValue<'p>> {
        self.stored_unless(lowered, ty, |array| {
            matches!(array, ArrayValue::Memory { .. } | ArrayValue::Repeated(_) | ArrayValue::Unread)
        })
    }

    /// A value of whose arrays elements can be read.
    pub(super) fn readable(&mut self, lowered: &LoweredValue<'p>, ty: &Type) -> Result<LoweredValue<'p>> {
        self.stored_unless(lowered, ty, |array| !matches!(array, ArrayValue::Pending(_)))
    }

    /// A value with its arrays in memory, but for those that stay as they are.
    fn stored_unless(
        &mut self,
        lowered: &LoweredValue<'p>,
        ty: &Type,
        stays: fn(&ArrayValue<'p>) -> bool,
    ) -> Result<LoweredValue<'p>> {
        match (lowered, ty) {
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                let parts = parts.iter().zip(types).map(|(part, ty)| self.stored_unless(part, ty, stays));
                Ok(LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
            }
            (LoweredValue::Sum(tag, pieces), Type::Sum(types)) => {
                let pieces = pieces.iter().zip(types).map(|(piece, ty)| self.stored_unless(piece, ty, stays));
                Ok(LoweredValue::Sum(*tag, pieces.collect::<Result<Vec<_>>>()?.into()))
            }
            (LoweredValue::Array(array), _) if !stays(array) && self.slots(ty)? > 0 => {
                self.store_in_own_memory(lowered, ty)
            }
            (LoweredValue::Packed(_, array), _) if !stays(array) => self.store_in_own_memory(lowered, ty),
            _ => Ok(lowered.clone()),
        }
    }

    // ---- filters ----------------------------------------------------------------------------

    /// The values beside which the block has true, with their number.
    fn filter(&mut self, stmt: &'p ArrayStmt, body: &'p Block) -> Result<LoweredValue<'p>> {
        let (Type::Exists(_, kept), (_, Type::Index(space))) = (&stmt.ty, &body.params[0]) else {
            unreachable!("a filter keeps values of an array");
        };
        let Type::Array(_, element) = &**kept else { unreachable!("a filter gives an array") };
        let (bound, stride) = (self.capacity(space)?, self.slots(element)?);
        if stride == 0 || bound == 0 {
            return Err(Declined::Units);
        }
        let (array, zero) = (self.allocate_for_each(space, element)?, self.int(0)?);
        let location = Location::Word(self.kernel.vars.push(ScalarType::I64));
        self.assign(&location, &LoweredValue::Word(zero), &Type::I64)?;
        let mut round = |this: &mut Self, digits: &[Reg]| {
            let LoweredValue::Tuple(parts) = this.round(body, digits)? else {
                unreachable!("a truth value beside a value")
            };
            let LoweredValue::Word(is_kept) = parts[0] else { unreachable!("a truth value is a word") };
            let LoweredValue::Word(at) = this.read(&location)? else { unreachable!("a count is a word") };
            // One that is not kept is overwritten by the next one.
            let store = |this: &mut Self| {
                let slot = this.first_slot(at, stride)?;
                this.store(&parts[1], element, array, slot)
            };
            if element.has_array() {
                let (stmts, ()) = this.block(store)?;
                this.emit(Stmt::If(is_kept, stmts, Vec::new()))?;
            } else {
                store(this)?;
            }
            let next = this.binary(Binary::Add, at, is_kept)?;
            this.assign(&location, &LoweredValue::Word(next), &Type::I64)
        };
        self.loops_in_order(space, &mut round)?;
        let LoweredValue::Word(count) = self.read(&location)? else { unreachable!("a count is a word") };
        let kept = Rc::new(ArrayValue::Memory { array, base: zero });
        Ok(LoweredValue::Packed(OpenedSize { count, bound }, kept))
    }

    /// The array of a packed value, whose size is that of a variable from here on.
    fn open(&mut self, vars: &[SizeVar], value: Value) -> Result<LoweredValue<'p>> {
        match (vars, &self.values[&value]) {
            ([var], LoweredValue::Packed(size, array)) => {
                self.opened.push((*var, *size));
                Ok(LoweredValue::Array(array.clone()))
            }
            _ => Err(Declined::Arrival),
        }
    }

    /// An array with its size.
    fn pack(&mut self, ty: &Type, sizes: &[Size], value: Value) -> Result<LoweredValue<'p>> {
        let ([size], LoweredValue::Array(array), Some(_)) =
            (sizes, self.values[&value].clone(), sized_element(ty))
        else {
            return Err(Declined::Arrival);
        };
        let space = Space::new([size.clone()]);
        let (count, bound) = (self.size_register(size)?, self.capacity(&space)?);
        Ok(LoweredValue::Packed(OpenedSize { count, bound }, array))
    }

    // ---- loops in order -------------------------------------------------------------------

    fn for_loop(
        &mut self,
        value: Value,
        label: ir::Label,
        range: Option<Range>,
        state: Value,
        body: &'p Block,
    ) -> Result<LoweredValue<'p>> {
        let location = self.location_of(value)?;
        self.move_to(&location, state)?;
        let round = |this: &mut Self, index: LoweredValue<'p>| {
            let before = this.read(&location)?;
            this.values.insert(body.params[0].0, index);
            this.values.insert(body.params[1].0, before);
            this.stmts(&body.stmts)?;
            this.end(body.end, &location)
        };
        let exit = self.kernel.new_label();
        let target = |next: Stmt| Target { location: location.clone(), exit, next };
        match range {
            Some(Range { low, high, inclusive }) => {
                self.labels.insert(label, target(Stmt::Continue(exit)));
                let (low, mut high) = (self.word(low), self.word(high));
                if inclusive {
                    // The largest integer itself as an end: the evaluator knows where to stop.
                    let most = self.int(i64::MAX as u64)?;
                    let is_less = self.compare(Compare::Lt, high, most)?;
                    self.check(is_less)?;
                    let one = self.int(1)?;
                    high = self.binary(Binary::Add, high, one)?;
                }
                let index = self.reg(ScalarType::I64);
                let (body, ()) = self.block(|this| round(this, LoweredValue::Word(index)))?;
                self.emit(Stmt::For { label: exit, index, low, high, body })?;
            }
            None => {
                let (_, Type::Index(space)) = &body.params[0] else { unreachable!("a loop over indices") };
                let opened = self.opened(space)?;
                let extents = if opened.is_some() { Vec::new() } else { self.extents(space)? };
                if !extents.contains(&0) {
                    // A round is a block, which `next` leaves; all of them are one, which an exit
                    // leaves.
                    let next = self.kernel.new_label();
                    self.labels.insert(label, target(Stmt::Break(next)));
                    let (stmts, ()) = self.block(|this| {
                        let mut round = |this: &mut Self, digits: &[Reg]| {
                            if !this.uses.continued.contains(&label) {
                                return round(this, LoweredValue::Index(digits.into()));
                            }
                            let (stmts, ()) =
                                this.block(|this| round(this, LoweredValue::Index(digits.into())))?;
                            this.emit(Stmt::Block(next, stmts))
                        };
                        match opened {
                            Some(opened) => {
                                let (low, label) = (this.int(0)?, this.kernel.new_label());
                                let index = this.reg(ScalarType::I64);
                                let (body, ()) = this.block(|this| round(this, &[index]))?;
                                this.emit(Stmt::For { label, index, low, high: opened.count, body })
                            }
                            None => this.nest_inside(&extents, false, &mut Vec::new(), &mut round),
                        }
                    })?;
                    if self.uses.left.contains(&label) {
                        self.emit(Stmt::Block(exit, stmts))?;
                    } else {
                        stmts.into_iter().try_for_each(|stmt| self.emit(stmt))?;
                    }
                }
            }
        }
        self.read(&location)
    }

    /// Loops in order over digits below these extents; nothing inside runs in parallel.
    pub(super) fn sequential_loops(
        &mut self,
        extents: &[u64],
        digits: &mut Vec<Reg>,
        round: &mut dyn FnMut(&mut Self, &[Reg]) -> Result<()>,
    ) -> Result<()> {
        let outer = std::mem::replace(&mut self.in_parallel, true);
        let done = self.nest_inside(extents, false, digits, round);
        self.in_parallel = outer;
        done
    }

    /// Loops in order over the indices of a space, whose size may be opened.
    pub(super) fn loops_in_order(
        &mut self,
        space: &Space,
        round: &mut dyn FnMut(&mut Self, &[Reg]) -> Result<()>,
    ) -> Result<()> {
        match self.opened(space)? {
            Some(opened) => {
                let low = self.int(0)?;
                self.sequential_loop(low, opened.count, &mut |this, at| round(this, &[at]))
            }
            None => {
                let extents = self.extents(space)?;
                self.sequential_loops(&extents, &mut Vec::new(), round)
            }
        }
    }

    fn while_loop(
        &mut self,
        value: Value,
        label: ir::Label,
        state: Value,
        condition: &'p Block,
        body: &'p Block,
    ) -> Result<LoweredValue<'p>> {
        let location = self.location_of(value)?;
        self.move_to(&location, state)?;
        let exit = self.kernel.new_label();
        self.labels.insert(label, Target { location: location.clone(), exit, next: Stmt::Continue(exit) });
        let (stmts, ()) = self.block(|this| {
            let now = this.read(&location)?;
            this.values.insert(condition.params[0].0, now.clone());
            this.stmts(&condition.stmts)?;
            let goes_on = this.word(condition.end.value());
            this.emit(Stmt::If(goes_on, Vec::new(), vec![Stmt::Break(exit)]))?;
            this.values.insert(body.params[0].0, now);
            this.stmts(&body.stmts)?;
            this.end(body.end, &location)
        })?;
        self.emit(Stmt::Loop(exit, stmts))?;
        self.read(&location)
    }

    // ---- calls of recursive functions -----------------------------------------------------

    /// A call of a function that changes the variables with some values, and is given others.
    pub(super) fn call(
        &mut self,
        stmt: &'p ArrayStmt,
        function: FunctionId,
        (variables, others): (&[Value], &[Value]),
    ) -> Result<LoweredValue<'p>> {
        let number = function.index().checked_sub(1).ok_or(Declined::Call)?;
        let (mut given, mut taken, mut changed) = (Handed::default(), Handed::default(), Handed::default());
        let result = match &stmt.ty {
            Type::Tuple(types) if !variables.is_empty() => {
                let mut next = 0;
                let mut parts = vec![self.take_back(stmt.value, &types[0], &mut next, &mut taken)?];
                let mut own = Handed::default();
                for (value, ty) in variables.iter().zip(&types[1..]) {
                    let lowered = self.values[value].clone();
                    let stored = self.store_at_result(stmt.value, &lowered, ty, &mut next.clone())?;
                    self.hand_over(&stored, ty, &mut changed)?;
                    parts.push(self.take_back(stmt.value, ty, &mut next, &mut own)?);
                }
                taken.regs.extend(own.regs);
                if changed.arrays != own.arrays {
                    return Err(Declined::Width);
                }
                LoweredValue::Tuple(parts.into())
            }
            ty => self.take_back(stmt.value, ty, &mut 0, &mut taken)?,
        };
        given.regs = changed.regs;
        for value in others {
            let (lowered, ty) = (self.values[value].clone(), self.uses.types[value]);
            self.hand_over(&lowered, ty, &mut given)?;
        }
        self.emit(Stmt::Call(FunctionCall {
            function: number as u32,
            args: given.regs,
            read: given.arrays,
            changed: changed.arrays,
            written: taken.arrays,
            results: taken.regs,
        }))?;
        Ok(result)
    }

    /// Collects the words and arrays of an argument.
    fn hand_over(&mut self, lowered: &LoweredValue<'p>, ty: &Type, given: &mut Handed) -> Result<()> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        match (lowered, ty) {
            (LoweredValue::Word(reg), _) => given.regs.push(*reg),
            (LoweredValue::Index(digits), Type::Index(space)) => {
                let extents = self.extents(space)?;
                let passed = digits.iter().zip(extents).filter(|(_, extent)| *extent != 1);
                given.regs.extend(passed.map(|(digit, _)| *digit));
            }
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                for (part, ty) in parts.iter().zip(types) {
                    self.hand_over(part, ty, given)?;
                }
            }
            (LoweredValue::Sum(tag, pieces), Type::Sum(types)) => {
                given.regs.push(*tag);
                for (piece, ty) in pieces.iter().zip(types) {
                    self.hand_over(piece, ty, given)?;
                }
            }
            (LoweredValue::Array(_), Type::Array(..)) if self.slots(ty)? == 0 => {}
            (LoweredValue::Array(value), Type::Array(..)) => {
                let width = self.class(ty)?.bytes();
                let place = |value: &ArrayValue<'p>| match value {
                    ArrayValue::Memory { array, base } => Some((*array, *base)),
                    _ => None,
                };
                let fits = |(array, _): &(Array, Reg)| u64::from(self.kernel.arrays[*array].width) == width;
                let known = place(value).filter(fits);
                given.arrays.push(match known {
                    Some(place) => place,
                    None => match self.store_in_own_memory(lowered, ty)? {
                        LoweredValue::Array(stored) => place(&stored).expect("an array that was stored"),
                        _ => unreachable!("an array is stored as one"),
                    },
                });
            }
            _ => return Err(Declined::Arrival),
        }
        Ok(())
    }

    /// The value that a call gives, with the registers and the memory that hold it; `next` is the
    /// position of its first array among those of the value.
    fn take_back(
        &mut self,
        value: Value,
        ty: &Type,
        next: &mut usize,
        taken: &mut Handed,
    ) -> Result<LoweredValue<'p>> {
        if is_array_in_sum(ty) {
            return Err(Declined::Sum);
        }
        let mut word = |this: &mut Self, ty: ScalarType| {
            taken.regs.push(this.reg(ty));
            taken.regs[taken.regs.len() - 1]
        };
        Ok(match ty {
            Type::Element(element) => LoweredValue::Word(word(self, scalar_type(*element))),
            Type::Index(space) => LoweredValue::Index(self.digits_of_result(space, &mut word)?.into()),
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.take_back(value, ty, next, taken));
                LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into())
            }
            Type::Sum(types) => {
                let tag = word(self, ScalarType::I64);
                let pieces = types.iter().map(|ty| self.take_back(value, ty, next, taken));
                LoweredValue::Sum(tag, pieces.collect::<Result<Vec<_>>>()?.into())
            }
            Type::Array(..) => {
                *next += 1;
                if self.slots(ty)? == 0 {
                    return self.without_slots(ty);
                }
                let width = self.class(ty)?.bytes();
                let own = self.memory_with_room(value, *next - 1, ty)?;
                let array = match u64::from(self.kernel.arrays[own].width) == width {
                    true => own,
                    false => self.allocate(ty)?,
                };
                let base = self.int(0)?;
                taken.arrays.push((array, base));
                self.load(ty, array, base)?
            }
            Type::Exists(..) => return Err(Declined::Arrival),
        })
    }

    fn digits_of_result(
        &mut self,
        space: &Space,
        word: &mut dyn FnMut(&mut Self, ScalarType) -> Reg,
    ) -> Result<Vec<Reg>> {
        let mut digits = Vec::new();
        for extent in self.extents(space)? {
            digits.push(match extent {
                1 => self.int(0)?,
                _ => word(self, ScalarType::I64),
            });
        }
        Ok(digits)
    }
}

/// A value of a type without those of its arrays for which `left_out` is true, in order.
fn without_parts<'p>(
    lowered: &LoweredValue<'p>,
    ty: &Type,
    left_out: &mut impl Iterator<Item = bool>,
) -> LoweredValue<'p> {
    match (lowered, ty) {
        (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
            let parts = parts.iter().zip(types).map(|(part, ty)| without_parts(part, ty, left_out));
            LoweredValue::Tuple(parts.collect())
        }
        (_, Type::Array(..)) if left_out.next() == Some(true) => {
            LoweredValue::Array(Rc::new(ArrayValue::Unread))
        }
        (_, Type::Array(..)) => lowered.clone(),
        (_, ty) => {
            left_out.take(array_count(ty)).for_each(drop);
            lowered.clone()
        }
    }
}
