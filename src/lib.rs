//! Felis: a statically typed array language in which shapes are types, and types are numbers.
//!
//! The walk, floor by floor (a module knows only the floors above it in this list):
//!
//! ```text
//! text ─ syntax ─▶ tree ─ check ─▶ typed tree (+ isomorphism obligations) ─ iso ─▶ witnesses
//!      ─ core ─▶ concrete terms ─ eval ─▶ value
//! ```
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
