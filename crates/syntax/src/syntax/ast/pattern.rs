//! The tree of patterns.

use super::{Name, TypeExpr};
use crate::source::Span;
use num_bigint::BigUint;
use std::sync::Arc;

/// A pattern.
#[derive(Clone, Debug)]
pub struct Pattern {
    /// The form.
    pub kind: PatternKind,
    /// The span in the source text.
    pub span: Span,
}

/// The forms of patterns.
#[derive(Clone, Debug)]
pub enum PatternKind {
    /// `_`
    Wild,
    /// A variable, or a constructor without argument: name resolution decides.
    Name(Name),
    /// `x : T` in parentheses.
    Typed(Box<Pattern>, TypeExpr),
    /// `42`, `-1`.
    Int {
        /// The absolute value.
        value: BigUint,
        /// With a minus sign.
        negative: bool,
    },
    /// `1.5`, `-0.5`.
    Real {
        /// The digits, as in [`ExprKind::Real`].
        digits: Arc<str>,
        /// With a minus sign.
        negative: bool,
    },
    /// `5u8`, `-128i8`.
    Suffixed {
        /// The digits, as in [`ExprKind::Suffixed`].
        digits: Arc<str>,
        /// The suffix.
        suffix: &'static str,
        /// With a minus sign.
        negative: bool,
    },
    /// `'a'`.
    Char(char),
    /// `"text"`.
    Str(Arc<str>),
    /// `true`, `false`.
    Bool(bool),
    /// `` `1:3 ``.
    Tick(BigUint, TypeExpr),
    /// `()`, `(p, q)`.
    Tuple(Vec<Pattern>),
    /// `(p\, q)`.
    CompactTuple(Vec<Pattern>),
    /// `..r`, `.._`: the components that follow, last in a tuple.
    Rest(Option<Name>),
    /// `(a = p, b = q)`.
    Record(Vec<(Name, Pattern)>),
    /// `(a = p \, b = q)`
    CompactRecord(Vec<(Name, Pattern)>),
    /// `case n` (`None`) or `case n p`.
    Case(BigUint, Option<Box<Pattern>>),
    /// `case i p`: any case of a coarray, patterns for its index and its argument.
    Coarray(Box<Pattern>, Box<Pattern>),
    /// `Some p`.
    Constructor(Name, Box<Pattern>),
    /// `1..5`, `'a'..<'z'`: the ends are literals.
    Range {
        /// First.
        low: Box<Pattern>,
        /// Last, or one past the last.
        high: Box<Pattern>,
        /// `..` rather than `..<`.
        inclusive: bool,
    },
    /// `p | q`.
    Or(Vec<Pattern>),
    /// `p as x`.
    As(Box<Pattern>, Name),
    /// Unreadable; an error has been reported.
    Error,
}
