//! Arrays that are built are computed as a whole, whoever reads them.
//!
//! `val x = [ 7 / (i - 5) for i in … ]` fails though nobody looks at `x.5`. An array that is only
//! remembered is computed where it is read; so if an element may fail, every element has to be read
//! for certain. This is seen while the loops are made: each array that is built has a number, and
//! is *read as a whole* when it is stored, or when a loop over as many rounds as it has elements
//! reads the element of each round, and runs whenever the array is built. At the end
//! ([`Lower::unread`]) the elements of the others are looked at: if they may fail, the part is
//! lowered again, and the array stored where it is built. Few programs need that: most elements
//! cannot fail, and most arrays are read.

use super::{AbstractValue, Aggregate, Binding, Frame, Lower, Result};
use crate::core::Term;
use crate::hash::HashMap;
use crate::loop_ir::{Reg, ScalarType, Stmt, for_each_stmt};
use crate::types::Type;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The arrays under construction that are computed as a whole.
pub(super) struct Strictness<'a> {
    /// Arrays that are stored where they are built.
    at_once: BTreeSet<usize>,
    built: Vec<Made<'a>>,
    /// Indices of loops that run through all of so many values, whenever the loop is reached.
    whole: HashMap<Reg, u64>,
    /// Branches around, and loops that may have no round.
    doubts: usize,
    /// True if elements may fail, of bodies in frames that have been looked at; the frames keep
    /// what the keys point to.
    failing: HashMap<Body, (bool, Frame<'a>)>,
}

/// The body of an array, with all of its frame on which it depends whether an element may fail: an
/// array inside another is built anew wherever an element of that is looked at.
#[derive(PartialEq, Eq, Hash)]
struct Body {
    term: usize,
    infos: usize,
    locals: Vec<(u32, Held)>,
}

/// The value of a local, as far as it decides which checks are made.
#[derive(PartialEq, Eq, Hash)]
enum Held {
    Nothing,
    Unknown,
    Number(u64),
    /// The term at an address.
    At(usize),
}

/// An array that is built.
struct Made<'a> {
    value: Rc<Aggregate<'a>>,
    elements: u64,
    doubts: usize,
    read: bool,
}

impl<'a> Strictness<'a> {
    pub fn new(at_once: BTreeSet<usize>) -> Strictness<'a> {
        let (built, whole, failing) = (Vec::new(), HashMap::default(), HashMap::default());
        Strictness { at_once, built, whole, doubts: 0, failing }
    }

    /// A loop runs through all of so many values.
    pub fn whole(&mut self, index: Reg, count: u64) {
        self.whole.insert(index, count);
    }

    /// Returns true if a loop does.
    pub fn is_whole(&self, index: Reg) -> bool {
        self.whole.contains_key(&index)
    }
}

impl<'a> Lower<'a> {
    /// Returns true if nothing that a value holds refers to an array that changes: asked once of
    /// each array that is built, of what it remembers.
    fn is_still(&self, value: &AbstractValue<'a>) -> bool {
        if self.step().is_err() {
            // Nobody goes on from here.
            return false;
        }
        match value {
            AbstractValue::Unit | AbstractValue::Word(_) => true,
            AbstractValue::Parts(parts) | AbstractValue::Sum(_, parts) => {
                parts.iter().all(|part| self.is_still(part))
            }
            AbstractValue::Fun(function) => function.captures.iter().all(|captured| self.is_still(captured)),
            AbstractValue::Array(array) => match &**array {
                Aggregate::Stored { changing, .. } => !changing,
                Aggregate::Built { still, .. } => *still,
                Aggregate::Choice(_, a, b) => self.is_still(a) && self.is_still(b),
                Aggregate::View { of, .. } => self.is_still(of),
                Aggregate::Zero => true,
            },
        }
    }

    /// `[ body for … ]`.
    pub(crate) fn build(
        &mut self,
        clauses: Vec<(u32, Type)>,
        body: &'a Term,
        frame: Frame<'a>,
        ty: &Type,
    ) -> Result<AbstractValue<'a>> {
        let mut elements = 1u64;
        for (_, ty) in &clauses {
            elements = elements.saturating_mul(self.count(ty)?);
        }
        let number = self.strict.built.len();
        let still = frame.locals.iter().all(|(_, bind)| match bind {
            Binding::Value(value) => self.is_still(value),
            Binding::Place(_) => false,
        });
        let value = Rc::new(Aggregate::Built { clauses, body, frame, number, still });
        let doubts = self.strict.doubts;
        let layout = self.layout(ty);
        self.repeat.built(elements, (layout.slots as u64).saturating_mul(layout.class.bytes()));
        self.strict.built.push(Made { value: value.clone(), elements, doubts, read: false });
        if self.strict.at_once.contains(&number) {
            return self.materialize(&AbstractValue::Array(value), ty);
        }
        Ok(AbstractValue::Array(value))
    }

    /// The statements that `work` makes, by themselves; perhaps they do not run.
    pub(crate) fn under_condition<T>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T>,
    ) -> Result<(Vec<Stmt>, T)> {
        self.strict.doubts += 1;
        let done = self.block(work);
        self.strict.doubts -= 1;
        done
    }

    /// All elements of an array are computed here.
    pub(crate) fn reads_all(&mut self, number: usize) {
        let doubts = self.strict.doubts;
        self.repeat.whole(number);
        if let Some(made) = self.strict.built.get_mut(number) {
            made.read |= made.doubts == doubts;
        }
    }

    /// The element of an array at an index is computed here.
    pub(crate) fn reads(&mut self, number: usize, at: Reg) {
        let Strictness { built, whole, doubts, .. } = &mut self.strict;
        let Some(made) = built.get_mut(number) else { return };
        if made.read || made.doubts != *doubts {
            return;
        }
        // The digits of the index are those of a mixed radix, each of a loop.
        let Some(mut sum) = self.facts.sum(at) else { return };
        sum.digits.sort_by_key(|(_, weight)| *weight);
        let mut all = (sum.rest == 0).then_some(1u64);
        for (digit, weight) in &sum.digits {
            all = match (all, whole.get(digit)) {
                (Some(so_far), Some(count)) if so_far == *weight => so_far.checked_mul(*count),
                _ => None,
            };
        }
        made.read = all == Some(made.elements);
    }

    /// An array that is not read as a whole, and may fail.
    pub(crate) fn unread(&mut self) -> Result<Option<usize>> {
        for number in 0..self.strict.built.len() {
            if !self.strict.built[number].read && self.may_fail(number)? {
                return Ok(Some(number));
            }
        }
        Ok(None)
    }

    /// The facts that decide whether an element may fail; `None` if a variable changes.
    fn body_of(&mut self, body: &'a Term, frame: &Frame<'a>) -> Result<Option<Body>> {
        let free = self.free(body)?;
        let mut locals = Vec::new();
        for &local in &*free {
            let held = match frame.locals.get(local) {
                None => Held::Nothing,
                Some(Binding::Place(_)) => return Ok(None),
                Some(Binding::Value(value)) => match value {
                    AbstractValue::Unit => Held::Number(0),
                    AbstractValue::Word(reg) => self.known(*reg).map_or(Held::Unknown, Held::Number),
                    AbstractValue::Parts(parts) | AbstractValue::Sum(_, parts) => {
                        Held::At(Rc::as_ptr(parts).addr())
                    }
                    AbstractValue::Array(array) => Held::At(Rc::as_ptr(array).addr()),
                    AbstractValue::Fun(function) => Held::At(Rc::as_ptr(function).addr()),
                },
            };
            locals.push((local, held));
        }
        let (term, infos) = (std::ptr::from_ref(body).addr(), Rc::as_ptr(&frame.infos).addr());
        Ok(Some(Body { term, infos, locals }))
    }

    /// Returns true if an element of an array may fail: it is lowered, and forgotten.
    fn may_fail(&mut self, number: usize) -> Result<bool> {
        self.step()?;
        let value = self.strict.built[number].value.clone();
        let Aggregate::Built { body, frame, .. } = &*value else { return Ok(false) };
        let key = self.body_of(body, frame)?;
        if let Some((known, _)) = key.as_ref().and_then(|key| self.strict.failing.get(key)) {
            return Ok(*known);
        }
        let fails = self.may_fail_anew(&value)?;
        if let Some(key) = key {
            self.strict.failing.insert(key, (fails, frame.clone()));
        }
        Ok(fails)
    }

    fn may_fail_anew(&mut self, value: &Aggregate<'a>) -> Result<bool> {
        let Aggregate::Built { clauses, body, frame, .. } = value else { return Ok(false) };
        let (made, others) = (self.made, self.strict.built.len());
        let outer = self.in_each;
        self.in_each = true;
        let element = self.block(|this| {
            let mut inner = frame.clone();
            for (local, ty) in clauses {
                let count = this.count(ty)?;
                let index = this.reg(ScalarType::I64);
                this.facts.bound(index, count);
                let index = if count == 1 { AbstractValue::Unit } else { AbstractValue::Word(index) };
                inner.locals.set(*local, Binding::Value(index));
            }
            let value = this.term(body, &mut inner)?;
            // Whatever is inside an element is looked at by itself.
            drop(value);
            Ok(())
        });
        self.in_each = outer;
        self.made = made;
        let (stmts, ()) = element?;
        let mut fails = false;
        for_each_stmt(&stmts, &mut |stmt| fails |= matches!(stmt, Stmt::Fail));
        // What is built by an element, and may fail, is a reason as well.
        for inner in others..self.strict.built.len() {
            fails = fails || !self.strict.built[inner].read && self.may_fail(inner)?;
        }
        self.strict.built.truncate(others);
        self.repeat.truncate(others);
        Ok(fails)
    }
}
