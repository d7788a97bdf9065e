//! Arguments by name, and values that parameters have where a call leaves them out.
//!
//! Only functions that are known by name have names of parameters, `f (3, scale = 2.0)`, and constructors of structs those of
//! their fields. A call is read as it is
//! written first. Where no function of the name takes the argument so, or where names are written, those functions of
//! the nearest scope are completed whose parameters have the names, and a default for each that is left out. What is
//! given is evaluated in the order in which it is written, then the defaults, at each call.
//!
//! The default of a parameter is a function of the program without parameters, with the type parameters of the
//! function it belongs to. It is checked where the function is declared, so it sees no parameter.

use super::apply::Arg;
use super::env::{Callable, Parameter, Scheme};
use super::error::CheckError;
use super::overload::{Candidate, Found, Round, Variable};
use super::{Checker, Pending};
use crate::core::{FunctionId, Term, TermKind};
use crate::source::Span;
use crate::suggest::similar;
use crate::syntax::ast::{self, Expr, ExprKind, Name, Param, PatternKind};
use crate::types::{NominalBody, Type, TypeKind};
use std::sync::Arc;

/// A function that a call can be completed for.
#[derive(Clone)]
struct Completed {
    candidate: Candidate,
    /// For each parameter the number of what the call gives for it; nothing where its default is taken.
    slots: Vec<Option<usize>>,
}

/// What a call gives a function: values by place, then by name.
struct Given<'e> {
    places: usize,
    names: Vec<&'e Name>,
}

impl Given<'_> {
    /// For each parameter the number of what is given for it, if these parameters can be given that.
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

impl Checker<'_> {
    /// What calls may say by name, and leave out, of a function that is being declared.
    pub(super) fn parameters_of(&mut self, params: &[Param], pending: &Pending) -> Vec<Parameter> {
        let mut parameters = Vec::new();
        for param in params {
            let name = match &param.pattern.kind {
                PatternKind::Name(name) if name.qualified().is_none() => Some(name.text.clone()),
                _ => None,
            };
            let default = param.default.as_ref().map(|default| {
                let id = self.new_function();
                let function = ast::Function {
                    is_proc: false,
                    generics: ast::Generics::default(),
                    params: vec![Vec::new()],
                    result: param.ty.clone(),
                    body: ast::Body::Expr(Box::new(default.clone())),
                    header: param.pattern.span,
                };
                let name = name.clone().unwrap_or_else(|| Arc::from("_"));
                let pending =
                    Pending { name, function: Arc::new(function), expected: None, ..pending.clone() };
                self.pending_functions.insert(id, pending);
                id
            });
            parameters.push(Parameter { name, default });
        }
        parameters
    }

    /// Reports defaults of parameters that no call can leave out.
    pub(super) fn no_defaults(&mut self, params: &[Param]) {
        for default in params.iter().filter_map(|param| param.default.as_ref()) {
            self.report(CheckError::DefaultHere { span: default.span });
        }
    }

    /// A call that names parameters or leaves some out; nothing if it is none, before anything of it is read.
    pub(super) fn completed_call(
        &mut self,
        head: &Expr,
        arguments: &[&Expr],
        hint: Option<&Type>,
        at_statement: bool,
        span: Span,
    ) -> Option<Term> {
        let (name, type_args): (&Name, &[ast::TypeExpr]) = super::apply::key_name(head)?;
        let (first, rest) = arguments.split_first()?;
        let (places, named): (Vec<&Expr>, &[(Name, Expr)]) = match &first.kind {
            ExprKind::Arguments(places, named) => (places.iter().collect(), named),
            ExprKind::Record(fields) => (Vec::new(), fields),
            ExprKind::Tuple(parts) => (parts.iter().collect(), &[]),
            _ => (vec![*first], &[]),
        };
        let given = Given { places: places.len(), names: named.iter().map(|(name, _)| name).collect() };
        let found = self.find(&name.text);
        let must = matches!(first.kind, ExprKind::Arguments(..)) || self.names_parameters(&found, &given);
        let (nearest, fitting) = self.filled(&found, &given);
        if fitting.is_empty() {
            if must {
                let error = self.not_filled(name, &found, &given, first.span);
                return Some(self.wrong(error, span));
            }
            return None;
        }
        let type_args: Vec<Type> = self.lower_arguments(type_args);
        let mut parts: Vec<Arg> = match must || !named.is_empty() {
            true => {
                let values = places.into_iter().chain(named.iter().map(|(_, value)| value));
                values.map(|value| self.prepare(value)).collect()
            }
            false => {
                let whole = self.prepare(first);
                let ty = self.infer.zonk(&whole.ty());
                // A farther function is not asked where a nearer one is completed.
                let near = Found { tiers: found.tiers[..=nearest].to_vec(), variable: None };
                if self.takes_written(&near, &type_args, &ty, hint) {
                    let rest = rest.iter().map(|argument| self.prepare(argument));
                    let args = std::iter::once(whole).chain(rest.collect::<Vec<_>>()).collect();
                    return Some(self.call_name(name, &type_args, args, hint, at_statement, span));
                }
                match whole {
                    Arg::Tuple(parts, _) => parts,
                    Arg::Done(Term { kind: TermKind::Tuple(parts), .. }) if given.places != 1 => {
                        parts.into_iter().map(Arg::Done).collect()
                    }
                    // `f ()` gives nothing.
                    Arg::Done(_) if given.places == 0 => Vec::new(),
                    whole => vec![whole],
                }
            }
        };
        let rest: Vec<Arg> = rest.iter().map(|argument| self.prepare(argument)).collect();
        let types: Vec<Type> = parts.iter().map(Arg::ty).collect();
        let Completed { candidate, slots } = self.best_filled(name, &found, fitting, &type_args, &types)?;
        let known = self.known_parameters(&candidate).unwrap_or_default();
        let scheme = match &candidate {
            Candidate::Top(chosen) => {
                self.note_callable(name.span, chosen);
                self.scheme(chosen, name.span)
            }
            Candidate::Local(..) => self.candidate_header(&candidate),
        };
        let instance = match self.instance(name, &scheme, &type_args) {
            Some(instance) => instance,
            None => return Some(Term::new(TermKind::Error, Type::error(), span)),
        };
        self.oblige_all(&instance.constraints, name.span, &name.text);
        let domains = parameter_types(&instance.domain, slots.len());
        let mut place_of: Vec<usize> = vec![0; parts.len()];
        for (at, slot) in slots.iter().enumerate() {
            if let Some(number) = slot {
                place_of[*number] = at;
            }
        }
        let ordered = place_of.windows(2).all(|pair| pair[0] < pair[1]);
        let mut terms: Vec<Option<Term>> = vec![None; slots.len()];
        let mut prefix = Vec::new();
        for (part, at) in parts.drain(..).zip(place_of) {
            let words = match known.get(at).and_then(|parameter| parameter.name.as_ref()) {
                Some(parameter) => format!("`{parameter}` of `{}` is `{}`", name.text, domains[at]),
                None => format!("`{}` takes `{}` here", name.text, domains[at]),
            };
            let term = self.finish_arg(part, &domains[at], Some((name.span, words)));
            terms[at] = Some(if ordered { term } else { self.bound(term, &mut prefix) });
        }
        let end = first.span.after();
        let terms: Vec<Term> = terms
            .into_iter()
            .enumerate()
            .map(|(at, term)| match term {
                Some(term) => term,
                None => {
                    let default = known.get(at).and_then(|parameter| parameter.default);
                    default_of(default, &instance.args, &domains[at], end)
                }
            })
            .collect();
        let whole = name.span.to(first.span);
        let argument = match <[Term; 1]>::try_from(terms) {
            Ok([one]) => one,
            Err(terms) => Term::new(TermKind::Tuple(terms), instance.domain.clone(), first.span),
        };
        let chosen = match candidate {
            Candidate::Top(chosen) => chosen,
            Candidate::Local(depth, binding) => {
                let function = self.variable_term(&Variable::Local(depth, binding), name);
                let args = std::iter::once(Arg::Done(argument)).chain(rest).collect();
                let term = self.call_value(function, args, at_statement, span);
                return Some(super::expr::with_prefix(prefix, term));
            }
        };
        let ty = match &instance.result {
            Some(result) => result.clone(),
            None => {
                let contained = matches!(chosen, Callable::Function(id) if self.contained_here(id));
                self.effect(&name.text, contained, at_statement && rest.is_empty(), whole)
            }
        };
        let term = self.call_term(&chosen, &instance, argument, ty, name.span, whole);
        let term = super::expr::with_prefix(prefix, term);
        let term = self.open(term);
        let term = if rest.is_empty() { term } else { self.call_value(term, rest, at_statement, span) };
        Some(Term { span, ..term })
    }

    /// The parameters of a function, or the fields of a struct, which its constructor takes; nothing of what has none by
    /// name.
    fn known_parameters(&self, candidate: &Candidate) -> Option<Vec<Parameter>> {
        match candidate {
            Candidate::Top(Callable::Function(id)) => Some(self.env.signatures.get(id)?.parameters.clone()),
            Candidate::Top(Callable::Struct(nominal)) => match nominal.body()? {
                NominalBody::Struct(fields) => {
                    let field =
                        |(name, _): &(Arc<str>, Type)| Parameter { name: Some(name.clone()), default: None };
                    Some(fields.iter().map(field).collect())
                }
                _ => None,
            },
            Candidate::Top(_) => None,
            Candidate::Local(_, binding) => self.item.local_parameters.get(&binding.span).cloned(),
        }
    }

    /// The functions of the nearest scope that can be given this by name or with defaults, with what each
    /// parameter gets.
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
            // Farther functions are not asked if one here takes the fields as the record that they are.
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

    /// Whether fields can mean nothing but parameters: a function has all of the names, and more, and none takes a
    /// record.
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

    /// What is wrong with a call that names parameters.
    fn not_filled(&self, name: &Name, found: &Found, given: &Given<'_>, span: Span) -> CheckError {
        let mut known = found.candidates().filter_map(|(_, candidate)| self.known_parameters(candidate));
        let function = name.text.to_string();
        let Some(parameters) = known.next() else {
            let method = |candidate: &Candidate| matches!(candidate, Candidate::Top(Callable::Method(..)));
            let method = found.candidates().any(|(_, candidate)| method(candidate));
            return CheckError::NamedHere { span, method };
        };
        let known = |name: &Name| parameters.iter().position(|p| p.name.as_ref() == Some(&name.text));
        for name in &given.names {
            let twice = given.names.iter().filter(|other| other.text == name.text).count() > 1;
            match known(name) {
                None => {
                    let known: Vec<&str> = parameters.iter().filter_map(|p| p.name.as_deref()).collect();
                    let similar = similar(&name.text, known.iter().copied());
                    let help = match similar {
                        Some(similar) => format!("did you mean `{similar}`?"),
                        None => format!("its parameters are {}", super::error::quoted(&known)),
                    };
                    let words = format!("`{function}` has no parameter `{}`", name.text);
                    return CheckError::WrongNamed { span: name.span, words, help };
                }
                Some(at) if at < given.places || twice => {
                    let words = format!("`{}` is given twice", name.text);
                    let help = "give it by its place or by its name".to_string();
                    return CheckError::WrongNamed { span: name.span, words, help };
                }
                Some(_) => {}
            }
        }
        if given.places > parameters.len() {
            let words = format!("`{function}` has {}", super::error::count(parameters.len(), "parameter"));
            return CheckError::WrongNamed { span, words, help: "leave out what is too much".into() };
        }
        let missing = parameters.iter().enumerate().find(|(at, parameter)| {
            let named = given.names.iter().any(|name| parameter.name.as_ref() == Some(&name.text));
            *at >= given.places && !named && parameter.default.is_none()
        });
        let missing = missing.and_then(|(_, parameter)| parameter.name.clone());
        let missing = missing.map_or_else(|| "a parameter".to_string(), |name| format!("`{name}`"));
        let words = format!("this call of `{function}` gives {missing} no value");
        CheckError::WrongNamed {
            span,
            words,
            help: "a parameter without a default is given in each call".into(),
        }
    }
}

/// The value of a parameter that a call leaves out.
fn default_of(default: Option<FunctionId>, type_args: &[Type], ty: &Type, span: Span) -> Term {
    let Some(function) = default else { return Term::new(TermKind::Error, Type::error(), span) };
    let kind = TermKind::Closure { function, type_args: type_args.to_vec(), captures: Vec::new() };
    let function = Term::new(kind, Type::function(Type::unit(), ty.clone()), span);
    Term::new(TermKind::Call(Box::new(function), vec![Term::unit(span)]), ty.clone(), span)
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
