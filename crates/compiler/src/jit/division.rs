//! Quotients and remainders of integers.

use super::emit::{Emit, machine_type};
use crate::loop_ir::{Binary, ScalarType};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{BlockArg, InstBuilder, Value, types};

impl Emit<'_, '_> {
    /// A quotient or a remainder. Numbers of 64 bits that are natural and below 2^32 are divided as
    /// those of 32 bits, which some processors do three times as fast.
    pub(super) fn divide(
        &mut self,
        kind: Binary,
        ty: ScalarType,
        a: Value,
        b: Value,
        known: Option<u64>,
    ) -> Value {
        if ty != ScalarType::I64 || known.is_some() {
            return self.divide_whole(kind, ty, a, b, known);
        }
        let (short, long, end) = (self.b.create_block(), self.b.create_block(), self.b.create_block());
        let result = self.b.append_block_param(end, types::I64);
        let bits = self.b.ins().bor(a, b);
        let high = self.b.ins().ushr_imm_s(bits, 32);
        self.b.ins().brif(high, long, &[], short, &[]);
        self.b.switch_to_block(short);
        let halves = [a, b].map(|word| self.b.ins().ireduce(types::I32, word));
        let half = match kind {
            Binary::DivSigned | Binary::DivUnsigned => self.b.ins().udiv(halves[0], halves[1]),
            _ => self.b.ins().urem(halves[0], halves[1]),
        };
        let word = self.b.ins().uextend(types::I64, half);
        self.b.ins().jump(end, &[BlockArg::Value(word)]);
        self.b.switch_to_block(long);
        let word = self.divide_whole(kind, ty, a, b, known);
        self.b.ins().jump(end, &[BlockArg::Value(word)]);
        self.b.switch_to_block(end);
        result
    }

    /// A quotient or a remainder by an instruction for the type.
    fn divide_whole(
        &mut self,
        kind: Binary,
        ty: ScalarType,
        a: Value,
        b: Value,
        known: Option<u64>,
    ) -> Value {
        let signed = matches!(kind, Binary::DivSigned | Binary::RemSigned);
        // The machine divides 32 and 64 bits.
        let own = machine_type(ty);
        let wide = if ty.bytes() < 4 { types::I32 } else { own };
        let widen = |this: &mut Self, v: Value| match (wide == own, signed) {
            (true, _) => v,
            (false, true) => this.b.ins().sextend(wide, v),
            (false, false) => this.b.ins().uextend(wide, v),
        };
        let (a, b) = (widen(self, a), widen(self, b));
        let result = match kind {
            Binary::DivUnsigned => self.b.ins().udiv(a, b),
            Binary::RemUnsigned => self.b.ins().urem(a, b),
            _ => {
                let plain = known.is_some_and(|n| (1..=u64::MAX >> 1).contains(&n)) && ty == ScalarType::I64;
                if plain {
                    match kind {
                        Binary::DivSigned => self.b.ins().sdiv(a, b),
                        _ => self.b.ins().srem(a, b),
                    }
                } else {
                    // By -1 the smallest number traps: divide by 1 there.
                    let less = self.b.ins().iconst(wide, -1);
                    let minus = self.b.ins().icmp(IntCC::Equal, b, less);
                    let one = self.b.ins().iconst(wide, 1);
                    let safe = self.b.ins().select(minus, one, b);
                    match kind {
                        Binary::DivSigned => {
                            let quotient = self.b.ins().sdiv(a, safe);
                            let negative = self.b.ins().ineg(a);
                            self.b.ins().select(minus, negative, quotient)
                        }
                        _ => self.b.ins().srem(a, safe),
                    }
                }
            }
        };
        if wide == own { result } else { self.b.ins().ireduce(own, result) }
    }
}
