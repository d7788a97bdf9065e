//! Terms and statements of core for unit tests: of type `int`, without a place in a text.

use super::{LocalId, Stmt, StmtKind, Term, TermKind};
use crate::source::Span;
use crate::types::Type;

/// Makes a term of type `int`.
pub fn term(kind: TermKind) -> Term {
    Term::new(kind, Type::int(), Span::default())
}

/// Makes a read of a local.
pub fn local(id: usize) -> Term {
    term(TermKind::Local(LocalId::new(id)))
}

/// Makes a statement.
pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt { kind, span: Span::default() }
}
