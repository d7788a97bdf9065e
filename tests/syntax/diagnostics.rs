//! Messages of texts that cannot be parsed: `tests/diagnostics/syntax_*.flx` with their `.err`.
//!
//! `BLESS=1 cargo test --test syntax diagnostics` rewrites the `.err` files.

use felis_base::source::SourceMap;
use std::fs;
use std::path::Path;

#[test]
fn diagnostics_as_rendered() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("tests/diagnostics")
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .filter(|name| name.starts_with("syntax_") && name.ends_with(".flx"))
        .collect();
    names.sort();
    assert!(names.len() >= 25, "only {} diagnostics are tested", names.len());
    let mut wrong = Vec::new();
    for name in names {
        let text = fs::read_to_string(folder.join(&name)).expect("readable");
        let mut map = SourceMap::new();
        let source = map.add(name.clone(), text);
        let parsed = felis_syntax::syntax::parse(&source);
        let shown: String =
            parsed.errors.iter().map(|e| felis_base::diagnostic::render(e, &map, false)).collect();
        assert!(!shown.is_empty(), "{name} has no error");
        let golden = folder.join(name.replace(".flx", ".err"));
        if bless {
            fs::write(&golden, &shown).expect("writable");
        } else if fs::read_to_string(&golden).unwrap_or_default() != shown {
            wrong.push(format!("{name}:\n{shown}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Checks that every offered edit, once applied, removes the error.
#[test]
fn fixes_fix() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/diagnostics");
    let mut tried = 0;
    for entry in fs::read_dir(folder).expect("tests/diagnostics").flatten() {
        let name = entry.file_name().into_string().unwrap_or_default();
        if !name.starts_with("syntax_") || !name.ends_with(".flx") {
            continue;
        }
        let text = fs::read_to_string(entry.path()).expect("readable");
        let mut map = SourceMap::new();
        let source = map.add(name.clone(), text.clone());
        for error in felis_syntax::syntax::parse(&source).errors {
            let Some(help) = error.help.filter(|help| !help.edits.is_empty()) else { continue };
            tried += 1;
            let fixed = felis_base::diagnostic::apply_edits(&text, source.id, &help.edits);
            let again = map.add(name.clone(), fixed.clone());
            let left = felis_syntax::syntax::parse(&again).errors;
            let same = left.iter().any(|e| e.code == error.code && e.message == error.message);
            assert!(!same, "{name}: {} is still there in\n{fixed}", error.message);
        }
    }
    assert!(tried > 10, "only {tried} fixes");
}
