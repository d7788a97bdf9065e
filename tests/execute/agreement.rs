//! Agreement of the evaluator and compiled code in every bit, on every program of the project.

use crate::in_memory::InMemoryLoader;
use felis::session::{Executor, Mode, Session, Status, on_large_stack};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::Ordering::Relaxed;

/// The statement that the command runs before a program which reads its arguments.
const ARGUMENTS: &str = "val args = of_any_size (() :>> string ^ 0);";

/// Bytes that a value may take: a program that grows one without end is stopped soon.
const MAX_VALUE_BYTES: u64 = 64 << 20;

/// The executors, the first of which is the reference, each with its number of threads: with three,
/// loops are cut that two threads leave in order.
const EXECUTORS: [(Executor, usize); 3] =
    [(Executor::Reference, 1), (Executor::Eager, 1), (Executor::Compiled, 3)];

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
fn disagreement(name: &str, program: &str, loader: &InMemoryLoader, counts: &mut Counts) -> Option<String> {
    on_large_stack(|| {
        let mut session = Session::new();
        session.set_max_value_bytes(MAX_VALUE_BYTES);
        session.set_loader(Box::new(loader.clone()));
        if program.contains("args") {
            // The words behind the name of the program: none.
            session.evaluate("arguments", ARGUMENTS, Mode::Script, &mut |_| ());
        }
        let runs = session.evaluate_on_each("program", program, &EXECUTORS);
        // No executor has seen a program that is refused.
        if runs[0].status == Status::Rejected {
            let first = runs[0].diagnostics.first().map(|d| session.render(d, false));
            counts.refused.push(format!("{name}: {}", first.unwrap_or_default()));
            return None;
        }
        assert_eq!(runs.len(), EXECUTORS.len(), "{name}");
        if let Some(statistics) = runs[1].statistics() {
            counts.with_loops += statistics.lowered.load(Relaxed);
            counts.without += statistics.declined.load(Relaxed);
        }
        let mut ends = runs.iter().map(|run| {
            let reported: Vec<String> = run.diagnostics.iter().map(|d| session.render(d, false)).collect();
            (run.status, &run.output, reported)
        });
        let reference = ends.next()?;
        ends.zip(&EXECUTORS[1..])
            .find(|(end, _)| *end != reference)
            .map(|(end, (executor, _))| format!("{name}, {executor:?}:\n{end:#?}\nand not\n{reference:#?}\n"))
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
) -> Vec<String> {
    assert!(programs.len() >= at_least, "only {} programs were found", programs.len());
    let mut counts = Counts::default();
    let wrong: Vec<String> = programs
        .iter()
        .filter_map(|(name, program)| disagreement(name, program, loader, &mut counts))
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
    assert_eq!(all_agree(&read("examples"), 20, 3_500, &InMemoryLoader::of_folder(&folder)), NONE);
}

/// Programs on which the executors once differed, reduced.
#[test]
fn what_once_differed_agrees() {
    assert_eq!(all_agree(&read("tests/agreement"), 3, 4_800, &InMemoryLoader::default()), NONE);
}

#[test]
fn kernels_agree() {
    assert_eq!(all_agree(&read("benches/kernels"), 15, 60, &InMemoryLoader::default()), NONE);
}

/// Vectors of 128 bits, which every processor has, and those of any other size that this processor
/// has, give the same result.
#[test]
fn vectors_of_any_length_agree() {
    let printed = |path: &Path, bits: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_felis"));
        command.arg(path).env("FELIS_EXECUTOR", "eager").env("FELIS_VECTORS", bits);
        command.output().expect("the command runs")
    };
    let found = programs("tests/agreement").into_iter().chain(programs("benches/kernels"));
    let mut count = 0;
    // Without AVX-512 the processor's own vectors have 256 bits, or 128.
    let others = if has_avx512() { &["128", "256"][..] } else { &["128"] };
    for path in found {
        let own = printed(&path, "");
        for bits in others {
            assert_eq!(printed(&path, bits), own, "{path:?} {bits}");
        }
        count += usize::from(!own.stdout.is_empty());
    }
    assert!(count > 20, "only {count} programs were found");
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
    all_agree(&found, 40, 51, &InMemoryLoader::default());
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
    found.extend(read("tests/stdlib").into_iter().map(|(name, text)| {
        let sizes =
            SMALLER_SIZES.iter().find(|(file, _)| name.ends_with(file)).map_or(&[][..], |(_, sizes)| sizes);
        (name, at_smaller_sizes(text, sizes))
    }));
    assert_eq!(all_agree(&found, 18, 5_150, &InMemoryLoader::default()), NONE);
}

/// Sizes of programs, with smaller ones in place of them.
type Sizes = &'static [(&'static str, &'static str)];

/// Programs whose sizes are for machine code on several threads: at those the evaluator takes a
/// minute. 66 columns still have reflections by blocks.
const SMALLER_SIZES: [(&str, Sizes); 2] = [
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
    ("linalg.flx", &[("normals[150 \\* 130]", "normals[70 \\* 66]")]),
];

/// A program on less data.
fn at_smaller_sizes(mut text: String, sizes: Sizes) -> String {
    for (large, small) in sizes {
        assert!(text.contains(large), "`{large}` is not in the program");
        text = text.replace(large, small);
    }
    text
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
    all_agree(&found, 100, 2_570, &InMemoryLoader::default());
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
