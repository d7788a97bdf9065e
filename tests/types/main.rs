//! Types: properties of isomorphism, kinds, number types and core, on random types and values.

#[path = "../common/checker.rs"]
mod checker;
mod core;
mod fault_injection;
mod iso_exact;
mod iso_expression;
mod iso_given;
mod iso_laws;
mod iso_limits;
mod iso_report;
mod iso_support;
mod iso_table;
mod iso_witness;
mod kinds;
mod laws;
mod numbers;
#[path = "../common/sharded.rs"]
mod sharded;

use sharded::in_four_parts;
