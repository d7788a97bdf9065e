//! Expressions: each form of the tree to its term.
//!
//! Takes an expression and what its place expects; returns a typed term of core, with errors
//! reported. The method is bidirectional checking (Pierce and Turner, "Local type inference",
//! TOPLAS 22, 2000) with unification holes: [`Checker::expr`] infers, with the expected type as a
//! hint, and [`Checker::check`] requires the type. Application is in `apply`, dot expressions in
//! `dot`, operators in `operator`, `:>>` and `:>` in `reshape`.

use crate::check::annotations::Referent;
use crate::check::context::Checker;
use crate::check::error::{CallError, Inside, MoveError, RestError, SizeError, StatementError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::solve::exhaustive::{self, ArmsEnd};
use crate::check::solve::infer::Literal;
use crate::check::terms::{Number, expand_interpolation, parse_suffixed_number, with_prefix};
use crate::core::{Arm, LocalId, Pat, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::number::Rounded;
use crate::types::{Kind, Type, TypeKind};
use num_bigint::{BigInt, BigUint};
use std::sync::Arc;

impl Checker<'_> {
    /// Infers the term of an expression; the expectation is only a hint.
    pub(in crate::check) fn expr(&mut self, e: &Expr, expected: Expectation<'_>) -> Term {
        crate::cancellation::poll();
        self.infer.here = e.span;
        let term = self.expr_any(e, expected);
        let term = self.read_placed(term);
        self.note_expr(e.span, &term.ty);
        self.check_type_size(term)
    }

    /// Elaborates an expression that must have this type, with the conversions of `coerce`.
    /// `because` is the place and reason of the requirement, for messages.
    pub(in crate::check) fn check(&mut self, e: &Expr, ty: &Type, because: Option<(Span, String)>) -> Term {
        if self.infer.shallow(ty).is_exists() {
            return self.check_packed(e, ty, because);
        }
        let term = self.expr(e, Expectation::of(ty));
        self.coerce(term, ty, because)
    }

    /// Elaborates an expression by its form.
    fn expr_any(&mut self, e: &Expr, place: Expectation<'_>) -> Term {
        let span = e.span;
        // Calls are the only expressions that may be statements, so all others ignore that part of
        // the expectation.
        let expected = place.value();
        let make = |kind, ty| Term::new(kind, ty, span);
        match &e.kind {
            ExprKind::Int(n) => {
                let ty = self.infer.fresh_literal(Literal::Int);
                make(TermKind::Int(BigInt::from(n.clone())), ty)
            }
            ExprKind::Real(digits) => {
                let ty = self.infer.fresh_literal(Literal::Real);
                make(TermKind::Real(Rounded::read(digits)), ty)
            }
            ExprKind::Suffixed(digits, suffix) => {
                let (value, ty) = parse_suffixed_number(digits, suffix);
                match value {
                    Number::Whole(n) => make(TermKind::Int(n), ty),
                    Number::Real(x) => make(TermKind::Real(x), ty),
                }
            }
            ExprKind::Char(c) => make(TermKind::Char(*c), Type::char()),
            ExprKind::Str(text) => make(TermKind::Str(text.clone()), Type::string()),
            ExprKind::Interpolated(text, holes) => {
                let whole = expand_interpolation(text, holes, span);
                self.expr(&whole, expected)
            }
            ExprKind::Bool(b) => make(TermKind::Code(BigUint::from(u8::from(*b))), Type::bool()),
            ExprKind::Name(name) => self.name(name, &[], expected),
            ExprKind::TypeArgs(base, args) => {
                let ExprKind::Name(name) = &base.kind else {
                    let what = "what these type arguments belong to".to_string();
                    let instead = "type arguments follow the name of a function".to_string();
                    return self.error_term(TypeError::CannotInfer { span, what, instead }, span);
                };
                let args: Vec<Type> = self.lower_arguments(args);
                self.name(name, &args, expected)
            }
            ExprKind::CaseOf { index, ty, .. } => {
                let ty = self.lower(ty);
                self.case_of(index, &ty, span)
            }
            ExprKind::Inject { index, arg } => self.inject(index, arg, expected, span),
            ExprKind::Proj { index, ty } => {
                let ty = self.lower(ty);
                self.synthesize(ty, span, |this, x| this.component(x, index, span))
            }
            ExprKind::Aproj { index, ty } => {
                let ty = self.lower(ty);
                self.aproj(index, &ty, span)
            }
            ExprKind::Ainj { index, ty } => {
                let ty = self.lower(ty);
                self.ainj(index, &ty, span)
            }
            ExprKind::Tuple(parts) => self.tuple(parts, expected, span),
            ExprKind::CompactTuple(parts) => self.compact_tuple(parts, expected, span),
            // The grammar allows `..e` only at the end of a tuple, where `tuple` handles it.
            ExprKind::Rest(inner) => {
                let what = "…".to_string();
                self.expr(inner, Expectation::NONE);
                self.error_term(RestError::NotLast { span, what }, span)
            }
            ExprKind::CompactRecord(fields) => self.compact_record(fields, expected, span),
            ExprKind::Record(fields) => {
                let hints = expected.ty.and_then(|h| self.infer.shallow(h).fields());
                let mut terms = Vec::new();
                let mut types: Vec<(Arc<str>, Type)> = Vec::new();
                for (i, (name, value)) in fields.iter().enumerate() {
                    self.note(name.span, |_| Some(Referent::RecordField));
                    let hint = hints.as_ref().and_then(|h| h.get(i)).filter(|h| h.0 == name.text);
                    let term = match hint {
                        Some((_, ty)) => self.check(value, ty, None),
                        None => self.expr(value, Expectation::NONE),
                    };
                    if types.iter().any(|(known, _)| *known == name.text) {
                        self.report(TypeError::Duplicate {
                            span: name.span,
                            what: "field",
                            name: name.text.to_string(),
                        });
                    }
                    types.push((name.text.clone(), term.ty.clone()));
                    terms.push(term);
                }
                make(TermKind::Tuple(terms), Type::record(types))
            }
            ExprKind::Array(elements) => {
                let hint = expected.ty.map(|h| self.infer.shallow(h));
                let element = match hint.as_ref().map(Type::kind) {
                    Some(TypeKind::Array(element, _)) => element.clone(),
                    _ => self.infer.fresh(Kind::Type),
                };
                let why = "the elements of an array have one type";
                let terms: Vec<Term> = if let TypeKind::Meta(_) = self.infer.shallow(&element).kind() {
                    let values: Vec<&Expr> = elements.iter().collect();
                    self.with_common_type(&values, &element, why, |this, at, hint| {
                        this.expr(values[at], hint.into())
                    })
                } else {
                    let because = elements.first().map(|f| (f.span, why.to_string()));
                    elements.iter().map(|e| self.check(e, &element, because.clone())).collect()
                };
                let index = Type::unit_sum(terms.len());
                make(TermKind::Tuple(terms), Type::array(element, index))
            }
            ExprKind::Spread(parts) => self.spread(parts, expected, span),
            ExprKind::Update(record, values) => self.update_with_places(e, (record, values), expected, span),
            ExprKind::Arguments(..) => self.error_term(CallError::NamedHere { span, method: false }, span),
            ExprKind::Comprehension { body, clauses, guard: None } => {
                self.comprehension(body, clauses, expected, span)
            }
            ExprKind::Comprehension { body, clauses, guard: Some(guard) } => {
                self.filtered_comprehension(body, clauses, guard, expected, span)
            }
            ExprKind::Axis => self.error_term(MoveError::AxisHere { span }, span),
            ExprKind::AllOf(ty) => {
                // As a value, `..[I]` is the array of all values of `I`.
                let index = self.lower_index(ty, "be walked");
                let local = self.new_local("i", index.clone());
                let body = self.local_term(local, span);
                let ty = Type::array(index.clone(), index.clone());
                make(TermKind::Build(vec![(local, index)], Box::new(body)), ty)
            }
            // The grammar allows it only as what a loop or a comprehension walks.
            ExprKind::UpTo { high, inclusive } => self.indices_up_to(high, *inclusive, span),
            ExprKind::IntRange { .. } => self.error_term(StatementError::IntRangeValue { span }, span),
            ExprKind::Apply { .. } => self.apply(e, place),
            ExprKind::Dot { base, key } => self.dot(base, key, place, span),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, expected, span),
            ExprKind::Binary(op, a, b) => {
                let before = self.reports.len();
                let term = self.binary(*op, a, b, expected, span);
                if self.regroup_operator(before, span, a) {
                    // The regrouped expression that the message suggests has another type.
                    return make(TermKind::Error, Type::error());
                }
                term
            }
            ExprKind::If { arms, otherwise } => {
                let ty = expected.ty.cloned().unwrap_or_else(|| self.infer.fresh(Kind::Spread));
                let why = "the branches have one type";
                let mut conditions = Vec::new();
                let condition = |this: &mut Self, at: usize| match (at, arms.get(at)) {
                    (0, Some((condition, _))) => Some(this.check(condition, &Type::bool(), None)),
                    (_, Some((condition, _))) => Some(this.condition(condition)),
                    (_, None) => None,
                };
                let values: Vec<&Expr> = arms.iter().map(|(_, value)| value).chain([&**otherwise]).collect();
                let mut values = if let TypeKind::Meta(_) = self.infer.shallow(&ty).kind() {
                    self.with_common_type(&values, &ty, why, |this, at, hint| {
                        conditions.extend(condition(this, at));
                        this.branch_at_own_type(values[at], hint.into())
                    })
                } else {
                    let mut because = None;
                    let mut terms = Vec::new();
                    for (at, value) in values.into_iter().enumerate() {
                        conditions.extend(condition(self, at));
                        let value = self.branch(value, &ty, because.clone());
                        because = because.or(Some((value.span, why.to_string())));
                        terms.push(value);
                    }
                    terms
                };
                let Some(mut result) = values.pop() else { return make(TermKind::Error, Type::error()) };
                for (condition, value) in conditions.into_iter().zip(values).rev() {
                    let kind = TermKind::If(Box::new(condition), Box::new(value), Box::new(result));
                    result = Term::new(kind, ty.clone(), span);
                }
                result
            }
            ExprKind::Match { scrutinee, arms } => {
                let scrutinee = self.expr(scrutinee, Expectation::NONE);
                self.resolve_deferred_call(&scrutinee.ty);
                let subject = self.infer.zonk_with_defaults(&scrutinee.ty);
                if !self.is_public(&subject, "a value", scrutinee.span) {
                    return make(TermKind::Error, Type::error());
                }
                let ty = expected.ty.cloned().unwrap_or_else(|| self.infer.fresh(Kind::Spread));
                let why = "the arms have one type";
                let mut heads = Vec::new();
                let head = |this: &mut Self, arm: &ast::Arm<Expr>| {
                    this.check_duplicate_names([&arm.pattern], "variable");
                    let pattern = this.arm_pattern(&arm.pattern, &subject);
                    let openings = this.take_pattern_openings();
                    let guard = arm.guard.as_ref().map(|g| {
                        let guard = this.condition(g);
                        with_prefix(openings.clone(), guard)
                    });
                    ((pattern, guard), openings)
                };
                let bodies = if let TypeKind::Meta(_) = self.infer.shallow(&ty).kind() {
                    let values: Vec<&Expr> = arms.iter().map(|arm| &arm.body).collect();
                    self.with_common_type(&values, &ty, why, |this, at, hint| {
                        this.in_scope(|this| {
                            let (head, openings) = head(this, &arms[at]);
                            heads.push(head);
                            let value = this.branch_at_own_type(values[at], hint.into());
                            this.with_openings(&openings, value)
                        })
                    })
                } else {
                    let (mut because, mut bodies) = (None, Vec::new());
                    for arm in arms {
                        let body = self.in_scope(|this| {
                            let (head, openings) = head(this, arm);
                            heads.push(head);
                            let value = this.branch(&arm.body, &ty, because.clone());
                            this.with_openings(&openings, value)
                        });
                        because = because.or(Some((body.span, why.to_string())));
                        bodies.push(body);
                    }
                    bodies
                };
                let arms = heads.into_iter().zip(bodies);
                let out: Vec<Arm> =
                    arms.map(|((pattern, guard), body)| Arm { pattern, guard, body }).collect();
                let covered: Vec<(&Pat, bool)> =
                    out.iter().map(|a| (&a.pattern, a.guard.is_some())).collect();
                let reports =
                    exhaustive::check(&covered, &subject, scrutinee.span, ArmsEnd::of_expression(span));
                reports.into_iter().for_each(|r| self.report(r));
                make(TermKind::Match(Box::new(scrutinee), out), ty)
            }
            ExprKind::Block { stmts, value } => self.block_value(stmts, value, expected),
            ExprKind::At { places, stmts, value } => {
                self.at_places(places, (stmts, value.as_deref()), place, span)
            }
            ExprKind::Lambda(function) => self.lambda(function, expected, None, span),
            ExprKind::Reshape(inner, ty) => self.reshape(inner, ty, span),
            ExprKind::Convert(inner, ty) => self.convert(inner, ty, span),
            ExprKind::Error => make(TermKind::Error, Type::error()),
        }
    }

    /// Elaborates a name where its value is expected.
    fn name(&mut self, name: &ast::Name, type_args: &[Type], expected: Expectation<'_>) -> Term {
        let span = name.span;
        self.note_scope(span);
        if type_args.is_empty() && !self.is_function_name(name) {
            if let Some((binding, _)) = self.lookup_local(&name.text) {
                self.note(span, |_| Some(Referent::At(binding.span)));
                return self.local_term(binding.local, span);
            }
            if let Some((id, ..)) = self.global(&name.text) {
                self.note_global(span, &name.text);
                let ty = self.program.globals[id.index()].ty.clone();
                return Term::new(TermKind::Global(id), ty, span);
            }
        }
        let found = self.find(&name.text);
        if found.tiers.is_empty() {
            return self.report_unknown_name(name);
        }
        self.callable_value(name, &found, type_args, expected)
    }

    /// Elaborates `{ …; e }`. The block is pure and can be left only by its value.
    fn block_value(&mut self, stmts: &[ast::Stmt], value: &Expr, expected: Expectation<'_>) -> Term {
        self.in_scope(|this| {
            let frame = this.frame();
            let (first, opened) = (LocalId::new(frame.locals.len()), frame.opened.len());
            let around = (frame.block.replace(first), std::mem::take(&mut frame.loops));
            let mut body = Vec::new();
            for (at, stmt) in stmts.iter().enumerate() {
                this.declare_type_group(stmts, at);
                this.stmt(stmt, &mut body);
            }
            let (value, mut openings) = this.with_opening_scope(|this| this.expr(value, expected));
            body.append(&mut openings);
            let ty = this.infer.zonk(&value.ty);
            let frame = this.frame();
            (frame.block, frame.loops) = around;
            let found = frame.opened[opened..].iter().find(|var| ty.mentions(var));
            if let Some(name) = found.map(|var| var.name.to_string()) {
                let (span, inside) = (value.span, Inside::Block);
                return this.error_term(SizeError::Escapes { span, name, ty, opened: span, inside }, span);
            }
            with_prefix(body, value)
        })
    }
}
