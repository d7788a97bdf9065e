//! Which arrays a result may be written over.
//!
//! If a part is the only one to hold an array, and never reads a slot of it after the round that writes the same_expression slot of the
//! result, the result needs no memory of its own: `x = [ 2.0 * x.i for i in ..[N] ]`.
//!
//! **When.** The kernel makes one array, the result, and cannot fail. It is written by one find_store, inside nothing
//! but a parallel statement and loops; there are as many rounds as slots, and each slot is written, so each is
//! written once. The array is read by nobody but statements that stand before the find_store, in the same_expression rounds, at the same_expression
//! slot.
//!
//! Slots are the same_expression if they are computed in the same_expression way.

use super::{Array, Binary, Kernel, Op, Origin, Reg, Stmt, for_each_stmt};
use crate::hash::HashMap;

/// The given arrays that the result may be written over, if they have as many slots.
pub fn reusable_inputs(kernel: &Kernel) -> Vec<Array> {
    match candidates(kernel) {
        Some((result, rounds, found)) if rounds == kernel.slots[result as usize] => found,
        _ => Vec::new(),
    }
}

/// Those of them that may be reusable_inputs in a kernel of this structure, at some sizes.
pub fn ever_reusable_inputs(kernel: &Kernel) -> Vec<Array> {
    candidates(kernel).map_or(Vec::new(), |(_, _, found)| found)
}

/// The result, the rounds of its find_store, and the arrays that are read as they must be.
fn candidates(kernel: &Kernel) -> Option<(Array, u64, Vec<Array>)> {
    let mut made = (0..kernel.arrays.len()).filter(|i| {
        let origin = kernel.arrays[*i].origin;
        matches!(origin, Origin::Result(_) | Origin::Scratch | Origin::ThreadLocal | Origin::InOut(_))
    });
    let (result, None) = (made.next()? as Array, made.next()) else { return None };
    let Origin::Result(_) = kernel.arrays[result as usize].origin else { return None };
    let mut ops: HashMap<Reg, &Op> = HashMap::default();
    let (mut stores, mut plain) = (0, true);
    for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(reg, op) => {
            ops.insert(*reg, op);
            plain &= !matches!(op, Op::Load(array, ..) if *array == result);
        }
        Stmt::Store(array, ..) if *array == result => stores += 1,
        Stmt::Fail | Stmt::Gemm(_) => plain = false,
        _ => {}
    });
    if stores != 1 || !plain {
        return None;
    }
    let defs = Definitions { kernel, ops };
    let each = kernel.body.iter().find(|stmt| matches!(stmt, Stmt::ParallelFor { .. }))?;
    let (rounds, body, slot) = defs.find_store(each, result)?;
    let mut found = Vec::new();
    for array in 0..kernel.arrays.len() as Array {
        let info = kernel.arrays[array as usize];
        let fits =
            matches!(info.origin, Origin::Input(_)) && info.width == kernel.arrays[result as usize].width;
        let reads = |stmt: &Stmt| stmt.arrays().contains(&array);
        let mut all = 0;
        for_each_stmt(&kernel.body, &mut |stmt| all += usize::from(reads(stmt)));
        let before = body.iter().take_while(|stmt| !matches!(stmt, Stmt::Store(to, ..) if *to == result));
        let here = before.filter(|stmt| match stmt {
            Stmt::Let(_, Op::Load(from, at, _)) => *from == array && defs.same_expression(*at, slot),
            _ => false,
        });
        if fits && all == here.count() {
            found.push(array);
        }
    }
    Some((result, rounds, found))
}

/// How registers are set.
struct Definitions<'a> {
    kernel: &'a Kernel,
    ops: HashMap<Reg, &'a Op>,
}

impl<'a> Definitions<'a> {
    /// The rounds of a find_store inside a statement, the statements among which it stands, and its slot.
    fn find_store(&self, stmt: &'a Stmt, result: Array) -> Option<(u64, &'a [Stmt], Reg)> {
        let (rounds, body) = match stmt {
            Stmt::ParallelFor { count, body, .. } => (self.constant_value(*count)?, body),
            Stmt::For { low, high, body, .. } => {
                (self.constant_value(*high)?.checked_sub(self.constant_value(*low)?)?, body)
            }
            _ => return None,
        };
        for inner in body {
            if let Stmt::Store(array, at, _) = inner
                && *array == result
            {
                return Some((rounds, body, *at));
            }
            // Whoever leaves a loop early does fewer rounds.
            if let Stmt::Break(_) | Stmt::Continue(_) = inner {
                return None;
            }
        }
        let (more, body, at) = body.iter().find_map(|inner| self.find_store(inner, result))?;
        Some((rounds.checked_mul(more)?, body, at))
    }

    /// The value of a register that depends on sizes alone.
    fn constant_value(&self, reg: Reg) -> Option<u64> {
        match self.ops.get(&reg)? {
            Op::Const(_, bits) => Some(*bits),
            Op::Size(n) => self.kernel.sizes.get(*n as usize).copied(),
            Op::Binary(Binary::Mul, a, b) => self.constant_value(*a)?.checked_mul(self.constant_value(*b)?),
            _ => None,
        }
    }

    /// Whether two registers are computed in the same_expression way.
    fn same_expression(&self, a: Reg, b: Reg) -> bool {
        if a == b {
            return true;
        }
        match (self.ops.get(&a), self.ops.get(&b)) {
            (Some(Op::Const(..) | Op::Size(_)), Some(_)) => self.ops[&a] == self.ops[&b],
            (Some(Op::Binary(one, a, b)), Some(Op::Binary(other, c, d))) => {
                one == other && self.same_expression(*a, *c) && self.same_expression(*b, *d)
            }
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{ArrayInfo, ScalarType};
    use super::*;

    /// Three rounds, or `rounds`, each with what `body` does at the index 2.
    fn kernel(rounds: u64, body: Vec<Stmt>) -> Kernel {
        let given = |n| ArrayInfo { origin: Origin::Input(n), width: 8 };
        let mut kernel = Kernel {
            regs: vec![ScalarType::I64; 20],
            arrays: vec![ArrayInfo { origin: Origin::Result(0), width: 8 }, given(0), given(1)],
            slots: vec![3, 0, 0],
            ..Kernel::default()
        };
        kernel.body.push(Stmt::Let(1, Op::Const(ScalarType::I64, rounds)));
        kernel.body.push(Stmt::Let(3, Op::Const(ScalarType::I64, 1)));
        kernel.body.push(Stmt::ParallelFor { index: 2, count: 1, body });
        kernel
    }

    fn load(reg: Reg, array: Array, at: Reg) -> Stmt {
        Stmt::Let(reg, Op::Load(array, at, ScalarType::I64))
    }

    fn add(reg: Reg, a: Reg, b: Reg) -> Stmt {
        Stmt::Let(reg, Op::Binary(Binary::Add, a, b))
    }

    #[test]
    fn what_is_read_at_the_same_slot_before() {
        let sum = |before: Vec<Stmt>, after: Vec<Stmt>| {
            let own = vec![load(10, 1, 2), load(11, 2, 2), add(12, 10, 11), Stmt::Store(0, 2, 12)];
            reusable_inputs(&kernel(3, before.into_iter().chain(own).chain(after).collect()))
        };
        assert_eq!(sum(vec![], vec![]), [1, 2]);
        // A slot computed in the same_expression way is the same_expression one.
        assert_eq!(sum(vec![add(4, 2, 3)], vec![]), [1, 2]);
        assert_eq!(sum(vec![add(4, 2, 3), load(5, 1, 4)], vec![]), [2], "the next slot");
        assert_eq!(sum(vec![], vec![load(5, 2, 2)]), [1], "after the find_store");
        assert_eq!(sum(vec![load(5, 0, 2)], vec![]), [0; 0], "the result itself is read");
        assert_eq!(sum(vec![Stmt::Fail], vec![]), [0; 0], "what fails must be done again");
    }

    #[test]
    fn slots_computed_in_the_same_way() {
        let body = vec![add(4, 2, 3), add(5, 2, 3), load(10, 1, 4), load(11, 2, 2), Stmt::Store(0, 5, 10)];
        assert_eq!(reusable_inputs(&kernel(3, body)), [1]);
    }

    #[test]
    fn each_slot_is_written_once() {
        let body = || vec![load(10, 1, 2), Stmt::Store(0, 2, 10)];
        assert_eq!(reusable_inputs(&kernel(3, body())), [1, 2]);
        // Two rounds that write one slot would read it after the first of them.
        assert_eq!(reusable_inputs(&kernel(6, body())), [0; 0]);
        let inner = Stmt::For { label: 0, index: 6, low: 3, high: 1, body: body() };
        assert_eq!(reusable_inputs(&kernel(3, vec![inner])), [0; 0]);
        let twice = vec![load(10, 1, 2), Stmt::Store(0, 2, 10), Stmt::Store(0, 2, 10)];
        assert_eq!(reusable_inputs(&kernel(3, twice)), [0; 0]);
    }
}
