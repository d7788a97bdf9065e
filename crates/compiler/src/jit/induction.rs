//! Linear induction variables: numbers that grow by the same number in each round of a loop.

use crate::hash::HashMap;
use crate::loop_ir::{Binary, Kernel, Reg};

/// The largest stride in slots, so that addresses within a vector are a number of 32 bits apart.
const MAX_STRIDE: u64 = 1 << 20;

/// A linear induction variable: a multiple of the index plus what is the same in all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Induction {
    /// The difference from a round to the next; not 0.
    pub(super) stride: i64,
    /// A register that it is a constant beyond, and the constant.
    pub(super) root: Reg,
    pub(super) offset: i64,
}

impl Induction {
    /// The result of an operation, if its stride is a constant.
    pub(super) fn result(
        kernel: &Kernel,
        inductions: &HashMap<Reg, Induction>,
        is_same: &dyn Fn(Reg) -> bool,
        reg: Reg,
        (kind, a, b): (Binary, Reg, Reg),
    ) -> Option<Induction> {
        let constant = |reg| kernel.constants.get(&reg).map(|bits| *bits as i64);
        let anew = |stride: i64| {
            let fits = stride != 0 && stride.unsigned_abs() <= MAX_STRIDE;
            fits.then_some(Induction { stride, root: reg, offset: 0 })
        };
        let moved = |by: Induction, offset: Option<i64>| match offset {
            Some(offset) => Some(Induction { offset: by.offset.wrapping_add(offset), ..by }),
            None => anew(by.stride),
        };
        match (kind, inductions.get(&a).copied(), inductions.get(&b).copied()) {
            (Binary::Add, Some(x), None) if is_same(b) => moved(x, constant(b)),
            (Binary::Add, None, Some(x)) if is_same(a) => moved(x, constant(a)),
            (Binary::Sub, Some(x), None) if is_same(b) => moved(x, constant(b).map(i64::wrapping_neg)),
            (Binary::Sub, None, Some(x)) if is_same(a) => anew(-x.stride),
            (Binary::Add, Some(x), Some(y)) => anew(x.stride + y.stride),
            (Binary::Sub, Some(x), Some(y)) => anew(x.stride - y.stride),
            (Binary::Mul, Some(x), None) => anew(x.stride.checked_mul(constant(b)?)?),
            (Binary::Mul, None, Some(x)) => anew(x.stride.checked_mul(constant(a)?)?),
            (Binary::Shl, Some(x), None) => {
                anew(x.stride.checked_mul(1 << constant(b).filter(|n| (0..20).contains(n))?)?)
            }
            _ => None,
        }
    }

    /// Returns true if no two rounds have the same number, nor does one.
    pub(super) fn is_apart_from(self, other: Induction) -> bool {
        let distance = self.offset.wrapping_sub(other.offset).unsigned_abs();
        self.root == other.root && distance > 0 && distance < self.stride.unsigned_abs()
    }
}
