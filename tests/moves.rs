//! Last uses move: how much is copied, and that nobody sees a difference. A file of its own: what is copied is counted for
//! the process.

use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// One test at a time.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

const EXECUTORS: [Executor; 3] = [Executor::Reference, Executor::Compiled, Executor::Eager];

/// What a session prints for a text, and the slots that were copied meanwhile.
fn run(session: &mut Session, text: &str) -> (String, u64) {
    let mut printed = String::new();
    let before = session.work();
    let outcome = session.evaluate("test", text, Mode::Script, &mut |s| printed.push_str(s));
    let errors: String = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(outcome.status, Status::Ok, "{text}\n{errors}");
    (printed.trim_end().to_string(), (session.work() - before).copied)
}

fn fails(session: &mut Session, text: &str) {
    assert_eq!(session.evaluate("test", text, Mode::Script, &mut |_| ()).status, Status::Failed, "{text}");
}

/// A stack of elements of a type in an array of fixed size, and functions that take it and give it back.
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
fun spread(s:Stack, v:{element}):Stack => Stack (...s, items = put (s.items, s.count, v), count = s.count + 1);
fun empty():Stack => Stack (0, [ {zero} for i in ..[{room}] ]);
"
    )
}

/// Elements of a type, one that is there first and one that is pushed.
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
                        // A bounded number of whole copies, and what each push stores.
                        let bound = few + 200_000;
                        assert!(many <= bound, "{executor:?} {element} {push} {inside}: {few}, then {many}");
                    }
                }
            }
        }
    });
}
