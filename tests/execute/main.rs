//! Execution: all executors agree, on the programs of the project, on random ones, and on
//! adversarial ones.

mod adversarial;
mod agreement;
mod agreement_random;
mod any_size;
mod array_ir;
mod bounds;
#[path = "../common/checker.rs"]
mod checker;
#[cfg(feature = "ciphers")]
mod ciphers;
mod enumerations;
mod examples;
mod felix;
mod fields;
#[path = "../common/in_memory.rs"]
mod in_memory;
mod kernels;
mod live;
mod loop_forms;
mod meshes;
mod moves;
mod order;
mod pairs;
mod peers;
mod places;
mod private_tables;
mod random;
mod random_lists;
mod random_loops;
mod random_programs;
mod random_triangles;
mod recursion;
mod rest;
mod same_bits;
mod secret;
mod shapes;
#[path = "../common/sharded.rs"]
mod sharded;
mod stdlib;
mod storing;
mod watchdog;

use sharded::in_four_parts;
