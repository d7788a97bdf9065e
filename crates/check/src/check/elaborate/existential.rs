//! Sizes known only at run time: existential types opened at calls, packed where they are expected,
//! and named by `?N`.
//!
//! Takes terms of existential type and expected existential types; returns terms with explicit
//! `open` statements and packings. No opened size is ever mentioned outside its scope. Existential
//! types are those of Mitchell and Plotkin ("Abstract types have existential type", TOPLAS 10,
//! 1988), restricted to sizes.
//!
//! **Opening.** The call of a function whose result is `T ^ ?K` has an existential type. It is
//! bound, before the statement that contains it, by `open [K] x = call;`, and replaced by `x : T ^
//! K` with a rigid variable `K`, in scope to the end of the block. Moving the call before its
//! statement cannot be observed, because expressions are pure. A call is not moved out of an
//! expression that may be evaluated zero times or more than once: branches, arms and guards, the
//! right side of `and` and `or`, bodies of functions and comprehensions, conditions of loops. Each
//! of these, and each statement, is an [`OpeningScope`]: it collects the openings made in it and
//! places them before itself.
//!
//! **Scope.** The variable is undefined outside its block. A value leaves a block only as the value
//! of an opening scope or of a function, and there its type is checked. A type can also leave by a
//! hole that is older than the opening scope;
//! [`crate::check::solve::infer::Infer::open_rigid_variable`] prevents such a hole from mentioning
//! the variable.
//!
//! **Packing.** Sizes and value are packed together where an existential type is expected, and
//! where a function without a declared result type returns a value whose type mentions sizes that
//! the function has opened.
//!
//! **Inner functions** take the opened variables that they mention as type parameters. The set of
//! these variables is known only when all holes are solved, so they are added at the end of the
//! item ([`Checker::close_over`]). Variables opened at the top level live as long as the session
//! and are not parameters of any function.

use crate::check::context::Checker;
use crate::check::env::Definition;
use crate::check::error::{ConversionError, Inside, PatternError, SizeError, TypeError};
use crate::check::expectation::Expectation;
use crate::check::state::{Opening, OpeningScope};
use crate::check::terms;
use crate::core::{Function, FunctionId, LocalId, Pat, PatKind, Root, Stmt, StmtKind, Term, TermKind};
use crate::hash::{HashMap, HashSet};
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Pattern};
use crate::types::{Kind, Type, TypeKind, TypeVar};
use num_traits::ToPrimitive;
use std::collections::BTreeSet;
use std::sync::Arc;

impl Opening {
    /// Returns the `open` statement.
    fn stmt(self) -> Stmt {
        let span = self.value.span;
        Stmt { kind: StmtKind::Open { vars: self.vars, local: self.local, value: self.value }, span }
    }
}

impl Checker<'_> {
    /// Runs `f` inside a new opening scope; returns its result and the statements that open what it
    /// opened.
    pub(in crate::check) fn with_opening_scope<T>(
        &mut self,
        f: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Stmt>) {
        self.with_opening_scope_at(None, f)
    }

    /// Runs `f` as [`Checker::with_opening_scope`] does, for the statement at `stmt`.
    pub(in crate::check) fn with_opening_scope_at<T>(
        &mut self,
        stmt: Option<Span>,
        f: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Stmt>) {
        let first_hole = self.infer.next_hole();
        self.frame().opening_scopes.push(OpeningScope { first_hole, stmt, openings: Vec::new() });
        let result = f(self);
        let openings = self
            .frame()
            .opening_scopes
            .pop()
            .expect("an opening scope ends in the frame it began in")
            .openings;
        (result, openings.into_iter().map(Opening::stmt).collect())
    }

    /// Elaborates an expression that may be evaluated zero times or more than once. Openings in it
    /// stay inside it, and its type cannot mention them.
    pub(in crate::check) fn confined_term(
        &mut self,
        inside: Inside,
        f: impl FnOnce(&mut Self) -> Term,
    ) -> Term {
        let (term, openings) = self.with_opening_scope(|this| {
            let term = f(this);
            this.check_size_escape(term, inside)
        });
        terms::with_prefix(openings, term)
    }

    /// Elaborates the value of a branch at the type of all branches.
    pub(in crate::check) fn branch(&mut self, e: &Expr, ty: &Type, because: Option<(Span, String)>) -> Term {
        self.confined_term(Inside::Branch, |this| {
            if this.infer.shallow(ty).is_exists() {
                return this.check(e, ty, because);
            }
            let term = this.expr(e, Expectation::of(ty));
            let term = this.check_size_escape(term, Inside::Branch);
            this.coerce(term, ty, because)
        })
    }

    /// Elaborates the value of a branch at a type of its own; the expectation may determine holes
    /// in it.
    pub(in crate::check) fn branch_at_own_type(&mut self, e: &Expr, expected: Expectation<'_>) -> Term {
        self.confined_term(Inside::Branch, |this| {
            let term = this.expr(e, expected);
            this.check_size_escape(term, Inside::Branch)
        })
    }

    /// Elaborates a condition that may be evaluated zero times or more than once.
    pub(in crate::check) fn condition(&mut self, e: &Expr) -> Term {
        self.confined_term(Inside::Branch, |this| this.check(e, &Type::bool(), None))
    }

    /// Reports a value whose type mentions sizes that the innermost opening scope has opened.
    fn check_size_escape(&mut self, term: Term, inside: Inside) -> Term {
        let ty = self.infer.zonk(&term.ty);
        let Some(scope) = self.frame().opening_scopes.last() else { return term };
        let found = scope.openings.iter().find_map(|opening| {
            let var = opening.vars.iter().find(|var| ty.mentions(var))?;
            Some((var.name.to_string(), opening.value.span))
        });
        match found {
            Some((name, opened)) => {
                let span = term.span;
                self.error_term(SizeError::Escapes { span, name, ty, opened, inside }, span)
            }
            None => term,
        }
    }

    /// Opens a call if its result type is existential; returns the value at its own sizes. Any
    /// other call is returned unchanged.
    pub(in crate::check) fn open_existential(&mut self, call: Term) -> Term {
        let ty = self.infer.shallow(&call.ty);
        if !ty.as_placed().map_or(&ty, |(inner, _)| inner).is_exists() {
            return call;
        }
        let span = call.span;
        let Some(first_hole) = self.frame().opening_scopes.last().map(|scope| scope.first_hole) else {
            // No expression form calls a function outside a statement; this error is a safeguard.
            let what = "the size that this value brings along".to_string();
            let instead = "call the function in a statement before".to_string();
            return self.error_term(TypeError::CannotInfer { span, what, instead }, span);
        };
        let opening = self.opening(Term { ty, ..call }, first_hole);
        let opened = self.local_term(opening.local, span);
        if let Some(scope) = self.frame().opening_scopes.last_mut() {
            scope.openings.push(opening);
        }
        opened
    }

    /// Makes size variables and a local for a value of an existential type. Holes older than
    /// `first_hole` cannot mention the variables.
    fn opening(&mut self, value: Term, first_hole: u32) -> Opening {
        let session = self.at_session_level();
        let mut vars: Vec<TypeVar> = Vec::new();
        let placed = value.ty.as_placed().map(|(inner, places)| (inner.clone(), places.clone()));
        let exists = placed.as_ref().map_or(&value.ty, |(inner, _)| inner).clone();
        for name in exists.bound_names() {
            let name = self.size_name(&name, &vars);
            let var = self.env.fresh_var(&name, Kind::Compact);
            self.infer.open_rigid_variable(&var, first_hole);
            vars.push(var);
        }
        let sizes: Vec<Type> = vars.iter().cloned().map(Type::var).collect();
        let opened = exists.opened(&sizes);
        let opened = match placed {
            Some((_, places)) => {
                for var in &vars {
                    self.program.placed_sizes.insert(var.id, places.clone());
                }
                Type::placed(opened, places)
            }
            None => opened,
        };
        let local = self.new_local("opened", opened);
        if session {
            self.program.sizes.extend(vars.iter().cloned());
            if let Some(notes) = &mut self.notes {
                notes.opened.push(value.span);
            }
        } else {
            self.item.opened.extend(vars.iter().cloned());
        }
        self.frame().opened.extend(vars.iter().cloned());
        Opening { vars, local, value }
    }

    /// Elaborates a pattern for a part of a value with existential sizes. The sizes are opened at
    /// the first place where the variables of the pattern can be used
    /// ([`Checker::take_pattern_openings`]).
    pub(in crate::check) fn packed_pattern(
        &mut self,
        pattern: &Pattern,
        exists: &Type,
        mutable: bool,
    ) -> Pat {
        let span = pattern.span;
        let packed = self.new_local("packed", exists.clone());
        let first_hole = self.infer.next_hole();
        let value = self.local_term(packed, span);
        let opening = self.opening(value, first_hole);
        let body = self.frame().locals[opening.local.index()].ty.clone();
        let at = self.frame().matched.len();
        let wild = Pat { kind: PatKind::Wild, ty: body.clone(), span };
        self.frame().matched.push((opening, wild));
        let inner = self.pattern(pattern, &body, mutable);
        if inner.ty.is_error() {
            return inner;
        }
        if !inner.is_total() {
            let ty = exists.clone();
            let what = "a pattern that may fail".to_string();
            let help = Some("give it a name, and match what is in it".into());
            self.report(PatternError::PatternMismatch { span, what, ty, help });
        }
        self.frame().matched[at].1 = inner;
        Pat { kind: PatKind::Bind(packed), ty: exists.clone(), span }
    }

    /// Returns and removes the statements that open the existential parts bound by patterns so far.
    pub(in crate::check) fn take_pattern_openings(&mut self) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for (opening, pattern) in std::mem::take(&mut self.frame().matched) {
            let span = pattern.span;
            let opened = self.local_term(opening.local, span);
            stmts.push(opening.stmt());
            stmts.push(Stmt { kind: StmtKind::Let(pattern, opened), span });
        }
        stmts
    }

    /// Returns the name of a field of the variable `root` if the present statement has opened that
    /// field.
    pub(in crate::check) fn opened_field(&mut self, root: Root) -> Option<String> {
        let scope = self.frame().opening_scopes.last()?;
        scope.openings.iter().find_map(|opening| {
            let TermKind::Component(base, at) = &opening.value.kind else { return None };
            let mut whole = &**base;
            while let TermKind::Component(inner, _) | TermKind::Index(inner, _) = &whole.kind {
                whole = inner;
            }
            match whole.kind {
                TermKind::Local(local) if root == Root::Local(local) => {}
                TermKind::Global(global) if root == Root::Global(global) => {}
                _ => return None,
            }
            let fields = base.ty.unfold().fields()?;
            Some(fields.get(at.to_usize()?)?.0.to_string())
        })
    }

    /// Returns the value of an arm after the openings of its pattern. Reports an error if the type
    /// of the value mentions the opened sizes.
    pub(in crate::check) fn with_openings(&mut self, openings: &[Stmt], value: Term) -> Term {
        let ty = self.infer.zonk(&value.ty);
        for stmt in openings {
            let StmtKind::Open { vars, .. } = &stmt.kind else { continue };
            if let Some(var) = vars.iter().find(|var| ty.mentions(var)) {
                let (span, name, opened) = (value.span, var.name.to_string(), stmt.span);
                let inside = Inside::Branch;
                return self.error_term(SizeError::Escapes { span, name, ty, opened, inside }, span);
            }
        }
        terms::with_prefix(openings.to_vec(), value)
    }

    /// Checks the openings from number `first` on, which a clause of a comprehension has made.
    /// Reports an error and returns `None` if one depends on an earlier clause, whose locals are
    /// numbered from `low` to below `high`.
    pub(in crate::check) fn check_clause_independence(
        &mut self,
        first: usize,
        low: LocalId,
        high: LocalId,
        span: Span,
    ) -> Option<()> {
        let scope = self.frame().opening_scopes.last()?;
        let found = scope.openings[first.min(scope.openings.len())..].iter().find_map(|opening| {
            let var = opening.vars.first()?;
            terms::mentions_local(&opening.value, low, high)
                .then(|| (var.name.to_string(), opening.value.ty.clone(), opening.value.span))
        });
        match found {
            Some((name, ty, opened)) => {
                let inside = Inside::Clause;
                self.report(SizeError::Escapes { span, name, ty, opened, inside });
                None
            }
            None => Some(()),
        }
    }

    /// Returns a name for a new size, based on `name`, that no visible size has: `K2` after `K`.
    fn size_name(&mut self, name: &Arc<str>, new: &[TypeVar]) -> Arc<str> {
        /// With more variables than this, the existing names are not collected, and a number beyond
        /// their count is used.
        const MAX_VARIABLES: usize = 500;
        let mut shown: HashSet<Arc<str>> = HashSet::default();
        let mut first = 2;
        if self.program.sizes.len() > MAX_VARIABLES {
            shown.insert(name.clone());
            first = self.program.sizes.len();
        } else {
            for definition in self.env.values.values() {
                if let Definition::Global { id, .. } = definition {
                    self.program.globals[id.index()].ty.for_each_var(&mut |var| {
                        shown.insert(var.name.clone());
                    });
                }
            }
        }
        let opened: usize = self.item.frames.iter().map(|frame| frame.opened.len()).sum();
        if opened > MAX_VARIABLES {
            shown.insert(name.clone());
            first = first.max(opened);
        } else {
            let frames = self.item.frames.iter().flat_map(|frame| &frame.opened);
            shown.extend(frames.chain(new).map(|var| var.name.clone()));
        }
        let taken = |name: &Arc<str>| {
            shown.contains(name)
                || self.item.type_scope.contains_key(name)
                || self.env.types.contains_key(name)
        };
        if !taken(name) {
            return name.clone();
        }
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let stem = if stem.is_empty() { name } else { stem };
        let mut names = (first..).map(|n| Arc::from(format!("{stem}{n}")));
        names.find(|name| !taken(name)).unwrap_or_else(|| name.clone())
    }

    /// Packs a term at an existential type with fitting sizes.
    pub(in crate::check) fn pack(
        &mut self,
        term: Term,
        exists: &Type,
        because: Option<(Span, String)>,
    ) -> Term {
        let exists = self.infer.zonk(exists);
        if self.infer.zonk(&term.ty) == exists {
            return term;
        }
        let sizes: Vec<Type> = (0..exists.bound_count()).map(|_| self.infer.fresh(Kind::Compact)).collect();
        let term = self.coerce(term, &exists.opened(&sizes), because);
        self.pack_at(sizes, term, exists)
    }

    /// Elaborates an expression at an existential type.
    pub(in crate::check) fn check_packed(
        &mut self,
        e: &Expr,
        exists: &Type,
        because: Option<(Span, String)>,
    ) -> Term {
        let exists = self.infer.zonk(exists);
        if let ExprKind::If { .. } | ExprKind::Match { .. } = e.kind {
            // Each branch may have different sizes.
            let term = self.expr(e, Expectation::of(&exists));
            return self.pack(term, &exists, because);
        }
        let sizes: Vec<Type> = (0..exists.bound_count()).map(|_| self.infer.fresh(Kind::Compact)).collect();
        let body = exists.opened(&sizes);
        let term = self.expr(e, Expectation::of(&body));
        let term = self.coerce(term, &body, because);
        self.pack_at(sizes, term, exists)
    }

    /// Packs sizes and a value together. A value that was just opened at exactly these sizes is
    /// replaced by the original existential value.
    fn pack_at(&mut self, sizes: Vec<Type>, term: Term, exists: Type) -> Term {
        if term.ty.is_error() {
            return Term { ty: exists, ..term };
        }
        let sizes: Vec<Type> = sizes.iter().map(|size| self.infer.zonk(size)).collect();
        if let (TermKind::Local(local), Some(scope)) = (&term.kind, self.frame().opening_scopes.last_mut())
            && scope.openings.last().is_some_and(|opening| {
                let same = opening.vars.iter().cloned().map(Type::var).eq(sizes.iter().cloned());
                opening.local == *local && opening.value.ty == exists && same
            })
            && let Some(opening) = scope.openings.pop()
        {
            return Term { span: term.span, ..opening.value };
        }
        let span = term.span;
        Term::new(TermKind::PackSizes(sizes, Box::new(term)), exists, span)
    }

    /// Returns the result of a function without a declared result type: packed if its type mentions
    /// sizes that the function has opened.
    pub(in crate::check) fn generalize(&mut self, term: Term) -> Term {
        self.generalize_from(0, term)
    }

    /// Generalizes as [`Checker::generalize`] does, for the sizes opened in the function after the
    /// first `first` ones.
    pub(in crate::check) fn generalize_from(&mut self, first: usize, term: Term) -> Term {
        let ty = self.infer.zonk(&term.ty);
        let opened = self.frame().opened[first..].to_vec();
        let exists = Type::exists(&opened, &ty);
        if exists == ty {
            return term;
        }
        let mut sizes: Vec<Type> = Vec::new();
        ty.for_each_var(&mut |var| {
            let size = Type::var(var.clone());
            if opened.contains(var) && !sizes.contains(&size) {
                sizes.push(size);
            }
        });
        self.pack_at(sizes, Term { ty, ..term }, exists)
    }

    /// Elaborates the result of a function whose result type is declared or expected from outside.
    pub(in crate::check) fn elaborate_result(
        &mut self,
        e: &Expr,
        result: &Type,
        because: Option<(Span, String)>,
    ) -> Term {
        if self.infer.shallow(result).is_exists() {
            return self.check(e, result, because);
        }
        let value = self.expr(e, Expectation::of(result));
        let ty = self.infer.zonk(&value.ty);
        let opened = self.frame().opened.iter().find(|var| ty.mentions(var)).cloned();
        if let (Some(var), TypeKind::Meta(_)) = (opened, self.infer.shallow(result).kind()) {
            let (span, name) = (value.span, var.name.to_string());
            let inside = Inside::Body;
            return self.error_term(SizeError::Escapes { span, name, ty, opened: span, inside }, span);
        }
        self.coerce(value, result, because)
    }

    /// Elaborates the value of the first `return` of a function without a declared result type.
    pub(in crate::check) fn elaborate_first_return(
        &mut self,
        e: &Expr,
        result: &Type,
        because: Option<(Span, String)>,
    ) -> Term {
        let value = self.expr(e, Expectation::of(result));
        let value = match self.infer.shallow(result).kind() {
            TypeKind::Meta(_) => self.generalize(value),
            _ => value,
        };
        if value.ty.is_exists() {
            self.frame().result = Some(value.ty.clone());
            self.frame().free_result = false;
            return value;
        }
        let found = self.infer.zonk(&value.ty);
        let opens = self.frame().opened.iter().any(|var| found.mentions(var));
        if opens && !self.infer.try_unify(&found, result) {
            let (span, expected) = (value.span, self.infer.display_type(result));
            let hint = Some("a result of several sizes is declared, as in `fun f(n:int):int ^ ?K`".into());
            return self.error_term(ConversionError::Mismatch { span, expected, found, because, hint }, span);
        }
        self.coerce(value, result, because)
    }

    /// Adds to each inner function of an item the opened variables that it mentions as type
    /// parameters, innermost functions first. Returns the corresponding type arguments for the
    /// surrounding terms.
    pub(in crate::check) fn close_over(&mut self, inner: &mut [(FunctionId, Function)]) -> FurtherArgs {
        let opened = std::mem::take(&mut self.item.opened);
        let mut more = FurtherArgs::default();
        if opened.is_empty() {
            return more;
        }
        let order: HashMap<u32, usize> = opened.iter().enumerate().map(|(at, var)| (var.id, at)).collect();
        for (id, function) in inner.iter_mut() {
            let mut mentioned: BTreeSet<usize> = BTreeSet::new();
            let mut note = |ty: &Type| {
                ty.for_each_var(&mut |var| mentioned.extend(order.get(&var.id)));
            };
            note(&function.domain);
            function.locals.iter().for_each(|local| note(&local.ty));
            visit(&mut function.body, &more, &mut note);
            for var in self.item.owned.get(id).into_iter().flatten() {
                order.get(&var.id).map(|at| mentioned.remove(at));
            }
            let free: Vec<TypeVar> = mentioned.iter().map(|at| opened[*at].clone()).collect();
            more.insert(*id, free.iter().cloned().map(Type::var).collect());
            function.type_params.extend(free);
        }
        more
    }
}

/// Adds the further type arguments to closures of inner functions in a term.
pub(in crate::check) fn close_term(term: &mut Term, more: &FurtherArgs) {
    if !more.is_empty() {
        visit(term, more, &mut |_| ());
    }
}

/// The type arguments that closures of inner functions take in addition to those of the item.
pub(in crate::check) type FurtherArgs = HashMap<FunctionId, Vec<Type>>;

/// Adds the further type arguments to closures in a term, and calls `on_type` for every type in it.
fn visit(term: &mut Term, more: &FurtherArgs, on_type: &mut dyn FnMut(&Type)) {
    on_type(&term.ty);
    match &mut term.kind {
        TermKind::Closure { function, type_args, .. } => {
            type_args.extend(more.get(function).into_iter().flatten().cloned());
            type_args.iter().for_each(&mut *on_type);
        }
        TermKind::Prim(_, types, _)
        | TermKind::Method { type_args: types, .. }
        | TermKind::PackSizes(types, _) => {
            types.iter().for_each(&mut *on_type);
        }
        TermKind::Build(clauses, _) => clauses.iter().for_each(|(_, ty)| on_type(ty)),
        TermKind::Match(_, arms) => {
            arms.iter_mut().for_each(|arm| arm.pattern.for_each_type_mut(&mut |ty| on_type(ty)));
        }
        TermKind::Block(stmts, _) => {
            stmts.iter_mut().for_each(|stmt| stmt.for_each_type_mut(&mut |ty| on_type(ty)));
        }
        _ => {}
    }
    term.for_each_child_mut(&mut |child| visit(child, more, on_type));
}
