//! Functions of scalars: total, without effect, and with bitwise equal results in every executor.
//!
//! One table ([`scalar_functions`]) states for each function its name in the language, its types,
//! its value and a sentence. It generates the primitives of these names ([`super::Prim::Scalar`]),
//! the evaluator's code for them ([`ScalarFunction::apply`]), the call in the loop form and the
//! symbol that compiled code calls. The lowering replaces some of them by instructions. Functions
//! of the section `operators` are not primitives: they implement operators of the language for
//! which there is no instruction.

use crate::elementary;

/// The type of a register of the loop form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// 8 bits, signed or unsigned.
    I8,
    /// 16 bits, signed or unsigned.
    I16,
    /// 32 bits, signed or unsigned; characters too.
    I32,
    /// 64 bits, signed or unsigned; codes, truth values and slot numbers too.
    I64,
    /// binary32
    F32,
    /// binary64
    F64,
}

impl ScalarType {
    /// Returns the size of a value in bytes.
    pub fn bytes(self) -> usize {
        match self {
            ScalarType::I8 => 1,
            ScalarType::I16 => 2,
            ScalarType::I32 | ScalarType::F32 => 4,
            ScalarType::I64 | ScalarType::F64 => 8,
        }
    }

    /// Returns true for floating-point types.
    pub fn is_float(self) -> bool {
        matches!(self, ScalarType::F32 | ScalarType::F64)
    }
}

/// A type of arguments and results of scalar functions, with its form as a word of storage and in a
/// register.
pub trait ScalarValue: Sized {
    /// The type of the register.
    const TYPE: ScalarType;
    /// The register's type in the calling convention of C.
    type Register;
    /// Returns the value of a word of storage.
    fn from_word(word: u64) -> Self;
    /// Returns the value as a word of storage.
    fn into_word(self) -> u64;
    /// Returns the value of a register.
    fn from_register(register: Self::Register) -> Self;
    /// Returns the value in a register.
    fn into_register(self) -> Self::Register;
}

macro_rules! scalar_values {
    ($( $ty:ty: $register:ty, $variant:ident, $from_word:expr, $into_word:expr, $from:expr, $into:expr; )*) => { $(
        impl ScalarValue for $ty {
            const TYPE: ScalarType = ScalarType::$variant;
            type Register = $register;
            fn from_word(word: u64) -> Self { $from_word(word) }
            fn into_word(self) -> u64 { $into_word(self) }
            fn from_register(register: $register) -> Self { $from(register) }
            fn into_register(self) -> $register { $into(self) }
        }
    )* };
}

scalar_values! {
    f64: f64, F64, f64::from_bits, f64::to_bits, |x| x, |x| x;
    f32: f32, F32, |word| f32::from_bits(word as u32), |x: f32| u64::from(x.to_bits()), |x| x, |x| x;
    i64: i64, I64, |word| word as i64, |n: i64| n as u64, |n| n, |n| n;
    bool: i64, I64, |word| word != 0, u64::from, |register| register != 0, i64::from;
}

/// Calls `$callback!` with `$extra` in braces and the table of scalar functions. Types are those of
/// the language; the body is Rust, with arguments of type `f64` (`real`), `f32`, `i64`
/// (`int`) or `bool`.
#[macro_export]
macro_rules! scalar_functions {
    ($callback:ident $($extra:tt)*) => { $callback! {
        { $($extra)* }
        primitives {
            Sqrt "sqrt" (x: real) -> real = x.sqrt(), "The square root.";
            Fma "fma" (x: real, y: real, z: real) -> real = x.mul_add(y, z), "`x * y + z`, rounded once.";
            Exp "exp" (x: real) -> real = elementary::exp(x), "e to the power of a number.";
            Log "log" (x: real) -> real = elementary::ln(x), "The natural logarithm.";
            Sin "sin" (x: real) -> real = elementary::sin(x), "The sine of an angle in radians.";
            Cos "cos" (x: real) -> real = elementary::cos(x), "The cosine of an angle in radians.";
            Tan "tan" (x: real) -> real = elementary::tan(x), "The tangent of an angle in radians.";
            Asin "asin" (x: real) -> real = elementary::asin(x), "The angle in [-π/2, π/2] with this sine.";
            Acos "acos" (x: real) -> real = elementary::acos(x), "The angle in [0, π] with this cosine.";
            Atan "atan" (x: real) -> real = elementary::atan(x), "The angle in (-π/2, π/2) with this tangent.";
            Atan2 "atan2" (y: real, x: real) -> real = elementary::atan2(y, x), "The angle of the point (x, y), given as (y, x).";
            Tanh "tanh" (x: real) -> real = elementary::tanh(x), "The hyperbolic tangent.";
            Log10 "log10" (x: real) -> real = elementary::log10(x), "The logarithm to base 10.";
            Log2 "log2" (x: real) -> real = elementary::log2(x), "The logarithm to base 2.";
            Log1p "log1p" (x: real) -> real = elementary::log1p(x), "The natural logarithm of 1 + x, to full precision near 0.";
            Expm1 "expm1" (x: real) -> real = elementary::expm1(x), "e to the power of x, minus 1, to full precision near 0.";
            Sinh "sinh" (x: real) -> real = elementary::sinh(x), "The hyperbolic sine.";
            Cosh "cosh" (x: real) -> real = elementary::cosh(x), "The hyperbolic cosine.";
            Cbrt "cbrt" (x: real) -> real = elementary::cbrt(x), "The cube root, with the sign of the number.";
            Hypot "hypot" (x: real, y: real) -> real = elementary::hypot(x, y), "The square root of x² + y², without overflow in between.";
            Erf "erf" (x: real) -> real = elementary::erf(x), "The error function.";
            Erfc "erfc" (x: real) -> real = elementary::erfc(x), "The complementary error function, `1 - erf x`, to full precision.";
            Gamma "gamma" (x: real) -> real = elementary::gamma(x), "The gamma function; NaN at negative whole numbers.";
            Lgamma "lgamma" (x: real) -> real = elementary::lgamma(x), "The natural logarithm of the absolute value of the gamma function.";
            Floor "floor" (x: real) -> real = x.floor(), "The largest whole number not above.";
            Ceil "ceil" (x: real) -> real = x.ceil(), "The smallest whole number not below.";
            Round "round" (x: real) -> real = x.round(), "The nearest whole number, halves away from zero.";
            Trunc "trunc" (x: real) -> real = x.trunc(), "The whole part.";
            RoundToSingle "round_to_single" (x: real) -> f32 = x as f32, "The nearest `f32`; infinite beyond its range.";
            IsNan "is_nan" (x: real) -> bool = x.is_nan(), "Whether it is not a number.";
            BitAnd "band" (a: int, b: int) -> int = a & b, "Bitwise and.";
            BitOr "bor" (a: int, b: int) -> int = a | b, "Bitwise or.";
            BitXor "bxor" (a: int, b: int) -> int = a ^ b, "Bitwise exclusive or.";
            BitNot "bnot" (a: int) -> int = !a, "Bitwise complement.";
            Shl "shl" (a: int, places: int) -> int = shift_left(a, places), "Shifts left; 0 from 64 places on.";
            Shr "shr" (a: int, places: int) -> int = shift_right(a, places), "Shifts right without sign; 0 from 64 places on.";
            PopCount "popcount" (a: int) -> int = i64::from(a.count_ones()), "The number of one bits.";
            Ctz "ctz" (a: int) -> int = i64::from(a.trailing_zeros()), "The number of zero bits below the lowest one; 64 for 0.";
        }
        operators {
            Pow "pow" (x: real, y: real) -> real = elementary::pow(x, y), "Power of binary64.";
            Rem "rem" (x: real, y: real) -> real = x % y, "Remainder of binary64, with the sign of the dividend.";
            PowSingle "pow_single" (x: f32, y: f32) -> f32 = elementary::pow_single(x, y), "Power of binary32.";
            RemSingle "rem_single" (x: f32, y: f32) -> f32 = x % y, "Remainder of binary32, with the sign of the dividend.";
            PowInt "pow_int" (base: int, exponent: int) -> int = wrapping_power(base, exponent), "Wrapping power of 64-bit integers, the exponent without sign.";
        }
    } };
}
pub use scalar_functions;

/// The types of the table.
#[allow(non_camel_case_types)]
pub mod types {
    /// The type of floating-point numbers.
    pub type real = f64;
    /// The type of integers.
    pub type int = i64;
    pub use std::primitive::{bool, f32};
}

macro_rules! define {
    ({} primitives { $( $prim:ident $prim_name:literal ($first:ident: $first_ty:ident $(, $more:ident: $more_ty:ident)*)
        -> $prim_result:ident = $prim_body:expr, $prim_doc:literal; )* }
     operators { $( $op:ident $op_name:literal ($($op_arg:ident: $op_ty:ident),*)
        -> $op_result:ident = $op_body:expr, $op_doc:literal; )* }) => {
        /// A function of the table.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum ScalarFunction {
            $( #[doc = $prim_doc] $prim, )*
            $( #[doc = $op_doc] $op, )*
        }

        impl ScalarFunction {
            /// All functions.
            pub const ALL: &'static [ScalarFunction] =
                &[ $( ScalarFunction::$prim, )* $( ScalarFunction::$op, )* ];

            /// Returns the name; for a primitive, that in the language.
            pub fn name(self) -> &'static str {
                match self {
                    $( ScalarFunction::$prim => $prim_name, )*
                    $( ScalarFunction::$op => $op_name, )*
                }
            }

            /// Returns a sentence that describes the function.
            pub fn doc(self) -> &'static str {
                match self {
                    $( ScalarFunction::$prim => $prim_doc, )*
                    $( ScalarFunction::$op => $op_doc, )*
                }
            }

            /// Returns the type as source text; empty for a function that is not a primitive.
            pub fn type_text(self) -> &'static str {
                match self {
                    $( ScalarFunction::$prim => concat!(
                        stringify!($first_ty), $( " * ", stringify!($more_ty), )* " -> ", stringify!($prim_result)
                    ), )*
                    $( ScalarFunction::$op => "", )*
                }
            }

            /// Returns the types of the registers of its arguments and of its result.
            pub fn signature(self) -> (&'static [ScalarType], ScalarType) {
                match self {
                    $( ScalarFunction::$prim => (
                        &[<types::$first_ty>::TYPE $(, <types::$more_ty>::TYPE)*], <types::$prim_result>::TYPE
                    ), )*
                    $( ScalarFunction::$op => (&[$( <types::$op_ty>::TYPE ),*], <types::$op_result>::TYPE), )*
                }
            }

            /// Computes the function for arguments as words of storage; returns a word.
            ///
            /// # Panics
            /// If there are fewer words than arguments.
            pub fn apply(self, words: &[u64]) -> u64 {
                let mut words = words.iter().copied();
                let mut word = || words.next().expect("a word for each argument");
                match self {
                    $( ScalarFunction::$prim => {
                        let $first = <types::$first_ty>::from_word(word());
                        $( let $more = <types::$more_ty>::from_word(word()); )*
                        <types::$prim_result>::into_word($prim_body)
                    } )*
                    $( ScalarFunction::$op => {
                        $( let $op_arg = <types::$op_ty>::from_word(word()); )*
                        <types::$op_result>::into_word($op_body)
                    } )*
                }
            }
        }
    };
}
scalar_functions!(define);

impl ScalarFunction {
    /// Returns the function of this name.
    pub fn from_name(name: &str) -> Option<ScalarFunction> {
        ScalarFunction::ALL.iter().copied().find(|function| function.name() == name)
    }
}

/// Shifts `a` left. A negative number of places is no shift; from 64 places on the result is 0.
pub fn shift_left(a: i64, places: i64) -> i64 {
    match u32::try_from(places) {
        Ok(places) => (a as u64).checked_shl(places).unwrap_or(0) as i64,
        Err(_) if places < 0 => a,
        Err(_) => 0,
    }
}

/// Shifts `a` right as an unsigned number. A negative number of places is no shift; from 64 places
/// on the result is 0.
pub fn shift_right(a: i64, places: i64) -> i64 {
    match u32::try_from(places) {
        Ok(places) => (a as u64).checked_shr(places).unwrap_or(0) as i64,
        Err(_) if places < 0 => a,
        Err(_) => 0,
    }
}

/// Computes a power by repeated squaring. Products wrap; the exponent is read as unsigned.
pub fn wrapping_power(mut base: i64, exponent: i64) -> i64 {
    let mut exponent = exponent as u64;
    let mut result = 1i64;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_is_found_by_its_name_and_takes_its_arguments() {
        for &function in ScalarFunction::ALL {
            assert_eq!(ScalarFunction::from_name(function.name()), Some(function));
            let (args, _) = function.signature();
            let text = function.type_text();
            assert!(text.is_empty() || text.matches(" * ").count() + 1 == args.len(), "{function:?}");
            // As many words as arguments suffice.
            function.apply(&vec![1.5f64.to_bits(); args.len()]);
        }
    }

    #[test]
    fn words_of_arguments_and_results() {
        assert_eq!(ScalarFunction::IsNan.apply(&[f64::NAN.to_bits()]), 1);
        assert_eq!(ScalarFunction::Fma.apply(&[2.0f64, 3.0, 1.0].map(f64::to_bits)), 7.0f64.to_bits());
        assert_eq!(ScalarFunction::RemSingle.apply(&[7.5f32, 2.0].map(|x| u64::from(x.to_bits()))), {
            u64::from(1.5f32.to_bits())
        });
        assert_eq!(ScalarFunction::BitNot.apply(&[0]), u64::MAX);
        let shifted = |places: i64| ScalarFunction::Shl.apply(&[5, places as u64]);
        assert_eq!([-1, 0, 1, 63, 64, i64::MAX].map(shifted), [5, 5, 10, 5 << 63, 0, 0]);
        assert_eq!(ScalarFunction::Shr.apply(&[u64::MAX, 63]), 1);
        assert_eq!(ScalarFunction::PowInt.apply(&[3, 4]), 81);
    }
}
