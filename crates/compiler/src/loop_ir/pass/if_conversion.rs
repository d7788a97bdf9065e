//! If-conversion: branches that only compute become choices.
//!
//! `if c` that sets variables on one side or on both is computed on both sides, and each variable
//! takes one of two values (Allen, Kennedy, Porterfield and Warren, *Conversion of control
//! dependence to data dependence*, 1983). A loop without branches goes by vectors, is cut where its
//! conditions change, and never waits for a branch that was predicted wrong.
//!
//! **When.** Both sides are short, and all their operations are total and cheap: integers are
//! divided by positive constants, and loads are within the array by the interval of their slot
//! ([`value_ranges`](super::value_ranges)); other slots may exist only under the condition. In a
//! list that becomes straight-line code functions with a vector form are called on both sides, too:
//! by vectors that takes no longer than the branch.
//!
//! **Checks.** `if c` one side of which fails is a check in front of the other side. A side that
//! checks in a list that becomes straight-line code but for checks makes the check one that fails
//! only where the side is chosen ([`defer_checks`](super::defer_checks) takes them out of loops).
//!
//! **Stores.** `if c` that stores one number at a slot that has just been read stores the old
//! number otherwise. That is done in loops that only compute, at slots whose number is computed.
//! No other round of a parallel loop writes the slot: one that does would race with the read
//! before.

use super::super::{
    Array, Binary, Compare, IdMap, Kernel, Op, PartMut, Reg, ScalarType, Stmt, Var, for_each_stmt,
    has_vector_form,
};
use super::integer_ranges::Interval;
use super::value_ranges::{is_certain_slot, unconditional_intervals};
use super::{Builder, rewrite};
use crate::hash::{HashMap, HashSet};

/// Operations of both sides.
const MAX_OPERATIONS: usize = 12;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut branches = false;
    for_each_stmt(&kernel.body, &mut |stmt| branches |= matches!(stmt, Stmt::If(..)));
    if !branches {
        return;
    }
    let mut reads = reads_of_variables(kernel);
    let intervals = unconditional_intervals(kernel);
    rewrite(kernel, &mut |kernel, stmts, _| {
        let stmts = flatten_checks(stmts);
        let becomes_straight_line = |checks: bool| {
            let allowed = Allowed { kernel, intervals: &intervals, calls: true, checks };
            stmts.iter().all(|stmt| match stmt {
                Stmt::Let(..) | Stmt::Store(..) | Stmt::Set(..) => true,
                stmt if check(stmt).is_some() => checks,
                Stmt::If(_, then, otherwise) => {
                    Side::of(then, &allowed).is_some() && Side::of(otherwise, &allowed).is_some()
                }
                _ => false,
            })
        };
        let (calls, checks) =
            (becomes_straight_line(false), kernel.target.has_wide_vectors() && becomes_straight_line(true));
        let computes = stmts.iter().all(|stmt| match stmt {
            Stmt::Let(..) | Stmt::Store(..) => true,
            Stmt::If(_, then, otherwise) => then.iter().all(is_store_or_let) && otherwise.is_empty(),
            _ => false,
        });
        let mut out: Vec<Stmt> = Vec::new();
        for stmt in stmts {
            if check(&stmt).is_some() {
                out.push(stmt);
                continue;
            }
            let Stmt::If(condition, then, otherwise) = stmt else {
                out.push(stmt);
                continue;
            };
            let allowed = Allowed { kernel, intervals: &intervals, calls, checks };
            let converted = match (Side::of(&then, &allowed), Side::of(&otherwise, &allowed)) {
                (Some(first), Some(second)) => {
                    choices(kernel, condition, (&first, &second), MAX_OPERATIONS, &mut reads)
                }
                _ if computes && otherwise.is_empty() && all_speculative(&then, &allowed) => {
                    conditional_store(kernel, condition, &then, &out)
                }
                _ => None,
            };
            match converted {
                Some(stmts) => out.extend(stmts),
                None => out.push(Stmt::If(condition, then, otherwise)),
            }
        }
        out
    });
}

/// The number of reads of each variable of a kernel.
pub(super) fn reads_of_variables(kernel: &Kernel) -> HashMap<Var, usize> {
    let mut reads: HashMap<Var, usize> = HashMap::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(_, Op::Get(var)) = stmt {
            *reads.entry(*var).or_default() += 1;
        }
    });
    reads
}

fn is_store_or_let(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Let(..) | Stmt::Store(..))
}

/// The operations that may be computed where their result is not needed.
pub(super) struct Allowed<'k> {
    pub kernel: &'k Kernel,
    /// The intervals of registers: [`unconditional_intervals`].
    pub intervals: &'k IdMap<Reg, Interval>,
    /// True if calls of functions that have a vector form may.
    pub calls: bool,
    /// True if a side may have checks.
    pub checks: bool,
}

/// The condition of a check: a register that must be true, or one that must be false.
pub(super) fn check(stmt: &Stmt) -> Option<(Reg, bool)> {
    match stmt {
        Stmt::If(condition, then, otherwise) => match (&then[..], &otherwise[..]) {
            ([], [Stmt::Fail]) => Some((*condition, true)),
            ([Stmt::Fail], []) => Some((*condition, false)),
            _ => None,
        },
        _ => None,
    }
}

/// Replaces a branch one side of which fails by a check and the statements of the other side.
fn flatten_checks(stmts: Vec<Stmt>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for stmt in stmts {
        match stmt {
            Stmt::If(condition, then, otherwise) if then == [Stmt::Fail] => {
                out.push(Stmt::If(condition, then, Vec::new()));
                out.extend(otherwise);
            }
            Stmt::If(condition, then, otherwise) if otherwise == [Stmt::Fail] => {
                out.push(Stmt::If(condition, Vec::new(), otherwise));
                out.extend(then);
            }
            stmt => out.push(stmt),
        }
    }
    out
}

impl Allowed<'_> {
    pub fn is_speculative(&self, op: &Op) -> bool {
        match op {
            Op::Load(array, at, _) => is_certain_slot(self.kernel, *array, self.intervals.get(at)),
            Op::Call(function, _) => self.calls && has_vector_form(*function),
            Op::Binary(kind, _, divisor) if kind.is_integer_division() => {
                self.kernel.constants.get(divisor).is_some_and(|bits| *bits as i64 > 0)
            }
            _ => true,
        }
    }
}

/// Returns true if all operations in front of the last statement may be computed under no
/// condition.
fn all_speculative(stmts: &[Stmt], allowed: &Allowed<'_>) -> bool {
    let Some((_, lets)) = stmts.split_last() else { return false };
    lets.iter().all(|stmt| matches!(stmt, Stmt::Let(_, op) if allowed.is_speculative(op)))
}

/// One side of a branch that only computes: its operations and checks, and the variables that it
/// sets last.
pub(super) struct Side {
    lets: Vec<Stmt>,
    sets: Vec<(Var, Reg)>,
    /// Reads of variables that the side has set before; `lets` reads what they were set to.
    reads: HashMap<Var, usize>,
}

impl Side {
    pub fn of(stmts: &[Stmt], allowed: &Allowed<'_>) -> Option<Side> {
        let mut side = Side { lets: Vec::new(), sets: Vec::new(), reads: HashMap::default() };
        // Registers that read a variable which the side has set before.
        let mut copies: HashMap<Reg, Reg> = HashMap::default();
        for stmt in stmts {
            let mut stmt = stmt.clone();
            stmt.for_each_part_mut(&mut |part| {
                if let PartMut::Use(reg) = part {
                    *reg = copies.get(reg).copied().unwrap_or(*reg);
                }
            });
            match stmt {
                Stmt::Let(reg, Op::Get(var)) if side.set(var).is_some() => {
                    copies.extend(side.set(var).map(|value| (reg, value)));
                    *side.reads.entry(var).or_default() += 1;
                }
                Stmt::Let(_, ref op) if allowed.is_speculative(op) => side.lets.push(stmt),
                Stmt::Set(var, reg) => {
                    side.sets.retain(|(other, _)| *other != var);
                    side.sets.push((var, reg));
                }
                stmt if allowed.checks && check(&stmt).is_some() => side.lets.push(stmt),
                _ => return None,
            }
        }
        Some(side)
    }

    /// The number of operations, but for sums and products that only slots are made of: of a loop
    /// around, they stand in front of it, and vectors have one slot for all lanes.
    fn operations(&self) -> usize {
        let mut read: HashSet<Reg> = self.sets.iter().map(|(_, value)| *value).collect();
        let mut count = 0;
        for stmt in self.lets.iter().rev() {
            match stmt {
                Stmt::Let(_, Op::Const(..) | Op::Size(_) | Op::Get(_)) => {}
                Stmt::Let(reg, Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..))
                    if !read.contains(reg) => {}
                Stmt::Let(_, Op::Load(..)) => count += 1,
                stmt => {
                    count += 1;
                    stmt.for_each_reg(&mut |reg| {
                        read.insert(reg);
                    });
                }
            }
        }
        count
    }

    fn set(&self, var: Var) -> Option<Reg> {
        self.sets.iter().find(|(other, _)| *other == var).map(|(_, reg)| *reg)
    }
}

/// Returns true for a variable that is read only in a branch, behind where that sets it; `reads`
/// counts the reads of the kernel.
fn is_local(var: Var, sides: &[&Side], reads: &HashMap<Var, usize>) -> bool {
    let own: usize = sides.iter().filter_map(|side| side.reads.get(&var)).sum();
    let is_read = |stmt: &Stmt| matches!(stmt, Stmt::Let(_, Op::Get(read)) if *read == var);
    reads.get(&var).is_none_or(|all| *all == own) && !sides.iter().any(|side| side.lets.iter().any(is_read))
}

/// Both sides, and then the choice of each variable that is not local, if the sides have at most so
/// many operations. `reads` counts the reads of variables in the kernel.
pub(super) fn choices(
    kernel: &mut Kernel,
    condition: Reg,
    (first, second): (&Side, &Side),
    max_operations: usize,
    reads: &mut HashMap<Var, usize>,
) -> Option<Vec<Stmt>> {
    if first.operations() + second.operations() > max_operations {
        return None;
    }
    let mut vars: Vec<Var> = first.sets.iter().map(|(var, _)| *var).collect();
    vars.extend(second.sets.iter().map(|(var, _)| *var).filter(|var| first.set(*var).is_none()));
    vars.retain(|var| !is_local(*var, &[first, second], reads));
    let mut build = Builder::new(kernel);
    build.side(first, condition);
    if second.lets.iter().any(|stmt| check(stmt).is_some()) {
        let zero = build.int(0);
        let otherwise = build.define(ScalarType::I64, Op::Compare(Compare::Eq, condition, zero));
        build.side(second, otherwise);
    } else {
        build.side(second, condition);
    }
    let mut chosen = Vec::new();
    for var in vars {
        let ty = build.kernel.vars[var];
        let old = match (first.set(var), second.set(var)) {
            (Some(_), Some(_)) => None,
            _ => {
                *reads.entry(var).or_default() += 1;
                Some(build.define(ty, Op::Get(var)))
            }
        };
        let (a, b) = (first.set(var).or(old)?, second.set(var).or(old)?);
        chosen.push((var, build.define(ty, Op::Select(condition, a, b))));
    }
    build.stmts.extend(chosen.into_iter().map(|(var, reg)| Stmt::Set(var, reg)));
    Some(build.stmts)
}

impl Builder<'_> {
    /// The operations and checks of a side, which is chosen by `condition`.
    fn side(&mut self, side: &Side, condition: Reg) {
        for stmt in &side.lets {
            let stmt = match stmt {
                Stmt::If(own, then, otherwise) => {
                    let zero = self.int(0);
                    // The truth value of a check that holds.
                    let held = if then.is_empty() { self.int(1) } else { zero };
                    let both = self.define(ScalarType::I64, Op::Select(condition, *own, held));
                    Stmt::If(both, then.clone(), otherwise.clone())
                }
                stmt => stmt.clone(),
            };
            self.stmts.push(stmt);
        }
    }
}

/// A store that happens under a condition, as one that always happens.
fn conditional_store(
    kernel: &mut Kernel,
    condition: Reg,
    then: &[Stmt],
    before: &[Stmt],
) -> Option<Vec<Stmt>> {
    let (Stmt::Store(array, at, value), lets) = then.split_last()? else { return None };
    let (array, at, value) = (*array, *at, *value);
    let ty = kernel.regs[value];
    // Slots whose numbers are read are stored into one by one: a branch may leave out most of them.
    let is_scattered = before.iter().any(|stmt| matches!(stmt, Stmt::Let(reg, Op::Load(..)) if *reg == at));
    if lets.len() > MAX_OPERATIONS || is_scattered {
        return None;
    }
    let is_read = |stmt: &Stmt| is_load(stmt, array, at, ty);
    if usize::from(kernel.arrays[array].width) != ty.bytes() || !before.iter().any(is_read) {
        return None;
    }
    let mut build = Builder::new(kernel);
    build.stmts.extend(lets.iter().cloned());
    let old = build.define(ty, Op::Load(array, at, ty));
    let new = build.define(ty, Op::Select(condition, value, old));
    build.stmts.push(Stmt::Store(array, at, new));
    Some(build.stmts)
}

fn is_load(stmt: &Stmt, array: Array, at: Reg, ty: ScalarType) -> bool {
    matches!(stmt, Stmt::Let(_, Op::Load(from, slot, as_ty)) if (*from, *slot, *as_ty) == (array, at, ty))
}
