//! Filters, and arrays whose size is known when the kernel runs.
//!
//! A filter stores the values that it keeps one behind another, in memory for all of them, and
//! counts them. A statement that opens it gives the count to a size variable ([`OpenedSize`]); loops
//! over indices below it end there, in order. Memory of such an array is that for the most values
//! that there may be. What mentions the size otherwise than as the one digit of a space is declined.

use super::storage::{ArrayValue, Location, LoweredValue};
use super::{Declined, Emitter, Result};
use crate::array_ir::{Block, Size, SizeVar, Space, Stmt as ArrayStmt, Type, Value};
use crate::loop_ir::{Binary, Reg, ScalarType, Stmt};
use std::rc::Rc;

/// A size that is known when the kernel runs.
#[derive(Clone, Copy)]
pub(super) struct OpenedSize {
    /// The size.
    pub(super) count: Reg,
    /// The largest size that there may be.
    pub(super) bound: u64,
}

impl<'p> Emitter<'p> {
    /// The size of a space of one digit that is opened.
    pub(super) fn opened(&self, space: &Space) -> Option<OpenedSize> {
        match &space.digits[..] {
            [digit] => self.opened_size(&digit.size()?),
            _ => None,
        }
    }

    /// The opened size that a size is.
    pub(super) fn opened_size(&self, size: &Size) -> Option<OpenedSize> {
        if size.to_constant().is_some() {
            return None;
        }
        self.opened.iter().find(|(var, _)| *size == Size::var(*var)).map(|(_, opened)| *opened)
    }

    /// The number of indices of a space, or the most that there may be.
    pub(super) fn capacity(&self, space: &Space) -> Result<u64> {
        match self.opened(space) {
            Some(opened) => Ok(opened.bound),
            None => self.count(space),
        }
    }

    /// The values beside which the block has true, with their number.
    pub(super) fn filter(&mut self, stmt: &'p ArrayStmt, body: &'p Block) -> Result<LoweredValue<'p>> {
        let (Type::Exists(_, kept), (_, Type::Index(space))) = (&stmt.ty, &body.params[0]) else {
            unreachable!("a filter keeps values of an array");
        };
        let Type::Array(_, element) = &**kept else { unreachable!("a filter gives an array") };
        let (bound, stride) = (self.capacity(space)?, self.slots(element)?);
        if stride == 0 || bound == 0 {
            return Err(Declined::Units);
        }
        let array = self.allocate_elements(element, bound)?;
        let zero = self.int(0)?;
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
        match self.opened(space) {
            Some(source) => self.sequential_loop(zero, source.count, &mut |this, at| round(this, &[at]))?,
            None => {
                let extents = self.extents(space)?;
                self.sequential_loops(&extents, &mut Vec::new(), &mut round)?;
            }
        }
        let LoweredValue::Word(count) = self.read(&location)? else { unreachable!("a count is a word") };
        let kept = Rc::new(ArrayValue::Memory { array, base: zero });
        Ok(LoweredValue::Packed(OpenedSize { count, bound }, kept))
    }

    /// The array of a packed value, whose size is that of a variable from here on.
    pub(super) fn open(&mut self, vars: &[SizeVar], value: Value) -> Result<LoweredValue<'p>> {
        match (vars, &self.values[&value]) {
            ([var], LoweredValue::Packed(size, array)) => {
                self.opened.push((*var, *size));
                Ok(LoweredValue::Array(array.clone()))
            }
            _ => Err(Declined::Arrival),
        }
    }

    /// An array with its size.
    pub(super) fn pack(&mut self, ty: &Type, sizes: &[Size], value: Value) -> Result<LoweredValue<'p>> {
        let is_one = matches!(ty, Type::Exists(1, inner)
            if matches!(&**inner, Type::Array(space, element) if *space == Space::new([Size::bound(0)])
                && !element.has_array()));
        let ([size], LoweredValue::Array(array), true) = (sizes, self.values[&value].clone(), is_one) else {
            return Err(Declined::Arrival);
        };
        let size = match self.opened_size(size) {
            Some(opened) => opened,
            None => {
                let bound = self.number(size)?;
                OpenedSize { count: self.size(bound)?, bound }
            }
        };
        Ok(LoweredValue::Packed(size, array))
    }
}
