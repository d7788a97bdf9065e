//! Vector forms: the operations of a loop's rounds that vectors have, and the bytes of their lanes.
//!
//! Vectors are those of 256 bits and more, with lanes of 4 and 8 bytes. A loop goes by them if all
//! lanes are equally wide, or if those of 4 bytes are only loaded, converted and stored, so that
//! lanes of 8 bytes have them ([`promotion`](super::super::promotion));
//! [`distribute`](super::distribute) makes such loops of others that have both.

use super::super::promotion::converts_in_short_lanes;
use super::super::{
    Array, Binary, Cast, Compare, Kernel, MAX_COMPONENTS, Op, Reg, ScalarFunction, ScalarType, Stmt, Unary,
    has_vector_form,
};
use super::affine::Forms;
use crate::hash::{HashMap, HashSet};

/// Slots between those of two rounds, at most.
const MAX_STRIDE: u64 = 16;

/// The lanes of a register that differs from round to round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lanes {
    /// A sum or product of the index and of what stays the same: a number of any loop.
    Index,
    /// So many bytes: 4 or 8, in which there are numbers of 1 and 2 bytes, too.
    Bytes(usize),
}

/// The registers of a loop, as far as its statements have been looked at.
pub(super) struct VectorForms<'a, 'k> {
    kernel: &'a Kernel,
    index: Reg,
    /// Forms of slot numbers.
    pub forms: &'a mut Forms<'k>,
    /// Registers that differ from round to round.
    pub lanes: HashMap<Reg, Lanes>,
    /// Comparisons, and what is made of these by bits.
    pub truths: HashSet<Reg>,
    /// True if there are operations on lanes of 4 bytes, other than loads and conversions.
    pub has_short_operations: bool,
}

impl<'a, 'k> VectorForms<'a, 'k> {
    /// The state before the first statement of a loop over `index`.
    pub fn new(kernel: &'a Kernel, index: Reg, forms: &'a mut Forms<'k>) -> VectorForms<'a, 'k> {
        let lanes = HashMap::from_iter([(index, Lanes::Index)]);
        let truths = HashSet::default();
        VectorForms { kernel, index, forms, lanes, truths, has_short_operations: false }
    }

    /// The registers of a body that only computes and stores; `None` if vectors do not have all of
    /// it.
    pub fn of_body(
        kernel: &'a Kernel,
        index: Reg,
        body: &[Stmt],
        forms: &'a mut Forms<'k>,
    ) -> Option<VectorForms<'a, 'k>> {
        let mut vectors = VectorForms::new(kernel, index, forms);
        let has_all = body.iter().all(|stmt| match stmt {
            Stmt::Let(reg, op) => vectors.define(*reg, op),
            Stmt::Store(array, at, value) => vectors.has_slots(*array, *at, kernel.regs[*value]),
            _ => false,
        });
        has_all.then_some(vectors)
    }

    /// Returns true if an operand differs from round to round.
    pub fn varies(&self, op: &Op) -> bool {
        let mut varies = false;
        op.for_each_reg(&mut |reg| varies |= self.lanes.contains_key(&reg));
        varies
    }

    /// Adds a register that is set to an operation. Returns false if vectors do not have it.
    pub fn define(&mut self, reg: Reg, op: &Op) -> bool {
        if !self.varies(op) {
            return true;
        }
        let Some(lanes) = self.lanes_of(reg, op) else { return false };
        self.has_short_operations |= lanes == Lanes::Bytes(4) && !matches!(op, Op::Load(..) | Op::Cast(..));
        self.lanes.insert(reg, lanes);
        true
    }

    /// Returns true if the slots of an array are lanes of a type.
    pub fn has_slots(&mut self, array: Array, at: Reg, ty: ScalarType) -> bool {
        let width = usize::from(self.kernel.arrays[array].width);
        // A number in lanes is none that a loop of another width has, even if what differs cancels.
        if matches!(self.lanes.get(&at), Some(Lanes::Bytes(_))) {
            return false;
        }
        let form = self.forms.of(at);
        let mut stride = 0;
        for (reg, coefficient) in &form.terms {
            if *reg == self.index {
                stride = *coefficient;
            } else if self.lanes.contains_key(reg) {
                return false;
            }
        }
        let fits = width == ty.bytes() || ty == ScalarType::I64 && width < 8;
        let near = match width {
            _ if stride == 1 => true,
            8 => stride != 0 && stride.unsigned_abs() <= MAX_STRIDE,
            4 => ty.bytes() == 4 && (2..=MAX_COMPONENTS as i64).contains(&stride),
            _ => false,
        };
        fits && near
    }

    fn lanes_of(&mut self, reg: Reg, op: &Op) -> Option<Lanes> {
        let ty = self.kernel.regs[reg];
        let is_cut_off =
            matches!(op, Op::Cast(Cast::Truncate, _, a) if self.kernel.regs[*a] == ScalarType::I32);
        let wide = Some(Lanes::Bytes(if ty.bytes() == 4 || is_cut_off { 4 } else { 8 }));
        let is = |has: bool| wide.filter(|_| has);
        match op {
            Op::Load(array, at, _) => {
                let has = self.has_slots(*array, *at, ty);
                wide.filter(|_| has)
            }
            Op::Compare(kind, a, b) => {
                let bytes = match self.lanes.get(a).or(self.lanes.get(b)) {
                    Some(Lanes::Bytes(bytes)) => *bytes,
                    _ => self.kernel.regs[*a].bytes(),
                };
                let is_not = *kind == Compare::Eq && self.kernel.constants.get(b) == Some(&0);
                let fits = bytes == self.kernel.regs[*a].bytes() || self.truths.contains(a) && is_not;
                self.truths.insert(reg);
                (fits && bytes >= 4 && self.are(bytes, op)).then_some(Lanes::Bytes(bytes))
            }
            Op::Binary(Binary::And | Binary::Or, a, b)
                if self.truths.contains(a) && self.truths.contains(b) =>
            {
                self.truths.insert(reg);
                (self.lanes.get(a) == self.lanes.get(b)).then(|| self.lanes[a])
            }
            Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b)
                if [a, b]
                    .iter()
                    .all(|reg| self.lanes.get(reg).is_none_or(|lanes| *lanes == Lanes::Index)) =>
            {
                Some(Lanes::Index)
            }
            Op::Binary(Binary::Shl | Binary::Shr, a, places) => {
                let known = self.kernel.constants.get(places).is_some_and(|n| *n < 8 * ty.bytes() as u64);
                is(known && self.are(ty.bytes(), op) && self.lanes.contains_key(a))
            }
            Op::Binary(Binary::DivSigned | Binary::RemSigned, a, divisor) => {
                let known = self.kernel.constants.get(divisor).is_some_and(|n| (2..1 << 63).contains(n));
                is(known && ty == ScalarType::I64 && self.are(8, op) && self.lanes.contains_key(a))
            }
            Op::Binary(kind, ..) => is(!kind.is_integer_division() && self.are(ty.bytes(), op)),
            Op::Call(ScalarFunction::Fma, _) => is(self.are(ty.bytes(), op)),
            Op::Call(f, _) => is(has_vector_form(*f) && ty == ScalarType::F64 && self.are(8, op)),
            Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) => None,
            Op::Unary(..) | Op::Select(..) => is(self.are(ty.bytes(), op)),
            Op::Cast(kind, _, a) => {
                let from = self.kernel.regs[*a];
                is(match kind {
                    // Lanes of 4 bytes hold shorter integers, too.
                    kind if converts_in_short_lanes(*kind, from, ty) => from.bytes() < 4 || self.are(4, op),
                    Cast::SignedToFloat if from.bytes() < 8 => ty == ScalarType::F64,
                    Cast::SignedToFloat | Cast::UnsignedToFloat => {
                        (from, ty) == (ScalarType::I64, ScalarType::F64) && self.are(8, op)
                    }
                    Cast::FloatToSigned | Cast::FloatToBits => {
                        (from, ty) == (ScalarType::F64, ScalarType::I64) && self.are(8, op)
                    }
                    Cast::ZeroExtend | Cast::SignExtend => ty == ScalarType::I64,
                    Cast::Truncate => from == ScalarType::I64 && self.are(8, op),
                    Cast::FloatToFloat => true,
                })
            }
            Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => None,
        }
    }

    /// Returns true if the lanes of all operands that differ have so many bytes; an index has 8.
    fn are(&self, bytes: usize, op: &Op) -> bool {
        let mut are = true;
        op.for_each_reg(&mut |reg| {
            are &= match self.lanes.get(&reg) {
                Some(Lanes::Index) => bytes == 8,
                Some(Lanes::Bytes(own)) => *own == bytes,
                None => true,
            };
        });
        are
    }
}
