//! Written types: tokens → [`TypeExpr`].
//!
//! Types and expressions do not mix: a type occurs only where a token before it announces one.

use super::super::ast::{Name, TypeArm, TypeExpr, TypeExprKind};
use super::super::lexer::TokenKind;
use super::super::literal::int_value;
use super::pattern::string_value;
use super::rule::{
    Label, Rule, Text, adjacent_bracket, any_of, list_opening, name, name_then, path, places_opening,
    separated_by, token, unreported, word,
};
use chumsky::prelude::*;

/// The rules of types at the levels that other rules use.
#[derive(Clone)]
pub(crate) struct TypeRules<F, P, C, A> {
    /// Any type.
    pub full: F,
    /// A type without `->` at its top: after `of`.
    pub plus: P,
    /// A type without `->` `+` `*` `*+` outside parentheses: after `:>>` and `:>`.
    pub cast: C,
    /// A name with arguments, a number or a parenthesis: after a backtick.
    pub atom: A,
}

/// Returns the rules of types.
pub(crate) fn types<'t>(
    cx: Text<'t>,
) -> TypeRules<
    impl Rule<'t, TypeExpr>,
    impl Rule<'t, TypeExpr>,
    impl Rule<'t, TypeExpr>,
    impl Rule<'t, TypeExpr>,
> {
    let full = recursive(move |full| {
        let atom = atom(cx, full.clone()).boxed();
        let plus = plus(compact_product(atom.clone()).boxed()).boxed();
        let placed = placed(plus, atom).boxed();
        placed.then(token(TokenKind::Arrow).ignore_then(full).or_not()).map(|(domain, codomain)| {
            match codomain {
                None => domain,
                Some(codomain) => binary_type(domain, codomain, TypeExprKind::Function),
            }
        })
    });
    let atom = atom(cx, full.clone()).boxed();
    let compact_product = compact_product(atom.clone()).boxed();
    let cast = separated_by(compact_product.clone(), TokenKind::CPlus, TypeExprKind::CompactSum);
    let cast = placed(cast.boxed(), atom.clone()).boxed();
    TypeRules { full, plus: plus(compact_product).boxed(), cast, atom }
}

/// Returns the rule of `T @ S` over types without `@`.
fn placed<'t>(ty: impl Rule<'t, TypeExpr>, places: impl Rule<'t, TypeExpr>) -> impl Rule<'t, TypeExpr> {
    ty.then(token(TokenKind::AtSign).ignore_then(places).or_not()).map(|(ty, places)| match places {
        None => ty,
        Some(places) => binary_type(ty, places, TypeExprKind::Placed),
    })
}

/// Returns the rule of `{alice, bob}`.
fn places<'t>(cx: Text<'t>) -> impl Rule<'t, TypeExpr> {
    places_opening()
        .ignore_then(name(cx).separated_by(token(TokenKind::Comma)).at_least(1).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RBrace))
        .map_with(move |names, e| TypeExpr { kind: TypeExprKind::Places(names), span: cx.span(e.slice()) })
}

/// Returns the rule of types without operators.
fn atom<'t>(cx: Text<'t>, full: impl Rule<'t, TypeExpr>) -> impl Rule<'t, TypeExpr> {
    let number = token(TokenKind::Int).map(move |token| TypeExpr {
        kind: TypeExprKind::Number(int_value(cx.of(token))),
        span: cx.at(token),
    });
    let arguments = type_arguments(full.clone());
    let called = adjacent_bracket(TokenKind::LParen)
        .ignore_then(full.clone().separated_by(token(TokenKind::Comma)).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RParen));
    let form = choice((
        arguments.map(|args| (TypeExprKind::Name as fn(_, _) -> _, args)),
        called.map(|args| (TypeExprKind::Call as fn(_, _) -> _, args)),
    ));
    let named = path(cx).then(form.or_not()).map_with(move |(name, form), e| {
        let kind = match form {
            Some((make, args)) => make(name, args),
            None => TypeExprKind::Name(name, Vec::new()),
        };
        TypeExpr { kind, span: cx.span(e.slice()) }
    });
    let field = name(cx).then_ignore(token(TokenKind::Colon)).then(full.clone());
    let fields = name_then(&[TokenKind::Colon])
        .map(move |(token, _)| cx.name(token))
        .then(full.clone())
        .then(choice((
            token(TokenKind::CComma)
                .ignore_then(field.clone())
                .repeated()
                .at_least(1)
                .collect::<Vec<_>>()
                .map(|rest| (TypeExprKind::CompactRecord as fn(_) -> _, rest)),
            token(TokenKind::Comma)
                .ignore_then(field)
                .repeated()
                .collect::<Vec<_>>()
                .map(|rest| (TypeExprKind::Record as fn(_) -> _, rest)),
        )))
        .map(|(first, (make, rest))| make(std::iter::once(first).chain(rest).collect()));
    let parenthesized = token(TokenKind::LParen)
        .ignore_then(choice((
            token(TokenKind::RParen).to(TypeExprKind::Number(1u32.into())),
            fields.then_ignore(token(TokenKind::RParen)),
            full.clone().map(|ty| ty.kind).then_ignore(token(TokenKind::RParen)),
        )))
        .map_with(move |kind, e| TypeExpr { kind, span: cx.span(e.slice()) });
    let open = token(TokenKind::Question)
        .ignore_then(name(cx))
        .map_with(move |name, e| TypeExpr { kind: TypeExprKind::Open(name), span: cx.span(e.slice()) });
    let rest = unreported(&[TokenKind::DotDot])
        .ignore_then(name(cx))
        .map_with(move |name, e| TypeExpr { kind: TypeExprKind::Rest(name), span: cx.span(e.slice()) });
    let hole = token(TokenKind::Underscore)
        .map(move |token| TypeExpr { kind: TypeExprKind::Hole, span: cx.at(token) });
    let several = list_opening()
        .ignore_then(full.clone().separated_by(token(TokenKind::Comma)).at_least(2).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RParen));
    let subjects = choice((several, full.clone().map(|one| vec![one]))).boxed();
    let arm = subjects
        .clone()
        .map_with(move |patterns, e| (patterns, cx.span(e.slice())))
        .then_ignore(token(TokenKind::FatArrow))
        .then(full)
        .map(|((patterns, span), result)| TypeArm { patterns, span, result });
    let typematch = token(TokenKind::Typematch)
        .ignore_then(subjects)
        .then_ignore(token(TokenKind::With))
        .then_ignore(token(TokenKind::Bar).or_not())
        .then(arm.separated_by(token(TokenKind::Bar)).at_least(1).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::Endmatch))
        .map_with(move |(subjects, arms), e| TypeExpr {
            kind: TypeExprKind::TypeMatch(subjects, arms),
            span: cx.span(e.slice()),
        });
    let refusal = refusal(cx).map_with(move |text, e| TypeExpr {
        kind: TypeExprKind::Refusal(text.text),
        span: cx.span(e.slice()),
    });
    choice((refusal, named, number, parenthesized, open, rest, hole, typematch, places(cx)))
        .labelled(Label::Type)
}

/// Returns the rule of `error "…"`: the text, with its span.
pub(crate) fn refusal<'t>(cx: Text<'t>) -> impl Rule<'t, Name> {
    word(cx, "error")
        .ignore_then(token(TokenKind::Str))
        .map(move |token| Name { text: string_value(cx.of(token)), span: cx.at(token) })
}

/// Returns the rule of `[T, 3]`, touching the name before it.
pub(crate) fn type_arguments<'t>(full: impl Rule<'t, TypeExpr>) -> impl Rule<'t, Vec<TypeExpr>> {
    adjacent_bracket(TokenKind::LBracket)
        .ignore_then(full.separated_by(token(TokenKind::Comma)).at_least(1).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RBracket))
}

/// Returns the rule of `^` and `\^` over atoms, and `\*` over these.
fn compact_product<'t>(atom: impl Rule<'t, TypeExpr>) -> impl Rule<'t, TypeExpr> {
    let power = atom.clone().foldl(
        any_of(&[TokenKind::Caret, TokenKind::CCaret]).then(atom).repeated(),
        |base, (op, exponent)| match op.kind {
            TokenKind::Caret => binary_type(base, exponent, TypeExprKind::Array),
            _ => binary_type(base, exponent, TypeExprKind::CompactPower),
        },
    );
    separated_by(power.boxed(), TokenKind::CStar, TypeExprKind::CompactProduct)
}

/// Returns the rule of `*` and `*+` over compact products, `\+` over these, `+` over these.
fn plus<'t>(compact_product: impl Rule<'t, TypeExpr>) -> impl Rule<'t, TypeExpr> {
    // `*` gathers, `*+` does not: `3 *+ A * B` is `(3 *+ A) * B`.
    let product = compact_product
        .clone()
        .then(
            any_of(&[TokenKind::Star, TokenKind::StarPlus])
                .then(compact_product)
                .repeated()
                .collect::<Vec<_>>(),
        )
        .map(|(first, rest)| {
            let mut left = first;
            let mut gathering = false;
            for (op, right) in rest {
                let span = left.span.to(right.span);
                left = match (op.kind, left) {
                    (TokenKind::StarPlus, left) => {
                        gathering = false;
                        binary_type(left, right, TypeExprKind::Repeat)
                    }
                    (_, TypeExpr { kind: TypeExprKind::Product(mut items), .. }) if gathering => {
                        items.push(right);
                        TypeExpr { kind: TypeExprKind::Product(items), span }
                    }
                    (_, left) => {
                        gathering = true;
                        TypeExpr { kind: TypeExprKind::Product(vec![left, right]), span }
                    }
                };
            }
            left
        });
    let compact_sum = separated_by(product.boxed(), TokenKind::CPlus, TypeExprKind::CompactSum);
    separated_by(compact_sum.boxed(), TokenKind::Plus, TypeExprKind::Sum)
}

/// Returns a type of two operands.
fn binary_type(
    left: TypeExpr,
    right: TypeExpr,
    make: impl Fn(Box<TypeExpr>, Box<TypeExpr>) -> TypeExprKind,
) -> TypeExpr {
    let span = left.span.to(right.span);
    TypeExpr { kind: make(Box::new(left), Box::new(right)), span }
}
