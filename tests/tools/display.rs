//! The display of results in a session, and the names of results.

use felis::session::{Mode, Session, Status, Window, on_large_stack};

const WINDOW: Window = Window { columns: 40, rows: 8 };

/// Returns the text shown for an input that must succeed.
fn shown(session: &mut Session, text: &str) -> String {
    let outcome = session.evaluate("input", text, Mode::Display(WINDOW), &mut |_| ());
    let errors: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(outcome.status, Status::Ok, "{text}\n{errors}");
    outcome.value.map_or(String::new(), |value| value.text)
}

fn shows(inputs: &[(&str, &str)]) {
    on_large_stack(|| {
        let mut session = Session::new();
        for (text, expected) in inputs {
            assert_eq!(shown(&mut session, text), *expected, "{text}");
        }
    });
}

#[test]
fn what_fits_into_a_line_stays_in_one() {
    shows(&[
        ("1 + 2", "3"),
        ("\"a\\nb\"", "\"a\\nb\""),
        ("(1, 2, 3)", "(1, 2, 3)"),
        ("(\"a, b\", \"c\")", "(\"a, b\", \"c\")"),
        ("(0.1 + 0.2, 1.0)", "(0.30000000000000004, 1.0)"),
        ("(a=1, b=\"x\")", "(a=1, b=\"x\")"),
        ("()", "()"),
        ("(5 :>> int ^ 1)", "[5]"),
        ("variant Shape = Circle of real | Dot; (Circle 2.5, Dot)", "(Circle (2.5), Dot)"),
        ("(case 1 of int + real) 5.0", "case 1 (5.0)"),
        ("(true, false)", "(true, false)"),
    ]);
}

#[test]
fn a_matrix_is_a_grid() {
    shows(&[
        ("#iota[2 \\* 6]", " 0  1  2  3   4   5\n 6  7  8  9  10  11"),
        ("#iota[6] :>> int ^ 3 ^ 2", " 0  1  2\n 3  4  5"),
        ("#iota[3 \\* 3] :>> int ^ (3 \\^ 2)", " 0  1  2\n 3  4  5\n 6  7  8"),
        ("((1.0, -22.5), (333.25, 1.0 / 3.0)) :>> real ^ (2 \\* 2)", "   1.0   -22.5\n 333.25    0.333333"),
        ("(\"a\", \"bcd\", \"ef\", \"g\") :>> string ^ (2 \\* 2)", " \"a\"   \"bcd\"\n \"ef\"  \"g\""),
        ("#iota[2 \\* 1 \\* 2]", "(0, _, _):\n 0  1\n(1, _, _):\n 2  3"),
    ]);
}

#[test]
fn a_large_matrix_is_shown_by_its_corners() {
    shows(&[(
        "#iota[100 \\* 50]",
        "    0     1     2     3  …    48    49
   50    51    52    53  …    98    99
  100   101   102   103  …   148   149
  150   151   152   153  …   198   199
  200   201   202   203  …   248   249
  250   251   252   253  …   298   299
 ⋮ 92 rows left out
 4900  4901  4902  4903  …  4948  4949
 4950  4951  4952  4953  …  4998  4999
 … 44 columns left out",
    )]);
}

#[test]
fn long_words_make_room_for_columns() {
    shows(&[
        (
            "[ (name = \"a name that is longer than the line is wide\", age = i :>> int, ok = true) for i in ..[2] ]",
            " name                          age  ok\n ────────────────────────────  ───  ────
 \"a name that is longer than…    0  true\n \"a name that is longer than…    1  true",
        ),
        // Another column may have the room that one lacks.
        (
            "[ (a = \"0123456789012345\", b = \"0123456789012345\", c = \"0123456789012345\", d = i :>> int) for i in ..[2] ]",
            " a                 …  d
 ────────────────     ─
 \"01234567890123…  …  0
 \"01234567890123…  …  1
 … 2 columns left out",
        ),
    ]);
}

#[test]
fn a_long_array_is_shown_by_its_ends() {
    shows(&[
        (
            "#iota[30]",
            "( 0,  1,  2,  3,  4,  5,  6,  7,  8,\n  9, 10, 11, 12, 13, 14, 15, 16, 17,\n 18, 19, 20, 21, 22, 23, 24, 25, 26,\n 27, 28, 29)",
        ),
        (
            "#iota[100000]",
            "(    0,     1,     2,     3,     4,
     5,     6,     7,     8,     9,
    10,    11,    12,    13,    14,
    15,    16,    17,    18,    19,
    20,    21,    22,    23,    24,
 … 99965 left out …
 99990, 99991, 99992, 99993, 99994,
 99995, 99996, 99997, 99998, 99999)",
        ),
    ]);
}

#[test]
fn an_array_of_some_lines_too_many_is_shown_by_its_ends() {
    shows(&[(
        "#iota[1120] :>> int ^ 8 ^ 140 |> map (fun (row) => 1000 + sum row)",
        "(1028, 1092, 1156, 1220, 1284, 1348,
 1412, 1476, 1540, 1604, 1668, 1732,
 1796, 1860, 1924, 1988, 2052, 2116,
 2180, 2244, 2308, 2372, 2436, 2500,
 2564, 2628, 2692, 2756, 2820, 2884,
 … 98 left out …
 9220, 9284, 9348, 9412, 9476, 9540,
 9604, 9668, 9732, 9796, 9860, 9924)",
    )]);
}

#[test]
fn an_array_of_records_is_a_table() {
    let table = " name         age  height
 ───────────  ───  ──────
 \"Ann\"         31    1.72
 \"Christina\"  110  100.0";
    shows(&[
        ("((name=\"Ann\", age=31, height=1.72), (name=\"Christina\", age=110, height=100.0))", table),
        ("struct P { name : string; age : int; height : real; }", ""),
        ("(P (\"Ann\", 31, 1.72), P (\"Christina\", 110, 100.0))", table),
        // A type with a text of its own is shown by it.
        ("instance Show[P] { fun show(p : P) : string => p.name; }", ""),
        ("(P (\"Ann\", 31, 1.72), P (\"Christina\", 110, 100.0))", "(Ann, Christina)"),
    ]);
}

#[test]
fn a_long_record_is_shown_by_fields() {
    shows(&[(
        "(x=#iota[1000], label=\"a text that is longer than a line has room\")",
        " x     = (0, 1, 2, 3, …, 996, 997, 998, 999)\n label = \"a text that is longer than a line has ro\"… (2 characters left out)",
    )]);
}

#[test]
fn of_many_slices_the_first_and_the_last_are_seen() {
    shows(&[
        ("#iota[2 \\* 3 \\* 1 \\* 2]", "(0, 0, _, _):\n  0   1\n⋮ 4 slices left out\n(1, 2, _, _):\n 10  11"),
        (
            "#iota[3 \\* 90 \\* 2]",
            "(0, _, _):\n   0    1\n   2    3\n ⋮ 87 rows left out\n 178  179\n⋮ 1 slice left out\n\
             (2, _, _):\n 360  361\n 362  363\n ⋮ 87 rows left out\n 538  539",
        ),
    ]);
}

#[test]
fn a_table_without_rows_has_its_columns() {
    shows(&[
        ("[ (name=\"a\", n=1) for i in ..[0] ]", " name  n\n ────  ─"),
        ("struct P { x : int; y : real; } [ P (1, 2.0) for i in ..[0] ]", " x  y\n ─  ─"),
        ("#iota[0]", "[]"),
    ]);
}

#[test]
fn results_have_names() {
    shows(&[
        ("1 + 1", "2"),
        ("it + 1", "3"),
        ("\"three\"", "\"three\""),
        ("(_1, _2, _3)", "(\"three\", 3, 2)"),
        ("it.0 + \"!\"", "\"three!\""),
        // Showing a result makes no new result.
        ("it", "\"three!\""),
        ("_1", "\"three!\""),
        ("_3", "\"three\""),
        ("_2.1", "3"),
        ("println 5", ""),
        ("it", "3"),
    ]);
}

#[test]
fn a_failed_input_is_no_result() {
    on_large_stack(|| {
        let mut session = Session::new();
        shown(&mut session, "42");
        for wrong in ["1 / 0", "1 + \"a\"", "("] {
            let outcome = session.evaluate("input", wrong, Mode::Display(WINDOW), &mut |_| ());
            assert_ne!(outcome.status, Status::Ok);
        }
        assert_eq!(shown(&mut session, "it"), "42");
        assert!(session.definitions().is_empty());
        session.reset();
        let outcome = session.evaluate("input", "it", Mode::Display(WINDOW), &mut |_| ());
        assert_eq!(outcome.status, Status::Rejected);
    });
}

#[test]
fn a_users_own_it_stays() {
    shows(&[("val it = 7", ""), ("1 + 1", "2"), ("it", "7"), ("_1", "7"), ("_2", "2")]);
}

#[test]
fn what_relies_on_a_result_keeps_it() {
    let mut inputs = vec![("40 + 2", "42"), ("fun answer() : int => it", "")];
    inputs.extend([("1", "1"); 12]);
    inputs.push(("#answer", "42"));
    shows(&inputs);
}

#[test]
fn a_large_result_is_shown_at_once() {
    on_large_stack(|| {
        let mut session = Session::new();
        session.set_max_value_bytes(1 << 30);
        shown(&mut session, "val large = #iota[3200 \\* 3125]");
        for text in ["large", "large :>> int ^ 10000000", "large :>> int ^ 5 ^ 2000000", "(a=large, b=large)"]
        {
            let seen = shown(&mut session, text);
            assert!(seen.len() < 2_000, "{text}");
        }
    });
}

#[test]
fn sizes_that_arrive_are_told() {
    on_large_stack(|| {
        let mut session = Session::new();
        let text = "filter ((3, 1, 4, 1, 5), fun (v) => v > 2)";
        let outcome = session.evaluate("input", text, Mode::Display(WINDOW), &mut |_| ());
        let value = outcome.value.expect("a value");
        assert_eq!(value.text, "(3, 4, 5)");
        assert_eq!(value.sizes, [("K".to_string(), "3".to_string())]);
        assert_eq!(shown(&mut session, "sum it"), "12");
    });
}
