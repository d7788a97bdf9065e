//! The state of the bracket pass: open frames, output and errors.

use super::super::error::{BracketError, SyntaxError};
use super::super::lexer::{Token, TokenKind};
use super::{MAX_DEPTH, MAX_ERRORS, StatementSplit};
use crate::source::{Source, Span};
use crate::syntax::brackets::height::Height;
use std::borrow::Cow;

/// An opening bracket or block word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delimiter {
    Paren,
    Bracket,
    Brace,
    /// `if` before `do`, or up to `endif`.
    If,
    /// `match` or `typematch` before `do`, or up to `endmatch`.
    Match,
    /// `do`, up to `done`.
    Do,
}

impl Delimiter {
    /// Returns the closing token.
    pub fn closer(self) -> TokenKind {
        match self {
            Delimiter::Paren => TokenKind::RParen,
            Delimiter::Bracket => TokenKind::RBracket,
            Delimiter::Brace => TokenKind::RBrace,
            Delimiter::If => TokenKind::Endif,
            Delimiter::Match => TokenKind::Endmatch,
            Delimiter::Do => TokenKind::Done,
        }
    }

    /// Returns true if a `;` may occur directly inside.
    pub fn holds_statements(self) -> bool {
        matches!(self, Delimiter::Brace | Delimiter::Do)
    }
}

/// An open bracket or block, with a bound on the tree inside it.
pub(super) struct Frame {
    pub open: Delimiter,
    /// The position of the opening token in the output.
    pub at: usize,
    /// The construct has the form of another language, which has been reported: any closer is
    /// accepted.
    pub foreign: bool,
    /// `match … with` whose arms are statements: `endmatch` ends it.
    pub arms_are_statements: bool,
    /// The position of the `then` of an `if` that a brace follows.
    pub braced: Option<usize>,
    pub height: Height,
}

/// The state of the pass.
pub(super) struct BracketPass<'s> {
    pub source: Cow<'s, Source>,
    pub out: StatementSplit,
    pub stack: Vec<Frame>,
    /// The number of open delimiters of each form: finding a partner must not search the whole
    /// stack.
    pub counts: [u32; 6],
    /// The number of open frames that have a `then` followed by a brace.
    pub braced: u32,
    /// The number of delimiters of each form that an error has closed: their closers are not
    /// reported.
    pub force_closed: [u32; 6],
    pub top_level: Height,
    /// The first token of the statement being read.
    pub start: usize,
    pub bad: bool,
    /// The statement is a declaration whose block ends it, as far as read.
    pub block_declaration: bool,
    pub reported_depth: bool,
    pub reported_chain: bool,
}

impl<'s> BracketPass<'s> {
    /// Returns the state at the beginning of a text.
    pub fn new(source: Cow<'s, Source>) -> BracketPass<'s> {
        BracketPass {
            source,
            out: StatementSplit::default(),
            stack: Vec::new(),
            counts: [0; 6],
            braced: 0,
            force_closed: [0; 6],
            top_level: Height::default(),
            start: 0,
            bad: false,
            block_declaration: false,
            reported_depth: false,
            reported_chain: false,
        }
    }

    /// Returns the span of a token.
    pub fn span(&self, token: Token) -> Span {
        Span { source: self.source.id, start: token.start, end: token.end }
    }

    /// Returns the text of a token.
    pub fn text(&self, token: Token) -> &str {
        &self.source.text[token.start as usize..token.end as usize]
    }

    /// Reports an error in the current statement.
    pub fn report(&mut self, error: impl Into<SyntaxError>) {
        self.bad = true;
        if self.out.errors.len() < MAX_ERRORS {
            self.out.errors.push(error.into());
        }
    }

    /// Returns the kind of the last token of the current statement.
    pub fn last_kind(&self) -> Option<TokenKind> {
        self.out.tokens[self.start..].last().map(|t| t.kind)
    }

    /// Returns true if a line break precedes a token.
    pub fn begins_line(&self, token: Token) -> bool {
        let end = self.out.tokens.last().map_or(0, |last| last.end as usize);
        self.source.text.get(end..token.start as usize).is_some_and(|gap| gap.contains('\n'))
    }

    /// Returns the tokens after the opener at `at` that are in no brackets of their own.
    pub fn directly_inside(&self, at: usize) -> impl Iterator<Item = &Token> {
        let mut depth = 0u32;
        self.out.tokens.iter().skip(at + 1).filter(move |token| match token.kind {
            TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace => {
                depth += 1;
                depth == 1
            }
            TokenKind::RParen | TokenKind::RBracket | TokenKind::RBrace => {
                depth = depth.saturating_sub(1);
                false
            }
            _ => depth == 0,
        })
    }

    /// Returns true if a colon stands after the condition that begins at `at`, in a form of another
    /// language: not that of a code such as `` `1:3 ``.
    pub fn has_colon_after_condition(&self, at: usize) -> bool {
        let mut colons_of_codes = 0u32;
        self.directly_inside(at).any(|token| match token.kind {
            TokenKind::Tick => {
                colons_of_codes += 1;
                false
            }
            TokenKind::Colon if colons_of_codes > 0 => {
                colons_of_codes -= 1;
                false
            }
            kind => kind == TokenKind::Colon,
        })
    }

    /// Opens a frame.
    pub fn open(&mut self, open: Delimiter, token: Token) {
        let outer = self.height();
        let base = outer.base + outer.deep + outer.dollars + 1;
        self.out.max_depth = self.out.max_depth.max(base);
        if base > MAX_DEPTH {
            self.report_too_deep(token);
        }
        self.counts[open as usize] += 1;
        let height = Height { base, ..Height::default() };
        self.stack.push(Frame {
            open,
            at: self.out.tokens.len(),
            foreign: false,
            arms_are_statements: false,
            braced: None,
            height,
        });
    }

    /// Closes the innermost frame.
    pub fn pop(&mut self) {
        if let Some(mut frame) = self.stack.pop() {
            self.counts[frame.open as usize] -= 1;
            self.braced -= u32::from(frame.braced.is_some());
            frame.height.read_separator(true);
            let inner = frame.height.finished + 1;
            let outer = self.height();
            outer.tallest = outer.tallest.max(inner);
        }
    }

    /// Returns the bound of the innermost frame.
    pub fn height(&mut self) -> &mut Height {
        match self.stack.last_mut() {
            Some(frame) => &mut frame.height,
            None => &mut self.top_level,
        }
    }

    /// Reports excessive nesting, once.
    pub fn report_too_deep(&mut self, token: Token) {
        self.bad = true;
        if !self.reported_depth {
            self.reported_depth = true;
            let span = self.span(token);
            self.report(BracketError::TooDeep { span, limit: MAX_DEPTH });
        }
    }
}
