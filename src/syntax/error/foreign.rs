//! Diagnostics of words and forms of other languages.

use super::SyntaxError;
use crate::diagnostic::{Diagnostic, Help};
use crate::source::Span;

/// Returns the diagnostic of one error of this family.
pub(super) fn diagnostic(error: &SyntaxError) -> Diagnostic {
    match error {
        SyntaxError::ForeignWord { span, word, instead } => Diagnostic::error(
            "E0135",
            *span,
            format!("`{word}` begins no statement of this language"),
            "a word of other languages",
        )
        .help(*instead),
        SyntaxError::ForeignComment { sign } => Diagnostic::error(
            "E0135",
            *sign,
            "no statement can be read here; a comment begins with `//`",
            "begins a comment in other languages",
        )
        .fix("write `//`", *sign, "//"),
        SyntaxError::BranchInBraces { word, brace, edits } => {
            let text = "write `if c do … done`, with `elif c do …` and `else …` before the `done`; a value is `if c then a else b endif`";
            Diagnostic::error(
                "E0136",
                *brace,
                "the branches of an `if` do not stand in braces",
                "a branch begins here",
            )
            .label(*word, "of this `if`")
            .help(Help { text: text.to_string(), edits: edits.clone() })
        }
        SyntaxError::ArmsInBraces { word, brace } => Diagnostic::error(
            "E0138",
            *brace,
            "the arms of a `match` do not stand in braces",
            "the arms begin here",
        )
        .label(*word, "of this `match`")
        .help("write `match e do | p => s; … done` for statements, `match e with | p => v … endmatch` for a value"),
        SyntaxError::ElseIf { word, open } => Diagnostic::error(
            "E0137",
            *word,
            "this `if` has `elif` for another condition",
            "begins an `if` of its own, with a `done` of its own",
        )
        .label(*open, "the first `if`, which has no end")
        .fix("write `elif`", *word, "elif"),
        SyntaxError::MalformedIf { word, colon: Some(colon), .. } => Diagnostic::error(
            "E0137",
            *colon,
            "no `:` follows the condition of an `if`",
            "a branch begins with `do` or `then`",
        )
        .label(*word, "of this `if`")
        .help("write `if c do … done`; a value is `if c then a else b endif`"),
        SyntaxError::MalformedIf { word, single: Some(single), .. } => Diagnostic::error(
            "E0137",
            *word,
            "this `if` has neither `do` nor `then`",
            "the condition begins here",
        )
        .label(*single, "a statement begins here")
        .fix(
            "a branch of one statement is written `if c perform s;`, others `if c do … done`",
            Span { end: single.start, ..*single },
            "perform ",
        ),
        SyntaxError::MalformedIf { word, .. } => Diagnostic::error(
            "E0137",
            *word,
            "this `if` has neither `do` nor `then`",
            "the condition begins here",
        )
        .help("write `if c do … done`, or `if c perform s;` for one statement; a value is `if c then a else b endif`"),
        SyntaxError::ThenWithoutElse { word, then, end } => {
            let error = Diagnostic::error(
                "E0137",
                *word,
                "an `if` with `then` is an expression and has an `else`",
                if end.is_some() { "as a statement it has `do`" } else { "it has a value in every case" },
            );
            let text = "write `if c do … done` for a statement, `if c then a else b endif` for a value";
            let edits = end.map(|end| vec![(*then, "do".into()), (end, " done".into())]);
            error.help(Help { text: text.into(), edits: edits.unwrap_or_default() })
        }
        SyntaxError::ConditionBetween { word } => Diagnostic::error(
            "E0139",
            *word,
            "a choice begins with its `if`",
            "a value stands before it",
        )
        .help("write `if c then a else b endif`"),
        other => unreachable!("{other:?} is no form of another language"),
    }
}
