//! Statements: tokens → [`Stmt`], a top-level one or those in a block.
//!
//! Every simple statement ends in `;` (the bracket pass supplies the last one of a text); a `;`
//! after a block is optional.

use super::super::ast::{
    ApplyForm, Arm, BinaryOp, Body, ClassMember, Expr, ExprKind, Function, Generics, IndexLabel, Name, Param,
    Pattern, PatternKind, Stmt, StmtKind, TypeDecl, TypeExpr, TypeExprKind, TypeParam,
};
use super::super::error::{GrammarError, PlaceKind};
use super::super::lexer::{Token, TokenKind};
use super::expr::{ExprRules, ExprSubrules, at_block, exprs, indices_up_to};
use super::module::{modules, without_semicolon};
use super::pattern::{PatternRules, patterns, string_value};
use super::rule::{
    Extra, Input, Label, ParseFailure, Rule, Text, another_clause, any_of, assert_word, expr_at, name,
    name_then, path, statement_ends, token, unreported, word,
};
use super::types::{refusal, type_arguments, types};
use chumsky::prelude::*;

/// The assignment operators.
const ASSIGNMENTS: &[TokenKind] = &[
    TokenKind::Assign,
    TokenKind::PlusAssign,
    TokenKind::MinusAssign,
    TokenKind::StarAssign,
    TokenKind::SlashAssign,
    TokenKind::PercentAssign,
    TokenKind::PowAssign,
];

/// Returns the rule of one statement with its `;`.
pub(crate) fn statement<'t>(cx: Text<'t>) -> impl Rule<'t, Stmt> {
    recursive(move |stmt| {
        let ty = types(cx);
        let pattern = patterns(cx, ty.full.clone(), ty.atom.clone());
        let braced = token(TokenKind::LBrace)
            .ignore_then(sequence(cx, stmt.clone()))
            .then_ignore(token(TokenKind::RBrace))
            .map_with(|stmts, e| (stmts, e.slice()))
            .boxed();
        let statements = braced.clone().map(|(stmts, _)| stmts).boxed();
        // As a statement it needs no `;`; what follows is no argument.
        let work = at_block(cx, ty.atom.clone(), statements.clone())
            .then_ignore(statement_ends())
            .then_ignore(unreported(&[TokenKind::Semi]).or_not())
            .map(StmtKind::Expr)
            .boxed();
        let block =
            braced.clone().map_with(move |braced, e| body(cx, braced, &mut |fail| e.emit(fail))).boxed();
        let block_value =
            braced.map_with(move |braced, e| block_value(cx, braced, &mut |fail| e.emit(fail))).boxed();
        let mut default = Recursive::declare();
        let group = group(pattern.item.clone(), ty.full.clone(), default.clone()).boxed();
        let expr = exprs(
            cx,
            ExprSubrules {
                ty: ty.full.clone(),
                plus_ty: ty.plus,
                cast_ty: ty.cast,
                atom_ty: ty.atom,
                item_pattern: pattern.item.clone(),
                pattern: pattern.arm.clone(),
                block: block.clone(),
                braced: statements,
                block_value,
                group: group.clone(),
            },
        );
        default.define(expr.element.clone());
        let binding = binding(pattern.full.clone(), ty.full.clone(), expr.full.clone()).boxed();
        let test = test(cx, block.clone()).boxed();
        let function = function(cx, group.clone(), ty.full.clone(), expr.full.clone(), block).boxed();
        let control = control(cx, stmt.clone(), expr.clone(), pattern);
        let simple = simple(cx, expr.clone());
        let declared = declared(cx, stmt, ty.full, expr.full, group).boxed();
        let modules = modules(cx, choice((binding.clone(), function.clone(), declared.clone())));
        choice((work, simple, binding, function, control, declared, modules, test))
            .labelled(Label::Statement)
            .map_with(move |kind, e| Stmt { kind, span: cx.span(without_semicolon(e.slice())) })
            .boxed()
    })
}

/// Returns the rule of one expression as a whole text.
pub(crate) fn expression<'t>(cx: Text<'t>) -> impl Rule<'t, Expr> {
    // An expression statement holds every expression, and the statement rule every part it needs.
    statement(cx).try_map(|stmt, _| match stmt.kind {
        StmtKind::Expr(expr) => Ok(expr),
        _ => Err(ParseFailure { at: 0, expected: Label::Expression.bit(), specific: None }),
    })
}

/// Returns the rule of `;`.
fn semi<'t>() -> impl Rule<'t, &'t Token> + Copy {
    token(TokenKind::Semi)
}

/// Returns the rule of statements with stray `;` between them. An unreadable one does not lose the
/// others.
fn sequence<'t>(cx: Text<'t>, stmt: impl Rule<'t, Stmt>) -> impl Rule<'t, Vec<Stmt>> {
    let stray = unreported(&[TokenKind::Semi]).repeated();
    let unread = skip().map_with(move |(), e| Stmt { kind: StmtKind::Error, span: cx.span(e.slice()) });
    let stmt = stmt.recover_with(via_parser(unread));
    stray.ignore_then(stmt.then_ignore(stray).repeated().collect::<Vec<_>>())
}

/// Returns the recovery rule that skips a statement in a block: past its `;`, or up to the closer
/// of the block or the beginning of the next statement.
///
/// Brackets match, so each token is visited once.
fn skip<'t>() -> impl Rule<'t, ()> {
    custom::<_, Input<'t>, _, Extra>(|input| {
        use TokenKind::*;
        let at = *input.cursor().inner();
        let mut open: Vec<TokenKind> = Vec::new();
        let mut taken = 0;
        while let Some(token) = input.peek_ref() {
            match token.kind {
                RBrace | Done | Elif | Else | Bar | RParen | RBracket | Endif | Endmatch
                    if open.is_empty() =>
                {
                    break;
                }
                kind if open.is_empty() && taken > 0 && (kind.begins_statement() || token.offside) => break,
                LParen | LBracket | LBrace | If | Match | Typematch | Do => open.push(token.kind),
                RParen | RBracket | RBrace | Endif | Endmatch | Done => {
                    open.pop();
                }
                // The next condition of an `if … do` has a `do` of its own.
                Elif if open.last() == Some(&Do) => {
                    open.pop();
                }
                _ => {}
            }
            input.skip();
            taken += 1;
            if token.kind == Semi && open.is_empty() || token.kind == Done && open.is_empty() {
                break;
            }
        }
        if taken == 0 { Err(ParseFailure { at, expected: 0, specific: None }) } else { Ok(()) }
    })
}

/// Returns the statements of a function body: each expression among them ends in `;`.
fn body<'t>(
    cx: Text<'t>,
    (mut stmts, tokens): (Vec<Stmt>, &'t [Token]),
    emit: &mut dyn FnMut(ParseFailure),
) -> Vec<Stmt> {
    if let Some(last) = stmts.last_mut()
        && let StmtKind::Value(expr) = &last.kind
        && let ExprKind::At { .. } = expr.kind
    {
        // `at S { … }` as a statement needs no `;`.
        last.kind = StmtKind::Expr(expr.clone());
    }
    if let Some(last) = stmts.last_mut()
        && let StmtKind::Value(_) = last.kind
    {
        let end = last.span.after();
        if let Some(closer) = tokens.last() {
            let found = closer.kind.description().to_owned();
            emit(ParseFailure::specific(GrammarError::MissingSemicolon { end, next: cx.at(closer), found }));
        }
        last.kind = StmtKind::Error;
    }
    stmts
}

/// Returns the block with a value `{ …; e }`.
fn block_value<'t>(
    cx: Text<'t>,
    (mut stmts, tokens): (Vec<Stmt>, &'t [Token]),
    emit: &mut dyn FnMut(ParseFailure),
) -> Expr {
    let span = cx.span(tokens);
    let last = stmts.pop();
    let broken = last.iter().chain(&stmts).any(|stmt| matches!(stmt.kind, StmtKind::Error));
    let kind = match last.map(|stmt| stmt.kind) {
        Some(StmtKind::Value(value)) if !stmts.is_empty() => {
            ExprKind::Block { stmts, value: Box::new(value) }
        }
        // The error has been reported.
        _ if broken => ExprKind::Error,
        last => {
            let alone = last.is_none() || matches!(last, Some(StmtKind::Value(_)));
            emit(ParseFailure::specific(GrammarError::BlockWithoutValue { span, alone }));
            ExprKind::Error
        }
    };
    expr_at(kind, span)
}

/// Returns the rule of `(x:T, p, y:U = e)`.
fn group<'t>(
    item: impl Rule<'t, Pattern>,
    ty: impl Rule<'t, TypeExpr>,
    default: impl Rule<'t, Expr>,
) -> impl Rule<'t, Vec<Param>> {
    let default = unreported(&[TokenKind::Assign]).ignore_then(default).or_not();
    let param =
        item.then(token(TokenKind::Colon).ignore_then(ty).then(default).or_not()).map(|(pattern, typed)| {
            match typed {
                Some((ty, default)) => Param { pattern, ty: Some(ty), default },
                None => Param { pattern, ty: None, default: None },
            }
        });
    token(TokenKind::LParen)
        .ignore_then(param.separated_by(token(TokenKind::Comma)).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RParen))
        .map(with_rest)
}

/// Joins `(a, ..r)` to one parameter, a tuple of a component and a rest.
fn with_rest(mut params: Vec<Param>) -> Vec<Param> {
    let rest = matches!(&params[..], [_, .., last] if matches!(last.pattern.kind, PatternKind::Rest(_)));
    let typed = params.iter().filter(|param| param.ty.is_some()).count();
    if !rest || params.iter().any(|param| param.default.is_some()) || typed != 0 && typed != params.len() {
        return params;
    }
    let span = match &params[..] {
        [first, .., last] => first.pattern.span.to(last.ty.as_ref().map_or(last.pattern.span, |ty| ty.span)),
        _ => return params,
    };
    let types: Vec<TypeExpr> = params.iter_mut().filter_map(|param| param.ty.take()).collect();
    let pattern = PatternKind::Tuple(params.into_iter().map(|param| param.pattern).collect());
    let ty = (!types.is_empty()).then_some(TypeExpr { kind: TypeExprKind::Product(types), span });
    vec![Param { pattern: Pattern { kind: pattern, span }, ty, default: None }]
}

/// Returns the rule of `var` and `val`.
fn binding<'t>(
    pattern: impl Rule<'t, Pattern>,
    ty: impl Rule<'t, TypeExpr>,
    expr: impl Rule<'t, Expr>,
) -> impl Rule<'t, StmtKind> {
    any_of(&[TokenKind::Var, TokenKind::Val])
        .then(pattern)
        .then(token(TokenKind::Colon).ignore_then(ty).or_not())
        .then_ignore(token(TokenKind::Assign))
        .then(expr)
        .then_ignore(semi())
        .map(|(((word, pattern), ty), init)| StmtKind::Let {
            mutable: word.kind == TokenKind::Var,
            pattern,
            ty,
            init,
        })
        .boxed()
}

/// Returns the rule of expressions, assignments, stores and jumps.
fn simple<'t>(
    cx: Text<'t>,
    expr: ExprRules<impl Rule<'t, Expr>, impl Rule<'t, Expr>, impl Rule<'t, Expr>>,
) -> impl Rule<'t, StmtKind> {
    let assign = name_then(ASSIGNMENTS).then(expr.full.clone()).then_ignore(semi()).map(
        move |((variable, op), value)| StmtKind::Assign {
            name: cx.name(variable),
            op: compound(op.kind),
            value,
        },
    );
    let store = token(TokenKind::Amp)
        .ignore_then(expr.place)
        .then(choice((token(TokenKind::LArrow), unreported(&ASSIGNMENTS[1..]))))
        .then(expr.full.clone())
        .then_ignore(semi())
        .map(|((place, op), value)| StmtKind::Store { place, op: compound(op.kind), value });
    let assert = assert_word(cx).then(expr.full.clone()).then_ignore(semi()).map(move |(word, condition)| {
        let span = cx.at(word).to(condition.span);
        let name = ExprKind::Name(cx.name(word));
        let (function, argument) = (Box::new(expr_at(name, cx.at(word))), Box::new(condition));
        StmtKind::Expr(expr_at(ExprKind::Apply { function, argument, form: ApplyForm::Dollar }, span))
    });
    let evaluate = expr
        .full
        .clone()
        .then(unreported(ASSIGNMENTS).then(expr.full.clone()).or_not())
        .then(choice((semi().to(true), unreported(&[TokenKind::RBrace]).rewind().to(false))))
        .map_with(move |((expr, assigned), ended), e| match assigned {
            None if !ended => StmtKind::Value(expr),
            None => StmtKind::Expr(expr),
            Some((op, value)) => {
                if op.kind == TokenKind::Assign
                    && let Some(places) = variables(&expr)
                {
                    return StmtKind::AssignAll { places, value };
                }
                e.emit(ParseFailure::specific(GrammarError::NotAVariable {
                    place: expr.span,
                    assign: cx.at(op),
                    place_kind: match expr.kind {
                        ExprKind::Dot { .. } => match compound(op.kind) {
                            None => PlaceKind::Component,
                            Some(_) => PlaceKind::CompoundComponent,
                        },
                        ExprKind::TypeArgs(..) => PlaceKind::Bracketed,
                        ExprKind::Tuple(_) => PlaceKind::Several,
                        _ => PlaceKind::Other,
                    },
                }));
                StmtKind::Error
            }
        });
    let jump =
        any_of(&[TokenKind::Break, TokenKind::Continue]).then_ignore(semi()).map(|word| match word.kind {
            TokenKind::Break => StmtKind::Break,
            TokenKind::Continue => StmtKind::Continue,
            other => unreachable!("{other:?} is no jump"),
        });
    let result =
        token(TokenKind::Return).ignore_then(expr.full.or_not()).then_ignore(semi()).map(StmtKind::Return);
    choice((assign, assert, evaluate, store, jump, result)).boxed()
}

/// Returns a tuple of names as a pattern.
fn variables(expr: &Expr) -> Option<Pattern> {
    fn inside(expr: &Expr) -> Option<Pattern> {
        let kind = match &expr.kind {
            ExprKind::Name(name) => PatternKind::Name(name.clone()),
            ExprKind::Tuple(parts) if parts.len() > 1 => {
                PatternKind::Tuple(parts.iter().map(inside).collect::<Option<_>>()?)
            }
            _ => return None,
        };
        Some(Pattern { kind, span: expr.span })
    }
    inside(expr).filter(|pattern| matches!(pattern.kind, PatternKind::Tuple(_)))
}

/// Returns the operator of a compound assignment.
fn compound(kind: TokenKind) -> Option<BinaryOp> {
    Some(match kind {
        TokenKind::PlusAssign => BinaryOp::Add,
        TokenKind::MinusAssign => BinaryOp::Sub,
        TokenKind::StarAssign => BinaryOp::Mul,
        TokenKind::SlashAssign => BinaryOp::Div,
        TokenKind::PercentAssign => BinaryOp::Rem,
        TokenKind::PowAssign => BinaryOp::Pow,
        _ => return None,
    })
}

/// Returns the rule of `if`, `match`, `for`, `while` and `do`.
fn control<'t>(
    cx: Text<'t>,
    stmt: impl Rule<'t, Stmt>,
    exprs: ExprRules<impl Rule<'t, Expr>, impl Rule<'t, Expr>, impl Rule<'t, Expr>>,
    patterns: PatternRules<impl Rule<'t, Pattern>, impl Rule<'t, Pattern>, impl Rule<'t, Pattern>>,
) -> impl Rule<'t, StmtKind> {
    let expr = exprs.full;
    let statements = sequence(cx, stmt.clone()).boxed();
    let end = token(TokenKind::Done).then_ignore(unreported(&[TokenKind::Semi]).or_not());
    let body = token(TokenKind::Do).ignore_then(statements.clone()).then_ignore(end).boxed();
    let single = token(TokenKind::Perform).ignore_then(stmt.clone()).map(|stmt| vec![stmt]).boxed();
    let either = choice((body.clone(), single.clone())).boxed();

    let arm = expr.clone().then_ignore(token(TokenKind::Do)).then(statements.clone()).boxed();
    let blocks = token(TokenKind::Do)
        .ignore_then(statements.clone())
        .then(token(TokenKind::Elif).ignore_then(arm).repeated().collect::<Vec<_>>())
        .then(token(TokenKind::Else).ignore_then(statements.clone()).or_not())
        .then_ignore(end);
    // `if c return e;`
    let jump = unreported(&[TokenKind::Return, TokenKind::Break, TokenKind::Continue])
        .rewind()
        .ignore_then(stmt.clone());
    let single_arm = choice((single, jump.map(|stmt| vec![stmt]))).map(|body| ((body, Vec::new()), None));
    // The condition is read once, whichever form follows it.
    let if_do = token(TokenKind::IfDo).ignore_then(expr.clone()).then(choice((blocks, single_arm))).map(
        |(condition, ((body, rest), otherwise))| StmtKind::If {
            arms: std::iter::once((condition, body)).chain(rest).collect(),
            otherwise,
        },
    );
    let match_arm = patterns
        .arm
        .then(token(TokenKind::When).ignore_then(expr.clone()).or_not())
        .then_ignore(token(TokenKind::FatArrow))
        .then(statements)
        .map(|((pattern, guard), body)| Arm { pattern, guard, body });
    let match_do = token(TokenKind::MatchDo)
        .ignore_then(expr.clone())
        .then_ignore(token(TokenKind::Do))
        .then_ignore(token(TokenKind::Bar).or_not())
        .then(match_arm.separated_by(token(TokenKind::Bar)).at_least(1).collect::<Vec<_>>())
        .then_ignore(end)
        .map(|(scrutinee, arms)| StmtKind::Match { scrutinee, arms });
    let up_to = indices_up_to(cx, exprs.element.clone());
    let more = another_clause(false).ignore_then(token(TokenKind::Comma)).ignore_then(exprs.element.clone());
    let tuple =
        exprs.element.then(more.repeated().collect::<Vec<_>>()).map_with(move |(first, mut rest), e| {
            if rest.is_empty() {
                return first;
            }
            rest.insert(0, first);
            expr_at(ExprKind::Tuple(rest), cx.span(e.slice()))
        });
    let walked = choice((up_to, tuple)).boxed();
    let first = patterns.full.then_ignore(token(TokenKind::In)).then(walked.clone());
    let clause = another_clause(true)
        .ignore_then(token(TokenKind::Comma))
        .ignore_then(patterns.item.then_ignore(token(TokenKind::In)).then(walked));
    let for_in = token(TokenKind::For)
        .ignore_then(first)
        .then(clause.repeated().collect::<Vec<_>>())
        .then(either.clone())
        .map(|((first, rest), mut body)| {
            // `for i in a, j in b` is a loop over `b` in a loop over `a`.
            for (pattern, iterable) in rest.into_iter().rev() {
                let span = pattern.span.to(iterable.span);
                body = vec![Stmt { kind: StmtKind::For { pattern, iterable, body }, span }];
            }
            let (pattern, iterable) = first;
            StmtKind::For { pattern, iterable, body }
        });
    let while_loop = token(TokenKind::While)
        .ignore_then(expr)
        .then(either)
        .map(|(condition, body)| StmtKind::While { condition, body });
    choice((if_do, match_do, for_in, while_loop, body.map(StmtKind::Block))).boxed()
}

/// Returns the rule of `fun f[T](x:T):T => e;` and `proc p() { … }`.
fn function<'t>(
    cx: Text<'t>,
    group: impl Rule<'t, Vec<Param>>,
    ty: impl Rule<'t, TypeExpr>,
    expr: impl Rule<'t, Expr>,
    block: impl Rule<'t, Vec<Stmt>>,
) -> impl Rule<'t, StmtKind> {
    let header = unreported(&[TokenKind::Joint])
        .or_not()
        .then(any_of(&[TokenKind::Fun, TokenKind::Proc]))
        .then(function_name(cx))
        .then(generics(cx, ty.clone()).or_not())
        .then(group.repeated().at_least(1).collect::<Vec<_>>())
        .then(token(TokenKind::Colon).ignore_then(ty).or_not())
        .map_with(move |header, e| (header, cx.span(e.slice())));
    let body = choice((
        // `=` as Felix has it.
        unreported(&[TokenKind::Assign])
            .or_not()
            .ignore_then(block)
            .then_ignore(unreported(&[TokenKind::Semi]).or_not())
            .map(Body::Block),
        choice((token(TokenKind::FatArrow), unreported(&[TokenKind::Assign])))
            .ignore_then(expr)
            .then_ignore(semi())
            .map(|e| Body::Expr(Box::new(e))),
    ));
    header
        .then(body)
        .map(move |(((((((joint, word), name), generics), params), result), header), body)| {
            let (is_proc, generics) = (word.kind == TokenKind::Proc, generics.unwrap_or_default());
            let is_joint = joint.is_some();
            let mut function = Function { is_proc, is_joint, generics, params, result, body, header };
            let word = joint.unwrap_or(word);
            function.mark_rests();
            StmtKind::Function { name, function: Box::new(function), doc: cx.doc(word) }
        })
        .boxed()
}

/// Returns the rule of `test "name" { … }` and `bench "name" { … }`.
fn test<'t>(cx: Text<'t>, block: impl Rule<'t, Vec<Stmt>>) -> impl Rule<'t, StmtKind> {
    let title = token(TokenKind::Str).map(move |t| Name { text: string_value(cx.of(t)), span: cx.at(t) });
    let bench = choice((word(cx, "test").to(false), word(cx, "bench").to(true)));
    bench
        .then(title)
        .map_with(move |title, e| (title, cx.span(e.slice())))
        .then(block)
        .then_ignore(unreported(&[TokenKind::Semi]).or_not())
        .map(|(((bench, title), header), body)| {
            let function = Function {
                is_proc: true,
                is_joint: false,
                generics: Generics::default(),
                params: vec![Vec::new()],
                result: None,
                body: Body::Block(body),
                header,
            };
            StmtKind::Test { bench, title, function: Box::new(function) }
        })
}

/// Returns the rule of a name, or an operator that a class declares and instances define.
fn function_name<'t>(cx: Text<'t>) -> impl Rule<'t, Name> {
    use TokenKind::*;
    let operator = unreported(&[
        Plus, Minus, Star, Slash, Percent, Pow, EqEq, NotEq, Less, LessEq, Greater, GreaterEq, Bang,
    ]);
    choice((name(cx), operator.map(move |token| cx.name(token))))
}

/// Returns the rule of `[T, N:COMPACTLINEAR with Add[T], Ord[T]]`.
fn generics<'t>(cx: Text<'t>, ty: impl Rule<'t, TypeExpr>) -> impl Rule<'t, Generics> {
    let constraint = path(cx).then(type_arguments(ty).or_not().map(Option::unwrap_or_default));
    token(TokenKind::LBracket)
        .ignore_then(type_param(cx).separated_by(token(TokenKind::Comma)).collect::<Vec<_>>())
        .then(
            token(TokenKind::With)
                .ignore_then(constraint.separated_by(token(TokenKind::Comma)).at_least(1).collect::<Vec<_>>())
                .or_not(),
        )
        .then_ignore(token(TokenKind::RBracket))
        .map(|(params, constraints)| Generics { params, constraints: constraints.unwrap_or_default() })
        .boxed()
}

/// Returns the rule of a type parameter.
fn type_param<'t>(cx: Text<'t>) -> impl Rule<'t, TypeParam> {
    name(cx).then(token(TokenKind::Colon).ignore_then(path(cx)).or_not()).map(|(name, kind)| TypeParam {
        name,
        kind,
        rest: false,
    })
}

/// Returns the rule of declarations of types, classes, instances and equations.
fn declared<'t>(
    cx: Text<'t>,
    stmt: impl Rule<'t, Stmt>,
    ty: impl Rule<'t, TypeExpr>,
    expr: impl Rule<'t, Expr>,
    group: impl Rule<'t, Vec<Param>>,
) -> impl Rule<'t, StmtKind> {
    let head = move |word: TokenKind| {
        let generics = generics(cx, types(cx).full);
        token(word).then(name(cx)).then(generics.or_not()).map(move |((word, name), generics)| TypeDecl {
            name,
            generics: generics.unwrap_or_default(),
            doc: cx.doc(word),
        })
    };
    let stray = unreported(&[TokenKind::Semi]).repeated();
    let optional = unreported(&[TokenKind::Semi]).or_not();

    let equals = token(TokenKind::Assign).ignore_then(ty.clone()).then_ignore(semi()).boxed();
    let typedef =
        head(TokenKind::Typedef).then(equals.clone()).map(|(decl, ty)| StmtKind::Typedef(decl, ty)).boxed();
    let label = unreported(&[TokenKind::Minus])
        .or_not()
        .then(ty.clone())
        .map(|(minus, size)| IndexLabel { negative: minus.is_some(), size })
        .boxed();
    let labels = label
        .clone()
        .then_ignore(unreported(&[TokenKind::DotDot]))
        .then(label)
        .map(|(first, last)| TypeExprKind::Labels(Box::new(first), Box::new(last)))
        .map_with(move |kind, e| TypeExpr { kind, span: cx.span(e.slice()) });
    let newtype = head(TokenKind::Newtype)
        .then_ignore(token(TokenKind::Assign))
        .then(choice((labels, ty.clone())))
        .then_ignore(semi())
        .map(|(decl, ty)| StmtKind::Newtype(decl, ty))
        .boxed();

    let field = name(cx).then_ignore(token(TokenKind::Colon)).then(ty.clone()).boxed();
    let braced = token(TokenKind::LBrace)
        .ignore_then(field.clone().separated_by(semi()).allow_trailing().collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RBrace))
        .then_ignore(optional);
    let round = token(TokenKind::LParen)
        .ignore_then(field.separated_by(token(TokenKind::Comma)).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RParen))
        .then_ignore(semi());
    let structure = head(TokenKind::Struct)
        .then(choice((braced, round)))
        .map(|(decl, fields)| StmtKind::Struct(decl, fields))
        .boxed();

    let constructor = name(cx).then(token(TokenKind::Of).ignore_then(ty.clone()).or_not());
    let variant = head(TokenKind::Variant)
        .then_ignore(token(TokenKind::Assign))
        .then_ignore(token(TokenKind::Bar).or_not())
        .then(constructor.separated_by(token(TokenKind::Bar)).at_least(1).collect::<Vec<_>>())
        .then_ignore(semi())
        .map(|(decl, constructors)| StmtKind::Variant(decl, constructors))
        .boxed();
    // A variant of constants, which the tree does not tell from others.
    let enumeration = token(TokenKind::Enum)
        .then(name(cx))
        .map(move |(word, name)| TypeDecl { name, generics: Generics::default(), doc: cx.doc(word) })
        .then_ignore(token(TokenKind::Assign))
        .then_ignore(token(TokenKind::Bar).or_not())
        .then(
            name(cx)
                .map(|case| (case, None))
                .separated_by(choice((token(TokenKind::Comma), token(TokenKind::Bar))))
                .at_least(1)
                .collect::<Vec<_>>(),
        )
        .then_ignore(semi())
        .map(|(decl, cases)| StmtKind::Variant(decl, cases))
        .boxed();

    let typefun = token(TokenKind::Typefun)
        .ignore_then(name(cx))
        .then_ignore(token(TokenKind::LParen))
        .then(type_param(cx).separated_by(token(TokenKind::Comma)).collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RParen))
        .then(token(TokenKind::Colon).ignore_then(path(cx)).or_not())
        .then_ignore(token(TokenKind::FatArrow))
        .then(ty.clone())
        .then_ignore(semi())
        .map(|(((name, params), kind), body)| StmtKind::Typefun { name, params, kind, body })
        .boxed();

    let alternatives = name(cx).separated_by(token(TokenKind::Bar)).at_least(1).collect::<Vec<_>>();
    let kind = token(TokenKind::KindWord)
        .then(name(cx))
        .then_ignore(token(TokenKind::Assign))
        .then_ignore(token(TokenKind::Bar).or_not())
        .then(alternatives)
        .then_ignore(semi())
        .map(move |((word, name), members)| StmtKind::Kind { name, members, doc: cx.doc(word) })
        .boxed();

    let party = unreported(&[TokenKind::Party])
        .then(name(cx))
        .then_ignore(token(TokenKind::Assign))
        .then_ignore(token(TokenKind::Bar).or_not())
        .then(name(cx).separated_by(token(TokenKind::Bar)).at_least(1).collect::<Vec<_>>())
        .then_ignore(semi())
        .map(move |((word, name), places)| StmtKind::Party { name, places, doc: cx.doc(word) })
        .boxed();

    let layout = word(cx, "layout")
        .ignore_then(name(cx).separated_by(token(TokenKind::Comma)).at_least(1).collect::<Vec<_>>());
    let abstract_type = head(TokenKind::Type)
        .then(layout.or_not())
        .then(token(TokenKind::Assign).ignore_then(ty.clone()).or_not())
        .then_ignore(semi())
        .map(|((decl, layout), representation)| StmtKind::Abstract {
            decl,
            layout: layout.unwrap_or_default(),
            representation,
        })
        .boxed();

    let signature = word(cx, "virtual")
        .or_not()
        .ignore_then(unreported(&[TokenKind::Joint]).or_not())
        .then_ignore(any_of(&[TokenKind::Fun, TokenKind::Proc]))
        .then(function_name(cx))
        .then(generics(cx, ty.clone()).or_not())
        .then_ignore(token(TokenKind::Colon))
        .then(ty.clone())
        .then_ignore(semi())
        .map(|(((joint, name), generics), ty)| {
            let mut generics = generics.unwrap_or_default();
            generics.mark_rests(&[&ty]);
            ClassMember::Signature { is_joint: joint.is_some(), name, generics, ty }
        });
    let law = token(TokenKind::Law)
        .ignore_then(name(cx))
        .then(group)
        .then_ignore(token(TokenKind::FatArrow))
        .then(expr)
        .then_ignore(semi())
        .map(|((name, params), body)| ClassMember::Law(name, params, body));
    let default =
        word(cx, "virtual").or_not().ignore_then(definition(stmt.clone())).map(ClassMember::Default);
    let member = choice((signature, law, default)).boxed();
    let class = head(TokenKind::Class)
        .then_ignore(token(TokenKind::LBrace))
        .then_ignore(stray)
        .then(member.then_ignore(stray).repeated().collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RBrace))
        .then_ignore(optional)
        .map(|(decl, members)| StmtKind::Class(decl, members))
        .boxed();

    let definitions = token(TokenKind::LBrace)
        .ignore_then(stray)
        .ignore_then(definition(stmt).then_ignore(stray).repeated().collect::<Vec<_>>())
        .then_ignore(token(TokenKind::RBrace))
        .then_ignore(optional);
    let instance = token(TokenKind::Instance)
        .ignore_then(generics(cx, ty.clone()).or_not())
        .then(path(cx))
        .then(type_arguments(ty.clone()).or_not())
        .then(choice((
            definitions.map(|members| (members, None)),
            refusal(cx).then_ignore(semi()).map(|text| (Vec::new(), Some(text))),
            semi().to((Vec::new(), None)),
        )))
        .map(|(((generics, class), args), (members, refusal))| {
            let (mut generics, args) = (generics.unwrap_or_default(), args.unwrap_or_default());
            generics.mark_rests(&args.iter().collect::<Vec<_>>());
            StmtKind::Instance { generics, class, args, members, refusal }
        })
        .boxed();

    let require = token(TokenKind::Require)
        .ignore_then(ty.clone())
        .then_ignore(token(TokenKind::EqEq))
        .then(ty)
        .then_ignore(semi())
        .map(|(left, right)| StmtKind::Require(left, right))
        .boxed();
    choice((
        typedef,
        newtype,
        structure,
        variant,
        enumeration,
        typefun,
        kind,
        abstract_type,
        party,
        class,
        instance,
        require,
    ))
    .boxed()
}

/// Returns the rule of a named `fun` or `proc`.
fn definition<'t>(stmt: impl Rule<'t, Stmt>) -> impl Rule<'t, Stmt> {
    let begins = choice((unreported(&[TokenKind::Joint]), any_of(&[TokenKind::Fun, TokenKind::Proc])));
    begins.rewind().ignore_then(stmt)
}
