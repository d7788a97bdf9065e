//! Storage layouts: slots, offsets and flattened cases of types.
//!
//! Takes a type without variables; gives its [`Layout`]. The layout of a sum follows section 3 of
//! the language reference: nested sums are flattened, a compact case of size n stands for n unit
//! cases, void cases are dropped, a single case is unwrapped, and a sum of unit cases becomes a
//! compact slot. Two types with equal storage ([`Layout::stored_like`]) share representations; a
//! value of one may be read as the other.

mod fingerprint;
mod unboxed;

use crate::hash::HashMap;
use crate::types::encoding::{Code, Encoding, Width};
use crate::types::{MAX_SIZE_BITS, NoSize, NominalBody, Scalar, Type, TypeKind};
use crate::value::{Case, Class, Value};
use fingerprint::{Fingerprint, Letter, Signature};
use num_bigint::BigUint;
use num_traits::{One, ToPrimitive, Zero};
use std::cell::RefCell;
use std::sync::Arc;
pub use unboxed::Unboxed;

/// The layout of one type.
#[derive(Debug)]
pub struct Layout {
    /// The number of slots of a value; [`TOO_MANY_SLOTS`] if no memory could hold them.
    pub slots: usize,
    /// The narrowest class that holds every slot.
    pub class: Class,
    /// The structure of the value.
    pub form: Form,
    /// The content of the slot, if there is exactly one.
    single: SingleSlot,
    /// The fingerprint of all slots; [`Fingerprint::EMPTY`] if there are [`TOO_MANY_SLOTS`].
    fingerprint: Fingerprint,
}

/// The number of slots of types whose values fit no memory.
pub const TOO_MANY_SLOTS: usize = usize::MAX;

/// The structure of a value.
#[derive(Debug)]
pub enum Form {
    /// A compact linear value.
    Compact(Compact),
    /// A scalar.
    Scalar(Scalar),
    /// Consecutive parts, each with its first slot.
    Parts(Vec<(usize, Arc<Layout>)>),
    /// Consecutive elements of equal layout.
    Array {
        /// The layout of each element.
        element: Arc<Layout>,
        /// The number of elements; [`TOO_MANY_SLOTS`] if no memory could count them.
        count: usize,
    },
    /// A tagged sum.
    Sum(Arc<SumLayout>),
    /// A variant, or an abstract type without representation: one slot. Layouts of its cases are
    /// computed when they are needed, since the type may be recursive.
    Variant,
    /// A function.
    Function,
    /// A value of an existential type, with its sizes.
    Packed,
}

/// Returns true if codes are computed for types of this size. Values of larger types are never
/// made.
pub fn is_countable(size: &Code) -> bool {
    !matches!(size, Code::Big(n) if n.bits() > MAX_SIZE_BITS + 1)
}

/// The content of one slot.
#[derive(Clone, Debug, PartialEq)]
pub enum Leaf {
    /// A scalar.
    Scalar(Scalar),
    /// A code below this size.
    Code(Code),
}

/// The size and the encoding of a compact linear type.
#[derive(Debug)]
pub struct Compact {
    /// The number of values.
    pub size: Code,
    /// The rule by which parts are packed into the code.
    pub encoding: Encoding,
}

/// The content of the only slot of a value.
#[derive(Clone, Debug)]
enum SingleSlot {
    /// A code below this size.
    Code(Code),
    /// A tagged sum.
    Sum(Arc<SumLayout>),
    /// Anything else, or not exactly one slot.
    Other,
}

/// The flattened cases of a tagged sum.
#[derive(Debug)]
pub struct SumLayout {
    cases: SumCases,
    /// The number of flattened cases.
    total: Code,
    /// True if every flattened case is a unit: a value is then a code.
    all_units: bool,
    /// True if exactly one case is left: a value is then the argument of that case.
    unwrapped: bool,
    /// The flattened cases as a word over unit runs and arguments.
    word: CaseWord,
}

/// The flattened cases of a sum as a word. Unit cases at its two ends are counted separately,
/// because in a concatenation they merge with those of the neighbor.
#[derive(Clone, Debug)]
struct CaseWord {
    /// Unit cases before the first with an argument; all, if there is none.
    lead: Code,
    /// The fingerprint from the first case with an argument to the last.
    middle: Option<Fingerprint>,
    /// Unit cases after the last.
    trail: Code,
}

impl CaseWord {
    /// Returns a run of unit cases.
    fn units(count: Code) -> CaseWord {
        CaseWord { lead: count, middle: None, trail: Code::ZERO }
    }

    /// Returns the flattened cases of one case whose argument has this layout.
    fn of(flat: &FlatCase, layout: &Layout) -> CaseWord {
        match flat {
            FlatCase::Units(count) => CaseWord::units(count.clone()),
            FlatCase::Inner(sum) => sum.word.clone(),
            FlatCase::Argument => {
                let middle = Some(Fingerprint::of(&Letter::Argument(layout.fingerprint)));
                CaseWord { lead: Code::ZERO, middle, trail: Code::ZERO }
            }
        }
    }

    /// Returns the fingerprint of a run of unit cases.
    fn unit_run(count: &Code) -> Fingerprint {
        if count.is_zero() { Fingerprint::EMPTY } else { Fingerprint::of(&Letter::Units(&count.to_big())) }
    }

    /// Concatenates two words.
    fn concat(self, next: CaseWord) -> CaseWord {
        match (self.middle, next.middle) {
            (None, _) => CaseWord { lead: self.lead.add(&next.lead), ..next },
            (Some(_), None) => CaseWord { trail: self.trail.add(&next.lead), ..self },
            (Some(first), Some(second)) => {
                let between = CaseWord::unit_run(&self.trail.add(&next.lead));
                let middle = Some(first.concat(between).concat(second));
                CaseWord { lead: self.lead, middle, trail: next.trail }
            }
        }
    }

    /// Repeats a word.
    fn repeat(self, count: &BigUint) -> CaseWord {
        let Some(middle) = self.middle else { return CaseWord::units(self.lead.mul(&Code::from(count))) };
        let again = CaseWord::unit_run(&self.trail.add(&self.lead)).concat(middle);
        let middle = match count.to_u64() {
            Some(0) => return CaseWord::units(Code::ZERO),
            Some(count) => middle.concat(again.repeat(count - 1)),
            // Hashed as written: reducing the exponent modulo the order of the field could make
            // different counts equal.
            None => Fingerprint::of(&Letter::Copies(count, middle.concat(again))),
        };
        CaseWord { middle: Some(middle), ..self }
    }

    /// Returns the fingerprint of the word.
    fn fingerprint(&self) -> Fingerprint {
        let middle = self.middle.unwrap_or(Fingerprint::EMPTY);
        CaseWord::unit_run(&self.lead).concat(middle).concat(CaseWord::unit_run(&self.trail))
    }
}

/// The cases of a sum.
#[derive(Debug)]
enum SumCases {
    /// Each case with its offset among the flattened cases.
    Listed(Vec<(Code, FlatCase)>),
    /// Equal cases, with the number of flattened cases of each.
    Repeated(Code, FlatCase),
}

/// The flattened cases of one case.
#[derive(Clone, Debug)]
enum FlatCase {
    /// A number of unit cases: the argument is a code.
    Units(Code),
    /// The cases of an inner sum.
    Inner(Arc<SumLayout>),
    /// One case with an argument.
    Argument,
}

impl FlatCase {
    /// Returns the number of flattened cases.
    fn width(&self) -> Code {
        match self {
            FlatCase::Units(n) => n.clone(),
            FlatCase::Inner(sum) => sum.total.clone(),
            FlatCase::Argument => Code::Small(1),
        }
    }
}

impl SumLayout {
    /// Returns the number of flattened cases.
    pub fn case_count(&self) -> Code {
        self.total.clone()
    }

    /// Returns the first code of case `i` in a sum of unit cases.
    pub fn offset(&self, i: &Code) -> Code {
        self.case(i).0
    }

    /// Returns the code after the last one of case `i` in a sum of unit cases.
    pub fn end(&self, i: &Code) -> Code {
        let (offset, flat) = self.case(i);
        offset.add(&flat.width())
    }

    /// Returns the offset of case `i` among the flattened cases, and its content.
    fn case(&self, i: &Code) -> (Code, &FlatCase) {
        match &self.cases {
            SumCases::Listed(cases) => {
                let case = i.to_usize().and_then(|i| cases.get(i));
                let (offset, flat) = case.expect("a sum has the case of its value");
                (offset.clone(), flat)
            }
            SumCases::Repeated(width, flat) => (i.mul(width), flat),
        }
    }

    /// Returns the value of case `i` with this argument.
    pub fn inject(&self, i: &Code, argument: Value) -> Value {
        let (offset, flat) = self.case(i);
        let (tag, payload) = match flat {
            FlatCase::Units(_) => (offset.add(&argument.to_code()), Value::UNIT),
            FlatCase::Inner(_) => match &argument {
                Value::Sum(inner) => (offset.add(&inner.0), inner.1.clone()),
                _ => unreachable!("a value of a tagged sum has a tag"),
            },
            FlatCase::Argument => (offset, argument),
        };
        if self.unwrapped {
            payload
        } else if self.all_units {
            Value::code(tag)
        } else {
            Value::Sum(Arc::new(Case(tag, payload)))
        }
    }

    /// Returns the case that a value belongs to, and its argument.
    pub fn split(&self, value: &Value) -> (Code, Value) {
        let (tag, payload) = match value {
            argument if self.unwrapped => (Code::ZERO, argument.clone()),
            code if self.all_units => (code.to_code(), Value::UNIT),
            Value::Sum(sum) => (sum.0.clone(), sum.1.clone()),
            _ => unreachable!("a value of a tagged sum has a tag"),
        };
        let (case, local, flat) = match &self.cases {
            SumCases::Listed(cases) => {
                let case = cases.partition_point(|(offset, _)| *offset <= tag).max(1) - 1;
                (Code::from(case), tag.sub(&cases[case].0), &cases[case].1)
            }
            SumCases::Repeated(width, flat) => {
                let (case, local) = tag.div_rem(width);
                (case, local, flat)
            }
        };
        let argument = match flat {
            FlatCase::Units(_) => Value::code(local),
            FlatCase::Inner(_) => Value::Sum(Arc::new(Case(local, payload))),
            FlatCase::Argument => payload,
        };
        (case, argument)
    }
}

/// Returns the size of a type; `None` if it is too large to be computed. A type with variables has
/// none either: the code that asks is refused before it runs.
///
/// # Panics
/// If the type has another reason to have no size.
fn countable_size(ty: &Type) -> Option<BigUint> {
    ty.size().map_err(|why| require_uncountable(ty, &why)).ok()
}

/// Ensures that the reason for which a type has no size is that it is too large, or that it has a
/// variable.
fn require_uncountable(ty: &Type, why: &NoSize) {
    assert!(ty.has_var() || *why == NoSize::TooLarge, "`{ty}` has no size: {why:?}");
}

/// The size that stands for one that is too large to be computed.
fn uncountable() -> BigUint {
    BigUint::one() << (MAX_SIZE_BITS + 1)
}

/// The number of layouts that are cached: sizes that arrive at run time make an unbounded number of
/// types.
const MAX_CACHED_LAYOUTS: usize = 10_000;

/// A cache of layouts by type.
#[derive(Default)]
pub struct Layouts {
    cache: RefCell<HashMap<Type, Arc<Layout>>>,
}

impl Layouts {
    /// Returns the layout of a type without variables.
    pub fn of(&self, ty: &Type) -> Arc<Layout> {
        if let Some(known) = self.cache.borrow().get(ty) {
            return known.clone();
        }
        // A newtype is stored as its definition.
        let layout = Arc::new(self.compute(&ty.unfold()));
        let mut known = self.cache.borrow_mut();
        if known.len() >= MAX_CACHED_LAYOUTS {
            known.clear();
        }
        known.insert(ty.clone(), layout.clone());
        layout
    }

    /// Computes the layout of an unfolded type.
    fn compute(&self, ty: &Type) -> Layout {
        if ty.is_compact() {
            return self.compact(ty);
        }
        match ty.kind() {
            TypeKind::Scalar(scalar) => {
                let class = Class::of_scalar(*scalar);
                let fingerprint = Fingerprint::of(&Letter::Scalar(*scalar));
                Layout {
                    slots: 1,
                    class,
                    form: Form::Scalar(*scalar),
                    single: SingleSlot::Other,
                    fingerprint,
                }
            }
            TypeKind::Product(parts) => self.product(parts.iter()),
            TypeKind::Record(fields) => self.product(fields.iter().map(|(_, ty)| ty)),
            TypeKind::Array(element, index) => {
                let count = countable_size(index).and_then(|n| n.to_usize()).unwrap_or(TOO_MANY_SLOTS);
                let element = self.of(element);
                let slots = if element.slots == 0 {
                    0
                } else {
                    count.checked_mul(element.slots).unwrap_or(TOO_MANY_SLOTS)
                };
                let single = element.single.clone();
                let fingerprint = match slots {
                    0 | TOO_MANY_SLOTS => Fingerprint::EMPTY,
                    _ => element.fingerprint.repeat(count as u64),
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
                    let flat = flatten_case(&layout);
                    let width = flat.width();
                    word = word.concat(CaseWord::of(&flat, &layout));
                    if !width.is_zero() {
                        kept = Some(layout);
                    }
                    listed.push((offset.clone(), flat));
                    offset = offset.add(&width);
                }
                let all_units = listed.iter().all(|(_, f)| match f {
                    FlatCase::Units(_) => true,
                    FlatCase::Inner(sum) => sum.all_units,
                    FlatCase::Argument => false,
                });
                self.sum(SumCases::Listed(listed), offset, all_units, kept, word)
            }
            TypeKind::Repeat(n, case) => {
                let n = countable_size(n).unwrap_or_else(uncountable);
                let layout = self.of(case);
                let flat = flatten_case(&layout);
                let width = flat.width();
                // No case at all is no tag: a code below 0.
                let all_units = matches!(flat, FlatCase::Units(_)) || n.is_zero();
                let total = Code::from(&n).mul(&width);
                let word = CaseWord::of(&flat, &layout).repeat(&n);
                self.sum(SumCases::Repeated(width, flat), total, all_units, Some(layout), word)
            }
            TypeKind::Nominal(nominal, args) => match nominal.body() {
                Some(NominalBody::Struct(_)) => {
                    let fields = nominal.struct_fields(args).expect("a struct has fields");
                    self.product(fields.iter().map(|(_, ty)| ty))
                }
                Some(NominalBody::Abstract(known)) if known.representation.is_some() => {
                    let stored = nominal.representation(args).expect("the representation is known");
                    self.compute(&stored.unfold())
                }
                _ => boxed_layout(ty, Form::Variant),
            },
            TypeKind::Exists(..) => boxed_layout(ty, Form::Packed),
            _ => boxed_layout(ty, Form::Function),
        }
    }

    /// Computes the layout of a compact type.
    fn compact(&self, ty: &Type) -> Layout {
        let size = match ty.size() {
            Ok(size) => size,
            Err(NoSize::TooLarge) => uncountable(),
            Err(why) => {
                require_uncountable(ty, &why);
                BigUint::one()
            }
        };
        let width = Width::of(&size);
        // No value of a type that has too many is ever made, and no encoding of one is computed.
        let encoding = match Encoding::of(ty) {
            Ok(encoding) => encoding,
            Err(why) => {
                require_uncountable(ty, &why);
                Encoding::Unit(Code::Small(1))
            }
        };
        let slots = if size.is_one() { 0 } else { 1 };
        let fingerprint = code_fingerprint(&size);
        let size = Code::from(size);
        let single = SingleSlot::Code(size.clone());
        let form = Form::Compact(Compact { size, encoding });
        Layout { slots, class: Class::of(width), form, single, fingerprint }
    }

    /// Computes the layout of consecutive parts.
    fn product<'t>(&self, types: impl Iterator<Item = &'t Type>) -> Layout {
        let (mut slots, mut class) = (0usize, Class::U8);
        let mut single = SingleSlot::Other;
        let mut fingerprint = Fingerprint::EMPTY;
        let mut parts = Vec::new();
        for ty in types {
            let layout = self.of(ty);
            if layout.slots > 0 {
                class = class.max(layout.class);
                single = layout.single.clone();
            }
            let start = slots;
            slots = slots.checked_add(layout.slots).unwrap_or(TOO_MANY_SLOTS);
            fingerprint = fingerprint.concat(layout.fingerprint);
            parts.push((start, layout));
        }
        if slots == TOO_MANY_SLOTS {
            fingerprint = Fingerprint::EMPTY;
        }
        Layout { slots, class, form: Form::Parts(parts), single, fingerprint }
    }

    /// Computes the layout of a sum from its cases; `kept` is the layout of the last case that has
    /// values.
    fn sum(
        &self,
        cases: SumCases,
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
                single: SingleSlot::Code(total),
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
                let single = SingleSlot::Sum(sum.clone());
                Layout { slots: 1, class: Class::Any, form: Form::Sum(sum), single, fingerprint }
            }
        }
    }
}

/// Returns the layout of a type whose values are one slot of class [`Class::Any`].
fn boxed_layout(ty: &Type, form: Form) -> Layout {
    let fingerprint = Fingerprint::of(&Letter::Type(Signature(ty)));
    Layout { slots: 1, class: Class::Any, form, single: SingleSlot::Other, fingerprint }
}

/// Returns the fingerprint of a code slot; a type of one value has no slot.
fn code_fingerprint(size: &BigUint) -> Fingerprint {
    if size.is_one() { Fingerprint::EMPTY } else { Fingerprint::of(&Letter::Code(size)) }
}

/// Returns the flattened cases that a case with this layout becomes.
fn flatten_case(layout: &Layout) -> FlatCase {
    match (layout.slots, &layout.single) {
        (0, _) => FlatCase::Units(Code::Small(1)),
        (1, SingleSlot::Code(size)) => FlatCase::Units(size.clone()),
        (1, SingleSlot::Sum(sum)) => FlatCase::Inner(sum.clone()),
        _ => FlatCase::Argument,
    }
}

impl Layout {
    /// Returns true if values of both layouts are stored alike: the same number of slots with the
    /// same contents. Types with more slots than any memory holds have no values and compare equal.
    pub fn stored_like(&self, other: &Layout) -> bool {
        let wide = self.slots > 1 && self.slots != TOO_MANY_SLOTS;
        self.slots == other.slots
            && self.fingerprint == other.fingerprint
            && (!wide || self.class == other.class)
    }

    /// Returns the content of the slot, if there is exactly one slot and it is a scalar or a code.
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
                SingleSlot::Code(size) => Some(Leaf::Code(size.clone())),
                _ => None,
            },
            Form::Variant | Form::Function | Form::Packed => None,
        }
    }

    /// Returns the size and the encoding of a compact type.
    pub fn compact(&self) -> Option<&Compact> {
        match &self.form {
            Form::Compact(compact) => Some(compact),
            _ => None,
        }
    }

    /// Returns the size and the encoding of a type that is known to be compact.
    ///
    /// # Panics
    ///
    /// If the type is not compact.
    pub fn require_compact(&self) -> &Compact {
        self.compact().expect("the type of a code is compact")
    }

    /// Returns the first slot and the layout of part `i` of a tuple, or of element `i` of an array.
    pub fn part(&self, i: usize) -> Option<(usize, Arc<Layout>)> {
        match &self.form {
            Form::Parts(parts) => parts.get(i).cloned(),
            Form::Array { element, .. } => Some((i.checked_mul(element.slots)?, element.clone())),
            _ => None,
        }
    }
}
