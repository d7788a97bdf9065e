//! Variables that change: numbers become variables of the kernel, arrays are changed where they
//! lie.

use super::term::CodePart;
use super::{
    AbstractValue, Aggregate, Binding, Declined, Frame, InputBinding, Lower, Place, Result, ResultSource,
    UnexpectedForm, UnsupportedConstruct, UnsupportedType, bare, codes_below, word,
};
use crate::core::free_variables::FreeVariables;
use crate::core::{FunctionId, GlobalId, KnownValue, LocalInfo, Root, Step, StepKind, Term};
use crate::kernel::Input;
use crate::layout::Form;
use crate::loop_ir::{Array, Binary, Op, Origin, Reg, Stmt};
use crate::types::Type;
use crate::types::encoding::Code;
use std::collections::BTreeSet;
use std::rc::Rc;

/// Slots of the largest tuple that is kept in variables.
const MAX_TUPLE_SLOTS: usize = 32;

impl<'a> Lower<'a> {
    /// A variable outside of a loop that the loop changes.
    pub(crate) fn changed(&mut self, root: Root, frame: &mut Frame<'a>) -> Result<Place> {
        let ty = match root {
            Root::Local(local) => {
                let LocalInfo { shared, ty, .. } = frame.infos.locals[local as usize].clone();
                if shared {
                    return Err(Declined::Construct(UnsupportedConstruct::SharedVariable));
                }
                self.ty(frame, &ty)
            }
            Root::Global(global) => {
                let global = self
                    .program
                    .globals
                    .get(global as usize)
                    .ok_or(Declined::Form(UnexpectedForm::UnknownVariable))?;
                self.ty(frame, &global.ty.clone())
            }
        };
        let layout = self.stored(&ty)?;
        let number = self.inputs.len() as u32;
        let place = match layout.slots {
            0 => {
                self.bindings.push(InputBinding::Nothing);
                Place::Unit
            }
            1 => {
                let leaf = layout.leaf().ok_or(Declined::Form(UnexpectedForm::UnknownSlot))?;
                let word = word(&leaf)?;
                self.kernel.scalars.push(word);
                let scalar = self.kernel.scalars.len() as u32 - 1;
                self.bindings.push(InputBinding::Scalar(scalar, codes_below(&leaf)));
                let var = self.var(word);
                let given = self.set(word, Op::Scalar(scalar))?;
                self.emit(Stmt::Set(var, given))?;
                Place::Var(var)
            }
            slots => {
                let array = self.array(Origin::InOut(number), layout.class, slots as u64)?;
                self.bindings.push(InputBinding::Change(array, layout.class));
                let base = self.int(0)?;
                Place::Memory(array, base)
            }
        };
        self.inputs.push(Input::whole(root));
        match root {
            Root::Local(local) => frame.locals.set(local, Binding::Place(place.clone())),
            Root::Global(global) => {
                self.globals.insert(global, place.clone());
            }
        }
        Ok(place)
    }

    /// The final value of a variable that was changed.
    pub(crate) fn give_place(&mut self, place: &Place, number: usize) -> Result<ResultSource> {
        Ok(match place {
            Place::Unit => ResultSource::Unit,
            Place::Var(var) => {
                let reg = self.set(self.kernel.vars[*var], Op::Get(*var))?;
                self.kernel.scalar_results.push(reg);
                ResultSource::Word(self.kernel.scalar_results.len() - 1)
            }
            Place::Memory(..) => ResultSource::Changed(number),
            Place::Parts(_) | Place::Sum(..) => {
                return Err(Declined::Construct(UnsupportedConstruct::OuterVariableInParts));
            }
        })
    }

    /// A new place for values of a type.
    pub(crate) fn place_for(&mut self, ty: &Type) -> Result<Place> {
        self.step()?;
        if let Some(types) = self.cases(ty)? {
            return self.place_for_case(&types);
        }
        let layout = self.layout(ty);
        if let Form::Parts(parts) = &layout.form
            && (2..=MAX_TUPLE_SLOTS).contains(&layout.slots)
        {
            let types =
                ty.components(parts.len()).ok_or(Declined::Form(UnexpectedForm::PartsWithoutTypes))?;
            let places = types.iter().map(|ty| self.place_for(&bare(ty)));
            return Ok(Place::Parts(Rc::new(places.collect::<Result<Vec<_>>>()?)));
        }
        let layout = self.stored(ty)?;
        Ok(match layout.slots {
            0 => Place::Unit,
            1 => Place::Var({
                let ty = word(&layout.leaf().ok_or(Declined::Form(UnexpectedForm::UnknownSlot))?)?;
                self.var(ty)
            }),
            _ => {
                let array = self.scratch(&layout)?;
                let base = self.int(0)?;
                Place::Memory(array, base)
            }
        })
    }

    /// Puts a value into a place.
    pub(crate) fn assign(&mut self, place: &Place, value: &AbstractValue<'a>, ty: &Type) -> Result<()> {
        self.step()?;
        match place {
            Place::Unit => Ok(()),
            Place::Var(var) => {
                let reg = self.as_word(value, ty)?;
                self.emit(Stmt::Set(*var, reg))
            }
            Place::Parts(places) => {
                let types =
                    ty.components(places.len()).ok_or(Declined::Form(UnexpectedForm::PartsWithoutTypes))?;
                let mut parts = Vec::new();
                for (i, part) in types.iter().enumerate() {
                    let part = bare(part);
                    let value = self.component(value, ty, i as u64, &part)?;
                    // A part may be read from where another one goes.
                    let value =
                        if self.changing(&value, None) { self.materialize(&value, &part)? } else { value };
                    parts.push((value, part));
                }
                for (place, (value, ty)) in places.iter().zip(parts) {
                    self.assign(place, &value, &ty)?;
                }
                Ok(())
            }
            Place::Sum(case, places) => self.assign_case((*case, places), value, ty),
            // What was changed where it lies.
            Place::Memory(array, base) if is_there(value, *array, *base) => Ok(()),
            Place::Memory(array, base) if self.changing(value, Some(*array)) => {
                let value = self.materialize(value, ty)?;
                if let Some(fresh) = self.exchangeable(&value, *array, *base) {
                    return self.emit(Stmt::Swap(*array, fresh));
                }
                self.fill(*array, *base, &value, ty)
            }
            Place::Memory(array, base) => self.fill(*array, *base, value, ty),
        }
    }

    /// The array that a value has just been stored in, if a variable can take its memory and give
    /// its own for it.
    fn exchangeable(&self, value: &AbstractValue<'a>, array: Array, base: Reg) -> Option<Array> {
        let AbstractValue::Array(stored) = value else { return None };
        let Aggregate::Stored { array: fresh, base: first, .. } = **stored else { return None };
        let (old, new) = (self.kernel.arrays[array], self.kernel.arrays[fresh]);
        let whole = self.known(base) == Some(0) && self.known(first) == Some(0);
        let alike = old.width == new.width && self.kernel.slots[array] == self.kernel.slots[fresh];
        let owned = matches!(old.origin, Origin::Scratch | Origin::Result(_) | Origin::InOut(_));
        (self.may_be_parallel() && whole && alike && owned && new.origin == Origin::Scratch).then_some(fresh)
    }

    /// A store through projections.
    pub(crate) fn store(
        &mut self,
        root: Root,
        root_ty: &Type,
        path: &'a [Step],
        value: &'a Term,
        frame: &mut Frame<'a>,
    ) -> Result<()> {
        let mut place = match root {
            Root::Local(local) => match frame.locals.get(local) {
                Some(Binding::Place(place)) => place.clone(),
                _ => return Err(Declined::Construct(UnsupportedConstruct::StoreIntoConstant)),
            },
            Root::Global(global) => self
                .globals
                .get(&global)
                .cloned()
                .ok_or(Declined::Construct(UnsupportedConstruct::SessionVariableStore))?,
        };
        // The steps are evaluated before the value.
        let mut ty = self.ty(frame, root_ty);
        let mut steps = path.iter();
        let mut packed: Vec<(Type, CodePart)> = Vec::new();
        for step in &mut steps {
            let (from, to) = (self.ty(frame, &step.from), self.ty(frame, &step.to));
            match &step.kind {
                StepKind::Component(i) => {
                    let i = Code::from(i)
                        .to_u64()
                        .ok_or(Declined::Construct(UnsupportedConstruct::PositionBeyondMemory))?;
                    place = self.inner(&place, &from, i, &to)?;
                }
                StepKind::Index(index) => {
                    let index = self.term(index, frame)?;
                    place = self.element(&place, &from, &index, &to)?;
                }
                StepKind::Factor(i) => packed.push((from, CodePart::Factor(Code::from(i)))),
                StepKind::Digit(index) => {
                    let position = self.term(index, frame)?;
                    packed.push((from, self.part_at(&position)?));
                }
                StepKind::Reshape if !packed.is_empty() => {}
                StepKind::Reshape => {
                    if !self.layout(&from).stored_like(&self.layout(&to)) {
                        return Err(Declined::Type(UnsupportedType::ReshapeOfOtherStorage));
                    }
                    if let Place::Parts(_) = place {
                        return Err(Declined::Construct(UnsupportedConstruct::ReshapeOfVariables));
                    }
                }
            }
            if packed.is_empty() {
                ty = to;
            }
        }
        let given = self.term(value, frame)?;
        self.unwatched(root, &place, frame)?;
        if packed.is_empty() {
            return self.assign(&place, &given, &ty);
        }
        let old = self.read_place(&place, &ty)?;
        let part = self.as_word(&given, &ty)?;
        let new = self.replaced(old, &packed, part)?;
        self.assign(&place, &AbstractValue::Word(new), &ty)
    }

    /// The code with a part replaced.
    fn replaced(&mut self, code: Reg, path: &[(Type, CodePart)], part: Reg) -> Result<Reg> {
        let Some(((ty, at), rest)) = path.split_first() else { return Ok(part) };
        let value = AbstractValue::Word(code);
        let old = match at {
            CodePart::Factor(i) => self.factor(&value, ty, i)?,
            CodePart::Digit(position) => self.digit(&value, *position, ty)?,
        };
        let AbstractValue::Word(old) = old else { return Ok(code) };
        let new = self.replaced(old, rest, part)?;
        let weight = match at {
            CodePart::Factor(i) => {
                let layout = self.layout(ty);
                let compact = layout.compact().ok_or(Declined::Form(UnexpectedForm::PartOfNonCompact))?;
                let weight = compact.encoding.size_and_weight(i).1;
                let weight = weight.to_u64().ok_or(Declined::Type(UnsupportedType::WideCode))?;
                self.size(weight)?
            }
            CodePart::Digit(position) => {
                let (base, places) = self.digit_places(*position, ty)?;
                self.digit_weight(base, places)?
            }
        };
        let less = self.binary(Binary::Mul, old, weight)?;
        let more = self.binary(Binary::Mul, new, weight)?;
        let without = self.binary(Binary::Sub, code, less)?;
        self.binary(Binary::Add, without, more)
    }

    /// The word that a place of one slot holds.
    fn read_place(&mut self, place: &Place, ty: &Type) -> Result<Reg> {
        match place {
            Place::Var(var) => {
                let ty = self.kernel.vars[*var];
                self.set(ty, Op::Get(*var))
            }
            Place::Memory(array, slot) => {
                let value = self.fetch(*array, *slot, ty, true)?;
                self.as_word(&value, ty)
            }
            Place::Unit => self.int(0),
            Place::Parts(_) | Place::Sum(..) => Err(Declined::Form(UnexpectedForm::WordInParts)),
        }
    }

    /// The place of a component.
    fn inner(&mut self, place: &Place, from: &Type, i: u64, to: &Type) -> Result<Place> {
        let (whole, part) = (self.layout(from), self.layout(to));
        if part.slots == 0 {
            return Ok(Place::Unit);
        }
        // An array of one element is that element.
        if from == to {
            return Ok(place.clone());
        }
        match place {
            Place::Parts(parts) => {
                parts.get(i as usize).cloned().ok_or(Declined::Form(UnexpectedForm::MissingComponent))
            }
            _ if whole.slots == part.slots => Ok(place.clone()),
            Place::Memory(array, base) => {
                let (start, _) =
                    whole.part(i as usize).ok_or(Declined::Form(UnexpectedForm::MissingComponent))?;
                let offset = self.size(start as u64)?;
                Ok(Place::Memory(*array, self.binary(Binary::Add, *base, offset)?))
            }
            Place::Unit | Place::Var(_) | Place::Sum(..) => {
                Err(Declined::Form(UnexpectedForm::ComponentOfWord))
            }
        }
    }

    /// The place of an element.
    fn element(&mut self, place: &Place, from: &Type, index: &AbstractValue<'a>, to: &Type) -> Result<Place> {
        let (whole, part) = (self.layout(from), self.layout(to));
        if part.slots == 0 {
            return Ok(Place::Unit);
        }
        // An array of one element is that element.
        if from == to {
            return Ok(place.clone());
        }
        let at = self.as_word(index, from)?;
        match place {
            Place::Parts(parts) => {
                let known = self.known(at).ok_or(Declined::Form(UnexpectedForm::UnknownComponent))?;
                parts.get(known as usize).cloned().ok_or(Declined::Form(UnexpectedForm::MissingElement))
            }
            _ if whole.slots == part.slots => Ok(place.clone()),
            Place::Memory(array, base) => {
                let stride = self.size(part.slots as u64)?;
                let offset = self.binary(Binary::Mul, at, stride)?;
                Ok(Place::Memory(*array, self.binary(Binary::Add, *base, offset)?))
            }
            Place::Unit | Place::Var(_) | Place::Sum(..) => {
                Err(Declined::Form(UnexpectedForm::ElementOfWord))
            }
        }
    }

    // ---- who looks at what changes --------------------------------------------------------

    /// Returns true if a term, which is computed later in this frame, may look at a variable of the
    /// session that changes: itself, or by a function that it may call.
    pub(crate) fn looks_at_changing(&self, term: &Term, frame: &Frame<'a>, of: Option<Array>) -> bool {
        let concerned = self.globals.iter().filter(|(_, place)| match place {
            Place::Memory(array, _) => of.is_none_or(|of| of == *array),
            Place::Unit => false,
            _ => of.is_none(),
        });
        let concerned: BTreeSet<GlobalId> = concerned.map(|(global, _)| *global).collect();
        if concerned.is_empty() {
            return false;
        }
        let mentioned = FreeVariables::by_term(term);
        if !mentioned.globals.is_disjoint(&concerned) {
            return true;
        }
        let mut waiting = Vec::new();
        // Whatever function is known outside of the part may be a local's or a variable's value.
        self.unit.functions.iter().for_each(|(_, shape)| of_shape(shape, &mut waiting));
        for (_, bind) in frame.locals.iter() {
            if let Binding::Value(value) = bind {
                self.of_value(value, &mut waiting);
            }
        }
        if self.steps.get() == 0 {
            return true;
        }
        self.called(&mentioned, &mut waiting);
        let mut seen = BTreeSet::new();
        while let Some(function) = waiting.pop() {
            if !seen.insert(function) {
                continue;
            }
            let Some(mentioned) = self.mentioned_by(function) else { return true };
            if !mentioned.globals.is_disjoint(&concerned) {
                return true;
            }
            self.called(&mentioned, &mut waiting);
        }
        false
    }

    /// The functions that a value is, or has captured, as long as there are steps left. What is
    /// inside an array that is built is asked by itself.
    fn of_value(&self, value: &AbstractValue<'a>, found: &mut Vec<FunctionId>) {
        if self.step().is_err() {
            return;
        }
        match value {
            AbstractValue::Fun(fun) => {
                found.push(fun.function);
                fun.captures.iter().for_each(|captured| self.of_value(captured, found));
            }
            AbstractValue::Parts(parts) | AbstractValue::Sum(_, parts) => {
                parts.iter().for_each(|part| self.of_value(part, found))
            }
            AbstractValue::Unit | AbstractValue::Word(_) | AbstractValue::Array(_) => {}
        }
    }

    /// The functions that may be called by who mentions these: of a method, those of all instances.
    fn called(&self, mentioned: &FreeVariables, found: &mut Vec<FunctionId>) {
        found.extend(&mentioned.functions);
        for (class, method) in &mentioned.methods {
            let class_methods = self.program.classes.get(*class as usize).map(|class| &class.methods);
            found.extend(class_methods.and_then(|methods| methods.get(*method)?.default));
            let instances = self.program.instances.iter().filter(|instance| instance.class == *class);
            found.extend(instances.filter_map(|i| i.methods.get(*method)).map(|method| method.function));
        }
    }

    /// The variables and functions that the body of a function mentions, if it is known.
    fn mentioned_by(&self, function: FunctionId) -> Option<Rc<FreeVariables>> {
        if let Some(known) = self.mentioned.borrow().get(&function) {
            return Some(known.clone());
        }
        let mentioned = Rc::new(FreeVariables::by_term(&self.function(function).ok()?.body));
        self.mentioned.borrow_mut().insert(function, mentioned.clone());
        Some(mentioned)
    }
}

/// Returns true if a value is what lies at a place.
fn is_there(value: &AbstractValue<'_>, array: Array, base: Reg) -> bool {
    match value {
        AbstractValue::Array(stored) => match **stored {
            Aggregate::Stored { array: from, base: first, .. } => (from, first) == (array, base),
            _ => false,
        },
        _ => false,
    }
}

/// The same of a variable outside.
fn of_shape(shape: &KnownValue, found: &mut Vec<FunctionId>) {
    if let KnownValue::Function(function, _, captured) = shape {
        found.push(*function);
        captured.iter().for_each(|shape| of_shape(shape, found));
    }
}
