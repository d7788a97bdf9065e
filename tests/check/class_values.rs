//! Instances applied to values at any depth: programs with their output.

use felis::session::{Mode, Session, Status, on_large_stack};
use std::time::{Duration, Instant};

/// Returns the output of a valid program.
fn printed(program: &str) -> String {
    on_large_stack(|| {
        let mut out = String::new();
        let outcome = Session::new().evaluate("program", program, Mode::Script, &mut |text| out += text);
        assert_eq!(outcome.status, Status::Ok, "{:?}", outcome.diagnostics);
        out
    })
}

const MOD: &str = "struct Mod { v : int; }
    instance Eq[Mod] { fun == (a, b) => a.v % 5 == b.v % 5; }
    instance Show[Mod] { fun show(m) => \"mod\"; }
    newtype W = Mod;
    newtype WW = W;
    val a = (Mod 3) :>> W;
    val b = (Mod 8) :>> W;";

#[test]
fn a_newtype_is_shown_and_compared_as_what_it_is_of() {
    let of = |rest: &str| printed(&format!("{MOD}\n{rest}"));
    assert_eq!(of("println (a, b, a == b, a != b);"), "(mod, mod, true, false)\n");
    assert_eq!(of("println (a :>> WW, a :>> WW == b :>> WW);"), "(mod, true)\n");
    assert_eq!(
        of("println ((a, b) == (b, a), [ a for _ in ..[2] ] == [ b for _ in ..[2] ]);"),
        "(true, true)\n"
    );
    // Arrays with one slot per element are compared by a special case.
    let ints = "newtype N = int; newtype NN = N; instance Eq[N] { fun == (_, _) => true; }
        val x = (1, 2) :>> NN ^ 2;
        val y = (3, 4) :>> NN ^ 2;
        println (x == y);";
    assert_eq!(printed(ints), "true\n");
}

#[test]
fn a_text_of_its_own_stands_in_brackets_behind_a_case() {
    let program = "newtype I = 3 \\* 2;
        instance Show[I] { fun show(_) => \"i\"; }
        variant V = A of I | B of 3 \\* 2;
        val i = 3 :>> I;
        println (A i, B (i :>> 3 \\* 2), (case 1 of 1 + I) i);";
    assert_eq!(printed(program), "(A (i), B (1\\, true), case 1 (i))\n");
}

#[test]
fn what_instances_require_is_looked_at_once() {
    // Each box requires two instances for the next one: 2^60 paths lead to the innermost.
    let mut boxes = "Box 1".to_string();
    (0..60).for_each(|_| boxes += " |> Box");
    let program = format!(
        "struct Box[T] {{ v : T; }}
         class C[T] {{ fun c : T -> int; }}
         class D[T] {{ fun d : T -> int; }}
         instance C[int] {{ fun c(_) => 1; }}
         instance D[int] {{ fun d(_) => 1; }}
         instance[A with C[A], D[A]] C[Box[A]] {{ fun c(_) => 1; }}
         instance[A with C[A], D[A]] D[Box[A]] {{ fun d(_) => 1; }}
         println (c ({boxes}));"
    );
    let begun = Instant::now();
    assert_eq!(printed(&program), "1\n");
    assert!(begun.elapsed() < Duration::from_secs(30));
}

#[test]
fn what_a_header_gives_is_bounded() {
    // Each class has the next one as a superclass at two types: 2^30 constraints in all.
    let class = |k: usize| {
        let next = k + 1;
        let on = if k == 30 { String::new() } else { format!(" with A{next}[T * int], A{next}[T * real]") };
        format!("class A{k}[T{on}] {{ fun m{k} : T -> int; }}\n")
    };
    let classes: String = (1..=30).map(class).collect();
    let begun = Instant::now();
    assert_eq!(printed(&format!("{classes} fun f[T with A1[T]](x:T):int => m1 x; println 1;")), "1\n");
    assert!(begun.elapsed() < Duration::from_secs(30));
}
