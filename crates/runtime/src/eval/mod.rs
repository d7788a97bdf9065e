//! The reference evaluator: the complete semantics of core.
//!
//! Takes a checked [`Script`] and the [`Program`] it calls into; gives its value and its output.
//! Each function is specialized to its type arguments when first called ([`specialize`]), then run
//! as a tree ([`terms`], [`statements`]). Arrays are flat buffers throughout; `:>>` is nothing at
//! all.
//!
//! Never checks types: core is trusted. Prints through the host it is given, reads and writes files
//! only through it.

mod arithmetic;
mod bindings;
mod calls;
mod ciphers;
mod code;
mod communication;
mod dictionary;
mod error;
mod evaluator;
mod existential;
mod existential_prims;
mod file_records;
mod files;
mod frame;
mod grouping;
mod json;
mod keys;
mod machine;
mod matching;
mod overrides;
pub mod preview;
mod prim;
mod progress;
mod reduce;
mod regex_ops;
mod run;
mod show;
mod sort;
mod specialize;
pub mod stack_guard;
mod statements;
mod stores;
mod string_ops;
mod system_ops;
mod terms;
mod text_ops;
mod tier_up;
mod time_ops;
mod wire;

pub use crate::picture::{Colors, Screen};
pub use communication::Party;
pub use error::{Failure, RuntimeError, format_bytes};
pub use files::{PictureFields, drawn_picture};
pub use machine::{Checkpoint, Host, Machine};
pub use progress::{Progress, Watcher};

use crate::layout::Layouts;
use crate::types::Type;
use crate::value::Value;

/// Returns a value as text for people, as `.str` does.
pub fn display(value: &Value, ty: &Type) -> String {
    let layouts = Layouts::default();
    show::structural_text(&layouts, false, value, ty, None)
}

/// Returns a `real` as text for people.
pub fn real_text(x: f64) -> String {
    show::real_text(x)
}

/// Returns a value as text that reads back, as `._strr` does.
pub fn read_back(value: &Value, ty: &Type) -> String {
    let layouts = Layouts::default();
    show::structural_text(&layouts, true, value, ty, None)
}

#[allow(unused_imports)] // named in the documentation above
use crate::core::{Program, Script};
