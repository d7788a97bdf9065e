//! Checking: messages of programs, classes, names, sizes, modules, queries of editors and hosts.

mod attacks;
#[path = "../common/checker.rs"]
mod checker;
mod ciphers;
mod class_laws;
mod class_search;
mod class_values;
mod classes;
mod common_types;
mod completion;
mod diagnostics;
#[path = "../common/in_memory.rs"]
mod in_memory;
mod modules;
mod queries;
mod scopes;
#[path = "../common/sharded.rs"]
mod sharded;
mod sizes;

use sharded::in_four_parts;
