//! Calls of loops that are vectorized with AVX-512 or AVX2: the words that their functions get,
//! what is left of a loop between two interrupt polls, and the lanes of accumulators.

use super::emit::{Emit, machine_type};
use super::partition::INTERRUPT_WORD;
use super::vector_loops::{VectorLoop, WORD_FAILED, WORD_LANES, WORD_TAIL_MASK};
use super::vector_plan::{AccumulatorLanes, Extreme, Plan, Role};
use super::vector_registers::{FIRST_OWN_WORD, ITERATION_BYTES, Word};
use crate::core::reduction::LANES;
use crate::loop_ir::accumulator::Accumulator;
use crate::loop_ir::{Compare, Isa, ReductionOp, Reg, ScalarType, Stmt};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{
    BlockArg, FuncRef, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, Value, types,
};

/// Iterations between two interrupt polls: some tens of microseconds.
const ITERATIONS_PER_POLL: i64 = 1 << 15;

/// The numbers of the lanes of 8 bytes, and of those of 4.
static LANE_NUMBERS: [i64; ITERATION_BYTES / 8] = [0, 1, 2, 3, 4, 5, 6, 7];
static SHORT_LANE_NUMBERS: [i32; ITERATION_BYTES / 4] =
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];

/// The masks of the last iteration with AVX2: those of the first n bytes begin n bytes before the
/// middle.
static REST_MASKS: [u8; 2 * ITERATION_BYTES] = {
    let mut masks = [0; 2 * ITERATION_BYTES];
    let mut at = 0;
    while at < ITERATION_BYTES {
        masks[at] = u8::MAX;
        at += 1;
    }
    masks
};

/// The first values of the lanes of a sum, a product, a minimum and a maximum. They are static data
/// because a vector that is read from where its numbers have just been written one by one waits
/// until they are in the cache.
static IDENTITY_LANES: [[f64; LANES]; 4] = {
    const fn lanes(joining: ReductionOp) -> [f64; LANES] {
        [joining.identity(); LANES]
    }
    [lanes(ReductionOp::Add), lanes(ReductionOp::Mul), lanes(ReductionOp::Min), lanes(ReductionOp::Max)]
};

impl Emit<'_, '_> {
    /// Does all rounds of a loop that has code of its own; a total goes on with `lanes`.
    pub(super) fn emit_vector_loop(
        &mut self,
        (function, vector_loop): (FuncRef, &VectorLoop),
        index: Reg,
        (low, high): (Value, Value),
        body: &[Stmt],
        lanes: Option<Value>,
    ) {
        let (setup, head, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let at = self.b.append_block_param(head, types::I64);
        // Nothing is read that the first round would not read.
        let any = self.b.ins().icmp(IntCC::SignedLessThan, low, high);
        self.b.ins().brif(any, setup, &[], end, &[]);
        self.b.switch_to_block(setup);
        let outer = self.regs.clone();
        self.set(&vector_loop.plan, body, Role::Same);
        let spilled = (vector_loop.spilled * vector_loop.isa.vector_bytes()) as i32;
        let bytes = spilled as u32 + 8 * (FIRST_OWN_WORD + vector_loop.words.len()) as u32;
        let slot = self.b.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 6));
        let words = self.b.ins().stack_addr(types::I64, slot, spilled);
        let flags = MemFlagsData::trusted();
        let mut lanes_of = |count: usize| -> Vec<Value> {
            let lane_address = |_| {
                let data = StackSlotData::new(StackSlotKind::ExplicitSlot, ITERATION_BYTES as u32, 6);
                let slot = self.b.create_sized_stack_slot(data);
                self.b.ins().stack_addr(types::I64, slot, 0)
            };
            (0..count).map(lane_address).collect()
        };
        let totals = lanes_of(vector_loop.plan.accumulators.len());
        let carried = lanes_of(vector_loop.plan.carried().count());
        self.b.ins().jump(head, &[BlockArg::Value(low)]);
        self.b.switch_to_block(head);
        self.regs.insert(index, at);
        self.set(&vector_loop.plan, body, Role::Index);
        let left = self.b.ins().isub(high, at);
        let most = self.b.ins().iconst(types::I64, ITERATIONS_PER_POLL);
        let rounds = self.b.ins().smin(left, most);
        let per_iteration = (ITERATION_BYTES / vector_loop.plan.width) as i64;
        let rest = self.b.ins().band_imm_s(rounds, per_iteration - 1);
        let whole = self.b.ins().isub(rounds, rest);
        self.b.ins().store(flags, whole, words, 8 * WORD_LANES as i32);
        let rest = match vector_loop.isa {
            Isa::Avx512 => {
                let one = self.b.ins().iconst(types::I64, 1);
                let above = self.b.ins().ishl(one, rest);
                self.b.ins().isub(above, one)
            }
            Isa::Avx2 => {
                let bytes = self.b.ins().imul_imm_s(rest, vector_loop.plan.width as i64);
                let middle = REST_MASKS[ITERATION_BYTES..].as_ptr();
                let middle = self.b.ins().iconst(types::I64, middle as i64);
                let masks = self.b.ins().isub(middle, bytes);
                self.b.ins().select(rest, masks, rest)
            }
        };
        self.b.ins().store(flags, rest, words, 8 * WORD_TAIL_MASK as i32);
        if vector_loop.plan.can_fail {
            let zero = self.b.ins().iconst(types::I64, 0);
            self.b.ins().store(flags, zero, words, 8 * WORD_FAILED as i32);
        }
        for (i, word) in vector_loop.words.iter().enumerate() {
            let value = match word {
                Word::Place(array, at) => {
                    let at = self.reg(*at);
                    self.address(*array, at)
                }
                Word::Base(array) => self.base(*array),
                Word::Same(reg) if vector_loop.plan.width == 8 => self.promoted(*reg),
                Word::Same(reg) | Word::First(reg) => self.reg(*reg),
                Word::Bits(bits) => self.b.ins().iconst(types::I64, *bits as i64),
                Word::Lanes => lanes.expect("a reduction has lanes"),
                Word::LaneNumbers => {
                    let numbers = match vector_loop.plan.width {
                        4 => SHORT_LANE_NUMBERS.as_ptr() as i64,
                        _ => LANE_NUMBERS.as_ptr() as i64,
                    };
                    self.b.ins().iconst(types::I64, numbers)
                }
                Word::Accumulator(number) => totals[*number],
                Word::Carried(number) => carried[*number],
                Word::Stop => self.word(types::I64, INTERRUPT_WORD),
                Word::Variable(var) => {
                    let value = self.b.use_var(self.vars[var]);
                    let ty = self.kernel.vars[*var];
                    if vector_loop.plan.width == 8 { self.extended(value, ty) } else { value }
                }
                Word::Before(joining) => {
                    let neutral = IDENTITY_LANES[*joining as usize].as_ptr();
                    let neutral = self.b.ins().iconst(types::I64, neutral as i64);
                    let first = self.b.ins().icmp(IntCC::Equal, at, low);
                    self.b.ins().select(first, neutral, lanes.expect("a reduction has lanes"))
                }
            };
            self.b.ins().store(flags, value, words, 8 * (FIRST_OWN_WORD + i) as i32);
        }
        self.b.ins().call(function, &[words]);
        if vector_loop.plan.can_fail {
            let failed = self.b.ins().load(types::I64, flags, words, 8 * WORD_FAILED as i32);
            let on = self.b.create_block();
            self.b.ins().brif(failed, self.fail, &[], on, &[]);
            self.b.switch_to_block(on);
        }
        for (total, lanes) in vector_loop.plan.accumulators.iter().zip(totals) {
            self.join_lanes(&vector_loop.plan, total, lanes);
        }
        let mut carried = carried.into_iter();
        for extreme in &vector_loop.plan.extremes {
            let lanes: Vec<Value> = carried.by_ref().take(extreme.choice.members.len()).collect();
            self.choose_lane(vector_loop.plan.width, extreme, &lanes);
        }
        self.poll_interrupt();
        let next = self.b.ins().iadd(at, rounds);
        let more = self.b.ins().icmp(IntCC::SignedLessThan, next, high);
        self.b.ins().brif(more, head, &[BlockArg::Value(next)], end, &[]);
        self.b.switch_to_block(end);
        self.regs = outer;
    }

    /// A register as a number of 8 bytes: with its sign extended, or as a float of 8 bytes.
    fn promoted(&mut self, reg: Reg) -> Value {
        let value = self.reg(reg);
        self.extended(value, self.kernel.regs[reg])
    }

    /// A number of a type as one of 8 bytes.
    fn extended(&mut self, value: Value, ty: ScalarType) -> Value {
        match ty {
            ScalarType::F32 => self.b.ins().fpromote(types::F64, value),
            ScalarType::I8 | ScalarType::I16 | ScalarType::I32 => self.b.ins().sextend(types::I64, value),
            ScalarType::I64 | ScalarType::F64 => value,
        }
    }

    /// Joins the lanes of an accumulator to its variable.
    fn join_lanes(&mut self, plan: &Plan, total: &Accumulator, lanes: Value) {
        let ty = machine_type(total.ty);
        let flags = MemFlagsData::trusted();
        let mut value = self.b.use_var(self.vars[&total.var]);
        for at in (0..ITERATION_BYTES as i32).step_by(plan.width) {
            let lane = match plan.lanes_of(total) {
                // As wide as what is compared.
                AccumulatorLanes::Count if plan.width < total.ty.bytes() => {
                    self.b.ins().uload32(flags, lanes, at)
                }
                // The first bytes of a lane are those of an integer with fewer.
                _ => self.b.ins().load(ty, flags, lanes, at),
            };
            value = self.join(total.join, total.ty, value, lane);
        }
        self.b.def_var(self.vars[&total.var], value);
    }

    /// Sets the variables of an extreme to one of the lanes of each: the lane of the number beyond
    /// all others, of equal ones that of the first place or the last one. Where no lane has a place,
    /// the variables stay as they are.
    fn choose_lane(&mut self, width: usize, extreme: &Extreme, lanes: &[Value]) {
        let Extreme { choice, place } = extreme;
        // Lanes of 8 bytes hold floats of 8 bytes.
        let is_promoted = |ty: ScalarType| width == 8 && ty == ScalarType::F32;
        let types: Vec<ScalarType> = choice.members.iter().map(|member| member.ty).collect();
        let of = |ty: ScalarType| if is_promoted(ty) { ScalarType::F64 } else { ty };
        let read: Vec<(ScalarType, Value)> =
            types.iter().map(|ty| of(*ty)).zip(lanes.iter().copied()).collect();
        let strict = match choice.compare {
            Compare::Le => Compare::Lt,
            Compare::LeUnsigned => Compare::LtUnsigned,
            strict => strict,
        };
        let ty = of(types[0]);
        let mut best = self.lane_at(&read, 0);
        for at in (0..ITERATION_BYTES as i32).step_by(width).skip(1) {
            let lane = self.lane_at(&read, at);
            let (old, new) = (best[0], lane[0]);
            let (a, b) = if choice.max { (old, new) } else { (new, old) };
            let (beyond, equal) = (self.compare(strict, ty, a, b), self.compare(Compare::Eq, ty, a, b));
            let (first, second) = match choice.is_last() {
                true => (best[*place], lane[*place]),
                false => (lane[*place], best[*place]),
            };
            let is_before = self.compare(Compare::Lt, types[*place], first, second);
            let both = self.b.ins().band(equal, is_before);
            let chosen = self.b.ins().bor(beyond, both);
            best = lane.iter().zip(&best).map(|(new, old)| self.b.ins().select(chosen, *new, *old)).collect();
        }
        let no_place = self.b.ins().iconst(types::I64, extreme.no_place() as i64);
        let none = self.b.ins().icmp(IntCC::Equal, best[*place], no_place);
        for (member, value) in choice.members.iter().zip(best) {
            let value = if is_promoted(member.ty) { self.b.ins().fdemote(types::F32, value) } else { value };
            let old = self.b.use_var(self.vars[&member.var]);
            let value = self.b.ins().select(none, old, value);
            self.b.def_var(self.vars[&member.var], value);
        }
    }

    /// One lane of several, `at` bytes behind the first: of each type, from each address.
    fn lane_at(&mut self, lanes: &[(ScalarType, Value)], at: i32) -> Vec<Value> {
        let load = |(ty, address): &(ScalarType, Value)| {
            self.b.ins().load(machine_type(*ty), MemFlagsData::trusted(), *address, at)
        };
        lanes.iter().map(load).collect()
    }
}
