//! Deceptive types: pairs that agree at the points of evaluation, cells of zeros, powers and pairs
//! at the bounds. A verdict of "natural" must hold everywhere.

use crate::iso_support::{ty, variable};
use felis_calculus::iso::fingerprint;
use felis_calculus::iso::residue::{self, Ring};
use felis_calculus::iso::{Verdict, compare, exact, verdict};
use felis_calculus::types::{Triangle, Type};
use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Signed, ToPrimitive, Zero};

/// A small pseudorandom generator, deterministic for one seed.
struct Numbers(u64);

impl Numbers {
    /// Makes a generator seeded by `FELIS_SEED`, which is printed.
    fn new() -> Numbers {
        let seed = std::env::var("FELIS_SEED").ok().and_then(|n| n.parse().ok()).unwrap_or(11);
        println!("FELIS_SEED={seed}");
        Numbers(seed)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

fn n(k: impl Into<BigUint>) -> Type {
    Type::unit_sum(k.into())
}

/// Reduces a lattice basis in integers (the LLL algorithm; H. Cohen, *A Course in Computational
/// Algebraic Number Theory*, 2.6.7).
fn reduce(mut b: Vec<Vec<BigInt>>) -> Vec<Vec<BigInt>> {
    let dot = |a: &[BigInt], b: &[BigInt]| a.iter().zip(b).map(|(x, y)| x * y).sum::<BigInt>();
    let size = b.len();
    // d[i + 1] is the determinant of the first i + 1 vectors, lambda[i][j] = d[j + 1] · mu[i][j].
    let mut d = vec![BigInt::one(); size + 1];
    let mut lambda = vec![vec![BigInt::zero(); size]; size];
    let orthogonalize = |b: &[Vec<BigInt>], d: &mut [BigInt], lambda: &mut [Vec<BigInt>], k: usize| {
        for j in 0..=k {
            let mut u = dot(&b[k], &b[j]);
            for i in 0..j {
                u = (&d[i + 1] * u - &lambda[k][i] * &lambda[j][i]) / &d[i];
            }
            if j < k { lambda[k][j] = u } else { d[k + 1] = u }
        }
    };
    orthogonalize(&b, &mut d, &mut lambda, 0);
    let (mut k, mut known) = (1, 0);
    while k < size {
        if k > known {
            known = k;
            orthogonalize(&b, &mut d, &mut lambda, k);
        }
        let shorten = |b: &mut Vec<Vec<BigInt>>, lambda: &mut Vec<Vec<BigInt>>, l: usize| {
            if (&lambda[k][l] * 2i32).abs() <= d[l + 1] {
                return;
            }
            let q: BigInt = (&lambda[k][l] * 2i32 + &d[l + 1]).div_floor(&(&d[l + 1] * 2i32));
            let other = b[l].clone();
            b[k].iter_mut().zip(&other).for_each(|(x, y)| *x -= &q * y);
            lambda[k][l] -= &q * &d[l + 1];
            let less: Vec<BigInt> = lambda[l][..l].iter().map(|x| &q * x).collect();
            lambda[k].iter_mut().zip(less).for_each(|(x, less)| *x -= less);
        };
        shorten(&mut b, &mut lambda, k - 1);
        let square = |x: &BigInt| x * x;
        let left: BigInt = (&d[k + 1] * &d[k - 1] + square(&lambda[k][k - 1])) * 4i32;
        if left < square(&d[k]) * 3i32 {
            b.swap(k, k - 1);
            let (upper, lower) = lambda.split_at_mut(k);
            upper[k - 1][..k - 1].swap_with_slice(&mut lower[0][..k - 1]);
            let l = lambda[k][k - 1].clone();
            let new = (&d[k - 1] * &d[k + 1] + &l * &l) / &d[k];
            for row in lambda.iter_mut().take(known + 1).skip(k + 1) {
                let t = row[k].clone();
                row[k] = (&d[k + 1] * &row[k - 1] - &l * &t) / &d[k];
                row[k - 1] = (&new * t + &l * &row[k]) / &d[k + 1];
            }
            d[k] = new;
            k = (k - 1).max(1);
        } else {
            for l in (0..k - 1).rev() {
                shorten(&mut b, &mut lambda, l);
            }
            k += 1;
        }
    }
    b
}

const NAMES: [&str; 6] = ["N", "M", "K", "L", "P", "Q"];

/// Returns two sizes that agree at the valuations, and modulo the numbers, at which the decision
/// procedure evaluates.
fn deceptive(g: &mut Numbers, monomials: usize) -> (Type, Type) {
    let mut chosen: Vec<Vec<usize>> = vec![Vec::new()];
    while chosen.len() < monomials {
        let mut next: Vec<usize> = (0..1 + g.below(3)).map(|_| g.below(6) as usize).collect();
        next.sort_unstable();
        if !chosen.contains(&next) {
            chosen.push(next);
        }
    }
    let modulus = |which: usize| {
        let p = BigInt::from(Ring::new(which, 2).prime());
        &p * (&p - 1i32)
    };
    let value = |which: usize, name: usize| {
        let felis_calculus::types::TypeKind::Var(var) = variable(NAMES[name]).kind().clone() else {
            unreachable!()
        };
        BigInt::from(residue::pseudorandom(&[which as u64, 2, u64::from(var.id)]) | 1 << 60)
    };
    let weight = BigInt::one() << 40;
    let mut basis: Vec<Vec<BigInt>> = Vec::new();
    for (i, monomial) in chosen.iter().enumerate() {
        let mut row = vec![BigInt::zero(); monomials + 2];
        row[i] = BigInt::one();
        for which in 0..2 {
            let product: BigInt = monomial.iter().map(|name| value(which, *name)).product();
            row[monomials + which] = product.mod_floor(&modulus(which)) * &weight;
        }
        basis.push(row);
    }
    for which in 0..2 {
        let mut row = vec![BigInt::zero(); monomials + 2];
        row[monomials + which] = modulus(which) * &weight;
        basis.push(row);
    }
    let reduced = reduce(basis);
    let short = reduced.iter().find(|row| {
        row[monomials..].iter().all(Zero::is_zero) && row[..monomials].iter().any(|c| !c.is_zero())
    });
    let short = short.expect("a short relation");
    let side = |sign: i32| {
        let terms = chosen.iter().zip(short).filter(|(_, c)| c.is_positive() == (sign > 0) && !c.is_zero());
        let terms = terms.map(|(monomial, c)| {
            let factors = monomial.iter().map(|name| variable(NAMES[*name]));
            Type::compact_product(std::iter::once(n(c.magnitude().clone())).chain(factors).collect())
        });
        Type::compact_sum(terms.collect())
    };
    (side(1), side(-1))
}

#[test]
fn relations_found_by_lattice_reduction_do_not_deceive() {
    let mut g = Numbers::new();
    for round in 0..4 {
        let (a, b) = deceptive(&mut g, 10 + 2 * round);
        assert!(
            fingerprint::same_slots(&a, &b),
            "the pair was to agree where types are evaluated: {a} / {b}"
        );
        let (x, y) = (Type::array(Type::int(), a.clone()), Type::array(Type::int(), b.clone()));
        let both = [(&a, &b), (&x, &y)];
        for (a, b) in both {
            assert_eq!(verdict(a, b), Verdict::Different, "{a} against {b}");
            assert_eq!(verdict(b, a), Verdict::Different, "{b} against {a}");
            assert!(compare(a, b).witness.is_none());
        }
        let product =
            |index: &Type| Type::product(vec![Type::array(Type::int(), index.clone()), Type::real()]);
        assert_eq!(verdict(&product(&a), &product(&b)), Verdict::Different);
        let power = |index: &Type| Type::compact_power(n(2u32), index.clone());
        assert!(verdict(&power(&a), &power(&b)) > Verdict::Natural);
        let cases = |size: &Type| Type::sum(vec![size.clone(), Type::int()]);
        assert_eq!(verdict(&cases(&a), &cases(&b)), Verdict::Different);
        // Beside a relation that is true.
        let (c, d) = (ty("(N \\+ M)\\^2"), ty("N\\*N \\+ 2\\*N\\*M \\+ M\\*M"));
        let sum = |x: &Type, y: &Type| Type::compact_sum(vec![x.clone(), y.clone()]);
        assert_eq!(verdict(&sum(&a, &c), &sum(&a, &d)), Verdict::Natural);
        assert_eq!(verdict(&sum(&a, &c), &sum(&b, &d)), Verdict::Different);
    }
}

#[test]
fn numbers_equal_modulo_all_primes_do_not_deceive() {
    let mut period = BigUint::one();
    for which in 0..Ring::COUNT {
        let p = BigUint::from(Ring::new(which, 2).prime());
        period = period.lcm(&p).lcm(&(&p - 1u32));
    }
    let pair = |size: BigUint| Type::product(vec![n(size), Type::int()]);
    let (a, b) = (pair(200u32.into()), pair(&period + 200u32));
    assert!(fingerprint::same_slots(&a, &b));
    assert_eq!(verdict(&a, &b), Verdict::Different);
    let array = |size: BigUint| Type::array(Type::int(), n(size));
    assert_eq!(verdict(&array(3u32.into()), &array(&period + 3u32)), Verdict::Different);
    let power = |size: BigUint| Type::array(Type::real(), Type::compact_power(variable("N"), n(size)));
    assert!(verdict(&power(2u32.into()), &power(&period + 2u32)) > Verdict::Natural);
    let towers = |size: BigUint| {
        let exponent = Type::compact_product(vec![n(size), variable("M")]);
        Type::array(Type::real(), Type::compact_power(variable("N"), exponent))
    };
    assert!(verdict(&towers(2u32.into()), &towers(&period + 2u32)) > Verdict::Natural);
}

/// Returns a size that is 1 where each variable is 0 or not, as the bits state, and otherwise 0.
fn cell(bits: u64, variables: usize) -> Type {
    let zero_power = |exponent: Type| Type::compact_power(n(0u32), exponent);
    let factors = (0..variables).map(|i| {
        let is_zero = zero_power(Type::var(size_variable(i)));
        if bits >> i & 1 == 0 { is_zero } else { zero_power(is_zero) }
    });
    Type::compact_product(factors.collect())
}

fn size_variable(i: usize) -> felis_calculus::types::TypeVar {
    felis_calculus::types::TypeVar {
        id: 100 + i as u32,
        name: format!("A{i}").into(),
        kind: felis_calculus::types::Kind::Compact,
    }
}

#[test]
fn no_cell_of_zeros_is_missed() {
    let mut g = Numbers::new();
    let array = |index: Type| Type::array(Type::int(), index);
    for variables in [1, 2, 3, 6, 7, 9, 12] {
        for _ in 0..3 {
            let bits = g.below(1 << variables);
            let one = array(cell(bits, variables));
            assert!(verdict(&one, &array(Type::void())) > Verdict::Natural, "{one}");
            assert!(verdict(&array(Type::void()), &one) > Verdict::Natural, "{one}");
            assert!(verdict(&one, &Type::int()) > Verdict::Natural, "{one}");
            let other = array(cell(bits ^ 1 << g.below(variables as u64), variables));
            assert!(verdict(&one, &other) > Verdict::Natural, "{one} against {other}");
        }
        // All zero at once: the product of powers is the power of the sum.
        let sum = Type::compact_sum((0..variables).map(|i| Type::var(size_variable(i))).collect());
        let together = array(Type::compact_power(n(0u32), sum));
        assert!(verdict(&array(cell(0, variables)), &together) <= Verdict::Natural);
        assert!(verdict(&array(Type::void()), &together) > Verdict::Natural);
    }
    // Exactly one cell holds; of all but one, not in that one.
    for variables in 1..7 {
        let cells = |skip: Option<u64>| {
            let all = (0..1u64 << variables).filter(|bits| Some(*bits) != skip);
            Type::compact_sum(all.map(|bits| cell(bits, variables)).collect())
        };
        assert_eq!(verdict(&array(cells(None)), &Type::int()), Verdict::Natural);
        let skip = g.below(1 << variables);
        assert!(verdict(&array(cells(Some(skip))), &Type::int()) > Verdict::Natural);
    }
}

#[test]
fn verdicts_at_the_bounds() {
    for (a, b, expected) in [
        ("2\\^3 \\+ 1", "3\\^2", "natural"),
        ("N\\^(2\\^3 \\+ 1)", "N\\^(3\\^2)", "natural"),
        ("(N \\+ 1)\\^1000000000000000000000 \\+ 1", "1 \\+ (1 \\+ N)\\^1000000000000000000000", "natural"),
        ("(N \\+ 1)\\^1000000000000000000000 \\+ 1", "2 \\+ (1 \\+ N)\\^1000000000000000000000", "different"),
        ("(N \\+ 1)\\^1000000000000000000000 \\* (N \\+ 1)", "(N \\+ 1)\\^1000000000000000000001", "natural"),
        ("2\\^N \\* 2\\^N", "4\\^N", "natural"),
        ("15\\^N \\* 14\\^N", "6\\^N \\* 35\\^N", "natural"),
        ("1000003\\^N \\* 1000033\\^N", "1000036000099\\^N", "natural"),
        ("(N\\*N \\+ 2\\*N \\+ 1)\\^M", "(N \\+ 1)\\^(2 \\* M)", "natural"),
        ("(N\\*N \\+ 3\\*N \\+ 2)\\^M", "(N \\+ 1)\\^M \\* (N \\+ 2)\\^M", "natural"),
        (
            "(N\\*M \\+ N \\+ M \\+ 1)\\^K \\* (N \\+ 1)\\^L",
            "(N \\+ 1)\\^(K \\+ L) \\* (M \\+ 1)\\^K",
            "natural",
        ),
        ("(4\\^N \\+ 2\\*2\\^N \\+ 1)\\^M", "(2\\^N \\+ 1)\\^(M \\* 2)", "natural"),
        ("((4\\^N \\+ 2\\*2\\^N \\+ 1)\\^M \\+ 1)\\^K", "((2\\^N \\+ 1)\\^(M \\* 2) \\+ 1)\\^K", "natural"),
        ("(N \\+ 1)\\^M", "N\\^M \\+ 1", "different"),
        ("(N \\+ 1)\\^64", "(N \\+ 1)\\^32 \\* (N \\+ 1)\\^32", "natural"),
        ("(N \\+ 1)\\^45", "((N \\+ 1)\\^15)\\^3", "natural"),
        ("(N \\+ 1)\\^600", "(N \\+ 1)\\^300 \\* (N \\+ 1)\\^300", "natural"),
        ("int^((N \\+ 1)\\^100)", "(int^((N \\+ 1)\\^50))^((N \\+ 1)\\^50)", "natural"),
        ("(N \\+ M \\+ K \\+ L)\\^8", "(N \\+ M \\+ K \\+ L)\\^4 \\* (L \\+ M \\+ K \\+ N)\\^4", "natural"),
        ("((N \\+ 1)\\^500)\\^M", "(N \\+ 1)\\^(500 \\* M)", "natural"),
        ("0\\^(0\\^N)", "0\\^(0\\^(N \\* N))", "natural"),
        ("N \\* 0\\^(0\\^N)", "N", "natural"),
        ("N\\^(0\\^N)", "N \\+ 0\\^N \\* 0", "different"),
        ("int ^ (N\\^(0\\^N))", "int ^ (N \\* 0\\^N \\+ 0\\^(0\\^N))", "natural"),
        ("(int ^ (0\\^N) * real) ^ N", "real ^ N", "natural"),
        ("(int ^ (0\\^N) * real) ^ M", "real ^ M", "different"),
        ("(int ^ N * real) ^ (0\\^N)", "real ^ (0\\^N)", "natural"),
        ("3 -> int", "int ^ 3", "isomorphic"),
        ("(N -> int) * real", "real * (int ^ N)", "isomorphic"),
    ] {
        let (left, right) = (ty(a), ty(b));
        for (x, y) in [(&left, &right), (&right, &left)] {
            assert_eq!(verdict(x, y).to_string(), expected, "{a} against {b}");
        }
    }
}

#[test]
fn pairs_within_powers() {
    let below = |index: Type| Type::triangle(Triangle::Below, index);
    let power = Type::compact_power;
    let (a, b) = (variable("N"), variable("M"));
    let plus = |x: &Type, k: u32| Type::compact_sum(vec![x.clone(), n(k)]);
    // C(n + 1) = C(n) + n, in a base, in an exponent, in both.
    let stepped = Type::compact_sum(vec![below(a.clone()), a.clone()]);
    for (x, y) in [
        (power(below(plus(&a, 1)), b.clone()), power(stepped.clone(), b.clone())),
        (power(n(2u32), below(plus(&a, 1))), power(n(2u32), stepped.clone())),
        (power(b.clone(), below(plus(&a, 1))), power(b.clone(), stepped.clone())),
        (
            power(b.clone(), below(plus(&a, 1))),
            Type::compact_product(vec![power(b.clone(), below(a.clone())), power(b.clone(), a.clone())]),
        ),
        (
            power(power(n(2u32), below(a.clone())), n(2u32)),
            power(n(2u32), Type::compact_product(vec![n(2u32), below(a.clone())])),
        ),
        (
            power(power(below(a.clone()), n(2u32)), below(b.clone())),
            power(below(a.clone()), Type::compact_product(vec![n(2u32), below(b.clone())])),
        ),
        (
            power(Type::compact_product(vec![below(a.clone()), stepped.clone()]), below(b.clone())),
            Type::compact_product(vec![
                power(below(a.clone()), below(b.clone())),
                power(stepped.clone(), below(b.clone())),
            ]),
        ),
    ] {
        assert_eq!(verdict(&x, &y), Verdict::Natural, "{x} against {y}");
        let array = |index: &Type| Type::array(Type::int(), index.clone());
        assert_eq!(verdict(&array(&x), &array(&y)), Verdict::Natural, "{x} against {y}");
        assert_eq!(verdict(&array(&x), &array(&plus(&y, 1))), Verdict::Different, "{x} against {y} and one");
    }
    // 0 ^ C(n) is 1 for n = 0 and n = 1.
    let vanishing = power(n(0u32), below(a.clone()));
    let several = Type::compact_sum(vec![
        power(n(0u32), a.clone()),
        Type::compact_product(vec![
            power(n(0u32), below(a.clone())),
            power(n(0u32), power(n(0u32), a.clone())),
        ]),
    ]);
    assert_eq!(verdict(&vanishing, &several), Verdict::Natural);
    assert_eq!(verdict(&vanishing, &power(n(0u32), a.clone())), Verdict::Different);
}

/// Returns a random size, small enough to be evaluated at small valuations.
fn random_size(g: &mut Numbers, depth: u32) -> Type {
    match g.below(if depth == 0 { 4 } else { 10 }) {
        0 => n(g.below(4)),
        1..4 => variable(NAMES[g.below(3) as usize]),
        4 | 5 => Type::compact_product(vec![random_size(g, depth - 1), random_size(g, depth - 1)]),
        6 | 7 => Type::compact_sum(vec![random_size(g, depth - 1), random_size(g, depth - 1)]),
        8 => Type::compact_power(random_size(g, depth - 1), random_size(g, depth - 1)),
        _ => Type::triangle(Triangle::Below, random_size(g, depth - 1)),
    }
}

/// Returns the same size rewritten by a law of school algebra, somewhere inside.
fn rewritten(g: &mut Numbers, size: &Type) -> Type {
    use felis_calculus::types::TypeKind as K;
    let sum = |parts: Vec<Type>| Type::compact_sum(parts);
    let product = |parts: Vec<Type>| Type::compact_product(parts);
    let inside = |g: &mut Numbers| {
        size.map_children(&mut |child| if child.is_compact() { rewritten(g, child) } else { child.clone() })
    };
    match (size.kind(), g.below(3)) {
        (K::CompactProduct(parts), 0) => {
            for (i, part) in parts.iter().enumerate() {
                if let K::CompactSum(cases) = part.kind() {
                    let with = |case: &Type| {
                        let mut factors = parts.clone();
                        factors[i] = case.clone();
                        product(factors)
                    };
                    return sum(cases.iter().map(with).collect());
                }
            }
            product(parts.iter().rev().cloned().collect())
        }
        (K::CompactSum(parts), 0) => sum(parts.iter().rev().cloned().collect()),
        (K::CompactPower(base, exponent), 0 | 1) => match (base.kind(), exponent.kind()) {
            (K::CompactProduct(parts), _) => product(
                parts.iter().map(|part| Type::compact_power(part.clone(), exponent.clone())).collect(),
            ),
            (_, K::CompactSum(parts)) => {
                product(parts.iter().map(|part| Type::compact_power(base.clone(), part.clone())).collect())
            }
            (K::CompactPower(base, inner), _) => {
                Type::compact_power(base.clone(), product(vec![inner.clone(), exponent.clone()]))
            }
            _ => inside(g),
        },
        (K::Triangle(_, index), 0) => match index.kind() {
            K::CompactSum(parts) if parts.len() == 2 => {
                let below = |part: &Type| Type::triangle(Triangle::Below, part.clone());
                sum(vec![below(&parts[0]), product(parts.clone()), below(&parts[1])])
            }
            _ => inside(g),
        },
        _ => inside(g),
    }
}

fn value(size: &Type, at: [u32; 3]) -> Option<BigUint> {
    let by = (0..3).map(|i| {
        let felis_calculus::types::TypeKind::Var(var) = variable(NAMES[i]).kind().clone() else {
            unreachable!()
        };
        (var.id, n(at[i]))
    });
    size.substitute(&by.collect()).size().ok().filter(|n| n.bits() < 10_000)
}

#[test]
fn exact_answers_hold_at_small_valuations() {
    let mut g = Numbers::new();
    let rounds = std::env::var("FELIS_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(3_000);
    let (mut yes, mut no, mut unknown) = (0, 0, 0);
    for _ in 0..rounds {
        let a = random_size(&mut g, 3);
        let mut b = a.clone();
        for _ in 0..1 + g.below(3) {
            b = rewritten(&mut g, &b);
        }
        let c = random_size(&mut g, 2);
        for (a, b, law) in [(&a, &b, true), (&a, &c, false)] {
            match exact::same_size(a, b) {
                Some(true) => yes += 1,
                Some(false) => {
                    assert!(!law, "equal by a law, and refused: {a} against {b}");
                    no += 1;
                }
                None => unknown += 1,
            }
            if exact::same_size(a, b) != Some(true) {
                continue;
            }
            for code in 0..5u32.pow(3) {
                let at = [code % 5, code / 5 % 5, code / 25];
                if let (Some(x), Some(y)) = (value(a, at), value(b, at)) {
                    assert_eq!(x, y, "{a} against {b} at {at:?}");
                }
            }
        }
    }
    println!("{yes} equal, {no} not, {unknown} unknown");
    assert!(yes > rounds / 2 && no > rounds / 2, "{yes} equal, {no} not, {unknown} unknown");
    assert!(unknown * 50 < rounds.max(50), "{unknown} unknown");
}

/// Beyond the bounds the verdict is unknown, and soon reached.
#[test]
fn beyond_the_bounds_is_unknown() {
    let sum = |k: usize, extra: u32| {
        let mut parts: Vec<Type> = (0..k).map(|i| Type::var(size_variable(i))).collect();
        parts.push(n(extra));
        Type::compact_sum(parts)
    };
    // Expanded, each has millions of monomials, and the factors have another order.
    let product = |order: &[u32]| Type::compact_product(order.iter().map(|k| sum(20, *k)).collect());
    let (a, b) = (product(&[1, 2, 3, 4, 5, 6, 7, 8]), product(&[8, 7, 6, 5, 4, 3, 2, 1]));
    let array = |index: &Type| Type::array(Type::int(), index.clone());
    let found = verdict(&array(&a), &array(&b));
    assert!(matches!(found, Verdict::Natural | Verdict::Unknown), "{found}");
    let found = compare(&array(&a), &array(&b));
    assert!(!found.explanation().0.is_empty());
    // Two expanded powers of 792 monomials each, one of them multiplied factor by factor.
    let (x, y) = (
        "(A \\+ B \\+ C \\+ D \\+ E \\+ F \\+ G \\+ 1)",
        "(A \\+ 2 \\* B \\+ C \\+ D \\+ E \\+ F \\+ G \\+ 1)",
    );
    let left = ty(&format!("int ^ ({x}\\^5 \\* {y}\\^5)"));
    let right = ty(&format!("int ^ ({y}\\^5 \\* {x}\\^4 \\* {x})"));
    assert_eq!(verdict(&left, &right), Verdict::Unknown);
    assert_eq!(verdict(&left, &right).to_string(), "unknown");
    let c = product(&[1, 2, 3, 4, 5, 6, 7, 9]);
    assert_eq!(verdict(&array(&a), &array(&c)), Verdict::Different);
}

#[test]
fn the_reduction_finds_short_vectors() {
    let rows: [[i64; 3]; 3] = [[1, 0, 1_000_003], [0, 1, 999_983], [0, 0, 1_000_000_007]];
    let reduced = reduce(rows.iter().map(|row| row.iter().map(|x| BigInt::from(*x)).collect()).collect());
    let length = |row: &Vec<BigInt>| row.iter().map(|x| x * x).sum::<BigInt>().to_u64().expect("small");
    // The determinant is 1 000 000 007: the shortest vector is at most its cube root times √2 long.
    assert!(reduced.iter().map(length).min().expect("vectors") < 2_000_000, "{reduced:?}");
}
