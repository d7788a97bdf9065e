//! Loop load elimination: a slot that the round before has stored is not loaded again.
//!
//! ```text
//!                                       if low < high
//!                                         v := a[low - 1]
//! for j in low..<high                   for j in low..<high
//!   r0 = a[j - 1]                         r0 = v
//!   r1 = f(r0, …)               =>        r1 = f(r0, …)
//!   a[j] <- r1                            a[j] <- r1
//!                                         v := r1
//! ```
//!
//! In a recurrence each round waits for the result of the one before, and on its way through memory
//! for four or five cycles more (D. Callahan, S. Carr, K. Kennedy, *Improving register allocation
//! for subscripted variables*, 1990).
//!
//! **Why nothing changes.** The body is straight, and both slots are affine in the index with the
//! same terms ([`Affine`](super::affine::Affine)), the loaded one a round behind. Other stores into
//! the array, as of the parts of an element, are at slots that differ from the stored one by
//! constants: neither by nothing nor by the distance of the loaded one. So the round before has
//! stored into it, nothing else has since, and the slot is as wide as the value. The first round
//! loads in front of the loop what it loaded before.
//!
//! **When.** A value that is stored into the array depends on the loaded one: other loops go by
//! vectors. Costs time in proportion to the statements, times the stores into an array.

use super::super::{Array, Compare, Kernel, Op, Reg, ScalarType, Stmt, defined_registers, for_each_stmt};
use super::affine::{Affine, Forms};
use super::{Builder, dependents, has_second_name, hoisted, is_whole, rewrite};
use crate::hash::{HashMap, HashSet};

/// Stores into an array in a round, at most.
const MAX_STORES: usize = 16;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut forms = Forms::new(kernel);
    let mut found: HashMap<Reg, Vec<Carried>> = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, body, .. } = stmt
            && let carried = carried(kernel, &mut forms, *index, body)
            && !carried.is_empty()
        {
            found.insert(*index, carried);
        }
    });
    if found.is_empty() {
        return;
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for mut stmt in stmts {
            if let Stmt::For { index, low, high, body, .. } = &mut stmt
                && let Some(carried) = found.get(index)
            {
                for carried in carried {
                    out.extend(carry(kernel, carried, (*index, *low, *high), body));
                }
            }
            out.push(stmt);
        }
        out
    });
}

/// Loads of what the round before has stored.
struct Carried {
    array: Array,
    /// The slot that one of them reads.
    slot: Reg,
    /// The registers of the loads.
    loads: HashSet<Reg>,
    /// The stored value.
    value: Reg,
}

/// The loads of a loop body that read what the round before has stored, for each array.
fn carried(kernel: &Kernel, forms: &mut Forms<'_>, index: Reg, body: &[Stmt]) -> Vec<Carried> {
    if !body.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Store(..) | Stmt::Set(..))) {
        return Vec::new();
    }
    let own = defined_registers(body);
    let of_store = |stmt: &Stmt| {
        let Stmt::Store(array, at, value) = stmt else { return None };
        if has_second_name(kernel, *array) || !is_whole(kernel, *array, *value) {
            return None;
        }
        let stored = forms.of(*at);
        let stride = stored.terms.iter().find(|(reg, _)| *reg == index)?.1;
        let others: Vec<(Reg, Reg)> = body
            .iter()
            .filter(|other| !std::ptr::eq(*other, stmt))
            .filter_map(|other| match other {
                Stmt::Store(into, at, value) if into == array => Some((*at, *value)),
                _ => None,
            })
            .collect();
        let mut is_apart = |other: Reg| {
            let distance = forms.of(other).add_scaled(&stored, -1);
            distance.is_some_and(|by| by.terms.is_empty() && ![0, -stride].contains(&by.constant))
        };
        if others.len() >= MAX_STORES || !others.iter().all(|(at, _)| is_apart(*at)) {
            return None;
        }
        if stored.terms.iter().any(|(reg, _)| *reg != index && own.contains(reg)) {
            return None;
        }
        let mut slots = Vec::new();
        for stmt in body {
            if let Stmt::Let(reg, Op::Load(from, slot, ty)) = stmt
                && from == array
                && *ty == kernel.regs[*value]
                && stored.add_scaled(&forms.of(*slot), -1) == Some(Affine::constant(stride))
            {
                slots.push((*reg, *slot));
            }
        }
        let slot = slots.first()?.1;
        let loads: HashSet<Reg> = slots.into_iter().map(|(reg, _)| reg).collect();
        let dependents = dependents(loads.clone(), body);
        let mut values = others.iter().map(|(_, value)| value).chain([value]);
        values.any(|value| dependents.contains(value)).then_some(Carried {
            array: *array,
            slot,
            loads,
            value: *value,
        })
    };
    body.iter().filter_map(of_store).collect()
}

/// Replaces the loads by a variable. Returns the statements that set it in front of the loop.
fn carry(
    kernel: &mut Kernel,
    carried: &Carried,
    (index, low, high): (Reg, Reg, Reg),
    body: &mut Vec<Stmt>,
) -> Vec<Stmt> {
    let definitions = body.iter().filter_map(Stmt::as_definition);
    let ops: HashMap<Reg, Op> = definitions.map(|(reg, op)| (reg, op.clone())).collect();
    let ops: HashMap<Reg, &Op> = ops.iter().map(|(reg, op)| (*reg, op)).collect();
    let ty = kernel.regs[carried.value];
    let mut build = Builder::new(kernel);
    let mut known = HashMap::default();
    known.insert(index, low);
    let before = |reg: Reg| reg != index && !ops.contains_key(&reg);
    let Some(slot) = hoisted(&mut build, &ops, &before, &mut known, carried.slot) else {
        return Vec::new();
    };
    let first = build.define(ty, Op::Load(carried.array, slot, ty));
    let inside = std::mem::take(&mut build.stmts);
    let runs = build.define(ScalarType::I64, Op::Compare(Compare::Lt, low, high));
    let mut front = build.stmts;
    let var = kernel.vars.push(ty);
    front.push(Stmt::If(runs, [inside, vec![Stmt::Set(var, first)]].concat(), Vec::new()));
    for stmt in body.iter_mut() {
        if let Stmt::Let(reg, op) = stmt
            && carried.loads.contains(reg)
        {
            *op = Op::Get(var);
        }
    }
    body.push(Stmt::Set(var, carried.value));
    front
}
