//! Work at places: `at S { … }`, functions and operators applied to values at places, and moves.
//!
//! Takes expressions and terms; returns terms in which [`TermKind::At`] holds what some places do,
//! [`TermKind::Here`] reads what is there, and [`TermKind::Restrict`] gives up places. The rules:
//!
//! - Inside `at S` a value of `T @ R` with S inside R is a `T`. There is no `at` and no move.
//! - Outside, a pure function or operator on operands at places means `at S { … }`, where S are the
//!   places that they have in common ([`Checker::lift_operands`]). A function that takes values at
//!   places itself is called directly.
//! - A `T` is a `T @ S`, and a `T @ R` is a `T @ S` for S inside R, without being asked
//!   ([`Checker::restrict_places`]).
//! - Conditions outside of `at` are public, because their types have no `@`. So all parties execute
//!   the same statements, and the same moves, in the same order.

use crate::check::context::Checker;
use crate::check::elaborate::apply::Arg;
use crate::check::env::{Callable, Instance};
use crate::check::error::PlaceError;
use crate::check::expectation::Expectation;
use crate::check::resolve::candidates::{Candidate, LookupResult};
use crate::check::state::PlaceScope;
use crate::check::terms;
use crate::core::prim::{Effect, PrimClass};
use crate::core::{Pat, PatKind, Prim, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, Expr, ExprKind, PatternKind, TypeExpr};
use crate::syntax::unparse::print_type;
use crate::syntax::visit::Node;
use crate::types::{Kind, Type, TypeKind, TypeVar};
use num_bigint::BigUint;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Checker<'_> {
    /// Elaborates `at S { …; e }`.
    pub(in crate::check) fn at_places(
        &mut self,
        written: &TypeExpr,
        (stmts, value): (&[ast::Stmt], Option<&Expr>),
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        let places = self.lower_set_of_places(written);
        if places.is_error() {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if let Some(here) = &self.item.place_scope {
            let outer = Some(here.span);
            return self.error_term(PlaceError::Nested { span: written.span, outer }, span);
        }
        let hint = expected.ty.map(|ty| self.infer.zonk(ty));
        let hint = hint.as_ref().and_then(Type::as_placed).map(|(ty, _)| ty.clone());
        let here = PlaceScope { places, span: written.span, whole: span, lifted: false };
        self.elaborate_at(here, span, |this| {
            this.in_scope(|this| {
                let loops = std::mem::take(&mut this.frame().loops);
                let mut body = Vec::new();
                for stmt in stmts {
                    this.stmt(stmt, &mut body);
                }
                let value = match value {
                    Some(value) => {
                        let before = this.reports.len();
                        // A hole of the hint may be older than the sizes that are opened here.
                        let (value, mut openings) = this.with_opening_scope(|this| match &hint {
                            Some(ty) if !ty.is_exists() && !ty.has_meta() => this.check(value, ty, None),
                            _ => this.expr(value, hint.as_ref().into()),
                        });
                        body.append(&mut openings);
                        let places = print_type(written);
                        let how = format!("end the call with `;`, as in `at {places} {{ p x; }}`");
                        this.regroup_procedure(before, &how);
                        value
                    }
                    None => Term::unit(span),
                };
                this.frame().loops = loops;
                terms::with_prefix(body, value)
            })
        })
    }

    /// Elaborates work at places. Sizes that it has opened and that its value mentions are packed
    /// there and opened again outside, as sizes that are known at these places.
    fn elaborate_at(&mut self, here: PlaceScope, span: Span, f: impl FnOnce(&mut Self) -> Term) -> Term {
        let places = here.places.clone();
        let opened = self.frame().opened.len();
        self.item.place_scope = Some(here);
        let (value, openings) = self.with_opening_scope(f);
        self.item.place_scope = None;
        if value.ty.is_error() {
            return Term { span, ..value };
        }
        let ty = self.infer.zonk(&value.ty);
        if ty.is_spread() && !matches!(ty.kind(), TypeKind::Meta(_)) {
            return self.error_term(PlaceError::Nested { span, outer: None }, span);
        }
        let inside: Vec<TypeVar> = self.frame().opened[opened..].to_vec();
        let value = self.with_sizes_packed(Term { ty, ..value }, &inside);
        let body = terms::with_prefix(openings, value);
        let ty = Type::placed(body.ty.clone(), places.clone());
        let term = Term::new(TermKind::At(places, Box::new(body)), ty, span);
        self.open_existential(term)
    }

    /// Packs those of the size variables that the type of a value mentions.
    fn with_sizes_packed(&mut self, value: Term, vars: &[TypeVar]) -> Term {
        // The sizes are known inside the block that opens them.
        if let TermKind::Block(stmts, Some(inner)) = value.kind {
            let ty = self.infer.zonk(&inner.ty);
            let inner = self.with_sizes_packed(Term { ty, ..*inner }, vars);
            let ty = inner.ty.clone();
            return Term::new(TermKind::Block(stmts, Some(Box::new(inner))), ty, value.span);
        }
        let mut mentioned: Vec<TypeVar> = Vec::new();
        value.ty.for_each_var(&mut |var| {
            if vars.contains(var) && !mentioned.contains(var) {
                mentioned.push(var.clone());
            }
        });
        if mentioned.is_empty() {
            return value;
        }
        let (ty, span) = (Type::exists(&mentioned, &value.ty), value.span);
        let sizes = mentioned.into_iter().map(Type::var).collect();
        Term::new(TermKind::PackSizes(sizes, Box::new(value)), ty, span)
    }

    /// Returns, for a value that is placed at the places of the surrounding `at`, the value there;
    /// any other term as it is.
    pub(in crate::check) fn read_placed(&mut self, term: Term) -> Term {
        let Some(here) = &self.item.place_scope else { return term };
        let ty = self.infer.shallow(&term.ty);
        let Some((inner, places)) = ty.as_placed() else { return term };
        let (places, span) = (self.infer.zonk(places), term.span);
        if here.places.is_within_places(&places) || self.infer.try_unify(&here.places.clone(), &places) {
            let inner = inner.clone();
            return Term::new(TermKind::Here(Box::new(Term { ty, ..term })), inner, span);
        }
        let (here, at) = (here.places.clone(), here.span);
        let ty = self.infer.zonk_with_defaults(&ty);
        self.error_term(PlaceError::NotHere { span, ty, here, at }, span)
    }

    /// Applies `f` to operands of which some are at places, outside of `at`: it means work at the
    /// places that these have in common. Returns the operands, as the error, where none is.
    pub(in crate::check) fn lift_operands<const N: usize>(
        &mut self,
        operands: [Term; N],
        span: Span,
        f: impl FnOnce(&mut Self, [Term; N]) -> Term,
    ) -> Result<Term, [Term; N]> {
        fn array<const N: usize>(terms: Vec<Term>) -> [Term; N] {
            terms.try_into().unwrap_or_else(|_| unreachable!("as many operands as before"))
        }
        let work = self.lift_terms(operands.into(), span, |this, operands| f(this, array(operands)));
        work.map_err(array)
    }

    /// Does what [`Checker::lift_operands`] does, with any number of operands.
    pub(in crate::check) fn lift_terms(
        &mut self,
        operands: Vec<Term>,
        span: Span,
        f: impl FnOnce(&mut Self, Vec<Term>) -> Term,
    ) -> Result<Term, Vec<Term>> {
        let spread = |this: &mut Self, term: &Term| this.infer.shallow(&term.ty).is_spread();
        if !self.may_lift() || !operands.iter().any(|term| spread(self, term)) {
            return Err(operands);
        }
        let mut places: Option<Type> = None;
        for operand in &operands {
            self.resolve_deferred_call(&operand.ty);
            if !self.common_place(&mut places, &operand.ty.clone(), span) {
                return Ok(Term::new(TermKind::Error, Type::error(), span));
            }
        }
        let Some(places) = places else { return Err(operands) };
        let moves = operands.iter().any(|operand| self.moves_data(operand));
        let mut before = Vec::new();
        let operands: Vec<Term> =
            operands.into_iter().map(|operand| self.evaluated(operand, moves, &mut before)).collect();
        let here = PlaceScope { places, span, whole: span, lifted: true };
        let work = self.elaborate_at(here, span, |this| {
            let operands = operands.into_iter().map(|operand| this.read_placed_parts(operand)).collect();
            f(this, operands)
        });
        Ok(terms::with_prefix(before, work))
    }

    /// Returns true if a term moves data, or calls a procedure, where it is evaluated.
    fn moves_data(&self, term: &Term) -> bool {
        let own = match &term.kind {
            TermKind::Prim(prim, ..) => prim.effect() == Effect::Communication,
            TermKind::Call(head, _) => match &head.kind {
                TermKind::Closure { function, .. } => self.is_joint(&Callable::Function(*function)),
                TermKind::Method { class, method, .. } => self.is_joint(&Callable::Method(*class, *method)),
                _ => matches!(head.ty.kind(), TypeKind::Procedure(_)),
            },
            _ => false,
        };
        let mut found = own;
        if !found {
            term.for_each_child(&mut |child| found = found || self.moves_data(child));
        }
        found
    }

    /// Returns an operand of lifted work. If one of the operands moves data, all are evaluated
    /// before the work, by all parties and in order: `before` receives the statements that do so.
    fn evaluated(&mut self, operand: Term, moves: bool, before: &mut Vec<Stmt>) -> Term {
        if !moves || matches!(operand.kind, TermKind::Local(_) | TermKind::Global(_) | TermKind::Code(_)) {
            return operand;
        }
        match operand.kind {
            TermKind::Tuple(parts) => {
                let parts = parts.into_iter().map(|part| self.evaluated(part, moves, before)).collect();
                Term { kind: TermKind::Tuple(parts), ..operand }
            }
            TermKind::Int(_) | TermKind::Real(_) | TermKind::Str(_) | TermKind::Closure { .. } => operand,
            _ => {
                let (span, ty) = (operand.span, operand.ty.clone());
                let local = self.new_local("operand", ty.clone());
                let pat = Pat { kind: PatKind::Bind(local), ty, span };
                before.push(Stmt { kind: StmtKind::Let(pat, operand), span });
                self.local_term(local, span)
            }
        }
    }

    /// Adds the places of an operand's type to those that the operands have in common. Reports an
    /// error and returns false if there is none.
    fn common_place(&mut self, common: &mut Option<Type>, ty: &Type, span: Span) -> bool {
        let ty = self.infer.zonk(ty);
        let Some((_, places)) = ty.as_placed() else {
            let Some(parts) = spread_parts(&ty) else { return true };
            return parts.iter().all(|part| self.common_place(common, part, span));
        };
        let found = match common {
            None => Some(places.clone()),
            Some(known) => known.common_places(places),
        };
        if found.is_none() {
            let (first, second) = (common.clone().expect("two operands differ"), places.clone());
            self.report(PlaceError::Disjoint { span, first, second });
            return false;
        }
        *common = found;
        true
    }

    /// Reads an operand as [`Checker::read_placed`] does: of a tuple or a record, each component.
    fn read_placed_parts(&mut self, operand: Term) -> Term {
        let ty = self.infer.zonk(&operand.ty);
        if ty.as_placed().is_some() {
            return self.read_placed(Term { ty, ..operand });
        }
        let Some(parts) = spread_parts(&ty) else { return operand };
        let span = operand.span;
        let each: Vec<Term> = match operand.kind {
            TermKind::Tuple(terms) => terms,
            _ => {
                let whole = Box::new(operand);
                let part = |(at, ty): (usize, &Type)| {
                    let kind = TermKind::Component(whole.clone(), BigUint::from(at));
                    Term::new(kind, ty.clone(), span)
                };
                parts.iter().enumerate().map(part).collect()
            }
        };
        let each: Vec<Term> = each.into_iter().map(|part| self.read_placed_parts(part)).collect();
        let types: Vec<Type> = each.iter().map(|part| self.infer.zonk(&part.ty)).collect();
        let ty = match ty.kind() {
            TypeKind::Record(fields) => {
                Type::record(fields.iter().map(|(name, _)| name.clone()).zip(types).collect())
            }
            _ => Type::product(types),
        };
        Term::new(TermKind::Tuple(each), ty, span)
    }

    /// Reads an argument as [`Checker::read_placed`] does.
    fn read_placed_arg<'e>(&mut self, arg: Arg<'e>) -> Arg<'e> {
        match arg {
            Arg::Done(term) => Arg::Done(self.read_placed_parts(term)),
            Arg::Later(e, ty) => Arg::Later(e, ty),
            Arg::Tuple(parts, span) => {
                Arg::Tuple(parts.into_iter().map(|part| self.read_placed_arg(part)).collect(), span)
            }
        }
    }

    /// Calls a function on arguments of which some are at places, unless it takes such values
    /// itself. Returns the arguments, as the error, where it is called directly.
    pub(in crate::check) fn lift_call<'e>(
        &mut self,
        args: Vec<Arg<'e>>,
        direct: impl FnOnce(&mut Self, &Type) -> bool,
        span: Span,
        f: impl FnOnce(&mut Self, Vec<Arg<'e>>) -> Term,
    ) -> Result<Term, Vec<Arg<'e>>> {
        if !self.may_lift() {
            return Err(args);
        }
        let types: Vec<Type> = args.iter().map(|arg| self.infer.zonk(&arg.ty())).collect();
        let mut later = Vec::new();
        args.iter().for_each(|arg| arg.for_each_later(&mut |e| later.push(e)));
        let captured: Vec<Type> = later.into_iter().flat_map(|e| self.captured_places(e)).collect();
        let placed = |ty: &Type| ty.is_spread() && !matches!(ty.kind(), TypeKind::Meta(_));
        if !types.iter().any(placed) && captured.is_empty() {
            return Err(args);
        }
        if types.first().is_some_and(|first| direct(self, first)) {
            return Err(args);
        }
        let mut places = None;
        for ty in types.iter().chain(&captured) {
            if !self.common_place(&mut places, ty, span) {
                return Ok(Term::new(TermKind::Error, Type::error(), span));
            }
        }
        let Some(places) = places else { return Err(args) };
        let moves = args.iter().any(|arg| self.arg_moves_data(arg));
        let mut before = Vec::new();
        let args: Vec<Arg<'e>> =
            args.into_iter().map(|arg| self.evaluated_arg(arg, moves, &mut before)).collect();
        let here = PlaceScope { places, span, whole: span, lifted: true };
        let work = self.elaborate_at(here, span, |this| {
            let args = args.into_iter().map(|arg| this.read_placed_arg(arg)).collect();
            f(this, args)
        });
        Ok(terms::with_prefix(before, work))
    }

    /// Returns true if an argument moves data.
    fn arg_moves_data(&self, arg: &Arg<'_>) -> bool {
        match arg {
            Arg::Done(term) => self.moves_data(term),
            Arg::Later(..) => false,
            Arg::Tuple(parts, _) => parts.iter().any(|part| self.arg_moves_data(part)),
        }
    }

    /// Returns an argument of lifted work, as [`Checker::evaluated`] does an operand.
    fn evaluated_arg<'e>(&mut self, arg: Arg<'e>, moves: bool, before: &mut Vec<Stmt>) -> Arg<'e> {
        match arg {
            Arg::Done(term) => Arg::Done(self.evaluated(term, moves, before)),
            Arg::Later(e, ty) => Arg::Later(e, ty),
            Arg::Tuple(parts, span) => {
                let parts = parts.into_iter().map(|part| self.evaluated_arg(part, moves, before)).collect();
                Arg::Tuple(parts, span)
            }
        }
    }

    /// Elaborates an expression as work at the places that the variables in it have in common.
    /// Returns `None` if no variable in it is at places, or the work is at places already.
    pub(in crate::check) fn lift_expression(
        &mut self,
        e: &Expr,
        span: Span,
        f: impl FnOnce(&mut Self) -> Term,
    ) -> Option<Term> {
        if !self.may_lift() {
            return None;
        }
        let mut places = None;
        for ty in self.captured_places(e) {
            if !self.common_place(&mut places, &ty, span) {
                return Some(Term::new(TermKind::Error, Type::error(), span));
            }
        }
        let here = PlaceScope { places: places?, span, whole: span, lifted: true };
        Some(self.elaborate_at(here, span, f))
    }

    /// Returns a function that moves data and that an expression names.
    pub(in crate::check) fn first_move_in(&self, e: &Expr) -> Option<Arc<str>> {
        let joint = |name: &Arc<str>| self.env.candidates(name).iter().any(|one| self.is_joint(one));
        free_names(e).into_iter().find(joint)
    }

    /// Returns true if an expression names a function that moves data.
    pub(in crate::check) fn mentions_move(&self, e: &Expr) -> bool {
        self.first_move_in(e).is_some()
    }

    /// Returns true if operands at places would mean work at places here: there are places, and the
    /// expression is in no such work already.
    pub(in crate::check) fn may_lift(&self) -> bool {
        self.item.place_scope.is_none() && self.places_exist()
    }

    /// Applies `f` to a value at places and a type that is stated for it: it means work at these
    /// places, with the type that the value has there. Returns the value, as the error, where the
    /// statement is another one.
    pub(in crate::check) fn lift_with_type(
        &mut self,
        term: Term,
        to: &Type,
        span: Span,
        f: impl FnOnce(&mut Self, Term, &Type) -> Term,
    ) -> Result<Term, Term> {
        let there = match (term.ty.as_placed(), to.as_placed()) {
            (Some((_, own)), Some((ty, places))) if own == places => ty,
            (Some(_), None) if !to.is_spread() => to,
            _ => return Err(term),
        };
        self.lift_operands([term], span, |this, [term]| f(this, term, there)).map_err(|[term]| term)
    }

    /// Returns true if there are places: the program declares parties, or the function at hand is
    /// for any.
    pub(in crate::check) fn places_exist(&self) -> bool {
        let any = |var: &TypeVar| matches!(var.kind, Kind::Place | Kind::Places);
        self.program.party.is_some() || self.item.type_params.iter().any(any)
    }

    /// Returns the types of the variables at places that an expression mentions.
    pub(in crate::check) fn captured_places(&mut self, e: &Expr) -> Vec<Type> {
        let mut found = Vec::new();
        for name in free_names(e) {
            let ty = match self.lookup_variable(&name) {
                Some(ty) => self.infer.zonk(&ty),
                None => continue,
            };
            if ty.as_placed().is_some() {
                found.push(ty);
            }
        }
        found
    }

    /// Returns the type of a variable in scope, without a capture.
    fn lookup_variable(&mut self, name: &str) -> Option<Type> {
        for frame in self.item.frames.iter().rev() {
            if let Some(binding) = frame.scopes.iter().rev().find_map(|scope| scope.get(name)) {
                return Some(frame.locals[binding.local.index()].ty.clone());
            }
        }
        let (id, ..) = self.global(name)?;
        Some(self.program.globals[id.index()].ty.clone())
    }

    /// Returns true if a function takes values at places, or moves data.
    pub(in crate::check) fn has_places(&mut self, candidate: &Candidate) -> bool {
        let joint = matches!(candidate, Candidate::Top(callable) if self.is_joint(callable));
        joint || self.candidate_header(candidate).domain.is_spread()
    }

    /// Returns true if one of the functions of a name takes values at places as they are here.
    pub(in crate::check) fn accepts_placed(
        &mut self,
        found: &LookupResult,
        type_args: &[Type],
        argument: &Type,
    ) -> bool {
        let candidates: Vec<Candidate> = found.candidates().map(|(_, candidate)| candidate.clone()).collect();
        // What moves data is never carried out at some places alone.
        let joint = |candidate: &Candidate| match candidate {
            Candidate::Top(callable) => self.is_joint(callable),
            _ => false,
        };
        if !candidates.is_empty() && candidates.iter().all(joint) {
            return true;
        }
        candidates.iter().any(|candidate| {
            let scheme = self.candidate_header(candidate);
            if !scheme.domain.is_spread() {
                return false;
            }
            let mark = self.infer.mark();
            let count = type_args.len().min(scheme.params.len());
            let instance = scheme.instantiate(&mut self.infer, &type_args[..count]);
            let fits = self.infer.unify(argument, &instance.domain).is_ok()
                || self.may_restrict(argument, &instance.domain);
            self.infer.undo(mark);
            fits
        })
    }

    /// Returns true if a value of one type may be one of the other at fewer places.
    fn may_restrict(&mut self, found: &Type, expected: &Type) -> bool {
        let (found, expected) = (self.infer.zonk(found), self.infer.zonk(expected));
        match (found.components(64), expected.components(64)) {
            (Some(a), Some(b))
                if a.len() == b.len() && expected.is_spread() && expected.as_placed().is_none() =>
            {
                a.iter().zip(&b).all(|(a, b)| self.may_restrict(a, b))
            }
            _ => match (found.as_placed(), expected.as_placed()) {
                (Some((a, r)), Some((b, s))) => {
                    (s.is_within_places(r) || self.infer.unify(r, s).is_ok())
                        && self.infer.unify(a, b).is_ok()
                }
                (None, Some((b, _))) => !found.is_spread() && self.infer.unify(&found, b).is_ok(),
                _ => self.infer.unify(&found, &expected).is_ok(),
            },
        }
    }

    /// Returns a term at the wanted places: a public value, or one at more places. Returns the
    /// term, as the error, where that is not the matter.
    pub(in crate::check) fn restrict_places(&mut self, term: Term, ty: &Type) -> Result<Term, Term> {
        let wanted = self.infer.zonk(ty);
        let Some((_, places)) = wanted.as_placed() else { return Err(term) };
        if self.item.place_scope.is_some() {
            return Err(term);
        }
        let (found, span) = (self.infer.zonk(&term.ty), term.span);
        if found.is_error() {
            return Ok(term);
        }
        // The hole of a literal is public, and takes the wanted type.
        let literal = self.infer.literal_of(&found).is_some();
        let found = if literal { found } else { self.infer.zonk_with_defaults(&found) };
        let term = Term { ty: found.clone(), ..term };
        // A place that is not known yet is that of the value, even if their types differ.
        let known = found.as_placed().is_some_and(|(_, outer)| {
            places.has_meta() && !places.is_within_places(outer) && self.infer.try_unify(places, outer)
        });
        let wanted = if known { self.infer.zonk(&wanted) } else { wanted };
        let Some((inner, places)) = wanted.as_placed() else { return Err(term) };
        let (value, outer) = match found.as_placed() {
            None if found.is_spread() && !literal => return Err(term),
            None => {
                let value = self.coerce(term, inner, None);
                if value.ty.is_error() {
                    return Ok(value);
                }
                (value, None)
            }
            Some((_, outer)) if !places.is_within_places(outer) => {
                let error = PlaceError::OtherPlaces { span, found: found.clone(), expected: wanted.clone() };
                return Ok(self.error_term(error, span));
            }
            Some((own, outer)) if self.infer.try_unify(own, inner) => (term, Some(outer.clone())),
            Some((_, outer)) => {
                let here = PlaceScope { places: outer.clone(), span, whole: span, lifted: true };
                let inner = inner.clone();
                let value = self.elaborate_at(here, span, |this| {
                    let value = this.read_placed(term);
                    this.coerce(value, &inner, None)
                });
                (value, Some(outer.clone()))
            }
        };
        if outer.as_ref() == Some(places) {
            return Ok(value);
        }
        let ty = match value.ty.as_placed() {
            Some((ty, _)) => ty.clone(),
            None => self.infer.zonk(&value.ty),
        };
        let ty = Type::placed(ty, places.clone());
        Ok(Term::new(TermKind::Restrict(Box::new(value)), ty, span))
    }

    /// Returns false, after a report, for the type of a value at places where `what` is needed, the
    /// same for all parties.
    pub(in crate::check) fn is_public(&mut self, ty: &Type, what: &'static str, span: Span) -> bool {
        if ty.as_placed().is_none() {
            return true;
        }
        self.report(PlaceError::NotPublic { span, ty: ty.clone(), what: what.to_string() });
        false
    }

    /// Returns true if a function moves data between places.
    pub(in crate::check) fn is_joint(&self, callable: &Callable) -> bool {
        match callable {
            Callable::Function(id) => self.env.signatures.get(id).is_some_and(|signature| signature.joint),
            Callable::Prim(prim) => prim.class() == PrimClass::Communication,
            Callable::Method(class, method) => {
                self.env.classes.get(class).is_some_and(|class| class.methods[*method].joint)
            }
            _ => false,
        }
    }

    /// Checks the effects of a call beyond those of procedures: a move has its place among the
    /// statements of all parties, and files and the clock belong to a place.
    pub(in crate::check) fn effects_of_places(
        &mut self,
        callable: &Callable,
        name: &str,
        span: Span,
    ) -> bool {
        if self.is_joint(callable) {
            return self.may_move(name, span);
        }
        let files = self.is_valued_procedure_name(callable)
            || matches!(callable, Callable::Prim(prim) if prim.effect() == Effect::Files);
        if let (true, Some(party), None) = (files, &self.program.party, &self.item.place_scope) {
            let party = party.first_place().to_string();
            self.report(PlaceError::Effect { span, name: name.to_string(), party });
            return false;
        }
        true
    }

    /// Reports a move where none may stand.
    fn may_move(&mut self, name: &str, span: Span) -> bool {
        let name = name.to_string();
        let here = self.item.place_scope.clone();
        let error = if let Some(here) = here.as_ref().filter(|here| !here.lifted) {
            PlaceError::MoveInside { span, name, at: here.span }
        } else if self.frame().is_pure() && !self.frame().joint {
            let header = Some(self.frame().header);
            PlaceError::MoveInPure { span, name, header }
        } else if self.item.unordered > 0 {
            PlaceError::MoveInPure { span, name, header: None }
        } else if let Some(here) = here {
            PlaceError::MoveInLifted { span, name, places: here.places }
        } else {
            return true;
        };
        self.report(error);
        false
    }

    /// Returns the term of a move, or of a draw of common random words.
    pub(in crate::check) fn communication(
        &mut self,
        prim: Prim,
        instance: &Instance,
        arg: Term,
        ty: Type,
        span: Span,
    ) -> Term {
        let chosen = Callable::Prim(prim);
        let arg = Term { ty: self.infer.zonk_with_defaults(&arg.ty), ..arg };
        if prim == Prim::Join {
            let [union, first, second] = [0, 1, 2].map(|at| self.infer.zonk(&instance.args[at]));
            let joined = match (first.as_places(), second.as_places()) {
                (Some(a), Some(b)) if a.mask & b.mask == 0 => Type::places(a.party, a.mask | b.mask),
                _ => return self.error_term(PlaceError::Overlap { span, first, second }, span),
            };
            if !self.infer.try_unify(&union, &joined) {
                let (found, expected) = (joined, union);
                return self.error_term(PlaceError::OtherPlaces { span, found, expected }, span);
            }
        }
        let draws = matches!(prim, Prim::CommonWords | Prim::ZeroSums | Prim::ZeroBits | Prim::OwnWords);
        let moved = instance.args.last().filter(|_| !draws).map(|ty| self.infer.zonk_with_defaults(ty));
        let Some(moved) = moved else { return self.call_term(&chosen, instance, arg, ty, span, span) };
        if !self.require_movable(&moved, span) {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let mut sizes: Vec<TypeVar> = Vec::new();
        moved.for_each_var(&mut |var| {
            if self.places_of_size(var).is_some() && !sizes.contains(var) {
                sizes.push(var.clone());
            }
        });
        let from = match (prim, arg.ty.as_placed()) {
            (Prim::Send | Prim::Give | Prim::Reveal, Some((_, from))) if !sizes.is_empty() => from.clone(),
            _ if let Some(size) = sizes.first() => {
                let (name, size, places) = (prim.name().into(), size.name.to_string(), size.id);
                let places = self.program.placed_sizes[&places].clone();
                return self.error_term(PlaceError::SizeMoved { span, name, size, places }, span);
            }
            _ => return self.call_term(&chosen, instance, arg, ty, span, span),
        };
        // The sizes travel with the value, and are opened where it arrives.
        let here = Term::new(TermKind::Here(Box::new(arg)), moved, span);
        let packed = self.with_sizes_packed(here, &sizes);
        let (exists, placed) = (packed.ty.clone(), Type::placed(packed.ty.clone(), from.clone()));
        let packed = Term::new(TermKind::At(from.clone(), Box::new(packed)), placed, span);
        let (args, result) = match prim {
            Prim::Reveal => (vec![from, exists.clone()], exists),
            _ => {
                let to = self.infer.zonk_with_defaults(&instance.args[0]);
                (vec![to.clone(), from, exists.clone()], Type::placed(exists, to))
            }
        };
        Term::new(TermKind::Prim(prim, args, vec![packed]), result, span)
    }

    /// Returns the places that alone know a size; `None` if all parties do.
    fn places_of_size(&self, size: &TypeVar) -> Option<&Type> {
        let places = self.program.placed_sizes.get(&size.id)?;
        (!self.program.revealed_sizes.contains(&size.id)).then_some(places)
    }

    /// Returns the word and the size of `reveal N`, if N stands for a size and for no value.
    pub(in crate::check) fn size_to_reveal<'e>(
        &mut self,
        e: &'e Expr,
    ) -> Option<(&'e ast::Name, &'e ast::Name, TypeVar)> {
        let ExprKind::Apply { function, argument, .. } = &e.kind else { return None };
        let (ExprKind::Name(word), ExprKind::Name(size)) = (&function.kind, &argument.kind) else {
            return None;
        };
        if &*word.text != Prim::Reveal.name() || !self.places_exist() {
            return None;
        }
        let is_value = self.lookup_local(&size.text).is_some() || self.env.values.contains_key(&size.text);
        self.lookup_size(&size.text).filter(|_| !is_value).map(|var| (word, size, var))
    }

    /// Elaborates `reveal N;`: the size, opened once more as one that all parties know.
    pub(in crate::check) fn reveal_size(
        &mut self,
        (word, size, var): (&ast::Name, &ast::Name, TypeVar),
        span: Span,
        out: &mut Vec<Stmt>,
    ) {
        // A function may be called before the statement around it that tells the size.
        let told = self.program.revealed_sizes.iter().enumerate().any(|(at, told)| {
            *told == var.id && (at < self.revealed_before || at >= self.item.revealed_around)
        });
        let Some(places) = self.program.placed_sizes.get(&var.id).filter(|_| !told).cloned() else {
            self.report(PlaceError::SizePublic { span: size.span, name: size.text.to_string() });
            return;
        };
        if !self.may_move(&word.text, word.span) {
            return;
        }
        let index = Type::var(var.clone());
        let marks = Type::array(Type::unit(), index.clone());
        if places.kind_of() != Kind::Place {
            let found = Type::placed(marks, places);
            let place = self.infer.fresh(Kind::Place);
            let expected = Type::placed(found.clone(), place);
            self.report(PlaceError::OtherPlaces { span: size.span, found, expected });
            return;
        }
        let mark = self.new_local("mark", index.clone());
        let build = TermKind::Build(vec![(mark, index)], Box::new(Term::unit(span)));
        let packed =
            self.with_sizes_packed(Term::new(build, marks.clone(), span), std::slice::from_ref(&var));
        let exists = packed.ty.clone();
        let placed = Type::placed(exists.clone(), places.clone());
        let at = Term::new(TermKind::At(places.clone(), Box::new(packed)), placed, span);
        let value =
            Term::new(TermKind::Prim(Prim::Reveal, vec![places, exists.clone()], vec![at]), exists, span);
        let local = self.new_local("told", marks);
        self.program.revealed_sizes.push(var.id);
        out.push(Stmt { kind: StmtKind::Open { vars: vec![var], local, value }, span });
    }

    /// Reports data of a type that cannot be moved.
    fn require_movable(&mut self, ty: &Type, span: Span) -> bool {
        let ty = self.infer.zonk_with_defaults(ty);
        match self.program.unmovable_part(&ty) {
            Some(part) => {
                self.report(PlaceError::NotWire { span, ty, part, by: None });
                false
            }
            None => true,
        }
    }
}

/// Returns the types of the components of a tuple or record that is spread over places.
fn spread_parts(ty: &Type) -> Option<Vec<Type>> {
    match ty.kind() {
        TypeKind::Product(_) | TypeKind::Record(_) if ty.is_spread() => ty.components(0),
        _ => None,
    }
}

/// Returns the names that an expression mentions and does not bind.
fn free_names(e: &Expr) -> BTreeSet<Arc<str>> {
    fn walk(node: Node<'_>, used: &mut BTreeSet<Arc<str>>, bound: &mut BTreeSet<Arc<str>>) {
        match node {
            // All parties carry out a procedure: it says itself what is done where.
            Node::Expr(Expr { kind: ExprKind::Lambda(function), .. }) if function.is_proc => return,
            Node::Expr(Expr { kind: ExprKind::Name(name), .. }) => drop(used.insert(name.text.clone())),
            Node::Pattern(ast::Pattern { kind: PatternKind::Name(name), .. }) => {
                bound.insert(name.text.clone());
            }
            _ => {}
        }
        node.for_each_child(&mut |child| walk(child, used, bound));
    }
    let (mut used, mut bound) = (BTreeSet::new(), BTreeSet::new());
    walk(Node::Expr(e), &mut used, &mut bound);
    used.retain(|name| !bound.contains(name));
    used
}
