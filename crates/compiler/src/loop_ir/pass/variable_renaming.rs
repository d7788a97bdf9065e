//! Variable renaming: each loop has variables of its own for what its rounds set and read again.
//!
//! ```text
//! for i < n                        for i < n
//!   v := a[i]                        v0 := a[i]
//!   b[i] <- v                        b[i] <- v0
//! for j < m                  =>    for j < m
//!   if j < k: v := c[j]              if j < k: v1 := c[j]
//!   else: v := 0                     else: v1 := 0
//!   d[j] <- v                        d[j] <- v1
//! ```
//!
//! Loops that are cut have copies of their bodies, which share variables. Where the choice of one
//! copy is known its reads are gone, but what it sets is read by another copy; and a variable that
//! is read after a loop keeps that from going by vectors. With a variable for each web of sets and
//! the reads that they reach (Muchnick, *Advanced Compiler Design and Implementation*, 16.3.3) both
//! are seen by counting reads.
//!
//! **Method.** A read is local if the same list of statements, or one around it, has set the
//! variable before on all paths, and nothing in between may set it. Where all reads of a variable
//! are local, no set in a loop reaches a read outside, nor one of a later round: so the variable
//! has another name in each innermost loop that sets it.
//!
//! Costs time in proportion to the statements.

use super::super::visit::PartMut;
use super::super::{Kernel, Op, Stmt, Var};
use super::{assigned_vars, rewrite};
use crate::hash::{HashMap, HashSet};

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut exposed = HashSet::default();
    expose(&kernel.body, &mut HashSet::default(), &mut exposed);
    // The variables that rounds of several loops set, or rounds of a loop and others.
    let mut setters: HashMap<Var, HashSet<usize>> = HashMap::default();
    count_setters(&kernel.body, 0, &mut 0, &mut setters);
    let renamed: HashSet<Var> = setters
        .into_iter()
        .filter(|(var, setters)| setters.len() > 1 && !exposed.contains(var))
        .map(|(var, _)| var)
        .collect();
    if renamed.is_empty() {
        return;
    }
    // Lists inside come first: what they set has a name of its own then.
    let mut own: HashSet<Var> = HashSet::default();
    rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if is_loop(stmt) {
                for body in stmt.bodies_mut() {
                    rename(kernel, body, &renamed, &mut own);
                }
            }
        }
        stmts
    });
}

fn is_loop(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::For { .. } | Stmt::ParallelFor { .. } | Stmt::Reduce { .. } | Stmt::Loop(..))
}

/// Collects the variables that have a read which is not local; `set` are those that have been set
/// before on all paths. Returns false if the end of the statements is not reached.
fn expose(stmts: &[Stmt], set: &mut HashSet<Var>, exposed: &mut HashSet<Var>) -> bool {
    for stmt in stmts {
        match stmt {
            Stmt::Let(_, Op::Get(var)) => {
                if !set.contains(var) {
                    exposed.insert(*var);
                }
            }
            Stmt::Set(var, _) => drop(set.insert(*var)),
            Stmt::If(_, then, otherwise) => {
                let (mut first, mut second) = (set.clone(), set.clone());
                let ends = (expose(then, &mut first, exposed), expose(otherwise, &mut second, exposed));
                *set = match ends {
                    (true, true) => &first & &second,
                    (true, false) => first,
                    (false, true) => second,
                    (false, false) => return false,
                };
            }
            Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => return false,
            stmt => {
                let changed = assigned_vars(std::slice::from_ref(stmt));
                set.retain(|var| !changed.contains(var));
                for body in stmt.bodies() {
                    expose(body, &mut set.clone(), exposed);
                }
            }
        }
    }
    true
}

/// Collects the innermost loops, by numbers, that set each variable; 0 stands for none.
fn count_setters(
    stmts: &[Stmt],
    around: usize,
    loops: &mut usize,
    setters: &mut HashMap<Var, HashSet<usize>>,
) {
    for stmt in stmts {
        if let Stmt::Set(var, _) = stmt {
            setters.entry(*var).or_default().insert(around);
        }
        let around = if is_loop(stmt) {
            *loops += 1;
            *loops
        } else {
            around
        };
        for body in stmt.bodies() {
            count_setters(body, around, loops, setters);
        }
    }
}

/// Renames the variables that the rounds of a loop set; `own` are the new names.
fn rename(kernel: &mut Kernel, body: &mut [Stmt], renamed: &HashSet<Var>, own: &mut HashSet<Var>) {
    let mut names: HashMap<Var, Var> = HashMap::default();
    for var in assigned_vars(body) {
        if renamed.contains(&var) && !own.contains(&var) {
            let ty = kernel.vars[var];
            names.insert(var, kernel.vars.push(ty));
        }
    }
    own.extend(names.values());
    if !names.is_empty() {
        rename_vars(body, &names);
    }
}

fn rename_vars(stmts: &mut [Stmt], names: &HashMap<Var, Var>) {
    for stmt in stmts {
        stmt.for_each_part_mut(&mut |part| match part {
            PartMut::VarRead(var) | PartMut::VarWrite(var) => {
                if let Some(name) = names.get(var) {
                    *var = *name;
                }
            }
            PartMut::Body(body) => rename_vars(body, names),
            _ => {}
        });
    }
}
