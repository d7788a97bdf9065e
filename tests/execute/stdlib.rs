//! The standard library: every example in a `///` comment is run, and the laws hold at many shapes.
//!
//! An example is a line `/// > EXPRESSION` followed by a line `/// TEXT`, where `TEXT` is the value
//! as `str` returns it.

use felis::session::{Mode, Session, Status};
use felis_base::source::SourceMap;
use felis_calculus::core::Prim;
use felis_syntax::syntax::ast::StmtKind;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The texts of the library, by their paths below `stdlib`: the prelude and the modules.
fn library() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("stdlib");
    let mut files: Vec<PathBuf> = [root.clone(), root.join("modules")]
        .iter()
        .flat_map(|folder| fs::read_dir(folder).expect("the library is in `stdlib`"))
        .map(|entry| entry.expect("a readable entry").path())
        .filter(|path| path.extension().is_some_and(|e| e == "flx"))
        .collect();
    files.sort();
    files
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
            (name, fs::read_to_string(path).expect("a text"))
        })
        .collect()
}

/// The module of a text of the library, which its examples import; `None` for one of the prelude.
fn module(file: &str) -> Option<&str> {
    file.strip_prefix("modules/")?.strip_suffix(".flx")
}

/// Returns the value of a line as `str` returns it, or its messages.
fn value(session: &mut Session, line: &str) -> String {
    let outcome = session.evaluate("example", line, Mode::Line, &mut |_| {});
    if let Some(diagnostic) = outcome.diagnostics.first() {
        return session.render(diagnostic, false);
    }
    assert_eq!(outcome.status, Status::Ok, "{line}");
    outcome.value.map_or_else(|| "no value".to_string(), |shown| shown.text)
}

#[test]
fn every_example_gives_what_it_says() {
    let (mut wrong, mut count) = (String::new(), 0);
    for (file, text) in library() {
        let lines: Vec<&str> = text.lines().collect();
        let mut session = Session::new();
        if let Some(name) = module(&file) {
            let import = format!("import {name} (*);");
            let imported = session.evaluate("example", &import, Mode::Line, &mut |_| {});
            assert_eq!(imported.status, Status::Ok, "{name}");
        }
        for (at, line) in lines.iter().enumerate() {
            let Some(example) = line.strip_prefix("/// > ") else { continue };
            let expected = lines.get(at + 1).and_then(|next| next.strip_prefix("///"));
            let expected = expected.map(|next| next.strip_prefix(' ').unwrap_or(next));
            // A module is checked once; what the prelude has is read for each example anew.
            if module(&file).is_none() {
                session = Session::new();
            }
            let found = value(&mut session, &format!("{example};"));
            count += 1;
            if expected != Some(&*found) {
                wrong += &format!("{file}:{}: {example}\n  says {expected:?}\n  gives {found}\n", at + 1);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(count > 150, "only {count} examples were found");
}

#[test]
fn every_definition_has_a_sentence_and_an_example() {
    let mut wrong = Vec::new();
    let mut sources = SourceMap::new();
    for (file, text) in library() {
        let source = sources.add(file.clone(), text);
        let parsed = felis_syntax::syntax::parse(&source);
        assert!(parsed.errors.is_empty(), "{file} cannot be read");
        for stmt in &parsed.stmts {
            // The class documents its instances.
            if matches!(stmt.kind, StmtKind::Instance { .. }) {
                continue;
            }
            // A name with an underscore is internal to the library, and not documented.
            if source.text[stmt.span.range()].starts_with("fun _") {
                continue;
            }
            let stmt = match &stmt.kind {
                StmtKind::Export(inner) => inner.as_ref(),
                // What a module does not export is its own.
                _ if module(&file).is_some() => continue,
                _ => stmt,
            };
            let before = source.text[..stmt.span.start as usize].trim_end_matches("export ");
            let comment: Vec<&str> = before.lines().rev().take_while(|l| l.starts_with("///")).collect();
            let sentence = comment.last().is_some_and(|first| {
                first.len() > 8 && first.ends_with(['.', ';', ',', '`']) || comment.len() > 1
            });
            // What parties do together is shown by `tests/execute/secret.rs`; a type has no value.
            let at_places = source.text[stmt.span.range()].contains(":PLACE")
                || matches!(stmt.kind, StmtKind::Typefun { .. } | StmtKind::Abstract { .. });
            // Keys need the feature `ciphers`: `ciphers.rs` shows what is done with them.
            let of_ciphers =
                file == "ciphers.flx" || source.text[stmt.span.range()].contains("_keyed_hashes");
            // A procedure has no value that could be shown.
            let procedure = matches!(&stmt.kind, StmtKind::Function { function, .. } if function.is_proc);
            let needs_example = !(procedure
                || at_places
                || of_ciphers
                || matches!(stmt.kind, StmtKind::Variant(..) | StmtKind::Typedef(..)));
            let example = comment.iter().any(|line| line.starts_with("/// > "));
            if !sentence || needs_example && !example {
                let header: String = source.text[stmt.span.range()].lines().take(1).collect();
                wrong.push(format!("{file}: {header}"));
            }
        }
    }
    assert!(wrong.is_empty(), "without sentence or example:\n{}", wrong.join("\n"));
}

/// Checks that the functions of the library that error messages name exist.
#[test]
fn the_functions_that_messages_name_exist() {
    let text: String = library().into_iter().map(|(_, text)| text).collect();
    for name in ["distribute", "factor", "transpose"] {
        assert!(text.contains(&format!("\nfun {name}[")), "the library has no `{name}`");
    }
    for name in ["move", "pack", "unpack", "caseno", "casearg"] {
        assert!(Prim::ALL.iter().any(|prim| prim.name() == name), "no primitive `{name}`");
    }
}

/// Runs a program that prints lines which end in `true`; returns their number.
fn true_lines(name: &str, text: &str) -> usize {
    let mut session = Session::new();
    let mut printed = String::new();
    let outcome = session.evaluate(name, text, Mode::Script, &mut |text| printed += text);
    let complaints: Vec<String> = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert!(outcome.status == Status::Ok && complaints.is_empty(), "{}{printed}", complaints.join("\n"));
    let wrong: Vec<&str> = printed.lines().filter(|line| !line.ends_with(" true")).collect();
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
    printed.lines().count()
}

#[test]
fn the_laws_hold_at_many_shapes() {
    assert!(true_lines("laws.flx", include_str!("../stdlib/laws.flx")) > 40);
}

/// Residuals on matrices that are known to be difficult.
#[test]
fn linear_algebra_has_small_residuals() {
    assert!(true_lines("linalg.flx", include_str!("../stdlib/linalg.flx")) > 80);
}

/// Fourier transforms against the definition.
#[test]
fn fourier_transforms_are_those_of_the_definition() {
    assert!(true_lines("fft.flx", include_str!("../stdlib/fft.flx")) > 7);
    let lengths = include_str!("../stdlib/compiled/fft_lengths.flx");
    assert!(true_lines("fft_lengths.flx", lengths) == 5);
}

/// Statistics and numerical methods against those of SciPy and NumPy.
#[test]
fn statistics_and_methods_are_those_of_scipy() {
    assert!(true_lines("stats.flx", include_str!("../stdlib/stats.flx")) > 12);
    assert!(true_lines("numeric.flx", include_str!("../stdlib/numeric.flx")) > 18);
}

/// Golden bits, the known answers of Random123, and tests of distributions at fixed keys.
#[test]
fn random_numbers_have_their_distributions() {
    assert!(true_lines("random.flx", include_str!("../stdlib/random.flx")) > 13);
    let distributions = include_str!("../stdlib/compiled/distributions.flx");
    assert!(true_lines("distributions.flx", distributions) > 14);
}

/// Dates against the calendar of formats, texts against arrays of their characters.
#[test]
fn dates_and_texts_are_those_of_their_definitions() {
    assert!(true_lines("date.flx", include_str!("../stdlib/date.flx")) > 16);
    assert!(true_lines("texts.flx", include_str!("../stdlib/texts.flx")) > 8);
}

/// Tables against the answers of pandas: see `tests/stdlib/make_table.py`.
#[test]
fn tables_are_those_of_pandas() {
    assert!(true_lines("table.flx", include_str!("../stdlib/table.flx")) > 200);
}

/// Dictionaries, sets, heaps and graphs against arrays, sorting and all paths.
#[test]
fn containers_and_graphs_agree_with_simpler_ways() {
    assert!(true_lines("containers.flx", include_str!("../stdlib/containers.flx")) > 55);
}

/// Rules in which NumPy, pandas and the library differ: the book shows what the library gives.
/// `BLESS=1` rewrites the table.
#[test]
fn the_book_shows_the_rules_that_differ() {
    const BEGIN: &str = "<!-- rules of tests/stdlib/differences.txt -->\n";
    const END: &str = "<!-- end of rules -->\n";
    let mut shown =
        format!("{BEGIN}\n| rule | NumPy, pandas | gives | Felis | gives |\n|---|---|---|---|---|\n");
    let rules = include_str!("../stdlib/differences.txt");
    for rule in rules.lines() {
        let parts: Vec<&str> = rule.splitn(4, '|').map(str::trim).collect();
        let [name, theirs, gives, own] = parts[..] else { panic!("four parts: {rule}") };
        let found = value(&mut Session::new(), &format!("import stats (*); import table (*); {own};"));
        assert!(!found.contains("Error:"), "{own}: {found}");
        let cell = |text: &str| if text.is_empty() { String::new() } else { format!("`{text}`") };
        shown += &format!("| {name} | {theirs} | {} | `{own}` | `{found}` |\n", cell(gives));
    }
    shown += &format!("\n{END}");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src/from_numpy.md");
    let page = fs::read_to_string(&file).expect("the page");
    let (before, rest) = page.split_once(BEGIN).expect("where the rules begin");
    let (_, after) = rest.split_once(END).expect("where they end");
    let wanted = format!("{before}{shown}{after}");
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        fs::write(&file, wanted).expect("writable");
    } else {
        assert!(wanted == page, "the page differs from the rules: BLESS=1 rewrites it");
    }
}

/// Parts with chapters of their own: fields, meshes, and what parties compute together.
const OWN_CHAPTERS: &[&str] = &[
    "fields",
    "meshes",
    "sphere",
    "replicated",
    "shared_signs",
    "shared_bits",
    "truncation",
    "secret",
    "fixed_point",
    "fixed_functions",
    "secret_order",
    "ciphers",
    "shamir",
    "additive",
    "private_join",
];

/// The functions and values that the prelude defines for each program, each name once, without types,
/// classes and their methods. What not every program needs is a module.
#[test]
fn the_prelude_stays_small() {
    let texts = library();
    let parts = felis::session::library::parts().filter(|part| !OWN_CHAPTERS.contains(part));
    let mut names = BTreeSet::new();
    for part in parts {
        let (_, text) = texts.iter().find(|(file, _)| *file == format!("{part}.flx")).expect("a part");
        for line in text.lines() {
            let defined = ["fun ", "proc ", "val "].iter().find_map(|word| line.strip_prefix(word));
            let name = defined.and_then(|rest| rest.split(|c: char| !c.is_alphanumeric() && c != '_').next());
            names.extend(name.filter(|name| !name.starts_with('_')));
        }
    }
    assert!((200..=260).contains(&names.len()), "{} names: {names:?}", names.len());
}
