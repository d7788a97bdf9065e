//! `E031x`: moves by leaves, packing and unpacking, cases of sums.

use crate::diagnostic::{Diagnostic, errors};
use crate::iso::leaves::MAX_LEAVES;
use crate::source::Span;
use crate::types::Type;
use num_bigint::BigUint;

errors! {
    /// The errors about moves.
    pub enum MoveError {
        /// `x.move[T]` with leaves of one type that could be exchanged. `pairs` are some of them;
        /// `ty` is the type of the first.
        E0310 Exchangeable {
            span: Span,
            from: Type,
            to: Type,
            sum: bool,
            /// True if the leaves are those of the value, false if they are those of the result.
            source: bool,
            pairs: Vec<(String, String)>,
            ty: Type,
        },
        /// `x.move[T]` with a leaf of one type that the other type lacks.
        E0311 MissingLeaf {
            span: Span,
            from: Type,
            to: Type,
            sum: bool,
            source: bool,
            place: String,
            ty: Type,
            axes: Vec<Type>,
        },
        /// `x.move[T]` with more leaves than the limit.
        E0312 TooManyLeaves { span: Span, from: Type, to: Type, sum: bool },
        /// A `pack` of a tuple or array with a part that is not compact, or of any other value.
        E0313 NotPacked { span: Span, ty: Type, part: Option<Type> },
        /// An `unpack` of a value that is neither a compact product nor an exponential.
        E0314 NotUnpacked { span: Span, ty: Type },
        /// A `casearg` of a sum whose cases have different argument types.
        E0315 CasesDiffer { span: Span, ty: Type },
        /// An `ainj` into a type that is not a coarray.
        E0317 NotACoarray { span: Span, ty: Type },
        /// A slice of an axis that is not a unit sum.
        E0492 SliceAxis { span: Span, axis: Type, ty: Type },
        /// A slice with ends that are not constants.
        E0493 SliceNotConstant { span: Span },
        /// A slice that exceeds its axis, or has a start after its end.
        E0491 SliceRange { span: Span, size: BigUint, ty: Type, backwards: bool },
        /// A `_` that is not at the place of an axis.
        E0490 AxisHere { span: Span },
        /// An `x.move` without a type.
        E0316 NoTarget { span: Span },
    }
}

impl MoveError {
    /// Returns the message.
    pub fn to_diagnostic(&self) -> Diagnostic {
        use MoveError as E;
        let error = |span: &Span, message: String, label: String| {
            Diagnostic::error(self.code(), *span, message, label)
        };
        match self {
            E::Exchangeable { span, from, to, sum, source, pairs, ty } => {
                let side = if *source { from } else { to };
                let pairs: Vec<String> = pairs.iter().map(|(a, b)| format!("`{a}` and `{b}`")).collect();
                let whose = if *source { "the value" } else { "the result" };
                let help = match sum {
                    true => "say which goes where: take the value apart by `match` and inject each argument",
                    false => "say which goes where: build the result from its parts, `x.0`, `x.1` …",
                };
                let label = format!("{} of {whose} could be exchanged: {}", leaves(*sum), pairs.join(", "));
                error(span, no_move(from, to), label)
                    .note(format!("each is of `{ty}`, as many times, so `{side}` has two places for it"))
                    .help(help)
            }
            E::MissingLeaf { span, from, to, sum, source, place, ty, axes } => {
                let (side, other) = if *source { (from, to) } else { (to, from) };
                let count = match axes.is_empty() {
                    true => String::new(),
                    false => format!(", {} times", Type::compact_product(axes.clone())),
                };
                let what = if *sum { "case" } else { "leaf" };
                error(span, no_move(from, to), format!("`{other}` has no {what} `{ty}`{count}"))
                    .note(format!("it is `{place}` of `{side}`"))
                    .help(format!("a move needs the same {} on both sides: each slot type as often", leaves(*sum)))
            }
            E::TooManyLeaves { span, from, to, sum } => {
                let label = format!("more than {MAX_LEAVES} {}, or sums nested too deep", leaves(*sum));
                error(span, no_move(from, to), label).help("move the parts by themselves")
            }
            E::NotPacked { span, ty, part } => {
                let label = match part {
                    Some(part) => format!("`{part}` is not compact"),
                    None => "this is no tuple and no array".into(),
                };
                error(span, format!("`{ty}` cannot be packed"), label)
                    .help("`pack` takes a tuple or an array of values of index types, such as `3 * 4` or `10 ^ 100`")
            }
            E::NotUnpacked { span, ty } => {
                error(span, format!("`{ty}` cannot be unpacked"), "this has no compact parts".into())
                    .help("`unpack` takes a compact product or exponential, such as `3 \\* 4` or `10 \\^ 100`")
            }
            E::CasesDiffer { span, ty } => {
                error(span, "`casearg` needs cases with one argument type".into(), format!("this is `{ty}`"))
                    .help("`match` gives each case its own name: `match x with | case 0 a => … | case 1 b => … endmatch`")
            }
            E::NotACoarray { span, ty } => {
                error(span, format!("`{ty}` is no coarray"), "`ainj` injects into `N *+ T`".into())
                    .help("`case 1 of int + real` injects into a sum with cases of several types")
            }
            E::AxisHere { span } => {
                error(span, "`_` is no value".into(), "it stands for an axis or in a pattern".into())
                    .help("`m.(i \\, _)` is row `i` of a matrix, `m.(_ \\, j)` column `j`")
            }
            E::SliceRange { span, size, ty, backwards } => {
                let label = match backwards {
                    true => "it ends before it begins".into(),
                    false => format!("there are {size}, numbered from 0"),
                };
                error(span, format!("this is no slice of `{ty}`"), label)
                    .help("`x.(1..2)` is from 1 to 2, both included; `x.(1..<3)` leaves 3 out")
            }
            E::SliceAxis { span, axis, ty } => {
                error(span, format!("the axis `{axis}` of `{ty}` has no numbers to slice by"), "a range of numbers".into())
                    .help("only an axis that is a unit sum, such as `10`, is cut by numbers; `x :>> T ^ 10` makes one of it if there are as many")
            }
            E::SliceNotConstant { span } => {
                error(span, "the ends of a slice must be numbers".into(), "its length would be known only when it runs".into())
                    .help("for ends that arrive: `take n (drop low x)` gives `T ^ ?K`")
            }
            E::NoTarget { span } => {
                error(span, "`move` needs the type to move to".into(), "no type is given".into())
                    .help("write it in brackets: `x.move[int ^ 3 * real ^ 3]`")
            }
        }
    }
}

/// Returns the message that one type cannot be moved to another.
fn no_move(from: &Type, to: &Type) -> String {
    format!("`{from}` does not move to `{to}`")
}

/// Returns the word for the parts that a move assigns to each other: the cases of a sum, or the
/// leaves of another type.
fn leaves(sum: bool) -> &'static str {
    if sum { "cases" } else { "leaves" }
}
