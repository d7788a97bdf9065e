//! Trivia: the comments and line breaks between tokens.
//!
//! Takes a text with its tokens; gives, for each token and for the end, the comments before it and
//! the positions of line breaks. Knows no grammar.

use super::super::lexer::{self, Token};

/// The trivia before a token.
#[derive(Debug, Default)]
pub(super) struct Trivia<'t> {
    /// The comments, in order.
    pub comments: Vec<Comment<'t>>,
    /// Line breaks between the last comment, or the token before, and this token.
    pub newlines: usize,
}

/// A comment with its position.
#[derive(Debug)]
pub(super) struct Comment<'t> {
    /// With its `//` or `/* */`, without blanks at the end.
    pub text: &'t str,
    /// The number among all comments.
    pub number: usize,
    /// The number of line breaks before it.
    pub newlines: usize,
    /// True for a line comment, which extends to the end of its line.
    pub line: bool,
}

impl Trivia<'_> {
    /// Returns true if it contains a line break.
    pub fn has_line_break(&self) -> bool {
        self.newlines > 0 || self.comments.iter().any(|c| c.newlines > 0 || c.line)
    }
}

/// Returns the trivia before each of some tokens, and after the last.
pub(super) fn trivia<'t>(text: &'t str, tokens: &[Token]) -> Vec<Trivia<'t>> {
    let mut out = Vec::with_capacity(tokens.len() + 1);
    let (mut from, mut number) = (0, 0);
    let mut script = lexer::shebang_length(text);
    for token in tokens {
        out.push(trivia_of(&text[from..token.start as usize], &mut number, std::mem::take(&mut script)));
        from = token.end as usize;
    }
    out.push(trivia_of(&text[from..], &mut number, script));
    out
}

/// Returns the trivia of a text without tokens; `first` is the length of a `#!` line at its
/// beginning.
fn trivia_of<'t>(text: &'t str, number: &mut usize, first: usize) -> Trivia<'t> {
    let mut gap = Trivia::default();
    let mut rest = text;
    let mut script = first;
    while !rest.is_empty() {
        let line = script > 0 || rest.starts_with("//");
        let length = if script > 0 {
            std::mem::take(&mut script)
        } else if line {
            rest.find('\n').unwrap_or(rest.len())
        } else if let Some(inner) = rest.strip_prefix("/*") {
            2 + lexer::comment_length(inner).unwrap_or(inner.len())
        } else {
            let c = rest.chars().next().map_or(1, char::len_utf8);
            gap.newlines += usize::from(rest.starts_with('\n'));
            rest = &rest[c..];
            continue;
        };
        let (comment, after) = rest.split_at(length);
        gap.comments.push(Comment {
            text: comment.trim_end(),
            number: *number,
            newlines: std::mem::take(&mut gap.newlines),
            line,
        });
        *number += 1;
        rest = after;
    }
    gap
}
