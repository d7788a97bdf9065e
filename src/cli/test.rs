//! `felis test`: the examples and tests of programs: each with how it went and how long it took, what differs, and
//! a summary. As JSON, a line for each and one for all.

use super::files::Files;
use super::input::{self, Text};
use super::interrupt::Doing;
use super::output::complain;
use super::repl::duration;
use super::{Messages, Shell, code, exit, json};
use felis::diagnostic::escape_control;
use felis::session::{Outcome, Selection, Session, Status, TestOutcome, TestReport, TestRun};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What is told of tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Told {
    /// Each, and a summary.
    All,
    /// Those that failed, and a summary.
    Failed,
    /// Each, as a line of JSON.
    Json,
}

/// How many passed, did not, and were not asked for.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
    left_out: usize,
}

impl Shell {
    /// Tests files one by one, each in a session of its own.
    pub(super) fn test(&mut self, files: &[PathBuf], selection: &Selection, told: Told) -> u8 {
        if told == Told::Json {
            self.messages = Messages::JsonOut;
        }
        let start = Instant::now();
        let (mut worst, mut count) = (exit::OK, Count::default());
        for file in files {
            let code = self.test_file(file, selection, told, &mut count);
            worst = worst.max(code);
            if code == exit::INTERRUPTED {
                break;
            }
        }
        let time = start.elapsed();
        let Count { passed, failed, left_out } = count;
        if told == Told::Json {
            let seconds = time.as_secs_f64();
            self.output.write(&format!(
                "{}\n",
                json!({ "schema": json::SCHEMA, "passed": passed, "failed": failed, "left_out": left_out, "seconds": seconds })
            ));
        } else if passed + failed + left_out > 0 {
            let mut summary = format!("{passed} passed");
            for (count, word) in [(failed, "failed"), (left_out, "left out")] {
                if count > 0 {
                    summary.push_str(&format!(", {count} {word}"));
                }
            }
            self.output.write(&format!("{summary} in {}\n", duration(time)));
        } else if worst == exit::OK {
            self.output.write("there are no examples and no tests\n");
        }
        // Who asks for a test that is not there is not told that all is well.
        if passed + failed == 0 && left_out > 0 && worst == exit::OK {
            self.output.flush();
            complain(&format!("felis: {}", nothing_like(&selection.only)));
            return exit::USAGE;
        }
        if failed > 0 { worst.max(exit::FAILED) } else { worst }
    }

    fn test_file(&mut self, file: &Path, selection: &Selection, told: Told, count: &mut Count) -> u8 {
        let Text { name, text } = match self.read_alone(file) {
            Ok(text) => text,
            Err(code) => return code,
        };
        let mut headed = false;
        let TestRun { outcome, left_out, over } = {
            let Shell { session, output, interrupts, .. } = self;
            let _running = interrupts.while_doing(Doing::Evaluating);
            session.test(&name, &text, selection, &mut |session, tested| {
                let passed = match tested.fate {
                    TestOutcome::Interrupted => return,
                    TestOutcome::Passed => true,
                    _ => false,
                };
                if passed {
                    count.passed += 1;
                } else {
                    count.failed += 1;
                }
                if told == Told::Json {
                    output.write(&format!("{}\n", object(&name, &tested, session)));
                } else if told == Told::All || !passed {
                    if !std::mem::replace(&mut headed, true) {
                        output.write(&format!("{name}\n"));
                    }
                    output.write(&lines(&name, &tested, session));
                }
                // Whoever waits for the next one sees the last one.
                output.flush();
            })
        };
        count.left_out += left_out;
        if over {
            count.failed += 1;
            let limit = selection.limit.unwrap_or_default().as_secs_f64();
            self.output.flush();
            complain(&format!(
                "felis: `{name}` itself takes longer than {limit} s; nothing of it was tested"
            ));
            return exit::FAILED;
        }
        self.ended(&outcome)
    }

    /// A file's text, with a session of its own for it; or the exit code, if it cannot be read.
    pub(super) fn read_alone(&mut self, file: &Path) -> Result<Text, u8> {
        let text = input::read(file).map_err(|refusal| self.refuse(&refusal))?;
        self.session.reset();
        self.session.set_loader(Box::new(Files::beside(file)));
        self.define_arguments(&text.text, &[]);
        Ok(text)
    }

    /// Tells how a file's program ended; the exit code.
    pub(super) fn ended(&mut self, outcome: &Outcome) -> u8 {
        self.tell(&outcome.diagnostics);
        if outcome.status == Status::Interrupted {
            self.output.flush();
            complain("interrupted");
        }
        code(outcome.status)
    }
}

/// What a test is called in a message.
fn title(tested: &TestReport) -> String {
    match tested.example {
        true => format!("example `{}`", escape_control(&tested.name)),
        false => format!("test \"{}\"", escape_control(&tested.name)),
    }
}

/// A test in a line; below it what is wrong.
fn lines(file: &str, tested: &TestReport, session: &Session) -> String {
    let TestReport { line, fate, time, .. } = tested;
    let (title, time) = (title(tested), duration(*time));
    let wrong = match fate {
        TestOutcome::Passed | TestOutcome::Interrupted => return format!("  ok    {title}  ({time})\n"),
        TestOutcome::Differs { expected, found } => {
            let found = if found.is_empty() { "nothing" } else { found };
            format!("  says  {}\n  gives {}\n", indented(expected), indented(found))
        }
        TestOutcome::Failed(diagnostics) => diagnostics.iter().map(|d| session.render(d, false)).collect(),
        TestOutcome::Over(limit) => format!("  takes longer than {} s\n", limit.as_secs_f64()),
    };
    format!("  FAIL  {title}  ({time}), {file}:{line}\n{wrong}")
}

/// A test as JSON.
fn object(file: &str, tested: &TestReport, session: &Session) -> Value {
    let TestReport { name, example, line, fate, time } = tested;
    let mut object = json!({
        "schema": json::SCHEMA,
        "file": file,
        "line": line,
        "kind": if *example { "example" } else { "test" },
        "name": name,
        "seconds": time.as_secs_f64(),
        "fate": match fate {
            TestOutcome::Passed => "passed",
            TestOutcome::Differs { .. } => "differs",
            TestOutcome::Failed(_) => "failed",
            TestOutcome::Over(_) => "over",
            TestOutcome::Interrupted => "interrupted",
        },
    });
    match fate {
        TestOutcome::Differs { expected, found } => {
            object["expected"] = json!(expected);
            object["found"] = json!(found);
        }
        TestOutcome::Failed(diagnostics) => {
            object["messages"] =
                diagnostics.iter().map(|diagnostic| json::object(diagnostic, session.sources())).collect();
        }
        _ => {}
    }
    object
}

/// That no test has such a name.
fn nothing_like(only: &[String]) -> String {
    let texts: Vec<String> = only.iter().map(|text| format!("`{text}`")).collect();
    format!("no example and no test has {} in its name", texts.join(" or "))
}

/// What a test may take: some seconds.
pub(super) fn limit(text: &str) -> Result<Duration, String> {
    match seconds(text)? {
        time if time.is_zero() => Err("a test can take some seconds, more than 0".to_string()),
        time => Ok(time),
    }
}

/// The time that a number of seconds is.
pub(super) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds: f64 = text.parse().map_err(|_| "seconds are a number, such as `2` or `0.5`".to_string())?;
    match Duration::try_from_secs_f64(seconds) {
        Ok(time) if seconds < 1e9 => Ok(time),
        _ => Err("seconds are a number from 0 to 999999999".to_string()),
    }
}

/// The lines after the first below its text.
fn indented(text: &str) -> String {
    text.replace('\n', "\n        ")
}
