//! Expressions: tokens → [`Expr`].
//!
//! The loose levels (`$` to `|>`) are written out; the operators between them and application are
//! one table of binding powers (V. Pratt, *Top down operator precedence*, POPL 1973). Lambdas may
//! contain statements, whose rule is a parameter.

use super::super::ast::{
    ApplyForm, Arm, BinaryOp, Body, Expr, ExprKind, Function, Generics, Interpolation, Name, Param, Pattern,
    PatternKind, Stmt, StmtKind, TypeExpr, UnaryOp,
};
use super::super::error::GrammarError;
use super::super::lexer::{Token, TokenKind};
use super::super::literal::FormatSpec;
use super::super::literal::{char_value, int_value, number_parts, without_underscores};
use super::super::text::Edition;
use super::pattern::{interpolated_text, string_value};
use super::rule::{
    Extra, Input, Label, ParenthesesContent, ParseFailure, Rule, Text, any_of, content_ahead, expr_at,
    let_word, name, name_then, path, same_statement, token, unreported, up_to, update_opening,
};
use super::types::type_arguments;
use crate::source::Span;
use chumsky::input::MapExtra;
use chumsky::pratt::{infix, left, postfix, prefix, right};
use chumsky::prelude::*;

/// The rules of expressions at the levels that other rules use.
#[derive(Clone)]
pub(crate) struct ExprRules<F, E, D> {
    /// Any expression.
    pub full: F,
    /// Any expression except a bare tuple.
    pub element: E,
    /// A variable followed by projections: what can be stored into.
    pub place: D,
}

/// The rules that expressions use.
#[derive(Clone)]
pub(crate) struct ExprSubrules<T, P, C, A, I, Q, B, R, V, G> {
    pub ty: T,
    /// After `of`.
    pub plus_ty: P,
    /// After `:>>` and `:>`.
    pub cast_ty: C,
    pub atom_ty: A,
    pub item_pattern: I,
    pub pattern: Q,
    /// `{ … }`.
    pub block: B,
    /// `{ … }` whose last may be a value.
    pub braced: R,
    /// `{ …; e }`.
    pub block_value: V,
    /// `(x:T, y:U)`.
    pub group: G,
}

/// Returns the rules of expressions.
pub(crate) fn exprs<'t>(
    cx: Text<'t>,
    parts: ExprSubrules<
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, Pattern>,
        impl Rule<'t, Pattern>,
        impl Rule<'t, Vec<Stmt>>,
        impl Rule<'t, Vec<Stmt>>,
        impl Rule<'t, Expr>,
        impl Rule<'t, Vec<Param>>,
    >,
) -> ExprRules<impl Rule<'t, Expr>, impl Rule<'t, Expr>, impl Rule<'t, Expr>> {
    let again = parts.clone();
    let item = recursive(move |item| {
        let compact = compact(cx, item.clone()).boxed();
        let full = outer(cx, tuple(cx, compact.clone()).boxed(), parts.ty.clone()).boxed();
        // Between commas that separate elements, everything but a bare tuple.
        let element = outer(cx, compact, parts.ty.clone()).boxed();
        let dotted = dotted(cx, full.clone(), element.clone(), item.boxed(), parts.clone()).boxed();
        let cast_ty = parts.cast_ty.clone();
        let operand = operand(cx, dotted, full, element.clone(), parts).boxed();
        let operators = operators(cx, operand, element, cast_ty).boxed();
        match cx.edition {
            Edition::V01 => operators,
            Edition::V02 => pipes(operators).boxed(),
        }
    });
    let item = item.boxed();
    let compact = compact(cx, item.clone()).boxed();
    let full = outer(cx, tuple(cx, compact.clone()).boxed(), again.ty.clone()).boxed();
    let element = outer(cx, compact, again.ty.clone()).boxed();
    let place = dotted(cx, full.clone(), element.clone(), item, again).boxed();
    ExprRules { full, element, place }
}

/// Returns the rule of `$`; in 0.1, `|>` over `$` and `:>>` `:>` over `|>`.
fn outer<'t>(cx: Text<'t>, base: impl Rule<'t, Expr>, ty: impl Rule<'t, TypeExpr>) -> impl Rule<'t, Expr> {
    let dollar = dollar(base).boxed();
    match cx.edition {
        Edition::V01 => pipes(dollar)
            .foldl(any_of(CASTS).then(ty).repeated(), |value, (op, ty)| cast(value, op, ty))
            .boxed(),
        Edition::V02 => dollar,
    }
}

/// The conversion operators.
const CASTS: &[TokenKind] = &[TokenKind::Reshape, TokenKind::Convert];

/// Returns a conversion.
fn cast(value: Expr, op: &Token, ty: TypeExpr) -> Expr {
    let span = value.span.to(ty.span);
    let kind = match op.kind {
        TokenKind::Reshape => ExprKind::Reshape(Box::new(value), ty),
        TokenKind::Convert => ExprKind::Convert(Box::new(value), ty),
        other => unreachable!("{other:?} is no conversion"),
    };
    expr_at(kind, span)
}

/// Returns the rule of `f$ x`, right-associative.
fn dollar<'t>(base: impl Rule<'t, Expr>) -> impl Rule<'t, Expr> {
    base.clone().then(token(TokenKind::Dollar).ignore_then(base).repeated().collect::<Vec<_>>()).map(
        |(first, mut rest)| {
            // `f$ g$ x` is `f (g x)`.
            let Some(mut argument) = rest.pop() else {
                return first;
            };
            for function in std::iter::once(first).chain(rest).rev() {
                argument = apply(function, argument, ApplyForm::Dollar);
            }
            argument
        },
    )
}

/// Returns the rule of `x |> f`, left-associative.
fn pipes<'t>(base: impl Rule<'t, Expr>) -> impl Rule<'t, Expr> {
    base.clone().foldl(token(TokenKind::Pipe).ignore_then(base).repeated(), |argument, function| {
        let span = argument.span.to(function.span);
        let (function, argument) = (Box::new(function), Box::new(argument));
        expr_at(ExprKind::Apply { function, argument, form: ApplyForm::Pipe }, span)
    })
}

/// Returns the rule of compact tuples.
fn compact<'t>(cx: Text<'t>, item: impl Rule<'t, Expr>) -> impl Rule<'t, Expr> {
    list_with_rest(cx, item, TokenKind::CComma, ExprKind::CompactTuple)
}

/// Returns the rule of tuples.
fn tuple<'t>(cx: Text<'t>, item: impl Rule<'t, Expr>) -> impl Rule<'t, Expr> {
    list_with_rest(cx, item, TokenKind::Comma, ExprKind::Tuple)
}

/// Returns the rule `item op item op …`, one flat node; the last may be `..item`.
fn list_with_rest<'t>(
    cx: Text<'t>,
    item: impl Rule<'t, Expr>,
    op: TokenKind,
    make: impl Fn(Vec<Expr>) -> ExprKind + Clone + 't,
) -> impl Rule<'t, Expr> {
    let rest = token(op).ignore_then(
        unreported(&[TokenKind::DotDot])
            .ignore_then(item.clone())
            .map_with(move |value, e| expr_at(ExprKind::Rest(Box::new(value)), cx.span(e.slice()))),
    );
    item.clone().then(token(op).ignore_then(item).repeated().collect::<Vec<_>>()).then(rest.or_not()).map(
        move |((first, mut more), rest)| {
            more.extend(rest);
            let Some(last) = more.last() else {
                return first;
            };
            let span = first.span.to(last.span);
            more.insert(0, first);
            expr_at(make(more), span)
        },
    )
}

/// Returns an application.
fn apply(function: Expr, argument: Expr, form: ApplyForm) -> Expr {
    let span = function.span.to(argument.span);
    expr_at(ExprKind::Apply { function: Box::new(function), argument: Box::new(argument), form }, span)
}

/// Returns the rule of operators, by binding power: `or` · `and` · `not` · comparisons · ranges ·
/// `+ -` · `* / %` · `:>>` `:>` · prefix `-` `!` · `**`.
fn operators<'t>(
    cx: Text<'t>,
    operand: impl Rule<'t, Expr>,
    element: impl Rule<'t, Expr>,
    cast_ty: impl Rule<'t, TypeExpr>,
) -> impl Rule<'t, Expr> {
    use TokenKind::*;
    let field = name(cx).then_ignore(token(Assign)).then(element);
    let update = update_opening(cx)
        .ignore_then(field.separated_by(token(Comma)).at_least(1).collect::<Vec<_>>())
        .then(token(RParen))
        .boxed();
    // In 0.1 they are no operators of this table.
    let casts = if cx.edition == Edition::V01 { &[] } else { CASTS };
    let binary = |l: Expr, op: &Token, r: Expr, _: &mut MapExtra<'t, '_, Input<'t>, Extra>| {
        let span = l.span.to(r.span);
        let op = binary_op(op.kind);
        expr_at(ExprKind::Binary(op, Box::new(l), Box::new(r)), span)
    };
    let unary = move |op: &Token, value: Expr, _: &mut MapExtra<'t, '_, Input<'t>, Extra>| {
        let span = cx.at(op).to(value.span);
        let op = if op.kind == Minus { UnaryOp::Neg } else { UnaryOp::Not };
        expr_at(ExprKind::Unary(op, Box::new(value)), span)
    };
    let compare = move |l: Expr, op: &'t Token, r: Expr, e: &mut MapExtra<'t, '_, Input<'t>, Extra>| {
        // A comparison in parentheses begins before its own left side.
        if let ExprKind::Binary(first, ll, middle) = &l.kind
            && is_comparison(*first)
            && l.span.start == ll.span.start
            && l.span.end == middle.span.end
        {
            let place = middle.span.range();
            e.emit(ParseFailure::specific(GrammarError::ChainedComparison {
                first: l.span,
                second: cx.at(op).to(r.span),
                middle: cx.text[place].to_owned(),
            }));
        }
        binary(l, op, r, e)
    };
    let range = |l: Expr, op: &Token, r: Expr, _: &mut MapExtra<'t, '_, Input<'t>, Extra>| {
        let span = l.span.to(r.span);
        let inclusive = op.kind != DotDotLess;
        expr_at(ExprKind::IntRange { low: Box::new(l), high: Box::new(r), inclusive }, span)
    };
    operand.pratt((
        prefix(3, token(Not), unary),
        prefix(9, any_of(&[Minus, Bang]), unary),
        postfix(
            8,
            any_of(casts).then(cast_ty),
            |value: Expr, (op, ty): (&Token, TypeExpr), _: &mut MapExtra<'t, '_, Input<'t>, Extra>| {
                cast(value, op, ty)
            },
        ),
        postfix(
            11,
            update,
            move |record: Expr,
                  (fields, end): (Vec<(super::super::ast::Name, Expr)>, &Token),
                  _: &mut MapExtra<'t, '_, Input<'t>, Extra>| {
                let span = record.span.to(cx.at(end));
                expr_at(ExprKind::Update(Box::new(record), fields), span)
            },
        ),
        infix(left(7), any_of(&[Star, Slash, Percent]), binary),
        infix(left(6), any_of(&[Plus, Minus]), binary),
        infix(right(10), token(Pow), binary),
        infix(left(4), any_of(&[EqEq, NotEq, Less, LessEq, Greater, GreaterEq]), compare),
        infix(left(4), unreported(&[InSet]), compare),
        infix(left(5), any_of(&[DotDot, DotDotLess, Upto]), range),
        infix(left(2), token(And), binary),
        infix(left(1), token(Or), binary),
    ))
}

/// Returns the operator of a token.
fn binary_op(kind: TokenKind) -> BinaryOp {
    match kind {
        TokenKind::Minus => BinaryOp::Sub,
        TokenKind::Star => BinaryOp::Mul,
        TokenKind::Slash => BinaryOp::Div,
        TokenKind::Percent => BinaryOp::Rem,
        TokenKind::Pow => BinaryOp::Pow,
        TokenKind::EqEq => BinaryOp::Eq,
        TokenKind::NotEq => BinaryOp::Ne,
        TokenKind::Less => BinaryOp::Lt,
        TokenKind::LessEq => BinaryOp::Le,
        TokenKind::Greater => BinaryOp::Gt,
        TokenKind::GreaterEq => BinaryOp::Ge,
        TokenKind::InSet => BinaryOp::In,
        TokenKind::And => BinaryOp::And,
        TokenKind::Or => BinaryOp::Or,
        TokenKind::Plus => BinaryOp::Add,
        other => unreachable!("{other:?} is no binary operator"),
    }
}

/// Returns true for a comparison.
fn is_comparison(op: BinaryOp) -> bool {
    use BinaryOp::*;
    matches!(op, Eq | Ne | Lt | Le | Gt | Ge | In)
}

/// Returns the rule of applications and of the prefix forms that extend as far as possible.
fn operand<'t>(
    cx: Text<'t>,
    dotted: impl Rule<'t, Expr>,
    full: impl Rule<'t, Expr>,
    element: impl Rule<'t, Expr>,
    parts: ExprSubrules<
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, Pattern>,
        impl Rule<'t, Pattern>,
        impl Rule<'t, Vec<Stmt>>,
        impl Rule<'t, Vec<Stmt>>,
        impl Rule<'t, Expr>,
        impl Rule<'t, Vec<Param>>,
    >,
) -> impl Rule<'t, Expr> {
    let argument = same_statement().ignore_then(dotted.clone());
    let application =
        dotted.clone().foldl(argument.repeated(), |f, x| apply(f, x, ApplyForm::Juxtaposed)).boxed();
    let of_type = token(TokenKind::Of).ignore_then(parts.plus_ty);
    let case = token(TokenKind::Case)
        .ignore_then(token(TokenKind::Int))
        .then(choice((of_type.clone().map(Ok), dotted.map(Err))))
        .map_with(move |(number, rest), e| {
            let index = int_value(cx.of(number));
            let kind = match rest {
                Ok(ty) => ExprKind::CaseOf { index, ty, tick: false },
                Err(arg) => ExprKind::Inject { index, arg: Box::new(arg) },
            };
            expr_at(kind, cx.span(e.slice()))
        });
    let proj = token(TokenKind::Proj).ignore_then(token(TokenKind::Int)).then(of_type.clone()).map_with(
        move |(number, ty), e| {
            expr_at(ExprKind::Proj { index: int_value(cx.of(number)), ty }, cx.span(e.slice()))
        },
    );
    let at_index = |word: &Token, index: Box<Expr>, ty| match word.kind {
        TokenKind::Ainj => ExprKind::Ainj { index, ty },
        TokenKind::Aproj => ExprKind::Aproj { index, ty },
        other => unreachable!("{other:?} takes no index"),
    };
    let indexed = any_of(&[TokenKind::Aproj, TokenKind::Ainj]);
    // `aproj of T` is `fun i => aproj i of T`.
    let any_index = indexed.then(of_type.clone()).map_with(move |(word, ty), e| {
        let span = cx.span(e.slice());
        let name = Name { text: "i".into(), span };
        let pattern = Pattern { span, kind: PatternKind::Name(name.clone()) };
        let index = Box::new(Expr { span, kind: ExprKind::Name(name) });
        let function = Function {
            is_proc: false,
            is_joint: false,
            generics: Generics::default(),
            params: vec![vec![Param { pattern, ty: None, default: None }]],
            result: None,
            body: Body::Expr(Box::new(expr_at(at_index(word, index, ty), span))),
            header: span,
        };
        expr_at(ExprKind::Lambda(Box::new(function)), span)
    });
    // `f of T` is `fun (x:T) => f x`: of several functions of the name the one for a `T`.
    let at_type = name_then(&[TokenKind::Of]).rewind().ignore_then(name(cx)).then(of_type.clone()).map_with(
        move |(function, ty), e| {
            let span = cx.span(e.slice());
            let text = if &*function.text == "x" { "y" } else { "x" };
            let name = Name { text: text.into(), span: ty.span };
            let pattern = Pattern { span: ty.span, kind: PatternKind::Name(name.clone()) };
            let argument = Expr { span: ty.span, kind: ExprKind::Name(name) };
            let function = Expr { span: function.span, kind: ExprKind::Name(function) };
            let body = apply(function, argument, ApplyForm::Juxtaposed);
            let function = Function {
                is_proc: false,
                is_joint: false,
                generics: Generics::default(),
                params: vec![vec![Param { pattern, ty: Some(ty), default: None }]],
                result: None,
                body: Body::Expr(Box::new(body)),
                header: span,
            };
            expr_at(ExprKind::Lambda(Box::new(function)), span)
        },
    );
    let one_index =
        indexed.then(application.clone()).then(of_type).map_with(move |((word, index), ty), e| {
            expr_at(at_index(word, Box::new(index), ty), cx.span(e.slice()))
        });
    // `fun x => e` has one parameter, without its parentheses.
    let bare = name_then(&[TokenKind::FatArrow]).rewind().ignore_then(name(cx)).map(|name| {
        let pattern = Pattern { span: name.span, kind: PatternKind::Name(name) };
        (vec![vec![Param { pattern, ty: None, default: None }]], None)
    });
    let groups = parts
        .group
        .repeated()
        .at_least(1)
        .collect::<Vec<_>>()
        .then(token(TokenKind::Colon).ignore_then(parts.ty.clone()).or_not());
    // `let p = e in e` is `{ val p = e; e }`.
    let let_in = let_word(cx)
        .ignore_then(parts.item_pattern)
        .then(token(TokenKind::Colon).ignore_then(parts.ty.clone()).or_not())
        .then_ignore(token(TokenKind::Assign))
        .then(full)
        .then_ignore(token(TokenKind::In))
        .then(element.clone())
        .map_with(move |(((pattern, ty), init), value), e| {
            let span = cx.span(e.slice());
            let bound = Span { end: init.span.end, ..span };
            let stmt = Stmt { kind: StmtKind::Let { mutable: false, pattern, ty, init }, span: bound };
            expr_at(ExprKind::Block { stmts: vec![stmt], value: Box::new(value) }, span)
        });
    let header = any_of(&[TokenKind::Fun, TokenKind::Proc])
        .then(choice((bare, groups)))
        .map_with(move |(word, (params, result)), e| (word, params, result, cx.span(e.slice())));
    let body = choice((
        token(TokenKind::FatArrow).ignore_then(element).map(|body| Body::Expr(Box::new(body))),
        parts.block.map(Body::Block),
    ));
    let lambda = header.then(body).map_with(move |((word, params, result, header), body), e| {
        let function = Function {
            is_proc: word.kind == TokenKind::Proc,
            is_joint: false,
            generics: Generics::default(),
            params,
            result,
            body,
            header,
        };
        expr_at(ExprKind::Lambda(Box::new(function)), cx.span(e.slice()))
    });
    choice((let_in, at_type, application, case, proj, any_index, one_index, lambda, parts.block_value))
        .labelled(Label::Expression)
}

/// Returns the rule of an atom with `#` before it and `.keys` after it.
fn dotted<'t>(
    cx: Text<'t>,
    full: impl Rule<'t, Expr>,
    element: impl Rule<'t, Expr>,
    item: impl Rule<'t, Expr>,
    parts: ExprSubrules<
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, TypeExpr>,
        impl Rule<'t, Pattern>,
        impl Rule<'t, Pattern>,
        impl Rule<'t, Vec<Stmt>>,
        impl Rule<'t, Vec<Stmt>>,
        impl Rule<'t, Expr>,
        impl Rule<'t, Vec<Param>>,
    >,
) -> impl Rule<'t, Expr> {
    let named = path(cx)
        .map(|name| Expr { span: name.span, kind: ExprKind::Name(name) })
        .then(type_arguments(parts.ty.clone()).or_not())
        .map_with(move |(name, args), e| match args {
            None => name,
            Some(args) => expr_at(ExprKind::TypeArgs(Box::new(name), args), cx.span(e.slice())),
        })
        .boxed();
    let int = token(TokenKind::Int).map(move |t| expr_at(ExprKind::Int(int_value(cx.of(t))), cx.at(t)));
    const LITERALS: &[TokenKind] = &[
        TokenKind::Int,
        TokenKind::Real,
        TokenKind::Suffixed,
        TokenKind::Char,
        TokenKind::Str,
        TokenKind::InterpolatedStr,
        TokenKind::True,
        TokenKind::False,
    ];
    let literal = any_of(LITERALS).map(move |t| {
        let kind = match t.kind {
            TokenKind::Int => ExprKind::Int(int_value(cx.of(t))),
            TokenKind::Real => ExprKind::Real(without_underscores(cx.of(t))),
            TokenKind::Suffixed => {
                // What is none has been reported.
                let (digits, suffix) = number_parts(cx.of(t)).unwrap_or(("0", "i64"));
                ExprKind::Suffixed(without_underscores(digits), suffix)
            }
            TokenKind::Char => ExprKind::Char(char_value(cx.of(t))),
            TokenKind::Str => ExprKind::Str(string_value(cx.of(t))),
            TokenKind::InterpolatedStr => ExprKind::Interpolated(interpolated_text(cx.of(t)).0, Vec::new()),
            kind => ExprKind::Bool(kind == TokenKind::True),
        };
        expr_at(kind, cx.at(t))
    });
    let tick = token(TokenKind::Tick)
        .ignore_then(token(TokenKind::Int))
        .then_ignore(token(TokenKind::Colon))
        .then(parts.atom_ty.clone())
        .map_with(move |(number, ty), e| {
            let index = int_value(cx.of(number));
            expr_at(ExprKind::CaseOf { index, ty, tick: true }, cx.span(e.slice()))
        })
        .boxed();
    let field = name(cx).then_ignore(token(TokenKind::Assign)).then(element.clone());
    let fields = name_then(&[TokenKind::Assign])
        .map(move |(token, _)| cx.name(token))
        .then(element.clone())
        .then(token(TokenKind::Comma).ignore_then(field).repeated().collect::<Vec<_>>())
        .map(|(first, rest)| ExprKind::Record(std::iter::once(first).chain(rest).collect()));
    let field = name(cx).then_ignore(token(TokenKind::Assign)).then(item);
    let compact_fields = field.separated_by(token(TokenKind::CComma)).at_least(2).collect::<Vec<_>>();
    let compact_fields = compact_fields.map(ExprKind::CompactRecord);
    let spread = token(TokenKind::DotDot).ignore_then(token(TokenKind::Dot)).ignore_then(element.clone());
    let part = choice((
        spread.map(|record| (None, record)),
        name(cx)
            .then_ignore(token(TokenKind::Assign))
            .then(element.clone())
            .map(|(name, value)| (Some(name), value)),
    ));
    let spread =
        part.separated_by(token(TokenKind::Comma)).at_least(1).collect::<Vec<_>>().map(ExprKind::Spread);
    let named_item =
        name_then(&[TokenKind::Assign]).map(move |(token, _)| Some(cx.name(token))).then(element.clone());
    let argument = choice((named_item, element.clone().map(|value| (None, value))));
    let arguments =
        argument.separated_by(token(TokenKind::Comma)).collect::<Vec<_>>().map_with(|parts, e| {
            let count = parts.iter().take_while(|(name, _)| name.is_none()).count();
            let (mut values, mut named) = (Vec::new(), Vec::new());
            for (at, (name, value)) in parts.into_iter().enumerate() {
                match name {
                    Some(name) => named.push((name, value)),
                    None if at < count => values.push(value),
                    // Parsing continues: these parentheses contain arguments only.
                    None => e.emit(ParseFailure::specific(GrammarError::PositionalAfterNamed {
                        value: value.span,
                    })),
                }
            }
            ExprKind::Arguments(values, named)
        });
    let parenthesized = token(TokenKind::LParen)
        .ignore_then(choice((
            unreported(&[TokenKind::RParen]).to(ExprKind::Tuple(Vec::new())),
            content_ahead(ParenthesesContent::CompactFields)
                .ignore_then(compact_fields)
                .then_ignore(token(TokenKind::RParen)),
            content_ahead(ParenthesesContent::Spread)
                .ignore_then(spread)
                .then_ignore(token(TokenKind::RParen)),
            content_ahead(ParenthesesContent::Arguments)
                .ignore_then(arguments)
                .then_ignore(token(TokenKind::RParen)),
            fields.then_ignore(token(TokenKind::RParen)),
            full.clone().map(|e| e.kind).then_ignore(token(TokenKind::RParen)),
        )))
        .map_with(move |kind, e| expr_at(kind, cx.span(e.slice())))
        .boxed();
    let all_of = token(TokenKind::DotDot)
        .ignore_then(token(TokenKind::LBracket))
        .ignore_then(parts.ty)
        .then_ignore(token(TokenKind::RBracket))
        .map_with(move |ty, e| expr_at(ExprKind::AllOf(ty), cx.span(e.slice())));
    let filled_text = token(TokenKind::InterpolatedOpen)
        .then(element.clone())
        .then(token(TokenKind::InterpolatedMiddle).then(element.clone()).repeated().collect::<Vec<_>>())
        .then(token(TokenKind::InterpolatedClose))
        .map_with(move |(((open, first), rest), close), e| {
            let mut values = vec![first];
            let mut pieces = Vec::new();
            for (piece, value) in rest {
                pieces.push(piece);
                values.push(value);
            }
            pieces.push(close);
            let holes = values.into_iter().zip(pieces).map(|(value, piece)| {
                let (text, FormatSpec { width, zeros, places }) = interpolated_text(cx.of(piece));
                Interpolation { value, width, zeros, places, text }
            });
            expr_at(
                ExprKind::Interpolated(interpolated_text(cx.of(open)).0, holes.collect()),
                cx.span(e.slice()),
            )
        })
        .boxed();
    let at = at_block(cx, parts.atom_ty.clone(), parts.braced).boxed();
    let closed = delimited_forms(cx, full, parts.pattern);
    let array = array(cx, element, parts.item_pattern);
    let axis = unreported(&[TokenKind::Underscore]).map(move |t| expr_at(ExprKind::Axis, cx.at(t)));
    let atom = choice((
        named.clone(),
        literal,
        filled_text,
        parenthesized.clone(),
        tick.clone(),
        axis,
        array,
        all_of,
        closed,
        at,
    ))
    .labelled(Label::Expression)
    .boxed();
    let key = choice((named, int, parenthesized, tick)).boxed();
    let hashed =
        token(TokenKind::Hash).repeated().collect::<Vec<_>>().then(atom).map(move |(hashes, atom)| {
            hashes.into_iter().rev().fold(atom, |function, hash| {
                let unit = expr_at(ExprKind::Tuple(Vec::new()), cx.at(hash));
                let span = cx.at(hash).to(function.span);
                let (function, argument) = (Box::new(function), Box::new(unit));
                expr_at(ExprKind::Apply { function, argument, form: ApplyForm::Hash }, span)
            })
        });
    hashed.labelled(Label::Expression).foldl(
        token(TokenKind::Dot).ignore_then(key).repeated(),
        |base, key| {
            let span = base.span.to(key.span);
            expr_at(ExprKind::Dot { base: Box::new(base), key: Box::new(key) }, span)
        },
    )
}

/// Returns the rule of `at S { … }`.
pub(crate) fn at_block<'t>(
    cx: Text<'t>,
    places: impl Rule<'t, TypeExpr>,
    braced: impl Rule<'t, Vec<Stmt>>,
) -> impl Rule<'t, Expr> {
    unreported(&[TokenKind::At]).ignore_then(places).then(braced).map_with(move |(places, mut stmts), e| {
        let value = match stmts.pop() {
            Some(Stmt { kind: StmtKind::Value(value), .. }) => Some(Box::new(value)),
            last => {
                stmts.extend(last);
                None
            }
        };
        expr_at(ExprKind::At { places, stmts, value }, cx.span(e.slice()))
    })
}

/// Returns the rule of `if … endif` and `match … endmatch`.
fn delimited_forms<'t>(
    cx: Text<'t>,
    full: impl Rule<'t, Expr>,
    pattern: impl Rule<'t, Pattern>,
) -> impl Rule<'t, Expr> {
    let arm = full.clone().then_ignore(token(TokenKind::Then)).then(full.clone());
    let if_then = token(TokenKind::If)
        .ignore_then(arm.clone().separated_by(token(TokenKind::Elif)).at_least(1).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::Else))
        .then(full.clone())
        .then_ignore(token(TokenKind::Endif))
        .map(|(arms, otherwise)| ExprKind::If { arms, otherwise: Box::new(otherwise) });
    let case = pattern
        .then(token(TokenKind::When).ignore_then(full.clone()).or_not())
        .then_ignore(token(TokenKind::FatArrow))
        .then(full.clone())
        .map(|((pattern, guard), body)| Arm { pattern, guard, body });
    let match_with = token(TokenKind::Match)
        .ignore_then(full)
        .then_ignore(token(TokenKind::With))
        .then_ignore(token(TokenKind::Bar).or_not())
        .then(case.separated_by(token(TokenKind::Bar)).at_least(1).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::Endmatch))
        .map(|(scrutinee, arms)| ExprKind::Match { scrutinee: Box::new(scrutinee), arms });
    choice((if_then, match_with)).map_with(move |kind, e| expr_at(kind, cx.span(e.slice()))).boxed()
}

/// Returns the rule of `..i` and `..<i`, which are distinguished from `..[T]` by the bracket.
pub(crate) fn indices_up_to<'t>(cx: Text<'t>, element: impl Rule<'t, Expr>) -> impl Rule<'t, Expr> {
    up_to().then(element).map_with(move |(sign, high), e| {
        let (high, inclusive) = (Box::new(high), sign.kind == TokenKind::DotDot);
        expr_at(ExprKind::UpTo { high, inclusive }, cx.span(e.slice()))
    })
}

/// Returns the rule of `[a, b]` and `[e for p in i, q in j if c]`.
fn array<'t>(
    cx: Text<'t>,
    element: impl Rule<'t, Expr>,
    pattern: impl Rule<'t, Pattern>,
) -> impl Rule<'t, Expr> {
    enum Rest {
        Elements(Vec<Expr>),
        Clauses(Vec<(Pattern, Expr)>, Option<Expr>),
    }
    let clause = pattern
        .then_ignore(token(TokenKind::In))
        .then(choice((indices_up_to(cx, element.clone()), element.clone())));
    let clauses = token(TokenKind::For)
        .ignore_then(clause.separated_by(token(TokenKind::Comma)).at_least(1).collect::<Vec<_>>())
        // The bracket pass has written `when` for the `if` of a comprehension.
        .then(unreported(&[TokenKind::When]).ignore_then(element.clone()).or_not())
        .map(|(clauses, guard)| Rest::Clauses(clauses, guard));
    let elements = token(TokenKind::Comma)
        .ignore_then(element.clone())
        .repeated()
        .collect::<Vec<_>>()
        .then_ignore(unreported(&[TokenKind::Comma]).or_not())
        .map(Rest::Elements);
    let filled = element.then(choice((clauses, elements))).map(|(first, rest)| match rest {
        Rest::Clauses(clauses, guard) => {
            let guard = guard.map(Box::new);
            ExprKind::Comprehension { body: Box::new(first), clauses, guard }
        }
        Rest::Elements(mut rest) => {
            rest.insert(0, first);
            ExprKind::Array(rest)
        }
    });
    token(TokenKind::LBracket)
        .ignore_then(choice((
            unreported(&[TokenKind::RBracket]).to(ExprKind::Array(Vec::new())),
            filled.then_ignore(token(TokenKind::RBracket)),
        )))
        .map_with(move |kind, e| expr_at(kind, cx.span(e.slice())))
        .boxed()
}
