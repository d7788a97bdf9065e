//! Felis as a contender: one session for a case, the kernel called as a line.
//!
//! Takes a program; gives seconds and the check of the result. What the timed line does is written as a
//! user would: `again 100;` calls the kernel a hundred times from a procedure and keeps the last result.

use super::case::Program;
use felis::session::{Mode, Session, Status};
use std::time::Instant;

/// A session in which a kernel stands ready.
pub struct Felis {
    session: Session,
    /// Seconds from the text of the first call to its result: what the compiler takes is in it.
    pub first: f64,
    /// What the program prints about its result.
    pub check: f64,
    /// Parts that the evaluator runs, with the reason.
    pub left: Vec<String>,
}

impl Felis {
    /// Sets a program up; an error is its message.
    pub fn new(program: &Program) -> Result<Felis, String> {
        let mut felis = Felis { session: Session::new(), first: 0.0, check: f64::NAN, left: Vec::new() };
        felis.session.trace(felis::session::Stage::Loops);
        felis.line(&program.before)?;
        felis.session.traced();
        let begun = Instant::now();
        felis.line(&format!("var out = {};", program.call))?;
        felis.first = begun.elapsed().as_secs_f64();
        felis.line(&format!("proc again(n:int) {{ for _ in 0..<n perform out = {}; }}", program.call))?;
        felis.line("again 2;")?;
        let reason =
            |(place, what): (String, Result<String, &'static str>)| Some(format!("{place} {}", what.err()?));
        felis.left = felis.session.traced().into_iter().filter_map(reason).collect();
        let printed = felis.line(&program.check)?;
        felis.check = printed.trim().parse().map_err(|_| format!("printed `{printed}`"))?;
        Ok(felis)
    }

    /// Seconds of one call, of that many.
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
