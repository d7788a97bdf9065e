//! Diagnostics of brackets and blocks, and of the bounds on nesting and chains.

use crate::diagnostic::{Diagnostic, errors};
use crate::source::Span;
use crate::syntax::lexer::TokenKind;

errors! {
    /// An error in brackets, blocks or the bounds on nesting and chains.
    #[derive(PartialEq)]
    pub enum BracketError {
        /// Nesting beyond the limit.
        E0107 TooDeep {
            /// The bracket that goes too far.
            span: Span,
            /// The maximum nesting.
            limit: u32,
        },
        /// A chain of operators beyond the limit.
        E0108 ChainTooLong {
            /// The operator that goes too far.
            span: Span,
            /// The maximum length.
            limit: u32,
        },
        /// A bracket or block closed by the wrong thing.
        E0110 Mismatch {
            /// The opener.
            open: Span,
            /// The kind of its token.
            opener: TokenKind,
            /// The latest position where it should have been closed.
            close: Span,
            /// The token there.
            closer: TokenKind,
            /// The token that would close it.
            wanted: TokenKind,
            /// The closer is the other form of the wanted one, and can be replaced.
            replace: bool,
        },
        /// A bracket or block that the text never closes.
        E0111 Unclosed {
            /// The opener.
            open: Span,
            /// The kind of its token.
            opener: TokenKind,
            /// The token that would close it.
            wanted: TokenKind,
            /// The end of the text.
            end: Span,
        },
        /// Something closed that was not open.
        E0112 StrayCloser {
            /// The closer.
            span: Span,
            /// The kind of its token.
            closer: TokenKind,
        },
    }
}

impl BracketError {
    /// Returns the diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            BracketError::TooDeep { span, limit } => Diagnostic::error(
                self.code(),
                *span,
                format!("nested more than {limit} levels deep"),
                "this goes too deep",
            )
            .help("name an inner part with `val` or a function of its own"),
            BracketError::ChainTooLong { span, limit } => Diagnostic::error(
                self.code(),
                *span,
                format!("more than {limit} operands in one chain"),
                "the chain goes too far here",
            )
            .help("put the operands in an array and reduce it"),
            BracketError::Mismatch { open, opener, close, closer, wanted, replace } => {
                let (opened, wanted_words, closed) =
                    (opener.description(), wanted.description(), closer.description());
                let message = if *replace {
                    format!("this {opened} is closed by {wanted_words}, not by {closed}")
                } else {
                    format!("this {opened} is not closed before {closed}")
                };
                let error = Diagnostic::error(
                    self.code(),
                    *close,
                    message,
                    format!("{wanted_words} should stand here at the latest"),
                )
                .label(*open, format!("{opened} is opened here"));
                let mut plain = wanted_words.trim_matches('`').to_owned();
                if *replace {
                    return error.fix(format!("write {wanted_words}"), *close, plain);
                }
                if wanted.is_keyword() {
                    plain = format!(" {plain} ");
                }
                let place = Span { end: close.start, ..*close };
                error.fix(format!("close it with {wanted_words}"), place, plain)
            }
            BracketError::Unclosed { open, opener, wanted, end } => Diagnostic::error(
                self.code(),
                *open,
                format!("this {} is never closed", opener.description()),
                "opened here",
            )
            .fix(
                format!("close it with {}", wanted.description()),
                *end,
                format!(" {}", wanted.description().trim_matches('`')),
            ),
            BracketError::StrayCloser { span, closer } => Diagnostic::error(
                self.code(),
                *span,
                format!("this {} closes nothing", closer.description()),
                match closer {
                    TokenKind::Done => "no `do` is open here",
                    TokenKind::Endif => "no `if … then` is open here",
                    TokenKind::Endmatch => "no `match … with` is open here",
                    _ => "nothing of its kind is open here",
                },
            )
            .fix("remove it", *span, ""),
        }
    }
}
