//! Layout: the same program, formatted; nothing is lost, and formatting is idempotent.
//!
//! Tested on every valid program of this repository, on random programs, on programs with comments
//! at every place, and on examples with their exact result.

use crate::random_trees::TreeGenerator;
use crate::trees::{Dice, bare, read};
use felis_base::source::SourceMap;
use felis_syntax::syntax::fmt::{MAX_LINE_WIDTH, format_source};
use felis_syntax::syntax::{lexer, unparse};
use proptest::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// Returns a formatted text; `None` if it cannot be parsed.
fn laid(text: &str) -> Option<String> {
    let mut sources = SourceMap::new();
    let source = sources.add("test.flx", text);
    match format_source(&source) {
        Ok(out) => Some(out),
        Err(errors) => {
            let codes: Vec<&str> = errors.iter().map(|error| error.code.as_str()).collect();
            assert!(!codes.contains(&"E0998"), "{text}");
            None
        }
    }
}

/// Returns the comments of a text by another method than that of the formatter: the text between
/// tokens.
fn comments(text: &str) -> Vec<String> {
    let mut sources = SourceMap::new();
    let source = sources.add("test.flx", text);
    let mut out = String::new();
    let mut from = 0;
    for token in lexer::lex(&source).tokens {
        out.push_str(&text[from..token.start as usize]);
        out.push('\n');
        from = token.end as usize;
    }
    out.push_str(&text[from..]);
    out.lines().map(|line| line.trim().to_string()).filter(|line| !line.is_empty()).collect()
}

/// Checks the properties of every layout.
fn holds(text: &str, out: &str) {
    let ((before, errors), (after, more)) = (read(text), read(out));
    assert!(errors.is_empty() && more.is_empty(), "{text}\n{out}\n{errors}{more}");
    assert!(bare(&before) == bare(&after), "another tree\n{text}\n{out}");
    assert_eq!(comments(text), comments(out), "other comments\n{text}\n{out}");
    assert_eq!(laid(out).as_deref(), Some(out), "twice is not once\n{text}");
    let blank = out.lines().any(|line| line.ends_with(' ')) && !text.contains("/*");
    assert!(!blank, "blanks at the end of a line\n{out}");
    assert!(!out.contains("\n\n\n") || text.contains("/*"), "two empty lines\n{out}");
}

fn programs() -> Vec<PathBuf> {
    let (mut found, mut folders) = (Vec::new(), vec![Path::new(env!("CARGO_MANIFEST_DIR")).to_path_buf()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() && !path.ends_with("target") {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "flx") {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_program_of_the_repository() {
    let mut read = 0;
    for path in programs() {
        let Ok(text) = fs::read_to_string(&path) else { continue };
        let Some(out) = laid(&text) else { continue };
        holds(&text, &out);
        read += 1;
    }
    assert!(read > 400, "only {read} programs were laid out");
}

/// Checks that the library and the examples are formatted by `felis fmt`.
#[test]
fn the_library_and_the_examples_are_laid_out() {
    let (mut wrong, mut seen) = (Vec::new(), 0);
    for path in programs() {
        let below = path.strip_prefix(env!("CARGO_MANIFEST_DIR")).expect("a path below");
        if !["stdlib", "examples", "book"].iter().any(|folder| below.starts_with(folder)) {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).expect("a text");
        if laid(&text).as_deref() != Some(&text) {
            wrong.push(below.display().to_string());
        }
    }
    assert!(seen > 40, "only {seen} programs");
    assert!(wrong.is_empty(), "felis fmt {}", wrong.join(" "));
}

/// Inserts a comment after every token of a program that is not attached to the next.
fn commented(text: &str, dice: &mut Dice) -> String {
    let mut sources = SourceMap::new();
    let source = sources.add("test.flx", text);
    let (mut out, mut from) = (String::new(), 0);
    for token in lexer::lex(&source).tokens {
        let gap = &text[from..token.start as usize];
        out.push_str(gap);
        if !gap.is_empty() && !gap.contains("//") {
            match dice.roll(8) {
                0 => out.push_str("// one\n      "),
                1 => out.push_str("/* two */ "),
                2 => out.push_str("\n\n\n  // three\n      "),
                3 => out.push_str("/* four\n  five */\n      "),
                4 => out.push_str("\n      "),
                _ => {}
            }
        }
        out.push_str(&text[token.start as usize..token.end as usize]);
        from = token.end as usize;
    }
    out.push_str(&text[from..]);
    out
}

#[test]
fn comments_may_stand_anywhere() {
    let (mut dice, mut tried) = (Dice(7), 0);
    for path in programs() {
        if !path.components().any(|part| part.as_os_str() == "examples" || part.as_os_str() == "stdlib") {
            continue;
        }
        let text = fs::read_to_string(&path).expect("a text");
        for _ in 0..4 {
            let text = commented(&text, &mut dice);
            // A line break may end a statement: then the text is another program.
            let Some(out) = laid(&text) else { continue };
            holds(&text, &out);
            // The result for other line ends is the same, with those ends.
            let returned = text.replace('\n', "\r\n");
            assert_eq!(laid(&returned), Some(out.replace('\n', "\r\n")), "{text}");
            tried += 1;
        }
    }
    assert!(tried > 40, "only {tried} programs could be read");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_programs(seed: u64, depth in 1u32..6) {
        let mut generator = TreeGenerator { dice: Dice(seed) };
        let tree = vec![generator.stmt(depth), generator.stmt(depth)];
        let text = unparse::print(&tree);
        let out = laid(&text).expect("a printed program can be read");
        holds(&text, &out);
        // All in one line, as far as comments allow it.
        if !text.contains("//") {
            let line = text.lines().map(str::trim).collect::<Vec<_>>().join(" ");
            if let Some(out) = laid(&line) {
                holds(&line, &out);
            }
        }
    }
}

fn becomes(text: &str, expected: &str) {
    let out = laid(text).unwrap_or_else(|| panic!("cannot be read\n{text}"));
    holds(text, &out);
    assert_eq!(out, expected);
}

#[test]
fn blanks_are_those_of_the_language() {
    becomes("val   x:int=1+2*-3 ;", "val x : int = 1 + 2 * -3;\n");
    becomes("fun f[T]( x :T , y: T ) : T=>x;", "fun f[T](x:T, y:T):T => x;\n");
    becomes("val y=x:>>int^(2\\*3);", "val y = x :>> int ^ (2 \\* 3);\n");
    becomes("println$x . f . 1 .(`1:2\\,j);", "println$ x.f.1.(`1:2 \\, j);\n");
    becomes("val z = [x*i for i in ..[3]];", "val z = [ x * i for i in ..[3] ];\n");
    becomes("class A[T]{fun + :T*T->T;}", "class A[T] { fun + : T * T -> T; }\n");
    becomes(
        "println (#f ,a..b, !c,not d, 0xff, \"a  b\");",
        "println (#f, a..b, !c, not d, 0xff, \"a  b\");\n",
    );
    becomes("", "");
    becomes("\n\n// only\n\n\n// comments\n\n", "// only\n\n// comments\n");
}

#[test]
fn line_breaks_that_were_written_stay() {
    becomes(
        "val m = (1, 0,\n  0, 1);\n\n\n\nval t = x\n|> f\n|> g;\n",
        "val m = (1, 0,\n         0, 1);\n\nval t = x\n  |> f\n  |> g;\n",
    );
    becomes("if a do b 1; else b 2; done", "if a do b 1; else b 2; done\n");
    becomes("if a do b 1; else\nb 2; done", "if a do\n  b 1;\nelse\n  b 2;\ndone\n");
    becomes("for i in ..[3] perform\nprintln i;", "for i in ..[3] perform\n  println i;\n");
    becomes(
        "match x do\n| case 0=>;\n| case 1 n => println n;\nprintln 2; // two\ndone",
        "match x do\n| case 0 => ;\n| case 1 n => println n;\n  println 2;  // two\ndone\n",
    );
    // Values below `then` are deeper than the words; on the lines of the words, the other words are.
    becomes(
        "val y = if a then\n1\nelif b then\n2\nelse\n3\nendif;",
        "val y = if a then\n  1\nelif b then\n  2\nelse\n  3\nendif;\n",
    );
    becomes("val y = if a then 1\nelse 2\nendif;", "val y = if a then 1\n  else 2\n  endif;\n");
    becomes("variant t =\n| A\n  | B of int;", "variant t =\n  | A\n  | B of int;\n");
}

#[test]
fn lines_that_are_too_long_are_broken_outside_first() {
    let name = "a_somewhat_longer_name";
    let text = format!("val x = {name} ({name}, {name}) + {name} ({name}, {name});");
    becomes(&text, &format!("val x = {name} ({name}, {name})\n  + {name} ({name}, {name});\n"));
    let text = format!("fun f(x:int):int => {name} (x, {name}, {name}, {name}) * x_0;");
    becomes(&text, &format!("fun f(x:int):int =>\n  {name} (x, {name}, {name}, {name}) * x_0;\n"));
    let text = format!("val x = x |> {name} 1 |> {name} 2 |> {name} 3 |> {name} 4 |> {name} 5;");
    let steps: String = (1..=5).map(|n| format!("\n  |> {name} {n}")).collect();
    becomes(&text, &format!("val x = x{steps};\n"));
    // The content of a single pair of brackets is held by both brackets together.
    let text = format!("val z = f (({name}, {name}, {name}, {name}, {name}, {name}));");
    let row = format!("  {name}, {name}, {name}, {name},\n  {name}, {name}\n");
    becomes(&text, &format!("val z = f ((\n{row}));\n"));
    let text = format!("println ({});", [name; 8].join(", "));
    let out = laid(&text).expect("a program");
    holds(&text, &out);
    assert!(out.lines().all(|line| line.chars().count() <= MAX_LINE_WIDTH), "{out}");
    assert_eq!(out.lines().count(), 4, "{out}");
}

/// The style of the library and the examples.
#[test]
fn definitions_are_laid_out_as_people_write_them() {
    becomes("struct point{x:int;y:int;}", "struct point { x : int; y : int; }\n");
    becomes("instance [T] A[T] {}", "instance[T] A[T] {}\n");
    // Parameters are broken before the type of a result.
    let long = "T, A:COMPACTLINEAR, B:COMPACTLINEAR, C:COMPACTLINEAR, D:COMPACTLINEAR";
    becomes(
        &format!("fun f[{long}](x:T ^ (A \\* B), y:T ^ B):T ^ (A \\* B) => x;"),
        &format!("fun f[{long}](\n  x:T ^ (A \\* B), y:T ^ B\n):T ^ (A \\* B) => x;\n"),
    );
    // A comment before a definition does not indent it.
    becomes(
        "/// Documented.\nfun f[T]\n        (x:T):T { return x; }",
        "/// Documented.\nfun f[T]\n  (x:T):T {\n  return x;\n}\n",
    );
    // Operands in lines of their own are indented.
    becomes("val s =\n\"a\"\n+ \"b\"\n+ \"c\";", "val s =\n  \"a\"\n  + \"b\"\n  + \"c\";\n");
    becomes("f (\n\"a\" +\n\"b\");", "f (\n  \"a\" +\n  \"b\"\n);\n");
    becomes("val s = [ f i\nfor i in ..[3] ];", "val s = [ f i\n          for i in ..[3] ];\n");
}

/// What the tokens around a token do not tell, the tree does.
#[test]
fn roles_of_tokens_are_those_of_the_tree() {
    // A set of places, where a block could stand.
    becomes(
        "typefun place(T:SPREAD):PLACES => typematch T with | A @ S => S | _ => {  alice,bob } endmatch;",
        "typefun place(T:SPREAD):PLACES => typematch T with | A @ S => S | _ => {alice, bob} endmatch;\n",
    );
    // The type of a method of a class, and fields in braces and in parentheses.
    becomes(
        "class Shape[T] {\nvirtual fun area:T -> int;\n}\nstruct p { x:int; }\nstruct q(x:int,y:int);",
        "class Shape[T] {\n  virtual fun area : T -> int;\n}\nstruct p { x : int; }\nstruct q(x:int, y:int);\n",
    );
    // An update in the body of a lambda, and one before the arms of a match.
    becomes(
        "val f = fun (r:t)=>r with (a=1);\nval y = match r with (a=1) with | s=>s.a endmatch;",
        "val f = fun (r:t) => r with (a = 1);\nval y = match r with (a = 1) with | s => s.a endmatch;\n",
    );
}

#[test]
fn places_are_laid_out_as_people_write_them() {
    becomes(
        "val x : int@{ alice,bob }=at  {alice,bob}{val k=3;k+1};at {alice, bob} { println x; } println 3;\n",
        "val x : int @ {alice, bob} = at {alice, bob} { val k = 3; k + 1 };\n\
         at {alice, bob} { println x; }\n\
         println 3;\n",
    );
    becomes(
        "joint fun f(x:int@{alice,bob}):int@{alice,bob} {return x;}at bob{println 1;}\n\
         export joint fun g(x:int @ alice):int=>x.give[{bob,carol}].1;\n",
        "joint fun f(x:int @ {alice, bob}):int @ {alice, bob} { return x; }\n\
         at bob { println 1; }\n\
         export joint fun g(x:int @ alice):int => x.give[{bob, carol}].1;\n",
    );
}

#[test]
fn lines_end_as_most_of_them_did() {
    becomes(
        "val x=1 ;\r\n/* a\r\n   b */\r\n// c\r\nval y=2;\r\n",
        "val x = 1;\r\n/* a\r\n   b */\r\n// c\r\nval y = 2;\r\n",
    );
    // A formatted text is unchanged.
    becomes("val x = 1;\r\n", "val x = 1;\r\n");
    becomes("val x=1;\n/* a\r\n b */\nval y=2;\n", "val x = 1;\n/* a\n b */\nval y = 2;\n");
    becomes("/* a\r\r\n b */\nval y=2;\n", "/* a\n b */\nval y = 2;\n");
    becomes("#!/usr/bin/felis\r\nval y=2;\r\n", "#!/usr/bin/felis\r\nval y = 2;\r\n");
}

#[test]
fn what_cannot_be_read_is_left_alone() {
    assert_eq!(laid("val x = (1;"), None);
    assert_eq!(laid("val x = ;\nval y = 2;"), None);
}
