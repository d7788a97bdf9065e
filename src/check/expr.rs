//! Expressions: each form to its term.
//!
//! `expr` infers, taking a hint of the type that is wanted; `check` demands the type. Application
//! is in `apply`, what stands after a dot in `dot`, operators in `operator`, `:>>` and `:>` in
//! `reshape`.

use super::Checker;
use super::annotations::Referent;
use super::error::{CheckError, Inside, MoveError, RestError, SizeError};
use super::exhaustive::{self, End};
use super::infer::Literal;
use crate::core::{Arm, LocalId, Pat, PatKind, Prim, Stmt, StmtKind, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{self, Expr, ExprKind};
use crate::types::number::{Conversion, Rounded, conversion, widened};
use crate::types::{Kind, ProductForm, Scalar, Triangle, Type, TypeKind};
use num_bigint::{BigInt, BigUint};
use num_traits::ToPrimitive;
use std::sync::Arc;

/// Messages of an input after which unknown names are compared with those that are known no more.
const MOST_SUGGESTED: usize = 50;

/// Tuples written out are no longer than this when seen as components of an array type.
pub(super) const MOST_COMPONENTS: usize = 4096;

impl Checker<'_> {
    /// The term of an expression; `hint` is what its place would like, not a demand.
    pub(super) fn expr(&mut self, e: &Expr, hint: Option<&Type>) -> Term {
        crate::cancellation::poll();
        let at_statement = std::mem::take(&mut self.at_statement);
        self.infer.here = e.span;
        let term = self.expr_any(e, hint, at_statement);
        self.note_expr(e.span, &term.ty);
        self.bounded(term)
    }

    /// The term of an expression that must have this type.
    pub(super) fn check(&mut self, e: &Expr, ty: &Type, because: Option<(Span, String)>) -> Term {
        if self.infer.shallow(ty).is_exists() {
            return self.check_packed(e, ty, because);
        }
        let term = self.expr(e, Some(ty));
        self.coerce(term, ty, because)
    }

    /// A term at the type its place demands: equal, or converted without loss.
    pub(super) fn coerce(&mut self, term: Term, ty: &Type, because: Option<(Span, String)>) -> Term {
        self.infer.here = term.span;
        if self.infer.try_unify(&term.ty, ty) {
            return term;
        }
        if self.infer.shallow(ty).is_exists() {
            return self.pack(term, ty, because);
        }
        let widened_parts = self.widen_parts(term, ty, because.clone());
        let term = match widened_parts.or_else(|term| self.literal_at(term, ty)) {
            Ok(term) => return term,
            Err(term) => term,
        };
        let (found, expected) = (self.infer.settle(&term.ty), self.infer.zonk(ty));
        if self.infer.try_unify(&found, &expected) {
            return Term { ty: found, ..term };
        }
        let span = term.span;
        let wide = widened(&found, &expected);
        if wide != found && self.infer.try_unify(&wide, &expected) {
            return self.convert_term(Term { ty: found, ..term }, &wide, span);
        }
        let term = match self.widened_by_instance(Term { ty: found.clone(), ..term }, &expected) {
            Ok(term) => return term,
            Err(term) => term,
        };
        if let Some(parts) = self.one_wrong_part(&term, &expected) {
            let TermKind::Tuple(terms) = term.kind else { return term };
            let terms = terms.into_iter().zip(&parts).map(|(t, ty)| self.coerce(t, ty, because.clone()));
            return Term::new(TermKind::Tuple(terms.collect()), expected, span);
        }
        let (found, expected) = (self.infer.shown(&found), self.infer.shown(&expected));
        if self.applicable(found.clone(), span).is_error()
            || self.applicable(expected.clone(), span).is_error()
        {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let hint = self.mismatch_hint(&found, &expected, &term);
        self.wrong(CheckError::Mismatch { span, expected, found, because, hint }, span)
    }

    /// A written tuple in which an integer stands for a longer one, by component; any other term is
    /// given back.
    fn widen_parts(&mut self, term: Term, ty: &Type, because: Option<(Span, String)>) -> Result<Term, Term> {
        let TermKind::Tuple(parts) = &term.kind else { return Err(term) };
        let wanted = self.infer.zonk(ty);
        // A tuple is no record, and neither is a value of a declared type.
        let alike = match (self.infer.shallow(&term.ty).kind(), wanted.kind()) {
            (TypeKind::Record(found), TypeKind::Record(wanted)) => {
                found.iter().map(|(name, _)| name).eq(wanted.iter().map(|(name, _)| name))
            }
            (TypeKind::Record(_) | TypeKind::Nominal(..), _) => false,
            (_, TypeKind::Record(_) | TypeKind::Nominal(..)) => false,
            _ => true,
        };
        let Some(wanted) = wanted.components(MOST_COMPONENTS).filter(|w| alike && w.len() == parts.len())
        else {
            return Err(term);
        };
        let short = |this: &Self, part: &Term, ty: &Type| {
            let (found, wanted) = (this.infer.shallow(&part.ty), this.infer.shallow(ty));
            let literal = this.infer.literal_of(&found).is_some()
                && matches!(wanted.kind(), TypeKind::Nominal(..) | TypeKind::Var(_));
            // A part that brings its sizes along is put together with them.
            let packed = wanted.is_exists() && !found.is_exists();
            literal || packed || conversion(&found, &wanted) == Conversion::Implicit
        };
        if !parts.iter().zip(&wanted).any(|(part, ty)| short(self, part, ty)) {
            return Err(term);
        }
        let parts =
            parts.iter().zip(&wanted).map(|(part, ty)| self.coerce(part.clone(), ty, because.clone()));
        let parts: Vec<Term> = parts.collect();
        Ok(Term::new(TermKind::Tuple(parts), self.infer.zonk(ty), term.span))
    }

    /// The types that the parts of a tuple should have, if all but one of them do: the mistake is
    /// in that part, not in the whole.
    fn one_wrong_part(&mut self, term: &Term, expected: &Type) -> Option<Vec<Type>> {
        let TermKind::Tuple(terms) = &term.kind else { return None };
        if !matches!(expected.kind(), TypeKind::Product(_) | TypeKind::Array(..)) {
            return None;
        }
        let parts = expected.components(terms.len()).filter(|p| p.len() == terms.len())?;
        let mark = self.infer.mark();
        let wrong = terms.iter().zip(&parts).filter(|(t, ty)| self.infer.unify(&t.ty, ty).is_err()).count();
        self.infer.undo(mark);
        (wrong == 1 && terms.len() > 1).then_some(parts)
    }

    /// What to write when one type stands where another is wanted.
    fn mismatch_hint(&mut self, found: &Type, expected: &Type, term: &Term) -> Option<Help> {
        let span = term.span;
        if let Some(hint) = self.apart_hint(found, expected, term) {
            return Some(hint);
        }
        if let (true, TypeKind::CompactPower(digit, index)) = (expected.is_bool(), found.unfold().kind())
            && digit.is_bool()
        {
            let words = format!(
                "`{found}` holds a truth value for each `i` of `{index}`: `s.i` is that one, and `and` and `or` take two \
                 values of one type"
            );
            return Some(words.into());
        }
        if let TypeKind::Array(..) = expected.kind()
            && is_list(found)
        {
            return Some(Help::around(ELEMENTS, span, "", ".elements"));
        }
        if expected.is_bool() && found.as_scalar().is_some() {
            let words = "a truth value comes from a comparison, such as `x != 0`";
            return Some(match &term.kind {
                TermKind::Int(value) if value.bits() <= 1 => {
                    format!("{words}; an index below 2 is `` `{value}:2 ``").into()
                }
                _ => words.into(),
            });
        }
        if let Some(words) =
            asked_of_parameter(found, expected).or_else(|| super::rest::no_list(found, expected))
        {
            return Some(words.into());
        }
        // `rotate 1.mod[N]`, as it was written once.
        if let (TermKind::Prim(crate::core::Prim::ModInt, _, args), Some(Scalar::Int)) =
            (&term.kind, expected.as_scalar())
            && let [number] = &args[..]
        {
            let rest = Span { start: number.span.end, ..span };
            return Some(Help::instead("an `int` is wanted, not an index: leave out the `.mod`", rest, ""));
        }
        if let (TermKind::Int(value), true) = (&term.kind, expected.as_unit_sum().is_some()) {
            let index = format!("`{value}:{expected}");
            let words = format!("an integer is never an index value: write `` {index} ``");
            let fits = expected.as_unit_sum().zip(value.to_biguint()).is_some_and(|(n, value)| value < *n);
            return Some(if fits { Help::instead(words, span, index) } else { Help::new(words) });
        }
        if found.to_string() == expected.to_string() {
            let words = "two types have this name: they come from two modules, or one was declared anew";
            return Some(words.into());
        }
        if let (TypeKind::Procedure(_), TypeKind::Function(..)) = (found.kind(), expected.kind()) {
            return Some("a procedure has effects and cannot stand for a pure function".into());
        }
        if let (TypeKind::Product(parts), TypeKind::Array(element, _)) = (found.kind(), expected.kind())
            && element.has_meta()
            && let Some(other) = parts.iter().find(|part| **part != parts[0])
        {
            let words = format!("an array has elements of one type: here are `{}` and `{other}`", parts[0]);
            return Some(words.into());
        }
        if let Some(hint) = pair_hint(found, expected) {
            return Some(hint.into());
        }
        if let Some(hint) = self.fit_hint(found, expected, span) {
            return Some(hint);
        }
        if let (TypeKind::Function(_, found), TypeKind::Function(_, expected)) =
            (found.kind(), expected.kind())
            && found.is_exists()
            && !expected.is_exists()
        {
            let why = "each call gives a size of its own, and here all results have one type";
            return Some(format!("{why}: take the result to one type inside a function").into());
        }
        if let (TypeKind::Function(found, _), TypeKind::Function(expected, _)) =
            (found.kind(), expected.kind())
            && found.is_exists()
            && !expected.is_exists()
        {
            let words =
                "only a call puts a value together with its size: write a function that makes the call";
            let before = Span { end: span.start, ..span };
            let edits = vec![(before, "(fun (x) => ".to_string()), (span.after(), " x)".to_string())];
            return Some(Help { text: words.to_string(), edits });
        }
        if !(found.has_meta() || expected.has_meta())
            && crate::iso::verdict(found, expected) > crate::iso::Verdict::Natural
            && self.natural_here(found, expected)
        {
            let why = "by the sizes required before, the two are naturally isomorphic";
            return Some(self.reshape_help(found, expected, span, why));
        }
        if let Some(help) = self.late_size(found, expected) {
            return Some(help.into());
        }
        if let Some(help) = self.part_hint(found, expected).or_else(|| rows_hint(found, expected)) {
            return Some(help);
        }
        let filled = filled(expected, found);
        let expected = &filled;
        if expected == found {
            let words =
                format!("`{found}` is known only inside its function, and this place is known outside");
            return Some(words.into());
        }
        if found.has_meta() || expected.has_meta() {
            return None;
        }
        if expected.as_scalar() == Some(Scalar::String) {
            return Some(Help::around("`.str` gives a value as text", span, "", ".str"));
        }
        if expected.as_scalar() == Some(Scalar::Char) {
            return character_hint(term);
        }
        if super::reshape::convertible(found, expected) {
            if let Err(words) = self.convertible_words(found, expected) {
                return Some(words.into());
            }
            let written = crate::iso::text_after_cast(expected);
            let words = format!("convert it explicitly: `:> {written}`");
            return Some(Help::around(words, span, &format!(" :> {written}"), ""));
        }
        match crate::iso::verdict(found, expected) {
            crate::iso::Verdict::Natural => {
                Some(self.reshape_help(found, expected, span, "the two are naturally isomorphic"))
            }
            crate::iso::Verdict::Isomorphic => {
                let comparison = self.compared(found, expected);
                let (message, _, help) = comparison.explanation();
                Some(format!("as many values, but in other storage: {}", help.unwrap_or(message)).into())
            }
            _ => None,
        }
    }

    /// What to write where a function that takes its arguments one after the other is given all at once.
    fn apart_hint(&mut self, found: &Type, expected: &Type, term: &Term) -> Option<Help> {
        let TypeKind::Function(..) = expected.kind() else { return None };
        let (TermKind::Tuple(parts), TypeKind::Product(types)) = (&term.kind, found.kind()) else {
            return None;
        };
        let first = types.first().filter(|_| parts.len() >= 2)?;
        let TypeKind::Function(..) = self.infer.shallow(first).kind() else { return None };
        // Each part in parentheses of its own, in the place of the commas between them.
        let mut edits = vec![(Span { end: parts[0].span.start, ..term.span }, "(".to_string())];
        for pair in parts.windows(2) {
            let between = Span { start: pair[0].span.end, end: pair[1].span.start, ..term.span };
            edits.push((between, ") (".to_string()));
        }
        let last = parts.last()?.span;
        edits.push((Span { start: last.end, ..term.span }, ")".to_string()));
        let text = "arguments that are taken one after the other stand without commas: `f a b`".to_string();
        Some(Help { text, edits })
    }

    /// What to write where a value that may be missing stands for the value itself, or the reverse, in the first
    /// place where two types differ.
    fn part_hint(&mut self, found: &Type, expected: &Type) -> Option<Help> {
        // What a function is given is what the other one takes.
        if let (TypeKind::Function(takes, _), TypeKind::Function(given, _)) = (found.kind(), expected.kind())
            && takes != given
        {
            let (given, takes) = (given.clone(), takes.clone());
            return self.part_hint(&given, &takes);
        }
        let (found, expected) = super::candidate::first_difference(found, expected)?;
        let fits = |this: &mut Self, part: &Type, ty: &Type| {
            let mark = this.infer.mark();
            let fits = this.infer.unify(part, ty).is_ok() || super::reshape::convertible(part, ty);
            this.infer.undo(mark);
            fits
        };
        let scalar = |ty: &Type| !matches!(ty.kind(), TypeKind::Meta(_) | TypeKind::Function(..));
        if let Some((part, words)) = may_be_empty(&found)
            && may_be_empty(&expected).is_none()
            && scalar(&expected)
            && fits(self, &part, &expected)
        {
            return Some(words.into());
        }
        if let Some(part) = option_of(&expected)
            && option_of(&found).is_none()
            && scalar(&found)
            && fits(self, &found, &part)
        {
            return Some("`Some v` makes an option of a value".into());
        }
        None
    }

    fn expr_any(&mut self, e: &Expr, hint: Option<&Type>, at_statement: bool) -> Term {
        let span = e.span;
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
                let (value, ty) = suffixed(digits, suffix);
                match value {
                    Number::Whole(n) => make(TermKind::Int(n), ty),
                    Number::Real(x) => make(TermKind::Real(x), ty),
                }
            }
            ExprKind::Char(c) => make(TermKind::Char(*c), Type::char()),
            ExprKind::Str(text) => make(TermKind::Str(text.clone()), Type::string()),
            ExprKind::Interpolated(text, holes) => {
                let whole = with_values(text, holes, span);
                self.expr(&whole, hint)
            }
            ExprKind::Bool(b) => make(TermKind::Code(BigUint::from(u8::from(*b))), Type::bool()),
            ExprKind::Name(name) => self.name(name, &[], hint),
            ExprKind::TypeArgs(base, args) => {
                let ExprKind::Name(name) = &base.kind else {
                    let what = "what these type arguments belong to".to_string();
                    let instead = "type arguments follow the name of a function".to_string();
                    return self.wrong(CheckError::CannotInfer { span, what, instead }, span);
                };
                let args: Vec<Type> = self.lower_arguments(args);
                self.name(name, &args, hint)
            }
            ExprKind::CaseOf { index, ty, .. } => {
                let ty = self.lower(ty);
                self.case_of(index, &ty, span)
            }
            ExprKind::Inject { index, arg } => self.inject(index, arg, hint, span),
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
            ExprKind::Tuple(parts) => self.tuple(parts, hint, span),
            ExprKind::CompactTuple(parts) => self.compact_tuple(parts, hint, span),
            // The grammar has it at the end of a tuple only.
            ExprKind::Rest(inner) => {
                let what = "…".to_string();
                self.expr(inner, None);
                self.wrong(RestError::NotLast { span, what }.into(), span)
            }
            ExprKind::CompactRecord(fields) => self.compact_record(fields, hint, span),
            ExprKind::Record(fields) => {
                let hints = hint.and_then(|h| self.infer.shallow(h).fields());
                let mut terms = Vec::new();
                let mut types: Vec<(Arc<str>, Type)> = Vec::new();
                for (i, (name, value)) in fields.iter().enumerate() {
                    self.note(name.span, |_| Some(Referent::RecordField));
                    let hint = hints.as_ref().and_then(|h| h.get(i)).filter(|h| h.0 == name.text);
                    let term = match hint {
                        Some((_, ty)) => self.check(value, ty, None),
                        None => self.expr(value, None),
                    };
                    if types.iter().any(|(known, _)| *known == name.text) {
                        self.report(CheckError::Duplicate {
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
                let hint = hint.map(|h| self.infer.shallow(h));
                let element = match hint.as_ref().map(Type::kind) {
                    Some(TypeKind::Array(element, _)) => element.clone(),
                    _ => self.infer.fresh(Kind::Type),
                };
                let why = "the elements of an array have one type";
                let terms: Vec<Term> = if let TypeKind::Meta(_) = self.infer.shallow(&element).kind() {
                    let values: Vec<&Expr> = elements.iter().collect();
                    self.alike(&values, &element, why, |this, at, hint| this.expr(values[at], hint))
                } else {
                    let because = elements.first().map(|f| (f.span, why.to_string()));
                    elements.iter().map(|e| self.check(e, &element, because.clone())).collect()
                };
                let index = Type::unit_sum(terms.len());
                make(TermKind::Tuple(terms), Type::array(element, index))
            }
            ExprKind::Spread(parts) => self.spread(parts, hint, span),
            ExprKind::Update(record, values) => self.update(record, values, hint, span),
            ExprKind::Arguments(..) => self.wrong(CheckError::NamedHere { span, method: false }, span),
            ExprKind::Comprehension { body, clauses, guard: None } => {
                self.comprehension(body, clauses, hint, span)
            }
            ExprKind::Comprehension { body, clauses, guard: Some(guard) } => {
                self.selection(body, clauses, guard, hint, span)
            }
            ExprKind::Axis => self.wrong(MoveError::AxisHere { span }.into(), span),
            ExprKind::AllOf(ty) => {
                // As a value, `..[I]` is the array of all values of `I`.
                let index = self.lower_index(ty, "be walked");
                let local = self.new_local("i", index.clone());
                let body = self.local_term(local, span);
                let ty = Type::array(index.clone(), index.clone());
                make(TermKind::Build(vec![(local, index)], Box::new(body)), ty)
            }
            // The grammar has it in loops only.
            ExprKind::UpTo { .. } => make(TermKind::Error, Type::error()),
            ExprKind::IntRange { .. } => self.wrong(CheckError::IntRangeValue { span }, span),
            ExprKind::Apply { .. } => self.apply(e, hint, at_statement),
            ExprKind::Dot { base, key } => self.dot(base, key, hint, at_statement, span),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, hint, span),
            ExprKind::Binary(op, a, b) => {
                let before = self.diagnostics.len();
                let term = self.binary(*op, a, b, hint, span);
                if self.regroup_operator(before, span, a) {
                    // What was meant has another type.
                    return make(TermKind::Error, Type::error());
                }
                term
            }
            ExprKind::If { arms, otherwise } => {
                let ty = hint.cloned().unwrap_or_else(|| self.infer.fresh(Kind::Type));
                let why = "the branches have one type";
                let mut conditions = Vec::new();
                let condition = |this: &mut Self, at: usize| match (at, arms.get(at)) {
                    (0, Some((condition, _))) => Some(this.check(condition, &Type::bool(), None)),
                    (_, Some((condition, _))) => Some(this.condition(condition)),
                    (_, None) => None,
                };
                let values: Vec<&Expr> = arms.iter().map(|(_, value)| value).chain([&**otherwise]).collect();
                let mut values = if let TypeKind::Meta(_) = self.infer.shallow(&ty).kind() {
                    self.alike(&values, &ty, why, |this, at, hint| {
                        conditions.extend(condition(this, at));
                        this.own_branch(values[at], hint)
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
                let scrutinee = self.expr(scrutinee, None);
                self.decide(&scrutinee.ty);
                let subject = self.infer.settle(&scrutinee.ty);
                let ty = hint.cloned().unwrap_or_else(|| self.infer.fresh(Kind::Type));
                let why = "the arms have one type";
                let mut heads = Vec::new();
                let head = |this: &mut Self, arm: &ast::Arm<Expr>| {
                    this.names_once([&arm.pattern], "variable");
                    let pattern = this.arm_pattern(&arm.pattern, &subject);
                    let openings = this.matched_openings();
                    let guard = arm.guard.as_ref().map(|g| {
                        let guard = this.condition(g);
                        with_prefix(openings.clone(), guard)
                    });
                    ((pattern, guard), openings)
                };
                let bodies = if let TypeKind::Meta(_) = self.infer.shallow(&ty).kind() {
                    let values: Vec<&Expr> = arms.iter().map(|arm| &arm.body).collect();
                    self.alike(&values, &ty, why, |this, at, hint| {
                        this.in_scope(|this| {
                            let (head, openings) = head(this, &arms[at]);
                            heads.push(head);
                            let value = this.own_branch(values[at], hint);
                            this.after_openings(&openings, value)
                        })
                    })
                } else {
                    let (mut because, mut bodies) = (None, Vec::new());
                    for arm in arms {
                        let body = self.in_scope(|this| {
                            let (head, openings) = head(this, arm);
                            heads.push(head);
                            let value = this.branch(&arm.body, &ty, because.clone());
                            this.after_openings(&openings, value)
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
                let reports = exhaustive::check(&covered, &subject, scrutinee.span, End::of_expression(span));
                reports.into_iter().for_each(|r| self.report(r));
                make(TermKind::Match(Box::new(scrutinee), out), ty)
            }
            ExprKind::Block { stmts, value } => self.block_value(stmts, value, hint),
            ExprKind::Lambda(function) => self.lambda(function, hint, None, span),
            ExprKind::Reshape(inner, ty) => self.reshape(inner, ty, span),
            ExprKind::Convert(inner, ty) => self.convert(inner, ty, span),
            ExprKind::Error => make(TermKind::Error, Type::error()),
        }
    }

    /// A name where its value is wanted.
    fn name(&mut self, name: &ast::Name, type_args: &[Type], hint: Option<&Type>) -> Term {
        let span = name.span;
        self.note_scope(span);
        if type_args.is_empty() && !self.names_callable(name) {
            if let Some((binding, _)) = self.lookup_local(&name.text) {
                self.note(span, |_| Some(Referent::At(binding.span)));
                return self.local_term(binding.local, span);
            }
            if let Some((id, ..)) = self.global(&name.text) {
                self.note_global(span, &name.text);
                let ty = self.program.globals[id as usize].ty.clone();
                return Term::new(TermKind::Global(id), ty, span);
            }
        }
        let found = self.find(&name.text);
        if found.tiers.is_empty() {
            return self.unknown(name);
        }
        self.callable_value(name, &found, type_args, hint)
    }

    /// Says that a name is not defined.
    pub(super) fn unknown(&mut self, name: &ast::Name) -> Term {
        if self.lookup_local(&name.text).is_some() || self.global(&name.text).is_some() {
            let error = CheckError::ValueWithTypeArguments { span: name.span, name: name.text.to_string() };
            return self.wrong(error, name.span);
        }
        if self.unknown_in_module(name) || self.is_module(name) {
            return Term::new(TermKind::Error, Type::error(), name.span);
        }
        if let Some(frame) = self.item.frames.iter().rev().find(|frame| frame.name == name.text) {
            let (span, name, declared) = (name.span, name.text.to_string(), frame.header);
            return self.wrong(CheckError::RecursiveUntyped { span, name, declared }, span);
        }
        let similar = self.similar_name(&name.text);
        let error = CheckError::UnknownName { span: name.span, name: name.text.to_string(), similar };
        self.wrong(error, name.span)
    }

    /// A known name that one may stand for.
    pub(super) fn similar_name(&mut self, name: &str) -> Option<String> {
        // Whoever has so many to mend has one cause for them.
        let similar = (self.diagnostics.len() < MOST_SUGGESTED)
            .then(|| similar(name, self.known_names().iter().map(String::as_str)))
            .flatten();
        self.env.elsewhere(name).or(similar)
    }

    /// `{ …; e }`: pure, and left in no other way than by its value.
    fn block_value(&mut self, stmts: &[ast::Stmt], value: &Expr, hint: Option<&Type>) -> Term {
        self.in_scope(|this| {
            let frame = this.frame();
            let (first, opened) = (frame.locals.len() as LocalId, frame.opened.len());
            let around = (frame.block.replace(first), std::mem::take(&mut frame.loops));
            let mut body = Vec::new();
            for stmt in stmts {
                this.stmt(stmt, &mut body);
            }
            let (value, mut openings) = this.host(|this| this.expr(value, hint));
            body.append(&mut openings);
            let ty = this.infer.zonk(&value.ty);
            let frame = this.frame();
            (frame.block, frame.loops) = around;
            let found = frame.opened.get(opened..).unwrap_or_default().iter().find(|var| ty.mentions(var));
            if let Some(name) = found.map(|var| var.name.to_string()) {
                let (span, inside) = (value.span, Inside::Block);
                return this.wrong(SizeError::Escapes { span, name, ty, opened: span, inside }.into(), span);
            }
            with_prefix(body, value)
        })
    }

    /// `case n of T`: a constant for a unit case, else an injection function.
    fn case_of(&mut self, index: &BigUint, sum: &Type, span: Span) -> Term {
        let Some(case) = self.case_type(sum, index, span) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        if case.is_unit() {
            let kind = match sum.unfold().as_unit_sum() {
                Some(_) => TermKind::Code(index.clone()),
                None => TermKind::Inject(index.clone(), Box::new(Term::unit(span))),
            };
            return Term::new(kind, sum.clone(), span);
        }
        let (index, sum) = (index.clone(), sum.clone());
        self.synthesize(case, span, move |_, x| Term::new(TermKind::Inject(index, Box::new(x)), sum, span))
    }

    /// The type of a case, or a report that there is none.
    pub(super) fn case_type(&mut self, sum: &Type, index: &BigUint, span: Span) -> Option<Type> {
        let sum = self.infer.shallow(sum);
        if sum.is_error() {
            return None;
        }
        let unfolded = sum.unfold();
        let Some(count) = unfolded.case_count() else {
            self.report(CheckError::NotASum { span, ty: sum });
            return None;
        };
        match unfolded.case_type(index) {
            Some(case) => Some(case),
            None => {
                self.report(CheckError::CaseRange {
                    span,
                    index: index.clone(),
                    ty: sum,
                    count: count.to_string(),
                });
                None
            }
        }
    }

    /// `case n e` into the sum its place wants.
    fn inject(&mut self, index: &BigUint, arg: &Expr, hint: Option<&Type>, span: Span) -> Term {
        let Some(sum) = hint.map(|h| self.infer.zonk(h)).filter(|h| !matches!(h.kind(), TypeKind::Meta(_)))
        else {
            return self.wrong(CheckError::CaseNeedsType { span }, span);
        };
        let Some(case) = self.case_type(&sum, index, span) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        let arg = self.check(arg, &case, None);
        Term::new(TermKind::Inject(index.clone(), Box::new(arg)), sum, span)
    }

    fn aproj(&mut self, index: &Expr, array: &Type, span: Span) -> Term {
        let array = self.infer.shallow(array);
        let (index_ty, digit) = match array.unfold().kind() {
            TypeKind::Array(_, index) => (index.clone(), None),
            TypeKind::CompactPower(digit, index) => (index.clone(), Some(digit.clone())),
            _ if array.is_error() => return Term::new(TermKind::Error, array, span),
            _ => return self.wrong(CheckError::NotIndexable { span, ty: array }, span),
        };
        let index = self.index_value(index, &index_ty, &array);
        self.with_index(index, array, span, |this, index, x| match digit {
            None => this.array_at(x, index, span),
            Some(digit) => Term::new(TermKind::Digit(Box::new(x), Box::new(index)), digit, span),
        })
    }

    /// `ainj i of N *+ T`: an injection function.
    fn ainj(&mut self, index: &Expr, sum: &Type, span: Span) -> Term {
        let sum = self.infer.shallow(sum);
        let (cases, case) = match sum.unfold().kind() {
            TypeKind::Repeat(cases, case) => (cases.clone(), case.clone()),
            TypeKind::UnitSum(_) => (sum.unfold(), Type::unit()),
            _ if sum.is_error() => return Term::new(TermKind::Error, sum, span),
            _ => return self.wrong(MoveError::NotACoarray { span, ty: sum }.into(), span),
        };
        let index = self.index_value(index, &cases, &sum);
        self.with_index(index, case.clone(), span, |_, index, x| match sum.is_compact() {
            true => Term::new(TermKind::Reshape(Box::new(index)), sum, span),
            false => Term::new(TermKind::Prim(Prim::AInj, vec![cases, case], vec![index, x]), sum, span),
        })
    }

    /// A function whose body is made from an index and its parameter. The index is evaluated once, where the
    /// function stands.
    fn with_index(
        &mut self,
        index: Term,
        domain: Type,
        span: Span,
        body: impl FnOnce(&mut Self, Term, Term) -> Term,
    ) -> Term {
        if let TermKind::Code(_) = index.kind {
            return self.synthesize(domain, span, |this, x| body(this, index, x));
        }
        let index_ty = index.ty.clone();
        let local = self.new_local("index", index_ty.clone());
        let name: Arc<str> = Arc::from(" index");
        self.in_scope(|this| {
            this.bind(&name, local, false, span);
            let closure = this.synthesize(domain, span, |this, x| {
                let Some((binding, _)) = this.lookup_local(" index") else { return x };
                let index = this.local_term(binding.local, span);
                body(this, index, x)
            });
            let ty = closure.ty.clone();
            let bind = Pat { kind: PatKind::Bind(local), ty: index_ty, span };
            let kind = TermKind::Block(
                vec![Stmt { kind: StmtKind::Let(bind, index), span }],
                Some(Box::new(closure)),
            );
            Term::new(kind, ty, span)
        })
    }

    fn tuple(&mut self, parts: &[Expr], hint: Option<&Type>, span: Span) -> Term {
        if parts.is_empty() {
            return Term::unit(span);
        }
        if let Some(tuple) = self.rest_tuple(ProductForm::Tuple, parts, hint, span) {
            return tuple;
        }
        let hints = hint
            .map(|h| self.infer.zonk(h).unfold())
            .and_then(|h| h.components(MOST_COMPONENTS))
            .filter(|h| h.len() == parts.len());
        let mut terms: Vec<Option<Term>> = vec![None; parts.len()];
        // Functions whose parameters have no types come last: the others may tell.
        for late in [false, true] {
            for (i, part) in parts.iter().enumerate() {
                if super::apply::needs_hint(part) == late {
                    let hint = hints.as_ref().map(|h| &h[i]);
                    let before = self.diagnostics.len();
                    let term = self.expr(part, hint);
                    if i == 0 {
                        let how = "application binds tighter than `,`: write `p$ a, b` to give it both";
                        self.regroup_procedure(before, how);
                    }
                    // Telling the place what is known helps the later parts; it checks for itself.
                    terms[i] = Some(match hint {
                        Some(ty) => self.coerce_softly(term, ty),
                        None => term,
                    });
                }
            }
        }
        let terms: Vec<Term> = terms.into_iter().flatten().collect();
        let ty = Type::product(terms.iter().map(|t| self.infer.zonk(&t.ty)).collect());
        Term::new(TermKind::Tuple(terms), ty, span)
    }

    /// Converts without loss where that helps; leaves a mismatch to be reported by the whole.
    fn coerce_softly(&mut self, term: Term, ty: &Type) -> Term {
        if conversion(&self.infer.shallow(&term.ty), &self.infer.shallow(ty)) == Conversion::Implicit {
            self.coerce(term, ty, None)
        } else {
            let _ = self.infer.try_unify(&term.ty, ty);
            term
        }
    }

    /// `(row = r \, col = c)`
    fn compact_record(&mut self, fields: &[(ast::Name, Expr)], hint: Option<&Type>, span: Span) -> Term {
        let hints = hint.and_then(|hint| self.infer.zonk(hint).compact_fields()).unwrap_or_default();
        let (mut terms, mut types): (Vec<Term>, Vec<(Arc<str>, Type)>) = Default::default();
        for (at, (name, value)) in fields.iter().enumerate() {
            self.note(name.span, |_| Some(Referent::RecordField));
            if types.iter().any(|(known, _)| *known == name.text) {
                let (span, name) = (name.span, name.text.to_string());
                self.report(CheckError::Duplicate { span, what: "field", name });
            }
            let term = match hints.get(at).filter(|(known, _)| *known == name.text) {
                Some((_, ty)) => self.check(value, ty, None),
                None => self.expr(value, None),
            };
            let ty = self.infer.settle(&term.ty);
            if !ty.is_compact() {
                let role = "be part of a compact record";
                let error = super::types::not_compact(&ty, ty.to_string(), role, value.span);
                return self.wrong(error, span);
            }
            types.push((name.text.clone(), ty));
            terms.push(term);
        }
        Term::new(TermKind::Pack(terms), Type::compact_record(types), span)
    }

    fn compact_tuple(&mut self, parts: &[Expr], hint: Option<&Type>, span: Span) -> Term {
        if let Some(tuple) = self.rest_tuple(ProductForm::Compact, parts, hint, span) {
            return tuple;
        }
        let hint = hint.map(|h| self.infer.zonk(h));
        let factors = hint
            .as_ref()
            .filter(|h| h.compact_fields().is_none())
            .and_then(|h| h.unfold().compact_factors(MOST_COMPONENTS))
            .filter(|f| f.len() == parts.len());
        let mut terms = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            let term = match &factors {
                Some(factors) => self.check(part, &factors[i], None),
                None => self.expr(part, None),
            };
            let ty = self.infer.settle(&term.ty);
            if !ty.is_compact() {
                let role = "be part of a compact tuple";
                let error = super::types::not_compact(&ty, ty.to_string(), role, part.span);
                return self.wrong(error, span);
            }
            terms.push(term);
        }
        let ty = match (hint, factors) {
            (Some(hint), Some(_)) => hint,
            _ => Type::compact_product(terms.iter().map(|t| self.infer.zonk(&t.ty)).collect()),
        };
        Term::new(TermKind::Pack(terms), ty, span)
    }

    /// What the clauses of a comprehension walk: a variable for each index. `outer` gets what stands before the
    /// walk, `inner` what binds the patterns at each place.
    fn walk(
        &mut self,
        clauses: &[(ast::Pattern, Expr)],
        outer: &mut Vec<Stmt>,
        inner: &mut Vec<Stmt>,
    ) -> Option<Vec<(LocalId, Type)>> {
        let first_own = self.frame().locals.len() as LocalId;
        let mut walked = Vec::new();
        for (pattern, iterable) in clauses {
            let (index, value) = self.clause(iterable, first_own, outer, inner)?;
            let local = self.new_local("i", index.clone());
            walked.push((local, index));
            let position = self.local_term(local, pattern.span);
            let value = match value {
                Some(array) => self.array_at(array, position, pattern.span),
                None => position,
            };
            let ty = self.infer.settle(&value.ty);
            self.names_once([pattern], "variable");
            let pattern = self.total_pattern(pattern, &ty);
            inner.push(Stmt { span: pattern.span, kind: StmtKind::Let(pattern, value) });
            inner.append(&mut self.matched_openings());
        }
        Some(walked)
    }

    /// The type of the elements of a wanted array.
    fn element_of(&self, hint: Option<&Type>) -> Option<Type> {
        match self.infer.shallow(hint?).kind() {
            TypeKind::Array(element, _) => Some(element.clone()),
            _ => None,
        }
    }

    /// The element that a comprehension makes at each place, of a wanted type if there is one.
    fn element(&mut self, body: &Expr, wanted: Option<&Type>) -> Term {
        self.hosted(Inside::Element, |this| match wanted {
            Some(ty) => {
                let term = this.expr(body, Some(ty));
                this.coerce_softly(term, ty)
            }
            None => this.expr(body, None),
        })
    }

    fn comprehension(
        &mut self,
        body: &Expr,
        clauses: &[(ast::Pattern, Expr)],
        hint: Option<&Type>,
        span: Span,
    ) -> Term {
        let element = self.element_of(hint);
        let (mut outer, mut inner) = (Vec::new(), Vec::new());
        let mut walked = Vec::new();
        let body = self.in_scope(|this| {
            walked = this.walk(clauses, &mut outer, &mut inner)?;
            Some(this.element(body, element.as_ref()))
        });
        let Some(body) = body else { return Term::new(TermKind::Error, Type::error(), span) };
        let index = Type::compact_product(walked.iter().map(|(_, ty)| ty.clone()).collect());
        let ty = Type::array(body.ty.clone(), index);
        let build = Term::new(TermKind::Build(walked, Box::new(with_prefix(inner, body))), ty, span);
        with_prefix(outer, build)
    }

    /// `[ e for p in i, q in j if c ]`: the places where the condition holds are kept, in order, as `compress` keeps
    /// them; an element for each of them is made then. How many there are is known when it runs.
    fn selection(
        &mut self,
        body: &Expr,
        clauses: &[(ast::Pattern, Expr)],
        guard: &Expr,
        hint: Option<&Type>,
        span: Span,
    ) -> Term {
        let element = self.element_of(hint);
        let first_opened = self.frame().opened.len();
        let ((value, mut stmts), openings) = self.host(|this| {
            let (mut outer, mut inner) = (Vec::new(), Vec::new());
            let value = this.in_scope(|this| {
                let walked = this.walk(clauses, &mut outer, &mut inner)?;
                let holds = this.hosted(Inside::Element, |this| this.check(guard, &Type::bool(), None));
                let index = Type::compact_product(walked.iter().map(|(_, ty)| ty.clone()).collect());
                let mask = TermKind::Build(walked.clone(), Box::new(with_prefix(inner.clone(), holds)));
                let mask = Term::new(mask, Type::array(Type::bool(), index.clone()), guard.span);
                // The places: tuples of what the clauses walk.
                let again: Vec<(LocalId, Type)> =
                    walked.iter().map(|(_, ty)| (this.new_local("i", ty.clone()), ty.clone())).collect();
                let mut parts: Vec<Term> =
                    again.iter().map(|(local, _)| this.local_term(*local, span)).collect();
                let place = match parts.len() {
                    1 => parts.remove(0),
                    _ => {
                        let ty = Type::product(parts.iter().map(|part| part.ty.clone()).collect());
                        Term::new(TermKind::Tuple(parts), ty, span)
                    }
                };
                let place_ty = place.ty.clone();
                let all = TermKind::Build(again, Box::new(place));
                let all = Term::new(all, Type::array(place_ty.clone(), index.clone()), span);
                let (scheme, _) = this.prim_scheme(Prim::Compress);
                let types = vec![place_ty.clone(), index];
                let kept_ty = scheme.instantiate(&mut this.infer, &types).result.unwrap_or_else(Type::error);
                let kept = Term::new(TermKind::Prim(Prim::Compress, types, vec![all, mask]), kept_ty, span);
                let (value, openings) = this.host(|this| {
                    let kept = this.open(kept);
                    let TypeKind::Array(_, size) = this.infer.shallow(&kept.ty).kind().clone() else {
                        return Term::new(TermKind::Error, Type::error(), span);
                    };
                    let at = this.new_local("k", size.clone());
                    let position = this.local_term(at, span);
                    let place = this.array_at(kept, position, span);
                    let mut prefix = Vec::new();
                    let place = this.bound(place, &mut prefix);
                    for (number, (local, ty)) in walked.iter().enumerate() {
                        let value = match walked.len() {
                            1 => place.clone(),
                            _ => this.component(place.clone(), &number.into(), span),
                        };
                        let bind = Pat { kind: PatKind::Bind(*local), ty: ty.clone(), span };
                        prefix.push(Stmt { kind: StmtKind::Let(bind, value), span });
                    }
                    prefix.append(&mut inner);
                    let body = this.element(body, element.as_ref());
                    let ty = Type::array(body.ty.clone(), size.clone());
                    Term::new(
                        TermKind::Build(vec![(at, size)], Box::new(with_prefix(prefix, body))),
                        ty,
                        span,
                    )
                });
                outer.extend(openings);
                Some(value)
            });
            (value, outer)
        });
        let Some(value) = value else { return Term::new(TermKind::Error, Type::error(), span) };
        let mut prefix = openings;
        prefix.append(&mut stmts);
        let value = self.generalized_from(first_opened, value);
        // What is opened within is seen by nobody: its name is free for the result.
        self.frame().opened[first_opened..].iter_mut().for_each(|var| var.name = Arc::from(" "));
        self.open(with_prefix(prefix, value))
    }

    /// What a clause walks: its index type, and the array if it is one. An array that does not
    /// depend on the clauses before is evaluated once, before the loop.
    fn clause(
        &mut self,
        iterable: &Expr,
        first_own: LocalId,
        outer: &mut Vec<Stmt>,
        inner: &mut Vec<Stmt>,
    ) -> Option<(Type, Option<Term>)> {
        match &iterable.kind {
            ExprKind::AllOf(ty) => Some((self.lower_index(ty, "be walked"), None)),
            ExprKind::IntRange { .. } => {
                self.report(CheckError::IntRangeSize { span: iterable.span });
                None
            }
            _ => {
                let before = self.frame().locals.len() as LocalId;
                let opened = self.frame().hosts.last().map_or(0, |host| host.openings.len());
                let array = self.expr(iterable, None);
                self.independent(opened, first_own, before, iterable.span)?;
                let (array, index) = self.as_array(array)?;
                let span = array.span;
                let local = self.new_local("array", array.ty.clone());
                let dependent = mentions_local(&array, first_own, before);
                let bind = Pat { kind: PatKind::Bind(local), ty: array.ty.clone(), span };
                let stmts = if dependent { inner } else { outer };
                stmts.push(Stmt { kind: StmtKind::Let(bind, array), span });
                Some((index, Some(self.local_term(local, span))))
            }
        }
    }

    /// A term as an array, with its index type; a report if it is none.
    pub(super) fn as_array(&mut self, term: Term) -> Option<(Term, Type)> {
        self.decide(&term.ty);
        let ty = self.infer.settle(&term.ty);
        if let TypeKind::Array(_, index) = ty.kind() {
            let index = index.clone();
            return Some((Term { ty, ..term }, index));
        }
        if !ty.is_error() {
            let list = is_list(&ty);
            self.report(CheckError::NotIterable { span: term.span, ty, list });
        }
        None
    }

    /// Puts the state of the present item aside while `f` checks another.
    pub(super) fn aside<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        self.swap_hidden();
        let outer = std::mem::take(&mut self.item);
        let equations = self.infer.put_aside();
        let at_statement = std::mem::take(&mut self.at_statement);
        let result = f(self);
        self.infer.put_back(equations);
        self.item = outer;
        self.swap_hidden();
        self.at_statement = at_statement;
        result
    }
}

/// What to write where an array of rows stands for a matrix.
fn rows_hint(found: &Type, expected: &Type) -> Option<Help> {
    use TypeKind as K;
    if let K::Product(wanted) = expected.kind() {
        let parts = found.components(wanted.len()).filter(|parts| parts.len() == wanted.len())?;
        return parts.iter().zip(wanted).find_map(|(found, wanted)| rows_hint(found, wanted));
    }
    let (K::Array(rows, n), K::Array(_, form)) = (found.kind(), expected.kind()) else { return None };
    let (K::Array(element, m), K::CompactProduct(axes)) = (rows.kind(), form.kind()) else { return None };
    if axes.len() != 2 || !axes.iter().all(|axis| matches!(axis.kind(), K::Meta(_))) {
        return None;
    }
    let matrix = Type::array(element.clone(), Type::compact_product(vec![n.clone(), m.clone()]));
    Some(format!("`unrows` makes a matrix, `{matrix}`, of an array of rows").into())
}

/// A wanted type whose holes are what was found in their places.
fn filled(wanted: &Type, found: &Type) -> Type {
    use TypeKind as K;
    match (wanted.kind(), found.kind()) {
        (K::Meta(_), _) => found.clone(),
        (K::Array(t, i), K::Array(u, j)) if wanted.has_meta() => Type::array(filled(t, u), filled(i, j)),
        (K::Product(a), K::Product(b)) if wanted.has_meta() && a.len() == b.len() => {
            Type::product(a.iter().zip(b).map(|(a, b)| filled(a, b)).collect())
        }
        _ => wanted.clone(),
    }
}

/// What to write where two indices stand for a pair of them.
pub(super) fn pair_hint(found: &Type, expected: &Type) -> Option<String> {
    let pair = expected.unfold();
    let TypeKind::Triangle(triangle, index) = pair.kind() else { return None };
    let two = found.components(2).or_else(|| found.compact_factors(2))?;
    if two.len() != 2 || two.iter().any(|part| part != index) {
        return None;
    }
    Some(match triangle {
        Triangle::Lower => "`lower_pair (i, j)` makes a pair of two indices in any order".into(),
        Triangle::Below => {
            "`below_pair (i, j)` makes a pair of two indices, in case 1, or case 0 if they are the same"
                .into()
        }
    })
}

/// What to write for a term where a character is wanted.
fn character_hint(term: &Term) -> Option<Help> {
    let span = term.span;
    let one = |text: &str| {
        let mut chars = text.chars();
        chars.next().filter(|_| chars.next().is_none())
    };
    match &term.kind {
        TermKind::Str(text) => Some(match one(text) {
            Some(c) => {
                Help::instead(format!("a character stands in single quotes: `{c:?}`"), span, format!("{c:?}"))
            }
            None => "a text is not a character: `char_at (s, i)` takes one from it".into(),
        }),
        TermKind::Int(n) => Some(match n.to_u32().and_then(char::from_u32) {
            Some(c) if !c.is_control() => {
                let words = format!("the character with this code point is `{c:?}`");
                Help::instead(words, span, format!("{c:?}"))
            }
            Some(_) => "`:> char` gives the character with this code point".into(),
            None => "this is not the code point of a character".into(),
        }),
        _ if term.ty.as_scalar().is_some_and(Scalar::is_integer) => {
            Some(Help::around("`:> char` gives the character with this code point", span, " :> char", ""))
        }
        _ if term.ty.as_scalar() == Some(Scalar::String) => {
            Some("`char_at (s, i)` takes a character from a text".into())
        }
        _ => None,
    }
}

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

/// `f"… {x:8.3} …"` as a sum of texts: the value as `.str` gives it, or with so many digits after the point, and
/// with blanks before it.
fn with_values(text: &Arc<str>, holes: &[ast::Interpolation], span: Span) -> Expr {
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

/// A literal index written as a number, for messages and constants.
pub(super) fn constant_index(e: &Expr) -> Option<(BigUint, Option<&ast::TypeExpr>)> {
    match &e.kind {
        ExprKind::Int(n) => Some((n.clone(), None)),
        ExprKind::CaseOf { index, ty, tick: true } => Some((index.clone(), Some(ty))),
        _ => None,
    }
}

/// What to ask of a type parameter where a number is wanted.
pub(super) fn asked_of_parameter(found: &Type, expected: &Type) -> Option<String> {
    let class = match expected.as_scalar()? {
        Scalar::Real | Scalar::Single => "Float",
        Scalar::Int => "Integer",
        _ => return None,
    };
    match found.kind() {
        TypeKind::Var(var) if var.kind == crate::types::Kind::Type => Some(format!(
            "nothing is known about `{0}`: ask for it in the header, `with {class}[{0}]`",
            var.name
        )),
        _ => None,
    }
}

/// The advice where the library's list stands for an array.
pub(super) const ELEMENTS: &str = "`l.elements` is the array of what a list holds";

/// Whether a type is that of the library's lists.
fn is_list(ty: &Type) -> bool {
    matches!(ty.kind(), TypeKind::Nominal(nominal, _) if &*nominal.name == "list")
}

/// The type of the value that an `option[T]` may hold.
fn option_of(ty: &Type) -> Option<Type> {
    match ty.kind() {
        TypeKind::Nominal(nominal, args) if &*nominal.name == "option" => args.first().cloned(),
        _ => None,
    }
}

/// The type of the value that may be missing, and the function that gives it or another one.
pub(super) fn missing_value(ty: &Type) -> Option<(Type, &'static str)> {
    match ty.kind() {
        TypeKind::Sum(parts) if parts.len() == 2 && parts[0].is_unit() => {
            Some((parts[1].clone(), "otherwise"))
        }
        _ => Some((option_of(ty)?, "or_else")),
    }
}

/// The type of the value that may be missing, and how to come to it.
pub(super) fn may_be_empty(ty: &Type) -> Option<(Type, String)> {
    let (part, function) = missing_value(ty)?;
    let article = if option_of(ty).is_some() { "an" } else { "a" };
    let words = format!(
        "{article} `{ty}` may be empty: `{function} d` gives its value, or `d`; `match` tells the two apart"
    );
    Some((part, words))
}
