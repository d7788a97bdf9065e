//! How long checking takes, by the length of a program: 1 000, 10 000 and 100 000 lines of functions
//! that call one another, with constraints, reshapes, matches and overloads.
//!
//! `cargo bench --bench checking`. The last column is the time for a line, relative to the shortest
//! program's: where checking is linear it stays near 1.

use felis::session::{Session, Status, on_large_stack};
use std::fmt::Write;
use std::time::Instant;

/// A program of about this many lines.
fn program(lines: usize) -> String {
    let mut text = String::from(
        "struct Money { cents:int; }\n\
         instance Add[Money] { fun + (a, b) => Money (a.cents + b.cents); fun zero() => Money 0; }\n",
    );
    let groups = lines / 10;
    for i in 0..groups {
        let before = if i == 0 { "x".to_string() } else { format!("scaled{} (x, k)", i - 1) };
        let _ = write!(
            text,
            "fun scaled{i}[N:COMPACTLINEAR](x:int ^ N, k:int):int ^ N =>\n  \
               if k < {i} then {before} else\n    [ x.j * k for j in ..[N] ] endif;\n\
             fun total{i}[T, N:COMPACTLINEAR, M:COMPACTLINEAR with Add[T]](x:T ^ (N \\* M)):T ^ N =>\n  \
               [ fold (fun (a:T, b:T) => a + b) (zero[T] ()) r for r in rows x ];\n\
             fun step{i}(a:real, b:real):real => a * b + {i}.5;\n\
             fun step{i}(a:int, b:int):int => a * b + {i};\n\
             fun pick{i}(v:1 + real):real =>\n  match v with | case 0 () => step{i} (1.0, 2.0) | case 1 x => x endmatch;\n\
             fun paid{i}(x:Money ^ 6):Money ^ 2 => total{i} (x :>> Money ^ (2 \\* 3));\n",
        );
    }
    text
}

fn main() {
    println!("{:>8} {:>10} {:>12} {:>10}", "lines", "seconds", "µs a line", "ratio");
    let mut first = None;
    for lines in [1_000, 10_000, 100_000] {
        let text = program(lines);
        let lines = text.lines().count();
        let mut best = f64::INFINITY;
        for _ in 0..if lines < 50_000 { 5 } else { 2 } {
            best = best.min(on_large_stack(|| {
                let mut session = Session::new();
                let start = Instant::now();
                let outcome = session.check("program", &text);
                assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.diagnostics.first());
                start.elapsed().as_secs_f64()
            }));
        }
        let each = best / lines as f64;
        let ratio = each / *first.get_or_insert(each);
        println!("{lines:>8} {best:>10.3} {:>12.1} {ratio:>10.2}", each * 1e6);
    }
}
