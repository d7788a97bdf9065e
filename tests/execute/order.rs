//! The order of numbers, codes as numbers and pairs of indices, against results computed here, in
//! every executor.

use felis::session::{Executor, Mode, Session, on_large_stack};
use num_bigint::{BigInt, BigUint};
use std::fmt::Write;

/// Returns the output of a program in every executor; any difference is a failure.
fn printed(program: &str) -> String {
    on_large_stack(|| {
        let run = |executor, threads| {
            let mut out = String::new();
            let mut session = Session::new().with_executor(executor, threads);
            let outcome = session.evaluate("program", program, Mode::Script, &mut |text| out += text);
            let texts = outcome.diagnostics.iter().map(|d| session.render(d, false));
            out.extend(texts.filter(|text| !text.starts_with("[W")));
            out
        };
        let reference = run(Executor::Reference, 1);
        for (executor, threads) in [(Executor::Eager, 1), (Executor::Compiled, 2), (Executor::Compiled, 3)] {
            assert_eq!(run(executor, threads), reference, "{executor:?} with {threads}:\n{program}");
        }
        reference
    })
}

/// Returns `FELIS_SEED` and prints it.
fn seed() -> u64 {
    std::env::var("FELIS_SEED").ok().and_then(|text| text.parse().ok()).unwrap_or(17)
}

/// Returns the position of a value in the order of `max`, or else of `min`, best first.
fn rank(x: f64, max: bool) -> (u8, i64) {
    let bits = x.to_bits() as i64;
    let ascending = if bits < 0 { i64::MIN.wrapping_sub(bits).wrapping_sub(1) } else { bits };
    match (x.is_nan(), max) {
        (true, _) => (0, 0),
        (_, true) => (1, -ascending),
        (_, false) => (1, ascending),
    }
}

fn text(x: f64) -> String {
    if x.is_nan() { "nan".to_string() } else { format!("{x:?}") }
}

/// Returns the first best place.
fn best(x: &[f64], max: bool) -> usize {
    (0..x.len()).min_by_key(|i| (rank(x[*i], max), *i)).unwrap_or(0)
}

#[test]
fn extremes_are_those_of_the_total_order() {
    let seed = seed();
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let special = [
        ("0.0", 0.0),
        ("-0.0", -0.0),
        ("0.0 / 0.0", f64::NAN),
        ("-(0.0 / 0.0)", f64::NAN),
        ("1.0 / 0.0", f64::INFINITY),
        ("-1.0 / 0.0", f64::NEG_INFINITY),
        ("4.5", 4.5),
    ];
    let lengths =
        [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 1000, 32767, 32768, 32769, 65537, 70001];
    for round in 0..36 {
        let n: usize = lengths[(round + random.usize(0..3)) % lengths.len()];
        // All zeros, or numbers around zero.
        let (span, shift) = [(1, 0), (7, 3), (1001, 500), (1001, 1000)][random.usize(0..4)];
        let mut x: Vec<f64> = (0..n).map(|i| (i as i64 * 7919 % span - shift) as f64 * -0.5).collect();
        let mut program = format!(
            "var x = [ (({shift} - (i :>> int) * 7919 % {span}) :> real) * 0.5 for i in ..[{n}] ];\n"
        );
        // The product with -0.5 changes the sign of zeros.
        x.iter_mut().filter(|x| **x == 0.0).for_each(|x| *x = 0.0);
        for _ in 0..random.usize(0..4) {
            let (at, (name, value)) = (random.usize(0..n), special[random.usize(0..special.len())]);
            x[at] = value;
            let _ = writeln!(program, "&x.({at} :>> {n}) <- {name};");
        }
        let single = random.f64() < 0.3;
        if single {
            program += "val y = [ (v :> f32) for v in x ];\n";
        }
        let name = if single { "y" } else { "x" };
        let mut wanted = String::new();
        for (word, max) in [("max", true), ("min", false)] {
            let at = best(&x, max);
            let _ = writeln!(program, "println ({word} {name}); println (({name} |> arg{word}) :>> int);");
            let _ = writeln!(wanted, "{}\n{at}", text(x[at]));
            // The first two separately.
            if n > 1 {
                let at = best(&x[..2], max);
                let _ = writeln!(program, "println ({word} ({name}.(0 :>> {n}), {name}.(1 :>> {n})));");
                let _ = writeln!(wanted, "{}", text(x[at]));
            }
        }
        assert_eq!(printed(&program), wanted, "seed {seed}:\n{program}");
    }
}

#[test]
fn every_order_of_three_gives_the_same_bits() {
    let values = ["0.0", "-0.0", "0.0 / 0.0", "-(0.0 / 0.0)", "2.0", "-2.0"];
    let mut program = String::from("fun bits(x:real):string => \"\" + x.str + (1.0 / x).str;\n");
    for (i, a) in values.iter().enumerate() {
        for (j, b) in values.iter().enumerate().skip(i) {
            for c in values.iter().skip(j) {
                let orders = [[a, b, c], [a, c, b], [b, a, c], [b, c, a], [c, a, b], [c, b, a]];
                let all: Vec<String> = orders.iter().map(|[a, b, c]| format!("({a}, {b}, {c})")).collect();
                for word in ["max", "min"] {
                    let all: Vec<String> = all.iter().map(|x| format!("bits ({word} {x})")).collect();
                    let _ = writeln!(
                        program,
                        "println (any ([ s != {} for s in ({}) ]));",
                        all[0],
                        all.join(", ")
                    );
                }
            }
        }
    }
    let out = printed(&program);
    assert!(out.lines().count() > 100 && out.lines().all(|line| line == "false"), "{out}");
}

#[test]
fn a_code_is_a_number_where_all_codes_are() {
    let most: [(&str, u64); 10] = [
        ("i8", 127),
        ("u8", 255),
        ("i16", 32767),
        ("u16", 65535),
        ("i32", 2147483647),
        ("u32", 4294967295),
        ("int", i64::MAX as u64),
        ("u64", u64::MAX),
        ("f32", 1 << 24),
        ("real", 1 << 53),
    ];
    for (ty, most) in most {
        let size = BigUint::from(most) + 1u32;
        let more = &size + 1u32;
        let point = if ty == "f32" || ty == "real" { ".0" } else { "" };
        let last = "fun last[N:COMPACTLINEAR]():N => ((-1) :> bigint).mod[N];\n";
        let of = format!("{last}fun of_code[N:COMPACTLINEAR](i:N):{ty} => (i :> {ty});\n");
        assert_eq!(printed(&format!("{last}println ((#last[{size}]) :> {ty});")), format!("{most}{point}\n"));
        assert_eq!(printed(&format!("{of}println (of_code (#last[{size}]));")), format!("{most}{point}\n"));
        let known = printed(&format!("{last}println ((#last[{more}]) :> {ty});"));
        assert!(known.contains("E0303"), "{ty}: {known}");
        let open = printed(&format!("{of}println (of_code (#last[{more}]));"));
        assert!(open.contains("E0520"), "{ty}: {open}");
        let none = printed(&format!("{of}println [ of_code i for i in ..[0] ];"));
        assert_eq!(none, "[]\n", "{ty}");
    }
}

#[test]
fn pairs_are_numbered_by_the_triangle_at_every_size() {
    let seed = seed();
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let mut sizes: Vec<BigUint> = (1u32..5).map(BigUint::from).collect();
    for bits in [4u64, 8, 16, 31, 32, 33, 53, 62, 63, 64, 70, 128] {
        let power = BigUint::from(1u32) << bits;
        sizes.extend([&power - 1u32, power.clone(), power + 1u32]);
    }
    for size in sizes {
        let last: BigUint = &size - 1u32;
        let mut numbers: Vec<BigUint> =
            (0..5).map(|_| BigUint::from(random.u128(..)) * random.u64(..) % &size).collect();
        numbers.extend([BigUint::default(), last.clone()]);
        let pairs: Vec<(&BigUint, &BigUint)> =
            numbers.iter().flat_map(|i| numbers.iter().map(move |j| (i, j))).collect();
        let count = pairs.len();
        let list = |of: &dyn Fn(&(&BigUint, &BigUint)) -> String| {
            pairs.iter().map(of).collect::<Vec<_>>().join(", ")
        };
        // Numbers that a kernel can read, if possible.
        let ty = if last <= BigUint::from(i64::MAX as u64) { "int" } else { "bigint" };
        let array = |of: String| format!("[ (v :> {ty}) for v in (({of}) :>> bigint ^ {count}) ]");
        let big = |n: &BigUint| format!("({n} :> bigint)");
        let program = format!(
            "val a = {};\nval b = {};\n\
             println (_strr [ ((lower_pair ((a.k :>> {size}), (b.k :>> {size}))) :>> bigint) % 1000003 for k in ..[{count}] ]);\n\
             println (_strr [ match below_pair ((a.k :>> {size}), (b.k :>> {size})) with | case 0 () => ((-1) :> bigint) \
             | case 1 p => (p :>> bigint) % 1000003 endmatch for k in ..[{count}] ]);\n\
             println (sum [ (((lower_pair ((a.k :>> {size}), (b.k :>> {size}))) :>> bigint) % 1000003) :> int for k in ..[{count}] ]);\n",
            array(list(&|p| big(p.0))),
            array(list(&|p| big(p.1))),
        );
        let (mut lower, mut below, mut sum) = (Vec::new(), Vec::new(), BigInt::default());
        for (i, j) in &pairs {
            let (row, column) = (*i.max(j), *i.min(j));
            let code: BigUint = (row * (row + 1u32) / 2u32 + column) % 1000003u32;
            sum += BigInt::from(code.clone());
            lower.push(code.to_string());
            below.push(match i == j {
                true => "-1".to_string(),
                false => ((row * (row - 1u32) / 2u32 + column) % 1000003u32).to_string(),
            });
        }
        let wanted = format!("({})\n({})\n{sum}\n", lower.join(","), below.join(","));
        assert_eq!(printed(&program), wanted, "seed {seed}:\n{program}");
    }
}
