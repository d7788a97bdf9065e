//! The machine that runs a program, as programs see it.
//!
//! A frontend gives a [`System`] to a session; the library asks nothing of the machine by itself.
//! There is no access to other programs.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The reason why the machine gives no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SystemError {
    /// The user has interrupted.
    Interrupted,
    /// Any other reason, as text.
    Refused(String),
}

/// The answers of a machine to programs. Each may be different each time.
pub trait System: Send + Sync {
    /// Returns the next line of standard input without its end, `None` at its end.
    ///
    /// # Errors
    ///
    /// The input cannot be read, is no UTF-8, or the line is longer than `most` bytes.
    fn read_line(&self, most: u64, interrupt: &AtomicBool) -> Result<Option<String>, SystemError>;

    /// Returns the rest of standard input.
    ///
    /// # Errors
    ///
    /// As for [`System::read_line`].
    fn read_input(&self, most: u64, interrupt: &AtomicBool) -> Result<String, SystemError>;

    /// Returns the value of an environment variable, `None` if it is not set.
    ///
    /// # Errors
    ///
    /// The value is no UTF-8.
    fn environment(&self, name: &str) -> Result<Option<String>, SystemError>;

    /// Returns the nanoseconds since 1970-01-01 UTC.
    fn now(&self) -> i64;

    /// Returns the nanoseconds since some moment, by a clock that is never set.
    fn ticks(&self) -> i64;

    /// Returns the names of what a folder holds, in any order.
    ///
    /// # Errors
    ///
    /// The folder cannot be read, or a name is no UTF-8.
    fn list_dir(&self, path: &str) -> Result<Vec<String>, SystemError>;

    /// Waits.
    ///
    /// # Errors
    ///
    /// The user has interrupted.
    fn sleep(&self, duration: Duration, interrupt: &AtomicBool) -> Result<(), SystemError>;

    /// Writes a text to standard error.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    fn print_error(&self, text: &str) -> Result<(), SystemError>;
}
