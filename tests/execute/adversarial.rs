//! Programs with excessive demands: none panics, overflows the stack, hangs or exhausts memory.
//!
//! `tests/adversarial/*.flx` run and print their `.out` (`BLESS=1` rewrites); the large ones are
//! made here.

use crate::checker::{folder, programs, run};
use crate::watchdog::interrupted_after;
use std::fs;
use std::time::{Duration, Instant};

/// A limit far above the need of any of them, on a slow machine without optimization.
const MAX_RUN_TIME: Duration = Duration::from_secs(30);

#[test]
fn boundaries_and_corners_print_what_they_should() {
    let bless = std::env::var_os("BLESS").is_some_and(|v| v == "1");
    let mut wrong = Vec::new();
    for (name, text) in programs("tests/adversarial", &[""]) {
        let outcome = run(&name, &text, true);
        let golden = folder("tests/adversarial").join(name.replace(".flx", ".out"));
        let output = outcome.output + &outcome.shown;
        if bless {
            fs::write(&golden, &output).expect("writable");
        } else if fs::read_to_string(&golden).unwrap_or_default() != output {
            wrong.push(format!("{name}:\n{output}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a program that must end with these codes (none: without any error).
#[track_caller]
fn ends(text: &str, codes: &[&str]) -> String {
    let start = Instant::now();
    let outcome = run("test.flx", text, true);
    let shown: String = outcome.shown.chars().take(1_000).collect();
    let head: String = text.chars().take(300).collect();
    let found: Vec<&str> =
        outcome.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code.as_str()).collect();
    assert_eq!(found, codes, "{head}\n{shown}");
    assert!(start.elapsed() < MAX_RUN_TIME, "{:?} for {head}", start.elapsed());
    outcome.output
}

#[test]
fn long_chains() {
    for (operator, operand) in
        [("+", "1"), ("*", "1"), ("-", "1"), ("and", "true"), ("or", "true"), ("+", "\"a\""), ("+", "1.5")]
    {
        let chain = vec![operand; 9_999].join(&format!(" {operator} "));
        ends(&format!("println ({chain});"), &[]);
    }
    let f = "fun f(x:int):int => x + 1;\n";
    assert_eq!(ends(&format!("{f}println (1{});", " |> f".repeat(5_000)), &[]), "5001\n");
    assert_eq!(ends(&format!("{f}println (1{});", ".f".repeat(5_000)), &[]), "5001\n");
    let x = "val x = [1, 2];\n";
    assert_eq!(ends(&format!("{x}println ({});", vec!["x"; 300].join(" + ")), &[]), "(300, 600)\n");
}

#[test]
fn wide_values() {
    let numbers = |n: usize| (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    let mixed =
        (0..5_000).map(|i| if i % 2 == 0 { format!("{i}.5") } else { i.to_string() }).collect::<Vec<_>>();
    assert_eq!(ends(&format!("val t = ({});\nprintln (t.4999);", numbers(5_000)), &[]), "4999\n");
    assert_eq!(ends(&format!("val t = [{}];\nprintln (t.4999);", numbers(5_000)), &[]), "4999\n");
    assert_eq!(ends(&format!("val t = ({});\nprintln (t.4998);", mixed.join(", ")), &[]), "4998.5\n");
    let fields = (0..3_000).map(|i| format!("f{i} = {i}")).collect::<Vec<_>>().join(", ");
    assert_eq!(ends(&format!("val r = ({fields});\nprintln (r.f2999);"), &[]), "2999\n");
    let cases = (0..3_000).map(|i| format!("| C{i}")).collect::<Vec<_>>().join(" ");
    let arms = (0..3_000).map(|i| format!("| C{i} => {i}")).collect::<Vec<_>>().join("\n");
    let program = format!("variant v = {cases};\nfun f(x:v):int => match x with\n{arms}\nendmatch;\n");
    assert_eq!(ends(&format!("{program}println (f C2999);"), &[]), "2999\n");
    let arms = (0..3_000).map(|i| format!("| {i} => {i}")).collect::<Vec<_>>().join("\n");
    let program = format!("fun f(x:int):int => match x with\n{arms}\n| _ => 0 endmatch;\n");
    assert_eq!(ends(&format!("{program}println (f 2999);"), &[]), "2999\n");
}

#[test]
fn deep_programs() {
    ends(&format!("println ({}1{});", "if true then ".repeat(200), " else 2 endif".repeat(200)), &[]);
    ends(&format!("val x = {}1{};\nprintln x;", "[".repeat(200), "]".repeat(200)), &[]);
    let params: String = (0..150).map(|i| format!("fun (x{i}:int) => ")).collect();
    ends(&format!("val f = {params} x0 + x149;\nprintln 1;"), &[]);
    let chain: String = (0..2_000).map(|i| format!("fun f{i}(x:int) => f{} x + 1;\n", i + 1)).collect();
    assert_eq!(ends(&format!("{chain}fun f2000(x:int):int => x;\nprintln (f0 1);"), &[]), "2001\n");
    let chain: String = (0..2_000).map(|i| format!("struct s{i} {{ x:s{}; }}\n", i + 1)).collect();
    ends(&format!("{chain}struct s2000 {{ y:int; }}\nprintln 1;"), &[]);
    let chain: String = (0..2_000).map(|i| format!("typedef t{i} = t{};\n", i + 1)).collect();
    ends(&format!("{chain}typedef t2000 = int;\nval x : t0 = 1;"), &[]);
}

#[test]
fn types_that_explode() {
    let doubling = |step: &str| {
        let chain: String = (0..100)
            .map(|i| format!("typedef t{} = {};\n", i + 1, step.replace('t', &format!("t{i}"))))
            .collect();
        format!("typedef t0 = int;\n{chain}fun f(x:t100):int => 1;\n")
    };
    ends(&doubling("t * t"), &[]);
    ends(&doubling("t * (t + real)"), &["E0210"]);
    ends(&doubling("t -> t"), &["E0210"]);
    ends(&doubling("(a:t, b:t)"), &["E0210"]);
    let twice = "fun twice[T](x:T) => (x, (x, 1));\n";
    ends(&format!("{twice}val a = {}1.5;", "twice$ ".repeat(60)), &["E0210"]);
    let pair = "fun pair[T](x:T) => (x, x);\n";
    ends(&format!("{pair}val a = {}1.5;", "pair$ ".repeat(60)), &["E0509"]);
    let rec = "fun f[T](x:T, n:int):int => if n == 0 then 0 else f ((x, ARG), n - 1) endif;\n";
    ends(&format!("{}println (f (1, 300));", rec.replace("ARG", "1")), &[]);
    ends(&format!("{}println (f (1.5, 100000));", rec.replace("ARG", "1")), &["E0513"]);
    ends(&format!("{}println (f (1.5, 100000));", rec.replace("ARG", "x")), &["E0509"]);
    ends(&format!("{}println (f ((), 100000));", rec.replace("ARG", "x")), &["E0513"]);
    ends("struct t { l:t; r:t; }\nfun same(a:t, b:t):bool => a == b;\n", &["E0207"]);
    ends(
        "variant v[T] = | A of v[T * int] | B of v[T * real] | C of T;\nfun s(a:v[int]):bool => a == a;\n",
        &[],
    );
}

#[test]
fn numbers_that_explode() {
    ends("val x = [0 for i in ..[1000000000000]];", &["E0509"]);
    ends("val x = [0 for i in ..[2 \\^ 200]];", &["E0509"]);
    ends("val x = [0 for i in ..[2 \\^ (2 \\^ 100)]];", &["E0213"]);
    ends("val x = [[[0 for i in ..[1000000]] for j in ..[1000000]] for k in ..[1000000]];", &["E0509"]);
    ends("val i = 0 :>> 2 \\^ (2 \\^ 64);", &["E0514"]);
    ends("for i in ..[2 \\^ (2 \\^ 64)] do println i; done", &["E0514"]);
    ends("val x : bigint = 10 ** 1000000000;", &["E0505"]);
    ends("var n : bigint = 2;\nwhile true do n = n * n; done", &["E0505"]);
    ends("var s = \"x\";\nwhile true do s = s + s; done", &["E0509"]);
    ends("println (fixed (1.0 / 3.0, 100000000));", &[]);
    ends("fun f(x:real ^ (2 \\^ (3 \\^ 100))) => x :>> real ^ (2 \\^ (9 \\^ 50));", &[]);
}

#[test]
fn deep_values() {
    let list = "variant list[T] = | Nil | Cons of T * list[T];\n";
    let build = "proc go() {\n  var l : list[int] = Nil;\n  var m : list[int] = Nil;\n\
                 for i in 0..<300000 do l = Cons (i, l); m = Cons (i, m); done\n";
    assert_eq!(ends(&format!("{list}{build}  println (l == m);\n}}\ngo ();"), &[]), "true\n");
    // Too deep to be printed in full, but printed.
    ends(&format!("{list}{build}  println (strlen (l.str) > 1000);\n}}\ngo ();"), &[]);
    ends(
        "var f = fun (x:int) => x;\nfun after(g:int -> int):int -> int => fun (x:int) => g x + 1;\n\
          for i in 0..<300000 do f = after f; done\nprintln (f 1);",
        &["E0508"],
    );
    ends("fun f(n:int):int => 1 + f (n + 1);\nprintln (f 0);", &["E0508"]);
}

/// A value made in one thread may be dropped in another one with less stack.
#[test]
fn deep_values_are_dropped_on_small_stacks() {
    use felis_calculus::types::encoding::Code;
    use felis_runtime::value::{Case, Value};
    let mut list = Value::UNIT;
    for _ in 0..1_000_000 {
        list = Value::Sum(std::sync::Arc::new(Case(Code::Small(1), list)));
    }
    std::thread::Builder::new()
        .stack_size(64 << 10)
        .spawn(move || drop(list))
        .expect("a thread")
        .join()
        .expect("no overflow");
}

/// Programs with words dropped, doubled and exchanged: the checker does not panic, an accepted
/// program has valid core, and its run does not panic either.
#[test]
fn mangled_programs() {
    use felis_base::source::SourceMap;
    use felis_calculus::core::{Program, validate};
    use felis_check::check::{self, Env};
    use felis_runtime::eval::{Host, Machine, stack_guard};
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;
    let rounds: usize = std::env::var("MANGLED").ok().and_then(|n| n.parse().ok()).unwrap_or(1_500);
    let folders = ["tests/diagnostics", "tests/adversarial", "tests/syntax", "examples", "stdlib"];
    let texts: Vec<(String, String)> = folders.iter().flat_map(|f| programs(f, &[""])).collect();
    let texts: Vec<(String, String)> = texts.into_iter().filter(|(_, t)| t.len() < 4_000).collect();
    // Every other round begins with a program that is accepted as it stands, without the library.
    let is_accepted = |(_, text): &&(String, String)| {
        let check = || {
            let parsed = felis_syntax::syntax::parse(&SourceMap::new().add("program", text.as_str()));
            let checked = || check::check(&mut Env::new(), &mut Program::default(), &parsed.stmts).0;
            parsed.errors.is_empty() && checked().is_some()
        };
        stack_guard::with_stack(64 << 20, check).is_ok_and(|accepted| accepted)
    };
    let accepted_texts: Vec<&(String, String)> = texts.iter().filter(is_accepted).collect();
    let mut state = 0x9e37_79b9_7f4a_7c15u64 ^ rounds as u64;
    let mut roll = move |sides: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 20) as usize % sides.max(1)
    };
    let words = |text: &str| -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for c in text.chars() {
            let word = |c: char| c.is_alphanumeric() || c == '_';
            match out.last_mut() {
                Some(last) if word(c) && last.chars().all(word) => last.push(c),
                _ => out.push(c.to_string()),
            }
        }
        out
    };
    let mut accepted = 0;
    for _ in 0..rounds {
        let (name, text) = match roll(2) {
            0 => accepted_texts[roll(accepted_texts.len())],
            _ => &texts[roll(texts.len())],
        };
        let mut parts = words(text);
        for _ in 0..1 + roll(3) {
            let (at, other) = (roll(parts.len()), roll(parts.len()));
            match roll(4) {
                0 => drop(parts.remove(at)),
                1 => parts.swap(at, other),
                2 => parts.insert(at, parts[other].clone()),
                _ => {
                    let donor = words(&texts[roll(texts.len())].1);
                    parts[at] = donor[roll(donor.len())].clone();
                }
            }
            if parts.is_empty() {
                break;
            }
        }
        let mangled = parts.concat();
        let interrupt = Arc::new(AtomicBool::new(false));
        let start = Instant::now();
        let evaluate = || {
            let mut map = SourceMap::new();
            let parsed = felis_syntax::syntax::parse(&map.add(name.as_str(), mangled.as_str()));
            if !parsed.errors.is_empty() {
                return false;
            }
            let (mut env, mut program) = (Env::new(), Program::default());
            let (script, said) = check::check(&mut env, &mut program, &parsed.stmts);
            for diagnostic in &said {
                felis_base::diagnostic::render(diagnostic, &map, false);
            }
            let Some(script) = script else {
                assert!(said.iter().any(felis_base::diagnostic::Diagnostic::is_error), "{mangled}");
                return false;
            };
            assert_eq!(validate::validate_all(&program, &script), Ok(()), "{mangled}");
            let mut host = Host {
                out: &mut |_| {},
                out_here: None,
                interrupt: &interrupt,
                memory: 16 << 20,
                files: None,
                system: None,
                screen: felis_runtime::eval::Screen::default(),
            };
            if let Err(error) = Machine::new().run(&program, &script, &mut host) {
                let said = error.to_diagnostic();
                assert!(!["E0599", "E0512"].contains(&said.code.as_str()), "{mangled}\n{}", said.message);
                felis_base::diagnostic::render(&said, &map, false);
            }
            true
        };
        let ran = interrupted_after(Duration::from_millis(500), &interrupt, || {
            stack_guard::with_stack(64 << 20, evaluate)
        });
        accepted += usize::from(ran.unwrap_or_else(|_| panic!("{mangled}")));
        assert!(start.elapsed() < MAX_RUN_TIME, "{:?} for\n{mangled}", start.elapsed());
    }
    assert!(accepted > rounds / 20, "only {accepted} of {rounds} programs ran");
}

/// Large kinds, large tables, and type functions that grow or never end.
#[test]
fn type_functions_are_bounded() {
    let names: Vec<String> = (0..2_000).map(|i| format!("m{i}")).collect();
    let arms: Vec<String> = (0..2_000).map(|i| format!("m{i} => m{}", i * 7 % 2_000)).collect();
    let large = format!(
        "kind BIG = {};\ntypefun f(V:BIG):BIG => typematch V with {} endmatch;\n\
         struct S[V:BIG] {{ x:int; }}\nval a : S[f(f(m5))] = S 3;\nfun g(x:S[m245]):int => x.x;\nprintln (g a);",
        names.join(" | "),
        arms.join(" | "),
    );
    assert_eq!(ends(&large, &[]), "3\n");
    let wide = "kind K = a | b | c | d | e | g | h | i;\n\
        typefun t(A:K, B:K, C:K, D:K, E:K, F:K):K => typematch (A, B, C, D, E, F) with | (A, A, A, A, A, A) => A endmatch;";
    ends(wide, &[]);
    let double = "typefun d(T) => typematch T with | int => int | A => d((A * int) * (A * real)) endmatch;\n";
    ends(&format!("{double}val x : d(real) = 3;"), &["E0704"]);
    let branch = "typefun d(T) => typematch T with | int => int | A ^ I => d(A) * d(A * real) | A => d(A ^ 3) endmatch;\n";
    ends(&format!("{branch}val x : d(real) = 3;"), &["E0704"]);
    let calls = "val x = 1;\n".to_string() + &"f (1.5, x);\n".repeat(200);
    ends(&format!("{double}fun f[T](x:T, y:d(T)):int => 1;\n{calls}"), &["E0704"; 200]);
    // Many equations that wait for the last argument.
    let open = "typefun w(T) => typematch T with | int => string | _ => int endmatch;\n";
    let params: Vec<String> = (0..300).map(|i| format!("x{i}:w(T)")).collect();
    let args = vec!["\"a\""; 300].join(", ");
    ends(&format!("{open}fun f[T]({}, y:T):int => 1;\nprintln (f ({args}, 1));", params.join(", ")), &[]);
    let nested = "typematch ".repeat(200) + "int" + &" with | A => A endmatch".repeat(200);
    ends(&format!("val x : {nested} = 3;"), &[]);
    let parens = "typematch (".repeat(100) + "int" + &") with | A => A endmatch".repeat(100);
    ends(&format!("val x : {parens} = 3;"), &[]);
}
