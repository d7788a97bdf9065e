//! Which of several functions a name means: the scopes that are searched, and the choice among what
//! they hold.
//!
//! **Scopes**, near to far: the blocks around, innermost first; this module (a session is one);
//! names imported one by one; names imported with `*`; the library ([`Scope`]). Each that has
//! functions of the name is a *tier* ([`Found`]). A `val`, `var` or parameter of the name ends the
//! search, and so does a case without argument, which is a value: what is farther is hidden by it.
//!
//! **Choice.** The tiers are asked one after the other, and the first in which a candidate fits
//! decides; farther ones are not looked at. A candidate fits if its declared parameter type, and
//! what it asks of its type arguments, take the type of the argument, in three rounds ([`Round`]):
//! as it is; with literals at another type than their own; with conversions that lose nothing. The
//! first round in which anything of the tier fits counts. Of what fits there, the least conversion,
//! then the most specific parameter type, then the wanted result decide. If several are left:
//! E0404. If no tier has one that fits, the variable that ended the search is called; without one:
//! E0403, or what is wrong with the only function that the program itself has of the name.
//!
//! Result types take no part in fitting. So a body that calls another function of its own name asks
//! nothing of itself, and only a call that selects the function being checked needs its result
//! written.
//!
//! **Holes.** Unification with a candidate may solve holes of the argument's type: then the
//! candidate fits for some types that the argument may turn out to have. If that is so of all that
//! fit in the near tier, and a farther tier could take the argument, too, the hole decides between
//! near and far. Such a call *waits* ([`Waiting`]): it gets a hole for its result, and is chosen at
//! the end of the statement or of the function around it, when the rest has said what it can, or
//! where something has to know the type of its result ([`Checker::decide`]). If the hole is still
//! open then, the near tier decides against the library, for a program means the same whatever
//! names the library gets; between other scopes: E0404. What waits for its place itself (a function
//! with untyped parameters, `case n e`, a name of several functions) says nothing about the choice:
//! its type comes from the nearest candidate whose shape it has.
//!
//! In a generic body a type variable is rigid, so it fits only what is declared for all its values,
//! and the choice is made once for all of them.
//!
//! Cost: each candidate of the tiers up to the one that decides is unified with the argument once
//! in each round tried; a name with one candidate is not tried at all.

use crate::check::context::Checker;
use crate::check::elaborate::apply::Arg;
use crate::check::env::{Callable, Scope};
use crate::check::error::CallError;
use crate::check::expectation::Expectation;
use crate::check::hints::mismatch;
use crate::check::resolve::candidates::{
    Candidate, Found, Place, Round, Tier, Variable, is_constant, mentions_error,
};
use crate::core::{FunctionId, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{Kind, Type, TypeKind};

/// What a choice came to.
pub(in crate::check) enum Choice {
    Candidate(Candidate),
    /// No function fits, and a variable of the name is farther.
    Variable(Variable),
    /// A hole of the argument decides between near and far.
    Waits,
    /// A mistake, which has been reported.
    Nothing,
}

/// What came out of asking the tiers.
pub(in crate::check) enum Selection {
    /// One, of the tier with this number, in this round.
    One(Candidate, usize, Round),
    /// Several that fit equally well.
    Several(Vec<Candidate>),
    /// A hole decides between these.
    Open(Vec<Candidate>),
    None,
}

/// A call whose function is not chosen yet.
pub(in crate::check) struct Waiting {
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
const FIRST_WAITING_ID: FunctionId = FunctionId::MAX / 2;

impl Checker<'_> {
    /// The candidates of one scope that can have the wanted type.
    pub(in crate::check) fn fitting(
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
    pub(in crate::check) fn choose(
        &mut self,
        name: &ast::Name,
        found: &Found,
        type_args: &[Type],
        arg: &Arg,
        expected: Expectation<'_>,
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
        match self.ask_tiers(found, type_args, ty, (waits, may_wait), expected) {
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
                let empty = mismatch::may_be_empty(element).map(|(_, words)| words.into());
                let help = empty.or_else(|| self.conversion_help(found, &argument, arg.span()));
                self.report(CallError::NoOverload {
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

    /// The conversion of a number to one that a candidate takes, or what to ask of a type
    /// parameter.
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
        if let Some(words) = mismatch::asked_of_parameter(argument, &Type::scalar(number)) {
            return Some(words.into());
        }
        argument.as_scalar().filter(|scalar| scalar.is_number())?;
        let name = number.name();
        Some(Help::around(format!("convert it explicitly: `:> {name}`"), span, &format!(" :> {name}"), ""))
    }

    pub(in crate::check) fn ambiguous(&mut self, name: &ast::Name, found: &Found, several: &[Candidate]) {
        let candidates = self.describe(&name.text, found, several);
        self.report(CallError::Ambiguous { span: name.span, name: name.text.to_string(), candidates });
    }

    /// Asks the tiers, near to far. With `waits` holes of the argument may be left to decide;
    /// unless `may_wait`, nothing more will be known of them, and what the library has does not
    /// make the call ambiguous.
    pub(in crate::check) fn ask_tiers(
        &mut self,
        found: &Found,
        type_args: &[Type],
        ty: &Type,
        (waits, may_wait): (bool, bool),
        expected: Expectation<'_>,
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
                best = self.by_result(best, type_args, ty, expected);
            }
            return match <[Candidate; 1]>::try_from(best) {
                Ok([one]) => Selection::One(one, at, round),
                Err(several) => Selection::Several(several),
            };
        }
        Selection::None
    }

    /// Of several candidates those that give what is wanted, if that is known and there are any.
    fn by_result(
        &mut self,
        several: Vec<Candidate>,
        type_args: &[Type],
        ty: &Type,
        expected: Expectation<'_>,
    ) -> Vec<Candidate> {
        let hint = expected.ty.map(|h| self.infer.zonk(h)).filter(|h| !matches!(h.kind(), TypeKind::Meta(_)));
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

    /// Says that a near function was chosen after a conversion although a farther one takes the
    /// argument as it is.
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
                    self.report(CallError::NearByConversion { span, name, argument, near, far, place });
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
    pub(in crate::check) fn wait(
        &mut self,
        name: &ast::Name,
        found: Found,
        type_args: &[Type],
        argument: Term,
        span: Span,
    ) -> Term {
        let result = self.infer.fresh(Kind::Type);
        let id = FIRST_WAITING_ID + self.item.waited;
        self.item.waited += 1;
        let (name, type_args, depth) = (name.clone(), type_args.to_vec(), self.item.frames.len());
        let waiting = Waiting { id, name, type_args, argument, found, result: result.clone(), depth, span };
        self.item.waiting.push(waiting);
        let closure = TermKind::Closure { function: id, type_args: Vec::new(), captures: Vec::new() };
        let function = Term::new(closure, Type::error(), span);
        Term::new(TermKind::Call(Box::new(function), Vec::new()), result, span)
    }

    /// Chooses for the calls that wait since `first`.
    pub(in crate::check) fn choose_waiting(&mut self, first: usize) {
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
    pub(in crate::check) fn decide(&mut self, ty: &Type) {
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
    pub(in crate::check) fn choose_waiting_inside(&mut self) {
        let depth = self.item.frames.len();
        let outer = self.item.waiting.iter().take_while(|call| call.depth < depth).count();
        self.choose_waiting(outer);
    }

    fn choose_now(&mut self, call: Waiting, last: bool) {
        let arg = Arg::Done(call.argument.clone());
        let expected = Expectation::of(&call.result);
        let term = match self.choose(&call.name, &call.found, &call.type_args, &arg, expected, !last) {
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
                expected,
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
    pub(in crate::check) fn chosen_call(&mut self, term: &Term) -> Option<Term> {
        let TermKind::Call(function, _) = &term.kind else { return None };
        let TermKind::Closure { function, .. } = &function.kind else { return None };
        if *function < FIRST_WAITING_ID {
            return None;
        }
        let chosen = self.item.chosen.remove(function);
        Some(chosen.unwrap_or_else(|| Term::new(TermKind::Error, Type::error(), term.span)))
    }

    /// Whether some function of a name takes an argument as it is written.
    pub(in crate::check) fn takes_written(
        &mut self,
        found: &Found,
        type_args: &[Type],
        ty: &Type,
        expected: Expectation<'_>,
    ) -> bool {
        !matches!(self.ask_tiers(found, type_args, ty, (false, false), expected), Selection::None)
    }
}
