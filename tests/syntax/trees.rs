//! What the syntax tests share: trees without their spans, and errors as text.

use felis::diagnostic::render;
use felis::source::SourceMap;
use felis::syntax::{self, ast};
use std::fmt::Debug;

/// A tree as text with the spans cut out: equal texts are equal trees.
pub fn bare(tree: &impl Debug) -> String {
    let text = format!("{tree:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    while let Some(at) = ["span: ", "header: "].iter().filter_map(|w| rest.find(w).map(|a| a + w.len())).min()
    {
        out.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == '.');
    }
    out.push_str(rest);
    out
}

/// The statements of a text that must be read without an error.
pub fn stmts(text: &str) -> Vec<ast::Stmt> {
    let (stmts, errors) = read(text);
    assert!(errors.is_empty(), "{text}\n{errors}");
    stmts
}

/// The statements of a text, and its errors as people see them.
pub fn read(text: &str) -> (Vec<ast::Stmt>, String) {
    let mut map = SourceMap::new();
    let source = map.add("test.flx", text);
    let parsed = syntax::parse(&source);
    (parsed.stmts, parsed.errors.iter().map(|e| render(e, &map, false)).collect())
}

/// The codes of the errors in a text.
pub fn codes(text: &str) -> Vec<&'static str> {
    let mut map = SourceMap::new();
    let source = map.add("test.flx", text);
    syntax::parse(&source).errors.iter().map(|e| e.code).collect()
}

/// Whether more lines could complete a text.
pub fn incomplete(text: &str) -> bool {
    let mut map = SourceMap::new();
    let source = map.add("test.flx", text);
    syntax::parse(&source).incomplete
}

/// A small random source: the tests need repeatable trees, not good randomness.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, sides: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % sides as u64) as usize
    }

    pub fn coin(&mut self) -> bool {
        self.roll(2) == 0
    }
}
