//! Isomorphism under equations of sizes, against brute force: accepted pairs hold at every small
//! valuation that satisfies the equations, and equations found unsatisfiable have no such
//! valuation.

use felis_base::hash::HashMap;
use felis_calculus::iso::{Verdict, equations, verdict};
use felis_calculus::types::{Kind, Type, TypeVar};

/// A small pseudorandom generator, the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % n
    }
}

const NAMES: [&str; 4] = ["K", "L", "M", "N"];

fn var(i: usize) -> Type {
    Type::var(TypeVar { id: 1 + i as u32, name: NAMES[i].into(), kind: Kind::Compact })
}

fn n(k: u64) -> Type {
    Type::unit_sum(k)
}

/// Returns a size of a few variables and numbers.
fn size(g: &mut Numbers, depth: u32) -> Type {
    match g.below(if depth == 0 { 5 } else { 9 }) {
        0..4 => var(g.below(4) as usize),
        4 => n(g.below(5)),
        5 | 6 => Type::compact_product((0..2).map(|_| size(g, depth - 1)).collect()),
        _ => Type::compact_sum((0..2).map(|_| size(g, depth - 1)).collect()),
    }
}

fn valuations() -> impl Iterator<Item = HashMap<u32, Type>> {
    (0..6u64.pow(4)).map(|code| {
        (0..4).map(|i| (1 + i as u32, n(code / 6u64.pow(i as u32) % 6))).collect::<HashMap<u32, Type>>()
    })
}

fn holds(equations: &[(Type, Type)], at: &HashMap<u32, Type>) -> bool {
    equations.iter().all(|(a, b)| a.substitute(at).size() == b.substitute(at).size())
}

#[test]
fn what_is_accepted_holds_at_every_valuation() {
    let mut g = Numbers(7);
    let valuations: Vec<HashMap<u32, Type>> = valuations().collect();
    let (mut accepted, mut refused, mut impossible, mut unsolved) = (0, 0, 0, 0);
    for _ in 0..1_500 {
        let equations: Vec<(Type, Type)> =
            (0..1 + g.below(2)).map(|_| (size(&mut g, 2), size(&mut g, 2))).collect();
        let solution = equations::Solution::of(&equations);
        unsolved += solution.unsolved.len();
        let good: Vec<&HashMap<u32, Type>> = valuations.iter().filter(|at| holds(&equations, at)).collect();
        if solution.is_unsatisfiable() {
            impossible += 1;
            assert!(good.is_empty(), "{equations:?} holds at {:?}", good[0]);
        }
        // The two sides themselves, sizes made from them, and unrelated sizes.
        let (left, right) = equations[0].clone();
        let more = size(&mut g, 1);
        let goals = [
            (left.clone(), right.clone()),
            (
                Type::compact_product(vec![left.clone(), more.clone()]),
                Type::compact_product(vec![more.clone(), right.clone()]),
            ),
            (
                Type::compact_sum(vec![more.clone(), right.clone()]),
                Type::compact_sum(vec![left.clone(), more]),
            ),
            (size(&mut g, 2), size(&mut g, 2)),
        ];
        for (at, (i, j)) in goals.iter().enumerate() {
            let (a, b) = (Type::array(Type::int(), i.clone()), Type::array(Type::int(), j.clone()));
            if equations::natural_under(&equations, &a, &b) {
                accepted += 1;
                for &valuation in &good {
                    let (a, b) = (a.substitute(valuation), b.substitute(valuation));
                    assert!(
                        verdict(&a, &b) <= Verdict::Natural,
                        "{equations:?}: {i} and {j} at {valuation:?}"
                    );
                }
            } else if at == 0 && solution.unsolved.is_empty() && !solution.is_unsatisfiable() {
                // A solved equation implies itself, unless it has no variables.
                assert!(!(left.has_var() || right.has_var()), "{equations:?} does not prove {i} and {j}");
                refused += 1;
            }
        }
    }
    assert!(
        accepted > 800 && impossible > 20 && unsolved < 1_500,
        "{accepted} {refused} {impossible} {unsolved}"
    );
}

/// Each rule, and its consequences.
#[test]
fn rules() {
    let [k, l, m, nn] = [0, 1, 2, 3].map(var);
    let p = |a: &Type, b: &Type| Type::compact_product(vec![a.clone(), b.clone()]);
    let s = |a: &Type, b: &Type| Type::compact_sum(vec![a.clone(), b.clone()]);
    let array = |i: &Type| Type::array(Type::real(), i.clone());
    let proves = |equations: &[(Type, Type)], a: &Type, b: &Type| {
        equations::natural_under(equations, &array(a), &array(b))
    };
    // A variable alone.
    let e = vec![(nn.clone(), p(&n(3), &k))];
    assert!(proves(&e, &nn, &p(&k, &n(3))));
    assert!(proves(&e, &p(&nn, &nn), &p(&n(9), &p(&k, &k))));
    assert!(!proves(&e, &nn, &p(&n(2), &k)));
    // A variable that is a power, and squares, which have no consequences.
    let power = Type::compact_power(n(2), k.clone());
    let e = vec![(power.clone(), nn.clone())];
    assert!(proves(&e, &p(&nn, &n(2)), &Type::compact_power(n(2), s(&k, &n(1)))));
    assert!(!proves(&e, &nn, &k));
    let e = vec![(p(&nn, &nn), p(&m, &m))];
    assert!(!proves(&e, &nn, &m));
    let e = vec![(nn.clone(), p(&nn, &m))];
    assert!(!proves(&e, &m, &n(1)));
    // Through two equations.
    let e = vec![(nn.clone(), p(&n(3), &k)), (k.clone(), p(&n(2), &l))];
    assert!(proves(&e, &nn, &p(&n(6), &l)));
    // Numbers as factors.
    let e = vec![(p(&n(4), &nn), p(&n(6), &m))];
    assert!(proves(&e, &p(&n(2), &nn), &p(&n(3), &m)));
    assert!(!proves(&e, &nn, &m));
    // Four numbers.
    let e = vec![(p(&nn, &m), p(&k, &l))];
    assert!(proves(&e, &p(&m, &p(&nn, &n(5))), &p(&p(&l, &n(5)), &k)));
    assert!(!proves(&e, &nn, &k));
    // Four factors, some of them numbers: 6 N == K L.
    let e = vec![(p(&n(6), &nn), p(&k, &l))];
    assert!(proves(&e, &p(&nn, &n(12)), &p(&p(&n(2), &l), &k)));
    // Sums, with a number.
    let e = vec![(s(&nn, &m), s(&k, &l))];
    assert!(proves(&e, &s(&s(&nn, &m), &n(1)), &s(&n(1), &s(&l, &k))));
    let e = vec![(s(&nn, &n(2)), s(&k, &l))];
    assert!(proves(&e, &s(&nn, &n(3)), &s(&l, &s(&k, &n(1)))));
    // Common parts are canceled: N K == M K leaves K = 0.
    let e = vec![(p(&nn, &k), p(&m, &k))];
    assert!(proves(&e, &p(&nn, &p(&k, &l)), &p(&m, &p(&k, &l))));
    assert!(!proves(&e, &nn, &m));
    // An unsatisfiable equation.
    assert!(equations::Solution::of(&[(p(&n(2), &nn), n(5))]).is_unsatisfiable());
    assert!(equations::Solution::of(&[(nn.clone(), n(2)), (nn.clone(), n(3))]).is_unsatisfiable());
    assert!(equations::Solution::of(&[(s(&nn, &n(1)), n(0))]).is_unsatisfiable());
    // Skipped, without a conclusion.
    let e = vec![(p(&nn, &nn), Type::compact_power(n(2), m.clone()))];
    assert_eq!(equations::Solution::of(&e).unsolved, vec![0]);
    assert!(!proves(&e, &nn, &m));
}
