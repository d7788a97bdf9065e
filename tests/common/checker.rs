//! Runs a program the way a session does, for tests: text → tree → core → value, with all that is
//! said on the way.

#![allow(dead_code)] // each program uses its part

use felis::check::{self, Env};
use felis::core::{Program, Script};
use felis::diagnostic::{Diagnostic, render};
use felis::eval::{Host, Machine, stack_guard};
use felis::session::{FileSystem, Mode, Session};
use felis::source::SourceMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The stack that a test program may use.
const STACK: usize = 256 << 20;
/// The memory that one value of a test program may use.
const MEMORY: u64 = 64 << 20;
/// A program that prints this is interrupted, as if by Ctrl-C.
const STOP: &str = "STOP";

/// The files of `tests/files`, which nobody writes.
pub struct Fixtures;

impl FileSystem for Fixtures {
    fn read(&self, path: &str, _: u64) -> Result<Vec<u8>, String> {
        fs::read(folder("tests/files").join(path)).map_err(|_| "there is no such file".to_string())
    }

    fn write(&self, _: &str, _: &[u8]) -> Result<(), String> {
        Err("there is no permission to write it".to_string())
    }
}

/// What became of a program.
#[derive(Default)]
pub struct Outcome {
    /// Everything said about it, as rendered.
    pub shown: String,
    /// The same before it is rendered.
    pub diagnostics: Vec<Diagnostic>,
    /// What it printed, and the value of its last expression as `_strr` gives it.
    pub output: String,
    /// The checked program, if it has no errors.
    pub checked: Option<(Program, Script)>,
}

/// Checks a program and, if it has no errors and `evaluate`, runs it.
pub fn run(name: &str, text: &str, evaluate: bool) -> Outcome {
    let library = name.starts_with("library_");
    let here = || if library { run_in_session(name, text) } else { run_here(name, text, evaluate) };
    stack_guard::with_stack(STACK, here).expect("a thread")
}

/// The same with the standard library.
fn run_in_session(name: &str, text: &str) -> Outcome {
    let mut session = Session::new();
    session.set_memory(MEMORY);
    session.set_files(Arc::new(Fixtures));
    let mut output = String::new();
    let done = session.evaluate(name, text, Mode::Script, &mut |text| output.push_str(text));
    let shown = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
    Outcome { shown, diagnostics: done.diagnostics, output, checked: None }
}

fn run_here(name: &str, text: &str, evaluate: bool) -> Outcome {
    let mut map = SourceMap::new();
    let source = map.add(name, text);
    let mut outcome = Outcome::default();
    let parsed = felis::syntax::parse(&source);
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
                    interrupt: &interrupt,
                    memory: MEMORY,
                    files: Some(&Fixtures),
                    screen: felis::eval::Screen::default(),
                };
                match machine.run(&program, &script, &mut host) {
                    Ok(Some(value)) => {
                        let ty = script.result.as_ref().map(|r| machine.concrete(&r.ty));
                        let text = ty.map(|ty| felis::eval::display(&value, &ty)).unwrap_or_default();
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

/// What a program prints; it must have no diagnostics at all.
#[track_caller]
pub fn output(text: &str) -> String {
    let outcome = run("test.flx", text, true);
    assert!(outcome.shown.is_empty(), "{text}\n{}", outcome.shown);
    outcome.output
}

/// The codes of what is said about a program, in order.
pub fn codes(text: &str) -> Vec<&'static str> {
    run("test.flx", text, true).diagnostics.iter().map(|d| d.code).collect()
}

/// A folder of the repository.
pub fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// The programs of a folder whose names begin with one of these, with their texts, by name.
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
