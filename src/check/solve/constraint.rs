//! Constraints: does a type belong to a class?
//!
//! **Entailment.** `C[types]` holds if it is among what the header of the function gives (a given
//! constraint brings those of its superclasses), or if the types are an instance of the head of one
//! of the instances and what that instance requires holds in turn. Heads do not overlap
//! ([`crate::check::items::class`]), so at most one instance can apply and nothing is ever taken
//! back: the answer does not depend on the order of reading. `Show` of anything and `Eq` of data
//! hold by structure; their instances say how a declared type differs from that.
//!
//! **When.** A call only notes what it needs. At the end of the item (a statement, a function body)
//! holes are mostly solved and everything noted is looked at: what holds goes, what cannot hold is
//! reported, and what depends on holes waits for the others. If nothing moves any more, literals
//! take their defaults; then a constraint that a single instance could satisfy takes it (so that
//! `Index[Table, string, ?]` tells what an element is); what still waits is ambiguous.
//!
//! Each step looks at each instance of a class once; a chain of requirements is followed to a fixed
//! depth, since an instance may require more than it gives (`instance[T with C[T ^ 2]] C[T]`).

use crate::check::context::Checker;
use crate::check::env;
use crate::check::env::{Class, Constraint, Membership, bindings};
use crate::check::error::class::Advice;
use crate::check::error::{CheckError, ClassError};
use crate::check::report::Report;
use crate::check::types::well_formed::Applied;
use crate::core::program::{MAX_REQUIREMENT_DEPTH, opaque_part};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::matching::matching;
use crate::types::{MAX_TYPE_NODES, Type, TypeKind};
use std::collections::VecDeque;
use std::sync::Arc;

/// Most constraints that one header gives: superclasses at growing types would double them at each
/// level. Those further up than this count as not given.
const MAX_GIVENS: usize = 1_000;

/// A constraint that a use depends on.
#[derive(Clone, Debug)]
pub(in crate::check) struct Obligation {
    pub constraint: Constraint,
    pub span: Span,
    /// What depends on it, in words: "`sum`".
    pub needed_by: String,
}

/// Whether a constraint holds.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::check) enum Answer {
    Yes,
    /// It does not, for want of this one.
    No(Constraint),
    /// What it takes goes on without end: `C[T]` needs `C[T ^ 2]`, which needs …
    Endless,
    /// It depends on holes.
    Open,
}

impl Answer {
    /// Whether it does not, whatever the holes become.
    pub fn fails(&self) -> bool {
        matches!(self, Answer::No(_) | Answer::Endless)
    }
}

/// What has been found out on the way to an answer: each constraint is looked at once.
#[derive(Default)]
struct Proof {
    depth: u32,
    /// The first instance on the way that is refused.
    refused: Option<Refused>,
    /// The answers, and who refuses. One that is being looked at counts as endless.
    known: HashMap<Constraint, (Answer, Option<Refused>)>,
}

/// An instance that is refused.
#[derive(Clone, Debug)]
pub(in crate::check) struct Refused {
    /// What was asked.
    pub asked: Constraint,
    /// Where the instance is declared.
    pub instance: Span,
    /// The words of its author.
    pub words: String,
}

impl Checker<'_> {
    /// Notes that a constraint must hold.
    pub(in crate::check) fn oblige(&mut self, constraint: Constraint, span: Span, needed_by: &str) {
        self.item.obligations.push(Obligation { constraint, span, needed_by: needed_by.to_string() });
    }

    /// Notes everything that a use of a function needs.
    pub(in crate::check) fn oblige_all(&mut self, constraints: &[Constraint], span: Span, name: &str) {
        for constraint in constraints {
            self.oblige(constraint.clone(), span, &format!("`{name}`"));
        }
    }

    /// Looks at everything noted by the present item.
    pub(in crate::check) fn discharge(&mut self) {
        self.oblige_applied();
        // Each round but the last decides something or solves a hole.
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
                    self.refuse_endless(obligation);
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
                    self.infer.settle(&arg);
                }
                continue;
            }
            if !waiting.iter().any(|obligation| self.improve(&obligation.constraint)) {
                break;
            }
        }
        // A mistake found elsewhere may be why nothing decides.
        if self.reports.any_error() {
            return;
        }
        for obligation in waiting {
            let constraint = self.zonked(&obligation.constraint);
            let constraint = self.env.text(&constraint);
            self.report(CheckError::Class(ClassError::Undetermined {
                span: obligation.span,
                constraint,
                needed_by: obligation.needed_by,
            }));
        }
    }

    /// Reports that an instance is refused, once for each place and text.
    fn refuse_in_words(&mut self, obligation: &Obligation, refused: Refused) {
        let Refused { asked, instance, words: text } = refused;
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

    pub(in crate::check) fn zonked(&self, constraint: &Constraint) -> Constraint {
        let args = constraint.args.iter().map(|t| self.infer.zonk(t)).collect();
        Constraint { class: constraint.class, args }
    }

    fn refuse(&mut self, obligation: &Obligation, missing: &Constraint) {
        let constraint = self.shown(&obligation.constraint);
        let missing = &self.shown(missing);
        let advice = self.advice(missing);
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

    /// As messages show it: literals at their defaults.
    fn shown(&mut self, constraint: &Constraint) -> Constraint {
        let args = constraint.args.iter().map(|ty| self.infer.shown(ty)).collect();
        Constraint { class: constraint.class, args }
    }

    fn refuse_endless(&mut self, obligation: &Obligation) {
        let constraint = self.zonked(&obligation.constraint);
        // The instance that asks for more, and what for.
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
        // Nobody but its module, or that of the class, may give an abstract type an instance.
        let own_class =
            self.env.classes.get(&missing.class).is_some_and(|class| self.env.replaceable(class.span));
        let foreign = !own_class && missing.args.iter().any(|ty| self.is_foreign_abstract(ty));
        match self.env.classes.get(&missing.class) {
            Some(class) if own && !foreign => {
                // What cannot be compared by structure has no use for the default of `==` either.
                let all = self.program.known.eq == Some(class.id);
                let needed = class.methods.iter().filter(|m| all || m.default.is_none());
                let members: Vec<String> = needed.map(|m| format!("fun {} …", m.name)).collect();
                Advice::Write { members: members.join("; ") }
            }
            _ => Advice::None,
        }
    }

    /// Whether a constraint holds, by what is given and by the instances.
    pub(in crate::check) fn entails(&mut self, constraint: &Constraint) -> Answer {
        let constraint = self.zonked(constraint);
        self.entailed(&constraint, &mut Proof::default())
    }

    /// The same, and whether an instance that is refused is asked for on the way. Such an instance
    /// counts: what is chosen because of it is what its author has words for.
    pub(in crate::check) fn entailed_unless_refused(
        &mut self,
        constraint: &Constraint,
    ) -> (Answer, Option<Refused>) {
        let constraint = self.zonked(constraint);
        let mut proof = Proof::default();
        let answer = self.entailed(&constraint, &mut proof);
        (answer, proof.refused)
    }

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
            .or_else(|| self.by_language(constraint))
            .unwrap_or_else(|| Answer::No(constraint.clone()));
        proof.depth -= 1;
        proof.known.insert(constraint.clone(), (answer.clone(), proof.refused.clone()));
        proof.refused = before.or_else(|| proof.refused.take());
        answer
    }

    /// Whether a constraint without holes holds by an instance; `None` if none is for these types.
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
                        proof.refused = Some(Refused { asked, instance: instance.span, words });
                    }
                    return Some(answer);
                }
            }
        }
        proof.refused = before;
        lacking
    }

    fn entailed_all(&mut self, all: impl Iterator<Item = Constraint>, proof: &mut Proof) -> Answer {
        for constraint in all {
            match self.entailed(&constraint, proof) {
                Answer::Yes => {}
                other => return other,
            }
        }
        Answer::Yes
    }

    /// Whether values of types can be compared by structure, if that is the question.
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

    /// Whether a constraint holds of numbers because the language itself converts them.
    fn by_language(&self, constraint: &Constraint) -> Option<Answer> {
        let holds = self.program.known.by_language(constraint.class, &constraint.args)?;
        Some(if holds { Answer::Yes } else { Answer::No(constraint.clone()) })
    }

    /// Whether a constraint with holes may come to hold of numbers.
    fn may_hold_by_language(&self, constraint: &Constraint) -> bool {
        let known = &self.program.known;
        let class = Some(constraint.class);
        (class == known.convert || class == known.widen || class == known.literal)
            && constraint.args.iter().all(|ty| {
                let ty = self.infer.shallow(ty);
                matches!(ty.kind(), TypeKind::Meta(_)) || ty.as_scalar().is_some_and(|s| s.is_number())
            })
    }

    /// A part of a type whose values cannot be compared: a function, or a parameter of which
    /// nothing is known.
    pub(in crate::check) fn opaque_part(&mut self, ty: &Type) -> Option<Type> {
        self.opaque_part_at(ty, &mut Proof::default())
    }

    fn opaque_part_at(&mut self, ty: &Type, proof: &mut Proof) -> Option<Type> {
        opaque_part(ty, |ty| self.compares(ty, proof))
    }

    /// Whether values of exactly this type can be compared because somebody says so: the header of
    /// the function, an instance, or a law (which is about values that can be).
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

    /// How many of the instances and given constraints could satisfy one with holes.
    fn candidates(&mut self, constraint: &Constraint, instances: &[Arc<Membership>]) -> usize {
        let given = self.item.givens.clone();
        let given =
            given.iter().filter(|g| g.class == constraint.class && self.could_be(&g.args, constraint));
        let given = given.count();
        given + instances.iter().filter(|i| self.could_apply(i, constraint)).count()
    }

    fn could_be(&mut self, args: &[Type], constraint: &Constraint) -> bool {
        let mark = self.infer.mark();
        let fits = args.iter().zip(&constraint.args).all(|(a, b)| self.infer.unify(a, b).is_ok());
        self.infer.undo(mark);
        fits
    }

    fn could_apply(&mut self, instance: &Membership, constraint: &Constraint) -> bool {
        let bindings = self.infer.instantiate(&instance.params);
        let args: Vec<Type> = instance.args.iter().map(|t| t.substitute(&bindings)).collect();
        self.could_be(&args, constraint)
    }

    /// Takes the only instance that a constraint with holes could have; says whether a hole of the
    /// constraint got smaller by it.
    pub(in crate::check) fn improve(&mut self, constraint: &Constraint) -> bool {
        let constraint = self.zonked(constraint);
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
        // Of `Add[?T ^ 3]` the instance for arrays says nothing new; one hole for another is
        // nothing new, either.
        taken && holes(&self.zonked(&constraint)) != holes(&constraint)
    }

    /// Constraints with those of their superclasses, nearest first, up to [`MAX_GIVENS`] of them.
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

    /// Whether it is an abstract type of another module.
    pub(in crate::check) fn is_foreign_abstract(&self, ty: &Type) -> bool {
        match ty.kind() {
            TypeKind::Nominal(nominal, _) => {
                nominal.as_abstract().is_some() && self.env.hidden.contains(&nominal.id)
            }
            _ => false,
        }
    }

    /// Notes what the types applied in the present item need.
    pub(in crate::check) fn oblige_applied(&mut self) {
        for Applied { declared, args, span, name } in std::mem::take(&mut self.item.applied) {
            let Some(known) = self.env.type_constraints.get(&declared) else { continue };
            let at = bindings(&known.params, &args);
            let needed: Vec<Constraint> = known.constraints.iter().map(|c| c.substitute(&at)).collect();
            self.oblige_all(&needed, span, &name);
        }
    }
}

/// How large the types of a constraint are, and how many holes they have.
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

/// Whether types are of the form of an instance's head.
pub(in crate::check) fn matches(instance: &Membership, args: &[Type]) -> bool {
    matching(&instance.params, &instance.args, args).is_some()
}

/// An index type that is not declared, so that no instance is awaited for it.
pub(in crate::check) fn is_index(ty: &Type) -> bool {
    ty.is_compact() && !matches!(ty.kind(), TypeKind::Nominal(..))
}
