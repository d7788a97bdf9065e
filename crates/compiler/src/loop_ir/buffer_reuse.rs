//! Buffer reuse: the input arrays that a result may be written over.
//!
//! If a part is the only one to hold an array, and never reads a slot of it after the round that
//! writes the same slot of the result, the result needs no memory of its own: `x = [ 2.0 * x.i for
//! i in ..[N] ]`.
//!
//! **When.** The kernel makes one array, the result, and cannot fail. It is written by one store,
//! inside nothing but a parallel statement and loops; there are as many rounds as slots, and each
//! slot is written, so each is written once. The array is read by nobody but statements that stand
//! before the store, in the same rounds, at the same slot.
//!
//! Slots are the same if they are computed in the same way.

use super::{Array, Binary, Kernel, Op, Origin, Reg, Stmt, for_each_stmt};
use crate::hash::HashMap;

/// The given arrays that the result may be written over, if they have as many slots.
pub fn reusable_inputs(kernel: &Kernel) -> Vec<Array> {
    match candidates(kernel) {
        Some((result, rounds, found)) if rounds == kernel.slots[result] => found,
        _ => Vec::new(),
    }
}

/// The given arrays that the result may be written over in a kernel of this structure at some
/// sizes.
pub fn ever_reusable_inputs(kernel: &Kernel) -> Vec<Array> {
    candidates(kernel).map_or(Vec::new(), |(_, _, found)| found)
}

/// The result, the rounds of its store, and the arrays that are read as they must be.
fn candidates(kernel: &Kernel) -> Option<(Array, u64, Vec<Array>)> {
    let mut made = kernel.arrays.ids().filter(|array| {
        let origin = kernel.arrays[*array].origin;
        matches!(origin, Origin::Result(_) | Origin::Scratch | Origin::ThreadLocal | Origin::InOut(_))
    });
    let (result, None) = (made.next()?, made.next()) else { return None };
    let Origin::Result(_) = kernel.arrays[result].origin else { return None };
    let mut ops: HashMap<Reg, &Op> = HashMap::default();
    let (mut stores, mut plain) = (0, true);
    for_each_stmt(&kernel.body, &mut |stmt| match stmt {
        Stmt::Let(reg, op) => {
            ops.insert(*reg, op);
            plain &= !matches!(op, Op::Load(array, ..) if *array == result);
        }
        Stmt::Store(array, ..) if *array == result => stores += 1,
        Stmt::Fail | Stmt::Gemm(_) | Stmt::Sort(_) | Stmt::Call(_) => plain = false,
        _ => {}
    });
    if stores != 1 || !plain {
        return None;
    }
    let defs = Definitions { kernel, ops };
    let each = kernel.body.iter().find(|stmt| matches!(stmt, Stmt::ParallelFor { .. }))?;
    let (rounds, body, slot) = defs.find_store(each, result)?;
    let mut found = Vec::new();
    for array in kernel.arrays.ids() {
        let info = kernel.arrays[array];
        let fits = matches!(info.origin, Origin::Input(_)) && info.width == kernel.arrays[result].width;
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

/// The operations that set registers.
struct Definitions<'a> {
    kernel: &'a Kernel,
    ops: HashMap<Reg, &'a Op>,
}

impl<'a> Definitions<'a> {
    /// The rounds of a store inside a statement, the statements among which it stands, and its
    /// slot.
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
            // A loop that is left early has fewer iterations.
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

    /// Returns true if two registers are computed in the same way.
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
    use super::super::parse;
    use super::*;

    /// A kernel of `count` iterations over the index `r2`: a statement between two semicolons,
    /// indented further by what is more than one space.
    fn kernel(count: u64, body: &str) -> Kernel {
        let line = |line: &str| format!("\n  {}", line.strip_prefix(' ').unwrap_or(line));
        let body: String = body.split(';').map(line).collect();
        let text = format!(
            "array a0: result 0, 8 bytes a slot, 3 slots
array a1: input 0, 8 bytes a slot, 0 slots
array a2: input 1, 8 bytes a slot, 0 slots
r0: i64 = 0
r1: i64 = {count}
r3: i64 = 1
parallel for r2 < r1{body}"
        );
        parse::kernel(&text).unwrap()
    }

    fn reusable(count: u64, body: &str) -> Vec<String> {
        reusable_inputs(&kernel(count, body)).iter().map(Array::to_string).collect()
    }

    #[test]
    fn inputs_read_at_the_same_slot_before_the_store() {
        let sum = |before: &str, after: &str| {
            let own = "r10: i64 = a1[r2]; r11: i64 = a2[r2]; r12: i64 = add r10 r11; a0[r2] <- r12";
            reusable(3, &format!("{before}{own}{after}"))
        };
        assert_eq!(sum("", ""), ["a1", "a2"]);
        // A slot computed in the same way is the same one.
        assert_eq!(sum("r4: i64 = add r2 r3; ", ""), ["a1", "a2"]);
        assert_eq!(sum("r4: i64 = add r2 r3; r5: i64 = a1[r4]; ", ""), ["a2"], "the next slot");
        assert_eq!(sum("", "; r5: i64 = a2[r2]"), ["a1"], "after the store");
        assert_eq!(sum("r5: i64 = a0[r2]; ", ""), [""; 0], "the result itself is read");
        assert_eq!(sum("fail; ", ""), [""; 0], "a kernel that fails is run again");
    }

    #[test]
    fn slots_computed_in_the_same_way() {
        let body =
            "r4: i64 = add r2 r3; r5: i64 = add r2 r3; r10: i64 = a1[r4]; r11: i64 = a2[r2]; a0[r5] <- r10";
        assert_eq!(reusable(3, body), ["a1"]);
    }

    #[test]
    fn each_slot_is_written_once() {
        let body = "r10: i64 = a1[r2]; a0[r2] <- r10";
        assert_eq!(reusable(3, body), ["a1", "a2"]);
        // Two iterations that write one slot would read it after the first of them.
        assert_eq!(reusable(6, body), [""; 0]);
        assert_eq!(reusable(3, "for r6 in r3..<r1 @0;   r10: i64 = a1[r2];   a0[r2] <- r10"), [""; 0]);
        assert_eq!(reusable(3, "r10: i64 = a1[r2]; a0[r2] <- r10; a0[r2] <- r10"), [""; 0]);
    }
}
