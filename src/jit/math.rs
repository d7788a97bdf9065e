//! Functions that compiled code calls: the same ones that the evaluator uses, so that results agree to
//! the last bit.

use crate::loops::Math;

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
    Exp "felis_exp" (x: f64) -> f64 = x.exp();
    Log "felis_log" (x: f64) -> f64 = x.ln();
    Sin "felis_sin" (x: f64) -> f64 = x.sin();
    Cos "felis_cos" (x: f64) -> f64 = x.cos();
    Tan "felis_tan" (x: f64) -> f64 = x.tan();
    Asin "felis_asin" (x: f64) -> f64 = x.asin();
    Acos "felis_acos" (x: f64) -> f64 = x.acos();
    Atan "felis_atan" (x: f64) -> f64 = x.atan();
    Tanh "felis_tanh" (x: f64) -> f64 = x.tanh();
    Round "felis_round" (x: f64) -> f64 = x.round();
    Atan2 "felis_atan2" (y: f64, x: f64) -> f64 = y.atan2(x);
    Pow "felis_pow" (x: f64, y: f64) -> f64 = x.powf(y);
    Rem "felis_rem" (x: f64, y: f64) -> f64 = x % y;
    PowSingle "felis_pow_single" (x: f32, y: f32) -> f32 = x.powf(y);
    RemSingle "felis_rem_single" (x: f32, y: f32) -> f32 = x % y;
    PowInt "felis_pow_int" (x: i64, n: i64) -> i64 = pow_int(x, n);
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
