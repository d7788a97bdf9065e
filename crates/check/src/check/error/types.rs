//! Errors about written types, declarations of types and inference.

use super::{count, foreign_form, foreign_type};
use crate::diagnostic::{Diagnostic, HelpRequest, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// Errors about written types, declarations of types and inference.
    pub enum TypeError {
        /// A name that is not a type.
        E0201 UnknownType {
            span: Span,
            name: String,
            similar: Option<String>,
            /// True if a variable or function has this name.
            value: bool,
        },
        /// A type that is not compact linear where one is needed.
        E0202 NotCompact {
            span: Span,
            /// The type as written.
            shown: String,
            role: &'static str,
            /// The compact type with the same structure.
            instead: Option<String>,
            /// The reason why a declared type is not compact.
            why: Option<String>,
        },
        /// A wrong number of type arguments.
        E0204 TypeArity {
            span: Span,
            name: String,
            expected: usize,
            found: usize,
        },
        /// A type argument of another kind than its parameter.
        E0205 WrongKind {
            span: Span,
            ty: Type,
            expected: String,
            name: String,
        },
        /// A type definition that requires itself.
        E0206 RecursiveType {
            span: Span,
            name: String,
        },
        /// A struct whose values would contain values of the same struct without end.
        E0207 InfiniteStruct {
            span: Span,
            name: String,
        },
        /// A name that is declared twice.
        E0208 Duplicate {
            span: Span,
            what: &'static str,
            name: String,
        },
        /// A name that is not a kind.
        E0209 UnknownKind {
            span: Span,
            name: String,
            declared: Vec<String>,
        },
        /// A type that exceeds the limit of size or depth.
        E0210 TypeTooLarge {
            span: Span,
        },
        /// A type that inference does not determine.
        E0212 CannotInfer {
            span: Span,
            what: String,
            instead: String,
        },
        /// A type parameter of a named function that inference does not determine.
        E0212 OpenParameter {
            span: Span,
            function: String,
            parameter: String,
            /// The function with type arguments.
            instead: String,
        },
        /// An array type with more elements than fit into memory.
        E0213 ArrayTooLarge {
            span: Span,
            ty: Type,
        },
        /// Type arguments for a value that takes none.
        E0204 ValueWithTypeArguments {
            span: Span,
            name: String,
        },
        /// A type declared in a block that mentions a type variable of its surroundings.
        E0454 LocalTypeMentions {
            span: Span,
            name: String,
            variable: String,
            /// The variable as a type parameter, with its kind.
            parameter: String,
            /// True for a type function.
            function: bool,
        },
        /// A local function with type parameters whose parameters have no types.
        E0428 GenericLocal {
            span: Span,
            name: String,
        },
        /// A parameter of a type function that the body does not mention.
        W0033 UnusedInTypeFun {
            span: Span,
            name: String,
            function: String,
        },
        /// A type parameter that its definition does not mention.
        W0032 UnusedTypeParameter {
            span: Span,
            name: String,
            /// The definition, in words.
            whose: String,
        },
    }
}

impl TypeError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use TypeError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::UnknownType { span, name, similar: _, value: true } => {
                let d = error(span, format!("there is no type `{name}`"), "a value, not a type".into());
                match foreign_type(name) {
                    Some(other) => d.fix(format!("did you mean `{other}`?"), *span, other),
                    None => d.help(format!("a size in a type is a type: `typedef N = 3;`, or `?N` for one that arrives when the program runs, as in `val a : int ^ ?N = iota {name};`")),
                }
            }
            E::UnknownType { span, name, similar, value: false } => {
                let d = error(span, format!("there is no type `{name}`"), "not a type".into());
                if let Some(help) = foreign_form(name) {
                    return d.help(help);
                }
                match foreign_type(name).or(similar.as_deref()) {
                    Some(other) => d.fix(format!("did you mean `{other}`?"), *span, other),
                    None if name.starts_with(char::is_uppercase) => {
                        d.help(format!("a type parameter is declared in brackets, as in `fun f[{name}](…)`, one for sizes as in `fun f[{name}:COMPACTLINEAR](…)`"))
                    }
                    None => d.request_help(HelpRequest::LibraryName),
                }
            }
            E::NotCompact { span, shown: ty, role, instead, why } => {
                let d = error(
                    span,
                    format!("`{ty}` cannot {role}: it is not compact linear"),
                    format!("`{ty}` has kind TYPE, COMPACTLINEAR is needed here"),
                );
                match (instead, why) {
                    (Some(compact), _) => d.fix(
                        format!("the compact type of that shape is `{compact}`"),
                        *span,
                        format!("({compact})"),
                    ),
                    (None, Some(why)) => d.note(why),
                    (None, None) => d.note("compact linear types are `0`, `1`, `2` …, what `\\*`, `\\+`, `\\^` make of them, newtypes of those, and enumerations"),
                }
            }
            E::TypeArity { span, name, expected, found } => {
                let instead = if *expected == 0 { String::new() } else { format!(", not {found}") };
                let d = error(
                    span,
                    format!("`{name}` takes {}{instead}", count(*expected, "type argument")),
                    format!("{} given", count(*found, "type argument")),
                );
                match crate::types::Scalar::from_name(name) {
                    Some(_) => d.help(format!("the type of an array is written `{name} ^ 3`")),
                    None => d,
                }
            }
            E::WrongKind { span, ty, expected, name } => error(
                span,
                format!("`{ty}` cannot be the type argument `{name}`, whose kind is {expected}"),
                format!("`{ty}` is not of kind {expected}"),
            ),
            E::RecursiveType { span, name } => error(
                span,
                format!("the definition of `{name}` needs `{name}` itself"),
                "defined by itself".into(),
            )
            .help("a `variant` can mention itself"),
            E::InfiniteStruct { span, name } => error(
                span,
                format!("a value of `{name}` would contain another `{name}`, and so on for ever"),
                "contains itself".into(),
            )
            .help("put the inner one into a case of a `variant`, such as `option`"),
            E::Duplicate { span, what, name } => {
                error(span, format!("the {what} `{name}` is there twice"), "the second one".into())
            }
            E::UnknownKind { span, name, declared } => {
                let mut kinds = vec!["UNITSUM", "COMPACTLINEAR"];
                kinds.extend(declared.iter().map(String::as_str));
                error(span, format!("there is no kind `{name}`"), "not a kind".into())
                    .note(format!("the kinds are {} and TYPE", kinds.join(", ")))
            }
            E::TypeTooLarge { span } => {
                error(span, "this type is too large".into(), "has thousands of parts".into())
            }
            E::CannotInfer { span, what, instead } => {
                error(span, format!("cannot tell {what}"), "nothing here says which".into())
                    .help(instead.clone())
            }
            E::OpenParameter { span, function, parameter, instead } => error(
                span,
                format!("cannot tell what `{parameter}` is in `{function}`"),
                "nothing here says which".into(),
            )
            .help(format!("write it in brackets, as in `{instead}`")),
            E::ArrayTooLarge { span, ty } => error(
                span,
                format!("an array of type `{ty}` has more elements than any memory"),
                "cannot be built".into(),
            ),
            E::ValueWithTypeArguments { span, name } => error(
                span,
                format!("`{name}` is a value and takes no type arguments"),
                "followed by `[`".into(),
            )
            .help(format!("brackets give type arguments; an element is written `{name}.(0)`, or `{name}.i` for an index `i`")),
            E::GenericLocal { span, name } => error(
                span,
                format!("the local function `{name}` has type parameters: its parameters need types"),
                "the type of this is not written".into(),
            )
            .help("write the types of all parameters, as in `fun f[T](x:T):T => e;`"),
            E::LocalTypeMentions { span, name, variable, parameter, function } => error(
                span,
                format!("`{name}` mentions `{variable}`, which belongs to what is around it"),
                "it has its own parameters only".into(),
            )
            .help(match function {
                true => format!("give it one more parameter, and apply it to `{variable}` where it is used"),
                false => format!("give it a parameter: `{name}[{parameter}]`, applied where it is used"),
            }),
            E::UnusedInTypeFun { span, name, function } => Diagnostic::warning(
                code,
                *span,
                format!("the parameter `{name}` is not used"),
                format!("`{function}` gives the same whatever it is"),
            ),
            E::UnusedTypeParameter { span, name, whose } => Diagnostic::warning(
                code,
                *span,
                format!("the type parameter `{name}` is not used"),
                format!("{whose} does not mention it"),
            ),
        }
    }
}
