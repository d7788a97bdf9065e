//! JSON against another reader of it: random texts, whole and damaged; types of every kind there
//! and back; depth and length.

use felis::session::{Mode, Session, Status, on_large_stack};
use serde_json::Value as Other;

/// Returns what a program prints; it must succeed.
fn output(text: &str) -> String {
    on_large_stack(|| {
        let mut session = Session::new();
        let mut output = String::new();
        let done = session.evaluate("test.flx", text, Mode::Script, &mut |text| output.push_str(text));
        let said: String = done.diagnostics.iter().map(|d| session.render(d, false)).collect();
        assert_eq!(done.status, Status::Ok, "{text}\n{said}");
        output
    })
}

/// Returns a random value of JSON as text.
fn random_text(random: &mut fastrand::Rng, depth: usize, out: &mut String) {
    let blanks = ["", "", " ", "\n\t"];
    out.push_str(random.choice(blanks).expect("blanks"));
    match random.usize(..if depth == 0 { 5 } else { 7 }) {
        0 => out.push_str("null"),
        1 => out.push_str(if random.bool() { "true" } else { "false" }),
        2 => out.push_str(&format!("{}", random.i64(-1000..1000))),
        // A real, with all of its digits and with some.
        3 => {
            let bits = f64::from_bits(random.u64(..));
            let number = if bits.is_finite() { bits } else { 0.1 };
            out.push_str(&match random.usize(..3) {
                0 => format!("{number:e}"),
                1 => format!("{number:.20e}"),
                _ => format!("{:.3}", number % 1e6),
            });
        }
        4 => random_quotation(random, out),
        5 => {
            out.push('[');
            for at in 0..random.usize(..5) {
                out.push_str(if at > 0 { "," } else { "" });
                random_text(random, depth - 1, out);
            }
            out.push_str(random.choice(blanks).expect("blanks"));
            out.push(']');
        }
        _ => {
            out.push('{');
            for at in 0..random.usize(..5) {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(random.choice(blanks).expect("blanks"));
                // Names that differ: another reader keeps the last of equal ones.
                out.push_str(&format!("\"{at}"));
                let mut name = String::new();
                random_quotation(random, &mut name);
                out.push_str(&name[1..]);
                out.push_str(random.choice(blanks).expect("blanks"));
                out.push(':');
                random_text(random, depth - 1, out);
            }
            out.push_str(random.choice(blanks).expect("blanks"));
            out.push('}');
        }
    }
    out.push_str(random.choice(blanks).expect("blanks"));
}

/// Writes a text in quotes, with escapes of every kind.
fn random_quotation(random: &mut fastrand::Rng, out: &mut String) {
    out.push('"');
    for _ in 0..random.usize(..6) {
        let parts = [
            "a",
            "é",
            "漢",
            "𝄞",
            "\\n",
            "\\\"",
            "\\\\",
            "\\/",
            "\\u00e9",
            "\\ud83d\\ude00",
            "\\b",
            "\\u0000",
            "'",
        ];
        out.push_str(random.choice(parts).expect("a part"));
    }
    out.push('"');
}

/// Returns a text as a literal of the language.
fn literal(text: &str) -> String {
    let escaped: String = text.chars().map(|c| format!("\\u{{{:x}}}", u32::from(c))).collect();
    format!("\"{escaped}\"")
}

/// Returns the text of a value as Felis writes it: whole reals below 1e15 without a point.
fn expected(value: &Other, out: &mut String) {
    match value {
        Other::Number(number) => {
            let real = number.as_f64().expect("a real");
            let negative_zero = real == 0.0 && real.is_sign_negative();
            if real == real.trunc() && real.abs() < 1e15 && !negative_zero {
                out.push_str(&format!("{}", real as i64));
            } else {
                out.push_str(&felis_runtime::eval::real_text(real));
            }
        }
        Other::Array(items) => {
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                expected(item, out);
            }
            out.push(']');
        }
        Other::Object(members) => {
            out.push('{');
            for (at, (name, member)) in members.iter().enumerate() {
                out.push_str(if at > 0 { "," } else { "" });
                out.push_str(&plain_escapes(&Other::String(name.clone()).to_string()));
                out.push(':');
                expected(member, out);
            }
            out.push('}');
        }
        other => out.push_str(&plain_escapes(&other.to_string())),
    }
}

/// Returns a text with the escapes that Felis writes: no short ones for backspace and form feed.
fn plain_escapes(text: &str) -> String {
    let mut out = String::new();
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        match (c, if c == '\\' { characters.next() } else { None }) {
            ('\\', Some('b')) => out.push_str("\\u0008"),
            ('\\', Some('f')) => out.push_str("\\u000c"),
            (c, next) => out.extend([Some(c), next].into_iter().flatten()),
        }
    }
    out
}

#[test]
fn random_texts_are_read_as_by_another_reader() {
    let seed = std::env::var("FELIS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("FELIS_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut program, mut wanted) = (String::from("import json (*);\n"), Vec::new());
    let mut damaged_count = 0;
    for _ in 0..300 {
        let mut text = String::new();
        random_text(&mut random, 4, &mut text);
        if random.usize(..3) == 0 && text.len() > 1 {
            // A character taken away, doubled, or another in its place.
            let mut chars: Vec<char> = text.chars().collect();
            let at = random.usize(..chars.len());
            match random.usize(..3) {
                0 => drop(chars.remove(at)),
                1 => chars.insert(at, chars[at]),
                _ => chars[at] = *random.choice(&['"', '{', ']', ',', '0', 'e', '\\', '\u{7}']).expect("one"),
            }
            text = chars.into_iter().collect();
        }
        program.push_str(&format!(
            "println (match parse_json {} with | case 1 j => json_text j | case 0 _ => \"wrong\" endmatch);\n",
            literal(&text)
        ));
        // Numbers that are no reals are refused by both.
        wanted.push(match serde_json::from_str::<Other>(&text) {
            Ok(value) => {
                let mut out = String::new();
                expected(&value, &mut out);
                (text, sorted_alike(&value).then_some(out))
            }
            Err(_) => {
                damaged_count += 1;
                (text, Some("wrong".to_string()))
            }
        });
    }
    assert!((20..200).contains(&damaged_count), "{damaged_count} texts are damaged");
    let found = output(&program);
    let lines: Vec<&str> = found.lines().collect();
    assert_eq!(lines.len(), wanted.len());
    for (line, (text, wanted)) in lines.iter().zip(wanted) {
        match wanted {
            Some(wanted) => assert_eq!(*line, wanted, "{text:?}"),
            None => assert_ne!(*line, "wrong", "{text:?}"),
        }
    }
}

/// Returns true if the other reader, which sorts names, has the members in the order of the text:
/// they begin with their numbers, unless a damage has changed one.
fn sorted_alike(value: &Other) -> bool {
    match value {
        Other::Array(items) => items.iter().all(sorted_alike),
        Other::Object(members) => members
            .iter()
            .enumerate()
            .all(|(at, (name, member))| name.starts_with(&at.to_string()) && sorted_alike(member)),
        _ => true,
    }
}

#[test]
fn values_of_each_kind_of_type_are_there_and_back() {
    let text = r#"
import json (*);
variant shape = Circle of real | Square of (side:int, at:int * int) | Empty;
enum mood = Glad, Sad;
struct sample { name : string; values : real ^ ?K; note : option[string]; }
newtype Place = 7;
proc back[T with Eq[T]](name:string, x:T) {
  val text = encode_json x;
  println (name + ": " + text);
  match decode_json[T] text do
  | case 1 y => if not (x == y) do println "  it is another value"; done
  | case 0 wrong => println ("  " + wrong.why);
  done
}
back ("numbers", (1, -2i8, 255u8, 9223372036854775807, 0.1, 1.5f32, 123456789012345678901234567890 :> bigint));
back ("texts", ("a\"b\\\n\u{1}é", 'x', true, ()));
back ("array", [1, 2, 3]);
back ("one", [1]);
back ("none", list_of[int] []);
back ("matrix", (#iota[2 \* 3]));
back ("cube", (#iota[2 \* 2 \* 2]));
back ("nested", ((1, 2.0), (3, 4.0)));
back ("record", (a = 1, b = (c = "x", d = (1, true))));
back ("options", (Some 1, None[int], Some (Some "x")));
back ("sums", (case 1 of (1 + int)) 4);
back ("variants", [Circle 1.0, Square (side=2, at=(3, 4)), Empty]);
back ("moods", (Glad, Sad));
back ("index", (`2:3, 5 :>> Place));
back ("struct", sample ("a", [1.0, 2.5], None));
back ("structs", list_of [sample ("a", [1.0], Some "n"), sample ("b", [], None)]);
back ("lists", list_of [list_of [1], list_of[int] [], list_of [2, 3]]);
back ("any", Object [("a", List [Null, Bool true, Number 2.5, Text "x"])]);
"#;
    let expected = r#"numbers: [1,-2,255,9223372036854775807,0.1,1.5,123456789012345678901234567890]
texts: ["a\"b\\\n\u0001é","x",true,null]
array: [1,2,3]
one: [1]
none: []
matrix: [[0,1,2],[3,4,5]]
cube: [[[0,1],[2,3]],[[4,5],[6,7]]]
nested: [[1,2.0],[3,4.0]]
record: {"a":1,"b":{"c":"x","d":[1,true]}}
options: [1,null,"x"]
sums: 4
variants: [{"Circle":1.0},{"Square":{"side":2,"at":[3,4]}},"Empty"]
moods: ["Glad","Sad"]
index: [2,5]
struct: {"name":"a","values":[1.0,2.5],"note":null}
structs: [{"name":"a","values":[1.0],"note":"n"},{"name":"b","values":[],"note":null}]
lists: [[1],[],[2,3]]
any: {"a":[null,true,2.5,"x"]}
"#;
    assert_eq!(output(text), expected);
}

#[test]
fn what_does_not_fit_is_said_with_its_place() {
    let cases = [
        ("int", "1.5", 0, "1.5 is not a whole number"),
        ("int", " 1e30", 1, "1e30 is not a whole number"),
        ("u8", "256", 0, "256 does not fit `u8`"),
        ("int", "9223372036854775808", 0, "9223372036854775808 does not fit `int`"),
        ("real", "1e999", 0, "1e999 does not fit `real`"),
        ("string", "é", 0, "no value begins like this"),
        ("(a:int, b:string)", r#"{"é": 1, "a": 2}"#, 0, "b: it is missing in the object that begins here"),
        ("(a:int)", r#"{"a": 1, "a": 2}"#, 14, "a: it stands twice in its object"),
        (
            "list[(name:string, age:int)]",
            r#"[{"name": "é", "age": 1}, {"name": "x", "age": "y"}]"#,
            47,
            "[1].age: a text stands where `int` is wanted",
        ),
        ("int ^ 2", "[1]", 0, "a list of 1 stands where `int ^ 2` wants 2"),
        ("char", "\"ab\"", 0, "the text is not one character"),
        ("mood", "\"Gald\"", 0, "`mood` has no case `Gald` of this kind; `Glad` may be meant"),
        ("json", "[1, {\"a\": tru}]", 10, "`true` is not complete"),
        ("json", "[1] 2", 4, "something stands after the value"),
        ("json", "\"\u{7}\"", 1, "a control character stands in a text: write it as an escape"),
        ("json", "\"a", 0, "the text that begins here does not end"),
        ("json", r#""\ud800""#, 1, "this escape is half of a character"),
        ("json", "01", 0, "a number does not begin with 0"),
        ("json", "", 0, "the text ends where a value is wanted"),
        ("json", "[1 2]", 3, "`,` or `]` is missing"),
        ("json", "{1}", 1, "a member begins with its name in quotes"),
    ];
    let mut program = String::from("import json (*);\nenum mood = Glad, Sad;\n");
    let mut expected = String::new();
    for (ty, text, at, why) in cases {
        program.push_str(&format!(
            "println (match decode_json[{ty}] {} with | case 1 _ => \"read\" | case 0 w => w.str endmatch);\n",
            literal(text)
        ));
        expected.push_str(&format!("(at={at}, why={why})\n"));
    }
    assert_eq!(output(&program), expected);
}

#[test]
fn depth_and_types_are_bounded() {
    let deep = "import json (*);\n\
                proc depth(n:int) { println (match parse_json (repeat (\"[\", n) + repeat (\"]\", n)) with \
                | case 1 j => (len (json_text j)).str | case 0 w => w.str endmatch); }\n\
                depth 500; depth 501; depth 1000000;";
    assert_eq!(
        output(deep),
        "1000\n(at=500, why=more than 500 lists and objects within one another)\n\
         (at=500, why=more than 500 lists and objects within one another)\n"
    );
    for (text, code, message) in [
        ("println (encode_json (fun (x:int) => x));", "E0524", "JSON has no form for `int -> int`"),
        (
            "println (encode_json (a = 1, b = (2.0, fun (x:int) => x)));",
            "E0524",
            "JSON has no form for `int -> int`",
        ),
        ("println (encode_json (1.0 / 0.0));", "E0506", "JSON has no number inf: `option` has `None`"),
        (
            "type secret = int; println (encode_json (1 :>> secret));",
            "E0524",
            "JSON has no form for `secret`",
        ),
        (
            "variant chain = End | Link of chain; fun long(n:int):chain { var c = End; for i in 0..<n do c = Link c; done \
             return c; } println (len (encode_json (long 100000)));",
            "E0508",
            "501 calls within one another are too many",
        ),
    ] {
        let mut session = Session::new();
        let done =
            session.evaluate("test.flx", &format!("import json (*); {text}"), Mode::Script, &mut |_| ());
        let found: Vec<(&str, &str)> =
            done.diagnostics.iter().map(|d| (d.code.as_str(), d.message.as_str())).collect();
        assert_eq!(found, [(code, message)], "{text}");
    }
}
