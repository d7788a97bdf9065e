//! Renumbering: registers, variables and labels by the order in which they are mentioned.
//!
//! Passes leave gaps, whose number depends on what there was before: two loops that became one have
//! more of them than one that was there. Constants and sizes stand where the one that was needed
//! first happened to be. With these right before the statement that reads them and without gaps,
//! kernels of one structure have one key ([`Kernel::key`]), however they came about.

use super::super::visit::{Part, PartMut};
use super::super::{Id, IdVec, Kernel, Label, Op, Reg, Stmt, Var, for_each_stmt};
use super::{place_late, rewrite};
use crate::hash::HashMap;

/// New numbers, in the order in which the old ones are met.
struct Order<I>(HashMap<I, I>);

impl<I: Id> Order<I> {
    fn new() -> Order<I> {
        Order(HashMap::default())
    }

    fn meet(&mut self, id: I) {
        let next = I::new(self.0.len());
        self.0.entry(id).or_insert(next);
    }

    /// The entries of a table that have numbers, in their order.
    fn sorted<T: Copy>(&self, table: &IdVec<I, T>) -> IdVec<I, T> {
        let mut old: Vec<(I, I)> = self.0.iter().map(|(old, new)| (*new, *old)).collect();
        old.sort_unstable();
        old.into_iter().map(|(_, old)| table[old]).collect()
    }
}

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    // Numbers that only the results of the kernel mention stand at the end.
    let is_number = |_, op: &Op| matches!(op, Op::Const(..) | Op::Size(_));
    rewrite(kernel, &mut |_, stmts, _| place_late(stmts, &is_number));
    let (mut regs, mut vars, mut labels) = (Order::<Reg>::new(), Order::<Var>::new(), Order::<Label>::new());
    for_each_stmt(&kernel.body, &mut |stmt| {
        stmt.for_each_part(&mut |part| match part {
            Part::Use(reg) | Part::Item(reg) | Part::Def(reg) => regs.meet(*reg),
            Part::VarRead(var) | Part::VarWrite(var) => vars.meet(*var),
            Part::Label(label) | Part::Target(label) => labels.meet(*label),
            Part::ArrayRead(_) | Part::ArrayWrite(_) | Part::ArrayChange(_) | Part::Body(_) => {}
        });
    });
    kernel.scalar_results.iter().for_each(|reg| regs.meet(*reg));
    fn renumbered(stmts: &mut [Stmt], orders: (&Order<Reg>, &Order<Var>, &Order<Label>)) {
        let (regs, vars, labels) = orders;
        for stmt in stmts {
            stmt.for_each_part_mut(&mut |part| match part {
                PartMut::Use(reg) | PartMut::Item(reg) | PartMut::Def(reg) => *reg = regs.0[reg],
                PartMut::VarRead(var) | PartMut::VarWrite(var) => *var = vars.0[var],
                PartMut::Label(label) | PartMut::Target(label) => *label = labels.0[label],
                PartMut::ArrayRead(_) | PartMut::ArrayWrite(_) | PartMut::ArrayChange(_) => {}
                PartMut::Body(body) => renumbered(body, orders),
            });
        }
    }
    renumbered(&mut kernel.body, (&regs, &vars, &labels));
    kernel.scalar_results.iter_mut().for_each(|reg| *reg = regs.0[reg]);
    let constants = kernel.constants.iter().filter_map(|(reg, bits)| Some((*regs.0.get(reg)?, *bits)));
    kernel.constants = constants.collect();
    kernel.regs = regs.sorted(&kernel.regs);
    kernel.vars = vars.sorted(&kernel.vars);
    kernel.labels = labels.0.len() as u32;
}
