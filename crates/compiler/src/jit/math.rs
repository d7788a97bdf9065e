//! Functions that compiled code calls: the same ones that the evaluator uses, so that results agree
//! to the last bit.

use crate::core::scalar_function::{
    ScalarValue, scalar_functions, shift_left, shift_right, types, wrapping_power,
};
use crate::elementary;
use crate::loop_ir::ScalarFunction;

macro_rules! symbols {
    ({} $( $section:ident { $( $function:ident $name:literal ($($arg:ident: $ty:ident),*) -> $result:ident = $body:expr,
        $doc:literal; )* } )*) => {
        /// Every function with its name in machine code and its address.
        pub fn symbols() -> Vec<(ScalarFunction, &'static str, *const u8)> {
            vec![ $( $( {
                extern "C" fn function(
                    $($arg: <types::$ty as ScalarValue>::Register),*
                ) -> <types::$result as ScalarValue>::Register {
                    $( let $arg = <types::$ty>::from_register($arg); )*
                    <types::$result>::into_register($body)
                }
                (ScalarFunction::$function, concat!("felis_", $name), function as *const u8)
            }, )* )* ]
        }
    };
}
scalar_functions!(symbols);

/// The functions that take a block of numbers, in place: those that make vectors of it. Numbers of
/// a second argument follow the first ones.
pub fn blocks() -> [(ScalarFunction, &'static str, *const u8); 12] {
    [
        (ScalarFunction::Exp, "felis_exp_block", super::native::exp_at as *const u8),
        (ScalarFunction::Log, "felis_log_block", super::native::ln_at as *const u8),
        (ScalarFunction::Log2, "felis_log2_block", super::native::log2_at as *const u8),
        (ScalarFunction::Log10, "felis_log10_block", super::native::log10_at as *const u8),
        (ScalarFunction::Tanh, "felis_tanh_block", super::native::tanh_at as *const u8),
        (ScalarFunction::Atan, "felis_atan_block", super::native::atan_at as *const u8),
        (ScalarFunction::Asin, "felis_asin_block", super::native::asin_at as *const u8),
        (ScalarFunction::Acos, "felis_acos_block", super::native::acos_at as *const u8),
        (ScalarFunction::Atan2, "felis_atan2_block", super::native::atan2_at as *const u8),
        (ScalarFunction::Pow, "felis_pow_block", super::native::pow_at as *const u8),
        (ScalarFunction::Sin, "felis_sin_block", super::native::sin_at as *const u8),
        (ScalarFunction::Cos, "felis_cos_block", super::native::cos_at as *const u8),
    ]
}

#[cfg(test)]
mod tests {
    use super::super::native::{
        acos_block, asin_block, atan_block, atan2_block, cos_block, exp_block, ln_block, log2_block,
        log10_block, pow_block, sin_block, tanh_block,
    };
    use super::elementary::{
        self, MAX_REDUCED_ANGLE, MIN_SINE_ANGLE, acos, asin, atan, cos, exp, ln, log2, log10, sin, tanh,
    };

    #[test]
    fn blocks_give_the_same_bits() {
        let mut random = fastrand::Rng::with_seed(6);
        let numbers: Vec<f64> = (0..1001).map(|_| f64::from_bits(random.u64(..))).collect();
        let near: Vec<f64> = numbers.iter().map(|_| random.f64() * 40.0 - 20.0).collect();
        let ends = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, 5e-324, 0.4375, -2.4375].to_vec();
        let angles: Vec<f64> = numbers.iter().map(|_| (random.f64() - 0.5) * 4e6).collect();
        // Multiples of a quarter turn and their neighbors, and both sides of the bounds.
        let quarters = (-200_000..200_000).step_by(997).flat_map(|n| {
            let x = f64::from(n) * std::f64::consts::FRAC_PI_2;
            [x, x.next_up(), x.next_down()]
        });
        let bounds = [MAX_REDUCED_ANGLE, MIN_SINE_ANGLE, std::f64::consts::FRAC_PI_4];
        let bounds = bounds.iter().flat_map(|x| [*x, x.next_up(), x.next_down(), -x]);
        let quarters: Vec<f64> = quarters.chain(bounds).collect();
        type Function = fn(f64) -> f64;
        type Block = fn(&mut [f64]);
        let functions: [(Block, Function); 16] = [
            (exp_block, exp),
            (ln_block, ln),
            (tanh_block, tanh),
            (atan_block, atan),
            (sin_block, sin),
            (cos_block, cos),
            (elementary::sin_all, sin),
            (elementary::cos_all, cos),
            (asin_block, asin),
            (acos_block, acos),
            (elementary::asin_all, asin),
            (elementary::acos_all, acos),
            (log2_block, log2),
            (log10_block, log10),
            (elementary::log2_all, log2),
            (elementary::log10_all, log10),
        ];
        // Numbers up to 1, many of them near 1, and next to where the ranges of the arc sine end.
        let sines: Vec<f64> = (0..1001)
            .map(|i| match i % 3 {
                0 => random.f64() * 2.0 - 1.0,
                1 => 1.0 - 2f64.powi(-(i % 60)),
                _ => [0.5f64, 0.975, -0.5, -0.975, 1.0, -1.0][i as usize % 6] * (1.0 - random.f64() * 1e-6),
            })
            .collect();
        for numbers in [numbers, near, ends, angles, quarters, sines] {
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
    fn functions_that_have_a_vector_form_have_a_block() {
        use crate::loop_ir::{ScalarFunction, has_vector_form};
        let blocks = super::blocks();
        for function in ScalarFunction::ALL {
            let found = blocks.iter().any(|(known, ..)| known == function);
            assert_eq!(has_vector_form(*function), found, "{function:?}");
        }
    }

    #[test]
    fn blocks_of_two_arguments_give_the_same_bits() {
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
            type Function = fn(f64, f64) -> f64;
            type Block = fn(&mut [f64]);
            let functions: [(Block, Function); 4] = [
                (pow_block, elementary::pow),
                (elementary::pow_all, elementary::pow),
                (atan2_block, elementary::atan2),
                (elementary::atan2_all, elementary::atan2),
            ];
            for (at, (block, one)) in functions.iter().enumerate() {
                let mut found = [&numbers[..], &exponents].concat();
                block(&mut found);
                for ((x, y), found) in numbers.iter().zip(&exponents).zip(found) {
                    let wanted = one(*x, *y);
                    let same = found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan();
                    assert!(same, "function {at} of {x:e}, {y:e}: {found:e} in place of {wanted:e}");
                }
            }
        }
    }
}
