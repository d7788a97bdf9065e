//! Named arguments, and default values of parameters.
//!
//! Takes a call that names parameters or leaves some out, and the candidates of its name; returns
//! the complete call. Returns no call (`None`) for calls that are complete as written.
//!
//! Only functions that are known by name have named parameters, `f (3, scale = 2.0)`, and
//! constructors of structs have named fields. A call is first read as it is written. If no function
//! of the name accepts that argument, or if names are written, the call is completed for the
//! functions of the nearest scope whose parameters have those names and have a default for each
//! parameter left out. The given values are evaluated in the order in which they are written, and
//! then the defaults, at each call.
//!
//! The default of a parameter is a function of the program without parameters. Its type parameters
//! are those of the function it belongs to. It is checked at the declaration, so it cannot mention
//! the other parameters.

use crate::check::context::{Checker, Pending};
use crate::check::elaborate::apply::Arg;
use crate::check::env::{Callable, Parameter, Scheme};
use crate::check::error::CallError;
use crate::check::expectation::Expectation;
use crate::check::resolve::candidates::{Candidate, LookupResult, Round, Variable};
use crate::check::{error, terms};
use crate::core::{FunctionId, Stmt, Term, TermKind};
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{self, Expr, ExprKind, Name, Param, PatternKind};
use crate::types::{Kind, NominalBody, Type, TypeKind};
use std::sync::Arc;

/// A function for which a call can be completed.
#[derive(Clone)]
struct Completed {
    /// The function.
    candidate: Candidate,
    /// For each parameter, the number of the given value; `None` if its default is used.
    slots: Vec<Option<usize>>,
}

/// The values that a call gives to a function: first positional ones, then named ones.
struct Given<'e> {
    /// Number of positional values.
    places: usize,
    /// The names of the named values, in their order.
    names: Vec<&'e Name>,
}

impl Given<'_> {
    /// Returns, for each parameter, the number of the value given for it. Returns `None` if these
    /// parameters do not accept the values.
    fn fill(&self, parameters: &[Parameter]) -> Option<Vec<Option<usize>>> {
        let mut slots: Vec<Option<usize>> =
            (0..parameters.len()).map(|at| (at < self.places).then_some(at)).collect();
        if self.places > parameters.len() {
            return None;
        }
        for (number, name) in self.names.iter().enumerate() {
            let at = parameters.iter().position(|parameter| parameter.name.as_ref() == Some(&name.text))?;
            if slots[at].replace(self.places + number).is_some() {
                return None;
            }
        }
        let complete =
            slots.iter().zip(parameters).all(|(slot, known)| slot.is_some() || known.default.is_some());
        complete.then_some(slots)
    }
}

/// The parameter groups of a function that is known by name.
pub(in crate::check) struct KnownParameters<'n> {
    /// The name in the call.
    pub name: &'n Name,
    /// The groups for which arguments remain to be given, in order.
    pub groups: Vec<Vec<Parameter>>,
    /// The type arguments of the function.
    pub type_args: Vec<Type>,
}

impl<'n> KnownParameters<'n> {
    /// Returns the groups with the first one cleared, because its argument has been read as it is
    /// written.
    pub(in crate::check) fn after_first(mut self) -> KnownParameters<'n> {
        self.groups.iter_mut().take(1).for_each(Vec::clear);
        self
    }
}

/// Returns the positional and the named values of an argument.
fn given_by(argument: &Expr) -> (Vec<&Expr>, &[(Name, Expr)]) {
    match &argument.kind {
        ExprKind::Arguments(places, named) => (places.iter().collect(), named),
        ExprKind::Record(fields) => (Vec::new(), fields),
        ExprKind::Tuple(parts) => (parts.iter().collect(), &[]),
        _ => (vec![argument], &[]),
    }
}

/// Returns the name of a parameter whose pattern is an unqualified name.
fn parameter_name(param: &Param) -> Option<Arc<str>> {
    match &param.pattern.kind {
        PatternKind::Name(name) if name.qualified().is_none() => Some(name.text.clone()),
        _ => None,
    }
}

/// Returns a default value as a function without parameters.
fn default_function(param: &Param, default: &Expr) -> ast::Function {
    ast::Function {
        is_joint: false,
        is_proc: false,
        generics: ast::Generics::default(),
        params: vec![Vec::new()],
        result: param.ty.clone(),
        body: ast::Body::Expr(Box::new(default.clone())),
        header: param.pattern.span,
    }
}

impl Checker<'_> {
    /// Returns the parameters of a function that is being declared at the top level; registers the
    /// functions of its defaults for checking.
    pub(in crate::check) fn parameters_of(
        &mut self,
        groups: &[Vec<Param>],
        pending: &Pending,
    ) -> Vec<Vec<Parameter>> {
        let parameter = |this: &mut Self, param: &Param| {
            let name = parameter_name(param);
            let default = param.default.as_ref().map(|default| {
                let id = this.new_function();
                let function = Arc::new(default_function(param, default));
                let name = name.clone().unwrap_or_else(|| Arc::from("_"));
                let pending = Pending { name, function, expected: None, ..pending.clone() };
                this.pending_functions.insert(id, pending);
                id
            });
            Parameter { name, default }
        };
        let of_group = |this: &mut Self, group: &Vec<Param>| {
            group.iter().map(|param| parameter(this, param)).collect::<Vec<_>>()
        };
        groups.iter().map(|group| of_group(self, group)).collect()
    }

    /// Returns the parameters of a function in a block, as [`Checker::parameters_of`] does. `outer`
    /// is the number of type parameters of the surrounding functions. Its defaults can mention the
    /// variables around the function.
    pub(in crate::check) fn parameters_in_block(
        &mut self,
        groups: &[Vec<Param>],
        outer: usize,
    ) -> Vec<Vec<Parameter>> {
        let parameter = |this: &mut Self, param: &Param| {
            let default = param.default.as_ref().and_then(|default| {
                let term =
                    this.lambda(&default_function(param, default), Expectation::NONE, None, default.span);
                this.lift(&term, outer, false)
            });
            Parameter { name: parameter_name(param), default }
        };
        let of_group = |this: &mut Self, group: &Vec<Param>| {
            group.iter().map(|param| parameter(this, param)).collect::<Vec<_>>()
        };
        groups.iter().map(|group| of_group(self, group)).collect()
    }

    /// Reports defaults of parameters in functions whose calls cannot leave parameters out.
    pub(in crate::check) fn report_defaults(&mut self, groups: &[Vec<Param>]) {
        for default in groups.iter().flatten().filter_map(|param| param.default.as_ref()) {
            self.report(CallError::DefaultHere { span: default.span });
        }
    }

    /// Elaborates a call that names parameters or leaves some out. Returns `None` before
    /// elaborating any part if the call is complete as written.
    pub(in crate::check) fn complete_call(
        &mut self,
        head: &Expr,
        arguments: &[&Expr],
        expected: Expectation<'_>,
        span: Span,
    ) -> Option<Term> {
        let (name, type_args): (&Name, &[ast::TypeExpr]) = terms::key_name(head)?;
        let (first, rest) = arguments.split_first()?;
        let (places, named) = given_by(first);
        let given = Given { places: places.len(), names: named.iter().map(|(name, _)| name).collect() };
        let found = self.find(&name.text);
        let must = matches!(first.kind, ExprKind::Arguments(..)) || self.names_parameters(&found, &given);
        let (nearest, fitting) = self.filled(&found, &given);
        if fitting.is_empty() {
            if must {
                let error = self.none_filled(name, &found, &given, first.span);
                return Some(self.error_term(error, span));
            }
            return None;
        }
        let type_args: Vec<Type> = self.lower_arguments(type_args);
        let parts: Vec<Arg> = match must || !named.is_empty() {
            true => {
                let values = places.into_iter().chain(named.iter().map(|(_, value)| value));
                values.map(|value| self.prepare_arg(value)).collect()
            }
            false => {
                let whole = self.prepare_arg(first);
                let ty = self.infer.zonk(&whole.ty());
                // A nearer function that can be completed has precedence over a farther one.
                if self.accepts_as_written(&found.up_to(nearest), &type_args, &ty, expected) {
                    let rest = self.prepare_rest(&found, rest);
                    let args = std::iter::once(whole).chain(rest).collect();
                    return Some(self.call_name(name, &type_args, args, expected, span));
                }
                parts_of(whole, given.places)
            }
        };
        let labels = given.names;
        let call =
            Filling { name, type_args, labels, first: first.span, statement: expected.statement, span };
        self.filled_call(&call, &found, fitting, parts, rest)
    }

    /// Elaborates `x.f` or `x.f (k = 3)` as a call of `f` that names parameters or leaves some out.
    /// Returns `None` if it is not such a call. The named values belong to the parameters beside
    /// `x`, unless the result of `f x` takes them.
    pub(in crate::check) fn complete_dot_call(
        &mut self,
        (name, type_args): (&Name, &[Type]),
        base: &Term,
        arguments: &[&Expr],
        expected: Expectation<'_>,
        span: Span,
    ) -> Option<Term> {
        let found = self.find(&name.text);
        let named = arguments.first().and_then(|argument| match &argument.kind {
            ExprKind::Record(fields) => Some((&fields[..], argument.span)),
            _ => None,
        });
        if named.is_none() && !self.has_defaults(&found) {
            return None;
        }
        // A tuple gives its components as positional values, or itself as one.
        let mut places = match &base.kind {
            TermKind::Tuple(parts)
                if matches!(base.ty.kind(), TypeKind::Product(_) | TypeKind::Array(..)) =>
            {
                vec![parts.len(), 1]
            }
            _ => vec![1],
        };
        places.dedup();
        let type_args = type_args.to_vec();
        let names: Vec<&Name> = named.iter().flat_map(|(fields, _)| fields.iter()).map(|(n, _)| n).collect();
        let beside = |this: &mut Self, names: &[&Name]| {
            let given = |places: usize| Given { places, names: names.to_vec() };
            let all = places.iter().map(|&places| (places, this.filled(&found, &given(places))));
            let mut all = all.map(|(places, (nearest, fitting))| (places, nearest, fitting));
            all.find(|(_, _, fitting)| !fitting.is_empty())
        };
        if let Some((fields, at)) = named {
            let fitting = beside(self, &names);
            let near = fitting.as_ref().map_or_else(|| found.clone(), |(_, near, _)| found.up_to(*near));
            if !self.gives_function(&near, &type_args, &base.ty) {
                if let Some((places, _, fitting)) = fitting {
                    let mut parts = parts_of(Arg::Done(base.clone()), places);
                    parts.extend(fields.iter().map(|(_, value)| self.prepare_arg(value)));
                    let statement = expected.statement;
                    let call = Filling { name, type_args, labels: names, first: at, statement, span };
                    return self.filled_call(&call, &found, fitting, parts, &arguments[1..]);
                }
                let grouped = |one: &Candidate| self.known_groups(one).is_none_or(|groups| groups.len() > 1);
                if found.variable.is_none() && !found.candidates().any(|(_, one)| grouped(one)) {
                    let given = Given { places: places[0], names };
                    let error = self.none_filled(name, &found, &given, at);
                    return Some(self.error_term(error, span));
                }
            }
        }
        let (places, nearest, fitting) = beside(self, &[])?;
        if self.accepts_as_written(&found.up_to(nearest), &type_args, &base.ty, expected) {
            return None;
        }
        let parts = parts_of(Arg::Done(base.clone()), places);
        let (labels, first, statement) = (Vec::new(), name.span, expected.statement);
        let call = Filling { name, type_args, labels, first, statement, span };
        self.filled_call(&call, &found, fitting, parts, arguments)
    }

    /// Returns the function that a name refers to, if it is declared in a block and is the only
    /// meaning.
    pub(in crate::check) fn local_function<'n>(&self, name: &'n Name) -> Option<KnownParameters<'n>> {
        let found = self.find(&name.text);
        let local = found.only().filter(|one| matches!(one, Candidate::Local(..)))?;
        self.known_groups(local).map(|groups| KnownParameters { name, groups, type_args: Vec::new() })
    }

    /// Elaborates the call of the best of the functions for which it can be completed.
    fn filled_call(
        &mut self,
        call: &Filling<'_>,
        found: &LookupResult,
        fitting: Vec<Completed>,
        parts: Vec<Arg>,
        rest: &[&Expr],
    ) -> Option<Term> {
        let Filling { name, type_args, labels, first, statement, span } = call;
        let (statement, span) = (*statement, *span);
        let takes_places =
            |this: &mut Self, _: &Type| fitting.iter().any(|one| this.has_places(&one.candidate));
        let lifted = self.lift_call(parts, takes_places, span, |this, parts| {
            let filled = this.filled_call(call, found, fitting.clone(), parts, rest);
            filled.unwrap_or_else(|| Term::new(TermKind::Error, Type::error(), span))
        });
        let parts = match lifted {
            Ok(term) => return Some(term),
            Err(parts) => parts,
        };
        let rest = self.prepare_rest(found, rest);
        let types: Vec<Type> = parts.iter().map(Arg::ty).collect();
        let Completed { candidate, slots } = self.best_filled(name, found, fitting, type_args, &types)?;
        let scheme = match &candidate {
            Candidate::Top(chosen) => {
                self.note_callable(name.span, chosen);
                if let Callable::Struct(nominal) = chosen {
                    let of = Type::nominal(nominal.clone(), Vec::new());
                    for (number, label) in labels.iter().enumerate() {
                        let number = types.len() - labels.len() + number;
                        let at = slots.iter().position(|slot| *slot == Some(number));
                        at.into_iter().for_each(|at| self.note_field(label.span, &of, at));
                    }
                }
                self.scheme(chosen, name.span)
            }
            Candidate::Local(..) => self.candidate_header(&candidate),
        };
        let instance = match self.instantiate_scheme(name, &scheme, type_args) {
            Some(instance) => instance,
            None => return Some(Term::new(TermKind::Error, Type::error(), span)),
        };
        self.add_obligations(&instance.constraints, name.span, &name.text);
        let mut known = self.parameter_groups(name, &candidate, &instance.args);
        let group = if known.groups.is_empty() { Vec::new() } else { known.groups.remove(0) };
        let (prefix, argument) =
            self.filled_group(parts, &slots, &group, &instance.domain, (name, &instance.args), *first);
        let whole = name.span.to(*first);
        let chosen = match candidate {
            Candidate::Top(chosen) => chosen,
            Candidate::Local(depth, binding) => {
                known.groups.insert(0, Vec::new());
                let function = self.variable_term(&Variable::Local(depth, binding), name);
                let args = std::iter::once(Arg::Done(argument)).chain(rest).collect();
                let term = self.call_known(function, args, Some(&known), statement, span);
                return Some(terms::with_prefix(prefix, term));
            }
        };
        let ty = match &instance.result {
            Some(result) => result.clone(),
            None => {
                let contained = matches!(chosen, Callable::Function(id) if self.is_contained_call(id));
                self.check_call_effect(&name.text, contained, statement && rest.is_empty(), whole)
            }
        };
        let term = self.call_term(&chosen, &instance, argument, ty, name.span, whole);
        let term = terms::with_prefix(prefix, term);
        let term = self.open_existential(term);
        let term = match rest.is_empty() {
            true => term,
            false => self.call_known(term, rest, Some(&known), statement, span),
        };
        Some(Term { span, ..term })
    }

    /// Returns the argument for a group of parameters, with the statements that precede it. The
    /// given values are evaluated in the order in which they are written, and then the defaults.
    fn filled_group(
        &mut self,
        parts: Vec<Arg>,
        slots: &[Option<usize>],
        group: &[Parameter],
        domain: &Type,
        (name, type_args): (&Name, &[Type]),
        span: Span,
    ) -> (Vec<Stmt>, Term) {
        let domains = parameter_types(domain, slots.len());
        let mut place_of: Vec<usize> = vec![0; parts.len()];
        for (at, slot) in slots.iter().enumerate() {
            if let Some(number) = slot {
                place_of[*number] = at;
            }
        }
        let ordered = place_of.windows(2).all(|pair| pair[0] < pair[1]);
        let mut terms: Vec<Option<Term>> = vec![None; slots.len()];
        let mut prefix = Vec::new();
        for (part, at) in parts.into_iter().zip(place_of) {
            let words = match group.get(at).and_then(|parameter| parameter.name.as_ref()) {
                Some(parameter) => format!("`{parameter}` of `{}` is `{}`", name.text, domains[at]),
                None => format!("`{}` takes `{}` here", name.text, domains[at]),
            };
            let term = self.finish_arg(part, &domains[at], Some((name.span, words)));
            terms[at] = Some(if ordered { term } else { self.bind_value(term, &mut prefix) });
        }
        let end = span.after();
        let mut complete = Vec::with_capacity(terms.len());
        for (at, term) in terms.into_iter().enumerate() {
            complete.push(match term {
                Some(term) => term,
                None => {
                    let default = group.get(at).and_then(|parameter| parameter.default);
                    self.default_of(default, type_args, &domains[at], end)
                }
            });
        }
        let argument = match <[Term; 1]>::try_from(complete) {
            Ok([one]) => one,
            Err(terms) => Term::new(TermKind::Tuple(terms), domain.clone(), span),
        };
        (prefix, argument)
    }

    /// Returns the argument for the next group of parameters of a known function.
    pub(in crate::check) fn finish_group(
        &mut self,
        arg: Arg,
        group: &[Parameter],
        domain: &Type,
        known: &KnownParameters<'_>,
    ) -> Term {
        let Arg::Later(e, _) = arg else { return self.finish_arg(arg, domain, None) };
        let (places, named) = given_by(e);
        let given = Given { places: places.len(), names: named.iter().map(|(name, _)| name).collect() };
        let wanted = self.infer.zonk_with_defaults(domain);
        let record = matches!(
            wanted.kind(),
            TypeKind::Record(_) | TypeKind::Var(_) | TypeKind::Meta(_) | TypeKind::Error
        );
        if given.places == 0 && !named.is_empty() && record {
            return self.finish_arg(arg, domain, None);
        }
        let Some(slots) = given.fill(group) else {
            if named.is_empty() {
                return self.finish_arg(arg, domain, None);
            }
            let error = not_filled(&known.name.text, group, &given, e.span);
            return self.error_term(error, e.span);
        };
        let parts = if named.is_empty() {
            let whole = self.prepare_arg(e);
            let takes = Scheme::new(Vec::new(), wanted, None);
            let ty = self.infer.zonk(&whole.ty());
            if slots.iter().all(Option::is_some) || self.first_round(&takes, &[], &ty).is_some() {
                return self.finish_arg(whole, domain, None);
            }
            parts_of(whole, given.places)
        } else {
            let values = places.into_iter().chain(named.iter().map(|(_, value)| value));
            values.map(|value| self.prepare_arg(value)).collect()
        };
        let call = (known.name, &known.type_args[..]);
        let (prefix, argument) = self.filled_group(parts, &slots, group, domain, call, e.span);
        terms::with_prefix(prefix, argument)
    }

    /// Prepares the arguments after the first as far as possible before the function is chosen.
    /// Arguments that may name parameters or leave some out wait.
    pub(in crate::check) fn prepare_rest<'e>(
        &mut self,
        found: &LookupResult,
        rest: &[&'e Expr],
    ) -> Vec<Arg<'e>> {
        let mut groups: Vec<Vec<Vec<Parameter>>> = Vec::new();
        if !rest.is_empty() {
            groups.extend(found.candidates().filter_map(|(_, candidate)| self.known_groups(candidate)));
        }
        let mut args = Vec::with_capacity(rest.len());
        for (at, e) in rest.iter().enumerate() {
            let written = matches!(e.kind, ExprKind::Arguments(..) | ExprKind::Record(_));
            let waits = groups
                .iter()
                .filter_map(|groups| groups.get(at + 1))
                .any(|group| written || group.iter().any(|parameter| parameter.default.is_some()));
            args.push(match waits {
                true => Arg::Later(e, self.infer.fresh(Kind::Spread)),
                false => self.prepare_arg(e),
            });
        }
        args
    }

    /// Returns the parameter groups of a chosen function, from the first on.
    pub(in crate::check) fn parameter_groups<'n>(
        &self,
        name: &'n Name,
        candidate: &Candidate,
        type_args: &[Type],
    ) -> KnownParameters<'n> {
        KnownParameters {
            name,
            groups: self.known_groups(candidate).unwrap_or_default(),
            type_args: type_args.to_vec(),
        }
    }

    /// Returns the parameter groups of a function, or the fields of a struct as those of its
    /// constructor. Returns `None` for candidates without named parameters.
    fn known_groups(&self, candidate: &Candidate) -> Option<Vec<Vec<Parameter>>> {
        match candidate {
            Candidate::Top(Callable::Function(id)) => Some(self.env.signatures.get(id)?.parameters.clone()),
            Candidate::Top(Callable::Struct(nominal)) => match nominal.body()? {
                NominalBody::Struct(fields) => {
                    let field =
                        |(name, _): &(Arc<str>, Type)| Parameter { name: Some(name.clone()), default: None };
                    Some(vec![fields.iter().map(field).collect()])
                }
                _ => None,
            },
            Candidate::Top(_) => None,
            Candidate::Local(_, binding) => self.item.local_parameters.get(&binding.span).cloned(),
        }
    }

    /// Returns the parameters of the first group.
    fn known_parameters(&self, candidate: &Candidate) -> Option<Vec<Parameter>> {
        self.known_groups(candidate).map(|groups| groups.into_iter().next().unwrap_or_default())
    }

    /// Returns true if a call of one of these functions may leave out a parameter of the first
    /// group.
    fn has_defaults(&self, found: &LookupResult) -> bool {
        found.candidates().any(|(_, candidate)| {
            let groups = match candidate {
                Candidate::Top(Callable::Function(id)) => {
                    self.env.signatures.get(id).map(|known| &known.parameters)
                }
                Candidate::Top(_) => None,
                Candidate::Local(_, binding) => self.item.local_parameters.get(&binding.span),
            };
            let first = groups.and_then(|groups| groups.first());
            first.is_some_and(|group| group.iter().any(|parameter| parameter.default.is_some()))
        })
    }

    /// Returns true if one of these functions accepts a value of this type and may return a
    /// function.
    fn gives_function(&mut self, found: &LookupResult, type_args: &[Type], ty: &Type) -> bool {
        let candidates: Vec<Candidate> = found.candidates().map(|(_, candidate)| candidate.clone()).collect();
        candidates.iter().any(|candidate| {
            let known = self.knows_result(candidate);
            let scheme = self.candidate_header(candidate);
            let result = scheme.result.as_ref().map(Type::kind);
            let function = matches!(
                result,
                Some(TypeKind::Function(..) | TypeKind::Procedure(_) | TypeKind::Var(_) | TypeKind::Meta(_))
            );
            (function || !known) && self.first_round(&scheme, type_args, ty).is_some()
        })
    }

    /// Returns the functions of the nearest scope for which the given values can be completed by
    /// names or defaults, each with its slots, and the number of that scope's tier.
    fn filled(&mut self, found: &LookupResult, given: &Given<'_>) -> (usize, Vec<Completed>) {
        for (at, tier) in found.tiers.iter().enumerate() {
            let mut filled = Vec::new();
            for candidate in &tier.candidates {
                let slots = self.known_parameters(candidate).and_then(|known| given.fill(&known));
                let Some(slots) = slots else { continue };
                let as_written = given.names.is_empty() && slots.iter().all(Option::is_some);
                // A function of one type parameter, or of a record, takes the named values as one
                // record.
                let record = !given.names.is_empty() && self.takes_record(candidate);
                if !as_written && !record {
                    filled.push(Completed { candidate: candidate.clone(), slots });
                }
            }
            if !filled.is_empty() {
                return (at, filled);
            }
            // A function in this scope that takes the named values as a record has precedence over
            // farther functions.
            if tier.candidates.iter().any(|candidate| self.takes_fields(candidate, given)) {
                break;
            }
        }
        (0, Vec::new())
    }

    /// Returns true if the parameter of a function is, or may become, a record.
    fn takes_record(&mut self, candidate: &Candidate) -> bool {
        let domain = self.candidate_header(candidate).domain;
        matches!(domain.kind(), TypeKind::Record(_) | TypeKind::Var(_) | TypeKind::Meta(_))
    }

    /// Returns true if the parameter of a function is, or may become, a record of exactly the given
    /// fields. All values must be named.
    fn takes_fields(&mut self, candidate: &Candidate, given: &Given<'_>) -> bool {
        if given.names.is_empty() || given.places > 0 {
            return false;
        }
        match self.candidate_header(candidate).domain.kind() {
            TypeKind::Record(fields) => {
                fields.iter().map(|(name, _)| name).eq(given.names.iter().map(|n| &n.text))
            }
            TypeKind::Var(_) | TypeKind::Meta(_) => true,
            _ => false,
        }
    }

    /// Returns true if the named values can only be parameters: some function has all of the names
    /// and more parameters, and no function takes a record.
    fn names_parameters(&mut self, found: &LookupResult, given: &Given<'_>) -> bool {
        if given.names.is_empty() || given.places > 0 {
            return false;
        }
        let candidates: Vec<Candidate> = found.candidates().map(|(_, candidate)| candidate.clone()).collect();
        let named = candidates.iter().filter_map(|candidate| self.known_parameters(candidate)).any(|known| {
            let has = |name: &&Name| known.iter().any(|p| p.name.as_ref() == Some(&name.text));
            known.len() > given.names.len() && given.names.iter().all(has)
        });
        named
            && candidates
                .iter()
                .all(|candidate| self.known_parameters(candidate).is_some() && !self.takes_record(candidate))
    }

    /// Returns the one of several completed functions that accepts the values with the least
    /// conversion; reports an ambiguity.
    fn best_filled(
        &mut self,
        name: &Name,
        found: &LookupResult,
        mut filled: Vec<Completed>,
        type_args: &[Type],
        types: &[Type],
    ) -> Option<Completed> {
        if filled.len() == 1 {
            return filled.pop();
        }
        let mut fitting: Vec<(Round, Completed)> = Vec::new();
        for completed in &filled {
            let Completed { candidate, slots } = completed;
            let scheme = self.candidate_header(candidate);
            let domains = parameter_types(&scheme.domain, slots.len());
            let mut wanted = vec![Type::unit(); types.len()];
            for (domain, slot) in domains.into_iter().zip(slots) {
                if let Some(number) = slot {
                    wanted[*number] = domain;
                }
            }
            let scheme = Scheme { domain: Type::product(wanted), ..scheme };
            let round = self.first_round(&scheme, type_args, &Type::product(types.to_vec()));
            fitting.extend(round.map(|round| (round, completed.clone())));
        }
        let least = fitting.iter().map(|(round, _)| *round).min();
        fitting.retain(|(round, _)| Some(*round) == least);
        if fitting.len() > 1 {
            let several: Vec<Candidate> =
                fitting.iter().map(|(_, completed)| completed.candidate.clone()).collect();
            self.report_ambiguous(name, found, &several);
        }
        match fitting.pop() {
            Some((_, completed)) => Some(completed),
            // The error is then reported for the first function.
            None => filled.into_iter().next(),
        }
    }

    /// Returns the error of a call that names parameters, where no function accepts the values.
    fn none_filled(&self, name: &Name, found: &LookupResult, given: &Given<'_>, span: Span) -> CallError {
        let mut known = found.candidates().filter_map(|(_, candidate)| self.known_parameters(candidate));
        match known.next() {
            Some(parameters) => not_filled(&name.text, &parameters, given, span),
            None => {
                let method =
                    |candidate: &Candidate| matches!(candidate, Candidate::Top(Callable::Method(..)));
                let method = found.candidates().any(|(_, candidate)| method(candidate));
                CallError::NamedHere { span, method }
            }
        }
    }

    /// Returns the value of a parameter that a call leaves out.
    fn default_of(&mut self, default: Option<FunctionId>, type_args: &[Type], ty: &Type, span: Span) -> Term {
        let Some(function) = default else { return Term::new(TermKind::Error, Type::error(), span) };
        let kind = self.function_value(function, type_args);
        let function = Term::new(kind, Type::function(Type::unit(), ty.clone()), span);
        Term::new(TermKind::Call(Box::new(function), vec![Term::unit(span)]), ty.clone(), span)
    }
}

/// Returns the error of values that these parameters do not accept.
fn not_filled(function: &str, parameters: &[Parameter], given: &Given<'_>, span: Span) -> CallError {
    let known = |name: &Name| parameters.iter().position(|p| p.name.as_ref() == Some(&name.text));
    for name in &given.names {
        let twice = given.names.iter().filter(|other| other.text == name.text).count() > 1;
        match known(name) {
            None => {
                let known: Vec<&str> = parameters.iter().filter_map(|p| p.name.as_deref()).collect();
                let similar = similar(&name.text, known.iter().copied());
                let help = match similar {
                    Some(similar) => format!("did you mean `{similar}`?"),
                    None if known.len() == 1 => {
                        format!("its parameter is {}", error::quoted_names(&known))
                    }
                    None => format!("its parameters are {}", error::quoted_names(&known)),
                };
                let words = format!("`{function}` has no parameter `{}`", name.text);
                return CallError::WrongNamed { span: name.span, words, help };
            }
            Some(at) if at < given.places || twice => {
                let words = format!("`{}` is given twice", name.text);
                let help = "give it by its place or by its name".to_string();
                return CallError::WrongNamed { span: name.span, words, help };
            }
            Some(_) => {}
        }
    }
    if given.places > parameters.len() {
        let words = format!("`{function}` has {}", error::count(parameters.len(), "parameter"));
        return CallError::WrongNamed { span, words, help: "leave out what is too much".into() };
    }
    let missing = parameters.iter().enumerate().find(|(at, parameter)| {
        let named = given.names.iter().any(|name| parameter.name.as_ref() == Some(&name.text));
        *at >= given.places && !named && parameter.default.is_none()
    });
    let missing = missing.and_then(|(_, parameter)| parameter.name.clone());
    let missing = missing.map_or_else(|| "a parameter".to_string(), |name| format!("`{name}`"));
    let words = format!("this call of `{function}` gives {missing} no value");
    CallError::WrongNamed { span, words, help: "a parameter without a default is given in each call".into() }
}

/// Returns the values that an argument gives to a group with this number of positional values.
fn parts_of(whole: Arg<'_>, places: usize) -> Vec<Arg<'_>> {
    match whole {
        Arg::Tuple(parts, _) => parts,
        Arg::Done(Term { kind: TermKind::Tuple(parts), .. }) if places != 1 => {
            parts.into_iter().map(Arg::Done).collect()
        }
        // `f ()` gives no value.
        Arg::Done(_) if places == 0 => Vec::new(),
        whole => vec![whole],
    }
}

/// A call that is being completed.
struct Filling<'n> {
    /// The name in the call.
    name: &'n Name,
    /// The written type arguments.
    type_args: Vec<Type>,
    /// The names of the last values.
    labels: Vec<&'n Name>,
    /// The span of the argument for the first group.
    first: Span,
    /// True if the call is a statement.
    statement: bool,
    /// The span of the whole call.
    span: Span,
}

/// Returns the types of this number of parameters, given their common domain.
fn parameter_types(domain: &Type, count: usize) -> Vec<Type> {
    if count == 1 {
        return vec![domain.clone()];
    }
    domain
        .components(count)
        .filter(|parts| parts.len() == count)
        .unwrap_or_else(|| vec![Type::error(); count])
}
