//! Scalar replacement: small arrays to work in whose slots are known become variables.
//!
//! The offsets `(-1, 0, 1)` of a stencil, or the two parts of a complex number, are an array that
//! is stored and read again. Where all of its slots are constants, each is a variable of its own,
//! and most of these are forwarded by copy propagation. A slot that is not known, among
//! [`MAX_CHOICES`], is read by choices between the variables.
//!
//! The state of a `fold` is two such arrays that are exchanged in each round: their variables are.
//!
//! **When.** The array is one to work in, and nothing else than loads, stores and exchanges with
//! another such array refers to it. A slot is written and read at one type; all slots have the same
//! one where one is chosen, or arrays are exchanged: those of a tuple may differ. Variables that
//! rounds of parallel loops set are their own, so the array is written only outside of these, or
//! belongs to one of them altogether (scalar replacement of aggregates; Muchnick, *Advanced Compiler
//! Design and Implementation*, 12.2).

use super::super::{Array, Compare, Kernel, Op, Origin, Part, Reg, ScalarType, Stmt, Var};
use super::{Builder, rewrite};
use crate::hash::HashMap;
use std::collections::BTreeMap;

/// Slots of the largest array that is replaced.
const MAX_SLOTS: u64 = 64;

/// Slots of the largest array that is exchanged with another one.
const MAX_EXCHANGED: u64 = 8;

/// Slots of the largest array of which one is chosen.
const MAX_CHOICES: u64 = 4;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut arrays: HashMap<Array, Candidate> = HashMap::default();
    for array in kernel.arrays.ids() {
        let working =
            matches!(kernel.arrays[array].origin, Origin::Stack(_) | Origin::Scratch | Origin::ThreadLocal);
        if working && (1..=MAX_SLOTS).contains(&kernel.slots[array]) {
            arrays.insert(array, Candidate::default());
        }
    }
    if arrays.is_empty() {
        return;
    }
    let mut exchanges = Vec::new();
    collect(kernel, &kernel.body, None, &mut arrays, &mut exchanges);
    for candidate in arrays.values_mut() {
        candidate.unify();
    }
    refuse_exchanged(kernel, &exchanges, &mut arrays);
    arrays.retain(|_, candidate| candidate.is_replaceable());
    if arrays.is_empty() {
        return;
    }
    let mut vars: HashMap<(Array, u64), Var> = HashMap::default();
    let mut found: Vec<(&Array, &Candidate)> = arrays.iter().collect();
    found.sort_by_key(|(array, _)| **array);
    for (array, candidate) in found {
        let any = candidate.ty.or(candidate.types.values().next().copied());
        for slot in 0..kernel.slots[*array] {
            let ty =
                candidate.types.get(&slot).copied().or(any).expect("an array that is written has a type");
            vars.insert((*array, slot), kernel.vars.push(ty));
        }
        // Nothing refers to it any more, so it needs no memory.
        kernel.arrays[*array].origin = Origin::Stack(0);
    }
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut out = Vec::new();
        for stmt in stmts {
            match stmt {
                Stmt::Store(array, at, value) if arrays.contains_key(&array) => {
                    let slot = kernel.constants[&at];
                    out.push(Stmt::Set(vars[&(array, slot)], value));
                }
                Stmt::Let(reg, Op::Load(array, at, _)) if arrays.contains_key(&array) => {
                    match kernel.constants.get(&at) {
                        Some(slot) => out.push(Stmt::Let(reg, Op::Get(vars[&(array, *slot)]))),
                        None => choose(kernel, reg, (array, at), &vars, &mut out),
                    }
                }
                Stmt::Swap(a, b) if arrays.contains_key(&a) => {
                    let pairs: Vec<(Var, Var)> =
                        (0..kernel.slots[a]).map(|slot| (vars[&(a, slot)], vars[&(b, slot)])).collect();
                    exchange(kernel, &pairs, &mut out);
                }
                other => out.push(other),
            }
        }
        out
    });
}

/// Exchanges the values of variables.
fn exchange(kernel: &mut Kernel, pairs: &[(Var, Var)], out: &mut Vec<Stmt>) {
    let mut build = Builder::new(kernel);
    let mut values = Vec::new();
    for (a, b) in pairs {
        let ty = build.kernel.vars[*a];
        values.push([a, b].map(|var| build.define(ty, Op::Get(*var))));
    }
    out.append(&mut build.stmts);
    for ((a, b), [old_a, old_b]) in pairs.iter().zip(values) {
        out.extend([Stmt::Set(*a, old_b), Stmt::Set(*b, old_a)]);
    }
}

/// Refuses arrays that are exchanged with one that is refused, or whose slots have another type; the
/// other one is written by an exchange.
fn refuse_exchanged(kernel: &Kernel, exchanges: &[(Array, Array)], arrays: &mut HashMap<Array, Candidate>) {
    // A type or a refusal goes from one to the other, at most once through each exchange.
    for _ in 0..=exchanges.len() {
        let mut changes = false;
        for (a, b) in exchanges {
            let facts = |array| {
                arrays.get(array).filter(|candidate| !candidate.refused).map(|candidate| candidate.ty)
            };
            let small = kernel.slots[*a] <= MAX_EXCHANGED && kernel.slots[*a] == kernel.slots[*b];
            let known = match (facts(a), facts(b)) {
                (Some(x), Some(y)) if small && (x == y || x.is_none() || y.is_none()) => Some(x.or(y)),
                _ => None,
            };
            for array in [a, b] {
                let Some(candidate) = arrays.get_mut(array) else { continue };
                let before = (candidate.refused, candidate.ty);
                match known {
                    Some(ty) => candidate.ty = ty,
                    None => candidate.refused = true,
                }
                changes |= before != (candidate.refused, candidate.ty);
            }
        }
        if !changes {
            break;
        }
    }
    for (a, b) in exchanges {
        for array in [a, b] {
            if let Some(candidate) = arrays.get_mut(array) {
                candidate.written = true;
                candidate.refused |= candidate.ty.is_none();
            }
        }
    }
}

/// Reads the variable of a slot that is not known.
fn choose(
    kernel: &mut Kernel,
    reg: Reg,
    (array, at): (Array, Reg),
    vars: &HashMap<(Array, u64), Var>,
    out: &mut Vec<Stmt>,
) {
    let (ty, slots) = (kernel.regs[reg], kernel.slots[array]);
    let mut build = Builder::new(kernel);
    let mut chosen = build.define(ty, Op::Get(vars[&(array, slots - 1)]));
    for slot in (0..slots - 1).rev() {
        let this = build.define(ty, Op::Get(vars[&(array, slot)]));
        let number = build.int(slot as i64);
        let equal = build.define(ScalarType::I64, Op::Compare(Compare::Eq, at, number));
        chosen = build.define(ty, Op::Select(equal, this, chosen));
    }
    let Some(Stmt::Let(_, op)) = build.stmts.pop() else { unreachable!("the last one is the choice") };
    out.append(&mut build.stmts);
    out.push(Stmt::Let(reg, op));
}

/// The facts about an array that may be replaced.
#[derive(Default)]
struct Candidate {
    refused: bool,
    /// The types of slots.
    types: BTreeMap<u64, ScalarType>,
    /// The type of all slots, if one is chosen or they are exchanged.
    ty: Option<ScalarType>,
    exchanged: bool,
    written: bool,
    /// The parallel loops that it is written in; `None` for outside of all.
    writers: Vec<Option<Reg>>,
    readers: Vec<Option<Reg>>,
}

impl Candidate {
    fn is_replaceable(&self) -> bool {
        let one_owner = |owner: Option<Reg>| self.readers.iter().chain(&self.writers).all(|at| *at == owner);
        let outside = self.writers.iter().all(Option::is_none);
        !self.refused
            && self.written
            && (outside || self.writers.first().is_some_and(|owner| one_owner(*owner)))
    }

    /// Notes the type of an access to a slot, or to one that is not known.
    fn access(&mut self, slot: Option<u64>, ty: ScalarType) {
        let known = match slot {
            Some(slot) => self.types.insert(slot, ty),
            None => self.ty.replace(ty),
        };
        self.refused |= known.is_some_and(|known| known != ty);
    }

    /// Gives all slots one type where they need one.
    fn unify(&mut self) {
        if self.exchanged {
            self.ty = self.ty.or(self.types.values().next().copied());
        }
        self.refused |= self.ty.is_some_and(|ty| self.types.values().any(|other| *other != ty));
    }
}

/// Collects the accesses to arrays, and the exchanges; `owner` is the index of the parallel loop
/// around.
fn collect(
    kernel: &Kernel,
    stmts: &[Stmt],
    owner: Option<Reg>,
    arrays: &mut HashMap<Array, Candidate>,
    exchanges: &mut Vec<(Array, Array)>,
) {
    for stmt in stmts {
        match stmt {
            Stmt::Store(array, at, value) => {
                if let Some(candidate) = arrays.get_mut(array) {
                    let slot = kernel.constants.get(at).filter(|slot| **slot < kernel.slots[*array]);
                    candidate.refused |= slot.is_none();
                    candidate.access(slot.copied(), kernel.regs[*value]);
                    candidate.written = true;
                    candidate.writers.push(owner);
                }
            }
            Stmt::Let(_, Op::Load(array, at, ty)) => {
                if let Some(candidate) = arrays.get_mut(array) {
                    let slot = kernel.constants.get(at).copied();
                    candidate.refused |= match slot {
                        Some(slot) => slot >= kernel.slots[*array],
                        None => kernel.slots[*array] > MAX_CHOICES,
                    };
                    candidate.access(slot, *ty);
                    candidate.readers.push(owner);
                }
            }
            Stmt::Swap(a, b) => {
                exchanges.push((*a, *b));
                for array in [a, b] {
                    if let Some(candidate) = arrays.get_mut(array) {
                        candidate.exchanged = true;
                        candidate.writers.push(owner);
                        candidate.readers.push(owner);
                    }
                }
            }
            stmt => stmt.for_each_part(&mut |part| {
                if let Part::ArrayRead(array) | Part::ArrayWrite(array) | Part::ArrayChange(array) = part
                    && let Some(candidate) = arrays.get_mut(array)
                {
                    candidate.refused = true;
                }
            }),
        }
        let inside = match stmt {
            Stmt::ParallelFor { index, .. } => Some(*index),
            _ => owner,
        };
        for body in stmt.bodies() {
            collect(kernel, body, inside, arrays, exchanges);
        }
    }
}
