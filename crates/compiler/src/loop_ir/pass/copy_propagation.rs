//! Copy propagation for variables, and removal of variables that are never read.
//!
//! A function that is written out keeps its state in variables, and a sum starts from one. Where a
//! variable has been set, or read, in front of a statement with nothing in between that may set it,
//! its register is there already, and is not set again, and a choice between a register and itself
//! is that register. A variable that is never read is not set.
//! What is left are the variables that loops carry on and branches choose.

use super::super::{Kernel, Op, Reg, Stmt, Var, for_each_stmt};
use super::assigned_vars;
use super::clone_stmts::{rename_results, rename_summand, rename_uses};
use crate::hash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut body = std::mem::take(&mut kernel.body);
    let mut replacements = HashMap::default();
    propagate(&mut body, &mut BTreeMap::new(), &mut replacements);
    kernel.body = body;
    rename_results(kernel, &replacements);
    let mut read = BTreeSet::new();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(_, Op::Get(var)) = stmt {
            read.insert(*var);
        }
    });
    super::rewrite(kernel, &mut |_, mut stmts, _| {
        stmts.retain(|stmt| !matches!(stmt, Stmt::Set(var, _) if !read.contains(var)));
        stmts
    });
}

/// Goes through statements with what variables are `values` to hold; `replacements` are registers
/// that stand for others.
fn propagate(stmts: &mut Vec<Stmt>, values: &mut BTreeMap<Var, Reg>, replacements: &mut HashMap<Reg, Reg>) {
    stmts.retain_mut(|stmt| {
        rename_uses(stmt, replacements);
        match stmt {
            Stmt::Let(reg, Op::Get(var)) => match values.get(var) {
                Some(held) => {
                    replacements.insert(*reg, *held);
                    return false;
                }
                None => drop(values.insert(*var, *reg)),
            },
            Stmt::Let(reg, Op::Select(_, a, b)) if a == b => {
                replacements.insert(*reg, *a);
                return false;
            }
            // It holds that already.
            Stmt::Set(var, reg) if values.get(var) == Some(reg) => return false,
            Stmt::Set(var, reg) => drop(values.insert(*var, *reg)),
            Stmt::If(_, then, otherwise) => {
                let set: BTreeSet<Var> = &assigned_vars(then) | &assigned_vars(otherwise);
                for side in [then, otherwise] {
                    propagate(side, &mut values.clone(), replacements);
                }
                values.retain(|var, _| !set.contains(var));
            }
            _ => {
                for body in stmt.bodies_mut() {
                    // From one round to the next, or on the way out.
                    let set = assigned_vars(body);
                    values.retain(|var, _| !set.contains(var));
                    propagate(body, &mut values.clone(), replacements);
                }
                rename_summand(stmt, replacements);
            }
        }
        true
    });
}
