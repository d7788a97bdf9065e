//! `felis test`: runs the examples and tests of programs. Prints for each its outcome, time and
//! differences, and a summary; as JSON, one line for each and one for the summary.

use super::files::FileLoader;
use super::input::{self, SourceText};
use super::interrupt::Activity;
use super::output::print_error;
use super::repl::format_duration;
use super::{MessageFormat, Shell, exit, exit_code, json};
use felis::session::{Outcome, Session, Status, TestOutcome, TestReport, TestRun, TestSelection};
use felis_base::diagnostic::escape_control;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The form of the output of a run of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TestOutput {
    /// All tests, and a summary.
    All,
    /// Failed tests, and a summary.
    Failed,
    /// All tests and the summary, as lines of JSON.
    Json,
}

/// The numbers of tests that passed, failed and were skipped.
#[derive(Default)]
struct TestCounts {
    passed: usize,
    failed: usize,
    skipped: usize,
}

impl Shell {
    /// Tests files one by one, each in a session of its own. Returns the exit code.
    pub(super) fn test(&mut self, files: &[PathBuf], selection: &TestSelection, told: TestOutput) -> u8 {
        if told == TestOutput::Json {
            self.messages = MessageFormat::JsonOut;
        }
        let start = Instant::now();
        let (mut worst, mut count) = (exit::OK, TestCounts::default());
        for file in files {
            let code = self.test_file(file, selection, told, &mut count);
            worst = worst.max(code);
            if code == exit::INTERRUPTED {
                break;
            }
        }
        let time = start.elapsed();
        let TestCounts { passed, failed, skipped } = count;
        if told == TestOutput::Json {
            let seconds = time.as_secs_f64();
            self.output.write(&format!(
                "{}\n",
                json!({ "schema": json::SCHEMA, "passed": passed, "failed": failed, "left_out": skipped, "seconds": seconds })
            ));
        } else if passed + failed + skipped > 0 {
            let mut summary = format!("{passed} passed");
            for (count, word) in [(failed, "failed"), (skipped, "left out")] {
                if count > 0 {
                    summary.push_str(&format!(", {count} {word}"));
                }
            }
            self.output.write(&format!("{summary} in {}\n", format_duration(time)));
        } else if worst == exit::OK {
            self.output.write("there are no examples and no tests\n");
        }
        // A selection that matches no test is an error.
        if passed + failed == 0 && skipped > 0 && worst == exit::OK {
            self.output.flush();
            print_error(&format!("felis: {}", no_match_message(&selection.only)));
            return exit::USAGE;
        }
        if failed > 0 { worst.max(exit::FAILED) } else { worst }
    }

    /// Runs the tests of one file; adds to the counts. Returns the exit code.
    fn test_file(
        &mut self,
        file: &Path,
        selection: &TestSelection,
        told: TestOutput,
        count: &mut TestCounts,
    ) -> u8 {
        let SourceText { name, text } = match self.read_into_new_session(file) {
            Ok(text) => text,
            Err(code) => return code,
        };
        let mut headed = false;
        let TestRun { outcome, skipped, timed_out } = {
            let Shell { session, output, interrupts, .. } = self;
            let _running = interrupts.while_doing(Activity::Evaluating);
            session.test(&name, &text, selection, &mut |session, tested| {
                let passed = match tested.outcome {
                    TestOutcome::Interrupted => return,
                    TestOutcome::Passed => true,
                    _ => false,
                };
                if passed {
                    count.passed += 1;
                } else {
                    count.failed += 1;
                }
                if told == TestOutput::Json {
                    output.write(&format!("{}\n", test_object(&name, &tested, session)));
                } else if told == TestOutput::All || !passed {
                    if !std::mem::replace(&mut headed, true) {
                        output.write(&format!("{name}\n"));
                    }
                    output.write(&test_lines(&name, &tested, session));
                }
                // The result of a test is visible while the next one runs.
                output.flush();
            })
        };
        count.skipped += skipped;
        if timed_out {
            count.failed += 1;
            let limit = selection.limit.unwrap_or_default().as_secs_f64();
            self.output.flush();
            print_error(&format!(
                "felis: `{name}` itself takes longer than {limit} s; nothing of it was tested"
            ));
            return exit::FAILED;
        }
        self.report_outcome(&outcome)
    }

    /// Reads a file and starts a new session for it; the error is the exit code if the file cannot
    /// be read.
    pub(super) fn read_into_new_session(&mut self, file: &Path) -> Result<SourceText, u8> {
        let text = input::read(file).map_err(|refusal| self.report_input_error(&refusal))?;
        self.session.reset();
        self.session.set_loader(Box::new(FileLoader::relative_to(file)));
        self.define_arguments(&text.text, &[]);
        Ok(text)
    }

    /// Reports the outcome of a file's program; returns the exit code.
    pub(super) fn report_outcome(&mut self, outcome: &Outcome) -> u8 {
        self.report_diagnostics(&outcome.diagnostics);
        if outcome.status == Status::Interrupted {
            self.output.flush();
            print_error("interrupted");
        }
        exit_code(outcome.status)
    }
}

/// Returns the title of a test in a message.
fn test_title(tested: &TestReport) -> String {
    match tested.example {
        true => format!("example `{}`", escape_control(&tested.name)),
        false => format!("test \"{}\"", escape_control(&tested.name)),
    }
}

/// Returns the line of a test, and below it the reasons of a failure.
fn test_lines(file: &str, tested: &TestReport, session: &Session) -> String {
    let TestReport { line, outcome, time, .. } = tested;
    let (title, time) = (test_title(tested), format_duration(*time));
    let wrong = match outcome {
        TestOutcome::Passed | TestOutcome::Interrupted => return format!("  ok    {title}  ({time})\n"),
        TestOutcome::Differs { expected, found } => {
            let found = if found.is_empty() { "nothing" } else { found };
            format!("  says  {}\n  gives {}\n", indent_continuation(expected), indent_continuation(found))
        }
        TestOutcome::Failed(diagnostics) => diagnostics.iter().map(|d| session.render(d, false)).collect(),
        TestOutcome::TimedOut(limit) => format!("  takes longer than {} s\n", limit.as_secs_f64()),
    };
    format!("  FAIL  {title}  ({time}), {file}:{line}\n{wrong}")
}

/// Returns the result of a test as JSON.
fn test_object(file: &str, tested: &TestReport, session: &Session) -> Value {
    let TestReport { name, example, line, outcome, time } = tested;
    let mut object = json!({
        "schema": json::SCHEMA,
        "file": file,
        "line": line,
        "kind": if *example { "example" } else { "test" },
        "name": name,
        "seconds": time.as_secs_f64(),
        "fate": match outcome {
            TestOutcome::Passed => "passed",
            TestOutcome::Differs { .. } => "differs",
            TestOutcome::Failed(_) => "failed",
            TestOutcome::TimedOut(_) => "over",
            TestOutcome::Interrupted => "interrupted",
        },
    });
    match outcome {
        TestOutcome::Differs { expected, found } => {
            object["expected"] = json!(expected);
            object["found"] = json!(found);
        }
        TestOutcome::Failed(diagnostics) => {
            object["messages"] = diagnostics
                .iter()
                .map(|diagnostic| json::diagnostic_object(diagnostic, session.sources()))
                .collect();
        }
        _ => {}
    }
    object
}

/// Returns the message that no test has such a name.
fn no_match_message(only: &[String]) -> String {
    let texts: Vec<String> = only.iter().map(|text| format!("`{text}`")).collect();
    format!("no example and no test has {} in its name", texts.join(" or "))
}

/// Parses the time limit of a test, in seconds.
pub(super) fn parse_limit(text: &str) -> Result<Duration, String> {
    match parse_seconds(text)? {
        time if time.is_zero() => Err("a test can take some seconds, more than 0".to_string()),
        time => Ok(time),
    }
}

/// Parses a time in seconds.
pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "seconds are a number, such as `2` or `0.5`".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if seconds < 1e9 => Ok(time),
        _ => Err("seconds are a number from 0 to 999999999".to_string()),
    }
}

/// Indents the lines after the first.
fn indent_continuation(text: &str) -> String {
    text.replace('\n', "\n        ")
}
