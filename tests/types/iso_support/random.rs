//! Random small types and random rewritings of them, some by laws, some arbitrary.

use felis_calculus::types::{Triangle, Type, TypeKind};
use proptest::prelude::*;

use super::{abstract_type, variable};

/// Generates compact linear types of a few sizes.
pub fn compact() -> BoxedStrategy<Type> {
    let leaf = prop_oneof![
        4 => (0u32..4).prop_map(Type::unit_sum),
        3 => Just(variable("N")),
        1 => Just(variable("M")),
    ];
    leaf.prop_recursive(2, 6, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Type::compact_product),
            prop::collection::vec(inner.clone(), 0..3).prop_map(Type::compact_sum),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| Type::compact_power(a, b)),
            inner.clone().prop_map(|i| Type::triangle(Triangle::Below, i)),
            inner.prop_map(|i| Type::triangle(Triangle::Lower, i)),
        ]
    })
    .boxed()
}

/// Generates types of every form; of declared types, an abstract one.
pub fn any_type() -> BoxedStrategy<Type> {
    let leaf = prop_oneof![
        3 => Just(Type::int()),
        2 => Just(Type::real()),
        1 => Just(variable("T")),
        1 => Just(Type::function(Type::int(), Type::int())),
        3 => compact(),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            3 => prop::collection::vec(inner.clone(), 0..4).prop_map(Type::product),
            2 => prop::collection::vec(inner.clone(), 0..4).prop_map(Type::sum),
            1 => (0u32..4, inner.clone()).prop_map(|(n, t)| Type::repeat(Type::unit_sum(n), t)),
            2 => (compact(), inner.clone()).prop_map(|(n, t)| Type::repeat(n, t)),
            3 => (inner.clone(), compact()).prop_map(|(t, i)| Type::array(t, i)),
            1 => (inner, compact(), compact()).prop_map(|(t, i, j)| abstract_type(t, i, j)),
            1 => Just(Type::record(vec![("x".into(), Type::int()), ("y".into(), variable("T"))])),
        ]
    })
    .boxed()
}

/// The relation that a rewriting may reach.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    Natural,
    Isomorphic,
    Anything,
}

/// Rewrites `ty` somewhere, as `choices` determine.
pub fn rewrite(ty: &Type, choices: &[u16], reach: Reach) -> Type {
    let mut ty = ty.clone();
    for pair in choices.chunks(2) {
        let (place, rule) = (pair[0], *pair.last().unwrap_or(&0));
        if ty.nodes() < 60 {
            ty = at(&ty, u32::from(place) % ty.nodes(), &mut |sub| apply(sub, rule, reach));
        }
    }
    ty
}

fn at(ty: &Type, place: u32, f: &mut dyn FnMut(&Type) -> Type) -> Type {
    if place == 0 {
        return f(ty);
    }
    if matches!(ty.kind(), TypeKind::Function(..)) {
        return ty.clone();
    }
    let mut left = place - 1;
    let mut done = false;
    ty.map_children(&mut |child| {
        if done {
            return child.clone();
        }
        if left < child.nodes() {
            done = true;
            let new = at(child, left, f);
            // Only compact types are allowed inside compact types, right of `^` and left of `*+`.
            let must = ty.is_compact()
                || matches!(ty.kind(), TypeKind::Array(_, index) | TypeKind::Repeat(index, _) if index == child)
                || matches!(ty.kind(), TypeKind::Nominal(_, args) if args[1] == *child);
            if matches!(ty.kind(), TypeKind::Nominal(_, args) if args[2] == *child) {
                return child.clone();
            }
            if must && !new.is_compact() { child.clone() } else { new }
        } else {
            left -= child.nodes();
            child.clone()
        }
    })
}

/// Returns the nesting depth of pairs within pairs; with variables, the decision procedure has a
/// bound.
fn pairs_within(ty: &Type) -> usize {
    let own = usize::from(matches!(ty.kind(), TypeKind::Triangle(..)));
    let mut deepest = 0;
    ty.kind().for_each_child(&mut |child| deepest = deepest.max(pairs_within(child)));
    own + deepest
}

fn apply(ty: &Type, rule: u16, reach: Reach) -> Type {
    let n = |k: u32| Type::unit_sum(k);
    if ty.is_compact() {
        let times = |a: Type, b: Type| Type::compact_product(vec![a, b]);
        let plus = |a: Type, b: Type| Type::compact_sum(vec![a, b]);
        let below = |a: &Type| Type::triangle(Triangle::Below, a.clone());
        return match (rule % 13, ty.kind()) {
            (12, TypeKind::Triangle(Triangle::Lower, index)) => plus(below(index), index.clone()),
            (12, TypeKind::Triangle(Triangle::Below, index)) => match index.kind() {
                TypeKind::CompactSum(parts) if parts.len() == 2 => {
                    let (a, b) = (&parts[0], &parts[1]);
                    Type::compact_sum(vec![below(a), times(a.clone(), b.clone()), below(b)])
                }
                _ => below(&plus(index.clone(), n(0))),
            },
            (12, TypeKind::CompactPower(base, exponent)) if *exponent == n(2) && pairs_within(base) < 2 => {
                Type::compact_sum(vec![below(base), base.clone(), below(base)])
            }

            (0, _) => times(ty.clone(), n(1)),
            (1, _) => plus(n(0), ty.clone()),
            (2, TypeKind::CompactProduct(parts) | TypeKind::CompactSum(parts)) => {
                let mut parts = parts.clone();
                parts.reverse();
                match ty.kind() {
                    TypeKind::CompactProduct(_) => Type::compact_product(parts),
                    _ => Type::compact_sum(parts),
                }
            }
            (3, TypeKind::UnitSum(k)) => {
                let half = k / 2u32;
                plus(Type::unit_sum(half.clone()), Type::unit_sum(k - half))
            }
            (4, TypeKind::CompactPower(base, exponent)) => match exponent.kind() {
                TypeKind::CompactSum(parts) => Type::compact_product(
                    parts.iter().map(|e| Type::compact_power(base.clone(), e.clone())).collect(),
                ),
                _ => Type::compact_power(base.clone(), times(exponent.clone(), n(1))),
            },
            (5, TypeKind::CompactProduct(parts)) => match parts[0].kind() {
                TypeKind::CompactSum(cases) => Type::compact_sum(
                    cases
                        .iter()
                        .map(|case| {
                            let mut parts = parts.clone();
                            parts[0] = case.clone();
                            Type::compact_product(parts)
                        })
                        .collect(),
                ),
                _ => ty.clone(),
            },
            (6, TypeKind::CompactSum(parts)) => Type::sum(parts.clone()),
            (7, _) if reach >= Reach::Anything => plus(ty.clone(), n(1)),
            (8, _) if reach >= Reach::Anything => times(ty.clone(), variable("N")),
            (9, TypeKind::CompactProduct(parts)) if reach >= Reach::Isomorphic => {
                Type::product(parts.clone())
            }
            _ => Type::compact_power(ty.clone(), n(1)),
        };
    }
    match (rule % 16, ty.kind()) {
        (0, _) => Type::product(vec![n(1), ty.clone()]),
        (1, _) => Type::sum(vec![ty.clone(), n(0)]),
        (2, _) => Type::array(ty.clone(), n(1)),
        (3, TypeKind::Array(element, index)) => match element.kind() {
            TypeKind::Array(inner, j) => {
                Type::array(inner.clone(), Type::compact_product(vec![index.clone(), j.clone()]))
            }
            TypeKind::Product(parts) => rotated(ty, index, parts),
            _ => ty.clone(),
        },
        (4, TypeKind::Array(element, index)) => match index.kind() {
            TypeKind::CompactSum(parts) => {
                Type::product(parts.iter().map(|i| Type::array(element.clone(), i.clone())).collect())
            }
            TypeKind::CompactProduct(parts) => {
                parts.iter().rev().fold(element.clone(), |inner, i| Type::array(inner, i.clone()))
            }
            _ => ty.clone(),
        },
        (5, TypeKind::Product(parts)) => {
            Type::product(vec![parts[0].clone(), Type::product(parts[1..].to_vec())])
        }
        (5, TypeKind::Sum(parts)) => {
            Type::sum(vec![Type::sum(parts[..1].to_vec()), Type::sum(parts[1..].to_vec())])
        }
        (6, TypeKind::Product(parts)) => {
            let word = Type::product(parts.clone());
            Type::array(Type::array(word, n(1)), Type::compact_sum(vec![n(1), n(0)]))
        }
        (7, TypeKind::Repeat(k, case)) => match k.kind() {
            TypeKind::CompactSum(parts) => {
                Type::sum(parts.iter().map(|k| Type::repeat(k.clone(), case.clone())).collect())
            }
            TypeKind::CompactProduct(parts) => {
                parts.iter().rev().fold(case.clone(), |inner, k| Type::repeat(k.clone(), inner))
            }
            TypeKind::UnitSum(k) if *k > 0u32.into() => {
                Type::sum(vec![case.clone(), Type::repeat(Type::unit_sum(k - 1u32), case.clone())])
            }
            _ => ty.clone(),
        },
        (8, TypeKind::Record(fields)) => Type::product(fields.iter().map(|f| f.1.clone()).collect()),
        (9, TypeKind::Product(parts) | TypeKind::Sum(parts)) if reach >= Reach::Isomorphic => {
            let mut parts = parts.clone();
            parts.reverse();
            match ty.kind() {
                TypeKind::Product(_) => Type::product(parts),
                _ => Type::sum(parts),
            }
        }
        (10, TypeKind::Product(parts)) if reach >= Reach::Isomorphic => match parts[0].kind() {
            TypeKind::Sum(cases) => Type::sum(
                cases
                    .iter()
                    .map(|case| Type::product([std::slice::from_ref(case), &parts[1..]].concat()))
                    .collect(),
            ),
            _ => ty.clone(),
        },
        (11, TypeKind::Array(element, index)) if reach >= Reach::Isomorphic => match element.kind() {
            TypeKind::Product(parts) => {
                Type::product(parts.iter().map(|part| Type::array(part.clone(), index.clone())).collect())
            }
            _ if element.is_compact() => Type::compact_power(element.clone(), index.clone()),
            _ => ty.clone(),
        },
        (12, TypeKind::Nominal(_, args)) if reach >= Reach::Anything => {
            let other = Type::compact_product(vec![args[2].clone(), n(1)]);
            abstract_type(args[0].clone(), args[1].clone(), other)
        }
        (12, TypeKind::Scalar(_)) if reach >= Reach::Anything => Type::real(),
        (13, _) if reach >= Reach::Anything => Type::product(vec![ty.clone(), n(2)]),
        (14, _) if reach >= Reach::Anything => Type::array(ty.clone(), variable("N")),
        (15, TypeKind::Product(parts)) if reach >= Reach::Anything => {
            let ba = Type::product([&parts[1..], &parts[..1]].concat());
            Type::product(vec![parts[0].clone(), Type::array(ba, variable("N"))])
        }
        _ => ty.clone(),
    }
}

/// `(A*B)^(I+1) = A * (B*A)^I * B`
fn rotated(ty: &Type, index: &Type, parts: &[Type]) -> Type {
    match index.kind() {
        TypeKind::CompactSum(cases) if cases.last().is_some_and(Type::is_unit) => {
            let fewer = Type::compact_sum(cases[..cases.len() - 1].to_vec());
            let ba = Type::product([&parts[1..], &parts[..1]].concat());
            Type::product(vec![parts[0].clone(), Type::array(ba, fewer), Type::product(parts[1..].to_vec())])
        }
        _ => ty.clone(),
    }
}
