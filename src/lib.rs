//! Felis: a statically typed array language in which shapes are types, and types are numbers.
//!
//! A [`Session`] runs texts and gives typed values:
//!
//! ```
//! use felis::Session;
//!
//! let mut felis = Session::new();
//! felis.set("prices", vec![1.5, 2.0, 4.5])?;
//! felis.set("amounts", vec![2.0, 1.0, 3.0])?;
//! let total: f64 = felis.evaluate("sum (prices * amounts)")?.value()?.try_into()?;
//! assert_eq!(total, 18.5);
//!
//! // Types are checked before anything runs, and shapes are types.
//! let error = felis.evaluate("prices + (1.0, 2.0)").unwrap_err();
//! println!("{error}");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The library reads no file and prints nothing: files come from a [`FileSystem`], and the output
//! of programs is in the [`Outcome`].
//!
//! The stages of a program, each a module of its own (`ARCHITECTURE.md` says which may use which):
//!
//! ```text
//! text ─ syntax ─▶ tree ─ check ─▶ core ─ eval ─▶ value
//!                           │
//!                           └ iso: types at `:>>` ─▶ verdict, derivation
//!
//! core (a part of it) ─ build ─▶ array IR ─ array_loops ─▶ loops ─ jit ─▶ machine code ─▶ value
//! ```

#![warn(missing_docs)]

mod api;

pub use api::{
    Array, ConversionError, Diagnostic, Element, Error, ErrorKind, FileSystem, Interrupt, Location, Outcome,
    Session, Severity, Type, Value,
};

// For the command line and the tests; not part of the library's interface.
#[doc(hidden)]
pub mod editor;
#[doc(hidden)]
pub mod session;
