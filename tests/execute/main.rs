//! Executing: every executor gives the same, on all programs here, on random ones, on those made to
//! break things.

mod adversarial;
mod agreement;
mod agreement_random;
mod any_size;
mod bounds;
#[path = "../common/checker.rs"]
mod checker;
mod enumerations;
mod examples;
mod felix;
mod kernels;
mod loop_forms;
mod moves;
mod order;
mod pairs;
mod random;
mod random_programs;
mod rest;
mod shapes;
#[path = "../common/shelf.rs"]
mod shelf;
mod stdlib;
mod storing;
