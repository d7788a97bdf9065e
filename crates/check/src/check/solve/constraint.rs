//! Entailment of class constraints, and the constraints that an item still has to satisfy.
//!
//! Takes constraints (`C[types]`) with the places that need them; returns an [`Answer`] for each,
//! and reports those that do not hold. It never takes back a decision, and never chooses the
//! function that implements a method (the evaluator does that at concrete types).
//!
//! **Entailment.** `C[types]` holds if it is among the given constraints of the function's header
//! (a given constraint brings those of its superclasses). It also holds if the types match the head
//! of an instance and the requirements of that instance hold in turn. Heads of one class have no
//! type in common ([`crate::check::items::class`]), except that a tuple of equal types matches an
//! array head and a product head; then the preferred one ([`crate::types::matching`]) whose
//! requirements hold is taken. So the answer does not depend on the order of declarations. `Show`
//! of every type and `Eq` of data hold by structure; an instance of a declared type overrides that.
//!
//! **Order of decisions.** A call only records its constraints as obligations. At the end of the
//! item (a statement or a function body) most holes are solved, and [`Checker::discharge`] examines
//! the obligations in rounds: an obligation that holds is dropped, one that cannot hold is
//! reported, and one that depends on holes waits. When a round decides nothing, literals take their
//! default types. When that decides nothing either, a constraint that only one instance could
//! satisfy is unified with the head of that instance (so `Index[Table, string, ?]` determines the
//! element type). Constraints that still wait are reported as ambiguous.
//!
//! **Cost.** Each step examines each instance of a class once. A chain of requirements is followed
//! to a fixed depth ([`MAX_REQUIREMENT_DEPTH`]), because an instance may require a constraint on
//! larger types (`instance[T with C[T ^ 2]] C[T]`).

use crate::check::context::Checker;
use crate::check::env;
use crate::check::env::{Class, Constraint, Membership, bindings};
use crate::check::error::class::Advice;
use crate::check::error::{CheckError, ClassError};
use crate::check::report::Report;
use crate::check::state::{ConstrainedApplication, Obligation};
use crate::core::program::{MAX_REQUIREMENT_DEPTH, opaque_part};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::matching::matching;
use crate::types::{MAX_TYPE_NODES, Type, TypeKind};
use std::collections::VecDeque;
use std::sync::Arc;

/// Maximum number of constraints that one header gives. Superclasses at growing types could double
/// the number at each level. Superclass constraints beyond this number are ignored.
const MAX_GIVENS: usize = 1_000;

/// The result of deciding a constraint.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::check) enum Answer {
    /// The constraint holds.
    Yes,
    /// The constraint does not hold because the given one (itself or a requirement) does not.
    No(Constraint),
    /// The requirements do not end, or exceed the bounds on depth and size: `C[T]` needs `C[T ^
    /// 2]`, which needs …
    Endless,
    /// The answer depends on unsolved holes.
    Open,
}

impl Answer {
    /// Returns true if the constraint does not hold, whatever types the holes become.
    pub fn fails(&self) -> bool {
        matches!(self, Answer::No(_) | Answer::Endless)
    }
}

/// The memoized state of one derivation: each constraint is examined once.
#[derive(Default)]
struct Proof {
    /// Number of nested requirements around the present constraint.
    depth: u32,
    /// The first refused instance that the derivation uses.
    refused: Option<RefusedInstance>,
    /// The answer for each constraint, with the refused instance it uses. A constraint that is
    /// being examined counts as [`Answer::Endless`].
    known: HashMap<Constraint, (Answer, Option<RefusedInstance>)>,
}

/// An instance that its author declares as refused: a use of it is an error with the author's text.
#[derive(Clone, Debug)]
pub(in crate::check) struct RefusedInstance {
    /// The constraint that the instance satisfies.
    pub asked: Constraint,
    /// The place of the instance's declaration.
    pub instance: Span,
    /// The author's text for the message.
    pub words: String,
}

impl Checker<'_> {
    /// Records that a constraint must hold for the use `needed_by` at `span`.
    pub(in crate::check) fn add_obligation(&mut self, constraint: Constraint, span: Span, needed_by: &str) {
        self.item.obligations.push(Obligation { constraint, span, needed_by: needed_by.to_string() });
    }

    /// Records every constraint that a use of the function `name` needs.
    pub(in crate::check) fn add_obligations(&mut self, constraints: &[Constraint], span: Span, name: &str) {
        for constraint in constraints {
            self.add_obligation(constraint.clone(), span, &format!("`{name}`"));
        }
    }

    /// Decides all obligations of the present item, and reports those that do not hold or stay
    /// ambiguous.
    pub(in crate::check) fn discharge(&mut self) {
        self.add_application_obligations();
        // Each round except the last drops or reports an obligation, or solves a hole.
        let (mut defaulted, mut waiting) = (false, std::mem::take(&mut self.item.obligations));
        loop {
            let before = waiting.len();
            waiting.retain(|obligation| match self.entailed_unless_refused(&obligation.constraint) {
                (Answer::Yes, refused) => {
                    if let Some(refused) = refused {
                        self.refuse_in_words(obligation, refused);
                    }
                    false
                }
                (Answer::Open, _) => true,
                (Answer::No(missing), _) => {
                    self.refuse(obligation, &missing);
                    false
                }
                (Answer::Endless, _) => {
                    self.report_nontermination(obligation);
                    false
                }
            });
            if waiting.is_empty() {
                return;
            }
            if waiting.len() < before {
                continue;
            }
            if !defaulted {
                defaulted = true;
                for arg in waiting.iter().flat_map(|o| o.constraint.args.clone()) {
                    self.infer.zonk_with_defaults(&arg);
                }
                continue;
            }
            if !waiting.iter().any(|obligation| self.improve(&obligation.constraint)) {
                break;
            }
        }
        // If an error has been reported, it may be the reason why the holes are not solved.
        if self.reports.any_error() {
            waiting.iter().for_each(|obligation| self.note_suppressed(obligation.span));
            return;
        }
        for obligation in waiting {
            let constraint = self.zonk_constraint(&obligation.constraint);
            let constraint = self.env.text(&constraint);
            self.report(CheckError::Class(ClassError::Undetermined {
                span: obligation.span,
                constraint,
                needed_by: obligation.needed_by,
            }));
        }
    }

    /// Reports the use of a refused instance, once for each place and text.
    fn refuse_in_words(&mut self, obligation: &Obligation, refused: RefusedInstance) {
        let RefusedInstance { asked, instance, words: text } = refused;
        let reported = |report: &Report| match &report.error {
            CheckError::Class(ClassError::Refused { span, text: known, .. }) => {
                *known == text && *span == obligation.span
            }
            _ => false,
        };
        if self.reports.iter().any(reported) {
            return;
        }
        let (span, needed_by) = (obligation.span, obligation.needed_by.clone());
        let constraint = self.env.text(&asked);
        self.report(ClassError::Refused { span, constraint, needed_by, instance, text });
    }

    /// Returns the constraint with all solved holes replaced.
    pub(in crate::check) fn zonk_constraint(&self, constraint: &Constraint) -> Constraint {
        let args = constraint.args.iter().map(|t| self.infer.zonk(t)).collect();
        Constraint { class: constraint.class, args }
    }

    /// Reports an obligation that does not hold because `missing` does not.
    fn refuse(&mut self, obligation: &Obligation, missing: &Constraint) {
        let constraint = self.shown(&obligation.constraint);
        let missing = &self.shown(missing);
        let advice = match (self.advice(missing), self.elementwise(missing)) {
            (Advice::None, Some(instance)) => Advice::Each { instance: self.env.text(&instance) },
            (advice, _) => advice,
        };
        if self.item.in_doubt && matches!(advice, Advice::Ask { .. }) {
            return;
        }
        self.report(CheckError::Class(ClassError::NoInstance {
            span: obligation.span,
            constraint: self.env.text(&constraint),
            needed_by: obligation.needed_by.clone(),
            missing: self.env.text(missing),
            advice,
        }));
    }

    /// Returns the constraint for the elements of the only argument if that is an array, and if it
    /// holds.
    fn elementwise(&mut self, missing: &Constraint) -> Option<Constraint> {
        let [ty] = &missing.args[..] else { return None };
        let TypeKind::Array(element, _) = ty.kind() else { return None };
        let instance = Constraint { class: missing.class, args: vec![element.clone()] };
        (self.entails(&instance) == Answer::Yes).then_some(instance)
    }

    /// Returns the constraint as messages show it: zonked, with literal holes at their default
    /// types.
    fn shown(&mut self, constraint: &Constraint) -> Constraint {
        let args = constraint.args.iter().map(|ty| self.infer.display_type(ty)).collect();
        Constraint { class: constraint.class, args }
    }

    /// Reports an obligation whose requirements do not end.
    fn report_nontermination(&mut self, obligation: &Obligation) {
        let constraint = self.zonk_constraint(&obligation.constraint);
        // The requirement of the matching instance that continues the chain, and the place of the
        // instance.
        let mut next = None;
        for instance in self.env.instances.get(&constraint.class).map_or(&[][..], Vec::as_slice) {
            if let Some(found) = matching(&instance.params, &instance.args, &constraint.args) {
                let asked = instance.requires.first().map(|c| c.substitute(&found.bindings));
                next = next.or(asked.map(|asked| (self.env.text(&asked), instance.span)));
            }
        }
        self.report(CheckError::Class(ClassError::Endless {
            span: obligation.span,
            constraint: self.env.text(&constraint),
            needed_by: obligation.needed_by.clone(),
            next,
        }));
    }

    /// Returns advice for a missing constraint: ask for it in the header, declare an instance, or
    /// none.
    pub(in crate::check) fn advice(&self, missing: &Constraint) -> Advice {
        let arithmetic = |class: &Arc<Class>| {
            matches!(&*class.name, "Add" | "Sub" | "Neg" | "Mul" | "Div" | "Ring")
                && self.env.of_library(class.span)
        };
        if let [ty] = &missing.args[..]
            && is_index(ty)
            && self.env.classes.get(&missing.class).is_some_and(arithmetic)
        {
            return Advice::Index { ty: ty.to_string(), truth: ty.is_bool() };
        }
        let parameter = missing.args.iter().find_map(|ty| match ty.kind() {
            TypeKind::Var(var) => Some(var.name.to_string()),
            TypeKind::Rest(list) if matches!(list.kind(), TypeKind::Var(_)) => Some(ty.to_string()),
            _ => None,
        });
        if let Some(parameter) = parameter {
            return Advice::Ask { parameter };
        }
        let own = missing.args.iter().any(|ty| matches!(ty.kind(), TypeKind::Nominal(..)));
        // Only the module of an abstract type, or the module of the class, may declare its
        // instance.
        let own_class =
            self.env.classes.get(&missing.class).is_some_and(|class| self.env.replaceable(class.span));
        let foreign = !own_class && missing.args.iter().any(|ty| self.is_foreign_abstract(ty));
        match self.env.classes.get(&missing.class) {
            Some(class) if own && !foreign => {
                // A type without structural equality cannot use the default of `==`, so all methods
                // are listed.
                let all = self.program.known.eq == Some(class.id);
                let needed = class.methods.iter().filter(|m| all || m.default.is_none());
                let members: Vec<String> = needed.map(|m| format!("fun {} …", m.name)).collect();
                Advice::Write { members: members.join("; ") }
            }
            _ => Advice::None,
        }
    }

    /// Decides whether a constraint holds by the given constraints, the instances and the language.
    pub(in crate::check) fn entails(&mut self, constraint: &Constraint) -> Answer {
        let constraint = self.zonk_constraint(constraint);
        self.entailed(&constraint, &mut Proof::default())
    }

    /// Decides a constraint as [`Checker::entails`] does, and returns the refused instance that the
    /// derivation uses, if any. A refused instance counts as an instance here, so that the choice
    /// that leads to it is made and then reported with its author's text.
    pub(in crate::check) fn entailed_unless_refused(
        &mut self,
        constraint: &Constraint,
    ) -> (Answer, Option<RefusedInstance>) {
        let constraint = self.zonk_constraint(constraint);
        let mut proof = Proof::default();
        let answer = self.entailed(&constraint, &mut proof);
        (answer, proof.refused)
    }

    /// Decides a zonked constraint; `proof` memoizes the answers. Depth and size are bounded.
    fn entailed(&mut self, constraint: &Constraint, proof: &mut Proof) -> Answer {
        if constraint.args.iter().any(Type::is_error) || self.item.givens.contains(constraint) {
            return Answer::Yes;
        }
        let nodes = constraint.args.iter().fold(0u32, |n, t| n.saturating_add(t.nodes()));
        if proof.depth > MAX_REQUIREMENT_DEPTH || nodes > MAX_TYPE_NODES {
            return Answer::Endless;
        }
        if self.program.known.show == Some(constraint.class) {
            return Answer::Yes;
        }
        let instances = self.env.instances.get(&constraint.class).cloned().unwrap_or_default();
        if constraint.args.iter().any(Type::has_meta) {
            let possible = self.candidates(constraint, &instances) > 0
                || self.program.known.eq == Some(constraint.class)
                || self.may_hold_by_language(constraint);
            return if possible { Answer::Open } else { Answer::No(constraint.clone()) };
        }
        if let Some((answer, refused)) = proof.known.get(constraint) {
            proof.refused = proof.refused.take().or_else(|| refused.clone());
            return answer.clone();
        }
        proof.known.insert(constraint.clone(), (Answer::Endless, None));
        proof.depth += 1;
        let before = proof.refused.take();
        let answer = self
            .by_instance(constraint, proof)
            .or_else(|| self.by_structure(constraint, proof))
            .or_else(|| self.built_in_instance(constraint))
            .unwrap_or_else(|| Answer::No(constraint.clone()));
        proof.depth -= 1;
        proof.known.insert(constraint.clone(), (answer.clone(), proof.refused.clone()));
        proof.refused = before.or_else(|| proof.refused.take());
        answer
    }

    /// Decides a constraint without holes by the instances whose heads match, preferred ones first.
    /// Returns `None` if no head matches.
    fn by_instance(&mut self, constraint: &Constraint, proof: &mut Proof) -> Option<Answer> {
        let instances = self.env.instances.get(&constraint.class)?;
        let mut matches: Vec<_> = instances
            .iter()
            .filter_map(|i| Some((i.clone(), matching(&i.params, &i.args, &constraint.args)?)))
            .collect();
        matches.sort_by(|(_, a), (_, b)| a.preference(b));
        let mut lacking = None;
        let before = proof.refused.clone();
        for (instance, found) in matches {
            proof.refused = before.clone();
            let requires = instance.requires.iter().map(|c| c.substitute(&found.bindings));
            match self.entailed_all(requires, proof) {
                answer if answer.fails() => lacking = lacking.or(Some(answer)),
                answer => {
                    if let (Some(refusal), None) = (&instance.refusal, &proof.refused) {
                        let (asked, words) = (constraint.clone(), refusal.text(&found.bindings));
                        proof.refused = Some(RefusedInstance { asked, instance: instance.span, words });
                    }
                    return Some(answer);
                }
            }
        }
        proof.refused = before;
        lacking
    }

    /// Decides all constraints in order; returns the first answer that is not [`Answer::Yes`].
    fn entailed_all(&mut self, all: impl Iterator<Item = Constraint>, proof: &mut Proof) -> Answer {
        for constraint in all {
            match self.entailed(&constraint, proof) {
                Answer::Yes => {}
                other => return other,
            }
        }
        Answer::Yes
    }

    /// Decides an `Eq` constraint by the structure of the types. Returns `None` for other classes.
    fn by_structure(&mut self, constraint: &Constraint, proof: &mut Proof) -> Option<Answer> {
        if self.program.known.eq != Some(constraint.class) {
            return None;
        }
        let opaque = constraint.args.iter().find_map(|ty| self.opaque_part_at(ty, proof));
        Some(match opaque {
            None => Answer::Yes,
            Some(ty) => Answer::No(Constraint { class: constraint.class, args: vec![ty] }),
        })
    }

    /// Decides a constraint by the conversions that the language defines for numbers. Returns
    /// `None` where the language defines none.
    fn built_in_instance(&self, constraint: &Constraint) -> Option<Answer> {
        let holds = self.program.known.built_in_instance(constraint.class, &constraint.args)?;
        Some(if holds { Answer::Yes } else { Answer::No(constraint.clone()) })
    }

    /// Returns true if a constraint with holes may come to hold by the language's conversions of
    /// numbers.
    fn may_hold_by_language(&self, constraint: &Constraint) -> bool {
        let known = &self.program.known;
        let class = Some(constraint.class);
        (class == known.convert || class == known.widen || class == known.literal)
            && constraint.args.iter().all(|ty| {
                let ty = self.infer.shallow(ty);
                matches!(ty.kind(), TypeKind::Meta(_)) || ty.as_scalar().is_some_and(|s| s.is_number())
            })
    }

    /// Returns a part of a type whose values cannot be compared for equality: a function, or a type
    /// parameter without an `Eq` constraint. Returns `None` if all parts can be compared.
    pub(in crate::check) fn opaque_part(&mut self, ty: &Type) -> Option<Type> {
        self.opaque_part_at(ty, &mut Proof::default())
    }

    /// Returns the part as [`Checker::opaque_part`] does, within a derivation.
    fn opaque_part_at(&mut self, ty: &Type, proof: &mut Proof) -> Option<Type> {
        opaque_part(ty, |ty| self.compares(ty, proof))
    }

    /// Returns `Some(true)` if the values of exactly this type can be compared by declaration: the
    /// header gives `Eq`, an instance matches, or the present item is a law (laws quantify over
    /// comparable values). Returns `Some(false)` if the matching instance fails, and `None` if no
    /// declaration applies.
    fn compares(&mut self, ty: &Type, proof: &mut Proof) -> Option<bool> {
        if self.item.in_law && matches!(ty.kind(), TypeKind::Var(_)) {
            return Some(true);
        }
        let class = self.program.known.eq?;
        if self.item.givens.iter().any(|c| c.class == class && c.args[0] == *ty) {
            return Some(true);
        }
        if !matches!(ty.kind(), TypeKind::Nominal(..)) {
            return None;
        }
        let constraint = Constraint { class, args: vec![ty.clone()] };
        self.by_instance(&constraint, proof).map(|answer| !answer.fails())
    }

    /// Counts the given constraints and instances that could satisfy a constraint with holes.
    fn candidates(&mut self, constraint: &Constraint, instances: &[Arc<Membership>]) -> usize {
        let given = self.item.givens.clone();
        let given =
            given.iter().filter(|g| g.class == constraint.class && self.could_be(&g.args, constraint));
        let given = given.count();
        given + instances.iter().filter(|i| self.could_apply(i, constraint)).count()
    }

    /// Returns true if the types unify with those of the constraint; the holes are left unchanged.
    fn could_be(&mut self, args: &[Type], constraint: &Constraint) -> bool {
        let mark = self.infer.mark();
        let fits = args.iter().zip(&constraint.args).all(|(a, b)| self.infer.unify(a, b).is_ok());
        self.infer.undo(mark);
        fits
    }

    /// Returns true if the head of an instance, with fresh holes for its parameters, unifies with
    /// the constraint's types; the holes are left unchanged.
    fn could_apply(&mut self, instance: &Membership, constraint: &Constraint) -> bool {
        let bindings = self.infer.instantiate(&instance.params);
        let args: Vec<Type> = instance.args.iter().map(|t| t.substitute(&bindings)).collect();
        self.could_be(&args, constraint)
    }

    /// Unifies a constraint with holes with the head of its only candidate. Returns true if that
    /// changes the constraint's types. Returns false and changes nothing if there is not exactly
    /// one candidate, or if the language's conversions of numbers may still apply.
    pub(in crate::check) fn improve(&mut self, constraint: &Constraint) -> bool {
        let constraint = self.zonk_constraint(constraint);
        let instances = self.env.instances.get(&constraint.class).cloned().unwrap_or_default();
        if self.candidates(&constraint, &instances) != 1 || self.may_hold_by_language(&constraint) {
            return false;
        }
        let given = self.item.givens.clone();
        let given = given.into_iter().filter(|g| g.class == constraint.class).map(|g| g.args);
        let mut heads: Vec<Vec<Type>> = given.collect();
        for instance in &instances {
            let bindings = self.infer.instantiate(&instance.params);
            heads.push(instance.args.iter().map(|t| t.substitute(&bindings)).collect());
        }
        let Some(head) = heads.into_iter().find(|head| self.could_be(head, &constraint)) else {
            return false;
        };
        let taken = head.iter().zip(&constraint.args).all(|(a, b)| self.infer.try_unify(a, b));
        // The array instance adds no information to `Add[?T ^ 3]`, and neither does replacing one
        // hole by another. Comparing sizes and numbers of holes detects both.
        taken && holes(&self.zonk_constraint(&constraint)) != holes(&constraint)
    }

    /// Returns the constraints followed by those of their superclasses, nearest first (breadth
    /// first), without duplicates, up to [`MAX_GIVENS`].
    pub(in crate::check) fn with_supers(&self, constraints: Vec<Constraint>) -> Vec<Constraint> {
        let mut all: Vec<Constraint> = Vec::new();
        let mut seen: HashSet<Constraint> = HashSet::default();
        let mut waiting = VecDeque::from(constraints);
        while let Some(constraint) = waiting.pop_front() {
            if all.len() == MAX_GIVENS {
                break;
            }
            if !seen.insert(constraint.clone()) {
                continue;
            }
            if let Some(class) = self.env.classes.get(&constraint.class) {
                let bindings = env::bindings(&class.params, &constraint.args);
                waiting.extend(class.supers.iter().map(|s| s.substitute(&bindings)));
            }
            all.push(constraint);
        }
        all
    }

    /// Returns true if the type is an abstract type of another module.
    pub(in crate::check) fn is_foreign_abstract(&self, ty: &Type) -> bool {
        match ty.kind() {
            TypeKind::Nominal(nominal, _) => {
                nominal.as_abstract().is_some() && self.env.hidden.contains(&nominal.id)
            }
            _ => false,
        }
    }

    /// Records the constraints of the declared types that the present item applies.
    pub(in crate::check) fn add_application_obligations(&mut self) {
        for ConstrainedApplication { declared, args, span, name } in std::mem::take(&mut self.item.applied) {
            let Some(known) = self.env.type_constraints.get(&declared) else { continue };
            let at = bindings(&known.params, &args);
            let needed: Vec<Constraint> = known.constraints.iter().map(|c| c.substitute(&at)).collect();
            self.add_obligations(&needed, span, &name);
        }
    }
}

/// Returns the number of nodes in the types of a constraint (saturating), and the number of their
/// distinct holes.
fn holes(constraint: &Constraint) -> (u32, usize) {
    fn walk(ty: &Type, found: &mut HashSet<u32>) {
        if let TypeKind::Meta(meta) = ty.kind() {
            found.insert(meta.id);
        } else if ty.has_meta() {
            ty.kind().for_each_child(&mut |part| walk(part, found));
        }
    }
    let mut found = HashSet::default();
    constraint.args.iter().for_each(|ty| walk(ty, &mut found));
    (constraint.args.iter().fold(0, |n: u32, ty| n.saturating_add(ty.nodes())), found.len())
}

/// Returns true if the types match the head of an instance.
pub(in crate::check) fn head_matches(instance: &Membership, args: &[Type]) -> bool {
    matching(&instance.params, &instance.args, args).is_some()
}

/// Returns true for an index type that is not declared; no instance can be declared for such a
/// type.
pub(in crate::check) fn is_index(ty: &Type) -> bool {
    ty.is_compact() && !matches!(ty.kind(), TypeKind::Nominal(..))
}

#[cfg(test)]
mod tests {
    use super::{Answer, Checker, MAX_GIVENS};
    use crate::check::env::{Class, Constraint, Env, Membership};
    use crate::check::solve::infer::Literal;
    use crate::core::program::KnownClasses;
    use crate::core::{ClassId, Program};
    use crate::source::Span;
    use crate::types::apply::Refusal;
    use crate::types::{Kind, Scalar, Type, TypeVar};
    use std::sync::Arc;

    fn var(id: u32, kind: Kind) -> TypeVar {
        TypeVar { id, name: format!("T{id}").into(), kind }
    }

    const T: u32 = 1_001;
    const I: u32 = 1_002;

    fn element() -> Type {
        Type::var(var(T, Kind::Type))
    }

    fn of(class: usize, args: &[Type]) -> Constraint {
        Constraint { class: ClassId::new(class), args: args.to_vec() }
    }

    /// Declares an instance of a class at types over `T` and `I`.
    fn declare(env: &mut Env, class: usize, args: &[Type], requires: &[Constraint], refusal: Option<&str>) {
        let refusal = refusal.map(|text| Refusal { pieces: vec![Ok(text.into()), Err(element())] });
        let params = vec![var(T, Kind::Type), var(I, Kind::Compact)];
        let (args, requires, span) = (args.to_vec(), requires.to_vec(), Span::default());
        let instance = Arc::new(Membership { params, args, requires, refusal, span });
        env.instances.entry(ClassId::new(class)).or_default().push(instance);
    }

    /// Runs a check in a session where class 0 has `int`, `string` and the arrays of its elements.
    fn with_checker<R>(
        change: impl FnOnce(&mut Env, &mut Program),
        test: impl FnOnce(&mut Checker<'_>) -> R,
    ) -> R {
        let (mut env, mut program) = (Env::new(), Program::default());
        declare(&mut env, 0, &[Type::int()], &[], None);
        declare(&mut env, 0, &[Type::string()], &[], None);
        let array = Type::array(element(), Type::var(var(I, Kind::Compact)));
        declare(&mut env, 0, &[array], &[of(0, &[element()])], None);
        change(&mut env, &mut program);
        test(&mut Checker::new(&mut env, &mut program, |_, _| {}))
    }

    fn array(ty: Type, n: u32) -> Type {
        Type::array(ty, Type::unit_sum(n))
    }

    #[test]
    fn an_instance_holds_if_its_requirements_do() {
        with_checker(
            |_, _| {},
            |checker| {
                assert_eq!(checker.entails(&of(0, &[Type::int()])), Answer::Yes);
                assert_eq!(checker.entails(&of(0, &[array(array(Type::int(), 2), 3)])), Answer::Yes);
                // The innermost requirement is missing.
                let missing = of(0, &[Type::real()]);
                assert_eq!(checker.entails(&of(0, &[array(array(Type::real(), 2), 3)])), Answer::No(missing));
                // A class without instances.
                assert_eq!(checker.entails(&of(1, &[Type::int()])), Answer::No(of(1, &[Type::int()])));
            },
        );
    }

    #[test]
    fn a_given_constraint_holds_for_its_types_alone() {
        let one = Type::var(var(2_001, Kind::Type));
        let other = Type::var(var(2_002, Kind::Type));
        with_checker(
            |_, _| {},
            |checker| {
                checker.item.givens = vec![of(0, std::slice::from_ref(&one))];
                assert_eq!(checker.entails(&of(0, &[array(one, 3)])), Answer::Yes);
                assert_eq!(
                    checker.entails(&of(0, std::slice::from_ref(&other))),
                    Answer::No(of(0, &[other]))
                );
            },
        );
    }

    /// With holes the answer is open as long as an instance may apply.
    #[test]
    fn holes_leave_the_answer_open_unless_no_instance_fits() {
        with_checker(
            |_, _| {},
            |checker| {
                let hole = checker.infer.fresh(Kind::Type);
                assert_eq!(checker.entails(&of(0, std::slice::from_ref(&hole))), Answer::Open);
                assert_eq!(checker.entails(&of(0, &[array(hole.clone(), 3)])), Answer::Open);
                let pair = of(0, &[Type::function(hole.clone(), Type::int())]);
                assert_eq!(checker.entails(&pair), Answer::No(pair.clone()));
                // A question solves nothing.
                assert_eq!(checker.infer.zonk(&hole), hole);
                assert!(checker.infer.try_unify(&hole, &Type::real()));
                assert_eq!(checker.entails(&of(0, &[hole])), Answer::No(of(0, &[Type::real()])));
            },
        );
    }

    /// Requirements that grow without end, and those that lead back to themselves, do not hold.
    #[test]
    fn requirements_without_end_are_endless() {
        let growing = |env: &mut Env, _: &mut Program| {
            declare(env, 1, &[element()], &[of(1, &[array(element(), 2)])], None);
            declare(env, 2, &[element()], &[of(2, &[element()])], None);
        };
        with_checker(growing, |checker| {
            assert_eq!(checker.entails(&of(1, &[Type::int()])), Answer::Endless);
            assert_eq!(checker.entails(&of(2, &[Type::int()])), Answer::Endless);
            assert!(Answer::Endless.fails() && !Answer::Open.fails());
        });
    }

    /// A constraint that is required twice at each level is examined once: this chain would have
    /// 2^60 derivations.
    #[test]
    fn each_constraint_of_a_derivation_is_examined_once() {
        let chain = |env: &mut Env, _: &mut Program| {
            for class in 0..60 {
                let next = of(11 + class, &[element()]);
                declare(env, 10 + class, &[element()], &[next.clone(), next], None);
            }
            declare(env, 70, &[Type::int()], &[], None);
        };
        with_checker(chain, |checker| {
            assert_eq!(checker.entails(&of(10, &[Type::int()])), Answer::Yes);
            assert_eq!(checker.entails(&of(10, &[Type::real()])), Answer::No(of(70, &[Type::real()])));
        });
    }

    /// The only instance that may apply determines holes; with two of them nothing changes.
    #[test]
    fn a_single_candidate_determines_holes() {
        let two = |env: &mut Env, _: &mut Program| {
            declare(env, 1, &[Type::int(), Type::string()], &[], None);
            declare(env, 1, &[Type::real(), Type::string()], &[], None);
        };
        with_checker(two, |checker| {
            let (any, hole) = (checker.infer.fresh(Kind::Type), checker.infer.fresh(Kind::Type));
            assert!(!checker.improve(&of(1, &[any.clone(), hole.clone()])));
            assert_eq!(checker.infer.zonk(&hole), hole);
            assert!(checker.improve(&of(1, &[Type::int(), hole.clone()])));
            assert_eq!(checker.infer.zonk(&hole), Type::string());
            // Nothing is left to determine.
            assert!(!checker.improve(&of(1, &[Type::int(), hole])));
            assert_eq!(checker.infer.zonk(&any), any);
        });
    }

    /// An instance that exchanges one hole for another of the same form says nothing new.
    #[test]
    fn an_array_instance_says_nothing_of_the_elements() {
        with_checker(
            |_, _| {},
            |checker| {
                let hole = checker.infer.fresh(Kind::Type);
                assert!(!checker.improve(&of(0, &[array(hole, 3)])));
            },
        );
    }

    #[test]
    fn a_refused_instance_is_found_with_its_words() {
        let refused = |env: &mut Env, _: &mut Program| {
            let function = Type::function(element(), Type::int());
            declare(env, 0, &[function], &[], Some("not for "));
        };
        with_checker(refused, |checker| {
            let function = Type::function(Type::real(), Type::int());
            let (answer, refused) = checker.entailed_unless_refused(&of(0, &[array(function.clone(), 2)]));
            let refused = refused.expect("a requirement is refused");
            assert_eq!((answer, refused.words.as_str()), (Answer::Yes, "not for real"));
            assert_eq!(refused.asked, of(0, &[function]));
            assert!(checker.entailed_unless_refused(&of(0, &[array(Type::int(), 2)])).1.is_none());
        });
    }

    /// Of an array instance and a product instance that both match `int ^ 2`, the first one is
    /// taken, in whatever order they are declared.
    #[test]
    fn an_array_is_matched_by_an_array_first() {
        for pair_first in [false, true] {
            let both = |env: &mut Env, _: &mut Program| {
                let array = Type::array(element(), Type::var(var(I, Kind::Compact)));
                let pair = Type::product(vec![element(), Type::int()]);
                let mut heads = [(array, "an array of "), (pair, "a pair of ")];
                if pair_first {
                    heads.reverse();
                }
                for (head, words) in heads {
                    declare(env, 1, &[head], &[], Some(words));
                }
            };
            with_checker(both, |checker| {
                let words = |checker: &mut Checker<'_>, ty| {
                    let (_, refused) = checker.entailed_unless_refused(&of(1, &[ty]));
                    refused.expect("an instance matches").words
                };
                assert_eq!(words(checker, array(Type::int(), 2)), "an array of int");
                let pair = Type::product(vec![Type::real(), Type::int()]);
                assert_eq!(words(checker, pair), "a pair of real");
            });
        }
    }

    /// Data without functions is comparable by structure; an instance of a declared type decides
    /// for its values.
    #[test]
    fn equality_holds_by_structure() {
        let known = |_: &mut Env, program: &mut Program| {
            program.known = KnownClasses { eq: Some(ClassId::new(1)), ..KnownClasses::default() };
        };
        with_checker(known, |checker| {
            let pair = Type::product(vec![Type::int(), array(Type::string(), 3)]);
            assert_eq!(checker.entails(&of(1, &[pair])), Answer::Yes);
            let function = Type::function(Type::int(), Type::int());
            let pair = Type::product(vec![Type::int(), function.clone()]);
            assert_eq!(
                checker.entails(&of(1, std::slice::from_ref(&pair))),
                Answer::No(of(1, std::slice::from_ref(&function)))
            );
            assert_eq!(checker.opaque_part(&pair), Some(function));
            // A parameter is comparable if the header says so.
            let parameter = Type::var(var(2_001, Kind::Type));
            assert_eq!(checker.opaque_part(&parameter), Some(parameter.clone()));
            checker.item.givens = vec![of(1, std::slice::from_ref(&parameter))];
            assert_eq!(checker.opaque_part(&array(parameter, 3)), None);
        });
    }

    /// The conversions that the language has for numbers need no instance.
    #[test]
    fn numbers_convert_without_an_instance() {
        let known = |_: &mut Env, program: &mut Program| {
            program.known = KnownClasses { widen: Some(ClassId::new(1)), ..KnownClasses::default() };
        };
        with_checker(known, |checker| {
            for from in Scalar::ALL {
                for to in Scalar::ALL {
                    let asked = of(1, &[Type::scalar(from), Type::scalar(to)]);
                    let numbers = from.is_number() && to.is_number();
                    let expected = numbers && (from == to || from.fits(to));
                    assert_eq!(checker.entails(&asked) == Answer::Yes, expected, "{asked:?}");
                }
            }
            let literal = checker.infer.fresh_literal(Literal::Int);
            assert_eq!(checker.entails(&of(1, &[literal.clone(), Type::real()])), Answer::Open);
            assert!(checker.entails(&of(1, &[literal, Type::string()])).fails());
        });
    }

    /// Declares a class with superclasses at its parameter.
    fn class(env: &mut Env, id: usize, supers: &[Constraint]) {
        let (params, name, span) = (vec![var(T, Kind::Type)], format!("C{id}").into(), Span::default());
        let (methods, laws, id) = (Vec::new(), Vec::new(), ClassId::new(id));
        let supers = supers.to_vec();
        env.classes.insert(id, Arc::new(Class { id, name, params, supers, methods, laws, span, doc: None }));
    }

    #[test]
    fn superclasses_come_nearest_first_and_once() {
        let diamond = |env: &mut Env, _: &mut Program| {
            class(env, 1, &[of(2, &[element()]), of(3, &[element()])]);
            class(env, 2, &[of(4, &[element()])]);
            class(env, 3, &[of(4, &[element()])]);
            class(env, 4, &[of(1, &[element()])]);
            // Superclasses at larger and larger types.
            class(env, 5, &[of(5, &[array(element(), 2)]), of(5, &[array(element(), 3)])]);
        };
        with_checker(diamond, |checker| {
            let all = checker.with_supers(vec![of(1, &[Type::int()])]);
            let ids: Vec<usize> = all.iter().map(|constraint| constraint.class.index()).collect();
            assert_eq!(ids, [1, 2, 3, 4]);
            assert!(all.iter().all(|constraint| constraint.args == [Type::int()]));
            assert_eq!(checker.with_supers(vec![of(5, &[Type::int()])]).len(), MAX_GIVENS);
        });
    }
}
