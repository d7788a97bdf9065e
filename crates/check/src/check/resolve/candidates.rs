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

#[cfg(test)]
mod tests {
    use super::{Candidate, LookupResult, Place, Round, Tier};
    use crate::check::context::Checker;
    use crate::check::env::{Callable, Env, Scheme, Scope, Signature};
    use crate::check::solve::infer::Literal;
    use crate::core::{FunctionId, Prim, Program};
    use crate::source::Span;
    use crate::types::{Kind, Scalar, Type, TypeVar};

    fn var(id: u32, kind: Kind) -> TypeVar {
        TypeVar { id, name: format!("T{id}").into(), kind }
    }

    fn function(id: usize) -> Candidate {
        Candidate::Top(Callable::Function(FunctionId::new(id)))
    }

    /// Runs a check in a session with a function for each of these domains, over the variables
    /// `T0`, `T1` of kind TYPE and `T2` of kind COMPACTLINEAR.
    fn with_functions<R>(domains: &[Type], test: impl FnOnce(&mut Checker<'_>, &[Candidate]) -> R) -> R {
        let (mut env, mut program) = (Env::new(), Program::default());
        let params = vec![var(0, Kind::Type), var(1, Kind::Type), var(2, Kind::Compact)];
        for (id, domain) in domains.iter().enumerate() {
            let signature = Signature {
                name: "f".into(),
                scheme: Scheme::new(params.clone(), domain.clone(), Some(Type::int())),
                unknown_result: false,
                joint: false,
                procedure: false,
                parameters: Vec::new(),
                span: Span::default(),
                doc: None,
            };
            env.signatures.insert(FunctionId::new(id), signature);
        }
        let candidates: Vec<Candidate> = (0..domains.len()).map(function).collect();
        test(&mut Checker::new(&mut env, &mut program, |_, _| {}), &candidates)
    }

    /// Returns the numbers of the functions among candidates.
    fn numbers(candidates: &[Candidate]) -> Vec<usize> {
        let number = |candidate: &Candidate| match candidate {
            Candidate::Top(Callable::Function(id)) => id.index(),
            other => panic!("{other:?}"),
        };
        candidates.iter().map(number).collect()
    }

    fn t(id: u32) -> Type {
        Type::var(var(id, if id == 2 { Kind::Compact } else { Kind::Type }))
    }

    fn array(ty: Type, index: Type) -> Type {
        Type::array(ty, index)
    }

    fn most_specific(domains: &[Type]) -> Vec<usize> {
        with_functions(domains, |checker, all| numbers(&checker.most_specific(all)))
    }

    #[test]
    fn the_most_specific_function_is_an_instance_of_the_others() {
        let three = Type::unit_sum(3u32);
        let chain = [t(0), array(t(0), t(2)), array(t(0), three.clone()), array(Type::int(), three)];
        for longest in 1..=chain.len() {
            assert_eq!(most_specific(&chain[..longest]), [longest - 1]);
        }
        // Neither of two is an instance of the other, and equal ones are both kept.
        let pairs = [Type::product(vec![t(0), Type::int()]), Type::product(vec![Type::int(), t(0)])];
        assert_eq!(most_specific(&pairs), [0, 1]);
        assert_eq!(most_specific(&[t(0), t(1)]), [0, 1]);
        // The same variable twice is more than two of them.
        let (same, two) = (Type::product(vec![t(0), t(0)]), Type::product(vec![t(0), t(1)]));
        assert_eq!(most_specific(&[two, same]), [1]);
    }

    /// A function is always left, and each that is not is less specific than one that is.
    #[test]
    fn each_function_that_is_left_out_is_beaten_by_one_that_is_kept() {
        let seed = 7u64;
        let mut random = fastrand::Rng::with_seed(seed);
        let leaf = |random: &mut fastrand::Rng| match random.usize(..5) {
            0 | 1 => t(0),
            2 => t(1),
            3 => Type::int(),
            _ => Type::real(),
        };
        for round in 0..300 {
            let domains: Vec<Type> = (0..random.usize(1..6))
                .map(|_| match random.usize(..4) {
                    0 => leaf(&mut random),
                    1 => array(leaf(&mut random), if random.bool() { t(2) } else { Type::bool() }),
                    _ => Type::product(vec![leaf(&mut random), leaf(&mut random)]),
                })
                .collect();
            let kept = most_specific(&domains);
            let context = format!("seed {seed}, round {round}: {domains:?}, {kept:?}");
            assert!(!kept.is_empty(), "{context}");
            for out in (0..domains.len()).filter(|at| !kept.contains(at)) {
                let beats = |at: &usize| most_specific(&[domains[*at].clone(), domains[out].clone()]) == [0];
                assert!(kept.iter().any(beats), "{context}: {out}");
            }
        }
    }

    /// Returns the first round in which a function of a domain accepts an argument.
    fn first_round(domain: &Type, argument: impl FnOnce(&mut Checker<'_>) -> Type) -> Option<Round> {
        with_functions(std::slice::from_ref(domain), |checker, all| {
            let argument = argument(checker);
            let scheme = checker.candidate_header(&all[0]);
            let found = checker.first_round(&scheme, &[], &argument);
            assert_eq!(checker.infer.zonk(&argument), argument, "a test solves no hole");
            found
        })
    }

    #[test]
    fn an_argument_is_accepted_with_as_few_conversions_as_possible() {
        for (from, to) in Scalar::ALL.into_iter().flat_map(|from| Scalar::ALL.map(|to| (from, to))) {
            let found = first_round(&Type::scalar(to), |_| Type::scalar(from));
            let expected = match from == to {
                true => Some(Round::AsIs),
                false => from.fits(to).then_some(Round::Converted),
            };
            assert_eq!(found, expected, "{from:?} to {to:?}");
        }
        let literal =
            |domain: &Type| first_round(domain, |checker| checker.infer.fresh_literal(Literal::Int));
        assert_eq!(literal(&Type::int()), Some(Round::AsIs));
        assert_eq!(literal(&Type::real()), Some(Round::Literals));
        assert_eq!(literal(&Type::string()), None);
        assert_eq!(literal(&t(0)), Some(Round::AsIs));
    }

    #[test]
    fn rounds_allow_more_and_more() {
        assert!(Round::ALL.is_sorted());
        let converting: Vec<Round> = Round::ALL.into_iter().filter(|round| round.converts()).collect();
        assert_eq!(converting, [Round::Converted, Round::ByInstance]);
    }

    /// Of conversions, the one to the type of the same sort of numbers and of the least width wins.
    #[test]
    fn the_nearest_type_is_that_of_the_cheapest_conversion() {
        let scalar = |name: &str| Type::scalar(Scalar::from_name(name).expect("a scalar"));
        let domains = ["real", "int", "i32", "bigint"].map(scalar);
        with_functions(&domains, |checker, all| {
            let nearest = checker.nearest(all.to_vec(), &scalar("i8"), Round::Converted);
            assert_eq!(numbers(&nearest), [2]);
            let nearest = checker.nearest(all.to_vec(), &scalar("f32"), Round::Converted);
            assert_eq!(numbers(&nearest), [0]);
            // Without a conversion none is nearer.
            assert_eq!(checker.nearest(all.to_vec(), &scalar("i8"), Round::AsIs).len(), all.len());
        });
    }

    /// An argument is certain to fit if it does so whatever its holes become.
    #[test]
    fn a_candidate_is_certain_if_the_holes_stay_open() {
        with_functions(&[t(0), Type::int()], |checker, all| {
            let hole = checker.infer.fresh(Kind::Type);
            let holes = checker.infer.open_holes(&hole);
            let (round, fitting) =
                checker.fitting_in_scope(all, &[], &hole, &holes).expect("both accept the argument");
            let certain: Vec<bool> = fitting.iter().map(|(_, certain)| *certain).collect();
            assert_eq!((round, certain), (Round::AsIs, vec![true, false]));
        });
    }

    /// Returns true if a candidate takes an `int` at these type arguments.
    fn takes_types(checker: &mut Checker<'_>, candidate: &Candidate, types: &[Type]) -> bool {
        let scheme = checker.candidate_header(candidate);
        checker.fits(&scheme, types, &Type::int(), Round::AsIs, &[]).is_some()
    }

    #[test]
    fn type_arguments_have_the_number_and_the_kinds_of_the_parameters() {
        with_functions(&[t(0)], |checker, all| {
            let (int, real, three) = (Type::int(), Type::real(), Type::unit_sum(3u32));
            assert!(takes_types(checker, &all[0], &[]));
            assert!(takes_types(checker, &all[0], std::slice::from_ref(&int)));
            assert!(!takes_types(checker, &all[0], std::slice::from_ref(&real)));
            assert!(takes_types(checker, &all[0], &[int.clone(), real.clone(), three.clone()]));
            assert!(!takes_types(checker, &all[0], &[int.clone(), real.clone(), real.clone()]));
            assert!(!takes_types(checker, &all[0], &[int, real, three.clone(), three]));
        });
    }

    #[test]
    fn the_only_function_of_a_lookup_has_no_other_beside_it() {
        let tier = |place, candidates: &[Candidate]| Tier { place, candidates: candidates.to_vec() };
        let of = |tiers: Vec<Tier>| LookupResult { tiers, variable: None };
        let prim = Candidate::Top(Callable::Prim(Prim::Print));
        let own = tier(Place::Top(Scope::Module), &[function(0)]);
        let library = tier(Place::Top(Scope::Library), std::slice::from_ref(&prim));
        let both = of(vec![own.clone(), library.clone()]);
        assert!(both.only().is_none() && both.only_primitive().is_none());
        assert!(both.only_declared().is_some_and(|one| one.is_same_function(&function(0))));
        assert!(both.up_to(0).only().is_some_and(|one| one.is_same_function(&function(0))));
        let library = of(vec![library]);
        assert!(library.only().is_some() && library.only_declared().is_none());
        assert!(library.only_primitive().is_some_and(|one| one.is_same_function(&prim)));
        assert!(of(vec![tier(Place::Block, &[function(0), function(1)])]).only_declared().is_none());
    }
}
