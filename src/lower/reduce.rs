//! Reductions and scans, as [`crate::core::reduction`] defines them.

use super::{A, Fun, Lower, No, Place, Result, V};
use crate::core::reduction::{self, CHUNK, Joining};
use crate::loops::{Array, Binary, Compare, Op, Origin, Reg, Stmt, Ty};
use crate::types::{Scalar, Type};
use std::rc::Rc;

impl<'a> Lower<'a> {
    /// Elements joined as [`reduction`] has it.
    pub(super) fn reduce(
        &mut self,
        op: &Fun<'a>,
        zero: &V<'a>,
        x: &V<'a>,
        types: &[Type],
        from: &Type,
    ) -> Result<V<'a>> {
        let element = types.first().cloned().ok_or(No("a reduction without types"))?;
        // Not by the type of `x`: an array of one array is that array.
        let index = types.get(1).ok_or(No("a reduction without types"))?;
        let count = self.count(index)?;
        match count {
            0 => return Ok(zero.clone()),
            1 => return self.apply(op, zero.clone(), x.clone(), &element),
            _ => {}
        }
        let layout = self.stored(&element)?;
        if layout.slots == 0 {
            return Err(No("a reduction of units"));
        }
        let lanes = match element.as_scalar() {
            Some(Scalar::Real | Scalar::Single) => {
                reduction::joining(self.program, op.function, &op.type_args)
            }
            _ => None,
        };
        let chunks = count.div_ceil(CHUNK as u64);
        let place = self.place_for(&element)?;
        self.assign(&place, zero, &element)?;
        if chunks == 1 {
            let (low, high) = (self.int(0)?, self.size(count)?);
            let part = self.chunk(op, lanes, x, &element, (from, count), low, high)?;
            self.join(op, &place, &part, &element)?;
            return self.frozen(&place);
        }
        if !self.at_top() {
            self.nested(&[chunks], false, CHUNK as u64, &mut |this, indices| {
                let V::Word(chunk) = indices[0] else { return Err(No("a chunk without number")) };
                let (low, high) = this.bounds(chunk, count)?;
                let part = this.chunk(op, lanes, x, &element, (from, count), low, high)?;
                this.join(op, &place, &part, &element)
            })?;
            return self.frozen(&place);
        }
        let slots = layout.slots as u64;
        let partial = self.array(Origin::Scratch, layout.class, chunks * slots)?;
        self.nested(&[chunks], true, CHUNK as u64, &mut |this, indices| {
            let V::Word(chunk) = indices[0] else { return Err(No("a chunk without number")) };
            let (low, high) = this.bounds(chunk, count)?;
            let part = this.chunk(op, lanes, x, &element, (from, count), low, high)?;
            let slot = this.scaled(chunk, layout.slots)?;
            this.fill(partial, slot, &part, &element)
        })?;
        self.nested(&[chunks], false, CHUNK as u64, &mut |this, indices| {
            let V::Word(chunk) = indices[0] else { return Err(No("a chunk without number")) };
            let slot = this.scaled(chunk, layout.slots)?;
            let part = this.fetch(partial, slot, &element, false)?;
            this.join(op, &place, &part, &element)
        })?;
        self.frozen(&place)
    }

    /// Where a chunk of so many elements begins and ends.
    fn bounds(&mut self, chunk: Reg, count: u64) -> Result<(Reg, Reg)> {
        let (each, all) = (self.int(CHUNK as u64)?, self.size(count)?);
        let low = self.binary(Binary::Mul, chunk, each)?;
        let end = self.binary(Binary::Add, low, each)?;
        let less = self.set(Ty::I64, Op::Compare(Compare::Lt, end, all))?;
        let high = self.set(Ty::I64, Op::Select(less, end, all))?;
        Ok((low, high))
    }

    /// Running results as [`reduction`] has them: within chunks first, then over the chunks.
    pub(super) fn scan(
        &mut self,
        op: &Fun<'a>,
        x: &V<'a>,
        types: &[Type],
        from: &Type,
        to: &Type,
    ) -> Result<V<'a>> {
        let [element, index] = types else { return Err(No("a scan without types")) };
        let count = self.count(index)?;
        if count <= 1 {
            return Ok(x.clone());
        }
        let layout = self.stored(element)?;
        if layout.slots == 0 {
            return Err(No("a scan of units"));
        }
        let out = self.scratch(&*self.stored(to)?)?;
        let scanned = V::Array(Rc::new(A::Stored { array: out, base: self.int(0)?, changing: false }));
        let chunks = count.div_ceil(CHUNK as u64);
        if chunks == 1 {
            let (low, high) = (self.int(0)?, self.size(count)?);
            self.running(op, x, element, (from, count), out, low, high)?;
            return Ok(scanned);
        }
        let top = self.at_top();
        self.nested(&[chunks], top, CHUNK as u64, &mut |this, indices| {
            let V::Word(chunk) = indices[0] else { return Err(No("a chunk without number")) };
            let (low, high) = this.bounds(chunk, count)?;
            this.running(op, x, element, (from, count), out, low, high)
        })?;
        // What comes before each chunk but the first: the last result of the chunk before.
        let later = self.size(chunks - 1)?;
        let before = self.array(Origin::Scratch, layout.class, (chunks - 1) * layout.slots as u64)?;
        let (zero, label, chunk) = (self.int(0)?, self.label(), self.reg(Ty::I64));
        let place = self.place_for(element)?;
        let (body, ()) = self.block(|this| {
            let (_, end) = this.bounds(chunk, count)?;
            let one = this.int(1)?;
            let last = this.binary(Binary::Sub, end, one)?;
            let last = this.scaled(last, layout.slots)?;
            let last = this.fetch(out, last, element, false)?;
            let first = this.set(Ty::I64, Op::Compare(Compare::Eq, chunk, zero))?;
            let (start, ()) = this.perhaps(|this| this.assign(&place, &last, element))?;
            let (join, ()) = this.perhaps(|this| this.join(op, &place, &last, element))?;
            this.emit(Stmt::If(first, start, join))?;
            let total = this.read(&place)?;
            let slot = this.scaled(chunk, layout.slots)?;
            this.fill(before, slot, &total, element)
        })?;
        self.emit(Stmt::For { label, index: chunk, low: zero, high: later, body })?;
        self.nested(&[chunks - 1], top, CHUNK as u64, &mut |this, indices| {
            let earlier = indices[0].clone();
            let earlier = this.as_word(&earlier, &Type::int())?;
            let slot = this.scaled(earlier, layout.slots)?;
            let before = this.fetch(before, slot, element, false)?;
            let one = this.int(1)?;
            let chunk = this.binary(Binary::Add, earlier, one)?;
            let (low, high) = this.bounds(chunk, count)?;
            let (label, at) = (this.label(), this.reg(Ty::I64));
            let (body, ()) = this.perhaps(|this| {
                let slot = this.scaled(at, layout.slots)?;
                let total = this.fetch(out, slot, element, true)?;
                let joined = this.apply(op, before.clone(), total, element)?;
                this.assign(&Place::Memory(out, slot), &joined, element)
            })?;
            this.emit(Stmt::For { label, index: at, low, high, body })
        })?;
        Ok(scanned)
    }

    /// The running results of the elements of one chunk, of which there is at least one.
    #[allow(clippy::too_many_arguments)] // a scan has that many parts
    fn running(
        &mut self,
        op: &Fun<'a>,
        x: &V<'a>,
        element: &Type,
        (from, count): (&Type, u64),
        out: Array,
        low: Reg,
        high: Reg,
    ) -> Result<()> {
        let slots = self.stored(element)?.slots;
        let place = self.place_for(element)?;
        let first = self.index(x, from, &V::Word(low), element)?;
        self.assign(&place, &first, element)?;
        let slot = self.scaled(low, slots)?;
        let total = self.read(&place)?;
        self.fill(out, slot, &total, element)?;
        let one = self.int(1)?;
        let second = self.binary(Binary::Add, low, one)?;
        let (label, index) = (self.label(), self.reg(Ty::I64));
        self.facts.bound(index, count);
        self.strict.whole(index, count);
        let body = self.times(count.min(CHUNK as u64), |this| {
            this.block(|this| {
                let value = this.index(x, from, &V::Word(index), element)?;
                this.join(op, &place, &value, element)?;
                let slot = this.scaled(index, slots)?;
                let total = this.read(&place)?;
                this.fill(out, slot, &total, element)
            })
        });
        let (body, ()) = body?;
        self.emit(Stmt::For { label, index, low: second, high, body })
    }

    /// Where the slots of an element begin.
    fn scaled(&mut self, at: Reg, slots: usize) -> Result<Reg> {
        let stride = self.size(slots as u64)?;
        self.binary(Binary::Mul, at, stride)
    }

    /// `place = op (place, part)`.
    fn join(&mut self, op: &Fun<'a>, place: &Place, part: &V<'a>, element: &Type) -> Result<()> {
        let total = self.read(place)?;
        let joined = self.apply(op, total, part.clone(), element)?;
        self.assign(place, &joined, element)
    }

    fn apply(&mut self, op: &Fun<'a>, a: V<'a>, b: V<'a>, element: &Type) -> Result<V<'a>> {
        self.call(op, vec![(a, element.clone()), (b, element.clone())], element)
    }

    /// The elements of one chunk, of which there is at least one, joined.
    #[allow(clippy::too_many_arguments)] // a reduction has that many parts
    fn chunk(
        &mut self,
        op: &Fun<'a>,
        lanes: Option<Joining>,
        x: &V<'a>,
        element: &Type,
        (from, count): (&Type, u64),
        low: Reg,
        high: Reg,
    ) -> Result<V<'a>> {
        let index = self.reg(Ty::I64);
        self.facts.bound(index, count);
        self.strict.whole(index, count);
        let rounds = count.min(CHUNK as u64);
        if let Some(joining) = lanes {
            let body = self.times(rounds, |this| {
                this.block(|this| {
                    let value = this.index(x, from, &V::Word(index), element)?;
                    this.as_word(&value, element)
                })
            });
            let (body, value) = body?;
            let result = self.reg(self.type_of(value));
            // A value known before the loop is none that the body sets.
            let (mut body, mut value) = (body, value);
            if !body
                .iter()
                .any(|s| matches!(s, Stmt::Let(reg, _) | Stmt::Total { result: reg, .. } if *reg == value))
            {
                let var = self.var(self.type_of(value));
                let again = self.reg(self.type_of(value));
                body.push(Stmt::Set(var, value));
                body.push(Stmt::Let(again, Op::Get(var)));
                value = again;
            }
            self.emit(Stmt::Total { index, low, high, body, value, joining, result })?;
            return Ok(V::Word(result));
        }
        let place = self.place_for(element)?;
        let first = self.index(x, from, &V::Word(low), element)?;
        self.assign(&place, &first, element)?;
        let one = self.int(1)?;
        let second = self.binary(Binary::Add, low, one)?;
        let label = self.label();
        let body = self.times(rounds, |this| {
            this.block(|this| {
                let value = this.index(x, from, &V::Word(index), element)?;
                this.join(op, &place, &value, element)
            })
        });
        let (body, ()) = body?;
        self.emit(Stmt::For { label, index, low: second, high, body })?;
        self.frozen(&place)
    }
}
