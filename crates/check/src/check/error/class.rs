//! `E06xx`: classes, instances, constraints.

use crate::diagnostic::{Diagnostic, errors};
use crate::source::Span;
use crate::types::Type;

errors! {
    /// The errors about classes, instances and constraints. Constraints are given as source text.
    pub enum ClassError {
        /// A constraint that does not hold.
        E0601 NoInstance { span: Span, constraint: String, needed_by: String, missing: String, advice: Advice },
        /// A constraint whose types are not known sufficiently.
        E0602 Undetermined { span: Span, constraint: String, needed_by: String },
        /// A constraint that leads to further constraints without end.
        E0615 Endless { span: Span, constraint: String, needed_by: String, next: Option<(String, Span)> },
        /// An instance of a class that is decided by structure for this type.
        E0616 Structural { span: Span, class: String, ty: Type },
        /// An instance for types with built-in behavior, which would never be used.
        E0441 NeverAsked { span: Span, instance: String, own: String, help: String },
        /// A method with type parameters that differ from those in its class.
        E0442 MethodParameters { span: Span, method: String, expected: usize, found: usize, kinds: bool },
        /// A constraint at a declaration that cannot have constraints.
        E0443 ConstraintHere { span: Span, whose: String, instead: &'static str },
        /// A constraint that is written twice.
        W0030 ConstraintTwice { span: Span, constraint: String },
        /// A constraint without a type parameter.
        W0031 GroundConstraint { span: Span, constraint: String },
        /// A method whose type does not mention a parameter of its class.
        W0034 UnusedClassParameter { span: Span, method: String, class: String, parameter: String },
        /// The name of a class that does not exist.
        E0603 UnknownClass { span: Span, name: String, similar: Option<String> },
        /// A class with the wrong number of arguments.
        E0604 Arity { span: Span, class: String, expected: usize, found: usize },
        /// Two instances that match one type.
        E0605 Overlap { span: Span, instance: String, other: String, both: String, previous: Span },
        /// An instance without a method that has no default.
        E0606 MissingMethod { span: Span, class: String, method: String, ty: Type },
        /// An instance with a method that its class does not have.
        E0607 UnknownMethod { span: Span, class: String, name: String, known: Vec<String>, similar: Option<String> },
        /// A method whose type differs from the type that the class states.
        E0608 MethodType { span: Span, method: String, expected: Type, found: Type, class: String },
        /// An instance of a class without an instance of its superclass.
        E0609 MissingSuper { span: Span, instance: String, class: String, missing: String, advice: Advice },
        /// A class that is its own superclass, directly or not.
        E0610 Cyclic { span: Span, class: String },
        /// A type parameter that the head of an instance does not mention.
        E0611 FreeParameter { span: Span, name: String, instance: String },
        /// A function named by an operator that is built in for these operands, so that it is never
        /// called.
        E0612 BuiltInOperator { span: Span, op: String, operands: Vec<Type> },
        /// A member that is declared twice.
        E0613 DuplicateMember { span: Span, name: String, previous: Span },
        /// A method, class or instance at a place that does not allow it.
        E0614 NotHere { span: Span, what: &'static str, instead: &'static str },
        /// An instance for an abstract type outside the type's module and the class's module.
        E0618 Orphan {
            span: Span,
            instance: String,
            ty: Type,
            name: String,
            class: String,
            home: Option<String>,
            other: Option<String>,
        },
        /// A constraint whose instance is a refusal, with the words of its author.
        E0619 Refused { span: Span, constraint: String, needed_by: String, instance: Span, text: String },
    }
}

/// The advice about a missing instance.
#[derive(Clone, Debug)]
pub enum Advice {
    /// Add a constraint for the type parameter to the header.
    Ask { parameter: String },
    /// Write the instance for the declared type, with these members.
    Write { members: String },
    /// Convert the index, which is not a number. `truth` is true for `bool`.
    Index { ty: String, truth: bool },
    /// Apply the function to each element of the array, for which the instance exists.
    Each { instance: String },
    /// No advice.
    None,
}

impl Advice {
    /// Adds the advice to a message. `missing` is the text of the constraint.
    fn on(&self, d: Diagnostic, missing: &str) -> Diagnostic {
        match self {
            Advice::Index { truth: true, .. } => d.help("a truth value is not a number: `count` tells how many are true"),
            Advice::Index { ty, .. } => d.help(format!(
                "an index is not a number: `i :>> int` is its code, and `cyclic[{ty}]` is calculated with modulo its size"
            )),
            Advice::Ask { parameter } => d.help(format!(
                "nothing is known about `{parameter}`: ask for it in the header, `with {missing}`"
            )),
            Advice::Write { members } if members.is_empty() => {
                d.help(format!("write one: `instance {missing} {{}}`"))
            }
            Advice::Write { members } => d.help(format!("write one: `instance {missing} {{ {members} }}`")),
            Advice::Each { instance } => {
                d.help(format!("there is `{instance}`: `map` applies a function to each element"))
            }
            Advice::None => d,
        }
    }
}

impl ClassError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use ClassError as E;
        let error = |span: &Span, message: String, label: String| {
            Diagnostic::error(self.code(), *span, message, label)
        };
        match self {
            E::NoInstance { span, constraint, needed_by, missing, advice } => {
                let d = error(
                    span,
                    format!("there is no instance `{missing}`"),
                    format!("{needed_by} needs `{constraint}`"),
                );
                advice.on(d, missing)
            }
            E::Undetermined { span, constraint, needed_by } => error(
                span,
                format!("cannot tell which instance `{constraint}` is meant"),
                format!("{needed_by} depends on it, and nothing here decides"),
            )
            .help("write the type arguments, as in `zero[int] ()`, or the type of the variable"),
            E::Endless { span, constraint, needed_by, next } => {
                let d = error(
                    span,
                    format!("whether `{constraint}` holds is a question without end"),
                    format!("{needed_by} needs `{constraint}`"),
                );
                match next {
                    Some((next, at)) => {
                        d.label(*at, format!("by this instance it needs `{next}`, and so on"))
                    }
                    None => d,
                }
                .help("let an instance require less than it gives: of the parts of its type")
            }
            E::Structural { span, class, ty } => {
                let (done, what) =
                    if class == "Show" { ("shown", "a text") } else { ("compared", "an equality") };
                error(
                    span,
                    format!("an instance `{class}[{ty}]` would never be asked"),
                    format!("`{ty}` is {done} by its structure"),
                )
                .help(format!("declare a `newtype` or `struct`: those can have {what} of their own"))
            }
            E::NeverAsked { span, instance, own, help } => {
                error(span, format!("the instance `{instance}` would never be asked"), own.clone())
                    .help(help.clone())
            }
            E::MethodParameters { span, method, expected, found, kinds } => {
                let d = error(
                    span,
                    format!("`{method}` does not have the type parameters that its class gives it"),
                    match kinds {
                        true => "their kinds differ".to_string(),
                        false => format!("{} here", super::count(*found, "type parameter")),
                    },
                );
                match expected {
                    0 => d.help("leave out the brackets: those of the class and of the instance are known"),
                    n => d.help(format!(
                        "its class gives it {}: write as many of the same kinds, or leave out the brackets",
                        super::count(*n, "type parameter")
                    )),
                }
            }
            E::ConstraintHere { span, whose, instead } => {
                error(span, format!("{whose} asks for nothing with `with`"), "would be ignored".into())
                    .help(*instead)
            }
            E::ConstraintTwice { span, constraint } => Diagnostic::warning(
                self.code(),
                *span,
                format!("the constraint `{constraint}` is there twice"),
                "the second one",
            ),
            E::GroundConstraint { span, constraint } => Diagnostic::warning(
                self.code(),
                *span,
                format!("the constraint `{constraint}` says nothing of a type parameter"),
                "the same for every use",
            )
            .help("leave it out: what holds of known types need not be asked for"),
            E::UnusedClassParameter { span, method, class, parameter } => Diagnostic::warning(
                self.code(),
                *span,
                format!("the type of `{method}` does not mention `{parameter}`"),
                format!("no argument and no result says which instance of `{class}` is meant"),
            )
            .help(format!("mention `{parameter}`, or declare `{method}` outside of the class")),
            E::UnknownClass { span, name, similar } => {
                let d = error(span, format!("there is no class `{name}`"), "not a class".into());
                match similar {
                    Some(other) => d.fix(format!("did you mean `{other}`?"), *span, other),
                    None => d,
                }
            }
            E::Arity { span, class, expected, found } => error(
                span,
                format!("`{class}` takes {}", super::count(*expected, "type argument")),
                format!("{} given", super::count(*found, "type argument")),
            ),
            E::Overlap { span, instance, other, both, previous } => {
                let d = if instance == other {
                    error(span, format!("there are two instances `{instance}`"), "the second one".into())
                        .label(*previous, "the first one")
                } else {
                    error(
                        span,
                        format!("the instances `{instance}` and `{other}` overlap"),
                        format!("this covers `{both}`"),
                    )
                    .label(*previous, "and so does this")
                };
                d.note("a class has one instance for a type, so that what is meant does not depend on what has been read")
            }
            E::MissingMethod { span, class, method, ty } => error(
                span,
                format!("this instance of `{class}` lacks `{method}`"),
                format!("`{method} : {ty}` is missing"),
            ),
            E::UnknownMethod { span, class, name, known, similar } => {
                let d = error(
                    span,
                    format!("`{class}` has no method `{name}`"),
                    format!("not a method of `{class}`"),
                );
                match similar {
                    Some(other) => d.fix(format!("did you mean `{other}`?"), *span, other),
                    None if known.is_empty() => d.note(format!("`{class}` has no methods")),
                    None => d.note(format!("its methods are {}", known.join(", "))),
                }
            }
            E::MethodType { span, method, expected, found, class } => error(
                span,
                format!("`{method}` has another type than `{class}` says"),
                format!("this is `{found}`"),
            )
            .note(format!("an instance of `{class}` has `{method} : {expected}` here")),
            E::MissingSuper { span, instance, class, missing, advice } => {
                let d = error(
                    span,
                    format!("`{instance}` needs an instance `{missing}`"),
                    format!("`{class}` builds on it"),
                );
                advice.on(d, missing)
            }
            E::Cyclic { span, class } => error(
                span,
                format!("the class `{class}` builds on itself"),
                "among its own superclasses".into(),
            ),
            E::FreeParameter { span, name, instance } => error(
                span,
                format!("nothing decides what `{name}` is"),
                format!("`{instance}` does not mention it"),
            )
            .help("leave it out, or use it in an argument of the class"),
            E::BuiltInOperator { span, op, operands } => {
                let operands: Vec<String> = operands.iter().map(|ty| format!("`{ty}`")).collect();
                let operands = operands.join(" and ");
                let (what, help) = match op.as_str() {
                    "!" => ("`!` is built in, for `bool`".to_string(), "give the function a name".to_string()),
                    "==" | "!=" => (
                        format!("`{op}` on {operands} is built in"),
                        "a declared type has an equality of its own by an instance: `instance Eq[…] { fun == … }`"
                            .to_string(),
                    ),
                    _ => (
                        format!("`{op}` on {operands} is built in"),
                        "give the function a name, or its operands a `newtype` or `struct`".to_string(),
                    ),
                };
                error(span, what, "this function would never be called".into()).help(help)
            }
            E::DuplicateMember { span, name, previous } => {
                error(span, format!("`{name}` is there twice"), "the second one".into())
                    .label(*previous, "the first one")
            }
            E::Orphan { span, instance, ty, name, class, home, other } => {
                let place = |file: &Option<String>, what: &str| match file {
                    Some(file) => format!("`{file}`, the module of `{what}`"),
                    None => format!("the module of `{what}`"),
                };
                let places = match other {
                    Some(_) if other != home => {
                        format!("{}, or in {}", place(home, name), place(other, class))
                    }
                    _ => place(home, name),
                };
                error(
                    span,
                    format!("`{ty}` is abstract: what it can do is said in its own module"),
                    format!("`{instance}` is neither in the module of `{name}` nor in that of `{class}`"),
                )
                .help(format!(
                    "write the instance in {places}; here a `newtype` of `{ty}` may have instances"
                ))
            }
            E::Refused { span, constraint, needed_by, instance, text } => {
                error(span, text.clone(), format!("{needed_by} needs `{constraint}`"))
                    .label(*instance, "refused here")
            }
            E::NotHere { span, what, instead } => {
                error(span, format!("{what} cannot stand here"), "not possible".into()).help(*instead)
            }
        }
    }
}
