//! The cost of starting a process: CPU time of hello world against a process that does nothing, and
//! the time to the first result of a new program.
//!
//! CPU time is measured by the shell over many processes, because that of a single one is below the
//! resolution of its clock.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// The number of processes over which CPU time is summed.
const PROCESSES: usize = 40;

/// Returns the rows of a table: a description, and milliseconds.
pub fn rows() -> Vec<(String, String)> {
    let felis = PathBuf::from(env!("CARGO_BIN_EXE_felis"));
    let hello = Path::new(env!("CARGO_TARGET_TMPDIR")).join("hello.flx");
    std::fs::write(&hello, "println \"hello\";\n").expect("a file under target");
    let mut rows = Vec::new();
    let bare = cpu(&[PathBuf::from("true")]);
    let world = cpu(&[felis.clone(), hello]);
    let in_ms = |v: Option<f64>| v.map_or("absent".to_string(), |ms| format!("{ms:.2} ms"));
    rows.push(("CPU of a bare process (`true`)".to_string(), in_ms(bare)));
    rows.push(("CPU of hello world".to_string(), in_ms(world)));
    rows.push((
        "hello world above a bare process (goal: under 2 ms)".to_string(),
        in_ms(bare.zip(world).map(|(b, w)| w - b)),
    ));
    for name in ["axpy", "laplacian", "diffusion", "tridiagonal"] {
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("benches/kernels/{name}.flx"));
        let mut times: Vec<f64> = (0..15)
            .map(|_| {
                let begun = Instant::now();
                let done = Command::new(&felis).arg(&program).output().expect("felis starts");
                assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
                begun.elapsed().as_secs_f64() * 1e3
            })
            .collect();
        times.sort_by(f64::total_cmp);
        rows.push((
            format!("`felis {name}.flx`, start to end (goal: under 20 ms)"),
            format!("{:.1} ms", times[7]),
        ));
    }
    rows
}

/// Returns the milliseconds of CPU time of one process: the median of several rounds.
fn cpu(command: &[PathBuf]) -> Option<f64> {
    let words: Vec<String> = command.iter().map(|w| format!("'{}'", w.display())).collect();
    let line = match &words[..] {
        [one] if one == "'true'" => "/bin/true".to_string(),
        _ => words.join(" "),
    };
    let script =
        format!("TIMEFORMAT='%U %S'; time for ((i = 0; i < {PROCESSES}; i++)); do {line} >/dev/null; done");
    let mut rounds: Vec<f64> = (0..5)
        .map(|_| {
            let done = Command::new("bash").arg("-c").arg(&script).output().ok()?;
            let text = String::from_utf8_lossy(&done.stderr).into_owned();
            let seconds: f64 = text.split_whitespace().map(|w| w.parse::<f64>().ok()).sum::<Option<f64>>()?;
            Some(seconds * 1e3 / PROCESSES as f64)
        })
        .collect::<Option<Vec<f64>>>()?;
    rounds.sort_by(f64::total_cmp);
    Some(rounds[rounds.len() / 2])
}
