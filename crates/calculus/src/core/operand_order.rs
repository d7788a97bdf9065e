//! Operands of an assignment that reads its variable several times, put in an order in which the
//! last read is the one that changes the value.
//!
//! `d = put (d, k, get (d, k) + 1)` reads `d` as an operand, and in a later operand. Operands are
//! evaluated from left to right, so the first read holds the value while the second one reads it,
//! and `put` copies what is shared. Here the operands that compute, up to the last one that reads
//! the variable, are bound to locals of their own in front of the call; then the operand that is the
//! variable is its last read, and moves the value ([`super::last_use`]).
//!
//! **Why nothing changes.** Operands that compute keep their order, and none of them assigns the
//! variable. Literals, and reads of variables, are the same before and after.
//!
//! Takes statements and the locals of their body, which it adds to. Costs time in proportion to the
//! terms, times their depth in calls that are assigned to a variable which they read.

use super::{
    Function, LocalId, LocalInfo, Pat, PatKind, Root, Step, StepKind, Stmt, StmtKind, Term, TermKind,
};

/// Orders the operands of the assignments of a function.
pub fn order_in_function(function: &mut Function) {
    let mut locals = std::mem::take(&mut function.locals);
    order_in_term(&mut function.body, &mut locals);
    function.locals = locals;
}

/// Orders the operands of the assignments of statements with these locals.
pub fn order_in_statements(stmts: &mut [Stmt], locals: &mut Vec<LocalInfo>) {
    for stmt in stmts {
        order_in_statement(stmt, locals);
    }
}

fn order_in_term(term: &mut Term, locals: &mut Vec<LocalInfo>) {
    if let TermKind::Block(stmts, value) = &mut term.kind {
        order_in_statements(stmts, locals);
        value.iter_mut().for_each(|value| order_in_term(value, locals));
        return;
    }
    term.for_each_child_mut(&mut |child| order_in_term(child, locals));
}

fn order_in_statement(stmt: &mut Stmt, locals: &mut Vec<LocalInfo>) {
    match &mut stmt.kind {
        StmtKind::SetLocal(local, value) => order_operands(value, &(Root::Local(*local), &[]), locals),
        StmtKind::SetGlobal(global, value) => order_operands(value, &(Root::Global(*global), &[]), locals),
        StmtKind::Store { root, path, value, .. } => order_operands(value, &(*root, path), locals),
        _ => {}
    }
    stmt.for_each_part_mut(&mut |part| match part {
        super::visit::PartMut::Term(term) => order_in_term(term, locals),
        super::visit::PartMut::Body(stmts) => order_in_statements(stmts, locals),
        _ => {}
    });
}

/// A variable, and the components to a part of it that is assigned.
type Place<'a> = (Root, &'a [Step]);

/// Binds the operands of a call that compute, up to the last one that reads the variable, if an
/// earlier operand is the place that is assigned.
fn order_operands(value: &mut Term, place: &Place<'_>, locals: &mut Vec<LocalInfo>) {
    let operands = match &mut value.kind {
        TermKind::Call(head, operands) if is_named_function(head) => operands,
        TermKind::Prim(_, _, operands) => operands,
        _ => return,
    };
    let Some(first) = operands.iter().position(|operand| is_place(operand, place)) else { return };
    let reads = |operand: &Term| !is_plain(operand) && mentions(operand, place.0);
    let Some(last) = operands.iter().rposition(reads).filter(|last| *last > first) else { return };
    let mut bound = Vec::new();
    for operand in operands[..=last].iter_mut().filter(|operand| !is_plain(operand)) {
        let (ty, span) = (operand.ty.clone(), operand.span);
        let local = LocalId::new(locals.len());
        locals.push(LocalInfo { name: "operand".into(), ty: ty.clone(), shared: false });
        let read = Term::new(TermKind::Local(local), ty.clone(), span);
        let computed = std::mem::replace(operand, read);
        let pattern = Pat { kind: PatKind::Bind(local), ty, span };
        bound.push(Stmt { kind: StmtKind::Let(pattern, computed), span });
    }
    let (ty, span) = (value.ty.clone(), value.span);
    let call = std::mem::replace(value, Term::unit(span));
    *value = Term::new(TermKind::Block(bound, Some(Box::new(call))), ty, span);
}

/// Returns true for a function that is called by its name, without captures.
fn is_named_function(head: &Term) -> bool {
    match &head.kind {
        TermKind::Closure { captures, .. } => captures.is_empty(),
        TermKind::Method { .. } => true,
        _ => false,
    }
}

/// The variable that a term reads, or reads a component of.
fn read_root(term: &Term) -> Option<Root> {
    match &term.kind {
        TermKind::Local(local) => Some(Root::Local(*local)),
        TermKind::Global(global) => Some(Root::Global(*global)),
        TermKind::Component(base, _) => read_root(base),
        _ => None,
    }
}

/// Returns true for a literal, and for the read of a variable or a component of one.
fn is_plain(term: &Term) -> bool {
    use TermKind::{Char, Code, Int, Real, Str};
    read_root(term).is_some() || matches!(term.kind, Int(_) | Real(_) | Char(_) | Str(_) | Code(_))
}

/// Returns true for the read of a place.
fn is_place(term: &Term, (root, path): &Place<'_>) -> bool {
    match (path, &term.kind) {
        ([], TermKind::Local(local)) => *root == Root::Local(*local),
        ([], TermKind::Global(global)) => *root == Root::Global(*global),
        ([path @ .., last], TermKind::Component(base, i)) => {
            matches!(&last.kind, StepKind::Component(step) if step == i) && is_place(base, &(*root, path))
        }
        _ => false,
    }
}

/// Returns true if a term reads a variable.
fn mentions(term: &Term, root: Root) -> bool {
    let mut waiting = vec![term];
    while let Some(term) = waiting.pop() {
        let captured = match &term.kind {
            TermKind::Closure { captures, .. } => captures.iter().any(|local| Root::Local(*local) == root),
            _ => false,
        };
        if captured || read_root(term) == Some(root) {
            return true;
        }
        term.for_each_child(&mut |child| waiting.push(child));
    }
    false
}
