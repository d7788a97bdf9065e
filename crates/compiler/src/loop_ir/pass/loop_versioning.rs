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
//! **When.** An innermost loop that only computes with floats and stores into slots at its index
//! plus what stays the same, each array at one slot of a round. Slots that are read are of this
//! form, or stay the same throughout. Loops without a second slot of a stored array stay as they
//! are.

use super::super::{Array, ArrayInfo, Binary, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt};
use super::clone_stmts::Cloner;
use super::{Builder, hoisted, rewrite};
use crate::hash::{HashMap, HashSet};

/// Statements of the longest loop of which there are two.
const MAX_STATEMENTS: usize = 60;

/// Slots of an array that are tested against the one that is stored.
const MAX_TESTS: usize = 4;

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
    let mut stores: HashMap<Array, Reg> = HashMap::default();
    let mut ops: HashMap<Reg, &Op> = HashMap::default();
    for stmt in body {
        match stmt {
            Stmt::Store(array, at, _) => {
                if stores.insert(*array, *at).is_some_and(|other| other != *at) {
                    return None;
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
            && stores.get(array).is_some_and(|stored| stored != at)
            && !others.contains(&(*array, *at))
        {
            others.push((*array, *at));
        }
    }
    let owned = |array: &Array| !matches!(kernel.arrays[*array].origin, Origin::Input(_) | Origin::Stack(_));
    if others.is_empty() || others.len() > MAX_TESTS || !others.iter().all(|(array, _)| owned(array)) {
        return None;
    }
    let mut slots = Slots { build: Builder::new(kernel), index: *index, ops, invariants: HashMap::default() };
    let rounds = slots.build.binary(Binary::Sub, *high, *low);
    let mut apart = None;
    for (array, at) in &others {
        let Slot { at_index: true, offset: stored } = slots.slot(stores[array])? else { return None };
        let read = slots.slot(*at)?;
        let build = &mut slots.build;
        let test =
            |build: &mut Builder<'_>, kind, a, b| build.define(ScalarType::I64, Op::Compare(kind, a, b));
        let mut distance = build.binary(Binary::Sub, read.offset, stored);
        let (before, harmless) = if read.at_index {
            let sum = build.binary(Binary::Add, distance, rounds);
            let zero = build.int(0);
            let ahead = match read_late.contains(array) {
                true => Compare::Eq,
                false => Compare::Le,
            };
            (test(build, Compare::Le, sum, zero), test(build, ahead, zero, distance))
        } else {
            // From the first slot that is written.
            distance = build.binary(Binary::Sub, distance, *low);
            let zero = build.int(0);
            let before = test(build, Compare::Lt, distance, zero);
            (before, before)
        };
        let behind = test(build, Compare::Le, rounds, distance);
        let free = build.binary(Binary::Or, before, behind);
        let free = build.binary(Binary::Or, free, harmless);
        apart = Some(match apart {
            Some(apart) => build.binary(Binary::And, apart, free),
            None => free,
        });
    }
    let mut out = std::mem::take(&mut slots.build.stmts);
    let mut copy = Cloner::new(kernel);
    let mut free = Vec::new();
    copy.stmt(stmt, &mut free);
    let slots: Vec<(Array, Reg)> = others.iter().map(|(array, at)| (*array, copy.reg(*at))).collect();
    let mut aliases: HashMap<Array, Array> = HashMap::default();
    for (array, _) in &slots {
        aliases.entry(*array).or_insert_with(|| {
            let ArrayInfo { width, .. } = kernel.arrays[*array];
            kernel.add_array(Origin::Alias(*array), width, kernel.slots[*array])
        });
    }
    for body in free.iter_mut().flat_map(Stmt::bodies_mut) {
        for stmt in body {
            if let Stmt::Let(_, Op::Load(array, at, _)) = stmt
                && slots.contains(&(*array, *at))
            {
                *array = aliases[array];
            }
        }
    }
    out.push(Stmt::If(apart?, free, vec![stmt.clone()]));
    Some(out)
}
