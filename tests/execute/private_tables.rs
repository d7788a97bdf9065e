//! Private joins, and the further protocols of secrets: results beside those of plain tables and
//! numbers, what is refused when it runs, and what a party sees of the others.

use felis::session::{Executor, Mode, Session, Status, on_large_stack};
#[cfg(feature = "ciphers")]
use std::collections::BTreeSet;
use std::fmt::Display;

/// The parties of the programs here.
const PARTIES: &str = "party Party = alice | bob | carol | dave | erin;\n";

/// Runs a program; returns how it ended, and its output or its messages.
fn run(text: &str) -> (Status, String) {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        let mut output = String::new();
        let text = format!("{PARTIES}{text}");
        let done = session.evaluate("program", &text, Mode::Script, &mut |text| output.push_str(text));
        done.diagnostics.iter().for_each(|message| output += &session.render(message, false));
        (done.status, output)
    })
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
