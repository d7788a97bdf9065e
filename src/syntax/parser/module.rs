//! `import` and `export`: tokens → [`StmtKind`].
//!
//! What is exported is one of the statements that define names, never another `export`, so that the
//! rule does not nest. Which definitions may be exported, and where both words may stand, is the
//! checker's business.

use super::super::ast::{Import, ImportNames, ImportTarget, Stmt, StmtKind};
use super::super::lexer::{Kind, Token};
use super::pattern::string;
use super::rule::{Rule, Text, name, tok};
use chumsky::prelude::*;

/// The statements about modules; `definition` reads one that defines names.
pub(super) fn modules<'t>(cx: Text<'t>, definition: impl Rule<'t, StmtKind>) -> impl Rule<'t, StmtKind> {
    let definition = definition
        .map_with(move |kind, e| Stmt { kind, span: cx.span(without_semicolon(e.slice())) })
        .boxed();
    let export = tok(Kind::Export).then(definition).map(move |(word, mut stmt)| {
        // The comment stands before `export`, not before the word that defines.
        if let (Some(doc), Some(slot)) = (cx.doc(word), stmt.kind.doc_mut()) {
            *slot = Some(doc);
        }
        StmtKind::Export(Box::new(stmt))
    });
    let file = tok(Kind::Str).map(move |t| ImportTarget::File { path: string(cx.of(t)), span: cx.at(t) });
    let part = name(cx).map(ImportTarget::Part);
    let all = tok(Kind::Star).map(move |t| ImportNames::All { span: cx.at(t) });
    let listed = name(cx).separated_by(tok(Kind::Comma)).at_least(1).collect().map(ImportNames::Listed);
    let names = tok(Kind::LParen).ignore_then(choice((all, listed))).then_ignore(tok(Kind::RParen));
    let import = tok(Kind::Import)
        .ignore_then(choice((file, part)))
        .then(tok(Kind::As).ignore_then(name(cx)).or_not())
        .then(names.or_not())
        .then_ignore(tok(Kind::Semi))
        .map(|((target, alias), names)| {
            StmtKind::Import(Import { target, alias, names: names.unwrap_or(ImportNames::Qualified) })
        });
    choice((export, import)).boxed()
}

/// The tokens of a statement; its `;` belongs to it only in the text.
pub(super) fn without_semicolon(tokens: &[Token]) -> &[Token] {
    match tokens {
        [inner @ .., last] if last.kind == Kind::Semi && !inner.is_empty() => inner,
        all => all,
    }
}
