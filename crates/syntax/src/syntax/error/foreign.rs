//! Diagnostics of words and forms of other languages.

use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;

errors! {
    /// A word or form of another language.
    #[derive(PartialEq)]
    pub enum ForeignError {
        /// A statement that cannot be read and begins with a word of another language.
        E0135 ForeignWord {
            /// The word.
            span: Span,
            /// As written.
            word: String,
            /// The suggestion.
            instead: &'static str,
        },
        /// `# a comment`, where the text makes no call.
        E0135 ForeignComment {
            /// `#` or `--`.
            sign: Span,
        },
        /// `if c { … }` and `if c then { …; }`.
        E0136 BranchInBraces {
            /// The `if`.
            word: Span,
            /// The `{`.
            brace: Span,
            /// The corrections, if the whole construct is present.
            edits: Vec<(Span, String)>,
        },
        /// `match e { … }`.
        E0138 ArmsInBraces {
            /// The `match`.
            word: Span,
            /// The `{`.
            brace: Span,
        },
        /// `if c do … else if d do … done`, and no other `done`.
        E0137 ElseIf {
            /// The words.
            word: Span,
            /// The first `if`.
            open: Span,
        },
        /// `if c s;`, `if c return e;`, `if c:`.
        E0137 MalformedIf {
            /// The `if`.
            word: Span,
            /// The `:` after the condition.
            colon: Option<Span>,
            /// The word that begins the statement after the condition.
            single: Option<Span>,
        },
        /// `if c then s;`, `(if c then a)`.
        E0137 ThenWithoutElse {
            /// The `if`.
            word: Span,
            /// The `then`.
            then: Span,
            /// After the `;` of a statement.
            end: Option<Span>,
        },
        /// `a if c else b`.
        E0139 ConditionBetween {
            /// The `if`.
            word: Span,
        },
    }
}

impl ForeignError {
    /// Returns the diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
        ForeignError::ForeignWord { span, word, instead } => Diagnostic::error(self.code(),
            *span,
            format!("`{word}` begins no statement of this language"),
            "a word of other languages",
        )
        .help(*instead),
        ForeignError::ForeignComment { sign } => Diagnostic::error(self.code(),
            *sign,
            "no statement can be read here; a comment begins with `//`",
            "begins a comment in other languages",
        )
        .fix("write `//`", *sign, "//"),
        ForeignError::BranchInBraces { word, brace, edits } => {
            let text = "write `if c do … done`, with `elif c do …` and `else …` before the `done`; a value is `if c then a else b endif`";
            Diagnostic::error(self.code(),
                *brace,
                "the branches of an `if` do not stand in braces",
                "a branch begins here",
            )
            .label(*word, "of this `if`")
            .help(Help { text: text.to_string(), edits: edits.clone() })
        }
        ForeignError::ArmsInBraces { word, brace } => Diagnostic::error(self.code(),
            *brace,
            "the arms of a `match` do not stand in braces",
            "the arms begin here",
        )
        .label(*word, "of this `match`")
        .help("write `match e do | p => s; … done` for statements, `match e with | p => v … endmatch` for a value"),
        ForeignError::ElseIf { word, open } => Diagnostic::error(self.code(),
            *word,
            "this `if` has `elif` for another condition",
            "begins an `if` of its own, with a `done` of its own",
        )
        .label(*open, "the first `if`, which has no end")
        .fix("write `elif`", *word, "elif"),
        ForeignError::MalformedIf { word, colon: Some(colon), .. } => Diagnostic::error(self.code(),
            *colon,
            "no `:` follows the condition of an `if`",
            "a branch begins with `do` or `then`",
        )
        .label(*word, "of this `if`")
        .help("write `if c do … done`; a value is `if c then a else b endif`"),
        ForeignError::MalformedIf { word, single: Some(single), .. } => Diagnostic::error(self.code(),
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
        ForeignError::MalformedIf { word, .. } => Diagnostic::error(self.code(),
            *word,
            "this `if` has neither `do` nor `then`",
            "the condition begins here",
        )
        .help("write `if c do … done`, or `if c perform s;` for one statement; a value is `if c then a else b endif`"),
        ForeignError::ThenWithoutElse { word, then, end } => {
            let error = Diagnostic::error(self.code(),
                *word,
                "an `if` with `then` is an expression and has an `else`",
                if end.is_some() { "as a statement it has `do`" } else { "it has a value in every case" },
            );
            let text = "write `if c do … done` for a statement, `if c then a else b endif` for a value";
            let edits = end.map(|end| vec![(*then, "do".into()), (end, " done".into())]);
            error.help(Help { text: text.into(), edits: edits.unwrap_or_default() })
        }
        ForeignError::ConditionBetween { word } => Diagnostic::error(self.code(),
            *word,
            "a choice begins with its `if`",
            "a value stands before it",
        )
        .help("write `if c then a else b endif`"),
        }
    }
}
