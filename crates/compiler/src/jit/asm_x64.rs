//! Machine code for vectors of 512 and of 256 bits: the few instructions of AVX-512F and AVX-512DQ,
//! and of AVX2 and FMA3, that loops without branches need, as bytes.
//!
//! The code generator's vectors end at 128 bits. Encodings are those of the *Intel 64 and IA-32
//! Architectures Software Developer's Manual*, volume 2: 2.7 (EVEX), 2.3 (VEX) and the pages of the
//! instructions. Memory is addressed in three ways: as words of one block that
//! [`ARGUMENT_REGISTER`] points to, as vectors below that block, and as a [`Pointer`] plus as many
//! slots as [`COUNTER_REGISTER`] says.
//!
//! **Two instruction sets.** Most instructions of AVX2 are those of AVX-512 with another prefix.
//! Where AVX2 has none (products, extremes and comparisons without sign of lanes of 8 bytes, masks,
//! narrow slots) a method writes a sequence, which needs [`SCRATCH_VECTOR`] and now and then a
//! result that is none of its operands ([`Assembler::needs_distinct_result`]). Masks of AVX2 are
//! vectors, all bits of a lane set or none.
//!
//! Decides nothing: what goes where is said by [`super::vector_loops`].

/// A set of vector instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    /// AVX-512F and AVX-512DQ: 32 registers of 512 bits, and 8 masks.
    Avx512,
    /// AVX2 and FMA3: 16 registers of 256 bits.
    Avx2,
}

impl Isa {
    /// The bytes of a vector.
    pub fn vector_bytes(self) -> usize {
        match self {
            Isa::Avx512 => 64,
            Isa::Avx2 => 32,
        }
    }

    /// The number of vector registers that are given to values.
    pub fn vector_registers(self) -> u8 {
        match self {
            Isa::Avx512 => 32,
            Isa::Avx2 => SCRATCH_VECTOR,
        }
    }
}

/// A vector register, below [`Isa::vector_registers`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vector(pub u8);

/// A mask: with AVX-512 a mask register, from 1 to 7, with AVX2 a vector register.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mask(pub u8);

/// The vector register of AVX2 that sequences of instructions use in between.
const SCRATCH_VECTOR: u8 = 15;
/// `r11` and `r10`, which sequences of instructions use in between: for masks, and for addresses.
const SCRATCH_REGISTER: u8 = 11;
const SCRATCH_ADDRESS: u8 = 10;

/// A general register that holds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer(u8);

/// `rdi`, where the first argument of a function is.
const ARGUMENT_REGISTER: u8 = 7;
/// `rax`, which counts lanes.
const COUNTER_REGISTER: u8 = 0;

/// Registers for addresses: `rsi rdx rcx r8 r9` are free, `rbx rbp r12 r13 r14 r15` are the
/// caller's.
pub const POINTERS: [Pointer; 11] = {
    const fn p(number: u8) -> Pointer {
        Pointer(number)
    }
    [p(6), p(2), p(1), p(8), p(9), p(3), p(5), p(12), p(13), p(14), p(15)]
};
/// The number of free ones.
pub const FREE_POINTERS: usize = 5;

/// The type of the lanes of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Floats of 8 bytes.
    F64,
    /// Floats of 4 bytes.
    F32,
    /// Integers of 8 bytes.
    I64,
    /// Integers of 4 bytes.
    I32,
}

impl Lane {
    /// Returns true for lanes of 8 bytes: the bit W of most instructions.
    pub fn is_long(self) -> bool {
        matches!(self, Lane::F64 | Lane::I64)
    }

    fn bytes(self) -> u8 {
        if self.is_long() { 8 } else { 4 }
    }
}

/// An operation on two vectors, for floats, for integers, or for any lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)] // they say it
pub enum Arithmetic {
    Add,
    Sub,
    Mul,
    /// Of floats only.
    Div,
    /// Of floats, the first if it is less, else the second; of integers with sign.
    Min,
    /// Of floats, the first if it is greater, else the second; of integers with sign.
    Max,
    /// Of integers only.
    MinUnsigned,
    /// Of integers only.
    MaxUnsigned,
    And,
    Or,
    Xor,
    /// Of integers, by the number of places in each lane; 0 from as many as there are bits.
    Shl,
    /// The same to the right, without sign.
    Shr,
}

/// A conversion between lanes of 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversion {
    /// An integer with sign to the nearest float.
    SignedToFloat,
    /// An integer without sign to the nearest float.
    UnsignedToFloat,
    /// A float to an integer, toward 0.
    FloatToSigned,
}

/// A place in code that is jumped to from before it.
#[derive(Debug)]
pub struct ForwardJump(usize);

/// Code under construction.
pub struct Assembler {
    isa: Isa,
    bytes: Vec<u8>,
}

/// The opcode of an instruction: its map (1 `0F`, 2 `0F38`, 3 `0F3A`), its prefix (0 none, 1 `66`,
/// 2 `F3`, 3 `F2`), and its byte.
type Opcode = (u8, u8, u8);

/// The sizes of a vector instruction that a VEX prefix states: the bit W, and whether the vector
/// has 256 bits, not 128.
type VexSizes = (bool, bool);

/// The second source of an instruction.
#[derive(Clone, Copy)]
enum Source {
    Register(u8),
    /// A word of the block of arguments.
    Word(usize),
    /// The vector with this number below the block of arguments.
    Spilled(usize),
    /// The memory at a pointer plus as many slots as the counter says, each of so many bytes, plus
    /// a number of slots.
    At(Pointer, u8, u8),
    /// The memory at [`SCRATCH_REGISTER`] plus a number of bytes.
    Scratch(u8),
    /// The memory at [`SCRATCH_ADDRESS`] plus a number of bytes.
    Strided(i32),
}

impl Assembler {
    /// No code yet.
    pub fn new(isa: Isa) -> Assembler {
        Assembler { isa, bytes: Vec::new() }
    }

    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// An instruction on whole vectors that both instruction sets have: `reg` and `other` are its
    /// first and second operand.
    fn vector(&mut self, opcode: Opcode, w: bool, operands: (u8, u8, Source)) {
        match self.isa {
            Isa::Avx512 => self.evex(opcode, w, operands, (None, false)),
            Isa::Avx2 => self.vex(opcode, (w, true), operands),
        }
    }

    /// An instruction of AVX-512: `mask` chooses lanes, the others are 0 if `zero`.
    fn evex(&mut self, opcode: Opcode, w: bool, operands: (u8, u8, Source), masked: (Option<Mask>, bool)) {
        self.evex_of(2, opcode, w, operands, masked);
    }

    /// The same for vectors of 128 bits if `length` is 0, of 256 if it is 1, of 512 if it is 2.
    fn evex_of(
        &mut self,
        length: u8,
        (map, prefix, opcode): Opcode,
        w: bool,
        (reg, other, source): (u8, u8, Source),
        (mask, zero): (Option<Mask>, bool),
    ) {
        let ((b, x), low) = self.source_bits(source);
        let inverted = |bit: u8, at: u8| (!bit & 1) << at;
        let first = inverted(reg >> 3, 7) | inverted(x, 6) | inverted(b, 5) | inverted(reg >> 4, 4) | map;
        let second = u8::from(w) << 7 | (!other & 15) << 3 | 4 | prefix;
        let zero = zero && mask.is_some();
        let third =
            u8::from(zero) << 7 | length << 5 | inverted(other >> 4, 3) | mask.map_or(0, |mask| mask.0);
        self.bytes.extend([0x62, first, second, third, opcode]);
        self.operand(reg & 7, low, source);
    }

    /// An instruction of AVX or AVX2.
    fn vex(
        &mut self,
        (map, prefix, opcode): Opcode,
        (w, is_256): VexSizes,
        (reg, other, source): (u8, u8, Source),
    ) {
        let ((b, _), low) = self.source_bits(source);
        let inverted = |bit: u8, at: u8| (!bit & 1) << at;
        let first = inverted(reg >> 3, 7) | 1 << 6 | inverted(b, 5) | map;
        let second = u8::from(w) << 7 | (!other & 15) << 3 | u8::from(is_256) << 2 | prefix;
        self.bytes.extend([0xc4, first, second, opcode]);
        self.operand(reg & 7, low, source);
    }

    /// The high bits of a second source, which go into a prefix, and the low ones.
    fn source_bits(&self, source: Source) -> ((u8, u8), u8) {
        match source {
            Source::Register(r) => ((r >> 3 & 1, r >> 4 & 1), r & 7),
            Source::Word(_) | Source::Spilled(_) => ((0, 0), ARGUMENT_REGISTER),
            Source::At(Pointer(p), ..) => ((p >> 3, 0), 4),
            Source::Scratch(_) => ((SCRATCH_REGISTER >> 3, 0), SCRATCH_REGISTER & 7),
            Source::Strided(_) => ((SCRATCH_ADDRESS >> 3, 0), SCRATCH_ADDRESS & 7),
        }
    }

    /// The byte that names operands, and what follows it.
    fn operand(&mut self, reg: u8, low: u8, source: Source) {
        match source {
            Source::Register(_) => self.bytes.push(3 << 6 | reg << 3 | low),
            Source::Word(word) => {
                self.bytes.push(2 << 6 | reg << 3 | low);
                self.bytes.extend((8 * word as i32).to_le_bytes());
            }
            Source::Spilled(number) => {
                let below = self.isa.vector_bytes() as i32 * (number as i32 + 1);
                self.bytes.push(2 << 6 | reg << 3 | low);
                self.bytes.extend((-below).to_le_bytes());
            }
            // With a byte of displacement, since there is no form without one for all registers.
            Source::At(Pointer(p), width, slots) => {
                let scale = width.trailing_zeros() as u8;
                let index = scale << 6 | COUNTER_REGISTER << 3 | p & 7;
                self.bytes.extend([1 << 6 | reg << 3 | low, index, slots * width]);
            }
            Source::Scratch(bytes) => self.bytes.extend([1 << 6 | reg << 3 | low, bytes]),
            Source::Strided(bytes) => {
                self.bytes.push(2 << 6 | reg << 3 | low);
                self.bytes.extend(bytes.to_le_bytes());
            }
        }
    }

    /// Lanes from memory; with a mask, zeros elsewhere.
    pub fn load(&mut self, lane: Lane, to: Vector, from: Pointer, mask: Option<Mask>) {
        self.access(false, lane, to, from, mask);
    }

    /// Lanes to memory; with a mask, only those.
    pub fn store(&mut self, lane: Lane, to: Pointer, from: Vector, mask: Option<Mask>) {
        self.access(true, lane, from, to, mask);
    }

    fn access(&mut self, store: bool, lane: Lane, vector: Vector, at: Pointer, mask: Option<Mask>) {
        let (store, long, place) = (u8::from(store), lane.is_long(), Source::At(at, lane.bytes(), 0));
        let opcode = (1, u8::from(long), 0x10 + store);
        match (self.isa, mask) {
            (Isa::Avx2, Some(mask)) => {
                let opcode = (2, 1, 0x2c + 2 * store + u8::from(long));
                self.vex(opcode, (false, true), (vector.0, mask.0, place));
            }
            (Isa::Avx2, None) => self.vex(opcode, (false, true), (vector.0, 0, place)),
            (Isa::Avx512, _) => self.evex(opcode, long, (vector.0, 0, place), (mask, store == 0)),
        }
    }

    /// Lanes of 8 bytes from slots of 1, 2 or 4, whose bits above are 0; with a mask, zeros
    /// elsewhere. The mask of AVX2 has its first lanes set.
    pub fn load_narrow(&mut self, width: u8, to: Vector, from: Pointer, mask: Option<Mask>) {
        let (opcode, source) = ((2, 1, narrow_opcode(width)), Source::At(from, width, 0));
        match (self.isa, mask) {
            (Isa::Avx512, _) => self.evex(opcode, false, (to.0, 0, source), (mask, true)),
            (Isa::Avx2, None) => self.vex(opcode, (false, true), (to.0, 0, source)),
            (Isa::Avx2, Some(mask)) => {
                let insert = match width {
                    1 => (3, 1, 0x20),
                    2 => (1, 1, 0xc4),
                    _ => (3, 1, 0x22),
                };
                self.zero(to);
                self.for_each_lane_of(mask, &mut |asm, lane| {
                    asm.vex(insert, (false, false), (to.0, to.0, Source::At(from, width, lane)));
                    asm.bytes.push(lane);
                });
                self.vex(opcode, (false, true), (to.0, 0, Source::Register(to.0)));
            }
        }
    }

    /// The low bits of lanes of 8 bytes to slots of 1, 2 or 4; with a mask, only those. The mask of
    /// AVX2 has its first lanes set.
    pub fn store_narrow(&mut self, width: u8, to: Pointer, from: Vector, mask: Option<Mask>) {
        let target = Source::At(to, width, 0);
        if self.isa == Isa::Avx512 {
            let opcode = (2, 2, narrow_opcode(width));
            return self.evex(opcode, false, (from.0, 0, target), (mask, false));
        }
        // The low halves of the lanes, as four lanes of 4 bytes.
        let (scratch, half) = (SCRATCH_VECTOR, (false, false));
        self.vex((3, 1, 0x39), (false, true), (from.0, 0, Source::Register(scratch)));
        self.bytes.push(1);
        self.vex((1, 0, 0xc6), half, (scratch, from.0, Source::Register(scratch)));
        self.bytes.push(0x88);
        if width < 4 {
            // Bits above are cut off, so that nothing is saturated.
            let bits = 32 - 8 * width;
            for shift in [6, 2] {
                self.vex((1, 1, 0x72), half, (shift, scratch, Source::Register(scratch)));
                self.bytes.push(bits);
            }
            self.vex((2, 1, 0x2b), half, (scratch, scratch, Source::Register(scratch)));
        }
        if width == 1 {
            self.vex((1, 1, 0x67), half, (scratch, scratch, Source::Register(scratch)));
        }
        let Some(mask) = mask else {
            let opcode = match width {
                1 => (1, 1, 0x7e),
                2 => (1, 1, 0xd6),
                _ => (1, 0, 0x11),
            };
            return self.vex(opcode, half, (scratch, 0, target));
        };
        let extract = match width {
            1 => 0x14,
            2 => 0x15,
            _ => 0x16,
        };
        self.for_each_lane_of(mask, &mut |asm, lane| {
            asm.vex((3, 1, extract), half, (scratch, 0, Source::At(to, width, lane)));
            asm.bytes.push(lane);
        });
    }

    /// An instruction on the lowest two lanes of 8 bytes.
    fn pair(&mut self, opcode: Opcode, operands: (u8, u8, Source)) {
        match self.isa {
            Isa::Avx512 => self.evex_of(0, opcode, true, operands, (None, false)),
            Isa::Avx2 => self.vex(opcode, (false, false), operands),
        }
    }

    /// Inserts the lowest two lanes of 8 bytes of a vector as those from `2 * place` on of another,
    /// or extracts such lanes (`of` is the vector that is read).
    fn move_pair(&mut self, insert: bool, place: u8, to: Vector, of: Vector) {
        let (reg, other, source) = if insert { (to, to, of) } else { (of, Vector(0), to) };
        let opcode = (3, 1, if insert { 0x18 } else { 0x19 });
        self.vector(opcode, self.isa == Isa::Avx512, (reg.0, other.0, Source::Register(source.0)));
        self.bytes.push(place);
    }

    /// The address of the first lane of a vector of slots that are `bytes` apart.
    fn strided(&mut self, Pointer(first): Pointer, bytes: i32) {
        // imul r10, rax, bytes; add r10, first
        self.bytes.extend([0x4c, 0x69, 3 << 6 | (SCRATCH_ADDRESS & 7) << 3 | COUNTER_REGISTER]);
        self.bytes.extend(bytes.to_le_bytes());
        let rex = 0x49 | first >> 3 << 2;
        self.bytes.extend([rex, 0x01, 3 << 6 | (first & 7) << 3 | SCRATCH_ADDRESS & 7]);
    }

    /// Lanes of 8 bytes from slots that are `bytes` apart, with another register; with a mask,
    /// zeros elsewhere. The mask has its first lanes set.
    pub fn load_strided(
        &mut self,
        to: Vector,
        (from, bytes): (Pointer, i32),
        other: Vector,
        mask: Option<Mask>,
    ) {
        self.strided(from, bytes);
        if mask.is_some() {
            self.zero(to);
        }
        self.for_each_lane(mask, &mut |asm, lane| {
            let into = if lane < 2 { to } else { other };
            let source = Source::Strided(i32::from(lane) * bytes);
            match lane % 2 {
                // vmovsd, vmovhpd
                0 => asm.pair((1, 3, 0x10), (into.0, 0, source)),
                _ => asm.pair((1, 1, 0x16), (into.0, into.0, source)),
            }
            // Of a mask, each lane may be the last.
            if lane >= 2 && (mask.is_some() || lane % 2 == 1) {
                asm.move_pair(true, lane / 2, to, other);
            }
        });
    }

    /// Lanes of 8 bytes to slots that are `bytes` apart, with another register; with a mask, only
    /// those. The mask has its first lanes set.
    pub fn store_strided(
        &mut self,
        (to, bytes): (Pointer, i32),
        from: Vector,
        other: Vector,
        mask: Option<Mask>,
    ) {
        self.strided(to, bytes);
        self.for_each_lane(mask, &mut |asm, lane| {
            if lane >= 2 && lane % 2 == 0 {
                asm.move_pair(false, lane / 2, other, from);
            }
            let source = if lane < 2 { from } else { other };
            let opcode = if lane % 2 == 0 { (1, 3, 0x11) } else { (1, 1, 0x17) };
            asm.pair(opcode, (source.0, 0, Source::Strided(i32::from(lane) * bytes)));
        });
    }

    /// Code for each lane of 8 bytes, or for each of a mask that has its first lanes set.
    fn for_each_lane(&mut self, mask: Option<Mask>, code: &mut dyn FnMut(&mut Assembler, u8)) {
        match mask {
            Some(mask) => self.for_each_lane_of(mask, code),
            None => (0..self.isa.vector_bytes() as u8 / 8).for_each(|lane| code(self, lane)),
        }
    }

    /// Code for each lane of 8 bytes of a mask that has its first lanes set.
    fn for_each_lane_of(&mut self, mask: Mask, code: &mut dyn FnMut(&mut Assembler, u8)) {
        match self.isa {
            // kmovw r11d, k
            Isa::Avx512 => {
                self.bytes.extend([0xc5, 0x78, 0x93, 3 << 6 | (SCRATCH_REGISTER & 7) << 3 | mask.0])
            }
            // vmovmskpd
            Isa::Avx2 => {
                self.vex((1, 1, 0x50), (false, true), (SCRATCH_REGISTER, 0, Source::Register(mask.0)));
            }
        }
        let mut ends = Vec::new();
        for lane in 0..self.isa.vector_bytes() as u8 / 8 {
            // test r11b, 1 << lane
            self.bytes.extend([0x41, 0xf6, 3 << 6 | SCRATCH_REGISTER & 7, 1 << lane]);
            ends.push(self.leave([0x0f, 0x84]));
            code(self, lane);
        }
        for end in ends {
            self.patch_jump(end);
        }
    }

    /// A vector to the memory below the block of arguments.
    pub fn spill(&mut self, number: usize, from: Vector) {
        self.vector((1, 1, 0x11), self.isa == Isa::Avx512, (from.0, 0, Source::Spilled(number)));
    }

    /// A vector from there.
    pub fn reload(&mut self, to: Vector, number: usize) {
        self.vector((1, 1, 0x10), self.isa == Isa::Avx512, (to.0, 0, Source::Spilled(number)));
    }

    /// All lanes from one word of the block of arguments.
    pub fn broadcast(&mut self, lane: Lane, to: Vector, word: usize) {
        let opcode = (2, 1, 0x18 + u8::from(lane.is_long()));
        let w = lane.is_long() && self.isa == Isa::Avx512;
        self.vector(opcode, w, (to.0, 0, Source::Word(word)));
    }

    /// 1 in the lanes of a mask, elsewhere 0. A word of the block of arguments holds 1.
    pub fn ones(&mut self, lane: Lane, to: Vector, mask: Mask, word: usize) {
        let long = lane.is_long();
        match self.isa {
            Isa::Avx512 => {
                let opcode = (2, 1, 0x18 + u8::from(long));
                self.evex(opcode, long, (to.0, 0, Source::Word(word)), (Some(mask), true));
            }
            Isa::Avx2 if long => self.shift(false, to, Vector(mask.0), 63),
            Isa::Avx2 => {
                self.vector((1, 1, 0x72), true, (2, to.0, Source::Register(mask.0)));
                self.bytes.push(31);
            }
        }
    }

    /// Lanes of 8 bytes shifted by a number of bits that is known.
    pub fn shift(&mut self, left: bool, to: Vector, from: Vector, bits: u8) {
        self.vector((1, 1, 0x73), true, (if left { 6 } else { 2 }, to.0, Source::Register(from.0)));
        self.bytes.push(bits);
    }

    /// Lanes of 8 bytes converted, by AVX-512.
    pub fn convert(&mut self, conversion: Conversion, to: Vector, from: Vector) {
        let opcode = match conversion {
            Conversion::SignedToFloat => (1, 2, 0xe6),
            Conversion::UnsignedToFloat => (1, 2, 0x7a),
            Conversion::FloatToSigned => (1, 1, 0x7a),
        };
        self.evex(opcode, true, (to.0, 0, Source::Register(from.0)), (None, false));
    }

    /// The low halves of lanes of 8 bytes from `low`, the high ones from `high`, by AVX2.
    pub fn join_halves(&mut self, to: Vector, low: Vector, high: Vector) {
        self.vex((3, 1, 0x02), (false, true), (to.0, high.0, Source::Register(low.0)));
        self.bytes.push(0x55);
    }

    /// A copy.
    pub fn copy(&mut self, to: Vector, from: Vector) {
        self.vector((1, 1, 0x28), self.isa == Isa::Avx512, (to.0, 0, Source::Register(from.0)));
    }

    /// All bits 0.
    fn zero(&mut self, to: Vector) {
        self.vector((1, 1, 0xef), self.isa == Isa::Avx512, (to.0, to.0, Source::Register(to.0)));
    }

    /// Sets the scratch vector of AVX2 to all bits 1.
    fn set_scratch(&mut self) {
        let scratch = SCRATCH_VECTOR;
        self.vex((1, 1, 0x76), (false, true), (scratch, scratch, Source::Register(scratch)));
    }

    /// Sets the scratch vector of AVX2 to the highest bit of each lane.
    fn set_scratch_to_signs(&mut self, long: bool) {
        self.set_scratch();
        let (scratch, byte) = (SCRATCH_VECTOR, 0x72 + u8::from(long));
        self.vex((1, 1, byte), (false, true), (6, scratch, Source::Register(scratch)));
        self.bytes.push(if long { 63 } else { 31 });
    }

    /// Returns true for an operation whose result must be in another register than its operands.
    pub fn needs_distinct_result(&self, op: Arithmetic, lane: Lane) -> bool {
        use Arithmetic::{Max, MaxUnsigned, Min, MinUnsigned, Mul};
        self.isa == Isa::Avx2
            && lane == Lane::I64
            && matches!(op, Mul | Min | Max | MinUnsigned | MaxUnsigned)
    }

    /// `to = a op b`; with a mask, which AVX2 does not take, other lanes stay as they are.
    pub fn arithmetic(
        &mut self,
        op: Arithmetic,
        lane: Lane,
        to: Vector,
        (a, b): (Vector, Vector),
        mask: Option<Mask>,
    ) {
        let float = |byte| (1, u8::from(lane.is_long()), byte);
        let opcode = match (op, lane) {
            (Arithmetic::Add, Lane::F64 | Lane::F32) => float(0x58),
            (Arithmetic::Sub, Lane::F64 | Lane::F32) => float(0x5c),
            (Arithmetic::Mul, Lane::F64 | Lane::F32) => float(0x59),
            (Arithmetic::Div, _) => float(0x5e),
            (Arithmetic::Min, Lane::F64 | Lane::F32) => float(0x5d),
            (Arithmetic::Max, Lane::F64 | Lane::F32) => float(0x5f),
            (Arithmetic::Mul, _) => (2, 1, 0x40),
            (Arithmetic::Min, _) => (2, 1, 0x39),
            (Arithmetic::Max, _) => (2, 1, 0x3d),
            (Arithmetic::MinUnsigned, _) => (2, 1, 0x3b),
            (Arithmetic::MaxUnsigned, _) => (2, 1, 0x3f),
            (Arithmetic::Shl, _) => (2, 1, 0x47),
            (Arithmetic::Shr, _) => (2, 1, 0x45),
            (Arithmetic::Add, Lane::I64) => (1, 1, 0xd4),
            (Arithmetic::Add, Lane::I32) => (1, 1, 0xfe),
            (Arithmetic::Sub, Lane::I64) => (1, 1, 0xfb),
            (Arithmetic::Sub, Lane::I32) => (1, 1, 0xfa),
            (Arithmetic::And, _) => (1, 1, 0xdb),
            (Arithmetic::Or, _) => (1, 1, 0xeb),
            (Arithmetic::Xor, _) => (1, 1, 0xef),
        };
        let operands = (to.0, a.0, Source::Register(b.0));
        if self.isa == Isa::Avx512 {
            return self.evex(opcode, lane.is_long(), operands, (mask, false));
        }
        assert!(mask.is_none(), "an instruction of AVX2 has no mask");
        match op {
            _ if !self.needs_distinct_result(op, lane) => self.vector(opcode, lane.is_long(), operands),
            Arithmetic::Mul => self.long_product(to, a, b),
            _ => {
                let unsigned = matches!(op, Arithmetic::MinUnsigned | Arithmetic::MaxUnsigned);
                let max = matches!(op, Arithmetic::Max | Arithmetic::MaxUnsigned);
                self.greater((Lane::I64, unsigned), to, (a, b));
                self.blend(Lane::I64, to, Mask(to.0), if max { (a, b) } else { (b, a) });
            }
        }
    }

    /// The products of the low halves of lanes of 8 bytes.
    pub fn half_product(&mut self, to: Vector, (a, b): (Vector, Vector)) {
        self.vector((1, 1, 0xf4), true, (to.0, a.0, Source::Register(b.0)));
    }

    /// The low halves of products of lanes of 8 bytes by AVX2, from products of their halves.
    fn long_product(&mut self, to: Vector, a: Vector, b: Vector) {
        let scratch = Vector(SCRATCH_VECTOR);
        let whole = (false, true);
        // The halves of b changed places: the two products of a low half and a high one.
        self.vex((1, 1, 0x70), whole, (scratch.0, 0, Source::Register(b.0)));
        self.bytes.push(0xb1);
        self.arithmetic(Arithmetic::Mul, Lane::I32, scratch, (scratch, a), None);
        self.shift(false, to, scratch, 32);
        self.arithmetic(Arithmetic::Add, Lane::I32, scratch, (scratch, to), None);
        self.shift(true, scratch, scratch, 32);
        self.half_product(to, (a, b));
        self.arithmetic(Arithmetic::Add, Lane::I64, to, (to, scratch), None);
    }

    /// The lanes of integers in which `a` is greater than `b`, by AVX2. Without sign, `to` is in
    /// another register than they.
    fn greater(&mut self, (lane, unsigned): (Lane, bool), to: Vector, (mut a, mut b): (Vector, Vector)) {
        if unsigned {
            let scratch = Vector(SCRATCH_VECTOR);
            self.set_scratch_to_signs(lane.is_long());
            self.arithmetic(Arithmetic::Xor, lane, to, (a, scratch), None);
            self.arithmetic(Arithmetic::Xor, lane, scratch, (b, scratch), None);
            (a, b) = (to, scratch);
        }
        let opcode = if lane.is_long() { (2, 1, 0x37) } else { (1, 1, 0x66) };
        self.vector(opcode, false, (to.0, a.0, Source::Register(b.0)));
    }

    /// The square root of floats.
    pub fn sqrt(&mut self, lane: Lane, to: Vector, a: Vector) {
        self.vector((1, u8::from(lane.is_long()), 0x51), lane.is_long(), (to.0, 0, Source::Register(a.0)));
    }

    /// A whole float: `mode` 1 not above, 2 not below, 3 toward 0.
    pub fn round(&mut self, lane: Lane, to: Vector, a: Vector, mode: u8) {
        let opcode = (3, 1, 0x08 + u8::from(lane.is_long()));
        self.vector(opcode, lane.is_long(), (to.0, 0, Source::Register(a.0)));
        // Without an exception for what is cut off.
        self.bytes.push(8 | mode);
    }

    /// `to = !a`, bit by bit.
    pub fn not(&mut self, to: Vector, a: Vector) {
        match self.isa {
            Isa::Avx512 => {
                self.vector((3, 1, 0x25), true, (to.0, a.0, Source::Register(a.0)));
                self.bytes.push(0x55);
            }
            Isa::Avx2 => {
                self.set_scratch();
                self.arithmetic(Arithmetic::Xor, Lane::I64, to, (a, Vector(SCRATCH_VECTOR)), None);
            }
        }
    }

    /// `to = a * b + to` of floats, rounded once; with a mask, which AVX2 does not take, other
    /// lanes stay as they are.
    pub fn fused_multiply_add(
        &mut self,
        lane: Lane,
        to: Vector,
        (a, b): (Vector, Vector),
        mask: Option<Mask>,
    ) {
        let operands = (to.0, a.0, Source::Register(b.0));
        match self.isa {
            Isa::Avx512 => self.evex((2, 1, 0xb8), lane.is_long(), operands, (mask, false)),
            Isa::Avx2 => {
                assert!(mask.is_none(), "an instruction of AVX2 has no mask");
                self.vector((2, 1, 0xb8), lane.is_long(), operands);
            }
        }
    }

    /// A comparison by its predicate: of floats, of integers with sign, or without. The result of
    /// AVX2 without sign is in another register than the operands.
    pub fn compare(
        &mut self,
        (lane, unsigned): (Lane, bool),
        to: Mask,
        (a, b): (Vector, Vector),
        predicate: u8,
    ) {
        let is_float = matches!(lane, Lane::F64 | Lane::F32);
        if self.isa == Isa::Avx2 && !is_float {
            return self.compare_integers((lane, unsigned), Vector(to.0), (a, b), predicate);
        }
        let opcode = match is_float {
            true => (1, u8::from(lane.is_long()), 0xc2),
            false if unsigned => (3, 1, 0x1e),
            false => (3, 1, 0x1f),
        };
        self.vector(opcode, lane.is_long(), (to.0, a.0, Source::Register(b.0)));
        self.bytes.push(predicate);
    }

    /// A comparison of integers by AVX2, which compares for equal and greater.
    fn compare_integers(
        &mut self,
        (lane, unsigned): (Lane, bool),
        to: Vector,
        (a, b): (Vector, Vector),
        predicate: u8,
    ) {
        match predicate & 3 {
            EQUAL => {
                let opcode = if lane.is_long() { (2, 1, 0x29) } else { (1, 1, 0x76) };
                self.vector(opcode, false, (to.0, a.0, Source::Register(b.0)));
            }
            LESS => self.greater((lane, unsigned), to, (b, a)),
            _ => self.greater((lane, unsigned), to, (a, b)),
        }
        if matches!(predicate, NOT_EQUAL | NOT_GREATER) {
            self.not(to, to);
        }
    }

    /// The lanes of integers that are not 0.
    pub fn test(&mut self, lane: Lane, to: Mask, a: Vector) {
        match self.isa {
            Isa::Avx512 => self.vector((2, 1, 0x27), lane.is_long(), (to.0, a.0, Source::Register(a.0))),
            Isa::Avx2 => {
                self.zero(Vector(SCRATCH_VECTOR));
                self.compare_integers((lane, false), Vector(to.0), (a, Vector(SCRATCH_VECTOR)), NOT_EQUAL);
            }
        }
    }

    /// `a` where the mask is set, elsewhere `b`.
    pub fn blend(&mut self, lane: Lane, to: Vector, mask: Mask, (a, b): (Vector, Vector)) {
        let operands = (to.0, b.0, Source::Register(a.0));
        match self.isa {
            Isa::Avx512 => self.evex((2, 1, 0x65), lane.is_long(), operands, (Some(mask), false)),
            Isa::Avx2 => {
                self.vex((3, 1, 0x4a + u8::from(lane.is_long())), (false, true), operands);
                self.bytes.push(mask.0 << 4);
            }
        }
    }

    /// An instruction on mask registers.
    fn masks(&mut self, opcode: u8, long: bool, (to, a, b): (u8, u8, u8)) {
        let second = 1 << 7 | (!a & 15) << 3 | u8::from(long) << 2;
        self.bytes.extend([0xc5, second, opcode, 3 << 6 | to << 3 | b]);
    }

    /// Emits the bitwise AND of two masks.
    pub fn mask_and(&mut self, to: Mask, a: Mask, b: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks(0x41, true, (to.0, a.0, b.0)),
            Isa::Avx2 => self.vector((1, 1, 0xdb), false, (to.0, a.0, Source::Register(b.0))),
        }
    }

    /// Emits the bitwise OR of two masks.
    pub fn mask_or(&mut self, to: Mask, a: Mask, b: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks(0x45, true, (to.0, a.0, b.0)),
            Isa::Avx2 => self.vector((1, 1, 0xeb), false, (to.0, a.0, Source::Register(b.0))),
        }
    }

    /// Emits the complement of a mask.
    pub fn mask_not(&mut self, to: Mask, a: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks(0x44, false, (to.0, 0, a.0)),
            Isa::Avx2 => self.not(Vector(to.0), Vector(a.0)),
        }
    }

    /// A mask of AVX-512 from the low bits of a word of arguments.
    pub fn mask(&mut self, to: Mask, word: usize) {
        self.bytes.extend([0xc5, 0xf8, 0x90]);
        self.operand(to.0, ARGUMENT_REGISTER, Source::Word(word));
    }

    /// A mask of AVX2: the vector with the number `part` at an address that is a word of arguments.
    pub fn mask_at(&mut self, to: Mask, word: usize, part: usize) {
        self.pointer(Pointer(SCRATCH_REGISTER), word);
        let offset = (part * self.isa.vector_bytes()) as u8;
        self.vex((1, 1, 0x10), (false, true), (to.0, 0, Source::Scratch(offset)));
    }

    /// Emits a forward jump, taken if a mask of AVX2 has no lane.
    pub fn jump_if_none(&mut self, mask: Mask) -> ForwardJump {
        self.vex((2, 1, 0x17), (false, true), (mask.0, 0, Source::Register(mask.0)));
        self.leave([0x0f, 0x84])
    }

    /// An address from the block of arguments.
    pub fn pointer(&mut self, to: Pointer, word: usize) {
        self.bytes.extend([0x48 | to.0 >> 3 << 2, 0x8b]);
        self.operand(to.0 & 7, ARGUMENT_REGISTER, Source::Word(word));
    }

    /// Pushes a callee-saved register.
    pub fn push(&mut self, Pointer(p): Pointer) {
        self.bytes.extend([0x40 | p >> 3, 0x50 | p & 7]);
    }

    /// Pops a callee-saved register.
    pub fn pop(&mut self, Pointer(p): Pointer) {
        self.bytes.extend([0x40 | p >> 3, 0x58 | p & 7]);
    }

    /// Sets the counter to 0.
    pub fn zero_counter(&mut self) {
        self.bytes.extend([0x31, 0xc0]);
    }

    /// Adds the lanes of a vector to the counter.
    pub fn advance_counter(&mut self, lanes: u8) {
        self.bytes.extend([0x48, 0x83, 0xc0, lanes]);
    }

    /// Compares the counter with a word of arguments.
    fn compare_counter(&mut self, word: usize) {
        self.bytes.extend([0x48, 0x3b]);
        self.operand(COUNTER_REGISTER, ARGUMENT_REGISTER, Source::Word(word));
    }

    /// Returns the offset of the next instruction.
    pub fn offset(&self) -> usize {
        self.bytes.len()
    }

    /// Emits a backward jump to offset `to`, taken while the counter is below argument word `word`.
    pub fn jump_back_if_below(&mut self, word: usize, to: usize) {
        self.compare_counter(word);
        self.bytes.extend([0x0f, 0x82]);
        let end = self.bytes.len() + 4;
        self.bytes.extend((to as i32 - end as i32).to_le_bytes());
    }

    /// Emits a forward jump, taken unless the counter is below argument word `word`.
    pub fn jump_unless_below(&mut self, word: usize) -> ForwardJump {
        self.compare_counter(word);
        self.leave([0x0f, 0x83])
    }

    /// Emits a forward jump, taken if argument word `word` is 0.
    pub fn jump_if_zero(&mut self, word: usize) -> ForwardJump {
        self.bytes.extend([0x48, 0x81]);
        self.operand(7, ARGUMENT_REGISTER, Source::Word(word));
        self.bytes.extend([0; 4]);
        self.leave([0x0f, 0x84])
    }

    fn leave(&mut self, jump: [u8; 2]) -> ForwardJump {
        self.bytes.extend(jump);
        self.bytes.extend([0; 4]);
        ForwardJump(self.bytes.len())
    }

    /// Patches a forward jump to lead here.
    pub fn patch_jump(&mut self, ForwardJump(from): ForwardJump) {
        let distance = (self.bytes.len() - from) as i32;
        self.bytes[from - 4..from].copy_from_slice(&distance.to_le_bytes());
    }

    /// Emits `vzeroupper`: the caller may use narrower vectors.
    pub fn vzeroupper(&mut self) {
        self.bytes.extend([0xc5, 0xf8, 0x77]);
    }

    /// Emits `ret`.
    pub fn ret(&mut self) {
        self.bytes.push(0xc3);
    }
}

/// The machine's numbers of comparisons of integers.
const EQUAL: u8 = 0;
const LESS: u8 = 1;
const NOT_GREATER: u8 = 2;
const NOT_EQUAL: u8 = 4;

/// The byte of the instructions that move between lanes of 8 bytes and slots of `width` bytes.
fn narrow_opcode(width: u8) -> u8 {
    match width {
        1 => 0x32,
        2 => 0x34,
        4 => 0x35,
        _ => unreachable!("slots that are narrower than 8 bytes have 1, 2 or 4"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each instruction with its bytes, which `objdump -D -b binary -mi386:x86-64 -Mintel` reads as
    /// what is written before them.
    #[test]
    fn instructions_are_the_bytes_that_the_manual_says() {
        let cases: Vec<(&str, Vec<u8>)> =
            cases().into_iter().map(|(text, asm)| (text, asm.finish())).collect();
        let made: Vec<String> =
            cases.iter().map(|(text, bytes)| format!("{text:48}{}", hex(bytes))).collect();
        let known: Vec<&str> = KNOWN.lines().map(str::trim_end).collect();
        assert_eq!(made, known);
    }

    /// The sequences of instructions, those of AVX2 first, read back by the same command.
    #[test]
    fn sequences_are_the_bytes_that_the_manual_says() {
        let mut made = String::new();
        for (title, asm) in sequences() {
            made += &format!("{title}: {}\n", hex(&asm.finish()));
        }
        let known: String = KNOWN_SEQUENCES
            .lines()
            .filter(|line| !line.starts_with(' '))
            .fold(String::new(), |text, line| text + line + "\n");
        assert_eq!(made, known);
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ")
    }

    const KNOWN: &str = "\
vmovupd zmm3, [rsi + 8*rax]                     62 f1 fd 48 10 5c c6 00
vmovups zmm29 {k1} {z}, [r13 + 4*rax]           62 41 7c c9 10 6c 85 00
vmovupd [r14 + 8*rax] {k1}, zmm12               62 51 fd 49 11 64 c6 00
vmovups [rsi + 4*rax], zmm29                    62 61 7c 48 11 6c 86 00
vpmovzxbq zmm29 {k1} {z}, [r13 + rax]           62 42 7d c9 32 6c 05 00
vpmovzxdq zmm3, [rsi + 4*rax]                   62 f2 7d 48 35 5c 86 00
vpmovqw [rsi + 2*rax], zmm29                    62 62 7e 48 34 6c 46 00
vpmovqd [r14 + 4*rax] {k1}, zmm12               62 52 7e 49 35 64 86 00
vbroadcastsd zmm29, qword ptr [rdi + 24]        62 62 fd 48 19 af 18 00 00 00
vbroadcastss zmm3, dword ptr [rdi + 800]        62 f2 7d 48 18 9f 20 03 00 00
vmovupd [rdi - 128], zmm29                      62 61 fd 48 11 af 80 ff ff ff
vmovupd zmm12, [rdi - 64]                       62 71 fd 48 10 a7 c0 ff ff ff
vmovapd zmm12, zmm29                            62 11 fd 48 28 e5
vaddpd zmm29, zmm12, zmm3                       62 61 9d 48 58 eb
vsubps zmm3, zmm29, zmm12                       62 d1 14 40 5c dc
vmulpd zmm3 {k1}, zmm3, zmm29                   62 91 e5 49 59 dd
vdivps zmm3, zmm12, zmm12                       62 d1 1c 48 5e dc
vminpd zmm3, zmm12, zmm29                       62 91 9d 48 5d dd
vmaxps zmm29, zmm3, zmm12                       62 41 64 48 5f ec
vpaddq zmm29, zmm29, zmm3                       62 61 95 40 d4 eb
vpaddd zmm29, zmm29, zmm3                       62 61 15 40 fe eb
vpsubq zmm3, zmm12, zmm29                       62 91 9d 48 fb dd
vpsubd zmm3, zmm12, zmm29                       62 91 1d 48 fa dd
vpandq zmm3, zmm12, zmm29                       62 91 9d 48 db dd
vpord zmm3, zmm12, zmm29                        62 91 1d 48 eb dd
vpxorq zmm3, zmm12, zmm29                       62 91 9d 48 ef dd
vsqrtpd zmm3, zmm29                             62 91 fd 48 51 dd
vsqrtps zmm29, zmm12                            62 41 7c 48 51 ec
vrndscalepd zmm3, zmm29, 9                      62 93 fd 48 09 dd 09
vrndscaleps zmm12, zmm3, 11                     62 73 7d 48 08 e3 0b
vpternlogq zmm3, zmm29, zmm29, 85               62 93 95 40 25 dd 55
vfmadd231pd zmm29 {k1}, zmm12, zmm3             62 62 9d 49 b8 eb
vcmppd k3, zmm12, zmm29, 17                     62 91 9d 48 c2 dd 11
vcmpps k7, zmm29, zmm3, 4                       62 f1 14 40 c2 fb 04
vblendmpd zmm3 {k2}, zmm29, zmm12               62 d2 95 42 65 dc
vblendmps zmm3 {k7}, zmm29, zmm12               62 d2 15 47 65 dc
vpmullq zmm29, zmm12, zmm3                      62 62 9d 48 40 eb
vpmulld zmm3, zmm12, zmm29                      62 92 1d 48 40 dd
vpmuludq zmm3, zmm12, zmm29                     62 91 9d 48 f4 dd
vpsrlq zmm3, zmm29, 32                          62 91 e5 48 73 d5 20
vpsllq zmm29, zmm12, 7                          62 d1 95 40 73 f4 07
vpminsq zmm3 {k1}, zmm3, zmm29                  62 92 e5 49 39 dd
vpmaxsd zmm3, zmm12, zmm29                      62 92 1d 48 3d dd
vpminuq zmm3, zmm12, zmm29                      62 92 9d 48 3b dd
vpmaxuq zmm3, zmm12, zmm29                      62 92 9d 48 3f dd
vpsllvq zmm3, zmm12, zmm29                      62 92 9d 48 47 dd
vpsrlvd zmm3, zmm12, zmm29                      62 92 1d 48 45 dd
vbroadcastsd zmm29 {k3} {z}, [rdi + 24]         62 62 fd cb 19 af 18 00 00 00
vbroadcastss zmm29 {k3} {z}, [rdi + 24]         62 62 7d cb 18 af 18 00 00 00
vcvtqq2pd zmm29, zmm3                           62 61 fe 48 e6 eb
vcvtuqq2pd zmm3, zmm12                          62 d1 fe 48 7a dc
vcvttpd2qq zmm3, zmm29                          62 91 fd 48 7a dd
vpcmpq k3, zmm12, zmm29, 1                      62 93 9d 48 1f dd 01
vpcmpud k7, zmm29, zmm3, 2                      62 f3 15 40 1e fb 02
vptestmq k3, zmm29, zmm29                       62 92 95 40 27 dd
kandw k2, k3, k4                                c5 e4 41 d4
korw k7, k2, k6                                 c5 ec 45 fe
knotw k5, k2                                    c5 f8 44 ea
kmovw k1, word ptr [rdi + 8]                    c5 f8 90 8f 08 00 00 00
mov r13, [rdi + 40]                             4c 8b af 28 00 00 00
push r14                                        41 56
pop r14                                         41 5e
xor eax, eax                                    31 c0
add rax, 16                                     48 83 c0 10
cmp rax, [rdi]; jb -13                          48 3b 87 00 00 00 00 0f 82 f3 ff ff ff
cmp rax, [rdi + 8]; jae 1; ret                  48 3b 87 08 00 00 00 0f 83 01 00 00 00 c3
cmp qword ptr [rdi + 8], 0; je 3; vzeroupper    48 81 bf 08 00 00 00 00 00 00 00 0f 84 03 00 00 00 c5 f8 77";

    const KNOWN_SEQUENCES: &str = "\
load: c4 41 7d 10 64 c5 00
    vmovupd ymm12,YMMWORD PTR [r13+rax*8+0x0]
load of lanes: c4 62 35 2c 64 86 00
    vmaskmovps ymm12,ymm9,YMMWORD PTR [rsi+rax*4+0x0]
store: c4 e1 7c 11 5c 86 00
    vmovups YMMWORD PTR [rsi+rax*4+0x0],ymm3
store of lanes: c4 42 35 2f 64 c5 00
    vmaskmovpd YMMWORD PTR [r13+rax*8+0x0],ymm9,ymm12
load narrow: c4 42 7d 34 64 45 00
    vpmovzxwq ymm12,QWORD PTR [r13+rax*2+0x0]
load narrow of lanes: c4 41 1d ef e4 c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 43 19 20 64 05 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 43 19 20 64 05 01 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 43 19 20 64 05 02 02 41 f6 c3 08 0f 84 08 00 00 00 c4 43 19 20 64 05 03 03 c4 42 7d 32 e4
    vpxor ymm12,ymm12,ymm12; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x1],0x1; test r11b,0x4; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x2],0x2; test r11b,0x8; je 0x52;
    vpinsrb xmm12,xmm12,BYTE PTR [r13+rax*1+0x3],0x3; vpmovzxbq ymm12,xmm12
load 2 narrow of lanes: c4 e1 65 ef db c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 e1 61 c4 5c 46 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 e1 61 c4 5c 46 02 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 e1 61 c4 5c 46 04 02 41 f6 c3 08 0f 84 08 00 00 00 c4 e1 61 c4 5c 46 06 03 c4 e2 7d 34 db
    vpxor ymm3,ymm3,ymm3; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x2],0x1; test r11b,0x4; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x4],0x2; test r11b,0x8; je 0x52;
    vpinsrw xmm3,xmm3,WORD PTR [rsi+rax*2+0x6],0x3; vpmovzxwq ymm3,xmm3
load 4 narrow of lanes: c4 e1 65 ef db c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 e3 61 22 5c 86 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 e3 61 22 5c 86 04 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 e3 61 22 5c 86 08 02 41 f6 c3 08 0f 84 08 00 00 00 c4 e3 61 22 5c 86 0c 03 c4 e2 7d 35 db
    vpxor ymm3,ymm3,ymm3; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x0],0x0; test r11b,0x2; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x4],0x1; test r11b,0x4; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0x8],0x2; test r11b,0x8; je 0x52;
    vpinsrd xmm3,xmm3,DWORD PTR [rsi+rax*4+0xc],0x3; vpmovzxdq ymm3,xmm3
store 4: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 41 78 11 7c 85 00
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88;
    vmovups XMMWORD PTR [r13+rax*4+0x0],xmm15
store 2: c4 c3 7d 39 df 01 c4 41 60 c6 ff 88 c4 c1 01 72 f7 10 c4 c1 01 72 d7 10 c4 42 01 2b ff c4 61 79 d6 7c 46 00
    vextracti128 xmm15,ymm3,0x1; vshufps xmm15,xmm3,xmm15,0x88; vpslld xmm15,xmm15,0x10;
    vpsrld xmm15,xmm15,0x10; vpackusdw xmm15,xmm15,xmm15; vmovq QWORD PTR [rsi+rax*2+0x0],xmm15
store 1: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 c1 01 72 f7 18 c4 c1 01 72 d7 18 c4 42 01 2b ff c4 41 01 67 ff c4 41 79 7e 7c 05 00
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88; vpslld xmm15,xmm15,0x18;
    vpsrld xmm15,xmm15,0x18; vpackusdw xmm15,xmm15,xmm15; vpackuswb xmm15,xmm15,xmm15;
    vmovd DWORD PTR [r13+rax*1+0x0],xmm15
store 4 of lanes: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 43 79 16 7c 85 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 43 79 16 7c 85 04 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 43 79 16 7c 85 08 02 41 f6 c3 08 0f 84 08 00 00 00 c4 43 79 16 7c 85 0c 03
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88; vmovmskpd r11d,ymm9;
    test r11b,0x1; je 0x59; vpextrd DWORD PTR [r13+rax*4+0x0],xmm15,0x0; test r11b,0x2; je 0x59;
    vpextrd DWORD PTR [r13+rax*4+0x4],xmm15,0x1; test r11b,0x4; je 0x59;
    vpextrd DWORD PTR [r13+rax*4+0x8],xmm15,0x2; test r11b,0x8; je 0x59;
    vpextrd DWORD PTR [r13+rax*4+0xc],xmm15,0x3
store 1 of lanes: c4 43 7d 39 e7 01 c4 41 18 c6 ff 88 c4 c1 01 72 f7 18 c4 c1 01 72 d7 18 c4 42 01 2b ff c4 41 01 67 ff c4 41 7d 50 d9 41 f6 c3 01 0f 84 3e 00 00 00 c4 63 79 14 7c 06 00 00 41 f6 c3 02 0f 84 2c 00 00 00 c4 63 79 14 7c 06 01 01 41 f6 c3 04 0f 84 1a 00 00 00 c4 63 79 14 7c 06 02 02 41 f6 c3 08 0f 84 08 00 00 00 c4 63 79 14 7c 06 03 03
    vextracti128 xmm15,ymm12,0x1; vshufps xmm15,xmm12,xmm15,0x88; vpslld xmm15,xmm15,0x18;
    vpsrld xmm15,xmm15,0x18; vpackusdw xmm15,xmm15,xmm15; vpackuswb xmm15,xmm15,xmm15;
    vmovmskpd r11d,ymm9; test r11b,0x1; je 0x6f; vpextrb BYTE PTR [rsi+rax*1+0x0],xmm15,0x0;
    test r11b,0x2; je 0x6f; vpextrb BYTE PTR [rsi+rax*1+0x1],xmm15,0x1; test r11b,0x4; je 0x6f;
    vpextrb BYTE PTR [rsi+rax*1+0x2],xmm15,0x2; test r11b,0x8; je 0x6f;
    vpextrb BYTE PTR [rsi+rax*1+0x3],xmm15,0x3
load strided: 4c 69 d0 18 00 00 00 4d 01 ea c4 41 7b 10 a2 00 00 00 00 c4 41 19 16 a2 18 00 00 00 c4 c1 7b 10 9a 30 00 00 00 c4 c1 61 16 9a 48 00 00 00 c4 63 1d 18 e3 01
    imul r10,rax,0x18; add r10,r13; vmovsd xmm12,QWORD PTR [r10+0x0];
    vmovhpd xmm12,xmm12,QWORD PTR [r10+0x18]; vmovsd xmm3,QWORD PTR [r10+0x30];
    vmovhpd xmm3,xmm3,QWORD PTR [r10+0x48]; vinsertf128 ymm12,ymm12,xmm3,0x1
load strided of lanes: 4c 69 d0 f8 ff ff ff 49 01 f2 c4 41 1d ef e4 c4 41 7d 50 d9 41 f6 c3 01 0f 84 4e 00 00 00 c4 41 7b 10 a2 00 00 00 00 41 f6 c3 02 0f 84 3b 00 00 00 c4 41 19 16 a2 f8 ff ff ff 41 f6 c3 04 0f 84 28 00 00 00 c4 c1 7b 10 9a f0 ff ff ff c4 63 1d 18 e3 01 41 f6 c3 08 0f 84 0f 00 00 00 c4 c1 61 16 9a e8 ff ff ff c4 63 1d 18 e3 01
    imul r10,rax,0xfffffffffffffff8; add r10,rsi; vpxor ymm12,ymm12,ymm12; vmovmskpd r11d,ymm9;
    test r11b,0x1; je 0x6c; vmovsd xmm12,QWORD PTR [r10+0x0]; test r11b,0x2; je 0x6c;
    vmovhpd xmm12,xmm12,QWORD PTR [r10-0x8]; test r11b,0x4; je 0x6c;
    vmovsd xmm3,QWORD PTR [r10-0x10]; vinsertf128 ymm12,ymm12,xmm3,0x1; test r11b,0x8; je 0x6c;
    vmovhpd xmm3,xmm3,QWORD PTR [r10-0x18]; vinsertf128 ymm12,ymm12,xmm3,0x1
store strided: 4c 69 d0 10 00 00 00 4d 01 ea c4 41 7b 11 a2 00 00 00 00 c4 41 79 17 a2 10 00 00 00 c4 63 7d 19 e3 01 c4 c1 7b 11 9a 20 00 00 00 c4 c1 79 17 9a 30 00 00 00
    imul r10,rax,0x10; add r10,r13; vmovsd QWORD PTR [r10+0x0],xmm12;
    vmovhpd QWORD PTR [r10+0x10],xmm12; vextractf128 xmm3,ymm12,0x1;
    vmovsd QWORD PTR [r10+0x20],xmm3; vmovhpd QWORD PTR [r10+0x30],xmm3
store strided of lanes: 4c 69 d0 10 00 00 00 49 01 f2 c4 41 7d 50 d9 41 f6 c3 01 0f 84 48 00 00 00 c4 41 7b 11 a2 00 00 00 00 41 f6 c3 02 0f 84 35 00 00 00 c4 41 79 17 a2 10 00 00 00 41 f6 c3 04 0f 84 22 00 00 00 c4 63 7d 19 e3 01 c4 c1 7b 11 9a 20 00 00 00 41 f6 c3 08 0f 84 09 00 00 00 c4 c1 79 17 9a 30 00 00 00
    imul r10,rax,0x10; add r10,rsi; vmovmskpd r11d,ymm9; test r11b,0x1; je 0x61;
    vmovsd QWORD PTR [r10+0x0],xmm12; test r11b,0x2; je 0x61; vmovhpd QWORD PTR [r10+0x10],xmm12;
    test r11b,0x4; je 0x61; vextractf128 xmm3,ymm12,0x1; vmovsd QWORD PTR [r10+0x20],xmm3;
    test r11b,0x8; je 0x61; vmovhpd QWORD PTR [r10+0x30],xmm3
spill and reload: c4 61 7d 11 a7 c0 ff ff ff c4 e1 7d 10 9f e0 ff ff ff
    vmovupd YMMWORD PTR [rdi-0x40],ymm12; vmovupd ymm3,YMMWORD PTR [rdi-0x20]
broadcast: c4 62 7d 19 a7 18 00 00 00 c4 e2 7d 18 9f 20 00 00 00
    vbroadcastsd ymm12,QWORD PTR [rdi+0x18]; vbroadcastss ymm3,DWORD PTR [rdi+0x20]
ones: c4 c1 9d 73 d1 3f
    vpsrlq ymm12,ymm9,0x3f
ones of 32 bits: c4 c1 9d 72 d1 1f
    vpsrld ymm12,ymm9,0x1f
halves: c4 c3 4d 02 dc 55
    vpblendd ymm3,ymm6,ymm12,0x55
copy: c4 61 7d 28 e3
    vmovapd ymm12,ymm3
arithmetic: c4 61 e5 58 e6 c4 e1 1c 5d de c4 c1 9d fb dc c4 42 65 40 e4 c4 42 65 3f e4 c4 e2 9d 47 de c4 c2 4d 45 dc
    vaddpd ymm12,ymm3,ymm6; vminps ymm3,ymm12,ymm6; vpsubq ymm3,ymm12,ymm12;
    vpmulld ymm12,ymm3,ymm12; vpmaxud ymm12,ymm3,ymm12; vpsllvq ymm3,ymm12,ymm6;
    vpsrlvd ymm3,ymm6,ymm12
long product: c4 61 7d 70 fe b1 c4 42 05 40 fc c4 c1 e5 73 d7 20 c4 61 05 fe fb c4 c1 85 73 f7 20 c4 e1 9d f4 de c4 c1 e5 d4 df
    vpshufd ymm15,ymm6,0xb1; vpmulld ymm15,ymm15,ymm12; vpsrlq ymm3,ymm15,0x20;
    vpaddd ymm15,ymm15,ymm3; vpsllq ymm15,ymm15,0x20; vpmuludq ymm3,ymm12,ymm6;
    vpaddq ymm3,ymm3,ymm15
product of halves: c4 61 e5 f4 e6
    vpmuludq ymm12,ymm3,ymm6
long minimum: c4 e2 1d 37 de c4 e3 1d 4b de 30
    vpcmpgtq ymm3,ymm12,ymm6; vblendvpd ymm3,ymm12,ymm6,ymm3
long maximum: c4 41 05 76 ff c4 c1 05 73 f7 3f c4 c1 9d ef df c4 41 cd ef ff c4 c2 65 37 df c4 c3 4d 4b dc 30
    vpcmpeqd ymm15,ymm15,ymm15; vpsllq ymm15,ymm15,0x3f; vpxor ymm3,ymm12,ymm15;
    vpxor ymm15,ymm6,ymm15; vpcmpgtq ymm3,ymm3,ymm15; vblendvpd ymm3,ymm6,ymm12,ymm3
root and whole: c4 61 fd 51 e3 c4 c3 7d 08 dc 0a
    vsqrtpd ymm12,ymm3; vroundps ymm3,ymm12,0xa
not: c4 41 05 76 ff c4 c1 9d ef df
    vpcmpeqd ymm15,ymm15,ymm15; vpxor ymm3,ymm12,ymm15
fused: c4 62 e5 b8 e6
    vfmadd231pd ymm12,ymm3,ymm6
compare floats: c4 41 e5 c2 cc 11
    vcmplt_oqpd ymm9,ymm3,ymm12
equal: c4 42 65 29 cc
    vpcmpeqq ymm9,ymm3,ymm12
not equal: c4 41 65 76 cc c4 41 05 76 ff c4 41 b5 ef cf
    vpcmpeqd ymm9,ymm3,ymm12; vpcmpeqd ymm15,ymm15,ymm15; vpxor ymm9,ymm9,ymm15
less: c4 62 1d 37 cb
    vpcmpgtq ymm9,ymm12,ymm3
not greater: c4 41 05 76 ff c4 c1 05 72 f7 1f c4 41 65 ef cf c4 41 1d ef ff c4 41 35 66 cf c4 41 05 76 ff c4 41 b5 ef cf
    vpcmpeqd ymm15,ymm15,ymm15; vpslld ymm15,ymm15,0x1f; vpxor ymm9,ymm3,ymm15;
    vpxor ymm15,ymm12,ymm15; vpcmpgtd ymm9,ymm9,ymm15; vpcmpeqd ymm15,ymm15,ymm15;
    vpxor ymm9,ymm9,ymm15
test: c4 41 05 ef ff c4 42 1d 29 cf c4 41 05 76 ff c4 41 b5 ef cf
    vpxor ymm15,ymm15,ymm15; vpcmpeqq ymm9,ymm12,ymm15; vpcmpeqd ymm15,ymm15,ymm15;
    vpxor ymm9,ymm9,ymm15
blend: c4 c3 4d 4b dc 90
    vblendvpd ymm3,ymm6,ymm12,ymm9
masks: c4 41 65 db cc c4 c1 35 eb dc c4 41 05 76 ff c4 c1 b5 ef df
    vpand ymm9,ymm3,ymm12; vpor ymm3,ymm9,ymm12; vpcmpeqd ymm15,ymm15,ymm15; vpxor ymm3,ymm9,ymm15
mask of the rest: 4c 8b 9f 08 00 00 00 c4 41 7d 10 4b 20 c4 42 7d 17 c9 0f 84 01 00 00 00 c3
    mov r11,QWORD PTR [rdi+0x8]; vmovupd ymm9,YMMWORD PTR [r11+0x20]; vptest ymm9,ymm9; je 0x19; ret
load strided by AVX-512: 4c 69 d0 18 00 00 00 4d 01 ea 62 41 ff 08 10 aa 00 00 00 00 62 41 95 00 16 aa 18 00 00 00 62 d1 ff 08 10 9a 30 00 00 00 62 d1 e5 08 16 9a 48 00 00 00 62 63 95 40 18 eb 01 62 d1 ff 08 10 9a 60 00 00 00 62 d1 e5 08 16 9a 78 00 00 00 62 63 95 40 18 eb 02 62 d1 ff 08 10 9a 90 00 00 00 62 d1 e5 08 16 9a a8 00 00 00 62 63 95 40 18 eb 03
    imul r10,rax,0x18; add r10,r13; vmovsd xmm29,QWORD PTR [r10+0x0];
    vmovhpd xmm29,xmm29,QWORD PTR [r10+0x18]; {evex} vmovsd xmm3,QWORD PTR [r10+0x30];
    {evex} vmovhpd xmm3,xmm3,QWORD PTR [r10+0x48]; vinsertf64x2 zmm29,zmm29,xmm3,0x1;
    {evex} vmovsd xmm3,QWORD PTR [r10+0x60]; {evex} vmovhpd xmm3,xmm3,QWORD PTR [r10+0x78];
    vinsertf64x2 zmm29,zmm29,xmm3,0x2; {evex} vmovsd xmm3,QWORD PTR [r10+0x90];
    {evex} vmovhpd xmm3,xmm3,QWORD PTR [r10+0xa8]; vinsertf64x2 zmm29,zmm29,xmm3,0x3
load strided of lanes by AVX-512: 4c 69 d0 f8 ff ff ff 49 01 f2 62 51 9d 48 ef e4 c5 78 93 da 41 f6 c3 01 0f 84 c0 00 00 00 62 51 ff 08 10 a2 00 00 00 00 41 f6 c3 02 0f 84 ac 00 00 00 62 51 9d 08 16 a2 f8 ff ff ff 41 f6 c3 04 0f 84 98 00 00 00 62 41 ff 08 10 aa f0 ff ff ff 62 13 9d 48 18 e5 01 41 f6 c3 08 0f 84 7d 00 00 00 62 41 95 00 16 aa e8 ff ff ff 62 13 9d 48 18 e5 01 41 f6 c3 10 0f 84 62 00 00 00 62 41 ff 08 10 aa e0 ff ff ff 62 13 9d 48 18 e5 02 41 f6 c3 20 0f 84 47 00 00 00 62 41 95 00 16 aa d8 ff ff ff 62 13 9d 48 18 e5 02 41 f6 c3 40 0f 84 2c 00 00 00 62 41 ff 08 10 aa d0 ff ff ff 62 13 9d 48 18 e5 03 41 f6 c3 80 0f 84 11 00 00 00 62 41 95 00 16 aa c8 ff ff ff 62 13 9d 48 18 e5 03
    imul r10,rax,0xfffffffffffffff8; add r10,rsi; vpxorq zmm12,zmm12,zmm12; kmovw r11d,k2;
    test r11b,0x1; je 0xde; {evex} vmovsd xmm12,QWORD PTR [r10+0x0]; test r11b,0x2; je 0xde;
    {evex} vmovhpd xmm12,xmm12,QWORD PTR [r10-0x8]; test r11b,0x4; je 0xde;
    vmovsd xmm29,QWORD PTR [r10-0x10]; vinsertf64x2 zmm12,zmm12,xmm29,0x1; test r11b,0x8; je 0xde;
    vmovhpd xmm29,xmm29,QWORD PTR [r10-0x18]; vinsertf64x2 zmm12,zmm12,xmm29,0x1; test r11b,0x10;
    je 0xde; vmovsd xmm29,QWORD PTR [r10-0x20]; vinsertf64x2 zmm12,zmm12,xmm29,0x2; test r11b,0x20;
    je 0xde; vmovhpd xmm29,xmm29,QWORD PTR [r10-0x28]; vinsertf64x2 zmm12,zmm12,xmm29,0x2;
    test r11b,0x40; je 0xde; vmovsd xmm29,QWORD PTR [r10-0x30]; vinsertf64x2 zmm12,zmm12,xmm29,0x3;
    test r11b,0x80; je 0xde; vmovhpd xmm29,xmm29,QWORD PTR [r10-0x38];
    vinsertf64x2 zmm12,zmm12,xmm29,0x3
store strided by AVX-512: 4c 69 d0 10 00 00 00 4d 01 ea 62 41 ff 08 11 aa 00 00 00 00 62 41 fd 08 17 aa 10 00 00 00 62 63 fd 48 19 eb 01 62 d1 ff 08 11 9a 20 00 00 00 62 d1 fd 08 17 9a 30 00 00 00 62 63 fd 48 19 eb 02 62 d1 ff 08 11 9a 40 00 00 00 62 d1 fd 08 17 9a 50 00 00 00 62 63 fd 48 19 eb 03 62 d1 ff 08 11 9a 60 00 00 00 62 d1 fd 08 17 9a 70 00 00 00
    imul r10,rax,0x10; add r10,r13; vmovsd QWORD PTR [r10+0x0],xmm29;
    vmovhpd QWORD PTR [r10+0x10],xmm29; vextractf64x2 xmm3,zmm29,0x1;
    {evex} vmovsd QWORD PTR [r10+0x20],xmm3; {evex} vmovhpd QWORD PTR [r10+0x30],xmm3;
    vextractf64x2 xmm3,zmm29,0x2; {evex} vmovsd QWORD PTR [r10+0x40],xmm3;
    {evex} vmovhpd QWORD PTR [r10+0x50],xmm3; vextractf64x2 xmm3,zmm29,0x3;
    {evex} vmovsd QWORD PTR [r10+0x60],xmm3; {evex} vmovhpd QWORD PTR [r10+0x70],xmm3
store strided of lanes by AVX-512: 4c 69 d0 10 00 00 00 49 01 f2 c5 78 93 da 41 f6 c3 01 0f 84 ab 00 00 00 62 51 ff 08 11 a2 00 00 00 00 41 f6 c3 02 0f 84 97 00 00 00 62 51 fd 08 17 a2 10 00 00 00 41 f6 c3 04 0f 84 83 00 00 00 62 13 fd 48 19 e5 01 62 41 ff 08 11 aa 20 00 00 00 41 f6 c3 08 0f 84 68 00 00 00 62 41 fd 08 17 aa 30 00 00 00 41 f6 c3 10 0f 84 54 00 00 00 62 13 fd 48 19 e5 02 62 41 ff 08 11 aa 40 00 00 00 41 f6 c3 20 0f 84 39 00 00 00 62 41 fd 08 17 aa 50 00 00 00 41 f6 c3 40 0f 84 25 00 00 00 62 13 fd 48 19 e5 03 62 41 ff 08 11 aa 60 00 00 00 41 f6 c3 80 0f 84 0a 00 00 00 62 41 fd 08 17 aa 70 00 00 00
    imul r10,rax,0x10; add r10,rsi; kmovw r11d,k2; test r11b,0x1; je 0xc3;
    {evex} vmovsd QWORD PTR [r10+0x0],xmm12; test r11b,0x2; je 0xc3;
    {evex} vmovhpd QWORD PTR [r10+0x10],xmm12; test r11b,0x4; je 0xc3;
    vextractf64x2 xmm29,zmm12,0x1; vmovsd QWORD PTR [r10+0x20],xmm29; test r11b,0x8; je 0xc3;
    vmovhpd QWORD PTR [r10+0x30],xmm29; test r11b,0x10; je 0xc3; vextractf64x2 xmm29,zmm12,0x2;
    vmovsd QWORD PTR [r10+0x40],xmm29; test r11b,0x20; je 0xc3; vmovhpd QWORD PTR [r10+0x50],xmm29;
    test r11b,0x40; je 0xc3; vextractf64x2 xmm29,zmm12,0x3; vmovsd QWORD PTR [r10+0x60],xmm29;
    test r11b,0x80; je 0xc3; vmovhpd QWORD PTR [r10+0x70],xmm29";

    fn cases() -> Vec<(&'static str, Assembler)> {
        let mut cases = Vec::new();
        let mut case = |text: &'static str, write: &dyn Fn(&mut Assembler)| {
            let mut asm = Assembler::new(Isa::Avx512);
            write(&mut asm);
            cases.push((text, asm));
        };
        let (a, b, c) = (Vector(3), Vector(12), Vector(29));
        let [rsi, .., r13, r14, _] = POINTERS;
        let (none, last) = (None, Some(Mask(1)));
        case("vmovupd zmm3, [rsi + 8*rax]", &|asm| asm.load(Lane::F64, a, rsi, none));
        case("vmovups zmm29 {k1} {z}, [r13 + 4*rax]", &|asm| asm.load(Lane::F32, c, r13, last));
        case("vmovupd [r14 + 8*rax] {k1}, zmm12", &|asm| asm.store(Lane::I64, r14, b, last));
        case("vmovups [rsi + 4*rax], zmm29", &|asm| asm.store(Lane::I32, rsi, c, none));
        case("vpmovzxbq zmm29 {k1} {z}, [r13 + rax]", &|asm| asm.load_narrow(1, c, r13, last));
        case("vpmovzxdq zmm3, [rsi + 4*rax]", &|asm| asm.load_narrow(4, a, rsi, none));
        case("vpmovqw [rsi + 2*rax], zmm29", &|asm| asm.store_narrow(2, rsi, c, none));
        case("vpmovqd [r14 + 4*rax] {k1}, zmm12", &|asm| asm.store_narrow(4, r14, b, last));
        case("vbroadcastsd zmm29, qword ptr [rdi + 24]", &|asm| asm.broadcast(Lane::F64, c, 3));
        case("vbroadcastss zmm3, dword ptr [rdi + 800]", &|asm| asm.broadcast(Lane::I32, a, 100));
        case("vmovupd [rdi - 128], zmm29", &|asm| asm.spill(1, c));
        case("vmovupd zmm12, [rdi - 64]", &|asm| asm.reload(b, 0));
        case("vmovapd zmm12, zmm29", &|asm| asm.copy(b, c));
        case("vaddpd zmm29, zmm12, zmm3", &|asm| asm.arithmetic(Arithmetic::Add, Lane::F64, c, (b, a), none));
        case("vsubps zmm3, zmm29, zmm12", &|asm| asm.arithmetic(Arithmetic::Sub, Lane::F32, a, (c, b), none));
        case("vmulpd zmm3 {k1}, zmm3, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::Mul, Lane::F64, a, (a, c), last)
        });
        case("vdivps zmm3, zmm12, zmm12", &|asm| asm.arithmetic(Arithmetic::Div, Lane::F32, a, (b, b), none));
        case("vminpd zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Min, Lane::F64, a, (b, c), none));
        case("vmaxps zmm29, zmm3, zmm12", &|asm| asm.arithmetic(Arithmetic::Max, Lane::F32, c, (a, b), none));
        case("vpaddq zmm29, zmm29, zmm3", &|asm| asm.arithmetic(Arithmetic::Add, Lane::I64, c, (c, a), none));
        case("vpaddd zmm29, zmm29, zmm3", &|asm| asm.arithmetic(Arithmetic::Add, Lane::I32, c, (c, a), none));
        case("vpsubq zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Sub, Lane::I64, a, (b, c), none));
        case("vpsubd zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Sub, Lane::I32, a, (b, c), none));
        case("vpandq zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::And, Lane::I64, a, (b, c), none));
        case("vpord zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Or, Lane::I32, a, (b, c), none));
        case("vpxorq zmm3, zmm12, zmm29", &|asm| asm.arithmetic(Arithmetic::Xor, Lane::I64, a, (b, c), none));
        case("vsqrtpd zmm3, zmm29", &|asm| asm.sqrt(Lane::F64, a, c));
        case("vsqrtps zmm29, zmm12", &|asm| asm.sqrt(Lane::F32, c, b));
        case("vrndscalepd zmm3, zmm29, 9", &|asm| asm.round(Lane::F64, a, c, 1));
        case("vrndscaleps zmm12, zmm3, 11", &|asm| asm.round(Lane::F32, b, a, 3));
        case("vpternlogq zmm3, zmm29, zmm29, 85", &|asm| asm.not(a, c));
        case("vfmadd231pd zmm29 {k1}, zmm12, zmm3", &|asm| {
            asm.fused_multiply_add(Lane::F64, c, (b, a), last)
        });
        case("vcmppd k3, zmm12, zmm29, 17", &|asm| asm.compare((Lane::F64, false), Mask(3), (b, c), 0x11));
        case("vcmpps k7, zmm29, zmm3, 4", &|asm| asm.compare((Lane::F32, false), Mask(7), (c, a), 0x04));
        case("vblendmpd zmm3 {k2}, zmm29, zmm12", &|asm| asm.blend(Lane::F64, a, Mask(2), (b, c)));
        case("vblendmps zmm3 {k7}, zmm29, zmm12", &|asm| asm.blend(Lane::I32, a, Mask(7), (b, c)));
        case("vpmullq zmm29, zmm12, zmm3", &|asm| {
            asm.arithmetic(Arithmetic::Mul, Lane::I64, c, (b, a), none)
        });
        case("vpmulld zmm3, zmm12, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::Mul, Lane::I32, a, (b, c), none)
        });
        case("vpmuludq zmm3, zmm12, zmm29", &|asm| asm.half_product(a, (b, c)));
        case("vpsrlq zmm3, zmm29, 32", &|asm| asm.shift(false, a, c, 32));
        case("vpsllq zmm29, zmm12, 7", &|asm| asm.shift(true, c, b, 7));
        case("vpminsq zmm3 {k1}, zmm3, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::Min, Lane::I64, a, (a, c), last)
        });
        case("vpmaxsd zmm3, zmm12, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::Max, Lane::I32, a, (b, c), none)
        });
        case("vpminuq zmm3, zmm12, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::MinUnsigned, Lane::I64, a, (b, c), none)
        });
        case("vpmaxuq zmm3, zmm12, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::MaxUnsigned, Lane::I64, a, (b, c), none)
        });
        case("vpsllvq zmm3, zmm12, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::Shl, Lane::I64, a, (b, c), none)
        });
        case("vpsrlvd zmm3, zmm12, zmm29", &|asm| {
            asm.arithmetic(Arithmetic::Shr, Lane::I32, a, (b, c), none)
        });
        case("vbroadcastsd zmm29 {k3} {z}, [rdi + 24]", &|asm| asm.ones(Lane::I64, c, Mask(3), 3));
        case("vbroadcastss zmm29 {k3} {z}, [rdi + 24]", &|asm| asm.ones(Lane::I32, c, Mask(3), 3));
        case("vcvtqq2pd zmm29, zmm3", &|asm| asm.convert(Conversion::SignedToFloat, c, a));
        case("vcvtuqq2pd zmm3, zmm12", &|asm| asm.convert(Conversion::UnsignedToFloat, a, b));
        case("vcvttpd2qq zmm3, zmm29", &|asm| asm.convert(Conversion::FloatToSigned, a, c));
        case("vpcmpq k3, zmm12, zmm29, 1", &|asm| asm.compare((Lane::I64, false), Mask(3), (b, c), 1));
        case("vpcmpud k7, zmm29, zmm3, 2", &|asm| asm.compare((Lane::I32, true), Mask(7), (c, a), 2));
        case("vptestmq k3, zmm29, zmm29", &|asm| asm.test(Lane::I64, Mask(3), c));
        case("kandw k2, k3, k4", &|asm| asm.mask_and(Mask(2), Mask(3), Mask(4)));
        case("korw k7, k2, k6", &|asm| asm.mask_or(Mask(7), Mask(2), Mask(6)));
        case("knotw k5, k2", &|asm| asm.mask_not(Mask(5), Mask(2)));
        case("kmovw k1, word ptr [rdi + 8]", &|asm| asm.mask(Mask(1), 1));
        case("mov r13, [rdi + 40]", &|asm| asm.pointer(r13, 5));
        case("push r14", &|asm| asm.push(r14));
        case("pop r14", &|asm| asm.pop(r14));
        case("xor eax, eax", &|asm| asm.zero_counter());
        case("add rax, 16", &|asm| asm.advance_counter(16));
        case("cmp rax, [rdi]; jb -13", &|asm| asm.jump_back_if_below(0, 0));
        case("cmp rax, [rdi + 8]; jae 1; ret", &|asm| {
            let over = asm.jump_unless_below(1);
            asm.ret();
            asm.patch_jump(over);
        });
        case("cmp qword ptr [rdi + 8], 0; je 3; vzeroupper", &|asm| {
            let over = asm.jump_if_zero(1);
            asm.vzeroupper();
            asm.patch_jump(over);
        });
        cases
    }

    fn sequences() -> Vec<(&'static str, Assembler)> {
        let mut cases = Vec::new();
        let mut case = |text: &'static str, write: &dyn Fn(&mut Assembler)| {
            let mut asm = Assembler::new(Isa::Avx2);
            write(&mut asm);
            cases.push((text, asm));
        };
        let (a, b, c) = (Vector(3), Vector(12), Vector(6));
        let [rsi, .., r13, _, _] = POINTERS;
        let (mask, rest) = (Mask(9), Some(Mask(9)));
        case("load", &|asm| asm.load(Lane::F64, b, r13, None));
        case("load of lanes", &|asm| asm.load(Lane::F32, b, rsi, rest));
        case("store", &|asm| asm.store(Lane::I32, rsi, a, None));
        case("store of lanes", &|asm| asm.store(Lane::I64, r13, b, rest));
        case("load narrow", &|asm| asm.load_narrow(2, b, r13, None));
        case("load narrow of lanes", &|asm| asm.load_narrow(1, b, r13, rest));
        case("load 2 narrow of lanes", &|asm| asm.load_narrow(2, a, rsi, rest));
        case("load 4 narrow of lanes", &|asm| asm.load_narrow(4, a, rsi, rest));
        case("store 4", &|asm| asm.store_narrow(4, r13, b, None));
        case("store 2", &|asm| asm.store_narrow(2, rsi, a, None));
        case("store 1", &|asm| asm.store_narrow(1, r13, b, None));
        case("store 4 of lanes", &|asm| asm.store_narrow(4, r13, b, rest));
        case("store 1 of lanes", &|asm| asm.store_narrow(1, rsi, b, rest));
        case("load strided", &|asm| asm.load_strided(b, (r13, 24), a, None));
        case("load strided of lanes", &|asm| asm.load_strided(b, (rsi, -8), a, rest));
        case("store strided", &|asm| asm.store_strided((r13, 16), b, a, None));
        case("store strided of lanes", &|asm| asm.store_strided((rsi, 16), b, a, rest));
        case("spill and reload", &|asm| {
            asm.spill(1, b);
            asm.reload(a, 0);
        });
        case("broadcast", &|asm| {
            asm.broadcast(Lane::I64, b, 3);
            asm.broadcast(Lane::F32, a, 4);
        });
        case("ones", &|asm| asm.ones(Lane::I64, b, mask, 3));
        case("ones of 32 bits", &|asm| asm.ones(Lane::I32, b, mask, 3));
        case("halves", &|asm| asm.join_halves(a, b, c));
        case("copy", &|asm| asm.copy(b, a));
        case("arithmetic", &|asm| {
            asm.arithmetic(Arithmetic::Add, Lane::F64, b, (a, c), None);
            asm.arithmetic(Arithmetic::Min, Lane::F32, a, (b, c), None);
            asm.arithmetic(Arithmetic::Sub, Lane::I64, a, (b, b), None);
            asm.arithmetic(Arithmetic::Mul, Lane::I32, b, (a, b), None);
            asm.arithmetic(Arithmetic::MaxUnsigned, Lane::I32, b, (a, b), None);
            asm.arithmetic(Arithmetic::Shl, Lane::I64, a, (b, c), None);
            asm.arithmetic(Arithmetic::Shr, Lane::I32, a, (c, b), None);
        });
        case("long product", &|asm| asm.arithmetic(Arithmetic::Mul, Lane::I64, a, (b, c), None));
        case("product of halves", &|asm| asm.half_product(b, (a, c)));
        case("long minimum", &|asm| asm.arithmetic(Arithmetic::Min, Lane::I64, a, (b, c), None));
        case("long maximum", &|asm| asm.arithmetic(Arithmetic::MaxUnsigned, Lane::I64, a, (b, c), None));
        case("root and whole", &|asm| {
            asm.sqrt(Lane::F64, b, a);
            asm.round(Lane::F32, a, b, 2);
        });
        case("not", &|asm| asm.not(a, b));
        case("fused", &|asm| asm.fused_multiply_add(Lane::F64, b, (a, c), None));
        case("compare floats", &|asm| asm.compare((Lane::F64, false), mask, (a, b), 0x11));
        case("equal", &|asm| asm.compare((Lane::I64, false), mask, (a, b), 0));
        case("not equal", &|asm| asm.compare((Lane::I32, false), mask, (a, b), 4));
        case("less", &|asm| asm.compare((Lane::I64, false), mask, (a, b), 1));
        case("not greater", &|asm| asm.compare((Lane::I32, true), mask, (a, b), 2));
        case("test", &|asm| asm.test(Lane::I64, mask, b));
        case("blend", &|asm| asm.blend(Lane::F64, a, mask, (b, c)));
        case("masks", &|asm| {
            asm.mask_and(mask, Mask(3), Mask(12));
            asm.mask_or(Mask(3), mask, Mask(12));
            asm.mask_not(Mask(3), mask);
        });
        case("mask of the rest", &|asm| {
            asm.mask_at(mask, 1, 1);
            let over = asm.jump_if_none(mask);
            asm.ret();
            asm.patch_jump(over);
        });
        let (last, high) = (Some(Mask(2)), Vector(29));
        let mut case = |text: &'static str, write: &dyn Fn(&mut Assembler)| {
            let mut asm = Assembler::new(Isa::Avx512);
            write(&mut asm);
            cases.push((text, asm));
        };
        case("load strided by AVX-512", &|asm| asm.load_strided(high, (r13, 24), a, None));
        case("load strided of lanes by AVX-512", &|asm| asm.load_strided(b, (rsi, -8), high, last));
        case("store strided by AVX-512", &|asm| asm.store_strided((r13, 16), high, a, None));
        case("store strided of lanes by AVX-512", &|asm| asm.store_strided((rsi, 16), b, high, last));
        cases
    }
}
