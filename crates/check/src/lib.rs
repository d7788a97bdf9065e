//! Syntax tree to core: inference and elaboration.

pub mod check;

pub(crate) use felis_base::{cancellation, diagnostic, hash, source, suggest};
pub(crate) use felis_calculus::{core, iso, types};
pub(crate) use felis_syntax::syntax;
