//! Forms of Felix: each program of `tests/felix_forms.txt` gives its stated result or message, and
//! the chapter of the book shows all of them.
//!
//! `BLESS=1 cargo test --test execute felix` rewrites that part of the chapter, never the table.

use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

/// A row of the table.
struct Row {
    title: String,
    program: String,
    /// The output, or the code of the message.
    ends: Result<String, String>,
}

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn rows() -> Vec<Row> {
    let text = fs::read_to_string(path("tests/felix_forms.txt")).expect("the table");
    let row = |block: &str| {
        let (title, rest) = block.split_once('\n').expect("a title");
        let (kind, rest) = rest.split_once('\n').expect("how it ends");
        let (program, ends) = match kind.strip_prefix("message ") {
            Some(code) => (rest, Err(code.to_owned())),
            None => {
                let (program, output) = rest.split_once("----\n").expect("what it prints");
                (program, Ok(output.trim_end_matches('\n').to_owned() + "\n"))
            }
        };
        Row { title: title.to_owned(), program: program.trim_end().to_owned() + "\n", ends }
    };
    format!("\n{text}").split("\n# ").skip(1).map(row).collect()
}

#[test]
fn forms_end_as_the_table_says() {
    let rows = rows();
    assert!(rows.len() >= 18, "only {} forms", rows.len());
    let mut wrong = Vec::new();
    for row in rows {
        for executor in [Executor::Reference, Executor::Compiled] {
            let (status, out, codes) = on_large_stack(|| {
                let mut out = String::new();
                let mut session = Session::new().with_executor(executor, 1);
                let outcome =
                    session.evaluate("program", &row.program, Mode::Script, &mut |text| out += text);
                let codes: Vec<String> = outcome.diagnostics.iter().map(|d| d.code.to_string()).collect();
                (outcome.status, out, codes)
            });
            let right = match &row.ends {
                Ok(output) => status == Status::Ok && *output == out && codes.is_empty(),
                Err(code) => codes.first() == Some(code),
            };
            if !right {
                wrong.push(format!("{}: {status:?} {codes:?}\n{out}", row.title));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_chapter_shows_the_table() {
    const BEGIN: &str = "<!-- forms of tests/felix_forms.txt -->\n";
    const END: &str = "<!-- end of forms -->\n";
    let mut shown = String::from(BEGIN);
    let (runs, refused): (Vec<Row>, Vec<Row>) = rows().into_iter().partition(|row| row.ends.is_ok());
    for (heading, rows) in
        [("These run as they are.", runs), ("These have a message that says what to write.", refused)]
    {
        let _ = writeln!(shown, "\n{heading}");
        for Row { title, program, ends } in rows {
            let _ = match ends {
                Ok(output) => {
                    writeln!(shown, "\n{title}:\n\n```felis\n{program}```\n\n```output\n{output}```")
                }
                Err(code) => writeln!(shown, "\n{title}:\n\n```felis error={code}\n{program}```"),
            };
        }
    }
    let _ = write!(shown, "\n{END}");
    let file = path("book/src/from_felix.md");
    let chapter = fs::read_to_string(&file).expect("the chapter");
    let (before, rest) = chapter.split_once(BEGIN).expect("where the forms begin");
    let (_, after) = rest.split_once(END).expect("where they end");
    let wanted = format!("{before}{shown}{after}");
    if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
        fs::write(&file, wanted).expect("writable");
    } else {
        assert!(wanted == chapter, "the chapter differs from the table: BLESS=1 rewrites it");
    }
}
