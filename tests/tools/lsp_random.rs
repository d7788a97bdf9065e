//! The language server under random edits of the examples: nothing fails, and in the end its
//! diagnostics of a text are those of `felis check`.
//!
//! `FELIS_RANDOM=N` tests N texts instead of a few; `FELIS_SEED` repeats a run.

use crate::in_four_parts;
use crate::lsp_client::{Client, byte, position};
use felis::editor::{TokenClass, tokens};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// Texts that users type, paste and leave unfinished.
const PIECES: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ".",
    "|",
    "=>",
    "=",
    "+",
    ":",
    ":>>",
    " ^ ",
    "\\*",
    "\\",
    "`",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "\n",
    "\r\n",
    "𝒳",
    "é",
    " x",
    " int",
    " 3",
    "?N",
    "fun ",
    "fun f(x:int):int => x;",
    "val y = ",
    "val y = 1;",
    "match x with | ",
    " endmatch",
    "if ",
    " do ",
    " done",
    "import \"",
    "import order;",
    "export ",
    "instance ",
    "class C[T] { fun m : T -> T; }",
    "struct S { a : int; }",
    "require N == 3;",
    "sum (1, 2, 3)",
    "map ",
    "::",
    "geometry::",
    "test \"t\" { }",
    "for i in ..[3] do println i; done",
    "type T layout = ",
    "kind K = a | b;",
    "\u{feff}",
    "\t",
];

fn edit(random: &mut fastrand::Rng, text: &mut String) -> Value {
    let mut place = |text: &str| {
        let mut at = random.usize(0..=text.len());
        while !text.is_char_boundary(at) || text[..at].ends_with('\r') {
            at -= 1;
        }
        at
    };
    let (a, b) = (place(text), place(text));
    let (from, mut to) = (a.min(b), a.max(b));
    let insert = match random.u32(0..10) {
        0 => {
            // A repeated part of the text itself.
            let mut end = (from + random.usize(0..200)).min(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            let part = text[from..end.max(from)].to_string();
            to = from;
            part
        }
        1 | 2 => {
            to = to.min(from + random.usize(0..60));
            while !text.is_char_boundary(to) || text[..to].ends_with('\r') {
                to -= 1;
            }
            to = to.max(from);
            String::new()
        }
        _ => {
            to = from;
            PIECES[random.usize(0..PIECES.len())].to_string()
        }
    };
    let range = json!({ "start": position(text, from), "end": position(text, to) });
    text.replace_range(from..to, &insert);
    json!({ "range": range, "text": insert })
}

/// Sends a request at a random place; every answer except a failure of the server is allowed.
fn ask(random: &mut fastrand::Rng, client: &mut Client, uri: &str, text: &str) {
    let mut at = random.usize(0..=text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let document = json!({ "uri": uri });
    let place = position(text, at);
    let everywhere =
        json!({ "start": { "line": 0, "character": 0 }, "end": { "line": 99999, "character": 0 } });
    let (method, params) = match random.u32(0..13) {
        0 => ("hover", json!({ "textDocument": document, "position": place })),
        1 => ("definition", json!({ "textDocument": document, "position": place })),
        2 => ("completion", json!({ "textDocument": document, "position": place })),
        3 => ("signatureHelp", json!({ "textDocument": document, "position": place })),
        4 => ("documentSymbol", json!({ "textDocument": document })),
        5 => ("foldingRange", json!({ "textDocument": document })),
        6 => ("semanticTokens/full", json!({ "textDocument": document })),
        7 => ("inlayHint", json!({ "textDocument": document, "range": everywhere })),
        8 => ("documentHighlight", json!({ "textDocument": document, "position": place })),
        9 => ("prepareRename", json!({ "textDocument": document, "position": place })),
        10 => ("rename", json!({ "textDocument": document, "position": place, "newName": "renamed" })),
        11 => (
            "codeAction",
            json!({ "textDocument": document, "range": everywhere, "context": { "diagnostics": [] } }),
        ),
        _ => (
            "formatting",
            json!({ "textDocument": document, "options": { "tabSize": 2, "insertSpaces": true } }),
        ),
    };
    let answer = client.request(&format!("textDocument/{method}"), params);
    if let Err(error) = answer {
        assert_eq!(error["code"], -32803, "{method} at {at}: {error}\n{text}");
    }
}

/// Returns the diagnostics of `felis check`: codes, places, sentences.
fn checked(path: &Path, text: &str) -> Vec<(String, usize, String)> {
    let done = Command::new(env!("CARGO_BIN_EXE_felis")).args(["check", "--json"]).arg(path).output();
    let done = done.expect("the command runs");
    assert!(done.status.code().is_some_and(|code| code == 0 || code == 3), "{done:?}");
    let lines = String::from_utf8(done.stdout).expect("text");
    lines
        .lines()
        .map(|line| {
            let said: Value = serde_json::from_str(line).expect("JSON");
            let start = &said["place"]["start"]["byte"];
            let at = start.as_u64().unwrap_or(0) as usize;
            assert!(at <= text.len());
            (
                said["code"].as_str().expect("a code").into(),
                at,
                said["message"].as_str().expect("words").into(),
            )
        })
        .collect()
}

/// Writes the programs of a folder, and of folders inside, into the workspace.
fn shelve(client: &Client, folder: &Path, below: &str) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let (path, name) = (entry.path(), entry.file_name().into_string().expect("a plain name"));
        if path.is_dir() {
            shelve(client, &path, &format!("{below}{name}/"));
        } else if name.ends_with(".flx") {
            client.file(&format!("{below}{name}"), &std::fs::read_to_string(&path).expect("readable"));
        }
    }
}

in_four_parts!(every_name_of_the_examples_can_be_renamed);

/// Renames each name of the examples in turn to a new one. The server compares the referents before
/// and after, so a single missed use would be found.
fn every_name_of_the_examples_can_be_renamed(part: usize, parts: usize) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut client = Client::new(&format!("rename-all-{part}"));
    shelve(&client, &folder, "");
    let (mut done, mut refused) = (0, 0);
    let mut examples: Vec<_> = std::fs::read_dir(&folder)
        .expect("examples")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a plain name"))
        .filter(|name| name.ends_with(".flx"))
        .collect();
    examples.sort();
    for name in examples.iter().skip(part).step_by(parts) {
        let path = folder.join(name);
        let text = std::fs::read_to_string(&path).expect("readable");
        let uri = client.open(name, &text);
        assert_eq!(
            client.diagnostics(&uri, 1).iter().filter(|said| said["severity"] == 1).count(),
            0,
            "{name}"
        );
        let mut seen = Vec::new();
        for (range, class) in tokens(&text) {
            if !matches!(class, TokenClass::Name | TokenClass::TypeName) {
                continue;
            }
            let mut params =
                json!({ "textDocument": { "uri": uri }, "position": position(&text, range.end) });
            let definition = client.request("textDocument/definition", params.clone()).expect("an answer");
            if definition.is_null() || seen.contains(&definition) {
                continue;
            }
            seen.push(definition);
            params["newName"] = json!("no_program_has_this");
            match client.request("textDocument/rename", params) {
                Ok(_) => done += 1,
                Err(error) => {
                    let why = error["message"].as_str().expect("a reason");
                    let fine = ["standard library", "part of the language", "called as its file"];
                    let word = &text[range];
                    assert!(fine.iter().any(|fine| why.contains(fine)), "{name}: `{word}`: {why}");
                    refused += 1;
                }
            }
        }
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
    assert!(done > 300 / parts && refused > 20 / parts, "{done} done, {refused} refused");
}

#[test]
fn random_edits_end_as_a_fresh_check() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let texts = number("FELIS_RANDOM").unwrap_or(6);
    let seed = number("FELIS_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("FELIS_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let mut examples: Vec<_> = std::fs::read_dir(&folder)
        .expect("examples")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "flx"))
        .collect();
    examples.sort();
    let mut client = Client::new("random");
    shelve(&client, &folder, "");
    for turn in 0..texts {
        let example = &examples[random.usize(0..examples.len())];
        let mut text = std::fs::read_to_string(example).expect("readable");
        if random.bool() {
            text = text.replace('\n', "\r\n");
        }
        let name = format!("random_{turn}.flx");
        let uri = client.open(&name, &text);
        client.diagnostics(&uri, 1);
        let mut version = 1;
        for _ in 0..random.u32(1..40) {
            version += 1;
            let changes: Vec<Value> = (0..random.u32(1..4)).map(|_| edit(&mut random, &mut text)).collect();
            client.change(&uri, version, Value::Array(changes));
            for _ in 0..random.u32(0..3) {
                ask(&mut random, &mut client, &uri, &text);
            }
        }
        let told = client.diagnostics(&uri, version);
        let told: Vec<(String, usize, String)> = told
            .iter()
            .map(|said| {
                let code = said["code"].as_str().expect("a code").to_string();
                let message = said["message"].as_str().expect("words").lines().next().unwrap_or_default();
                (code, byte(&text, &said["range"]["start"]), message.to_string())
            })
            .collect();
        assert!(told.iter().all(|(code, ..)| code != "E0999" && code != "E0599"), "{told:?}\n{text}");
        client.file(&name, &text);
        let mut expected = checked(&client.folder.join("programs").join(&name), &text);
        for said in &mut expected {
            said.2 = said.2.lines().next().unwrap_or_default().to_string();
        }
        assert_eq!(told, expected, "seed {seed}, {}:\n{text}", example.display());
        client.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    }
}
