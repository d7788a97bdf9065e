//! Variables that keep the first best of the numbers of a loop: where the key of a round is beyond
//! the key of what the variables hold, all of them are set.
//!
//! ```text
//! for i in low..high                       for i in low..high
//!   if x[i] > x[best]  best := i             if x[i] < least  least, place := x[i], i
//! ```
//!
//! **Which.** The key of what is held is the key of a round with the variables in place of what the
//! round sets them to, and else the same in all rounds: so it *is* the key of the round that they come
//! from, or of the beginning. The comparison is strict. What a round computes depends on the variables by the comparison alone.
//!
//! **Why the grouping means nothing.** The comparison is a strict weak order of the keys that are
//! not NaN, and none holds with NaN. So rounds one after the other give the first of the largest
//! keys that are beyond the beginning's, or the beginning. Pieces that all begin with the beginning
//! give the same for their rounds, and joined in order, by the same comparison, the same for all.

use super::accumulator::Accumulator;
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
    let (mut ops, mut sets) = (HashMap::default(), Vec::<(Var, Reg)>::new());
    let variable = |stmt: &Stmt| if let Stmt::Set(var, _) = stmt { Some(*var) } else { None };
    let variables: HashSet<Var> = body.iter().filter_map(variable).collect();
    // Registers that depend on variables that the loop sets.
    let mut dependent: HashSet<Reg> = HashSet::default();
    for stmt in body {
        match stmt {
            Stmt::Let(reg, op) => {
                let mut depends = false;
                op.for_each_reg(&mut |operand| depends |= dependent.contains(&operand));
                if let Op::Get(var) = op {
                    // A new value.
                    if sets.iter().any(|(set, _)| set == var) {
                        return None;
                    }
                    depends |= variables.contains(var);
                }
                if depends {
                    dependent.insert(*reg);
                }
                ops.insert(*reg, op);
            }
            Stmt::Set(var, new) => {
                if sets.iter().any(|(set, _)| set == var) {
                    return None;
                }
                sets.push((*var, *new));
            }
            _ => return None,
        }
    }
    let is_independent = |one: &Accumulator| {
        [Some(one.operand), one.condition].into_iter().flatten().all(|reg| !dependent.contains(&reg))
    };
    if !accumulators.iter().all(is_independent) {
        return None;
    }
    let mut groups: Vec<(Reg, Vec<(Var, Reg)>)> = Vec::new();
    for (var, new) in sets.into_iter().filter(|(var, _)| !accumulators.iter().any(|one| one.var == *var)) {
        let Op::Select(condition, operand, old) = ops.get(&new)? else { return None };
        if ops.get(old) != Some(&&Op::Get(var)) || dependent.contains(operand) {
            return None;
        }
        match groups.iter_mut().find(|(of, _)| of == condition) {
            Some((_, members)) => members.push((var, *operand)),
            None => groups.push((*condition, vec![(var, *operand)])),
        }
    }
    let search = Search { kernel, index, ops, dependent };
    groups.into_iter().map(|(condition, members)| search.selection(condition, members)).collect()
}

struct Search<'a> {
    kernel: &'a Kernel,
    index: Reg,
    ops: HashMap<Reg, &'a Op>,
    dependent: HashSet<Reg>,
}

impl Search<'_> {
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
                [true, false] if self.is_truth_value(*b) => self.selection(*a, members),
                [false, true] if self.is_truth_value(*a) => self.selection(*b, members),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_truth_value(&self, reg: Reg) -> bool {
        match self.ops.get(&reg) {
            Some(Op::Compare(..)) => true,
            Some(Op::Binary(Binary::And | Binary::Or | Binary::Xor, a, b)) => {
                self.is_truth_value(*a) && self.is_truth_value(*b)
            }
            _ => false,
        }
    }

    /// Returns true if `held` is `key` where the variables hold what the round sets them to.
    fn is_key_of(&self, members: &[(Var, Reg)], held: Reg, key: Reg, budget: &mut usize) -> bool {
        if *budget == 0 {
            return false;
        }
        *budget -= 1;
        if !self.dependent.contains(&held) {
            return self.is_invariant(held) && self.is_same(held, key);
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

    /// Returns true for a register that holds the same in all rounds: else what is held would have
    /// another key in each.
    fn is_invariant(&self, reg: Reg) -> bool {
        let Some(op) = self.ops.get(&reg) else { return reg != self.index };
        let mut invariant = !matches!(op, Op::Load(..) | Op::Call(..));
        op.for_each_reg(&mut |operand| invariant = invariant && self.is_invariant(operand));
        invariant
    }

    /// Returns true for one register, or two that hold the same constant.
    fn is_same(&self, a: Reg, b: Reg) -> bool {
        let constant = |reg: Reg| Some((self.kernel.regs[reg], self.kernel.constants.get(&reg)?));
        a == b || constant(a).is_some_and(|one| constant(b) == Some(one))
    }
}
