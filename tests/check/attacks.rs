//! Programs that types refuse: each of a file with its message.
//!
//! `BLESS=1 cargo test --test check attacks` rewrites the messages of `tests/secrets/refused.txt`.

use crate::checker::{Outcome, folder, run_after};
use std::collections::{BTreeMap, BTreeSet};
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

/// Checks that each program of the file `refused.txt` in a folder is refused with its message.
/// `run` gives the outcomes of programs that begin with one text.
pub fn refused(folder_name: &str, run: impl Fn(&str, &[&str]) -> Vec<Outcome>) {
    let file = folder(folder_name).join("refused.txt");
    let text = fs::read_to_string(&file).expect("readable");
    let cases = read(&text);
    let (mut wrong, mut shown) = (Vec::new(), BTreeMap::new());
    let names: BTreeSet<&str> = cases.programs.iter().map(|case| prelude_of(case.0)).collect();
    for name in names {
        let prelude = cases.preludes.get(name).copied().unwrap_or_default();
        let own: Vec<_> = cases.programs.iter().filter(|case| prelude_of(case.0) == name).collect();
        let texts: Vec<&str> = own.iter().map(|case| case.1).collect();
        for (case, outcome) in own.into_iter().zip(run(prelude, &texts)) {
            let codes: Vec<&str> = outcome.diagnostics.iter().map(|d| d.code.as_str()).collect();
            // Codes of programs that run are E05xx: no attack may get that far.
            if codes.is_empty() || codes.iter().any(|code| code.starts_with("E05")) {
                wrong.push(format!("{} is not refused: {codes:?}\n{}", case.0, outcome.shown));
            }
            let lines: Vec<&str> = outcome.shown.lines().map(str::trim_end).collect();
            let message = lines.join("\n").trim().to_string();
            if message != case.2.trim() {
                wrong.push(format!("{}:\n{}", case.0, outcome.shown));
            }
            shown.insert(case.0, message);
        }
    }
    assert!(cases.programs.len() >= 60, "only {} attacks", cases.programs.len());
    assert_eq!(shown.len(), cases.programs.len(), "two programs have one title");
    if std::env::var_os("BLESS").is_some_and(|value| value == "1") {
        let blessed = cases.programs.iter().fold(cases.head.to_string(), |mut out, (title, program, _)| {
            let _ = write!(out, "\n== {title}\n{program}\n=>\n{}\n", shown[title]);
            out
        });
        fs::write(&file, blessed).expect("writable");
        wrong.retain(|what| what.contains(" is not refused"));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the name of the prelude in the title of a program.
fn prelude_of(title: &str) -> &str {
    title.rsplit_once(" (").expect("a title names its prelude").1.trim_end_matches(')')
}

#[test]
fn attacks_on_secrets_are_refused_by_types() {
    refused("tests/secrets", |prelude, texts| run_after(prelude, "library_attack.flx", texts));
}
