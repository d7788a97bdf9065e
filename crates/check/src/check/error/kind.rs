//! `E07xx`: declared kinds, type functions, abstract types.

use super::count;
use crate::diagnostic::{Diagnostic, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// The errors about declared kinds, type functions and abstract types.
    pub enum KindError {
        /// A member or variable of a declared kind where a type with values is needed.
        E0701 NoValues { span: Span, ty: Type, kind: String },
        /// A result of a type function, or a part of a `typematch`, of another kind than declared.
        E0702 ResultKind { span: Span, ty: Type, found: String, wanted: String, function: String },
        /// An application of a type function none of whose arms fits the arguments.
        E0703 NoArm { span: Span, application: Type },
        /// An application of a type function whose reduction ran out of fuel.
        E0704 Endless { span: Span, application: Type },
        /// A name that is a member of two kinds of one input.
        E0705 SharedMember { span: Span, name: String, kind: String, other: String, previous: Span },
        /// A `typematch` over declared kinds that does not cover all cases.
        E0706 NotCovered { span: Span, missing: Vec<String> },
        /// An application that cannot reduce because of holes.
        E0707 CannotReduce { span: Span, application: Type },
        /// An arm with another number of patterns than there are subjects.
        E0708 PatternCount { span: Span, wanted: usize, found: usize },
        /// A type that cannot be a pattern.
        E0709 NotAPattern { span: Span, what: &'static str, help: &'static str },
        /// A pattern of another kind than its subject.
        E0709 PatternKind { span: Span, ty: Type, kind: String },
        /// A name in a pattern that is similar to that of a member.
        E0710 NoMember { span: Span, name: String, kind: String, similar: String },
        /// A `_` in the result of a type function.
        E0711 HoleInResult { span: Span },
        /// An application with parentheses of a type that is not a type function: `option(int)`.
        E0712 NotATypeFunction { span: Span, name: String, instead: Option<String> },
        /// A name after `layout` that is not a parameter with a layout.
        E0713 Layout { span: Span, name: String, kind: Option<String>, params: Vec<String> },
        /// A representation that depends on more of a parameter than `layout` states.
        E0714 LayoutBroken { span: Span, name: String, param: String, index: bool, ty: Type },
        /// An application of a type function whose fitting arm is a refusal, with the words of its
        /// author.
        E0715 Refused { span: Span, application: Type, text: String },
        /// An `error "…"` outside the result of a type function.
        E0716 RefusalHere { span: Span },
        /// A refusal whose text names an unknown type.
        E0717 RefusalNames { span: Span, name: String, known: Vec<String> },
        /// A refusal with an empty text.
        E0718 RefusalEmpty { span: Span },
    }
}

impl KindError {
    /// Returns the place of the mistake.
    pub fn span(&self) -> Span {
        use KindError as E;
        match self {
            E::NoValues { span, .. }
            | E::ResultKind { span, .. }
            | E::NoArm { span, .. }
            | E::Endless { span, .. }
            | E::SharedMember { span, .. }
            | E::NotCovered { span, .. }
            | E::CannotReduce { span, .. }
            | E::PatternCount { span, .. }
            | E::NotAPattern { span, .. }
            | E::PatternKind { span, .. }
            | E::NoMember { span, .. }
            | E::HoleInResult { span, .. }
            | E::NotATypeFunction { span, .. }
            | E::Layout { span, .. }
            | E::LayoutBroken { span, .. }
            | E::Refused { span, .. }
            | E::RefusalHere { span, .. }
            | E::RefusalNames { span, .. }
            | E::RefusalEmpty { span, .. } => *span,
        }
    }

    /// Returns true if both errors are the same for the same application, at any place; for
    /// refusals, if their texts are equal.
    pub fn same_cause(&self, other: &KindError) -> bool {
        use KindError as E;
        match (self, other) {
            (E::NoArm { application, .. }, E::NoArm { application: other, .. })
            | (E::Endless { application, .. }, E::Endless { application: other, .. })
            | (E::CannotReduce { application, .. }, E::CannotReduce { application: other, .. }) => {
                application == other
            }
            (E::Refused { text, .. }, E::Refused { text: other, .. }) => text == other,
            _ => false,
        }
    }

    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use KindError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::NoValues { span, ty, kind } => {
                error(span, format!("no value has the type `{ty}`"), format!("of kind {kind}"))
                    .help(format!("`{ty}` can be an argument where a parameter of kind {kind} is declared"))
            }
            E::ResultKind { span, ty, found, wanted, function } => error(
                span,
                format!("`{function}` gives types of kind {wanted}, and `{ty}` is of kind {found}"),
                format!("of kind {found}"),
            )
            .help(format!("the kind is written after the parameters: `typefun {function}(…):{found} => …`")),
            E::NoArm { span, application } => error(
                span,
                format!("no arm of the type function fits `{application}`"),
                "not defined for these arguments".into(),
            )
            .help("an arm `| _ => …` at the end of the `typematch` takes what the others leave"),
            E::Endless { span, application } => error(
                span,
                format!("`{application}` takes too many steps to compute"),
                "perhaps it never ends".into(),
            )
            .help("a type function that calls itself must do so at a smaller type"),
            E::SharedMember { span, name, kind, other, previous } => error(
                span,
                format!("`{name}` is a member of `{other}`, so it cannot be one of `{kind}`"),
                "the second one".into(),
            )
            .label(*previous, "the first one")
            .help("members are types, and each type has one kind: give this one another name"),
            E::NotCovered { span, missing } => {
                let shown: Vec<String> = missing.iter().take(3).map(|m| format!("`{m}`")).collect();
                let more = missing.len().saturating_sub(shown.len());
                let shown = shown.join(", ");
                let shown = if more > 0 { format!("{shown} and {more} more") } else { shown };
                error(span, format!("this `typematch` has no arm for {shown}"), "not covered".into())
                    .help("an arm `| _ => …` at the end takes what the others leave")
            }
            E::CannotReduce { span, application } => error(
                span,
                format!("cannot tell what `{application}` is"),
                "nothing here says what `_` is".into(),
            )
            .help(
                "write the type, as in `val x : T = …`, or the type arguments, as in `f[secret, public] x`",
            ),
            E::PatternCount { span, wanted, found } => error(
                span,
                format!(
                    "{} where {wanted} {} matched",
                    count(*found, "pattern"),
                    if *wanted == 1 { "type is" } else { "types are" }
                ),
                format!("{wanted} needed"),
            ),
            E::NotAPattern { span, what, help } => {
                error(span, format!("{what} cannot stand in a pattern of types"), "not a pattern".into())
                    .help(*help)
            }
            E::PatternKind { span, ty, kind } => error(
                span,
                format!("`{ty}` cannot stand in a pattern of kind {kind}"),
                format!("not of kind {kind}"),
            ),
            E::NoMember { span, name, kind, similar } => error(
                span,
                format!("`{kind}` has no member `{name}`"),
                "not a member".into(),
            )
            .fix(format!("did you mean `{similar}`?"), *span, similar.clone()),
            E::HoleInResult { span } => error(
                span,
                "a type function must say all of its result".into(),
                "nothing tells what this is".into(),
            )
            .help("name what a pattern fits, and use the name: `| option[T] => T`"),
            E::NotATypeFunction { span, name, instead } => {
                let d = error(span, format!("`{name}` is not a type function"), "not a type function".into());
                match instead {
                    Some(text) => d.fix(
                        format!("the arguments of a type stand in brackets: `{text}`"),
                        *span,
                        text.clone(),
                    ),
                    None => d,
                }
            }
            E::Layout { span, name, kind, params } => {
                let params: Vec<String> = params.iter().map(|p| format!("`{p}`")).collect();
                let d = match kind {
                    Some(kind) => error(
                        span,
                        format!("`{name}` has no layout: it is of kind {kind}"),
                        "no storage depends on it".into(),
                    ),
                    None => error(
                        span,
                        format!("`{name}` is not a parameter of this type"),
                        "not a parameter".into(),
                    ),
                };
                if params.is_empty() {
                    d.note("parameters of kind TYPE, COMPACTLINEAR and UNITSUM have a layout")
                } else {
                    let verb = if params.len() == 1 {
                        "parameter with a layout is"
                    } else {
                        "parameters with a layout are"
                    };
                    d.note(format!("the {verb} {}", params.join(", ")))
                }
            }
            E::Refused { span, application, text } => {
                error(span, text.clone(), format!("`{application}` is refused"))
            }
            E::RefusalHere { span } => error(
                span,
                "`error` is no type".into(),
                "only what a type function or a `typematch` gives is refused".into(),
            )
            .help("it stands alone after `=>`: `typefun f(T) => typematch T with | int => error \"…\" | _ => T endmatch;`"),
            E::RefusalNames { span, name, known } => {
                let d = error(
                    span,
                    format!("`{name}` is no type parameter here"),
                    format!("`{{{name}}}` stands for nothing"),
                );
                let known: Vec<String> = known.iter().map(|name| format!("`{{{name}}}`")).collect();
                let d = match known.is_empty() {
                    true => d,
                    false => d.note(format!("known here: {}", known.join(", "))),
                };
                d.help("`{{` stands for a brace")
            }
            E::RefusalEmpty { span } => {
                error(span, "a refusal without words".into(), "nobody would read why".into())
                    .help("say what is wrong, and what to write instead")
            }
            E::LayoutBroken { span, name, param, index, ty } => {
                let seen = if *index { "its size" } else { "its storage" };
                error(
                    span,
                    format!("`{ty}` depends on `{param}` through more than {seen}"),
                    format!("not as `layout {param}` says"),
                )
                .help(format!("leave `{param}` out of the layout: then `{name}` is only equal to itself at equal arguments"))
            }
        }
    }
}
