//! The formatter: a program's text → the same program, laid out.
//!
//! Keeps every token and every comment; changes blanks and line breaks only. A written line break
//! stays where one is allowed, and up to one empty line between statements; new breaks are made
//! where a line would be longer than [`MAX_LINE_WIDTH`]. Idempotent. Lines end as most of them did,
//! those inside comments too.
//!
//! Never returns a text with another meaning: the result is parsed again, and its tokens, comments
//! and tree are compared with those of the input.

mod document;
mod nodes;
mod spacing;
mod structure;
mod trivia;

use super::lexer::{Token, TokenKind};
use super::{Parsed, brackets, lexer, parse, unparse};
use crate::diagnostic::Diagnostic;
use crate::source::{Source, SourceMap, Span};
use pretty::Arena;
use std::sync::Arc;
use structure::Structure;

/// Columns of a line, at most, where a break is possible.
pub const MAX_LINE_WIDTH: usize = 110;

/// Rounds of layout until a fixed point, at most.
const MAX_ROUNDS: usize = 10;

/// Formats a program.
///
/// # Errors
///
/// The syntax errors of the program, or E0998 if the result is not the same program.
pub fn format_source(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse(source);
    if parsed.errors.iter().any(Diagnostic::is_error) {
        return Err(parsed.errors);
    }
    let structure = super::parse::with_large_stack(|| Structure::of(&parsed.stmts, &format_tokens(source)));
    let mut text = source.text.clone();
    for _ in 0..MAX_ROUNDS {
        // A break that is made in one round may let another go in the next.
        let next = super::parse::with_large_stack(|| format_once(&text, &structure));
        if next == text {
            if uses_crlf(&source.text) {
                text = text.replace('\n', "\r\n");
            }
            return match is_same_program(source, &parsed, &text) {
                true => Ok(text),
                false => Err(vec![internal_format_error(source)]),
            };
        }
        text = next;
    }
    Err(vec![internal_format_error(source)])
}

/// Returns the internal error E0998: the result would not be the same program.
pub(super) fn internal_format_error(source: &Source) -> Diagnostic {
    let span = Span::new(source.id, 0, 0);
    Diagnostic::error("E0998", span, "Felis cannot lay this program out", "left as it is")
        .note("this is a mistake in Felis, not in your program; nothing has changed")
        .help("please report it together with the program")
}

/// Returns true if most lines of a text end with a carriage return and a line feed.
fn uses_crlf(text: &str) -> bool {
    2 * text.matches("\r\n").count() > text.matches('\n').count()
}

/// Returns a comment with its carriage returns at line ends removed.
fn without_carriage_returns(comment: &str) -> String {
    comment.split('\n').map(|line| line.trim_end_matches('\r')).collect::<Vec<_>>().join("\n")
}

/// Returns a text as a source of its own.
fn detached_source(text: &str) -> Arc<Source> {
    SourceMap::new().add("", text)
}

/// Returns the tokens of a text after the bracket pass, without synthetic ones.
fn format_tokens(source: &Source) -> Vec<Token> {
    let lexed = lexer::lex(source);
    let mut tokens = brackets::split_statements(source, &lexed.tokens).tokens;
    tokens.retain(|token| !token.synthetic);
    // An interpolated string is one token: nothing in it is moved.
    let mut out: Vec<Token> = Vec::with_capacity(tokens.len());
    let mut open: Vec<usize> = Vec::new();
    for token in tokens {
        out.push(token);
        match token.kind {
            TokenKind::InterpolatedOpen => open.push(out.len() - 1),
            TokenKind::InterpolatedClose => {
                if let Some(first) = open.pop() {
                    out.truncate(first + 1);
                    out[first].end = token.end;
                    out[first].kind = TokenKind::InterpolatedStr;
                }
            }
            _ => {}
        }
    }
    out
}

/// Performs one round of layout.
fn format_once(text: &str, structure: &Structure) -> String {
    let source = detached_source(text);
    let tokens = format_tokens(&source);
    let gaps = trivia::trivia(text, &tokens);
    let stmts = nodes::statements(&tokens, structure);
    // A character that the text does not have.
    let mark = ('\u{E000}'..'\u{F8FF}').find(|c| !text.contains(*c)).unwrap_or('\u{E000}');
    let mut breaks = vec![0];
    for gap in &gaps {
        breaks.push(breaks[breaks.len() - 1] + usize::from(gap.has_line_break()));
    }
    let arena = Arena::new();
    let builder = document::DocumentBuilder {
        arena: &arena,
        text,
        tokens: &tokens,
        gaps: &gaps,
        structure,
        breaks,
        mark,
    };
    let over_lines = |token: &&Token| text[token.start as usize..token.end as usize].contains('\n');
    let laid = builder.program(&stmts).pretty(MAX_LINE_WIDTH).to_string();
    let comments: Vec<String> =
        gaps.iter().flat_map(|gap| &gap.comments).map(|c| without_carriage_returns(c.text)).collect();
    // Texts over several lines are written as marks, too: they stand as they are.
    let texts = tokens.iter().filter(over_lines);
    let texts = texts.map(|token| text[token.start as usize..token.end as usize].replace("\r\n", "\n"));
    let comments: Vec<String> = comments.into_iter().chain(texts).collect();
    let mut out = String::with_capacity(laid.len());
    for line in laid.lines() {
        let mut pieces = line.trim_end().split(mark);
        out.push_str(pieces.next().expect("a line has a part before its first mark"));
        while let (Some(number), Some(after)) = (pieces.next(), pieces.next()) {
            let comment = number.parse().ok().and_then(|n: usize| comments.get(n));
            out.push_str(comment.map_or("", String::as_str));
            out.push_str(after);
        }
        out.push('\n');
    }
    out
}

/// Returns true if a text has the tokens, the comments and the tree of another.
fn is_same_program(before: &Source, tree: &Parsed, after: &str) -> bool {
    let after = detached_source(after);
    let again = parse(&after);
    let (old, new) = (format_tokens(before), format_tokens(&after));
    let words = |source: &Source, tokens: &[Token]| -> Vec<String> {
        tokens.iter().map(|t| source.text[t.start as usize..t.end as usize].to_string()).collect()
    };
    let remarks = |source: &Source, tokens: &[Token]| -> Vec<String> {
        let gaps = trivia::trivia(&source.text, tokens);
        gaps.iter().flat_map(|gap| &gap.comments).map(|c| without_carriage_returns(c.text)).collect()
    };
    again.errors.is_empty() == tree.errors.is_empty()
        && words(before, &old) == words(&after, &new)
        && remarks(before, &old) == remarks(&after, &new)
        && unparse::print(&tree.stmts) == unparse::print(&again.stmts)
}
