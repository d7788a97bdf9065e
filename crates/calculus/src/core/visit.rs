//! The parts of terms, statements and patterns, listed once.
//!
//! [`Term::for_each_part`], [`Stmt::for_each_part`] and [`Pat::for_each_part`] call a function on
//! each type, term, pattern, list of statements and local that a construct itself holds, in the
//! order of evaluation. The forms that end in `_mut` pass mutable references. The walks of this
//! file use them, so that a new construct lists its parts only here.

use super::term::{ForRange, LocalId, Pat, PatKind, Root, Step, StepKind, Stmt, StmtKind, Term, TermKind};
use crate::types::Type;

macro_rules! parts {
    ($(#[$doc:meta])* $Part:ident $each:ident $($mutable:ident)?) => {
        $(#[$doc])*
        pub enum $Part<'a> {
            /// A type, other than those of patterns and terms inside.
            Type(&'a $($mutable)? Type),
            /// A term.
            Term(&'a $($mutable)? Term),
            /// A pattern.
            Pat(&'a $($mutable)? Pat),
            /// Statements.
            Body(&'a $($mutable)? Vec<Stmt>),
            /// A local that is read, captured or dropped.
            Use(&'a $($mutable)? LocalId),
            /// A local that is bound.
            Def(&'a $($mutable)? LocalId),
            /// A local that is set or stored into.
            Set(&'a $($mutable)? LocalId),
        }

        impl Term {
            /// Calls `f` on each part of the term.
            pub fn $each<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($Part<'a>)) {
                let Term { kind, ty, span: _ } = self;
                f($Part::Type(ty));
                match kind {
                    TermKind::Int(_)
                    | TermKind::Real(_)
                    | TermKind::Char(_)
                    | TermKind::Str(_)
                    | TermKind::Code(_)
                    | TermKind::Global(_)
                    | TermKind::Error => {}
                    TermKind::Local(local) => f($Part::Use(local)),
                    TermKind::Closure { function: _, type_args, captures } => {
                        for ty in type_args {
                            f($Part::Type(ty));
                        }
                        for local in captures {
                            f($Part::Use(local));
                        }
                    }
                    TermKind::Method { class: _, method: _, type_args } => {
                        for ty in type_args {
                            f($Part::Type(ty));
                        }
                    }
                    TermKind::Call(head, args) => {
                        f($Part::Term(head));
                        for arg in args {
                            f($Part::Term(arg));
                        }
                    }
                    TermKind::Prim(_, type_args, args) => {
                        for ty in type_args {
                            f($Part::Type(ty));
                        }
                        for arg in args {
                            f($Part::Term(arg));
                        }
                    }
                    TermKind::Op(_, args) | TermKind::Tuple(args) | TermKind::Pack(args) => {
                        for arg in args {
                            f($Part::Term(arg));
                        }
                    }
                    TermKind::Build(clauses, body) => {
                        for (local, ty) in clauses {
                            f($Part::Type(ty));
                            f($Part::Def(local));
                        }
                        f($Part::Term(body));
                    }
                    TermKind::PackSizes(sizes, value) => {
                        for size in sizes {
                            f($Part::Type(size));
                        }
                        f($Part::Term(value));
                    }
                    TermKind::Component(a, _)
                    | TermKind::Factor(a, _)
                    | TermKind::Inject(_, a)
                    | TermKind::Reshape(a)
                    | TermKind::ToCode(a)
                    | TermKind::FromCode(a)
                    | TermKind::Convert(a)
                    | TermKind::Here(a)
                    | TermKind::Restrict(a)
                    | TermKind::Move(a) => f($Part::Term(a)),
                    TermKind::At(places, body) => {
                        f($Part::Type(places));
                        f($Part::Term(body));
                    }
                    TermKind::Index(a, b) | TermKind::Digit(a, b) => {
                        f($Part::Term(a));
                        f($Part::Term(b));
                    }
                    TermKind::If(a, b, c) => {
                        f($Part::Term(a));
                        f($Part::Term(b));
                        f($Part::Term(c));
                    }
                    TermKind::Match(scrutinee, arms) => {
                        f($Part::Term(scrutinee));
                        for arm in arms {
                            f($Part::Pat(& $($mutable)? arm.pattern));
                            if let Some(guard) = & $($mutable)? arm.guard {
                                f($Part::Term(guard));
                            }
                            f($Part::Term(& $($mutable)? arm.body));
                        }
                    }
                    TermKind::Block(stmts, value) => {
                        f($Part::Body(stmts));
                        if let Some(value) = value {
                            f($Part::Term(value));
                        }
                    }
                }
            }
        }

        impl Stmt {
            /// Calls `f` on each part of the statement, not on those of statements inside.
            pub fn $each<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($Part<'a>)) {
                match & $($mutable)? self.kind {
                    StmtKind::Let(pat, value) => {
                        f($Part::Term(value));
                        f($Part::Pat(pat));
                    }
                    StmtKind::SetLocal(local, value) => {
                        f($Part::Term(value));
                        f($Part::Set(local));
                    }
                    StmtKind::SetGlobal(_, value) | StmtKind::Expr(value) | StmtKind::Return(value) => {
                        f($Part::Term(value));
                    }
                    StmtKind::Store { root, root_ty, path, value } => {
                        f($Part::Type(root_ty));
                        for Step { kind, from, to } in path {
                            f($Part::Type(from));
                            f($Part::Type(to));
                            if let StepKind::Index(term) | StepKind::Digit(term) = kind {
                                f($Part::Term(term));
                            }
                        }
                        f($Part::Term(value));
                        if let Root::Local(local) = root {
                            f($Part::Set(local));
                        }
                    }
                    StmtKind::Open { vars: _, local, value } => {
                        f($Part::Term(value));
                        f($Part::Def(local));
                    }
                    StmtKind::Require { left, right, solve: _ } => {
                        f($Part::Type(left));
                        f($Part::Type(right));
                    }
                    StmtKind::Drop(locals) => {
                        for local in locals {
                            f($Part::Use(local));
                        }
                    }
                    StmtKind::If(condition, then, otherwise) => {
                        f($Part::Term(condition));
                        f($Part::Body(then));
                        f($Part::Body(otherwise));
                    }
                    StmtKind::Match(scrutinee, arms) => {
                        f($Part::Term(scrutinee));
                        for (pat, guard, body) in arms {
                            f($Part::Pat(pat));
                            if let Some(guard) = guard {
                                f($Part::Term(guard));
                            }
                            f($Part::Body(body));
                        }
                    }
                    StmtKind::For(local, range, body) => {
                        match range {
                            ForRange::All(ty) => f($Part::Type(ty)),
                            ForRange::Ints { low, high, inclusive: _ } => {
                                f($Part::Term(low));
                                f($Part::Term(high));
                            }
                            ForRange::Elements(array) => f($Part::Term(array)),
                        }
                        f($Part::Def(local));
                        f($Part::Body(body));
                    }
                    StmtKind::While(condition, body) => {
                        f($Part::Term(condition));
                        f($Part::Body(body));
                    }
                    StmtKind::Break | StmtKind::Continue => {}
                }
            }
        }

        impl Pat {
            /// Calls `f` on each part of the pattern.
            pub fn $each<'a>(&'a $($mutable)? self, f: &mut dyn FnMut($Part<'a>)) {
                let Pat { kind, ty, span: _ } = self;
                f($Part::Type(ty));
                match kind {
                    PatKind::Wild
                    | PatKind::Int(_)
                    | PatKind::Real(_)
                    | PatKind::Char(_)
                    | PatKind::Ints(..)
                    | PatKind::Chars(..)
                    | PatKind::Str(_)
                    | PatKind::Code(_)
                    | PatKind::Case(_, None) => {}
                    PatKind::Bind(local) => f($Part::Def(local)),
                    PatKind::As(inner, local) => {
                        f($Part::Def(local));
                        f($Part::Pat(inner));
                    }
                    PatKind::Tuple(parts) | PatKind::Pack(parts) | PatKind::Or(parts) => {
                        for part in parts {
                            f($Part::Pat(part));
                        }
                    }
                    PatKind::Case(_, Some(inner)) | PatKind::Reshape(inner) => f($Part::Pat(inner)),
                    PatKind::Coarray(index, argument) => {
                        f($Part::Pat(index));
                        f($Part::Pat(argument));
                    }
                }
            }
        }
    };
}

parts! {
    /// A part of a term, a statement or a pattern.
    Part for_each_part
}
parts! {
    /// A part of a term, a statement or a pattern, mutable.
    PartMut for_each_part_mut mut
}

impl Term {
    /// Calls `f` on each direct sub-term, those of statements inside included.
    pub fn for_each_child<'a>(&'a self, f: &mut dyn FnMut(&'a Term)) {
        self.for_each_part(&mut |part| match part {
            Part::Term(term) => f(term),
            Part::Body(stmts) => stmts.iter().for_each(|stmt| stmt.for_each_term(f)),
            _ => {}
        });
    }

    /// Calls `f` on each direct sub-term, those of statements inside included, as mutable
    /// references.
    pub fn for_each_child_mut(&mut self, f: &mut dyn FnMut(&mut Term)) {
        self.for_each_part_mut(&mut |part| match part {
            PartMut::Term(term) => f(term),
            PartMut::Body(stmts) => stmts.iter_mut().for_each(|stmt| stmt.for_each_term_mut(f)),
            _ => {}
        });
    }
}

impl Stmt {
    /// Returns the variable that the statement itself sets or stores into.
    pub fn stores_into(&self) -> Option<Root> {
        match &self.kind {
            StmtKind::SetLocal(local, _) => Some(Root::Local(*local)),
            StmtKind::SetGlobal(global, _) => Some(Root::Global(*global)),
            StmtKind::Store { root, .. } => Some(*root),
            _ => None,
        }
    }

    /// Calls `f` on this statement, then on those nested in it; not on those inside terms.
    pub fn for_each_stmt<'a>(&'a self, f: &mut dyn FnMut(&'a Stmt)) {
        f(self);
        self.for_each_part(&mut |part| {
            if let Part::Body(stmts) = part {
                stmts.iter().for_each(|stmt| stmt.for_each_stmt(f));
            }
        });
    }

    /// Calls `f` on each direct term, those of nested statements included.
    pub fn for_each_term<'a>(&'a self, f: &mut dyn FnMut(&'a Term)) {
        self.for_each_part(&mut |part| match part {
            Part::Term(term) => f(term),
            Part::Body(stmts) => stmts.iter().for_each(|stmt| stmt.for_each_term(f)),
            _ => {}
        });
    }

    /// Calls `f` on each direct term, those of nested statements included, as mutable references.
    pub fn for_each_term_mut(&mut self, f: &mut dyn FnMut(&mut Term)) {
        self.for_each_part_mut(&mut |part| match part {
            PartMut::Term(term) => f(term),
            PartMut::Body(stmts) => stmts.iter_mut().for_each(|stmt| stmt.for_each_term_mut(f)),
            _ => {}
        });
    }

    /// Calls `f` on each type that this statement or a nested one holds, and on those of patterns;
    /// not on those of terms.
    pub fn for_each_type_mut(&mut self, f: &mut dyn FnMut(&mut Type)) {
        self.for_each_part_mut(&mut |part| match part {
            PartMut::Type(ty) => f(ty),
            PartMut::Pat(pat) => pat.for_each_type_mut(f),
            PartMut::Body(stmts) => stmts.iter_mut().for_each(|stmt| stmt.for_each_type_mut(f)),
            _ => {}
        });
    }
}

impl Pat {
    /// Calls `f` on the type of this pattern and those inside it.
    pub fn for_each_type_mut(&mut self, f: &mut dyn FnMut(&mut Type)) {
        self.for_each_part_mut(&mut |part| match part {
            PartMut::Type(ty) => f(ty),
            PartMut::Pat(pat) => pat.for_each_type_mut(f),
            _ => {}
        });
    }

    /// Calls `f` on the locals that it binds.
    pub fn for_each_local(&self, f: &mut dyn FnMut(LocalId)) {
        self.for_each_part(&mut |part| match part {
            Part::Def(local) => f(*local),
            Part::Pat(pat) => pat.for_each_local(f),
            _ => {}
        });
    }

    /// Calls `f` on the locals that it binds, as mutable references.
    pub fn for_each_local_mut(&mut self, f: &mut dyn FnMut(&mut LocalId)) {
        self.for_each_part_mut(&mut |part| match part {
            PartMut::Def(local) => f(local),
            PartMut::Pat(pat) => pat.for_each_local_mut(f),
            _ => {}
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Part, PartMut};
    use crate::core::testing::{local, stmt, term};
    use crate::core::{
        Arm, ForRange, FunctionId, LocalId, Pat, PatKind, Root, Step, StepKind, StmtKind, Term, TermKind,
    };
    use crate::source::Span;
    use crate::types::{Kind, Type, TypeVar};

    fn bind(id: usize) -> Pat {
        Pat { kind: PatKind::Bind(LocalId::new(id)), ty: Type::int(), span: Span::default() }
    }

    /// Makes a term that mentions the locals from 0 on, each once and in the order of evaluation.
    fn sample() -> Term {
        let captures = vec![LocalId::new(0), LocalId::new(1)];
        let closure = term(TermKind::Closure { function: FunctionId::new(0), type_args: vec![], captures });
        let call = term(TermKind::Call(Box::new(closure), vec![local(2), local(3)]));
        let step = |kind| Step { kind, from: Type::int(), to: Type::int() };
        let path = vec![step(StepKind::Index(local(5))), step(StepKind::Digit(local(6)))];
        let root = Root::Local(LocalId::new(8));
        let arm = Arm { pattern: bind(12), guard: Some(local(13)), body: local(14) };
        let pattern = PatKind::As(Box::new(bind(16)), LocalId::new(15));
        let pattern = Pat { kind: pattern, ty: Type::int(), span: Span::default() };
        let range = ForRange::Ints { low: local(17), high: local(18), inclusive: true };
        let var = TypeVar { id: 1_001, name: "K".into(), kind: Kind::Compact };
        let stmts = vec![
            stmt(StmtKind::Let(bind(4), call)),
            stmt(StmtKind::Store { root, root_ty: Type::int(), path, value: local(7) }),
            stmt(StmtKind::Open { vars: vec![var], local: LocalId::new(10), value: local(9) }),
            stmt(StmtKind::Expr(term(TermKind::Match(Box::new(local(11)), vec![arm])))),
            stmt(StmtKind::Match(
                term(TermKind::Code(0u32.into())),
                vec![(pattern, None, vec![stmt(StmtKind::For(LocalId::new(19), range, Vec::new()))])],
            )),
            stmt(StmtKind::If(local(20), vec![stmt(StmtKind::Drop(vec![LocalId::new(21)]))], Vec::new())),
            stmt(StmtKind::While(local(22), vec![stmt(StmtKind::SetLocal(LocalId::new(24), local(23)))])),
            stmt(StmtKind::Return(term(TermKind::Build(
                vec![(LocalId::new(25), Type::bool())],
                Box::new(local(26)),
            )))),
        ];
        term(TermKind::Block(stmts, Some(Box::new(term(TermKind::Tuple(vec![local(27), local(28)]))))))
    }

    /// The number of locals of the sample.
    const COUNT: usize = 29;

    fn locals(part: Part<'_>, found: &mut Vec<usize>) {
        match part {
            Part::Use(local) | Part::Def(local) | Part::Set(local) => found.push(local.index()),
            Part::Term(term) => term.for_each_part(&mut |part| locals(part, found)),
            Part::Pat(pat) => pat.for_each_part(&mut |part| locals(part, found)),
            Part::Body(stmts) => {
                stmts.iter().for_each(|stmt| stmt.for_each_part(&mut |part| locals(part, found)));
            }
            Part::Type(_) => {}
        }
    }

    fn add_hundred(part: PartMut<'_>) {
        match part {
            PartMut::Use(local) | PartMut::Def(local) | PartMut::Set(local) => {
                *local = LocalId::new(local.index() + 100);
            }
            PartMut::Term(term) => term.for_each_part_mut(&mut add_hundred),
            PartMut::Pat(pat) => pat.for_each_part_mut(&mut add_hundred),
            PartMut::Body(stmts) => {
                stmts.iter_mut().for_each(|stmt| stmt.for_each_part_mut(&mut add_hundred));
            }
            PartMut::Type(_) => {}
        }
    }

    #[test]
    fn parts_come_in_the_order_of_evaluation() {
        let (sample, mut found) = (sample(), Vec::new());
        locals(Part::Term(&sample), &mut found);
        assert_eq!(found, (0..COUNT).collect::<Vec<_>>());
    }

    /// The two walks list the same parts.
    #[test]
    fn what_one_walk_changes_the_other_one_reads() {
        let (mut sample, mut found) = (sample(), Vec::new());
        add_hundred(PartMut::Term(&mut sample));
        locals(Part::Term(&sample), &mut found);
        assert_eq!(found, (100..100 + COUNT).collect::<Vec<_>>());
    }

    /// The terms of nested statements are children of the term that holds them.
    #[test]
    fn children_are_the_terms_of_nested_statements_too() {
        fn reads(term: &Term, found: &mut Vec<usize>) {
            if let TermKind::Local(local) = term.kind {
                found.push(local.index());
            }
            term.for_each_child(&mut |child| reads(child, found));
        }
        let mut found = Vec::new();
        reads(&sample(), &mut found);
        assert_eq!(found, [2, 3, 5, 6, 7, 9, 11, 13, 14, 17, 18, 20, 22, 23, 26, 27, 28]);
    }

    #[test]
    fn nested_statements_follow_the_one_that_holds_them() {
        let TermKind::Block(stmts, _) = sample().kind else { panic!("a block") };
        let mut stored = Vec::new();
        stmts.iter().for_each(|stmt| stmt.for_each_stmt(&mut |stmt| stored.extend(stmt.stores_into())));
        assert_eq!(stored, [8, 24].map(|id| Root::Local(LocalId::new(id))));
    }
}
