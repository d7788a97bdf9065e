//! Solvers of the checker: holes and unification, entailment of constraints, coverage of matches.

pub(in crate::check) mod axes;
pub(in crate::check) mod constraint;
pub(in crate::check) mod exhaustive;
pub mod infer;
