//! Values of Rust into values of Felis, and back.

use super::array::{Array, Element, Leaf};
use super::error::ConversionError;
use super::value::Value;
use felis_calculus::types::{Scalar, Type, TypeKind};
use felis_runtime::layout::Layouts;
use felis_runtime::value::{self, Buffer, Class, Seq};
use num_bigint::BigInt;

/// The integer that a value is: of an integer type, or an index.
fn whole(value: &Value) -> Option<BigInt> {
    let ty = value.structure();
    match ty.kind() {
        TypeKind::Scalar(Scalar::Bigint) => Some(value.stored().as_bigint()),
        TypeKind::UnitSum(_) => Some(BigInt::from(value.stored().to_code().to_big())),
        _ => Leaf::of(&ty)?.whole(value.stored().word()).map(BigInt::from),
    }
}

fn scalar(value: &Value, wanted: Scalar) -> Option<&value::Value> {
    (value.structure().as_scalar() == Some(wanted)).then(|| value.stored())
}

/// `TryFrom<&Value>` by a function that gives `None` where the value is another, and
/// `TryFrom<Value>`.
macro_rules! reads {
    ($($t:ty: $read:expr;)*) => {$(
        impl TryFrom<&Value> for $t {
            type Error = ConversionError;

            fn try_from(value: &Value) -> Result<$t, ConversionError> {
                let read: fn(&Value) -> Option<$t> = $read;
                read(value).ok_or_else(|| ConversionError::of_value(value, stringify!($t)))
            }
        }

        impl TryFrom<Value> for $t {
            type Error = ConversionError;

            fn try_from(value: Value) -> Result<$t, ConversionError> {
                <$t>::try_from(&value)
            }
        }
    )*};
}

/// Integers: of any integer type or index, in range.
macro_rules! integers {
    ($($t:ty)*) => { reads! { $($t: |value| whole(value)?.try_into().ok();)* } };
}

integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

reads! {
    bool: |value| value.structure().is_bool().then(|| value.stored().as_bool());
    (): |value| value.structure().is_unit().then_some(());
    char: |value| scalar(value, Scalar::Char).map(value::Value::as_char);
    String: |value| scalar(value, Scalar::String).map(|text| text.as_str().to_string());
    f32: |value| scalar(value, Scalar::Single).map(value::Value::as_single);
    f64: |value| {
        let single = || scalar(value, Scalar::Single).map(|x| f64::from(x.as_single()));
        scalar(value, Scalar::Real).map(value::Value::as_real).or_else(single)
    };
}

impl<T> TryFrom<&Value> for Vec<T>
where
    T: TryFrom<Value, Error = ConversionError>,
{
    type Error = ConversionError;

    fn try_from(value: &Value) -> Result<Vec<T>, ConversionError> {
        let ty = value.structure();
        let has_parts = match ty.kind() {
            TypeKind::Array(..) | TypeKind::CompactPower(..) => true,
            _ => ty.is_unit() || value.parts().len() > 0,
        };
        match has_parts {
            true => value.parts().map(T::try_from).collect(),
            false => Err(ConversionError::new(&value.ty(), "Vec")),
        }
    }
}

impl<T> TryFrom<Value> for Vec<T>
where
    T: TryFrom<Value, Error = ConversionError>,
{
    type Error = ConversionError;

    fn try_from(value: Value) -> Result<Vec<T>, ConversionError> {
        Vec::try_from(&value)
    }
}

impl<T, const N: usize> TryFrom<Value> for [T; N]
where
    T: TryFrom<Value, Error = ConversionError>,
{
    type Error = ConversionError;

    fn try_from(value: Value) -> Result<[T; N], ConversionError> {
        let parts: Vec<T> = Vec::try_from(&value)?;
        let wrong = |_| ConversionError::new(&value.ty(), &format!("an array of {N} elements"));
        parts.try_into().map_err(wrong)
    }
}

/// Tuples, both ways.
macro_rules! tuples {
    ($($count:literal: $($t:ident)*;)*) => {$(
        impl<$($t),*> TryFrom<Value> for ($($t,)*)
        where
            $($t: TryFrom<Value, Error = ConversionError>),*
        {
            type Error = ConversionError;

            fn try_from(value: Value) -> Result<Self, ConversionError> {
                let wrong = || ConversionError::new(&value.ty(), concat!("a tuple of ", $count));
                let mut parts = value.parts();
                if parts.len() != $count {
                    return Err(wrong());
                }
                Ok(($($t::try_from(parts.next().ok_or_else(wrong)?)?,)*))
            }
        }

        impl<$($t: Into<Value>),*> From<($($t,)*)> for Value {
            #[allow(non_snake_case)] // the parts are named as their types are
            fn from(($($t,)*): ($($t,)*)) -> Value {
                tuple(vec![$($t.into()),*])
            }
        }
    )*};
}

tuples! {
    2: A B;
    3: A B C;
    4: A B C D;
}

fn tuple(parts: Vec<Value>) -> Value {
    let layouts = Layouts::default();
    let hosts: Vec<_> = parts.into_iter().map(Value::into_host).collect();
    let ty = Type::product(hosts.iter().map(|part| part.ty.clone()).collect());
    let layout = layouts.of(&ty);
    let parts = hosts.into_iter().map(|part| (part.value, layouts.of(&part.ty).slots)).collect();
    let value = value::Value::tuple(parts, layout.class, layout.slots);
    Value::new(ty, value.expect("memory for the parts of a tuple"))
}

macro_rules! elements {
    ($($t:ty)*) => {$(
        impl From<$t> for Value {
            fn from(element: $t) -> Value {
                Array { shape: Vec::new(), elements: vec![element] }.into()
            }
        }
    )*};
}

elements! { bool i8 i16 i32 i64 u8 u16 u32 u64 f32 f64 }

impl<T: Element> From<Vec<T>> for Value {
    fn from(elements: Vec<T>) -> Value {
        Array { shape: vec![elements.len()], elements }.into()
    }
}

impl<T: Element> From<&[T]> for Value {
    fn from(elements: &[T]) -> Value {
        elements.to_vec().into()
    }
}

impl<T: Element, const N: usize> From<[T; N]> for Value {
    fn from(elements: [T; N]) -> Value {
        elements.to_vec().into()
    }
}

impl From<()> for Value {
    fn from((): ()) -> Value {
        Value::new(Type::unit(), value::Value::UNIT)
    }
}

impl From<char> for Value {
    fn from(c: char) -> Value {
        Value::new(Type::char(), value::Value::char(c))
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Value {
        Value::new(Type::string(), value::Value::str(text))
    }
}

impl From<String> for Value {
    fn from(text: String) -> Value {
        Value::new(Type::string(), value::Value::str(text))
    }
}

impl From<Vec<String>> for Value {
    fn from(texts: Vec<String>) -> Value {
        let ty = Type::array(Type::string(), Type::unit_sum(texts.len()));
        let mut texts: Vec<value::Value> = texts.into_iter().map(value::Value::str).collect();
        let value = match texts.len() {
            0 => value::Value::UNIT,
            1 => texts.remove(0),
            _ => value::Value::Seq(Seq::new(Buffer::Any(texts))),
        };
        debug_assert_eq!(Layouts::default().of(&Type::string()).class, Class::Any);
        Value::new(ty, value)
    }
}
