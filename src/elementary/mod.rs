//! Elementary functions, the same on every machine: `exp` and `ln` of binary64.
//!
//! The functions of the system's library differ from one system to the next, and take one number at a time. These
//! consist of additions and multiplications that are rounded one by one, in one order, so they give the same bits
//! everywhere, whether a number is computed by itself ([`exp`]) or a whole block by vectors ([`exp_all`]).
//!
//! **Method.** Both are the table-driven methods of P. T. P. Tang (ACM Transactions on Mathematical Software 15 (1989) and
//! 16 (1990)): `exp x = 2^m * 2^(j/128) * exp r` with `|r| < ln 2 / 256`; `ln x = k ln 2 + ln c + ln (1 + r)` with `c = m / 128` near the
//! fraction of `x`, so that `x - c` is exact, and `r` known to twice the precision. What is rounded last is a large number plus a
//! small one, so the error is little more than half a unit in the last place: below 0.52 ulp, as the tests find
//! over millions of numbers (they allow 0.55).
//!
//! No branches: the loops of blocks become vectors, whatever processor the compiler is told of.

mod tables;

use tables::{LN2, LN2_128, LOGARITHMS, POWERS};

/// 1.5 * 2^52: added and taken away again, it rounds to a whole number, which stands in the lower bits meanwhile.
const ROUND: f64 = 6_755_399_441_055_744.0;

/// e to the power of `x`.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    let (k, r) = exp_reduced(x);
    exp_finished(k, r, POWERS[(k & 127) as usize])
}

/// `x` as `k ln 2 / 128 + r`; the low bits of `k` count.
#[inline(always)]
fn exp_reduced(x: f64) -> (i64, f64) {
    // Beyond these the result is 0 or infinite anyway. NaN stays.
    let x = if x > 710.0 { 710.0 } else { x };
    let x = if x < -750.0 { -750.0 } else { x };
    let whole = x * (128.0 * std::f64::consts::LOG2_E) + ROUND;
    let n = whole - ROUND;
    (whole.to_bits() as i64, (x - n * LN2_128.0) - n * LN2_128.1)
}

/// The result, with what the table has for `k`.
#[inline(always)]
fn exp_finished(k: i64, r: f64, (high, low): (f64, f64)) -> f64 {
    let r2 = r * r;
    let p = r + r2 * (0.5 + r * (1.0 / 6.0 + r * (1.0 / 24.0 + r * (1.0 / 120.0))));
    let y = high + (low + high * p);
    // 2^m in two steps: m goes from -1083 to 1024.
    let m = (k << 13) >> 20;
    let half = m >> 1;
    y * power(half) * power(m - half)
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
    /// Where the table has `ln c`.
    #[inline(always)]
    fn place(self) -> usize {
        ((self.bits & 0xff) as usize).wrapping_sub(90).min(LOGARITHMS.len() - 1)
    }
}

#[inline(always)]
fn ln_reduced(x: f64) -> Reduced {
    // Subnormal numbers are made larger.
    let small = x < f64::MIN_POSITIVE;
    let scaled = if small { x * 18_014_398_509_481_984.0 } else { x };
    let bits = scaled.to_bits() as i64;
    // The fraction lies from 0.703 to 1.406: its bits begin at those of 0.703125.
    const LEAST: i64 = 0x3fe6_8000_0000_0000;
    let k = bits.wrapping_sub(LEAST) >> 52;
    let z = f64::from_bits(bits.wrapping_sub(k << 52) as u64);
    // A whole number of a few bits as a float: by way of the number that rounds.
    let exponent = f64::from_bits((ROUND.to_bits() as i64).wrapping_add(k) as u64) - ROUND;
    let exponent = if small { exponent - 54.0 } else { exponent };
    let whole = z * 128.0 + ROUND;
    let c = (whole - ROUND) * (1.0 / 128.0);
    Reduced { exponent, c, d: z - c, bits: whole.to_bits() }
}

#[inline(always)]
fn ln_finished(x: f64, reduced: Reduced, (high, low): (f64, f64)) -> f64 {
    let Reduced { exponent, c, d, .. } = reduced;
    // d / c in two parts: the first one times c in exact pieces, what is left over divided again.
    let r = d / c;
    let upper = f64::from_bits(r.to_bits() & 0xffff_ffff_f800_0000);
    let rest = ((d - upper * c) - (r - upper) * c) / c;
    let large = exponent * LN2.0 + high;
    let sum = large + r;
    let lost = (large - sum) + r;
    let r2 = r * r;
    let p = 1.0 / 5.0 + r * (-1.0 / 6.0 + r * (1.0 / 7.0 + r * (-1.0 / 8.0 + r * (1.0 / 9.0))));
    let p = r2 * (-0.5 + r * (1.0 / 3.0 + r * (-0.25 + r * p)));
    let y = sum + (lost + (((exponent * LN2.1 + low) + rest) + p));
    let y = if x == f64::INFINITY { x } else { y };
    let y = if x == 0.0 { f64::NEG_INFINITY } else { y };
    if x >= 0.0 { y } else { f64::NAN }
}

/// Numbers that are done together: what is looked up stands apart from the arithmetic, so that this becomes vectors.
const BLOCK: usize = 16;

/// [`exp`] of each number, in place.
#[inline(always)]
pub fn exp_all(numbers: &mut [f64]) {
    let (blocks, rest) = numbers.as_chunks_mut::<BLOCK>();
    for block in blocks {
        let (mut k, mut r) = ([0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            (k[i], r[i]) = exp_reduced(block[i]);
        }
        let (mut high, mut low) = ([0.0; BLOCK], [0.0; BLOCK]);
        for i in 0..BLOCK {
            (high[i], low[i]) = POWERS[(k[i] & 127) as usize];
        }
        for i in 0..BLOCK {
            block[i] = exp_finished(k[i], r[i], (high[i], low[i]));
        }
    }
    rest.iter_mut().for_each(|x| *x = exp(*x));
}

/// [`ln`] of each number, in place.
#[inline(always)]
pub fn ln_all(numbers: &mut [f64]) {
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
            (high[i], low[i]) = LOGARITHMS[at(i).place()];
        }
        for i in 0..BLOCK {
            block[i] = ln_finished(block[i], at(i), (high[i], low[i]));
        }
    }
    rest.iter_mut().for_each(|x| *x = ln(*x));
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_bigint::BigInt;
    use num_traits::{One, Signed, ToPrimitive, Zero};

    /// Bits after the point of the numbers that results are compared with.
    const BITS: u64 = 200;

    fn one() -> BigInt {
        BigInt::one() << BITS
    }

    fn times(a: &BigInt, b: &BigInt) -> BigInt {
        (a * b) >> BITS
    }

    /// A number of at most some hundred as a whole number of 2^-200, exactly.
    fn fixed(x: f64) -> BigInt {
        let (bits, sign) = (x.to_bits(), if x < 0.0 { -1 } else { 1 });
        let exponent = ((bits >> 52) & 0x7ff) as i64;
        let fraction =
            if exponent == 0 { (bits << 1) & ((1 << 53) - 1) } else { bits & ((1 << 52) - 1) | 1 << 52 };
        let shift = exponent - 1075 + BITS as i64;
        let whole = BigInt::from(fraction) * sign;
        if shift >= 0 { whole << shift } else { whole >> -shift }
    }

    /// e^x for |x| < 1, by its series.
    fn series(x: &BigInt) -> BigInt {
        let (mut term, mut sum) = (one(), one());
        for n in 1..80 {
            term = times(&term, x) / n;
            sum += &term;
        }
        sum
    }

    /// ln 2, by atanh: ln 2 = 2 atanh (1/3).
    fn ln2() -> BigInt {
        atanh(&(one() / 3)) * 2
    }

    fn atanh(x: &BigInt) -> BigInt {
        let square = times(x, x);
        let (mut term, mut sum) = (x.clone(), x.clone());
        for n in 1..130 {
            term = times(&term, &square);
            sum += &term / (2 * n + 1);
        }
        sum
    }

    /// ln x of a fraction from 0.5 to 2.
    fn logarithm(x: &BigInt) -> BigInt {
        atanh(&(((x - one()) << BITS) / (x + one()))) * 2
    }

    /// How far a result is from the exact one, in units of its last place.
    fn error(found: f64, exact: &BigInt) -> f64 {
        let ulp = fixed(f64::from_bits(found.abs().to_bits() + 1)) - fixed(found.abs());
        let difference = fixed(found) - exact;
        // Twelve digits of the quotient will do.
        let quotient: BigInt = (difference.abs() << 40u32) / ulp;
        quotient.to_f64().unwrap_or(f64::INFINITY) / 2f64.powi(40)
    }

    #[test]
    fn tables_are_right() {
        let ln2 = ln2();
        let close = |pair: (f64, f64), exact: &BigInt| {
            (fixed(pair.0) + fixed(pair.1) - exact).abs() < BigInt::one() << (BITS - 92)
        };
        for (j, pair) in POWERS.iter().enumerate() {
            assert!(close(*pair, &series(&(&ln2 * j / 128))), "{j}");
        }
        for (m, pair) in LOGARITHMS.iter().enumerate() {
            assert!(close(*pair, &logarithm(&(one() * (m + 90) / 128))), "{m}");
            assert_eq!((pair.0 * 2f64.powi(41)).fract(), 0.0);
        }
        assert!(close(LN2, &ln2) && close(LN2_128, &(&ln2 / 128)));
    }

    #[test]
    fn results_are_within_little_more_than_half_a_unit() {
        let mut random = fastrand::Rng::with_seed(5);
        let ln2 = ln2();
        let mut worst = [0.0f64; 2];
        for round in 0..6_000 {
            let x = match round % 3 {
                0 => random.f64() * 200.0 - 100.0,
                1 => random.f64() * 2.0 - 1.0,
                _ => (random.f64() - 0.5) * 2f64.powi(-random.i32(0..30)),
            };
            let whole = (x / std::f64::consts::LN_2).round();
            let exact = series(&(fixed(x) - &ln2 * whole as i64));
            let scaled = exp(x) * 2f64.powi(-whole as i32);
            worst[0] = worst[0].max(error(scaled, &exact));
            let x = match round % 3 {
                0 => random.f64() * 2f64.powi(random.i32(-1000..1000)),
                1 => 1.0 + (random.f64() - 0.5) * 2f64.powi(-random.i32(0..40)),
                _ => random.f64() * 4.0,
            };
            let exponent = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
            let fraction = x * 2f64.powi(-(exponent as i32));
            let exact = logarithm(&fixed(fraction)) + &ln2 * exponent;
            if !exact.is_zero() {
                worst[1] = worst[1].max(error(ln(x), &exact));
            }
        }
        assert!(worst.iter().all(|worst| *worst < 0.55), "{worst:?}");
    }

    #[test]
    fn ends_are_what_they_should_be() {
        let inf = f64::INFINITY;
        assert_eq!(
            [exp(0.0), exp(-0.0), exp(inf), exp(-inf), exp(710.0), exp(-746.0)],
            [1.0, 1.0, inf, 0.0, inf, 0.0]
        );
        assert_eq!([exp(1.0), exp(709.782712893384)], [std::f64::consts::E, 1.7976931348622732e308]);
        assert!(exp(-745.0) == 5e-324 && exp(-740.0) > 0.0 && exp(f64::NAN).is_nan());
        assert_eq!([ln(1.0), ln(0.0), ln(-0.0), ln(inf)], [0.0, -inf, -inf, inf]);
        assert_eq!(ln(2.0), std::f64::consts::LN_2);
        assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(-inf).is_nan());
        assert!(
            (ln(5e-324) + 744.4400719213812).abs() < 1e-12 && (ln(f64::MAX) - 709.782712893384).abs() < 1e-12
        );
    }
}
