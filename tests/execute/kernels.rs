//! The programs of the benchmarks: they print the same, to the last digit, in every executor.

use felis::session::{Executor, Mode, Session, Status, on_large_stack};
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

#[test]
fn every_kernel_gives_the_same_in_every_executor() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/kernels");
    let mut seen = 0;
    for entry in fs::read_dir(folder).expect("the kernels are in `benches/kernels`") {
        let path = entry.expect("a readable entry").path();
        if path.extension().is_none_or(|e| e != "flx") {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).expect("a readable program");
        assert!(text.contains("\ntypedef N = "), "{}: the harness sets the size", path.display());
        assert!(text.contains("\nvar out = "), "{}: the harness measures this line", path.display());
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
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
    assert_eq!(seen, 17);
}
