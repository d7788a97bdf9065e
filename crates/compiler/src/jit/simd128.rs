//! Innermost loops by vectors of 128 bits, those of the code generator.
//!
//! Several vectors of a loop with a [`Plan`] are in flight at a time, to hide how long an operation
//! takes. What is left over at the end is done one by one, by the same operations: a float comes
//! out the same either way.

use super::emit::{Emit, machine_type};
use super::vector_plan::{Plan, Role};
use crate::hash::HashMap;
use crate::loop_ir::{Cast, Op, Reg, ScalarFunction, ScalarType, Stmt, Summand, has_vector_form};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Type, Value, types,
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
