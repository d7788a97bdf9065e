//! `E0521` to `E0523`: local functions that change variables of the functions around them.

use crate::diagnostic::{Diagnostic, errors};
use crate::source::Span;

errors! {
    /// Errors about uses of such a function: its name, the variable, and the place `at` that
    /// changes the variable.
    pub enum StoringError {
        /// A call within an expression.
        E0521 Inside { span: Span, name: String, variable: String, at: Span },
        /// A use as a value.
        E0522 Value { span: Span, name: String, variable: String, at: Span },
        /// A call in a function whose calls have no order, or in the element of an array.
        E0523 Unordered { span: Span, name: String, variable: String, at: Span, header: Option<Span> },
    }
}

impl StoringError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use StoringError as E;
        let (E::Inside { span, name, variable, at }
        | E::Value { span, name, variable, at }
        | E::Unordered { span, name, variable, at, .. }) = self;
        let error = |message: String, label: &str| {
            let error = Diagnostic::error(self.code(), *span, message, label.to_string());
            error.label(*at, format!("changes `{variable}`"))
        };
        match self {
            E::Inside { .. } => error(
                format!("`{name}` changes `{variable}`: it cannot be called within an expression"),
                "part of an expression, or of a block that gives a value",
            )
            .help(format!(
                "call it in a statement of its own before: `val x = {name} …;`, and write `x` here"
            )),
            E::Value { .. } => error(
                format!("`{name}` changes `{variable}`: it cannot be a value"),
                "used as a value",
            )
            .help(format!("call it in a statement, `val x = {name} …;`, in a loop if it is called for many")),
            E::Unordered { header: Some(header), .. } => error(
                format!("`{name}` changes `{variable}`: a function whose calls have no order cannot call it"),
                "called here",
            )
            .label(*header, "may be called in any order")
            .help(format!(
                "call it in a loop, `for … do val x = {name} …; … done`, or in a function declared by name, \
                 with one group of parameters"
            )),
            E::Unordered { header: None, .. } => error(
                format!("`{name}` changes `{variable}`: an element of an array cannot call it"),
                "the elements may be computed in any order",
            )
            .help(format!("call it in a loop: `for … do val x = {name} …; … done`")),
        }
    }
}
