//! The same bits for each number of threads, each width of vectors and each target: of the examples,
//! of the everyday programs, and of what the library computes (`tests/stdlib/bits.flx`, whose golden
//! hashes hold on every machine).
//!
//! The command for a second target is that of `FELIS_SECOND_TARGET`, words separated by blanks: an
//! emulator and a program built for it, as `.ci/run` builds one. Without it that part is skipped with
//! a printed line.

use crate::in_four_parts;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Numbers of threads with bits of a vector, each once.
const SETTINGS: [(&str, &str); 3] = [("1", "128"), ("2", "256"), ("7", "512")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the programs of a folder that have an `.out` beside them.
fn programs(folder: &str) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = fs::read_dir(root().join(folder))
        .expect("a folder")
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "flx") && path.with_extension("out").exists())
        .collect();
    found.sort();
    found
}

/// Returns what a program prints, run from its folder, and says.
fn printed(program: &Path, setting: (&str, &str)) -> String {
    printed_by(Command::new(env!("CARGO_BIN_EXE_felis")), program, setting)
}

fn printed_by(mut felis: Command, program: &Path, (threads, bits): (&str, &str)) -> String {
    let run = felis
        .arg(program)
        .env("FELIS_THREADS", threads)
        .env("FELIS_VECTORS", bits)
        .current_dir(program.parent().expect("a folder"))
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr)
}

/// Returns one part of the examples and the everyday programs, with what each prints.
fn examples(part: usize, parts: usize) -> impl Iterator<Item = (PathBuf, String)> {
    let found: Vec<PathBuf> = programs("examples").into_iter().chain(programs("examples/cookbook")).collect();
    assert!(found.len() > 50, "only {} programs were found", found.len());
    found.into_iter().skip(part).step_by(parts).map(|program| {
        let wanted = fs::read_to_string(program.with_extension("out")).expect("a text");
        (program, wanted)
    })
}

fn examples_have_the_same_bits(part: usize, parts: usize) {
    for (program, wanted) in examples(part, parts) {
        for setting in SETTINGS {
            assert_eq!(printed(&program, setting), wanted, "{}: {setting:?}", program.display());
        }
    }
}
in_four_parts!(examples_have_the_same_bits);

/// Returns the command for the second target, if there is one.
fn second_target() -> Option<Command> {
    let Ok(words) = std::env::var("FELIS_SECOND_TARGET") else {
        println!("skipped: FELIS_SECOND_TARGET names no command for a second target");
        return None;
    };
    let mut words = words.split(' ');
    let mut command = Command::new(words.next().expect("a command"));
    command.args(words);
    Some(command)
}

fn examples_have_the_same_bits_on_a_second_target(part: usize, parts: usize) {
    for (program, wanted) in examples(part, parts) {
        let Some(felis) = second_target() else { return };
        assert_eq!(printed_by(felis, &program, ("2", "128")), wanted, "{}", program.display());
    }
}
in_four_parts!(examples_have_the_same_bits_on_a_second_target);

#[test]
fn the_library_computes_the_same_bits_on_a_second_target() {
    let Some(felis) = second_target() else { return };
    let program = root().join("tests/stdlib/bits.flx");
    let wanted = fs::read_to_string(program.with_extension("out")).expect("a text");
    assert_eq!(printed_by(felis, &program, ("1", "128")), wanted);
}

/// `BLESS=1` writes the hashes, after a change of what is computed.
#[test]
fn the_library_computes_the_same_bits() {
    let program = root().join("tests/stdlib/bits.flx");
    let golden = program.with_extension("out");
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        fs::write(&golden, printed(&program, SETTINGS[0])).expect("writable");
    }
    let wanted = fs::read_to_string(&golden).expect("a text");
    for setting in SETTINGS {
        assert_eq!(printed(&program, setting), wanted, "{setting:?}");
    }
    assert!(wanted.lines().count() > 20);
}
