//! Isomorphism of types: four verdicts, derivations that prove them, and the words that explain.
//!
//! Takes two types; gives a [`Verdict`] at once ([`verdict`], the checker's way in), or a whole
//! [`Comparison`] ([`compare`]) with a derivation, the expression that moves the storage, and
//! the text of a diagnostic.
//!
//! ```text
//! fingerprint   decides: same slots? as many values?  (residue: arithmetic on towers)
//! search        finds a derivation                    (words: storage kept; moving: storage moved)
//! laws          what a derivation is
//! verify        checks it, on its own
//! report        explains
//! expression    how a program moves storage
//! labels        what a reshape forgets, though the storage is the same
//! given         the same under equations of sizes
//! ```
//!
//! Deciding does not search and searching does not decide: the fingerprint is complete, the laws of
//! school are not (Wilkie), so that a verdict may come without a derivation, never the reverse. A
//! derivation that does not verify is not handed out.
//!
//! Knows no syntax and no checker. Types that mention an error already reported are equal to every
//! other; holes of inference should not come here and are types of their own.

// A declared type is hashed by its number; its body, filled in later, plays no part.

pub mod expression;
pub mod fingerprint;
pub mod given;
pub mod labels;
pub mod laws;
mod moving;
mod report;
pub mod residue;
pub mod search;
pub mod verify;
mod words;

pub use labels::{Forgotten, forgotten, written};
pub use laws::{Law, Witness};
pub use report::{Comparison, Move, Parting, explain, relabels};
pub use verify::verify;

use crate::types::Type;
use std::fmt;

/// How two types are related, closest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Verdict {
    /// The same type.
    Equal,
    /// The same storage, whatever the sizes: a conversion costs nothing.
    Natural,
    /// As many values, but storage must move.
    Isomorphic,
    /// Not as many values.
    Different,
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Equal => "equal",
            Verdict::Natural => "natural",
            Verdict::Isomorphic => "isomorphic",
            Verdict::Different => "different",
        })
    }
}

/// How `a` and `b` are related.
pub fn verdict(a: &Type, b: &Type) -> Verdict {
    if a == b || mentions_error(a) || mentions_error(b) {
        return Verdict::Equal;
    }
    if let (Ok(a), Ok(b)) = (a.size(), b.size()) {
        // Numbers that can be written down need no fingerprint.
        return if a == b { Verdict::Natural } else { Verdict::Different };
    }
    if fingerprint::same_slots(a, b) {
        Verdict::Natural
    } else if fingerprint::same_count(a, b) {
        Verdict::Isomorphic
    } else {
        Verdict::Different
    }
}

/// How `a` and `b` are related, with reasons.
pub fn compare(a: &Type, b: &Type) -> Comparison {
    let verdict = verdict(a, b);
    let witness = match verdict {
        Verdict::Equal if a == b => Some(Witness::none(a)),
        Verdict::Natural | Verdict::Isomorphic => {
            search::search(a, b, verdict).filter(|w| verify(a, b, w).is_ok_and(|proved| proved == verdict))
        }
        _ => None,
    };
    Comparison::new(a, b, verdict, witness)
}

fn mentions_error(ty: &Type) -> bool {
    let mut found = ty.is_error();
    ty.kind().for_each_child(&mut |child| found = found || mentions_error(child));
    found
}
