//! Values, the memory of arrays, and variables.

use super::digits::{OpenedSize, UNBOUNDED};
use super::{Declined, Emitter, Result};
use crate::array_ir::storage::array_count;
use crate::array_ir::{DigitExpr, Element, Op as ArrayOp, Size, Space, Stmt as ArrayStmt, Type, Value};
use crate::hash::HashMap;
use crate::loop_ir::{Array, Binary, Compare, MAX_STACK_SLOTS, Op, Origin, Reg, ScalarType, Stmt, Var};
use crate::value::Class;
use std::rc::Rc;

/// Elements of the longest array that a selection among its elements stands for.
const MAX_SELECTED: usize = 4;

/// A value of the array IR as registers and memory of the loop form.
#[derive(Clone)]
pub(super) enum LoweredValue<'p> {
    /// A word; a truth value is 0 or 1 as `I64`.
    Word(Reg),
    /// The digits of an index.
    Index(Rc<[Reg]>),
    /// The parts of a tuple.
    Tuple(Rc<[LoweredValue<'p>]>),
    /// The number of the case of a sum, and a piece for each case, of which one is read.
    Sum(Reg, Rc<[LoweredValue<'p>]>),
    /// An array.
    Array(Rc<ArrayValue<'p>>),
    /// An array of one digit with its size.
    Packed(OpenedSize, Rc<ArrayValue<'p>>),
}

/// An array.
pub(super) enum ArrayValue<'p> {
    /// The elements in order, from a slot of an array on.
    Memory { array: Array, base: Reg },
    /// Elements that are known one by one.
    List(Vec<LoweredValue<'p>>),
    /// The elements of another array at other digits.
    View { source: Value, digits: &'p [DigitExpr] },
    /// A map or a concatenation that is computed where it is stored.
    Pending(&'p ArrayOp),
    /// An array whose elements have no slots, and are all the same.
    Repeated(LoweredValue<'p>),
    /// The indices of one digit as numbers.
    Iota,
    /// An array that no run reads.
    Unread,
}

/// The storage that a value is assigned to: variables, or memory for an array.
#[derive(Clone)]
pub(super) enum Location {
    Word(Var),
    Index(Rc<[Var]>),
    Tuple(Rc<[Location]>),
    Sum(Var, Rc<[Location]>),
    Memory(Array),
    /// An array of one digit with its size, in memory that grows.
    Packed(Var, Array),
    /// An array without elements.
    Empty,
    /// An array whose elements have no slots: a location for each of them.
    Repeated(Rc<Location>),
}

/// The move of an array of a parallel copy.
struct Move<'p, 't> {
    target: Array,
    /// The source.
    lowered: LoweredValue<'p>,
    ty: &'t Type,
    /// True if the source reads the old contents of a target.
    overwritten: bool,
    /// The array that the source is all of, if the target may be exchanged with it.
    spare: Option<Array>,
}

/// The targets of moves that have a spare array, each with that.
fn spares(moves: &[Move<'_, '_>]) -> Vec<(Array, Array)> {
    moves.iter().filter_map(|moved| Some((moved.target, moved.spare?))).collect()
}

/// The exchanges, in order, that give each target the contents of its source. Targets are different
/// arrays, and so are sources. An array whose old contents are a source is exchanged itself first,
/// if that is no cycle.
fn exchanges(mut left: Vec<(Array, Array)>) -> Vec<(Array, Array)> {
    // Where the contents of arrays are now that have been exchanged.
    let mut places: HashMap<Array, Array> = HashMap::default();
    let mut swaps = Vec::new();
    while !left.is_empty() {
        let is_free = |(_, source): &(Array, Array)| left.iter().all(|(target, _)| target != source);
        let next = left.iter().position(is_free).unwrap_or(0);
        let (target, source) = left.remove(next);
        let from = places.get(&source).copied().unwrap_or(source);
        if from == target {
            continue;
        }
        swaps.push((target, from));
        let displaced = places.iter().find(|(_, place)| **place == target).map(|(array, _)| *array);
        places.insert(displaced.unwrap_or(target), from);
        places.insert(source, target);
    }
    swaps
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

/// Returns true if arrays in a piece of a sum are of numbers. What they hold if a value is not of the
/// piece is not known, and an index there could be out of range.
fn has_plain_arrays(ty: &Type) -> bool {
    match ty {
        Type::Array(_, element) => match &**element {
            Type::Element(_) => true,
            element @ Type::Array(..) => has_plain_arrays(element),
            _ => false,
        },
        Type::Tuple(types) | Type::Sum(types) => types.iter().all(has_plain_arrays),
        Type::Element(_) | Type::Index(_) | Type::Exists(..) => true,
    }
}

/// The type of the elements of an array of one digit that brings its size along.
pub(super) fn sized_element(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Exists(1, inner) => match &**inner {
            Type::Array(space, element) if *space == Space::new([Size::bound(0)]) => Some(element),
            _ => None,
        },
        _ => None,
    }
}

/// The type of the elements of an array.
fn element_of_array(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(_, element) => Some(element),
        Type::Exists(_, inner) => element_of_array(inner),
        _ => None,
    }
}

/// Returns true for a sum with an array in it.
pub(super) fn is_array_in_sum(ty: &Type) -> bool {
    match ty {
        Type::Sum(types) => types.iter().any(Type::has_array),
        Type::Tuple(types) => types.iter().any(is_array_in_sum),
        Type::Array(_, element) => element.has_sum() && element.has_array(),
        Type::Element(_) | Type::Index(_) | Type::Exists(..) => false,
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
            Type::Index(space) => Ok(u64::from(self.is_opened(space) || self.count(space)? != 1)),
            Type::Tuple(types) => self.slots_behind(0, types),
            Type::Array(space, element) => {
                self.capacity(space)?.checked_mul(self.slots(element)?).ok_or(Declined::Width)
            }
            // The number of the case, and the pieces one after the other.
            Type::Sum(types) if types.iter().all(has_plain_arrays) => self.slots_behind(1, types),
            Type::Sum(_) | Type::Exists(..) => Err(Declined::Sum),
        }
    }

    /// The slots of the values of some types behind so many others.
    fn slots_behind(&self, first: u64, types: &[Type]) -> Result<u64> {
        types.iter().try_fold(first, |sum, ty| sum.checked_add(self.slots(ty)?).ok_or(Declined::Width))
    }

    /// The narrowest class that holds each slot of a type.
    pub(super) fn class(&self, ty: &Type) -> Result<Class> {
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
                    let largest = emitter.capacity(space)?.saturating_sub(1);
                    Ok((64 - largest.leading_zeros()).div_ceil(8))
                }
                Type::Tuple(types) => types.iter().try_fold(0, |all, ty| Ok(bytes(emitter, ty)?.max(all))),
                Type::Array(_, element) => bytes(emitter, element),
                Type::Sum(types) => types.iter().try_fold(1, |all, ty| Ok(bytes(emitter, ty)?.max(all))),
                Type::Exists(..) => Err(Declined::Sum),
            }
        }
        Ok(of_bytes(bytes(self, ty)?))
    }

    /// Allocates memory for a value of a type; rounds that may run at the same time have each their
    /// own.
    pub(super) fn allocate(&mut self, ty: &Type) -> Result<Array> {
        match ty {
            Type::Exists(..) => self.allocate_growable(sized_element(ty).ok_or(Declined::Arrival)?),
            Type::Array(space, element) if self.is_unbounded(space)? => self.allocate_growable(element),
            ty => {
                let slots = self.slots(ty)?;
                self.allocate_slots(self.class(ty)?, slots)
            }
        }
    }

    /// Returns true for a space whose size is known when the kernel runs, and has no bound.
    fn is_unbounded(&self, space: &Space) -> Result<bool> {
        Ok(self.is_opened(space) && self.capacity(space)? >= UNBOUNDED)
    }

    /// Allocates memory for as many values of a type as a space has indices.
    pub(super) fn allocate_for_each(&mut self, space: &Space, ty: &Type) -> Result<Array> {
        if !self.is_unbounded(space)? {
            return self.allocate_elements(ty, self.capacity(space)?);
        }
        let array = self.allocate_growable(ty)?;
        let size = self.opened(space)?.expect("the size is opened");
        let slots = self.slots_of(size, ty)?;
        self.reserve(array, slots)?;
        Ok(array)
    }

    /// Allocates memory that grows for an array of elements of a type.
    fn allocate_growable(&mut self, element: &Type) -> Result<Array> {
        if self.slots(element)? == 0 {
            return Err(Declined::Units);
        }
        self.array(Origin::Growable, self.class(element)?, 0)
    }

    /// Makes room for an array of a type from the first slot of an array on, if that grows.
    pub(super) fn make_room(&mut self, array: Array, ty: &Type) -> Result<()> {
        if self.kernel.arrays[array].origin != Origin::Growable {
            return Ok(());
        }
        let slots = self.slots_register(ty)?;
        self.reserve(array, slots)
    }

    /// Makes room for so many slots in an array, if it grows.
    pub(super) fn reserve(&mut self, array: Array, slots: Reg) -> Result<()> {
        match self.kernel.arrays[array].origin {
            Origin::Growable => self.emit(Stmt::Grow(array, slots)),
            _ => Ok(()),
        }
    }

    /// The register of the number of slots of an array.
    pub(super) fn slots_register(&mut self, ty: &Type) -> Result<Reg> {
        if let Type::Array(space, element) = ty
            && let Some(opened) = self.opened(space)?
        {
            return self.slots_of(opened, element);
        }
        let slots = self.slots(ty)?;
        self.size(slots)
    }

    /// The register of the number of slots of so many elements.
    pub(super) fn slots_of(&mut self, size: OpenedSize, element: &Type) -> Result<Reg> {
        // Numbers in order are an array without memory, of any size.
        if size.bound > UNBOUNDED {
            let most = self.int(UNBOUNDED)?;
            let fits = self.compare(Compare::LtUnsigned, size.count, most)?;
            self.check(fits)?;
        }
        let stride = self.slots(element)?;
        self.first_slot(size.count, stride)
    }

    /// Allocates memory for `count` values of a type.
    pub(super) fn allocate_elements(&mut self, ty: &Type, count: u64) -> Result<Array> {
        let slots = self.slots(ty)?.checked_mul(count).ok_or(Declined::Width)?;
        self.allocate_slots(self.class(ty)?, slots)
    }

    fn allocate_slots(&mut self, class: Class, slots: u64) -> Result<Array> {
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
    pub(super) fn value_of_word(&mut self, reg: Reg, ty: &Type) -> Result<LoweredValue<'p>> {
        match ty {
            Type::Element(_) => Ok(LoweredValue::Word(reg)),
            Type::Index(space) => self.index_of_code(reg, space),
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| match self.slots(ty)? {
                    0 => self.without_slots(ty),
                    _ => self.value_of_word(reg, ty),
                });
                Ok(LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
            }
            Type::Array(_, element) => {
                let only = self.value_of_word(reg, element)?;
                Ok(LoweredValue::Array(Rc::new(ArrayValue::List(vec![only]))))
            }
            Type::Sum(types) => {
                let pieces = types.iter().map(|ty| self.without_slots(ty)).collect::<Result<Vec<_>>>()?;
                Ok(LoweredValue::Sum(reg, pieces.into()))
            }
            Type::Exists(..) => Err(Declined::Sum),
        }
    }

    /// The word in the slot of a value of a type with one slot.
    pub(super) fn word_of(&mut self, lowered: &LoweredValue<'p>, ty: &Type) -> Result<Reg> {
        match (lowered, ty) {
            (LoweredValue::Word(reg), _) => Ok(*reg),
            (LoweredValue::Index(digits), Type::Index(space)) => self.flat(space, digits),
            (LoweredValue::Sum(tag, _), Type::Sum(_)) => Ok(*tag),
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                for (part, ty) in parts.iter().zip(types) {
                    if self.slots(ty)? == 1 {
                        return self.word_of(part, ty);
                    }
                }
                unreachable!("a part has the slot")
            }
            (LoweredValue::Array(array), Type::Array(space, element)) => {
                let zero = self.int(0)?;
                let digits = vec![zero; space.digits.len()];
                let only = self.element_of(array, space, element, &digits)?;
                self.word_of(&only, element)
            }
            _ => unreachable!("a value is of its type, {ty}"),
        }
    }

    /// The value of a type whose slots begin at one of an array.
    pub(super) fn load(&mut self, ty: &Type, array: Array, slot: Reg) -> Result<LoweredValue<'p>> {
        if self.slots(ty)? == 0 {
            return self.without_slots(ty);
        }
        match ty {
            Type::Element(element) => {
                let scalar = scalar_type(*element);
                Ok(LoweredValue::Word(self.set(scalar, Op::Load(array, slot, scalar))?))
            }
            Type::Index(space) => {
                let code = self.set(ScalarType::I64, Op::Load(array, slot, ScalarType::I64))?;
                self.index_of_code(code, space)
            }
            Type::Tuple(types) => Ok(LoweredValue::Tuple(self.load_parts(types, array, slot, 0)?)),
            Type::Array(..) => Ok(LoweredValue::Array(Rc::new(ArrayValue::Memory { array, base: slot }))),
            Type::Sum(types) => {
                let tag = self.set(ScalarType::I64, Op::Load(array, slot, ScalarType::I64))?;
                Ok(LoweredValue::Sum(tag, self.load_parts(types, array, slot, 1)?))
            }
            Type::Exists(..) => Err(Declined::Sum),
        }
    }

    /// The values of types that lie one after the other, so many slots behind one of an array.
    fn load_parts(
        &mut self,
        types: &[Type],
        array: Array,
        slot: Reg,
        mut start: u64,
    ) -> Result<Rc<[LoweredValue<'p>]>> {
        let mut parts = Vec::new();
        for ty in types {
            let at = self.offset(slot, start)?;
            parts.push(self.load(ty, array, at)?);
            start += self.slots(ty)?;
        }
        Ok(parts.into())
    }

    fn offset(&mut self, slot: Reg, by: u64) -> Result<Reg> {
        let by = self.size(by)?;
        self.binary(Binary::Add, slot, by)
    }

    /// Stores a value of a type from a slot of an array on.
    pub(super) fn store(
        &mut self,
        lowered: &LoweredValue<'p>,
        ty: &Type,
        array: Array,
        slot: Reg,
    ) -> Result<()> {
        if self.slots(ty)? == 0 {
            return Ok(());
        }
        match (lowered, ty) {
            (LoweredValue::Word(reg), _) => self.emit(Stmt::Store(array, slot, *reg)),
            (LoweredValue::Index(digits), Type::Index(space)) => {
                let code = self.flat(space, digits)?;
                self.emit(Stmt::Store(array, slot, code))
            }
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                self.store_parts((parts, types), array, slot, 0)
            }
            (LoweredValue::Sum(tag, pieces), Type::Sum(types)) => {
                self.emit(Stmt::Store(array, slot, *tag))?;
                self.store_parts((pieces, types), array, slot, 1)
            }
            (LoweredValue::Array(value), Type::Array(space, element)) => {
                let opened = self.opened(space)?;
                self.store_array(&value.clone(), (space, opened), element, array, slot)
            }
            _ => unreachable!("a value is of its type, {ty}"),
        }
    }

    /// Stores values of types one after the other, so many slots behind one of an array.
    fn store_parts(
        &mut self,
        (parts, types): (&[LoweredValue<'p>], &[Type]),
        array: Array,
        slot: Reg,
        mut start: u64,
    ) -> Result<()> {
        for (part, ty) in parts.iter().zip(types) {
            let at = self.offset(slot, start)?;
            self.store(part, ty, array, at)?;
            start += self.slots(ty)?;
        }
        Ok(())
    }

    fn store_array(
        &mut self,
        value: &ArrayValue<'p>,
        (space, opened): (&Space, Option<OpenedSize>),
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
            ArrayValue::Pending(ArrayOp::Concat(a, b)) => self.concat_into(*a, *b, array, slot),
            ArrayValue::Pending(_) => unreachable!("only maps and concatenations are pending"),
            ArrayValue::Unread => Ok(()),
            ArrayValue::Repeated(_) => unreachable!("an array without slots is not stored"),
            ArrayValue::Memory { array: from, base } => {
                // Slot by slot, whatever the digits are.
                let (from, base) = (*from, *base);
                let mut copy = |this: &mut Self, digits: &[Reg]| {
                    let stride = this.size(stride)?;
                    let offset = this.binary(Binary::Mul, digits[0], stride)?;
                    let (read, write) =
                        (this.binary(Binary::Add, base, offset)?, this.binary(Binary::Add, slot, offset)?);
                    let item = this.load(element, from, read)?;
                    this.store(&item, element, array, write)
                };
                if let Some(opened) = opened {
                    let low = self.int(0)?;
                    return self.sequential_loop(low, opened.count, &mut |this, at| copy(this, &[at]));
                }
                let count = self.count(space)?;
                self.loop_nest(&[count], stride, &mut copy)
            }
            ArrayValue::View { .. } | ArrayValue::Iota => {
                let mut copy = |this: &mut Self, digits: &[Reg]| {
                    let item = this.element_of(value, space, element, digits)?;
                    let at = this.slot_of(space, stride, slot, digits)?;
                    this.store(&item, element, array, at)
                };
                if let Some(opened) = opened {
                    let low = self.int(0)?;
                    return self.sequential_loop(low, opened.count, &mut |this, at| copy(this, &[at]));
                }
                let extents = self.extents(space)?;
                self.loop_nest(&extents, stride, &mut copy)
            }
        }
    }

    /// The slot of an element at digits.
    pub(super) fn slot_of(&mut self, space: &Space, stride: u64, base: Reg, digits: &[Reg]) -> Result<Reg> {
        let extents = match self.is_opened(space) {
            true => vec![self.capacity(space)?.max(2)],
            false => self.extents(space)?,
        };
        let sized: Vec<(Reg, u64)> = digits.iter().copied().zip(extents).collect();
        let digits = self.merged_digits(&sized)?;
        let mut weight = stride;
        let mut weights = vec![0; digits.len()];
        for (at, (_, extent)) in digits.iter().enumerate().rev() {
            weights[at] = weight;
            weight = weight.checked_mul(*extent).ok_or(Declined::Width)?;
        }
        let mut sum = base;
        for ((digit, _), weight) in digits.iter().zip(weights) {
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
    ) -> Result<LoweredValue<'p>> {
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
            ArrayValue::Iota => Ok(LoweredValue::Word(digits[0])),
            ArrayValue::Unread => self.undefined_value(element),
        }
    }

    /// A value that no run reads.
    pub(super) fn undefined_value(&mut self, ty: &Type) -> Result<LoweredValue<'p>> {
        let zero = self.int(0)?;
        match ty {
            Type::Element(element) => {
                let scalar = scalar_type(*element);
                Ok(LoweredValue::Word(self.set(scalar, Op::Const(scalar, 0))?))
            }
            Type::Index(space) => Ok(LoweredValue::Index(vec![zero; space.digits.len()].into())),
            Type::Tuple(types) => {
                let parts = types.iter().map(|ty| self.undefined_value(ty)).collect::<Result<Vec<_>>>()?;
                Ok(LoweredValue::Tuple(parts.into()))
            }
            Type::Array(..) => Ok(LoweredValue::Array(Rc::new(ArrayValue::Unread))),
            Type::Sum(types) => {
                let pieces = types.iter().map(|ty| self.undefined_value(ty)).collect::<Result<Vec<_>>>()?;
                Ok(LoweredValue::Sum(zero, pieces.into()))
            }
            Type::Exists(..) => {
                let size = OpenedSize { count: zero, bound: 0 };
                Ok(LoweredValue::Packed(size, Rc::new(ArrayValue::Unread)))
            }
        }
    }

    /// One of a few words, by its number.
    fn selected(&mut self, items: &[LoweredValue<'p>], at: Reg) -> Result<LoweredValue<'p>> {
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
    pub(super) fn element(&mut self, array: Value, digits: &[Reg]) -> Result<LoweredValue<'p>> {
        let (LoweredValue::Array(value), Type::Array(space, element)) =
            (self.values[&array].clone(), self.uses.types[&array])
        else {
            unreachable!("an array is indexed");
        };
        self.element_of(&value, space, element, digits)
    }

    /// The second value if a word is not 0, otherwise the third.
    pub(super) fn select(
        &mut self,
        condition: Reg,
        a: &LoweredValue<'p>,
        b: &LoweredValue<'p>,
    ) -> Result<LoweredValue<'p>> {
        let word = |this: &mut Self, a: Reg, b: Reg| match a == b {
            true => Ok(a),
            false => this.set(this.kernel.regs[a], Op::Select(condition, a, b)),
        };
        Ok(match (a, b) {
            (LoweredValue::Word(a), LoweredValue::Word(b)) => LoweredValue::Word(word(self, *a, *b)?),
            (LoweredValue::Index(a), LoweredValue::Index(b)) => {
                let digits = a.iter().zip(b.iter()).map(|(a, b)| word(self, *a, *b));
                LoweredValue::Index(digits.collect::<Result<Vec<_>>>()?.into())
            }
            (LoweredValue::Tuple(a), LoweredValue::Tuple(b)) => {
                let parts = a.iter().zip(b.iter()).map(|(a, b)| self.select(condition, a, b));
                LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into())
            }
            (LoweredValue::Sum(tag, a), LoweredValue::Sum(other, b)) => {
                let tag = word(self, *tag, *other)?;
                let pieces = a.iter().zip(b.iter()).map(|(a, b)| self.select(condition, a, b));
                LoweredValue::Sum(tag, pieces.collect::<Result<Vec<_>>>()?.into())
            }
            _ => return Err(Declined::Choice),
        })
    }

    /// A list of elements as an array: in memory if an element is read whose number is not known.
    pub(super) fn array_of_elements(
        &mut self,
        value: Value,
        ty: &Type,
        items: Vec<LoweredValue<'p>>,
    ) -> Result<LoweredValue<'p>> {
        let words = items.iter().all(|item| matches!(item, LoweredValue::Word(_) | LoweredValue::Index(_)));
        let few = words && items.len() <= MAX_SELECTED;
        let list = LoweredValue::Array(Rc::new(ArrayValue::List(items)));
        if few || !self.uses.indexed.contains(&value) || self.slots(ty)? == 0 {
            return Ok(list);
        }
        self.store_in_class(value, &list)
    }

    /// The memory of an array of a value, by its position: that of its class.
    pub(super) fn memory_of(&mut self, value: Value, position: usize, ty: &Type) -> Result<Array> {
        let class = self.storage.classes(value).nth(position).expect("the value has that many arrays");
        let key = (class, self.in_parallel);
        if let Some(array) = self.memory.get(&key) {
            return Ok(*array);
        }
        let array = match (self.storage.grows(class), element_of_array(ty)) {
            (true, Some(element)) => self.allocate_growable(element)?,
            _ => self.allocate(ty)?,
        };
        self.memory.insert(key, array);
        self.classes_of_memory.insert(array, class);
        Ok(array)
    }

    /// The memory of an array, with room for it.
    pub(super) fn memory_with_room(&mut self, value: Value, position: usize, ty: &Type) -> Result<Array> {
        let array = self.memory_of(value, position, ty)?;
        self.make_room(array, ty)?;
        Ok(array)
    }

    /// Makes an array the memory of the class of an array of a value, by its position.
    pub(super) fn assign_memory(&mut self, value: Value, position: usize, array: Array) {
        let class = self.storage.classes(value).nth(position).expect("the value has that many arrays");
        self.memory.insert((class, self.in_parallel), array);
        self.classes_of_memory.insert(array, class);
    }

    /// The location of a parameter whose variable the function changes: its arrays are the memory of
    /// their classes. `position` counts those.
    pub(super) fn location_of_parameter(
        &mut self,
        value: Value,
        lowered: &LoweredValue<'p>,
        ty: &Type,
        position: &mut usize,
    ) -> Result<Location> {
        match (lowered, ty) {
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                let parts = parts.iter().zip(types);
                let parts = parts.map(|(part, ty)| self.location_of_parameter(value, part, ty, position));
                Ok(Location::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
            }
            (lowered, Type::Array(..)) => {
                *position += 1;
                match self.whole_array(lowered) {
                    Some(array) => {
                        self.assign_memory(value, *position - 1, array);
                        Ok(Location::Memory(array))
                    }
                    None => self.new_location(ty),
                }
            }
            (_, ty) => self.new_location(ty),
        }
    }

    /// An array as a value whose memory it is stored in.
    pub(super) fn store_in_class(
        &mut self,
        value: Value,
        lowered: &LoweredValue<'p>,
    ) -> Result<LoweredValue<'p>> {
        let ty = self.uses.types[&value];
        let array = self.memory_of(value, 0, ty)?;
        self.store_in(array, lowered, ty)
    }

    /// An element, the arrays of which that storage copies are stored in memory of their own;
    /// `position` counts the arrays.
    pub(super) fn with_copied_parts(
        &mut self,
        value: Value,
        lowered: &LoweredValue<'p>,
        ty: &'p Type,
        position: &mut usize,
    ) -> Result<LoweredValue<'p>> {
        let first = *position;
        match (lowered, ty) {
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                let parts = parts.iter().zip(types);
                let parts = parts.map(|(part, ty)| self.with_copied_parts(value, part, ty, position));
                Ok(LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
            }
            _ => {
                *position += array_count(ty);
                match ty {
                    Type::Array(..) if self.storage.is_copied(value, first) && self.slots(ty)? > 0 => {
                        let array = self.memory_of(value, first, ty)?;
                        self.store_in(array, lowered, ty)
                    }
                    _ => Ok(lowered.clone()),
                }
            }
        }
    }

    /// A value whose arrays are stored in the memory of the arrays of a result; `position` counts
    /// those.
    pub(super) fn store_at_result(
        &mut self,
        result: Value,
        lowered: &LoweredValue<'p>,
        ty: &Type,
        position: &mut usize,
    ) -> Result<LoweredValue<'p>> {
        match (lowered, ty) {
            (LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                let parts = parts.iter().zip(types);
                let parts = parts.map(|(part, ty)| self.store_at_result(result, part, ty, position));
                Ok(LoweredValue::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
            }
            (lowered, Type::Array(..)) => {
                *position += 1;
                if self.slots(ty)? == 0 {
                    return Ok(lowered.clone());
                }
                let array = self.memory_of(result, *position - 1, ty)?;
                match self.whole_array(lowered) == Some(array) {
                    true => Ok(lowered.clone()),
                    false => self.store_in(array, lowered, ty),
                }
            }
            _ => Ok(lowered.clone()),
        }
    }

    fn store_in(&mut self, array: Array, lowered: &LoweredValue<'p>, ty: &Type) -> Result<LoweredValue<'p>> {
        self.store_whole(lowered, ty, array)?;
        let base = self.int(0)?;
        match lowered {
            LoweredValue::Packed(size, _) => {
                Ok(LoweredValue::Packed(*size, Rc::new(ArrayValue::Memory { array, base })))
            }
            _ => self.load(ty, array, base),
        }
    }

    /// Stores an array from the first slot of another one on.
    fn store_whole(&mut self, lowered: &LoweredValue<'p>, ty: &Type, array: Array) -> Result<()> {
        let base = self.int(0)?;
        match (lowered, ty) {
            (LoweredValue::Packed(size, value), Type::Exists(_, inner)) => {
                let Type::Array(space, element) = &**inner else { return Err(Declined::Arrival) };
                let slots = self.slots_of(*size, element)?;
                self.reserve(array, slots)?;
                self.store_array(&value.clone(), (space, Some(*size)), element, array, base)
            }
            _ => {
                self.make_room(array, ty)?;
                self.store(lowered, ty, array, base)
            }
        }
    }

    /// The array that an update changes: the old one if it lies there, otherwise a copy.
    pub(super) fn store_for_update(&mut self, value: Value, old: Value) -> Result<LoweredValue<'p>> {
        let lowered = self.values[&old].clone();
        self.store_at_result(value, &lowered, self.uses.types[&value], &mut 0)
    }

    /// An array of one element. The arrays of an element may be those of other values, which change, so
    /// they are stored in memory of their own.
    pub(super) fn one_element(
        &mut self,
        stmt: &'p ArrayStmt,
        only: LoweredValue<'p>,
        element: &Type,
    ) -> Result<LoweredValue<'p>> {
        let list = LoweredValue::Array(Rc::new(ArrayValue::List(vec![only])));
        match element.has_array() && !self.storage.is_delayed(stmt.value) {
            true => self.store_at_result(stmt.value, &list, &stmt.ty, &mut 0),
            false => Ok(list),
        }
    }

    /// The array in memory whose first slots a value takes, from slot 0 on.
    pub(super) fn whole_array(&self, lowered: &LoweredValue<'p>) -> Option<Array> {
        let (LoweredValue::Array(value) | LoweredValue::Packed(_, value)) = lowered else { return None };
        match **value {
            ArrayValue::Memory { array, base } if self.known(base) == Some(0) => Some(array),
            _ => None,
        }
    }

    /// The array in memory of its own.
    pub(super) fn store_in_own_memory(
        &mut self,
        lowered: &LoweredValue<'p>,
        ty: &Type,
    ) -> Result<LoweredValue<'p>> {
        let array = self.allocate(ty)?;
        self.store_in(array, lowered, ty)
    }

    // ---- variables ----------------------------------------------------------------------

    /// Makes a location for values of a type.
    pub(super) fn new_location(&mut self, ty: &Type) -> Result<Location> {
        Ok(match ty {
            Type::Element(element) => Location::Word(self.kernel.vars.push(scalar_type(*element))),
            Type::Index(space) => {
                let vars = space.digits.iter().map(|_| self.kernel.vars.push(ScalarType::I64));
                Location::Index(vars.collect())
            }
            Type::Tuple(types) => Location::Tuple(
                types.iter().map(|ty| self.new_location(ty)).collect::<Result<Vec<_>>>()?.into(),
            ),
            Type::Array(space, _) if self.capacity(space)? == 0 => Location::Empty,
            Type::Array(_, element) if self.slots(ty)? == 0 => {
                Location::Repeated(Rc::new(self.new_location(element)?))
            }
            Type::Array(..) => Location::Memory(self.allocate(ty)?),
            Type::Sum(types) => {
                let tag = self.kernel.vars.push(ScalarType::I64);
                let locations = types.iter().map(|ty| self.new_location(ty)).collect::<Result<Vec<_>>>()?;
                Location::Sum(tag, locations.into())
            }
            Type::Exists(..) => {
                let element = sized_element(ty).ok_or(Declined::Arrival)?;
                Location::Packed(self.kernel.vars.push(ScalarType::I64), self.allocate_growable(element)?)
            }
        })
    }

    /// Makes a location for a value: arrays lie in the memory of their classes.
    pub(super) fn location_of(&mut self, value: Value) -> Result<Location> {
        fn location<'p>(
            emitter: &mut Emitter<'p>,
            value: Value,
            ty: &Type,
            next: &mut usize,
        ) -> Result<Location> {
            match ty {
                Type::Array(..) => {
                    // An array without slots has a class, too.
                    *next += 1;
                    match emitter.slots(ty)? {
                        0 => emitter.new_location(ty),
                        _ => emitter.memory_of(value, *next - 1, ty).map(Location::Memory),
                    }
                }
                Type::Exists(_, inner) => {
                    if sized_element(ty).is_none() {
                        return Err(Declined::Arrival);
                    }
                    *next += 1;
                    let memory = emitter.memory_of(value, *next - 1, inner)?;
                    Ok(Location::Packed(emitter.kernel.vars.push(ScalarType::I64), memory))
                }
                Type::Tuple(types) => {
                    let parts = types.iter().map(|ty| location(emitter, value, ty, next));
                    Ok(Location::Tuple(parts.collect::<Result<Vec<_>>>()?.into()))
                }
                Type::Sum(types) => {
                    let tag = emitter.kernel.vars.push(ScalarType::I64);
                    let pieces = types.iter().map(|ty| location(emitter, value, ty, next));
                    Ok(Location::Sum(tag, pieces.collect::<Result<Vec<_>>>()?.into()))
                }
                ty => emitter.new_location(ty),
            }
        }
        location(self, value, self.uses.types[&value], &mut 0)
    }

    /// Sets a location to a value that ends a block or begins a loop.
    ///
    /// Its arrays are a parallel copy. Memory is exchanged where a source is all of an array that
    /// nothing reads afterward, the old memory of another target included: states that move on
    /// (`before, now = now, next`) cost no copy.
    pub(super) fn move_to(&mut self, location: &Location, value: Value) -> Result<()> {
        let (lowered, ty) = (self.values[&value].clone(), self.uses.types[&value]);
        let mut arrays = Vec::new();
        self.set_words(location, &lowered, ty, &mut arrays)?;
        let targets: Vec<(usize, Array)> =
            (0..).zip(&arrays).filter_map(|(at, moved)| Some((at, moved.as_ref()?.0))).collect();
        let mut moves = Vec::new();
        for (position, moved) in arrays.into_iter().enumerate() {
            let Some((target, lowered, ty)) =
                moved.filter(|moved| self.whole_array(&moved.1) != Some(moved.0))
            else {
                continue;
            };
            let overwritten = targets.iter().any(|(_, target)| self.reads_memory(value, position, *target));
            let read_elsewhere = |this: &Self, memory: Array| {
                let mut others = targets.iter().filter(|(other, _)| *other != position);
                others.any(|(other, _)| this.reads_memory(value, *other, memory))
            };
            // The old contents of a target are not needed afterward.
            let is_target = |memory: Array| targets.iter().any(|(_, target)| *target == memory);
            let spare = self.exchangeable_array(&lowered, target).filter(|memory| {
                (is_target(*memory) || !overwritten && self.storage.is_last_use(value, position))
                    && !read_elsewhere(self, *memory)
            });
            moves.push(Move { target, lowered, ty, overwritten, spare });
        }
        self.refuse_impossible_exchanges(&mut moves);
        // Sources that a copy or an exchange would overwrite before they are read are saved first.
        for moved in moves.iter_mut().filter(|moved| moved.overwritten && moved.spare.is_none()) {
            moved.lowered = self.store_in_own_memory(&moved.lowered, moved.ty)?;
            moved.spare = self.exchangeable_array(&moved.lowered, moved.target);
        }
        for (target, memory) in exchanges(spares(&moves)) {
            self.emit(Stmt::Swap(target, memory))?;
        }
        for moved in moves.iter().filter(|moved| moved.spare.is_none()) {
            self.store_whole(&moved.lowered, moved.ty, moved.target)?;
        }
        Ok(())
    }

    /// Leaves those moves to copies whose exchange would be one of two arrays of which neither is
    /// made for the run.
    fn refuse_impossible_exchanges(&self, moves: &mut [Move<'p, '_>]) {
        let is_own =
            |array: Array| matches!(self.kernel.arrays[array].origin, Origin::Scratch | Origin::Growable);
        while let Some((target, _)) =
            exchanges(spares(moves)).into_iter().find(|(target, memory)| !is_own(*target) && !is_own(*memory))
        {
            let refused = moves.iter_mut().find(|moved| moved.target == target);
            refused.expect("an exchange has the target of a move").spare = None;
        }
    }

    /// Returns true if reading an array of a value reads an array in memory.
    fn reads_memory(&self, value: Value, position: usize, array: Array) -> bool {
        let class = self.classes_of_memory.get(&array);
        class.is_some_and(|class| self.storage.reads(value, position, *class))
    }

    /// Sets the variables of a location; collects its arrays with what goes there, by their positions:
    /// nothing for an array without slots.
    fn set_words<'t>(
        &mut self,
        location: &Location,
        lowered: &LoweredValue<'p>,
        ty: &'t Type,
        arrays: &mut Vec<Option<(Array, LoweredValue<'p>, &'t Type)>>,
    ) -> Result<()> {
        match (location, lowered, ty) {
            (Location::Memory(array), lowered, ty) => arrays.push(Some((*array, lowered.clone(), ty))),
            (Location::Packed(var, array), LoweredValue::Packed(size, _), ty) => {
                self.emit(Stmt::Set(*var, size.count))?;
                arrays.push(Some((*array, lowered.clone(), ty)));
            }
            (Location::Empty | Location::Repeated(_), lowered, ty) => {
                arrays.push(None);
                self.assign_words(location, lowered, ty)?;
            }
            (Location::Tuple(locations), LoweredValue::Tuple(parts), Type::Tuple(types)) => {
                for ((location, part), ty) in locations.iter().zip(parts.iter()).zip(types) {
                    self.set_words(location, part, ty, arrays)?;
                }
            }
            (Location::Sum(tag, locations), LoweredValue::Sum(case, pieces), Type::Sum(types)) => {
                self.emit(Stmt::Set(*tag, *case))?;
                for ((location, piece), ty) in locations.iter().zip(pieces.iter()).zip(types) {
                    self.set_words(location, piece, ty, arrays)?;
                }
            }
            (location, lowered, ty) => self.assign_words(location, lowered, ty)?,
        }
        Ok(())
    }

    /// The array that a value is all of, if an array can take its memory and give its own for it.
    fn exchangeable_array(&self, lowered: &LoweredValue<'p>, array: Array) -> Option<Array> {
        let other = self.whole_array(lowered)?;
        let (old, new) = (self.kernel.arrays[array], self.kernel.arrays[other]);
        let alike = self.kernel.slots[array] == self.kernel.slots[other] && old.width == new.width;
        if old.origin == Origin::Growable || new.origin == Origin::Growable {
            return (old == new && !self.in_lanes).then_some(other);
        }
        // Of two arrays that are exchanged at least one is made for the run.
        let owned = |origin| matches!(origin, Origin::Scratch | Origin::InOut(_));
        let one_is_own = old.origin == Origin::Scratch || new.origin == Origin::Scratch;
        let may_change = owned(old.origin) && owned(new.origin) && one_is_own;
        (alike && may_change && !self.in_parallel && !self.in_lanes).then_some(other)
    }

    /// Sets a location of [`Emitter::new_location`] to a value. Its arrays may be made of those
    /// that lie there: all of them are complete before one is stored.
    pub(super) fn assign(
        &mut self,
        location: &Location,
        lowered: &LoweredValue<'p>,
        ty: &Type,
    ) -> Result<()> {
        let mut arrays = Vec::new();
        self.set_words(location, lowered, ty, &mut arrays)?;
        let mut moves = Vec::new();
        for (target, lowered, ty) in arrays.into_iter().flatten() {
            if self.whole_array(&lowered) != Some(target) {
                moves.push((target, self.store_in_own_memory(&lowered, ty)?, ty));
            }
        }
        for (target, lowered, ty) in moves {
            let spare = self.exchangeable_array(&lowered, target);
            self.swap_or_copy(target, &lowered, ty, spare)?;
        }
        Ok(())
    }

    /// Makes a value the contents of an array: by an exchange with memory that it is all of and
    /// that is not needed any more, or by a copy.
    fn swap_or_copy(
        &mut self,
        target: Array,
        lowered: &LoweredValue<'p>,
        ty: &Type,
        spare: Option<Array>,
    ) -> Result<()> {
        match spare {
            Some(memory) => self.emit(Stmt::Swap(target, memory)),
            None => self.store_whole(lowered, ty, target),
        }
    }

    /// Sets a location without arrays to a value.
    fn assign_words(&mut self, location: &Location, lowered: &LoweredValue<'p>, ty: &Type) -> Result<()> {
        match (location, lowered, ty) {
            (Location::Word(var), LoweredValue::Word(reg), _) => self.emit(Stmt::Set(*var, *reg)),
            (Location::Index(vars), LoweredValue::Index(digits), _) => {
                vars.iter().zip(digits.iter()).try_for_each(|(var, reg)| self.emit(Stmt::Set(*var, *reg)))
            }
            (Location::Empty, ..) => Ok(()),
            (Location::Repeated(location), LoweredValue::Array(_), Type::Array(_, element)) => {
                let only = self.without_slots(element)?;
                self.assign(location, &only, element)
            }
            _ => unreachable!("a location holds values of its type"),
        }
    }

    /// The value of a location now. Memory is not read: it stays as it is until it is assigned again.
    pub(super) fn read(&mut self, location: &Location) -> Result<LoweredValue<'p>> {
        let get = |this: &mut Self, var: Var| this.set(this.kernel.vars[var], Op::Get(var));
        Ok(match location {
            Location::Word(var) => LoweredValue::Word(get(self, *var)?),
            Location::Index(vars) => {
                let digits = vars.iter().map(|var| get(self, *var)).collect::<Result<Vec<_>>>()?;
                LoweredValue::Index(digits.into())
            }
            Location::Tuple(locations) => {
                let parts =
                    locations.iter().map(|location| self.read(location)).collect::<Result<Vec<_>>>()?;
                LoweredValue::Tuple(parts.into())
            }
            Location::Sum(tag, locations) => {
                let tag = get(self, *tag)?;
                let pieces =
                    locations.iter().map(|location| self.read(location)).collect::<Result<Vec<_>>>()?;
                LoweredValue::Sum(tag, pieces.into())
            }
            Location::Memory(array) => {
                let base = self.int(0)?;
                LoweredValue::Array(Rc::new(ArrayValue::Memory { array: *array, base }))
            }
            Location::Packed(var, array) => {
                let (count, base) = (get(self, *var)?, self.int(0)?);
                let size = OpenedSize { count, bound: UNBOUNDED };
                LoweredValue::Packed(size, Rc::new(ArrayValue::Memory { array: *array, base }))
            }
            Location::Empty => LoweredValue::Array(Rc::new(ArrayValue::List(Vec::new()))),
            Location::Repeated(location) => {
                let only = self.read(location)?;
                LoweredValue::Array(Rc::new(ArrayValue::Repeated(only)))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each target has the old contents of its source, in chains, in cycles and alone.
    #[test]
    fn exchanges_carry_out_parallel_copies() {
        let seed = fastrand::u64(..);
        eprintln!("seed {seed}");
        let mut random = fastrand::Rng::with_seed(seed);
        for _ in 0..5000 {
            let count = random.usize(2..8);
            let mut shuffled = || {
                let mut arrays: Vec<Array> = (0..count).map(Array::new).collect();
                random.shuffle(&mut arrays);
                arrays
            };
            let (targets, sources) = (shuffled(), shuffled());
            let wanted: Vec<(Array, Array)> = targets
                .into_iter()
                .zip(sources)
                .filter(|(target, source)| target != source)
                .take(count / 2 + 1)
                .collect();
            let mut contents: Vec<usize> = (0..count).collect();
            for (a, b) in exchanges(wanted.clone()) {
                contents.swap(a.index(), b.index());
            }
            for (target, source) in wanted {
                assert_eq!(contents[target.index()], source.index());
            }
        }
    }
}
