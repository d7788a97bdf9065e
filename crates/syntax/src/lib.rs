//! Text to syntax tree and back.

// Without the grammar, what only the grammar uses is not called.
#![cfg_attr(not(feature = "grammar"), allow(dead_code, unused_imports))]

pub mod syntax;

pub(crate) use felis_base::{diagnostic, hash, quote, source};
