//! Vectorization of innermost loops with AVX-512 or AVX2, on processors that have one of them; they
//! are called by [`super::vector_call`].
//!
//! The code generator's vectors end at 128 bits. What has a [`Plan`], a loop whose body
//! only computes, reads and writes at the index, has no branches and few kinds of instruction;
//! unless it calls functions of blocks its code is written here, one function for each such loop,
//! which does all of its rounds.
//!
//! **The function** gets one block of words: how many lanes whole iterations have, which lanes the
//! rest has, the addresses of what is read and written in the first round, what is the same in all
//! rounds, and for a total where its lanes are. All lanes are equally wide; slots of integers may
//! be narrower than lanes of 8 bytes, and are extended where they are read and cut off where they
//! are written. One counter of lanes serves every address, scaled by the width of the slots. An
//! iteration does lanes of [`ITERATION_BYTES`], by one vector of AVX-512 or two of AVX2, one after
//! the other. The last one goes by a mask: lanes beyond the end are neither read nor written, and
//! leave totals as they are. So no round is left over.
//!
//! **Registers** are given in the order of the statements and are free again after the last use.
//! What is the same in all rounds stays in those that the body never needs, the rest of it is read
//! again where it is used. Where none is free, the value that is read last of all is written to
//! memory below the block of words and is read again there (Belady, *A study of replacement
//! algorithms for a virtual-storage computer*, 1966); a value is set once, so it is written once.
//!
//! **Accumulators** ([`super::accumulator`]) have lanes in registers of their own, which start
//! from the number that changes nothing and are joined to the variable after the function. The
//! index in the lanes, where it is a number, is a register that is advanced in each round.
//!
//! **Same bits.** Each operation is the one that narrow vectors have, in the same order of
//! operands; a total has eight lanes of 8 bytes, the lanes of [`crate::core::reduction`]. So
//! results do not depend on the processor, and `FELIS_VECTORS` changes nothing but time.

use super::asm_x64::{
    Arithmetic, Assembler, Conversion, FREE_POINTERS, Isa, Lane, Mask, POINTERS, Pointer, Vector,
};
use super::vector_plan::{LaneTypes, Plan, Role, divides_halves, plan, signed_factor};
use crate::core::reduction::LANES;
use crate::hash::HashMap;
use crate::loop_ir::accumulator::AccumulatorOp;
use crate::loop_ir::reciprocal::reciprocal;
use crate::loop_ir::{
    Array, Binary, Cast, Compare, Kernel, Op, ReductionOp, Reg, ScalarFunction, ScalarType, Stmt, Summand,
    Unary,
};
use std::sync::OnceLock;

/// Bytes of the lanes of an iteration.
pub(super) const ITERATION_BYTES: usize = 64;

/// The mask of the lanes of the last iteration, with AVX-512.
const TAIL_MASK: Mask = Mask(1);
/// Mask registers that the body may use start here, with AVX-512.
const FIRST_FREE_MASK: u8 = 2;

/// Vectors that may be in memory at once.
const MAX_SPILLED: usize = 64;

/// The word that says how many lanes whole iterations have.
pub(super) const WORD_LANES: usize = 0;
/// The word that says which lanes the rest has: 0 if there is no rest; else a bit for each with
/// AVX-512, the address of their masks with AVX2.
pub(super) const WORD_TAIL_MASK: usize = 1;
/// The first word of the loop's own.
pub(super) const FIRST_OWN_WORD: usize = 2;

/// A word that a loop's function is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// The address of the slot of an array that the first round reads or writes.
    Place(Array, Reg),
    /// A number that is the same in all rounds.
    Same(Reg),
    /// A number that is known.
    Bits(u64),
    /// The address of the lanes of a total.
    Lanes,
    /// The address of what they are before.
    Before(ReductionOp),
    /// The index of the first round, or a number made of it.
    First(Reg),
    /// The address of the numbers of the lanes.
    LaneNumbers,
    /// The address of the lanes of an accumulator.
    Accumulator(usize),
}

/// A loop by wide vectors.
pub struct VectorLoop {
    pub(super) plan: Plan,
    pub(super) words: Vec<Word>,
    /// The vectors in memory below the words.
    pub(super) spilled: usize,
    pub(super) isa: Isa,
    /// The machine code: a function of the address of the words.
    pub code: Vec<u8>,
}

/// The instructions of vectors of this processor, if `FELIS_VECTORS`, the most bits of a vector,
/// permits them.
pub fn isa() -> Option<Isa> {
    static FOUND: OnceLock<Option<Isa>> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let most = std::env::var("FELIS_VECTORS").ok().and_then(|bits| bits.parse().ok());
        available().find(|isa| most.is_none_or(|most: usize| 8 * isa.vector_bytes() <= most))
    })
}

/// The sets of vector instructions of this processor, the widest first.
fn available() -> impl Iterator<Item = Isa> {
    // The registers of arguments are those of Unix.
    #[cfg(all(target_arch = "x86_64", unix))]
    let there = [
        (Isa::Avx512, std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512dq")),
        (Isa::Avx2, std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma")),
    ];
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    let there = [];
    there.into_iter().filter_map(|(isa, there): (Isa, bool)| there.then_some(isa))
}

/// A loop's code, if it goes by wide vectors.
pub fn assemble(isa: Isa, kernel: &Kernel, stmt: &Stmt) -> Option<(Reg, VectorLoop)> {
    let (index, body, item) = match stmt {
        Stmt::For { index, body, low, high, .. } => {
            let known = |reg| kernel.constants.get(reg).map(|n| *n as i64);
            let few =
                matches!((known(low), known(high)), (Some(low), Some(high)) if high - low < LANES as i64);
            if few {
                return None;
            }
            (*index, body, None)
        }
        Stmt::ParallelFor { index, body, .. } => (*index, body, None),
        Stmt::Reduce { index, body, item, .. } => (*index, body, Some(*item)),
        _ => return None,
    };
    let plan = plan(kernel, index, body, item, LaneTypes::Words)?;
    if item.is_some_and(|item| item.ty(kernel) != ScalarType::F64) {
        return None;
    }
    let mut reads_index = false;
    for stmt in body {
        let mut is_number = |reg: &Reg| reads_index |= plan.roles.get(reg) == Some(&Role::Index);
        match stmt {
            Stmt::Let(_, Op::Load(..)) => {}
            Stmt::Let(reg, _) if plan.roles.get(reg) == Some(&Role::Index) => {}
            Stmt::Let(_, op) => op.for_each_reg(&mut |reg| is_number(&reg)),
            Stmt::Store(_, _, value) => is_number(value),
            _ => {}
        }
    }
    let (words, resident) = (Vec::new(), HashMap::default());
    let reads = reads_of(body, &plan, item);
    let mut loops = Loop {
        isa,
        kernel,
        plan: &plan,
        body,
        item,
        reads_index,
        reads,
        words,
        resident,
        most: 0,
        spilled: 0,
    };
    // Once to see how many registers it needs, and what it reads; then with those that are left for
    // what stays.
    loops.function()?;
    let all = isa.vector_registers();
    let left = all.saturating_sub(loops.most);
    let same =
        loops.words.iter().filter_map(|word| if let Word::Same(reg) = word { Some(*reg) } else { None });
    loops.resident = same.zip((0..left).map(|i| Vector(all - 1 - i))).collect();
    let code = loops.function()?;
    let Loop { words, spilled, .. } = loops;
    Some((index, VectorLoop { plan, words, spilled, isa, code }))
}

/// The statements that read each register of the body, or set it, in order: the operand of a
/// reduction is read at the end, that of an accumulator where it is joined.
fn reads_of(body: &[Stmt], plan: &Plan, item: Option<Summand>) -> HashMap<Reg, Vec<usize>> {
    let mut reads: HashMap<Reg, Vec<usize>> = HashMap::default();
    for (at, stmt) in body.iter().enumerate() {
        if let Stmt::Let(reg, _) = stmt {
            reads.entry(*reg).or_default().push(at);
        }
        stmt.for_each_reg(&mut |reg| reads.entry(reg).or_default().push(at));
    }
    for total in &plan.accumulators {
        let joined = position_of(body, total.new);
        for reg in total.condition.into_iter().chain([total.operand]) {
            reads.entry(reg).or_default().push(joined);
        }
    }
    for reg in item.into_iter().flat_map(Summand::regs) {
        reads.entry(reg).or_default().push(body.len());
    }
    for places in reads.values_mut() {
        places.sort_unstable();
    }
    reads
}

/// A loop whose code is written.
struct Loop<'a> {
    isa: Isa,
    kernel: &'a Kernel,
    plan: &'a Plan,
    body: &'a [Stmt],
    item: Option<Summand>,
    /// The index is a number in the lanes.
    reads_index: bool,
    /// The statements that read each register.
    reads: HashMap<Reg, Vec<usize>>,
    words: Vec<Word>,
    /// Values that stay in a register.
    resident: HashMap<Reg, Vector>,
    /// Registers that were needed at once.
    most: u8,
    /// Vectors that were in memory at once.
    spilled: usize,
}

/// The place of a register of the body, unless it is in memory only.
#[derive(Clone, Copy)]
enum Place {
    Vector(Vector),
    Mask(Mask),
}

/// The mask of a truth value, and it again if nothing else needs it.
struct Condition {
    mask: Mask,
    own: Option<Mask>,
}

/// Registers of the machine, while a body is written.
struct Registers {
    isa: Isa,
    vectors: Vec<Vector>,
    /// Mask registers of AVX-512; the masks of AVX2 are vectors.
    masks: Vec<Mask>,
    places: HashMap<Reg, Place>,
    /// The numbers of the vectors in memory of values that are there, in a register or not.
    memory: HashMap<Reg, usize>,
    /// The statement whose code is written.
    at: usize,
    /// Registers that the statement has asked for.
    pinned: Vec<Vector>,
}

impl Loop<'_> {
    /// The number of a word.
    fn word(&mut self, word: Word) -> usize {
        let at = self.words.iter().position(|w| *w == word);
        FIRST_OWN_WORD
            + at.unwrap_or_else(|| {
                self.words.push(word);
                self.words.len() - 1
            })
    }

    fn role(&self, reg: Reg) -> Role {
        self.plan.roles.get(&reg).copied().unwrap_or(Role::Same)
    }

    /// The type of the lanes of a register.
    fn lane(&self, reg: Reg) -> Lane {
        match (self.kernel.regs[reg], self.plan.width) {
            (ScalarType::F64, _) => Lane::F64,
            (ScalarType::F32, _) => Lane::F32,
            (_, 8) => Lane::I64,
            _ => Lane::I32,
        }
    }

    /// The address of a word's slot: in a register of its own while there are any.
    fn pointer(&mut self, asm: &mut Assembler, array: Array, at: Reg) -> Pointer {
        let word = self.word(Word::Place(array, at));
        let places =
            self.words[..word - FIRST_OWN_WORD].iter().filter(|word| matches!(word, Word::Place(..))).count();
        let last = POINTERS.len() - 1;
        if places >= last {
            asm.pointer(POINTERS[last], word);
        }
        POINTERS[places.min(last)]
    }

    /// Vectors of an iteration.
    fn parts(&self) -> usize {
        ITERATION_BYTES / self.isa.vector_bytes()
    }

    /// Lanes of a vector.
    fn lanes(&self) -> usize {
        self.isa.vector_bytes() / self.plan.width
    }

    /// The register of a part of the lanes of a total.
    fn total(&self, part: usize) -> Vector {
        Vector(part as u8)
    }

    /// The register of a part of the lanes of an accumulator.
    fn accumulator(&self, number: usize, part: usize) -> Vector {
        Vector(((usize::from(self.item.is_some()) + number) * self.parts() + part) as u8)
    }

    /// The register of the index in the lanes.
    fn lane_index(&self) -> Vector {
        self.accumulator(self.plan.accumulators.len(), 0)
    }

    /// The first register that is free for the body.
    fn first_free(&self) -> u8 {
        self.lane_index().0 + u8::from(self.reads_index)
    }

    /// All of it.
    fn function(&mut self) -> Option<Vec<u8>> {
        let mut asm = Assembler::new(self.isa);
        let (plan, parts, lanes) = (self.plan, self.parts(), self.lanes() as u8);
        // Half of the registers are for the body.
        let most = usize::from(self.isa.vector_registers()) / 2;
        if (self.item.iter().len() + plan.accumulators.len()) * parts > most {
            return None;
        }
        asm.zero_counter();
        for (number, total) in plan.accumulators.iter().enumerate() {
            let word = self.word(Word::Bits(total.join.identity(total.ty)));
            for part in 0..parts {
                asm.broadcast(self.lane(total.new), self.accumulator(number, part), word);
            }
        }
        if self.reads_index {
            asm.pointer(POINTERS[0], self.word(Word::LaneNumbers));
            asm.load(Lane::I64, self.lane_index(), POINTERS[0], None);
        }
        if let Some(item) = self.item {
            asm.pointer(POINTERS[0], self.word(Word::Before(item.op())));
            for part in 0..parts {
                asm.load(Lane::F64, self.total(part), POINTERS[0], None);
                asm.advance_counter(lanes);
            }
            asm.zero_counter();
        }
        let places: Vec<usize> =
            (0..self.words.len()).filter(|i| matches!(self.words[*i], Word::Place(..))).collect();
        let kept = places.len().min(POINTERS.len()).saturating_sub(FREE_POINTERS);
        for pointer in &POINTERS[FREE_POINTERS..FREE_POINTERS + kept] {
            asm.push(*pointer);
        }
        for (pointer, i) in POINTERS.iter().zip(&places) {
            asm.pointer(*pointer, FIRST_OWN_WORD + i);
        }
        let resident: Vec<(Reg, Vector)> =
            self.resident.iter().map(|(reg, vector)| (*reg, *vector)).collect();
        for (reg, vector) in resident {
            let word = self.word(Word::Same(reg));
            asm.broadcast(self.lane(reg), vector, word);
        }
        let over = asm.jump_unless_below(WORD_LANES);
        let head = asm.offset();
        for part in 0..parts {
            let mut registers = self.registers();
            self.round(&mut asm, &mut registers, part, None)?;
            asm.advance_counter(lanes);
        }
        asm.jump_back_if_below(WORD_LANES, head);
        asm.patch_jump(over);
        self.rest(&mut asm)?;
        if self.item.is_some() {
            self.store_lanes(&mut asm, Word::Lanes, Lane::F64, self.total(0));
        }
        for (number, total) in plan.accumulators.iter().enumerate() {
            let first = self.accumulator(number, 0);
            self.store_lanes(&mut asm, Word::Accumulator(number), self.lane(total.new), first);
        }
        asm.vzeroupper();
        for pointer in POINTERS[FREE_POINTERS..FREE_POINTERS + kept].iter().rev() {
            asm.pop(*pointer);
        }
        asm.ret();
        Some(asm.finish())
    }

    /// Writes lanes of an iteration, those of `first` and of the registers behind it, to the
    /// address that a word is.
    fn store_lanes(&mut self, asm: &mut Assembler, word: Word, lane: Lane, first: Vector) {
        asm.pointer(POINTERS[0], self.word(word));
        asm.zero_counter();
        for part in 0..self.parts() {
            asm.store(lane, POINTERS[0], Vector(first.0 + part as u8), None);
            asm.advance_counter(self.lanes() as u8);
        }
    }

    /// The last iteration, whose lanes a mask chooses.
    fn rest(&mut self, asm: &mut Assembler) -> Option<()> {
        let mut ends = vec![asm.jump_if_zero(WORD_TAIL_MASK)];
        for part in 0..self.parts() {
            let mut registers = self.registers();
            let mask = match self.isa {
                Isa::Avx512 => {
                    asm.mask(TAIL_MASK, WORD_TAIL_MASK);
                    TAIL_MASK
                }
                Isa::Avx2 => {
                    let mask = self.take_mask(asm, &mut registers)?;
                    asm.mask_at(mask, WORD_TAIL_MASK, part);
                    if part > 0 {
                        ends.push(asm.jump_if_none(mask));
                    }
                    mask
                }
            };
            self.round(asm, &mut registers, part, Some(mask))?;
            asm.advance_counter(self.lanes() as u8);
        }
        for end in ends {
            asm.patch_jump(end);
        }
        Some(())
    }

    /// The registers that a body may use.
    fn registers(&self) -> Registers {
        let free = self.isa.vector_registers() - self.resident.len() as u8;
        Registers {
            isa: self.isa,
            vectors: (self.first_free()..free).rev().map(Vector).collect(),
            masks: (FIRST_FREE_MASK..8).rev().map(Mask).collect(),
            places: HashMap::default(),
            memory: HashMap::default(),
            at: 0,
            pinned: Vec::new(),
        }
    }

    /// The body for a part of the lanes of an iteration, or for those of `mask`.
    fn round(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        part: usize,
        mask: Option<Mask>,
    ) -> Option<()> {
        let (body, plan) = (self.body, self.plan);
        for (at, stmt) in body.iter().enumerate() {
            registers.begin(at);
            match stmt {
                Stmt::Let(reg, _) if self.role(*reg) == Role::Total => {
                    if let Some(number) = plan.accumulators.iter().position(|total| total.new == *reg) {
                        self.accumulate(asm, registers, (number, part), mask)?;
                    }
                }
                Stmt::Let(reg, op) if matches!(self.role(*reg), Role::Lanes | Role::Mask) => {
                    self.operation(asm, registers, *reg, op, mask)?;
                    // A result that nobody reads takes no register.
                    self.free(registers, &[*reg]);
                }
                Stmt::Store(array, place, value) => {
                    let from = self.vector(asm, registers, *value)?;
                    let to = self.pointer(asm, *array, *place);
                    let width = self.kernel.arrays[*array].width;
                    if plan.stride(*place) != 1 {
                        let other = self.take(asm, registers)?;
                        asm.store_strided((to, 8 * plan.stride(*place) as i32), from, other, mask);
                        registers.vectors.push(other);
                    } else if usize::from(width) < plan.width {
                        asm.store_narrow(width, to, from, mask);
                    } else {
                        asm.store(self.lane(*value), to, from, mask);
                    }
                    self.release(registers, &[*value], &[from]);
                }
                Stmt::Let(..) | Stmt::Set(..) => {}
                _ => unreachable!("the plan of a vectorized loop admits no other statement"),
            }
        }
        registers.begin(body.len());
        if self.reads_index {
            let step = self.take(asm, registers)?;
            let word = self.word(Word::Bits(self.lanes() as u64));
            asm.broadcast(Lane::I64, step, word);
            let at = self.lane_index();
            asm.arithmetic(Arithmetic::Add, Lane::I64, at, (at, step), None);
            registers.vectors.push(step);
        }
        if let Some(item) = self.item {
            let total = self.total(part);
            let mut taken = Vec::new();
            for reg in item.regs() {
                taken.push(self.vector(asm, registers, reg)?);
            }
            match item {
                Summand::Value(joining, _) => {
                    let kind = match joining {
                        ReductionOp::Add => Binary::Add,
                        ReductionOp::Mul => Binary::Mul,
                        ReductionOp::Min => Binary::Min,
                        ReductionOp::Max => Binary::Max,
                    };
                    self.join(
                        asm,
                        registers,
                        AccumulatorOp::Binary(kind),
                        Lane::F64,
                        (total, taken[0]),
                        mask,
                    )?;
                }
                Summand::Product(..) => match (self.isa, mask) {
                    (Isa::Avx2, Some(mask)) => {
                        let sum = self.take(asm, registers)?;
                        asm.copy(sum, total);
                        asm.fused_multiply_add(Lane::F64, sum, (taken[0], taken[1]), None);
                        asm.blend(Lane::F64, total, mask, (sum, total));
                        registers.vectors.push(sum);
                    }
                    _ => asm.fused_multiply_add(Lane::F64, total, (taken[0], taken[1]), mask),
                },
            }
        }
        Some(())
    }

    /// Joins the numbers of a round to a part of the lanes of an accumulator.
    fn accumulate(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (number, part): (usize, usize),
        mask: Option<Mask>,
    ) -> Option<()> {
        let total = &self.plan.accumulators[number];
        let (to, lane) = (self.accumulator(number, part), self.lane(total.new));
        let operand = self.vector(asm, registers, total.operand)?;
        // The lanes of a round, of the condition, or of both.
        let (mut both, mut own) = (None, None);
        let lanes = match total.condition {
            None => mask,
            Some(condition) => {
                let condition = self.condition(asm, registers, condition)?;
                own = condition.own;
                Some(match mask {
                    None => condition.mask,
                    Some(mask) => {
                        let new = *both.insert(self.take_mask(asm, registers)?);
                        asm.mask_and(new, condition.mask, mask);
                        new
                    }
                })
            }
        };
        self.join(asm, registers, total.join, lane, (to, operand), lanes)?;
        for mask in both.into_iter().chain(own) {
            registers.give_mask(mask);
        }
        self.release(registers, &[total.operand], &[operand]);
        self.free(registers, total.condition.as_slice());
        Some(())
    }

    /// `to = to op operand` in the lanes of a mask, or in all.
    fn join(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        op: AccumulatorOp,
        lane: Lane,
        (to, operand): (Vector, Vector),
        mask: Option<Mask>,
    ) -> Option<()> {
        let op = match op {
            AccumulatorOp::Binary(kind @ (Binary::Min | Binary::Max)) => {
                return self.extreme(asm, registers, kind == Binary::Max, lane, to, (operand, to), mask);
            }
            AccumulatorOp::Binary(kind) => arithmetic(kind)?,
            AccumulatorOp::Extreme { max: false, unsigned: false } => Arithmetic::Min,
            AccumulatorOp::Extreme { max: true, unsigned: false } => Arithmetic::Max,
            AccumulatorOp::Extreme { max: false, unsigned: true } => Arithmetic::MinUnsigned,
            AccumulatorOp::Extreme { max: true, unsigned: true } => Arithmetic::MaxUnsigned,
        };
        let by_blend = self.isa == Isa::Avx2 && mask.is_some();
        if !by_blend && !asm.needs_distinct_result(op, lane) {
            asm.arithmetic(op, lane, to, (to, operand), mask);
            return Some(());
        }
        let joined = self.take(asm, registers)?;
        asm.arithmetic(op, lane, joined, (to, operand), None);
        match mask {
            Some(mask) => asm.blend(lane, to, mask, (joined, to)),
            None => asm.copy(to, joined),
        }
        registers.vectors.push(joined);
        Some(())
    }

    /// The mask of the lanes in which a truth value is true. One that is a number, as a combination
    /// of a truth value with one that is the same in all rounds is, gets a mask of its own.
    fn condition(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg) -> Option<Condition> {
        if self.role(reg) == Role::Mask {
            return Some(Condition { mask: self.mask(asm, registers, reg)?, own: None });
        }
        let vector = self.vector(asm, registers, reg)?;
        let mask = self.take_mask(asm, registers)?;
        asm.test(self.lane(reg), mask, vector);
        if !self.has_vector(registers, reg) {
            registers.vectors.push(vector);
        }
        Some(Condition { mask, own: Some(mask) })
    }

    /// The mask of a register with [`Role::Mask`]: where it is, or read from memory.
    fn mask(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg) -> Option<Mask> {
        if let Some(Place::Mask(mask)) = registers.places.get(&reg) {
            let mask = *mask;
            registers.pin(mask);
            return Some(mask);
        }
        let number = registers.memory[&reg];
        let mask = self.take_mask(asm, registers)?;
        asm.reload(Vector(mask.0), number);
        registers.places.insert(reg, Place::Mask(mask));
        Some(mask)
    }

    /// The vector of a register: where it is, or read from memory; what is the same in all rounds,
    /// and the index, are made again.
    fn vector(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg) -> Option<Vector> {
        if let Some(vector) = self.resident.get(&reg) {
            return Some(*vector);
        }
        if let Some(Place::Vector(vector)) = registers.places.get(&reg) {
            registers.pinned.push(*vector);
            return Some(*vector);
        }
        match self.role(reg) {
            Role::Mask => {
                let mask = self.mask(asm, registers, reg)?;
                let (to, word) = (self.take(asm, registers)?, self.word(Word::Bits(1)));
                let lane = if self.plan.width == 8 { Lane::I64 } else { Lane::I32 };
                asm.ones(lane, to, mask, word);
                Some(to)
            }
            Role::Lanes => {
                let number = registers.memory[&reg];
                let to = self.take(asm, registers)?;
                asm.reload(to, number);
                registers.places.insert(reg, Place::Vector(to));
                Some(to)
            }
            Role::Index => {
                let (to, word) = (self.take(asm, registers)?, self.word(Word::First(reg)));
                asm.broadcast(Lane::I64, to, word);
                let (stride, at) = (self.plan.stride(reg), self.lane_index());
                let op = if stride < 0 { Arithmetic::Sub } else { Arithmetic::Add };
                if stride.unsigned_abs() == 1 {
                    asm.arithmetic(op, Lane::I64, to, (to, at), None);
                } else {
                    let product = self.take(asm, registers)?;
                    self.constant(asm, Lane::I64, product, stride.unsigned_abs());
                    asm.half_product(product, (product, at));
                    asm.arithmetic(op, Lane::I64, to, (to, product), None);
                    registers.vectors.push(product);
                }
                Some(to)
            }
            Role::Same | Role::Total | Role::Extended { .. } => {
                if self.kernel.regs[reg].bytes() != self.plan.width {
                    return None;
                }
                let word = self.word(Word::Same(reg));
                let vector = self.take(asm, registers)?;
                asm.broadcast(self.lane(reg), vector, word);
                Some(vector)
            }
        }
    }

    /// A register that is free, if need be of a value that goes to memory.
    fn take(&mut self, asm: &mut Assembler, registers: &mut Registers) -> Option<Vector> {
        if registers.vectors.is_empty() {
            self.spill(asm, registers)?;
        }
        let vector = registers.vectors.pop()?;
        registers.pinned.push(vector);
        // They are taken from the lowest on, but not given back in order: what has been taken at
        // most counts.
        let resident = self.resident.len();
        let busy = usize::from(self.isa.vector_registers()) - resident - registers.vectors.len();
        self.most = self.most.max(busy as u8);
        Some(vector)
    }

    /// A mask that is free.
    fn take_mask(&mut self, asm: &mut Assembler, registers: &mut Registers) -> Option<Mask> {
        match self.isa {
            Isa::Avx512 => registers.masks.pop(),
            Isa::Avx2 => self.take(asm, registers).map(|vector| Mask(vector.0)),
        }
    }

    /// Frees the register of the value that is read again last, and that the statement does not
    /// read.
    fn spill(&mut self, asm: &mut Assembler, registers: &mut Registers) -> Option<()> {
        let next = |reg: &Reg| {
            self.reads[reg].iter().copied().find(|read| *read >= registers.at).unwrap_or(usize::MAX)
        };
        let candidates = registers.places.iter().filter_map(|(reg, place)| {
            let vector = match place {
                Place::Vector(vector) => *vector,
                Place::Mask(mask) if self.isa == Isa::Avx2 => Vector(mask.0),
                Place::Mask(_) => return None,
            };
            (!registers.pinned.contains(&vector)).then_some((next(reg), *reg, vector))
        });
        let (_, reg, vector) = candidates.max_by_key(|(next, reg, _)| (*next, *reg))?;
        if !registers.memory.contains_key(&reg) {
            let free = |number: &usize| !registers.memory.values().any(|taken| taken == number);
            let number = (0..MAX_SPILLED).find(free)?;
            asm.spill(number, vector);
            registers.memory.insert(reg, number);
            self.spilled = self.spilled.max(number + 1);
        }
        registers.places.remove(&reg);
        registers.vectors.push(vector);
        Some(())
    }

    /// Returns true for a register that has a vector of its own: others are made again where they
    /// are read.
    fn has_vector(&self, registers: &Registers, reg: Reg) -> bool {
        matches!(registers.places.get(&reg), Some(Place::Vector(_))) || self.resident.contains_key(&reg)
    }

    /// Frees the vectors of operands that are dead after the statement or that were made for it.
    fn release(&self, registers: &mut Registers, read: &[Reg], vectors: &[Vector]) {
        for (reg, vector) in read.iter().zip(vectors) {
            if !self.has_vector(registers, *reg) && !registers.vectors.contains(vector) {
                registers.vectors.push(*vector);
            }
        }
        self.free(registers, read);
    }

    /// Gives back what nobody reads after the statement.
    fn free(&self, registers: &mut Registers, regs: &[Reg]) {
        for reg in regs {
            if self.reads.get(reg).and_then(|reads| reads.last()) == Some(&registers.at) {
                registers.memory.remove(reg);
                match registers.places.remove(reg) {
                    Some(Place::Vector(vector)) => registers.vectors.push(vector),
                    Some(Place::Mask(mask)) => registers.give_mask(mask),
                    None => {}
                }
            }
        }
    }

    /// One operation.
    fn operation(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        reg: Reg,
        op: &Op,
        mask: Option<Mask>,
    ) -> Option<()> {
        // Masks first: they have registers of their own.
        let is_mask = |r: &Reg| self.role(*r) == Role::Mask;
        match op {
            Op::Binary(kind, a, b) if is_mask(&reg) => {
                let (from, to) = (self.mask(asm, registers, *a)?, self.mask(asm, registers, *b)?);
                self.free(registers, &[*a, *b]);
                let new = self.new_mask(asm, registers, reg)?;
                match kind {
                    Binary::And => asm.mask_and(new, from, to),
                    Binary::Or => asm.mask_or(new, from, to),
                    _ => return None,
                }
                return Some(());
            }
            Op::Compare(Compare::Eq, a, b) if is_mask(a) && self.kernel.constants.get(b) == Some(&0) => {
                let from = self.mask(asm, registers, *a)?;
                self.free(registers, &[*a]);
                let new = self.new_mask(asm, registers, reg)?;
                asm.mask_not(new, from);
                return Some(());
            }
            Op::Compare(kind, a, b) => {
                let both = (self.vector(asm, registers, *a)?, self.vector(asm, registers, *b)?);
                // A sequence may write the result before it has read the operands.
                let new = self.new_mask(asm, registers, reg)?;
                self.release(registers, &[*a, *b], &[both.0, both.1]);
                let lane = self.lane(*a);
                let (number, unsigned) = predicate(*kind, lane);
                asm.compare((lane, unsigned), new, both, number);
                return Some(());
            }
            _ => {}
        }
        let lane = self.lane(reg);
        if let Op::Load(array, place, _) = op {
            let from = self.pointer(asm, *array, *place);
            let to = self.take(asm, registers)?;
            registers.places.insert(reg, Place::Vector(to));
            let width = self.kernel.arrays[*array].width;
            if self.plan.stride(*place) != 1 {
                let other = self.take(asm, registers)?;
                asm.load_strided(to, (from, 8 * self.plan.stride(*place) as i32), other, mask);
                registers.vectors.push(other);
            } else if usize::from(width) < self.plan.width {
                asm.load_narrow(width, to, from, mask);
            } else {
                asm.load(lane, to, from, mask);
            }
            return Some(());
        }
        let mut read = Vec::new();
        op.for_each_reg(&mut |r| read.push(r));
        let chosen = match op {
            Op::Select(c, ..) => {
                read.remove(0);
                Some((*c, self.condition(asm, registers, *c)?))
            }
            _ => None,
        };
        let mut vectors = Vec::new();
        for r in &read {
            vectors.push(self.vector(asm, registers, *r)?);
        }
        // A result that is written before all operands are read has a register of its own, others
        // one that an operand leaves.
        let distinct = match op {
            Op::Call(..) | Op::Cast(..) | Op::Binary(Binary::Min | Binary::Max, ..) => true,
            Op::Binary(kind, ..) => kind.is_integer_division() || *kind == Binary::Mul && lane == Lane::I64,
            _ => false,
        };
        let own = if distinct { Some(self.take(asm, registers)?) } else { None };
        let minus = match op {
            Op::Unary(Unary::Neg, _) => Some(self.take(asm, registers)?),
            _ => None,
        };
        let written = match op {
            Op::Cast(cast, ..) => {
                self.convert(asm, registers, *cast, (own?, vectors[0]))?;
                true
            }
            Op::Binary(kind @ (Binary::Min | Binary::Max), ..) => {
                let both = (vectors[0], vectors[1]);
                self.extreme(asm, registers, *kind == Binary::Max, lane, own?, both, None)?;
                true
            }
            Op::Binary(Binary::Mul, a, b) if lane == Lane::I64 => {
                let halves = [*a, *b].map(|reg| self.plan.is_half(self.kernel, reg));
                self.product(asm, registers, own?, (vectors[0], vectors[1]), halves)?;
                true
            }
            Op::Binary(kind, a, b) if kind.is_integer_division() => {
                let (divisor, to, from) = (self.kernel.constants[b], own?, vectors[0]);
                let halves = self.plan.is_half(self.kernel, *a) && divides_halves(divisor);
                if halves {
                    self.quotient_of_half(asm, to, from, divisor);
                } else {
                    self.quotient(asm, registers, to, from, divisor)?;
                }
                if matches!(kind, Binary::RemSigned | Binary::RemUnsigned) {
                    self.remainder(asm, registers, to, from, divisor, halves)?;
                }
                true
            }
            _ => false,
        };
        self.release(registers, &read, &vectors);
        let to = match own {
            Some(to) => to,
            None => self.take(asm, registers)?,
        };
        match op {
            _ if written => {}
            Op::Call(ScalarFunction::Fma, _) => {
                // The sum takes the place of what is added: a copy of it, since that may be read
                // again.
                asm.copy(to, vectors[2]);
                asm.fused_multiply_add(lane, to, (vectors[0], vectors[1]), None);
            }
            Op::Binary(kind, ..) => {
                asm.arithmetic(arithmetic(*kind)?, lane, to, (vectors[0], vectors[1]), None)
            }
            Op::Select(..) => {
                let (c, chosen) = chosen?;
                asm.blend(lane, to, chosen.mask, (vectors[0], vectors[1]));
                if let Some(own) = chosen.own {
                    registers.give_mask(own);
                }
                self.free(registers, &[c]);
            }
            Op::Unary(kind, _) => {
                let a = vectors[0];
                match kind {
                    Unary::Neg => {
                        let minus = minus?;
                        self.negate(asm, lane, (to, a, minus));
                        registers.vectors.push(minus);
                    }
                    Unary::Not => asm.not(to, a),
                    Unary::Sqrt => asm.sqrt(lane, to, a),
                    Unary::Floor => asm.round(lane, to, a, 1),
                    Unary::Ceil => asm.round(lane, to, a, 2),
                    Unary::Trunc => asm.round(lane, to, a, 3),
                    Unary::PopCount | Unary::TrailingZeros => return None,
                }
            }
            _ => return None,
        }
        registers.places.insert(reg, Place::Vector(to));
        Some(())
    }
}

impl Loop<'_> {
    /// A mask for a register.
    fn new_mask(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg) -> Option<Mask> {
        let mask = self.take_mask(asm, registers)?;
        registers.places.insert(reg, Place::Mask(mask));
        Some(mask)
    }

    /// All lanes of a register with the same bits.
    fn constant(&mut self, asm: &mut Assembler, lane: Lane, to: Vector, bits: u64) {
        let word = self.word(Word::Bits(bits));
        asm.broadcast(lane, to, word);
    }

    /// `to`, which is another register than `from`, is the number `from` converted.
    ///
    /// AVX2 has no conversions of lanes of 8 bytes. A half of an integer in the low bits of 2^52
    /// (or 2^84, for the high half) is a float; the sum of the halves is rounded once. The other
    /// way, a float without its fraction is a multiple of 2^32 and a rest, and each becomes an
    /// integer when 2^52 is added (1.5 times as much for one with a sign): exact in range.
    fn convert(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        cast: Cast,
        (to, from): (Vector, Vector),
    ) -> Option<()> {
        let conversion = match cast {
            Cast::SignedToFloat => Conversion::SignedToFloat,
            Cast::UnsignedToFloat => Conversion::UnsignedToFloat,
            Cast::FloatToSigned => Conversion::FloatToSigned,
            Cast::SignExtend | Cast::ZeroExtend | Cast::Truncate | Cast::FloatToFloat => return None,
        };
        if self.isa == Isa::Avx512 {
            asm.convert(conversion, to, from);
            return Some(());
        }
        let other = self.take(asm, registers)?;
        let (int, float) = (Lane::I64, Lane::F64);
        match conversion {
            Conversion::SignedToFloat | Conversion::UnsignedToFloat => {
                // An integer with sign is one without, 2^63 higher.
                let sign = if conversion == Conversion::SignedToFloat { 1 << 31 } else { 0 };
                let offset = if conversion == Conversion::SignedToFloat { TWO_63 } else { 0.0 };
                self.constant(asm, int, other, TWO_84.to_bits() | sign);
                asm.shift(false, to, from, 32);
                asm.arithmetic(Arithmetic::Xor, int, to, (to, other), None);
                self.constant(asm, int, other, (TWO_84 + offset + TWO_52).to_bits());
                asm.arithmetic(Arithmetic::Sub, float, to, (to, other), None);
                self.constant(asm, int, other, TWO_52.to_bits());
                asm.join_halves(other, from, other);
                asm.arithmetic(Arithmetic::Add, float, to, (to, other), None);
            }
            Conversion::FloatToSigned => {
                let rest = self.take(asm, registers)?;
                asm.round(float, rest, from, 3);
                self.constant(asm, int, other, (1.0 / TWO_32).to_bits());
                asm.arithmetic(Arithmetic::Mul, float, to, (rest, other), None);
                asm.round(float, to, to, 1);
                self.constant(asm, int, other, TWO_32.to_bits());
                asm.arithmetic(Arithmetic::Mul, float, other, (to, other), None);
                asm.arithmetic(Arithmetic::Sub, float, rest, (rest, other), None);
                self.constant(asm, int, other, TWO_52.to_bits());
                asm.arithmetic(Arithmetic::Add, float, rest, (rest, other), None);
                asm.arithmetic(Arithmetic::Xor, int, rest, (rest, other), None);
                self.constant(asm, int, other, (1.5 * TWO_52).to_bits());
                asm.arithmetic(Arithmetic::Add, float, to, (to, other), None);
                asm.arithmetic(Arithmetic::Sub, int, to, (to, other), None);
                asm.shift(true, to, to, 32);
                asm.arithmetic(Arithmetic::Add, int, to, (to, rest), None);
                registers.vectors.push(rest);
            }
        }
        registers.vectors.push(other);
        Some(())
    }

    /// Products of lanes of 8 bytes in a register `to` that is no operand; `halves` says of each
    /// factor whether it is below 2^32.
    fn product(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        to: Vector,
        (mut a, mut b): (Vector, Vector),
        halves: [bool; 2],
    ) -> Option<()> {
        match (halves, self.isa) {
            ([true, true], _) => asm.half_product(to, (a, b)),
            ([true, false] | [false, true], Isa::Avx2) => {
                if halves[0] {
                    (a, b) = (b, a);
                }
                let high = self.take(asm, registers)?;
                asm.shift(false, high, a, 32);
                asm.half_product(high, (high, b));
                asm.shift(true, high, high, 32);
                asm.half_product(to, (a, b));
                asm.arithmetic(Arithmetic::Add, Lane::I64, to, (to, high), None);
                registers.vectors.push(high);
            }
            _ => asm.arithmetic(Arithmetic::Mul, Lane::I64, to, (a, b), None),
        }
        Some(())
    }

    /// Quotients of natural numbers below 2^32 by a divisor that is no power of two, in a register
    /// `to` that is not `from`. The factor has 33 bits, of which the highest is the number itself.
    fn quotient_of_half(&mut self, asm: &mut Assembler, to: Vector, from: Vector, divisor: u64) {
        let shift = divisor.ilog2() + 1;
        let factor = reciprocal(divisor, u32::MAX.into(), 32 + shift..33 + shift, u64::MAX);
        let (factor, _) = factor.expect("a divisor below 2^32 has a factor of 33 bits");
        self.constant(asm, Lane::I64, to, factor - (1 << 32));
        asm.half_product(to, (to, from));
        asm.shift(false, to, to, 32);
        asm.arithmetic(Arithmetic::Add, Lane::I64, to, (to, from), None);
        asm.shift(false, to, to, shift as u8);
    }

    /// Quotients toward 0 of integers by a divisor, in a register `to` that is not `from`: those of
    /// their absolute values ([`signed_factor`]), with the sign of the dividend. The high word of a
    /// product is made of four products of halves.
    fn quotient(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        to: Vector,
        from: Vector,
        divisor: u64,
    ) -> Option<()> {
        use Arithmetic::{Add, And, Sub, Xor};
        let (factor, shift) = signed_factor(divisor)?;
        let (low, high) = (factor & u64::from(u32::MAX), factor >> 32);
        let mut taken = [to; 5];
        for vector in &mut taken {
            *vector = self.take(asm, registers)?;
        }
        let [sign, number, middle, upper, constant] = taken;
        let op = |asm: &mut Assembler, op, to, a, b| asm.arithmetic(op, Lane::I64, to, (a, b), None);
        // All bits of a negative number's sign, and the absolute value.
        asm.shift(false, sign, from, 63);
        self.constant(asm, Lane::I64, constant, 0);
        op(asm, Sub, sign, constant, sign);
        op(asm, Xor, number, from, sign);
        op(asm, Sub, number, number, sign);
        // The number is a * 2^32 + b, the factor high * 2^32 + low.
        self.constant(asm, Lane::I64, constant, low);
        asm.half_product(middle, (number, constant));
        asm.shift(false, middle, middle, 32);
        asm.shift(false, upper, number, 32);
        asm.half_product(to, (upper, constant));
        self.constant(asm, Lane::I64, constant, high);
        asm.half_product(number, (number, constant));
        asm.half_product(upper, (upper, constant));
        // middle = b * low / 2^32 + b * high, to = a * low, upper = a * high
        op(asm, Add, middle, middle, number);
        self.constant(asm, Lane::I64, constant, u64::from(u32::MAX));
        op(asm, And, constant, constant, middle);
        op(asm, Add, to, to, constant);
        asm.shift(false, to, to, 32);
        asm.shift(false, middle, middle, 32);
        op(asm, Add, to, to, middle);
        op(asm, Add, to, to, upper);
        if shift > 0 {
            asm.shift(false, to, to, shift);
        }
        op(asm, Xor, to, to, sign);
        op(asm, Sub, to, to, sign);
        registers.vectors.extend(taken);
        Some(())
    }

    /// The remainders of `from` by a divisor, in place of the quotients in `to`, which are below
    /// 2^32 if
    /// `is_half`.
    fn remainder(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        to: Vector,
        from: Vector,
        divisor: u64,
        is_half: bool,
    ) -> Option<()> {
        let (factor, whole) = (self.take(asm, registers)?, self.take(asm, registers)?);
        self.constant(asm, Lane::I64, factor, divisor);
        let halves = [is_half, divisor <= u64::from(u32::MAX)];
        self.product(asm, registers, whole, (to, factor), halves)?;
        asm.arithmetic(Arithmetic::Sub, Lane::I64, to, (from, whole), None);
        registers.vectors.extend([factor, whole]);
        Some(())
    }

    /// The larger of two floats if `max`, else the smaller; with a mask, other lanes stay as they
    /// are. Of two zeros, and where one is NaN, the machine takes its second operand. So it is
    /// asked twice, with the operands in either order: a largest zero has a sign if both have, a
    /// smallest if one has. NaN is put in its place.
    #[allow(clippy::too_many_arguments)] // registers, and what is done with them
    fn extreme(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        max: bool,
        lane: Lane,
        to: Vector,
        (a, b): (Vector, Vector),
        mask: Option<Mask>,
    ) -> Option<()> {
        let (bits, nan) = match lane {
            Lane::F64 => (Lane::I64, f64::NAN.to_bits()),
            Lane::F32 => (Lane::I32, u64::from(f32::NAN.to_bits())),
            Lane::I64 | Lane::I32 => return None,
        };
        let (op, both) = match max {
            true => (Arithmetic::Max, Arithmetic::And),
            false => (Arithmetic::Min, Arithmetic::Or),
        };
        let (number, other) = (self.take(asm, registers)?, self.take(asm, registers)?);
        let unordered = self.take_mask(asm, registers)?;
        asm.compare((lane, false), unordered, (a, b), UNORDERED);
        asm.arithmetic(op, lane, number, (a, b), None);
        asm.arithmetic(op, lane, other, (b, a), None);
        asm.arithmetic(both, bits, number, (number, other), None);
        self.constant(asm, lane, other, nan);
        match mask {
            None => asm.blend(lane, to, unordered, (other, number)),
            Some(mask) => {
                asm.blend(lane, number, unordered, (other, number));
                asm.blend(lane, to, mask, (number, to));
            }
        }
        registers.vectors.extend([other, number]);
        registers.give_mask(unordered);
        Some(())
    }

    /// `to = -a`: the sign of floats turned, integers taken from 0. `other` is a register for what
    /// is needed.
    fn negate(&mut self, asm: &mut Assembler, lane: Lane, (to, a, other): (Vector, Vector, Vector)) {
        let (bits, op) = match lane {
            Lane::F64 => (1 << 63, Arithmetic::Xor),
            Lane::F32 => (1 << 31, Arithmetic::Xor),
            Lane::I64 | Lane::I32 => (0, Arithmetic::Sub),
        };
        self.constant(asm, lane, other, bits);
        let lane = if lane.is_long() { Lane::I64 } else { Lane::I32 };
        asm.arithmetic(op, lane, to, (other, a), None);
    }
}

const TWO_32: f64 = (1u64 << 32) as f64;
const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_63: f64 = (1u64 << 63) as f64;
const TWO_84: f64 = TWO_52 * TWO_32;

impl Registers {
    /// Begins the statement with a number.
    fn begin(&mut self, at: usize) {
        self.at = at;
        self.pinned.clear();
    }

    /// Keeps a mask in its register until the end of the statement.
    fn pin(&mut self, mask: Mask) {
        if self.isa == Isa::Avx2 {
            self.pinned.push(Vector(mask.0));
        }
    }

    /// Gives back a mask.
    fn give_mask(&mut self, mask: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks.push(mask),
            Isa::Avx2 => self.vectors.push(Vector(mask.0)),
        }
    }
}

/// The instruction of an operation on lanes.
fn arithmetic(kind: Binary) -> Option<Arithmetic> {
    Some(match kind {
        Binary::Add => Arithmetic::Add,
        Binary::Sub => Arithmetic::Sub,
        Binary::Mul => Arithmetic::Mul,
        Binary::DivFloat => Arithmetic::Div,
        Binary::And => Arithmetic::And,
        Binary::Or => Arithmetic::Or,
        Binary::Xor => Arithmetic::Xor,
        Binary::Shl => Arithmetic::Shl,
        Binary::Shr => Arithmetic::Shr,
        _ => return None,
    })
}

/// The machine's number of the comparison that says whether one of two floats is NaN.
const UNORDERED: u8 = 0x03;

/// The machine's number of a comparison, and whether it is one without sign. Those of floats are
/// quiet, and ordered except for "not equal".
fn predicate(kind: Compare, lane: Lane) -> (u8, bool) {
    let (less, not_greater) = match lane {
        Lane::F64 | Lane::F32 => (0x11, 0x12),
        Lane::I64 | Lane::I32 => (0x01, 0x02),
    };
    let number = match kind {
        Compare::Eq => 0x00,
        Compare::Ne => 0x04,
        Compare::Lt | Compare::LtUnsigned => less,
        Compare::Le | Compare::LeUnsigned => not_greater,
    };
    (number, matches!(kind, Compare::LtUnsigned | Compare::LeUnsigned))
}

/// The position of the statement that sets a register.
fn position_of(body: &[Stmt], reg: Reg) -> usize {
    body.iter()
        .position(|stmt| matches!(stmt, Stmt::Let(made, _) if *made == reg))
        .expect("an accumulator is set by a statement of the loop")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_ir::parse;

    /// A loop that adds products of a number of values, the first with the last, so that all are
    /// needed at once.
    fn products(values: usize) -> Kernel {
        let mut text = String::from(
            "array a0: result 0, 8 bytes a slot, 1000 slots
array a1: input 0, 8 bytes a slot, 1000 slots
r0: i64 = 1000
r1: f64 = 0.5
parallel for r2 < r0
  r3: f64 = a1[r2]
",
        );
        for i in 1..values {
            text += &format!("  r{}: f64 = mul r{} r1\n", 3 + i, 2 + i);
        }
        let mut sum = 3;
        for i in 0..values / 2 {
            let (product, next) = (1000 + 2 * i, 1001 + 2 * i);
            text += &format!("  r{product}: f64 = mul r{} r{}\n", 3 + i, 2 + values - i);
            text += &format!("  r{next}: f64 = add r{sum} r{product}\n");
            sum = next;
        }
        text += &format!("  a0[r2] <- r{sum}");
        parse::kernel(&text).unwrap()
    }

    fn spilled(isa: Isa, values: usize) -> usize {
        let kernel = products(values);
        let loops = kernel.body.iter().find_map(|stmt| assemble(isa, &kernel, stmt));
        loops.expect("the loop has vectors").1.spilled
    }

    #[test]
    fn values_beyond_the_registers_are_in_memory() {
        // One register holds what is the same in all rounds, or is for the next operation.
        for isa in [Isa::Avx2, Isa::Avx512] {
            let registers = usize::from(isa.vector_registers());
            assert_eq!(spilled(isa, registers - 2), 0, "{isa:?}");
            assert!((8..=12).contains(&spilled(isa, registers + 8)), "{isa:?}");
        }
    }
}
