//! Literals: the values of numbers, characters and strings, and their errors.

use super::error::{LexicalError, SyntaxError};
use super::lexer::TokenKind;
use crate::source::Span;
use std::sync::Arc;

/// Bytes of a number, at most: conversion of digits takes quadratic time.
const MAX_NUMBER_BYTES: usize = 10_000;

/// Reports the errors of a number.
pub(super) fn check_number(kind: TokenKind, text: &str, span: Span, errors: &mut Vec<SyntaxError>) {
    if text.len() > MAX_NUMBER_BYTES {
        errors.push(LexicalError::NumberTooLong { span }.into());
        return;
    }
    let wrong = match kind {
        TokenKind::Int => {
            text.get(..2).is_some_and(|p| matches!(p, "0x" | "0X" | "0b" | "0B"))
                && text[2..].bytes().all(|b| b == b'_')
        }
        _ => !real_value(text).is_finite(),
    };
    if wrong {
        errors.push(LexicalError::BadNumber { span, text: text.to_owned() }.into());
    }
}

/// The suffixes of numbers: the names of their types, `n` for `bigint`.
pub const SUFFIXES: [&str; 11] = ["i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64", "n"];

/// Splits a number that runs into letters into its digits and those letters.
fn split_suffix(text: &str) -> (&str, &str) {
    let run = |from: usize, digit: fn(&u8) -> bool| {
        let bytes = &text.as_bytes()[from..];
        from + bytes.iter().take_while(|b| **b == b'_' || digit(b)).count()
    };
    let decimal = |from: usize| run(from, u8::is_ascii_digit);
    let end = match text.get(..2) {
        Some("0x" | "0X") => run(2, u8::is_ascii_hexdigit),
        Some("0b" | "0B") => run(2, |b| matches!(b, b'0' | b'1')),
        _ => {
            let mut end = decimal(0);
            if text[end..].starts_with('.') {
                end = decimal(end + 1);
            }
            let exponent = text[end..].strip_prefix(['e', 'E']);
            let digits = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
            match digits {
                Some(digits) if digits.starts_with(|c: char| c.is_ascii_digit()) => {
                    decimal(text.len() - digits.len())
                }
                _ => end,
            }
        }
    };
    text.split_at(end)
}

/// Returns the digits and the suffix of a number, if the suffix is known.
pub fn number_parts(text: &str) -> Option<(&str, &'static str)> {
    let (digits, letters) = split_suffix(text);
    SUFFIXES.into_iter().find(|suffix| *suffix == letters).map(|suffix| (digits, suffix))
}

/// Returns true for the digits of a real: with a point or an exponent.
pub fn is_real(digits: &str) -> bool {
    !digits.starts_with("0x") && !digits.starts_with("0X") && digits.contains(['.', 'e', 'E'])
}

/// Reports the errors of a number that runs into letters.
pub(super) fn check_suffixed_number(text: &str, span: Span, errors: &mut Vec<SyntaxError>) {
    let (digits, letters) = split_suffix(text);
    let based = matches!(digits.get(..2), Some("0x" | "0X" | "0b" | "0B"));
    let letters_span = Span { start: span.end - letters.len() as u32, ..span };
    let error = match number_parts(text) {
        // `0x`, `0b2`, `1e`: the digits are malformed, not only the suffix.
        _ if based && digits[2..].bytes().all(|b| b == b'_')
            || letters.starts_with(|c: char| c.is_ascii_digit())
            || matches!(letters, "e" | "E")
            || matches!((digits, letters.as_bytes()), ("0", [b'o' | b'O', b'0'..=b'9', ..])) =>
        {
            LexicalError::BadNumber { span, text: text.to_owned() }.into()
        }
        None => LexicalError::UnknownSuffix {
            span,
            letters: letters_span,
            suffix: letters.to_owned(),
            digits: digits.to_owned(),
        }
        .into(),
        Some((_, suffix)) if is_real(digits) && !suffix.starts_with('f') => {
            LexicalError::WrongSuffix { span, suffix, real: true }.into()
        }
        Some((_, suffix)) if based && suffix.starts_with('f') => {
            LexicalError::WrongSuffix { span, suffix, real: false }.into()
        }
        Some(_) => {
            let kind = if is_real(digits) { TokenKind::Real } else { TokenKind::Int };
            return check_number(kind, digits, span, errors);
        }
    };
    errors.push(error);
}

/// Lexes a character after its opening quote: returns its bytes, and its error.
pub(super) fn lex_character(rest: &str, quote: Span) -> (usize, Option<SyntaxError>) {
    let line = rest.split('\n').next().unwrap_or("");
    let span = |end: usize| Span { end: quote.end + end as u32, ..quote };
    if line.starts_with("''") {
        return (2, Some(LexicalError::BareQuote { span: span(2) }.into()));
    }
    // The closing quote: the first that no backslash stands before.
    let mut escaped = false;
    let close = line.bytes().position(|b| {
        let closes = b == b'\'' && !escaped;
        escaped = b == b'\\' && !escaped;
        closes
    });
    let Some(close) = close else {
        let first = line.chars().next().filter(|c| !c.is_whitespace());
        // An escape is taken whole: `'\n;` lacks its quote after the `n`.
        let taken = match first {
            Some('\\') => 1 + line[1..].chars().next().map_or(0, char::len_utf8),
            Some(c) => c.len_utf8(),
            None => 0,
        };
        return (
            taken,
            Some(LexicalError::UnterminatedCharacter { span: span(taken), filled: taken > 0 }.into()),
        );
    };
    let body = &line[..close];
    let whole = span(close + 1);
    let error = match unescape(body) {
        Err(at) => {
            let (start, end) = (quote.end + at.start as u32, quote.end + at.end as u32);
            Some(LexicalError::BadEscape { span: Span { start, end, ..quote }, place: "a character" }.into())
        }
        Ok(text) => match text.chars().count() {
            1 => None,
            _ => Some(LexicalError::NotOneCharacter { span: whole, text }.into()),
        },
    };
    (close + 1, error)
}

/// Returns the value of a character literal; the lexer has reported malformed ones.
pub fn char_value(quoted: &str) -> char {
    let body = quoted.strip_prefix('\'').and_then(|b| b.strip_suffix('\'')).unwrap_or("");
    unescape(body).ok().and_then(|text| text.chars().next()).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the digits of a number without `_`.
pub fn without_underscores(digits: &str) -> Arc<str> {
    if digits.contains('_') { digits.replace('_', "").into() } else { digits.into() }
}

/// Returns the value of a real literal; NaN if it is malformed.
pub fn real_value(text: &str) -> f64 {
    let plain = || text.parse().unwrap_or(f64::NAN);
    if text.contains('_') { text.replace('_', "").parse().unwrap_or(f64::NAN) } else { plain() }
}

/// Returns the value of an integer literal: `010` is ten.
#[cfg(feature = "grammar")]
pub fn int_value(text: &str) -> num_bigint::BigUint {
    let (digits, radix) = match text.get(..2) {
        Some("0x" | "0X") => (&text[2..], 16),
        Some("0b" | "0B") => (&text[2..], 2),
        _ => (text, 10),
    };
    // Nearly every literal fits a machine word.
    if digits.len() <= 18 && radix == 10 && !digits.contains('_') {
        return digits.parse::<u64>().unwrap_or(0).into();
    }
    let digits: Vec<u8> = digits.bytes().filter(|&b| b != b'_').collect();
    num_bigint::BigUint::parse_bytes(&digits, radix).unwrap_or_default()
}

/// Resolves the escapes of a string's or a character's body.
///
/// # Errors
///
/// The range of an unknown escape.
pub fn unescape(body: &str) -> Result<String, std::ops::Range<usize>> {
    let mut out = String::with_capacity(body.len());
    let mut chars = body.char_indices();
    while let Some((at, c)) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let Some((escape_at, escape)) = chars.next() else {
            return Err(at..body.len());
        };
        out.push(match escape {
            'n' => '\n',
            't' => '\t',
            'r' => '\r',
            '\\' => '\\',
            '"' => '"',
            '\'' => '\'',
            '0' => '\0',
            'u' => {
                let rest = &body[escape_at + 1..];
                let close = rest.find('}');
                let hex = close.and_then(|close| rest[..close].strip_prefix('{'));
                let code = hex
                    .filter(|hex| hex.len() <= 6 && hex.bytes().all(|b| b.is_ascii_hexdigit()))
                    .and_then(|hex| u32::from_str_radix(hex, 16).ok())
                    .and_then(char::from_u32);
                let Some(code) = code else {
                    return Err(at..escape_at + 1 + close.map_or(0, |c| c + 1));
                };
                // Skip the digits and both braces, all one byte wide.
                for _ in 0..close.map_or(0, |c| c + 1) {
                    chars.next();
                }
                code
            }
            _ => return Err(at..escape_at + escape.len_utf8()),
        });
    }
    Ok(out)
}

/// The format of an interpolated value, `:08.3`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FormatSpec {
    /// The minimum width in characters.
    pub width: Option<usize>,
    /// True if zeros fill the width.
    pub zeros: bool,
    /// The number of digits after the point.
    pub places: Option<usize>,
}

/// Splits a piece of `f"…"` into its text, with unresolved escapes, and the format of the value
/// before it.
pub(crate) fn interpolated_piece(piece: &str) -> (Option<&str>, FormatSpec) {
    let (form, rest) = match piece.strip_prefix("f\"") {
        Some(rest) => ("", rest),
        None => piece.split_once('}').unwrap_or(("", piece)),
    };
    let (width, places) =
        form.trim_start_matches(':').split_once('.').unwrap_or((form.trim_start_matches(':'), ""));
    // A number that no width can be is the greatest there is.
    let number = |digits: &str| (!digits.is_empty()).then(|| digits.parse().unwrap_or(usize::MAX));
    let zeros = width.len() > 1 && width.starts_with('0');
    let spec = FormatSpec { width: number(width), zeros, places: number(places) };
    (rest.get(..rest.len().saturating_sub(1)), spec)
}

/// Returns a string literal.
pub fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    text.chars().for_each(|c| push_escaped(c, '"', &mut out));
    out.push('"');
    out
}

/// Appends a character, escaped for quotes of this kind.
pub(super) fn push_escaped(c: char, quote: char, out: &mut String) {
    match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        '\r' => out.push_str("\\r"),
        '\\' => out.push_str("\\\\"),
        '\0' => out.push_str("\\0"),
        c if c == quote => {
            out.push('\\');
            out.push(c);
        }
        c if c.is_control() => out.push_str(&format!("\\u{{{:x}}}", c as u32)),
        c => out.push(c),
    }
}
