//! Chunks: a text cut into top-level statements that are not parsed yet.
//!
//! Takes a text; gives, for each statement, what it defines and which names it mentions, by lexing
//! alone. So the standard library is read on demand: only what a program mentions is parsed.

use super::edition::Edition;
use super::lexer::{Kind, Lexed, Token};
use super::literal::number_parts;
use super::parser::rule::Text;
use super::{Parsed, brackets, lexer, roomy, statements};
use crate::source::{Source, Span};
use std::ops::Range;
use std::sync::Arc;

/// One top-level statement, unparsed.
#[derive(Clone, Debug)]
pub struct Chunk {
    /// Its text, without the `///` comment before it.
    pub span: Span,
    /// What begins it: `"fun"`, `"instance"`, `"variant"` …; empty for other statements.
    pub word: &'static str,
    /// Where that word stands.
    pub word_at: Span,
    /// `export` stands before it.
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
    let cut = brackets::cut(source, &lexed.tokens);
    let cx = Text { text: &source.text, id: source.id, docs: &lexed.docs, edition: Edition::V02 };
    cut.statements.iter().map(|s| chunk(cx, &cut.tokens[s.tokens.clone()])).collect()
}

impl Chunk {
    /// Where it stands in its text, with the `///` comment before it.
    pub fn with_comment(&self, text: &str) -> Range<usize> {
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

/// Reads the statements that stand in parts of a text, each a statement or several.
pub fn parse_ranges(source: &Source, ranges: impl IntoIterator<Item = Range<usize>>) -> Parsed {
    let mut all = Lexed::default();
    for range in ranges {
        let lexed = lexer::lex_range(source, range);
        all.tokens.extend(lexed.tokens);
        all.docs.extend(lexed.docs);
        all.errors.extend(lexed.errors);
        all.open_comment |= lexed.open_comment;
    }
    read(source, &all)
}

pub(super) fn read(source: &Source, lexed: &Lexed) -> Parsed {
    let cut = brackets::cut(source, &lexed.tokens);
    let cx = Text { text: &source.text, id: source.id, docs: &lexed.docs, edition: Edition::V02 };
    roomy(&cut, || statements(cx, lexed, &cut))
}

fn chunk(cx: Text<'_>, tokens: &[Token]) -> Chunk {
    let span = cx.span(tokens);
    let doc = tokens.first().and_then(|t| cx.doc(t));
    let (exported, tokens) = match tokens {
        [word, rest @ ..] if word.kind == Kind::Export => (true, rest),
        all => (false, all),
    };
    let mut mentions: Vec<&str> = tokens.iter().filter_map(|t| mention(cx, t)).collect();
    mentions.sort_unstable();
    mentions.dedup();
    Chunk {
        span,
        word_at: tokens.first().map_or(span, |t| cx.at(t)),
        exported,
        word: tokens.first().filter(|t| defining(t.kind)).map_or("", |t| t.kind.words().trim_matches('`')),
        defines: defined(cx, tokens),
        head: head(cx, tokens),
        mentions: mentions.into_iter().map(Arc::from).collect(),
        doc,
    }
}

fn defining(kind: Kind) -> bool {
    use Kind::*;
    matches!(
        kind,
        Fun | Proc
            | Typedef
            | Newtype
            | Struct
            | Variant
            | Enum
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

/// The name or operator that a token mentions; of `geometry::area` it is `area`, of `5u8` `u8`.
fn mention<'t>(cx: Text<'t>, token: &Token) -> Option<&'t str> {
    match token.kind {
        Kind::Qualified => cx.of(token).rsplit("::").next(),
        Kind::Suffixed => number_parts(cx.of(token)).map(|(_, suffix)| suffix),
        kind => mentioned(kind).then(|| cx.of(token)),
    }
}

/// Names, and the operators that a class may declare.
fn mentioned(kind: Kind) -> bool {
    use Kind::*;
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

/// The names in `Class[…]` of `instance[…] Class[…] { … }`.
fn head(cx: Text<'_>, tokens: &[Token]) -> Vec<Arc<str>> {
    if tokens.first().is_none_or(|first| first.kind != Kind::Instance) {
        return Vec::new();
    }
    let (mut depth, mut named, mut names) = (0u32, false, Vec::new());
    for token in &tokens[1..] {
        match token.kind {
            Kind::LBrace | Kind::Semi => break,
            Kind::LBracket => depth += 1,
            Kind::RBracket => depth = depth.saturating_sub(1),
            Kind::Name if named || depth == 0 => {
                named = true;
                names.push(cx.of(token).into());
            }
            _ => {}
        }
    }
    names
}

fn defined(cx: Text<'_>, tokens: &[Token]) -> Vec<Arc<str>> {
    let Some((first, rest)) = tokens.split_first() else {
        return Vec::new();
    };
    let mut out: Vec<Arc<str>> = Vec::new();
    match first.kind {
        Kind::Fun | Kind::Proc => {
            // `fun x => e` is an expression.
            let named = rest.get(1).is_none_or(|t| t.kind != Kind::FatArrow);
            let name = rest.first().filter(|t| named && mentioned(t.kind));
            out.extend(name.map(|t| Arc::from(cx.of(t))));
        }
        Kind::Typedef | Kind::Newtype | Kind::Struct | Kind::Typefun | Kind::Type => {
            out.extend(rest.first().filter(|t| t.kind == Kind::Name).map(|t| Arc::from(cx.of(t))));
        }
        Kind::KindWord => {
            out.extend(rest.iter().filter(|t| t.kind == Kind::Name).map(|t| Arc::from(cx.of(t))));
        }
        Kind::Variant | Kind::Enum => {
            out.extend(rest.first().filter(|t| t.kind == Kind::Name).map(|t| Arc::from(cx.of(t))));
            // Constructors follow `=`, each `|` and each `,` of an `enum`; a `|` inside a type belongs to a `typematch`.
            let (mut depth, mut expecting) = (0u32, false);
            for token in rest {
                match token.kind {
                    Kind::LParen | Kind::LBracket | Kind::Typematch => depth += 1,
                    Kind::RParen | Kind::RBracket | Kind::Endmatch => depth = depth.saturating_sub(1),
                    Kind::Assign | Kind::Bar | Kind::Comma if depth == 0 => {
                        expecting = true;
                        continue;
                    }
                    Kind::Name if expecting => out.push(cx.of(token).into()),
                    _ => {}
                }
                expecting = false;
            }
        }
        Kind::Class => {
            out.extend(rest.first().filter(|t| t.kind == Kind::Name).map(|t| Arc::from(cx.of(t))));
            // Its members are reached through their own names.
            let mut depth = 0u32;
            for pair in rest.windows(2) {
                match pair[0].kind {
                    Kind::LBrace | Kind::Do => depth += 1,
                    Kind::RBrace | Kind::Done => depth = depth.saturating_sub(1),
                    Kind::Fun | Kind::Proc if depth == 1 && mentioned(pair[1].kind) => {
                        out.push(cx.of(&pair[1]).into());
                    }
                    _ => {}
                }
            }
        }
        Kind::Var | Kind::Val => {
            // The names of the pattern; those of a type inside it are harmless.
            let pattern = rest.iter().take_while(|t| t.kind != Kind::Assign);
            let mut in_type = false;
            let mut depth = 0u32;
            for token in pattern {
                match token.kind {
                    Kind::LParen => depth += 1,
                    Kind::RParen => {
                        depth = depth.saturating_sub(1);
                        in_type = false;
                    }
                    Kind::Comma => in_type = false,
                    Kind::Colon => in_type = true,
                    Kind::Name if !in_type => out.push(cx.of(token).into()),
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
