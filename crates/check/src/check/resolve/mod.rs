//! Resolution of names: the functions, operators and classes that a name may refer to.

pub(in crate::check) mod behavior;
pub(in crate::check) mod builtin;
pub(in crate::check) mod candidates;
pub(in crate::check) mod typed_reader;
