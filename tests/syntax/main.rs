//! Reading and writing programs: constructs and their trees, messages, printing, layout, editions,
//! arbitrary text.

mod conformance;
mod constructs;
mod diagnostics;
mod editions;
mod layout;
mod random_trees;
mod robustness;
mod roundtrip;
mod trees;
mod visit;
