//! Narrowing: integers that fit into a byte are computed in bytes where arrays hold them so.
//!
//! Truth values and the codes of small types lie in arrays of bytes, and registers have 64 bits for
//! them: a vector holds two. In a loop that only reads bytes, adds, compares and chooses, and
//! writes bytes, vectors of sixteen do (Stephenson, Babb and Amarasinghe, *Bitwidth analysis with
//! application to silicon compilation*, 2000).
//!
//! **Method.** Candidates are the registers of a loop without branches whose interval
//! ([`value_ranges`](super::value_ranges)) is within a byte without sign, and whose operation is
//! the same in bytes: loads of bytes, sums and differences that do not leave the interval, bits,
//! choices. One that reads a register which is neither a candidate nor a small constant is none,
//! nor is one that anything else reads than a candidate, a comparison with one, a choice by it, or
//! a store of a byte; until nothing changes. A truth value that is stored as a byte is a choice
//! between 1 and 0.
//!
//! Costs time in proportion to the statements times the length of the longest chain of candidates.

use super::super::{Binary, Cast, Compare, IdMap, Kernel, Op, Reg, ScalarType, Stmt};
use super::integer_ranges::Interval;
use super::value_ranges::definition_intervals;
use super::{Builder, rewrite};
use crate::hash::{HashMap, HashSet};

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    if !kernel.arrays.iter().any(|array| array.width == 1) {
        return;
    }
    let intervals = definition_intervals(kernel);
    rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if let Stmt::For { body, .. } | Stmt::ParallelFor { body, .. } = stmt
                && body.iter().all(|stmt| has_bytes_only(kernel, stmt))
                && let Some(narrow) = Narrowing::of(kernel, body, &intervals)
            {
                *body = narrow.apply(kernel, std::mem::take(body));
            }
        }
        stmts
    });
}

/// Returns true for a statement of a loop that may be computed in bytes.
fn has_bytes_only(kernel: &Kernel, stmt: &Stmt) -> bool {
    match stmt {
        Stmt::Let(_, Op::Load(array, ..)) | Stmt::Store(array, ..) => kernel.arrays[*array].width == 1,
        Stmt::Let(..) | Stmt::Set(..) => true,
        _ => false,
    }
}

/// The registers of a loop that are computed in bytes.
struct Narrowing {
    narrow: HashSet<Reg>,
    /// Comparisons, and what is made of these by bits.
    truths: HashSet<Reg>,
    /// The values of variables in the round.
    variables: HashSet<Reg>,
}

/// A constant that a byte holds.
fn small_constant(kernel: &Kernel, reg: Reg) -> Option<u64> {
    kernel.constants.get(&reg).copied().filter(|bits| *bits <= 255 && kernel.regs[reg] == ScalarType::I64)
}

/// The operands of an operation that are computed in bytes if its result is.
fn values(op: &Op) -> Vec<Reg> {
    match op {
        Op::Binary(_, a, b) | Op::Select(_, a, b) => vec![*a, *b],
        _ => Vec::new(),
    }
}

impl Narrowing {
    fn of(kernel: &Kernel, body: &[Stmt], intervals: &IdMap<Reg, Interval>) -> Option<Narrowing> {
        let fits = |reg: &Reg| {
            kernel.regs[*reg] == ScalarType::I64
                && intervals.get(reg).is_some_and(|interval| interval.low >= 0 && interval.high <= 255)
        };
        let mut this = Narrowing {
            narrow: HashSet::default(),
            truths: HashSet::default(),
            variables: HashSet::default(),
        };
        let mut reads_bytes = false;
        for stmt in body {
            let Stmt::Let(reg, op) = stmt else { continue };
            let same_in_bytes = match op {
                Op::Load(array, _, ScalarType::I64) => {
                    reads_bytes |= kernel.arrays[*array].width == 1;
                    kernel.arrays[*array].width == 1
                }
                Op::Binary(kind, ..) => {
                    matches!(kind, Binary::Add | Binary::Sub | Binary::And | Binary::Or | Binary::Xor)
                }
                Op::Select(..) => true,
                _ => false,
            };
            let is_truth = match op {
                Op::Compare(..) => true,
                Op::Binary(Binary::And | Binary::Or, a, b) => {
                    this.truths.contains(a) && this.truths.contains(b)
                }
                _ => false,
            };
            if matches!(op, Op::Get(_)) {
                this.variables.insert(*reg);
            }
            if is_truth {
                this.truths.insert(*reg);
            } else if same_in_bytes && fits(reg) {
                this.narrow.insert(*reg);
            }
        }
        if !reads_bytes {
            return None;
        }
        while this.remove_wide(kernel, body) {}
        (!this.narrow.is_empty()).then_some(this)
    }

    /// Returns true if a register is computed in bytes, or may be.
    fn is_byte(&self, kernel: &Kernel, reg: Reg) -> bool {
        self.narrow.contains(&reg) || small_constant(kernel, reg).is_some()
    }

    /// Returns true for a sum of a variable and what may be a byte.
    fn is_accumulated(&self, op: &Op) -> bool {
        matches!(op, Op::Binary(Binary::Add, a, b)
            if self.variables.contains(a) != self.variables.contains(b))
    }

    fn remove(&mut self, regs: &[Reg]) {
        for reg in regs {
            self.narrow.remove(reg);
        }
    }

    /// Removes registers that cannot be computed in bytes. Returns false if there was none.
    fn remove_wide(&mut self, kernel: &Kernel, body: &[Stmt]) -> bool {
        let before = self.narrow.len();
        for stmt in body {
            match stmt {
                Stmt::Let(reg, op) if self.narrow.contains(reg) => {
                    if !values(op).iter().all(|value| self.is_byte(kernel, *value)) {
                        self.narrow.remove(reg);
                        self.remove(&values(op));
                    }
                    if let Op::Load(_, at, _) = op {
                        self.narrow.remove(at);
                    }
                }
                Stmt::Let(_, Op::Compare(_, a, b))
                    if self.is_byte(kernel, *a) && self.is_byte(kernel, *b) => {}
                Stmt::Let(_, Op::Compare(_, a, b) | Op::Select(_, a, b)) => self.remove(&[*a, *b]),
                Stmt::Let(_, op) if self.is_accumulated(op) => {}
                Stmt::Let(_, op) => op.for_each_reg(&mut |reg| self.remove(&[reg])),
                Stmt::Set(_, value) => self.remove(&[*value]),
                Stmt::Store(array, at, value) => {
                    self.narrow.remove(at);
                    if kernel.arrays[*array].width != 1 {
                        self.narrow.remove(value);
                    }
                }
                _ => {}
            }
        }
        self.narrow.len() < before
    }

    /// The statements with bytes.
    fn apply(&self, kernel: &mut Kernel, body: Vec<Stmt>) -> Vec<Stmt> {
        let mut rewriter = Rewriter { build: Builder::new(kernel), bytes: HashMap::default() };
        for stmt in body {
            match stmt {
                Stmt::Let(reg, op) if self.narrow.contains(&reg) => {
                    let op = match op {
                        Op::Load(array, at, _) => Op::Load(array, at, ScalarType::I8),
                        Op::Binary(kind, a, b) => Op::Binary(kind, rewriter.byte(a), rewriter.byte(b)),
                        Op::Select(condition, a, b) => {
                            let condition = self.condition(&mut rewriter, condition);
                            Op::Select(condition, rewriter.byte(a), rewriter.byte(b))
                        }
                        other => other,
                    };
                    let byte = rewriter.build.define(ScalarType::I8, op);
                    rewriter.bytes.insert(reg, byte);
                }
                Stmt::Let(reg, Op::Compare(kind, a, b))
                    if self.narrow.contains(&a) || self.narrow.contains(&b) =>
                {
                    // A byte has no sign.
                    let kind = match kind {
                        Compare::Lt => Compare::LtUnsigned,
                        Compare::Le => Compare::LeUnsigned,
                        other => other,
                    };
                    let (a, b) = (rewriter.byte(a), rewriter.byte(b));
                    rewriter.build.stmts.push(Stmt::Let(reg, Op::Compare(kind, a, b)));
                }
                Stmt::Let(reg, Op::Select(condition, a, b)) => {
                    let condition = self.condition(&mut rewriter, condition);
                    rewriter.build.stmts.push(Stmt::Let(reg, Op::Select(condition, a, b)));
                }
                Stmt::Let(reg, Op::Binary(Binary::Add, a, b))
                    if self.narrow.contains(&a) || self.narrow.contains(&b) =>
                {
                    let [a, b] = [a, b].map(|reg| match self.narrow.contains(&reg) {
                        true => {
                            let extended = Op::Cast(Cast::ZeroExtend, ScalarType::I64, rewriter.byte(reg));
                            rewriter.build.define(ScalarType::I64, extended)
                        }
                        false => reg,
                    });
                    rewriter.build.stmts.push(Stmt::Let(reg, Op::Binary(Binary::Add, a, b)));
                }
                Stmt::Store(array, at, value) if self.narrow.contains(&value) => {
                    let value = rewriter.byte(value);
                    rewriter.build.stmts.push(Stmt::Store(array, at, value));
                }
                Stmt::Store(array, at, value)
                    if self.truths.contains(&value) && rewriter.build.kernel.arrays[array].width == 1 =>
                {
                    let (one, zero) = (rewriter.constant(1), rewriter.constant(0));
                    let value = rewriter.build.define(ScalarType::I8, Op::Select(value, one, zero));
                    rewriter.build.stmts.push(Stmt::Store(array, at, value));
                }
                other => rewriter.build.stmts.push(other),
            }
        }
        rewriter.build.stmts
    }

    /// The condition of a choice: a comparison of what is a byte.
    fn condition(&self, rewriter: &mut Rewriter<'_>, condition: Reg) -> Reg {
        if !self.narrow.contains(&condition) {
            return condition;
        }
        let (byte, zero) = (rewriter.byte(condition), rewriter.constant(0));
        rewriter.build.define(ScalarType::I64, Op::Compare(Compare::Ne, byte, zero))
    }
}

/// Statements under construction.
struct Rewriter<'k> {
    build: Builder<'k>,
    /// The bytes of registers.
    bytes: HashMap<Reg, Reg>,
}

impl Rewriter<'_> {
    fn constant(&mut self, bits: u64) -> Reg {
        self.build.define(ScalarType::I8, Op::Const(ScalarType::I8, bits))
    }

    /// The byte of a register, or of a constant.
    fn byte(&mut self, reg: Reg) -> Reg {
        if let Some(byte) = self.bytes.get(&reg) {
            return *byte;
        }
        let bits = small_constant(self.build.kernel, reg).expect("what is no byte is a small constant");
        let byte = self.constant(bits);
        self.bytes.insert(reg, byte);
        byte
    }
}
