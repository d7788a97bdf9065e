//! Chunks: a text cut into top-level statements that are not parsed yet.
//!
//! Takes a text; gives, for each statement, the names it defines and mentions, by lexing alone. So
//! the standard library is parsed on demand: only the statements that a program mentions.

use super::lexer::{Token, TokenKind};
use super::literal::number_parts;
use super::text::{Edition, Text};
use super::{brackets, lexer};
use crate::source::{Source, Span};
use std::ops::Range;
use std::sync::Arc;

/// One top-level statement, unparsed.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// The span, without the `///` comment before it.
    pub span: Span,
    /// The word that begins it: `"fun"`, `"instance"`, `"variant"` …; empty for other statements.
    pub word: &'static str,
    /// The span of that word.
    pub word_at: Span,
    /// True after `export`.
    pub exported: bool,
    /// The names it defines: of functions, types, classes, variables, and a variant's constructors.
    pub defines: Vec<Arc<str>>,
    /// The names in the head of an instance: of the class, and of the types.
    pub head: Vec<Arc<str>>,
    /// The names it mentions, sorted, each once; those it defines too, and operators such as `+`,
    /// since classes declare them.
    pub mentions: Vec<Arc<str>>,
    /// The `///` comment before it.
    pub doc: Option<Arc<str>>,
}

/// Cuts a text into its top-level statements.
pub fn chunks(source: &Source) -> Vec<Chunk> {
    let lexed = lexer::lex(source);
    let cut = brackets::split_statements(source, &lexed.tokens);
    let cx = Text { text: &source.text, id: source.id, docs: &lexed.docs, edition: Edition::V02 };
    cut.statements.iter().map(|s| chunk(cx, &cut.tokens[s.tokens.clone()])).collect()
}

impl Chunk {
    /// Returns the byte range in its text, with the `///` comment before it.
    pub fn range_with_comment(&self, text: &str) -> Range<usize> {
        let mut begin = self.span.range().start;
        while let Some(before) = text[..begin].strip_suffix('\n') {
            let line = before.rfind('\n').map_or(0, |at| at + 1);
            if !before[line..].trim_start().starts_with("///") {
                break;
            }
            begin = line;
        }
        begin..self.span.range().end
    }
}

/// Returns the chunk of one statement.
pub(super) fn chunk(cx: Text<'_>, tokens: &[Token]) -> Chunk {
    let span = cx.span(tokens);
    let doc = tokens.first().and_then(|t| cx.doc(t));
    let (exported, tokens) = match tokens {
        [word, rest @ ..] if word.kind == TokenKind::Export => (true, rest),
        all => (false, all),
    };
    let mut mentions: Vec<&str> = tokens.iter().filter_map(|t| mention(cx, t)).collect();
    mentions.sort_unstable();
    mentions.dedup();
    Chunk {
        span,
        word_at: tokens.first().map_or(span, |t| cx.at(t)),
        exported,
        word: tokens
            .first()
            .filter(|t| is_defining_word(t.kind))
            .map_or("", |t| t.kind.description().trim_matches('`')),
        defines: defined_names(cx, tokens),
        head: instance_head(cx, tokens),
        mentions: mentions.into_iter().map(Arc::from).collect(),
        doc,
    }
}

/// Returns true for a word that begins a definition.
fn is_defining_word(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        Fun | Proc
            | Typedef
            | Newtype
            | Struct
            | Variant
            | Enum
            | Party
            | Joint
            | Class
            | Instance
            | Typefun
            | KindWord
            | Type
            | Var
            | Val
            | Require
    )
}

/// Returns the name or operator that a token mentions: of `geometry::area` `area`, of `5u8` `u8`.
fn mention<'t>(cx: Text<'t>, token: &Token) -> Option<&'t str> {
    match token.kind {
        TokenKind::Qualified => cx.of(token).rsplit("::").next(),
        TokenKind::Suffixed => number_parts(cx.of(token)).map(|(_, suffix)| suffix),
        kind => is_mentionable(kind).then(|| cx.of(token)),
    }
}

/// Returns true for names and for operators that a class may declare.
fn is_mentionable(kind: TokenKind) -> bool {
    use TokenKind::*;
    matches!(
        kind,
        Name | Plus
            | Minus
            | Star
            | Slash
            | Percent
            | Pow
            | EqEq
            | NotEq
            | Less
            | LessEq
            | Greater
            | GreaterEq
            | Bang
    )
}

/// Returns the names in `Class[…]` of `instance[…] Class[…] { … }`.
fn instance_head(cx: Text<'_>, tokens: &[Token]) -> Vec<Arc<str>> {
    if tokens.first().is_none_or(|first| first.kind != TokenKind::Instance) {
        return Vec::new();
    }
    let (mut depth, mut named, mut names) = (0u32, false, Vec::new());
    for token in &tokens[1..] {
        match token.kind {
            TokenKind::LBrace | TokenKind::Semi => break,
            TokenKind::LBracket => depth += 1,
            TokenKind::RBracket => depth = depth.saturating_sub(1),
            TokenKind::Name if named || depth == 0 => {
                named = true;
                names.push(cx.of(token).into());
            }
            _ => {}
        }
    }
    names
}

/// Returns the names that a statement defines.
fn defined_names(cx: Text<'_>, tokens: &[Token]) -> Vec<Arc<str>> {
    let Some((first, rest)) = tokens.split_first() else {
        return Vec::new();
    };
    let mut out: Vec<Arc<str>> = Vec::new();
    match first.kind {
        TokenKind::Fun | TokenKind::Proc => {
            // `fun x => e` is an expression.
            let named = rest.get(1).is_none_or(|t| t.kind != TokenKind::FatArrow);
            let name = rest.first().filter(|t| named && is_mentionable(t.kind));
            out.extend(name.map(|t| Arc::from(cx.of(t))));
        }
        TokenKind::Typedef
        | TokenKind::Newtype
        | TokenKind::Struct
        | TokenKind::Typefun
        | TokenKind::Type => {
            out.extend(rest.first().filter(|t| t.kind == TokenKind::Name).map(|t| Arc::from(cx.of(t))));
        }
        TokenKind::Joint => {
            out.extend(rest.get(1).filter(|t| is_mentionable(t.kind)).map(|t| Arc::from(cx.of(t))))
        }
        TokenKind::KindWord | TokenKind::Party => {
            out.extend(rest.iter().filter(|t| t.kind == TokenKind::Name).map(|t| Arc::from(cx.of(t))));
        }
        TokenKind::Variant | TokenKind::Enum => {
            out.extend(rest.first().filter(|t| t.kind == TokenKind::Name).map(|t| Arc::from(cx.of(t))));
            // Constructors follow `=`, each `|` and each `,` of an `enum`; a `|` inside a type
            // belongs to a `typematch`.
            let (mut depth, mut expecting) = (0u32, false);
            for token in rest {
                match token.kind {
                    TokenKind::LParen | TokenKind::LBracket | TokenKind::Typematch => depth += 1,
                    TokenKind::RParen | TokenKind::RBracket | TokenKind::Endmatch => {
                        depth = depth.saturating_sub(1)
                    }
                    TokenKind::Assign | TokenKind::Bar | TokenKind::Comma if depth == 0 => {
                        expecting = true;
                        continue;
                    }
                    TokenKind::Name if expecting => out.push(cx.of(token).into()),
                    _ => {}
                }
                expecting = false;
            }
        }
        TokenKind::Class => {
            out.extend(rest.first().filter(|t| t.kind == TokenKind::Name).map(|t| Arc::from(cx.of(t))));
            // Its members are reached through their own names.
            let mut depth = 0u32;
            for pair in rest.windows(2) {
                match pair[0].kind {
                    TokenKind::LBrace | TokenKind::Do => depth += 1,
                    TokenKind::RBrace | TokenKind::Done => depth = depth.saturating_sub(1),
                    TokenKind::Fun | TokenKind::Proc if depth == 1 && is_mentionable(pair[1].kind) => {
                        out.push(cx.of(&pair[1]).into());
                    }
                    _ => {}
                }
            }
        }
        TokenKind::Var | TokenKind::Val => {
            // The names of the pattern; those of a type inside it are harmless.
            let pattern = rest.iter().take_while(|t| t.kind != TokenKind::Assign);
            let mut in_type = false;
            let mut depth = 0u32;
            for token in pattern {
                match token.kind {
                    TokenKind::LParen => depth += 1,
                    TokenKind::RParen => {
                        depth = depth.saturating_sub(1);
                        in_type = false;
                    }
                    TokenKind::Comma => in_type = false,
                    TokenKind::Colon => in_type = true,
                    TokenKind::Name if !in_type => out.push(cx.of(token).into()),
                    _ => {}
                }
                if in_type && depth == 0 {
                    break;
                }
            }
        }
        _ => {}
    }
    out
}
