//! Elementary functions beside exact sums of their series.

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

/// The distance of a result from the exact one, in units of its last place.
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
    let close = |pair: Pair, exact: &BigInt| {
        (fixed(pair[0]) + fixed(pair[1]) - exact).abs() < BigInt::one() << (BITS - 92)
    };
    for (j, pair) in POWERS.iter().enumerate() {
        assert!(close(*pair, &series(&(&ln2 * j / 128))), "{j}");
    }
    for (m, pair) in LOGARITHMS.iter().enumerate() {
        assert!(close(*pair, &logarithm(&(one() * (m + 90) / 128))), "{m}");
        assert_eq!((pair[0] * 2f64.powi(41)).fract(), 0.0);
    }
    assert!(close(LN2, &ln2) && close(LN2_128, &(&ln2 / 128)));
}

#[test]
fn results_are_within_little_more_than_half_a_unit() {
    let mut random = fastrand::Rng::with_seed(5);
    let ln2 = ln2();
    let ln10 = logarithm(&fixed(1.25)) + &ln2 * 3;
    let mut worst = [0.0f64; 4];
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
            worst[2] = worst[2].max(error(log2(x), &quotient(&exact, &ln2)));
            worst[3] = worst[3].max(error(log10(x), &quotient(&exact, &ln10)));
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
    assert_eq!([tanh(inf), tanh(-inf), tanh(25.0), tanh(5e-324)], [1.0, -1.0, 1.0, 5e-324]);
    assert!(tanh(f64::NAN).is_nan() && tanh(-0.0).is_sign_negative() && atan(f64::NAN).is_nan());
    assert!(ln(-1.0).is_nan() && ln(f64::NAN).is_nan() && ln(-inf).is_nan());
    assert!(
        (ln(5e-324) + 744.4400719213812).abs() < 1e-12 && (ln(f64::MAX) - 709.782712893384).abs() < 1e-12
    );
}

/// cos x and sin x for |x| < 20, by their series.
fn circular(x: &BigInt) -> [BigInt; 2] {
    let (mut term, mut sums) = (one(), [one(), BigInt::zero()]);
    for n in 1..150usize {
        term = times(&term, x) / n;
        if n % 4 < 2 { sums[n % 2] += &term } else { sums[n % 2] -= &term }
    }
    sums
}

fn quotient(a: &BigInt, b: &BigInt) -> BigInt {
    (a << BITS) / b
}

/// Returns true if an increasing function takes two units below and above `found` to either side of
/// `x`: then `found` is within two units of where it takes `x`.
fn inverse(found: f64, x: f64, function: impl Fn(&BigInt) -> BigInt) -> bool {
    let ulp = fixed(f64::from_bits(found.abs().to_bits() + 1)) - fixed(found.abs());
    let (found, x) = (fixed(found), fixed(x));
    function(&(&found - &ulp * 2)) < x && x < function(&(found + ulp * 2))
}

#[test]
fn other_functions_are_within_two_units() {
    let mut random = fastrand::Rng::with_seed(9);
    let ln2 = ln2();
    // e^x for |x| < 100, times 2^-whole.
    let scaled_exp = |x: &BigInt| {
        let whole: BigInt = x / &ln2;
        (series(&(x - &ln2 * &whole)), whole.to_i32().unwrap_or(0))
    };
    let mut worst = [0.0f64; 5];
    for round in 0..2_000 {
        let x = match round % 3 {
            0 => random.f64() * 30.0 - 15.0,
            1 => random.f64() * 2.0 - 1.0,
            _ => (random.f64() - 0.5) * 2f64.powi(-random.i32(0..30)),
        };
        let exact = fixed(x);
        let [cosine, sine] = circular(&exact);
        let mut check =
            |at: usize, found: f64, exact: &BigInt| worst[at] = worst[at].max(error(found, exact));
        check(0, sin(x), &sine);
        check(1, cos(x), &cosine);
        check(2, tan(x), &quotient(&sine, &cosine));
        // tanh x = (e^2x - 1) / (e^2x + 1), and odd.
        let (power, whole) = scaled_exp(&(exact.abs() * 2));
        let power = power << whole;
        check(3, tanh(x.abs()), &quotient(&(&power - one()), &(&power + one())));
        let (base, exponent) = (0.5 + random.f64(), x * 4.0);
        let (power, whole) = scaled_exp(&times(&logarithm(&fixed(base)), &fixed(exponent)));
        check(4, pow(base, exponent) * 2f64.powi(-whole), &power);
        let unit = x.sin();
        assert!(inverse(asin(unit), unit, |y| circular(y)[1].clone()), "asin {unit:e}");
        assert!(inverse(-acos(unit), unit, |y| circular(y)[0].clone()), "acos {unit:e}");
        let tangent = |y: &BigInt| {
            let [cosine, sine] = circular(y);
            quotient(&sine, &cosine)
        };
        assert!(inverse(atan(x), x, tangent), "atan {x:e}");
        let y = random.f64() * 3.0;
        let ratio = |a: &BigInt| quotient(&times(&tangent(a), &fixed(y)), &one());
        assert!(inverse(atan2(x, y), x, ratio), "atan2 {x:e} {y:e}");
        assert_eq!(
            pow_single(base as f32, x as f32),
            pow(f64::from(base as f32), f64::from(x as f32)) as f32
        );
    }
    assert!(worst.iter().all(|worst| *worst < 1.6), "{worst:?}");
}

#[test]
fn arc_tangents_are_those_of_the_library() {
    let mut random = fastrand::Rng::with_seed(10);
    let ends = [0.0, -0.0, 5e-324, 1e-310, 0.4375, 0.6875, 1.1875, -2.4375, 1e300, f64::INFINITY];
    let near = |random: &mut fastrand::Rng| (random.f64() - 0.5) * 2f64.powi(random.i32(-40..80));
    let numbers =
        (0..20_000).map(|i| if i % 2 == 0 { f64::from_bits(random.u64(..)) } else { near(&mut random) });
    for x in numbers.collect::<Vec<_>>().into_iter().chain(ends) {
        let (found, wanted) = (atan(x), libm::atan(x));
        assert!(found.to_bits() == wanted.to_bits() || found.is_nan() && wanted.is_nan(), "{x:e}");
    }
}

#[test]
fn small_powers_are_products() {
    let mut random = fastrand::Rng::with_seed(11);
    for _ in 0..2_000 {
        let x = (random.f64() - 0.5) * 2f64.powi(random.i32(-60..60));
        assert_eq!(pow(x, 2.0), x * x);
        for (found, exact) in [(pow(x, 2.0), libm::pow(x, 2.0)), (pow(x, 3.0), libm::pow(x, 3.0))] {
            assert!((found.to_bits() as i64 - exact.to_bits() as i64).abs() <= 2, "{x:e}");
        }
    }
    assert_eq!(
        [pow(-2.0, 3.0), pow(-0.0, 3.0), pow(f64::NEG_INFINITY, 3.0)],
        [-8.0, -0.0, f64::NEG_INFINITY]
    );
}

#[test]
fn powers_are_within_little_more_than_half_a_unit() {
    let mut random = fastrand::Rng::with_seed(12);
    let ln2 = ln2();
    let mut worst = 0.0f64;
    for round in 0..6_000 {
        let x = match round % 4 {
            0 => random.f64() * 4.0,
            1 => 1.0 + (random.f64() - 0.5) * 2f64.powi(-random.i32(0..50)),
            2 => random.f64() * 1e-3,
            _ => (1.0 + random.f64()) * 2f64.powi(random.i32(-1022..1022)),
        };
        let bits = ((x.to_bits() >> 52) & 0x7ff) as i64 - 1023;
        let logarithm = logarithm(&fixed(x * 2f64.powi(-bits as i32))) + &ln2 * bits;
        // Exponents for which the result is in range, small and large.
        let most = (690.0 / x.ln().abs()).min(1e12);
        let y = if round % 3 == 0 { random.f64() * 4.0 - 2.0 } else { (random.f64() * 2.0 - 1.0) * most };
        let exponent = times(&logarithm, &fixed(y));
        if exponent.abs() > one() * 690 {
            continue;
        }
        let whole: BigInt = &exponent / &ln2;
        let exact = series(&(exponent - &ln2 * &whole));
        let found = pow(x, y) * 2f64.powi(-whole.to_i32().unwrap_or(0));
        let error = error(found, &exact);
        assert!(error < 0.55, "{x:e} to the {y:e}: {error}");
        worst = worst.max(error);
    }
    assert!(worst > 0.4, "nothing was tried: {worst}");
}

#[test]
fn powers_at_the_ends_are_those_of_the_library() {
    let inf = f64::INFINITY;
    let numbers =
        [0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, inf, -inf, f64::NAN, 5e-324, -5e-324, 1e300, f64::MAX];
    let exponents =
        [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 5.0, -5.0, 1e10, -1e10, 1e300, inf, -inf, f64::NAN, 1074.0];
    for x in numbers {
        for y in exponents {
            let (found, wanted) = (pow(x, y), libm::pow(x, y));
            let near = (found.to_bits() as i64).abs_diff(wanted.to_bits() as i64) <= 1;
            assert!(
                near || found.is_nan() && wanted.is_nan(),
                "{x:e} to the {y:e}: {found:e}, not {wanted:e}"
            );
        }
    }
    // What is a number is that number.
    for (x, y, exact) in
        [(10.0, 5.0, 1e5), (10.0, 22.0, 1e22), (3.0, 4.0, 81.0), (4.0, 0.5, 2.0), (2.0, -1074.0, 5e-324)]
    {
        assert_eq!(pow(x, y), exact);
    }
    assert!(pow(2.0, 1024.0) == inf && pow(2.0, -1076.0) == 0.0 && pow(2.0, 1023.5) < inf);
}

/// Computes a function of the table of special functions.
fn special(name: &str, args: &[f64]) -> f64 {
    let x = args[0];
    match name {
        "erf" => erf(x),
        "erfc" => erfc(x),
        "gamma" => gamma(x),
        "lgamma" => lgamma(x),
        "log10" => log10(x),
        "log2" => log2(x),
        "log1p" => log1p(x),
        "expm1" => expm1(x),
        "sinh" => sinh(x),
        "cosh" => cosh(x),
        "cbrt" => cbrt(x),
        "hypot" => hypot(x, args[1]),
        _ => panic!("no function {name}"),
    }
}

/// Values by mpmath, at random points and where the methods change.
#[test]
fn special_functions_are_within_their_bounds() {
    let bounds = [
        ("erf", 1.0),
        ("erfc", 1.5),
        ("gamma", 4.0),
        ("lgamma", 4.0),
        ("log10", 1.0),
        ("log2", 1.0),
        ("log1p", 1.0),
        ("expm1", 1.0),
        ("sinh", 2.0),
        ("cosh", 2.0),
        ("cbrt", 0.5 + 1e-9),
        ("hypot", 1.0),
    ];
    let float = |bits: &str| f64::from_bits(u64::from_str_radix(bits, 16).expect("bits"));
    let (mut worst, mut lines) = (std::collections::BTreeMap::new(), 0);
    for line in include_str!("special.tsv").lines().filter(|line| !line.starts_with('#')) {
        let fields: Vec<&str> = line.split('\t').collect();
        let args: Vec<f64> = fields[1].split(',').map(float).collect();
        let (value, rest) = (float(fields[2]), fields[3].parse::<f64>().expect("a number"));
        let error = (special(fields[0], &args) - value - rest).abs();
        let ulp = f64::from_bits(value.abs().to_bits() + 1) - value.abs();
        let mut ulps = error / ulp;
        // Near its zeros, lgamma has an absolute bound.
        if fields[0] == "lgamma" && error <= 4.0 * f64::EPSILON {
            ulps = 0.0;
        }
        let most = worst.entry(fields[0]).or_insert((0.0, f64::NAN));
        if ulps.is_nan() || ulps > most.0 {
            *most = (ulps, args[0]);
        }
        lines += 1;
    }
    assert!(lines > 1_700 && worst.len() == bounds.len());
    for (name, bound) in bounds {
        let (ulps, at) = worst[name];
        assert!(ulps <= bound, "{name} is off by {ulps} ulp at {at:e}: {worst:?}");
    }
}

/// Sines and cosines of angles of all sizes are those of `libm`, but for single ones next to
/// multiples of π/2, which are known to more digits here.
#[test]
fn sines_are_those_of_fdlibm() {
    let mut random = fastrand::Rng::with_seed(31);
    let mut other = 0;
    for round in 0..300_000 {
        let x = match round % 4 {
            0 => (random.f64() - 0.5) * 3.2e6,
            1 => (random.f64() - 0.5) * 20.0,
            2 => f64::from(random.i32(-1_000_000..1_000_000)) * std::f64::consts::FRAC_PI_2,
            _ => f64::from_bits(random.u64(..)),
        };
        for (found, known) in [(sin(x), libm::sin(x)), (cos(x), libm::cos(x))] {
            let apart = found.to_bits().abs_diff(known.to_bits());
            assert!(apart <= 1 || found.is_nan() && known.is_nan(), "{x:e}: {found:e} and {known:e}");
            other += u32::from(apart == 1);
        }
    }
    assert!(other < 10, "{other} of 600 000 differ");
    assert!(sin(-0.0).is_sign_negative() && sin(5e-324) == 5e-324 && cos(0.0) == 1.0);
}

/// Logarithms of powers of the base are whole, those of subnormal numbers too, and the ends are
/// those of `ln`.
#[test]
fn logarithms_of_powers_are_whole() {
    for k in -1074..1024 {
        assert_eq!(log2(f64::powi(2.0, k.max(-1022)) * f64::powi(2.0, k - k.max(-1022))), f64::from(k));
    }
    for k in 0..309 {
        let power: f64 = format!("1e{k}").parse().expect("a number");
        assert_eq!(log10(power), f64::from(k));
    }
    for (x, y) in [(0.0, f64::NEG_INFINITY), (-0.0, f64::NEG_INFINITY), (f64::INFINITY, f64::INFINITY)] {
        assert_eq!([log2(x), log10(x)], [y, y]);
    }
    assert!(log2(-1.0).is_nan() && log10(f64::NAN).is_nan() && log10(f64::NEG_INFINITY).is_nan());
}

/// Arc sines, arc cosines and angles of points are those of `libm`, in all bits but those of what is
/// not a number.
#[test]
fn inverse_functions_are_those_of_fdlibm() {
    let mut random = fastrand::Rng::with_seed(37);
    let ends = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 0.975, 5e-324, 1e300, f64::INFINITY, f64::NEG_INFINITY];
    let mut number = |round: i32| match round % 5 {
        0 => random.f64() * 2.0 - 1.0,
        1 => (1.0 - 2f64.powi(-random.i32(0..53))) * if random.bool() { 1.0 } else { -1.0 },
        2 => (random.f64() - 0.5) * 2f64.powi(-random.i32(0..60)),
        3 => ends[random.usize(..ends.len())],
        _ => f64::from_bits(random.u64(..)),
    };
    let same =
        |found: f64, known: f64| found.to_bits() == known.to_bits() || found.is_nan() && known.is_nan();
    for round in 0..200_000 {
        let (x, y) = (number(round), number(round / 5));
        assert!(same(asin(x), libm::asin(x)), "asin {x:e}: {:e} {:e}", asin(x), libm::asin(x));
        assert!(same(acos(x), libm::acos(x)), "acos {x:e}: {:e} {:e}", acos(x), libm::acos(x));
        assert!(same(atan2(y, x), libm::atan2(y, x)), "atan2 {y:e} {x:e}: {:e}", atan2(y, x));
    }
}
