//! Syntax errors: what was wrong with a text, each with one way to become a diagnostic.
//!
//! Codes are stable:
//!
//! | code | what |
//! |---|---|
//! | E0101 | a character that no token has |
//! | E0102 | a string that its line ends |
//! | E0103 | an unknown escape in a string |
//! | E0104 | a malformed number |
//! | E0105 | a comment without its end |
//! | E0106 | a line or a number that is too long |
//! | E0107 | brackets, blocks or prefixes nested too deeply |
//! | E0108 | an operator chain that is too long |
//! | E0110 | a bracket or block closed by the wrong thing |
//! | E0111 | a bracket or block that the text never closes |
//! | E0112 | something closed that was not open |
//! | E0120 | one thing expected, another found |
//! | E0121 | a statement without its `;` |
//! | E0122 | comparisons that chain |
//! | E0123 | `=` where a comparison `==` is meant |
//! | E0124 | an assignment to something that is not a variable |
//! | E0125 | `<-` inside an expression |
//! | E0126 | a keyword used as a name |
//! | E0127 | a statement that the text ends |
//! | E0128 | type arguments or types written where or how they cannot be |
//! | E0129 | further errors that are not shown |
//! | E0130 | a character literal with no or several characters |
//! | E0131 | a character literal without its closing quote |
//! | E0132 | a number with a suffix that does not belong there |
//! | E0134 | a name in quotes that is written in another way |
//! | E0135 | a statement that begins with a word of another language |
//! | E0136 | branches of an `if` in braces |
//! | E0137 | an `if` that has the form of neither a statement nor an expression |
//! | E0138 | a `match` with its arms in braces |
//! | E0139 | a condition in another place than this language has it |
//! | E0140 | a block in braces that has no value where one is wanted |
//! | E0141 | a text over several lines without an end |
//! | E0142 | a brace in a text with values that holds none |
//! | E0150 | an argument without a name after one with a name |
//!
//! Knows the lexer's words for tokens and nothing of the grammar.

use super::lexer::TokenKind;
use crate::diagnostic::{Diagnostic, Help};
use crate::source::Span;

/// A syntax error.
#[derive(Clone, Debug, PartialEq)]
pub enum SyntaxError {
    /// A character that no token has.
    UnknownCharacter {
        /// The run of them.
        span: Span,
        /// The first.
        character: char,
    },
    /// A string that its line ends.
    UnterminatedString {
        /// From its quote to the end of the line.
        span: Span,
    },
    /// An unknown escape.
    BadEscape {
        /// The escape.
        span: Span,
        /// The kind of literal it occurs in.
        place: &'static str,
    },
    /// A name in quotes that is written in another way.
    QuotedName {
        /// With its quotes.
        span: Span,
        /// The name, if there is one.
        name: Option<String>,
    },
    /// `''`, `'ab'`: not one character between quotes.
    NotOneCharacter {
        /// With its quotes.
        span: Span,
        /// The text between them.
        text: String,
    },
    /// `'''`: the quote as a character.
    BareQuote {
        /// All three quotes.
        span: Span,
    },
    /// A character without its closing quote.
    UnterminatedCharacter {
        /// The quote and the character after it.
        span: Span,
        /// A character stands after the quote.
        filled: bool,
    },
    /// `5km`, `5u7`: letters after a number that are no suffix.
    UnknownSuffix {
        /// The number with its letters.
        span: Span,
        /// The letters.
        letters: Span,
        /// The letters as written.
        suffix: String,
        /// The digits as written.
        digits: String,
    },
    /// A suffix that does not fit the digits: `1.5u8`, `0b1f32`.
    WrongSuffix {
        /// The number.
        span: Span,
        /// The suffix.
        suffix: &'static str,
        /// The digits are those of a real.
        real: bool,
    },
    /// A malformed number.
    BadNumber {
        /// The number.
        span: Span,
        /// As written.
        text: String,
    },
    /// A number that begins or ends with its point.
    BarePoint {
        /// The number.
        span: Span,
        /// As written.
        text: String,
    },
    /// A number with too many digits.
    NumberTooLong {
        /// The number.
        span: Span,
    },
    /// A block comment without its `*/`.
    UnterminatedComment {
        /// The span of the `/*`.
        open: Span,
    },
    /// A line that is too long to be read.
    LineTooLong {
        /// The start of the line.
        span: Span,
    },
    /// Nesting beyond the limit.
    TooDeep {
        /// The bracket that goes too far.
        span: Span,
        /// The maximum nesting.
        limit: u32,
    },
    /// A chain of operators beyond the limit.
    ChainTooLong {
        /// The operator that goes too far.
        span: Span,
        /// The maximum length.
        limit: u32,
    },
    /// A bracket or block closed by the wrong thing.
    Mismatch {
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
    Unclosed {
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
    StrayCloser {
        /// The closer.
        span: Span,
        /// The kind of its token.
        closer: TokenKind,
    },
    /// One thing expected, another found.
    Unexpected {
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
    AfterCast {
        /// The span of the token found.
        at: Span,
        /// A description of the token found.
        found: String,
        /// `x :>> T`.
        cast: Span,
    },
    /// A statement that is unreadable today and was readable in version 0.1.
    Regrouped {
        /// Today's error.
        error: Box<SyntaxError>,
        /// The part that was grouped differently, as it is written today.
        today: String,
        /// The parentheses that it needs.
        edits: Vec<(Span, String)>,
    },
    /// A statement without its `;`.
    MissingSemicolon {
        /// The end of the statement.
        end: Span,
        /// The span of the token that follows.
        next: Span,
        /// A description of the token found.
        found: String,
    },
    /// Comparisons that chain.
    ChainedComparison {
        /// The first comparison.
        first: Span,
        /// The second operator and its right side.
        second: Span,
        /// The operand between them, as written.
        middle: String,
    },
    /// `=` where `==` is meant.
    AssignForEqual {
        /// The `=`.
        span: Span,
    },
    /// An assignment to something that is not a variable.
    NotAVariable {
        /// The left side.
        place: Span,
        /// The `=`.
        assign: Span,
        /// The form of the left side.
        place_kind: PlaceKind,
    },
    /// `{ … }` where a value is wanted, and none at its end.
    BlockWithoutValue {
        /// The block.
        span: Span,
        /// The block contains no statements.
        alone: bool,
    },
    /// `"""` without another.
    UnterminatedText {
        /// The quotes.
        open: Span,
    },
    /// A brace of `f"…"` that holds no value.
    MalformedInterpolation {
        /// The brace.
        span: Span,
        /// True for an opening brace.
        text: bool,
    },
    /// `<-` inside an expression.
    StoreInExpression {
        /// The `<-`.
        span: Span,
    },
    /// A keyword used as a name.
    KeywordAsName {
        /// The keyword.
        span: Span,
        /// A description of the keyword.
        word: &'static str,
    },
    /// A statement that the text ends.
    UnfinishedStatement {
        /// The end of the text.
        end: Span,
        /// A description of the last token.
        after: String,
        /// Descriptions of the tokens that could occur there.
        expected: Vec<&'static str>,
    },
    /// A statement that cannot be read and begins with a word of another language.
    ForeignWord {
        /// The word.
        span: Span,
        /// As written.
        word: String,
        /// The suggestion.
        instead: &'static str,
    },
    /// `# a comment`, where the text makes no call.
    ForeignComment {
        /// `#` or `--`.
        sign: Span,
    },
    /// `if c { … }` and `if c then { …; }`.
    BranchInBraces {
        /// The `if`.
        word: Span,
        /// The `{`.
        brace: Span,
        /// The corrections, if the whole construct is present.
        edits: Vec<(Span, String)>,
    },
    /// `match e { … }`.
    ArmsInBraces {
        /// The `match`.
        word: Span,
        /// The `{`.
        brace: Span,
    },
    /// `if c do … else if d do … done`, and no other `done`.
    ElseIf {
        /// The words.
        word: Span,
        /// The first `if`.
        open: Span,
    },
    /// `if c s;`, `if c return e;`, `if c:`.
    MalformedIf {
        /// The `if`.
        word: Span,
        /// The `:` after the condition.
        colon: Option<Span>,
        /// The word that begins the statement after the condition.
        single: Option<Span>,
    },
    /// `if c then s;`, `(if c then a)`.
    ThenWithoutElse {
        /// The `if`.
        word: Span,
        /// The `then`.
        then: Span,
        /// After the `;` of a statement.
        end: Option<Span>,
    },
    /// `(x = 1, 2)`.
    PositionalAfterNamed {
        /// The `2`.
        value: Span,
    },
    /// `a if c else b`.
    ConditionBetween {
        /// The `if`.
        word: Span,
    },
    /// `option [int]`.
    DetachedTypeArguments {
        /// The `[`.
        bracket: Span,
        /// The blank before it.
        gap: Span,
    },
    /// `(int, int)` as a type.
    CommaInType {
        /// The comma.
        span: Span,
    },
    /// More errors than are shown.
    MoreErrors {
        /// The first that is not shown.
        span: Span,
        /// The number of errors not shown.
        more: usize,
    },
}

/// The form of the left side of an assignment that is not a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlaceKind {
    /// `x.1`
    Component,
    /// `x.1`, of `x.1 += v`
    CompoundComponent,
    /// `x[1]`
    Bracketed,
    /// `a, b`
    Several,
    /// Anything else.
    Other,
}

impl SyntaxError {
    /// Returns the diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            SyntaxError::UnknownCharacter { span, character } => {
                let name = character_name(*character);
                let error = Diagnostic::error(
                    "E0101",
                    *span,
                    format!("{name} is not part of the language"),
                    "this cannot be read",
                );
                match ascii_replacement(*character) {
                    Some(plain) => error.fix(format!("write `{plain}`"), *span, plain),
                    None if *character == '\\' => error.help(
                        "a function without a name is written `fun (x) => e`; the compact operators are `\\*`, `\\+`, `\\^` and `\\,`, without a blank",
                    ),
                    None if *character == '@' => {
                        error.help("the product of matrices is `matmul (a, b)`, of vectors `dot (a, b)`")
                    }
                    None if character.is_alphanumeric() => {
                        error.help("names are made of the letters a to z and A to Z, digits and `_`")
                    }
                    None => error,
                }
            }
            SyntaxError::UnterminatedString { span } => Diagnostic::error(
                "E0102",
                *span,
                "this string has no closing quote on its line",
                "the string begins here",
            )
            .fix(
                "close it with `\"`; a line break inside a string is written `\\n`",
                span.after(),
                "\"",
            ),
            SyntaxError::BadEscape { span, place } => {
                Diagnostic::error("E0103", *span, format!("unknown escape in {place}"), "this escape")
                    .help("the escapes are `\\n` `\\t` `\\r` `\\\\` `\\\"` `\\'` `\\0` and `\\u{1F600}`")
            }
            SyntaxError::QuotedName { span, name: Some(name) } => Diagnostic::error(
                "E0134",
                *span,
                format!("the name `{name}` is written in another way"),
                "each name is written in one way",
            )
            .fix(format!("write `{name}`"), *span, name.clone()),
            SyntaxError::QuotedName { span, name: None } => {
                Diagnostic::error("E0134", *span, "nothing has this name", "no text that a line can show")
                    .help("a name in quotes has a character, and no escapes but `\\\\` and `\\\"`")
            }
            SyntaxError::NotOneCharacter { span, text } if text.is_empty() => Diagnostic::error(
                "E0130",
                *span,
                "there is no character between these quotes",
                "nothing here",
            )
            .fix("a text without characters is written `\"\"`", *span, "\"\""),
            SyntaxError::NotOneCharacter { span, text } => {
                let count = text.chars().count();
                let error = Diagnostic::error(
                    "E0130",
                    *span,
                    format!("a character literal holds one character, this one has {count}"),
                    "single quotes are for one character",
                )
                .fix("texts stand in double quotes", *span, super::unparse::quoted(text));
                if text.is_ascii() || count > 8 {
                    return error;
                }
                // What looks like one character may be a letter and its accents.
                let codes: Vec<String> = text.chars().map(|c| format!("U+{:04X}", c as u32)).collect();
                error.note(format!("its characters are {}", codes.join(", ")))
            }
            SyntaxError::BareQuote { span } => Diagnostic::error(
                "E0130",
                *span,
                "there is no character between the first two quotes",
                "three quotes",
            )
            .fix("the quote itself is written `'\\''`", *span, "'\\''"),
            SyntaxError::UnterminatedCharacter { span, filled } => {
                let error = Diagnostic::error(
                    "E0131",
                    *span,
                    "this character has no closing quote on its line",
                    "the character begins here",
                );
                if *filled {
                    error.fix("close it with `'`", span.after(), "'")
                } else {
                    error.help("a character is written `'a'`, or `'\\n'` for a line break")
                }
            }
            SyntaxError::UnknownSuffix { span, letters, suffix, digits } => {
                let error = Diagnostic::error(
                    "E0104",
                    *span,
                    format!("`{}` is not a number", truncated(&format!("{digits}{suffix}"))),
                    format!("`{}` is no suffix of a number", truncated(suffix)),
                )
                .note("the suffixes are `i8` `i16` `i32` `i64` `u8` `u16` `u32` `u64`, `f32` `f64`, and `n` for `bigint`");
                let family = suffix.strip_prefix(['i', 'u', 'f', 'I', 'U', 'F']);
                match family.filter(|width| width.bytes().all(|b| b.is_ascii_digit())) {
                    Some(_) => error,
                    None => {
                        let start = Span { end: letters.start, ..*letters };
                        error.fix(
                            format!("a product is written `{} * {}`", truncated(digits), truncated(suffix)),
                            start,
                            " * ",
                        )
                    }
                }
            }
            SyntaxError::WrongSuffix { span, suffix, real: true } => Diagnostic::error(
                "E0132",
                *span,
                format!("`{suffix}` is a type of whole numbers, and these are the digits of a real"),
                "a point or an exponent makes a real",
            )
            .help("leave the suffix out, or convert: `:> T` cuts toward zero"),
            SyntaxError::WrongSuffix { span, suffix, real: false } => Diagnostic::error(
                "E0132",
                *span,
                format!("`{suffix}` follows decimal digits only"),
                "not written in base ten",
            )
            .help(format!("write the digits in base ten, or convert: `:> {suffix}`")),
            SyntaxError::BadNumber { span, text } => {
                let error = Diagnostic::error(
                    "E0104",
                    *span,
                    format!("`{}` is not a number", truncated(text)),
                    "digits and letters run together",
                );
                if text.contains(['e', 'E', '.']) && text.parse::<f64>().is_ok_and(f64::is_infinite) {
                    return Diagnostic::error(
                        "E0104",
                        *span,
                        format!("`{}` is larger than any real number", truncated(text)),
                        "this number",
                    );
                }
                if text.starts_with("0o") {
                    return error.note("there are no octal numbers: `010` is ten");
                }
                error.help("numbers are written `42`, `1_000`, `0xff`, `0b101`, `1.5` or `1.5e-3`")
            }
            SyntaxError::BarePoint { span, text } => {
                let (side, whole) = match text.strip_prefix('.') {
                    Some(_) => ("before", format!("0{text}")),
                    None => ("after", format!("{text}0")),
                };
                let message = format!("`{}` is not a number", truncated(text));
                let label = format!("there is no digit {side} its point");
                Diagnostic::error("E0104", *span, message, label).fix(
                    format!("write `{}`", truncated(&whole)),
                    *span,
                    whole,
                )
            }
            SyntaxError::NumberTooLong { span } => {
                Diagnostic::error("E0106", *span, "this number has more than 10 000 digits", "this number")
            }
            SyntaxError::UnterminatedComment { open } => {
                Diagnostic::error("E0105", *open, "this comment never ends", "the comment begins here")
                    .help("close it with `*/`; comments nest, so each `/*` needs its own")
            }
            SyntaxError::LineTooLong { span } => {
                Diagnostic::error("E0106", *span, "this line is longer than 1 MiB", "the line begins here")
                    .help("data of this size belongs in a file that the program reads")
            }
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
                let (opened, wanted_words, closed) = (opener.description(), wanted.description(), closer.description());
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
            SyntaxError::UnterminatedText { open } => Diagnostic::error(
                "E0141",
                *open,
                "this text has no end",
                "opened here",
            )
            .help("a text over several lines ends with `\"\"\"`"),
            SyntaxError::MalformedInterpolation { span, text: true } => Diagnostic::error(
                "E0142",
                *span,
                "this brace begins no value",
                "a value and a `}` are expected after it",
            )
            .help("a value is `{x}`, `{x:8}` or `{x:8.3}`, all in one line; a brace by itself is `{{`"),
            SyntaxError::MalformedInterpolation { span, text: false } => Diagnostic::error(
                "E0142",
                *span,
                "this brace ends no value",
                "nothing is open here",
            )
            .fix("a brace by itself is `}}`", *span, "}}"),
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
            SyntaxError::PositionalAfterNamed { value } => Diagnostic::error(
                "E0150",
                *value,
                "what has no name stands before what has one",
                "this has no name",
            )
            .help("the arguments with a name come last, as in `f (1, 2, width = 3)`"),
            SyntaxError::ConditionBetween { word } => Diagnostic::error(
                "E0139",
                *word,
                "a choice begins with its `if`",
                "a value stands before it",
            )
            .help("write `if c then a else b endif`"),
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

/// Returns a text cut to 40 bytes.
fn truncated(text: &str) -> String {
    if text.len() <= 40 {
        return text.to_owned();
    }
    text.chars().take(36).chain("…".chars()).collect()
}

/// Returns the name of a character for messages.
fn character_name(character: char) -> String {
    match character {
        '\0' => "a NUL byte".to_owned(),
        '\u{A0}' => "a no-break space".to_owned(),
        c if c.is_control() || c.is_whitespace() => format!("the character U+{:04X}", c as u32),
        c => format!("`{c}`"),
    }
}

/// Returns the ASCII replacement of a character inserted by word processors, or used in other
/// languages.
fn ascii_replacement(character: char) -> Option<&'static str> {
    Some(match character {
        '\u{201C}' | '\u{201D}' | '\u{201E}' => "\"",
        '\u{2018}' | '\u{2019}' => "'",
        '\u{2013}' | '\u{2014}' | '\u{2212}' => "-",
        '\u{D7}' => "*",
        '\u{2192}' => "->",
        '\u{2264}' => "<=",
        '\u{2265}' => ">=",
        '\u{2260}' => "!=",
        '\u{A0}' | '\u{2009}' | '\u{3000}' => " ",
        '~' => "!",
        _ => return None,
    })
}
