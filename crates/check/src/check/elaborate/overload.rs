//! Overload resolution: the scopes that are searched for a name, and the choice among their
//! functions.
//!
//! Takes the candidates of a name ([`LookupResult`]), the argument and the expected result; returns
//! the chosen function, or reports E0403 or E0404.
//!
//! **Scopes**, from near to far: the surrounding blocks, innermost first; this module (a session is
//! one); names imported individually; names imported with `*`; the library ([`Scope`]). Each scope
//! that has functions of the name is a *tier*. A `val`, `var` or parameter of the name ends the
//! search, and so does a case without argument, which is a value: they hide everything farther.
//!
//! **Choice.** The first tier in which a candidate fits decides; farther tiers are not examined. A
//! candidate fits if its declared parameter type accepts the type of the argument and its
//! constraints hold for its type arguments. The tests go in rounds ([`Round`]): the argument as it
//! is; with literals at other types than their own; with conversions without loss. Only the
//! candidates of the first successful round count. Of these, the least conversion decides, then the
//! most specific parameter type, then the expected result. If several remain, the call is ambiguous
//! (E0404). If no tier has a fitting candidate, the variable that ended the search is called.
//! Without such a variable, the error is E0403, or the error of calling the only function of the
//! name that the program itself has declared.
//!
//! Result types take no part in fitting. So a body that calls another function of its own name does
//! not depend on its own result type, and only a call that selects the function being checked needs
//! that result type to be written.
//!
//! **Holes.** Unification with a candidate may solve holes of the argument's type; then the
//! candidate fits for some of the types that the argument may get. If that is so for all fitting
//! candidates of the near tier, and a farther tier also accepts the argument, the hole decides
//! between near and far. Such a call is *deferred* ([`DeferredCall`]): its result is a hole, and
//! its function is chosen at the end of the statement or of the surrounding function, or as soon as
//! the type of its result is needed ([`Checker::resolve_deferred_call`]). If the hole is still
//! unsolved then, the near tier has precedence over the library, so that names added to the library
//! change no program; between other scopes the call is ambiguous (E0404). An argument that waits
//! for its parameter (a function with untyped parameters, `case n e`, a name of several functions)
//! takes no part in the choice: its type comes from the nearest candidate of its shape.
//!
//! In a generic body a type variable is rigid, so it fits only functions that are declared for all
//! its values, and the choice is made once for all of them.
//!
//! Cost: each candidate of the tiers up to the deciding one is unified with the argument once in
//! each round tried. A name with one candidate is not tested at all.

use crate::check::context::Checker;
use crate::check::elaborate::apply::Arg;
use crate::check::env::{Callable, Scope};
use crate::check::error::CallError;
use crate::check::expectation::Expectation;
use crate::check::hints::{late_size, mismatch};
use crate::check::report::mentions_error;
use crate::check::resolve::candidates::{Candidate, LookupResult, Place, Round, Tier, Variable, is_constant};
use crate::core::{FunctionId, Term, TermKind};
use crate::diagnostic::Help;
use crate::source::Span;
use crate::syntax::ast;
use crate::types::{Kind, Type, TypeKind};

/// The result of a choice.
pub(in crate::check) enum Choice {
    /// The chosen function.
    Candidate(Candidate),
    /// The variable of the name, because no nearer function fits.
    Variable(Variable),
    /// A hole of the argument decides between near and far, so the call is deferred.
    Deferred,
    /// An error that has been reported.
    Nothing,
}

/// The result of examining the tiers.
pub(in crate::check) enum Selection {
    /// One function, with the number of its tier and its round.
    One(Candidate, usize, Round),
    /// Several functions that fit equally well.
    Several(Vec<Candidate>),
    /// The functions between which a hole decides.
    Open(Vec<Candidate>),
    /// No function fits.
    None,
}

/// A call whose function is not chosen yet.
pub(in crate::check) struct DeferredCall {
    /// The placeholder for the function, a number that no function has.
    id: FunctionId,
    /// The name in the call.
    name: ast::Name,
    /// The written type arguments.
    type_args: Vec<Type>,
    /// The argument.
    argument: Term,
    /// The candidates.
    found: LookupResult,
    /// The hole of the result type.
    result: Type,
    /// The number of frames when the call was elaborated.
    depth: usize,
    /// The span of the call.
    span: Span,
}

/// First number of the placeholders of deferred calls. No program has this many functions.
const FIRST_WAITING_ID: FunctionId = FunctionId(u32::MAX / 2);

impl Checker<'_> {
    /// Returns the candidates of one scope that can have the expected type.
    pub(in crate::check) fn candidates_of_type(
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

    /// Chooses the function for a call by its argument. `may_defer` permits the result
    /// [`Choice::Deferred`].
    pub(in crate::check) fn choose(
        &mut self,
        name: &ast::Name,
        found: &LookupResult,
        type_args: &[Type],
        arg: &Arg,
        expected: Expectation<'_>,
        may_defer: bool,
    ) -> Choice {
        if let Some(only) = found.only() {
            return Choice::Candidate(only.clone());
        }
        let ty = self.infer.zonk(&arg.ty());
        if mentions_error(&ty) {
            return Choice::Nothing;
        }
        let typed = matches!(arg, Arg::Done(_));
        let ty = &ty;
        match self.search_tiers(found, type_args, ty, (typed, may_defer), expected) {
            Selection::One(candidate, tier, round) => {
                self.note_choice(name, found, type_args, ty, &candidate);
                self.note_conversion(name, found, type_args, ty, (&candidate, tier, round));
                Choice::Candidate(candidate)
            }
            Selection::Open(_) if may_defer => Choice::Deferred,
            Selection::Several(several) | Selection::Open(several) => {
                self.report_ambiguous(name, found, &several);
                Choice::Nothing
            }
            Selection::None => {
                if let Some(variable) = &found.variable {
                    return Choice::Variable(variable.clone());
                }
                if let Some(only) = found.only_declared() {
                    return Choice::Candidate(only.clone());
                }
                let argument = self.infer.zonk_with_defaults(ty);
                // The message about a type parameter should advise the constraint of the method's
                // class.
                if let (Some(only), false) = (found.only_primitive(), argument.has_var()) {
                    return Choice::Candidate(only.clone());
                }
                let candidates = self.refusals(&name.text, found, type_args, &argument);
                let element = match argument.kind() {
                    TypeKind::Array(element, _) => element,
                    _ => &argument,
                };
                let empty = mismatch::may_be_empty(element).map(|(_, words)| words.into());
                let keys = || late_size::different_keys(&argument).map(Help::from);
                let help = empty.or_else(keys).or_else(|| self.conversion_help(found, &argument, arg.span()));
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

    /// Returns help that converts a number to the type of a candidate, or that adds a constraint of
    /// a type parameter.
    fn conversion_help(&mut self, found: &LookupResult, argument: &Type, span: Span) -> Option<Help> {
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
        if let Some(words) = mismatch::required_class_hint(argument, &Type::scalar(number)) {
            return Some(words.into());
        }
        argument.as_scalar().filter(|scalar| scalar.is_number() && *scalar != number)?;
        let name = number.name();
        Some(Help::around(format!("convert it explicitly: `:> {name}`"), span, &format!(" :> {name}"), ""))
    }

    /// Reports a call for which several candidates fit equally well.
    pub(in crate::check) fn report_ambiguous(
        &mut self,
        name: &ast::Name,
        found: &LookupResult,
        several: &[Candidate],
    ) {
        let candidates = self.describe(&name.text, found, several);
        self.report(CallError::Ambiguous { span: name.span, name: name.text.to_string(), candidates });
    }

    /// Examines the tiers from near to far. With `typed`, holes of the argument's type may decide
    /// later. Without `may_defer`, nothing more will be known about the holes, and the functions of
    /// the library do not make the call ambiguous.
    pub(in crate::check) fn search_tiers(
        &mut self,
        found: &LookupResult,
        type_args: &[Type],
        ty: &Type,
        (typed, may_defer): (bool, bool),
        expected: Expectation<'_>,
    ) -> Selection {
        let holes = if typed { self.infer.open_holes(ty) } else { Vec::new() };
        for (at, tier) in found.tiers.iter().enumerate() {
            let Some((round, fitting)) = self.fitting_in_scope(&tier.candidates, type_args, ty, &holes)
            else {
                continue;
            };
            let certain = holes.is_empty() || fitting.iter().any(|(_, certain)| *certain);
            let fitting: Vec<Candidate> = fitting.into_iter().map(|(candidate, _)| candidate).collect();
            if !certain {
                let counts = |tier: &&Tier| may_defer || tier.place != Place::Top(Scope::Library);
                let farther = found.tiers[at + 1..].iter().filter(counts);
                let far =
                    farther.filter_map(|tier| self.fitting_in_scope(&tier.candidates, type_args, ty, &[]));
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

    /// Returns those candidates that give the expected result; all of them if no result is expected
    /// or none gives it.
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

    /// Reports a near function that was chosen with a conversion, if a farther one accepts the
    /// argument as it is.
    fn note_conversion(
        &mut self,
        name: &ast::Name,
        found: &LookupResult,
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
                    let (span, name, argument) =
                        (name.span, name.text.to_string(), self.infer.display_type(ty));
                    let (far, place) = (scheme.domain, tier.place.words());
                    self.report(CallError::NearByConversion { span, name, argument, near, far, place });
                    return;
                }
            }
        }
    }

    /// Records scope and round of each candidate, if a query requests the choices at this place.
    fn note_choice(
        &mut self,
        name: &ast::Name,
        found: &LookupResult,
        type_args: &[Type],
        ty: &Type,
        chosen: &Candidate,
    ) {
        let asked = self.notes.as_ref().is_some_and(|notes| notes.wants_choices(name.span));
        if !asked || found.tiers.first().is_none_or(|tier| tier.place == Place::Top(Scope::Library)) {
            return;
        }
        let argument = self.infer.display_type(ty);
        let mut lines = Vec::new();
        for (place, candidate) in found.candidates() {
            let scheme = self.candidate_header(candidate);
            let fits = match self.first_round(&scheme, type_args, ty) {
                Some(round) => format!("fits {}", round.words()),
                None => match self.refusal(&scheme, type_args, &argument) {
                    Some(reason) => format!("does not fit: {reason}"),
                    None => "does not fit".to_string(),
                },
            };
            let chosen = if candidate.is_same_function(chosen) { ", chosen" } else { "" };
            let typed = self.name_and_type(&name.text, candidate);
            lines.push(format!("{}  # in {}, {fits}{chosen}", typed.replace('`', ""), place.words()));
        }
        if let Some(choices) = self.notes.as_mut().and_then(|notes| notes.choices.as_mut()) {
            choices.extend(lines);
        }
    }

    /// Defers the choice of a call's function; returns a placeholder term for the call.
    pub(in crate::check) fn defer_call(
        &mut self,
        name: &ast::Name,
        found: LookupResult,
        type_args: &[Type],
        argument: Term,
        span: Span,
    ) -> Term {
        let result = self.infer.fresh(Kind::Spread);
        let id = FunctionId::new(FIRST_WAITING_ID.index() + self.item.deferred_count);
        self.item.deferred_count += 1;
        let (name, type_args, depth) = (name.clone(), type_args.to_vec(), self.item.frames.len());
        let call = DeferredCall { id, name, type_args, argument, found, result: result.clone(), depth, span };
        self.item.deferred_calls.push(call);
        let closure = TermKind::Closure { function: id, type_args: Vec::new(), captures: Vec::new() };
        let function = Term::new(closure, Type::error(), span);
        Term::new(TermKind::Call(Box::new(function), Vec::new()), result, span)
    }

    /// Chooses the functions of the deferred calls from number `first` on.
    pub(in crate::check) fn choose_deferred(&mut self, first: usize) {
        let mut last = false;
        loop {
            let before = self.item.deferred_calls.len();
            let calls = self.item.deferred_calls.split_off(first.min(before));
            if calls.is_empty() {
                return;
            }
            for call in calls {
                self.choose_deferred_call(call, last);
            }
            // Each choice may solve a hole that another deferred call depends on.
            last = self.item.deferred_calls.len() >= before;
        }
    }

    /// Chooses the function of the deferred call whose result is this hole, because its type is
    /// needed.
    pub(in crate::check) fn resolve_deferred_call(&mut self, ty: &Type) {
        let result = self.infer.shallow(ty);
        if !matches!(result.kind(), TypeKind::Meta(_)) {
            return;
        }
        let depth = self.item.frames.len();
        let calls = &self.item.deferred_calls;
        let at =
            calls.iter().position(|call| call.depth == depth && self.infer.shallow(&call.result) == result);
        if let Some(at) = at {
            let call = self.item.deferred_calls.remove(at);
            self.choose_deferred_call(call, true);
        }
    }

    /// Chooses the functions of the deferred calls of the innermost function.
    pub(in crate::check) fn choose_deferred_of_function(&mut self) {
        let depth = self.item.frames.len();
        let outer = self.item.deferred_calls.iter().take_while(|call| call.depth < depth).count();
        self.choose_deferred(outer);
    }

    /// Chooses the function of a deferred call; defers it again unless this is the last attempt.
    fn choose_deferred_call(&mut self, call: DeferredCall, last: bool) {
        let arg = Arg::Done(call.argument.clone());
        let expected = Expectation::of(&call.result);
        let term = match self.choose(&call.name, &call.found, &call.type_args, &arg, expected, !last) {
            Choice::Deferred => {
                self.item.deferred_calls.push(call);
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

    /// Returns the chosen call for the placeholder of a deferred one; `None` for other terms.
    pub(in crate::check) fn take_chosen_call(&mut self, term: &Term) -> Option<Term> {
        let TermKind::Call(function, _) = &term.kind else { return None };
        let TermKind::Closure { function, .. } = &function.kind else { return None };
        if *function < FIRST_WAITING_ID {
            return None;
        }
        let chosen = self.item.chosen.remove(function);
        Some(chosen.expect("a deferred call is chosen, and its placeholder stands in one place"))
    }

    /// Returns true if some function of a name accepts an argument as it is written.
    pub(in crate::check) fn accepts_as_written(
        &mut self,
        found: &LookupResult,
        type_args: &[Type],
        ty: &Type,
        expected: Expectation<'_>,
    ) -> bool {
        !matches!(self.search_tiers(found, type_args, ty, (false, false), expected), Selection::None)
    }
}
