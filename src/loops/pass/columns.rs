//! Loops around sequential loops, by vectors of the outer index.
//!
//! The sum of each column of a matrix reads a column at a time: far apart, and one after the other. Neighbouring columns
//! lie side by side. So [`TILE`] columns are done at a time, row by row:
//!
//! ```text
//! each j < n                                each t < n / TILE
//!   total = sum of x[i, j], i < m             for j in the tile: lanes[..][j] <- -0
//!   out[j] <- total                    =>     for i in 0..<m
//!                                               for j in the tile: lanes[i % 8][j] += x[i, j]
//!                                             for j in the tile: out[j] <- lanes[0..8][j] joined
//! ```
//!
//! A lane is read from memory and written back for each addition; to do so less often, [`TURNS`] rows of the same lane are taken at a
//! time, as long as there are that many.
//!
//! The same goes for loops with state, as that over the other bodies for each body: what is variable gets a slot for each
//! `j` of the tile.
//!
//! **Method.** The body is cut into groups at the loops in it. A group runs for all `j` of a tile; registers that are read in
//! another group than that which sets them, and variables, become arrays of a slot for each `j`. What does not depend on `j` is
//! computed once, outside. **Sound** because rounds are independent, and each round does its own operations in the order they had. Those
//! of parallel loops ([`Stmt::Each`]) store into slots of their own. Those of a loop in order may store anywhere: so no array that is stored
//! into is read, there is one statement that stores into it, which goes through the rounds in their order as before, and the variables that are
//! set mean nothing to anybody else.
//!
//! **When.** The inner loops go over memory with a stride or carry state from round to round, and by `j` their reads are
//! contiguous ([`Columns::pays`]). Nothing leaves a loop early, nothing fails.

use super::super::{
    Array, Binary, Item, Joining, Nest, Op, Origin, Reg, Stmt, Ty, Unary, Var, for_each_stmt,
};
use super::Build;
use crate::core::reduction::{LANES, tree};
use crate::hash::{HashMap, HashSet};

/// Rounds of the outer loop that are done at a time.
const TILE: i64 = 256;
/// Rows of a lane that are taken in one go.
const TURNS: i64 = 4;
/// Sums, at most: the lanes of each are on the stack of a run.
const MOST_TOTALS: usize = 4;
/// Registers and variables that get arrays, at most.
const MOST_ARRAYS: usize = 24;

/// Bytes on the stack of a run, of all loops together.
const STACK: u64 = 256 << 10;

/// Runs the pass.
pub(super) fn run(nest: &mut Nest) {
    let body = std::mem::take(&mut nest.body);
    let mentioned = mentions(&body);
    nest.body = outermost(nest, body, &mentioned);
}

/// The outermost loops that are of the kind are changed.
fn outermost(nest: &mut Nest, stmts: Vec<Stmt>, mentioned: &HashMap<Var, usize>) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        let tiled = match &stmt {
            Stmt::Each { index, count, body } => by_columns(nest, *index, (None, *count), body),
            Stmt::For { index, low, high, body, .. } if in_any_order(body, mentioned) => {
                by_columns(nest, *index, (Some(*low), *high), body)
            }
            _ => None,
        };
        match tiled {
            Some(stmts) => out.extend(stmts),
            None => {
                for body in stmt.bodies_mut() {
                    *body = outermost(nest, std::mem::take(body), mentioned);
                }
                out.push(stmt);
            }
        }
    }
    out
}

/// How often variables are mentioned.
fn mentions(stmts: &[Stmt]) -> HashMap<Var, usize> {
    let mut found = HashMap::default();
    for_each_stmt(stmts, &mut |stmt| {
        if let Stmt::Set(var, _) | Stmt::Let(_, Op::Get(var)) = stmt {
            *found.entry(*var).or_insert(0) += 1;
        }
    });
    found
}

/// Whether the rounds of a loop in order may be done side by side, if none of them reads what is stored.
fn in_any_order(body: &[Stmt], mentioned: &HashMap<Var, usize>) -> bool {
    let (mut stored, mut once) = (HashSet::default(), true);
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Store(array, ..) = stmt {
            once &= stored.insert(*array);
        }
    });
    once && !stored.is_empty() && mentions(body).iter().all(|(var, times)| mentioned.get(var) == Some(times))
}

/// What is known of a loop before it is changed.
struct Columns<'s> {
    /// How registers inside are set.
    ops: HashMap<Reg, &'s Op>,
    /// Registers that depend on the index, or on what does.
    depends: HashSet<Reg>,
    /// Those that are the index plus what does not depend on it.
    beside: HashSet<Reg>,
    /// The group that sets a register.
    group: HashMap<Reg, usize>,
    /// Registers that are read in another group.
    crossing: HashSet<Reg>,
    /// Variables that are set inside.
    vars: HashSet<Var>,
    /// Arrays that are stored into.
    stored: HashSet<Array>,
    totals: usize,
    groups: usize,
    inside: usize,
    pays: bool,
}

impl<'s> Columns<'s> {
    /// Looks at the statements of a list; `None` if they are not of the kind.
    fn look(&mut self, nest: &Nest, stmts: &'s [Stmt], around: Option<Reg>) -> Option<()> {
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, op) => {
                    self.ops.insert(*reg, op);
                    self.set(nest, *reg, op, around)?;
                }
                Stmt::Set(var, reg) => {
                    // State that a loop carries.
                    self.pays |= self.inside > 0;
                    self.vars.insert(*var);
                    self.used(*reg);
                }
                Stmt::Store(_, at, value) => {
                    if self.inside > 0 {
                        return None;
                    }
                    self.used(*at);
                    self.used(*value);
                }
                Stmt::For { index, low, high, body, .. } => {
                    self.inner(nest, (*low, *high), body, *index)?;
                }
                Stmt::Total { index, low, high, body, item, result } => {
                    if !body.iter().all(|stmt| matches!(stmt, Stmt::Let(..))) {
                        return None;
                    }
                    self.totals += 1;
                    self.inner(nest, (*low, *high), body, *index)?;
                    for reg in item.regs() {
                        if self.group.get(&reg).is_some_and(|group| *group + 1 != self.groups) {
                            self.crossing.insert(reg);
                        }
                    }
                    self.depends.insert(*result);
                    self.group.insert(*result, self.groups);
                }
                _ => return None,
            }
        }
        Some(())
    }

    fn inner(&mut self, nest: &Nest, range: (Reg, Reg), body: &'s [Stmt], index: Reg) -> Option<()> {
        if self.depends.contains(&range.0) || self.depends.contains(&range.1) {
            return None;
        }
        self.groups += 1;
        self.inside += 1;
        self.look(nest, body, Some(index))?;
        self.inside -= 1;
        self.groups += 1;
        Some(())
    }

    fn used(&mut self, reg: Reg) {
        if self.depends.contains(&reg) && self.group.get(&reg).is_some_and(|group| *group != self.groups) {
            self.crossing.insert(reg);
        }
    }

    /// A register is set: what it depends on, and whether reads lie side by side.
    fn set(&mut self, nest: &Nest, reg: Reg, op: &Op, around: Option<Reg>) -> Option<()> {
        let mut depends = false;
        op.for_each_reg(&mut |reg| depends |= self.depends.contains(&reg));
        op.for_each_reg(&mut |reg| self.used(reg));
        match op {
            Op::Load(array, at, ty) => {
                let info = nest.arrays[*array as usize];
                // What others store into may change.
                if self.stored.contains(array) {
                    return None;
                }
                if depends && self.inside > 0 {
                    if !self.beside.contains(at) || usize::from(info.width) != ty.bytes() {
                        return None;
                    }
                    // By an inner index it goes with a stride.
                    self.pays |= around.is_some_and(|inner| strides(&self.ops, *at, inner));
                }
            }
            Op::Get(_) => depends = true,
            Op::Binary(Binary::Add, a, b) if depends => {
                let (x, y) = (self.beside.contains(a), self.beside.contains(b));
                if x && !self.depends.contains(b) || y && !self.depends.contains(a) {
                    self.beside.insert(reg);
                }
            }
            // Only what goes by vectors is worth it inside.
            Op::Call(..) | Op::Cast(..) if self.inside > 0 && depends => return None,
            Op::Binary(kind, ..) if self.inside > 0 && depends => {
                let float = nest.regs[reg as usize].is_float();
                if !(float || matches!(kind, Binary::And | Binary::Or | Binary::Xor)) {
                    return None;
                }
            }
            Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) if self.inside > 0 && depends => {
                return None;
            }
            _ => {}
        }
        if depends {
            self.depends.insert(reg);
            self.group.insert(reg, self.groups);
        }
        Some(())
    }
}

/// Whether a slot number goes by more than 1 with an index.
fn strides(ops: &HashMap<Reg, &Op>, at: Reg, index: Reg) -> bool {
    match ops.get(&at) {
        Some(Op::Binary(Binary::Add, a, b)) => strides(ops, *a, index) || strides(ops, *b, index),
        Some(op @ Op::Binary(Binary::Mul, ..)) => {
            let mut found = false;
            op.for_each_reg(&mut |reg| found |= reg == index || strides(ops, reg, index));
            found
        }
        _ => false,
    }
}

/// The tiled loop under construction.
struct Tiled<'n, 's> {
    build: Build<'n>,
    seen: Columns<'s>,
    index: Reg,
    /// The range of the tile.
    low: Reg,
    high: Reg,
    /// What stands for registers that do not depend on the index.
    same: HashMap<Reg, Reg>,
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
    Turn(HashMap<Reg, Reg>),
    /// What is taken into the lane at hand.
    Take(Item),
    /// The lane at hand is that of an array whose first slot has this number.
    Lane(Array, Reg, Ty),
    /// It is written back.
    Leave(Array),
    /// The lanes joined, as a register.
    Joined(Array, Joining, Reg),
}

/// The loop by tiles: in order from a number on, or in any order.
fn by_columns(
    nest: &mut Nest,
    index: Reg,
    (from, count): (Option<Reg>, Reg),
    body: &[Stmt],
) -> Option<Vec<Stmt>> {
    let taken: u64 = (0..nest.arrays.len() as Array).map(|array| nest.on_stack(array)).sum();
    if nest.constants.contains_key(&count) || taken > STACK {
        return None;
    }
    let mut seen = Columns {
        ops: HashMap::default(),
        depends: HashSet::from_iter([index]),
        beside: HashSet::from_iter([index]),
        group: HashMap::default(),
        crossing: HashSet::default(),
        vars: HashSet::default(),
        stored: HashSet::default(),
        totals: 0,
        groups: 0,
        inside: 0,
        pays: false,
    };
    for_each_stmt(body, &mut |stmt| {
        if let Stmt::Store(array, ..) = stmt {
            seen.stored.insert(*array);
        }
    });
    seen.look(nest, body, None)?;
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
    if !seen.pays || seen.totals > MOST_TOTALS || seen.crossing.len() + seen.vars.len() > MOST_ARRAYS {
        return None;
    }
    let mut build = Build::new(nest);
    let tile = build.int(TILE);
    let more = build.int(TILE - 1);
    let rounds = match from {
        Some(from) => {
            let (rounds, none) = (build.binary(Binary::Sub, count, from), build.int(0));
            build.most(rounds, none)
        }
        None => count,
    };
    let padded = build.binary(Binary::Add, rounds, more);
    let tiles = build.binary(Binary::DivUnsigned, padded, tile);
    let number = build.reg(Ty::I64);
    let front = std::mem::take(&mut build.stmts);
    let skipped = build.binary(Binary::Mul, number, tile);
    let low = match from {
        Some(from) => build.binary(Binary::Add, from, skipped),
        None => skipped,
    };
    let end = build.binary(Binary::Add, low, tile);
    let high = build.least(end, count);
    let mut tiled = Tiled {
        build,
        seen,
        index,
        low,
        high,
        same: HashMap::default(),
        slots: HashMap::default(),
        vars: HashMap::default(),
        pending: Vec::new(),
    };
    tiled.stmts(body);
    tiled.flush();
    let mut build = tiled.build;
    let body = std::mem::replace(&mut build.stmts, front);
    let stmt = match from {
        Some(_) => {
            let (label, low) = (build.label(), build.int(0));
            Stmt::For { label, index: number, low, high: tiles, body }
        }
        None => Stmt::Each { index: number, count: tiles, body },
    };
    build.stmts.push(stmt);
    Some(build.stmts)
}

impl<'s> Tiled<'_, 's> {
    fn array(&mut self, ty: Ty, slots: i64) -> Array {
        self.build.nest.array(Origin::Local(slots as u32), ty.bytes() as u8, slots as u64)
    }

    fn same(&self, reg: Reg) -> Reg {
        self.same.get(&reg).copied().unwrap_or(reg)
    }

    fn stmts(&mut self, stmts: &'s [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, op) if !self.seen.depends.contains(reg) => {
                    let mut op = op.clone();
                    op.for_each_reg_mut(&mut |reg| *reg = self.same(*reg));
                    let same = self.build.set(self.build.nest.regs[*reg as usize], op);
                    self.same.insert(*reg, same);
                }
                Stmt::For { index, low, high, body, .. } => {
                    self.flush();
                    let (low, high) = (self.same(*low), self.same(*high));
                    self.around(low, high, |this, own| {
                        this.same.insert(*index, own);
                        this.stmts(body);
                    });
                }
                Stmt::Total { index, low, high, body, item, result } => {
                    let (ty, joining) = (item.ty(self.build.nest), item.joining());
                    let lanes = self.array(ty, TILE * LANES as i64);
                    self.flush();
                    self.neutral(lanes, joining, ty);
                    let (low, high) = (self.same(*low), self.same(*high));
                    let taken = |this: &mut Self, lane: Reg, first: Reg, turns: i64| {
                        let tile = this.build.int(TILE);
                        let start = this.build.binary(Binary::Mul, lane, tile);
                        this.pending.push(Pending::Lane(lanes, start, ty));
                        for turn in 0..turns {
                            let more = this.build.int(turn * LANES as i64);
                            let at = this.build.binary(Binary::Add, first, more);
                            this.same.insert(*index, at);
                            let here = this.pending.len();
                            this.stmts(body);
                            this.pending.insert(here, Pending::Turn(this.same.clone()));
                            this.pending.push(Pending::Take(*item));
                        }
                        this.pending.push(Pending::Leave(lanes));
                    };
                    // As many rows as go by several of each lane, and the rest.
                    let (zero, step) = (self.build.int(0), self.build.int(TURNS * LANES as i64));
                    let all = self.build.binary(Binary::Sub, high, low);
                    let blocks = self.build.binary(Binary::DivUnsigned, all, step);
                    let lane_count = self.build.int(LANES as i64);
                    self.around(zero, blocks, |this, block| {
                        let skipped = this.build.binary(Binary::Mul, block, step);
                        let first = this.build.binary(Binary::Add, low, skipped);
                        this.around(zero, lane_count, |this, lane| {
                            let first = this.build.binary(Binary::Add, first, lane);
                            taken(this, lane, first, TURNS);
                        });
                    });
                    let skipped = self.build.binary(Binary::Mul, blocks, step);
                    let rest = self.build.binary(Binary::Add, low, skipped);
                    self.around(rest, high, |this, at| {
                        let from = this.build.binary(Binary::Sub, at, low);
                        let mask = this.build.int(LANES as i64 - 1);
                        let lane = this.build.binary(Binary::And, from, mask);
                        taken(this, lane, at, 1);
                    });
                    self.pending.push(Pending::Joined(lanes, joining, *result));
                }
                stmt => self.pending.push(Pending::Stmt(stmt)),
            }
        }
    }

    /// Sets all lanes to what they start from.
    fn neutral(&mut self, lanes: Array, joining: Joining, ty: Ty) {
        let neutral = self.build.set(ty, Op::Const(ty, ty.bits_of(joining.neutral())));
        let (low, high) = (self.build.int(0), self.build.int(TILE * LANES as i64));
        let (label, index) = (self.build.label(), self.build.reg(Ty::I64));
        let body = vec![Stmt::Store(lanes, index, neutral)];
        self.build.stmts.push(Stmt::For { label, index, low, high, body });
    }

    /// An inner loop, around groups for all indices of the tile.
    fn around(&mut self, low: Reg, high: Reg, body: impl FnOnce(&mut Self, Reg)) {
        let index = self.build.reg(Ty::I64);
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
        let at = self.build.reg(Ty::I64);
        let place = self.build.binary(Binary::Sub, at, self.low);
        let mut group = Group {
            here: HashMap::from_iter([(self.index, at)]),
            vars: HashMap::default(),
            place,
            lane: None,
        };
        for one in pending {
            match one {
                Pending::Stmt(stmt) => self.stmt(stmt, &mut group),
                Pending::Turn(same) => self.same = same,
                Pending::Lane(lanes, start, ty) => {
                    let slot = self.build.binary(Binary::Add, place, start);
                    let lane = self.build.set(ty, Op::Load(lanes, slot, ty));
                    group.lane = Some((slot, lane));
                }
                Pending::Take(item) => {
                    let item = item.map(|reg| self.read(reg, &mut group));
                    if let Some((_, lane)) = &mut group.lane {
                        *lane = self.build.set(item.ty(self.build.nest), item.taken(*lane));
                    }
                }
                Pending::Leave(lanes) => {
                    if let Some((slot, lane)) = group.lane.take() {
                        self.build.stmts.push(Stmt::Store(lanes, slot, lane));
                    }
                }
                Pending::Joined(lanes, joining, result) => {
                    let ty = self.build.nest.regs[result as usize];
                    let lanes = std::array::from_fn(|number| {
                        let slot = self.lane(number as i64, place);
                        self.build.set(ty, Op::Load(lanes, slot, ty))
                    });
                    let sum = tree(lanes, |a, b| self.build.binary(joining.into(), a, b));
                    self.made(result, sum, &mut group);
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
    fn read(&mut self, reg: Reg, group: &mut Group) -> Reg {
        if let Some(here) = group.here.get(&reg) {
            return *here;
        }
        if !self.seen.depends.contains(&reg) {
            return self.same(reg);
        }
        let ty = self.build.nest.regs[reg as usize];
        let op = match self.seen.ops.get(&reg) {
            Some(op) if again(op, ty) => {
                let mut op = (*op).clone();
                op.for_each_reg_mut(&mut |reg| *reg = self.read(*reg, group));
                op
            }
            _ => Op::Load(self.slots_of(reg), group.place, ty),
        };
        let here = self.build.set(ty, op);
        group.here.insert(reg, here);
        here
    }

    fn slots_of(&mut self, reg: Reg) -> Array {
        if let Some(array) = self.slots.get(&reg) {
            return *array;
        }
        let array = self.array(self.build.nest.regs[reg as usize], TILE);
        self.slots.insert(reg, array);
        array
    }

    fn var(&mut self, var: Var) -> Array {
        if let Some(array) = self.vars.get(&var) {
            return *array;
        }
        let array = self.array(self.build.nest.vars[var as usize], TILE);
        self.vars.insert(var, array);
        array
    }

    /// The group has set a register.
    fn made(&mut self, reg: Reg, here: Reg, group: &mut Group) {
        group.here.insert(reg, here);
        let ty = self.build.nest.regs[reg as usize];
        if self.seen.crossing.contains(&reg) && !self.seen.ops.get(&reg).is_some_and(|op| again(op, ty)) {
            let array = self.slots_of(reg);
            self.build.stmts.push(Stmt::Store(array, group.place, here));
        }
    }

    fn stmt(&mut self, stmt: &Stmt, group: &mut Group) {
        match stmt {
            Stmt::Let(reg, Op::Get(var)) => {
                let here = match group.vars.get(var) {
                    Some(here) => *here,
                    None => {
                        let (array, ty) = (self.var(*var), self.build.nest.regs[*reg as usize]);
                        let here = self.build.set(ty, Op::Load(array, group.place, ty));
                        group.vars.insert(*var, here);
                        here
                    }
                };
                self.made(*reg, here, group);
            }
            Stmt::Let(reg, op) => {
                let mut op = op.clone();
                op.for_each_reg_mut(&mut |reg| *reg = self.read(*reg, group));
                let here = self.build.set(self.build.nest.regs[*reg as usize], op);
                self.made(*reg, here, group);
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
            // No other statement is pending.
            _ => {}
        }
    }
}

/// What a group knows for one index of the tile.
struct Group {
    here: HashMap<Reg, Reg>,
    vars: HashMap<Var, Reg>,
    /// The place of the index in the tile.
    place: Reg,
    /// The lane at hand: its slot, and what is in it.
    lane: Option<(Reg, Reg)>,
}

/// Whether a number is computed again rather than kept: slot numbers, mostly.
fn again(op: &Op, ty: Ty) -> bool {
    ty == Ty::I64 && matches!(op, Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..))
}
