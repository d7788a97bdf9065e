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
//! iteration does lanes of [`ITERATION_BYTES`](super::vector_registers::ITERATION_BYTES), by one
//! vector of AVX-512 or two of AVX2, one after the other. The last one goes by a mask: lanes beyond
//! the end are neither read nor written, and leave totals as they are. So no round is left over.
//!
//! The values of a body have registers by [`super::vector_registers`], and operations have
//! instructions by [`super::vector_operations`].
//!
//! **Accumulators** ([`crate::loop_ir::accumulator`]) have lanes in registers of their own, which
//! start from the number that changes nothing and are joined to the variable after the function.
//! The index in the lanes, where it is a number, is a register that is advanced in each round.
//!
//! **Extremes with companions** ([`crate::loop_ir::accumulator::ArgExtreme`]) have lanes for each
//! of their variables, which are replaced where the comparison holds. The lanes of the place start
//! from a number that is no place.
//!
//! **Same bits.** Each operation is the one that narrow vectors have, in the same order of
//! operands; a total has eight lanes of 8 bytes, the lanes of [`crate::core::reduction`]. So
//! results do not depend on the processor, and `FELIS_VECTORS` changes nothing but time.

use super::asm_x64::{Arithmetic, Assembler, FREE_POINTERS, Lane, Mask, POINTERS, Vector};
use super::component_stores::interleaved_stores;
use super::lane_control::{Execution, Exits, is_control};
use super::vector_operations::{arithmetic, compare};
use super::vector_plan::{LaneTypes, Plan, Role};
use super::vector_planner::plan;
use super::vector_registers::{FIRST_OWN_WORD, Loop, Registers, Word};
use crate::core::reduction::LANES;
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::accumulator::{Accumulator, AccumulatorOp};
use crate::loop_ir::{
    Binary, Cast, Isa, Kernel, Op, ReductionOp, Reg, ScalarType, Stmt, Summand, TargetMachine, Unary, Var,
    defined_registers, for_each_stmt,
};
use std::sync::OnceLock;

/// The mask of the lanes of the last iteration, with AVX-512.
const TAIL_MASK: Mask = Mask(1);

/// The word that says how many lanes whole iterations have.
pub(super) const WORD_LANES: usize = 0;
/// The word that is set to 1 where a round fails.
pub(super) const WORD_FAILED: usize = 2;
/// The word that says which lanes the rest has: 0 if there is no rest; else a bit for each with
/// AVX-512, the address of their masks with AVX2.
pub(super) const WORD_TAIL_MASK: usize = 1;

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

/// This machine with that many threads, and vectors of at most so many bits; by default of at most
/// as many as `FELIS_VECTORS` says.
pub fn target(threads: usize, max_vector_bits: Option<usize>) -> TargetMachine {
    static STATED: OnceLock<Option<usize>> = OnceLock::new();
    let stated = || std::env::var("FELIS_VECTORS").ok().and_then(|bits| bits.parse().ok());
    let most = max_vector_bits.or(*STATED.get_or_init(stated));
    let isa = available().find(|isa| most.is_none_or(|most| 8 * isa.vector_bytes() <= most));
    TargetMachine { isa, has_population_count: isa == Some(Isa::Avx512) && has_population_count(), threads }
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

/// Returns true if vectors of 512 bits count the bits of lanes of 8 bytes.
fn has_population_count() -> bool {
    #[cfg(all(target_arch = "x86_64", unix))]
    let there = std::is_x86_feature_detected!("avx512vpopcntdq");
    #[cfg(not(all(target_arch = "x86_64", unix)))]
    let there = false;
    there
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
    // Narrow vectors have lanes of 1 and 2 bytes, and more of them than lanes of 8 bytes are.
    let planned = |types| plan(kernel, index, body, item, types);
    let plan = planned(LaneTypes::Words).or_else(|| match planned(LaneTypes::All) {
        Some(_) => None,
        None => planned(LaneTypes::Promoted),
    })?;
    if item.is_some_and(|item| item.ty(kernel) != ScalarType::F64) || !plan.nested_cost.is_profitable(isa) {
        return None;
    }
    let mut reads_index = false;
    for_each_stmt(body, &mut |stmt| {
        let mut is_number = |reg: &Reg| reads_index |= plan.role(*reg) == Role::Index;
        match stmt {
            Stmt::Let(_, Op::Load(..)) => {}
            Stmt::Let(reg, _) if plan.role(*reg) == Role::Index => {}
            Stmt::Let(_, op) => op.for_each_reg(&mut |reg| is_number(&reg)),
            Stmt::Store(_, _, value) | Stmt::Set(_, value) => is_number(value),
            _ => {}
        }
    });
    let (words, resident) = (Vec::new(), HashMap::default());
    let interleaved = interleaved_stores(kernel, body, &plan);
    let (reads, sets) = reads_of(body, &plan, item, &interleaved);
    let mut loops = Loop {
        isa,
        kernel,
        plan: &plan,
        body,
        item,
        reads_index,
        interleaved,
        reads,
        sets,
        uncut: uncut_registers(kernel, body),
        zero_extended: zero_extended_slots(body),
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

/// The integers of fewer than 8 bytes of which nothing reads more bits than their type has: sums,
/// differences, products, operations by bits, what is cut off, and slots as wide as the type. In
/// wider lanes they need no sign that is extended.
fn uncut_registers(kernel: &Kernel, body: &[Stmt]) -> HashSet<Reg> {
    use Binary::{Add, And, Mul, Or, Sub, Xor};
    let mut read: HashSet<Reg> = HashSet::default();
    loop {
        let known = read.len();
        for_each_stmt(body, &mut |stmt| match stmt {
            Stmt::Let(_, Op::Binary(Add | Sub | Mul, ..) | Op::Unary(Unary::Neg, _)) => {}
            Stmt::Let(_, Op::Cast(Cast::Truncate, ..)) => {}
            // The bits of the result are those of the operands.
            Stmt::Let(reg, op @ (Op::Binary(And | Or | Xor, ..) | Op::Unary(Unary::Not, _))) => {
                if read.contains(reg) {
                    op.for_each_reg(&mut |operand| _ = read.insert(operand));
                }
            }
            Stmt::Let(reg, Op::Select(condition, a, b)) => {
                read.insert(*condition);
                if read.contains(reg) {
                    read.extend([*a, *b]);
                }
            }
            Stmt::Store(_, at, _) => drop(read.insert(*at)),
            stmt => stmt.for_each_read(&mut |reg| _ = read.insert(reg)),
        });
        if read.len() == known {
            break;
        }
    }
    let mut found = HashSet::default();
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Let(reg, _) = stmt
            && !kernel.regs[*reg].is_float()
            && !read.contains(reg)
        {
            found.insert(*reg);
        }
    });
    found
}

/// The registers of slots that are only read to be extended without a sign.
fn zero_extended_slots(body: &[Stmt]) -> HashSet<Reg> {
    let mut found: HashSet<Reg> = HashSet::default();
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Let(reg, Op::Load(..)) = stmt {
            found.insert(*reg);
        }
    });
    for_each_stmt(body, &mut |stmt| {
        if !matches!(stmt, Stmt::Let(_, Op::Cast(Cast::ZeroExtend, ..))) {
            stmt.for_each_read(&mut |reg| _ = found.remove(&reg));
        }
    });
    found
}

/// Positions of statements.
type Positions<K> = HashMap<K, Vec<usize>>;

/// The statements that read each register of the body, or set it, in order, and those that set each
/// variable. The operand of a reduction is read at the end, that of an accumulator where it is
/// joined. Statements have numbers in their order, and a statement with others inside has one more,
/// for its end; there a loop reads what it reads in each round.
fn reads_of(
    body: &[Stmt],
    plan: &Plan,
    item: Option<Summand>,
    interleaved: &HashMap<usize, Vec<usize>>,
) -> (Positions<Reg>, Positions<Var>) {
    let (mut reads, mut sets): (Positions<Reg>, Positions<Var>) = Default::default();
    let end = number_statements(body, 0, &mut reads, &mut sets);
    for (last, group) in interleaved {
        for stmt in group {
            body[*stmt].for_each_reg(&mut |reg| reads.entry(reg).or_default().push(*last));
        }
    }
    for total in &plan.accumulators {
        let joined = reads[&total.new][0];
        for reg in total.condition.into_iter().chain([total.operand]) {
            reads.entry(reg).or_default().push(joined);
        }
    }
    for reg in item.into_iter().flat_map(Summand::regs) {
        reads.entry(reg).or_default().push(end);
    }
    for places in reads.values_mut() {
        places.sort_unstable();
    }
    (reads, sets)
}

/// Adds the positions of statements from a number on; gives the next number.
fn number_statements(
    stmts: &[Stmt],
    mut at: usize,
    reads: &mut Positions<Reg>,
    sets: &mut Positions<Var>,
) -> usize {
    for stmt in stmts {
        match stmt {
            Stmt::Let(reg, _) | Stmt::For { index: reg, .. } => reads.entry(*reg).or_default().push(at),
            Stmt::Set(var, _) => sets.entry(*var).or_default().push(at),
            _ => {}
        }
        stmt.for_each_reg(&mut |reg| reads.entry(reg).or_default().push(at));
        at += 1;
        let bodies = stmt.bodies();
        for body in &bodies {
            at = number_statements(body, at, reads, sets);
        }
        if matches!(stmt, Stmt::For { .. } | Stmt::Loop(..)) {
            let stmt = std::slice::from_ref(stmt);
            let mut defined = defined_registers(stmt);
            for_each_stmt(stmt, &mut |inner| {
                inner.for_each_reg(&mut |reg| {
                    if defined.insert(reg) {
                        reads.entry(reg).or_default().push(at);
                    }
                });
            });
        }
        at += usize::from(!bodies.is_empty());
    }
    at
}

impl Loop<'_> {
    /// All of it.
    fn function(&mut self) -> Option<Vec<u8>> {
        let mut asm = Assembler::new(self.isa);
        let (plan, parts, lanes) = (self.plan, self.parts(), self.lanes() as u8);
        // Half of the registers are for the body.
        let most = usize::from(self.isa.vector_registers()) / 2;
        let lanes_kept = self.item.iter().len() + plan.accumulators.len() + plan.carried().count();
        if lanes_kept * parts + plan.variables.len() > most {
            return None;
        }
        asm.zero_counter();
        for (number, total) in plan.accumulators.iter().enumerate() {
            let word = self.word(Word::Bits(self.identity(total)));
            for part in 0..parts {
                asm.broadcast(self.lane(total.new), self.accumulator(number, part), word);
            }
        }
        for (number, (extreme, member)) in plan.carried().enumerate() {
            let word = self.word(match extreme.is_place(member) {
                true => Word::Bits(extreme.no_place()),
                false => Word::Variable(member.var),
            });
            for part in 0..parts {
                asm.broadcast(self.lane(member.new), self.carried(number, part), word);
            }
        }
        if self.reads_index {
            asm.pointer(POINTERS[0], self.word(Word::LaneNumbers));
            asm.load(self.integer_lane(), self.lane_index(), POINTERS[0], None);
        }
        if let Some(item) = self.item {
            asm.pointer(POINTERS[0], self.word(Word::Before(item.op())));
            for part in 0..parts {
                asm.load(Lane::F64, self.total(part), POINTERS[0], None);
                asm.advance_counter(lanes);
            }
            asm.zero_counter();
        }
        let places: Vec<usize> = (0..self.words.len()).filter(|i| self.words[*i].is_address()).collect();
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
        let mut exits = Exits::default();
        for part in 0..parts {
            let mut registers = self.registers();
            self.round(&mut asm, &mut registers, (part, None), &mut exits)?;
            asm.advance_counter(lanes);
        }
        asm.jump_back_if_below(WORD_LANES, head);
        asm.patch_jump(over);
        self.rest(&mut asm, &mut exits)?;
        if self.item.is_some() {
            self.store_lanes(&mut asm, Word::Lanes, Lane::F64, self.total(0));
        }
        for (number, total) in plan.accumulators.iter().enumerate() {
            let first = self.accumulator(number, 0);
            self.store_lanes(&mut asm, Word::Accumulator(number), self.lane(total.new), first);
        }
        for (number, (_, member)) in plan.carried().enumerate() {
            let first = self.carried(number, 0);
            self.store_lanes(&mut asm, Word::Carried(number), self.lane(member.new), first);
        }
        if !exits.failed.is_empty() {
            exits.stopped.push(asm.jump());
            for failed in exits.failed {
                asm.patch_jump(failed);
            }
            asm.set_word(WORD_FAILED);
        }
        for stopped in exits.stopped {
            asm.patch_jump(stopped);
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
    fn rest(&mut self, asm: &mut Assembler, exits: &mut Exits) -> Option<()> {
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
                        ends.push(asm.jump_if_none(mask, self.lanes()));
                    }
                    mask
                }
            };
            self.round(asm, &mut registers, (part, Some(mask)), exits)?;
            asm.advance_counter(self.lanes() as u8);
        }
        for end in ends {
            asm.patch_jump(end);
        }
        Some(())
    }

    /// The body for a part of the lanes of an iteration, or for those of a mask.
    fn round(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (part, mask): (usize, Option<Mask>),
        exits: &mut Exits,
    ) -> Option<()> {
        let mut run = Execution::new(part, mask, exits);
        self.statements(asm, registers, &mut run, self.body)?;
        registers.begin(run.at);
        self.end_round(asm, registers, (part, mask))
    }

    /// Statements for the active lanes.
    pub(super) fn statements(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        run: &mut Execution<'_>,
        stmts: &[Stmt],
    ) -> Option<()> {
        let plan = self.plan;
        for stmt in stmts {
            let (at, part, mask) = (run.at, run.part, run.active);
            registers.begin(at);
            run.at += 1;
            match stmt {
                _ if is_control(|reg| plan.role(reg), &plan.variables, stmt) => {
                    self.control(asm, registers, run, stmt)?;
                }
                Stmt::Let(reg, _) if self.role(*reg) == Role::Total => {
                    if let Some(number) = plan.accumulators.iter().position(|total| total.new == *reg) {
                        self.accumulate(asm, registers, (number, part), mask)?;
                    }
                    if let Some(number) = plan.carried().position(|(_, member)| member.new == *reg) {
                        self.replace(asm, registers, (number, part), mask)?;
                    }
                }
                Stmt::Let(reg, _)
                    if let Some(number) =
                        plan.carried().position(|(extreme, _)| extreme.choice.condition == *reg) =>
                {
                    self.compare_extreme(asm, registers, (number, part))?;
                }
                Stmt::Let(reg, op) if matches!(self.role(*reg), Role::Lanes | Role::Mask) => {
                    self.operation(asm, registers, *reg, op, mask)?;
                    // A result that nobody reads takes no register.
                    self.free(registers, &[*reg]);
                }
                Stmt::Store(..) if let Some(group) = self.interleaved.get(&at).cloned() => {
                    self.store_components(asm, registers, &group, mask)?;
                }
                Stmt::Store(..) if self.interleaved.values().any(|group| group.contains(&at)) => {}
                Stmt::Store(array, place, value) => {
                    let from = self.vector(asm, registers, *value)?;
                    let to = self.pointer(asm, Word::Place(*array, *place));
                    let width = self.kernel.arrays[*array].width;
                    if plan.stride(*place) != 1 {
                        self.store_strided(asm, registers, (to, *place), from, mask)?;
                    } else if width == 4 && plan.width == 8 && self.kernel.regs[*value].is_float() {
                        let other = self.take(asm, registers)?;
                        asm.store_singles(to, from, other, mask);
                        registers.vectors.push(other);
                    } else if usize::from(width) < plan.width {
                        asm.store_narrow(self.lane(*value), width, to, from, mask);
                    } else {
                        asm.store(self.lane(*value), to, from, mask);
                    }
                    self.release(registers, &[*value], &[from]);
                }
                Stmt::Let(..) | Stmt::Set(..) => {}
                _ => unreachable!("the plan of a vectorized loop admits no other statement"),
            }
        }
        Some(())
    }

    /// The end of a round: the index in the lanes is advanced, and the operand of a reduction
    /// joined.
    fn end_round(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (part, mask): (usize, Option<Mask>),
    ) -> Option<()> {
        if self.reads_index {
            let step = self.take(asm, registers)?;
            let word = self.word(Word::Bits(self.lanes() as u64));
            let (lane, at) = (self.integer_lane(), self.lane_index());
            asm.broadcast(lane, step, word);
            asm.arithmetic(Arithmetic::Add, lane, at, (at, step), None);
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

    /// The bits of a lane of an accumulator that has joined nothing.
    fn identity(&self, total: &Accumulator) -> u64 {
        let (bits, bytes) = (total.join.identity(total.ty), total.ty.bytes());
        // A wider lane of an integer has its sign extended.
        let unused = if total.ty.is_float() { 0 } else { 64 - 8 * bytes as u32 };
        ((bits << unused) as i64 >> unused) as u64
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
                let lanes;
                (lanes, both) = self.lanes_of_both(asm, registers, condition.mask, mask)?;
                Some(lanes)
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

    /// Compares the numbers of a round with a part of the lanes of an extreme, a member by its
    /// number.
    fn compare_extreme(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (number, part): (usize, usize),
    ) -> Option<()> {
        let plan = self.plan;
        let (extreme, member) = plan.carried().nth(number)?;
        let choice = &extreme.choice;
        let operand = self.vector(asm, registers, member.operand)?;
        let old = self.carried(number, part);
        let both = if choice.max { (old, operand) } else { (operand, old) };
        let new = self.new_mask(asm, registers, choice.condition)?;
        compare(asm, self.lane(member.new), new, both, choice.compare);
        self.release(registers, &[member.operand], &[operand]);
        Some(())
    }

    /// Sets a part of the lanes of a member of an extreme where the condition holds.
    fn replace(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (number, part): (usize, usize),
        mask: Option<Mask>,
    ) -> Option<()> {
        let plan = self.plan;
        let (extreme, member) = plan.carried().nth(number)?;
        let (to, condition) = (self.carried(number, part), extreme.choice.condition);
        let operand = self.vector(asm, registers, member.operand)?;
        let holds = self.mask(asm, registers, condition)?;
        let (lanes, made) = self.lanes_of_both(asm, registers, holds, mask)?;
        asm.blend(self.lane(member.new), to, lanes, (operand, to));
        if let Some(made) = made {
            registers.give_mask(made);
        }
        self.release(registers, &[member.operand], &[operand]);
        self.free(registers, &[condition]);
        Some(())
    }

    /// The lanes of a condition that are those of a round, too; the second is the same mask if it
    /// has been made for that.
    fn lanes_of_both(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        condition: Mask,
        mask: Option<Mask>,
    ) -> Option<(Mask, Option<Mask>)> {
        let Some(mask) = mask else { return Some((condition, None)) };
        let both = self.take_mask(asm, registers)?;
        asm.mask_and(both, condition, mask);
        Some((both, Some(both)))
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
