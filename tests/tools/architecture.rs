//! The architecture: dependencies between rooms point downward, every file has a head comment, and
//! no unfinished code is left as a panic.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The rooms from the lowest up, each with the lower rooms that it may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("source", &[]),
    ("diagnostic", &["source"]),
    ("quote", &[]),
    ("hash", &[]),
    ("id", &[]),
    ("mnemonic", &[]),
    ("cancellation", &[]),
    ("syntax", &["hash", "source", "diagnostic", "quote"]),
    ("suggest", &[]),
    ("elementary", &[]),
    ("types", &["hash", "cancellation", "quote"]),
    ("iso", &["hash", "id", "cancellation", "types"]),
    ("core", &["hash", "id", "source", "elementary", "types", "iso"]),
    ("check", &["hash", "cancellation", "source", "diagnostic", "suggest", "syntax", "types", "iso", "core"]),
    ("value", &["types", "core", "source"]),
    ("layout", &["hash", "types", "value"]),
    ("calendar", &[]),
    ("data", &["hash", "source", "diagnostic", "quote", "suggest", "types", "value", "calendar"]),
    ("picture", &[]),
    ("network", &[]),
    ("system", &[]),
    ("kernel", &["source", "types", "core", "value", "layout"]),
    ("config", &["suggest"]),
    ("certificate", &["config"]),
    ("frame", &["network"]),
    ("handshake", &["network", "config", "certificate", "frame"]),
    ("tls", &["network", "config", "certificate", "frame", "handshake"]),
    ("parameters", &[]),
    ("key", &["parameters"]),
    ("error", &["key"]),
    ("magnitude", &[]),
    ("random", &[]),
    ("paillier", &["parameters", "key", "magnitude", "random"]),
    ("bfv", &["parameters", "key", "magnitude", "random"]),
    ("shamir", &["random"]),
    ("intersection", &["random"]),
    ("loop_ir", &["hash", "id", "mnemonic", "core"]),
    ("array_ir", &["hash", "id", "mnemonic", "source", "types", "core"]),
    ("build", &["hash", "id", "source", "types", "core", "array_ir"]),
    (
        "eval",
        &[
            "hash",
            "id",
            "source",
            "diagnostic",
            "elementary",
            "types",
            "iso",
            "core",
            "value",
            "layout",
            "calendar",
            "data",
            "picture",
            "network",
            "system",
            "kernel",
            // With the feature `ciphers`.
            "key",
            "magnitude",
            "paillier",
            "bfv",
            "intersection",
        ],
    ),
    ("array_loops", &["hash", "types", "core", "value", "layout", "kernel", "loop_ir", "array_ir", "build"]),
    ("jit", &["hash", "source", "elementary", "core", "value", "kernel", "loop_ir", "build", "array_loops"]),
    (
        "session",
        &[
            "hash",
            "cancellation",
            "source",
            "diagnostic",
            "suggest",
            "syntax",
            "types",
            "iso",
            "core",
            "check",
            "value",
            "layout",
            "data",
            "network",
            "system",
            "kernel",
            "eval",
            "array_ir",
            "build",
            "jit",
        ],
    ),
    ("api", &["source", "diagnostic", "types", "value", "layout", "eval", "session"]),
    ("editor", &["hash", "source", "diagnostic", "syntax", "types", "session"]),
    ("cli", &["source", "diagnostic", "session", "editor"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Returns the files below a folder with this extension; none if the folder does not exist.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut waiting = vec![root().join(folder)];
    while let Some(folder) = waiting.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                waiting.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the source files of all crates, without their tests.
fn sources() -> Vec<PathBuf> {
    let crates = files("crates", "rs").into_iter().filter(|path| path.iter().any(|name| name == "src"));
    files("src", "rs").into_iter().chain(crates).collect()
}

/// Returns the room of a source file; `None` for the two roots.
fn room(path: &Path) -> Option<String> {
    let inside = path.strip_prefix(root()).expect("a file of the repository");
    let mut names = inside.components().map(|name| name.as_os_str().to_string_lossy());
    let first = names.by_ref().skip_while(|name| name != "src").nth(1).expect("a name").into_owned();
    let room = first.strip_suffix(".rs").unwrap_or(&first);
    (!matches!(room, "lib" | "main")).then(|| room.to_string())
}

/// Returns the rooms that a file names: the `X` of `crate::X` and of `felis_base::X` and so on, and
/// the `X`, `Y` of `use crate::{X, Y}`.
fn named(text: &str) -> BTreeSet<String> {
    let code: Vec<&str> = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
    let code = code.join("\n");
    let word =
        |text: &str| -> String { text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect() };
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("::") {
        let before = code[..at].rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().expect("a part");
        if matches!(before, "crate" | "felis") || before.starts_with("felis_") {
            let rest = &code[at + "::".len()..];
            match rest.strip_prefix('{') {
                // A function of the root of a crate may be called like a room of another: `hash(…)`.
                None if rest.starts_with(&format!("{}(", word(rest))) => {}
                None => {
                    found.insert(word(rest));
                }
                Some(list) => {
                    let mut depth = 0usize;
                    let mut at_start = true;
                    for (at, c) in list.char_indices() {
                        match c {
                            '{' => depth += 1,
                            '}' if depth == 0 => break,
                            '}' => depth -= 1,
                            ',' if depth == 0 => at_start = true,
                            c if c.is_whitespace() => {}
                            _ if at_start => {
                                found.insert(word(&list[at..]));
                                at_start = false;
                            }
                            _ => {}
                        }
                    }
                }
            }
        }
    }
    found
}

#[test]
fn arrows_point_down() {
    let mut wrong = Vec::new();
    for path in sources() {
        let Some(room) = room(&path) else { continue };
        let Some((_, below)) = ROOMS.iter().find(|(name, _)| *name == room) else {
            wrong.push(format!("{}: the room `{room}` is not in the table", path.display()));
            continue;
        };
        for other in named(&read(&path)) {
            let known = ROOMS.iter().any(|(name, _)| *name == other);
            // Within `cli`, `crate::` is the command itself.
            if known && other != room && !below.contains(&other.as_str()) {
                wrong.push(format!("{}: `{room}` must not enter `{other}`", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "\n{}", wrong.join("\n"));
}

#[test]
fn the_table_itself_points_down() {
    for (at, (room, below)) in ROOMS.iter().enumerate() {
        for other in *below {
            assert!(ROOMS[..at].iter().any(|(name, _)| name == other), "{room} enters {other}");
        }
    }
}

#[test]
fn names_are_found_in_every_form_of_use() {
    let text = "use crate::{iso, core::{Term, check}, types::Type};\nfn f() { felis::session::x() + felis_base::quote::y() + felis_parties::hash() } // crate::eval\n";
    let found = named(text);
    for room in ["iso", "core", "types", "session", "quote"] {
        assert!(found.contains(room), "{room} in {found:?}");
    }
    for other in ["check", "hash"] {
        assert!(!found.contains(other), "{other} in {found:?}");
    }
}

#[test]
fn every_file_says_what_it_is() {
    for folder in ["src", "crates", "tests", "benches"] {
        for path in files(folder, "rs") {
            assert!(read(&path).starts_with("//! "), "{} does not open with `//!`", path.display());
        }
    }
    for folder in ["stdlib", "examples"] {
        for path in files(folder, "flx") {
            assert!(read(&path).starts_with("//"), "{} does not open with a comment", path.display());
        }
    }
}

/// A doc comment begins with a noun or a verb, which a reader can search for.
#[test]
fn doc_comments_begin_with_a_noun_or_a_verb() {
    let mut found = Vec::new();
    for path in sources().into_iter().chain(files("stdlib", "flx")) {
        let text = read(&path);
        let doc = |line: &str| {
            let line = line.trim_start();
            line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(|rest| rest.trim().to_string())
        };
        let mut before = None;
        for (number, line) in text.lines().enumerate() {
            let this = doc(line);
            let begins = before.is_none();
            if let Some(text) = this.as_ref().filter(|_| begins)
                && ["What", "How", "Whether", "Who", "Where", "When", "Why"]
                    .contains(&text.split(' ').next().expect("a first word"))
            {
                found.push(format!("{}:{}: {text}", path.display(), number + 1));
            }
            before = this;
        }
    }
    assert!(found.is_empty(), "{found:#?}");
}

#[test]
fn nothing_is_left_for_later() {
    for path in sources() {
        let text = read(&path);
        for word in [concat!("todo", "!("), concat!("unimplemented", "!("), concat!("dbg", "!(")] {
            assert!(!text.contains(word), "{} contains `{word}`", path.display());
        }
    }
}

#[test]
fn what_the_language_cannot_check_is_in_three_files() {
    let audited = ["crates/compiler/src/jit/native.rs", "src/cli/interrupt.rs", "src/cli/map.rs"]
        .map(|name| root().join(name));
    for path in sources() {
        let text = read(&path);
        let word = concat!("un", "safe");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let uses = code.filter(|line| line.contains(word)).count();
        assert_eq!(uses > 0, audited.contains(&path), "{}: {uses} uses of `{word}`", path.display());
    }
}

/// The library without the feature `cli` has no other dependencies than those that are always
/// there.
#[test]
fn the_library_uses_no_optional_dependency() {
    let manifest = read(&root().join("Cargo.toml"));
    let optional: Vec<String> = manifest
        .lines()
        .filter(|line| line.contains("optional = true"))
        .filter_map(|line| Some(line.split_once(' ')?.0.replace('-', "_")))
        .collect();
    assert!(optional.len() > 5, "{optional:?}");
    for path in files("src", "rs") {
        if !matches!(room(&path).as_deref(), Some("session" | "api" | "editor")) {
            continue;
        }
        let text = read(&path);
        let used = optional.iter().find(|name| text.contains(&format!("{name}::")));
        assert!(used.is_none(), "{} uses {used:?}, which only the command line has", path.display());
    }
}

#[test]
fn every_file_of_the_library_is_embedded() {
    let files_of = |file: &str| read(&root().join("src/session/library").join(file));
    let table = files_of("files.rs") + &files_of("modules.rs");
    for path in files("stdlib", "flx") {
        let name = path.strip_prefix(root()).expect("below the root").display().to_string();
        assert!(table.contains(&format!("\"{name}\"")), "{name} is not in src/session/library");
    }
}

#[test]
fn every_file_of_tests_is_in_a_program() {
    let found = files("tests", "rs");
    let mains: Vec<&PathBuf> = found.iter().filter(|path| path.ends_with("main.rs")).collect();
    assert_eq!(mains.len(), 7, "each program is linked with the whole library: {mains:?}");
    let everywhere: String = mains.iter().map(|path| read(path)).collect();
    for path in &found {
        let inside = path.strip_prefix(root().join("tests")).expect("a file of tests");
        let parts: Vec<&Path> = inside.iter().map(Path::new).collect();
        assert!(
            parts.len() > 1,
            "{} is a program of one file: put it into the folder of one",
            path.display()
        );
        let module = parts[1].file_stem().expect("a name").to_string_lossy();
        let main = root().join("tests").join(parts[0]).join("main.rs");
        let named = if main.exists() { &read(&main) } else { &everywhere };
        assert!(
            module == "main" || named.contains(&format!("mod {module};\n")),
            "{} is in no program",
            path.display()
        );
    }
}
