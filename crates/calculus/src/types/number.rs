//! Number types and conversions between types: lossless, on request, or undefined.
//!
//! A conversion is *implicit* iff every value of the source is exactly a value of the target. Bool
//! and other compact types are not numbers: their codes can be converted on request, and no number
//! converts to one of them. A `char` is not a number, but has a code point, to and from which it
//! converts on request. Arrays, tuples and records convert componentwise.

use super::{NoSize, Scalar, Type, TypeKind};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;

/// Integers of fixed width other than `int`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fixed {
    /// Signed, 8 bits.
    I8,
    /// Signed, 16 bits.
    I16,
    /// Signed, 32 bits.
    I32,
    /// Unsigned, 8 bits.
    U8,
    /// Unsigned, 16 bits.
    U16,
    /// Unsigned, 32 bits.
    U32,
    /// Unsigned, 64 bits.
    U64,
}

impl Fixed {
    /// All of them.
    pub const ALL: [Fixed; 7] =
        [Fixed::I8, Fixed::I16, Fixed::I32, Fixed::U8, Fixed::U16, Fixed::U32, Fixed::U64];

    /// Returns the name in the language.
    pub fn name(self) -> &'static str {
        match self {
            Fixed::I8 => "i8",
            Fixed::I16 => "i16",
            Fixed::I32 => "i32",
            Fixed::U8 => "u8",
            Fixed::U16 => "u16",
            Fixed::U32 => "u32",
            Fixed::U64 => "u64",
        }
    }

    /// Returns the bits, and whether the type is signed.
    pub fn shape(self) -> (u32, bool) {
        match self {
            Fixed::I8 => (8, true),
            Fixed::I16 => (16, true),
            Fixed::I32 => (32, true),
            Fixed::U8 => (8, false),
            Fixed::U16 => (16, false),
            Fixed::U32 => (32, false),
            Fixed::U64 => (64, false),
        }
    }

    /// Returns the word that represents an integer: its lowest bits, so that arithmetic wraps.
    pub fn encode(self, n: i128) -> u64 {
        let (bits, _) = self.shape();
        if bits == 64 { n as u64 } else { n as u64 & ((1 << bits) - 1) }
    }

    /// Returns the integer that a word represents.
    pub fn decode(self, word: u64) -> i128 {
        let (bits, signed) = self.shape();
        if signed && word >> (bits - 1) & 1 == 1 {
            i128::from(word) - (1i128 << bits)
        } else {
            i128::from(word)
        }
    }
}

impl Scalar {
    /// Returns the least and the greatest value of an integer type of fixed width.
    pub fn bounds(self) -> Option<(i128, i128)> {
        let (bits, signed) = match self {
            Scalar::Int => (64, true),
            Scalar::Fixed(fixed) => fixed.shape(),
            _ => return None,
        };
        Some(if signed { (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) } else { (0, (1 << bits) - 1) })
    }

    /// Returns the position in [`Scalar::ALL`].
    pub fn ordinal(self) -> u64 {
        Scalar::ALL.iter().position(|s| *s == self).expect("every scalar is in ALL") as u64
    }

    /// Returns true for a number type.
    pub fn is_number(self) -> bool {
        !matches!(self, Scalar::String | Scalar::Char)
    }

    /// Returns true for an integer type, bounded or not.
    pub fn is_integer(self) -> bool {
        self == Scalar::Bigint || self.bounds().is_some()
    }

    /// Returns true for a binary floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::Real | Scalar::Single)
    }

    /// Returns true if an integer is exactly a value of the type.
    pub fn holds(self, n: &BigInt) -> bool {
        match self {
            Scalar::Bigint => true,
            Scalar::Real => n.to_f64().is_some_and(|x| x.is_finite() && is_exactly(x, n)),
            Scalar::Single => n.to_f32().is_some_and(|x| x.is_finite() && is_exactly(f64::from(x), n)),
            Scalar::String | Scalar::Char => false,
            _ => match (self.bounds(), n.to_i128()) {
                (Some((low, high)), Some(n)) => (low..=high).contains(&n),
                _ => false,
            },
        }
    }

    /// Returns true if all codes of a type of `size` values are exactly values of the number type.
    pub fn holds_codes(self, size: &BigUint) -> bool {
        self == Scalar::Bigint || self.code_capacity().is_some_and(|most| *size <= BigUint::from(most))
    }

    /// The number of values of the largest type all of whose codes the scalar type has; `None` if it
    /// has no codes or all.
    pub fn code_capacity(self) -> Option<u128> {
        let largest: u128 = match self {
            Scalar::Bigint => return None,
            Scalar::Real => 1 << 53,
            Scalar::Single => 1 << 24,
            _ => self.bounds()?.1 as u128,
        };
        Some(largest + 1)
    }

    /// Returns true if every value of `self` is exactly a value of `to`.
    pub fn fits(self, to: Scalar) -> bool {
        match (self, to) {
            (Scalar::Single, Scalar::Real) => true,
            (_, Scalar::Bigint) => self.is_integer(),
            _ => match (self.bounds(), to) {
                (Some((low, high)), Scalar::Real) => low >= -(1 << 53) && high <= 1 << 53,
                (Some((low, high)), Scalar::Single) => low >= -(1 << 24) && high <= 1 << 24,
                (Some((low, high)), _) => to.bounds().is_some_and(|(l, h)| l <= low && high <= h),
                _ => false,
            },
        }
    }

    /// Returns the common type of two operands: among integers the smallest that holds both, among
    /// floats the wider. Integers and floats have no common type, nor have `u64` and signed types
    /// of fixed width.
    pub fn join(self, other: Scalar) -> Option<Scalar> {
        let family = |s: Scalar| (s.is_integer(), s.is_float());
        if family(self) != family(other) {
            return None;
        }
        if self.is_float() {
            return Some(if self == Scalar::Real { self } else { other });
        }
        let fixed = |f| Scalar::Fixed(f);
        let narrowest = [
            fixed(Fixed::U8),
            fixed(Fixed::I8),
            fixed(Fixed::U16),
            fixed(Fixed::I16),
            fixed(Fixed::U32),
            fixed(Fixed::I32),
            fixed(Fixed::U64),
            Scalar::Int,
        ];
        let holds = |s: &Scalar| (self == *s || self.fits(*s)) && (other == *s || other.fits(*s));
        if self == Scalar::Bigint || other == Scalar::Bigint {
            return Some(Scalar::Bigint);
        }
        narrowest.into_iter().find(holds)
    }
}

/// A real literal, rounded to each float type directly. Rounding to `f32` through `f64` would round
/// twice (S. Figueroa, *When is double rounding innocuous?*, 1995), and the text of an `f32` such
/// as `7.038531e-26` would not be read back as that number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rounded {
    /// The nearest binary64.
    pub double: f64,
    /// The nearest binary32; infinite beyond its range.
    pub single: f32,
}

impl Rounded {
    /// Returns the value of decimal digits; NaN for a malformed literal, which has been reported.
    pub fn read(digits: &str) -> Rounded {
        Rounded { double: digits.parse().unwrap_or(f64::NAN), single: digits.parse().unwrap_or(f32::NAN) }
    }

    /// Returns the value of a whole number.
    pub fn from_integer(n: &BigInt) -> Rounded {
        let rounds = "every integer rounds to a float, possibly infinite";
        Rounded { double: n.to_f64().expect(rounds), single: n.to_f32().expect(rounds) }
    }
}

impl std::ops::Neg for Rounded {
    type Output = Rounded;
    fn neg(self) -> Rounded {
        Rounded { double: -self.double, single: -self.single }
    }
}

/// Returns true if a float is exactly an integer.
fn is_exactly(x: f64, n: &BigInt) -> bool {
    num_traits::FromPrimitive::from_f64(x).is_some_and(|back: BigInt| back == *n)
}

/// The conversion of one type to another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// The types are equal.
    Same,
    /// Implicit: every value is kept exactly.
    Implicit,
    /// An explicit conversion by `:>`: values may be lost, or the conversion may fail.
    Explicit,
    /// No conversion, and the reason.
    None(String),
}

impl Conversion {
    /// Returns the less permissive of two conversions.
    fn worse(self, other: Conversion) -> Conversion {
        let rank = |c: &Conversion| match c {
            Conversion::Same => 0,
            Conversion::Implicit => 1,
            Conversion::Explicit => 2,
            Conversion::None(_) => 3,
        };
        if rank(&other) > rank(&self) { other } else { self }
    }

    /// Returns the name.
    pub fn name(&self) -> &'static str {
        match self {
            Conversion::Same => "same",
            Conversion::Implicit => "implicit",
            Conversion::Explicit => "explicit",
            Conversion::None(_) => "none",
        }
    }
}

/// The maximum length of a tuple that is examined component by component.
pub const MAX_COMPONENTS: usize = 4096;

/// Returns the conversion of values of one type to the other.
pub fn conversion(from: &Type, to: &Type) -> Conversion {
    let none = |why: &str| Conversion::None(why.to_string());
    if from == to {
        return Conversion::Same;
    }
    match (from.as_scalar(), to.as_scalar()) {
        (Some(Scalar::Char), Some(Scalar::String)) => {
            return none("text is made, not converted: `string_of` or `.str` makes one of a character");
        }
        (Some(Scalar::String), Some(Scalar::Char)) => {
            return none("a text may have any number of characters: `char_at` takes one");
        }
        (Some(Scalar::Char), Some(number)) | (Some(number), Some(Scalar::Char)) => {
            return if number.is_integer() {
                Conversion::Explicit
            } else {
                none("a code point is a whole number, and so is what it is converted to or from")
            };
        }
        (Some(Scalar::Char), None) if to.is_compact() => return none("a character is not an index value"),
        (None, Some(Scalar::Char)) if from.is_compact() => {
            return none("the code of an index value is not a code point");
        }
        (Some(Scalar::String), _) | (_, Some(Scalar::String)) => return none("text is not a number"),
        (Some(a), Some(b)) if a.fits(b) => return Conversion::Implicit,
        (Some(_), Some(_)) => return Conversion::Explicit,
        (Some(_), None) if to.is_bool() => return none("a number as a truth value has two readings"),
        (Some(_), None) if to.is_compact() => return none("an integer is not an index value"),
        (None, Some(number)) if from.is_compact() => {
            let codes = match from.size() {
                Ok(size) => number.holds_codes(&size),
                Err(NoSize::TooLarge) => number == Scalar::Bigint,
                // The size is unknown here and decided where it is known.
                Err(_) => true,
            };
            return match codes {
                true => Conversion::Explicit,
                false => {
                    Conversion::None(format!("it has more values than `{}` has codes for", number.name()))
                }
            };
        }
        _ => {}
    }
    let by_part =
        |parts: &mut dyn Iterator<Item = Conversion>| parts.fold(Conversion::Same, Conversion::worse);
    match (from.kind(), to.kind()) {
        (TypeKind::Array(t, i), TypeKind::Array(u, j)) if i == j => conversion(t, u),
        (TypeKind::Record(xs), TypeKind::Record(ys))
            if xs.len() == ys.len() && xs.iter().zip(ys).all(|((n, _), (m, _))| n == m) =>
        {
            by_part(&mut xs.iter().zip(ys).map(|((_, x), (_, y))| conversion(x, y)))
        }
        (TypeKind::Product(_) | TypeKind::Array(..), TypeKind::Product(_) | TypeKind::Array(..)) => {
            match (from.components(MAX_COMPONENTS), to.components(MAX_COMPONENTS)) {
                (Some(xs), Some(ys)) if xs.len() == ys.len() => {
                    by_part(&mut xs.iter().zip(&ys).map(|(x, y)| conversion(x, y)))
                }
                _ => none("the two have different shapes"),
            }
        }
        _ => none("the two have nothing in common"),
    }
}

/// Returns true if `:>` converts one type to another: by the language, by an instance according to
/// `instance`, or componentwise.
pub fn converts(from: &Type, to: &Type, instance: &mut dyn FnMut(&Type, &Type) -> bool) -> bool {
    if from == to || !matches!(conversion(from, to), Conversion::None(_)) || instance(from, to) {
        return true;
    }
    match (from.kind(), to.kind()) {
        (TypeKind::Array(t, i), TypeKind::Array(u, j)) => i == j && converts(t, u, instance),
        (TypeKind::Product(a), TypeKind::Product(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| converts(a, b, instance))
        }
        _ => false,
    }
}

/// Returns a type with its numbers replaced by those of `to` where that is lossless: the type that
/// a value converts to implicitly at a place of type `to`, which may have holes.
pub fn widen_numbers(from: &Type, to: &Type) -> Type {
    match (from.kind(), to.kind()) {
        (TypeKind::Scalar(a), TypeKind::Scalar(b)) if a.fits(*b) => to.clone(),
        (TypeKind::Array(t, i), TypeKind::Array(u, _)) => Type::array(widen_numbers(t, u), i.clone()),
        (TypeKind::Product(parts), TypeKind::Array(u, _)) => {
            Type::product(parts.iter().map(|part| widen_numbers(part, u)).collect())
        }
        (TypeKind::Record(xs), TypeKind::Record(ys)) if xs.len() == ys.len() => Type::record(
            xs.iter().zip(ys).map(|((name, x), (_, y))| (name.clone(), widen_numbers(x, y))).collect(),
        ),
        (TypeKind::Product(_) | TypeKind::Array(..), TypeKind::Product(_)) => {
            match (from.components(MAX_COMPONENTS), to.components(MAX_COMPONENTS)) {
                (Some(xs), Some(ys)) if xs.len() == ys.len() => {
                    Type::product(xs.iter().zip(&ys).map(|(x, y)| widen_numbers(x, y)).collect())
                }
                _ => from.clone(),
            }
        }
        _ => from.clone(),
    }
}

/// Returns the cost of an implicit conversion: the count of numbers that change between integer and
/// float, then the total width of the results. Overload resolution prefers the least.
pub fn conversion_cost(from: &Type, to: &Type) -> (usize, u64) {
    let (from_scalars, to_scalars) = (scalars(from), scalars(to));
    let pairs = from_scalars.iter().zip(&to_scalars);
    let strangers = pairs.filter(|(a, b)| a.is_integer() != b.is_integer()).count();
    let width = |s: &Scalar| match s {
        Scalar::Fixed(fixed) => u64::from(fixed.shape().0),
        Scalar::Single => 32,
        Scalar::Int | Scalar::Real => 64,
        _ => 1_000,
    };
    (strangers, to_scalars.iter().map(width).sum())
}

/// Returns the scalars in a type, in order.
pub fn scalars(ty: &Type) -> Vec<Scalar> {
    fn collect(ty: &Type, found: &mut Vec<Scalar>) {
        found.extend(ty.as_scalar());
        ty.kind().for_each_child(&mut |child| collect(child, found));
    }
    let mut found = Vec::new();
    collect(ty, &mut found);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_hold_integers_both_ways() {
        for fixed in Fixed::ALL {
            let (low, high) = Scalar::Fixed(fixed).bounds().expect("bounded");
            for n in [low, low + 1, -1, 0, 1, high - 1, high] {
                if (low..=high).contains(&n) {
                    assert_eq!(fixed.decode(fixed.encode(n)), n, "{n} as {}", fixed.name());
                }
            }
            assert_eq!(fixed.decode(fixed.encode(high + 1)), low, "{} wraps", fixed.name());
        }
    }

    #[test]
    fn joins_are_the_smallest_that_hold_both() {
        let named = |name: &str| Scalar::from_name(name).expect("a scalar");
        let cases = [
            ("u8", "i8", Some("i16")),
            ("u8", "i16", Some("i16")),
            ("u32", "i32", Some("int")),
            ("u64", "int", None),
            ("u64", "i8", None),
            ("u64", "u8", Some("u64")),
            ("f32", "real", Some("real")),
            ("i8", "f32", None),
            ("u64", "bigint", Some("bigint")),
        ];
        for (a, b, joined) in cases {
            let joined = joined.map(named);
            assert_eq!(named(a).join(named(b)), joined, "{a} and {b}");
            assert_eq!(named(b).join(named(a)), joined, "{b} and {a}");
        }
    }

    #[test]
    fn a_join_is_associative_within_a_family() {
        let all: Vec<Scalar> = Scalar::ALL.into_iter().filter(|s| s.is_integer()).collect();
        for &a in &all {
            for &b in &all {
                for &c in &all {
                    let left = a.join(b).and_then(|ab| ab.join(c));
                    let right = b.join(c).and_then(|bc| a.join(bc));
                    if let (Some(left), Some(right)) = (left, right) {
                        assert_eq!(left, right, "{} {} {}", a.name(), b.name(), c.name());
                    }
                }
            }
        }
    }
}
