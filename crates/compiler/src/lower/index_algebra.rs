//! Simplification of quotients and remainders of slot numbers and codes.
//!
//! A slot number is a sum of digits, each times what it weighs: `row * 12 + column + 1`. Views and
//! reshapes divide such numbers again, often by the same weights. [`IndexFacts`] remembers what
//! numbers are made of, and gives quotients and remainders of them without a division where these
//! laws say so, for `L < m`:
//!
//! ```text
//! (n * H + L) / n = H + L / n            (n * H + L) % n = L % n
//! (m * H + L) / n = H / (n / m)          (m * H + L) % n = (H % (n / m)) * m + L        if m divides n
//! ```
//!
//! where `H` are the digits whose weights are multiples, and `L` the others. With bounds of the
//! digits most quotients are then numbers that need no division. Numbers are below 2^62 here, so
//! nothing wraps ([`super::Lower::count`], [`super::Lower::stored`]); a number that could be larger
//! is a digit of its own.

use crate::hash::HashMap;
use crate::loop_ir::{Binary, Reg};

/// Numbers from here on are not looked into.
const MAX_TRACKED: u64 = 1 << 62;
/// Digits of a number that are remembered.
const MAX_DIGITS: usize = 12;

/// A number made of digits.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Sum {
    /// Registers with their weights.
    pub digits: Vec<(Reg, u64)>,
    /// The constant term.
    pub rest: u64,
}

/// Facts about registers.
#[derive(Default)]
pub(super) struct IndexFacts {
    /// The exclusive upper bound of each digit.
    below: HashMap<Reg, u64>,
    /// The weighted sum of digits that a register is; itself as a digit, if it is not here.
    sums: HashMap<Reg, Sum>,
    /// Quotients and remainders: of what, by what, and which of them.
    parts: HashMap<Reg, (Reg, u64, Binary)>,
}

/// A way to a quotient or remainder.
#[derive(Debug)]
pub(super) enum Simpler {
    /// A number.
    Sum(Sum),
    /// Quotient or remainder of a number, times a weight, plus a number.
    Of { op: Binary, sum: Sum, by: u64, weight: u64, plus: Sum },
}

impl IndexFacts {
    /// A register is a known number.
    pub fn is(&mut self, reg: Reg, n: u64) {
        if n < MAX_TRACKED {
            self.sums.insert(reg, Sum { digits: Vec::new(), rest: n });
        }
    }

    /// A register is below a known number.
    pub fn bound(&mut self, reg: Reg, n: u64) {
        if n <= MAX_TRACKED {
            self.below.insert(reg, n);
        }
    }

    /// The weighted sum of digits that a register is, if it has a bound.
    pub fn sum(&self, reg: Reg) -> Option<Sum> {
        let itself = || self.below.contains_key(&reg).then(|| Sum { digits: vec![(reg, 1)], rest: 0 });
        self.sums.get(&reg).cloned().or_else(itself)
    }

    /// The number that a register is, if it is known.
    pub fn value(&self, reg: Reg) -> Option<u64> {
        self.sums.get(&reg).filter(|sum| sum.digits.is_empty()).map(|sum| sum.rest)
    }

    /// The most that a sum can be, if that is no great number.
    fn most(&self, sum: &Sum) -> Option<u64> {
        let digits = sum.digits.iter().map(|(digit, weight)| {
            self.below.get(digit).and_then(|n| n.saturating_sub(1).checked_mul(*weight))
        });
        let most = digits.into_iter().try_fold(sum.rest, |all, one| all.checked_add(one?));
        most.filter(|most| *most < MAX_TRACKED)
    }

    /// A register was set to this.
    pub fn note(&mut self, op: Binary, a: Reg, b: Reg, result: Reg) {
        let sum = match op {
            Binary::Add => self.added(a, b),
            Binary::Mul => match (self.value(a), self.value(b)) {
                (_, Some(n)) => self.sum(a).and_then(|x| x.times(n)),
                (Some(n), _) => self.sum(b).and_then(|x| x.times(n)),
                _ => None,
            },
            Binary::DivUnsigned => {
                if let (Some(most), Some(n)) =
                    (self.sum(a).and_then(|x| self.most(&x)), self.value(b).filter(|n| *n > 0))
                {
                    self.bound(result, most / n + 1);
                }
                None
            }
            Binary::RemUnsigned => {
                if let Some(n) = self.value(b) {
                    self.bound(result, n);
                }
                None
            }
            _ => None,
        };
        if let (Binary::DivUnsigned | Binary::RemUnsigned, Some(n)) = (op, self.value(b)) {
            self.parts.insert(result, (a, n, op));
        }
        if let Some(sum) = sum
            && self.most(&sum).is_some()
        {
            self.sums.insert(result, sum);
        }
    }

    /// The weighted sum for the sum of two registers: `(x / n) * n + x % n` is `x`.
    fn added(&self, a: Reg, b: Reg) -> Option<Sum> {
        let mut sum = self.sum(a)?.plus(&self.sum(b)?)?;
        let remainder = sum.digits.iter().enumerate().find_map(|(at, (digit, weight))| {
            let (of, n, Binary::RemUnsigned) = self.parts.get(digit)? else { return None };
            let quotient = sum.digits.iter().position(|(digit, other)| {
                self.parts.get(digit) == Some(&(*of, *n, Binary::DivUnsigned))
                    && weight.checked_mul(*n) == Some(*other)
            });
            Some((at, quotient?, *of, *weight))
        });
        if let Some((at, quotient, of, weight)) = remainder {
            sum.digits[at] = (of, weight);
            sum.digits.remove(quotient);
            self.below.get(&of)?;
        }
        Some(sum)
    }

    /// A way to a number without dividing as much: to a quotient, a remainder, or to what they were
    /// parts of.
    pub fn simpler(&self, op: Binary, a: Reg, b: Reg) -> Option<Simpler> {
        if op == Binary::Add {
            let sum = self.added(a, b)?;
            let one = matches!(&sum.digits[..], [(digit, 1)] if *digit != a && *digit != b);
            return (one && sum.rest == 0).then_some(Simpler::Sum(sum));
        }
        if !matches!(op, Binary::DivUnsigned | Binary::RemUnsigned) {
            return None;
        }
        let (n, quotient, sum) = (self.value(b)?, op == Binary::DivUnsigned, self.sum(a)?);
        self.most(&sum)?;
        if n == 0 {
            return None;
        }
        let (high, low) = sum.parted(n);
        let most = self.most(&low)?;
        if most < n {
            return Some(Simpler::Sum(if quotient { high } else { low }));
        }
        if !high.digits.is_empty() {
            let plus = if quotient { high } else { Sum::default() };
            return Some(Simpler::Of { op, sum: low, by: n, weight: 1, plus });
        }
        // The largest weight that divides, and is above what lies below it.
        let weights = sum.digits.iter().map(|(_, weight)| *weight).filter(|m| *m > 1 && *m < n && n % m == 0);
        let (m, high, low) = weights
            .filter_map(|m| {
                let (high, low) = sum.parted(m);
                (self.most(&low)? < m).then_some((m, high, low))
            })
            .max_by_key(|(m, ..)| *m)?;
        Some(match quotient {
            true => Simpler::Of { op, sum: high, by: n / m, weight: 1, plus: Sum::default() },
            false => Simpler::Of { op, sum: high, by: n / m, weight: m, plus: low },
        })
    }
}

impl Sum {
    fn plus(mut self, other: &Sum) -> Option<Sum> {
        self.rest = self.rest.checked_add(other.rest)?;
        for (digit, weight) in &other.digits {
            match self.digits.iter_mut().find(|(known, _)| known == digit) {
                Some((_, known)) => *known = known.checked_add(*weight)?,
                None => self.digits.push((*digit, *weight)),
            }
        }
        (self.digits.len() <= MAX_DIGITS).then_some(self)
    }

    fn times(mut self, n: u64) -> Option<Sum> {
        self.rest = self.rest.checked_mul(n)?;
        for (_, weight) in &mut self.digits {
            *weight = weight.checked_mul(n)?;
        }
        self.digits.retain(|(_, weight)| *weight != 0);
        Some(self)
    }

    /// `n * high + low`: the high part.
    fn parted(&self, n: u64) -> (Sum, Sum) {
        let (mut high, mut low) = (Sum::default(), Sum::default());
        for (digit, weight) in &self.digits {
            match weight % n {
                0 => high.digits.push((*digit, weight / n)),
                _ => low.digits.push((*digit, *weight)),
            }
        }
        (high.rest, low.rest) = (self.rest / n, self.rest % n);
        (high, low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_ir::Id;

    fn total(sum: &Sum, regs: &[u64]) -> u64 {
        sum.digits.iter().map(|(digit, weight)| regs[digit.index()] * weight).sum::<u64>() + sum.rest
    }

    fn apply(op: Binary, a: u64, b: u64) -> u64 {
        match op {
            Binary::Add => a + b,
            Binary::Mul => a * b,
            Binary::DivUnsigned => a / b,
            Binary::RemUnsigned => a % b,
            _ => unreachable!(),
        }
    }

    #[test]
    fn simpler_ways_lead_to_the_same_numbers() {
        let mut random = fastrand::Rng::with_seed(7);
        let mut ways = [0, 0];
        for _ in 0..20_000 {
            // Registers 0 to 2 are indices, 3 to 5 known, the others come from operations on
            // earlier ones.
            let mut facts = IndexFacts::default();
            let mut regs = Vec::new();
            for reg in 0..3 {
                let size = random.u64(1..7);
                facts.bound(Reg::new(reg), size);
                regs.push(random.u64(0..size));
            }
            for reg in 3..6 {
                let n = *random.choice(&[1, 2, 3, 4, 6, 8, 12]).unwrap_or(&1);
                facts.is(Reg::new(reg), n);
                regs.push(n);
            }
            for result in 6..14 {
                let op = *random
                    .choice(&[Binary::Add, Binary::Mul, Binary::DivUnsigned, Binary::RemUnsigned])
                    .unwrap_or(&Binary::Add);
                let a = random.usize(0..result);
                let b = if op == Binary::Add { random.usize(0..result) } else { random.usize(3..6) };
                let exact = apply(op, regs[a], regs[b]);
                let (a, b, result) = (Reg::new(a), Reg::new(b), Reg::new(result));
                let found = match facts.simpler(op, a, b) {
                    Some(Simpler::Sum(sum)) => {
                        ways[0] += 1;
                        total(&sum, &regs)
                    }
                    Some(Simpler::Of { op, sum, by, weight, plus }) => {
                        ways[1] += 1;
                        apply(op, total(&sum, &regs), by) * weight + total(&plus, &regs)
                    }
                    None => exact,
                };
                assert_eq!(found, exact, "{op:?} of {a} and {b} in {regs:?}");
                facts.note(op, a, b, result);
                regs.push(exact);
            }
        }
        assert!(ways.iter().all(|ways| *ways > 200), "{ways:?}");
    }

    #[test]
    fn a_place_in_a_frame_is_not_divided() {
        // (10 + i * 10 + 1 + j) by 10, with j below 8.
        let mut facts = IndexFacts::default();
        let r: [Reg; 7] = std::array::from_fn(Reg::new);
        facts.bound(r[0], 8);
        facts.bound(r[1], 8);
        facts.is(r[2], 10);
        facts.is(r[3], 11);
        facts.note(Binary::Mul, r[0], r[2], r[4]);
        facts.note(Binary::Add, r[4], r[3], r[5]);
        facts.note(Binary::Add, r[5], r[1], r[6]);
        let Some(Simpler::Sum(row)) = facts.simpler(Binary::DivUnsigned, r[6], r[2]) else { panic!() };
        assert_eq!(row, Sum { digits: vec![(r[0], 1)], rest: 1 });
        let Some(Simpler::Sum(column)) = facts.simpler(Binary::RemUnsigned, r[6], r[2]) else { panic!() };
        assert_eq!(column, Sum { digits: vec![(r[1], 1)], rest: 1 });
    }
}
