//! The errors, warnings and notes of the checker: one enum, with one conversion to a diagnostic.
//!
//! `E02xx` types, kinds and inference · `E03xx` isomorphism and conversion · `E04xx` names,
//! functions, operators, patterns, statements · `W0xxx` warnings · `N0xxx` notes. Larger subjects
//! have ranges of their own: `E06xx` classes · `E07xx` kinds and type functions · `E08xx` run-time
//! sizes · `E09xx` modules · `E11xx` places.

mod axis;
mod call;
pub(super) mod class;
mod conversion;
mod kind;
pub mod module;
mod moves;
mod operator;
mod part;
mod pattern;
mod place;
mod rest;
mod size;
mod statement;
mod storing;
mod types;

pub use axis::AxisError;
pub use call::CallError;
pub use class::ClassError;
pub use conversion::ConversionError;
pub use kind::KindError;
pub use module::ModuleError;
pub use moves::MoveError;
pub use operator::OperatorError;
pub use part::PartError;
pub use pattern::PatternError;
pub use place::PlaceError;
pub use rest::RestError;
pub use size::{Inside, SizeError};
pub(super) use statement::ELEMENTS;
pub use statement::StatementError;
pub use storing::StoringError;
pub use types::TypeError;

use crate::diagnostic::errors;
use crate::types::{Kind, Type, TypeKind};
use num_bigint::BigUint;

errors! {
    /// An error, a warning or a note of the checker, by family.
    pub enum CheckError {
        families:
        Axis(AxisError),
        Call(CallError),
        Class(ClassError),
        Conversion(ConversionError),
        Kind(KindError),
        Module(ModuleError),
        Move(MoveError),
        Operator(OperatorError),
        Part(PartError),
        Pattern(PatternError),
        Place(PlaceError),
        Rest(RestError),
        Size(SizeError),
        Statement(StatementError),
        Storing(StoringError),
        Type(TypeError),
    }
}

/// Returns true for a hole of inference that only an index type solves.
pub(in crate::check) fn is_index_hole(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Meta(hole) if hole.kind == Kind::Compact)
}

/// Returns the text of a type that is used as a size: `2`, not `bool`.
pub(super) fn type_as_size(ty: &Type) -> String {
    if *ty == Type::void() { ty.to_string() } else { ty.size_text() }
}

/// Returns a number of things in words.
pub(super) fn count(n: usize, what: &str) -> String {
    match n {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        n => format!("{n} {what}s"),
    }
}

/// Returns the words for the numbering of `count` parts, which starts at 0.
pub(super) fn numbering_text(what: &str, count: &str) -> String {
    match count {
        "0" => format!("it has no {what}s"),
        "1" => format!("its only {what} is number 0"),
        _ => format!("its {what}s are numbered from 0, and there are {count}"),
    }
}

/// Returns the type of this language for a type name of other languages.
pub(super) fn foreign_type(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "integer" | "int64" | "isize" | "int64_t" | "ssize_t" => "int",
        "float" | "float64" | "number" | "flt" => "real",
        "float32" => "f32",
        "int8" | "int8_t" => "i8",
        "int16" | "int16_t" => "i16",
        "int32" | "int32_t" => "i32",
        "uint8" | "uint8_t" | "byte" => "u8",
        "uint16" | "uint16_t" => "u16",
        "uint32" | "uint32_t" => "u32",
        "uint64" | "uint64_t" | "usize" | "size_t" | "uint" => "u64",
        "boolean" | "logical" => "bool",
        "str" | "text" => "string",
        "character" | "rune" | "wchar" => "char",
        "bignum" | "biginteger" => "bigint",
        _ => return None,
    })
}

/// Returns the notation for a form of type, by its name in other languages.
pub(super) fn foreign_form(name: &str) -> Option<&'static str> {
    Some(match name.to_ascii_lowercase().as_str() {
        "list" | "vec" | "vector" => {
            "the type of an array is written `T ^ n`, as in `int ^ 3`; `list[int]` is that of a list that grows"
        }
        "array" | "ndarray" | "seq" | "slice" => {
            "the type of an array is written `T ^ n`, as in `int ^ 3`; `val a : int ^ ?N = …` takes one of any length"
        }
        "matrix" | "mat" | "tensor" => {
            "the type of a matrix is written `real ^ (3 \\* 4)`; `val m : real ^ (?N \\* ?M) = …` takes one of any shape"
        }
        "tuple" | "pair" => "the type of a tuple is written `A * B`",
        "optional" | "maybe" | "nullable" => "a value that may be missing is of type `option[T]`, or `1 + T`",
        "either" | "result" => "one of two is written `A + B`",
        "any" | "object" | "auto" | "dynamic" | "var" => {
            "the type of a `val` may be left out; a function of any type has a type parameter, as in `fun f[T](x:T) => …`"
        }
        "nonetype" | "null" | "nil" => "the type of nothing but `()` is `unit`",
        "callable" | "func" | "function" | "fn" => "the type of a function is written `A -> B`",
        "dict" | "hashmap" | "map" | "dictionary" => {
            "`import dict (dict);` has `dict[string, int]`; the type of a record is written `(x:int, y:real)`"
        }
        "record" => "the type of a record is written `(x:int, y:real)`",
        _ => return None,
    })
}

/// Returns the names in backquotes, separated by commas.
pub(super) fn quoted_names(names: &[impl std::fmt::Display]) -> String {
    names.iter().map(|n| format!("`{n}`")).collect::<Vec<_>>().join(", ")
}

/// Returns the function that removes the border, if one array has one element more at each end of
/// each axis than the other.
pub(super) fn border_removal(left: &Type, right: &Type) -> Option<&'static str> {
    let inner = |index: &Type| match index.kind() {
        TypeKind::CompactSum(parts) => match parts.as_slice() {
            [first, inner, last] if first.is_unit() && last.is_unit() => Some(inner.clone()),
            _ => None,
        },
        _ => None,
    };
    let same = |a: &Type, b: &Type| crate::iso::verdict(a, b) <= crate::iso::Verdict::Natural;
    let (TypeKind::Array(_, i), TypeKind::Array(_, j)) = (left.kind(), right.kind()) else { return None };
    [(i, j), (j, i)].into_iter().find_map(|(small, large)| {
        if inner(large).is_some_and(|inner| same(&inner, small)) {
            return Some("interior");
        }
        let factors = large.compact_factors(2).filter(|f| f.len() == 2)?;
        let inner = factors.iter().map(inner).collect::<Option<Vec<_>>>()?;
        same(&Type::compact_product(inner), small).then_some("interior2")
    })
}

/// Returns the number of elements of an array type, if it is a number.
pub(super) fn index_size(ty: &Type) -> Option<BigUint> {
    match ty.kind() {
        crate::types::TypeKind::Array(_, index) => index.size().ok(),
        _ => None,
    }
}
