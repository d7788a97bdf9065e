//! Application: spines, overloads, effects.
//!
//! `f a b`, `f$ a`, `a |> f`, `a.f` are flattened to a head and its arguments. Arguments are
//! elaborated once, before an overload is chosen, except those whose types only the parameter can
//! tell (functions with untyped parameters, `case n e`): they wait until it is. Which of several
//! functions is meant is decided in [`super::overload`].

use super::Checker;
use super::env::{Callable, Instance, Scheme};
use super::error::CheckError;
use super::infer::Infer;
use super::named::Known;
use super::overload::{Candidate, Choice, Found, Variable};
use crate::core::{Pat, PatKind, Prim, Stmt, StmtKind, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast::{self, ApplyForm, Expr, ExprKind};
use crate::types::{Kind, Scalar, Type, TypeKind};
use num_bigint::BigUint;
use num_traits::ToPrimitive;

/// An argument on its way.
pub(super) enum Arg<'e> {
    /// Elaborated.
    Done(Term),
    /// Waits for the parameter type; the type is what can be said now.
    Later(&'e Expr, Type),
    /// A tuple with parts that wait.
    Tuple(Vec<Arg<'e>>, Span),
}

/// Whether only its place can tell the type of an expression.
pub(super) fn needs_hint(e: &Expr) -> bool {
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

/// Whether a `case n e` stands in an expression where a call around it may tell its type.
fn holds_case(e: &Expr, calls: u32) -> bool {
    match &e.kind {
        ExprKind::Inject { .. } => true,
        ExprKind::Array(parts) | ExprKind::Tuple(parts) => parts.iter().any(|part| holds_case(part, calls)),
        ExprKind::Apply { argument, .. } => calls > 0 && holds_case(argument, calls - 1),
        _ => false,
    }
}

/// Calls around a `case n e` that are looked through for what tells its type.
const MOST_CALLS: u32 = 8;

impl<'e> Arg<'e> {
    pub(super) fn ty(&self) -> Type {
        match self {
            Arg::Done(term) => term.ty.clone(),
            Arg::Later(_, ty) => ty.clone(),
            Arg::Tuple(parts, _) => Type::product(parts.iter().map(Arg::ty).collect()),
        }
    }

    pub(super) fn span(&self) -> Span {
        match self {
            Arg::Done(term) => term.span,
            Arg::Later(e, _) => e.span,
            Arg::Tuple(_, span) => *span,
        }
    }
}

impl Checker<'_> {
    /// `f a`, in any of its forms.
    pub(super) fn apply(&mut self, e: &Expr, hint: Option<&Type>, at_statement: bool) -> Term {
        let before = self.diagnostics.len();
        let term = self.spine(e, hint, at_statement);
        self.regroup_application(before, e);
        term
    }

    fn spine(&mut self, e: &Expr, hint: Option<&Type>, at_statement: bool) -> Term {
        let (mut head, mut arguments) = (e, Vec::new());
        while let ExprKind::Apply { function, argument, .. } = &head.kind {
            arguments.push(&**argument);
            head = function;
        }
        arguments.reverse();
        let several = matches!(e.kind, ExprKind::Apply { form: ApplyForm::Pipe, .. }) && arguments.len() > 1;
        if !several && let Some(term) = self.completed_call(head, &arguments, hint, at_statement, e.span) {
            return term;
        }
        let mut args: Vec<Arg> = Vec::new();
        // `x.f y`: the base is the first argument, if `f` is a function here.
        if let ExprKind::Dot { base, key } = &head.kind
            && let Some((name, targs)) = key_name(key)
        {
            let base_term = self.expr(base, None);
            let call = self.is_call(&base_term, name, targs);
            let local = if call { None } else { self.local_call(&base_term, name) };
            if !call && local.is_none() {
                let function = self.dot_term(base_term, key, hint, false, head.span);
                args.extend(arguments.iter().map(|a| self.prepare(a)));
                return self.call_value(function, args, at_statement, e.span);
            }
            let targs: Vec<Type> = self.lower_arguments(targs);
            let known = (name, &targs[..]);
            let completed = self.completed_dot(known, &base_term, &arguments, hint, at_statement, e.span);
            if let Some(term) = completed {
                return term;
            }
            let found = self.find(&name.text);
            args.push(Arg::Done(base_term));
            args.extend(self.prepare_rest(&found, &arguments));
            let Some(local) = local else {
                return self.call_name(name, &targs, args, hint, at_statement, e.span);
            };
            let function = self.expr(key, None);
            return self.call_known(function, args, Some(&local.after_first()), at_statement, e.span);
        }
        // `a |> f`: `a` comes first, in time too.
        if let ExprKind::Apply { form: ApplyForm::Pipe, .. } = &e.kind
            && let Some(piped) = arguments.pop()
        {
            let before = self.diagnostics.len();
            let left = self.prepare(piped);
            self.regroup_left(before, piped, "|>", |name| format!("{name}$ x |> f"));
            // What stands in the tuple was written to take the value: by itself it says nothing.
            if let (ExprKind::Tuple(_), []) = (&head.kind, &arguments[..]) {
                let error = CheckError::TupleApplied { span: head.span, argument: piped.span };
                return self.wrong(error, e.span);
            }
            args.extend(arguments.iter().map(|a| self.prepare(a)));
            args.push(left);
        } else if let (Some((name, _)), Some((first, rest))) = (key_name(head), arguments.split_first())
            && !rest.is_empty()
        {
            let found = self.find(&name.text);
            args.push(self.prepare(first));
            args.extend(self.prepare_rest(&found, rest));
        } else {
            args.extend(arguments.iter().map(|a| self.prepare(a)));
        }
        match &head.kind {
            ExprKind::Name(name) if self.names_callable(name) => {
                self.call_name(name, &[], args, hint, at_statement, e.span)
            }
            ExprKind::TypeArgs(base, targs) if matches!(&base.kind, ExprKind::Name(n) if self.names_callable(n)) =>
            {
                let ExprKind::Name(name) = &base.kind else { return self.expr(head, None) };
                let targs: Vec<Type> = self.lower_arguments(targs);
                self.call_name(name, &targs, args, hint, at_statement, e.span)
            }
            ExprKind::CaseOf { index, ty, .. } if args.len() == 1 => {
                let sum = self.lower(ty);
                let Some(case) = self.case_type(&sum, index, head.span) else {
                    return Term::new(TermKind::Error, Type::error(), e.span);
                };
                if case.is_unit() {
                    let constant = self.expr(head, None);
                    return self.call_value(constant, args, at_statement, e.span);
                }
                let arg = self.finish_arg(args.remove(0), &case, None);
                Term::new(TermKind::Inject(index.clone(), Box::new(arg)), sum, e.span)
            }
            ExprKind::Lambda(function) if args.len() == 1 => {
                let domain = self.infer.zonk(&args[0].ty());
                let hint = if function.is_proc {
                    Type::procedure(domain)
                } else {
                    Type::function(domain, self.infer.fresh(Kind::Type))
                };
                let function = self.expr(head, Some(&hint));
                self.call_value(function, args, at_statement, e.span)
            }
            ExprKind::Name(name) if self.means_type(&name.text) => {
                let (Some(ty), Some(argument)) = (foreign_or_scalar(&name.text), args.first()) else {
                    return self.unknown(name);
                };
                let text = self.infer.zonk(&argument.ty()).as_scalar() == Some(Scalar::String);
                let (span, argument) = (name.span, argument.span());
                let name = name.text.to_string();
                self.wrong(CheckError::TypeApplied { span, name, ty, argument, text }, e.span)
            }
            _ => {
                let function = self.expr(head, None);
                let infix = arguments.first().and_then(|argument| match &argument.kind {
                    ExprKind::Name(name) if arguments.len() == 2 => super::foreign_names::infix(&name.text),
                    _ => None,
                });
                // `5 mod 2` applies 5, where an operator is meant.
                if let Some(instead) = infix
                    && self.infer.settle(&function.ty).as_scalar().is_some()
                {
                    let (ty, argument) = (self.infer.settle(&function.ty), arguments[0].span);
                    // That nothing has its name is no other mistake.
                    self.diagnostics.retain(|d| d.code != "E0401" || d.primary.span != argument);
                    let help = Some(instead.into());
                    let error = CheckError::NotAFunction { span: function.span, ty, argument, help };
                    return self.wrong(error, e.span);
                }
                let known = match &head.kind {
                    ExprKind::Name(name) => self.local_function(name).map(Known::after_first),
                    _ => None,
                };
                self.call_known(function, args, known.as_ref(), at_statement, e.span)
            }
        }
    }

    /// Whether a name means nothing but a type that numbers and texts convert to.
    pub(super) fn means_type(&mut self, name: &str) -> bool {
        foreign_or_scalar(name).is_some()
            && self.lookup_local(name).is_none()
            && self.global(name).is_none()
            && self.env.callables(name).is_none_or(<[_]>::is_empty)
    }

    /// Elaborates an argument as far as it can be without its parameter.
    pub(super) fn prepare<'e>(&mut self, e: &'e Expr) -> Arg<'e> {
        if !self.needs_place(e) {
            return Arg::Done(self.expr(e, None));
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
                Arg::Done(self.expr(e, None))
            }
            ExprKind::Tuple(parts) => Arg::Tuple(parts.iter().map(|p| self.prepare(p)).collect(), e.span),
            ExprKind::Lambda(function) => {
                let holes = |n: usize, infer: &mut Infer| {
                    Type::product((0..n).map(|_| infer.fresh(Kind::Type)).collect())
                };
                let mut ty = if function.is_proc { None } else { Some(self.infer.fresh(Kind::Type)) };
                for group in function.params.iter().rev() {
                    let domain = holes(group.len(), &mut self.infer);
                    ty = Some(match ty {
                        Some(result) => Type::function(domain, result),
                        None => Type::procedure(domain),
                    });
                }
                Arg::Later(e, ty.unwrap_or_else(Type::unit))
            }
            _ => Arg::Later(e, self.infer.fresh(Kind::Type)),
        }
    }

    /// Whether only its place can tell the type of an expression, as far as names are known.
    fn needs_place(&self, e: &Expr) -> bool {
        needs_hint(e)
            || self.is_overloaded(e)
            || match &e.kind {
                ExprKind::Tuple(parts) | ExprKind::Array(parts) => parts.iter().any(|p| self.needs_place(p)),
                ExprKind::Apply { .. } => self.generic_call(e).is_some(),
                _ => false,
            }
    }

    /// The only function that a call can mean, if it takes a `case n e` at a type that its result tells:
    /// `fill (case 0 ())`.
    fn generic_call(&self, e: &Expr) -> Option<Callable> {
        let ExprKind::Apply { function, argument, .. } = &e.kind else { return None };
        let ExprKind::Name(name) = &function.kind else { return None };
        if !holds_case(argument, MOST_CALLS) || !self.names_callable(name) {
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

    /// The type of such a call, as far as the function says it.
    fn generic_result(&mut self, e: &Expr) -> Option<Type> {
        let callable = self.generic_call(e)?;
        let scheme = self.scheme(&callable, e.span);
        scheme.instantiate(&mut self.infer, &[]).result.filter(|result| !result.is_exists())
    }

    /// Whether an expression is a name of several functions: its place tells which is meant.
    fn is_overloaded(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Name(name) => self.names_several(name),
            ExprKind::Tuple(parts) => parts.iter().any(|part| self.is_overloaded(part)),
            _ => false,
        }
    }

    /// Tells the holes of a waiting argument what the finished parts of it know.
    fn finish_done(&mut self, arg: &mut Arg, ty: &Type) {
        if let Arg::Tuple(parts, _) = arg {
            let components = self.infer.zonk(ty).unfold().components(parts.len());
            if let Some(components) = components.filter(|c| c.len() == parts.len()) {
                for (part, ty) in parts.iter_mut().zip(&components) {
                    self.finish_done(part, ty);
                }
            }
        } else if let Arg::Done(term) = arg {
            let _ = self.infer.try_unify(&term.ty, ty);
        }
    }

    /// The term of an argument, at the type of its parameter.
    pub(super) fn finish_arg(&mut self, mut arg: Arg, ty: &Type, because: Option<(Span, String)>) -> Term {
        self.finish_done(&mut arg, ty);
        match arg {
            Arg::Done(term) => self.coerce(term, ty, because),
            Arg::Later(e, _) => self.check(e, ty, because),
            Arg::Tuple(parts, span) => {
                // Where an array of unknown length is wanted, the tuple tells it.
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

    /// Applies a function value to arguments, one after the other.
    pub(super) fn call_value(
        &mut self,
        function: Term,
        args: Vec<Arg>,
        at_statement: bool,
        span: Span,
    ) -> Term {
        self.call_known(function, args, None, at_statement, span)
    }

    /// The same, of a function whose parameters may be known by name.
    pub(super) fn call_known(
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
                    let error = CheckError::NotAFunction { span: function.span, ty, argument, help };
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

    /// A procedure is called: allowed as a statement, outside pure functions, and in them if it changes nothing but
    /// their own variables. Gives the type that the call has.
    pub(super) fn effect(&mut self, name: &str, contained: bool, at_statement: bool, span: Span) -> Type {
        if self.frame().block.is_some() {
            self.report(CheckError::BlockEffect {
                span,
                what: format!("it cannot call the procedure `{name}`"),
            });
            return Type::error();
        }
        self.frame().outside |= !contained;
        if self.frame().pure() && !contained {
            let header = self.frame().header;
            self.report(CheckError::ProcedureInFun { span, name: name.to_string(), header });
            return Type::error();
        }
        if !at_statement {
            self.report(CheckError::ProcedureAsValue { span });
            return Type::error();
        }
        Type::unit()
    }

    /// A name with candidates, applied.
    pub(super) fn call_name(
        &mut self,
        name: &ast::Name,
        type_args: &[Type],
        mut args: Vec<Arg>,
        hint: Option<&Type>,
        at_statement: bool,
        span: Span,
    ) -> Term {
        self.note_scope(name.span);
        let found = self.find(&name.text);
        if found.tiers.is_empty() {
            return self.unknown(name);
        }
        // A statement that is one call says nothing more that could decide.
        let may_wait = !at_statement && matches!(args.first(), Some(Arg::Done(_)));
        let first = args.remove(0);
        let variable = match self.choose(name, &found, type_args, &first, hint, may_wait) {
            Choice::Candidate(Candidate::Top(chosen)) => {
                return self.call_chosen(name, &chosen, type_args, (first, args), hint, at_statement, span);
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
        self.call_known(function, args, known.as_ref(), at_statement, span)
    }

    /// The call of the function that a name has been found to mean.
    #[allow(clippy::too_many_arguments)] // a call with its place, which the choice may have delayed
    pub(super) fn call_chosen(
        &mut self,
        name: &ast::Name,
        chosen: &Callable,
        type_args: &[Type],
        (first, args): (Arg, Vec<Arg>),
        hint: Option<&Type>,
        at_statement: bool,
        span: Span,
    ) -> Term {
        self.note_callable(name.span, chosen);
        let scheme = self.scheme(chosen, name.span);
        if let (Callable::Case(..), true) = (chosen, scheme.domain.is_unit()) {
            // A constant: what follows is applied to its value.
            let constant = self.constant_case(chosen, &scheme, type_args, name.span);
            if let TypeKind::Nominal(..) = self.infer.shallow(&constant.ty).kind() {
                let error = CheckError::ConstructorArgument {
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
            && !self.reads(*prim, name, &mut instance, type_args, hint)
        {
            return Term::new(TermKind::Error, Type::error(), span);
        }
        if let Callable::Prim(prim) = chosen
            && prim.has_computed_result_type()
        {
            let target = match (type_args.first(), hint) {
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
        if let (Some(result), Some(hint)) = (&rest, hint)
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
                self.effect(&name.text, contained, at_statement && args.is_empty(), whole)
            }
        };
        let term = self.call_term(chosen, &instance, arg, ty, name.span, whole);
        let term = self.open(term);
        if args.is_empty() {
            return Term { span, ..term };
        }
        let mut known = self.known(name, &Candidate::Top(chosen.clone()), &instance.args);
        known.groups.drain(..known.groups.len().min(1));
        let term = self.call_known(term, args, Some(&known), at_statement, span);
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
                let wanted = super::error::count(wanted, "value");
                format!("`{}` takes `{domain}`: {wanted}, not {given}", name.text)
            }
            _ => format!("`{}` takes `{domain}`", name.text),
        }
    }

    /// The scheme at these type arguments, or a report that they do not fit.
    pub(super) fn instance(
        &mut self,
        name: &ast::Name,
        scheme: &Scheme,
        type_args: &[Type],
    ) -> Option<Instance> {
        if type_args.len() > scheme.params.len() {
            self.report(CheckError::TypeArity {
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
    pub(super) fn call_term(
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
                super::expr::with_prefix(vec![Stmt { kind: StmtKind::Let(bind, arg), span }], make(parts))
            }
        }
    }

    fn constant_case(&mut self, chosen: &Callable, scheme: &Scheme, given: &[Type], span: Span) -> Term {
        let instance = scheme.instantiate(&mut self.infer, given);
        let ty = instance.result.unwrap_or_else(Type::error);
        let Callable::Case(_, case) = chosen else { return Term::new(TermKind::Error, ty, span) };
        Term::new(TermKind::Inject(BigUint::from(*case), Box::new(Term::unit(span))), ty, span)
    }

    /// A name of functions where a value is wanted: a constant, or a function value. Of several functions
    /// the nearest scope decides that has one of the wanted type.
    pub(super) fn callable_value(
        &mut self,
        name: &ast::Name,
        found: &Found,
        type_args: &[Type],
        hint: Option<&Type>,
    ) -> Term {
        let span = name.span;
        let wanted = hint.map(|h| self.infer.zonk(h));
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
            let error = CheckError::ReaderInFun { span, name: name.text.to_string(), header: None };
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

    /// Whether `base.name` is a call of `name`: not a field, not an index held in a variable.
    pub(super) fn is_call(&mut self, base: &Term, name: &ast::Name, targs: &[ast::TypeExpr]) -> bool {
        if !targs.is_empty() {
            return true;
        }
        self.names_callable(name) && !self.is_part(base, name)
    }

    /// The only function that `base.name` can call, if a block declares it.
    pub(super) fn local_call<'n>(&mut self, base: &Term, name: &'n ast::Name) -> Option<Known<'n>> {
        let known = self.local_function(name)?;
        self.decide(&base.ty);
        (!self.is_part(base, name)).then_some(known)
    }

    /// Whether `base.name` is a field, or an index held in a variable.
    fn is_part(&mut self, base: &Term, name: &ast::Name) -> bool {
        let ty = self.infer.zonk(&base.ty);
        let field = ty.named_parts().is_some_and(|fields| fields.iter().any(|(f, _)| *f == name.text));
        field || self.names_index(name)
    }
}

/// The number type, or `bool`, or `string`, that a name stands for in a type, here or elsewhere.
pub(super) fn foreign_or_scalar(name: &str) -> Option<&'static str> {
    match name {
        "bool" => Some("bool"),
        _ => match Scalar::named(name) {
            Some(scalar) => Some(scalar.name()),
            None => super::error::foreign_type(name),
        },
    }
}

/// Whether a term is `()` as it is written.
fn is_unit_literal(term: &Term) -> bool {
    term.ty.is_unit()
        && matches!((&term.kind, &Term::unit(term.span).kind), (a, b) if std::mem::discriminant(a) == std::mem::discriminant(b))
}

fn needs_any(first: &Arg, rest: &[Arg]) -> bool {
    std::iter::once(first).chain(rest).any(|a| !matches!(a, Arg::Done(_)))
}

/// A key that is a name, with type arguments or without.
pub(super) fn key_name(key: &Expr) -> Option<(&ast::Name, &[ast::TypeExpr])> {
    match &key.kind {
        ExprKind::Name(name) => Some((name, &[])),
        ExprKind::TypeArgs(base, targs) => match &base.kind {
            ExprKind::Name(name) => Some((name, targs)),
            _ => None,
        },
        _ => None,
    }
}
