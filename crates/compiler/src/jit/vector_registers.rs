//! Registers of the machine in the body of a loop that is vectorized with AVX-512 or AVX2, and the
//! words that its function gets.
//!
//! Registers are given in the order of the statements and are free again after the last use. What
//! is the same in all rounds stays in those that the body never needs, the rest of it is read again
//! where it is used. Where none is free, the value that is read last of all is written to memory
//! below the block of words and is read again there (Belady, *A study of replacement algorithms for
//! a virtual-storage computer*, 1966); a value is set once, so it is written once.

use super::asm_x64::{Arithmetic, Assembler, Lane, Mask, POINTERS, Pointer, Vector};
use super::vector_plan::{Plan, Role};
use crate::hash::{HashMap, HashSet};
use crate::loop_ir::{Array, Isa, Kernel, ReductionOp, Reg, ScalarType, Stmt, Summand, Var};

/// Bytes of the lanes of an iteration.
pub(super) const ITERATION_BYTES: usize = 64;

/// Mask registers that the body may use start here, with AVX-512.
const FIRST_FREE_MASK: u8 = 2;

/// Vectors that may be in memory at once.
const MAX_SPILLED: usize = 64;

/// The first word of the loop's own.
pub(super) const FIRST_OWN_WORD: usize = 3;

/// A word that a loop's function is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Word {
    /// The address of the slot of an array that the first round reads or writes.
    Place(Array, Reg),
    /// The address of the first slot of an array.
    Base(Array),
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
    /// The present value of a variable.
    Variable(Var),
    /// The address of the lanes of a member of an extreme.
    Carried(usize),
    /// The address of the byte that stops a run.
    Stop,
}

impl Word {
    /// Returns true for the address of a slot.
    pub(super) fn is_address(self) -> bool {
        matches!(self, Word::Place(..) | Word::Base(_))
    }
}

/// A loop whose code is written.
pub(super) struct Loop<'a> {
    pub(super) isa: Isa,
    pub(super) kernel: &'a Kernel,
    pub(super) plan: &'a Plan,
    pub(super) body: &'a [Stmt],
    pub(super) item: Option<Summand>,
    /// The index is a number in the lanes.
    pub(super) reads_index: bool,
    /// Groups of stores to slots that lie side by side, by the last one of each, in the order of the
    /// slots.
    pub(super) interleaved: HashMap<usize, Vec<usize>>,
    /// The statements that read each register, or set it, by their numbers.
    pub(super) reads: HashMap<Reg, Vec<usize>>,
    /// The statements that set each variable of a round.
    pub(super) sets: HashMap<Var, Vec<usize>>,
    /// Integers whose lanes may have other bits beyond those of the type.
    pub(super) uncut: HashSet<Reg>,
    /// Slots of integers that are loaded with 0 in the bits beyond those of the type.
    pub(super) zero_extended: HashSet<Reg>,
    pub(super) words: Vec<Word>,
    /// Values that stay in a register.
    pub(super) resident: HashMap<Reg, Vector>,
    /// Registers that were needed at once.
    pub(super) most: u8,
    /// Vectors that were in memory at once.
    pub(super) spilled: usize,
}

/// The place of a register of the body, unless it is in memory only.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Vector(Vector),
    Mask(Mask),
}

/// The registers at a place where control flow meets.
#[derive(Clone)]
pub(super) struct Checkpoint {
    pub(super) vectors: Vec<Vector>,
    pub(super) masks: Vec<Mask>,
    pub(super) places: HashMap<Reg, Place>,
    pub(super) memory: HashMap<Reg, usize>,
}

/// The mask of a truth value, and it again if nothing else needs it.
pub(super) struct Condition {
    pub(super) mask: Mask,
    pub(super) own: Option<Mask>,
}

/// Registers of the machine, while a body is written.
pub(super) struct Registers {
    pub(super) isa: Isa,
    pub(super) vectors: Vec<Vector>,
    /// Mask registers of AVX-512; the masks of AVX2 are vectors.
    pub(super) masks: Vec<Mask>,
    pub(super) places: HashMap<Reg, Place>,
    /// The numbers of the vectors in memory of values that are there, in a register or not.
    pub(super) memory: HashMap<Reg, usize>,
    /// The statement whose code is written.
    pub(super) at: usize,
    /// Registers that the statement has asked for.
    pub(super) pinned: Vec<Vector>,
    /// Registers that are not given to other values: of variables, and of indices of inner loops.
    pub(super) fixed: Vec<Vector>,
    /// The numbers of vectors in memory that hold masks of constructs.
    pub(super) reserved: Vec<usize>,
    /// Some lanes of the round may not be active.
    pub(super) nested: bool,
}

impl Loop<'_> {
    /// The number of a word.
    pub(super) fn word(&mut self, word: Word) -> usize {
        let at = self.words.iter().position(|w| *w == word);
        FIRST_OWN_WORD
            + at.unwrap_or_else(|| {
                self.words.push(word);
                self.words.len() - 1
            })
    }

    pub(super) fn role(&self, reg: Reg) -> Role {
        self.plan.role(reg)
    }

    /// The type of the lanes of a register.
    pub(super) fn lane(&self, reg: Reg) -> Lane {
        match (self.kernel.regs[reg], self.plan.width) {
            (ScalarType::F64, _) | (ScalarType::F32, 8) => Lane::F64,
            (ScalarType::F32, _) => Lane::F32,
            (_, 8) => Lane::I64,
            _ => Lane::I32,
        }
    }

    /// The type of lanes of integers.
    pub(super) fn integer_lane(&self) -> Lane {
        if self.plan.width == 8 { Lane::I64 } else { Lane::I32 }
    }

    /// The address that a word is: in a register of its own while there are any.
    pub(super) fn pointer(&mut self, asm: &mut Assembler, address: Word) -> Pointer {
        let word = self.word(address);
        let places = self.words[..word - FIRST_OWN_WORD].iter().filter(|word| word.is_address()).count();
        let last = POINTERS.len() - 1;
        if places >= last {
            asm.pointer(POINTERS[last], word);
        }
        POINTERS[places.min(last)]
    }

    /// Vectors of an iteration.
    pub(super) fn parts(&self) -> usize {
        ITERATION_BYTES / self.isa.vector_bytes()
    }

    /// Lanes of a vector.
    pub(super) fn lanes(&self) -> usize {
        self.isa.vector_bytes() / self.plan.width
    }

    /// The register of a part of the lanes of a total.
    pub(super) fn total(&self, part: usize) -> Vector {
        Vector(part as u8)
    }

    /// The register of a part of the lanes of an accumulator.
    pub(super) fn accumulator(&self, number: usize, part: usize) -> Vector {
        Vector(((usize::from(self.item.is_some()) + number) * self.parts() + part) as u8)
    }

    /// The register of a part of the lanes of a member of an extreme.
    pub(super) fn carried(&self, number: usize, part: usize) -> Vector {
        self.accumulator(self.plan.accumulators.len() + number, part)
    }

    /// The register of the index in the lanes.
    pub(super) fn lane_index(&self) -> Vector {
        self.carried(self.plan.carried().count(), 0)
    }

    /// The register of a variable of a round.
    pub(super) fn variable(&self, var: Var) -> Vector {
        let number = self.plan.variables.iter().position(|other| *other == var);
        let number = number.expect("a variable of a round is one of the plan's");
        Vector(self.lane_index().0 + u8::from(self.reads_index) + number as u8)
    }

    /// The first register that is free for the body.
    pub(super) fn first_free(&self) -> u8 {
        self.lane_index().0 + u8::from(self.reads_index) + self.plan.variables.len() as u8
    }

    /// The registers that a body may use.
    pub(super) fn registers(&self) -> Registers {
        let free = self.isa.vector_registers() - self.resident.len() as u8;
        Registers {
            isa: self.isa,
            vectors: (self.first_free()..free).rev().map(Vector).collect(),
            masks: (FIRST_FREE_MASK..8).rev().map(Mask).collect(),
            places: HashMap::default(),
            memory: HashMap::default(),
            at: 0,
            pinned: Vec::new(),
            fixed: self.plan.variables.iter().map(|var| self.variable(*var)).collect(),
            reserved: Vec::new(),
            nested: false,
        }
    }

    /// The mask of the lanes in which a truth value is true. One that is a number, as a combination
    /// of a truth value with one that is the same in all rounds is, gets a mask of its own.
    pub(super) fn condition(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        reg: Reg,
    ) -> Option<Condition> {
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
    pub(super) fn mask(&mut self, asm: &mut Assembler, registers: &mut Registers, reg: Reg) -> Option<Mask> {
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
    pub(super) fn vector(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        reg: Reg,
    ) -> Option<Vector> {
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
                asm.ones(self.integer_lane(), to, mask, word);
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
                let lane = self.integer_lane();
                asm.broadcast(lane, to, word);
                let (stride, at) = (self.plan.stride(reg), self.lane_index());
                let op = if stride < 0 { Arithmetic::Sub } else { Arithmetic::Add };
                if stride.unsigned_abs() == 1 {
                    asm.arithmetic(op, lane, to, (to, at), None);
                } else {
                    let product = self.take(asm, registers)?;
                    self.constant(asm, lane, product, stride.unsigned_abs());
                    match lane {
                        Lane::I64 => asm.half_product(product, (product, at)),
                        _ => asm.arithmetic(Arithmetic::Mul, lane, product, (product, at), None),
                    }
                    asm.arithmetic(op, lane, to, (to, product), None);
                    registers.vectors.push(product);
                }
                Some(to)
            }
            Role::Same | Role::Total | Role::Extended { .. } => {
                if self.kernel.regs[reg].bytes() > self.plan.width {
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
    pub(super) fn take(&mut self, asm: &mut Assembler, registers: &mut Registers) -> Option<Vector> {
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
    pub(super) fn take_mask(&mut self, asm: &mut Assembler, registers: &mut Registers) -> Option<Mask> {
        match self.isa {
            Isa::Avx512 => registers.masks.pop(),
            Isa::Avx2 => self.take(asm, registers).map(|vector| Mask(vector.0)),
        }
    }

    /// Frees the register of the value that is read again last, and that the statement does not
    /// read.
    pub(super) fn spill(&mut self, asm: &mut Assembler, registers: &mut Registers) -> Option<()> {
        let next = |reg: &Reg| {
            self.reads[reg].iter().copied().find(|read| *read >= registers.at).unwrap_or(usize::MAX)
        };
        let candidates = registers.places.iter().filter_map(|(reg, place)| {
            let vector = match place {
                Place::Vector(vector) => *vector,
                Place::Mask(mask) if self.isa == Isa::Avx2 => Vector(mask.0),
                Place::Mask(_) => return None,
            };
            let stays = registers.pinned.contains(&vector) || registers.fixed.contains(&vector);
            (!stays).then_some((next(reg), *reg, vector))
        });
        let (_, reg, vector) = candidates.max_by_key(|(next, reg, _)| (*next, *reg))?;
        self.copy_to_memory(asm, registers, reg, vector)?;
        registers.places.remove(&reg);
        registers.vectors.push(vector);
        Some(())
    }

    /// Writes a value that is in a register to memory, unless it is there.
    pub(super) fn copy_to_memory(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        reg: Reg,
        vector: Vector,
    ) -> Option<()> {
        if !registers.memory.contains_key(&reg) {
            let number = self.free_memory(registers)?;
            asm.spill(number, vector);
            registers.memory.insert(reg, number);
        }
        Some(())
    }

    /// The number of a vector in memory that is free.
    fn free_memory(&mut self, registers: &Registers) -> Option<usize> {
        let Registers { memory, reserved, .. } = registers;
        let is_free = |number: &usize| !memory.values().chain(reserved).any(|taken| taken == number);
        let number = (0..MAX_SPILLED).find(is_free)?;
        self.spilled = self.spilled.max(number + 1);
        Some(number)
    }

    /// The number of a vector in memory for a mask, until [`Registers::release_memory`].
    pub(super) fn reserve_memory(&mut self, registers: &mut Registers) -> Option<usize> {
        let number = self.free_memory(registers)?;
        registers.reserved.push(number);
        Some(number)
    }

    /// Returns true for a register that has a vector of its own: others are made again where they
    /// are read.
    pub(super) fn has_vector(&self, registers: &Registers, reg: Reg) -> bool {
        matches!(registers.places.get(&reg), Some(Place::Vector(_))) || self.resident.contains_key(&reg)
    }

    /// Frees the vectors of operands that are dead after the statement or that were made for it.
    pub(super) fn release(&self, registers: &mut Registers, read: &[Reg], vectors: &[Vector]) {
        for (reg, vector) in read.iter().zip(vectors) {
            if !self.has_vector(registers, *reg) && !registers.vectors.contains(vector) {
                registers.vectors.push(*vector);
            }
        }
        self.free(registers, read);
    }

    /// Gives back what nobody reads after the statement.
    pub(super) fn free(&self, registers: &mut Registers, regs: &[Reg]) {
        for reg in regs {
            if self.reads.get(reg).and_then(|reads| reads.last()) == Some(&registers.at) {
                registers.memory.remove(reg);
                match registers.places.remove(reg) {
                    Some(Place::Vector(vector)) if registers.fixed.contains(&vector) => {}
                    Some(Place::Vector(vector)) => registers.vectors.push(vector),
                    Some(Place::Mask(mask)) => registers.give_mask(mask),
                    None => {}
                }
            }
        }
    }

    /// A mask for a register.
    pub(super) fn new_mask(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        reg: Reg,
    ) -> Option<Mask> {
        let mask = self.take_mask(asm, registers)?;
        registers.places.insert(reg, Place::Mask(mask));
        Some(mask)
    }

    /// All lanes of a register with the same bits.
    pub(super) fn constant(&mut self, asm: &mut Assembler, lane: Lane, to: Vector, bits: u64) {
        let word = self.word(Word::Bits(bits));
        asm.broadcast(lane, to, word);
    }
}

impl Registers {
    /// Begins the statement with a number.
    pub(super) fn begin(&mut self, at: usize) {
        self.at = at;
        self.pinned.clear();
    }

    /// The present state.
    pub(super) fn checkpoint(&self) -> Checkpoint {
        let Registers { vectors, masks, places, memory, .. } = self;
        Checkpoint {
            vectors: vectors.clone(),
            masks: masks.clone(),
            places: places.clone(),
            memory: memory.clone(),
        }
    }

    /// Goes back to a state.
    pub(super) fn restore(&mut self, checkpoint: Checkpoint) {
        let Checkpoint { vectors, masks, places, memory } = checkpoint;
        (self.vectors, self.masks, self.places, self.memory) = (vectors, masks, places, memory);
    }

    /// Gives back the memory of a mask.
    pub(super) fn release_memory(&mut self, number: usize) {
        self.reserved.retain(|reserved| *reserved != number);
    }

    /// Keeps a mask in its register until the end of the statement.
    pub(super) fn pin(&mut self, mask: Mask) {
        if self.isa == Isa::Avx2 {
            self.pinned.push(Vector(mask.0));
        }
    }

    /// Gives back a mask.
    pub(super) fn give_mask(&mut self, mask: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks.push(mask),
            Isa::Avx2 => self.vectors.push(Vector(mask.0)),
        }
    }
}
