//! Operators: on scalars of one family, and pointwise over arrays of one index type.
//!
//! Takes the operator and its operands; returns a core operation, a pointwise array construction,
//! or the call of a function of the operator's name. Reports an error with help where none applies.
//!
//! `int` and `bigint` join to `bigint`; no operator mixes integers and reals. An index is not a
//! number: only `cyclic[N]` has `+ - *`, modulo the size of N. A scalar operand beside an array is
//! broadcast. `==` and `!=` compare whole values of any data type. `<`, `<=`, `>` and `>=` compare
//! scalars, and compact values by code.

use crate::check::context::{Checker, Frame};
use crate::check::elaborate::apply::Arg;
use crate::check::env::Callable;
use crate::check::error::{CallError, CheckError, Inside, OperatorError, PlaceError};
use crate::check::expectation::Expectation;
use crate::check::hints::mismatch;
use crate::check::resolve::builtin::{is_spread_nominal, operator_advice};
use crate::check::solve::constraint::is_index;
use crate::check::terms;
use crate::core::{Num, Op, Pat, PatKind, Prim, Stmt, StmtKind, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast::{BinaryOp, Expr, Name, UnaryOp};
use crate::types::{Scalar, Type, TypeKind};
use num_bigint::BigUint;
use num_traits::Signed;
use std::sync::Arc;

impl Checker<'_> {
    /// Elaborates a prefix operator.
    pub(in crate::check) fn unary(
        &mut self,
        op: UnaryOp,
        operand: &Expr,
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        match op {
            UnaryOp::Not => {
                let operand = self.expr(
                    operand,
                    Expectation::of(expected.ty.filter(|ty| ty.is_set()).unwrap_or(&Type::bool())),
                );
                self.prefix(op, operand, span)
            }
            UnaryOp::Neg => {
                let before = self.reports.len();
                let written = operand;
                let operand = self.expr(operand, expected);
                // The program writes `-- a comment`.
                if let crate::syntax::ast::ExprKind::Unary(UnaryOp::Neg, _) = &written.kind
                    && written.span.start == span.start + 1
                {
                    self.add_comment_hint(before, span);
                }
                // The negative of a value has the value's type, so the expected type applies to the
                // operand.
                if let (TypeKind::Meta(_), None, Some(hint)) =
                    (self.infer.shallow(&operand.ty).kind(), self.infer.literal_of(&operand.ty), expected.ty)
                {
                    self.infer.try_unify(&operand.ty, hint);
                }
                self.prefix(op, operand, span)
            }
        }
    }

    /// Returns a prefix operator applied to an elaborated operand.
    pub(in crate::check) fn prefix(&mut self, op: UnaryOp, operand: Term, span: Span) -> Term {
        let [operand] =
            match self.lift_operands([operand], span, |this, [operand]| this.prefix(op, operand, span)) {
                Ok(term) => return term,
                Err(operands) => operands,
            };
        match (op, operand.kind) {
            (UnaryOp::Not, kind) => {
                let operand = Term { kind, ..operand };
                if let Some(set) = self.set(&operand.ty) {
                    return Term::new(TermKind::Op(Op::Not, vec![operand]), set, span);
                }
                let operand = self.coerce(operand, &Type::bool(), None);
                Term::new(TermKind::Op(Op::Not, vec![operand]), Type::bool(), span)
            }
            // 128 is not an `i8`, but -128 is, so the sign is applied to the literal.
            (UnaryOp::Neg, TermKind::Int(n)) => Term::new(TermKind::Int(-n), operand.ty, span),
            (UnaryOp::Neg, TermKind::Real(x)) => Term::new(TermKind::Real(-x), operand.ty, span),
            (UnaryOp::Neg, kind) => self.negate(Term { kind, ..operand }, span),
        }
    }

    /// Returns an infix operator applied to elaborated operands.
    pub(in crate::check) fn infix(&mut self, op: BinaryOp, a: Term, b: Term, span: Span) -> Term {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                if let Some(set) = self.set(&a.ty) {
                    let b = self.coerce(b, &set, None);
                    let op = if op == BinaryOp::And { Op::And } else { Op::Or };
                    return Term::new(TermKind::Op(op, vec![a, b]), set, span);
                }
                let a = self.coerce(a, &Type::bool(), None);
                let b = self.coerce(b, &Type::bool(), None);
                let constant =
                    |n: u8| Box::new(Term::new(TermKind::Code(BigUint::from(n)), Type::bool(), span));
                let kind = if op == BinaryOp::And {
                    TermKind::If(Box::new(a), Box::new(b), constant(0))
                } else {
                    TermKind::If(Box::new(a), constant(1), Box::new(b))
                };
                Term::new(kind, Type::bool(), span)
            }
            BinaryOp::In => {
                let (set, at) = (Term { ty: self.infer.zonk_with_defaults(&b.ty), ..b.clone() }, b.span);
                self.member(set, at, span, |this, index, ty| this.index_term(a, index.clone(), ty))
            }
            _ if core_comparison(op).is_some() => self.compare(op, a, b, span),
            _ => self.arithmetic(op, a, b, span),
        }
    }

    /// Returns the type if it is `2 \^ I`, on which `and`, `or` and `not` operate digit by digit.
    fn set(&mut self, ty: &Type) -> Option<Type> {
        let ty = self.infer.zonk(ty);
        ty.is_set().then_some(ty)
    }

    /// Returns the negative of an operand, elementwise for arrays.
    fn negate(&mut self, operand: Term, span: Span) -> Term {
        let ty = self.array_view(&operand.ty);
        if let TypeKind::Array(_, index) = ty.kind() {
            let index = index.clone();
            let (stmt, array) = self.materialize(Term { ty, ..operand });
            return self.pointwise(vec![stmt], &index, span, |this, i| {
                let x = this.array_at(array, i, span);
                this.negate(x, span)
            });
        }
        match self.number(&ty) {
            Some(Num::String) | None => {
                let ty = self.infer.zonk_with_defaults(&ty);
                if ty.is_error() {
                    return operand;
                }
                if let Ok(call) = self.user_operator("-", vec![operand], span) {
                    return call;
                }
                let help = index_negated(&ty)
                    .or_else(|| operator_advice("-", &[&ty], None))
                    .or_else(|| self.operator_help(&ty, None));
                let help = help.map(Help::from);
                self.error_term(
                    OperatorError::NoOperator { span, op: "-", left: ty, right: None, help },
                    span,
                )
            }
            Some(num) => Term::new(TermKind::Op(Op::Neg(num), vec![operand]), ty, span),
        }
    }

    /// Elaborates an infix operator.
    pub(in crate::check) fn binary(
        &mut self,
        op: BinaryOp,
        a: &Expr,
        b: &Expr,
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        match op {
            BinaryOp::And | BinaryOp::Or => {
                let a = self
                    .expr(a, Expectation::of(expected.ty.filter(|ty| ty.is_set()).unwrap_or(&Type::bool())));
                let (a, b) = match self.set(&a.ty) {
                    Some(set) => (a, self.expr(b, Expectation::of(&set))),
                    None => (self.coerce(a, &Type::bool(), None), self.condition(b)),
                };
                self.infix(op, a, b, span)
            }
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
                let a = self.expr(a, Expectation::NONE);
                let wanted = a.ty.clone();
                let b = self.expr(b, Expectation::of(&wanted));
                self.compare(op, a, b, span)
            }
            BinaryOp::In => {
                let before = self.reports.len();
                let set = self.expr(b, Expectation::NONE);
                // The program writes `val x = e in …`, where `x` is not in scope.
                let how = "a name stays known to the end of its block: end this statement with `;`";
                self.add_hint(before, how, |report| {
                    matches!(report.error, CheckError::Call(CallError::UnknownName { .. }))
                });
                let set = Term { ty: self.infer.zonk_with_defaults(&set.ty), ..set };
                self.member(set, b.span, span, |this, index, ty| this.index_value(a, index, ty))
            }
            _ => self.arithmetic_chain(op, a, b, span),
        }
    }

    /// Elaborates `i in s`: the digit of the set at an index, which `index` makes.
    fn member(
        &mut self,
        set: Term,
        at: Span,
        span: Span,
        index: impl FnOnce(&mut Self, &Type, &Type) -> Term,
    ) -> Term {
        let ty = set.ty.clone();
        match ty.unfold().kind() {
            TypeKind::CompactPower(digit, position) if digit.is_bool() => {
                let key = index(self, position, &ty);
                Term::new(TermKind::Digit(Box::new(set), Box::new(key)), Type::bool(), span)
            }
            TypeKind::Error => Term::new(TermKind::Error, Type::bool(), span),
            _ => self.error_term(OperatorError::NotASet { span: at, ty }, span),
        }
    }

    /// Elaborates a chain `a + b + c + …`, which nests to the left. A loop is used, so that a long
    /// chain does not overflow the stack.
    fn arithmetic_chain(&mut self, op: BinaryOp, a: &Expr, b: &Expr, span: Span) -> Term {
        let mut rest = vec![(op, b, span)];
        let mut first = a;
        while let crate::syntax::ast::ExprKind::Binary(op, a, b) = &first.kind {
            if !matches!(
                op,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem | BinaryOp::Pow
            ) {
                break;
            }
            rest.push((*op, b, first.span));
            first = a;
        }
        let mut term = self.expr(first, Expectation::NONE);
        for (op, operand, span) in rest.into_iter().rev() {
            let operand = self.expr(operand, Expectation::NONE);
            term = self.arithmetic(op, term, operand, span);
            self.note_expr(span, &term.ty);
        }
        term
    }

    /// Returns a type as an array type if it is one; a tuple of equal types is an array.
    fn array_view(&mut self, ty: &Type) -> Type {
        let ty = self.infer.shallow(ty);
        if let TypeKind::Product(parts) = ty.kind() {
            let parts = parts.clone();
            let mark = self.infer.mark();
            if parts.iter().skip(1).all(|p| self.infer.unify(p, &parts[0]).is_ok()) {
                return Type::array(parts[0].clone(), Type::unit_sum(parts.len()));
            }
            self.infer.undo(mark);
        }
        ty
    }

    /// Returns the number system of a type; literals and holes count as `int` until they are
    /// solved.
    fn number(&mut self, ty: &Type) -> Option<Num> {
        let ty = self.infer.shallow(ty);
        if let TypeKind::Meta(_) = ty.kind() { Some(Num::Int) } else { Num::of(&ty) }
    }

    /// Returns an arithmetic operator applied to operands, elementwise if one of them is an array.
    fn arithmetic(&mut self, op: BinaryOp, a: Term, b: Term, span: Span) -> Term {
        let [a, b] = match self.lift_operands([a, b], span, |this, [a, b]| this.arithmetic(op, a, b, span)) {
            Ok(term) => return term,
            Err(operands) => operands,
        };
        let (left, right) = (self.array_view(&a.ty), self.array_view(&b.ty));
        if left.is_error() || right.is_error() {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let (a, b) = (Term { ty: left.clone(), ..a }, Term { ty: right.clone(), ..b });
        match (left.kind(), right.kind()) {
            _ if is_spread_nominal(&left) || is_spread_nominal(&right) => self.other_operator(op, a, b, span),
            (TypeKind::Array(_, i), TypeKind::Array(_, j)) => {
                if !self.infer.try_unify(i, j) {
                    let (left, right) =
                        (self.infer.zonk_with_defaults(&left), self.infer.zonk_with_defaults(&right));
                    let help = self.index_type_hint(&left, &right);
                    let error = OperatorError::IndexTypesDiffer { span, op: op.symbol(), left, right, help };
                    return self.error_term(error, span);
                }
                let index = i.clone();
                let ((first, a), (second, b)) = (self.materialize(a), self.materialize(b));
                self.pointwise(vec![first, second], &index, span, |this, i| {
                    let x = this.array_at(a, i.clone(), span);
                    let y = this.array_at(b, i, span);
                    this.arithmetic(op, x, y, span)
                })
            }
            (TypeKind::Array(_, i), _) => {
                let index = i.clone();
                let ((first, a), (second, b)) = (self.materialize(a), self.materialize(b));
                self.pointwise(vec![first, second], &index, span, |this, i| {
                    let x = this.array_at(a, i, span);
                    this.arithmetic(op, x, b, span)
                })
            }
            (_, TypeKind::Array(_, j)) => {
                let index = j.clone();
                let ((first, a), (second, b)) = (self.materialize(a), self.materialize(b));
                self.pointwise(vec![first, second], &index, span, |this, i| {
                    let y = this.array_at(b, i, span);
                    this.arithmetic(op, a, y, span)
                })
            }
            _ => self.scalar_arithmetic(op, a, b, span),
        }
    }

    /// Returns an arithmetic operator applied to scalars.
    fn scalar_arithmetic(&mut self, op: BinaryOp, a: Term, b: Term, span: Span) -> Term {
        let (a, b) = self.join(a, b);
        let (a, b) = self.literal_operand(op, a, b);
        if !self.infer.try_unify(&a.ty, &b.ty) {
            return self.other_operator(op, a, b, span);
        }
        let ty = self.infer.shallow(&a.ty);
        let Some(num) = self.number(&ty) else { return self.other_operator(op, a, b, span) };
        let op_term = match (op, num) {
            (BinaryOp::Add, _) => Op::Add(num),
            (_, Num::String) => return self.other_operator(op, a, b, span),
            (BinaryOp::Sub, _) => Op::Sub(num),
            (BinaryOp::Mul, _) => Op::Mul(num),
            (_, Num::Mod) => return self.other_operator(op, a, b, span),
            (BinaryOp::Div, _) => Op::Div(num),
            (BinaryOp::Rem, _) => Op::Rem(num),
            (BinaryOp::Pow, _) => Op::Pow(num),
            _ => return self.other_operator(op, a, b, span),
        };
        Term::new(TermKind::Op(op_term, vec![a, b]), ty, span)
    }

    /// Returns the call of a function named by an operator, or the operands, as the error, if no
    /// such function may apply.
    pub(in crate::check) fn user_operator(
        &mut self,
        symbol: &str,
        mut operands: Vec<Term>,
        span: Span,
    ) -> Result<Term, Vec<Term>> {
        let name = Name { text: Arc::from(symbol), span };
        let types = operands.iter().map(|o| o.ty.clone()).collect();
        if !self.may_apply(symbol, Type::product(types)) {
            return Err(operands);
        }
        let argument = if operands.len() == 1 {
            Arg::Done(operands.remove(0))
        } else {
            Arg::Tuple(operands.into_iter().map(Arg::Done).collect(), span)
        };
        Ok(self.call_name(&name, &[], vec![argument], Expectation::NONE, span))
    }

    /// Returns true if a function named by an operator may apply: one that the program has
    /// declared, or a method of a class that the operands may belong to.
    fn may_apply(&mut self, symbol: &str, operands: Type) -> bool {
        let callables = self.env.operators(symbol);
        let local = |frame: &Frame| frame.scopes.iter().any(|scope| scope.contains_key(symbol));
        if self.item.frames.iter().any(local) {
            return true;
        }
        let is_declared = |ty: &Type| match ty.kind() {
            TypeKind::Array(element, _) => matches!(element.kind(), TypeKind::Nominal(..)),
            kind => matches!(kind, TypeKind::Nominal(..)),
        };
        let both = self.infer.zonk(&operands);
        let declared = both.components(2).map_or(is_declared(&both), |parts| parts.iter().any(is_declared));
        callables.iter().any(|callable| {
            // Of the functions of the library as many are known as its modules have asked for; they
            // are for types that it declares.
            let is_asked = matches!(callable, Callable::Method(..))
                || !declared && self.env.is_library_function(callable);
            if !is_asked {
                return true;
            }
            let scheme = self.header(callable);
            let mark = self.infer.mark();
            let instance = scheme.instantiate(&mut self.infer, &[]);
            let operands = self.infer.zonk_with_defaults(&operands);
            let fits = self.infer.unify(&operands, &instance.domain).is_ok()
                && instance.constraints.iter().all(|c| !self.entails(c).fails());
            self.infer.undo(mark);
            fits
        })
    }

    /// Returns an operator applied to operands for which it is not built in: the call of a function
    /// of its name, or an error with help.
    fn other_operator(&mut self, op: BinaryOp, a: Term, b: Term, span: Span) -> Term {
        let (a, b) = match self.user_operator(op.symbol(), vec![a, b], span) {
            Ok(call) => return call,
            Err(operands) => match <[Term; 2]>::try_from(operands) {
                Ok([a, b]) => (a, b),
                Err(operands) => unreachable!("{} operands given back of two", operands.len()),
            },
        };
        if let Some(help) = self.index_arithmetic(op, &a, &b) {
            let (left, right) =
                (self.infer.zonk_with_defaults(&a.ty), Some(self.infer.zonk_with_defaults(&b.ty)));
            let error = OperatorError::NoOperator { span, op: op.symbol(), left, right, help: Some(help) };
            return self.error_term(error, span);
        }
        let literal = self.infer.literal_of(&a.ty).or(self.infer.literal_of(&b.ty));
        let (left, right) = (self.infer.zonk_with_defaults(&a.ty), self.infer.zonk_with_defaults(&b.ty));
        let unknown = |ty: &Type| matches!(ty.kind(), TypeKind::Var(_));
        if self.item.in_doubt && (unknown(&left) || unknown(&right)) {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if let Some(help) = compared_elements(op, &left, &right).or_else(|| optional_operand(&left, &right)) {
            let help = Some(help.into());
            let error = OperatorError::NoOperator { span, op: op.symbol(), left, right: Some(right), help };
            return self.error_term(error, span);
        }
        let strings = !matches!(op, BinaryOp::Add) && core_comparison(op).is_none();
        let help = if strings && left.as_scalar() == Some(Scalar::String) {
            Some("on strings there is only `+`; `repeat (s, n)` repeats one".to_string())
        } else {
            let literal = literal.map(|literal| literal.default_type());
            let operands = Type::product(vec![left.clone(), right.clone()]);
            let advice = self
                .unmet_requirement(op.symbol(), &operands)
                .or_else(|| self.one_type_help(&left, &right))
                .or_else(|| operator_advice(op.symbol(), &[&left, &right], literal.as_ref()));
            advice.or_else(|| self.operator_help(&left, Some(&right)))
        };
        let help = help.map(Help::from);
        self.error_term(
            OperatorError::NoOperator { span, op: op.symbol(), left, right: Some(right), help },
            span,
        )
    }

    /// Returns help for arithmetic on an index; `None` if no operand is an index.
    fn index_arithmetic(&mut self, op: BinaryOp, a: &Term, b: &Term) -> Option<Help> {
        if core_comparison(op).is_some() {
            return None;
        }
        // A literal stays unsolved here.
        let (left, right) = (self.infer.zonk(&a.ty), self.infer.zonk(&b.ty));
        if Num::of(&left) == Some(Num::Mod) && left == right {
            return Some("most integers modulo a number have no inverse: there are `+`, `-` and `*`".into());
        }
        if left.is_bool() && right.is_bool() {
            return Some(match op {
                BinaryOp::Add | BinaryOp::Sub => "`a != b` is true where one of two truth values is".into(),
                BinaryOp::Mul => "`a and b` is true where both are".into(),
                _ => "a truth value is not a number".into(),
            });
        }
        let steps = matches!(op, BinaryOp::Add | BinaryOp::Sub);
        let minus = op == BinaryOp::Sub;
        if steps && left == right {
            match &b.kind {
                TermKind::Prim(Prim::ModInt, _, args) if args.len() == 1 => {
                    return Some(steps_around(minus, a, b, &args[0]));
                }
                TermKind::Code(code) => {
                    let places = Term::new(TermKind::Int(code.clone().into()), Type::int(), b.span);
                    return Some(steps_around(minus, a, b, &places));
                }
                _ => {}
            }
        }
        let converted =
            |term: &Term, words: String, inside: String| Help::around(words, term.span, &inside, "");
        let plain = "an index is not a number: `i :>> int` is its code";
        let code = |term: &Term| converted(term, plain.to_string(), " :>> int".to_string());
        let (term, other) = match (is_index(&left), is_index(&right)) {
            (false, false) => return None,
            (true, true) => {
                let text = format!(
                    "{plain}, `i.around k` steps by an `int`, and `cyclic[{left}]` is calculated with modulo its size"
                );
                let edits = code(a).edits.into_iter().chain(code(b).edits).collect();
                return Some(Help { text, edits });
            }
            (true, false) => (a, right),
            (false, true) => (b, left),
        };
        if Num::of(&other) == Some(Num::String) {
            return Some("`(e).str` is the text of a value".into());
        }
        if self.infer.zonk(&term.ty) == Type::bool() {
            return Some("a truth value is not a number: `if b then 1 else 0 endif` is one, and `count` counts in an array".into());
        }
        if Num::of(&other) == Some(Num::Mod) {
            let words = format!("an index is not a number: `:>> {other}` reads it as one");
            return Some(converted(term, words, format!(" :>> {other}")));
        }
        Some(match self.infer.display_type(&other).as_scalar() {
            Some(number) if number.is_integer() && steps && std::ptr::eq(term, a) => {
                let sign = if minus { "(-k)" } else { "k" };
                format!("an index is not a number: `i.around {sign}` steps by an `int`, wrapping, `i :>> int {} k` calculates with its code", op.symbol()).into()
            }
            Some(number) if number.is_integer() => code(term),
            Some(number) if number.is_float() => {
                let name = number.name();
                let words = format!("an index is not a number: `i :> {name}` is its code as one");
                converted(term, words, format!(" :> {name}"))
            }
            _ => plain.into(),
        })
    }

    /// Returns help for operands of two types, one of which converts explicitly to the other.
    fn one_type_help(&mut self, left: &Type, right: &Type) -> Option<String> {
        let declared = |ty: &Type| matches!(ty.kind(), TypeKind::Nominal(..));
        let (from, to) = if declared(right) { (left, right) } else { (right, left) };
        let converts = declared(to) && from != to && self.converts(from, to);
        converts.then(|| format!("`:> {to}` makes a `{to}` of the `{from}`"))
    }

    /// Converts a literal beside a declared type or a type parameter to that type, if possible. A
    /// declared function of the operator that accepts the literal as a number has precedence: `z **
    /// 2`.
    fn literal_operand(&mut self, op: BinaryOp, a: Term, b: Term) -> (Term, Term) {
        let literals = (self.infer.literal_of(&a.ty), self.infer.literal_of(&b.ty));
        if matches!(literals, (None, None) | (Some(_), Some(_))) || self.takes_number(op, &a, &b) {
            return (a, b);
        }
        let ty = if literals.0.is_some() { b.ty.clone() } else { a.ty.clone() };
        if literals.0.is_some() {
            (self.convert_literal(a, &ty).unwrap_or_else(|a| a), b)
        } else {
            (a, self.convert_literal(b, &ty).unwrap_or_else(|b| b))
        }
    }

    /// Returns true if a declared function of an operator accepts the operands with literals at
    /// their default types.
    fn takes_number(&mut self, op: BinaryOp, a: &Term, b: &Term) -> bool {
        let callables = self.env.callables(op.symbol()).map(<[_]>::to_vec).unwrap_or_default();
        callables.iter().filter(|callable| matches!(callable, Callable::Function(_))).any(|callable| {
            let scheme = self.header(callable);
            let mark = self.infer.mark();
            let instance = scheme.instantiate(&mut self.infer, &[]);
            let operands = Type::product(vec![a.ty.clone(), b.ty.clone()]);
            let operands = self.infer.zonk_with_defaults(&operands);
            let fits = self.infer.unify(&operands, &instance.domain).is_ok();
            self.infer.undo(mark);
            fits
        })
    }

    /// Converts two numbers of one family to the type that holds both.
    fn join(&mut self, a: Term, b: Term) -> (Term, Term) {
        let (left, right) = (self.infer.shallow(&a.ty), self.infer.shallow(&b.ty));
        let (Some(left), Some(right)) = (left.as_scalar(), right.as_scalar()) else { return (a, b) };
        if left == right || !left.is_number() || !right.is_number() {
            return (a, b);
        }
        let Some(joined) = left.join(right) else { return (a, b) };
        let widen = |term: Term, from: Scalar| {
            let span = term.span;
            if from == joined {
                return term;
            }
            Term::new(TermKind::Convert(Box::new(term)), Type::scalar(joined), span)
        };
        (widen(a, left), widen(b, right))
    }

    /// Returns general help for operands that an operator does not accept.
    fn operator_help(&mut self, left: &Type, right: Option<&Type>) -> Option<String> {
        let scalars = (left.as_scalar(), right.and_then(Type::as_scalar));
        match (scalars, right) {
            ((Some(Scalar::String), _), Some(_)) => Some("`.str` gives the other operand as text".into()),
            ((_, Some(Scalar::String)), _) => Some("`.str` gives the other operand as text".into()),
            ((Some(Scalar::Char), _), _) | ((_, Some(Scalar::Char)), _) => {
                Some("a character is no number: `:> int` gives its code point, `:> char` leads back".into())
            }
            ((Some(a), Some(b)), _) if a.is_integer() && b.is_float() || a.is_float() && b.is_integer() => {
                Some("integers and reals do not mix: convert one with `:> real` or `:> int`".into())
            }
            ((Some(a), Some(b)), _) if a.is_integer() && b.is_integer() => Some(format!(
                "no integer type holds both `{}` and `{}`: convert one with `:>`",
                a.name(),
                b.name()
            )),
            _ => match (left.kind(), right.map(Type::kind)) {
                (TypeKind::Function(..), Some(TypeKind::Function(..))) => Some(
                    "functions are no numbers: `fun (x) => f (g x)`, or `compose (f, g)`, applies one after the other, \
                     `fun (x) => f x + g x` adds what they give"
                        .into(),
                ),
                (TypeKind::Function(..) | TypeKind::Procedure(_), Some(_)) => Some(
                    "application binds tighter than operators: write `f (-x)` to apply a function".into(),
                ),
                (TypeKind::UnitSum(_), Some(TypeKind::Scalar(_)))
                | (TypeKind::Scalar(_), Some(TypeKind::UnitSum(_))) => {
                    Some("an index is not a number: `i :>> int` is its code".into())
                }
                _ => None,
            },
        }
    }

    /// Returns a comparison of two operands.
    fn compare(&mut self, op: BinaryOp, a: Term, b: Term, span: Span) -> Term {
        let [a, b] = match self.lift_operands([a, b], span, |this, [a, b]| this.compare(op, a, b, span)) {
            Ok(term) => return term,
            Err(operands) => operands,
        };
        let (a, b) = self.join(a, b);
        let (a, b) = self.literal_operand(op, a, b);
        let (left, right) = (self.infer.zonk(&a.ty), self.infer.zonk(&b.ty));
        if left.is_error() || right.is_error() {
            return Term::new(TermKind::Error, Type::bool(), span);
        }
        if !self.infer.try_unify(&left, &right) {
            return self.other_operator(op, a, b, span);
        }
        let ty = self.infer.zonk(&left);
        let core_op = core_comparison(op).expect("the operator is a comparison");
        if matches!(core_op, Op::Eq | Op::Ne) && is_spread_nominal(&ty) {
            return self.other_operator(op, a, b, span);
        }
        if ty.is_spread() && !is_spread_nominal(&ty) && !matches!(ty.kind(), TypeKind::Meta(_)) {
            return self.error_term(PlaceError::SpreadCompared { span, ty }, span);
        }
        if matches!(core_op, Op::Eq | Op::Ne) {
            if let Some(part) = self.opaque_part(&ty) {
                let ty = self.infer.display_type(&ty);
                return self.error_term(OperatorError::OpaqueCompare { span, ty, part }, span);
            }
        } else if !(matches!(ty.kind(), TypeKind::Scalar(_) | TypeKind::Meta(_))
            || ty.is_compact() && !self.orders(op, &ty))
        {
            let (symbol, operands) = (op.symbol(), vec![a, b]);
            if let Ok(call) = self.user_operator(symbol, operands, span) {
                return call;
            }
            let ty = self.infer.display_type(&ty);
            let unmet = self.unmet_requirement(symbol, &Type::product(vec![ty.clone(), ty.clone()]));
            let help = match ty.kind() {
                TypeKind::Array(..) | TypeKind::Product(_) | TypeKind::Rest(_) if unmet.is_some() => unmet,
                TypeKind::Array(..) | TypeKind::Product(_) => {
                    Some(format!("compare the elements: `[ a.i {} b.i for i in ..[I] ]`", op.symbol()))
                }
                _ => operator_advice(op.symbol(), &[&ty, &ty], None),
            };
            let (right, help) = (Some(ty.clone()), help.map(Help::from));
            let error = OperatorError::NoOperator { span, op: op.symbol(), left: ty, right, help };
            return self.error_term(error, span);
        }
        Term::new(TermKind::Op(core_op, vec![a, b]), Type::bool(), span)
    }

    /// Returns true if an enumeration has an order of its own, by an instance or a function.
    fn orders(&mut self, op: BinaryOp, ty: &Type) -> bool {
        if ty.as_enumeration().is_none() {
            return false;
        }
        let operands = Type::product(vec![ty.clone(), ty.clone()]);
        let callables = self.env.operators(op.symbol());
        callables.iter().any(|callable| match callable {
            Callable::Method(class, _) => {
                let instances = self.env.instances.get(class);
                instances.into_iter().flatten().any(|instance| instance.args.first() == Some(ty))
            }
            _ => {
                let scheme = self.header(callable);
                let mark = self.infer.mark();
                let instance = scheme.instantiate(&mut self.infer, &[]);
                let fits = self.infer.unify(&operands, &instance.domain).is_ok();
                self.infer.undo(mark);
                fits
            }
        })
    }

    /// Returns the statement that binds a term to a local, and the local.
    pub(in crate::check) fn materialize(&mut self, term: Term) -> (Stmt, Term) {
        let span = term.span;
        let local = self.new_local("operand", term.ty.clone());
        let bind = Pat { kind: PatKind::Bind(local), ty: term.ty.clone(), span };
        let variable = Term::new(TermKind::Local(local), term.ty.clone(), span);
        (Stmt { kind: StmtKind::Let(bind, term), span }, variable)
    }

    /// Returns the array whose element at `i` is the body; `prefix` precedes it.
    pub(in crate::check) fn pointwise(
        &mut self,
        prefix: Vec<Stmt>,
        index: &Type,
        span: Span,
        body: impl FnOnce(&mut Self, Term) -> Term,
    ) -> Term {
        let local = self.new_local("i", index.clone());
        let position = Term::new(TermKind::Local(local), index.clone(), span);
        let element = self.confined_term(Inside::Element, |this| body(this, position));
        let ty = Type::array(element.ty.clone(), index.clone());
        let build = TermKind::Build(vec![(local, index.clone())], Box::new(element));
        terms::with_prefix(prefix, Term::new(build, ty, span))
    }
}

/// Returns help for the negative of an index.
fn index_negated(ty: &Type) -> Option<String> {
    if !is_index(ty) {
        return None;
    }
    Some(match ty.is_bool() {
        true => "`not c` is the other truth value".to_string(),
        false => format!(
            "an index is not a number: `flip i` is as far from the end as `i` from the beginning, `cyclic[{ty}]` has \
             a negative modulo its size"
        ),
    })
}

/// Returns help that replaces `i + k.mod[N]` by `i.around k`, and `i - k.mod[N]` by `i.around
/// (-k)`.
fn steps_around(minus: bool, a: &Term, b: &Term, places: &Term) -> Help {
    let simple = matches!(a.kind, TermKind::Local(_) | TermKind::Global(_));
    let literal = match &places.kind {
        TermKind::Int(n) => Some(if minus { -n.clone() } else { n.clone() }),
        _ => None,
    };
    let gap = |from: Span, to: Span| Span { start: from.end, end: to.start, ..from };
    let mut edits = Vec::new();
    if !simple {
        edits.push((Span { end: a.span.start, ..a.span }, "(".to_string()));
    }
    let close = if simple { "" } else { ")" };
    let text = match &literal {
        Some(n) if n.is_negative() => format!("i.around ({n})"),
        Some(n) => format!("i.around {n}"),
        None if minus => "i.around (-k)".to_string(),
        None => "i.around k".to_string(),
    };
    match literal {
        Some(_) => {
            let end = Span { start: a.span.end, end: b.span.end, ..b.span };
            edits.push((end, format!("{close}{}", &text[1..])));
        }
        None => {
            let (open, end) = if minus { ("(-(", "))") } else { ("(", ")") };
            edits.push((gap(a.span, places.span), format!("{close}.around {open}")));
            let after = Span { start: places.span.end, end: b.span.end, ..b.span };
            edits.push((after, end.to_string()));
        }
    }
    Help { text: format!("an index is not a number: write `{text}`, which steps and wraps"), edits }
}

/// Returns help for a comparison of an array with one of its elements.
fn compared_elements(op: BinaryOp, left: &Type, right: &Type) -> Option<String> {
    core_comparison(op)?;
    let text = match (left.kind(), right.kind()) {
        (TypeKind::Array(..), TypeKind::Array(..)) => return None,
        (TypeKind::Array(..), _) => format!("fun (x) => x {} e", op.symbol()),
        (_, TypeKind::Array(..)) => format!("fun (x) => e {} x", op.symbol()),
        _ => return None,
    };
    Some(format!("a comparison gives one truth value: `map ({text}) a` compares each element of `a`"))
}

/// Returns help for an operand that may be missing (an option).
fn optional_operand(left: &Type, right: &Type) -> Option<String> {
    if left == right {
        return None;
    }
    let function = |ty: &Type| mismatch::missing_value(ty).map(|(_, function)| function);
    let (ty, function) = match (function(left), function(right)) {
        (a, b) if a == b => return None,
        // Of an option beside `1 + T`, the message names the option.
        (Some(a), b) if b.is_none() || a == "or_else" => (left, a),
        (_, b) => (right, b?),
    };
    Some(format!(
        "the `{ty}` may be empty: `{function} d` gives its value, or `d`; `match` tells the two apart"
    ))
}

/// Returns the comparison operation of core for an operator; `None` for other operators.
fn core_comparison(op: BinaryOp) -> Option<Op> {
    Some(match op {
        BinaryOp::Eq => Op::Eq,
        BinaryOp::Ne => Op::Ne,
        BinaryOp::Lt => Op::Lt,
        BinaryOp::Le => Op::Le,
        BinaryOp::Gt => Op::Gt,
        BinaryOp::Ge => Op::Ge,
        _ => return None,
    })
}
