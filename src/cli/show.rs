//! `--show`: what parts of a program become on the way to machine code, and what running took.

use super::{Shell, exit};
use felis::session::{Stage, Statistics};
use std::path::Path;
use std::sync::atomic::Ordering;

impl Shell {
    /// Runs a program and prints, part by part, how it looks at a stage.
    pub(super) fn show(&mut self, stage: Stage, file: &Path) -> u8 {
        self.session.trace(stage);
        let code = self.file(file, &[]);
        self.output.end_line();
        for (place, text) in self.session.traced() {
            match text {
                Ok(text) => self.output.write(&format!("── {place}\n{text}")),
                Err(why) => self.output.write(&format!("── {place}\nleft to the evaluator: {why}\n")),
            }
        }
        if let Some(done) = self.session.statistics() {
            self.output.write(&statistics(done));
        }
        self.output.flush();
        if code == exit::OK { exit::OK } else { code }
    }
}

/// What compiled code has done, for people.
fn statistics(statistics: &Statistics) -> String {
    let get = |n: &std::sync::atomic::AtomicU64| n.load(Ordering::Relaxed);
    format!(
        "{} parts compiled as {} kernels in {:.1} ms, {} left to the evaluator; {} runs, {} of them failed; {} bytes allocated\n",
        get(&statistics.lowered),
        get(&statistics.compiled),
        get(&statistics.compiling) as f64 / 1e6,
        get(&statistics.declined),
        get(&statistics.runs),
        get(&statistics.failed),
        get(&statistics.allocated),
    )
}
