//! Selection of statements: a text that is lexed and cut into statements, of which some are parsed.
//!
//! For an editor, which has parsed most statements of a text before. The digest of a statement
//! stands for all that its tree depends on.

use super::brackets::{self, StatementSplit};
use super::chunk::{Chunk, chunk};
use super::lexer::{self, Lexed, Token, TokenKind};
use super::literal::number_parts;
use super::parse::{Parsed, parse_statements, with_stack_for};
use super::text::{Edition, Text};
use crate::source::{Source, Span};
use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Errors of tokens, and of brackets, from which on not all are known: the digests of statements do
/// not show them.
const MAX_KNOWN_ERRORS: usize = 20;

/// The statements of a text as tokens.
pub struct StatementTexts<'s> {
    source: &'s Source,
    lexed: Lexed,
    cut: StatementSplit,
    /// The places of unreadable tokens, sorted.
    unreadable: BTreeSet<u32>,
}

impl<'s> StatementTexts<'s> {
    /// Lexes a text and cuts it into statements.
    pub fn new(source: &'s Source) -> StatementTexts<'s> {
        let lexed = lexer::lex(source);
        let cut = brackets::split_statements(source, &lexed.tokens);
        let unreadable = lexed.errors.iter().map(|error| error.to_diagnostic().primary.span.start).collect();
        StatementTexts { source, lexed, cut, unreadable }
    }

    /// Returns true if the digests of statements show every error of tokens and brackets.
    pub fn all_errors_known(&self) -> bool {
        self.lexed.errors.len().max(self.cut.errors.len()) < MAX_KNOWN_ERRORS
    }

    /// Returns the number of statements.
    pub fn len(&self) -> usize {
        self.cut.statements.len()
    }

    /// Returns true if there is no statement.
    pub fn is_empty(&self) -> bool {
        self.cut.statements.is_empty()
    }

    fn text(&self) -> Text<'_> {
        let Source { text, id, .. } = self.source;
        Text { text, id: *id, docs: &self.lexed.docs, edition: Edition::V02 }
    }

    fn tokens(&self, at: usize) -> &[Token] {
        &self.cut.tokens[self.cut.statements[at].tokens.clone()]
    }

    /// Returns the place of a statement.
    pub fn span(&self, at: usize) -> Span {
        self.text().span(self.tokens(at))
    }

    /// Returns a hash of all that the tree of a statement depends on: its tokens relative to its
    /// beginning, its doc comment, and the errors of its tokens and brackets.
    pub fn digest(&self, at: usize) -> u64 {
        let (statement, tokens, span) = (&self.cut.statements[at], self.tokens(at), self.span(at));
        let mut hasher = DefaultHasher::new();
        self.source.text.get(span.range()).hash(&mut hasher);
        for Token { kind, glued, synthetic, offside, start, end } in tokens {
            (*kind as u16, *glued, *synthetic, *offside).hash(&mut hasher);
            (start.wrapping_sub(span.start), end.wrapping_sub(span.start)).hash(&mut hasher);
        }
        tokens.first().and_then(|first| self.text().doc(first)).hash(&mut hasher);
        let unreadable = self.unreadable.range(span.start..span.end.max(span.start)).next().is_some();
        (statement.has_errors, statement.semicolon_missing, unreadable).hash(&mut hasher);
        hasher.finish()
    }

    /// Returns the names that a statement defines and mentions.
    pub fn chunk(&self, at: usize) -> Chunk {
        chunk(self.text(), self.tokens(at))
    }

    /// Returns the names of sizes that a statement opens, as `N` in `real ^ ?N`.
    pub fn opened_sizes(&self, at: usize) -> impl Iterator<Item = &str> {
        let pairs = self
            .tokens(at)
            .windows(2)
            .filter(|pair| matches!((pair[0].kind, pair[1].kind), (TokenKind::Question, TokenKind::Name)));
        pairs.map(|pair| self.text().of(&pair[1]))
    }

    /// Returns the names in a statement before a byte of the text, as they are written, with those
    /// that values in texts stand for.
    pub fn names_before(&self, at: usize, end: u32) -> impl Iterator<Item = &str> {
        let tokens = self.tokens(at).iter().filter(move |token| token.end <= end);
        tokens.flat_map(|token| {
            let text = self.text().of(token);
            let (one, more): (Option<&str>, &[&str]) = match token.kind {
                TokenKind::Name | TokenKind::Qualified => (Some(text), &[]),
                TokenKind::Suffixed => (number_parts(text).map(|(_, suffix)| suffix), &[]),
                TokenKind::InterpolatedOpen => (None, &["str", "fixed", "pad_left"]),
                _ => (None, &[]),
            };
            one.into_iter().chain(more.iter().copied())
        })
    }

    /// Parses the selected statements. The errors of tokens and brackets are those of all.
    pub fn parse(&self, selected: impl Fn(usize) -> bool + Sync) -> Parsed {
        let (cx, selected) = (self.text(), &selected);
        with_stack_for(&self.cut, || parse_statements(cx, &self.lexed, &self.cut, selected))
    }
}
