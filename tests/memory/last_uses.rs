//! Last uses: the amount of copied data, and the absence of visible effects.

use crate::alone;
use felis::session::{Executor, Mode, Session, Status, on_large_stack};

const EXECUTORS: [Executor; 3] = [Executor::Reference, Executor::Compiled, Executor::Eager];

/// Returns the output of a session for a text, and the number of slots copied meanwhile.
fn run(session: &mut Session, text: &str) -> (String, u64) {
    let mut printed = String::new();
    let before = session.metrics();
    let outcome = session.evaluate("test", text, Mode::Script, &mut |s| printed.push_str(s));
    let errors: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(outcome.status, Status::Ok, "{text}\n{errors}");
    (printed.trim_end().to_string(), (session.metrics() - before).copied)
}

fn fails(session: &mut Session, text: &str) {
    assert_eq!(session.evaluate("test", text, Mode::Script, &mut |_| ()).status, Status::Failed, "{text}");
}

/// Returns a program with a stack of elements of a type in an array of fixed size, and functions
/// that take it and return it.
fn stack(element: &str, zero: &str, room: usize) -> String {
    format!(
        "struct Stack {{ count:int; items:({element}) ^ {room}; }}
fun put(x:({element}) ^ {room}, i:int, v:{element}):({element}) ^ {room} {{
  var r = x;
  &r.(i.mod[{room}]) <- v;
  return r;
}}
fun push(s:Stack, v:{element}):Stack {{
  var r = s;
  &r.items.(r.count.mod[{room}]) <- v;
  &r.count <- r.count + 1;
  return r;
}}
fun spread(s:Stack, v:{element}):Stack {{
  val (count, items) = (s.count, s.items);
  return Stack (count + 1, put (items, count, v));
}}
struct Behind {{ items:({element}) ^ {room}; count:int; }}
fun behind(s:Behind, v:{element}):Behind => Behind (put (s.items, s.count, v), s.count + 1);
fun empty():Stack => Stack (0, [ {zero} for i in ..[{room}] ]);
"
    )
}

/// Types of elements, with an initial element and a pushed one.
const ELEMENTS: [(&str, &str, &str); 8] = [
    ("int", "0", "i"),
    ("real", "0.0", "2.5"),
    ("bool", "false", "true"),
    ("string", "\"\"", "i.str"),
    ("bigint", "0n", "12345678901234567890123n"),
    ("int * real", "(0, 0.0)", "(i, 1.5)"),
    ("int ^ 3", "(0, 0, 0)", "(i, i, i)"),
    ("string * int", "(\"\", 0)", "(\"a\", i)"),
];

#[test]
fn a_value_that_is_given_away_and_taken_back_is_not_copied() {
    let _alone = alone();
    on_large_stack(|| {
        for executor in EXECUTORS {
            for (element, zero, one) in ELEMENTS {
                for push in ["push", "spread"] {
                    let room = 5_000;
                    let functions = stack(element, zero, room);
                    let program = |rounds: usize, inside: bool| {
                        let go = format!(
                            "var x = #empty; for i in 0..<{rounds} do x = {push} (x, {one}); done println (x.count, x.items.(case 7 of {room}));"
                        );
                        if inside { format!("proc go() {{ {go} }} go ();") } else { go }
                    };
                    for inside in [false, true] {
                        let session = || {
                            let mut session = Session::new().with_executor(executor, 1);
                            run(&mut session, &functions);
                            session
                        };
                        let (once, few) = run(&mut session(), &program(10, inside));
                        let (again, many) = run(&mut session(), &program(3_000, inside));
                        assert_eq!(once.split_once(',').map(|p| p.1), again.split_once(',').map(|p| p.1));
                        // The bound allows a few copies of the whole, and the element that each
                        // push stores.
                        let bound = few + 60_000;
                        assert!(many <= bound, "{executor:?} {element} {push} {inside}: {few}, then {many}");
                    }
                }
            }
        }
    });
}

/// A function that changes an array and returns it.
const PUT: &str =
    "fun put(x:int ^ 5000, i:int, v:int):int ^ 5000 { var r = x; &r.(i.mod[5000]) <- v; return r; }
fun zeros():int ^ 5000 => [ 0 for i in ..[5000] ];
";

/// Returns sessions with the function, one for each executor.
fn sessions() -> Vec<Session> {
    EXECUTORS
        .iter()
        .map(|executor| {
            let mut session = Session::new().with_executor(*executor, 1);
            run(&mut session, PUT);
            session
        })
        .collect()
}

#[test]
fn an_alias_costs_one_copy_and_stays_what_it_was() {
    let _alone = alone();
    on_large_stack(|| {
        for mut session in sessions() {
            run(&mut session, "var x = put (#zeros, 0, 7); val y = x;");
            let (printed, copied) = run(
                &mut session,
                "for i in 0..<1000 do x = put (x, i, i + 1); done println (x.(`0:5000), y.(`0:5000), sum y, sum x);",
            );
            assert_eq!(printed, "(1, 7, 7, 500500)");
            assert!((5_000..20_000).contains(&copied), "{copied}");
            // Inside a function, in a tuple, in a function that captures it.
            let (printed, copied) = run(
                &mut session,
                "proc go() {
  var x = put (#zeros, 0, 7);
  val pair = (x, 3);
  val first = fun (k:int) => (x.(`0:5000)) + k;
  val y = x;
  for i in 0..<1000 do x = put (x, i, i + 1); done
  println (pair.0.(`0:5000), y.(`0:5000), sum x);
}
go ();",
            );
            assert_eq!(printed, "(7, 7, 500500)");
            assert!(copied < 40_000, "{copied}");
        }
    });
}

#[test]
fn a_failed_input_gives_the_value_back() {
    let _alone = alone();
    on_large_stack(|| {
        for mut session in sessions() {
            run(&mut session, "var x = put (#zeros, 0, 7); var s = (1, x);");
            for failing in [
                "for i in 0..<100 do x = put (x, i, 9); done fail \"no\";",
                "x = put (x, 3, 1 / (x.(`1:5000)));",
                "x = put (put (x, 1, 5), 3, fail[int] \"no\");",
                "for i in 0..<100 do x = put (x, i, 100 / (50 - i)); done",
                "proc p() { x = put (x, 2, 2); &x.(`4:5000) <- 3; fail \"no\"; } p ();",
                "&s.1.(`1:5000) <- 4; s = (2, put (s.1, 2, 2)); fail \"no\";",
            ] {
                fails(&mut session, failing);
                let (printed, _) = run(&mut session, "println (sum x, x.(`0:5000), s.0, sum s.1);");
                assert_eq!(printed, "(7, 7, 1, 7)", "{failing}");
            }
        }
    });
}

#[test]
fn who_looks_at_a_variable_while_it_is_assigned_sees_what_it_was() {
    let _alone = alone();
    on_large_stack(|| {
        for mut session in sessions() {
            let (printed, _) = run(
                &mut session,
                "var x = put (#zeros, 0, 7);
fun looks(x0:int ^ 5000, v:int):int ^ 5000 => put (x0, 1, x.(`0:5000) + v);
x = looks (x, 1);
println (x.(`0:5000), x.(`1:5000));
fun first():int => x.(`0:5000);
x = put (put (x, 0, 20), 2, #first);
println (x.(`0:5000), x.(`2:5000));
val f = fun (k:int) => x.(`0:5000) + k;
x = put (put (x, 0, 30), 3, f 1);
println (x.(`0:5000), x.(`3:5000));
proc inner() {
  var y = put (#zeros, 0, 5);
  fun first_of_y():int => y.(`0:5000);
  proc change(v:int) { y = put (put (y, 0, v), 1, #first_of_y); }
  change 6; change 8;
  println (y.(`0:5000), y.(`1:5000));
}
inner ();",
            );
            assert_eq!(printed, "(7, 8)\n(20, 7)\n(30, 21)\n(8, 6)");
        }
    });
}

#[test]
fn what_grows_by_one_is_not_copied_each_time() {
    let _alone = alone();
    on_large_stack(|| {
        // Each call has a size of its own: the text is checked once, and specialized for each.
        let program = |n: usize| {
            format!(
                "fun grow[N:COMPACTLINEAR](x:string ^ N, n:int):string ^ ?K =>
  if n == 0 then x else grow (of_any_size (((x, [n.str]) :>> string ^ (N \\+ 1))), n - 1) endif;
val all = grow ([], {n}); println (len all);"
            )
        };
        for executor in EXECUTORS {
            let copied = [500, 1000].map(|n| {
                let mut session = Session::new().with_executor(executor, 1);
                let (printed, copied) = run(&mut session, &program(n));
                assert_eq!(printed, n.to_string());
                copied
            });
            assert!(copied[1] < 20 * 1000, "{executor:?} {copied:?}");
        }
    });
}

#[test]
fn what_is_taken_off_gives_its_memory_back() {
    let _alone = alone();
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Reference, 1);
        let (printed, copied) = run(
            &mut session,
            "fun pop[N:COMPACTLINEAR](x:string ^ (N \\+ 1)):string ^ N => left x;
val a = pop[999] ([ \"a\" for i in ..[1000] ] :>> string ^ (999 \\+ 1));
val b = pop[999] ((a, [\"b\"]) :>> string ^ (999 \\+ 1));
println (b == a, len b);",
        );
        assert_eq!(printed, "(true, 999)");
        assert!(copied < 8_000, "{copied}");
    });
}

#[test]
fn a_component_is_moved_out_of_what_is_still_read() {
    let _alone = alone();
    on_large_stack(|| {
        for (element, zero, one) in ELEMENTS {
            let mut session = Session::new().with_executor(Executor::Reference, 1);
            run(&mut session, &stack(element, zero, 5_000));
            let (printed, copied) = run(
                &mut session,
                &format!(
                    "var x = Behind ([ {zero} for i in ..[5000] ], 0);
for i in 0..<3000 do x = behind (x, {one}); done println (x.count, x.items.(case 7 of 5000) == (fun (i:int) => {one}) 7);"
                ),
            );
            assert_eq!(printed, "(3000, true)", "{element}");
            assert!(copied < 200_000, "{element}: {copied}");
        }
    });
}

/// A growable vector of the language: `x = push (x, v)` copies a bounded number of slots for each
/// element, with elements of any type, at the top level, in a procedure, and after an input that
/// failed.
#[test]
fn a_push_costs_one_store() {
    let _alone = alone();
    on_large_stack(|| {
        const ROUNDS: u64 = 20_000;
        let vector = "variant shape = Circle of real | Square of real | Dot;
struct vec[T] { slots : T ^ ?K; count : int; }
fun put[T, I : COMPACTLINEAR] (x : T ^ I, i : I, v : T) : T ^ I { var r = x; &r.(i) <- v; return r; }
fun push[T] (l : vec[T], v : T) : vec[T] {
  val count = l.count;
  val slots : T ^ ?K = l.slots;
  match count.index[K] with
  | case 1 i => return vec (put (slots, i, v), count + 1);
  | case 0 => return vec ((slots, [ v for i in ..[K \\+ 4] ]) :>> T ^ (K \\+ (K \\+ 4)), count + 1);
  endmatch;
}
";
        let elements = [
            ("0", "i", 1),
            ("0.0", "i :> real", 1),
            ("true", "i % 2 == 0", 1),
            ("\"\"", "i.str", 1),
            ("(0, \"\")", "(i, i.str)", 2),
            ("[0, 0, 0]", "[i, i, i]", 3),
            ("Dot", "Circle (i :> real)", 1),
            ("0.mod[3 \\* 5]", "i.mod[3 \\* 5]", 1),
        ];
        for (first, element, slots) in elements {
            for mut session in sessions() {
                let program = format!("{vector}var l = vec ([{first}], 0);");
                let (printed, _) = run(&mut session, &program);
                assert_eq!(printed, "", "{element}");
                let (printed, copied) = run(
                    &mut session,
                    &format!("for i in 0..<{ROUNDS} do l = push (l, {element}); done println l.count;"),
                );
                assert_eq!(printed, ROUNDS.to_string(), "{element}");
                assert!(copied < 12 * slots * ROUNDS, "{element}: {copied}");
                fails(
                    &mut session,
                    &format!("for i in 0..<10 do l = push (l, {element}); done fail \"no\";"),
                );
                let (printed, _) = run(&mut session, "println l.count;");
                assert_eq!(printed, ROUNDS.to_string(), "{element} after a failure");
                let (printed, copied) = run(
                    &mut session,
                    &format!(
                        "proc fill () {{ var m = vec ([{first}], 0); for i in 0..<{ROUNDS} do m = push (m, {element}); done println m.count; }} fill ();"
                    ),
                );
                assert_eq!(printed, ROUNDS.to_string(), "{element} in a procedure");
                assert!(copied < 12 * slots * ROUNDS, "{element} in a procedure: {copied}");
            }
        }
    });
}

/// A small part of a large array that is read before a store and used after it is copied
/// separately: the store does not copy the array.
#[test]
fn a_small_part_that_is_kept_costs_no_copy_of_the_whole() {
    let _alone = alone();
    on_large_stack(|| {
        for (element, zero, one) in ELEMENTS {
            for executor in EXECUTORS {
                let mut session = Session::new().with_executor(executor, 1);
                let program = |rounds: usize| {
                    format!(
                        "proc go() {{
  var x = [ ({zero}, {zero}) for j in ..[5000] ];
  for i in 0..<{rounds} do
    val at = i.mod[5000];
    val kept = x.at;
    &x.at <- ({one}, {one});
    &x.(at.around 1) <- ({one}, kept.0);
  done
  println (x.(`0:5000).0 == (fun (i : int) => {one}) 0);
}} go ();"
                    )
                };
                let (_, few) = run(&mut session, &program(10));
                let (printed, many) = run(&mut session, &program(1_000));
                assert_eq!(printed, "true", "{executor:?} {element}");
                // Less than ten copies of the array.
                assert!(many < few + 150_000, "{executor:?} {element}: {few}, then {many}");
            }
        }
    });
}

/// A function that stores into a large array in a short loop runs in place. A kernel, which may
/// fail, would need an array of its own.
#[test]
fn a_short_loop_takes_no_array_of_its_own() {
    let _alone = alone();
    on_large_stack(|| {
        let rise = "struct heap { count : int; entries : (int * int) ^ ?K; }
fun rise[I : COMPACTLINEAR] (entries : (int * int) ^ I, free : int, new : int * int) : (int * int) ^ I {
  var e = entries;
  var at = free;
  while at > 0 do
    val up = ((at - 1) / 2) :>> I;
    if e.up.0 <= new.0 break;
    &e.(at :>> I) <- e.up;
    at = up :>> int;
  done
  &e.(at :>> I) <- new;
  return e;
}
fun shifted[I : COMPACTLINEAR] (entries : (int * int) ^ I, at : int) : (int * int) ^ I {
  var e = entries;
  for i in at..<at + 10 do &e.(i :>> I) <- e.((i + 1) :>> I); done
  return e;
}
fun sift[T, I : COMPACTLINEAR with Ord[T]] (entries : T ^ I, free : int, new : T) : T ^ I {
  var e = entries;
  var at = free;
  while at > 0 do
    val up = ((at - 1) / 2) :>> I;
    if not before (new, e.up) break;
    &e.(at :>> I) <- e.up;
    at = up :>> int;
  done
  &e.(at :>> I) <- new;
  return e;
}
fun push (h : heap, new : int * int) : heap {
  val count = h.count;
  val entries : (int * int) ^ ?K = h.entries;
  return heap (count + 1, rise (entries, count, new));
}
fun push_by_class (h : heap, new : int * int) : heap {
  val count = h.count;
  val entries : (int * int) ^ ?K = h.entries;
  return heap (count + 1, sift (entries, count, new));
}
fun shift (h : heap, new : int * int) : heap {
  val count = h.count;
  val entries : (int * int) ^ ?K = h.entries;
  return heap (count + 1, shifted (entries, count));
}
";
        for step in ["push", "push_by_class", "shift"] {
            for around in ["proc go() { BODY } go ();", "BODY"] {
                let mut session = Session::new().with_executor(Executor::Compiled, 1);
                run(&mut session, rise);
                let body = format!(
                    "var h = heap (0, [ (0, 0) for i in ..[20000] ]);
for i in 0..<10000 do h = {step} (h, (i * 7919 % 5021, i)); done println h.count;"
                );
                let before = session.metrics();
                let (printed, copied) = run(&mut session, &around.replace("BODY", &body));
                let work = session.metrics() - before;
                assert_eq!(printed, "10000");
                // Less than a hundred arrays of 320 000 bytes each.
                let bytes = work.fresh + work.reused;
                assert!(copied < 2_000_000 && bytes < 32_000_000, "{step} {around}: {copied}, {bytes}");
            }
        }
    });
}

/// A row that is read after its matrix has changed is copied, and the matrix is not.
#[test]
fn a_row_that_outlives_a_store_is_copied_alone() {
    let _alone = alone();
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        run(
            &mut session,
            "fun turned[I : COMPACTLINEAR, J : COMPACTLINEAR] (m : int ^ J ^ I) : int ^ J ^ I {
  var x = m;
  for i in ..[I] do
    val row = x.i;
    &x.i <- x.(flip i);
    &x.(flip i) <- row;
    for j in ..[J] perform &x.i.j <- x.i.j + row.j;
  done
  return x;
}
val m = [ [ (i :>> int) + (j :>> int) for j in ..[300] ] for i in ..[300] ];",
        );
        let before = session.metrics();
        let (printed, _) = run(&mut session, "println (turned m).1.2;");
        let work = session.metrics() - before;
        assert_eq!(printed, "3");
        assert!(work.runs > 0, "not compiled");
        // The result, the state and a few rows of 2400 bytes; a copy of the matrix would make three.
        let bytes = work.fresh + work.reused;
        assert!(bytes < 1_600_000, "{bytes}");
    });
}

/// Containers of the library are changed in place, and grow by doubling.
#[test]
fn containers_are_changed_in_place() {
    let _alone = alone();
    let program = "import dict (*); import set; import heap; import graph;
proc go() {
  var l = list_of[int] [];
  var d = #empty_dict[string, int];
  var s = #set::empty_set[int];
  var h = #heap::empty_heap[int];
  var q = graph::queue_of [ k for k in iota 40000 ];
  var total = 0;
  for i in 0..<8000 do
    l = push (l, i);
    d = put (d, (i * 7919 % 5021).str, i);
    s = set::insert (i * 7919 % 5021) s;
    h = heap::push (h, i * 7919 % 5021);
    if i % 3 == 0 do
      d = remove_key (d, i.str);
      val (least, rest) = heap::take_least h;
      h = rest;
      val (first, others) = graph::take_first q;
      q = graph::push (others, i);
      total += least + first;
    done
  done
  println (len l, dict::len d, set::len s, heap::len h, graph::len q);
}
go ();";
    on_large_stack(|| {
        for executor in [Executor::Reference, Executor::Compiled] {
            let mut session = Session::new().with_executor(executor, 1);
            let before = session.metrics();
            let (printed, copied) = run(&mut session, program);
            let work = session.metrics() - before;
            assert_eq!(printed, "(8000, 4884, 5021, 5333, 40000)");
            let bytes = work.fresh + work.reused;
            // A copy of one container for each step is more than 100 MB.
            assert!(copied < 500_000 && bytes < 16_000_000, "{executor:?}: {copied}, {bytes}");
        }
    });
}

/// A dictionary that is put into beside a look-up in it.
const READ_BESIDE_ITS_CHANGE: &str = "import dict (dict, empty_dict, put, get_or, len);
proc assigned() {
  var d:dict[int, int] = #empty_dict;
  for i in iota 2000 do d = put (d, i, get_or (d, i - 1, 0) + 1); done
  println (len d, get_or (d, 1999, 0));
}
proc stored() {
  var d:dict[int, int] = #empty_dict;
  for i in iota 2000 do &d <- put (d, i, get_or (d, i - 1, 0) + 1); done
  println (len d, get_or (d, 1999, 0));
}
struct counts { d : dict[int, int]; n : int; }
proc part() {
  var s = counts (#empty_dict, 0);
  for i in iota 2000 do &s.d <- put (s.d, i, get_or (s.d, i - 1, s.n) + 1); done
  println (len (s.d), get_or (s.d, 1999, 0));
}
var d:dict[int, int] = #empty_dict;
for i in iota 2000 do d = put (d, i, get_or (d, i - 1, 0) + 1); done
println (len d, get_or (d, 1999, 0));
assigned ();
stored ();
part ();";

#[test]
fn a_value_that_is_read_beside_its_change_is_not_copied() {
    let _alone = alone();
    on_large_stack(|| {
        for executor in EXECUTORS {
            let mut session = Session::new().with_executor(executor, 1);
            let (printed, copied) = run(&mut session, READ_BESIDE_ITS_CHANGE);
            assert_eq!(printed, "(2000, 2000)\n".repeat(4).trim_end());
            // A copy for each of the calls would be millions.
            assert!(copied < 100_000, "{copied} slots are copied by {executor:?}");
        }
    });
}
