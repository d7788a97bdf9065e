//! Arguments by name, and values that parameters have where a call leaves them out.
//!
//! Only functions that are known by name have names of parameters, `f (3, scale = 2.0)`, and
//! constructors of structs those of their fields. A call is read as it is written first. Where no
//! function of the name takes the argument so, or where names are written, those functions of the
//! nearest scope are completed whose parameters have the names, and a default for each that is left
//! out. What is given is evaluated in the order in which it is written, then the defaults, at each
//! call.
//!
//! The default of a parameter is a function of the program without parameters, with the type
//! parameters of the function it belongs to. It is checked where the function is declared, so it
//! sees no parameter.

use crate::check::context::{Checker, Pending};
use crate::check::elaborate::apply;
use crate::check::elaborate::apply::Arg;
use crate::check::env::{Callable, Parameter, Scheme};
use crate::check::error::CallError;
use crate::check::expectation::Expectation;
use crate::check::resolve::candidates::{Candidate, Found, Round, Variable};
use crate::check::{error, terms};
use crate::core::{FunctionId, Stmt, Term, TermKind};
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{self, Expr, ExprKind, Name, Param, PatternKind};
use crate::types::{Kind, NominalBody, Type, TypeKind};
use std::sync::Arc;

/// A function that a call can be completed for.
#[derive(Clone)]
struct Completed {
    candidate: Candidate,
    /// For each parameter the number of what the call gives for it; nothing where its default is
    /// taken.
    slots: Vec<Option<usize>>,
}

/// What a call gives a function: values by place, then by name.
struct Given<'e> {
    places: usize,
    names: Vec<&'e Name>,
}

impl Given<'_> {
    /// For each parameter the number of what is given for it, if these parameters can be given
    /// that.
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

/// What calls may say of the groups of parameters of a function that is known by its name.
pub(in crate::check) struct Known<'n> {
    pub name: &'n Name,
    /// The groups that are still to be given, the first of them first.
    pub groups: Vec<Vec<Parameter>>,
    /// The type arguments of the function.
    pub type_args: Vec<Type>,
}

impl<'n> Known<'n> {
    /// The same where the first argument has been read as it is written.
    pub(in crate::check) fn after_first(mut self) -> Known<'n> {
        self.groups.iter_mut().take(1).for_each(Vec::clear);
        self
    }
}

/// What an argument gives, as it is written.
fn given_by(argument: &Expr) -> (Vec<&Expr>, &[(Name, Expr)]) {
    match &argument.kind {
        ExprKind::Arguments(places, named) => (places.iter().collect(), named),
        ExprKind::Record(fields) => (Vec::new(), fields),
        ExprKind::Tuple(parts) => (parts.iter().collect(), &[]),
        _ => (vec![argument], &[]),
    }
}

/// The name of a parameter, if it is a name.
fn parameter_name(param: &Param) -> Option<Arc<str>> {
    match &param.pattern.kind {
        PatternKind::Name(name) if name.qualified().is_none() => Some(name.text.clone()),
        _ => None,
    }
}

/// A default as a function without parameters.
fn default_function(param: &Param, default: &Expr) -> ast::Function {
    ast::Function {
        is_proc: false,
        generics: ast::Generics::default(),
        params: vec![Vec::new()],
        result: param.ty.clone(),
        body: ast::Body::Expr(Box::new(default.clone())),
        header: param.pattern.span,
    }
}

impl Checker<'_> {
    /// What calls may say by name, and leave out, of a function that is being declared.
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

    /// The same of a function in a block, of which `outer` type parameters belong to the functions
    /// around: its defaults see what stands around it.
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

    /// Reports defaults of parameters that no call can leave out.
    pub(in crate::check) fn no_defaults(&mut self, groups: &[Vec<Param>]) {
        for default in groups.iter().flatten().filter_map(|param| param.default.as_ref()) {
            self.report(CallError::DefaultHere { span: default.span });
        }
    }

    /// A call that names parameters or leaves some out; nothing if it is none, before anything of
    /// it is read.
    pub(in crate::check) fn completed_call(
        &mut self,
        head: &Expr,
        arguments: &[&Expr],
        expected: Expectation<'_>,
        span: Span,
    ) -> Option<Term> {
        let (name, type_args): (&Name, &[ast::TypeExpr]) = apply::key_name(head)?;
        let (first, rest) = arguments.split_first()?;
        let (places, named) = given_by(first);
        let given = Given { places: places.len(), names: named.iter().map(|(name, _)| name).collect() };
        let found = self.find(&name.text);
        let must = matches!(first.kind, ExprKind::Arguments(..)) || self.names_parameters(&found, &given);
        let (nearest, fitting) = self.filled(&found, &given);
        if fitting.is_empty() {
            if must {
                let error = self.none_filled(name, &found, &given, first.span);
                return Some(self.wrong(error, span));
            }
            return None;
        }
        let type_args: Vec<Type> = self.lower_arguments(type_args);
        let parts: Vec<Arg> = match must || !named.is_empty() {
            true => {
                let values = places.into_iter().chain(named.iter().map(|(_, value)| value));
                values.map(|value| self.prepare(value)).collect()
            }
            false => {
                let whole = self.prepare(first);
                let ty = self.infer.zonk(&whole.ty());
                // A farther function is not asked where a nearer one is completed.
                if self.takes_written(&found.up_to(nearest), &type_args, &ty, expected) {
                    let rest = self.prepare_rest(&found, rest);
                    let args = std::iter::once(whole).chain(rest).collect();
                    return Some(self.call_name(name, &type_args, args, expected, span));
                }
                parts_of(whole, given.places)
            }
        };
        let call = Filling { name, type_args, first: first.span, statement: expected.statement, span };
        self.filled_call(&call, &found, fitting, parts, rest)
    }

    /// `x.f`, `x.f (k = 3)`: a call of `f` that names parameters or leaves some out; nothing if it
    /// is none. What follows by name belongs to the parameters beside `x`, unless `f x` takes it.
    pub(in crate::check) fn completed_dot(
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
        // A tuple gives its parts, or itself.
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
                    parts.extend(fields.iter().map(|(_, value)| self.prepare(value)));
                    let call = Filling { name, type_args, first: at, statement: expected.statement, span };
                    return self.filled_call(&call, &found, fitting, parts, &arguments[1..]);
                }
                let grouped = |one: &Candidate| self.known_groups(one).is_none_or(|groups| groups.len() > 1);
                if found.variable.is_none() && !found.candidates().any(|(_, one)| grouped(one)) {
                    let given = Given { places: places[0], names };
                    let error = self.none_filled(name, &found, &given, at);
                    return Some(self.wrong(error, span));
                }
            }
        }
        let (places, nearest, fitting) = beside(self, &[])?;
        if self.takes_written(&found.up_to(nearest), &type_args, &base.ty, expected) {
            return None;
        }
        let parts = parts_of(Arg::Done(base.clone()), places);
        let call = Filling { name, type_args, first: name.span, statement: expected.statement, span };
        self.filled_call(&call, &found, fitting, parts, arguments)
    }

    /// The function that a name means, if it is one that a block declares, and nothing else.
    pub(in crate::check) fn local_function<'n>(&self, name: &'n Name) -> Option<Known<'n>> {
        let found = self.find(&name.text);
        let local = found.only().filter(|one| matches!(one, Candidate::Local(..)))?;
        self.known_groups(local).map(|groups| Known { name, groups, type_args: Vec::new() })
    }

    /// The call of the best of these functions.
    fn filled_call(
        &mut self,
        call: &Filling<'_>,
        found: &Found,
        fitting: Vec<Completed>,
        parts: Vec<Arg>,
        rest: &[&Expr],
    ) -> Option<Term> {
        let Filling { name, type_args, first, statement, span } = call;
        let (statement, span) = (*statement, *span);
        let rest = self.prepare_rest(found, rest);
        let types: Vec<Type> = parts.iter().map(Arg::ty).collect();
        let Completed { candidate, slots } = self.best_filled(name, found, fitting, type_args, &types)?;
        let scheme = match &candidate {
            Candidate::Top(chosen) => {
                self.note_callable(name.span, chosen);
                self.scheme(chosen, name.span)
            }
            Candidate::Local(..) => self.candidate_header(&candidate),
        };
        let instance = match self.instance(name, &scheme, type_args) {
            Some(instance) => instance,
            None => return Some(Term::new(TermKind::Error, Type::error(), span)),
        };
        self.oblige_all(&instance.constraints, name.span, &name.text);
        let mut known = self.known(name, &candidate, &instance.args);
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
                let contained = matches!(chosen, Callable::Function(id) if self.contained_here(id));
                self.effect(&name.text, contained, statement && rest.is_empty(), whole)
            }
        };
        let term = self.call_term(&chosen, &instance, argument, ty, name.span, whole);
        let term = terms::with_prefix(prefix, term);
        let term = self.open(term);
        let term = match rest.is_empty() {
            true => term,
            false => self.call_known(term, rest, Some(&known), statement, span),
        };
        Some(Term { span, ..term })
    }

    /// The argument for a group of parameters, with what is done before it: what is given in the
    /// order in which it is written, then the defaults.
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
            terms[at] = Some(if ordered { term } else { self.bound(term, &mut prefix) });
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

    /// The argument for the next group of parameters of a known function.
    pub(in crate::check) fn finish_group(
        &mut self,
        arg: Arg,
        group: &[Parameter],
        domain: &Type,
        known: &Known<'_>,
    ) -> Term {
        let Arg::Later(e, _) = arg else { return self.finish_arg(arg, domain, None) };
        let (places, named) = given_by(e);
        let given = Given { places: places.len(), names: named.iter().map(|(name, _)| name).collect() };
        let wanted = self.infer.settle(domain);
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
            return self.wrong(error, e.span);
        };
        let parts = if named.is_empty() {
            let whole = self.prepare(e);
            let takes = Scheme::new(Vec::new(), wanted, None);
            let ty = self.infer.zonk(&whole.ty());
            if slots.iter().all(Option::is_some) || self.round_of(&takes, &[], &ty).is_some() {
                return self.finish_arg(whole, domain, None);
            }
            parts_of(whole, given.places)
        } else {
            let values = places.into_iter().chain(named.iter().map(|(_, value)| value));
            values.map(|value| self.prepare(value)).collect()
        };
        let call = (known.name, &known.type_args[..]);
        let (prefix, argument) = self.filled_group(parts, &slots, group, domain, call, e.span);
        terms::with_prefix(prefix, argument)
    }

    /// The arguments after the first, as far as they can be read before the function is chosen:
    /// what may name parameters or leave some out waits.
    pub(in crate::check) fn prepare_rest<'e>(&mut self, found: &Found, rest: &[&'e Expr]) -> Vec<Arg<'e>> {
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
                true => Arg::Later(e, self.infer.fresh(Kind::Type)),
                false => self.prepare(e),
            });
        }
        args
    }

    /// What calls may say of a function that has been chosen, from its first group on.
    pub(in crate::check) fn known<'n>(
        &self,
        name: &'n Name,
        candidate: &Candidate,
        type_args: &[Type],
    ) -> Known<'n> {
        Known {
            name,
            groups: self.known_groups(candidate).unwrap_or_default(),
            type_args: type_args.to_vec(),
        }
    }

    /// The parameters of a function in their groups, or the fields of a struct, which its
    /// constructor takes; nothing of what has none by name.
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

    /// The parameters of the first group.
    fn known_parameters(&self, candidate: &Candidate) -> Option<Vec<Parameter>> {
        self.known_groups(candidate).map(|groups| groups.into_iter().next().unwrap_or_default())
    }

    /// Whether a call of one of these may leave something out of its first group.
    fn has_defaults(&self, found: &Found) -> bool {
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

    /// Whether one of these functions takes a value of this type, as it is, and gives a function.
    fn gives_function(&mut self, found: &Found, type_args: &[Type], ty: &Type) -> bool {
        let candidates: Vec<Candidate> = found.candidates().map(|(_, candidate)| candidate.clone()).collect();
        candidates.iter().any(|candidate| {
            let known = self.knows_result(candidate);
            let scheme = self.candidate_header(candidate);
            let result = scheme.result.as_ref().map(Type::kind);
            let function = matches!(
                result,
                Some(TypeKind::Function(..) | TypeKind::Procedure(_) | TypeKind::Var(_) | TypeKind::Meta(_))
            );
            (function || !known) && self.round_of(&scheme, type_args, ty).is_some()
        })
    }

    /// The functions of the nearest scope that can be given this by name or with defaults, with
    /// what each parameter gets.
    fn filled(&mut self, found: &Found, given: &Given<'_>) -> (usize, Vec<Completed>) {
        for (at, tier) in found.tiers.iter().enumerate() {
            let mut filled = Vec::new();
            for candidate in &tier.candidates {
                let slots = self.known_parameters(candidate).and_then(|known| given.fill(&known));
                let Some(slots) = slots else { continue };
                let as_written = given.names.is_empty() && slots.iter().all(Option::is_some);
                // A record is what a function of one type parameter, or of a record, takes.
                let record = !given.names.is_empty() && self.takes_record(candidate);
                if !as_written && !record {
                    filled.push(Completed { candidate: candidate.clone(), slots });
                }
            }
            if !filled.is_empty() {
                return (at, filled);
            }
            // Farther functions are not asked if one here takes the fields as the record that they
            // are.
            if tier.candidates.iter().any(|candidate| self.takes_fields(candidate, given)) {
                break;
            }
        }
        (0, Vec::new())
    }

    /// Whether what a function takes is, or may be, a record.
    fn takes_record(&mut self, candidate: &Candidate) -> bool {
        let domain = self.candidate_header(candidate).domain;
        matches!(domain.kind(), TypeKind::Record(_) | TypeKind::Var(_) | TypeKind::Meta(_))
    }

    /// Whether what a function takes is, or may be, a record of what is given, all of it by name.
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

    /// Whether fields can mean nothing but parameters: a function has all of the names, and more,
    /// and none takes a record.
    fn names_parameters(&mut self, found: &Found, given: &Given<'_>) -> bool {
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

    /// The one of several completed functions that takes the argument with the least conversion.
    fn best_filled(
        &mut self,
        name: &Name,
        found: &Found,
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
            let round = self.round_of(&scheme, type_args, &Type::product(types.to_vec()));
            fitting.extend(round.map(|round| (round, completed.clone())));
        }
        let least = fitting.iter().map(|(round, _)| *round).min();
        fitting.retain(|(round, _)| Some(*round) == least);
        if fitting.len() > 1 {
            let several: Vec<Candidate> =
                fitting.iter().map(|(_, completed)| completed.candidate.clone()).collect();
            self.ambiguous(name, found, &several);
        }
        match fitting.pop() {
            Some((_, completed)) => Some(completed),
            // The report is about the first.
            None => filled.into_iter().next(),
        }
    }

    /// What is wrong with a call that names parameters, where no function can be given that.
    fn none_filled(&self, name: &Name, found: &Found, given: &Given<'_>, span: Span) -> CallError {
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

    /// The value of a parameter that a call leaves out.
    fn default_of(&mut self, default: Option<FunctionId>, type_args: &[Type], ty: &Type, span: Span) -> Term {
        let Some(function) = default else { return Term::new(TermKind::Error, Type::error(), span) };
        let kind = self.function_value(function, type_args);
        let function = Term::new(kind, Type::function(Type::unit(), ty.clone()), span);
        Term::new(TermKind::Call(Box::new(function), vec![Term::unit(span)]), ty.clone(), span)
    }
}

/// What is wrong with what a call gives these parameters.
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
                        format!("its parameter is {}", error::quoted(&known))
                    }
                    None => format!("its parameters are {}", error::quoted(&known)),
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

/// What a call gives a group of so many places, one by one.
fn parts_of(whole: Arg<'_>, places: usize) -> Vec<Arg<'_>> {
    match whole {
        Arg::Tuple(parts, _) => parts,
        Arg::Done(Term { kind: TermKind::Tuple(parts), .. }) if places != 1 => {
            parts.into_iter().map(Arg::Done).collect()
        }
        // `f ()` gives nothing.
        Arg::Done(_) if places == 0 => Vec::new(),
        whole => vec![whole],
    }
}

/// A call that is being completed.
struct Filling<'n> {
    name: &'n Name,
    type_args: Vec<Type>,
    /// Where what it gives its first group stands.
    first: Span,
    /// The call is a statement by itself.
    statement: bool,
    span: Span,
}

/// The types of so many parameters.
fn parameter_types(domain: &Type, count: usize) -> Vec<Type> {
    if count == 1 {
        return vec![domain.clone()];
    }
    domain
        .components(count)
        .filter(|parts| parts.len() == count)
        .unwrap_or_else(|| vec![Type::error(); count])
}
