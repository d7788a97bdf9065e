//! Felis: a statically typed array language in which shapes are types, and types are numbers.
//!
//! The stages of a program:
//!
//! ```text
//! text ─ syntax ─▶ tree ─ check ─▶ core ─ eval ─▶ value
//!                           │
//!                           └ iso: types at `:>>` ─▶ verdict, derivation
//!
//! core (a part of it) ─ lower ─▶ loops ─ jit ─▶ machine code ─▶ value
//! ```
//!
//! The checker infers types and makes core in one pass, so there is no typed tree. `ARCHITECTURE.md` says which
//! module may use which.
//!
//! [`session`] is the one door for frontends; the library reads no file and prints nothing.

pub mod cancellation;
pub mod check;
pub mod core;
pub mod data;
pub mod diagnostic;
pub mod editor;
pub mod elementary;
pub mod eval;
pub mod hash;
pub mod iso;
pub mod jit;
pub mod kernel;
pub mod layout;
pub mod loop_ir;
pub mod lower;
pub mod picture;
pub mod quote;
pub mod session;
pub mod source;
pub mod suggest;
pub mod syntax;
pub mod types;
pub mod value;
