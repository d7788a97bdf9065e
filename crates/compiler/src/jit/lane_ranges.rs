//! Ranges of the numbers in lanes of 8 bytes: natural numbers below 2^32 and integers of 32 bits,
//! whose products and quotients take fewer instructions, and floats of 4 bytes that may be
//! signaling NaNs.

use super::vector_plan::Role;
use crate::hash::HashSet;
use crate::loop_ir::reciprocal::reciprocal;
use crate::loop_ir::{Binary, Cast, Kernel, Op, Reg, ScalarType, Unary, Var};

/// Ranges of the registers of a loop.
#[derive(Default)]
pub(super) struct LaneRanges {
    /// Registers of 8 bytes that hold natural numbers below 2^32 in all rounds.
    halves: HashSet<Reg>,
    /// Registers of 8 bytes that hold integers from -2^31 to 2^31 in all rounds.
    signed_halves: HashSet<Reg>,
    /// Floats of 4 bytes that are no results of arithmetic and may be signaling NaNs.
    signaling: HashSet<Reg>,
    /// Variables that may be set to such floats.
    signaling_variables: HashSet<Var>,
}

impl LaneRanges {
    /// Ranges of no registers, if such variables may hold signaling NaNs.
    pub(super) fn of_variables(signaling_variables: HashSet<Var>) -> LaneRanges {
        LaneRanges { signaling_variables, ..LaneRanges::default() }
    }

    /// Adds a register that is set to an operation on registers with roles.
    pub(super) fn define(&mut self, kernel: &Kernel, reg: Reg, op: &Op, role: impl Fn(&Reg) -> Role) {
        let is_half = |reg: &Reg| self.is_signed_half(kernel, *reg);
        let bytes = |reg: &Reg| kernel.regs[*reg].bytes();
        let half = match op {
            Op::Load(array, ..) => kernel.arrays[*array].width <= 2,
            Op::Cast(Cast::SignExtend, _, a) => bytes(a) <= 4,
            Op::Cast(Cast::ZeroExtend, _, a) => bytes(a) <= 2,
            Op::Select(_, a, b) => is_half(a) && is_half(b),
            _ => false,
        };
        let may_signal = |reg: &Reg| self.may_signal(kernel, *reg, &role);
        let signals = match op {
            Op::Load(..) => kernel.regs[reg] == ScalarType::F32,
            Op::Select(_, a, b) => may_signal(a) || may_signal(b),
            Op::Unary(Unary::Neg, a) => may_signal(a),
            Op::Get(var) => self.signaling_variables.contains(var),
            _ => false,
        };
        if half && kernel.regs[reg] == ScalarType::I64 {
            self.signed_halves.insert(reg);
        }
        if signals {
            self.signaling.insert(reg);
        }
    }

    /// Adds a register of 8 bytes that is set to an operation and has a role.
    pub(super) fn define_half(&mut self, kernel: &Kernel, reg: Reg, op: &Op, role: Role) {
        let half = |reg: &Reg| self.is_half(kernel, *reg);
        let drops_half = |places: &Reg| kernel.constants.get(places).is_some_and(|bits| *bits >= 32);
        let becomes_half = match op {
            Op::Load(array, _, ScalarType::I64) => kernel.arrays[*array].width <= 4,
            Op::Binary(Binary::And, a, b) => half(a) || half(b),
            Op::Binary(Binary::Or | Binary::Xor, a, b) | Op::Select(_, a, b) => half(a) && half(b),
            Op::Binary(Binary::Shr, a, places) => half(a) || drops_half(places),
            Op::Binary(Binary::DivUnsigned | Binary::RemUnsigned, a, _) => half(a),
            _ => role == Role::Mask,
        };
        if becomes_half {
            self.halves.insert(reg);
        }
    }

    /// Returns true for a float of 4 bytes that may be a signaling NaN.
    pub(super) fn may_signal(&self, kernel: &Kernel, reg: Reg, role: impl Fn(&Reg) -> Role) -> bool {
        let is_given = || role(&reg) == Role::Same && !kernel.constants.contains_key(&reg);
        kernel.regs[reg] == ScalarType::F32 && (self.signaling.contains(&reg) || is_given())
    }

    /// Returns true for an integer from -2^31 to 2^31 in all rounds.
    pub(super) fn is_signed_half(&self, kernel: &Kernel, reg: Reg) -> bool {
        let ty = kernel.regs[reg];
        let known = || kernel.constants.get(&reg).is_some_and(|bits| i32::try_from(*bits as i64).is_ok());
        !ty.is_float() && (ty.bytes() < 8 || self.signed_halves.contains(&reg) || known())
    }

    /// Returns true for a natural number of 8 bytes below 2^32 in all rounds.
    pub(super) fn is_half(&self, kernel: &Kernel, reg: Reg) -> bool {
        let known = || kernel.constants.get(&reg).is_some_and(|bits| *bits <= u64::from(u32::MAX));
        self.halves.contains(&reg) || kernel.regs[reg] == ScalarType::I64 && known()
    }
}

/// Returns true if lanes of 8 bytes are divided so by a constant: natural numbers below 2^32 by
/// another such number, and others with a sign.
pub(super) fn divides_lanes(kind: Binary, dividend_is_half: bool, divisor: u64) -> bool {
    match kind {
        _ if dividend_is_half && divides_halves(divisor) => true,
        Binary::DivSigned | Binary::RemSigned => signed_factor(divisor).is_some(),
        _ => false,
    }
}

/// Returns true for a divisor of natural numbers below 2^32 that has a factor of 33 bits.
pub(super) fn divides_halves(divisor: u64) -> bool {
    (2..1 << 32).contains(&divisor) && !divisor.is_power_of_two()
}

/// The factor and the shift that divide numbers up to 2^63 by a number above 1: the quotient is the
/// high word of the product with the factor, shifted to the right.
pub(super) fn signed_factor(divisor: u64) -> Option<(u64, u8)> {
    if !(2..1 << 63).contains(&divisor) {
        return None;
    }
    let (factor, shift) = reciprocal(divisor, 1 << 63, 64..127, u64::MAX)?;
    Some((factor, (shift - 64) as u8))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signed_factors_divide() {
        for divisor in [2, 3, 7, 10, 641, 1000, 10_007, 1 << 31, (1 << 32) + 1, (1 << 62) - 57, (1 << 63) - 1]
        {
            let (factor, shift) = signed_factor(divisor).unwrap();
            let quotient = |n: u64| ((u128::from(n) * u128::from(factor)) >> 64) as u64 >> shift;
            let multiple = (1 << 63) / divisor * divisor;
            for n in [0, 1, divisor - 1, divisor, divisor + 1, multiple - 1, multiple, (1 << 63) - 1, 1 << 63]
            {
                assert_eq!(quotient(n), n / divisor, "{n} / {divisor}");
            }
        }
        assert_eq!((signed_factor(0), signed_factor(1), signed_factor(1 << 63)), (None, None, None));
    }
}
