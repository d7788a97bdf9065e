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

mod control;
mod interleave;
mod memory;

use crate::loop_ir::Isa;
pub use control::ForwardJump;
pub use memory::Extension;

impl Isa {
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
    /// The slot, of so many bytes, with the number in [`SCRATCH_ADDRESS`] from a pointer on.
    Indexed(Pointer, u8),
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
        let ((b, x), low) = self.source_bits(source);
        let inverted = |bit: u8, at: u8| (!bit & 1) << at;
        let first = inverted(reg >> 3, 7) | inverted(x, 6) | inverted(b, 5) | map;
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
            Source::Indexed(Pointer(p), _) => ((p >> 3, SCRATCH_ADDRESS >> 3), 4),
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
            Source::Indexed(Pointer(p), width) => {
                let scale = width.trailing_zeros() as u8;
                let index = scale << 6 | (SCRATCH_ADDRESS & 7) << 3 | p & 7;
                self.bytes.extend([1 << 6 | reg << 3 | low, index, 0]);
            }
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

    /// Lanes of 8 bytes shifted to the right with their sign by a number of bits that is known, by
    /// AVX-512.
    pub fn shift_signed(&mut self, to: Vector, from: Vector, bits: u8) {
        self.evex((1, 1, 0x72), true, (4, to.0, Source::Register(from.0)), (None, false));
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

    /// Lanes of 4 bytes, integers with a sign, converted to floats.
    pub fn convert_short(&mut self, to: Vector, from: Vector) {
        self.vector((1, 0, 0x5b), false, (to.0, 0, Source::Register(from.0)));
    }

    /// Lanes of 4 bytes, integers without sign, converted to floats by AVX-512.
    pub fn convert_short_unsigned(&mut self, to: Vector, from: Vector) {
        self.evex((1, 3, 0x7a), false, (to.0, 0, Source::Register(from.0)), (None, false));
    }

    /// The number of bits that are 1 in lanes of 8 bytes, by AVX-512 VPOPCNTDQ.
    pub fn population_count(&mut self, to: Vector, from: Vector) {
        self.evex((2, 1, 0x55), true, (to.0, 0, Source::Register(from.0)), (None, false));
    }

    /// Lanes of 4 bytes, floats, converted to integers with a sign, toward 0.
    pub fn truncate_single(&mut self, to: Vector, from: Vector) {
        self.vector((1, 2, 0x5b), false, (to.0, 0, Source::Register(from.0)));
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

    /// The products of the low halves of lanes of 8 bytes, with sign.
    pub fn signed_half_product(&mut self, to: Vector, (a, b): (Vector, Vector)) {
        self.vector((2, 1, 0x28), true, (to.0, a.0, Source::Register(b.0)));
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

/// The byte of the instructions that move between lanes and narrower slots of `width` bytes.
fn narrow_opcode(lane: Lane, width: u8) -> u8 {
    match (lane.bytes(), width) {
        (4, 1) => 0x31,
        (8, 1) => 0x32,
        (4, 2) => 0x33,
        (8, 2) => 0x34,
        (8, 4) => 0x35,
        _ => unreachable!("slots that are narrower than lanes have 1, 2 or 4 bytes"),
    }
}

#[cfg(test)]
mod tests;
