//! Variables that keep the first best of the numbers of a loop: where the key of a round is beyond
//! the key of what the variables hold, all of them are set.
//!
//! ```text
//! for i in low..high                       for i in low..high
//!   if x[i] > x[best]  best := i             if x[i] < least  least, place := x[i], i
//! ```
//!
//! **Which.** The key of what is held is the key of a round with the variables in place of what the
//! round sets them to, and else the same in all rounds: so it *is* the key of the round that they
//! come from, or of the beginning. The comparison is strict. What a round computes depends on the
//! variables by the comparison alone.
//!
//! **Why the grouping means nothing.** The comparison is a strict weak order of the keys that are
//! not NaN, and none holds with NaN. So rounds one after the other give the first of the largest
//! keys that are beyond the beginning's, or the beginning. Pieces that all begin with the beginning
//! give the same for their rounds, and joined in order, by the same comparison, the same for all.

use super::accumulator::{Accumulator, variables_set};
use super::{Binary, Compare, Kernel, Op, Reg, Stmt, Var};
use crate::hash::{HashMap, HashSet};

/// Registers of a key, at most.
const MAX_KEY_REGISTERS: usize = 16;

/// Variables that are set where a key is beyond theirs.
#[derive(Clone, Debug)]
pub struct Selection {
    /// The comparison: [`Compare::Lt`] or [`Compare::LtUnsigned`].
    pub compare: Compare,
    /// True if the larger key is chosen: the key that is held is the first operand.
    pub max: bool,
    /// The key of what the variables hold.
    pub held: Reg,
    /// The variables, with what a round sets them to.
    pub members: Vec<(Var, Reg)>,
}

/// The selections that set the variables of a loop over `index` with a body of definitions and
/// assignments which are none of these accumulators; `None` if one of the variables is in none.
pub fn selections(
    kernel: &Kernel,
    (index, body): (Reg, &[Stmt]),
    accumulators: &[Accumulator],
) -> Option<Vec<Selection>> {
    let sets = variables_set(body)?;
    let facts = Facts::of(kernel, (index, body), &sets)?;
    let is_independent = |one: &Accumulator| {
        [Some(one.operand), one.condition].into_iter().flatten().all(|reg| !facts.dependent.contains(&reg))
    };
    if !accumulators.iter().all(is_independent) {
        return None;
    }
    let mut groups: Vec<(Reg, Vec<(Var, Reg)>)> = Vec::new();
    for (var, new) in sets.into_iter().filter(|(var, _)| !accumulators.iter().any(|one| one.var == *var)) {
        let Op::Select(condition, operand, old) = facts.ops.get(&new)? else { return None };
        if facts.ops.get(old) != Some(&&Op::Get(var)) || facts.dependent.contains(operand) {
            return None;
        }
        match groups.iter_mut().find(|(of, _)| of == condition) {
            Some((_, members)) => members.push((var, *operand)),
            None => groups.push((*condition, vec![(var, *operand)])),
        }
    }
    groups.into_iter().map(|(condition, members)| facts.selection(condition, members)).collect()
}

/// The facts about the registers of a loop body.
struct Facts<'a> {
    kernel: &'a Kernel,
    ops: HashMap<Reg, &'a Op>,
    /// The registers that depend on variables which the loop sets.
    dependent: HashSet<Reg>,
    /// The registers that depend on the index or on slots.
    varying: HashSet<Reg>,
    /// The registers that hold 0 or 1.
    truths: HashSet<Reg>,
}

impl<'a> Facts<'a> {
    /// The facts about a body that sets these variables; `None` if one is read after it is set.
    fn of(kernel: &'a Kernel, (index, body): (Reg, &'a [Stmt]), sets: &[(Var, Reg)]) -> Option<Facts<'a>> {
        let (dependent, varying) = (HashSet::default(), HashSet::from_iter([index]));
        let (ops, truths) = (HashMap::default(), HashSet::default());
        let mut this = Facts { kernel, ops, dependent, varying, truths };
        let mut is_set: HashSet<Var> = HashSet::default();
        for stmt in body {
            match stmt {
                Stmt::Let(_, Op::Get(var)) if is_set.contains(var) => return None,
                Stmt::Let(reg, op) => this.define(*reg, op, sets),
                Stmt::Set(var, _) => drop(is_set.insert(*var)),
                _ => return None,
            }
        }
        Some(this)
    }

    fn define(&mut self, reg: Reg, op: &'a Op, sets: &[(Var, Reg)]) {
        let mut depends = matches!(op, Op::Get(var) if sets.iter().any(|(set, _)| set == var));
        let mut varies = matches!(op, Op::Load(..) | Op::Call(..));
        op.for_each_reg(&mut |operand| {
            depends |= self.dependent.contains(&operand);
            varies |= self.varying.contains(&operand);
        });
        let is_truth = match op {
            Op::Compare(..) => true,
            Op::Binary(Binary::And | Binary::Or | Binary::Xor, a, b) => {
                [a, b].iter().all(|operand| self.truths.contains(operand))
            }
            _ => false,
        };
        for (holds, set) in
            [(depends, &mut self.dependent), (varies, &mut self.varying), (is_truth, &mut self.truths)]
        {
            if holds {
                set.insert(reg);
            }
        }
        self.ops.insert(reg, op);
    }

    fn selection(&self, condition: Reg, members: Vec<(Var, Reg)>) -> Option<Selection> {
        match self.ops.get(&condition)? {
            Op::Compare(compare @ (Compare::Lt | Compare::LtUnsigned), a, b) => {
                let (max, held, key) = match [a, b].map(|reg| self.dependent.contains(reg)) {
                    [true, false] => (true, *a, *b),
                    [false, true] => (false, *b, *a),
                    _ => return None,
                };
                let mut budget = MAX_KEY_REGISTERS;
                self.is_key_of(&members, held, key, &mut budget).then_some(Selection {
                    compare: *compare,
                    max,
                    held,
                    members,
                })
            }
            // Rounds that a condition of their own leaves out are not beyond the beginning.
            Op::Binary(Binary::And, a, b) => match [a, b].map(|reg| self.dependent.contains(reg)) {
                [true, false] if self.truths.contains(b) => self.selection(*a, members),
                [false, true] if self.truths.contains(a) => self.selection(*b, members),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if `held` is `key` where the variables hold what the round sets them to.
    fn is_key_of(&self, members: &[(Var, Reg)], held: Reg, key: Reg, budget: &mut usize) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        if !self.dependent.contains(&held) {
            // Otherwise what is held would have another key in each round.
            return !self.varying.contains(&held) && self.is_same(held, key);
        }
        let Some(op) = self.ops.get(&held) else { return false };
        if let Op::Get(var) = op {
            return members.iter().any(|(member, operand)| member == var && self.is_same(*operand, key));
        }
        let Some(other) = self.ops.get(&key) else { return false };
        let (mut one, mut two) = ((*op).clone(), (*other).clone());
        let (mut operands, mut others) = (Vec::new(), Vec::new());
        one.for_each_reg_mut(&mut |reg| operands.push(std::mem::replace(reg, held)));
        two.for_each_reg_mut(&mut |reg| others.push(std::mem::replace(reg, held)));
        one == two
            && operands.iter().zip(&others).all(|(held, key)| self.is_key_of(members, *held, *key, budget))
    }

    /// Returns true for one register, or two that hold the same constant.
    fn is_same(&self, a: Reg, b: Reg) -> bool {
        let constant = |reg: Reg| Some((self.kernel.regs[reg], self.kernel.constants.get(&reg)?));
        a == b || constant(a).is_some_and(|one| constant(b) == Some(one))
    }
}
