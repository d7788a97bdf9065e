//! Sizes that arrive at run time: existential results opened where they are called, packed where
//! they are wanted, and named by `?N`.
//!
//! **Opening.** The call of a function whose result is `T ^ ?K` is no value of a type yet. It is
//! bound, before the statement it stands in, by `open [K] x = call;`, and stands for `x : T ^ K` with a
//! rigid variable `K` from there to the end of the block. Moving the call before its statement changes
//! nothing that can be seen, for expressions are pure; what may not be evaluated, or more than once, is
//! not moved out of: branches, arms and guards, the right side of `and` and `or`, bodies of functions
//! and comprehensions, conditions of loops. Each of these, and each statement, is a [`Host`]: it
//! collects the openings made in it and lets them stand before itself.
//!
//! **Scope.** The variable means nothing outside its block. A value leaves a block only as the value
//! of a host or of a function, and there its type is looked at; and a type leaves by a hole of inference
//! that is older than the host, which [`super::infer::Infer::open`] forbids to take the variable.
//!
//! **Packing.** Where an existential type is wanted, and where a function without declared result gives
//! a value whose type mentions what it opened, sizes and value are packed together again.
//!
//! **Inner functions** take what they mention of the variables around them as type parameters. Which
//! they mention is known when their holes are solved, so this is written in last ([`Checker::close_over`]).
//! Variables opened at the top level live as long as the session and are nobody's parameters.

use super::env::{Definition, TypeDefinition};
use super::error::{CheckError, Inside, SizeError};
use super::{Checker, FrameKind};
use crate::core::{Function, FunctionId, LocalId, Pat, PatKind, Root, Stmt, StmtKind, Term, TermKind};
use crate::hash::{HashMap, HashSet};
use crate::iso::equations;
use crate::source::Span;
use crate::syntax::ast::{Expr, ExprKind, Name, Pattern, TypeExpr};
use crate::types::{Kind, Type, TypeKind, TypeVar};
use num_traits::ToPrimitive;
use std::collections::BTreeSet;
use std::sync::Arc;

/// What stands for itself where openings go: a statement, or an expression that may not be run.
#[derive(Default)]
pub(super) struct Host {
    /// The first hole made in it.
    pub(super) first_hole: u32,
    /// Where the statement stands that it is.
    pub(super) stmt: Option<Span>,
    /// What has been opened in it, in order.
    pub(super) openings: Vec<Opening>,
}

/// An existential value to be taken apart.
pub(super) struct Opening {
    vars: Vec<TypeVar>,
    local: LocalId,
    value: Term,
}

impl Opening {
    /// The statement that does it.
    fn stmt(self) -> Stmt {
        let span = self.value.span;
        Stmt { kind: StmtKind::Open { vars: self.vars, local: self.local, value: self.value }, span }
    }
}

/// What `?N` is where a type is read.
#[derive(Default)]
pub(super) enum Opens {
    /// A mistake.
    #[default]
    Nothing,
    /// A hole that gets a name: the annotation of a variable.
    Named(Vec<(Name, Type)>),
    /// A variable to be bound: the result of a function.
    Bound(Vec<TypeVar>),
}

impl Checker<'_> {
    /// Does `f` as a host; gives what was opened, too.
    pub(super) fn host<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> (T, Vec<Stmt>) {
        self.host_at(None, f)
    }

    /// The same for a statement.
    pub(super) fn host_at<T>(
        &mut self,
        stmt: Option<Span>,
        f: impl FnOnce(&mut Self) -> T,
    ) -> (T, Vec<Stmt>) {
        let first_hole = self.infer.next_hole();
        self.frame().hosts.push(Host { first_hole, stmt, openings: Vec::new() });
        let result = f(self);
        let openings = self.frame().hosts.pop().unwrap_or_default().openings;
        (result, openings.into_iter().map(Opening::stmt).collect())
    }

    /// An expression that may not be run, or more than once: what is opened in it is opened there, and
    /// its type cannot mention it.
    pub(super) fn hosted(&mut self, inside: Inside, f: impl FnOnce(&mut Self) -> Term) -> Term {
        let (term, openings) = self.host(|this| {
            let term = f(this);
            this.confined(term, inside)
        });
        super::expr::with_prefix(openings, term)
    }

    /// The value of a branch, at the type of all branches.
    pub(super) fn branch(&mut self, e: &Expr, ty: &Type, because: Option<(Span, String)>) -> Term {
        self.hosted(Inside::Branch, |this| {
            if this.infer.shallow(ty).is_exists() {
                return this.check(e, ty, because);
            }
            let term = this.expr(e, Some(ty));
            let term = this.confined(term, Inside::Branch);
            this.coerce(term, ty, because)
        })
    }

    /// The value of a branch, at a type of its own, which it may know better by what is wanted.
    pub(super) fn own_branch(&mut self, e: &Expr, hint: Option<&Type>) -> Term {
        self.hosted(Inside::Branch, |this| {
            let term = this.expr(e, hint);
            this.confined(term, Inside::Branch)
        })
    }

    /// A condition that may not be evaluated, or more than once.
    pub(super) fn condition(&mut self, e: &Expr) -> Term {
        self.hosted(Inside::Branch, |this| this.check(e, &Type::bool(), None))
    }

    /// Reports a value whose type mentions what the innermost host has opened.
    fn confined(&mut self, term: Term, inside: Inside) -> Term {
        let ty = self.infer.zonk(&term.ty);
        let Some(host) = self.frame().hosts.last() else { return term };
        let found = host.openings.iter().find_map(|opening| {
            let var = opening.vars.iter().find(|var| ty.mentions(var))?;
            Some((var.name.to_string(), opening.value.span))
        });
        match found {
            Some((name, opened)) => {
                let span = term.span;
                self.wrong(SizeError::Escapes { span, name, ty, opened, inside }.into(), span)
            }
            None => term,
        }
    }

    /// A call, opened if its result is existential: the value at sizes of its own.
    pub(super) fn open(&mut self, call: Term) -> Term {
        let ty = self.infer.shallow(&call.ty);
        if !ty.is_exists() {
            return call;
        }
        let span = call.span;
        let Some(first_hole) = self.frame().hosts.last().map(|host| host.first_hole) else {
            // No expression is known that stands in no statement and calls a function.
            let what = "the size that this value brings along".to_string();
            let instead = "call the function in a statement before".to_string();
            return self.wrong(CheckError::CannotInfer { span, what, instead }, span);
        };
        let opening = self.opening(Term { ty, ..call }, first_hole);
        let opened = self.local_term(opening.local, span);
        if let Some(host) = self.frame().hosts.last_mut() {
            host.openings.push(opening);
        }
        opened
    }

    /// Sizes and a variable for a value of an existential type. No hole older than this one can mention them.
    fn opening(&mut self, value: Term, first_hole: u32) -> Opening {
        let session = self.at_session_level();
        let mut vars: Vec<TypeVar> = Vec::new();
        for name in value.ty.bound_names() {
            let name = self.size_name(&name, &vars);
            let var = self.env.fresh_var(&name, Kind::Compact);
            self.infer.open(&var, first_hole);
            vars.push(var);
        }
        let sizes: Vec<Type> = vars.iter().cloned().map(Type::var).collect();
        let local = self.new_local("opened", value.ty.opened(&sizes));
        if session {
            self.program.sizes.extend(vars.iter().cloned());
        } else {
            self.item.opened.extend(vars.iter().cloned());
        }
        self.frame().opened.extend(vars.iter().cloned());
        Opening { vars, local, value }
    }

    /// A pattern for a part of a value that brings its sizes along: they are opened where what the pattern
    /// binds can be used first ([`Checker::matched_openings`]).
    pub(super) fn packed_pattern(&mut self, pattern: &Pattern, exists: &Type, mutable: bool) -> Pat {
        let span = pattern.span;
        let packed = self.new_local("packed", exists.clone());
        let first_hole = self.infer.next_hole();
        let value = self.local_term(packed, span);
        let opening = self.opening(value, first_hole);
        let body = self.frame().locals[opening.local as usize].ty.clone();
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
            self.report(CheckError::PatternMismatch { span, what, ty, help });
        }
        self.frame().matched[at].1 = inner;
        Pat { kind: PatKind::Bind(packed), ty: exists.clone(), span }
    }

    /// The statements that open what patterns have bound since they were last asked for.
    pub(super) fn matched_openings(&mut self) -> Vec<Stmt> {
        let mut stmts = Vec::new();
        for (opening, pattern) in std::mem::take(&mut self.frame().matched) {
            let span = pattern.span;
            let opened = self.local_term(opening.local, span);
            stmts.push(opening.stmt());
            stmts.push(Stmt { kind: StmtKind::Let(pattern, opened), span });
        }
        stmts
    }

    /// The field of a variable that the present statement has opened, if it has.
    pub(super) fn opened_field(&mut self, root: Root) -> Option<String> {
        let host = self.frame().hosts.last()?;
        host.openings.iter().find_map(|opening| {
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

    /// The value of an arm after what its pattern opens. Its type cannot mention that.
    pub(super) fn after_openings(&mut self, openings: &[Stmt], value: Term) -> Term {
        let ty = self.infer.zonk(&value.ty);
        for stmt in openings {
            let StmtKind::Open { vars, .. } = &stmt.kind else { continue };
            if let Some(var) = vars.iter().find(|var| ty.mentions(var)) {
                let (span, name, opened) = (value.span, var.name.to_string(), stmt.span);
                let inside = Inside::Branch;
                return self.wrong(SizeError::Escapes { span, name, ty, opened, inside }.into(), span);
            }
        }
        super::expr::with_prefix(openings.to_vec(), value)
    }

    /// Reports what a clause of a comprehension has opened, from `first` on, if it depends on the
    /// clauses before, whose locals are numbered from `low` to below `high`.
    pub(super) fn independent(
        &mut self,
        first: usize,
        low: LocalId,
        high: LocalId,
        span: Span,
    ) -> Option<()> {
        let host = self.frame().hosts.last()?;
        let found = host.openings[first.min(host.openings.len())..].iter().find_map(|opening| {
            let var = opening.vars.first()?;
            super::expr::mentions_local(&opening.value, low, high)
                .then(|| (var.name.to_string(), opening.value.ty.clone(), opening.value.span))
        });
        match found {
            Some((name, ty, opened)) => {
                let inside = Inside::Clause;
                self.report(SizeError::Escapes { span, name, ty, opened, inside }.into());
                None
            }
            None => Some(()),
        }
    }

    /// Whether what is opened now lives as long as the session.
    pub(super) fn at_session_level(&mut self) -> bool {
        let outermost = self.item.frames.len() == 1;
        let frame = self.frame();
        outermost && frame.kind == FrameKind::Script && frame.hosts.len() == 1
    }

    /// A name for a new size like this one that no message shows beside it for another: `K2` after `K`.
    fn size_name(&mut self, name: &Arc<str>, new: &[TypeVar]) -> Arc<str> {
        /// With more variables than this all sizes that there have been count as shown.
        const MOST: usize = 500;
        let mut shown: HashSet<Arc<str>> = HashSet::default();
        let mut first = 2;
        if self.program.sizes.len() > MOST {
            shown.insert(name.clone());
            first = self.program.sizes.len();
        } else {
            for definition in self.env.values.values() {
                if let Definition::Global { id, .. } = definition {
                    self.program.globals[*id as usize].ty.for_each_var(&mut |var| {
                        shown.insert(var.name.clone());
                    });
                }
            }
        }
        let opened: usize = self.item.frames.iter().map(|frame| frame.opened.len()).sum();
        if opened > MOST {
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

    /// A term where an existential type is wanted: with sizes that fit.
    pub(super) fn pack(&mut self, term: Term, exists: &Type, because: Option<(Span, String)>) -> Term {
        let exists = self.infer.zonk(exists);
        if self.infer.zonk(&term.ty) == exists {
            return term;
        }
        let sizes: Vec<Type> = (0..exists.bound_count()).map(|_| self.infer.fresh(Kind::Compact)).collect();
        let term = self.coerce(term, &exists.opened(&sizes), because);
        self.packed(sizes, term, exists)
    }

    /// An expression where an existential type is wanted.
    pub(super) fn check_packed(&mut self, e: &Expr, exists: &Type, because: Option<(Span, String)>) -> Term {
        let exists = self.infer.zonk(exists);
        if let ExprKind::If { .. } | ExprKind::Match { .. } = e.kind {
            // Each branch has sizes of its own.
            let term = self.expr(e, Some(&exists));
            return self.pack(term, &exists, because);
        }
        let sizes: Vec<Type> = (0..exists.bound_count()).map(|_| self.infer.fresh(Kind::Compact)).collect();
        let body = exists.opened(&sizes);
        let term = self.expr(e, Some(&body));
        let term = self.coerce(term, &body, because);
        self.packed(sizes, term, exists)
    }

    /// Sizes and value together. What has just been opened at these sizes is taken as it was.
    fn packed(&mut self, sizes: Vec<Type>, term: Term, exists: Type) -> Term {
        if term.ty.is_error() {
            return Term { ty: exists, ..term };
        }
        let sizes: Vec<Type> = sizes.iter().map(|size| self.infer.zonk(size)).collect();
        if let (TermKind::Local(local), Some(host)) = (&term.kind, self.frame().hosts.last_mut())
            && host.openings.last().is_some_and(|opening| {
                let same = opening.vars.iter().cloned().map(Type::var).eq(sizes.iter().cloned());
                opening.local == *local && opening.value.ty == exists && same
            })
            && let Some(opening) = host.openings.pop()
        {
            return Term { span: term.span, ..opening.value };
        }
        let span = term.span;
        Term::new(TermKind::PackSizes(sizes, Box::new(term)), exists, span)
    }

    /// What a function gives that does not say its result type: existential if its type mentions what
    /// the function has opened.
    pub(super) fn generalized(&mut self, term: Term) -> Term {
        self.generalized_from(0, term)
    }

    /// The same for what has been opened in the function since so many were.
    pub(super) fn generalized_from(&mut self, first: usize, term: Term) -> Term {
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
        self.packed(sizes, Term { ty, ..term }, exists)
    }

    /// What a function gives whose result type is known, or wanted from outside.
    pub(super) fn returned(&mut self, e: &Expr, result: &Type, because: Option<(Span, String)>) -> Term {
        if self.infer.shallow(result).is_exists() {
            return self.check(e, result, because);
        }
        let value = self.expr(e, Some(result));
        let ty = self.infer.zonk(&value.ty);
        let opened = self.frame().opened.iter().find(|var| ty.mentions(var)).cloned();
        if let (Some(var), TypeKind::Meta(_)) = (opened, self.infer.shallow(result).kind()) {
            let (span, name) = (value.span, var.name.to_string());
            let inside = Inside::Body;
            return self.wrong(SizeError::Escapes { span, name, ty, opened: span, inside }.into(), span);
        }
        self.coerce(value, result, because)
    }

    /// What the first `return` gives of a function that does not say its result type.
    pub(super) fn first_return(&mut self, e: &Expr, result: &Type, because: Option<(Span, String)>) -> Term {
        let value = self.expr(e, Some(result));
        let value = match self.infer.shallow(result).kind() {
            TypeKind::Meta(_) => self.generalized(value),
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
            let (span, expected) = (value.span, self.infer.shown(result));
            let hint = Some("a result of several sizes is declared, as in `fun f(n:int):int ^ ?K`".into());
            return self.wrong(CheckError::Mismatch { span, expected, found, because, hint }, span);
        }
        self.coerce(value, result, because)
    }

    /// What to say of a type that mentions a size that the wanted one cannot know: it was opened later.
    pub(super) fn late_size(&mut self, found: &Type, expected: &Type) -> Option<String> {
        if !self.only_sizes_differ(found, expected) {
            return None;
        }
        let mut late = None;
        found.for_each_var(&mut |var| {
            let opened = self.item.frames.iter().any(|frame| frame.opened.contains(var));
            if opened && !expected.mentions(var) {
                late.get_or_insert_with(|| (var.name.clone(), self.means(&var.name, var)));
            }
        });
        let (late, named) = late?;
        let reshaped = self.reshaped_if_equal(found, expected);
        let mut other = None;
        expected.for_each_var(&mut |var| {
            other.get_or_insert_with(|| (var.name.clone(), self.means(&var.name, var)));
        });
        match other {
            Some((other, true)) if named && let Some((left, right)) = &reshaped => {
                let (left, right) = (left.size_text(), right.size_text());
                Some(format!(
                    "`{late}` and `{other}` arrive at run time and need not be equal: \
                     `require {right} == {left};` checks it, and `:>>` then reads the one as the other"
                ))
            }
            Some((other, _)) => Some(format!(
                "`{late}` and `{other}` arrive at run time and need not be equal: bind this value to a name of its own"
            )),
            None if expected.has_meta() => {
                Some(format!("`{late}` is known only after this place: bind the value where it is made"))
            }
            None => reshaped.filter(|_| named).map(|(left, right)| {
                let (left, right) = (left.size_text(), right.size_text());
                format!("`{late}` arrives at run time: `require {left} == {right};` checks it, and `:>>` then reads the one as the other")
            }),
        }
    }

    /// Whether two types would be one, or could be, if the sizes in them were: where they differ in anything else,
    /// that is the mistake.
    fn only_sizes_differ(&mut self, found: &Type, expected: &Type) -> bool {
        let mark = self.infer.mark();
        let alike = self.alike_but_sizes(found, expected);
        self.infer.undo(mark);
        alike
    }

    fn alike_but_sizes(&mut self, found: &Type, expected: &Type) -> bool {
        use TypeKind as K;
        let (found, expected) = (self.infer.shallow(found), self.infer.shallow(expected));
        if found.is_compact() && expected.is_compact() {
            return true;
        }
        match (found.kind(), expected.kind()) {
            (K::Array(t, _), K::Array(u, _)) => self.alike_but_sizes(t, u),
            (K::Function(d, c), K::Function(e, f)) => {
                self.alike_but_sizes(d, e) && self.alike_but_sizes(c, f)
            }
            (K::Product(a), K::Product(b)) | (K::Sum(a), K::Sum(b)) if a.len() == b.len() => {
                a.iter().zip(b).all(|(a, b)| self.alike_but_sizes(a, b))
            }
            (K::Record(a), K::Record(b)) if a.len() == b.len() => {
                a.iter().zip(b).all(|((f, a), (g, b))| f == g && self.alike_but_sizes(a, b))
            }
            (K::Nominal(a, xs), K::Nominal(b, ys)) if a == b => {
                xs.iter().zip(ys).all(|(x, y)| self.alike_but_sizes(x, y))
            }
            // A hole that waits for any type takes one with a size, but for the scope of the size.
            (_, K::Meta(_)) | (K::Meta(_), _) => {
                self.infer.literal_of(&expected).is_none() && self.infer.literal_of(&found).is_none()
                    || self.infer.unify(&found, &expected).is_ok()
            }
            _ => self.infer.unify(&found, &expected).is_ok(),
        }
    }

    /// The sizes that, once they are known to be equal, let `:>>` read the one type as the other without
    /// forgetting anything.
    fn reshaped_if_equal(&self, found: &Type, expected: &Type) -> Option<(Type, Type)> {
        let sizes = equations::required_equation(found, expected)?;
        let mut equations = self.equations();
        equations.push(sizes.clone());
        let natural = equations::natural_under(&equations, found, expected);
        (natural && self.forgotten(found, expected, &equations).is_none()).then_some(sizes)
    }

    /// Sizes of the session with their names.
    pub(super) fn session_sizes(&self) -> Vec<(Arc<str>, Type)> {
        let sizes = self.env.types.iter().filter_map(|(name, known)| match known {
            TypeDefinition::Size(size) => Some((name.clone(), size.clone())),
            _ => None,
        });
        sizes.collect()
    }

    /// Equations of sizes that hold here.
    pub(super) fn equations(&self) -> Vec<(Type, Type)> {
        self.env.equations.iter().chain(&self.item.equations).cloned().collect()
    }

    /// A written type in which `?N` is a hole that gets a name; the names with their holes.
    pub(super) fn lower_named(&mut self, written: &TypeExpr) -> (Type, Vec<(Name, Type)>) {
        let outer = std::mem::replace(&mut self.opens, Opens::Named(Vec::new()));
        let ty = self.lower(written);
        match std::mem::replace(&mut self.opens, outer) {
            Opens::Named(names) => (ty, names),
            _ => (ty, Vec::new()),
        }
    }

    /// The written result of a function, in which `?N` is a size that the function chooses.
    pub(super) fn lower_result(&mut self, written: &TypeExpr) -> Type {
        let outer = std::mem::replace(&mut self.opens, Opens::Bound(Vec::new()));
        let ty = self.lower(written);
        match std::mem::replace(&mut self.opens, outer) {
            Opens::Bound(vars) if !vars.is_empty() => Type::exists(&vars, &ty),
            _ => ty,
        }
    }

    /// `?N`.
    pub(super) fn lower_open(&mut self, name: &Name, span: Span) -> Type {
        match &mut self.opens {
            Opens::Nothing => {
                self.report(SizeError::NotOpened { span, name: name.text.to_string() }.into());
                Type::error()
            }
            Opens::Named(names) => match names.iter().find(|(known, _)| known.text == name.text) {
                Some((_, hole)) => hole.clone(),
                None => {
                    let hole = self.infer.fresh(Kind::Compact);
                    names.push((name.clone(), hole.clone()));
                    hole
                }
            },
            Opens::Bound(vars) => match vars.iter().find(|var| var.name == name.text) {
                Some(var) => Type::var(var.clone()),
                None => {
                    let var = self.env.fresh_var(&name.text, Kind::Compact);
                    vars.push(var.clone());
                    self.note_parameter(name, &Type::var(var.clone()));
                    Type::var(var)
                }
            },
        }
    }

    /// Brings the names of an annotation into scope, for what their holes have become; gives the type
    /// of the annotation. A variable opened in this statement takes the name.
    pub(super) fn name_sizes(&mut self, names: Vec<(Name, Type)>, ty: &Type) -> Type {
        if names.is_empty() {
            return ty.clone();
        }
        let session = self.item.names_last && self.at_session_level();
        let mut renamed: HashMap<u32, Type> = HashMap::default();
        for (name, hole) in names {
            let mut size = self.infer.zonk(&hole);
            if size.has_meta() {
                if !self.diagnostics.iter().any(crate::diagnostic::Diagnostic::is_error) {
                    let (span, name) = (name.span, name.text.to_string());
                    self.report(SizeError::Unknown { span, name }.into());
                }
                size = Type::error();
            }
            if let TypeKind::Var(var) = size.clone().kind()
                && !renamed.contains_key(&var.id)
                && let Some(new) = self.rename(var, &name.text)
            {
                size = Type::var(new);
                renamed.insert(var.id, size.clone());
            }
            self.bind_size(&name, size, session);
        }
        self.infer.zonk(ty).substitute(&renamed)
    }

    /// Brings the name of a size into scope.
    pub(super) fn bind_size(&mut self, name: &Name, size: Type, session: bool) {
        self.note_parameter(name, &size);
        if session {
            self.env.types.insert(name.text.clone(), TypeDefinition::Size(size));
        } else {
            let old = self.item.type_scope.insert(name.text.clone(), size);
            self.item.named.push((name.text.clone(), old));
        }
    }

    /// Gives a variable that the present host has opened the name the user has for it.
    fn rename(&mut self, var: &TypeVar, name: &Arc<str>) -> Option<TypeVar> {
        let new = TypeVar { name: name.clone(), ..var.clone() };
        let frame = self.frame();
        let bindings = [(var.id, Type::var(new.clone()))].into_iter().collect();
        let opened = frame.hosts.last_mut().into_iter().flat_map(|host| &mut host.openings);
        let matched = frame.matched.iter_mut().map(|(opening, _)| opening);
        let opening = opened.chain(matched).find(|opening| opening.vars.contains(var))?;
        let local = opening.local;
        let vars = opening.vars.iter_mut();
        for old in vars.chain(&mut frame.opened).filter(|old| **old == *var) {
            *old = new.clone();
        }
        let info = &mut frame.locals[local as usize];
        info.ty = info.ty.substitute(&bindings);
        let known = self.item.opened.iter_mut().chain(&mut self.program.sizes);
        known.filter(|old| **old == *var).for_each(|old| *old = new.clone());
        Some(new)
    }

    /// Does `f`; names of sizes that it brings into scope go with it.
    pub(super) fn with_sizes<T>(&mut self, f: impl FnOnce(&mut Self) -> T) -> T {
        let (named, equations) = (self.item.named.len(), self.item.equations.len());
        let result = f(self);
        for (name, old) in self.item.named.split_off(named).into_iter().rev() {
            match old {
                Some(old) => self.item.type_scope.insert(name, old),
                None => self.item.type_scope.remove(&name),
            };
        }
        self.item.equations.truncate(equations);
        result
    }

    /// Makes the inner functions of an item take the opened variables they mention as type parameters,
    /// innermost first. Gives their further type arguments, for what is around them.
    pub(super) fn close_over(&mut self, inner: &mut [(FunctionId, Function)]) -> FurtherArgs {
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

/// Gives closures of inner functions their further type arguments.
pub(super) fn close_term(term: &mut Term, more: &FurtherArgs) {
    if !more.is_empty() {
        visit(term, more, &mut |_| ());
    }
}

/// Type arguments that closures of inner functions have besides those of the item.
pub(super) type FurtherArgs = HashMap<FunctionId, Vec<Type>>;

/// The same, and visits every type.
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
