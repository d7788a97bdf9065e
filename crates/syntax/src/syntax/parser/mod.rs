//! The grammar: tokens of one statement → its tree, or the error where it stops.
//!
//! The bracket pass has been here before: brackets match, `if` and `match` come in two tokens each,
//! nesting is bounded, and one call reads one top-level statement.
//!
//! ```text
//! statement  = ("var"|"val") pattern [":" type] "=" expr ";"
//!            | ("fun"|"proc") fname [generics] group {group} [":" type] (("=>" | "=") expr ";" | ["="] block [";"])
//!            | "typedef" NAME [generics] "=" type ";"
//!            | "newtype" NAME [generics] "=" (type | ["-"] type ".." ["-"] type) ";"
//!            | "struct" NAME [generics] ("{" {field ";"} "}" [";"] | "(" [field {"," field}] ")" ";")
//!            | "variant" NAME [generics] "=" ["|"] ctor {"|" ctor} ";"
//!            | "enum" NAME "=" ["|"] NAME {("," | "|") NAME} ";"
//!            | "typefun" NAME "(" [tparam {"," tparam}] ")" [":" PATH] "=>" type ";"
//!            | "kind" NAME "=" ["|"] NAME {"|" NAME} ";"
//!            | "party" NAME "=" ["|"] NAME {"|" NAME} ";"    `party`, `joint`, `at`: no keywords
//!            | "joint" "fun" fname [generics] group [":" type] (("=>" | "=") expr ";" | ["="] block [";"])
//!            | "at" tatom "{" stmts [expr] "}" [";"]
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
//! member     = ["virtual"] ["joint"] ("fun"|"proc") fname [generics] ":" type ";" | ["virtual"] function
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
//!            | "at" tatom "{" stmts [expr] "}"
//! element    = expr without a bare tuple: between commas
//! spread     = "." "." "." element | NAME "=" element
//! dotted     = {"#"} atom {"." key}
//! key        = PATH [targs] | INT | "(" … ")" | tick
//! atom       = PATH [targs] | INT | REAL | SUFFIXED | CHAR | STRING | "true" | "false" | tick
//!            | "f" STRING                        touching; in it {x}, {x:8}, {x:08}, {x:8.3} with x an element
//!            | "(" ")" | "(" expr ")" | "(" NAME "=" element {"," NAME "=" element} ")"
//!            | "(" NAME "=" pipe "\," NAME "=" pipe {"\," NAME "=" pipe} ")"
//!            | "(" spread {"," spread} ")" | "(" element {"," element} {"," NAME "=" element} ")"
//!            | "[" [element {"," element} [","]] "]"
//!            | "[" element "for" clause {"," clause} [("if" | "when") element] "]"
//!            | ".." "[" type "]" | "_"                as a key, or in one: all of an axis
//!            | "if" expr "then" expr {"elif" expr "then" expr} "else" expr "endif"
//!            | "match" expr "with" ["|"] arm {"|" arm} "endmatch"
//! arm        = alts ["when" expr] "=>" expr
//! clause     = pitem "in" [".." | "..<"] element
//! tick       = "`" INT ":" tatom
//! targs      = "[" type {"," type} "]"      touching the name before it
//! PATH       = NAME {"::" NAME}             without blanks
//!
//! In version 0.1 (see `edition`):
//! expr       = pipe {(":>>"|":>") type}     pipe = dollar {"|>" dollar}
//! dollar     = tuple ["$" dollar]           compact = operators {"\," operators}
//!
//! type       = placed ["->" type]           placed = sum ["@" tatom]
//! sum        = csum {"+" csum}              csum = product {"\+" product}
//! product    = cproduct {("*"|"*+") cproduct}
//! ctype      = cproduct {"\+" cproduct} ["@" tatom]
//! cproduct   = power {"\*" power}           power = tatom {("^"|"\^") tatom}
//! tatom      = PATH [targs | tcall] | INT | "(" ")" | "(" type ")" | "(" field {"," field} ")"
//!            | "(" field "\," field {"\," field} ")"
//!            | "{" NAME {"," NAME} "}"            a set of places
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
use super::error::{ForeignError, GrammarError, SyntaxError};
use super::foreign_keywords;
use super::lexer::{Token, TokenKind};
use super::text::Edition;
use crate::source::Span;
use chumsky::prelude::*;
use rule::{Extra, Input, Label, ParseFailure, Text, bit};

/// The grammar over one text, built once and used for each of its statements.
pub(crate) struct Grammar<'t> {
    cx: Text<'t>,
    statement: Boxed<'t, 't, Input<'t>, Stmt, Extra>,
}

/// The result of parsing one statement.
pub(crate) struct Outcome<T> {
    pub tree: Option<T>,
    pub errors: Vec<SyntaxError>,
    /// The statement is incomplete at the end of its tokens.
    pub ends_early: bool,
}

impl<'t> Grammar<'t> {
    /// Builds the grammar.
    pub fn new(cx: Text<'t>) -> Grammar<'t> {
        Grammar { cx, statement: stmt::statement(cx).boxed() }
    }

    /// Parses one statement; `next` is the token after it, for messages.
    pub fn statement(&self, tokens: &'t [Token], next: Option<&Token>) -> Outcome<Stmt> {
        run(self.cx, &self.statement, tokens, next)
    }
}

/// Parses one expression; `tokens` end in a `;`.
pub(crate) fn expression<'t>(cx: Text<'t>, tokens: &'t [Token]) -> Outcome<Expr> {
    run(cx, &stmt::expression(cx), tokens, None)
}

/// Parses one type; `tokens` end in a `;`.
pub(crate) fn type_expression<'t>(cx: Text<'t>, tokens: &'t [Token]) -> Outcome<TypeExpr> {
    run(cx, &types::types(cx).full.then_ignore(rule::token(TokenKind::Semi)), tokens, None)
}

/// Applies a rule to tokens.
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

/// Returns the error for a failure.
fn explain(
    cx: Text<'_>,
    fail: ParseFailure,
    tokens: &[Token],
    next: Option<&Token>,
    ends_early: &mut bool,
) -> SyntaxError {
    if let Some(said) = fail.specific {
        // `let x = 5;` reads as an assignment to `let x`.
        if let SyntaxError::Grammar(GrammarError::NotAVariable { place, .. }) = &*said {
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
    let after = before.map(|t| (describe_token(cx, t), cx.at(t)));
    let operators = bit(TokenKind::Plus) | bit(TokenKind::Semi);
    let operator_fits = expected & bit(TokenKind::Plus) != 0;
    let in_type = expected & bit(TokenKind::Arrow) != 0;
    let Some(found) = found else {
        *ends_early = true;
        let end = before.map_or(cx.span(tokens), |t| cx.at(t)).after();
        let after = after.map_or_else(|| "the beginning".to_owned(), |(words, _)| words);
        return GrammarError::UnfinishedStatement { end, after, expected: expected_descriptions(expected) }
            .into();
    };
    let at = cx.at(found);
    match found.kind {
        // `val a = 1, b = 2;` declares several names.
        TokenKind::Assign if operator_fits && !in_type && declares_several_names(tokens, fail.at) => {
            let hint = "each name has a `val` of its own: `val a = 1; val b = 2;`, or `val a, b = 1, 2;`";
            let (found, expected) = (describe_token(cx, found), expected_descriptions(expected));
            return GrammarError::Unexpected { found, at, after, expected, hint: Some(hint.to_owned()) }
                .into();
        }
        TokenKind::Assign if operator_fits && !in_type => {
            return GrammarError::AssignForEqual { span: at }.into();
        }
        TokenKind::LArrow if operator_fits && !in_type => {
            return GrammarError::StoreInExpression { span: at }.into();
        }
        TokenKind::Comma if in_type && expected & bit(TokenKind::RParen) != 0 => {
            return GrammarError::CommaInType { span: at }.into();
        }
        TokenKind::LBracket
            if !found.glued
                && before.is_some_and(|t| matches!(t.kind, TokenKind::Name | TokenKind::Qualified))
                && (in_type || tokens.first().is_some_and(|t| t.kind == TokenKind::Instance)) =>
        {
            let gap = before.map_or(at, |t| cx.at(t).after().to(crate::source::Span { end: at.start, ..at }));
            return GrammarError::DetachedTypeArguments { bracket: at, gap }.into();
        }
        kind if kind.is_keyword()
            && !matches!(kind, TokenKind::In | TokenKind::Of)
            && (expected & bit(TokenKind::Name) != 0 || expected == Label::Pattern.bit())
            && expected & (Label::Expression.bit() | bit(TokenKind::RParen) | bit(TokenKind::RBracket))
                == 0
            || kind.is_keyword() && expected == Label::Pattern.bit() =>
        {
            return GrammarError::KeywordAsName { span: at, word: kind.description() }.into();
        }
        // A parameter, or a part of a pattern.
        kind if kind.is_keyword()
            && before.is_some_and(|t| matches!(t.kind, TokenKind::LParen | TokenKind::Comma))
            && tokens.get(fail.at + 1).is_some_and(|t| {
                matches!(t.kind, TokenKind::Colon | TokenKind::Comma | TokenKind::FatArrow)
            }) =>
        {
            return GrammarError::KeywordAsName { span: at, word: kind.description() }.into();
        }
        _ => {}
    }
    if expected & operators != 0
        && expected & bit(TokenKind::Semi) != 0
        && let Some(before) = before
    {
        let line_break =
            cx.text.get(before.end as usize..found.start as usize).is_some_and(|g| g.contains('\n'));
        let goes_on = found.kind.is_keyword() || found.kind.ends_operand() || found.kind.begins_operand();
        let closes = matches!(
            found.kind,
            TokenKind::RBrace | TokenKind::Done | TokenKind::Elif | TokenKind::Else | TokenKind::Bar
        );
        // `a || b` is meant as `or`, not as the next arm.
        let doubled =
            found.kind == TokenKind::Bar && tokens.get(fail.at + 1).is_some_and(|t| t.kind == TokenKind::Bar);
        let closes = closes && !doubled;
        if closes || (goes_on && line_break) || found.kind.begins_statement() || real.is_none() {
            return GrammarError::MissingSemicolon {
                end: cx.at(before),
                next: at,
                found: describe_token(cx, found),
            }
            .into();
        }
    }
    if matches!(
        found.kind,
        TokenKind::Dot | TokenKind::LParen | TokenKind::Name | TokenKind::Qualified | TokenKind::Hash
    ) && cx.edition == Edition::V02
        && expected & bit(TokenKind::CStar) != 0
        && let Some(cast) = cast_before(cx, tokens, fail.at)
    {
        return GrammarError::AfterCast { at, found: describe_token(cx, found), cast }.into();
    }
    let around = FailureSite { cx, tokens, at: fail.at, before, found };
    let hint = hint(&around, expected);
    GrammarError::Unexpected {
        found: describe_token(cx, found),
        at,
        after,
        expected: expected_descriptions(expected),
        hint,
    }
    .into()
}

/// Returns the span of an `x :>> T` that ends before a token.
fn cast_before(cx: Text<'_>, tokens: &[Token], at: usize) -> Option<Span> {
    use TokenKind::*;
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

/// Returns true if a declaration of a variable continues with another name and `=`.
fn declares_several_names(tokens: &[Token], at: usize) -> bool {
    use TokenKind::*;
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

/// Returns the description of a token: names and literals as written.
pub(crate) fn describe_token(cx: Text<'_>, token: &Token) -> String {
    match token.kind {
        TokenKind::Name
        | TokenKind::Qualified
        | TokenKind::Int
        | TokenKind::Real
        | TokenKind::Suffixed
        | TokenKind::Char
            if token.end - token.start <= 40 =>
        {
            format!("`{}`", cx.of(token))
        }
        kind => kind.description().to_owned(),
    }
}

/// Returns descriptions of the tokens expected, few in number: operators and openers are grouped.
fn expected_descriptions(mut expected: u128) -> Vec<&'static str> {
    let mut out = Vec::new();
    // After an operand an argument may follow, after a name in a pattern its argument: neither is
    // what is missing.
    if expected & bit(TokenKind::Plus) != 0 {
        expected &= !Label::Expression.bit();
    }
    if expected
        & (bit(TokenKind::Assign) | bit(TokenKind::In) | bit(TokenKind::FatArrow) | bit(TokenKind::RParen))
        != 0
    {
        expected &= !Label::Pattern.bit();
    }
    for label in [Label::Statement, Label::Expression, Label::Type, Label::Pattern] {
        if expected & label.bit() != 0 {
            expected &= !label.bit();
            out.push(label.description());
            // What begins one is not said again.
            for kind in [TokenKind::Not, TokenKind::Minus, TokenKind::Bang] {
                expected &= !bit(kind);
            }
        }
    }
    // What follows `export`.
    if expected & bit(TokenKind::Fun) != 0 && expected & bit(TokenKind::Typedef) != 0 {
        expected = 0;
        out.push("a definition");
    }
    let operator = expected & bit(TokenKind::Plus) != 0;
    for kind in OPERATORS {
        expected &= !bit(*kind);
    }
    let name = expected & bit(TokenKind::Name) != 0;
    if name {
        out.push(TokenKind::Name.description());
    }
    expected &= !bit(TokenKind::Name);
    // Closers and separators, in the order of the token list.
    for kind in REPORTED_TOKENS {
        if expected & bit(*kind) != 0 {
            out.push(kind.description());
        }
    }
    if operator && out.len() < 4 {
        out.insert(0, "an operator");
    }
    out.truncate(5);
    out
}

/// The operators, which messages describe together.
const OPERATORS: &[TokenKind] = {
    use TokenKind::*;
    &[
        Plus, Minus, Star, Slash, Percent, Pow, EqEq, NotEq, Less, LessEq, Greater, GreaterEq, DotDot,
        DotDotLess, Upto, And, Or, Dot, Dollar, Pipe, Reshape, Convert, Caret, CCaret, CStar, CPlus,
        StarPlus, Arrow, CComma, Hash, As,
    ]
};

/// The tokens that messages list beside operators.
const REPORTED_TOKENS: &[TokenKind] = {
    use TokenKind::*;
    &[
        Semi, Colon, Assign, FatArrow, LBrace, LParen, LBracket, RParen, RBracket, RBrace, Comma, In, Do,
        Perform, Then, Elif, Else, Endif, With, When, Bar, Endmatch, Of, Done, For, Int, Real, Str, EqEq,
        LArrow, Fun, Proc, Law, Question, Tick,
    ]
};

/// Returns the error for a word of another language that begins the statement at `at`, if one does.
pub(crate) fn foreign_word(cx: Text<'_>, tokens: &[Token], at: usize) -> Option<SyntaxError> {
    use TokenKind::*;
    let before = tokens.get(..at)?;
    let ends = |t: &Token| matches!(t.kind, Semi | LBrace | RBrace | Do | Done | Else | Perform);
    let begin = before.iter().rposition(ends).map_or(0, |end| end + 1);
    if let [first, second, ..] = tokens.get(begin..).unwrap_or_default()
        && (first.kind == Hash && second.start > first.end
            || first.kind == Minus && second.kind == Minus && second.start == first.end)
    {
        let sign = if first.kind == Hash { cx.at(first) } else { cx.at(first).to(cx.at(second)) };
        return Some(ForeignError::ForeignComment { sign }.into());
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
        let instead = foreign_keywords::advice(cx.of(first))?;
        Some(ForeignError::ForeignWord { span: cx.at(first), word: cx.of(first).to_owned(), instead }.into())
    })
}

/// The assignment operators.
const ASSIGNING: &[TokenKind] = {
    use TokenKind::*;
    &[Assign, PlusAssign, MinusAssign, StarAssign, SlashAssign, PercentAssign, PowAssign]
};

/// The place where parsing of a statement failed.
struct FailureSite<'t> {
    cx: Text<'t>,
    tokens: &'t [Token],
    at: usize,
    before: Option<&'t Token>,
    found: &'t Token,
}

impl FailureSite<'_> {
    /// Returns true if the statement declares a variable.
    fn binds(&self) -> bool {
        self.tokens.first().is_some_and(|t| matches!(t.kind, TokenKind::Val | TokenKind::Var))
    }

    /// Returns true if the token two places before is this word.
    fn named(&self, word: &str) -> bool {
        let name = self.at.checked_sub(2).and_then(|at| self.tokens.get(at));
        name.is_some_and(|t| self.cx.of(t) == word)
    }

    /// Returns true if the token found touches the one before it.
    fn glued(&self) -> bool {
        self.before.is_some_and(|before| before.end == self.found.start)
    }

    /// Returns the kind of the token `n` places after the one found.
    fn later(&self, n: usize) -> Option<TokenKind> {
        self.tokens.get(self.at + n).map(|t| t.kind)
    }

    /// Returns true if the token before is of this kind.
    fn is_before(&self, kind: TokenKind) -> bool {
        self.before.is_some_and(|t| t.kind == kind)
    }

    /// Returns true if a token of this kind precedes in the statement.
    fn after(&self, kind: TokenKind) -> bool {
        self.tokens.iter().take(self.at).any(|t| t.kind == kind)
    }

    /// Returns true if a `for` precedes behind the last open bracket.
    fn in_comprehension(&self) -> bool {
        let before = self.tokens.iter().take(self.at).rev();
        before.take_while(|t| t.kind != TokenKind::LBracket).any(|t| t.kind == TokenKind::For)
    }

    /// Returns the hint for an operator of another language.
    fn foreign_operator_hint(&self) -> Option<&'static str> {
        use TokenKind::*;
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

/// Returns the hint for a frequent mistake.
fn hint(around: &FailureSite<'_>, expected: u128) -> Option<String> {
    let wants = |kind| expected & bit(kind) != 0;
    let (before, found) = (around.before, around.found);
    let operand = expected & Label::Expression.bit() != 0;
    let in_type = expected & Label::Type.bit() != 0;
    let words = match found.kind {
        _ if before.is_some_and(|t| t.kind == TokenKind::Export) => {
            "`export` stands before what the module defines: `fun`, `proc`, `val`, a type or a class"
        }
        TokenKind::Qualified if wants(TokenKind::Name) => {
            "`::` reaches into an imported module; what is defined here has a name without it"
        }
        TokenKind::Amp if wants(TokenKind::And) => {
            "conditions are joined by `and`, the bits of integers by `band (a, b)`"
        }
        TokenKind::Bar if wants(TokenKind::Or) => {
            "conditions are joined by `or`, the bits of integers by `bor (a, b)`"
        }
        _ if (wants(TokenKind::Plus) || operand || in_type) && around.foreign_operator_hint().is_some() => {
            around.foreign_operator_hint()?
        }
        TokenKind::Arrow if wants(TokenKind::FatArrow) && wants(TokenKind::LBrace) => {
            "`=>` stands before the value, as in `fun (x) => x + 1`; the type of the result follows `:`"
        }
        TokenKind::Arrow if wants(TokenKind::FatArrow) => {
            "`=>` stands between a pattern, or parameters, and the value"
        }
        TokenKind::FatArrow | TokenKind::Arrow if wants(TokenKind::Plus) && !wants(TokenKind::FatArrow) => {
            "a function without a name is written `fun (x) => e`"
        }
        TokenKind::AtSign if wants(TokenKind::Plus) => {
            "the product of matrices is `matmul (a, b)`, of vectors `dot (a, b)`; `@` stands in types"
        }
        TokenKind::LBrace if operand && !wants(TokenKind::Plus) => {
            "a record is written `(x=1, y=2)`, an array `[1, 2, 3]`, a block `do … done`"
        }
        TokenKind::LBrace if in_type && !wants(TokenKind::Plus) => {
            "the type of a record is written `(x:int, y:real)`"
        }
        TokenKind::Name
            if wants(TokenKind::LParen)
                && (around.is_before(TokenKind::Fun) || around.is_before(TokenKind::Proc)) =>
        {
            "a function without a name is written `fun (x, y) => e`, or `fun x => e`"
        }
        TokenKind::Arrow | TokenKind::Colon
            if (around.named("fun") || around.named("proc")) && around.is_before(TokenKind::Name) =>
        {
            "a function without a name is written `fun (x:int) => e`, or `fun x => e`"
        }
        TokenKind::LBrace if wants(TokenKind::Assign) && around.after(TokenKind::Enum) => {
            "the cases of an enumeration follow `=`: `enum shade = Dark, Light;`"
        }
        TokenKind::Of | TokenKind::LParen if around.after(TokenKind::Enum) => {
            "the cases of an `enum` are constants: a `variant` has cases with arguments, `Circle of real`"
        }
        TokenKind::LParen if wants(TokenKind::Of) && around.after(TokenKind::Variant) => {
            "the argument of a case follows `of`, as in `Circle of real`"
        }
        TokenKind::In if wants(TokenKind::RParen) && around.after(TokenKind::For) => {
            "no parentheses stand around what a loop walks: `for x in xs do … done`"
        }
        TokenKind::Semi
            if wants(TokenKind::FatArrow) && wants(TokenKind::LBrace) && around.after(TokenKind::Class) =>
        {
            "a class declares functions by their types, as in `fun area : T -> real;`"
        }
        TokenKind::Semi if wants(TokenKind::FatArrow) && wants(TokenKind::LBrace) => {
            "the body of a function follows `=>`, or stands in `{ }`"
        }
        TokenKind::Semi if wants(TokenKind::Assign) && around.binds() => {
            "a variable has a value from the beginning: `var x = 0;`"
        }
        TokenKind::Minus if wants(TokenKind::Assign) && around.binds() => {
            "names hold no `-`: write `my_name`"
        }
        // In an expression it fits wherever `+` does.
        TokenKind::Minus if wants(TokenKind::Plus) => {
            "sizes are never subtracted: give the argument the longer one, `real ^ (N \\+ 1)`, or leave that of a result open, `real ^ ?K`"
        }
        TokenKind::Dollar if !wants(TokenKind::Plus) => "names have no `$` before them",
        TokenKind::DotDot | TokenKind::DotDotLess | TokenKind::Star | TokenKind::Pow
            if wants(TokenKind::RParen)
                && (around.after(TokenKind::Fun) || around.after(TokenKind::Proc)) =>
        {
            "a function that takes any number of values takes an array: `fun f[N:COMPACTLINEAR](xs:int ^ N) => e`"
        }
        TokenKind::Colon
            if wants(TokenKind::Plus)
                && around.at.checked_sub(2).is_some_and(|at| around.tokens[at].kind == TokenKind::LBrace) =>
        {
            "a record is written `(x=1, y=2)`, a block with a value `{ val x = 1; x + 1 }`"
        }
        TokenKind::Colon if wants(TokenKind::Plus) && wants(TokenKind::Semi) && around.at == 1 => {
            "a name is declared by `val x : int = e;`"
        }
        TokenKind::DotDotLess | TokenKind::DotDot if operand && !wants(TokenKind::Plus) => {
            "`..<i` is walked by a loop, `for j in ..<i do … done`, or in brackets, `sum [ x.j for j in ..<i ]`"
        }
        TokenKind::Bar if operand => "a function without a name is written `fun (x) => e`",
        TokenKind::Colon if around.is_before(TokenKind::Name) && around.named("lambda") => {
            "a function without a name is written `fun (x) => e`"
        }
        TokenKind::Colon | TokenKind::Semi if wants(TokenKind::Do) => {
            "the body of a loop is written `do … done`, one statement `perform s;`"
        }
        TokenKind::Assign | TokenKind::Colon if wants(TokenKind::In) && around.after(TokenKind::For) => {
            "a loop walks what stands after `in`: `for i in 1..10 do … done`, `for x in xs do … done`"
        }
        TokenKind::Colon if wants(TokenKind::RBracket) && around.is_before(TokenKind::Int) => {
            "integers from one to another are `a..b`; `take` and `drop` give parts of an array"
        }
        TokenKind::Colon if wants(TokenKind::Plus) && around.is_before(TokenKind::Int) => {
            "integers from one to another are `a..b`"
        }
        TokenKind::Assign
            if wants(TokenKind::RParen) && around.after(TokenKind::Fun) | around.after(TokenKind::Proc) =>
        {
            "a default value follows the type of its parameter: `x:int = 3`"
        }
        TokenKind::LBracket if expected & Label::Pattern.bit() != 0 => {
            "a pattern for the elements of an array is a tuple, as in `val (a, b) = [1, 2];`"
        }
        TokenKind::Name | TokenKind::Int
            if wants(TokenKind::LBracket)
                && around.at.checked_sub(1).is_some_and(|at| around.tokens[at].kind == TokenKind::DotDot) =>
        {
            "all values of a type are `..[N]`, as in `for i in ..[N]`; integers from one to another `a..b`"
        }
        TokenKind::LBracket if in_type => "the type of an array is written `T ^ n`, as in `int ^ 3`",
        TokenKind::Less if wants(TokenKind::LParen) && wants(TokenKind::LBracket) => {
            "type parameters stand in brackets: `fun f[T](x:T) => e`"
        }
        TokenKind::Assign if wants(TokenKind::LBrace) && around.after(TokenKind::Struct) => {
            "the fields of a struct stand in braces: `struct point { x:int; y:int; }`"
        }
        TokenKind::Name | TokenKind::Int | TokenKind::Underscore | TokenKind::Assign
            if wants(TokenKind::LParen) && wants(TokenKind::LBracket) && !wants(TokenKind::LBrace) =>
        {
            "parameters stand in parentheses, with their types: `fun f(x:int):int => e;`"
        }
        TokenKind::Name | TokenKind::Underscore
            if wants(TokenKind::LParen) && around.after(TokenKind::Fun) && wants(TokenKind::FatArrow) =>
        {
            "several parameters stand in parentheses: `fun (x, y) => e`"
        }
        TokenKind::LBrace
            if wants(TokenKind::Plus) && around.is_before(TokenKind::Name) && !wants(TokenKind::Do) =>
        {
            "a block is `do … done`; the value of a struct is made by its name, as in `point (1, 2)`"
        }
        TokenKind::For if wants(TokenKind::RBracket) && around.in_comprehension() => {
            "further loops follow after a comma, the outer one first: `[ x for row in rows, x in row ]`"
        }
        TokenKind::For if wants(TokenKind::RBracket) => {
            "a comprehension makes one value each time: a tuple stands in parentheses, as in `[ (x, y) for x in xs ]`"
        }
        TokenKind::In if wants(TokenKind::Plus) && wants(TokenKind::Semi) => {
            "a name stays known to the end of its block: end this statement with `;`"
        }
        TokenKind::LBrace if wants(TokenKind::LParen) => {
            "a function has parameters: write `()` if it needs none"
        }
        TokenKind::Fun if expected & Label::Expression.bit() != 0 => {
            "a function without a name is written `fun (x:T) => e`"
        }
        TokenKind::Question if wants(TokenKind::Plus) => "a choice is written `if c then a else b endif`",
        TokenKind::IfDo if expected & Label::Expression.bit() != 0 => {
            "an `if` with `do` is a statement; an expression is `if … then … else … endif`"
        }
        TokenKind::MatchDo if expected & Label::Expression.bit() != 0 => {
            "a `match` with `do` is a statement; an expression is `match … with … endmatch`"
        }
        TokenKind::Assign if wants(TokenKind::FatArrow) => {
            "the body of a function follows `=>`, or stands in `{ }`"
        }
        TokenKind::FatArrow if wants(TokenKind::Assign) => {
            "a definition of a value or type is written with `=`"
        }
        TokenKind::Do if wants(TokenKind::Then) => {
            "an `if` with `do` is a statement; inside an expression write `then`"
        }
        TokenKind::Then if wants(TokenKind::Do) => {
            "an `if` with `then` is an expression; as a statement write `do`"
        }
        TokenKind::LBrace if wants(TokenKind::Do) => "the body of a loop or a branch is written `do … done`",
        TokenKind::Endif if wants(TokenKind::Else) => {
            "an `if` expression needs its `else`: it must have a value"
        }
        TokenKind::Caret if !wants(TokenKind::Caret) => {
            "`^` builds array types; the power of numbers is `**`"
        }
        TokenKind::CStar | TokenKind::CPlus | TokenKind::CCaret if !wants(TokenKind::CStar) => {
            "`\\*`, `\\+` and `\\^` build compact types; types follow `:`, `of`, `:>>` or stand in `..[ ]`"
        }
        TokenKind::Minus if before.is_some_and(|t| t.kind == TokenKind::Int) && wants(TokenKind::Of) => {
            "a negative argument stands in parentheses: `case 0 (-1)`"
        }
        TokenKind::Arrow | TokenKind::StarPlus if wants(TokenKind::CStar) => {
            "a type with `->`, `+`, `*` or `*+` after `:>>` or `:>` stands in parentheses, as in `x :>> (A -> B)`"
        }
        TokenKind::StarPlus => "`*+` builds types: `3 *+ int`; write `* +` apart otherwise",
        TokenKind::Pow if wants(TokenKind::CStar) => {
            "`**` binds tighter than `:>`: put parentheses around, as in `(x :> real) ** 2.0`"
        }
        TokenKind::PlusAssign | TokenKind::MinusAssign => "a compound assignment is a statement of its own",
        _ if wants(TokenKind::Assign) && wants(TokenKind::Colon) && !wants(TokenKind::FatArrow) => {
            "a binding is written `val x = e;` or `val x : T = e;`"
        }
        _ => return None,
    };
    Some(words.to_owned())
}
