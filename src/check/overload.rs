//! Which of several functions a name means: the scopes that are searched, and the choice among what
//! they hold.
//!
//! **Scopes**, near to far: the blocks around, innermost first; this module (a session is one); names
//! imported one by one; names imported with `*`; the library ([`Scope`]). Each that has functions of the
//! name is a *tier* ([`Found`]). A `val`, `var` or parameter of the name ends the search, and so does a case
//! without argument, which is a value: what is farther is hidden by it.
//!
//! **Choice.** The tiers are asked one after the other, and the first in which a candidate fits decides;
//! farther ones are not looked at. A candidate fits if its declared parameter type, and what it asks of its
//! type arguments, take the type of the argument, in three rounds ([`Round`]): as it is; with literals at
//! another type than their own; with conversions that lose nothing. The first round in which anything of the
//! tier fits counts. Of what fits there, the least conversion, then the most specific parameter type, then
//! the wanted result decide. If several are left: E0404. If no tier has one that fits, the variable that
//! ended the search is called; without one: E0403, or what is wrong with the only function that the program
//! itself has of the name.
//!
//! Result types take no part in fitting. So a body that calls another function of its own name asks nothing
//! of itself, and only a call that selects the function being checked needs its result written.
//!
//! **Holes.** Unification with a candidate may solve holes of the argument's type: then the candidate fits
//! for some types that the argument may turn out to have. If that is so of all that fit in the near tier, and
//! a farther tier could take the argument, too, the hole decides between near and far. Such a call *waits*
//! ([`Waiting`]): it gets a hole for its result, and is chosen at the end of the statement or of the function
//! around it, when the rest has said what it can, or where something has to know the type of its result
//! ([`Checker::decide`]). If the hole is still open then, the near tier decides against the library, for a
//! program means the same whatever names the library gets; between other scopes: E0404. What waits for its
//! place itself (a function with untyped parameters, `case n e`, a name of several functions) says nothing
//! about the choice: its type comes from the nearest candidate whose shape it has.
//!
//! In a generic body a type variable is rigid, so it fits only what is declared for all its values, and the
//! choice is made once for all of them.
//!
//! Cost: each candidate of the tiers up to the one that decides is unified with the argument once in each
//! round tried; a name with one candidate is not tried at all.

use super::apply::Arg;
use super::constraint::Answer;
use super::env::{Callable, Scheme, Scope};
use super::error::CheckError;
use super::infer::accepts;
use super::{Binding, Checker, Definition};
use crate::core::{FunctionId, GlobalId, Prim, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::{SourceId, Span};
use crate::syntax::ast;
use crate::types::number::{conversion_cost, widened};
use crate::types::{Kind, Meta, NominalBody, Type, TypeKind};
use std::sync::Arc;

/// What an argument has to become for a candidate to take it, from the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Round {
    /// Nothing: literals have their own type.
    AsIs,
    /// Literals have another number type.
    Literals,
    /// Literals are values of a declared type.
    Declared,
    /// Numbers are converted without loss.
    Converted,
    /// Values are converted without loss by instances, too.
    ByInstance,
}

impl Round {
    const ALL: [Round; 5] =
        [Round::AsIs, Round::Literals, Round::Declared, Round::Converted, Round::ByInstance];

    /// The round in words, after "fits".
    pub(super) fn words(self) -> &'static str {
        match self {
            Round::AsIs => "as it is",
            Round::Literals | Round::Declared => "with literals at another type",
            Round::Converted | Round::ByInstance => "with a conversion",
        }
    }

    fn converts(self) -> bool {
        self >= Round::Converted
    }
}

/// A scope among those that are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A block, or the function around it.
    Block,
    /// One of the scopes of the top level.
    Top(Scope),
}

impl Place {
    /// The place in words, after "in".
    pub(super) fn words(self) -> &'static str {
        match self {
            Place::Block => "this function",
            Place::Top(scope) => scope.words(),
        }
    }
}

/// One of the functions that a name may mean.
#[derive(Clone, Debug)]
pub(super) enum Candidate {
    /// One of the top level.
    Top(Callable),
    /// One declared in a function: the frame that has it, and the variable that holds it.
    Local(usize, Binding),
}

impl Candidate {
    /// Whether it is the same function as another.
    pub(super) fn is(&self, other: &Candidate) -> bool {
        match (self, other) {
            (Candidate::Top(one), Candidate::Top(other)) => one == other,
            (Candidate::Local(_, one), Candidate::Local(_, other)) => one.span == other.span,
            _ => false,
        }
    }
}

/// The functions of a name in one scope.
#[derive(Clone, Debug)]
pub(super) struct Tier {
    pub place: Place,
    pub candidates: Vec<Candidate>,
}

/// The variable that ended a search.
#[derive(Clone, Debug)]
pub(super) enum Variable {
    Local(usize, Binding),
    Global(GlobalId),
}

/// What a name may mean, near to far.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    pub tiers: Vec<Tier>,
    pub variable: Option<Variable>,
}

impl Found {
    /// Every function, near to far.
    pub(super) fn candidates(&self) -> impl Iterator<Item = (Place, &Candidate)> {
        self.tiers.iter().flat_map(|tier| tier.candidates.iter().map(|c| (tier.place, c)))
    }

    /// What is as near as this tier, or nearer; no variable.
    pub(super) fn up_to(&self, tier: usize) -> Found {
        Found { tiers: self.tiers[..=tier].to_vec(), variable: None }
    }

    /// The only function that a program has declared of the name: what is wrong with a call is said of it,
    /// whatever the library has of the name.
    fn own(&self) -> Option<&Candidate> {
        let mut own = self.candidates().filter(|(place, _)| *place != Place::Top(Scope::Library));
        let first = own.next().map(|(_, candidate)| candidate);
        if own.next().is_some() { None } else { first }
    }

    /// The primitive, where all else is methods: which of these are known depends on the types that a text names, and what is
    /// said of a wrong argument should not.
    fn only_primitive(&self) -> Option<&Candidate> {
        let method = |candidate: &&Candidate| matches!(candidate, Candidate::Top(Callable::Method(..)));
        let mut others = self.candidates().map(|(_, candidate)| candidate).filter(|one| !method(one));
        let first = others.next().filter(|one| matches!(one, Candidate::Top(Callable::Prim(_))));
        if others.next().is_some() { None } else { first }
    }

    /// The only thing that the name can mean, if that is a function.
    pub(super) fn only(&self) -> Option<&Candidate> {
        let mut all = self.candidates();
        let first = all.next().map(|(_, candidate)| candidate);
        if all.next().is_some() || self.variable.is_some() { None } else { first }
    }
}

/// What a choice came to.
pub(super) enum Choice {
    Candidate(Candidate),
    /// No function fits, and a variable of the name is farther.
    Variable(Variable),
    /// A hole of the argument decides between near and far.
    Waits,
    /// A mistake, which has been reported.
    Nothing,
}

/// What came out of asking the tiers.
enum Selection {
    /// One, of the tier with this number, in this round.
    One(Candidate, usize, Round),
    /// Several that fit equally well.
    Several(Vec<Candidate>),
    /// A hole decides between these.
    Open(Vec<Candidate>),
    None,
}

/// A call whose function is not chosen yet.
pub(super) struct Waiting {
    /// What stands for the function meanwhile: the number of none.
    id: FunctionId,
    name: ast::Name,
    type_args: Vec<Type>,
    argument: Term,
    found: Found,
    result: Type,
    /// How many functions were being checked around it.
    depth: usize,
    span: Span,
}

/// Numbers from here on are those of calls that wait. No program has so many functions.
const FIRST_WAITING: FunctionId = FunctionId::MAX / 2;

impl Checker<'_> {
    /// The type of something that can be called, its result type with it.
    pub(super) fn scheme(&mut self, callable: &Callable, span: Span) -> Scheme {
        if let Callable::Function(id) = callable {
            self.ensure_result(*id, span);
        }
        self.header(callable)
    }

    /// The type of something that can be called, as far as it is known without checking a body.
    pub(super) fn header(&mut self, callable: &Callable) -> Scheme {
        match callable {
            Callable::Function(id) => match self.env.signatures.get(id) {
                Some(signature) => signature.scheme.clone(),
                None => Scheme::new(Vec::new(), Type::error(), Some(Type::error())),
            },
            Callable::Prim(prim) => self.prim_scheme(*prim).0,
            Callable::Method(class, method) => match self.env.classes.get(class) {
                Some(class) => class.methods[*method].scheme.clone(),
                None => Scheme::new(Vec::new(), Type::error(), Some(Type::error())),
            },
            Callable::Case(nominal, case) => {
                let args: Vec<Type> = nominal.params.iter().cloned().map(Type::var).collect();
                let domain = match nominal.body() {
                    Some(NominalBody::Variant(cases)) => cases[*case].1.clone(),
                    _ => Type::error(),
                };
                let result = Some(Type::nominal(nominal.clone(), args));
                let constraints = self.constraints_of(&nominal.params);
                Scheme { params: nominal.params.clone(), domain, result, constraints }
            }
            Callable::Struct(nominal) => {
                let args: Vec<Type> = nominal.params.iter().cloned().map(Type::var).collect();
                let domain = match nominal.body() {
                    Some(NominalBody::Struct(fields)) => {
                        Type::product(fields.iter().map(|(_, ty)| ty.clone()).collect())
                    }
                    _ => Type::error(),
                };
                let result = Some(Type::nominal(nominal.clone(), args));
                let constraints = self.constraints_of(&nominal.params);
                Scheme { params: nominal.params.clone(), domain, result, constraints }
            }
        }
    }

    /// The type of a primitive and the number of its arguments, read when first used.
    pub(super) fn prim_scheme(&mut self, prim: Prim) -> (Scheme, usize) {
        if let Some(known) = self.env.prim_schemes.get(&prim) {
            return known.clone();
        }
        let (params, ty) = match prim.signature().strip_prefix('[').and_then(|s| s.split_once(']')) {
            Some((params, ty)) => (params, ty),
            None => ("", prim.signature()),
        };
        let read = self.aside(|this| {
            let mut vars = Vec::new();
            for param in params.split(',').filter(|p| !p.is_empty()) {
                let (name, kind) = param.split_once(':').unwrap_or((param, "TYPE"));
                let kind = Kind::named(kind.trim()).unwrap_or(Kind::Type);
                let var = this.env.fresh_var(&Arc::from(name.trim()), kind);
                this.item.type_scope.insert(var.name.clone(), Type::var(var.clone()));
                vars.push(var);
            }
            let source =
                crate::source::Source { id: SourceId::default(), name: String::new(), text: ty.to_string() };
            let (tree, _) = crate::syntax::parse_type(&source);
            let arity = match tree.as_ref().map(|t| &t.kind) {
                Some(ast::TypeExprKind::Function(domain, _)) => match &domain.kind {
                    ast::TypeExprKind::Product(parts) => parts.len(),
                    _ => 1,
                },
                _ => 1,
            };
            let ty = tree.map_or_else(Type::error, |t| this.lower(&t));
            let scheme = match ty.kind() {
                TypeKind::Function(domain, result) => Scheme::new(vars, domain.clone(), Some(result.clone())),
                TypeKind::Procedure(domain) => Scheme::new(vars, domain.clone(), None),
                _ => Scheme::new(vars, Type::error(), Some(Type::error())),
            };
            (scheme, arity)
        });
        self.env.prim_schemes.insert(prim, read.clone());
        read
    }

    /// The parameter type of a candidate, its result type as far as it is known.
    pub(super) fn candidate_header(&mut self, candidate: &Candidate) -> Scheme {
        match candidate {
            Candidate::Top(callable) => self.header(callable),
            Candidate::Local(depth, binding) => {
                let local = &self.item.frames[*depth].locals[binding.local as usize];
                let ty = self.infer.zonk(&local.ty);
                match ty.kind() {
                    TypeKind::Function(domain, result) => {
                        Scheme::new(Vec::new(), domain.clone(), Some(result.clone()))
                    }
                    TypeKind::Procedure(domain) => Scheme::new(Vec::new(), domain.clone(), None),
                    _ => Scheme::new(Vec::new(), Type::error(), Some(Type::error())),
                }
            }
        }
    }

    /// Whether the result type of a candidate is known, or can be made known now.
    pub(super) fn knows_result(&mut self, candidate: &Candidate) -> bool {
        let Candidate::Top(Callable::Function(id)) = candidate else { return true };
        if self.pending_functions.contains_key(id) {
            let unknown = self.env.signatures.get(id).is_some_and(|s| s.unknown_result);
            if unknown {
                self.ensure_checked(*id);
            }
        }
        self.env.signatures.get(id).is_none_or(|s| !s.unknown_result)
    }

    /// What a name may mean here.
    pub(super) fn find(&self, name: &str) -> Found {
        let mut found = Found::default();
        for (depth, frame) in self.item.frames.iter().enumerate().rev() {
            for binding in frame.scopes.iter().rev().filter_map(|scope| scope.get(name)) {
                if !binding.function {
                    found.variable = Some(Variable::Local(depth, binding.clone()));
                    return found;
                }
                let all = std::iter::once(binding).chain(&binding.overloads);
                let candidate = |one: &Binding| match one.generic {
                    Some(id) => Candidate::Top(Callable::Function(id)),
                    None => Candidate::Local(depth, one.clone()),
                };
                let candidates = all.map(candidate).collect();
                found.tiers.push(Tier { place: Place::Block, candidates });
            }
        }
        if let Some(Definition::Global { id, .. }) = self.env.values.get(name) {
            found.variable = Some(Variable::Global(*id));
            return found;
        }
        for (callable, scope) in self.env.candidates(name).scoped() {
            let place = Place::Top(scope);
            let candidate = Candidate::Top(callable.clone());
            match found.tiers.last_mut() {
                Some(tier) if tier.place == place => tier.candidates.push(candidate),
                Some(tier) if tier.candidates.iter().any(is_constant) => return found,
                _ => found.tiers.push(Tier { place, candidates: vec![candidate] }),
            }
        }
        found
    }

    /// Whether a name means functions here, and more than the one that a variable of a block holds.
    pub(super) fn names_callable(&self, name: &ast::Name) -> bool {
        let (local, all) = self.count(&name.text);
        all > local || all > 1
    }

    /// Whether a name means a constant of an enumeration here, which is an index.
    pub(super) fn names_index(&self, name: &ast::Name) -> bool {
        let callables = self.env.candidates(&name.text);
        let index = |callable: &Callable| matches!(callable, Callable::Case(of, _) if of.is_enumeration());
        callables.iter().any(index) && {
            let found = self.find(&name.text);
            let constant = |one: &Candidate| matches!(one, Candidate::Top(callable) if index(callable));
            found.variable.is_none()
                && found.tiers.first().is_some_and(|tier| tier.candidates.iter().any(constant))
        }
    }

    /// Whether a name stands for several functions, so that its place has to tell which is meant.
    pub(super) fn names_several(&self, name: &ast::Name) -> bool {
        self.count(&name.text).1 > 1
    }

    /// How many meanings a name has that a choice is among: those in blocks, and all. None if the nearest is
    /// a variable.
    fn count(&self, name: &str) -> (usize, usize) {
        let (mut local, mut generic) = (0, 0);
        for frame in self.item.frames.iter().rev() {
            for binding in frame.scopes.iter().rev().filter_map(|scope| scope.get(name)) {
                if !binding.function {
                    // The variable is what is left if none of the functions fits.
                    let variable = usize::from(local + generic > 0);
                    return (local + variable, local + generic + variable);
                }
                let all = std::iter::once(binding).chain(&binding.overloads);
                let (with, without): (Vec<&Binding>, Vec<&Binding>) =
                    all.partition(|one| one.generic.is_some());
                generic += with.len();
                local += without.len();
            }
        }
        match self.env.values.get(name) {
            Some(Definition::Callables(callables)) => (local, local + generic + callables.len()),
            Some(Definition::Global { .. }) if local + generic > 0 => (local + 1, local + generic + 1),
            _ => (local, local + generic),
        }
    }

    /// The term of a variable or local function that was found.
    pub(super) fn variable_term(&mut self, variable: &Variable, name: &ast::Name) -> Term {
        match variable {
            Variable::Local(depth, binding) => {
                let (binding, _) = self.captured(*depth, binding.clone());
                self.note(name.span, |_| Some(super::annotations::Referent::At(binding.span)));
                self.local_term(binding.local, name.span)
            }
            Variable::Global(id) => {
                self.note_global(name.span, &name.text);
                let ty = self.program.globals[*id as usize].ty.clone();
                Term::new(TermKind::Global(*id), ty, name.span)
            }
        }
    }

    /// The candidates of one scope that can have the wanted type.
    pub(super) fn fitting(
        &mut self,
        candidates: &[Candidate],
        type_args: &[Type],
        wanted: Option<&Type>,
        span: Span,
    ) -> Vec<Candidate> {
        let mut fitting: Vec<Candidate> = Vec::new();
        for candidate in candidates {
            let scheme = match candidate {
                Candidate::Top(callable) => self.scheme(callable, span),
                Candidate::Local(..) => self.candidate_header(candidate),
            };
            let mark = self.infer.mark();
            let instance =
                scheme.instantiate(&mut self.infer, &type_args[..type_args.len().min(scheme.params.len())]);
            let ty = instance.ty();
            let fits = match wanted {
                Some(wanted) if !is_constant(candidate) => {
                    self.infer.unify(&ty, wanted).is_ok()
                        && instance.constraints.iter().all(|c| !self.entails(c).fails())
                }
                _ => true,
            };
            self.infer.undo(mark);
            if fits {
                fitting.push(candidate.clone());
            }
        }
        fitting
    }

    /// The function that an argument selects.
    pub(super) fn choose(
        &mut self,
        name: &ast::Name,
        found: &Found,
        type_args: &[Type],
        arg: &Arg,
        hint: Option<&Type>,
        may_wait: bool,
    ) -> Choice {
        if let Some(only) = found.only() {
            return Choice::Candidate(only.clone());
        }
        let ty = self.infer.zonk(&arg.ty());
        if mentions_error(&ty) {
            return Choice::Nothing;
        }
        let waits = matches!(arg, Arg::Done(_));
        let ty = &ty;
        match self.ask_tiers(found, type_args, ty, (waits, may_wait), hint) {
            Selection::One(candidate, tier, round) => {
                self.note_choice(name, found, type_args, ty, &candidate);
                self.note_conversion(name, found, type_args, ty, (&candidate, tier, round));
                Choice::Candidate(candidate)
            }
            Selection::Open(_) if may_wait => Choice::Waits,
            Selection::Several(several) | Selection::Open(several) => {
                self.ambiguous(name, found, &several);
                Choice::Nothing
            }
            Selection::None => {
                if let Some(variable) = &found.variable {
                    return Choice::Variable(variable.clone());
                }
                if let Some(only) = found.own() {
                    return Choice::Candidate(only.clone());
                }
                let argument = self.infer.settle(ty);
                // A type parameter may belong to the class of a method: that is asked for.
                if let (Some(only), false) = (found.only_primitive(), argument.has_var()) {
                    return Choice::Candidate(only.clone());
                }
                let candidates = self.refusals(&name.text, found, type_args, &argument);
                let element = match argument.kind() {
                    TypeKind::Array(element, _) => element,
                    _ => &argument,
                };
                let empty = super::expr::may_be_empty(element).map(|(_, words)| words.into());
                let help = empty.or_else(|| self.conversion_help(found, &argument, arg.span()));
                self.report(CheckError::NoOverload {
                    span: name.span.to(arg.span()),
                    name: name.text.to_string(),
                    argument,
                    candidates,
                    help,
                });
                Choice::Nothing
            }
        }
    }

    /// The conversion of a number to one that a candidate takes, or what to ask of a type parameter.
    fn conversion_help(&mut self, found: &Found, argument: &Type, span: Span) -> Option<Help> {
        let callables: Vec<Callable> = found
            .candidates()
            .filter_map(|(_, candidate)| match candidate {
                Candidate::Top(callable) => Some(callable.clone()),
                Candidate::Local(..) => None,
            })
            .collect();
        let number = callables.iter().find_map(|callable| {
            self.header(callable).domain.as_scalar().filter(|scalar| scalar.is_number())
        });
        let number = number?;
        if let Some(words) = super::expr::asked_of_parameter(argument, &Type::scalar(number)) {
            return Some(words.into());
        }
        argument.as_scalar().filter(|scalar| scalar.is_number())?;
        let name = number.name();
        Some(Help::around(format!("convert it explicitly: `:> {name}`"), span, &format!(" :> {name}"), ""))
    }

    /// Whether some function of a name takes an argument as it is written.
    pub(super) fn takes_written(
        &mut self,
        found: &Found,
        type_args: &[Type],
        ty: &Type,
        hint: Option<&Type>,
    ) -> bool {
        !matches!(self.ask_tiers(found, type_args, ty, (false, false), hint), Selection::None)
    }

    pub(super) fn ambiguous(&mut self, name: &ast::Name, found: &Found, several: &[Candidate]) {
        let candidates = self.describe(&name.text, found, several);
        self.report(CheckError::Ambiguous { span: name.span, name: name.text.to_string(), candidates });
    }

    /// Asks the tiers, near to far. With `waits` holes of the argument may be left to decide; unless `may_wait`,
    /// nothing more will be known of them, and what the library has does not make the call ambiguous.
    fn ask_tiers(
        &mut self,
        found: &Found,
        type_args: &[Type],
        ty: &Type,
        (waits, may_wait): (bool, bool),
        hint: Option<&Type>,
    ) -> Selection {
        let holes = if waits { self.infer.open_holes(ty) } else { Vec::new() };
        for (at, tier) in found.tiers.iter().enumerate() {
            let Some((round, fitting)) = self.fit_in(&tier.candidates, type_args, ty, &holes) else {
                continue;
            };
            let certain = holes.is_empty() || fitting.iter().any(|(_, certain)| *certain);
            let fitting: Vec<Candidate> = fitting.into_iter().map(|(candidate, _)| candidate).collect();
            if !certain {
                let counts = |tier: &&Tier| may_wait || tier.place != Place::Top(Scope::Library);
                let farther = found.tiers[at + 1..].iter().filter(counts);
                let far = farther.filter_map(|tier| self.fit_in(&tier.candidates, type_args, ty, &[]));
                let far: Vec<Candidate> = far.flat_map(|(_, fitting)| fitting).map(|(c, _)| c).collect();
                if !far.is_empty() {
                    return Selection::Open(fitting.into_iter().chain(far).collect());
                }
            }
            let mut best = self.nearest(fitting, ty, round);
            best = self.most_specific(&best);
            if best.len() > 1 {
                best = self.by_result(best, type_args, ty, hint);
            }
            return match <[Candidate; 1]>::try_from(best) {
                Ok([one]) => Selection::One(one, at, round),
                Err(several) => Selection::Several(several),
            };
        }
        Selection::None
    }

    /// The candidates of one scope that fit, in the first round in which any does, and whether each does
    /// so whatever the holes become.
    fn fit_in(
        &mut self,
        candidates: &[Candidate],
        type_args: &[Type],
        ty: &Type,
        holes: &[Meta],
    ) -> Option<(Round, Vec<(Candidate, bool)>)> {
        let schemes: Vec<Scheme> = candidates.iter().map(|c| self.candidate_header(c)).collect();
        Round::ALL.into_iter().find_map(|round| {
            let mut fitting = Vec::new();
            for (candidate, scheme) in candidates.iter().zip(&schemes) {
                let certain = self.fits(scheme, type_args, ty, round, holes);
                fitting.extend(certain.map(|certain| (candidate.clone(), certain)));
            }
            (!fitting.is_empty()).then_some((round, fitting))
        })
    }

    /// The first round in which a candidate takes an argument.
    pub(super) fn round_of(&mut self, scheme: &Scheme, type_args: &[Type], ty: &Type) -> Option<Round> {
        Round::ALL.into_iter().find(|round| self.fits(scheme, type_args, ty, *round, &[]).is_some())
    }

    /// Whether a candidate takes an argument in a round; if so, whether it does whatever the holes become.
    fn fits(
        &mut self,
        scheme: &Scheme,
        type_args: &[Type],
        ty: &Type,
        round: Round,
        holes: &[Meta],
    ) -> Option<bool> {
        if type_args.len() > scheme.params.len()
            || scheme.params.iter().zip(type_args).any(|(p, t)| !accepts(p.kind, t))
        {
            return None;
        }
        let mark = self.infer.mark();
        let instance = scheme.instantiate(&mut self.infer, type_args);
        let ty = match round {
            Round::AsIs => self.infer.settle(ty),
            Round::Literals => ty.clone(),
            Round::Converted => widened(&self.infer.settle(ty), &instance.domain),
            Round::Declared | Round::ByInstance => self.adapted(ty, &instance.domain, round),
        };
        let domain = self.at_some_sizes(&instance.domain);
        let mut fits = self.infer.unify(&ty, &domain).is_ok();
        let mut certain = fits && holes.iter().all(|hole| self.infer.is_open_hole(hole));
        if fits {
            for constraint in &instance.constraints {
                let answer = self.entails(constraint);
                fits &= !answer.fails();
                certain &= holes.is_empty() || answer == Answer::Yes;
            }
        }
        self.infer.undo(mark);
        fits.then_some(certain)
    }

    /// The type of a parameter, with holes for sizes that a value brings along where one is put together.
    fn at_some_sizes(&mut self, ty: &Type) -> Type {
        match ty.kind() {
            TypeKind::Exists(count, _) => {
                let sizes: Vec<Type> = (0..*count).map(|_| self.infer.fresh(Kind::Compact)).collect();
                ty.opened(&sizes)
            }
            TypeKind::Product(parts) => {
                Type::product(parts.iter().map(|part| self.at_some_sizes(part)).collect())
            }
            _ => ty.clone(),
        }
    }

    /// What an argument becomes on its way to a parameter where instances say what literals are, and in
    /// the last round how values are widened.
    fn adapted(&mut self, from: &Type, to: &Type, round: Round) -> Type {
        let (from, to) = (self.infer.shallow(from), self.infer.zonk(to));
        if self.becomes_literal(&from, &to) {
            return to;
        }
        match (from.kind(), to.kind()) {
            (TypeKind::Scalar(a), TypeKind::Scalar(b)) if round.converts() && a.fits(*b) => to,
            (TypeKind::Array(t, i), TypeKind::Array(u, _)) => {
                Type::array(self.adapted(t, u, round), i.clone())
            }
            (TypeKind::Product(_) | TypeKind::Array(..), TypeKind::Product(_) | TypeKind::Array(..)) => {
                const MOST: usize = super::expr::MOST_COMPONENTS;
                let length = match (from.kind(), to.kind()) {
                    (TypeKind::Product(parts), _) | (_, TypeKind::Product(parts)) => parts.len(),
                    _ => MOST,
                };
                match (from.components(length), to.unfold().components(length)) {
                    (Some(xs), Some(ys)) if xs.len() == ys.len() => {
                        Type::product(xs.iter().zip(&ys).map(|(x, y)| self.adapted(x, y, round)).collect())
                    }
                    _ => from,
                }
            }
            _ if round.converts() && self.widens(&from, &to) => to,
            _ => from,
        }
    }

    /// Of candidates that an argument is converted for, those for which it goes least far.
    fn nearest(&mut self, fitting: Vec<Candidate>, ty: &Type, round: Round) -> Vec<Candidate> {
        if !round.converts() || fitting.len() < 2 {
            return fitting;
        }
        let settled = self.infer.shown(ty);
        let far: Vec<(usize, u64)> =
            fitting.iter().map(|c| conversion_cost(&settled, &self.candidate_header(c).domain)).collect();
        let least = far.iter().min().copied();
        fitting.into_iter().zip(far).filter(|(_, far)| Some(*far) == least).map(|(c, _)| c).collect()
    }

    /// Of several candidates those that give what is wanted, if that is known and there are any.
    fn by_result(
        &mut self,
        several: Vec<Candidate>,
        type_args: &[Type],
        ty: &Type,
        hint: Option<&Type>,
    ) -> Vec<Candidate> {
        let hint = hint.map(|h| self.infer.zonk(h)).filter(|h| !matches!(h.kind(), TypeKind::Meta(_)));
        let Some(hint) = hint else { return several };
        let mut wanted = Vec::new();
        for candidate in &several {
            if !self.knows_result(candidate) {
                wanted.push(candidate.clone());
                continue;
            }
            let scheme = self.candidate_header(candidate);
            let mark = self.infer.mark();
            let instance = scheme.instantiate(&mut self.infer, type_args);
            let gives = self.infer.unify(ty, &instance.domain).is_ok()
                && instance.result.as_ref().is_none_or(|r| self.infer.unify(r, &hint).is_ok());
            self.infer.undo(mark);
            if gives {
                wanted.push(candidate.clone());
            }
        }
        if wanted.is_empty() { several } else { wanted }
    }

    /// Says that a near function was chosen after a conversion although a farther one takes the argument
    /// as it is.
    fn note_conversion(
        &mut self,
        name: &ast::Name,
        found: &Found,
        type_args: &[Type],
        ty: &Type,
        (chosen, at, round): (&Candidate, usize, Round),
    ) {
        if !round.converts() {
            return;
        }
        for tier in &found.tiers[at + 1..] {
            for candidate in &tier.candidates {
                let scheme = self.candidate_header(candidate);
                if self.fits(&scheme, type_args, ty, Round::AsIs, &[]).is_some() {
                    let near = self.candidate_header(chosen).domain;
                    let (span, name, argument) = (name.span, name.text.to_string(), self.infer.shown(ty));
                    let (far, place) = (scheme.domain, tier.place.words());
                    self.report(CheckError::NearByConversion { span, name, argument, near, far, place });
                    return;
                }
            }
        }
    }

    /// Notes scope and round of each candidate of a choice among several scopes, if somebody asks.
    fn note_choice(
        &mut self,
        name: &ast::Name,
        found: &Found,
        type_args: &[Type],
        ty: &Type,
        chosen: &Candidate,
    ) {
        let asked = self.notes.as_ref().is_some_and(|notes| notes.wants_choices(name.span));
        if !asked || found.tiers.first().is_none_or(|tier| tier.place == Place::Top(Scope::Library)) {
            return;
        }
        let argument = self.infer.shown(ty);
        let mut lines = Vec::new();
        for (place, candidate) in found.candidates() {
            let scheme = self.candidate_header(candidate);
            let fits = match self.round_of(&scheme, type_args, ty) {
                Some(round) => format!("fits {}", round.words()),
                None => match self.refusal(&scheme, type_args, &argument) {
                    Some(reason) => format!("does not fit: {reason}"),
                    None => "does not fit".to_string(),
                },
            };
            let chosen = if candidate.is(chosen) { ", chosen" } else { "" };
            let typed = self.typed(&name.text, candidate);
            lines.push(format!("{}  # in {}, {fits}{chosen}", typed.replace('`', ""), place.words()));
        }
        if let Some(choices) = self.notes.as_mut().and_then(|notes| notes.choices.as_mut()) {
            choices.extend(lines);
        }
    }

    /// The call of a name whose function is chosen when more is known.
    pub(super) fn wait(
        &mut self,
        name: &ast::Name,
        found: Found,
        type_args: &[Type],
        argument: Term,
        span: Span,
    ) -> Term {
        let result = self.infer.fresh(Kind::Type);
        let id = FIRST_WAITING + self.item.waited;
        self.item.waited += 1;
        let (name, type_args, depth) = (name.clone(), type_args.to_vec(), self.item.frames.len());
        let waiting = Waiting { id, name, type_args, argument, found, result: result.clone(), depth, span };
        self.item.waiting.push(waiting);
        let closure = TermKind::Closure { function: id, type_args: Vec::new(), captures: Vec::new() };
        let function = Term::new(closure, Type::error(), span);
        Term::new(TermKind::Call(Box::new(function), Vec::new()), result, span)
    }

    /// Chooses for the calls that wait since `first`.
    pub(super) fn choose_waiting(&mut self, first: usize) {
        let mut last = false;
        loop {
            let before = self.item.waiting.len();
            let waiting = self.item.waiting.split_off(first.min(before));
            if waiting.is_empty() {
                return;
            }
            for call in waiting {
                self.choose_now(call, last);
            }
            // Each choice may solve a hole that another waits for.
            last = self.item.waiting.len() >= before;
        }
    }

    /// Chooses for a call that waits if this is its result, of which something has to be known now.
    pub(super) fn decide(&mut self, ty: &Type) {
        let result = self.infer.shallow(ty);
        if !matches!(result.kind(), TypeKind::Meta(_)) {
            return;
        }
        let depth = self.item.frames.len();
        let waiting = &self.item.waiting;
        let at =
            waiting.iter().position(|call| call.depth == depth && self.infer.shallow(&call.result) == result);
        if let Some(at) = at {
            let call = self.item.waiting.remove(at);
            self.choose_now(call, true);
        }
    }

    /// Chooses for the calls that wait in the innermost function.
    pub(super) fn choose_waiting_inside(&mut self) {
        let depth = self.item.frames.len();
        let outer = self.item.waiting.iter().take_while(|call| call.depth < depth).count();
        self.choose_waiting(outer);
    }

    fn choose_now(&mut self, call: Waiting, last: bool) {
        let arg = Arg::Done(call.argument.clone());
        let hint = Some(&call.result);
        let term = match self.choose(&call.name, &call.found, &call.type_args, &arg, hint, !last) {
            Choice::Waits => {
                self.item.waiting.push(call);
                return;
            }
            Choice::Nothing => Term::new(TermKind::Error, Type::error(), call.span),
            Choice::Candidate(Candidate::Top(callable)) => self.call_chosen(
                &call.name,
                &callable,
                &call.type_args,
                (arg, Vec::new()),
                hint,
                false,
                call.span,
            ),
            Choice::Candidate(Candidate::Local(depth, binding)) => {
                let function = self.variable_term(&Variable::Local(depth, binding), &call.name);
                self.call_value(function, vec![arg], false, call.span)
            }
            Choice::Variable(variable) => {
                let function = self.variable_term(&variable, &call.name);
                self.call_value(function, vec![arg], false, call.span)
            }
        };
        let term = self.coerce(term, &call.result, None);
        self.item.chosen.insert(call.id, term);
    }

    /// The call that was chosen for one that waited; `None` for other terms.
    pub(super) fn chosen_call(&mut self, term: &Term) -> Option<Term> {
        let TermKind::Call(function, _) = &term.kind else { return None };
        let TermKind::Closure { function, .. } = &function.kind else { return None };
        if *function < FIRST_WAITING {
            return None;
        }
        let chosen = self.item.chosen.remove(function);
        Some(chosen.unwrap_or_else(|| Term::new(TermKind::Error, Type::error(), term.span)))
    }

    /// Those candidates to which no other is strictly more specific.
    pub(super) fn most_specific(&mut self, candidates: &[Candidate]) -> Vec<Candidate> {
        if let [_] = candidates {
            return candidates.to_vec();
        }
        let domains: Vec<Scheme> = candidates.iter().map(|c| self.candidate_header(c)).collect();
        let mut at_least = |special: &Scheme, general: &Scheme| {
            let mark = self.infer.mark();
            let instance = general.instantiate(&mut self.infer, &[]);
            let ok = self.infer.unify(&instance.domain, &special.domain).is_ok();
            self.infer.undo(mark);
            ok
        };
        let mut best = Vec::new();
        for (i, candidate) in candidates.iter().enumerate() {
            let beaten = (0..candidates.len())
                .any(|j| j != i && at_least(&domains[j], &domains[i]) && !at_least(&domains[i], &domains[j]));
            if !beaten {
                best.push(candidate.clone());
            }
        }
        best
    }
}

/// Whether a candidate is a case without argument: a value, not a function.
pub(super) fn is_constant(candidate: &Candidate) -> bool {
    match candidate {
        Candidate::Top(Callable::Case(nominal, case)) => match nominal.body() {
            Some(NominalBody::Variant(cases)) => cases[*case].1.is_unit(),
            _ => false,
        },
        _ => false,
    }
}

/// Whether a part of a type is a mistake that has been reported.
pub(super) fn mentions_error(ty: &Type) -> bool {
    let mut found = ty.is_error();
    ty.kind().for_each_child(&mut |child| found = found || mentions_error(child));
    found
}
