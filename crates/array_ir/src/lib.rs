//! The array IR, between core and loops: what it is, and how it is built of core.

#![deny(missing_docs)]

pub mod array_ir;
pub mod build;

pub(crate) use felis_base::{hash, id, mnemonic, source};
pub(crate) use felis_calculus::{core, types};
