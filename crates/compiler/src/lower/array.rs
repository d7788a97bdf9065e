//! Aggregates: where their slots are, how they are read, and how they are stored.

use super::{
    AbstractValue, Aggregate, Binding, Declined, Digit, Frame, Locals, Lower, Place, Result, UnexpectedForm,
    UnsupportedConstruct, UnsupportedType, bare, word,
};
use crate::core::{Root, Term};
use crate::layout::{Form, Layout};
use crate::loop_ir::{Array, Binary, Compare, Op, Reg, ScalarType, Stmt};
use crate::types::{Type, TypeKind};
use std::rc::Rc;

/// Slots that are worth a parallel loop of however few rounds.
const MIN_PARALLEL_SLOTS: u64 = 4096;

/// A comprehension: its clauses, its body, and the variables around it.
struct Built<'b, 'a> {
    clauses: &'b [(u32, Type)],
    body: &'a Term,
    frame: &'b Frame<'a>,
}

/// Returns true if an index type has several digits.
fn several(ty: &Type) -> bool {
    ty.compact_factors(8).is_some_and(|factors| factors.len() > 1)
}

impl<'a> Lower<'a> {
    // ---- reading --------------------------------------------------------------------------

    /// The value of a type whose slots begin at one of an array.
    pub(crate) fn fetch(
        &mut self,
        array: Array,
        slot: Reg,
        ty: &Type,
        changing: bool,
    ) -> Result<AbstractValue<'a>> {
        let layout = self.stored(ty)?;
        Ok(match layout.slots {
            0 => AbstractValue::Unit,
            1 => {
                let ty = word(&layout.leaf().ok_or(Declined::Form(UnexpectedForm::UnknownSlot))?)?;
                AbstractValue::Word(self.set(ty, Op::Load(array, slot, ty))?)
            }
            _ => AbstractValue::Array(Rc::new(Aggregate::Stored { array, base: slot, changing })),
        })
    }

    /// Component `i` of a tuple, or of an array at a constant position.
    pub(crate) fn component(
        &mut self,
        value: &AbstractValue<'a>,
        from: &Type,
        i: u64,
        to: &Type,
    ) -> Result<AbstractValue<'a>> {
        self.step()?;
        let (whole, part) = (self.layout(from), self.layout(to));
        if part.slots == 0 {
            return Ok(AbstractValue::Unit);
        }
        // An array of one element is that element.
        if from == to {
            return Ok(value.clone());
        }
        if let AbstractValue::Parts(parts) = value {
            return parts.get(i as usize).cloned().ok_or(Declined::Form(UnexpectedForm::MissingComponent));
        }
        if whole.slots == part.slots {
            return Ok(value.clone());
        }
        let (start, _) = whole.part(i as usize).ok_or(Declined::Form(UnexpectedForm::MissingComponent))?;
        let AbstractValue::Array(array) = value else {
            return Err(Declined::Form(UnexpectedForm::ComponentOfWord));
        };
        match &**array {
            Aggregate::Stored { array, base, changing } => {
                let offset = self.size(start as u64)?;
                let slot = self.binary(Binary::Add, *base, offset)?;
                self.fetch(*array, slot, to, *changing)
            }
            Aggregate::View { of, ty, start: first } => {
                let offset = self.size(start as u64)?;
                let slot = self.binary(Binary::Add, *first, offset)?;
                self.view(of, ty, slot, to)
            }
            Aggregate::Zero => self.zero(to),
            Aggregate::Choice(condition, a, b) => {
                let (x, y) = (self.component(a, from, i, to)?, self.component(b, from, i, to)?);
                self.choose(*condition, &x, &y, to)
            }
            Aggregate::Built { .. } => {
                let index = self.size(i)?;
                self.index(value, from, &AbstractValue::Word(index), to)
            }
        }
    }

    /// The element of an array at an index.
    pub(crate) fn index(
        &mut self,
        value: &AbstractValue<'a>,
        from: &Type,
        index: &AbstractValue<'a>,
        to: &Type,
    ) -> Result<AbstractValue<'a>> {
        self.step()?;
        let (whole, part) = (self.layout(from), self.layout(to));
        if part.slots == 0 {
            return Ok(AbstractValue::Unit);
        }
        let at = match index {
            AbstractValue::Word(reg) => *reg,
            _ => self.int(0)?,
        };
        // An array of one element is that element.
        if whole.slots == part.slots {
            return Ok(value.clone());
        }
        if let AbstractValue::Parts(parts) = value {
            if let Some(known) = self.known(at) {
                return parts
                    .get(known as usize)
                    .cloned()
                    .ok_or(Declined::Form(UnexpectedForm::MissingElement));
            }
            let held = self.materialize(value, from)?;
            return self.index(&held, from, index, to);
        }
        let AbstractValue::Array(array) = value else {
            return Err(Declined::Form(UnexpectedForm::ElementOfWord));
        };
        match &**array {
            Aggregate::Stored { array, base, changing } => {
                let stride = self.size(part.slots as u64)?;
                let offset = self.binary(Binary::Mul, at, stride)?;
                let slot = self.binary(Binary::Add, *base, offset)?;
                self.fetch(*array, slot, to, *changing)
            }
            Aggregate::View { of, ty, start } => {
                let stride = self.size(part.slots as u64)?;
                let offset = self.binary(Binary::Mul, at, stride)?;
                let slot = self.binary(Binary::Add, *start, offset)?;
                self.view(of, ty, slot, to)
            }
            Aggregate::Zero => self.zero(to),
            Aggregate::Choice(condition, a, b) => {
                let (condition, a, b) = (*condition, a.clone(), b.clone());
                self.either(condition, to, &mut self.nowhere(), &mut |this, _, first| {
                    this.index(if first { &a } else { &b }, from, index, to)
                })
            }
            Aggregate::Built { clauses, body, frame, number, .. } => {
                self.reads(*number, at);
                let mut inner = frame.clone();
                let digits = self.digits(at, clauses)?;
                for ((local, _), digit) in clauses.iter().zip(digits) {
                    inner.locals.set(*local, Binding::Value(digit));
                }
                let spent = self.repeat.spent();
                let element = self.term(body, &mut inner);
                self.repeat.element(*number, spent);
                element
            }
        }
    }

    /// The indices of several clauses from the code of their product.
    fn digits(&mut self, code: Reg, clauses: &[(u32, Type)]) -> Result<Vec<AbstractValue<'a>>> {
        let sizes = clauses.iter().map(|(_, ty)| self.count(ty)).collect::<Result<Vec<_>>>()?;
        if let Some((parts, known)) = self.packed.get(&code)
            && *known == sizes
        {
            return Ok(parts.clone());
        }
        self.divided.insert(code);
        let mut weight: u64 = sizes.iter().try_fold(1u64, |w, s| w.checked_mul(*s)).unwrap_or(0);
        let mut digits = Vec::new();
        for (i, size) in sizes.iter().enumerate() {
            weight /= (*size).max(1);
            if *size == 1 {
                digits.push(AbstractValue::Unit);
                continue;
            }
            let by = self.size(weight)?;
            let mut digit = self.binary(Binary::DivUnsigned, code, by)?;
            if sizes[..i].iter().any(|s| *s != 1) {
                let by = self.size(*size)?;
                digit = self.binary(Binary::RemUnsigned, digit, by)?;
            }
            if digit != code {
                self.parts.insert(digit, Digit { code, at: i, sizes: sizes.clone() });
            }
            digits.push(AbstractValue::Word(digit));
        }
        Ok(digits)
    }

    /// A value of a type whose slots begin at one of another value's.
    fn view(&mut self, of: &AbstractValue<'a>, ty: &Type, slot: Reg, to: &Type) -> Result<AbstractValue<'a>> {
        match self.layout(to).slots {
            0 => Ok(AbstractValue::Unit),
            1 => self.slot(of, ty, slot),
            _ => Ok(AbstractValue::Array(Rc::new(Aggregate::View {
                of: of.clone(),
                ty: ty.clone(),
                start: slot,
            }))),
        }
    }

    /// One slot of a value.
    fn slot(&mut self, value: &AbstractValue<'a>, ty: &Type, slot: Reg) -> Result<AbstractValue<'a>> {
        self.step()?;
        let layout = self.layout(ty);
        if layout.slots == 1 {
            return Ok(value.clone());
        }
        if let AbstractValue::Array(array) = value
            && let Aggregate::View { of, ty, start } = &**array
        {
            let slot = self.binary(Binary::Add, *start, slot)?;
            return self.slot(of, ty, slot);
        }
        match &layout.form {
            Form::Array { element, .. } => {
                let element_ty = element_type(ty)?;
                let (index, rest) = if element.slots == 1 {
                    (slot, None)
                } else {
                    let parts = self.packed.get(&slot).cloned();
                    match parts {
                        Some((parts, sizes)) if sizes.len() == 2 && sizes[1] == element.slots as u64 => {
                            let reg = |this: &mut Self, v: &AbstractValue<'a>| match v {
                                AbstractValue::Word(reg) => Ok(*reg),
                                _ => this.int(0),
                            };
                            (reg(self, &parts[0])?, Some(reg(self, &parts[1])?))
                        }
                        _ => {
                            let by = self.size(element.slots as u64)?;
                            let index = self.binary(Binary::DivUnsigned, slot, by)?;
                            (index, Some(self.binary(Binary::RemUnsigned, slot, by)?))
                        }
                    }
                };
                let element = self.index(value, ty, &AbstractValue::Word(index), &element_ty)?;
                match rest {
                    None => Ok(element),
                    Some(rest) => self.slot(&element, &element_ty, rest),
                }
            }
            Form::Parts(parts) => {
                let known =
                    self.known(slot).ok_or(Declined::Form(UnexpectedForm::SlotOfUnknownTuple))? as usize;
                let at = parts.partition_point(|(start, _)| *start <= known).max(1) - 1;
                // Parts without slots share their start with the next.
                let types =
                    ty.components(parts.len()).ok_or(Declined::Form(UnexpectedForm::PartsWithoutTypes))?;
                let part_ty = bare(&types[at]);
                let part = self.component(value, ty, at as u64, &part_ty)?;
                let rest = self.int((known - parts[at].0) as u64)?;
                self.slot(&part, &part_ty, rest)
            }
            _ => Err(Declined::Form(UnexpectedForm::SlotOfUnknownValue)),
        }
    }

    /// The same storage at another type.
    pub(crate) fn reshape(
        &mut self,
        value: AbstractValue<'a>,
        from: &Type,
        to: &Type,
    ) -> Result<AbstractValue<'a>> {
        if from == to {
            return Ok(value);
        }
        if from.has_var() || to.has_var() {
            return Err(Declined::Construct(UnsupportedConstruct::UnknownSize));
        }
        let layout = self.layout(from);
        // Code is made only of what is so at these sizes, whatever was decided for all.
        if !layout.stored_like(&self.layout(to)) {
            return Err(Declined::Type(UnsupportedType::OtherStorage));
        }
        if let AbstractValue::Sum(..) = value {
            return Err(Declined::Type(UnsupportedType::ReshapedSum));
        }
        if layout.slots <= 1 {
            return Ok(value);
        }
        match &value {
            AbstractValue::Array(array) => match &**array {
                Aggregate::Stored { .. } | Aggregate::Zero => Ok(value),
                Aggregate::View { of, ty, start } => Ok(AbstractValue::Array(Rc::new(Aggregate::View {
                    of: of.clone(),
                    ty: ty.clone(),
                    start: *start,
                }))),
                _ => self.viewed(value, from),
            },
            AbstractValue::Parts(_) => self.viewed(value, from),
            _ => Ok(value),
        }
    }

    fn viewed(&mut self, of: AbstractValue<'a>, ty: &Type) -> Result<AbstractValue<'a>> {
        let uniform = |layout: &Layout| {
            let mut layout = layout;
            loop {
                match &layout.form {
                    Form::Array { element, .. } if element.slots == 1 => return true,
                    Form::Array { element, .. } => layout = element,
                    _ => return false,
                }
            }
        };
        if uniform(&self.layout(ty)) || matches!(of, AbstractValue::Parts(_)) {
            let start = self.int(0)?;
            return Ok(AbstractValue::Array(Rc::new(Aggregate::View { of, ty: ty.clone(), start })));
        }
        self.materialize(&of, ty)
    }

    /// A value of zeros, where nothing is ever computed.
    pub(crate) fn zero(&mut self, ty: &Type) -> Result<AbstractValue<'a>> {
        self.step()?;
        if let Some(cases) = self.cases(ty)? {
            let zeros = cases.iter().map(|ty| self.zero(ty)).collect::<Result<Vec<_>>>()?;
            return Ok(AbstractValue::Sum(self.int(0)?, Rc::new(zeros)));
        }
        let layout = match (self.stored(ty), &self.layout(ty).form) {
            (Ok(layout), _) => layout,
            (Err(no), Form::Parts(parts)) => {
                let types = ty.components(parts.len()).ok_or(no)?;
                let zeros = types.iter().map(|ty| self.zero(&bare(ty))).collect::<Result<Vec<_>>>()?;
                return self.tuple(zeros.into_iter().zip(types).collect(), ty);
            }
            (Err(no), _) => return Err(no),
        };
        Ok(match layout.slots {
            0 => AbstractValue::Unit,
            1 => {
                let ty = self.word_type(ty)?;
                AbstractValue::Word(self.constant(ty, 0)?)
            }
            _ => AbstractValue::Array(Rc::new(Aggregate::Zero)),
        })
    }

    /// A frame of nobody: for values that are known already.
    pub(crate) fn nowhere(&self) -> Frame<'a> {
        let infos = Rc::new(super::BodyFacts::new(&[], Default::default(), Default::default()));
        Frame { locals: Locals::default(), infos, exit: None, around: None, outermost: false }
    }

    /// The frame as an array's body needs it later: variables that change as they are now.
    pub(crate) fn captured(&mut self, frame: &mut Frame<'a>, body: &'a Term) -> Result<Frame<'a>> {
        let free = self.free(body)?;
        // What an array remembers is a copy of that part of the frame.
        self.steps_of(free.len() / 8)?;
        let mut locals = Locals::default();
        for &local in &*free {
            let value = match frame.locals.get(local) {
                Some(Binding::Value(value)) => value.clone(),
                Some(Binding::Place(_)) => self.local(local, frame)?,
                None => continue,
            };
            locals.set(local, Binding::Value(value));
        }
        let infos = frame.infos.clone();
        Ok(Frame {
            locals,
            infos,
            exit: frame.exit.clone(),
            around: frame.around,
            outermost: frame.outermost,
        })
    }

    // ---- storing --------------------------------------------------------------------------

    /// The value, stored.
    pub(crate) fn materialize(&mut self, value: &AbstractValue<'a>, ty: &Type) -> Result<AbstractValue<'a>> {
        let layout = self.stored(ty)?;
        if layout.slots <= 1 {
            return Ok(value.clone());
        }
        self.few_leaves(value)?;
        let array = self.scratch(&layout)?;
        let base = self.int(0)?;
        self.fill(array, base, value, ty)?;
        Ok(AbstractValue::Array(Rc::new(Aggregate::Stored { array, base, changing: false })))
    }

    /// Stores a value into the slots of an array from one on.
    pub(crate) fn fill(
        &mut self,
        array: Array,
        base: Reg,
        value: &AbstractValue<'a>,
        ty: &Type,
    ) -> Result<()> {
        self.step()?;
        let layout = self.stored(ty)?;
        match (layout.slots, value) {
            (0, _) => return Ok(()),
            (1, _) => {
                let reg = self.as_word(value, ty)?;
                return self.emit(Stmt::Store(array, base, reg));
            }
            (_, AbstractValue::Parts(parts)) => {
                let types =
                    ty.components(parts.len()).ok_or(Declined::Form(UnexpectedForm::PartsWithoutTypes))?;
                for (i, (part, ty)) in parts.iter().zip(types).enumerate() {
                    let (start, _) = layout.part(i).ok_or(Declined::Form(UnexpectedForm::MissingPart))?;
                    let offset = self.size(start as u64)?;
                    let slot = self.binary(Binary::Add, base, offset)?;
                    self.fill(array, slot, part, &bare(&ty))?;
                }
                return Ok(());
            }
            _ => {}
        }
        let AbstractValue::Array(aggregate) = value else {
            return Err(Declined::Type(UnsupportedType::FunctionInArray));
        };
        match &**aggregate {
            Aggregate::Stored { array: from, base: first, .. } => {
                let raw = raw(self.kernel.arrays[*from].width);
                let (from, first) = (*from, *first);
                self.each_slot(layout.slots as u64, &mut |this, k| {
                    let at = this.binary(Binary::Add, first, k)?;
                    let value = this.set(raw, Op::Load(from, at, raw))?;
                    let to = this.binary(Binary::Add, base, k)?;
                    this.emit(Stmt::Store(array, to, value))
                })
            }
            Aggregate::Zero => self.each_slot(layout.slots as u64, &mut |this, k| {
                let zero = this.int(0)?;
                let to = this.binary(Binary::Add, base, k)?;
                this.emit(Stmt::Store(array, to, zero))
            }),
            Aggregate::Choice(condition, a, b) => {
                // The branches of a condition are no place for parallel loops.
                let (first, ()) = self.under_condition(|this| this.fill(array, base, a, ty))?;
                let (second, ()) = self.under_condition(|this| this.fill(array, base, b, ty))?;
                self.emit(Stmt::If(*condition, first, second))
            }
            Aggregate::View { of, ty: of_ty, start } => {
                if self.known(*start) == Some(0) && self.layout(of_ty).slots == layout.slots {
                    return self.fill(array, base, of, of_ty);
                }
                let start = *start;
                self.each_slot(layout.slots as u64, &mut |this, k| {
                    let from = this.binary(Binary::Add, start, k)?;
                    let value = this.slot(of, of_ty, from)?;
                    let AbstractValue::Word(value) = value else {
                        return Err(Declined::Form(UnexpectedForm::SlotOfSeveral));
                    };
                    let to = this.binary(Binary::Add, base, k)?;
                    this.emit(Stmt::Store(array, to, value))
                })
            }
            Aggregate::Built { clauses, body, frame, number, .. } => {
                self.reads_all(*number);
                // First each index as a whole; one that this takes apart is walked digit by digit.
                let built = Built { clauses, body, frame };
                let mut apart = vec![false; clauses.len()];
                if clauses.iter().any(|(_, ty)| several(ty)) {
                    let (made, repeat) = (self.made, self.repeat.clone());
                    let outer = std::mem::take(&mut self.divided);
                    let top = self.may_be_parallel();
                    let (stmts, indices) =
                        self.block(|this| this.rounds_of(array, base, &built, &apart, top))?;
                    for ((apart, index), (_, ty)) in apart.iter_mut().zip(indices).zip(clauses) {
                        *apart = several(ty) && index.is_some_and(|reg| self.divided.contains(&reg));
                    }
                    self.divided.extend(outer);
                    if !apart.contains(&true) {
                        self.made = made;
                        return stmts.into_iter().try_for_each(|stmt| self.emit(stmt));
                    }
                    self.repeat = repeat;
                }
                let top = self.may_be_parallel();
                self.rounds_of(array, base, &built, &apart, top).map(|_| ())
            }
        }
    }

    /// Stores the elements of a built array; gives the registers of its indices that are walked as
    /// a whole.
    fn rounds_of(
        &mut self,
        array: Array,
        base: Reg,
        built: &Built<'_, 'a>,
        apart: &[bool],
        top: bool,
    ) -> Result<Vec<Option<Reg>>> {
        let Built { clauses, body, frame } = built;
        let element = self.ty(frame, &body.ty);
        let mut digits = Vec::new();
        for ((local, ty), apart) in clauses.iter().zip(apart) {
            let factors = ty.compact_factors(8).filter(|f| *apart && f.len() > 1);
            let sizes = match factors {
                Some(factors) => factors.iter().map(|f| self.count(f)).collect::<Result<Vec<_>>>()?,
                None => vec![self.count(ty)?],
            };
            digits.push((*local, ty.clone(), sizes));
        }
        let loops: Vec<u64> = digits.iter().flat_map(|(_, _, sizes)| sizes.clone()).collect();
        let slots = self.layout(&element).slots as u64;
        let mut whole = vec![None; clauses.len()];
        self.nested(&loops, top, slots, &mut |this, indices| {
            let mut inner = (*frame).clone();
            let mut rest = indices;
            for (i, (local, ty, sizes)) in digits.iter().enumerate() {
                let (own, others) = rest.split_at(sizes.len());
                rest = others;
                let value = match own {
                    [one] => one.clone(),
                    several => this.pack(several.to_vec(), ty)?,
                };
                if let (AbstractValue::Word(reg), false) = (&value, apart[i]) {
                    whole[i] = Some(*reg);
                }
                inner.locals.set(*local, Binding::Value(value));
            }
            let mut code: Option<Reg> = None;
            for (index, size) in indices.iter().zip(&loops) {
                code = match (code, index) {
                    (None, AbstractValue::Word(reg)) => Some(*reg),
                    (None, _) => None,
                    (Some(code), AbstractValue::Word(reg)) => {
                        let size = this.size(*size)?;
                        let scaled = this.binary(Binary::Mul, code, size)?;
                        Some(this.binary(Binary::Add, scaled, *reg)?)
                    }
                    (code, _) => code,
                };
            }
            let code = match code {
                Some(code) => code,
                None => this.int(0)?,
            };
            let value = this.term(body, &mut inner)?;
            let stride = this.size(slots)?;
            let offset = this.binary(Binary::Mul, code, stride)?;
            let slot = this.binary(Binary::Add, base, offset)?;
            this.fill(array, slot, &value, &element)
        })?;
        Ok(whole)
    }

    /// One round for each slot.
    fn each_slot(&mut self, slots: u64, round: &mut dyn FnMut(&mut Self, Reg) -> Result<()>) -> Result<()> {
        if slots <= 4 {
            return (0..slots).try_for_each(|k| {
                let k = self.int(k)?;
                round(self, k)
            });
        }
        let top = self.may_be_parallel();
        self.nested(&[slots], top, 1, &mut |this, indices| match &indices[0] {
            AbstractValue::Word(k) => round(this, *k),
            _ => Err(Declined::Form(UnexpectedForm::SlotWithoutNumber)),
        })
    }

    /// Loops inside one another, over these sizes, the outermost one in parallel if `top`. A round
    /// makes so many `slots`.
    pub(crate) fn nested(
        &mut self,
        sizes: &[u64],
        top: bool,
        slots: u64,
        round: &mut dyn FnMut(&mut Self, &[AbstractValue<'a>]) -> Result<()>,
    ) -> Result<()> {
        // Few rounds of little work are not worth a phase of their own.
        let all = sizes.iter().fold(slots, |all, size| all.saturating_mul(*size));
        let top = top
            && (all >= MIN_PARALLEL_SLOTS
                || sizes.iter().find(|size| **size > 1).is_some_and(|size| *size > super::MAX_CONSTANT_SIZE));
        fn step<'a>(
            this: &mut Lower<'a>,
            sizes: &[u64],
            top: bool,
            indices: &mut Vec<AbstractValue<'a>>,
            round: &mut dyn FnMut(&mut Lower<'a>, &[AbstractValue<'a>]) -> Result<()>,
        ) -> Result<()> {
            let Some((size, rest)) = sizes.split_first() else { return round(this, indices) };
            if *size == 1 {
                indices.push(AbstractValue::Unit);
                step(this, rest, top, indices, round)?;
                indices.pop();
                return Ok(());
            }
            let count = this.size(*size)?;
            let index = this.reg(ScalarType::I64);
            this.facts.bound(index, *size);
            this.strict.whole(index, *size);
            indices.push(AbstractValue::Word(index));
            let outer = this.in_each;
            this.in_each = outer || top;
            let body = this.times(*size, |this| this.block(|this| step(this, rest, false, indices, round)));
            this.in_each = outer;
            let (body, ()) = body?;
            indices.pop();
            if top {
                return this.emit(Stmt::ParallelFor { index, count, body });
            }
            let low = this.int(0)?;
            let label = this.label();
            this.emit(Stmt::For { label, index, low, high: count, body })
        }
        step(self, sizes, top, &mut Vec::new(), round)
    }

    /// Returns true if two arrays are the same.
    pub(crate) fn same_arrays(
        &mut self,
        a: &AbstractValue<'a>,
        b: &AbstractValue<'a>,
        ty: &Type,
    ) -> Result<Reg> {
        let TypeKind::Array(element, index) = ty.kind() else {
            return Err(Declined::Form(UnexpectedForm::NoArray));
        };
        let (element, count) = (bare(element), self.count(index)?);
        let var = self.var(ScalarType::I64);
        let one = self.int(1)?;
        self.emit(Stmt::Set(var, one))?;
        let (low, high) = (self.int(0)?, self.size(count)?);
        let (label, at) = (self.label(), self.reg(ScalarType::I64));
        let (body, ()) = self.under_condition(|this| {
            let x = this.index(a, ty, &AbstractValue::Word(at), &element)?;
            let y = this.index(b, ty, &AbstractValue::Word(at), &element)?;
            let same = this.same(&x, &y, &element)?;
            let zero = this.int(0)?;
            let other = this.set(ScalarType::I64, Op::Compare(Compare::Eq, same, zero))?;
            this.emit(Stmt::If(other, vec![Stmt::Set(var, zero), Stmt::Break(label)], Vec::new()))
        })?;
        self.emit(Stmt::For { label, index: at, low, high, body })?;
        self.set(ScalarType::I64, Op::Get(var))
    }

    /// Returns true if a value refers to an array that changes; to a certain one.
    pub(crate) fn changing(&self, value: &AbstractValue<'a>, of: Option<Array>) -> bool {
        if self.step().is_err() {
            // Nobody goes on from here.
            return true;
        }
        match value {
            AbstractValue::Unit | AbstractValue::Word(_) => false,
            AbstractValue::Parts(parts) | AbstractValue::Sum(_, parts) => {
                parts.iter().any(|p| self.changing(p, of))
            }
            AbstractValue::Fun(f) => f.captures.iter().any(|c| self.changing(c, of)),
            AbstractValue::Array(array) => match &**array {
                Aggregate::Stored { array, changing, .. } => *changing && of.is_none_or(|of| of == *array),
                Aggregate::Choice(_, a, b) => self.changing(a, of) || self.changing(b, of),
                Aggregate::View { of: inner, .. } => self.changing(inner, of),
                Aggregate::Zero => false,
                // Which variables of the session change is known before anything is built.
                Aggregate::Built { still: true, .. } if self.globals.is_empty() => false,
                Aggregate::Built { frame, body, .. } => {
                    self.frame_changing(frame, of, None) || self.looks_at_changing(body, frame, of)
                }
            },
        }
    }

    /// Returns true if a local of a frame, other than one, refers to an array that changes.
    pub(crate) fn frame_changing(&self, frame: &Frame<'a>, of: Option<Array>, other: Option<u32>) -> bool {
        frame.locals.iter().any(|(local, bind)| match bind {
            Binding::Value(value) => Some(local) != other && self.changing(value, of),
            Binding::Place(_) => false,
        })
    }

    /// Declines to store into a variable's place while a local of the frame still refers to what it
    /// was.
    pub(crate) fn unwatched(&self, root: Root, place: &Place, frame: &Frame<'a>) -> Result<()> {
        let (of, own) = match (place, root) {
            (Place::Memory(array, _), Root::Local(local)) => (Some(*array), Some(local)),
            (Place::Memory(array, _), Root::Global(_)) => (Some(*array), None),
            (_, Root::Local(_)) => return Ok(()),
            // A number of the session: whatever is computed later may look at it.
            (_, Root::Global(_)) => (None, None),
        };
        match self.frame_changing(frame, of, own) {
            true => Err(Declined::Construct(UnsupportedConstruct::StoreIntoAliasedArray)),
            false => Ok(()),
        }
    }

    /// A place as a value that nobody changes any more.
    pub(crate) fn frozen(&mut self, place: &Place) -> Result<AbstractValue<'a>> {
        self.step()?;
        Ok(match place {
            Place::Memory(array, base) => AbstractValue::Array(Rc::new(Aggregate::Stored {
                array: *array,
                base: *base,
                changing: false,
            })),
            Place::Parts(parts) => AbstractValue::Parts(Rc::new(
                parts.iter().map(|p| self.frozen(p)).collect::<Result<Vec<_>>>()?,
            )),
            Place::Sum(case, places) => {
                let case = self.set(ScalarType::I64, Op::Get(*case))?;
                AbstractValue::Sum(
                    case,
                    Rc::new(places.iter().map(|p| self.frozen(p)).collect::<Result<Vec<_>>>()?),
                )
            }
            other => self.read(other)?,
        })
    }
}

/// The type of the elements of an array type.
pub(crate) fn element_type(ty: &Type) -> Result<Type> {
    match ty.kind() {
        TypeKind::Array(element, _) => Ok(bare(element)),
        _ => Err(Declined::Form(UnexpectedForm::NoArray)),
    }
}

/// The integer that holds a slot's bits.
fn raw(width: u8) -> ScalarType {
    match width {
        1 => ScalarType::I8,
        2 => ScalarType::I16,
        4 => ScalarType::I32,
        _ => ScalarType::I64,
    }
}
