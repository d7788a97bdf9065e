//! Programs with parties: each party as a thread, in every executor; projections; random programs
//! against the same computation without places.

use super::checker::{folder, programs, run};
use felis::session::{Executor, Mode, Session, Status};
use felis_calculus::core::projection::Projection;
use std::fs;

/// Runs a program in an executor; returns its output and its messages.
fn run_with(executor: Executor, name: &str, text: &str) -> (Status, String) {
    let mut session = Session::new().with_executor(executor, 2);
    let mut output = String::new();
    let done = session.evaluate(name, text, Mode::Script, &mut |text| output.push_str(text));
    done.diagnostics.iter().for_each(|message| output += &session.render(message, false));
    (done.status, output)
}

/// The executors.
const EXECUTORS: [Executor; 3] = [Executor::Reference, Executor::Compiled, Executor::Eager];

/// The output of a program, the same in all executors.
fn output(name: &str, text: &str) -> String {
    let (status, first) = run_with(EXECUTORS[0], name, text);
    assert_eq!(status, Status::Ok, "{name}\n{text}\n{first}");
    for executor in &EXECUTORS[1..] {
        assert_eq!(
            run_with(*executor, name, text),
            (Status::Ok, first.clone()),
            "{name} {executor:?}\n{text}"
        );
    }
    first
}

#[test]
fn programs_print_what_they_should() {
    let bless = std::env::var_os("BLESS").is_some();
    let mut seen = 0;
    for (name, text) in programs("tests/places", &[""]) {
        seen += 1;
        let path = folder("tests/places").join(&name).with_extension("out");
        let found = output(&name, &text);
        if bless {
            fs::write(&path, &found).expect("written");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(found, expected, "{name}");
    }
    assert!(seen >= 3);
}

/// The projections of a program, as text.
#[test]
fn projections_hold_what_a_party_does() {
    let text = "party Party = alice | bob;\n\
                val x : int @ alice = at alice { 20 + 1 };\n\
                val y = x * 2;\n\
                val z = y.send[bob];\n\
                at bob { println z; }\n\
                val w : int @ {alice, bob} = 3;\n\
                println (w.reveal_all);\n";
    let checked = run("test.flx", text, false);
    let (program, script) = checked.checked.unwrap_or_else(|| panic!("{}", checked.shown));
    let mut found = String::new();
    for me in 0..2 {
        let projection = Projection::new(me, &|ty| ty.clone(), &program.placed_sizes);
        let projected = projection.script(&script);
        found += &format!("party {me}\n{}", felis_calculus::core::print::script(&program, &projected));
    }
    let path = folder("tests/places/projection.txt");
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &found).expect("written");
    }
    assert_eq!(found, fs::read_to_string(&path).unwrap_or_default());
}

/// An error at a place ends the program for all, and the message is that of the place; a public one
/// is told once.
#[test]
fn a_failure_at_a_place_is_told_once() {
    for (text, code, place) in [
        ("val x = at bob { 1 / 0 }; println (x.reveal);", "E0501", Some("bob")),
        ("var k = 0; println (1 / k);", "E0501", None),
        ("val x = at carol { fail \"no\"; 1 }; println 3;", "E0506", Some("carol")),
        (
            "val v = at bob { [ 1 / (3 - (i :>> int)) for i in ..[100000] ] }; at bob { println v.0; }",
            "E0501",
            Some("bob"),
        ),
    ] {
        let text = format!("party Party = alice | bob | carol;\n{text}");
        for executor in EXECUTORS {
            let mut session = Session::new().with_executor(executor, 2);
            let done = session.evaluate("test.flx", &text, Mode::Script, &mut |_| ());
            assert_eq!(done.status, Status::Failed, "{text}");
            let codes: Vec<&str> = done.diagnostics.iter().map(|d| d.code.as_str()).collect();
            assert_eq!(codes, [code], "{text}");
            let shown = session.render(&done.diagnostics[0], false);
            let told = shown.contains("Note: at `");
            assert_eq!(told, place.is_some(), "{shown}");
            if let Some(place) = place {
                assert!(shown.contains(&format!("at `{place}`")), "{shown}");
            }
        }
    }
}

/// A failed line of a session leaves the variables of all parties as they were, and the parties in
/// step.
#[test]
fn a_failed_line_changes_nothing_at_any_place() {
    let mut session = Session::new();
    let mut line = |text: &str| {
        let mut output = String::new();
        let done = session.evaluate("input", text, Mode::Line, &mut |text| output.push_str(text));
        let value = done.value.map(|value| value.text).unwrap_or_default();
        let codes: Vec<&str> = done.diagnostics.iter().map(|d| d.code.as_str()).collect();
        (output + &value, codes.join(" "))
    };
    let ok = |text: &str| (text.to_string(), String::new());
    assert_eq!(line("val k = 5"), ok(""));
    assert_eq!(line("party Party = alice | bob | carol"), ok(""));
    assert_eq!(line("var x : int @ Party = k"), ok(""));
    assert_eq!(line("do at bob { x = 9; } println (1 / (k - 5)); done").1, "E0501");
    assert_eq!(line("x"), ok("alice: 5\nbob: 5\ncarol: 5"));
    assert_eq!(line("at bob { x = 1 / 0; }").1, "E0501");
    assert_eq!(line("x.reveal_all"), ok("(5, 5, 5)"));
    assert_eq!(line("at bob { x = 7; }").1, "");
    assert_eq!(line("x.reveal_all"), ok("(5, 7, 5)"));
    assert_eq!(line("party Q = a | b").1, "E1102");
    assert_eq!(line("x.shift[1]"), ok("alice: 5\nbob: 5\ncarol: 7"));
}

/// A size that a line has told to all is a size as any other in later lines: of arguments of
/// functions, of what moves, in functions of other lines and in methods.
#[test]
fn a_told_size_is_known_in_later_lines() {
    let mut session = Session::new();
    let mut line = |text: &str| {
        let mut output = String::new();
        let done = session.evaluate("input", text, Mode::Line, &mut |text| output.push_str(text));
        done.diagnostics.iter().for_each(|message| output += &session.render(message, false));
        output + &done.value.map(|value| value.text).unwrap_or_default()
    };
    for text in [
        "party Party = alice | bob | carol",
        "val x : (int ^ ?N) @ bob = at bob { iota 7 }",
        "joint fun before():int => (sum x).reveal",
        "reveal N",
        "joint fun after():int => (sum (hide[Party] x)).reveal",
        "class Told[X:SPREAD] { joint fun told_sum : X -> int; }",
        "instance[I:COMPACTLINEAR] Told[(int ^ I) @ bob] { \
           joint fun told_sum(xs:(int ^ I) @ bob):int => (sum (hide[Party] xs)).reveal + #sizeof[N]; }",
    ] {
        assert_eq!(line(text), "", "{text}");
    }
    assert_eq!(line("#before"), "21");
    assert_eq!(line("(sum (hide[Party] x)).reveal"), "21");
    assert_eq!(line("#after"), "21");
    assert_eq!(line("told_sum x"), "28");
    assert_eq!(line("(x + at bob { fill[N] 1 }).reveal"), "(1, 2, 3, 4, 5, 6, 7)");
    assert_eq!(line("len (x.give[Party]).reveal_all"), "3");
    assert!(line("1 / 0").contains("E0501"));
    assert_eq!(line("#after"), "21");
}

/// In `with` the record is evaluated first and then the values as they are written, before the
/// work: of two public errors the first one is told.
#[test]
fn updates_with_moves_are_evaluated_in_order() {
    let head = "party Party = alice | bob;\nval r = at alice { (a = 1, b = 2) };\nval n = 0;\n\
                fun no(text:string):int { fail text; return 0; }\n";
    for (update, code) in [
        ("r.send[bob] with (b = 10 / n, a = no \"a\")", "E0501"),
        ("r.send[bob] with (b = no \"b\", a = 10 / n)", "E0506"),
        ("r.send[bob] with (a = no \"a\", b = 10 / n)", "E0506"),
        ("((no \"r\", r).1).send[bob] with (a = 10 / n)", "E0506"),
    ] {
        for executor in EXECUTORS {
            let (_, found) = run_with(executor, "order", &format!("{head}val w = {update};\n"));
            assert!(found.starts_with(&format!("[{code}]")), "{executor:?} {update}\n{found}");
            assert!(!found.contains("at `"), "{executor:?} {update}\n{found}");
        }
    }
}

/// Random sequences of moves and of work at places end with the values that the same computation
/// has without places.
#[test]
fn random_programs_agree_with_the_same_without_places() {
    let seed = std::env::var("FELIS_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed: u64 = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("FELIS_SEED={seed}");
    let mut rng = fastrand::Rng::with_seed(seed);
    let rounds = std::env::var("FELIS_RANDOM").ok().and_then(|n| n.parse().ok()).unwrap_or(12);
    for _ in 0..rounds {
        let (text, expected) = random_program(&mut rng);
        assert_eq!(output("random.flx", &text), expected, "{text}");
    }
}

/// A random program, and what it should print.
fn random_program(rng: &mut fastrand::Rng) -> (String, String) {
    const NAMES: [&str; 4] = ["alice", "bob", "carol", "dave"];
    let count = rng.usize(2..=4);
    let names = &NAMES[..count];
    let length = rng.usize(1..5);
    let mut text = format!("party Party = {};\n", names.join(" | "));
    let mut expected = String::new();
    // What each variable holds, at each of its places.
    let mut known: Vec<(Vec<usize>, Vec<Vec<i64>>)> = Vec::new();
    let shown = |values: &[i64]| match values {
        [one] => format!("[{one}]"),
        all => format!("({})", all.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
    };
    let array =
        |values: &[i64]| format!("[{}]", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", "));
    let set = |places: &[usize]| match places {
        [one] => names[*one].to_string(),
        all if all.len() == count => "Party".to_string(),
        all => format!("{{{}}}", all.iter().map(|p| names[*p]).collect::<Vec<_>>().join(", ")),
    };
    for step in 0..rng.usize(3..12) {
        let new = known.len();
        let choice = rng.usize(..7);
        let singles: Vec<usize> = (0..new).filter(|v| known[*v].0.len() == 1).collect();
        match (choice, rng.choice(&singles)) {
            (1, Some(&from)) => {
                let to = rng.usize(..count);
                text += &format!("val v{new} = v{from}.send[{}];\n", names[to]);
                known.push((vec![to], known[from].1.clone()));
            }
            (2, Some(&from)) => {
                let to: Vec<usize> = (0..count).filter(|_| rng.bool()).collect();
                let to = if to.is_empty() { vec![0] } else { to };
                text += &format!("val v{new} = v{from}.give[{}];\n", set(&to));
                known.push((to.clone(), vec![known[from].1[0].clone(); to.len()]));
            }
            (3, _) if new > 0 => {
                let from = rng.usize(..new);
                let (places, values) = known[from].clone();
                let k = rng.usize(..5);
                text += &format!("val v{new} = v{from}.shift[{k}];\n");
                let n = places.len();
                known.push((places, (0..n).map(|i| values[(i + n - k % n) % n].clone()).collect()));
            }
            (4, _) if new > 0 => {
                let (a, b) = (rng.usize(..new), rng.usize(..new));
                let both: Vec<usize> =
                    known[a].0.iter().copied().filter(|p| known[b].0.contains(p)).collect();
                if both.is_empty() {
                    continue;
                }
                text += &format!("val v{new} = v{a} + v{b} * 3;\n");
                let at = |v: usize, p: usize| {
                    let i = known[v].0.iter().position(|own| *own == p).expect("a place of both");
                    known[v].1[i].clone()
                };
                let values =
                    both.iter().map(|&p| at(a, p).iter().zip(at(b, p)).map(|(x, y)| x + y * 3).collect());
                let values = values.collect();
                known.push((both, values));
            }
            (5, _) if new > 0 => {
                let from = rng.usize(..new);
                text += &format!("at {} {{ println v{from}; }}\n", set(&known[from].0));
                for (place, values) in known[from].0.iter().zip(&known[from].1) {
                    expected += &format!("{}: {}\n", names[*place], shown(values));
                }
            }
            (6, _) if new > 0 => {
                let from = rng.usize(..new);
                match &known[from].0[..] {
                    [_] => {
                        text += &format!("println (v{from}.reveal);\n");
                        expected += &format!("{}\n", shown(&known[from].1[0]));
                    }
                    _ => {
                        text += &format!(
                            "println (sum (v{from}.reveal_all :>> int ^ ({} \\* {length})));\n",
                            set(&known[from].0)
                        );
                        let total: i64 = known[from].1.iter().flatten().sum();
                        expected += &format!("{total}\n");
                    }
                }
            }
            _ => {
                let places: Vec<usize> = (0..count).filter(|_| rng.u8(..3) > 0).collect();
                let places = if places.is_empty() { vec![step % count] } else { places };
                let values: Vec<i64> = (0..length).map(|_| rng.i64(-50..50)).collect();
                text += &format!(
                    "val v{new} : (int ^ {length}) @ {} = at {} {{ {} }};\n",
                    set(&places),
                    set(&places),
                    array(&values)
                );
                known.push((places.clone(), vec![values; places.len()]));
            }
        }
    }
    (text, expected)
}

/// An error that does not depend on what is at a place is that of all parties: all public output
/// before it is written, no party is named, and the message is the same in each run. One at a place
/// names it.
#[test]
fn a_public_error_is_the_same_for_all_parties() {
    let head =
        "party Party = alice | bob | carol;\nval x = hide[Party] (at alice { 5 });\nprintln x.reveal;\n";
    let public = [
        ("val n = 0;\nprintln (10 / n);\n", "E0501"),
        ("fun half(n:int):int => 10 / n;\njoint fun f(n:int):int => half n;\nprintln (f 0);\n", "E0501"),
        ("val y = hide[{alice, bob}] (at carol { 5 });\nprintln y.reveal;\n", "E0515"),
        ("assert x.reveal == 4;\n", "E0507"),
    ];
    for (rest, code) in public {
        let text = format!("{head}{rest}");
        for executor in EXECUTORS.into_iter().cycle().take(6) {
            let (_, found) = run_with(executor, "public", &text);
            assert!(found.starts_with(&format!("5\n[{code}]")), "{executor:?}\n{text}{found}");
            assert!(!found.contains("at `"), "{executor:?}\n{text}{found}");
        }
    }
    let placed = ["at bob { println (10 / n); }", "val z = 10 / n;", "val z = at bob { half n };"];
    for rest in placed {
        let text = format!("{head}fun half(n:int):int => 10 / n;\nval n = at bob {{ 0 }};\n{rest}\n");
        let (_, found) = run_with(Executor::Compiled, "placed", &text);
        assert!(found.contains("[E0501]") && found.contains("at `bob`"), "{text}{found}");
    }
}
