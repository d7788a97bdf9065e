//! Variables that accumulate in a loop: each iteration joins one number to them, by an operation
//! whose result does not depend on the grouping of its operands. Such a loop has lanes, although
//! every iteration reads what the one before has set (reduction recurrences: Allen, Kennedy,
//! *Optimizing Compilers for Modern Architectures*, 2002, 5.6).
//!
//! Integers are added, multiplied, combined by bits, and compared; floats have a smallest and a
//! largest. A number that is joined under a condition is one that is left out elsewhere.
//!
//! An extreme may have companions: variables that are set where a number is beyond the extreme, and
//! only there ([`ArgExtreme`]). The round that they come from is the first one, or the last one, in
//! which the extreme is reached, whatever the grouping, if one of them grows with the rounds.

use super::{Binary, Compare, Kernel, Op, Reg, ScalarType, Stmt, Var, identity_bits};
use crate::core::reduction::ReductionOp;
use crate::hash::HashMap;

/// An operation that is associative and commutative, in every bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AccumulatorOp {
    /// A sum, a product or a bitwise operation of integers; `Min` or `Max` of floats.
    Binary(Binary),
    /// The smaller of two integers, or the larger.
    Extreme {
        /// The larger.
        max: bool,
        /// True if it compares without sign.
        unsigned: bool,
    },
}

impl AccumulatorOp {
    /// The bits of the number that changes nothing.
    pub fn identity(self, ty: ScalarType) -> u64 {
        let bits = 8 * ty.bytes() as u32;
        let ones = u64::MAX >> (64 - bits);
        match self {
            AccumulatorOp::Binary(Binary::Min) => identity_bits(ReductionOp::Min, ty),
            AccumulatorOp::Binary(Binary::Max) => identity_bits(ReductionOp::Max, ty),
            AccumulatorOp::Binary(Binary::Mul) => 1,
            AccumulatorOp::Binary(Binary::And) => ones,
            AccumulatorOp::Binary(_) => 0,
            AccumulatorOp::Extreme { max: true, unsigned: true } => 0,
            AccumulatorOp::Extreme { max: false, unsigned: true } => ones,
            AccumulatorOp::Extreme { max: true, unsigned: false } => 1 << (bits - 1),
            AccumulatorOp::Extreme { max: false, unsigned: false } => ones >> 1,
        }
    }
}

/// The smaller or the larger of two integers, if a choice between `a` and `b` by a comparison of `p`
/// and `q` is one.
pub fn extreme_of_choice(kind: Compare, (p, q): (Reg, Reg), (a, b): (Reg, Reg)) -> Option<AccumulatorOp> {
    let unsigned = match kind {
        Compare::Lt | Compare::Le => false,
        Compare::LtUnsigned | Compare::LeUnsigned => true,
        Compare::Eq | Compare::Ne => return None,
    };
    let (min, max) = ((p, q) == (a, b), (p, q) == (b, a));
    (min != max).then_some(AccumulatorOp::Extreme { max, unsigned })
}

/// A variable that accumulates.
#[derive(Clone, Debug)]
pub struct Accumulator {
    /// The variable.
    pub var: Var,
    /// The number that an iteration joins to it.
    pub operand: Reg,
    /// The condition under which it does.
    pub condition: Option<Reg>,
    /// The operation that joins it.
    pub join: AccumulatorOp,
    /// The type of the variable.
    pub ty: ScalarType,
    /// The register that the variable is set to: there the number is joined.
    pub new: Reg,
    /// The registers that hold values of the variable, or are made of them.
    pub chain: Vec<Reg>,
}

/// An extreme with its companions: where a number is beyond the variable `members[0]`, all members
/// are set.
#[derive(Clone, Debug)]
pub struct ArgExtreme {
    /// The register of the comparison of the extreme with the number.
    pub condition: Reg,
    /// The comparison: [`Compare::Lt`] or [`Compare::Le`], or the same without sign.
    pub compare: Compare,
    /// True if the number is larger where the comparison holds: it is its second operand.
    pub max: bool,
    /// The variables, the extreme first.
    pub members: Vec<Member>,
}

impl ArgExtreme {
    /// True if the last one of equal numbers is chosen, not the first one.
    pub fn is_last(&self) -> bool {
        matches!(self.compare, Compare::Le | Compare::LeUnsigned)
    }

    /// True for a register that holds an old or a new value, or the condition.
    pub fn is_in_chain(&self, reg: Reg) -> bool {
        self.condition == reg || self.members.iter().any(|member| [member.old, member.new].contains(&reg))
    }
}

/// A variable of an [`ArgExtreme`].
#[derive(Clone, Debug)]
pub struct Member {
    /// The variable.
    pub var: Var,
    /// The number that it is set to.
    pub operand: Reg,
    /// Its value before the iteration.
    pub old: Reg,
    /// Its value after the iteration.
    pub new: Reg,
    /// Its type.
    pub ty: ScalarType,
}

/// The variables that the statements of a loop set.
#[derive(Default)]
pub struct Recurrences {
    /// Variables by themselves.
    pub accumulators: Vec<Accumulator>,
    /// Extremes with companions.
    pub extremes: Vec<ArgExtreme>,
}

/// The variables that the statements of a loop set and that accumulate by themselves, others left
/// out.
pub fn accumulators_among(kernel: &Kernel, body: &[Stmt]) -> Vec<Accumulator> {
    let (loop_body, Some(set)) = (Body::new(kernel, body), variables_set(body)) else { return Vec::new() };
    set.iter().filter_map(|(var, new)| loop_body.accumulator(*var, *new)).collect()
}

/// The variables that the statements of a loop set; `None` if one of them does not accumulate.
pub fn accumulators(kernel: &Kernel, body: &[Stmt]) -> Option<Vec<Accumulator>> {
    recurrences(kernel, body).filter(|found| found.extremes.is_empty()).map(|found| found.accumulators)
}

/// The variables that the statements of a loop set, extremes with companions among them; `None` if
/// one of them does not accumulate.
pub fn recurrences(kernel: &Kernel, body: &[Stmt]) -> Option<Recurrences> {
    if !body.iter().any(|stmt| matches!(stmt, Stmt::Set(..))) {
        return Some(Recurrences::default());
    }
    let (loop_body, set) = (Body::new(kernel, body), variables_set(body)?);
    let mut found = Recurrences::default();
    for (var, new) in &set {
        if found.extremes.iter().any(|extreme| extreme.is_in_chain(*new)) {
            continue;
        }
        match loop_body.accumulator(*var, *new) {
            Some(accumulator) => found.accumulators.push(accumulator),
            None => found.extremes.push(loop_body.extreme(*new, &set)?),
        }
    }
    Some(found)
}

/// The variables that the statements of a loop set, with what they are set to; `None` if one is set
/// twice.
pub fn variables_set(body: &[Stmt]) -> Option<Vec<(Var, Reg)>> {
    let mut set: Vec<(Var, Reg)> = Vec::new();
    for stmt in body {
        if let Stmt::Set(var, new) = stmt {
            if set.iter().any(|(other, _)| other == var) {
                return None;
            }
            set.push((*var, *new));
        }
    }
    Some(set)
}

/// The operations of a loop, and how often each register is read.
struct Body<'a> {
    kernel: &'a Kernel,
    ops: HashMap<Reg, &'a Op>,
    reads: HashMap<Reg, u32>,
}

impl<'a> Body<'a> {
    fn new(kernel: &'a Kernel, body: &'a [Stmt]) -> Body<'a> {
        let mut this = Body { kernel, ops: HashMap::default(), reads: HashMap::default() };
        for stmt in body {
            if let Stmt::Let(reg, op) = stmt {
                this.ops.insert(*reg, op);
            }
            stmt.for_each_reg(&mut |reg| *this.reads.entry(reg).or_default() += 1);
        }
        this
    }

    fn reads(&self, reg: Reg) -> u32 {
        self.reads.get(&reg).copied().unwrap_or(0)
    }

    /// Returns true for a register that is read so often, and holds what the variable is before the
    /// iteration. No other register does.
    fn is_old(&self, var: Var, reg: Reg, reads: u32) -> bool {
        let of_var = |op: &&&Op| **op == &Op::Get(var);
        self.ops.get(&reg).is_some_and(|op| *op == &Op::Get(var))
            && self.reads(reg) == reads
            && self.ops.values().filter(of_var).count() == 1
    }

    fn accumulator(&self, var: Var, new: Reg) -> Option<Accumulator> {
        let ty = self.kernel.regs[new];
        if self.reads(new) != 1 {
            return None;
        }
        let made = |operand, condition, join, chain| {
            Some(Accumulator { var, operand, condition, join, ty, new, chain })
        };
        match self.ops.get(&new)? {
            Op::Binary(..) => {
                let (join, old, operand) = self.joined(var, new, 1)?;
                made(operand, None, join, vec![new, old])
            }
            Op::Select(condition, a, b) => {
                if let Some(Op::Compare(kind, p, q)) = self.ops.get(condition)
                    && !ty.is_float()
                    && let Some(join) = extreme_of_choice(*kind, (*p, *q), (*a, *b))
                    && self.reads(*condition) == 1
                {
                    let (old, operand) = match self.is_old(var, *a, 2) {
                        true => (*a, *b),
                        false => (*b, *a),
                    };
                    let chain = vec![new, old, *condition];
                    return if self.is_old(var, old, 2) && operand != old {
                        made(operand, None, join, chain)
                    } else {
                        None
                    };
                }
                // Joined under a condition, which does not depend on the variable.
                let (join, old, operand) = self.joined(var, *a, 2)?;
                if *b != old || self.reads(*a) != 1 || *condition == old {
                    return None;
                }
                made(operand, Some(*condition), join, vec![new, old, *a])
            }
            _ => None,
        }
    }

    /// The extreme with companions that a register is a new value of.
    fn extreme(&self, new: Reg, set: &[(Var, Reg)]) -> Option<ArgExtreme> {
        let Op::Select(condition, ..) = self.ops.get(&new)? else { return None };
        let Op::Compare(compare, a, b) = self.ops.get(condition)? else { return None };
        if matches!(compare, Compare::Eq | Compare::Ne) {
            return None;
        }
        let (mut members, mut max): (Vec<Member>, Option<bool>) = (Vec::new(), None);
        for (var, new) in set {
            let Op::Select(chosen, operand, old) = self.ops.get(new)? else { continue };
            if chosen != condition {
                continue;
            }
            let is_extreme = a != b && [(a, b), (b, a)].contains(&(old, operand));
            if self.reads(*new) != 1 || !self.is_old(*var, *old, if is_extreme { 2 } else { 1 }) {
                return None;
            }
            let ty = self.kernel.regs[*new];
            let member = Member { var: *var, operand: *operand, old: *old, new: *new, ty };
            if is_extreme {
                max = Some(a == old);
                members.insert(0, member);
            } else {
                members.push(member);
            }
        }
        // Nothing else reads the condition.
        let is_own = self.reads(*condition) as usize == members.len();
        let (max, condition, compare) = (max?, *condition, *compare);
        is_own.then_some(ArgExtreme { condition, compare, max, members })
    }

    /// The operation, the old value and the number that is joined to it; the old value is read
    /// `reads` times in all.
    fn joined(&self, var: Var, reg: Reg, reads: u32) -> Option<(AccumulatorOp, Reg, Reg)> {
        let Op::Binary(kind, a, b) = self.ops.get(&reg)? else { return None };
        let exact = match kind {
            Binary::Add | Binary::Mul | Binary::And | Binary::Or | Binary::Xor => {
                !self.kernel.regs[reg].is_float()
            }
            Binary::Min | Binary::Max => true,
            _ => false,
        };
        let (old, operand) = if self.is_old(var, *a, reads) { (*a, *b) } else { (*b, *a) };
        (exact && operand != old && self.is_old(var, old, reads)).then_some((
            AccumulatorOp::Binary(*kind),
            old,
            operand,
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::loop_ir::parse;

    /// The extremes of a loop over the index `r9` whose body is the statements between semicolons.
    fn extremes(body: &str) -> Option<Vec<ArgExtreme>> {
        let body: String = body.split(';').map(|line| format!("\n  {}", line.trim())).collect();
        let text = format!(
            "array a0: input 0, 8 bytes a slot, 1000 slots
var v0: f64
var v1: i64
r0: i64 = 0
r1: i64 = 1000
for r9 in r0..<r1 @0
  r10: f64 = a0[r9]
  r11: f64 = v0
  r12: i64 = v1{body}"
        );
        let kernel = parse::kernel(&text).unwrap();
        kernel.body.iter().find_map(|stmt| match stmt {
            Stmt::For { body, .. } => recurrences(&kernel, body).map(|found| found.extremes),
            _ => None,
        })
    }

    #[test]
    fn extremes_have_companions() {
        let chosen = "r14: f64 = select r13 r10 r11; r15: i64 = select r13 r9 r12; v0 := r14; v1 := r15";
        let found = |compare: &str| {
            let extremes = extremes(&format!("r13: i64 = {compare}; {chosen}"))?;
            let [extreme] = &extremes[..] else { return None };
            assert_eq!(extreme.members.iter().map(|member| member.var.index()).collect::<Vec<_>>(), [0, 1]);
            Some((extreme.max, extreme.is_last()))
        };
        assert_eq!(found("r11 < r10"), Some((true, false)));
        assert_eq!(found("r11 <= r10"), Some((true, true)));
        assert_eq!(found("r10 < r11"), Some((false, false)));
        assert_eq!(found("r10 <= r11"), Some((false, true)));
        assert_eq!(found("r11 == r10"), None);
        assert_eq!(found("r10 < r10"), None, "not with the extreme");
    }

    #[test]
    fn values_in_between_are_not_read() {
        let compare = "r13: i64 = r11 < r10; r14: f64 = select r13 r10 r11";
        let sets = "v0 := r14; v1 := r15";
        let chosen = |value: &str| extremes(&format!("{compare}; r15: i64 = select r13 {value}; {sets}"));
        assert!(chosen("r9 r12").is_some());
        assert!(chosen("r12 r9").is_none(), "set where it does not hold");
        assert!(chosen("r13 r12").is_none(), "the condition is read");
        let counted = "r16: i64 = add r12 r13; r15: i64 = select r13 r9 r16";
        assert!(extremes(&format!("{compare}; {counted}; {sets}")).is_none(), "the place is read");
    }
}
