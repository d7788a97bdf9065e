//! Plans of vectorization: whether the rounds of an innermost loop can be done for several indices
//! at once, and the role that each register has then.
//!
//! Such a loop only computes, reads and writes slots, and its lanes are equally wide. What a number
//! is made of decides its [`Role`]: the same in all rounds, a multiple of the index plus what is
//! the same, or a lane for each round. A slot that is read or written is of the second kind;
//! different rounds read and write different slots of an array that is stored into. What lanes may
//! hold depends on the vectors ([`LaneTypes`]): those of the code generator ([`super::simd128`]) or
//! those of [`super::vector_loops`].

use super::induction::Induction;
use super::lane_cost::LaneCost;
use super::lane_ranges::LaneRanges;
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::accumulator::{Accumulator, AccumulatorOp, ArgExtreme, Member};
use crate::loop_ir::{Binary, Compare, MAX_COMPONENTS, Reg, ScalarType, Var};

/// The role of a register in the iterations of a loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Role {
    /// The same in all.
    Same,
    /// A multiple of the index plus what is the same in all.
    Index,
    /// One lane for each.
    Lanes,
    /// A truth value for each.
    Mask,
    /// A lane for each, extended to a word: what an accumulator may join.
    Extended {
        /// The sign is extended.
        signed: bool,
    },
    /// The value of an accumulator, or a number made of it.
    Total,
}

/// The vectorization of a loop.
pub struct Plan {
    pub(super) roles: HashMap<Reg, Role>,
    /// Bytes of a lane.
    pub(super) width: usize,
    /// Vectors of 128 bits in flight.
    pub(super) unroll: usize,
    /// The variables that accumulate.
    pub(super) accumulators: Vec<Accumulator>,
    /// The extremes with companions.
    pub(super) extremes: Vec<Extreme>,
    /// The variables that belong to a round.
    pub(super) variables: Vec<Var>,
    /// A round may fail.
    pub(super) can_fail: bool,
    /// The cost of the statements that some lanes may not reach.
    pub(super) nested_cost: LaneCost,
    /// The registers with [`Role::Lanes`] whose lanes are equal, active or not.
    pub(super) uniform: HashSet<Reg>,
    /// The ranges of numbers.
    pub(super) ranges: LaneRanges,
    /// The registers with [`Role::Index`].
    pub(super) inductions: HashMap<Reg, Induction>,
}

/// An extreme with companions, the lanes of which are carried from round to round.
pub(super) struct Extreme {
    pub(super) choice: ArgExtreme,
    /// The member that grows with the rounds: where extremes are equal, it says which is the first.
    pub(super) place: usize,
}

impl Extreme {
    /// Returns true for the member that grows with the rounds.
    pub(super) fn is_place(&self, member: &Member) -> bool {
        self.choice.members[self.place].var == member.var
    }

    /// The bits of the place of a lane that has not been replaced: it is behind all places of equal
    /// numbers.
    pub(super) fn no_place(&self) -> u64 {
        (if self.choice.is_last() { i64::MIN } else { i64::MAX }) as u64
    }
}

/// The types that lanes may have.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LaneTypes {
    /// Types of 4 and 8 bytes, as AVX-512 has them. Indices and truth values are lanes of 8 bytes
    /// where numbers are wanted, and slots of integers may be narrower than such lanes.
    Words,
    /// The same in lanes of 8 bytes, with numbers of fewer bytes promoted to them
    /// ([`crate::loop_ir::promotion`]).
    Promoted,
    /// Integers of 1 and 2 bytes, too; integers are also multiplied, shifted, compared, and divided
    /// as far as [`divides_by_bits`] says.
    All,
}

impl LaneTypes {
    /// Returns true for lanes of wide vectors.
    pub(super) fn are_wide(self) -> bool {
        self != LaneTypes::All
    }
}

/// Returns true if a quotient or a remainder is a shift or a mask: without sign, by a power of two.
pub(super) fn divides_by_bits(kind: Binary, divisor: u64) -> bool {
    matches!(kind, Binary::DivUnsigned | Binary::RemUnsigned) && divisor.is_power_of_two()
}

/// The role of a register: what is set outside of the loop is the same in all iterations.
pub(super) fn role_in(roles: &HashMap<Reg, Role>, reg: Reg) -> Role {
    roles.get(&reg).copied().unwrap_or(Role::Same)
}

/// Returns true if vectors of integers are compared so: with 128 bits the machine has no comparison
/// without sign of 64 bits.
pub(super) fn compares(types: LaneTypes, kind: Compare, ty: ScalarType) -> bool {
    types.are_wide() || ty != ScalarType::I64 || !matches!(kind, Compare::LtUnsigned | Compare::LeUnsigned)
}

/// Returns true if lanes may have the values of a register: a number for each, or one for all.
pub(super) fn has_lanes(role: Role, types: LaneTypes) -> bool {
    match role {
        Role::Same | Role::Lanes => true,
        Role::Index | Role::Mask => types.are_wide(),
        Role::Extended { .. } | Role::Total => false,
    }
}

/// Returns true for slots of `width` bytes, `stride` slots apart, that are one component of records:
/// those of all components are lanes together.
pub(super) fn has_components(width: u8, stride: i64) -> bool {
    matches!(width, 4 | 8) && (2..=MAX_COMPONENTS as i64).contains(&stride)
}

/// Returns true if slots of `width` bytes, `stride` slots apart, are lanes of a type.
pub(super) fn is_lane(width: u8, ty: ScalarType, types: LaneTypes, stride: i64) -> bool {
    let are_components = || types == LaneTypes::Words && ty.bytes() == 4 && has_components(width, stride);
    slot_holds(width, ty, types) && (stride == 1 || width == 8 || are_components())
}

/// Returns true if a slot of `width` bytes holds a lane of this type: as it is, or the low bits of
/// an integer of 8 bytes.
pub(super) fn slot_holds(width: u8, ty: ScalarType, types: LaneTypes) -> bool {
    let width = usize::from(width);
    width == ty.bytes() || types.are_wide() && ty == ScalarType::I64 && width < ty.bytes()
}

/// The lanes of an accumulator.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum AccumulatorLanes {
    /// Those of its type.
    Same,
    /// It counts rounds: as many lanes as there are truth values.
    Count,
    /// It is a sum of words that are extended lanes.
    Sum {
        /// The lanes have a sign.
        signed: bool,
    },
}

impl Accumulator {
    /// The lanes of the accumulator if its operand has a role.
    pub(super) fn sum_of(&self, operand: Role) -> AccumulatorLanes {
        let sums = self.join == AccumulatorOp::Binary(Binary::Add)
            && self.ty == ScalarType::I64
            && self.condition.is_none();
        match operand {
            Role::Mask if sums => AccumulatorLanes::Count,
            Role::Extended { signed } if sums => AccumulatorLanes::Sum { signed },
            _ => AccumulatorLanes::Same,
        }
    }

    /// Returns true if its operation joins such lanes, where a condition of a role holds.
    pub(super) fn joins_lanes(&self, types: LaneTypes, condition: Option<Role>) -> bool {
        match types {
            LaneTypes::Words | LaneTypes::Promoted => {
                matches!(condition, None | Some(Role::Mask | Role::Lanes))
            }
            // There are no products of bytes.
            LaneTypes::All => {
                let joins = match self.join {
                    AccumulatorOp::Extreme { unsigned, .. } => !unsigned || self.ty != ScalarType::I64,
                    AccumulatorOp::Binary(kind) => kind != Binary::Mul || self.ty.bytes() > 1,
                };
                joins && matches!(condition, None | Some(Role::Mask))
            }
        }
    }
}

impl Plan {
    /// The members of extremes with companions, each with its extreme, in the order of their vectors.
    pub(super) fn carried(&self) -> impl Iterator<Item = (&Extreme, &Member)> {
        self.extremes
            .iter()
            .flat_map(|extreme| extreme.choice.members.iter().map(move |member| (extreme, member)))
    }

    /// The lanes of an accumulator.
    pub(super) fn lanes_of(&self, total: &Accumulator) -> AccumulatorLanes {
        total.sum_of(self.role(total.operand))
    }

    /// The difference of a register with [`Role::Index`] from a round to the next.
    pub(super) fn stride(&self, reg: Reg) -> i64 {
        self.inductions[&reg].stride
    }

    /// The distance from one register with [`Role::Index`] to another, if it is known.
    pub(super) fn distance(&self, from: Reg, to: Reg) -> Option<i64> {
        let (from, to) = (self.inductions[&from], self.inductions[&to]);
        let is_known = from.root == to.root && from.stride == to.stride;
        is_known.then(|| to.offset.wrapping_sub(from.offset))
    }

    /// The role of a register.
    pub(super) fn role(&self, reg: Reg) -> Role {
        role_in(&self.roles, reg)
    }

    /// Returns true for a register whose lanes are equal, active or not.
    pub(super) fn is_uniform(&self, reg: Reg) -> bool {
        self.role(reg) == Role::Same || self.uniform.contains(&reg)
    }
}
