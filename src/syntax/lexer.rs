//! The lexer: text → tokens with byte positions, the `///` comments, and its own errors.
//!
//! Never fails and never stops early: what it cannot read is reported and skipped. Knows no
//! grammar, except that a number after a `.` is digits only, so that `x.1.2` is two projections, and
//! one after `` `n: `` too.
//!
//! A quote inside or after a name belongs to the name (`x'`), so a character begins with a quote where
//! no name can go on. A number may end in a suffix, the name of its type: `5u8`. After `0x` the letters
//! a to f are digits, so that no float suffix follows one: `0x1f32` is a number of five digits.
//! A first line `#!/…` is for the system that starts scripts, and skipped.

use super::error::SyntaxError;
use super::literal::{check_number, check_suffixed_number, lex_character, unescape};
use crate::source::{Source, SourceId, Span};
use logos::Logos;
use std::sync::Arc;

/// What a token is. The text of names and literals is read back through the token's position.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[logos(skip r"[ \t\r\n\f\u{FEFF}]+")]
#[repr(u8)]
#[rustfmt::skip]
#[allow(missing_docs)] // each variant is the token written beside it
pub enum TokenKind {
    #[regex(r"[0-9][0-9_]*", priority = 10)]
    #[regex(r"0[xX][0-9a-fA-F_]+", priority = 10)]
    #[regex(r"0[bB][01_]+", priority = 11)]
    Int,
    #[regex(r"[0-9][0-9_]*\.[0-9][0-9_]*([eE][+-]?[0-9][0-9_]*)?", priority = 10)]
    #[regex(r"[0-9][0-9_]*[eE][+-]?[0-9][0-9_]*", priority = 10)]
    Real,
    /// A number with one of [`SUFFIXES`]: told from [`TokenKind::BadNumber`] by hand.
    Suffixed,
    /// Digits run into letters: `12abc`, `0xg`.
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?[A-Za-z_'][A-Za-z0-9_']*", priority = 1)]
    #[regex(r"[0-9][0-9_]*(\.[0-9][0-9_]*)?[eE][+-]?[0-9][0-9_]*[A-Za-z_'][A-Za-z0-9_']*", priority = 3)]
    BadNumber,
    /// A character: its quote, from which the lexer reads on by hand.
    #[token("'")]
    Char,
    /// A text; from `"""` the lexer reads on by hand.
    #[regex(r#""([^"\\\n]|\\[^\n])*""#, priority = 10)]
    #[token("\"\"\"", priority = 20)]
    Str,
    /// `f"…"` without values in it.
    #[regex(r#"f"([^"\\\n]|\\[^\n])*""#, priority = 12)]
    InterpolatedStr,
    /// `f"… {`: up to the first value.
    InterpolatedOpen,
    /// `:8.3} … {`: between two values, with the form of the first.
    InterpolatedMiddle,
    /// `:8.3} …"`: after the last value.
    InterpolatedClose,
    /// A string that its line ends.
    #[regex(r#""([^"\\\n]|\\[^\n])*\\?"#, priority = 1)]
    BadStr,
    #[regex(r"[A-Za-z_][A-Za-z0-9_']*", priority = 2)]
    #[regex(r#"n"([^"\\\n]|\\[^\n])*""#, priority = 2)]
    Name,
    /// A name of a module, `geometry::area`: one token, for no blank stands in it.
    #[regex(r"[A-Za-z_][A-Za-z0-9_']*(::[A-Za-z_][A-Za-z0-9_']*)+", priority = 3)]
    Qualified,
    #[token("_", priority = 12)] Underscore,

    #[token("fun")] Fun,
    #[token("proc")] Proc,
    #[token("var")] Var,
    #[token("val")] Val,
    #[token("typedef")] Typedef,
    #[token("typefun")] Typefun,
    #[token("typematch")] Typematch,
    #[token("struct")] Struct,
    #[token("variant")] Variant,
    #[token("enum")] Enum,
    #[token("newtype")] Newtype,
    #[token("class")] Class,
    #[token("instance")] Instance,
    #[token("law")] Law,
    #[token("require")] Require,
    #[token("match")] Match,
    /// `match e do`, told apart by the bracket pass.
    MatchDo,
    #[token("with")] With,
    #[token("endmatch")] Endmatch,
    #[token("if")] If,
    /// `if c do` and `if c perform`, told apart by the bracket pass.
    IfDo,
    /// `in` between an index and a set, as the bracket pass tells it.
    InSet,
    #[token("then")] Then,
    #[token("elif")] Elif,
    #[token("else")] Else,
    #[token("endif")] Endif,
    #[token("for")] For,
    #[token("in")] In,
    #[token("do")] Do,
    #[token("done")] Done,
    #[token("perform")] Perform,
    #[token("while")] While,
    #[token("break")] Break,
    #[token("continue")] Continue,
    #[token("return")] Return,
    #[token("case")] Case,
    #[token("of")] Of,
    #[token("proj")] Proj,
    #[token("aproj")] Aproj,
    #[token("ainj")] Ainj,
    #[token("and")] And,
    #[token("or")] Or,
    #[token("not")] Not,
    #[token("as")] As,
    #[token("when")] When,
    #[token("true")] True,
    #[token("false")] False,
    #[token("type")] Type,
    #[token("kind")] KindWord,
    #[token("export")] Export,
    #[token("import")] Import,

    #[token("(")] LParen,
    #[token(")")] RParen,
    #[token("[")] LBracket,
    #[token("]")] RBracket,
    #[token("{")] LBrace,
    #[token("}")] RBrace,
    #[token(",")] Comma,
    #[token(";")] Semi,
    #[token(":")] Colon,
    #[token(":>")] Convert,
    #[token(":>>")] Reshape,
    #[token(".")] Dot,
    #[token("..")] DotDot,
    #[token("..<")] DotDotLess,
    /// `upto` in the head of a loop, told apart by the bracket pass.
    Upto,
    #[token("|")] Bar,
    #[token("|>")] Pipe,
    #[token("$")] Dollar,
    #[token("#")] Hash,
    #[token("&")] Amp,
    #[token("`")] Tick,
    #[token("?")] Question,
    #[token("<-")] LArrow,
    #[token("->")] Arrow,
    #[token("=>")] FatArrow,
    #[token("=")] Assign,
    #[token("+=")] PlusAssign,
    #[token("-=")] MinusAssign,
    #[token("*=")] StarAssign,
    #[token("/=")] SlashAssign,
    #[token("%=")] PercentAssign,
    #[token("**=")] PowAssign,
    #[token("==")] EqEq,
    #[token("!=")] NotEq,
    #[token("<")] Less,
    #[token("<=")] LessEq,
    #[token(">")] Greater,
    #[token(">=")] GreaterEq,
    #[token("!")] Bang,
    #[token("+")] Plus,
    #[token("-")] Minus,
    #[token("*")] Star,
    #[token("/")] Slash,
    #[token("%")] Percent,
    #[token("**")] Pow,
    #[token("^")] Caret,
    #[token("*+")] StarPlus,
    #[token("\\*")] CStar,
    #[token("\\+")] CPlus,
    #[token("\\^")] CCaret,
    #[token("\\,")] CComma,

    // Never in a token list: the lexer reads on by hand from these.
    #[token("//")] LineComment,
    #[token("/*")] BlockComment,
}

/// One token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// No blank and no comment stands between the token before and this one.
    pub glued: bool,
    /// Not in the text: a statement's end put there by the bracket pass.
    pub synthetic: bool,
    /// Begins a line that is indented no deeper than the statement it would continue as an
    /// argument: found by the bracket pass.
    pub offside: bool,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// What the lexer gives.
#[derive(Debug, Default)]
pub struct Lexed {
    /// The tokens in order.
    pub tokens: Vec<Token>,
    /// `///` comments with the start of the token after them, in order.
    pub docs: Vec<(u32, Arc<str>)>,
    /// What could not be read.
    pub errors: Vec<SyntaxError>,
    /// The text ends inside a comment.
    pub open_comment: bool,
}

/// The longest line that is read, in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// How many lexical errors are reported; a binary file has a million.
const MAX_ERRORS: usize = 20;

/// Cuts a text into tokens.
pub fn lex(source: &Source) -> Lexed {
    lex_range(source, 0..source.text.len())
}

/// Cuts the part of a text in `range` into tokens.
pub fn lex_range(source: &Source, range: std::ops::Range<usize>) -> Lexed {
    let mut out = Lexed::default();
    let begin = range.start;
    let Some(text) = source.text.get(..range.end) else {
        return out;
    };
    if let Some(span) = find_long_line(source, begin, text) {
        out.errors.push(SyntaxError::LineTooLong { span });
        return out;
    }
    let mut doc: Option<String> = None;
    // The end of the line of the last text with values, and whether one on it does not end: then none behind it is looked at
    // again.
    let (mut line_end, mut fails) = (0, false);
    let mut last_end = usize::MAX;
    let mut bad_end = usize::MAX;
    let mut lexer = TokenKind::lexer(text);
    if !text.is_char_boundary(begin) {
        return out;
    }
    lexer.bump(begin.max(if begin == 0 { shebang_length(text) } else { 0 }));
    while let Some(result) = lexer.next() {
        let range = lexer.span();
        let span = Span::new(source.id, range.start, range.end);
        let mut kind = match result {
            Ok(kind) => kind,
            Err(()) => {
                // A run of unreadable characters is one error.
                let room = out.errors.len() < MAX_ERRORS;
                match out.errors.last_mut() {
                    Some(SyntaxError::UnknownCharacter { span: run, .. }) if bad_end == range.start => {
                        run.end = range.end as u32;
                    }
                    _ if room => {
                        let character = text[range.clone()].chars().next().unwrap_or('\0');
                        out.errors.push(SyntaxError::UnknownCharacter { span, character });
                    }
                    _ => {}
                }
                bad_end = range.end;
                continue;
            }
        };
        let mut end = range.end;
        match kind {
            TokenKind::LineComment => {
                let rest = lexer.remainder();
                let length = rest.find('\n').unwrap_or(rest.len());
                let line = rest[..length].trim_end_matches('\r');
                lexer.bump(length);
                // `///` and no fourth slash.
                if let Some(line) = line.strip_prefix('/').filter(|l| !l.starts_with('/')) {
                    let line = line.strip_prefix(' ').unwrap_or(line);
                    match &mut doc {
                        None => doc = Some(line.to_owned()),
                        Some(doc) => {
                            doc.push('\n');
                            doc.push_str(line);
                        }
                    }
                }
                continue;
            }
            TokenKind::BlockComment => {
                match comment_length(lexer.remainder()) {
                    Some(length) => lexer.bump(length),
                    None => {
                        out.errors.push(SyntaxError::UnterminatedComment { open: span });
                        out.open_comment = true;
                        break;
                    }
                }
                continue;
            }
            TokenKind::Real | TokenKind::BadNumber | TokenKind::Int if expects_digits_only(&out.tokens) => {
                let digits = text[range.clone()].bytes().take_while(|b| matches!(b, b'0'..=b'9' | b'_'));
                end = range.start + digits.count();
                kind = TokenKind::Int;
                if end < range.end {
                    lexer = TokenKind::lexer(text);
                    lexer.bump(end);
                }
                check_number(kind, &text[range.start..end], span, &mut out.errors);
            }
            TokenKind::Int | TokenKind::Real => {
                check_number(kind, &text[range.clone()], span, &mut out.errors)
            }
            TokenKind::BadNumber => {
                kind = TokenKind::Suffixed;
                check_suffixed_number(&text[range.clone()], span, &mut out.errors);
            }
            TokenKind::Char => {
                let (length, error) = lex_character(lexer.remainder(), span);
                lexer.bump(length);
                end += length;
                out.errors.extend(error);
            }
            TokenKind::Name if text[range.clone()].ends_with('"') => {
                if let Some(name) = super::names::misspelled(&text[range.clone()]) {
                    out.errors.push(SyntaxError::QuotedName { span, name });
                }
            }
            TokenKind::Str if &text[range.clone()] == "\"\"\"" => match lexer.remainder().find("\"\"\"") {
                Some(length) => {
                    lexer.bump(length + 3);
                    end += length + 3;
                }
                None => {
                    out.errors.push(SyntaxError::UnterminatedText { open: span });
                    out.open_comment = true;
                    break;
                }
            },
            TokenKind::InterpolatedStr => {
                if let Some(doc) = doc.take() {
                    out.docs.push((range.start as u32, doc.into()));
                }
                if range.start >= line_end {
                    let rest = &text[range.start..];
                    line_end = range.start + rest.find('\n').unwrap_or(rest.len());
                    fails = false;
                }
                let whole = match fails {
                    true => Err(()),
                    false => interpolated_length(&text[range.start..line_end], 0),
                };
                fails = whole.is_err();
                let end = whole.map_or(range.end, |length| range.start + length);
                if end != range.end {
                    lexer = TokenKind::lexer(text);
                    lexer.bump(end);
                }
                lex_interpolated(source, range.start..end, last_end == range.start, &mut out);
                last_end = end;
                continue;
            }
            TokenKind::BadStr => out.errors.push(SyntaxError::UnterminatedString { span }),
            TokenKind::Str => {
                let body = &text[range.start + 1..range.end - 1];
                if body.contains('\\')
                    && let Err(at) = unescape(body)
                {
                    let start = range.start + 1 + at.start;
                    let span = Span::new(source.id, start, range.start + 1 + at.end);
                    out.errors.push(SyntaxError::BadEscape { span, place: "a string" });
                }
            }
            _ => {}
        }
        if let Some(doc) = doc.take() {
            out.docs.push((range.start as u32, doc.into()));
        }
        let glued = last_end == range.start;
        out.tokens.push(Token {
            kind,
            glued,
            synthetic: false,
            offside: false,
            start: range.start as u32,
            end: end as u32,
        });
        last_end = end;
    }
    replace_bare_points(source.id, text, &mut out);
    out.errors.truncate(MAX_ERRORS);
    out
}

/// Cuts `f"… {x:8.3} …"`, which ends where the range ends, into its texts and the tokens of the values between them.
fn lex_interpolated(source: &Source, range: std::ops::Range<usize>, glued: bool, out: &mut Lexed) {
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
                let value = hole.len() - format_spec_length(hole);
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
        out.errors.push(SyntaxError::MalformedInterpolation {
            span: Span::new(source.id, at, at + 1),
            text: bytes[at] == b'{',
        });
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
            out.errors.push(SyntaxError::BadEscape { span, place: "a string" });
        }
    }
    out.tokens.extend(found);
}

/// How deep texts with values stand in values of texts.
const MAX_INTERPOLATION_DEPTH: usize = 16;

/// The length of `f"…"` at the beginning of a line: up to the quote that stands in no value. Err, if the line ends before or
/// a value does not end: then nothing on the line is looked at again.
fn interpolated_length(line: &str, depth: usize) -> Result<usize, ()> {
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

/// How far away the `}` of a value in a text stands: brackets in it match, and what is quoted is passed over.
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

/// The length of `:8.3` at the end of a value in a text; of `` `1:3 `` the number after the colon is a type.
fn format_spec_length(hole: &str) -> usize {
    let Some(colon) = hole.rfind(':') else { return 0 };
    let form = &hole[colon + 1..];
    let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    let (width, places) = form.split_once('.').unwrap_or((form, "0"));
    let tick = hole[..colon].trim_end_matches(|c: char| c.is_ascii_digit()).ends_with('`');
    let is_form = !form.is_empty() && !places.is_empty() && digits(width) && digits(places) && !tick;
    if is_form { hole.len() - colon } else { 0 }
}

/// Reads `.5` and `5.` as the numbers that they are elsewhere, and reports them: after what could have components, a
/// point and digits are one of these, and after a point a name is expected.
fn replace_bare_points(source: SourceId, text: &str, out: &mut Lexed) {
    let mut read: Vec<Token> = Vec::with_capacity(out.tokens.len());
    let mut tokens = std::mem::take(&mut out.tokens).into_iter().peekable();
    while let Some(token) = tokens.next() {
        let (before, after) = (read.last().copied(), tokens.peek().copied());
        let whole = match (before, after) {
            _ if token.kind != TokenKind::Dot => None,
            (before, Some(digits)) if digits.kind == TokenKind::Int && digits.glued => {
                let begins = before.is_none_or(|before| !before.kind.ends_operand());
                begins.then_some(Token { end: digits.end, ..token })
            }
            (Some(digits), after) if digits.kind == TokenKind::Int && token.glued => {
                let number = !expects_digits_only(&read[..read.len() - 1]);
                let ends = after.is_none_or(|after| !after.kind.begins_operand());
                (number && ends).then_some(Token { end: token.end, ..digits })
            }
            _ => None,
        };
        let Some(whole) = whole else {
            read.push(token);
            continue;
        };
        // One of the two tokens has been read, or is to come.
        if whole.start < token.start {
            read.pop()
        } else {
            tokens.next()
        };
        let span = Span::new(source, whole.start as usize, whole.end as usize);
        out.errors.push(SyntaxError::BarePoint { span, text: text[span.range()].to_owned() });
        read.push(Token { kind: TokenKind::Real, ..whole });
    }
    out.tokens = read;
}

/// Whether a number that follows these tokens is digits only: in `x.1.2` and `` `1:3.str ``.
fn expects_digits_only(tokens: &[Token]) -> bool {
    match tokens {
        [.., Token { kind: TokenKind::Dot, .. }] => true,
        [.., tick, number, colon] => {
            tick.kind == TokenKind::Tick && number.kind == TokenKind::Int && colon.kind == TokenKind::Colon
        }
        _ => false,
    }
}

/// The first line longer than [`MAX_LINE_BYTES`], as an empty span at its start.
fn find_long_line(source: &Source, begin: usize, text: &str) -> Option<Span> {
    if source.text.len() > (u32::MAX / 2) as usize {
        return Some(Span::new(source.id, 0, 0));
    }
    let text = text.as_bytes().get(begin..).unwrap_or(&[]);
    if text.len() <= MAX_LINE_BYTES {
        return None;
    }
    let mut start = begin;
    for line in text.split(|&b| b == b'\n') {
        if line.len() > MAX_LINE_BYTES {
            return Some(Span::new(source.id, start, start));
        }
        start += line.len() + 1;
    }
    None
}

/// The length of a first line that tells a system what runs the script: `#!/usr/bin/env felis`.
pub(super) fn shebang_length(text: &str) -> usize {
    let script = text.strip_prefix("#!").is_some_and(|rest| rest.trim_start_matches(' ').starts_with('/'));
    if script { text.find('\n').unwrap_or(text.len()) } else { 0 }
}

/// The length of the rest of a block comment with its `*/`; comments nest.
pub(super) fn comment_length(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    let (mut at, mut depth) = (0, 1);
    while at + 1 < bytes.len() {
        match (bytes[at], bytes[at + 1]) {
            (b'*', b'/') => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return Some(at);
                }
            }
            (b'/', b'*') => {
                depth += 1;
                at += 2;
            }
            _ => at += 1,
        }
    }
    None
}

impl TokenKind {
    /// The token as messages name it.
    pub fn description(self) -> &'static str {
        use TokenKind::*;
        match self {
            Int => "a number",
            Real => "a real number",
            Upto => "`upto`",
            InterpolatedStr | InterpolatedOpen => "a text with values",
            InterpolatedMiddle | InterpolatedClose => "the `}` of a value in a text",
            Suffixed => "a number with a suffix",
            BadNumber => "a malformed number",
            Char => "a character",
            Str => "a string",
            BadStr => "an unfinished string",
            Name => "a name",
            Qualified => "a qualified name",
            Underscore => "`_`",
            Fun => "`fun`",
            Proc => "`proc`",
            Var => "`var`",
            Val => "`val`",
            Typedef => "`typedef`",
            Typefun => "`typefun`",
            Typematch => "`typematch`",
            Struct => "`struct`",
            Variant => "`variant`",
            Enum => "`enum`",
            Newtype => "`newtype`",
            Class => "`class`",
            Instance => "`instance`",
            Law => "`law`",
            Require => "`require`",
            Match | MatchDo => "`match`",
            With => "`with`",
            Endmatch => "`endmatch`",
            If | IfDo => "`if`",
            Then => "`then`",
            Elif => "`elif`",
            Else => "`else`",
            Endif => "`endif`",
            For => "`for`",
            In | InSet => "`in`",
            Do => "`do`",
            Done => "`done`",
            Perform => "`perform`",
            While => "`while`",
            Break => "`break`",
            Continue => "`continue`",
            Return => "`return`",
            Case => "`case`",
            Of => "`of`",
            Proj => "`proj`",
            Aproj => "`aproj`",
            Ainj => "`ainj`",
            And => "`and`",
            Or => "`or`",
            Not => "`not`",
            As => "`as`",
            When => "`when`",
            True => "`true`",
            False => "`false`",
            Type => "`type`",
            KindWord => "`kind`",
            Export => "`export`",
            Import => "`import`",
            LParen => "`(`",
            RParen => "`)`",
            LBracket => "`[`",
            RBracket => "`]`",
            LBrace => "`{`",
            RBrace => "`}`",
            Comma => "`,`",
            Semi => "`;`",
            Colon => "`:`",
            Convert => "`:>`",
            Reshape => "`:>>`",
            Dot => "`.`",
            DotDot => "`..`",
            DotDotLess => "`..<`",
            Bar => "`|`",
            Pipe => "`|>`",
            Dollar => "`$`",
            Hash => "`#`",
            Amp => "`&`",
            Tick => "a backtick",
            Question => "`?`",
            LArrow => "`<-`",
            Arrow => "`->`",
            FatArrow => "`=>`",
            Assign => "`=`",
            PlusAssign => "`+=`",
            MinusAssign => "`-=`",
            StarAssign => "`*=`",
            SlashAssign => "`/=`",
            PercentAssign => "`%=`",
            PowAssign => "`**=`",
            EqEq => "`==`",
            NotEq => "`!=`",
            Less => "`<`",
            LessEq => "`<=`",
            Greater => "`>`",
            GreaterEq => "`>=`",
            Bang => "`!`",
            Plus => "`+`",
            Minus => "`-`",
            Star => "`*`",
            Slash => "`/`",
            Percent => "`%`",
            Pow => "`**`",
            Caret => "`^`",
            StarPlus => "`*+`",
            CStar => "`\\*`",
            CPlus => "`\\+`",
            CCaret => "`\\^`",
            CComma => "`\\,`",
            LineComment | BlockComment => "a comment",
        }
    }

    /// A word that cannot be a name.
    pub fn is_keyword(self) -> bool {
        (TokenKind::Fun as u8..=TokenKind::Import as u8).contains(&(self as u8))
    }

    /// Can only begin a statement: where it stands at depth 0, a statement begins.
    pub fn begins_statement(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Var | Val
                | Typedef
                | Typefun
                | KindWord
                | Type
                | Struct
                | Variant
                | Enum
                | Newtype
                | Class
                | Instance
                | Require
                | Export
                | Import
                | For
                | While
                | Break
                | Continue
                | Return
        )
    }

    /// An operand may end here.
    pub fn ends_operand(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Int | Real
                | Suffixed
                | Char
                | Str
                | InterpolatedStr
                | InterpolatedClose
                | Name
                | Qualified
                | Underscore
                | True
                | False
                | RParen
                | RBracket
                | RBrace
                | Endif
                | Endmatch
        )
    }

    /// An operand may begin here, so that after another one it is an argument.
    pub fn begins_operand(self) -> bool {
        use TokenKind::*;
        matches!(
            self,
            Int | Real
                | Suffixed
                | Char
                | Str
                | InterpolatedStr
                | InterpolatedOpen
                | Name
                | Qualified
                | Underscore
                | True
                | False
                | LParen
                | LBracket
                | Tick
                | Hash
                | If
                | Match
                | Question
        )
    }
}
