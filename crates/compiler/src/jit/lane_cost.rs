//! Cost of control flow in lanes: whether loops and branches inside a round are faster for several
//! rounds at once ([`super::lane_control`]) than for one after the other.

use super::lane_ranges::divides_halves;
use crate::loop_ir::{Binary, Isa, Kernel, Op, Reg, Stmt, Unary};

/// Cycles of statements, about: those of one round by itself, and those of a vector of rounds.
///
/// The figures are ratios of throughputs that were measured on processors with AVX-512; with AVX2 a
/// vector has half of the lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct LaneCost {
    scalar: usize,
    vector: usize,
}

impl LaneCost {
    const fn new(scalar: usize, vector: usize) -> LaneCost {
        LaneCost { scalar, vector }
    }

    /// The cost of an operation; `gathers` says that each lane reads another slot, `is_half` that a
    /// register is a natural number below 2^32.
    pub(super) fn of(kernel: &Kernel, op: &Op, gathers: bool, is_half: impl Fn(&Reg) -> bool) -> LaneCost {
        match op {
            Op::Get(_) | Op::Const(..) | Op::Size(_) | Op::Scalar(_) => LaneCost::default(),
            Op::Load(..) if gathers => LaneCost::new(1, 20),
            Op::Load(..) => LaneCost::new(1, 3),
            Op::Binary(kind, a, b) if kind.is_integer_division() => match kernel.constants.get(b) {
                Some(by) if by.is_power_of_two() => LaneCost::new(3, 5),
                Some(by) if is_half(a) && divides_halves(*by) => LaneCost::new(4, 10),
                _ => LaneCost::new(5, 35),
            },
            Op::Binary(Binary::Mul, a, _) if !kernel.regs[*a].is_float() => LaneCost::new(1, 3),
            Op::Binary(Binary::DivFloat, ..) => LaneCost::new(4, 12),
            Op::Binary(Binary::Min | Binary::Max, ..) => LaneCost::new(3, 6),
            Op::Unary(Unary::Sqrt, _) => LaneCost::new(4, 16),
            Op::Cast(..) => LaneCost::new(1, 2),
            _ => LaneCost::new(1, 1),
        }
    }

    /// Adds another cost.
    pub(super) fn add(&mut self, other: LaneCost) {
        self.scalar += other.scalar;
        self.vector += other.vector;
    }

    /// Adds the cost of a statement itself: of masks, and of lanes that stay as they are.
    pub(super) fn add_control(&mut self, stmt: &Stmt) {
        self.add(match stmt {
            Stmt::Set(..) => LaneCost::new(0, 1),
            Stmt::If(..) => LaneCost::new(1, 3),
            Stmt::For { .. } => LaneCost::new(1, 5),
            Stmt::Loop(..) => LaneCost::new(1, 2),
            _ => LaneCost::default(),
        });
    }

    /// Returns true if vectors are faster, though half of their lanes may not be active.
    pub(super) fn is_profitable(self, isa: Isa) -> bool {
        self.vector * (2 * 64 / isa.vector_bytes()) <= 8 * self.scalar
    }
}
