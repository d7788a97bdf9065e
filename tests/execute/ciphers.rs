//! Ciphers as programs use them: results beside those of plain numbers, operations that are refused
//! when they run, parties, and files. Needs the feature `ciphers`.

use super::in_memory::InMemoryFileSystem;
use felis::session::{Executor, FileSystem, Mode, Session, Status, on_large_stack};
use std::fmt::Display;
use std::sync::Arc;

/// Runs a program with files; returns how it ended, its output, and the codes of its messages with
/// their texts.
fn run_with(text: &str, files: &InMemoryFileSystem) -> (Status, String, String) {
    on_large_stack(|| {
        let mut session = Session::new().with_executor(Executor::Compiled, 1);
        session.set_files(Arc::new(files.clone()));
        let mut output = String::new();
        let done = session.evaluate("program", text, Mode::Script, &mut |text| output.push_str(text));
        let messages = done.diagnostics.iter().map(|message| session.render(message, false)).collect();
        (done.status, output, messages)
    })
}

/// The output of a program that runs.
fn output(text: &str) -> String {
    let (status, output, messages) = run_with(text, &InMemoryFileSystem::default());
    assert_eq!(status, Status::Ok, "{text}\n{messages}");
    output
}

/// The messages of a program that stops.
fn stopped(text: &str) -> String {
    let (status, _, messages) = run_with(text, &InMemoryFileSystem::default());
    assert_ne!(status, Status::Ok, "{text}");
    messages
}

/// Values as an array of the language.
fn array<T: Display>(values: &[T], suffix: &str) -> String {
    let all: Vec<String> = values.iter().map(|value| format!("({value}{suffix})")).collect();
    format!("[{}]", all.join(", "))
}

/// Values as they are printed.
fn printed<T: Display>(values: &[T]) -> String {
    let all: Vec<String> = values.iter().map(T::to_string).collect();
    format!("({})\n", all.join(", "))
}

/// A generator with its seed in the output of the test.
fn dice() -> fastrand::Rng {
    let seed = fastrand::u64(..);
    eprintln!("seed {seed}");
    fastrand::Rng::with_seed(seed)
}

#[test]
fn sums_and_products_of_numbers_are_exact() {
    let mut dice = dice();
    let n = 6;
    let half = || 1i64 << 62;
    let mut text = String::from("val (sk, pk) = #keygen[paillier[2048]];\n");
    let mut expected = String::new();
    let x: Vec<i64> = (0..n).map(|_| dice.i64(-half()..half())).collect();
    let y: Vec<i64> = (0..n).map(|_| dice.i64(-half()..half())).collect();
    let f: Vec<i64> = (0..n).map(|_| dice.i64(-3..=3)).collect();
    let s: Vec<i64> = x.iter().map(|v| v / 16).collect();
    text += &format!(
        "val (x, y, f, s) = ({}, {}, {}, {});\n",
        array(&x, ""),
        array(&y, ""),
        array(&f, ""),
        array(&s, "")
    );
    text += "val (a, b) = ([ encrypt (pk, v) for v in x ], [ encrypt (pk, v) for v in y ]);\n";
    text += "val c = [ encrypt (pk, v) for v in s ];\n";
    let text = text
        + "println [ decrypt (sk, v) for v in a + b ];\n\
           println [ decrypt (sk, a.i - b.i) for i in ..[6] ];\n\
           println [ decrypt (sk, v) for v in c * f ];\n\
           println [ decrypt (sk, fresh (scale_public (c.i, f.i))) for i in ..[6] ];\n\
           println [ decrypt (sk, a.i + 1) for i in ..[6] ];\n\
           println (decrypt (sk, dot (c, f)), decrypt (sk, sum c));\n";
    expected += &printed(&x.iter().zip(&y).map(|(a, b)| a + b).collect::<Vec<_>>());
    expected += &printed(&x.iter().zip(&y).map(|(a, b)| a - b).collect::<Vec<_>>());
    let products: Vec<i64> = s.iter().zip(&f).map(|(a, b)| a * b).collect();
    expected += &printed(&products);
    expected += &printed(&products);
    expected += &printed(&x.iter().map(|a| a + 1).collect::<Vec<_>>());
    expected += &printed(&[products.iter().sum::<i64>(), s.iter().sum()]);
    assert_eq!(output(&text), expected, "{text}");
}

#[test]
fn the_limits_of_integers_are_held() {
    let text = "val (sk, pk) = #keygen[paillier[2048]];\n\
        val (low, high) = (-9223372036854775807 - 1, 9223372036854775807);\n\
        println (decrypt (sk, encrypt (pk, low)), decrypt (sk, encrypt (pk, high)));\n\
        println (decrypt (sk, encrypt (pk, 255u8)), decrypt (sk, encrypt (pk, (-128i8))));\n\
        println (decrypt (sk, widen[int] (encrypt (pk, 200u8) + encrypt (pk, 100u8))));\n";
    let expected = "(-9223372036854775808, 9223372036854775807)\n(255, -128)\n300\n";
    assert_eq!(output(text), expected);
    let wide = "val (sk, pk) = #keygen[paillier[2048]];\n\
        val c = encrypt (pk, 200u8) + encrypt (pk, 100u8);\nprintln (decrypt (sk, c));\n";
    assert!(stopped(wide).contains("[E0503] Error: 300 does not fit `u8`"), "{}", stopped(wide));
    let huge = "val (sk, pk) = #keygen[paillier[2048]];\n\
        val c = encrypt (pk, 9223372036854775807) * 9223372036854775807;\nprintln (decrypt (sk, c * 4));\n";
    let message = "[E0503] Error: the decrypted number does not fit `int`";
    assert!(stopped(huge).contains(message), "{}", stopped(huge));
}

#[test]
fn fixed_point_numbers_keep_their_scale() {
    let text = "val (sk, pk) = #keygen[paillier[2048]];\n\
        val (a, b) = (encrypt[16, 8] (pk, 2.5), encrypt[16, 8] (pk, -0.125));\n\
        println (decrypt (sk, a + b), decrypt (sk, a - b));\n\
        val p = times_plain[8, 4] (a, -1.5);\n\
        println (type_text p, decrypt (sk, p));\n";
    let out = output(text);
    assert!(out.starts_with("(2.375, 2.625)\n"), "{out}");
    assert!(out.contains("fxp[24, 12]") && out.ends_with(", -3.75)\n"), "{out}");
}

#[test]
fn vectors_are_added_multiplied_rotated_and_summed() {
    let mut dice = dice();
    let x: Vec<i64> = (0..16).map(|_| dice.i64(-128..128)).collect();
    let y: Vec<i64> = (0..16).map(|_| dice.i64(-128..128)).collect();
    let turn = dice.i64(-40..40);
    let text = format!(
        "typedef scheme = bfv[8192, 2];\n\
         val (sk, pk) : (secret_key[?k, scheme] * public_key[?k, scheme]) = #keygen[scheme];\n\
         val (products, rotations) = (key_for_products sk, keys_for_rotations sk);\n\
         val (x, y) = ({}, {});\n\
         val (a, b) = (encrypt (pk, x), encrypt (pk, y));\n\
         val (wa, wb) = (widen[int] a, widen[int] b);\n\
         println (decrypt (sk, wa + wb));\n\
         println (decrypt (sk, wa - wb));\n\
         println (decrypt (sk, times (wa, wb, products)));\n\
         println (decrypt (sk, fresh (widen[int] (times_plain (a, y)))));\n\
         println (decrypt (sk, rotate (a, {turn}, rotations)));\n\
         println ((decrypt (sk, inner_sum (times (wa, wb, products), rotations))).0);\n\
         println (decrypt (sk, scale_public (wa, -7)));\n\
         println (decrypt (sk, (a :>> packed[k, i8, 4 \\* 4]) :>> packed[k, i8, 16]));\n",
        array(&x, "i8"),
        array(&y, "i8"),
    );
    let pairs = || x.iter().zip(&y);
    let products: Vec<i64> = pairs().map(|(a, b)| a * b).collect();
    let rotated: Vec<i64> = (0..16).map(|i| x[(i as i64 + turn).rem_euclid(16) as usize]).collect();
    let expected = [
        printed(&pairs().map(|(a, b)| a + b).collect::<Vec<_>>()),
        printed(&pairs().map(|(a, b)| a - b).collect::<Vec<_>>()),
        printed(&products),
        printed(&products),
        printed(&rotated),
        format!("{}\n", products.iter().sum::<i64>()),
        printed(&x.iter().map(|a| a * -7).collect::<Vec<_>>()),
        printed(&x),
    ];
    assert_eq!(output(&text), expected.concat(), "{text}");
}

#[test]
fn exhausted_noise_is_an_error_and_never_a_number() {
    let text = "val (sk, pk) = #keygen[bfv[4096, 1]];\n\
        val key = key_for_products sk;\n\
        val x = encrypt (pk, [1i8, 1i8]);\n\
        val once = times (x, scale_public (x, 0), key);\n\
        println (budget x > budget once, decrypt (sk, once));\n\
        val twice = times (once, x, key);\n\
        println (decrypt (sk, twice));\n";
    let (status, output, messages) = run_with(text, &InMemoryFileSystem::default());
    assert_ne!(status, Status::Ok);
    assert_eq!(output, "(true, (0, 0))\n", "{messages}");
    assert!(messages.contains("[E0543] Error: the result could decrypt wrongly"), "{messages}");
}

#[test]
fn magnitudes_are_bounded_by_the_primes() {
    let wide = "val (sk, pk) = #keygen[bfv[4096, 1]];\nval x = encrypt (pk, [1, 2]);\n";
    assert!(
        stopped(wide).contains("[E0542] Error: the result could have a magnitude of"),
        "{}",
        stopped(wide)
    );
    let product = "val (sk, pk) = #keygen[bfv[4096, 1]];\nval x = times_plain (encrypt (pk, [1i16, 2i16]), [2i16, 2i16]);\n";
    assert!(stopped(product).contains("[E0542]"), "{}", stopped(product));
    let length = "val (sk, pk) = #keygen[bfv[4096, 1]];\nval x = encrypt (pk, [1i8, 2i8, 3i8]);\n";
    let message = "[E0541] Error: 3 elements do not divide the 2048 slots of a row";
    assert!(stopped(length).contains(message), "{}", stopped(length));
}

#[test]
fn what_is_read_is_compared_with_its_key_and_type() {
    let files = InMemoryFileSystem::default();
    let write = "val (sk, pk) = #keygen[paillier[2048]];\n\
        write_cipher (\"key.bin\", pk);\n\
        write_cipher (\"five.bin\", encrypt (pk, 5));\n\
        write_cipher (\"fixed.bin\", encrypt[16, 8] (pk, 1.5));\n\
        val own = read_cipher[int] (\"five.bin\", pk);\n\
        println (decrypt (sk, own + own));\n";
    let (status, output, messages) = run_with(write, &files);
    assert_eq!((status, output.as_str()), (Status::Ok, "10\n"), "{messages}");
    let read = |text: &str| run_with(text, &files);
    let key = "val pk = read_public_key[paillier[2048]] \"key.bin\";\n";
    let (status, _, messages) =
        read(&format!("{key}val c = read_cipher[int] (\"five.bin\", pk) + encrypt (pk, 1);\n"));
    assert_eq!(status, Status::Ok, "{messages}");
    let refused = [
        (
            "val (sk, pk) = #keygen[paillier[2048]];\nval c = read_cipher[int] (\"five.bin\", pk);",
            "this belongs to the key",
        ),
        (
            "val pk = read_public_key[paillier[3072]] \"key.bin\";",
            "the parameters are Paillier with a modulus of 2048 bits",
        ),
        (
            "val pk = read_public_key[paillier[2048]] \"five.bin\";",
            "this is the ciphertext of a number, where `public_key` is needed",
        ),
        (
            "val pk = read_public_key[paillier[2048]] \"key.bin\";\nval c = read_cipher[int] (\"fixed.bin\", pk);",
            "there are 16 binary digits after the point where 0 are needed",
        ),
        (
            "val pk = read_public_key[paillier[2048]] \"key.bin\";\nval c = read_cipher[int] (\"key.bin\", pk);",
            "this is a public key, where `cipher` is needed",
        ),
    ];
    for (text, why) in refused {
        let (status, _, messages) = read(text);
        assert_ne!(status, Status::Ok, "{text}");
        assert!(messages.contains("[E0541]") && messages.contains(why), "{text}\n{messages}");
    }
}

/// A file whose bytes were changed is read as what it was, or refused; never anything else.
#[test]
fn damaged_files_are_refused() {
    let files = InMemoryFileSystem::default();
    let write = "val (sk, pk) = #keygen[bfv[4096, 1]];\n\
        write_cipher (\"key.bin\", pk);\n\
        write_cipher (\"x.bin\", encrypt (pk, [1i8, 2i8]));\n";
    let (status, _, messages) = run_with(write, &files);
    assert_eq!(status, Status::Ok, "{messages}");
    let read = "val pk = read_public_key[bfv[4096, 1]] \"key.bin\";\n\
        val x = read_packed[i8, 2] (\"x.bin\", pk);\n";
    let mut dice = dice();
    for round in 0..40 {
        let name = ["key.bin", "x.bin"][round % 2];
        let whole = files.read(name, u64::MAX).expect("it was written");
        let mut bytes = whole.clone();
        match dice.u8(0..3) {
            0 => bytes.truncate(dice.usize(..whole.len())),
            1 => bytes.push(dice.u8(..)),
            _ => {
                // The heads are short, and have the most to say.
                let at = if dice.bool() { dice.usize(..80) } else { dice.usize(..whole.len()) };
                bytes[at] ^= 1 << dice.u8(..8);
            }
        }
        files.write(name, &bytes).expect("a file in memory is written");
        let (status, _, messages) = run_with(read, &files);
        assert_ne!(status, Status::Ok, "{name} is read although it is damaged");
        assert!(messages.contains("[E0541]"), "{messages}");
        files.write(name, &whole).expect("a file in memory is written");
    }
    let (status, _, messages) = run_with(read, &files);
    assert_eq!(status, Status::Ok, "{messages}");
}

#[test]
fn a_key_that_is_read_is_compared_with_another() {
    let files = InMemoryFileSystem::default();
    let text = "typedef scheme = paillier[2048];\n\
        val (sk, pk) : (secret_key[?k, scheme] * public_key[?k, scheme]) = #keygen[scheme];\n\
        write_cipher (\"key.bin\", pk);\n\
        val again = under (read_public_key[scheme] \"key.bin\", pk);\n\
        println (decrypt (sk, encrypt (again, 5) + encrypt (pk, 6)));\n";
    let (status, output, messages) = run_with(text, &files);
    assert_eq!((status, output.as_str()), (Status::Ok, "11\n"), "{messages}");
}

#[test]
fn parties_compute_with_one_key() {
    let text = "party Party = alice | bob | carol;\n\
        val (sk, pk) = #keygen[alice, paillier[2048]];\n\
        val x = at bob { encrypt (pk, 5) };\n\
        val y = at carol { [ encrypt (pk, v) for v in (1, 2, 3) ] };\n\
        val z = y.send[bob];\n\
        val total = at bob { fresh (sum z + x * 10) };\n\
        val back = total.send[alice];\n\
        at alice { println (decrypt (sk, back)); }\n";
    assert_eq!(output(text), "alice: 56\n");
    let vectors = "party Party = alice | bob;\n\
        val (sk, pk) = #keygen[alice, bfv[8192, 1]];\n\
        val rotations = (at alice { keys_for_rotations sk }).send[bob];\n\
        val x = (at alice { encrypt (pk, [1i8, 2i8, 3i8, 4i8]) }).send[bob];\n\
        val y = at bob { fresh (rotate (x, 1, rotations)) };\n\
        val back = y.send[alice];\n\
        at alice { println (decrypt (sk, back)); }\n";
    assert_eq!(output(vectors), "alice: (2, 3, 4, 1)\n");
}

#[test]
fn a_key_that_not_all_know_is_compared_where_it_arrives() {
    let text = "party Party = alice | bob;\n\
        typedef scheme = paillier[2048];\n\
        val mine : (secret_key[?k, scheme] * public_key[?k, scheme]) @ alice = at alice { #keygen[scheme] };\n\
        val other : (secret_key[?m, scheme] * public_key[?m, scheme]) @ alice = at alice { #keygen[scheme] };\n\
        val hers : public_key[?n, scheme] @ bob = (at alice { mine.1 }).send[bob];\n\
        val c : cipher[?o, int] @ bob = at bob { encrypt (hers, 5) };\n\
        val d : cipher[?p, int] @ alice = c.send[alice];\n\
        at alice { println (decrypt (PAIR.0, under (d, PAIR.1))); }\n";
    assert_eq!(output(&text.replace("PAIR", "mine")), "alice: 5\n");
    let other = text.replace("PAIR", "other");
    assert!(stopped(&other).contains("this belongs to the key"), "{}", stopped(&other));
}

/// An integer of a type, as an expression: the least of `int` has no literal.
fn literal(ty: &str, value: i128) -> String {
    match value {
        i128::MIN..=-1 => format!("((0 - {} - 1) :> {ty})", -(value + 1)),
        _ => format!("({value} :> {ty})"),
    }
}

/// Every integer type of a ciphertext, at its ends and at random, in sums that its type holds and
/// in one that it does not.
#[test]
fn integers_of_each_type_are_exact_to_its_limits() {
    let mut dice = dice();
    let types: [(&str, i128, i128); 8] = [
        ("i8", i8::MIN.into(), i8::MAX.into()),
        ("i16", i16::MIN.into(), i16::MAX.into()),
        ("i32", i32::MIN.into(), i32::MAX.into()),
        ("int", i64::MIN.into(), i64::MAX.into()),
        ("u8", 0, u8::MAX.into()),
        ("u16", 0, u16::MAX.into()),
        ("u32", 0, u32::MAX.into()),
        ("u64", 0, u64::MAX.into()),
    ];
    let head = "val (sk, pk) = #keygen[paillier[2048]];\n";
    let mut text = head.to_string();
    let mut expected = String::new();
    for (ty, least, greatest) in types {
        let x = dice.i128(least..=greatest);
        // The sum of both is any number of the type.
        let y = dice.i128(least..=greatest) - x;
        let y = y.clamp(least, greatest);
        let sum = (x + y).clamp(least, greatest);
        let y = sum - x;
        for value in [least, greatest, x] {
            let value = if ty == "u64" { format!("{value}u64") } else { literal(ty, value) };
            text += &format!("println (decrypt (sk, encrypt (pk, {value})));\n");
        }
        expected += &format!("{least}\n{greatest}\n{x}\n");
        if ty != "u64" {
            let (x, y) = (literal(ty, x), literal(ty, y));
            text += &format!("println (decrypt (sk, encrypt (pk, {x}) + encrypt (pk, {y})));\n");
            expected += &format!("{sum}\n");
            let over = format!(
                "{head}println (decrypt (sk, encrypt (pk, {}) + encrypt (pk, {})));\n",
                literal(ty, greatest),
                literal(ty, 1)
            );
            assert!(stopped(&over).contains("[E0503]"), "{over}");
        }
    }
    assert_eq!(output(&text), expected, "{text}");
}

/// Vectors up to the magnitudes that the primes hold: integers wider than one prime are joined by
/// the Chinese remainder theorem.
#[test]
fn vectors_are_exact_to_the_limit_of_their_primes() {
    let mut dice = dice();
    for (primes, ty, bits) in [(1, "i8", 7), (2, "i16", 15), (3, "i32", 31), (4, "int", 63)] {
        let least = -(1i128 << bits);
        let n = 8;
        let x: Vec<i128> = (0..n)
            .map(|at| match at {
                0 => least,
                1 => -1 - least,
                _ => dice.i128(least..-least),
            })
            .collect();
        let y: Vec<i128> = x
            .iter()
            .map(|x| dice.i128(least..-least).clamp(least - x.min(&0), -1 - least - x.max(&0)))
            .collect();
        let write = |values: &[i128]| {
            let all: Vec<String> = values.iter().map(|value| literal(ty, *value)).collect();
            format!("[{}]", all.join(", "))
        };
        let text = format!(
            "val (sk, pk) = #keygen[bfv[4096, {primes}]];\n\
             val (a, b) = (encrypt (pk, {}), encrypt (pk, {}));\n\
             println (decrypt (sk, a));\nprintln (decrypt (sk, a + b));\nprintln (decrypt (sk, fresh (a + b)));\n",
            write(&x),
            write(&y)
        );
        let sums: Vec<i128> = x.iter().zip(&y).map(|(a, b)| a + b).collect();
        assert_eq!(output(&text), printed(&x) + &printed(&sums) + &printed(&sums), "{text}");
    }
}

/// Products with matrices, and fixed point: results beside those of plain numbers.
#[test]
fn matrices_and_fixed_point_vectors_are_exact() {
    let mut dice = dice();
    let x: Vec<i64> = (0..8).map(|_| dice.i64(-128..128)).collect();
    let m: Vec<i64> = (0..64).map(|_| dice.i64(-128..128)).collect();
    // Multiples of a power of two, so that nothing is rounded.
    let mut quarters = || -> Vec<f64> { (0..4).map(|_| dice.i32(-40..40) as f64 / 4.0).collect() };
    let (a, b, c) = (quarters(), quarters(), quarters());
    let text = format!(
        "val (sk, pk) = #keygen[bfv[8192, 2]];\n\
         val (products, turns) = (key_for_products sk, keys_for_rotations sk);\n\
         println (decrypt (sk, mat_vec ({} :>> i8 ^ (8 \\* 8), encrypt (pk, {}), turns)));\n\
         val (a, b) = (encrypt[2, 4] (pk, {}), encrypt[4, 4] (pk, {}));\n\
         println (decrypt (sk, times (a, b, products)));\n\
         println (decrypt (sk, inner_sum[2] (times (a, b, products), turns))).0;\n\
         println (decrypt (sk, a - a));\n\
         val (s, p) = #keygen[paillier[2048]];\n\
         val d = [ encrypt[2, 4] (p, v) for v in {} ];\n\
         println (decrypt (s, sum[2] d), decrypt (s, dot[2, 4, 2] (d, {})));\n",
        array(&m, "i8"),
        array(&x, "i8"),
        array(&a, " :> real"),
        array(&b, " :> real"),
        array(&a, " :> real"),
        array(&c, " :> real"),
    );
    let real = |value: f64| format!("{value:?}");
    let rows = m.chunks(8).map(|row| row.iter().zip(&x).map(|(a, b)| a * b).sum::<i64>());
    let products: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a * b).collect();
    let zeros = "(0.0, 0.0, 0.0, 0.0)\n".to_string();
    let weighted: f64 = a.iter().zip(&c).map(|(a, c)| a * c).sum();
    let shown: Vec<String> = products.iter().map(|v| real(*v + 0.0)).collect();
    let expected = [
        printed(&rows.collect::<Vec<_>>()),
        printed(&shown),
        real(products.iter().sum()) + "\n",
        zeros,
        format!("({}, {})\n", real(a.iter().sum()), real(weighted)),
    ];
    assert_eq!(output(&text), expected.concat().replace("-0.0,", "0.0,"), "{text}");
    let many = "val (s, p) = #keygen[paillier[2048]];\n\
        val c = sum[1] [ encrypt[2, 4] (p, v) for v in (1.0, 2.0, 3.0) ];\n";
    assert!(stopped(many).contains("3 elements are more than 2^1"), "{}", stopped(many));
}

/// Shares of the integers of ciphertexts of both schemes.
#[test]
fn ciphertexts_become_secrets() {
    let mut dice = dice();
    let x: Vec<i64> = (0..4).map(|_| dice.i64(-128..128)).collect();
    let wide: Vec<i64> = (0..2).map(|_| dice.i64(i64::MIN + 1..)).collect();
    let text = format!(
        "party Party = alice | bob | carol;\n\
         val (sk, pk) = #keygen[alice, bfv[8192, 4]];\n\
         val x = at bob {{ encrypt (pk, {}) }};\n\
         val y = shared[Party] (sk, at bob {{ widen[i16] (x + x) }});\n\
         println (y * y).reveal;\n\
         val (s, p) = #keygen[carol, paillier[2048]];\n\
         println (shared[Party] (s, at bob {{ [ encrypt (p, v) for v in {} ] }})).reveal;\n",
        array(&x, "i8"),
        array(&wide, ""),
    );
    let squares: Vec<i64> = x.iter().map(|v| 4 * v * v).collect();
    assert_eq!(output(&text), printed(&squares) + &printed(&wide), "{text}");
    let large = "party Party = alice | bob | carol;\n\
        val (s, p) = #keygen[carol, paillier[2048]];\n\
        val x = at bob { [ encrypt (p, v) * 9223372036854775807 for v in (1, 2) ] };\n\
        println (shared[Party] (s, x)).reveal;\n";
    let message = "numbers of 126 bits are too large to be shared: 85 bits can be hidden";
    assert!(stopped(large).contains(message), "{}", stopped(large));
}

/// A result that has no room for flooding does not leave its place.
#[test]
fn what_cannot_be_hidden_is_not_moved() {
    let text = "party Party = alice | bob;\n\
        val (sk, pk) = #keygen[alice, bfv[4096, 1]];\n\
        val key = (at alice { key_for_products sk }).send[bob];\n\
        val x = at bob { encrypt (pk, [1i8, 1i8]) };\n\
        val y = at bob { times (x, scale_public (x, 0), key) };\n\
        val z = y.send[alice];\n\
        at alice { println (decrypt (sk, z)); }\n";
    let (status, output, messages) = run_with(text, &InMemoryFileSystem::default());
    assert_ne!(status, Status::Ok);
    assert!(output.is_empty() && messages.contains("[E0543]"), "{output}{messages}");
    // With more room it is flooded.
    let (status, output, messages) = run_with(&text.replace("4096", "8192"), &InMemoryFileSystem::default());
    assert_eq!((status, output.as_str()), (Status::Ok, "alice: (0, 0)\n"), "{messages}");
}

/// A ciphertext that was computed is the same for all who compare what was made public.
#[test]
fn a_result_is_made_public_as_it_was_moved() {
    let text = "party Party = alice | bob | carol;\n\
        val (sk, pk) = #keygen[alice, paillier[2048]];\n\
        val x = at bob { encrypt (pk, 5) * 3 };\n\
        val once = x.reveal;\n\
        val twice = (x.send[carol]).reveal;\n\
        val all = (at {bob, carol} { twice + 1 }).reveal_all;\n\
        at alice { println (decrypt (sk, once), decrypt (sk, twice), decrypt (sk, sum all)); }\n";
    assert_eq!(output(text), "alice: (15, 15, 32)\n");
}

#[test]
fn keys_for_products_and_rotations_are_read_and_compared() {
    let files = InMemoryFileSystem::default();
    let text = "typedef scheme = bfv[4096, 1];\n\
        val (sk, pk) = #keygen[scheme];\n\
        val (other, q) = #keygen[scheme];\n\
        write_cipher (\"products.bin\", key_for_products sk);\n\
        write_cipher (\"rotations.bin\", keys_for_rotations sk);\n\
        val x = encrypt (pk, [1i8, 2i8]);\n\
        val turns = read_rotation_keys (\"rotations.bin\", pk);\n\
        val key = read_product_key (\"products.bin\", pk);\n\
        println (decrypt (sk, rotate (x, 1, turns)));\n";
    let (status, output, messages) = run_with(text, &files);
    assert_eq!((status, output.as_str()), (Status::Ok, "(2, 1)\n"), "{messages}");
    for wrong in ["read_product_key (\"products.bin\", q)", "read_product_key (\"rotations.bin\", pk)"] {
        let (status, _, messages) = run_with(&format!("{text}val w = {wrong};\n"), &files);
        assert!(status != Status::Ok && messages.contains("[E0541]"), "{wrong}\n{messages}");
    }
}

/// The programs of the book's pages that need the feature, each with its output.
#[test]
fn the_pages_of_the_book_print_what_happens() {
    let pages = [include_str!("../../book/src/ciphers.md"), include_str!("../../book/src/private_tables.md")];
    let text = pages.concat();
    let mut programs = 0;
    for part in text.split("```felis ciphers\n").skip(1) {
        let (program, rest) = part.split_once("```\n").expect("a fence is closed");
        let (written, _) = rest
            .trim_start()
            .strip_prefix("```output\n")
            .expect("an output")
            .split_once("```")
            .expect("closed");
        assert_eq!(output(program), written, "{program}");
        programs += 1;
    }
    assert!(programs >= 7, "only {programs} programs");
}

#[test]
fn examples_print_what_stands_beside_them() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/ciphers");
    let mut programs = 0;
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.extension().is_some_and(|extension| extension == "flx") {
            let text = std::fs::read_to_string(&path).expect("readable");
            let expected = std::fs::read_to_string(path.with_extension("out")).expect("its output");
            assert_eq!(output(&text), expected, "{}", path.display());
            programs += 1;
        }
    }
    assert!(programs >= 5, "only {programs} programs");
}
