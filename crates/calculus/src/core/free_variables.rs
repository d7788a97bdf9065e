//! The variables and the functions that a term mentions, and the variables that a loop changes.

use super::visit::Part;
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
        found
    }

    /// Adds the variables and functions that the term mentions.
    fn term(&mut self, term: &Term) {
        match &term.kind {
            TermKind::Global(global) => {
                self.globals.insert(*global);
            }
            TermKind::Closure { function, .. } => {
                self.functions.insert(*function);
            }
            TermKind::Method { class, method, .. } => {
                self.methods.insert((*class, *method));
            }
            _ => {}
        }
        term.for_each_part(&mut |part| self.part(part));
    }

    /// Adds the variables and functions that the statement mentions. To drop a variable is not to
    /// mention it.
    fn stmt(&mut self, stmt: &Stmt) {
        if let StmtKind::Drop(_) = stmt.kind {
            return;
        }
        if let Some(Root::Global(global)) = stmt.stores_into() {
            self.globals.insert(global);
        }
        stmt.for_each_part(&mut |part| self.part(part));
    }

    fn part(&mut self, part: Part<'_>) {
        match part {
            Part::Use(local) | Part::Set(local) => {
                self.locals.insert(*local);
            }
            Part::Term(term) => self.term(term),
            Part::Body(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt)),
            Part::Type(_) | Part::Pat(_) | Part::Def(_) => {}
        }
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
        stmt.for_each_part(&mut |part| bind(&part, own));
    });
}

/// The same for the statements inside a term.
fn inside(term: &Term, found: &mut Vec<Root>, own: &mut BTreeSet<LocalId>) {
    term.for_each_part(&mut |part| {
        bind(&part, own);
        match part {
            Part::Term(child) => inside(child, found, own),
            Part::Body(stmts) => {
                stmts.iter().for_each(|stmt| collect(stmt, found, own));
                stmts.iter().for_each(|stmt| stmt.for_each_term(&mut |term| inside(term, found, own)));
            }
            _ => {}
        }
    });
}

/// Adds the locals that a part binds.
fn bind(part: &Part<'_>, own: &mut BTreeSet<LocalId>) {
    match part {
        Part::Def(local) => {
            own.insert(**local);
        }
        Part::Pat(pat) => pat.for_each_local(&mut |local| {
            own.insert(local);
        }),
        _ => {}
    }
}
