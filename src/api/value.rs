//! Typed values, and their parts.

use super::types::Type;
use crate::session::HostValue;
use felis_calculus::types::encoding::{Code, Encoding};
use felis_calculus::types::{self, NominalBody, TypeKind};
use felis_runtime::eval;
use felis_runtime::layout::{Form, Layout, Layouts};
use felis_runtime::value;
use num_traits::ToPrimitive;
use std::fmt;
use std::sync::Arc;

/// A value together with its type; cheap to clone, and independent of the session it comes from.
///
/// `TryFrom` turns a value into `bool`, `char`, `String`, `()`, every integer type that holds the
/// number, `f32`, `f64`, and into `Vec<T>`, `[T; N]` and tuples of these. `From` makes values of
/// them. [`Array`](super::Array) reads and makes large arrays. `Display` writes a text that reads
/// back as the value.
///
/// ```
/// use felis::{Session, Value};
///
/// let mut session = Session::new();
/// let value = session.evaluate("(name=\"Ada\", marks=(1, 2))")?.value()?;
/// let name: String = value.field("name").unwrap().try_into()?;
/// let marks: Vec<i64> = value.field("marks").unwrap().try_into()?;
/// assert_eq!((name.as_str(), marks), ("Ada", vec![1, 2]));
///
/// session.set("pair", (true, 2.5))?;
/// assert_eq!(session.evaluate("pair")?.value()?.to_string(), "(true,2.5)");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Value {
    ty: types::Type,
    value: value::Value,
    /// The session whose declared types the type may mention.
    session: Option<u64>,
}

impl Value {
    /// A value at its type; one that brings sizes along is opened.
    pub(super) fn new(mut ty: types::Type, mut value: value::Value) -> Value {
        while let (TypeKind::Exists(..), value::Value::Packed(packed)) = (ty.kind(), &value) {
            let (opened, inside) = (packed.value_type(&ty), packed.value.clone());
            (ty, value) = (opened, inside);
        }
        Value { ty, value, session: None }
    }

    pub(super) fn of_session(self, session: u64) -> Value {
        Value { session: Some(session), ..self }
    }

    /// Returns true if a session knows all types that the type mentions.
    pub(super) fn is_known_in(&self, session: u64) -> bool {
        self.session.is_none_or(|own| own == session) || !mentions_declarations(&self.ty)
    }

    pub(super) fn into_host(self) -> HostValue {
        HostValue { ty: self.ty, value: self.value }
    }

    /// The type without newtypes at its top.
    pub(super) fn structure(&self) -> types::Type {
        self.ty.unfold()
    }

    pub(super) fn stored(&self) -> &value::Value {
        &self.value
    }

    /// The type.
    pub fn ty(&self) -> Type {
        Type(self.ty.clone())
    }

    /// The extents of the axes of an array, as [`Type::shape`].
    pub fn shape(&self) -> Vec<usize> {
        self.ty().shape()
    }

    /// The components of a tuple, record or struct, the elements of an array, or the parts of a
    /// compact product, in order; empty for other values.
    ///
    /// ```
    /// let value = felis::Session::new().evaluate("(1, \"one\")")?.value()?;
    /// let parts: Vec<String> = value.parts().map(|part| part.ty().to_string()).collect();
    /// assert_eq!(parts, ["int", "string"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parts(&self) -> impl ExactSizeIterator<Item = Value> + '_ {
        let parts = Parts::of(self);
        (0..parts.count).map(move |i| parts.get(i))
    }

    /// The field of a record, struct or compact record with this name.
    pub fn field(&self, name: &str) -> Option<Value> {
        let fields = self.ty.named_parts()?;
        let at = fields.iter().position(|(field, _)| &**field == name)?;
        let parts = Parts::of(self);
        (at < parts.count).then(|| parts.get(at))
    }

    /// The case of a variant or an enumeration with its argument, which is `()` for a case without
    /// one. A case of an undeclared sum is named by its number.
    ///
    /// ```
    /// let mut session = felis::Session::new();
    /// session.evaluate("variant shape = Circle of real | Point;")?;
    /// let (name, radius) = session.evaluate("Circle 2.0")?.value()?.case().unwrap();
    /// assert_eq!((name.as_str(), f64::try_from(radius)?), ("Circle", 2.0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn case(&self) -> Option<(String, Value)> {
        let ty = self.structure();
        if let TypeKind::Nominal(nominal, args) = ty.kind() {
            let Some(NominalBody::Variant(_)) = nominal.body() else { return None };
            let cases = nominal.variant_cases(args)?;
            let (case, argument) = match &self.value {
                value::Value::Sum(case) => (case.0.to_usize()?, case.1.clone()),
                code => (code.to_code().to_usize()?, value::Value::UNIT),
            };
            let (name, ty) = cases.into_iter().nth(case)?;
            return Some((name.to_string(), self.part(ty, argument)));
        }
        ty.case_count()?;
        let (case, argument) = if let TypeKind::UnitSum(_) = ty.kind() {
            (self.value.to_code(), value::Value::UNIT)
        } else if ty.is_compact() {
            let (case, argument) = Encoding::of(&ty).ok()?.split(&self.value.to_code());
            (case, value::Value::code(argument))
        } else {
            match &Layouts::default().of(&ty).form {
                Form::Sum(sum) => sum.split(&self.value),
                _ => return None,
            }
        };
        let ty = ty.case_type(&case.to_big())?;
        Some((case.to_string(), self.part(ty, argument)))
    }

    fn part(&self, ty: types::Type, value: value::Value) -> Value {
        Value { session: self.session, ..Value::new(ty, value) }
    }
}

/// Returns true if a type mentions one that a program declares, or a function, which may hold
/// values of such types.
fn mentions_declarations(ty: &types::Type) -> bool {
    let mut found =
        matches!(ty.kind(), TypeKind::Nominal(..) | TypeKind::Function(..) | TypeKind::Procedure(_));
    ty.kind().for_each_child(&mut |child| found = found || mentions_declarations(child));
    found
}

/// The parts of a value.
struct Parts<'v> {
    whole: &'v Value,
    count: usize,
    /// Their types: one for each, or one for all.
    types: Vec<types::Type>,
    place: Place,
}

/// The way to a part.
enum Place {
    /// A digit of the code.
    Digit(Encoding),
    /// Slots of the storage.
    Slots(Arc<Layout>),
}

impl Parts<'_> {
    fn of(whole: &Value) -> Parts<'_> {
        Parts::found(whole).unwrap_or_else(|| Parts {
            whole,
            count: 0,
            types: Vec::new(),
            place: Place::Slots(Layouts::default().of(&types::Type::unit())),
        })
    }

    fn found(whole: &Value) -> Option<Parts<'_>> {
        let ty = whole.structure();
        let named = || Some(whole.ty.named_parts()?.into_iter().map(|(_, ty)| ty).collect::<Vec<_>>());
        if ty.is_compact() {
            let encoding = Encoding::of(&whole.ty).ok()?;
            let (count, types) = match (named(), ty.kind()) {
                (Some(types), _) => (types.len(), types),
                (None, TypeKind::CompactProduct(factors)) => (factors.len(), factors.clone()),
                (None, TypeKind::CompactPower(base, times)) => {
                    (times.size().ok()?.to_usize()?, vec![base.clone()])
                }
                (None, TypeKind::Triangle(_, index)) => (2, vec![index.clone()]),
                _ => return None,
            };
            return Some(Parts { whole, count, types, place: Place::Digit(encoding) });
        }
        let layout = Layouts::default().of(&ty);
        let (count, types) = match (&layout.form, ty.kind()) {
            (Form::Array { count, .. }, TypeKind::Array(element, _)) => (*count, vec![element.clone()]),
            (Form::Parts(parts), TypeKind::Product(types)) => (parts.len(), types.clone()),
            (Form::Parts(parts), _) => (parts.len(), named()?),
            _ => return None,
        };
        Some(Parts { whole, count, types, place: Place::Slots(layout) })
    }

    fn get(&self, i: usize) -> Value {
        let ty = self.types.get(i).or(self.types.first()).expect("a part has a type").clone();
        let whole = &self.whole.value;
        let value = match &self.place {
            Place::Digit(encoding) => value::Value::code(encoding.project(&whole.to_code(), &Code::from(i))),
            Place::Slots(layout) => match layout.part(i) {
                Some((_, part)) if part.slots == layout.slots => whole.clone(),
                Some((start, part)) => whole.slots(start, part.slots),
                None => unreachable!("a part lies in its layout"),
            },
        };
        self.whole.part(ty, value)
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&eval::read_back(&self.value, &self.ty))
    }
}

impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Value({self} : {})", self.ty)
    }
}
