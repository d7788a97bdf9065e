//! Conversion of values and annotations of a host program.
//!
//! A host (a program that embeds a session, a notebook, a Python package) passes values in and
//! names types in its own words. Two open registries convert them: rules for values, from a Rust
//! value of any type to a [`HostValue`], and rules for annotations, from a text such as `float64[3,
//! 4]` to a type. A new kind of host value is a new rule; the last rule that gives an answer wins,
//! so that a host can refine the built-in ones.
//!
//! A rule for a container asks the registry for its parts ([`HostRegistry::convert_value`]). Sizes
//! of arrays are part of the type here, as everywhere: a vector of five reals is a `real ^ 5`.

use super::{Session, library};
use felis_calculus::core::{Global, GlobalId};
use felis_calculus::types::number::Fixed;
use felis_calculus::types::{Scalar, Type};
use felis_check::check::env::Definition;
use felis_runtime::layout::Layouts;
use felis_runtime::value::{Buffer, Seq, Value};
use num_bigint::BigInt;
use std::any::Any;
use std::sync::Arc;

/// A value of a host with the type it has here.
#[derive(Clone, Debug)]
pub struct HostValue {
    /// Its type.
    pub ty: Type,
    /// The value, as that type is represented.
    pub value: Value,
}

/// A rule that converts a value of the host; `None` if it does not know the value.
pub type ValueRule = Box<dyn Fn(&dyn Any, &HostRegistry) -> Option<HostValue> + Send + Sync>;
/// A rule that gives the type of an annotation of the host; `None` if it does not know the
/// annotation.
pub type AnnotationRule = Box<dyn Fn(&str, &HostRegistry) -> Option<Type> + Send + Sync>;

/// The registries.
pub struct HostRegistry {
    values: Vec<ValueRule>,
    annotations: Vec<AnnotationRule>,
}

impl Default for HostRegistry {
    fn default() -> HostRegistry {
        let mut hosts = HostRegistry { values: Vec::new(), annotations: Vec::new() };
        hosts.add_annotation_rule(Box::new(element));
        hosts.add_annotation_rule(Box::new(shaped));
        hosts.add_scalar::<i8>(Scalar::Fixed(Fixed::I8), |x| fixed_value(Fixed::I8, i128::from(*x)));
        hosts.add_scalar::<i16>(Scalar::Fixed(Fixed::I16), |x| fixed_value(Fixed::I16, i128::from(*x)));
        hosts.add_scalar::<i32>(Scalar::Fixed(Fixed::I32), |x| fixed_value(Fixed::I32, i128::from(*x)));
        hosts.add_scalar::<i64>(Scalar::Int, |x| Value::int(*x));
        hosts.add_scalar::<u8>(Scalar::Fixed(Fixed::U8), |x| fixed_value(Fixed::U8, i128::from(*x)));
        hosts.add_scalar::<u16>(Scalar::Fixed(Fixed::U16), |x| fixed_value(Fixed::U16, i128::from(*x)));
        hosts.add_scalar::<u32>(Scalar::Fixed(Fixed::U32), |x| fixed_value(Fixed::U32, i128::from(*x)));
        hosts.add_scalar::<u64>(Scalar::Fixed(Fixed::U64), |x| fixed_value(Fixed::U64, i128::from(*x)));
        hosts.add_scalar::<f32>(Scalar::Single, |x| Value::single(*x));
        hosts.add_scalar::<f64>(Scalar::Real, |x| Value::real(*x));
        hosts.add_scalar::<BigInt>(Scalar::Bigint, |x| Value::bigint(x.clone()));
        hosts.add_scalar::<String>(Scalar::String, |x| Value::str(x.as_str()));
        hosts.add_scalar::<&'static str>(Scalar::String, |x| Value::str(*x));
        hosts.add::<bool>(|x| HostValue { ty: Type::bool(), value: Value::bool(*x) });
        hosts.add::<()>(|()| HostValue { ty: Type::unit(), value: Value::UNIT });
        hosts
    }
}

impl HostRegistry {
    /// Adds a rule for values.
    pub fn add_value_rule(&mut self, rule: ValueRule) {
        self.values.push(rule);
    }

    /// Adds a rule for annotations.
    pub fn add_annotation_rule(&mut self, rule: AnnotationRule) {
        self.annotations.push(rule);
    }

    /// Adds what all values of a Rust type are.
    pub fn add<T: 'static>(&mut self, is: impl Fn(&T) -> HostValue + Send + Sync + 'static) {
        self.add_value_rule(Box::new(move |value, _| value.downcast_ref::<T>().map(&is)));
    }

    /// Adds a scalar of a Rust type, and vectors of it.
    fn add_scalar<T: 'static>(&mut self, scalar: Scalar, is: fn(&T) -> Value) {
        self.add::<T>(move |x| HostValue { ty: Type::scalar(scalar), value: is(x) });
        self.add_value_rule(Box::new(move |value, hosts| {
            let parts = value.downcast_ref::<Vec<T>>()?;
            let parts: Option<Vec<HostValue>> = parts.iter().map(|x| hosts.convert_value(x)).collect();
            array_value(Type::scalar(scalar), parts?)
        }));
        self.add_value_rule(Box::new(move |value, hosts| {
            let rows = value.downcast_ref::<Vec<Vec<T>>>()?;
            let rows: Option<Vec<HostValue>> = rows.iter().map(|row| hosts.convert_value(row)).collect();
            let rows = rows?;
            let row = rows.first()?.ty.clone();
            // Rows of different lengths have different types: there is no array of them.
            if rows.iter().any(|other| other.ty != row) {
                return None;
            }
            array_value(row, rows)
        }));
    }

    /// Converts a value of the host by the last rule that knows it.
    pub fn convert_value(&self, value: &dyn Any) -> Option<HostValue> {
        self.values.iter().rev().find_map(|rule| rule(value, self))
    }

    /// Returns the type of an annotation by the last rule that knows it.
    pub fn resolve_annotation(&self, text: &str) -> Option<Type> {
        self.annotations.iter().rev().find_map(|rule| rule(text.trim(), self))
    }
}

impl Session {
    /// Returns the registries of rules.
    pub fn host_registry(&mut self) -> &mut HostRegistry {
        &mut self.hosts
    }

    /// The type of a value of the host.
    pub fn type_of_value(&self, value: &dyn Any) -> Option<Type> {
        self.hosts.convert_value(value).map(|host| host.ty)
    }

    /// The type that an annotation of the host means: by a rule, or as a type of the language.
    pub fn type_of_annotation(&mut self, text: &str) -> Option<Type> {
        self.hosts.resolve_annotation(text).or_else(|| self.kind_of(text).ok().map(|(ty, _)| ty))
    }

    /// Binds a value of the host to a name, as `val` does; `None` if no rule converts it or
    /// the name is none.
    pub fn bind_host_value(&mut self, name: &str, value: &dyn Any) -> Option<Type> {
        let host = self.hosts.convert_value(value)?;
        let ty = host.ty.clone();
        self.define(name, host).then_some(ty)
    }

    /// Binds a value to a name, as `val` does. Returns false if the text is no name.
    pub fn define(&mut self, name: &str, value: HostValue) -> bool {
        if !felis_syntax::syntax::is_name(name) {
            return false;
        }
        let id = GlobalId::new(self.program.globals.len());
        let name: Arc<str> = name.into();
        // No text of the session need mention the type.
        self.library.narrow |= library::mentions_narrow_type(&value.ty.to_string());
        self.program.globals.push(Global { name: name.clone(), ty: value.ty });
        self.share_global(id, &value.value);
        let definition = Definition::of_session(id);
        self.env.values.insert(name, definition);
        true
    }
}

/// Returns a value of a fixed-width integer type.
fn fixed_value(fixed: Fixed, n: i128) -> Value {
    Value::Word(fixed.encode(n))
}

/// An array of values of one type; `None` if there is no room for it.
fn array_value(element: Type, parts: Vec<HostValue>) -> Option<HostValue> {
    let ty = Type::array(element, Type::unit_sum(parts.len()));
    let mut slots: Vec<Value> = parts.into_iter().flat_map(|part| value_slots(part.value)).collect();
    let value = match slots.len() {
        0 => Value::UNIT,
        1 => slots.remove(0),
        count => {
            let mut buffer = Buffer::with_capacity(Layouts::default().of(&ty).class, count)?;
            slots.into_iter().for_each(|slot| buffer.push(slot));
            Value::Seq(Seq::new(buffer))
        }
    };
    Some(HostValue { ty, value })
}

/// Returns the slots of a value.
fn value_slots(value: Value) -> Vec<Value> {
    match &value {
        Value::Seq(seq) => (0..seq.len()).map(|i| seq.get(i)).collect(),
        _ => vec![value],
    }
}

/// Elements as NumPy and Arrow name them, with a byte order or without.
fn element(text: &str, _: &HostRegistry) -> Option<Type> {
    let scalar = match text.trim_start_matches(['<', '=', '|']) {
        "float64" | "f8" => Scalar::Real,
        "float32" | "f4" => Scalar::Single,
        "int64" => Scalar::Int,
        "int32" | "i4" => Scalar::Fixed(Fixed::I32),
        "int16" | "i2" => Scalar::Fixed(Fixed::I16),
        "int8" | "i1" => Scalar::Fixed(Fixed::I8),
        "uint64" => Scalar::Fixed(Fixed::U64),
        "uint32" | "u4" => Scalar::Fixed(Fixed::U32),
        "uint16" | "u2" => Scalar::Fixed(Fixed::U16),
        "uint8" | "u1" => Scalar::Fixed(Fixed::U8),
        "utf8" | "str" => Scalar::String,
        "boolean" | "bool_" | "?" => return Some(Type::bool()),
        _ => return None,
    };
    Some(Type::scalar(scalar))
}

/// `float64[3, 4]`: an element with the extents of an array.
fn shaped(text: &str, hosts: &HostRegistry) -> Option<Type> {
    let (element, extents) = text.strip_suffix(']')?.split_once('[')?;
    let element = hosts.resolve_annotation(element)?;
    let extents = extents.split(',').map(|n| n.trim().parse::<num_bigint::BigUint>().ok());
    let extents: Vec<Type> = extents.map(|n| n.map(Type::unit_sum)).collect::<Option<_>>()?;
    Some(Type::array(element, Type::compact_product(extents)))
}
