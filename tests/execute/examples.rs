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

/// The folder of the everyday programs, from which they are run: they read files of `data`.
fn cookbook() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/cookbook")
}

#[test]
fn everyday_programs_print_their_out() {
    let mut count = 0;
    for entry in fs::read_dir(cookbook()).expect("the programs are in `examples/cookbook`") {
        let program = entry.expect("a readable entry").path();
        if program.extension().is_none_or(|e| e != "flx") {
            continue;
        }
        count += 1;
        let expected = fs::read_to_string(program.with_extension("out")).expect("an `.out` beside it");
        assert!(program.with_extension("py").exists(), "{} has no twin in Python", program.display());
        let run = Command::new(env!("CARGO_BIN_EXE_felis"))
            .arg(&program)
            .current_dir(cookbook())
            .stdin(Stdio::null())
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&run.stderr);
        assert_eq!(
            (String::from_utf8_lossy(&run.stdout), said),
            (expected.into(), "".into()),
            "{}",
            program.display()
        );
    }
    assert_eq!(count, 14);
}

#[test]
fn everyday_programs_are_as_short_as_in_python() {
    let counted = Command::new("python3").arg("tokens.py").current_dir(cookbook()).output();
    let Ok(counted) = counted else { return println!("skipped: there is no python3") };
    let said = String::from_utf8_lossy(&counted.stdout);
    assert!(counted.status.success(), "{said}{}", String::from_utf8_lossy(&counted.stderr));
    assert_eq!(said.lines().count(), 15, "{said}");
}

#[test]
fn twins_in_python_print_the_same() {
    let python = |code: &str| Command::new("python3").args(["-c", code]).output();
    if !python("import numpy, zoneinfo; zoneinfo.ZoneInfo('Asia/Tokyo')")
        .is_ok_and(|run| run.status.success())
    {
        return println!("skipped: there is no python3 with NumPy and time zones");
    }
    for entry in fs::read_dir(cookbook()).expect("the programs are in `examples/cookbook`") {
        let program = entry.expect("a readable entry").path();
        if program.extension().is_none_or(|e| e != "out") {
            continue;
        }
        let twin = program.with_extension("py");
        let run =
            Command::new("python3").arg(&twin).current_dir(cookbook()).output().expect("python3 starts");
        let said = String::from_utf8_lossy(&run.stderr);
        let expected = fs::read_to_string(&program).expect("a text");
        assert_eq!(
            (String::from_utf8_lossy(&run.stdout), said),
            (expected.into(), "".into()),
            "{}",
            twin.display()
        );
    }
}
