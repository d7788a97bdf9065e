//! What a variable holds is not asked for where it is known.
//!
//! A function that is written out keeps its state in variables, and a sum starts from one. Where a variable has been set, or read,
//! in front of a statement with nothing in between that may set it, its register is there already. A variable that nobody asks for
//! is not set. What is left are the variables that loops carry on and branches choose.

use super::super::{Kernel, Op, Reg, Stmt, Var, for_each_stmt};
use super::clone_stmts::named;
use crate::hash::HashMap;
use std::collections::{BTreeMap, BTreeSet};

/// Runs the pass.
pub(super) fn run(nest: &mut Kernel) {
    let mut body = std::mem::take(&mut nest.body);
    let mut names = HashMap::default();
    forward(&mut body, &mut BTreeMap::new(), &mut names);
    nest.body = body;
    for word in &mut nest.words {
        *word = named(&names, *word);
    }
    let mut read = BTreeSet::new();
    for_each_stmt(&nest.body, &mut |stmt| {
        if let Stmt::Let(_, Op::Get(var)) = stmt {
            read.insert(*var);
        }
    });
    super::rewrite(nest, &mut |_, mut stmts, _| {
        stmts.retain(|stmt| !matches!(stmt, Stmt::Set(var, _) if !read.contains(var)));
        stmts
    });
}

/// Goes through statements with what variables are `known` to hold; `names` are registers that stand for others.
fn forward(stmts: &mut Vec<Stmt>, known: &mut BTreeMap<Var, Reg>, names: &mut HashMap<Reg, Reg>) {
    stmts.retain_mut(|stmt| {
        stmt.for_each_reg_mut(&mut |reg| *reg = named(names, *reg));
        match stmt {
            Stmt::Let(reg, Op::Get(var)) => match known.get(var) {
                Some(held) => {
                    names.insert(*reg, *held);
                    return false;
                }
                None => drop(known.insert(*var, *reg)),
            },
            Stmt::Set(var, reg) => drop(known.insert(*var, *reg)),
            Stmt::If(_, then, otherwise) => {
                let set: BTreeSet<Var> = &set_inside(then) | &set_inside(otherwise);
                for side in [then, otherwise] {
                    forward(side, &mut known.clone(), names);
                }
                known.retain(|var, _| !set.contains(var));
            }
            _ => {
                for body in stmt.bodies_mut() {
                    // From one round to the next, or on the way out.
                    let set = set_inside(body);
                    known.retain(|var, _| !set.contains(var));
                    forward(body, &mut known.clone(), names);
                }
                if let Stmt::Reduce { item, .. } = stmt {
                    *item = item.map(|reg| named(names, reg));
                }
            }
        }
        true
    });
}

/// The variables that statements set.
fn set_inside(stmts: &[Stmt]) -> BTreeSet<Var> {
    let mut set = BTreeSet::new();
    for_each_stmt(stmts, &mut |stmt| {
        if let Stmt::Set(var, _) = stmt {
            set.insert(*var);
        }
    });
    set
}
