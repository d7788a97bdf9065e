//! The grammar: tokens of one statement → its tree, or the error where it stops.
//!
//! The bracket pass has been here before: brackets match, `if` and `match` come in two tokens each,
//! nesting is bounded, and one call reads one top-level statement.
//!
//! ```text
//! statement  = ("var"|"val") pattern [":" type] "=" expr ";"
//!            | ("fun"|"proc") fname [generics] group {group} [":" type] ("=>" expr ";" | block [";"])
//!            | ("typedef"|"newtype") NAME [generics] "=" type ";"
//!            | "struct" NAME [generics] ("{" {field ";"} "}" [";"] | "(" [field {"," field}] ")" ";")
//!            | "variant" NAME [generics] "=" ["|"] ctor {"|" ctor} ";"
//!            | "typefun" NAME "(" [tparam {"," tparam}] ")" [":" PATH] "=>" type ";"
//!            | "kind" NAME "=" ["|"] NAME {"|" NAME} ";"
//!            | "type" NAME [generics] ["layout" NAME {"," NAME}] ["=" type] ";"
//!            | "class" NAME [generics] "{" {member} "}" [";"]
//!            | "instance" [generics] PATH [targs] ("{" {function} "}" [";"] | ";")
//!            | "require" type "==" type ";"
//!            | "export" statement                  one of the above
//!            | ("test" | "bench") STRING block [";"]   no keywords
//!            | "import" (STRING | NAME) ["as" NAME] ["(" ("*" | NAME {"," NAME}) ")"] ";"
//!            | NAME ("="|"+="|"-="|"*="|"/="|"%="|"**=") expr ";"
//!            | "&" dotted "<-" expr ";"
//!            | "if" expr ("do" stmts {"elif" expr "do" stmts} ["else" stmts] "done" [";"] | "perform" statement)
//!            | "match" expr "do" ["|"] sarm {"|" sarm} "done" [";"]
//!            | "for" pattern "in" expr body | "while" expr body | "do" stmts "done" [";"]
//!            | "break" ";" | "continue" ";" | "return" [expr] ";" | expr ";"
//! body       = "do" stmts "done" [";"] | "perform" statement
//! block      = "{" stmts "}"               stmts = {statement | ";"}
//! sarm       = pattern ["when" expr] "=>" stmts
//! group      = "(" [param {"," param}] ")"  param = pitem [":" type]
//! generics   = "[" [tparam {"," tparam}] ["with" constraint {"," constraint}] "]"
//! tparam     = NAME [":" PATH]              constraint = PATH [targs]
//! field      = NAME ":" type                ctor = NAME ["of" type]
//! member     = ("fun"|"proc") fname [generics] ":" type ";" | function | "law" NAME group "=>" expr ";"
//! fname      = NAME | "+" | "-" | "*" | "/" | "%" | "**" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "!"
//!
//! expr       = pipe {(":>>"|":>") type}
//! pipe       = dollar {"|>" dollar}
//! dollar     = tuple ["$" dollar]
//! tuple      = compact {"," compact}        one flat node
//! compact    = operators {"\," operators}   one flat node
//! operators  = operand, and from loose to tight:
//!              "or" · "and" · prefix "not" · "== != < <= > >=" (no chain) · ".." "..<" ·
//!              "+ -" · "* / %" · prefix "- !" · "**" (right)
//! operand    = dotted {dotted}              application, left; an argument that begins a line is
//!                                           indented deeper than its statement
//!            | "case" INT ("of" sum | dotted) | "proj" INT "of" sum
//!            | "aproj" dotted {dotted} "of" sum
//!            | ("fun"|"proc") group {group} [":" type] ("=>" element | block)
//! element    = expr without a bare tuple: between commas
//! dotted     = {"#"} atom {"." key}
//! key        = PATH [targs] | INT | "(" … ")" | tick
//! atom       = PATH [targs] | INT | REAL | SUFFIXED | CHAR | STRING | "true" | "false" | tick
//!            | "(" ")" | "(" expr ")" | "(" NAME "=" element {"," NAME "=" element} ")"
//!            | "[" [element {"," element} [","]] "]"
//!            | "[" element "for" pitem "in" element {"," pitem "in" element} "]"
//!            | ".." "[" type "]"
//!            | "if" expr "then" expr {"elif" expr "then" expr} "else" expr "endif"
//!            | "match" expr "with" ["|"] arm {"|" arm} "endmatch"
//! arm        = pattern ["when" expr] "=>" expr
//! tick       = "`" INT ":" tatom
//! targs      = "[" type {"," type} "]"      touching the name before it
//! PATH       = NAME {"::" NAME}             without blanks
//!
//! type       = sum ["->" type]
//! sum        = csum {"+" csum}              csum = product {"\+" product}
//! product    = cproduct {("*"|"*+") cproduct}
//! cproduct   = power {"\*" power}           power = tatom {("^"|"\^") tatom}
//! tatom      = PATH [targs | tcall] | INT | "(" ")" | "(" type ")" | "(" field {"," field} ")"
//!            | "?" NAME | "_" | "typematch" tlist "with" ["|"] tarm {"|" tarm} "endmatch"
//! tarm       = tlist "=>" type              tlist = type | "(" type "," type {"," type} ")"
//! tcall      = "(" [type {"," type}] ")"    touching the name before it
//!
//! pattern    = pitem {"," pitem}            one flat node
//! pitem      = psingle {"\," psingle} {"as" NAME}
//! psingle    = PATH [patom] | "case" INT [patom] | "-" (INT|REAL|SUFFIXED) | patom
//! patom      = PATH | "_" | INT | REAL | SUFFIXED | CHAR | STRING | "true" | "false" | tick
//!            | "(" ")" | "(" pattern [":" type] ")" | "(" NAME "=" pitem {"," NAME "=" pitem} ")"
//! ```

mod expr;
mod module;
mod pattern;
pub(crate) mod rule;
mod stmt;
mod types;

use super::ast::{Expr, Stmt, TypeExpr};
use super::error::SyntaxError;
use super::lexer::{Kind, Token};
use chumsky::prelude::*;
use rule::{Extra, Fail, Input, Label, Text, bit};

/// The grammar over one text, built once and used for each of its statements.
pub(crate) struct Grammar<'t> {
    cx: Text<'t>,
    statement: Boxed<'t, 't, Input<'t>, Stmt, Extra>,
}

/// What one statement gave.
pub(crate) struct Outcome<T> {
    pub tree: Option<T>,
    pub errors: Vec<SyntaxError>,
    /// It would have gone on where its tokens end.
    pub ends_early: bool,
}

impl<'t> Grammar<'t> {
    pub fn new(cx: Text<'t>) -> Grammar<'t> {
        Grammar { cx, statement: stmt::statement(cx).boxed() }
    }

    /// Reads one statement; `next` is the token after it, for messages.
    pub fn statement(&self, tokens: &'t [Token], next: Option<&Token>) -> Outcome<Stmt> {
        run(self.cx, &self.statement, tokens, next)
    }
}

/// Reads one expression; `tokens` end in a `;`.
pub(crate) fn expression<'t>(cx: Text<'t>, tokens: &'t [Token]) -> Outcome<Expr> {
    run(cx, &stmt::expression(cx), tokens, None)
}

/// Reads one type; `tokens` end in a `;`.
pub(crate) fn type_expression<'t>(cx: Text<'t>, tokens: &'t [Token]) -> Outcome<TypeExpr> {
    run(cx, &types::types(cx).full.then_ignore(rule::tok(Kind::Semi)), tokens, None)
}

fn run<'t, T>(
    cx: Text<'t>,
    rule: &impl Parser<'t, Input<'t>, T, Extra>,
    tokens: &'t [Token],
    next: Option<&Token>,
) -> Outcome<T> {
    let (tree, fails) = rule.parse(tokens).into_output_errors();
    let mut ends_early = false;
    let errors = fails.into_iter().map(|fail| explain(cx, fail, tokens, next, &mut ends_early)).collect();
    Outcome { tree, errors, ends_early }
}

/// Finds the words for a failure.
fn explain(
    cx: Text<'_>,
    fail: Fail,
    tokens: &[Token],
    next: Option<&Token>,
    ends_early: &mut bool,
) -> SyntaxError {
    if let Some(said) = fail.said {
        return *said;
    }
    let expected = fail.expected;
    let before = fail.at.checked_sub(1).and_then(|at| tokens.get(at));
    let real = tokens.get(fail.at).filter(|t| !t.synthetic);
    let found = real.or(next);
    let after = before.map(|t| (words(cx, t), cx.at(t)));
    let operators = bit(Kind::Plus) | bit(Kind::Semi);
    let operator_fits = expected & bit(Kind::Plus) != 0;
    let in_type = expected & bit(Kind::Arrow) != 0;
    let Some(found) = found else {
        *ends_early = true;
        let end = before.map_or(cx.span(tokens), |t| cx.at(t)).after();
        let after = after.map_or_else(|| "the beginning".to_owned(), |(words, _)| words);
        return SyntaxError::UnfinishedStatement { end, after, expected: wanted(expected) };
    };
    let at = cx.at(found);
    match found.kind {
        Kind::Assign if operator_fits && !in_type => return SyntaxError::AssignForEqual { span: at },
        Kind::LArrow if operator_fits && !in_type => return SyntaxError::StoreInExpression { span: at },
        Kind::Comma if in_type && expected & bit(Kind::RParen) != 0 => {
            return SyntaxError::CommaInType { span: at };
        }
        Kind::LBracket
            if !found.glued
                && before.is_some_and(|t| matches!(t.kind, Kind::Name | Kind::Qualified))
                && (in_type || tokens.first().is_some_and(|t| t.kind == Kind::Instance)) =>
        {
            let gap = before.map_or(at, |t| cx.at(t).after().to(crate::source::Span { end: at.start, ..at }));
            return SyntaxError::DetachedTypeArguments { bracket: at, gap };
        }
        kind if kind.is_keyword()
            && !matches!(kind, Kind::In | Kind::Of)
            && (expected & bit(Kind::Name) != 0 || expected == Label::Pattern.bit())
            && expected & (Label::Expression.bit() | bit(Kind::RParen) | bit(Kind::RBracket)) == 0
            || kind.is_keyword() && expected == Label::Pattern.bit() =>
        {
            return SyntaxError::KeywordAsName { span: at, word: kind.words() };
        }
        _ => {}
    }
    if expected & operators != 0
        && expected & bit(Kind::Semi) != 0
        && let Some(before) = before
    {
        let line_break =
            cx.text.get(before.end as usize..found.start as usize).is_some_and(|g| g.contains('\n'));
        let goes_on = found.kind.is_keyword() || found.kind.ends_operand() || found.kind.begins_operand();
        let closes = matches!(found.kind, Kind::RBrace | Kind::Done | Kind::Elif | Kind::Else | Kind::Bar);
        // `a || b` is meant as `or`, not as the next arm.
        let doubled = found.kind == Kind::Bar && tokens.get(fail.at + 1).is_some_and(|t| t.kind == Kind::Bar);
        let closes = closes && !doubled;
        if closes || (goes_on && line_break) || found.kind.begins_statement() || real.is_none() {
            return SyntaxError::MissingSemicolon { end: cx.at(before), next: at, found: words(cx, found) };
        }
    }
    let hint = hint(before, found, expected);
    SyntaxError::Unexpected { found: words(cx, found), at, after, expected: wanted(expected), hint }
}

/// A token in words: names and literals as they are written.
pub(crate) fn words(cx: Text<'_>, token: &Token) -> String {
    match token.kind {
        Kind::Name | Kind::Qualified | Kind::Int | Kind::Real | Kind::Suffixed | Kind::Char
            if token.end - token.start <= 40 =>
        {
            format!("`{}`", cx.of(token))
        }
        kind => kind.words().to_owned(),
    }
}

/// What could stand there, in few words: operators and openers are gathered.
fn wanted(mut expected: u128) -> Vec<&'static str> {
    let mut out = Vec::new();
    // After an operand an argument may follow, after a name in a pattern its argument: neither is
    // what is missing.
    if expected & bit(Kind::Plus) != 0 {
        expected &= !Label::Expression.bit();
    }
    if expected & (bit(Kind::Assign) | bit(Kind::In) | bit(Kind::FatArrow) | bit(Kind::RParen)) != 0 {
        expected &= !Label::Pattern.bit();
    }
    for label in [Label::Statement, Label::Expression, Label::Type, Label::Pattern] {
        if expected & label.bit() != 0 {
            expected &= !label.bit();
            out.push(label.words());
            // What begins one is not said again.
            for kind in [Kind::Not, Kind::Minus, Kind::Bang] {
                expected &= !bit(kind);
            }
        }
    }
    // What follows `export`.
    if expected & bit(Kind::Fun) != 0 && expected & bit(Kind::Typedef) != 0 {
        expected = 0;
        out.push("a definition");
    }
    let operator = expected & bit(Kind::Plus) != 0;
    for kind in OPERATORS {
        expected &= !bit(*kind);
    }
    let name = expected & bit(Kind::Name) != 0;
    if name {
        out.push(Kind::Name.words());
    }
    expected &= !bit(Kind::Name);
    // Closers and separators, in the order of the token list.
    for kind in SAID {
        if expected & bit(*kind) != 0 {
            out.push(kind.words());
        }
    }
    if operator && out.len() < 4 {
        out.insert(0, "an operator");
    }
    out.truncate(5);
    out
}

const OPERATORS: &[Kind] = {
    use Kind::*;
    &[
        Plus, Minus, Star, Slash, Percent, Pow, EqEq, NotEq, Less, LessEq, Greater, GreaterEq, DotDot,
        DotDotLess, And, Or, Dot, Dollar, Pipe, Reshape, Convert, Caret, CCaret, CStar, CPlus, StarPlus,
        Arrow, CComma, Hash, As,
    ]
};

/// What messages may offer beside operators.
const SAID: &[Kind] = {
    use Kind::*;
    &[
        Semi, Colon, Assign, FatArrow, LBrace, LParen, LBracket, RParen, RBracket, RBrace, Comma, In, Do,
        Perform, Then, Elif, Else, Endif, With, When, Bar, Endmatch, Of, Done, For, Int, Real, EqEq, LArrow,
        Fun, Proc, Law, Question, Tick,
    ]
};

/// What to write instead, for what is often meant.
fn hint(before: Option<&Token>, found: &Token, expected: u128) -> Option<String> {
    let wants = |kind| expected & bit(kind) != 0;
    let words = match found.kind {
        _ if before.is_some_and(|t| t.kind == Kind::Export) => {
            "`export` stands before what the module defines: `fun`, `proc`, `val`, a type or a class"
        }
        Kind::Qualified if wants(Kind::Name) => {
            "`::` reaches into an imported module; what is defined here has a name without it"
        }
        Kind::Amp if wants(Kind::And) => "conditions are joined by `and`",
        Kind::Bar if wants(Kind::Or) => "conditions are joined by `or`",
        Kind::Arrow if wants(Kind::FatArrow) => "the type of the result follows `:`",
        Kind::LBrace if wants(Kind::LParen) => "a function has parameters: write `()` if it needs none",
        Kind::Fun if expected & Label::Expression.bit() != 0 => {
            "a function without a name is written `fun (x:T) => e`"
        }
        Kind::Question if wants(Kind::Plus) => "a choice is written `if c then a else b endif`",
        Kind::IfDo if expected & Label::Expression.bit() != 0 => {
            "an `if` with `do` is a statement; an expression is `if … then … else … endif`"
        }
        Kind::MatchDo if expected & Label::Expression.bit() != 0 => {
            "a `match` with `do` is a statement; an expression is `match … with … endmatch`"
        }
        Kind::Assign if wants(Kind::FatArrow) => "the body of a function follows `=>`, or stands in `{ }`",
        Kind::FatArrow if wants(Kind::Assign) => "a definition of a value or type is written with `=`",
        Kind::Do if wants(Kind::Then) => {
            "an `if` with `do` is a statement; inside an expression write `then`"
        }
        Kind::Then if wants(Kind::Do) => "an `if` with `then` is an expression; as a statement write `do`",
        Kind::LBrace if wants(Kind::Do) => "the body of a loop or a branch is written `do … done`",
        Kind::Endif if wants(Kind::Else) => "an `if` expression needs its `else`: it must have a value",
        Kind::Caret if !wants(Kind::Caret) => "`^` builds array types; the power of numbers is `**`",
        Kind::CStar | Kind::CPlus | Kind::CCaret if !wants(Kind::CStar) => {
            "`\\*`, `\\+` and `\\^` build compact types; types follow `:`, `of`, `:>>` or stand in `..[ ]`"
        }
        Kind::StarPlus => "`*+` builds types: `3 *+ int`; write `* +` apart otherwise",
        Kind::Minus if before.is_some_and(|t| t.kind == Kind::Int) && wants(Kind::Of) => {
            "a negative argument stands in parentheses: `case 0 (-1)`"
        }
        // After `:> T` what follows belongs to the type, as far as it can.
        Kind::Slash | Kind::Percent | Kind::Minus | Kind::Pow | Kind::Real
            if wants(Kind::Star) && !wants(Kind::Slash)
                || found.kind == Kind::Real && expected & Label::Type.bit() != 0 =>
        {
            "to go on calculating after a type, put parentheses around, as in `(x :> real) / 2.0`"
        }
        Kind::PlusAssign | Kind::MinusAssign => "a compound assignment is a statement of its own",
        _ if wants(Kind::Assign) && wants(Kind::Colon) && !wants(Kind::FatArrow) => {
            "a binding is written `val x = e;` or `val x : T = e;`"
        }
        _ => return None,
    };
    Some(words.to_owned())
}
