//! Private joins, and the further protocols of secrets: results beside those of plain tables and
//! numbers, what is refused when it runs, and what a party sees of the others.

use super::secret::run_after;
use felis::session::{Executor, Mode, Session, Status, on_large_stack};
#[cfg(feature = "ciphers")]
use std::collections::BTreeSet;
use std::fmt::Display;

/// The parties of the programs here.
const PARTIES: &str = "party Party = alice | bob | carol | dave | erin;\n";

/// Runs a program; returns how it ended, and its output or its messages.
fn run(text: &str) -> (Status, String) {
    on_large_stack(|| run_after(PARTIES, text))
}

/// The output of a program that runs.
fn output(text: &str) -> String {
    let (status, output) = run(text);
    assert_eq!(status, Status::Ok, "{text}\n{output}");
    output
}

/// The messages of a program that stops.
fn stopped(text: &str) -> String {
    let (status, output) = run(text);
    assert_ne!(status, Status::Ok, "{text}\n{output}");
    output
}

/// Values as an array of the language.
fn array<T: Display>(values: &[T]) -> String {
    let all: Vec<String> = values.iter().map(|value| format!("({value})")).collect();
    format!("[{}]", all.join(", "))
}

/// Values as they are printed, one array or the only element.
fn printed<T: Display>(values: &[T]) -> String {
    let all: Vec<String> = values.iter().map(T::to_string).collect();
    if all.len() == 1 { format!("[{}]\n", all[0]) } else { format!("({})\n", all.join(", ")) }
}

/// A generator with its seed in the output of the test.
fn dice() -> fastrand::Rng {
    let seed = fastrand::u64(..);
    eprintln!("seed {seed}");
    fastrand::Rng::with_seed(seed)
}

/// The bytes that each party sends in a part of a program after another part, and rounds.
fn costs_of(before: &str, part: &str) -> Vec<(f64, u64)> {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        let mut run = |text: &str| {
            let done = session.evaluate("program", text, Mode::Script, &mut |_| ());
            let messages: String = done.diagnostics.iter().map(|m| session.render(m, false)).collect();
            assert_eq!(done.status, Status::Ok, "{text}\n{messages}");
            session.traffic().into_iter().map(|(_, traffic)| traffic).collect::<Vec<_>>()
        };
        let first = run(&format!("{PARTIES}{before}"));
        let second = run(part);
        let cost = |(a, b): (felis_runtime::network::Traffic, felis_runtime::network::Traffic)| {
            ((b.bytes_sent - a.bytes_sent) as f64, b.rounds - a.rounds)
        };
        first.into_iter().zip(second).map(cost).collect()
    })
}

/// Different numbers of a small range, in random order.
#[cfg(feature = "ciphers")]
fn keys(dice: &mut fastrand::Rng, count: usize) -> Vec<i64> {
    let mut all: Vec<i64> = (0..30).map(|n| n - 10).collect();
    dice.shuffle(&mut all);
    all.truncate(count);
    all
}

#[test]
#[cfg(feature = "ciphers")]
fn joins_are_those_of_plain_tables() {
    let mut dice = dice();
    for round in 0..8 {
        let (n, m) = (dice.usize(1..14), dice.usize(1..14));
        let (x, y) = (keys(&mut dice, n), keys(&mut dice, m));
        let values: Vec<i64> = (0..m).map(|_| dice.i64(-1000..1000)).collect();
        let (first, second): (BTreeSet<i64>, BTreeSet<i64>) =
            (x.iter().copied().collect(), y.iter().copied().collect());
        let common: Vec<i64> = first.intersection(&second).copied().collect();
        let join = match round % 2 {
            0 => "common_rows (x, y)",
            _ => "common_rows_by[erin] (at alice { tags (key, x) }, at bob { tags (key, y) })",
        };
        let text = format!(
            "val x = at alice {{ {} }};\nval y = at bob {{ {} }};\nval v = at bob {{ {} }};\n\
             val key = #common_tag_key[{{alice, bob}}];\n\
             val (a, b) = {join};\n\
             at alice {{ for i in a do println x.i; done }}\n\
             at bob {{ for i in b do println y.i; done }}\n",
            array(&x),
            array(&y),
            array(&values),
        );
        let out = output(&text);
        let of = |name: &str| -> Vec<i64> {
            let lines = out.lines().filter_map(|line| line.strip_prefix(name));
            lines.map(|number| number.parse().expect("a number")).collect()
        };
        let (hers, his) = (of("alice: "), of("bob: "));
        assert_eq!(hers, his, "rows are in the same order\n{text}");
        let mut sorted = hers;
        sorted.sort_unstable();
        assert_eq!(sorted, common, "{text}");
        let total: i64 = y.iter().zip(&values).filter(|(key, _)| first.contains(key)).map(|(_, v)| v).sum();
        if round < 3 {
            let text = format!(
                "{text}val (sk, pk) = #keygen[bob, paillier[2048]];\n\
                 val (n, total) = common_sum (sk, pk, x, y, v);\nprintln n;\nat bob {{ println (total, n); }}\n"
            );
            let out = output(&text);
            let end = format!("{}\nbob: ({total}, {})\n", common.len(), common.len());
            assert!(out.ends_with(&end), "{text}\n{out}");
        }
    }
}

/// Columns of joined rows are those of plain tables, in an order that is neither that of the rows
/// nor of the keys.
#[test]
#[cfg(feature = "ciphers")]
fn hidden_joins_have_the_columns_of_plain_ones() {
    let mut dice = dice();
    for _ in 0..4 {
        let (n, m) = (dice.usize(1..14), dice.usize(1..14));
        let (x, y) = (keys(&mut dice, n), keys(&mut dice, m));
        let cost: Vec<i64> = (0..m).map(|_| dice.i64(-1000..1000)).collect();
        let text = format!(
            "val x = at alice {{ {x} }};\nval y = at bob {{ {y} }};\nval v = at bob {{ {v} }};\n\
             val key = #common_tag_key[{{alice, bob}}];\n\
             typefun rows(I:COMPACTLINEAR):SPREAD => secret[{{alice, bob, carol}}, int, I];\n\
             val own = hide[{{alice, bob, carol}}] (at alice {{ [ if r == `0:2 then k else 2 * k endif for r in ..[2], k in x ] }});\n\
             val costs = hide[{{alice, bob, carol}}] v;\n\
             val (a, b) : (rows(2 \\* ?K) * rows(1 \\* ?K)) = common_rows_hidden[carol] (at alice {{ tags (key, x) }}, at bob {{ tags (key, y) }}, own, costs :>> rows(1 \\* {m}));\n\
             val (left, right) = (a.reveal, b.reveal);\n\
             for k in ..[K] do println (left.(`0:2 \\, k), left.(`1:2 \\, k), right.(`0:1 \\, k)); done\n",
            x = array(&x),
            y = array(&y),
            v = array(&cost),
        );
        let out = output(&text);
        let mut found: Vec<&str> = out.lines().collect();
        found.sort_unstable();
        let at = |key: &i64| y.iter().position(|other| other == key);
        let mut wanted: Vec<String> = x
            .iter()
            .filter_map(|key| at(key).map(|at| format!("({key}, {}, {})", 2 * key, cost[at])))
            .collect();
        wanted.sort_unstable();
        assert_eq!(found, wanted, "{text}");
    }
}

/// Bytes that each place sends in a hidden join, as its comment states them, and rounds.
#[test]
#[cfg(feature = "ciphers")]
fn hidden_joins_cost_what_they_state() {
    let text = "val key = #common_tag_key[{alice, bob}];\n\
        val a = hide[{alice, bob, carol}] [ i :>> int for i in ..[300] ];\n\
        val (x, y) = (at alice { tags (key, ..[300]) }, at bob { tags (key, ..[300]) });\n";
    let join = "val r = common_rows_hidden[carol] (x, y, a :>> secret[{alice, bob, carol}, int, 1 \\* 300], \
        a :>> secret[{alice, bob, carol}, int, 1 \\* 300]);\n";
    let costs = costs_of(text, join);
    // 128 bytes a row and 48 for its column of two tables of 300 rows.
    let rows = 2.0 * 300.0 * (128.0 + 48.0);
    for (party, (bytes, rounds)) in costs.into_iter().enumerate().take(3) {
        assert!(bytes <= rows + 4.0 * 16.0 * 300.0 + 100.0, "{party}: {bytes} bytes of {rows}");
        assert!(rounds <= 15, "{party}: {rounds} rounds");
    }
}

#[test]
#[cfg(feature = "ciphers")]
fn joins_that_cannot_be_are_refused() {
    let text = "val x = at alice { (3, 4, 3) };\nval y = at bob { (1, 3) };\nval r = common_rows (x, y);\n";
    assert!(stopped(text).contains("[E0506] Error: the key 3 is there twice"), "{}", stopped(text));
    let text = "val key = #common_tag_key[{alice, bob, carol}];\n";
    assert!(stopped(text).contains("E05"), "{}", stopped(text));
    // An owner has the key of the tags.
    for third in ["alice", "bob"] {
        let text = format!(
            "val k = #common_tag_key[{{alice, bob}}];\n\
             val r = common_rows_by[{third}] (at alice {{ tags (k, (1, 2)) }}, at bob {{ tags (k, (1, 2)) }});\n"
        );
        let message = "the third party of a join is one of the owners";
        assert!(stopped(&text).contains(message), "{}", stopped(&text));
    }
}

#[test]
#[cfg(feature = "ciphers")]
fn tags_of_two_keys_have_nothing_in_common() {
    let text = "val (k, l) = (#common_tag_key[{alice, bob}], #common_tag_key[{alice, bob}]);\n\
        val (a, b) = common_rows_by[erin] (at alice { tags (k, (1, 2)) }, at bob { tags (l, (1, 2)) });\n\
        at alice { println (#sizeof[2] , sum [ 1 for i in a ]); }\n";
    assert_eq!(output(text), "alice: (2, 0)\n");
}

/// The prime of `prime_field`.
const PRIME: i128 = (1 << 61) - 1;

/// The integer nearest to zero with a residue modulo the prime.
fn centered(value: i128) -> i128 {
    let residue = value.rem_euclid(PRIME);
    if residue > PRIME / 2 { residue - PRIME } else { residue }
}

#[test]
fn shamir_sharing_computes_in_the_field() {
    let mut dice = dice();
    let sets = [("Party", 5), ("{bob, carol, erin}", 3), ("{alice, bob, dave, erin}", 4)];
    for (set, places) in sets.into_iter().chain([("Party", 5)]) {
        let t = dice.i32(1..=(places - 1) / 2);
        let n = dice.usize(2..6);
        let mut draw = |limit: i64| -> Vec<i64> {
            (0..n)
                .map(|_| match dice.u8(0..4) {
                    0 => [limit - 1, 1 - limit, 0, 1][dice.usize(0..4)],
                    _ => dice.i64(-limit..limit),
                })
                .collect()
        };
        let (x, y) = (draw(1 << 60), draw(1 << 60));
        let text = format!(
            "val x = hide_with_threshold[{set}, {t}] (at alice {{ [ v :> prime_field for v in {} ] }});\n\
             val y = hide_with_threshold[{set}, {t}] (at erin {{ [ v :> prime_field for v in {} ] }});\n\
             val p = [ v :> prime_field for v in {} ];\n\
             println [ centered v for v in (x + y).reveal ];\n\
             println [ centered v for v in (x - y).reveal ];\n\
             println [ centered v for v in (x * y).reveal ];\n\
             println [ centered v for v in (x * y * x + p).reveal ];\n\
             println [ centered v for v in (x * p).reveal ];\n\
             println (centered (dot (x, y)).reveal.0, centered (sum x).reveal.0);\n\
             val z = (x * y).reveal_to[carol];\nat carol {{ println [ centered v for v in z ]; }}\n",
            array(&x),
            array(&y),
            array(&y),
        );
        let each = |f: &dyn Fn(i128, i128) -> i128| -> Vec<i128> {
            x.iter().zip(&y).map(|(a, b)| centered(f((*a).into(), (*b).into()))).collect()
        };
        let product = each(&|a, b| centered(a * b));
        let total = |values: &[i128]| centered(values.iter().sum());
        let expected = [
            printed(&each(&|a, b| a + b)),
            printed(&each(&|a, b| a - b)),
            printed(&product),
            printed(&each(&|a, b| centered(a * b) * a + b)),
            printed(&product),
            format!("({}, {})\n", total(&product), total(&each(&|a, _| a))),
            format!("carol: {}", printed(&product)),
        ];
        assert_eq!(output(&text), expected.concat(), "{text}");
    }
}

#[test]
fn sharings_that_cannot_be_are_refused() {
    let field = "typedef f = cyclic[101];\nval x = hide_with_threshold[SET] (at alice { [ 5 :> f ] });\n";
    let of = |set: &str| field.replace("SET", set);
    let refused = [
        (of("{alice, bob}, 2"), "3 shares determine a value, and there are 2 places"),
        (of("Party, 0"), "a polynomial of degree 0 hides nothing"),
        (of("Party, 1").replace("101", "91"), "91 is no prime"),
        (of("Party, 1").replace("101", "5"), "5 places need a field of more than 5 elements"),
        (
            of("{alice, bob}, 1") + "val y = x * x;\n",
            "a product of secrets that 2 places know needs 3 places",
        ),
        (
            "val x = hide_with_dealer[{alice, bob}, bob] (at alice { [5, 6] });\n".to_string(),
            "the dealer of random products shares the secrets",
        ),
        ("val x = hide_with_dealer[{alice}, bob] (at alice { [5, 6] });\n".to_string(), "hidden from nobody"),
    ];
    for (text, why) in refused {
        let messages = stopped(&text);
        assert!(messages.contains("[E0506]") && messages.contains(why), "{text}\n{messages}");
    }
}

#[test]
fn additive_sharing_computes_modulo_the_word() {
    let mut dice = dice();
    for set in ["{alice, bob}", "{alice, carol, dave, erin}", "{dave, erin, carol}"] {
        let n = dice.usize(2..6);
        let mut draw = || -> Vec<i64> { (0..n).map(|_| dice.i64(-i64::MAX..)).collect() };
        let (x, y) = (draw(), draw());
        let dealer = if set.contains("bob") { "erin" } else { "bob" };
        let text = format!(
            "val x = hide_with_dealer[{set}, {dealer}] (at alice {{ {} }});\n\
             val y = hide_with_dealer[{set}, {dealer}] (at carol {{ {} }});\nval p = {};\n\
             println (x + y).reveal;\nprintln (x - y).reveal;\nprintln (x * y).reveal;\n\
             println (x * y * x + p).reveal;\nprintln (x * p).reveal;\n\
             println ((dot (x, y)).reveal.0, (sum x).reveal.0);\n\
             val z = (x * y).reveal_to[bob];\nat bob {{ println z; }}\n",
            array(&x),
            array(&y),
            array(&y),
        );
        let each =
            |f: &dyn Fn(i64, i64) -> i64| -> Vec<i64> { x.iter().zip(&y).map(|(a, b)| f(*a, *b)).collect() };
        let total = |values: &[i64]| values.iter().fold(0i64, |sum, v| sum.wrapping_add(*v));
        let product = each(&|a, b| a.wrapping_mul(b));
        let expected = [
            printed(&each(&|a, b| a.wrapping_add(b))),
            printed(&each(&|a, b| a.wrapping_sub(b))),
            printed(&product),
            printed(&each(&|a, b| a.wrapping_mul(b).wrapping_mul(a).wrapping_add(b))),
            printed(&product),
            format!("({}, {})\n", total(&product), total(&x)),
            format!("bob: {}", printed(&product)),
        ];
        assert_eq!(output(&text), expected.concat(), "{text}");
    }
}

/// Bytes that a place sends for an element, and rounds, of the further protocols, as their comments
/// state them.
#[test]
fn further_protocols_cost_what_they_state() {
    const N: usize = 200;
    let before = format!(
        "val own = at alice {{ [ i :>> int for i in ..[{N}] ] }};\n\
         val field = at alice {{ [ (i :>> int).mod[prime_field] for i in ..[{N}] ] }};\n\
         val x = hide_with_threshold[{{alice, bob, carol}}, 1] field;\n\
         val a = hide_with_dealer[{{alice, bob, carol}}, dave] own;\n"
    );
    // Of alice, bob and carol, who share, and of dave, who deals: the largest of the three, and
    // his. A round is counted where a party receives after it has sent, so one that only receives
    // counts none.
    for (part, most, dealer, rounds) in [
        ("val r = hide_with_threshold[{alice, bob, carol}, 1] field;", 16.0, 0.0, 0),
        ("val r = x + x;", 0.0, 0.0, 0),
        ("val r = x * x;", 16.0, 0.0, 1),
        ("val r = dot (x, x);", 16.0 / N as f64, 0.0, 1),
        ("val r = sum x;", 0.0, 0.0, 0),
        ("val r = x.reveal_to[bob];", 8.0, 0.0, 0),
        // Four parties get to know what is public.
        ("val r = x.reveal;", 32.0, 0.0, 1),
        (
            "val r = matmul (x :>> shamir[{alice, bob, carol}, 1, 2305843009213693951, 10 \\* 20], \
             x :>> shamir[{alice, bob, carol}, 1, 2305843009213693951, 20 \\* 10]);",
            8.0,
            0.0,
            1,
        ),
        ("val r = hide_with_dealer[{alice, bob, carol}, dave] own;", 16.0, 0.0, 0),
        ("val r = a + a;", 0.0, 0.0, 0),
        ("val r = a * a;", 32.0, 72.0, 2),
        ("val r = dot (a, a);", 32.0, 72.0, 2),
        ("val r = a.reveal_to[bob];", 8.0, 0.0, 0),
        (
            "val r = matmul (a :>> additive[{alice, bob, carol}, dave, 10 \\* 20], \
             a :>> additive[{alice, bob, carol}, dave, 20 \\* 10]);",
            32.0,
            60.0,
            2,
        ),
        ("val r = replicated[{alice, bob, carol}] a;", 8.0, 0.0, 1),
    ] {
        let costs = costs_of(&before, part);
        let sharing = &costs[..3];
        let bytes = sharing.iter().map(|cost| cost.0).fold(0.0, f64::max) / N as f64;
        assert!((bytes - most).abs() < 0.01, "{part}: {bytes} bytes, not {most}");
        assert!((costs[3].0 / N as f64 - dealer).abs() < 0.01, "{part}: {} of the dealer", costs[3].0);
        let found = sharing.iter().map(|cost| cost.1).max();
        assert_eq!(found, Some(rounds), "rounds of {part}");
    }
}

#[test]
fn matrices_of_further_protocols_and_conversions() {
    let mut dice = dice();
    let (n, k, m) = (dice.usize(1..4), dice.usize(1..5), dice.usize(1..4));
    let mut draw = |count: usize| -> Vec<i64> { (0..count).map(|_| dice.i64(-(1 << 25)..1 << 25)).collect() };
    let (x, y) = (draw(n * k), draw(k * m));
    let mut product = vec![0i64; n * m];
    for (at, out) in product.iter_mut().enumerate() {
        *out = (0..k).map(|l| x[at / m * k + l] * y[l * m + at % m]).sum();
    }
    let text = format!(
        "val x = at alice {{ {x} :>> int ^ ({n} \\* {k}) }};\nval y = at erin {{ {y} :>> int ^ ({k} \\* {m}) }};\n\
         val p = hide_with_threshold[{{alice, carol, erin}}, 1] (at alice {{ [ v :> prime_field for v in x ] }});\n\
         val q = hide_with_threshold[{{alice, carol, erin}}, 1] (at erin {{ [ v :> prime_field for v in y ] }});\n\
         println [ centered v for v in (matmul (p, q)).reveal :>> prime_field ^ {nm} ];\n\
         val a = hide_with_dealer[{{alice, carol}}, dave] x;\n\
         val b = hide_with_dealer[{{alice, carol}}, dave] y;\n\
         val c = matmul (a, b);\n\
         println (c.reveal :>> int ^ {nm});\n\
         val r = replicated[{{alice, bob, carol}}] c;\n\
         println (r.reveal :>> int ^ {nm});\n\
         println ((r < hide[{{alice, bob, carol}}] (fill[{n} \\* {m}] 0)).reveal :>> bool ^ {nm});\n",
        x = array(&x),
        y = array(&y),
        nm = n * m,
    );
    let negative: Vec<bool> = product.iter().map(|v| *v < 0).collect();
    let shown = printed(&product);
    assert_eq!(output(&text), [&*shown, &shown, &shown, &printed(&negative)].concat(), "{text}");
    let text = "val a = hide_with_dealer[{alice, erin}, dave] (at bob { (1, 2) });\n\
        val r = replicated[{alice, bob, carol}] a;\n";
    let message = "a place that shares the values is none of those that are to share them";
    assert!(stopped(text).contains(message), "{}", stopped(text));
}
