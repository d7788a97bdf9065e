//! Common parts of the syntax tests: trees without their spans, and errors as text.

use felis_base::diagnostic::render;
use felis_base::source::SourceMap;
use felis_syntax::syntax::{self, ast};
use std::fmt::Debug;

/// Returns a tree as text without spans: equal texts are equal trees.
pub fn bare(tree: &impl Debug) -> String {
    let text = format!("{tree:?}");
    let mut out = String::with_capacity(text.len());
    let mut rest = text.as_str();
    loop {
        // Headers are few: each is looked for no further than to the next span, or a tree takes
        // quadratic time.
        let span = rest.find("span: ").map(|at| at + "span: ".len());
        let header = rest[..span.unwrap_or(rest.len())].find("header: ").map(|at| at + "header: ".len());
        let Some(at) = header.or(span) else { break };
        out.push_str(&rest[..at]);
        rest = rest[at..].trim_start_matches(|c: char| c.is_ascii_digit() || c == ':' || c == '.');
    }
    out.push_str(rest);
    out
}

/// Returns the statements of a text, which must have no error.
pub fn stmts(text: &str) -> Vec<ast::Stmt> {
    let (stmts, errors) = read(text);
    assert!(errors.is_empty(), "{text}\n{errors}");
    stmts
}

/// Returns the statements of a text, and its errors as rendered.
pub fn read(text: &str) -> (Vec<ast::Stmt>, String) {
    let mut map = SourceMap::new();
    let source = map.add("test.flx", text);
    let parsed = syntax::parse(&source);
    (parsed.stmts, parsed.errors.iter().map(|e| render(e, &map, false)).collect())
}

/// Returns the codes of the errors in a text.
pub fn codes(text: &str) -> Vec<&'static str> {
    let mut map = SourceMap::new();
    let source = map.add("test.flx", text);
    syntax::parse(&source).errors.iter().map(|e| e.code.as_str()).collect()
}

/// Returns true if more lines could complete a text.
pub fn incomplete(text: &str) -> bool {
    let mut map = SourceMap::new();
    let source = map.add("test.flx", text);
    syntax::parse(&source).incomplete
}

/// A small pseudorandom generator: the tests need repeatable trees, not good randomness.
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
