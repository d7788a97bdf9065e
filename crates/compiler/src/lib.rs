//! Core to loops to machine code.

pub mod array_loops;
pub mod jit;
pub mod loop_ir;

pub(crate) use felis_array_ir::{array_ir, build};
pub(crate) use felis_base::{elementary, hash, id, mnemonic, source};
pub(crate) use felis_calculus::{core, types};
pub(crate) use felis_runtime::{kernel, layout, value};
