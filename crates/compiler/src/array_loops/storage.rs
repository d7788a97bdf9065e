//! Values, the memory of arrays, and variables.

use super::{Declined, Emitter, Result};
use crate::array_ir::{DigitExpr, Element, Op as ArrayOp, Space, Type, Value};
use crate::loop_ir::{Array, Binary, MAX_STACK_SLOTS, Op, Origin, Reg, ScalarType, Stmt, Var};
use crate::value::Class;
use std::rc::Rc;

/// Elements of the longest array that a selection among its elements stands for.
const MAX_SELECTED: usize = 4;

/// A value.
#[derive(Clone)]
pub(super) enum Held<'p> {
    /// A word; a truth value is 0 or 1 as `I64`.
    Word(Reg),
    /// The digits of an index.
    Index(Rc<[Reg]>),
    /// The parts of a tuple.
    Tuple(Rc<[Held<'p>]>),
    /// The number of the case of a sum, and a piece for each case, of which one is read.
    Sum(Reg, Rc<[Held<'p>]>),
    /// An array.
    Array(Rc<ArrayValue<'p>>),
}

/// An array.
pub(super) enum ArrayValue<'p> {
    /// The elements in order, from a slot of an array on.
    Memory { array: Array, base: Reg },
    /// Elements that are known one by one.
    List(Vec<Held<'p>>),
    /// The elements of another array at other digits.
    View { source: Value, digits: &'p [DigitExpr] },
    /// A map that is computed where the value of its block is stored.
    Pending(&'p ArrayOp),
    /// An array whose elements have no slots, and are all the same.
    Repeated(Held<'p>),
    /// An array that no run reads.
    Unread,
}

/// Variables for a value, or memory for an array.
#[derive(Clone)]
pub(super) enum Place {
    Word(Var),
    Index(Rc<[Var]>),
    Tuple(Rc<[Place]>),
    Sum(Var, Rc<[Place]>),
    Memory(Array),
    /// An array without elements.
    Empty,
    /// An array whose elements have no slots: a place for each of them.
    Repeated(Rc<Place>),
}

/// The register type of an element.
pub(super) fn scalar_type(element: Element) -> ScalarType {
    match element {
        Element::B1 | Element::I64 => ScalarType::I64,
        Element::I8 => ScalarType::I8,
        Element::I16 => ScalarType::I16,
        Element::I32 => ScalarType::I32,
        Element::F32 => ScalarType::F32,
        Element::F64 => ScalarType::F64,
    }
}

impl<'p> Emitter<'p> {
    /// The sizes of the digits of a space.
    pub(super) fn extents(&self, space: &Space) -> Result<Vec<u64>> {
        let size = |digit: &crate::array_ir::Digit| digit.size().and_then(|size| size.to_constant());
        space.digits.iter().map(|digit| size(digit).ok_or(Declined::Width)).collect()
    }

    /// The number of indices of a space.
    pub(super) fn count(&self, space: &Space) -> Result<u64> {
        let count = space.size().and_then(|size| size.to_constant());
        count.filter(|count| *count < 1 << 62).ok_or(Declined::Width)
    }

    /// The slots of the values of a type.
    pub(super) fn slots(&self, ty: &Type) -> Result<u64> {
        match ty {
            Type::Element(_) => Ok(1),
            Type::Index(space) => Ok(u64::from(self.count(space)? != 1)),
            Type::Tuple(types) => {
                types.iter().try_fold(0u64, |sum, ty| sum.checked_add(self.slots(ty)?).ok_or(Declined::Width))
            }
            Type::Array(space, element) => {
                self.count(space)?.checked_mul(self.slots(element)?).ok_or(Declined::Width)
            }
            Type::Sum(_) | Type::Exists(..) => Err(Declined::Sum),
        }
    }

    /// The narrowest class that holds each slot of a type.
    fn class(&self, ty: &Type) -> Result<Class> {
        let of_bytes = |bytes: u32| match bytes {
            0 | 1 => Class::U8,
            2 => Class::U16,
            3 | 4 => Class::U32,
            _ => Class::Word,
        };
        fn bytes(emitter: &Emitter<'_>, ty: &Type) -> Result<u32> {
            match ty {
                Type::Element(element) => Ok(element.bits().div_ceil(8)),
                Type::Index(space) => {
                    let largest = emitter.count(space)?.saturating_sub(1);
                    Ok((64 - largest.leading_zeros()).div_ceil(8))
                }
                Type::Tuple(types) => types.iter().try_fold(0, |all, ty| Ok(bytes(emitter, ty)?.max(all))),
                Type::Array(_, element) => bytes(emitter, element),
                Type::Sum(_) | Type::Exists(..) => Err(Declined::Sum),
            }
        }
        Ok(of_bytes(bytes(self, ty)?))
    }

    /// Memory for a value of a type; rounds that may run at the same time have each their own.
    pub(super) fn working(&mut self, ty: &Type) -> Result<Array> {
        let slots = self.slots(ty)?;
        self.working_slots(self.class(ty)?, slots)
    }

    /// Memory for `count` values of a type.
    pub(super) fn working_of(&mut self, ty: &Type, count: u64) -> Result<Array> {
        let slots = self.slots(ty)?.checked_mul(count).ok_or(Declined::Width)?;
        self.working_slots(self.class(ty)?, slots)
    }

    fn working_slots(&mut self, class: Class, slots: u64) -> Result<Array> {
        if slots > 1 << 48 {
            return Err(Declined::Width);
        }
        let origin = match self.in_parallel {
            false => Origin::Scratch,
            true if slots <= MAX_STACK_SLOTS => Origin::stack(slots),
            true => Origin::ThreadLocal,
        };
        self.array(origin, class, slots)
    }

    // ---- values as slots ----------------------------------------------------------------

    /// The value of a type with one slot, of the word in it.
    pub(super) fn of_word(&mut self, reg: Reg, ty: &Type) -> Result<Held<'p>> {
        match ty {
            Type::Element(_) => Ok(Held::Word(reg)),
            Type::Index(space) => self.index_of_code(reg, space),
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| match self.slots(ty)? {
                    0 => self.without_slots(ty),
                    _ => self.of_word(reg, ty),
                });
                Ok(Held::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
            }
            Type::Array(_, element) => {
                let only = self.of_word(reg, element)?;
                Ok(Held::Array(Rc::new(ArrayValue::List(vec![only]))))
            }
            Type::Sum(_) | Type::Exists(..) => Err(Declined::Sum),
        }
    }

    /// The word in the slot of a value of a type with one slot.
    pub(super) fn word_of(&mut self, held: &Held<'p>, ty: &Type) -> Result<Reg> {
        match (held, ty) {
            (Held::Word(reg), _) => Ok(*reg),
            (Held::Index(digits), Type::Index(space)) => self.flat(space, digits),
            (Held::Tuple(parts), Type::Tuple(types)) => {
                for (part, ty) in parts.iter().zip(types) {
                    if self.slots(ty)? == 1 {
                        return self.word_of(part, ty);
                    }
                }
                unreachable!("a part has the slot")
            }
            (Held::Array(array), Type::Array(space, element)) => {
                let zero = self.int(0)?;
                let digits = vec![zero; space.digits.len()];
                let only = self.element_of(array, space, element, &digits)?;
                self.word_of(&only, element)
            }
            _ => unreachable!("a value is of its type, {ty}"),
        }
    }

    /// The value of a type whose slots begin at one of an array.
    pub(super) fn load(&mut self, ty: &Type, array: Array, slot: Reg) -> Result<Held<'p>> {
        if self.slots(ty)? == 0 {
            return self.without_slots(ty);
        }
        match ty {
            Type::Element(element) => {
                let scalar = scalar_type(*element);
                Ok(Held::Word(self.set(scalar, Op::Load(array, slot, scalar))?))
            }
            Type::Index(space) => {
                let code = self.set(ScalarType::I64, Op::Load(array, slot, ScalarType::I64))?;
                self.index_of_code(code, space)
            }
            Type::Tuple(types) => {
                let (mut parts, mut start) = (Vec::new(), 0);
                for ty in types {
                    let at = self.offset(slot, start)?;
                    parts.push(self.load(ty, array, at)?);
                    start += self.slots(ty)?;
                }
                Ok(Held::Tuple(parts.into()))
            }
            Type::Array(..) => Ok(Held::Array(Rc::new(ArrayValue::Memory { array, base: slot }))),
            Type::Sum(_) | Type::Exists(..) => Err(Declined::Sum),
        }
    }

    fn offset(&mut self, slot: Reg, by: u64) -> Result<Reg> {
        let by = self.size(by)?;
        self.binary(Binary::Add, slot, by)
    }

    /// Stores a value of a type from a slot of an array on.
    pub(super) fn store(&mut self, held: &Held<'p>, ty: &Type, array: Array, slot: Reg) -> Result<()> {
        if self.slots(ty)? == 0 {
            return Ok(());
        }
        match (held, ty) {
            (Held::Word(reg), _) => self.emit(Stmt::Store(array, slot, *reg)),
            (Held::Index(digits), Type::Index(space)) => {
                let code = self.flat(space, digits)?;
                self.emit(Stmt::Store(array, slot, code))
            }
            (Held::Tuple(parts), Type::Tuple(types)) => {
                let mut start = 0;
                for (part, ty) in parts.iter().zip(types) {
                    let at = self.offset(slot, start)?;
                    self.store(part, ty, array, at)?;
                    start += self.slots(ty)?;
                }
                Ok(())
            }
            (Held::Array(value), Type::Array(space, element)) => {
                self.store_array(&value.clone(), space, element, array, slot)
            }
            _ => unreachable!("a value is of its type, {ty}"),
        }
    }

    fn store_array(
        &mut self,
        value: &ArrayValue<'p>,
        space: &Space,
        element: &Type,
        array: Array,
        slot: Reg,
    ) -> Result<()> {
        let stride = self.slots(element)?;
        match value {
            ArrayValue::List(items) => {
                for (at, item) in (0..).zip(items) {
                    let at = self.offset(slot, at * stride)?;
                    self.store(item, element, array, at)?;
                }
                Ok(())
            }
            ArrayValue::Pending(ArrayOp::Map(body)) => self.map_into(body, array, slot),
            ArrayValue::Pending(_) => unreachable!("only maps are pending"),
            ArrayValue::Unread => Ok(()),
            ArrayValue::Repeated(_) => unreachable!("an array without slots is not stored"),
            ArrayValue::Memory { array: from, base } => {
                // Slot by slot, whatever the digits are.
                let (count, from, base) = (self.count(space)?, *from, *base);
                self.nest(&[count], stride, &mut |this, digits| {
                    let stride = this.size(stride)?;
                    let offset = this.binary(Binary::Mul, digits[0], stride)?;
                    let (read, write) =
                        (this.binary(Binary::Add, base, offset)?, this.binary(Binary::Add, slot, offset)?);
                    let item = this.load(element, from, read)?;
                    this.store(&item, element, array, write)
                })
            }
            ArrayValue::View { .. } => {
                let extents = self.extents(space)?;
                self.nest(&extents, stride, &mut |this, digits| {
                    let item = this.element_of(value, space, element, digits)?;
                    let at = this.slot_of(space, stride, slot, digits)?;
                    this.store(&item, element, array, at)
                })
            }
        }
    }

    /// The slot of an element at digits.
    pub(super) fn slot_of(&mut self, space: &Space, stride: u64, base: Reg, digits: &[Reg]) -> Result<Reg> {
        let extents = self.extents(space)?;
        if let Some((known, code)) = self.codes.get(digits)
            && *known == extents
        {
            let (code, stride) = (*code, self.size(stride)?);
            let part = self.binary(Binary::Mul, code, stride)?;
            return self.binary(Binary::Add, base, part);
        }
        let mut weight = stride;
        let mut weights = vec![0; extents.len()];
        for (at, extent) in extents.iter().enumerate().rev() {
            weights[at] = weight;
            weight = weight.checked_mul(*extent).ok_or(Declined::Width)?;
        }
        let mut sum = base;
        for ((digit, weight), extent) in digits.iter().zip(weights).zip(&extents) {
            if *extent == 1 {
                continue;
            }
            let weight = self.size(weight)?;
            let part = self.binary(Binary::Mul, *digit, weight)?;
            sum = self.binary(Binary::Add, sum, part)?;
        }
        Ok(sum)
    }

    /// An element of an array at digits.
    pub(super) fn element_of(
        &mut self,
        value: &ArrayValue<'p>,
        space: &Space,
        element: &Type,
        digits: &[Reg],
    ) -> Result<Held<'p>> {
        match value {
            ArrayValue::Memory { array, base } => {
                let stride = self.slots(element)?;
                let slot = self.slot_of(space, stride, *base, digits)?;
                self.load(element, *array, slot)
            }
            ArrayValue::List(items) => {
                let at = self.flat(space, digits)?;
                match (&items[..], self.known(at)) {
                    // A check before it has failed: no value is read.
                    ([], _) => self.undefined_value(element),
                    (items, Some(at)) if at as usize >= items.len() => self.undefined_value(element),
                    ([only], _) => Ok(only.clone()),
                    (items, Some(at)) => Ok(items[at as usize].clone()),
                    (items, None) => self.selected(items, at),
                }
            }
            ArrayValue::View { source, digits: of } => {
                let of = self.digits(of, digits)?;
                self.element(*source, &of)
            }
            ArrayValue::Pending(_) => unreachable!("an array that is read is stored"),
            ArrayValue::Repeated(only) => Ok(only.clone()),
            ArrayValue::Unread => self.undefined_value(element),
        }
    }

    /// A value that no run reads.
    pub(super) fn undefined_value(&mut self, ty: &Type) -> Result<Held<'p>> {
        let zero = self.int(0)?;
        match ty {
            Type::Element(element) => {
                let scalar = scalar_type(*element);
                Ok(Held::Word(self.set(scalar, Op::Const(scalar, 0))?))
            }
            Type::Index(space) => Ok(Held::Index(vec![zero; space.digits.len()].into())),
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.undefined_value(ty)).collect::<Result<Vec<_>>>()?;
                Ok(Held::Tuple(parts.into()))
            }
            Type::Array(..) => Ok(Held::Array(Rc::new(ArrayValue::Unread))),
            Type::Sum(types) => {
                let pieces = types.iter().map(|ty| self.undefined_value(ty)).collect::<Result<Vec<_>>>()?;
                Ok(Held::Sum(zero, pieces.into()))
            }
            Type::Exists(..) => Err(Declined::Sum),
        }
    }

    /// One of a few words, by its number.
    fn selected(&mut self, items: &[Held<'p>], at: Reg) -> Result<Held<'p>> {
        let (last, items) = items.split_last().ok_or(Declined::Choice)?;
        let mut result = last.clone();
        for (number, item) in items.iter().enumerate().rev() {
            let number = self.int(number as u64)?;
            let is_it = self.compare(crate::loop_ir::Compare::Eq, at, number)?;
            result = self.select(is_it, item, &result)?;
        }
        Ok(result)
    }

    /// An element of an array of the array IR at digits.
    pub(super) fn element(&mut self, array: Value, digits: &[Reg]) -> Result<Held<'p>> {
        let (Held::Array(value), Type::Array(space, element)) =
            (self.values[&array].clone(), self.uses.types[&array])
        else {
            unreachable!("an array is indexed");
        };
        self.element_of(&value, space, element, digits)
    }

    /// The second value if a word is not 0, otherwise the third.
    pub(super) fn select(&mut self, condition: Reg, a: &Held<'p>, b: &Held<'p>) -> Result<Held<'p>> {
        let word = |this: &mut Self, a: Reg, b: Reg| match a == b {
            true => Ok(a),
            false => this.set(this.kernel.regs[a], Op::Select(condition, a, b)),
        };
        Ok(match (a, b) {
            (Held::Word(a), Held::Word(b)) => Held::Word(word(self, *a, *b)?),
            (Held::Index(a), Held::Index(b)) => {
                let digits = a.iter().zip(b.iter()).map(|(a, b)| word(self, *a, *b));
                Held::Index(digits.collect::<Result<Vec<_>>>()?.into())
            }
            (Held::Tuple(a), Held::Tuple(b)) => {
                let parts = a.iter().zip(b.iter()).map(|(a, b)| self.select(condition, a, b));
                Held::Tuple(parts.collect::<Result<Vec<_>>>()?.into())
            }
            (Held::Sum(tag, a), Held::Sum(other, b)) => {
                let tag = word(self, *tag, *other)?;
                let pieces = a.iter().zip(b.iter()).map(|(a, b)| self.select(condition, a, b));
                Held::Sum(tag, pieces.collect::<Result<Vec<_>>>()?.into())
            }
            _ => return Err(Declined::Choice),
        })
    }

    /// A list of elements as an array: in memory if an element is read whose number is not known.
    pub(super) fn list(&mut self, value: Value, ty: &Type, items: Vec<Held<'p>>) -> Result<Held<'p>> {
        let words = items.iter().all(|item| matches!(item, Held::Word(_) | Held::Index(_)));
        let few = words && items.len() <= MAX_SELECTED;
        let list = Held::Array(Rc::new(ArrayValue::List(items)));
        if few || !self.uses.indexed.contains(&value) || self.slots(ty)? == 0 {
            return Ok(list);
        }
        self.stored_as(value, &list)
    }

    /// The memory of an array of a value, by its position: that of its class.
    pub(super) fn memory_of(&mut self, value: Value, position: usize, ty: &Type) -> Result<Array> {
        let class = self.storage.classes(value).nth(position).expect("the value has that many arrays");
        let key = (class, self.in_parallel);
        if let Some(array) = self.memory.get(&key) {
            return Ok(*array);
        }
        let array = self.working(ty)?;
        self.memory.insert(key, array);
        self.classes_of_memory.insert(array, class);
        Ok(array)
    }

    /// Makes an array the memory of the class of a value, which is an array.
    pub(super) fn assign_memory(&mut self, value: Value, array: Array) {
        let class = self.storage.classes(value).next().expect("an array has a class");
        self.memory.insert((class, false), array);
        self.classes_of_memory.insert(array, class);
    }

    /// An array as a value whose memory it is stored in.
    pub(super) fn stored_as(&mut self, value: Value, held: &Held<'p>) -> Result<Held<'p>> {
        let ty = self.uses.types[&value];
        let array = self.memory_of(value, 0, ty)?;
        self.stored_in(array, held, ty)
    }

    fn stored_in(&mut self, array: Array, held: &Held<'p>, ty: &Type) -> Result<Held<'p>> {
        let base = self.int(0)?;
        self.store(held, ty, array, base)?;
        self.load(ty, array, base)
    }

    /// The array that an update changes: the old one if it lies there, otherwise a copy.
    pub(super) fn stored_as_update(&mut self, value: Value, old: Value) -> Result<Held<'p>> {
        let held = self.values[&old].clone();
        let array = self.memory_of(value, 0, self.uses.types[&value])?;
        if self.whole_array(&held) == Some(array) { Ok(held) } else { self.stored_as(value, &held) }
    }

    /// The array in memory whose first slots a value takes, from slot 0 on.
    pub(super) fn whole_array(&self, held: &Held<'p>) -> Option<Array> {
        let Held::Array(value) = held else { return None };
        match **value {
            ArrayValue::Memory { array, base } if self.known(base) == Some(0) => Some(array),
            _ => None,
        }
    }

    /// The array in memory of its own.
    pub(super) fn stored(&mut self, held: &Held<'p>, ty: &Type) -> Result<Held<'p>> {
        let array = self.working(ty)?;
        self.stored_in(array, held, ty)
    }

    // ---- variables ----------------------------------------------------------------------

    /// A place for values of a type.
    pub(super) fn place(&mut self, ty: &Type) -> Result<Place> {
        Ok(match ty {
            Type::Element(element) => Place::Word(self.kernel.vars.push(scalar_type(*element))),
            Type::Index(space) => {
                let vars = space.digits.iter().map(|_| self.kernel.vars.push(ScalarType::I64));
                Place::Index(vars.collect())
            }
            Type::Tuple(types) => {
                Place::Tuple(types.iter().map(|ty| self.place(ty)).collect::<Result<Vec<_>>>()?.into())
            }
            Type::Array(space, _) if self.count(space)? == 0 => Place::Empty,
            Type::Array(_, element) if self.slots(ty)? == 0 => Place::Repeated(Rc::new(self.place(element)?)),
            Type::Array(..) => Place::Memory(self.working(ty)?),
            Type::Sum(types) => {
                let tag = self.kernel.vars.push(ScalarType::I64);
                let places = types.iter().map(|ty| self.place(ty)).collect::<Result<Vec<_>>>()?;
                Place::Sum(tag, places.into())
            }
            Type::Exists(..) => return Err(Declined::Sum),
        })
    }

    /// A place for a value: arrays lie in the memory of their classes.
    pub(super) fn place_of(&mut self, value: Value) -> Result<Place> {
        fn place<'p>(emitter: &mut Emitter<'p>, value: Value, ty: &Type, next: &mut usize) -> Result<Place> {
            match ty {
                Type::Array(..) => {
                    // An array without slots has a class, too.
                    *next += 1;
                    match emitter.slots(ty)? {
                        0 => emitter.place(ty),
                        _ => emitter.memory_of(value, *next - 1, ty).map(Place::Memory),
                    }
                }
                Type::Tuple(types) => {
                    let parts = types.iter().map(|ty| place(emitter, value, ty, next));
                    Ok(Place::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
                }
                Type::Sum(types) => {
                    let tag = emitter.kernel.vars.push(ScalarType::I64);
                    let pieces = types.iter().map(|ty| place(emitter, value, ty, next));
                    Ok(Place::Sum(tag, pieces.collect::<Result<Vec<_>>>()?.into()))
                }
                ty => emitter.place(ty),
            }
        }
        place(self, value, self.uses.types[&value], &mut 0)
    }

    /// Sets a place to a value that ends a block or begins a loop.
    pub(super) fn move_to(&mut self, place: &Place, value: Value) -> Result<()> {
        let (held, ty) = (self.values[&value].clone(), self.uses.types[&value]);
        let mut arrays = Vec::new();
        self.set_words(place, &held, ty, &mut arrays)?;
        let targets: Vec<(usize, Array)> =
            (0..).zip(&arrays).filter_map(|(at, moved)| Some((at, moved.as_ref()?.0))).collect();
        let mut moves = Vec::new();
        for (position, moved) in arrays.into_iter().enumerate() {
            let Some((target, held, ty)) = moved.filter(|moved| self.whole_array(&moved.1) != Some(moved.0))
            else {
                continue;
            };
            // What a copy would overwrite before it is read is saved first.
            let overwritten = targets.iter().any(|(_, target)| self.reads_memory(value, position, *target));
            let held = if overwritten { self.stored(&held, ty)? } else { held };
            let read_elsewhere = |this: &Self, memory: Array| {
                let mut others = targets.iter().filter(|(other, _)| *other != position);
                others.any(|(other, _)| this.reads_memory(value, *other, memory))
            };
            let spare = self.exchangeable(&held, target).filter(|memory| {
                overwritten || self.storage.dies(value, position) && !read_elsewhere(self, *memory)
            });
            moves.push((target, held, ty, spare));
        }
        for (target, held, ty, spare) in moves {
            self.put(target, &held, ty, spare)?;
        }
        Ok(())
    }

    /// Returns true if reading an array of a value reads an array in memory.
    fn reads_memory(&self, value: Value, position: usize, array: Array) -> bool {
        let class = self.classes_of_memory.get(&array);
        class.is_some_and(|class| self.storage.reads(value, position, *class))
    }

    /// Sets the variables of a place; collects its arrays with what goes there, by their positions:
    /// nothing for an array without slots.
    fn set_words<'t>(
        &mut self,
        place: &Place,
        held: &Held<'p>,
        ty: &'t Type,
        arrays: &mut Vec<Option<(Array, Held<'p>, &'t Type)>>,
    ) -> Result<()> {
        match (place, held, ty) {
            (Place::Memory(array), held, ty) => arrays.push(Some((*array, held.clone(), ty))),
            (Place::Empty | Place::Repeated(_), held, ty) => {
                arrays.push(None);
                self.assign_words(place, held, ty)?;
            }
            (Place::Tuple(places), Held::Tuple(parts), Type::Tuple(types)) => {
                for ((place, part), ty) in places.iter().zip(parts.iter()).zip(types) {
                    self.set_words(place, part, ty, arrays)?;
                }
            }
            (Place::Sum(tag, places), Held::Sum(case, pieces), Type::Sum(types)) => {
                self.emit(Stmt::Set(*tag, *case))?;
                for ((place, piece), ty) in places.iter().zip(pieces.iter()).zip(types) {
                    self.set_words(place, piece, ty, arrays)?;
                }
            }
            (place, held, ty) => self.assign_words(place, held, ty)?,
        }
        Ok(())
    }

    /// The array that a value is all of, if an array can take its memory and give its own for it.
    fn exchangeable(&self, held: &Held<'p>, array: Array) -> Option<Array> {
        let other = self.whole_array(held)?;
        let (old, new) = (self.kernel.arrays[array], self.kernel.arrays[other]);
        let alike = self.kernel.slots[array] == self.kernel.slots[other] && old.width == new.width;
        // Of two arrays that are exchanged at least one is made for the run.
        let owned = matches!(old.origin, Origin::Scratch | Origin::InOut(_)) && new.origin == Origin::Scratch;
        (alike && owned && !self.in_parallel && !self.in_lanes).then_some(other)
    }

    /// Sets a place of [`Emitter::place`] to a value. Its arrays may be made of those that lie
    /// there: all of them are complete before one is stored.
    pub(super) fn assign(&mut self, place: &Place, held: &Held<'p>, ty: &Type) -> Result<()> {
        let mut arrays = Vec::new();
        self.set_words(place, held, ty, &mut arrays)?;
        let mut moves = Vec::new();
        for (target, held, ty) in arrays.into_iter().flatten() {
            if self.whole_array(&held) != Some(target) {
                moves.push((target, self.stored(&held, ty)?, ty));
            }
        }
        for (target, held, ty) in moves {
            let spare = self.exchangeable(&held, target);
            self.put(target, &held, ty, spare)?;
        }
        Ok(())
    }

    /// Makes a value the contents of an array: by an exchange with memory that it is all of and
    /// that is not needed any more, or by a copy.
    fn put(&mut self, target: Array, held: &Held<'p>, ty: &Type, spare: Option<Array>) -> Result<()> {
        match spare {
            Some(memory) => self.emit(Stmt::Swap(target, memory)),
            None => {
                let base = self.int(0)?;
                self.store(held, ty, target, base)
            }
        }
    }

    /// Sets a place without arrays to a value.
    fn assign_words(&mut self, place: &Place, held: &Held<'p>, ty: &Type) -> Result<()> {
        match (place, held, ty) {
            (Place::Word(var), Held::Word(reg), _) => self.emit(Stmt::Set(*var, *reg)),
            (Place::Index(vars), Held::Index(digits), _) => {
                vars.iter().zip(digits.iter()).try_for_each(|(var, reg)| self.emit(Stmt::Set(*var, *reg)))
            }
            (Place::Empty, ..) => Ok(()),
            (Place::Repeated(place), Held::Array(_), Type::Array(_, element)) => {
                let only = self.without_slots(element)?;
                self.assign(place, &only, element)
            }
            _ => unreachable!("a place is for values of its type"),
        }
    }

    /// The value of a place now. Memory is not read: it stays as it is until it is assigned again.
    pub(super) fn read(&mut self, place: &Place) -> Result<Held<'p>> {
        let get = |this: &mut Self, var: Var| this.set(this.kernel.vars[var], Op::Get(var));
        Ok(match place {
            Place::Word(var) => Held::Word(get(self, *var)?),
            Place::Index(vars) => {
                let digits = vars.iter().map(|var| get(self, *var)).collect::<Result<Vec<_>>>()?;
                Held::Index(digits.into())
            }
            Place::Tuple(places) => {
                let parts = places.iter().map(|place| self.read(place)).collect::<Result<Vec<_>>>()?;
                Held::Tuple(parts.into())
            }
            Place::Sum(tag, places) => {
                let tag = get(self, *tag)?;
                let pieces = places.iter().map(|place| self.read(place)).collect::<Result<Vec<_>>>()?;
                Held::Sum(tag, pieces.into())
            }
            Place::Memory(array) => {
                let base = self.int(0)?;
                Held::Array(Rc::new(ArrayValue::Memory { array: *array, base }))
            }
            Place::Empty => Held::Array(Rc::new(ArrayValue::List(Vec::new()))),
            Place::Repeated(place) => {
                let only = self.read(place)?;
                Held::Array(Rc::new(ArrayValue::Repeated(only)))
            }
        })
    }
}
