//! Constant folding and common subexpression elimination.
//!
//! Rounds of a loop that have been written out compute the same slot numbers again and again, most
//! of them from constants. Operations on integers of 64 bits are folded where their operands are
//! known and simplified where one is 0 or 1; `(x + 2) + 3` becomes `x + 5`, and digits that are put
//! together again, `x / 3 * 3 + x % 3`, become `x`; whether `x % 4` is 0 is seen by two bits of `x`.
//! An operation that has been computed before, in the same list of statements or in one around it,
//! is not computed again (value numbering; Cocke 1970). Loads count as operations where nobody
//! writes to the array.
//!
//! Slots extend what is read and cut off what is written, so a byte that is read and extended is
//! read as a word, and a word that is truncated to be written is written.
//!
//! Floats are not folded: their operations are those that the program has written, but for a
//! quotient by a power of two, which is a product. An operation on binary32 numbers that are
//! widened, and whose result is narrowed, is done in binary32: roots, sums, differences, products
//! and quotients that are rounded to 53 bits and then to 24 are rounded as if once (Figueroa, *When
//! is double rounding innocuous?*, 1995), and whole parts are exact. The minimum of a number and of
//! a minimum that it has taken part in is that one, and so is the minimum of a minimum and
//! infinity: they are totally ordered, and a NaN in them has one form. The same goes for integers.
//!
//! Costs time in proportion to the statements.

use super::super::accumulator::{AccumulatorOp, extreme_of_choice};
use super::super::{
    Array, Binary, Cast, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt, Unary, for_each_stmt,
};
use super::clone_stmts::{rename_results, rename_summand, rename_uses};
use crate::hash::{HashMap, HashSet};

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    let mut simplifier = Simplifier::new(kernel);
    let body = simplifier.list(body);
    let same = simplifier.same;
    kernel.body = body;
    rename_results(kernel, &same);
}

/// Statements simplified by themselves, without the registers that nothing in them reads but
/// `wanted`, which stay set.
pub(super) fn simplify_stmts(kernel: &mut Kernel, stmts: Vec<Stmt>, wanted: Option<Reg>) -> Vec<Stmt> {
    let mut simplifier = Simplifier { wanted, ..Simplifier::new(kernel) };
    let mut stmts = simplifier.list(stmts);
    let mut read: HashSet<Reg> = wanted.into_iter().collect();
    let mut kept = Vec::new();
    while let Some(stmt) = stmts.pop() {
        if matches!(&stmt, Stmt::Let(reg, _) if !read.contains(reg)) {
            continue;
        }
        for_each_stmt(std::slice::from_ref(&stmt), &mut |inner| {
            inner.for_each_read(&mut |reg| {
                read.insert(reg);
            });
        });
        kept.push(stmt);
    }
    kept.reverse();
    kept
}

struct Simplifier<'k> {
    kernel: &'k mut Kernel,
    /// Operations computed in lists of statements, innermost last.
    computed: Vec<HashMap<Op, Reg>>,
    /// The operations of registers.
    definitions: HashMap<Reg, Op>,
    /// Words by the integers that they extend, though they may be read from a slot.
    extensions: HashMap<Reg, (Cast, Reg)>,
    /// Registers that are 0 or 1.
    truths: HashSet<Reg>,
    /// Registers that are always equal to others.
    same: HashMap<Reg, Reg>,
    /// A register that others read under its own name: another one may not stand for it.
    wanted: Option<Reg>,
}

/// The smaller or the larger of two numbers.
#[derive(Clone, Copy)]
struct Extremum {
    op: AccumulatorOp,
    operands: [Reg; 2],
}

/// The value of an operation.
enum Value {
    Constant(u64),
    Register(Reg),
    Operation(Op),
}

impl<'k> Simplifier<'k> {
    fn new(kernel: &'k mut Kernel) -> Simplifier<'k> {
        Simplifier {
            kernel,
            computed: vec![HashMap::default()],
            definitions: HashMap::default(),
            extensions: HashMap::default(),
            truths: HashSet::default(),
            same: HashMap::default(),
            wanted: None,
        }
    }

    fn list(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        let mut out = Vec::new();
        for stmt in stmts {
            self.stmt(stmt, &mut out);
        }
        out
    }

    fn stmt(&mut self, mut stmt: Stmt, out: &mut Vec<Stmt>) {
        rename_uses(&mut stmt, &self.same);
        match stmt {
            Stmt::Let(reg, op) => self.define(reg, op, out),
            Stmt::If(condition, then, otherwise) => {
                if let Some(known) = self.known(condition) {
                    return out.extend(self.list(if known != 0 { then } else { otherwise }));
                }
                let then = self.inside(then);
                let otherwise = self.inside(otherwise);
                out.push(Stmt::If(condition, then, otherwise));
            }
            Stmt::Store(array, at, value) => {
                let word = match self.definitions.get(&value) {
                    Some(Op::Cast(Cast::Truncate, _, word)) if self.kernel.regs[*word] == ScalarType::I64 => {
                        let bytes = self.kernel.regs[value].bytes();
                        (usize::from(self.kernel.arrays[array].width) <= bytes).then_some(*word)
                    }
                    _ => None,
                };
                out.push(Stmt::Store(array, at, word.unwrap_or(value)));
            }
            mut stmt => {
                for body in stmt.bodies_mut() {
                    *body = self.inside(std::mem::take(body));
                }
                rename_summand(&mut stmt, &self.same);
                out.push(stmt);
            }
        }
    }

    fn inside(&mut self, stmts: Vec<Stmt>) -> Vec<Stmt> {
        self.computed.push(HashMap::default());
        let stmts = self.list(stmts);
        self.computed.pop();
        stmts
    }

    fn known(&self, reg: Reg) -> Option<u64> {
        self.kernel.constants.get(&reg).copied()
    }

    fn define(&mut self, reg: Reg, op: Op, out: &mut Vec<Stmt>) {
        let ty = self.kernel.regs[reg];
        let is_wanted = self.wanted == Some(reg);
        if let Op::Cast(kind @ (Cast::ZeroExtend | Cast::SignExtend), ScalarType::I64, narrow) = op {
            self.extensions.insert(reg, (kind, narrow));
        }
        let extreme = self.extremum(&op);
        let value = match (ty, &op) {
            _ if is_wanted => Value::Operation(op),
            _ if let Some(known) = extreme.and_then(|extreme| self.absorbed(extreme)) => {
                Value::Register(known)
            }
            _ if let Some(operand) = self.float_identity(&op) => Value::Register(operand),
            (ScalarType::I64, _) => self.value(op, out),
            (_, Op::Select(condition, a, b)) => match self.known(*condition) {
                Some(holds) => Value::Register(if holds != 0 { *a } else { *b }),
                None => Value::Operation(op),
            },
            _ => Value::Operation(op),
        };
        let op = match value {
            Value::Register(equal) => {
                self.same.insert(reg, equal);
                return;
            }
            Value::Constant(bits) => Op::Const(ScalarType::I64, bits),
            Value::Operation(op) => match ty {
                ScalarType::F32 => self.narrowed(op),
                ScalarType::I32 | ScalarType::I16 | ScalarType::I8 => self.truncated(op, out),
                _ => op,
            },
        };
        let op = self.reciprocal(ty, op, out);
        if self.is_repeatable(&op) {
            let equal = self.computed.iter().rev().find_map(|list| list.get(&op));
            if let Some(equal) = equal.filter(|_| !is_wanted) {
                self.same.insert(reg, *equal);
                return;
            }
            self.computed.last_mut().expect("a list is open").insert(op.clone(), reg);
        }
        if let Op::Const(_, bits) = op {
            self.kernel.constants.insert(reg, bits);
        }
        let is_truth = match &op {
            Op::Compare(..) => true,
            Op::Binary(Binary::And | Binary::Or, a, b) => self.is_truth(*a) && self.is_truth(*b),
            _ => false,
        };
        if is_truth {
            self.truths.insert(reg);
        }
        self.definitions.insert(reg, op.clone());
        out.push(Stmt::Let(reg, op));
    }

    /// The smaller or the larger of two numbers, if an operation is one: of integers it is a choice
    /// by a comparison.
    fn extremum(&self, op: &Op) -> Option<Extremum> {
        match op {
            Op::Binary(kind @ (Binary::Min | Binary::Max), a, b) => {
                Some(Extremum { op: AccumulatorOp::Binary(*kind), operands: [*a, *b] })
            }
            Op::Select(condition, a, b) if !self.kernel.regs[*a].is_float() => {
                let Op::Compare(kind, p, q) = self.definitions.get(condition)? else { return None };
                let op = extreme_of_choice(*kind, (*p, *q), (*a, *b))?;
                Some(Extremum { op, operands: [*a, *b] })
            }
            _ => None,
        }
    }

    /// The register that holds the smaller or the larger of two numbers already.
    fn absorbed(&self, extreme: Extremum) -> Option<Reg> {
        let [a, b] = extreme.operands;
        let identity = extreme.op.identity(self.kernel.regs[a]);
        [(a, b), (b, a)].into_iter().find_map(|(one, other)| {
            let other_extreme = self.definitions.get(&other).and_then(|op| self.extremum(op));
            let is_part = other_extreme.is_some_and(|of| of.op == extreme.op && of.operands.contains(&one));
            // A float alone may be a NaN of another form.
            let is_plain = !self.kernel.regs[a].is_float() || other_extreme.is_some();
            (is_part || is_plain && self.known(one) == Some(identity)).then_some(other)
        })
    }

    /// The operand that a sum with -0.0, a difference with 0.0 or a product or quotient with 1.0 is
    /// equal to. Only the result of an operation: a number from elsewhere may be a signaling NaN,
    /// which such an operation makes a quiet one.
    fn float_identity(&self, op: &Op) -> Option<Reg> {
        let Op::Binary(kind, a, b) = op else { return None };
        let number = match self.kernel.regs[*a] {
            ScalarType::F32 => |value: f64| u64::from((value as f32).to_bits()),
            ScalarType::F64 => f64::to_bits,
            _ => return None,
        };
        let is = |reg: Reg, value: f64| self.known(reg) == Some(number(value));
        let operand = match kind {
            Binary::Add if is(*b, -0.0) => *a,
            Binary::Add if is(*a, -0.0) => *b,
            Binary::Sub if is(*b, 0.0) => *a,
            Binary::Mul | Binary::DivFloat if is(*b, 1.0) => *a,
            Binary::Mul if is(*a, 1.0) => *b,
            _ => return None,
        };
        let is_quiet = matches!(
            self.definitions.get(&operand)?,
            Op::Binary(Binary::Add | Binary::Sub | Binary::Mul | Binary::DivFloat, ..)
                | Op::Unary(Unary::Sqrt, _)
                | Op::Cast(Cast::SignedToFloat | Cast::UnsignedToFloat, ..)
        );
        is_quiet.then_some(operand)
    }

    /// An operation on binary32 numbers in place of one that widens them and narrows its result.
    fn narrowed(&self, op: Op) -> Op {
        let Op::Cast(Cast::FloatToFloat, _, wide) = op else { return op };
        let narrow = |reg: Reg| match self.definitions.get(&reg) {
            Some(Op::Cast(Cast::FloatToFloat, _, narrow)) => Some(*narrow),
            _ => None,
        };
        let same = match self.definitions.get(&wide) {
            Some(Op::Unary(kind @ (Unary::Sqrt | Unary::Floor | Unary::Ceil | Unary::Trunc), a)) => {
                narrow(*a).map(|a| Op::Unary(*kind, a))
            }
            Some(Op::Binary(kind, a, b)) => match kind {
                Binary::Add | Binary::Sub | Binary::Mul | Binary::DivFloat => {
                    narrow(*a).zip(narrow(*b)).map(|(a, b)| Op::Binary(*kind, a, b))
                }
                _ => None,
            },
            _ => None,
        };
        same.unwrap_or(op)
    }

    /// An operation on integers of fewer bytes in place of one that extends them and truncates its
    /// result: the low bits of sums, products, bitwise operations and shifts to the left are made of
    /// low bits, those of a shift to the right of a number without sign, too.
    fn truncated(&mut self, op: Op, out: &mut Vec<Stmt>) -> Op {
        let Op::Cast(Cast::Truncate, ty, word) = op else { return op };
        let Some(Op::Binary(kind, a, b)) = self.definitions.get(&word).cloned() else { return op };
        if self.kernel.regs[word] != ScalarType::I64 || !has_low_bits(kind) {
            return op;
        }
        let bits = 8 * ty.bytes() as u64;
        let narrow = |reg: Reg| {
            let (cast, narrow) = self.extensions.get(&reg)?;
            let fits = self.kernel.regs[*narrow] == ty;
            (fits && (kind != Binary::Shr || *cast == Cast::ZeroExtend)).then_some(*narrow)
        };
        let known = self.known(b);
        let fits = !matches!(kind, Binary::Shl | Binary::Shr) || known.is_some_and(|places| places < bits);
        let (first, second) = (narrow(a), narrow(b));
        match (first, second, known) {
            (Some(first), _, Some(known)) if fits => {
                let (known, reg) = (known & (u64::MAX >> (64 - bits)), self.kernel.regs.push(ty));
                self.kernel.constants.insert(reg, known);
                out.push(Stmt::Let(reg, Op::Const(ty, known)));
                Op::Binary(kind, first, reg)
            }
            (Some(first), Some(second), None) if fits => Op::Binary(kind, first, second),
            _ => op,
        }
    }

    /// A product in place of a quotient by a power of two whose reciprocal is a normal number: both
    /// are the same number, rounded once.
    fn reciprocal(&mut self, ty: ScalarType, op: Op, out: &mut Vec<Stmt>) -> Op {
        let Op::Binary(Binary::DivFloat, a, b) = op else { return op };
        let (fraction, all) = if ty == ScalarType::F32 { (23, 0xff) } else { (52, 0x7ff) };
        let Some(bits) = self.known(b).filter(|bits| bits & ((1 << fraction) - 1) == 0) else { return op };
        let exponent = bits >> fraction & all;
        if exponent == 0 || exponent >= all - 1 {
            return op;
        }
        let sign = bits & !(all << fraction);
        let inverse = sign | (all - 1 - exponent) << fraction;
        let reg = self.kernel.regs.push(ty);
        self.kernel.constants.insert(reg, inverse);
        out.push(Stmt::Let(reg, Op::Const(ty, inverse)));
        Op::Binary(Binary::Mul, a, reg)
    }

    /// A word in place of a narrow integer that is extended.
    fn extended(&mut self, op: Op, out: &mut Vec<Stmt>) -> Value {
        let Op::Cast(Cast::ZeroExtend, ScalarType::I64, narrow) = op else { return Value::Operation(op) };
        match self.definitions.get(&narrow) {
            Some(load @ Op::Load(array, at, ty))
                if usize::from(self.kernel.arrays[*array].width) == ty.bytes()
                    && self.is_repeatable(load) =>
            {
                Value::Operation(Op::Load(*array, *at, ScalarType::I64))
            }
            Some(Op::Cast(Cast::Truncate, ty, word)) if self.kernel.regs[*word] == ScalarType::I64 => {
                let (word, mask) = (*word, u64::MAX >> (64 - 8 * ty.bytes()));
                let mask = self.constant(mask, out);
                Value::Operation(Op::Binary(Binary::And, word, mask))
            }
            _ => Value::Operation(op),
        }
    }

    /// The word and the constant that a register is the sum of.
    fn sum(&self, reg: Reg) -> Option<(Reg, u64)> {
        match self.definitions.get(&reg) {
            Some(Op::Binary(Binary::Add, a, b)) if self.kernel.regs[reg] == ScalarType::I64 => {
                Some((*a, self.known(*b)?))
            }
            _ => None,
        }
    }

    fn is_truth(&self, reg: Reg) -> bool {
        self.truths.contains(&reg)
    }

    /// Returns true if an operation gives the same wherever it is computed.
    fn is_repeatable(&self, op: &Op) -> bool {
        let is_input = |array: Array| matches!(self.kernel.arrays[array].origin, Origin::Input(_));
        match op {
            Op::Get(_) => false,
            Op::Load(array, ..) => is_input(*array),
            _ => true,
        }
    }

    /// A constant in a register of its own.
    fn constant(&mut self, bits: u64, out: &mut Vec<Stmt>) -> Reg {
        let op = Op::Const(ScalarType::I64, bits);
        if let Some(reg) = self.computed.iter().rev().find_map(|list| list.get(&op)) {
            return *reg;
        }
        let reg = self.kernel.regs.push(ScalarType::I64);
        self.define(reg, op, out);
        reg
    }

    /// The answer of a comparison of integers: of constants, or of one that none is beyond.
    fn compared(&self, kind: Compare, a: Reg, b: Reg) -> Option<bool> {
        let ty = self.kernel.regs[a];
        if ty.is_float() {
            return None;
        }
        let ones = u64::MAX >> (64 - 8 * ty.bytes());
        let (x, y) = (self.known(a), self.known(b));
        match kind {
            _ if ty == ScalarType::I64 && x.is_some() && y.is_some() => {
                x.zip(y).map(|(x, y)| kind.holds(x, y))
            }
            Compare::LtUnsigned if x == Some(ones) || y == Some(0) => Some(false),
            Compare::Lt if x == Some(ones >> 1) || y == Some((ones >> 1) + 1) => Some(false),
            _ => None,
        }
    }

    /// 1 for a condition that is not 0, else 0.
    fn truth(&mut self, condition: Reg, out: &mut Vec<Stmt>) -> Reg {
        if self.is_truth(condition) {
            return condition;
        }
        let zero = self.constant(0, out);
        self.defined(Op::Compare(Compare::Ne, condition, zero), out)
    }

    /// The register of an operation whose result is an integer of 64 bits: a new one, or one that it
    /// is always equal to.
    fn defined(&mut self, op: Op, out: &mut Vec<Stmt>) -> Reg {
        let reg = self.kernel.regs.push(ScalarType::I64);
        self.define(reg, op, out);
        self.same.get(&reg).copied().unwrap_or(reg)
    }

    /// The value of an operation whose result is an integer of 64 bits.
    fn value(&mut self, op: Op, out: &mut Vec<Stmt>) -> Value {
        match op {
            Op::Binary(kind, a, b) => self.binary(kind, a, b, out),
            Op::Unary(Unary::Neg, a) => match self.known(a) {
                Some(a) => Value::Constant(a.wrapping_neg()),
                None => Value::Operation(op),
            },
            Op::Compare(kind, a, b) => match self.compared(kind, a, b) {
                Some(holds) => Value::Constant(u64::from(holds)),
                None if kind == Compare::Ne && self.known(b) == Some(0) && self.is_truth(a) => {
                    Value::Register(a)
                }
                None => {
                    let of_zero = matches!(kind, Compare::Eq | Compare::Ne) && self.known(b) == Some(0);
                    let low_bits = if of_zero { self.low_bits(a, out) } else { None };
                    Value::Operation(low_bits.map_or(op, |bits| Op::Compare(kind, bits, b)))
                }
            },
            Op::Select(condition, a, b) => match self.known(condition) {
                Some(0) => Value::Register(b),
                Some(_) => Value::Register(a),
                None if a == b => Value::Register(a),
                // One more where the condition holds.
                None if self.sum(a) == Some((b, 1)) => {
                    let truth = self.truth(condition, out);
                    Value::Operation(Op::Binary(Binary::Add, b, truth))
                }
                None if self.is_truth(condition) => match (self.known(a), self.known(b)) {
                    (Some(1), Some(0)) => Value::Register(condition),
                    (None, Some(0)) if self.is_truth(a) => {
                        Value::Operation(Op::Binary(Binary::And, condition, a))
                    }
                    (Some(1), None) if self.is_truth(b) => {
                        Value::Operation(Op::Binary(Binary::Or, condition, b))
                    }
                    _ => Value::Operation(op),
                },
                None => Value::Operation(op),
            },
            op => self.extended(op, out),
        }
    }

    /// The low bits of a number whose remainder by a power of two a register is: they are 0 where the
    /// remainder is.
    fn low_bits(&mut self, remainder: Reg, out: &mut Vec<Stmt>) -> Option<Reg> {
        let Op::Binary(Binary::RemSigned, number, divisor) = *self.definitions.get(&remainder)? else {
            return None;
        };
        let is_word = self.kernel.regs[remainder] == ScalarType::I64;
        let is_power = |divisor: &u64| divisor.is_power_of_two() && *divisor < 1 << 63;
        let divisor = self.known(divisor).filter(|divisor| is_word && is_power(divisor))?;
        let mask = self.constant(divisor - 1, out);
        Some(self.defined(Op::Binary(Binary::And, number, mask), out))
    }

    /// The number whose quotient times the divisor is `a` and whose remainder is `b`.
    fn recomposed(&self, a: Reg, b: Reg) -> Option<Reg> {
        let binary = |reg: Reg| match self.definitions.get(&reg)? {
            Op::Binary(kind, a, b) => Some((*kind, *a, *b)),
            _ => None,
        };
        let (Binary::Mul, quotient, factor) = binary(a)? else { return None };
        let (division, number, divisor) = binary(quotient)?;
        let (remainder, other, other_divisor) = binary(b)?;
        let same = |p: Reg, q: Reg| p == q || self.known(p).is_some_and(|n| self.known(q) == Some(n));
        let fits = matches!(
            (division, remainder),
            (Binary::DivUnsigned, Binary::RemUnsigned) | (Binary::DivSigned, Binary::RemSigned)
        );
        (fits && number == other && same(divisor, factor) && same(divisor, other_divisor)).then_some(number)
    }

    fn binary(&mut self, kind: Binary, a: Reg, b: Reg, out: &mut Vec<Stmt>) -> Value {
        let (x, y) = (self.known(a), self.known(b));
        let folded = x.zip(y).and_then(|(x, y)| fold(kind, x, y));
        if let Some(bits) = folded {
            return Value::Constant(bits);
        }
        // The constant on the right.
        let commutes = matches!(kind, Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor);
        let (a, b, x, y) = if commutes && x.is_some() { (b, a, y, x) } else { (a, b, x, y) };
        match (kind, x, y) {
            (Binary::Add | Binary::Sub | Binary::Or | Binary::Xor, _, Some(0))
            | (Binary::Mul | Binary::DivSigned | Binary::DivUnsigned, _, Some(1)) => Value::Register(a),
            (Binary::Mul | Binary::And, _, Some(0))
            | (Binary::RemUnsigned | Binary::RemSigned, _, Some(1)) => Value::Constant(0),
            (Binary::And, _, Some(1)) if self.is_truth(a) => Value::Register(a),
            (Binary::Or, _, Some(1)) if self.is_truth(a) => Value::Constant(1),
            (Binary::DivUnsigned | Binary::RemUnsigned, Some(0), _) => Value::Constant(0),
            (Binary::Sub, ..) if a == b => Value::Constant(0),
            (Binary::Add, None, None)
                if let Some(number) = self.recomposed(a, b).or_else(|| self.recomposed(b, a)) =>
            {
                Value::Register(number)
            }
            (Binary::Add | Binary::Sub, _, Some(more)) => {
                let more = if kind == Binary::Sub { more.wrapping_neg() } else { more };
                let (base, offset) = match self.sum(a) {
                    Some((base, offset)) => (base, offset.wrapping_add(more)),
                    None => (a, more),
                };
                if offset == 0 {
                    return Value::Register(base);
                }
                let offset = self.constant(offset, out);
                Value::Operation(Op::Binary(Binary::Add, base, offset))
            }
            _ => Value::Operation(Op::Binary(kind, a, b)),
        }
    }
}

/// Returns true if the low bits of the result are made of the low bits of the operands, or of those
/// and of the number of places of a shift.
fn has_low_bits(kind: Binary) -> bool {
    matches!(
        kind,
        Binary::Add
            | Binary::Sub
            | Binary::Mul
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Shl
            | Binary::Shr
    )
}

/// An operation on constants of 64 bits, if it is defined.
fn fold(kind: Binary, x: u64, y: u64) -> Option<u64> {
    Some(match kind {
        Binary::Add => x.wrapping_add(y),
        Binary::Sub => x.wrapping_sub(y),
        Binary::Mul => x.wrapping_mul(y),
        Binary::DivSigned if y != 0 => (x as i64).wrapping_div(y as i64) as u64,
        Binary::RemSigned if y != 0 => (x as i64).wrapping_rem(y as i64) as u64,
        Binary::DivUnsigned => x.checked_div(y)?,
        Binary::RemUnsigned => x.checked_rem(y)?,
        Binary::And => x & y,
        Binary::Or => x | y,
        Binary::Xor => x ^ y,
        Binary::Shl => x.checked_shl(u32::try_from(y).ok()?)?,
        Binary::Shr => x.checked_shr(u32::try_from(y).ok()?)?,
        Binary::DivSigned | Binary::RemSigned | Binary::DivFloat | Binary::Min | Binary::Max => return None,
    })
}
