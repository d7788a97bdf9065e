//! Operators of fields and meshes beside NumPy: `tests/files/fields.flx` compares them with what
//! `make_fields.py` wrote into `fields.npz`.

use crate::in_memory::{fixtures, output};
use std::fs;

#[test]
fn operators_of_fields_compute_what_numpy_does() {
    let program = fs::read_to_string(fixtures().join("fields.flx")).expect("the program");
    let printed = output(&program);
    let (same, others): (Vec<&str>, Vec<&str>) =
        printed.lines().partition(|line| line.ends_with("as NumPy)"));
    assert!(others.is_empty(), "{others:#?}");
    assert_eq!(same.len(), 81, "{printed}");
}
