//! The evaluator and compiled code agree: on every program of the project, in every bit.

use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::fs;
use std::path::{Path, PathBuf};

/// What becomes of a program: how it ends, what it prints, what it reports.
fn run(executor: Executor, threads: usize, program: &str) -> (Status, String, Vec<String>) {
    let mut out = String::new();
    let mut session = Session::new().with_executor(executor, threads);
    let outcome = session.evaluate("program", program, Mode::Script, &mut |text| out += text);
    let reported = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    (outcome.status, out, reported)
}

fn agree(name: &str, program: &str) {
    on_large_stack(|| {
        let reference = run(Executor::Reference, 1, program);
        for (executor, threads) in [(Executor::Eager, 1), (Executor::Compiled, 2)] {
            let compiled = run(executor, threads, program);
            assert_eq!(compiled, reference, "{name}, {executor:?}");
        }
    });
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "flx"))
        .collect();
    found.sort();
    found
}

#[test]
fn examples_agree() {
    for path in programs("examples") {
        let text = fs::read_to_string(&path).expect("a program");
        if !text.lines().any(|line| line.starts_with("import")) {
            agree(&path.display().to_string(), &text);
        }
    }
}
