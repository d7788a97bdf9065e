//! Queries of a session: uses at given types, and the values and annotations of a host.

use felis::session::{HostValue, Mode, Session, Status, on_large_stack};
use felis_calculus::types::Type;
use felis_runtime::value::Value;

fn able(session: &mut Session, name: &str, types: &[&str]) -> Result<String, String> {
    match session.resolve_use(name, types) {
        Ok(able) => Ok(able.result.to_string()),
        Err(diagnostics) => Err(diagnostics.first().map_or(String::new(), |d| d.code.to_string())),
    }
}

#[test]
fn one_mechanism_answers_for_operators_functions_and_conversions() {
    on_large_stack(|| {
        let mut session = Session::new();
        let ok = |ty: &str| Ok(ty.to_string());
        let no = |code: &str| Err(code.to_string());
        let cases: &[(&str, &[&str], Result<String, String>)] = &[
            ("+", &["int", "int"], ok("int")),
            ("+", &["i8", "i32"], ok("i32")),
            ("+", &["int", "real"], no("E0414")),
            ("+", &["real ^ 3", "real"], ok("real ^ 3")),
            ("+", &["u64", "i8"], no("E0414")),
            ("-", &["real"], ok("real")),
            ("-", &["string"], no("E0414")),
            ("<", &["string", "string"], ok("bool")),
            ("==", &["int -> int", "int -> int"], no("E0432")),
            (":", &["i32", "real"], ok("real")),
            (":", &["int", "real"], no("E0301")),
            (":>", &["real", "i8"], ok("i8")),
            (":>", &["int", "bool"], no("E0303")),
            (":>>", &["int ^ (3 \\* 2)", "int ^ 6"], ok("int ^ 6")),
            (":>>", &["int ^ 5", "int ^ 6"], no("E0302")),
            ("sqrt", &["real"], ok("real")),
            ("sqrt", &["string"], no("E0301")),
            ("horner", &["int ^ 3"], ok("int -> int")),
            ("horner", &["string ^ 3"], no("E0601")),
            ("nothing", &["int"], no("E0401")),
        ];
        for (name, types, expected) in cases {
            assert_eq!(able(&mut session, name, types), *expected, "{name} {types:?}");
        }
        // The queries have changed nothing.
        assert!(session.definitions().is_empty());
    });
}

#[test]
fn the_key_of_a_kernel_has_no_sizes_and_no_axes() {
    on_large_stack(|| {
        let mut session = Session::new();
        let declared = "
            newtype I = 20; newtype J = 40; newtype K = 50; newtype Long = 70000;
            newtype Vertex = 4000; newtype Edge = 900; newtype Cell = 3000; newtype Side = 800;";
        assert_eq!(session.evaluate("input", declared, Mode::Script, &mut |_| {}).status, Status::Ok);
        let mut key = |name: &str, types: &[&str]| {
            let able = session.resolve_use(name, types).unwrap_or_else(|d| panic!("{name}: {d:?}"));
            able.kernel
        };
        let sum = key("sum_over[J]", &["real ^ (I \\* J \\* K)"]);
        let widths = "  # reads slots of 8 bytes, writes slots of 8 bytes; ";
        assert_eq!(sum.find(widths), Some("kernel ".len() + 16), "{sum}");
        assert!(sum.starts_with("kernel ") && sum.ends_with(" sizes are parameters\n"), "{sum}");
        // Other sizes, other names, more axes before and after.
        assert_eq!(key("sum_over[K]", &["real ^ (J \\* K \\* I)"]), sum);
        assert_eq!(key("sum_over[77]", &["real ^ (40 \\* 77 \\* 60)"]), sum);
        assert_eq!(key("sum_over[J]", &["real ^ (I \\* K \\* J \\* 33)"]), sum);
        assert_eq!(key("sum_over[J]", &["real ^ (I \\* J \\* 19 \\* 21)"]), sum);
        // Another type of elements; no axis after it.
        assert_ne!(key("sum_over[J]", &["f32 ^ (I \\* J \\* K)"]), sum);
        assert_ne!(key("sum_over[K]", &["real ^ (I \\* J \\* K)"]), sum);
        // Two meshes; another width of codes; gaps; a field that a host has.
        let values = "
            val t = full_table[Vertex] (fill[Edge \\* 3] 0); val x = fill[Vertex] 0.5;
            val s = full_table[Cell] (fill[Side \\* 3] 0); val y = fill[Cell] 0.5;
            val wide = full_table[Long] (fill[Edge \\* 3] 0); val z = fill[Long] 0.5;
            val gaps = table[Vertex] (-1) (fill[Edge \\* 3] 0);";
        let outcome = session.evaluate("input", values, Mode::Script, &mut |_| {});
        assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.diagnostics);
        let host: Vec<f64> = vec![0.5; 5_000];
        assert_eq!(session.bind_host_value("w", &host).map(|ty| ty.to_string()), Some("real ^ 5000".into()));
        let mut key = |text: &str| match session.explain_dispatch(text) {
            Ok(found) => found.kernel,
            Err(found) => panic!("{text}: {found:?}"),
        };
        let through = key("sum_through t x");
        assert!(through.contains("  # reads slots of 2, 8 bytes, writes slots of 8 bytes; "), "{through}");
        assert_eq!(key("sum_through s y"), through);
        assert_ne!(key("sum_through wide z"), through);
        assert_ne!(key("sum_through gaps x"), through);
        assert_eq!(key("2.0 * w"), key("2.0 * x"));
        // No array, a text.
        assert_eq!(key("1 + 2"), "");
        assert_eq!(key("join \",\" (fill[40] \"a\")"), "no kernel  # text\n");
    });
}

#[test]
fn instances_of_the_user_count_in_answers() {
    on_large_stack(|| {
        let mut session = Session::new();
        let declared = "struct V { x:int; }
            instance Add[V] { fun + (a, b) => V (a.x + b.x); fun zero() => V 0; }
            instance Convert[int, V] { fun convert(n) => V n; }";
        assert_eq!(session.evaluate("input", declared, Mode::Script, &mut |_| {}).status, Status::Ok);
        assert_eq!(able(&mut session, "+", &["V", "V"]), Ok("V".into()));
        assert_eq!(able(&mut session, ":>", &["int", "V"]), Ok("V".into()));
        assert_eq!(able(&mut session, "*", &["V", "V"]), Err("E0414".into()));
        let instances = session.instances_of("Add").unwrap_or_default();
        assert!(instances.contains(&"instance Add[V]".to_string()), "{instances:?}");
    });
}

const OF_MONEY: &str = "
    newtype Euro = real; newtype Dollar = real; newtype Yen = real; newtype Gold = real;
    struct P { x:int; y:int; }
    struct Box[T] { held:T; }
    enum C = Red, Green, Blue;
    class Odd[T] { fun odd : T -> int; }
    instance Convert[int, P] { fun convert(n) => P (n, n); }
    instance Convert[Euro, Dollar] error \"ask the bank\";
    instance Convert[Euro, Yen] { fun convert(e) => (e :>> real) :>> Yen; }
    instance Widen[Euro, Yen];
    instance[T] Convert[Gold, T] error \"gold is no {T}\";
    instance Convert[Yen, Dollar] { fun convert(e) => (e :>> real) :>> Dollar; }
    instance Widen[Yen, Dollar] error \"say so\";
    instance[A, B with Convert[A, B]] Convert[Box[A], Box[B]] { fun convert(b) => Box (b.held :> B); }
    instance[T with Convert[Euro, Dollar], Odd[T]] Convert[P, T] { fun convert(p) => fail \"odd\"; }
    instance[T with Convert[int, T]] Convert[Yen ^ 3, T] { fun convert(p) => 3 :> T; }
";

/// Checks that type queries of programs agree with the checker.
#[test]
fn questions_in_programs_agree_with_the_checker() {
    const TYPES: &[&str] = &[
        "int",
        "i8",
        "u64",
        "real",
        "f32",
        "bigint",
        "bool",
        "char",
        "string",
        "1",
        "3",
        "2 \\* 3",
        "C",
        "Euro",
        "Dollar",
        "Yen",
        "Gold",
        "P",
        "Box[Euro]",
        "Box[Dollar]",
        "Box[Yen]",
        "Box[P]",
        "int * int",
        "int ^ 2",
        "i8 ^ 2",
        "real ^ 2",
        "i8 * real",
        "Euro ^ 2",
        "Yen ^ 2",
        "Euro * int",
        "Yen * real",
        "Dollar * int",
        "Yen ^ 3",
        "(a:int, b:real)",
        "(a:i8, b:f32)",
        "int -> int",
        "int ^ 6",
        "int ^ (2 \\* 3)",
        "int + bool",
        "complex",
    ];
    on_large_stack(|| {
        let mut session = Session::new();
        let outcome = session.evaluate("input", OF_MONEY, Mode::Script, &mut |_| {});
        assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.diagnostics);
        let mut yes = 0;
        for from in TYPES {
            let asked: Vec<String> = TYPES
                .iter()
                .map(|to| {
                    format!(
                        "println (#convertible[{from}, {to}]); println (#callable[({to}) -> int, {from}]);"
                    )
                })
                .collect();
            let mut printed = String::new();
            let outcome =
                session.evaluate("input", &asked.join("\n"), Mode::Script, &mut |text| printed += text);
            assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.diagnostics);
            let answers: Vec<&str> = printed.lines().collect();
            assert_eq!(answers.len(), 2 * TYPES.len());
            for (to, answers) in TYPES.iter().zip(answers.chunks(2)) {
                let types = &[*from, *to];
                let (converts, becomes) = (able(&mut session, ":>", types), able(&mut session, ":", types));
                assert_eq!(answers[0], converts.is_ok().to_string(), "{from} :> {to}: {converts:?}");
                assert_eq!(answers[1], becomes.is_ok().to_string(), "{from} as {to}: {becomes:?}");
                yes += usize::from(converts.is_ok()) + usize::from(becomes.is_ok());
            }
        }
        assert!(yes > 200, "only {yes}");
        // A refused instance does not exist, also where an instance of a nested part requires it.
        for (from, to) in [("Euro", "Dollar"), ("Gold", "Dollar"), ("Box[Euro]", "Box[Dollar]")] {
            assert_eq!(able(&mut session, ":>", &[from, to]), Err("E0619".into()));
        }
        assert_eq!(able(&mut session, ":", &["Yen", "Dollar"]), Err("E0619".into()));
        // An instance that requires a refused one and a missing one is not reported as the refused
        // one.
        assert_eq!(able(&mut session, ":>", &["P", "bool"]), Err("E0303".into()));
    });
}

#[test]
fn values_of_the_host_have_types_and_can_be_passed_in() {
    on_large_stack(|| {
        let mut session = Session::new();
        let ty = |session: &Session, value: &dyn std::any::Any| {
            session.type_of_value(value).map(|ty| ty.to_string())
        };
        assert_eq!(ty(&session, &3i64), Some("int".into()));
        assert_eq!(ty(&session, &3u8), Some("u8".into()));
        assert_eq!(ty(&session, &"text"), Some("string".into()));
        assert_eq!(ty(&session, &vec![1.0f64, 2.0]), Some("real ^ 2".into()));
        assert_eq!(ty(&session, &vec![vec![1i64, 2, 3], vec![4, 5, 6]]), Some("int ^ 3 ^ 2".into()));
        assert_eq!(ty(&session, &vec![vec![1i64], vec![2, 3]]), None);
        assert_eq!(ty(&session, &std::time::Duration::ZERO), None);

        assert!(session.bind_host_value("m", &vec![vec![1i64, 2, 3], vec![4, 5, 6]]).is_some());
        assert!(session.bind_host_value("bytes", &vec![250u8, 3, 7]).is_some());
        assert!(session.bind_host_value("no name", &1i64).is_none());
        let mut printed = String::new();
        let program = "println (m.(`1:2)); println (bytes + bytes);";
        let outcome = session.evaluate("input", program, Mode::Script, &mut |text| printed += text);
        assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.diagnostics);
        assert_eq!(printed, "(4, 5, 6)\n(244, 6, 14)\n");
    });
}

#[test]
fn a_host_adds_its_own_types() {
    struct Celsius(f64);
    on_large_stack(|| {
        let mut session = Session::new();
        assert!(session.type_of_value(&Celsius(1.0)).is_none());
        session
            .host_registry()
            .add::<Celsius>(|c| HostValue { ty: Type::real(), value: Value::real(c.0 + 273.15) });
        session
            .host_registry()
            .add_annotation_rule(Box::new(|text, _| (text == "temperature").then(Type::real)));
        assert_eq!(session.bind_host_value("t", &Celsius(0.0)), Some(Type::real()));
        assert_eq!(
            session.type_of_annotation("temperature[2]").map(|t| t.to_string()),
            Some("real ^ 2".into())
        );
        // Known definitions are still known, and a reset discards values, not rules.
        session.reset();
        assert_eq!(session.type_of_value(&Celsius(1.0)), Some(Type::real()));
    });
}

#[test]
fn annotations_of_the_host_are_types() {
    on_large_stack(|| {
        let mut session = Session::new();
        for (text, expected) in [
            ("float64", Some("real")),
            ("<f4", Some("f32")),
            ("int32[3, 4]", Some("i32 ^ (3 \\* 4)")),
            ("boolean", Some("bool")),
            ("i8", Some("i8")),
            ("int ^ 3", Some("int ^ 3")),
            ("float64[x]", None),
            ("complex128", None),
        ] {
            let found = session.type_of_annotation(text).map(|ty| ty.to_string());
            assert_eq!(found.as_deref(), expected, "{text}");
        }
    });
}
