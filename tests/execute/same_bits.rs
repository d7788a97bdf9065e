//! The same bits for each number of threads and each width of vectors: of the examples, of the everyday programs, and of
//! what the library computes (`tests/stdlib/bits.flx`, whose golden hashes hold on every machine).

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
fn printed(program: &Path, (threads, bits): (&str, &str)) -> String {
    let run = Command::new(env!("CARGO_BIN_EXE_felis"))
        .arg(program)
        .env("FELIS_THREADS", threads)
        .env("FELIS_VECTORS", bits)
        .current_dir(program.parent().expect("a folder"))
        .stdin(Stdio::null())
        .output()
        .expect("the program starts");
    String::from_utf8_lossy(&run.stdout).into_owned() + &String::from_utf8_lossy(&run.stderr)
}

fn examples_have_the_same_bits(part: usize, parts: usize) {
    let found = programs("examples").into_iter().chain(programs("examples/cookbook"));
    let mut count = 0;
    for (at, program) in found.enumerate() {
        count += 1;
        if at % parts != part {
            continue;
        }
        let wanted = fs::read_to_string(program.with_extension("out")).expect("a text");
        for setting in SETTINGS {
            assert_eq!(printed(&program, setting), wanted, "{}: {setting:?}", program.display());
        }
    }
    assert!(count > 50, "only {count} programs were found");
}
in_four_parts!(examples_have_the_same_bits);

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
