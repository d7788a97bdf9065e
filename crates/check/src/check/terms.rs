//! Composed terms and trees: terms with a prefix of statements, interpolated texts, numbers with a
//! suffix.

use crate::core::{LocalId, Stmt, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::number::Rounded;
use crate::types::{Scalar, Type};
use num_bigint::BigInt;
use std::sync::Arc;

/// Returns true if a term reads a local numbered from `low` up to, not including, `high`.
pub(super) fn mentions_local(term: &Term, low: LocalId, high: LocalId) -> bool {
    let mut found = match &term.kind {
        TermKind::Local(id) => (low..high).contains(id),
        TermKind::Closure { captures, .. } => captures.iter().any(|id| (low..high).contains(id)),
        _ => false,
    };
    term.for_each_child(&mut |child| found = found || mentions_local(child, low, high));
    found
}

/// Makes the term that runs statements and then has a value.
pub(super) fn with_prefix(prefix: Vec<Stmt>, value: Term) -> Term {
    if prefix.is_empty() {
        return value;
    }
    let (ty, span) = (value.ty.clone(), value.span);
    Term::new(TermKind::Block(prefix, Some(Box::new(value))), ty, span)
}

/// Returns the name and the type arguments of a key that is a name.
pub(super) fn key_name(key: &Expr) -> Option<(&ast::Name, &[ast::TypeExpr])> {
    match &key.kind {
        ExprKind::Name(name) => Some((name, &[])),
        ExprKind::TypeArgs(base, targs) => match &base.kind {
            ExprKind::Name(name) => Some((name, targs)),
            _ => None,
        },
        _ => None,
    }
}

/// Reads a number with a suffix: returns the number before the suffix and the type that the suffix
/// names.
pub(super) fn parse_suffixed_number(digits: &str, suffix: &str) -> (Number, Type) {
    let scalar = match suffix {
        "n" => Scalar::Bigint,
        suffix => Scalar::from_name(suffix).expect("the lexer knows the suffixes"),
    };
    let number = if scalar.is_float() {
        Number::Real(Rounded::read(digits))
    } else {
        Number::Whole(crate::syntax::literal::int_value(digits).into())
    };
    (number, Type::scalar(scalar))
}

/// The two sorts of number literals.
pub(super) enum Number {
    /// An integer.
    Whole(BigInt),
    /// A real number, rounded to each float type.
    Real(Rounded),
}

/// Expands `f"… {x:8.3} …"` to a sum of texts. Each value is formatted by `.str`, or by `fixed`
/// with the given digits after the point, and padded with blanks on the left to the given width.
pub(in crate::check) fn expand_interpolation(
    text: &Arc<str>,
    holes: &[ast::Interpolation],
    span: Span,
) -> Expr {
    let at = |kind, span| Expr { kind, span };
    // The functions that the expansion adds have an empty place after the value: the text does not
    // name them.
    let name = |text: &str, span: Span| {
        let span = span.after();
        at(ExprKind::Name(ast::Name { text: text.into(), span }), span)
    };
    let number = |n: usize, span| at(ExprKind::Int(n.into()), span);
    let apply = |function: Expr, argument: Expr| {
        let span = argument.span;
        let (function, argument) = (Box::new(function), Box::new(argument));
        at(ExprKind::Apply { function, argument, form: ast::ApplyForm::Juxtaposed }, span)
    };
    let mut pieces = Vec::new();
    if !text.is_empty() || holes.is_empty() {
        pieces.push(at(ExprKind::Str(text.clone()), span));
    }
    for hole in holes {
        let span = hole.value.span;
        let mut piece = match hole.places {
            None => {
                let (base, key) = (Box::new(hole.value.clone()), Box::new(name("str", span)));
                at(ExprKind::Dot { base, key }, span)
            }
            Some(places) => {
                let both = vec![hole.value.clone(), number(places, span)];
                apply(name("fixed", span), at(ExprKind::Tuple(both), span))
            }
        };
        if let Some(width) = hole.width {
            let pad = apply(name("pad_left", span), number(width, span));
            piece = at(
                ExprKind::Apply {
                    function: Box::new(pad),
                    argument: Box::new(piece),
                    form: ast::ApplyForm::Juxtaposed,
                },
                span,
            );
        }
        pieces.push(piece);
        if !hole.text.is_empty() {
            pieces.push(at(ExprKind::Str(hole.text.clone()), span));
        }
    }
    let joined = pieces
        .into_iter()
        .reduce(|a, b| at(ExprKind::Binary(ast::BinaryOp::Add, Box::new(a), Box::new(b)), span));
    joined.unwrap_or_else(|| at(ExprKind::Str(text.clone()), span))
}
