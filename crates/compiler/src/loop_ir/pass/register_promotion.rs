//! Register promotion: a slot that is the same in all rounds of a loop is a variable there.
//!
//! ```text
//!                                       v := a[i]
//! for k in 0..<n                        for k in 0..<n
//!   r0 = a[i]                             r0 = v
//!   r1 = add r0 b[k]           =>         r1 = add r0 b[k]
//!   a[i] <- r1                            v := r1
//!                                       a[i] <- v
//! ```
//!
//! A sum, or a largest element, that is accumulated in its place in the result waits for the memory
//! in each round; and other passes look for accumulators among variables (Cooper and Lu, *Register
//! promotion in C programs*, 1997).
//!
//! **Why nothing changes.** All accesses to the array inside the loop are to one slot, by the affine
//! forms of the slots ([`Affine`](super::affine::Affine)), which mention nothing that the loop sets;
//! the array has no second name; and no jump leads past the store behind the loop. A loop that may
//! have no rounds is behind a branch. The slot exists, since each round that begins reads or writes
//! it, whatever its branches do.
//!
//! **When.** There is a store. The loop is in order, and so are those inside with accesses. Outer
//! loops come first. Costs time in proportion to the statements times the depth of loops.

use super::super::{
    Array, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt, Var, defined_registers, for_each_stmt,
};
use super::affine::{Affine, Forms};
use super::{Builder, has_second_name, hoisted, is_whole, known_rounds};
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut found = HashMap::default();
    collect(kernel, &mut Forms::new(kernel), &kernel.body, &mut found);
    if !found.is_empty() {
        let body = std::mem::take(&mut kernel.body);
        kernel.body = promoted(kernel, body, &found);
    }
}

/// A slot of an array that is the same in all rounds of a loop.
#[derive(Clone, Copy)]
struct Promotion {
    array: Array,
    slot: Reg,
    ty: ScalarType,
    /// True if the loop has rounds for certain.
    runs: bool,
}

/// The loops with promotions, by their indices: none inside another one.
fn collect(kernel: &Kernel, forms: &mut Forms<'_>, stmts: &[Stmt], found: &mut HashMap<Reg, Vec<Promotion>>) {
    for stmt in stmts {
        if let Stmt::For { index, low, high, body, .. } = stmt
            && !stmt.leaves()
        {
            let runs = has_rounds(forms, *low, *high);
            let promotions = promotions(kernel, forms, (*index, body), runs);
            if !promotions.is_empty() {
                found.insert(*index, promotions);
                continue;
            }
        }
        for body in stmt.bodies() {
            collect(kernel, forms, body, found);
        }
    }
}

/// The accesses to an array inside a loop.
struct Accesses {
    slot: Reg,
    form: Affine,
    ty: ScalarType,
    is_stored: bool,
    /// One of them is reached in each round.
    is_certain: bool,
}

/// Returns true for a loop that has rounds for certain.
fn has_rounds(forms: &mut Forms<'_>, low: Reg, high: Reg) -> bool {
    known_rounds(forms, Some(low), high).is_some_and(|rounds| rounds > 0)
}

fn promotions(
    kernel: &Kernel,
    forms: &mut Forms<'_>,
    (index, body): (Reg, &[Stmt]),
    runs: bool,
) -> Vec<Promotion> {
    let mut search = Search {
        kernel,
        forms,
        own: defined_registers(body),
        accesses: BTreeMap::new(),
        refused: HashSet::default(),
    };
    search.own.insert(index);
    search.list(body, true, false);
    let Search { accesses, refused, .. } = search;
    let fits = |(array, access): &(Array, Accesses)| {
        access.is_stored && access.is_certain && !refused.contains(array)
    };
    let promotion = |(array, Accesses { slot, ty, .. })| Promotion { array, slot, ty, runs };
    accesses.into_iter().filter(fits).map(promotion).collect()
}

/// The search of a loop for slots.
struct Search<'s, 'k> {
    kernel: &'s Kernel,
    forms: &'s mut Forms<'k>,
    /// The registers that a round sets.
    own: HashSet<Reg>,
    accesses: BTreeMap<Array, Accesses>,
    refused: HashSet<Array>,
}

impl Search<'_, '_> {
    /// Looks at statements, which each round reaches if they are `certain`.
    fn list(&mut self, stmts: &[Stmt], mut certain: bool, in_parallel: bool) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(_, Op::Load(array, slot, ty)) if !in_parallel => {
                    self.add(*array, *slot, *ty, certain, false);
                }
                Stmt::Store(array, slot, value) if !in_parallel => {
                    let ty = self.kernel.regs[*value];
                    if !is_whole(self.kernel, *array, *value) {
                        self.refused.insert(*array);
                    }
                    self.add(*array, *slot, ty, certain, true);
                }
                stmt => self.refused.extend(stmt.arrays()),
            }
            let (runs, parallel) = match stmt {
                Stmt::For { low, high, .. } => (has_rounds(self.forms, *low, *high), false),
                Stmt::Loop(..) | Stmt::Block(..) => (true, false),
                Stmt::ParallelFor { .. } | Stmt::Reduce { .. } => (false, true),
                _ => (false, false),
            };
            for body in stmt.bodies() {
                self.list(body, certain && runs, in_parallel || parallel);
            }
            // A round may end at a jump or a check.
            for_each_stmt(std::slice::from_ref(stmt), &mut |inner| {
                certain &= !matches!(inner, Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail | Stmt::Call(_));
            });
        }
    }

    fn add(&mut self, array: Array, slot: Reg, ty: ScalarType, is_certain: bool, is_stored: bool) {
        let form = self.forms.of(slot);
        let is_own = |(reg, _): &(Reg, i64)| self.own.contains(reg);
        let may_be_shared = matches!(self.kernel.arrays[array].origin, Origin::ThreadLocal);
        if form.terms.iter().any(is_own) || may_be_shared || has_second_name(self.kernel, array) {
            self.refused.insert(array);
            return;
        }
        let known = Accesses { slot, form: form.clone(), ty, is_stored: false, is_certain: false };
        let known = self.accesses.entry(array).or_insert(known);
        if known.form != form || known.ty != ty {
            self.refused.insert(array);
        }
        known.is_stored |= is_stored;
        known.is_certain |= is_certain;
    }
}

/// The statements with variables in place of slots.
fn promoted(kernel: &mut Kernel, stmts: Vec<Stmt>, found: &HashMap<Reg, Vec<Promotion>>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        let promotions = match &stmt {
            Stmt::For { index, .. } => found.get(index),
            _ => None,
        };
        let Some(promotions) = promotions else {
            for body in stmt.bodies_mut() {
                *body = promoted(kernel, std::mem::take(body), found);
            }
            out.push(stmt);
            continue;
        };
        let mut behind = Vec::new();
        for promotion in promotions {
            if let Some(store) = promote(kernel, promotion, &mut stmt, &mut out) {
                behind.extend(store);
            }
        }
        out.push(stmt);
        out.extend(behind);
    }
    out
}

/// Puts a variable in the place of a slot in a loop, and the load into `front`; returns what stores
/// the variable behind it. `None` if the slot is not known in front of the loop.
fn promote(
    kernel: &mut Kernel,
    promotion: &Promotion,
    stmt: &mut Stmt,
    front: &mut Vec<Stmt>,
) -> Option<Vec<Stmt>> {
    let Promotion { array, slot, ty, runs } = *promotion;
    let Stmt::For { index, low, high, body, .. } = stmt else { unreachable!("a loop in order") };
    let (index, low, high) = (*index, *low, *high);
    let mut ops: HashMap<Reg, Op> = HashMap::default();
    for_each_stmt(body, &mut |inner| {
        if let Stmt::Let(reg, op) = inner {
            ops.insert(*reg, op.clone());
        }
    });
    let ops: HashMap<Reg, &Op> = ops.iter().map(|(reg, op)| (*reg, op)).collect();
    let mut build = Builder::new(kernel);
    let before = |reg: Reg| reg != index && !ops.contains_key(&reg);
    let slot = hoisted(&mut build, &ops, &before, &mut HashMap::default(), slot)?;
    let var = build.kernel.vars.push(ty);
    let condition = (!runs).then(|| build.define(ScalarType::I64, Op::Compare(Compare::Lt, low, high)));
    front.append(&mut build.stmts);
    let first = build.define(ty, Op::Load(array, slot, ty));
    build.stmts.push(Stmt::Set(var, first));
    let loading = std::mem::take(&mut build.stmts);
    let last = build.define(ty, Op::Get(var));
    build.stmts.push(Stmt::Store(array, slot, last));
    let storing = std::mem::take(&mut build.stmts);
    replace_accesses(body, array, var);
    match condition {
        None => {
            front.extend(loading);
            Some(storing)
        }
        Some(condition) => {
            // The variable is set on both sides, so it is one of the round around.
            let none = build.define(ty, Op::Const(ty, 0));
            build.stmts.push(Stmt::Set(var, none));
            front.push(Stmt::If(condition, loading, build.stmts));
            Some(vec![Stmt::If(condition, storing, Vec::new())])
        }
    }
}

/// Puts a variable in the place of the accesses to an array.
fn replace_accesses(stmts: &mut [Stmt], array: Array, var: Var) {
    for stmt in stmts {
        match stmt {
            Stmt::Let(reg, Op::Load(from, ..)) if *from == array => *stmt = Stmt::Let(*reg, Op::Get(var)),
            Stmt::Store(to, _, value) if *to == array => *stmt = Stmt::Set(var, *value),
            stmt => {
                for body in stmt.bodies_mut() {
                    replace_accesses(body, array, var);
                }
            }
        }
    }
}
