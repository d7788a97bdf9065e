//! The array IR of functions, run by its interpreter, against the evaluator: the same words at
//! several sizes, and failures at the same places.

use felis::session::{Executor, HostValue, Mode, Session, Status, library, on_large_stack};
use felis_array_ir::array_ir::interpret::{self, Datum, RunError};
use felis_array_ir::array_ir::{FunctionId, Program, Size, SizeAtom, Space, Type, storage};
use felis_array_ir::build::Declined;
use felis_base::source::Span;
use felis_runtime::layout::Layouts;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Units of work of a run of the interpreter.
const WORK: u64 = 50_000_000;

/// Functions over sizes, and what makes their arguments.
const FUNCTIONS: &str = include_str!("../array/functions.flx");

/// A function with arguments, for sizes in place of `{0}`, `{1}` and `{2}`.
const CALLS: &[(&str, &[&str])] = &[
    ("axpy", &["2.5", "#rs[{0}]", "#rs[{0}] * 2.0"]),
    ("inner", &["#rs[{0}]", "#rs[{0}]"]),
    ("total", &["#ks[{0}]"]),
    ("shorts", &["#ss[{0}]"]),
    ("bytes", &["#us[{0}]"]),
    ("largest", &["#rs[{0}]"]),
    ("least", &["#us[{0}]"]),
    ("turned", &["#rs[{0} \\* {1}]"]),
    ("multiplied", &["#rs[{0} \\* {2}]", "#rs[{2} \\* {1}]"]),
    ("relabelled", &["#rs[{0} \\* {1}]"]),
    ("of_rows", &["#rs[{1} \\* {0}] :>> real ^ {0} ^ {1}"]),
    ("both", &["#rs[{0}]", "#ks[{0}]"]),
    ("sides", &["#ks[{0}]"]),
    ("early", &["5"]),
    ("early", &["2"]),
    ("early", &["-2"]),
    ("quotients", &["#ks[{0}]", "#ks[{0}]"]),
    ("powers", &["-3", "5"]),
    ("powers", &["2", "-1"]),
    ("bits", &["#ks[{0}]"]),
    ("elementary", &["#rs[{0}]"]),
    ("running", &["#rs[{0}]"]),
    ("joined", &["#ks[{0}]"]),
    ("captured", &["1.5", "#rs[{0}]"]),
    ("whole", &["#rs[{0}]"]),
    ("whole", &["#rs[{0}] / 0.0"]),
    ("floats", &["#ks[{0}]"]),
    ("narrow", &["#ks[{0}]"]),
    ("small", &["127"]),
    ("small", &["128"]),
    ("flags", &["#bs[{0}]", "#rs[{0}]"]),
    ("places", &["#rs[{0} \\* {1}]"]),
    ("at_place", &["#rs[{0}]", "2"]),
    ("pair_of", &["0.25", "3"]),
    ("first_of", &["[ (0.5, i :>> int) for i in ..[{0}] ]"]),
    ("sized", &["#rs[{0}]"]),
    ("asserted", &["3"]),
    ("asserted", &["2"]),
    ("ordered", &["#ks[{0}]"]),
    ("twice", &["#rs[{0} \\* {0}]"]),
    ("counted", &["#bs[{0}]"]),
    ("every", &["#bs[{0}]"]),
    ("collatz", &["27"]),
    ("collatz", &["6"]),
    ("sieve", &["#rs[{0}]"]),
    ("first_above", &["100.0", "#rs[{0}]"]),
    ("first_above", &["1e9", "#rs[{0}]"]),
    ("factorials", &["10"]),
    ("factorials", &["0"]),
    ("sorted", &["#ks[{0}]"]),
    ("parts_set", &["#ks[{0}]"]),
    ("chosen", &["5"]),
    ("chosen", &["1"]),
    ("ends", &["#rs[1 \\+ {0} \\+ 1]"]),
    ("joined_ends", &["0.5", "#rs[{0}]", "1.5"]),
    ("rows_of_pairs", &["[ (0.25, #rs[2]) for _ in ..[{0}] ]"]),
    ("pairs_of_row", &["#rs[{0} \\* 3]"]),
    ("stencil", &["#rs[(1 \\+ {0} \\+ 1) \\* (1 \\+ {1} \\+ 1)]"]),
    ("turn", &["3", "#rs[{0}]"]),
    ("turn", &["-7", "#rs[{0}]"]),
    ("torus", &["#rs[{0} \\* {1}]"]),
    ("around", &["#rs[{0}]"]),
    ("dotted", &["#rs[{0}]", "#rs[{0}] + 1.0"]),
    ("wrapped", &["#ks[{0}]"]),
    ("same", &["#ks[{0}]", "#ks[{0}]", "#rs[{0}]"]),
    ("same", &["#ks[{0}]", "#ks[{0}] + 1", "#rs[{0}] / 0.0"]),
    ("singles", &["#rs[{0}]"]),
    ("singles", &["#rs[{0}] / 0.0"]),
    ("singles", &["#rs[{0}] * 1e300"]),
    ("octets", &["#rs[{0}]"]),
    ("octets", &["#rs[{0}] * 1e6"]),
    ("of_singles", &["#ss[{0}]"]),
    ("moved", &["#ks[{0}]"]),
    ("fibonacci", &["12"]),
    ("is_even", &["7"]),
    ("is_odd", &["7"]),
    ("ackermann", &["2", "4"]),
    ("root", &["7.0"]),
    ("down", &["3", "5"]),
    ("down", &["3", "3"]),
    ("swaps", &["9", "#ks[4]"]),
];

/// The sizes that stand for `{0}`, `{1}` and `{2}`.
const SIZES: [[u64; 3]; 7] = [[0, 0, 0], [1, 1, 1], [2, 3, 5], [5, 2, 1], [3, 0, 2], [33, 4, 3], [64, 1, 9]];

fn filled(text: &str, sizes: &[u64; 3]) -> String {
    (0..3).fold(text.to_string(), |text, at| text.replace(&format!("{{{at}}}"), &sizes[at].to_string()))
}

/// The words of a value as it is stored.
fn words(value: &HostValue) -> Vec<u64> {
    let slots = Layouts::default().of(&value.ty).slots;
    (0..slots).map(|at| value.value.slots(at, 1).word()).collect()
}

/// The sizes of the digits of a space.
fn extents(space: &Space, size: &dyn Fn(&Size) -> u64) -> Vec<u64> {
    space.digits.iter().map(|digit| digit.pieces.iter().map(size).sum()).collect()
}

/// Reads a value of a type from words as they are stored.
fn datum(words: &mut dyn Iterator<Item = u64>, ty: &Type, size: &dyn Fn(&Size) -> u64) -> Datum {
    match ty {
        Type::Element(_) => Datum::Word(words.next().expect("a word")),
        Type::Index(space) => {
            let extents = extents(space, size);
            let mut code =
                if extents.iter().product::<u64>() > 1 { words.next().expect("a word") } else { 0 };
            let mut digits: Vec<u64> = Vec::new();
            for extent in extents.iter().rev() {
                digits.push(code % extent);
                code /= extent;
            }
            digits.reverse();
            Datum::Index(digits)
        }
        Type::Tuple(types) => Datum::Tuple(types.iter().map(|ty| datum(words, ty, size)).collect()),
        Type::Array(space, element) => {
            let extents = extents(space, size);
            let count = extents.iter().product::<u64>();
            let elements = (0..count).map(|_| datum(words, element, size)).collect();
            Datum::Array(extents, Arc::new(elements))
        }
        Type::Sum(_) | Type::Exists(..) => unreachable!("the builder makes none"),
    }
}

/// Writes a value of a type as words as they are stored.
fn flatten(value: &Datum, ty: &Type, size: &dyn Fn(&Size) -> u64, out: &mut Vec<u64>) {
    match (value, ty) {
        (Datum::Word(word), _) => out.push(*word),
        (Datum::Index(digits), Type::Index(space)) => {
            let extents = extents(space, size);
            if extents.iter().product::<u64>() > 1 {
                out.push(digits.iter().zip(extents).fold(0, |code, (digit, extent)| code * extent + digit));
            }
        }
        (Datum::Tuple(parts), Type::Tuple(types)) => {
            parts.iter().zip(types).for_each(|(part, ty)| flatten(part, ty, size, out));
        }
        (Datum::Array(_, elements), Type::Array(_, element)) => {
            elements.iter().for_each(|item| flatten(item, element, size, out));
        }
        (value, ty) => unreachable!("{value:?} is no {ty}"),
    }
}

/// A session with the functions; the reference evaluator runs it.
fn session() -> Session {
    let mut session = Session::new().with_executor(Executor::Reference, 1);
    let outcome = session.evaluate("functions", FUNCTIONS, Mode::Script, &mut |_| {});
    let texts: Vec<String> = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert_eq!(outcome.status, Status::Ok, "{}", texts.join("\n"));
    session
}

/// The value of an expression, or the place where it fails.
fn evaluated(session: &mut Session, text: &str) -> Result<HostValue, Span> {
    let outcome = session.evaluate("call", text, Mode::Value, &mut |_| {});
    match outcome.status {
        Status::Ok => Ok(outcome.value.and_then(|value| value.value).expect("a value")),
        Status::Failed => Err(outcome.diagnostics[0].primary.span),
        status => {
            let texts: Vec<String> = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
            panic!("{text} is {status:?}: {}", texts.join("\n"))
        }
    }
}

/// The value of the array IR of a function, as words as they are stored.
fn interpreted(program: &Program, sizes: &[u64], arguments: &[Vec<u64>]) -> Result<Vec<u64>, Span> {
    let function = &program.functions[0];
    let value = |size: &Size| {
        let of = |atom| {
            let at = function.sizes.iter().position(|(var, _)| atom == SizeAtom::Var(*var))?;
            sizes.get(at).copied()
        };
        size.evaluate(&of).expect("sizes of parameters")
    };
    let params = function.body.params.iter().zip(arguments);
    let arguments: Vec<Datum> =
        params.map(|((_, ty), words)| datum(&mut words.iter().copied(), ty, &value)).collect();
    match interpret::run(program, FunctionId(0), &sizes[..function.sizes.len()], &arguments, WORK) {
        Ok(outcome) => {
            let mut out = Vec::new();
            flatten(&outcome.value, &function.result, &value, &mut out);
            Ok(out)
        }
        Err(RunError::Failed(site, _)) => {
            // A failure inside the library is reported at the call in the program.
            let site = &program.sites[site.index()];
            let mut spans = [site.span].into_iter().chain(site.calls.iter().copied());
            let own = library::sources().len() as u32;
            Err(spans.find(|span| span.source.0 >= own).expect("a call in the program"))
        }
        Err(RunError::Exhausted) => panic!("the work is too small"),
    }
}

#[test]
fn the_interpreter_gives_the_words_of_the_evaluator() {
    on_large_stack(|| {
        let mut session = session();
        let built: BTreeMap<String, _> = session
            .build_array_ir(false)
            .into_iter()
            .map(|(name, _, built)| (name.to_string(), built))
            .collect();
        let (mut values, mut failures, mut wrong) = (0, 0, String::new());
        for (name, arguments) in CALLS {
            let program = match &built[*name] {
                Ok(program) => program,
                Err(declined) => {
                    wrong += &format!("{name} is not built: {}\n", declined.word());
                    continue;
                }
            };
            let depends = arguments.iter().any(|argument| argument.contains('{'));
            let large = [70_001, 1, 1];
            let lines = arguments.iter().all(|a| a.contains("[{0}]") && !a.contains("{1}"));
            for sizes in SIZES.iter().chain(
                (lines
                    && !matches!(
                        *name,
                        "ordered" | "sorted" | "sieve" | "parts_set" | "counted" | "every" | "first_above"
                    ))
                .then_some(&large),
            ) {
                let arguments: Vec<String> = arguments.iter().map(|text| filled(text, sizes)).collect();
                let curried = matches!(*name, "captured" | "turn");
                let call = match curried {
                    true => {
                        format!("{name} {}", arguments.iter().map(|a| format!("({a}) ")).collect::<String>())
                    }
                    false => format!("{name} ({})", arguments.join(", ")),
                };
                let given: Vec<Vec<u64>> = arguments
                    .iter()
                    .map(|argument| words(&evaluated(&mut session, argument).expect("an argument")))
                    .collect();
                let expected = evaluated(&mut session, &call).map(|value| words(&value));
                let found = interpreted(program, sizes, &given);
                if found != expected {
                    let show = |result: &Result<Vec<u64>, Span>| match result {
                        Ok(words) => format!("{:x?}", &words[..words.len().min(12)]),
                        Err(span) => format!("fails at {}..{}", span.start, span.end),
                    };
                    wrong += &format!("{call}: {} and not {}\n", show(&found), show(&expected));
                }
                values += usize::from(found.is_ok());
                failures += usize::from(found.is_err());
                if !depends {
                    break;
                }
            }
        }
        println!("{values} values, {failures} failures");
        assert!(wrong.is_empty(), "{wrong}");
        assert!(values > 350 && failures > 25, "{values} values, {failures} failures");
    });
}

/// Every function of the library and of the examples is built to a valid program or declined by a
/// word: the builder panics on one that is not valid. The number of those that are built does not
/// fall.
#[test]
fn functions_of_all_programs_are_built_or_declined() {
    on_large_stack(|| {
        let (mut built, mut declined, mut copies) = (0, BTreeMap::new(), BTreeMap::new());
        let mut session = Session::new();
        // Statements are built, too.
        session.trace(felis::session::Stage::Array);
        let texts = ["examples", "tests/agreement"].into_iter().flat_map(crate::agreement::read);
        let mut all: Vec<_> =
            texts.map(|(name, text)| (name, session.array_ir_of("example", &text))).collect();
        // What they have read of the library stays.
        all.push(("the library".into(), session.build_array_ir(true)));
        for (name, functions) in all {
            for (_, _, result) in functions {
                match result {
                    Ok(program) => {
                        built += 1;
                        let copied: usize = program.functions.iter().map(storage::copies_in_loops).sum();
                        if copied > 0 {
                            *copies.entry(name.clone()).or_insert(0) += copied;
                        }
                        let text = felis_array_ir::array_ir::print::program(&program);
                        assert_eq!(felis_array_ir::array_ir::parse::program(&text), Ok(program), "{text}");
                    }
                    Err(word) => *declined.entry(word).or_insert(0) += 1,
                }
            }
        }
        println!("{built} built, copies in loops {copies:?}, declined {declined:?}");
        assert!(built >= BUILT, "{built} built, declined {declined:?}");
        assert!(copies.values().sum::<usize>() <= COPIES, "copies in loops: {copies:?}");
    });
}

/// Functions of the examples and of what once differed, and of what they read of the library, that
/// are built at least.
const BUILT: usize = 810;

/// Updates in loops that copy their array, at most: rows and pairs that are changed and stored
/// again, fields that exchange their values, boards of which a recursion tries changes, arrays of
/// four numbers that each round has of its own. An array that could be changed where it lies would
/// cost as many operations as it has elements, in each round.
const COPIES: usize = 13;

/// A program, of whose last function or statement the builder says this word.
const DECLINED: &[(&str, &str)] = &[
    ("fun f[T](x:T):T => x;", "polymorphic"),
    ("val t = \"a\" + \"b\";", "text"),
    ("val n = 2n ** 100n;", "bigint"),
    ("fun f(g:int -> int):int => g 1;", "function"),
    (
        "fun f[N:COMPACTLINEAR](x:real ^ N, n:int):int => if n < 2 then 1 else n * f (x, n - 1) endif;",
        "recursion",
    ),
    ("fun f(x:40 *+ int):40 *+ int => x;", "sum"),
    ("fun f[N:COMPACTLINEAR](x:real ^ (2 \\^ N)):real ^ (2 \\^ N) => x;", "power"),
    ("fun f[N:COMPACTLINEAR](x:real ^ below[N]):real ^ below[N] => x;", "size"),
    ("fun f[N:COMPACTLINEAR](x:int ^ N):int { require N == ?G \\* 2; return #sizeof[G]; }", "arrival"),
    ("fun f[N:COMPACTLINEAR](x:cyclic[N], y:cyclic[N]):cyclic[N] => x * y;", "cyclic"),
    ("fun f(i:5):u8 => wrap (i :>> bigint);", "conversion"),
    ("fun f(x:(real * int) ^ 2):real * int * real * int => x :>> (real * int * real * int);", "reshape"),
    (
        "struct S { a:int; } instance Eq[S] { fun == (x:S, y:S):bool => x.a + y.a == 0; } fun f(x:S ^ 3, y:S ^ 3):bool => x == y;",
        "comparison",
    ),
    ("var k = 1; k = k + 1; &k <- 3; for i in 0..<3 perform k = k + i;", "loop"),
    ("var k = (1, 2); &k.0 <- 3;", "variable"),
    ("println 1;", "output"),
    ("fun f(c:char):bool => is_letter c;", "primitive"),
];

#[test]
fn what_is_not_built_has_a_word() {
    on_large_stack(|| {
        let words: BTreeSet<&str> = Declined::ALL.iter().map(|declined| declined.word()).collect();
        assert_eq!(words.len(), Declined::ALL.len(), "two reasons have one word");
        assert!(words.iter().all(|word| word.chars().all(|c| c.is_ascii_lowercase())), "{words:?}");
        let mut wrong = String::new();
        for (program, expected) in DECLINED {
            let mut session = Session::new().with_executor(Executor::Reference, 1);
            session.trace(felis::session::Stage::Array);
            let outcome = session.evaluate("program", program, Mode::Script, &mut |_| {});
            let texts: Vec<String> = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
            if outcome.status != Status::Ok {
                wrong += &format!("{program}: {}\n", texts.join("\n"));
                continue;
            }
            let found = match session.take_traces().pop() {
                Some((_, Err(word))) => word,
                Some((_, Ok(_))) => "valid".to_string(),
                None => "nothing".to_string(),
            };
            if found != *expected {
                wrong += &format!("{program}: {found} and not {expected}\n");
            }
        }
        assert!(wrong.is_empty(), "{wrong}");
    });
}

/// Functions whose array IR is in `tests/array/functions.array`, which `BLESS=1` rewrites.
const SHOWN: &[&str] = &[
    "axpy",
    "multiplied",
    "relabelled",
    "ends",
    "early",
    "at_place",
    "turn",
    "sorted",
    "parts_set",
    "ackermann",
    "root",
];

#[test]
fn the_array_ir_of_functions_is_readable() {
    on_large_stack(|| {
        let mut text = String::new();
        for (name, _, built) in session().build_array_ir(false) {
            if SHOWN.contains(&&*name) {
                let mut program = built.unwrap_or_else(|word| panic!("{name}: {}", word.word()));
                // Places in the text of the library would change with it.
                let span = Span { source: felis_base::source::SourceId(0), start: 0, end: 0 };
                program.sites.iter_mut().for_each(|site| (site.span, site.calls) = (span, Vec::new()));
                text += &felis_array_ir::array_ir::print::program(&program);
                text += "\n";
            }
        }
        let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/array/functions.array");
        if std::env::var_os("BLESS").is_some_and(|v| v == "1") {
            std::fs::write(golden, &text).expect("writable");
        }
        assert_eq!(text, std::fs::read_to_string(golden).unwrap_or_default());
    });
}
