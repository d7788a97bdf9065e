//! Verification of derivations, independent of the search.
//!
//! Takes two types and a [`Witness`]; gives the verdict it proves, or the step that does not hold.
//! Each step is checked by itself, by the structure of the two types it claims: that the pair of
//! types is an instance of the law, left to right or right to left. Where a law speaks of sizes,
//! their exact normal forms are compared ([`super::exact::same_size`]). Calls neither the search
//! nor the decision procedure for slots, and uses no normal form of types: the de Bruijn criterion
//! (a proof object checked by a small program).

use super::Verdict;
use super::exact::{self, STEP_BUDGET};
use super::laws::{Connective, Law, Reason, Step, Witness, split_coefficient};
use crate::hash::HashMap;
use crate::types::{Type, TypeKind};
use num_traits::ToPrimitive;
use std::fmt;

/// The first fault of a derivation.
#[derive(Clone, Debug)]
pub enum Fault {
    /// The derivation does not start or end at the types in question, or a step does not start
    /// where the last one ended.
    Gap {
        /// The type expected.
        expected: Type,
        /// The type found.
        found: Type,
    },
    /// Two types are not an instance of the law claimed.
    NotAnInstance {
        /// The law.
        law: Law,
        /// The type before.
        from: Type,
        /// The type after.
        to: Type,
    },
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fault::Gap { expected, found } => write!(f, "expected `{expected}`, found `{found}`"),
            Fault::NotAnInstance { law, from, to } => {
                write!(f, "`{from}` and `{to}` are not an instance of {} ({})", law.name(), law.statement())
            }
        }
    }
}

/// Returns the verdict on `a` and `b` that the derivation proves.
///
/// # Errors
///
/// The first fault.
pub fn verify(a: &Type, b: &Type, witness: &Witness) -> Result<Verdict, Box<Fault>> {
    verify_within(a, b, witness, &mut STEP_BUDGET.clone())
}

/// Verifies with `work` steps left for the comparison of sizes.
fn verify_within(a: &Type, b: &Type, witness: &Witness, work: &mut u64) -> Result<Verdict, Box<Fault>> {
    require_equal(a, &witness.from)?;
    require_equal(b, &witness.to)?;
    let mut verdict = Verdict::Equal;
    let mut at = a;
    for step in &witness.steps {
        require_equal(at, &step.from)?;
        verdict = verdict.max(check(step, work)?);
        at = &step.to;
    }
    require_equal(at, b)?;
    Ok(verdict)
}

/// Returns a fault unless two types are equal.
fn require_equal(expected: &Type, found: &Type) -> Result<(), Box<Fault>> {
    if expected == found {
        return Ok(());
    }
    Err(Box::new(Fault::Gap { expected: expected.clone(), found: found.clone() }))
}

/// Returns the verdict that a step proves.
fn check(step: &Step, work: &mut u64) -> Result<Verdict, Box<Fault>> {
    match &step.reason {
        Reason::Law(law) => {
            let (from, to) = (step.from.clone(), step.to.clone());
            if !is_instance(*law, &from, &to, work) && !is_instance(*law, &to, &from, work) {
                return Err(Box::new(Fault::NotAnInstance { law: *law, from, to }));
            }
            Ok(if law.keeps_storage() { Verdict::Natural } else { Verdict::Isomorphic })
        }
        Reason::Congruence(children) => inside(step, children, work),
    }
}

/// Returns the verdict that a congruence step proves.
fn inside(
    step: &Step,
    children: &[(usize, std::sync::Arc<Witness>)],
    work: &mut u64,
) -> Result<Verdict, Box<Fault>> {
    // Functions and arguments of declared types are compared as wholes, compact types by size. The
    // canonical form may hide children (`T * T` is `T ^ 2`), so one end need only show them all.
    // Of a closed abstract type only the arguments may change that it is functorial in.
    let open = |ty: &Type| match ty.kind() {
        TypeKind::Product(_) | TypeKind::Sum(_) | TypeKind::Repeat(..) | TypeKind::Array(..) => true,
        TypeKind::Nominal(nominal, _) => nominal
            .layout()
            .is_some_and(|layout| children.iter().all(|(at, _)| layout.get(*at).copied() == Some(true))),
        _ => false,
    };
    let rebuilt = |ty: &Type, start: fn(&Witness) -> &Type, end: fn(&Witness) -> &Type| {
        let (mut i, mut matched) = (0, 0);
        let whole = ty.map_children(&mut |child| {
            let here = i;
            i += 1;
            match children.iter().find(|(at, w)| *at == here && start(w) == child) {
                Some((_, w)) => {
                    matched += 1;
                    end(w).clone()
                }
                None => child.clone(),
            }
        });
        (open(ty) && matched == children.len()).then_some(whole)
    };
    let forward = rebuilt(&step.from, |w| &w.from, |w| &w.to);
    if forward.as_ref() != Some(&step.to) {
        let backward = rebuilt(&step.to, |w| &w.to, |w| &w.from);
        require_equal(&step.from, backward.as_ref().unwrap_or(&step.to))?;
        if step.from == step.to || backward.is_none() {
            return Err(Box::new(Fault::Gap { expected: step.from.clone(), found: step.to.clone() }));
        }
    }
    let mut verdict = Verdict::Equal;
    for (_, witness) in children {
        verdict = verdict.max(verify_within(&witness.from, &witness.to, witness, work)?);
    }
    Ok(verdict)
}

/// Copies that an instance of [`Law::Unroll`] may have, at most.
const MAX_COPIES: usize = 10_000;

/// Returns true if `a` and `b` are the left and right side of an instance of the law.
fn is_instance(law: Law, a: &Type, b: &Type, work: &mut u64) -> bool {
    let mut same_size = |a: &Type, b: &Type| same_size(a, b, work);
    match law {
        Law::Linearize => same_size(a, b),
        Law::Unfold => unfolded(a).as_ref() == Some(b),
        Law::Represent => match a.kind() {
            TypeKind::Nominal(nominal, args) => {
                nominal.layout().is_none() && nominal.representation(args).as_ref() == Some(b)
            }
            _ => false,
        },
        Law::Flatten(side) => side.combine(side.flatten(a)) == *b,
        Law::Concat(side) => {
            let (left, right) = strip_common_ends(side, a, b);
            let parts: Vec<(Type, Type)> =
                left.iter().chain(&right).map(|part| side.base_and_exponent(part)).collect();
            let exponents = |parts: &[(Type, Type)]| {
                Type::compact_sum(parts.iter().map(|(_, exponent)| exponent.clone()).collect())
            };
            parts.windows(2).all(|pair| pair[0].0 == pair[1].0)
                && same_size(&exponents(&parts[..left.len()]), &exponents(&parts[left.len()..]))
        }
        Law::Curry(side) => {
            let (power, outer) = side.base_and_exponent(a);
            let (base, inner) = side.base_and_exponent(&power);
            let (other, whole) = side.base_and_exponent(b);
            base == other && same_size(&Type::compact_product(vec![outer, inner]), &whole)
        }
        Law::Unroll(side) => {
            let (left, right) = strip_common_ends(side, a, b);
            let [power] = left.as_slice() else { return false };
            let (word, count) = side.base_and_exponent(power);
            let word = side.parts(&word);
            let Some(count) = count.as_unit_sum().and_then(ToPrimitive::to_usize) else { return false };
            word.len().checked_mul(count).is_some_and(|n| n == right.len() && n <= MAX_COPIES)
                && right.chunks(word.len().max(1)).all(|copy| copy == word.as_slice())
        }
        Law::Rotate(side) => {
            let (left, right) = strip_common_ends(side, a, b);
            let (Some((last, moved)), Some((first, now_after))) = (left.split_last(), right.split_first())
            else {
                return false;
            };
            let ((before, n), (after, m)) = (side.base_and_exponent(last), side.base_and_exponent(first));
            let (before, after) = (side.parts(&before), side.parts(&after));
            n == m
                && moved == now_after
                && before.len() == after.len()
                && before.ends_with(moved)
                && after.starts_with(moved)
                && before[..before.len() - moved.len()] == after[moved.len()..]
        }
        Law::PowerOne(Connective::Product) => {
            matches!(a.kind(), TypeKind::Array(base, index) if index.is_unit() && base == b)
        }
        Law::PowerOne(Connective::Sum) => {
            matches!(a.kind(), TypeKind::Repeat(cases, case) if cases.is_unit() && case == b)
        }
        Law::PowerZero(Connective::Product) => {
            matches!(a.kind(), TypeKind::Array(_, index) if index.is_void() && b.is_unit())
        }
        Law::PowerZero(Connective::Sum) => {
            matches!(a.kind(), TypeKind::Repeat(cases, _) if cases.is_void() && b.is_void())
        }
        Law::UnitPower(Connective::Product) => {
            matches!(a.kind(), TypeKind::Array(base, _) if base.is_unit() && b.is_unit())
        }
        Law::UnitPower(Connective::Sum) => {
            matches!(a.kind(), TypeKind::Repeat(_, case) if case.is_void() && b.is_void())
        }
        Law::Commute(side) => {
            let count = |ty: &Type| {
                let mut counts: HashMap<Type, usize> = HashMap::default();
                side.parts(ty).into_iter().for_each(|part| *counts.entry(part).or_default() += 1);
                counts
            };
            count(a) == count(b)
        }
        Law::Distribute => {
            let factors = unrolled_factors(a);
            (0..factors.len()).any(|i| {
                let with = |case: &Type| {
                    let mut factors = factors.clone();
                    factors[i] = case.clone();
                    Type::product(factors)
                };
                match factors[i].kind() {
                    TypeKind::Sum(cases) => Type::sum(cases.iter().map(with).collect()) == *b,
                    TypeKind::Repeat(n, case) => Type::repeat(n.clone(), with(case)) == *b,
                    _ => false,
                }
            })
        }
        Law::Unzip => match a.kind() {
            TypeKind::Array(base, index) => match base.kind() {
                TypeKind::Product(parts) => {
                    let arrays = parts.iter().map(|part| Type::array(part.clone(), index.clone()));
                    Type::product(arrays.collect()) == *b
                }
                _ => false,
            },
            _ => false,
        },
        Law::Pack => match a.kind() {
            TypeKind::Array(base, index) if base.is_compact() => {
                same_size(&Type::compact_power(base.clone(), index.clone()), b)
            }
            _ => {
                let (left, right) = strip_common_ends(Connective::Product, a, b);
                left.iter().chain(&right).all(Type::is_compact)
                    && same_size(&Type::compact_product(left), &Type::compact_product(right))
            }
        },
        Law::Collect => {
            let collected = |ty: &Type| {
                let mut terms: HashMap<Vec<Type>, Vec<Type>> = HashMap::default();
                for case in Connective::Sum.parts(ty) {
                    let (copies, rest) = split_coefficient(&case);
                    terms.entry(rest).or_default().push(copies);
                }
                terms
            };
            let (left, right) = (collected(a), collected(b));
            left.len() == right.len()
                && left.into_iter().all(|(rest, copies)| {
                    right.get(&rest).is_some_and(|others| {
                        same_size(&Type::compact_sum(copies), &Type::compact_sum(others.clone()))
                    })
                })
        }
        Law::Annihilate => Connective::Product.parts(a).iter().any(Type::is_void) && b.is_void(),
    }
}

/// Returns the definition of a declared type, or a record as a product.
fn unfolded(ty: &Type) -> Option<Type> {
    match ty.kind() {
        TypeKind::Nominal(nominal, _) if nominal.has_existential_field() => None,
        TypeKind::Nominal(nominal, args) => nominal
            .definition(args)
            .or_else(|| Some(Type::product(nominal.struct_fields(args)?.into_iter().map(|f| f.1).collect()))),
        TypeKind::Record(fields) => Some(Type::product(fields.iter().map(|f| f.1.clone()).collect())),
        _ => None,
    }
}

/// Returns the factors of a product, with `T ^ n` as n of them.
fn unrolled_factors(ty: &Type) -> Vec<Type> {
    match ty.kind() {
        TypeKind::Array(..) => ty.components(64).unwrap_or_default(),
        _ => Connective::Product.parts(ty),
    }
}

/// Returns the parts of two words without their common ends.
fn strip_common_ends(side: Connective, a: &Type, b: &Type) -> (Vec<Type>, Vec<Type>) {
    let (mut left, mut right) = (side.parts(a), side.parts(b));
    let front = left.iter().zip(&right).take_while(|(x, y)| x == y).count();
    left.drain(..front);
    right.drain(..front);
    let back = left.iter().rev().zip(right.iter().rev()).take_while(|(x, y)| x == y).count();
    left.truncate(left.len() - back);
    right.truncate(right.len() - back);
    (left, right)
}

/// Returns true if two compact types have one size at every valuation, by exact arithmetic.
fn same_size(a: &Type, b: &Type, work: &mut u64) -> bool {
    if !a.is_compact() || !b.is_compact() {
        return false;
    }
    if a == b {
        return true;
    }
    match (a.size(), b.size()) {
        (Ok(a), Ok(b)) => a == b,
        _ => exact::same_size_within(a, b, work) == Some(true),
    }
}
