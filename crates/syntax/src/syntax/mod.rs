//! Syntax: text → tree with its errors. Parsing always returns the readable part of a text.
//!
//! The phases: [`lexer`] cuts text into tokens, [`brackets`] cuts tokens into top-level statements,
//! `parser` parses each by itself; `unparse` prints trees, `fmt` formats texts, `visit` visits
//! trees. Knows no types.
//!
//! Without the feature `grammar` only what lexes is compiled, for the build script of the library's
//! table.

#[cfg(feature = "grammar")]
pub mod ast;
pub mod brackets;
mod chunk;
#[cfg(feature = "grammar")]
pub mod edition;
pub mod error;
#[cfg(feature = "grammar")]
pub mod fmt;
pub mod foreign_keywords;
mod interpolation;
pub mod lexer;
pub mod literal;
mod names;
#[cfg(feature = "grammar")]
mod parse;
#[cfg(feature = "grammar")]
mod parser;
#[cfg(feature = "grammar")]
mod selection;
mod text;
pub mod token;
#[cfg(feature = "grammar")]
pub mod unparse;
mod variables;
#[cfg(feature = "grammar")]
pub mod visit;

use crate::source::Source;
pub use chunk::{Chunk, chunks};
pub use names::{is_name, name_of};
#[cfg(feature = "grammar")]
pub use parse::{Parsed, parse, parse_expr, parse_ranges, parse_type};
#[cfg(feature = "grammar")]
pub use selection::StatementTexts;

/// Returns the identifiers of a text, in order, with repetitions: `geometry::area` as it is
/// written; of `5u8`, which names a type, `u8`.
pub fn mentioned_names(source: &Source) -> Vec<&str> {
    names_in(source, &lexer::lex(source))
}

/// Returns the same without the names that only stand for variables which the text declares, but for
/// those that are kept all the same.
pub fn free_names(source: &Source, is_kept: impl Fn(&str) -> bool) -> Vec<&str> {
    let lexed = lexer::lex(source);
    let mut bound = variables::bound_names(source, &lexed.tokens);
    bound.retain(|name| !is_kept(name));
    let mut names = names_in(source, &lexed);
    names.retain(|name| !bound.contains(name));
    names
}

fn names_in<'s>(source: &'s Source, lexed: &lexer::Lexed) -> Vec<&'s str> {
    use lexer::TokenKind::{Name, Qualified, Suffixed};
    let text = |token: &lexer::Token| source.text.get(token.start as usize..token.end as usize);
    let name = |token: &lexer::Token| match token.kind {
        Name | Qualified => text(token),
        Suffixed => text(token).and_then(literal::number_parts).map(|(_, suffix)| suffix),
        _ => None,
    };
    let mut names: Vec<&str> = lexed.tokens.iter().filter_map(name).collect();
    // What a text with values is made by.
    if lexed.tokens.iter().any(|token| token.kind == lexer::TokenKind::InterpolatedOpen) {
        names.extend(["str", "fixed", "pad_left"]);
    }
    names
}
