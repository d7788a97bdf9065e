//! Loop versioning: a loop that reads and writes one array, with and without the order of its
//! rounds.
//!
//! `m.(i, j) <- m.(i, j) - f * m.(k, j)` changes a row by another one of the same matrix. Its
//! rounds are independent unless one reads what an earlier one has written, which the distance of
//! the two rows decides: it is 0, or at least the number of rounds. That is tested in front of the
//! loop. A slot ahead of the one that is stored is harmless, too, if a round reads it before it
//! stores: no earlier round has written it, and vectors read before they store, as a round does. If
//! the test holds, a copy of the loop runs that reads the array under another name
//! ([`Origin::Alias`]), so nothing keeps it from going by vectors; otherwise the loop as it was
//! (Byler, Davies, Huson, Leasure and Wolfe, *Multiple version loops*, 1987).
//!
//! A round that stores into several slots of an array, as a step of a fast Fourier transform does,
//! has a name for each; they are tested to be as far apart as there are rounds.
//!
//! **When.** An innermost loop that only computes with floats and stores into slots at its index
//! plus what stays the same. Slots that are read are of this form, or stay the same throughout.
//! Loops without a second slot of a stored array stay as they are.

use super::super::{Array, ArrayInfo, Binary, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt};
use super::clone_stmts::Cloner;
use super::{Builder, hoisted, rewrite};
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeMap;

/// Statements of the longest loop of which there are two.
const MAX_STATEMENTS: usize = 120;

/// Pairs of slots that are tested against each other.
const MAX_TESTS: usize = 8;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match two_versions(kernel, &stmt) {
                Some(stmts) => out.extend(stmts),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// Returns true if a statement only computes with floats, or with slot numbers, or stores a float.
fn is_simple(kernel: &Kernel, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Store(array, _, value) => {
            let ty = kernel.regs[*value];
            ty.is_float() && ty.bytes() == usize::from(kernel.arrays[*array].width)
        }
        Stmt::Let(_, Op::Const(..) | Op::Size(_)) => true,
        Stmt::Let(_, Op::Compare(_, a, _)) => kernel.regs[*a].is_float(),
        Stmt::Let(reg, op) => match kernel.regs[*reg] {
            ScalarType::I64 => matches!(op, Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..)),
            ty => ty.is_float() && !matches!(op, Op::Get(_) | Op::Cast(..)),
        },
        _ => false,
    }
}

/// The slots of a round: of an index plus the sum of what stays the same, or of that alone.
struct Slot {
    at_index: bool,
    offset: Reg,
}

/// Finds slots; what they consist of is computed in front of the loop.
struct Slots<'k, 's> {
    build: Builder<'k>,
    index: Reg,
    /// The operations of the loop.
    ops: HashMap<Reg, &'s Op>,
    invariants: HashMap<Reg, Reg>,
}

impl Slots<'_, '_> {
    /// A register in front of the loop that is equal to one that stays the same.
    fn invariant(&mut self, reg: Reg) -> Option<Reg> {
        let Slots { build, index, ops, invariants } = self;
        hoisted(build, ops, &|reg| reg != *index && !ops.contains_key(&reg), invariants, reg)
    }

    fn slot(&mut self, reg: Reg) -> Option<Slot> {
        if reg == self.index {
            return Some(Slot { at_index: true, offset: self.build.int(0) });
        }
        if let Some(offset) = self.invariant(reg) {
            return Some(Slot { at_index: false, offset });
        }
        let Op::Binary(kind @ (Binary::Add | Binary::Sub), a, b) = **self.ops.get(&reg)? else { return None };
        let (indexed, same) = match (kind, self.invariant(a), self.invariant(b)) {
            (_, None, Some(same)) => (a, same),
            (Binary::Add, Some(same), None) => (b, same),
            _ => return None,
        };
        let Slot { at_index: true, offset } = self.slot(indexed)? else { return None };
        Some(Slot { at_index: true, offset: self.build.binary(kind, offset, same) })
    }
}

/// Both versions of a loop, if there may be a reason for the order of its rounds.
fn two_versions(kernel: &mut Kernel, stmt: &Stmt) -> Option<Vec<Stmt>> {
    let Stmt::For { index, low, high, body, .. } = stmt else { return None };
    if body.len() > MAX_STATEMENTS || !body.iter().all(|stmt| is_simple(kernel, stmt)) {
        return None;
    }
    let mut stores: BTreeMap<Array, Vec<Reg>> = BTreeMap::new();
    let mut ops: HashMap<Reg, &Op> = HashMap::default();
    for stmt in body {
        match stmt {
            Stmt::Store(array, at, _) => {
                let slots = stores.entry(*array).or_default();
                if !slots.contains(at) {
                    slots.push(*at);
                }
            }
            Stmt::Let(reg, op) => drop(ops.insert(*reg, op)),
            _ => return None,
        }
    }
    let mut others: Vec<(Array, Reg)> = Vec::new();
    // The arrays that a round has stored into, and those that it reads at another slot after that.
    let (mut stored, mut read_late) = (HashSet::default(), HashSet::default());
    for stmt in body {
        if let Stmt::Store(array, ..) = stmt {
            stored.insert(*array);
        }
        if let Stmt::Let(_, Op::Load(array, ..)) = stmt
            && stored.contains(array)
        {
            read_late.insert(*array);
        }
        if let Stmt::Let(_, Op::Load(array, at, _)) = stmt
            && stores.get(array).is_some_and(|stored| !stored.contains(at))
            && !others.contains(&(*array, *at))
        {
            others.push((*array, *at));
        }
    }
    let owned = |array: &Array| !matches!(kernel.arrays[*array].origin, Origin::Input(_) | Origin::Stack(_));
    let several: Vec<Array> =
        stores.iter().filter(|(_, slots)| slots.len() > 1).map(|(array, _)| *array).collect();
    let mut named = others.iter().map(|(array, _)| array).chain(&several);
    if others.is_empty() && several.is_empty() || !named.all(owned) {
        return None;
    }
    // Pairs of a slot that is read or stored and one that is stored.
    let reads = others.iter().flat_map(|(array, at)| {
        let late = read_late.contains(array);
        stores[array].iter().map(move |stored| (*at, *stored, Some(late)))
    });
    let mut pairs: Vec<(Reg, Reg, Option<bool>)> = reads.collect();
    for array in &several {
        let slots = &stores[array];
        for (i, a) in slots.iter().enumerate() {
            pairs.extend(slots[..i].iter().map(|b| (*a, *b, None)));
        }
    }
    pairs.sort_unstable();
    pairs.dedup();
    if pairs.len() > MAX_TESTS {
        return None;
    }
    let mut slots = Slots { build: Builder::new(kernel), index: *index, ops, invariants: HashMap::default() };
    let rounds = slots.build.binary(Binary::Sub, *high, *low);
    let mut apart = None;
    for (at, stored, late) in pairs {
        let Slot { at_index: true, offset: stored } = slots.slot(stored)? else { return None };
        let other = slots.slot(at)?;
        let build = &mut slots.build;
        let test =
            |build: &mut Builder<'_>, kind, a, b| build.define(ScalarType::I64, Op::Compare(kind, a, b));
        let mut distance = build.binary(Binary::Sub, other.offset, stored);
        let before = if other.at_index {
            let sum = build.binary(Binary::Add, distance, rounds);
            let zero = build.int(0);
            let before = test(build, Compare::Le, sum, zero);
            let ahead = late.map(|late| if late { Compare::Eq } else { Compare::Le });
            match ahead.map(|ahead| test(build, ahead, zero, distance)) {
                Some(harmless) => build.binary(Binary::Or, before, harmless),
                None => before,
            }
        } else {
            // From the first slot that is written.
            distance = build.binary(Binary::Sub, distance, *low);
            let zero = build.int(0);
            test(build, Compare::Lt, distance, zero)
        };
        let behind = test(build, Compare::Le, rounds, distance);
        let free = build.binary(Binary::Or, before, behind);
        apart = Some(match apart {
            Some(apart) => build.binary(Binary::And, apart, free),
            None => free,
        });
    }
    let mut out = std::mem::take(&mut slots.build.stmts);
    let mut copy = Cloner::new(kernel);
    let mut free = Vec::new();
    copy.stmt(stmt, &mut free);
    // One more name for what is read elsewhere, and for each slot that is stored but the first.
    let renamed = several.iter().flat_map(|array| stores[array][1..].iter().map(|at| (*array, *at)));
    let renamed: Vec<(Array, Reg)> = renamed.map(|(array, at)| (array, copy.reg(at))).collect();
    let slots: Vec<(Array, Reg)> = others.iter().map(|(array, at)| (*array, copy.reg(*at))).collect();
    let mut alias = |array: Array| {
        let ArrayInfo { width, .. } = kernel.arrays[array];
        kernel.add_array(Origin::Alias(array), width, kernel.slots[array])
    };
    let mut names: HashMap<(Array, Reg), Array> = HashMap::default();
    let mut read_names: HashMap<Array, Array> = HashMap::default();
    for (array, at) in slots {
        names.insert((array, at), *read_names.entry(array).or_insert_with(|| alias(array)));
    }
    for (array, at) in renamed {
        names.insert((array, at), alias(array));
    }
    for stmt in free.iter_mut().flat_map(Stmt::bodies_mut).flatten() {
        if let Stmt::Let(_, Op::Load(array, at, _)) | Stmt::Store(array, at, _) = stmt
            && let Some(name) = names.get(&(*array, *at))
        {
            *array = *name;
        }
    }
    out.push(Stmt::If(apart?, free, vec![stmt.clone()]));
    Some(out)
}
