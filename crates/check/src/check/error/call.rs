//! Errors about names, functions and calls.

use super::foreign_type;
use crate::check::foreign_names;
use crate::diagnostic::{Diagnostic, Help, HelpRequest, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// Errors about names, functions and calls.
    pub enum CallError {
        /// `x.f y` of a function that takes two values of one type, the one that it is about last.
        W0042 FirstAfterDot {
            span: Span,
            name: String,
            dot: Span,
            whole: Span,
        },
        /// A name without a definition.
        E0401 UnknownName {
            span: Span,
            name: String,
            similar: Option<String>,
            /// True if it is the name of a type.
            is_type: bool,
        },
        /// The name of a type applied to an argument: `real (n)`.
        E0450 TypeApplied {
            span: Span,
            name: String,
            /// The type that the name denotes.
            ty: &'static str,
            argument: Span,
            /// True if the argument is a text.
            text: bool,
        },
        /// The name of a type after a dot: `x.real`.
        E0450 TypeAfterDot {
            span: Span,
            name: String,
            /// True if the value before the dot is a text.
            text: bool,
        },
        /// An application of a value that is not a function.
        E0402 NotAFunction {
            span: Span,
            ty: Type,
            argument: Span,
            /// The correct expression.
            help: Option<Help>,
        },
        /// A written tuple on the right side of a pipe.
        E0402 TupleApplied {
            span: Span,
            argument: Span,
        },
        /// No function of this name takes the argument.
        E0403 NoOverload {
            span: Span,
            name: String,
            argument: Type,
            candidates: Vec<String>,
            help: Option<Help>,
        },
        /// Several functions of this name fit equally well.
        E0404 Ambiguous {
            span: Span,
            name: String,
            candidates: Vec<String>,
        },
        /// A function of a near scope fits by a conversion, and one of a farther scope without.
        W0020 NearByConversion {
            span: Span,
            name: String,
            argument: Type,
            near: Type,
            far: Type,
            place: &'static str,
        },
        /// A recursive use of a local function without parameter types.
        E0434 RecursiveUntyped {
            span: Span,
            name: String,
            declared: Span,
        },
        /// A call of a procedure within a `fun`.
        E0405 ProcedureInFun {
            span: Span,
            name: String,
            header: Span,
        },
        /// A read of a file within a `fun`.
        E0405 ReaderInFun {
            span: Span,
            name: String,
            header: Option<Span>,
        },
        /// A procedure with a result that is a local function, a method, a lambda, or has several
        /// groups of parameters.
        E0408 ValuedProcedureHere {
            span: Span,
        },
        /// A procedure call in place of a value.
        E0408 ProcedureAsValue {
            span: Span,
        },
        /// A parameter without a type.
        E0421 UntypedParameter {
            span: Span,
            name: String,
        },
        /// A recursive function without a written result type.
        E0422 ResultNeeded {
            span: Span,
            name: String,
            declared: Span,
        },
        /// Two functions of one input with the same name and argument type.
        E0423 DuplicateFunction {
            span: Span,
            name: String,
            previous: Span,
        },
        /// Named arguments that no function takes.
        E0455 WrongNamed {
            span: Span,
            words: String,
            help: String,
        },
        /// Named arguments in a call of a function that is not known by name.
        E0456 NamedHere {
            span: Span,
            /// True for a call of a method of a class.
            method: bool,
        },
        /// A default value of a parameter that no call can use.
        E0457 DefaultHere {
            span: Span,
        },
        /// A constructor pattern that lacks its argument or has one too many.
        E0429 ConstructorArgument {
            span: Span,
            name: String,
            /// True if the constructor takes an argument.
            takes: bool,
            ty: Option<Type>,
        },
        /// A procedure without an argument as a statement.
        E0440 NotCalled {
            span: Span,
            /// The name of the procedure, if the statement is a name.
            name: Option<String>,
            domain: Type,
        },
    }
}

impl CallError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use CallError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::UnknownName { span, name, similar, is_type } => {
                let label = if *is_type { "this is a type" } else { "not defined" };
                let d = error(span, format!("there is no `{name}` here"), label.into());
                let known = foreign_names::lookup(name);
                match (similar, known.or_else(|| crate::syntax::foreign_keywords::advice(name))) {
                    (_, Some(instead)) => d.help(instead),
                    (Some(other), None) => d.fix(format!("did you mean `{other}`?"), *span, other.clone()),
                    (None, None) if *is_type => {
                        d.help(format!("`#sizeof[{name}]` is how many values it has, `..[{name}]` are these"))
                    }
                    (None, None) => d,
                }
                .request_help(HelpRequest::LibraryName)
            }
            E::FirstAfterDot { span, name, dot, whole } => Diagnostic::warning(
                code,
                *span,
                format!("`x.{name} y` is `{name} x y`"),
                "what stands before the dot is the first of two values",
            )
            .help(Help {
                text: format!("`x |> {name} y` gives it `x` last"),
                edits: vec![
                    (Span { end: whole.start, ..*whole }, "(".to_string()),
                    (*dot, " |> ".to_string()),
                    (whole.after(), ")".to_string()),
                ],
            })
            .alternative(format!("write `{name} x y` if that is meant").into()),
            E::TypeApplied { span, name, ty, argument, text } => {
                let d = error(span, format!("`{name}` is a type, not a function"), "applied here".into());
                if *ty == "string" {
                    let edits = vec![(*span, String::new()), (argument.after(), ".str".to_string())];
                    return d.help(Help { text: "`x.str` gives a value as text".into(), edits });
                }
                if *text {
                    let reader = if matches!(*ty, "real" | "f64" | "f32" | "double") {
                        "parse_real"
                    } else {
                        "parse_int"
                    };
                    let empty = if reader == "parse_real" { "0.0" } else { "0" };
                    return d
                        .help(format!("`{reader} text |> otherwise {empty}` reads a number from a text"));
                }
                if *ty == "bool" {
                    return d.help("a truth value comes from a comparison, such as `x != 0`");
                }
                let edits = vec![(*span, "(".to_string()), (argument.after(), format!(" :> {ty})"))];
                d.help(Help { text: format!("a value is converted by `x :> {ty}`"), edits })
            }
            E::TypeAfterDot { span, name, text } => {
                let d = error(span, format!("`{name}` is a type, not a function"), "after a dot".into());
                match (name.as_str(), text) {
                    ("string", _) => d.fix("`x.str` gives a value as text", *span, "str"),
                    ("real" | "double" | "float", true) => {
                        d.help("`parse_real text |> otherwise 0.0` reads a number from a text")
                    }
                    (_, true) => d.help("`parse_int text |> otherwise 0` reads a number from a text"),
                    ("bool", _) => d.help("a truth value comes from a comparison, such as `x != 0`"),
                    _ => d.help(format!(
                        "a value is converted by `x :> {}`",
                        foreign_type(name).unwrap_or(name)
                    )),
                }
            }
            E::NotAFunction { span, ty, argument, help } => {
                let d = error(span, format!("`{ty}` is not a function"), format!("this is `{ty}`"))
                    .label(*argument, "applied to this");
                if let Some(help) = help {
                    d.help(help.clone())
                } else if matches!(
                    ty.kind(),
                    crate::types::TypeKind::Array(..) | crate::types::TypeKind::Product(_)
                ) {
                    d.help("an array takes its index after a dot: `x.i`")
                } else {
                    d
                }
            }
            E::TupleApplied { span, argument } => {
                error(span, "a tuple is not a function".into(), "this is a tuple".into())
                    .label(*argument, "applied to this")
            }
            E::NoOverload { span, name, argument, candidates, help } => {
                let mut d = error(
                    span,
                    format!("no `{name}` takes `{argument}`"),
                    format!("applied to `{argument}`"),
                );
                for candidate in candidates {
                    d = d.note(candidate.clone());
                }
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::Ambiguous { span, name, candidates } => {
                let mut d = error(span, format!("several `{name}` fit here"), "which one?".into());
                for candidate in candidates {
                    d = d.note(candidate.clone());
                }
                d.help("say which by giving the argument's type, as in `fun (x:int) => …`")
            }
            E::NearByConversion { span, name, argument, near, far, place } => Diagnostic::warning(
                self.code(),
                *span,
                format!("`{argument}` is converted to `{near}` for this `{name}`"),
                format!("the nearest `{name}` that fits"),
            )
            .note(format!("`{name}` in {place} takes `{far}` as it is, and is farther"))
            .help("write the conversion with `:>`, or give the nearer function a name of its own"),
            E::RecursiveUntyped { span, name, declared } => error(
                span,
                format!("`{name}` does not see itself: the types of its parameters are not written"),
                format!("not known inside `{name}`"),
            )
            .label(*declared, "this parameter has no type")
            .help(format!("write the type, as in `fun {name}(x:int):int => …`")),
            E::ProcedureInFun { span, name, header } => error(
                span,
                match name.as_str() {
                    "" => "a `fun` is pure: it cannot call a procedure".into(),
                    _ => format!("a `fun` is pure: it cannot call the procedure `{name}`"),
                },
                "has effects".into(),
            )
            .label(*header, "this function is pure")
            .help("make the function a `proc`, or move the call out of it"),
            E::ReaderInFun { span, name, header } => {
                let message = format!("a `fun` is pure: it cannot read with `{name}`");
                let d = error(span, message, "may give something else each time".into());
                match header {
                    Some(header) => d.label(*header, "this function is pure"),
                    None => d.note("as a value, it would be a pure function"),
                }
                .help("read in a `proc` or at the top level, and pass on what was read")
            }
            E::ValuedProcedureHere { span } => error(
                span,
                "a procedure gives a value only at the top level, with one group of parameters".into(),
                "no result can be stated here".into(),
            )
            .help("declare it at the top level, or leave the result out"),
            E::ProcedureAsValue { span } => error(
                span,
                "a procedure gives no value".into(),
                "this call stands where a value is needed".into(),
            )
            .help("call it as a statement of its own"),
            E::UntypedParameter { span, name } => error(
                span,
                format!("the type of the parameter `{name}` is not known here"),
                "needs a type".into(),
            )
            .help(format!("write its type, as in `({name}:int)`")),
            E::ResultNeeded { span, name, declared } => error(
                span,
                format!("`{name}` is recursive, so its result type must be written"),
                "used before its result type is known".into(),
            )
            .label(*declared, "declared here without a result type")
            .help(format!("write `fun {name}(…) : T => …`")),
            E::DuplicateFunction { span, name, previous } => error(
                span,
                format!("`{name}` is defined twice for the same argument type"),
                "the second one".into(),
            )
            .label(*previous, "the first one"),
            E::WrongNamed { span, words, help } => {
                error(span, words.clone(), "in this call".into()).help(help.clone())
            }
            E::NamedHere { span, method } => error(
                span,
                "names of parameters stand only in calls of a function that is known by its name".into(),
                match method {
                    true => "a method of a class has types and no names of parameters".into(),
                    false => "what this is given to has no names".into(),
                },
            )
            .help("give the values by place; a record has a name for each field, as in `(x = 1, y = 2)`"),
            E::DefaultHere { span } => {
                error(span, "this parameter cannot have a default".into(), "no call could use it".into())
                    .help(
                        "functions that are declared by a name have defaults, at the top level and in blocks",
                    )
            }
            E::ConstructorArgument { span, name, takes, ty } => match (takes, ty) {
                (true, Some(ty)) => error(
                    span,
                    format!("`{name}` takes an argument of type `{ty}`"),
                    "without its argument".into(),
                )
                .fix(
                    format!("write `{name} _`, or a name for the argument"),
                    span.after(),
                    " _",
                ),
                _ => error(span, format!("`{name}` takes no argument"), "given an argument".into()),
            },
            E::NotCalled { span, name, domain } => {
                let what = name.as_ref().map_or("this".to_string(), |name| format!("`{name}`"));
                let d =
                    error(span, format!("{what} is a procedure and is not called"), "does nothing".into());
                match (name, domain.is_unit()) {
                    (Some(name), true) => d.fix(format!("write `{name} ()` to call it"), span.after(), " ()"),
                    (Some(name), false) => {
                        d.help(format!("write `{name} x` to call it, with an `x` of type `{domain}`"))
                    }
                    (None, true) => d.help("write `()` after it to call it"),
                    (None, false) => d.help(format!("give it its argument, of type `{domain}`, to call it")),
                }
            }
        }
    }
}
