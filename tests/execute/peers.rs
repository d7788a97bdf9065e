//! The silent wrong answers and the accepted leaks of a system for private computation: each as a
//! program here, with the right result or the message that refuses it.
//!
//! The list is that of a run of SPU 0.9.5 with a ring of 64 bits and 18 digits after the point. The
//! mistakes about keys and ciphertexts that MPLang accepts are in `tests/ciphers/refused.txt`: two
//! keys, another pair's key, two sizes of parameters, lengths and widths, scales.

use super::secret::run;
use felis::session::Status;

/// The outcome that a program has.
enum Outcome {
    /// The number that it prints last, within a bound.
    Right(f64, f64),
    /// A code of the message that refuses it, and a part of the message.
    Refused(&'static str, &'static str),
}

use Outcome::{Refused, Right};

/// Numbers that are spread evenly over 1 to 1000, so many.
fn uniform(n: usize) -> String {
    format!("at alice {{ [ (((i :>> int) * 7919 + 13) % 1000 + 1) :> real for i in ..[{n}] ] }}")
}

/// The programs: what the system does, the program, the outcome.
fn programs() -> Vec<(&'static str, String, Outcome)> {
    let hidden = |f: u32, m: u32, values: &str| format!("hide[Party, {f}, {m}] (at alice {{ {values} }})");
    vec![
        (
            "the variance of 1e5 numbers from 1 to 1000 is 1338, not 83 333",
            format!("println (variance (hide[Party, 18, 10] ({}))).reveal;", uniform(100_000)),
            Right(83_333.25, 1.0),
        ),
        (
            "that of more digits than a product holds is refused",
            format!("println (variance (hide[Party, 18, 25] ({}))).reveal;", uniform(1_000)),
            Refused("E0715", "does not fit in 62 bits"),
        ),
        (
            "the mean of 1e4 numbers from 1 to 1000 is low by 4",
            format!("println (mean (hide[Party, 18, 10] ({}))).reveal;", uniform(10_000)),
            Right(500.5, 1e-4),
        ),
        (
            "1e5 * 1e5 is 67 888 128 with 18 digits",
            format!("val x = {};\nprintln (x * x).reveal.0;", hidden(18, 17, "(100000.0, 3.0)")),
            Refused("E0715", "does not fit in 62 bits before it is truncated"),
        ),
        (
            "1e5 * 1e5 with the digits that leave room",
            format!("val x = {};\nprintln (x * x).reveal.0;", hidden(8, 17, "(100000.0, 3.0)")),
            Right(1e10, 1.0),
        ),
        (
            "sqrt 1e6 is 0",
            format!("println (sqrt (claim_pos[0, 20] ({}))).reveal.0;", hidden(18, 20, "(1000000.0, 3.0)")),
            Right(1e3, 1e-3),
        ),
        (
            "1 / 1e6 is 0",
            format!(
                "println (reciprocal (claim_pos[0, 20] ({}))).reveal.0;",
                hidden(30, 20, "(1000000.0, 3.0)")
            ),
            Right(1e-6, 3e-8),
        ),
        (
            "1 / x where x may be 0",
            format!("println (reciprocal ({})).reveal;", hidden(18, 5, "(20.0, 0.0)")),
            Refused("E0301", "fxp_pos"),
        ),
        (
            "exp 20 is negative",
            format!("println (exp ({})).reveal;", hidden(18, 5, "(20.0, 3.0)")),
            Refused("E0715", ""),
        ),
        (
            "exp 5, whose type holds the result",
            format!("println (exp ({})).reveal.0;", hidden(18, 3, "(5.0, 3.0)")),
            Right(5f64.exp(), 1e-4),
        ),
        (
            "NaN + 1 is 1",
            format!("println (({}) + 1.0).reveal;", hidden(18, 4, "(nan, 3.0)")),
            Refused("E0506", "nan is not below 2^4"),
        ),
        (
            "int8 100 + 100 stays 200",
            "val x = hide[Party] (at alice { (100i8, 1i8) });\nprintln (x + x).reveal;".to_string(),
            Refused("E1104", ""),
        ),
        (
            "int8 100 + 100 as integers of the ring",
            "val x = hide[Party] (at alice { (100i8, 1i8) :> int ^ 2 });\nprintln (x + x).reveal.0;".to_string(),
            Right(200.0, 0.0),
        ),
        (
            "of 1e5 comparisons by the third protocol one in twenty is wrong",
            "val p = at alice { [ (i :>> int) * 6364136223846793005 + 1442695040888963407 for i in ..[100000] ] };\n\
             val q = at bob { [ (i :>> int) * 3935559000370003845 + 2691343689449507681 for i in ..[100000] ] };\n\
             val found = (hide[Party] p < hide[Party] q).reveal;\n\
             val (u, v) = (p.reveal, q.reveal);\n\
             println (count [ found.i != (u.i < v.i) for i in ..[100000] ]);"
                .to_string(),
            Right(0.0, 0.0),
        ),
        (
            "a product of 2^26 or more at 18 digits is truncated wrongly",
            format!(
                "val x = {};\nval y = {};\nprintln (x * y).reveal.0;",
                hidden(18, 14, "(16000.5, 1.0)"),
                hidden(18, 13, "(8000.25, 1.0)")
            ),
            Refused("E0715", "does not fit in 62 bits before it is truncated"),
        ),
        (
            "a product of more than 2^26 that its type holds",
            format!(
                "val x = {};\nval y = {};\nprintln (x * y).reveal.0;",
                hidden(16, 14, "(16000.5, 1.0)"),
                hidden(16, 13, "(8000.25, 1.0)")
            ),
            Right(16000.5 * 8000.25, 1e-4),
        ),
        (
            "a comparison beyond 2^63 is wrong",
            "val x = hide[Party] (at alice { (9223372036854775807, -9223372036854775807) });\n\
             val y = hide[Party] (at bob { (-9223372036854775807, 9223372036854775807) });\n\
             val less = (x < y).reveal;\nprintln (count [ less.i == (i :>> int == 1) for i in ..[2] ]);"
                .to_string(),
            Right(2.0, 0.0),
        ),
    ]
}

#[test]
fn what_others_compute_wrong_is_right_or_refused() {
    for (what, text, outcome) in programs() {
        let (status, shown) = run(&text);
        match outcome {
            Right(wanted, bound) => {
                assert_eq!(status, Status::Ok, "{what}\n{text}\n{shown}");
                let found: f64 = shown.trim().parse().unwrap_or_else(|_| panic!("{what}\n{text}\n{shown}"));
                assert!((found - wanted).abs() <= bound, "{what}: {found}, not {wanted}\n{text}");
            }
            Refused(code, part) => {
                assert_ne!(status, Status::Ok, "{what}\n{text}\n{shown}");
                assert!(shown.contains(&format!("[{code}]")), "{what}\n{text}\n{shown}");
                assert!(shown.contains(part), "{what}\n{text}\n{shown}");
            }
        }
    }
}
