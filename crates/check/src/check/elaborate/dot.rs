//! Dot expressions: a field, a component, an index, a digit, or a function after a dot.
//!
//! Takes the base and the key; returns the term selected, or a call. `x.f` is a field of a record
//! or struct if it has that field, and the column of the field in an array of these
//! ([`super::column`]). Otherwise, if `f` is a variable, it is an index (or a function) held in the
//! variable. Otherwise it is the function `f` applied to `x`. `x.1` and `` x.(`1:3) ``
//! with a constant select a component of a product. Any expression of the index type indexes an
//! array. For a compact product the key selects a part, and for a compact exponential a digit.

use crate::check::context::Checker;
use crate::check::elaborate::apply::Arg;
use crate::check::elaborate::slice;
use crate::check::elaborate::sum_value::constant_index;
use crate::check::env::Constraint;
use crate::check::error::{CallError, PartError, PlaceError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::hints::fields::index_of_other_axes;
use crate::check::hints::mismatch;
use crate::check::terms::key_name;
use crate::check::types::lower;
use crate::core::{Pat, PatKind, Stmt, StmtKind, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, UnaryOp};
use crate::types::number::MAX_COMPONENTS;
use crate::types::{Kind, Type, TypeKind};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;

impl Checker<'_> {
    /// Elaborates `base.key`.
    pub(in crate::check) fn dot(
        &mut self,
        base: &Expr,
        key: &Expr,
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let base = self.expr(base, Expectation::NONE);
        self.dot_term(base, key, expected, span)
    }

    /// Elaborates `base.key` for a base that is already elaborated.
    pub(in crate::check) fn dot_term(
        &mut self,
        base: Term,
        key: &Expr,
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let base_ty = self.infer.zonk(&base.ty);
        let base = match base_ty.as_placed() {
            Some((inner, places)) if !self.is_call_of_placed(inner, key) => {
                let moved = self.first_move_in(key).filter(|_| self.may_lift() && key_name(key).is_none());
                if let Some(name) = moved {
                    let inner = self.infer.zonk_with_defaults(inner);
                    if let TypeKind::Array(_, index) = inner.unfold().kind() {
                        return self.moved_index(base, key, &index.clone(), span);
                    }
                    let (span, name, places) = (key.span, name.to_string(), places.clone());
                    return self.error_term(PlaceError::MoveInLifted { span, name, places }, span);
                }
                match self
                    .lift_operands([base], span, |this, [base]| this.dot_term(base, key, expected, span))
                {
                    Ok(term) => return term,
                    Err([base]) => base,
                }
            }
            _ => base,
        };
        if let Some((name, targs)) = key_name(key) {
            let index = targs.is_empty() && self.is_index_constant(name);
            if index || !self.is_function_name(name) {
                self.resolve_deferred_call(&base.ty);
            }
            let ty = self.infer.zonk(&base.ty);
            if ty.is_error() {
                return base;
            }
            let fields = self.env.visible_parts(&ty, span);
            let mut named = fields.iter().flatten().enumerate();
            if let Some((at, (_, field))) = named.find(|(_, (field, _))| *field == name.text) {
                let field = field.clone();
                self.note_field(name.span, &ty, at);
                let kind = match ty.is_compact() {
                    true => TermKind::Factor(Box::new(base), BigUint::from(at)),
                    false => TermKind::Component(Box::new(base), BigUint::from(at)),
                };
                return self.open_existential(Term::new(kind, field, span));
            }
            if targs.is_empty()
                && let Some((_, index)) = self.column_of(&ty, name)
            {
                return self.column(base, &index, key, span);
            }
            if index {
                return self.select(base, key, span);
            }
            let callable = !targs.is_empty() || self.is_function_name(name);
            if callable || self.local_function(name).is_some() {
                let targs: Vec<Type> = self.lower_arguments(targs);
                let call = (name, &targs[..]);
                if let Some(term) = self.complete_dot_call(call, &base, &[], expected, span) {
                    return term;
                }
                if callable {
                    return self.call_name(name, &targs, vec![Arg::Done(base)], expected, span);
                }
            }
            if self.lookup_local(&name.text).is_none() && self.global(&name.text).is_none() {
                // Of an array of records, the fields are columns.
                let fields = fields.or_else(|| match ty.unfold().kind() {
                    TypeKind::Array(element, _) => element.named_parts(),
                    _ => None,
                });
                if let Some(fields) = fields {
                    let ty = self.infer.zonk_with_defaults(&ty);
                    let fields = fields.iter().map(|(n, _)| n.to_string()).collect();
                    let error =
                        PartError::NoField { span: name.span, name: name.text.to_string(), ty, fields };
                    return self.error_term(error, span);
                }
                if self.is_conversion_name(&name.text) {
                    return self.type_after_dot(&base, name, span);
                }
                return self.report_unknown_name(name);
            }
            let value = self.expr(key, Expectation::NONE);
            if let TypeKind::Function(..) | TypeKind::Procedure(_) = self.infer.shallow(&value.ty).kind() {
                return self.call_value(value, vec![Arg::Done(base)], expected.statement, span);
            }
        }
        self.select(base, key, span)
    }

    /// Elaborates `base.key` for a key that [`Checker::column_of`] found to be a column.
    pub(in crate::check) fn column(&mut self, base: Term, index: &Type, key: &Expr, span: Span) -> Term {
        let (stmt, records) = self.materialize(base);
        self.pointwise(vec![stmt], index, span, |this, at| {
            let record = this.array_at(records, at, span);
            this.dot_term(record, key, Expectation::NONE, span)
        })
    }

    /// Returns true if a key after a value at places is a function, and not a part of the value.
    fn is_call_of_placed(&mut self, inner: &Type, key: &Expr) -> bool {
        let Some((name, targs)) = key_name(key) else { return false };
        let field = inner.named_parts().is_some_and(|fields| fields.iter().any(|(f, _)| *f == name.text));
        let column = targs.is_empty() && self.column_of(inner, name).is_some();
        let callable = !targs.is_empty() || self.is_function_name(name) && !self.is_index_constant(name);
        callable && !field && !column
    }

    /// Reports `x.real`, a type written as if it were a function.
    fn type_after_dot(&mut self, base: &Term, name: &crate::syntax::ast::Name, span: Span) -> Term {
        let text = self.infer.zonk_with_defaults(&base.ty).as_scalar() == Some(crate::types::Scalar::String);
        let error = CallError::TypeAfterDot { span: name.span, name: name.text.to_string(), text };
        self.error_term(error, span)
    }

    /// Selects a component, element, part or digit of a value by a key.
    pub(in crate::check) fn select(&mut self, base: Term, key: &Expr, span: Span) -> Term {
        self.resolve_deferred_call(&base.ty);
        let ty = self.infer.zonk_with_defaults(&base.ty);
        let base = Term { ty: ty.clone(), ..base };
        if slice::is_slice(key) {
            return self.slice(base, key, span);
        }
        if matches!(ty.kind(), TypeKind::Nominal(..) | TypeKind::Var(_) | TypeKind::Scalar(_))
            && let Some(call) = self.index_by_instance(&base, key, span)
        {
            return call;
        }
        if self.env.hides_parts(&ty, span) {
            return self.error_term(PartError::NotIndexable { span: key.span, ty }, span);
        }
        let unfolded = ty.unfold();
        match unfolded.kind() {
            TypeKind::Error => base,
            TypeKind::Array(_, index) => match self.key_value(key, index, &ty) {
                Key::Index(index) if index.ty.is_error() => Term { span, ..index },
                Key::Index(index) => self.array_at(base, index, span),
                Key::Placed(key) => self
                    .placed_index(base, key, index, span, |this, base, key| this.array_at(base, key, span)),
                Key::Function(function) => self.call_value(function, vec![Arg::Done(base)], false, span),
            },
            TypeKind::CompactPower(digit, position) => {
                let (digit, position) = (digit.clone(), position.clone());
                match self.key_value(key, &position, &ty) {
                    Key::Index(key) => Term::new(TermKind::Digit(Box::new(base), Box::new(key)), digit, span),
                    Key::Placed(key) => self.placed_index(base, key, &position, span, |_, base, key| {
                        Term::new(TermKind::Digit(Box::new(base), Box::new(key)), digit, span)
                    }),
                    Key::Function(function) => self.call_value(function, vec![Arg::Done(base)], false, span),
                }
            }
            TypeKind::Product(_)
            | TypeKind::CompactProduct(_)
            | TypeKind::Triangle(..)
            | TypeKind::Record(_)
            | TypeKind::Nominal(..) => {
                if let Some((index, tick)) = constant_index(key) {
                    if let Some(written) = tick {
                        self.warn_tick(written, &index, &unfolded, key.span);
                    }
                    let part = self.component(base, &index, span);
                    return self.open_existential(part);
                }
                let value = self.expr(key, Expectation::NONE);
                let value_ty = self.infer.zonk_with_defaults(&value.ty);
                if let TypeKind::Function(..) = value_ty.kind() {
                    return self.call_value(value, vec![Arg::Done(base)], false, span);
                }
                if unfolded.components(MAX_COMPONENTS).is_none()
                    && unfolded.compact_parts(MAX_COMPONENTS).is_none()
                {
                    return self.error_term(PartError::NotIndexable { span: base.span, ty }, span);
                }
                if value_ty.is_error() {
                    return value;
                }
                self.error_term(PartError::DynamicComponent { span: key.span, ty }, span)
            }
            _ => {
                if !matches!(key.kind, ExprKind::Int(_) | ExprKind::CaseOf { .. } | ExprKind::CompactTuple(_))
                {
                    let value = self.expr(key, Expectation::NONE);
                    if let TypeKind::Function(..) = self.infer.zonk_with_defaults(&value.ty).kind() {
                        return self.call_value(value, vec![Arg::Done(base)], false, span);
                    }
                    if value.ty.is_error() {
                        return value;
                    }
                }
                if ty.has_meta() {
                    let instead = "write the type of the value before the dot".to_string();
                    return self.error_term(
                        TypeError::CannotInfer {
                            span: base.span,
                            what: "what the dot selects from".into(),
                            instead,
                        },
                        span,
                    );
                }
                self.error_term(PartError::NotIndexable { span: base.span, ty }, span)
            }
        }
    }

    /// Warns about a component index that is a literal of a unit sum of another size but in range.
    fn warn_tick(
        &mut self,
        written: &crate::syntax::ast::TypeExpr,
        index: &BigUint,
        product: &Type,
        span: Span,
    ) {
        let found = self.lower(written);
        let parts = product.components(MAX_COMPONENTS).or_else(|| product.compact_parts(MAX_COMPONENTS));
        let Some(parts) = parts else { return };
        let wanted = Type::unit_sum(parts.len());
        if found != wanted && index.to_usize().is_some_and(|i| i < parts.len()) && !found.is_error() {
            self.report(PartError::IndexLiteral { span, found, index: wanted, code: index.clone() });
        }
    }

    /// Returns the element of an array at an index term.
    pub(in crate::check) fn array_at(&mut self, array: Term, index: Term, span: Span) -> Term {
        if is_column(&array) {
            return self.column_at(array, index, span);
        }
        let ty = self.infer.shallow(&array.ty).unfold();
        let TypeKind::Array(element, _) = ty.kind() else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        let element = element.clone();
        if let TermKind::Code(position) = &index.kind {
            let kind = TermKind::Component(Box::new(array), position.clone());
            return Term::new(kind, element, span);
        }
        Term::new(TermKind::Index(Box::new(array), Box::new(index)), element, span)
    }

    /// Returns an element of a column: the field of one record, so that the column is not made.
    fn column_at(&mut self, column: Term, index: Term, span: Span) -> Term {
        let TermKind::Block(mut stmts, Some(made)) = column.kind else { unreachable!("a column is a block") };
        let (Some(Stmt { kind: StmtKind::Let(_, records), .. }), TermKind::Build(_, body)) =
            (stmts.pop(), made.kind)
        else {
            unreachable!("a column binds the records and is a comprehension")
        };
        let record = self.array_at(records, index, span);
        part_of(*body, record)
    }

    /// Returns component `index` of a product, record, struct, array of constant size, or compact
    /// product.
    pub(in crate::check) fn component(&mut self, base: Term, index: &BigUint, span: Span) -> Term {
        let ty = self.infer.zonk_with_defaults(&base.ty);
        let unfolded = ty.unfold();
        if ty.is_error() {
            return base;
        }
        if let TypeKind::Array(element, array_index) = unfolded.kind() {
            let element = element.clone();
            return match array_index.as_unit_sum() {
                Some(count) if index < count => {
                    Term::new(TermKind::Component(Box::new(base), index.clone()), element, span)
                }
                Some(count) => {
                    let error = PartError::NoComponent {
                        span,
                        index: index.clone(),
                        ty: ty.clone(),
                        count: count.to_string(),
                    };
                    self.error_term(error, span)
                }
                None => self.error_term(PartError::DynamicComponent { span, ty: ty.clone() }, span),
            };
        }
        let (parts, compact) = match unfolded.components(MAX_COMPONENTS) {
            Some(parts) => (parts, false),
            None => match unfolded.kind() {
                TypeKind::CompactProduct(parts) => (parts.clone(), true),
                TypeKind::Triangle(_, index) => (vec![index.clone(), index.clone()], true),
                TypeKind::CompactPower(digit, count) => {
                    // A long exponential is not expanded: one part type stands for all.
                    let n = count.as_unit_sum().filter(|n| index < *n).and_then(|_| index.to_usize());
                    (vec![digit.clone(); n.map_or(0, |i| i + 1).min(MAX_COMPONENTS)], true)
                }
                _ => return self.error_term(PartError::NotIndexable { span: base.span, ty }, span),
            },
        };
        match index.to_usize().and_then(|i| parts.get(i)) {
            Some(part) => {
                let kind = if compact {
                    TermKind::Factor(Box::new(base), index.clone())
                } else {
                    TermKind::Component(Box::new(base), index.clone())
                };
                Term::new(kind, part.clone(), span)
            }
            None => {
                let count = match unfolded.kind() {
                    TypeKind::CompactPower(_, n) => n.to_string(),
                    _ => parts.len().to_string(),
                };
                self.error_term(PartError::NoComponent { span, index: index.clone(), ty, count }, span)
            }
        }
    }

    /// Elaborates a key as an index of the given type. A plain number is accepted as a constant
    /// position. A literal of another unit sum with a number in range is accepted with a warning.
    pub(in crate::check) fn index_value(&mut self, key: &Expr, index: &Type, array: &Type) -> Term {
        let index = self.infer.zonk(index);
        match self.literal_index(key, &index, array) {
            Some(term) => term,
            None => {
                let term = self.expr(key, Expectation::of(&index));
                self.index_term(term, index, array)
            }
        }
    }

    /// Elaborates a key after an array: an index, or a function of the array.
    fn key_value(&mut self, key: &Expr, index: &Type, array: &Type) -> Key {
        let index = self.infer.zonk(index);
        if let Some(term) = self.literal_index(key, &index, array) {
            return Key::Index(term);
        }
        let term = self.expr(key, Expectation::of(&index));
        match self.infer.shallow(&term.ty).kind() {
            TypeKind::Function(..) => Key::Function(term),
            TypeKind::Placed(..) if self.may_lift() => Key::Placed(term),
            _ => Key::Index(self.index_term(term, index, array)),
        }
    }

    /// Selects an element by an index at places, which is work there. `f` selects it by an index.
    fn placed_index(
        &mut self,
        base: Term,
        key: Term,
        index: &Type,
        span: Span,
        f: impl FnOnce(&mut Self, Term, Term) -> Term,
    ) -> Term {
        let (array, index) = (base.ty.clone(), index.clone());
        let work = self.lift_operands([base, key], span, |this, [base, key]| {
            let key = this.index_term(key, index, &array);
            f(this, base, key)
        });
        work.unwrap_or_else(|_| unreachable!("the index is at places, and this is no work there"))
    }

    /// Selects an element of an array at places by an index that is moved: before the work there.
    fn moved_index(&mut self, base: Term, key: &Expr, index: &Type, span: Span) -> Term {
        let key = self.expr(key, Expectation::NONE);
        if key.ty.is_error() {
            return Term { span, ..key };
        }
        let work = self.lift_operands([base, key], span, |this, [base, key]| {
            let array = base.ty.clone();
            let key = this.index_term(key, index.clone(), &array);
            this.array_at(base, key, span)
        });
        work.unwrap_or_else(|_| unreachable!("the array is at places, and this is no work there"))
    }

    /// Returns an index that is written as a literal; `None` if the key is not a literal.
    fn literal_index(&mut self, key: &Expr, index: &Type, array: &Type) -> Option<Term> {
        let span = key.span;
        if let Some(term) = self.compact_literals(key, index, array) {
            return Some(term);
        }
        if let (Some(label), true) = (signed_literal(key), index.is_labeled()) {
            return Some(self.value_with_label(&label, index, span));
        }
        let (code, tick) = constant_index(key)?;
        Some({
            let found = match tick {
                Some(written) => self.lower(written),
                None => index.clone(),
            };
            let size = index.size().ok();
            if found == *index && tick.is_some() {
                return Some(self.expr(key, Expectation::of(index)));
            }
            if tick.is_some() && found.as_unit_sum().is_none_or(|n| code >= *n) {
                return Some(self.expr(key, Expectation::NONE));
            }
            match (index.as_unit_sum(), size) {
                (Some(n), _) if code < *n => {
                    if tick.is_some() {
                        self.report(PartError::IndexLiteral {
                            span,
                            found,
                            index: index.clone(),
                            code: code.clone(),
                        });
                    }
                    Term::new(TermKind::Code(code), index.clone(), span)
                }
                (Some(n), _) => {
                    let error =
                        PartError::NoComponent { span, index: code, ty: array.clone(), count: n.to_string() };
                    self.error_term(error, span)
                }
                _ => {
                    let help = Some(match (tick, example(index)) {
                        (None, None) => {
                            let checked = format!("({code} :>> {index})");
                            let words = format!("`{code} :>> {index}` checks it when it runs");
                            Help::instead(words, span, checked)
                        }
                        (_, such) => {
                            let such = such.unwrap_or_else(|| format!("n :>> {index}"));
                            Help::new(format!("an index of `{index}` is needed, such as `{such}`"))
                        }
                    });
                    let found = if tick.is_some() { found } else { Type::int() };
                    let (index, array) = (index.clone(), array.clone());
                    self.error_term(PartError::WrongIndex { span, found, index, array, help }, span)
                }
            }
        })
    }

    /// Returns a term as an index of the given type, or reports an error with help.
    pub(in crate::check) fn index_term(&mut self, term: Term, index: Type, array: &Type) -> Term {
        let span = term.span;
        if self.infer.try_unify(&term.ty, &index) {
            return term;
        }
        let found = self.infer.zonk_with_defaults(&term.ty);
        if found.is_error() {
            return term;
        }
        let packed = matches!(term.kind, TermKind::Pack(_)) && index.compact_fields().is_some();
        let such = example(&index).filter(|_| packed);
        let help = if let Some(such) = such {
            Some(Help::new(format!("its parts are named in this order, as in `{such}`")))
        } else if found == Type::int() && self.convertible_words(&found, &index).is_err() {
            let own = "is an index type of its own, and an integer is no index";
            Some(Help::new(format!("`{index}` {own}: write a function that makes one")))
        } else if found == Type::int() {
            let index = index.size_text();
            let words = format!(
                "an integer is no index: a loop over `..[{index}]` gives indices, `:>> {index}` checks an integer when it runs, \
                 `.mod[{index}]` wraps it"
            );
            Some(Help::new(words))
        } else if found
            .components(MAX_COMPONENTS)
            .is_some_and(|parts| parts.len() > 1 && parts.iter().all(|p| *p == Type::int()))
        {
            let axes = index.unfold().compact_factors(MAX_COMPONENTS).map_or(1, |factors| factors.len());
            let nested = matches!(array.unfold().kind(), TypeKind::Array(element, _)
                if matches!(element.unfold().kind(), TypeKind::Array(..)));
            Some(match axes == 1 && nested {
                true => {
                    "this is an array of arrays: take one index after the other, as in `x.(0).(1)`".into()
                }
                false => r"the axes of an index are joined by `\,`, as in `x.(0 \, 1)`".into(),
            })
        } else if let Some(hint) = mismatch::pair_hint(&found, &index) {
            Some(hint.into())
        } else if lower::compact_counterpart(&found).is_some_and(|c| c == index) {
            Some("write the index as one compact value: `(i\\, j)`".into())
        } else if let Some(help) = index_of_other_axes(&found, &index) {
            Some(help)
        } else if found.is_compact() && crate::iso::verdict(&found, &index) <= crate::iso::Verdict::Natural {
            Some(self.reshape_help(&found, &index, span, "both have the same size"))
        } else if found.is_compact()
            && let Err(words) = self.convertible_words(&found, &index)
        {
            Some(words.into())
        } else if found.is_compact() {
            Some(format!("its code wraps with `(i :>> int).mod[{index}]`").into())
        } else {
            None
        };
        self.error_term(PartError::WrongIndex { span, found, index, array: array.clone(), help }, span)
    }
}

impl Checker<'_> {
    /// Elaborates `(0 \, 1)` as an index: each integer literal is an index of its axis. Returns
    /// `None` for other keys.
    fn compact_literals(&mut self, key: &Expr, index: &Type, array: &Type) -> Option<Term> {
        let names = index.compact_fields();
        let parts: Vec<&Expr> = match (&key.kind, &names) {
            (ExprKind::CompactTuple(parts), None) => parts.iter().collect(),
            (ExprKind::CompactRecord(fields), Some(names))
                if fields.len() == names.len()
                    && fields.iter().zip(names).all(|(field, name)| field.0.text == name.0) =>
            {
                fields.iter().map(|(_, part)| part).collect()
            }
            _ => return None,
        };
        let literal = |part: &Expr| matches!(part.kind, ExprKind::Int(_));
        let factors = index.unfold().compact_factors(MAX_COMPONENTS);
        let Some(factors) = factors.filter(|factors| factors.len() == parts.len()) else {
            if !parts.iter().any(|part| literal(part)) {
                return None;
            }
            // The number of parts differs from that of the index type, so the axes of the literals
            // are unknown.
            let axes = index.unfold().compact_factors(MAX_COMPONENTS).map_or(1, |factors| factors.len());
            let error = PartError::IndexParts {
                span: key.span,
                found: parts.len(),
                axes,
                index: index.clone(),
                array: array.clone(),
            };
            return Some(self.error_term(error, key.span));
        };
        let mut terms = Vec::with_capacity(parts.len());
        for (part, factor) in parts.iter().copied().zip(&factors) {
            if let (ExprKind::Int(code), Some(size)) = (&part.kind, factor.as_unit_sum())
                && code >= size
            {
                let (span, code) = (part.span, code.clone());
                let (axis, array) = (factor.clone(), array.clone());
                return Some(self.error_term(PartError::AxisRange { span, code, axis, array }, span));
            }
            let term = self.index_value(part, factor, array);
            if term.ty.is_error() {
                return Some(term);
            }
            terms.push(term);
        }
        Some(Term::new(TermKind::Pack(terms), index.clone(), key.span))
    }

    /// Elaborates `x.(k)` for a type with an instance of `Index`. Returns `None` if there is no
    /// such instance.
    pub(in crate::check) fn index_by_instance(
        &mut self,
        base: &Term,
        key: &Expr,
        span: Span,
    ) -> Option<Term> {
        let class = self.program.known.index?;
        let ty = self.infer.zonk_with_defaults(&base.ty);
        let open = |this: &mut Self| this.infer.fresh(Kind::Type);
        let (any_key, any_element) = (open(self), open(self));
        let possible = Constraint { class, args: vec![ty.clone(), any_key, any_element] };
        if self.entails(&possible).fails() {
            return None;
        }
        let key = self.expr(key, Expectation::NONE);
        let element = open(self);
        let args = vec![ty, key.ty.clone(), element];
        // The element type follows from the two other types.
        self.improve(&Constraint { class, args: args.clone() });
        self.first_method(class, &args, vec![base.clone(), key], span)
    }
}

/// A key after an array.
enum Key {
    /// A term of the index type, or an error term.
    Index(Term),
    /// An index at places.
    Placed(Term),
    /// A function, to be applied to the array.
    Function(Term),
}

/// Returns the value of an integer literal, perhaps with a minus sign.
pub(in crate::check) fn signed_literal(key: &Expr) -> Option<BigInt> {
    match &key.kind {
        ExprKind::Int(value) => Some(BigInt::from(value.clone())),
        ExprKind::Unary(UnaryOp::Neg, operand) => Some(-signed_literal(operand)?),
        _ => None,
    }
}

/// Returns a literal of an index type, as text for messages.
fn example(index: &Type) -> Option<String> {
    if let Some(n) = index.as_unit_sum() {
        return Some(format!("`0:{n}"));
    }
    if let TypeKind::Nominal(nominal, args) = index.kind()
        && nominal.is_enumeration()
    {
        return nominal.variant_cases(args)?.first().map(|(case, _)| case.to_string());
    }
    if let Some(fields) = index.compact_fields() {
        let part = |(name, ty): &(std::sync::Arc<str>, Type)| Some(format!("{name}={}", example(ty)?));
        return Some(format!("({})", fields.iter().map(part).collect::<Option<Vec<_>>>()?.join(" \\, ")));
    }
    let factors = index.compact_factors(4)?;
    Some(format!("({})", factors.iter().map(example).collect::<Option<Vec<_>>>()?.join("\\,")))
}

/// Returns true for what [`Checker::column`] makes of one array:
/// `{ val r = …; [ r.i.field for i in … ] }`.
fn is_column(term: &Term) -> bool {
    let TermKind::Block(stmts, Some(made)) = &term.kind else { return false };
    let (
        [Stmt { kind: StmtKind::Let(Pat { kind: PatKind::Bind(records), .. }, _), .. }],
        TermKind::Build(clauses, body),
    ) = (&stmts[..], &made.kind)
    else {
        return false;
    };
    let [(position, _)] = &clauses[..] else { return false };
    let mut element = &**body;
    let mut depth = 0;
    while let TermKind::Component(inner, _) | TermKind::Reshape(inner) = &element.kind {
        (element, depth) = (inner, depth + 1);
    }
    let TermKind::Index(array, index) = &element.kind else { return false };
    let is_local = |term: &Term, local| matches!(term.kind, TermKind::Local(other) if other == local);
    depth > 0 && is_local(array, *records) && is_local(index, *position)
}

/// Returns the same part of another record as a term is of the record it is made of.
fn part_of(part: Term, record: Term) -> Term {
    let Term { kind, ty, .. } = part;
    let span = record.span;
    match kind {
        TermKind::Component(inner, position) => {
            Term::new(TermKind::Component(Box::new(part_of(*inner, record)), position), ty, span)
        }
        TermKind::Reshape(inner) => Term::new(TermKind::Reshape(Box::new(part_of(*inner, record))), ty, span),
        _ => record,
    }
}
