//! The programs of the benchmarks: they print the same, to the last digit, in every executor.

use felis::session::{Executor, Mode, Session, Stage, Status, on_large_stack};
use std::fs;
use std::path::Path;

fn printed(name: &str, text: &str, executor: Executor, threads: usize) -> String {
    let mut session = Session::new().with_executor(executor, threads);
    let mut out = String::new();
    let outcome = session.evaluate(name, text, Mode::Script, &mut |s| out += s);
    let messages: Vec<String> = outcome.diagnostics.iter().map(|d| session.render(d, false)).collect();
    assert!(outcome.status == Status::Ok && messages.is_empty(), "{name}:\n{}", messages.join("\n"));
    out
}

/// The programs of the benchmarks, by their names.
fn programs() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/kernels");
    let paths = fs::read_dir(folder).expect("the kernels are in `benches/kernels`");
    let paths = paths.map(|entry| entry.expect("a readable entry").path());
    let programs = paths.filter(|path| path.extension().is_some_and(|e| e == "flx")).map(|path| {
        let name = path.file_stem().expect("a name").to_string_lossy().into_owned();
        (name, fs::read_to_string(&path).expect("a readable program"))
    });
    let programs: Vec<(String, String)> = programs.collect();
    assert_eq!(programs.len(), 17);
    programs
}

#[test]
fn every_kernel_gives_the_same_in_every_executor() {
    for (name, text) in programs() {
        assert!(text.contains("\ntypedef N = "), "{name}: the harness sets the size");
        assert!(text.contains("\nvar out = "), "{name}: the harness measures this line");
        on_large_stack(|| {
            let meant = printed(&name, &text, Executor::Reference, 1);
            assert!(meant.trim().parse::<f64>().is_ok_and(f64::is_finite), "{name} printed `{meant}`");
            for (executor, threads) in [(Executor::Compiled, 2), (Executor::Eager, 1), (Executor::Eager, 3)] {
                assert_eq!(
                    printed(&name, &text, executor, threads),
                    meant,
                    "{name} with {executor:?}, {threads} threads"
                );
            }
        });
    }
}

/// Returns the nanoseconds that a text such as `1.5 ms` means.
fn nanoseconds(text: &str) -> f64 {
    let (number, unit) = text.trim().split_once(' ').expect("a number and a unit");
    let factor = match unit {
        "ns" => 1.0,
        "µs" => 1e3,
        "ms" => 1e6,
        "s" => 1e9,
        other => panic!("`{other}` is no unit of time"),
    };
    number.parse::<f64>().expect("a number") * factor
}

/// At sizes of about a million, the part of each kernel that has to come in order is small: what
/// more threads than there are here would do is counted, not measured.
#[test]
fn every_kernel_leaves_little_in_order() {
    for (name, text) in programs() {
        let text = text
            .replace("\ntypedef N = 1000;", "\ntypedef N = 1000000;")
            .replace("\ntypedef N = 32;", "\ntypedef N = 1024;")
            .replace("\ntypedef N = 8;", "\ntypedef N = 100;");
        let traces = on_large_stack(|| {
            let mut session = Session::new().with_executor(Executor::Eager, 2);
            session.trace(Stage::Scaling);
            let outcome = session.evaluate(&name, &text, Mode::Script, &mut |_| ());
            assert_eq!(outcome.status, Status::Ok, "{name}");
            session.take_traces()
        });
        let (mut work, mut span) = (0.0, 0.0);
        for text in traces.into_iter().filter_map(|(_, text)| text.ok()) {
            let Some(line) = text.lines().next() else { continue };
            let (first, second) =
                line.strip_prefix("work about ").and_then(|l| l.split_once(", span ")).expect(line);
            work += nanoseconds(first);
            span += nanoseconds(second);
        }
        // These go by tiles of 256 columns, of which there are four.
        let parts = if ["bodies", "column_sums"].contains(&&*name) { 3.0 } else { 12.0 };
        assert!(work >= 1e6, "{name}: the work is {work} ns");
        assert!(span * parts <= work, "{name}: of {work} ns, {span} come in order");
    }
}
