//! Errors about patterns and matches.

use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// Errors about patterns and matches.
    pub enum PatternError {
        /// A match that does not cover every value.
        E0411 NotExhaustive {
            span: Span,
            missing: String,
            /// True if an arm has a condition: such an arm covers no value for certain.
            guarded: bool,
            /// The missing arms, and the place to insert them.
            edit: (Span, String),
        },
        /// A pattern that does not match every value where it must.
        E0412 Refutable {
            span: Span,
            missing: String,
        },
        /// A pattern that cannot match a value of the type.
        E0413 PatternMismatch {
            span: Span,
            what: String,
            ty: Type,
            help: Option<String>,
        },
        /// A name that one alternative of a pattern binds, and another one does not.
        E0446 BindsInAlternative {
            span: Span,
            name: String,
            bound: Span,
        },
        /// A name that has different types in the alternatives of a pattern.
        E0460 AlternativeTypes {
            span: Span,
            name: String,
            ty: Type,
            first: Span,
            was: Type,
        },
        /// An arm that no value reaches.
        W0002 Unreachable {
            span: Span,
        },
        /// A variable in an arm with the name of a case of the library.
        W0005 CaseAsVariable {
            span: Span,
            name: String,
            /// The type of the matched values.
            ty: Type,
            /// The type that has the case.
            variant: String,
        },
    }
}

impl PatternError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use PatternError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::NotExhaustive { span, missing, guarded, edit } => {
                let label = "not every value fits an arm".to_string();
                let help = |text: String| Help { text, edits: vec![edit.clone()] };
                let arms = edit.1.matches("| ").count();
                let d = if missing == "_" {
                    error(span, "this match does not cover every value".into(), label)
                        .help(help("add an arm `| _ => …` for all the rest".into()))
                } else {
                    let text = match arms {
                        0 | 1 => format!("add an arm `| {missing} => …`, or `| _ => …` for all the rest"),
                        n => format!("add the {n} arms that it lacks, or `| _ => …` for all the rest"),
                    };
                    error(span, format!("this match does not cover `{missing}`"), label).help(help(text))
                };
                if *guarded { d.note("an arm with `when` may refuse whatever fits its pattern") } else { d }
            }
            E::Refutable { span, missing } => {
                error(span, format!("this pattern does not fit `{missing}`"), "must fit every value".into())
                    .help("use `match` to tell the cases apart")
            }
            E::PatternMismatch { span, what, ty, help } => {
                let d = error(
                    span,
                    format!("{what} cannot fit a value of `{ty}`"),
                    format!("the value is `{ty}`"),
                );
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::BindsInAlternative { span, name, bound } => error(
                span,
                format!("`{name}` is bound in one alternative of a pattern and not in another"),
                format!("this binds no `{name}`"),
            )
            .label(*bound, "bound here")
            .help(format!(
                "bind `{name}` in each alternative; or write `_` for what may be anything, or an arm for each pattern"
            )),
            E::AlternativeTypes { span, name, ty, first, was } => error(
                span,
                format!("`{name}` has another type in each alternative of a pattern"),
                format!("`{ty}`"),
            )
            .label(*first, format!("`{was}`"))
            .help("write an arm for each pattern"),
            E::Unreachable { span } => Diagnostic::warning(
                code,
                *span,
                "this arm is never reached",
                "everything it fits is caught before",
            ),
            E::CaseAsVariable { span, name, ty, variant } => Diagnostic::warning(
                code,
                *span,
                format!("`{name}` is a variable here, which fits every value"),
                format!("`{ty}` has no case of this name"),
            )
            .note(format!("`{name}` is a case of `{variant}`")),
        }
    }
}
