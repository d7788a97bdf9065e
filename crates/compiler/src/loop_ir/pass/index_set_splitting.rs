//! Index set splitting: loops are cut where a condition on their index changes.
//!
//! The neighbor of a place on a torus is `i + 1 == n ? 0 : i + 1`: a choice in each round, though
//! only the last one chooses. A loop whose body compares its index `i + c` with what stays the same
//! in the loop — a size, a constant, the index of a loop around it, any other register set before —
//! is cut at the index where the comparison changes, `T = size - c`; within the pieces it is known,
//! choices are made when code is made, and what is left goes by vectors. So the rest of a row
//! behind the diagonal is a loop of its own, and of arrays joined by `\+` each part.
//!
//! **Method.** A piece is a range with symbolic ends (a size or register, or none, plus a
//! constant); of two ends such as `9` and `n - 9` neither is the nearer one for all sizes, and both
//! are kept. The
//! statements of the body are walked with what is known of registers: those that are the index plus
//! a constant or the index of a loop around, or an end minus the index, and conditions that are
//! decided by the ends of the piece. The first condition that is not decided cuts the piece in two, and both are looked at again;
//! pieces of a few rounds are left as they are. The pieces run one after the other and cover the
//! range: ends are clamped, so a piece may be empty, and what is assumed of a piece holds in each of
//! its rounds.
//!
//! Conditions that are known for the whole range, such as that an index is in range, go without a
//! cut.
//!
//! A loop around others is cut, too, where a branch of an inner one depends on its index: the halo
//! of an outer axis. Choices and other conditions of its index are computed in front of the inner
//! loop and need no cut. It reads no array that it writes, so its rounds may also run in order. So
//! is a loop in order that has a branch around a loop: the rows below a pivot.
//!
//! A comparison with a constant or a size for equality changes twice: at that index, and behind it.
//!
//! **No end wraps.** An index is at least 0 and below 2^62: loops whose beginning is not known to
//! be are left alone, and none makes so many rounds. A register may hold any number, so as an end
//! it is clamped to numbers beyond all indices, to which a constant can be added.
//!
//! Costs a copy of the body for each piece, at most [`MAX_PIECES`].

use super::super::{Binary, Compare, Kernel, Op, Reg, ScalarType, Stmt, for_each_stmt};
use super::clone_stmts::Cloner;
use super::{Builder, Position};
use crate::hash::{HashMap, HashSet};

/// Pieces of a loop.
const MAX_PIECES: usize = 6;
/// Statements of all pieces.
const MAX_STATEMENTS: usize = 2_000;
/// Rounds of a piece that is not cut again.
const MAX_UNSPLIT_ITERATIONS: i64 = 4;

/// The largest number that is added to the base of an end other than a size or none.
const MAX_OFFSET: i64 = 1 << 36;
/// Numbers beyond which a register as an end is taken for the nearer of them.
const MIN_END: i64 = -(1 << 40);
const MAX_END: i64 = (1 << 62) + (1 << 61);

/// The least constant that is taken for a number beside a size, and how far it is from it at most.
const MIN_NEAR_SIZE: i64 = 16;
const MAX_BESIDE_SIZE: i64 = 2;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let ends = Ends::of(kernel);
    super::rewrite(kernel, &mut |kernel, stmts, position| {
        let mut out = Vec::new();
        for stmt in stmts {
            match split_loop(kernel, &stmt, &ends, position) {
                Some(pieces) => out.extend(pieces),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// The part of an end that is not known when code is made.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Base {
    /// There is none.
    Nothing,
    Size(u32),
    /// A register that is set before the loop.
    Register(Reg),
    /// Such a register less a size.
    Difference(Reg, u32),
    /// A size less such a register, an index.
    Remainder(u32, Reg),
}

/// A place in a range: a base plus a constant.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bound {
    base: Base,
    offset: i64,
}

/// The registers of a kernel as ends.
struct Ends {
    /// Registers that are constants, sizes, or others plus a constant.
    known: HashMap<Reg, Bound>,
    /// Indices of loops that are at least 0.
    natural: HashSet<Reg>,
    /// Sums of such an index and a size.
    sums: HashSet<Reg>,
    /// Ends that such indices are below.
    highs: HashMap<Reg, Bound>,
    /// The values of the sizes.
    sizes: Vec<u64>,
}

impl Ends {
    fn of(kernel: &Kernel) -> Ends {
        let mut ends = Ends {
            known: HashMap::default(),
            natural: HashSet::default(),
            sums: HashSet::default(),
            highs: HashMap::default(),
            sizes: kernel.sizes.clone(),
        };
        for_each_stmt(&kernel.body, &mut |stmt| match stmt {
            Stmt::Let(reg, Op::Const(ScalarType::I64, bits)) => {
                ends.known.insert(*reg, Bound { base: Base::Nothing, offset: *bits as i64 });
            }
            Stmt::Let(reg, Op::Size(n)) => {
                ends.known.insert(*reg, Bound { base: Base::Size(*n), offset: 0 });
            }
            Stmt::Let(reg, Op::Binary(kind @ (Binary::Add | Binary::Sub), a, b))
                if kernel.regs[*reg] == ScalarType::I64 =>
            {
                // Only of indices: what is added to them wraps nothing.
                let (a, b) = (ends.bound(*a), ends.bound(*b));
                if *kind == Binary::Add
                    && let (Base::Register(index), Base::Size(_)) | (Base::Size(_), Base::Register(index)) =
                        (a.base, b.base)
                    && ends.natural.contains(&index)
                    && ends.is_natural(a)
                    && ends.is_natural(b)
                {
                    ends.sums.insert(*reg);
                }
                let sum = match (a.base, b.base, kind) {
                    (Base::Register(index), Base::Nothing, Binary::Add) => Some((index, a.offset, b.offset)),
                    (Base::Register(index), Base::Nothing, _) => {
                        b.offset.checked_neg().map(|offset| (index, a.offset, offset))
                    }
                    (Base::Nothing, Base::Register(index), Binary::Add) => Some((index, b.offset, a.offset)),
                    _ => None,
                };
                if let Some((index, offset, more)) = sum
                    && ends.natural.contains(&index)
                    && let Some(offset) = offset.checked_add(more)
                    && offset.abs() <= MAX_OFFSET
                {
                    ends.known.insert(*reg, Bound { base: Base::Register(index), offset });
                }
            }
            Stmt::For { index, low, high, .. } if ends.is_natural(ends.bound(*low)) => {
                ends.natural.insert(*index);
                ends.highs.insert(*index, ends.bound(*high));
            }
            Stmt::ParallelFor { index, count, .. } => {
                ends.natural.insert(*index);
                ends.highs.insert(*index, ends.bound(*count));
            }
            _ => {}
        });
        ends
    }

    /// A register as an end.
    fn bound(&self, reg: Reg) -> Bound {
        self.known.get(&reg).copied().unwrap_or(Bound { base: Base::Register(reg), offset: 0 })
    }

    /// A constant that is nearly a size as that size and a small number: so the last index, written
    /// as a number, is compared with the ends of loops.
    fn beside_size(&self, bound: Bound) -> Bound {
        let distance = |size: &u64| bound.offset.checked_sub(i64::try_from(*size).ok()?);
        let is_near = |size: &u64| distance(size).is_some_and(|by| by.abs() <= MAX_BESIDE_SIZE);
        let is_constant = bound.base == Base::Nothing && bound.offset >= MIN_NEAR_SIZE;
        match self.sizes.iter().position(is_near).filter(|_| is_constant) {
            Some(at) => {
                Bound { base: Base::Size(at as u32), offset: distance(&self.sizes[at]).expect("it is near") }
            }
            None => bound,
        }
    }

    /// Returns true if an end is at least 0, and below 2^62 or near such a number.
    fn is_natural(&self, bound: Bound) -> bool {
        let base = match bound.base {
            Base::Nothing | Base::Size(_) => true,
            Base::Register(reg) => self.natural.contains(&reg),
            Base::Difference(..) | Base::Remainder(..) => false,
        };
        base && (0..=1 << 62).contains(&bound.offset)
    }
}

impl Bound {
    /// The number less another one, if that is an end.
    fn minus(self, other: Bound) -> Option<Bound> {
        let base = match (self.base, other.base) {
            (base, Base::Nothing) => base,
            (base, other) if base == other => Base::Nothing,
            (Base::Register(reg), Base::Size(size)) => Base::Difference(reg, size),
            _ => return None,
        };
        let offset = self.offset.checked_sub(other.offset).filter(|offset| offset.abs() <= MAX_OFFSET)?;
        Some(Bound { base, offset })
    }

    /// The number plus a constant.
    fn plus(self, more: i64) -> Option<Bound> {
        self.minus(Bound { base: Base::Nothing, offset: more.checked_neg()? })
    }

    /// The distance to another bound, if it is the same for all sizes.
    fn distance_to(self, other: Bound) -> Option<i64> {
        if self.base == other.base { other.offset.checked_sub(self.offset) } else { None }
    }
}

impl Bound {
    /// The register that holds it.
    fn place(self, build: &mut Builder<'_>, ends: &Ends) -> Reg {
        let offset = build.int(self.offset);
        let clamped = |build: &mut Builder<'_>, reg: Reg| {
            if ends.natural.contains(&reg) {
                return reg;
            }
            let (least, most) = (build.int(MIN_END), build.int(MAX_END));
            let reg = build.max(reg, least);
            build.min(reg, most)
        };
        let base = match self.base {
            Base::Nothing => return offset,
            Base::Size(size) => build.define(ScalarType::I64, Op::Size(size)),
            Base::Register(reg) => clamped(build, reg),
            Base::Difference(reg, size) => {
                let reg = clamped(build, reg);
                let size = build.define(ScalarType::I64, Op::Size(size));
                build.binary(Binary::Sub, reg, size)
            }
            Base::Remainder(size, index) => {
                let size = build.define(ScalarType::I64, Op::Size(size));
                build.binary(Binary::Sub, size, index)
            }
        };
        build.binary(Binary::Add, base, offset)
    }
}

/// A range of the index: of ends that cannot be compared for all sizes each one holds.
#[derive(Clone, Debug)]
struct Piece {
    /// The index is at or above each.
    lows: Vec<Bound>,
    /// The index is below each.
    highs: Vec<Bound>,
}

impl Piece {
    /// The value of `index < at`, if it is the same in all iterations.
    fn below(&self, at: Bound, ends: &Ends) -> Option<bool> {
        // An index below a size is at most -1 less that size.
        if let Base::Difference(reg, size) = at.base
            && let Some(high) = ends.highs.get(&reg).filter(|high| high.base == Base::Size(size))
            && high.offset.checked_add(at.offset).is_some_and(|most| most - 1 <= self.min_index())
        {
            return Some(false);
        }
        if self.highs.iter().filter_map(|high| high.distance_to(at)).any(|d| d >= 0) {
            return Some(true);
        }
        if self.lows.iter().filter_map(|low| low.distance_to(at)).any(|d| d <= 0) {
            return Some(false);
        }
        None
    }

    /// The rounds below an end that is not decided, and the others.
    fn split_at(self, at: Bound) -> (Piece, Piece) {
        let nearer = |ends: &[Bound]| {
            let other = ends.iter().copied().filter(|end| end.distance_to(at).is_none());
            other.chain([at]).collect()
        };
        let (highs, lows) = (nearer(&self.highs), nearer(&self.lows));
        (Piece { highs, lows: self.lows }, Piece { lows, highs: self.highs })
    }

    fn is_too_short(&self) -> bool {
        let rounds =
            self.lows.iter().flat_map(|low| self.highs.iter().filter_map(|high| low.distance_to(*high)));
        rounds.min().is_some_and(|rounds| rounds <= MAX_UNSPLIT_ITERATIONS)
    }

    /// The least index, if it is known.
    fn min_index(&self) -> i64 {
        self.lows.iter().find(|low| low.base == Base::Nothing).map_or(0, |low| low.offset)
    }
}

/// The facts that hold in a piece.
struct PieceFacts<'a> {
    ends: &'a Ends,
    /// Registers that are set in the loop.
    inside: &'a HashSet<Reg>,
    piece: &'a Piece,
    /// Registers that are the index plus a constant.
    offsets: HashMap<Reg, i64>,
    /// Registers that are the index plus that of a loop around and a constant.
    shifted: HashMap<Reg, (Reg, i64)>,
    /// Registers that are an end minus the index.
    reflections: HashMap<Reg, Bound>,
    decided: HashMap<Reg, bool>,
    /// Comparisons that are not decided, and where they change.
    undecided: HashMap<Reg, Bound>,
    /// The bound at which an undecided comparison changes on which something depends.
    cut: Option<Bound>,
    /// True if choices depend on nothing: they stand in front of inner loops.
    only_branches: bool,
}

impl PieceFacts<'_> {
    fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Let(reg, op) => self.record(*reg, op),
                Stmt::If(condition, then, otherwise) => {
                    self.require_decided(*condition);
                    if self.decided.get(condition) != Some(&false) {
                        self.stmts(then);
                    }
                    if self.decided.get(condition) != Some(&true) {
                        self.stmts(otherwise);
                    }
                }
                Stmt::For { body, .. } => self.stmts(body),
                _ => {}
            }
        }
    }

    /// Requests a cut where `condition` changes, if it is undecided.
    fn require_decided(&mut self, condition: Reg) {
        if self.cut.is_none() {
            self.cut = self.undecided.get(&condition).copied();
        }
    }

    fn record(&mut self, reg: Reg, op: &Op) {
        let constant = |reg: &Reg| {
            let end = self.ends.known.get(reg);
            let end = end.filter(|end| end.base == Base::Nothing && end.offset.unsigned_abs() <= 1 << 32);
            end.map(|end| end.offset)
        };
        match op {
            Op::Binary(Binary::Add, a, b) => {
                let offset = match (self.offsets.get(a), self.offsets.get(b)) {
                    (Some(x), None) => constant(b).and_then(|c| x.checked_add(c)),
                    (None, Some(x)) => constant(a).and_then(|c| x.checked_add(c)),
                    _ => None,
                };
                self.offsets.extend(offset.map(|offset| (reg, offset)));
                let shifted = match (self.offsets.get(a), self.offsets.get(b)) {
                    (Some(x), None) => self.outer_index(*b).map(|outer| (outer, *x)),
                    (None, Some(x)) => self.outer_index(*a).map(|outer| (outer, *x)),
                    _ => None,
                };
                self.shifted.extend(shifted.map(|shifted| (reg, shifted)));
                let reflection = match (self.reflections.get(a), self.reflections.get(b)) {
                    (Some(x), None) => constant(b).and_then(|c| x.plus(c)),
                    (None, Some(x)) => constant(a).and_then(|c| x.plus(c)),
                    _ => None,
                };
                self.reflections.extend(reflection.map(|reflection| (reg, reflection)));
            }
            Op::Binary(Binary::Sub, a, b) => {
                let offset = self.offsets.get(a).zip(constant(b)).and_then(|(x, c)| x.checked_sub(c));
                self.offsets.extend(offset.map(|offset| (reg, offset)));
                let reflection = match (self.offsets.get(b), self.reflections.get(a)) {
                    (Some(offset), None) => {
                        self.reflected(*a).and_then(|bound| bound.plus(offset.checked_neg()?))
                    }
                    (None, Some(bound)) => constant(b).and_then(|c| bound.plus(-c)),
                    _ => None,
                };
                self.reflections.extend(reflection.map(|reflection| (reg, reflection)));
            }
            Op::Select(c, a, b) => match self.decided.get(c) {
                Some(first) => {
                    let chosen = if *first { a } else { b };
                    let offset = self.offsets.get(chosen).copied();
                    self.offsets.extend(offset.map(|offset| (reg, offset)));
                    let reflection = self.reflections.get(chosen).copied();
                    self.reflections.extend(reflection.map(|reflection| (reg, reflection)));
                }
                None if self.only_branches => {}
                None => self.require_decided(*c),
            },
            // Conditions of conditions.
            Op::Compare(Compare::Eq, a, b) if constant(b) == Some(0) && self.decided.contains_key(a) => {
                let value = !self.decided[a];
                self.decided.insert(reg, value);
            }
            Op::Compare(Compare::Eq, a, b) if constant(b) == Some(0) && self.undecided.contains_key(a) => {
                let at = self.undecided[a];
                self.undecided.insert(reg, at);
            }
            Op::Binary(kind @ (Binary::And | Binary::Or), a, b) => {
                let neutral = *kind == Binary::And;
                let value = match (self.decided.get(a), self.decided.get(b)) {
                    (Some(x), Some(y)) => Some(if neutral { *x && *y } else { *x || *y }),
                    (Some(x), _) | (_, Some(x)) if *x != neutral => Some(*x),
                    _ => None,
                };
                match (value, self.undecided.get(a).or(self.undecided.get(b)).copied()) {
                    (Some(value), _) => drop(self.decided.insert(reg, value)),
                    (None, Some(at)) => drop(self.undecided.insert(reg, at)),
                    (None, None) => {}
                }
            }
            Op::Compare(kind, a, b) => {
                let mut kind = *kind;
                if matches!(kind, Compare::Eq | Compare::Ne) {
                    return self.record_equality(reg, kind == Compare::Eq, *a, *b);
                }
                if matches!(kind, Compare::LtUnsigned | Compare::LeUnsigned)
                    && let Some((zero, is_negative_below)) = self.sign_change(*a)
                {
                    // Without sign, a number below 0 is above the other one.
                    if !self.invariant(*b).is_some_and(|other| self.ends.is_natural(other)) {
                        return;
                    }
                    match self.piece.below(zero, self.ends) {
                        Some(below) if below == is_negative_below => {
                            self.decided.insert(reg, false);
                            return;
                        }
                        Some(_) => {}
                        None => {
                            self.undecided.insert(reg, zero);
                            return;
                        }
                    }
                    kind = if kind == Compare::LtUnsigned { Compare::Lt } else { Compare::Le };
                }
                let threshold = self.reflected_threshold(kind, *a, *b);
                let threshold = threshold.or_else(|| self.shifted_threshold(kind, *a, *b));
                let Some((at, below)) = threshold.or_else(|| self.threshold(kind, *a, *b)) else { return };
                match self.piece.below(at, self.ends) {
                    Some(is) => drop(self.decided.insert(reg, is == below)),
                    None => drop(self.undecided.insert(reg, at)),
                }
            }
            _ => {}
        }
    }

    /// The index where a number changes its sign, and whether it is negative below that: the index
    /// less a constant that is beyond the first one, or an end less the index.
    fn sign_change(&self, reg: Reg) -> Option<(Bound, bool)> {
        if let Some(bound) = self.reflections.get(&reg) {
            return Some((bound.plus(1)?, false));
        }
        let offset = *self.offsets.get(&reg)?;
        let first = self.piece.min_index().checked_add(offset)?;
        let zero = Bound { base: Base::Nothing, offset: offset.checked_neg()? };
        (first < 0).then_some((zero, true))
    }

    /// Records whether the index plus a constant is a size or another constant.
    fn record_equality(&mut self, reg: Reg, equal: bool, a: Reg, b: Reg) {
        let (offset, other) = match (self.offsets.get(&a), self.offsets.get(&b)) {
            (Some(offset), None) => (*offset, self.invariant(b)),
            (None, Some(offset)) => (*offset, self.invariant(a)),
            _ => return,
        };
        // At most choices depend on what is not known before: they go by vectors as well.
        let Some(other) = other.filter(|other| matches!(other.base, Base::Nothing | Base::Size(_))) else {
            return;
        };
        let other = self.ends.beside_size(other);
        let first = offset.checked_neg().and_then(|less| other.plus(less));
        let Some((first, after)) = first.zip(first.and_then(|first| first.plus(1))) else { return };
        match (self.piece.below(first, self.ends), self.piece.below(after, self.ends)) {
            (Some(true), _) | (_, Some(false)) => drop(self.decided.insert(reg, !equal)),
            (Some(false), Some(true)) => drop(self.decided.insert(reg, equal)),
            (None, _) => drop(self.undecided.insert(reg, first)),
            (_, None) => drop(self.undecided.insert(reg, after)),
        }
    }

    /// A register that the index may be taken from without wrapping, as an end: it stays the same and
    /// is at least 0.
    fn reflected(&self, reg: Reg) -> Option<Bound> {
        let bound = self.invariant(reg)?;
        let is_sum = matches!(bound.base, Base::Register(reg) if self.ends.sums.contains(&reg));
        let base = Bound { offset: 0, ..bound };
        let is_small = bound.offset.abs() <= MAX_OFFSET;
        (is_small && (is_sum || self.ends.is_natural(base))).then_some(bound)
    }

    /// A comparison of an end minus the index as `index < T`: `T`, and whether it holds below.
    fn reflected_threshold(&self, kind: Compare, a: Reg, b: Reg) -> Option<(Bound, bool)> {
        let (left, bound, other) = match (self.reflections.get(&a), self.reflections.get(&b)) {
            (Some(bound), None) => (true, *bound, self.invariant(b)?),
            (None, Some(bound)) => (false, *bound, self.invariant(a)?),
            _ => return None,
        };
        let or_equal = match kind {
            Compare::Lt => false,
            Compare::Le => true,
            _ => return None,
        };
        // end - index < other: not index <= end - other; other < end - index: index < end - other.
        let at = bound.minus(other)?;
        let at = if left == or_equal { at } else { at.plus(1)? };
        Some((at, !left))
    }

    /// The index of a loop around that a register is.
    fn outer_index(&self, reg: Reg) -> Option<Reg> {
        (self.ends.natural.contains(&reg) && !self.inside.contains(&reg)).then_some(reg)
    }

    /// A comparison of the index plus that of a loop around with a size as `index < T`: `T`, and true,
    /// since it holds below. Both indices are below 2^62, so their sum does not wrap.
    fn shifted_threshold(&self, kind: Compare, a: Reg, b: Reg) -> Option<(Bound, bool)> {
        let ((outer, offset), other) = (*self.shifted.get(&a)?, self.invariant(b)?);
        let Base::Size(size) = other.base else { return None };
        let more = match kind {
            Compare::Lt | Compare::LtUnsigned => 0,
            Compare::Le | Compare::LeUnsigned => 1,
            _ => return None,
        };
        let is_signed = matches!(kind, Compare::Lt | Compare::Le);
        // Without sign, a sum below 0 would be above the size.
        if !is_signed && self.piece.min_index().checked_add(offset)? < 0 {
            return None;
        }
        let at = other.offset.checked_sub(offset)?.checked_add(more)?;
        (at.abs() <= MAX_OFFSET).then_some((Bound { base: Base::Remainder(size, outer), offset: at }, true))
    }

    /// A comparison with the index as `index < T`: `T`, and whether it holds below.
    fn threshold(&self, kind: Compare, a: Reg, b: Reg) -> Option<(Bound, bool)> {
        // Whether the operand on the left is the index, what is added to it, and the other operand.
        let (left, offset, other) = match (self.offsets.get(&a), self.offsets.get(&b)) {
            (Some(offset), None) => (true, *offset, self.invariant(b)?),
            (None, Some(offset)) => (false, *offset, self.invariant(a)?),
            _ => return None,
        };
        let (natural, other) = (self.ends.is_natural(other), self.ends.beside_size(other));
        let or_equal = match kind {
            Compare::Lt => false,
            Compare::Le => true,
            // Neither operand is negative, so the order is that of signed numbers.
            Compare::LtUnsigned | Compare::LeUnsigned
                if self.piece.min_index().checked_add(offset)? >= 0 && natural =>
            {
                kind == Compare::LeUnsigned
            }
            _ => return None,
        };
        // index + offset < other, or not: other <= index + offset.
        let at = other.offset.checked_sub(offset)?;
        let at = match (left, or_equal) {
            (true, false) | (false, true) => at,
            (true, true) | (false, false) => at.checked_add(1)?,
        };
        let near = !matches!(other.base, Base::Register(_)) || at.abs() <= MAX_OFFSET;
        near.then_some((Bound { base: other.base, offset: at }, left))
    }

    /// A register as an end, if it stays the same in the loop.
    fn invariant(&self, reg: Reg) -> Option<Bound> {
        let bound = self.ends.bound(reg);
        match bound.base {
            Base::Register(reg) if self.inside.contains(&reg) => None,
            _ => Some(bound),
        }
    }
}

/// A loop that may be cut.
struct Nest<'a> {
    ends: &'a Ends,
    /// Registers that are set in the loop.
    inside: HashSet<Reg>,
    index: Reg,
    body: &'a [Stmt],
    /// True if there are loops inside.
    is_outer: bool,
}

impl Nest<'_> {
    fn facts<'f>(&'f self, piece: &'f Piece) -> PieceFacts<'f> {
        let mut facts = PieceFacts {
            ends: self.ends,
            inside: &self.inside,
            piece,
            offsets: HashMap::from_iter([(self.index, 0)]),
            shifted: HashMap::default(),
            reflections: HashMap::default(),
            decided: HashMap::default(),
            undecided: HashMap::default(),
            cut: None,
            only_branches: self.is_outer,
        };
        facts.stmts(self.body);
        facts
    }

    /// The pieces of a range, in order. A cut decides its comparison in both pieces for good, so
    /// this ends.
    fn split_range(&self, piece: Piece, out: &mut Vec<Piece>) {
        let at = match self.facts(&piece).cut {
            Some(at) if !piece.is_too_short() && out.len() + 2 <= MAX_PIECES => at,
            _ => return out.push(piece),
        };
        let (below, others) = piece.split_at(at);
        self.split_range(below, out);
        self.split_range(others, out);
    }
}

/// Returns true if a loop around others may be cut: inner loops have branches that only compute,
/// and no round reads what it or another one writes, by this name or another one.
fn is_map_with_branches(kernel: &Kernel, body: &[Stmt]) -> bool {
    let (mut branches, mut read, mut written) = (false, HashSet::default(), HashSet::default());
    for_each_stmt(body, &mut |stmt| {
        let writes = stmt.written_arrays();
        match stmt {
            Stmt::For { body, .. } => branches |= body.iter().any(|stmt| matches!(stmt, Stmt::If(..))),
            Stmt::Let(..) => read.extend(stmt.arrays()),
            _ => {}
        }
        written.extend(writes);
    });
    branches
        && read.is_disjoint(&written)
        && !written.iter().any(|array| super::has_second_name(kernel, *array))
}

/// Returns true if one of these statements is a branch that has a loop inside.
fn has_branch_around_loop(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        let mut found = false;
        for_each_stmt(std::slice::from_ref(stmt), &mut |inner| found |= matches!(inner, Stmt::For { .. }));
        found && matches!(stmt, Stmt::If(..))
    })
}

/// The loops that take the place of a statement, if it is cut.
fn split_loop(kernel: &mut Kernel, stmt: &Stmt, ends: &Ends, position: Position) -> Option<Vec<Stmt>> {
    let (index, low, high, own, body) = match stmt {
        Stmt::For { label, index, low, high, body } => (*index, Some(*low), *high, Some(*label), body),
        Stmt::ParallelFor { index, count, body } if position != Position::Parallel => {
            (*index, None, *count, None, body)
        }
        _ => return None,
    };
    // Loops that nobody leaves.
    let (mut simple, mut is_outer, mut statements) = (true, false, 0);
    let mut inside = HashSet::from_iter([index]);
    for_each_stmt(body, &mut |stmt| {
        statements += 1;
        if let Stmt::Let(reg, _) = stmt {
            inside.insert(*reg);
        }
        is_outer |= matches!(stmt, Stmt::For { .. });
        if let Stmt::For { index, .. } = stmt {
            inside.insert(*index);
        }
        simple &= match stmt {
            Stmt::Break(label) | Stmt::Continue(label) => Some(*label) != own,
            Stmt::Loop(..) | Stmt::Reduce { .. } | Stmt::Gemm(_) | Stmt::Sort(_) | Stmt::Call(_) => false,
            _ => true,
        };
    });
    let start = low.map_or(Bound { base: Base::Nothing, offset: 0 }, |low| ends.bound(low));
    let end = ends.bound(high);
    let far = end.base == Base::Nothing && end.offset > 1 << 62;
    let may_cut =
        !is_outer || own.is_some() && has_branch_around_loop(body) || is_map_with_branches(kernel, body);
    if !simple || !ends.is_natural(start) || far || !may_cut {
        return None;
    }
    let nest = Nest { ends, inside, index, body, is_outer };
    let mut pieces = Vec::new();
    let whole = Piece { lows: vec![start], highs: vec![end] };
    nest.split_range(whole, &mut pieces);
    let single = pieces.len() == 1;
    if single && (is_outer || nest.facts(&pieces[0]).decided.is_empty())
        || !single && pieces.len() * statements > MAX_STATEMENTS
    {
        return None;
    }
    let mut build = Builder::new(kernel);
    let mut from = low.unwrap_or_else(|| build.int(0));
    for (number, piece) in pieces.iter().enumerate() {
        let mut to = high;
        for at in piece.highs.iter().filter(|at| **at != end) {
            let place = at.place(&mut build, ends);
            to = build.min(place, to);
        }
        if number + 1 < pieces.len() {
            to = build.max(from, to);
        }
        let decided = nest.facts(piece).decided;
        let each = own.is_none() && !piece.is_too_short();
        let mut copy = Cloner::new(build.kernel);
        copy.names.known_conditions = decided;
        let place = copy.fresh(index);
        let inside = copy.stmts(body);
        if inside.iter().all(|stmt| matches!(stmt, Stmt::Let(..))) {
            // Nothing is left to do.
        } else if each {
            // The rounds of a parallel loop count from 0.
            let count = build.binary(Binary::Sub, to, from);
            let round = build.reg(ScalarType::I64);
            let mut body = vec![Stmt::Let(place, Op::Binary(Binary::Add, round, from))];
            body.extend(inside);
            build.stmts.push(Stmt::ParallelFor { index: round, count, body });
        } else {
            let label = build.label();
            build.stmts.push(Stmt::For { label, index: place, low: from, high: to, body: inside });
        }
        from = to;
    }
    Some(build.stmts)
}
