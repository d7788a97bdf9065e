//! The variables and the functions that a term mentions, and the variables that a loop changes.

use super::{ClassId, FunctionId, GlobalId, LocalId, Root, Stmt, StmtKind, Term, TermKind};
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
    pub fn of_term(term: &Term) -> FreeVariables {
        let mut found = FreeVariables::default();
        found.term(term);
        found
    }

    /// Returns the variables and functions that a statement mentions.
    pub fn of_stmt(stmt: &Stmt) -> FreeVariables {
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

/// The variables outside of a loop that it changes, in the order they are met.
pub fn modified_variables(stmt: &Stmt) -> Vec<Root> {
    let (mut found, mut own) = (Vec::new(), BTreeSet::new());
    collect(stmt, &mut found, &mut own);
    stmt.for_each_term(&mut |term| inside(term, &mut found, &mut own));
    let mut seen = Vec::new();
    for root in found {
        if !seen.contains(&root) && !matches!(root, Root::Local(local) if own.contains(&local)) {
            seen.push(root);
        }
    }
    seen
}

/// Adds what a statement, and those nested in it, change and bind; without statements inside terms.
fn collect(stmt: &Stmt, found: &mut Vec<Root>, own: &mut BTreeSet<LocalId>) {
    stmt.for_each_stmt(&mut |stmt| {
        found.extend(stmt.stores_into());
        match &stmt.kind {
            StmtKind::Let(pat, _) => pat.for_each_local(&mut |local| {
                own.insert(local);
            }),
            StmtKind::For(local, ..) => {
                own.insert(*local);
            }
            StmtKind::Match(_, arms) => arms.iter().for_each(|(pat, _, _)| {
                pat.for_each_local(&mut |local| {
                    own.insert(local);
                })
            }),
            _ => {}
        }
    });
}

/// The same for the statements inside a term.
fn inside(term: &Term, found: &mut Vec<Root>, own: &mut BTreeSet<LocalId>) {
    match &term.kind {
        TermKind::Block(stmts, _) => stmts.iter().for_each(|stmt| collect(stmt, found, own)),
        TermKind::Match(_, arms) => arms.iter().for_each(|arm| {
            arm.pattern.for_each_local(&mut |local| {
                own.insert(local);
            })
        }),
        _ => {}
    }
    term.for_each_child(&mut |child| inside(child, found, own));
}
