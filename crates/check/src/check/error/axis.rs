//! `E0320` to `E0323`: axes of index types that a function finds by name.

use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;
use crate::types::{Type, TypeKind};
use num_bigint::BigInt;

errors! {
    /// The errors about axes that are found by name.
    pub enum AxisError {
        /// An array without an axis that the function works on.
        E0320 Missing {
            span: Span,
            found: Type,
            axis: Type,
            because: Option<(Span, String)>,
            help: Option<Help>,
        },
        /// An array with axes of a form, but fewer than a function works on.
        E0320 TooFew {
            span: Span,
            found: Type,
            axis: Type,
            because: Option<(Span, String)>,
            help: Option<Help>,
        },
        /// An array with an axis twice, so that its name does not determine one.
        E0321 Repeated { span: Span, found: Type, axis: Type, because: Option<(Span, String)> },
        /// An array with two axes in the other order.
        E0322 Order {
            span: Span,
            found: Type,
            first: Type,
            second: Type,
            because: Option<(Span, String)>,
        },
        /// `over[D] x` or `transpose_to[D] x` where `D` does not have an axis of `x`.
        E0320 LeftOut { span: Span, function: &'static str, found: Type, axis: Type, to: Type },
        /// `transpose_to[D] x` where `D` has an axis that `x` does not have.
        E0320 Added { span: Span, found: Type, axis: Type },
        /// `over[D] x` where two axes of `x` stand in `D` in the other order.
        E0322 KeptOrder { span: Span, found: Type, first: Type, second: Type, to: Type },
        /// An operation on axes applied to a value that is no array.
        E0324 NotAnArray { span: Span, ty: Type },
        /// `over x` or `transpose_to x` without the index type of the result.
        E0325 NoTarget { span: Span, name: String },
        /// `like y` without an array after it.
        E0325 OneArgument { span: Span },
        /// An integer literal that is no label of the index type that is wanted.
        E0326 LabelRange { span: Span, label: BigInt, ty: Type, first: BigInt, last: BigInt },
        /// A label of an index type whose labels depend on a type parameter.
        E0326 LabelUnknown { span: Span, label: BigInt, ty: Type },
        /// Labels that go down.
        E0327 LabelOrder { span: Span, low: BigInt, high: BigInt },
        /// Labels that are neither numbers nor `-A..B`.
        E0327 LabelForm { span: Span },
        /// A call that does not determine the axis it works on.
        E0323 Undetermined {
            span: Span,
            name: String,
            takes: Type,
            /// The axes it may be; none if the array is not known.
            axes: Vec<Type>,
            help: Option<Help>,
        },
    }
}

impl AxisError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use AxisError as E;
        let error = |span: &Span, message: String, label: String| {
            Diagnostic::error(self.code(), *span, message, label)
        };
        let reason = |d: Diagnostic, because: &Option<(Span, String)>| match because {
            Some((span, why)) => d.label(*span, why.clone()),
            None => d,
        };
        let helped = |d: Diagnostic, help: &Option<Help>| match help {
            Some(help) => d.help(help.clone()),
            None => d,
        };
        match self {
            E::Missing { span, found, axis, because, help } => {
                let message = format!("`{found}` has no axis `{axis}`");
                helped(reason(error(span, message, axes_in_words(found)), because), help)
            }
            E::TooFew { span, found, axis, because, help } => {
                let message = format!("`{found}` has fewer axes `{axis}` than are wanted");
                helped(reason(error(span, message, axes_in_words(found)), because), help)
            }
            E::Repeated { span, found, axis, because } => {
                let label = "the name does not say which of them".to_string();
                reason(error(span, format!("`{found}` has the axis `{axis}` more than once"), label), because)
                    .help(format!(
                        "give each axis a type of its own: `newtype` declares one, and `:>>` changes the type of \
                         the array to it. With `newtype Other = {axis};` one of them is `Other`"
                    ))
            }
            E::Order { span, found, first, second, because } => {
                let label = format!("`{second}` comes before `{first}` here");
                let message = format!("the axes of `{found}` stand in another order than is wanted");
                let d = reason(error(span, message, label), because);
                match swapped(found, first, second) {
                    Some(to) => d.help(format!("`transpose_to[{to}]` puts them in that order")),
                    None => d,
                }
            }
            E::LeftOut { span, function, found, axis, to } => error(
                span,
                format!("`{function}` keeps every axis of `{found}`, and `{to}` has no `{axis}`"),
                format!("has the axis `{axis}`"),
            )
            .help(format!("`sum_over[{axis}]` adds up along `{axis}`, an index selects in it")),
            E::Added { span, found, axis } => {
                error(span, format!("`{found}` has no axis `{axis}`"), "`transpose_to` adds no axis".into())
                    .help("`over` repeats an array along the axes that it does not have")
            }
            E::KeptOrder { span, found, first, second, to } => error(
                span,
                format!("`over` keeps the order of the axes of `{found}`"),
                format!("`{second}` comes before `{first}` here"),
            )
            .help(format!("`transpose_to` puts axes in another order; `over[{to}]` asks for this one")),
            E::NotAnArray { span, ty } => {
                error(span, format!("`{ty}` is no array and has no axes"), "no array".into())
            }
            E::NoTarget { span, name } => error(
                span,
                format!("nothing says which axes `{name}` is to give"),
                "without an index type".into(),
            )
            .help(format!("write the index type of the result: `{name}[I \\* J] x`")),
            E::OneArgument { span } => {
                error(span, "`like` takes two arrays, one after the other".into(), "only one is given".into())
                    .help("`like y x` is `x` over the axes of `y`")
            }
            E::LabelRange { span, label, ty, first, last } => {
                let d = error(span, format!("{label} is no label of `{ty}`"), "out of range".into());
                match last < first {
                    true => d.note(format!("`{ty}` has no values")),
                    false => d.note(format!("the labels of `{ty}` go from {first} to {last}")),
                }
            }
            E::LabelUnknown { span, label, ty } => error(
                span,
                format!("whether {label} is a label of `{ty}` depends on a type parameter"),
                "not known here".into(),
            )
            .help("a number in place of the parameter, as in `halo[1, N]`, determines the labels"),
            E::LabelOrder { span, low, high } => {
                error(span, format!("the labels {low}..{high} go down"), "an index type counts up".into())
                    .help(format!("{high}..{low} has the same labels"))
            }
            E::LabelForm { span } => error(
                span,
                "these labels have no known number".into(),
                "neither two numbers nor `-A..B`".into(),
            )
            .help("labels are `-1..4`, or go from minus the size of an index type to the size of another: `-A..B`"),
            E::Undetermined { span, name, takes, axes, help } => {
                let label = format!("takes `{takes}`");
                if axes.is_empty() {
                    let message = format!("the axes of the array that `{name}` works on are not known");
                    return error(span, message, label).help(
                        "they come from an array of a known type: where none is given, write the type, as in \
                         `fun (u:real ^ I) => …`",
                    );
                }
                let message = format!("which axis `{name}` works on is not determined");
                let names: Vec<String> = axes.iter().map(Type::to_string).collect();
                let note = format!("the argument has the axes {}", listed(&names));
                helped(error(span, message, label).note(note), help)
            }
        }
    }
}

/// Returns the axes of an array as they are printed.
fn axes_of(ty: &Type) -> Vec<String> {
    match ty.kind() {
        TypeKind::Array(_, index) => index.axes().iter().map(Type::to_string).collect(),
        _ => Vec::new(),
    }
}

/// Returns the axes of an array in words.
fn axes_in_words(ty: &Type) -> String {
    match &axes_of(ty)[..] {
        [] => "this is no array".to_string(),
        [one] => format!("its only axis is `{one}`"),
        all => format!("its axes are {}", listed(all)),
    }
}

/// Returns the index type of an array with two axes exchanged.
fn swapped(found: &Type, first: &Type, second: &Type) -> Option<Type> {
    let TypeKind::Array(_, index) = found.kind() else { return None };
    let mut axes = index.axes();
    let place = |axis: &Type| axes.iter().position(|one| one == axis);
    let (a, b) = (place(first)?, place(second)?);
    axes.swap(a, b);
    Some(Type::index_of(axes))
}

/// Returns names in quotes, as in "`I`, `J` and `K`".
fn listed(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, first)) => format!("{} and {last}", first.join(", ")),
        None => String::new(),
    }
}
