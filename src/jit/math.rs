//! Functions that compiled code calls: the same ones that the evaluator uses, so that results agree to
//! the last bit.

use crate::loops::Math;

/// Every function with its name in machine code and its address.
pub fn symbols() -> Vec<(Math, &'static str, *const u8)> {
    vec![
        (Math::Exp, "felis_exp", exp as *const u8),
        (Math::Log, "felis_log", log as *const u8),
        (Math::Sin, "felis_sin", sin as *const u8),
        (Math::Cos, "felis_cos", cos as *const u8),
        (Math::Tan, "felis_tan", tan as *const u8),
        (Math::Asin, "felis_asin", asin as *const u8),
        (Math::Acos, "felis_acos", acos as *const u8),
        (Math::Atan, "felis_atan", atan as *const u8),
        (Math::Tanh, "felis_tanh", tanh as *const u8),
        (Math::Round, "felis_round", round as *const u8),
        (Math::Atan2, "felis_atan2", atan2 as *const u8),
        (Math::Pow, "felis_pow", pow as *const u8),
        (Math::Rem, "felis_rem", rem as *const u8),
        (Math::PowSingle, "felis_pow_single", pow_single as *const u8),
        (Math::RemSingle, "felis_rem_single", rem_single as *const u8),
        (Math::PowInt, "felis_pow_int", pow_int as *const u8),
    ]
}

extern "C" fn exp(x: f64) -> f64 {
    x.exp()
}
extern "C" fn log(x: f64) -> f64 {
    x.ln()
}
extern "C" fn sin(x: f64) -> f64 {
    x.sin()
}
extern "C" fn cos(x: f64) -> f64 {
    x.cos()
}
extern "C" fn tan(x: f64) -> f64 {
    x.tan()
}
extern "C" fn asin(x: f64) -> f64 {
    x.asin()
}
extern "C" fn acos(x: f64) -> f64 {
    x.acos()
}
extern "C" fn atan(x: f64) -> f64 {
    x.atan()
}
extern "C" fn tanh(x: f64) -> f64 {
    x.tanh()
}
extern "C" fn round(x: f64) -> f64 {
    x.round()
}
extern "C" fn atan2(y: f64, x: f64) -> f64 {
    y.atan2(x)
}
extern "C" fn pow(x: f64, y: f64) -> f64 {
    x.powf(y)
}
extern "C" fn rem(x: f64, y: f64) -> f64 {
    x % y
}
extern "C" fn pow_single(x: f32, y: f32) -> f32 {
    x.powf(y)
}
extern "C" fn rem_single(x: f32, y: f32) -> f32 {
    x % y
}

/// Powers wrap as products do; the exponent counts without sign.
extern "C" fn pow_int(mut base: i64, exponent: i64) -> i64 {
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
