//! Variables that belong to a round of a loop, by definite assignment, and the labels that statements
//! leave.

use crate::hash::{HashMap, HashSet};
use crate::loop_ir::{Kernel, Label, Op, Stmt, Var, for_each_stmt};

/// The variables of a round: those that each round of a loop sets before it reads them, and nobody
/// else reads. `None` if a round leaves the loop.
pub(super) fn private_variables(kernel: &Kernel, body: &[Stmt]) -> Option<HashSet<Var>> {
    if !escapes(body).is_empty() {
        return None;
    }
    let reads_in = |body: &[Stmt]| {
        let mut reads = HashMap::<Var, usize>::default();
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Let(_, Op::Get(var)) = stmt {
                *reads.entry(*var).or_default() += 1;
            }
        });
        reads
    };
    let mut vars = set_variables(body);
    let (all, reads) = (reads_in(&kernel.body), reads_in(body));
    vars.retain(|var| all.get(var) == reads.get(var));
    let mut assignment = Assignment { left: HashMap::default(), unassigned: HashSet::default() };
    assignment.stmts(body, &mut Some(HashSet::default()));
    Some(&vars - &assignment.unassigned)
}

/// The variables that statements set.
pub(super) fn set_variables(body: &[Stmt]) -> HashSet<Var> {
    let mut vars = HashSet::default();
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Set(var, _) = stmt {
            vars.insert(*var);
        }
    });
    vars
}

/// Labels that statements leave, or go on with, and that are not theirs.
pub(super) fn escapes(stmts: &[Stmt]) -> HashSet<Label> {
    let (mut used, mut own) = (HashSet::default(), HashSet::default());
    for_each_stmt(stmts, &mut |stmt| match stmt {
        Stmt::Break(label) | Stmt::Continue(label) => drop(used.insert(*label)),
        Stmt::For { label, .. } | Stmt::Loop(label, _) | Stmt::Block(label, _) => drop(own.insert(*label)),
        _ => {}
    });
    &used - &own
}

/// Variables that are certainly set; `None` where control does not come.
type Assigned = Option<HashSet<Var>>;

fn meet(a: Assigned, b: Assigned) -> Assigned {
    match (a, b) {
        (Some(a), Some(b)) => Some(&a & &b),
        (a, b) => a.or(b),
    }
}

/// Definite assignment (*The Java Language Specification*, chapter 16) in the body of a loop.
struct Assignment {
    /// The variables that are set where a construct is left.
    left: HashMap<Label, Assigned>,
    /// The variables that may be read first.
    unassigned: HashSet<Var>,
}

impl Assignment {
    fn stmts(&mut self, stmts: &[Stmt], now: &mut Assigned) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(_, Op::Get(var)) if now.as_ref().is_some_and(|set| !set.contains(var)) => {
                    self.unassigned.insert(*var);
                }
                Stmt::Set(var, _) => {
                    if let Some(set) = now {
                        set.insert(*var);
                    }
                }
                Stmt::If(_, then, otherwise) => {
                    let mut other = now.clone();
                    self.stmts(then, now);
                    self.stmts(otherwise, &mut other);
                    *now = meet(now.take(), other);
                }
                Stmt::Block(label, body) => {
                    self.stmts(body, now);
                    *now = meet(now.take(), self.left.remove(label).flatten());
                }
                Stmt::For { label, body, .. } => {
                    let mut inside = now.clone();
                    self.stmts(body, &mut inside);
                    *now = meet(now.take(), self.left.remove(label).flatten());
                }
                Stmt::Loop(label, body) => {
                    self.stmts(body, now);
                    *now = self.left.remove(label).flatten();
                }
                Stmt::Break(label) => {
                    let before = self.left.remove(label).flatten();
                    self.left.insert(*label, meet(before, now.take()));
                }
                Stmt::Continue(_) | Stmt::Fail => *now = None,
                _ => {}
            }
        }
    }
}
