//! Innermost loops by vectors of 128 bits, those of the code generator.
//!
//! Several vectors of a loop with a [`Plan`] are in flight at a time, to hide how long an operation
//! takes. What is left over at the end is done one by one, by the same operations: a float comes
//! out the same either way.

use super::emit::{Emit, machine_type};
use super::vector_plan::{AccumulatorLanes, Plan, Role};
use crate::hash::HashMap;
use crate::loop_ir::accumulator::{Accumulator, AccumulatorOp};
use crate::loop_ir::{
    Binary, Cast, Compare, Op, Reg, ScalarFunction, ScalarType, Stmt, Summand, for_each_stmt, has_vector_form,
};
use cranelift_codegen::ir::{
    BlockArg, Endianness, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types,
};

impl Plan {
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
        let start: Vec<Vec<Value>> =
            plan.accumulators.iter().map(|total| self.first_lanes(plan, total)).collect();
        let sizes: Vec<usize> = start.iter().map(Vec::len).collect();
        let per_total = |lanes: Vec<Value>| -> Vec<Vec<Value>> {
            let mut lanes = lanes.into_iter();
            sizes.iter().map(|size| lanes.by_ref().take(*size).collect()).collect()
        };
        let (lanes, rest) =
            self.vectors(plan, index, low, high, body, start.concat(), &mut |this, made, old| {
                if looks {
                    this.poll_interrupt();
                }
                let totals = plan.accumulators.iter().zip(per_total(old));
                totals.flat_map(|(total, old)| this.accumulate(plan, total, made, old)).collect()
            });
        for (total, lanes) in plan.accumulators.iter().zip(per_total(lanes)) {
            self.join_vectors(plan, total, lanes);
        }
        rest
    }

    /// The lanes of an accumulator before the loop: vectors of its type, a count, or the sums of
    /// words.
    fn first_lanes(&mut self, plan: &Plan, total: &Accumulator) -> Vec<Value> {
        let identity = self.op(&Op::Const(total.ty, total.join.identity(total.ty)));
        match plan.lanes_of(total) {
            AccumulatorLanes::Count => vec![identity],
            AccumulatorLanes::Sum { .. } => vec![self.b.ins().splat(types::I64X2, identity)],
            AccumulatorLanes::Same => {
                vec![self.b.ins().splat(plan.vector(total.ty), identity); plan.unroll]
            }
        }
    }

    /// The lanes of an accumulator after the rounds whose values have been `made`.
    fn accumulate(&mut self, plan: &Plan, total: &Accumulator, made: &Made, old: Vec<Value>) -> Vec<Value> {
        let operands: Vec<Value> = (0..plan.unroll).map(|i| made.lane(&total.operand, i)).collect();
        match plan.lanes_of(total) {
            AccumulatorLanes::Count => {
                let count = operands.into_iter().fold(old[0], |count, mask| {
                    let bits = self.b.ins().vhigh_bits(types::I32, mask);
                    let ones = self.b.ins().popcnt(bits);
                    let ones = self.b.ins().uextend(types::I64, ones);
                    self.b.ins().iadd(count, ones)
                });
                vec![count]
            }
            AccumulatorLanes::Sum { signed } => {
                let sums = self.widened_sums(operands, signed);
                vec![self.b.ins().iadd(old[0], sums)]
            }
            AccumulatorLanes::Same => {
                let joined = |(i, (old, operand)): (usize, (Value, Value))| {
                    let joined = self.join(total.join, total.ty, old, operand);
                    match total.condition {
                        Some(condition) => self.blend(made.lane(&condition, i), joined, old),
                        None => joined,
                    }
                };
                old.into_iter().zip(operands).enumerate().map(joined).collect()
            }
        }
    }

    /// The sums of the lanes of integers, as two words. Each addition doubles the bytes of lanes,
    /// so none overflows.
    fn widened_sums(&mut self, mut vectors: Vec<Value>, signed: bool) -> Value {
        loop {
            if self.b.func.dfg.value_type(vectors[0]) == types::I64X2 {
                let first = vectors[0];
                return vectors[1..].iter().fold(first, |sum, vector| self.b.ins().iadd(sum, *vector));
            }
            let halves = |vector: Value| {
                let halves = match signed {
                    true => [self.b.ins().swiden_low(vector), self.b.ins().swiden_high(vector)],
                    false => [self.b.ins().uwiden_low(vector), self.b.ins().uwiden_high(vector)],
                };
                self.b.ins().iadd(halves[0], halves[1])
            };
            let sums: Vec<Value> = vectors.into_iter().map(halves).collect();
            // Twice the lanes of all vectors in flight are added, 32 at most: twice the bits hold them.
            let first = sums[0];
            vectors = vec![sums[1..].iter().fold(first, |sum, vector| self.b.ins().iadd(sum, *vector))];
        }
    }

    /// Joins the lanes of an accumulator to its variable.
    fn join_vectors(&mut self, plan: &Plan, total: &Accumulator, lanes: Vec<Value>) {
        let lanes = match plan.lanes_of(total) {
            AccumulatorLanes::Count => lanes,
            AccumulatorLanes::Same | AccumulatorLanes::Sum { .. } => {
                let first = lanes[0];
                let vector = lanes[1..].iter().fold(first, |a, b| self.join(total.join, total.ty, a, *b));
                let count = self.b.func.dfg.value_type(vector).lane_count();
                (0..count as u8).map(|lane| self.b.ins().extractlane(vector, lane)).collect()
            }
        };
        let variable = self.vars[&total.var];
        let value = self.b.use_var(variable);
        let value = lanes.into_iter().fold(value, |a, b| self.join(total.join, total.ty, a, b));
        self.b.def_var(variable, value);
    }

    /// Two values of an accumulator joined, or vectors of such.
    pub(super) fn join(&mut self, join: AccumulatorOp, ty: ScalarType, a: Value, b: Value) -> Value {
        let (max, unsigned) = match join {
            AccumulatorOp::Binary(kind) => return self.binary(kind, ty, a, b, None),
            AccumulatorOp::Extreme { max, unsigned } => (max, unsigned),
        };
        match (max, unsigned) {
            // There is no instruction on words before AVX-512.
            _ if self.b.func.dfg.value_type(a) == types::I64X2 => {
                let less = self.compare(Compare::Lt, ty, a, b);
                let (a, b) = if max { (b, a) } else { (a, b) };
                self.blend(less, a, b)
            }
            (false, false) => self.b.ins().smin(a, b),
            (true, false) => self.b.ins().smax(a, b),
            (false, true) => self.b.ins().umin(a, b),
            (true, true) => self.b.ins().umax(a, b),
        }
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
                Summand::Value(joining, value) => this.combine(joining, *old, made.lane(&value, i)),
                Summand::Product(a, b) => this.fused_multiply_add(made.lane(&a, i), made.lane(&b, i), *old),
            };
            old.iter().enumerate().map(taken).collect()
        })
    }

    /// Sets the registers of a role that are single values.
    pub(super) fn set(&mut self, plan: &Plan, body: &[Stmt], role: Role) {
        for_each_stmt(body, &mut |stmt| {
            if let Stmt::Let(reg, op) = stmt
                && plan.roles.get(reg) == Some(&role)
            {
                let value = self.op(op);
                self.regs.insert(*reg, value);
            }
        });
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
        after: &mut dyn FnMut(&mut Self, &Made, Vec<Value>) -> Vec<Value>,
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
        let none = self.lacks_rounds(low, high, plan.step());
        let args = |at: Value, state: &[Value]| -> Vec<BlockArg> {
            [at].iter().chain(state).map(|v| BlockArg::Value(*v)).collect()
        };
        self.leave_loop_if(none, (end, &args(low, &carried)), setup);
        self.b.switch_to_block(setup);
        let outer = self.regs.clone();
        // What is the same in all rounds is computed once. What depends on the index waits for it.
        let mut made = Made::default();
        self.set(plan, body, Role::Same);
        let accumulated: Vec<Reg> = plan.accumulators.iter().map(|total| total.operand).collect();
        let read = |stmt: &Stmt| {
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
            wanted
        };
        for reg in body.iter().flat_map(read).chain(accumulated) {
            let same = plan.roles.get(&reg).is_none_or(|role| *role == Role::Same);
            let ty = self.kernel.regs[reg];
            if same && ty.bytes() == plan.width && !made.splats.contains_key(&reg) {
                let value = self.reg(reg);
                let splat = self.b.ins().splat(plan.vector(ty), value);
                made.splats.insert(reg, splat);
            }
        }
        self.b.ins().jump(head, &args(low, &carried));
        self.b.switch_to_block(head);
        let after_this = self.b.ins().iadd(at, step);
        let ends = self.lacks_rounds(at, high, plan.step());
        self.leave_loop_if(ends, (end, &args(at, &state)), inside);
        self.b.switch_to_block(inside);
        self.regs.insert(index, at);
        for stmt in body {
            match stmt {
                Stmt::Let(reg, op) => match plan.roles[reg] {
                    Role::Same | Role::Total => {}
                    Role::Index => {
                        let value = self.op(op);
                        self.regs.insert(*reg, value);
                    }
                    Role::Lanes | Role::Mask if matches!(op, Op::Call(f, _) if has_vector_form(*f)) => {
                        let lanes = self.block_call(plan, op, &made);
                        made.lanes.insert(*reg, lanes);
                    }
                    Role::Lanes | Role::Mask => {
                        let lanes = (0..plan.unroll).map(|i| self.vector_op(plan, op, *reg, i, &made));
                        let lanes = lanes.collect();
                        made.lanes.insert(*reg, lanes);
                    }
                    // Extended where it is added.
                    Role::Extended { .. } => {
                        if let Op::Cast(_, _, narrow) = op {
                            let lanes = made.lanes[narrow].clone();
                            made.lanes.insert(*reg, lanes);
                        }
                    }
                },
                Stmt::Store(array, at, value) => {
                    let at = self.reg(*at);
                    let (place, offset) = self.slot(*array, at);
                    let flags = MemFlagsData::new().with_notrap();
                    for i in 0..plan.unroll {
                        let value = made.lane(value, i);
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
    fn block_call(&mut self, plan: &Plan, op: &Op, made: &Made) -> Vec<Value> {
        let Op::Call(f, args) = op else { return Vec::new() };
        let count = plan.unroll * 2 * args.len();
        let data = StackSlotData::new(StackSlotKind::ExplicitSlot, 8 * count as u32, 4);
        let slot = self.b.create_sized_stack_slot(data);
        let place = self.b.ins().stack_addr(types::I64, slot, 0);
        let flags = MemFlagsData::trusted();
        let lanes = args.iter().flat_map(|arg| (0..plan.unroll).map(move |i| made.lane(arg, i)));
        for (i, lane) in lanes.enumerate() {
            self.b.ins().store(flags, lane, place, 16 * i as i32);
        }
        let count = self.b.ins().iconst(types::I64, count as i64);
        self.b.ins().call(self.functions.blocks[f], &[place, count]);
        let load = |i| self.b.ins().load(types::F64X2, flags, place, 16 * i as i32);
        (0..plan.unroll).map(load).collect()
    }

    /// The products of bytes, modulo 256, by products of 2 bytes, since the machine has none of one:
    /// those of the bytes at even places are the low bytes of such products, and those at odd places
    /// the high bytes where one factor has only its high byte and the other was moved down.
    fn multiply_bytes(&mut self, a: Value, b: Value) -> Value {
        let flags = MemFlagsData::new().with_endianness(Endianness::Little);
        let mut wide = |value| self.b.ins().bitcast(types::I16X8, flags, value);
        let (a, b) = (wide(a), wide(b));
        let mut mask = |bits: i64| {
            let bits = self.b.ins().iconst(types::I16, bits);
            self.b.ins().splat(types::I16X8, bits)
        };
        let (low, high) = (mask(0xff), mask(0xff00));
        let even = self.b.ins().imul(a, b);
        let even = self.b.ins().band(even, low);
        let eight = self.b.ins().iconst(types::I32, 8);
        let (a, b) = (self.b.ins().ushr(a, eight), self.b.ins().band(b, high));
        let odd = self.b.ins().imul(a, b);
        let both = self.b.ins().bor(even, odd);
        self.b.ins().bitcast(types::I8X16, flags, both)
    }

    /// One vector of an operation.
    fn vector_op(&mut self, plan: &Plan, op: &Op, reg: Reg, i: usize, made: &Made) -> Value {
        let get = |reg: &Reg| made.lane(reg, i);
        let ty = self.kernel.regs[reg];
        match op {
            Op::Load(array, at, _) => {
                let at = self.reg(*at);
                let ((place, offset), flags) = (self.slot(*array, at), self.access_flags(*array));
                self.b.ins().load(plan.vector(ty), flags, place, offset + 16 * i as i32)
            }
            Op::Binary(Binary::Mul, a, b) if ty.bytes() == 1 => {
                let (a, b) = (get(a), get(b));
                self.multiply_bytes(a, b)
            }
            // The number of places is one for all lanes.
            Op::Binary(kind @ (Binary::Shl | Binary::Shr), a, places) => {
                let (a, places) = (get(a), self.reg(*places));
                self.binary(*kind, ty, a, places, None)
            }
            // The planner admits powers of two alone.
            Op::Binary(Binary::DivUnsigned, a, b) => {
                let places = i64::from(self.kernel.constants[b].trailing_zeros());
                let (a, places) = (get(a), self.b.ins().iconst(types::I32, places));
                self.b.ins().ushr(a, places)
            }
            Op::Binary(Binary::RemUnsigned, a, b) => {
                let mask = self.b.ins().iconst(machine_type(ty), (self.kernel.constants[b] - 1) as i64);
                let (a, mask) = (get(a), self.b.ins().splat(plan.vector(ty), mask));
                self.b.ins().band(a, mask)
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

/// The values of a round's registers.
#[derive(Default)]
struct Made {
    /// The vectors in flight of those that have lanes.
    lanes: HashMap<Reg, Vec<Value>>,
    /// The vectors of those that are the same in all rounds.
    splats: HashMap<Reg, Value>,
}

impl Made {
    /// One of the vectors in flight of a register, or what it is in all of them.
    fn lane(&self, reg: &Reg, i: usize) -> Value {
        self.lanes.get(reg).map_or_else(|| self.splats[reg], |lanes| lanes[i])
    }
}
