//! Sizes known at run time: opened at calls, packed where wanted, at every place of an expression;
//! bounded in memory; discarded when an input fails.

use felis::session::{Mode, Outcome, Session, Status, on_large_stack};
use felis_calculus::core::validate::validate_all;

/// Returns the output of a text, in a session of its own.
#[track_caller]
fn prints(text: &str) -> String {
    let mut session = Session::new();
    let mut printed = String::new();
    let outcome = line(&mut session, text, &mut printed);
    assert_eq!(outcome.status, Status::Ok, "{text}\n{}", shown(&session, &outcome));
    printed.trim_end().replace('\n', " ")
}

fn line(session: &mut Session, text: &str, printed: &mut String) -> Outcome {
    felis::session::on_large_stack(|| {
        session.evaluate("test", text, Mode::Line, &mut |s| printed.push_str(s))
    })
}

/// Returns the value of a line.
#[track_caller]
fn value(session: &mut Session, text: &str) -> String {
    let mut printed = String::new();
    let outcome = line(session, text, &mut printed);
    assert_eq!(outcome.status, Status::Ok, "{text}\n{}", shown(session, &outcome));
    outcome.value.map_or(printed, |value| format!("{} : {}", value.text, value.ty))
}

fn shown(session: &Session, outcome: &Outcome) -> String {
    outcome.diagnostics.iter().map(|d| session.render(d, false)).collect()
}

/// Returns the code of the only error of a line.
#[track_caller]
fn refused(session: &mut Session, text: &str) -> &'static str {
    let outcome = line(session, text, &mut String::new());
    let errors: Vec<_> = outcome.diagnostics.iter().filter(|d| d.is_error()).collect();
    assert_eq!(errors.len(), 1, "{text}\n{}", shown(session, &outcome));
    errors[0].code.as_str()
}

#[test]
fn a_call_is_opened_wherever_it_stands() {
    let helpers = "fun evens(n:int) => filter (iota n, fun (v) => v % 2 == 0); val t = true; ";
    for (text, expected) in [
        ("println (evens 7);", "(0, 2, 4, 6)"),
        ("println (sum (evens 7), len (evens 9));", "(12, 5)"),
        ("val y = evens 5; println y;", "(0, 2, 4)"),
        ("var y = evens 5; y = y + 1; println y;", "(1, 3, 5)"),
        ("println (evens 3 + 1);", "(1, 3)"),
        ("println (if t then len (evens 7) else 0 endif);", "4"),
        ("println (if not t then 0 elif len (evens 7) == 4 then 1 else 2 endif);", "1"),
        ("println (match len (evens 3) with | 2 => sum (evens 5) | _ => 0 endmatch);", "6"),
        ("println (match 3 with | n when len (evens n) == 2 => 1 | _ => 0 endmatch);", "1"),
        ("println (not t and len (iota (0 - 1)) == 0);", "false"),
        ("println (t or len (iota (0 - 1)) == 0);", "true"),
        ("println [ sum (iota v) for v in evens 7 ];", "(0, 1, 6, 15)"),
        ("println [ v * w for v in evens 3, w in iota 2 ];", "(0, 0, 0, 2)"),
        ("for v in evens 4 do print v; done", "02"),
        ("for i in 0..<len (evens 4) do print i; done", "01"),
        ("var k = 0; while len (evens k) < 3 do k = k + 1; done println k;", "5"),
        ("if len (evens 3) == 2 do println 1; else println 2; done", "1"),
        ("if not t do println 1; elif len (evens 3) == 2 do println 2; done", "2"),
        ("match evens 3 do | y => println (y + 1); done", "(1, 3)"),
        ("var s = 0; s += sum (evens 5); println s;", "6"),
        ("var x = (1, 2, 3); &x.((sum (evens 2)).mod[3]) <- len (evens 9); println x;", "(5, 2, 3)"),
        ("println ((fun (n:int) => sum (evens n)) 5);", "6"),
        ("println (map (fun (n) => len (evens n)) (1, 2, 3));", "(1, 1, 2)"),
        ("println (evens 3, evens 5);", "((0, 2), (0, 2, 4))"),
        ("println ((evens 5).str);", "(0, 2, 4)"),
        ("println ((evens 5) |> rev);", "(4, 2, 0)"),
        ("do val y : int ^ ?N = evens 5; println #sizeof[N]; done", "3"),
        (
            "val y : int ^ ?N = evens 5; typefun over(T:TYPE):TYPE => T ^ N; val z : over(int) = y + 1; println z;",
            "(1, 3, 5)",
        ),
    ] {
        assert_eq!(prints(&format!("{helpers}{text}")), expected, "{text}");
    }
}

/// A declared type has its own parameters only, in the input that opens a size and in later ones.
#[test]
fn declared_types_do_not_mention_sizes_of_the_session() {
    on_large_stack(|| {
        let mut session = Session::new();
        let mut codes = |text: &str| {
            let done = session.evaluate("t", text, Mode::Script, &mut |_| ());
            let codes = done.diagnostics.iter().map(|found| found.code.to_string());
            codes.collect::<Vec<_>>().join(" ")
        };
        assert_eq!(codes("val x : int ^ ?N = iota 4;"), "");
        assert_eq!(codes("struct s { v : int ^ N; }"), "E0454");
        assert_eq!(codes("variant s = | A of int ^ N | B;"), "E0454");
        assert_eq!(codes("newtype P = N; typedef row = int ^ P; typefun over(T:TYPE):TYPE => T ^ P;"), "");
        assert_eq!(codes("struct s { v : row; }"), "E0454");
        assert_eq!(codes("val y : over(int) = x :>> row; println y;"), "");
    });
}

#[test]
fn a_function_chooses_its_size() {
    for (text, expected) in [
        (
            "fun f(n:int):int ^ ?K => if n > 2 then iota n else (7, 8) endif; println (f 1, f 3);",
            "((7, 8), (0, 1, 2))",
        ),
        (
            "fun f(n:int):int ^ ?K => match n with | 0 => (5, 6, 7) | _ => iota n endmatch; println (f 0, f 2);",
            "((5, 6, 7), (0, 1))",
        ),
        (
            "fun f(n:int):int ^ ?K { if n > 2 do return iota n; done return []; } println (f 1, f 3);",
            "([], (0, 1, 2))",
        ),
        ("fun f(n:int) => iota (n + 1); println (f 1);", "(0, 1)"),
        ("fun f(n:int) { val y = iota n; return y + 1; } println (f 2);", "(1, 2)"),
        ("fun f(n:int) { if n > 5 do return iota n; done return (1, 2); } println (f 0);", "(1, 2)"),
        // By another name of the size, as a parameter, and twice.
        ("fun f(x:int ^ 3):int ^ ?K => x; println (f (1, 2, 3));", "(1, 2, 3)"),
        ("fun g[N:COMPACTLINEAR](x:int ^ N):int ^ ?K => x; println (g (g (iota 2)));", "(0, 1)"),
        // Two sizes, in the order of the type.
        ("fun f(n:int):int ^ ?A * string ^ ?B => iota n, words \"a b\"; println (f 1);", "([0], (a, b))"),
        (
            "fun f(s:string):real ^ (?A \\* ?B) => table s; println (rows (f \"1 2\\n3 4\"));",
            "((1.0, 2.0), (3.0, 4.0))",
        ),
        // As a value, and as an argument.
        ("val f : int -> int ^ ?K = iota; println (f 3);", "(0, 1, 2)"),
        ("fun twice(f:int -> int ^ ?K, n:int) => sum (f n) + len (f n); println (twice (iota, 4));", "10"),
        ("fun twice(f:int -> int ^ ?K) => sum (f 3); println (twice (fun (n) => iota (n + 1)));", "6"),
        ("fun f(a:int)(b:int):int ^ ?K => iota (a + b); println (f 1 2);", "(0, 1, 2)"),
        ("fun f(c:bool):int ^ ?K => if c then fail \"no\" else iota 2 endif; println (f false);", "(0, 1)"),
    ] {
        assert_eq!(prints(text), expected, "{text}");
    }
}

#[test]
fn loops_end_as_they_should() {
    let text = "\
proc go(n:int) {
  for i in 0..<n do
    val x : int ^ ?N = iota i;
    if #sizeof[N] == 2 do continue; done
    for v in x do
      val y = iota v;
      if len y == 3 do break; done
      print v; print \" \";
    done
    if i == 5 do break; done
  done
  println \"end\";
}
go 9;
fun first(n:int):int {
  for i in 0..<n do
    val x = iota i;
    if sum x > 5 do return len x; done
  done
  return 0;
}
println (first 9);";
    assert_eq!(prints(text), "0 0 1 2 0 1 2 0 1 2 end 4");
}

#[test]
fn closures_take_sizes_along() {
    let text = "\
fun make(n:int):int -> int {
  val y : int ^ ?M = iota n;
  val z = map (fun (v) => v * v) y;
  return fun (i:int) => z.(i.mod[M]) + #sizeof[M];
}
println ((make 3) 7, (make 5) 7);
proc counter(n:int) {
  var total = 0;
  val y = iota n;
  proc add() { total = total + sum y; }
  add (); add ();
  println total;
}
counter 5;
val outer : int ^ ?N = iota 3;
val f = fun (k:int) => fun (x:int ^ N) => x + k;
println ((f 10) outer);";
    assert_eq!(prints(text), "(4, 9) 20 (10, 11, 12)");
}

#[test]
fn a_name_stands_for_the_size_to_the_end_of_its_scope() {
    let mut s = Session::new();
    assert_eq!(value(&mut s, "val m : real ^ (?R \\* ?C) = table \"1 2 3\\n4 5 6\";"), "");
    assert_eq!(value(&mut s, "m"), "(1.0, 2.0, 3.0, 4.0, 5.0, 6.0) : real ^ (R \\* C)");
    assert_eq!(value(&mut s, "fun row(i:R):real ^ C => (rows m).i;"), "");
    assert_eq!(value(&mut s, "row (1 :>> R)"), "(4.0, 5.0, 6.0) : real ^ C");
    assert_eq!(value(&mut s, "[ sum (row i) for i in ..[R] ]"), "(6.0, 15.0) : real ^ R");
    // A known size stays as it is.
    assert_eq!(
        value(&mut s, "val ((x : int ^ ?A), (y : int ^ ?B)) = ((1, 2), (1, 2, 3)); y"),
        "(1, 2, 3) : int ^ 3"
    );
    assert_eq!(value(&mut s, "#sizeof[A \\* B]"), "6 : int");
    // In a block, to its end.
    assert_eq!(
        value(&mut s, "do val z : int ^ ?R = iota 9; println #sizeof[R]; done println #sizeof[R];"),
        "9\n2\n"
    );
    assert_eq!(refused(&mut s, "do val z : int ^ ?Z = iota 9; done val q : int ^ Z = (1, 2);"), "E0201");
    // Names used side by side differ.
    assert_eq!(value(&mut s, "val a = iota 2; val b = iota 3; a"), "(0, 1) : int ^ N");
    assert_eq!(value(&mut s, "b"), "(0, 1, 2) : int ^ N2");
    // A function after the size is named, in one text.
    let text = "val v : int ^ ?V = iota 3; println (twice v); fun twice(x:int ^ V):int ^ V => x * 2;";
    assert_eq!(value(&mut s, text), "(0, 2, 4)\n");
}

#[test]
fn a_failed_input_leaves_no_size() {
    let mut s = Session::new();
    assert_eq!(value(&mut s, "val x : int ^ ?N = iota 3;"), "");
    let outcome = line(
        &mut s,
        "val x : int ^ ?N = iota 5; val y : int ^ ?M = iota 2; println (1 / 0);",
        &mut String::new(),
    );
    assert_eq!(outcome.status, Status::Failed);
    assert_eq!(value(&mut s, "#sizeof[N]"), "3 : int");
    assert_eq!(refused(&mut s, "#sizeof[M]"), "E0201");
    // Numbers of variables are reused, and refer to the new ones.
    assert_eq!(value(&mut s, "val y : int ^ ?M = iota 7; #sizeof[M]"), "7 : int");
    assert_eq!(value(&mut s, "sum x + sum y"), "24 : int");
    // A use before the size exists stops, and works afterward.
    assert_eq!(
        value(
            &mut s,
            "fun early(c:bool):int { if c do return 0; done val w = iota 2; return sum w + #sizeof[L]; } println (early true); val l : int ^ ?L = iota 4; println (early false);"
        ),
        "0\n5\n"
    );
    assert_eq!(
        refused(&mut s, "fun soon():int => #sizeof[P]; println #soon; val p : int ^ ?P = iota 4;"),
        "E0510"
    );
}

/// One body serves every shape: the program does not grow when sizes do.
#[test]
fn one_body_serves_every_shape() {
    let text = |n: usize| {
        let calls: String = (0..n).map(|i| format!("total = total + work (iota {i});\n")).collect();
        format!(
            "fun work[N:COMPACTLINEAR](x:int ^ N):int {{
  val y : int ^ ?K = compress (x, [ v % 2 == 0 for v in x ]);
  val f = fun (z:int ^ K) => [ a + 1 for a in z ];
  val g = f y;
  return 1;
}}
var total = 0;
{calls}total"
        )
    };
    let functions = |n: usize| {
        let outcome = crate::checker::run("test", &text(n), true);
        assert_eq!(outcome.output, n.to_string(), "{}", outcome.shown);
        let (program, script) = outcome.checked.expect("a program");
        assert_eq!(validate_all(&program, &script), Ok(()));
        program.functions.len()
    };
    assert_eq!(functions(1), functions(100));
}

#[test]
fn many_sizes_in_a_function() {
    let many = many_sizes();
    assert_eq!(prints(&format!("fun f():int {{ {many} return sum y4999; }} println #f;")), "6");
}

#[test]
fn many_sizes_at_the_top() {
    assert_eq!(prints(&format!("{} println (sum y4999);", many_sizes())), "6");
}

/// Returns 5 000 declarations, each of which opens a size.
fn many_sizes() -> String {
    (0..5_000).map(|i| format!("val y{i} = iota {};\n", i % 5)).collect()
}

#[test]
fn deep_calls() {
    let deep =
        "fun down(n:int):int ^ ?K { if n == 0 do return (1, 2); done val y = down (n - 1); return y + 1; }
println (down 2000);";
    assert_eq!(prints(deep), "(2001, 2002)");
    let grow = "fun grow[N:COMPACTLINEAR](x:int ^ N, n:int):int =>
  if n == 0 then len x else grow (iota (len x + 1), n - 1) endif;
println (grow (iota 0, 1000));";
    assert_eq!(prints(grow), "1000");
    let mut s = Session::new();
    assert_eq!(refused(&mut s, "fun f(n:int):int ^ ?K { val y = f (n + 1); return y; } f 0"), "E0508");
}

#[test]
fn makers_at_their_ends() {
    for (text, expected) in [
        ("println (iota 0);", "[]"),
        ("println (iota 1);", "[0]"),
        ("println (compress ([5], [true]), compress ([5], [false]));", "([5], [])"),
        ("println (compress (((1, 2.5), (3, 4.5), (5, 6.5)), (true, false, true)));", "((1, 2.5), (5, 6.5))"),
        ("println (compress (((1, 2.5), (3, 4.5)), (false, true)));", "[(3, 4.5)]"),
        ("println (compress (((), ()), (false, true)));", "[()]"),
        ("println (len (compress (fill[1000] (), fill[1000] true)));", "1000"),
        (
            "println (compress (..[2 \\* 2], (true, false, false, true) :>> bool ^ (2 \\* 2)));",
            "((false\\, false), (true\\, true))",
        ),
        ("println (words \"\", words \" a  bc \");", "([], (a, bc))"),
        ("println (lines \"a\\n\\nb\\n\");", "(a, , b)"),
        ("println (split (\"a,b,,c\", \",\"), split (\"\", \",\"));", "((a, b, , c), [])"),
        ("println (characters \"äb\");", "(ä, b)"),
        ("println (numbers \"1, 2.5 -3e2\");", "(1.0, 2.5, -300.0)"),
        ("println (table \"\");", "[]"),
        ("println (rows (table \"1 2\\n\\n3 4\\n\"));", "((1.0, 2.0), (3.0, 4.0))"),
    ] {
        assert_eq!(prints(text), expected, "{text}");
    }
    let mut s = Session::new();
    for (text, code) in [
        ("iota (0 - 1)", "E0517"),
        ("iota 100000000000000", "E0509"),
        ("table \"1 2\\n3\"", "E0518"),
        ("numbers \"1 x\"", "E0519"),
    ] {
        assert_eq!(refused(&mut s, text), code, "{text}");
    }
}

#[test]
fn equations_are_checked_and_used() {
    let sizes = "val x : int ^ ?N = iota 6; val y : int ^ ?K = iota 2; ";
    for (text, expected) in [
        ("require N == 3 \\* K; println (rows (x :>> int ^ (3 \\* K)));", "((0, 1), (2, 3), (4, 5))"),
        ("require N == 3 \\* K; println (x :>> int ^ K ^ 3);", "((0, 1), (2, 3), (4, 5))"),
        ("require N == ?H \\* 2; println (rows (x :>> int ^ (H \\* 2)));", "((0, 1), (2, 3), (4, 5))"),
        ("require ?H \\* 2 \\+ 2 == N; println #sizeof[H];", "2"),
        ("require K \\+ ?R == N; println (right (x :>> int ^ (K \\+ R)));", "(2, 3, 4, 5)"),
        ("do require N == 3 \\* K; println (x :>> int ^ K ^ 3); done", "((0, 1), (2, 3), (4, 5))"),
        (
            "require N == 3 \\* K; val f = fun (v:int ^ N) => v :>> int ^ K ^ 3; println (f x);",
            "((0, 1), (2, 3), (4, 5))",
        ),
        (
            "require N == 3 \\* K; println (three x); fun three(v:int ^ N):int ^ K ^ 3 => v :>> int ^ K ^ 3;",
            "((0, 1), (2, 3), (4, 5))",
        ),
        (
            "fun three(v:int ^ N):int ^ K ^ 3 => v :>> int ^ K ^ 3; println (three x); require N == 3 \\* K;",
            "((0, 1), (2, 3), (4, 5))",
        ),
    ] {
        assert_eq!(prints(&format!("{sizes}{text}")), expected, "{text}");
    }
    let functions = "
fun fold2[N:COMPACTLINEAR, M:COMPACTLINEAR, K:COMPACTLINEAR, L:COMPACTLINEAR](x:int ^ (N \\* M)):int ^ (K \\* L) {
  require N \\* M == K \\* L;
  return x :>> int ^ (K \\* L);
}
fun added[N:COMPACTLINEAR, M:COMPACTLINEAR](x:int ^ N, y:int ^ M):int ^ M {
  require N == M;
  val z = map (fun (i:M) => (x :>> int ^ M).i + y.i) (..[M]);
  return z;
}
fun halves[N:COMPACTLINEAR](x:int ^ N):int ^ ?H {
  require N == ?H \\* 2;
  return [ sum r for r in rows (x :>> int ^ (H \\* 2)) ];
}
";
    for (text, expected) in [
        ("println (sum (fold2[2, 6, 3, 4] (fill[2 \\* 6] 7)));", "84"),
        ("println (added (iota 3, (10, 20, 30)));", "(10, 21, 32)"),
        ("println (halves (iota 6), halves (iota 4), halves (iota 0));", "((1, 5, 9), (1, 5), [])"),
        ("for n in 0..3 do println (halves (iota (2 * n))); done", "[] [1] (1, 5) (1, 5, 9)"),
    ] {
        assert_eq!(prints(&format!("{functions}{text}")), expected, "{text}");
    }
    let mut s = Session::new();
    value(&mut s, &format!("{functions}{sizes}"));
    for (text, code) in [
        ("halves (iota 5)", "E0516"),
        ("added (iota 2, (10, 20, 30))", "E0515"),
        ("fold2[2, 5, 3, 4] (fill[2 \\* 5] 7)", "E0515"),
        ("require N == 2 \\* K; x", "E0515"),
        // Only after the statement, and only to the end of its block.
        ("val z = x :>> int ^ K ^ 3; require N == 3 \\* K;", "E0804"),
        ("do require N == 3 \\* K; done x :>> int ^ K ^ 3", "E0804"),
        (
            "fun f(v:int ^ N):int ^ K ^ 3 { if true do require N == 3 \\* K; done return v :>> int ^ K ^ 3; }",
            "E0804",
        ),
        ("fun f(v:int ^ N):int ^ K ^ 2 => v :>> int ^ K ^ 2; println (f x); require N == 2 \\* K;", "E0515"),
    ] {
        assert_eq!(refused(&mut s, text), code, "{text}");
    }
    // A failed equation is discarded; one of an earlier line is kept.
    assert_eq!(refused(&mut s, "x :>> int ^ K ^ 3"), "E0804");
    assert_eq!(value(&mut s, "require N == 3 \\* K;"), "");
    assert_eq!(value(&mut s, "x :>> int ^ K ^ 3"), "((0, 1), (2, 3), (4, 5)) : int ^ K ^ 3");
    assert_eq!(
        value(&mut s, "fun three(v:int ^ N):int ^ K ^ 3 => v :>> int ^ K ^ 3; sum ((three x).`1:3)"),
        "5 : int"
    );
}

/// Checks that code with a size variable gives the same as code with the size itself.
#[test]
fn opened_sizes_behave_as_written_ones() {
    let uses = [
        "x",
        "x + 1",
        "rev x",
        "sort x",
        "scan (fun (a, b) => a + b) x",
        "sum x",
        "len x",
        "x._strr",
        "[ v * 2 for v in x ]",
        "map (fun (v) => (v, v)) x",
        "(x, x)",
        "x == rev x",
        "enumerate x",
        "transpose (x :>> int ^ (I \\* 1))",
        "rows (x :>> int ^ (1 \\* I))",
        "[ (i, j) for i in ..[I], j in ..[2] ]",
        "[ i + j for i in x, j in x ]",
        "fill[I \\* 2] true",
        "fill[2 \\^ I] 1",
        "[ i.str for i in ..[I \\+ 1] ]",
        "(0).index[I]",
        "#sizeof[I \\* I \\+ 3]",
        "[ (i :>> int) for i in ..[2 \\^ I] ]",
        "(x :>> int ^ I ^ 1)",
    ];
    for n in 0..4 {
        let written = match n {
            0 => "val x : int ^ 0 = [];".to_string(),
            1 => "val x : int ^ 1 = [0];".to_string(),
            _ => format!(
                "val x : int ^ {n} = ({});",
                (0..n).map(|i| i.to_string()).collect::<Vec<_>>().join(", ")
            ),
        };
        let text = |first: &str, index: &str| -> Vec<String> {
            uses.iter()
                .map(|e| {
                    let e = e.replace('I', index);
                    prints(&format!(
                        "{first} println ({e}); do println ({e}); done fun f() => {e}; println #f;"
                    ))
                })
                .collect()
        };
        let (opened, written) =
            (text(&format!("val x : int ^ ?I = iota {n};"), "I"), text(&written, &n.to_string()));
        for ((e, a), b) in uses.iter().zip(opened).zip(written) {
            // An index value is shown as a truth value if its size is written as 2.
            let same = |s: &str| s.replace("false", "0").replace("true", "1");
            assert_eq!(same(&a), same(&b), "{e} at {n}");
        }
    }
}

/// Checks that the core of programs that open sizes is valid: types of its terms mention only
/// variables in scope.
#[test]
fn core_is_valid() {
    for text in [
        "fun f(n:int):int -> int { val y : int ^ ?M = iota n; val g = fun (i:int) => y.(i.mod[M]); \
         return fun (i:int) => g i + #sizeof[M]; } println ((f 3) 7, (f 5) 7);",
        "val x : int ^ ?N = iota 6; require N == 3 \\* ?K; val f = fun (v:int ^ N) => v :>> int ^ K ^ 3; println (f x);
         fun g(v:int ^ N):int ^ 3 ^ K => v :>> int ^ 3 ^ K; println (g x);",
        "proc p(n:int) { for i in 0..<n do val a = iota i; do val b : int ^ ?B = iota (i + 1); \
         val f = fun (u:int) => (a, b, u, #sizeof[B]); println (f 1); done done } p 3;",
        "fun f[T, I:COMPACTLINEAR](x:T ^ I):T ^ ?K => compress (x, [ (i :>> int) % 2 == 0 for i in ..[I] ]);
         fun g[I:COMPACTLINEAR](x:int ^ I):int ^ ?K { val y = f x; val h = fun (k:int) => y + k; return h 1; }
         println (g (iota 5), g (1, 2, 3));",
        "fun f(n:int) => match n with | 0 => 1 | m when #sizeof[2] == 2 and (fun (y:int) => y > 0) m => 2 | _ => 3 endmatch; \
         println (f 3);",
        "if true do val y = iota 3; val f = fun (k:int) => y + k; println (f 1); done",
        "fun f(n:int):int ^ ?A * real ^ ?B => iota n, numbers \"1 2\"; val (a, b) = f 3; println a; println b;",
    ] {
        let outcome = crate::checker::run("test", text, true);
        let Some((program, script)) = &outcome.checked else { panic!("{}", outcome.shown) };
        assert_eq!(validate_all(program, script), Ok(()), "{text}");
        assert!(outcome.shown.is_empty(), "{}", outcome.shown);
    }
}
