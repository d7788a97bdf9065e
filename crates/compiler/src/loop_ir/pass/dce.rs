//! Dead code elimination: of statements that are not reached, of registers that are never read, of
//! variables from which nothing else is computed, of loops and branches that do nothing, of sizes
//! that are never used, and of the memory of arrays that are never used.
//!
//! Slot numbers and codes are often put together only to be taken apart, and what was put together
//! is left over.

use super::super::validate::unwritten_stack_arrays;
use super::super::{Array, Kernel, Op, Origin, Reg, Stmt, Var, for_each_stmt};
use super::{falls_through, has_alias};
use crate::hash::{HashMap, HashSet};

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    super::rewrite(kernel, &mut |_, mut stmts, _| {
        for stmt in &mut stmts {
            // The operand of a reduction is set by its body.
            if !matches!(stmt, Stmt::Reduce { .. }) {
                stmt.bodies_mut().into_iter().for_each(truncate_unreachable);
            }
        }
        stmts
    });
    let mut ops: HashMap<Reg, &Op> = HashMap::default();
    let mut values: HashMap<Var, Vec<Reg>> = HashMap::default();
    let mut wanted: Vec<Reg> = kernel.scalar_results.clone();
    for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(reg, op) => drop(ops.insert(*reg, op)),
        Stmt::Set(var, reg) => values.entry(*var).or_default().push(*reg),
        stmt => stmt.for_each_read(&mut |reg| wanted.push(reg)),
    });
    let (mut read, mut read_vars) = (HashSet::default(), HashSet::default());
    while let Some(reg) = wanted.pop() {
        if read.insert(reg)
            && let Some(op) = ops.get(&reg)
        {
            op.for_each_reg(&mut |reg| wanted.push(reg));
            if let Op::Get(var) = op
                && read_vars.insert(*var)
            {
                wanted.extend(values.get(var).into_iter().flatten());
            }
        }
    }
    super::rewrite(kernel, &mut |_, mut stmts, _| {
        stmts.retain(|stmt| match stmt {
            Stmt::Let(reg, _) => read.contains(reg),
            Stmt::Set(var, _) => read_vars.contains(var),
            Stmt::If(_, then, otherwise) => !then.is_empty() || !otherwise.is_empty(),
            Stmt::For { body, .. } | Stmt::ParallelFor { body, .. } | Stmt::Block(_, body) => {
                !body.is_empty()
            }
            _ => true,
        });
        stmts
    });
    let mut sizes: Vec<u32> = Vec::new();
    let mut used: HashSet<Array> = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        used.extend(stmt.arrays());
        if let Stmt::Let(_, Op::Size(n)) = stmt
            && !sizes.contains(n)
        {
            sizes.push(*n);
        }
    });
    for array in kernel.arrays.ids() {
        let is_own = matches!(kernel.arrays[array].origin, Origin::Scratch | Origin::ThreadLocal);
        if is_own && !used.contains(&array) && !has_alias(kernel, array) {
            // The numbers of arrays stay, since the caller has them.
            kernel.arrays[array].origin = Origin::stack(0);
            kernel.slots[array] = 0;
        }
    }
    kernel.sizes = sizes.iter().map(|n| kernel.sizes[*n as usize]).collect();
    super::rewrite(kernel, &mut |_, mut stmts, _| {
        for stmt in &mut stmts {
            if let Stmt::Let(_, Op::Size(n)) = stmt {
                *n = sizes.iter().position(|size| size == n).expect("sizes that are read are kept") as u32;
            }
        }
        stmts
    });
}

/// Removes what follows a statement whose end is not reached.
fn truncate_unreachable(stmts: &mut Vec<Stmt>) {
    if let Some(at) = stmts.iter().position(|stmt| !falls_through(std::slice::from_ref(stmt))) {
        stmts.truncate(at + 1);
    }
}

/// Puts zeros in place of reads of memory on the stack that nothing writes: no run comes there. A
/// pass has removed the loop that writes it, which has no rounds, and the loop that reads it has
/// none, either, though that is not known.
pub(super) fn remove_unwritten_reads(kernel: &mut Kernel) {
    let mut read = unwritten_stack_arrays(kernel);
    read.retain(|array| !has_alias(kernel, *array));
    if read.is_empty() {
        return;
    }
    super::rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if let Stmt::Let(reg, op @ Op::Load(..)) = stmt
                && let Op::Load(array, ..) = op
                && read.contains(array)
            {
                *op = Op::Const(kernel.regs[*reg], 0);
                kernel.constants.insert(*reg, 0);
            }
        }
        stmts
    });
}
