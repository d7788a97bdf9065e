//! The programs of the conformance folder: each is parsed without an error.
//!
//! Takes the copies in `tests/syntax/`; never runs them.

use felis_base::diagnostic::render;
use felis_base::source::SourceMap;
use felis_syntax::syntax;

fn reads(name: &str, text: &str) -> usize {
    let mut map = SourceMap::new();
    let source = map.add(name, text);
    let parsed = syntax::parse(&source);
    let errors: String = parsed.errors.iter().map(|e| render(e, &map, false)).collect();
    assert!(parsed.errors.is_empty(), "{errors}");
    assert!(!parsed.incomplete);
    parsed.stmts.len()
}

#[test]
fn seed_programs_are_read() {
    assert_eq!(reads("reshape.flx", include_str!("reshape.flx")), 16);
    assert_eq!(reads("sums.flx", include_str!("sums.flx")), 10);
}

#[test]
fn encoding_is_read() {
    assert_eq!(reads("encoding.flx", include_str!("encoding.flx")), 200);
}
