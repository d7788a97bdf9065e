//! Diagnostics of the grammar: tokens where they do not fit.

use super::{PlaceKind, SyntaxError};
use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;

errors! {
    /// A token where it does not fit.
    #[derive(PartialEq)]
    pub enum GrammarError {
        /// One thing expected, another found.
        E0120 Unexpected {
            /// A description of the token found.
            found: String,
            /// The span.
            at: Span,
            /// A description of the token before, and its span.
            after: Option<(String, Span)>,
            /// Descriptions of the tokens that could occur there.
            expected: Vec<&'static str>,
            /// The suggestion.
            hint: Option<String>,
        },
        /// More of an operand after the type of `x :>> T`.
        E0120 AfterCast {
            /// The span of the token found.
            at: Span,
            /// A description of the token found.
            found: String,
            /// `x :>> T`.
            cast: Span,
        },
        /// A statement without its `;`.
        E0121 MissingSemicolon {
            /// The end of the statement.
            end: Span,
            /// The span of the token that follows.
            next: Span,
            /// A description of the token found.
            found: String,
        },
        /// Comparisons that chain.
        E0122 ChainedComparison {
            /// The first comparison.
            first: Span,
            /// The second operator and its right side.
            second: Span,
            /// The operand between them, as written.
            middle: String,
        },
        /// `=` where `==` is meant.
        E0123 AssignForEqual {
            /// The `=`.
            span: Span,
        },
        /// An assignment to something that is not a variable.
        E0124 NotAVariable {
            /// The left side.
            place: Span,
            /// The `=`.
            assign: Span,
            /// The form of the left side.
            place_kind: PlaceKind,
        },
        /// `{ … }` where a value is wanted, and none at its end.
        E0140 BlockWithoutValue {
            /// The block.
            span: Span,
            /// The block contains no statements.
            alone: bool,
        },
        /// `<-` inside an expression.
        E0125 StoreInExpression {
            /// The `<-`.
            span: Span,
        },
        /// A keyword used as a name.
        E0126 KeywordAsName {
            /// The keyword.
            span: Span,
            /// A description of the keyword.
            word: &'static str,
        },
        /// A statement that the text ends.
        E0127 UnfinishedStatement {
            /// The end of the text.
            end: Span,
            /// A description of the last token.
            after: String,
            /// Descriptions of the tokens that could occur there.
            expected: Vec<&'static str>,
        },
        /// `(x = 1, 2)`.
        E0150 PositionalAfterNamed {
            /// The `2`.
            value: Span,
        },
        /// `option [int]`.
        E0128 DetachedTypeArguments {
            /// The `[`.
            bracket: Span,
            /// The blank before it.
            gap: Span,
        },
        /// `(int, int)` as a type.
        E0128 CommaInType {
            /// The comma.
            span: Span,
        },
        /// More errors than are shown.
        E0129 MoreErrors {
            /// The first that is not shown.
            span: Span,
            /// The number of errors not shown.
            more: usize,
        };
        /// A statement that is unreadable today and was readable in version 0.1.
        error => Regrouped {
            /// Today's error.
            error: Box<SyntaxError>,
            /// The part that was grouped differently, as it is written today.
            today: String,
            /// The parentheses that it needs.
            edits: Vec<(Span, String)>,
        }
    }
}

impl GrammarError {
    /// Returns the diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
        GrammarError::Unexpected { found, at, after, expected, hint } => {
            let wanted = alternatives(expected);
            let message = match after {
                Some((after, _)) => format!("expected {wanted} after {after}, found {found}"),
                None => format!("expected {wanted}, found {found}"),
            };
            let error = Diagnostic::error(self.code(), *at, message, format!("{found} does not fit here"));
            match hint {
                Some(hint) => error.help(hint.clone()),
                None => error,
            }
        }
        GrammarError::AfterCast { at, found, cast } => Diagnostic::error(self.code(),
            *at,
            format!("expected an operator after the type, found {found}"),
            format!("{found} does not fit here"),
        )
        .label(*cast, "a conversion, which ends with its type")
        .help(Help::around("put the conversion into parentheses: `(x :>> T).f`, `f (x :> T)`", *cast, "", "")),
        GrammarError::Regrouped { error, today, edits } => {
            let text = format!("until 0.1 this was read as `{today}`: write so; `felis fmt --from-0.1` does it for a file");
            error.to_diagnostic().help(Help { text, edits: edits.clone() })
        }
        GrammarError::MissingSemicolon { end, next, found } => {
            let error = Diagnostic::error(self.code(),
                end.after(),
                format!("missing `;` before {found}"),
                "the statement ends here",
            )
            .fix("end the statement with `;`", end.after(), ";");
            // Beside each other the two labels would say the same.
            if next.start <= end.end + 1 { error } else { error.label(*next, "the next one begins here") }
        }
        GrammarError::ChainedComparison { first, second, middle } => Diagnostic::error(self.code(),
            *second,
            "comparisons do not chain",
            "a second comparison of the same operand",
        )
        .label(*first, "the first comparison")
        .fix(
            "join the two with `and`, or put one in parentheses",
            first.after(),
            format!(" and {middle}"),
        ),
        GrammarError::AssignForEqual { span } => Diagnostic::error(self.code(),
            *span,
            "`=` binds or assigns; it does not compare",
            "this is inside an expression",
        )
        .fix("compare with `==`", *span, "=="),
        GrammarError::NotAVariable { place, assign, place_kind } => {
            let error = Diagnostic::error(self.code(),
                *place,
                "only a variable can stand left of an assignment",
                "this is not a variable",
            )
            .label(*assign, "assigned here");
            let start = Span { end: place.start, ..*place };
            match place_kind {
                PlaceKind::Component => error.help(Help {
                    text: "store into a component with `&x.1 <- v;`".into(),
                    edits: vec![(start, "&".into()), (*assign, "<-".into())],
                }),
                PlaceKind::CompoundComponent => {
                    error.fix("a component is changed by `&x.1 += v;`", start, "&")
                }
                PlaceKind::Bracketed => {
                    error.help("an element is `x.(0)`, or `x.i` for an index `i`: store into it with `&x.i <- v;`")
                }
                PlaceKind::Several => error.help(
                    "several variables get values together by `a, b = e;`, each a name; a component by `&x.1 <- v;`",
                ),
                PlaceKind::Other => {
                    error.help("a new name is declared by `val x = e;`, `var x = e;` or `fun f(x:T) => e;`")
                }
            }
        }
        GrammarError::BlockWithoutValue { span, alone: true } => Diagnostic::error(self.code(),
            *span,
            "a block with a value holds statements and then an expression",
            "no statement stands in it",
        )
        .help("a record is written `(x=1, y=2)`, an array `[1, 2, 3]`, a block `{ val x = 1; x + 1 }`"),
        GrammarError::BlockWithoutValue { span, alone: false } => Diagnostic::error(self.code(),
            *span,
            "a block with a value holds statements and then an expression",
            "no expression ends it",
        )
        .help("its value is the expression before the `}`, without a `;`: `{ val x = 1; x + 1 }`"),
        GrammarError::StoreInExpression { span } => Diagnostic::error(self.code(),
            *span,
            "`<-` stores, and is a statement of its own",
            "this is inside an expression",
        )
        .help("write `x = v;` to give a variable another value, `&x.1 <- v;` to store into a part of it, or `a < -b` with a blank to compare"),
        GrammarError::KeywordAsName { span, word } => Diagnostic::error(self.code(),
            *span,
            format!("{word} is a keyword and cannot be a name"),
            "a name is expected here",
        )
        .fix("add a letter or `'` to it", span.after(), "'"),
        GrammarError::UnfinishedStatement { end, after, expected } => Diagnostic::error(self.code(),
            *end,
            format!("the text ends where {} is expected after {after}", alternatives(expected)),
            "the text ends here",
        ),
        GrammarError::PositionalAfterNamed { value } => Diagnostic::error(self.code(),
            *value,
            "what has no name stands before what has one",
            "this has no name",
        )
        .help("the arguments with a name come last, as in `f (1, 2, width = 3)`"),
        GrammarError::DetachedTypeArguments { bracket, gap } => Diagnostic::error(self.code(),
            *bracket,
            "type arguments touch the name they belong to",
            "a blank stands before this `[`",
        )
        .fix("remove the blank", *gap, ""),
        GrammarError::CommaInType { span } => {
            Diagnostic::error(self.code(), *span, "`,` does not make a type", "types are listed here").fix(
                "the type of a tuple is written `A * B`",
                *span,
                " *",
            )
        }
        GrammarError::MoreErrors { span, more } => Diagnostic::error(self.code(),
            *span,
            format!("{more} more syntax errors are not shown"),
            "the first of them",
        ),
        }
    }
}

/// Returns `a, b or c`.
fn alternatives(expected: &[&'static str]) -> String {
    match expected {
        [] => "something else".to_owned(),
        [one] => (*one).to_owned(),
        [init @ .., last] => format!("{} or {last}", init.join(", ")),
    }
}
