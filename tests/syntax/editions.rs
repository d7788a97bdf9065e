//! Texts of version 0.1: their old reading, their present form, and the messages about them.

use felis::session::{Mode, Session};
use felis_base::source::SourceMap;
use felis_syntax::syntax::edition::{migrate, parse_v01};
use felis_syntax::syntax::{parse, unparse};
use std::path::Path;
use std::process::Command;

fn migrated(text: &str) -> String {
    match migrate(&SourceMap::new().add("old.flx", text)) {
        Ok(new) => new,
        Err(errors) => panic!("{text}\n{errors:?}"),
    }
}

#[test]
fn a_text_is_rewritten_as_it_was_read() {
    const ROWS: &[(&str, &str)] = &[
        ("val a = 1, 2 :>> int ^ 2;", "val a = (1, 2) :>> int ^ 2;"),
        ("val a = x :>> int * int;", "val a = x :>> (int * int);"),
        ("val a = x :>> A -> B;", "val a = x :>> (A -> B);"),
        ("val a = x :>> A \\+ B * C;", "val a = x :>> A \\+ (B * C);"),
        ("val a = x + 1 :> real;", "val a = (x + 1) :> real;"),
        ("val a = -x :> real;", "val a = -x :> real;"),
        ("val a = f x :> real;", "val a = f x :> real;"),
        ("f$ x :>> T;", "(f$ x) :>> T;"),
        ("f$ x |> g;", "(f$ x) |> g;"),
        ("x |> f$ y;", "x |> (f$ y);"),
        ("f (a, b |> g);", "f ((a, b) |> g);"),
        ("x.(i - 1 :>> N);", "x.((i - 1) :>> N);"),
        ("x.((i - 1) :>> N);", "x.((i - 1) :>> N);"),
        ("f (10, (i :>> int));", "f (10, i :>> int);"),
        ("if (i :>> int) < 10 do done", "if i :>> int < 10 do done"),
        // Beside `+` and `*` the parentheses stay.
        ("val a = (i :>> int) + 1;", "val a = (i :>> int) + 1;"),
        ("val a = (x, y |> f) // why\n  :>> T;", "val a = ((x, y) |> f) // why\n  :>> T;"),
        ("filter (x, fun (v) => v > 2);", "filter (x, fun (v) => v > 2);"),
        ("val a = [ i :>> int for i in ..[3] ];", "val a = [ i :>> int for i in ..[3] ];"),
    ];
    for (old, new) in ROWS {
        assert_eq!(migrated(old), *new);
        let tree = parse_v01(&SourceMap::new().add("old.flx", *old));
        let again = parse(&SourceMap::new().add("new.flx", *new));
        assert_eq!(unparse::print(&tree.stmts), unparse::print(&again.stmts), "{old}");
        // A rewritten text is rewritten again only if its old reading requires it.
        assert!(again.errors.is_empty(), "{new}");
    }
}

/// Random texts of operators: the tree of the new text equals that of the old one.
#[test]
fn random_texts_keep_their_trees() {
    let seed = std::env::var("FELIS_SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(17);
    println!("FELIS_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut read, mut changed) = (0, 0);
    for _ in 0..4_000 {
        let text = format!("val a = {};", expression(&mut random, 4));
        let source = SourceMap::new().add("old.flx", text.clone());
        let tree = parse_v01(&source);
        if !tree.errors.is_empty() {
            continue;
        }
        read += 1;
        let new = migrated(&text);
        let again = parse(&SourceMap::new().add("new.flx", new.clone()));
        assert!(again.errors.is_empty(), "{text}\n{new}\n{:?}", again.errors);
        assert_eq!(unparse::print(&again.stmts), unparse::print(&tree.stmts), "{text}\n{new}");
        changed += usize::from(new != text);
        // Trees that differ are reported, and no others.
        let now = parse(&source);
        if now.errors.is_empty() {
            let same = unparse::print(&now.stmts) == unparse::print(&tree.stmts);
            assert_eq!(now.regrouped.is_empty(), same, "{text}");
        }
    }
    assert!(read > 1_500 && changed > 500, "{read} read, {changed} changed");
}

fn expression(random: &mut fastrand::Rng, depth: u32) -> String {
    let binary = ["+", "-", "*", "/", "==", "<", "and", "or", "..", ",", "\\,", "$", "|>", "|>"];
    let types = ["int", "N", "int ^ 3", "A * B", "A \\* B", "A \\+ 2", "A + B", "(A * B)", "A \\+ B * C"];
    if depth == 0 {
        return ["x", "y", "f", "3", "g x", "x.f"][random.usize(0..6)].to_string();
    }
    let part = |random: &mut fastrand::Rng| expression(random, depth - 1);
    match random.u32(0..10) {
        0..=3 => {
            let (a, b) = (part(random), part(random));
            format!("{a} {} {b}", binary[random.usize(0..binary.len())])
        }
        4 | 5 => {
            let op = if random.bool() { ":>>" } else { ":>" };
            format!("{} {op} {}", part(random), types[random.usize(0..types.len())])
        }
        6 => format!("({})", part(random)),
        7 => format!("f ({})", part(random)),
        8 => format!("[{} for i in {}]", part(random), part(random)),
        _ => format!("-{}", part(random)),
    }
}

/// Checks that the examples have their present meaning: none gets a message about an old one.
#[test]
fn examples_are_of_today() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).expect("the examples") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|e| e != "flx") {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        // Only the command finds imported files.
        if text.contains("import \"") {
            continue;
        }
        seen += 1;
        let said = Session::new().check("example.flx", &text).diagnostics;
        assert!(said.iter().all(|d| d.code != "W0040"), "{}", path.display());
    }
    assert!(seen > 20);
}

#[test]
fn the_command_rewrites_a_file() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let file = folder.join("edition_of_0_1.flx");
    std::fs::write(&file, "val a = 1, 2 :>> int ^ (1 \\* 2);\nprintln (a |> sum);\n").expect("writable");
    let fmt = |words: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
        command.arg("fmt").args(words).arg(&file).output().expect("the command").status.code()
    };
    assert_eq!(fmt(&["--from-0.1", "--check"]), Some(1));
    assert_eq!(fmt(&["--from-0.1"]), Some(0));
    let text = std::fs::read_to_string(&file).expect("readable");
    assert_eq!(text, "val a = (1, 2) :>> int ^ (1 \\* 2);\nprintln (a |> sum);\n");
}

#[test]
fn both_readings_are_told_where_both_check() {
    let codes = |text: &str| -> Vec<&'static str> {
        let mut session = Session::new();
        let done = session.evaluate("old.flx", text, Mode::Script, &mut |_| ());
        done.diagnostics.iter().map(|d| d.code.as_str()).collect()
    };
    assert_eq!(codes("println (1, 2 |> str);"), ["W0040"]);
    assert_eq!(codes("println (1, (2 |> str));"), [""; 0]);
    // The old reading fails.
    assert_eq!(codes("val i = `2:3; println (10, i :>> int, i :>> int + 1);"), [""; 0]);
    // A statement whose old reading fails does not affect others.
    assert_eq!(codes("val i = `2:3; val n = 10 + i :>> int; println (n, n :>> int);"), [""; 0]);
    // The present reading fails.
    assert_eq!(codes("val c = 1, 2, 3 :>> int ^ (1 \\* 3);"), ["E0302", "W0040"]);
    assert_eq!(codes("val c = (1, 2) :>> int * int;"), ["E0302", "E0401", "W0040"]);
}
