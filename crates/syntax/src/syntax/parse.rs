//! Parsing: the statements of a text, with the errors of lexing, brackets and grammar.
//!
//! Takes a whole text, parts of one, or a text that is one type or expression. Parsing never fails:
//! statements that cannot be read have errors.

use super::ast::{Expr, Stmt, StmtKind, TypeExpr};
use super::brackets::{self, StatementSplit};
use super::edition::{self, Regrouping};
use super::error::{GrammarError, SyntaxError};
use super::lexer::{self, Lexed, Token};
use super::parser::{self, Grammar, Outcome};
use super::text::{Edition, Text};
use crate::diagnostic::Diagnostic;
use crate::source::Source;
use std::cell::LazyCell;
use std::ops::Range;

/// The result of parsing a text.
#[derive(Debug, Default)]
pub struct Parsed {
    /// The statements; unreadable ones as [`StmtKind::Error`].
    pub stmts: Vec<Stmt>,
    /// The errors.
    pub errors: Vec<Diagnostic>,
    /// The text ends inside a bracket, a block or a statement, and nothing else is wrong: more
    /// lines could complete it.
    pub incomplete: bool,
    /// The statements that version 0.1 grouped differently.
    pub regrouped: Vec<Regrouping>,
}

impl Parsed {
    /// Statements that were not read from a text of their own.
    pub fn of(stmts: Vec<Stmt>) -> Parsed {
        Parsed { stmts, ..Parsed::default() }
    }
}

/// Errors reported for one text, at most.
const MAX_ERRORS: usize = 50;

/// Parses a whole text.
pub fn parse(source: &Source) -> Parsed {
    parse_lexed(source, &lexer::lex(source))
}

/// Parses a text that is one type.
pub fn parse_type(source: &Source) -> (Option<TypeExpr>, Vec<Diagnostic>) {
    parse_one(source, parser::type_expression)
}

/// Parses a text that is one expression.
pub fn parse_expr(source: &Source) -> (Option<Expr>, Vec<Diagnostic>) {
    parse_one(source, parser::expression)
}

/// Parses the statements in parts of a text, each of one statement or several.
pub fn parse_ranges(source: &Source, ranges: impl IntoIterator<Item = Range<usize>>) -> Parsed {
    let mut all = Lexed::default();
    for range in ranges {
        let lexed = lexer::lex_range(source, range);
        all.tokens.extend(lexed.tokens);
        all.docs.extend(lexed.docs);
        all.errors.extend(lexed.errors);
        all.open_comment |= lexed.open_comment;
    }
    parse_lexed(source, &all)
}

/// Parses a text that has been lexed.
fn parse_lexed(source: &Source, lexed: &Lexed) -> Parsed {
    let cut = brackets::split_statements(source, &lexed.tokens);
    let cx = Text { text: &source.text, id: source.id, docs: &lexed.docs, edition: Edition::V02 };
    with_stack_for(&cut, || parse_statements(cx, lexed, &cut, &|_| true))
}

/// Nesting that the stack of every thread is large enough for.
const MAX_SHALLOW_DEPTH: u32 = 24;
/// Bytes of the stack for deeper texts.
const PARSER_STACK_BYTES: usize = 256 << 20;

/// Runs `work` on a stack that is large enough for the nesting of a text.
///
/// Nesting is bounded by [`brackets::MAX_DEPTH`], but a level of the grammar takes some kilobytes,
/// more than a thread of unknown origin may have left.
pub(super) fn with_stack_for<T: Send>(cut: &StatementSplit, work: impl Fn() -> T + Sync) -> T {
    if cut.max_depth <= MAX_SHALLOW_DEPTH { work() } else { with_large_stack(work) }
}

/// Runs `work` on a stack of its own.
pub(super) fn with_large_stack<T: Send>(work: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        match std::thread::Builder::new().stack_size(PARSER_STACK_BYTES).spawn_scoped(scope, &work) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // Without a thread, the present stack is most likely large enough.
            Err(_) => work(),
        }
    })
}

/// Parses those statements of a text that are selected, of all that the bracket pass has split off.
/// The errors of tokens and brackets are those of the whole text.
pub(super) fn parse_statements(
    cx: Text<'_>,
    lexed: &Lexed,
    cut: &StatementSplit,
    selected: &dyn Fn(usize) -> bool,
) -> Parsed {
    let grammar = Grammar::new(cx);
    let before = LazyCell::new(|| Grammar::new(Text { edition: Edition::V01, ..cx }));
    let mut regrouped = Vec::new();
    let mut errors: Vec<SyntaxError> = lexed.errors.iter().chain(&cut.errors).cloned().collect();
    let mut unread: Vec<u32> = lexed.errors.iter().map(|e| e.to_diagnostic().primary.span.start).collect();
    unread.sort_unstable();
    let mut incomplete = lexed.open_comment || cut.incomplete;
    let other_errors = errors.len() > usize::from(incomplete);
    let mut stmts = Vec::new();
    for (at, statement) in cut.statements.iter().enumerate().filter(|(at, _)| selected(*at)) {
        let tokens = &cut.tokens[statement.tokens.clone()];
        let span = cx.span(tokens);
        // A statement with an unreadable token would only give a second error.
        let first_unread = unread.partition_point(|&u| u < span.start);
        let unreadable = unread.get(first_unread).is_some_and(|&u| u < span.end);
        if statement.has_errors || unreadable {
            stmts.push(Stmt { kind: StmtKind::Error, span });
            continue;
        }
        let next = cut.tokens.get(statement.tokens.end);
        let Outcome { tree, errors: mut found, ends_early } = grammar.statement(tokens, next);
        if statement.semicolon_missing
            && found.is_empty()
            && let (Some(last), Some(next)) = (tokens.last(), next)
        {
            let found_words = parser::describe_token(cx, next);
            found.push(
                GrammarError::MissingSemicolon { end: cx.at(last), next: cx.at(next), found: found_words }
                    .into(),
            );
        }
        // A statement that misses its end may be one that was begun in another language.
        if let [SyntaxError::Grammar(GrammarError::MissingSemicolon { .. })] = &found[..]
            && let Some(error) = parser::foreign_word(cx, tokens, 0)
        {
            found = vec![error];
        }
        // Only what both grammars could group differently is read twice.
        if cx.edition == Edition::V02 && edition::may_differ(tokens) {
            match (&tree, &found[..]) {
                (Some(new), []) => {
                    regrouped.extend(edition::compare_editions(&before, stmts.len(), tokens, cx.text, new))
                }
                (None, [error]) => found = vec![edition::regrouped_error(&before, tokens, cx.text, error)],
                _ => {}
            }
        }
        if ends_early && at + 1 == cut.statements.len() && errors.is_empty() {
            incomplete = true;
        }
        errors.extend(found);
        stmts.push(tree.unwrap_or(Stmt { kind: StmtKind::Error, span }));
    }
    incomplete &= !other_errors;
    Parsed { stmts, errors: sorted_diagnostics(errors), incomplete, regrouped }
}

/// Returns diagnostics in the order of the text, bounded in number.
fn sorted_diagnostics(errors: Vec<SyntaxError>) -> Vec<Diagnostic> {
    let mut out: Vec<Diagnostic> = errors.iter().map(SyntaxError::to_diagnostic).collect();
    out.sort_by_key(|d| (d.primary.span.start, d.primary.span.end));
    if out.len() > MAX_ERRORS {
        let (span, more) = (out[MAX_ERRORS].primary.span, out.len() - MAX_ERRORS);
        out.truncate(MAX_ERRORS);
        out.push(GrammarError::MoreErrors { span, more }.to_diagnostic());
    }
    out
}

/// Parses a text with one rule.
fn parse_one<T: Send>(
    source: &Source,
    rule: impl for<'t> Fn(Text<'t>, &'t [Token]) -> Outcome<T> + Sync,
) -> (Option<T>, Vec<Diagnostic>) {
    let lexed = lexer::lex(source);
    let cut = brackets::split_statements(source, &lexed.tokens);
    let mut errors: Vec<SyntaxError> = lexed.errors.iter().chain(&cut.errors).cloned().collect();
    if !errors.is_empty() {
        return (None, sorted_diagnostics(errors));
    }
    let cx = Text { text: &source.text, id: source.id, docs: &lexed.docs, edition: Edition::V02 };
    let outcome = with_stack_for(&cut, || rule(cx, &cut.tokens));
    errors.extend(outcome.errors);
    let tree = if errors.is_empty() { outcome.tree } else { None };
    (tree, sorted_diagnostics(errors))
}
