//! Operations on lanes of 4 and 8 bytes, by the instructions of AVX-512 and AVX2.
//!
//! Where a set has no instruction, several do the same in every bit: products, quotients by
//! constants and conversions of 64 bits with AVX2, extremes of floats with both.

use super::asm_x64::{Arithmetic, Assembler, Conversion, Extension, Lane, Mask, Vector};
use super::lane_ranges::{divides_halves, signed_factor};
use super::vector_plan::{Role, has_components};
use super::vector_registers::{Loop, Place, Registers, Word};
use crate::loop_ir::reciprocal::reciprocal;
use crate::loop_ir::{Binary, Cast, Compare, Isa, Op, Reg, ScalarFunction, ScalarType, Unary};

const TWO_32: f64 = (1u64 << 32) as f64;
const TWO_52: f64 = (1u64 << 52) as f64;
const TWO_63: f64 = (1u64 << 63) as f64;
const TWO_84: f64 = TWO_52 * TWO_32;

impl Loop<'_> {
    /// One operation.
    pub(super) fn operation(
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
                compare(asm, self.lane(*a), new, both, *kind);
                return Some(());
            }
            _ => {}
        }
        let lane = self.lane(reg);
        if let Op::Load(array, place, _) = op
            && matches!(self.role(*place), Role::Lanes | Role::Same)
        {
            let slots = self.vector(asm, registers, *place)?;
            let to = self.take(asm, registers)?;
            let base = self.pointer(asm, Word::Base(*array));
            if self.plan.is_uniform(*place) {
                asm.broadcast_slot(lane, to, (base, slots));
            } else {
                let others = [self.take(asm, registers)?, self.take(asm, registers)?];
                let width = self.kernel.arrays[*array].width;
                match mask {
                    // Any lanes may be active: the others read the first slot.
                    Some(active) if registers.nested => {
                        let numbers = self.take(asm, registers)?;
                        self.constant(asm, Lane::I64, numbers, 0);
                        asm.blend(Lane::I64, numbers, active, (slots, numbers));
                        asm.gather(width, to, (base, numbers), others, None);
                        registers.vectors.push(numbers);
                    }
                    _ => asm.gather(width, to, (base, slots), others, mask),
                }
                registers.vectors.extend(others);
            }
            self.release(registers, &[*place], &[slots]);
            registers.places.insert(reg, Place::Vector(to));
            return Some(());
        }
        if let Op::Load(array, place, _) = op {
            let from = self.pointer(asm, Word::Place(*array, *place));
            let to = self.take(asm, registers)?;
            registers.places.insert(reg, Place::Vector(to));
            let width = self.kernel.arrays[*array].width;
            let stride = self.plan.stride(*place);
            if stride != 1 {
                let other = self.take(asm, registers)?;
                let bytes = i32::from(width) * stride as i32;
                match mask {
                    None if has_components(width, stride) => {
                        asm.load_interleaved(lane, to, (from, stride as usize), other);
                    }
                    Some(mask) if width == 4 => asm.load_strided_short(to, (from, bytes), other, mask),
                    _ if width == 8 => asm.load_strided(to, (from, bytes), other, mask),
                    _ => return None,
                }
                registers.vectors.push(other);
            } else if usize::from(width) < self.plan.width {
                let extension = match self.kernel.regs[reg] {
                    ScalarType::F32 => Extension::Float,
                    ScalarType::I64 => Extension::Zero,
                    _ if self.zero_extended.contains(&reg) => Extension::Zero,
                    _ => Extension::Sign,
                };
                asm.load_narrow(lane, (extension, width), to, from, mask);
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
            Op::Cast(cast, _, a) => {
                self.cast(asm, registers, (*cast, *a), (own?, vectors[0]))?;
                true
            }
            Op::Binary(kind @ (Binary::Min | Binary::Max), ..) => {
                let both = (vectors[0], vectors[1]);
                self.extreme(asm, registers, *kind == Binary::Max, lane, own?, both, None)?;
                true
            }
            Op::Binary(Binary::Mul, a, b) if lane == Lane::I64 => {
                let both = (vectors[0], vectors[1]);
                let known = |reg: &Reg| self.kernel.constants.get(reg).copied().and_then(shift_and_add);
                if let Some(shift) = known(b) {
                    self.multiple(asm, own?, both.0, shift);
                } else if let Some(shift) = known(a) {
                    self.multiple(asm, own?, both.1, shift);
                } else if [*a, *b].iter().all(|reg| self.plan.ranges.is_signed_half(self.kernel, *reg)) {
                    asm.signed_half_product(own?, both);
                } else {
                    let halves = [*a, *b].map(|reg| self.plan.ranges.is_half(self.kernel, reg));
                    self.product(asm, registers, own?, both, halves)?;
                }
                true
            }
            Op::Binary(kind, a, b) if kind.is_integer_division() => {
                let (bits, unsigned) = (
                    8 * self.kernel.regs[*b].bytes(),
                    matches!(kind, Binary::DivUnsigned | Binary::RemUnsigned),
                );
                let divisor = self.kernel.constants[b] & (u64::MAX >> (64 - bits));
                let (to, mut from, mut number) = (own?, vectors[0], None);
                let narrow = unsigned && bits < 64;
                if narrow {
                    // The lane has the sign extended.
                    let natural = self.take(asm, registers)?;
                    self.constant(asm, Lane::I64, natural, u64::MAX >> (64 - bits));
                    asm.arithmetic(Arithmetic::And, Lane::I64, natural, (from, natural), None);
                    (from, number) = (natural, Some(natural));
                }
                let is_half = narrow || self.plan.ranges.is_half(self.kernel, *a);
                let halves = is_half && divides_halves(divisor);
                if divisor.is_power_of_two() {
                    self.quotient_by_power(asm, registers, to, from, divisor.ilog2() as u8)?;
                } else if halves {
                    self.quotient_of_half(asm, to, from, divisor);
                } else {
                    self.quotient(asm, registers, to, from, divisor)?;
                }
                if matches!(kind, Binary::RemSigned | Binary::RemUnsigned) {
                    self.remainder(asm, registers, to, from, divisor, halves)?;
                }
                registers.vectors.extend(number);
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
                    Unary::PopCount => asm.population_count(to, a),
                    Unary::TrailingZeros => return None,
                }
            }
            _ => return None,
        }
        if self.kernel.regs[reg].bytes() < self.plan.width {
            self.cut_off(asm, registers, reg, op, to)?;
        }
        registers.places.insert(reg, Place::Vector(to));
        Some(())
    }

    /// Rounds or wraps the results of an operation in lanes that are wider than its type.
    fn cut_off(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        reg: Reg,
        op: &Op,
        to: Vector,
    ) -> Option<()> {
        let ty = self.kernel.regs[reg];
        let leaves = match op {
            Op::Binary(kind, ..) => {
                let is_remainder = *kind == Binary::RemUnsigned;
                is_remainder || matches!(kind, Binary::Add | Binary::Sub | Binary::Mul | Binary::DivFloat)
            }
            Op::Unary(kind, _) if ty.is_float() => *kind == Unary::Sqrt,
            Op::Unary(kind, _) => *kind == Unary::Neg,
            Op::Cast(kind, ..) => !matches!(kind, Cast::SignExtend | Cast::ZeroExtend),
            _ => false,
        };
        if !leaves || self.uncut.contains(&reg) {
            return Some(());
        }
        if ty.is_float() {
            asm.round_to_single(to, to);
            return Some(());
        }
        // The bits of the number without sign, and it less twice the sign.
        let (sign, lane) = (1 << (8 * ty.bytes() - 1), self.lane(reg));
        let constant = self.take(asm, registers)?;
        for (op, bits) in [(Arithmetic::And, 2 * sign - 1), (Arithmetic::Xor, sign), (Arithmetic::Sub, sign)]
        {
            self.constant(asm, lane, constant, bits);
            asm.arithmetic(op, lane, to, (to, constant), None);
        }
        registers.vectors.push(constant);
        Some(())
    }

    /// `to`, which is another register than `from`, is the number `from` in another type. The type
    /// of the result may leave it to [`Loop::cut_off`] what lanes of 8 bytes have too many.
    fn cast(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (cast, operand): (Cast, Reg),
        (to, from): (Vector, Vector),
    ) -> Option<()> {
        let operand_bits = 8 * self.kernel.regs[operand].bytes();
        match cast {
            Cast::SignExtend | Cast::Truncate | Cast::FloatToFloat | Cast::FloatToBits => asm.copy(to, from),
            Cast::ZeroExtend if self.zero_extended.contains(&operand) => asm.copy(to, from),
            Cast::ZeroExtend => {
                let lane = self.lane(operand);
                self.constant(asm, lane, to, u64::MAX >> (64 - operand_bits));
                asm.arithmetic(Arithmetic::And, lane, to, (to, from), None);
            }
            Cast::SignedToFloat if self.plan.width == 4 => asm.convert_short(to, from),
            Cast::UnsignedToFloat if self.plan.width == 4 => {
                self.convert_short_unsigned(asm, registers, (to, from))?;
            }
            Cast::FloatToSigned if self.plan.width == 4 => asm.truncate_single(to, from),
            // The integer in the low bits of 1.5 * 2^52.
            Cast::SignedToFloat
                if self.isa == Isa::Avx2 && self.plan.ranges.is_signed_half(self.kernel, operand) =>
            {
                let offset = self.take(asm, registers)?;
                self.constant(asm, Lane::I64, offset, (1.5 * TWO_52).to_bits());
                asm.arithmetic(Arithmetic::Add, Lane::I64, to, (from, offset), None);
                asm.arithmetic(Arithmetic::Sub, Lane::F64, to, (to, offset), None);
                registers.vectors.push(offset);
            }
            Cast::SignedToFloat | Cast::UnsignedToFloat | Cast::FloatToSigned => {
                self.convert(asm, registers, cast, (to, from))?;
            }
        }
        Some(())
    }

    /// `to`, which is another register than `from`, is the number `from` converted.
    ///
    /// AVX2 has no conversions of lanes of 8 bytes. A half of an integer in the low bits of 2^52
    /// (or 2^84, for the high half) is a float; the sum of the halves is rounded once. The other
    /// way, a float without its fraction is a multiple of 2^32 and a rest, and each becomes an
    /// integer when 2^52 is added (1.5 times as much for one with a sign): exact in range.
    pub(super) fn convert(
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
            Cast::SignExtend | Cast::ZeroExtend | Cast::Truncate | Cast::FloatToFloat | Cast::FloatToBits => {
                return None;
            }
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

    /// Integers of 4 bytes without sign as floats in another register. AVX2 adds those of the upper
    /// and the lower 16 bits, which are exact: the sum is rounded once.
    fn convert_short_unsigned(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        (to, from): (Vector, Vector),
    ) -> Option<()> {
        if self.isa == Isa::Avx512 {
            asm.convert_short_unsigned(to, from);
            return Some(());
        }
        let (int, float) = (Lane::I32, Lane::F32);
        let (high, constant) = (self.take(asm, registers)?, self.take(asm, registers)?);
        self.constant(asm, int, constant, 16);
        asm.arithmetic(Arithmetic::Shr, int, high, (from, constant), None);
        asm.convert_short(high, high);
        self.constant(asm, float, constant, u64::from(65536f32.to_bits()));
        asm.arithmetic(Arithmetic::Mul, float, high, (high, constant), None);
        self.constant(asm, int, constant, 0xffff);
        asm.arithmetic(Arithmetic::And, int, to, (from, constant), None);
        asm.convert_short(to, to);
        asm.arithmetic(Arithmetic::Add, float, to, (high, to), None);
        registers.vectors.extend([high, constant]);
        Some(())
    }

    /// Products of lanes of 8 bytes in a register `to` that is no operand; `halves` says of each
    /// factor whether it is below 2^32.
    pub(super) fn product(
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

    /// Multiples of lanes of 8 bytes in a register `to` that is not `from`.
    fn multiple(&mut self, asm: &mut Assembler, to: Vector, from: Vector, (places, rest): ShiftAndAdd) {
        asm.shift(true, to, from, places);
        if let Some(op) = rest {
            asm.arithmetic(op, Lane::I64, to, (to, from), None);
        }
    }

    /// Quotients toward 0 of integers by 2^`places`, at least 2, in a register `to` that is not
    /// `from`: a negative number is made larger by all but one of the divisor, and shifted with its
    /// sign. AVX2 has no such shift, and shifts the absolute value.
    fn quotient_by_power(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        to: Vector,
        from: Vector,
        places: u8,
    ) -> Option<()> {
        use Arithmetic::{Add, Sub, Xor};
        let op = |asm: &mut Assembler, op, to, a, b| asm.arithmetic(op, Lane::I64, to, (a, b), None);
        match self.isa {
            Isa::Avx512 => {
                if places > 1 {
                    asm.shift_signed(to, from, 63);
                }
                let bits = if places > 1 { to } else { from };
                asm.shift(false, to, bits, 64 - places);
                op(asm, Add, to, to, from);
                asm.shift_signed(to, to, places);
            }
            Isa::Avx2 => {
                let sign = self.take(asm, registers)?;
                asm.shift(false, to, from, 63);
                self.constant(asm, Lane::I64, sign, 0);
                op(asm, Sub, sign, sign, to);
                op(asm, Xor, to, from, sign);
                op(asm, Sub, to, to, sign);
                asm.shift(false, to, to, places);
                op(asm, Xor, to, to, sign);
                op(asm, Sub, to, to, sign);
                registers.vectors.push(sign);
            }
        }
        Some(())
    }

    /// Quotients of natural numbers below 2^32 by a divisor that is no power of two, in a register
    /// `to` that is not `from`. The factor has 33 bits, of which the highest is the number itself.
    pub(super) fn quotient_of_half(&mut self, asm: &mut Assembler, to: Vector, from: Vector, divisor: u64) {
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
    pub(super) fn quotient(
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
    /// 2^32 if `is_half`.
    pub(super) fn remainder(
        &mut self,
        asm: &mut Assembler,
        registers: &mut Registers,
        to: Vector,
        from: Vector,
        divisor: u64,
        is_half: bool,
    ) -> Option<()> {
        let (factor, whole) = (self.take(asm, registers)?, self.take(asm, registers)?);
        if let Some(shift) = shift_and_add(divisor) {
            self.multiple(asm, whole, to, shift);
        } else {
            self.constant(asm, Lane::I64, factor, divisor);
            let halves = [is_half, divisor <= u64::from(u32::MAX)];
            self.product(asm, registers, whole, (to, factor), halves)?;
        }
        asm.arithmetic(Arithmetic::Sub, Lane::I64, to, (from, whole), None);
        registers.vectors.extend([factor, whole]);
        Some(())
    }

    /// The larger of two floats if `max`, else the smaller; with a mask, other lanes stay as they
    /// are. Of two zeros, and where one is NaN, the machine takes its second operand. So it is
    /// asked twice, with the operands in either order: a largest zero has a sign if both have, a
    /// smallest if one has. NaN is put in its place.
    #[allow(clippy::too_many_arguments)] // registers, and what is done with them
    pub(super) fn extreme(
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
    pub(super) fn negate(
        &mut self,
        asm: &mut Assembler,
        lane: Lane,
        (to, a, other): (Vector, Vector, Vector),
    ) {
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

/// A shift to the left, and what is done with the number itself after it.
type ShiftAndAdd = (u8, Option<Arithmetic>);

/// A multiplication by a power of two, or by a neighbor of one.
fn shift_and_add(factor: u64) -> Option<ShiftAndAdd> {
    let places = |power: u64| (power > 1 && power.is_power_of_two()).then(|| power.ilog2() as u8);
    let beside = |power: Option<u64>, op| Some((places(power?)?, Some(op)));
    places(factor)
        .map(|places| (places, None))
        .or_else(|| beside(factor.checked_sub(1), Arithmetic::Add))
        .or_else(|| beside(factor.checked_add(1), Arithmetic::Sub))
}

/// The instruction of an operation on lanes.
pub(super) fn arithmetic(kind: Binary) -> Option<Arithmetic> {
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

/// The lanes in which a comparison holds.
pub(super) fn compare(asm: &mut Assembler, lane: Lane, to: Mask, both: (Vector, Vector), kind: Compare) {
    let (number, unsigned) = predicate(kind, lane);
    asm.compare((lane, unsigned), to, both, number);
}

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
