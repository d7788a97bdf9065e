//! Vectorization of innermost loops with AVX-512, on processors that have it; they are called by
//! [`super::avx512_call`].
//!
//! The code generator's vectors end at 128 bits. What [`super::simd128`] takes, a loop whose body
//! only computes, reads and writes at the index, has no branches and few kinds of instruction;
//! unless it calls functions of blocks its code is written here, one function for each such loop,
//! which does all of its rounds.
//!
//! **The function** gets one block of words: how many lanes whole vectors have, which lanes the
//! rest has, the addresses of what is read and written in the first round, what is the same in all
//! rounds, and for a total where its lanes are. All lanes are equally wide; slots of integers may
//! be narrower than lanes of 8 bytes, and are extended where they are read and cut off where they
//! are written. One counter of lanes serves every address, scaled by the width of the slots. The
//! last round goes by a mask: lanes beyond the end are neither read nor written, and leave totals
//! as they are. So no round is left over.
//!
//! **Registers** are given in the order of the statements and are free again after the last use.
//! What is the same in all rounds stays in those that the body never needs, the rest of it is read
//! again where it is used. A body that needs more registers than there are goes by vectors of 128
//! bits.
//!
//! **Accumulators** ([`super::accumulator`]) have lanes in a register of their own, which start
//! from the number that changes nothing and are joined to the variable after the function. The
//! index in the lanes, where it is a number, is a register that is advanced in each round.
//!
//! **Same bits.** Each operation is the one that narrow vectors have, in the same order of
//! operands; a total has eight lanes of 8 bytes, the lanes of [`crate::core::reduction`]. So
//! results do not depend on the processor, and `FELIS_VECTORS=128` changes nothing but time.

use super::accumulator::AccumulatorOp;
use super::asm_x64::{
    Arithmetic, Assembler, Conversion, FREE_POINTERS, Lane, Mask, POINTERS, Pointer, VECTOR_BYTES, Vector,
};
use super::simd128::{LaneTypes, Plan, Role, plan};
use crate::core::reduction::LANES;
use crate::hash::HashMap;
use crate::loop_ir::{
    Array, Binary, Cast, Compare, Kernel, Op, ReductionOp, Reg, ScalarFunction, ScalarType, Stmt, Summand,
    Unary,
};
use std::sync::OnceLock;

/// Vector registers.
const VECTOR_REGISTERS: u8 = 32;
/// The mask of the lanes of the last iteration.
const TAIL_MASK: Mask = Mask(1);
/// Mask registers that the body may use start here.
const FIRST_FREE_MASK: u8 = 2;

/// Registers that keep their values from one round to the next, at most.
const MAX_KEPT: usize = 12;

/// The word that says how many lanes whole vectors have.
pub(super) const WORD_LANES: usize = 0;
/// The word that says which lanes the rest has.
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
    /// The machine code: a function of the address of the words.
    pub code: Vec<u8>,
}

/// Returns true if the processor has AVX-512F and AVX-512DQ and `FELIS_VECTORS` is not 128.
pub fn is_available() -> bool {
    static AVAILABLE: OnceLock<bool> = OnceLock::new();
    *AVAILABLE.get_or_init(|| {
        // The registers of arguments are those of Unix.
        #[cfg(all(target_arch = "x86_64", unix))]
        let there = std::is_x86_feature_detected!("avx512f") && std::is_x86_feature_detected!("avx512dq");
        #[cfg(not(all(target_arch = "x86_64", unix)))]
        let there = false;
        there && std::env::var_os("FELIS_VECTORS").is_none_or(|bits| bits != "128")
    })
}

/// A loop's code, if it goes by wide vectors.
pub fn assemble(kernel: &Kernel, stmt: &Stmt) -> Option<(Reg, VectorLoop)> {
    if !is_available() {
        return None;
    }
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
    let mut loops = Loop { kernel, plan: &plan, body, item, reads_index, words, resident, most: 0 };
    // Once to see how many registers it needs, and what it reads; then with those that are left for
    // what stays.
    loops.function()?;
    let left = VECTOR_REGISTERS.saturating_sub(loops.most);
    let same =
        loops.words.iter().filter_map(|word| if let Word::Same(reg) = word { Some(*reg) } else { None });
    loops.resident = same.zip((0..left).map(|i| Vector(VECTOR_REGISTERS - 1 - i))).collect();
    let code = loops.function()?;
    let words = loops.words;
    Some((index, VectorLoop { plan, words, code }))
}

/// A loop whose code is written.
struct Loop<'a> {
    kernel: &'a Kernel,
    plan: &'a Plan,
    body: &'a [Stmt],
    item: Option<Summand>,
    /// The index is a number in the lanes.
    reads_index: bool,
    words: Vec<Word>,
    /// Values that stay in a register.
    resident: HashMap<Reg, Vector>,
    /// Registers that were needed at once.
    most: u8,
}

/// The place of a register of the body.
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
    vectors: Vec<Vector>,
    masks: Vec<Mask>,
    places: HashMap<Reg, Place>,
    /// The statement that reads a register last.
    last: HashMap<Reg, usize>,
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

    /// The register of the lanes of an accumulator.
    fn accumulator(&self, number: usize) -> Vector {
        Vector(u8::from(self.item.is_some()) + number as u8)
    }

    /// The register of the index in the lanes.
    fn lane_index(&self) -> Vector {
        self.accumulator(self.plan.accumulators.len())
    }

    /// The first register that is free for the body.
    fn first_free(&self) -> u8 {
        self.lane_index().0 + u8::from(self.reads_index)
    }

    /// All of it.
    fn function(&mut self) -> Option<Vec<u8>> {
        let mut asm = Assembler::default();
        let total = Vector(0);
        let plan = self.plan;
        if usize::from(self.first_free()) > MAX_KEPT {
            return None;
        }
        asm.zero_counter();
        for (number, total) in plan.accumulators.iter().enumerate() {
            let word = self.word(Word::Bits(total.join.identity(total.ty)));
            asm.broadcast(self.lane(total.new), self.accumulator(number), word);
        }
        if self.reads_index {
            asm.pointer(POINTERS[0], self.word(Word::LaneNumbers));
            asm.load(Lane::I64, self.lane_index(), POINTERS[0], Mask(0));
        }
        if let Some(item) = self.item {
            asm.pointer(POINTERS[0], self.word(Word::Before(item.op())));
            asm.load(Lane::F64, total, POINTERS[0], Mask(0));
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
        self.round(&mut asm, Mask(0))?;
        asm.advance_counter((VECTOR_BYTES / plan.width) as u8);
        asm.jump_back_if_below(WORD_LANES, head);
        asm.patch_jump(over);
        let over = asm.jump_if_zero(WORD_TAIL_MASK);
        asm.mask(TAIL_MASK, WORD_TAIL_MASK);
        self.round(&mut asm, TAIL_MASK)?;
        asm.patch_jump(over);
        if self.item.is_some() {
            asm.pointer(POINTERS[0], self.word(Word::Lanes));
            asm.zero_counter();
            asm.store(Lane::F64, POINTERS[0], total, Mask(0));
        }
        for number in 0..plan.accumulators.len() {
            asm.pointer(POINTERS[0], self.word(Word::Accumulator(number)));
            asm.zero_counter();
            asm.store(Lane::I64, POINTERS[0], self.accumulator(number), Mask(0));
        }
        asm.vzeroupper();
        for pointer in POINTERS[FREE_POINTERS..FREE_POINTERS + kept].iter().rev() {
            asm.pop(*pointer);
        }
        asm.ret();
        Some(asm.finish())
    }

    /// The body for as many lanes as there are, or for those of `mask`.
    fn round(&mut self, asm: &mut Assembler, mask: Mask) -> Option<()> {
        let first = self.first_free();
        let free = VECTOR_REGISTERS - self.resident.len() as u8;
        let mut registers = Registers {
            vectors: (first..free).rev().map(Vector).collect(),
            masks: (FIRST_FREE_MASK..8).rev().map(Mask).collect(),
            places: HashMap::default(),
            last: self.last_reads(),
        };
        let (body, plan) = (self.body, self.plan);
        for (at, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Let(reg, _) if self.role(*reg) == Role::Total => {
                    if let Some(number) = plan.accumulators.iter().position(|total| total.new == *reg) {
                        self.accumulate(asm, &mut registers, at, number, mask)?;
                    }
                }
                Stmt::Let(reg, op) if matches!(self.role(*reg), Role::Lanes | Role::Mask) => {
                    self.operation(asm, &mut registers, at, *reg, op, mask)?;
                    // What nobody reads takes no register.
                    registers.free(at, &[*reg]);
                }
                Stmt::Store(array, place, value) => {
                    let from = self.vector(asm, &mut registers, *value)?;
                    let to = self.pointer(asm, *array, *place);
                    let width = self.kernel.arrays[*array].width;
                    if usize::from(width) < plan.width {
                        asm.store_narrow(width, to, from, mask);
                    } else {
                        asm.store(self.lane(*value), to, from, mask);
                    }
                    self.release(&mut registers, at, &[*value], &[from]);
                }
                Stmt::Let(..) | Stmt::Set(..) => {}
                _ => unreachable!("the plan of a vectorized loop admits no other statement"),
            }
        }
        if self.reads_index {
            let step = self.take(&mut registers)?;
            let word = self.word(Word::Bits((VECTOR_BYTES / 8) as u64));
            asm.broadcast(Lane::I64, step, word);
            let at = self.lane_index();
            asm.arithmetic(Arithmetic::Add, Lane::I64, at, (at, step), Mask(0));
            registers.vectors.push(step);
        }
        if let Some(item) = self.item {
            let total = Vector(0);
            let mut taken = Vec::new();
            for reg in item.regs() {
                taken.push(self.vector(asm, &mut registers, reg)?);
            }
            match item {
                Summand::Value(ReductionOp::Add, _) => {
                    asm.arithmetic(Arithmetic::Add, Lane::F64, total, (total, taken[0]), mask)
                }
                Summand::Value(ReductionOp::Mul, _) => {
                    asm.arithmetic(Arithmetic::Mul, Lane::F64, total, (total, taken[0]), mask)
                }
                Summand::Value(joining @ (ReductionOp::Min | ReductionOp::Max), _) => {
                    let both = (taken[0], total);
                    self.extreme(
                        asm,
                        &mut registers,
                        joining == ReductionOp::Max,
                        Lane::F64,
                        total,
                        both,
                        mask,
                    )?;
                }
                Summand::Product(..) => asm.fused_multiply_add(Lane::F64, total, (taken[0], taken[1]), mask),
            }
        }
        Some(())
    }

    /// Joins the numbers of a round to the lanes of an accumulator.
    fn accumulate(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        at: usize,
        number: usize,
        mask: Mask,
    ) -> Option<()> {
        let total = &self.plan.accumulators[number];
        let (to, lane) = (self.accumulator(number), self.lane(total.new));
        let operand = self.vector(asm, registers, total.operand)?;
        // The lanes of a round, of the condition, or of both.
        let (mut both, mut own) = (None, None);
        let lanes = match total.condition {
            None => mask,
            Some(condition) => {
                let condition = self.condition(asm, registers, condition)?;
                own = condition.own;
                if mask == Mask(0) {
                    condition.mask
                } else {
                    let new = *both.insert(registers.masks.pop()?);
                    asm.mask_and(new, condition.mask, mask);
                    new
                }
            }
        };
        match total.join {
            AccumulatorOp::Binary(kind @ (Binary::Min | Binary::Max)) => {
                self.extreme(asm, registers, kind == Binary::Max, lane, to, (operand, to), lanes)?;
            }
            AccumulatorOp::Binary(kind) => asm.arithmetic(arithmetic(kind)?, lane, to, (to, operand), lanes),
            AccumulatorOp::Extreme { max, unsigned } => {
                let op = match (max, unsigned) {
                    (false, false) => Arithmetic::Min,
                    (true, false) => Arithmetic::Max,
                    (false, true) => Arithmetic::MinUnsigned,
                    (true, true) => Arithmetic::MaxUnsigned,
                };
                asm.arithmetic(op, lane, to, (to, operand), lanes);
            }
        }
        registers.masks.extend(both.into_iter().chain(own));
        self.release(registers, at, &[total.operand], &[operand]);
        registers.free(at, total.condition.as_slice());
        Some(())
    }

    /// The mask of the lanes in which a truth value is true. One that is a number, as a combination
    /// of a truth value with one that is the same in all rounds is, gets a mask of its own.
    fn condition(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg) -> Option<Condition> {
        if let Some(mask) = registers.mask(reg) {
            return Some(Condition { mask, own: None });
        }
        let vector = self.vector(asm, registers, reg)?;
        let mask = registers.masks.pop()?;
        asm.test(self.lane(reg), mask, vector);
        if !self.has_vector(registers, reg) {
            registers.vectors.push(vector);
        }
        Some(Condition { mask, own: Some(mask) })
    }

    /// The last statement that reads each register of the body: the operand of a reduction is read
    /// at the end, that of an accumulator where it is joined.
    fn last_reads(&self) -> HashMap<Reg, usize> {
        let mut last = HashMap::default();
        for (at, stmt) in self.body.iter().enumerate() {
            if let Stmt::Let(reg, _) = stmt {
                last.insert(*reg, at);
            }
            stmt.for_each_reg(&mut |reg| {
                last.insert(reg, at);
            });
        }
        for total in &self.plan.accumulators {
            let joined = position_of(self.body, total.new);
            for reg in total.condition.into_iter().chain([total.operand]) {
                let read = last[&reg].max(joined);
                last.insert(reg, read);
            }
        }
        last.extend(self.item.into_iter().flat_map(Summand::regs).map(|reg| (reg, self.body.len())));
        last
    }

    /// The vector of a register: where it is, or what is the same in all rounds read again.
    fn vector(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg) -> Option<Vector> {
        if let Some(vector) = self.resident.get(&reg) {
            return Some(*vector);
        }
        match registers.places.get(&reg) {
            Some(Place::Vector(vector)) => Some(*vector),
            Some(Place::Mask(mask)) => {
                let mask = *mask;
                let (to, word) = (self.take(registers)?, self.word(Word::Bits(1)));
                asm.ones(to, mask, word);
                Some(to)
            }
            None if self.role(reg) == Role::Index => {
                let (to, word) = (self.take(registers)?, self.word(Word::First(reg)));
                asm.broadcast(Lane::I64, to, word);
                asm.arithmetic(Arithmetic::Add, Lane::I64, to, (to, self.lane_index()), Mask(0));
                Some(to)
            }
            None => {
                if self.kernel.regs[reg].bytes() != self.plan.width {
                    return None;
                }
                let word = self.word(Word::Same(reg));
                let vector = self.take(registers)?;
                asm.broadcast(self.lane(reg), vector, word);
                Some(vector)
            }
        }
    }

    /// A register that is free.
    fn take(&mut self, registers: &mut Registers) -> Option<Vector> {
        let vector = registers.vectors.pop()?;
        // They are taken from the lowest on, but not given back in order: what has been taken at
        // most counts.
        let resident = self.resident.len();
        let busy = usize::from(VECTOR_REGISTERS) - resident - registers.vectors.len();
        self.most = self.most.max(busy as u8);
        Some(vector)
    }

    /// Returns true for a register that has a vector of its own: others are made again where they
    /// are read.
    fn has_vector(&self, registers: &Registers, reg: Reg) -> bool {
        matches!(registers.places.get(&reg), Some(Place::Vector(_))) || self.resident.contains_key(&reg)
    }

    /// Frees the vectors of operands that are dead after statement `at` or that were reloaded.
    fn release(&self, registers: &mut Registers, at: usize, read: &[Reg], vectors: &[Vector]) {
        for (reg, vector) in read.iter().zip(vectors) {
            if !self.has_vector(registers, *reg) && !registers.vectors.contains(vector) {
                registers.vectors.push(*vector);
            }
        }
        registers.free(at, read);
    }

    /// One operation.
    fn operation(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        at: usize,
        reg: Reg,
        op: &Op,
        mask: Mask,
    ) -> Option<()> {
        // Masks first: they have registers of their own.
        let is_mask = |r: &Reg| self.role(*r) == Role::Mask;
        match op {
            Op::Binary(kind, a, b) if is_mask(&reg) => {
                let (from, to) = (registers.mask(*a)?, registers.mask(*b)?);
                registers.free(at, &[*a, *b]);
                let new = registers.new_mask(reg)?;
                match kind {
                    Binary::And => asm.mask_and(new, from, to),
                    Binary::Or => asm.mask_or(new, from, to),
                    _ => return None,
                }
                return Some(());
            }
            Op::Compare(Compare::Eq, a, b) if is_mask(a) && self.kernel.constants.get(b) == Some(&0) => {
                let from = registers.mask(*a)?;
                registers.free(at, &[*a]);
                let new = registers.new_mask(reg)?;
                asm.mask_not(new, from);
                return Some(());
            }
            Op::Compare(kind, a, b) => {
                let both = self.both(asm, registers, *a, *b)?;
                self.release(registers, at, &[*a, *b], &[both.0, both.1]);
                let new = registers.new_mask(reg)?;
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
            let to = self.take(registers)?;
            registers.places.insert(reg, Place::Vector(to));
            let width = self.kernel.arrays[*array].width;
            if usize::from(width) < self.plan.width {
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
        if let Op::Call(ScalarFunction::Fma, _) = op {
            // The sum takes the place of what is added: a copy of it, since that may be read again.
            let to = self.take(registers)?;
            asm.copy(to, vectors[2]);
            asm.fused_multiply_add(lane, to, (vectors[0], vectors[1]), Mask(0));
            self.release(registers, at, &read, &vectors);
            registers.places.insert(reg, Place::Vector(to));
            return Some(());
        }
        if let Op::Binary(kind @ (Binary::Min | Binary::Max), ..) = op {
            let to = self.take(registers)?;
            let both = (vectors[0], vectors[1]);
            self.extreme(asm, registers, *kind == Binary::Max, lane, to, both, Mask(0))?;
            self.release(registers, at, &read, &vectors);
            registers.places.insert(reg, Place::Vector(to));
            return Some(());
        }
        let minus = match op {
            Op::Unary(Unary::Neg, _) => Some(self.take(registers)?),
            _ => None,
        };
        self.release(registers, at, &read, &vectors);
        let to = self.take(registers)?;
        match op {
            Op::Binary(kind, ..) => {
                asm.arithmetic(arithmetic(*kind)?, lane, to, (vectors[0], vectors[1]), Mask(0))
            }
            Op::Cast(cast, ..) => {
                let conversion = match cast {
                    Cast::SignedToFloat => Conversion::SignedToFloat,
                    Cast::UnsignedToFloat => Conversion::UnsignedToFloat,
                    Cast::FloatToSigned => Conversion::FloatToSigned,
                    Cast::SignExtend | Cast::ZeroExtend | Cast::Truncate | Cast::FloatToFloat => return None,
                };
                asm.convert(conversion, to, vectors[0]);
            }
            Op::Select(..) => {
                let (c, chosen) = chosen?;
                asm.blend(lane, to, chosen.mask, (vectors[0], vectors[1]));
                registers.masks.extend(chosen.own);
                registers.free(at, &[c]);
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
    /// The vectors of two registers.
    fn both(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        a: Reg,
        b: Reg,
    ) -> Option<(Vector, Vector)> {
        Some((self.vector(asm, registers, a)?, self.vector(asm, registers, b)?))
    }

    /// The larger of two floats if `max`, else the smaller; with a mask, other lanes stay as they
    /// are. The machine takes no account of the signs of zeros and of NaN: a largest number has a
    /// sign if both have, a smallest if one has, and NaN is put in its place.
    #[allow(clippy::too_many_arguments)] // registers, and what is done with them
    fn extreme(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        max: bool,
        lane: Lane,
        to: Vector,
        (a, b): (Vector, Vector),
        mask: Mask,
    ) -> Option<()> {
        let (wide, sign, nan) = match lane {
            Lane::F64 => (Lane::I64, 1 << 63, f64::NAN.to_bits()),
            Lane::F32 => (Lane::I32, 1 << 31, u64::from(f32::NAN.to_bits())),
            Lane::I64 | Lane::I32 => return None,
        };
        let (number, signs, constant) = (self.take(registers)?, self.take(registers)?, self.take(registers)?);
        let unordered = registers.masks.pop()?;
        let none = Mask(0);
        asm.compare((lane, false), unordered, (a, b), UNORDERED);
        asm.arithmetic(if max { Arithmetic::Max } else { Arithmetic::Min }, lane, number, (a, b), none);
        asm.arithmetic(if max { Arithmetic::And } else { Arithmetic::Or }, wide, signs, (a, b), none);
        let word = self.word(Word::Bits(sign));
        asm.broadcast(lane, constant, word);
        asm.arithmetic(Arithmetic::And, wide, signs, (signs, constant), none);
        let word =
            self.word(Word::Bits(!sign & if lane == Lane::F64 { u64::MAX } else { u64::from(u32::MAX) }));
        asm.broadcast(lane, constant, word);
        asm.arithmetic(Arithmetic::And, wide, number, (number, constant), none);
        asm.arithmetic(Arithmetic::Or, wide, number, (number, signs), none);
        let word = self.word(Word::Bits(nan));
        asm.broadcast(lane, constant, word);
        if mask == none {
            asm.blend(lane, to, unordered, (constant, number));
        } else {
            asm.blend(lane, number, unordered, (constant, number));
            asm.arithmetic(Arithmetic::Or, wide, to, (number, number), mask);
        }
        registers.vectors.extend([constant, signs, number]);
        registers.masks.push(unordered);
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
        let word = self.word(Word::Bits(bits));
        asm.broadcast(lane, other, word);
        let lane = if lane == Lane::F64 || lane == Lane::I64 { Lane::I64 } else { Lane::I32 };
        asm.arithmetic(op, lane, to, (other, a), Mask(0));
    }
}

impl Registers {
    /// The mask that a register is.
    fn mask(&self, reg: Reg) -> Option<Mask> {
        match self.places.get(&reg)? {
            Place::Mask(mask) => Some(*mask),
            Place::Vector(_) => None,
        }
    }

    /// A mask for a register.
    fn new_mask(&mut self, reg: Reg) -> Option<Mask> {
        let mask = self.masks.pop()?;
        self.places.insert(reg, Place::Mask(mask));
        Some(mask)
    }

    /// Gives back what nobody reads after a statement.
    fn free(&mut self, at: usize, regs: &[Reg]) {
        for reg in regs {
            if self.last.get(reg) == Some(&at) {
                match self.places.remove(reg) {
                    Some(Place::Vector(vector)) => self.vectors.push(vector),
                    Some(Place::Mask(mask)) => self.masks.push(mask),
                    None => {}
                }
            }
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
