//! Programs about keys and ciphertexts that the types refuse, in any build:
//! `tests/ciphers/refused.txt`.
//!
//! `BLESS=1 cargo test --test check ciphers` rewrites the messages.

use crate::attacks::refused;
use crate::checker::{check_each, folder, run};
use std::fs;

#[test]
fn attacks_are_refused_by_types() {
    // Without the feature `ciphers` no key is made, so each program is checked with its prelude.
    refused("tests/ciphers", |prelude, texts| {
        let whole = texts.iter().map(|text| format!("{}\n{text}\n", prelude.trim_end()));
        check_each("library_attack.flx", &whole.collect::<Vec<_>>())
    });
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
