//! Hard types: large, deep, wide, growing through declarations. Every query ends.

use crate::iso_support::{ty, variable};
use felis_calculus::iso::{Verdict, compare, verdict};
use felis_calculus::types::{Kind, Nominal, NominalBody, Triangle, Type, TypeVar};
use std::time::{Duration, Instant};

/// A limit far above the need of any of these, and far below unbounded growth.
const MAX_RUN_TIME: Duration = Duration::from_secs(30);

fn soon(what: &str, a: &Type, b: &Type) -> Verdict {
    let started = Instant::now();
    let decided = verdict(a, b);
    let deciding = started.elapsed();
    let compared = compare(a, b);
    assert_eq!(compared.verdict, decided, "{what}");
    let text = compared.explanation();
    assert!(!text.0.is_empty());
    let all = started.elapsed();
    println!("{what}: {decided} in {deciding:?}, all in {all:?}, derived: {}", compared.witness.is_some());
    assert!(all < MAX_RUN_TIME, "{what}: {all:?}");
    decided
}

#[test]
fn numbers_too_large_to_write_down() {
    for (a, b, expected) in [
        ("2\\^(2\\^100) \\* 2", "2\\^(2\\^100 \\+ 1)", Verdict::Natural),
        ("int ^ (2\\^4096)", "int ^ (2\\^4096 \\+ 1)", Verdict::Different),
        ("2\\^4096", "4\\^2048", Verdict::Natural),
        ("2\\^(3\\^(2\\^100))", "2\\^(3\\^(2\\^100))\\^1", Verdict::Natural),
        ("real ^ (1000000000000000000000 \\* 2)", "real ^ 2000000000000000000000", Verdict::Natural),
        (
            "1000000000000000000000 *+ (int + real)",
            "1000000000000000000000 *+ (real + int)",
            Verdict::Isomorphic,
        ),
        ("int + 1000000000000000000000", "1 + int + 999999999999999999999", Verdict::Isomorphic),
        ("(N \\+ 1)\\^10000000000", "(1 \\+ N)\\^10000000000", Verdict::Natural),
        ("(N \\+ M \\+ K \\+ 1)\\^60", "(N \\+ M \\+ (K \\+ 1))\\^60", Verdict::Natural),
        ("((int + real)^1000000)^N", "((real + int)^N)^1000000", Verdict::Isomorphic),
        ("(int + real + string)^6", "(real + int + string)^6", Verdict::Isomorphic),
    ] {
        assert_eq!(soon(a, &ty(a), &ty(b)), expected, "{a} against {b}");
    }
    let mut tower = variable("N");
    for _ in 0..300 {
        tower = Type::compact_power(Type::unit_sum(3u32), tower);
    }
    let other = Type::compact_product(vec![Type::unit(), tower.clone()]);
    assert_eq!(
        soon("a tower", &Type::array(Type::int(), tower), &Type::array(Type::int(), other)),
        Verdict::Natural
    );
}

#[test]
fn large_and_deep_types() {
    let (mut left, mut right) = (Type::int(), Type::int());
    for i in 0..450u32 {
        let (n, m) = (Type::unit_sum(i % 7 + 2), variable("N"));
        left = Type::product(vec![
            Type::array(left, Type::compact_product(vec![n.clone(), m.clone()])),
            Type::real(),
        ]);
        right = Type::product(vec![Type::array(right, Type::compact_product(vec![m, n])), Type::real()]);
    }
    assert_eq!(soon("deep", &left, &right), Verdict::Natural);
    let wide = |shift: usize| {
        let part = |i: usize| match (i + shift) % 3 {
            0 => Type::int(),
            1 => Type::real(),
            _ => Type::array(Type::string(), variable("N")),
        };
        (0..6_000).map(part).collect::<Vec<_>>()
    };
    assert_eq!(soon("wide", &Type::product(wide(0)), &Type::product(wide(3))), Verdict::Equal);
    assert_eq!(soon("wide, moved", &Type::product(wide(0)), &Type::product(wide(1))), Verdict::Isomorphic);
    assert_eq!(soon("wide sums", &Type::sum(wide(0)), &Type::sum(wide(1))), Verdict::Isomorphic);
    let few = |shift: usize| Type::product(wide(shift)[..300].to_vec());
    assert_eq!(soon("300 components, moved", &few(0), &few(1)), Verdict::Isomorphic);
}

#[test]
fn declarations_that_grow() {
    // Each doubles the one before: 2^200 slots.
    let mut last = Type::int();
    for i in 0..200 {
        let nominal = Nominal::declare(i, format!("A{i}").into(), Vec::new(), Kind::Type);
        nominal.define(NominalBody::Newtype(Type::product(vec![last.clone(), Type::real(), last])));
        last = Type::nominal(nominal, Vec::new());
    }
    let pair = |a: &Type| Type::product(vec![a.clone(), Type::unit()]);
    assert_eq!(soon("doubling newtypes", &last, &pair(&last)), Verdict::Natural);
    // A definition that mentions itself must not be unfolded without end.
    let nominal = Nominal::declare(1_000, "Loop".into(), Vec::new(), Kind::Type);
    let itself = Type::nominal(nominal.clone(), Vec::new());
    nominal.define(NominalBody::Newtype(Type::product(vec![itself.clone(), Type::int()])));
    soon("a newtype of itself", &itself, &pair(&itself));
    let chain = |n: u32| {
        let mut last = Type::int();
        for i in 0..n {
            let nominal = Nominal::declare(2_000 + i, "B".into(), Vec::new(), Kind::Type);
            nominal.define(NominalBody::Newtype(Type::array(last, Type::unit_sum(2u32))));
            last = Type::nominal(nominal, Vec::new());
        }
        last
    };
    let deep = chain(5_000);
    soon("a long chain of newtypes", &deep, &pair(&deep));
}

/// These need not be decided, but all must end.
#[test]
fn work_is_bounded() {
    for (a, b) in [
        ("(2\\^1000000)\\^N", "2\\^(1000000\\*N)"),
        ("(6\\^400000)\\^N", "6\\^(400000\\*N)"),
        (
            "((3\\^600000 \\+ 1) \\* (3\\^60000 \\+ 2))\\^N",
            "(3\\^600000 \\+ 1)\\^N \\* (3\\^60000 \\+ 2)\\^N",
        ),
        (
            "((N\\+1)\\^500 \\+ 1)\\^M \\* ((N\\+2)\\^400)\\^M",
            "(((N\\+1)\\^500 \\+ 1) \\* (N\\+2)\\^400)\\^M",
        ),
    ] {
        soon(a, &ty(a), &ty(b));
    }
    let names: Vec<Type> = (0..13u32)
        .map(|i| Type::var(TypeVar { id: 500 + i, name: format!("A{i}").into(), kind: Kind::Compact }))
        .collect();
    let sums: Vec<Type> = names.windows(2).map(|pair| Type::compact_sum(pair.to_vec())).collect();
    let over = |base: &Type| Type::compact_power(base.clone(), variable("N"));
    let apart = Type::compact_product(sums.iter().map(over).collect());
    soon("twelve binomials", &over(&Type::compact_product(sums.clone())), &apart);
    let power = |base: &Type, exponent: &Type| Type::compact_power(base.clone(), exponent.clone());
    let below = |ty: &Type| Type::triangle(Triangle::Below, ty.clone());
    let two = Type::unit_sum(2u32);
    let squared = names.iter().map(|v| power(&power(&below(v), &two), v)).collect();
    let doubled =
        names.iter().map(|v| power(&below(v), &Type::compact_product(vec![two.clone(), v.clone()])));
    soon("pairs to powers", &Type::compact_product(squared), &Type::compact_product(doubled.collect()));
    // Sums of squares of sums of squares …
    let chain = |first: Type, from: u32| {
        let mut last = first;
        for i in 0..40 {
            let nominal = Nominal::declare(from + i, "S".into(), Vec::new(), Kind::Type);
            let square = Type::product(vec![last.clone(), last.clone()]);
            nominal.define(NominalBody::Newtype(Type::sum(vec![last.clone(), last, square])));
            last = Type::nominal(nominal, Vec::new());
        }
        last
    };
    let (int, real) = (Type::int(), Type::real());
    let left = chain(Type::sum(vec![int.clone(), real.clone()]), 10_000);
    soon("sums of squares", &left, &chain(Type::sum(vec![real.clone(), int.clone()]), 20_000));
    // A struct whose fields have it at ever larger types, behind functions and directly.
    for by_size in [false, true] {
        let param = TypeVar { id: 900, name: "T".into(), kind: Kind::Type };
        let nominal =
            Nominal::declare(30_000 + u32::from(by_size), "P".into(), vec![param.clone()], Kind::Type);
        let at = |more: &Type| {
            Type::nominal(nominal.clone(), vec![Type::product(vec![Type::var(param.clone()), more.clone()])])
        };
        let domain = if by_size { Type::unit_sum(3u32) } else { int.clone() };
        let field = |name: &str, more: &Type| (name.into(), Type::function(domain.clone(), at(more)));
        nominal.define(NominalBody::Struct(vec![field("a", &int), field("b", &real)]));
        let of = |arg: &Type| Type::nominal(nominal.clone(), vec![arg.clone()]);
        soon("a struct of larger ones", &of(&int), &of(&real));
    }
}
