//! Patterns: tokens → [`Pattern`].
//!
//! Name resolution decides later whether a name is a variable or a constructor.

use super::super::ast::{Pattern, PatternKind, TypeExpr};
use super::super::lexer::{Token, TokenKind};
use super::super::literal::{
    FormatSpec, char_value, int_value, interpolated_piece, number_parts, unescape, without_underscores,
};
use super::rule::{
    Label, ParenthesesContent, Rule, Text, any_of, content_ahead, name, name_then, path, separated_by, token,
    unreported,
};
use chumsky::prelude::*;

/// The rules of patterns at the levels that other rules use.
#[derive(Clone)]
pub(crate) struct PatternRules<A, F, I> {
    /// `p | q` without parentheses too: before `=>`.
    pub arm: A,
    /// `a, b` without parentheses too.
    pub full: F,
    /// No bare tuple: where commas separate patterns.
    pub item: I,
}

/// Returns the rules of patterns.
pub(crate) fn patterns<'t>(
    cx: Text<'t>,
    ty: impl Rule<'t, TypeExpr>,
    atom_ty: impl Rule<'t, TypeExpr>,
) -> PatternRules<impl Rule<'t, Pattern>, impl Rule<'t, Pattern>, impl Rule<'t, Pattern>> {
    let single = recursive(move |single| {
        let item = compact(cx, single.clone()).boxed();
        let inside = alternatives(tuple(item.clone())).boxed();
        rules(cx, inside, item, single, ty, atom_ty).boxed()
    });
    let item = compact(cx, single).boxed();
    let full = tuple(item.clone()).boxed();
    PatternRules { arm: alternatives(full.clone()).boxed(), full, item }
}

/// Returns the rule of `p | q`.
fn alternatives<'t>(full: impl Rule<'t, Pattern>) -> impl Rule<'t, Pattern> {
    separated_by(full, TokenKind::Bar, PatternKind::Or)
}

/// Returns the rule of `a \, b`, and `as` after it.
fn compact<'t>(cx: Text<'t>, single: impl Rule<'t, Pattern>) -> impl Rule<'t, Pattern> {
    separated_by(single, TokenKind::CComma, PatternKind::CompactTuple).foldl(
        token(TokenKind::As).ignore_then(name(cx)).repeated(),
        |pattern, name| Pattern {
            span: pattern.span.to(name.span),
            kind: PatternKind::As(Box::new(pattern), name),
        },
    )
}

/// Returns the rule of `a, b`.
fn tuple<'t>(item: impl Rule<'t, Pattern>) -> impl Rule<'t, Pattern> {
    separated_by(item, TokenKind::Comma, PatternKind::Tuple)
}

/// Returns the rule of single patterns.
fn rules<'t>(
    cx: Text<'t>,
    full: impl Rule<'t, Pattern>,
    item: impl Rule<'t, Pattern>,
    single: impl Rule<'t, Pattern>,
    ty: impl Rule<'t, TypeExpr>,
    atom_ty: impl Rule<'t, TypeExpr>,
) -> impl Rule<'t, Pattern> {
    let at = move |kind: PatternKind, tokens| Pattern { kind, span: cx.span(tokens) };
    let wild = token(TokenKind::Underscore).to(PatternKind::Wild);
    let number = any_of(NUMBERS).map(move |t| number(cx, t, false));
    let character = token(TokenKind::Char).map(move |t| PatternKind::Char(char_value(cx.of(t))));
    let text = token(TokenKind::Str).map(move |t| PatternKind::Str(string_value(cx.of(t))));
    let truth =
        any_of(&[TokenKind::True, TokenKind::False]).map(|t| PatternKind::Bool(t.kind == TokenKind::True));
    let tick = token(TokenKind::Tick)
        .ignore_then(token(TokenKind::Int))
        .then_ignore(token(TokenKind::Colon))
        .then(atom_ty)
        .map(move |(number, ty)| PatternKind::Tick(int_value(cx.of(number)), ty));
    // A field's pattern is no bare tuple: the commas separate fields.
    let field = name(cx).then_ignore(token(TokenKind::Assign)).then(item.clone());
    let fields = name_then(&[TokenKind::Assign])
        .map(move |(token, _)| cx.name(token))
        .then(item)
        .then(token(TokenKind::Comma).ignore_then(field).repeated().collect::<Vec<_>>())
        .map(|(first, rest)| PatternKind::Record(std::iter::once(first).chain(rest).collect()));
    let field = name(cx).then_ignore(token(TokenKind::Assign)).then(single);
    let compact_fields = content_ahead(ParenthesesContent::CompactFields)
        .ignore_then(field.separated_by(token(TokenKind::CComma)).at_least(2).collect::<Vec<_>>())
        .map(PatternKind::CompactRecord);
    let grouped = full.then(token(TokenKind::Colon).ignore_then(ty).or_not()).map(|(pattern, ty)| match ty {
        None => pattern.kind,
        Some(ty) => PatternKind::Typed(Box::new(pattern), ty),
    });
    let parenthesized = token(TokenKind::LParen).ignore_then(choice((
        token(TokenKind::RParen).to(PatternKind::Tuple(Vec::new())),
        compact_fields.then_ignore(token(TokenKind::RParen)),
        fields.then_ignore(token(TokenKind::RParen)),
        grouped.then_ignore(token(TokenKind::RParen)),
    )));
    let other = choice((wild, text, truth, tick, parenthesized)).map_with(move |kind, e| at(kind, e.slice()));
    let literal = choice((number, character)).map_with(move |kind, e| at(kind, e.slice()));
    let negative = token(TokenKind::Minus)
        .ignore_then(any_of(NUMBERS))
        .map_with(move |token, e| at(self::number(cx, token, true), e.slice()));
    let simple = choice((literal, other)).boxed();
    let named = path(cx).map(|name| Pattern { span: name.span, kind: PatternKind::Name(name) });
    let argument = choice((named, simple.clone())).labelled(Label::Pattern).boxed();
    let constructor = path(cx).then(argument.clone().or_not()).map(|(name, argument)| match argument {
        None => Pattern { span: name.span, kind: PatternKind::Name(name) },
        Some(argument) => Pattern {
            span: name.span.to(argument.span),
            kind: PatternKind::Constructor(name, Box::new(argument)),
        },
    });
    let numbered = token(TokenKind::Int)
        .then(argument.clone().or_not())
        .map(move |(number, argument)| PatternKind::Case(int_value(cx.of(number)), argument.map(Box::new)));
    let any_case = argument
        .clone()
        .then(argument)
        .map(|(index, argument)| PatternKind::Coarray(Box::new(index), Box::new(argument)));
    let case = token(TokenKind::Case)
        .ignore_then(choice((numbered, any_case)))
        .map_with(move |kind, e| at(kind, e.slice()));
    let rest = unreported(&[TokenKind::DotDot])
        .ignore_then(choice((name(cx).map(Some), token(TokenKind::Underscore).to(None))))
        .map_with(move |name, e| at(PatternKind::Rest(name), e.slice()));
    let end = choice((negative, literal)).boxed();
    let range = end
        .clone()
        .then(unreported(&[TokenKind::DotDot, TokenKind::DotDotLess]).then(end).or_not())
        .map(|(low, rest)| match rest {
            None => low,
            Some((sign, high)) => Pattern {
                span: low.span.to(high.span),
                kind: PatternKind::Range {
                    low: Box::new(low),
                    high: Box::new(high),
                    inclusive: sign.kind == TokenKind::DotDot,
                },
            },
        });
    choice((constructor, case, range, simple, rest)).labelled(Label::Pattern)
}

/// The tokens of numbers.
const NUMBERS: &[TokenKind] = &[TokenKind::Int, TokenKind::Real, TokenKind::Suffixed];

/// Returns the pattern of a number.
fn number(cx: Text<'_>, token: &Token, negative: bool) -> PatternKind {
    let text = cx.of(token);
    match token.kind {
        TokenKind::Int => PatternKind::Int { value: int_value(text), negative },
        TokenKind::Real => PatternKind::Real { digits: without_underscores(text), negative },
        _ => {
            // What is none has been reported.
            let (digits, suffix) = number_parts(text).unwrap_or(("0", "i64"));
            PatternKind::Suffixed { digits: without_underscores(digits), suffix, negative }
        }
    }
}

/// Returns the text of a piece of `f"…"`, and the format of the value before it.
pub(crate) fn interpolated_text(piece: &str) -> (std::sync::Arc<str>, FormatSpec) {
    let (text, form) = interpolated_piece(piece);
    let mut rest = text.unwrap_or_default();
    let mut text = String::with_capacity(rest.len());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            // The braces of `\u{7f}` are its own.
            '\\' if rest.starts_with("\\u{") => rest.find('}').map_or(rest.len(), |end| end + 1),
            '\\' => 1 + rest[1..].chars().next().map_or(0, char::len_utf8),
            first => first.len_utf8(),
        };
        text.push_str(&rest[..length]);
        // A brace by itself is written twice.
        let doubled = length == 1 && (rest.starts_with("{{") || rest.starts_with("}}"));
        rest = &rest[length + usize::from(doubled)..];
    }
    (unescape(&text).unwrap_or_default().into(), form)
}

/// Returns the text of a string token with its escapes resolved; the lexer has reported unknown
/// ones.
pub(crate) fn string_value(quoted: &str) -> std::sync::Arc<str> {
    // As it stands, but for a line break right after the quotes.
    if let Some(text) = quoted.strip_prefix("\"\"\"").and_then(|text| text.strip_suffix("\"\"\"")) {
        let text = text.replace("\r\n", "\n");
        return text.strip_prefix('\n').unwrap_or(&text).into();
    }
    let body = quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or("");
    if body.contains('\\') { unescape(body).unwrap_or_default().into() } else { body.into() }
}
