//! `felis test`: the examples and tests of programs, with what differs and a summary.

use super::files::Files;
use super::input::{self, Text};
use super::interrupt::Doing;
use super::output::complain;
use super::{Shell, code, exit};
use felis::session::{Fate, Outcome, Status, Tested};
use std::path::{Path, PathBuf};

/// How many passed, and how many did not.
#[derive(Default)]
struct Count {
    passed: usize,
    failed: usize,
}

impl Shell {
    /// Tests files one by one, each in a session of its own.
    pub(super) fn test(&mut self, files: &[PathBuf]) -> u8 {
        let (mut worst, mut count) = (exit::OK, Count::default());
        for file in files {
            let code = self.test_file(file, &mut count);
            worst = worst.max(code);
            if code == exit::INTERRUPTED {
                break;
            }
        }
        let Count { passed, failed } = count;
        match (passed, failed) {
            (0, 0) if worst == exit::OK => {
                self.output.write("there are no examples and no tests\n");
            }
            (passed, 0) => self.output.write(&format!("{passed} passed\n")),
            _ => self.output.write(&format!("{passed} passed, {failed} failed\n")),
        }
        if failed > 0 { worst.max(exit::FAILED) } else { worst }
    }

    fn test_file(&mut self, file: &Path, count: &mut Count) -> u8 {
        let Text { name, text } = match self.read_alone(file) {
            Ok(text) => text,
            Err(code) => return code,
        };
        let outcome = {
            let Shell { session, output, interrupts, .. } = self;
            let _running = interrupts.while_doing(Doing::Evaluating);
            session.test(&name, &text, &mut |session, tested| {
                let Tested { name: title, example, line, fate } = tested;
                let what = match example {
                    true => format!("example `{title}`"),
                    false => format!("test \"{title}\""),
                };
                let failed = match fate {
                    Fate::Passed => {
                        count.passed += 1;
                        return;
                    }
                    Fate::Interrupted => return,
                    Fate::Differs { expected, found } => {
                        let found = if found.is_empty() { "nothing".to_string() } else { found };
                        format!("  says  {}\n  gives {}\n", indented(&expected), indented(&found))
                    }
                    Fate::Failed(diagnostics) => {
                        diagnostics.iter().map(|d| session.render(d, false)).collect()
                    }
                };
                count.failed += 1;
                output.write(&format!("{name}:{line}: {what} failed\n{failed}"));
            })
        };
        self.ended(&outcome)
    }

    /// A file's text, with a session of its own for it; or the exit code, if it cannot be read.
    pub(super) fn read_alone(&mut self, file: &Path) -> Result<Text, u8> {
        let text = input::read(file).map_err(|refusal| refusal.tell(&self.output))?;
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

/// The lines after the first below its text.
fn indented(text: &str) -> String {
    text.replace('\n', "\n        ")
}
