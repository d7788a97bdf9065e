//! Machine code for vectors of 512 bits: the few instructions of AVX-512F and AVX-512DQ that loops
//! without branches need, as bytes.
//!
//! The code generator's vectors end at 128 bits. Encodings are those of the *Intel 64 and IA-32
//! Architectures Software Developer's Manual*, volume 2: 2.7 (EVEX), 2.3 (VEX, for masks) and the
//! pages of the instructions. Memory is addressed in two ways, as words of one block that
//! [`ARGUMENT_REGISTER`] points to, and as a [`Pointer`] plus as many slots as [`COUNTER_REGISTER`]
//! says.
//!
//! Decides nothing: what goes where is said by [`super::avx512_loops`].

/// A vector register, below 32.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Vector(pub u8);

/// A mask register, below 8; 0 stands for none where a mask is optional.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mask(pub u8);

/// A general register that holds an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pointer(u8);

/// `rdi`, where the first argument of a function is.
const ARGUMENT_REGISTER: u8 = 7;
/// `rax`, which counts lanes.
const COUNTER_REGISTER: u8 = 0;

/// Registers for addresses: `rsi rdx rcx r8 r9 r10 r11` are free, `rbx rbp r12 r13 r14 r15` are the
/// caller's.
pub const POINTERS: [Pointer; 13] = {
    const fn p(number: u8) -> Pointer {
        Pointer(number)
    }
    [p(6), p(2), p(1), p(8), p(9), p(10), p(11), p(3), p(5), p(12), p(13), p(14), p(15)]
};
/// The number of free ones.
pub const FREE_POINTERS: usize = 7;

/// Bytes of a vector.
pub const VECTOR_BYTES: usize = 64;

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
    /// Returns the bit W of the EVEX prefix: set for lanes of 8 bytes.
    fn evex_w(self) -> bool {
        matches!(self, Lane::F64 | Lane::I64)
    }

    fn bytes(self) -> u8 {
        if self.evex_w() { 8 } else { 4 }
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
#[derive(Default)]
pub struct Assembler {
    bytes: Vec<u8>,
}

/// The opcode of an instruction: its map (1 `0F`, 2 `0F38`, 3 `0F3A`), its prefix (0 none, 1 `66`),
/// and its byte.
type Opcode = (u8, u8, u8);

/// The second source of an instruction.
#[derive(Clone, Copy)]
enum Source {
    Register(u8),
    /// A word of the block of arguments.
    Word(usize),
    /// The memory at a pointer plus as many slots as the counter says, each of so many bytes.
    At(Pointer, u8),
}

impl Assembler {
    /// The bytes.
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// An instruction on vectors: `reg` and `other` are its first and second operand, and `mask`
    /// chooses lanes, the others 0 if `zero`.
    fn vector(
        &mut self,
        (map, prefix, opcode): Opcode,
        evex_w: bool,
        (reg, other, source): (u8, u8, Source),
        (mask, zero): (Mask, bool),
    ) {
        let (high, low) = match source {
            Source::Register(r) => ((r >> 3 & 1, r >> 4 & 1), r & 7),
            Source::Word(_) => ((0, 0), ARGUMENT_REGISTER),
            Source::At(Pointer(p), _) => ((p >> 3, 0), 4),
        };
        let inverted = |bit: u8, at: u8| (!bit & 1) << at;
        let (b, x) = high;
        let first = inverted(reg >> 3, 7) | inverted(x, 6) | inverted(b, 5) | inverted(reg >> 4, 4) | map;
        let second = u8::from(evex_w) << 7 | (!other & 15) << 3 | 4 | prefix;
        let third = u8::from(zero) << 7 | 2 << 5 | inverted(other >> 4, 3) | mask.0;
        self.bytes.extend([0x62, first, second, third, opcode]);
        self.operand(reg & 7, low, source);
    }

    /// The byte that names operands, and what follows it.
    fn operand(&mut self, reg: u8, low: u8, source: Source) {
        match source {
            Source::Register(_) => self.bytes.push(3 << 6 | reg << 3 | low),
            Source::Word(word) => {
                self.bytes.push(2 << 6 | reg << 3 | low);
                self.bytes.extend((8 * word as i32).to_le_bytes());
            }
            // With a byte of displacement, since there is no form without one for all registers.
            Source::At(Pointer(p), width) => {
                let scale = width.trailing_zeros() as u8;
                self.bytes.extend([1 << 6 | reg << 3 | low, scale << 6 | COUNTER_REGISTER << 3 | p & 7, 0]);
            }
        }
    }

    /// Lanes from memory; with a mask, zeros elsewhere.
    pub fn load(&mut self, lane: Lane, to: Vector, from: Pointer, mask: Mask) {
        let opcode = (1, u8::from(lane.evex_w()), 0x10);
        let source = Source::At(from, lane.bytes());
        self.vector(opcode, lane.evex_w(), (to.0, 0, source), (mask, mask.0 > 0));
    }

    /// Lanes of 8 bytes from slots of 1, 2 or 4, whose bits above are 0; with a mask, zeros elsewhere.
    pub fn load_narrow(&mut self, width: u8, to: Vector, from: Pointer, mask: Mask) {
        let source = Source::At(from, width);
        self.vector((2, 1, narrow_opcode(width)), false, (to.0, 0, source), (mask, mask.0 > 0));
    }

    /// The low bits of lanes of 8 bytes to slots of 1, 2 or 4; with a mask, only those.
    pub fn store_narrow(&mut self, width: u8, to: Pointer, from: Vector, mask: Mask) {
        let target = Source::At(to, width);
        self.vector((2, 2, narrow_opcode(width)), false, (from.0, 0, target), (mask, false));
    }

    /// Lanes to memory; with a mask, only those.
    pub fn store(&mut self, lane: Lane, to: Pointer, from: Vector, mask: Mask) {
        let opcode = (1, u8::from(lane.evex_w()), 0x11);
        let target = Source::At(to, lane.bytes());
        self.vector(opcode, lane.evex_w(), (from.0, 0, target), (mask, false));
    }

    /// All lanes from one word of the block of arguments.
    pub fn broadcast(&mut self, lane: Lane, to: Vector, word: usize) {
        let opcode = if lane.evex_w() { (2, 1, 0x19) } else { (2, 1, 0x18) };
        self.vector(opcode, lane.evex_w(), (to.0, 0, Source::Word(word)), (Mask(0), false));
    }

    /// 1 in the lanes of a mask, which a word of the block of arguments holds, elsewhere 0.
    pub fn ones(&mut self, to: Vector, mask: Mask, word: usize) {
        self.vector((2, 1, 0x19), true, (to.0, 0, Source::Word(word)), (mask, true));
    }

    /// Lanes of 8 bytes converted.
    pub fn convert(&mut self, conversion: Conversion, to: Vector, from: Vector) {
        let opcode = match conversion {
            Conversion::SignedToFloat => (1, 2, 0xe6),
            Conversion::UnsignedToFloat => (1, 2, 0x7a),
            Conversion::FloatToSigned => (1, 1, 0x7a),
        };
        self.vector(opcode, true, (to.0, 0, Source::Register(from.0)), (Mask(0), false));
    }

    /// A copy.
    pub fn copy(&mut self, to: Vector, from: Vector) {
        self.vector((1, 1, 0x28), true, (to.0, 0, Source::Register(from.0)), (Mask(0), false));
    }

    /// `to = a op b`; with a mask, other lanes stay as they are.
    pub fn arithmetic(
        &mut self,
        op: Arithmetic,
        lane: Lane,
        to: Vector,
        (a, b): (Vector, Vector),
        mask: Mask,
    ) {
        let float = |byte| (1, u8::from(lane.evex_w()), byte);
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
        self.vector(opcode, lane.evex_w(), (to.0, a.0, Source::Register(b.0)), (mask, false));
    }

    /// The square root of floats.
    pub fn sqrt(&mut self, lane: Lane, to: Vector, a: Vector) {
        let opcode = (1, u8::from(lane.evex_w()), 0x51);
        self.vector(opcode, lane.evex_w(), (to.0, 0, Source::Register(a.0)), (Mask(0), false));
    }

    /// A whole float: `mode` 1 not above, 2 not below, 3 toward 0.
    pub fn round(&mut self, lane: Lane, to: Vector, a: Vector, mode: u8) {
        let opcode = if lane.evex_w() { (3, 1, 0x09) } else { (3, 1, 0x08) };
        self.vector(opcode, lane.evex_w(), (to.0, 0, Source::Register(a.0)), (Mask(0), false));
        // Without an exception for what is cut off.
        self.bytes.push(8 | mode);
    }

    /// `to = !a`, bit by bit.
    pub fn not(&mut self, to: Vector, a: Vector) {
        self.vector((3, 1, 0x25), true, (to.0, a.0, Source::Register(a.0)), (Mask(0), false));
        self.bytes.push(0x55);
    }

    /// `to = a * b + to` of floats, rounded once; with a mask, other lanes stay as they are.
    pub fn fused_multiply_add(&mut self, lane: Lane, to: Vector, (a, b): (Vector, Vector), mask: Mask) {
        self.vector((2, 1, 0xb8), lane.evex_w(), (to.0, a.0, Source::Register(b.0)), (mask, false));
    }

    /// A comparison by its predicate: of floats, of integers with sign, or without.
    pub fn compare(
        &mut self,
        (lane, unsigned): (Lane, bool),
        to: Mask,
        (a, b): (Vector, Vector),
        predicate: u8,
    ) {
        let opcode = match lane {
            Lane::F64 | Lane::F32 => (1, u8::from(lane.evex_w()), 0xc2),
            Lane::I64 | Lane::I32 if unsigned => (3, 1, 0x1e),
            Lane::I64 | Lane::I32 => (3, 1, 0x1f),
        };
        self.vector(opcode, lane.evex_w(), (to.0, a.0, Source::Register(b.0)), (Mask(0), false));
        self.bytes.push(predicate);
    }

    /// The lanes of integers that are not 0.
    pub fn test(&mut self, lane: Lane, to: Mask, a: Vector) {
        self.vector((2, 1, 0x27), lane.evex_w(), (to.0, a.0, Source::Register(a.0)), (Mask(0), false));
    }

    /// `a` where the mask is set, elsewhere `b`.
    pub fn blend(&mut self, lane: Lane, to: Vector, mask: Mask, (a, b): (Vector, Vector)) {
        self.vector((2, 1, 0x65), lane.evex_w(), (to.0, b.0, Source::Register(a.0)), (mask, false));
    }

    /// An instruction on masks.
    fn masks(&mut self, opcode: u8, long: bool, (to, a, b): (u8, u8, u8)) {
        let second = 1 << 7 | (!a & 15) << 3 | u8::from(long) << 2;
        self.bytes.extend([0xc5, second, opcode, 3 << 6 | to << 3 | b]);
    }

    /// Emits the bitwise AND of two masks.
    pub fn mask_and(&mut self, to: Mask, a: Mask, b: Mask) {
        self.masks(0x41, true, (to.0, a.0, b.0));
    }

    /// Emits the bitwise OR of two masks.
    pub fn mask_or(&mut self, to: Mask, a: Mask, b: Mask) {
        self.masks(0x45, true, (to.0, a.0, b.0));
    }

    /// Emits the complement of a mask.
    pub fn mask_not(&mut self, to: Mask, a: Mask) {
        self.masks(0x44, false, (to.0, 0, a.0));
    }

    /// A mask from the low bits of a word of arguments.
    pub fn mask(&mut self, to: Mask, word: usize) {
        self.bytes.extend([0xc5, 0xf8, 0x90]);
        self.operand(to.0, ARGUMENT_REGISTER, Source::Word(word));
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
        let hex = |bytes: &[u8]| bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(" ");
        let made: Vec<String> =
            cases.iter().map(|(text, bytes)| format!("{text:48}{}", hex(bytes))).collect();
        let known: Vec<&str> = KNOWN.lines().map(str::trim_end).collect();
        assert_eq!(made, known);
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
vpminsq zmm3 {k1}, zmm3, zmm29                  62 92 e5 49 39 dd
vpmaxsd zmm3, zmm12, zmm29                      62 92 1d 48 3d dd
vpminuq zmm3, zmm12, zmm29                      62 92 9d 48 3b dd
vpmaxuq zmm3, zmm12, zmm29                      62 92 9d 48 3f dd
vpsllvq zmm3, zmm12, zmm29                      62 92 9d 48 47 dd
vpsrlvd zmm3, zmm12, zmm29                      62 92 1d 48 45 dd
vbroadcastsd zmm29 {k3} {z}, [rdi + 24]         62 62 fd cb 19 af 18 00 00 00
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

    fn cases() -> Vec<(&'static str, Assembler)> {
        let mut cases = Vec::new();
        let mut case = |text: &'static str, write: &dyn Fn(&mut Assembler)| {
            let mut asm = Assembler::default();
            write(&mut asm);
            cases.push((text, asm));
        };
        let (a, b, c) = (Vector(3), Vector(12), Vector(29));
        let [rsi, .., r13, r14, _] = POINTERS;
        let (none, last) = (Mask(0), Mask(1));
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
        case("vbroadcastsd zmm29 {k3} {z}, [rdi + 24]", &|asm| asm.ones(c, Mask(3), 3));
        case("vcvtqq2pd zmm29, zmm3", &|asm| asm.convert(Conversion::SignedToFloat, c, a));
        case("vcvtuqq2pd zmm3, zmm12", &|asm| asm.convert(Conversion::UnsignedToFloat, a, b));
        case("vcvttpd2qq zmm3, zmm29", &|asm| asm.convert(Conversion::FloatToSigned, a, c));
        case("vpcmpq k3, zmm12, zmm29, 1", &|asm| asm.compare((Lane::I64, false), Mask(3), (b, c), 1));
        case("vpcmpud k7, zmm29, zmm3, 2", &|asm| asm.compare((Lane::I32, true), Mask(7), (c, a), 2));
        case("vptestmq k3, zmm29, zmm29", &|asm| asm.test(Lane::I64, Mask(3), c));
        case("kandw k2, k3, k4", &|asm| asm.mask_and(Mask(2), Mask(3), Mask(4)));
        case("korw k7, k2, k6", &|asm| asm.mask_or(Mask(7), Mask(2), Mask(6)));
        case("knotw k5, k2", &|asm| asm.mask_not(Mask(5), Mask(2)));
        case("kmovw k1, word ptr [rdi + 8]", &|asm| asm.mask(last, 1));
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
}
