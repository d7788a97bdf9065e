//! Unboxed values: a value of a type with sums as words, one after the other.
//!
//! A tagged sum is one slot of a value, and leads to its argument. Unboxed it is the number of its
//! case and the words of the arguments of all cases, which are 0 for those that the value is not of.
//! Other slots are one word each. So compiled code reads and writes sums in arrays. An array that is
//! a result keeps its words, and is read as they are by the next kernel
//! ([`crate::value::UnboxedSlots`]).

use super::SumLayout;
use crate::types::encoding::Code;
use crate::value::{Buffer, Case, Class, ElementForm, Seq, UnboxedSlots, Value};
use std::sync::Arc;

/// The form of the values of a type as words.
#[derive(Debug)]
pub struct Unboxed {
    form: Form,
    slots: usize,
    words: usize,
    /// The class of the slots of a value of several.
    class: Class,
    signature: Vec<usize>,
}

#[derive(Debug)]
enum Form {
    /// Slots that are one word each.
    Words,
    /// Parts one after the other.
    Parts(Vec<Unboxed>),
    /// Equal elements one after the other.
    Repeated(usize, Arc<Unboxed>),
    /// A sum of a layout, or a variant, by the arguments of its cases.
    Sum(Option<Arc<SumLayout>>, Vec<Unboxed>),
}

impl Unboxed {
    /// Slots that are one word each.
    pub fn of_words(slots: usize, class: Class) -> Unboxed {
        Unboxed { form: Form::Words, slots, words: slots, class, signature: vec![0, slots] }
    }

    /// Parts one after the other.
    pub fn of_parts(parts: Vec<Unboxed>, class: Class) -> Unboxed {
        let (slots, words) = parts.iter().fold((0, 0), |(s, w), part| (s + part.slots, w + part.words));
        let signature = signature_of(1, parts.len(), &parts);
        Unboxed { form: Form::Parts(parts), slots, words, class, signature }
    }

    /// A number of equal elements; `None` for more slots than there are numbers.
    pub fn repeated(count: usize, element: Unboxed, class: Class) -> Option<Unboxed> {
        let (slots, words) = (element.slots.checked_mul(count)?, element.words.checked_mul(count)?);
        let signature = signature_of(2, count, std::slice::from_ref(&element));
        Some(Unboxed { form: Form::Repeated(count, Arc::new(element)), slots, words, class, signature })
    }

    /// A sum of a layout, or a variant, by the arguments of its cases.
    pub fn of_cases(layout: Option<Arc<SumLayout>>, cases: Vec<Unboxed>) -> Unboxed {
        let words = 1 + cases.iter().map(|case| case.words).sum::<usize>();
        let signature = signature_of(3, cases.len(), &cases);
        Unboxed { form: Form::Sum(layout, cases), slots: 1, words, class: Class::Any, signature }
    }

    /// The form of the elements of an array of elements, however many dimensions it has.
    fn innermost_element(&self) -> Option<&Arc<Unboxed>> {
        let Form::Repeated(_, element) = &self.form else { return None };
        let mut element = element;
        while let Form::Repeated(_, inner) = &element.form {
            element = inner;
        }
        (self.class == Class::Any && element.slots > 0).then_some(element)
    }

    /// Returns the words of a value that is kept as words of this form, if it is.
    pub fn kept_words<'v>(&self, value: &'v Value) -> Option<&'v [u64]> {
        let (Value::Seq(seq), Some(element)) = (value, self.innermost_element()) else { return None };
        let (Buffer::Unboxed(slots), start) = seq.locate(0) else { return None };
        if seq.len() != self.slots || !seq.is_flat(Class::Any) {
            return None;
        }
        slots.words_from(start, &**element)?.get(..self.words)
    }

    /// Returns the value of words: an array keeps them. `None` without memory for it.
    pub fn value_of(&self, words: Vec<u64>) -> Option<Value> {
        match self.innermost_element() {
            Some(element) if self.slots > 1 => {
                let slots = UnboxedSlots::new(element.clone(), words);
                Some(Value::Seq(Seq::new(Buffer::Unboxed(slots))))
            }
            _ => self.read(&mut words.iter()),
        }
    }

    /// The number of words.
    pub fn words(&self) -> usize {
        self.words
    }

    /// Appends the words of a value; false if it is none of the type, or there is no memory.
    #[must_use]
    pub fn write(&self, value: &Value, words: &mut Vec<u64>) -> bool {
        match (value, &self.form) {
            _ if self.slots == 0 => true,
            _ if self.slots == 1 => self.write_slots(&mut std::slice::from_ref(value).iter(), words),
            (Value::Seq(seq), _) if seq.len() != self.slots => false,
            (Value::Seq(seq), Form::Words) => {
                words.extend((0..self.slots).map(|at| seq.get(at).word()));
                true
            }
            (Value::Seq(_), _) if let Some(kept) = self.kept_words(value) => {
                words.extend_from_slice(kept);
                true
            }
            (Value::Seq(seq), _) => match seq.to_flat(Class::Any) {
                Some((buffer, start)) => match &*buffer {
                    Buffer::Any(slots) => self.write_slots(&mut slots[start..].iter(), words),
                    other => {
                        let slots: Vec<Value> =
                            (start..start + self.slots).map(|slot| other.get(slot)).collect();
                        self.write_slots(&mut slots.iter(), words)
                    }
                },
                None => false,
            },
            _ => false,
        }
    }

    fn write_slots(&self, slots: &mut std::slice::Iter<'_, Value>, words: &mut Vec<u64>) -> bool {
        match &self.form {
            Form::Words => (0..self.slots).all(|_| match slots.next() {
                Some(Value::Word(word)) => {
                    words.push(*word);
                    true
                }
                _ => false,
            }),
            Form::Parts(parts) => parts.iter().all(|part| part.write_slots(slots, words)),
            Form::Repeated(count, element) => (0..*count).all(|_| element.write_slots(slots, words)),
            Form::Sum(layout, cases) => {
                let split;
                let (case, argument) = match (layout, slots.next()) {
                    (Some(layout), Some(value)) => {
                        split = layout.split(value);
                        (&split.0, &split.1)
                    }
                    (None, Some(Value::Sum(sum))) => (&sum.0, &sum.1),
                    _ => return false,
                };
                let Some(case) = case.to_u64() else { return false };
                words.push(case);
                cases.iter().zip(0..).all(|(form, at)| match at == case {
                    true => form.write(argument, words),
                    false => {
                        words.extend(std::iter::repeat_n(0, form.words));
                        true
                    }
                })
            }
        }
    }

    /// Returns the value of words; `None` without memory for it.
    fn read(&self, words: &mut std::slice::Iter<'_, u64>) -> Option<Value> {
        match self.slots {
            0 => Some(Value::UNIT),
            1 => self.read_slot(words),
            slots => {
                let mut buffer = Buffer::with_capacity(self.class, slots)?;
                self.read_slots(words, &mut buffer)?;
                Some(Value::Seq(Seq::new(buffer)))
            }
        }
    }

    /// Returns the value of a form of one slot.
    fn read_slot(&self, words: &mut std::slice::Iter<'_, u64>) -> Option<Value> {
        match &self.form {
            Form::Words => words.next().map(|word| Value::Word(*word)),
            // The others have no slot, and no word.
            Form::Parts(parts) => parts.iter().find(|part| part.slots == 1)?.read_slot(words),
            Form::Repeated(_, element) => element.read_slot(words),
            Form::Sum(layout, cases) => {
                let case = *words.next()?;
                let mut argument = Value::UNIT;
                for (form, at) in cases.iter().zip(0..) {
                    if at == case {
                        argument = form.read(words)?;
                    } else if form.words > 0 {
                        words.nth(form.words - 1)?;
                    }
                }
                let case = Code::from(case as usize);
                Some(match layout {
                    Some(layout) => layout.inject(&case, argument),
                    None => Value::Sum(Arc::new(Case(case, argument))),
                })
            }
        }
    }

    fn read_slots(&self, words: &mut std::slice::Iter<'_, u64>, buffer: &mut Buffer) -> Option<()> {
        match &self.form {
            Form::Parts(parts) => parts.iter().try_for_each(|part| part.read_slots(words, buffer)),
            Form::Repeated(count, element) => (0..*count).try_for_each(|_| element.read_slots(words, buffer)),
            Form::Words => (0..self.slots).try_for_each(|_| {
                buffer.push(Value::Word(*words.next()?));
                Some(())
            }),
            Form::Sum(..) => {
                buffer.push(self.read_slot(words)?);
                Some(())
            }
        }
    }
}

impl ElementForm for Unboxed {
    fn slots(&self) -> usize {
        self.slots
    }

    fn words(&self) -> usize {
        self.words
    }

    fn signature(&self) -> &[usize] {
        &self.signature
    }

    fn append_slots(&self, words: &[u64], into: &mut Buffer) {
        self.read_slots(&mut words.iter(), into).expect("an element has its words, and memory");
    }
}

/// The numbers that tell a form of parts from others.
fn signature_of(kind: usize, count: usize, parts: &[Unboxed]) -> Vec<usize> {
    let mut signature = vec![kind, count];
    parts.iter().for_each(|part| signature.extend(&part.signature));
    signature
}
