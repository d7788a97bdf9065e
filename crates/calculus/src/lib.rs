//! Types in canonical form, isomorphisms between them, and core, the form of checked programs.

pub mod core;
pub mod iso;
pub mod types;

pub(crate) use felis_base::{cancellation, elementary, hash, id, quote, source};
