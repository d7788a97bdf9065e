//! The core language: checked programs, with every choice made explicit.
//!
//! The checker elaborates into it: names are resolved, overloads chosen, type arguments and
//! conversions written out, pointwise arithmetic turned into array construction, patterns typed.
//! Types in core may mention rigid variables (code is shared by all shapes) but never a hole.
//!
//! Defines terms, the table of primitives, a validator and a printer. Knows neither syntax nor
//! evaluation.

pub mod free_variables;
pub mod integer_range;
pub mod last_use;
pub mod operand_order;
pub mod prim;
pub mod print;
pub mod program;
pub mod projection;
pub mod reduction;
pub mod scalar_function;
pub mod signature;
pub mod term;
#[cfg(test)]
mod testing;
pub mod validate;
pub mod visit;

pub use prim::Prim;
pub use program::{Class, ClassId, Implementation, Instance, Method, Program};
pub use term::*;
