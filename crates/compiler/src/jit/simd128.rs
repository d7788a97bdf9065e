//! Innermost loops by vectors of 128 bits.
//!
//! [`plan`] says whether a loop's body can be done for several indices at once: it only computes,
//! reads and writes slots at the index plus something that stays, and its lanes are equally wide.
//! Then several vectors are in flight at a time, to hide how long an operation takes. What is left
//! over at the end is done one by one, by the same operations: a float comes out the same either
//! way.

use super::accumulator::{Accumulator, accumulators};
use super::emit::{Emit, has_fma, machine_type};
use crate::core::reduction::LANES;
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::{
    Array, Binary, Cast, Compare, Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt, Summand, Unary,
    has_vector_form,
};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types,
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
    /// The value of an accumulator, or a number made of it.
    Total,
}

/// The vectorization of a loop.
pub struct Plan {
    pub(super) roles: HashMap<Reg, Role>,
    /// Bytes of a lane.
    pub(super) width: usize,
    /// Vectors in flight.
    unroll: usize,
    /// The variables that accumulate.
    pub(super) accumulators: Vec<Accumulator>,
    /// Registers of 8 bytes that hold natural numbers below 2^32 in all rounds.
    halves: HashSet<Reg>,
    /// The registers with [`Role::Index`].
    affine: HashMap<Reg, Affine>,
}

/// A multiple of the index plus what is the same in all rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Affine {
    /// The difference from a round to the next; not 0.
    stride: i64,
    /// A register that it is a constant beyond, and the constant.
    root: Reg,
    offset: i64,
}

/// The largest stride in slots, so that addresses within a vector are a number of 32 bits apart.
const MAX_STRIDE: u64 = 1 << 20;

impl Affine {
    /// The result of an operation, if its stride is a constant.
    fn result(
        kernel: &Kernel,
        affine: &HashMap<Reg, Affine>,
        is_same: &dyn Fn(Reg) -> bool,
        reg: Reg,
        (kind, a, b): (Binary, Reg, Reg),
    ) -> Option<Affine> {
        let constant = |reg| kernel.constants.get(&reg).map(|bits| *bits as i64);
        let anew = |stride: i64| {
            let fits = stride != 0 && stride.unsigned_abs() <= MAX_STRIDE;
            fits.then_some(Affine { stride, root: reg, offset: 0 })
        };
        let moved = |by: Affine, offset: Option<i64>| match offset {
            Some(offset) => Some(Affine { offset: by.offset.wrapping_add(offset), ..by }),
            None => anew(by.stride),
        };
        match (kind, affine.get(&a).copied(), affine.get(&b).copied()) {
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

    /// Returns true if two numbers are the same in each round.
    fn is(self, other: Affine) -> bool {
        self == other
    }

    /// Returns true if no two rounds have the same number, nor does one.
    fn is_apart_from(self, other: Affine) -> bool {
        let distance = self.offset.wrapping_sub(other.offset).unsigned_abs();
        self.root == other.root && distance > 0 && distance < self.stride.unsigned_abs()
    }
}

/// Operations up to which vectors in flight find registers.
const MAX_VECTOR_OPS: usize = 14;

/// Vectors in flight where functions are called with a block of numbers.
const BLOCK_VECTORS: usize = 16;

/// The types that lanes may have.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum LaneTypes {
    /// Types of 4 and 8 bytes, as AVX-512 has them. Indices and truth values are lanes of 8 bytes where
    /// numbers are wanted, slots of integers may be narrower than such lanes, and variables may
    /// accumulate.
    Words,
    /// Integers of 1 and 2 bytes, too; integers are also multiplied, if of 2 bytes and more, and
    /// compared.
    All,
}

/// Returns true if vectors of integers are compared so: with 128 bits the machine has no comparison
/// without sign of 64 bits.
fn compares(types: LaneTypes, kind: Compare, ty: ScalarType) -> bool {
    types == LaneTypes::Words
        || ty != ScalarType::I64
        || !matches!(kind, Compare::LtUnsigned | Compare::LeUnsigned)
}

/// Returns true if lanes may have the values of a register: a number for each, or one for all.
fn has_lanes(role: Role, types: LaneTypes) -> bool {
    match role {
        Role::Same | Role::Lanes => true,
        Role::Index | Role::Mask => types == LaneTypes::Words,
        Role::Total => false,
    }
}

/// Returns true if slots of `width` bytes, `stride` slots apart, are lanes of a type.
fn is_lane(width: u8, ty: ScalarType, types: LaneTypes, stride: i64) -> bool {
    slot_holds(width, ty, types) && (stride == 1 || width == 8)
}

/// Returns true if a slot of `width` bytes holds a lane of this type: as it is, or the low bits of
/// an integer of 8 bytes.
fn slot_holds(width: u8, ty: ScalarType, types: LaneTypes) -> bool {
    let width = usize::from(width);
    width == ty.bytes() || types == LaneTypes::Words && ty == ScalarType::I64 && width < ty.bytes()
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
    let first = Affine { stride: 1, root: index, offset: 0 };
    let mut affine: HashMap<Reg, Affine> = HashMap::from_iter([(index, first)]);
    // The slots that are read and written of arrays that are stored into.
    let mut stored: HashMap<Array, Vec<Reg>> = HashMap::default();
    for stmt in body {
        match stmt {
            Stmt::Let(..) => {}
            Stmt::Set(..) if types == LaneTypes::Words => {}
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
    let accumulators = accumulators(kernel, body)?;
    let mut width = None;
    let mut lanes = |ty: ScalarType| -> Option<()> {
        let bytes = ty.bytes();
        ((bytes >= 4 || types == LaneTypes::All) && *width.get_or_insert(bytes) == bytes).then_some(())
    };
    let (mut work, mut calls) = (0, false);
    let mut halves: HashSet<Reg> = HashSet::default();
    for stmt in body {
        let role = |reg: &Reg| roles.get(reg).copied().unwrap_or(Role::Same);
        let numbers = |reg: &Reg| has_lanes(role(reg), types);
        match stmt {
            Stmt::Let(reg, _) if accumulators.iter().any(|total| total.chain.contains(reg)) => {
                if let Some(total) = accumulators.iter().find(|total| total.new == *reg) {
                    let differs = |reg: &Reg| matches!(role(reg), Role::Mask | Role::Lanes);
                    if !numbers(&total.operand) || !total.condition.as_ref().is_none_or(differs) {
                        return None;
                    }
                    lanes(total.ty)?;
                }
                roles.insert(*reg, Role::Total);
            }
            Stmt::Let(reg, op) => {
                let ty = kernel.regs[*reg];
                let mut same = true;
                op.for_each_reg(&mut |reg| same = same && role(&reg) == Role::Same);
                let is_same = |reg| role(&reg) == Role::Same;
                let number = match op {
                    Op::Binary(kind, a, b) if ty == ScalarType::I64 => {
                        Affine::result(kernel, &affine, &is_same, *reg, (*kind, *a, *b))
                    }
                    _ => None,
                };
                let number = number.filter(|number| number.stride == 1 || types == LaneTypes::Words);
                affine.extend(number.map(|number| (*reg, number)));
                let new = match op {
                    Op::Load(array, at, _) => {
                        let info = kernel.arrays[*array];
                        match role(at) {
                            Role::Same => Role::Same,
                            Role::Index if is_lane(info.width, ty, types, affine[at].stride) => {
                                lanes(ty)?;
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
                            let divides = types == LaneTypes::Words && ty == ScalarType::I64;
                            let divisor = *kernel.constants.get(b)?;
                            if !divides || !divides_lanes(*kind, is_half(kernel, &halves, *a), divisor) {
                                return None;
                            }
                            Role::Lanes
                        }
                        // The machine takes the number of places as it is, not modulo the bits.
                        (Binary::Shl | Binary::Shr, _, Role::Same)
                            if types == LaneTypes::Words
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
                        Role::Lanes if types == LaneTypes::Words => {
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
                        if types == LaneTypes::Words && numbers(a) =>
                    {
                        lanes(kernel.regs[*a])?;
                        // There are conversions between lanes of 8 bytes.
                        lanes(ScalarType::I64)?;
                        Role::Lanes
                    }
                    // Each lane by itself: there is no instruction for all that every processor
                    // has.
                    Op::Cast(Cast::SignedToFloat, _, a)
                        if types == LaneTypes::All && role(a) == Role::Index =>
                    {
                        Role::Lanes
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
                if types == LaneTypes::Words && becomes_half(kernel, &halves, new, op) {
                    halves.insert(*reg);
                }
                roles.insert(*reg, new);
            }
            Stmt::Store(array, at, value) => {
                let ty = kernel.regs[*value];
                let fits = |stride| is_lane(kernel.arrays[*array].width, ty, types, stride);
                if !affine.get(at).is_some_and(|at| fits(at.stride)) || !numbers(value) {
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
                let (a, b) = (affine.get(a)?, affine.get(b)?);
                if !a.is(*b) && !a.is_apart_from(*b) {
                    return None;
                }
            }
        }
    }
    let unroll = if let Some(total) = total {
        let lanes = |reg: Reg| roles.get(&reg) == Some(&Role::Lanes);
        if !total.regs().all(lanes) || matches!(total, Summand::Product(..)) && !has_fma() {
            return None;
        }
        LANES * width? / 16
    } else if stored.is_empty() && accumulators.is_empty() {
        return None;
    } else if calls {
        BLOCK_VECTORS
    } else if work <= MAX_VECTOR_OPS {
        4
    } else {
        2
    };
    Some(Plan { roles, width: width?, unroll, accumulators, halves, affine })
}

/// Returns true for a natural number below 2^32.
fn is_half(kernel: &Kernel, halves: &HashSet<Reg>, reg: Reg) -> bool {
    halves.contains(&reg) || kernel.constants.get(&reg).is_some_and(|bits| *bits <= u64::from(u32::MAX))
}

/// Returns true if the result of an operation on words is a natural number below 2^32.
fn becomes_half(kernel: &Kernel, halves: &HashSet<Reg>, role: Role, op: &Op) -> bool {
    let half = |reg: &Reg| is_half(kernel, halves, *reg);
    let constant = |reg: &Reg| kernel.constants.get(reg).copied().unwrap_or(0);
    match op {
        Op::Load(array, _, ScalarType::I64) => kernel.arrays[*array].width <= 4,
        Op::Binary(Binary::And, a, b) => half(a) || half(b),
        Op::Binary(Binary::Or | Binary::Xor, a, b) | Op::Select(_, a, b) => half(a) && half(b),
        Op::Binary(Binary::Shr, a, places) => half(a) || constant(places) >= 32,
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
///
/// The factor is `2^(64 + shift) / divisor`, rounded up by `excess / divisor`. The quotient of `n` is
/// exact if `n * excess < 2^(64 + shift)` (Granlund and Montgomery, *Division by invariant integers
/// using multiplication*, 1994).
pub(super) fn signed_factor(divisor: u64) -> Option<(u64, u8)> {
    if !(2..1 << 63).contains(&divisor) {
        return None;
    }
    (0..63).find_map(|shift| {
        let power = 1u128 << (64 + shift);
        let factor = power.div_ceil(u128::from(divisor));
        let excess = factor * u128::from(divisor) - power;
        (excess < 2 << shift).then_some(factor).and_then(|factor| Some((u64::try_from(factor).ok()?, shift)))
    })
}

impl Plan {
    /// The difference of a register with [`Role::Index`] from a round to the next.
    pub(super) fn stride(&self, reg: Reg) -> i64 {
        self.affine[&reg].stride
    }

    /// Returns true for a natural number below 2^32 in all rounds.
    pub(super) fn is_half(&self, kernel: &Kernel, reg: Reg) -> bool {
        is_half(kernel, &self.halves, reg)
    }

    /// The vector of a lane's type.
    fn vector(&self, ty: ScalarType) -> Type {
        machine_type(ty).by((16 / self.width) as u32).expect("vectors have as many lanes as the machine's")
    }

    /// Indices done at once.
    fn step(&self) -> i64 {
        (self.unroll * 16 / self.width) as i64
    }
}

impl Emit<'_, '_> {
    /// Does as many rounds as go by vectors; gives the first index left. `looks`: whether the loop
    /// looks if it is to stop. A loop that is cut into pieces, or a chunk, need not.
    pub(super) fn vector_loop(
        &mut self,
        plan: &Plan,
        index: Reg,
        low: Value,
        high: Value,
        body: &[Stmt],
        looks: bool,
    ) -> Value {
        let (_, rest) = self.vectors(plan, index, low, high, body, Vec::new(), &mut |this, _, none| {
            if looks {
                this.poll_interrupt();
            }
            none
        });
        rest
    }

    /// The lanes of a total after as many rounds as go by vectors, and the first index left.
    #[allow(clippy::too_many_arguments)] // a reduction has that many parts
    pub(super) fn vector_reduction(
        &mut self,
        plan: &Plan,
        index: Reg,
        low: Value,
        high: Value,
        body: &[Stmt],
        item: Summand,
        neutral: Value,
    ) -> (Vec<Value>, Value) {
        let vector = plan.vector(item.ty(self.kernel));
        let start = self.b.ins().splat(vector, neutral);
        let accumulators = vec![start; plan.unroll];
        self.vectors(plan, index, low, high, body, accumulators, &mut |this, made, old| {
            let taken = |(i, old): (usize, &Value)| match item {
                Summand::Value(joining, value) => this.combine(joining, *old, made[&value][i]),
                Summand::Product(a, b) => this.fused_multiply_add(made[&a][i], made[&b][i], *old),
            };
            old.iter().enumerate().map(taken).collect()
        })
    }

    /// Sets the registers of a role that are single values.
    pub(super) fn set(&mut self, plan: &Plan, body: &[Stmt], role: Role) {
        for stmt in body {
            if let Stmt::Let(reg, op) = stmt
                && plan.roles.get(reg) == Some(&role)
            {
                let value = self.op(op);
                self.regs.insert(*reg, value);
            }
        }
    }

    #[allow(clippy::too_many_arguments, clippy::type_complexity)]
    fn vectors(
        &mut self,
        plan: &Plan,
        index: Reg,
        low: Value,
        high: Value,
        body: &[Stmt],
        carried: Vec<Value>,
        after: &mut dyn FnMut(&mut Self, &HashMap<Reg, Vec<Value>>, Vec<Value>) -> Vec<Value>,
    ) -> (Vec<Value>, Value) {
        let (setup, head) = (self.b.create_block(), self.b.create_block());
        let (inside, end) = (self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(head, types::I64);
        let types: Vec<Type> = carried.iter().map(|v| self.b.func.dfg.value_type(*v)).collect();
        let state: Vec<Value> = types.iter().map(|ty| self.b.append_block_param(head, *ty)).collect();
        let rest = self.b.append_block_param(end, types::I64);
        let left: Vec<Value> = types.iter().map(|ty| self.b.append_block_param(end, *ty)).collect();
        let step = self.b.ins().iconst(types::I64, plan.step());
        // Nothing is read that the first round would not read.
        let first = self.b.ins().iadd(low, step);
        let any = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, first, high);
        let args = |at: Value, state: &[Value]| -> Vec<BlockArg> {
            [at].iter().chain(state).map(|v| BlockArg::Value(*v)).collect()
        };
        self.b.ins().brif(any, setup, &[], end, &args(low, &carried));
        self.b.switch_to_block(setup);
        let outer = self.regs.clone();
        // What is the same in all rounds is computed once. What depends on the index waits for it.
        let mut splats: HashMap<Reg, Value> = HashMap::default();
        self.set(plan, body, Role::Same);
        for stmt in body {
            let mut wanted = Vec::new();
            match stmt {
                // The slot number of a load stays one number.
                Stmt::Let(_, Op::Load(..)) => {}
                Stmt::Let(reg, op) if matches!(plan.roles[reg], Role::Lanes | Role::Mask) => {
                    op.for_each_reg(&mut |reg| wanted.push(reg));
                }
                Stmt::Store(_, _, value) => wanted.push(*value),
                _ => {}
            }
            for reg in wanted {
                let same = plan.roles.get(&reg).is_none_or(|role| *role == Role::Same);
                let ty = self.kernel.regs[reg];
                if same && ty.bytes() == plan.width && !splats.contains_key(&reg) {
                    let value = self.reg(reg);
                    let splat = self.b.ins().splat(plan.vector(ty), value);
                    splats.insert(reg, splat);
                }
            }
        }
        self.b.ins().jump(head, &args(low, &carried));
        self.b.switch_to_block(head);
        let after_this = self.b.ins().iadd(at, step);
        let more = self.b.ins().icmp(IntCC::SignedLessThanOrEqual, after_this, high);
        self.b.ins().brif(more, inside, &[], end, &args(at, &state));
        self.b.switch_to_block(inside);
        self.regs.insert(index, at);
        let mut made: HashMap<Reg, Vec<Value>> = HashMap::default();
        for stmt in body {
            match stmt {
                Stmt::Let(reg, op) => match plan.roles[reg] {
                    Role::Same | Role::Total => {}
                    Role::Index => {
                        let value = self.op(op);
                        self.regs.insert(*reg, value);
                    }
                    Role::Lanes | Role::Mask if matches!(op, Op::Call(f, _) if has_vector_form(*f)) => {
                        let lanes = self.block_call(plan, op, &made, &splats);
                        made.insert(*reg, lanes);
                    }
                    Role::Lanes | Role::Mask => {
                        let lanes =
                            (0..plan.unroll).map(|i| self.vector_op(plan, op, *reg, i, &made, &splats));
                        let lanes = lanes.collect();
                        made.insert(*reg, lanes);
                    }
                },
                Stmt::Store(array, at, value) => {
                    let at = self.reg(*at);
                    let (place, offset) = self.slot(*array, at);
                    let flags = MemFlagsData::new().with_notrap();
                    for i in 0..plan.unroll {
                        let value = lane(&made, &splats, value, i);
                        self.b.ins().store(flags, value, place, offset + 16 * i as i32);
                    }
                }
                Stmt::Set(..) => {}
                _ => unreachable!("the plan of a vectorized loop admits no other statement"),
            }
        }
        let new = after(self, &made, state);
        self.b.ins().jump(head, &args(after_this, &new));
        self.b.switch_to_block(end);
        self.regs = outer;
        (left, rest)
    }

    /// A function of a block: its numbers go through memory, those of a second argument behind the
    /// first ones.
    fn block_call(
        &mut self,
        plan: &Plan,
        op: &Op,
        made: &HashMap<Reg, Vec<Value>>,
        splats: &HashMap<Reg, Value>,
    ) -> Vec<Value> {
        let Op::Call(f, args) = op else { return Vec::new() };
        let count = plan.unroll * 2 * args.len();
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * count as u32, 4);
        let slot = self.b.create_sized_stack_slot(data);
        let place = self.b.ins().stack_addr(types::I64, slot, 0);
        let flags = MemFlagsData::trusted();
        let lanes = args.iter().flat_map(|arg| (0..plan.unroll).map(move |i| lane(made, splats, arg, i)));
        for (i, lane) in lanes.enumerate() {
            self.b.ins().store(flags, lane, place, 16 * i as i32);
        }
        let count = self.b.ins().iconst(types::I64, count as i64);
        self.b.ins().call(self.functions.blocks[f], &[place, count]);
        let load = |i| self.b.ins().load(types::F64X2, flags, place, 16 * i as i32);
        (0..plan.unroll).map(load).collect()
    }

    /// One vector of an operation.
    fn vector_op(
        &mut self,
        plan: &Plan,
        op: &Op,
        reg: Reg,
        i: usize,
        made: &HashMap<Reg, Vec<Value>>,
        splats: &HashMap<Reg, Value>,
    ) -> Value {
        let get = |reg: &Reg| lane(made, splats, reg, i);
        let ty = self.kernel.regs[reg];
        match op {
            Op::Load(array, at, _) => {
                let at = self.reg(*at);
                let ((place, offset), flags) = (self.slot(*array, at), self.access_flags(*array));
                self.b.ins().load(plan.vector(ty), flags, place, offset + 16 * i as i32)
            }
            Op::Binary(kind, a, b) => {
                let (a, b) = (get(a), get(b));
                self.binary(*kind, ty, a, b, None)
            }
            Op::Unary(kind, a) => {
                let a = get(a);
                self.unary(*kind, ty, a)
            }
            Op::Compare(kind, a, b) => {
                if plan.roles.get(a) == Some(&Role::Mask) {
                    let mask = get(a);
                    return self.b.ins().bnot(mask);
                }
                let ty = self.kernel.regs[*a];
                let (a, b) = (get(a), get(b));
                self.compare(*kind, ty, a, b)
            }
            Op::Select(c, a, b) => {
                let (c, a, b) = (get(c), get(a), get(b));
                self.blend(c, a, b)
            }
            Op::Call(ScalarFunction::Fma, args) => {
                let (a, b, c) = (get(&args[0]), get(&args[1]), get(&args[2]));
                self.fused_multiply_add(a, b, c)
            }
            Op::Cast(Cast::SignedToFloat, _, a) => {
                let (first, each) = (self.reg(*a), 16 / plan.width);
                let mut vector = None;
                for lane in 0..each {
                    let index = self.b.ins().iadd_imm_s(first, (i * each + lane) as i64);
                    let number = self.b.ins().fcvt_from_sint(machine_type(ty), index);
                    vector = Some(match vector {
                        None => self.b.ins().splat(plan.vector(ty), number),
                        Some(vector) => self.b.ins().insertlane(vector, number, lane as u8),
                    });
                }
                vector.expect("a vector has at least one lane")
            }
            // No other operation has lanes.
            _ => self.op(op),
        }
    }
}

/// One of the vectors in flight of a register, or what it is in all of them.
fn lane(made: &HashMap<Reg, Vec<Value>>, splats: &HashMap<Reg, Value>, reg: &Reg, i: usize) -> Value {
    made.get(reg).map_or_else(|| splats[reg], |lanes| lanes[i])
}
