//! Robustness of the parser: no text makes it panic, overflow its stack or take long.

use crate::trees::{Dice, bare, codes, incomplete, read, stmts};
use felis_syntax::syntax::brackets::IncrementalSplit;
use felis_syntax::syntax::{lexer, unparse};
use proptest::prelude::*;
use std::time::{Duration, Instant};

/// A limit far above the need of any of these without optimization, and far below exponential time.
const MAX_PARSE_TIME: Duration = Duration::from_secs(10);

fn soon<T>(work: impl FnOnce() -> T) -> T {
    let start = Instant::now();
    let out = work();
    let took = start.elapsed();
    assert!(took < MAX_PARSE_TIME, "took {took:?}");
    out
}

#[test]
fn nested_parentheses() {
    let text = format!("val x = {}1{};", "(".repeat(100_000), ")".repeat(100_000));
    assert_eq!(soon(|| codes(&text)), ["E0107"]);
    let text = format!("val x = {}1{};", "(".repeat(250), ")".repeat(250));
    assert_eq!(soon(|| stmts(&text)).len(), 1);
    for open in ["(", "[", "{", "if ", "match ", "do ", "f(", "x.(", "..[", "T["] {
        assert_eq!(soon(|| codes(&open.repeat(10_000))).len(), 1, "{open}");
    }
    let mixed = format!("{}{}", "([".repeat(50_000), ")".repeat(100_000));
    assert!(!soon(|| codes(&mixed)).is_empty());
    for text in ["if a then { (", "if a then { s; } ([", "f\"{", "f\"{(\" ", "f\"{f\"{ "] {
        let closers = ") ] ; ".repeat(10_000);
        assert!(!soon(|| codes(&format!("{}{closers}", text.repeat(20_000)))).is_empty(), "{text}");
    }
}

#[test]
fn deepest_of_each_form() {
    let nests = [
        ("(", "1", ")"),
        ("[", "1", "]"),
        ("f (", "1", ")"),
        ("(1, ", "1", ")"),
        ("(1 + ", "1", ")"),
        ("(a = ", "1", ")"),
        ("if (", "true", ") then 1 else 2 endif"),
        ("x.(", "y", ")"),
    ];
    for (open, core, close) in nests {
        let text = format!("val x = {}{core}{};", open.repeat(120), close.repeat(120));
        let tree = soon(|| stmts(&text));
        let printed = unparse::print(&tree);
        assert_eq!(bare(&stmts(&printed)), bare(&tree));
    }
    let lambdas = format!("val f = {}1;", "fun (x:int) => ".repeat(200));
    stmts(&lambdas);
    let loops = format!("{} print 1; {}", "for i in x do ".repeat(250), "done ".repeat(250));
    stmts(&loops);
}

#[test]
fn too_deep_without_brackets() {
    for text in [
        format!("val x = {}1;", "-".repeat(40_000)),
        format!("val x = {}1;", "not ".repeat(40_000)),
        format!("val x = {}f;", "#".repeat(40_000)),
        format!("val x = {}1;", "f$ ".repeat(40_000)),
        format!("val x = {}1;", "a, f$ ".repeat(40_000)),
        format!("val x = {}1;", "2 ** ".repeat(40_000)),
        format!("val x = {}1;", "fun (x:int) => ".repeat(40_000)),
        format!("{}print 1;", "if c perform ".repeat(40_000)),
        format!("{}print 1;", "for i in c perform ".repeat(40_000)),
        format!("val f : {}int = g;", "int -> ".repeat(40_000)),
    ] {
        let found = soon(|| codes(&text));
        assert!(found.contains(&"E0107"), "{} {found:?}", &text[..40]);
    }
}

#[test]
fn long_chains() {
    let text = format!("val y = x{};", "+x".repeat(100_000));
    assert_eq!(soon(|| codes(&text)), ["E0108"]);
    for op in ["+", "*", " or ", " and ", ".", "|>", " x ", " - ", " < ", ":>> int |> "] {
        let text = format!("val y = x{};", format!("{op}x").repeat(40_000));
        assert_eq!(soon(|| codes(&text)), ["E0108"], "{op}");
        // The longest allowed chain is read, printed and dropped, on the small stack of this
        // thread.
        let text = format!("val y = x{};", format!("{op}x").repeat(4_900));
        let (tree, _) = soon(|| read(&text));
        soon(|| unparse::print(&tree));
    }
    let text = format!("val y = x{};", "+x".repeat(9_998));
    soon(|| stmts(&text));
    let wide = format!("val y = [{}1];", "1, ".repeat(40_000));
    assert_eq!(soon(|| stmts(&wide)).len(), 1);
    let ty = format!("val f : int{} = g;", " ^ 2".repeat(40_000));
    assert_eq!(soon(|| codes(&ty)), ["E0108"]);
}

#[test]
fn long_lines_and_odd_bytes() {
    assert_eq!(soon(|| codes(&"x".repeat(10 << 20))), ["E0106"]);
    assert_eq!(soon(|| codes(&"1;".repeat(5 << 20))), ["E0106"]);
    assert_eq!(codes("val x = 1;\0\0\0val y = 2;"), ["E0101"]);
    assert_eq!(codes("\0"), ["E0101"]);
    assert_eq!(soon(|| codes(&"\0 ".repeat(100_000))).len(), 20);
    assert_eq!(codes("val s = \"abc;\nval t = 2;"), ["E0102"]);
    assert_eq!(codes("println$ f(\"abc);\nval t = (2);"), ["E0102"]);
    assert_eq!(codes("val s = \"abc\\"), ["E0102"]);
    assert_eq!(codes("/* /* */"), ["E0105"]);
    assert!(soon(|| codes(&"/*".repeat(400_000))) == ["E0105"]);
    assert_eq!(soon(|| codes(&format!("val x = {};", "9".repeat(1_000_000)))), ["E0106"]);
    assert_eq!(codes("\u{FEFF}val x = 1;"), [""; 0]);
    assert_eq!(codes("val x = “a”;")[0], "E0101");
    assert_eq!(codes(""), [""; 0]);
    assert_eq!(codes(";;;"), [""; 0]);
}

#[test]
fn one_error_per_statement() {
    let text = "val = 1;\nval y = (2;\nval z 3;\nprintln$ 1 +;\nval ok = 1;\n";
    assert_eq!(codes(text), ["E0120", "E0110", "E0120", "E0120"]);
    let many = "val = 1;\n".repeat(10_000);
    assert_eq!(soon(|| codes(&many)).len(), 51);
}

#[test]
fn one_error_per_statement_of_a_block() {
    let text = "proc p() {\n  val = 1;\n  if a do\n    x = ;\n    y = 1 +\n    val z = 2;\n  elif b do\n    f(;\n  done\n}";
    assert_eq!(codes(text), ["E0110"]);
    let text = "proc p() {\n  val = 1;\n  if a do\n    x = ;\n    y = 1 +\n    val z = 2;\n  elif b do\n    f(,);\n  \
                else g( ; done\n}".replace("g( ;", "g = ;");
    assert_eq!(codes(&text), ["E0120"; 5]);
    let text = "match x do\n| a => val = 1;\n| b => c = ;\n| d => e;\ndone";
    assert_eq!(codes(text), ["E0120"; 2]);
    let nested = format!("{} val = 1; {}", "do x = ; fun f() { y = ; ".repeat(100), "} done ".repeat(100));
    assert_eq!(soon(|| codes(&nested)).len(), 51);
}

/// Nesting that is parsed on the caller's stack needs little of it.
#[test]
fn small_stacks() {
    for (open, core, close) in [
        ("(", "1", ")"),
        ("[1, ", "1", "]"),
        ("fun (x:int) { return ", "1", "; }"),
        ("if a then ", "1", " else 2 endif"),
        ("- - ", "1", ""),
    ] {
        let text = format!("val x = {}{core}{};", open.repeat(11), close.repeat(11));
        let work = move || assert!(codes(&text).is_empty(), "{text}");
        let thread = std::thread::Builder::new().stack_size(1 << 20).spawn(work).expect("a thread");
        thread.join().expect("no error");
    }
}

#[test]
fn incomplete_texts() {
    for text in [
        "fun f(x:int):int =>",
        "fun f(x:int):int",
        "fun f(x:int",
        "for i in ..[3] do",
        "for i in ..[3]",
        "for i in ..[3] perform",
        "var x =",
        "var x",
        "println$",
        "1 +",
        "(1,",
        "[1, 2",
        "if x > 3 do print 1;",
        "if x > 3 then 1",
        "match x with | 1 => 2",
        "proc main() {",
        "proc main()",
        "class C[T] {",
        "/* a comment",
        "val x = 1; val y =",
        "case 0 of",
        "x.",
        "do",
    ] {
        assert!(incomplete(text), "{text}");
    }
    for text in [
        "1 + 2",
        "x",
        "fun f(x:int):int => x",
        "val x = 1",
        "val x = 1;",
        "for i in ..[3] perform print i",
        "for i in ..[3] do print i; done",
        "proc main() { }",
        "val x = ); val y =",
        "val = ",
        "\"abc",
        ") 1 +",
        "",
    ] {
        assert!(!incomplete(text), "{text}");
    }
}

/// A text of four times the length takes about four times as long, not sixteen times.
#[test]
fn reading_takes_time_in_proportion() {
    let program = include_str!("encoding.flx");
    let time = |bytes: usize| {
        let text = program.repeat(bytes / program.len());
        let start = Instant::now();
        assert!(!stmts(&text).is_empty());
        start.elapsed().as_secs_f64()
    };
    let best = |bytes| (0..3).map(|_| time(bytes)).fold(f64::INFINITY, f64::min);
    let (short, long) = (best(250_000), best(1_000_000));
    println!("{:.2} MB/s, ratio {:.1}", 1.0 / long, long / short);
    assert!(long < 12.0 * short, "{short} s against {long} s");
}

const SOUP: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ",",
    ";",
    ":",
    ":>",
    ":>>",
    ".",
    "..",
    "..<",
    "|",
    "|>",
    "$",
    "#",
    "&",
    "`",
    "?",
    "<-",
    "->",
    "=>",
    "=",
    "+=",
    "==",
    "!=",
    "<",
    ">",
    "!",
    "+",
    "-",
    "*",
    "/",
    "%",
    "**",
    "^",
    "*+",
    "\\*",
    "\\+",
    "\\^",
    "\\,",
    "fun",
    "proc",
    "var",
    "val",
    "typedef",
    "typefun",
    "typematch",
    "struct",
    "variant",
    "newtype",
    "class",
    "instance",
    "law",
    "require",
    "match",
    "with",
    "endmatch",
    "if",
    "then",
    "elif",
    "else",
    "endif",
    "for",
    "in",
    "do",
    "done",
    "perform",
    "while",
    "break",
    "return",
    "case",
    "of",
    "proj",
    "aproj",
    "and",
    "or",
    "not",
    "as",
    "when",
    "true",
    "import",
    "1",
    "0x",
    "1.5",
    "1e",
    "\"s\"",
    "\"",
    "x",
    "f",
    "_",
    "\n",
    "//",
    "/*",
    "///",
    "\0",
    "é",
    "\\",
    "@",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn token_soup(seed: u64, length in 0usize..200) {
        let mut dice = Dice(seed);
        let mut text = String::new();
        for _ in 0..length {
            text.push_str(SOUP[dice.roll(SOUP.len())]);
            text.push_str(["", " ", " ", " "][dice.roll(4)]);
        }
        soon(|| read(&text));
    }

    #[test]
    fn any_text(text in ".{0,200}") {
        soon(|| read(&text));
    }

    /// Tests a program with one token removed, doubled or exchanged.
    #[test]
    fn damaged_programs(seed: u64) {
        let mut dice = Dice(seed);
        let program = [include_str!("reshape.flx"), include_str!("sums.flx"),
            include_str!("constructs.flx")][dice.roll(3)];
        let mut map = felis_base::source::SourceMap::new();
        let source = map.add("p", program);
        let tokens = lexer::lex(&source).tokens;
        let token = tokens[dice.roll(tokens.len())];
        let (start, end) = (token.start as usize, token.end as usize);
        let instead = match dice.roll(3) {
            0 => String::new(),
            1 => format!("{0} {0}", &program[start..end]),
            _ => SOUP[dice.roll(SOUP.len())].to_owned(),
        };
        let text = format!("{}{instead}{}", &program[..start], &program[end..]);
        let (_, errors) = soon(|| read(&text));
        // One wrong token causes few messages.
        prop_assert!(errors.matches("Error:").count() <= 12, "{text}\n{errors}");
    }
}

/// A text that arrives line by line is reported incomplete only if the whole text is, too; and in
/// most cases it need not be parsed.
#[test]
fn growing_texts_are_as_incomplete_as_whole_ones() {
    let (mut told, mut all) = (0, 0);
    let mut folders = vec![std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests")];
    folders.push(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples"));
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
            let path = entry.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let Ok(text) = std::fs::read_to_string(&path) else { continue };
            if path.extension().is_none_or(|ending| ending != "flx") || text.len() > 20_000 {
                continue;
            }
            let mut growing = IncrementalSplit::default();
            for line in text.split_inclusive('\n') {
                let open = growing.push(line);
                let whole = incomplete(growing.text());
                assert!(whole || !open, "{}\n{}", path.display(), growing.text());
                told += usize::from(open);
                all += usize::from(whole);
                if !whole {
                    growing = IncrementalSplit::default();
                }
            }
        }
    }
    assert!(all > 500 && told * 10 > all * 6, "{told} of {all}");
    let mut growing = IncrementalSplit::default();
    for (line, open) in
        [("val x = (\n", true), ("1, /* a\n", false), ("b\n", true), ("*/ 2\n", true), (");\n", false)]
    {
        assert_eq!(growing.push(line), open, "{line}");
    }
    assert_eq!(growing.into_text(), "val x = (\n1, /* a\nb\n*/ 2\n);\n");
}
