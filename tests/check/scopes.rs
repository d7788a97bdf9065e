//! Name resolution over scopes: blocks, this module, imports, the library (`check::overload`).
//! Programs for each clause of the rule, and a check that names added to the library break no
//! program.

use crate::checker::{programs, run};
use crate::in_four_parts;
use felis::session::{Mode, Session, Status, on_large_stack};
use std::collections::BTreeSet;

/// Returns the output of a program, or its codes.
fn printed(text: &str) -> String {
    let done = run("library_program.flx", text, true);
    let codes: Vec<&str> =
        done.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code.as_str()).collect();
    if codes.is_empty() { done.output } else { codes.join(" ") }
}

#[test]
fn near_scopes_win() {
    let cases = [
        // A generic function of this module is preferred to the library's, even to an exact one.
        ("fun max[T](x:T):string => \"mine\"; println (max (1, 2));", "mine\n"),
        ("fun sum[T, N:COMPACTLINEAR](x:T ^ N):string => \"mine\"; println (sum (1, 2, 3));", "mine\n"),
        (
            "fun compose(f:int -> int, g:int -> int):int -> int => fun (x:int) => f (g x);
             fun sq(x:int):int => x * x;
             println (compose (fun (x) => x + 1, fun (x) => x * 2) 5, compose (sq, sq) 3);",
            "(11, 81)\n",
        ),
        // A farther function is selected if the near one does not fit.
        ("fun max(s:string):string => s; println (max (1, 2), max \"x\");", "(2, x)\n"),
        ("fun str(x:3) => (x :>> int).str; println (str (`2:3), 5.str, true.str);", "(2, 5, true)\n"),
        // Constraints are part of the fit.
        (
            "class C[T] { fun c: T -> string; } instance C[int] { fun c(x) => \"c\"; }
             fun abs[T with C[T]](x:T):string => c x; println (abs 3, abs (-2.5));",
            "(c, 2.5)\n",
        ),
        // Blocks and their surroundings.
        (
            "fun f(x:int):string => \"module\"; fun f(x:bool):string => \"module bool\";
             proc p() { fun f(x:int):string => \"block\"; println (f 1, f true);
               if true do fun f(s:string):string => \"inner\"; println (f \"s\", f 1, f true); done }
             p ();",
            "(block, module bool)\n(inner, block, module bool)\n",
        ),
        // Two functions in one block.
        (
            "proc p() { fun f(x:int):string => \"int\"; fun f(s:string):string => \"text\";
               println (f 1, f \"s\"); }
             p ();",
            "(int, text)\n",
        ),
        // Within a scope the most specific function is preferred, then the wanted result.
        (
            "fun f[T](x:T):string => \"any\"; fun f(x:int):string => \"int\"; println (f 1, f \"\");",
            "(int, any)\n",
        ),
        // A literal at another type in the near scope is preferred to its own type farther away.
        (
            "fun f(x:int):string => \"far\";
             proc p() { fun f(x:real):string => \"near\"; println (f 1); }
             p ();",
            "near\n",
        ),
        // So is a conversion in the near scope.
        (
            "fun f(x:i16):string => \"far\";
             proc p() { fun f(x:int):string => \"near\"; println (f 1i16); }
             p ();",
            "near\n",
        ),
        // A rigid variable fits a function that is declared for all its values.
        (
            "fun f[T](x:T):string => \"far\"; fun g[T](x:T):string { fun f(x:int):string => \"near\"; return f x; }
             println (g 1, g \"s\");",
            "(far, far)\n",
        ),
        // A method is a candidate in the scope of its class. A nearer function hides it, but not
        // the instance.
        (
            "class Named[T] { fun name_of: T -> string; }
             instance Named[int] { fun name_of(x) => \"instance\"; }
             fun through[T with Named[T]](x:T):string => name_of x;
             proc p() { fun name_of(x:int):string => \"block\"; println (name_of 1, through 1); }
             p ();",
            "(block, instance)\n",
        ),
        ("fun combine(a:string, b:string):string => \"mine\"; println (combine (\"a\", \"b\"));", "mine\n"),
        // A variable, a parameter and a case without argument end the search.
        ("fun f(n:int):int { val max = 3; return max (1, 2); }", "E0402"),
        ("fun f(sum:int):int => sum (1, 2);", "E0402"),
        ("proc p() { val f = fun (x:int) => x + 1; if true do fun f(s:string):int => 0; println (f 1); done } p ();", "2\n"),
        // A name as a value.
        ("fun abs(x:string):string => x + \"!\"; println (map abs (\"a\", \"b\"), map abs (-1, 2));", "((a!, b!), (1, 2))\n"),
        // Dots and pipes select by the same rule.
        ("fun abs(x:string):string => x + \"!\"; println (\"a\".abs, (-1).abs, \"b\" |> abs, -2 |> abs);", "(a!, 1, b!, 2)\n"),
    ];
    for (text, wanted) in cases {
        assert_eq!(printed(text), wanted, "{text}");
    }
}

#[test]
fn a_hole_waits_for_the_end_of_its_statement() {
    // A later part of the statement decides.
    let other = "fun f(x:int):string => \"far\";
         proc p() { fun f(x:string):string => \"near\";
           val g = fun (x) => (f x, x + 0i64); println (g 3).0; }
         p ();";
    assert_eq!(printed(other), "far\n");
    let other = other.replace("x + 0i64", "x + \"\"").replace("(g 3)", "(g \"s\")");
    assert_eq!(printed(&other), "near\n");
    // An undecided call is an error.
    let open = "fun f(x:int):string => \"far\";
         proc p() { fun f(x:string):string => \"near\"; val g = fun (x) => f x; }";
    assert_eq!(printed(open), "E0404");
    // No farther function could take the argument: the near one determines its type.
    let alone = "proc p() { fun f(x:string):string => x; val g = fun (x) => f x; println (g \"s\"); } p ();";
    assert_eq!(printed(alone), "s\n");
    // The same for a value whose type is partly unknown.
    let none = "fun f(x:option[int]):string => \"far\";
         proc p() { fun f(x:option[string]):string => \"near\"; println (f VALUE); }
         p ();";
    assert_eq!(printed(&none.replace("VALUE", "None")), "E0404");
    assert_eq!(printed(&none.replace("VALUE", "(Some 1)")), "far\n");
    // A near function that takes every such argument decides at once.
    let any = "fun f(x:int):string => \"far\";
         fun any[T](x:T):string { return \"any\"; }
         val g = fun (x:int) => (any x, f x); println (g 1);";
    assert_eq!(printed(any), "(any, far)\n");
}

#[test]
fn a_body_sees_itself_where_it_is_meant() {
    let cases = [
        ("fun f(n:int) => if n == 0 then 0 else f (n - 1) endif;", "E0422"),
        ("fun f(n:int):int => if n == 0 then 0 else f (n - 1) endif; println (f 3);", "0\n"),
        ("fun f(s:string) => f 3; fun f(n:int):int => n + 1; println (f \"\");", "4\n"),
        ("fun f(n:int) => f \"\"; fun f(s:string) => 7; println (f 1);", "7\n"),
        ("proc p() { fun down(k) => down (k - 1); } p ();", "E0434"),
        (
            "proc p() { fun down(k:int):int => if k == 0 then 0 else down (k - 1) endif; println (down 3); } p ();",
            "0\n",
        ),
        // Without types the name refers to the surrounding function.
        ("fun f(n:int):int => 2 * n; proc p() { fun f(n) => f (n + 1) + 0; println (f 3); } p ();", "8\n"),
    ];
    for (text, wanted) in cases {
        assert_eq!(printed(text), wanted, "{text}");
    }
}

#[test]
fn operators_follow_the_rule_and_built_in_types_keep_theirs() {
    let text = "struct V { x:int; }
        instance Add[V] { fun + (a, b) => V (a.x + b.x); fun zero () => V 0; }
        fun total[T with Add[T]](a:T, b:T):T => a + b;
        fun + (a:V, b:V):string => \"mine\";
        println (V 1 + V 2, (total (V 1, V 2)).x, 1 + 2);";
    assert_eq!(printed(text), "(mine, 3, 3)\n");
}

fn says(session: &mut Session, input: &str) -> String {
    let mut out = String::new();
    let done = session.evaluate("input", input, Mode::Script, &mut |text| out.push_str(text));
    assert_eq!(done.status, Status::Ok, "{input}");
    out
}

#[test]
fn in_a_session_equal_parameters_replace_and_others_join() {
    on_large_stack(|| {
        let mut session = Session::new();
        says(&mut session, "fun abs(x:string):string => \"one\";");
        assert_eq!(says(&mut session, "println (abs \"\", abs (-1));"), "(one, 1)\n");
        says(&mut session, "fun abs(x:string):string => \"two\";");
        says(&mut session, "fun abs[T](x:T ^ 2):string => \"pair\";");
        assert_eq!(says(&mut session, "println (abs \"\", abs (-1), abs (1, 2));"), "(two, 1, pair)\n");
        // A function of this session hides the library's even if that has the same domain.
        says(&mut session, "fun abs[T](x:T):string => \"any\";");
        assert_eq!(says(&mut session, "println (abs \"\", abs (-1), abs (1, 2));"), "(two, any, pair)\n");
        says(&mut session, "val abs = 3;");
        assert_eq!(says(&mut session, "println abs;"), "3\n");
    });
}

#[test]
fn scope_and_round_of_each_candidate_are_shown() {
    on_large_stack(|| {
        let mut session = Session::new();
        says(&mut session, "fun abs(x:real):string => \"mine\"; fun abs(x:3):int => 1;");
        let able = session.resolve_use("abs", &["i16"]).expect("it can");
        let lines: Vec<&str> = able.choices.lines().collect();
        assert_eq!(
            lines,
            [
                "abs : real -> string  # in this module, fits with a conversion, chosen",
                "abs : 3 -> int  # in this module, does not fit: `i16` is not `3`",
                "abs : T -> T  # in the library, fits as it is",
            ]
        );
        assert!(able.remarks.iter().any(|remark| remark.code == "W0020"), "{:?}", able.remarks);
        let able = session.explain_dispatch("abs (-2)").expect("it can");
        assert!(able.choices.contains("fits with literals at another type, chosen"), "{}", able.choices);
        let forms = session.scoped_overload_signatures("abs").expect("forms");
        let scopes: Vec<&str> = forms.lines().filter_map(|line| line.split("# in ").nth(1)).collect();
        assert_eq!(scopes, ["this module", "this module", "the library"], "{forms}");
    });
}

/// Checks that a larger library breaks no program: functions with names that the programs declare
/// or bind are added to it, in random forms, and valid programs stay valid.
fn names_that_the_library_gets_break_no_program(part: usize, parts: usize) {
    on_large_stack(|| {
        let seed = 7 + part as u64;
        let mut random = fastrand::Rng::with_seed(seed);
        let own = ["examples", "tests/agreement", "tests/syntax", "book/programs", "benches/kernels"];
        let texts: Vec<(String, String)> = own.iter().flat_map(|folder| programs(folder, &[""])).collect();
        let (mut wrong, mut tried, mut added) = (Vec::new(), 0, 0);
        for (name, text) in texts.iter().skip(part).step_by(parts) {
            let plain = said(&mut Session::new(), name, text);
            if plain.iter().any(|code| code.starts_with('E')) {
                continue;
            }
            let mut extended = Session::new();
            let known: Vec<String> = extended.names_starting_with("");
            let mut library = String::new();
            let names: BTreeSet<String> = words(text);
            for word in names.iter().filter(|word| !known.contains(word)) {
                let forms = [
                    format!("variant {word}_of = | {word} | {word}_other of int;"),
                    format!("variant {word}_of[T] = | {word} of T | {word}_none;"),
                    format!("fun {word}[T](x:T):string => \"the library's\";"),
                    format!(
                        "fun {word}(x:int):string => \"the library's\"; fun {word}(x:real, y:real):real => x;"
                    ),
                    format!("fun {word}[T, N:COMPACTLINEAR](x:T ^ N):T ^ N => x;"),
                    format!("fun {word}(x:string):string => x; fun {word}():int => 3;"),
                    format!("val {word} = 3;"),
                ];
                library.push_str(&forms[random.usize(..forms.len())]);
                added += 1;
            }
            extended.extend_library(&library).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
            let found = said(&mut extended, name, text);
            let found: Vec<String> =
                found.into_iter().filter(|code| !["W0005", "W0020"].contains(&&code[..])).collect();
            tried += 1;
            if found != plain {
                wrong.push(format!("{name}: {plain:?} became {found:?}"));
            }
        }
        assert!(wrong.is_empty(), "seed {seed}: {}", wrong.join("\n"));
        assert!(tried > 60 / parts && added > 600 / parts, "{tried} programs, {added} names");
    });
}

in_four_parts!(names_that_the_library_gets_break_no_program);

/// The same for a hole that is left open and a name bound by a pattern, each with all names that
/// could be added.
#[test]
fn a_name_of_the_library_takes_nothing_from_a_program() {
    let programs = [
        // A hole without a solution, and one that is needed.
        ("fun f(x:option[int]):int => 1; println (f None);", "1\n"),
        ("fun f(x:option[int]):int * int => 1, 2; println ((f None).1);", "2\n"),
        ("struct P { a:int; } fun f(x:option[int]):P => P 3; println ((f None).a);", "3\n"),
        ("fun f(x:option[int]):int -> int => fun (y:int) => y + 1; println (f None 3);", "4\n"),
        (
            "fun f(x:option[int]):option[int] => x; println (match f None with | None => 1 | Some _ => 2 endmatch);",
            "1\n",
        ),
        ("fun f(x:option[int]):int ^ 2 => 1, 2; for i in f None do println i; done", "1\n2\n"),
        (
            "fun f(x:option[int]):int ^ 4 => 1, 2, 3, 4; println (f None :>> int ^ (2 \\* 2));",
            "(1, 2, 3, 4)\n",
        ),
        ("fun f(x:string):string => x; val g = fun (x) => f x; println (g \"s\");", "s\n"),
        ("fun f(x:int):int => x; val g = f; println (g 2);", "2\n"),
        // Fields of a record, which would be parameters of a function of the library.
        ("struct f { r:(x:int); } println ((f (x = 3)).r.x);", "3\n"),
        ("fun f(p:(x:int)):int => p.x; println (f (x = 3));", "3\n"),
        ("fun f(p:(x:int, y:int)):int => p.x + p.y; println (f (x = 3, y = 4));", "7\n"),
        ("fun f[T](p:T):T => p; println ((f (x = 3)).x);", "3\n"),
        // Variables of patterns.
        ("val f = 3; println f;", "3\n"),
        ("proc p() { val f, g = 1, 2; println (f + g); } p ();", "3\n"),
        ("proc p(f:int) { println f; } p 1;", "1\n"),
        ("val g = fun (f) => f + 1; println (g 1);", "2\n"),
        ("val g = fun (F) => F + 1; println (g 1);", "2\n"),
        (
            "fun g(f:option[int]):int => match f with | Some F => F | f => 0 endmatch; println (g (Some 1));",
            "1\n",
        ),
        ("println (match 3 with | F => F + 1 endmatch);", "4\n"),
        ("println (match 3, 4 with | 0, f => f | f, _ => f + 1 endmatch);", "4\n"),
        ("for f in (1, 2) do println f; done", "1\n2\n"),
        ("val a = [(f :>> int) for f in ..[3]]; println a;", "(0, 1, 2)\n"),
        ("variant V = | f | F of int; println (match f with | f => 1 | F n => n endmatch);", "1\n"),
    ];
    let library = [
        "fun NAME(x:int):string => \"\";",
        "fun NAME[T](x:T):string => \"\";",
        "fun NAME(x:option[string]):string => \"\"; fun NAME(x:option[real]):real => 1.0;",
        "fun NAME(x:real, y:real):real => x;",
        "val NAME = 3;",
        "variant library_NAME = | NAME | Other_NAME of int;",
        "variant library_NAME = | NAME;",
        "variant library_NAME[T] = | NAME of T | Other_NAME;",
    ];
    on_large_stack(|| {
        let mut wrong = Vec::new();
        for (text, wanted) in programs {
            assert_eq!(printed(text), wanted, "{text}");
            for (name, form) in ["f", "F", "g"].iter().flat_map(|name| library.map(|form| (name, form))) {
                let mut session = Session::new();
                // The added function mentions it.
                session.type_of("Some 1").expect("a type");
                session.extend_library(&form.replace("NAME", name)).expect("a library");
                let mut out = String::new();
                let done = session.evaluate("program", text, Mode::Script, &mut |text| out.push_str(text));
                if done.status != Status::Ok || out != wanted {
                    let codes: Vec<&str> = done.diagnostics.iter().map(|d| d.code.as_str()).collect();
                    wrong.push(format!("{text}\n  with {form} for {name}: {out:?} {codes:?}"));
                }
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    });
}

fn said(session: &mut Session, name: &str, text: &str) -> Vec<String> {
    session.check(name, text).diagnostics.iter().map(|d| d.code.to_string()).collect()
}

/// Returns the names in a text that a program could declare.
fn words(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for line in text.lines().map(|line| line.split("//").next().unwrap_or(line)) {
        let parts = line.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        found.extend(
            parts.filter(|word| word.starts_with(|c: char| c.is_ascii_alphabetic())).map(str::to_string),
        );
    }
    found.retain(|word| felis_syntax::syntax::is_name(word));
    found
}
