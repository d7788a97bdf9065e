//! Statements that version 0.1 grouped differently: checked in today's reading, with a warning
//! where the earlier reading may be meant.
//!
//! A statement gets a warning if it fails today, or if it could be checked in either reading. The
//! earlier readings of a text are checked once all together. If some fail, those that pass are
//! checked once more each, since statements after an error are not reported. A text without such
//! statements is checked once.

use super::annotation_collector::AnnotationCollector;
use felis_base::diagnostic::Diagnostic;
use felis_base::source::{SourceMap, Span};
use felis_calculus::core::{Program, Script};
use felis_check::check::{self, Env};
use felis_syntax::syntax::ast::Stmt;
use felis_syntax::syntax::edition::Regrouping;
use felis_syntax::syntax::{self, Parsed};
use std::ops::Range;

/// The most statements of a text that are checked by themselves.
const MAX_SEPARATE_CHECKS: usize = 8;

/// Checks statements; the collector receives their annotations.
pub(super) fn check_both_readings(
    collector: &mut Option<AnnotationCollector>,
    env: &mut Env,
    program: &mut Program,
    sources: &SourceMap,
    parsed: &Parsed,
) -> (Option<Script>, Vec<Diagnostic>) {
    let before = (!parsed.regrouped.is_empty()).then(|| env.clone());
    let bodies = collector.as_mut().and_then(AnnotationCollector::take_bodies);
    let (script, mut said) = match collector {
        None => check::check(env, program, &parsed.stmts),
        Some(collector) => {
            let notes = collector.annotations_mut();
            let done = check::check_noting(env, program, &parsed.stmts, notes, bodies.as_deref());
            collector.record_functions(env);
            done
        }
    };
    for help in said.iter_mut().flat_map(|said| said.help.iter_mut().chain(&mut said.alternatives)) {
        let text = help.edits.first().and_then(|(span, _)| sources.get(span.source));
        if let Some(source) = text {
            syntax::edition::group_cast(&source.text, help);
        }
    }
    let Some(mut before) = before else { return (script, said) };
    let fails = script.is_none();
    let doubtful = match fails {
        true => {
            let wrong = |reread: &&Regrouping| has_error_in(&said, parsed.stmts[reread.at].span);
            parsed.regrouped.iter().filter(wrong).collect()
        }
        false => {
            before.number_after(env);
            let doubtful = valid_in_both_readings(&before, program, parsed, bodies.as_deref());
            env.number_after(&before);
            doubtful
        }
    };
    for reread in doubtful {
        let text = &sources.get(reread.place.source).expect("the text of a statement").text;
        said.push(reread.warning(text, fails));
    }
    (script, said)
}

/// The statements that could be checked as they were read before.
fn valid_in_both_readings<'p>(
    before: &Env,
    program: &mut Program,
    parsed: &'p Parsed,
    bodies: Option<&[Range<u32>]>,
) -> Vec<&'p Regrouping> {
    let extent = program.extent();
    let mut errors = |rereads: &[&Regrouping]| {
        let mut stmts: Vec<Stmt> = parsed.stmts.clone();
        for reread in rereads {
            stmts[reread.at] = reread.old.clone();
        }
        let env = &mut before.clone();
        let (_, mut said) = check::check_noting(env, program, &stmts, &mut None, bodies);
        program.truncate(&extent);
        said.retain(Diagnostic::is_error);
        said
    };
    let all: Vec<&Regrouping> = parsed.regrouped.iter().collect();
    let said = errors(&all);
    let passes = |reread: &&Regrouping| !has_error_in(&said, parsed.stmts[reread.at].span);
    let mut passing: Vec<&Regrouping> = all.into_iter().filter(passes).collect();
    if !said.is_empty() {
        passing.truncate(MAX_SEPARATE_CHECKS);
        passing.retain(|reread| errors(&[reread]).is_empty());
    }
    passing
}

/// Returns true if an error lies within a statement.
fn has_error_in(said: &[Diagnostic], stmt: Span) -> bool {
    said.iter().filter(|said| said.is_error()).any(|said| {
        let at = said.primary.span;
        at.source == stmt.source && at.start >= stmt.start && at.end <= stmt.end
    })
}
