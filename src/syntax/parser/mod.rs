//! The grammar: tokens of one statement → its tree, or the error where it stops.
//!
//! The bracket pass has been here before: brackets match, `if` and `match` come in two tokens each,
//! nesting is bounded, and one call reads one top-level statement.
//!
//! ```text
//! statement  = ("var"|"val") pattern [":" type] "=" expr ";"
//!            | ("fun"|"proc") fname [generics] group {group} [":" type] (("=>" | "=") expr ";" | ["="] block [";"])
//!            | ("typedef"|"newtype") NAME [generics] "=" type ";"
//!            | "struct" NAME [generics] ("{" {field ";"} "}" [";"] | "(" [field {"," field}] ")" ";")
//!            | "variant" NAME [generics] "=" ["|"] ctor {"|" ctor} ";"
//!            | "enum" NAME "=" ["|"] NAME {("," | "|") NAME} ";"
//!            | "typefun" NAME "(" [tparam {"," tparam}] ")" [":" PATH] "=>" type ";"
//!            | "kind" NAME "=" ["|"] NAME {"|" NAME} ";"
//!            | "type" NAME [generics] ["layout" NAME {"," NAME}] ["=" type] ";"
//!            | "class" NAME [generics] "{" {member} "}" [";"]
//!            | "instance" [generics] PATH [targs] ("{" {function} "}" [";"] | ["error" STRING] ";")   no keyword
//!            | "require" type "==" type ";"
//!            | "export" statement                  one of the above
//!            | ("test" | "bench") STRING block [";"]   no keywords
//!            | "import" (STRING | NAME) ["as" NAME] ["(" ("*" | NAME {"," NAME}) ")"] ";"
//!            | NAME ("="|"+="|"-="|"*="|"/="|"%="|"**=") expr ";"
//!            | pattern "=" expr ";"              a tuple of names
//!            | "&" dotted ("<-"|"+="|"-="|"*="|"/="|"%="|"**=") expr ";"
//!            | "if" expr ("do" stmts {"elif" expr "do" stmts} ["else" stmts] "done" [";"] | "perform" statement)
//!            | "if" expr ("break" ";" | "continue" ";" | "return" [expr] ";")
//!            | "match" expr ("do" ["|"] sarm {"|" sarm} "done" | "with" ["|"] sarm {"|" sarm} "endmatch") [";"]
//!            | "for" pattern "in" walked {"," pitem "in" walked} body
//!            | "while" expr body | ("do" stmts "done" | "begin" stmts "end") [";"]
//!            | "assert" expr ";"                `begin`, `end`, `assert`, `upto`, `virtual`: no keywords
//!            | "break" ";" | "continue" ";" | "return" [expr] ";" | expr ";"
//! body       = "do" stmts "done" [";"] | "perform" statement
//! block      = "{" stmts "}"               stmts = {statement | ";"}
//! walked     = [".." | "..<"] element | element {"," element}
//! sarm       = alts ["when" expr] "=>" stmts
//! group      = "(" [param {"," param}] ")"  param = pitem [":" type ["=" element]]
//! generics   = "[" [tparam {"," tparam}] ["with" constraint {"," constraint}] "]"
//! tparam     = NAME [":" PATH]              constraint = PATH [targs]
//! field      = NAME ":" type                ctor = NAME ["of" type]
//! member     = ["virtual"] ("fun"|"proc") fname [generics] ":" type ";" | ["virtual"] function
//!            | "law" NAME group "=>" expr ";"
//! fname      = NAME | "+" | "-" | "*" | "/" | "%" | "**" | "==" | "!=" | "<" | "<=" | ">" | ">=" | "!"
//!
//! expr       = tuple ["$" expr]
//! tuple      = compact {"," compact} ["," ".." compact]       one flat node
//! compact    = pipe {"\," pipe} ["\," ".." pipe]              one flat node
//! pipe       = operators {"|>" operators}
//! operators  = operand, and from loose to tight:
//!              "or" · "and" · prefix "not" · "== != < <= > >= in" (no chain) · ".." "..<" "upto" ·
//!              "+ -" · "* / %" · {(":>>"|":>") ctype} · prefix "- !" · "**" (right) ·
//!              {"with" "(" NAME "=" element {"," NAME "=" element} ")"}
//! operand    = dotted {dotted}              application, left; an argument that begins a line is
//!                                           indented deeper than its statement
//!            | "case" INT ("of" sum | dotted) | "proj" INT "of" sum
//!            | ("aproj"|"ainj") [dotted {dotted}] "of" sum
//!            | NAME "of" sum
//!            | ("fun"|"proc") group {group} [":" type] ("=>" element | block)
//!            | ("fun"|"proc") NAME "=>" element
//!            | "let" pitem [":" type] "=" expr "in" element      no keyword
//!            | "{" stmts expr "}"             one statement at least
//! element    = expr without a bare tuple: between commas
//! spread     = "." "." "." element | NAME "=" element
//! dotted     = {"#"} atom {"." key}
//! key        = PATH [targs] | INT | "(" … ")" | tick
//! atom       = PATH [targs] | INT | REAL | SUFFIXED | CHAR | STRING | "true" | "false" | tick
//!            | "f" STRING                        touching; in it {x}, {x:8}, {x:8.3} with x an element
//!            | "(" ")" | "(" expr ")" | "(" NAME "=" element {"," NAME "=" element} ")"
//!            | "(" NAME "=" pipe "\," NAME "=" pipe {"\," NAME "=" pipe} ")"
//!            | "(" spread {"," spread} ")" | "(" element {"," element} {"," NAME "=" element} ")"
//!            | "[" [element {"," element} [","]] "]"
//!            | "[" element "for" pitem "in" element {"," pitem "in" element} [("if" | "when") element] "]"
//!            | ".." "[" type "]" | "_"                as a key, or in one: all of an axis
//!            | "if" expr "then" expr {"elif" expr "then" expr} "else" expr "endif"
//!            | "match" expr "with" ["|"] arm {"|" arm} "endmatch"
//! arm        = alts ["when" expr] "=>" expr
//! tick       = "`" INT ":" tatom
//! targs      = "[" type {"," type} "]"      touching the name before it
//! PATH       = NAME {"::" NAME}             without blanks
//!
//! In version 0.1 (see `edition`):
//! expr       = pipe {(":>>"|":>") type}     pipe = dollar {"|>" dollar}
//! dollar     = tuple ["$" dollar]           compact = operators {"\," operators}
//!
//! type       = sum ["->" type]
//! sum        = csum {"+" csum}              csum = product {"\+" product}
//! product    = cproduct {("*"|"*+") cproduct}
//! ctype      = cproduct {"\+" cproduct}
//! cproduct   = power {"\*" power}           power = tatom {("^"|"\^") tatom}
//! tatom      = PATH [targs | tcall] | INT | "(" ")" | "(" type ")" | "(" field {"," field} ")"
//!            | "(" field "\," field {"\," field} ")"
//!            | "error" STRING | "?" NAME | ".." NAME | "_" | "typematch" tlist "with" ["|"] tarm {"|" tarm} "endmatch"
//! tarm       = tlist "=>" type              tlist = type | "(" type "," type {"," type} ")"
//! tcall      = "(" [type {"," type}] ")"    touching the name before it
//!
//! alts       = pattern {"|" pattern}        one flat node
//! pattern    = pitem {"," pitem}            one flat node
//! pitem      = psingle {"\," psingle} {"as" NAME}
//! psingle    = PATH [patom] | "case" INT [patom] | "case" patom patom | pend [(".." | "..<") pend] | patom
//!            | ".." (NAME | "_")               last in a tuple
//! pend       = ["-"] (INT|REAL|SUFFIXED) | CHAR
//! patom      = PATH | "_" | INT | REAL | SUFFIXED | CHAR | STRING | "true" | "false" | tick
//!            | "(" ")" | "(" alts [":" type] ")" | "(" NAME "=" pitem {"," NAME "=" pitem} ")"
//!            | "(" NAME "=" psingle "\," NAME "=" psingle {"\," NAME "=" psingle} ")"
//! ```

mod expr;
mod module;
mod pattern;
pub(crate) mod rule;
mod stmt;
mod types;

use super::ast::{Expr, Stmt, TypeExpr};
use super::edition::Edition;
use super::error::SyntaxError;
use super::foreign_keywords;
use super::lexer::{Kind, Token};
use crate::source::Span;
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
        // `let x = 5;` reads as an assignment to `let x`.
        if let SyntaxError::NotAVariable { place, .. } = &*said {
            let at = tokens.partition_point(|t| t.start < place.start);
            return foreign_word(cx, tokens, at).unwrap_or(*said);
        }
        return *said;
    }
    if let Some(error) = foreign_word(cx, tokens, fail.at) {
        return error;
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
        // `val a = 1, b = 2;` declares several names.
        Kind::Assign if operator_fits && !in_type && several_bindings(tokens, fail.at) => {
            let hint = "each name has a `val` of its own: `val a = 1; val b = 2;`, or `val a, b = 1, 2;`";
            let (found, expected) = (words(cx, found), wanted(expected));
            return SyntaxError::Unexpected { found, at, after, expected, hint: Some(hint.to_owned()) };
        }
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
    if matches!(found.kind, Kind::Dot | Kind::LParen | Kind::Name | Kind::Qualified | Kind::Hash)
        && cx.edition == Edition::V02
        && expected & bit(Kind::CStar) != 0
        && let Some(cast) = cast_before(cx, tokens, fail.at)
    {
        return SyntaxError::AfterCast { at, found: words(cx, found), cast };
    }
    let around = Around { cx, tokens, at: fail.at, before, found };
    let hint = hint(&around, expected);
    SyntaxError::Unexpected { found: words(cx, found), at, after, expected: wanted(expected), hint }
}

/// The `x :>> T` that ends before a token.
fn cast_before(cx: Text<'_>, tokens: &[Token], at: usize) -> Option<Span> {
    use Kind::*;
    let before = tokens.get(..at)?;
    // Back over one bracket after the other.
    let mut depth = 0u32;
    let mut cast = false;
    let mut begin = 0;
    for (place, token) in before.iter().enumerate().rev() {
        match token.kind {
            RParen | RBracket | RBrace | Endif | Endmatch => depth += 1,
            LParen | LBracket | LBrace | If | Match if depth > 0 => depth -= 1,
            _ if depth > 0 => {}
            Reshape | Convert => cast = true,
            kind if cast && !kind.ends_operand() && !matches!(kind, Dot | Hash | Tick | Colon) => {
                begin = place + 1;
                break;
            }
            LParen | LBracket | LBrace | Semi => return None,
            _ => {}
        }
    }
    let (first, last) = (before.get(begin)?, before.last()?);
    cast.then(|| cx.at(first).to(cx.at(last)))
}

/// Whether a statement that declares a variable has come to a second `=` of its own.
fn several_bindings(tokens: &[Token], at: usize) -> bool {
    use Kind::*;
    let mut depth = 0i32;
    let mut assigned = false;
    let mut listed = false;
    for token in tokens.iter().take(at) {
        match token.kind {
            LParen | LBracket | LBrace | If | Match => depth += 1,
            RParen | RBracket | RBrace | Endif | Endmatch => depth -= 1,
            Assign if depth == 0 => assigned = true,
            Comma if depth == 0 => listed = assigned,
            _ => {}
        }
    }
    tokens.first().is_some_and(|t| matches!(t.kind, Val | Var)) && depth == 0 && listed
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
        DotDotLess, Upto, And, Or, Dot, Dollar, Pipe, Reshape, Convert, Caret, CCaret, CStar, CPlus,
        StarPlus, Arrow, CComma, Hash, As,
    ]
};

/// What messages may offer beside operators.
const SAID: &[Kind] = {
    use Kind::*;
    &[
        Semi, Colon, Assign, FatArrow, LBrace, LParen, LBracket, RParen, RBracket, RBrace, Comma, In, Do,
        Perform, Then, Elif, Else, Endif, With, When, Bar, Endmatch, Of, Done, For, Int, Real, Str, EqEq,
        LArrow, Fun, Proc, Law, Question, Tick,
    ]
};

/// The word of another language that begins the statement in which `at` stands, if one does.
pub(crate) fn foreign_word(cx: Text<'_>, tokens: &[Token], at: usize) -> Option<SyntaxError> {
    use Kind::*;
    let before = tokens.get(..at)?;
    let ends = |t: &Token| matches!(t.kind, Semi | LBrace | RBrace | Do | Done | Else | Perform);
    let begin = before.iter().rposition(ends).map_or(0, |end| end + 1);
    if let [first, second, ..] = tokens.get(begin..).unwrap_or_default()
        && (first.kind == Hash && second.start > first.end
            || first.kind == Minus && second.kind == Minus && second.start == first.end)
    {
        let sign = if first.kind == Hash { cx.at(first) } else { cx.at(first).to(cx.at(second)) };
        return Some(SyntaxError::ForeignComment { sign });
    }
    // What follows the word may be in brackets of its own: `enum color { Red, Green }`.
    [begin, 0].into_iter().find_map(|begin| {
        let first = tokens.get(begin).filter(|t| t.kind == Name)?;
        let next = tokens.get(begin + 1)?;
        // A name that is called, assigned or selected from is one of the program.
        let used = matches!(next.kind, Dot | Dollar | Pipe) || ASSIGNING.contains(&next.kind);
        let called = next.kind == LParen && !matches!(cx.of(first), "switch" | "catch" | "foreach");
        if used || called {
            return None;
        }
        let instead = foreign_keywords::statement(cx.of(first))?;
        Some(SyntaxError::ForeignWord { span: cx.at(first), word: cx.of(first).to_owned(), instead })
    })
}

/// What gives a name on its left a value.
const ASSIGNING: &[Kind] = {
    use Kind::*;
    &[Assign, PlusAssign, MinusAssign, StarAssign, SlashAssign, PercentAssign, PowAssign]
};

/// The place where a statement stopped being read.
struct Around<'t> {
    cx: Text<'t>,
    tokens: &'t [Token],
    at: usize,
    before: Option<&'t Token>,
    found: &'t Token,
}

impl Around<'_> {
    /// Whether the statement declares a variable.
    fn binds(&self) -> bool {
        self.tokens.first().is_some_and(|t| matches!(t.kind, Kind::Val | Kind::Var))
    }

    /// Whether a word is this one, two places before.
    fn named(&self, word: &str) -> bool {
        let name = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        name.is_some_and(|t| self.cx.of(t) == word)
    }

    /// Whether the token found touches the one before it.
    fn glued(&self) -> bool {
        self.before.is_some_and(|before| before.end == self.found.start)
    }

    /// The kind of a token after the one found.
    fn later(&self, n: usize) -> Option<Kind> {
        self.tokens.get(self.at + n).map(|t| t.kind)
    }

    fn is_before(&self, kind: Kind) -> bool {
        self.before.is_some_and(|t| t.kind == kind)
    }

    /// A word before this place in the statement.
    fn after(&self, kind: Kind) -> bool {
        self.tokens.iter().take(self.at).any(|t| t.kind == kind)
    }

    /// What a sign that stands in no program of this language is written as.
    fn sign(&self) -> Option<&'static str> {
        use Kind::*;
        let (found, before) = (self.found.kind, self.before.map(|t| t.kind));
        Some(match (before?, found) {
            (Plus, Plus) if self.later(1) == Some(Semi) => "write `x += 1;`",
            (Plus, Plus) => "texts are joined by `+`, arrays by `join (a, b)`",
            (Less, Greater) => "compare with `!=`",
            (EqEq, Assign) => "compare with `==`",
            (Plus | Minus | Star | Slash | Less | Greater | EqEq, RParen | Comma) => {
                "an operator is no value by itself: write `fun (a, b) => a + b`"
            }
            (LParen | Comma, Plus | Star | Slash | Less | Greater | EqEq | And | Or) => {
                "an operator is no value by itself: write `fun (a, b) => a + b`"
            }
            (Colon, Assign) => "write `val x = e;`",
            (Less, Less) => "`shl (a, n)` shifts the bits of an integer to the left",
            (Greater, Greater) => "`shr (a, n)` shifts the bits of an integer to the right",
            (Name, Not) => "`not` binds looser than application: write `f (not c)`",
            (_, Amp) if self.later(1) != Some(Amp) => {
                "conditions are joined by `and`, the bits of integers by `band (a, b)`"
            }
            (LParen | LBracket | Comma | Assign | FatArrow, Bar) => return None,
            (_, Bar) if self.later(1) != Some(Bar) && !self.after(With) && !self.after(MatchDo) => {
                "conditions are joined by `or`, the bits of integers by `bor (a, b)`"
            }
            (_, Colon) if self.later(1) == Some(Assign) => {
                "write `val x = e;` for a new name, `x = e;` to give a variable another value"
            }
            (_, Colon) if self.later(1) == Some(Colon) => {
                "`cons (x, xs)` puts an element before others; `::` without blanks reaches into an imported module"
            }
            (Name, Bang) if self.glued() => "there are no macros: write the call without `!`",
            _ => return None,
        })
    }
}

/// What to write instead, for what is often meant.
fn hint(around: &Around<'_>, expected: u128) -> Option<String> {
    let wants = |kind| expected & bit(kind) != 0;
    let (before, found) = (around.before, around.found);
    let operand = expected & Label::Expression.bit() != 0;
    let in_type = expected & Label::Type.bit() != 0;
    let words = match found.kind {
        _ if before.is_some_and(|t| t.kind == Kind::Export) => {
            "`export` stands before what the module defines: `fun`, `proc`, `val`, a type or a class"
        }
        Kind::Qualified if wants(Kind::Name) => {
            "`::` reaches into an imported module; what is defined here has a name without it"
        }
        Kind::Amp if wants(Kind::And) => "conditions are joined by `and`",
        Kind::Bar if wants(Kind::Or) => "conditions are joined by `or`",
        _ if (wants(Kind::Plus) || operand || in_type) && around.sign().is_some() => around.sign()?,
        Kind::Arrow if wants(Kind::FatArrow) && wants(Kind::LBrace) => "the type of the result follows `:`",
        Kind::Arrow if wants(Kind::FatArrow) => "`=>` stands between a pattern, or parameters, and the value",
        Kind::FatArrow | Kind::Arrow if wants(Kind::Plus) && !wants(Kind::FatArrow) => {
            "a function without a name is written `fun (x) => e`"
        }
        Kind::LBrace if operand && !wants(Kind::Plus) => {
            "a record is written `(x=1, y=2)`, an array `[1, 2, 3]`, a block `do … done`"
        }
        Kind::LBrace if in_type && !wants(Kind::Plus) => "the type of a record is written `(x:int, y:real)`",
        Kind::Name
            if wants(Kind::LParen) && (around.is_before(Kind::Fun) || around.is_before(Kind::Proc)) =>
        {
            "a function without a name is written `fun (x, y) => e`, or `fun x => e`"
        }
        Kind::Arrow | Kind::Colon
            if (around.named("fun") || around.named("proc")) && around.is_before(Kind::Name) =>
        {
            "a function without a name is written `fun (x:int) => e`, or `fun x => e`"
        }
        Kind::LBrace if wants(Kind::Assign) && around.after(Kind::Enum) => {
            "the cases of an enumeration follow `=`: `enum shade = Dark, Light;`"
        }
        Kind::Of | Kind::LParen if around.after(Kind::Enum) => {
            "the cases of an `enum` are constants: a `variant` has cases with arguments, `Circle of real`"
        }
        Kind::LParen if wants(Kind::Of) && around.after(Kind::Variant) => {
            "the argument of a case follows `of`, as in `Circle of real`"
        }
        Kind::In if wants(Kind::RParen) && around.after(Kind::For) => {
            "no parentheses stand around what a loop walks: `for x in xs do … done`"
        }
        Kind::Semi if wants(Kind::FatArrow) && wants(Kind::LBrace) && around.after(Kind::Class) => {
            "a class declares functions by their types, as in `fun area : T -> real;`"
        }
        Kind::Semi if wants(Kind::FatArrow) && wants(Kind::LBrace) => {
            "the body of a function follows `=>`, or stands in `{ }`"
        }
        Kind::Semi if wants(Kind::Assign) && around.binds() => {
            "a variable has a value from the beginning: `var x = 0;`"
        }
        Kind::Minus if wants(Kind::Assign) && around.binds() => "names hold no `-`: write `my_name`",
        Kind::Dollar if !wants(Kind::Plus) => "names have no `$` before them",
        Kind::DotDot | Kind::DotDotLess | Kind::Star | Kind::Pow
            if wants(Kind::RParen) && (around.after(Kind::Fun) || around.after(Kind::Proc)) =>
        {
            "a function that takes any number of values takes an array: `fun f[N:COMPACTLINEAR](xs:int ^ N) => e`"
        }
        Kind::Colon
            if wants(Kind::Plus)
                && around.at.checked_sub(2).is_some_and(|at| around.tokens[at].kind == Kind::LBrace) =>
        {
            "a record is written `(x=1, y=2)`, a block with a value `{ val x = 1; x + 1 }`"
        }
        Kind::Colon if wants(Kind::Plus) && wants(Kind::Semi) && around.at == 1 => {
            "a name is declared by `val x : int = e;`"
        }
        Kind::DotDotLess | Kind::DotDot if operand && !wants(Kind::Plus) => {
            "`..<i` walks the indices below `i` in a loop only: `for j in ..<i do … done`"
        }
        Kind::Bar if operand => "a function without a name is written `fun (x) => e`",
        Kind::Colon if around.is_before(Kind::Name) && around.named("lambda") => {
            "a function without a name is written `fun (x) => e`"
        }
        Kind::Colon | Kind::Semi if wants(Kind::Do) => {
            "the body of a loop is written `do … done`, one statement `perform s;`"
        }
        Kind::Assign | Kind::Colon if wants(Kind::In) && around.after(Kind::For) => {
            "a loop walks what stands after `in`: `for i in 1..10 do … done`, `for x in xs do … done`"
        }
        Kind::Colon if wants(Kind::RBracket) && around.is_before(Kind::Int) => {
            "integers from one to another are `a..b`; `take` and `drop` give parts of an array"
        }
        Kind::Colon if wants(Kind::Plus) && around.is_before(Kind::Int) => {
            "integers from one to another are `a..b`"
        }
        Kind::Assign if wants(Kind::RParen) && around.after(Kind::Fun) | around.after(Kind::Proc) => {
            "a default value follows the type of its parameter: `x:int = 3`"
        }
        Kind::LBracket if expected & Label::Pattern.bit() != 0 => {
            "a pattern for the elements of an array is a tuple, as in `val (a, b) = [1, 2];`"
        }
        Kind::LBracket if in_type => "the type of an array is written `T ^ n`, as in `int ^ 3`",
        Kind::Less if wants(Kind::LParen) && wants(Kind::LBracket) => {
            "type parameters stand in brackets: `fun f[T](x:T) => e`"
        }
        Kind::Assign if wants(Kind::LBrace) && around.after(Kind::Struct) => {
            "the fields of a struct stand in braces: `struct point { x:int; y:int; }`"
        }
        Kind::Name | Kind::Int | Kind::Underscore | Kind::Assign
            if wants(Kind::LParen) && wants(Kind::LBracket) && !wants(Kind::LBrace) =>
        {
            "parameters stand in parentheses, with their types: `fun f(x:int):int => e;`"
        }
        Kind::Name | Kind::Underscore
            if wants(Kind::LParen) && around.after(Kind::Fun) && wants(Kind::FatArrow) =>
        {
            "several parameters stand in parentheses: `fun (x, y) => e`"
        }
        Kind::LBrace if wants(Kind::Plus) && around.is_before(Kind::Name) && !wants(Kind::Do) => {
            "a block is `do … done`; the value of a struct is made by its name, as in `point (1, 2)`"
        }
        Kind::For if wants(Kind::RBracket) => {
            "a comprehension makes one value each time: a tuple stands in parentheses, as in `[ (x, y) for x in xs ]`"
        }
        Kind::In if wants(Kind::Plus) && wants(Kind::Semi) => {
            "a name stays known to the end of its block: end this statement with `;`"
        }
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
        Kind::Minus if before.is_some_and(|t| t.kind == Kind::Int) && wants(Kind::Of) => {
            "a negative argument stands in parentheses: `case 0 (-1)`"
        }
        Kind::Arrow | Kind::StarPlus if wants(Kind::CStar) => {
            "a type with `->`, `+`, `*` or `*+` after `:>>` or `:>` stands in parentheses, as in `x :>> (A -> B)`"
        }
        Kind::StarPlus => "`*+` builds types: `3 *+ int`; write `* +` apart otherwise",
        Kind::Pow if wants(Kind::CStar) => {
            "`**` binds tighter than `:>`: put parentheses around, as in `(x :> real) ** 2.0`"
        }
        Kind::PlusAssign | Kind::MinusAssign => "a compound assignment is a statement of its own",
        _ if wants(Kind::Assign) && wants(Kind::Colon) && !wants(Kind::FatArrow) => {
            "a binding is written `val x = e;` or `val x : T = e;`"
        }
        _ => return None,
    };
    Some(words.to_owned())
}
