//! Elementary functions of binary64, the same on every machine.
//!
//! The functions of the system's library differ from one system to the next. These consist of
//! additions and multiplications that are rounded one by one, in one order, so they give the same
//! bits everywhere. Most are those of the crate `libm`; no result is off by more than two units in
//! the last place, four of `gamma` and `lgamma`, as the tests find. `exp`, `ln`, `log2`, `log10`,
//! `pow`, `tanh`, `sin`, `cos`, `asin`, `acos`, `atan` and `atan2` are made here, because they can be
//! computed by blocks of vectors, too ([`exp_all`]), with the same bits again.
//!
//! **Method.** `exp` and `ln` are the table-driven methods of P. T. P. Tang (ACM Transactions on
//! Mathematical Software 15 (1989) and 16 (1990)): `exp x = 2^m * 2^(j/128) * exp r` with `|r| < ln
//! 2 / 256`; `ln x = k ln 2 + ln c + ln (1 + r)` with `c = m / 128` near the fraction of `x`, so
//! that `x - c` is exact, and `r` known to twice the precision. What is rounded last is a large
//! number plus a small one, so the error is little more than half a unit in the last place: below
//! 0.52 ulp, as the tests find over millions of numbers (they allow 0.55).
//!
//! `x^y = exp (y ln x)`, where `ln x`, and its product with `y`, are known to some 68 bits, in two
//! numbers: below 0.55 ulp, too. Zeros, negative and infinite numbers, and what lies far beyond the
//! range of results go the way of `libm`.
//!
//! `log2` and `log10` multiply `ln x`, in two numbers, by a factor in two numbers: below 0.55 ulp, and
//! whole where the exact value is.
//!
//! `tanh x = t / (t + 2)` with `t = e^(2x) - 1`, and what its additions lose; below 1.6 ulp. `atan`,
//! `atan2`, `asin` and `acos` have the ranges and the polynomials of FDLIBM (Sun Microsystems, 1993),
//! with choices in place of branches: the same bits.
//!
//! `sin` and `cos` are those of FDLIBM, too. An angle below [`MAX_REDUCED_ANGLE`] is reduced by
//! multiples of π/2 in three parts of 33 bits and a rest, always by all of them (W. J. Cody and
//! W. Waite, *Software Manual for the Elementary Functions*, 1980), and both polynomials are
//! computed; below 0.9 ulp. Larger angles go the way of `libm`.
//!
//! No branches: the loops of blocks become vectors, whatever processor the compiler is told of.

pub mod tables;

pub use libm::{cbrt, cosh, erf, erfc, expm1, hypot, log1p, sinh, tan};

use tables::{
    ASIN_RATIO, ATAN, ATAN_SERIES, COSINE_SERIES, LN2, LN2_128, LOGARITHMS, POWERS, Pair, QUARTER_TURN,
    RIGHT_ANGLE, SINE_SERIES,
};

/// 1.5 * 2^52: added and taken away again, it rounds to a whole number, which stands in the lower
/// bits meanwhile.
pub const ROUND: f64 = 6_755_399_441_055_744.0;

/// The numerator and the denominator of the gamma function at 2 + t for t of [0, 1), highest power
/// first (S. L. Moshier, Cephes, 1989).
const GAMMA_NUMERATOR: [f64; 7] = [
    1.601_195_224_767_518_5e-4,
    1.191_351_470_065_863_8e-3,
    1.042_137_975_617_615_7e-2,
    4.763_678_004_571_372e-2,
    2.074_482_276_484_359_8e-1,
    4.942_148_268_014_971e-1,
    1.0,
];
const GAMMA_DENOMINATOR: [f64; 8] = [
    -2.315_818_733_241_201_4e-5,
    5.396_055_804_933_034e-4,
    -4.456_419_138_517_973e-3,
    1.181_397_852_220_604_3e-2,
    3.582_363_986_054_986_5e-2,
    -2.345_917_957_182_433_5e-1,
    7.143_049_170_302_73e-2,
    1.0,
];

/// The gamma function: that of a number of [2, 3), times or over the product of the numbers
/// between, which is known to twice the precision.
pub fn gamma(x: f64) -> f64 {
    // Beyond, the product overflows, or there is none.
    if !(-165.0..171.7).contains(&x) || x.floor() == x && x <= 0.0 {
        return libm::tgamma(x);
    }
    let polynomial = |coefficients: &[f64], t: f64| coefficients.iter().fold(0.0, |sum, c| sum * t + c);
    let (floor, t) = (x.floor(), x - x.floor());
    let start = polynomial(&GAMMA_NUMERATOR, t) / polynomial(&GAMMA_DENOMINATOR, t);
    let (up, steps) = (floor > 2.0, (floor - 2.0).abs());
    let (mut product, mut lost, mut k) = (if up { start } else { 1.0 }, 0.0, 0.0);
    while k < steps {
        // Exact, but for the last ones of a small number.
        let (factor, rounded) = if up {
            (x - 1.0 - k, 0.0)
        } else {
            let factor = x + k;
            (factor, x - (factor - k))
        };
        let next: f64 = product * factor;
        lost = lost * factor + f64::mul_add(product, factor, -next) + product * rounded;
        product = next;
        k += 1.0;
    }
    if up {
        return if product.is_finite() { product + lost } else { product };
    }
    let quotient = start / product;
    if !quotient.is_finite() {
        return quotient;
    }
    quotient - quotient * (lost / product)
}

/// The natural logarithm of the absolute value of the gamma function. That of negative numbers is
/// near 0 where the function is near 1: the difference of logarithms that `libm` takes there is off
/// by many units of the sum.
pub fn lgamma(x: f64) -> f64 {
    if (-165.0..-0.5).contains(&x) && x.floor() != x { ln(gamma(x).abs()) } else { libm::lgamma(x) }
}

/// `x` to the power of `y`; small whole powers are products, as who writes `x ** 2.0` expects.
pub fn pow(x: f64, y: f64) -> f64 {
    let reduced = ln_reduced(x);
    let [high, low] = pow_exponent(y, reduced, LOGARITHMS[reduced.place()]);
    let (k, [r, lost]) = exp_reduced(high);
    pow_finished([x, y], high, exp_finished(k, r + (lost + low), POWERS[(k & 127) as usize]))
}

/// `y ln x` in two parts, with what the table has for `x`.
#[inline(always)]
fn pow_exponent(y: f64, reduced: Reduced, [high, low]: Pair) -> Pair {
    let Reduced { exponent, c, d, .. } = reduced;
    let (r, first, rest) = quotient(d, c);
    // Exact, and what the sum of the two has lost.
    let large = exponent * LN2[0] + high;
    let sum = large + r;
    let lost = (large - sum) + r;
    // Half the square of r: of its first part exactly, and the rest of it.
    let square = 0.5 * (first * first);
    let part = 0.5 * ((r - first) * (r + first));
    let head = sum - square;
    let lost = lost + ((sum - head) - square);
    let p = 1.0 / 5.0 + r * (-1.0 / 6.0 + r * (1.0 / 7.0 + r * (-1.0 / 8.0 + r * (1.0 / 9.0))));
    let p = r * r * r * (1.0 / 3.0 + r * (-0.25 + r * p));
    let tail = lost + ((((exponent * LN2[1] + low) + (rest - r * rest)) - part) + p);
    let ln = head + tail;
    let behind = (head - ln) + tail;
    // The product in exact pieces.
    let product = y * ln;
    let (y_first, ln_first) = (upper(y), upper(ln));
    let (y_rest, ln_rest) = (y - y_first, ln - ln_first);
    let lost = ((y_first * ln_first - product) + (y_first * ln_rest + y_rest * ln_first)) + y_rest * ln_rest;
    [product, lost + y * behind]
}

/// The bound of |x| beyond which `e^x` is 0 or infinite.
pub const MAX_POW_EXPONENT: f64 = 800.0;

/// The result, `found` or that of a special case; `exponent` is `y ln x`.
#[inline(always)]
fn pow_finished([x, y]: [f64; 2], exponent: f64, found: f64) -> f64 {
    if y == 2.0 {
        x * x
    } else if y == 3.0 {
        x * x * x
    } else if x > 0.0 && x < f64::INFINITY && exponent.abs() < MAX_POW_EXPONENT {
        found
    } else {
        libm::pow(x, y)
    }
}

/// `x` to the power of `y` in binary32: that of binary64, rounded once more.
pub fn pow_single(x: f32, y: f32) -> f32 {
    pow(x.into(), y.into()) as f32
}

/// e to the power of `x`.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (k, [r, _]) = exp_reduced(x);
    exp_finished(k, r, POWERS[(k & 127) as usize])
}

/// `x` as `k ln 2 / 128 + r`, and what is lost of `r`; the low bits of `k` count.
#[inline(always)]
fn exp_reduced(x: f64) -> (i64, Pair) {
    // Beyond these the result is 0 or infinite anyway. NaN stays.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -750.0 { -750.0 } else { x };
    let whole = x * (128.0 * std::f64::consts::LOG2_E) + ROUND;
    let n = whole - ROUND;
    let (large, small) = (x - n * LN2_128[0], n * LN2_128[1]);
    let r = large - small;
    (whole.to_bits() as i64, [r, (large - r) - small])
}

/// The result, with what the table has for `k`.
#[inline(always)]
fn exp_finished(k: i64, r: f64, [high, low]: Pair) -> f64 {
    let r2 = r * r;
    let p = r + r2 * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0))));
    let y = high + (low + high * p);
    // 2^m in two steps: m goes from -1083 to 1024.
    let m = exponent(k);
    let half = m >> 1;
    y * power(half) * power(m - half)
}

/// `m`, where the low bits of `k` are `128 m + j`.
#[inline(always)]
fn exponent(k: i64) -> i64 {
    (k << 13) >> 20
}

/// 2^m.
#[inline(always)]
fn power(m: i64) -> f64 {
    f64::from_bits(((m + 1023) << 52) as u64)
}

/// The natural logarithm of `x`.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    let reduced = ln_reduced(x);
    ln_finished(x, reduced, LOGARITHMS[reduced.place()])
}

/// `x` as `2^exponent * (c + d)`, with the bits of a number whose lowest say which `c`.
#[derive(Clone, Copy, Default)]
struct Reduced {
    exponent: f64,
    c: f64,
    d: f64,
    bits: u64,
}

impl Reduced {
    /// The index of `ln c` in the table.
    #[inline(always)]
    fn place(self) -> usize {
        ((self.bits & 0xff) as usize).wrapping_sub(FIRST as usize).min(LOGARITHMS.len() - 1)
    }
}

/// The bits of 0.703125, the least fraction that is looked up.
pub const LEAST: i64 = 0x3fe6_8000_0000_0000;
/// The lowest bits of its multiple of 128, rounded.
pub const FIRST: u64 = 90;
/// The bits of the first part of a quotient.
pub const UPPER: u64 = 0xffff_ffff_f800_0000;
/// 2^54.
pub const SCALE: f64 = 18_014_398_509_481_984.0;

#[inline(always)]
fn ln_reduced(x: f64) -> Reduced {
    // Subnormal numbers are made larger.
    let small = x < f64::MIN_POSITIVE;
    let scaled = if small { x * SCALE } else { x };
    let bits = scaled.to_bits() as i64;
    // The fraction lies from 0.703 to 1.406: its bits begin at those of 0.703125.
    let k = bits.wrapping_sub(LEAST) >> 52;
    let z = f64::from_bits(bits.wrapping_sub(k << 52) as u64);
    // A whole number of a few bits as a float: by way of the number that rounds.
    let exponent = f64::from_bits((ROUND.to_bits() as i64).wrapping_add(k) as u64) - ROUND;
    let exponent = if small { exponent - 54.0 } else { exponent };
    let whole = z * 128.0 + ROUND;
    let c = (whole - ROUND) * (1.0 / 128.0);
    Reduced { exponent, c, d: z - c, bits: whole.to_bits() }
}

/// log2 e and log10 e, the upper bits and the rest.
pub const LOG2_E: Pair = parts_of_factor(std::f64::consts::LOG2_E, 2.035_527_374_093_103_3e-17);
/// As [`LOG2_E`].
pub const LOG10_E: Pair = parts_of_factor(std::f64::consts::LOG10_E, 1.098_319_650_216_765e-17);

/// The upper 26 bits of a factor, and the rest of it with what its rounding has lost.
const fn parts_of_factor(factor: f64, lost: f64) -> Pair {
    let first = f64::from_bits(factor.to_bits() & UPPER);
    [first, (factor - first) + lost]
}

/// The logarithm to base 2.
pub fn log2(x: f64) -> f64 {
    let reduced = ln_reduced(x);
    ln_scaled(LOG2_E, x, reduced, LOGARITHMS[reduced.place()])
}

/// The logarithm to base 10.
pub fn log10(x: f64) -> f64 {
    let reduced = ln_reduced(x);
    ln_scaled(LOG10_E, x, reduced, LOGARITHMS[reduced.place()])
}

#[inline(always)]
fn ln_finished(x: f64, reduced: Reduced, pair: Pair) -> f64 {
    let [sum, tail] = ln_parts(reduced, pair);
    ln_or_end(x, sum + tail)
}

/// The logarithm times a factor in two parts: the product of the upper bits is exact.
#[inline(always)]
fn ln_scaled(factor: Pair, x: f64, reduced: Reduced, pair: Pair) -> f64 {
    let [sum, tail] = ln_parts(reduced, pair);
    let first = upper(sum);
    let rest = ((sum - first) + tail) * (factor[0] + factor[1]) + first * factor[1];
    ln_or_end(x, first * factor[0] + rest)
}

/// A logarithm of a number, or what it is at the ends.
#[inline(always)]
fn ln_or_end(x: f64, y: f64) -> f64 {
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}

/// The natural logarithm in two parts.
#[inline(always)]
fn ln_parts(reduced: Reduced, [high, low]: Pair) -> Pair {
    let Reduced { exponent, c, d, .. } = reduced;
    let (r, _, rest) = quotient(d, c);
    let large = exponent * LN2[0] + high;
    let sum = large + r;
    let lost = (large - sum) + r;
    let r2 = r * r;
    let p = 1.0 / 5.0 + r * (-1.0 / 6.0 + r * (1.0 / 7.0 + r * (-1.0 / 8.0 + r * (1.0 / 9.0))));
    let p = r2 * (-0.5 + r * (1.0 / 3.0 + r * (-0.25 + r * p)));
    [sum, lost + (((exponent * LN2[1] + low) + rest) + p)]
}

/// `d / c` in two parts, `c` of few bits; between them the upper bits of the first one. That times
/// `c` in exact pieces, what is left over divided again.
#[inline(always)]
fn quotient(d: f64, c: f64) -> (f64, f64, f64) {
    let r = d / c;
    let first = upper(r);
    (r, first, ((d - first * c) - (r - first) * c) / c)
}

/// The upper 26 bits of a number.
#[inline(always)]
fn upper(x: f64) -> f64 {
    f64::from_bits(x.to_bits() & UPPER)
}

/// The hyperbolic tangent of `x`.
#[inline(always)]
pub fn tanh(x: f64) -> f64 {
    let (k, r) = exp_reduced(tanh_doubled(x));
    tanh_finished(x, k, r, POWERS[(k & 127) as usize])
}

/// Twice the size of `x`, up to where the result is 1.
#[inline(always)]
fn tanh_doubled(x: f64) -> f64 {
    let y = 2.0 * x.abs();
    if y > MAX_TANH_ARGUMENT { MAX_TANH_ARGUMENT } else { y }
}

/// e to the power of this is so large that 2 added to it does not count.
pub const MAX_TANH_ARGUMENT: f64 = 44.0;

#[inline(always)]
fn tanh_finished(x: f64, k: i64, [r, lost]: Pair, [high, low]: Pair) -> f64 {
    let q = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0));
    let q = r * r * (0.5 + r * (1.0 / 6.0 + r * q));
    let scale = power(exponent(k));
    // e^2x - 1: two exact numbers, which are small together where the result is, and what is
    // smaller still.
    let (large, small) = (high * scale - 1.0, r * scale);
    let sum = large + small;
    let tail = ((large - sum) + small) + ((high - 1.0) * r + (low + high * q) + lost) * scale;
    let t = sum + tail;
    let d = t + 2.0;
    let y = t / d;
    // What the sums have lost, divided by `d`, which is 2 / (1 - y).
    let part = 1.0 - y;
    let lost = part * ((sum - t) + tail) - y * (t - (d - 2.0));
    (y + 0.5 * part * lost).copysign(x)
}

/// The angle whose tangent is `x`.
#[inline(always)]
pub fn atan(x: f64) -> f64 {
    let a = x.abs();
    // About which angle it is, in two parts, and the tangent of what is left.
    let (n, d, at) = (-1.0, a, ATAN[3]);
    let (n, d, at) = if a < 2.4375 { (a - 1.5, 1.0 + 1.5 * a, ATAN[2]) } else { (n, d, at) };
    let (n, d, at) = if a < 1.1875 { (a - 1.0, a + 1.0, ATAN[1]) } else { (n, d, at) };
    let (n, d, at) = if a < 0.6875 { (2.0 * a - 1.0, 2.0 + a, ATAN[0]) } else { (n, d, at) };
    let (n, d, at) = if a < 0.4375 { (a, 1.0, [0.0, 0.0]) } else { (n, d, at) };
    let t = n / d;
    let z = t * t;
    let w = z * z;
    let c = ATAN_SERIES;
    let odd = z * (c[0] + w * (c[2] + w * (c[4] + w * (c[6] + w * (c[8] + w * c[10])))));
    let even = w * (c[1] + w * (c[3] + w * (c[5] + w * (c[7] + w * c[9]))));
    let y = at[0] - (t * (odd + even) - at[1] - t);
    let y = if a < 0.4375 { t - t * (odd + even) } else { y };
    y.copysign(x)
}

/// Numbers that are done together: what is looked up stands apart from the arithmetic, so that this
/// becomes vectors.
const BLOCK: usize = 16;

/// The bound of angles that are reduced here: so many multiples of π/2 are whole numbers of 20 bits.
pub const MAX_REDUCED_ANGLE: f64 = 1_647_099.0;

/// The bound of angles whose sine is the angle.
pub const MIN_SINE_ANGLE: f64 = 1.0 / 67_108_864.0;

/// The sine of an angle in radians. By itself, it is quicker with branches: the same bits as those
/// of [`sin_all`].
pub fn sin(x: f64) -> f64 {
    if x.abs() < MIN_SINE_ANGLE {
        x
    } else if x.abs() < std::f64::consts::FRAC_PI_4 {
        sine_near(ROUND, [x, 0.0])
    } else if x.abs() < MAX_REDUCED_ANGLE {
        let (whole, left) = angle_reduced(x);
        by_quarter(whole.to_bits(), whole, left)
    } else {
        libm::sin(x)
    }
}

/// The cosine of an angle in radians; see [`sin`].
pub fn cos(x: f64) -> f64 {
    if x.abs() < std::f64::consts::FRAC_PI_4 {
        cosine_near([x, 0.0])
    } else if x.abs() < MAX_REDUCED_ANGLE {
        let (whole, left) = angle_reduced(x);
        by_quarter(whole.to_bits() + 1, whole, left)
    } else {
        libm::cos(x)
    }
}

/// The sine of a number of quarter turns, of which the last two bits count, and what is left.
fn by_quarter(quarter: u64, whole: f64, left: Pair) -> f64 {
    let found = if quarter & 1 == 0 { sine_near(whole, left) } else { cosine_near(left) };
    if quarter & 2 == 0 { found } else { -found }
}

/// The multiple of π/2 that is nearest to an angle, as it is with [`ROUND`] added, and what is left
/// of the angle, in two parts.
#[inline(always)]
fn angle_reduced(x: f64) -> (f64, Pair) {
    let whole = x * std::f64::consts::FRAC_2_PI + ROUND;
    let n = whole - ROUND;
    let first = x - n * QUARTER_TURN[0];
    // The other parts are added up meanwhile.
    let (part, small) = (n * QUARTER_TURN[1], n * QUARTER_TURN[2]);
    let others = part + small;
    let low = ((part - others) + small) + n * QUARTER_TURN[3];
    let left = first - others;
    let rest = low - ((first - left) - others);
    let y = left - rest;
    (whole, [y, (left - y) - rest])
}

/// The sine of what is left of an angle.
#[inline(always)]
fn sine_near(whole: f64, [y, tail]: Pair) -> f64 {
    let (z, s) = (y * y, SINE_SERIES);
    let w = z * z;
    let r = s[1] + z * (s[2] + z * s[3]) + z * w * (s[4] + z * s[5]);
    let v = z * y;
    let plain = y + v * (s[0] + z * r);
    let corrected = y - ((z * (0.5 * tail - v * r) - tail) - v * s[0]);
    if whole == ROUND { plain } else { corrected }
}

/// The cosine of what is left of an angle.
#[inline(always)]
fn cosine_near([y, tail]: Pair) -> f64 {
    let (z, c) = (y * y, COSINE_SERIES);
    let w = z * z;
    let r = z * (c[0] + z * (c[1] + z * c[2])) + w * w * (c[3] + z * (c[4] + z * c[5]));
    let half = 0.5 * z;
    let one = 1.0 - half;
    one + (((1.0 - one) - half) + (z * r - y * tail))
}

/// The sine of an angle so many quarter turns further, as [`by_quarter`] has it, without branches.
#[inline(always)]
fn sine_after(quarters: u64, x: f64) -> f64 {
    let (whole, left) = angle_reduced(x);
    let (sine, cosine) = (sine_near(whole, left), cosine_near(left));
    let quarter = whole.to_bits() + quarters;
    let found = if quarter & 1 == 0 { sine } else { cosine };
    f64::from_bits(found.to_bits() ^ (quarter & 2) << 62)
}

/// A function of angles that are reduced, of each number, and another one of those beyond.
#[inline(always)]
fn angles_all(numbers: &mut [f64], reduced: impl Fn(f64) -> f64, other: impl Fn(f64) -> f64) {
    for block in numbers.chunks_mut(BLOCK) {
        let mut found = [0.0; BLOCK];
        for (found, x) in found.iter_mut().zip(&*block) {
            *found = reduced(*x);
        }
        for (x, found) in block.iter_mut().zip(found) {
            *x = if x.abs() < MAX_REDUCED_ANGLE { found } else { other(*x) };
        }
    }
}

/// [`sin`] of each number, in place.
#[inline(always)]
pub fn sin_all(numbers: &mut [f64]) {
    let reduced = |x: f64| if x.abs() < MIN_SINE_ANGLE { x } else { sine_after(0, x) };
    angles_all(numbers, reduced, libm::sin);
}

/// [`cos`] of each number, in place.
#[inline(always)]
pub fn cos_all(numbers: &mut [f64]) {
    angles_all(numbers, |x| sine_after(1, x), libm::cos);
}

/// The quotient of two polynomials that approximates `(asin x - x) / x` at `z = x * x`.
#[inline(always)]
fn asin_ratio(z: f64) -> f64 {
    let ([a, b, c, d, e, f], [p, q, r, s]) = ASIN_RATIO;
    let above = z * (a + z * (b + z * (c + z * (d + z * (e + z * f)))));
    above / (1.0 + z * (p + z * (q + z * (r + z * s))))
}

/// The bound of numbers beyond which the arc sine needs its square root in one part.
pub const MIN_STEEP_SINE: f64 = f64::from_bits(0x3fef_3333 << 32);

/// The bits of the first part of a square root.
pub const UPPER_WORD: u64 = 0xffff_ffff_0000_0000;

/// A square root of `z` in two parts: the upper bits, and the rest.
#[inline(always)]
fn root_parts(z: f64, root: f64) -> Pair {
    let first = f64::from_bits(root.to_bits() & UPPER_WORD);
    [first, (z - first * first) / (root + first)]
}

/// The angle in [-π/2, π/2] with this sine; not a number beyond [-1, 1].
#[inline(always)]
pub fn asin(x: f64) -> f64 {
    let a = x.abs();
    let near = a < 0.5;
    let z = if near { x * x } else { (1.0 - a) * 0.5 };
    let (r, root) = (asin_ratio(z), z.sqrt());
    let steep = RIGHT_ANGLE[0] - (2.0 * (root + root * r) - RIGHT_ANGLE[1]);
    let [first, rest] = root_parts(z, root);
    let left = 0.5 * RIGHT_ANGLE[0] - 2.0 * first;
    let middle = 0.5 * RIGHT_ANGLE[0] - (2.0 * root * r - (RIGHT_ANGLE[1] - 2.0 * rest) - left);
    let far = if a >= MIN_STEEP_SINE { steep } else { middle };
    let found = if near { a + a * r } else { far };
    if a <= 1.0 { found.copysign(x) } else { f64::NAN }
}

/// The angle in [0, π] with this cosine; not a number beyond [-1, 1].
#[inline(always)]
pub fn acos(x: f64) -> f64 {
    let a = x.abs();
    let near = a < 0.5;
    let z = if near { x * x } else { (1.0 - a) * 0.5 };
    let (r, root) = (asin_ratio(z), z.sqrt());
    let middle = RIGHT_ANGLE[0] - (x - (RIGHT_ANGLE[1] - x * r));
    let obtuse = 2.0 * (RIGHT_ANGLE[0] - (root + (r * root - RIGHT_ANGLE[1])));
    let [first, rest] = root_parts(z, root);
    let acute = 2.0 * (first + (r * root + rest));
    let far = if x < 0.0 { obtuse } else { acute };
    let found = if near { middle } else { far };
    let found = if x == 1.0 { 0.0 } else { found };
    if a <= 1.0 { found } else { f64::NAN }
}

/// The bound of slopes whose angle is computed here: beyond, it is a right angle.
pub const MAX_SLOPE: f64 = 1_152_921_504_606_846_976.0;

/// The angle in [-π, π] of the point `x, y`; as `libm` has it where their quotient is 0, infinite, or
/// not below [`MAX_SLOPE`].
pub fn atan2(y: f64, x: f64) -> f64 {
    let slope = (y / x).abs();
    if is_slope(slope) { angle_of_slope(slope, y, x) } else { libm::atan2(y, x) }
}

#[inline(always)]
fn is_slope(slope: f64) -> bool {
    slope > 0.0 && slope < MAX_SLOPE
}

#[inline(always)]
fn angle_of_slope(slope: f64, y: f64, x: f64) -> f64 {
    let z = atan(slope);
    let z = if x < 0.0 { 2.0 * RIGHT_ANGLE[0] - (z - 2.0 * RIGHT_ANGLE[1]) } else { z };
    z.copysign(y)
}

/// [`asin`] of each number, in place.
#[inline(always)]
pub fn asin_all(numbers: &mut [f64]) {
    numbers.iter_mut().for_each(|x| *x = asin(*x));
}

/// [`acos`] of each number, in place.
#[inline(always)]
pub fn acos_all(numbers: &mut [f64]) {
    numbers.iter_mut().for_each(|x| *x = acos(*x));
}

/// [`atan2`] of each number of the first half and the number in the second half, in place of the
/// first one.
#[inline(always)]
pub fn atan2_all(numbers: &mut [f64]) {
    let (numbers, others) = numbers.split_at_mut(numbers.len() / 2);
    for (block, others) in numbers.chunks_mut(BLOCK).zip(others.chunks(BLOCK)) {
        let mut found = [(0.0, 0.0); BLOCK];
        for ((found, y), x) in found.iter_mut().zip(&*block).zip(others) {
            let slope = (y / x).abs();
            *found = (slope, angle_of_slope(slope, *y, *x));
        }
        for ((y, x), (slope, angle)) in block.iter_mut().zip(others).zip(found) {
            *y = if is_slope(slope) { angle } else { libm::atan2(*y, *x) };
        }
    }
}

/// [`exp`] of each number, in place.
#[inline(always)]
pub fn exp_all(numbers: &mut [f64]) {
    let (blocks, rest) = numbers.as_chunks_mut::<BLOCK>();
    for block in blocks {
        let (mut k, mut r) = ([0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            (k[i], [r[i], _]) = exp_reduced(block[i]);
        }
        let (mut high, mut low) = ([0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            [high[i], low[i]] = POWERS[(k[i] & 127) as usize];
        }
        for i in 0..BLOCK {
            block[i] = exp_finished(k[i], r[i], [high[i], low[i]]);
        }
    }
    rest.iter_mut().for_each(|x| *x = exp(*x));
}

/// [`ln`] of each number, in place.
#[inline(always)]
pub fn ln_all(numbers: &mut [f64]) {
    logarithms_all(numbers, ln_finished);
}

/// [`log2`] of each number, in place.
#[inline(always)]
pub fn log2_all(numbers: &mut [f64]) {
    logarithms_all(numbers, |x, reduced, pair| ln_scaled(LOG2_E, x, reduced, pair));
}

/// [`log10`] of each number, in place.
#[inline(always)]
pub fn log10_all(numbers: &mut [f64]) {
    logarithms_all(numbers, |x, reduced, pair| ln_scaled(LOG10_E, x, reduced, pair));
}

/// A logarithm of each number, in place.
#[inline(always)]
fn logarithms_all(numbers: &mut [f64], finished: impl Fn(f64, Reduced, Pair) -> f64) {
    let (blocks, rest) = numbers.as_chunks_mut::<BLOCK>();
    for block in blocks {
        let (mut exponent, mut c, mut d, mut bits) = ([0.0; BLOCK], [0.0; BLOCK], [0.0; BLOCK], [0; BLOCK]);
        for i in 0..BLOCK {
            let reduced = ln_reduced(block[i]);
            (exponent[i], c[i], d[i], bits[i]) = (reduced.exponent, reduced.c, reduced.d, reduced.bits);
        }
        let at = |i: usize| Reduced { exponent: exponent[i], c: c[i], d: d[i], bits: bits[i] };
        let (mut high, mut low) = ([0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            [high[i], low[i]] = LOGARITHMS[at(i).place()];
        }
        for i in 0..BLOCK {
            block[i] = finished(block[i], at(i), [high[i], low[i]]);
        }
    }
    for x in rest {
        let reduced = ln_reduced(*x);
        *x = finished(*x, reduced, LOGARITHMS[reduced.place()]);
    }
}

/// [`tanh`] of each number, in place.
#[inline(always)]
pub fn tanh_all(numbers: &mut [f64]) {
    let (blocks, rest) = numbers.as_chunks_mut::<BLOCK>();
    for block in blocks {
        let (mut k, mut r, mut lost) = ([0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            (k[i], [r[i], lost[i]]) = exp_reduced(tanh_doubled(block[i]));
        }
        let (mut high, mut low) = ([0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            [high[i], low[i]] = POWERS[(k[i] & 127) as usize];
        }
        for i in 0..BLOCK {
            block[i] = tanh_finished(block[i], k[i], [r[i], lost[i]], [high[i], low[i]]);
        }
    }
    rest.iter_mut().for_each(|x| *x = tanh(*x));
}

/// [`atan`] of each number, in place.
#[inline(always)]
pub fn atan_all(numbers: &mut [f64]) {
    numbers.iter_mut().for_each(|x| *x = atan(*x));
}

/// [`pow`] of each number of the first half and its exponent in the second half, in place of the
/// number.
#[inline(always)]
pub fn pow_all(numbers: &mut [f64]) {
    let (numbers, powers) = numbers.split_at_mut(numbers.len() / 2);
    let (blocks, rest) = numbers.as_chunks_mut::<BLOCK>();
    let (powers, last) = powers.as_chunks::<BLOCK>();
    for (block, y) in blocks.iter_mut().zip(powers) {
        let mut reduced = [Reduced::default(); BLOCK];
        for i in 0..BLOCK {
            reduced[i] = ln_reduced(block[i]);
        }
        let mut pairs = [[0.0; 2]; BLOCK];
        for i in 0..BLOCK {
            pairs[i] = LOGARITHMS[reduced[i].place()];
        }
        for i in 0..BLOCK {
            pairs[i] = pow_exponent(y[i], reduced[i], pairs[i]);
        }
        let (mut k, mut r, mut exponents) = ([0; BLOCK], [0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            let [high, low] = pairs[i];
            exponents[i] = high;
            let (number, [first, lost]) = exp_reduced(high);
            (k[i], r[i]) = (number, first + (lost + low));
        }
        for i in 0..BLOCK {
            pairs[i] = POWERS[(k[i] & 127) as usize];
        }
        for i in 0..BLOCK {
            r[i] = exp_finished(k[i], r[i], pairs[i]);
        }
        for i in 0..BLOCK {
            block[i] = pow_finished([block[i], y[i]], exponents[i], r[i]);
        }
    }
    rest.iter_mut().zip(last).for_each(|(x, y)| *x = pow(*x, *y));
}

#[cfg(test)]
mod tests;
