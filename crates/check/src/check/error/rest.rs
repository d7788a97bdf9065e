//! `E0494` to `E0498`: the first components of a product and the rest.

use crate::diagnostic::{Diagnostic, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// The errors about `..`.
    pub enum RestError {
        /// `..R` where `R` is not a list of components.
        E0494 NoList { span: Span, name: String },
        /// `..R` that is not last in a product, or `..r` that is not last in a tuple.
        E0495 NotLast { span: Span, what: String },
        /// `..R` in a product `*` with an `R` for `\*`, or the reverse.
        E0496 Form { span: Span, name: String, compact: bool },
        /// `..R` with a parameter of another kind.
        E0497 Kind { span: Span, name: String, kind: String },
        /// `..e` where the type of `e` is not known to be a tuple.
        E0498 Unknown { span: Span, ty: Type },
    }
}

impl RestError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use RestError as E;
        let error = |span: &Span, message: String, label: &str| {
            Diagnostic::error(self.code(), *span, message, label.to_string())
        };
        match self {
            E::NoList { span, name } => {
                error(span, format!("`{name}` is no list of components"), "no list of components")
                    .help(format!(
                        "`..{name}` is the rest of a product in the header of a function or an instance, with \
                         `{name}` among their type parameters, and in a pattern of a `typematch`"
                    ))
            }
            E::NotLast { span, what } => error(
                span,
                format!("`..{what}` does not end a product or a tuple"),
                "not the last of several parts",
            )
            .help("write what stands before it part by part: `A * ..R` as a type, `(a, ..r)` as a pattern"),
            E::Form { span, name, compact: true } => error(
                span,
                format!("`{name}` is a list of components of a tuple"),
                "stands in a compact product",
            )
            .help(format!("declare `{name}:COMPACTLINEAR` to use it beside `\\*`")),
            E::Form { span, name, .. } => error(
                span,
                format!("`{name}` is a list of factors of a compact product"),
                "stands in a product of values",
            )
            .help(format!("declare `{name}` without a kind to use it beside `*`")),
            E::Kind { span, name, kind } => error(
                span,
                format!("`..{name}` cannot be a rest: `{name}` has kind `{kind}`"),
                "no list of components",
            )
            .help(format!(
                "declare `{name}` without a kind for the rest of a tuple, `{name}:COMPACTLINEAR` for that of an \
                 index type"
            )),
            E::Unknown { span, ty } => error(
                span,
                format!("whether a value of type `{ty}` is a tuple is not known here"),
                "a rest of components",
            )
            .help("write it without `..` to make it one component".to_string()),
        }
    }
}
