//! Syntax to which instances give a meaning: literals, conversions and indices of declared types.
//!
//! Takes a term and the type that its place needs; returns the call of a method of the library's
//! classes `Literal`, `Convert`, `Widen` or `Index`, or the term itself. Syntax that the language
//! defines for the given types never reaches this file, so an instance adds meanings and never
//! changes one.

use crate::check::context::Checker;
use crate::check::env::Constraint;
use crate::check::error::{AxisError, ClassError};
use crate::check::solve::constraint::Answer;
use crate::check::solve::infer::Literal;
use crate::core::{ClassId, Term, TermKind};
use crate::source::Span;
use crate::types::number::{Conversion, conversion, converts};
use crate::types::{Scalar, Type, TypeKind};
use num_bigint::BigInt;
use num_traits::ToPrimitive;

impl Checker<'_> {
    /// Returns a call of the first method of a class at these types. The caller has checked that
    /// the types belong to the class. Returns `None` if the class is unknown or its method has no
    /// result.
    pub(in crate::check) fn first_method(
        &mut self,
        class: ClassId,
        args: &[Type],
        operands: Vec<Term>,
        span: Span,
    ) -> Option<Term> {
        let class = self.env.classes.get(&class)?.clone();
        let instance = class.methods.first()?.scheme.instantiate(&mut self.infer, args);
        self.add_obligations(&instance.constraints, span, &class.methods[0].name);
        let kind = TermKind::Method { class: class.id, method: 0, type_args: instance.args.clone() };
        let function = Term::new(kind, instance.ty(), span);
        let result = instance.result?;
        Some(Term::new(TermKind::Call(Box::new(function), operands), result, span))
    }

    /// Returns the class if the types belong to it. A class that is absent (`None`) because the
    /// library has not been read has no members.
    fn belongs(&mut self, class: Option<ClassId>, args: &[&Type]) -> Option<ClassId> {
        let class = class?;
        let args = args.iter().map(|&ty| ty.clone()).collect();
        (self.entails(&Constraint { class, args }) == Answer::Yes).then_some(class)
    }

    /// Converts a literal to a declared type or type parameter by an instance of `Literal`. Returns
    /// any other term unchanged, as the error.
    pub(in crate::check) fn convert_literal(&mut self, term: Term, ty: &Type) -> Result<Term, Term> {
        let ty = self.infer.zonk(ty);
        let Some(literal) = self.infer.literal_of(&term.ty) else { return Err(term) };
        if !matches!(ty.kind(), TypeKind::Nominal(..) | TypeKind::Var(_)) || ty.has_meta() {
            return Err(term);
        }
        if let (TermKind::Int(label), true) = (&term.kind, ty.is_labeled()) {
            return Ok(self.value_with_label(&label.clone(), &ty, term.span));
        }
        let large = matches!(&term.kind, TermKind::Int(n) if n.to_i64().is_none());
        let sources: &[Type] = match literal {
            Literal::Int if large => &[Type::bigint(), Type::real()],
            Literal::Int => &[Type::int(), Type::real()],
            Literal::Real => &[Type::real()],
        };
        for source in sources {
            if let Some(class) = self.belongs(self.program.known.literal, &[source, &ty])
                && self.infer.try_unify(&term.ty, source)
            {
                let span = term.span;
                let args = [source.clone(), ty];
                return self.first_method(class, &args, vec![term.clone()], span).ok_or(term);
            }
        }
        Err(term)
    }

    /// Returns the value with this label of an index type with labels. Reports a label that the
    /// type does not have, or is not known to have.
    pub(in crate::check) fn value_with_label(&mut self, label: &BigInt, ty: &Type, span: Span) -> Term {
        let (Some(first), Ok(size)) = (ty.first_label(), ty.size()) else {
            let error = AxisError::LabelUnknown { span, label: label.clone(), ty: ty.clone() };
            return self.error_term(error, span);
        };
        match (label - &first).to_biguint().filter(|code| *code < size) {
            Some(code) => Term::new(TermKind::Code(code), ty.clone(), span),
            None => {
                let last = &first + BigInt::from(size) - 1i32;
                let error = AxisError::LabelRange { span, label: label.clone(), ty: ty.clone(), first, last };
                self.error_term(error, span)
            }
        }
    }

    /// Returns true if a literal of type `from` can become a value of `to` by an instance of
    /// `Literal`.
    pub(in crate::check) fn has_literal_instance(&mut self, from: &Type, to: &Type) -> bool {
        let Some(literal) = self.infer.literal_of(from) else { return false };
        if !matches!(to.kind(), TypeKind::Nominal(..) | TypeKind::Var(_)) || to.has_meta() {
            return false;
        }
        if literal == Literal::Int && to.is_labeled() {
            return true;
        }
        let class = self.program.known.literal;
        let whole = literal == Literal::Int && self.belongs(class, &[&Type::int(), to]).is_some();
        whole || self.belongs(class, &[&Type::real(), to]).is_some()
    }

    /// Returns true if a value of `from` becomes a value of `to` implicitly by an instance of
    /// `Widen`.
    pub(in crate::check) fn widens(&mut self, from: &Type, to: &Type) -> bool {
        !(from.has_meta() || to.has_meta()) && self.belongs(self.program.known.widen, &[from, to]).is_some()
    }

    /// Converts a value explicitly by an instance of `Convert`. Returns the term, as the error, if
    /// there is no instance.
    pub(in crate::check) fn convert_by_instance(
        &mut self,
        term: Term,
        to: &Type,
        span: Span,
    ) -> Result<Term, Term> {
        match self.belongs(self.program.known.convert, &[&term.ty, to]) {
            Some(class) => {
                let args = [term.ty.clone(), to.clone()];
                self.first_method(class, &args, vec![term.clone()], span).ok_or(term)
            }
            None => Err(term),
        }
    }

    /// Returns true if `:>` converts from one type to another, by the language or by instances.
    pub(in crate::check) fn converts(&mut self, from: &Type, to: &Type) -> bool {
        let class = self.program.known.convert;
        converts(from, to, &mut |from, to| self.belongs(class, &[from, to]).is_some())
    }

    /// Converts a value implicitly to a type that holds all its values, by an instance of `Widen`.
    /// Returns the term, as the error, if there is no instance.
    pub(in crate::check) fn widen_by_instance(&mut self, term: Term, to: &Type) -> Result<Term, Term> {
        let to = self.infer.zonk(to);
        if term.ty.has_meta() || to.has_meta() {
            return Err(term);
        }
        match self.belongs(self.program.known.widen, &[&term.ty, &to]) {
            Some(class) => {
                let span = term.span;
                // The instance may be declared as refused; the obligation reports its author's
                // text.
                let constraint = Constraint { class, args: vec![term.ty.clone(), to.clone()] };
                self.add_obligation(constraint, span, &format!("becoming `{to}`"));
                self.convert_by_instance(term, &to, span)
            }
            None => Err(term),
        }
    }

    /// Returns true if the instance with this head can ever be used. Reports an error and returns
    /// false if the language itself defines the meaning at these types. Instances of the library
    /// are exempt.
    pub(in crate::check) fn check_instance_usable(&mut self, head: &Constraint, span: Span) -> bool {
        if self.env.is_library() || self.env.of_library(span) {
            return true;
        }
        let known = &self.program.known;
        let class = Some(head.class);
        let newtype = "declare a `newtype` or `struct` and write the instance for it".to_string();
        let refused = match &head.args[..] {
            [ty, ..] if class == known.index => {
                let asked = matches!(
                    ty.kind(),
                    TypeKind::Nominal(..) | TypeKind::Scalar(_) | TypeKind::Var(_) | TypeKind::Error
                );
                (!asked).then(|| format!("what a dot selects from `{ty}` is the language's own"))
            }
            [from, to] if class == known.convert || class == known.widen => {
                let own = match (from.as_scalar(), to.as_scalar()) {
                    (Some(_), Some(_)) => convertible(from, to),
                    (None, Some(to)) => {
                        from.is_compact() && to.is_number() && !matches!(from.kind(), TypeKind::Nominal(..))
                    }
                    _ => from == to,
                };
                own.then(|| format!("how `{from}` becomes `{to}` is the language's own"))
            }
            [literal, to] if class == known.literal => {
                let own = match (literal.as_scalar(), to.as_scalar()) {
                    (Some(Scalar::Real), Some(to)) => to.is_float(),
                    (Some(Scalar::Int), Some(to)) => to.is_number(),
                    _ => false,
                };
                own.then(|| format!("what a literal is as `{to}` is the language's own"))
            }
            _ => None,
        };
        let Some(own) = refused else { return true };
        let instance = self.env.text(head);
        self.report(ClassError::NeverAsked { span, instance, own, help: newtype });
        false
    }
}

/// Returns true if the language converts `from` to `to` by `:>`, without instances.
pub(in crate::check) fn convertible(from: &Type, to: &Type) -> bool {
    !matches!(conversion(from, to), Conversion::None(_))
}
