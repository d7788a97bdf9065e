//! What stands between two tokens: comments and line breaks.
//!
//! Takes a text with its tokens; gives, for each token and for the end, the comments before it and where
//! lines are broken. Knows no grammar.

use super::super::lexer::Token;

/// What stands before a token.
#[derive(Debug, Default)]
pub(super) struct Gap<'t> {
    /// The comments, in order.
    pub comments: Vec<Comment<'t>>,
    /// Line breaks between the last comment, or the token before, and this token.
    pub newlines: usize,
}

/// A comment where it stands.
#[derive(Debug)]
pub(super) struct Comment<'t> {
    /// With its `//` or `/* */`, without blanks at the end.
    pub text: &'t str,
    /// Its number among all comments.
    pub number: usize,
    /// Line breaks before it.
    pub newlines: usize,
    /// It reaches to the end of its line.
    pub line: bool,
}

impl Gap<'_> {
    /// Whether a line is broken anywhere in it.
    pub fn breaks(&self) -> bool {
        self.newlines > 0 || self.comments.iter().any(|c| c.newlines > 0 || c.line)
    }
}

/// The gaps before each of some tokens, and one after the last.
pub(super) fn gaps<'t>(text: &'t str, tokens: &[Token]) -> Vec<Gap<'t>> {
    let mut out = Vec::with_capacity(tokens.len() + 1);
    let (mut from, mut number) = (0, 0);
    for token in tokens {
        out.push(gap(&text[from..token.start as usize], &mut number));
        from = token.end as usize;
    }
    out.push(gap(&text[from..], &mut number));
    out
}

fn gap<'t>(text: &'t str, number: &mut usize) -> Gap<'t> {
    let mut gap = Gap::default();
    let mut rest = text;
    while !rest.is_empty() {
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            2 + super::super::lexer::comment_length(&rest[2..]).unwrap_or(rest.len() - 2)
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
            line: comment.starts_with("//"),
        });
        *number += 1;
        rest = after;
    }
    gap
}
