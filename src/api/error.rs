//! Errors and messages.

use super::types::Type;
use super::value::Value;
use crate::session;
use felis_base::diagnostic;
use felis_base::source::line_and_column;
use std::fmt;
use std::ops::Range;

/// The most characters of a value that a message shows.
const MAX_SHOWN: usize = 60;

/// The reason why a call of a [`Session`](super::Session) has no result. The session is as it was
/// before the call.
///
/// ```
/// let mut session = felis::Session::new();
/// let error = session.evaluate("1 + true").unwrap_err();
/// assert_eq!(*error.kind(), felis::ErrorKind::Rejected);
/// assert!(error.to_string().contains("1 + true"));
/// ```
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    diagnostics: Vec<Diagnostic>,
}

/// The kinds of [`Error`].
///
/// ```
/// use felis::{ErrorKind, Session};
///
/// let mut session = Session::new();
/// let error = session.evaluate("1 + true").unwrap_err();
/// assert_eq!(*error.kind(), ErrorKind::Rejected);
/// let error = session.set("not a name", 1).unwrap_err();
/// assert_eq!(*error.kind(), ErrorKind::InvalidName("not a name".into()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The text ends too early; more lines could complete it.
    Incomplete,
    /// The text cannot be read, or its types are wrong. Nothing has run.
    Rejected,
    /// The program has failed while it ran.
    Failed,
    /// An [`Interrupt`](super::Interrupt) has stopped the program.
    Interrupted,
    /// This is no name that a value can have.
    InvalidName(String),
    /// The value has this type, which another session has declared.
    ForeignValue(String),
}

impl Error {
    pub(super) fn new(kind: ErrorKind, diagnostics: Vec<Diagnostic>) -> Error {
        Error { kind, diagnostics }
    }

    /// The kind of error.
    pub fn kind(&self) -> &ErrorKind {
        &self.kind
    }

    /// All messages about the text: errors, warnings and notes.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            ErrorKind::InvalidName(name) => return write!(f, "`{name}` is no name"),
            ErrorKind::ForeignValue(ty) => {
                return write!(f, "the type `{ty}` of the value is declared by another session");
            }
            _ => {}
        }
        let errors: Vec<String> = self
            .diagnostics
            .iter()
            .filter(|diagnostic| diagnostic.severity == Severity::Error)
            .map(|diagnostic| diagnostic.rendered.trim_end().to_string())
            .collect();
        f.write_str(&errors.join("\n"))
    }
}

impl std::error::Error for Error {}

/// The severity of a [`Diagnostic`].
///
/// ```
/// use felis::{Session, Severity};
///
/// let error = Session::new().evaluate("1 + true").unwrap_err();
/// assert_eq!(error.diagnostics()[0].severity(), Severity::Error);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Severity {
    /// The program is rejected or has failed.
    Error,
    /// The program runs; something in it is doubtful.
    Warning,
    /// A fact about a correct program.
    Note,
}

/// A message about a text. `Display` lays it out with the lines it is about.
///
/// ```
/// let mut session = felis::Session::new();
/// let error = session.check("sum.flx", "val total = summ (1, 2);").unwrap_err();
/// let diagnostic = &error.diagnostics()[0];
/// assert_eq!(diagnostic.code(), "E0401");
/// let location = diagnostic.location().unwrap();
/// assert_eq!((location.name(), location.line(), location.column()), ("sum.flx", 1, 13));
/// assert_eq!(diagnostic.help(), Some("did you mean `sum`?"));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Diagnostic {
    severity: Severity,
    code: &'static str,
    message: String,
    help: Option<String>,
    location: Option<Location>,
    rendered: String,
}

impl Diagnostic {
    pub(super) fn new(session: &session::Session, diagnostic: &diagnostic::Diagnostic) -> Diagnostic {
        let span = diagnostic.primary.span;
        let source = session.sources().get(span.source);
        let location = source.map(|source| {
            let (line, column) = line_and_column(&source.text, span.start as usize);
            Location { name: source.name.clone(), line, column, range: span.range() }
        });
        Diagnostic {
            severity: match diagnostic.severity {
                diagnostic::Severity::Error => Severity::Error,
                diagnostic::Severity::Warning => Severity::Warning,
                diagnostic::Severity::Note => Severity::Note,
            },
            code: diagnostic.code.as_str(),
            message: diagnostic.message.clone(),
            help: diagnostic.help.as_ref().map(|help| help.text.clone()),
            location,
            rendered: session.render(diagnostic, false),
        }
    }

    /// The severity.
    pub fn severity(&self) -> Severity {
        self.severity
    }

    /// The code under which the book explains it, such as `E0401`.
    pub fn code(&self) -> &str {
        self.code
    }

    /// One sentence without a full stop.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// A sentence that says what to do.
    pub fn help(&self) -> Option<&str> {
        self.help.as_deref()
    }

    /// The place that it is about.
    pub fn location(&self) -> Option<&Location> {
        self.location.as_ref()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rendered)
    }
}

/// A place in a text.
///
/// ```
/// let text = "val a = 1;\nval b = a + true;";
/// let error = felis::Session::new().check("sum.flx", text).unwrap_err();
/// let location = error.diagnostics()[0].location().unwrap();
/// assert_eq!((location.name(), location.line()), ("sum.flx", 2));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    name: String,
    line: usize,
    column: usize,
    range: Range<usize>,
}

impl Location {
    /// The name of the text.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The line, from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// The column in characters, from 1.
    pub fn column(&self) -> usize {
        self.column
    }

    /// The bytes of the text.
    pub fn range(&self) -> Range<usize> {
        self.range.clone()
    }
}

/// The reason why a value is none of the Rust type that was asked for.
///
/// ```
/// let value = felis::Session::new().evaluate("300")?.value()?;
/// let error = u8::try_from(value).unwrap_err();
/// assert_eq!(error.to_string(), "300 of type `int` is no `u8`");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversionError(String);

impl ConversionError {
    pub(super) fn no_value() -> ConversionError {
        ConversionError("the text has no value: its last statement is no expression".to_string())
    }

    pub(super) fn new(ty: &Type, wanted: &str) -> ConversionError {
        ConversionError(format!("a value of type `{ty}` is no `{wanted}`"))
    }

    pub(super) fn of_value(value: &Value, wanted: &str) -> ConversionError {
        let is_number = value.structure().as_scalar().is_some_and(|scalar| scalar.is_number());
        let text = if is_number { value.to_string() } else { String::new() };
        match !text.is_empty() && text.len() <= MAX_SHOWN {
            true => ConversionError(format!("{text} of type `{}` is no `{wanted}`", value.ty())),
            false => ConversionError::new(&value.ty(), wanted),
        }
    }
}

impl fmt::Display for ConversionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ConversionError {}
