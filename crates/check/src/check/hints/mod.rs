//! Hints: texts and edits that a message offers. They read types and trees, and never elaborate.

pub(in crate::check) mod advice;
pub(in crate::check) mod fields;
pub(in crate::check) mod fit;
pub(in crate::check) mod grouping;
pub(in crate::check) mod late_size;
pub(in crate::check) mod mismatch;
pub(in crate::check) mod why_not;
