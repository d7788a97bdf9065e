//! Kernels over shapes: one kernel serves every shape of a rank.

use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::sync::atomic::Ordering;

#[test]
fn a_hundred_shapes_are_compiled_once() {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Eager, 1);
        let mut line = |text: &str| {
            let mut out = String::new();
            let outcome = session.evaluate("line", text, Mode::Script, &mut |text| out += text);
            assert_eq!(outcome.status, Status::Ok, "{text}: {:?}", outcome.diagnostics);
            let compiled = session.statistics().map(|s| s.compiled.load(Ordering::Relaxed));
            (out, compiled.expect("compiled code"))
        };
        line(
            "fun energy[N:COMPACTLINEAR, M:COMPACTLINEAR](x:real ^ (N \\* M)):real ^ N =>
               [ sum [ x.(i \\, j) * x.(i \\, j) for j in ..[M] ] for i in ..[N] ];",
        );
        let call = |n: u64| format!("println ((energy[{n}, {}] (fill 0.5)).({} :>> {n}));", n + 100, n - 1);
        let (_, after_one) = line(&call(20));
        for n in 21..120 {
            let (out, compiled) = line(&call(n));
            assert_eq!(out, format!("{:?}\n", (n + 100) as f64 * 0.25));
            assert_eq!(compiled, after_one, "at {n}");
        }
        assert!(after_one > 0);
    });
}
