//! Errors about a value of one type where another type is wanted: equality, reshapes, conversions,
//! literals.

use super::{is_index_hole, type_as_size};
use crate::diagnostic::{Diagnostic, Help, errors};
use crate::source::Span;
use crate::types::{Type, TypeKind};
use num_bigint::BigInt;

errors! {
    /// Errors about a value of one type where another type is wanted: equality, reshapes,
    /// conversions, literals.
    pub enum ConversionError {
        /// A value of another type than its context wants.
        E0301 Mismatch {
            span: Span,
            expected: Type,
            found: Type,
            because: Option<(Span, String)>,
            hint: Option<Help>,
        },
        /// A reshape between types that are not naturally isomorphic.
        E0302 NotNatural {
            span: Span,
            from: Type,
            to: Type,
            message: String,
            notes: Vec<String>,
            help: Option<String>,
        },
        /// A reshape between types whose storage could not be compared within the bounds of the
        /// decision procedure.
        E0306 Undecided {
            span: Span,
            from: Type,
            to: Type,
            notes: Vec<String>,
        },
        /// A conversion `:>` that does not exist.
        E0303 NoConversion {
            span: Span,
            from: Type,
            to: Type,
            why: String,
            help: Option<String>,
        },
        /// A number that is not the code of a value of the type.
        E0304 CodeRange {
            span: Span,
            value: BigInt,
            ty: Type,
            size: String,
        },
        /// An integer literal that the type does not hold exactly.
        E0305 LiteralRange {
            span: Span,
            value: BigInt,
            ty: Type,
        },
        /// A real literal that is larger than every value of the type.
        E0305 RealLiteralRange {
            span: Span,
            value: f64,
            ty: Type,
        },
        /// `:>>` that gives the axes of an array the names of other ones of them: the elements
        /// stay.
        W0041 RelabelsNamed {
            span: Span,
            from: Type,
            to: Type,
            help: Option<String>,
        },
        /// A reshape that reads one labeled type as another in the same storage order.
        N0001 Relabels {
            span: Span,
            from: Type,
            to: Type,
            help: Option<String>,
        },
    }
}

impl ConversionError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use ConversionError as E;
        let code = self.code();
        let error =
            |span: &Span, message: String, label: String| Diagnostic::error(code, *span, message, label);
        match self {
            E::Mismatch { span, expected, found, because, hint } => {
                let wanted =
                    if is_index_hole(expected) { "an index".to_string() } else { format!("`{expected}`") };
                let mut d =
                    error(span, format!("expected {wanted}, found `{found}`"), format!("this is `{found}`"));
                if let Some((at, why)) = because {
                    d = d.label(*at, why.clone());
                }
                match hint {
                    Some(hint) => d.help(hint.clone()),
                    None => d,
                }
            }
            E::NotNatural { span, from, to, message, notes, help } => {
                let mut d = error(span, message.clone(), format!("from `{from}` to `{to}`"));
                for note in notes {
                    d = d.note(note.clone());
                }
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::Undecided { span, from, to, notes } => {
                let message = "it is not known whether the two have the same storage";
                let mut d = error(span, message.into(), format!("from `{from}` to `{to}`"));
                for note in notes {
                    d = d.note(note.clone());
                }
                d.help("write the types with sizes in a simpler form, or go through a type between the two")
            }
            E::NoConversion { span, from, to, why, help } => {
                let d = error(span, format!("there is no conversion from `{from}` to `{to}`"), why.clone());
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
            E::CodeRange { span, value, ty, size } => {
                let ty = type_as_size(ty);
                let message = format!("{value} is not the code of a value of `{ty}`");
                if size == "0" {
                    return error(span, message, format!("`{ty}` has no values"));
                }
                error(span, message, format!("`{ty}` has {size} values, with codes from 0"))
                    .help(format!("`.mod[{ty}]` wraps, `.index[{ty}]` gives an option"))
            }
            E::LiteralRange { span, value, ty } => {
                let d =
                    error(span, format!("{value} is not exactly a value of `{ty}`"), "does not fit".into());
                match ty.as_scalar() {
                    Some(crate::types::Scalar::Real) => {
                        d.help("write it with a point to take the nearest `real`")
                    }
                    Some(scalar) => match scalar.bounds() {
                        Some((low, high)) => d
                            .note(format!("`{ty}` holds {low} to {high}"))
                            .help("`bigint` holds every integer"),
                        None => d.help("`bigint` holds every integer"),
                    },
                    None => d,
                }
            }
            E::RealLiteralRange { span, value, ty } => {
                error(span, format!("{value:e} is larger than any `{ty}`"), "does not fit".into())
                    .help("`real` holds larger numbers")
            }
            E::RelabelsNamed { span, from, to, help } => {
                let index = to.nested_index().expect("only arrays have axes");
                let moves = format!("`transpose_to[{index}]` moves the elements with their axes");
                let nested = |ty: &Type| {
                    matches!(ty.kind(), TypeKind::Array(element, _)
                        if matches!(element.kind(), TypeKind::Array(..)))
                };
                // `transpose_to` takes and gives an array over one product.
                let help = match help {
                    Some(help) if nested(from) || nested(to) => help.clone(),
                    _ if nested(to) => format!("{moves}, and `:>> {to}` nests them then"),
                    _ => moves,
                };
                Diagnostic::warning(
                    code,
                    *span,
                    "the elements stay where they are, and their axes change names",
                    format!("`{from}` read as `{to}` in the same storage order"),
                )
                .help(help)
            }
            E::Relabels { span, from, to, help } => {
                let d = Diagnostic::note_at(
                    code,
                    *span,
                    "this relabels axes and is not a transpose",
                    format!("`{from}` read as `{to}` in the same storage order"),
                );
                match help {
                    Some(help) => d.help(help.clone()),
                    None => d,
                }
            }
        }
    }
}
