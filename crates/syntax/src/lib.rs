//! Text to syntax tree and back.

pub mod syntax;

pub(crate) use felis_base::{diagnostic, hash, quote, source};
