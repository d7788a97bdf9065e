//! Where the parts of a value lie: slots, offsets, flattened cases.
//!
//! Takes a type without variables; gives its [`Layout`]. The layout of a sum follows section 3 of
//! the language: nested sums flattened, a compact case of size n standing for n unit cases, void
//! cases dropped, a single case unwrapped, all-unit sums becoming the compact slot. Two types whose layouts are
//! alike ([`Layout::stored_like`]) are stored alike; a value of one may be read as the other.

mod fingerprint;

use crate::hash::HashMap;
use crate::types::encoding::{Code, Encoding, Width};
use crate::types::{MAX_SIZE_BITS, NoSize, NominalBody, Scalar, Type, TypeKind};
use crate::value::{Case, Class, Value};
use fingerprint::{Fingerprint, Letter, Signature};
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use std::cell::RefCell;
use std::sync::Arc;

/// The layout of one type.
#[derive(Debug)]
pub struct Layout {
    /// Slots of a value; [`TOO_MANY`] if no memory could hold them.
    pub slots: usize,
    /// The narrowest class that holds every slot.
    pub class: Class,
    /// What the value consists of.
    pub form: Form,
    /// What the slot is, if there is exactly one.
    single: Single,
    /// Of all slots; of none, if there are [`TOO_MANY`].
    fingerprint: Fingerprint,
}

/// More slots than any memory has.
pub const TOO_MANY: usize = usize::MAX;

/// What a value consists of.
#[derive(Debug)]
pub enum Form {
    /// A compact linear value.
    Compact(Compact),
    /// A scalar.
    Scalar(Scalar),
    /// Parts one after the other, with the slot each begins at.
    Parts(Vec<(usize, Arc<Layout>)>),
    /// Equal elements one after the other.
    Array {
        /// Of each element.
        element: Arc<Layout>,
        /// How many; [`TOO_MANY`] if no memory could hold them.
        count: usize,
    },
    /// A tagged sum.
    Sum(Arc<SumLayout>),
    /// A variant: one slot, its cases with their layouts computed when met (it may be recursive).
    Variant,
    /// A function.
    Function,
    /// A value with the sizes that it brings along.
    Packed,
}

/// Whether a size is one that codes are computed for. Of larger types no value is ever made.
pub fn countable(size: &Code) -> bool {
    !matches!(size, Code::Big(n) if n.bits() > MAX_SIZE_BITS + 1)
}

/// What one slot holds.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// A scalar.
    Scalar(Scalar),
    /// A code below this size.
    Code(Code),
}

/// A compact linear type's size and rule.
#[derive(Debug)]
pub struct Compact {
    /// Its number of values.
    pub size: Code,
    /// How parts are packed into the code.
    pub encoding: Encoding,
}

#[derive(Clone, Debug)]
enum Single {
    Code(Code),
    Sum(Arc<SumLayout>),
    Other,
}

/// The flattened cases of a tagged sum.
#[derive(Debug)]
pub struct SumLayout {
    cases: Cases,
    /// Number of flattened cases.
    total: Code,
    /// Whether every flattened case is a unit.
    all_units: bool,
    /// Whether the one case left is not wrapped.
    unwrapped: bool,
    /// The flattened cases as a word.
    word: CaseWord,
}

/// The flattened cases of a sum, with what touches its ends apart: unit cases that become neighbors are counted
/// together.
#[derive(Clone, Debug)]
struct CaseWord {
    /// Unit cases before the first with an argument; all, if there is none.
    lead: Code,
    /// From the first case with an argument to the last.
    middle: Option<Fingerprint>,
    /// Unit cases after the last.
    trail: Code,
}

impl CaseWord {
    fn units(count: Code) -> CaseWord {
        CaseWord { lead: count, middle: None, trail: Code::ZERO }
    }

    /// The cases that a case becomes whose values are stored so.
    fn of(flat: &Flat, layout: &Layout) -> CaseWord {
        match flat {
            Flat::Units(count) => CaseWord::units(count.clone()),
            Flat::Inner(sum) => sum.word.clone(),
            Flat::Argument => {
                let middle = Some(Fingerprint::of(&Letter::Argument(layout.fingerprint)));
                CaseWord { lead: Code::ZERO, middle, trail: Code::ZERO }
            }
        }
    }

    fn run(count: &Code) -> Fingerprint {
        if count.is_zero() { Fingerprint::EMPTY } else { Fingerprint::of(&Letter::Units(&count.to_big())) }
    }

    fn then(self, next: CaseWord) -> CaseWord {
        match (self.middle, next.middle) {
            (None, _) => CaseWord { lead: self.lead.add(&next.lead), ..next },
            (Some(_), None) => CaseWord { trail: self.trail.add(&next.lead), ..self },
            (Some(first), Some(second)) => {
                let between = CaseWord::run(&self.trail.add(&next.lead));
                let middle = Some(first.then(between).then(second));
                CaseWord { lead: self.lead, middle, trail: next.trail }
            }
        }
    }

    fn times(self, count: &BigUint) -> CaseWord {
        let Some(middle) = self.middle else { return CaseWord::units(self.lead.mul(&Code::from(count))) };
        let again = CaseWord::run(&self.trail.add(&self.lead)).then(middle);
        let middle = match count.to_u64() {
            Some(0) => return CaseWord::units(Code::ZERO),
            Some(count) => middle.then(again.times(count - 1)),
            // Compared as it is written: exponents modulo the order of the field would meet.
            None => Fingerprint::of(&Letter::Copies(count, middle.then(again))),
        };
        CaseWord { middle: Some(middle), ..self }
    }

    fn fingerprint(&self) -> Fingerprint {
        let middle = self.middle.unwrap_or(Fingerprint::EMPTY);
        CaseWord::run(&self.lead).then(middle).then(CaseWord::run(&self.trail))
    }
}

#[derive(Debug)]
enum Cases {
    /// Each case begins at an offset among the flattened ones.
    Listed(Vec<(Code, Flat)>),
    /// Every case is the same, that many flattened ones wide.
    Repeated(Code, Flat),
}

#[derive(Clone, Debug)]
enum Flat {
    /// That many unit cases: the argument is a code.
    Units(Code),
    /// The cases of an inner sum.
    Inner(Arc<SumLayout>),
    /// One case with an argument.
    Argument,
}

impl Flat {
    fn width(&self) -> Code {
        match self {
            Flat::Units(n) => n.clone(),
            Flat::Inner(sum) => sum.total.clone(),
            Flat::Argument => Code::Small(1),
        }
    }
}

impl SumLayout {
    /// Whether values are those of the one case left, without a tag.
    pub fn is_unwrapped(&self) -> bool {
        self.unwrapped
    }

    /// Where case `i` begins among the codes of a sum of units.
    pub fn offset(&self, i: &Code) -> Code {
        self.case(i).0
    }

    /// Where case `i` ends among the codes of a sum of units.
    pub fn end(&self, i: &Code) -> Code {
        let (offset, flat) = self.case(i);
        offset.add(&flat.width())
    }

    fn case(&self, i: &Code) -> (Code, &Flat) {
        match &self.cases {
            Cases::Listed(cases) => {
                let (offset, flat) = &cases[i.to_usize().unwrap_or(0).min(cases.len() - 1)];
                (offset.clone(), flat)
            }
            Cases::Repeated(width, flat) => (i.mul(width), flat),
        }
    }

    /// The value of case `i` with this argument.
    pub fn inject(&self, i: &Code, argument: Value) -> Value {
        let (offset, flat) = self.case(i);
        let (tag, payload) = match flat {
            Flat::Units(_) => (offset.add(&argument.to_code()), Value::UNIT),
            Flat::Inner(_) => match &argument {
                Value::Sum(inner) => (offset.add(&inner.0), inner.1.clone()),
                _ => (offset, argument),
            },
            Flat::Argument => (offset, argument),
        };
        if self.unwrapped {
            payload
        } else if self.all_units {
            Value::code(tag)
        } else {
            Value::Sum(Arc::new(Case(tag, payload)))
        }
    }

    /// The case a value belongs to, and its argument.
    pub fn split(&self, value: &Value) -> (Code, Value) {
        let (tag, payload) = match value {
            Value::Sum(sum) if !self.unwrapped => (sum.0.clone(), sum.1.clone()),
            other if self.all_units => (other.to_code(), Value::UNIT),
            other => (Code::ZERO, other.clone()),
        };
        let (case, local, flat) = match &self.cases {
            Cases::Listed(cases) => {
                let case = cases.partition_point(|(offset, _)| *offset <= tag).max(1) - 1;
                (Code::from(case), tag.sub(&cases[case].0), &cases[case].1)
            }
            Cases::Repeated(width, flat) => {
                let (case, local) = tag.div_rem(width);
                (case, local, flat)
            }
        };
        let argument = match flat {
            Flat::Units(_) => Value::code(local),
            Flat::Inner(inner) if inner.unwrapped => payload,
            Flat::Inner(_) => Value::Sum(Arc::new(Case(local, payload))),
            Flat::Argument => payload,
        };
        (case, argument)
    }
}

/// The most layouts that are kept: sizes that arrive at run time make new types without end.
const MOST_KNOWN: usize = 10_000;

/// Layouts made so far: types repeat.
#[derive(Default)]
pub struct Layouts {
    known: RefCell<HashMap<Type, Arc<Layout>>>,
}

impl Layouts {
    /// The layout of a type without variables.
    pub fn of(&self, ty: &Type) -> Arc<Layout> {
        if let Some(known) = self.known.borrow().get(ty) {
            return known.clone();
        }
        // A newtype is stored as its definition.
        let layout = Arc::new(self.compute(&ty.unfold()));
        let mut known = self.known.borrow_mut();
        if known.len() >= MOST_KNOWN {
            known.clear();
        }
        known.insert(ty.clone(), layout.clone());
        layout
    }

    fn compute(&self, ty: &Type) -> Layout {
        if ty.is_compact() {
            return self.compact(ty);
        }
        match ty.kind() {
            TypeKind::Scalar(scalar) => {
                let class = Class::of_scalar(*scalar);
                let fingerprint = Fingerprint::of(&Letter::Scalar(*scalar));
                Layout { slots: 1, class, form: Form::Scalar(*scalar), single: Single::Other, fingerprint }
            }
            TypeKind::Product(parts) => self.parts(parts.iter()),
            TypeKind::Record(fields) => self.parts(fields.iter().map(|(_, ty)| ty)),
            TypeKind::Array(element, index) => {
                let count = index.size().ok().and_then(|n| n.to_usize()).unwrap_or(TOO_MANY);
                let element = self.of(element);
                let slots =
                    if element.slots == 0 { 0 } else { count.checked_mul(element.slots).unwrap_or(TOO_MANY) };
                let single = element.single.clone();
                let fingerprint = match slots {
                    0 | TOO_MANY => Fingerprint::EMPTY,
                    _ => element.fingerprint.times(count as u64),
                };
                let class = element.class;
                Layout { slots, class, form: Form::Array { element, count }, single, fingerprint }
            }
            TypeKind::Sum(cases) => {
                let mut offset = Code::ZERO;
                let mut listed = Vec::new();
                let mut kept: Option<Arc<Layout>> = None;
                let mut word = CaseWord::units(Code::ZERO);
                for case in cases {
                    let layout = self.of(case);
                    let flat = flat(&layout);
                    let width = flat.width();
                    word = word.then(CaseWord::of(&flat, &layout));
                    if !width.is_zero() {
                        kept = Some(layout);
                    }
                    listed.push((offset.clone(), flat));
                    offset = offset.add(&width);
                }
                let all_units = listed.iter().all(|(_, f)| match f {
                    Flat::Units(_) => true,
                    Flat::Inner(sum) => sum.all_units,
                    Flat::Argument => false,
                });
                self.sum(Cases::Listed(listed), offset, all_units, kept, word)
            }
            TypeKind::Repeat(n, case) => {
                let n = n.size().unwrap_or_else(|_| BigUint::one() << (MAX_SIZE_BITS + 1));
                let layout = self.of(case);
                let flat = flat(&layout);
                let width = flat.width();
                // No case at all is no tag: a code below 0.
                let all_units = matches!(flat, Flat::Units(_)) || n.is_zero();
                let total = Code::from(&n).mul(&width);
                let word = CaseWord::of(&flat, &layout).times(&n);
                self.sum(Cases::Repeated(width, flat), total, all_units, Some(layout), word)
            }
            TypeKind::Nominal(nominal, args) => match nominal.body() {
                Some(NominalBody::Struct(_)) => {
                    let fields = nominal.struct_fields(args).unwrap_or_default();
                    self.parts(fields.iter().map(|(_, ty)| ty))
                }
                Some(NominalBody::Abstract(known)) if known.representation.is_some() => {
                    let stored = nominal.representation(args).unwrap_or_else(Type::unit);
                    self.compute(&stored.unfold())
                }
                _ => boxed(ty, Form::Variant),
            },
            TypeKind::Exists(..) => boxed(ty, Form::Packed),
            _ => boxed(ty, Form::Function),
        }
    }

    fn compact(&self, ty: &Type) -> Layout {
        let size = match ty.size() {
            Ok(size) => size,
            Err(NoSize::TooLarge) => BigUint::one() << (MAX_SIZE_BITS + 1),
            Err(_) => BigUint::one(),
        };
        let width = Width::of(&size);
        // A type without an encoding has no values: none is ever made.
        let encoding = Encoding::of(ty).unwrap_or(Encoding::Unit(Code::Small(1)));
        let slots = if size.is_one() { 0 } else { 1 };
        let fingerprint = code_fingerprint(&size);
        let size = Code::from(size);
        let single = Single::Code(size.clone());
        let form = Form::Compact(Compact { size, encoding });
        Layout { slots, class: Class::of(width), form, single, fingerprint }
    }

    fn parts<'t>(&self, types: impl Iterator<Item = &'t Type>) -> Layout {
        let (mut slots, mut class) = (0usize, Class::U8);
        let mut single = Single::Other;
        let mut fingerprint = Fingerprint::EMPTY;
        let mut parts = Vec::new();
        for ty in types {
            let layout = self.of(ty);
            if layout.slots > 0 {
                class = class.max(layout.class);
                single = layout.single.clone();
            }
            let start = slots;
            slots = slots.checked_add(layout.slots).unwrap_or(TOO_MANY);
            fingerprint = fingerprint.then(layout.fingerprint);
            parts.push((start, layout));
        }
        if slots == TOO_MANY {
            fingerprint = Fingerprint::EMPTY;
        }
        Layout { slots, class, form: Form::Parts(parts), single, fingerprint }
    }

    fn sum(
        &self,
        cases: Cases,
        total: Code,
        all_units: bool,
        kept: Option<Arc<Layout>>,
        word: CaseWord,
    ) -> Layout {
        let one = total == Code::Small(1);
        if all_units {
            let layout = SumLayout { cases, total: total.clone(), all_units, unwrapped: false, word };
            let fingerprint = code_fingerprint(&total.to_big());
            let class = Class::of(Width::of(&total.to_big()));
            let sum = Arc::new(layout);
            return Layout {
                slots: usize::from(!one),
                class,
                form: Form::Sum(sum),
                single: Single::Code(total),
                fingerprint,
            };
        }
        let fingerprint = Fingerprint::of(&Letter::Sum(word.fingerprint()));
        let sum = Arc::new(SumLayout { cases, total, all_units, unwrapped: one, word });
        match kept {
            Some(kept) if one => Layout {
                slots: kept.slots,
                class: kept.class,
                form: Form::Sum(sum),
                single: kept.single.clone(),
                fingerprint: kept.fingerprint,
            },
            _ => {
                let single = Single::Sum(sum.clone());
                Layout { slots: 1, class: Class::Any, form: Form::Sum(sum), single, fingerprint }
            }
        }
    }
}

/// A type whose values are one slot that is looked into elsewhere.
fn boxed(ty: &Type, form: Form) -> Layout {
    let fingerprint = Fingerprint::of(&Letter::Type(Signature(ty)));
    Layout { slots: 1, class: Class::Any, form, single: Single::Other, fingerprint }
}

fn code_fingerprint(size: &BigUint) -> Fingerprint {
    if size.is_one() { Fingerprint::EMPTY } else { Fingerprint::of(&Letter::Code(size)) }
}

/// What a case becomes among the flattened ones.
fn flat(layout: &Layout) -> Flat {
    match (layout.slots, &layout.single) {
        (0, _) => Flat::Units(Code::Small(1)),
        (1, Single::Code(size)) => Flat::Units(size.clone()),
        (1, Single::Sum(sum)) => Flat::Inner(sum.clone()),
        _ => Flat::Argument,
    }
}

impl Layout {
    /// Whether values are stored as those of the other: as many slots, and the same in each. Of two types with
    /// more slots than any memory has, neither has values.
    pub fn stored_like(&self, other: &Layout) -> bool {
        let wide = self.slots > 1 && self.slots != TOO_MANY;
        self.slots == other.slots
            && self.fingerprint == other.fingerprint
            && (!wide || self.class == other.class)
    }

    /// What the slot is, if there is exactly one and it is a scalar or a code.
    pub fn leaf(&self) -> Option<Leaf> {
        if self.slots != 1 {
            return None;
        }
        match &self.form {
            Form::Compact(compact) => Some(Leaf::Code(compact.size.clone())),
            Form::Scalar(scalar) => Some(Leaf::Scalar(*scalar)),
            Form::Parts(parts) => parts.iter().find(|(_, part)| part.slots == 1).and_then(|(_, p)| p.leaf()),
            Form::Array { element, .. } => element.leaf(),
            Form::Sum(_) => match &self.single {
                Single::Code(size) => Some(Leaf::Code(size.clone())),
                _ => None,
            },
            Form::Variant | Form::Function | Form::Packed => None,
        }
    }

    /// Size and rule of a compact type.
    pub fn compact(&self) -> Option<&Compact> {
        match &self.form {
            Form::Compact(compact) => Some(compact),
            _ => None,
        }
    }

    /// Start and layout of part `i` of a tuple, or of element `i` of an array.
    pub fn part(&self, i: usize) -> Option<(usize, Arc<Layout>)> {
        match &self.form {
            Form::Parts(parts) => parts.get(i).cloned(),
            Form::Array { element, .. } => Some((i.checked_mul(element.slots)?, element.clone())),
            _ => None,
        }
    }
}
