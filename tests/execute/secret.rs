//! Secret values: results against those of plain values, counted bytes and rounds, the independence
//! of what a party sees from what others have put in, and programs that are refused.

use super::random::Dice;
use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use felis_runtime::network::local::{connect, connect_seeded};
use felis_runtime::network::{Header, Length, Network, NetworkError, PartyId, Traffic};
use std::fmt::Write;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// The parties of all programs here.
const PARTY: &str = "party Party = alice | bob | carol;\n";

/// Runs a program of three parties; returns how it ended, and its output with its messages.
pub(super) fn run(text: &str) -> (Status, String) {
    run_after(PARTY, text)
}

/// Runs a program after a line that names its parties.
pub(super) fn run_after(parties: &str, text: &str) -> (Status, String) {
    let mut session = Session::new().with_executor(Executor::Compiled, 1);
    let mut output = String::new();
    let text = format!("{parties}{text}");
    let done = session.evaluate("program", &text, Mode::Script, &mut |text| output.push_str(text));
    done.diagnostics.iter().for_each(|message| output += &session.render(message, false));
    (done.status, output)
}

/// The lines that a program prints.
fn lines(text: &str) -> Vec<String> {
    let (status, output) = run(text);
    assert_eq!(status, Status::Ok, "{text}\n{output}");
    output.lines().map(str::to_string).collect()
}

/// Values as an array of the language.
fn array<T: std::fmt::Display>(values: &[T]) -> String {
    let all: Vec<String> = values.iter().map(|value| value.to_string()).collect();
    format!("[{}]", all.join(", "))
}

/// The numbers of a printed array.
fn numbers(line: &str) -> Vec<f64> {
    let inner = line.trim_matches(|c| "()[]".contains(c));
    inner.split(", ").map(|text| text.parse().unwrap_or_else(|_| panic!("{line} has no numbers"))).collect()
}

/// An integer of any size, the extremes and small ones more often.
fn integer(dice: &mut Dice) -> i64 {
    match dice.roll(6) {
        0 => [i64::MIN, i64::MAX, 0, -1, 1][dice.roll(5)],
        1 => dice.roll(9) as i64 - 4,
        _ => (dice.roll(usize::MAX) as i64).wrapping_add(dice.roll(2) as i64),
    }
}

/// `-9223372036854775808` is a literal that no integer holds before its sign is applied.
fn literal(n: i64) -> String {
    if n == i64::MIN { "(-9223372036854775807 - 1)".to_string() } else { format!("({n})") }
}

/// A number below a bound, with its sign.
fn real(dice: &mut Dice, bound: f64) -> f64 {
    (dice.roll(1 << 40) as f64 / (1u64 << 40) as f64 * 2.0 - 1.0) * bound
}

/// Shapes with a number of elements each.
const SHAPES: [(&str, usize); 8] = [
    ("1", 1),
    ("2", 2),
    ("3", 3),
    ("2 \\* 3", 6),
    ("7", 7),
    ("2 \\^ 3", 8),
    ("3 \\* 2 \\+ 5", 11),
    ("20", 20),
];

#[test]
fn integers_are_calculated_and_compared_exactly() {
    let mut dice = Dice::seeded();
    for _ in 0..6 {
        let (shape, n) = SHAPES[dice.roll(SHAPES.len())];
        let x: Vec<i64> = (0..n).map(|_| integer(&mut dice)).collect();
        let y: Vec<i64> = x.iter().map(|x| if dice.roll(4) == 0 { *x } else { integer(&mut dice) }).collect();
        let k = integer(&mut dice);
        let write = |values: &[i64]| {
            let all: Vec<String> = values.iter().map(|n| literal(*n)).collect();
            format!("([{}] :>> int ^ ({shape}))", all.join(", "))
        };
        let each = |f: &dyn Fn(i64, i64) -> i64| x.iter().zip(&y).map(|(x, y)| f(*x, *y)).collect::<Vec<_>>();
        let truth =
            |f: &dyn Fn(i64, i64) -> bool| x.iter().zip(&y).map(|(x, y)| f(*x, *y)).collect::<Vec<_>>();
        let mut program = format!(
            "val x = hide[Party] (at alice {{ {} }});\nval y = hide[Party] (at carol {{ {} }});\n\
             fun flat[T, I:COMPACTLINEAR](x : T ^ I) : string {{\n  var s = \"\";\n  for v in x do s = s + v._strr + \" \"; done\n  return s;\n}}\n",
            write(&x),
            write(&y)
        );
        let mut wanted: Vec<String> = Vec::new();
        let mut add = |expression: &str, values: String| {
            let expression = expression.replace("KK", &literal(k));
            let opened =
                if n == 1 { format!("[({expression}).reveal]") } else { format!("({expression}).reveal") };
            let _ = writeln!(program, "println (flat {opened});");
            wanted.push(values);
        };
        let ints = |values: Vec<i64>| values.iter().fold(String::new(), |s, v| s + &v.to_string() + " ");
        let bools = |values: Vec<bool>| values.iter().fold(String::new(), |s, v| s + &v.to_string() + " ");
        add("x + y", ints(each(&|a, b| a.wrapping_add(b))));
        add("x - y", ints(each(&|a, b| a.wrapping_sub(b))));
        add("x * y", ints(each(&|a, b| a.wrapping_mul(b))));
        add("x * KK", ints(each(&|a, _| a.wrapping_mul(k))));
        add("KK - x", ints(each(&|a, _| k.wrapping_sub(a))));
        add("x < y", bools(truth(&|a, b| a < b)));
        add("x <= y", bools(truth(&|a, b| a <= b)));
        add("x > y", bools(truth(&|a, b| a > b)));
        add("x >= y", bools(truth(&|a, b| a >= b)));
        add("x == y", bools(truth(&|a, b| a == b)));
        add("x != y", bools(truth(&|a, b| a != b)));
        add("maximum (x, y)", ints(each(&|a, b| a.max(b))));
        add("minimum (x, y)", ints(each(&|a, b| a.min(b))));
        add("select (x == y, x, y * x)", ints(each(&|a, b| if a == b { a } else { a.wrapping_mul(b) })));
        add("indicator (either (x < y, x == y))", ints(each(&|a, b| (a <= b) as i64)));
        add("indicator (differ (x < y, opposite (x < y)))", ints(each(&|_, _| 1)));
        let mut sorted = x.clone();
        sorted.sort_unstable();
        add("sort x", ints(sorted));
        let mut one = |expression: &str, value: i64| {
            let _ = writeln!(program, "println ({expression}).reveal;");
            wanted.push(value.to_string());
        };
        one("sum x", x.iter().fold(0, |s, v| s.wrapping_add(*v)));
        one("dot (x, y)", each(&|a, b| a.wrapping_mul(b)).iter().fold(0, |s, v| s.wrapping_add(*v)));
        one("largest x", *x.iter().max().expect("one element"));
        assert_eq!(lines(&program), wanted, "{program}");
    }
}

/// Enough elements for segments with pivots; equal ones; types that leave no room for an index, and
/// the extremes of `int`.
#[test]
fn sorts_are_exact_whatever_is_equal() {
    let mut dice = Dice::seeded();
    let n = 70;
    let mut x: Vec<i64> = (0..n).map(|_| if dice.roll(2) == 0 { integer(&mut dice) } else { 7 }).collect();
    let y: Vec<i64> = (0..n).map(|_| dice.roll(9) as i64 - 4).collect();
    let program = format!(
        "val x = hide[Party] (at alice {{ [{}] }});\nval y = at carol {{ [{}] }};\n\
         println (sort x).reveal;\n\
         println (sort (hide[Party, 4, 4] (at carol {{ [ v :> real for v in y ] }}))).reveal;\n\
         println (sort (hide[Party, 2, 58] (at carol {{ [ (v :> real) * 60000000000000000.0 for v in y ] }}))).reveal;\n",
        x.iter().map(|n| literal(*n)).collect::<Vec<_>>().join(", "),
        y.iter().map(|n| literal(*n)).collect::<Vec<_>>().join(", ")
    );
    let found = lines(&program);
    x.sort_unstable();
    let (mut small, mut large): (Vec<f64>, Vec<f64>) =
        y.iter().map(|v| (*v as f64, *v as f64 * 6e16)).unzip();
    small.sort_by(f64::total_cmp);
    large.sort_by(f64::total_cmp);
    let wanted: Vec<String> = x.iter().map(i64::to_string).collect();
    assert_eq!(found[0], format!("({})", wanted.join(", ")), "{program}");
    assert_eq!(numbers(&found[1]), small, "{program}");
    assert_eq!(numbers(&found[2]), large, "{program}");
}

/// The comparisons that a sort reveals are those of a random order. Were equal elements told apart
/// by where the shuffle puts them, the first pivots would always be the lowest, and a sort of 300
/// would have a hundred levels.
#[test]
fn a_sort_of_equal_elements_reveals_no_order_of_theirs() {
    for program in [
        "val r = sort (hide[Party] [ 5 for _ in ..[300] ]);\n",
        "val r = sort (hide[Party] [ i :>> int for i in ..[300] ]);\n",
        "val r = sort (hide[Party, 4, 4] [ 5.0 for _ in ..[300] ]);\n",
    ] {
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        let text = format!("{PARTY}{program}");
        let done = session.evaluate("program", &text, Mode::Script, &mut |_| ());
        assert_eq!(done.status, Status::Ok, "{text}");
        for (_, traffic) in session.traffic() {
            assert!((40..300).contains(&traffic.rounds), "{program}{} rounds", traffic.rounds);
        }
    }
    // No place alone decides how the elements are shuffled, and two shuffles differ.
    let found = lines(
        "val x = hide[Party] [ i :>> int for i in ..[200] ];\n\
         val (p, q) = ((shuffled x).reveal, (shuffled x).reveal);\n\
         println (sort p == (x.reveal), sort q == (x.reveal), p == q, p == (x.reveal));\n",
    );
    assert_eq!(found, ["(true, true, false, false)"]);
}

#[test]
fn matrices_tables_and_groups() {
    let mut dice = Dice::seeded();
    for _ in 0..3 {
        let (n, k, m) = (1 + dice.roll(4), 1 + dice.roll(5), 1 + dice.roll(4));
        let a: Vec<i64> = (0..n * k).map(|_| integer(&mut dice)).collect();
        let b: Vec<i64> = (0..k * m).map(|_| integer(&mut dice)).collect();
        let write = |values: &[i64]| array(&values.iter().map(|v| literal(*v)).collect::<Vec<_>>());
        let keys: Vec<i64> = (0..9).map(|_| dice.roll(6) as i64 - 1).collect();
        let values: Vec<i64> = (0..9).map(|_| integer(&mut dice)).collect();
        let program = format!(
            "val a = at alice {{ {} :>> int ^ ({n} \\* {k}) }};\nval b = at bob {{ {} :>> int ^ ({k} \\* {m}) }};\n\
             println (((matmul (hide[Party] a, hide[Party] b)).reveal) :>> int ^ {});\n\
             val keys = hide[Party] (at carol {{ {} }});\nval values = hide[Party] (at alice {{ {} }});\n\
             println (histogram[4] keys).reveal;\nprintln (group_sums[4] (keys, values)).reveal;\n\
             println (lookup (values, keys)).reveal;\n",
            write(&a),
            write(&b),
            n * m,
            write(&keys),
            write(&values)
        );
        let mut product = vec![0i64; n * m];
        for (at, out) in product.iter_mut().enumerate() {
            for l in 0..k {
                *out = out.wrapping_add(a[at / m * k + l].wrapping_mul(b[l * m + at % m]));
            }
        }
        let of = |g: i64| keys.iter().zip(&values).filter(move |(key, _)| **key == g);
        let counts: Vec<i64> = (0..4).map(|g| of(g).count() as i64).collect();
        let sums: Vec<i64> = (0..4).map(|g| of(g).fold(0i64, |s, (_, v)| s.wrapping_add(*v))).collect();
        let read: Vec<i64> = keys.iter().map(|key| values.get(*key as usize).copied().unwrap_or(0)).collect();
        let shown = |values: &[i64]| {
            let all: Vec<String> = values.iter().map(|v| v.to_string()).collect();
            if all.len() == 1 { format!("[{}]", all[0]) } else { format!("({})", all.join(", ")) }
        };
        assert_eq!(
            lines(&program),
            [shown(&product), shown(&counts), shown(&sums), shown(&read)],
            "{program}"
        );
    }
}

/// The bound of the error of a mean of numbers with so many bits, in ulp.
fn mean_bound(bits: i32, n: usize) -> f64 {
    let (mut sum_steps, mut product_steps) = (1, 1);
    let mut of_power = n.ilog2() as i32;
    while of_power > 61 - bits {
        of_power -= 61 - bits;
        sum_steps += 1;
    }
    let mut left = bits;
    while left >= 60 - left {
        left -= 60 - left;
        product_steps += 1;
    }
    3.0 + 2.0 * f64::from(sum_steps - 1 + product_steps - 1)
}

/// Means of numbers of all sizes that the type admits, and of more of them than a sum of 62 bits
/// holds.
#[test]
fn means_of_wide_numbers_are_within_the_stated_bound() {
    let mut dice = Dice::seeded();
    for _ in 0..8 {
        let bits = 30 + dice.roll(30) as i32;
        let f = 4 + dice.roll(15) as i32;
        let most = [4, 60, 3000][dice.roll(3)];
        let n = 1 + dice.roll(most);
        let limit = 2f64.powi(bits - f);
        let (a, b) = (1 + dice.roll(1 << 20), dice.roll(1 << 20));
        // Numbers of which the largest are near the limit; all have the sign of the first in half
        // of the runs.
        let sign = if dice.roll(2) == 0 { "1.0" } else { "(if i % 2 == 0 then 1.0 else -1.0 endif)" };
        let element = format!(
            "let v = (i * {a} + {b}) % 1048576 in {sign} * floor ((v :> real) / 1048576.0 * {limit:.1})"
        );
        let program = format!(
            "val plain = [ let i = k :>> int in {element} for k in ..[{n}] ];\n\
             val x = hide[Party, {f}, {}] (at alice {{ plain }});\n\
             println ((mean x).reveal - mean plain);",
            bits - f
        );
        let error = numbers(&lines(&program)[0])[0].abs() / 0.5f64.powi(f);
        // The plain sum has 53 bits of the larger numbers.
        let bound = mean_bound(bits, n) + 2f64.powi(bits - 50);
        assert!(error <= bound, "{program}\n{error} ulp, bound {bound}");
    }
}

/// Fixed-point results, and the bound that the library states.
#[test]
fn fixed_point_is_within_the_stated_bounds() {
    let mut dice = Dice::seeded();
    let ulp = |f: i32| 0.5f64.powi(f);
    let n = 12;
    for (f, m, l) in [(18, 4, 4), (12, 10, 8), (24, 4, 10), (16, 14, 10), (20, 16, 3)] {
        let bound = 2f64.powi(m);
        let draw = |dice: &mut Dice, bound: f64| -> Vec<f64> {
            // Multiples of an ulp, so that nothing is rounded on the way in.
            (0..n).map(|_| (real(dice, bound) / ulp(f)).trunc() * ulp(f)).collect()
        };
        let (x, y) = (draw(&mut dice, bound), draw(&mut dice, 4.0));
        let p: Vec<f64> = (0..n)
            .map(|_| {
                let size = dice.roll((l + m) as usize) as i32 - l;
                ((1.0 + real(&mut dice, 1.0).abs()) * 2f64.powi(size) / ulp(f)).round().max(1.0) * ulp(f)
            })
            .map(|v| v.max(2f64.powi(-l)).min(bound - ulp(f)))
            .collect();
        let mut program = format!(
            "val x = hide[Party, {f}, {m}] (at alice {{ {} }});\nval y = hide[Party, {f}, 2] (at bob {{ {} }});\n\
             val p = claim_pos[{l}, {m}] (hide[Party, {f}, {m}] (at carol {{ {} }}));\n",
            array(&x),
            array(&y),
            array(&p)
        );
        let mut checks: Vec<(String, Vec<f64>, Vec<f64>)> = Vec::new();
        let mut add = |expression: &str, values: Vec<f64>, bounds: Vec<f64>| {
            let _ = writeln!(program, "println ({expression}).reveal;");
            checks.push((expression.to_string(), values, bounds));
        };
        let each = |a: &[f64], b: &[f64], g: &dyn Fn(f64, f64) -> f64| -> Vec<f64> {
            a.iter().zip(b).map(|(a, b)| g(*a, *b)).collect()
        };
        add("x + y", each(&x, &y, &|a, b| a + b), vec![0.0; n]);
        add("x - y", each(&x, &y, &|a, b| a - b), vec![0.0; n]);
        add("maximum (x, y)", each(&x, &y, &f64::max), vec![0.0; n]);
        add("select (x < y, x, y)", each(&x, &y, &f64::min), vec![0.0; n]);
        add("times[3] (x, -5)", x.iter().map(|v| v * -5.0).collect(), vec![0.0; n]);
        if 2 * f + m <= 60 {
            add("x * y", each(&x, &y, &|a, b| a * b), vec![ulp(f); n]);
            add("scale[2] (x, 1.5)", x.iter().map(|v| v * 1.5).collect(), vec![ulp(f); n]);
            let bounds = x.iter().map(|v| v.abs() * ulp(61 - f - m) + ulp(f)).collect();
            add("scale[2] (x, 1.0 / 3.0)", x.iter().map(|v| v / 3.0).collect(), bounds);
        }
        add("clamp[1] x", x.iter().map(|v| v.clamp(-2.0 + ulp(f), 2.0 - ulp(f))).collect(), vec![0.0; n]);
        let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
        add("mean x", vec![mean(&x)], vec![mean_bound(f + m, n) * ulp(f)]);
        if f + m <= 29 {
            let squares = x.iter().map(|v| (v - mean(&x)).powi(2)).collect::<Vec<_>>();
            let error = (mean_bound(f + m, n) * ulp(f)).powi(2);
            let bound = (1.0 + mean_bound(f + 2 * m + 4, n)) * ulp(f) + error;
            add("variance x", vec![mean(&squares)], vec![bound]);
        }
        if f + m <= 34 && m + l <= 31 {
            let e = 2f64.powi(l - 25) + ulp(f);
            add("reciprocal p", p.iter().map(|v| 1.0 / v).collect(), vec![e; n]);
            if 2 * f + 2 + l < 60 {
                add("y / p", each(&y, &p, &|a, b| a / b), y.iter().map(|v| v.abs() * e + ulp(f)).collect());
            }
        }
        add(
            "sqrt p",
            p.iter().map(|v| v.sqrt()).collect(),
            vec![2f64.powf(m as f64 / 2.0 - 25.0) + ulp(f); n],
        );
        add("log p", p.iter().map(|v| v.ln()).collect(), vec![2f64.powi(-23) + ulp(f); n]);
        if m <= 4 && f <= 22 {
            let bounds = x.iter().map(|v| v.exp() * 2f64.powi(-25) + ulp(f)).collect();
            add("exp x", x.iter().map(|v| v.exp()).collect(), bounds);
        }
        if f + m <= 31 && m <= 13 {
            let sigmoid = |v: &f64| 1.0 / (1.0 + (-v).exp());
            add("sigmoid x", x.iter().map(sigmoid).collect(), vec![2f64.powi(-22) + ulp(f); n]);
        }
        let found = lines(&program);
        assert_eq!(found.len(), checks.len(), "{program}");
        for (line, (expression, values, bounds)) in found.iter().zip(&checks) {
            for ((found, wanted), bound) in numbers(line).iter().zip(values).zip(bounds) {
                let error = (found - wanted).abs();
                assert!(
                    error <= *bound,
                    "{expression} with {f} digits, below 2^{m}: {found}, not {wanted}\n{program}"
                );
            }
        }
    }
}

/// Types at the edge of what a function takes.
#[test]
fn functions_at_the_edge_of_their_types() {
    let found = lines(
        "val x = hide[Party, 31, 0] (at alice { (-0.75, 0.0, 0.5) });\nprintln (sigmoid x).reveal;\n\
         val n = hide[Party, 0, 20] (at alice { (1000.0, -7.0, 9.0) });\nprintln (scale[0] (n, 0.5)).reveal;\n",
    );
    for (found, x) in numbers(&found[0]).iter().zip([-0.75f64, 0.0, 0.5]) {
        let wanted = 1.0 / (1.0 + (-x).exp());
        assert!((found - wanted).abs() < 2f64.powi(-22) + 2f64.powi(-31), "{found}, not {wanted}");
    }
    for (found, wanted) in numbers(&found[1]).iter().zip([500.0, -3.5, 4.5]) {
        assert!((found - wanted).abs() < 1.0, "{found}, not {wanted}");
    }
}

/// Programs for which SPU silently gives wrong answers: right here, or refused.
#[test]
fn what_does_not_fit_is_refused() {
    let right = [
        ("val x = hide[Party, 8, 17] (at alice { (100000.0, 3.0) });\nprintln (x * x).reveal.0;", 1e10),
        (
            "val x = claim_pos[0, 20] (hide[Party, 18, 20] (at alice { (1000000.0, 3.0) }));\nprintln (sqrt x).reveal.0;",
            1e3,
        ),
        (
            "val x = claim_pos[0, 20] (hide[Party, 30, 20] (at alice { (1000000.0, 3.0) }));\n\
          println (reciprocal x).reveal.0;",
            1e-6,
        ),
        (
            "val x = hide[Party, 18, 10] (at alice { [ ((i :>> int) % 1000 + 1) :> real for i in ..[100000] ] });\n\
          println (variance x).reveal;",
            83333.25,
        ),
        (
            "val x = hide[Party, 18, 10] (at alice { [ ((i :>> int) % 1000 + 1) :> real for i in ..[10000] ] });\n\
          println (mean x).reveal;",
            500.5,
        ),
    ];
    for (program, wanted) in right {
        let found = numbers(&lines(program)[0])[0];
        assert!((found - wanted).abs() <= wanted * 1e-3, "{program}\n{found}");
    }
    let refused = [
        ("val x = hide[Party, 18, 17] (at alice { (100000.0, 3.0) });\nprintln (x * x).reveal;", "E0715"),
        ("val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nprintln (exp x).reveal;", "E0715"),
        ("val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nprintln (reciprocal x).reveal;", "E0301"),
        ("val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nprintln (x / x).reveal;", "E0403"),
        ("val x = hide[Party, 18, 16] (at alice { (20.0, 3.0) });\nprintln (sigmoid x).reveal;", "E0715"),
        ("val x = hide[Party, 18, 50] (at alice { (20.0, 3.0) });\nprintln (sum[10] x).reveal;", "E0715"),
        (
            "val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nval y : secret[Party, fxp[18, 4], 2] = x;",
            "E0301",
        ),
        (
            "val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nval y = x :>> secret[Party, fxp[18, 4], 2];",
            "E0302",
        ),
        (
            "val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nval y = x :>> secret[Party, int, 2];",
            "E0302",
        ),
        (
            "val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nval y = hide[Party, 16, 5] (at bob { (1.0, 2.0) });\nval z = x + y;",
            "E0403",
        ),
        (
            "val x = hide[Party] (at alice { (20, 3) });\nval y = hide[Party, 16, 5] (at bob { (1.0, 2.0) });\nval z = x * y;",
            "E0403",
        ),
        // Nothing is from 1 to below 1.
        ("val x = hide[Party, 18, 5] (at alice { (2.0, 3.0) });\nval y = clamp_pos[0, 0] x;", "E0715"),
        ("val x = hide[Party, 18, 5] (at alice { (2.0, 3.0) });\nval y = claim_pos[0, 0] x;", "E0715"),
        ("val x = hide[Party, 0, 5] (at alice { (2.0, 3.0) });\nval y = clamp_pos[3, 0] x;", "E0715"),
        // No type holds more than 62 bits, however it is reached.
        ("val x = hide[Party, 20, 4] (at alice { (1.5, -2.5) });\nval y = clamp[43] x;", "E0715"),
        ("val x = hide[Party, 20, 4] (at alice { (1.5, -2.5) });\nval y = claim[43] x;", "E0715"),
        ("val x = hide[Party, 20, 4] (at alice { (1.5, -2.5) });\nval y = claim_pos[0, 43] x;", "E0715"),
        ("val x = hide[Party, 20, 4] (at alice { (1.5, -2.5) });\nval y = clamp_pos[0, 43] x;", "E0715"),
        ("val x = hide[Party, 10, 0] (at alice { (0.5, 0.25) });\nval y = rescale[64] x;", "E0715"),
        ("val x = hide[Party, 20, 50] (at alice { (1.0, 2.0) });", "E0506"),
        // A number that is rounded up may reach the bound of the wider type.
        (
            "val x = hide[Party, 10, 3] (at alice { (7.999, 1.0) });\nval y : secret[Party, fxp[0, 3], 2] = rescale[0] x;",
            "E0301",
        ),
        // The smallest integer is its own absolute value.
        (
            "val x = hide[Party, 8, 10] (at alice { (1.0, 3.0) });\nval y = times[3] (x, -9223372036854775807 - 1);",
            "E0506",
        ),
        // Shares are for three places.
        ("val x = hide[{alice, bob}] (at alice { (5, 6) });", "E0515"),
        ("val x = hide[{alice, bob}] (at alice { (true, false) });", "E0515"),
        // The range of the data is checked where they are.
        ("val x = hide[Party, 18, 4] (at alice { (20.0, 3.0) });", "E0506"),
        ("val x = hide[Party, 18, 4] (at alice { (nan, 3.0) });\nprintln (x + 1.0).reveal;", "E0506"),
        ("val x = hide[Party, 18, 4] (at alice { (inf, 3.0) });", "E0506"),
        // Bytes whose sums do not wrap around are no secrets.
        ("val x = hide[Party] (at alice { (100i8, 1i8) });\nprintln (x + x).reveal;", "E1104"),
        ("val x = hide[Party, 18, 5] (at alice { (20.0, 3.0) });\nval y = claim[4] x;", "E0506"),
        ("val x = hide[Party, 18, 42] (at alice { fill[20] 1.0 });\nprintln (mean x).reveal;", "E0715"),
        ("val x = hide[Party, 18, 25] (at alice { fill[20] 1.0 });\nprintln (variance x).reveal;", "E0715"),
    ];
    for (program, code) in refused {
        let (status, shown) = run(program);
        assert!(status != Status::Ok && shown.contains(&format!("[{code}]")), "{program}\n{shown}");
    }
}

/// Nothing but `reveal` opens a secret.
#[test]
fn secrets_stay_closed() {
    for (line, code) in [
        ("println s;", "E"),
        ("println (s == s);", "E"),
        ("if s < s do println 1; done", "E"),
        ("val t = s.send[bob];", "E"),
        ("val t = at alice { s };", "E"),
        ("val t = s :>> (u64 ^ 2 ^ 2) @ Party;", "E0302"),
        (
            "val t = (at Party { (1u64, 2u64, 3u64, 4u64) :>> u64 ^ 2 ^ 2 }) :>> secret[Party, int, 2];",
            "E0302",
        ),
        ("val t = (s, s, s) :>> secret[Party, int, 2] ^ 3;", "E"),
        ("val t = s.0;", "E"),
        ("val t = [ s for i in ..[3] ];", "E"),
        ("val t : int ^ 2 = s;", "E0301"),
        ("println (1, 2).(s);", "E"),
        ("val t = s.reveal_all;", "E"),
    ] {
        let (status, shown) = run(&format!("val s = hide[Party] (at alice {{ (1, 2) }});\n{line}"));
        assert!(status != Status::Ok && shown.contains(&format!("[{code}")), "{line}\n{shown}");
    }
}

/// Bytes that each party sends for an element, and rounds, as the comments of the library state
/// them.
#[test]
fn costs_are_as_stated() {
    const N: usize = 300;
    let inputs = format!(
        "val a = hide[Party] [ i :>> int for i in ..[{N}] ];\nval b = hide[Party] [ (i :>> int) * 7 for i in ..[{N}] ];\n\
         val c = hide[Party] [ (i :>> int) % 2 == 0 for i in ..[{N}] ];\n\
         val x = hide[Party, 18, 4] [ ((i :>> int) % 100 - 50 :> real) / 7.0 for i in ..[{N}] ];\n\
         val y = hide[Party, 18, 4] [ ((i :>> int) % 97 - 50 :> real) / 7.0 for i in ..[{N}] ];\n"
    );
    let inputs = inputs
        + &format!(
            "val p = hide[Party, 20, 11] [ 1.5 for _ in ..[{N}] ];\n\
             val q = hide[Party, 20, 13] [ 1.5 for _ in ..[{N}] ];\n\
             val own = at bob {{ [ i :>> int for i in ..[{N}] ] }};\n"
        );
    let inputs = inputs.replace("- 50 :> real", "- 50) :> real").replace("((i :>> int)", "(((i :>> int)");
    let mut session = Session::new().with_executor(Executor::Compiled, 1);
    // Runs a text; the counters of each party so far.
    let mut traffic = |text: &str| -> Vec<Traffic> {
        let done = session.evaluate("program", text, Mode::Script, &mut |_| ());
        let messages: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
        assert_eq!(done.status, Status::Ok, "{text}{messages}");
        session.traffic().into_iter().map(|(_, traffic)| traffic).collect()
    };
    let mut before = traffic(&format!("{PARTY}{inputs}"));
    // Of shared bits as numbers, of a comparison of fixed-point numbers, of a choice, and of a
    // narrower type.
    let bits = |n: usize| (8.0 * n as f64) + 8.0 * (n * N / 3).div_ceil(64) as f64 / N as f64;
    let (less, choice) = (55.0 / 3.0, bits(1) + 8.0);
    let clamp = 2.0 * (less + choice);
    for (expression, bytes, rounds) in [
        ("a + b", 0.0, 0),
        ("a * b", 8.0, 1),
        ("3 * a", 0.0, 0),
        ("both (c, c)", 1.0, 1),
        ("indicator c", bits(1), 2),
        ("select (c, a, b)", choice, 3),
        ("a < b", 56.0, 8),
        ("a == b", 18.0, 7),
        ("maximum (a, b)", 56.0 + choice, 11),
        ("maximum (x, y)", less + choice, 10),
        ("hide[Party] own", 8.0, 1),
        ("hide[Party] (at bob { [ v < 3 for v in own ] })", 1.0, 1),
        ("a.reveal", 8.0 + 8.0 / N as f64, 1),
        ("c.reveal", 1.0 + 8.0 / N as f64, 1),
        ("x + y", 0.0, 0),
        ("x * y", 56.0 / 3.0, 2),
        ("x < y", less, 7),
        ("scale[2] (x, 0.5)", 40.0 / 3.0, 2),
        // Of 30, 31, 32 and 33 digits in all.
        ("reciprocal (clamp_pos[1, 10] p)", clamp + bits(6) + 260.0, 20 + 30),
        ("reciprocal (clamp_pos[1, 11] p)", clamp + bits(6) + 812.0 / 3.0, 20 + 31),
        ("reciprocal (clamp_pos[1, 12] q)", clamp + bits(6) + 812.0 / 3.0, 20 + 31),
        ("reciprocal (clamp_pos[1, 13] q)", clamp + bits(6) + 1088.0 / 3.0, 20 + 33),
        ("sqrt (clamp_pos[1, 11] p)", clamp + bits(6) + 1212.0 / 3.0, 20 + 42),
        ("sqrt (clamp_pos[1, 12] q)", clamp + bits(6) + 1212.0 / 3.0, 20 + 42),
        ("sqrt (clamp_pos[1, 13] q)", clamp + bits(6) + 1488.0 / 3.0, 20 + 44),
        ("log (clamp_pos[1, 11] p)", clamp + bits(6) + 852.0 / 3.0, 20 + 29),
        ("log (clamp_pos[1, 12] q)", clamp + bits(6) + 852.0 / 3.0, 20 + 29),
        ("log (clamp_pos[1, 13] q)", clamp + bits(6) + 1128.0 / 3.0, 20 + 31),
        ("clamp[2] x", clamp, 20),
        ("claim[4] x", 2.0 * less + bits(2) + 27.0 / N as f64, 17),
        ("exp x", bits(6) + 264.0, 27),
        ("sigmoid x", bits(7) + 1316.0 / 3.0, 40),
        ("mean x", 96.0 / N as f64, 4),
        ("dot[9] (x, y)", 64.0 / N as f64, 2),
    ] {
        let after = traffic(&format!("val r = {expression};\n"));
        assert_eq!((before.len(), after.len()), (3, 3), "parties of {expression}");
        for (before, after) in before.iter().zip(&after) {
            let sent = (after.bytes_sent - before.bytes_sent) as f64 / N as f64;
            assert!((sent - bytes).abs() < 0.01, "{expression}: {sent} bytes, not {bytes}");
            assert_eq!(after.rounds - before.rounds, rounds, "rounds of {expression}");
        }
        before = after;
    }
}

/// Comparisons by slices, at lengths around those that are filled up, and around the length from
/// which on there are slices: values, and the bytes of a length at which nothing is filled up.
#[test]
fn comparisons_of_large_arrays_are_exact() {
    let mut dice = Dice::seeded();
    let run = |n: usize, place: usize| {
        let program = format!(
            "{PARTY}fun mixed(n : int) : int => bxor (n, shr (n, 29)) * 6364136223846793005;\n\
             fun at_edge(n : int) : int => if n % 3 == 0 then mixed n elif n % 3 == 1 then shl (1, 63) + n % 5 else n % 7 - 3 endif;\n\
             fun left(n : int) : int => at_edge (mixed (n + {place}));\n\
             fun right(n : int) : int => if n % 2 == 0 then left n + n % 5 - 2 else left (n * n + 1) endif;\n\
             val x = hide[Party] (at alice {{ [ left (i :>> int) for i in ..[{n}] ] }});\n\
             val y = hide[Party] (at bob {{ [ right (i :>> int) for i in ..[{n}] ] }});\n\
             val less = (x < y).reveal;\n\
             println (sum [ if less.i == (left (i :>> int) < right (i :>> int)) then 0 else 1 endif for i in ..[{n}] ]);\n\
             println (sum [ if less.i then 1 else 0 endif for i in ..[{n}] ]);\n"
        );
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        let mut output = String::new();
        let done = session.evaluate("program", &program, Mode::Script, &mut |text| output.push_str(text));
        assert_eq!(done.status, Status::Ok, "{program}{output}");
        let lines: Vec<usize> = output.lines().map(|line| line.parse().expect("a number")).collect();
        assert_eq!(lines[0], 0, "{program}");
        assert!(lines[1] > n / 8 && lines[1] < n - n / 8, "{} of {n} are less", lines[1]);
        session.traffic().into_iter().map(|(_, traffic)| traffic.bytes_sent as usize).collect::<Vec<_>>()
    };
    for n in [6143, 6144, 6145, 6335, 6337] {
        run(n, dice.roll(1 << 40));
    }
    // What is hidden and revealed apart.
    const N: usize = 6336;
    assert_eq!(run(N, dice.roll(1 << 40)), [(3 * 283 + 3) * N / 24 + 17 * N + 8; 3]);
}

/// A network that keeps what its party sees: the data it receives, and the random words it draws.
struct Observed {
    network: Arc<dyn Network>,
    seen: Mutex<Vec<Vec<u8>>>,
    /// True if its party changes a bit of each long message that it sends.
    lies: bool,
}

impl Network for Observed {
    fn me(&self) -> PartyId {
        self.network.me()
    }

    fn parties(&self) -> usize {
        self.network.parties()
    }

    fn begin(&self, epoch: u64) {
        self.network.begin(epoch);
    }

    fn send(&self, to: PartyId, header: &Header, mut data: Vec<u8>) -> Result<(), NetworkError> {
        if self.lies && data.len() > 8 {
            data[3] ^= 4;
        }
        self.network.send(to, header, data)
    }

    fn receive(
        &self,
        from: PartyId,
        header: &Header,
        length: Length,
        interrupt: &AtomicBool,
    ) -> Result<Vec<u8>, NetworkError> {
        let data = self.network.receive(from, header, length, interrupt)?;
        self.seen.lock().expect("no panic before").push(data.clone());
        Ok(data)
    }

    fn random_words(&self, with: PartyId, words: &mut [u64]) {
        self.network.random_words(with, words);
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.seen.lock().expect("no panic before").push(bytes);
    }

    fn stop(&self, after: Option<usize>) {
        self.network.stop(after);
    }

    fn finish(&self, interrupt: &AtomicBool) -> Result<(), NetworkError> {
        self.network.finish(interrupt)
    }

    fn traffic(&self) -> Traffic {
        self.network.traffic()
    }
}

/// The data that each party of a program sees.
fn views(text: &str, seed: u64) -> Vec<Vec<Vec<u8>>> {
    let networks = if seed == 0 { connect(3) } else { connect_seeded(3, seed) };
    let text = format!("{PARTY}{text}");
    std::thread::scope(|scope| {
        let run = |network: Arc<dyn Network>| {
            let text = text.clone();
            scope.spawn(move || {
                on_large_stack(move || {
                    let observed = Arc::new(Observed { network, seen: Mutex::default(), lies: false });
                    let mut session = Session::new().with_executor(Executor::Compiled, 1);
                    session.join_parties(observed.clone());
                    let done = session.evaluate("program", &text, Mode::Script, &mut |_| ());
                    let messages: String =
                        done.diagnostics.iter().map(|d| session.render(d, false)).collect();
                    assert_eq!(done.status, Status::Ok, "{messages}");
                    std::mem::take(&mut *observed.seen.lock().expect("no panic before"))
                })
            })
        };
        let threads: Vec<_> = networks.into_iter().map(run).collect();
        threads.into_iter().map(|thread| thread.join().expect("a view")).collect()
    })
}

/// A share that is revealed is compared with what the other party that has it says of it.
#[test]
fn a_false_share_that_is_revealed_is_found() {
    for liar in 0..3 {
        let text = format!("{PARTY}val s = hide[Party] [ i :>> int for i in ..[9] ];\nval r = s.reveal;\n");
        let shown: Vec<String> = std::thread::scope(|scope| {
            let run = |(party, network): (usize, Arc<dyn Network>)| {
                let text = text.clone();
                scope.spawn(move || {
                    on_large_stack(move || {
                        let observed = Observed { network, seen: Mutex::default(), lies: party == liar };
                        let mut session = Session::new().with_executor(Executor::Compiled, 1);
                        session.join_parties(Arc::new(observed));
                        let done = session.evaluate("program", &text, Mode::Script, &mut |_| ());
                        assert_ne!(done.status, Status::Ok);
                        done.diagnostics.iter().map(|d| session.render(d, false)).collect::<String>()
                    })
                })
            };
            let threads: Vec<_> = connect(3).into_iter().enumerate().map(run).collect();
            threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
        });
        // The one before the liar gets its second word.
        let found = &shown[(liar + 2) % 3];
        assert!(found.contains("[E0534]"), "{liar}: {shown:?}");
    }
}

/// The chi-square statistic of bytes against the uniform distribution on the values that the bits
/// of `mask` give, divided by its degrees of freedom.
fn chi_square(bytes: &[u8], mask: u8) -> f64 {
    let (mut counts, total) = ([0u64; 256], bytes.len());
    let mut at = 0;
    // Without an iterator, whose calls take most of the time where nothing is optimized.
    while at < total {
        counts[bytes[at] as usize] += 1;
        at += 1;
    }
    let values = 1u64 << mask.count_ones();
    let expected = total as f64 / values as f64;
    let in_mask = |value: usize| value as u8 & !mask == 0;
    let sum: f64 =
        (0..256).filter(|v| in_mask(*v)).map(|v| (counts[v] as f64 - expected).powi(2) / expected).sum();
    sum / (values - 1) as f64
}

/// The bytes that an operation on eight of them at once gives for two messages of one length.
fn by_words(first: &[u8], second: &[u8], operation: impl Fn(u64, u64) -> u64) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(first.len());
    for (a, b) in first.chunks(8).zip(second.chunks(8)) {
        let word = |part: &[u8]| {
            let mut word = [0; 8];
            word[..part.len()].copy_from_slice(part);
            u64::from_le_bytes(word)
        };
        bytes.extend_from_slice(&operation(word(a), word(b)).to_le_bytes()[..a.len()]);
    }
    bytes
}

/// The differences of eight bytes each, modulo 256: the highest bit of a byte is left out of the
/// subtraction, so that none borrows from the next (Lamport, 1975).
fn wrapping_sub_bytes(a: u64, b: u64) -> u64 {
    const HIGH: u64 = 0x8080_8080_8080_8080;
    ((a | HIGH) - (b & !HIGH)) ^ ((a ^ !b) & HIGH)
}

#[test]
fn bytes_are_subtracted_one_by_one() {
    for (a, b) in [(0u8, 0u8), (0, 1), (1, 0), (127, 128), (128, 127), (255, 255), (0, 255), (200, 100)] {
        let bytes = |byte: u8, other: u8| u64::from_le_bytes([byte, other, byte, byte, other, byte, 0, 255]);
        let expected = [
            a.wrapping_sub(b),
            b.wrapping_sub(a),
            a.wrapping_sub(b),
            a.wrapping_sub(b),
            b.wrapping_sub(a),
            a.wrapping_sub(b),
            0,
            0,
        ];
        assert_eq!(wrapping_sub_bytes(bytes(a, b), bytes(b, a)).to_le_bytes(), expected, "{a} {b}");
    }
}

/// A bound that a uniform sample exceeds with a probability below 1e-9 (Wilson and Hilferty, 1931).
fn chi_square_bound(mask: u8) -> f64 {
    let k = f64::from((1u32 << mask.count_ones()) - 1);
    (1.0 - 2.0 / (9.0 * k) + 6.3 * (2.0 / (9.0 * k)).sqrt()).powi(3)
}

/// The messages of each party and the words it draws are uniform, each alone and any two of one
/// length together, whatever the others have put in: all elements equal, or random ones.
#[test]
fn what_a_party_sees_is_independent_of_the_inputs_of_others() {
    let computations = [
        (4000, "val r = x * y;"),
        (4000, "val r = x < y;"),
        // Large enough that all messages of the circuit on slices are looked at.
        (28_800, "val r = x < y;"),
        (4000, "val r = x == y;"),
        (4000, "val r = indicator (opposite (x == y));"),
        (4000, "val f = (hide[Party, 16, 8] (at bob { [ v :> real for v in small ] }));\nval r = f * f;"),
        (
            4000,
            "val f = (hide[Party, 16, 8] (at bob { [ v :> real for v in small ] }));\nval r = rescale[3] f;",
        ),
        (4000, "val r = shuffled x;"),
        (
            4000,
            "val r = matmul (x :>> secret[Party, int, 2 \\* 2000], y :>> secret[Party, int, 2000 \\* 2]);",
        ),
        (4000, "val u = hide_with_dealer[{alice, bob}, carol] small;\nval r = u * u;"),
    ];
    for input in ["7", "(i :>> int) * 6364136223846793005 + 1442695040888963407"] {
        for (n, computation) in computations {
            let text = format!(
                "val small = at bob {{ [ ({input}).mod[100] :>> int for i in ..[{n}] ] }};\n\
                 val x = hide[Party] (at bob {{ [ {input} for i in ..[{n}] ] }});\n\
                 val y = hide[Party] (at carol {{ [ 3 * ({input}) for i in ..[{n}] ] }});\n{computation}\n"
            );
            for (party, view) in views(&text, 0).into_iter().enumerate() {
                let view: Vec<Vec<u8>> = view.into_iter().filter(|message| message.len() >= 1000).collect();
                let masks: Vec<u8> =
                    view.iter().map(|m| m.iter().fold(0, |mask, byte| mask | byte)).collect();
                let check = |bytes: &[u8], mask: u8, what: &str| {
                    let found = chi_square(bytes, mask);
                    assert!(found < chi_square_bound(mask), "{what} of party {party}: {found}\n{text}");
                };
                for (at, message) in view.iter().enumerate() {
                    check(message, masks[at], "a message");
                    for (other, second) in view.iter().enumerate().take(at) {
                        if message.len() != second.len() || masks[at] != masks[other] {
                            continue;
                        }
                        check(&by_words(message, second, |a, b| a ^ b), masks[at], "two messages");
                        if masks[at] == 255 {
                            check(&by_words(message, second, wrapping_sub_bytes), 255, "two messages");
                        }
                    }
                }
            }
        }
    }
}

/// Shares of polynomials are uniform in the field, whatever is shared: of the seven bytes that all
/// residues modulo 2^61 - 1 fill.
#[test]
fn values_of_random_polynomials_are_uniform() {
    for input in ["7", "(i :>> int) * 6364136223846793005"] {
        let text = format!(
            "val x = hide_with_threshold[Party, 1] (at bob {{ [ ({input}).mod[prime_field] for i in ..[4000] ] }});\n\
             val y = x * x;\n"
        );
        for (party, view) in views(&text, 0).into_iter().enumerate() {
            let view: Vec<Vec<u8>> = view.into_iter().filter(|message| message.len() == 32_000).collect();
            assert!(view.len() >= 2, "party {party} has seen {} messages", view.len());
            for message in view {
                let bytes: Vec<u8> = message.chunks_exact(8).flat_map(|word| word[..7].to_vec()).collect();
                let found = chi_square(&bytes, 255);
                assert!(found < chi_square_bound(255), "party {party}: {found}\n{text}");
            }
        }
    }
}

/// Each function of secrets can be read from the library alone: whatever a program of its own names
/// so still works.
#[test]
fn each_name_of_the_library_can_be_a_programs_own() {
    for file in [
        "replicated",
        "shared_bits",
        "shared_signs",
        "truncation",
        "secret",
        "fixed_point",
        "fixed_functions",
        "secret_order",
        "shamir",
        "additive",
        "private_join",
    ] {
        let path = format!("{}/stdlib/{file}.flx", env!("CARGO_MANIFEST_DIR"));
        let text = std::fs::read_to_string(path).expect("a file of the library");
        let heads =
            text.lines().filter_map(|line| line.strip_prefix("joint ").unwrap_or(line).strip_prefix("fun "));
        let mut names: Vec<&str> = heads.filter_map(|head| head.split(['[', '(', ' ']).next()).collect();
        names.retain(|name| !name.is_empty() && !["sum", "log", "exp", "sqrt", "hide"].contains(name));
        names.sort_unstable();
        names.dedup();
        assert!(names.len() > 1, "{file}");
        for name in names.into_iter().filter(|name| name.starts_with(|c: char| c.is_alphabetic())) {
            let program =
                format!("fun {name}(x:string):string => x + \"!\";\nprintln ({name} \"{file}\");\n");
            let mut session = Session::new();
            let mut output = String::new();
            let done = session.evaluate("program", &program, Mode::Script, &mut |text| output.push_str(text));
            done.diagnostics.iter().for_each(|message| output += &session.render(message, false));
            assert_eq!((done.status, &*output), (Status::Ok, &*format!("{file}!\n")), "{name}");
        }
    }
}
