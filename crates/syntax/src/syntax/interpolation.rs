//! Interpolated strings: `f"… {x:8.3} …"` → texts and the tokens of the values between them.
//!
//! Takes the range of an interpolated string; appends tokens and errors to those of the lexer,
//! which lexes each value. A value ends at its `}`: brackets in it match, and literals are skipped.
//! Linear in the length of the line, with nesting up to [`MAX_INTERPOLATION_DEPTH`].

use super::error::{InterpolationFault, LexicalError};
use super::lexer::{Lexed, comment_length, lex_range};
use super::literal::{lex_character, unescape};
use super::token::{Token, TokenKind};
use crate::source::{Source, Span};

/// Lexes the interpolated string `f"… {x:8.3} …"` in `range` into its texts and the tokens of the
/// values between them.
pub(super) fn lex_interpolated(source: &Source, range: std::ops::Range<usize>, glued: bool, out: &mut Lexed) {
    let text = source.text.as_str();
    let end = range.end - 1;
    let token = |kind, glued, start: usize, end: usize| Token {
        kind,
        glued,
        synthetic: false,
        offside: false,
        start: start as u32,
        end: end as u32,
    };
    let bytes = text.as_bytes();
    let (mut at, mut piece) = (range.start + 2, range.start);
    let mut kind = TokenKind::InterpolatedStr;
    let mut found = Vec::new();
    let mut wrong = None;
    while at < end {
        match bytes[at] {
            // The braces of `\u{7f}` are its own.
            b'\\' if text[at..end].starts_with("\\u{") => {
                at = text[at..end].find('}').map_or(end, |length| at + length + 1);
            }
            b'\\' => at += 2,
            open @ (b'{' | b'}') if bytes.get(at + 1) == Some(&open) && at + 1 < end => at += 2,
            b'}' => {
                wrong = Some(at);
                break;
            }
            b'{' => {
                let Some(close) = interpolation_length(&text[at + 1..end], 0).map(|length| at + 1 + length)
                else {
                    wrong = Some(at);
                    break;
                };
                let hole = &text[at + 1..close];
                let foreign = foreign_format_length(hole);
                if let Some(length) = foreign {
                    let (span, fault) =
                        (Span::new(source.id, close - length, close), InterpolationFault::Format);
                    out.errors.push(LexicalError::MalformedInterpolation { span, fault }.into());
                }
                let value = hole.len() - foreign.unwrap_or_else(|| format_spec_length(hole));
                let inside = lex_range(source, at + 1..at + 1 + value);
                if inside.tokens.is_empty() || !inside.errors.is_empty() {
                    wrong = Some(at);
                    break;
                }
                let next = if kind == TokenKind::InterpolatedStr {
                    TokenKind::InterpolatedOpen
                } else {
                    TokenKind::InterpolatedMiddle
                };
                found.push(token(next, glued || !found.is_empty(), piece, at + 1));
                found.extend(inside.tokens);
                kind = TokenKind::InterpolatedClose;
                piece = at + 1 + value;
                at = close + 1;
            }
            _ => at += 1,
        }
    }
    if let Some(at) = wrong {
        out.errors.push(
            LexicalError::MalformedInterpolation {
                span: Span::new(source.id, at, at + 1),
                fault: if bytes[at] == b'{' {
                    InterpolationFault::NoValue
                } else {
                    InterpolationFault::NotOpen
                },
            }
            .into(),
        );
        found.clear();
        (kind, piece) = (TokenKind::InterpolatedStr, range.start);
    }
    found.push(token(kind, glued || !found.is_empty(), piece, range.end));
    for token in &found {
        let written = &text[token.start as usize..token.end as usize];
        if matches!(
            token.kind,
            TokenKind::InterpolatedStr
                | TokenKind::InterpolatedOpen
                | TokenKind::InterpolatedMiddle
                | TokenKind::InterpolatedClose
        ) && let Some(plain) = super::literal::interpolated_piece(written).0
            && let Err(at) = unescape(plain)
        {
            let start = token.start as usize + (plain.as_ptr() as usize - written.as_ptr() as usize);
            let span = Span::new(source.id, start + at.start, start + at.end);
            out.errors.push(LexicalError::BadEscape { span, place: "a string" }.into());
        }
    }
    out.tokens.extend(found);
}

/// Nesting of interpolated strings, at most.
const MAX_INTERPOLATION_DEPTH: usize = 16;

/// Returns the bytes of `f"…"` at the beginning of a line: up to the quote that is in no value.
/// Fails if the line ends before, or a value does not end.
pub(super) fn interpolated_length(line: &str, depth: usize) -> Result<usize, ()> {
    let bytes = line.as_bytes();
    let mut at = 2;
    loop {
        match bytes.get(at) {
            None | Some(b'\n') => return Err(()),
            Some(b'"') => return Ok(at + 1),
            Some(b'\\') => {
                // The braces of `\u{7f}` are its own.
                let braces =
                    if line[at..].starts_with("\\u{") { line[at..].find(['}', '"', '\n']) } else { None };
                at += braces.unwrap_or(2);
            }
            Some(b'{') if bytes.get(at + 1) == Some(&b'{') => at += 2,
            Some(b'{') => at += interpolation_length(&line[at + 1..], depth).ok_or(())? + 2,
            Some(_) => at += 1,
        }
    }
}

/// Returns the bytes up to the `}` of an interpolated value: brackets in it match, and literals are
/// skipped.
fn interpolation_length(rest: &str, depth: usize) -> Option<usize> {
    let bytes = rest.as_bytes();
    let mut open = Vec::new();
    let mut at = 0;
    // Whether a name or number goes on here.
    let mut word = false;
    while let Some(&byte) = bytes.get(at) {
        let in_word =
            std::mem::replace(&mut word, byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'\''));
        let mut length = 1;
        match byte {
            b'\n' => return None,
            b'f' if !in_word && bytes.get(at + 1) == Some(&b'"') => {
                if depth >= MAX_INTERPOLATION_DEPTH {
                    return None;
                }
                length = interpolated_length(&rest[at..], depth + 1).ok()?;
                word = false;
            }
            b'"' if rest[at..].starts_with("\"\"\"") => length = 6 + rest[at + 3..].find("\"\"\"")?,
            b'"' => {
                let mut escaped = false;
                let close = rest[at + 1..].bytes().position(|b| {
                    let closes = b == b'"' && !escaped || b == b'\n';
                    escaped = b == b'\\' && !escaped;
                    closes
                })?;
                length = close + 2;
            }
            b'\'' if !in_word => {
                length = 1 + lex_character(&rest[at + 1..], Span::default()).0;
                word = false;
            }
            b'/' if bytes.get(at + 1) == Some(&b'*') => length = 2 + comment_length(&rest[at + 2..])?,
            b'(' => open.push(b')'),
            b'[' => open.push(b']'),
            b'{' => open.push(b'}'),
            b'}' if open.is_empty() => return Some(at),
            close @ (b')' | b']' | b'}') if open.pop() != Some(close) => return None,
            _ => {}
        }
        // A text or comment over several lines is not within this one.
        if length > 1 && rest[at..].get(..length)?.contains('\n') {
            return None;
        }
        at += length;
    }
    None
}

/// Returns the bytes of a format specification `:8.3` at the end of an interpolated value; in ``
/// `1:3 `` the number after the colon is a type.
fn format_spec_length(hole: &str) -> usize {
    let Some(colon) = hole.rfind(':') else { return 0 };
    let form = &hole[colon + 1..];
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (width, places) = form.split_once('.').unwrap_or((form, "0"));
    let tick = hole[..colon].trim_end_matches(|c: char| c.is_ascii_digit()).ends_with('`');
    let is_form = !form.is_empty() && !places.is_empty() && digits(width) && digits(places) && !tick;
    if is_form { hole.len() - colon } else { 0 }
}

/// Returns the bytes of a format of other languages at the end of an interpolated value: `:<10`,
/// `:.2f`, `:,`.
fn foreign_format_length(hole: &str) -> Option<usize> {
    let colon = hole.rfind(':')?;
    let form = &hole[colon + 1..];
    if form.is_empty() || format_spec_length(hole) > 0 || hole[..colon].ends_with(':') {
        return None;
    }
    let rest = form.strip_prefix(['<', '>', '^', '=', '+', '-']).unwrap_or(form);
    let aligned = rest.len() < form.len();
    let digits = |text: &str| text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let number = rest.len() - digits(rest);
    let rest = &rest[number..];
    let grouped = rest.strip_prefix([',', '_']).unwrap_or(rest);
    let places = grouped.strip_prefix('.').map_or(grouped, |rest| &rest[rest.len() - digits(rest)..]);
    let pointed = places.len() < grouped.len();
    let letter = places.strip_prefix(['f', 'd', 's', 'e', 'E', 'g', 'G', 'x', 'X', 'o', 'b', '%']);
    let known = match letter {
        Some("") => aligned || number > 0 || pointed || grouped.len() < rest.len() || form.len() == 1,
        None => places.is_empty() && (aligned && number > 0 || grouped.len() < rest.len()),
        Some(_) => false,
    };
    known.then(|| hole.len() - colon)
}
