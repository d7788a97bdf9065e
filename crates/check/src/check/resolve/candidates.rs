//! Candidates: the functions that a name may refer to, by scope, and the test that one accepts an
//! argument.
//!
//! [`Checker::find`] returns the candidates of a name in tiers, from the nearest scope to the
//! farthest ([`LookupResult`]). A candidate is compared with the type of an argument by its header
//! alone ([`Checker::fitting_in_scope`]), in rounds that allow more and more conversions
//! ([`Round`]). The choice among the candidates that fit is made in
//! [`crate::check::elaborate::overload`]. A function whose result type is not written needs its
//! body checked before its result is known ([`Checker::check_pending`]).
//!
//! A search looks the name up once in each scope; a test costs one unification and the entailment
//! of the candidate's constraints, for each round.

use crate::check::annotations::Referent;
use crate::check::context::{Binding, Checker};
use crate::check::env::{Callable, Definition, Scheme, Scope};
use crate::check::error::CallError;
use crate::check::solve::constraint::Answer;
use crate::check::solve::infer::accepts;
use crate::core::{FunctionId, GlobalId, Prim, Term, TermKind};
use crate::source::Span;
use crate::syntax::ast;
use crate::types::number::{MAX_COMPONENTS, conversion_cost, widen_numbers};
use crate::types::{Kind, Meta, NominalBody, Type, TypeKind};

impl Checker<'_> {
    /// Returns the scheme of a callable with its result type; checks the body of a function if
    /// needed.
    pub(in crate::check) fn scheme(&mut self, callable: &Callable, span: Span) -> Scheme {
        if let Callable::Function(id) = callable {
            self.ensure_result(*id, span);
        }
        self.header(callable)
    }

    /// Returns the scheme of a callable as far as it is known without checking a body.
    pub(in crate::check) fn header(&mut self, callable: &Callable) -> Scheme {
        match callable {
            Callable::Function(id) => match self.env.signatures.get(id) {
                Some(signature) => signature.scheme.clone(),
                None => Scheme::new(Vec::new(), Type::error(), Some(Type::error())),
            },
            Callable::Prim(prim) => prim_scheme(*prim).0,
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

    /// Returns the scheme of a candidate, with its result type as far as it is known.
    pub(in crate::check) fn candidate_header(&mut self, candidate: &Candidate) -> Scheme {
        match candidate {
            Candidate::Top(callable) => self.header(callable),
            Candidate::Local(depth, binding) => {
                let local = &self.item.frames[*depth].locals[binding.local.index()];
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

    /// Returns true if the result type of a candidate is known, after checking its body if that is
    /// pending.
    pub(in crate::check) fn knows_result(&mut self, candidate: &Candidate) -> bool {
        let Candidate::Top(Callable::Function(id)) = candidate else { return true };
        if self.pending_functions.contains_key(id) {
            let unknown = self.env.signatures.get(id).is_some_and(|s| s.unknown_result);
            if unknown {
                self.check_pending(*id);
            }
        }
        self.env.signatures.get(id).is_none_or(|s| !s.unknown_result)
    }

    /// Returns the functions and the variable that a name may refer to here.
    pub(in crate::check) fn find(&self, name: &str) -> LookupResult {
        let mut found = LookupResult::default();
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
        for (callable, scope) in self.env.candidates(name).with_scopes() {
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

    /// Returns true if a name refers to functions here, other than a single local one.
    pub(in crate::check) fn is_function_name(&self, name: &ast::Name) -> bool {
        let (local, all) = self.count(&name.text);
        all > local || all > 1
    }

    /// Returns true if a name refers to a constant of an enumeration here, which can be used as an
    /// index.
    pub(in crate::check) fn is_index_constant(&self, name: &ast::Name) -> bool {
        let callables = self.env.candidates(&name.text);
        let index = |callable: &Callable| matches!(callable, Callable::Case(of, _) if of.is_enumeration());
        callables.iter().any(index) && {
            let found = self.find(&name.text);
            let constant = |one: &Candidate| matches!(one, Candidate::Top(callable) if index(callable));
            found.variable.is_none()
                && found.tiers.first().is_some_and(|tier| tier.candidates.iter().any(constant))
        }
    }

    /// Returns true if a name refers to several functions, so that its context has to determine
    /// one.
    pub(in crate::check) fn is_overloaded_name(&self, name: &ast::Name) -> bool {
        self.count(&name.text).1 > 1
    }

    /// Counts the meanings of a name among which a choice is made: those in blocks, and all of
    /// them. Returns zeros if the nearest meaning is a variable.
    fn count(&self, name: &str) -> (usize, usize) {
        let (mut local, mut generic) = (0, 0);
        for frame in self.item.frames.iter().rev() {
            for binding in frame.scopes.iter().rev().filter_map(|scope| scope.get(name)) {
                if !binding.function {
                    // The variable is the remaining meaning if none of the functions fits.
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

    /// Returns the term of a variable or local function that [`Checker::find`] returned.
    pub(in crate::check) fn variable_term(&mut self, variable: &Variable, name: &ast::Name) -> Term {
        match variable {
            Variable::Local(depth, binding) => {
                let (binding, _) = self.capture(*depth, binding.clone());
                self.note(name.span, |_| Some(Referent::At(binding.span)));
                self.local_term(binding.local, name.span)
            }
            Variable::Global(id) => {
                self.note_global(name.span, &name.text);
                let ty = self.program.globals[id.index()].ty.clone();
                Term::new(TermKind::Global(*id), ty, name.span)
            }
        }
    }

    /// Returns the candidates of one scope that fit, in the first round in which any does. The flag
    /// of a candidate is true if it fits whatever types the holes become.
    pub(in crate::check) fn fitting_in_scope(
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

    /// Returns the first round in which a candidate accepts an argument.
    pub(in crate::check) fn first_round(
        &mut self,
        scheme: &Scheme,
        type_args: &[Type],
        ty: &Type,
    ) -> Option<Round> {
        Round::ALL.into_iter().find(|round| self.fits(scheme, type_args, ty, *round, &[]).is_some())
    }

    /// Returns `None` if a candidate does not accept an argument in this round; otherwise, returns
    /// `Some(true)` if it does so whatever types the given holes become. Holes are left unchanged.
    pub(in crate::check) fn fits(
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
            Round::AsIs => self.infer.zonk_with_defaults(ty),
            Round::Literals => ty.clone(),
            Round::Converted => widen_numbers(&self.infer.zonk_with_defaults(ty), &instance.domain),
            Round::Declared | Round::ByInstance => self.adapted(ty, &instance.domain, round),
        };
        let domain = self.at_some_sizes(&instance.domain);
        let mut fits = self.unifies(&ty, &domain);
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

    /// Unifies the type of an argument with that of a parameter. Axes in products within a product
    /// are found as a call finds them, after they are put into one product.
    fn unifies(&mut self, ty: &Type, domain: &Type) -> bool {
        let mark = self.infer.mark();
        if self.infer.unify(ty, domain).is_ok() {
            return true;
        }
        if !domain.has_spliced() {
            return false;
        }
        self.infer.undo(mark);
        let ty = self.infer.zonk_with_defaults(ty);
        let flat = ty.with_flat_indices();
        flat != ty && self.infer.unify(&flat, domain).is_ok()
    }

    /// Returns the type of a parameter with holes in place of existentially bound sizes; the
    /// argument determines them.
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

    /// Returns the type that an argument has after the implicit conversions of the round to the
    /// type of a parameter: literals by instances of `Literal`, and in [`Round::ByInstance`] values
    /// by instances of `Widen`.
    fn adapted(&mut self, from: &Type, to: &Type, round: Round) -> Type {
        let (from, to) = (self.infer.shallow(from), self.infer.zonk(to));
        if self.has_literal_instance(&from, &to) {
            return to;
        }
        match (from.kind(), to.kind()) {
            (TypeKind::Scalar(a), TypeKind::Scalar(b)) if round.converts() && a.fits(*b) => to,
            (TypeKind::Array(t, i), TypeKind::Array(u, _)) => {
                Type::array(self.adapted(t, u, round), i.clone())
            }
            (TypeKind::Product(_) | TypeKind::Array(..), TypeKind::Product(_) | TypeKind::Array(..)) => {
                let length = match (from.kind(), to.kind()) {
                    (TypeKind::Product(parts), _) | (_, TypeKind::Product(parts)) => parts.len(),
                    _ => MAX_COMPONENTS,
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

    /// Returns those candidates that the argument is converted to at the least cost.
    pub(in crate::check) fn nearest(
        &mut self,
        fitting: Vec<Candidate>,
        ty: &Type,
        round: Round,
    ) -> Vec<Candidate> {
        if !round.converts() || fitting.len() < 2 {
            return fitting;
        }
        let settled = self.infer.display_type(ty);
        let far: Vec<(usize, u64)> =
            fitting.iter().map(|c| conversion_cost(&settled, &self.candidate_header(c).domain)).collect();
        let least = far.iter().min().copied();
        fitting.into_iter().zip(far).filter(|(_, far)| Some(*far) == least).map(|(c, _)| c).collect()
    }

    /// Returns the candidates for which no other candidate is strictly more specific.
    pub(in crate::check) fn most_specific(&mut self, candidates: &[Candidate]) -> Vec<Candidate> {
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

    /// Determines the result type of a function by checking its body, if the type is not declared.
    /// Reports an error if that body is being checked already.
    pub(in crate::check) fn ensure_result(&mut self, id: FunctionId, used: Span) {
        let Some(signature) = self.env.signatures.get(&id) else { return };
        if !signature.unknown_result {
            return;
        }
        if self.pending_functions.contains_key(&id) {
            self.check_pending(id);
            return;
        }
        let (name, declared) = (signature.name.to_string(), signature.span);
        self.report(CallError::ResultNeeded { span: used, name, declared });
    }
}

/// The conversions that an argument needs for a candidate to accept it, from none to the most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::check) enum Round {
    /// No conversion: each literal has its default type.
    AsIs,
    /// Literals have another number type.
    Literals,
    /// Literals have a declared type, by an instance of `Literal`.
    Declared,
    /// Numbers are converted without loss by the language.
    Converted,
    /// Values are also converted without loss by instances of `Widen`.
    ByInstance,
}

impl Round {
    /// All rounds in the order in which they are tried.
    const ALL: [Round; 5] =
        [Round::AsIs, Round::Literals, Round::Declared, Round::Converted, Round::ByInstance];

    /// Returns the round as text, to follow "fits".
    pub(in crate::check) fn words(self) -> &'static str {
        match self {
            Round::AsIs => "as it is",
            Round::Literals | Round::Declared => "with literals at another type",
            Round::Converted | Round::ByInstance => "with a conversion",
        }
    }

    /// Returns true if values that are not literals are converted in this round.
    pub(in crate::check) fn converts(self) -> bool {
        self >= Round::Converted
    }
}

/// A scope among those in which a name is looked up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::check) enum Place {
    /// A block, or the function around it.
    Block,
    /// One of the scopes of the top level.
    Top(Scope),
}

impl Place {
    /// Returns the place as text, to follow "in".
    pub(in crate::check) fn words(self) -> &'static str {
        match self {
            Place::Block => "this function",
            Place::Top(scope) => scope.words(),
        }
    }
}

/// One of the functions that a name may refer to.
#[derive(Clone, Debug)]
pub(in crate::check) enum Candidate {
    /// A callable of the top level.
    Top(Callable),
    /// A function declared inside a function: the depth of its frame, and the variable that holds
    /// it.
    Local(usize, Binding),
}

impl Candidate {
    /// Returns true if both candidates are the same function.
    pub(in crate::check) fn is_same_function(&self, other: &Candidate) -> bool {
        match (self, other) {
            (Candidate::Top(one), Candidate::Top(other)) => one == other,
            (Candidate::Local(_, one), Candidate::Local(_, other)) => one.span == other.span,
            _ => false,
        }
    }
}

/// The functions of a name in one scope.
#[derive(Clone, Debug)]
pub(in crate::check) struct Tier {
    /// The scope.
    pub place: Place,
    /// The functions of the name in that scope.
    pub candidates: Vec<Candidate>,
}

/// The variable that ended a lookup.
#[derive(Clone, Debug)]
pub(in crate::check) enum Variable {
    /// A variable of the frame at this depth.
    Local(usize, Binding),
    /// A variable of the top level.
    Global(GlobalId),
}

/// The meanings of a name, from the nearest scope to the farthest.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct LookupResult {
    /// The functions that are nearer than the variable, by scope.
    pub tiers: Vec<Tier>,
    /// The variable that ended the lookup, if there is one.
    pub variable: Option<Variable>,
}

impl LookupResult {
    /// Iterates over all functions with their scopes, from near to far.
    pub(in crate::check) fn candidates(&self) -> impl Iterator<Item = (Place, &Candidate)> {
        self.tiers.iter().flat_map(|tier| tier.candidates.iter().map(|c| (tier.place, c)))
    }

    /// Returns the tiers up to the given index, without the variable.
    pub(in crate::check) fn up_to(&self, tier: usize) -> LookupResult {
        LookupResult { tiers: self.tiers[..=tier].to_vec(), variable: None }
    }

    /// Returns the only function of the name that the program itself has declared. An error in a
    /// call then refers to this function, whatever functions of the name the library has.
    pub(in crate::check) fn only_declared(&self) -> Option<&Candidate> {
        let mut own = self.candidates().filter(|(place, _)| *place != Place::Top(Scope::Library));
        let first = own.next().map(|(_, candidate)| candidate);
        if own.next().is_some() { None } else { first }
    }

    /// Returns the primitive of the name if all other candidates are methods. Which methods are
    /// known depends on the types that a text mentions; the message about a wrong argument should
    /// not.
    pub(in crate::check) fn only_primitive(&self) -> Option<&Candidate> {
        let method = |candidate: &&Candidate| matches!(candidate, Candidate::Top(Callable::Method(..)));
        let mut others = self.candidates().map(|(_, candidate)| candidate).filter(|one| !method(one));
        let first = others.next().filter(|one| matches!(one, Candidate::Top(Callable::Prim(_))));
        if others.next().is_some() { None } else { first }
    }

    /// Returns the only meaning of the name, if it has one and that is a function.
    pub(in crate::check) fn only(&self) -> Option<&Candidate> {
        let mut all = self.candidates();
        let first = all.next().map(|(_, candidate)| candidate);
        if all.next().is_some() || self.variable.is_some() { None } else { first }
    }
}

/// Returns true if a candidate is a case without argument, which is a value and not a function.
pub(in crate::check) fn is_constant(candidate: &Candidate) -> bool {
    match candidate {
        Candidate::Top(Callable::Case(nominal, case)) => match nominal.body() {
            Some(NominalBody::Variant(cases)) => cases[*case].1.is_unit(),
            _ => false,
        },
        _ => false,
    }
}

/// Returns the scheme of a primitive and the number of its arguments.
pub(in crate::check) fn prim_scheme(prim: Prim) -> (Scheme, usize) {
    let known = prim.typed_signature();
    let result = (!prim.is_procedure()).then(|| known.result.clone());
    (Scheme::new(known.params.clone(), Type::product(known.args.clone()), result), known.args.len())
}
