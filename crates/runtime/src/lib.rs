//! Values, their layout, files of data, pictures, and the evaluator.

pub mod calendar;
pub mod data;
pub mod eval;
pub mod kernel;
pub mod layout;
pub mod network;
pub mod picture;
pub mod system;
pub mod value;

pub(crate) use felis_base::{diagnostic, elementary, hash, id, quote, source, suggest};
pub(crate) use felis_calculus::{core, types};
