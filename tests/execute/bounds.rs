//! Programs that are short but expand without bound: the compiled code stays proportional,
//! excessive parts are left to the evaluator, and an interrupt is handled during compilation.
//!
//! Nothing here is measured in seconds: the compiled units and the memory are counted.

use crate::watchdog::interrupted_after;
use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::sync::atomic::Ordering;
use std::time::Duration;

const EXECUTORS: [(Executor, usize); 3] =
    [(Executor::Reference, 1), (Executor::Compiled, 2), (Executor::Eager, 1)];

/// Runs a program; returns its output, the codes of its errors, and the session.
fn run(
    program: &str,
    (executor, threads): (Executor, usize),
) -> (Status, String, Vec<&'static str>, Session) {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(executor, threads);
        session.set_max_value_bytes(1 << 30);
        let mut printed = String::new();
        let outcome = session.evaluate("bounds", program, Mode::Script, &mut |text| printed += text);
        let codes = outcome.diagnostics.iter().filter(|d| d.is_error()).map(|d| d.code.as_str()).collect();
        (outcome.status, printed, codes, session)
    })
}

#[track_caller]
fn ends(program: &str, expected: Result<&str, &str>) {
    let start: String = program.chars().take(200).collect();
    for executor in EXECUTORS {
        let (status, printed, codes, session) = run(program, executor);
        match expected {
            Ok(text) => {
                assert_eq!((status, &codes[..]), (Status::Ok, &[][..]), "{executor:?}: {start}");
                assert_eq!(printed, text, "{executor:?}: {start}");
            }
            Err(code) => assert_eq!(codes, [code], "{executor:?}: {start}"),
        }
        // Nesting of depth n has n parts; each is compiled once.
        let work = session.metrics();
        assert!(work.parts + work.declined < 20_000, "{executor:?}: {work:?} for {start}");
    }
}

#[test]
fn values_that_are_shared_are_not_written_out() {
    let pairs = |n: usize, make: &str| format!("{make}\nval a = {}1;\nprintln 2;\n", "pair$ ".repeat(n));
    let tuple = "fun pair[T](x:T) => (x, x);";
    ends(&pairs(33, tuple), Err("E0509"));
    ends(&pairs(24, tuple), Ok("2\n"));
    ends(&pairs(33, "fun pair[T](x:T) => [x, x];"), Err("E0509"));
    ends(&pairs(12, "fun pair[T](x:T) => (a=x, b=x);"), Ok("2\n"));
    ends(&pairs(12, "fun pair[T](x:T) => (x, 1, x);"), Ok("2\n"));
    ends(&pairs(33, "fun pair[T](x:T) => (a=x, b=x);"), Err("E0210"));
    ends(&pairs(30, "fun pair[T](x:T) : (T * T) + int => (case 0 of ((T * T) + int)) (x, x);"), Ok("2\n"));
    ends(&pairs(30, "fun pair[T](x:T) => fun (i:int) => (x, x);"), Ok("2\n"));
    ends(
        &pairs(30, "struct Box[T] { left : T; right : T; } fun pair[T](x:T) => Box[T] (x, x);"),
        Err("E0509"),
    );
    // Inside a function that is mapped over an array.
    let inside = format!(
        "{tuple}\nfun deep(v:int):int {{ val a = {}v; return a.0.0.0.0.1 * 0 + 2; }}\n\
         println (sum [ deep (i :>> int) for i in ..[2000] ]);\n",
        "pair$ ".repeat(5)
    );
    assert_eq!(run(&inside, EXECUTORS[0]).0, run(&inside, EXECUTORS[1]).0);
    let late = format!(
        "{tuple}\nfun deep(v:int):int {{ val a = {}v; return 2; }}\nprintln [ deep (i :>> int) for i in ..[5000] ];\n",
        "pair$ ".repeat(33)
    );
    ends(&late, Err("E0509"));
}

#[test]
fn chains_are_as_long_as_they_are_written() {
    ends(&format!("println (1{});", " |> abs".repeat(4_000)), Ok("1\n"));
    let lambdas = " |> (fun (t:int) => t + 1)".repeat(2_000);
    ends(&format!("println (1{lambdas});"), Ok("2001\n"));
    ends(&format!("println (sum [ (i :>> int){lambdas} for i in ..[3] ]);"), Ok("6003\n"));
    let lets: String = (1..2_000).map(|i| format!("val x{i} = x{} + 1;\n", i - 1)).collect();
    ends(
        &format!(
            "fun h(v:int):int {{ val x0 = v;\n{lets}return x1999; }}\nprintln (sum [ h 1 for i in ..[3] ]);"
        ),
        Ok("6000\n"),
    );
    // Blocks inside blocks: each operand of a pointwise sum is bound in one.
    let sum = "x + ".repeat(150);
    ends(
        &format!(
            "fun f(x:int ^ 1000):int ^ 1000 => {sum}x;\nprintln (sum (f [ i :>> int for i in ..[1000] ]));"
        ),
        Ok("75424500\n"),
    );
    let stores = "t = t * 3 + 1; ".repeat(1_000);
    let walk = format!("fun h(v:int):int {{ var t = v; {stores}return t; }}\n");
    let (.., alone, _, _) = run(&format!("{walk}println (h 5);"), EXECUTORS[0]);
    ends(&format!("{walk}println (h 5);"), Ok(&alone));
}

#[test]
fn functions_that_double_are_written_out_only_so_far() {
    // 2^18 calls run; without a limit, 2^40 would be inlined.
    let double: String =
        (1..40).map(|i| format!("fun f{i}(x:int):int => f{0} x + f{0} (x + 1);\n", i - 1)).collect();
    let program = format!("fun f0(x:int):int => x % 7;\n{double}println [ f14 (i :>> int) for i in ..[4] ];");
    let (.., expected, _, _) = run(&program, EXECUTORS[0]);
    ends(&program, Ok(&expected));
    let never = format!(
        "fun f0(x:int):int => x % 7;\n{double}\
         fun g(x:int):int => if x >= 0 then x else f39 x endif;\nprintln (sum [ g (i :>> int) for i in ..[5000] ]);"
    );
    ends(&never, Ok("12497500\n"));
    let nested = format!("{}(i :>> int){}", "f (".repeat(40), ")".repeat(40));
    ends(
        &format!(
            "fun g(x:int):int => x + 1;\nfun f(x:int):int => g x + g x;\nprintln (sum [ {nested} for i in ..[2] ]);"
        ),
        Ok("5497558138876\n"),
    );
}

#[test]
fn making_code_stops_when_somebody_interrupts() {
    // The flag is set when something is printed; the loop after it would be compiled.
    let body: String = (0..1_500).map(|i| format!("t = t * 1.00{} + 0.5; ", i % 10)).collect();
    let heavy = format!(
        "fun f(v:real):real {{ var t = v; {body}return t; }}\n\
         print \"x\"; println (sum [ f ((i :>> int) :> real) for i in ..[100000] ]);\n"
    );
    for program in [&heavy[..], &heavy.replace("sum [", "rev [")] {
        for executor in [(Executor::Compiled, 1), (Executor::Eager, 2)] {
            on_large_stack(|| {
                let mut session = Session::new().with_executor(executor.0, executor.1);
                let flag = session.interrupt_flag();
                let before = session.metrics();
                let outcome = session.evaluate("stop", program, Mode::Script, &mut |_| {
                    flag.store(true, Ordering::Relaxed);
                });
                assert_eq!(outcome.status, Status::Interrupted);
                assert_eq!((session.metrics() - before).runs, 0, "nothing was run");
                // An interrupted compilation is not cached as declined.
                flag.store(false, Ordering::Relaxed);
                let mut printed = String::new();
                let again = session.evaluate("again", program, Mode::Script, &mut |text| printed += text);
                assert_eq!(again.status, Status::Ok);
                assert!((session.metrics() - before).runs > 0, "{printed}");
            });
        }
    }
}

#[test]
fn a_round_that_fails_stops_rounds_without_end_on_other_threads() {
    // In order, the failure comes first; the second thread begins where nothing ends.
    let steps = "fun steps(start:int):int {\n  var v = start; var n = 0;\n  \
        while v != 1 do if v == -1 do n = 10 / (v + 1); done v = if v % 2 == 0 then v / 2 else v * 3 + 1 endif; n = n + 1; done\n  \
        return n;\n}\n\
        val x : int ^ 40000 = [ match i :>> int with | 19000 => -1 | 20000 => 0 | _ => 97 endmatch for i in ..[40000] ];\n";
    let by_loop = "var y = x; for i in ..[40000] perform &y.i <- steps (x.i); println (sum y);";
    for body in ["val y = [ steps v for v in x ]; println (sum y);", by_loop] {
        let program = format!("{steps}{body}");
        on_large_stack(|| {
            let mut session = Session::new().with_executor(Executor::Eager, 2);
            let flag = session.interrupt_flag();
            let outcome = interrupted_after(Duration::from_secs(60), &flag, || {
                session.evaluate("rounds", &program, Mode::Script, &mut |_| {})
            });
            let codes: Vec<&str> = outcome.diagnostics.iter().map(|d| d.code.as_str()).collect();
            assert_eq!((outcome.status, &codes[..]), (Status::Failed, &["E0501"][..]), "{body}");
            assert!(session.metrics().failed > 0, "{body}");
        });
    }
}
