//! Last uses by liveness analysis: reads that move the value of a variable, and places that drop
//! the value.
//!
//! A value is shared until a store, and a store copies a shared value. So a dead variable that
//! still holds a value makes the next store copy it without need. Here each read of a variable
//! whose value is not read again becomes a [`TermKind::Move`], and where a value dies without a
//! read, a [`StmtKind::Drop`] drops it.
//!
//! **Liveness.** A backward walk, from the last evaluation step to the first, maintains the set of
//! live places: those that are read later. A read of a variable that is not in the set is a move;
//! the read then adds the variable to the set. Binding or assigning a variable removes it. A
//! variable whose components are read separately has a place in the set for each of them, so that
//! `(...r, items = push (r.items, v))` moves `r.items` out of an `r` whose other fields are read
//! later. The order is that of the evaluator: strict, left to right.
//!
//! **Branches.** The live set before a branch is the union over the branches. A variable that one
//! branch reads, and another does not, is dropped at the start of the other one.
//!
//! **Loops.** The live set at the head of a loop is the result of one walk over the loop that
//! begins with the set after the loop. A second walk would add nothing, because the walk adds and
//! removes the same places whatever set it begins with. With the set of the head at the end of the
//! body, the loop is walked once more, and marked. `break` and `return` lead to the sets after the
//! loop and after the function, `continue` to the head. A loop may be given as a whole to another
//! executor, which reads each variable that the loop mentions: those from outside of the loop are
//! live at its head. After a loop all variables that it mentions and that are not live are dropped.
//!
//! **Visible variables**: those of the session, and those that functions capture. They are always
//! live, except in the statement that assigns them: in `x = push (x, v)` the value is moved if
//! nothing between the read and the assignment can read `x`. Possible readers are a read in the
//! statement, and a function that is called there, directly or indirectly, and mentions `x`. Where
//! a value that may hold a function is read in between, the callees are unknown, and nothing is
//! moved.
//!
//! An error ends the program: a value that was moved before is lost, and a session records the
//! values of its variables.
//!
//! Takes functions and statements of the checker; gives the same with the marks. A variable whose
//! type is one word of storage, a text or a function is not marked, because sharing these values
//! costs nothing later.

use super::free_variables::FreeVariables;
use super::prim::PrimClass;
use super::program::component_types;
use super::{
    ClassId, ForRange, Function, FunctionId, GlobalId, LocalId, LocalInfo, Pat, Program, Root, Script, Step,
    StepKind, Stmt, StmtKind, Term, TermKind,
};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::types::{Scalar, Type, TypeKind};
use num_bigint::BigUint;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The maximum number of components of one variable that are tracked separately.
const MAX_TRACKED_COMPONENTS: usize = 32;

/// The maximum number of functions reachable from one that is tested for copies.
const MAX_CALLEES: usize = 16;

/// The maximum number of types searched for functions.
const MAX_TYPES: usize = 100;

/// A cache of the session variables that functions may read.
#[derive(Default)]
pub struct ReachableGlobals {
    /// The results by function.
    cache: HashMap<FunctionId, GlobalAccess>,
}

/// The session variables that a function, or one that it calls, may read.
#[derive(Clone, Default)]
struct GlobalAccess {
    /// The variables.
    globals: BTreeSet<GlobalId>,
    /// True if the function may call functions that are not known.
    unknown: bool,
}

/// Returns a function with its last uses marked.
pub fn mark_function(program: &Program, reach: &mut ReachableGlobals, function: &Function) -> Function {
    let mut function = function.clone();
    let mut walk = Liveness::new(program, reach, &function.locals, Cow::Owned(movable(&function.locals)));
    walk.count(&function.body);
    let mut live = walk.empty_set();
    walk.term(&mut function.body, &mut live);
    let unread: Vec<LocalId> = function
        .params
        .iter()
        .copied()
        .filter(|local| walk.movable(*local) && !walk.is_live(*local, &live))
        .collect();
    drop_before(&mut function.body, unread);
    function
}

/// The locals of a script: which may be moved, and where each is mentioned last. They are the same
/// for all statements.
pub struct ScriptLocals {
    movable: Vec<bool>,
    /// The position of the last statement that mentions each local, plus 1; that of the result is
    /// behind all.
    last_mention: Vec<usize>,
}

impl ScriptLocals {
    /// Returns the locals of a script.
    pub fn of(script: &Script) -> ScriptLocals {
        let mut last_mention = vec![0; script.locals.len()];
        for (at, stmt) in script.body.iter().enumerate() {
            FreeVariables::of_stmt(stmt).locals.iter().for_each(|local| last_mention[local.index()] = at + 1);
        }
        if let Some(result) = &script.result {
            let end = script.body.len() + 1;
            FreeVariables::of_term(result).locals.iter().for_each(|local| last_mention[local.index()] = end);
        }
        ScriptLocals { movable: movable(&script.locals), last_mention }
    }

    /// The locals that are mentioned behind the statement at a position.
    fn mentioned_behind(&self, at: usize) -> impl Iterator<Item = LocalId> {
        let behind = self.last_mention.iter().enumerate().filter(move |(_, last)| **last > at + 1);
        behind.map(|(local, _)| LocalId::new(local))
    }
}

/// Returns the statement of a script at a position, with its last uses marked, and the locals to be
/// dropped after it.
pub fn mark_statement(
    program: &Program,
    reach: &mut ReachableGlobals,
    (script, locals): (&Script, &ScriptLocals),
    at: usize,
) -> (Stmt, Vec<LocalId>) {
    let mut walk = Liveness::new(program, reach, &script.locals, Cow::Borrowed(&locals.movable));
    script.body[at].for_each_term(&mut |term| walk.count(term));
    script.body[at].for_each_stmt(&mut |stmt| walk.count_stored(stmt));
    let mut live = walk.empty_set();
    locals.mentioned_behind(at).for_each(|local| walk.mark_live(local, &mut live));
    let mut stmts = vec![script.body[at].clone()];
    walk.statements(&mut stmts, &mut live);
    let mut stmts = stmts.into_iter();
    let (mut stmt, mut drops) = (stmts.next(), Vec::new());
    if let Some(Stmt { kind: StmtKind::Drop(_), .. }) = stmt {
        // A local that dies before the statement is dropped after it.
        stmt = stmts.next();
    }
    for more in stmts {
        if let StmtKind::Drop(locals) = more.kind {
            drops.extend(locals);
        }
    }
    (stmt.expect("the statement itself is among those that are marked"), drops)
}

/// Returns the result term of a script, with its last uses marked.
pub fn mark_result(
    program: &Program,
    reach: &mut ReachableGlobals,
    locals: &[LocalInfo],
    term: &Term,
) -> Term {
    let mut term = term.clone();
    let mut walk = Liveness::new(program, reach, locals, Cow::Owned(movable(locals)));
    walk.count(&term);
    let mut live = walk.empty_set();
    walk.term(&mut term, &mut live);
    term
}

/// Returns the locals whose values end in a marked term: they are moved or dropped, and not set
/// again.
pub fn last_used_locals(term: &Term) -> Vec<LocalId> {
    let (mut dying, mut set) = (BTreeSet::new(), BTreeSet::new());
    let mut waiting = vec![term];
    while let Some(term) = waiting.pop() {
        match &term.kind {
            TermKind::Move(place) => {
                if let TermKind::Local(local) = place.kind {
                    dying.insert(local);
                }
            }
            TermKind::Block(stmts, _) => stmts.iter().for_each(|stmt| {
                stmt.for_each_stmt(&mut |stmt| match &stmt.kind {
                    StmtKind::Drop(locals) => dying.extend(locals),
                    StmtKind::SetLocal(local, _) => {
                        set.insert(*local);
                    }
                    _ => {}
                });
            }),
            _ => {}
        }
        term.for_each_child(&mut |child| waiting.push(child));
    }
    dying.difference(&set).copied().collect()
}

/// Returns true if a function that receives large unshared arrays copies none of them: it builds
/// nothing, and calls neither itself nor an unknown function. Its loops may be compiled one by one.
pub fn copies_no_arrays(program: &Program, function: FunctionId) -> bool {
    let (mut met, mut waiting) = (HashSet::default(), vec![function]);
    while let Some(function) = waiting.pop() {
        if !met.insert(function) {
            continue;
        }
        let Some(Some(body)) = program.functions.get(function.index()) else { return false };
        let mut terms = vec![&body.body];
        while let Some(term) = terms.pop() {
            match &term.kind {
                // A method that is given no array, as one that compares two elements.
                TermKind::Call(head, args)
                    if matches!(head.kind, TermKind::Method { .. })
                        && !args.iter().any(|arg| matches!(arg.ty.kind(), TypeKind::Array(..))) =>
                {
                    terms.extend(args);
                    continue;
                }
                TermKind::Build(..) | TermKind::Method { .. } => return false,
                TermKind::Prim(prim, ..) if prim.class() == PrimClass::Fold => return false,
                TermKind::Call(head, _) if !matches!(head.kind, TermKind::Closure { .. }) => return false,
                TermKind::Closure { function, .. } => waiting.push(*function),
                _ => {}
            }
            term.for_each_child(&mut |child| terms.push(child));
        }
        // A recursive function may run as long as a loop, but it is not a loop that could be
        // compiled.
        if met.len() > MAX_CALLEES || waiting.contains(&function) {
            return false;
        }
    }
    true
}

/// Drops locals before a term.
fn drop_before(term: &mut Term, locals: Vec<LocalId>) {
    if locals.is_empty() {
        return;
    }
    let span = term.span;
    let drop = Stmt { kind: StmtKind::Drop(locals), span };
    let inner = std::mem::replace(term, Term::unit(span));
    let ty = inner.ty.clone();
    *term = match inner.kind {
        TermKind::Block(mut stmts, value) => {
            stmts.insert(0, drop);
            Term::new(TermKind::Block(stmts, value), ty, span)
        }
        _ => Term::new(TermKind::Block(vec![drop], Some(Box::new(inner))), ty, span),
    };
}

/// Returns the local, or the component of a local, that a term reads.
fn local_or_component(term: &Term) -> Option<(LocalId, Option<usize>)> {
    match &term.kind {
        TermKind::Local(local) => Some((*local, None)),
        TermKind::Component(base, i) => match &base.kind {
            TermKind::Local(local) => tracked_component(i).map(|i| (*local, Some(i))),
            _ => None,
        },
        _ => None,
    }
}

/// Returns the component of a variable that a store replaces as a whole.
fn stored_component(path: &[Step]) -> Option<usize> {
    match path {
        [Step { kind: StepKind::Component(i), .. }] => tracked_component(i),
        _ => None,
    }
}

/// Returns the position of a component that is tracked separately.
fn tracked_component(position: &BigUint) -> Option<usize> {
    usize::try_from(position).ok().filter(|i| *i < MAX_TRACKED_COMPONENTS)
}

/// A set of small numbers, as bits of words.
#[derive(Clone)]
struct BitSet(Vec<u64>);

impl BitSet {
    fn with_capacity(size: usize) -> BitSet {
        BitSet(vec![0; size.div_ceil(64)])
    }

    fn contains(&self, n: usize) -> bool {
        self.0[n / 64] >> (n % 64) & 1 == 1
    }

    fn add(&mut self, n: usize) {
        self.0[n / 64] |= 1 << (n % 64);
    }

    fn remove(&mut self, n: usize) {
        self.0[n / 64] &= !(1 << (n % 64));
    }

    fn union_with(&mut self, other: &BitSet) {
        self.0.iter_mut().zip(&other.0).for_each(|(a, b)| *a |= b);
    }
}

/// The backward walk of one body.
struct Liveness<'a> {
    /// The program.
    program: &'a Program,
    /// The cache of session variables that functions may read.
    reach: &'a mut ReachableGlobals,
    /// The locals of the body.
    locals: &'a [LocalInfo],
    /// The locals that may be moved.
    movable: Cow<'a, [bool]>,
    /// The number of tracked components of each local.
    parts: Vec<usize>,
    /// The first place of each local in a set: the whole, then its components. Computed when all
    /// components are counted.
    places: Vec<usize>,
    /// True if marks are inserted; otherwise only the live sets are computed.
    inserts_marks: bool,
    /// The locals that are live after the innermost loop.
    live_after_loop: BitSet,
    /// The locals that are live at the head of the innermost loop.
    live_at_loop_head: BitSet,
    /// The visible variable that the present statement assigns.
    assigned: Option<Root>,
    /// The locals mentioned since the walk of the innermost loop began.
    mentioned: BitSet,
    /// The locals bound since the walk of the innermost loop began.
    bound: BitSet,
    /// The locals that were captured when they were not live.
    captured: Vec<LocalId>,
}

/// Returns for each local whether its value may be moved.
fn movable(locals: &[LocalInfo]) -> Vec<bool> {
    locals.iter().map(|local| !local.shared && is_stored_data(&local.ty)).collect()
}

/// The place of [`Liveness::assigned`] in a set.
const ASSIGNED_SLOT: usize = 0;

impl<'a> Liveness<'a> {
    /// Makes a walk over a body with these locals, of which some may be moved.
    fn new(
        program: &'a Program,
        reach: &'a mut ReachableGlobals,
        locals: &'a [LocalInfo],
        movable: Cow<'a, [bool]>,
    ) -> Liveness<'a> {
        let none = BitSet::with_capacity(0);
        Liveness {
            program,
            reach,
            locals,
            movable,
            parts: vec![0; locals.len()],
            places: Vec::new(),
            inserts_marks: true,
            live_after_loop: none.clone(),
            live_at_loop_head: none.clone(),
            assigned: None,
            mentioned: none.clone(),
            bound: none,
            captured: Vec::new(),
        }
    }

    /// Counts the components that are read separately, and those that are stored, with one more: a
    /// store keeps the others.
    fn count(&mut self, term: &Term) {
        let mut waiting = vec![term];
        while let Some(term) = waiting.pop() {
            if let TermKind::Block(stmts, _) = &term.kind {
                stmts.iter().for_each(|stmt| stmt.for_each_stmt(&mut |stmt| self.count_stored(stmt)));
            }
            if let Some((local, Some(part))) = local_or_component(term) {
                let parts = &mut self.parts[local.index()];
                *parts = (*parts).max(part + 1);
            }
            term.for_each_child(&mut |child| waiting.push(child));
        }
    }

    fn count_stored(&mut self, stmt: &Stmt) {
        if let StmtKind::Store { root: Root::Local(local), path, .. } = &stmt.kind
            && let Some(part) = stored_component(path)
        {
            let parts = &mut self.parts[local.index()];
            *parts = (*parts).max(part + 2);
        }
    }

    /// Returns the empty set; fixes the places of all locals.
    fn empty_set(&mut self) -> BitSet {
        let mut next = ASSIGNED_SLOT + 1;
        self.places = self
            .parts
            .iter()
            .map(|parts| {
                next += 1 + parts;
                next - 1 - parts
            })
            .collect();
        let nothing = BitSet::with_capacity(next);
        self.live_after_loop = nothing.clone();
        self.live_at_loop_head = nothing.clone();
        self.mentioned = BitSet::with_capacity(self.locals.len());
        self.bound = BitSet::with_capacity(self.locals.len());
        nothing
    }

    /// Returns true if the value of a local may be moved.
    fn movable(&self, local: LocalId) -> bool {
        self.movable[local.index()]
    }

    /// Returns the places of a local: the whole and its components.
    fn range(&self, local: LocalId) -> std::ops::RangeInclusive<usize> {
        let first = self.places[local.index()];
        first..=first + self.parts[local.index()]
    }

    /// Returns true if the local or a component of it is in the set.
    fn is_live(&self, local: LocalId, live: &BitSet) -> bool {
        self.range(local).any(|place| live.contains(place))
    }

    /// Adds all places of a local to the set.
    fn mark_live(&self, local: LocalId, live: &mut BitSet) {
        self.range(local).for_each(|place| live.add(place));
    }

    /// Removes a local from the set, because it is assigned.
    fn kill(&mut self, local: LocalId, live: &mut BitSet) {
        self.range(local).for_each(|place| live.remove(place));
    }

    /// Records that the walk has met a local.
    fn mention(&mut self, local: LocalId) {
        self.mentioned.add(local.index());
    }

    /// Records a read of a local or of a component; returns true if it is the last one.
    fn read(&mut self, local: LocalId, part: Option<usize>, live: &mut BitSet) -> bool {
        self.mention(local);
        if !self.movable(local) {
            return false;
        }
        let first = self.places[local.index()];
        match part {
            None => {
                let last = !self.is_live(local, live);
                self.mark_live(local, live);
                last
            }
            Some(part) => {
                let last = !live.contains(first) && !live.contains(first + 1 + part);
                live.add(first + 1 + part);
                last
            }
        }
    }

    /// Records a store into a component: the component is not read later than the store, the others
    /// are kept by it.
    fn store_component(&mut self, local: LocalId, part: usize, live: &mut BitSet) {
        self.mention(local);
        if !self.movable(local) {
            return;
        }
        let first = self.places[local.index()];
        live.remove(first);
        for other in 0..self.parts[local.index()] {
            if other == part {
                live.remove(first + 1 + other);
            } else {
                live.add(first + 1 + other);
            }
        }
    }

    /// Returns the droppable locals that are in one set and not in the other.
    fn dead(&self, before: &BitSet, now: &BitSet) -> Vec<LocalId> {
        let locals = (0..self.locals.len()).map(LocalId::new);
        let dies = |local: &LocalId| {
            self.movable(*local) && self.is_live(*local, before) && !self.is_live(*local, now)
        };
        if before.0.iter().zip(&now.0).all(|(before, now)| before & !now == 0) {
            return Vec::new();
        }
        locals.filter(dies).collect()
    }

    // ---- terms, in reverse order of evaluation ----------------------------------------------

    /// Walks a term: marks last reads, and changes `live` from the set after it to the set before
    /// it.
    fn term(&mut self, term: &mut Term, live: &mut BitSet) {
        if let Some((local, part)) = local_or_component(term) {
            if self.assigned == Some(Root::Local(local)) {
                self.mention(local);
                match part {
                    None => self.read_assigned(term, live),
                    Some(_) => live.add(ASSIGNED_SLOT),
                }
                return;
            }
            // If the component is the last one read of its variable, the whole is moved.
            let whole = part.is_some_and(|part| {
                let own = self.places[local.index()] + 1 + part;
                !self.range(local).any(|place| place != own && live.contains(place))
            });
            if self.read(local, part, live) && self.inserts_marks {
                match &mut term.kind {
                    TermKind::Component(base, _) if whole => mark(base),
                    _ => mark(term),
                }
            }
            return;
        }
        match &mut term.kind {
            TermKind::Global(global) => {
                if self.assigned == Some(Root::Global(*global)) {
                    self.read_assigned(term, live);
                }
            }
            TermKind::Local(_) => {}
            TermKind::Closure { captures, .. } => {
                for local in captures.clone() {
                    if self.read(local, None, live) && self.inserts_marks {
                        self.captured.push(local);
                    }
                }
            }
            TermKind::Call(head, args) => self.in_branch(live, |this, live| {
                this.visit_callee(head, live);
                args.iter_mut().rev().for_each(|arg| this.term(arg, live));
                this.term(head, live);
            }),
            TermKind::Prim(_, _, parts) => self.in_branch(live, |this, live| {
                parts.iter_mut().rev().for_each(|part| this.term(part, live));
            }),
            TermKind::Tuple(parts) | TermKind::Op(_, parts) | TermKind::Pack(parts) => {
                parts.iter_mut().rev().for_each(|part| self.term(part, live));
            }
            TermKind::Index(a, b) | TermKind::Digit(a, b) => {
                self.term(b, live);
                self.term(a, live);
            }
            TermKind::Component(a, _)
            | TermKind::Factor(a, _)
            | TermKind::Inject(_, a)
            | TermKind::Reshape(a)
            | TermKind::ToCode(a)
            | TermKind::FromCode(a)
            | TermKind::Convert(a)
            | TermKind::At(_, a)
            | TermKind::Here(a)
            | TermKind::Restrict(a)
            | TermKind::PackSizes(_, a) => self.term(a, live),
            TermKind::Build(clauses, body) => {
                let clauses: Vec<LocalId> = clauses.iter().map(|(local, _)| *local).collect();
                let after = live.clone();
                self.fixed_point(live, |this, live| {
                    this.term(body, live);
                    clauses.iter().for_each(|local| this.bind(*local, live));
                    live.union_with(&after);
                });
            }
            TermKind::If(condition, then, otherwise) => {
                let mut first = live.clone();
                self.term(then, &mut first);
                self.term(otherwise, live);
                if self.inserts_marks {
                    drop_before(then, self.dead(live, &first));
                    drop_before(otherwise, self.dead(&first, live));
                }
                live.union_with(&first);
                self.term(condition, live);
            }
            TermKind::Match(scrutinee, arms) => {
                let after = live.clone();
                let mut starts: Vec<BitSet> = Vec::new();
                // The live set of the next arm, which is tried if this one does not match.
                let mut next: Option<BitSet> = None;
                for arm in arms.iter_mut().rev() {
                    let mut here = after.clone();
                    self.term(&mut arm.body, &mut here);
                    starts.push(here.clone());
                    if let Some(guard) = &mut arm.guard {
                        next.iter().for_each(|next| here.union_with(next));
                        self.term(guard, &mut here);
                    }
                    self.bind_pattern(&arm.pattern, &mut here);
                    next.iter().for_each(|next| here.union_with(next));
                    next = Some(here);
                }
                *live = next.unwrap_or(after);
                if self.inserts_marks {
                    starts.reverse();
                    let mut bound = Vec::new();
                    for (arm, start) in arms.iter_mut().zip(&starts) {
                        arm.pattern.for_each_local(&mut |local| bound.push(local));
                        drop_before(&mut arm.body, self.unread(live, &bound, start));
                    }
                }
                self.term(scrutinee, live);
            }
            TermKind::Block(stmts, value) => {
                if let Some(value) = value {
                    self.term(value, live);
                }
                self.statements(stmts, live);
            }
            TermKind::Int(_)
            | TermKind::Real(_)
            | TermKind::Char(_)
            | TermKind::Str(_)
            | TermKind::Code(_)
            | TermKind::Method { .. }
            | TermKind::Move(_)
            | TermKind::Error => {}
        }
    }

    /// Walks a term that may be given as a whole to another executor, which reads the variables
    /// that it mentions with all their components.
    fn in_branch(&mut self, live: &mut BitSet, walk: impl FnOnce(&mut Self, &mut BitSet)) {
        if self.parts.iter().all(|parts| *parts == 0) {
            return walk(self, live);
        }
        let outer = self.begin();
        walk(self, live);
        for local in 0..self.locals.len() {
            if self.parts[local] > 0 && self.mentioned.contains(local) && !self.bound.contains(local) {
                self.mark_live(LocalId::new(local), live);
            }
        }
        self.end(outer);
    }

    /// Returns the locals that an arm does not need, among those that the match reads and those
    /// that patterns so far bind.
    fn unread(&self, before: &BitSet, bound: &[LocalId], now: &BitSet) -> Vec<LocalId> {
        let mut dead = self.dead(before, now);
        for local in bound {
            if self.movable(*local) && !self.is_live(*local, now) && !dead.contains(local) {
                dead.push(*local);
            }
        }
        dead
    }

    /// Binds a local, which is dead before.
    fn bind(&mut self, local: LocalId, live: &mut BitSet) {
        self.bound.add(local.index());
        self.kill(local, live);
    }

    /// Binds the locals of a pattern.
    fn bind_pattern(&mut self, pat: &Pat, live: &mut BitSet) {
        let mut bound = Vec::new();
        pat.for_each_local(&mut |local| bound.push(local));
        bound.into_iter().for_each(|local| self.bind(local, live));
    }

    /// Walks a loop. `round` walks one round from its end to its head, and adds the live set after
    /// the last round. `live` is first the set after the loop, then the set at its head.
    fn fixed_point(&mut self, live: &mut BitSet, mut round: impl FnMut(&mut Self, &mut BitSet)) {
        let size = self.locals.len();
        let outer = self.begin();
        let around = [&mut self.live_after_loop, &mut self.live_at_loop_head]
            .map(|set| std::mem::replace(set, BitSet::with_capacity(0)));
        let marks = std::mem::replace(&mut self.inserts_marks, false);
        self.live_after_loop = live.clone();
        let mut head = BitSet(vec![0; live.0.len()]);
        self.live_at_loop_head = head.clone();
        round(self, &mut head);
        // An executor that takes over the loop reads all variables that it mentions.
        for local in 0..size {
            if self.mentioned.contains(local) && !self.bound.contains(local) {
                self.mark_live(LocalId::new(local), &mut head);
            }
        }
        self.inserts_marks = marks;
        if marks {
            self.live_at_loop_head = head.clone();
            round(self, &mut head.clone());
        }
        *live = head;
        self.end(outer);
        [self.live_after_loop, self.live_at_loop_head] = around;
    }

    // ---- statements -----------------------------------------------------------------------

    /// Walks the statements of a block from the last to the first, and inserts drops.
    fn statements(&mut self, stmts: &mut Vec<Stmt>, live: &mut BitSet) {
        let mut done: Vec<Stmt> = Vec::new();
        let outer = std::mem::take(&mut self.captured);
        for mut stmt in std::mem::take(stmts).into_iter().rev() {
            let after = live.clone();
            let mut drops = self.statement(&mut stmt, live);
            drops.extend(std::mem::take(&mut self.captured));
            let leaves = matches!(stmt.kind, StmtKind::Return(_) | StmtKind::Break | StmtKind::Continue);
            drops.retain(|local| !leaves && self.movable(*local) && !self.is_live(*local, &after));
            drops.sort_unstable();
            drops.dedup();
            if self.inserts_marks && !drops.is_empty() {
                done.push(Stmt { kind: StmtKind::Drop(drops), span: stmt.span });
            }
            done.push(stmt);
        }
        self.captured = outer;
        done.reverse();
        *stmts = done;
    }

    /// Walks one statement; returns the locals that are dead after it but may hold a value.
    fn statement(&mut self, stmt: &mut Stmt, live: &mut BitSet) -> Vec<LocalId> {
        let span = stmt.span;
        match &mut stmt.kind {
            StmtKind::Let(pat, term) => {
                let mut bound = Vec::new();
                pat.for_each_local(&mut |local| bound.push(local));
                self.bind_pattern(pat, live);
                self.term(term, live);
                bound
            }
            StmtKind::Open { local, value, .. } => {
                let local = *local;
                self.bind(local, live);
                self.term(value, live);
                // The rest of the block must follow directly.
                Vec::new()
            }
            StmtKind::SetLocal(local, term) => {
                let local = *local;
                self.mention(local);
                if self.locals[local.index()].shared {
                    self.assign(Root::Local(local), term, live);
                    return Vec::new();
                }
                self.kill(local, live);
                self.term(term, live);
                vec![local]
            }
            StmtKind::SetGlobal(global, term) => {
                self.assign(Root::Global(*global), term, live);
                Vec::new()
            }
            StmtKind::Store { root, path, value, .. } => {
                let mut stored = Vec::new();
                if let Root::Local(local) = root {
                    match stored_component(path) {
                        Some(part) if part + 1 < self.parts[local.index()] => {
                            self.store_component(*local, part, live);
                        }
                        _ => drop(self.read(*local, None, live)),
                    }
                    stored.push(*local);
                }
                self.term(value, live);
                for step in path.iter_mut().rev() {
                    if let StepKind::Index(term) | StepKind::Digit(term) = &mut step.kind {
                        self.term(term, live);
                    }
                }
                stored
            }
            StmtKind::Expr(term) => {
                self.term(term, live);
                Vec::new()
            }
            StmtKind::If(condition, then, otherwise) => {
                let mut first = live.clone();
                self.statements(then, &mut first);
                self.statements(otherwise, live);
                if self.inserts_marks {
                    insert_drop(then, self.dead(live, &first), span);
                    insert_drop(otherwise, self.dead(&first, live), span);
                }
                live.union_with(&first);
                self.term(condition, live);
                Vec::new()
            }
            StmtKind::Match(scrutinee, arms) => {
                let after = live.clone();
                let mut starts: Vec<BitSet> = Vec::new();
                let mut next: Option<BitSet> = None;
                for (pat, guard, body) in arms.iter_mut().rev() {
                    let mut here = after.clone();
                    self.statements(body, &mut here);
                    starts.push(here.clone());
                    if let Some(guard) = guard {
                        next.iter().for_each(|next| here.union_with(next));
                        self.term(guard, &mut here);
                    }
                    self.bind_pattern(pat, &mut here);
                    next.iter().for_each(|next| here.union_with(next));
                    next = Some(here);
                }
                *live = next.unwrap_or(after);
                if self.inserts_marks {
                    starts.reverse();
                    let mut bound = Vec::new();
                    for ((pat, _, body), start) in arms.iter_mut().zip(&starts) {
                        pat.for_each_local(&mut |local| bound.push(local));
                        insert_drop(body, self.unread(live, &bound, start), span);
                    }
                }
                self.term(scrutinee, live);
                Vec::new()
            }
            StmtKind::For(local, range, body) => {
                let local = *local;
                let after = live.clone();
                let outer = self.begin();
                self.fixed_point(live, |this, live| {
                    this.statements(body, live);
                    this.bind(local, live);
                    live.union_with(&after);
                });
                let drops = self.touched_locals();
                self.end(outer);
                match range {
                    ForRange::All(_) => {}
                    ForRange::Ints { low, high, .. } => {
                        // The bounds may be evaluated more than once, so nothing is moved in them.
                        let marks = std::mem::replace(&mut self.inserts_marks, false);
                        self.term(high, live);
                        self.term(low, live);
                        self.inserts_marks = marks;
                    }
                    ForRange::Elements(array) => self.term(array, live),
                }
                drops
            }
            StmtKind::While(condition, body) => {
                let after = live.clone();
                let outer = self.begin();
                self.fixed_point(live, |this, live| {
                    this.statements(body, live);
                    live.union_with(&after);
                    this.term(condition, live);
                });
                let drops = self.touched_locals();
                self.end(outer);
                drops
            }
            StmtKind::Break => {
                *live = self.live_after_loop.clone();
                Vec::new()
            }
            StmtKind::Continue => {
                *live = self.live_at_loop_head.clone();
                Vec::new()
            }
            StmtKind::Return(term) => {
                live.0.fill(0);
                if self.assigned.is_some() {
                    live.add(ASSIGNED_SLOT);
                }
                self.term(term, live);
                Vec::new()
            }
            StmtKind::Require { .. } | StmtKind::Drop(_) => Vec::new(),
        }
    }

    /// Begins a loop or a term: clears the sets of mentioned and bound locals, and returns the
    /// outer ones.
    fn begin(&mut self) -> [BitSet; 2] {
        let size = self.locals.len();
        [&mut self.mentioned, &mut self.bound].map(|set| std::mem::replace(set, BitSet::with_capacity(size)))
    }

    /// Returns all locals mentioned or bound since [`Liveness::begin`].
    fn touched_locals(&self) -> Vec<LocalId> {
        let found = |local: &usize| self.mentioned.contains(*local) || self.bound.contains(*local);
        (0..self.locals.len()).filter(found).map(LocalId::new).collect()
    }

    /// Ends a loop or a term: adds its mentioned and bound locals to the outer sets.
    fn end(&mut self, outer: [BitSet; 2]) {
        self.mentioned.union_with(&outer[0]);
        self.bound.union_with(&outer[1]);
    }

    // ---- visible variables ------------------------------------------------------------------

    /// Walks an assignment to a visible variable.
    fn assign(&mut self, root: Root, term: &mut Term, live: &mut BitSet) {
        let ty = match root {
            Root::Local(local) => &self.locals[local.index()].ty,
            Root::Global(global) => &self.program.globals[global.index()].ty,
        };
        let alone = self.assigned.is_none() && is_stored_data(ty) && self.is_sole_reference(root, term);
        if !alone {
            return self.term(term, live);
        }
        self.assigned = Some(root);
        live.remove(ASSIGNED_SLOT);
        // A jump out of the statement leaves the variable unassigned.
        self.live_after_loop.add(ASSIGNED_SLOT);
        self.live_at_loop_head.add(ASSIGNED_SLOT);
        self.term(term, live);
        self.live_after_loop.remove(ASSIGNED_SLOT);
        self.live_at_loop_head.remove(ASSIGNED_SLOT);
        live.remove(ASSIGNED_SLOT);
        self.assigned = None;
    }

    /// Walks a read of the assigned variable as a whole.
    fn read_assigned(&mut self, term: &mut Term, live: &mut BitSet) {
        if !live.contains(ASSIGNED_SLOT) && self.inserts_marks {
            mark(term);
        }
        live.add(ASSIGNED_SLOT);
    }

    /// Returns true if a term calls only known functions, and those among them that are values do
    /// not read the variable.
    fn is_sole_reference(&mut self, root: Root, term: &Term) -> bool {
        let mut by_structure = GlobalAccess::default();
        let known = self.program.known;
        for class in [known.show, known.eq].into_iter().flatten() {
            self.reach.methods(self.program, class, None, &mut by_structure);
        }
        if may_access(&by_structure, root) {
            return false;
        }
        let mut waiting = vec![term];
        while let Some(term) = waiting.pop() {
            let fine = match &term.kind {
                TermKind::Local(local) => !holds_function(&self.locals[local.index()].ty),
                TermKind::Global(global) => !holds_function(&self.program.globals[global.index()].ty),
                TermKind::Closure { function, captures, .. } => {
                    let own = captures.iter().any(|local| {
                        Root::Local(*local) == root || holds_function(&self.locals[local.index()].ty)
                    });
                    !own && !may_access(&self.reach.of(self.program, *function), root)
                }
                TermKind::Method { class, method, .. } => {
                    let mut access = GlobalAccess::default();
                    self.reach.methods(self.program, *class, Some(*method), &mut access);
                    !may_access(&access, root)
                }
                // A function that is called where it is named runs after its arguments are
                // evaluated.
                TermKind::Call(head, args) if is_function_value(head) => {
                    waiting.extend(args);
                    continue;
                }
                _ => true,
            };
            if !fine {
                return false;
            }
            term.for_each_child(&mut |child| waiting.push(child));
        }
        true
    }

    /// Walks the callee of a call, which may read the variable that is being assigned.
    fn visit_callee(&mut self, head: &Term, live: &mut BitSet) {
        let Some(root) = self.assigned else { return };
        let access = match &head.kind {
            TermKind::Closure { function, .. } => self.reach.of(self.program, *function),
            TermKind::Method { class, method, .. } => {
                let mut access = GlobalAccess::default();
                self.reach.methods(self.program, *class, Some(*method), &mut access);
                access
            }
            _ => return,
        };
        if may_access(&access, root) {
            live.add(ASSIGNED_SLOT);
        }
    }
}

/// Marks a term that reads a place as its last use.
fn mark(term: &mut Term) {
    let inner = std::mem::replace(term, Term::unit(term.span));
    *term = Term::new(TermKind::Move(Box::new(inner.clone())), inner.ty, inner.span);
}

/// Returns true if a variable may be read.
fn may_access(access: &GlobalAccess, root: Root) -> bool {
    access.unknown || matches!(root, Root::Global(global) if access.globals.contains(&global))
}

/// Returns true if a term is a named function without captures.
fn is_function_value(term: &Term) -> bool {
    match &term.kind {
        TermKind::Closure { captures, .. } => captures.is_empty(),
        TermKind::Method { .. } => true,
        _ => false,
    }
}

impl ReachableGlobals {
    /// Returns the session variables that a function may read.
    fn of(&mut self, program: &Program, function: FunctionId) -> GlobalAccess {
        if let Some(known) = self.cache.get(&function) {
            return known.clone();
        }
        let (mut access, mut met, mut waiting) =
            (GlobalAccess::default(), HashSet::default(), vec![function]);
        while let Some(function) = waiting.pop() {
            if !met.insert(function) {
                continue;
            }
            let Some(Some(body)) = program.functions.get(function.index()) else {
                access.unknown = true;
                break;
            };
            let mentioned = FreeVariables::of_term(&body.body);
            for global in &mentioned.globals {
                let ty = program.globals.get(global.index()).map(|global| &global.ty);
                access.unknown |= ty.is_none_or(holds_function);
            }
            access.globals.extend(mentioned.globals);
            waiting.extend(mentioned.functions);
            for (class, method) in mentioned.methods {
                waiting.extend(implementations(program, class, Some(method)));
            }
        }
        self.cache.insert(function, access.clone());
        access
    }

    /// Adds the session variables that a method of a class, or all its methods, may read, in any
    /// instance.
    fn methods(&mut self, program: &Program, class: ClassId, method: Option<usize>, into: &mut GlobalAccess) {
        for function in implementations(program, class, method) {
            let access = self.of(program, function);
            into.unknown |= access.unknown;
            into.globals.extend(access.globals);
        }
    }
}

/// Returns the functions that may implement a method of a class, or any of its methods.
fn implementations(program: &Program, class: ClassId, method: Option<usize>) -> Vec<FunctionId> {
    let mut found = Vec::new();
    let wanted = |at: usize| method.is_none_or(|method| method == at);
    if let Some(class) = program.classes.get(class.index()) {
        let methods = class.methods.iter().enumerate().filter(|(at, _)| wanted(*at));
        found.extend(methods.filter_map(|(_, method)| method.default));
    }
    for instance in program.instances.iter().filter(|instance| instance.class == class) {
        let methods = instance.methods.iter().enumerate().filter(|(at, _)| wanted(*at));
        found.extend(methods.map(|(_, method)| method.function));
    }
    found
}

/// Returns true if sharing a value of this type may make a store or an operation copy: it is larger
/// than a word, and no function. A text that is not shared grows in place.
fn is_stored_data(ty: &Type) -> bool {
    match ty.kind() {
        TypeKind::Scalar(scalar) => *scalar == Scalar::String,
        TypeKind::Function(..) | TypeKind::Procedure(_) => false,
        _ => !ty.is_compact(),
    }
}

/// Returns true if a value of this type may hold a function.
fn holds_function(ty: &Type) -> bool {
    let mut seen: HashSet<Type> = HashSet::default();
    let mut waiting = vec![ty.clone()];
    while let Some(ty) = waiting.pop() {
        if ty.is_compact() || !seen.insert(ty.clone()) {
            continue;
        }
        match ty.kind() {
            TypeKind::Scalar(_) => {}
            TypeKind::Function(..)
            | TypeKind::Procedure(_)
            | TypeKind::Var(_)
            | TypeKind::Apply(..)
            | TypeKind::Rest(_) => {
                return true;
            }
            _ if seen.len() >= MAX_TYPES => return true,
            _ => waiting.extend(component_types(&ty)),
        }
    }
    false
}

/// Inserts a drop of locals before statements.
fn insert_drop(stmts: &mut Vec<Stmt>, locals: Vec<LocalId>, span: Span) {
    if !locals.is_empty() {
        stmts.insert(0, Stmt { kind: StmtKind::Drop(locals), span });
    }
}

#[cfg(test)]
mod tests {
    use super::{ReachableGlobals, ScriptLocals, last_used_locals, mark_function, mark_statement};
    use crate::core::{
        Arm, ForRange, Function, FunctionId, Global, GlobalId, LocalId, LocalInfo, Pat, PatKind, Prim,
        Program, Root, Script, Stmt, StmtKind, Term, TermKind, print,
    };
    use crate::source::Span;
    use crate::types::Type;
    use num_bigint::BigUint;
    use std::collections::BTreeSet;
    use std::sync::Arc;

    /// Variables of a random function: the first ones are parameters, the last one is a number.
    const LOCALS: usize = 5;

    /// Returns a type whose values are moved.
    fn array() -> Type {
        Type::array(Type::int(), Type::unit_sum(3u32))
    }

    fn term(kind: TermKind, ty: Type) -> Term {
        Term::new(kind, ty, Span::default())
    }

    fn local(id: usize) -> Term {
        term(TermKind::Local(LocalId::new(id)), array())
    }

    fn tuple(parts: Vec<Term>) -> Term {
        term(TermKind::Tuple(parts), array())
    }

    fn stmt(kind: StmtKind) -> Stmt {
        Stmt { kind, span: Span::default() }
    }

    fn set(id: usize, value: Term) -> Stmt {
        stmt(StmtKind::SetLocal(LocalId::new(id), value))
    }

    fn pattern(kind: PatKind) -> Pat {
        Pat { kind, ty: array(), span: Span::default() }
    }

    fn truth() -> Term {
        term(TermKind::Code(BigUint::ZERO), Type::bool())
    }

    /// Makes a function whose first `params` variables are parameters.
    fn function(params: usize, body: Term) -> Function {
        let info = |id: usize| {
            let ty = if id == LOCALS { Type::int() } else { array() };
            LocalInfo { name: format!("x{id}").into(), ty, shared: false }
        };
        Function {
            name: "f".into(),
            type_params: Vec::new(),
            params: (0..params).map(LocalId::new).collect(),
            captures: Vec::new(),
            this: None,
            locals: (0..=LOCALS).map(info).collect(),
            domain: Type::unit(),
            given: Vec::new(),
            body,
            span: Span::default(),
        }
    }

    fn marked(params: usize, body: Term) -> Function {
        mark_function(&Program::default(), &mut ReachableGlobals::default(), &function(params, body))
    }

    /// A maker of random terms and statements, in which every variable has a value.
    struct Maker {
        random: fastrand::Rng,
        /// True if there are arrays that are built.
        builds: bool,
    }

    impl Maker {
        fn id(&mut self) -> usize {
            self.random.usize(..LOCALS)
        }

        fn term(&mut self, depth: usize) -> Term {
            match self.random.usize(..if depth == 0 { 3 } else { 8 }) {
                0 | 1 => local(self.id()),
                2 => term(TermKind::Int(1.into()), Type::int()),
                3 => tuple((0..self.random.usize(..4)).map(|_| self.term(depth - 1)).collect()),
                4 => {
                    let [then, otherwise] = [(); 2].map(|()| Box::new(self.term(depth - 1)));
                    term(TermKind::If(Box::new(self.condition()), then, otherwise), array())
                }
                5 if self.builds => {
                    let body = Box::new(self.term(depth - 1));
                    term(TermKind::Build(vec![(LocalId::new(LOCALS), Type::bool())], body), array())
                }
                5 | 6 => {
                    let stmts = self.stmts(depth - 1, false);
                    let value = self.term(depth - 1);
                    term(TermKind::Block(stmts, Some(Box::new(value))), array())
                }
                _ => {
                    let scrutinee = Box::new(self.term(depth - 1));
                    let arms = self.arms(&mut |this| this.term(depth - 1));
                    let arms = arms.into_iter().map(|(pattern, guard, body)| Arm { pattern, guard, body });
                    term(TermKind::Match(scrutinee, arms.collect()), array())
                }
            }
        }

        /// Makes a condition, which may read variables.
        fn condition(&mut self) -> Term {
            let mut parts: Vec<Term> = (0..self.random.usize(..3)).map(|_| local(self.id())).collect();
            parts.push(truth());
            tuple(parts)
        }

        fn arms<T>(&mut self, body: &mut dyn FnMut(&mut Maker) -> T) -> Vec<(Pat, Option<Term>, T)> {
            let count = self.random.usize(1..4);
            let arm = |at| {
                let kind =
                    if self.random.bool() { PatKind::Bind(LocalId::new(self.id())) } else { PatKind::Wild };
                let guard = (at + 1 < count).then(|| self.condition());
                (pattern(kind), guard, body(self))
            };
            (0..count).map(arm).collect()
        }

        fn stmts(&mut self, depth: usize, in_loop: bool) -> Vec<Stmt> {
            (0..self.random.usize(..4)).map(|_| stmt(self.stmt(depth, in_loop))).collect()
        }

        fn stmt(&mut self, depth: usize, in_loop: bool) -> StmtKind {
            let id = LocalId::new(self.id());
            match self.random.usize(..if depth == 0 { 5 } else { 10 }) {
                0 => StmtKind::Let(pattern(PatKind::Bind(id)), self.term(depth)),
                1 => StmtKind::SetLocal(id, self.term(depth)),
                2 => StmtKind::Expr(self.term(depth)),
                3 => {
                    let value = self.term(depth);
                    StmtKind::Store { root: Root::Local(id), root_ty: array(), path: Vec::new(), value }
                }
                4 if in_loop && self.random.bool() => StmtKind::Break,
                4 if in_loop => StmtKind::Continue,
                4 if self.random.usize(..4) == 0 => StmtKind::Return(self.term(depth)),
                4 => StmtKind::Expr(local(id.index())),
                5 | 6 => {
                    let condition = self.condition();
                    StmtKind::If(condition, self.stmts(depth - 1, in_loop), self.stmts(depth - 1, in_loop))
                }
                7 => {
                    let scrutinee = self.term(depth - 1);
                    StmtKind::Match(scrutinee, self.arms(&mut |this| this.stmts(depth - 1, in_loop)))
                }
                8 => StmtKind::While(self.condition(), self.stmts(depth - 1, true)),
                _ => {
                    let range = match self.random.bool() {
                        true => ForRange::All(Type::bool()),
                        false => ForRange::Elements(self.term(depth - 1)),
                    };
                    StmtKind::For(LocalId::new(LOCALS), range, self.stmts(depth - 1, true))
                }
            }
        }
    }

    /// The way in which a statement ends.
    #[derive(PartialEq)]
    enum End {
        Next,
        Break,
        Continue,
        Return,
    }

    /// A run of a marked function along random branches. It notes which variables hold a value.
    struct Run {
        random: fastrand::Rng,
        held: BTreeSet<usize>,
        /// The text of the function, for messages.
        context: String,
    }

    impl Run {
        fn read(&self, id: LocalId) {
            assert!(
                id.index() == LOCALS || self.held.contains(&id.index()),
                "x{id} is gone: {}",
                self.context
            );
        }

        fn bind(&mut self, pat: &Pat) {
            pat.for_each_local(&mut |id| {
                self.held.insert(id.index());
            });
        }

        fn term(&mut self, term: &Term) -> End {
            match &term.kind {
                TermKind::Local(id) => self.read(*id),
                TermKind::Move(place) => {
                    let TermKind::Local(id) = place.kind else { panic!("{place:?}") };
                    self.read(id);
                    self.held.remove(&id.index());
                }
                TermKind::If(condition, then, otherwise) => {
                    let end = self.term(condition);
                    if end != End::Next {
                        return end;
                    }
                    return if self.random.bool() { self.term(then) } else { self.term(otherwise) };
                }
                TermKind::Match(scrutinee, arms) => {
                    let end = self.term(scrutinee);
                    if end != End::Next {
                        return end;
                    }
                    for arm in arms {
                        self.bind(&arm.pattern);
                        if let Some(guard) = &arm.guard {
                            let end = self.term(guard);
                            if end != End::Next {
                                return end;
                            }
                            if self.random.bool() {
                                continue;
                            }
                        }
                        return self.term(&arm.body);
                    }
                }
                TermKind::Build(_, body) => {
                    for _ in 0..self.random.usize(..3) {
                        let end = self.term(body);
                        if end != End::Next {
                            return end;
                        }
                    }
                }
                TermKind::Block(stmts, value) => {
                    let end = self.stmts(stmts);
                    if end != End::Next {
                        return end;
                    }
                    return value.as_ref().map_or(End::Next, |value| self.term(value));
                }
                TermKind::Tuple(parts) => {
                    for part in parts {
                        let end = self.term(part);
                        if end != End::Next {
                            return end;
                        }
                    }
                }
                TermKind::Int(_) | TermKind::Code(_) => {}
                other => panic!("{other:?}"),
            }
            End::Next
        }

        fn stmts(&mut self, stmts: &[Stmt]) -> End {
            for stmt in stmts {
                let end = self.stmt(stmt);
                if end != End::Next {
                    return end;
                }
            }
            End::Next
        }

        fn stmt(&mut self, stmt: &Stmt) -> End {
            match &stmt.kind {
                StmtKind::Let(pat, value) => {
                    let end = self.term(value);
                    self.bind(pat);
                    return end;
                }
                StmtKind::SetLocal(id, value) => {
                    let end = self.term(value);
                    self.held.insert(id.index());
                    return end;
                }
                StmtKind::Expr(value) => return self.term(value),
                StmtKind::Store { root: Root::Local(id), value, .. } => {
                    let end = self.term(value);
                    if end == End::Next {
                        self.read(*id);
                    }
                    return end;
                }
                StmtKind::Drop(ids) => ids.iter().for_each(|id| {
                    self.held.remove(&id.index());
                }),
                StmtKind::If(condition, then, otherwise) => {
                    let end = self.term(condition);
                    if end != End::Next {
                        return end;
                    }
                    return if self.random.bool() { self.stmts(then) } else { self.stmts(otherwise) };
                }
                StmtKind::Match(scrutinee, arms) => {
                    let end = self.term(scrutinee);
                    if end != End::Next {
                        return end;
                    }
                    for (pat, guard, body) in arms {
                        self.bind(pat);
                        if let Some(guard) = guard {
                            let end = self.term(guard);
                            if end != End::Next {
                                return end;
                            }
                            if self.random.bool() {
                                continue;
                            }
                        }
                        return self.stmts(body);
                    }
                }
                StmtKind::While(condition, body) => loop {
                    let end = self.term(condition);
                    if end != End::Next {
                        return end;
                    }
                    if self.random.bool() {
                        break;
                    }
                    match self.stmts(body) {
                        End::Break => break,
                        End::Return => return End::Return,
                        End::Next | End::Continue => {}
                    }
                },
                StmtKind::For(_, range, body) => {
                    if let ForRange::Elements(array) = range {
                        let end = self.term(array);
                        if end != End::Next {
                            return end;
                        }
                    }
                    for _ in 0..self.random.usize(..3) {
                        match self.stmts(body) {
                            End::Break => break,
                            End::Return => return End::Return,
                            End::Next | End::Continue => {}
                        }
                    }
                }
                StmtKind::Break => return End::Break,
                StmtKind::Continue => return End::Continue,
                StmtKind::Return(value) => {
                    self.term(value);
                    return End::Return;
                }
                other => panic!("{other:?}"),
            }
            End::Next
        }
    }

    /// On every way through a marked function, what is read is still there. At its end no variable
    /// holds a value, unless an array was built of it.
    #[test]
    fn values_end_with_their_last_use_and_not_before() {
        let seed = 8u64;
        let mut maker = Maker { random: fastrand::Rng::with_seed(seed), builds: false };
        for round in 0..4_000 {
            maker.builds = round % 2 == 1;
            let stmts = maker.stmts(3, false);
            let value = maker.term(1);
            let body = term(TermKind::Block(stmts, Some(Box::new(value))), array());
            let marked = marked(LOCALS, body);
            let text = print::function(&Program::default(), FunctionId::new(0), &marked);
            for walk in 0..6 {
                let mut run = Run {
                    random: fastrand::Rng::with_seed(walk),
                    held: (0..LOCALS).collect(),
                    context: format!("seed {seed}, round {round}, walk {walk}:\n{text}"),
                };
                let end = run.term(&marked.body);
                let may_hold = maker.builds || end == End::Return;
                assert!(may_hold || run.held.is_empty(), "{:?} is left: {}", run.held, run.context);
            }
        }
    }

    /// Returns the marked body of a function, printed.
    fn printed(params: usize, body: Vec<Stmt>, value: Term) -> String {
        let body = term(TermKind::Block(body, Some(Box::new(value))), array());
        let text = print::function(&Program::default(), FunctionId::new(0), &marked(params, body));
        let body = text.split_once("=\n").expect("a body").1;
        body.lines().map(str::trim).collect::<Vec<_>>().join(" ").trim().to_string()
    }

    #[test]
    fn the_last_read_of_a_variable_moves_its_value() {
        let twice = set(1, tuple(vec![local(0), local(0)]));
        assert_eq!(printed(1, vec![twice], local(1)), "{ x1.1 := (x0.0, move x0.0) move x1.1 }");
        // A parameter that is not read is dropped first; a number is not marked.
        let number = term(TermKind::Local(LocalId::new(LOCALS)), Type::int());
        assert_eq!(printed(2, Vec::new(), tuple(vec![local(1), number])), "{ drop x0.0 (move x1.1, x5.5) }");
    }

    #[test]
    fn a_branch_that_does_not_read_a_variable_drops_it() {
        let branch = stmt(StmtKind::If(truth(), vec![set(1, local(0))], Vec::new()));
        let text = printed(2, vec![branch], local(1));
        assert_eq!(text, "{ if `0:bool { drop x1.1 x1.1 := move x0.0 } else { drop x0.0 } move x1.1 }");
    }

    /// The fields that are not read later are moved out of a value whose other fields are.
    #[test]
    fn components_are_moved_one_by_one() {
        let field = |at: u32| term(TermKind::Component(Box::new(local(0)), at.into()), array());
        let text = printed(1, vec![set(1, field(1))], tuple(vec![field(0), local(1)]));
        assert_eq!(text, "{ x1.1 := move x0.0.1 (move x0.0.0, move x1.1) }");
    }

    /// A variable of the session is moved where it is assigned, unless something may read it
    /// before.
    #[test]
    fn a_variable_of_the_session_is_moved_by_its_own_assignment_alone() {
        let global = |id: usize| term(TermKind::Global(GlobalId::new(id)), array());
        let reader = |id: usize| Some(Arc::new(Function { params: Vec::new(), ..function(0, global(id)) }));
        let globals = ["g", "h"].map(|name| Global { name: name.into(), ty: array() });
        let program = Program {
            functions: vec![reader(0), reader(1)],
            globals: globals.to_vec(),
            ..Program::default()
        };
        let mark = |value: Term| {
            let body = vec![stmt(StmtKind::SetGlobal(GlobalId::new(0), value))];
            let script = Script { locals: Vec::new(), body, result: None };
            let (stmt, drops) = mark_statement(
                &program,
                &mut ReachableGlobals::default(),
                (&script, &ScriptLocals::of(&script)),
                0,
            );
            assert!(drops.is_empty());
            print::unit(&program, &[], crate::core::Region::Loop(&stmt)).trim().to_string()
        };
        let call = |id: usize, args: Vec<Term>| {
            let (function, type_args, captures) = (FunctionId::new(id), Vec::new(), Vec::new());
            let head = TermKind::Closure { function, type_args, captures };
            let ty = Type::function(array(), array());
            term(TermKind::Call(Box::new(term(head, ty)), args), array())
        };
        assert_eq!(mark(tuple(vec![global(0)])), "g@0 := (move g@0,)");
        assert_eq!(mark(tuple(vec![global(0), global(0)])), "g@0 := (g@0, move g@0)");
        assert_eq!(mark(tuple(vec![global(1)])), "g@0 := (h@1,)");
        // A function that is called after the read may read the variable itself.
        assert_eq!(mark(call(0, vec![global(0)])), "g@0 := f#0(g@0)");
        assert_eq!(mark(call(1, vec![global(0)])), "g@0 := f#1(move g@0)");
    }

    #[test]
    fn locals_that_end_in_a_term_are_not_set_again() {
        let body = vec![set(1, local(0)), set(2, local(1)), set(1, local(2))];
        let body = term(TermKind::Block(body, Some(Box::new(local(1)))), array());
        let ends: Vec<usize> =
            last_used_locals(&marked(1, body).body).iter().map(|local| local.index()).collect();
        assert_eq!(ends, [0]);
    }

    /// The statement of a script drops what no later statement reads, after it.
    #[test]
    fn a_statement_of_a_script_drops_what_is_not_read_later() {
        let print = |value| term(TermKind::Prim(Prim::Print, vec![array()], vec![value]), Type::unit());
        let info = |id: usize| LocalInfo { name: format!("x{id}").into(), ty: array(), shared: false };
        let bind = |id: usize, value| stmt(StmtKind::Let(pattern(PatKind::Bind(LocalId::new(id))), value));
        let script = Script {
            locals: (0..2).map(info).collect(),
            body: vec![bind(0, tuple(Vec::new())), bind(1, local(0)), stmt(StmtKind::Expr(print(local(0))))],
            result: None,
        };
        let locals = ScriptLocals::of(&script);
        let drops = |at| {
            let mut reach = ReachableGlobals::default();
            mark_statement(&Program::default(), &mut reach, (&script, &locals), at).1
        };
        assert_eq!([0, 1, 2].map(drops), [vec![], vec![LocalId::new(1)], vec![]]);
    }
}
