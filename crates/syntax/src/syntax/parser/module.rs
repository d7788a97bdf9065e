//! `import` and `export`: tokens → [`StmtKind`].
//!
//! An exported statement is one of those that define names, never another `export`, so that the
//! rule does not nest. The checker decides which definitions may be exported, and the positions of
//! both words.

use super::super::ast::{Import, ImportNames, ImportTarget, Stmt, StmtKind};
use super::super::lexer::{Token, TokenKind};
use super::pattern::string_value;
use super::rule::{Rule, Text, name, token};
use chumsky::prelude::*;

/// Returns the rule of statements about modules; `definition` parses one that defines names.
pub(super) fn modules<'t>(cx: Text<'t>, definition: impl Rule<'t, StmtKind>) -> impl Rule<'t, StmtKind> {
    let definition = definition
        .map_with(move |kind, e| Stmt { kind, span: cx.span(without_semicolon(e.slice())) })
        .boxed();
    let export = token(TokenKind::Export).then(definition).map(move |(word, mut stmt)| {
        // The comment stands before `export`, not before the word that defines.
        if let (Some(doc), Some(slot)) = (cx.doc(word), stmt.kind.doc_mut()) {
            *slot = Some(doc);
        }
        StmtKind::Export(Box::new(stmt))
    });
    let file = token(TokenKind::Str)
        .map(move |t| ImportTarget::File { path: string_value(cx.of(t)), span: cx.at(t) });
    let part = name(cx).map(ImportTarget::Library);
    let all = token(TokenKind::Star).map(move |t| ImportNames::All { span: cx.at(t) });
    let listed =
        name(cx).separated_by(token(TokenKind::Comma)).at_least(1).collect().map(ImportNames::Listed);
    let names =
        token(TokenKind::LParen).ignore_then(choice((all, listed))).then_ignore(token(TokenKind::RParen));
    let import = token(TokenKind::Import)
        .ignore_then(choice((file, part)))
        .then(token(TokenKind::As).ignore_then(name(cx)).or_not())
        .then(names.or_not())
        .then_ignore(token(TokenKind::Semi))
        .map(|((target, alias), names)| {
            StmtKind::Import(Import { target, alias, names: names.unwrap_or(ImportNames::Qualified) })
        });
    choice((export, import)).boxed()
}

/// Returns the tokens of a statement without its `;`, which is not part of its span.
pub(super) fn without_semicolon(tokens: &[Token]) -> &[Token] {
    match tokens {
        [inner @ .., last] if last.kind == TokenKind::Semi && !inner.is_empty() => inner,
        all => all,
    }
}
