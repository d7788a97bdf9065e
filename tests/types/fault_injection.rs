//! The checks behind a verdict: programs accepted by a wrong verdict, and the checks at the entry
//! of values into compiled code.
//!
//! The decision procedure is made to call every two types natural
//! ([`felis_calculus::iso::with_forced_natural`]). Then the checker accepts every false law of sizes. Each
//! program must end in E0599 if its slots differ at the sizes of its call, in every executor;
//! otherwise it must run as usual. `FELIS_RANDOM=N` tests more programs, from `FELIS_SEED`.

use crate::iso_support::naive::{self, Slot};
use crate::iso_support::random::{Reach, any_type, rewrite};
use crate::iso_support::{ty, variable};
use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use felis_calculus::iso::{Verdict, verdict, with_forced_natural};
use felis_calculus::types::{Type, TypeKind};
use felis_runtime::layout::Layouts;
use proptest::prelude::*;

const EXECUTORS: [(Executor, usize); 3] =
    [(Executor::Reference, 1), (Executor::Eager, 1), (Executor::Compiled, 2)];

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().and_then(|n| n.parse().ok()).unwrap_or(usual)
}

/// The outcome of a program.
#[derive(Clone, Debug, PartialEq)]
struct RunOutcome {
    status: Status,
    printed: String,
    codes: Vec<&'static str>,
    text: String,
}

/// Returns the outcome of a program that is checked with forced verdicts, or without.
fn run_outcome(program: &str, (executor, threads): (Executor, usize), force_natural: bool) -> RunOutcome {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(executor, threads);
        let mut printed = String::new();
        let mut run = || session.evaluate("lie", program, Mode::Script, &mut |text| printed += text);
        let outcome = if force_natural { with_forced_natural(run) } else { run() };
        let errors: Vec<_> = outcome.diagnostics.iter().filter(|d| d.is_error()).collect();
        let codes = errors.iter().map(|d| d.code.as_str()).collect();
        let text = errors.iter().map(|d| session.render(d, false)).collect();
        RunOutcome { status: outcome.status, printed, codes, text }
    })
}

/// A generator of random programs with false laws.
struct FalseLaws {
    random: fastrand::Rng,
    /// The sizes of `N` and `M` at the call of a program.
    sizes: [u32; 2],
}

impl FalseLaws {
    fn compact(&mut self, depth: u32) -> String {
        match self.random.u32(0..if depth == 0 { 4 } else { 8 }) {
            0 => self.random.u32(0..4).to_string(),
            1 | 2 => "N".into(),
            3 => "M".into(),
            4 | 5 => format!("({} \\* {})", self.compact(depth - 1), self.compact(depth - 1)),
            6 => format!("({} \\+ {})", self.compact(depth - 1), self.compact(depth - 1)),
            _ => format!("({} \\^ {})", self.random.u32(0..3), self.compact(0)),
        }
    }

    fn data(&mut self, depth: u32) -> String {
        match self.random.u32(0..if depth == 0 { 6 } else { 11 }) {
            0 | 1 => "int".into(),
            2 => "real".into(),
            3 => "string".into(),
            4 => "bigint".into(),
            5 => self.compact(1),
            6 | 7 => format!("({} * {})", self.data(depth - 1), self.data(depth - 1)),
            8 => format!("({} + {})", self.data(depth - 1), self.data(depth - 1)),
            _ => format!("({} ^ {})", self.data(depth - 1), self.compact(1)),
        }
    }

    /// Returns the same type with a part replaced, mostly by one with other storage.
    fn other(&mut self, text: &str) -> String {
        let places: Vec<usize> = text.match_indices(['N', 'M', '1', '2', '3']).map(|(at, _)| at).collect();
        if places.is_empty() || self.random.u32(0..3) == 0 {
            return self.data(2);
        }
        let at = places[self.random.usize(..places.len())];
        let new = self.compact(1);
        format!("{}{new}{}", &text[..at], &text[at + 1..])
    }

    /// Returns a type at the sizes of the call.
    fn here(&self, text: &str) -> String {
        text.replace('N', &self.sizes[0].to_string()).replace('M', &self.sizes[1].to_string())
    }

    /// Returns an expression of a type, if it has values with a short text.
    fn value(&mut self, found: &Type, depth: u32) -> Option<String> {
        let n = self.random.u32(0..100);
        if found.is_compact() {
            let size = naive::size(found, self.sizes)?;
            let code = match u64::try_from(&size) {
                Ok(0) => return None,
                Ok(size) => self.random.u64(0..size),
                Err(_) => self.random.u64(..),
            };
            return Some(format!("({code} :>> {})", self.here(&found.to_string())));
        }
        Some(match found.kind() {
            TypeKind::Scalar(_) => match found.to_string().as_str() {
                "real" => format!("{n}.5"),
                "string" => format!("\"s{n}\""),
                "bigint" => format!("({n} :> bigint)"),
                _ if depth > 0 => format!("({n} + (i{} :>> int))", depth - 1),
                _ => n.to_string(),
            },
            TypeKind::Product(parts) => {
                let parts: Option<Vec<String>> = parts.iter().map(|part| self.value(part, depth)).collect();
                format!("({})", parts?.join(", "))
            }
            TypeKind::Array(element, index) => {
                let size = naive::size(index, self.sizes)?;
                let element = self.value(element, depth + 1)?;
                if size > 60u32.into() {
                    return None;
                }
                format!("[ {element} for i{depth} in ..[{}] ]", self.here(&index.to_string()))
            }
            TypeKind::Sum(cases) => {
                let case = self.random.usize(..cases.len());
                let argument = self.value(&cases[case], depth)?;
                let whole = self.here(&found.to_string());
                match cases[case].is_unit() {
                    true => format!("(case {case} of ({whole}))"),
                    false => format!("((case {case} of ({whole})) ({argument}))"),
                }
            }
            _ => return None,
        })
    }

    /// Returns a program that reads a value as another type, and true if the two have the same
    /// storage.
    fn program(&mut self) -> Option<(String, bool)> {
        self.sizes = [self.random.u32(0..6), self.random.u32(0..6)];
        let (from, to) = match self.random.u32(0..4) {
            0 => (self.compact(2), self.compact(2)),
            1 => (format!("int ^ {}", self.compact(2)), format!("int ^ {}", self.compact(2))),
            _ => {
                let from = self.data(2);
                let to = self.other(&from);
                (from, to)
            }
        };
        let (a, b) = (ty(&from), ty(&to));
        let (x, y) = (naive::slots(&a, self.sizes)?, naive::slots(&b, self.sizes)?);
        if (a.is_compact() && b.as_scalar().is_some()) || (b.is_compact() && a.as_scalar().is_some()) {
            // Conversions between codes and values use no verdict.
            return None;
        }
        let value = self.value(&a, 0)?;
        let [n, m] = self.sizes;
        let lie = "N:COMPACTLINEAR, M:COMPACTLINEAR";
        let looked = match self.random.u32(0..5) {
            0 => format!("println y._strr; val ys = [ lie[{n}, {m}] x for k in ..[20] ]; println ys._strr;"),
            1 if to.starts_with("int ^") => "println (sum [ 3 * v + 1 for v in y ]);".into(),
            2 if to.starts_with("int ^") => format!(
                "fun all[{lie}](x : {from}) : int => sum [ (x :>> ({to})).i for i in ..[{}] ]; \
                 println (all[{n}, {m}] x);",
                &to[6..]
            ),
            3 if to.starts_with("int ^") => format!(
                "fun set[{lie}](x : {from}) : {to} {{ var z = x :>> ({to}); \
                 for i in ..[{}] do &z.i <- z.i + (i :>> int); done return z; }} \
                 println (set[{n}, {m}] x)._strr;",
                &to[6..]
            ),
            _ if b.is_compact() => format!(
                "val table = [ 2 * (i :>> bigint) for i in ..[{}] ]; println table.y; \
                 println (y :>> bigint); println [ table.(lie[{n}, {m}] x) for k in ..[5] ]._strr;",
                self.here(&to)
            ),
            _ => "println y._strr;".into(),
        };
        let from_here = self.here(&from);
        let text = format!(
            "fun lie[{lie}](x : {from}) : {to} => x :>> ({to});\n\
             val x : {from_here} = {value};\nval y = lie[{n}, {m}] x;\n{looked}\n"
        );
        Some((text, x == y))
    }
}

#[test]
fn a_wrong_verdict_ends_before_an_element_is_touched() {
    let mut lies = FalseLaws { random: fastrand::Rng::with_seed(number("FELIS_SEED", 16)), sizes: [0, 0] };
    let wanted = number("FELIS_RANDOM", 150);
    let (mut wrong, mut right, mut tried) = (0, 0, 0);
    while wrong < wanted {
        tried += 1;
        assert!(tried < 100 * wanted, "programs are hard to make: {wrong} of {tried}");
        let Some((program, alike)) = lies.program() else { continue };
        if alike && right > wanted / 4 {
            continue;
        }
        let endings = EXECUTORS.map(|executor| run_outcome(&program, executor, true));
        let first = &endings[0];
        if first.status == Status::Rejected {
            // Rejected for another reason, such as a table that exceeds the memory.
            assert!(!first.codes.is_empty() && !first.codes.contains(&"E0999"), "{program}{}", first.text);
            continue;
        }
        for (end, executor) in endings.iter().zip(EXECUTORS) {
            assert_eq!(end, first, "{executor:?} and the evaluator differ on\n{program}");
            match alike {
                true => assert_eq!(end.status, Status::Ok, "{executor:?}:\n{program}{}", end.text),
                false => assert_eq!(end.codes, ["E0599"], "{executor:?}:\n{program}{}", end.text),
            }
        }
        *(if alike { &mut right } else { &mut wrong }) += 1;
    }
    assert!(right > 0, "programs that are right after all are tried, too");
}

#[test]
fn what_was_read_past_the_end_is_refused() {
    // A law of sizes that is false everywhere except at 1, an index above its size, and a value of
    // `void`.
    for program in [
        "fun more[N:COMPACTLINEAR](x : int ^ N) : int ^ (N \\* N) => x :>> int ^ (N \\* N); \
         val y = more[2000] #iota[2000]; val z = [ 2 * v for v in y ]; println z.(3999999 :>> 2000 \\* 2000);",
        "fun up[N:COMPACTLINEAR](i : N) : 0 \\+ N \\* N => i :>> 0 \\+ N \\* N; \
         val t = #iota[100]; println [ t.((up[10] (i :>> 10)) :>> 100) for i in ..[10] ]._strr;",
        "fun down[N:COMPACTLINEAR](i : N \\* N) : N => i :>> N; \
         val t = #iota[50]; println [ t.(down[50] i) for i in ..[50 \\* 50] ]._strr;",
        "fun conjure[N:COMPACTLINEAR](x : void ^ 0) : void ^ N => x :>> void ^ N; \
         val none : void ^ 0 = []; val q = (conjure[1] none) :>> void; \
         println (match q with | _ => \"a value of void\" endmatch);",
        "fun text[T, U](x : T) : U => x :>> U; println (text[int, string] 3 + \"\");",
        "fun text[T, U](x : T ^ 1000) : U ^ 1000 => x :>> U ^ 1000; \
         println (sum (text[real, int] [ 0.5 for i in ..[1000] ]));",
        "fun apply[T, U](f : T -> T) : U -> U => f :>> (U -> U); \
         println ((apply[int, string] (fun (x:int) => x + 1)) \"a\");",
        "struct S { a : int; b : string; } fun turn[T](x : T) : string * int => x :>> (string * int); \
         println (turn[S] (S (1, \"b\")));",
    ] {
        for executor in EXECUTORS {
            let end = run_outcome(program, executor, true);
            assert_eq!(end.codes, ["E0599"], "{executor:?}: {program}\n{}{}", end.printed, end.text);
            assert_eq!(end.printed, "", "{executor:?}: {program}");
            // Without the forced verdict the checker rejects the program.
            assert_eq!(run_outcome(program, executor, false).status, Status::Rejected, "{program}");
        }
    }
}

#[test]
fn codes_fit_or_fail_at_every_size() {
    let int = "fun f[N:COMPACTLINEAR](i : N) : int => i :>> int; ";
    let also = "fun f[N:COMPACTLINEAR](i : N) : int => i :> int; ";
    let array = "fun f[N:COMPACTLINEAR](i : N) : int => sum [ (if k :>> int == 7 then i :>> int else 1 endif) for k in ..[9] ]; ";
    let small = "fun f[N:COMPACTLINEAR](i : N) : u8 => i :> u8; ";
    let back = "fun f[N:COMPACTLINEAR](n : int) : bigint => (n :>> N) :>> bigint; ";
    for (program, codes, printed) in [
        (format!("{int}println (f (9223372036854775807 :>> 2 \\^ 63));"), &[][..], "9223372036854775807\n"),
        (format!("{int}println (f (5 :>> 2 \\^ 63 \\+ 1));"), &["E0520"], ""),
        (format!("{int}println (f (18446744073709551615 :>> 2 \\^ 64));"), &["E0520"], ""),
        (format!("{int}println (f (18446744073709551616 :>> 2 \\^ 65));"), &["E0520"], ""),
        (format!("{int}println (f (5 :>> 2 \\^ 300));"), &["E0520"], ""),
        (format!("{also}println (f (5 :>> 2 \\^ 63));"), &[], "5\n"),
        (format!("{also}println (f (5 :>> 2 \\^ 64));"), &["E0520"], ""),
        (format!("{array}println (f (5 :>> 12));"), &[], "13\n"),
        (format!("{array}println (f (5 :>> 2 \\^ 64));"), &["E0520"], ""),
        (format!("{small}println (f (255 :>> 2 \\^ 8));"), &[], "255\n"),
        (format!("{small}println (f (255 :>> 2 \\^ 70));"), &["E0520"], ""),
        (format!("{small}println (f (256 :>> 2 \\^ 70));"), &["E0520"], ""),
        (format!("{back}println (f[2 \\^ 64] 7);"), &[], "7\n"),
        (format!("{back}println (f[18446744073709551615] (0 - 2));"), &["E0502"], ""),
        (format!("{back}println (f[2 \\^ 63 \\+ 5] (0 - 9223372036854775807));"), &["E0502"], ""),
        (format!("{back}println (f[2 \\^ 63] (0 - 1));"), &["E0502"], ""),
        (
            format!("{back}println (sum [ f[2 \\^ 63 \\+ 5] ((k :>> int) - 4) for k in ..[9] ]);"),
            &["E0502"],
            "",
        ),
    ] {
        for executor in EXECUTORS {
            let end = run_outcome(&program, executor, false);
            assert_eq!(end.codes, codes, "{executor:?}: {program}\n{}", end.text);
            assert_eq!(end.printed, printed, "{executor:?}: {program}");
        }
    }
}

/// Returns a type with its variables replaced: sizes by numbers, others by `string`.
fn closed(ty: &Type, [n, m]: [u32; 2]) -> Type {
    let TypeKind::Var(of) = variable("T").kind().clone() else { panic!("a variable") };
    let mut found = [(of.id, Type::string())].into_iter().collect::<felis_base::hash::HashMap<u32, Type>>();
    for (name, size) in [("N", n), ("M", m)] {
        let TypeKind::Var(of) = variable(name).kind().clone() else { panic!("a variable") };
        found.insert(of.id, Type::unit_sum(size));
    }
    ty.substitute(&found)
}

/// Returns true if a type mentions a declared type, whose storage the test does not know.
fn declared(ty: &Type) -> bool {
    let mut found = matches!(ty.kind(), TypeKind::Nominal(..));
    ty.kind().for_each_child(&mut |child| found |= declared(child));
    found
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: number("PROPTEST_CASES", 1_000) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn stored_alike_is_the_same_slots(a in any_type(), by in prop::collection::vec(any::<u16>(), 0..6)) {
        let layouts = Layouts::default();
        for reach in [Reach::Natural, Reach::Isomorphic, Reach::Anything] {
            let b = rewrite(&a, &by, reach);
            if declared(&a) || declared(&b) {
                continue;
            }
            for sizes in [[0, 1], [1, 2], [2, 2], [3, 5]] {
                let (x, y) = (closed(&a, sizes), closed(&b, sizes));
                let slots: Option<(Vec<Slot>, Vec<Slot>)> = naive::slots(&x, sizes).zip(naive::slots(&y, sizes));
                let Some((p, q)) = slots else { continue };
                let alike = layouts.of(&x).stored_like(&layouts.of(&y));
                prop_assert_eq!(alike, p == q, "{} against {}", x, y);
                // A verdict that is natural for all sizes holds at each.
                prop_assert!(alike || verdict(&a, &b) > Verdict::Natural, "{} against {}", a, b);
            }
        }
    }
}
