//! The variables and the functions that a term mentions.

use super::{ClassId, FunctionId, GlobalId, LocalId, Root, Stmt, Term, TermKind};
use std::collections::BTreeSet;

/// The variables and functions that a term mentions.
#[derive(Clone, Debug, Default)]
pub struct FreeVariables {
    /// Locals that are read, captured or stored into.
    pub locals: BTreeSet<LocalId>,
    /// Session variables that are read or stored into.
    pub globals: BTreeSet<GlobalId>,
    /// Functions that are used as values or called.
    pub functions: BTreeSet<FunctionId>,
    /// Methods of classes, by their numbers.
    pub methods: BTreeSet<(ClassId, usize)>,
}

impl FreeVariables {
    /// Returns the variables and functions that a term mentions.
    pub fn by_term(term: &Term) -> FreeVariables {
        let mut found = FreeVariables::default();
        found.term(term);
        found
    }

    /// Returns the variables and functions that a statement mentions.
    pub fn by_stmt(stmt: &Stmt) -> FreeVariables {
        let mut found = FreeVariables::default();
        found.stmt(stmt);
        stmt.for_each_term(&mut |term| found.term(term));
        found
    }

    /// Adds the variables and functions that the term mentions.
    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Local(local) => {
                self.locals.insert(*local);
            }
            TermKind::Global(global) => {
                self.globals.insert(*global);
            }
            TermKind::Closure { function, captures, .. } => {
                self.functions.insert(*function);
                self.locals.extend(captures);
            }
            TermKind::Method { class, method, .. } => {
                self.methods.insert((*class, *method));
            }
            TermKind::Block(stmts, _) => stmts.iter().for_each(|s| self.stmt(s)),
            _ => {}
        }
        term.for_each_child(&mut |child| self.term(child));
    }

    /// Adds the variables that the statement, or one inside, stores into.
    fn stmt(&mut self, stmt: &Stmt) {
        stmt.for_each_stmt(&mut |stmt| match stmt.stores_into() {
            Some(Root::Local(local)) => {
                self.locals.insert(local);
            }
            Some(Root::Global(global)) => {
                self.globals.insert(global);
            }
            None => {}
        });
    }
}
