//! The tree of written types.

use super::Name;
use crate::source::Span;
use num_bigint::BigUint;
use std::sync::Arc;

/// A written type.
#[derive(Clone, Debug)]
pub struct TypeExpr {
    /// The form.
    pub kind: TypeExprKind,
    /// The span in the source text.
    pub span: Span,
}

/// The forms of types.
#[derive(Clone, Debug)]
pub enum TypeExprKind {
    /// `3`; `()` is read as `1`.
    Number(BigUint),
    /// `int`, `N`, `option[int]`.
    Name(Name, Vec<TypeExpr>),
    /// `narrow(V, W)`: a type function applied.
    Call(Name, Vec<TypeExpr>),
    /// `A * B * C`.
    Product(Vec<TypeExpr>),
    /// `A + B + C`.
    Sum(Vec<TypeExpr>),
    /// `T ^ I`.
    Array(Box<TypeExpr>, Box<TypeExpr>),
    /// `A \* B`.
    CompactProduct(Vec<TypeExpr>),
    /// `A \+ B`.
    CompactSum(Vec<TypeExpr>),
    /// `A \^ B`.
    CompactPower(Box<TypeExpr>, Box<TypeExpr>),
    /// `n *+ T`.
    Repeat(Box<TypeExpr>, Box<TypeExpr>),
    /// `D -> C`.
    Function(Box<TypeExpr>, Box<TypeExpr>),
    /// `T @ S`: a value at each of the places.
    Placed(Box<TypeExpr>, Box<TypeExpr>),
    /// `{alice, bob}`: a set of places.
    Places(Vec<Name>),
    /// `(a:A, b:B)`.
    Record(Vec<(Name, TypeExpr)>),
    /// `(a:A \, b:B)`
    CompactRecord(Vec<(Name, TypeExpr)>),
    /// `?N`: opens a size known when the program runs.
    Open(Name),
    /// `..R`: the components that follow, or their product.
    Rest(Name),
    /// `-1..4`, `-H..H`: integers as labels of an index type; only as the body of a `newtype`.
    Labels(Box<IndexLabel>, Box<IndexLabel>),
    /// `_`: to be inferred.
    Hole,
    /// `typematch T with | p => R endmatch`, `typematch (V, W) with | (p, q) => R endmatch`.
    TypeMatch(Vec<TypeExpr>, Vec<TypeArm>),
    /// `error "…"` as the result of a type function: no result, with the author's message.
    Refusal(Arc<str>),
    /// Unreadable; an error has been reported.
    Error,
}

/// The first or the last label of an index type.
#[derive(Clone, Debug)]
pub struct IndexLabel {
    /// True after a minus sign.
    pub negative: bool,
    /// A number, or the index type whose size the label is.
    pub size: TypeExpr,
}

/// One arm of a `typematch`.
#[derive(Clone, Debug)]
pub struct TypeArm {
    /// One pattern, or several in parentheses.
    pub patterns: Vec<TypeExpr>,
    /// The span of the patterns.
    pub span: Span,
    /// The result.
    pub result: TypeExpr,
}
