//! Messages of programs that are rejected or stop: `tests/diagnostics/check_*.flx` and `run_*.flx`
//! with their `.err`, and `library_*.flx`, which use the standard library.
//!
//! `BLESS=1 cargo test --test check diagnostics` rewrites the `.err` files.

use crate::checker::{folder, programs, run};
use felis_base::diagnostic::{Diagnostic, apply_edits};
use std::collections::BTreeSet;
use std::fs;

const PREFIXES: &[&str] = &["check_", "library_", "run_"];

/// Programs that run in a build with ciphers.
const ABSENT_WITH_CIPHERS: &[&str] = &["library_ciphers_absent.flx"];

#[test]
fn diagnostics_as_rendered() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let cases = programs("tests/diagnostics", PREFIXES);
    assert!(cases.len() >= 80, "only {} diagnostics are tested", cases.len());
    let mut wrong = Vec::new();
    for (name, text) in cases {
        if ABSENT_WITH_CIPHERS.contains(&name.as_str()) && cfg!(feature = "ciphers") {
            continue;
        }
        let shown = steady(&run(&name, &text, true).shown);
        if shown.is_empty() {
            wrong.push(format!("{name} has no diagnostic"));
            continue;
        }
        let golden = folder("tests/diagnostics").join(name.replace(".flx", ".err"));
        if bless {
            fs::write(&golden, &shown).expect("writable");
        } else if fs::read_to_string(&golden).unwrap_or_default() != shown {
            wrong.push(format!("{name}:\n{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Removes numbers of thousands of calls: the possible depth of recursion depends on the build.
fn steady(shown: &str) -> String {
    let mut out = String::new();
    for line in shown.lines() {
        let deep = line.contains(" calls within one another")
            || line.contains(" times)")
            || line.contains(" more in ");
        let words = line.split_inclusive(' ').map(|word| {
            let digits = word.trim_matches(|c: char| !c.is_ascii_digit());
            if deep && digits.len() > 3 { word.replace(digits, "…") } else { word.to_string() }
        });
        out.extend(words);
        out.push('\n');
    }
    out
}

/// Checks that every code in the tables of the checker and the evaluator has a case.
#[test]
fn every_code_is_shown() {
    // No known program leads to these: internal limits and internal errors.
    const INTERNAL: &[&str] = &["E0512", "E0599"];
    let mut known = BTreeSet::new();
    let checker = fs::read_dir(folder("crates/check/src/check/error")).expect("the errors of the checker");
    let checker = checker.map(|entry| entry.expect("a readable entry").path());
    for file in checker
        .chain([folder("crates/runtime/src/eval/error.rs"), folder("crates/runtime/src/data/error.rs")])
    {
        let text = fs::read_to_string(file).expect("readable");
        let words = text.split(|c: char| !c.is_ascii_alphanumeric());
        for word in words.filter(|w| w.len() == 5 && w.starts_with(['E', 'W', 'N'])) {
            if word[1..].chars().all(|c| c.is_ascii_digit()) {
                known.insert(word.to_string());
            }
        }
    }
    assert!(known.len() > 60, "{known:?}");
    let mut shown = BTreeSet::new();
    for (name, text) in programs("tests/diagnostics", PREFIXES) {
        shown.extend(run(&name, &text, true).diagnostics.iter().map(|d| d.code.to_string()));
    }
    let missing: Vec<&String> =
        known.difference(&shown).filter(|code| !INTERNAL.contains(&code.as_str())).collect();
    // The codes of modules need several files: `modules.rs` has them.
    let of_modules = |code: &str| code.starts_with("E09") || code == "E0618";
    let missing: Vec<&String> = missing.into_iter().filter(|code| !of_modules(code)).collect();
    // What another party does to this one needs several processes: `tests/tools/parties.rs` and the
    // tests of `crates/parties` have it.
    let of_parties = ["E0530", "E0531", "E0532", "E0533", "E0534"];
    // Refusals by ciphers need their feature: `tests/execute/ciphers.rs` has them.
    let of_ciphers: &[&str] = &["E0541", "E0542", "E0543", "E0540"];
    let of_ciphers = &of_ciphers[..if cfg!(feature = "ciphers") { 4 } else { 3 }];
    let elsewhere = |code: &str| of_parties.contains(&code) || of_ciphers.contains(&code);
    let missing: Vec<&String> = missing.into_iter().filter(|code| !elsewhere(code)).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

/// Checks that every offered edit, once applied, removes its diagnostic.
#[test]
fn fixes_fix() {
    let mut tried = 0;
    for (name, text) in programs("tests/diagnostics", PREFIXES) {
        let before = run(&name, &text, false).diagnostics;
        for diagnostic in &before {
            for help in diagnostic.helps().filter(|help| !help.edits.is_empty()) {
                tried += 1;
                let fixed = apply_edits(&text, diagnostic.primary.span.source, &help.edits);
                let after = run(&name, &fixed, false);
                // Two places may have the same message.
                let same = |d: &&Diagnostic| d.message == diagnostic.message && d.code == diagnostic.code;
                let again = after.diagnostics.iter().filter(same).count();
                let had = before.iter().filter(same).count();
                assert!(
                    again < had,
                    "{name}: `{}` stays after\n{fixed}\n{}",
                    diagnostic.message,
                    after.shown
                );
            }
        }
    }
    assert!(tried >= 40, "only {tried} edits are offered");
}

/// Checks that the words for names of other languages exist, and that the names do not.
#[test]
fn renamed_words_exist() {
    for (name, word) in felis::session::library::modules::RENAMED {
        let imported = |module: &&str| format!("import {module} ({word});");
        let module = felis::session::library::modules::exporting(word).first();
        let text = format!("{} val f = {word};", module.map(imported).unwrap_or_default());
        let known = run("library_word.flx", &text, false);
        let unknown = known.diagnostics.iter().any(|d| matches!(d.code.as_str(), "E0401" | "E0803"));
        assert!(!unknown, "`{word}` is unknown: {}", known.shown);
        let used = run("library_name.flx", &format!("val f = {name};"), false);
        let says = format!("it is `{word}` here");
        assert!(used.shown.contains(&says) || used.shown.contains(word), "{name}: {}", used.shown);
    }
}

/// Checks that the advice about a foreign name is correct.
#[test]
fn what_is_said_of_foreign_names_holds() {
    let rows = felis_check::check::foreign_names::ROWS;
    assert!(rows.len() > 50, "only {} rows", rows.len());
    let mut names = BTreeSet::new();
    for row in rows {
        for name in row.names {
            assert!(names.insert(*name), "`{name}` stands in two rows");
        }
        let checked = run("library_row.flx", row.example, false);
        let errors: Vec<&str> =
            checked.diagnostics.iter().map(|d| d.code.as_str()).filter(|c| c.starts_with('E')).collect();
        assert!(errors.is_empty(), "{}: {errors:?}", row.example);
        // None of the names is one of the library: no advice would be given for it.
        for name in row.names {
            let used = run("library_name.flx", &format!("val x = {name};"), false);
            let unknown = used.diagnostics.iter().any(|d| matches!(d.code.as_str(), "E0401" | "E0450"));
            assert!(unknown || used.diagnostics.iter().any(|d| d.code == "E0126"), "`{name}` is known");
        }
    }
}
