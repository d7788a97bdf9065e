//! Runs of programs for tests, as a session does it: text → tree → core → value, with all messages.

#![allow(dead_code)] // each program uses its part

use felis::session::{FileSystem, Mode, Session, Status};
use felis_base::diagnostic::{Diagnostic, render};
use felis_base::source::SourceMap;
use felis_calculus::core::{Program, Script};
use felis_check::check::{self, Env};
use felis_runtime::eval::{Host, Machine, stack_guard};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The maximum stack of a test program, in bytes.
const STACK: usize = 256 << 20;
/// The maximum size of one value of a test program, in bytes.
const MEMORY: u64 = 64 << 20;
/// A program that prints this text is interrupted, as if by Ctrl-C.
const STOP: &str = "STOP";

/// The files of `tests/files`, read-only.
pub struct Fixtures;

impl FileSystem for Fixtures {
    fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, String> {
        fs::read(folder("tests/files").join(path)).map_err(|_| "there is no such file".to_string())
    }

    fn write(&self, _: &str, _: &[u8]) -> Result<(), String> {
        Err("there is no permission to write it".to_string())
    }
}

/// The outcome of a program.
#[derive(Default)]
pub struct Outcome {
    /// All messages, rendered.
    pub shown: String,
    /// All messages, not rendered.
    pub diagnostics: Vec<Diagnostic>,
    /// The output, and the value of the last expression as `_strr` returns it.
    pub output: String,
    /// The checked program, if it has no errors.
    pub checked: Option<(Program, Script)>,
}

/// Checks a program and, if it has no errors and `evaluate` is set, runs it.
pub fn run(name: &str, text: &str, evaluate: bool) -> Outcome {
    let library = name.starts_with("library_");
    let here = || if library { run_in_session(name, text) } else { run_here(name, text, evaluate) };
    stack_guard::with_stack(STACK, here).expect("a thread")
}

/// Does the same with the standard library.
fn run_in_session(name: &str, text: &str) -> Outcome {
    let mut session = Session::new();
    session.set_max_value_bytes(MEMORY);
    session.set_files(Arc::new(Fixtures));
    let mut output = String::new();
    let done = session.evaluate(name, text, Mode::Script, &mut |text| output.push_str(text));
    let shown = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
    Outcome { shown, diagnostics: done.diagnostics, output, checked: None }
}

/// Runs programs of one session after another program, which they find as it was: each of them
/// fails.
pub fn run_after(prelude: &str, name: &str, programs: &[&str]) -> Vec<Outcome> {
    let run = || {
        let mut session = Session::new();
        session.set_max_value_bytes(MEMORY);
        let begun = session.evaluate("prelude", prelude, Mode::Script, &mut |_| ());
        let said: String = begun.diagnostics.iter().map(|d| session.render(d, false)).collect();
        assert_eq!(begun.status, Status::Ok, "{prelude}\n{said}");
        let mut one = |text: &&str| {
            let mut output = String::new();
            let done = session.evaluate(name, text, Mode::Script, &mut |text| output.push_str(text));
            let shown = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
            Outcome { shown, diagnostics: done.diagnostics, output, checked: None }
        };
        programs.iter().map(&mut one).collect()
    };
    stack_guard::with_stack(STACK, run).expect("a thread")
}

/// Checks texts, with the standard library, in one session: none leaves anything but what has been
/// read of the library.
pub fn check_each(name: &str, texts: &[String]) -> Vec<Outcome> {
    let check = || {
        let mut session = Session::new();
        let mut one = |text: &String| {
            let done = session.check(name, text);
            let shown = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
            Outcome { shown, diagnostics: done.diagnostics, ..Outcome::default() }
        };
        texts.iter().map(&mut one).collect()
    };
    stack_guard::with_stack(STACK, check).expect("a thread")
}

fn run_here(name: &str, text: &str, evaluate: bool) -> Outcome {
    let mut map = SourceMap::new();
    let source = map.add(name, text);
    let mut outcome = Outcome::default();
    let parsed = felis_syntax::syntax::parse(&source);
    outcome.diagnostics = parsed.errors;
    if outcome.diagnostics.is_empty() {
        let (mut env, mut program) = (Env::new(), Program::default());
        let (script, said) = check::check(&mut env, &mut program, &parsed.stmts);
        outcome.diagnostics = said;
        if let Some(script) = script {
            if evaluate {
                let mut machine = Machine::new();
                let interrupt = AtomicBool::new(false);
                let output = &mut outcome.output;
                let mut out = |text: &str| {
                    output.push_str(text);
                    interrupt.store(text.contains(STOP), Ordering::Relaxed);
                };
                let mut host = Host {
                    out: &mut out,
                    out_here: None,
                    interrupt: &interrupt,
                    memory: MEMORY,
                    files: Some(&Fixtures),
                    system: None,
                    screen: felis_runtime::eval::Screen::default(),
                };
                match machine.run(&program, &script, &mut host) {
                    Ok(Some(value)) => {
                        let ty = script.result.as_ref().map(|r| machine.concrete(&r.ty));
                        let text = ty.map(|ty| felis_runtime::eval::display(&value, &ty)).unwrap_or_default();
                        outcome.output.push_str(&text);
                    }
                    Ok(None) => {}
                    Err(error) => outcome.diagnostics.push(error.to_diagnostic()),
                }
            }
            outcome.checked = Some((program, script));
        }
    }
    outcome.shown = outcome.diagnostics.iter().map(|d| render(d, &map, false)).collect();
    outcome
}

/// Returns the output of a program, which must have no diagnostics.
#[track_caller]
pub fn output(text: &str) -> String {
    let outcome = run("test.flx", text, true);
    assert!(outcome.shown.is_empty(), "{text}\n{}", outcome.shown);
    outcome.output
}

/// Returns the codes of a program's messages, in order.
pub fn codes(text: &str) -> Vec<&'static str> {
    run("test.flx", text, true).diagnostics.iter().map(|d| d.code.as_str()).collect()
}

/// Returns a folder of the repository.
pub fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// Returns the programs of a folder whose names begin with one of these prefixes, with their texts,
/// by name.
pub fn programs(path: &str, prefixes: &[&str]) -> Vec<(String, String)> {
    let Ok(entries) = fs::read_dir(folder(path)) else { return Vec::new() };
    let mut found: Vec<(String, String)> = entries
        .flatten()
        .filter_map(|entry| Some((entry.file_name().into_string().ok()?, entry.path())))
        .filter(|(name, _)| name.ends_with(".flx") && prefixes.iter().any(|p| name.starts_with(p)))
        .map(|(name, path)| (name, fs::read_to_string(path).expect("readable")))
        .collect();
    found.sort();
    found
}
