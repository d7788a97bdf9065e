//! The programs in `examples`: each prints exactly its `.out`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut programs: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the examples are in `examples`")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "flx"))
        .collect();
    programs.sort();
    programs
}

#[test]
fn every_program_prints_its_out() {
    let mut wrong = String::new();
    for program in programs() {
        let expected = fs::read_to_string(program.with_extension("out")).expect("an `.out` beside it");
        let run = Command::new(env!("CARGO_BIN_EXE_felis"))
            .arg(&program)
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        let printed = String::from_utf8_lossy(&run.stdout);
        let complaints = String::from_utf8_lossy(&run.stderr);
        if !run.status.success() || printed != expected || !complaints.is_empty() {
            let line = expected.lines().zip(printed.lines()).position(|(e, p)| e != p);
            let name = program.display();
            wrong += &format!("{name}: {}, first difference in line {line:?}\n{complaints}", run.status);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(programs().len() >= 14);
}

#[test]
fn no_out_is_left_without_its_program() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    for entry in fs::read_dir(folder).expect("the examples are in `examples`") {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_some_and(|e| e == "out") {
            assert!(path.with_extension("flx").exists(), "{}", path.display());
        }
    }
}
