//! Calls of a chosen function: type arguments, effects, computed results.
//!
//! Takes the function that [`crate::check::elaborate::overload`] has chosen, or a function value,
//! with its prepared arguments; returns the term of the call with its constraints recorded. Also
//! elaborates a function's name as a value ([`Checker::callable_value`]).

use crate::check::context::Checker;
use crate::check::elaborate::apply::{Arg, any_needs_hint, is_unit_literal};
use crate::check::elaborate::named::KnownParameters;
use crate::check::elaborate::overload::Choice;
use crate::check::env::{Callable, Instance, Scheme};
use crate::check::error::{CallError, PlaceError, StatementError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::resolve::candidates::{Candidate, LookupResult, Variable, prim_scheme};
use crate::check::solve::axes::is_undetermined;
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

    /// Calls a function value where it or an argument is at places, and it takes no such values
    /// itself. Returns both, as the error, where it is called directly.
    fn lift_value_call<'e>(
        &mut self,
        function: Term,
        args: Vec<Arg<'e>>,
        known: Option<&KnownParameters<'_>>,
        span: Span,
    ) -> Result<Term, (Term, Vec<Arg<'e>>)> {
        if !self.may_lift() {
            return Err((function, args));
        }
        let takes_places = match self.infer.zonk_with_defaults(&function.ty).kind() {
            TypeKind::Function(domain, _) | TypeKind::Procedure(domain) => domain.is_spread(),
            _ => false,
        };
        // The function is an operand of the work as its arguments are.
        let split = |mut all: Vec<Arg<'e>>| match all.remove(0) {
            Arg::Done(function) => (function, all),
            _ => unreachable!("a function is elaborated before its call"),
        };
        let all = std::iter::once(Arg::Done(function)).chain(args).collect();
        let call = |this: &mut Self, all: Vec<Arg<'e>>| {
            let (function, args) = split(all);
            this.call_known(function, args, known, false, span)
        };
        self.lift_call(all, |_, _| takes_places, span, call).map_err(split)
    }

    /// Applies a function as [`Checker::call_value`] does. The parameters of the function may be
    /// known by name.
    pub(in crate::check) fn call_known(
        &mut self,
        mut function: Term,
        args: Vec<Arg>,
        known: Option<&KnownParameters<'_>>,
        at_statement: bool,
        span: Span,
    ) -> Term {
        let args = match self.lift_value_call(function, args, known, span) {
            Ok(term) => return term,
            Err((own, args)) => {
                function = own;
                args
            }
        };
        let count = args.len();
        for (i, arg) in args.into_iter().enumerate() {
            self.resolve_deferred_call(&function.ty);
            let ty = self.infer.zonk_with_defaults(&function.ty);
            let (domain, result) = match ty.kind() {
                TypeKind::Function(domain, result) => (domain.clone(), Some(result.clone())),
                TypeKind::Procedure(domain) => (domain.clone(), None),
                TypeKind::Meta(_) => {
                    let (domain, result) = (self.infer.fresh(Kind::Spread), self.infer.fresh(Kind::Spread));
                    let _ = self.infer.try_unify(&ty, &Type::function(domain.clone(), result.clone()));
                    (domain, Some(result))
                }
                TypeKind::Error => return function,
                _ => {
                    let argument = arg.span();
                    // The program writes `xs.len ()`, as if a function remained to be called.
                    let help = if matches!(&arg, Arg::Done(term) if is_unit_literal(term)) {
                        let text = "this is the value already: leave out `()`".to_string();
                        Some(Help { text, edits: vec![(argument, String::new())] })
                    } else if ty.as_scalar() == Some(Scalar::String) {
                        Some("texts are joined by `+`".into())
                    } else {
                        None
                    };
                    let error = CallError::NotAFunction { span: function.span, ty, argument, help };
                    return self.error_term(error, span);
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
                    self.check_call_effect(&name, contained, at_statement && i + 1 == count, whole)
                }
            };
            let call = Term::new(TermKind::Call(Box::new(function), vec![arg]), ty, whole);
            function = self.open_existential(call);
        }
        Term { span, ..function }
    }

    /// Returns the name of a function for messages; empty if it has none.
    fn text_of(&self, function: &Term) -> String {
        match &function.kind {
            TermKind::Local(id) => {
                let frame = self.item.frames.last();
                frame.map_or_else(String::new, |f| f.locals[id.index()].name.to_string())
            }
            TermKind::Global(id) => self.program.globals[id.index()].name.to_string(),
            _ => String::new(),
        }
    }

    /// Checks the effect of a procedure call. The call must be a statement. In a pure function it
    /// is allowed only if it changes nothing but variables of that function (`contained`). Returns
    /// the type of the call: unit, or the error type after a report.
    pub(in crate::check) fn check_call_effect(
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
        if let Some(here) = self.item.place_scope.clone().filter(|here| here.lifted) {
            let name = name.to_string();
            self.report(PlaceError::ProcedureOfPlaced { span, name, places: here.places });
            return Type::error();
        }
        self.frame().outside |= !contained;
        if self.frame().is_pure() && !contained {
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

    /// Returns true for the name of a procedure with a result.
    pub(in crate::check) fn is_valued_procedure_name(&self, callable: &Callable) -> bool {
        match callable {
            Callable::Function(id) => {
                self.env.signatures.get(id).is_some_and(|signature| signature.procedure)
            }
            _ => false,
        }
    }

    /// Elaborates the application of a name that has candidates.
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
            return self.report_unknown_name(name);
        }
        let inner = expected.ty.filter(|_| self.may_lift()).map(|ty| self.infer.zonk(ty));
        let inner = inner.as_ref().and_then(Type::as_placed).map(|(ty, _)| ty.clone());
        let call = self.lift_call(
            args,
            |this, first| this.accepts_placed(&found, type_args, first),
            span,
            |this, args| this.call_name(name, type_args, args, inner.as_ref().into(), span),
        );
        args = match call {
            Ok(term) => return term,
            Err(args) => args,
        };
        // The context of a call that is a whole statement never determines more, so the choice
        // cannot wait.
        let may_defer = !expected.statement && matches!(args.first(), Some(Arg::Done(_)));
        let first = args.remove(0);
        let variable = match self.choose(name, &found, type_args, &first, expected, may_defer) {
            Choice::Candidate(Candidate::Top(chosen)) => {
                return self.call_chosen(name, &chosen, type_args, (first, args), expected, span);
            }
            Choice::Candidate(Candidate::Local(depth, binding)) => Variable::Local(depth, binding),
            Choice::Variable(variable) => variable,
            Choice::Deferred => {
                let own = first.ty();
                let first = self.finish_arg(first, &own, None);
                let term = self.defer_call(name, found, type_args, first, span);
                let term = if args.is_empty() { term } else { self.call_value(term, args, false, span) };
                return Term { span, ..term };
            }
            Choice::Nothing => return Term::new(TermKind::Error, Type::error(), span),
        };
        let function = self.variable_term(&variable, name);
        args.insert(0, first);
        let known = match &variable {
            Variable::Local(depth, binding) => Some(
                self.parameter_groups(name, &Candidate::Local(*depth, binding.clone()), &[]).after_first(),
            ),
            Variable::Global(_) => None,
        };
        self.call_known(function, args, known.as_ref(), expected.statement, span)
    }

    /// Elaborates the call of the function that a name has been resolved to.
    #[allow(clippy::too_many_arguments)] // a call with its place, which the choice may have delayed
    pub(in crate::check) fn call_chosen(
        &mut self,
        name: &ast::Name,
        chosen: &Callable,
        type_args: &[Type],
        (first, mut args): (Arg, Vec<Arg>),
        expected: Expectation<'_>,
        span: Span,
    ) -> Term {
        self.note_callable(name.span, chosen);
        let errors = self.errors();
        if !self.effects_of_places(chosen, &name.text, name.span) {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let scheme = self.scheme(chosen, name.span);
        if let (Callable::Case(..), true) = (chosen, scheme.domain.is_unit()) {
            // The case is a constant, so the arguments are applied to its value.
            let constant = self.constant_case(chosen, &scheme, type_args, name.span);
            if let TypeKind::Nominal(..) = self.infer.shallow(&constant.ty).kind() {
                let error = CallError::ConstructorArgument {
                    span: first.span(),
                    name: name.text.to_string(),
                    takes: false,
                    ty: None,
                };
                return self.error_term(error, span);
            }
        }
        let Some(mut instance) = self.instantiate_scheme(name, &scheme, type_args) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        if let Callable::Prim(prim) = chosen
            && prim.is_effectful_function()
            && !self.instantiate_reader(*prim, name, &mut instance, type_args, expected)
        {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if self.is_valued_procedure_name(chosen)
            && self.check_call_effect(&name.text, false, true, span).is_error()
        {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if let Callable::Prim(prim) = chosen
            && prim.has_computed_result_type()
        {
            let target = match (type_args.first(), expected.ty) {
                (Some(target), _) if prim.has_stated_target() => Some(target.clone()),
                (None, Some(hint)) if args.is_empty() => {
                    Some(self.infer.zonk(hint)).filter(|ty| !ty.has_meta())
                }
                _ => None,
            };
            let own = first.ty();
            let arg = self.finish_arg(first, &own, None);
            if *prim == Prim::Like && !args.is_empty() {
                let next = args.remove(0);
                let own = next.ty();
                let next = self.finish_arg(next, &own, None);
                self.resolve_deferred_call(&next.ty);
                let ty = self.infer.zonk_with_defaults(&next.ty);
                let term = self.like(&arg, Term { ty, ..next }, span);
                let term = if args.is_empty() { term } else { self.call_value(term, args, false, span) };
                return Term { span, ..term };
            }
            let term = self.computed_call(*prim, name, target, arg, span);
            let term = if args.is_empty() { term } else { self.call_value(term, args, false, span) };
            return Term { span, ..term };
        }
        self.add_obligations(&instance.constraints, name.span, &name.text);
        let whole = name.span.to(first.span());
        let mut first = first;
        let given: Vec<Type> = std::iter::once(&first).chain(&args).map(Arg::ty).collect();
        self.unify_elaborated_parts(&mut first, &instance.domain);
        // The expected result and the types of later arguments may determine the type of a function
        // argument that waits.
        let mut rest = instance.result.clone();
        for (at, arg) in args.iter_mut().enumerate() {
            let Some(TypeKind::Function(d, r)) =
                rest.as_ref().map(|r| self.infer.shallow(r)).map(|r| r.kind().clone())
            else {
                rest = None;
                break;
            };
            if let Arg::Done(term) = arg
                && !self.infer.try_unify(&term.ty, &d)
                && d.has_spliced()
            {
                let takes = scheme.result.as_ref().and_then(|result| domain_after(result, at));
                let takes = takes.unwrap_or_else(|| d.clone());
                let because = Some((name.span, format!("`{}` then takes `{takes}`", name.text)));
                self.offset_as_width(&first, &instance.domain);
                let term = self.coerce(term.clone(), &d, because);
                if term.ty.is_error() {
                    return Term::new(TermKind::Error, Type::error(), span);
                }
                *arg = Arg::Done(term);
            }
            rest = Some(r);
        }
        if let (Some(result), Some(hint)) = (&rest, expected.ty)
            && any_needs_hint(&first, &args)
        {
            let _ = self.infer.try_unify(result, hint);
        }
        if !args.is_empty() && self.awaits_axis(&first, &instance) {
            return self.undetermined_axis(name, &scheme, (type_args, &given), span);
        }
        let because = self.takes(name, &scheme.domain, &first);
        let arg = self.finish_arg(first, &instance.domain, Some((name.span, because)));
        if let (TermKind::Error, false) = (&arg.kind, args.is_empty()) {
            // The expected types of the other arguments are unknown after an error.
            return Term::new(TermKind::Error, Type::error(), span);
        }
        let ty = match &instance.result {
            Some(result) => result.clone(),
            None => {
                let contained = matches!(chosen, Callable::Function(id) if self.is_contained_call(*id));
                self.check_call_effect(&name.text, contained, expected.statement && args.is_empty(), whole)
            }
        };
        let term = match chosen {
            Callable::Prim(prim) if self.is_joint(chosen) => {
                self.communication(*prim, &instance, arg, ty, whole)
            }
            _ => self.call_term(chosen, &instance, arg, ty, name.span, whole),
        };
        let term = self.open_existential(term);
        let result = instance.result.as_ref().and_then(|result| codomain(result, args.len()));
        let term = if args.is_empty() {
            term
        } else {
            let mut known = self.parameter_groups(name, &Candidate::Top(chosen.clone()), &instance.args);
            known.groups.drain(..known.groups.len().min(1));
            self.call_known(term, args, Some(&known), expected.statement, span)
        };
        let term = Term { span, ..term };
        let whole = instance.ty();
        if whole.has_spliced()
            && self.errors() == errors
            && is_undetermined(&self.infer.zonk_with_defaults(&whole))
        {
            return self.undetermined_axis(name, &scheme, (type_args, &given), span);
        }
        match result {
            Some(result) if result.has_spliced() => self.without_empty_products(term, &result),
            _ => term,
        }
    }

    /// Returns the value of a call at its type without empty products: the result type as declared
    /// is `result`, and an array over lists of axes that are all empty is its element.
    fn without_empty_products(&mut self, term: Term, result: &Type) -> Term {
        let ty = self.infer.zonk_with_defaults(&term.ty);
        let plain = self.infer.without_empty_products(result);
        match plain == ty {
            true => term,
            false => {
                let span = term.span;
                Term::new(TermKind::Reshape(Box::new(Term { ty, ..term })), plain, span)
            }
        }
    }

    /// Returns the parameter type of a function in words, for the message about an argument that
    /// may not fit.
    fn takes(&self, name: &ast::Name, domain: &Type, given: &Arg) -> String {
        let given = match given {
            Arg::Done(Term { kind: TermKind::Tuple(parts), .. }) => parts.len(),
            Arg::Tuple(parts, _) => parts.len(),
            // One value that has several: its type says more than their number.
            Arg::Done(whole)
                if matches!(
                    self.infer.zonk(&whole.ty).kind(),
                    TypeKind::Array(..) | TypeKind::Product(_)
                ) =>
            {
                0
            }
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

    /// Instantiates a scheme at these type arguments. Returns `None` after reporting that they do
    /// not fit its parameters.
    pub(in crate::check) fn instantiate_scheme(
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
            if !self.check_kind(ty, param, name.span) {
                return None;
            }
        }
        Some(scheme.instantiate(&mut self.infer, type_args))
    }

    /// Returns the call of one callable at an instance of its scheme.
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
                let (_, arity) = prim_scheme(*prim);
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

    /// Passes the components of an argument to `make` as separate terms; the argument is evaluated
    /// once.
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

    /// Returns the value of a case without argument.
    fn constant_case(&mut self, chosen: &Callable, scheme: &Scheme, given: &[Type], span: Span) -> Term {
        let instance = scheme.instantiate(&mut self.infer, given);
        let ty = instance.result.expect("a case has a result");
        let Callable::Case(_, case) = chosen else { unreachable!("no case: {chosen:?}") };
        Term::new(TermKind::Inject(BigUint::from(*case), Box::new(Term::unit(span))), ty, span)
    }

    /// Elaborates a name of functions where a value is expected: a constant, or a function value.
    /// Of several functions, the nearest scope that has a function of the expected type decides.
    pub(in crate::check) fn callable_value(
        &mut self,
        name: &ast::Name,
        found: &LookupResult,
        type_args: &[Type],
        expected: Expectation<'_>,
    ) -> Term {
        let span = name.span;
        let wanted = expected.ty.map(|h| self.infer.zonk(h));
        let several = found.candidates().nth(1).is_some() || found.variable.is_some();
        let mut fitting = Vec::new();
        for tier in &found.tiers {
            fitting = self.candidates_of_type(
                &tier.candidates,
                type_args,
                wanted.as_ref().filter(|_| several),
                span,
            );
            if let (true, Some(hint)) = (fitting.len() > 1, &wanted)
                && hint.has_meta()
            {
                // Literals take their default types if that makes a candidate fit.
                let settled = self.infer.zonk_with_defaults(hint);
                let by_default = self.candidates_of_type(&tier.candidates, type_args, Some(&settled), span);
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
            ([], None, None) => return self.report_unknown_name(name),
            _ => {
                self.report_ambiguous(name, found, &fitting);
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
        if self.is_joint(&chosen) {
            return self.error_term(PlaceError::JointValue { span, name: name.text.to_string() }, span);
        }
        if self.is_valued_procedure_name(&chosen)
            || matches!(chosen, Callable::Prim(prim) if prim.is_effectful_function())
        {
            let error = CallError::ReaderInFun { span, name: name.text.to_string(), header: None };
            return self.error_term(error, span);
        }
        if let Callable::Prim(prim) = chosen
            && prim.has_computed_result_type()
        {
            return self.computed_function_value(prim, name, type_args, wanted.as_ref(), span);
        }
        let scheme = self.scheme(&chosen, span);
        if matches!(chosen, Callable::Case(..)) && scheme.domain.is_unit() {
            return self.constant_case(&chosen, &scheme, type_args, span);
        }
        let Some(instance) = self.instantiate_scheme(name, &scheme, type_args) else {
            return Term::new(TermKind::Error, Type::error(), span);
        };
        self.add_obligations(&instance.constraints, span, &name.text);
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

/// Returns the type of a function's value after this number of further arguments.
fn codomain(ty: &Type, arguments: usize) -> Option<Type> {
    match (arguments, ty.kind()) {
        (0, _) => Some(ty.clone()),
        (_, TypeKind::Function(_, result)) => codomain(result, arguments - 1),
        _ => None,
    }
}

/// Returns the parameter type of a function's value after this number of further arguments.
pub(in crate::check) fn domain_after(ty: &Type, arguments: usize) -> Option<Type> {
    match codomain(ty, arguments)?.kind() {
        TypeKind::Function(domain, _) => Some(domain.clone()),
        _ => None,
    }
}
