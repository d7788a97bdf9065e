//! If-conversion of loops that go by vectors for it, whatever their branches cost.
//!
//! ```text
//! for i < n                          for i < n
//!   r0 = a[i]                          r0 = a[i]
//!   if r0 < r9                         r1 = ... a polynomial of r0
//!     v := ... a polynomial of r0  =>  r2 = ... another one
//!   else                               v := select (r0 < r9) r1 r2
//!     v := ... another one             b[i] <- v
//!   b[i] <- v
//! ```
//!
//! [`if_conversion`](super::if_conversion) makes choices of short branches anywhere. Here the
//! branches of a whole loop are converted, or none (Allen, Kennedy, Porterfield and Warren,
//! *Conversion of control dependence to data dependence*, 1983).
//!
//! **When.** The rounds compute, read, store outside of branches or in one that only stores, which
//! stays, and branch; nothing is carried
//! from one to the next, but for variables from which short sums are computed in order
//! ([`loop_fission`](super::loop_fission) takes these out). Each operation has an instruction for
//! vectors, or a function with a vector form ([`distribute`](super::distribute) takes those out),
//! and slots are as vectors have them. The conditions differ from round to round; others are for
//! [`loop_unswitching`](super::loop_unswitching). And vectors do all operations of a round in no
//! more time than the branches take one by one where each side is as likely, nor than twice that of
//! the cheapest way through them, which the data may always take.
//!
//! Costs time in proportion to the statements.

use super::super::cost::op_cost;
use super::super::{Array, Compare, IdMap, Kernel, Op, Reg, ScalarFunction, ScalarType, Stmt, Var};
use super::affine::Forms;
use super::if_conversion::{Allowed, Side, choices, reads_of_variables};
use super::integer_ranges::Interval;
use super::loop_fission::{is_profitable, is_small, may_be_ordered, may_be_split, scalar_ns};
use super::value_ranges::unconditional_intervals;
use super::vector_forms::{Lanes, VectorForms};
use super::{Builder, LoopParts, loop_parts, reads_any};
use crate::hash::{HashMap, HashSet};

/// Statements of the longest body.
const MAX_STATEMENTS: usize = 400;

/// Numbers of 8 bytes in a vector of 256 bits.
const LANES: f64 = 4.0;

/// Nanoseconds of a function of one number in a vector form.
const VECTOR_CALL_COST: f64 = 4.0;

/// Nanoseconds of a branch, wrong predictions included.
const BRANCH_COST: f64 = 1.0;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut branches = false;
    super::for_each_stmt(&kernel.body, &mut |stmt| branches |= matches!(stmt, Stmt::If(..)));
    if !branches || !kernel.target.has_wide_vectors() {
        return;
    }
    let intervals = unconditional_intervals(kernel);
    let mut reads = reads_of_variables(kernel);
    let candidates = candidates(kernel, &intervals, &reads);
    if candidates.is_empty() {
        return;
    }
    super::rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if !loop_parts(stmt).is_some_and(|parts| candidates.contains(&parts.index)) {
                continue;
            }
            for body in stmt.bodies_mut() {
                if let Some(straight) = straightened(kernel, body, &intervals, &mut reads) {
                    *body = straight;
                }
            }
        }
        stmts
    });
}

/// The statements without branches.
fn straightened(
    kernel: &mut Kernel,
    stmts: &[Stmt],
    intervals: &IdMap<Reg, Interval>,
    reads: &mut HashMap<Var, usize>,
) -> Option<Vec<Stmt>> {
    let mut out = Vec::new();
    for stmt in stmts {
        let Stmt::If(condition, then, otherwise) = stmt else {
            out.push(stmt.clone());
            continue;
        };
        if is_conditional_store(then, otherwise) {
            let condition = compared(kernel, *condition, &mut out);
            out.push(Stmt::If(condition, then.clone(), Vec::new()));
            continue;
        }
        let then = straightened(kernel, then, intervals, reads)?;
        let otherwise = straightened(kernel, otherwise, intervals, reads)?;
        let allowed = Allowed { kernel, intervals, calls: true, checks: false };
        let sides = (Side::of(&then, &allowed)?, Side::of(&otherwise, &allowed)?);
        out.extend(choices(kernel, *condition, (&sides.0, &sides.1), usize::MAX, reads)?);
    }
    Some(out)
}

/// A condition that is a comparison, so a mask: what a variable holds may become a choice between
/// numbers.
fn compared(kernel: &mut Kernel, condition: Reg, out: &mut Vec<Stmt>) -> Reg {
    let is_mask = |stmt: &Stmt| matches!(stmt, Stmt::Let(reg, Op::Compare(..)) if *reg == condition);
    if out.iter().any(is_mask) {
        return condition;
    }
    let mut build = Builder::new(kernel);
    let zero = build.int(0);
    let holds = build.define(ScalarType::I64, Op::Compare(Compare::Ne, condition, zero));
    out.append(&mut build.stmts);
    holds
}

/// Returns true for the sides of a branch that stores in one case: vectors mask such stores.
fn is_conditional_store(then: &[Stmt], otherwise: &[Stmt]) -> bool {
    let plain = |stmt: &Stmt| match stmt {
        Stmt::Let(_, op) => !matches!(op, Op::Get(_) | Op::Call(..)),
        stmt => matches!(stmt, Stmt::Store(..)),
    };
    otherwise.is_empty() && then.iter().all(plain) && then.iter().any(|stmt| matches!(stmt, Stmt::Store(..)))
}

/// Returns true for a branch that is converted.
fn is_convertible(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::If(_, then, otherwise) if !is_conditional_store(then, otherwise))
}

/// The indices of the loops whose branches are converted.
fn candidates(
    kernel: &Kernel,
    intervals: &IdMap<Reg, Interval>,
    reads: &HashMap<Var, usize>,
) -> HashSet<Reg> {
    let mut forms = Forms::new(kernel);
    let mut found = HashSet::default();
    super::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Some(parts) = loop_parts(stmt)
            && parts.body.iter().any(is_convertible)
            && is_candidate(kernel, &parts, &mut forms, intervals, reads)
        {
            found.insert(parts.index);
        }
    });
    found
}

fn is_candidate(
    kernel: &Kernel,
    parts: &LoopParts<'_>,
    forms: &mut Forms<'_>,
    intervals: &IdMap<Reg, Interval>,
    reads: &HashMap<Var, usize>,
) -> bool {
    let mut statements = 0;
    super::for_each_stmt(parts.body, &mut |_| statements += 1);
    if statements > MAX_STATEMENTS {
        return false;
    }
    let mut search = Search {
        kernel,
        vectors: VectorForms::new(kernel, parts.index, forms),
        allowed: Allowed { kernel, intervals, calls: true, checks: false },
        set: HashSet::default(),
        reads: HashMap::default(),
        stored: HashMap::default(),
        loaded: Vec::new(),
        vector: 0.0,
        carried: carried(parts.body, reads),
        ordered: HashSet::default(),
        crossing: HashSet::default(),
        independent: 0.0,
        calls: false,
    };
    if !search.carried.is_empty() && !may_be_split(search.vectors.forms, parts) {
        return false;
    }
    let Some(Cost { least, mean }) = search.list(parts.body, Branch::None) else { return false };
    // Nothing is carried on, and nothing is read after the loop.
    let own = search.set.iter().all(|var| search.reads.get(var) == reads.get(var));
    if !search.carried.is_empty() && !search.is_split_afterwards() {
        return false;
    }
    // A loop with a function is split, and its rounds are straight for that.
    if search.calls && parts.body.iter().any(|stmt| matches!(stmt, Stmt::If(..)) && !is_convertible(stmt)) {
        return false;
    }
    let apart = search.loaded.iter().all(|(array, at)| match search.stored.get(array) {
        Some(stored) => stored == at,
        None => true,
    });
    own && apart && search.vector <= LANES * mean && search.vector <= LANES * 2.0 * least
}

/// The variables of a loop that are read before they are set, or after the loop.
fn carried(body: &[Stmt], reads: &HashMap<Var, usize>) -> HashSet<Var> {
    let (mut set, mut own): (HashSet<Var>, HashMap<Var, usize>) = Default::default();
    let mut carried = HashSet::default();
    super::for_each_stmt(body, &mut |stmt| match stmt {
        Stmt::Let(_, Op::Get(var)) if set.contains(var) => *own.entry(*var).or_default() += 1,
        Stmt::Let(_, Op::Get(var)) => drop(carried.insert(*var)),
        Stmt::Set(var, _) => drop(set.insert(*var)),
        _ => {}
    });
    carried.retain(|var| set.contains(var));
    carried.extend(set.into_iter().filter(|var| own.get(var) != reads.get(var)));
    carried
}

/// The branch that statements stand in.
#[derive(Clone, Copy, PartialEq)]
enum Branch {
    None,
    /// One that stays, as stores with a mask.
    Masked,
    Converted,
}

/// Nanoseconds of statements one by one.
#[derive(Default)]
struct Cost {
    /// On the cheapest way through branches.
    least: f64,
    /// On average, if both sides of a branch are as likely.
    mean: f64,
}

impl Cost {
    fn add(&mut self, least: f64, mean: f64) {
        self.least += least;
        self.mean += mean;
    }
}

/// The search of a loop for what vectors do not have.
struct Search<'a, 'k> {
    kernel: &'a Kernel,
    vectors: VectorForms<'a, 'k>,
    allowed: Allowed<'a>,
    /// Variables that are set before they are read, and how often they are.
    set: HashSet<Var>,
    reads: HashMap<Var, usize>,
    stored: HashMap<Array, Reg>,
    loaded: Vec<(Array, Reg)>,
    /// Nanoseconds of all operations, one by one but for functions.
    vector: f64,
    /// Variables that are carried from round to round, and the registers that depend on them.
    carried: HashSet<Var>,
    ordered: HashSet<Reg>,
    /// Other registers that are read with these, and conditions under which the variables are set.
    crossing: HashSet<Reg>,
    /// Nanoseconds of the operations that do not, one by one.
    independent: f64,
    /// True if there is a function that vectors call.
    calls: bool,
}

impl Search<'_, '_> {
    /// Adds the registers in lanes that a statement reads.
    fn crosses(&mut self, stmt: &Stmt) {
        stmt.for_each_reg(&mut |reg| {
            if self.vectors.lanes.contains_key(&reg) {
                self.crossing.insert(reg);
            }
        });
    }

    /// Returns true if the loop without branches is split by its carried variables.
    fn is_split_afterwards(&self) -> bool {
        // A choice for each condition is added.
        let in_order = self.ordered.len() + self.crossing.len();
        self.stored.is_empty()
            && !self.vectors.has_short_operations
            && is_small(in_order, self.crossing.len())
            && is_profitable(self.independent)
    }

    /// The cost of a list of statements, if vectors have them all.
    fn list(&mut self, stmts: &[Stmt], in_branch: Branch) -> Option<Cost> {
        let mut total = Cost::default();
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, Op::Get(var)) if self.carried.contains(var) => {
                    self.ordered.insert(*reg);
                }
                Stmt::Let(reg, op) if reads_any(stmt, &self.ordered) => {
                    let is_free = in_branch == Branch::None || self.allowed.is_speculative(op);
                    if !may_be_ordered(op) || !is_free {
                        return None;
                    }
                    self.ordered.insert(*reg);
                    self.crosses(stmt);
                    let cost = op_cost(op);
                    self.vector += LANES * cost;
                    total.add(cost, cost);
                }
                Stmt::Set(var, _) if self.carried.contains(var) => self.crosses(stmt),
                Stmt::Let(reg, Op::Get(var)) => {
                    if self.set.contains(var) {
                        *self.reads.entry(*var).or_default() += 1;
                        let bytes = self.kernel.regs[*reg].bytes();
                        self.vectors.lanes.insert(*reg, Lanes::Bytes(bytes));
                    }
                }
                Stmt::Let(reg, op) => {
                    if in_branch == Branch::Converted && !self.allowed.is_speculative(op) {
                        return None;
                    }
                    if !self.vectors.varies(op) {
                        continue;
                    }
                    if !self.vectors.define(*reg, op) {
                        return None;
                    }
                    if let Op::Load(array, at, _) = op {
                        self.loaded.push((*array, *at));
                    }
                    let cost = op_cost(op);
                    let is_call = matches!(op, Op::Call(f, _) if *f != ScalarFunction::Fma);
                    self.calls |= is_call;
                    self.independent += scalar_ns(op);
                    self.vector += if is_call { LANES * VECTOR_CALL_COST } else { cost };
                    total.add(cost, cost);
                }
                Stmt::Set(var, _) => {
                    if self.reads.get(var).is_none_or(|reads| *reads == 0) {
                        self.set.insert(*var);
                    }
                    if !self.set.contains(var) {
                        return None;
                    }
                }
                Stmt::Store(array, at, value) => {
                    let ty = self.kernel.regs[*value];
                    let again = self.stored.insert(*array, *at).is_some();
                    if in_branch == Branch::Converted || again || !self.vectors.has_slots(*array, *at, ty) {
                        return None;
                    }
                    total.add(0.5, 0.5);
                    self.vector += 0.5;
                }
                Stmt::If(condition, then, otherwise) => {
                    if !self.vectors.lanes.contains_key(condition) {
                        return None;
                    }
                    let inside = match in_branch {
                        Branch::None if is_conditional_store(then, otherwise) => Branch::Masked,
                        _ => Branch::Converted,
                    };
                    let (first, second) = (self.list(then, inside)?, self.list(otherwise, inside)?);
                    let sets = |stmt: &Stmt| matches!(stmt, Stmt::Set(var, _) if self.carried.contains(var));
                    if then.iter().chain(otherwise).any(sets) {
                        self.crossing.insert(*condition);
                    }
                    let mean = (first.mean + second.mean) / 2.0;
                    total.add(BRANCH_COST + first.least.min(second.least), BRANCH_COST + mean);
                }
                _ => return None,
            }
        }
        Some(total)
    }
}
