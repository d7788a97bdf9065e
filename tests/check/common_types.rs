//! Common types of the values at one place, in any order; built-in conversions as members of
//! classes; values whose type only the context determines.

use crate::checker::run;

/// Returns the output of a program, or its codes.
fn printed(text: &str) -> String {
    let done = run("library_program.flx", text, true);
    let mut codes: Vec<&str> =
        done.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code.as_str()).collect();
    codes.dedup();
    if codes.is_empty() { done.output } else { codes.join(" ") }
}

/// Returns all orders of some values.
fn orders(values: &[&str]) -> Vec<Vec<String>> {
    if values.is_empty() {
        return vec![Vec::new()];
    }
    let mut all = Vec::new();
    for (at, first) in values.iter().enumerate() {
        let rest: Vec<&str> = values.iter().enumerate().filter(|(i, _)| *i != at).map(|(_, v)| *v).collect();
        for mut order in orders(&rest) {
            order.insert(0, first.to_string());
            all.push(order);
        }
    }
    all
}

#[test]
fn values_of_one_place_have_one_type_whatever_their_order() {
    // The values, and their common type, if there is one.
    let cases: &[(&[&str], Option<&str>)] = &[
        (&["2i16", "1i8"], Some("i16")),
        (&["1u8", "2i8"], Some("i16")),
        (&["1u8", "2i8", "3i32"], Some("i32")),
        (&["300", "2i8", "5i16"], Some("i16")),
        (&["1", "2.5", "3f32"], Some("f32")),
        (&["x", "3f32"], Some("real")),
        (&["1u64", "2i8", "3 :> bigint"], Some("bigint")),
        (&["1u64", "2i8"], None),
        (&["1i8", "x"], Some("real")),
        (&["1i16", "2u16", "3f32"], Some("f32")),
        (&["1", "x", "2i32"], Some("real")),
        (&["1i8", "2.5"], None),
        (&["n", "x"], None),
        (&["1i8", "\"s\""], None),
        (&["(1i8, 2i16)", "(1i16, 2i8)"], Some("i16 ^ 2")),
        (&["(1i8, \"a\")", "(1i16, \"b\")"], Some("i16 * string")),
        (&["(a=1i8, b=2i16)", "(a=3i16, b=4i8)"], Some("(a:i16, b:i16)")),
        (&["[1i8, 2i8]", "[3i16, 4i16]", "[5, 6]"], Some("i16 ^ 2")),
        (&["if true then 1i8 else 2i16 endif", "3i32", "4i8"], Some("i32")),
        (&["complex (1.0, 2.0)", "2.5", "3"], Some("complex")),
        (&["complex (1.0, 2.0)", "x"], Some("complex")),
        (&["None", "Some 1", "Some 2i8"], Some("option[i8]")),
    ];
    for (values, common) in cases {
        for order in orders(values) {
            let list = order.join(", ");
            let arms: Vec<String> =
                order.iter().enumerate().map(|(i, value)| format!("| {i} => {value}")).collect();
            let last = &order[order.len() - 1];
            let chain: Vec<String> =
                order[1..].iter().rev().skip(1).map(|v| format!("elif k == 0 then {v} ")).collect();
            let (chain, first) = (chain.concat(), &order[0]);
            let forms = [
                (format!("[{list}]"), order.len()),
                (format!("if k == 1 then {first} {chain}else {last} endif"), 0),
                (format!("match k with {} | _ => {last} endmatch", arms.join(" ")), 0),
            ];
            for (form, count) in forms {
                let text = match common {
                    Some(ty) if count > 0 => {
                        format!(
                            "val x = 1.5; val n = 3; val y = {form}; val z : ({ty}) ^ {count} = y; println 1;"
                        )
                    }
                    Some(ty) => {
                        format!(
                            "val x = 1.5; val n = 3; val k = 1; val y = {form}; val z : {ty} = y; var w = z; w = y; println 1;"
                        )
                    }
                    None => format!("val x = 1.5; val n = 3; val k = 1; val y = {form};"),
                };
                let wanted = if common.is_some() { "1\n" } else { "E0301" };
                assert_eq!(printed(&text), wanted, "{text}");
            }
        }
    }
    // Conversion to a stated type is not enough: the type is the common one.
    assert_eq!(printed("val y = [1i8, 2i16]; val z : i8 ^ 2 = y;"), "E0301");
    assert_eq!(printed("println [1i8, 300i16];"), "(1, 300)\n");
}

#[test]
fn what_the_language_converts_belongs_to_the_classes_of_conversion() {
    let cases = [
        (
            "fun to[A, B with Convert[A, B]](x:A):B => x :> B;
             println (to[i32, real] 3i32, to[real, i8] 2.7, to[u8, u8] 4u8, to[int, bigint] 5);",
            "(3.0, 2, 4, 5)\n",
        ),
        ("fun to[A, B with Convert[A, B]](x:A):B => x :> B; println (to[int, i8] 300);", "E0503"),
        (
            "newtype Small = 5;
             instance Convert[Small, int] { fun convert(a) => (a :>> int) + 100; }
             println ((`2:5 :>> Small) :> int);",
            "102\n",
        ),
        ("fun wide[A, B with Widen[A, B]](x:A):B => x; println (wide[i8, int] 3i8, wide[f32, real] 2.5f32);", "(3, 2.5)\n"),
        ("fun wide[A, B with Widen[A, B]](x:A):B => x; println (wide[int, i8] 3);", "E0601"),
        ("fun wide[A, B with Widen[A, B]](x:A):B => x; println (wide[int, real] 3);", "E0601"),
        (
            "fun next[T with Literal[int, T], Add[T]](x:T):T => x + 1;
             println (next 2, next 2.5, next 3u8, next 1f32, next (complex (1.0, 2.0)));",
            "(3, 3.5, 4, 2.0, 2.0+2.0i)\n",
        ),
        (
            "fun half[T with Literal[real, T], Mul[T]](x:T):T => x * 0.5;
             println (half 3.0, half 3f32);",
            "(1.5, 1.5)\n",
        ),
        ("fun half[T with Literal[real, T], Mul[T]](x:T):T => x * 0.5; println (half 3i8);", "E0601"),
        (
            "fun sum_as[A, B, N:COMPACTLINEAR with Convert[A, B], Add[B]](x:A ^ N):B => sum [ x.i :> B for i in ..[N] ];
             println (sum_as[u8, int, 1000] (fill 200u8), sum_as[i32, real, 3] [1i32, 2i32, 3i32]);",
            "(200000, 6.0)\n",
        ),
        ("fun f[T with Convert[T, real]](x:T):real => x :> real; println (f 3, f 2i8, f 2.5);", "(3.0, 2.0, 2.5)\n"),
    ];
    for (text, wanted) in cases {
        assert_eq!(printed(text), wanted, "{text}");
    }
}

#[test]
fn options_of_nothing_match_like_other_options() {
    let head = "val a : option[unit] = Some (); val n : option[unit] = None;
        fun arm(o:option[unit]):string => ";
    for some in ["Some ()", "Some _", "Some x", "Some"] {
        let text = format!(
            "{head} match o with | {some} => \"some\" | None => \"none\" endmatch; println (arm a, arm n);"
        );
        assert_eq!(printed(&text), "(some, none)\n", "{some}");
    }
    assert_eq!(printed("val a : option[unit] = Some (); println a._strr;"), "Some ()\n");
    assert_eq!(printed("val b : option[unit] = Some (); println (b == Some ());"), "true\n");
    assert_eq!(printed("fun f(o:option[unit]) => match o with | Some () => 1 endmatch;"), "E0411");
    let deep = "val a : option[option[unit]] = Some (Some ()); println a._strr;
        println (match a with | Some (Some ()) => 1 | Some None => 2 | None => 3 endmatch);";
    assert_eq!(printed(deep), "Some (Some ())\n1\n");
}

#[test]
fn the_type_of_a_parameter_reaches_cases() {
    let head = "fun f(l:(1 + 3) ^ 3):int => match l.(`1:3) with | case 0 () => 0 | case 1 i => (i :>> int) + 1 endmatch;
        fun g(o:option[1 + int]):int => match o with | Some (case 1 n) => n | _ => -1 endmatch;";
    let cases = [
        ("f (case 0 (), case 1 (`0:3), case 1 (`1:3))", "1\n"),
        ("f [case 0 (), case 1 (`1:3), case 1 (`1:3)]", "2\n"),
        ("f (fill (case 0 ()))", "0\n"),
        ("f (fill (case 1 (`2:3)))", "3\n"),
        ("f$ fill (case 1 (`2:3))", "3\n"),
        ("[case 0 (), case 1 (`1:3), case 0 ()] |> f", "2\n"),
        ("g (Some (case 1 7))", "7\n"),
        ("g (Some (case 0 ()))", "-1\n"),
    ];
    for (call, wanted) in cases {
        assert_eq!(printed(&format!("{head} println ({call});")), wanted, "{call}");
    }
    assert_eq!(printed("println (len [case 0 (), case 1 2]);"), "E0426");
}
