//! The session: an input that fails changes nothing; queries change nothing; the library is read on
//! demand and with its own names.

use felis::session::{Executor, Mode, Outcome, Session, Status, Window, on_large_stack};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

fn line(session: &mut Session, text: &str) -> Outcome {
    session.evaluate("input", text, Mode::Line, &mut |_| ())
}

/// Returns the value of a line that must succeed, and its type.
fn shown(session: &mut Session, text: &str) -> String {
    let outcome = line(session, text);
    let errors: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(outcome.status, Status::Ok, "{text}\n{errors}");
    outcome.value.map_or(String::new(), |value| format!("{} : {}", value.display_text(), value.ty))
}

fn fails(session: &mut Session, text: &str, status: Status) {
    let outcome = line(session, text);
    assert_eq!(outcome.status, status, "{text}");
    assert!(outcome.value.is_none() && !outcome.diagnostics.is_empty(), "{text}");
}

#[test]
fn an_input_builds_on_those_before() {
    on_large_stack(|| {
        let mut session = Session::new();
        assert_eq!(shown(&mut session, "var x = 3"), "");
        shown(&mut session, "fun f(n:int):int => n * x2(n); fun x2(n:int):int => n + n;");
        assert_eq!(shown(&mut session, "f x"), "18 : int");
        shown(&mut session, "x = x + 1");
        assert_eq!(shown(&mut session, "x"), "4 : int");
        assert_eq!(shown(&mut session, "1; x"), "4 : int");
    });
}

#[test]
fn what_is_printed_goes_to_the_caller() {
    let mut session = Session::new();
    let mut printed = String::new();
    let outcome =
        session.evaluate("input", "print 1; println \"a\"; 5", Mode::Script, &mut |t| printed.push_str(t));
    assert!(outcome.value.is_none());
    assert_eq!((outcome.status, printed.as_str()), (Status::Ok, "1a\n"));
}

#[test]
fn a_refused_input_changes_nothing() {
    let mut session = Session::new();
    shown(&mut session, "var x = 1; fun f(n:int):int => n;");
    fails(
        &mut session,
        "var y = 2; fun g(n:int):int => n; struct S { a:int; } val z : int = \"no\";",
        Status::Rejected,
    );
    for gone in ["y", "g 1", "S 1"] {
        fails(&mut session, gone, Status::Rejected);
    }
    fails(&mut session, "fun f(n:int):string => n;", Status::Rejected);
    fails(&mut session, "var x = true; x + 1", Status::Rejected);
    fails(&mut session, "val (", Status::Rejected);
    assert_eq!(shown(&mut session, "f x"), "1 : int");
}

#[test]
fn an_input_that_fails_while_it_runs_changes_nothing() {
    let mut session = Session::new();
    shown(&mut session, "var x = 1; var a = (1, 2, 3); var s = \"old\";");
    shown(&mut session, "proc spoil() { x = 99; &a.1 <- 77; s = \"new\"; }");
    fails(&mut session, "x = 5; println$ 1 / 0;", Status::Failed);
    fails(&mut session, "&a.0 <- 9; var y = 4; println$ 1 / 0;", Status::Failed);
    fails(&mut session, "spoil(); fun h(n:int):int => n; println$ 1 / 0;", Status::Failed);
    fails(&mut session, "for i in 0..5 do x = x + 1; &a.2 <- i; done println$ 1 / 0;", Status::Failed);
    fails(&mut session, "y", Status::Rejected);
    fails(&mut session, "h 1", Status::Rejected);
    assert_eq!(shown(&mut session, "x"), "1 : int");
    assert_eq!(shown(&mut session, "a"), "(1, 2, 3) : int ^ 3");
    assert_eq!(shown(&mut session, "s"), "\"old\" : string");
    // Numbers of removed functions and variables are reused.
    shown(&mut session, "fun h(n:int):string => \"h\"; val y = 2.5;");
    assert_eq!(shown(&mut session, "h 1"), "\"h\" : string");
    assert_eq!(shown(&mut session, "y"), "2.5 : real");
}

#[test]
fn the_flag_stops_an_input_and_the_session_goes_on() {
    let mut session = Session::new();
    shown(&mut session, "var x = 1");
    let flag = session.interrupt_flag();
    let stopper = std::thread::spawn(move || {
        // The flag is set repeatedly, because an input clears it when it begins.
        for _ in 0..200 {
            std::thread::sleep(Duration::from_millis(10));
            flag.store(true, Ordering::SeqCst);
        }
    });
    let outcome = line(&mut session, "while true do x = x + 1; done");
    assert_eq!(outcome.status, Status::Interrupted);
    stopper.join().expect("the stopper ends");
    assert_eq!(shown(&mut session, "x"), "1 : int");
}

/// Undecidable verdicts, one after the other; all of them take very long.
#[test]
fn checking_can_be_stopped() {
    on_large_stack(|| {
        let mut session = Session::new();
        let sizes = |i: usize| {
            let x = format!("(A \\+ B \\+ C \\+ D \\+ E \\+ F \\+ G \\+ {i})");
            let y = "(A \\+ 2 \\* B \\+ C \\+ D \\+ E \\+ F \\+ G \\+ 1)";
            (format!("int ^ ({x}\\^5 \\* {y}\\^5)"), format!("int ^ ({y}\\^5 \\* {x}\\^4 \\* {x})"))
        };
        let params =
            ["A", "B", "C", "D", "E", "F", "G"].map(|name| format!("{name}:COMPACTLINEAR")).join(", ");
        let function = |i: usize| {
            let (from, to) = sizes(i + 1);
            format!("fun f{i}[{params}](x:{from}) => x :>> {to};")
        };
        let text: String = (0..400).map(function).collect();
        shown(&mut session, "var x = 1");
        let begin = |session: &Session| {
            let (flag, done) = (session.interrupt_flag(), Arc::new(AtomicBool::new(false)));
            let ended = done.clone();
            let stopper = std::thread::spawn(move || {
                // The flag is set repeatedly, because an input clears it when it begins.
                while !ended.load(Ordering::SeqCst) {
                    std::thread::sleep(Duration::from_millis(10));
                    flag.store(true, Ordering::SeqCst);
                }
            });
            (done, stopper)
        };
        let (done, stopper) = begin(&session);
        let outcome = line(&mut session, &format!("x = 2; {text}"));
        assert_eq!(outcome.status, Status::Interrupted, "{:?}", outcome.diagnostics);
        assert_eq!(session.check("file", &text).status, Status::Interrupted);
        let (from, to) = sizes(1);
        let said = session.iso(&from, &to, true).map(|_| ()).expect_err("it is stopped");
        assert_eq!(said[0].code, "E0511");
        done.store(true, Ordering::SeqCst);
        stopper.join().expect("the stopper ends");
        // Nothing has changed, and later inputs are not stopped.
        assert_eq!(shown(&mut session, "x"), "1 : int");
        fails(&mut session, "f0", Status::Rejected);
        assert_eq!(session.type_of("x + 1").map(|ty| ty.to_string()), Ok("int".into()));
    });
}

#[test]
fn questions_change_nothing() {
    let mut session = Session::new();
    shown(&mut session, "var x = 1");
    assert_eq!(session.type_of("x + 1").map(|ty| ty.to_string()), Ok("int".into()));
    assert!(session.type_of("x + no").is_err());
    assert!(session.type_of("val y = 1").is_err());
    assert_eq!(session.check("file", "x = 2; val y = 1;").status, Status::Ok);
    fails(&mut session, "y", Status::Rejected);
    assert_eq!(shown(&mut session, "x"), "1 : int");
    assert_eq!(session.size_of("3 \\* 4").as_deref(), Ok("12"));
    assert!(session.size_of("int").is_err() && session.size_of("3 +").is_err());
    assert_eq!(session.kind_of("3 \\* N").map(|(_, kind)| kind).as_deref(), Ok("COMPACTLINEAR"));
    assert_eq!(session.kind_of("int ^ N").map(|(_, kind)| kind).as_deref(), Ok("TYPE"));
    let defined: Vec<String> = session.definitions().into_iter().map(|d| d.declaration).collect();
    assert_eq!(defined, ["var x : int"]);
}

#[test]
fn variables_of_two_compared_types_are_the_same() {
    let mut session = Session::new();
    let verdict = |session: &mut Session, a: &str, b: &str| {
        session.iso(a, b, false).map(|answer| answer.verdict.to_string()).expect("types")
    };
    assert_eq!(verdict(&mut session, "int ^ N", "int ^ N"), "equal");
    assert_eq!(verdict(&mut session, "int ^ N", "int ^ M"), "different");
    shown(&mut session, "newtype Hour = 24;");
    assert_eq!(verdict(&mut session, "Hour", "24"), "natural");
    assert!(session.iso("int", "nothing", true).is_err());
}

#[test]
fn a_reset_forgets() {
    let mut session = Session::new();
    shown(&mut session, "var x = 1");
    let flag = session.interrupt_flag();
    session.reset();
    fails(&mut session, "x", Status::Rejected);
    assert!(std::sync::Arc::ptr_eq(&flag, &session.interrupt_flag()));
}

#[test]
fn a_session_may_move_to_another_thread() {
    fn moves<T: Send>() {}
    moves::<Session>();
}

#[test]
fn names_are_completed() {
    let mut session = Session::new();
    shown(&mut session, "var felicity = 1; fun felix(n:int):int => n; newtype Felid = 3;");
    assert_eq!(session.names_starting_with("feli"), ["felicity", "felix"]);
    assert_eq!(session.names_starting_with("Feli"), ["Felid"]);
    assert_eq!(session.names_starting_with("endm"), ["endmatch"]);
    assert!(session.names_starting_with("").iter().all(|name| !name.starts_with('_')));
    assert!(session.names_starting_with("_str").contains(&"_strr".to_string()));
}

/// The meaning of a name of several functions depends on its use.
#[test]
fn a_name_of_functions_has_forms() {
    on_large_stack(|| {
        let mut session = Session::new();
        assert_eq!(
            session.overload_signatures("sum").as_deref(),
            Some("sum[T, I:COMPACTLINEAR with Add[T]] : T ^ I -> T\n")
        );
        let forms = session.overload_signatures("len;").expect("forms");
        assert_eq!(forms.lines().count(), 2, "{forms}");
        shown(&mut session, "fun own(n:int):int => n; val x = 1; struct P { a:int; b:real; }");
        shown(&mut session, "variant Shape = Dot | Circle of real; struct Box[T] { content:T; }");
        // These are values by themselves.
        for text in ["own", "x", "P", "Dot", "Circle", "nothing", "sum (1, 2)", "1 + 1", ""] {
            assert_eq!(session.overload_signatures(text), None, "{text}");
        }
        assert_eq!(session.overload_signatures("Box").as_deref(), Some("Box[T](content:T) : Box[T]\n"));
        let signature = |session: &mut Session, name: &str| session.overloads(name)[0].signature.clone();
        assert_eq!(signature(&mut session, "P"), "P(a:int, b:real) : P");
        assert_eq!(signature(&mut session, "Circle"), "Circle : real -> Shape");
        assert_eq!(signature(&mut session, "Dot"), "Dot : Shape");
    });
}

#[test]
fn names_of_a_text_are_listed() {
    let names =
        Session::names_defined_in("fun f(n:int) => n; fun f(s:string) => s; val (a, b) = (1, 2); f 1;");
    assert_eq!(names, ["f", "a", "b"]);
}

/// A large output is written in pieces, and none after the flag is set.
#[test]
fn printing_can_be_stopped() {
    let mut session = Session::new();
    let flag = session.interrupt_flag();
    let mut printed = 0;
    let outcome = session.evaluate("input", "println (#iota[100000])", Mode::Line, &mut |text| {
        printed += text.len();
        flag.store(true, Ordering::SeqCst);
    });
    assert_eq!(outcome.status, Status::Interrupted);
    assert!(printed < 100_000, "{printed}");
}

/// Primitives over large texts poll the flag while they work.
#[test]
fn large_texts_can_be_stopped() {
    on_large_stack(|| {
        let mut session = Session::new();
        shown(&mut session, "var s = \"12 \"; for i in 0..<21 perform s = s + s");
        for work in ["words s", "numbers s", "characters s"] {
            let text = format!("val parts = {work}");
            let start = Instant::now();
            assert_eq!(line(&mut session, &text).status, Status::Ok);
            let whole = start.elapsed();
            let flag = session.interrupt_flag();
            let stopper = std::thread::spawn(move || {
                std::thread::sleep(whole / 10);
                flag.store(true, Ordering::SeqCst);
            });
            let start = Instant::now();
            assert_eq!(line(&mut session, &text).status, Status::Interrupted, "{work}");
            let stopped = start.elapsed();
            stopper.join().expect("the stopper ends");
            assert!(stopped < whole * 3 / 4, "{work}: {stopped:?} of {whole:?}");
        }
    });
}

#[test]
fn incomplete_texts_are_known() {
    for text in ["1 +", "fun f(n:int):int", "(1,", "while true do", "/* a", "match 1 with"] {
        assert!(Session::is_incomplete(text), "{text}");
    }
    for text in ["1", "1;", "", "1 + )", "\"abc", "val x = 1"] {
        assert!(!Session::is_incomplete(text), "{text}");
    }
}

#[test]
fn the_whole_library_is_well_typed() {
    on_large_stack(|| {
        let mut session = Session::new();
        if let Err(errors) = session.load_whole_library() {
            let errors: String = errors.iter().map(|error| session.render(error, false)).collect();
            panic!("{errors}");
        }
        assert_eq!(session.definitions(), []);
    });
}

/// Sessions that begin with the same statements of the library copy what one of them has checked:
/// each gives the same, alone and beside others, and none sees what another one defines.
#[test]
fn sessions_share_the_library_and_nothing_else() {
    const FIRST: &str = "struct pair { a : int; b : real; }
        instance Show[pair] { fun show (p:pair):string => \"a pair\"; }
        fun sum(p:pair):real => p.b + (p.a :> real);
        val x = sort (3, 1, 2);
        println (x, sum x, sum (pair (1, 0.5)), (pair (1, 0.5)).str);";
    let printed = |session: &mut Session, text: &str| {
        let mut output = String::new();
        let done = session.evaluate("t", text, Mode::Script, &mut |text| output.push_str(text));
        output + &done.diagnostics.iter().map(|d| session.render(d, false)).collect::<String>()
    };
    let expected = "((1, 2, 3), 6, 1.5, a pair)\n";
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                on_large_stack(|| {
                    let mut one = Session::new();
                    assert_eq!(printed(&mut one, FIRST), expected);
                    // The same names of the library, in sessions of which one has defined more.
                    let mut other = Session::new();
                    assert_eq!(printed(&mut other, FIRST), expected);
                    assert_eq!(printed(&mut one, "fun sort(s:string):string => s + s;"), "");
                    assert_eq!(printed(&mut one, "println (sort \"ab\", sort (2, 1));"), "(abab, (1, 2))\n");
                    assert!(printed(&mut other, "println (sort \"ab\");").contains("Error"));
                    assert_eq!(
                        printed(&mut other, "val y = iota 3; println (y, sum y);"),
                        "((0, 1, 2), 3)\n"
                    );
                    assert!(other.definitions().iter().all(|found| found.name != "sort"));
                });
            });
        }
    });
}

#[test]
fn narrow_types_are_known_whenever_they_come_up() {
    on_large_stack(|| {
        let mut session = Session::new();
        assert_eq!(shown(&mut session, "max (3, 5), sum [ 1, 2 ]"), "(5, 3) : int ^ 2");
        // The classes have been read without their instances.
        assert_eq!(shown(&mut session, "max (3u8, 5u8), sum [ 100i8, 28i8 ]"), "(5, -128) : u8 * i8");
        assert_eq!(shown(&mut session, "sort [ 3f32, 1f32 ]"), "(1.0, 3.0) : f32 ^ 2");
        // Two types that are mentioned have a common type that is not.
        let mut session = Session::new();
        assert_eq!(shown(&mut session, "val a = 3u8; val b = -5i8;"), "");
        assert_eq!(shown(&mut session, "max (a + b, a + b)"), "-2 : i16");
        // The library mentions it.
        let mut session = Session::new();
        shown(&mut session, "val c = color (1, 2, 3);");
        assert_eq!(shown(&mut session, "max (c.red, c.blue)"), "3 : u8");
    });
}

#[test]
fn the_library_does_not_see_the_users_names() {
    on_large_stack(|| {
        let mut library = Session::new();
        library.load_whole_library().unwrap_or_else(|_| panic!("the library is well typed"));
        // Every function of the library is hidden by a variable (a constructor cannot be); then all
        // of it is read.
        let mut session = Session::new();
        let mut names = library.names_starting_with("");
        names.retain(|name| !name.starts_with(char::is_uppercase) && !library.overloads(name).is_empty());
        assert!(names.len() > 100, "{names:?}");
        for name in &names {
            shown(&mut session, &format!("val {name} = 1;"));
        }
        assert!(session.load_whole_library().is_ok());
        for name in &names {
            assert_eq!(shown(&mut session, name), "1 : int", "{name}");
        }
    });
}

#[test]
fn an_error_inside_the_library_is_shown_where_it_was_called() {
    on_large_stack(|| {
        let mut session = Session::new();
        let outcome = line(&mut session, "fill[2 \\^ 60] 0");
        assert_eq!(outcome.status, Status::Failed);
        let error = session.render(&outcome.diagnostics[0], false);
        assert!(error.contains("fill[2") && !error.contains("stdlib/"), "{error}");
    });
}

#[test]
fn operators_of_the_users_types_are_functions() {
    on_large_stack(|| {
        let mut session = Session::new();
        shown(&mut session, "struct V { x:int; } fun + (a:V, b:V):V => V (a.x + b.x);");
        assert_eq!(shown(&mut session, "V 1 + V 2 + V 4"), "V(7) : V");
        fails(&mut session, "V 1 - V 2", Status::Rejected);
        shown(&mut session, "fun < (a:V, b:V):bool => a.x < b.x; fun - (a:V):V => V (-a.x);");
        assert_eq!(shown(&mut session, "V 1 < V 2, V 2 < V 1"), "(true, false) : bool ^ 2");
        assert_eq!(shown(&mut session, "-V 3"), "V(-3) : V");
        fails(&mut session, "V 1 > V 2", Status::Rejected);
    });
}

#[test]
fn a_tuple_tells_the_length_that_an_array_parameter_wants() {
    let mut session = Session::new();
    let total = "fun total[N:COMPACTLINEAR](x : (1 + int) ^ N) : int => \
                 sum [ match v with | case 1 k => k | case 0 => 0 endmatch for v in x ];";
    shown(&mut session, total);
    assert_eq!(shown(&mut session, "total (case 1 5, case 0 ())"), "5 : int");
    shown(
        &mut session,
        "fun at_ten[N:COMPACTLINEAR](f : (int -> int) ^ N) : int ^ N => [ g 10 for g in f ];",
    );
    assert_eq!(
        shown(&mut session, "at_ten (fun (x) => x + 1, fun (x) => x * 2, abs)"),
        "(11, 20, 10) : int ^ 3"
    );
    shown(&mut session, "fun count_of[T, N:COMPACTLINEAR](x : T ^ N) : int => len x;");
    fails(&mut session, "count_of (1, \"a\")", Status::Rejected);
}

const VISIBILITY: &str = "kind VIS = public | private | secret; struct Ring[V:VIS] { raw:int; } \
    typefun narrow(V:VIS, W:VIS):VIS => typematch (V, W) with \
    | (public, public) => public | (secret, _) => secret | (_, secret) => secret | _ => private endmatch; \
    fun mul[V:VIS, W:VIS](x:Ring[V], y:Ring[W]):Ring[narrow(V, W)] => Ring (x.raw * y.raw);";

/// The result of a type function is known as soon as its arguments are, also when that is later.
#[test]
fn types_are_completed_as_calls_return() {
    let mut session = Session::new();
    shown(&mut session, VISIBILITY);
    shown(&mut session, "val a = Ring[secret] 3; val b = Ring[public] 4; val p = Ring[private] 5;");
    assert_eq!(shown(&mut session, "mul (a, b)"), "Ring(12) : Ring[secret]");
    assert_eq!(shown(&mut session, "mul (mul (b, b), p)"), "Ring(80) : Ring[private]");
    // Through layers of generic functions, with results partly or not declared.
    shown(&mut session, "fun sq[V:VIS](x:Ring[V]) => mul (x, x);");
    shown(&mut session, "fun both[V:VIS, W:VIS](x:Ring[V], y:Ring[W]):Ring[_] => mul (sq x, mul (y, sq x));");
    assert_eq!(shown(&mut session, "both (b, b)"), "Ring(1024) : Ring[public]");
    assert_eq!(shown(&mut session, "both (b, a)"), "Ring(768) : Ring[secret]");
    // The parameter of a local function is determined only by its call.
    let local =
        "fun f(x:Ring[secret]):Ring[secret] { val h = fun (y) => mul (y, y); val r = h x; return r; }";
    shown(&mut session, local);
    assert_eq!(shown(&mut session, "f a"), "Ring(9) : Ring[secret]");
    let wrong =
        "fun g(x:Ring[public]):Ring[secret] { val h = fun (y) => mul (y, y); val r = h x; return r; }";
    fails(&mut session, wrong, Status::Rejected);
    fails(&mut session, "val h = fun (y) => mul (y, a);", Status::Rejected);
    // The context may determine a parameter that occurs in the result alone.
    shown(&mut session, "fun any[V:VIS, W:VIS](x:Ring[V]):Ring[W] => Ring (x.raw);");
    assert_eq!(shown(&mut session, "val q : Ring[private] = any a; mul (q, b)"), "Ring(12) : Ring[private]");
    assert_eq!(shown(&mut session, "mul (any[_, public] a, b)"), "Ring(12) : Ring[public]");
    fails(&mut session, "mul (any a, b)", Status::Rejected);
}

/// A kind, its members and the types over them behave in a session like other names.
#[test]
fn a_constraint_that_its_only_instance_decides_no_further_ends() {
    on_large_stack(|| {
        let mut session = Session::new();
        let mut codes = |text: &str| {
            let outcome = session.evaluate("input", text, Mode::Script, &mut |_| ());
            outcome.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>()
        };
        assert_eq!(codes("println (sum (windows[2] x));"), ["E0401"]);
        assert_eq!(codes("val y = sum (windows[2] nowhere);"), ["E0401"]);
        let boxed = "struct Box[T] { content:TT; }
instance[T with Add[T]] Add[Box[T]] {
  fun + (a, b) => Box (a.content + b.content);
  fun zero() => Box (zero ());
}
println (Box (Box 1.5) + zero ());
println (sum (Box (1, 2), Box (10, 20)));";
        assert_eq!(codes(boxed), ["E0201"]);
    });
}

#[test]
fn compiled_loops_in_parallel_tell_how_far_they_are() {
    on_large_stack(|| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = told.clone();
        let mut session = Session::new().with_executor(Executor::Compiled, 2);
        session.set_watcher(Box::new(move |progress| heard.lock().expect("no panic").push(progress)));
        shown(&mut session, "sum [ (i :>> int) % 7 for i in ..[3000000] ]");
        let told = told.lock().expect("no panic");
        let rounds: Vec<_> = told.iter().flatten().collect();
        assert!(rounds.iter().any(|p| p.total == 3_000_000_u64.div_ceil(1 << 15)), "{told:?}");
        assert!(rounds.iter().all(|p| p.done <= p.total), "{told:?}");
        assert_eq!(told.last(), Some(&None));
    });
}

#[test]
fn compiled_loops_in_order_tell_how_far_they_are() {
    on_large_stack(|| {
        let told = Arc::new(Mutex::new(Vec::new()));
        let heard = told.clone();
        let mut session = Session::new().with_executor(Executor::Compiled, 2);
        session.set_watcher(Box::new(move |progress| heard.lock().expect("no panic").push(progress)));
        shown(&mut session, "var v : int ^ 5 = 1, 2, 3, 4, 5; var last = 0;");
        // The next iteration reads the result of the one before, in a variable or an array, in
        // whatever piece it runs.
        let text = "for i in 0..<3000000 do
            last = (last * 31 + v.(i.mod[5])) % 1000003;
            &v.(i.mod[5]) <- last;
        done";
        shown(&mut session, text);
        let told = std::mem::take(&mut *told.lock().expect("no panic"));
        let rounds: Vec<_> = told.iter().flatten().collect();
        // The evaluator would report this thousands of times.
        assert!(
            (4..1_000).contains(&rounds.len()) && rounds.iter().all(|p| p.total == 3_000_000),
            "{told:?}"
        );
        assert!(rounds.is_sorted_by_key(|p| p.done), "{told:?}");
        assert_eq!(rounds.last().map(|p| p.done), Some(3_000_000));
        let found = shown(&mut session, "(last, v)");
        let mut plain = Session::new().with_executor(Executor::Reference, 1);
        shown(&mut plain, "var v : int ^ 5 = 1, 2, 3, 4, 5; var last = 0;");
        shown(&mut plain, text);
        assert_eq!(found, shown(&mut plain, "(last, v)"));
    });
}

#[test]
fn kinds_live_in_a_session() {
    let mut session = Session::new();
    shown(&mut session, VISIBILITY);
    let kind = |session: &mut Session, ty: &str| session.kind_of(ty).map(|(ty, kind)| format!("{ty}:{kind}"));
    assert_eq!(kind(&mut session, "narrow(public, secret)"), Ok("secret:VIS".to_string()));
    assert_eq!(kind(&mut session, "Ring[narrow(public, private)]"), Ok("Ring[private]:TYPE".to_string()));
    fails(&mut session, "kind COLOR = red | red;", Status::Rejected);
    assert!(session.kind_of("red").is_err());
    // A type of the same name hides a member; existing definitions are unaffected.
    shown(&mut session, "val a = Ring[public] 1;");
    shown(&mut session, "typedef public = int;");
    assert_eq!(shown(&mut session, "mul (a, a)"), "Ring(1) : Ring[public]");
    fails(&mut session, "val b = Ring[public] 1;", Status::Rejected);
    shown(&mut session, "val c : public = 5;");
}

/// Saved programs name results as the checker resolved them: a field or a parameter may have the
/// same spelling.
#[test]
fn a_program_of_a_session_names_its_results() {
    on_large_stack(|| {
        let mut session = Session::new();
        let window = Window { columns: 80, rows: 20 };
        for text in [
            "1 + 2",
            "struct held { it : int; _1 : int; }",
            "val h = held (it, 1);",
            "fun f(it:int):int => it + 1;",
            "val n = h.it + it; // it",
            "fun g(x:int):int => x + _1;",
        ] {
            let outcome = session.evaluate("input", text, Mode::Display(window), &mut |_| ());
            let errors: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
            assert_eq!(outcome.status, Status::Ok, "{text}\n{errors}");
        }
        let program = session.program_text(&|_| None);
        let name = program.split_whitespace().nth(1).expect("a name").to_string();
        assert_eq!(
            program.replace(&name, "RESULT"),
            "val RESULT = 1 + 2;\n\
             struct held { it : int; _1 : int; }\n\
             val h = held (RESULT, 1);\n\
             fun f(it:int):int => it + 1;\n\
             val n = h.it + RESULT;\n\
             fun g(x:int):int => x + RESULT;\n"
        );
        let again = Session::new().evaluate("saved", &program, Mode::Script, &mut |_| ());
        assert_eq!(again.status, Status::Ok, "{program}");
    });
}

#[test]
fn a_text_that_is_laid_out_is_not_kept() {
    let mut session = Session::new();
    let texts = session.sources().len();
    assert_eq!(session.format("a", "val x=1;").as_deref(), Ok("val x = 1;\n"));
    assert_eq!(session.sources().len(), texts);
    let wrong = session.with_temporary_sources(|session| session.format("a", "val x=(;"));
    assert!(wrong.is_err());
    assert_eq!(session.sources().len(), texts);
}

/// Earlier results are kept as long as they take at most 128 MiB together, the last one always.
#[test]
fn large_results_are_released() {
    let mut session = Session::new();
    let mode = Mode::Display(Window { columns: 80, rows: 10 });
    let shown = |session: &mut Session, text: &str| {
        let outcome = session.evaluate("input", text, mode, &mut |_| ());
        let messages = outcome.diagnostics.iter().map(|diagnostic| session.render(diagnostic, false));
        (outcome.status, messages.collect::<String>())
    };
    shown(&mut session, "42");
    // 40 MB each: three of them fit.
    for _ in 0..6 {
        let (status, messages) = shown(&mut session, "[ 1u8 for i in ..[40000000] ]");
        assert_eq!(status, Status::Ok, "{messages}");
    }
    assert_eq!(shown(&mut session, "val kept = (len it, len _4)"), (Status::Ok, String::new()));
    let (status, messages) = shown(&mut session, "len _5");
    assert_eq!(status, Status::Rejected);
    assert!(messages.contains("this result was released"), "{messages}");
    assert!(messages.contains("as in `val x = it`"), "{messages}");
    // A small result makes no room, and a name of the user's own is not released.
    assert_eq!(shown(&mut session, "1 + 1").0, Status::Ok);
    assert_eq!(shown(&mut session, "len _4").0, Status::Ok);
    let (_, messages) = shown(&mut session, "val _9 = 5; _9 + \"a\"");
    assert!(messages.contains("E0") && !messages.contains("released"), "{messages}");
}

/// In a window that is a page nothing is left out of an array of some thousand elements.
#[test]
fn a_page_shows_all_elements() {
    let mut session = Session::new();
    let mut shown = |text: &str, window| {
        let outcome = session.evaluate("input", text, Mode::Display(window), &mut |_| ());
        outcome.value.expect("a value").text
    };
    let page = shown("#iota[3000]", Window::page(80));
    assert!((0..3000).all(|n| page.contains(&format!("{n}"))) && !page.contains('…'), "{page}");
    let page = shown("#iota[12 \\* 20 \\* 3]", Window::page(80));
    assert!(page.contains("(11, _, _):") && page.contains(" 719") && !page.contains('⋮'), "{page}");
    let page = shown("#iota[1000000]", Window::page(80));
    assert!(page.contains(" left out …") && page.lines().count() < 10_002, "{}", page.lines().count());
    let screen = shown("#iota[3000]", Window { columns: 80, rows: 20 });
    assert!(screen.contains(" left out …"), "{screen}");
}

/// Values of abstract types with parts at places have no text but the name of the type.
#[test]
fn shares_are_not_shown() {
    let mut session = Session::new();
    shown(&mut session, "party Party = alice | bob | carol;");
    shown(
        &mut session,
        "val s = hide[Party] (at alice { 424242 }); val v = hide[Party] (at bob { (1, 2) });",
    );
    assert_eq!(shown(&mut session, "s"), "<secret> : secret[Party, int, 1]");
    assert_eq!(shown(&mut session, "v < v"), "<secret> : secret[Party, bool, 2]");
    let pair = "(<secret>, 5, <secret>) : secret[Party, int, 1] * int * secret[Party, int, 2]";
    assert_eq!(shown(&mut session, "(s, 5, v)"), pair);
    assert_eq!(shown(&mut session, "(a=s, b=7)"), "(a=<secret>, b=7) : (a:secret[Party, int, 1], b:int)");
    let own = "(<secret>, 9) : secret[Party, int, 1] * (int @ alice)";
    assert_eq!(shown(&mut session, "(s, at alice { 9 })"), own);
    assert_eq!(shown(&mut session, "reveal s"), "424242 : int");
}
