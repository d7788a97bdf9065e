//! Malformed brackets and blocks: the errors, in particular for the forms of other languages.
//!
//! Takes the open frames and the token that cannot continue them; gives the most specific error.

use super::super::error::{BracketError, ForeignError, SyntaxError};
use super::super::lexer::{Token, TokenKind};
use super::state::{BracketPass, Delimiter};

impl BracketPass<'_> {
    /// Reports `if c {`, as in other languages, once, at the first brace.
    pub(super) fn check_branch_in_braces(&mut self, token: Token) {
        if self.last_kind() == Some(TokenKind::Then)
            && let Some(frame) = self.stack.last_mut()
            && frame.open == Delimiter::If
        {
            self.braced += u32::from(frame.braced.is_none());
            frame.braced = Some(self.out.tokens.len() - 1);
        }
        let Some(frame) = self.stack.last().filter(|frame| !frame.foreign) else { return };
        let at = frame.at;
        match frame.open {
            Delimiter::If => {}
            // `match e {`
            Delimiter::Match if !self.directly_inside(at).any(|t| t.kind == TokenKind::With) => {}
            _ => return,
        }
        // Where an operand is missing, the brace begins a block with a value.
        if !self.last_kind().is_some_and(TokenKind::ends_operand) {
            return;
        }
        // So does work at places: `else at bob {` and `else at {alice, bob} {`.
        if self.ends_with_at_places() {
            return;
        }
        // The body of a function without a name stands in braces.
        let function = self.directly_inside(at).any(|t| matches!(t.kind, TokenKind::Fun | TokenKind::Proc));
        if function {
            return;
        }
        let chained = self.stack.iter().rev().skip(1).take_while(|frame| frame.open == Delimiter::If);
        let told = chained.last().is_some_and(|frame| frame.foreign);
        if self.out.tokens[at].kind != TokenKind::If {
            let (word, brace) = (self.span(self.out.tokens[at]), self.span(token));
            self.report(ForeignError::ArmsInBraces { word, brace });
        } else if !told {
            let (word, brace) = (self.span(self.out.tokens[at]), self.span(token));
            self.report(ForeignError::BranchInBraces { word, brace, edits: Vec::new() });
        }
        if let Some(frame) = self.stack.last_mut() {
            frame.foreign = true;
        }
    }

    /// Returns true if the tokens so far end with `at bob` or `at {alice, bob}`.
    fn ends_with_at_places(&self) -> bool {
        let mut kinds = self.out.tokens.iter().rev().map(|token| token.kind).peekable();
        if kinds.next_if_eq(&TokenKind::RBrace).is_some() {
            while kinds.next_if(|kind| matches!(kind, TokenKind::Name | TokenKind::Comma)).is_some() {}
            kinds.next_if_eq(&TokenKind::LBrace).is_some() && kinds.next() == Some(TokenKind::At)
        } else {
            kinds.next_if(|kind| matches!(kind, TokenKind::Name | TokenKind::Qualified)).is_some()
                && kinds.next() == Some(TokenKind::At)
        }
    }

    /// Converts a `match … with` whose arms are statements, as Felix writes it, to the statement
    /// form; returns false if it is not one.
    pub(super) fn convert_to_match_statement(&mut self, at: usize) -> bool {
        let begins = at == self.start || may_precede_statement(self.out.tokens[at - 1].kind);
        let with = self.directly_inside(at).find(|t| t.kind == TokenKind::With).map(|t| t.start);
        let (true, Some(with), TokenKind::Match) = (begins, with, self.out.tokens[at].kind) else {
            return false;
        };
        self.out.tokens[at].kind = TokenKind::MatchDo;
        for token in self.out.tokens[at..].iter_mut().filter(|token| token.start == with) {
            token.kind = TokenKind::Do;
        }
        self.counts[Delimiter::Match as usize] -= 1;
        self.counts[Delimiter::Do as usize] += 1;
        if let Some(frame) = self.stack.last_mut() {
            frame.open = Delimiter::Do;
            frame.arms_are_statements = true;
        }
        true
    }

    /// Returns the error for the opener at `at`, which cannot be continued with `token`.
    pub(super) fn unclosed_error(&self, open: Delimiter, at: usize, token: Token) -> SyntaxError {
        if let Some(error) = self.branches_in_braces_error() {
            return error;
        }
        match self.malformed_if_error(open, at, Some(token)) {
            Some(error) => error,
            None => self.mismatch_error(open, at, token),
        }
    }

    /// Returns the error for the outermost open `if c then { s; }`, whose block has no value.
    pub(super) fn branches_in_braces_error(&self) -> Option<SyntaxError> {
        if self.braced == 0 {
            return None;
        }
        // With very many frames the outermost need not be found.
        const MAX_FRAMES: usize = 16;
        let open =
            self.stack.iter().rev().take(MAX_FRAMES).take_while(|frame| !frame.open.holds_statements());
        open.filter_map(|frame| self.then_in_braces_error(frame.at, frame.braced?)).last()
    }

    /// Returns the error for `then {` at a position, if the block has no value.
    pub(super) fn then_in_braces_error(&self, at: usize, then: usize) -> Option<SyntaxError> {
        let tokens = &self.out.tokens;
        let close = self.end_of_braces(then + 1)?;
        if close > then + 2 && tokens[close - 1].kind != TokenKind::Semi {
            return None;
        }
        let span = |at: usize| self.span(tokens[at]);
        let mut edits = vec![(span(then).to(span(then + 1)), "do".to_string())];
        let mut end = Some(close);
        if tokens.get(close + 1).is_some_and(|token| token.kind == TokenKind::Else) {
            edits.extend([(span(close), String::new())]);
            end = self.end_of_braces(close + 2);
            edits.extend(end.map(|_| (span(close + 2), String::new())));
        }
        match end {
            Some(end) => edits.push((span(end), "done".to_string())),
            None => edits.clear(),
        }
        Some(ForeignError::BranchInBraces { word: span(at), brace: span(then + 1), edits }.into())
    }

    /// Returns the position of the `}` for the `{` at a position, within a bound.
    pub(super) fn end_of_braces(&self, at: usize) -> Option<usize> {
        const MAX_TOKENS: usize = 500;
        let tokens = &self.out.tokens;
        if tokens.get(at)?.kind != TokenKind::LBrace {
            return None;
        }
        let mut depth = 0u32;
        let mut closes = tokens[at..].iter().take(MAX_TOKENS).enumerate().filter(|(_, token)| {
            match token.kind {
                TokenKind::LBrace => depth += 1,
                TokenKind::RBrace => depth -= 1,
                _ => return false,
            }
            depth == 0
        });
        closes.next().map(|(further, _)| at + further)
    }

    /// Returns the error for an `if` that has the form of neither a statement nor an expression
    /// when `token`, or the end of the text, stops it.
    pub(super) fn malformed_if_error(
        &self,
        open: Delimiter,
        at: usize,
        token: Option<Token>,
    ) -> Option<SyntaxError> {
        if open != Delimiter::If {
            return None;
        }
        let word = self.span(self.out.tokens[at]);
        let find = |kind: TokenKind| self.directly_inside(at).find(|t| t.kind == kind).map(|t| self.span(*t));
        let before = at.checked_sub(1).filter(|before| *before >= self.start);
        let before = before.map(|before| self.out.tokens[before].kind);
        let then = find(TokenKind::Then);
        if let (Some(then), Some(token)) = (then, token) {
            // `if c then s;` as a statement.
            let statement = before.is_none_or(may_precede_statement);
            let end = (statement && token.kind == TokenKind::Semi).then(|| self.span(token).after());
            return find(TokenKind::Else)
                .is_none()
                .then_some(ForeignError::ThenWithoutElse { word, then, end }.into());
        }
        if then.is_some() {
            return None;
        }
        if before.is_some_and(TokenKind::ends_operand) && find(TokenKind::Else).is_some() {
            return Some(ForeignError::ConditionBetween { word }.into());
        }
        // At the end of a text the rest may be still to come. In `` `1:3 `` and before the result
        // of a function stands a colon, too.
        let function = self
            .directly_inside(at)
            .any(|t| matches!(t.kind, TokenKind::Fun | TokenKind::Proc | TokenKind::Tick));
        let colon = find(TokenKind::Colon).filter(|_| !function);
        let token = match (token, colon) {
            (Some(token), _) => token,
            (None, Some(_)) => self.out.tokens[at],
            (None, None) => return None,
        };
        let single = token.kind.begins_statement().then(|| self.span(token));
        Some(ForeignError::MalformedIf { word, colon, single }.into())
    }

    /// Returns the error for `else if` in an unclosed `if … do`: the inner `done` has closed the
    /// inner `if`.
    pub(super) fn else_if_error(&self, at: usize) -> Option<SyntaxError> {
        if self.out.tokens[at].kind != TokenKind::IfDo {
            return None;
        }
        let inner = &self.out.tokens[at + 1..];
        let chained = inner.windows(2).find(|pair| {
            pair[0].kind == TokenKind::Else && matches!(pair[1].kind, TokenKind::If | TokenKind::IfDo)
                || pair[0].kind == TokenKind::Name && matches!(self.text(pair[0]), "elseif" | "elsif")
        })?;
        let word = match chained[0].kind {
            TokenKind::Name => self.span(chained[0]),
            _ => self.span(chained[0]).to(self.span(chained[1])),
        };
        Some(ForeignError::ElseIf { word, open: self.span(self.out.tokens[at]) }.into())
    }

    /// Returns the error for an opener that is not closed before `token`.
    pub(super) fn mismatch_error(&self, open: Delimiter, at: usize, token: Token) -> SyntaxError {
        let opener = self.out.tokens[at];
        BracketError::Mismatch {
            open: self.span(opener),
            opener: opener.kind,
            close: self.span(token),
            closer: token.kind,
            wanted: open.closer(),
            replace: false,
        }
        .into()
    }
}

/// Returns true for a token after which a statement may begin.
fn may_precede_statement(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(kind, Semi | LBrace | RBrace | Do | Done | Else)
}
