//! Arrays whose elements depend on many others: running reductions and sorts.
//!
//! A running reduction is grouped as [`crate::core::reduction`] says: within chunks first, then
//! each chunk joined to all before it. Where the grouping means nothing and values cost little, it
//! is one loop in order, which [`parallel_reduction`](crate::loop_ir::pass) cuts: each value is
//! computed twice, and goes to memory once. A sort is one statement of the loop form, of memory.

use super::reduce::Reduction;
use super::storage::{ArrayValue, LoweredValue, scalar_type};
use super::{Declined, Emitter, Result};
use crate::array_ir::validate::is_reassociable;
use crate::array_ir::{
    Block, Combine, Effect, Grouping, Op as ArrayOp, Prim, Space, Stmt as ArrayStmt, Type, Value,
};
use crate::core::reduction::CHUNK;
use crate::loop_ir::{Array, Binary, Reg, ScalarType, Sort, Stmt};
use std::rc::Rc;

/// Elements of the longest sort: nobody interrupts one. The evaluator sorts more.
const MAX_SORTED: u64 = 1 << 20;

/// Statements of the longest block whose values cost little.
const MAX_CHEAP_STATEMENTS: usize = 16;

/// Returns true if all groupings of a reduction give the same bits.
fn has_any_grouping(reduction: Reduction<'_>) -> bool {
    let Combine::Prim(op) = reduction.combine else { return false };
    reduction.ty.element().is_some_and(|element| is_reassociable(*op, element))
}

/// Returns true if the value of a block costs less than the way to memory and back.
fn is_cheap(body: &Block) -> bool {
    let is_plain = |stmt: &ArrayStmt| {
        let is_function = matches!(stmt.op, ArrayOp::Prim(Prim::Function(_), _));
        stmt.op.blocks().is_empty() && !stmt.ty.has_array() && !is_function
    };
    body.stmts.len() <= MAX_CHEAP_STATEMENTS
        && body.effect() == Effect::Total
        && body.stmts.iter().all(is_plain)
}

impl<'p> Emitter<'p> {
    pub(super) fn scan(
        &mut self,
        stmt: &'p ArrayStmt,
        combine: &'p Combine,
        grouping: Grouping,
        body: &'p Block,
    ) -> Result<LoweredValue<'p>> {
        let Type::Array(space, ty) = &stmt.ty else { unreachable!("a scan is an array") };
        let reduction = Reduction { combine, body, space, ty, first_hit: None };
        let (count, slots) = (self.count(space)?, self.slots(ty)?);
        match count {
            0 => return Ok(LoweredValue::Array(Rc::new(ArrayValue::List(Vec::new())))),
            1 => {
                let zero = self.int(0)?;
                let only = self.element_at(reduction, zero)?;
                return self.one_element(stmt, only, ty);
            }
            _ if slots == 0 => return Err(Declined::Units),
            _ => {}
        }
        let out = self.memory_with_room(stmt.value, 0, &stmt.ty)?;
        let in_order = grouping == Grouping::Left || has_any_grouping(reduction) && is_cheap(body);
        let chunks = if in_order { 1 } else { count.div_ceil(CHUNK as u64) };
        let zero = self.int(0)?;
        if chunks == 1 {
            let high = self.size(count)?;
            self.running(reduction, out, zero, high)?;
            return self.load(&stmt.ty, out, zero);
        }
        self.loop_nest(&[chunks], CHUNK as u64, &mut |this, chunk| {
            let (low, high) = this.chunk_bounds(chunk[0], count)?;
            this.running(reduction, out, low, high)
        })?;
        // The results before each chunk but the first: the last ones of the chunks before, joined.
        let before = self.allocate_elements(ty, chunks - 1)?;
        let last = self.last(reduction, out, zero, count)?;
        self.store(&last, ty, before, zero)?;
        let (low, high) = (self.int(1)?, self.size(chunks - 1)?);
        self.sequential_loop(low, high, &mut |this, chunk| {
            let last = this.last(reduction, out, chunk, count)?;
            let total = this.element_before(reduction, before, chunk)?;
            let joined = this.combine(reduction, &total, &last)?;
            let slot = this.first_slot(chunk, slots)?;
            this.store(&joined, ty, before, slot)
        })?;
        self.loop_nest(&[chunks - 1], CHUNK as u64, &mut |this, earlier| {
            let slot = this.first_slot(earlier[0], slots)?;
            let total = this.load(ty, before, slot)?;
            let one = this.int(1)?;
            let chunk = this.binary(Binary::Add, earlier[0], one)?;
            let (low, high) = this.chunk_bounds(chunk, count)?;
            this.sequential_loop(low, high, &mut |this, at| {
                let slot = this.first_slot(at, slots)?;
                let own = this.load(ty, out, slot)?;
                let mut joined = this.combine(reduction, &total, &own)?;
                // An array is read while the result is written.
                if ty.has_array() {
                    joined = this.store_in_own_memory(&joined, ty)?;
                }
                this.store(&joined, ty, out, slot)
            })
        })?;
        self.load(&stmt.ty, out, zero)
    }

    /// The running results of the elements of one chunk, of which there is at least one.
    fn running(&mut self, reduction: Reduction<'p>, out: Array, low: Reg, high: Reg) -> Result<()> {
        let ty = reduction.ty;
        let slots = self.slots(ty)?;
        let first = self.element_at(reduction, low)?;
        // The last result is kept in registers if it can be.
        let location = if ty.has_array() { None } else { Some(self.new_location(ty)?) };
        if let Some(location) = &location {
            self.assign(location, &first, ty)?;
        }
        let slot = self.first_slot(low, slots)?;
        self.store(&first, ty, out, slot)?;
        let one = self.int(1)?;
        let second = self.binary(Binary::Add, low, one)?;
        self.sequential_loop(second, high, &mut |this, at| {
            let value = this.element_at(reduction, at)?;
            let total = match &location {
                Some(location) => this.read(location)?,
                None => this.element_before(reduction, out, at)?,
            };
            let joined = this.combine(reduction, &total, &value)?;
            if let Some(location) = &location {
                this.assign(location, &joined, ty)?;
            }
            let slot = this.first_slot(at, slots)?;
            this.store(&joined, ty, out, slot)
        })
    }

    /// The element of a code.
    fn element_at(&mut self, reduction: Reduction<'p>, code: Reg) -> Result<LoweredValue<'p>> {
        let LoweredValue::Index(digits) = self.index_of_code(code, reduction.space)? else {
            unreachable!("a code is that of an index")
        };
        self.readable_round(reduction.body, &digits, reduction.ty)
    }

    /// The last running result of a chunk.
    fn last(
        &mut self,
        reduction: Reduction<'p>,
        out: Array,
        chunk: Reg,
        count: u64,
    ) -> Result<LoweredValue<'p>> {
        let (_, end) = self.chunk_bounds(chunk, count)?;
        self.element_before(reduction, out, end)
    }

    /// The element in memory before a position.
    fn element_before(
        &mut self,
        reduction: Reduction<'p>,
        array: Array,
        at: Reg,
    ) -> Result<LoweredValue<'p>> {
        let one = self.int(1)?;
        let before = self.binary(Binary::Sub, at, one)?;
        let slot = self.first_slot(before, self.slots(reduction.ty)?)?;
        self.load(reduction.ty, array, slot)
    }

    // ---- sorts ----------------------------------------------------------------------------

    /// The elements of an array in ascending order: in its memory, or in a copy if the array is
    /// still read.
    pub(super) fn sort(&mut self, stmt: &'p ArrayStmt, array: Value) -> Result<LoweredValue<'p>> {
        let Type::Array(space, element) = &stmt.ty else { unreachable!("what is sorted is an array") };
        if self.slots(&stmt.ty)? == 0 {
            return Ok(self.values[&array].clone());
        }
        let count = self.sorted_count(space)?;
        let ty = match &**element {
            Type::Element(element) => scalar_type(*element),
            _ => ScalarType::I64,
        };
        let lowered = self.store_for_update(stmt.value, array)?;
        let (keys, at) = (self.whole_array(&lowered).expect("an array is stored"), self.int(0)?);
        self.emit(Stmt::Sort(Sort { ty, indices: false, count, into: keys, first: at, keys, at }))?;
        Ok(lowered)
    }

    /// The indices of a space in the ascending order of the keys that a block gives.
    pub(super) fn order(&mut self, stmt: &'p ArrayStmt, body: &'p Block) -> Result<LoweredValue<'p>> {
        let (_, Type::Index(space)) = &body.params[0] else { unreachable!("an order is of indices") };
        let key = self.uses.types[&body.end.value()];
        let Type::Element(element) = key else { return Err(Declined::Scatter) };
        let (capacity, first) = (self.capacity(space)?, self.int(0)?);
        if self.slots(&stmt.ty)? == 0 {
            self.loops_in_order(space, &mut |this, digits| this.round(body, digits).map(drop))?;
            return self.without_slots(&stmt.ty);
        }
        let count = self.sorted_count(space)?;
        let keys = self.allocate_elements(key, capacity)?;
        self.map_into(body, keys, first)?;
        let into = self.memory_with_room(stmt.value, 0, &stmt.ty)?;
        let ty = scalar_type(*element);
        self.emit(Stmt::Sort(Sort { ty, indices: true, count, into, first, keys, at: first }))?;
        self.load(&stmt.ty, into, first)
    }

    /// The number of elements of a sort. One that runs once is left to the evaluator, which needs
    /// no code for it, and so is a very long one.
    fn sorted_count(&mut self, space: &Space) -> Result<Reg> {
        if self.open.len() == 1 || self.capacity(space)? > MAX_SORTED {
            return Err(Declined::Scatter);
        }
        let size = space.size().ok_or(Declined::Width)?;
        self.size_register(&size)
    }
}
