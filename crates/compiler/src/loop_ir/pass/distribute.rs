//! Loop distribution: a loop whose body calls functions that have a vector form or has numbers of
//! several widths, and cannot go by vectors as a whole or does much between the calls, becomes
//! several loops over strips.
//!
//! ```text
//!                                  parallel for p < (n + 127) / 128
//! parallel for i < n                 for j < 128: t0[j] <- neg a[at[p * 128 + j]]
//!   r0 = neg a[at[i]]         =>     for j < 128: t1[j] <- call exp(t0[j])
//!   r1 = call exp(r0)                for j < 128: b[p * 128 + j] <- cast f32 t1[j]
//!   b[i] <- cast f32 r1
//! ```
//!
//! A load by a table, a conversion between widths or a function without a vector form keeps a whole
//! loop from going by vectors, and a function of one number takes four times as long as its vector
//! form does for each. Arrays of a strip, on the stack of a run, carry values from loop to loop
//! (distribution and strip mining; Kennedy and McKinley, *Loop distribution with arbitrary control
//! flow*, 1990).
//!
//! **Method.** The level of an operation is the number of such calls on the longest chain to it.
//! The operations of a level are one loop, the calls between two levels a loop each. Where vectors
//! have all operations ([`vector_forms`](super::vector_forms)), but lanes of 4 and of 8 bytes, each
//! width has loops of its own: a level ends where the width changes, too. A number is extended
//! where it is loaded from a strip, and cut off where it is stored into one. What costs no
//! more than a load from a strip is computed again: slot numbers, and loads from arrays that the
//! loop does not write, at a slot that is the index plus what stays the same.
//!
//! **Why nothing changes.** The rounds are independent: of a parallel loop by definition, of
//! another one by [`parallelize`](super::parallelize). Each round does its own operations, those
//! that depend on each other in their order. An array that is stored into is stored once a round
//! and loaded before. The items of a reduction go to an array of a chunk first, so its lanes are as
//! before.
//!
//! Costs time in proportion to the statements.

use super::super::promotion::has_promoted_form;
use super::super::{
    Array, Binary, Cast, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt, Summand, Unary, has_vector_form,
};
use super::affine::Forms;
use super::delinearize::{chunk_arrays, reduce_chunk};
use super::parallelize::independent_loops;
use super::vector_forms::{Lanes, VectorForms};
use super::{Builder, LoopParts, Position, Strip, has_alias, known_rounds, loop_parts, strip_mined};
use crate::hash::{HashMap, HashSet};
use std::collections::BTreeSet;

/// Rounds of a strip.
const STRIP: u64 = 128;

/// Rounds of the shortest loop.
const MIN_ROUNDS: u64 = 32;

/// Statements of the longest body.
const MAX_STATEMENTS: usize = 600;

/// Arrays of a strip, of one loop.
const MAX_STRIPS: usize = 24;

/// Operations of a loop that calls functions with blocks of numbers and goes by vectors as a whole;
/// a block of each operation is in flight then. More operations go by wider vectors between the
/// calls, on processors that have those.
const MAX_BLOCK_OPERATIONS: usize = 8;

/// Levels of calls.
const MAX_LEVELS: u32 = 6;

/// Operations of lanes of 4 bytes for each conversion, from which on lanes of 8 bytes take longer
/// than strips.
const OPERATIONS_PER_CONVERSION: usize = 4;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let candidates = candidates(kernel);
    if candidates.is_empty() {
        return;
    }
    super::rewrite(kernel, &mut |kernel, stmts, position| {
        let mut out = Vec::new();
        for stmt in stmts {
            let index = loop_parts(&stmt).map(|parts| parts.index);
            match index.and_then(|index| candidates.get(&index)) {
                Some(widths) => out.extend(Distribution::of(kernel, &stmt, widths, position)),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The indices of the loops that are distributed, with the widths of their registers.
fn candidates(kernel: &Kernel) -> HashMap<Reg, HashMap<Reg, usize>> {
    let mut forms = Forms::new(kernel);
    let (mut found, mut in_order) = (HashMap::default(), HashSet::default());
    super::super::for_each_stmt(&kernel.body, &mut |stmt| {
        let Some(parts) = loop_parts(stmt) else { return };
        if let Some(widths) = widths_if_mixed(kernel, &parts, &mut forms) {
            found.insert(parts.index, widths);
            if let Stmt::For { index, .. } = stmt {
                in_order.insert(*index);
            }
        }
    });
    if !in_order.is_empty() {
        let independent = independent_loops(kernel, &in_order, false);
        found.retain(|index, _| !in_order.contains(index) || independent.contains(index));
    }
    found
}

/// The widths of the registers of a loop whose body only computes and stores, and that does not go
/// by vectors as a whole: it calls functions that have a vector form, or has lanes of 4 and of 8
/// bytes. Without widths, its loops have lanes of all.
fn widths_if_mixed(
    kernel: &Kernel,
    parts: &LoopParts<'_>,
    forms: &mut Forms<'_>,
) -> Option<HashMap<Reg, usize>> {
    let LoopParts { index, low, high, body, .. } = parts;
    if body.len() > MAX_STATEMENTS {
        return None;
    }
    if known_rounds(forms, *low, *high).is_some_and(|rounds| rounds < MIN_ROUNDS as i64) {
        return None;
    }
    let mut varying: HashSet<Reg> = HashSet::from_iter([*index]);
    let mut stored: HashMap<Array, Reg> = HashMap::default();
    let (mut calls, mut uniform, mut work) = (false, true, 0);
    for stmt in *body {
        match stmt {
            Stmt::Let(reg, op) => {
                let mut varies = false;
                op.for_each_reg(&mut |reg| varies |= varying.contains(&reg));
                if let Op::Load(array, ..) = op {
                    // What is loaded after a store may be another number.
                    if stored.contains_key(array) {
                        return None;
                    }
                }
                if varies {
                    varying.insert(*reg);
                    calls |= matches!(op, Op::Call(f, _) if has_vector_form(*f));
                    work += 1;
                    uniform &= is_uniform(kernel, *index, *reg, op, forms);
                }
            }
            Stmt::Store(array, at, _) => {
                if stored.insert(*array, *at).is_some() {
                    return None;
                }
                uniform &= kernel.arrays[*array].width == 8 && coefficient(*index, *at, forms) == Some(1);
            }
            _ => return None,
        }
    }
    let aliased = stored.keys().any(|array| has_alias(kernel, *array));
    // Another round would load what this one stores.
    let at_same_slot = body.iter().all(|stmt| match stmt {
        Stmt::Let(_, Op::Load(array, at, _)) => stored.get(array).is_none_or(|stored| stored == at),
        _ => true,
    });
    if aliased || !at_same_slot {
        return None;
    }
    let widths = match kernel.target.has_wide_vectors() {
        true => widths(kernel, *index, body, forms),
        false => None,
    };
    if calls {
        let is_long = work > MAX_BLOCK_OPERATIONS && kernel.target.has_wide_vectors();
        return (!uniform || is_long).then(|| widths.unwrap_or_default());
    }
    widths.filter(|widths| [4, 8].iter().all(|bytes| widths.values().any(|width| width == bytes)))
}

/// The bytes of the lanes in which each register is computed that differs from round to round;
/// `None` if vectors do not have all operations of a loop.
fn widths(kernel: &Kernel, index: Reg, body: &[Stmt], forms: &mut Forms<'_>) -> Option<HashMap<Reg, usize>> {
    let vectors = VectorForms::of_body(kernel, index, body, forms)?;
    if !vectors.has_short_operations {
        return None;
    }
    if goes_by_promoted_lanes(kernel, body, &vectors) {
        return None;
    }
    let mut widths = HashMap::default();
    for stmt in body {
        let Stmt::Let(reg, op) = stmt else { continue };
        let width = match (op, vectors.lanes.get(reg)) {
            // Cut off where it is stored.
            (Op::Cast(Cast::Truncate, _, from), Some(_)) if kernel.regs[*from] == ScalarType::I64 => 8,
            (_, Some(Lanes::Bytes(bytes))) => *bytes,
            (_, Some(Lanes::Index) | None) => continue,
        };
        widths.insert(*reg, width);
    }
    // A number of 1 or 2 bytes is loaded into the lanes that it is extended to.
    for stmt in body {
        if let Stmt::Let(reg, Op::Cast(Cast::ZeroExtend | Cast::SignExtend, ScalarType::I32, from)) = stmt
            && let Some(width) = widths.get(reg).copied()
            && kernel.regs[*from].bytes() < 4
            && is_read_once(body, *from)
            && let Some(own) = widths.get_mut(from)
        {
            *own = width;
        }
    }
    Some(widths)
}

/// Returns true if one statement of a body reads a register.
fn is_read_once(body: &[Stmt], reg: Reg) -> bool {
    let mut reads = 0;
    for stmt in body {
        stmt.for_each_reg(&mut |read| reads += usize::from(read == reg));
    }
    reads == 1
}

/// Returns true if lanes of 8 bytes have all operations of a loop
/// ([`promotion`](super::super::promotion)), and those of 4 bytes are few beside the conversions,
/// each of which would cost a strip. Floats are rounded after each operation there, which is no
/// gain.
fn goes_by_promoted_lanes(kernel: &Kernel, body: &[Stmt], vectors: &VectorForms<'_, '_>) -> bool {
    let (mut conversions, mut short, mut promoted) = (0, 0, true);
    for stmt in body {
        let Stmt::Let(reg, op) = stmt else { continue };
        match op {
            _ if !vectors.lanes.contains_key(reg) => continue,
            Op::Cast(..) => conversions += 1,
            Op::Load(..) => {}
            _ => {
                promoted &= kernel.regs[*reg] != ScalarType::F32;
                short += usize::from(vectors.lanes[reg] == Lanes::Bytes(4));
            }
        }
        promoted &= has_promoted_form(kernel, kernel.regs[*reg], op, |_| false);
    }
    promoted && short <= OPERATIONS_PER_CONVERSION * conversions
}

/// The coefficient of the index in a slot number, if the rest is the same in all rounds or an
/// index around.
fn coefficient(index: Reg, at: Reg, forms: &mut Forms<'_>) -> Option<i64> {
    let form = forms.of(at);
    form.terms.iter().find(|term| term.0 == index).map(|term| term.1)
}

/// Returns true if an operation goes by vectors of binary64.
fn is_uniform(kernel: &Kernel, index: Reg, reg: Reg, op: &Op, forms: &mut Forms<'_>) -> bool {
    let double = |reg: &Reg| kernel.regs[*reg] == ScalarType::F64;
    match op {
        Op::Load(array, at, ty) => {
            *ty == ScalarType::F64
                && kernel.arrays[*array].width == 8
                && coefficient(index, *at, forms) == Some(1)
        }
        Op::Call(f, _) => has_vector_form(*f) || *f == super::super::ScalarFunction::Fma,
        Op::Compare(_, a, _) => double(a),
        Op::Binary(Binary::Add | Binary::Sub, ..) if kernel.regs[reg] == ScalarType::I64 => {
            coefficient(index, reg, forms) == Some(1)
        }
        Op::Binary(Binary::And | Binary::Or, ..) => true,
        Op::Unary(Unary::PopCount | Unary::TrailingZeros, _) | Op::Cast(..) => false,
        _ => double(&reg),
    }
}

/// A loop that is being distributed.
struct Distribution<'k, 's> {
    build: Builder<'k>,
    index: Reg,
    ops: HashMap<Reg, &'s Op>,
    stored: HashSet<Array>,
    /// The level of each register that differs from round to round.
    levels: HashMap<Reg, u32>,
    /// Slot numbers that are sums and products of the index and of what stays the same.
    affine: HashSet<Reg>,
    /// Registers that are computed again where they are read: these numbers, and loads there.
    cheap: HashSet<Reg>,
    /// The bytes of the lanes in which registers are computed that differ from round to round, if
    /// loops have lanes of one width.
    widths: &'s HashMap<Reg, usize>,
    /// The array of a strip for each register that another loop reads.
    strips: HashMap<Reg, Array>,
    /// The position in a strip, the index there, and the registers that are known in the loop.
    at: Reg,
    known: HashMap<Reg, Reg>,
}

impl<'k, 's> Distribution<'k, 's> {
    /// Distributes the loop `stmt` into loops over strips.
    fn of(
        kernel: &'k mut Kernel,
        stmt: &'s Stmt,
        widths: &'s HashMap<Reg, usize>,
        position: Position,
    ) -> Vec<Stmt> {
        let Some(LoopParts { index, low, high, body, item }) = loop_parts(stmt) else {
            return vec![stmt.clone()];
        };
        let mut this = Distribution {
            build: Builder::new(kernel),
            widths,
            index,
            ops: HashMap::default(),
            stored: HashSet::default(),
            levels: HashMap::from_iter([(index, 0)]),
            affine: HashSet::from_iter([index]),
            cheap: HashSet::from_iter([index]),
            strips: HashMap::default(),
            at: index,
            known: HashMap::default(),
        };
        this.assign_levels(body);
        let deepest = body.iter().map(|stmt| this.level_of(stmt)).max().unwrap_or(0);
        if deepest == 0 && this.loop_widths(body).len() < 2 || deepest > MAX_LEVELS {
            return vec![stmt.clone()];
        }
        this.make_strips(body, item, deepest);
        if this.strips.len() > MAX_STRIPS {
            return vec![stmt.clone()];
        }
        this.loops(stmt, (low, high), body, item, deepest, position)
    }

    fn level(&self, reg: Reg) -> u32 {
        self.levels.get(&reg).copied().unwrap_or(0)
    }

    fn is_call(&self, reg: Reg) -> bool {
        matches!(self.ops.get(&reg), Some(Op::Call(f, _)) if has_vector_form(*f))
            && self.levels.contains_key(&reg)
    }

    /// Sorts the registers of the body.
    fn assign_levels(&mut self, body: &'s [Stmt]) {
        self.stored.extend(body.iter().filter_map(|stmt| match stmt {
            Stmt::Store(array, ..) => Some(*array),
            _ => None,
        }));
        for stmt in body {
            let Stmt::Let(reg, op) = stmt else { continue };
            self.ops.insert(*reg, op);
            let (mut level, mut varies, mut affine) = (0, false, true);
            op.for_each_reg(&mut |operand| {
                let crosses = self.crosses(*reg, operand);
                level = level.max(self.level(operand) + u32::from(crosses));
                varies |= self.levels.contains_key(&operand);
                let outside = operand != self.index && !self.ops.contains_key(&operand);
                affine &= outside || self.affine.contains(&operand);
            });
            let is_affine = match op {
                Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => true,
                Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) => {
                    affine && self.build.kernel.regs[*reg] == ScalarType::I64
                }
                _ => false,
            };
            let is_cheap = match op {
                Op::Load(array, ..) => affine && !self.stored.contains(array),
                Op::Cast(Cast::ZeroExtend, _, from) => {
                    is_affine || !varies || self.widths.contains_key(reg) && self.cheap.contains(from)
                }
                _ => is_affine || !varies,
            };
            if is_affine {
                self.affine.insert(*reg);
            }
            if is_cheap {
                self.cheap.insert(*reg);
            }
            if varies || !is_cheap {
                let call = varies && matches!(op, Op::Call(f, _) if has_vector_form(*f));
                self.levels.insert(*reg, level + u32::from(call));
            }
        }
    }

    /// The bytes of the lanes in which a register is computed, or a number is stored; 0 if loops
    /// have lanes of all widths.
    fn width(&self, reg: Reg) -> usize {
        match self.widths.get(&reg) {
            _ if self.widths.is_empty() => 0,
            Some(width) => *width,
            None => self.build.kernel.regs[reg].bytes(),
        }
    }

    /// The widths of the loops that the statements of a body are in.
    fn loop_widths(&self, body: &[Stmt]) -> BTreeSet<usize> {
        body.iter().filter(|stmt| !self.is_elsewhere(stmt)).filter_map(|stmt| self.width_of(stmt)).collect()
    }

    fn width_of(&self, stmt: &Stmt) -> Option<usize> {
        match stmt {
            Stmt::Let(reg, _) | Stmt::Store(_, _, reg) => Some(self.width(*reg)),
            _ => None,
        }
    }

    /// Returns true for a statement that is in no loop of a level: a call, or what is computed
    /// again where it is read.
    fn is_elsewhere(&self, stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::Let(reg, _) if self.is_call(*reg) || self.cheap.contains(reg))
    }

    /// Returns true if an operand is computed in a loop with lanes of another width than a result.
    fn crosses(&self, reg: Reg, operand: Reg) -> bool {
        self.levels.contains_key(&operand)
            && !self.cheap.contains(&operand)
            && self.width(operand) != self.width(reg)
    }

    /// The level of a statement that is no call.
    fn level_of(&self, stmt: &Stmt) -> u32 {
        match stmt {
            Stmt::Let(reg, _) => self.level(*reg),
            stmt => {
                let mut level = 0;
                stmt.for_each_reg(&mut |reg| level = level.max(self.level(reg)));
                level
            }
        }
    }

    /// Gives an array to each register that is read in another loop than that which sets it.
    fn make_strips(&mut self, body: &'s [Stmt], item: Option<Summand>, deepest: u32) {
        let mut wanted: Vec<Reg> = Vec::new();
        for stmt in body {
            let level = self.level_of(stmt);
            let in_call = matches!(stmt, Stmt::Let(reg, _) if self.is_call(*reg));
            stmt.for_each_reg(&mut |reg| {
                let made = matches!(stmt, Stmt::Let(made, _) if self.crosses(*made, reg));
                let crosses = made || in_call || self.is_call(reg) || self.level(reg) != level;
                if crosses && self.levels.contains_key(&reg) && !self.cheap.contains(&reg) {
                    wanted.push(reg);
                }
            });
        }
        for reg in item.into_iter().flat_map(Summand::regs) {
            let crosses = self.is_call(reg) || self.level(reg) != deepest;
            if crosses && self.levels.contains_key(&reg) && !self.cheap.contains(&reg) {
                wanted.push(reg);
            }
        }
        for reg in wanted {
            if !self.strips.contains_key(&reg) {
                let bytes = if self.is_narrow_truth(reg) { 4 } else { self.build.kernel.regs[reg].bytes() };
                let origin = Origin::Stack(STRIP as u32);
                let array = self.build.kernel.add_array(origin, bytes as u8, STRIP);
                self.strips.insert(reg, array);
            }
        }
    }

    fn loops(
        mut self,
        stmt: &'s Stmt,
        (low, high): (Option<Reg>, Reg),
        body: &'s [Stmt],
        item: Option<Summand>,
        deepest: u32,
        position: Position,
    ) -> Vec<Stmt> {
        let zero = self.build.int(0);
        let low = low.unwrap_or(zero);
        let strips = strip_mined(&mut self.build, (low, high), STRIP);
        let items = item.map(|item| chunk_arrays(&mut self.build, item, position));
        let loop_widths = self.loop_widths(body);
        let front = std::mem::take(&mut self.build.stmts);
        // One strip.
        let Strip { skipped, base, rounds: count } = strips.strip(&mut self.build);
        let mut made = std::mem::take(&mut self.build.stmts);
        for level in 0..=deepest {
            if level > 0 {
                for stmt in body {
                    if matches!(stmt, Stmt::Let(reg, _) if self.is_call(*reg) && self.level(*reg) == level) {
                        made.push(self.strip_loop((zero, count), base, |this| this.stmt(stmt)));
                    }
                }
            }
            for width in &loop_widths {
                let group = self.strip_loop((zero, count), base, |this| {
                    for stmt in body {
                        let here = this.level_of(stmt) == level && this.width_of(stmt) == Some(*width);
                        if here && !this.is_elsewhere(stmt) {
                            this.stmt(stmt);
                        }
                    }
                    if level == deepest && Some(width) == loop_widths.last() {
                        for (reg, array) in items.iter().flatten() {
                            let value = this.value(*reg);
                            let at = this.build.binary(Binary::Add, skipped, this.at);
                            this.build.stmts.push(Stmt::Store(*array, at, value));
                        }
                    }
                });
                made.push(group);
            }
        }
        made.retain(|stmt| match stmt {
            Stmt::For { body, .. } => body.iter().any(|inner| matches!(inner, Stmt::Store(..))),
            _ => true,
        });
        let mut out = front;
        if let Stmt::ParallelFor { .. } = stmt {
            out.push(Stmt::ParallelFor { index: strips.number, count: strips.count, body: made });
        } else {
            let label = self.build.label();
            out.push(Stmt::For { label, index: strips.number, low: zero, high: strips.count, body: made });
        }
        if let (Stmt::Reduce { item, result, .. }, Some(items)) = (stmt, items) {
            out.extend(reduce_chunk(&mut self.build, (low, high), &items, *item, *result));
        }
        out
    }

    /// A loop over the rounds of a strip.
    fn strip_loop(&mut self, (zero, count): (Reg, Reg), base: Reg, make: impl FnOnce(&mut Self)) -> Stmt {
        self.at = self.build.reg(ScalarType::I64);
        self.known.clear();
        let index = self.build.binary(Binary::Add, base, self.at);
        self.known.insert(self.index, index);
        make(self);
        let body = std::mem::take(&mut self.build.stmts);
        let label = self.build.label();
        Stmt::For { label, index: self.at, low: zero, high: count, body }
    }

    /// A statement of the body in the loop that is being made.
    fn stmt(&mut self, stmt: &'s Stmt) {
        match stmt {
            Stmt::Let(reg, op) => {
                let value = match self.cut_off(*reg) {
                    Some(whole) => self.value(whole),
                    None => self.computed(*reg, op),
                };
                if let Some(array) = self.strips.get(reg).copied() {
                    let value = if self.is_narrow_truth(*reg) { self.number_of(value) } else { value };
                    self.build.stmts.push(Stmt::Store(array, self.at, value));
                }
            }
            Stmt::Store(array, at, value) => {
                let at = self.value(*at);
                let value = match self.cut_off(*value) {
                    Some(whole) => self.value(whole),
                    None => self.value(*value),
                };
                self.build.stmts.push(Stmt::Store(*array, at, value));
            }
            _ => {}
        }
    }

    /// The word that a register has the lower half of, if that is computed in lanes of 8 bytes.
    fn cut_off(&self, reg: Reg) -> Option<Reg> {
        match self.ops.get(&reg) {
            Some(Op::Cast(Cast::Truncate, _, whole)) if self.widths.contains_key(&reg) => Some(*whole),
            _ => None,
        }
    }

    /// Returns true for a truth value in lanes of 4 bytes.
    fn is_narrow_truth(&self, reg: Reg) -> bool {
        self.widths.get(&reg) == Some(&4) && self.build.kernel.regs[reg] == ScalarType::I64
    }

    /// The number of a truth value, in lanes of 4 bytes.
    fn number_of(&mut self, truth: Reg) -> Reg {
        let ty = ScalarType::I32;
        let [one, zero] = [1, 0].map(|bits| self.build.define(ty, Op::Const(ty, bits)));
        self.build.define(ty, Op::Select(truth, one, zero))
    }

    fn computed(&mut self, reg: Reg, op: &Op) -> Reg {
        let value = match op {
            Op::Cast(kind @ (Cast::ZeroExtend | Cast::SignExtend), _, from)
                if self.widths.contains_key(&reg) && self.build.kernel.regs[reg] == ScalarType::I64 =>
            {
                self.extended(*from, *kind == Cast::SignExtend)
            }
            op => {
                let mut op = op.clone();
                op.for_each_reg_mut(&mut |operand| *operand = self.value(*operand));
                self.build.define(self.build.kernel.regs[reg], op)
            }
        };
        self.known.insert(reg, value);
        value
    }

    /// A number of 1, 2 or 4 bytes as a word: loaded from where a loop with other lanes, or the
    /// kernel, has it.
    fn extended(&mut self, reg: Reg, signed: bool) -> Reg {
        let ty = ScalarType::I64;
        let bits = 8 * self.build.kernel.regs[reg].bytes();
        if let Some(whole) = self.cut_off(reg) {
            let (whole, mask) = (self.value(whole), self.build.int((u64::MAX >> (64 - bits)) as i64));
            let word = self.build.binary(Binary::And, whole, mask);
            return self.with_sign(word, bits, signed);
        }
        let loaded = match (self.strips.get(&reg), self.ops.get(&reg)) {
            (Some(strip), _) => Op::Load(*strip, self.at, ty),
            (None, Some(Op::Load(array, at, _))) => Op::Load(*array, self.value(*at), ty),
            (None, _) => unreachable!("what a loop of another width reads has a strip"),
        };
        let word = self.build.define(ty, loaded);
        self.with_sign(word, bits, signed)
    }

    /// A word with the sign of its lowest bits, if these have one.
    fn with_sign(&mut self, mut word: Reg, bits: usize, signed: bool) -> Reg {
        if signed {
            // The low bits have twice the sign more if the number is negative: a sign that is
            // turned twice.
            let sign = self.build.int(1 << (bits - 1));
            word = self.build.binary(Binary::Xor, word, sign);
            word = self.build.binary(Binary::Sub, word, sign);
        }
        word
    }

    /// A register in the loop that is being made.
    fn value(&mut self, reg: Reg) -> Reg {
        if let Some(known) = self.known.get(&reg) {
            return *known;
        }
        let Some(op) = self.ops.get(&reg).copied() else { return reg };
        if self.cheap.contains(&reg) {
            return self.computed(reg, op);
        }
        let Some(array) = self.strips.get(&reg).copied() else {
            // The same in all rounds: computed again.
            return self.computed(reg, op);
        };
        let is_truth = self.is_narrow_truth(reg);
        let ty = if is_truth { ScalarType::I32 } else { self.build.kernel.regs[reg] };
        let mut value = self.build.define(ty, Op::Load(array, self.at, ty));
        if is_truth {
            let zero = self.build.define(ty, Op::Const(ty, 0));
            value = self.build.define(ScalarType::I64, Op::Compare(Compare::Ne, value, zero));
        }
        self.known.insert(reg, value);
        value
    }
}
