//! Cloning of statements: each register is set once, so a clone sets registers of its own.

use super::super::{Array, Kernel, Label, Op, PartMut, Reg, ScalarType, Stmt, Var};
use crate::hash::HashMap;
use std::hash::Hash;

/// A copy under way.
pub(super) struct Cloner<'n> {
    pub kernel: &'n mut Kernel,
    pub names: Renaming,
}

/// The new names of registers, variables, arrays and labels of an original; others keep theirs.
#[derive(Default)]
pub(super) struct Renaming {
    pub regs: HashMap<Reg, Reg>,
    pub vars: HashMap<Var, Var>,
    pub arrays: HashMap<Array, Array>,
    labels: HashMap<Label, Label>,
    /// Conditions of the original whose value is known here.
    pub known_conditions: HashMap<Reg, bool>,
    /// Registers that the original sets, and those that hold their values here.
    pub known_registers: HashMap<Reg, Reg>,
}

/// The new name, or the old one.
pub(super) fn new_name<T: std::marker::Copy + Eq + Hash>(names: &HashMap<T, T>, name: T) -> T {
    names.get(&name).copied().unwrap_or(name)
}

/// Replaces the registers that a statement reads where it stands.
pub(super) fn rename_uses(stmt: &mut Stmt, names: &HashMap<Reg, Reg>) {
    stmt.for_each_part_mut(&mut |part| {
        if let PartMut::Use(reg) = part {
            *reg = new_name(names, *reg);
        }
    });
}

/// Replaces the registers of the summand of a reduction, which its body sets.
pub(super) fn rename_summand(stmt: &mut Stmt, names: &HashMap<Reg, Reg>) {
    if let Stmt::Reduce { item, .. } = stmt {
        *item = item.map(|reg| new_name(names, reg));
    }
}

/// Replaces the registers that statements read, and drops those that set the replaced ones.
pub(super) fn rename_all(stmts: &mut Vec<Stmt>, names: &HashMap<Reg, Reg>) {
    stmts.retain(|stmt| !matches!(stmt, Stmt::Let(reg, _) if names.contains_key(reg)));
    for stmt in stmts {
        rename_uses(stmt, names);
        rename_summand(stmt, names);
        for body in stmt.bodies_mut() {
            rename_all(body, names);
        }
    }
}

/// Replaces the registers that are results of a kernel.
pub(super) fn rename_results(kernel: &mut Kernel, names: &HashMap<Reg, Reg>) {
    for result in &mut kernel.scalar_results {
        *result = new_name(names, *result);
    }
}

impl Renaming {
    /// The new register, or the old one.
    pub fn reg(&self, reg: Reg) -> Reg {
        new_name(&self.regs, reg)
    }
}

impl<'n> Cloner<'n> {
    /// Creates a cloner that has renamed nothing yet.
    pub fn new(kernel: &'n mut Kernel) -> Cloner<'n> {
        Cloner { kernel, names: Renaming::default() }
    }

    /// The new register, or the old one.
    pub fn reg(&self, reg: Reg) -> Reg {
        self.names.reg(reg)
    }

    /// A register of its own for one that the copy sets.
    pub fn fresh(&mut self, reg: Reg) -> Reg {
        let new = self.kernel.regs.push(self.kernel.regs[reg]);
        if let Some(bits) = self.kernel.constants.get(&reg).copied() {
            self.kernel.constants.insert(new, bits);
        }
        self.names.regs.insert(reg, new);
        new
    }

    fn fresh_label(&mut self, label: Label) -> Label {
        let new = self.kernel.new_label();
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

    /// The value of a condition of the original, if it is known.
    fn known_condition(&self, reg: Reg) -> Option<bool> {
        let constant = |reg: &Reg| self.kernel.constants.get(reg).map(|bits| *bits != 0);
        self.names.known_conditions.get(&reg).copied().or_else(|| constant(&self.reg(reg)))
    }

    /// One statement copied.
    pub fn stmt(&mut self, stmt: &Stmt, out: &mut Vec<Stmt>) {
        match stmt {
            Stmt::Let(reg, op) => {
                if let Some(known) = self.names.known_registers.get(reg).copied() {
                    self.names.regs.insert(*reg, known);
                    return;
                }
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
                out.push(self.copied(stmt));
            }
            Stmt::If(condition, then, otherwise) => match self.known_condition(*condition) {
                Some(true) => then.iter().for_each(|stmt| self.stmt(stmt, out)),
                Some(false) => otherwise.iter().for_each(|stmt| self.stmt(stmt, out)),
                None => out.push(self.copied(stmt)),
            },
            stmt => out.push(self.copied(stmt)),
        }
    }

    /// A statement with new names for what it sets, and for what it reads of that.
    fn copied(&mut self, stmt: &Stmt) -> Stmt {
        let mut copy = stmt.clone();
        copy.for_each_part_mut(&mut |part| match part {
            PartMut::Use(reg) | PartMut::Item(reg) => *reg = self.reg(*reg),
            PartMut::Def(reg) => *reg = self.fresh(*reg),
            PartMut::VarRead(var) | PartMut::VarWrite(var) => *var = new_name(&self.names.vars, *var),
            PartMut::ArrayRead(array) | PartMut::ArrayWrite(array) | PartMut::ArrayChange(array) => {
                *array = new_name(&self.names.arrays, *array);
            }
            PartMut::Label(label) => *label = self.fresh_label(*label),
            PartMut::Target(label) => *label = new_name(&self.names.labels, *label),
            PartMut::Body(body) => *body = self.stmts(body),
        });
        copy
    }
}
