//! Scalar types: numbers, characters and text.

use super::number::Fixed;

/// Types whose values are single machine or library values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// 64-bit signed integers, wrapping.
    Int,
    /// Integers of other fixed widths, wrapping.
    Fixed(Fixed),
    /// IEEE 754 binary32.
    Single,
    /// IEEE 754 binary64.
    Real,
    /// Unbounded integers.
    Bigint,
    /// Unicode text.
    String,
    /// A Unicode scalar value.
    Char,
}

impl Scalar {
    /// All scalars.
    pub const ALL: [Scalar; 13] = [
        Scalar::Int,
        Scalar::Fixed(Fixed::I8),
        Scalar::Fixed(Fixed::I16),
        Scalar::Fixed(Fixed::I32),
        Scalar::Fixed(Fixed::U8),
        Scalar::Fixed(Fixed::U16),
        Scalar::Fixed(Fixed::U32),
        Scalar::Fixed(Fixed::U64),
        Scalar::Single,
        Scalar::Real,
        Scalar::Bigint,
        Scalar::String,
        Scalar::Char,
    ];

    /// Returns the name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::Int => "int",
            Scalar::Fixed(fixed) => fixed.name(),
            Scalar::Single => "f32",
            Scalar::Real => "real",
            Scalar::Bigint => "bigint",
            Scalar::String => "string",
            Scalar::Char => "char",
        }
    }

    /// Returns the scalar with this name or alias.
    pub fn from_name(name: &str) -> Option<Scalar> {
        Some(match name {
            "int" | "i64" | "long" => Scalar::Int,
            "real" | "f64" | "double" => Scalar::Real,
            "bigint" => Scalar::Bigint,
            "string" => Scalar::String,
            "char" => Scalar::Char,
            "f32" => Scalar::Single,
            _ => return Fixed::ALL.into_iter().find(|f| f.name() == name).map(Scalar::Fixed),
        })
    }
}
