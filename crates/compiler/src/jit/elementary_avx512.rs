//! Functions of eight numbers at a time, by vectors of 512 bits: the operations of
//! [`crate::elementary`], which says what they do, in their order, so that all bits are the same.
//! Written out, because compilers that are told of a certain processor prefer shorter vectors; and
//! what is looked up in tables is gathered here.

use super::gemm::Lanes;
use super::native::{gather, load_lanes, store_lanes};
use crate::core::reduction::LANES;
use crate::elementary::tables::{
    ASIN_RATIO, ATAN, ATAN_SERIES, COSINE_SERIES, LN2, LN2_128, LOGARITHMS, POWERS, QUARTER_TURN,
    RIGHT_ANGLE, SINE_SERIES,
};
use crate::elementary::{
    FIRST, LEAST, LOG2_E, LOG10_E, MAX_POW_EXPONENT, MAX_REDUCED_ANGLE, MAX_SLOPE, MAX_TANH_ARGUMENT,
    MIN_SINE_ANGLE, MIN_STEEP_SINE, ROUND, SCALE, UPPER, UPPER_WORD,
};
use std::arch::x86_64::*;

macro_rules! all {
    ($all:ident $one:ident $doc:literal) => {
        #[doc = $doc]
        #[target_feature(enable = "avx512f")]
        pub fn $all(numbers: &mut [f64]) {
            let (eights, rest) = numbers.as_chunks_mut::<LANES>();
            eights.iter_mut().for_each(|eight| store_lanes($one(load_lanes(eight)), eight));
            if !rest.is_empty() {
                let mut eight = [0.0; LANES];
                eight[..rest.len()].copy_from_slice(rest);
                store_lanes($one(load_lanes(&eight)), &mut eight);
                rest.copy_from_slice(&eight[..rest.len()]);
            }
        }
    };
}

all!(exp_all exp "e to the power of each number, in place.");
all!(ln_all ln "The natural logarithm of each number, in place.");
all!(log2_all log2 "The logarithm to base 2 of each number, in place.");
all!(log10_all log10 "The logarithm to base 10 of each number, in place.");
all!(tanh_all tanh "The hyperbolic tangent of each number, in place.");
all!(atan_all atan "The arc tangent of each number, in place.");
all!(asin_all asin "The arc sine of each number, in place.");
all!(acos_all acos "The arc cosine of each number, in place.");
all!(sin_all sin "The sine of each number, in place.");
all!(cos_all cos "The cosine of each number, in place.");

macro_rules! all_pairs {
    ($all:ident $one:ident $doc:literal) => {
        #[doc = $doc]
        #[target_feature(enable = "avx512f")]
        pub fn $all(numbers: &mut [f64]) {
            let (numbers, seconds) = numbers.split_at_mut(numbers.len() / 2);
            let (eights, rest) = numbers.as_chunks_mut::<LANES>();
            let (others, last) = seconds.as_chunks::<LANES>();
            eights.iter_mut().zip(others).for_each(|(eight, other)| $one(eight, other));
            if !rest.is_empty() {
                let (mut eight, mut other) = ([1.0; LANES], [1.0; LANES]);
                eight[..rest.len()].copy_from_slice(rest);
                other[..rest.len()].copy_from_slice(last);
                $one(&mut eight, &other);
                rest.copy_from_slice(&eight[..rest.len()]);
            }
        }
    };
}

all_pairs!(pow_all pow "Numbers of the first half to the powers of the second half, in place of the numbers.");
all_pairs!(atan2_all atan2 "The angles of points: numbers of the first half over those of the second half, in place of the first ones.");

/// Sets the results of some lanes one by one.
fn set_lanes(mut lanes: u8, results: &mut Lanes, one: impl Fn(usize) -> f64) {
    while lanes != 0 {
        let lane = lanes.trailing_zeros() as usize;
        results[lane] = one(lane);
        lanes &= lanes - 1;
    }
}

#[target_feature(enable = "avx512f")]
#[inline]
fn all(x: f64) -> __m512d {
    _mm512_set1_pd(x)
}

/// A polynomial, the coefficient of the highest power last.
#[target_feature(enable = "avx512f")]
#[inline]
fn polynomial<const N: usize>(x: __m512d, coefficients: [f64; N]) -> __m512d {
    let mut sum = all(coefficients[N - 1]);
    for coefficient in coefficients[..N - 1].iter().rev() {
        sum = _mm512_add_pd(all(*coefficient), _mm512_mul_pd(x, sum));
    }
    sum
}

#[target_feature(enable = "avx512f")]
#[inline]
fn exp(x: __m512d) -> __m512d {
    exp_finished(exp_parts(within(x)))
}

/// Clamps the arguments to [-750, 710], beyond which exp is 0 or infinite; keeps NaN, since of two
/// numbers one of which is NaN the instruction gives the second.
#[target_feature(enable = "avx512f")]
#[inline]
fn within(x: __m512d) -> __m512d {
    _mm512_max_pd(all(-750.0), _mm512_min_pd(all(710.0), x))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn exp_finished(Parts { m, r, high, low, .. }: Parts) -> __m512d {
    let p = _mm512_add_pd(r, beyond_r(r, [0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0]));
    let y = _mm512_add_pd(high, _mm512_add_pd(low, _mm512_mul_pd(high, p)));
    let half = _mm512_srai_epi64::<1>(m);
    let y = _mm512_mul_pd(y, power(half));
    _mm512_mul_pd(y, power(_mm512_sub_epi64(m, half)))
}

/// Terms of a series from the square of `r` on.
#[target_feature(enable = "avx512f")]
#[inline]
fn beyond_r<const N: usize>(r: __m512d, series: [f64; N]) -> __m512d {
    _mm512_mul_pd(_mm512_mul_pd(r, r), polynomial(r, series))
}

/// e to the power of a number: `2^m * (high + low) * e^(r + lost)`.
struct Parts {
    m: __m512i,
    r: __m512d,
    lost: __m512d,
    high: __m512d,
    low: __m512d,
}

#[target_feature(enable = "avx512f")]
#[inline]
fn exp_parts(x: __m512d) -> Parts {
    let whole = _mm512_add_pd(_mm512_mul_pd(x, all(128.0 * std::f64::consts::LOG2_E)), all(ROUND));
    let n = _mm512_sub_pd(whole, all(ROUND));
    let k = _mm512_castpd_si512(whole);
    let large = _mm512_sub_pd(x, _mm512_mul_pd(n, all(LN2_128[0])));
    let small = _mm512_mul_pd(n, all(LN2_128[1]));
    let r = _mm512_sub_pd(large, small);
    let lost = _mm512_sub_pd(_mm512_sub_pd(large, r), small);
    let (high, low) = gather(&POWERS, _mm512_and_si512(k, _mm512_set1_epi64(127)));
    let m = _mm512_srai_epi64::<20>(_mm512_slli_epi64::<13>(k));
    Parts { m, r, lost, high, low }
}

/// Numbers with the signs of others.
#[target_feature(enable = "avx512f")]
#[inline]
fn signed(size: __m512d, sign: __m512d) -> __m512d {
    let mask = _mm512_set1_epi64(i64::MIN);
    let sign = _mm512_and_si512(_mm512_castpd_si512(sign), mask);
    _mm512_castsi512_pd(_mm512_or_si512(_mm512_andnot_si512(mask, _mm512_castpd_si512(size)), sign))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn tanh(x: __m512d) -> __m512d {
    let y = _mm512_mul_pd(all(2.0), _mm512_abs_pd(x));
    let y = _mm512_min_pd(all(MAX_TANH_ARGUMENT), y);
    let Parts { m, r, lost, high, low } = exp_parts(y);
    let q = beyond_r(r, [0.5, 1.0 / 6.0, 1.0 / 24.0, 1.0 / 120.0, 1.0 / 720.0]);
    let scale = power(m);
    let large = _mm512_sub_pd(_mm512_mul_pd(high, scale), all(1.0));
    let small = _mm512_mul_pd(r, scale);
    let sum = _mm512_add_pd(large, small);
    let rest = _mm512_mul_pd(_mm512_sub_pd(high, all(1.0)), r);
    let rest = _mm512_add_pd(rest, _mm512_add_pd(low, _mm512_mul_pd(high, q)));
    let rest = _mm512_add_pd(rest, lost);
    let tail = _mm512_add_pd(_mm512_sub_pd(large, sum), small);
    let tail = _mm512_add_pd(tail, _mm512_mul_pd(rest, scale));
    let t = _mm512_add_pd(sum, tail);
    let d = _mm512_add_pd(t, all(2.0));
    let y = _mm512_div_pd(t, d);
    let lost = _mm512_add_pd(_mm512_sub_pd(sum, t), tail);
    let over = _mm512_sub_pd(t, _mm512_sub_pd(d, all(2.0)));
    let part = _mm512_sub_pd(all(1.0), y);
    let lost = _mm512_sub_pd(_mm512_mul_pd(part, lost), _mm512_mul_pd(y, over));
    signed(_mm512_add_pd(y, _mm512_mul_pd(_mm512_mul_pd(all(0.5), part), lost)), x)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn atan(x: __m512d) -> __m512d {
    let a = _mm512_abs_pd(x);
    let below = |most: f64| _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, all(most));
    let (mut n, mut d, mut high, mut low) = (all(-1.0), a, all(ATAN[3][0]), all(ATAN[3][1]));
    let cases = [
        (2.4375, _mm512_sub_pd(a, all(1.5)), _mm512_add_pd(all(1.0), _mm512_mul_pd(all(1.5), a)), ATAN[2]),
        (1.1875, _mm512_sub_pd(a, all(1.0)), _mm512_add_pd(a, all(1.0)), ATAN[1]),
        (0.6875, _mm512_sub_pd(_mm512_mul_pd(all(2.0), a), all(1.0)), _mm512_add_pd(all(2.0), a), ATAN[0]),
        (0.4375, a, all(1.0), [0.0, 0.0]),
    ];
    for (most, numerator, denominator, at) in cases {
        let mask = below(most);
        n = _mm512_mask_mov_pd(n, mask, numerator);
        d = _mm512_mask_mov_pd(d, mask, denominator);
        high = _mm512_mask_mov_pd(high, mask, all(at[0]));
        low = _mm512_mask_mov_pd(low, mask, all(at[1]));
    }
    let t = _mm512_div_pd(n, d);
    let z = _mm512_mul_pd(t, t);
    let w = _mm512_mul_pd(z, z);
    let c = ATAN_SERIES;
    let odd = _mm512_mul_pd(z, polynomial(w, [c[0], c[2], c[4], c[6], c[8], c[10]]));
    let even = _mm512_mul_pd(w, polynomial(w, [c[1], c[3], c[5], c[7], c[9]]));
    let sum = _mm512_mul_pd(t, _mm512_add_pd(odd, even));
    let y = _mm512_sub_pd(high, _mm512_sub_pd(_mm512_sub_pd(sum, low), t));
    signed(_mm512_mask_mov_pd(y, below(0.4375), _mm512_sub_pd(t, sum)), x)
}

/// The parts of the arc sine and the arc cosine of numbers: their absolute values, the square root of
/// `(1 - a) / 2` in one part and in two, and the quotient of polynomials.
struct Sloped {
    a: __m512d,
    near: __mmask8,
    root: __m512d,
    first: __m512d,
    rest: __m512d,
    r: __m512d,
}

#[target_feature(enable = "avx512f")]
#[inline]
fn sloped(x: __m512d) -> Sloped {
    let a = _mm512_abs_pd(x);
    let near = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(a, all(0.5));
    let far = _mm512_mul_pd(_mm512_sub_pd(all(1.0), a), all(0.5));
    let z = _mm512_mask_mul_pd(far, near, x, x);
    let (above, [p, q, r, s]) = ASIN_RATIO;
    let above = _mm512_mul_pd(z, polynomial(z, above));
    let r = _mm512_div_pd(above, polynomial(z, [1.0, p, q, r, s]));
    let root = _mm512_sqrt_pd(z);
    let mask = _mm512_set1_epi64(UPPER_WORD as i64);
    let first = _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(root), mask));
    let rest = _mm512_sub_pd(z, _mm512_mul_pd(first, first));
    let rest = _mm512_div_pd(rest, _mm512_add_pd(root, first));
    Sloped { a, near, root, first, rest, r }
}

/// Angles of numbers up to 1; not numbers for others.
#[target_feature(enable = "avx512f")]
#[inline]
fn within_one(a: __m512d, found: __m512d) -> __m512d {
    _mm512_mask_mov_pd(all(f64::NAN), _mm512_cmp_pd_mask::<_CMP_LE_OQ>(a, all(1.0)), found)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn asin(x: __m512d) -> __m512d {
    let Sloped { a, near, root, first, rest, r } = sloped(x);
    let [high, low] = RIGHT_ANGLE.map(|part| all(part));
    let two = all(2.0);
    let steep = _mm512_mul_pd(two, _mm512_add_pd(root, _mm512_mul_pd(root, r)));
    let steep = _mm512_sub_pd(high, _mm512_sub_pd(steep, low));
    let half = _mm512_mul_pd(all(0.5), high);
    let left = _mm512_sub_pd(half, _mm512_mul_pd(two, first));
    let lost = _mm512_sub_pd(low, _mm512_mul_pd(two, rest));
    let middle = _mm512_sub_pd(_mm512_mul_pd(_mm512_mul_pd(two, root), r), lost);
    let middle = _mm512_sub_pd(half, _mm512_sub_pd(middle, left));
    let is_steep = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(a, all(MIN_STEEP_SINE));
    let found = _mm512_mask_mov_pd(middle, is_steep, steep);
    let found = _mm512_mask_mov_pd(found, near, _mm512_add_pd(a, _mm512_mul_pd(a, r)));
    within_one(a, signed(found, x))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn acos(x: __m512d) -> __m512d {
    let Sloped { a, near, root, first, rest, r } = sloped(x);
    let [high, low] = RIGHT_ANGLE.map(|part| all(part));
    let two = all(2.0);
    let middle = _mm512_sub_pd(x, _mm512_sub_pd(low, _mm512_mul_pd(x, r)));
    let middle = _mm512_sub_pd(high, middle);
    let product = _mm512_mul_pd(r, root);
    let obtuse = _mm512_sub_pd(high, _mm512_add_pd(root, _mm512_sub_pd(product, low)));
    let acute = _mm512_add_pd(first, _mm512_add_pd(product, rest));
    let is_negative = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, all(0.0));
    let far = _mm512_mul_pd(two, _mm512_mask_mov_pd(acute, is_negative, obtuse));
    let found = _mm512_mask_mov_pd(far, near, middle);
    let is_one = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(x, all(1.0));
    within_one(a, _mm512_mask_mov_pd(found, is_one, all(0.0)))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn atan2(numbers: &mut Lanes, divisors: &Lanes) {
    let (y, x) = (load_lanes(numbers), load_lanes(divisors));
    let slope = _mm512_abs_pd(_mm512_div_pd(y, x));
    let z = atan(slope);
    let [half, lost] = RIGHT_ANGLE.map(|part| all(2.0 * part));
    let other = _mm512_sub_pd(half, _mm512_sub_pd(z, lost));
    let z = _mm512_mask_mov_pd(z, _mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, all(0.0)), other);
    let is_slope = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(slope, all(0.0))
        & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(slope, all(MAX_SLOPE));
    let mut results = [0.0; LANES];
    store_lanes(signed(z, y), &mut results);
    set_lanes(!is_slope, &mut results, |lane| crate::elementary::atan2(numbers[lane], divisors[lane]));
    *numbers = results;
}

/// The multiples of π/2 that are nearest to angles, with [`ROUND`] added, and the sines and cosines
/// of what is left.
#[target_feature(enable = "avx512f")]
#[inline]
fn circular(x: __m512d) -> (__m512d, __m512d, __m512d) {
    let mul = |a: __m512d, b: f64| _mm512_mul_pd(a, all(b));
    let whole = _mm512_add_pd(mul(x, std::f64::consts::FRAC_2_PI), all(ROUND));
    let n = _mm512_sub_pd(whole, all(ROUND));
    let first = _mm512_sub_pd(x, mul(n, QUARTER_TURN[0]));
    let (part, small) = (mul(n, QUARTER_TURN[1]), mul(n, QUARTER_TURN[2]));
    let others = _mm512_add_pd(part, small);
    let low = _mm512_add_pd(_mm512_sub_pd(part, others), small);
    let low = _mm512_add_pd(low, mul(n, QUARTER_TURN[3]));
    let left = _mm512_sub_pd(first, others);
    let rest = _mm512_sub_pd(low, _mm512_sub_pd(_mm512_sub_pd(first, left), others));
    let y = _mm512_sub_pd(left, rest);
    let tail = _mm512_sub_pd(_mm512_sub_pd(left, y), rest);

    let (z, s, c) = (_mm512_mul_pd(y, y), SINE_SERIES, COSINE_SERIES);
    let w = _mm512_mul_pd(z, z);
    let r = _mm512_add_pd(
        polynomial(z, [s[1], s[2], s[3]]),
        _mm512_mul_pd(_mm512_mul_pd(z, w), polynomial(z, [s[4], s[5]])),
    );
    let v = _mm512_mul_pd(z, y);
    let plain = _mm512_add_pd(y, _mm512_mul_pd(v, _mm512_add_pd(all(s[0]), _mm512_mul_pd(z, r))));
    let inner = _mm512_sub_pd(mul(tail, 0.5), _mm512_mul_pd(v, r));
    let inner = _mm512_sub_pd(_mm512_mul_pd(z, inner), tail);
    let corrected = _mm512_sub_pd(y, _mm512_sub_pd(inner, mul(v, s[0])));
    let is_small = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(whole, all(ROUND));
    let sine = _mm512_mask_mov_pd(corrected, is_small, plain);

    let r = _mm512_add_pd(
        _mm512_mul_pd(z, polynomial(z, [c[0], c[1], c[2]])),
        _mm512_mul_pd(_mm512_mul_pd(w, w), polynomial(z, [c[3], c[4], c[5]])),
    );
    let half = mul(z, 0.5);
    let one = _mm512_sub_pd(all(1.0), half);
    let lost = _mm512_sub_pd(_mm512_sub_pd(all(1.0), one), half);
    let rest = _mm512_add_pd(lost, _mm512_sub_pd(_mm512_mul_pd(z, r), _mm512_mul_pd(y, tail)));
    (whole, sine, _mm512_add_pd(one, rest))
}

/// One of two numbers by the last bit of a third one, with its sign changed if the last but one is
/// set.
#[target_feature(enable = "avx512f")]
#[inline]
fn by_quarter(quarter: __m512i, even: __m512d, odd: __m512d) -> __m512d {
    let is_odd = _mm512_test_epi64_mask(quarter, _mm512_set1_epi64(1));
    let found = _mm512_castpd_si512(_mm512_mask_mov_pd(even, is_odd, odd));
    let sign = _mm512_slli_epi64::<62>(_mm512_and_si512(quarter, _mm512_set1_epi64(2)));
    _mm512_castsi512_pd(_mm512_xor_si512(found, sign))
}

/// Results, those of angles that are not reduced computed one by one.
#[target_feature(enable = "avx512f")]
#[inline]
fn with_large(x: __m512d, found: __m512d, one: fn(f64) -> f64) -> __m512d {
    let others = !_mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(x), all(MAX_REDUCED_ANGLE));
    if others == 0 {
        return found;
    }
    let (mut numbers, mut results) = ([0.0; LANES], [0.0; LANES]);
    store_lanes(x, &mut numbers);
    store_lanes(found, &mut results);
    set_lanes(others, &mut results, |lane| one(numbers[lane]));
    load_lanes(&results)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn sin(x: __m512d) -> __m512d {
    let (whole, sine, cosine) = circular(x);
    let found = by_quarter(_mm512_castpd_si512(whole), sine, cosine);
    let is_tiny = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(x), all(MIN_SINE_ANGLE));
    with_large(x, _mm512_mask_mov_pd(found, is_tiny, x), crate::elementary::sin)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn cos(x: __m512d) -> __m512d {
    let (whole, sine, cosine) = circular(x);
    // The sine of an angle a quarter turn further.
    let quarter = _mm512_add_epi64(_mm512_castpd_si512(whole), _mm512_set1_epi64(1));
    with_large(x, by_quarter(quarter, sine, cosine), crate::elementary::cos)
}

/// 2^m.
#[target_feature(enable = "avx512f")]
#[inline]
fn power(m: __m512i) -> __m512d {
    _mm512_castsi512_pd(_mm512_slli_epi64::<52>(_mm512_add_epi64(m, _mm512_set1_epi64(1023))))
}

/// Numbers as `2^exponent * (c + d)`, with what the table has for `c`.
struct Reduced {
    exponent: __m512d,
    c: __m512d,
    d: __m512d,
    high: __m512d,
    low: __m512d,
}

#[target_feature(enable = "avx512f")]
#[inline]
fn ln_reduced(x: __m512d) -> Reduced {
    let small = _mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, all(f64::MIN_POSITIVE));
    let bits = _mm512_castpd_si512(_mm512_mask_mul_pd(x, small, x, all(SCALE)));
    let k = _mm512_srai_epi64::<52>(_mm512_sub_epi64(bits, _mm512_set1_epi64(LEAST)));
    let z = _mm512_castsi512_pd(_mm512_sub_epi64(bits, _mm512_slli_epi64::<52>(k)));
    let exponent = _mm512_add_epi64(_mm512_castpd_si512(all(ROUND)), k);
    let exponent = _mm512_sub_pd(_mm512_castsi512_pd(exponent), all(ROUND));
    let exponent = _mm512_mask_sub_pd(exponent, small, exponent, all(54.0));
    let whole = _mm512_add_pd(_mm512_mul_pd(z, all(128.0)), all(ROUND));
    let c = _mm512_mul_pd(_mm512_sub_pd(whole, all(ROUND)), all(1.0 / 128.0));
    let d = _mm512_sub_pd(z, c);
    let place = _mm512_and_si512(_mm512_castpd_si512(whole), _mm512_set1_epi64(0xff));
    let place = _mm512_sub_epi64(place, _mm512_set1_epi64(FIRST as i64));
    let (high, low) = gather(&LOGARITHMS, place);
    Reduced { exponent, c, d, high, low }
}

/// `d / c` in two parts, and between them the upper bits of the first one.
#[target_feature(enable = "avx512f")]
#[inline]
fn quotient(d: __m512d, c: __m512d) -> (__m512d, __m512d, __m512d) {
    let r = _mm512_div_pd(d, c);
    let first = upper(r);
    let rest = _mm512_sub_pd(d, _mm512_mul_pd(first, c));
    let rest = _mm512_sub_pd(rest, _mm512_mul_pd(_mm512_sub_pd(r, first), c));
    (r, first, _mm512_div_pd(rest, c))
}

/// The upper 26 bits of numbers.
#[target_feature(enable = "avx512f")]
#[inline]
fn upper(x: __m512d) -> __m512d {
    _mm512_castsi512_pd(_mm512_and_si512(_mm512_castpd_si512(x), _mm512_set1_epi64(UPPER as i64)))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn ln(x: __m512d) -> __m512d {
    let (sum, tail) = ln_parts(x);
    ln_or_end(x, _mm512_add_pd(sum, tail))
}

#[target_feature(enable = "avx512f")]
#[inline]
fn log2(x: __m512d) -> __m512d {
    ln_scaled(x, LOG2_E)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn log10(x: __m512d) -> __m512d {
    ln_scaled(x, LOG10_E)
}

/// Logarithms times a factor in two parts.
#[target_feature(enable = "avx512f")]
#[inline]
fn ln_scaled(x: __m512d, factor: [f64; 2]) -> __m512d {
    let (sum, tail) = ln_parts(x);
    let first = upper(sum);
    let rest = _mm512_add_pd(_mm512_sub_pd(sum, first), tail);
    let rest = _mm512_mul_pd(rest, all(factor[0] + factor[1]));
    let rest = _mm512_add_pd(rest, _mm512_mul_pd(first, all(factor[1])));
    ln_or_end(x, _mm512_add_pd(_mm512_mul_pd(first, all(factor[0])), rest))
}

/// Natural logarithms in two parts.
#[target_feature(enable = "avx512f")]
#[inline]
fn ln_parts(x: __m512d) -> (__m512d, __m512d) {
    let Reduced { exponent, c, d, high, low } = ln_reduced(x);
    let (r, _, rest) = quotient(d, c);
    let large = _mm512_add_pd(_mm512_mul_pd(exponent, all(LN2[0])), high);
    let sum = _mm512_add_pd(large, r);
    let lost = _mm512_add_pd(_mm512_sub_pd(large, sum), r);
    let p = polynomial(r, [-0.5, 1.0 / 3.0, -0.25, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0, -1.0 / 8.0, 1.0 / 9.0]);
    let p = _mm512_mul_pd(_mm512_mul_pd(r, r), p);
    let tail = _mm512_add_pd(_mm512_mul_pd(exponent, all(LN2[1])), low);
    let tail = _mm512_add_pd(_mm512_add_pd(tail, rest), p);
    (sum, _mm512_add_pd(lost, tail))
}

/// Logarithms of numbers, or what they are at the ends.
#[target_feature(enable = "avx512f")]
#[inline]
fn ln_or_end(x: __m512d, y: __m512d) -> __m512d {
    let infinite = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(x, all(f64::INFINITY));
    let zero = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(x, all(0.0));
    let number = _mm512_cmp_pd_mask::<_CMP_GE_OQ>(x, all(0.0));
    let y = _mm512_mask_mov_pd(y, infinite, x);
    let y = _mm512_mask_mov_pd(y, zero, all(f64::NEG_INFINITY));
    _mm512_mask_mov_pd(all(f64::NAN), number, y)
}

#[target_feature(enable = "avx512f")]
#[inline]
fn pow(numbers: &mut Lanes, exponents: &Lanes) {
    let (x, y) = (load_lanes(numbers), load_lanes(exponents));
    let Reduced { exponent, c, d, high, low } = ln_reduced(x);
    let (r, first, rest) = quotient(d, c);
    let large = _mm512_add_pd(_mm512_mul_pd(exponent, all(LN2[0])), high);
    let sum = _mm512_add_pd(large, r);
    let lost = _mm512_add_pd(_mm512_sub_pd(large, sum), r);
    let square = _mm512_mul_pd(all(0.5), _mm512_mul_pd(first, first));
    let part = _mm512_mul_pd(_mm512_sub_pd(r, first), _mm512_add_pd(r, first));
    let part = _mm512_mul_pd(all(0.5), part);
    let head = _mm512_sub_pd(sum, square);
    let lost = _mm512_add_pd(lost, _mm512_sub_pd(_mm512_sub_pd(sum, head), square));
    let p = polynomial(r, [1.0 / 3.0, -0.25, 1.0 / 5.0, -1.0 / 6.0, 1.0 / 7.0, -1.0 / 8.0, 1.0 / 9.0]);
    let p = _mm512_mul_pd(_mm512_mul_pd(_mm512_mul_pd(r, r), r), p);
    let tail = _mm512_add_pd(_mm512_mul_pd(exponent, all(LN2[1])), low);
    let tail = _mm512_add_pd(tail, _mm512_sub_pd(rest, _mm512_mul_pd(r, rest)));
    let tail = _mm512_add_pd(lost, _mm512_add_pd(_mm512_sub_pd(tail, part), p));
    let ln = _mm512_add_pd(head, tail);
    let behind = _mm512_add_pd(_mm512_sub_pd(head, ln), tail);
    let product = _mm512_mul_pd(y, ln);
    let (y_first, ln_first) = (upper(y), upper(ln));
    let (y_rest, ln_rest) = (_mm512_sub_pd(y, y_first), _mm512_sub_pd(ln, ln_first));
    let crossed = _mm512_add_pd(_mm512_mul_pd(y_first, ln_rest), _mm512_mul_pd(y_rest, ln_first));
    let lost = _mm512_add_pd(_mm512_sub_pd(_mm512_mul_pd(y_first, ln_first), product), crossed);
    let lost = _mm512_add_pd(lost, _mm512_mul_pd(y_rest, ln_rest));
    let low = _mm512_add_pd(lost, _mm512_mul_pd(y, behind));

    let parts = exp_parts(within(product));
    let r = _mm512_add_pd(parts.r, _mm512_add_pd(parts.lost, low));
    let found = exp_finished(Parts { r, ..parts });
    let square = _mm512_mul_pd(x, x);
    let two = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(y, all(2.0));
    let three = _mm512_cmp_pd_mask::<_CMP_EQ_OQ>(y, all(3.0));
    let found = _mm512_mask_mov_pd(found, two, square);
    let found = _mm512_mask_mov_pd(found, three, _mm512_mul_pd(square, x));
    let plain = _mm512_cmp_pd_mask::<_CMP_GT_OQ>(x, all(0.0))
        & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(x, all(f64::INFINITY))
        & _mm512_cmp_pd_mask::<_CMP_LT_OQ>(_mm512_abs_pd(product), all(MAX_POW_EXPONENT));
    let mut results = [0.0; LANES];
    store_lanes(found, &mut results);
    set_lanes(!(plain | two | three), &mut results, |lane| {
        crate::elementary::pow(numbers[lane], exponents[lane])
    });
    *numbers = results;
}
