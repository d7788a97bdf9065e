//! Completion and hints: queries that evaluate nothing and change nothing.

use felis::editor::{complete_at, hint};
use felis::session::{Mode, Session, Status, on_large_stack};
use std::time::Instant;

/// Adds definitions to a session.
fn with(session: &mut Session, text: &str) {
    let outcome = session.evaluate("input", text, Mode::Script, &mut |_| ());
    let errors: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(outcome.status, Status::Ok, "{errors}");
}

/// Returns the completions at the end of a text, and the position at which they begin.
fn completed(session: &mut Session, text: &str) -> (usize, Vec<String>) {
    let found = complete_at(session, text, text.len());
    (found.start, found.names)
}

#[test]
fn names_are_completed() {
    let mut session = Session::new();
    with(&mut session, "val incomprehensible = 42; fun indecent(n:int):int => n;");
    assert_eq!(completed(&mut session, "1 + inco"), (4, vec!["incomprehensible".into()]));
    assert_eq!(completed(&mut session, "indec"), (0, vec!["indecent".into()]));
    assert!(completed(&mut session, "transp").1.contains(&"transpose".to_string()));
    // A name that the text itself uses.
    assert_eq!(completed(&mut session, "fun f(particular:int):int => partic").1, ["particular"]);
    assert_eq!(completed(&mut session, "endm").1, ["endmatch"]);
    // In a choice whose other value is not written yet.
    let unfinished = "fun f(particular:int):int => if particular > 1 then parti";
    assert_eq!(completed(&mut session, unfinished).1[0], "particular");
    assert_eq!(completed(&mut session, "fun f(particular:int):int => if partic").1[0], "particular");
}

#[test]
fn fields_are_completed_after_a_dot() {
    on_large_stack(|| {
        let mut session = Session::new();
        with(
            &mut session,
            "struct Point { x_axis : real; y_axis : real; } val p = Point (1.0, 2.0);
             val line = (from=p, to=p); fun both() : Point ^ 2 => (p, p);
             val t = (1, \"a\", true); val clock = `1:24 \\, `2:60;",
        );
        for (text, start, names) in [
            ("p.", 2, vec!["x_axis", "y_axis"]),
            ("p.y", 2, vec!["y_axis"]),
            ("line.", 5, vec!["from", "to"]),
            ("line.to.", 8, vec!["x_axis", "y_axis"]),
            ("(p).x_", 4, vec!["x_axis"]),
            ("1.0 + (line.from).x_", 18, vec!["x_axis"]),
            ("t.", 2, vec!["0", "1", "2"]),
            ("clock.", 6, vec!["0", "1"]),
            ("#both.0.x_a", 8, vec!["x_axis"]),
            ("#both.", 6, vec!["x_axis", "y_axis", "0", "1"]),
            ("unknown.", 8, vec![]),
            ("p.x_axis.", 9, vec![]),
        ] {
            let (from, found) = completed(&mut session, text);
            assert_eq!(from, start, "{text}");
            let names: Vec<String> = names.into_iter().map(str::to_string).collect();
            assert!(
                found.starts_with(&names) && (text.ends_with(|c: char| c != '.') || found == names),
                "{text}: {found:?}"
            );
        }
        // Functions come after fields, once a letter is written.
        assert!(completed(&mut session, "(1, 2, 3).su").1.contains(&"sum".to_string()));
    });
}

#[test]
fn names_of_parameters_are_completed_where_an_argument_begins() {
    on_large_stack(|| {
        let mut session = Session::new();
        with(
            &mut session,
            "fun drawn(thickness:int, thinness:real = 1.0):int => thickness; struct Line { thick:int; }
             val third = 3;",
        );
        let names = |session: &mut Session, text: &str| completed(session, text).1;
        assert_eq!(
            names(&mut session, "drawn (thi")[..3],
            ["thickness = ", "thinness = ", "third"].map(str::to_string)
        );
        assert_eq!(names(&mut session, "drawn (3, thin")[..1], ["thinness = ".to_string()]);
        assert_eq!(names(&mut session, "Line (thic")[..1], ["thick = ".to_string()]);
        // Within an argument no parameter name is offered.
        assert!(!names(&mut session, "drawn (1 + thi").contains(&"thickness = ".to_string()));
    });
}

#[test]
fn types_are_completed_where_a_type_stands() {
    let mut session = Session::new();
    with(&mut session, "newtype Vertex = 4; val Verdict = 1;");
    assert_eq!(completed(&mut session, "val x : Ver").1, ["Vertex"]);
    assert_eq!(completed(&mut session, "x :>> rea").1, ["real"]);
    assert_eq!(completed(&mut session, "x :> Ver").1, ["Vertex"]);
    let names = session.class_names_starting_with("Mono");
    assert_eq!(names, ["Monoid"]);
}

#[test]
fn parts_of_the_library_are_completed_where_they_are_imported() {
    let mut session = Session::new();
    assert_eq!(completed(&mut session, "import lin"), (7, vec!["linalg".into(), "linear".into()]));
    assert_eq!(completed(&mut session, "import linalg (sv").1, ["svd"]);
    assert!(completed(&mut session, "import ").1.contains(&"statistics".to_string()));
    assert_eq!(completed(&mut session, "import linear (dot, mat_v").1, ["mat_vec"]);
    let names = completed(&mut session, "import linear (ma").1;
    assert!(names.contains(&"matmul".to_string()) && !names.contains(&"map".to_string()), "{names:?}");
    assert_eq!(completed(&mut session, "val x = 1; import fol").1, ["fold"]);
    with(&mut session, "import fold;");
    assert!(completed(&mut session, "fold::su").1.contains(&"fold::sum".to_string()));
}

#[test]
fn what_is_nearest_comes_first() {
    on_large_stack(|| {
        let mut session = Session::new();
        with(&mut session, "val mine = 1; fun matched(n:int):int => n; struct Point { map : int; }");
        // A name of the function, one of the user, one of the library, keywords.
        let names = completed(&mut session, "fun f(marked:int):int => ma").1;
        let at =
            |name: &str| names.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name}"));
        assert!(
            at("marked") < at("matched") && at("matched") < at("map") && at("map") < at("match"),
            "{names:?}"
        );
        // A field, then functions.
        let names = completed(&mut session, "(Point 1).ma").1;
        assert_eq!(names[0], "map", "{names:?}");
        assert_eq!(names[1], "matched", "{names:?}");
    });
}

#[test]
fn nothing_is_completed_in_comments_and_texts() {
    let mut session = Session::new();
    for text in ["// tran", "\"tran\"", "/* tran", "12", "", "x "] {
        assert_eq!(completed(&mut session, text).1, Vec::<String>::new(), "{text}");
    }
}

#[test]
fn hints_tell_types() {
    on_large_stack(|| {
        let mut session = Session::new();
        with(
            &mut session,
            "val m = (1, 2, 3, 4) :>> int ^ (2 \\* 2); var n = 3; fun f(x:int, y:real):real => y; \
             struct P { a:int; b:real; }",
        );
        for (text, hint) in [
            ("m", Some(": int ^ (2 \\^ 2)")),
            ("1 + n", Some(": int")),
            ("1 + n;", Some(": int")),
            ("transpose m", Some(": int ^ (2 \\^ 2)")),
            ("val k = m.(`1:2 \\, `0:2) ", Some("k : int")),
            ("fun twice(x:int) => x * 2", Some("twice : int -> int")),
            ("f", Some("f : int * real -> real")),
            ("f (1, ", Some("f : int * real -> real")),
            ("P (1, ", Some("P(a:int, b:real) : P")),
            ("1 + f ((2), [3", None),
            ("1 +", None),
            ("nonsense", None),
            ("1 + \"a\"", None),
            ("println 1", None),
            ("import \"no such file.flx\"", None),
        ] {
            assert_eq!(felis::editor::hint(&mut session, text).as_deref(), hint, "{text}");
        }
    });
}

#[test]
fn questions_while_typing_change_nothing() {
    on_large_stack(|| {
        let mut session = Session::new();
        with(&mut session, "var n = 0; proc count() { n = n + 1; }");
        let texts = session.sources().len();
        for text in [
            "count ()",
            "#count; n",
            "var z = 5",
            "fun g(x:int):int => x",
            "struct S { a:int; }",
            "(1/0)",
            "n.",
        ] {
            hint(&mut session, text);
            complete_at(&mut session, text, text.len());
        }
        assert_eq!(session.sources().len(), texts);
        let names: Vec<String> = session.definitions().into_iter().map(|d| d.name).collect();
        assert_eq!(names, ["count", "n"]);
        let outcome = session.evaluate("input", "n", Mode::Line, &mut |_| ());
        assert_eq!(outcome.value.expect("a value").text, "0");
    });
}

#[test]
fn questions_while_typing_are_quick() {
    on_large_stack(|| {
        let mut session = Session::new();
        let text = "[ sum (map (fun (x:int) => x * x, transpose (#iota[3 \\* 4]))) for i in ..[5] ]";
        for end in 0..=text.len() {
            hint(&mut session, &text[..end]);
        }
        let start = Instant::now();
        for end in 0..=text.len() {
            hint(&mut session, &text[..end]);
            complete_at(&mut session, text, end);
        }
        // A fast typist leaves some fifty milliseconds between two keys; a busy machine gets more
        // time.
        let each = start.elapsed() / text.len() as u32;
        println!("{each:?} for a key");
        assert!(each.as_secs() < 2, "{each:?}");
    });
}

#[test]
fn any_text_may_be_asked_about() {
    on_large_stack(|| {
        let mut session = Session::new();
        let pieces = [
            "x.", "(", ")", "\"", "'", "/*", "é", "::", "#", "[", "]", ".", "a::b", "1.", "`", "\\,", " ",
            "\n",
        ];
        let mut random = fastrand::Rng::with_seed(5);
        for _ in 0..500 {
            let text: String =
                (0..random.usize(1..8)).map(|_| pieces[random.usize(..pieces.len())]).collect();
            for at in (0..=text.len()).filter(|at| text.is_char_boundary(*at)) {
                let found = complete_at(&mut session, &text, at);
                assert!(found.start <= at && text.is_char_boundary(found.start), "{text:?} at {at}");
            }
            hint(&mut session, &text);
        }
    });
}
