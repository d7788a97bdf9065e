//! Bounds on the height of trees, by tokens alone.
//!
//! Takes the tokens of each frame as they are read; gives an upper bound on the height of the tree
//! that the grammar will build, so that later walks may recurse, and the `in` that belong to
//! binders.

use super::super::lexer::{Token, TokenKind};
use super::state::BracketPass;
use super::{MAX_CHAIN_OPERANDS, MAX_DEPTH};
use crate::syntax::error::BracketError;

/// A bound on the height of the tree that the tokens since the last separator make.
#[derive(Clone, Copy, Default)]
pub(super) struct Height {
    /// The nesting at the start of the frame.
    pub base: u32,
    /// Prefixes and right-leaning operators since the last separator.
    pub deep: u32,
    /// Operators `$` since the last `;`: `,` binds tighter and does not end their operands.
    pub dollars: u32,
    /// Left-leaning operators and arguments since the last separator.
    pub chain: u32,
    /// The tallest bracket group since the last separator.
    pub tallest: u32,
    /// The tallest tree before the last separator.
    pub finished: u32,
    /// The start of the statement being read, in a frame that holds statements.
    pub begin: Option<u32>,
    pub binders: Binders,
}

/// The binders of a statement, or of a pair of brackets, whose `in` has not been read. Any other
/// `in` is the operator.
#[derive(Clone, Copy, Default)]
pub(super) struct Binders {
    /// True in the clauses of a `for`.
    pub clauses: bool,
    /// The pattern of a clause is being read.
    pub pattern: bool,
    /// The number of `let`s whose `=` has not been read.
    pub heads: u32,
    pub lets: u32,
}

impl Binders {
    /// Reads the next token; returns true for an `in` that belongs to no binder. `binds`: it is the
    /// word `let`.
    pub fn read_token(&mut self, kind: TokenKind, binds: bool) -> bool {
        match kind {
            _ if binds => self.heads += 1,
            TokenKind::For => *self = Binders { clauses: true, pattern: true, ..*self },
            TokenKind::Comma if self.clauses => self.pattern = true,
            TokenKind::Do | TokenKind::Perform | TokenKind::When => {
                *self = Binders { clauses: false, pattern: false, ..*self };
            }
            TokenKind::Assign if self.heads > 0 => {
                self.heads -= 1;
                self.lets += 1;
            }
            TokenKind::In if self.pattern => self.pattern = false,
            TokenKind::In if self.lets > 0 => self.lets -= 1,
            TokenKind::In => return true,
            _ => {}
        }
        false
    }
}

impl Height {
    /// Returns the height of the tree since the last separator.
    pub fn tree_height(&self) -> u32 {
        self.chain + self.deep + self.dollars + self.tallest
    }

    /// Reads a separator, which ends the trees before it.
    pub fn read_separator(&mut self, statement: bool) {
        self.finished = self.finished.max(self.tree_height());
        self.deep = 0;
        self.chain = 0;
        self.tallest = 0;
        if statement {
            self.dollars = 0;
            self.begin = None;
        }
    }
}

impl BracketPass<'_> {
    /// Returns true for the word `let` where an operand begins.
    pub(super) fn is_let(&self, token: Token, before: Option<TokenKind>) -> bool {
        token.kind == TokenKind::Name
            && !before.is_some_and(TokenKind::ends_operand)
            && self.text(token) == "let"
    }

    /// Updates the bounds on tree height; see [`Height`].
    pub(super) fn measure_height(&mut self, token: Token, before: Option<TokenKind>) {
        use TokenKind::*;
        let after_operand = before.is_some_and(TokenKind::ends_operand);
        // `let p = e in e` leans right.
        let binds = self.is_let(token, before);
        let height = self.height();
        match token.kind {
            _ if binds => height.deep += 1,
            Semi => height.read_separator(true),
            Comma | CComma => height.read_separator(false),
            // The pieces are joined by a chain of `+`.
            InterpolatedMiddle => height.chain += 2,
            Bar => height.read_separator(true),
            Dollar => height.dollars += 1,
            Arrow | FatArrow | Perform | Pow | Bang | Not | Hash | Case | Aproj | Ainj => height.deep += 1,
            Minus if !after_operand => height.deep += 1,
            Plus | Minus | Star | Slash | Percent | StarPlus | CStar | CPlus | CCaret | Caret | Dot
            | Pipe | Convert | Reshape | And | Or | As | EqEq | NotEq | Less | LessEq | Greater
            | GreaterEq | In | DotDot | DotDotLess | Elif => height.chain += 1,
            kind if after_operand && kind.begins_operand() => height.chain += 1,
            _ => return,
        }
        let (here, nested) = (height.tree_height(), height.base + height.deep + height.dollars);
        self.out.max_depth = self.out.max_depth.max(nested);
        if nested > MAX_DEPTH {
            self.report_too_deep(token);
        } else if here > MAX_CHAIN_OPERANDS {
            self.bad = true;
            if !self.reported_chain {
                self.reported_chain = true;
                let span = self.span(token);
                self.report(BracketError::ChainTooLong { span, limit: MAX_CHAIN_OPERANDS });
            }
        }
    }
}
