//! Diagnostics of the grammar: tokens where they do not fit.

use super::{PlaceKind, SyntaxError};
use crate::diagnostic::{Diagnostic, Help};
use crate::source::Span;

/// Returns the diagnostic of one error of this family.
pub(super) fn diagnostic(error: &SyntaxError) -> Diagnostic {
    match error {
        SyntaxError::Unexpected { found, at, after, expected, hint } => {
            let wanted = alternatives(expected);
            let message = match after {
                Some((after, _)) => format!("expected {wanted} after {after}, found {found}"),
                None => format!("expected {wanted}, found {found}"),
            };
            let error = Diagnostic::error("E0120", *at, message, format!("{found} does not fit here"));
            match hint {
                Some(hint) => error.help(hint.clone()),
                None => error,
            }
        }
        SyntaxError::AfterCast { at, found, cast } => Diagnostic::error(
            "E0120",
            *at,
            format!("expected an operator after the type, found {found}"),
            format!("{found} does not fit here"),
        )
        .label(*cast, "a conversion, which ends with its type")
        .help(Help::around("put the conversion into parentheses: `(x :>> T).f`, `f (x :> T)`", *cast, "", "")),
        SyntaxError::Regrouped { error, today, edits } => {
            let text = format!("until 0.1 this was read as `{today}`: write so; `felis fmt --from-0.1` does it for a file");
            error.to_diagnostic().help(Help { text, edits: edits.clone() })
        }
        SyntaxError::MissingSemicolon { end, next, found } => {
            let error = Diagnostic::error(
                "E0121",
                end.after(),
                format!("missing `;` before {found}"),
                "the statement ends here",
            )
            .fix("end the statement with `;`", end.after(), ";");
            // Beside each other the two labels would say the same.
            if next.start <= end.end + 1 { error } else { error.label(*next, "the next one begins here") }
        }
        SyntaxError::ChainedComparison { first, second, middle } => Diagnostic::error(
            "E0122",
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
        SyntaxError::AssignForEqual { span } => Diagnostic::error(
            "E0123",
            *span,
            "`=` binds or assigns; it does not compare",
            "this is inside an expression",
        )
        .fix("compare with `==`", *span, "=="),
        SyntaxError::NotAVariable { place, assign, place_kind } => {
            let error = Diagnostic::error(
                "E0124",
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
        SyntaxError::BlockWithoutValue { span, alone: true } => Diagnostic::error(
            "E0140",
            *span,
            "a block with a value holds statements and then an expression",
            "no statement stands in it",
        )
        .help("a record is written `(x=1, y=2)`, an array `[1, 2, 3]`, a block `{ val x = 1; x + 1 }`"),
        SyntaxError::BlockWithoutValue { span, alone: false } => Diagnostic::error(
            "E0140",
            *span,
            "a block with a value holds statements and then an expression",
            "no expression ends it",
        )
        .help("its value is the expression before the `}`, without a `;`: `{ val x = 1; x + 1 }`"),
        SyntaxError::StoreInExpression { span } => Diagnostic::error(
            "E0125",
            *span,
            "`<-` stores, and is a statement of its own",
            "this is inside an expression",
        )
        .help("write `x = v;` to give a variable another value, `&x.1 <- v;` to store into a part of it, or `a < -b` with a blank to compare"),
        SyntaxError::KeywordAsName { span, word } => Diagnostic::error(
            "E0126",
            *span,
            format!("{word} is a keyword and cannot be a name"),
            "a name is expected here",
        )
        .fix("add a letter or `'` to it", span.after(), "'"),
        SyntaxError::UnfinishedStatement { end, after, expected } => Diagnostic::error(
            "E0127",
            *end,
            format!("the text ends where {} is expected after {after}", alternatives(expected)),
            "the text ends here",
        ),
        SyntaxError::PositionalAfterNamed { value } => Diagnostic::error(
            "E0150",
            *value,
            "what has no name stands before what has one",
            "this has no name",
        )
        .help("the arguments with a name come last, as in `f (1, 2, width = 3)`"),
        SyntaxError::DetachedTypeArguments { bracket, gap } => Diagnostic::error(
            "E0128",
            *bracket,
            "type arguments touch the name they belong to",
            "a blank stands before this `[`",
        )
        .fix("remove the blank", *gap, ""),
        SyntaxError::CommaInType { span } => {
            Diagnostic::error("E0128", *span, "`,` does not make a type", "types are listed here").fix(
                "the type of a tuple is written `A * B`",
                *span,
                " *",
            )
        }
        SyntaxError::MoreErrors { span, more } => Diagnostic::error(
            "E0129",
            *span,
            format!("{more} more syntax errors are not shown"),
            "the first of them",
        ),
        other => unreachable!("{other:?} is no error of the grammar"),
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
