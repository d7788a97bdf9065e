//! Properties of the decision procedure and of derivations, on random types.

use crate::in_four_parts;
use crate::iso_support::naive::{self, Sizes};
use crate::iso_support::random::{Reach, any_type, compact, rewrite};
use crate::iso_support::{ty, variable};
use felis_calculus::iso::laws::{Connective, Law, Reason};
use felis_calculus::iso::{Verdict, compare, verdict, verify};
use felis_calculus::types::Type;
use proptest::prelude::*;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

fn choices(most: usize) -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..2 * most)
}

/// Sizes at which types that agree must have values to compare.
const REQUIRED: u32 = 4;

/// Sizes at which types are compared if they have such values: `below[N] * N` and `N * below[N]`
/// have the same slots up to 3.
const COMPARED: u32 = 6;

/// Returns true if `f` agrees on both types at all small sizes; `None` if it is undefined at some
/// of those that are required.
fn agree<V: PartialEq>(a: &Type, b: &Type, f: impl Fn(&Type, Sizes) -> Option<V>) -> Option<bool> {
    let mut all = true;
    for n in 0..COMPARED {
        for m in 0..COMPARED {
            match (f(a, [n, m]), f(b, [n, m])) {
                (Some(x), Some(y)) if x != y => return Some(false),
                (Some(_), Some(_)) => {}
                _ => all &= n >= REQUIRED || m >= REQUIRED,
            }
        }
    }
    all.then_some(true)
}

#[test]
fn sizes_at_which_types_agree_by_chance_are_not_enough() {
    let (one, other) = (ty("below[N] * N"), ty("N * below[N]"));
    assert_eq!(agree(&one, &other, naive::slots), Some(false));
}

/// Returns the configuration; `PROPTEST_CASES` gives more cases, and failures print their
/// reproduction.
fn config() -> ProptestConfig {
    a_part(1)
}

/// Returns the configuration for one part of the cases.
fn a_part(parts: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(2_000_u32);
    ProptestConfig { cases: cases.div_ceil(parts), failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn natural_is_the_same_slots_at_every_size(a in any_type(), by in choices(4)) {
        for reach in [Reach::Natural, Reach::Isomorphic, Reach::Anything] {
            let b = rewrite(&a, &by, reach);
            if let Some(same) = agree(&a, &b, naive::slots) {
                prop_assert_eq!(verdict(&a, &b) <= Verdict::Natural, same, "{} against {}", a, b);
            }
        }
    }

    #[test]
    fn isomorphic_is_as_many_values_at_every_size(a in any_type(), by in choices(4)) {
        for reach in [Reach::Natural, Reach::Isomorphic, Reach::Anything] {
            let b = rewrite(&a, &by, reach);
            if let Some(same) = agree(&a, &b, naive::count) {
                prop_assert_eq!(verdict(&a, &b) <= Verdict::Isomorphic, same, "{} against {}", a, b);
            }
        }
    }

    #[test]
    fn unrelated_types_are_told_apart_as_well(a in any_type(), b in any_type(), c in compact(), d in compact()) {
        for (a, b) in [(&a, &b), (&c, &d)] {
            let found = verdict(a, b);
            if let Some(same) = agree(a, b, naive::slots) {
                prop_assert_eq!(found <= Verdict::Natural, same, "{} against {}", a, b);
            }
            if let Some(same) = agree(a, b, naive::count) {
                prop_assert_eq!(found <= Verdict::Isomorphic, same, "{} against {}", a, b);
            }
        }
    }

    #[test]
    fn verdicts_are_equivalences(a in any_type(), by in choices(3), then in choices(3)) {
        for reach in [Reach::Natural, Reach::Isomorphic, Reach::Anything] {
            let b = rewrite(&a, &by, reach);
            let c = rewrite(&b, &then, reach);
            prop_assert_eq!(verdict(&a, &a), Verdict::Equal);
            prop_assert_eq!(verdict(&a, &b), verdict(&b, &a));
            prop_assert!(verdict(&a, &c) <= verdict(&a, &b).max(verdict(&b, &c)));
        }
    }

    #[test]
    fn rewriting_by_laws_is_seen_and_derived(a in any_type(), by in choices(5)) {
        for (reach, bound) in [(Reach::Natural, Verdict::Natural), (Reach::Isomorphic, Verdict::Isomorphic)] {
            let b = rewrite(&a, &by, reach);
            let found = compare(&a, &b);
            prop_assert!(found.verdict <= bound, "{} against {}: {}", a, b, found.verdict);
            let witness = found.witness.as_ref();
            // Laws that move storage may have no effect, as between `N ^ (0 \\^ N)` and
            // `N \\^ (0 \\^ N)`. And `0 ^ N` absorbs every other power to the N, for which there
            // is no law.
            let chance = found.verdict < bound || reach == Reach::Isomorphic && a.to_string().contains('0');
            prop_assert!(witness.is_some() || chance, "no derivation of {} from {}", b, a);
            if let Some(witness) = witness {
                prop_assert_eq!(verify(&a, &b, witness).ok(), Some(found.verdict));
                prop_assert_eq!(verify(&b, &a, &witness.reversed()).ok(), Some(found.verdict));
            }
            let _ = found.explanation();
        }
    }

    #[test]
    fn corrupted_derivations_are_refused(a in any_type(), by in choices(4), at in any::<prop::sample::Index>()) {
        let b = rewrite(&a, &by, Reach::Isomorphic);
        let Some(witness) = compare(&a, &b).witness else { return Ok(()) };
        if witness.steps.is_empty() {
            return Ok(());
        }
        // A derivation to another end.
        let other = Type::product(vec![b.clone(), Type::string()]);
        prop_assert!(verify(&a, &other, &witness).is_err());
        // A derivation without one step.
        let mut shorter = witness.clone();
        let i = at.index(shorter.steps.len());
        shorter.steps.remove(i);
        prop_assert!(verify(&a, &b, &shorter).is_err());
        // A derivation with a type in the middle that is too large: one of its two steps is wrong
        // by any law.
        let mut wrong = witness.clone();
        let ruined = Type::product(vec![wrong.steps[i].to.clone(), Type::string()]);
        wrong.steps[i].to = ruined.clone();
        if let Some(next) = wrong.steps.get_mut(i + 1) {
            next.from = ruined;
        } else {
            wrong.to = ruined;
        }
        prop_assert!(verify(&wrong.from.clone(), &wrong.to.clone(), &wrong).is_err());
    }
}

/// Generates words of letters and powers of words.
fn word() -> impl Strategy<Value = Vec<Type>> {
    let letter = prop_oneof![Just(Type::int()), Just(Type::real())];
    let exponent = prop::sample::select(vec!["N", "M", "2", "N \\+ 1", "N \\+ M", "2 \\* N"]);
    let power = |(word, exponent): (Vec<Type>, &str)| Type::array(Type::product(word), ty(exponent));
    let part = letter.prop_recursive(2, 8, 3, move |inner| {
        (prop::collection::vec(inner, 1..4), exponent.clone()).prop_map(power)
    });
    prop::collection::vec(part, 0..3)
}

in_four_parts!(rotations_are_seen_and_derived);

/// `P·x·(u·x)^E·S = P·(x·u)^E·x·S`, alone and within a power that is rotated itself.
fn rotations_are_seen_and_derived(_: u32, parts: u32) {
    proptest!(a_part(parts), |(p in word(), x in word(), u in word(), s in word(), deeper in any::<bool>())| {
        let all = |parts: &[&[Type]]| parts.concat();
        let power = |parts: &[&[Type]], e: &str| vec![Type::array(Type::product(all(parts)), ty(e))];
        let mut left = all(&[&p, &x, &power(&[&u, &x], "M"), &s]);
        let mut right = all(&[&p, &power(&[&x, &u], "M"), &x, &s]);
        if deeper {
            left = all(&[&p, &power(&[&left, &p], "N")]);
            right = all(&[&power(&[&p, &right], "N"), &p]);
        }
        let (a, b) = (Type::product(left), Type::product(right));
        let found = compare(&a, &b);
        prop_assert!(found.verdict <= Verdict::Natural, "{} against {}: {}", a, b, found.verdict);
        let (tried, derived) = &ROTATIONS;
        let (tried, derived) = (tried.fetch_add(1, Relaxed) + 1, derived.fetch_add(usize::from(found.witness.is_some()), Relaxed));
        // The search is not complete for blocks within rotated blocks; the decision procedure is.
        prop_assert!(tried < 500 || derived * 100 > tried * MIN_DERIVED_PERCENT, "{derived} of {tried} derived");
    });
}

static ROTATIONS: (AtomicUsize, AtomicUsize) = (AtomicUsize::new(0), AtomicUsize::new(0));

/// The minimum share of derived rotations, in percent.
const MIN_DERIVED_PERCENT: usize = 95;

/// A law that keeps storage is refused for a step that moves it.
#[test]
fn a_wrong_law_is_refused() {
    let (a, b) = (ty("int * real"), ty("real * int"));
    let Some(mut witness) = compare(&a, &b).witness else { panic!("no derivation") };
    for law in [
        Law::Linearize,
        Law::Unfold,
        Law::Flatten(Connective::Product),
        Law::Concat(Connective::Product),
        Law::Concat(Connective::Sum),
        Law::Curry(Connective::Product),
        Law::Unroll(Connective::Product),
        Law::Rotate(Connective::Product),
        Law::PowerOne(Connective::Product),
        Law::PowerOne(Connective::Sum),
        Law::PowerZero(Connective::Sum),
        Law::Distribute,
        Law::Pack,
    ] {
        for step in &mut witness.steps {
            step.reason = Reason::Law(law);
        }
        assert!(verify(&a, &b, &witness).is_err(), "{law:?}");
    }
}

#[test]
fn variables_of_any_type_are_their_own() {
    assert_eq!(verdict(&variable("T"), &variable("U")), Verdict::Different);
}
