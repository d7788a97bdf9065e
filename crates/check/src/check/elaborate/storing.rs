//! Storing functions: local functions that change variables of the functions around them.
//!
//! A `fun` that is declared in a block may store into a `var` of a surrounding function. The
//! function that has the variable stays pure. A call of the storing function is an effect, so it
//! must have a definite place in the order of evaluation: it is the whole expression of a
//! statement, or the value of a branch of that expression, and it is not inside a function whose
//! calls have no order. A storing function cannot be used as a value.
//!
//! Takes the finished core of an item; reports calls and uses of storing functions in other places.
//! The variables that a function changes are computed from core: its own stores, and those of the
//! functions that it calls, iterated to a fixed point, so recursion needs no rule of its own. One
//! iteration visits each call once.

use crate::check::context::Checker;
use crate::check::error::StoringError;
use crate::check::state::Sequence;
use crate::core::{Function, FunctionId, LocalId, PatKind, Root, Stmt, StmtKind, Term, TermKind};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind};
use crate::types::TypeKind;
use std::collections::BTreeMap;

/// The function that a variable or term belongs to; `None` for the item itself.
type Owner = Option<FunctionId>;

/// A variable, with the function that has it.
type Variable = (Owner, LocalId);

impl Checker<'_> {
    /// Records that an expression is evaluated as a step of its statement, with no evaluation after
    /// it in that statement.
    pub(in crate::check) fn in_sequence(&mut self, e: &Expr) {
        if self.frame().block.is_some() {
            return;
        }
        match &e.kind {
            ExprKind::Apply { .. } | ExprKind::Dot { .. } => {
                self.item.sequence.whole.insert(e.span);
            }
            ExprKind::If { arms, otherwise } => {
                arms.iter().map(|(_, value)| value).chain([&**otherwise]).for_each(|e| self.in_sequence(e));
            }
            ExprKind::Match { arms, .. } => arms.iter().for_each(|arm| self.in_sequence(&arm.body)),
            _ => {}
        }
    }

    /// Checks the uses of storing functions in an item: in its statements, its terms, and the
    /// functions made by it.
    pub(in crate::check) fn check_sequence(
        &mut self,
        stmts: &[Stmt],
        terms: &[&Term],
        functions: &[(FunctionId, Function)],
    ) {
        let Sequence { whole, unordered, unused } = std::mem::take(&mut self.item.sequence);
        let mut found = Found { whole, unordered, ..Found::default() };
        found.functions.extend(functions.iter().map(|(id, function)| (*id, function)));
        if functions.iter().any(|(_, function)| stores_outside(function)) {
            let all = || {
                let own = stmts.iter().map(Part::Stmt).chain(terms.iter().copied().map(Part::Term));
                let inner = functions.iter().map(|(id, function)| (Some(*id), Part::Term(&function.body)));
                own.map(|part| (None, part)).chain(inner)
            };
            all().for_each(|(owner, part)| found.collect(owner, part));
            found.close(all());
            all().for_each(|(owner, part)| found.check(owner, part, false));
        }
        found.errors.into_iter().for_each(|error| self.report(error));
        for (span, error) in unused {
            if !found.effects.contains(&span) {
                self.report(error);
            }
        }
    }
}

/// A statement with the statements nested in it, or a term.
#[derive(Clone, Copy)]
enum Part<'a> {
    /// A statement.
    Stmt(&'a Stmt),
    /// A term.
    Term(&'a Term),
}

impl<'a> Part<'a> {
    /// Calls `on_stmt` for the statements directly in the part (and those nested in them), and
    /// `on_term` for the terms directly in it.
    fn for_each(self, on_stmt: &mut dyn FnMut(&'a Stmt), on_term: &mut dyn FnMut(&'a Term)) {
        match self {
            Part::Stmt(stmt) => {
                stmt.for_each_stmt(on_stmt);
                stmt.for_each_term(on_term);
            }
            Part::Term(term) => {
                if let TermKind::Block(stmts, _) = &term.kind {
                    stmts.iter().for_each(|stmt| stmt.for_each_stmt(on_stmt));
                }
                term.for_each_child(on_term);
            }
        }
    }
}

/// Returns true if a function stores into a variable that it captures.
fn stores_outside(function: &Function) -> bool {
    let mut found = false;
    let mut waiting = vec![&function.body];
    while let Some(term) = waiting.pop() {
        Part::Term(term).for_each(
            &mut |stmt| {
                found |= matches!(stmt.stores_into(),
                    Some(Root::Local(local)) if function.captures.contains(&local));
            },
            &mut |term| waiting.push(term),
        );
    }
    found
}

/// The changes that the functions of an item make, and the errors in their uses.
#[derive(Default)]
struct Found<'a> {
    /// The functions made by the item.
    functions: HashMap<FunctionId, &'a Function>,
    /// The spans of expressions that are a step of a statement.
    whole: HashSet<Span>,
    /// The functions whose calls have no order.
    unordered: HashSet<FunctionId>,
    /// For each function, the surrounding function and the captured variables there.
    captured_from: HashMap<FunctionId, (Owner, &'a [LocalId])>,
    /// Functions that variables hold from their declaration on.
    held: HashMap<Variable, FunctionId>,
    /// The direct stores of each function, by its own local for the variable.
    stores: Vec<(FunctionId, LocalId, Span)>,
    /// The variables outside of each function that it changes, each with a place of a store.
    changes: HashMap<FunctionId, BTreeMap<Variable, Span>>,
    /// The spans of calls of functions that store.
    effects: HashSet<Span>,
    /// The errors found.
    errors: Vec<StoringError>,
}

impl<'a> Found<'a> {
    /// Collects the places where functions are made and held, and the variables that they store
    /// into.
    fn collect(&mut self, owner: Owner, part: Part<'a>) {
        if let Part::Term(Term { kind: TermKind::Closure { function, captures, .. }, .. }) = part {
            self.captured_from.insert(*function, (owner, captures));
            if let Some(this) = self.functions.get(function).and_then(|function| function.this) {
                self.held.insert((Some(*function), this), *function);
            }
        }
        let mut inner = Vec::new();
        part.for_each(
            &mut |stmt| {
                if let StmtKind::Let(pat, Term { kind: TermKind::Closure { function, .. }, .. }) = &stmt.kind
                    && let PatKind::Bind(local) = pat.kind
                {
                    self.held.insert((owner, local), *function);
                }
                if let (Some(owner), Some(Root::Local(local))) = (owner, stmt.stores_into()) {
                    self.stores.push((owner, local, stmt.span));
                }
            },
            &mut |term| inner.push(term),
        );
        inner.into_iter().for_each(|term| self.collect(owner, Part::Term(term)));
    }

    /// Resolves a local of a function to the variable of the function that declares it, through
    /// captures.
    fn variable(&self, mut owner: Owner, mut local: LocalId) -> Variable {
        while let Some(id) = owner
            && let Some(function) = self.functions.get(&id)
            && let Some(at) = function.captures.iter().position(|capture| *capture == local)
            && let Some((outer, captures)) = self.captured_from.get(&id)
            && let Some(there) = captures.get(at)
        {
            (owner, local) = (*outer, *there);
        }
        (owner, local)
    }

    /// Returns the inner function that a term certainly denotes.
    fn function_of(&self, owner: Owner, term: &Term) -> Option<FunctionId> {
        match &term.kind {
            TermKind::Closure { function, .. } => Some(*function),
            TermKind::Local(local) => self.held.get(&self.variable(owner, *local)).copied(),
            _ => None,
        }
    }

    /// Computes the variables that each function changes, directly and by the functions that it
    /// calls.
    fn close(&mut self, all: impl Iterator<Item = (Owner, Part<'a>)>) {
        let mut calls: Vec<(FunctionId, FunctionId)> = Vec::new();
        let mut waiting: Vec<(Owner, Part<'a>)> = all.collect();
        while let Some((owner, part)) = waiting.pop() {
            if let (Some(caller), Part::Term(Term { kind: TermKind::Call(head, _), .. })) = (owner, part) {
                // A call by a function without order is reported itself, so the change does not
                // count as the caller's.
                let called = self.function_of(owner, head).filter(|_| !self.unordered.contains(&caller));
                calls.extend(called.map(|called| (caller, called)));
            }
            part.for_each(&mut |_| {}, &mut |term| waiting.push((owner, Part::Term(term))));
        }
        for (function, local, span) in std::mem::take(&mut self.stores) {
            let variable = self.variable(Some(function), local);
            if variable.0 != Some(function) {
                self.changes.entry(function).or_default().entry(variable).or_insert(span);
            }
        }
        let mut grows = true;
        while grows {
            grows = false;
            for (caller, called) in &calls {
                for (variable, span) in self.changes.get(called).cloned().unwrap_or_default() {
                    let known = self.changes.entry(*caller).or_default();
                    if variable.0 != Some(*caller) && !known.contains_key(&variable) {
                        known.insert(variable, span);
                        grows = true;
                    }
                }
            }
        }
        self.changes.retain(|_, changes| !changes.is_empty());
    }

    /// Returns the first change of a function in the text: the function's name, the variable's
    /// name, and the place.
    fn first_change(&self, function: FunctionId) -> Option<(String, String, Span)> {
        let name = self.functions.get(&function)?.name.to_string();
        let (variable, span) = self.changes.get(&function)?.iter().min_by_key(|(_, span)| span.start)?;
        Some((name, self.name_of(function, *variable), *span))
    }

    /// Returns the name of a variable that a function, or one that it calls, stores into.
    fn name_of(&self, function: FunctionId, variable: Variable) -> String {
        let captures = |id: &FunctionId| self.functions.get(id).map_or(&[][..], |f| &f.captures);
        std::iter::once(&function)
            .chain(self.functions.keys())
            .flat_map(|id| captures(id).iter().map(move |local| (id, *local)))
            .find(|(id, local)| self.variable(Some(**id), *local) == variable)
            .and_then(|(id, local)| Some(self.functions.get(id)?.locals.get(local.index())?.name.to_string()))
            .expect("a function that changes a variable captures it, or one that it calls does")
    }

    /// Reports the errors in a part. `built` is true if the part is computed for the elements of an
    /// array.
    fn check(&mut self, owner: Owner, part: Part<'a>, built: bool) {
        let mut built = built;
        let mut skipped: Option<&Term> = None;
        if let Part::Term(term) = part {
            match &term.kind {
                TermKind::Call(head, _) => {
                    if let Some(called) = self.function_of(owner, head).filter(|_| !term.ty.is_error()) {
                        skipped = Some(head);
                        self.check_call(owner, called, term, head, built);
                    }
                }
                TermKind::Local(_) | TermKind::Closure { .. } => {
                    if let (Some(function), TypeKind::Function(..)) =
                        (self.function_of(owner, term), term.ty.kind())
                        && let Some((name, variable, at)) = self.first_change(function)
                    {
                        let span = term.span;
                        self.errors.push(StoringError::Value { span, name, variable, at });
                    }
                }
                TermKind::Build(..) => built = true,
                _ => {}
            }
        }
        let mut declared: Vec<&Term> = Vec::new();
        let mut inner = Vec::new();
        part.for_each(
            &mut |stmt| {
                if let StmtKind::Let(_, term @ Term { kind: TermKind::Closure { .. }, .. }) = &stmt.kind {
                    declared.push(term);
                }
            },
            &mut |term| inner.push(term),
        );
        for term in inner {
            let known = skipped.into_iter().chain(declared.iter().copied());
            if !known.into_iter().any(|known| std::ptr::eq(known, term)) {
                self.check(owner, Part::Term(term), built);
            }
        }
    }

    /// Reports a call of a storing function in a place without a definite order.
    fn check_call(&mut self, owner: Owner, called: FunctionId, call: &Term, head: &Term, built: bool) {
        let Some((name, variable, at)) = self.first_change(called) else { return };
        let span = call.span;
        self.effects.insert(span);
        let outside = |caller: FunctionId| {
            self.changes
                .get(&called)
                .is_some_and(|changes| changes.keys().any(|(owner, _)| *owner != Some(caller)))
        };
        if let Some(caller) = owner.filter(|caller| self.unordered.contains(caller) && outside(*caller)) {
            let header = self.functions.get(&caller).map(|function| function.span);
            self.errors.push(StoringError::Unordered { span, name, variable, at, header });
        } else if built {
            self.errors.push(StoringError::Unordered { span, name, variable, at, header: None });
        } else if !self.whole.contains(&span) && matches!(head.ty.kind(), TypeKind::Function(..)) {
            self.errors.push(StoringError::Inside { span, name, variable, at });
        }
    }
}
