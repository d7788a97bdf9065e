//! Programs of several files: `tests/modules/NAME/main.flx` and its imports. `main.out` is its
//! output, `main.err` its messages; a missing file means that there are none.
//!
//! `BLESS=1 cargo test --test check modules` writes both.

use crate::in_memory::InMemoryLoader;
use felis::session::{Mode, Session, Status, library, on_large_stack};
use felis_base::diagnostic::Diagnostic;
use felis_base::source::Span;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn cases() -> Vec<(String, PathBuf)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/modules");
    let mut cases: Vec<(String, PathBuf)> = fs::read_dir(folder)
        .expect("the cases are in `tests/modules`")
        .map(|entry| entry.expect("a readable entry"))
        .map(|entry| (entry.file_name().to_string_lossy().into_owned(), entry.path()))
        .collect();
    cases.sort();
    cases
}

#[test]
fn programs_print_and_say_what_they_should() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let (mut wrong, mut refused, mut run) = (Vec::new(), 0, 0);
    for (name, folder) in cases() {
        let ended = Command::new(env!("CARGO_BIN_EXE_felis"))
            .arg("main.flx")
            .current_dir(&folder)
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()
            .expect("felis starts");
        assert_eq!(ended.status.success(), !name.starts_with("error_"), "{name}: {}", ended.status);
        if ended.status.success() {
            run += 1
        } else {
            refused += 1
        }
        for (stream, file) in [(ended.stdout, "main.out"), (ended.stderr, "main.err")] {
            let found = String::from_utf8(stream).expect("text");
            let file = folder.join(file);
            if bless && found.is_empty() {
                let _ = fs::remove_file(&file);
            } else if bless {
                fs::write(&file, &found).expect("writable");
            } else if fs::read_to_string(&file).unwrap_or_default() != found {
                wrong.push(format!("{}:\n{found}", file.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(run >= 7 && refused >= 24, "{run} run, {refused} refused");
}

#[test]
fn every_code_has_a_case() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let table = fs::read_to_string(root.join("crates/check/src/check/error/module.rs")).expect("readable");
    let known: BTreeSet<&str> = table
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| word.len() == 5 && word.starts_with("E09") && !word.ends_with("xx"))
        .collect();
    assert!(known.len() >= 14, "{known:?}");
    let said: String =
        cases().iter().filter_map(|(_, folder)| fs::read_to_string(folder.join("main.err")).ok()).collect();
    // E0913 needs a thousand files, or a hundred nested ones: `many_modules_are_bounded` makes
    // them.
    let missing: Vec<&&str> =
        known.iter().filter(|code| **code != "E0913" && !said.contains(&format!("[{code}]"))).collect();
    assert!(missing.is_empty(), "no case for {missing:?}");
}

/// Returns the messages of a program whose modules are in a folder.
fn said(folder: &Path, text: &str) -> (Vec<Diagnostic>, String) {
    on_large_stack(|| {
        let mut session = Session::new();
        session.set_loader(Box::new(InMemoryLoader::of_folder(folder)));
        let said = session.check("main.flx", text).diagnostics;
        let shown = said.iter().map(|d| session.render(d, false)).collect();
        (said, shown)
    })
}

/// Checks that every offered edit within the program itself, once applied, removes its message.
#[test]
fn fixes_fix() {
    let mut tried = 0;
    for (name, folder) in cases() {
        let text = fs::read_to_string(folder.join("main.flx")).expect("readable");
        let (before, _) = said(&folder, &text);
        // The program is the first text after those of the library.
        let own = before.iter().map(|d| d.primary.span.source).min();
        for diagnostic in &before {
            let Some(help) = diagnostic.help.as_ref().filter(|help| !help.edits.is_empty()) else { continue };
            let here = |span: &Span| Some(span.source) == own && text.get(span.range()).is_some();
            if !help.edits.iter().all(|(span, _)| here(span)) {
                continue;
            }
            tried += 1;
            let fixed = felis_base::diagnostic::apply_edits(&text, help.edits[0].0.source, &help.edits);
            let (after, shown) = said(&folder, &fixed);
            let count = |all: &[Diagnostic]| all.iter().filter(|d| d.message == diagnostic.message).count();
            let message = &diagnostic.message;
            assert!(count(&after) < count(&before), "{name}: `{message}` stays after\n{fixed}\n{shown}");
        }
    }
    assert!(tried >= 10, "only {tried} edits are offered");
}

/// Returns the value of a line that must succeed.
fn shown(session: &mut Session, text: &str) -> String {
    let outcome = session.evaluate("input", text, Mode::Line, &mut |_| ());
    let errors: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(outcome.status, Status::Ok, "{text}\n{errors}");
    outcome.value.map_or(String::new(), |value| format!("{} : {}", value.display_text(), value.ty))
}

/// Returns the codes of a line that must fail.
fn refused(session: &mut Session, text: &str) -> Vec<&'static str> {
    let outcome = session.evaluate("input", text, Mode::Line, &mut |_| ());
    assert_ne!(outcome.status, Status::Ok, "{text}");
    outcome.diagnostics.iter().map(|d| d.code.as_str()).collect()
}

fn session(files: &[(&str, &str)]) -> Session {
    let mut session = Session::new();
    session.set_loader(Box::new(InMemoryLoader::new(files)));
    session
}

const COUNTER: (&str, &str) = (
    "counter.flx",
    "println \"made\"; var n = 0; export proc tick() { n = n + 1; } export fun count():int => n;",
);

#[test]
fn a_line_imports_and_later_lines_see_it() {
    let mut session = session(&[COUNTER]);
    shown(&mut session, "import \"counter.flx\"");
    shown(&mut session, "counter::tick()");
    assert_eq!(shown(&mut session, "#counter::count"), "1 : int");
    // The same file is the same module, which does not run again.
    let mut printed = String::new();
    let again = session.evaluate("input", "import \"counter.flx\" as c (count)", Mode::Line, &mut |t| {
        printed.push_str(t);
    });
    assert_eq!((again.status, printed.as_str()), (Status::Ok, ""));
    assert_eq!(shown(&mut session, "#count + #c::count"), "2 : int");
    assert_eq!(session.type_of("#counter::count").map(|ty| ty.to_string()), Ok("int".into()));
    let found = session.names_starting_with("counter::");
    assert_eq!(found, ["counter::count", "counter::tick"]);
    let defined: Vec<String> = session.definitions().into_iter().map(|d| d.declaration).collect();
    assert!(defined.contains(&"import counter from counter.flx".to_string()), "{defined:?}");
}

#[test]
fn a_name_can_be_given_to_another_module() {
    let mut session =
        session(&[("a.flx", "export val x = 1; export val y = 1;"), ("b.flx", "export val x = 2;")]);
    shown(&mut session, "import \"a.flx\" as m");
    assert_eq!(shown(&mut session, "m::x + m::y"), "2 : int");
    shown(&mut session, "import \"b.flx\" as m");
    assert_eq!(shown(&mut session, "m::x"), "2 : int");
    assert_eq!(refused(&mut session, "m::y"), ["E0905"]);
}

#[test]
fn a_failed_import_changes_nothing() {
    let mut session = session(&[
        COUNTER,
        ("bad.flx", "import \"counter.flx\"; counter::tick(); export val x = 1 / 0;"),
        ("wrong.flx", "import \"counter.flx\"; export val x : int = \"a\";"),
    ]);
    assert_eq!(refused(&mut session, "import \"bad.flx\""), ["E0501"]);
    assert_eq!(refused(&mut session, "import \"wrong.flx\""), ["E0301"]);
    assert_eq!(refused(&mut session, "import \"nothing.flx\""), ["E0901"]);
    assert_eq!(refused(&mut session, "import \"counter.flx\"; println (1 / 0);"), ["E0501"]);
    assert_eq!(refused(&mut session, "#counter::count"), ["E0904"]);
    // The failed import has discarded the module, so it runs now.
    let mut printed = String::new();
    let outcome =
        session.evaluate("input", "import \"counter.flx\"; #counter::count", Mode::Line, &mut |t| {
            printed.push_str(t);
        });
    assert_eq!(printed, "made\n");
    assert_eq!(outcome.value.map(|value| value.text), Some("0".to_string()));
    // Its stores are undone when a later line fails.
    refused(&mut session, "counter::tick(); println (1 / 0);");
    assert_eq!(shown(&mut session, "#counter::count"), "0 : int");
}

#[test]
fn questions_about_a_module_change_nothing() {
    let mut session = session(&[COUNTER]);
    let ty = session.type_of("import \"counter.flx\"; counter::count");
    assert_eq!(ty.map(|ty| ty.to_string()), Ok("unit -> int".into()));
    assert!(session.type_of("import \"nothing.flx\"; 1").is_err());
    assert!(session.type_of("counter::count").is_err());
    assert_eq!(session.check("file", "import \"counter.flx\"; counter::tick();").status, Status::Ok);
    assert_eq!(refused(&mut session, "#counter::count"), ["E0904"]);
    session.reset();
    shown(&mut session, "import \"counter.flx\"");
}

#[test]
fn without_a_loader_there_are_no_files() {
    let mut session = Session::new();
    assert_eq!(refused(&mut session, "import \"a.flx\""), ["E0902"]);
    shown(&mut session, "import linear");
    assert_eq!(shown(&mut session, "linear::dot ((1, 2), (3, 4))"), "11 : int");
}

#[test]
fn types_of_modules_and_of_the_session_are_not_confused() {
    // Each module and the session number their own variables and types; no two numbers may collide.
    let files = [
        ("a.flx", "export struct P[T] { x:T; } export fun get[T](p:P[T]):T => p.x;"),
        ("b.flx", "import \"a.flx\"; export struct Q[T] { x:T; } export fun wrap[T](x:T) => a::P (Q x);"),
    ];
    let mut session = session(&files);
    shown(&mut session, "struct R[T] { x:T; }");
    shown(&mut session, "import \"b.flx\"; import \"a.flx\"");
    shown(&mut session, "struct S[T] { x:T; }");
    assert_eq!(shown(&mut session, "(a::get (b::wrap (S (R 1)))).x.x.x"), "1 : int");
    assert_eq!(refused(&mut session, "val r : R[int] = S 1"), ["E0301"]);
    assert_eq!(refused(&mut session, "val r : a::P[int] = R 1"), ["E0301"]);
}

#[test]
fn later_lines_need_more_of_a_module_of_the_library() {
    let mut session = Session::new();
    shown(&mut session, "import dict; import fft");
    // A module's names are those of its own scope, whatever the user has when a statement is checked.
    shown(&mut session, "fun len(n:int) => n; val Leaf = 3; val most_direct = \"none\"; type tree = int");
    shown(&mut session, "val known = dict::dict_of ((\"a\", 1), (\"b\", 2))");
    assert_eq!(shown(&mut session, "known"), "{a: 1, b: 2} : dict[string, int]");
    assert_eq!(shown(&mut session, "dict::len known + len Leaf"), "5 : int");
    // The same type, and its instances, after more of the module has been checked.
    assert_eq!(shown(&mut session, "dict::put (known, \"a\", 1) == known"), "true : bool");
    // A variable of the module is computed when it is first needed.
    assert_eq!(shown(&mut session, "len (fft::fft (1.0, 0.0, 0.0)) + Leaf"), "6 : int");
}

#[test]
fn a_rejected_line_leaves_a_module_of_the_library_as_it_was() {
    let mut session = Session::new();
    shown(&mut session, "import dict as d");
    assert_eq!(
        refused(&mut session, "import set; set::set_of (1, 2); val n : int = d::put"),
        ["W0003", "E0301"]
    );
    assert_eq!(refused(&mut session, "set::set_of (1, 2)"), ["E0904"]);
    assert_eq!(refused(&mut session, "d::nosuch"), ["E0905"]);
    assert_eq!(refused(&mut session, "import dict (nosuch)"), ["E0905"]);
    shown(&mut session, "import set; import dict (get_or)");
    assert_eq!(shown(&mut session, "set::set_of (2, 1, 2)"), "{1, 2} : set[int]");
    assert_eq!(shown(&mut session, "get_or (d::dict_of ((1, 2), (3, 4)), 3, 0)"), "4 : int");
    assert_eq!(shown(&mut session, "import dict (*); has_key (dict_of ((1, 2), (3, 4)), 3)"), "true : bool");
}

#[test]
fn each_name_of_a_module_of_the_library_brings_what_it_requires() {
    on_large_stack(|| {
        for module in library::modules::names() {
            let mut session = Session::new();
            let names = library::modules::exported_names(module);
            assert!(!names.is_empty(), "{module}");
            // The later ones are mentioned by more of the others.
            for name in names.iter().filter(|name| is_identifier(name)) {
                shown(&mut session, &format!("import {module} ({name})"));
            }
            // Together they are all that an import of all names brings, and no two instances overlap.
            let mut whole = Session::new();
            whole.load_whole_library().expect("the library is right");
            shown(&mut whole, &format!("import {module} (*)"));
            for name in names.iter().filter(|name| is_identifier(name)) {
                let described = session.describe_name(name);
                assert_eq!(described.detail, whole.describe_name(name).detail, "{module}: {name}");
            }
        }
    });
}

/// Returns true for what can be listed in an import.
fn is_identifier(name: &str) -> bool {
    name.starts_with(|c: char| c.is_alphabetic())
}

#[test]
fn deep_imports_are_bounded() {
    let text = |n: usize| if n < 101 { format!("import \"m{}.flx\";", n + 1) } else { "println 1;".into() };
    let files: Vec<(String, String)> = (0..102).map(|n| (format!("m{n}.flx"), text(n))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let mut session = session(&files);
    let outcome = session.evaluate("input", "import \"m0.flx\"", Mode::Line, &mut |_| ());
    let shown: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    let expected = "\
[E0913] Error: imports go deeper than 100 modules
   ╭─[ m99.flx:1:8 ]
   │
 1 │ import \"m100.flx\";
   │        ─────┬────
   │             ╰────── one too deep
───╯
";
    assert_eq!(shown, expected);
    // An import chain of allowed depth.
    let mut printed = String::new();
    let outcome = session.evaluate("input", "import \"m2.flx\"", Mode::Line, &mut |t| printed.push_str(t));
    assert_eq!((outcome.status, printed.as_str()), (Status::Ok, "1\n"));
}

#[test]
fn many_modules_are_bounded() {
    let files: Vec<(String, String)> =
        (0..1100).map(|n| (format!("m{n}.flx"), format!("export val x = {n};"))).collect();
    let files: Vec<(&str, &str)> = files.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    let mut session = session(&files);
    let all: String = (0..1100).map(|n| format!("import \"m{n}.flx\"; ")).collect();
    let codes = refused(&mut session, &all);
    assert!(!codes.is_empty() && codes.iter().all(|code| *code == "E0913"), "{codes:?}");
    let some: String = (0..900).map(|n| format!("import \"m{n}.flx\"; ")).collect();
    assert_eq!(shown(&mut session, &format!("{some} m899::x")), "899 : int");
}
