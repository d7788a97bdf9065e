//! The bracket pass: tokens → top-level statements, with brackets and block words checked.
//!
//! It runs before the grammar because error recovery from unclosed brackets within a backtracking
//! parser takes exponential time, and because an error in one statement must not lose the others
//! (panic-mode recovery at statement boundaries: A. Aho, M. Lam, R. Sethi and J. Ullman,
//! *Compilers*, section 4.8). It distinguishes `if … then` from `if … do`, and `match … with` from
//! `match … do`, so that the grammar needs no lookahead for them; it bounds nesting and chains, so
//! that every later walk over a tree may recurse; and it detects incomplete texts. Linear in the
//! number of tokens.

mod height;
mod incremental;
mod malformed;
mod state;

pub use incremental::IncrementalSplit;

use super::error::{BracketError, SyntaxError};
use super::lexer::{Token, TokenKind};
use crate::source::{Source, Span};
use height::{Binders, Height};
use state::{BracketPass, Delimiter, Frame};
use std::borrow::Cow;
use std::ops::Range;

/// Nesting of brackets, blocks and prefixes together, at most.
pub const MAX_DEPTH: u32 = 256;
/// Operands on one path through a tree, at most: the trees of chains like `1+1+…` are lopsided.
pub const MAX_CHAIN_OPERANDS: u32 = 10_000;
/// Errors that this pass reports, at most.
const MAX_ERRORS: usize = 20;

/// A text cut into statements.
#[derive(Debug, Default)]
pub struct StatementSplit {
    /// The tokens; every statement that needs a `;` has one, perhaps a synthetic one.
    pub tokens: Vec<Token>,
    /// The top-level statements.
    pub statements: Vec<Statement>,
    /// The errors of brackets and block words.
    pub errors: Vec<SyntaxError>,
    /// The text ends inside an open bracket or block.
    pub incomplete: bool,
    /// The deepest nesting of brackets, blocks and prefixes.
    pub max_depth: u32,
}

/// One top-level statement.
#[derive(Clone, Debug)]
pub struct Statement {
    /// The range of its tokens.
    pub tokens: Range<usize>,
    /// The brackets are wrong: an error has been reported, and the statement is not parsed.
    pub has_errors: bool,
    /// The `;` is missing, and another statement follows.
    pub semicolon_missing: bool,
}

/// Returns true if a declared name follows this word.
fn declares_name(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        Fun | Proc
            | Var
            | Val
            | Typedef
            | Typefun
            | KindWord
            | Type
            | Struct
            | Variant
            | Enum
            | Newtype
            | Class
            | Party
    )
}

/// Returns true if a `fun` before these tokens declares a name, unlike `fun (x) => e` and `fun x =>
/// e`.
fn declares_function(next: Option<TokenKind>, after_next: Option<TokenKind>) -> bool {
    let lambda =
        next == Some(TokenKind::Name) && matches!(after_next, Some(TokenKind::FatArrow | TokenKind::Arrow));
    next != Some(TokenKind::LParen) && !lambda
}

/// Cuts tokens into top-level statements.
pub fn split_statements(source: &Source, tokens: &[Token]) -> StatementSplit {
    let mut pass = BracketPass::new(Cow::Borrowed(source));
    pass.out.tokens.reserve(tokens.len() + 8);
    let mut at = 0;
    while at < tokens.len() {
        let after = |n: usize| tokens.get(at + n).map(|t| t.kind);
        let ended = pass.process_token(tokens[at], after(1), after(2));
        at += 1;
        if ended {
            // A block statement ends by its last word; a `;` after it is allowed.
            if let Some(semi) = tokens.get(at).filter(|t| t.kind == TokenKind::Semi) {
                pass.out.tokens.push(*semi);
                at += 1;
            }
            pass.end_statement(false);
        }
    }
    pass.finish()
}

impl<'s> BracketPass<'s> {
    /// Processes one token; returns true if it ends a block statement at the top level.
    fn process_token(
        &mut self,
        mut token: Token,
        next: Option<TokenKind>,
        after_next: Option<TokenKind>,
    ) -> bool {
        let before = self.last_kind();
        token.kind = self.contextual_keyword(token, before, next, after_next);
        if self.is_offside(token) {
            token.offside = true;
            if self.stack.is_empty() {
                self.synthetic_semicolon();
                self.end_statement(true);
            }
        }
        let before = before.filter(|_| self.last_kind().is_some());
        // `export` stands before a definition, not before another statement.
        let exported =
            matches!(before, Some(TokenKind::Export | TokenKind::Joint)) && token.kind != TokenKind::Export;
        // After a bracket or a comma, `fun x y` begins an argument, in a form of another language;
        // a definition begins a line.
        let argument = matches!(token.kind, TokenKind::Fun | TokenKind::Proc)
            && matches!(before, Some(TokenKind::LParen | TokenKind::LBracket | TokenKind::Comma))
            && !self.begins_line(token);
        // `p.kind` has a keyword where a name is expected.
        let field = before == Some(TokenKind::Dot) && !self.begins_line(token);
        // `if c return e;`
        let jump = matches!(token.kind, TokenKind::Return | TokenKind::Break | TokenKind::Continue)
            && before.is_some_and(TokenKind::ends_operand)
            && self.stack.last().is_some_and(|frame| {
                frame.open == Delimiter::If
                    && !frame.foreign
                    && !self.directly_inside(frame.at).any(|t| t.kind == TokenKind::Then)
                    && !self.has_colon_after_condition(frame.at)
            });
        if self.begins_statement(token.kind, next, after_next)
            && !jump
            && !exported
            && !argument
            && !field
            && before.is_some_and(|k| k != TokenKind::Perform)
        {
            // Open frames that cannot contain a statement were left unclosed.
            if self.stack.last().is_some_and(|f| !f.open.holds_statements()) && !self.in_comprehension(token)
            {
                self.unwind_to_statement(token);
            }
            if self.stack.is_empty() && self.last_kind().is_some() {
                self.synthetic_semicolon();
                self.end_statement(true);
            }
        }
        if self.out.tokens[self.start..]
            .iter()
            .all(|t| matches!(t.kind, TokenKind::Export | TokenKind::Joint))
        {
            self.block_declaration = match token.kind {
                TokenKind::Struct | TokenKind::Class | TokenKind::Instance | TokenKind::At => true,
                TokenKind::Fun | TokenKind::Proc => declares_function(next, after_next),
                // `test "name" { … }`
                TokenKind::Name => {
                    next == Some(TokenKind::Str) && matches!(self.text(token), "test" | "bench")
                }
                _ => false,
            };
        }
        // `if c perform` closes the condition; what is performed nests in the statement around it.
        if (token.kind == TokenKind::Perform || jump)
            && let Some(frame) = self.stack.last()
            && frame.open == Delimiter::If
        {
            self.out.tokens[frame.at].kind = TokenKind::IfDo;
            self.pop();
        }
        self.measure_height(token, before);
        // `let` and a pattern.
        let binds = matches!(next, Some(TokenKind::Name | TokenKind::LParen | TokenKind::Underscore))
            && self.is_let(token, before);
        let height = self.height();
        // An `if` after an operand begins the condition of a comprehension.
        let condition = token.kind == TokenKind::If && before.is_some_and(TokenKind::ends_operand);
        let kind = if condition { TokenKind::When } else { token.kind };
        if height.binders.read_token(kind, binds) {
            token.kind = TokenKind::InSet;
        }
        if height.begin.is_none() && token.kind != TokenKind::Semi {
            height.begin = Some(token.start);
        }
        // `fun match(x)` is a keyword used as a name, not a `match`.
        let named = before.is_some_and(declares_name) && token.kind.is_keyword();
        match token.kind {
            _ if named => {}
            TokenKind::LParen | TokenKind::InterpolatedOpen => self.open(Delimiter::Paren, token),
            TokenKind::LBracket => self.open(Delimiter::Bracket, token),
            TokenKind::LBrace => {
                self.check_branch_in_braces(token);
                // `fun f(x:T):T = { … }`
                let function = self.out.tokens[self.start..].iter().find(|t| t.kind != TokenKind::Export);
                if self.stack.is_empty()
                    && before == Some(TokenKind::Assign)
                    && function.is_some_and(|t| matches!(t.kind, TokenKind::Fun | TokenKind::Proc))
                {
                    self.block_declaration = true;
                }
                self.open(Delimiter::Brace, token)
            }
            // The condition of a comprehension: the grammar has one word for it.
            TokenKind::If if before.is_some_and(TokenKind::ends_operand) && self.after_clauses() => {
                token.kind = TokenKind::When;
            }
            TokenKind::If => self.open(Delimiter::If, token),
            TokenKind::Match | TokenKind::Typematch => self.open(Delimiter::Match, token),
            TokenKind::Do => self.handle_do(token),
            TokenKind::Elif => {
                // After `if … do` the next condition is open again.
                if let Some(frame) = self.stack.last_mut()
                    && frame.open == Delimiter::Do
                    && self.out.tokens[frame.at].kind == TokenKind::IfDo
                {
                    self.counts[Delimiter::Do as usize] -= 1;
                    self.counts[Delimiter::If as usize] += 1;
                    frame.open = Delimiter::If;
                }
            }
            TokenKind::RParen | TokenKind::InterpolatedClose => {
                return self.close(Delimiter::Paren, token, next);
            }
            TokenKind::RBracket => return self.close(Delimiter::Bracket, token, next),
            TokenKind::RBrace => return self.close(Delimiter::Brace, token, next),
            TokenKind::Endif => return self.close(Delimiter::If, token, next),
            TokenKind::Endmatch => return self.close(Delimiter::Match, token, next),
            TokenKind::Done => return self.close(Delimiter::Do, token, next),
            TokenKind::Semi => {
                if self.stack.last().is_some_and(|f| !f.open.holds_statements()) {
                    self.unwind_to_statement(token);
                }
                self.height().binders = Binders::default();
                self.out.tokens.push(token);
                if self.stack.is_empty() {
                    self.end_statement(false);
                }
                return false;
            }
            TokenKind::BadStr => {
                // The line may have contained closers and the `;`: it ends the statement without a
                // further error.
                while self.stack.last().is_some_and(|f| !f.open.holds_statements()) {
                    self.pop();
                }
                self.bad = true;
                self.out.tokens.push(token);
                if self.stack.is_empty() {
                    self.end_statement(false);
                }
                return false;
            }
            TokenKind::FatArrow | TokenKind::Assign if self.stack.is_empty() => {
                self.block_declaration = false
            }
            _ => {}
        }
        self.out.tokens.push(token);
        false
    }

    /// Returns the kind of a token after the contextual keywords of Felix (`begin`, `end`, `upto`).
    fn contextual_keyword(
        &self,
        token: Token,
        before: Option<TokenKind>,
        next: Option<TokenKind>,
        after_next: Option<TokenKind>,
    ) -> TokenKind {
        use TokenKind::*;
        let begins = match before {
            None => true,
            Some(kind) => matches!(kind, Semi | LBrace | RBrace | Do | Done | Else | Perform),
        };
        let top = self.stack.last();
        match (token.kind, self.text(token)) {
            // `begin x = e;`, but not `begin = e;`
            (Name, "begin") if begins && next.is_some_and(|next| next == Name || next.begins_statement()) => {
                Do
            }
            (Name, "end")
                if begins
                    && top.is_some_and(|top| {
                        top.open == Delimiter::Do && self.text(self.out.tokens[top.at]) == "begin"
                    }) =>
            {
                Done
            }
            (Name, "upto")
                if before.is_some_and(TokenKind::ends_operand)
                    && next.is_some_and(|next| next.begins_operand() || next == Minus) =>
            {
                let mut back = self.out.tokens[self.start..].iter().rev();
                let head = back.find(|t| {
                    matches!(t.kind, In | Semi | Do | Done | Perform | LBrace | RBrace | Assign | FatArrow)
                });
                if head.is_some_and(|t| t.kind == In) { Upto } else { Name }
            }
            // `at bob { … }` and `at {alice, bob} { … }`, but not `x.at` nor `at (x)`.
            (Name, "at") if before != Some(Dot) => match (next, after_next) {
                (Some(Name | Qualified), Some(LBrace)) | (Some(LBrace), _) => At,
                _ => Name,
            },
            (Name, "party")
                if (begins || before == Some(Export)) && next == Some(Name) && after_next == Some(Assign) =>
            {
                Party
            }
            (Name, "joint") if next == Some(Fun) && before != Some(Dot) => Joint,
            (Endmatch, _) if top.is_some_and(|top| top.open == Delimiter::Do && top.arms_are_statements) => {
                Done
            }
            (kind, _) => kind,
        }
    }

    /// Returns true if a token would be an argument of the operand before, although its own line is
    /// indented no deeper than the statement: then a `;` is missing between them (the offside rule:
    /// P. Landin, *The next 700 programming languages*, 1966).
    fn is_offside(&self, token: Token) -> bool {
        let Some(last) = self.out.tokens[self.start..].last() else {
            return false;
        };
        let begins = token.kind.begins_operand() || matches!(token.kind, TokenKind::Amp | TokenKind::Do);
        if !(begins && last.kind.ends_operand()) {
            return false;
        }
        let text = self.source.text.as_str();
        let gap = text.get(last.end as usize..token.start as usize).unwrap_or("");
        if !gap.contains('\n') {
            return false;
        }
        let height = match self.stack.last() {
            Some(frame) if !frame.open.holds_statements() => return false,
            Some(frame) => &frame.height,
            None => &self.top_level,
        };
        let indent = |at: u32| {
            let before = text.get(..at as usize).unwrap_or("");
            let line = before.rfind('\n').map_or(0, |newline| newline + 1);
            text[line..].bytes().take_while(|b| matches!(b, b' ' | b'\t')).count()
        };
        height.begin.is_some_and(|begin| indent(token.start) <= indent(begin))
    }

    /// Returns true if a token can only begin a statement.
    fn begins_statement(
        &self,
        kind: TokenKind,
        next: Option<TokenKind>,
        after_next: Option<TokenKind>,
    ) -> bool {
        match kind {
            TokenKind::Fun | TokenKind::Proc => {
                next == Some(TokenKind::Name) && declares_function(next, after_next)
            }
            // A parameter with the name of a keyword: the grammar says so.
            _ if matches!(next, Some(TokenKind::Colon | TokenKind::Comma | TokenKind::FatArrow)) => false,
            _ => kind.begins_statement(),
        }
    }

    /// Returns true for a `for` that begins the clauses of a comprehension.
    fn in_comprehension(&self, token: Token) -> bool {
        token.kind == TokenKind::For
            && self.stack.last().is_some_and(|f| matches!(f.open, Delimiter::Bracket | Delimiter::Paren))
    }

    /// Returns true if the current position follows the clauses of a comprehension.
    fn after_clauses(&self) -> bool {
        self.stack.last().is_some_and(|frame| {
            frame.open == Delimiter::Bracket
                && self.directly_inside(frame.at).any(|t| t.kind == TokenKind::For)
        })
    }

    /// Closes, with one error, all frames that cannot contain the statement boundary at `token`.
    fn unwind_to_statement(&mut self, token: Token) {
        if let Some(frame) = self.stack.last() {
            let (open, at) = (frame.open, frame.at);
            if open == Delimiter::Match && self.convert_to_match_statement(at) {
                return;
            }
            let error = self.unclosed_error(open, at, token);
            self.report(error);
        }
        while let Some(frame) = self.stack.last()
            && !frame.open.holds_statements()
        {
            self.force_closed[frame.open as usize] += 1;
            self.pop();
        }
    }

    /// Processes `do`: after the condition of an `if` or the scrutinee of a `match` it belongs to
    /// it.
    fn handle_do(&mut self, token: Token) {
        match self.stack.last_mut() {
            Some(frame) if frame.open == Delimiter::If => {
                self.out.tokens[frame.at].kind = TokenKind::IfDo;
                self.counts[Delimiter::If as usize] -= 1;
                self.counts[Delimiter::Do as usize] += 1;
                frame.open = Delimiter::Do;
            }
            Some(frame)
                if frame.open == Delimiter::Match && self.out.tokens[frame.at].kind == TokenKind::Match =>
            {
                self.out.tokens[frame.at].kind = TokenKind::MatchDo;
                self.counts[Delimiter::Match as usize] -= 1;
                self.counts[Delimiter::Do as usize] += 1;
                frame.open = Delimiter::Do;
            }
            _ => self.open(Delimiter::Do, token),
        }
    }

    /// Processes a closer; returns true if it ends a block statement at the top level.
    fn close(&mut self, open: Delimiter, token: Token, next: Option<TokenKind>) -> bool {
        let Some(top) = self.stack.last() else {
            return self.stray_closer(open, token);
        };
        let (top_open, top_at) = (top.open, top.at);
        let any_end = top.foreign && matches!(open, Delimiter::If | Delimiter::Match | Delimiter::Do);
        if top_open != open && !any_end {
            let opener = self.out.tokens[top_at].kind;
            let other_form = match (top_open, open) {
                (Delimiter::Do, Delimiter::If) => opener == TokenKind::IfDo,
                (Delimiter::Do, Delimiter::Match) => opener == TokenKind::MatchDo,
                (Delimiter::If, Delimiter::Do) => self.counts[Delimiter::Do as usize] == 0,
                (Delimiter::Match, Delimiter::Do) => self.counts[Delimiter::Do as usize] == 0,
                _ => false,
            };
            if other_form {
                let error = match self.mismatch_error(top_open, top_at, token) {
                    SyntaxError::Bracket(BracketError::Mismatch {
                        open,
                        opener,
                        close,
                        closer,
                        wanted,
                        ..
                    }) => {
                        BracketError::Mismatch { open, opener, close, closer, wanted, replace: true }.into()
                    }
                    other => other,
                };
                self.report(error);
            } else if self.counts[open as usize] > 0 {
                let error = self.unclosed_error(top_open, top_at, token);
                self.report(error);
                while self.stack.last().is_some_and(|f| f.open != open) {
                    self.pop();
                }
            } else {
                return self.stray_closer(open, token);
            }
        }
        self.pop();
        self.out.tokens.push(token);
        // The last brace of `if c { … } else { … }` ends all of it.
        let mut branches = false;
        if token.kind == TokenKind::RBrace
            && !matches!(next, Some(TokenKind::Else | TokenKind::Elif | TokenKind::Endif | TokenKind::Done))
        {
            let braced =
                |frame: &Frame| matches!(frame.open, Delimiter::If | Delimiter::Match) && frame.foreign;
            while self.stack.last().is_some_and(braced) {
                self.pop();
                branches = true;
            }
        }
        if !self.stack.is_empty() {
            return false;
        }
        match token.kind {
            TokenKind::Done => true,
            // The value of `at S { … }` may go on; `at {alice, bob} { … }` has two pairs of braces.
            TokenKind::RBrace if self.out.tokens[self.start].kind == TokenKind::At => {
                next.is_none_or(|next| next != TokenKind::LBrace && !next.continues_operand())
            }
            // `fun f(x:T @ {alice, bob}):T @ {alice, bob} { … }`
            TokenKind::RBrace
                if top_at > self.start && self.out.tokens[top_at - 1].kind == TokenKind::AtSign =>
            {
                false
            }
            TokenKind::RBrace => self.block_declaration || branches,
            _ => {
                self.bad
                    && matches!(token.kind, TokenKind::Endif | TokenKind::Endmatch)
                    && top_open == Delimiter::Do
            }
        }
    }

    /// Reports a closer with nothing to close, and drops it.
    fn stray_closer(&mut self, open: Delimiter, token: Token) -> bool {
        let alone = self.out.tokens.len() == self.start;
        let was_bad = self.bad;
        let span = self.span(token);
        let forgiven = &mut self.force_closed[open as usize];
        let late = *forgiven > 0;
        *forgiven = forgiven.saturating_sub(1);
        // After one error in a statement its stray closers are consequences.
        if !was_bad && !late {
            self.report(BracketError::StrayCloser { span, closer: token.kind });
        }
        self.bad = was_bad || !alone;
        false
    }

    /// Appends a `;` that is not in the text.
    fn synthetic_semicolon(&mut self) {
        if let Some(last) = self.out.tokens.last().copied() {
            self.out.tokens.push(Token {
                kind: TokenKind::Semi,
                glued: true,
                synthetic: true,
                offside: false,
                start: last.end,
                end: last.end,
            });
        }
    }

    /// Ends the current statement.
    fn end_statement(&mut self, semicolon_missing: bool) {
        let tokens = self.start..self.out.tokens.len();
        self.start = tokens.end;
        self.top_level = Height::default();
        let only_semicolons = self.out.tokens[tokens.clone()].iter().all(|t| t.kind == TokenKind::Semi);
        if !only_semicolons {
            self.out.statements.push(Statement { tokens, has_errors: self.bad, semicolon_missing });
        }
        self.bad = false;
    }

    /// Ends the text: reports what is unclosed.
    fn finish(mut self) -> StatementSplit {
        if let Some(frame) = self.stack.last() {
            let opener = self.out.tokens[frame.at];
            let end = self.source.text.trim_end().len();
            let unclosed = BracketError::Unclosed {
                open: self.span(opener),
                opener: opener.kind,
                wanted: frame.open.closer(),
                end: Span::new(self.source.id, end, end),
            }
            .into();
            let formless = self
                .branches_in_braces_error()
                .or_else(|| self.malformed_if_error(frame.open, frame.at, None));
            // A construct in the form of another language is an error, whatever follows.
            let foreign = self.stack.iter().any(|frame| frame.foreign);
            self.out.incomplete = formless.is_none() && !foreign;
            let else_if = self.else_if_error(frame.at);
            let error = formless.or(else_if).unwrap_or(unclosed);
            // A text that is too deep is refused for that, wherever it ends.
            if !self.reported_depth && !foreign {
                self.report(error);
            }
            self.bad = true;
        }
        if self.out.tokens.len() > self.start {
            self.synthetic_semicolon();
            self.end_statement(false);
        }
        self.out
    }
}
