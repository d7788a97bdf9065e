//! Copies of statements: each register is set once, so a copy sets registers of its own.

use super::super::{Array, Kernel, Label, Op, Reg, ScalarType, Stmt, Var};
use crate::hash::HashMap;
use std::hash::Hash;

/// A copy under way.
pub(super) struct Cloner<'n> {
    pub kernel: &'n mut Kernel,
    pub names: Renaming,
}

/// What stands for the names of an original; others stay.
#[derive(Default)]
pub(super) struct Renaming {
    pub regs: HashMap<Reg, Reg>,
    pub vars: HashMap<Var, Var>,
    pub arrays: HashMap<Array, Array>,
    labels: HashMap<Label, Label>,
    /// Conditions of the original whose value is known here.
    pub known_conditions: HashMap<Reg, bool>,
}

/// What stands for a name.
pub(super) fn renamed<T: std::marker::Copy + Eq + Hash>(names: &HashMap<T, T>, name: T) -> T {
    names.get(&name).copied().unwrap_or(name)
}

impl Renaming {
    /// What stands for a register.
    pub fn reg(&self, reg: Reg) -> Reg {
        renamed(&self.regs, reg)
    }
}

impl<'n> Cloner<'n> {
    pub fn new(kernel: &'n mut Kernel) -> Cloner<'n> {
        Cloner { kernel, names: Renaming::default() }
    }

    /// What stands for a register.
    pub fn reg(&self, reg: Reg) -> Reg {
        self.names.reg(reg)
    }

    /// A register of its own for one that the copy sets.
    pub fn fresh(&mut self, reg: Reg) -> Reg {
        let new = self.kernel.regs.len() as Reg;
        self.kernel.regs.push(self.kernel.regs[reg as usize]);
        if let Some(bits) = self.kernel.constants.get(&reg).copied() {
            self.kernel.constants.insert(new, bits);
        }
        self.names.regs.insert(reg, new);
        new
    }

    fn label(&self, label: Label) -> Label {
        renamed(&self.names.labels, label)
    }

    fn fresh_label(&mut self, label: Label) -> Label {
        let new = self.kernel.labels;
        self.kernel.labels += 1;
        self.names.labels.insert(label, new);
        new
    }

    /// Statements copied.
    pub fn stmts(&mut self, stmts: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in stmts {
            self.stmt(stmt, &mut out);
        }
        out
    }

    /// Whether a condition of the original is known to hold, or not to.
    fn known_condition(&self, reg: Reg) -> Option<bool> {
        let constant = |reg: &Reg| self.kernel.constants.get(reg).map(|bits| *bits != 0);
        self.names.known_conditions.get(&reg).copied().or_else(|| constant(&self.reg(reg)))
    }

    /// One statement copied.
    pub fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Let(reg, op) => {
                if let Op::Select(c, a, b) = op
                    && let Some(known) = self.known_condition(*c)
                {
                    let chosen = self.reg(if known { *a } else { *b });
                    self.names.regs.insert(*reg, chosen);
                    return;
                }
                if let Some(known) = self.names.known_conditions.get(reg).copied() {
                    let new = self.fresh(*reg);
                    self.kernel.constants.insert(new, u64::from(known));
                    out.push(Stmt::Let(new, Op::Const(ScalarType::I64, u64::from(known))));
                    return;
                }
                let mut op = op.clone();
                op.for_each_reg_mut(&mut |reg| *reg = self.reg(*reg));
                match &mut op {
                    Op::Load(array, ..) => *array = renamed(&self.names.arrays, *array),
                    Op::Get(var) => *var = renamed(&self.names.vars, *var),
                    _ => {}
                }
                let new = self.fresh(*reg);
                out.push(Stmt::Let(new, op));
            }
            Stmt::Set(var, reg) => out.push(Stmt::Set(renamed(&self.names.vars, *var), self.reg(*reg))),
            Stmt::Store(array, at, value) => {
                let array = renamed(&self.names.arrays, *array);
                out.push(Stmt::Store(array, self.reg(*at), self.reg(*value)));
            }
            Stmt::If(condition, then, otherwise) => match self.known_condition(*condition) {
                Some(true) => then.iter().for_each(|stmt| self.stmt(stmt, out)),
                Some(false) => otherwise.iter().for_each(|stmt| self.stmt(stmt, out)),
                None => {
                    let condition = self.reg(*condition);
                    let (then, otherwise) = (self.stmts(then), self.stmts(otherwise));
                    out.push(Stmt::If(condition, then, otherwise));
                }
            },
            Stmt::For { label, index, low, high, body } => {
                let (low, high) = (self.reg(*low), self.reg(*high));
                let (label, index) = (self.fresh_label(*label), self.fresh(*index));
                let body = self.stmts(body);
                out.push(Stmt::For { label, index, low, high, body });
            }
            Stmt::Loop(label, body) => {
                let label = self.fresh_label(*label);
                let body = self.stmts(body);
                out.push(Stmt::Loop(label, body));
            }
            Stmt::Block(label, body) => {
                let label = self.fresh_label(*label);
                let body = self.stmts(body);
                out.push(Stmt::Block(label, body));
            }
            Stmt::Break(label) => out.push(Stmt::Break(self.label(*label))),
            Stmt::Continue(label) => out.push(Stmt::Continue(self.label(*label))),
            Stmt::Fail => out.push(Stmt::Fail),
            Stmt::ParallelFor { index, count, body } => {
                let count = self.reg(*count);
                let index = self.fresh(*index);
                let body = self.stmts(body);
                out.push(Stmt::ParallelFor { index, count, body });
            }
            Stmt::Reduce { index, low, high, body, item, result } => {
                let (low, high) = (self.reg(*low), self.reg(*high));
                let index = self.fresh(*index);
                let body = self.stmts(body);
                let item = item.map(|reg| self.reg(reg));
                let result = self.fresh(*result);
                out.push(Stmt::Reduce { index, low, high, body, item, result });
            }
            Stmt::Gemm(c) => {
                let mut c = c.clone();
                c.for_each_reg_mut(&mut |reg| *reg = self.reg(*reg));
                for array in [&mut c.into, &mut c.left, &mut c.right] {
                    *array = renamed(&self.names.arrays, *array);
                }
                out.push(Stmt::Gemm(c));
            }
        }
    }
}
