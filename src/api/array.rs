//! Arrays of numbers: one flat vector with a shape.

use super::error::ConversionError;
use super::types::axes_and_element;
use super::value::Value;
use felis_calculus::types::number::Fixed;
use felis_calculus::types::{self, Scalar, TypeKind};
use felis_runtime::value::{self, Buffer, Seq};

/// The elements of an array of any number of axes, row-major: the last axis fastest. The bridge to
/// other libraries' arrays.
///
/// ```
/// use felis::{Array, Session};
///
/// let mut session = Session::new();
/// session.set("a", Array::new(vec![2, 3], vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap())?;
/// let doubled: Array<f64> = session.evaluate("a + a")?.value()?.try_into()?;
/// assert_eq!(doubled.shape(), [2, 3]);
/// assert_eq!(doubled.as_slice()[5], 12.0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Array<T> {
    pub(super) shape: Vec<usize>,
    pub(super) elements: Vec<T>,
}

impl<T> Array<T> {
    /// An array of this shape; `None` if there are not as many elements as that takes.
    pub fn new(shape: Vec<usize>, elements: Vec<T>) -> Option<Array<T>> {
        let count = shape.iter().try_fold(1usize, |n, extent| n.checked_mul(*extent));
        (count == Some(elements.len())).then_some(Array { shape, elements })
    }

    /// The extents of the axes, the slowest first; empty for a single element.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// The elements.
    pub fn as_slice(&self) -> &[T] {
        &self.elements
    }

    /// The elements, without a copy.
    pub fn into_vec(self) -> Vec<T> {
        self.elements
    }
}

/// Types of elements of an [`Array`]: `bool`, `f32`, `f64` and the integers from `i8` to `u64`.
///
/// ```
/// use felis::{Element, Session, Value};
///
/// fn column<T: Element>(elements: Vec<T>) -> Value {
///     elements.into()
/// }
///
/// let mut session = Session::new();
/// session.set("bytes", column(vec![1u8, 2, 3]))?;
/// let largest: u8 = session.evaluate("max bytes")?.value()?.try_into()?;
/// assert_eq!(largest, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Element: private::Element {}

/// The Felis type and storage of an element. Sealed: the library alone implements it.
pub(super) mod private {
    use super::Leaf;
    use felis_calculus::types;
    use felis_runtime::value::{self, Buffer};

    /// See [`super::Element`].
    pub trait Element: Copy + 'static {
        /// The name of the type in messages.
        const NAME: &'static str;
        /// The type in the language.
        fn ty() -> types::Type;
        /// The slot of one.
        fn slot(self) -> value::Value;
        /// The slots of many.
        fn buffer(elements: Vec<Self>) -> Buffer;
        /// The one that a slot holds; `None` if it is none of this type.
        fn read(leaf: Leaf, word: u64) -> Option<Self>;
    }
}

/// The contents of a word of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    /// A truth value, which is an index of `2`, too.
    Bool,
    /// A code below 2^64.
    Code,
    /// `int`
    Int,
    /// An integer of another width.
    Fixed(Fixed),
    /// `real`
    Real,
    /// `f32`
    Single,
}

impl Leaf {
    /// Of a type whose values take one word; `None` for others and for what is no number.
    pub(super) fn of(ty: &types::Type) -> Option<Leaf> {
        let ty = ty.unfold();
        match ty.kind() {
            TypeKind::UnitSum(_) if ty.is_bool() => Some(Leaf::Bool),
            TypeKind::UnitSum(n) if n.bits() <= 64 => Some(Leaf::Code),
            TypeKind::Scalar(Scalar::Int) => Some(Leaf::Int),
            TypeKind::Scalar(Scalar::Fixed(fixed)) => Some(Leaf::Fixed(*fixed)),
            TypeKind::Scalar(Scalar::Real) => Some(Leaf::Real),
            TypeKind::Scalar(Scalar::Single) => Some(Leaf::Single),
            _ => None,
        }
    }

    /// The integer that a word is.
    pub(super) fn whole(self, word: u64) -> Option<i128> {
        match self {
            Leaf::Bool | Leaf::Code => Some(i128::from(word)),
            Leaf::Int => Some(i128::from(word as i64)),
            Leaf::Fixed(fixed) => Some(fixed.decode(word)),
            Leaf::Real | Leaf::Single => None,
        }
    }
}

macro_rules! integers {
    ($($t:ident $bits:ident $buffer:ident $ty:expr;)*) => {$(
        impl Element for $t {}
        impl private::Element for $t {
            const NAME: &'static str = stringify!($t);
            fn ty() -> types::Type {
                types::Type::scalar($ty)
            }
            fn slot(self) -> value::Value {
                value::Value::Word(u64::from(self as $bits))
            }
            fn buffer(elements: Vec<$t>) -> Buffer {
                Buffer::$buffer(elements.into_iter().map(|n| n as $bits).collect())
            }
            fn read(leaf: Leaf, word: u64) -> Option<$t> {
                leaf.whole(word).and_then(|n| n.try_into().ok())
            }
        }
    )*};
}

integers! {
    i8 u8 U8 Scalar::Fixed(Fixed::I8);
    i16 u16 U16 Scalar::Fixed(Fixed::I16);
    i32 u32 U32 Scalar::Fixed(Fixed::I32);
    i64 u64 Word Scalar::Int;
    u8 u8 U8 Scalar::Fixed(Fixed::U8);
    u16 u16 U16 Scalar::Fixed(Fixed::U16);
    u32 u32 U32 Scalar::Fixed(Fixed::U32);
    u64 u64 Word Scalar::Fixed(Fixed::U64);
}

impl Element for f64 {}
impl private::Element for f64 {
    const NAME: &'static str = "f64";
    fn ty() -> types::Type {
        types::Type::real()
    }
    fn slot(self) -> value::Value {
        value::Value::real(self)
    }
    fn buffer(elements: Vec<f64>) -> Buffer {
        Buffer::Word(elements.into_iter().map(f64::to_bits).collect())
    }
    fn read(leaf: Leaf, word: u64) -> Option<f64> {
        match leaf {
            Leaf::Real => Some(f64::from_bits(word)),
            Leaf::Single => f32::read(leaf, word).map(f64::from),
            _ => None,
        }
    }
}

impl Element for f32 {}
impl private::Element for f32 {
    const NAME: &'static str = "f32";
    fn ty() -> types::Type {
        types::Type::scalar(Scalar::Single)
    }
    fn slot(self) -> value::Value {
        value::Value::single(self)
    }
    fn buffer(elements: Vec<f32>) -> Buffer {
        Buffer::U32(elements.into_iter().map(f32::to_bits).collect())
    }
    fn read(leaf: Leaf, word: u64) -> Option<f32> {
        (leaf == Leaf::Single).then(|| f32::from_bits(word as u32))
    }
}

impl Element for bool {}
impl private::Element for bool {
    const NAME: &'static str = "bool";
    fn ty() -> types::Type {
        types::Type::bool()
    }
    fn slot(self) -> value::Value {
        value::Value::bool(self)
    }
    fn buffer(elements: Vec<bool>) -> Buffer {
        Buffer::U8(elements.into_iter().map(u8::from).collect())
    }
    fn read(leaf: Leaf, word: u64) -> Option<bool> {
        (leaf == Leaf::Bool).then_some(word != 0)
    }
}

impl<T: Element> From<Array<T>> for Value {
    fn from(array: Array<T>) -> Value {
        let index = |extent: &usize| types::Type::unit_sum(*extent);
        let element = match array.shape.is_empty() {
            true => T::ty(),
            false => {
                let index = types::Type::compact_product(array.shape.iter().map(index).collect());
                types::Type::array(T::ty(), index)
            }
        };
        let value = match array.elements.as_slice() {
            [] => value::Value::UNIT,
            [one] => one.slot(),
            _ => value::Value::Seq(Seq::new(T::buffer(array.elements))),
        };
        Value::new(element, value)
    }
}

impl<T: Element> TryFrom<&Value> for Array<T> {
    type Error = ConversionError;

    fn try_from(value: &Value) -> Result<Array<T>, ConversionError> {
        let ty = value.ty();
        let (shape, element) = axes_and_element(&ty.0);
        let wrong = || ConversionError::new(&ty, &format!("Array<{}>", T::NAME));
        let leaf = Leaf::of(&element).ok_or_else(wrong)?;
        let read = |word: u64| T::read(leaf, word).ok_or_else(wrong);
        let count = shape.iter().try_fold(1usize, |n, extent| n.checked_mul(*extent)).ok_or_else(wrong)?;
        let elements = match value.stored() {
            value::Value::Seq(seq) => {
                let (buffer, start) = seq.to_flat(seq.class()).ok_or_else(wrong)?;
                let range = start..start + seq.len();
                match &*buffer {
                    Buffer::U8(words) => words[range].iter().map(|w| read(u64::from(*w))).collect(),
                    Buffer::U16(words) => words[range].iter().map(|w| read(u64::from(*w))).collect(),
                    Buffer::U32(words) => words[range].iter().map(|w| read(u64::from(*w))).collect(),
                    Buffer::Word(words) => words[range].iter().map(|w| read(*w)).collect(),
                    other => range.map(|i| read(other.get(i).word())).collect::<Result<Vec<T>, _>>(),
                }?
            }
            _ if count == 0 => Vec::new(),
            one => vec![read(one.word())?; count],
        };
        Array::new(shape, elements).ok_or_else(wrong)
    }
}

impl<T: Element> TryFrom<Value> for Array<T> {
    type Error = ConversionError;

    fn try_from(value: Value) -> Result<Array<T>, ConversionError> {
        Array::try_from(&value)
    }
}
