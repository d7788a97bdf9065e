//! `felis bench`: the times of the `bench` blocks of programs.

use super::input::SourceText;
use super::interrupt::Activity;
use super::repl::format_duration;
use super::{MessageFormat, Shell, exit, json};
use felis::session::{BenchReport, Session, TestOutcome};
use felis_base::diagnostic::Diagnostic;
use std::path::{Path, PathBuf};
use std::time::Duration;

impl Shell {
    /// Times files one by one, each in a session of its own; each block runs for `time`.
    pub(super) fn bench(&mut self, files: &[PathBuf], time: Duration, json: bool) -> u8 {
        if json {
            self.messages = MessageFormat::JsonOut;
        }
        let (mut worst, mut blocks) = (exit::OK, 0);
        for file in files {
            let code = self.bench_file(file, time, json, &mut blocks);
            worst = worst.max(code);
            if code == exit::INTERRUPTED {
                break;
            }
        }
        if blocks == 0 && worst == exit::OK && !json {
            self.output.write("there are no `bench` blocks\n");
        }
        worst
    }

    /// Times the blocks of one file; adds their number to `blocks`. Returns the exit code.
    fn bench_file(&mut self, file: &Path, time: Duration, json: bool, blocks: &mut usize) -> u8 {
        let SourceText { name, text } = match self.read_into_new_session(file) {
            Ok(text) => text,
            Err(code) => return code,
        };
        let mut failed = false;
        let outcome = {
            let Shell { session, output, interrupts, .. } = self;
            let _running = interrupts.while_doing(Activity::Evaluating);
            session.bench(&name, &text, time, &mut |session, timed| {
                *blocks += 1;
                let BenchReport { name: title, line, runs, outcome } = timed;
                if let TestOutcome::Failed(diagnostics) = outcome {
                    failed = true;
                    output.write(&match json {
                        true => failure_json(&name, line, &title, &diagnostics, session),
                        false => {
                            let messages = diagnostics.iter().map(|d| session.render(d, false));
                            format!(
                                "{name}:{line}: bench \"{title}\" failed\n{}",
                                messages.collect::<String>()
                            )
                        }
                    });
                    output.flush();
                } else if let Some(summary) = Summary::of(&runs) {
                    output.write(&match json {
                        true => summary.json(&name, line, &title),
                        false => summary.line(&title),
                    });
                    output.flush();
                }
            })
        };
        let code = self.report_outcome(&outcome);
        if failed { code.max(exit::FAILED) } else { code }
    }
}

/// Returns a failed block as a line of JSON.
fn failure_json(file: &str, line: usize, title: &str, messages: &[Diagnostic], session: &Session) -> String {
    let messages: Vec<_> =
        messages.iter().map(|message| json::diagnostic_object(message, session.sources())).collect();
    let object = serde_json::json!({
        "schema": json::SCHEMA,
        "file": file,
        "line": line,
        "bench": title,
        "fate": "failed",
        "messages": messages,
    });
    format!("{object}\n")
}

/// The figures that are printed for the runs of a block.
struct Summary {
    /// The time of the first run, including compilation.
    first: Duration,
    /// The median of the runs after the first.
    median: Duration,
    /// The fastest of the runs after the first.
    fastest: Duration,
    /// The number of runs.
    runs: usize,
}

impl Summary {
    /// Returns the summary of the runs; median and fastest are those of the runs after the first.
    fn of(runs: &[Duration]) -> Option<Summary> {
        let (first, rest) = runs.split_first()?;
        let mut sorted = if rest.is_empty() { vec![*first] } else { rest.to_vec() };
        sorted.sort();
        let median = sorted[sorted.len() / 2];
        Some(Summary { first: *first, median, fastest: sorted[0], runs: runs.len() })
    }

    /// Returns the summary as a line of text.
    fn line(&self, title: &str) -> String {
        let Summary { first, median, fastest, runs } = self;
        let (median, fastest, first) =
            (format_duration(*median), format_duration(*fastest), format_duration(*first));
        format!("{title:<30} median {median:>10}   fastest {fastest:>10}   first {first:>10}   {runs} runs\n")
    }

    /// Returns the summary as a line of JSON.
    fn json(&self, file: &str, line: usize, title: &str) -> String {
        let nanoseconds = |time: Duration| time.as_nanos() as u64;
        let object = serde_json::json!({
            "schema": json::SCHEMA,
            "file": file,
            "line": line,
            "bench": title,
            "fate": "passed",
            "median_ns": nanoseconds(self.median),
            "fastest_ns": nanoseconds(self.fastest),
            "first_ns": nanoseconds(self.first),
            "runs": self.runs,
        });
        format!("{object}\n")
    }
}
