//! Loop interchange with tiling: loops around sequential loops are vectorized along the outer
//! index.
//!
//! The sum of each column of a matrix reads a column at a time: far apart, and one after the other.
//! Neighboring columns lie side by side. So [`TILE`] columns are done at a time, row by row:
//!
//! ```text
//! each j < n                                each t < n / TILE
//!   total = sum of x[i, j], i < m             for j in the tile: lanes[..][j] <- -0
//!   out[j] <- total                    =>     for i in 0..<m
//!                                               for j in the tile: lanes[i % 8][j] += x[i, j]
//!                                             for j in the tile: out[j] <- lanes[0..8][j] joined
//! ```
//!
//! A lane is read from memory and written back for each addition; to do so less often,
//! [`UNROLLED_ROWS`] rows of the same lane are taken at a time, as long as there are that many.
//!
//! The same goes for loops with state, as that over the other bodies for each body: what is
//! variable gets a slot for each `j` of the tile.
//!
//! **Method.** The body is cut into groups at the loops in it. A group runs for all `j` of a tile;
//! registers that are read in another group than that which sets them, and variables, become arrays
//! of a slot for each `j`. What does not depend on `j` is computed once, outside. **Sound** because
//! rounds are independent, and each round does its own operations in the order they had. Those of
//! parallel loops ([`Stmt::ParallelFor`]), and of loops in order whose rounds are known to be
//! independent ([`parallelize`](super::parallelize)), store into slots that no other round
//! accesses. Those of another loop in order may store anywhere: so no array that is stored into is
//! read, there is one statement that stores into it, in no inner loop, which goes through the
//! rounds in their order as before, or each stores into a component of its own, and the variables
//! that are set mean nothing to anybody else.
//!
//! **When.** The inner loops go over memory with a stride or carry state from round to round, and
//! by `j` their reads are contiguous, or of one component of records ([`Analysis::is_profitable`]).
//! Nothing leaves a loop early, nothing fails.

use super::super::promotion::has_promoted_form;
use super::super::{
    Array, Binary, Kernel, MAX_COMPONENTS, Op, Origin, ReductionOp, Reg, ScalarType, Stmt, Summand, Unary,
    Var, for_each_stmt, identity_bits,
};
use super::affine::{Affine, Forms};
use super::parallelize::independent_loops;
use super::{Builder, loads_stored};
use crate::core::reduction::{LANES, combine_lanes};
use crate::hash::{HashMap, HashSet};

/// Rounds of the outer loop that are done at a time.
const TILE: i64 = 256;
/// Rows of a lane that are taken in one go.
const UNROLLED_ROWS: i64 = 4;
/// Sums, at most: the lanes of each are on the stack of a run.
const MAX_REDUCTIONS: usize = 4;
/// Registers and variables that get arrays, at most.
const MAX_EXPANDED_SCALARS: usize = 24;

/// Bytes on the stack of a run, of all loops together.
const MAX_STACK_BYTES: u64 = 256 << 10;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let commuting = commuting_loops(kernel);
    let body = std::mem::take(&mut kernel.body);
    kernel.body = tile_outermost(kernel, body, &commuting);
}

/// The indices of the sequential loops around loops whose iterations commute, with true for those
/// whose iterations are independent.
fn commuting_loops(kernel: &Kernel) -> HashMap<Reg, bool> {
    let (mention_counts, mut forms) = (count_mentions(&kernel.body), Forms::new(kernel));
    let (mut found, mut others) = (HashMap::default(), HashSet::default());
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::For { index, body, .. } = stmt
            && body.iter().any(|inner| matches!(inner, Stmt::For { .. } | Stmt::Reduce { .. }))
        {
            match !loads_stored(body) && iterations_commute(&mut forms, *index, body, &mention_counts) {
                true => drop(found.insert(*index, false)),
                false => drop(others.insert(*index)),
            }
        }
    });
    if !others.is_empty() {
        found.extend(independent_loops(kernel, &others, false).into_iter().map(|index| (index, true)));
    }
    found
}

/// The outermost loops that are of the kind are changed.
fn tile_outermost(kernel: &mut Kernel, stmts: Vec<Stmt>, commuting: &HashMap<Reg, bool>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        let tiler = match &stmt {
            Stmt::ParallelFor { index, count, body } => {
                tile_loop(kernel, (*index, true), (None, *count), body)
            }
            Stmt::For { index, low, high, body, .. } => commuting
                .get(index)
                .and_then(|independent| tile_loop(kernel, (*index, *independent), (Some(*low), *high), body)),
            _ => None,
        };
        match tiler {
            Some(stmts) => out.extend(stmts),
            None => {
                for body in stmt.bodies_mut() {
                    *body = tile_outermost(kernel, std::mem::take(body), commuting);
                }
                out.push(stmt);
            }
        }
    }
    out
}

/// The number of statements that read or set each variable.
fn count_mentions(stmts: &[Stmt]) -> HashMap<Var, usize> {
    let mut found = HashMap::default();
    for_each_stmt(stmts, &mut |stmt| {
        if let Stmt::Set(var, _) | Stmt::Let(_, Op::Get(var)) = stmt {
            *found.entry(*var).or_insert(0) += 1;
        }
    });
    found
}

/// Returns true if the iterations of a sequential loop that reads no array that it stores into
/// commute.
fn iterations_commute(
    forms: &mut Forms<'_>,
    index: Reg,
    body: &[Stmt],
    mention_counts: &HashMap<Var, usize>,
) -> bool {
    let mut stored: HashMap<Array, Vec<Reg>> = HashMap::default();
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Store(array, at, _) = stmt {
            stored.entry(*array).or_default().push(*at);
        }
    });
    let once = stored.values().all(|slots| slots.len() == 1);
    !stored.is_empty()
        && (once || are_components(forms, index, &stored))
        && count_mentions(body).iter().all(|(var, times)| mention_counts.get(var) == Some(times))
}

/// Returns true if the slots that are stored into are different components of records, of which each
/// round has its own.
fn are_components(forms: &mut Forms<'_>, index: Reg, stored: &HashMap<Array, Vec<Reg>>) -> bool {
    stored.values().all(|slots| {
        let slots: Vec<Affine> = slots.iter().map(|slot| forms.of(*slot)).collect();
        let stride = slots[0].coefficient(index);
        slots.iter().enumerate().all(|(number, slot)| {
            slots[..number].iter().all(|other| {
                let apart = slot.add_scaled(other, -1).filter(|distance| distance.terms.is_empty());
                apart.is_some_and(|distance| (1..stride.abs()).contains(&distance.constant.abs()))
            })
        })
    })
}

/// The analysis of a loop.
struct Analysis<'s> {
    /// The operations that set registers inside.
    ops: HashMap<Reg, &'s Op>,
    /// Registers that depend on the index, or on what does.
    varying: HashSet<Reg>,
    /// Registers that are the index plus an invariant.
    contiguous: HashSet<Reg>,
    /// Registers that are a small multiple of the index plus an invariant: a component of records.
    components: HashSet<Reg>,
    /// The group that sets a register.
    group: HashMap<Reg, usize>,
    /// Slot numbers that a group computes again rather than keeps: those that depend on indices and
    /// invariants alone.
    rematerializable: HashSet<Reg>,
    /// Registers that are read in another group.
    live_across_groups: HashSet<Reg>,
    /// Variables that are set inside.
    vars: HashSet<Var>,
    /// Arrays that are stored into.
    stored: HashSet<Array>,
    reductions: usize,
    groups: usize,
    depth: usize,
    is_independent: bool,
    is_profitable: bool,
}

/// Returns true if slots of an array that lie side by side are lanes of a type.
fn has_lane(kernel: &Kernel, array: Array, ty: ScalarType) -> bool {
    usize::from(kernel.arrays[array].width) == ty.bytes()
        || kernel.target.has_wide_vectors() && ty == ScalarType::I64
}

impl<'s> Analysis<'s> {
    /// Analyzes the statements of a list; `None` if they do not fit.
    fn analyze(&mut self, kernel: &Kernel, stmts: &'s [Stmt], emit_inner_loop: Option<Reg>) -> Option<()> {
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, op) => {
                    self.ops.insert(*reg, op);
                    self.set(kernel, *reg, op, emit_inner_loop)?;
                }
                Stmt::Set(var, reg) => {
                    // State that a loop carries.
                    self.is_profitable |= self.depth > 0;
                    self.vars.insert(*var);
                    self.used(*reg);
                }
                Stmt::Store(array, at, value) => {
                    let is_lane = || has_lane(kernel, *array, kernel.regs[*value]);
                    if self.depth > 0 && !(self.is_independent && self.contiguous.contains(at) && is_lane()) {
                        return None;
                    }
                    self.used(*at);
                    self.used(*value);
                }
                Stmt::For { index, low, high, body, .. } => {
                    self.inner(kernel, (*low, *high), body, *index)?;
                }
                Stmt::Reduce { index, low, high, body, item, result } => {
                    if !body.iter().all(|stmt| matches!(stmt, Stmt::Let(..))) {
                        return None;
                    }
                    self.reductions += 1;
                    self.inner(kernel, (*low, *high), body, *index)?;
                    for reg in item.regs() {
                        if self.group.get(&reg).is_some_and(|group| *group + 1 != self.groups) {
                            self.live_across_groups.insert(reg);
                        }
                    }
                    self.varying.insert(*result);
                    self.group.insert(*result, self.groups);
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn inner(&mut self, kernel: &Kernel, range: (Reg, Reg), body: &'s [Stmt], index: Reg) -> Option<()> {
        if self.varying.contains(&range.0) || self.varying.contains(&range.1) {
            return None;
        }
        self.groups += 1;
        self.depth += 1;
        self.analyze(kernel, body, Some(index))?;
        self.depth -= 1;
        self.groups += 1;
        Some(())
    }

    fn used(&mut self, reg: Reg) {
        if self.varying.contains(&reg) && self.group.get(&reg).is_some_and(|group| *group != self.groups) {
            self.live_across_groups.insert(reg);
        }
    }

    /// Returns true for a slot number that is made of the index, of numbers of that kind and of
    /// invariants. A value that is read from an array is kept, and so is what is made of it.
    fn is_rematerializable(&self, op: &Op, ty: ScalarType) -> bool {
        let Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, a, b) = op else { return false };
        let again = |reg: &Reg| !self.group.contains_key(reg) || self.rematerializable.contains(reg);
        ty == ScalarType::I64 && again(a) && again(b)
    }

    /// A register is set: what it depends on, and whether reads lie side by side.
    fn set(&mut self, kernel: &Kernel, reg: Reg, op: &Op, emit_inner_loop: Option<Reg>) -> Option<()> {
        let mut varying = false;
        op.for_each_reg(&mut |reg| varying |= self.varying.contains(&reg));
        op.for_each_reg(&mut |reg| self.used(reg));
        match op {
            Op::Load(array, at, ty) => {
                // Other rounds may change such a slot, and an array of a round has memory once
                // only.
                let is_own = matches!(kernel.arrays[*array].origin, Origin::Stack(_) | Origin::ThreadLocal);
                if self.stored.contains(array) && (is_own || !self.is_independent) {
                    return None;
                }
                if varying && self.depth > 0 {
                    let is_component = kernel.target.has_wide_vectors()
                        && self.components.contains(at)
                        && usize::from(kernel.arrays[*array].width) == ty.bytes()
                        && ty.bytes() >= 4;
                    if !is_component && (!self.contiguous.contains(at) || !has_lane(kernel, *array, *ty)) {
                        return None;
                    }
                    // By an inner index it goes with a stride.
                    self.is_profitable |= emit_inner_loop.is_some_and(|inner| strides(&self.ops, *at, inner));
                }
            }
            Op::Get(_) => varying = true,
            Op::Binary(Binary::Add, a, b) if varying => {
                let (x, y) = (self.contiguous.contains(a), self.contiguous.contains(b));
                if x && !self.varying.contains(b) || y && !self.varying.contains(a) {
                    self.contiguous.insert(reg);
                }
                let (x, y) = (self.components.contains(a), self.components.contains(b));
                if x && !self.varying.contains(b) || y && !self.varying.contains(a) {
                    self.components.insert(reg);
                }
            }
            Op::Binary(Binary::Mul, a, b)
                if self.contiguous.contains(a)
                    && kernel.constants.get(b).is_some_and(|n| (2..=MAX_COMPONENTS as u64).contains(n)) =>
            {
                self.components.insert(reg);
            }
            // Only what goes by vectors is worth it inside.
            Op::Call(..) if self.depth > 0 && varying => return None,
            Op::Cast(..) if self.depth > 0 && varying && !is_promoted(kernel, reg, op) => return None,
            Op::Binary(kind, ..) if self.depth > 0 && varying => {
                let ty = kernel.regs[reg];
                let has_product = *kind == Binary::Mul && kernel.target.has_wide_vectors() && ty.bytes() >= 4;
                if !(ty.is_float() || has_product || matches!(kind, Binary::And | Binary::Or | Binary::Xor)) {
                    return None;
                }
            }
            Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) if self.depth > 0 && varying => {
                return None;
            }
            _ => {}
        }
        if varying {
            self.varying.insert(reg);
            self.group.insert(reg, self.groups);
            if self.is_rematerializable(op, kernel.regs[reg]) {
                self.rematerializable.insert(reg);
            }
        }
        Some(())
    }
}

/// Returns true if wide vectors have an operation in lanes of 8 bytes.
fn is_promoted(kernel: &Kernel, reg: Reg, op: &Op) -> bool {
    kernel.target.has_wide_vectors() && has_promoted_form(kernel, kernel.regs[reg], op, |_| false)
}

/// Returns true if a slot number goes by more than 1 with an index, is made of its digits, or is
/// looked up by it.
fn strides(ops: &HashMap<Reg, &Op>, at: Reg, index: Reg) -> bool {
    match ops.get(&at) {
        Some(Op::Load(_, at, _)) => mentions(ops, *at, index),
        Some(Op::Binary(Binary::Add, a, b)) => strides(ops, *a, index) || strides(ops, *b, index),
        Some(op @ Op::Binary(Binary::Mul | Binary::DivUnsigned | Binary::RemUnsigned, ..)) => {
            let mut found = false;
            op.for_each_reg(&mut |reg| found |= reg == index || strides(ops, reg, index));
            found
        }
        _ => false,
    }
}

/// Returns true if a slot number is computed from an index by sums and products.
fn mentions(ops: &HashMap<Reg, &Op>, at: Reg, index: Reg) -> bool {
    match ops.get(&at) {
        Some(Op::Binary(_, a, b)) => [a, b].into_iter().any(|reg| mentions(ops, *reg, index)),
        _ => at == index,
    }
}

/// The tiled loop under construction.
struct Tiler<'n, 's> {
    build: Builder<'n>,
    analysis: Analysis<'s>,
    index: Reg,
    /// The range of the tile.
    low: Reg,
    high: Reg,
    /// The copies of registers that do not depend on the index.
    invariants: HashMap<Reg, Reg>,
    /// Arrays of registers and variables.
    slots: HashMap<Reg, Array>,
    vars: HashMap<Var, Array>,
    /// Statements for each index of the tile, not yet written.
    pending: Vec<Pending<'s>>,
}

/// A statement of a group.
enum Pending<'s> {
    Stmt(&'s Stmt),
    /// From here on other registers stand for those that do not depend on the index.
    Rename(HashMap<Reg, Reg>),
    /// Accumulates into the current lane.
    Accumulate(Summand),
    /// The lane at hand is that of an array whose first slot has this number.
    LoadLane(Array, Reg, ScalarType),
    /// Stores the current lane back.
    StoreLane(Array),
    /// The lanes joined, as a register.
    CombineLanes(Array, ReductionOp, Reg),
}

/// The loop by tiles: in order from a number on, or in any order.
fn tile_loop(
    kernel: &mut Kernel,
    (index, is_independent): (Reg, bool),
    (from, count): (Option<Reg>, Reg),
    body: &[Stmt],
) -> Option<Vec<Stmt>> {
    let taken: u64 = kernel.arrays.ids().map(|array| kernel.stack_bytes(array)).sum();
    if kernel.constants.contains_key(&count) || taken > MAX_STACK_BYTES {
        return None;
    }
    let mut analysis = Analysis {
        ops: HashMap::default(),
        varying: HashSet::from_iter([index]),
        contiguous: HashSet::from_iter([index]),
        components: HashSet::default(),
        group: HashMap::default(),
        rematerializable: HashSet::default(),
        live_across_groups: HashSet::default(),
        vars: HashSet::default(),
        stored: HashSet::default(),
        reductions: 0,
        groups: 0,
        depth: 0,
        is_independent,
        is_profitable: false,
    };
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Store(array, ..) = stmt {
            analysis.stored.insert(*array);
        }
    });
    analysis.analyze(kernel, body, None)?;
    // A variable is set in each round before it is read.
    let mut known = HashSet::default();
    for stmt in body {
        match stmt {
            Stmt::Set(var, _) => drop(known.insert(*var)),
            stmt => {
                let mut unset = false;
                for_each_stmt(std::slice::from_ref(stmt), &mut |stmt| match stmt {
                    Stmt::Let(_, Op::Get(var)) => unset |= !known.contains(var),
                    Stmt::Set(var, _) => unset |= !known.contains(var),
                    _ => {}
                });
                if unset {
                    return None;
                }
            }
        }
    }
    if !analysis.is_profitable
        || analysis.reductions > MAX_REDUCTIONS
        || analysis.live_across_groups.len() + analysis.vars.len() > MAX_EXPANDED_SCALARS
    {
        return None;
    }
    let mut build = Builder::new(kernel);
    let tile = build.int(TILE);
    let more = build.int(TILE - 1);
    let rounds = match from {
        Some(from) => {
            let (rounds, none) = (build.binary(Binary::Sub, count, from), build.int(0));
            build.max(rounds, none)
        }
        None => count,
    };
    let padded = build.binary(Binary::Add, rounds, more);
    let tiles = build.binary(Binary::DivUnsigned, padded, tile);
    let number = build.reg(ScalarType::I64);
    let front = std::mem::take(&mut build.stmts);
    let skipped = build.binary(Binary::Mul, number, tile);
    let low = match from {
        Some(from) => build.binary(Binary::Add, from, skipped),
        None => skipped,
    };
    let end = build.binary(Binary::Add, low, tile);
    let high = build.min(end, count);
    let mut tiler = Tiler {
        build,
        analysis,
        index,
        low,
        high,
        invariants: HashMap::default(),
        slots: HashMap::default(),
        vars: HashMap::default(),
        pending: Vec::new(),
    };
    tiler.stmts(body);
    tiler.flush();
    let mut build = tiler.build;
    let body = std::mem::replace(&mut build.stmts, front);
    let stmt = match from {
        Some(_) => {
            let (label, low) = (build.label(), build.int(0));
            Stmt::For { label, index: number, low, high: tiles, body }
        }
        None => Stmt::ParallelFor { index: number, count: tiles, body },
    };
    build.stmts.push(stmt);
    Some(build.stmts)
}

impl<'s> Tiler<'_, 's> {
    fn array(&mut self, ty: ScalarType, slots: i64) -> Array {
        self.build.kernel.add_array(Origin::Stack(slots as u32), ty.bytes() as u8, slots as u64)
    }

    fn invariant(&self, reg: Reg) -> Reg {
        self.invariants.get(&reg).copied().unwrap_or(reg)
    }

    fn stmts(&mut self, stmts: &'s [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, op) if !self.analysis.varying.contains(reg) => {
                    let mut op = op.clone();
                    op.for_each_reg_mut(&mut |reg| *reg = self.invariant(*reg));
                    let invariant = self.build.define(self.build.kernel.regs[*reg], op);
                    self.invariants.insert(*reg, invariant);
                }
                Stmt::For { index, low, high, body, .. } => {
                    self.flush();
                    let (low, high) = (self.invariant(*low), self.invariant(*high));
                    self.emit_inner_loop(low, high, |this, own| {
                        this.invariants.insert(*index, own);
                        this.stmts(body);
                    });
                }
                Stmt::Reduce { index, low, high, body, item, result } => {
                    let (ty, joining) = (item.ty(self.build.kernel), item.op());
                    let lanes = self.array(ty, TILE * LANES as i64);
                    self.flush();
                    self.neutral(lanes, joining, ty);
                    let (low, high) = (self.invariant(*low), self.invariant(*high));
                    let taken = |this: &mut Self, lane: Reg, first: Reg, turns: i64| {
                        let tile = this.build.int(TILE);
                        let start = this.build.binary(Binary::Mul, lane, tile);
                        this.pending.push(Pending::LoadLane(lanes, start, ty));
                        for turn in 0..turns {
                            let more = this.build.int(turn * LANES as i64);
                            let at = this.build.binary(Binary::Add, first, more);
                            this.invariants.insert(*index, at);
                            let here = this.pending.len();
                            this.stmts(body);
                            this.pending.insert(here, Pending::Rename(this.invariants.clone()));
                            this.pending.push(Pending::Accumulate(*item));
                        }
                        this.pending.push(Pending::StoreLane(lanes));
                    };
                    // As many rows as go by several of each lane, and the rest.
                    let (zero, step) = (self.build.int(0), self.build.int(UNROLLED_ROWS * LANES as i64));
                    let all = self.build.binary(Binary::Sub, high, low);
                    let blocks = self.build.binary(Binary::DivUnsigned, all, step);
                    let lane_count = self.build.int(LANES as i64);
                    self.emit_inner_loop(zero, blocks, |this, block| {
                        let skipped = this.build.binary(Binary::Mul, block, step);
                        let first = this.build.binary(Binary::Add, low, skipped);
                        this.emit_inner_loop(zero, lane_count, |this, lane| {
                            let first = this.build.binary(Binary::Add, first, lane);
                            taken(this, lane, first, UNROLLED_ROWS);
                        });
                    });
                    let skipped = self.build.binary(Binary::Mul, blocks, step);
                    let rest = self.build.binary(Binary::Add, low, skipped);
                    self.emit_inner_loop(rest, high, |this, at| {
                        let from = this.build.binary(Binary::Sub, at, low);
                        let mask = this.build.int(LANES as i64 - 1);
                        let lane = this.build.binary(Binary::And, from, mask);
                        taken(this, lane, at, 1);
                    });
                    self.pending.push(Pending::CombineLanes(lanes, joining, *result));
                }
                stmt => self.pending.push(Pending::Stmt(stmt)),
            }
        }
    }

    /// Sets the lanes of the indices of the tile to what they start from.
    fn neutral(&mut self, lanes: Array, joining: ReductionOp, ty: ScalarType) {
        let neutral = self.build.define(ty, Op::Const(ty, identity_bits(joining, ty)));
        let (low, high, tile) = (self.build.int(0), self.build.int(LANES as i64), self.build.int(TILE));
        let outer = std::mem::take(&mut self.build.stmts);
        let lane = self.build.reg(ScalarType::I64);
        let first = self.build.binary(Binary::Mul, lane, tile);
        let rounds = self.build.binary(Binary::Sub, self.high, self.low);
        let end = self.build.binary(Binary::Add, first, rounds);
        let (label, index) = (self.build.label(), self.build.reg(ScalarType::I64));
        let body = vec![Stmt::Store(lanes, index, neutral)];
        self.build.stmts.push(Stmt::For { label, index, low: first, high: end, body });
        let body = std::mem::replace(&mut self.build.stmts, outer);
        let label = self.build.label();
        self.build.stmts.push(Stmt::For { label, index: lane, low, high, body });
    }

    /// An inner loop, around groups for all indices of the tile.
    fn emit_inner_loop(&mut self, low: Reg, high: Reg, body: impl FnOnce(&mut Self, Reg)) {
        let index = self.build.reg(ScalarType::I64);
        let outer = std::mem::take(&mut self.build.stmts);
        body(self, index);
        self.flush();
        let body = std::mem::replace(&mut self.build.stmts, outer);
        let label = self.build.label();
        self.build.stmts.push(Stmt::For { label, index, low, high, body });
    }

    /// Writes the group that is pending as a loop over the tile.
    fn flush(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        if pending.is_empty() {
            return;
        }
        let outer = std::mem::take(&mut self.build.stmts);
        let at = self.build.reg(ScalarType::I64);
        let place = self.build.binary(Binary::Sub, at, self.low);
        let mut group = GroupState {
            here: HashMap::from_iter([(self.index, at)]),
            vars: HashMap::default(),
            place,
            lane: None,
        };
        for one in pending {
            match one {
                Pending::Stmt(stmt) => self.stmt(stmt, &mut group),
                Pending::Rename(invariants) => self.invariants = invariants,
                Pending::LoadLane(lanes, start, ty) => {
                    let slot = self.build.binary(Binary::Add, place, start);
                    let lane = self.build.define(ty, Op::Load(lanes, slot, ty));
                    group.lane = Some((slot, lane));
                }
                Pending::Accumulate(item) => {
                    let item = item.map(|reg| self.read(reg, &mut group));
                    let (_, lane) = group.lane.as_mut().expect("a lane is loaded before it accumulates");
                    *lane = self.build.define(item.ty(self.build.kernel), item.accumulate(*lane));
                }
                Pending::StoreLane(lanes) => {
                    let (slot, lane) = group.lane.take().expect("a lane is loaded before it is stored");
                    self.build.stmts.push(Stmt::Store(lanes, slot, lane));
                }
                Pending::CombineLanes(lanes, joining, result) => {
                    let ty = self.build.kernel.regs[result];
                    let lanes = std::array::from_fn(|number| {
                        let slot = self.lane(number as i64, place);
                        self.build.define(ty, Op::Load(lanes, slot, ty))
                    });
                    let sum = combine_lanes(lanes, |a, b| self.build.binary(joining.into(), a, b));
                    self.define(result, sum, &mut group);
                }
            }
        }
        let body = std::mem::replace(&mut self.build.stmts, outer);
        let label = self.build.label();
        self.build.stmts.push(Stmt::For { label, index: at, low: self.low, high: self.high, body });
    }

    /// The slot of a lane for the index at a place of the tile.
    fn lane(&mut self, lane: i64, place: Reg) -> Reg {
        let start = self.build.int(lane * TILE);
        self.build.binary(Binary::Add, place, start)
    }

    /// A register as the group sees it.
    fn read(&mut self, reg: Reg, group: &mut GroupState) -> Reg {
        if let Some(here) = group.here.get(&reg) {
            return *here;
        }
        if !self.analysis.varying.contains(&reg) {
            return self.invariant(reg);
        }
        let ty = self.build.kernel.regs[reg];
        let op = match self.analysis.ops.get(&reg) {
            Some(op) if self.analysis.rematerializable.contains(&reg) => {
                let mut op = (*op).clone();
                op.for_each_reg_mut(&mut |reg| *reg = self.read(*reg, group));
                op
            }
            _ => Op::Load(self.slots_of(reg), group.place, ty),
        };
        let here = self.build.define(ty, op);
        group.here.insert(reg, here);
        here
    }

    fn slots_of(&mut self, reg: Reg) -> Array {
        if let Some(array) = self.slots.get(&reg) {
            return *array;
        }
        let array = self.array(self.build.kernel.regs[reg], TILE);
        self.slots.insert(reg, array);
        array
    }

    fn var(&mut self, var: Var) -> Array {
        if let Some(array) = self.vars.get(&var) {
            return *array;
        }
        let array = self.array(self.build.kernel.vars[var], TILE);
        self.vars.insert(var, array);
        array
    }

    /// The group has set a register.
    fn define(&mut self, reg: Reg, here: Reg, group: &mut GroupState) {
        group.here.insert(reg, here);
        if self.analysis.live_across_groups.contains(&reg) && !self.analysis.rematerializable.contains(&reg) {
            let array = self.slots_of(reg);
            self.build.stmts.push(Stmt::Store(array, group.place, here));
        }
    }

    fn stmt(&mut self, stmt: &Stmt, group: &mut GroupState) {
        match stmt {
            Stmt::Let(reg, Op::Get(var)) => {
                let here = match group.vars.get(var) {
                    Some(here) => *here,
                    None => {
                        let (array, ty) = (self.var(*var), self.build.kernel.regs[*reg]);
                        let here = self.build.define(ty, Op::Load(array, group.place, ty));
                        group.vars.insert(*var, here);
                        here
                    }
                };
                self.define(*reg, here, group);
            }
            Stmt::Let(reg, op) => {
                let mut op = op.clone();
                op.for_each_reg_mut(&mut |reg| *reg = self.read(*reg, group));
                let here = self.build.define(self.build.kernel.regs[*reg], op);
                self.define(*reg, here, group);
            }
            Stmt::Set(var, reg) => {
                let here = self.read(*reg, group);
                group.vars.insert(*var, here);
                let array = self.var(*var);
                self.build.stmts.push(Stmt::Store(array, group.place, here));
            }
            Stmt::Store(array, at, value) => {
                let (at, value) = (self.read(*at, group), self.read(*value, group));
                self.build.stmts.push(Stmt::Store(*array, at, value));
            }
            other => unreachable!("not a statement of a group: {other:?}"),
        }
    }
}

/// The registers and variables of a group for one index of the tile.
struct GroupState {
    here: HashMap<Reg, Reg>,
    vars: HashMap<Var, Reg>,
    /// The place of the index in the tile.
    place: Reg,
    /// The lane at hand: its slot, and what is in it.
    lane: Option<(Reg, Reg)>,
}
