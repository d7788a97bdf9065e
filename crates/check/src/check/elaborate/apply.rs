//! Application: calls in all their forms.
//!
//! Takes an application (`f a b`, `f$ a`, `a |> f`, `a.f`) and the expectation of its place;
//! returns the term of the call. It never chooses among overloads itself:
//! [`crate::check::elaborate::overload`] does.
//!
//! An application is flattened to a head and its list of arguments (its spine). Arguments are
//! elaborated once, before an overload is chosen. The exceptions are arguments whose types only the
//! parameter determines (functions with untyped parameters, `case n e`): they are elaborated after
//! the choice.

use crate::check::context::Checker;
use crate::check::elaborate::named::KnownParameters;
use crate::check::env::{Callable, Scheme};
use crate::check::error::{CallError, CheckError};
use crate::check::expectation::Expectation;
use crate::check::resolve::candidates::Candidate;
use crate::check::solve::infer::Infer;
use crate::check::terms::key_name;
use crate::check::{error, foreign_names};
use crate::core::{Term, TermKind};
use crate::source::Span;
use crate::syntax::ast::{self, ApplyForm, Expr, ExprKind, Name};
use crate::types::{Kind, Scalar, Type, TypeKind};

/// An argument during the elaboration of a call.
pub(in crate::check) enum Arg<'e> {
    /// An elaborated argument.
    Done(Term),
    /// An argument that waits for the parameter's type; the type is the known part of its own type.
    Later(&'e Expr, Type),
    /// A tuple some components of which wait.
    Tuple(Vec<Arg<'e>>, Span),
}

/// Returns true if the type of an expression can be determined only by its context.
pub(in crate::check) fn needs_hint(e: &Expr) -> bool {
    match &e.kind {
        ExprKind::Lambda(function) => function
            .params
            .iter()
            .flatten()
            .any(|p| p.ty.is_none() && !matches!(p.pattern.kind, ast::PatternKind::Typed(..))),
        ExprKind::Inject { .. } => true,
        ExprKind::Array(elements) => elements.is_empty() || elements.iter().any(needs_hint),
        ExprKind::Tuple(parts) => parts.iter().any(needs_hint),
        _ => false,
    }
}

/// Returns true if the expression contains a `case n e` whose type a surrounding call may
/// determine. `calls` is the number of nested calls that may still be entered.
fn holds_case(e: &Expr, calls: u32) -> bool {
    match &e.kind {
        ExprKind::Inject { .. } => true,
        ExprKind::Array(parts) | ExprKind::Tuple(parts) => parts.iter().any(|part| holds_case(part, calls)),
        ExprKind::Apply { argument, .. } => calls > 0 && holds_case(argument, calls - 1),
        _ => false,
    }
}

/// Maximum number of nested calls that are searched for a `case n e`.
const MAX_CALLS: u32 = 8;

impl<'e> Arg<'e> {
    /// Returns the type of the argument as far as it is known.
    pub(in crate::check) fn ty(&self) -> Type {
        match self {
            Arg::Done(term) => term.ty.clone(),
            Arg::Later(_, ty) => ty.clone(),
            Arg::Tuple(parts, _) => Type::product(parts.iter().map(Arg::ty).collect()),
        }
    }

    /// Visits the parts that wait for the parameter's type.
    pub(in crate::check) fn for_each_later(&self, f: &mut dyn FnMut(&'e Expr)) {
        match self {
            Arg::Done(_) => {}
            Arg::Later(e, _) => f(e),
            Arg::Tuple(parts, _) => parts.iter().for_each(|part| part.for_each_later(f)),
        }
    }

    /// Returns the span of the argument.
    pub(in crate::check) fn span(&self) -> Span {
        match self {
            Arg::Done(term) => term.span,
            Arg::Later(e, _) => e.span,
            Arg::Tuple(_, span) => *span,
        }
    }
}

impl Checker<'_> {
    /// Elaborates `f a` in any of its forms.
    pub(in crate::check) fn apply(&mut self, e: &Expr, expected: Expectation<'_>) -> Term {
        let before = self.reports.len();
        let term = self.spine(e, expected);
        self.regroup_application(before, e);
        term
    }

    /// Warns about `x.f y` of a function of the library that takes two values of one type, one after
    /// the other: it has what it is about last.
    fn warn_first_after_dot(&mut self, name: &Name, (first, second): (&Type, &Type), dot: Span, whole: Span) {
        let first = self.infer.zonk(first);
        if first.has_meta() || first != self.infer.zonk(second) {
            return;
        }
        let callables = self.env.callables(&name.text).map_or(Vec::new(), <[_]>::to_vec);
        let takes_both = callables.iter().any(|callable| {
            let Scheme { domain, result, .. } = self.header(callable);
            let rest = result.map(|ty| ty.kind().clone());
            self.env.is_library_function(callable)
                && domain == first
                && matches!(rest, Some(TypeKind::Function(rest, result)) if rest == first
                    && !matches!(result.kind(), TypeKind::Function(..)))
        });
        if takes_both {
            let (span, name) = (name.span, name.text.to_string());
            self.report(CallError::FirstAfterDot { span, name, dot, whole });
        }
    }

    /// Elaborates the spine of an application: finds the head, prepares the arguments, and calls
    /// the function that the head refers to.
    fn spine(&mut self, e: &Expr, expected: Expectation<'_>) -> Term {
        let (mut head, mut arguments) = (e, Vec::new());
        while let ExprKind::Apply { function, argument, .. } = &head.kind {
            arguments.push(&**argument);
            head = function;
        }
        arguments.reverse();
        let several = matches!(e.kind, ExprKind::Apply { form: ApplyForm::Pipe, .. }) && arguments.len() > 1;
        if !several && let Some(term) = self.complete_call(head, &arguments, expected, e.span) {
            return term;
        }
        let mut args: Vec<Arg> = Vec::new();
        // In `x.f y`, the base is the first argument if `f` is a function here.
        if let ExprKind::Dot { base, key } = &head.kind
            && let Some((name, targs)) = key_name(key)
        {
            let base_term = self.expr(base, Expectation::NONE);
            let call = self.is_call(&base_term, name, targs);
            let local = if call { None } else { self.local_call(&base_term, name) };
            if !call && local.is_none() {
                let function = self.dot_term(base_term, key, expected.value(), head.span);
                args.extend(arguments.iter().map(|a| self.prepare_arg(a)));
                return self.call_value(function, args, expected.statement, e.span);
            }
            let targs: Vec<Type> = self.lower_arguments(targs);
            let known = (name, &targs[..]);
            let completed = self.complete_dot_call(known, &base_term, &arguments, expected, e.span);
            if let Some(term) = completed {
                return term;
            }
            let found = self.find(&name.text);
            args.push(Arg::Done(base_term));
            args.extend(self.prepare_rest(&found, &arguments));
            if let ([first, second], None) = (&args[..], &local) {
                let (first, second) = (first.ty(), second.ty());
                let dot = Span { start: base.span.end, end: key.span.start, ..base.span };
                self.warn_first_after_dot(name, (&first, &second), dot, e.span);
            }
            let Some(local) = local else {
                return self.call_name(name, &targs, args, expected, e.span);
            };
            let function = self.expr(key, Expectation::NONE);
            return self.call_known(function, args, Some(&local.after_first()), expected.statement, e.span);
        }
        // In `a |> f`, `a` is elaborated and evaluated first.
        if let ExprKind::Apply { form: ApplyForm::Pipe, .. } = &e.kind
            && let Some(piped) = arguments.pop()
        {
            let before = self.reports.len();
            let left = self.prepare_arg(piped);
            self.regroup_left(before, piped, "|>", |name| format!("{name}$ x |> f"));
            // The tuple has no meaning without the value piped into it, so its parts are not
            // elaborated.
            if let (ExprKind::Tuple(_), []) = (&head.kind, &arguments[..]) {
                let error = CallError::TupleApplied { span: head.span, argument: piped.span };
                return self.error_term(error, e.span);
            }
            args.extend(arguments.iter().map(|a| self.prepare_arg(a)));
            args.push(left);
        } else if let (Some((name, _)), Some((first, rest))) = (key_name(head), arguments.split_first())
            && !rest.is_empty()
        {
            let found = self.find(&name.text);
            args.push(self.prepare_arg(first));
            args.extend(self.prepare_rest(&found, rest));
        } else {
            args.extend(arguments.iter().map(|a| self.prepare_arg(a)));
        }
        match &head.kind {
            ExprKind::Name(name) if self.is_function_name(name) => {
                self.call_name(name, &[], args, expected, e.span)
            }
            ExprKind::TypeArgs(base, targs) if matches!(&base.kind, ExprKind::Name(n) if self.is_function_name(n)) =>
            {
                let ExprKind::Name(name) = &base.kind else { return self.expr(head, Expectation::NONE) };
                let targs: Vec<Type> = self.lower_arguments(targs);
                self.call_name(name, &targs, args, expected, e.span)
            }
            ExprKind::CaseOf { index, ty, .. } if args.len() == 1 => {
                let sum = self.lower(ty);
                let Some(case) = self.case_type(&sum, index, head.span) else {
                    return Term::new(TermKind::Error, Type::error(), e.span);
                };
                if case.is_unit() {
                    let constant = self.expr(head, Expectation::NONE);
                    return self.call_value(constant, args, expected.statement, e.span);
                }
                let arg = self.finish_arg(args.remove(0), &case, None);
                Term::new(TermKind::Inject(index.clone(), Box::new(arg)), sum, e.span)
            }
            ExprKind::Lambda(function) if args.len() == 1 => {
                let domain = self.infer.zonk(&args[0].ty());
                let hint = if function.is_proc {
                    Type::procedure(domain)
                } else {
                    Type::function(domain, self.infer.fresh(Kind::Spread))
                };
                let function = self.expr(head, Expectation::of(&hint));
                self.call_value(function, args, expected.statement, e.span)
            }
            ExprKind::Name(name) if self.is_conversion_name(&name.text) => {
                let (Some(ty), Some(argument)) = (foreign_or_scalar(&name.text), args.first()) else {
                    return self.report_unknown_name(name);
                };
                let text = self.infer.zonk(&argument.ty()).as_scalar() == Some(Scalar::String);
                let (span, argument) = (name.span, argument.span());
                let name = name.text.to_string();
                self.error_term(CallError::TypeApplied { span, name, ty, argument, text }, e.span)
            }
            _ => {
                let function = self.expr(head, Expectation::NONE);
                let infix = arguments.first().and_then(|argument| match &argument.kind {
                    ExprKind::Name(name) if arguments.len() == 2 => foreign_names::infix(&name.text),
                    _ => None,
                });
                // In `5 mod 2`, the number 5 is applied where an infix operator of another language
                // is meant.
                if let Some(instead) = infix
                    && self.infer.zonk_with_defaults(&function.ty).as_scalar().is_some()
                {
                    let (ty, argument) = (self.infer.zonk_with_defaults(&function.ty), arguments[0].span);
                    // An unknown-name error of the operator's name would repeat the same error.
                    self.reports.retain(|report| {
                        !matches!(report.error, CheckError::Call(CallError::UnknownName { .. }))
                            || report.span() != argument
                    });
                    let help = Some(instead.into());
                    let error = CallError::NotAFunction { span: function.span, ty, argument, help };
                    return self.error_term(error, e.span);
                }
                let known = match &head.kind {
                    ExprKind::Name(name) => self.local_function(name).map(KnownParameters::after_first),
                    _ => None,
                };
                self.call_known(function, args, known.as_ref(), expected.statement, e.span)
            }
        }
    }

    /// Returns true if the only meaning of a name is a type that numbers and texts convert to.
    pub(in crate::check) fn is_conversion_name(&mut self, name: &str) -> bool {
        foreign_or_scalar(name).is_some()
            && self.lookup_local(name).is_none()
            && self.global(name).is_none()
            && self.env.callables(name).is_none_or(<[_]>::is_empty)
    }

    /// Elaborates an argument as far as possible without the type of its parameter.
    pub(in crate::check) fn prepare_arg<'e>(&mut self, e: &'e Expr) -> Arg<'e> {
        if !self.needs_place(e) {
            return Arg::Done(self.expr(e, Expectation::NONE));
        }
        match &e.kind {
            ExprKind::Array(elements) => {
                let element = self.infer.fresh(Kind::Type);
                Arg::Later(e, Type::array(element, Type::unit_sum(elements.len())))
            }
            ExprKind::Apply { .. } => {
                let result = self.generic_result(e).unwrap_or_else(|| self.infer.fresh(Kind::Type));
                Arg::Later(e, result)
            }
            ExprKind::Tuple(parts) if matches!(parts.last().map(|e| &e.kind), Some(ExprKind::Rest(_))) => {
                Arg::Done(self.expr(e, Expectation::NONE))
            }
            ExprKind::Tuple(parts) => Arg::Tuple(parts.iter().map(|p| self.prepare_arg(p)).collect(), e.span),
            ExprKind::Lambda(function) => {
                let holes = |n: usize, infer: &mut Infer| {
                    Type::product((0..n).map(|_| infer.fresh(Kind::Type)).collect())
                };
                let mut ty = if function.is_proc { None } else { Some(self.infer.fresh(Kind::Spread)) };
                for group in function.params.iter().rev() {
                    let domain = holes(group.len(), &mut self.infer);
                    ty = Some(match ty {
                        Some(result) => Type::function(domain, result),
                        None => Type::procedure(domain),
                    });
                }
                Arg::Later(e, ty.unwrap_or_else(Type::unit))
            }
            _ => Arg::Later(e, self.infer.fresh(Kind::Spread)),
        }
    }

    /// Returns true if the type of an expression can be determined only by its context, given the
    /// meanings of names.
    fn needs_place(&mut self, e: &Expr) -> bool {
        let lambda = matches!(e.kind, ExprKind::Lambda(_)) && self.places_exist();
        // A function that mentions a value at places is made there.
        lambda && self.item.place_scope.is_none() && !self.captured_places(e).is_empty()
            || needs_hint(e)
            || self.is_overloaded(e)
            || match &e.kind {
                ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().any(|p| self.needs_place(p)),
                ExprKind::Apply { .. } => self.generic_call(e).is_some(),
                _ => false,
            }
    }

    /// Returns the only function that a call can refer to, if its argument contains a `case n e`
    /// whose type the call's result may determine: `fill (case 0 ())`.
    fn generic_call(&self, e: &Expr) -> Option<Callable> {
        let ExprKind::Apply { function, argument, .. } = &e.kind else { return None };
        let ExprKind::Name(name) = &function.kind else { return None };
        if !holds_case(argument, MAX_CALLS) || !self.is_function_name(name) {
            return None;
        }
        let found = self.find(&name.text);
        let Some(Candidate::Top(callable)) = found.only() else { return None };
        let generic = match callable {
            Callable::Function(id) => {
                let scheme = &self.env.signatures.get(id)?.scheme;
                scheme.params.iter().any(|param| scheme.domain.mentions(param))
            }
            Callable::Case(nominal, _) => !nominal.params.is_empty(),
            Callable::Struct(nominal) => !nominal.params.is_empty(),
            Callable::Prim(_) | Callable::Method(..) => false,
        };
        generic.then(|| callable.clone())
    }

    /// Returns the type of such a call, as far as the function's scheme determines it.
    fn generic_result(&mut self, e: &Expr) -> Option<Type> {
        let callable = self.generic_call(e)?;
        let scheme = self.scheme(&callable, e.span);
        scheme.instantiate(&mut self.infer, &[]).result.filter(|result| !result.is_exists())
    }

    /// Returns true if an expression is a name of several functions, so that its context has to
    /// choose, or a tuple with such a component.
    fn is_overloaded(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => self.is_overloaded_name(name),
            ExprKind::Tuple(parts) => parts.iter().any(|part| self.is_overloaded(part)),
            _ => false,
        }
    }

    /// Unifies the types of the elaborated parts of an argument with the parameter's type, which
    /// may solve holes of the parts that wait.
    pub(in crate::check) fn unify_elaborated_parts(&mut self, arg: &mut Arg, ty: &Type) {
        if let Arg::Tuple(parts, _) = arg {
            let components = self.infer.zonk(ty).unfold().components(parts.len());
            if let Some(components) = components.filter(|c| c.len() == parts.len()) {
                for (part, ty) in parts.iter_mut().zip(&components) {
                    self.unify_elaborated_parts(part, ty);
                }
            }
        } else if let Arg::Done(term) = arg {
            let _ = self.infer.try_unify(&term.ty, ty);
        }
    }

    /// Returns the term of an argument at the type of its parameter.
    pub(in crate::check) fn finish_arg(
        &mut self,
        mut arg: Arg,
        ty: &Type,
        because: Option<(Span, String)>,
    ) -> Term {
        self.unify_elaborated_parts(&mut arg, ty);
        match arg {
            Arg::Done(term) => self.coerce(term, ty, because),
            Arg::Later(e, _) => self.check(e, ty, because),
            Arg::Tuple(parts, span) => {
                // A parameter that is an array of unknown length takes its length from the tuple.
                if let TypeKind::Array(element, index) = self.infer.zonk(ty).kind()
                    && let TypeKind::Meta(_) = index.kind()
                {
                    let array = Type::array(element.clone(), Type::unit_sum(parts.len()));
                    let _ = self.infer.try_unify(ty, &array);
                }
                let components = self.infer.zonk(ty).unfold().components(parts.len().max(1));
                let Some(components) = components.filter(|c| c.len() == parts.len()) else {
                    let terms: Vec<Term> = parts
                        .into_iter()
                        .map(|p| {
                            let own = p.ty();
                            self.finish_arg(p, &own, None)
                        })
                        .collect();
                    let own = Type::product(terms.iter().map(|t| self.infer.zonk(&t.ty)).collect());
                    return self.coerce(Term::new(TermKind::Tuple(terms), own, span), ty, because);
                };
                let terms: Vec<Term> = parts
                    .into_iter()
                    .zip(&components)
                    .map(|(part, ty)| self.finish_arg(part, ty, because.clone()))
                    .collect();
                Term::new(TermKind::Tuple(terms), self.infer.zonk(ty), span)
            }
        }
    }

    /// Returns true if `base.name` is a call of `name`, and not a field or an index held in a
    /// variable.
    pub(in crate::check) fn is_call(
        &mut self,
        base: &Term,
        name: &ast::Name,
        targs: &[ast::TypeExpr],
    ) -> bool {
        if !targs.is_empty() {
            return true;
        }
        self.is_function_name(name) && !self.is_part(base, name)
    }

    /// Returns the only function that `base.name` can call, if a block declares it.
    pub(in crate::check) fn local_call<'n>(
        &mut self,
        base: &Term,
        name: &'n ast::Name,
    ) -> Option<KnownParameters<'n>> {
        let known = self.local_function(name)?;
        self.resolve_deferred_call(&base.ty);
        (!self.is_part(base, name)).then_some(known)
    }

    /// Returns true if `base.name` is a field, a column, or an index held in a constant of an
    /// enumeration.
    fn is_part(&mut self, base: &Term, name: &ast::Name) -> bool {
        let ty = self.infer.zonk(&base.ty);
        let ty = ty.as_placed().map_or(ty.clone(), |(inner, _)| inner.clone());
        let field = ty.named_parts().is_some_and(|fields| fields.iter().any(|(f, _)| *f == name.text));
        field || self.column_of(&ty, name).is_some() || self.is_index_constant(name)
    }
}

/// Returns the scalar type (`bool`, `string` or a number type) that a type name stands for in this
/// language or in another one.
pub(in crate::check) fn foreign_or_scalar(name: &str) -> Option<&'static str> {
    match name {
        "bool" => Some("bool"),
        _ => match Scalar::from_name(name) {
            Some(scalar) => Some(scalar.name()),
            None => error::foreign_type(name),
        },
    }
}

/// Returns true if a term is a literal `()`.
pub(in crate::check) fn is_unit_literal(term: &Term) -> bool {
    term.ty.is_unit()
        && matches!((&term.kind, &Term::unit(term.span).kind), (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b))
}

/// Returns true if any argument still waits for its parameter's type.
pub(in crate::check) fn any_needs_hint(first: &Arg, rest: &[Arg]) -> bool {
    std::iter::once(first).chain(rest).any(|a| !matches!(a, Arg::Done(_)))
}
