//! Affine forms of slot numbers: sums of registers times constants.
//!
//! `m.(i \, j)` is the slot `n * i + j`. What loads and stores of an array have to do with each
//! other is seen by the difference of their forms (Banerjee, *Dependence analysis for
//! supercomputing*, 1988).

use super::super::{Binary, Kernel, Op, Reg, ScalarType, Stmt, for_each_stmt};
use crate::hash::HashMap;

/// Terms of the longest form.
const MAX_TERMS: usize = 8;

/// Operations between a register and the terms of its form.
const MAX_DEPTH: u32 = 32;

/// A constant and registers times constants, modulo 2^64.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Affine {
    /// Registers with their coefficients, none of which is 0, in the order of the registers.
    pub terms: Vec<(Reg, i64)>,
    /// The constant.
    pub constant: i64,
}

impl Affine {
    /// A constant without registers.
    pub fn constant(constant: i64) -> Affine {
        Affine { terms: Vec::new(), constant }
    }

    /// A register itself.
    pub fn register(reg: Reg) -> Affine {
        Affine { terms: vec![(reg, 1)], constant: 0 }
    }

    /// The factor of a register; 0 for one that is no term.
    pub fn coefficient(&self, reg: Reg) -> i64 {
        self.terms.iter().find(|term| term.0 == reg).map_or(0, |term| term.1)
    }

    /// `self + other * factor`; `None` if it has too many terms, or a number is beyond a word.
    pub fn add_scaled(&self, other: &Affine, factor: i64) -> Option<Affine> {
        let constant = self.constant.checked_add(other.constant.checked_mul(factor)?)?;
        let mut terms = self.terms.clone();
        for (reg, coefficient) in &other.terms {
            let more = coefficient.checked_mul(factor)?;
            match terms.binary_search_by_key(reg, |term| term.0) {
                Ok(at) => terms[at].1 = terms[at].1.checked_add(more)?,
                Err(at) => terms.insert(at, (*reg, more)),
            }
        }
        terms.retain(|term| term.1 != 0);
        (terms.len() <= MAX_TERMS).then_some(Affine { terms, constant })
    }
}

/// The digits of a slot number that takes each multiple of `unit` below `slots` once: indices of the
/// loops around, with the place values of their numbers of rounds, the lowest first.
pub(super) fn digits_of(
    terms: &[(Reg, i64)],
    loops: &[(Reg, i64)],
    unit: i64,
    slots: u64,
) -> Option<Vec<(Reg, i64, i64)>> {
    let mut digits = Vec::new();
    for (reg, coefficient) in terms {
        let (_, rounds) = loops.iter().find(|(index, _)| index == reg)?;
        digits.push((*reg, *coefficient, *rounds));
    }
    digits.sort_unstable_by_key(|(_, coefficient, _)| *coefficient);
    let mut weight = unit;
    for (_, coefficient, rounds) in &digits {
        if *coefficient != weight {
            return None;
        }
        weight = weight.checked_mul(*rounds)?;
    }
    (weight as u64 == slots).then_some(digits)
}

/// The affine forms of the registers of a kernel.
pub(super) struct Forms<'k> {
    kernel: &'k Kernel,
    ops: HashMap<Reg, &'k Op>,
    known: HashMap<Reg, Affine>,
}

impl<'k> Forms<'k> {
    /// Collects the operations of the registers of a kernel; forms are computed when asked for.
    pub fn new(kernel: &'k Kernel) -> Forms<'k> {
        let mut ops = HashMap::default();
        for_each_stmt(&kernel.body, &mut |stmt| {
            if let Stmt::Let(reg, op) = stmt {
                ops.insert(*reg, op);
            }
        });
        Forms { kernel, ops, known: HashMap::default() }
    }

    /// The form of a register of 64 bits.
    pub fn of(&mut self, reg: Reg) -> Affine {
        self.within(reg, MAX_DEPTH)
    }

    /// The number that a register is always equal to, if its form says one.
    pub fn constant(&mut self, reg: Reg) -> Option<i64> {
        let form = self.of(reg);
        form.terms.is_empty().then_some(form.constant)
    }

    fn within(&mut self, reg: Reg, depth: u32) -> Affine {
        if let Some(known) = self.known.get(&reg) {
            return known.clone();
        }
        let form = match depth {
            0 => None,
            _ => self.expanded(reg, depth - 1),
        };
        let form = form.unwrap_or_else(|| Affine::register(reg));
        self.known.insert(reg, form.clone());
        form
    }

    fn expanded(&mut self, reg: Reg, depth: u32) -> Option<Affine> {
        if self.kernel.regs[reg] != ScalarType::I64 {
            return None;
        }
        match **self.ops.get(&reg)? {
            Op::Const(_, bits) => Some(Affine::constant(bits as i64)),
            Op::Size(n) => i64::try_from(self.kernel.sizes[n as usize]).ok().map(Affine::constant),
            Op::Binary(kind @ (Binary::Add | Binary::Sub), a, b) => {
                let factor = if kind == Binary::Add { 1 } else { -1 };
                self.within(a, depth).add_scaled(&self.within(b, depth), factor)
            }
            Op::Binary(Binary::Mul, a, b) => {
                let (a, b) = (self.within(a, depth), self.within(b, depth));
                let (form, factor) = match (&a.terms[..], &b.terms[..]) {
                    ([], _) => (b, a.constant),
                    (_, []) => (a, b.constant),
                    _ => return None,
                };
                Affine::default().add_scaled(&form, factor)
            }
            _ => None,
        }
    }
}
