//! Plans of vectorization: whether the rounds of an innermost loop can be done for several indices
//! at once, and the role that each register has then.
//!
//! Such a loop only computes, reads and writes slots, and its lanes are equally wide. What a number
//! is made of decides its [`Role`]: the same in all rounds, a multiple of the index plus what is
//! the same, or a lane for each round. A slot that is read or written is of the second kind;
//! different rounds read and write different slots of an array that is stored into. What lanes may
//! hold depends on the vectors ([`LaneTypes`]): those of the code generator ([`super::simd128`]) or
//! those of [`super::vector_loops`].

use super::emit::has_fma;
use super::induction::Induction;
use crate::core::reduction::LANES;
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::accumulator::{Accumulator, AccumulatorOp, ArgExtreme, Member, Recurrences, recurrences};
use crate::loop_ir::promotion::has_promoted_form;
use crate::loop_ir::reciprocal::reciprocal;
use crate::loop_ir::{
    Array, Binary, Cast, Compare, Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt, Summand, Unary,
    has_vector_form,
};

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
    /// Registers of 8 bytes that hold natural numbers below 2^32 in all rounds.
    halves: HashSet<Reg>,
    /// Registers of 8 bytes that hold integers from -2^31 to 2^31 in all rounds.
    signed_halves: HashSet<Reg>,
    /// The registers with [`Role::Index`].
    inductions: HashMap<Reg, Induction>,
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

/// Operations, loads among them, for which lanes are gathered one by one.
const OPERATIONS_PER_GATHER: usize = 4;

/// Operations up to which vectors in flight find registers.
const MAX_VECTOR_OPS: usize = 14;

/// Accumulators up to which four vectors of each are in flight.
const MAX_ACCUMULATORS: usize = 2;

/// Vectors in flight where functions are called with a block of numbers.
const BLOCK_VECTORS: usize = 16;

/// The types that lanes may have.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LaneTypes {
    /// Types of 4 and 8 bytes, as AVX-512 has them. Indices and truth values are lanes of 8 bytes
    /// where numbers are wanted, and slots of integers may be narrower than such lanes.
    Words,
    /// The same in lanes of 8 bytes, with numbers of fewer bytes promoted to them
    /// ([`crate::loop_ir::promotion`]).
    Promoted,
    /// Integers of 1 and 2 bytes, too; integers are also multiplied, if of 2 bytes and more, and
    /// compared.
    All,
}

impl LaneTypes {
    /// Returns true for lanes of wide vectors.
    fn are_wide(self) -> bool {
        self != LaneTypes::All
    }
}

/// Returns true if vectors of integers are compared so: with 128 bits the machine has no comparison
/// without sign of 64 bits.
fn compares(types: LaneTypes, kind: Compare, ty: ScalarType) -> bool {
    types.are_wide() || ty != ScalarType::I64 || !matches!(kind, Compare::LtUnsigned | Compare::LeUnsigned)
}

/// Returns true if lanes may have the values of a register: a number for each, or one for all.
fn has_lanes(role: Role, types: LaneTypes) -> bool {
    match role {
        Role::Same | Role::Lanes => true,
        Role::Index | Role::Mask => types.are_wide(),
        Role::Extended { .. } | Role::Total => false,
    }
}

/// Returns true if every second slot of `width` bytes is loaded as a lane of 4 bytes.
fn is_alternate_lane(width: u8, ty: ScalarType, types: LaneTypes, stride: i64) -> bool {
    types == LaneTypes::Words && width == 4 && ty.bytes() == 4 && stride == 2
}

/// Returns true if slots of `width` bytes, `stride` slots apart, are lanes of a type.
fn is_lane(width: u8, ty: ScalarType, types: LaneTypes, stride: i64) -> bool {
    slot_holds(width, ty, types) && (stride == 1 || width == 8)
}

/// Returns true if a slot of `width` bytes holds a lane of this type: as it is, or the low bits of
/// an integer of 8 bytes.
fn slot_holds(width: u8, ty: ScalarType, types: LaneTypes) -> bool {
    let width = usize::from(width);
    width == ty.bytes() || types.are_wide() && ty == ScalarType::I64 && width < ty.bytes()
}

/// The vectorization of a loop over `index`, if it can be vectorized with lanes of these types;
/// `total` is the operand of a reduction.
pub(super) fn plan(
    kernel: &Kernel,
    index: Reg,
    body: &[Stmt],
    total: Option<Summand>,
    types: LaneTypes,
) -> Option<Plan> {
    let mut roles: HashMap<Reg, Role> = HashMap::from_iter([(index, Role::Index)]);
    let first = Induction { stride: 1, root: index, offset: 0 };
    let mut inductions: HashMap<Reg, Induction> = HashMap::from_iter([(index, first)]);
    // The slots that are read and written of arrays that are stored into.
    let mut stored: HashMap<Array, Vec<Reg>> = HashMap::default();
    for stmt in body {
        match stmt {
            Stmt::Let(..) => {}
            Stmt::Set(..) => {}
            Stmt::Store(array, at, _) => stored.entry(*array).or_default().push(*at),
            _ => return None,
        }
    }
    for stmt in body {
        if let Stmt::Let(_, Op::Load(array, at, _)) = stmt
            && let Some(slots) = stored.get_mut(array)
        {
            slots.push(*at);
        }
    }
    let Recurrences { accumulators, extremes: choices } = recurrences(kernel, body)?;
    if !choices.is_empty() && !types.are_wide() {
        return None;
    }
    let mut width = None;
    let mut lanes = |ty: ScalarType| -> Option<()> {
        let bytes = ty.bytes();
        if types == LaneTypes::Promoted {
            width = Some(8);
            return Some(());
        }
        ((bytes >= 4 || types == LaneTypes::All) && *width.get_or_insert(bytes) == bytes).then_some(())
    };
    let (mut work, mut calls, mut gathers) = (0, false, 0);
    let mut halves: HashSet<Reg> = HashSet::default();
    let mut promoted = PromotedLanes::default();
    for stmt in body {
        let role = |reg: &Reg| roles.get(reg).copied().unwrap_or(Role::Same);
        let numbers = |reg: &Reg| has_lanes(role(reg), types);
        match stmt {
            Stmt::Let(reg, _) if accumulators.iter().any(|total| total.chain.contains(reg)) => {
                if let Some(total) = accumulators.iter().find(|total| total.new == *reg) {
                    work += 1;
                    match total.sum_of(role(&total.operand)) {
                        AccumulatorLanes::Same => {
                            let conditional = total.condition.map(|condition| role(&condition));
                            let fits = types != LaneTypes::Promoted || total.ty.bytes() == 8;
                            if !fits || !numbers(&total.operand) || !total.joins_lanes(types, conditional) {
                                return None;
                            }
                            lanes(total.ty)?;
                        }
                        // Counts are as wide as what is compared, and joined before they are full.
                        AccumulatorLanes::Count => {}
                        AccumulatorLanes::Sum { .. } if types == LaneTypes::All => {}
                        AccumulatorLanes::Sum { .. } => return None,
                    }
                }
                roles.insert(*reg, Role::Total);
            }
            Stmt::Let(reg, op) if choices.iter().any(|choice| choice.is_in_chain(*reg)) => {
                work += 1;
                let ty = kernel.regs[*reg];
                if let Op::Select(_, operand, _) = op {
                    let is_extreme = choices.iter().any(|choice| choice.members[0].new == *reg);
                    let may_signal =
                        || types == LaneTypes::Promoted && promoted.may_signal(kernel, *operand, role);
                    // A number that is not NaN is no signaling one.
                    if !numbers(operand) || !is_extreme && may_signal() {
                        return None;
                    }
                    lanes(ty)?;
                }
                roles.insert(*reg, if matches!(op, Op::Compare(..)) { Role::Mask } else { Role::Total });
            }
            Stmt::Let(reg, op) => {
                let ty = kernel.regs[*reg];
                let mut same = true;
                op.for_each_reg(&mut |reg| same = same && role(&reg) == Role::Same);
                let is_same = |reg| role(&reg) == Role::Same;
                let number = match op {
                    Op::Binary(kind, a, b) if ty == ScalarType::I64 => {
                        Induction::result(kernel, &inductions, &is_same, *reg, (*kind, *a, *b))
                    }
                    _ => None,
                };
                let number = number.filter(|number| number.stride == 1 || types.are_wide());
                inductions.extend(number.map(|number| (*reg, number)));
                let is_small = |reg| {
                    is_half(kernel, &halves, reg) || is_signed_half(kernel, &promoted.signed_halves, reg)
                };
                let has_form = || has_promoted_form(kernel, ty, op, is_small);
                if types == LaneTypes::Promoted && !same && !has_form() {
                    return None;
                }
                if types.are_wide() {
                    promoted.define(kernel, *reg, op, role);
                }
                let new = match op {
                    Op::Load(array, at, _) => {
                        let info = kernel.arrays[*array];
                        match role(at) {
                            Role::Same => Role::Same,
                            Role::Index
                                if is_lane(info.width, ty, types, inductions[at].stride)
                                    || is_alternate_lane(info.width, ty, types, inductions[at].stride) =>
                            {
                                lanes(ty)?;
                                Role::Lanes
                            }
                            // Slots anywhere, whose numbers are lanes.
                            Role::Lanes
                                if types.are_wide()
                                    && ty.bytes() == 8
                                    && slot_holds(info.width, ty, types) =>
                            {
                                gathers += 1;
                                Role::Lanes
                            }
                            _ => return None,
                        }
                    }
                    _ if same => Role::Same,
                    _ if number.is_some() => Role::Index,
                    Op::Binary(kind, a, b) => match (kind, role(a), role(b)) {
                        (Binary::And | Binary::Or, Role::Mask, Role::Mask) => Role::Mask,
                        _ if !numbers(a) || !numbers(b) => return None,
                        (Binary::Add | Binary::Sub | Binary::And | Binary::Or | Binary::Xor, ..) => {
                            Role::Lanes
                        }
                        (Binary::Mul | Binary::DivFloat | Binary::Min | Binary::Max, ..) if ty.is_float() => {
                            Role::Lanes
                        }
                        (Binary::Mul, ..) if ty.bytes() > 1 => Role::Lanes,
                        _ if kind.is_integer_division() => {
                            let divides = types.are_wide() && ty == ScalarType::I64;
                            let divisor = *kernel.constants.get(b)?;
                            if !divides || !divides_lanes(*kind, is_half(kernel, &halves, *a), divisor) {
                                return None;
                            }
                            Role::Lanes
                        }
                        // The machine takes the number of places as it is, not modulo the bits.
                        (Binary::Shl | Binary::Shr, _, Role::Same)
                            if types.are_wide()
                                && kernel.constants.get(b).is_some_and(|n| *n < 8 * ty.bytes() as u64) =>
                        {
                            Role::Lanes
                        }
                        _ => return None,
                    },
                    Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) => return None,
                    Op::Unary(_, a) if numbers(a) => Role::Lanes,
                    Op::Unary(..) => return None,
                    // `not`
                    Op::Compare(Compare::Eq, a, b)
                        if role(a) == Role::Mask && kernel.constants.get(b) == Some(&0) =>
                    {
                        Role::Mask
                    }
                    Op::Compare(kind, a, b) => {
                        let from = kernel.regs[*a];
                        if !numbers(a) || !numbers(b) || !(from.is_float() || compares(types, *kind, from)) {
                            return None;
                        }
                        lanes(from)?;
                        Role::Mask
                    }
                    Op::Select(c, a, b) => match role(c) {
                        _ if !numbers(a) || !numbers(b) => return None,
                        Role::Mask => Role::Lanes,
                        // A truth value that is a number has a lane.
                        Role::Lanes if types.are_wide() => {
                            lanes(kernel.regs[*c])?;
                            Role::Lanes
                        }
                        _ => return None,
                    },
                    Op::Call(ScalarFunction::Fma, args) => {
                        let plain = args.iter().all(|arg| matches!(role(arg), Role::Same | Role::Lanes));
                        if !plain || !has_fma() {
                            return None;
                        }
                        Role::Lanes
                    }
                    Op::Call(f, args) => {
                        let plain = args.iter().all(|arg| matches!(role(arg), Role::Same | Role::Lanes));
                        if !plain || !has_vector_form(*f) || args.iter().all(|arg| role(arg) == Role::Same) {
                            return None;
                        }
                        calls = true;
                        Role::Lanes
                    }
                    Op::Cast(Cast::SignedToFloat | Cast::UnsignedToFloat | Cast::FloatToSigned, _, a)
                        if types.are_wide() && numbers(a) =>
                    {
                        lanes(kernel.regs[*a])?;
                        // There are conversions between lanes of 8 bytes.
                        lanes(ScalarType::I64)?;
                        Role::Lanes
                    }
                    Op::Cast(Cast::FloatToBits, _, a) if types.are_wide() && numbers(a) => {
                        lanes(kernel.regs[*a])?;
                        Role::Lanes
                    }
                    Op::Cast(_, _, a) if types == LaneTypes::Promoted && numbers(a) => Role::Lanes,
                    // Each lane by itself: there is no instruction for all that every processor
                    // has.
                    Op::Cast(Cast::SignedToFloat, _, a)
                        if types == LaneTypes::All && role(a) == Role::Index =>
                    {
                        Role::Lanes
                    }
                    Op::Cast(kind @ (Cast::ZeroExtend | Cast::SignExtend), ScalarType::I64, a)
                        if types == LaneTypes::All && role(a) == Role::Lanes =>
                    {
                        Role::Extended { signed: *kind == Cast::SignExtend }
                    }
                    Op::Cast(..) => return None,
                    Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => Role::Same,
                };
                match new {
                    Role::Lanes => {
                        lanes(ty)?;
                        work += 1;
                    }
                    Role::Mask => work += 1,
                    _ => {}
                }
                if types.are_wide() && ty == ScalarType::I64 && becomes_half(kernel, &halves, new, op) {
                    halves.insert(*reg);
                }
                roles.insert(*reg, new);
            }
            Stmt::Store(array, at, value) => {
                let ty = kernel.regs[*value];
                let fits = |stride| is_lane(kernel.arrays[*array].width, ty, types, stride);
                if !inductions.get(at).is_some_and(|at| fits(at.stride)) || !numbers(value) {
                    return None;
                }
                // A signaling NaN would become a quiet one.
                if types == LaneTypes::Promoted && promoted.may_signal(kernel, *value, role) {
                    return None;
                }
                lanes(ty)?;
            }
            Stmt::Set(..) => {}
            _ => return None,
        }
    }
    // Different rounds read and write different slots of an array that is stored into.
    for slots in stored.values() {
        for (i, a) in slots.iter().enumerate() {
            for b in &slots[..i] {
                let (a, b) = (inductions.get(a)?, inductions.get(b)?);
                if a != b && !a.is_apart_from(*b) {
                    return None;
                }
            }
        }
    }
    if work < OPERATIONS_PER_GATHER * gathers {
        return None;
    }
    let grows = |member: &Member| inductions.get(&member.operand).is_some_and(|number| number.stride > 0);
    let placed = |choice: ArgExtreme| {
        let place = choice.members.iter().position(grows)?;
        Some(Extreme { choice, place })
    };
    let extremes: Vec<Extreme> = choices.into_iter().map(placed).collect::<Option<_>>()?;
    let unroll = if let Some(total) = total {
        let lanes = |reg: Reg| roles.get(&reg) == Some(&Role::Lanes);
        if !total.regs().all(lanes) || matches!(total, Summand::Product(..)) && !has_fma() {
            return None;
        }
        LANES * width? / 16
    } else if stored.is_empty() && accumulators.is_empty() && extremes.is_empty() {
        return None;
    } else if calls {
        BLOCK_VECTORS
    } else if work <= MAX_VECTOR_OPS && accumulators.len() <= MAX_ACCUMULATORS {
        4
    } else {
        2
    };
    let signed_halves = promoted.signed_halves;
    let width = width?;
    Some(Plan { roles, width, unroll, accumulators, extremes, halves, signed_halves, inductions })
}

/// Properties of registers in lanes of 8 bytes, of numbers that may have fewer.
#[derive(Default)]
struct PromotedLanes {
    /// Registers of 8 bytes that hold integers from -2^31 to 2^31 in all rounds.
    signed_halves: HashSet<Reg>,
    /// Floats of 4 bytes that are no results of arithmetic and may be signaling NaNs.
    loaded: HashSet<Reg>,
}

impl PromotedLanes {
    /// Adds a register that is set to an operation on registers with roles.
    fn define(&mut self, kernel: &Kernel, reg: Reg, op: &Op, role: impl Fn(&Reg) -> Role) {
        let is_half = |reg: &Reg| is_signed_half(kernel, &self.signed_halves, *reg);
        let bytes = |reg: &Reg| kernel.regs[*reg].bytes();
        let half = match op {
            Op::Load(array, ..) => kernel.arrays[*array].width <= 2,
            Op::Cast(Cast::SignExtend, _, a) => bytes(a) <= 4,
            Op::Cast(Cast::ZeroExtend, _, a) => bytes(a) <= 2,
            Op::Select(_, a, b) => is_half(a) && is_half(b),
            _ => false,
        };
        let may_signal = |reg: &Reg| self.may_signal(kernel, *reg, &role);
        let loaded = match op {
            Op::Load(..) => kernel.regs[reg] == ScalarType::F32,
            Op::Select(_, a, b) => may_signal(a) || may_signal(b),
            Op::Unary(Unary::Neg, a) => may_signal(a),
            _ => false,
        };
        if half && kernel.regs[reg] == ScalarType::I64 {
            self.signed_halves.insert(reg);
        }
        if loaded {
            self.loaded.insert(reg);
        }
    }

    /// Returns true for a float of 4 bytes that may be a signaling NaN.
    fn may_signal(&self, kernel: &Kernel, reg: Reg, role: impl Fn(&Reg) -> Role) -> bool {
        let is_given = || role(&reg) == Role::Same && !kernel.constants.contains_key(&reg);
        kernel.regs[reg] == ScalarType::F32 && (self.loaded.contains(&reg) || is_given())
    }
}

/// Returns true for an integer from -2^31 to 2^31.
fn is_signed_half(kernel: &Kernel, signed_halves: &HashSet<Reg>, reg: Reg) -> bool {
    let ty = kernel.regs[reg];
    let known = || kernel.constants.get(&reg).is_some_and(|bits| i32::try_from(*bits as i64).is_ok());
    !ty.is_float() && (ty.bytes() < 8 || signed_halves.contains(&reg) || known())
}

/// Returns true for a natural number of 8 bytes below 2^32.
fn is_half(kernel: &Kernel, halves: &HashSet<Reg>, reg: Reg) -> bool {
    let known = || kernel.constants.get(&reg).is_some_and(|bits| *bits <= u64::from(u32::MAX));
    halves.contains(&reg) || kernel.regs[reg] == ScalarType::I64 && known()
}

/// Returns true if the result of an operation on words is a natural number below 2^32.
fn becomes_half(kernel: &Kernel, halves: &HashSet<Reg>, role: Role, op: &Op) -> bool {
    let half = |reg: &Reg| is_half(kernel, halves, *reg);
    let drops_half = |places: &Reg| kernel.constants.get(places).is_some_and(|bits| *bits >= 32);
    match op {
        Op::Load(array, _, ScalarType::I64) => kernel.arrays[*array].width <= 4,
        Op::Binary(Binary::And, a, b) => half(a) || half(b),
        Op::Binary(Binary::Or | Binary::Xor, a, b) | Op::Select(_, a, b) => half(a) && half(b),
        Op::Binary(Binary::Shr, a, places) => half(a) || drops_half(places),
        Op::Binary(Binary::DivUnsigned | Binary::RemUnsigned, a, _) => half(a),
        _ => role == Role::Mask,
    }
}

/// Returns true if lanes of 8 bytes are divided so by a constant: natural numbers below 2^32 by
/// another such number, and others with a sign.
fn divides_lanes(kind: Binary, dividend_is_half: bool, divisor: u64) -> bool {
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
    fn sum_of(&self, operand: Role) -> AccumulatorLanes {
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
    fn joins_lanes(&self, types: LaneTypes, condition: Option<Role>) -> bool {
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
        total.sum_of(self.roles.get(&total.operand).copied().unwrap_or(Role::Same))
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

    /// Returns true for an integer from -2^31 to 2^31 in all rounds.
    pub(super) fn is_signed_half(&self, kernel: &Kernel, reg: Reg) -> bool {
        is_signed_half(kernel, &self.signed_halves, reg)
    }

    /// Returns true for a natural number of 8 bytes below 2^32 in all rounds.
    pub(super) fn is_half(&self, kernel: &Kernel, reg: Reg) -> bool {
        is_half(kernel, &self.halves, reg)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_ir::parse;

    /// The kernel of a loop over the index `r9`: a statement between two semicolons.
    fn kernel(body: &str) -> Kernel {
        let body: String = body.split(';').map(|line| format!("\n  {}", line.trim())).collect();
        let text = format!(
            "array a0: result 0, 8 bytes a slot, 4000 slots
array a1: input 0, 8 bytes a slot, 4000 slots
array a2: input 1, 4 bytes a slot, 4000 slots
array a3: result 1, 4 bytes a slot, 4000 slots
r0: i64 = 0
r1: i64 = 1
r2: i64 = 2
r3: i64 = 7
r4: i64 = 1000
parallel for r9 < r4{body}"
        );
        parse::kernel(&text).unwrap()
    }

    fn planned(kernel: &Kernel, types: LaneTypes) -> Option<Plan> {
        kernel.body.iter().find_map(|stmt| match stmt {
            Stmt::ParallelFor { index, body, .. } => plan(kernel, *index, body, None, types),
            _ => None,
        })
    }

    /// True for a plan with lanes of words, and true for one with lanes of any size.
    fn plans(body: &str) -> (bool, bool) {
        let kernel = kernel(body);
        let has = |types| planned(&kernel, types).is_some();
        (has(LaneTypes::Words), has(LaneTypes::All))
    }

    #[test]
    fn slots_of_different_rounds_are_apart() {
        let both = (true, true);
        assert_eq!(plans("r10: i64 = a1[r9]; a0[r9] <- r10"), both);
        // An array that is written is read at the same slot, or not at all.
        assert_eq!(plans("r10: i64 = a0[r9]; r11: i64 = add r10 r3; a0[r9] <- r11"), both);
        let next = "r10: i64 = add r9 r1; r11: i64 = a0[r10]; a0[r9] <- r11";
        assert_eq!(plans(next), (false, false));
        assert_eq!(plans("r10: i64 = a0[r0]; a0[r9] <- r10"), (false, false), "a slot of all rounds");
        assert_eq!(plans("r10: i64 = a1[r9]; a0[r3] <- r10"), (false, false), "one slot is stored into");
    }

    #[test]
    fn slots_at_a_distance_have_lanes_of_words() {
        let words = (true, false);
        let fields = "r10: i64 = mul r9 r2; r11: i64 = add r10 r1; r12: i64 = a1[r11]; r13: i64 = a1[r10]";
        assert_eq!(plans(&format!("{fields}; a0[r10] <- r12; a0[r11] <- r13")), words);
        // The distance of the stores is that of two rounds.
        let two = "r14: i64 = add r10 r2; a0[r10] <- r12; a0[r14] <- r13";
        assert_eq!(plans(&format!("{fields}; {two}")), (false, false));
        assert_eq!(plans("r10: i64 = sub r4 r9; r11: i64 = a1[r10]; a0[r9] <- r11"), words, "backward");
        let narrow = "r10: i64 = mul r9 r2; r11: i64 = a2[r10]; a0[r9] <- r11";
        assert_eq!(plans(narrow), (false, false), "narrow slots lie side by side");
    }

    #[test]
    fn strides_are_sums_and_products() {
        let kernel = kernel(
            "r10: i64 = mul r9 r3; r11: i64 = sub r10 r9; r12: i64 = shl r11 r2; r13: i64 = sub r4 r12;
            r14: i64 = a1[r13]; a0[r9] <- r14",
        );
        let plan = planned(&kernel, LaneTypes::Words).unwrap();
        let strides: Vec<i64> = (9..14).map(|reg| plan.stride(Reg::new(reg))).collect();
        assert_eq!(strides, [1, 7, 6, 24, -24]);
    }

    #[test]
    fn divisions_by_constants_have_lanes_of_words() {
        let divided = |op: &str| plans(&format!("r10: i64 = a1[r9]; r11: i64 = {op}; a0[r9] <- r11"));
        assert_eq!(divided("div_signed r10 r3"), (true, false));
        assert_eq!(divided("rem_signed r10 r4"), (true, false));
        assert_eq!(divided("div_signed r10 r10"), (false, false), "by what differs");
        // Without a sign, of 32 bits only.
        assert_eq!(divided("div_unsigned r10 r3"), (false, false));
        let narrow = "r10: i64 = a2[r9]; r11: i64 = div_unsigned r10 r3; a0[r9] <- r11";
        assert_eq!(plans(narrow), (true, false));
    }

    #[test]
    fn numbers_of_fewer_bytes_are_promoted() {
        let promoted = |body: &str| planned(&kernel(body), LaneTypes::Promoted).is_some();
        let single = "r10: f32 = a2[r9]";
        let double = "r11: f64 = a1[r9]";
        assert_eq!(plans(&format!("{single}; r12: f64 = float_to_float r10; a0[r9] <- r12")), (false, false));
        assert!(promoted(&format!("{single}; r12: f64 = float_to_float r10; a0[r9] <- r12")));
        let sum = "r12: f32 = float_to_float r11; r13: f32 = add r10 r12";
        assert!(promoted(&format!(
            "{single}; {double}; {sum}; r14: f64 = float_to_float r13; a0[r9] <- r14"
        )));
        let fused = "r12: f32 = float_to_float r11; r13: f32 = call fma(r10, r12, r10)";
        let stored = "r14: f64 = float_to_float r13; a0[r9] <- r14";
        assert!(!promoted(&format!("{single}; {double}; {fused}; {stored}")), "rounded twice");
        let converted = |from: &str| {
            promoted(&format!(
                "{from}; r12: f32 = signed_to_float r10; {double}; r13: f64 = float_to_float r12; r14: f64 = add r11 r13; a0[r9] <- r14"
            ))
        };
        assert!(converted("r10: i32 = a2[r9]"));
        assert!(converted("r10: i64 = a2[r9]"), "an integer below 2^32");
        assert!(!converted("r10: i64 = a1[r9]"), "an integer of more bits than a float has");
    }

    #[test]
    fn copies_of_floats_keep_signaling_nans() {
        let copied = |value: &str| {
            let chosen = "r12: i64 = r11 < r4; r13: f32 = neg r10; r14: f32 = add r10 r13; r15: f32 = select r12 r13 r14";
            let body = format!(
                "r10: f32 = a2[r9]; r11: i64 = a1[r9]; {chosen}; r16: f32 = sub r15 r10; a3[r9] <- {value}"
            );
            planned(&kernel(&body), LaneTypes::Promoted).is_some()
        };
        let values = ["r10", "r13", "r14", "r15", "r16"];
        assert_eq!(values.map(copied), [false, false, true, false, true]);
    }

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
