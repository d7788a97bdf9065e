//! Terms and trees made of others: prefixes of statements, interpolated texts, suffixed numbers.

use crate::core::{LocalId, Stmt, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::number::Rounded;
use crate::types::{Scalar, Type};
use num_bigint::BigInt;
use std::sync::Arc;

/// Whether a term reads a local numbered from `low` up to, not including, `high`.
pub(super) fn mentions_local(term: &Term, low: LocalId, high: LocalId) -> bool {
    let mut term = term.clone();
    fn walk(term: &mut Term, low: LocalId, high: LocalId) -> bool {
        let own = match &term.kind {
            TermKind::Local(id) => (low..high).contains(id),
            TermKind::Closure { captures, .. } => captures.iter().any(|id| (low..high).contains(id)),
            _ => false,
        };
        let mut found = own;
        term.for_each_child_mut(&mut |child| found = found || walk(child, low, high));
        found
    }
    walk(&mut term, low, high)
}

/// A term after statements.
pub(super) fn with_prefix(prefix: Vec<Stmt>, value: Term) -> Term {
    if prefix.is_empty() {
        return value;
    }
    let (ty, span) = (value.ty.clone(), value.span);
    Term::new(TermKind::Block(prefix, Some(Box::new(value))), ty, span)
}

/// A number with a suffix: what stands before it, and the type it says.
pub(super) fn suffixed(digits: &str, suffix: &str) -> (Number, Type) {
    let scalar = Scalar::named(suffix).unwrap_or(Scalar::Bigint);
    let number = if scalar.is_float() {
        Number::Real(Rounded::read(digits))
    } else {
        Number::Whole(crate::syntax::literal::int_value(digits).into())
    };
    (number, Type::scalar(scalar))
}

/// The two sorts of number literals.
pub(super) enum Number {
    Whole(BigInt),
    Real(Rounded),
}

/// `f"… {x:8.3} …"` as a sum of texts: the value as `.str` gives it, or with so many digits after
/// the point, and with blanks before it.
pub(in crate::check) fn with_values(text: &Arc<str>, holes: &[ast::Interpolation], span: Span) -> Expr {
    let at = |kind, span| Expr { kind, span };
    // Functions that the text does not name stand behind the value, in no place that has a name.
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
