//! Errors about parts of values: fields, components, indices, cases, places.

use super::{count, numbering_text, quoted_names, type_as_size};
use crate::check::terms::is_list;
use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;
use crate::types::{Triangle, Type, TypeKind};
use num_bigint::BigUint;

errors! {
    /// Errors about parts of values: fields, components, indices, cases, places.
    pub enum PartError {
        /// An index with the wrong number of parts: `m.(0 \, 1)`.
        E0452 IndexParts {
            span: Span,
            found: usize,
            axes: usize,
            index: Type,
            array: Type,
        },
        /// A constant index beyond the end of an axis: `m.(0 \, 7)`.
        E0453 AxisRange {
            span: Span,
            code: BigUint,
            axis: Type,
            array: Type,
        },
        /// A name that is neither a field of the value nor a function that takes it.
        E0416 NoField {
            span: Span,
            name: String,
            ty: Type,
            fields: Vec<String>,
        },
        /// A component number beyond the last component.
        E0417 NoComponent {
            span: Span,
            index: BigUint,
            ty: Type,
            count: String,
        },
        /// An index of another type than that of the array.
        E0418 WrongIndex {
            span: Span,
            found: Type,
            index: Type,
            array: Type,
            help: Option<Help>,
        },
        /// A position in a value without components.
        E0419 NotIndexable {
            span: Span,
            ty: Type,
        },
        /// A computed position in a tuple with components of different types.
        E0420 DynamicComponent {
            span: Span,
            ty: Type,
        },
        /// A case number beyond the last case.
        E0424 CaseRange {
            span: Span,
            index: BigUint,
            ty: Type,
            count: String,
        },
        /// A case pattern for a type that is not a sum.
        E0425 NotASum {
            span: Span,
            ty: Type,
        },
        /// A case pattern for a value whose type is not known.
        E0426 CaseNeedsType {
            span: Span,
        },
        /// A store into an expression that is not a place.
        E0427 NotAPlace {
            span: Span,
            /// The function in the expression that computes a new value.
            function: Option<String>,
        },
        /// `x with (…)` or `(...x)` with a value that has no fields.
        E0458 NotARecord {
            span: Span,
            ty: Type,
        },
        /// `r with (x = 3)` where `r` has no field `x`.
        E0459 UpdatedField {
            span: Span,
            name: String,
            ty: Type,
            known: Vec<String>,
            similar: Option<String>,
        },
        /// A store into one part of a pair of indices.
        E0433 PairPart {
            span: Span,
            ty: Type,
        },
        /// A number as an index where an index of a larger type is needed.
        W0001 IndexLiteral {
            span: Span,
            found: Type,
            index: Type,
            code: BigUint,
        },
    }
}

impl PartError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use PartError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::IndexParts { span, found, axes, index, array } => {
                let d = error(
                    span,
                    format!("an index of `{array}` has {}, not {found}", count(*axes, "part")),
                    format!("{} here", count(*found, "part")),
                )
                .note(format!("the index type is `{}`", index.size_text()));
                match array.unfold().kind() {
                    TypeKind::Array(element, _)
                        if *axes == 1 && matches!(element.unfold().kind(), TypeKind::Array(..)) =>
                    {
                        d.help(
                            "this is an array of arrays: take one index after the other, as in `x.(0).(1)`",
                        )
                    }
                    _ => d.help("give one part for each axis, joined by `\\,`"),
                }
            }
            E::AxisRange { span, code, axis, array } => {
                let size = axis.size_text();
                let label = match axis.as_unit_sum() {
                    Some(n) if *n == BigUint::from(0u32) => "this axis has no positions".to_string(),
                    _ => format!("the positions of this axis are numbered from 0, and there are {size}"),
                };
                error(span, format!("an axis of `{array}` has no position {code}"), label)
            }
            E::NoField { span, name, ty, fields } => {
                let d = error(
                    span,
                    format!("`{ty}` has no field `{name}`, and no function `{name}` takes it"),
                    "not a field".into(),
                );
                if fields.is_empty() { d } else { d.note(format!("its fields are {}", quoted_names(fields))) }
            }
            E::NoComponent { span, index, ty, count } => {
                error(span, format!("`{ty}` has no component {index}"), numbering_text("component", count))
            }
            E::WrongIndex { span, found, index, array, help } => {
                // In place of an index, `2` is a size and not the type of truth values.
                let found = found.size_text();
                let d = error(
                    span,
                    format!("an array indexed by `{}` takes no `{found}`", index.size_text()),
                    format!("this is `{found}`"),
                )
                .note(format!("the array is `{array}`"));
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::NotIndexable { span, ty } => {
                let d = error(span, format!("`{ty}` has no components"), format!("this is `{ty}`"));
                match ty.as_scalar() {
                    Some(crate::types::Scalar::String) => d.help(
                        "`char_at (s, 0)` takes a character from a text, `substring (s, from, to)` a part",
                    ),
                    _ if is_list(ty) => d.help(
                        "`get (l, 0)` is `case 1` of an element, or `case 0` if there is none; `elements l` is an array",
                    ),
                    _ => d,
                }
            }
            E::DynamicComponent { span, ty } => error(
                span,
                format!("the components of `{ty}` have different types, so the position must be a constant"),
                "not a constant".into(),
            )
            .help("use `match`, or an array if all components have one type"),
            E::CaseRange { span, index, ty, count } => {
                let ty = type_as_size(ty);
                error(span, format!("`{ty}` has no case {index}"), numbering_text("case", count))
            }
            E::NotASum { span, ty } if matches!(ty.kind(), TypeKind::Meta(_)) => {
                error(span, "cannot tell the type of what is matched here".into(), "a case of what?".into())
                    .help("write the type of the parameter, as in `fun (x:1 + int) => …`")
            }
            E::NotASum { span, ty } if matches!(ty.unfold().kind(), TypeKind::Repeat(..)) => error(
                span,
                format!("the cases of `{ty}` have no numbers here"),
                "how many there are is not known".into(),
            )
            .help("`case i v` fits every case and names its index"),
            E::NotASum { span, ty } => error(span, format!("`{ty}` is not a sum"), "has no cases".into()),
            E::CaseNeedsType { span } => error(
                span,
                "cannot tell which sum this case belongs to".into(),
                "nothing here says the type".into(),
            )
            .help("write `case n of T` and apply it, or declare the type of the variable"),
            E::NotAPlace { span, function } => {
                let message = "this is not a place that can be stored into".into();
                match function {
                    Some(name) => error(span, message, format!("`{name}` computes a value of its own"))
                        .help("a function gives a place if its value is a part of its argument, as with `rows m` and `proj 1 of T`"),
                    None => error(span, message, "must be a variable followed by projections".into())
                        .help("write `&x.i <- v;` with `x` a `var`"),
                }
            }
            E::NotARecord { span, ty } => {
                let d = error(span, format!("`{ty}` has no fields"), "neither a record nor a struct".into());
                match ty.as_placed() {
                    Some((_, places)) => d.help(format!("inside `at {places} {{ … }}` it is what is there")),
                    None => d,
                }
            }
            E::UpdatedField { span, name, ty, known, similar } => {
                let d = error(span, format!("`{ty}` has no field `{name}`"), "not a field".into());
                match similar {
                    Some(similar) => d.fix(format!("did you mean `{similar}`?"), *span, similar.clone()),
                    None => d
                        .note(format!("its fields are {}", quoted_names(known)))
                        .help("`(...r, x = e)` makes a record with further fields"),
                }
            }
            E::PairPart { span, ty } => error(
                span,
                format!("a part of `{ty}` cannot be stored into: its two parts depend on one another"),
                "part of a pair".into(),
            )
            .help(match ty.unfold().kind() {
                TypeKind::Triangle(Triangle::Below, _) => {
                    "store a whole pair: `below_pair (i, j)` makes one where the two differ"
                }
                _ => "store a whole pair: `lower_pair (i, j)` makes one of any two",
            }),
            E::IndexLiteral { span, found, index, code } => {
                // `2` is an index type here, not the type of truth values.
                let number = |ty: &Type| ty.as_unit_sum().map_or_else(|| ty.to_string(), BigUint::to_string);
                let (found, index) = (number(found), number(index));
                Diagnostic::warning(
                    self.code(),
                    *span,
                    format!("the index is a `{found}` where a `{index}` is needed"),
                    format!("taken as `` `{code}:{index} ``"),
                )
                .fix(
                    format!("write `` `{code}:{index} ``"),
                    *span,
                    format!("`{code}:{index}"),
                )
            }
        }
    }
}
