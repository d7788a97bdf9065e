//! Agreement of the evaluator and compiled code in every bit, on every program of the project.

use crate::in_memory::InMemoryLoader;
use felis::session::{Executor, ExecutorSetup, Mode, Session, Status, on_large_stack};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering::Relaxed;

/// The statement that the command runs before a program which reads its arguments.
const ARGUMENTS: &str = "val args = of_any_size (() :>> string ^ 0);";

/// Bytes that a value may take: a program that grows one without end is stopped soon.
const MAX_VALUE_BYTES: u64 = 64 << 20;

/// The executors, the first of which is the reference. With three threads, loops are cut that two
/// leave in order.
const EXECUTORS: [ExecutorSetup; 3] = [
    ExecutorSetup::new(Executor::Reference, 1),
    ExecutorSetup::new(Executor::Eager, 1),
    ExecutorSetup::new(Executor::Compiled, 3),
];

/// The executors, and eager ones on two threads with shorter vectors than the longest that this
/// processor has.
fn with_shorter_vectors() -> Vec<ExecutorSetup> {
    let shorter = if has_avx512() { &[128, 256][..] } else { &[128] };
    let shorter = shorter
        .iter()
        .map(|bits| ExecutorSetup { max_vector_bits: Some(*bits), ..ExecutorSetup::new(Executor::Eager, 2) });
    EXECUTORS.into_iter().chain(shorter).collect()
}

/// No program is refused.
const NONE: [&str; 0] = [];

/// Numbers over all programs of a test.
#[derive(Default)]
struct Counts {
    /// Parts of programs that have loops.
    with_loops: u64,
    /// Parts of programs that have none.
    without: u64,
    /// Programs that the checker refuses: names and first messages.
    refused: Vec<String>,
}

/// Returns a description of the difference, if a program does not end in the same way everywhere;
/// adds the parts that have loops, and those that have none, and the program if it is refused.
fn disagreement(
    session: &mut Session,
    name: &str,
    program: &str,
    executors: &[ExecutorSetup],
    counts: &mut Counts,
) -> Option<String> {
    on_large_stack(|| {
        let runs = session.try_on_each("program", program, executors);
        // No executor has seen a program that is refused.
        if runs[0].status == Status::Rejected {
            let first = runs[0].diagnostics.first().map(|d| session.render(d, false));
            counts.refused.push(format!("{name}: {}", first.unwrap_or_default()));
            return None;
        }
        assert_eq!(runs.len(), executors.len(), "{name}");
        if let Some(statistics) = runs[1].statistics() {
            counts.with_loops += statistics.lowered.load(Relaxed);
            counts.without += statistics.declined.load(Relaxed);
        }
        let mut ends = runs.iter().map(|run| {
            let reported: Vec<String> = run.diagnostics.iter().map(|d| session.render(d, false)).collect();
            (run.status, &run.output, reported)
        });
        let reference = ends.next()?;
        ends.zip(&executors[1..])
            .find(|(end, _)| *end != reference)
            .map(|(end, setup)| format!("{name}, {setup:?}:\n{end:#?}\nand not\n{reference:#?}\n"))
    })
}

/// Checks that all of these programs agree, that there are enough of them, and that enough of their
/// parts have loops: the number may only grow. Returns the names of programs that the checker
/// refuses, which agree with everything, with their first messages.
fn all_agree(
    programs: &[(String, String)],
    at_least: usize,
    with_loops: u64,
    loader: &InMemoryLoader,
    executors: &[ExecutorSetup],
) -> Vec<String> {
    assert!(programs.len() >= at_least, "only {} programs were found", programs.len());
    let mut counts = Counts::default();
    // Programs share a session, which reads the library once, and leave nothing to each other.
    let mut session = Session::new();
    session.set_max_value_bytes(MAX_VALUE_BYTES);
    session.set_loader(Box::new(loader.clone()));
    // The words behind the name of a program: none.
    on_large_stack(|| session.evaluate("arguments", ARGUMENTS, Mode::Script, &mut |_| ()));
    let wrong: Vec<String> = programs
        .iter()
        .filter_map(|(name, program)| disagreement(&mut session, name, program, executors, &mut counts))
        .collect();
    assert!(wrong.is_empty(), "{} of {} disagree:\n{}", wrong.len(), programs.len(), wrong.join("\n"));
    let found = format!("{} parts have loops, {} have none", counts.with_loops, counts.without);
    println!("{found}");
    assert!(counts.with_loops >= with_loops, "{found}");
    counts.refused
}

pub(crate) fn read(folder: &str) -> Vec<(String, String)> {
    let text = |path: &PathBuf| fs::read_to_string(path).expect("a program");
    programs(folder).iter().map(|path| (path.display().to_string(), text(path))).collect()
}

fn programs(folder: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found: Vec<PathBuf> = fs::read_dir(folder)
        .expect("a folder")
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|e| e == "flx"))
        .collect();
    found.sort();
    found
}

#[test]
fn examples_agree() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
    let found: Vec<(String, String)> = read("examples").into_iter().map(at_smaller_sizes).collect();
    assert_eq!(all_agree(&found, 20, 3_500, &InMemoryLoader::of_folder(&folder), &EXECUTORS), NONE);
}

/// Programs on which the executors once differed, reduced; with vectors of any length.
#[test]
fn what_once_differed_agrees() {
    let (loader, executors) = (InMemoryLoader::default(), with_shorter_vectors());
    assert_eq!(all_agree(&read("tests/agreement"), 3, 4_800, &loader, &executors), NONE);
}

/// The kernels of the benchmark, with vectors of any length.
#[test]
fn kernels_agree() {
    let (loader, executors) = (InMemoryLoader::default(), with_shorter_vectors());
    assert_eq!(all_agree(&read("benches/kernels"), 15, 60, &loader, &executors), NONE);
}

/// Returns true if vectors have 512 bits unless less is asked for.
fn has_avx512() -> bool {
    #[cfg(target_arch = "x86_64")]
    return is_x86_feature_detected!("avx512f");
    #[cfg(not(target_arch = "x86_64"))]
    return false;
}

/// Programs that fail at run time fail in the same place.
#[test]
fn programs_that_fail_agree() {
    let mut found = read("tests/diagnostics");
    let runs = |name: &str| ["run_", "library_"].iter().any(|prefix| name.starts_with(prefix));
    found.retain(|(path, _)| path.rsplit('/').next().is_some_and(runs));
    // One program runs until it is interrupted.
    found.retain(|(path, _)| !path.contains("interrupted"));
    // The possible depth of calls depends on the executor; the message is a number of calls.
    found.retain(|(path, _)| !path.contains("deep_recursion") && !path.contains("call_chain"));
    all_agree(&found, 40, 51, &InMemoryLoader::default(), &EXECUTORS);
}

/// The examples of the library, each file as one program.
#[test]
fn the_library_agrees() {
    let examples = read("stdlib").into_iter().map(|(name, text)| {
        let lines = text.lines().filter_map(|line| line.strip_prefix("/// > "));
        (name, lines.map(|line| format!("println (_strr ({line}));\n")).collect())
    });
    let mut found: Vec<(String, String)> = examples.collect();
    found.extend(read("stdlib/modules").into_iter().map(|(name, text)| {
        let module = name.rsplit('/').next().and_then(|file| file.strip_suffix(".flx")).expect("a file name");
        let lines = text.lines().filter_map(|line| line.strip_prefix("/// > "));
        let lines: String = lines.map(|line| format!("println (_strr ({line}));\n")).collect();
        (name.clone(), format!("import {module} (*);\n{lines}"))
    }));
    found.extend(read("tests/stdlib").into_iter().map(at_smaller_sizes));
    assert_eq!(all_agree(&found, 18, 5_150, &InMemoryLoader::default(), &EXECUTORS), NONE);
}

/// Sizes of programs, with smaller ones in place of them.
type Sizes = &'static [(&'static str, &'static str)];

/// Programs whose sizes are for machine code on several threads: at those the evaluator takes a
/// minute. 66 columns still have reflections by blocks.
const SMALLER_SIZES: [(&str, Sizes); 5] = [
    ("examples/dijkstra.flx", &[("typedef side = 500;", "typedef side = 90;"), ("`499:side", "`89:side")]),
    ("examples/heap.flx", &[("0..<50000", "0..<3000")]),
    ("examples/shallow_water.flx", &[("finest - 3, 0)), 1000)", "finest - 3, 0)), 100)")]),
    (
        "bits.flx",
        &[
            ("typedef N = 150;", "typedef N = 60;"),
            ("normals[30000]", "normals[3000]"),
            ("normals[200 \\* 90]", "normals[70 \\* 30]"),
            ("normals[200]", "normals[70]"),
            ("normals[4099]", "normals[211]"),
            ("exponentials[10000]", "exponentials[1000]"),
        ],
    ),
    (
        "linalg.flx",
        &[
            ("normals[150 \\* 130]", "normals[68 \\* 66]"),
            (
                "normals[100 \\* 2] (new_key 11), normals[2 \\* 90]",
                "normals[68 \\* 2] (new_key 11), normals[2 \\* 66]",
            ),
            ("i in ..[96], j in ..[80]", "i in ..[68], j in ..[66]"),
            ("normals[80 \\* 70]", "normals[68 \\* 66]"),
            ("real ^ (70 \\* 70)", "real ^ (66 \\* 66)"),
            (".mod[70]", ".mod[66]"),
        ],
    ),
];

/// Returns a program on less data, with its name.
fn at_smaller_sizes((name, mut text): (String, String)) -> (String, String) {
    let sizes = SMALLER_SIZES.iter().filter(|(file, _)| name.ends_with(file)).flat_map(|(_, sizes)| *sizes);
    for (large, small) in sizes {
        assert!(text.contains(large), "`{large}` is not in {name}");
        text = text.replace(large, small);
    }
    (name, text)
}

/// The programs of the book.
#[test]
fn the_book_agrees() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/src");
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).expect("the book").flatten() {
        let Ok(text) = fs::read_to_string(entry.path()) else { continue };
        for (at, fence) in text.split("\n```felis").skip(1).enumerate() {
            let Some((attributes, body)) = fence.split_once('\n') else { continue };
            // Imported files and fragments of programs do not run by themselves.
            if !attributes.starts_with("-part")
                && !attributes.contains("file=")
                && !body.contains("import \"")
            {
                let body = body.split("\n```").next().unwrap_or_default();
                found.push((format!("{} {at}", entry.path().display()), format!("{body}\n")));
            }
        }
    }
    all_agree(&found, 100, 2_570, &InMemoryLoader::default(), &EXECUTORS);
}

/// A type of a failed input is unrelated to the next one.
#[test]
fn types_of_failed_inputs_are_forgotten() {
    for (executor, threads) in [(Executor::Reference, 1), (Executor::Eager, 1), (Executor::Compiled, 2)] {
        let mut session = Session::new().with_executor(executor, threads);
        let mut out = String::new();
        let mut say = |text: &str| session.evaluate("input", text, Mode::Line, &mut |t| out += t).status;
        assert_eq!(say("newtype A = 2; println (flip (1 :>> A)); println (1 / 0);"), Status::Failed);
        assert_eq!(say("newtype B = 9;"), Status::Ok);
        assert_eq!(say("println (flip (8 :>> B));"), Status::Ok, "{executor:?}");
        assert!(out.ends_with("0\n"), "{executor:?}: {out}");
    }
}
