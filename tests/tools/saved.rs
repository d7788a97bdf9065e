//! Sessions saved as programs: after any typed inputs, loads and reloads, the saved program is
//! valid by itself, defines the same names, and gives them the same values.

use felis::session::{Loader, Mode, ModuleLocation, NotFound, Session, Status, Window, on_large_stack};
use std::collections::BTreeSet;

const WINDOW: Window = Window { columns: 200, rows: 20 };

/// Two files that define the same names.
struct Files;

impl Loader for Files {
    fn find(&self, _: Option<&ModuleLocation>, path: &str) -> Result<ModuleLocation, NotFound> {
        match path {
            "a.flx" | "b.flx" => Ok(ModuleLocation { id: path.to_string(), name: path.to_string() }),
            _ => Err(NotFound::Unusable("it is not there".to_string())),
        }
    }

    fn read(&self, place: &ModuleLocation) -> Result<String, String> {
        let factor = if place.id == "a.flx" { 1 } else { 2 };
        Ok(format!(
            "export fun area(n:int):int => n * {factor}; export struct S {{ s:int; }}
             export variant W = One | Two of int; export fun of_s(s:S):int => s.s * {factor};"
        ))
    }
}

fn opened() -> Session {
    let mut session = Session::new();
    session.set_loader(Box::new(Files));
    session
}

/// Performs a step in a session; an invalid step changes nothing.
fn step(session: &mut Session, step: &str) -> Status {
    match step.strip_prefix("reload ") {
        Some(text) => session.reload("program.flx", text, &mut |_| ()).status,
        None => session.evaluate("input", step, Mode::Display(WINDOW), &mut |_| ()).status,
    }
}

/// Returns the program of a session after some steps, compared with the session; the error
/// describes the difference.
fn tried(steps: &[&str], taken: &mut BTreeSet<String>) -> Result<String, String> {
    let mut session = opened();
    for text in steps {
        if step(&mut session, text) == Status::Ok {
            taken.insert(text.to_string());
        }
    }
    let program = session.program_text(&|id| Some(id.to_string()));
    let wrong = |why: &str| Err(format!("{why}\n---\n{}\n---\n{program}", steps.join("\n")));
    let mut alone = opened();
    let outcome = alone.check("saved", &program);
    if outcome.status != Status::Ok {
        return wrong(&outcome.diagnostics.iter().map(|d| alone.render(d, false)).collect::<String>());
    }
    if alone.evaluate("saved", &program, Mode::Script, &mut |_| ()).status != Status::Ok {
        return wrong("it does not run");
    }
    let known: BTreeSet<String> = alone.user_names().into_iter().collect();
    for name in session.user_names() {
        if !known.contains(&name) {
            return wrong(&format!("`{name}` is lost"));
        }
        let value = |session: &mut Session| {
            let outcome = session.evaluate("input", &name, Mode::Line, &mut |_| ());
            outcome.value.map(|value| value.text).filter(|text| text != "<function>")
        };
        let (before, after) = (value(&mut session), value(&mut alone));
        // Replaced types have other names there.
        let plain = |text: &String| (1..10).fold(text.clone(), |text, n| text.replace(&format!("_{n}"), ""));
        if before.is_some() && before.as_ref().map(plain) != after.as_ref().map(plain) {
            return wrong(&format!("`{name}` is {after:?}, it was {before:?}"));
        }
    }
    Ok(program)
}

fn saved(steps: &[&str]) -> String {
    tried(steps, &mut BTreeSet::new()).unwrap_or_else(|wrong| panic!("{wrong}"))
}

#[test]
fn inputs_that_nothing_replaces_stay_as_they_are() {
    on_large_stack(|| {
        assert_eq!(
            saved(&[
                "/// Twice.\nfun twice(n:int):int => n * 2",
                "val a = twice 21",
                "a + 1",
                "println a",
                "val b = it"
            ]),
            "/// Twice.\nfun twice(n:int):int => n * 2;\nval a = twice 21;\nval result_1 = a + 1;\nprintln a;\n\
             val b = result_1;\n"
        );
        // Showing a value again is not an action to be saved.
        assert_eq!(saved(&["1 + 2", "it", "_1"]), "");
    });
}

#[test]
fn what_has_been_replaced_stays_for_those_who_need_it() {
    on_large_stack(|| {
        assert_eq!(
            saved(&[
                "struct P { a:int; }",
                "fun f(p:P):int => p.a",
                "val q = P 3",
                "struct P { a:int; b:int; }",
                "fun f(p:P):int => p.b",
                "val n = f (P (1, 2))",
            ]),
            "// `P` as it was before it was replaced.\nstruct P_1 { a:int; }\nval q = P_1 3;\n\
             struct P { a:int; b:int; }\nfun f(p:P):int => p.b;\nval n = f (P (1, 2));\n"
        );
        assert_eq!(
            saved(&["fun f(n:int):int => n", "fun g(n:int):int => f n", "fun f(n:int):int => n * 2"]),
            "// `f` as it was before it was replaced.\nfun f_1(n:int):int => n;\nfun g(n:int):int => f_1 n;\n\
             fun f(n:int):int => n * 2;\n"
        );
        // Only names with this spelling and this referent.
        assert_eq!(
            saved(&["val x = 1", "fun f(x:int):int => x", "fun g(r:(x:int)):int => r.x + x", "val x = 2"]),
            "// `x` as it was before it was replaced.\nval x_1 = 1;\nfun f(x:int):int => x;\n\
             fun g(r:(x:int)):int => r.x + x_1;\nval x = 2;\n"
        );
        assert_eq!(
            saved(&["variant V = A | B of int", "val v = A", "variant V = A | C"]),
            "// `V` as it was before it was replaced.\nvariant V_1 = A_1 | B of int;\nval v = A_1;\nvariant V = A | C;\n"
        );
        // An unused definition is omitted, with the statements that change it.
        assert_eq!(saved(&["var t = 0", "t = t + 5", "println t", "var t = 1"]), "var t = 1;\n");
        assert_eq!(
            saved(&["var t = 0", "t = t + 5", "val u = t", "var t = 1"]),
            "// `t` as it was before it was replaced.\nvar t_1 = 0;\nt_1 = t_1 + 5;\nval u = t_1;\nvar t = 1;\n"
        );
    });
}

#[test]
fn what_a_reload_replaces_comes_before_what_needs_it() {
    on_large_stack(|| {
        let old = "reload struct P { a:int; } val k = 10; fun f(p:P):int => p.a + k; println 1;";
        let new = "reload struct P { a:int; b:int; } fun f(p:P):int => p.a * p.b; println 2;";
        assert_eq!(
            saved(&[old, "val q = f (P 3)", new, "val r = f (P (3, 4))"]),
            "// `P` as it was before it was replaced.\nstruct P_1 { a:int; }\n\
             // `k` as it was before it was replaced.\nval k_1 = 10;\n\
             // `f` as it was before it was replaced.\nfun f_1(p:P_1):int => p.a + k_1;\n\
             val q = f_1 (P_1 3);\nstruct P { a:int; b:int; }\nfun f(p:P):int => p.a * p.b;\nprintln 2;\n\
             val r = f (P (3, 4));\n"
        );
        // A failed reload replaces nothing.
        assert_eq!(saved(&["reload val k = 1;", "reload val k = nothing;"]), "val k = 1;\n");
    });
}

/// A name of the library that the user defines later.
#[test]
fn the_library_is_meant_where_it_was_meant() {
    on_large_stack(|| {
        assert_eq!(
            saved(&["fun total(x:int ^ 2):int => sum x", "val sum = 5", "val n = total (1, 2) + sum"]),
            "import fold;\nfun total(x:int ^ 2):int => fold::sum x;\nval sum = 5;\nval n = total (1, 2) + sum;\n"
        );
    });
}

#[test]
fn imports_that_others_have_taken_the_place_of_stay_under_other_names() {
    on_large_stack(|| {
        assert_eq!(
            saved(&[
                "import \"a.flx\" as g",
                "val x = g::area 3",
                "import \"b.flx\" as g",
                "val y = g::area 3"
            ]),
            "import \"a.flx\" as g_1;\nval x = g_1::area 3;\nimport \"b.flx\" as g;\nval y = g::area 3;\n"
        );
        assert_eq!(
            saved(&[
                "import \"a.flx\" (area, S, of_s)",
                "val x = of_s (S 3)",
                "fun f(s:S):int => area (of_s s)",
                "import \"b.flx\" (area, S)",
                "val y = area 3",
            ]),
            "import \"a.flx\" (of_s);\nval x = of_s (a::S 3);\nfun f(s:a::S):int => a::area (of_s s);\n\
             import \"b.flx\" (area, S);\nval y = area 3;\n"
        );
        // A user's definition hides the library's of the same name.
        assert_eq!(
            saved(&[
                "import \"a.flx\" (area)",
                "val x = area 3",
                "fun area(n:int):int => 7",
                "val y = area 3"
            ]),
            "import \"a.flx\";\nval x = a::area 3;\nfun area(n:int):int => 7;\nval y = area 3;\n"
        );
        assert_eq!(
            saved(&["import \"a.flx\" (area)", "val x = area 3", "import \"a.flx\" (area)"]),
            "import \"a.flx\" (area);\nval x = area 3;\n"
        );
    });
}

/// A size known at run time is written by its shown name; the program opens it.
#[test]
fn sizes_that_are_shown_have_names() {
    on_large_stack(|| {
        let one = "val xs = filter ((1, 2, 3), fun (n:int) => n > 1)";
        assert_eq!(
            saved(&[one, "fun f(x:int ^ K):int => sum x", "f xs"]),
            format!("{one};\nval _ : (_ ^ ?K) = xs;\nfun f(x:int ^ K):int => sum x;\n")
        );
        // Sizes of results, and several in one; also after the variable has been replaced.
        assert_eq!(
            saved(&["filter ((1, 2, 3), fun (n:int) => n > 1)", "val z : int ^ K = [ 0 for i in ..[K] ]"]),
            "val result_1 = filter ((1, 2, 3), fun (n:int) => n > 1);\nval _ : (_ ^ ?K) = result_1;\n\
             val z : int ^ K = [ 0 for i in ..[K] ];\n"
        );
        let two =
            "val (a, b) = (filter ((1, 2), fun (n:int) => n > 1), filter ((1, 2, 3), fun (n:int) => n > 1))";
        assert_eq!(
            saved(&[two, "fun f(x:int ^ K2, y:int ^ K):int => sum x + sum y", "val n = f (b, a)"]),
            format!(
                "{two};\nval _ : (_ ^ ?K) = a;\nval _ : (_ ^ ?K2) = b;\n\
                 fun f(x:int ^ K2, y:int ^ K):int => sum x + sum y;\nval n = f (b, a);\n"
            )
        );
        assert_eq!(
            saved(&[one, "fun f(x:int ^ K):int => sum x", "val xs = 3"]),
            format!(
                "// `xs` as it was before it was replaced.\n{};\nval _ : (_ ^ ?K) = xs_1;\n\
                 fun f(x:int ^ K):int => sum x;\nval xs = 3;\n",
                one.replace("xs", "xs_1")
            )
        );
        // A size named by the user stays for its uses.
        assert_eq!(
            saved(&[
                "val xs : int ^ ?N = filter ((1, 2), fun (n:int) => n > 1)",
                "fun f(x:int ^ N):int => sum x",
                "val xs : int ^ ?N = filter ((1, 2), fun (n:int) => n > 0)",
            ]),
            "// `xs` as it was before it was replaced.\n\
             val xs_1 : int ^ ?N_1 = filter ((1, 2), fun (n:int) => n > 1);\n\
             fun f(x:int ^ N_1):int => sum x;\n\
             val xs : int ^ ?N = filter ((1, 2), fun (n:int) => n > 0);\n"
        );
        // A user's name of a type stays with the user.
        let mut session = opened();
        for (text, fine) in [
            (one, true),
            ("val y : int ^ K = xs", true),
            ("typedef K = 3", true),
            ("val z : int ^ K = xs", false),
            ("val z : int ^ K = (1, 2, 3)", true),
            ("val w : int ^ L = xs", false),
        ] {
            assert_eq!(step(&mut session, text) == Status::Ok, fine, "{text}");
        }
    });
}

/// Steps that replace one another's names in all ways.
const STEPS: &[&str] = &[
    "struct P { a:int; }",
    "struct P { a:int; b:int; }",
    "struct Q { p:P; }",
    "variant V = A | B of int",
    "variant V = A | C",
    "newtype I = 3",
    "typedef N = int",
    "typedef N = string",
    "typedef P = int",
    "fun f(n:int):int => n + 1",
    "fun f(n:int):int => n + 2",
    "fun f(s:string):int => 7",
    "fun f(p:P):int => p.a",
    "fun g(n:int):int => f n * 2",
    "fun even(n:int):bool => if n == 0 then true else odd (n - 1) endif; fun odd(n:int):bool => if n == 0 then false else even (n - 1) endif;",
    "fun h(v:V):int => match v with | A => 1 | _ => 2 endmatch",
    "val x = 1",
    "val x = \"text\"",
    "val x = f 3",
    "val y = x",
    "val (x, y) = (f 1, g 2)",
    "val p = P 4",
    "val p = P (4, 5)",
    "val q = Q p",
    "val v = A",
    "val w = B 3",
    "val c = C",
    "val n : N = 3",
    "val f = 3",
    "val m = [ (i :>> int) * 2 for i in ..[I] ]",
    "val kept : int ^ ?K = filter ((1, 2, 3), fun (n:int) => n > 1)",
    "val again : int ^ K = kept * 2",
    "val some = filter ((4, 5, 6), fun (n:int) => n > 4)",
    "val (many, few) = (filter ((4, 5, 6), fun (n:int) => n > 3), filter ((4, 5), fun (n:int) => n > 4))",
    "filter ((7, 8), fun (n:int) => n > 7)",
    "val zeros = [ 0 for i in ..[K2] ]",
    "fun of_k2(x:int ^ K2):int => 5",
    "fun of_k(x:int ^ K):int => 6",
    "val of = of_k some",
    "typedef K = 3",
    "var t = 0",
    "var t = 10",
    "t = t + 5",
    "proc up() { t = t + 1; }",
    "up ()",
    "val u = t",
    "f 5",
    "it + 1",
    "val r = it",
    "val s = (_1, _2)",
    "println 3",
    "class K[T] { fun kind_of : T -> int; }",
    "class K[T] { fun kind_of : T -> string; }",
    "instance K[int] { fun kind_of(n) => n; }",
    "instance K[int] { fun kind_of(n) => n.str; }",
    "instance Show[P] { fun show(p) => \"a P\"; }",
    "instance Show[P] { fun show(p) => \"P: \" + p.a.str; }",
    "val k = kind_of 3",
    "fun kk[T with K[T]](x:T) => kind_of x",
    "val kkk = kk 4",
    "fun + (a:P, b:P):int => a.a + b.a",
    "val pp = p + p",
    "kind COLOR = red | green",
    "kind COLOR = green | blue",
    "struct Ring[C:COLOR] { raw:int; }",
    "val ring = Ring[green] 3",
    "typefun other(C:COLOR):COLOR => typematch C with | red => green | green => red endmatch",
    "test \"f\" { assert (f 1 == 2); }",
    "fun total(x:int ^ 2):int => sum x",
    "val sum = 5",
    "import \"a.flx\" as g",
    "import \"b.flx\" as g",
    "import \"a.flx\" (area, S)",
    "import \"b.flx\" (area, S, of_s)",
    "import \"a.flx\" (*)",
    "val i = g::area 3",
    "val i = area 4",
    "val made = S 4",
    "fun use_s(s:S):int => of_s s + s.s",
    "val used = use_s (S 5)",
    "fun area(n:int):int => 7",
    "reload struct P { a:int; c:int; } fun f(n:int):int => n + 100; val x = f 1;",
    "reload struct P { a:int; } fun f(p:P):int => p.a; var t = 3; t = t * 7; val x = \"loaded\";",
    "reload variant V = A | B of int; fun h(v:V):int => 3; val y = h A; instance Show[V] { fun show(v) => \"V\"; }",
];

#[test]
fn any_session_is_a_program() {
    on_large_stack(|| {
        let count = std::env::var("FELIS_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(100);
        let mut random = fastrand::Rng::with_seed(11);
        let (mut taken, mut wrong) = (BTreeSet::new(), Vec::new());
        for _ in 0..count {
            let length = random.usize(2..50);
            let steps: Vec<&str> = (0..length).map(|_| STEPS[random.usize(..STEPS.len())]).collect();
            wrong.extend(tried(&steps, &mut taken).err());
        }
        wrong.sort_by_key(String::len);
        assert!(
            wrong.is_empty(),
            "{} of {count}:\n{}",
            wrong.len(),
            wrong[..wrong.len().min(4)].join("\n======\n")
        );
        // A step that never succeeds tests nothing; a few steps need many others before them.
        let never: Vec<&&str> = STEPS.iter().filter(|step| !taken.contains(**step)).collect();
        assert!(never.len() < 8, "{never:#?}");
    });
}
