//! A text with its doc comments, which tokens point into.

use super::lexer::Token;
use crate::source::{SourceId, Span};
use std::sync::Arc;

/// The edition of the language, which determines the grouping of expressions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Edition {
    /// The grouping of version 0.1.
    V01,
    /// The grouping of this version.
    V02,
}

/// The text that tokens point into, with its doc comments.
#[derive(Clone, Copy)]
pub(crate) struct Text<'t> {
    pub text: &'t str,
    pub id: SourceId,
    pub docs: &'t [(u32, Arc<str>)],
    pub edition: Edition,
}

impl<'t> Text<'t> {
    /// Returns the text of a token.
    pub fn of(self, token: &Token) -> &'t str {
        &self.text[token.start as usize..token.end as usize]
    }

    /// Returns the span of tokens.
    pub fn span(self, tokens: &[Token]) -> Span {
        match tokens {
            [] => Span::new(self.id, 0, 0),
            [first, .., last] => Span { source: self.id, start: first.start, end: last.end },
            [one] => self.at(one),
        }
    }

    /// Returns the span of a token.
    pub fn at(self, token: &Token) -> Span {
        Span { source: self.id, start: token.start, end: token.end }
    }

    /// Returns the `///` comment directly before a token.
    pub fn doc(self, token: &Token) -> Option<Arc<str>> {
        let at = self.docs.binary_search_by_key(&token.start, |(start, _)| *start).ok()?;
        Some(self.docs[at].1.clone())
    }
}
