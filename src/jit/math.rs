//! Functions that compiled code calls: the same ones that the evaluator uses, so that results agree to
//! the last bit.

use crate::elementary;
use crate::loop_ir::Math;

macro_rules! functions {
    ($( $math:ident $name:literal ($($arg:ident: $ty:ty),*) -> $result:ty = $body:expr; )*) => {
        /// Every function with its name in machine code and its address.
        pub fn symbols() -> Vec<(Math, &'static str, *const u8)> {
            vec![ $( {
                extern "C" fn function($($arg: $ty),*) -> $result {
                    $body
                }
                (Math::$math, $name, function as *const u8)
            }, )* ]
        }
    };
}

functions! {
    Exp "felis_exp" (x: f64) -> f64 = elementary::exp(x);
    Log "felis_log" (x: f64) -> f64 = elementary::ln(x);
    Sin "felis_sin" (x: f64) -> f64 = elementary::sin(x);
    Cos "felis_cos" (x: f64) -> f64 = elementary::cos(x);
    Tan "felis_tan" (x: f64) -> f64 = elementary::tan(x);
    Asin "felis_asin" (x: f64) -> f64 = elementary::asin(x);
    Acos "felis_acos" (x: f64) -> f64 = elementary::acos(x);
    Atan "felis_atan" (x: f64) -> f64 = elementary::atan(x);
    Tanh "felis_tanh" (x: f64) -> f64 = elementary::tanh(x);
    Round "felis_round" (x: f64) -> f64 = x.round();
    Atan2 "felis_atan2" (y: f64, x: f64) -> f64 = elementary::atan2(y, x);
    Fma "felis_fma" (x: f64, y: f64, z: f64) -> f64 = x.mul_add(y, z);
    Pow "felis_pow" (x: f64, y: f64) -> f64 = elementary::pow(x, y);
    Rem "felis_rem" (x: f64, y: f64) -> f64 = x % y;
    PowSingle "felis_pow_single" (x: f32, y: f32) -> f32 = elementary::pow_single(x, y);
    RemSingle "felis_rem_single" (x: f32, y: f32) -> f32 = x % y;
    PowInt "felis_pow_int" (x: i64, n: i64) -> i64 = pow_int(x, n);
}

/// The functions that take a block of numbers, in place: those that make vectors of it. Numbers of a second argument follow the
/// first ones.
pub fn blocks() -> [(Math, &'static str, *const u8); 5] {
    [
        (Math::Exp, "felis_exp_block", super::native::exp_at as *const u8),
        (Math::Log, "felis_log_block", super::native::ln_at as *const u8),
        (Math::Tanh, "felis_tanh_block", super::native::tanh_at as *const u8),
        (Math::Atan, "felis_atan_block", super::native::atan_at as *const u8),
        (Math::Pow, "felis_pow_block", super::native::pow_at as *const u8),
    ]
}

/// Powers wrap as products do; the exponent counts without sign.
fn pow_int(mut base: i64, exponent: i64) -> i64 {
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
    use super::super::native::{atan_block, exp_block, ln_block, pow_block, tanh_block};
    use super::elementary::{atan, exp, ln, tanh};

    #[test]
    fn blocks_give_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(6);
        let numbers: Vec<f64> = (0..1001).map(|_| f64::from_bits(random.u64(..))).collect();
        let near: Vec<f64> = numbers.iter().map(|_| random.f64() * 40.0 - 20.0).collect();
        let ends = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 0.4375, -2.4375].to_vec();
        type Function = fn(f64) -> f64;
        type Block = fn(&mut [f64]);
        let functions: [(Block, Function); 4] =
            [(exp_block, exp), (ln_block, ln), (tanh_block, tanh), (atan_block, atan)];
        for numbers in [numbers, near, ends] {
            for (at, (block, one)) in functions.iter().enumerate() {
                let mut found = numbers.clone();
                block(&mut found);
                for (x, found) in numbers.iter().zip(found) {
                    let wanted = one(*x);
                    let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
                    assert!(same, "function {at} of {x:e}: {found:e} in place of {wanted:e}");
                }
            }
        }
    }
    #[test]
    fn blocks_of_powers_give_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(13);
        let ends =
            [0.0, -0.0, 1.0, -2.0, 2.0, 3.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 1e300];
        let mut number = |i: usize| match i % 4 {
            0 => f64::from_bits(random.u64(..)),
            1 => ends[random.usize(..ends.len())],
            2 => random.f64() * 1e3,
            _ => 1.0 + random.f64() * 1e-3,
        };
        for count in [1, 7, 8, 16, 29, 4001] {
            let numbers: Vec<f64> = (0..count).map(&mut number).collect();
            let exponents: Vec<f64> = (0..count).map(|i| number(i / 4)).collect();
            type Block = fn(&mut [f64]);
            for block in [pow_block as Block, crate::elementary::pow_all] {
                let mut found = [&numbers[..], &exponents].concat();
                block(&mut found);
                for ((x, y), found) in numbers.iter().zip(&exponents).zip(found) {
                    let wanted = crate::elementary::pow(*x, *y);
                    let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
                    assert!(same, "{x:e} to the {y:e}: {found:e} in place of {wanted:e}");
                }
            }
        }
    }
}
