//! Narrowing of lanes: integers of 64 bits in a loop whose slots have at most 4 bytes are computed
//! in 32.
//!
//! `[ x.i * ((i :>> int) :> f32) for i in ..[N] ]` reads and writes `f32` by an index of 64 bits. A
//! loop goes by vectors if its lanes are equally wide, and lanes of 8 bytes are half as many. Sums,
//! products and bits of integers need no more bits of their operands than they have themselves, and
//! a conversion or comparison reads a number of 32 bits where its interval
//! ([`value_ranges`](super::value_ranges)) says that it is one (minimal bit widths: Stephenson,
//! Babb and Amarasinghe, *Bitwidth analysis with application to silicon compilation*, 2000).
//!
//! **Method.** For an innermost loop without branches. Each conversion, comparison, choice and store
//! of an integer of 64 bits that differs from round to round is made one of 32 bits, with new
//! registers for what it is computed from; the index is cut off. What stays the same may be any
//! number: it is moved into the bounds before it is compared, which no number within them sees.
//! Integers that nothing reads any more are dead. The loop stays as it was if lanes of 8 bytes are
//! left, or operations that lanes of 4 bytes do not have.
//!
//! **Same bits.** The low 32 bits of a sum, difference or product are those of the low bits of the
//! operands; a float of 4 bytes is rounded once, from the same number.
//!
//! Costs time in proportion to the statements.

use super::super::{Binary, Cast, Compare, IdMap, Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt, Unary};
use super::clone_stmts::{new_name, rename_all};
use super::integer_ranges::Interval;
use super::value_ranges::definition_intervals;
use super::{Builder, rewrite};
use crate::hash::{HashMap, HashSet};

const SIGNED: Interval = Interval { low: i32::MIN as i64, high: i32::MAX as i64 };
const UNSIGNED: Interval = Interval { low: 0, high: u32::MAX as i64 };

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    if !kernel.target.has_wide_vectors() || kernel.arrays.iter().all(|array| array.width == 8) {
        return;
    }
    let intervals = definition_intervals(kernel);
    rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if let Stmt::For { index, body, .. } | Stmt::ParallelFor { index, body, .. } = stmt
                && let Some(narrow) = narrowed(kernel, *index, body, &intervals)
            {
                *body = narrow;
            }
        }
        stmts
    });
}

/// The statements of a loop with all lanes of 4 bytes, if some have 8.
fn narrowed(
    kernel: &mut Kernel,
    index: Reg,
    body: &[Stmt],
    intervals: &IdMap<Reg, Interval>,
) -> Option<Vec<Stmt>> {
    let is_flat = |stmt: &Stmt| match stmt {
        Stmt::Let(_, Op::Load(array, ..)) | Stmt::Store(array, ..) => kernel.arrays[*array].width < 8,
        Stmt::Let(..) | Stmt::Set(..) => true,
        _ => false,
    };
    let has_stores = body.iter().any(|stmt| matches!(stmt, Stmt::Store(..)));
    if !has_stores || !body.iter().all(is_flat) {
        return None;
    }
    let lanes = Lanes::of(kernel, index, body);
    if lanes.are_short(kernel, body) {
        return None;
    }
    let ops = body.iter().filter_map(Stmt::as_definition).map(|(reg, op)| (reg, op.clone()));
    let ops: HashMap<Reg, Op> = ops.collect();
    let mut narrowing = Narrowing {
        build: Builder::new(kernel),
        index,
        ops,
        intervals,
        lanes,
        words: HashMap::default(),
        same: HashMap::default(),
    };
    for stmt in body {
        narrowing.statement(stmt);
    }
    let Narrowing { build: Builder { stmts: mut out, .. }, same, .. } = narrowing;
    rename_all(&mut out, &same);
    remove_dead(&mut out);
    Lanes::of(kernel, index, &out).are_short(kernel, &out).then_some(out)
}

/// Removes definitions that nothing reads.
fn remove_dead(body: &mut Vec<Stmt>) {
    let mut read: HashSet<Reg> = HashSet::default();
    let mut live: Vec<Stmt> = Vec::new();
    for stmt in std::mem::take(body).into_iter().rev() {
        if let Stmt::Let(reg, _) = &stmt
            && !read.contains(reg)
        {
            continue;
        }
        stmt.for_each_read(&mut |reg| _ = read.insert(reg));
        live.push(stmt);
    }
    live.reverse();
    *body = live;
}

/// The registers of a loop that have a lane for each round.
struct Lanes {
    index: Reg,
    /// Registers that differ from round to round.
    varying: HashSet<Reg>,
    /// Comparisons, and what is made of these by bits.
    truths: HashSet<Reg>,
    /// The values of variables in the round.
    gets: HashSet<Reg>,
    /// Registers that are read as numbers, not as slots alone.
    values: HashSet<Reg>,
    /// Slots from one round to the next.
    strides: HashMap<Reg, i64>,
}

impl Lanes {
    fn of(kernel: &Kernel, index: Reg, body: &[Stmt]) -> Lanes {
        let mut this = Lanes {
            index,
            varying: HashSet::from_iter([index]),
            truths: HashSet::default(),
            gets: HashSet::default(),
            values: HashSet::default(),
            strides: HashMap::from_iter([(index, 1)]),
        };
        for stmt in body {
            let Stmt::Let(reg, op) = stmt else { continue };
            let mut varies = matches!(op, Op::Get(_));
            op.for_each_reg(&mut |operand| varies |= this.varying.contains(&operand));
            if !varies {
                continue;
            }
            this.varying.insert(*reg);
            if matches!(op, Op::Get(_)) {
                this.gets.insert(*reg);
            }
            let is_truth = match op {
                Op::Compare(..) => true,
                Op::Binary(Binary::And | Binary::Or, a, b) => {
                    this.truths.contains(a) && this.truths.contains(b)
                }
                _ => false,
            };
            if is_truth {
                this.truths.insert(*reg);
            }
            if let Some(stride) = this.stride_of(kernel, op) {
                this.strides.insert(*reg, stride);
            }
        }
        for stmt in body.iter().rev() {
            match stmt {
                Stmt::Let(reg, op) if this.values.contains(reg) && !matches!(op, Op::Load(..)) => {
                    op.for_each_reg(&mut |operand| _ = this.values.insert(operand));
                }
                Stmt::Store(_, _, value) | Stmt::Set(_, value) => drop(this.values.insert(*value)),
                _ => {}
            }
        }
        this
    }

    /// The difference of an operation's result from a round to the next, if it is known.
    fn stride_of(&self, kernel: &Kernel, op: &Op) -> Option<i64> {
        let stride = |reg: &Reg| match self.varying.contains(reg) {
            true => self.strides.get(reg).copied(),
            false => Some(0),
        };
        let constant = |reg: &Reg| kernel.constants.get(reg).map(|n| *n as i64);
        match op {
            Op::Binary(Binary::Add, a, b) => stride(a)?.checked_add(stride(b)?),
            Op::Binary(Binary::Sub, a, b) => stride(a)?.checked_sub(stride(b)?),
            Op::Binary(Binary::Mul, a, b) => match (constant(a), constant(b)) {
                (_, Some(factor)) => stride(a)?.checked_mul(factor),
                (Some(factor), _) => stride(b)?.checked_mul(factor),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns true if all lanes that are numbers have at most 4 bytes, by operations that such
    /// lanes have.
    fn are_short(&self, kernel: &Kernel, body: &[Stmt]) -> bool {
        body.iter().all(|stmt| match stmt {
            Stmt::Let(reg, op) => {
                !self.values.contains(reg) || !self.varying.contains(reg) || self.is_short(kernel, *reg, op)
            }
            Stmt::Store(array, at, value) => {
                let width = usize::from(kernel.arrays[*array].width);
                self.strides.get(at) == Some(&1)
                    && kernel.regs[*value].bytes() == width
                    && self.index != *value
            }
            _ => true,
        })
    }

    /// Returns true for an operation of lanes of 4 bytes.
    fn is_short(&self, kernel: &Kernel, reg: Reg, op: &Op) -> bool {
        let ty = kernel.regs[reg];
        let short = |reg: &Reg| !self.varying.contains(reg) || kernel.regs[*reg].bytes() == 4;
        let is_known = |reg: &Reg| kernel.constants.contains_key(reg);
        match op {
            Op::Get(_) => true,
            Op::Load(array, at, _) => {
                let width = usize::from(kernel.arrays[*array].width);
                width == ty.bytes() && self.strides.get(at) == Some(&1)
            }
            // Sums of truth values are counts.
            Op::Binary(Binary::Add, a, b) if self.gets.contains(a) || self.gets.contains(b) => {
                let counts = [a, b].iter().any(|reg| self.truths.contains(reg));
                counts || ty == ScalarType::F32
            }
            _ if self.truths.contains(&reg) => match op {
                Op::Compare(_, a, b) if !self.truths.contains(a) => short(a) && short(b),
                _ => true,
            },
            Op::Binary(Binary::Shl | Binary::Shr, a, places) => {
                ty.bytes() == 4 && short(a) && is_known(places)
            }
            Op::Binary(kind, a, b) => !kind.is_integer_division() && ty.bytes() == 4 && short(a) && short(b),
            Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) => false,
            Op::Unary(_, a) => ty.bytes() == 4 && short(a),
            Op::Select(condition, a, b) => {
                ty.bytes() == 4 && self.truths.contains(condition) && short(a) && short(b)
            }
            Op::Call(f, args) => *f == ScalarFunction::Fma && ty.bytes() == 4 && args.iter().all(short),
            Op::Cast(Cast::Truncate, ScalarType::I32, from) if kernel.regs[*from].bytes() == 8 => {
                *from == self.index
            }
            Op::Cast(_, _, from) => ty.bytes() <= 4 && kernel.regs[*from].bytes() <= 4,
            Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Compare(..) => false,
        }
    }
}

/// The narrow statements of a loop.
struct Narrowing<'k> {
    build: Builder<'k>,
    index: Reg,
    /// The operations of the loop.
    ops: HashMap<Reg, Op>,
    intervals: &'k IdMap<Reg, Interval>,
    lanes: Lanes,
    /// Registers of 32 bits that hold the low bits of others.
    words: HashMap<Reg, Reg>,
    /// Registers that are equal to others.
    same: HashMap<Reg, Reg>,
}

impl Narrowing<'_> {
    fn is_word(&self, reg: Reg) -> bool {
        self.build.kernel.regs[reg] == ScalarType::I64
    }

    /// Returns true if a register is a number within bounds.
    fn is_within(&self, reg: Reg, bounds: Interval) -> bool {
        let interval = match self.build.kernel.constants.get(&reg) {
            Some(bits) => Some(Interval::exactly(*bits as i64)),
            None => self.intervals.get(&reg).copied(),
        };
        interval.is_some_and(|interval| bounds.low <= interval.low && interval.high <= bounds.high)
    }

    fn statement(&mut self, stmt: &Stmt) {
        let narrow = match stmt {
            Stmt::Let(reg, op) => self.operation(*reg, op),
            Stmt::Store(array, at, value) => {
                let ty = match self.build.kernel.arrays[*array].width {
                    1 => ScalarType::I8,
                    2 => ScalarType::I16,
                    _ => ScalarType::I32,
                };
                self.integer(*value, ty).map(|value| Stmt::Store(*array, *at, value))
            }
            _ => None,
        };
        self.build.stmts.push(narrow.unwrap_or_else(|| stmt.clone()));
    }

    /// The low bits of a register of 64 bits, as an integer of a type.
    fn integer(&mut self, reg: Reg, ty: ScalarType) -> Option<Reg> {
        if !self.is_word(reg) {
            return None;
        }
        let word = self.word(reg)?;
        Some(match ty {
            ScalarType::I32 => word,
            ty => self.build.define(ty, Op::Cast(Cast::Truncate, ty, word)),
        })
    }

    /// An operation that reads no more than 32 bits.
    fn operation(&mut self, reg: Reg, op: &Op) -> Option<Stmt> {
        match *op {
            Op::Load(array, at, ScalarType::I64) => {
                let (ty, width) = match self.build.kernel.arrays[array].width {
                    1 => (ScalarType::I8, 1),
                    2 => (ScalarType::I16, 2),
                    _ => (ScalarType::I32, 4),
                };
                let slot = self.build.define(ty, Op::Load(array, at, ty));
                let word = match width {
                    4 => slot,
                    _ => {
                        self.build.define(ScalarType::I32, Op::Cast(Cast::ZeroExtend, ScalarType::I32, slot))
                    }
                };
                self.words.insert(reg, word);
                None
            }
            Op::Cast(Cast::Truncate, ty, from) => {
                let integer = self.integer(from, ty)?;
                self.same.insert(reg, integer);
                None
            }
            Op::Cast(kind @ (Cast::SignedToFloat | Cast::UnsignedToFloat), ScalarType::F32, from)
                if self.is_word(from) =>
            {
                self.converted(kind, from).map(|op| Stmt::Let(reg, op))
            }
            // An integer of 32 bits has a float of 8 bytes, so it is rounded once.
            Op::Cast(Cast::FloatToFloat, ScalarType::F32, double) => match self.ops.get(&double) {
                Some(Op::Cast(Cast::SignedToFloat, _, from)) if self.is_word(*from) => {
                    self.converted(Cast::SignedToFloat, *from).map(|op| Stmt::Let(reg, op))
                }
                _ => None,
            },
            Op::Compare(kind, a, b) if self.is_word(a) && !self.lanes.truths.contains(&a) => {
                let (a, b) = self.compared(kind, a, b)?;
                Some(Stmt::Let(reg, Op::Compare(kind, a, b)))
            }
            Op::Compare(kind, a, b) if self.build.kernel.regs[a] == ScalarType::F64 => {
                let (a, b) = (self.single(a)?, self.single(b)?);
                Some(Stmt::Let(reg, Op::Compare(kind, a, b)))
            }
            _ => None,
        }
    }

    /// A float of 4 bytes that is equal to one of 8.
    fn single(&mut self, reg: Reg) -> Option<Reg> {
        if let Some(bits) = self.build.kernel.constants.get(&reg) {
            let (double, single) = (f64::from_bits(*bits), f64::from_bits(*bits) as f32);
            let is_exact = f64::from(single) == double;
            let bits = u64::from(single.to_bits());
            return is_exact.then(|| self.build.define(ScalarType::F32, Op::Const(ScalarType::F32, bits)));
        }
        match self.ops.get(&reg)? {
            Op::Cast(Cast::FloatToFloat, _, from) if self.build.kernel.regs[*from] == ScalarType::F32 => {
                Some(*from)
            }
            _ => None,
        }
    }

    /// The conversion of an integer to a float of 4 bytes.
    fn converted(&mut self, kind: Cast, from: Reg) -> Option<Op> {
        let signed =
            self.is_within(from, SIGNED) && (kind == Cast::SignedToFloat || self.is_within(from, UNSIGNED));
        if !signed && !self.is_within(from, UNSIGNED) {
            return None;
        }
        let word = self.word(from)?;
        let kind = if signed { Cast::SignedToFloat } else { Cast::UnsignedToFloat };
        Some(Op::Cast(kind, ScalarType::F32, word))
    }

    /// The operands of a comparison in 32 bits.
    fn compared(&mut self, kind: Compare, a: Reg, b: Reg) -> Option<(Reg, Reg)> {
        let is_unsigned = matches!(kind, Compare::LtUnsigned | Compare::LeUnsigned);
        let bounds = if is_unsigned { UNSIGNED } else { SIGNED };
        // Within the bounds by one, so that what is moved to a bound is equal to none.
        let inner = Interval { low: bounds.low + 1, high: bounds.high - 1 };
        let operand = |this: &mut Self, reg: Reg, other: Reg| {
            if this.is_within(reg, bounds) {
                return this.word(reg);
            }
            let is_bounded =
                !is_unsigned && !this.lanes.varying.contains(&reg) && this.is_within(other, inner);
            is_bounded.then(|| this.clamped(reg))
        };
        Some((operand(self, a, b)?, operand(self, b, a)?))
    }

    /// A number moved into the bounds of 32 bits with sign.
    fn clamped(&mut self, reg: Reg) -> Reg {
        let mut clamped = reg;
        for (bound, is_low) in [(SIGNED.low, true), (SIGNED.high, false)] {
            let bound = self.build.define(ScalarType::I64, Op::Const(ScalarType::I64, bound as u64));
            let (a, b) = if is_low { (clamped, bound) } else { (bound, clamped) };
            let is_beyond = self.build.define(ScalarType::I64, Op::Compare(Compare::Lt, a, b));
            clamped = self.build.define(ScalarType::I64, Op::Select(is_beyond, bound, clamped));
        }
        self.build.define(ScalarType::I32, Op::Cast(Cast::Truncate, ScalarType::I32, clamped))
    }

    /// The low 32 bits of a register of 64, as a register of its own; of what stays the same and of
    /// the index they are cut off.
    fn word(&mut self, reg: Reg) -> Option<Reg> {
        if let Some(word) = self.words.get(&reg) {
            return Some(*word);
        }
        if let Some(Op::Cast(Cast::SignExtend | Cast::ZeroExtend, _, from)) = self.ops.get(&reg)
            && self.build.kernel.regs[*from].bytes() == 4
        {
            // It may be cut off from another one itself.
            return Some(new_name(&self.same, *from));
        }
        let op = match self.build.kernel.constants.get(&reg) {
            Some(bits) => Op::Const(ScalarType::I32, bits & u64::from(u32::MAX)),
            None if reg == self.index || !self.lanes.varying.contains(&reg) => {
                Op::Cast(Cast::Truncate, ScalarType::I32, reg)
            }
            None => self.word_operation(reg)?,
        };
        let word = self.build.define(ScalarType::I32, op);
        self.words.insert(reg, word);
        Some(word)
    }

    /// The operation that gives the low 32 bits of what another one gives.
    fn word_operation(&mut self, reg: Reg) -> Option<Op> {
        let op = self.ops.get(&reg)?.clone();
        Some(match op {
            Op::Binary(kind @ (Binary::Add | Binary::Sub | Binary::Mul), a, b)
            | Op::Binary(kind @ (Binary::And | Binary::Or | Binary::Xor), a, b)
                if !self.lanes.truths.contains(&reg) =>
            {
                Op::Binary(kind, self.word(a)?, self.word(b)?)
            }
            Op::Binary(kind @ (Binary::Shl | Binary::Shr), a, places) => {
                let known = self.build.kernel.constants.get(&places).is_some_and(|n| *n < 32);
                if !known || kind == Binary::Shr && !self.is_within(a, UNSIGNED) {
                    return None;
                }
                Op::Binary(kind, self.word(a)?, self.word(places)?)
            }
            Op::Unary(kind @ (Unary::Not | Unary::Neg), a) => Op::Unary(kind, self.word(a)?),
            Op::Select(condition, a, b) if self.lanes.truths.contains(&condition) => {
                Op::Select(condition, self.word(a)?, self.word(b)?)
            }
            Op::Cast(kind @ (Cast::SignExtend | Cast::ZeroExtend), _, from) => {
                Op::Cast(kind, ScalarType::I32, from)
            }
            Op::Cast(Cast::FloatToSigned, _, from) if self.is_within(reg, SIGNED) => {
                let from =
                    if self.build.kernel.regs[from] == ScalarType::F32 { from } else { self.single(from)? };
                Op::Cast(Cast::FloatToSigned, ScalarType::I32, from)
            }
            // A truth value that is a number.
            _ if self.lanes.truths.contains(&reg) => {
                let one = self.build.define(ScalarType::I32, Op::Const(ScalarType::I32, 1));
                let zero = self.build.define(ScalarType::I32, Op::Const(ScalarType::I32, 0));
                Op::Select(reg, one, zero)
            }
            _ => return None,
        })
    }
}
