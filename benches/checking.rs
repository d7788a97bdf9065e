//! The time of checking by the length of a program: 1 000, 10 000 and 100 000 lines of functions
//! that call one another, with constraints, reshapes, matches and overloads.
//!
//! `cargo bench --bench checking`. The last column is the time for a line, relative to that of the
//! shortest program: for linear checking it stays near 1.
//!
//! The first table is of verdicts: the 400 pairs of the table of isomorphisms, and pairs made to be
//! hard, each beside the evaluation alone (`iso::fingerprint`), which was the whole decision before
//! verdicts were exact. A natural pair needs two evaluations and a different one needs one, which
//! makes most of the difference.

#[path = "../tests/types/iso_support/mod.rs"]
mod iso_support;

use felis::session::{Session, Status, on_large_stack};
use felis_calculus::iso::{fingerprint, verdict};
use felis_calculus::types::Type;
use iso_support::{ty, variable};
use std::fmt::Write;
use std::hint::black_box;
use std::time::Instant;

/// Returns a program of about this many lines.
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

/// Returns the microseconds of a piece of work: the minimum of five runs.
fn microseconds(work: impl Fn()) -> f64 {
    let once = || {
        let start = Instant::now();
        work();
        start.elapsed().as_secs_f64() * 1e6
    };
    (0..5).map(|_| once()).fold(f64::INFINITY, f64::min)
}

fn hard() -> Vec<(&'static str, Type, Type)> {
    let mut tower = variable("N");
    for _ in 0..300 {
        tower = Type::compact_power(Type::unit_sum(3u32), tower);
    }
    let over = |index: Type| Type::array(Type::int(), index);
    let wide = |shift: usize| {
        let part = |i: usize| match (i + shift) % 3 {
            0 => Type::int(),
            1 => Type::real(),
            _ => Type::array(Type::string(), variable("N")),
        };
        Type::product((0..6_000).map(part).collect())
    };
    let (mut left, mut right) = (Type::int(), Type::int());
    for i in 0..450u32 {
        let (n, m) = (Type::unit_sum(i % 7 + 2), variable("N"));
        let step = |ty: Type, index| Type::product(vec![Type::array(ty, index), Type::real()]);
        left = step(left, Type::compact_product(vec![n.clone(), m.clone()]));
        right = step(right, Type::compact_product(vec![m, n]));
    }
    let padded = Type::compact_product(vec![Type::unit(), tower.clone()]);
    vec![
        ("10^21 elements", ty("real ^ (1000000000000000000000 \\* 2)"), ty("real ^ 2000000000000000000000")),
        ("2^4096 elements", ty("int ^ (2\\^4096)"), ty("(int ^ (2\\^4095)) ^ 2")),
        ("2^(2^100) elements", ty("int ^ (2\\^(2\\^100))"), ty("(int ^ (2\\^(2\\^99))) ^ (2\\^(2\\^99))")),
        ("(N + 1)^10^10", ty("(N \\+ 1)\\^10000000000"), ty("(1 \\+ N)\\^10000000000")),
        ("a tower of 300 powers", over(tower), over(padded)),
        ("450 arrays of arrays", left, right),
        ("6 000 components", wide(0), wide(1)),
    ]
}

fn verdicts() {
    let table = include_str!("../tests/types/isomorphisms.tsv");
    let rows: Vec<(Type, Type)> = table
        .lines()
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|fields| (ty(fields[1]), ty(fields[2])))
        .collect();
    println!("{:<24} {:>12} {:>12} {:>8}", "verdicts, µs", "evaluation", "exact", "ratio");
    let line = |name: &str, pairs: &[(Type, Type)]| {
        let evaluated = microseconds(|| {
            for (a, b) in pairs {
                black_box(fingerprint::same_slots(a, b) || fingerprint::same_count(a, b));
            }
        });
        let exact = microseconds(|| {
            for (a, b) in pairs {
                black_box(verdict(a, b));
            }
        });
        println!("{name:<24} {evaluated:>12.0} {exact:>12.0} {:>8.2}", exact / evaluated);
    };
    line("400 pairs of the table", &rows);
    for (name, a, b) in hard() {
        line(name, &[(a, b)]);
    }
    println!();
}

fn main() {
    on_large_stack(verdicts);
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
