//! Diagnostics of brackets and blocks, and of the bounds on nesting and chains.

use super::SyntaxError;
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::syntax::lexer::TokenKind;

/// Returns the diagnostic of one error of this family.
pub(super) fn diagnostic(error: &SyntaxError) -> Diagnostic {
    match error {
        SyntaxError::TooDeep { span, limit } => Diagnostic::error(
            "E0107",
            *span,
            format!("nested more than {limit} levels deep"),
            "this goes too deep",
        )
        .help("name an inner part with `val` or a function of its own"),
        SyntaxError::ChainTooLong { span, limit } => Diagnostic::error(
            "E0108",
            *span,
            format!("more than {limit} operands in one chain"),
            "the chain goes too far here",
        )
        .help("put the operands in an array and reduce it"),
        SyntaxError::Mismatch { open, opener, close, closer, wanted, replace } => {
            let (opened, wanted_words, closed) =
                (opener.description(), wanted.description(), closer.description());
            let message = if *replace {
                format!("this {opened} is closed by {wanted_words}, not by {closed}")
            } else {
                format!("this {opened} is not closed before {closed}")
            };
            let error = Diagnostic::error(
                "E0110",
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
        SyntaxError::Unclosed { open, opener, wanted, end } => Diagnostic::error(
            "E0111",
            *open,
            format!("this {} is never closed", opener.description()),
            "opened here",
        )
        .fix(
            format!("close it with {}", wanted.description()),
            *end,
            format!(" {}", wanted.description().trim_matches('`')),
        ),
        SyntaxError::StrayCloser { span, closer } => Diagnostic::error(
            "E0112",
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
        other => unreachable!("{other:?} is no error of brackets"),
    }
}
