//! Diagnostics of lexical errors: characters, strings, numbers and comments.

use crate::diagnostic::{Diagnostic, errors};
use crate::source::Span;

/// The fault of a text with values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterpolationFault {
    /// An opening brace without a value.
    NoValue,
    /// A closing brace without an opening one.
    NotOpen,
    /// A format of another language.
    Format,
}

errors! {
    /// An error in characters, strings, numbers or comments.
    #[derive(PartialEq)]
    pub enum LexicalError {
        /// A character that no token has.
        E0101 UnknownCharacter {
            /// The run of them.
            span: Span,
            /// The first.
            character: char,
        },
        /// A string that its line ends.
        E0102 UnterminatedString {
            /// From its quote to the end of the line.
            span: Span,
        },
        /// An unknown escape.
        E0103 BadEscape {
            /// The escape.
            span: Span,
            /// The kind of literal it occurs in.
            place: &'static str,
        },
        /// A name in quotes that is written in another way.
        E0134 QuotedName {
            /// With its quotes.
            span: Span,
            /// The name, if there is one.
            name: Option<String>,
        },
        /// `''`, `'ab'`: not one character between quotes.
        E0130 NotOneCharacter {
            /// With its quotes.
            span: Span,
            /// The text between them.
            text: String,
        },
        /// `'''`: the quote as a character.
        E0130 BareQuote {
            /// All three quotes.
            span: Span,
        },
        /// A character without its closing quote.
        E0131 UnterminatedCharacter {
            /// The quote and the character after it.
            span: Span,
            /// A character stands after the quote.
            filled: bool,
        },
        /// `5km`, `5u7`: letters after a number that are no suffix.
        E0104 UnknownSuffix {
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
        E0132 WrongSuffix {
            /// The number.
            span: Span,
            /// The suffix.
            suffix: &'static str,
            /// The digits are those of a real.
            real: bool,
        },
        /// A malformed number.
        E0104 BadNumber {
            /// The number.
            span: Span,
            /// As written.
            text: String,
        },
        /// A number that begins or ends with its point.
        E0104 BarePoint {
            /// The number.
            span: Span,
            /// As written.
            text: String,
        },
        /// A number with too many digits.
        E0106 NumberTooLong {
            /// The number.
            span: Span,
        },
        /// A block comment without its `*/`.
        E0105 UnterminatedComment {
            /// The span of the `/*`.
            open: Span,
        },
        /// A line that is too long to be read.
        E0106 LineTooLong {
            /// The start of the line.
            span: Span,
        },
        /// `"""` without another.
        E0141 UnterminatedText {
            /// The quotes.
            open: Span,
        },
        /// A brace of `f"…"` that holds no value.
        E0142 MalformedInterpolation {
            /// The brace, or the format.
            span: Span,
            /// The fault.
            fault: InterpolationFault,
        },
    }
}

impl LexicalError {
    /// Returns the diagnostic.
    pub fn to_diagnostic(&self) -> Diagnostic {
        match self {
            LexicalError::UnknownCharacter { span, character } => {
                let name = character_name(*character);
                let error = Diagnostic::error(
                    self.code(),
                    *span,
                    format!("{name} is not part of the language"),
                    "this cannot be read",
                );
                match ascii_replacement(*character) {
                Some(plain) => error.fix(format!("write `{plain}`"), *span, plain),
                None if *character == '\\' => error.help(
                    "a function without a name is written `fun (x) => e`; the compact operators are `\\*`, `\\+`, `\\^` and `\\,`, without a blank",
                ),
                None if character.is_alphanumeric() => {
                    error.help("names are made of the letters a to z and A to Z, digits and `_`")
                }
                None => error,
            }
            }
            LexicalError::UnterminatedString { span } => Diagnostic::error(
                self.code(),
                *span,
                "this string has no closing quote on its line",
                "the string begins here",
            )
            .fix(
                "close it with `\"`; a line break inside a string is written `\\n`",
                span.after(),
                "\"",
            ),
            LexicalError::BadEscape { span, place } => {
                Diagnostic::error(self.code(), *span, format!("unknown escape in {place}"), "this escape")
                    .help("the escapes are `\\n` `\\t` `\\r` `\\\\` `\\\"` `\\'` `\\0` and `\\u{1F600}`")
            }
            LexicalError::QuotedName { span, name: Some(name) } => Diagnostic::error(
                self.code(),
                *span,
                format!("the name `{name}` is written in another way"),
                "each name is written in one way",
            )
            .fix(format!("write `{name}`"), *span, name.clone()),
            LexicalError::QuotedName { span, name: None } => {
                Diagnostic::error(self.code(), *span, "nothing has this name", "no text that a line can show")
                    .help("a name in quotes has a character, and no escapes but `\\\\` and `\\\"`")
            }
            LexicalError::NotOneCharacter { span, text } if text.is_empty() => Diagnostic::error(
                self.code(),
                *span,
                "there is no character between these quotes",
                "nothing here",
            )
            .fix("a text without characters is written `\"\"`", *span, "\"\""),
            LexicalError::NotOneCharacter { span, text } => {
                let count = text.chars().count();
                let error = Diagnostic::error(
                    self.code(),
                    *span,
                    format!("a character literal holds one character, this one has {count}"),
                    "single quotes are for one character",
                )
                .fix(
                    "texts stand in double quotes",
                    *span,
                    crate::syntax::literal::quoted(text),
                );
                if text.is_ascii() || count > 8 {
                    return error;
                }
                // What looks like one character may be a letter and its accents.
                let codes: Vec<String> = text.chars().map(|c| format!("U+{:04X}", c as u32)).collect();
                error.note(format!("its characters are {}", codes.join(", ")))
            }
            LexicalError::BareQuote { span } => Diagnostic::error(
                self.code(),
                *span,
                "there is no character between the first two quotes",
                "three quotes",
            )
            .fix("the quote itself is written `'\\''`", *span, "'\\''"),
            LexicalError::UnterminatedCharacter { span, filled } => {
                let error = Diagnostic::error(
                    self.code(),
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
            LexicalError::UnknownSuffix { span, letters, suffix, digits } => {
                let error = Diagnostic::error(self.code(),
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
            LexicalError::WrongSuffix { span, suffix, real: true } => Diagnostic::error(
                self.code(),
                *span,
                format!("`{suffix}` is a type of whole numbers, and these are the digits of a real"),
                "a point or an exponent makes a real",
            )
            .help("leave the suffix out, or convert: `:> T` cuts toward zero"),
            LexicalError::WrongSuffix { span, suffix, real: false } => Diagnostic::error(
                self.code(),
                *span,
                format!("`{suffix}` follows decimal digits only"),
                "not written in base ten",
            )
            .help(format!("write the digits in base ten, or convert: `:> {suffix}`")),
            LexicalError::BadNumber { span, text } => {
                let error = Diagnostic::error(
                    self.code(),
                    *span,
                    format!("`{}` is not a number", truncated(text)),
                    "digits and letters run together",
                );
                if text.contains(['e', 'E', '.']) && text.parse::<f64>().is_ok_and(f64::is_infinite) {
                    return Diagnostic::error(
                        self.code(),
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
            LexicalError::BarePoint { span, text } => {
                let (side, whole) = match text.strip_prefix('.') {
                    Some(_) => ("before", format!("0{text}")),
                    None => ("after", format!("{text}0")),
                };
                let message = format!("`{}` is not a number", truncated(text));
                let label = format!("there is no digit {side} its point");
                Diagnostic::error(self.code(), *span, message, label).fix(
                    format!("write `{}`", truncated(&whole)),
                    *span,
                    whole,
                )
            }
            LexicalError::NumberTooLong { span } => Diagnostic::error(
                self.code(),
                *span,
                "this number has more than 10 000 digits",
                "this number",
            ),
            LexicalError::UnterminatedComment { open } => {
                Diagnostic::error(self.code(), *open, "this comment never ends", "the comment begins here")
                    .help("close it with `*/`; comments nest, so each `/*` needs its own")
            }
            LexicalError::LineTooLong { span } => Diagnostic::error(
                self.code(),
                *span,
                "this line is longer than 1 MiB",
                "the line begins here",
            )
            .help("data of this size belongs in a file that the program reads"),
            LexicalError::UnterminatedText { open } => {
                Diagnostic::error(self.code(), *open, "this text has no end", "opened here")
                    .help("a text over several lines ends with `\"\"\"`")
            }
            LexicalError::MalformedInterpolation { span, fault: InterpolationFault::NoValue } => Diagnostic::error(
                self.code(),
                *span,
                "this brace begins no value",
                "a value and a `}` are expected after it",
            )
            .help("a value is `{x}`, `{x:8}` or `{x:8.3}`, all in one line; a brace by itself is `{{`"),
            LexicalError::MalformedInterpolation { span, fault: InterpolationFault::Format } => Diagnostic::error(
                self.code(),
                *span,
                "this is no format of a value",
                "a width, and digits after the point",
            )
            .help("`{x:8}` has a width, `{x:.2}` digits after the point, `{x:8.2}` both, `{x:08}` zeros in place of blanks; a text is put to the left by `{pad_right 8 s}`, digits to another base are `{in_base 16 n}`"),
            LexicalError::MalformedInterpolation { span, fault: InterpolationFault::NotOpen } => {
                Diagnostic::error(self.code(), *span, "this brace ends no value", "nothing is open here").fix(
                    "a brace by itself is `}}`",
                    *span,
                    "}}",
                )
            }
        }
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
