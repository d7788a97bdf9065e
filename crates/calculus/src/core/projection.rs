//! Endpoint projection: the part of a program that one party runs.
//!
//! Takes core of a program that several parties run ([`TermKind::At`], types `T @ S`), the number
//! of one of them, and types for the variables in scope; gives core without these forms, which
//! every executor runs (M. Carbone and F. Montesi, *Deadlock-freedom by design: multiparty
//! asynchronous global programming*, POPL 2013).
//!
//! | form | at a party of S | at another |
//! |---|---|---|
//! | the type `T @ S` | `T` | `1` |
//! | `at S { e }` | `e` | `()` |
//! | `at S { e }` that may print | `at S { e }` | `at S { () }` |
//! | a value restricted to S | the value | the value is computed, and `()` |
//! | the value that this place has | the value | does not occur |
//! | an opening of sizes that are known at S | the opening | nothing |
//!
//! Primitives that move data keep their arguments, projected, and their type arguments as they
//! are: an executor computes from these which part of the move is the party's own. Type arguments
//! of functions are not projected either, since the function is projected when it is specialized.
//!
//! Outside `at` all parties execute the same statements in the same order, because conditions there
//! have types without `@`. So projections of one program agree on the sequence of moves.
//!
//! Cost: linear in the core, which is copied.

use super::prim::Effect;
use super::visit::{Part, PartMut};
use super::{Function, LocalInfo, Pat, PatKind, Script, Stmt, StmtKind, Term, TermKind};
use crate::hash::HashMap;
use crate::types::{PlaceSet, Type, TypeKind};
use std::cell::RefCell;

/// The projection for one party.
pub struct Projection<'a> {
    /// The number of the party.
    pub me: usize,
    /// Replaces type variables by what is known of them.
    pub concrete: &'a dyn Fn(&Type) -> Type,
    /// The places at which sizes are known, for those that are not known everywhere.
    pub sizes: &'a HashMap<u32, Type>,
    /// The sizes among them that a statement before, of this block or one around it, has told to
    /// all parties.
    revealed: RefCell<Vec<u32>>,
}

impl Function {
    /// Returns true if the function mentions places: its projections may differ from it.
    pub fn mentions_places(&self) -> bool {
        self.domain.is_spread() || locals_mention_places(&self.locals) || self.body.mentions_places()
    }
}

impl Script {
    /// Returns true if the script mentions places: its projections may differ from it.
    pub fn mentions_places(&self) -> bool {
        let statements = || self.body.iter().any(Stmt::mentions_places);
        locals_mention_places(&self.locals)
            || statements()
            || self.result.as_ref().is_some_and(Term::mentions_places)
    }
}

/// Returns true if the type of a local mentions places.
fn locals_mention_places(locals: &[LocalInfo]) -> bool {
    locals.iter().any(|local| local.ty.is_spread())
}

/// Returns true if a part of a term, statement or pattern mentions places.
fn part_mentions_places(part: Part<'_>) -> bool {
    match part {
        Part::Type(ty) => ty.is_spread(),
        Part::Term(term) => term.mentions_places(),
        Part::Body(stmts) => stmts.iter().any(Stmt::mentions_places),
        Part::Pat(pat) => pat.ty.is_spread(),
        Part::Use(_) | Part::Def(_) | Part::Set(_) => false,
    }
}

impl Term {
    /// Returns true if the term may print: it calls a procedure.
    fn may_print(&self) -> bool {
        let own = match &self.kind {
            TermKind::Prim(prim, ..) => prim.effect() == Effect::Output,
            TermKind::Call(head, _) => matches!(head.ty.kind(), TypeKind::Procedure(_)),
            _ => false,
        };
        let mut found = own;
        if !found {
            self.for_each_child(&mut |child| found = found || child.may_print());
        }
        found
    }

    /// Returns true if the term mentions places.
    fn mentions_places(&self) -> bool {
        let own = matches!(self.kind, TermKind::At(..) | TermKind::Here(_) | TermKind::Restrict(_))
            || matches!(self.kind, TermKind::Prim(prim, ..) if prim.names_places());
        let mut found = own;
        if !found {
            self.for_each_part(&mut |part| found = found || part_mentions_places(part));
        }
        found
    }
}

impl Stmt {
    /// Returns true if the statement mentions places.
    fn mentions_places(&self) -> bool {
        let mut found = false;
        self.for_each_part(&mut |part| found = found || part_mentions_places(part));
        found
    }
}

impl<'a> Projection<'a> {
    /// Returns the projection to a party, by its number.
    pub fn new(
        me: usize,
        concrete: &'a dyn Fn(&Type) -> Type,
        sizes: &'a HashMap<u32, Type>,
    ) -> Projection<'a> {
        Projection { me, concrete, sizes, revealed: RefCell::default() }
    }
}

impl Projection<'_> {
    /// Returns the projection of a function.
    pub fn function(&self, function: &Function) -> Function {
        let mut function = function.clone();
        self.locals(&mut function.locals);
        function.domain = self.ty(&function.domain);
        self.term(&mut function.body);
        function
    }

    /// Returns the projection of a script.
    pub fn script(&self, script: &Script) -> Script {
        let mut script = script.clone();
        self.locals(&mut script.locals);
        self.stmts(&mut script.body);
        script.result.iter_mut().for_each(|term| self.term(term));
        script
    }

    /// Returns the projection of a type.
    pub fn ty(&self, ty: &Type) -> Type {
        (self.concrete)(ty).endpoint_projection(self.me)
    }

    /// Returns a type argument of a function. A size that is known elsewhere only, which this
    /// party's part of the function does not mention, is 1. A size that the session has opened
    /// here before is no variable anymore.
    fn argument(&self, ty: &Type) -> Type {
        let ty = (self.concrete)(ty);
        let mut elsewhere: HashMap<u32, Type> = HashMap::default();
        ty.for_each_var(&mut |var| {
            let elsewhere_only = |places| !self.is_among(places) && !self.revealed.borrow().contains(&var.id);
            if self.sizes.get(&var.id).is_some_and(elsewhere_only) {
                elsewhere.insert(var.id, Type::unit());
            }
        });
        ty.substitute(&elsewhere)
    }

    /// Projects the types of locals.
    fn locals(&self, locals: &mut [LocalInfo]) {
        locals.iter_mut().for_each(|local| local.ty = self.ty(&local.ty));
    }

    /// Returns true if this party is one of the places.
    fn is_among(&self, places: &Type) -> bool {
        let set: Option<PlaceSet> = (self.concrete)(places).as_places();
        set.expect("the places of a specialized function are known").contains(self.me)
    }

    /// Projects a part.
    fn part(&self, part: PartMut<'_>) {
        match part {
            PartMut::Type(ty) => *ty = self.ty(ty),
            PartMut::Term(term) => self.term(term),
            PartMut::Pat(pat) => self.pattern(pat),
            PartMut::Body(stmts) => self.block(|this| this.stmts(stmts)),
            PartMut::Use(_) | PartMut::Def(_) | PartMut::Set(_) => {}
        }
    }

    /// Projects a block: what it tells of sizes is known to its end.
    fn block(&self, project: impl FnOnce(&Self)) {
        let before = self.revealed.borrow().len();
        project(self);
        self.revealed.borrow_mut().truncate(before);
    }

    /// Projects a pattern.
    fn pattern(&self, pat: &mut Pat) {
        pat.for_each_part_mut(&mut |part| self.part(part));
    }

    /// Projects a term.
    fn term(&self, term: &mut Term) {
        let span = term.span;
        match &mut term.kind {
            TermKind::At(places, body) => {
                // What is printed at a place is told apart from what all print, and has its
                // position in the output of all: so the work remains for every party.
                let prints = body.may_print();
                let mut own = std::mem::replace(&mut **body, Term::unit(span));
                if !self.is_among(places) {
                    own = Term::unit(span);
                }
                self.term(&mut own);
                let ty = own.ty.clone();
                *term = if prints {
                    Term::new(TermKind::At((self.concrete)(places), Box::new(own)), ty, span)
                } else {
                    own
                };
                return;
            }
            TermKind::Block(stmts, value) => {
                self.block(|this| {
                    this.stmts(stmts);
                    value.iter_mut().for_each(|value| this.term(value));
                });
                term.ty = self.ty(&term.ty);
                return;
            }
            TermKind::Here(inner) => {
                *term = std::mem::replace(&mut **inner, Term::unit(span));
                return self.term(term);
            }
            TermKind::Restrict(inner) => {
                let mut inner = std::mem::replace(&mut **inner, Term::unit(span));
                let ty = (self.concrete)(&term.ty);
                let (_, places) = ty.as_placed().expect("a restricted value is placed");
                let kept = self.is_among(places);
                self.term(&mut inner);
                *term = match (kept, &inner.kind) {
                    (true, _) => inner,
                    (false, TermKind::Local(_) | TermKind::Global(_) | TermKind::Code(_)) => Term::unit(span),
                    (false, _) => {
                        let value = Stmt { kind: StmtKind::Expr(inner), span };
                        let unit = Box::new(Term::unit(span));
                        Term::new(TermKind::Block(vec![value], Some(unit)), Type::unit(), span)
                    }
                };
                return;
            }
            _ => {}
        }
        let unprojected = unprojected_arguments(&mut term.kind).map(|args| {
            args.iter_mut().for_each(|ty| *ty = self.argument(ty));
            args.clone()
        });
        term.for_each_part_mut(&mut |part| self.part(part));
        if let (Some(args), Some(before)) = (unprojected_arguments(&mut term.kind), unprojected) {
            *args = before;
        }
    }

    /// Projects statements.
    fn stmts(&self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            if let StmtKind::Open { vars, local, value } = &mut stmt.kind {
                match (self.concrete)(&value.ty).as_placed() {
                    Some((_, places)) if !self.is_among(places) => {
                        let (span, local) = (value.span, *local);
                        let pat = Pat { kind: PatKind::Bind(local), ty: Type::unit(), span };
                        let value = std::mem::replace(value, Term::unit(span));
                        stmt.kind = StmtKind::Let(pat, value);
                    }
                    Some(_) => {}
                    None => self.revealed.borrow_mut().extend(vars.iter().map(|var| var.id)),
                }
            }
            stmt.for_each_part_mut(&mut |part| self.part(part));
        }
    }
}

/// Returns the type arguments that a projection keeps: functions are projected when they are
/// specialized, and moves compute from places.
fn unprojected_arguments(kind: &mut TermKind) -> Option<&mut Vec<Type>> {
    match kind {
        TermKind::Closure { type_args, .. } | TermKind::Method { type_args, .. } => Some(type_args),
        TermKind::Prim(prim, type_args, _) if prim.names_places() => Some(type_args),
        _ => None,
    }
}
