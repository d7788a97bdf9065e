//! Editions: the expression grouping of version 0.1, and the migration of its texts.
//!
//! In 0.1, `:>>` and `:>` bound looser than `,` and took a whole type after them, `|>` bound looser
//! than `$`, and `$` looser than `,`. The grammar reads either edition. A statement whose grouping
//! differs is reported with both readings ([`Regrouping`]); [`migrate`] rewrites a whole text.
//!
//! Texts change by parentheses only: those that the old tree needs in the grammar of today are
//! added, and those around `:>>`, `:>` and `|>` that only the old grammar needed are removed. Types
//! play no part.

use super::ast::{Expr, Stmt, TypeExpr, TypeExprKind};
use super::error::{GrammarError, SyntaxError};
use super::lexer::{Token, TokenKind};
use super::parse::{parse_statements, with_stack_for};
use super::parser::Grammar;
use super::text::{Edition, Text};
use super::unparse::ParenthesisReport;
use super::{Parsed, brackets, lexer, parse, unparse};
use crate::diagnostic::{Diagnostic, Help, apply_edits};
use crate::source::{Source, SourceMap, Span};

/// A statement that version 0.1 grouped differently.
#[derive(Clone, Debug)]
pub struct Regrouping {
    /// The position among the statements of its text.
    pub at: usize,
    /// The statement as 0.1 read it.
    pub old: Stmt,
    /// The part that is grouped differently.
    pub place: Span,
    /// The parentheses that state today's reading.
    pub edits_for_today: Vec<(Span, String)>,
    /// The parentheses that state the reading of 0.1.
    pub edits_for_v01: Vec<(Span, String)>,
}

impl Regrouping {
    /// Returns the warning with both readings. `fails`: today's reading has an error.
    pub fn warning(&self, text: &str, fails: bool) -> Diagnostic {
        let (now, then) = (
            reading_text(text, self.place, &self.edits_for_today),
            reading_text(text, self.place, &self.edits_for_v01),
        );
        let label = format!("this is `{now}`");
        let warning = Diagnostic::warning("W0040", self.place, "this may be grouped otherwise than meant", label)
            .note("version 0.1 grouped it otherwise; `felis fmt --from-0.1` writes the parentheses into a file of 0.1");
        let before =
            Help { text: format!("write `{then}` if that is meant"), edits: self.edits_for_v01.clone() };
        let now = Help {
            text: format!("write `{now}` to keep what it is, without this warning"),
            edits: self.edits_for_today.clone(),
        };
        if fails { warning.help(before) } else { warning.help(before).alternative(now) }
    }
}

/// Returns true if version 0.1 may have grouped a statement differently: operators whose precedence
/// has changed occur beside others with no bracket or word between them. Linear in the tokens.
pub(super) fn may_differ(tokens: &[Token]) -> bool {
    use TokenKind::*;
    const CAST: u8 = 1;
    const PIPE: u8 = 2;
    const DOLLAR: u8 = 4;
    const COMMA: u8 = 8;
    const OPERATOR: u8 = 16;
    let differs =
        |seen: u8| seen & CAST != 0 && seen & !CAST != 0 || seen & PIPE != 0 && seen & (DOLLAR | COMMA) != 0;
    let mut open: Vec<u8> = Vec::new();
    let mut seen = 0;
    for token in tokens {
        seen |= match token.kind {
            Reshape | Convert if seen & CAST != 0 => OPERATOR,
            Reshape | Convert => CAST,
            TokenKind::Pipe => PIPE,
            Dollar => DOLLAR,
            Comma | CComma => COMMA,
            Plus | Minus | Star | Slash | Percent | EqEq | NotEq | Less | LessEq | Greater | GreaterEq
            | DotDot | DotDotLess | And | Or | Not | StarPlus | Arrow => OPERATOR,
            LParen | LBracket | LBrace => {
                open.push(seen);
                seen = 0;
                continue;
            }
            RParen | RBracket | RBrace => {
                seen = open.pop().unwrap_or(0);
                continue;
            }
            Assign | FatArrow | LArrow | Then | Else | Elif | Endif | Do | Perform | Semi | With | Bar
            | When | In | For | Endmatch | Done => {
                seen = 0;
                continue;
            }
            _ => continue,
        };
        if differs(seen) {
            return true;
        }
    }
    false
}

/// Returns the reading of version 0.1 for each expression that is grouped differently, if it could
/// parse the statement and its tree differs from `new`.
pub(super) fn compare_editions<'t>(
    grammar: &Grammar<'t>,
    at: usize,
    tokens: &'t [Token],
    text: &str,
    new: &Stmt,
) -> Vec<Regrouping> {
    let Some(old) = parse_statement_v01(grammar, tokens) else { return Vec::new() };
    let (then, now) = (ParenthesisReport::of(&old), ParenthesisReport::of(new));
    if then.text == now.text {
        return Vec::new();
    }
    let missing = then.missing_parentheses(text);
    let bare: Vec<Span> =
        now.bare.iter().filter(|wrap| !wrap.is_parenthesized(text)).map(|wrap| wrap.span).collect();
    let regrouping = |place: Span| {
        let inside = |span: &Span| span.start >= place.start && span.end <= place.end;
        let mut edits_for_v01 = missing.clone();
        edits_for_v01.retain(|(span, _)| inside(span));
        let within = |span: &Span| inside(span) && *span != place;
        let edits_for_today = parenthesis_edits(bare.iter().copied().filter(within));
        Regrouping { at, old: old.clone(), place, edits_for_today, edits_for_v01 }
    };
    then.regrouped_spans(text).into_iter().map(regrouping).collect()
}

/// Returns the error about an unreadable statement, with the reading of version 0.1 if there is
/// one.
pub(super) fn regrouped_error<'t>(
    grammar: &Grammar<'t>,
    tokens: &'t [Token],
    text: &str,
    error: &SyntaxError,
) -> SyntaxError {
    let error = error.clone();
    let Some(old) = parse_statement_v01(grammar, tokens) else { return error };
    let groups = ParenthesisReport::of(&old);
    let edits = groups.missing_parentheses(text);
    let Some(place) = groups.regrouped_spans(text).into_iter().reduce(Span::to) else { return error };
    let today = reading_text(text, place, &edits);
    GrammarError::Regrouped { error: Box::new(error), today, edits }.into()
}

/// Parses a statement as version 0.1 did; `None` on an error.
fn parse_statement_v01<'t>(grammar: &Grammar<'t>, tokens: &'t [Token]) -> Option<Stmt> {
    let outcome = grammar.statement(tokens, None);
    outcome.tree.filter(|_| outcome.errors.is_empty())
}

/// Returns a part of a text in one line, with the edits inside it applied.
fn reading_text(text: &str, place: Span, edits: &[(Span, String)]) -> String {
    let inside = edits.iter().filter(|(span, _)| span.start >= place.start && span.end <= place.end);
    let moved = |at: u32| at - place.start;
    let edits: Vec<_> = inside
        .map(|(span, new)| (Span { start: moved(span.start), end: moved(span.end), ..*span }, new.clone()))
        .collect();
    let part = &text[place.range()];
    apply_edits(part, place.source, &edits).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns the edits that put parentheses around spans.
fn parenthesis_edits(spans: impl Iterator<Item = Span>) -> Vec<(Span, String)> {
    let mut edits = Vec::new();
    for span in spans {
        edits.push((Span { end: span.start, ..span }, "(".to_string()));
        edits.push((span.after(), ")".to_string()));
    }
    edits
}

impl ParenthesisReport {
    /// Returns the edits that add the parentheses which the tree needs and the text lacks.
    fn missing_parentheses(&self, text: &str) -> Vec<(Span, String)> {
        parenthesis_edits(
            self.needed.iter().filter(|wrap| !wrap.is_parenthesized(text)).map(|wrap| wrap.span),
        )
    }

    /// Returns the edits that remove redundant parentheses, between commas and at comparisons. At
    /// `+` and `*` they stay: an operator after a type looks like a part of it.
    fn redundant_parentheses(&self, text: &str) -> Vec<(Span, String)> {
        let written = self.bare.iter().filter(|wrap| wrap.loose && wrap.is_parenthesized(text));
        written
            .flat_map(|wrap| {
                let span = wrap.span;
                let open = Span { end: span.start + 1, ..span };
                let close = Span { start: span.end - 1, ..span };
                [(open, String::new()), (close, String::new())]
            })
            .collect()
    }

    /// Returns the spans around missing parentheses: the expressions that are grouped differently.
    fn regrouped_spans(&self, text: &str) -> Vec<Span> {
        let missing = self.needed.iter().filter(|wrap| !wrap.is_parenthesized(text));
        let mut hosts: Vec<Span> = missing.map(|wrap| wrap.host).collect();
        hosts.sort_unstable_by_key(|host| host.start);
        let mut spans: Vec<Span> = Vec::new();
        for host in hosts {
            match spans.last_mut() {
                Some(last) if host.start < last.end => *last = last.to(host),
                _ => spans.push(host),
            }
        }
        spans
    }
}

/// A part of a tree that needs parentheses, or may have redundant ones.
pub(super) struct ParenthesisSite {
    /// The span, with its parentheses, if any.
    span: Span,
    /// The start of its first operand, if it begins with one.
    begin: Option<u32>,
    /// The span of the enclosing node.
    host: Span,
    /// No arithmetic operator is around it.
    loose: bool,
}

impl ParenthesisSite {
    /// Returns the site of an expression.
    pub fn of_expr(expr: &Expr, host: Span, loose: bool) -> ParenthesisSite {
        let begin = unparse::first_part(expr).map(|first| first.span.start);
        ParenthesisSite { span: expr.span, begin, host, loose }
    }

    /// Returns the site of a type.
    pub fn of_type(ty: &TypeExpr, host: Span) -> ParenthesisSite {
        use TypeExprKind::*;
        let first = match &ty.kind {
            Product(items) | Sum(items) | CompactProduct(items) | CompactSum(items) => items.first(),
            Array(first, _) | CompactPower(first, _) | Repeat(first, _) | Function(first, _) => {
                Some(&**first)
            }
            _ => None,
        };
        ParenthesisSite { span: ty.span, begin: first.map(|t| t.span.start), host, loose: true }
    }

    /// Returns true if the text has the parentheses.
    fn is_parenthesized(&self, text: &str) -> bool {
        match self.begin {
            Some(begin) => self.span.start < begin,
            None => text.as_bytes().get(self.span.start as usize) == Some(&b'('),
        }
    }
}

/// Adds parentheses to the operand of a suggested conversion `(e :>> T)`, where it binds looser
/// than the operator.
pub fn group_cast(text: &str, help: &mut Help) {
    for pair in help.edits.chunks_mut(2) {
        let [(open, before), (close, after)] = pair else { return };
        if before != "(" || !after.starts_with(" :>") {
            return;
        }
        let Some(value) = text.get(open.end as usize..close.start as usize) else { return };
        let source = SourceMap::new().add("", value);
        if let (Some(value), _) = super::parse_expr(&source)
            && !unparse::binds_as_operand(&value)
            && !ParenthesisSite::of_expr(&value, value.span, true).is_parenthesized(&source.text)
        {
            before.push('(');
            after.insert(0, ')');
        }
    }
}

/// Rewrites a text of version 0.1 to today's edition, with the same statements, comments and
/// layout.
///
/// # Errors
///
/// The errors of a text that cannot be parsed, or E0998.
pub fn migrate(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let parsed = parse_v01(source);
    if parsed.errors.iter().any(Diagnostic::is_error) {
        return Err(parsed.errors);
    }
    let wanted = unparse::print(&parsed.stmts);
    let text = &source.text;
    let groups: Vec<ParenthesisReport> = parsed.stmts.iter().map(ParenthesisReport::of).collect();
    let mut edits: Vec<_> = groups.iter().flat_map(|groups| groups.missing_parentheses(text)).collect();
    let added = edits.clone();
    edits.extend(groups.iter().flat_map(|groups| groups.redundant_parentheses(text)));
    let same = |text: &str| {
        let again = parse(&SourceMap::new().add("", text));
        again.errors.is_empty() && unparse::print(&again.stmts) == wanted
    };
    [edits, added]
        .into_iter()
        .map(|edits| apply_edits(text, source.id, &edits))
        .find(|text| same(text))
        .ok_or_else(|| vec![super::fmt::internal_format_error(source)])
}

/// Parses a text as version 0.1 did.
pub fn parse_v01(source: &Source) -> Parsed {
    parse_edition(source, Edition::V01)
}

/// Parses a text in an edition.
fn parse_edition(source: &Source, edition: Edition) -> Parsed {
    let lexed = lexer::lex(source);
    let cut = brackets::split_statements(source, &lexed.tokens);
    with_stack_for(&cut, || {
        let cx = Text { text: &source.text, id: source.id, docs: &lexed.docs, edition };
        parse_statements(cx, &lexed, &cut, &|_| true)
    })
}
