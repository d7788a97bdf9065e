//! Errors about statements: variables, effects, loops, results.

use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigInt;

/// The advice for a list of the library in place of an array.
pub(in crate::check) const ELEMENTS: &str = "`l.elements` is the array of what a list holds";

errors! {
    /// Errors about statements: variables, effects, loops, results.
    pub enum StatementError {
        /// An assignment `x = 5;` where no `x` is declared.
        E0451 AssignedUnknown {
            span: Span,
            name: String,
            similar: Option<String>,
            /// True for a compound assignment, which also reads the variable.
            compound: bool,
        },
        /// A store within a `fun` into a variable of its surroundings.
        E0406 StoreOutside {
            span: Span,
            name: String,
            header: Span,
            /// True for a variable of an enclosing function.
            local: bool,
        },
        /// A store into a variable that is not a `var`.
        E0407 NotAVar {
            span: Span,
            name: String,
            declared: Option<Span>,
            /// The word `val` of the variable's declaration.
            word: Option<Span>,
        },
        /// A function that can end without a `return`.
        E0409 MissingReturn {
            span: Span,
            name: String,
        },
        /// A statement outside of the construct that it needs, such as a `return` outside a
        /// function.
        E0410 OutsideFunction {
            span: Span,
            what: &'static str,
            needs: &'static str,
        },
        /// A loop over a value that is not iterable.
        E0430 NotIterable {
            span: Span,
            ty: Type,
            list: bool,
        },
        /// A range of integers where the number of its elements must be known.
        E0431 IntRangeSize {
            span: Span,
            /// The bound if the range begins with 0, and true if the range contains it.
            count: Option<(Span, bool)>,
            /// The first integer and the number of them, if both bounds are literals.
            literal: Option<(BigInt, BigInt)>,
        },
        /// A range of integers in place of a value.
        E0431 IntRangeValue {
            span: Span,
        },
        /// `..<n` in a loop or in brackets, where `n` is not an index.
        E0444 UpToNoIndex {
            span: Span,
            ty: Type,
            inclusive: bool,
            in_brackets: bool,
        },
        /// A statement with an effect in a block `{ …; e }`.
        E0447 BlockEffect {
            span: Span,
            what: String,
        },
        /// An empty range in a pattern: `5..1`.
        E0445 EmptyRange {
            span: Span,
        },
        /// A loop over `10..1`, which has no rounds: the first integer, and the number of those
        /// that are meant.
        W0043 CountsDown {
            span: Span,
            first: BigInt,
            count: BigInt,
        },
        /// An expression whose value is discarded.
        W0003 Unused {
            span: Span,
            ty: Type,
        },
    }
}

impl StatementError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use StatementError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::AssignedUnknown { span, name, similar, compound } => {
                let d = error(span, format!("no variable is called `{name}` here"), "not declared".into());
                let d = match similar {
                    Some(other) => d.note(format!("there is `{other}`")),
                    None => d,
                };
                let before = Span { end: span.start, ..*span };
                match compound {
                    true => d.help(format!("declare it before: `var {name} = e;`")),
                    false => d.fix(
                        format!("declare it: `val {name} = e;`, or `var {name} = e;` if it changes later"),
                        before,
                        "var ",
                    ),
                }
            }
            E::StoreOutside { span, name, header, local } => error(
                span,
                format!("a `fun` is pure: it cannot store into `{name}`, which is not its own"),
                "belongs to the outside".into(),
            )
            .label(*header, "this function is pure")
            .help(match local {
                true => {
                    "return the new value instead, or declare the function by a name, with one group of parameters: \
                     `fun f (x : int) : int = { … }`"
                }
                false => "return the new value instead, or make the function a `proc`",
            }),
            E::NotAVar { span, name, declared, word } => {
                let d = error(
                    span,
                    format!("`{name}` cannot change: it is not a `var`"),
                    "stored into here".into(),
                );
                match declared {
                    Some(at) if name.contains("::") => {
                        d.label(*at, "made here").help("copy it into a `var` of your own")
                    }
                    Some(at) => {
                        let words = format!("make it with `var {name} = …`, or copy it into a `var` first");
                        // Another text may rely on its own declaration, so no edit is offered
                        // there.
                        let here = word.filter(|word| word.source == span.source);
                        d.label(*at, "made here").help(match here {
                            Some(word) => Help::instead(words, word, "var"),
                            None => Help::new(words),
                        })
                    }
                    None => d.help("only a `var` can change: give it a name of its own"),
                }
            }
            E::MissingReturn { span, name } => error(
                span,
                format!("`{name}` can end without a `return`"),
                "not every way through it returns a value".into(),
            )
            .help("end it with `return e;`"),
            E::OutsideFunction { span, what, needs } => error(
                span,
                format!("`{what}` outside {needs}"),
                format!("there is no {} to leave", needs.trim_start_matches("a ")),
            ),
            E::NotIterable { span, ty, list } => {
                let d = error(span, format!("a loop cannot walk `{ty}`"), format!("this is `{ty}`"));
                match list {
                    false if ty.as_scalar() == Some(crate::types::Scalar::String) => d.help("walk the positions, `for k in 0..<strlen s`: `codepoint (s, k)` is a code point there, `char_at (s, k)` an optional `char`; `characters s` is an array of texts"),
                    true => d.help(Help::around(ELEMENTS, *span, "", ".elements")),
                    false => d.help("walk `..[I]` (all values of a type), `a..b` (integers), or an array"),
                }
            }
            E::IntRangeSize { span, literal: Some((low, count)), .. } => {
                let sign = if *low < BigInt::ZERO { "-" } else { "+" };
                let number = match low.magnitude().to_string().as_str() {
                    "0" => "i :>> int".to_string(),
                    offset => format!("(i :>> int) {sign} {offset}"),
                };
                let array = format!("[ {number} for i in ..[{count}] ]");
                error(
                    span,
                    "the size of a comprehension must be a type, and a range of integers is none".into(),
                    "walked by `for` only".into(),
                )
                .help(Help::instead(format!("the array of these integers is `{array}`"), *span, array))
            }
            E::IntRangeSize { span, count, literal: None } => error(
                span,
                "the size of a comprehension must be a type, and the length of this range is not".into(),
                "its length is known only when it runs".into(),
            )
            .help(numbers_help(*span, *count)),
            E::IntRangeValue { span } => error(
                span,
                "a range of integers is not a value".into(),
                "its length is known only when it runs".into(),
            )
            .help("walk it with `for`; an array of integers is `#iota[5]`, or `iota n` for a number `n`"),
            E::UpToNoIndex { span, ty, inclusive, in_brackets } => {
                let sign = if *inclusive { ".." } else { "..<" };
                let d = error(
                    span,
                    format!("`{sign}` without a beginning counts indices, and `{ty}` is no index type"),
                    format!("up to a value of `{ty}`"),
                );
                match ty.as_scalar().is_some_and(crate::types::Scalar::is_integer) {
                    true if *in_brackets => d.help("`iota n` are the integers from 0 to below `n`"),
                    true => d.fix(
                        format!("integers have a beginning: `0{sign}`"),
                        Span { end: span.start, ..*span },
                        "0",
                    ),
                    false if *in_brackets => {
                        d.help("`..[I]` are all values of an index type, `iota n` the integers from 0 to below `n`")
                    }
                    false => d.help("walk all values of an index type with `..[I]`, integers with `0..<n`"),
                }
            }
            E::BlockEffect { span, what } => error(
                span,
                format!("a block with a value does nothing but compute it: {what}"),
                "an effect inside of an expression".into(),
            )
            .help("let the statement stand before the expression, or write `do … done` for statements without a value"),
            E::EmptyRange { span } => error(
                span,
                "this range holds no value".into(),
                "its end comes before its beginning".into(),
            )
            .help("the smaller end comes first: `1..5`, or `1..<6`"),
            E::CountsDown { span, first, count } => Diagnostic::warning(
                code,
                *span,
                "this range has no integers, so the loop has no rounds",
                "a range counts up",
            )
            .help(format!("to count down, take `{first} - k` for each `k` of `0..<{count}`")),
            E::Unused { span, ty } => Diagnostic::warning(
                code,
                *span,
                "the value of this expression is not used",
                format!("its value, of type `{ty}`, is thrown away"),
            ),
        }
    }
}

/// Returns the help for a range of integers in a comprehension: the array of the same integers,
/// whose length arrives with it.
fn numbers_help(span: Span, count: Option<(Span, bool)>) -> Help {
    let text = "walk `iota n`, the numbers from 0 to n - 1: an array brings its length along";
    let Some((bound, inclusive)) = count else { return Help::new(text) };
    let before = Span { end: bound.start, ..span };
    let after = if inclusive { " + 1)" } else { ")" };
    Help {
        text: text.to_string(),
        edits: vec![(before, "iota (".to_string()), (span.after(), after.to_string())],
    }
}
