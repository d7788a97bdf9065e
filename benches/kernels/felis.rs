//! Felis as a contender: one session for a case, with the kernel called in a line.
//!
//! Takes a program; gives seconds and the check of the result. The timed line is written as a user
//! would write it: `again 100;` calls the kernel a hundred times from a procedure and keeps the
//! last result.

use super::case::Program;
use felis::session::{Mode, Session, Stage, Status};
use std::sync::atomic::Ordering;
use std::time::Instant;

/// A session with a prepared kernel.
pub struct Felis {
    session: Session,
    /// The seconds from the text of the first call to its result, compilation included.
    pub first: f64,
    /// The number that the program prints about its result.
    pub check: f64,
    /// The parts that the evaluator runs, with the reasons.
    pub left: Vec<String>,
}

impl Felis {
    /// Prepares a program; the error is its message.
    pub fn new(program: &Program) -> Result<Felis, String> {
        let mut felis = Felis::ready(program, None)?;
        if felis.declined() > 0 {
            // Recording reasons takes time, so another session does it.
            let mut other = Felis::ready(program, Some(Stage::Loops))?;
            let noted = other.session.take_traces().into_iter();
            felis.left = noted.filter_map(|(place, text)| Some(format!("{place} {}", text.err()?))).collect();
        }
        let printed = felis.line(&program.check)?;
        felis.check = printed.trim().parse().map_err(|_| format!("printed `{printed}`"))?;
        Ok(felis)
    }

    /// Returns a session in which the kernel has run once.
    fn ready(program: &Program, stage: Option<Stage>) -> Result<Felis, String> {
        let mut felis = Felis { session: Session::new(), first: 0.0, check: f64::NAN, left: Vec::new() };
        felis.line(&program.before)?;
        if let Some(stage) = stage {
            felis.session.trace(stage);
        }
        let begun = Instant::now();
        felis.line(&format!("var out = {};", program.call))?;
        felis.first = begun.elapsed().as_secs_f64();
        felis.line(&format!("proc again(n:int) {{ for _ in 0..<n perform out = {}; }}", program.call))?;
        felis.line("again 2;")?;
        Ok(felis)
    }

    /// Returns the number of parts left to the evaluator.
    fn declined(&self) -> u64 {
        self.session.statistics().map_or(0, |statistics| statistics.declined.load(Ordering::Relaxed))
    }

    /// Returns the seconds of one call, measured over `calls` calls.
    pub fn time(&mut self, calls: usize) -> Result<f64, String> {
        let line = format!("again {calls};");
        let begun = Instant::now();
        self.line(&line)?;
        Ok(begun.elapsed().as_secs_f64() / calls as f64)
    }

    fn line(&mut self, text: &str) -> Result<String, String> {
        let mut printed = String::new();
        let outcome = self.session.evaluate("program", text, Mode::Script, &mut |s| printed += s);
        if outcome.status == Status::Ok {
            return Ok(printed);
        }
        let messages = outcome.diagnostics.iter().map(|d| self.session.render(d, false));
        Err(messages.collect::<Vec<_>>().join("\n"))
    }
}
