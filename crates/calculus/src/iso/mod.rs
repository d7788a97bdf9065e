//! Isomorphism of types: five verdicts, derivations that prove them, and their explanations.
//!
//! Takes two types; gives a [`Verdict`] ([`verdict`], the entry point of the checker), or a whole
//! [`Comparison`] ([`compare`]) with a derivation, the expression that moves the storage, and the
//! text of a diagnostic.
//!
//! ```text
//! fingerprint   refutes early by evaluation        (residue: arithmetic on towers)
//! exact         decides, case by case              (tree: sizes and words; slot_words:
//!                                                  words compared; size_form: normal form;
//!                                                  polynomial: common divisors; dyadic:
//!                                                  coefficients)
//! search        finds a derivation                 (natural_steps: storage kept;
//!                                                  permuting_steps: storage moved)
//! laws          states the laws and derivations
//! verify        checks a derivation independently
//! report        explains
//! expression    program text that moves storage
//! labels        the labels that a reshape discards
//! equations     isomorphism under equations        (substitute: sizes replaced by equal ones)
//! ```
//!
//! A verdict is exact: "natural" and "isomorphic" are given only where normal forms are equal, or,
//! where those would be too large, for a derivation that was verified. Deciding does not search:
//! the high school identities are not complete for exponentiation (Wilkie 1981), so a verdict may
//! come without a derivation, never the reverse. A derivation that does not verify is not returned.
//! Types beyond the bounds are [`Verdict::Unknown`].
//!
//! Knows no syntax and no checker. Types that mention an error already reported are equal to every
//! other; holes of inference are opaque types, and the checker does not pass them.

// A declared type is hashed by its number; its body, filled in later, plays no part.

mod dyadic;
pub mod equations;
pub mod exact;
pub mod expression;
pub mod fingerprint;
pub mod labels;
pub mod laws;
pub mod leaves;
mod natural_steps;
mod permuting_steps;
mod polynomial;
mod report;
pub mod residue;
pub mod search;
mod size_form;
mod slot_words;
mod substitute;
mod tree;
pub mod verify;

pub use labels::{LabelLoss, label_loss, text_after_cast};
pub use laws::{Law, Witness};
pub use report::{Comparison, Difference, Move, explain, permutes_axes};
pub use verify::verify;

use crate::types::Type;
use std::cell::Cell;
use std::fmt;

/// The relation of two types, closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The same type.
    Equal,
    /// The same storage, whatever the sizes: a conversion costs nothing.
    Natural,
    /// Equally many values, but storage must move.
    Isomorphic,
    /// Different numbers of values.
    Different,
    /// Beyond the bounds of the decision procedure.
    Unknown,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Equal => "equal",
            Verdict::Natural => "natural",
            Verdict::Isomorphic => "isomorphic",
            Verdict::Different => "different",
            Verdict::Unknown => "unknown",
        })
    }
}

thread_local! {
    /// Test hook: [`verdict`] returns `Natural` for every two types on this thread.
    static FORCED_NATURAL: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` while [`verdict`] returns `Natural` for every two types on this thread. Only for
/// tests of the checks behind a verdict.
#[doc(hidden)]
pub fn with_forced_natural<T>(work: impl FnOnce() -> T) -> T {
    /// Restores the previous state, also when `work` panics.
    struct Before(bool);
    impl Drop for Before {
        fn drop(&mut self) {
            FORCED_NATURAL.set(self.0);
        }
    }
    let _before = Before(FORCED_NATURAL.replace(true));
    work()
}

/// Returns the relation of `a` and `b`.
pub fn verdict(a: &Type, b: &Type) -> Verdict {
    if a == b || mentions_error(a) || mentions_error(b) {
        return Verdict::Equal;
    }
    if FORCED_NATURAL.get() {
        return Verdict::Natural;
    }
    if a.is_spread() || b.is_spread() {
        return match (a.as_placed(), b.as_placed()) {
            (Some((a, here)), Some((b, there))) if here == there => verdict(a, b).max(Verdict::Natural),
            // A slot is compared together with its places.
            _ => {
                let [a, b] = [a, b].map(Type::with_places_at_leaves);
                if a == b { Verdict::Natural } else { unplaced_verdict(&a, &b) }
            }
        };
    }
    unplaced_verdict(a, b)
}

/// Returns the relation of two different types without `@`, or with `@` at leaves, which are slots
/// of their own.
fn unplaced_verdict(a: &Type, b: &Type) -> Verdict {
    if a.has_rest() || b.has_rest() {
        // A pair has the slots of the product it replaces.
        let [a, b] = Type::rests_as_pairs([a, b]);
        return if a == b { Verdict::Natural } else { unplaced_verdict(&a, &b) };
    }
    if let (Ok(a), Ok(b)) = (a.size(), b.size()) {
        // Sizes that are small numbers need no fingerprint.
        return if a == b { Verdict::Natural } else { Verdict::Different };
    }
    let natural = decide(a, b, Verdict::Natural, fingerprint::same_slots, exact::same_slots);
    if natural == Some(true) {
        return Verdict::Natural;
    }
    match (decide(a, b, Verdict::Isomorphic, fingerprint::same_count, exact::same_count), natural) {
        (Some(false), _) => Verdict::Different,
        (Some(true), Some(false)) => Verdict::Isomorphic,
        _ => Verdict::Unknown,
    }
}

/// A question about two types.
type Question<T> = fn(&Type, &Type) -> T;

/// Decides one question about two types: refuted by `maybe`, else decided by `exact`, or where that
/// exceeds its budget by a verified derivation of `proves`. `None` if all fail.
fn decide(
    a: &Type,
    b: &Type,
    proves: Verdict,
    maybe: Question<bool>,
    exact: Question<Option<bool>>,
) -> Option<bool> {
    if !maybe(a, b) {
        return Some(false);
    }
    exact(a, b).or_else(|| {
        let witness = search::search(a, b, proves)?;
        verify(a, b, &witness).is_ok_and(|proved| proved <= proves).then_some(true)
    })
}

/// Returns the relation of `a` and `b`, with reasons.
pub fn compare(a: &Type, b: &Type) -> Comparison {
    let [a, b] = &Type::rests_as_pairs([a, b]);
    let verdict = verdict(a, b);
    let witness = match verdict {
        Verdict::Equal if a == b => Some(Witness::identity(a)),
        Verdict::Natural | Verdict::Isomorphic => {
            search::search(a, b, verdict).filter(|w| verify(a, b, w).is_ok_and(|proved| proved == verdict))
        }
        _ => None,
    };
    Comparison::new(a, b, verdict, witness)
}

/// Returns true if the error type occurs in a type.
fn mentions_error(ty: &Type) -> bool {
    let mut found = ty.is_error();
    ty.kind().for_each_child(&mut |child| found = found || mentions_error(child));
    found
}
