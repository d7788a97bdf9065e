//! The book and the README: every program, command and table gives the printed result.
//!
//! Fences that are run:
//!
//! - `felis`: a complete program. What it prints stands in an `output` fence after it, the messages
//!   it causes, as they are laid out, in a `message` fence. Attributes: `error=E0302` or
//!   `error=E0301,E0418` for a program that is refused or stopped by just these, `says=N0001` for
//!   one that runs and causes just these. With `file=geometry.flx` it is not run: it is the file
//!   that programs after it in the chapter import. Data files are those that programs before it in
//!   the chapter have written. With `ciphers` it needs the feature of that name: here it may stop
//!   with E0540, and `tests/execute/ciphers.rs` compares what it prints.
//! - `console`: lines `$ felis …` with what the command writes.
//! - `session`: lines `felis> …` (continued by `  ...> …`) with what the session answers.
//! - `verdict`: lines `A   B   verdict`, columns two blanks apart.
//!
//! `felis-part` and all other fences are only read. Blanks at the ends of lines are not compared.
//! `BLESS=1 cargo test --test tools book` writes what happens into the texts.

use crate::in_memory::{InMemoryFileSystem, InMemoryLoader, StubSystem};
use felis::session::docs::{self, markdown};
use felis::session::{Executor, ExecutorSetup, Session, Status, on_large_stack, reference};
use std::collections::BTreeSet;
use std::fs;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

/// One fence of a text.
struct Fence {
    /// The line of its opening, from 1.
    line: usize,
    kind: String,
    attributes: Vec<(String, String)>,
    body: String,
}

/// The errors of a fence, and the correct body of it, or of one after it.
#[derive(Default)]
struct Found {
    wrong: Vec<String>,
    /// The line of the opening of a fence, and its new body.
    bodies: Vec<(usize, String)>,
}

impl Found {
    /// Compares the written body of a fence with the actual one.
    fn compare(&mut self, line: usize, written: &str, happened: &str) {
        let (expected, found) = (trimmed(written), trimmed(happened));
        if expected != found {
            self.wrong.push(format!("should be\n{expected}\nand is\n{found}\n"));
            self.bodies.push((line, found));
        }
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the files below a folder with this extension, in the order of their names.
fn files(folder: &str, extension: &str) -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![root().join(folder)]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Returns the README and the chapters.
fn texts() -> Vec<PathBuf> {
    let mut found = vec![root().join("README.md")];
    found.extend(files("book/src", "md"));
    found
}

fn fences(text: &str) -> Vec<Fence> {
    let mut found = Vec::new();
    let mut open: Option<Fence> = None;
    for (at, line) in text.lines().enumerate() {
        match (&mut open, line.strip_prefix("```")) {
            (None, Some(info)) => {
                let mut words = info.split_whitespace();
                let kind = words.next().unwrap_or_default().to_string();
                let attribute = |word: &str| {
                    let (name, value) = word.split_once('=').unwrap_or((word, ""));
                    (name.to_string(), value.to_string())
                };
                let attributes = words.map(attribute).collect();
                open = Some(Fence { line: at + 1, kind, attributes, body: String::new() });
            }
            (Some(_), Some("")) => found.extend(open.take()),
            (Some(fence), _) => {
                fence.body.push_str(line);
                fence.body.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    found
}

/// Returns a text without blanks at the ends of lines and at its end.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_end().to_string()
}

impl Fence {
    fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }
}

/// Runs a program, of which the session keeps nothing but what it has read of the library.
fn program(
    session: &mut Session,
    fence: &Fence,
    after: &[Fence],
    files: &InMemoryLoader,
    data: &InMemoryFileSystem,
) -> Found {
    session.set_loader(Box::new(files.clone()));
    session.set_files(Arc::new(data.clone()));
    session.set_system(Arc::new(StubSystem::with(data.clone())));
    let runs = session.try_on_each("program.flx", &fence.body, &[ExecutorSetup::new(Executor::Compiled, 0)]);
    let [outcome] = &runs[..] else { panic!("one executor has one end") };
    let messages: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    let mut found = Found::default();
    let codes = |name: &str| {
        let values = fence.attributes.iter().filter(|(n, _)| n == name);
        values.flat_map(|(_, v)| v.split(',').map(str::to_string)).collect::<BTreeSet<_>>()
    };
    let (errors, says) = (codes("error"), codes("says"));
    let ciphers = cfg!(feature = "ciphers");
    if ciphers && errors.contains("E0540") {
        return found;
    }
    if fence.attribute("ciphers").is_some() && !ciphers {
        let other = outcome.diagnostics.iter().any(|d| d.code.as_str() != "E0540");
        found.wrong.extend(other.then(|| format!("it should stop with E0540 at most\n{messages}")));
        return found;
    }
    if (outcome.status == Status::Ok) != errors.is_empty() {
        found.wrong.push(format!("it should end otherwise than with {:?}\n{messages}", outcome.status));
    }
    let expected: BTreeSet<String> = errors.union(&says).cloned().collect();
    let said: BTreeSet<String> = outcome.diagnostics.iter().map(|d| d.code.to_string()).collect();
    if expected != said {
        found.wrong.push(format!("its codes should be {expected:?} and are {said:?}\n{messages}"));
    }
    let belonging: Vec<&Fence> =
        after.iter().take_while(|f| matches!(f.kind.as_str(), "output" | "message")).collect();
    match belonging.iter().find(|f| f.kind == "output") {
        Some(written) => found.compare(written.line, &written.body, &outcome.output),
        None if outcome.output.is_empty() => {}
        None => found.wrong.push(format!("its output stands nowhere:\n{}", outcome.output)),
    }
    if let Some(written) = belonging.iter().find(|f| f.kind == "message") {
        found.compare(written.line, &written.body, &messages);
    }
    found
}

/// Runs the command in the folder of the project; returns all its output.
fn command(arguments: &[String], input: &str) -> String {
    let (mut reader, writer) = std::io::pipe().expect("a pipe");
    let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
    command.args(arguments).current_dir(root()).env("NO_COLOR", "1").stdin(Stdio::piped());
    command.stdout(writer.try_clone().expect("a pipe")).stderr(writer);
    let mut child = command.spawn().expect("felis starts");
    // The command's ends of the pipe live in `command`.
    drop(command);
    let mut stdin = child.stdin.take().expect("a pipe");
    // A command that does not read closes the pipe.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    let mut output = String::new();
    reader.read_to_string(&mut output).expect("text");
    child.wait().expect("felis ends");
    output
}

/// Returns the words of a command line, with single quotes as in a shell.
fn words(line: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted, mut any) = (Vec::new(), String::new(), false, false);
    for c in line.chars() {
        match c {
            '\'' => (quoted, any) = (!quoted, true),
            ' ' if !quoted => {
                if any {
                    words.push(std::mem::take(&mut word));
                }
                any = false;
            }
            c => {
                word.push(c);
                any = true;
            }
        }
    }
    if any {
        words.push(word);
    }
    words
}

fn console(fence: &Fence) -> Found {
    let mut happened = String::new();
    let mut lines = fence.body.lines().peekable();
    while let Some(line) = lines.next() {
        happened.push_str(line);
        happened.push('\n');
        let words = words(line);
        let arguments = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
            ["$", "felis", ..] => &words[2..],
            ["$", "cargo", "run", "--release", "--", ..] => &words[5..],
            _ => continue,
        };
        while lines.next_if(|line| !line.starts_with("$ ")).is_some() {}
        happened.push_str(&command(arguments, ""));
    }
    let mut found = Found::default();
    found.compare(fence.line, &timeless(&fence.body), &timeless(&happened));
    found
}

/// Returns a text with all times replaced by the same one.
fn timeless(text: &str) -> String {
    let time = fancy_regex::Regex::new(r"\b\d+(\.\d+)? (µs|ms|s)\b").expect("a pattern");
    time.replace_all(text, "0 s").into_owned()
}

/// Returns the inputs and answers of a session, input by input.
fn session(fence: &Fence) -> Found {
    let typed = |line: &str| line.starts_with("felis> ") || line.starts_with("  ...> ");
    let (mut happened, mut input, mut before) = (String::new(), String::new(), String::new());
    let mut lines = fence.body.lines().filter(|line| typed(line)).peekable();
    while let Some(line) = lines.next() {
        happened.push_str(&format!("{line}\n"));
        input.push_str(&format!("{}\n", &line[7..]));
        if lines.peek().is_some_and(|next| next.starts_with("  ...> ")) {
            continue;
        }
        let all = command(&[], &input);
        happened.push_str(all.strip_prefix(before.as_str()).unwrap_or(&all));
        before = all;
    }
    let mut found = Found::default();
    found.compare(fence.line, &fence.body, &happened);
    found
}

fn verdicts(fence: &Fence) -> Found {
    let mut session = Session::new();
    let mut wrong = Vec::new();
    for line in fence.body.lines() {
        let columns: Vec<&str> = line.split("  ").map(str::trim).filter(|c| !c.is_empty()).collect();
        let &[a, b, expected] = &columns[..] else {
            wrong.push(format!("`{line}` has not three columns"));
            continue;
        };
        for (a, b) in [(a, b), (b, a)] {
            match session.iso(a, b, false) {
                Ok(answer) if answer.verdict.to_string() == expected => {}
                Ok(answer) => wrong.push(format!("`{a}` and `{b}` are {}, not {expected}", answer.verdict)),
                Err(errors) => wrong.push(errors.iter().map(|d| session.render(d, false)).collect()),
            }
        }
    }
    Found { wrong, ..Found::default() }
}

/// Returns the text with other bodies in some of its fences.
fn blessed(text: &str, bodies: &[(usize, String)]) -> String {
    let (mut out, mut skipping) = (String::new(), false);
    for (at, line) in text.lines().enumerate() {
        skipping &= line != "```";
        if skipping {
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if let Some((_, body)) = bodies.iter().find(|(opening, _)| *opening == at + 1) {
            out.push_str(body);
            if !body.is_empty() {
                out.push('\n');
            }
            skipping = true;
        }
    }
    out
}

#[test]
fn what_is_printed_is_what_happens() {
    let bless = std::env::var_os("BLESS").is_some();
    let (mut wrong, mut run, mut shared) = (Vec::new(), 0, Session::new());
    for path in texts() {
        let text = read(&path);
        let fences = fences(&text);
        let (mut bodies, mut files, data) =
            (Vec::new(), InMemoryLoader::default(), InMemoryFileSystem::default());
        for (at, fence) in fences.iter().enumerate() {
            let found = match fence.kind.as_str() {
                "felis" if fence.attribute("file").is_some() => {
                    files.put(fence.attribute("file").unwrap_or_default(), &fence.body);
                    continue;
                }
                "felis" => on_large_stack(|| program(&mut shared, fence, &fences[at + 1..], &files, &data)),
                "console" => console(fence),
                "session" => session(fence),
                "verdict" => on_large_stack(|| verdicts(fence)),
                _ => continue,
            };
            run += 1;
            let name = path.strip_prefix(root()).unwrap_or(&path).display();
            wrong.extend(found.wrong.into_iter().map(|text| format!("{name}:{}: {text}", fence.line)));
            bodies.extend(found.bodies);
        }
        if bless && !bodies.is_empty() {
            fs::write(&path, blessed(&text, &bodies)).expect("the text can be written");
        }
    }
    assert!(wrong.is_empty(), "{} wrong in {run} fences:\n{}", wrong.len(), wrong.join("\n"));
    assert!(run > 150, "only {run} fences were found");
}

/// The codes that no short program, or no program at all, can cause.
const NOT_SHOWN: &[&str] = &[
    "E0100", "E0106", "E0108", "E0511", "E0512", "E0599", "E0214", "E0215", "E0618", "E0902", "E0913",
    "E0916", "E0998", "E0999", "E0530", "E0531", "E0532", "E0533", "E0534", "E0541", "E0542", "E0543",
];

#[test]
fn every_code_is_in_the_reference() {
    let page = read(&root().join("book/src/diagnostics.md"));
    let mut missing = BTreeSet::new();
    for file in files("src", "rs").into_iter().chain(files("crates", "rs")) {
        let text = read(&file);
        for (at, _) in text.match_indices('"') {
            let code = text.get(at + 1..at + 6).unwrap_or_default();
            let closed = text[at + 1..].get(5..6) == Some("\"");
            let digits = code.get(1..).is_some_and(|d| d.len() == 4 && d.bytes().all(|b| b.is_ascii_digit()));
            if !closed || !digits || !code.starts_with(['E', 'W', 'N']) {
                continue;
            }
            let shown = page.lines().any(|l| l.starts_with("```felis ") && l.contains(code));
            if !page.contains(&format!("### {code}")) || !(shown || NOT_SHOWN.contains(&code)) {
                missing.insert(code.to_string());
            }
        }
    }
    assert!(missing.is_empty(), "not in book/src/diagnostics.md: {missing:?}");
}

#[test]
fn programs_beside_the_book_are_those_in_it() {
    let texts: Vec<String> = texts().iter().map(|path| read(path)).collect();
    for path in files("book/programs", "flx") {
        let text = read(&path);
        let shown = texts.iter().any(|page| fences(page).iter().any(|fence| fence.body == text));
        assert!(shown, "{} is not shown as it is", path.display());
    }
}

#[test]
fn every_code_is_explained() {
    let mut wrong = Vec::new();
    let mut codes = BTreeSet::new();
    for (code, sentence) in reference::codes() {
        assert!(codes.insert(code), "{code} is there twice");
        let page = reference::explain(code).expect("a page");
        let lines: Vec<&str> = page.lines().collect();
        // Each failing program fails with the code of its page, and no program with another code
        // alone.
        for line in lines.iter().filter(|line| line.starts_with("```felis ")) {
            let failing = ["error=", "says="].iter().any(|word| line.contains(word));
            if failing && !line.contains(code) {
                wrong.push(format!("{code}: `{line}` shows another code"));
            }
        }
        let mended = lines.iter().position(|line| line.starts_with("Instead: "));
        if mended.is_none() || sentence.len() < 10 {
            wrong.push(format!("{code}: it is not said what it means, or what to write instead"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_chapters_on_the_library_are_what_it_says() {
    let folder = root().join("book/src/library");
    let pages = docs::library();
    let mut texts: Vec<(String, String)> =
        pages.iter().map(|page| (format!("{}.md", page.name), markdown::page(page))).collect();
    texts.push(("index.md".to_string(), markdown::index("The library", &pages)));
    if std::env::var_os("BLESS").is_some() {
        fs::create_dir_all(&folder).expect("a folder");
        texts.iter().for_each(|(name, text)| fs::write(folder.join(name), text).expect("writable"));
    }
    for (name, text) in &texts {
        assert!(read(&folder.join(name)) == *text, "{name}: run `BLESS=1 cargo test --test tools book`");
    }
    assert_eq!(files("book/src/library", "md").len(), texts.len(), "a chapter of nothing");
}

#[test]
fn the_grammar_is_that_of_the_parser() {
    let parser = read(&root().join("crates/syntax/src/syntax/parser/mod.rs"));
    let grammar = parser.split("//! ```text\n").nth(1).and_then(|rest| rest.split("//! ```\n").next());
    let lines = grammar.expect("the grammar").lines();
    let rules: Vec<&str> =
        lines.map(|l| l.trim_start_matches("//!").strip_prefix(' ').unwrap_or("")).collect();
    let page = read(&root().join("book/src/grammar.md"));
    assert!(page.contains(&rules.join("\n")), "book/src/grammar.md should hold\n{}", rules.join("\n"));
}

#[test]
fn every_function_in_the_overview_exists() {
    let page = read(&root().join("book/src/arrays.md"));
    let section = page.split("## Functions of the library").nth(1).expect("the overview");
    let rows = section.lines().filter(|line| line.starts_with("| "));
    let mut session = Session::new();
    let names: Vec<&str> = rows.flat_map(|row| row.split('`').skip(1).step_by(2)).collect();
    assert!(names.len() > 50, "{names:?}");
    let missing: Vec<&str> = names.into_iter().filter(|name| session.overloads(name).is_empty()).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[test]
fn every_chapter_is_in_the_summary() {
    let summary = read(&root().join("book/src/SUMMARY.md"));
    for path in texts() {
        let Ok(name) = path.strip_prefix(root().join("book/src")) else { continue };
        let name = name.display().to_string();
        assert!(name == "SUMMARY.md" || summary.contains(&format!("({name})")), "{name}");
    }
}
