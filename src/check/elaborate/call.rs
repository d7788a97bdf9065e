//! Calls of a function that has been chosen: type arguments, effects, computed results.

use crate::check::context::Checker;
use crate::check::elaborate::apply::{Arg, is_unit_literal, needs_any};
use crate::check::elaborate::named::Known;
use crate::check::elaborate::overload::Choice;
use crate::check::env::{Callable, Instance, Scheme};
use crate::check::error::{CallError, StatementError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::resolve::candidates::{Candidate, Found, Variable};
use crate::check::{error, terms};
use crate::core::{Pat, PatKind, Prim, Stmt, StmtKind, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast::{self};
use crate::types::{Kind, Scalar, Type, TypeKind};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

impl Checker<'_> {
    /// Applies a function value to arguments, one after the other.
    pub(in crate::check) fn call_value(
        &mut self,
        function: Term,
        args: Vec<Arg>,
        at_statement: bool,
        span: Span,
    ) -> Term {
        self.call_known(function, args, None, at_statement, span)
    }

    /// The same, of a function whose parameters may be known by name.
    pub(in crate::check) fn call_known(
        &mut self,
        mut function: Term,
        args: Vec<Arg>,
        known: Option<&Known<'_>>,
        at_statement: bool,
        span: Span,
    ) -> Term {
        let count = args.len();
        for (i, arg) in args.into_iter().enumerate() {
            self.decide(&function.ty);
            let ty = self.infer.settle(&function.ty);
            let (domain, result) = match ty.kind() {
                TypeKind::Function(domain, result) => (domain.clone(), Some(result.clone())),
                TypeKind::Procedure(domain) => (domain.clone(), None),
                TypeKind::Meta(_) => {
                    let (domain, result) = (self.infer.fresh(Kind::Type), self.infer.fresh(Kind::Type));
                    let _ = self.infer.try_unify(&ty, &Type::function(domain.clone(), result.clone()));
                    (domain, Some(result))
                }
                TypeKind::Error => return function,
                _ => {
                    let argument = arg.span();
                    // `xs.len ()`, as if a function still had to be called.
                    let help = if matches!(&arg, Arg::Done(term) if is_unit_literal(term)) {
                        let text = "this is the value already: leave out `()`".to_string();
                        Some(Help { text, edits: vec![(argument, String::new())] })
                    } else if ty.as_scalar() == Some(Scalar::String) {
                        Some("texts are joined by `+`".into())
                    } else {
                        None
                    };
                    let error = CallError::NotAFunction { span: function.span, ty, argument, help };
                    return self.wrong(error, span);
                }
            };
            let group = known.and_then(|known| Some((known, known.groups.get(i)?)));
            let arg = match group.filter(|(_, group)| !group.is_empty()) {
                Some((known, group)) => self.finish_group(arg, group, &domain, known),
                None => self.finish_arg(arg, &domain, None),
            };
            let whole = function.span.to(arg.span);
            let ty = match result {
                Some(result) => result,
                None => {
                    let name = self.text_of(&function);
                    let contained = matches!(function.kind, TermKind::Local(local)
                        if self.frame().contained.contains(&local));
                    self.effect(&name, contained, at_statement && i + 1 == count, whole)
                }
            };
            let call = Term::new(TermKind::Call(Box::new(function), vec![arg]), ty, whole);
            function = self.open(call);
        }
        Term { span, ..function }
    }

    /// The name of a function in messages, if it has one.
    fn text_of(&self, function: &Term) -> String {
        match &function.kind {
            TermKind::Local(id) => {
                let frame = self.item.frames.last();
                frame.map_or_else(String::new, |f| f.locals[*id as usize].name.to_string())
            }
            TermKind::Global(id) => self.program.globals[*id as usize].name.to_string(),
            _ => String::new(),
        }
    }

    /// A procedure is called: allowed as a statement, outside pure functions, and in them if it
    /// changes nothing but their own variables. Gives the type that the call has.
    pub(in crate::check) fn effect(
        &mut self,
        name: &str,
        contained: bool,
        at_statement: bool,
        span: Span,
    ) -> Type {
        if self.frame().block.is_some() {
            self.report(StatementError::BlockEffect {
                span,
                what: format!("it cannot call the procedure `{name}`"),
            });
            return Type::error();
        }
        self.frame().outside |= !contained;
        if self.frame().pure() && !contained {
            let header = self.frame().header;
            self.report(CallError::ProcedureInFun { span, name: name.to_string(), header });
            return Type::error();
        }
        if !at_statement {
            self.report(CallError::ProcedureAsValue { span });
            return Type::error();
        }
        Type::unit()
    }

    /// A name with candidates, applied.
    pub(in crate::check) fn call_name(
        &mut self,
        name: &ast::Name,
        type_args: &[Type],
        mut args: Vec<Arg>,
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        self.note_scope(name.span);
        let found = self.find(&name.text);
        if found.tiers.is_empty() {
            return self.unknown(name);
        }
        // A statement that is one call says nothing more that could decide.
        let may_wait = !expected.statement && matches!(args.first(), Some(Arg::Done(_)));
        let first = args.remove(0);
        let variable = match self.choose(name, &found, type_args, &first, expected, may_wait) {
            Choice::Candidate(Candidate::Top(chosen)) => {
                return self.call_chosen(name, &chosen, type_args, (first, args), expected, span);
            }
            Choice::Candidate(Candidate::Local(depth, binding)) => Variable::Local(depth, binding),
            Choice::Variable(variable) => variable,
            Choice::Waits => {
                let own = first.ty();
                let first = self.finish_arg(first, &own, None);
                let term = self.wait(name, found, type_args, first, span);
                let term = if args.is_empty() { term } else { self.call_value(term, args, false, span) };
                return Term { span, ..term };
            }
            Choice::Nothing => return Term::new(TermKind::Error, Type::error(), span),
        };
        let function = self.variable_term(&variable, name);
        args.insert(0, first);
        let known = match &variable {
            Variable::Local(depth, binding) => {
                Some(self.known(name, &Candidate::Local(*depth, binding.clone()), &[]).after_first())
            }
            Variable::Global(_) => None,
        };
        self.call_known(function, args, known.as_ref(), expected.statement, span)
    }

    /// The call of the function that a name has been found to mean.
    #[allow(clippy::too_many_arguments)] // a call with its place, which the choice may have delayed
    pub(in crate::check) fn call_chosen(
        &mut self,
        name: &ast::Name,
        chosen: &Callable,
        type_args: &[Type],
        (first, args): (Arg, Vec<Arg>),
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        self.note_callable(name.span, chosen);
        let scheme = self.scheme(chosen, name.span);
        if let (Callable::Case(..), true) = (chosen, scheme.domain.is_unit()) {
            // A constant: what follows is applied to its value.
            let constant = self.constant_case(chosen, &scheme, type_args, name.span);
            if let TypeKind::Nominal(..) = self.infer.shallow(&constant.ty).kind() {
                let error = CallError::ConstructorArgument {
                    span: first.span(),
                    name: name.text.to_string(),
                    takes: false,
                    ty: None,
                };
                return self.wrong(error, span);
            }
        }
        let Some(mut instance) = self.instance(name, &scheme, type_args) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        if let Callable::Prim(prim) = chosen
            && prim.is_reader()
            && !self.reads(*prim, name, &mut instance, type_args, expected)
        {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if let Callable::Prim(prim) = chosen
            && prim.has_computed_result_type()
        {
            let target = match (type_args.first(), expected.ty) {
                (Some(target), _) if *prim == Prim::Move => Some(target.clone()),
                (None, Some(hint)) if args.is_empty() => {
                    Some(self.infer.zonk(hint)).filter(|ty| !ty.has_meta())
                }
                _ => None,
            };
            let own = first.ty();
            let arg = self.finish_arg(first, &own, None);
            let term = self.computed(*prim, name, target, arg, span);
            let term = if args.is_empty() { term } else { self.call_value(term, args, false, span) };
            return Term { span, ..term };
        }
        self.oblige_all(&instance.constraints, name.span, &name.text);
        let whole = name.span.to(first.span());
        let mut first = first;
        self.finish_done(&mut first, &instance.domain);
        // What the place wants, and what later arguments are, may tell what a function should be.
        let mut rest = instance.result.clone();
        for arg in &args {
            let Some(TypeKind::Function(d, r)) =
                rest.as_ref().map(|r| self.infer.shallow(r)).map(|r| r.kind().clone())
            else {
                rest = None;
                break;
            };
            let known = match arg {
                Arg::Done(term) => Some(term.ty.clone()),
                _ => None,
            };
            if let Some(ty) = known {
                let _ = self.infer.try_unify(&ty, &d);
            }
            rest = Some(r);
        }
        if let (Some(result), Some(hint)) = (&rest, expected.ty)
            && needs_any(&first, &args)
        {
            let _ = self.infer.try_unify(result, hint);
        }
        let because = self.takes(name, &scheme.domain, &first);
        let arg = self.finish_arg(first, &instance.domain, Some((name.span, because)));
        if let (TermKind::Error, false) = (&arg.kind, args.is_empty()) {
            // What the other arguments should be is not known any more.
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let ty = match &instance.result {
            Some(result) => result.clone(),
            None => {
                let contained = matches!(chosen, Callable::Function(id) if self.contained_here(*id));
                self.effect(&name.text, contained, expected.statement && args.is_empty(), whole)
            }
        };
        let term = self.call_term(chosen, &instance, arg, ty, name.span, whole);
        let term = self.open(term);
        if args.is_empty() {
            return Term { span, ..term };
        }
        let mut known = self.known(name, &Candidate::Top(chosen.clone()), &instance.args);
        known.groups.drain(..known.groups.len().min(1));
        let term = self.call_known(term, args, Some(&known), expected.statement, span);
        Term { span, ..term }
    }

    /// What a function takes, in words, beside an argument that may not fit.
    fn takes(&self, name: &ast::Name, domain: &Type, given: &Arg) -> String {
        let given = match given {
            Arg::Done(Term { kind: TermKind::Tuple(parts), .. }) => parts.len(),
            Arg::Tuple(parts, _) => parts.len(),
            _ => 1,
        };
        let wanted = match domain.kind() {
            TypeKind::Product(parts) => Some(parts.len()),
            TypeKind::Array(_, n) => n.as_unit_sum().and_then(|n| n.to_usize()),
            TypeKind::Scalar(_) => Some(1),
            _ => None,
        };
        match wanted {
            Some(wanted) if wanted != given && given > 0 => {
                let wanted = error::count(wanted, "value");
                format!("`{}` takes `{domain}`: {wanted}, not {given}", name.text)
            }
            _ => format!("`{}` takes `{domain}`", name.text),
        }
    }

    /// The scheme at these type arguments, or a report that they do not fit.
    pub(in crate::check) fn instance(
        &mut self,
        name: &ast::Name,
        scheme: &Scheme,
        type_args: &[Type],
    ) -> Option<Instance> {
        if type_args.len() > scheme.params.len() {
            self.report(TypeError::TypeArity {
                span: name.span,
                name: name.text.to_string(),
                expected: scheme.params.len(),
                found: type_args.len(),
            });
            return None;
        }
        for (param, ty) in scheme.params.iter().zip(type_args) {
            if !self.fits_kind(ty, param, name.span) {
                return None;
            }
        }
        Some(scheme.instantiate(&mut self.infer, type_args))
    }

    /// The call of one candidate.
    pub(in crate::check) fn call_term(
        &mut self,
        chosen: &Callable,
        instance: &Instance,
        arg: Term,
        ty: Type,
        name_span: Span,
        span: Span,
    ) -> Term {
        match chosen {
            Callable::Function(id) => {
                let closure = self.function_value(*id, &instance.args);
                let function = Term::new(closure, instance.ty(), name_span);
                let args = match arg.kind {
                    TermKind::Tuple(parts) if parts.len() > 1 => parts,
                    _ => vec![arg],
                };
                Term::new(TermKind::Call(Box::new(function), args), ty, span)
            }
            Callable::Method(class, method) => {
                let kind =
                    TermKind::Method { class: *class, method: *method, type_args: instance.args.clone() };
                let function = Term::new(kind, instance.ty(), name_span);
                let args = match arg.kind {
                    TermKind::Tuple(parts) if parts.len() > 1 => parts,
                    _ => vec![arg],
                };
                Term::new(TermKind::Call(Box::new(function), args), ty, span)
            }
            Callable::Prim(prim) => {
                let (_, arity) = self.prim_scheme(*prim);
                let type_args = instance.args.clone();
                self.with_parts(arg, arity, |parts| {
                    Term::new(TermKind::Prim(*prim, type_args, parts), ty, span)
                })
            }
            Callable::Case(_, case) => {
                Term::new(TermKind::Inject(BigUint::from(*case), Box::new(arg)), ty, span)
            }
            Callable::Struct(_) => match arg.kind {
                TermKind::Tuple(parts) => Term::new(TermKind::Tuple(parts), ty, span),
                _ => Term::new(TermKind::Reshape(Box::new(arg)), ty, span),
            },
        }
    }

    /// The components of an argument as terms of their own, evaluated once.
    fn with_parts(&mut self, arg: Term, arity: usize, make: impl FnOnce(Vec<Term>) -> Term) -> Term {
        match arg.kind {
            TermKind::Tuple(parts) if arity > 1 && parts.len() == arity => make(parts),
            _ if arity == 1 => make(vec![arg]),
            _ => {
                let span = arg.span;
                let ty = self.infer.zonk(&arg.ty);
                let Some(components) = ty.components(arity) else {
                    return Term::new(TermKind::Error, Type::error(), span);
                };
                let local = self.new_local("argument", ty.clone());
                let bind = Pat { kind: PatKind::Bind(local), ty, span };
                let parts = components
                    .into_iter()
                    .enumerate()
                    .map(|(i, ty)| {
                        let whole = Box::new(self.local_term(local, span));
                        Term::new(TermKind::Component(whole, BigUint::from(i)), ty, span)
                    })
                    .collect();
                terms::with_prefix(vec![Stmt { kind: StmtKind::Let(bind, arg), span }], make(parts))
            }
        }
    }

    fn constant_case(&mut self, chosen: &Callable, scheme: &Scheme, given: &[Type], span: Span) -> Term {
        let instance = scheme.instantiate(&mut self.infer, given);
        let ty = instance.result.unwrap_or_else(Type::error);
        let Callable::Case(_, case) = chosen else { return Term::new(TermKind::Error, ty, span) };
        Term::new(TermKind::Inject(BigUint::from(*case), Box::new(Term::unit(span))), ty, span)
    }

    /// A name of functions where a value is wanted: a constant, or a function value. Of several
    /// functions the nearest scope decides that has one of the wanted type.
    pub(in crate::check) fn callable_value(
        &mut self,
        name: &ast::Name,
        found: &Found,
        type_args: &[Type],
        expected: Expectation<'_>,
    ) -> Term {
        let span = name.span;
        let wanted = expected.ty.map(|h| self.infer.zonk(h));
        let several = found.candidates().nth(1).is_some() || found.variable.is_some();
        let mut fitting = Vec::new();
        for tier in &found.tiers {
            fitting = self.fitting(&tier.candidates, type_args, wanted.as_ref().filter(|_| several), span);
            if let (true, Some(hint)) = (fitting.len() > 1, &wanted)
                && hint.has_meta()
            {
                // Literals take their default where that decides.
                let settled = self.infer.settle(hint);
                let by_default = self.fitting(&tier.candidates, type_args, Some(&settled), span);
                fitting = if by_default.is_empty() { fitting } else { by_default };
            }
            if !fitting.is_empty() {
                break;
            }
        }
        if fitting.len() > 1
            && let Some(TypeKind::Function(domain, _) | TypeKind::Procedure(domain)) =
                wanted.as_ref().map(Type::kind)
            && !self.infer.zonk(domain).has_meta()
        {
            fitting = self.most_specific(&fitting);
        }
        let chosen = match (&fitting[..], &found.variable, found.candidates().next()) {
            ([only], ..) => only.clone(),
            ([], Some(variable), _) => return self.variable_term(variable, name),
            ([], None, Some((_, nearest))) => nearest.clone(),
            ([], None, None) => return self.unknown(name),
            _ => {
                self.ambiguous(name, found, &fitting);
                return Term::new(TermKind::Error, Type::error(), span);
            }
        };
        let chosen = match chosen {
            Candidate::Top(chosen) => chosen,
            Candidate::Local(depth, binding) => {
                return self.variable_term(&Variable::Local(depth, binding), name);
            }
        };
        self.note_callable(span, &chosen);
        if matches!(chosen, Callable::Prim(prim) if prim.is_reader()) {
            let error = CallError::ReaderInFun { span, name: name.text.to_string(), header: None };
            return self.wrong(error, span);
        }
        if let Callable::Prim(prim) = chosen
            && prim.has_computed_result_type()
        {
            return self.computed_value(prim, name, type_args, wanted.as_ref(), span);
        }
        let scheme = self.scheme(&chosen, span);
        if matches!(chosen, Callable::Case(..)) && scheme.domain.is_unit() {
            return self.constant_case(&chosen, &scheme, type_args, span);
        }
        let Some(instance) = self.instance(name, &scheme, type_args) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        self.oblige_all(&instance.constraints, span, &name.text);
        let ty = instance.ty();
        let known = match chosen {
            Callable::Function(function) => Some(self.function_value(function, &instance.args)),
            Callable::Method(class, method) => {
                Some(TermKind::Method { class, method, type_args: instance.args.clone() })
            }
            _ => None,
        };
        if let Some(kind) = known {
            return Term::new(kind, ty, span);
        }
        let result = instance.result.clone();
        let domain = instance.domain.clone();
        let term = self.synthesize(domain.clone(), span, |this, x| {
            let ty = instance.result.clone().unwrap_or_else(Type::unit);
            this.call_term(&chosen, &instance, x, ty, span, span)
        });
        match result {
            Some(_) => term,
            None => Term { ty: Type::procedure(domain), ..term },
        }
    }
}
