//! The library for programs that embed Felis: texts in, typed values and diagnostics out.
//!
//! Everything here is re-exported at the root of the crate and is all that is public. Wraps
//! [`crate::session`], whose items serve the command line and change without notice.

mod array;
mod convert;
mod error;
mod files;
#[cfg(test)]
mod tests;
mod types;
mod value;

pub use array::{Array, Element};
pub use error::{ConversionError, Diagnostic, Error, ErrorKind, Location, Severity};
pub use files::FileSystem;
pub use types::Type;
pub use value::Value;

use crate::session::{self, HostValue, Mode, Status, on_large_stack};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The name that messages give to texts without a name of their own.
const UNNAMED: &str = "input";

/// Definitions, variables and types made so far, and the means to run more text.
///
/// Each call is a transaction: if it returns an error, all definitions and variables are as they
/// were before it. Texts run on a stack of their own, so a thread with a small stack may hold a
/// session.
///
/// ```
/// let mut session = felis::Session::new();
/// session.evaluate("fun twice (x:int) => 2 * x")?;
/// let n: i64 = session.evaluate("twice 21")?.value()?.try_into()?;
/// assert_eq!(n, 42);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    inner: session::Session,
    /// Distinguishes the declared types of this session from those of others.
    id: u64,
}

impl Default for Session {
    fn default() -> Session {
        Session::new()
    }
}

impl Session {
    /// Creates a session without definitions, files and modules, which uses all cores.
    pub fn new() -> Session {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Session { inner: session::Session::new(), id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }

    /// Gives the session files: for `import`, and for programs that read and write data.
    #[must_use]
    pub fn with_files(mut self, files: impl FileSystem) -> Session {
        let files = Arc::new(files);
        self.inner.set_loader(Box::new(files::Modules(files.clone())));
        self.inner.set_files(Arc::new(files::Data(files)));
        self
    }

    /// Limits the bytes that one value may take; 8 GiB otherwise.
    #[must_use]
    pub fn with_memory(mut self, bytes: u64) -> Session {
        self.inner.set_max_value_bytes(bytes);
        self
    }

    /// Runs statements; the outcome holds the value of a last expression and all that was printed.
    ///
    /// # Errors
    /// The text cannot be read, its types are wrong, it fails while it runs, or it is interrupted.
    pub fn evaluate(&mut self, text: &str) -> Result<Outcome, Error> {
        let mut output = String::new();
        let mut outcome = self.go(UNNAMED, text, Mode::Value, &mut |piece| output.push_str(piece))?;
        outcome.output = output;
        Ok(outcome)
    }

    /// Runs a program; what it prints goes to `print` piece by piece. Messages name the program
    /// `name`.
    ///
    /// ```
    /// let mut session = felis::Session::new();
    /// let mut printed = String::new();
    /// session.run("hello.flx", "println \"hello\";", &mut |text| printed.push_str(text))?;
    /// assert_eq!(printed, "hello\n");
    /// # Ok::<(), felis::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Session::evaluate`]; a last expression whose value would be lost is an error, too.
    pub fn run(&mut self, name: &str, text: &str, print: &mut dyn FnMut(&str)) -> Result<Outcome, Error> {
        self.go(name, text, Mode::Script, print)
    }

    /// Checks a program without running it, and keeps nothing of it. Returns warnings and notes.
    ///
    /// # Errors
    /// The text cannot be read, or its types are wrong.
    pub fn check(&mut self, name: &str, text: &str) -> Result<Vec<Diagnostic>, Error> {
        let outcome = on_large_stack(|| self.inner.check(name, text));
        Ok(self.finished(outcome)?.diagnostics)
    }

    fn go(
        &mut self,
        name: &str,
        text: &str,
        mode: Mode,
        out: &mut dyn FnMut(&str),
    ) -> Result<Outcome, Error> {
        let outcome = on_large_stack(|| self.inner.evaluate(name, text, mode, out));
        self.finished(outcome)
    }

    fn finished(&self, outcome: session::Outcome) -> Result<Outcome, Error> {
        let diagnostics = outcome.diagnostics.iter().map(|d| Diagnostic::new(&self.inner, d)).collect();
        let kind = match outcome.status {
            Status::Ok => {
                let given = outcome.value.and_then(|shown| shown.value);
                let value = given.map(|HostValue { ty, value }| Value::new(ty, value).of_session(self.id));
                return Ok(Outcome { value, output: String::new(), diagnostics });
            }
            Status::Rejected if outcome.incomplete => ErrorKind::Incomplete,
            Status::Rejected => ErrorKind::Rejected,
            Status::Failed | Status::Exited(_) => ErrorKind::Failed,
            Status::Interrupted => ErrorKind::Interrupted,
        };
        Err(Error::new(kind, diagnostics))
    }

    /// Makes a value known under a name, as `val` does, and returns its type.
    ///
    /// ```
    /// let mut session = felis::Session::new();
    /// let ty = session.set("xs", vec![1.0, 2.0, 4.0])?;
    /// assert_eq!(ty.to_string(), "real ^ 3");
    /// let sum: f64 = session.evaluate("sum xs")?.value()?.try_into()?;
    /// assert_eq!(sum, 7.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// The name is none, or the value has a type that another session has declared.
    pub fn set(&mut self, name: &str, value: impl Into<Value>) -> Result<Type, Error> {
        let value = value.into();
        if !value.is_known_in(self.id) {
            return Err(Error::new(ErrorKind::ForeignValue(value.ty().to_string()), Vec::new()));
        }
        let (ty, host) = (value.ty(), value.into_host());
        match self.inner.define(name, host) {
            true => Ok(ty),
            false => Err(Error::new(ErrorKind::InvalidName(name.to_string()), Vec::new())),
        }
    }

    /// The text of a value as a program prints it: by the type's own `show` where it has one.
    ///
    /// # Errors
    /// The type's `show` fails or is interrupted, or another session has declared the type.
    pub fn text(&mut self, value: &Value) -> Result<String, Error> {
        if !value.is_known_in(self.id) {
            return Err(Error::new(ErrorKind::ForeignValue(value.ty().to_string()), Vec::new()));
        }
        let host = value.clone().into_host();
        match on_large_stack(|| self.inner.text_of(&host)) {
            Ok(text) => Ok(text),
            Err((status, diagnostic)) => {
                let kind = match status {
                    Status::Interrupted => ErrorKind::Interrupted,
                    _ => ErrorKind::Failed,
                };
                Err(Error::new(kind, vec![Diagnostic::new(&self.inner, &diagnostic)]))
            }
        }
    }

    /// A handle that stops what the session is doing, from any thread.
    pub fn interrupt(&self) -> Interrupt {
        Interrupt(self.inner.interrupt_flag())
    }
}

/// Stops the call that a session is in; without one it does nothing.
///
/// ```
/// use std::{thread, time::Duration};
///
/// let mut session = felis::Session::new();
/// let interrupt = session.interrupt();
/// let watchdog = thread::spawn(move || {
///     thread::sleep(Duration::from_millis(50));
///     interrupt.stop();
/// });
/// let error = session.evaluate("while true do done").unwrap_err();
/// assert_eq!(*error.kind(), felis::ErrorKind::Interrupted);
/// # watchdog.join().unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Interrupt(Arc<AtomicBool>);

impl Interrupt {
    /// Stops the call.
    pub fn stop(&self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The result of a text that ran to its end.
///
/// ```
/// let mut session = felis::Session::new();
/// let outcome = session.evaluate("println \"working\"; 6 * 7")?;
/// assert_eq!(outcome.output(), "working\n");
/// assert_eq!(outcome.value()?.to_string(), "42");
/// assert!(outcome.diagnostics().is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Outcome {
    value: Option<Value>,
    output: String,
    diagnostics: Vec<Diagnostic>,
}

impl Outcome {
    /// The value of the last statement.
    ///
    /// # Errors
    /// That statement is no expression, so the text has no value.
    pub fn value(&self) -> Result<Value, ConversionError> {
        self.value.clone().ok_or_else(ConversionError::no_value)
    }

    /// All that was printed, unless it went elsewhere ([`Session::run`]).
    pub fn output(&self) -> &str {
        &self.output
    }

    /// Warnings and notes.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}
