//! Recognition of contractions: two loops around a sum of products become one [`Stmt::Gemm`].
//!
//! The pattern, wherever it comes from (a matrix product of any index shapes, a tensor contracted
//! over indices that lie together):
//!
//! ```text
//! each r < rows                          (or a loop in order, wherever it stands)
//!   …
//!   for c in 0..<columns
//!     …
//!     t = sum of a * b, k in 0..<depth
//!       a = left[linear in r and k]
//!       b = right[linear in k and c]
//!     …
//! ```
//!
//! The sums of [`ROWS_PER_PIECE`] rows are contracted into working memory; then the loops run with
//! `t` read from there. Loops that only store it, or it and a number that stays the same, row by
//! row, are not needed: it is contracted to where it belongs. At the top those pieces run at the
//! same time; inside a parallel loop each of its pieces has memory of its own. Sums keep their
//! lanes, so nothing changes in any bit. Strides are numbers that stay the same throughout; sizes
//! that are constants (small ones) are left alone: there plain loops are as good.

use super::super::{
    Array, Binary, Gemm, Kernel, Op, Origin, ReductionOp, Reg, ScalarType, Stmt, Summand, cost::gemm_cost,
    for_each_stmt, identity_bits,
};
use super::clone_stmts::Cloner;
use super::parallel_level::MIN_PARALLEL_NS;
use super::{Builder, Position, hoisted};
use crate::hash::{HashMap, HashSet};

/// Rows that are contracted at a time, by one thread.
const ROWS_PER_PIECE: i64 = 66;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let body = std::mem::take(&mut kernel.body);
    kernel.body = rewrite_list(kernel, body, &mut Definitions::default(), Position::TopLevel);
}

/// Registers that are set where statements stand, and how.
#[derive(Clone, Default)]
struct Definitions {
    before: HashSet<Reg>,
    ops: HashMap<Reg, Op>,
}

fn rewrite_list(
    kernel: &mut Kernel,
    stmts: Vec<Stmt>,
    scope: &mut Definitions,
    position: Position,
) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        match &stmt {
            Stmt::Let(reg, op) => {
                scope.before.insert(*reg);
                scope.ops.insert(*reg, op.clone());
            }
            Stmt::Reduce { result, .. } => drop(scope.before.insert(*result)),
            _ if has_reduce_under_loops(&stmt, 2) => {
                if let Some(stmts) = match_gemm(kernel, &stmt, scope, position) {
                    out.extend(stmts);
                    continue;
                }
                let mut inner = scope.clone();
                if let Stmt::ParallelFor { index, .. } | Stmt::For { index, .. } = &stmt {
                    inner.before.insert(*index);
                }
                let inside = position.inside(&stmt);
                for body in stmt.bodies_mut() {
                    *body = rewrite_list(kernel, std::mem::take(body), &mut inner.clone(), inside);
                }
            }
            _ => {}
        }
        out.push(stmt);
    }
    out
}

/// Returns true if a statement has a sum inside so many loops.
fn has_reduce_under_loops(stmt: &Stmt, loops: usize) -> bool {
    let left = match stmt {
        Stmt::Reduce { .. } => return loops == 0,
        Stmt::For { .. } | Stmt::ParallelFor { .. } => loops.saturating_sub(1),
        _ => loops,
    };
    stmt.bodies().into_iter().flatten().any(|inner| has_reduce_under_loops(inner, left))
}

/// A number that is linear in the indices: what each is multiplied by, and the rest. `None` for 0.
#[derive(Clone, Copy, Default)]
struct Affine {
    row: Option<Reg>,
    column: Option<Reg>,
    step: Option<Reg>,
    rest: Option<Reg>,
}

/// Finds the parts of a gemm; what stays the same throughout is computed in front of it.
struct Matcher<'n, 's> {
    build: Builder<'n>,
    /// The operations that set registers of the loops.
    ops: HashMap<Reg, &'s Op>,
    /// Registers set before the loops.
    before: HashSet<Reg>,
    /// Loop-invariant registers, with their copies in front of the loops.
    invariants: HashMap<Reg, Reg>,
    row: Reg,
    column: Reg,
    step: Reg,
}

impl Matcher<'_, '_> {
    /// A register in front of the loops that is always equal to this one.
    fn invariant(&mut self, reg: Reg) -> Option<Reg> {
        let Matcher { build, ops, before, invariants, .. } = self;
        hoisted(build, ops, &|reg| before.contains(&reg), invariants, reg)
    }

    fn affine(&mut self, reg: Reg) -> Option<Affine> {
        if [self.row, self.column, self.step].contains(&reg) {
            let one = self.build.int(1);
            let if_index = |index: Reg| (index == reg).then_some(one);
            let (row, column, step) = (if_index(self.row), if_index(self.column), if_index(self.step));
            return Some(Affine { row, column, step, rest: None });
        }
        if let Some(same) = self.invariant(reg) {
            return Some(Affine { rest: Some(same), ..Affine::default() });
        }
        match *self.ops.get(&reg)? {
            Op::Binary(Binary::Add, a, b) => {
                let (x, y) = (self.affine(*a)?, self.affine(*b)?);
                let mut add = |a: Option<Reg>, b: Option<Reg>| match (a, b) {
                    (Some(a), Some(b)) => Some(self.build.binary(Binary::Add, a, b)),
                    (a, b) => a.or(b),
                };
                Some(Affine {
                    row: add(x.row, y.row),
                    column: add(x.column, y.column),
                    step: add(x.step, y.step),
                    rest: add(x.rest, y.rest),
                })
            }
            Op::Binary(Binary::Mul, a, b) => {
                let (a, b) = (*a, *b);
                let (x, by) = match self.invariant(b) {
                    Some(by) => (self.affine(a)?, by),
                    None => (self.affine(b)?, self.invariant(a)?),
                };
                let mut scale = |a: Option<Reg>| match self.build.kernel.constants.get(&a?) {
                    Some(1) => Some(by),
                    _ => Some(self.build.binary(Binary::Mul, a?, by)),
                };
                Some(Affine {
                    row: scale(x.row),
                    column: scale(x.column),
                    step: scale(x.step),
                    rest: scale(x.rest),
                })
            }
            _ => None,
        }
    }

    /// Returns true if two registers in front of the loops are provably equal.
    fn is_provably_equal(&self, a: Reg, b: Reg) -> bool {
        let op = |reg: Reg| {
            let here = self.build.stmts.iter().find_map(|stmt| match stmt {
                Stmt::Let(set, op) if *set == reg => Some(op),
                _ => None,
            });
            here.or_else(|| self.ops.get(&reg).copied())
        };
        a == b || matches!((op(a), op(b)), (Some(Op::Size(m)), Some(Op::Size(n))) if m == n)
    }

    /// The number of a size that is no constant.
    fn size_value(&self, reg: Reg) -> Option<u64> {
        let size = |op: &Op| match op {
            Op::Size(n) => Some(self.build.kernel.sizes[*n as usize]),
            _ => None,
        };
        size(self.ops.get(&reg)?)
    }
}

/// The statements that take the place of one, if it is a gemm.
fn match_gemm(
    kernel: &mut Kernel,
    stmt: &Stmt,
    scope: &Definitions,
    position: Position,
) -> Option<Vec<Stmt>> {
    let (row, rows, low_row, outer) = match stmt {
        Stmt::ParallelFor { index, count, body } => (*index, *count, None, body),
        Stmt::For { index, low, high, body, .. } => (*index, *high, Some(*low), body),
        _ => return None,
    };
    let zero = |kernel: &Kernel, reg: &Reg| kernel.constants.get(reg) == Some(&0);
    if low_row.is_some_and(|low| !zero(kernel, &low)) {
        return None;
    }
    // The loop over columns, with its sum.
    let (column, columns, inner, total) = outer.iter().find_map(|stmt| match stmt {
        Stmt::For { index, low, high, body, .. } if zero(kernel, low) => {
            let total = body.iter().find(|stmt| matches!(stmt, Stmt::Reduce { .. }))?;
            Some((*index, *high, body, total))
        }
        _ => None,
    })?;
    let Stmt::Reduce { index: step, low, high: depth, body, item, result } = total else { return None };
    let (low, depth, result) = (*low, *depth, *result);
    let ty = item.ty(kernel);
    if !zero(kernel, &low) {
        return None;
    }
    let mut ops: HashMap<Reg, &Op> = scope.ops.iter().map(|(reg, op)| (*reg, op)).collect();
    let before = scope.before.clone();
    let mut stored = HashSet::default();
    let mut plain = true;
    for_each_stmt(std::slice::from_ref(stmt), &mut |stmt| match stmt {
        Stmt::Let(reg, op) => {
            ops.insert(*reg, op);
        }
        Stmt::Store(..) | Stmt::Swap(..) | Stmt::Grow(..) => stored.extend(stmt.written_arrays()),
        // A sum that is not reached in each round.
        Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail | Stmt::Gemm(_) | Stmt::Sort(_) | Stmt::Call(_) => {
            plain = false;
        }
        _ => {}
    });
    let load = |reg: &Reg| match ops.get(reg) {
        Some(Op::Load(array, at, _)) => {
            let whole = usize::from(kernel.arrays[*array].width) == ty.bytes() && !stored.contains(array);
            whole.then_some((*array, *at))
        }
        _ => None,
    };
    let only_lets = body.iter().all(|stmt| matches!(stmt, Stmt::Let(..)));
    let (a, b, fused) = match item {
        Summand::Product(a, b) => (a, b, true),
        Summand::Value(ReductionOp::Add, value) => match ops.get(value)? {
            Op::Binary(Binary::Mul, a, b) => (a, b, false),
            _ => return None,
        },
        Summand::Value(..) => return None,
    };
    let ((left, left_at), (right, right_at)) = (load(a)?, load(b)?);
    if !plain || !only_lets {
        return None;
    }
    let build = Builder::new(kernel);
    let mut find = Matcher { build, ops, before, invariants: HashMap::default(), row, column, step: *step };
    let (count, width, long) = (find.size_value(rows)?, find.size_value(columns)?, find.size_value(depth)?);
    let slots = count.checked_mul(width)?;
    let is_parallel = match position {
        Position::TopLevel => true,
        Position::Sequential => gemm_cost(slots as f64, long as f64) >= MIN_PARALLEL_NS,
        Position::Parallel => false,
    };
    if long > crate::core::reduction::CHUNK as u64 {
        return None;
    }
    let (mut a, mut b) = ((left, find.affine(left_at)?), (right, find.affine(right_at)?));
    if a.1.row.is_none() {
        std::mem::swap(&mut a, &mut b);
    }
    let ((left, x), (right, y)) = (a, b);
    let (None, None) = (x.column, y.row) else { return None };
    let (left_row, left_step) = (x.row?, x.step?);
    let (right_step, right_column) = (y.step?, y.column?);
    let (rows, columns, depth) = (find.invariant(rows)?, find.invariant(columns)?, find.invariant(depth)?);
    let direct_output = direct_output(&mut find, (outer, inner), columns, result);
    let mut build = find.build;
    let none = build.int(0);
    let (left_start, right_at) = (x.rest.unwrap_or(none), y.rest.unwrap_or(none));
    // Everything is known: pieces of rows, contracted and then walked, or contracted to where they
    // are stored.
    let (into, start, base) = match &direct_output {
        Some(to) => (to.into, to.start, to.at),
        None => {
            let origin = if position == Position::Parallel { Origin::ThreadLocal } else { Origin::Scratch };
            (build.kernel.add_array(origin, ty.bytes() as u8, slots), None, None)
        }
    };
    let neutral = Op::Const(ty, identity_bits(ReductionOp::Add, ty));
    let start = start.unwrap_or_else(|| build.define(ty, neutral));
    let height = build.int(ROWS_PER_PIECE);
    let more = build.int(ROWS_PER_PIECE - 1);
    let padded = build.binary(Binary::Add, rows, more);
    let pieces = build.binary(Binary::DivUnsigned, padded, height);
    let piece = build.reg(ScalarType::I64);
    let front = std::mem::take(&mut build.stmts);
    let first = build.binary(Binary::Mul, piece, height);
    let end = build.binary(Binary::Add, first, height);
    let end = build.min(end, rows);
    let here = build.binary(Binary::Sub, end, first);
    let at = build.binary(Binary::Mul, first, columns);
    let at = base.map_or(at, |base| build.binary(Binary::Add, base, at));
    let skipped = build.binary(Binary::Mul, first, left_row);
    let left_at = build.binary(Binary::Add, left_start, skipped);
    build.stmts.push(Stmt::Gemm(Gemm {
        fused,
        shared: is_parallel,
        into,
        at,
        rows: here,
        columns,
        depth,
        left,
        left_at,
        left_row,
        left_step,
        right,
        right_at,
        right_step,
        right_column,
        start,
    }));
    let walk = |build: &mut Builder<'_>, low, high| {
        let (index, body) = loops_over_results(build, outer, (row, column, result), (into, columns));
        let label = build.label();
        build.stmts.push(Stmt::For { label, index, low, high, body });
    };
    let is_in_order = low_row.is_some();
    if direct_output.is_none() && !is_in_order {
        walk(&mut build, first, end);
    }
    let body = std::mem::replace(&mut build.stmts, front);
    let label = build.label();
    build.stmts.push(match is_parallel {
        true => Stmt::ParallelFor { index: piece, count: pieces, body },
        false => Stmt::For { label, index: piece, low: none, high: pieces, body },
    });
    // A round may need what the one before has left, also that of another piece.
    if direct_output.is_none() && is_in_order {
        walk(&mut build, none, rows);
    }
    Some(build.stmts)
}

/// The rounds over rows, with the sum read from where it was contracted to; and their index.
fn loops_over_results(
    build: &mut Builder<'_>,
    outer: &[Stmt],
    (row, column, result): (Reg, Reg, Reg),
    (into, columns): (Array, Reg),
) -> (Reg, Vec<Stmt>) {
    let mut copy = Cloner::new(build.kernel);
    let index = copy.fresh(row);
    let mut rounds = copy.stmts(outer);
    let (column, result) = (copy.reg(column), copy.reg(result));
    replace_reduce_by_load(build.kernel, &mut rounds, result, (into, index, columns, column));
    (index, rounds)
}

/// A contiguous destination of the sums.
struct DirectOutput {
    into: Array,
    /// The slot of the first, but for what is 0.
    at: Option<Reg>,
    /// The number to which they are added, if any.
    start: Option<Reg>,
}

/// The destination of the sums, if the loops only store each: rows of so many `columns` one after
/// the other: `outer` is the body over rows, `inner` that over columns.
fn direct_output(
    find: &mut Matcher<'_, '_>,
    (outer, inner): (&[Stmt], &[Stmt]),
    columns: Reg,
    result: Reg,
) -> Option<DirectOutput> {
    let works = |stmt: &&Stmt| !matches!(stmt, Stmt::Let(..));
    let (mut others, mut of_columns) = (outer.iter().filter(works), inner.iter().filter(works));
    let (Some(Stmt::For { .. }), None) = (others.next(), others.next()) else { return None };
    let (Some(Stmt::Reduce { .. }), Some(Stmt::Store(into, at, value)), None) =
        (of_columns.next(), of_columns.next(), of_columns.next())
    else {
        return None;
    };
    let start = match find.ops.get(value) {
        _ if *value == result => None,
        Some(Op::Binary(Binary::Add, start, sum)) if *sum == result => Some(find.invariant(*start)?),
        _ => return None,
    };
    let place = find.affine(*at)?;
    let beside = find.build.kernel.constants.get(&place.column?) == Some(&1);
    let bytes = find.build.kernel.regs[result].bytes();
    let is_whole = usize::from(find.build.kernel.arrays[*into].width) == bytes;
    let whole = find.is_provably_equal(place.row?, columns) && is_whole;
    if !beside || place.step.is_some() || !whole {
        return None;
    }
    Some(DirectOutput { into: *into, at: place.rest, start })
}

/// Puts what was contracted in the place of a sum.
fn replace_reduce_by_load(
    kernel: &mut Kernel,
    stmts: &mut Vec<Stmt>,
    sum: Reg,
    place: (Array, Reg, Reg, Reg),
) {
    for i in 0..stmts.len() {
        if matches!(stmts[i], Stmt::Reduce { result, .. } if result == sum) {
            let (into, row, columns, column) = place;
            let mut build = Builder::new(kernel);
            let start = build.binary(Binary::Mul, row, columns);
            let at = build.binary(Binary::Add, start, column);
            let ty = build.kernel.regs[sum];
            build.stmts.push(Stmt::Let(sum, Op::Load(into, at, ty)));
            let read = build.stmts;
            stmts.splice(i..=i, read);
            return;
        }
        for body in stmts[i].bodies_mut() {
            replace_reduce_by_load(kernel, body, sum, place);
        }
    }
}
