//! Programs about keys and ciphertexts that the types refuse, in any build:
//! `tests/ciphers/refused.txt`.
//!
//! `BLESS=1 cargo test --test check ciphers` rewrites the messages.

use crate::checker::{folder, run};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

/// The text before the first program, and the programs: title with prelude, text, message.
struct Cases<'t> {
    head: &'t str,
    preludes: BTreeMap<&'t str, &'t str>,
    programs: Vec<(&'t str, &'t str, &'t str)>,
}

/// Reads the file of cases.
fn read(text: &str) -> Cases<'_> {
    let (head, rest) = text.split_once("\n== ").expect("there is a program");
    let preludes =
        head.split("\n-- ").skip(1).map(|part| part.split_once('\n').expect("a prelude has a text"));
    let programs = rest.split("\n== ").map(|part| {
        let (title, rest) = part.split_once('\n').expect("a program has a text");
        let (text, message) = rest.split_once("\n=>\n").expect("a program has a message");
        (title, text, message)
    });
    Cases { head, preludes: preludes.collect(), programs: programs.collect() }
}

#[test]
fn attacks_are_refused_by_types() {
    let file = folder("tests/ciphers").join("refused.txt");
    let text = fs::read_to_string(&file).expect("readable");
    let cases = read(&text);
    let (mut wrong, mut blessed) = (Vec::new(), cases.head.to_string());
    for (title, program, message) in &cases.programs {
        let (_, prelude) = title.rsplit_once(" (").expect("a title names its prelude");
        let prelude = cases.preludes.get(prelude.trim_end_matches(')')).copied().unwrap_or_default();
        let outcome = run("library_attack.flx", &format!("{}\n{program}\n", prelude.trim_end()), false);
        let codes: Vec<&str> = outcome.diagnostics.iter().map(|d| d.code.as_str()).collect();
        // Codes of programs that run are E05xx: no attack may get that far.
        if codes.is_empty() || codes.iter().any(|code| code.starts_with("E05")) {
            wrong.push(format!("{title} is not refused: {codes:?}\n{}", outcome.shown));
        }
        let shown: Vec<&str> = outcome.shown.lines().map(str::trim_end).collect();
        let shown = shown.join("\n");
        if shown.trim() != message.trim() {
            wrong.push(format!("{title}:\n{}", outcome.shown));
        }
        let _ = write!(blessed, "\n== {title}\n{program}\n=>\n{}\n", shown.trim());
    }
    assert!(cases.programs.len() >= 60, "only {} attacks", cases.programs.len());
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        fs::write(&file, blessed).expect("writable");
        wrong.retain(|what| what.contains(" is not refused"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Each Felis line of the table of the book's page is one of a program that is checked.
#[test]
fn the_table_of_types_is_a_program() {
    let page = fs::read_to_string(folder("book/src").join("ciphers.md")).expect("readable");
    let (_, table) = page.split_once("| there | here |\n").expect("the table");
    let rows = table.lines().skip(1).take_while(|line| line.starts_with('|'));
    let lines: Vec<String> = rows
        .map(|row| {
            let (_, line) = row.trim_end_matches(" |").rsplit_once(" | ").expect("two columns");
            line.trim_matches('`').replace("\\|", "|")
        })
        .collect();
    assert!(lines.len() >= 16, "only {} lines", lines.len());
    let outcome = run("library_table.flx", &lines.join("\n"), false);
    let codes: Vec<&str> = outcome.diagnostics.iter().map(|d| d.code.as_str()).collect();
    assert!(codes.iter().all(|code| *code == "E0540"), "{codes:?}\n{}", outcome.shown);
}

/// Everything that needs no key is checked in any build; what makes one stops where it is made.
#[test]
fn a_build_without_ciphers_says_so() {
    let text = "val (s, p) = #keygen[paillier[2048]];\nprintln (decrypt (s, encrypt (p, 5)));\n";
    let outcome = run("library_absent.flx", text, true);
    if !cfg!(feature = "ciphers") {
        assert!(
            outcome.shown.contains("[E0540] Error: this felis was built without ciphers"),
            "{}",
            outcome.shown
        );
        assert!(outcome.shown.contains("build it with `--features ciphers`"), "{}", outcome.shown);
    }
}
