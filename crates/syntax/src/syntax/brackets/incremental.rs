//! Texts that arrive line by line.
//!
//! Takes lines; decides, in time linear in the new lines, that the text so far ends inside brackets
//! or blocks. Where that is undecided, the caller parses the whole text.

use super::super::lexer::{self, Token, TokenKind};
use super::state::{BracketPass, Delimiter};
use crate::source::Source;
use std::borrow::Cow;
use std::collections::VecDeque;

/// A text that arrives line by line. Detects, in time linear in the new lines, that the text ends
/// inside brackets or blocks; where that is undecided, the whole text has to be parsed.
pub struct IncrementalSplit {
    pass: BracketPass<'static>,
    /// The last tokens: each is processed when its lookahead is known, see
    /// [`IncrementalSplit::feed`].
    lookahead: VecDeque<Token>,
    /// The number of bytes that have been lexed.
    lexed_bytes: usize,
    /// The remainder ends inside a comment.
    in_comment: bool,
    /// The text has errors.
    has_errors: bool,
}

impl Default for IncrementalSplit {
    fn default() -> IncrementalSplit {
        let pass = BracketPass::new(Cow::Owned(Source::default()));
        IncrementalSplit {
            pass,
            lookahead: VecDeque::new(),
            lexed_bytes: 0,
            in_comment: false,
            has_errors: false,
        }
    }
}

impl IncrementalSplit {
    /// Returns the text so far.
    pub fn text(&self) -> &str {
        &self.pass.source.text
    }

    /// Returns the text.
    pub fn into_text(self) -> String {
        self.pass.source.into_owned().text
    }

    /// Adds whole lines; returns true if the text is certainly incomplete.
    pub fn push(&mut self, lines: &str) -> bool {
        self.pass.source.to_mut().text.push_str(lines);
        if self.has_errors {
            return false;
        }
        if self.in_comment && !lines.contains("*/") && !lines.contains("\"\"\"") {
            return true;
        }
        let found = lexer::lex_range(&self.pass.source, self.lexed_bytes..self.text().len());
        self.in_comment = found.open_comment && found.errors.len() == 1;
        // What stands before the comment may be wrong.
        if self.in_comment {
            return false;
        }
        self.has_errors = !found.errors.is_empty();
        self.lexed_bytes = self.text().len();
        for token in found.tokens {
            self.feed(token);
        }
        self.has_errors |= !self.pass.out.errors.is_empty();
        !self.has_errors && self.is_incomplete()
    }

    /// Processes the tokens whose lookahead is known: each depends on the next one, and `fun x`,
    /// which begins a definition or a function without a name, on the one after it.
    fn feed(&mut self, token: Token) {
        self.lookahead.push_back(token);
        let kind = |token: &Token| token.kind;
        while let Some(next) = self.lookahead.get(1).map(kind) {
            let after = self.lookahead.get(2).map(kind);
            let first = self.lookahead[0];
            let undecided = matches!(first.kind, TokenKind::Fun | TokenKind::Proc) && next == TokenKind::Name;
            if undecided && after.is_none() {
                return;
            }
            self.lookahead.pop_front();
            if self.pass.process_token(first, Some(next), after) {
                self.pass.end_statement(false);
            }
        }
    }

    /// Returns true if something stays open whatever the last token does.
    fn is_incomplete(&self) -> bool {
        // More than one token waits where a definition or a function without a name begins.
        let (1, Some(held)) = (self.lookahead.len(), self.lookahead.front()) else { return false };
        if matches!(held.kind, TokenKind::LParen | TokenKind::LBracket | TokenKind::LBrace) {
            return true;
        }
        let Some(top) = self.pass.stack.last() else { return false };
        // A construct in the form of another language is an error, or may be one.
        let foreign = self.pass.stack.iter().any(|frame| frame.foreign);
        if foreign || self.pass.braced > 0 || self.pass.malformed_if_error(top.open, top.at, None).is_some() {
            return false;
        }
        match held.kind {
            TokenKind::RParen
            | TokenKind::RBracket
            | TokenKind::RBrace
            | TokenKind::Endif
            | TokenKind::Endmatch
            | TokenKind::Done => self.pass.stack.len() > 1 && top.open.closer() == held.kind,
            TokenKind::Perform => self.pass.stack.len() > 1,
            // `if c:` has the form of another language.
            TokenKind::Colon => top.open != Delimiter::If,
            TokenKind::Semi => top.open.holds_statements(),
            // It may end what `begin` began.
            TokenKind::Name if self.pass.text(*held) == "end" => false,
            kind => !self.pass.begins_statement(kind, None, None),
        }
    }
}
