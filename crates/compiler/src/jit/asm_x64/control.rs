//! Masks of lanes, jumps, the counter of lanes, and addresses.

use super::{
    ARGUMENT_REGISTER, Assembler, COUNTER_REGISTER, Isa, Mask, Pointer, SCRATCH_REGISTER, Source, Vector,
};

/// A place in code that is jumped to from before it.
#[derive(Debug)]
pub struct ForwardJump(usize);

impl Assembler {
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

    /// Emits the bitwise AND of the complement of a mask with another one.
    pub fn mask_and_not(&mut self, to: Mask, without: Mask, a: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks(0x42, true, (to.0, without.0, a.0)),
            Isa::Avx2 => self.vector((1, 1, 0xdf), false, (to.0, without.0, Source::Register(a.0))),
        }
    }

    /// Sets a mask to all lanes.
    pub fn mask_all(&mut self, to: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks(0x46, true, (to.0, to.0, to.0)),
            Isa::Avx2 => self.vex((1, 1, 0x76), (false, true), (to.0, to.0, Source::Register(to.0))),
        }
    }

    /// Sets a mask to no lanes.
    pub fn mask_none(&mut self, to: Mask) {
        match self.isa {
            Isa::Avx512 => self.masks(0x47, true, (to.0, to.0, to.0)),
            Isa::Avx2 => self.zero(Vector(to.0)),
        }
    }

    /// Emits a store of a mask to the memory below the block of arguments.
    pub fn spill_mask(&mut self, number: usize, from: Mask) {
        match self.isa {
            // kmovw
            Isa::Avx512 => {
                self.bytes.extend([0xc5, 0xf8, 0x91]);
                self.operand(from.0, ARGUMENT_REGISTER, Source::Spilled(number));
            }
            Isa::Avx2 => self.spill(number, Vector(from.0)),
        }
    }

    /// Emits a load of a mask from there.
    pub fn reload_mask(&mut self, to: Mask, number: usize) {
        match self.isa {
            Isa::Avx512 => {
                self.bytes.extend([0xc5, 0xf8, 0x90]);
                self.operand(to.0, ARGUMENT_REGISTER, Source::Spilled(number));
            }
            Isa::Avx2 => self.reload(Vector(to.0), number),
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

    /// Emits a forward jump, taken if a mask has none of the first `lanes` lanes, which are 8 or 16
    /// with AVX-512, and all of a vector with AVX2.
    pub fn jump_if_none(&mut self, mask: Mask, lanes: usize) -> ForwardJump {
        self.test_mask(mask, lanes);
        self.leave([0x0f, 0x84])
    }

    /// Emits a forward jump, taken if a mask has one of the first lanes.
    pub fn jump_if_any(&mut self, mask: Mask, lanes: usize) -> ForwardJump {
        self.test_mask(mask, lanes);
        self.leave([0x0f, 0x85])
    }

    /// Emits a backward jump to offset `to`, taken if a mask has one of the first lanes.
    pub fn jump_back_if_any(&mut self, mask: Mask, lanes: usize, to: usize) {
        self.test_mask(mask, lanes);
        self.bytes.extend([0x0f, 0x85]);
        self.distance_back(to);
    }

    /// Compares the first lanes of a mask with none.
    fn test_mask(&mut self, mask: Mask, lanes: usize) {
        match self.isa {
            // kortestb, kortestw
            Isa::Avx512 => {
                let prefix = if lanes <= 8 { 0xf9 } else { 0xf8 };
                self.bytes.extend([0xc5, prefix, 0x98, 3 << 6 | mask.0 << 3 | mask.0]);
            }
            Isa::Avx2 => self.vex((2, 1, 0x17), (false, true), (mask.0, 0, Source::Register(mask.0))),
        }
    }

    /// Emits a forward jump.
    pub fn jump(&mut self) -> ForwardJump {
        self.bytes.push(0xe9);
        self.bytes.extend([0; 4]);
        ForwardJump(self.bytes.len())
    }

    /// Emits a backward jump to offset `to`.
    pub fn jump_back(&mut self, to: usize) {
        self.bytes.push(0xe9);
        self.distance_back(to);
    }

    /// Emits a forward jump, taken if the byte is not 0 whose address is a word of arguments.
    pub fn jump_if_set(&mut self, word: usize) -> ForwardJump {
        self.pointer(Pointer(SCRATCH_REGISTER), word);
        // cmp byte ptr [r11], 0
        self.bytes.extend([0x41, 0x80, 0x3b, 0]);
        self.leave([0x0f, 0x85])
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
        self.distance_back(to);
    }

    /// The distance of a backward jump to an offset.
    fn distance_back(&mut self, to: usize) {
        let end = self.bytes.len() + 4;
        self.bytes.extend((to as i32 - end as i32).to_le_bytes());
    }

    /// Emits a forward jump, taken unless the counter is below argument word `word`.
    pub fn jump_unless_below(&mut self, word: usize) -> ForwardJump {
        self.compare_counter(word);
        self.leave([0x0f, 0x83])
    }

    /// Sets a word of the block of arguments to 1.
    pub fn set_word(&mut self, word: usize) {
        self.bytes.extend([0x48, 0xc7]);
        self.operand(0, ARGUMENT_REGISTER, Source::Word(word));
        self.bytes.extend(1i32.to_le_bytes());
    }

    /// Emits a forward jump, taken if argument word `word` is 0.
    pub fn jump_if_zero(&mut self, word: usize) -> ForwardJump {
        self.bytes.extend([0x48, 0x81]);
        self.operand(7, ARGUMENT_REGISTER, Source::Word(word));
        self.bytes.extend([0; 4]);
        self.leave([0x0f, 0x84])
    }

    pub(super) fn leave(&mut self, jump: [u8; 2]) -> ForwardJump {
        self.bytes.extend(jump);
        self.bytes.extend([0; 4]);
        ForwardJump(self.bytes.len())
    }

    /// Patches a forward jump to lead here.
    pub fn patch_jump(&mut self, ForwardJump(from): ForwardJump) {
        let distance = (self.bytes.len() - from) as i32;
        self.bytes[from - 4..from].copy_from_slice(&distance.to_le_bytes());
    }
}
