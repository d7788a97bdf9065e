//! Runs of the examples in doc comments, the `test` blocks and the timed `bench` blocks of a
//! program.
//!
//! Takes a program's text; runs it without output, then each example and each test in the state
//! that the program's own run has left. Gives the outcome of each; keeps nothing.
//!
//! An example is a line `/// > EXPRESSION` in a doc comment, followed by its expected output: the
//! value as `str` writes it, or what it prints.

use super::deadline::Deadline;
use super::diagnostics::internal_error;
use super::transaction::TransactionEnd;
use super::{Mode, Outcome, Session, Status, detached_source};
use felis_base::diagnostic::Diagnostic;
use felis_base::source::{Span, line_number};
use felis_calculus::core::{Script, Stmt, StmtKind as CoreStmt, Term, TermKind};
use felis_calculus::types::Type;
use felis_check::check::env::Callable;
use felis_check::check::module::test_name;
use felis_syntax::syntax;
use felis_syntax::syntax::ast::StmtKind;
use felis_syntax::syntax::lexer::{comment_length, lex};
use std::time::{Duration, Instant};

/// The report of one example or test.
#[derive(Clone, Debug)]
pub struct TestReport {
    /// The example's expression, or the test's name.
    pub name: String,
    /// True for an example, false for a test.
    pub example: bool,
    /// Its line in the text, from 1.
    pub line: usize,
    /// The outcome.
    pub outcome: TestOutcome,
    /// The time that it took.
    pub time: Duration,
}

/// The examples and tests to run, and their time limit.
#[derive(Clone, Debug, Default)]
pub struct TestSelection {
    /// Only those whose name contains one of these texts; all, if there is none.
    pub only: Vec<String>,
    /// The time limit of each, and of the program before them.
    pub limit: Option<Duration>,
}

impl TestSelection {
    /// Returns true if a name is selected.
    fn includes(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|part| name.contains(part.as_str()))
    }
}

/// The result of a program and of its tests.
#[derive(Debug)]
pub struct TestRun {
    /// The result of the program itself; interrupted if a test was.
    pub outcome: Outcome,
    /// The number of examples and tests that were not selected.
    pub skipped: usize,
    /// True if the program itself exceeded the limit, so that nothing was tested.
    pub timed_out: bool,
}

/// The outcome of an example or test.
#[derive(Clone, Debug)]
pub enum TestOutcome {
    /// Success.
    Passed,
    /// The example gives something else.
    Differs {
        /// The lines of the comment.
        expected: String,
        /// The actual output.
        found: String,
    },
    /// A rejection, or a failure at run time.
    Failed(Vec<Diagnostic>),
    /// An excess of the time limit.
    TimedOut(Duration),
    /// The interrupt flag stopped it.
    Interrupted,
}

/// A `bench` block that was run again and again.
#[derive(Clone, Debug)]
pub struct BenchReport {
    /// Its name.
    pub name: String,
    /// Its line in the text, from 1.
    pub line: usize,
    /// The times of the runs, in order.
    pub runs: Vec<Duration>,
    /// The outcome; the first run that does not pass is the last one.
    pub outcome: TestOutcome,
}

/// Runs of a `bench` block, at least and at most.
const MIN_BENCH_RUNS: usize = 5;
/// The most runs of a `bench` block.
const MAX_BENCH_RUNS: usize = 100_000;

/// An example as it is written.
struct Example<'t> {
    expression: &'t str,
    line: usize,
    expected: Vec<&'t str>,
}

impl Session {
    /// Runs the examples and tests of a program; `each` receives the report of every one.
    pub fn test(
        &mut self,
        name: &str,
        text: &str,
        selection: &TestSelection,
        each: &mut dyn FnMut(&Session, TestReport),
    ) -> TestRun {
        let limit = Deadline::start(selection.limit, &self.interrupt);
        let outcome = self.evaluate(name, text, Mode::Script, &mut |_| ());
        let timed_out = limit.end() && outcome.status == Status::Interrupted;
        let mut ran = TestRun { outcome, skipped: 0, timed_out };
        if ran.outcome.status != Status::Ok {
            return ran;
        }
        let examples = doc_examples(text);
        let source = detached_source(text);
        let stmts = syntax::parse(&source).stmts;
        let tests = stmts.iter().filter_map(|stmt| match &stmt.kind {
            StmtKind::Test { bench: false, title, .. } => {
                Some((&title.text[..], line_number(text, stmt.span.start as usize)))
            }
            _ => None,
        });
        let all = examples.iter().map(|example| (example.expression, example.line, Some(example)));
        for (title, line, example) in all.chain(tests.map(|(title, line)| (title, line, None))) {
            if !selection.includes(title) {
                ran.skipped += 1;
                continue;
            }
            let start = Instant::now();
            let limit = Deadline::start(selection.limit, &self.interrupt);
            let outcome = match example {
                Some(example) => self.run_example(example),
                None => self.run_test(title),
            };
            let outcome = match (limit.end(), outcome, selection.limit) {
                (true, TestOutcome::Interrupted, Some(limit)) => TestOutcome::TimedOut(limit),
                (_, outcome, _) => outcome,
            };
            let stop = matches!(outcome, TestOutcome::Interrupted);
            let (name, example) = (title.to_string(), example.is_some());
            each(self, TestReport { name, example, line, outcome, time: start.elapsed() });
            if stop {
                ran.outcome.status = Status::Interrupted;
                break;
            }
        }
        ran
    }

    /// Runs an example and compares its output with the comment.
    fn run_example(&mut self, example: &Example<'_>) -> TestOutcome {
        let Example { expression, expected, .. } = example;
        let mut printed = String::new();
        let done =
            self.evaluate_and_roll_back("example", &format!("{expression};"), &mut |text| printed += text);
        match done.status {
            Status::Interrupted => TestOutcome::Interrupted,
            Status::Ok => {
                let mut found = printed;
                if let Some(value) = done.value {
                    found.push_str(&value.text);
                }
                let found = found.trim_end_matches('\n').to_string();
                // As many lines as there are to compare; prose may follow.
                let count = found.lines().count().max(1);
                let said = expected[..count.min(expected.len())].join("\n");
                if said == found {
                    TestOutcome::Passed
                } else {
                    TestOutcome::Differs { expected: said, found }
                }
            }
            _ => TestOutcome::Failed(done.diagnostics),
        }
    }

    /// Evaluates a text and keeps nothing of it.
    fn evaluate_and_roll_back(&mut self, name: &str, text: &str, out: &mut dyn FnMut(&str)) -> Outcome {
        self.transaction(name, text, |session, first, parsed, diagnostics| {
            let script = session.check_input(parsed, diagnostics)?;
            Ok((
                session.run_modules_and_script(first, &script, Mode::Line, out, diagnostics)?,
                TransactionEnd::RollBack,
            ))
        })
    }

    /// Runs a program, its output unseen, and then each of its `bench` blocks again and again, for
    /// about so long; `each` hears of every one when it is done. The outcome is that of the program
    /// itself. A block finds what its earlier runs have stored; when it is done, everything is as
    /// the program left it.
    pub fn bench(
        &mut self,
        name: &str,
        text: &str,
        time: Duration,
        each: &mut dyn FnMut(&Session, BenchReport),
    ) -> Outcome {
        let program = self.evaluate(name, text, Mode::Script, &mut |_| ());
        if program.status != Status::Ok {
            return program;
        }
        let source = detached_source(text);
        for stmt in syntax::parse(&source).stmts {
            let StmtKind::Test { bench: true, title, .. } = &stmt.kind else { continue };
            let line = line_number(text, stmt.span.start as usize);
            let mut runs = Vec::new();
            let outcome = self.run_timed(&title.text, time, &mut runs);
            let stop = matches!(outcome, TestOutcome::Interrupted);
            each(self, BenchReport { name: title.text.to_string(), line, runs, outcome });
            if stop {
                return Outcome { status: Status::Interrupted, ..program };
            }
        }
        program
    }

    /// Runs a `test` block and puts the session back.
    fn run_test(&mut self, title: &str) -> TestOutcome {
        let Some(script) = self.block_call(&test_name(false, title)) else {
            return TestOutcome::Failed(vec![internal_error(Span::default())]);
        };
        let done = self.with_rollback(Span::default(), |session| Ok(session.run_block(&script)));
        done.unwrap_or_else(TestOutcome::Failed)
    }

    /// Runs a `bench` block again and again for about `time`, and puts the session back.
    fn run_timed(&mut self, title: &str, time: Duration, runs: &mut Vec<Duration>) -> TestOutcome {
        let Some(script) = self.block_call(&test_name(true, title)) else {
            return TestOutcome::Failed(vec![internal_error(Span::default())]);
        };
        let done = self.with_rollback(Span::default(), |session| {
            let begun = Instant::now();
            while runs.len() < MAX_BENCH_RUNS && (runs.len() < MIN_BENCH_RUNS || begun.elapsed() < time) {
                let start = Instant::now();
                match session.run_block(&script) {
                    TestOutcome::Passed => runs.push(start.elapsed()),
                    other => return Ok(other),
                }
            }
            Ok(TestOutcome::Passed)
        });
        done.unwrap_or_else(TestOutcome::Failed)
    }

    /// Runs a script, its output unseen.
    fn run_block(&mut self, script: &Script) -> TestOutcome {
        match self.run_script(script, Mode::Script, &mut |_| ()) {
            Ok(_) => TestOutcome::Passed,
            Err((Status::Interrupted, _)) => TestOutcome::Interrupted,
            Err((_, diagnostic)) => TestOutcome::Failed(vec![*diagnostic]),
        }
    }

    /// A script that calls the procedure of a block.
    fn block_call(&self, name: &str) -> Option<Script> {
        let Some([Callable::Function(id)]) = self.env.callables(name) else { return None };
        let (function, unit) = (*id, Term::new(TermKind::Tuple(Vec::new()), Type::unit(), Span::default()));
        let closure = TermKind::Closure { function, type_args: Vec::new(), captures: Vec::new() };
        let head = Term::new(closure, Type::procedure(Type::unit()), Span::default());
        let call = Term::new(TermKind::Call(Box::new(head), vec![unit]), Type::unit(), Span::default());
        let stmt = Stmt { kind: CoreStmt::Expr(call), span: Span::default() };
        Some(Script { locals: Vec::new(), body: vec![stmt], result: None })
    }
}

/// The examples in the doc comments of a text.
fn doc_examples(text: &str) -> Vec<Example<'_>> {
    let lines = doc_comment_lines(text);
    let mut out = Vec::new();
    for (at, (number, line)) in lines.iter().enumerate() {
        let Some(expression) = line.strip_prefix("> ") else { continue };
        let after = lines[at + 1..].iter().zip(number + 1..);
        let below = after.take_while(|((line, text), next)| line == next && !text.starts_with("> "));
        let expected = below.map(|((_, text), _)| *text).collect();
        out.push(Example { expression: expression.trim().trim_end_matches(';'), line: number + 1, expected });
    }
    out
}

/// The lines of doc comments, with their numbers from 0. Lines in a block comment are none.
fn doc_comment_lines(text: &str) -> Vec<(usize, &str)> {
    let source = detached_source(text);
    let tokens = lex(&source).tokens;
    let starts = tokens.iter().map(|token| token.start as usize).chain([text.len()]);
    let (mut lines, mut number, mut counted, mut at) = (Vec::new(), 0, 0, 0);
    for (index, end) in starts.enumerate() {
        while at < end {
            let rest = &text[at..end];
            at += if rest.starts_with("//") {
                let line = &rest[..rest.find('\n').unwrap_or(rest.len())];
                if let Some(doc) = line.strip_prefix("///").filter(|doc| !doc.starts_with('/')) {
                    number += text[counted..at].matches('\n').count();
                    counted = at;
                    lines.push((number, doc.strip_prefix(' ').unwrap_or(doc).trim_end_matches('\r')));
                }
                line.len()
            } else if let Some(comment) = rest.strip_prefix("/*") {
                comment_length(comment).map_or(rest.len(), |length| length + 2)
            } else {
                rest.chars().next().map_or(1, char::len_utf8)
            };
        }
        at = tokens.get(index).map_or(end, |token| token.end as usize);
    }
    lines
}
