//! Composed terms and trees: terms with a prefix of statements, interpolated texts, numbers with a
//! suffix.

use crate::core::{LocalId, Stmt, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::number::Rounded;
use crate::types::{Scalar, Type, TypeKind};
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

/// Returns true for the type of the library's lists.
pub(in crate::check) fn is_list(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Nominal(nominal, _) if &*nominal.name == "list")
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
            let pad = if hole.zeros { "_pad_zeros" } else { "pad_left" };
            let pad = apply(name(pad, span), number(width, span));
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

#[cfg(test)]
mod tests {
    use super::{Number, expand_interpolation, key_name, mentions_local, parse_suffixed_number, with_prefix};
    use crate::core::{FunctionId, LocalId, Stmt, StmtKind, Term, TermKind};
    use crate::source::{Source, Span};
    use crate::syntax::ast::{Expr, ExprKind};
    use crate::syntax::{parse_expr, unparse::print_expr};
    use crate::types::{Scalar, Type};

    fn expression(text: &str) -> Expr {
        let (expr, errors) = parse_expr(&Source { text: text.to_string(), ..Source::default() });
        assert!(errors.is_empty(), "{errors:?}");
        expr.expect("an expression")
    }

    /// Returns the expansion of a text with values, printed.
    fn expanded(text: &str) -> String {
        let expr = expression(text);
        let ExprKind::Interpolated(text, holes) = &expr.kind else { panic!("{expr:?}") };
        print_expr(&expand_interpolation(text, holes, expr.span))
    }

    #[test]
    fn a_text_with_values_is_the_sum_of_its_pieces() {
        assert_eq!(expanded("f\"a {x} b {y}\""), "\"a \" + x.str + \" b \" + y.str");
        assert_eq!(expanded("f\"{x}\""), "x.str");
        assert_eq!(expanded("f\"{x}{y}\""), "x.str + y.str");
        assert_eq!(expanded("f\"none\""), "\"none\"");
        assert_eq!(expanded("f\"\""), "\"\"");
    }

    /// The digits after the point come first, then the width.
    #[test]
    fn a_value_is_rounded_and_then_padded() {
        assert_eq!(expanded("f\"{x:8}\""), "pad_left 8 x.str");
        assert_eq!(expanded("f\"{x:.3}\""), "fixed (x, 3)");
        assert_eq!(expanded("f\"{x:8.3}\""), "pad_left 8 (fixed (x, 3))");
        assert_eq!(expanded("f\"{x:08.3}\""), "_pad_zeros 8 (fixed (x, 3))");
    }

    /// Functions that the expansion adds have no text: an editor finds nothing there.
    #[test]
    fn functions_that_are_added_have_empty_places() {
        fn names(expr: &Expr, found: &mut Vec<(String, Span)>) {
            match &expr.kind {
                ExprKind::Name(name) => found.push((name.text.to_string(), name.span)),
                ExprKind::Apply { function, argument, .. } => {
                    names(function, found);
                    names(argument, found);
                }
                ExprKind::Tuple(parts) => parts.iter().for_each(|part| names(part, found)),
                ExprKind::Int(_) => {}
                other => panic!("{other:?}"),
            }
        }
        let expr = expression("f\"{x:8.3}\"");
        let ExprKind::Interpolated(text, holes) = &expr.kind else { panic!("{expr:?}") };
        let mut found = Vec::new();
        names(&expand_interpolation(text, holes, expr.span), &mut found);
        for (name, span) in found {
            assert_eq!(span.start == span.end, name != "x", "{name} at {span:?}");
        }
    }

    #[test]
    fn the_suffix_of_a_number_is_its_type() {
        for scalar in Scalar::ALL.into_iter().filter(|scalar| scalar.is_number()) {
            let (number, ty) = parse_suffixed_number("12", scalar.name());
            assert_eq!(ty, Type::scalar(scalar));
            match number {
                Number::Whole(n) => assert!(scalar.is_integer() && n == 12.into(), "{ty}"),
                Number::Real(x) => assert!(scalar.is_float() && x.double == 12.0, "{ty}"),
            }
        }
        assert_eq!(parse_suffixed_number("1", "n").1, Type::bigint());
    }

    #[test]
    fn a_key_is_a_name_with_or_without_types() {
        let key = |text: &str| {
            key_name(&expression(text)).map(|(name, types)| (name.text.to_string(), types.len()))
        };
        assert_eq!(key("f"), Some(("f".into(), 0)));
        assert_eq!(key("f[int, real]"), Some(("f".into(), 2)));
        assert_eq!(key("f x"), None);
        assert_eq!(key("3"), None);
    }

    fn local(id: usize) -> Term {
        Term::new(TermKind::Local(LocalId::new(id)), Type::int(), Span::default())
    }

    /// The range is half-open, and captures and statements inside count.
    #[test]
    fn locals_are_found_in_all_parts_of_a_term() {
        let closure = TermKind::Closure {
            function: FunctionId::new(0),
            type_args: Vec::new(),
            captures: vec![LocalId::new(7)],
        };
        let closure = Term::new(closure, Type::procedure(Type::unit()), Span::default());
        let stmt = Stmt { kind: StmtKind::Expr(local(5)), span: Span::default() };
        let term = with_prefix(
            vec![stmt],
            Term::new(TermKind::Tuple(vec![local(3), closure]), Type::int(), Span::default()),
        );
        for id in 0..10 {
            let found = mentions_local(&term, LocalId::new(id), LocalId::new(id + 1));
            assert_eq!(found, [3, 5, 7].contains(&id), "{id}");
            assert!(!mentions_local(&term, LocalId::new(id), LocalId::new(id)));
        }
    }

    #[test]
    fn a_prefix_without_statements_makes_no_block() {
        assert!(matches!(with_prefix(Vec::new(), local(0)).kind, TermKind::Local(_)));
    }
}
