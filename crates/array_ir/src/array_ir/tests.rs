//! Tests of the array IR on random programs: the validator accepts them, printing and reading are
//! inverses, runs are deterministic, end, and give values of their types; and the exact texts of
//! what the validator and the parser refuse.

use super::interpret::{self, Datum, Outcome, RunError};
use super::pass::{Declined, PASSES, Pass, Work};
use super::random::{self, Case, has_type};
use super::{FunctionId, Mnemonic, ScalarFunction, SiteId, SizeAtom, parse, print, renumber, validate};
use fastrand::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

/// Random programs of a test; `FELIS_RANDOM` gives another number.
fn seeds() -> std::ops::Range<u64> {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let first = number("FELIS_SEED").unwrap_or(0);
    first..first + number("FELIS_RANDOM").unwrap_or(600)
}

/// Units of work of a run.
const WORK: u64 = 200_000;

fn run(case: &Case) -> Result<Outcome, RunError> {
    interpret::run(&case.program, case.function, &case.sizes, &case.arguments, WORK)
}

#[test]
fn random_programs_are_valid() {
    for seed in seeds() {
        let case = random::case(seed);
        if let Err(why) = validate::validate(&case.program) {
            panic!("seed {seed}: {why}\n{}", print::program(&case.program));
        }
    }
}

#[test]
fn printing_and_reading_are_inverses() {
    for seed in seeds() {
        let program = random::case(seed).program;
        let text = print::program(&program);
        let read = parse::program(&text).unwrap_or_else(|why| panic!("seed {seed}: {why}\n{text}"));
        assert_eq!(print::program(&read), text, "seed {seed}");
        assert!(read == program, "seed {seed}\n{text}");
    }
}

/// Runs end in each of the ways in which they can, and twice in the same.
#[test]
fn runs_end_and_are_deterministic() {
    let (mut values, mut failures, mut exhausted, mut outputs) = (0u32, 0u32, 0u32, 0u32);
    for seed in seeds() {
        let case = random::case(seed);
        let outcome = run(&case);
        assert_eq!(outcome, run(&case), "seed {seed}");
        match outcome {
            Ok(outcome) => {
                assert!(has_its_type(&case, &outcome.value), "seed {seed}: {:?}", outcome.value);
                values += 1;
                outputs += u32::from(!outcome.output.is_empty());
            }
            Err(RunError::Failed(..)) => failures += 1,
            Err(RunError::Exhausted) => exhausted += 1,
        }
    }
    println!("{values} values, {outputs} with output, {failures} failures, {exhausted} exhausted");
    let enough = 3 * values > values + failures + exhausted && failures > exhausted;
    assert!(enough, "{values}, {failures}, {exhausted}");
}

/// The number of a size parameter of the function that a case runs.
fn size_of(case: &Case) -> impl Fn(SizeAtom) -> Option<u64> {
    move |atom| {
        let mut sizes = case.program.functions[case.function.index()].sizes.iter();
        let at = sizes.position(|(var, _)| atom == SizeAtom::Var(*var))?;
        case.sizes.get(at).copied()
    }
}

fn has_its_type(case: &Case, value: &Datum) -> bool {
    has_type(value, &case.program.functions[case.function.index()].result, &size_of(case))
}

fn fits_arguments(case: &Case) -> bool {
    let function = &case.program.functions[case.function.index()];
    let params = &function.body.params;
    function.sizes.len() == case.sizes.len()
        && params.len() == case.arguments.len()
        && params.iter().zip(&case.arguments).all(|((_, ty), value)| has_type(value, ty, &size_of(case)))
}

#[test]
fn random_programs_have_every_operation() {
    let (mut found, mut texts) = (BTreeSet::new(), String::new());
    for seed in seeds() {
        texts += &print::program(&random::case(seed).program);
        for function in &random::case(seed).program.functions {
            function.body.for_each_stmt(&mut |stmt| {
                let head = print::head(stmt.value, &stmt.op);
                found.insert(head.split(' ').nth(2).expect("a word").to_string());
            });
        }
    }
    let functions = ScalarFunction::ALL.iter().map(|function| function.name());
    let missing: Vec<&str> =
        OPERATIONS.iter().copied().chain(functions).filter(|w| !found.contains(*w)).collect();
    for digit in
        ["affine(", ", sum(", "modular(", "minus", "reverse(", "join(", "split(", "reduce dot", "reduce ("]
    {
        assert!(texts.contains(digit), "{digit}");
    }
    // Of functions of several types there are few programs.
    assert!(missing.iter().all(|word| *word == "fma"), "{missing:?}");
}

/// The words of operations.
const OPERATIONS: &[&str] = &[
    "const",
    "size",
    "select",
    "tuple",
    "part",
    "array",
    "index",
    "at",
    "locate",
    "try_locate",
    "number",
    "check",
    "map",
    "reduce",
    "scan",
    "reduce_at",
    "view",
    "concat",
    "filter",
    "iota",
    "order",
    "update",
    "for",
    "while",
    "block",
    "if",
    "switch",
    "case",
    "tag",
    "pack",
    "open",
    "require",
    "call",
    "io",
    "add",
    "sub",
    "mul",
    "div",
    "min",
    "max",
    "min_unsigned",
    "max_unsigned",
    "div_signed",
    "div_unsigned",
    "rem_signed",
    "rem_unsigned",
    "and",
    "or",
    "xor",
    "neg",
    "not",
    "eq",
    "ne",
    "lt",
    "le",
    "lt_unsigned",
    "le_unsigned",
    "sign_extend",
    "zero_extend",
    "truncate",
    "signed_to_float",
    "unsigned_to_float",
    "float_to_signed",
    "float_to_float",
];

/// Programs with a word exchanged: the parser and the validator do not panic, and what the
/// validator accepts runs to a value of its type.
#[test]
fn damaged_programs_are_refused_or_run() {
    let (mut refused, mut ran, mut unread) = (0u32, 0u32, 0u32);
    for seed in seeds() {
        let mut case = random::case(seed);
        let text = print::program(&case.program);
        let mut random = Rng::with_seed(seed);
        let of_word = |c: char| c.is_ascii_alphanumeric() || "_@?".contains(c);
        let place = |word: &str| word.as_ptr() as usize - text.as_ptr() as usize;
        let words: Vec<(usize, &str)> = text
            .split(|c| !of_word(c))
            .filter(|word| !word.is_empty())
            .map(|word| (place(word), word))
            .collect();
        for _ in 0..100 {
            // A word by another of the same kind.
            let (at, word) = words[random.usize(..words.len())];
            let (_, other) = words[random.usize(..words.len())];
            if other == word || other.as_bytes()[0] != word.as_bytes()[0] {
                continue;
            }
            let damaged = format!("{}{other}{}", &text[..at], &text[at + word.len()..]);
            let Ok(program) = parse::program(&damaged) else {
                unread += 1;
                continue;
            };
            if program.functions.len() != case.program.functions.len() {
                continue;
            }
            case.program = program;
            if validate::validate(&case.program).is_err() || !fits_arguments(&case) {
                refused += 1;
                continue;
            }
            ran += 1;
            if let Ok(outcome) = run(&case) {
                assert!(has_its_type(&case, &outcome.value), "seed {seed}\n{damaged}");
            }
        }
    }
    println!("{unread} unread, {refused} refused, {ran} ran");
    assert!(refused > 10 * ran && ran > 100, "{refused} refused, {ran} ran");
}

/// A program with other numbers runs as before, and is numbered in the same way again.
#[test]
fn numbers_stand_for_nothing() {
    for seed in seeds() {
        let mut case = random::case(seed);
        let before = run(&case);
        renumber(&mut case.program);
        validate::validate(&case.program).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let after = run(&case);
        match (&before, &after) {
            // Sites that no statement names are left out.
            (Err(RunError::Failed(_, before)), Err(RunError::Failed(_, after))) => assert_eq!(before, after),
            (before, after) => assert_eq!(before, after, "seed {seed}"),
        }
        let mut again = case.program.clone();
        renumber(&mut again);
        assert!(again == case.program, "seed {seed}");
    }
}

/// A pass keeps the value, or the site that fails with what it shows, and the output.
#[test]
fn passes_keep_values_and_failures() {
    let (mut compared, mut cases, mut changed) = (0u32, 0u32, BTreeMap::new());
    for seed in seeds() {
        let case = random::case(seed);
        let before = run(&case);
        cases += 1;
        let mut program = case.program.clone();
        for pass in PASSES {
            let mut work = Work::new(pass, &program);
            let after = (pass.run)(&program, &mut work);
            let after = after.unwrap_or_else(|why| panic!("seed {seed}: {} is declined: {why:?}", pass.name));
            let texts = || format!("{}\n=>\n{}", print::program(&program), print::program(&after));
            if let Err(why) = validate::validate(&after) {
                panic!("seed {seed}: {}: {why}\n{}", pass.name, texts());
            }
            let again = Case { program: after.clone(), ..random::case(seed) };
            // Values are compared, not work: a choice by elements takes more units than one of arrays
            // until it is fused.
            let Case { program: passed, function, sizes, arguments, .. } = &again;
            let found = interpret::run(passed, *function, sizes, arguments, 4 * WORK);
            if before != Err(RunError::Exhausted) {
                let same = match (&before, &found) {
                    (Ok(before), Ok(found)) => before.value == found.value && before.output == found.output,
                    (before, found) => before == found,
                };
                assert!(same, "seed {seed}: {}: {before:?} and {found:?}\n{}", pass.name, texts());
                compared += 1;
            }
            *changed.entry(pass.name).or_insert(0) += u32::from(after != program);
            program = after;
        }
    }
    println!("{cases} programs, {compared} comparisons, programs changed: {changed:?}");
    assert!(compared * 10 > cases * PASSES.len() as u32 * 7, "{compared} comparisons of {cases} programs");
    let idle = changed.iter().find(|(_, count)| **count * 20 < cases);
    assert!(idle.is_none(), "{idle:?} of {cases} programs are changed");
}

/// Files `tests/array/PASS/NAME.array` hold a program, a line `=>`, and the program after the pass,
/// which it does not change again. `BLESS=1` rewrites the second part.
#[test]
fn passes_give_what_the_golden_files_say() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/array");
    let bless = std::env::var_os("BLESS").is_some();
    let mut wrong = String::new();
    for pass in PASSES {
        let folder = root.join(pass.name);
        let mut files: Vec<_> = std::fs::read_dir(&folder)
            .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "array"))
            .collect();
        files.sort();
        assert!(!files.is_empty(), "{} has no golden file", pass.name);
        for path in files {
            let text = std::fs::read_to_string(&path).unwrap();
            let (before, after) = text.split_once("\n=>\n").unwrap_or((text.trim_end(), ""));
            let fail = |why: String| -> String { panic!("{}: {why}", path.display()) };
            let program = parse::program(before).map_err(fail).unwrap();
            validate::validate(&program).map_err(|why| fail(format!("before: {why}"))).unwrap();
            let result = (pass.run)(&program, &mut Work::new(pass, &program)).unwrap();
            let found = print::program(&result);
            validate::validate(&result).map_err(|why| fail(format!("after: {why}\n{found}"))).unwrap();
            let again = (pass.run)(&result, &mut Work::new(pass, &result)).unwrap();
            assert_eq!(print::program(&again), found, "{}: again", path.display());
            if bless {
                std::fs::write(&path, format!("{before}\n=>\n{found}")).unwrap();
            } else if found != after {
                wrong += &format!("{} is\n{found}\nand not\n{after}\n", path.display());
            }
        }
    }
    let known = |name: &str| PASSES.iter().any(|pass| pass.name == name);
    for entry in std::fs::read_dir(&root).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        assert!(known(&name), "tests/array/{name} is the folder of no pass");
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The work of a pass at most doubles where the program does, with room for what does not.
#[test]
fn the_work_of_passes_is_linear() {
    let of_statements = |count: u64| {
        let mut text = String::from("fun f0 f[n0: N](v0: [n0] i64, v1: idx [n0]) -> i64, total {\n");
        let mut last = 2;
        text += "v2: i64 = index v0 v1\n";
        for _ in 0..count {
            text += &format!(
                "v{}: [n0] i64 = view [n0] v0 (reverse(n0, d0))
                 v{}: i64 = index v{} v1
                 v{}: i64 = add v{} v{last}\n",
                last + 1,
                last + 2,
                last + 1,
                last + 3,
                last + 2
            );
            last += 3;
        }
        parse::program(&format!("{text}yield v{last}\n}}")).unwrap()
    };
    for pass in PASSES {
        let spent = |count| {
            let program = of_statements(count);
            let mut work = Work::new(pass, &program);
            (pass.run)(&program, &mut work).unwrap();
            work.spent()
        };
        let (once, twice) = (spent(500), spent(1_000));
        assert!(twice <= 2 * once + once / 10, "{}: {once} and {twice}", pass.name);
        let program = of_statements(10);
        let none = Pass { name: pass.name, units: 0, run: pass.run };
        assert_eq!((pass.run)(&program, &mut Work::new(&none, &program)), Err(Declined::Work));
    }
}

/// A function around statements.
fn in_function(statements: &str) -> String {
    format!(
        "site s0: assert 0 to 1 in 0\n\
         fun f0 f[n0: N, n1: M](v0: f64, v1: i64, v2: [n0] f64, v3: idx [n0], v4: b1, v5: sum(f64, i64), \
         v6: some 1 [?0] f64, v7: [n0, n1] f64) -> f64, total {{\n{statements}\n}}"
    )
}

#[test]
fn the_validator_says_what_is_wrong() {
    let mut wrong = String::new();
    for (statements, expected) in VIOLATIONS {
        let text =
            if statements.starts_with("fun") { statements.to_string() } else { in_function(statements) };
        let program = parse::program(&text).unwrap_or_else(|why| panic!("{statements}: {why}"));
        let found = validate::validate(&program).map_or_else(|why| why.to_string(), |()| "valid".into());
        if found != *expected {
            wrong += &format!("{statements}\n    is    {found}\n    not   {expected}\n");
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// Statements of a function, or programs, with what the validator says.
const VIOLATIONS: &[(&str, &str)] = &[
    ("yield v0", "valid"),
    ("yield v9", "in f0: v9 is not defined here"),
    ("yield v1", "in f0: v1 is i64, not f64"),
    ("v0: f64 = const 1.0 yield v0", "in f0 at v0: v0 is defined twice"),
    ("v8: i64 = size n7 yield v0", "in f0 at v8: n7 is not defined here"),
    ("v8: [n7] f64 = map (v9: idx [n0]) { yield v0 } yield v0", "in f0 at v8: n7 is not defined here"),
    ("v8: [?0] f64 = map (v9: idx [n0]) { yield v0 } yield v0", "in f0 at v8: ?0 is bound by no type"),
    ("v8: f64 = add v0 v1 yield v8", "in f0 at v8: `add` is not for (f64, i64)"),
    ("v8: b1 = add v4 v4 yield v0", "in f0 at v8: `add` is not for (b1, b1)"),
    ("v8: i64 = add v0 v0 yield v0", "in f0 at v8: i64 is stated of what is f64"),
    ("v8: f64 = select v1 v0 v0 yield v0", "in f0 at v8: v1 is i64, not b1"),
    ("v8: f64 = select v4 v0 v1 yield v0", "in f0 at v8: v1 is i64, not f64"),
    ("v8: f64 = part v0 0 yield v0", "in f0 at v8: v0 is f64, not a tuple"),
    ("v8: (f64,) = tuple v0 v9: f64 = part v8 1 yield v0", "in f0 at v9: v8 has no part 1"),
    ("v8: [3] f64 = array f64 v0 v0 yield v0", "in f0 at v8: [3] f64 is stated of what is [2] f64"),
    ("v8: [1] f64 = array f64 v1 yield v0", "in f0 at v8: v1 is i64, not f64"),
    ("v8: f64 = index v0 v3 yield v0", "in f0 at v8: v0 is f64, not an array"),
    ("v8: f64 = index v2 v1 yield v0", "in f0 at v8: v1 is i64, not idx [n0]"),
    ("v8: f64 = index v7 v3 yield v0", "in f0 at v8: v3 is idx [n0], not idx [n0, n1]"),
    (
        "v8: idx [n1] = at [n1] (v3.0) yield v0",
        "in f0 at v8: v3.0 is below n0, which is not known to be at most n1",
    ),
    (
        "v8: idx [n0] = at [n0] (const 0) yield v0",
        "in f0 at v8: const 0 is below 1, which is not known to be at most n0",
    ),
    ("v8: idx [n0 + 1] = at [n0 + 1] (const n0) yield v0", "valid"),
    (
        "v8: idx [n0 | n1] = at [n0 | n1] (affine(n0, 1, v3.0)) yield v0",
        "in f0 at v8: affine(n0, 1, v3.0) is below 2*n0, which is not known to be at most n0 + n1",
    ),
    ("v8: idx [2*n0] = at [2*n0] (affine(n0, 1, v3.0)) yield v0", "valid"),
    ("v8: idx [n0] = at [n0] (v3.1) yield v0", "in f0 at v8: there is no digit v3.1"),
    ("v8: idx [n0] = at [n0] (d0) yield v0", "in f0 at v8: there is no digit d0"),
    ("v8: idx [n0] = at [n0] (v3.0, v3.0) yield v0", "in f0 at v8: 2 digits are given for [n0]"),
    ("v8: i64 = number affine(0, 0, v3.0) yield v0", "in f0 at v8: affine(0, 0, v3.0) has the stride 0"),
    ("v8: i64 = number v1.0 yield v0", "in f0 at v8: v1 is i64, not an index"),
    ("v8: idx [n0 + 2] = at [n0 + 2] (sum(v3.0, const 2)) yield v0", "valid"),
    ("v8: idx [2*n0] = at [2*n0] (sum(v3.0, v3.0)) yield v0", "valid"),
    (
        "v8: idx [n0] = at [n0] (sum(v3.0, v3.0)) yield v0",
        "in f0 at v8: sum(v3.0, v3.0) is below 2*n0, which is not known to be at most n0",
    ),
    ("v8: idx [n0] = at [n0] (modular(n0, plus v3.0, plus v3.0, minus v3.0)) yield v0", "valid"),
    (
        "v8: idx [n1] = at [n1] (modular(n1, plus v3.0)) yield v0",
        "in f0 at v8: v3.0 is below n0, which is not known to be at most n1",
    ),
    ("v8: idx [n0] = at [n0] (modular(n0)) yield v0", "in f0 at v8: modular(n0) is made of no digits"),
    (
        "v8: f64 = reduce dot left v0 (v9: idx [n0]) { v10: (f64, f64) = tuple v0 v0 yield v10 } yield v0",
        "in f0 at v8: `dot` is not grouped as `left`",
    ),
    (
        "v8: i64 = reduce dot fixed v1 (v9: idx [n0]) { v10: (i64, i64) = tuple v1 v1 yield v10 } yield v0",
        "in f0 at v8: v1 is i64, not f64",
    ),
    (
        "v8: [n0] f64 = scan dot fixed (v9: idx [n0]) { yield v0 } yield v0",
        "in f0 at v8: `dot` is not for (f64)",
    ),
    (
        "v8: i64 = number reverse(n1, v3.0) yield v0",
        "in f0 at v8: v3.0 is below n0, which is not known to be at most n1",
    ),
    (
        "v8: i64 = number split(v3.0, 0, 2, n1) yield v0",
        "in f0 at v8: v3.0 is below n0, which is not known to be at most 2*n1",
    ),
    (
        "v8: i64 = number split(v3.0, 2, 2, n0) yield v0",
        "in f0 at v8: there is no digit split(v3.0, 2, 2, n0)",
    ),
    (
        "v8: i64 = number join(v3.0: n1) yield v0",
        "in f0 at v8: v3.0 is below n0, which is not known to be at most n1",
    ),
    ("v8: [n1, n0] f64 = view [n1, n0] v7 (d1, d0) yield v0", "valid"),
    (
        "v8: [n1, n0] f64 = view [n1, n0] v7 (d0, d1) yield v0",
        "in f0 at v8: d0 is below n1, which is not known to be at most n0",
    ),
    ("v8: [n0*n1] f64 = view [n0*n1] v7 (split(d0, 0, n0, n1), split(d0, 1, n0, n1)) yield v0", "valid"),
    ("v8: idx [n0] = locate [n0] v1 v1 s0 yield v0", "in f0 at v8: 2 digits are given for [n0]"),
    ("v8: idx [n0] = locate [n0] v1 s3 yield v0", "in f0 at v8: there is no site s3"),
    ("v8: idx [n0] = locate [n0] v1 s0 yield v0", "in f0: the effect is `may_fail`, and `total` is stated"),
    ("v8: () = check v1 s0 yield v0", "in f0 at v8: v1 is i64, not b1"),
    ("v8: f64 = check v4 s0 yield v0", "in f0 at v8: f64 is stated of what is ()"),
    ("v8: [n0] f64 = map (v9: i64) { yield v0 } yield v0", "in f0 at v8: a parameter is i64, not an index"),
    ("v8: [n0] f64 = map () { yield v0 } yield v0", "in f0 at v8: a block has 0 parameters, not 1"),
    (
        "v8: [n1] f64 = map (v9: idx [n0]) { yield v0 } yield v0",
        "in f0 at v8: [n1] f64 is stated of what is [n0] f64",
    ),
    ("v8: f64 = map (v9: idx [n0]) { yield v0 } yield v0", "in f0 at v8: f64 is stated of what is an array"),
    ("v8: [n0] f64 = map (v9: idx [n0]) { yield v1 } yield v0", "in f0 at v8: v1 is i64, not f64"),
    (
        "v8: [n0] idx [n0] = map (v9: idx [n0]) { yield v9 } v10: i64 = number v9.0 yield v0",
        "in f0 at v10: v9 is not defined here",
    ),
    (
        "v8: f64 = block @0 () { v9: [n0] f64 = map (v10: idx [n0]) { exit @0 v0 } yield v0 } yield v0",
        "in f0 at v9: no loop or block @0 is around",
    ),
    ("v8: f64 = block @0 () { next @0 v0 } yield v0", "in f0 at v8: `next` names @0, which is no loop"),
    ("v8: f64 = block @0 () { exit @0 v1 } yield v0", "in f0 at v8: v1 is i64, not f64"),
    (
        "v8: f64 = block @0 () { v9: f64 = block @0 () { exit @0 v0 } yield v9 } yield v0",
        "in f0 at v9: @0 is the label of a loop or block around",
    ),
    ("exit @0 v0", "in f0: no loop or block @0 is around"),
    (
        "v8: f64 = reduce add any v0 (v9: idx [n0]) { yield v0 } yield v0",
        "in f0 at v8: `add` of f64 depends on the grouping",
    ),
    ("v8: f64 = reduce min any v0 (v9: idx [n0]) { yield v0 } yield v8", "valid"),
    (
        "v8: i64 = reduce sub any v1 (v9: idx [n0]) { yield v1 } yield v0",
        "in f0 at v8: `sub` of i64 depends on the grouping",
    ),
    (
        "v8: b1 = reduce add fixed v4 (v9: idx [n0]) { yield v4 } yield v0",
        "in f0 at v8: `add` is not for (b1, b1)",
    ),
    (
        "v8: f64 = reduce (v10: f64, v11: f64) { yield v10 } any v0 (v9: idx [n0]) { yield v0 } yield v0",
        "in f0 at v8: `(…)` is not grouped as `any`",
    ),
    (
        "v8: f64 = reduce (v10: f64, v11: i64) { yield v10 } left v0 (v9: idx [n0]) { yield v0 } yield v0",
        "in f0 at v8: a parameter is i64, not f64",
    ),
    (
        "v8: [n0] f64 = scan min any (v9: idx [n0]) { yield v0 } yield v0",
        "in f0 at v8: `scan` is not grouped as `any`",
    ),
    (
        "v8: [n0] f64 = reduce_at add fixed v2 (v9: idx [n1]) { v10: (idx [n0], f64) = tuple v3 v0 yield v10 } yield v0",
        "in f0 at v8: `reduce_at` is not grouped as `fixed`",
    ),
    (
        "v8: [n0] f64 = reduce_at last any v2 (v9: idx [n1]) { v10: (idx [n0], f64) = tuple v3 v0 yield v10 } yield v0",
        "in f0 at v8: `last` is not grouped as `any`",
    ),
    (
        "v8: [n0] f64 = reduce_at add left v2 (v9: idx [n1]) { v10: (i64, f64) = tuple v1 v0 yield v10 } yield v0",
        "in f0 at v8: v10 is (i64, f64), not (idx [n0], f64)",
    ),
    ("v8: [n0 | n0] f64 = concat v2 v2 yield v0", "valid"),
    ("v8: [2*n0] f64 = concat v2 v2 yield v0", "in f0 at v8: [2*n0] f64 is stated of what is [n0 | n0] f64"),
    (
        "v8: [n0 | n0] f64 = concat v2 v7 yield v0",
        "in f0 at v8: [n0] and [n0, n1] differ beyond the first digit",
    ),
    (
        "v8: some 1 [?0] f64 = filter (v9: idx [n0]) { yield v0 } yield v0",
        "in f0 at v8: v0 is f64, not a truth value and a value",
    ),
    (
        "v8: [n0] f64 = filter (v9: idx [n0]) { v10: (b1, f64) = tuple v4 v0 yield v10 } yield v0",
        "in f0 at v8: [n0] f64 is stated of what is some 1 [?0] f64",
    ),
    (
        "v8: [n0] idx [n0] = order (v9: idx [n0]) { yield v9 } yield v0",
        "in f0 at v8: v9 is idx [n0], not an element or a tuple of keys",
    ),
    ("v8: [n0] f64 = update v2 v3 v1 yield v0", "in f0 at v8: v1 is i64, not f64"),
    (
        "v8: f64 = for @0 v0 (v9: idx [n0], v10: i64) { yield v0 } yield v0",
        "in f0 at v8: a parameter is i64, not f64",
    ),
    (
        "v8: f64 = for @0 v0 in v0 v1 (v9: i64, v10: f64) { yield v0 } yield v0",
        "in f0 at v8: v0 is f64, not i64",
    ),
    (
        "v8: f64 = while @0 v0 (v9: f64) { yield v4 } (v10: f64) { yield v10 } yield v8",
        "in f0: the effect is `may_not_end`, and `total` is stated",
    ),
    (
        "v8: f64 = while @0 v0 (v9: f64) { yield v9 } (v10: f64) { yield v10 } yield v8",
        "in f0 at v8: v9 is f64, not b1",
    ),
    ("v8: f64 = if v1 { yield v0 } { yield v0 } yield v8", "in f0 at v8: v1 is i64, not b1"),
    ("v8: f64 = if v4 { yield v0 } { yield v1 } yield v8", "in f0 at v8: v1 is i64, not f64"),
    ("v8: f64 = switch v5 (v9: f64) { yield v9 } yield v8", "in f0 at v8: 1 blocks for 2 cases"),
    (
        "v8: f64 = switch v5 (v9: f64) { yield v9 } (v10: f64) { yield v0 } yield v8",
        "in f0 at v8: a parameter is f64, not i64",
    ),
    ("v8: f64 = switch v0 (v9: f64) { yield v9 } yield v8", "in f0 at v8: v0 is f64, not a sum"),
    ("v8: f64 = case f64 0 v0 yield v8", "in f0 at v8: f64 is stated of what is a sum"),
    ("v8: sum(f64, i64) = case sum(f64, i64) 2 v0 yield v0", "in f0 at v8: sum(f64, i64) has no case 2"),
    ("v8: sum(f64, i64) = case sum(f64, i64) 1 v0 yield v0", "in f0 at v8: v0 is f64, not i64"),
    ("v8: i64 = tag v0 yield v0", "in f0 at v8: v0 is f64, not a sum"),
    (
        "v8: some 1 [?0] f64 = pack some 1 [?0] f64 (n1) v2 yield v0",
        "in f0 at v8: v2 is [n0] f64, not [n1] f64",
    ),
    (
        "v8: some 1 [?0] f64 = pack some 1 [?0] f64 (n0, n1) v2 yield v0",
        "in f0 at v8: 2 sizes are given, not 1",
    ),
    ("v8: f64 = pack f64 (n0) v0 yield v0", "in f0 at v8: f64 is stated of what is a value with its sizes"),
    ("v8: [n2] f64 = open n2 v6 v9: [n2] f64 = map (v10: idx [n2]) { yield v0 } yield v0", "valid"),
    ("v8: [n0] f64 = open n0 v6 yield v0", "in f0 at v8: n0 is defined twice"),
    ("v8: [n0] f64 = open n2 v6 yield v0", "in f0 at v8: [n0] f64 is stated of what is [n2] f64"),
    ("v8: f64 = open n2 v0 yield v0", "in f0 at v8: v0 is f64, not a value with its sizes"),
    (
        "v8: [n2] f64 = block @0 () { v9: [n2] f64 = open n2 v6 yield v9 } yield v0",
        "in f0 at v8: n2 is not defined here",
    ),
    (
        "v8: [n1] f64 = require [n1] f64 v2 s0 yield v0",
        "in f0: the effect is `may_fail`, and `total` is stated",
    ),
    (
        "v8: [n1] i64 = require [n1] i64 v2 s0 yield v0",
        "in f0 at v8: [n0] f64 differs from [n1] i64 in more than sizes",
    ),
    ("v8: f64 = call f1 total [] yield v0", "in f0 at v8: there is no function f1"),
    ("v8: f64 = call f0 total [n0] v0 yield v0", "in f0 at v8: 1 sizes are given, not 2"),
    ("v8: f64 = call f0 total [n0, n1] v0 yield v0", "in f0 at v8: 1 arguments are given, not 8"),
    (
        "v8: f64 = call f0 total [n1, n1] v0 v1 v2 v3 v4 v5 v6 v7 yield v0",
        "in f0 at v8: v2 is [n0] f64, not [n1] f64",
    ),
    (
        "v8: f64 = call f0 total [n0, n1] v0 v1 v2 v3 v4 v5 v6 v7 yield v0",
        "in f0 at v8: a call of f0 may not end, and less is stated",
    ),
    (
        "v8: f64 = call f0 ordered [n0, n1] v0 v1 v2 v3 v4 v5 v6 v7 yield v0",
        "in f0 at v8: the effect of f0 is not `ordered`",
    ),
    ("v8: () = io emit v0 yield v0", "in f0: the effect is `ordered`, and `total` is stated"),
    ("v8: (some 1 [?0] f64,) = tuple v6 yield v0", "valid"),
    (
        "v8: [1] some 1 [?0] f64 = array some 1 [?0] f64 v6 yield v0",
        "in f0 at v8: some 1 [?0] f64 is a part of another type",
    ),
    ("fun f0 f[](v0: sum()) -> sum(), total { yield v0 }", "in f0: sum() has no parts"),
    ("fun f0 f-g[](v0: f64) -> f64, total { yield v0 }", "in f0: `f-g` is no name"),
    ("fun f0 f[n0: N, n0: M](v0: f64) -> f64, total { yield v0 }", "in f0: n0 is defined twice"),
    (
        "fun f0 f[](v0: some 0 f64) -> f64, total { v1: f64 = const 1.0 yield v1 }",
        "in f0: some 0 f64 has no parts",
    ),
    (
        "fun f0 f[](v0: f64) -> f64, may_not_end { v1: f64 = call f1 may_not_end [] v0 yield v1 }\n\
         fun f1 g[](v0: f64) -> f64, may_not_end { v1: f64 = call f0 may_not_end [] v0 yield v1 }",
        "valid",
    ),
];

#[test]
fn the_parser_says_what_is_wrong() {
    for (text, expected) in [
        ("fun f1 f[](v0: f64) -> f64, total { yield v0 }", "line 1: functions are numbered in order"),
        ("site s1: assert 0 to 1 in 0", "line 1: sites are numbered in order"),
        ("map", "line 1: `site` or `fun` is expected in place of `map`"),
        (
            "fun f0 f[](v0: f64) -> f64, total {\n  v1: f64 = move v0\n  yield v1\n}",
            "line 2: `move` is reserved",
        ),
        ("fun f0 f[](v0: f64) -> f64, total {\n  v1: f64 = twice v0\n}", "line 2: `twice` is no operation"),
        ("fun f0 f[](v0: f16) -> f64, total {", "line 1: `f16` begins no type"),
        ("fun f0 f[](v0: f64) -> f64, calm {", "line 1: `calm` is no effect"),
        ("fun f0 f[](v0: f64) -> f64, total {\n  yield v0\n", "line 2: the text ends too early"),
        ("fun f0 f[](v0: i8) -> i8, total {\n  v1: i8 = const x", "line 2: `x` is no i8"),
        ("fun f0 f[](v0: [n0^65] i8)", "line 1: a size beyond the bounds of sizes"),
        ("fun f0 f[](v0: [x] i8)", "line 1: a size is expected in place of `x`"),
    ] {
        assert_eq!(parse::program(text).map(|_| ()), Err(expected.to_string()), "{text}");
    }
    let deep = format!("fun f0 f[](v0: {}f64", "(".repeat(5_000));
    assert_eq!(parse::program(&deep).map(|_| ()), Err("line 1: nested more than 200 deep".to_string()));
}

/// A word of an operation reads back as that operation.
#[test]
fn words_of_operations_are_distinct() {
    let all: BTreeSet<&str> = OPERATIONS.iter().copied().collect();
    assert_eq!(all.len(), OPERATIONS.len());
    for function in ScalarFunction::ALL {
        assert!(!all.contains(function.name()), "{}", function.name());
        assert!(super::Binary::from_mnemonic(function.name()).is_none());
    }
}

/// The value of the last function of a program.
fn value_of(text: &str, sizes: &[u64], arguments: &[Datum]) -> Result<Datum, RunError> {
    let program = parse::program(text).unwrap_or_else(|why| panic!("{why}\n{text}"));
    validate::validate(&program).unwrap_or_else(|why| panic!("{why}\n{text}"));
    let last = FunctionId(program.functions.len() as u32 - 1);
    interpret::run(&program, last, sizes, arguments, 10_000_000).map(|outcome| outcome.value)
}

fn int(n: i64) -> Datum {
    Datum::Word(n as u64)
}

fn ints(numbers: &[i64]) -> Datum {
    let elements = numbers.iter().map(|n| int(*n)).collect();
    Datum::Array(vec![numbers.len() as u64], Arc::new(elements))
}

/// A function of an array of integers.
fn of_ints(body: &str, result: &str, numbers: &[i64]) -> Result<Datum, RunError> {
    let text = format!(
        "site s0: assert 0 to 1 in 0\nsite s1: assert 0 to 1 in 0\n\
         fun f0 f[n0: N](v0: [n0] i64) -> {result}, ordered {{ {body} }}"
    );
    value_of(&text, &[numbers.len() as u64], &[ints(numbers)])
}

#[test]
fn operations_mean_what_their_texts_say() {
    let at = "v2: i64 = index v0 v1";
    let square =
        format!("v9: [n0] i64 = map (v1: idx [n0]) {{ {at} v3: i64 = mul v2 v2 yield v3 }} yield v9");
    assert_eq!(of_ints(&square, "[n0] i64", &[1, -2, 3]), Ok(ints(&[1, 4, 9])));
    let sum = format!(
        "v8: i64 = const 100 v9: i64 = reduce sub left v8 (v1: idx [n0]) {{ {at} yield v2 }} yield v9"
    );
    assert_eq!(of_ints(&sum, "i64", &[1, 2, 3]), Ok(int(94)));
    assert_eq!(of_ints(&sum, "i64", &[]), Ok(int(100)));
    let scan = format!("v9: [n0] i64 = scan add left (v1: idx [n0]) {{ {at} yield v2 }} yield v9");
    assert_eq!(of_ints(&scan, "[n0] i64", &[1, 2, 3]), Ok(ints(&[1, 3, 6])));
    let counts = format!(
        "v7: i64 = const 0 v8: [3] i64 = array i64 v7 v7 v7
         v9: [3] i64 = reduce_at add left v8 (v1: idx [n0]) {{
           {at} v3: idx [3] = locate [3] v2 s0 v4: i64 = const 1 v5: (idx [3], i64) = tuple v3 v4 yield v5
         }} yield v9"
    );
    assert_eq!(of_ints(&counts, "[3] i64", &[2, 0, 2]), Ok(ints(&[1, 0, 2])));
    assert_eq!(of_ints(&counts, "[3] i64", &[2, 5, 2]), Err(RunError::Failed(SiteId(0), vec![int(5)])));
    let last = counts.replace("reduce_at add left", "reduce_at last left").replace("const 1", "size n0");
    assert_eq!(of_ints(&last, "[3] i64", &[2, 0]), Ok(ints(&[2, 0, 2])));
    let around =
        "v9: [n0] i64 = view [n0] v0 (modular(n0, plus d0, plus d0, minus d0, minus d0, minus d0)) yield v9";
    assert_eq!(of_ints(around, "[n0] i64", &[1, 2, 3, 4]), Ok(ints(&[1, 4, 3, 2])));
    let reverse = "v9: [n0] i64 = view [n0] v0 (reverse(n0, d0)) yield v9";
    assert_eq!(of_ints(reverse, "[n0] i64", &[1, 2, 3]), Ok(ints(&[3, 2, 1])));
    let twice = "v9: [n0 | n0] i64 = concat v0 v0 yield v9";
    assert_eq!(of_ints(twice, "[n0 | n0] i64", &[1, 2]), Ok(ints(&[1, 2, 1, 2])));
    let odd = format!(
        "v9: some 1 [?0] i64 = filter (v1: idx [n0]) {{
           {at} v3: b1 = truncate v2 v4: (b1, i64) = tuple v3 v2 yield v4
         }} yield v9"
    );
    let kept = Datum::Packed(vec![2], Box::new(ints(&[1, 3])));
    assert_eq!(of_ints(&odd, "some 1 [?0] i64", &[1, 2, 3]), Ok(kept));
    let order = format!("v9: [n0] idx [n0] = order (v1: idx [n0]) {{ {at} yield v2 }}
        v10: [n0] i64 = map (v11: idx [n0]) {{ v12: idx [n0] = index v9 v11 v13: i64 = number v12.0 yield v13 }}
        yield v10");
    assert_eq!(of_ints(&order, "[n0] i64", &[3, 1, 3, 1]), Ok(ints(&[1, 3, 0, 2])));
    // Leaves the loop with the first number above 2, and fails if there is none.
    let first = format!(
        "v5: i64 = const -1
         v9: i64 = for @0 v5 (v1: idx [n0], v6: i64) {{
           {at} v3: i64 = const 2 v4: b1 = lt v3 v2
           v7: i64 = if v4 {{ exit @0 v2 }} {{ yield v6 }} yield v7
         }} v10: b1 = ne v9 v5 v11: () = check v10 s1 v9 yield v9"
    );
    assert_eq!(of_ints(&first, "i64", &[1, 5, 7]), Ok(int(5)));
    assert_eq!(of_ints(&first, "i64", &[1, 2]), Err(RunError::Failed(SiteId(1), vec![int(-1)])));
    let powers = "v1: i64 = const 1 v2: i64 = const 4
                  v3: i64 = for @0 v1 in v1 v2 inclusive (v4: i64, v5: i64) { v6: i64 = mul v4 v5 yield v6 } yield v3";
    assert_eq!(of_ints(powers, "i64", &[]), Ok(int(24)));
    assert_eq!(of_ints(&powers.replace(" inclusive", ""), "i64", &[]), Ok(int(6)));
    let last = "v1: i64 = const 9223372036854775807 v2: i64 = const 0
                v3: i64 = for @0 v2 in v1 v1 inclusive (v4: i64, v5: i64) { yield v4 } yield v3";
    assert_eq!(of_ints(last, "i64", &[]), Ok(int(i64::MAX)));
    let set = "v1: i64 = const 0 v2: idx [n0] = locate [n0] v1 s0 v3: i64 = const 9
               v4: [n0] i64 = update v0 v2 v3 yield v4";
    assert_eq!(of_ints(set, "[n0] i64", &[1, 2]), Ok(ints(&[9, 2])));
    let same = "v1: [2] i64 = require [2] i64 v0 s0 yield v1";
    assert_eq!(of_ints(same, "[2] i64", &[1, 2]), Ok(ints(&[1, 2])));
    assert_eq!(of_ints(same, "[2] i64", &[1]), Err(RunError::Failed(SiteId(0), Vec::new())));
    let forever = "v1: i64 = const 0 v2: i64 = while @0 v1 (v3: i64) { v4: b1 = eq v3 v3 yield v4 }
                   (v5: i64) { yield v5 } yield v2";
    assert_eq!(of_ints(forever, "i64", &[]), Err(RunError::Exhausted));
}

/// The fixed grouping, written out: chunks of 32768, eight lanes from -0, and a tree of three
/// levels.
#[test]
fn the_fixed_grouping_is_that_of_core() {
    let count = 70_001u64;
    let text = "fun f0 f[n0: N](v0: f64) -> f64, total {
        v9: f64 = reduce add fixed v0 (v1: idx [n0]) {
          v2: i64 = number affine(1, 1, v1.0) v3: f64 = signed_to_float v2 v4: f64 = const 1.0
          v5: f64 = div v4 v3 yield v5
        } yield v9 }";
    let found = value_of(text, &[count], &[Datum::Word(0.3f64.to_bits())]);
    let elements: Vec<f64> = (1..=count).map(|k| 1.0 / k as f64).collect();
    let mut total = 0.3;
    for chunk in elements.chunks(32_768) {
        let mut lane = [-0.0f64; 8];
        chunk.iter().enumerate().for_each(|(at, x)| lane[at % 8] += x);
        let [a, b, c, d] = [lane[0] + lane[4], lane[1] + lane[5], lane[2] + lane[6], lane[3] + lane[7]];
        total += (a + c) + (b + d);
    }
    assert_eq!(found, Ok(Datum::Word(f64::to_bits(total))));
    let from_left: f64 = elements.iter().fold(0.3, |sum, x| sum + x);
    assert_ne!(from_left.to_bits(), total.to_bits(), "the grouping is visible");
}
