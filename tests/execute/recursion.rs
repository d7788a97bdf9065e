//! Calls in compiled code: recursive functions, and procedures that set session variables, are
//! compiled; recursion ends where the evaluator ends, leaves room on every stack, and is stopped.

use crate::random_programs::{Generator, text};
use felis::session::{Executor, ExecutorSetup, Mode, Outcome, Session, Status, on_large_stack};
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

const FIB: &str = "fun fib(n:int):int => if n < 2 then n else fib (n - 1) + fib (n - 2) endif;";
const DEEP: &str = "fun deep(n:int):int => if n == 0 then 0 else 1 + deep (n - 1) endif;";

/// The output of a program, its outcome, and the first message.
fn run(session: &mut Session, text: &str) -> (String, Outcome, String) {
    let mut output = String::new();
    let outcome = session.evaluate("program", text, Mode::Script, &mut |part| output.push_str(part));
    let message = outcome.diagnostics.first().map(|d| session.render(d, false)).unwrap_or_default();
    (output, outcome, message)
}

/// A program, and what it prints.
const COMPILED: &[(&str, &str)] = &[
    ("println (fib 24);", "46368\n"),
    ("println (sum [ fib ((i :>> int) % 15) for i in ..[600] ]);", "39440\n"),
    ("var s = 0; for i in 0..<5000 do s += fib (i % 5); done println s;", "7000\n"),
    ("fun twice(n:int):int => fib n * 2; println (twice 24);", "92736\n"),
];

/// Programs whose loops call procedures that set session variables, and what they print.
const PROCEDURES: &[(&str, &str)] = &[
    ("var n = 0; proc add(i:int) { n += i % 3; } for i in 0..<9000 do add i; done println n;", "9000\n"),
    (
        "var s = 7; proc next():int { s = (s * 75 + 74) % 65537; return s; } var odd = 0;
        for i in 0..<9000 do val x = next (); if x % 2 == 1 do odd += 1; done done println (odd, s);",
        "(4467, 24719)\n",
    ),
    (
        "var n = 0; proc walk(d:int) { n += 1; if d > 0 do walk (d - 1); walk (d - 2); done }
        for i in 0..<300 do walk (i % 9); done println n;",
        "9084\n",
    ),
    (
        "fun f(n:int):int {
            var a : int ^ 50 = fill 0;
            var found = 0;
            proc swap(i:int) { &a.(i.mod[50]) += 1; }
            proc walk(d:int) { found += 1; swap d; if d > 0 do walk (d - 1); walk (d - 2); done }
            walk n;
            return found + sum a;
        }
        println (f 20);",
        "70842\n",
    ),
    (
        "var a : int ^ 100 = fill 0; proc put(i:100) { if a.i > 50 return; &a.i += 1; }
        proc both(i:100) { put i; put (i.around 3); }
        for i in 0..<9000 do both i.mod[100]; done println (sum a);",
        "5100\n",
    ),
];

/// A program is compiled with nothing left to the evaluator, and prints a text.
fn expect_compiled(program: &str, printed: &str) {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        let (output, _, message) = run(&mut session, program);
        assert_eq!((output.as_str(), message.as_str()), (printed, ""), "{program}");
        let statistics = session.statistics().expect("a compiler");
        let [lowered, declined, runs, failed] =
            [&statistics.lowered, &statistics.declined, &statistics.runs, &statistics.failed]
                .map(|count| count.load(Relaxed));
        assert!(lowered > 0 && runs > 0, "{program}: {lowered} parts, {runs} runs");
        assert_eq!((declined, failed), (0, 0), "{program}");
    });
}

/// Calls of a recursive function are compiled once it has been called often enough.
#[test]
fn calls_of_recursive_functions_are_compiled() {
    for (text, printed) in COMPILED {
        expect_compiled(&format!("{FIB}\n{text}"), printed);
    }
}

/// The session variables that a procedure sets are variables of the loop that calls it.
#[test]
fn calls_of_procedures_are_compiled() {
    for (text, printed) in PROCEDURES {
        expect_compiled(text, printed);
    }
}

/// A kernel that calls too deep fails, and the evaluator reports what it finds; it is not tried
/// again and again.
#[test]
fn recursion_without_end_is_reported() {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        run(&mut session, DEEP);
        for _ in 0..8 {
            let (_, outcome, message) = run(&mut session, "println (deep 1_000_000);");
            assert_eq!(outcome.status, Status::Failed);
            assert!(message.contains("100000 calls within one another are too many"), "{message}");
        }
        let failed = session.statistics().expect("a compiler").failed.load(Relaxed);
        assert!((1..=16).contains(&failed), "{failed} failed runs");
        assert_eq!(run(&mut session, "println (deep 50);").0, "50\n");
    });
}

/// On a thread with little stack compiled code ends before the stack does, and the session is as it
/// was.
#[test]
fn a_small_stack_is_not_left() {
    let small = std::thread::Builder::new().stack_size(2 << 20);
    let work = || {
        let mut session = Session::new().with_executor(Executor::Eager, 1);
        run(&mut session, DEEP);
        let (output, outcome, message) = run(&mut session, "println (deep 90_000);");
        assert_eq!((output.as_str(), outcome.status), ("", Status::Failed), "{message}");
        assert!(message.contains("calls within one another are too many"), "{message}");
        assert_eq!(run(&mut session, "println (deep 20);").0, "20\n");
        session.statistics().expect("a compiler").failed.load(Relaxed)
    };
    let failed = small.spawn(work).expect("a thread").join().expect("no overflow");
    assert!(failed > 0, "no kernel has failed");
}

/// Rounds of a parallel loop recurse on the stacks of the threads that run them.
#[test]
fn rounds_recurse_on_their_threads() {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Eager, 4);
        let program = format!("{DEEP}\nprintln (sum [ deep (50_000 + (i :>> int)) for i in ..[300] ]);");
        let (output, _, message) = run(&mut session, &program);
        assert_eq!((output.as_str(), message.as_str()), ("15044850\n", ""));
        assert_eq!(session.statistics().expect("a compiler").failed.load(Relaxed), 0);
    });
}

/// A recursion that would take for ever is stopped soon.
#[test]
fn long_recursion_is_stopped() {
    for (executor, text) in [
        (Executor::Eager, "println (fib 80);"),
        (Executor::Compiled, "println (fib 80);"),
        (Executor::Eager, "println [ fib (80 + (i :>> int)) for i in ..[50] ];"),
    ] {
        on_large_stack(|| {
            let mut session = Session::new().with_executor(executor, 2);
            run(&mut session, FIB);
            let flag = session.interrupt_flag();
            let stop = std::thread::spawn(move || {
                std::thread::sleep(Duration::from_millis(300));
                flag.store(true, Relaxed);
                Instant::now()
            });
            let (_, outcome, message) = run(&mut session, text);
            let ended = Instant::now();
            let late = ended.duration_since(stop.join().expect("the flag is set"));
            assert!(message.contains("interrupted"), "{text}: {:?}, {message}", outcome.status);
            assert!(late < Duration::from_millis(500), "{text}: {late:?}");
        });
    }
}

/// Random recursive functions give the same on each executor; most of them are compiled.
#[test]
fn random_recursive_functions_agree() {
    all_agree(&|seed| text(&[Generator::new(seed).recursive()]));
}

/// Random recursive procedures that change variables around them give the same on each executor; most
/// of them are compiled.
#[test]
fn random_recursive_procedures_agree() {
    all_agree(&|seed| text(&[Generator::new(seed).recursive_procedure()]));
}

/// The programs of some seeds give the same on each executor; most of them have compiled parts.
fn all_agree(program: &dyn Fn(u64) -> String) {
    const EXECUTORS: [ExecutorSetup; 3] = [
        ExecutorSetup::new(Executor::Reference, 1),
        ExecutorSetup::new(Executor::Eager, 1),
        ExecutorSetup::new(Executor::Compiled, 2),
    ];
    let number = |name: &str| std::env::var(name).ok().and_then(|seeds| seeds.parse::<u64>().ok());
    let (first, seeds) = (number("FELIS_RANDOM_SEED").unwrap_or(0), number("FELIS_RANDOM").unwrap_or(60));
    let (mut accepted, mut compiled) = (0, 0);
    for seed in first..first + seeds {
        let program = program(seed);
        on_large_stack(|| {
            let mut session = Session::new();
            let runs = session.evaluate_on_each("program", &program, &EXECUTORS);
            if runs[0].status == Status::Rejected {
                return;
            }
            accepted += 1;
            compiled += runs[1].statistics().map_or(0, |s| u64::from(s.lowered.load(Relaxed) > 0));
            let mut ends = runs.iter().map(|run| {
                let messages: Vec<String> =
                    run.diagnostics.iter().map(|d| session.render(d, false)).collect();
                (run.status, &run.output, messages)
            });
            let reference = ends.next().expect("the first executor");
            for (end, setup) in ends.zip(&EXECUTORS[1..]) {
                assert_eq!(end, reference, "seed {seed}, {setup:?}:\n{program}");
            }
        });
    }
    println!("{accepted} accepted, {compiled} with compiled parts");
    assert!(2 * accepted > seeds && 2 * compiled > accepted, "{accepted} accepted, {compiled} compiled");
}
