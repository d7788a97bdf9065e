//! Loads and stores of lanes: of slots side by side, narrower than lanes, at a distance, and of
//! slots whose numbers are lanes.

use super::{
    Assembler, COUNTER_REGISTER, Isa, Lane, Mask, Opcode, Pointer, SCRATCH_ADDRESS, SCRATCH_REGISTER,
    SCRATCH_VECTOR, Source, Vector, VexSizes, narrow_opcode,
};

/// Four or eight floats of 4 bytes as floats of 8 bytes.
const TO_DOUBLES: Opcode = (1, 0, 0x5a);
/// Four or eight floats of 8 bytes as floats of 4 bytes.
const TO_SINGLES: Opcode = (1, 1, 0x5a);

/// The extension of a narrow slot to a lane of 8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Extension {
    /// Bits above are 0.
    Zero,
    /// Bits above are the sign.
    Sign,
    /// A float of 4 bytes becomes one of 8 bytes.
    Float,
}

impl Assembler {
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

    /// Lanes from narrower slots, extended; with a mask, zeros elsewhere. The mask of AVX2 has its
    /// first lanes set.
    pub fn load_narrow(
        &mut self,
        lane: Lane,
        (extension, width): (Extension, u8),
        to: Vector,
        from: Pointer,
        mask: Option<Mask>,
    ) {
        let opcode = match extension {
            Extension::Zero => (2, 1, narrow_opcode(lane, width)),
            Extension::Sign => (2, 1, narrow_opcode(lane, width) - 0x10),
            Extension::Float => TO_DOUBLES,
        };
        let source = Source::At(from, width, 0);
        match (self.isa, mask) {
            (Isa::Avx512, _) => self.evex(opcode, false, (to.0, 0, source), (mask, true)),
            (Isa::Avx2, None) => self.vex(opcode, (false, true), (to.0, 0, source)),
            (Isa::Avx2, Some(mask)) => {
                self.zero(to);
                self.for_each_lane_of(lane.bytes(), mask, &mut |asm, lane| {
                    asm.insert_slot(width, to, from, lane);
                });
                self.vex(opcode, (false, true), (to.0, 0, Source::Register(to.0)));
            }
        }
    }

    /// Floats of 8 bytes rounded to floats of 4 bytes, which are lanes of 8 bytes again.
    pub fn round_to_single(&mut self, to: Vector, from: Vector) {
        self.vector(TO_SINGLES, self.isa == Isa::Avx512, (to.0, 0, Source::Register(from.0)));
        self.vector(TO_DOUBLES, false, (to.0, 0, Source::Register(to.0)));
    }

    /// Floats of 8 bytes, which are floats of 4 bytes, to slots of 4 bytes, by another register;
    /// with a mask, only those.
    pub fn store_singles(&mut self, to: Pointer, from: Vector, other: Vector, mask: Option<Mask>) {
        self.vector(TO_SINGLES, self.isa == Isa::Avx512, (other.0, 0, Source::Register(from.0)));
        let store = (1, 0, 0x11);
        let target = Source::At(to, 4, 0);
        match (self.isa, mask) {
            (Isa::Avx512, _) => self.evex_of(1, store, false, (other.0, 0, target), (mask, false)),
            (Isa::Avx2, None) => self.vex(store, (false, false), (other.0, 0, target)),
            (Isa::Avx2, Some(mask)) => self.store_slots(Lane::F64, 4, to, other.0, mask),
        }
    }

    /// A slot of 1, 2 or 4 bytes into the lowest 16 bytes of a vector, by AVX2.
    fn insert_slot(&mut self, width: u8, to: Vector, from: Pointer, lane: u8) {
        let opcode = match width {
            1 => (3, 1, 0x20),
            2 => (1, 1, 0xc4),
            _ => (3, 1, 0x22),
        };
        self.vex(opcode, (false, false), (to.0, to.0, Source::At(from, width, lane)));
        self.bytes.push(lane);
    }

    /// A slot of 1, 2 or 4 bytes from the lowest 16 bytes of a vector, by AVX2.
    fn extract_slot(&mut self, width: u8, to: Pointer, from: u8, lane: u8) {
        let opcode = match width {
            1 => 0x14,
            2 => 0x15,
            _ => 0x16,
        };
        self.vex((3, 1, opcode), (false, false), (from, 0, Source::At(to, width, lane)));
        self.bytes.push(lane);
    }

    /// The low bits of lanes to narrower slots; with a mask, only those.
    pub fn store_narrow(&mut self, lane: Lane, width: u8, to: Pointer, from: Vector, mask: Option<Mask>) {
        let target = Source::At(to, width, 0);
        if self.isa == Isa::Avx512 {
            let opcode = (2, 2, narrow_opcode(lane, width));
            return self.evex(opcode, false, (from.0, 0, target), (mask, false));
        }
        let (scratch, half) = (SCRATCH_VECTOR, (false, false));
        // The slots, at last, are the lowest bytes of the scratch vector.
        if lane.is_long() {
            // The low halves of the lanes, as four lanes of 4 bytes.
            self.vex((3, 1, 0x39), (false, true), (from.0, 0, Source::Register(scratch)));
            self.bytes.push(1);
            self.vex((1, 0, 0xc6), half, (scratch, from.0, Source::Register(scratch)));
            self.bytes.push(0x88);
            if width < 4 {
                self.pack(width, scratch, half);
            }
        } else {
            self.pack(width, from.0, (false, true));
            // The packed slots of the upper lanes behind those of the lower ones.
            self.vex((3, 1, 0x00), (true, true), (scratch, 0, Source::Register(scratch)));
            self.bytes.push(0x08);
        }
        if width == 1 {
            self.vex((1, 1, 0x67), half, (scratch, scratch, Source::Register(scratch)));
        }
        let Some(mask) = mask else {
            let opcode = match self.isa.vector_bytes() / usize::from(lane.bytes()) * usize::from(width) {
                4 => (1, 1, 0x7e),
                8 => (1, 1, 0xd6),
                _ => (1, 0, 0x11),
            };
            return self.vex(opcode, half, (scratch, 0, target));
        };
        self.store_slots(lane, width, to, scratch, mask);
    }

    /// Packs lanes of 4 bytes, cut off to 1 or 2, to lanes of 2 bytes in the scratch vector of AVX2.
    /// Bits above are cut off first, so that nothing is saturated.
    fn pack(&mut self, width: u8, from: u8, sizes: VexSizes) {
        let scratch = SCRATCH_VECTOR;
        for (shift, of) in [(6, from), (2, scratch)] {
            self.vex((1, 1, 0x72), sizes, (shift, scratch, Source::Register(of)));
            self.bytes.push(32 - 8 * width);
        }
        self.vex((2, 1, 0x2b), sizes, (scratch, scratch, Source::Register(scratch)));
    }

    /// The low slots of a vector, of 1, 2 or 4 bytes, to memory by AVX2: one for each lane of a
    /// mask.
    fn store_slots(&mut self, lane: Lane, width: u8, to: Pointer, from: u8, mask: Mask) {
        self.mask_bits(lane.bytes(), mask);
        for lane in 0..self.isa.vector_bytes() as u8 / lane.bytes() {
            self.test_lane(lane);
            let next = self.leave([0x0f, 0x84]);
            self.extract_slot(width, to, from, lane);
            self.patch_jump(next);
        }
    }

    /// An instruction on the lowest 16 bytes, as lanes of 8 bytes if `long`, else of 4.
    fn lowest(&mut self, long: bool, opcode: Opcode, operands: (u8, u8, Source)) {
        match self.isa {
            Isa::Avx512 => self.evex_of(0, opcode, long, operands, (None, false)),
            Isa::Avx2 => self.vex(opcode, (false, false), operands),
        }
    }

    /// Inserts the lowest 16 bytes of a vector as those from `16 * place` on of another, or extracts
    /// such bytes (`of` is the vector that is read).
    fn move_quarter(&mut self, insert: bool, place: u8, to: Vector, of: Vector) {
        let (reg, other, source) = if insert { (to, to, of) } else { (of, Vector(0), to) };
        let opcode = (3, 1, if insert { 0x18 } else { 0x19 });
        self.vector(opcode, self.isa == Isa::Avx512, (reg.0, other.0, Source::Register(source.0)));
        self.bytes.push(place);
    }

    /// The address of the first lane of a vector of slots that are `bytes` apart.
    pub(super) fn strided(&mut self, Pointer(first): Pointer, bytes: i32) {
        // imul r10, rax, bytes; add r10, first
        self.bytes.extend([0x4c, 0x69, 3 << 6 | (SCRATCH_ADDRESS & 7) << 3 | COUNTER_REGISTER]);
        self.bytes.extend(bytes.to_le_bytes());
        let rex = 0x49 | first >> 3 << 2;
        self.bytes.extend([rex, 0x01, 3 << 6 | (first & 7) << 3 | SCRATCH_ADDRESS & 7]);
    }

    /// Lanes of 4 bytes from slots that are `bytes` apart, those of a mask that has its first lanes
    /// set, with another register; zeros elsewhere.
    pub fn load_strided_short(
        &mut self,
        to: Vector,
        (from, bytes): (Pointer, i32),
        other: Vector,
        mask: Mask,
    ) {
        self.strided(from, bytes);
        self.zero(to);
        self.for_each_lane_of(4, mask, &mut |asm, lane| {
            let into = if lane < 4 { to } else { other };
            if lane >= 4 && lane.is_multiple_of(4) {
                asm.zero(other);
            }
            // vpinsrd
            asm.lowest(false, (3, 1, 0x22), (into.0, into.0, Source::Strided(i32::from(lane) * bytes)));
            asm.bytes.push(lane % 4);
            // Each lane may be the last.
            if lane >= 4 {
                asm.move_quarter(true, lane / 4, to, other);
            }
        });
    }

    /// Lanes of 4 bytes to slots that are `bytes` apart, with another register; with a mask, only
    /// those. The mask has its first lanes set.
    pub fn store_strided_short(
        &mut self,
        (to, bytes): (Pointer, i32),
        from: Vector,
        other: Vector,
        mask: Option<Mask>,
    ) {
        self.strided(to, bytes);
        self.for_each_lane(4, mask, &mut |asm, lane| {
            if lane >= 4 && lane.is_multiple_of(4) {
                asm.move_quarter(false, lane / 4, other, from);
            }
            let source = if lane < 4 { from } else { other };
            // vpextrd
            asm.lowest(false, (3, 1, 0x16), (source.0, 0, Source::Strided(i32::from(lane) * bytes)));
            asm.bytes.push(lane % 4);
        });
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
        self.for_each_lane(8, mask, &mut |asm, lane| {
            let into = if lane < 2 { to } else { other };
            asm.load_lane(lane % 2 == 1, into, Source::Strided(i32::from(lane) * bytes));
            // Of a mask, each lane may be the last.
            if lane >= 2 && (mask.is_some() || lane % 2 == 1) {
                asm.move_quarter(true, lane / 2, to, other);
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
        self.for_each_lane(8, mask, &mut |asm, lane| {
            if lane >= 2 && lane % 2 == 0 {
                asm.move_quarter(false, lane / 2, other, from);
            }
            let source = if lane < 2 { from } else { other };
            let opcode = if lane % 2 == 0 { (1, 3, 0x11) } else { (1, 1, 0x17) };
            asm.lowest(true, opcode, (source.0, 0, Source::Strided(i32::from(lane) * bytes)));
        });
    }

    /// Lanes of 8 bytes from the slots, of `width` bytes, whose numbers are the lanes of `slots`,
    /// with two other registers; with a mask, zeros elsewhere. The mask has its first lanes set.
    ///
    /// Lane by lane: the instruction that gathers takes as long where it is fast, and many times as
    /// long on processors on which it is mended against leaks.
    pub fn gather(
        &mut self,
        width: u8,
        to: Vector,
        (base, slots): (Pointer, Vector),
        [numbers, values]: [Vector; 2],
        mask: Option<Mask>,
    ) {
        if mask.is_some() {
            self.zero(to);
        }
        self.for_each_lane(8, mask, &mut |asm, lane| {
            if lane >= 2 && lane % 2 == 0 {
                asm.move_quarter(false, lane / 2, numbers, slots);
            }
            let (from, into) = if lane < 2 { (slots, to) } else { (numbers, values) };
            let odd = lane % 2 == 1;
            // vmovq, vpextrq
            asm.lane_word(odd, (if odd { (3, 1, 0x16) } else { (1, 1, 0x7e) }, from.0, 0));
            if width == 8 {
                asm.load_lane(odd, into, Source::Indexed(base, width));
            } else {
                asm.narrow_word(base, width);
                // vmovq, vpinsrq
                let (opcode, other) = if odd { ((3, 1, 0x22), into.0) } else { ((1, 1, 0x6e), 0) };
                asm.lane_word(odd, (opcode, into.0, other));
            }
            // Of a mask, each lane may be the last.
            if lane >= 2 && (mask.is_some() || odd) {
                asm.move_quarter(true, lane / 2, to, values);
            }
        });
    }

    /// All lanes from the slot, as wide as a lane, whose number is the first lane of `slots`.
    pub fn broadcast_slot(&mut self, lane: Lane, to: Vector, (base, slots): (Pointer, Vector)) {
        self.lane_word(false, ((1, 1, 0x7e), slots.0, 0));
        let opcode = (2, 1, 0x18 + u8::from(lane.is_long()));
        let w = lane.is_long() && self.isa == Isa::Avx512;
        self.vector(opcode, w, (to.0, 0, Source::Indexed(base, lane.bytes())));
    }

    /// The first or second lane of 8 bytes from memory; the first one sets the second to 0.
    fn load_lane(&mut self, second: bool, into: Vector, source: Source) {
        // vmovsd, vmovhpd
        match second {
            false => self.lowest(true, (1, 3, 0x10), (into.0, 0, source)),
            true => self.lowest(true, (1, 1, 0x16), (into.0, into.0, source)),
        }
    }

    /// An instruction on [`SCRATCH_ADDRESS`] and the first or second lane of 8 bytes of a vector.
    fn lane_word(&mut self, second: bool, (opcode, reg, other): (Opcode, u8, u8)) {
        let operands = (reg, other, Source::Register(SCRATCH_ADDRESS));
        match self.isa {
            Isa::Avx512 => self.evex_of(0, opcode, true, operands, (None, false)),
            Isa::Avx2 => self.vex(opcode, (true, false), operands),
        }
        if second {
            self.bytes.push(1);
        }
    }

    /// [`SCRATCH_ADDRESS`] is the slot of `width` bytes, below 8, whose number it was.
    fn narrow_word(&mut self, base: Pointer, width: u8) {
        // movzx r10d, byte or word; mov r10d, dword
        let rex = 0x40 | 1 << 2 | 1 << 1 | base.0 >> 3;
        self.bytes.push(rex);
        match width {
            1 => self.bytes.extend([0x0f, 0xb6]),
            2 => self.bytes.extend([0x0f, 0xb7]),
            _ => self.bytes.push(0x8b),
        }
        self.operand(SCRATCH_ADDRESS & 7, 4, Source::Indexed(base, width));
    }

    /// Code for each lane of so many bytes, 4 or 8, or for each of a mask that has its first lanes
    /// set.
    fn for_each_lane(&mut self, bytes: u8, mask: Option<Mask>, code: &mut dyn FnMut(&mut Assembler, u8)) {
        match mask {
            Some(mask) => self.for_each_lane_of(bytes, mask, code),
            None => (0..self.isa.vector_bytes() as u8 / bytes).for_each(|lane| code(self, lane)),
        }
    }

    /// Code for each lane of so many bytes, 4 or 8, of a mask that has its first lanes set.
    fn for_each_lane_of(&mut self, bytes: u8, mask: Mask, code: &mut dyn FnMut(&mut Assembler, u8)) {
        self.mask_bits(bytes, mask);
        self.for_each_lane_below(self.isa.vector_bytes() as u8 / bytes, code);
    }

    /// Sets [`SCRATCH_REGISTER`] to a bit for each lane of so many bytes, 4 or 8, of a mask.
    fn mask_bits(&mut self, bytes: u8, mask: Mask) {
        match self.isa {
            // kmovw r11d, k
            Isa::Avx512 => {
                self.bytes.extend([0xc5, 0x78, 0x93, 3 << 6 | (SCRATCH_REGISTER & 7) << 3 | mask.0])
            }
            // vmovmskps, vmovmskpd
            Isa::Avx2 => {
                let opcode = (1, u8::from(bytes == 8), 0x50);
                self.vex(opcode, (false, true), (SCRATCH_REGISTER, 0, Source::Register(mask.0)));
            }
        }
    }

    /// Tests the bit of a lane in [`SCRATCH_REGISTER`].
    fn test_lane(&mut self, lane: u8) {
        if lane < 8 {
            // test r11b, 1 << lane
            self.bytes.extend([0x41, 0xf6, 3 << 6 | SCRATCH_REGISTER & 7, 1 << lane]);
        } else {
            // test r11d, 1 << lane
            self.bytes.extend([0x41, 0xf7, 3 << 6 | SCRATCH_REGISTER & 7]);
            self.bytes.extend((1u32 << lane).to_le_bytes());
        }
    }

    /// Code for each lane whose bit is set in [`SCRATCH_REGISTER`], up to the first whose is not.
    fn for_each_lane_below(&mut self, lanes: u8, code: &mut dyn FnMut(&mut Assembler, u8)) {
        let mut ends = Vec::new();
        for lane in 0..lanes {
            self.test_lane(lane);
            ends.push(self.leave([0x0f, 0x84]));
            code(self, lane);
        }
        for end in ends {
            self.patch_jump(end);
        }
    }
}
