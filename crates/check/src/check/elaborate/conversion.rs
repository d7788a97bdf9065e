//! Conversions between numbers, characters and codes, as `:>` and coercion make them.
//!
//! Takes a term and a target type; returns the term converted by the language, by an instance of
//! `Convert`, or component by component. Reports an error with the reason where none applies.

use crate::check::context::Checker;
use crate::check::error::ConversionError;
use crate::check::expectation::Expectation;
use crate::check::resolve::behavior::convertible;
use crate::check::terms;
use crate::core::{Pat, PatKind, Stmt, StmtKind, Term, TermKind};
use crate::iso::{self, Verdict};
use crate::source::Span;
use crate::syntax::ast::{Expr, TypeExpr};
use crate::types::number::{Conversion, MAX_COMPONENTS, conversion};
use crate::types::{NoSize, Scalar, Type, TypeKind};
use num_bigint::BigUint;

impl Checker<'_> {
    /// Elaborates `e :> T`.
    pub(in crate::check) fn convert(&mut self, inner: &Expr, written: &TypeExpr, span: Span) -> Term {
        let to = self.lower(written);
        let to = if to.has_error() { Type::error() } else { to };
        let term = self.expr(inner, Expectation::NONE);
        if self.infer.literal_of(&term.ty).is_some() && self.infer.try_unify(&term.ty, &to) {
            return term;
        }
        let from = self.infer.zonk_with_defaults(&term.ty);
        if from.is_error() || to.is_error() {
            return Term { ty: to, ..term };
        }
        self.convert_term(Term { ty: from, ..term }, &to, span)
    }

    /// Converts a term to a type, or reports an error.
    pub(in crate::check) fn convert_term(&mut self, term: Term, to: &Type, span: Span) -> Term {
        let term =
            match self.lift_with_type(term, to, span, |this, term, to| this.convert_term(term, to, span)) {
                Ok(term) => return term,
                Err(term) => term,
            };
        let from = term.ty.clone();
        if from == *to {
            return term;
        }
        if from.as_scalar().is_some() && to.as_scalar().is_some() && convertible(&from, to) {
            return Term::new(TermKind::Convert(Box::new(term)), to.clone(), span);
        }
        // An instance of a declared type takes precedence over the conversion of its code.
        let mut term = term;
        if let TypeKind::Nominal(..) = from.kind() {
            term = match self.convert_by_instance(term, to, span) {
                Ok(call) => return call,
                Err(term) => term,
            };
        }
        if from.is_compact() && number(to).is_some() && convertible(&from, to) {
            return Term::new(TermKind::ToCode(Box::new(term)), to.clone(), span);
        }
        let term = match self.convert_by_instance(term, to, span) {
            Ok(call) => return call,
            Err(term) => term,
        };
        if !self.converts(&from, to) {
            let (why, help) = self.no_conversion(&from, to);
            return self
                .error_term(ConversionError::NoConversion { span, from, to: to.clone(), why, help }, span);
        }
        // Arrays are converted element by element, tuples and records component by component.
        let local = self.new_local("converted", from.clone());
        let held = Term::new(TermKind::Local(local), from.clone(), span);
        let bind = Pat { kind: PatKind::Bind(local), ty: from.clone(), span };
        let prefix = vec![Stmt { kind: StmtKind::Let(bind, term), span }];
        let whole = match (from.kind(), to.kind()) {
            (TypeKind::Array(_, index), TypeKind::Array(element, _)) => {
                let i = self.new_local("i", index.clone());
                let position = Term::new(TermKind::Local(i), index.clone(), span);
                let x = self.array_at(held, position, span);
                let body = self.convert_term(x, element, span);
                Term::new(TermKind::Build(vec![(i, index.clone())], Box::new(body)), to.clone(), span)
            }
            _ => {
                let parts =
                    |ty: &Type| ty.components(MAX_COMPONENTS).expect("what is converted by parts has some");
                let (sources, targets) = (parts(&from), parts(to));
                assert_eq!(sources.len(), targets.len(), "parts of `{from}` and of `{to}`");
                let parts = sources
                    .into_iter()
                    .zip(&targets)
                    .enumerate()
                    .map(|(n, (source, target))| {
                        let kind = TermKind::Component(Box::new(held.clone()), BigUint::from(n));
                        self.convert_term(Term::new(kind, source, span), target, span)
                    })
                    .collect();
                Term::new(TermKind::Tuple(parts), to.clone(), span)
            }
        };
        terms::with_prefix(prefix, whole)
    }

    /// Returns the reason why `:>` does not convert from one type to the other, and an alternative.
    fn no_conversion(&mut self, from: &Type, to: &Type) -> (String, Option<String>) {
        if let Some(refusal) = refused_character(from, to) {
            return refusal;
        }
        if from.is_compact()
            && number(to).is_some()
            && let Conversion::None(why) = conversion(from, to)
        {
            let help =
                format!("`:> int :> {to}` converts the code, and fails or rounds where it does not fit");
            let help = match convertible(from, &Type::int()) {
                true if number(to) != Some(Scalar::Int) => help,
                _ => "`:>> bigint` gives the code of any compact value".to_string(),
            };
            return (why, Some(help));
        }
        if to.is_bool() && number(from).is_some() {
            let help = "say which is meant: `x != 0`, or `x.mod[2]`".to_string();
            return ("a number as a truth value has two readings".into(), Some(help));
        }
        if to.is_compact() && number(from).is_some() {
            let help = match self.convertible_words(from, to) {
                Ok(()) => format!("`:>> {to}` checks the code when it runs, `.mod[{to}]` wraps it"),
                Err(words) => words,
            };
            return ("an integer is not an index value".into(), Some(help));
        }
        if to.as_scalar() == Some(Scalar::String) {
            return ("text is made, not converted".into(), Some("`.str` gives a value as text".into()));
        }
        if from.as_scalar() == Some(Scalar::String) {
            return (
                "text is read, not converted".into(),
                Some("`parse_int` and `parse_real` read numbers".into()),
            );
        }
        if iso::verdict(from, to) <= Verdict::Natural {
            let help = match self.label_loss(from, to, &[]) {
                None => format!("`:>> {}` reads one as the other, at no cost", iso::text_after_cast(to)),
                Some(forgotten) => self.reshape_alternative(&forgotten, from, to),
            };
            return ("the storage is the same, so nothing is converted".into(), Some(help));
        }
        if let TypeKind::Array(element, _) = from.kind()
            && convertible(element, to)
        {
            let help = format!("each element is converted by `map (fun (x) => x :> {to}) a`");
            return ("an array is not one value".into(), Some(help));
        }
        let declared = [from, to].iter().any(|ty| matches!(ty.kind(), TypeKind::Nominal(..)));
        let foreign = [from, to].into_iter().find(|ty| self.is_foreign_abstract(ty));
        let help = match foreign {
            Some(ty) => format!("`{ty}` is abstract: only its module may say what it converts to"),
            None => {
                format!("an instance would say how: `instance Convert[{from}, {to}] {{ fun convert … }}`")
            }
        };
        ("the two have nothing in common".into(), declared.then_some(help))
    }
}

/// Returns the scalar of a number type.
fn number(ty: &Type) -> Option<Scalar> {
    ty.as_scalar().filter(|s| s.is_number())
}

/// Returns a declared type's representation, as far as it is known; any other type is returned as
/// is.
pub(in crate::check) fn representation_of(ty: &Type) -> Type {
    let mut ty = ty.clone();
    while let TypeKind::Nominal(nominal, args) = ty.kind() {
        match nominal.stored_as(args) {
            Some(stored) => ty = stored,
            None => break,
        }
    }
    ty
}

/// Returns the size of a compact type as text, if it exceeds the 2^63 codes of `int`.
pub(in crate::check) fn large_size_text(ty: &Type) -> Option<String> {
    match ty.size() {
        Ok(size) if size > BigUint::from(1u64 << 63) => Some(size.to_string()),
        Err(NoSize::TooLarge) => Some("an astronomical number of".to_string()),
        _ => None,
    }
}

/// Returns the reason why a character does not convert to or from the other type, with help.
/// Returns `None` if no character type is involved or the conversion exists.
fn refused_character(from: &Type, to: &Type) -> Option<(String, Option<String>)> {
    let Conversion::None(why) = conversion(from, to) else { return None };
    let is_char = |ty: &Type| ty.as_scalar() == Some(Scalar::Char);
    let help = match (is_char(from), is_char(to)) {
        (false, false) => return None,
        (true, _) => match to.as_scalar() {
            Some(Scalar::String) => "`string_of c` and `c.str` give a character as text".to_string(),
            Some(_) => format!("go by the code point: `:> int :> {to}`"),
            None if to.is_bool() => "compare it with another: `c == 'y'`".to_string(),
            None if to.is_compact() => {
                format!("`:> int` gives its code point, `.index[{to}]` of that a value where there is one")
            }
            None => return None,
        },
        (false, true) => match from.as_scalar() {
            Some(Scalar::String) => "`char_at (s, i)` takes the character at a position".to_string(),
            Some(_) => "go by the code point: `:> int :> char`".to_string(),
            None if from.is_compact() => "say that the code is meant: `:> int :> char`".to_string(),
            None => return None,
        },
    };
    Some((why, Some(help)))
}
