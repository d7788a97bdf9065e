//! Checks after edits: a text that is checked again after each of many random edits has the index
//! and the messages of a check from nothing.
//!
//! `FELIS_RANDOM=N` tests N texts instead of a few; `FELIS_SEED` repeats a run.

use felis::editor::{CheckedText, Draft, Edited, TokenClass, check_edited, index, tokens};
use felis::session::{Executor, Session, on_large_stack};
use std::path::{Path, PathBuf};

/// Returns the programs that are edited.
fn programs() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in ["examples", "tests/agreement", "tests/modules", "tests/execute"] {
        let Ok(entries) = std::fs::read_dir(root.join(folder)) else { continue };
        let paths = entries.map(|entry| entry.expect("an entry").path());
        found.extend(paths.filter(|path| path.extension().is_some_and(|extension| extension == "flx")));
    }
    found.sort();
    found
}

/// Returns a program of statements that use one another.
fn generated(random: &mut fastrand::Rng) -> String {
    let mut text = String::from("struct point { across:real; upward:real; }\nval start = 1.5;\n");
    for i in 1..random.usize(4..14) {
        let before = random.usize(0..i);
        let called = if before == 0 { "abs".to_string() } else { format!("f{before}") };
        text.push_str(&match random.u32(0..9) {
            0 => format!("fun f{i}(x:real):real => {called} x + start;\n"),
            1 => format!("fun f{i}(x:real) => {called} x * {i}.0;\n"),
            2 => format!("fun f{i}(x:real):real {{\n  val y = {called} x;\n  return y + y;\n}}\n"),
            3 => format!("val v{i} = {called} start;\nfun f{i}(x:real):real => x + v{i};\n"),
            4 => format!("struct s{i} {{ part:point; }}\nfun f{i}(x:real):real => (s{i} (point (x, {called} x))).part.upward;\n"),
            5 => format!("variant o{i} = | None{i} | Some{i} of real;\nfun f{i}(x:real):real => match Some{i} ({called} x) with | None{i} => 0.0 | Some{i} y => y endmatch;\n"),
            6 => format!("fun f{i}[N:COMPACTLINEAR](x:real ^ N):real => {called} (sum x);\nfun f{i}(x:real):real => f{i} ((x, x) :>> real ^ 2);\n"),
            7 => format!("typedef t{i} = real;\nproc p{i}(x:t{i}) {{ println ({called} x); }}\np{i} start;\nfun f{i}(x:t{i}):t{i} => x;\n"),
            _ => format!("/// Halves.\nfun f{i}(x:real):real => [ {called} y for y in (x, x) ].(0) / 2.0;\nprintln (f{i} start);\n"),
        });
    }
    text
}

/// Returns the place of a random part of one of these classes.
fn part(
    random: &mut fastrand::Rng,
    text: &str,
    wanted: fn(TokenClass) -> bool,
) -> Option<std::ops::Range<usize>> {
    let found: Vec<_> = tokens(text).into_iter().filter(|(_, class)| wanted(*class)).collect();
    (!found.is_empty()).then(|| found[random.usize(0..found.len())].0.clone())
}

/// Changes a text as one who writes it does, in a random way.
fn edit(random: &mut fastrand::Rng, text: &mut String) {
    let any = |_| true;
    let name = |class| matches!(class, TokenClass::Name | TokenClass::TypeName);
    let lines: Vec<String> = text.split_inclusive('\n').map(str::to_string).collect();
    match random.u32(0..14) {
        // A name becomes another one of the text, or a new one.
        0..=2 => {
            let Some(place) = part(random, text, name) else { return };
            let other = part(random, text, name).map_or("fresh".to_string(), |at| text[at].to_string());
            text.replace_range(place, if random.u32(0..4) == 0 { "fresh" } else { &other });
        }
        // A name is cut or gets a letter.
        3 => {
            let Some(place) = part(random, text, name) else { return };
            match random.bool() {
                true => text.insert(place.end, 's'),
                false => text.replace_range(place.end - 1..place.end, ""),
            }
        }
        4 => {
            let Some(place) = part(random, text, |class| class == TokenClass::Number) else { return };
            text.replace_range(place, ["0", "2", "2.5", "17", "true"][random.usize(0..5)]);
        }
        // A part of the text goes, is doubled, or comes.
        5 => {
            let Some(place) = part(random, text, any) else { return };
            text.replace_range(place, "");
        }
        6 => {
            let Some(place) = part(random, text, any) else { return };
            let word = text[place.clone()].to_string();
            text.insert_str(place.end, &format!(" {word}"));
        }
        7 => {
            let Some(place) = part(random, text, any) else { return };
            let pieces =
                [";", "(", ")", " + 1", " => ", "val x = ", "\"", "// ", "{", "}", ":real", ".", " ?N "];
            text.insert_str(place.end, pieces[random.usize(0..pieces.len())]);
        }
        // Lines go, are doubled, change places.
        8 if lines.len() > 1 => {
            let mut lines = lines;
            lines.remove(random.usize(0..lines.len()));
            *text = lines.concat();
        }
        9 if lines.len() > 1 => {
            let mut lines = lines;
            let at = random.usize(0..lines.len());
            lines.insert(random.usize(0..lines.len()), lines[at].clone());
            *text = lines.concat();
        }
        10 if lines.len() > 1 => {
            let mut lines = lines;
            let (a, b) = (random.usize(0..lines.len()), random.usize(0..lines.len()));
            lines.swap(a, b);
            *text = lines.concat();
        }
        // A statement comes.
        _ => {
            let new = [
                "val added = 2.5;\n",
                "fun abs(x:real):real => x;\n",
                "fun added(x:int) => x + 1;\n",
                "import order;\n",
                "struct added { a:int; }\n",
                "require 3 == 3;\n",
                "println start;\n",
                "instance Show[point] { fun str(p) => \"p\"; }\n",
                "val start = 3;\n",
                "\n// A comment.\n",
            ];
            let at = random.usize(0..=lines.len());
            let before: usize = lines[..at].iter().map(String::len).sum();
            text.insert_str(before, new[random.usize(0..new.len())]);
        }
    }
}

/// Leaves out the numbers at the ends of names with a capital: `int ^ N3` is `int ^ N`. A size that
/// is opened gets a number that no variable shows, and those that show it depend on what has been
/// checked before.
fn without_size_numbers(line: &str) -> String {
    let mut out = String::new();
    for word in line.split_inclusive(|c: char| !c.is_alphanumeric() && c != '_') {
        let name = word.trim_end_matches(|c: char| !c.is_alphanumeric() && c != '_');
        let is_size = name.starts_with(char::is_uppercase);
        let kept = if is_size { name.trim_end_matches(|c: char| c.is_ascii_digit()) } else { name };
        out += kept;
        out += &word[name.len()..];
    }
    out
}

fn new_session() -> Session {
    Session::new().with_executor(Executor::Reference, 1)
}

#[test]
fn a_check_after_an_edit_is_one_from_nothing() {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    let texts = number("FELIS_RANDOM").unwrap_or(24);
    let seed = number("FELIS_SEED").unwrap_or_else(|| fastrand::u64(..));
    println!("FELIS_SEED={seed}");
    on_large_stack(move || {
        let mut random = fastrand::Rng::with_seed(seed);
        let programs = programs();
        let (mut session, mut other) = (new_session(), new_session());
        let (mut parts, mut all) = (0, 0);
        for _ in 0..texts {
            let path = &programs[random.usize(0..programs.len())];
            let read = || std::fs::read_to_string(path).expect("readable");
            let mut text = if random.bool() { read() } else { generated(&mut random) };
            if text.len() > 6_000 {
                continue;
            }
            let mut checked: Option<CheckedText> = None;
            let mut undone = text.clone();
            for _ in 0..random.u32(6..16) {
                let draft = Draft { name: "edited", text: &text, id: "edited", before: None };
                let now = check_edited(&mut session, Edited { draft, base: checked.as_ref() });
                all += 1;
                parts += u32::from(now.is_part());
                let whole = index(&mut other, draft);
                let shown = |index: &felis::editor::Index| {
                    let said = index.diagnostics.iter();
                    let said = said.map(|said| felis_base::diagnostic::render(said, index.sources(), false));
                    let said = said.map(|text| without_size_numbers(&text));
                    let lines = index.lines();
                    let mut lines: Vec<String> =
                        lines.iter().map(|line| without_size_numbers(line)).collect();
                    lines.sort();
                    (said.collect::<Vec<String>>(), lines)
                };
                let ((found, lines), (wanted, all)) = (shown(&now.index), shown(&whole));
                assert_eq!(found, wanted, "messages, FELIS_SEED={seed}:\n{text}");
                if let Some(at) = (0..lines.len().max(all.len())).find(|&at| lines.get(at) != all.get(at)) {
                    panic!("FELIS_SEED={seed}: {:?} in place of {:?}:\n{text}", lines.get(at), all.get(at));
                }
                checked = Some(now);
                // An edit may be taken back.
                let last = std::mem::replace(&mut undone, text.clone());
                if random.u32(0..4) == 0 {
                    text = last;
                } else {
                    (0..random.u32(1..5)).for_each(|_| edit(&mut random, &mut text));
                }
            }
        }
        assert!(parts * 4 > all, "{parts} of {all} checks were of parts");
    });
}

#[test]
fn edits_far_apart_leave_what_is_between_them() {
    on_large_stack(|| {
        let mut session = new_session();
        let program = |first: &str, last: &str| -> String {
            let line = |at: usize| match at {
                3 => format!("fun f3(x:int):int => x + {first};\n"),
                57 => format!("fun f57(x:int):int => x + {last};\n"),
                _ => format!("fun f{at}(x:int):int => x + {at};\n"),
            };
            (0..60).map(line).collect()
        };
        let check = |session: &mut Session, text: &str, base: Option<&CheckedText>| {
            let draft = Draft { name: "edited", text, id: "edited", before: None };
            check_edited(session, Edited { draft, base })
        };
        let whole = check(&mut session, &program("1", "2"), None);
        let text = program("1.5", "y");
        let part = check(&mut session, &text, Some(&whole));
        assert!(part.is_part());
        let wrong: Vec<&str> = part.index.diagnostics.iter().map(|said| said.code.as_str()).collect();
        assert_eq!(wrong, ["E0414", "E0401"]);
        let draft = Draft { name: "edited", text: &text, id: "edited", before: None };
        assert_eq!(part.index.lines(), index(&mut session, draft).lines());
    });
}
