//! The array IR, between core and loops.

#![deny(missing_docs)]

pub mod array_ir;

pub(crate) use felis_base::{hash, source};
pub(crate) use felis_calculus::{core, types};
