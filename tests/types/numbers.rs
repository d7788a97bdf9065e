//! Number types: the matrix of conversions, arithmetic that wraps, joins, implicit conversion.

use felis::session::{Conversion, Mode, Session, Status, on_large_stack};
use felis_calculus::types::Scalar;
use felis_calculus::types::Type;
use felis_calculus::types::number::conversion;

/// Returns the value of a line as text, or its errors.
fn value(line: &str) -> String {
    let line = line.to_string();
    on_large_stack(move || {
        let mut session = Session::new();
        let outcome = session.evaluate("line", &line, Mode::Line, &mut |_| {});
        match (outcome.status, outcome.value) {
            (Status::Ok, Some(value)) => format!("{} : {}", value.text, value.ty),
            _ => outcome.diagnostics.iter().map(|d| d.code.as_str()).collect::<Vec<_>>().join(" "),
        }
    })
}

#[test]
fn the_matrix_of_conversions() {
    let named = |name: &str| match name {
        "bool" => Type::bool(),
        _ => Type::scalar(Scalar::from_name(name).unwrap_or_else(|| panic!("{name}"))),
    };
    let table = include_str!("conversions.tsv");
    let mut rows = 0;
    for row in table.lines() {
        let [from, to, verdict] = row.split('\t').collect::<Vec<_>>()[..] else { panic!("{row}") };
        assert_eq!(conversion(&named(from), &named(to)).name(), verdict, "{from} to {to}");
        rows += 1;
    }
    assert_eq!(rows, 121);
}

#[test]
fn compound_types_convert_by_component() {
    let mut session = Session::new();
    for (from, to, verdict) in [
        ("i8 ^ 3", "int ^ 3", "implicit"),
        ("i8 * int", "int * i8", "explicit"),
        ("(a:u8, b:f32)", "(a:u16, b:real)", "implicit"),
        ("i8 ^ 3", "i8 ^ 4", "none"),
        ("int", "string", "none"),
        ("3", "int", "explicit"),
        ("int", "3", "none"),
        ("bigint", "int", "explicit"),
        ("int", "bigint", "implicit"),
    ] {
        let found = session.conversion(from, to).unwrap_or(Conversion::None(String::new()));
        assert_eq!(found.name(), verdict, "{from} to {to}");
    }
}

#[test]
fn arithmetic_wraps_at_its_width_and_joins_in_its_family() {
    for (line, shown) in [
        ("val a : i8 = 100; a + a", "-56 : i8"),
        ("val a : u8 = 3; a - 5", "254 : u8"),
        ("val a : i8 = -128; a / -1, -a, a % 7", "(-128, -128, -2) : i8 ^ 3"),
        ("val a : u64 = 18446744073709551615; a * a, a + 1", "(1, 0) : u64 ^ 2"),
        ("val a : i8 = 100; val b : u8 = 200; a + b", "300 : i16"),
        ("val a : u32 = 7; val b : i32 = -8; a + b", "-1 : int"),
        ("val a : f32 = 0.1; val b : real = 0.2; a + b", "0.30000000149011613 : real"),
        ("val a : f32 = 0.1; a + a", "0.2 : f32"),
        ("val a : i16 = 3; a ** 3, a < 4, a == 3", "(27, true, true) : i16 * 2 * 2"),
        ("val x : u8 ^ 3 = (1, 2, 255); x + 1", "(2, 3, 0) : u8 ^ 3"),
        ("val a : u64 = 1; val b : int = 1; a + b", "E0414"),
        ("val a : i32 = 1; a + 1.5", "E0414"),
        ("val a : i8 = 0; 1 / a", "E0501"),
        ("val a : i8 = 128; a", "E0305"),
    ] {
        assert_eq!(value(line), shown, "{line}");
    }
}

#[test]
fn nothing_is_lost_without_being_asked() {
    for (line, shown) in [
        ("val a : i32 = 5; val r : real = a; r", "5.0 : real"),
        ("val a : int = 5; val r : real = a; r", "E0301"),
        ("fun half(x:real):real => x / 2.0; val a : i16 = 3; half a", "1.5 : real"),
        ("val x : u8 ^ 2 = (250, 5); val y : int ^ 2 = x; y * 10", "(2500, 50) : int ^ 2"),
        ("val x : u8 ^ 2 = (250, 5); sum x", "255 : u8"),
        ("val x : u8 ^ 2 = (250, 6); sum x, sum (x :> int ^ 2)", "(0, 256) : u8 * int"),
        ("val a : i32 = -3; abs a", "3 : i32"),
        ("val a : i32 = -3; gcd (a, 6)", "3 : int"),
        ("val a : real = 2.9; a :> u8", "2 : u8"),
        ("val a : real = 256.0; a :> u8", "E0503"),
        ("val a : real = 0.0 / 0.0; a :> i32", "E0503"),
        ("val a : int = 16777217; a :> f32", "16777216.0 : f32"),
        ("val a : real = 1e39; a :> f32", "E0503"),
        ("true :> i8", "1 : i8"),
        ("(300).wrap[u8], (300).saturate[u8], (-1).saturate[u8]", "(44, 255, 0) : u8 ^ 3"),
        ("(1e30).saturate[i32], (0.0 / 0.0).wrap[i32]", "(2147483647, 0) : i32 ^ 2"),
        ("\"a\".wrap[u8]", "E0303"),
        ("val a : u8 = 200; match a with | 200 => 1 | _ => 0 endmatch", "1 : int"),
        ("val a : u8 = 2; a :>> 3", "2 : 3"),
    ] {
        assert_eq!(value(line), shown, "{line}");
    }
}

/// A character converts to an integer, and an integer to a character, only explicitly; no other
/// conversions involve characters.
#[test]
fn characters_convert_to_integers_and_back() {
    let char = Type::scalar(Scalar::Char);
    for scalar in Scalar::ALL {
        let other = Type::scalar(scalar);
        let expected = match scalar {
            Scalar::Char => "same",
            _ if scalar.is_integer() => "explicit",
            _ => "none",
        };
        assert_eq!(conversion(&char, &other).name(), expected, "char to {other}");
        assert_eq!(conversion(&other, &char).name(), expected, "{other} to char");
    }
    let mut session = Session::new();
    for (from, to, verdict) in [
        ("char", "bool", "none"),
        ("bool", "char", "none"),
        ("char", "3 \\* 4", "none"),
        ("3", "char", "none"),
        ("char ^ 3", "u8 ^ 3", "explicit"),
        ("char * real", "int * f32", "explicit"),
        ("char * char", "int * real", "none"),
        ("char -> int", "int", "none"),
    ] {
        let found = session.conversion(from, to).unwrap_or(Conversion::Same);
        assert_eq!(found.name(), verdict, "{from} to {to}");
        if let Conversion::None(why) = found {
            assert!(!why.is_empty(), "{from} to {to} without a reason");
        }
    }
}

#[test]
fn characters_are_values() {
    for (line, shown) in [
        ("'a'", "a : char"),
        ("('a', '\\'', '\\n', '\\u{1F600}', '\"')._strr", "('a','\\'','\\n','😀','\"') : string"),
        ("val x' = 'b'; x' == 'b', 'a' < x', 'Z' < 'a'", "(true, true, true) : bool ^ 3"),
        ("'é' :> int, 955 :> char, 97u8 :> char", "(233, λ, a) : int * char * char"),
        ("0xD800 :> char", "E0503"),
        ("0x110000 :> char", "E0503"),
        ("-1 :> char", "E0503"),
        ("18446744073709551615u64 :> char", "E0503"),
        ("(10n ** 30) :> char", "E0503"),
        ("0x10FFFF :> char :> bigint", "1114111 : bigint"),
        ("'λ' :> u8", "E0503"),
        ("'ÿ' :> u8", "255 : u8"),
        ("('a', 'b') :> u16 ^ 2", "(97, 98) : u16 ^ 2"),
        ("val c : char = 97; c", "E0301"),
        ("val c : char = \"a\"; c", "E0301"),
        ("'a' + 1", "E0414"),
        ("match 'b' with | 'a' => 1 | 'b' => 2 | _ => 3 endmatch", "2 : int"),
        ("match 'b' with | 'a' => 1 endmatch", "E0411"),
        ("match 5 with | 'a' => 1 | _ => 2 endmatch", "E0413"),
        ("('a', 'b', 'c', 'd') :>> char ^ (2 \\* 2)", "(a, b, c, d) : char ^ (2 \\^ 2)"),
        ("'a' == \"a\"", "E0414"),
        ("[('a', 1), ('b', 2)]._strr", "(('a',1),('b',2)) : string"),
    ] {
        assert_eq!(value(line), shown, "{line}");
    }
}

#[test]
fn a_suffix_says_the_type() {
    for (line, shown) in [
        ("5i8, 5i16, 5i32, 5i64", "(5, 5, 5, 5) : i8 * i16 * i32 * int"),
        ("5u8, 5u16, 5u32, 5u64", "(5, 5, 5, 5) : u8 * u16 * u32 * u64"),
        ("2.5f32, 1f64, 2.0f64, 5n", "(2.5, 1.0, 2.0, 5) : f32 * real * real * bigint"),
        ("-128i8, 255u8, -1i64", "(-128, 255, -1) : i8 * u8 * int"),
        ("-128i8 + -128i8", "0 : i8"),
        ("0xffu8, 0b101i16, 0xFFFF_FFFF_FFFF_FFFFu64", "(255, 5, 18446744073709551615) : u8 * i16 * u64"),
        ("0x1f32", "7986 : int"),
        ("1_000_i32, 1e3f32, 1.5e-3f32, 2e0f64", "(1000, 1000.0, 0.0015, 2.0) : i32 * f32 * f32 * real"),
        ("010u8", "10 : u8"),
        ("128i8", "E0305"),
        ("-129i8", "E0305"),
        ("-1u8", "E0305"),
        ("256u8", "E0305"),
        ("18446744073709551616u64", "E0305"),
        ("1e39f32", "E0305"),
        ("val x : f32 = 1e39; x", "E0305"),
        ("1e999f64", "E0104"),
        ("5u7", "E0104"),
        ("5km", "E0104"),
        ("5int", "E0104"),
        ("3x", "E0104"),
        ("5uu8", "E0104"),
        ("1e5f", "E0104"),
        ("1.5u8", "E0132"),
        ("1e5n", "E0132"),
        ("0b1f32", "E0132"),
        ("val x : u8 = 5i8; x", "E0301"),
        ("val x : int = 5u8; x", "5 : int"),
        ("match 5u8 with | 5u8 => 1 | _ => 0 endmatch", "1 : int"),
        ("match -128i8 with | -128i8 => 1 | _ => 0 endmatch", "1 : int"),
        ("match 1.5f32 with | 1.5f32 => 1 | _ => 0 endmatch", "1 : int"),
        ("match 5u8 with | 5i8 => 1 | _ => 0 endmatch", "E0413"),
        ("match 5u8 with | 300u8 => 1 | _ => 0 endmatch", "E0305"),
        ("match 5n with | 5n => 1 | _ => 0 endmatch", "1 : int"),
    ] {
        assert_eq!(value(line), shown, "{line}");
    }
}

/// Prints values in a program, each given as its exact decimal expansion; returns the output.
fn printed(ty: &str, exact: &[String], show: &str) -> Vec<String> {
    let text = format!(
        "val x : {ty} ^ {} = [\n{}];\nfor v in x perform println {show};",
        exact.len(),
        exact.join(",\n")
    );
    on_large_stack(move || {
        let mut out = String::new();
        let outcome = Session::new().evaluate("values", &text, Mode::Script, &mut |text| out += text);
        let said: Vec<String> = outcome.diagnostics.iter().map(|d| d.message.clone()).collect();
        assert!(said.is_empty(), "{said:?}");
        out.lines().map(str::to_string).collect()
    })
}

/// Returns bit patterns of all kinds: special values and their neighbors, then random ones.
fn patterns(special: &[u64], mask: u64) -> Vec<u64> {
    let near = special.iter().flat_map(|&b| [b.wrapping_sub(1), b, b.wrapping_add(1)]);
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let random = std::iter::repeat_with(move || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        state ^ (state >> 31)
    });
    near.chain(random.take(600)).map(|bits| bits & mask).collect()
}

#[test]
fn what_is_printed_of_a_real_reads_back_as_the_same_bits() {
    let special =
        [1u64, 1 << 52, 1 << 63, 0x7fef_ffff_ffff_fffe, 0x4340_0000_0000_0000, 0x3ff0_0000_0000_0000];
    let values: Vec<f64> =
        patterns(&special, u64::MAX).into_iter().map(f64::from_bits).filter(|x| x.is_finite()).collect();
    for show in ["v", "v._strr"] {
        let exact: Vec<String> = values.iter().map(|x| format!("{x:.1100e}")).collect();
        let shown = printed("real", &exact, show);
        assert_eq!(shown.len(), values.len());
        for (x, text) in values.iter().zip(&shown) {
            assert_eq!(text.parse::<f64>().expect("a number").to_bits(), x.to_bits(), "{text}");
        }
        // The language parses its own text as Rust does.
        assert_eq!(printed("real", &shown, show), shown);
    }
}

#[test]
fn what_is_printed_of_an_f32_reads_back_as_the_same_bits() {
    let special = [1u64, 1 << 23, 1 << 31, 0x7f7f_fffe, 0x4b80_0000, 0x15ae_43fd];
    let values: Vec<f32> = patterns(&special, u64::from(u32::MAX))
        .into_iter()
        .map(|bits| f32::from_bits(bits as u32))
        .filter(|x| x.is_finite())
        .collect();
    // Through f64 this value would be rounded twice, to its neighbor.
    let twice: f32 = f32::from_bits(0x15ae_43fd);
    assert_ne!(format!("{twice:?}").parse::<f64>().expect("a number") as f32, twice);
    let exact: Vec<String> = values.iter().map(|x| format!("{x:.200e}")).collect();
    let shown = printed("f32", &exact, "v");
    for (x, text) in values.iter().zip(&shown) {
        assert_eq!(text.parse::<f32>().expect("a number").to_bits(), x.to_bits(), "{text}");
    }
    assert_eq!(printed("f32", &shown, "v"), shown);
    let suffixed: Vec<String> = shown.iter().map(|text| format!("{text}f32")).collect();
    assert_eq!(printed("f32", &suffixed, "v._strr"), shown);
    // Each text denotes the same value in a pattern, too.
    for text in shown.iter().filter(|t| !t.starts_with('-')).take(20) {
        let line = format!("match {text}f32 with | {text} => 1 | _ => 0 endmatch");
        assert_eq!(value(&line), "1 : int", "{line}");
    }
}

#[test]
fn numbers_that_are_none_are_printed_as_what_makes_them() {
    for (line, shown) in [
        ("0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0, -0.0", "(nan, inf, -inf, -0.0) : real ^ 4"),
        ("(fixed (0.0 / 0.0, 3), fixed (1.0 / 0.0, 3))", "(nan, inf) : string ^ 2"),
        ("(0.0 / 0.0, 1.0 / 0.0, -1.0 / 0.0, -0.0)._strr", "((0.0/0.0),(1.0/0.0),(-1.0/0.0),-0.0) : string"),
        ("val x : f32 ^ 4 = ((0.0/0.0),(1.0/0.0),(-1.0/0.0),-0.0); x", "(nan, inf, -inf, -0.0) : f32 ^ 4"),
        ("val x : f32 ^ 2 = ((0.0/0.0),(-1.0/0.0)); x._strr", "((0.0/0.0),(-1.0/0.0)) : string"),
        ("1.0 / -0.0", "-inf : real"),
        ("1.0f32 / -0.0f32", "-inf : f32"),
    ] {
        assert_eq!(value(line), shown, "{line}");
    }
}
