//! Demanded bits: words of which only the lower halves are asked for are computed in lanes of 32
//! bits.
//!
//! ```text
//! r1 = add r0 r9                     n1 = add (truncate r0) (truncate r9)
//! r2 = and r1 4294967295      =>     n2 = shr n1 7
//! r3 = shr r2 7                      r3 = zero_extend n2
//! a[i] <- r3                         a[i] <- r3
//! ```
//!
//! Generators of random numbers, hashes and checksums have numbers of 32 bits, which a program with
//! integers of 64 bits cuts off by hand. A vector has twice as many of the narrow ones, and
//! multiplies them by one instruction (Budiu, Sakr, Walker and Goldstein, *BitValue inference:
//! detecting and exploiting narrow bitwidth computations*, 2000; LLVM's demanded bits).
//!
//! **Method.** A forward walk over the body of a loop finds the bits of each register that may be 1,
//! from constants, widths of slots and intervals ([`value_ranges`](super::value_ranges)); a
//! backward walk those that are asked for: a sum asks for all bits of its terms up to its highest
//! one, a constant mask for those it leaves. Sums, products, bits and shifts of which the lower half
//! is asked for, as far as bits may be 1, are narrow. Their operands are cut off, and their results
//! extended where another operation reads them.
//!
//! **Why nothing changes.** A narrow register has the bits of the word in all bits below the 32nd
//! that are asked for, and the word has no others that are: each operation asks for every bit of
//! its operands on which a bit depends that it is asked for. Other bits may differ; so what may be
//! 1 is not used to ask for less.
//!
//! **When.** All operations of the loop have vectors ([`vector_forms`](super::vector_forms)), and
//! there are several narrow ones for each number that is cut off or extended.
//! [`distribute`](super::distribute) makes loops for each width then.
//!
//! Costs time in proportion to the statements.

use super::super::{Array, Binary, Cast, IdMap, Kernel, Op, Reg, ScalarType, Stmt};
use super::affine::Forms;
use super::integer_ranges::Interval;
use super::value_ranges::definition_intervals;
use super::vector_forms::{Lanes, VectorForms};
use super::{LoopParts, loop_parts, rewrite};
use crate::hash::{HashMap, HashSet};

/// The bits of the lower half.
const HALF: u64 = 0xffff_ffff;

/// Narrow operations that one conversion takes as long as.
const CONVERSION_COST: usize = 4;

/// Narrow operations of the shortest loop; a product counts for several.
const MIN_OPERATIONS: usize = 8;

/// Narrow operations that a product of words takes as long as.
const PRODUCT_COST: usize = 4;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    if !kernel.target.has_wide_vectors() {
        return;
    }
    let found = narrowings(kernel);
    if found.is_empty() {
        return;
    }
    rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            let index = loop_parts(stmt).map(|parts| parts.index);
            if let Some(narrowing) = index.and_then(|index| found.get(&index)) {
                for body in stmt.bodies_mut() {
                    *body = narrowing.apply(kernel, std::mem::take(body));
                }
            }
        }
        stmts
    });
}

/// The loops with narrow registers, by their indices.
fn narrowings(kernel: &Kernel) -> HashMap<Reg, Narrowing> {
    let mut candidates = Vec::new();
    super::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Some(parts) = loop_parts(stmt) {
            let masks = |stmt: &Stmt| {
                matches!(stmt, Stmt::Let(_, Op::Binary(Binary::And | Binary::Shr, ..) | Op::Cast(..)))
            };
            let is_straight = parts.body.iter().all(|stmt| matches!(stmt, Stmt::Let(..) | Stmt::Store(..)));
            if is_straight && parts.body.iter().any(masks) {
                candidates.push(parts);
            }
        }
    });
    if candidates.is_empty() {
        return HashMap::default();
    }
    let (mut forms, intervals) = (Forms::new(kernel), definition_intervals(kernel));
    let found = candidates
        .iter()
        .filter_map(|parts| Some((parts.index, Narrowing::of(kernel, parts, &mut forms, &intervals)?)));
    found.collect()
}

/// The registers of a loop that are narrow.
struct Narrowing {
    narrow: HashSet<Reg>,
    /// Narrow ones that other operations read.
    extended: HashSet<Reg>,
}

/// The bits up to the highest one.
fn up_to_highest(bits: u64) -> u64 {
    match bits {
        0 => 0,
        bits => u64::MAX >> bits.leading_zeros(),
    }
}

/// The bits that numbers of an interval may have.
fn bits_of(interval: Option<&Interval>) -> u64 {
    match interval {
        Some(Interval { low: 0.., high }) => up_to_highest(*high as u64),
        _ => u64::MAX,
    }
}

/// The bits that the result of an operation on words may have.
fn possible(kernel: &Kernel, op: &Op, of: &dyn Fn(Reg) -> u64) -> u64 {
    match op {
        Op::Const(ScalarType::I64, bits) => *bits,
        Op::Compare(..) => 1,
        Op::Load(array, _, ScalarType::I64) => u64::MAX >> (64 - 8 * u32::from(kernel.arrays[*array].width)),
        Op::Cast(Cast::ZeroExtend, _, from) => u64::MAX >> (64 - 8 * kernel.regs[*from].bytes()),
        Op::Select(_, a, b) | Op::Binary(Binary::Or | Binary::Xor, a, b) => of(*a) | of(*b),
        Op::Binary(Binary::And, a, b) => of(*a) & of(*b),
        Op::Binary(Binary::Add, a, b) => match up_to_highest(of(*a) | of(*b)) {
            bits if bits >> 63 == 0 => bits << 1 | 1,
            _ => u64::MAX,
        },
        Op::Binary(kind @ (Binary::Shl | Binary::Shr), a, places) => {
            match (kind, kernel.constants.get(places)) {
                (Binary::Shl, Some(places @ 0..64)) => of(*a) << places,
                (_, Some(places @ 0..64)) => of(*a) >> places,
                _ => u64::MAX,
            }
        }
        _ => u64::MAX,
    }
}

impl Narrowing {
    fn of(
        kernel: &Kernel,
        parts: &LoopParts<'_>,
        forms: &mut Forms<'_>,
        intervals: &IdMap<Reg, Interval>,
    ) -> Option<Narrowing> {
        let vectors = VectorForms::of_body(kernel, parts.index, parts.body, forms)?;
        let mut bits: HashMap<Reg, u64> = HashMap::default();
        for stmt in parts.body {
            let Stmt::Let(reg, op) = stmt else { continue };
            let known = |reg| bits.get(&reg).copied().unwrap_or_else(|| bits_of(intervals.get(&reg)));
            let own = possible(kernel, op, &known) & bits_of(intervals.get(reg));
            bits.insert(*reg, own);
        }
        let possible = |reg: Reg| bits.get(&reg).copied().unwrap_or_else(|| bits_of(intervals.get(&reg)));
        let asked = asked_bits(kernel, parts);
        let is_narrow = |reg: Reg| asked.get(&reg).is_some_and(|bits| bits & possible(reg) & !HALF == 0);
        let places = |reg: &Reg| kernel.constants.get(reg).is_some_and(|places| *places < 32);
        let mut narrow = HashSet::default();
        let mut work = 0;
        for stmt in parts.body {
            let Stmt::Let(reg, op) = stmt else { continue };
            let varies = matches!(vectors.lanes.get(reg), Some(Lanes::Bytes(8)));
            if !varies || kernel.regs[*reg] != ScalarType::I64 || vectors.truths.contains(reg) {
                continue;
            }
            let (can, cost) = match op {
                Op::Load(array, ..) => (kernel.arrays[*array].width <= 4, 0),
                Op::Binary(Binary::Mul, ..) => (true, PRODUCT_COST),
                Op::Binary(Binary::Add | Binary::Sub | Binary::And | Binary::Or | Binary::Xor, a, b) => {
                    (![a, b].iter().any(|operand| vectors.truths.contains(operand)), 1)
                }
                Op::Binary(Binary::Shl, _, by) => (places(by), 1),
                // The bits that come down from the upper half are 0, or not asked for.
                Op::Binary(Binary::Shr, a, by) => {
                    let bits = asked.get(reg).copied().unwrap_or(0);
                    let from = kernel.constants.get(by).map_or(u64::MAX, |by| bits << (by % 64));
                    (places(by) && from & possible(*a) & !HALF == 0, 1)
                }
                _ => (false, 0),
            };
            if can && is_narrow(*reg) {
                narrow.insert(*reg);
                work += cost;
            }
        }
        let read_inside = narrow_operands(kernel, parts, &narrow);
        for stmt in parts.body {
            if let Stmt::Let(reg, Op::Load(..)) = stmt
                && !read_inside.contains(reg)
            {
                narrow.remove(reg);
            }
        }
        let (mut extended, mut cut_off) = (HashSet::default(), HashSet::default());
        for stmt in parts.body {
            let is_inside = match stmt {
                Stmt::Let(reg, _) => narrow.contains(reg),
                Stmt::Store(array, ..) => kernel.arrays[*array].width <= 4,
                _ => false,
            };
            stmt.for_each_reg(&mut |reg| {
                if narrow.contains(&reg) && !is_inside {
                    extended.insert(reg);
                } else if is_inside
                    && matches!(stmt, Stmt::Let(_, Op::Binary(..)))
                    && vectors.lanes.contains_key(&reg)
                    && !narrow.contains(&reg)
                {
                    cut_off.insert(reg);
                }
            });
        }
        for reg in parts.item.into_iter().flat_map(super::Summand::regs) {
            if narrow.contains(&reg) {
                extended.insert(reg);
            }
        }
        // Bytes have lanes of their own ([`narrow_integers`](super::narrow_integers)).
        if narrow.iter().all(|reg| bits.get(reg).is_some_and(|bits| *bits <= 255)) {
            return None;
        }
        let conversions = CONVERSION_COST * (extended.len() + cut_off.len());
        (work >= MIN_OPERATIONS && work > conversions).then_some(Narrowing { narrow, extended })
    }

    /// The statements with narrow registers.
    fn apply(&self, kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut build = super::Builder::new(kernel);
        let mut halves: HashMap<Reg, Reg> = HashMap::default();
        for stmt in body {
            match stmt {
                Stmt::Let(reg, op) if self.narrow.contains(&reg) => {
                    let half = match op {
                        Op::Load(array, at, _) => {
                            let ty = slot_type(build.kernel, array);
                            let slot = build.define(ty, Op::Load(array, at, ty));
                            match ty {
                                ScalarType::I32 => slot,
                                _ => build.define(
                                    ScalarType::I32,
                                    Op::Cast(Cast::ZeroExtend, ScalarType::I32, slot),
                                ),
                            }
                        }
                        Op::Binary(Binary::And, a, b) if lower_half_is_full(build.kernel, b) => {
                            half(&mut build, &mut halves, a)
                        }
                        Op::Binary(kind, a, b) => {
                            let (a, b) = (half(&mut build, &mut halves, a), half(&mut build, &mut halves, b));
                            build.define(ScalarType::I32, Op::Binary(kind, a, b))
                        }
                        op => unreachable!("no narrow operation: {op:?}"),
                    };
                    halves.insert(reg, half);
                    if self.extended.contains(&reg) {
                        let whole = Op::Cast(Cast::ZeroExtend, ScalarType::I64, half);
                        build.stmts.push(Stmt::Let(reg, whole));
                    }
                }
                Stmt::Store(array, at, value)
                    if self.narrow.contains(&value) && build.kernel.arrays[array].width <= 4 =>
                {
                    let value = match slot_type(build.kernel, array) {
                        ScalarType::I32 => halves[&value],
                        ty => build.define(ty, Op::Cast(Cast::Truncate, ty, halves[&value])),
                    };
                    build.stmts.push(Stmt::Store(array, at, value));
                }
                stmt => build.stmts.push(stmt),
            }
        }
        build.stmts
    }
}

/// The registers that narrow operations read, or stores into slots of at most 4 bytes.
fn narrow_operands(kernel: &Kernel, parts: &LoopParts<'_>, narrow: &HashSet<Reg>) -> HashSet<Reg> {
    let mut read = HashSet::default();
    for stmt in parts.body {
        match stmt {
            Stmt::Let(reg, op @ Op::Binary(..)) if narrow.contains(reg) => {
                op.for_each_reg(&mut |operand| _ = read.insert(operand));
            }
            Stmt::Store(array, _, value) if kernel.arrays[*array].width <= 4 => _ = read.insert(*value),
            _ => {}
        }
    }
    read
}

/// The integers that the slots of an array of at most 4 bytes hold.
fn slot_type(kernel: &Kernel, array: Array) -> ScalarType {
    match kernel.arrays[array].width {
        1 => ScalarType::I8,
        2 => ScalarType::I16,
        _ => ScalarType::I32,
    }
}

/// Returns true for a constant whose lower half has all bits.
fn lower_half_is_full(kernel: &Kernel, reg: Reg) -> bool {
    kernel.constants.get(&reg).is_some_and(|bits| bits & HALF == HALF)
}

/// The lower half of a register.
fn half(build: &mut super::Builder<'_>, halves: &mut HashMap<Reg, Reg>, reg: Reg) -> Reg {
    if let Some(half) = halves.get(&reg) {
        return *half;
    }
    let ty = ScalarType::I32;
    let half = match build.kernel.constants.get(&reg).copied() {
        Some(bits) => build.define(ty, Op::Const(ty, bits & HALF)),
        None => build.define(ty, Op::Cast(Cast::Truncate, ty, reg)),
    };
    halves.insert(reg, half);
    half
}

/// The bits of the registers of a loop that are asked for.
fn asked_bits(kernel: &Kernel, parts: &LoopParts<'_>) -> HashMap<Reg, u64> {
    let mut asked: HashMap<Reg, u64> = HashMap::default();
    let ask = |asked: &mut HashMap<Reg, u64>, reg: Reg, bits: u64| *asked.entry(reg).or_default() |= bits;
    for reg in parts.item.into_iter().flat_map(super::Summand::regs) {
        ask(&mut asked, reg, u64::MAX);
    }
    for stmt in parts.body.iter().rev() {
        match stmt {
            Stmt::Store(array, at, value) => {
                ask(&mut asked, *at, u64::MAX);
                let width = u32::from(kernel.arrays[*array].width).min(8);
                ask(&mut asked, *value, u64::MAX >> (64 - 8 * width));
            }
            Stmt::Let(reg, op) => {
                let bits = asked.get(reg).copied().unwrap_or(0);
                let places = |reg: &Reg| kernel.constants.get(reg).copied().filter(|places| *places < 64);
                match op {
                    Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b) => {
                        for reg in [a, b] {
                            ask(&mut asked, *reg, up_to_highest(bits));
                        }
                    }
                    Op::Binary(Binary::And, a, b) => {
                        let mask = |reg: &Reg| kernel.constants.get(reg).copied().unwrap_or(u64::MAX);
                        ask(&mut asked, *a, bits & mask(b));
                        ask(&mut asked, *b, bits & mask(a));
                    }
                    Op::Binary(Binary::Or | Binary::Xor, a, b) => {
                        for reg in [a, b] {
                            ask(&mut asked, *reg, bits);
                        }
                    }
                    Op::Binary(kind @ (Binary::Shl | Binary::Shr), a, by)
                        if let Some(places) = places(by) =>
                    {
                        let bits = if *kind == Binary::Shl { bits >> places } else { bits << places };
                        ask(&mut asked, *a, bits);
                    }
                    Op::Select(condition, a, b) => {
                        ask(&mut asked, *condition, u64::MAX);
                        for reg in [a, b] {
                            ask(&mut asked, *reg, bits);
                        }
                    }
                    Op::Cast(Cast::Truncate, to, from) => {
                        ask(&mut asked, *from, u64::MAX >> (64 - 8 * to.bytes()));
                    }
                    op => op.for_each_reg(&mut |reg| ask(&mut asked, reg, u64::MAX)),
                }
            }
            _ => {}
        }
    }
    asked
}
