//! Contractions: two loops around a sum of products become one statement, which a kernel of its own does.
//!
//! What is looked for, wherever it comes from (a matrix product of any index shapes, a tensor contracted over
//! indices that lie together):
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
//! The sums of [`ROWS`] rows are contracted into working memory; then the loops run with `t` read from there. Loops that only
//! store it, or it and a number that stays the same, row by row, are not needed: it is contracted to where it belongs. At the top those
//! pieces run at the same time; inside a parallel loop each of its pieces has memory of its own. Sums
//! keep their lanes, so nothing changes in any bit. Strides are numbers that stay the same throughout; sizes that are
//! constants (small ones) are left alone: there plain loops are as good.

use super::super::{
    Array, Binary, Contraction, Item, Joining, Nest, Op, Origin, Reg, Stmt, Ty, for_each_stmt,
};
use super::Build;
use super::copy::Copy;
use crate::hash::{HashMap, HashSet};

/// Rows that are contracted at a time, by one thread.
const ROWS: i64 = 66;

/// Runs the pass.
pub(super) fn run(nest: &mut Nest) {
    let body = std::mem::take(&mut nest.body);
    nest.body = list(nest, body, &mut Scope::default(), Stands::AtTheTop);
}

/// Where statements stand.
#[derive(Clone, Copy, PartialEq)]
enum Stands {
    AtTheTop,
    /// In loops that run in order.
    InOrder,
    /// In a parallel loop.
    Parallel,
}

/// Registers that are set where statements stand, and how.
#[derive(Clone, Default)]
struct Scope {
    before: HashSet<Reg>,
    ops: HashMap<Reg, Op>,
}

fn list(nest: &mut Nest, stmts: Vec<Stmt>, scope: &mut Scope, stands: Stands) -> Vec<Stmt> {
    let mut out = Vec::new();
    for mut stmt in stmts {
        match &stmt {
            Stmt::Let(reg, op) => {
                scope.before.insert(*reg);
                scope.ops.insert(*reg, op.clone());
            }
            Stmt::Total { result, .. } => drop(scope.before.insert(*result)),
            _ if sums_inside(&stmt, 2) => {
                if let Some(stmts) = contracted(nest, &stmt, scope, stands) {
                    out.extend(stmts);
                    continue;
                }
                let mut inner = scope.clone();
                if let Stmt::Each { index, .. } | Stmt::For { index, .. } = &stmt {
                    inner.before.insert(*index);
                }
                let inside = match &stmt {
                    Stmt::Each { .. } => Stands::Parallel,
                    _ if stands == Stands::AtTheTop => Stands::InOrder,
                    _ => stands,
                };
                for body in stmt.bodies_mut() {
                    *body = list(nest, std::mem::take(body), &mut inner.clone(), inside);
                }
            }
            _ => {}
        }
        out.push(stmt);
    }
    out
}

/// Whether a statement has a sum inside so many loops.
fn sums_inside(stmt: &Stmt, loops: usize) -> bool {
    let left = match stmt {
        Stmt::Total { .. } => return loops == 0,
        Stmt::For { .. } | Stmt::Each { .. } => loops.saturating_sub(1),
        _ => loops,
    };
    stmt.bodies().into_iter().flatten().any(|inner| sums_inside(inner, left))
}

/// A number that is linear in the indices: what each is multiplied by, and the rest. `None` for 0.
#[derive(Clone, Copy, Default)]
struct Linear {
    row: Option<Reg>,
    column: Option<Reg>,
    step: Option<Reg>,
    rest: Option<Reg>,
}

/// Finds the parts of a contraction; what stays the same throughout is computed in front of it.
struct Finder<'n, 's> {
    build: Build<'n>,
    /// How registers of the loops are set.
    ops: HashMap<Reg, &'s Op>,
    /// Registers set before the loops.
    before: HashSet<Reg>,
    /// Those of the loops that stay the same, in front.
    same: HashMap<Reg, Reg>,
    row: Reg,
    column: Reg,
    step: Reg,
}

impl Finder<'_, '_> {
    /// A register in front of the loops that is always equal to this one.
    fn same(&mut self, reg: Reg) -> Option<Reg> {
        if self.before.contains(&reg) {
            return Some(reg);
        }
        if let Some(known) = self.same.get(&reg) {
            return Some(*known);
        }
        let mut op = (*self.ops.get(&reg)?).clone();
        match op {
            Op::Const(..) | Op::Size(_) | Op::Scalar(_) => {}
            Op::Binary(Binary::Add | Binary::Sub | Binary::Mul, ..) => {}
            _ => return None,
        }
        let mut all = true;
        op.for_each_reg_mut(&mut |reg| match self.same(*reg) {
            Some(same) => *reg = same,
            None => all = false,
        });
        if !all {
            return None;
        }
        let same = self.build.set(self.build.nest.regs[reg as usize], op);
        self.same.insert(reg, same);
        Some(same)
    }

    fn linear(&mut self, reg: Reg) -> Option<Linear> {
        if [self.row, self.column, self.step].contains(&reg) {
            let one = self.build.int(1);
            let if_index = |index: Reg| (index == reg).then_some(one);
            let (row, column, step) = (if_index(self.row), if_index(self.column), if_index(self.step));
            return Some(Linear { row, column, step, rest: None });
        }
        if let Some(same) = self.same(reg) {
            return Some(Linear { rest: Some(same), ..Linear::default() });
        }
        match *self.ops.get(&reg)? {
            Op::Binary(Binary::Add, a, b) => {
                let (x, y) = (self.linear(*a)?, self.linear(*b)?);
                let mut add = |a: Option<Reg>, b: Option<Reg>| match (a, b) {
                    (Some(a), Some(b)) => Some(self.build.binary(Binary::Add, a, b)),
                    (a, b) => a.or(b),
                };
                Some(Linear {
                    row: add(x.row, y.row),
                    column: add(x.column, y.column),
                    step: add(x.step, y.step),
                    rest: add(x.rest, y.rest),
                })
            }
            Op::Binary(Binary::Mul, a, b) => {
                let (a, b) = (*a, *b);
                let (x, by) = match self.same(b) {
                    Some(by) => (self.linear(a)?, by),
                    None => (self.linear(b)?, self.same(a)?),
                };
                let mut scale = |a: Option<Reg>| match self.build.nest.constants.get(&a?) {
                    Some(1) => Some(by),
                    _ => Some(self.build.binary(Binary::Mul, a?, by)),
                };
                Some(Linear {
                    row: scale(x.row),
                    column: scale(x.column),
                    step: scale(x.step),
                    rest: scale(x.rest),
                })
            }
            _ => None,
        }
    }

    /// Whether two registers in front of the loops hold the same, as far as can be seen.
    fn alike(&self, a: Reg, b: Reg) -> bool {
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
    fn size(&self, reg: Reg) -> Option<u64> {
        let size = |op: &Op| match op {
            Op::Size(n) => Some(self.build.nest.sizes[*n as usize]),
            _ => None,
        };
        size(self.ops.get(&reg)?)
    }
}

/// The statements that take the place of one, if it is a contraction.
fn contracted(nest: &mut Nest, stmt: &Stmt, scope: &Scope, stands: Stands) -> Option<Vec<Stmt>> {
    let (row, rows, low, outer) = match stmt {
        Stmt::Each { index, count, body } => (*index, *count, None, body),
        Stmt::For { index, low, high, body, .. } => (*index, *high, Some(*low), body),
        _ => return None,
    };
    let zero = |nest: &Nest, reg: &Reg| nest.constants.get(reg) == Some(&0);
    if low.is_some_and(|low| !zero(nest, &low)) {
        return None;
    }
    // The loop over columns, with its sum.
    let (column, columns, inner, total) = outer.iter().find_map(|stmt| match stmt {
        Stmt::For { index, low, high, body, .. } if zero(nest, low) => {
            let total = body.iter().find(|stmt| matches!(stmt, Stmt::Total { .. }))?;
            Some((*index, *high, body, total))
        }
        _ => None,
    })?;
    let Stmt::Total { index: step, low, high: depth, body, item, result } = total else { return None };
    let (low, depth, result) = (*low, *depth, *result);
    if !zero(nest, &low) || item.ty(nest) != Ty::F64 {
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
        Stmt::Store(array, ..) => {
            stored.insert(*array);
        }
        // A sum that is not reached in each round.
        Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail | Stmt::Contract(_) => plain = false,
        _ => {}
    });
    let load = |reg: &Reg| match ops.get(reg) {
        Some(Op::Load(array, at, Ty::F64)) => {
            let whole = nest.arrays[*array as usize].width == 8 && !stored.contains(array);
            whole.then_some((*array, *at))
        }
        _ => None,
    };
    let only_lets = body.iter().all(|stmt| matches!(stmt, Stmt::Let(..)));
    let (a, b, fused) = match item {
        Item::Product(a, b) => (a, b, true),
        Item::One(Joining::Add, value) => match ops.get(value)? {
            Op::Binary(Binary::Mul, a, b) => (a, b, false),
            _ => return None,
        },
        Item::One(..) => return None,
    };
    let ((left, left_at), (right, right_at)) = (load(a)?, load(b)?);
    if !plain || !only_lets {
        return None;
    }
    let build = Build::new(nest);
    let mut find = Finder { build, ops, before, same: HashMap::default(), row, column, step: *step };
    let (count, width, long) = (find.size(rows)?, find.size(columns)?, find.size(depth)?);
    let slots = count.checked_mul(width)?;
    if long > crate::core::reduction::CHUNK as u64 {
        return None;
    }
    let (mut a, mut b) = ((left, find.linear(left_at)?), (right, find.linear(right_at)?));
    if a.1.row.is_none() {
        std::mem::swap(&mut a, &mut b);
    }
    let ((left, x), (right, y)) = (a, b);
    let (None, None) = (x.column, y.row) else { return None };
    let (left_row, left_step) = (x.row?, x.step?);
    let (right_step, right_column) = (y.step?, y.column?);
    let (rows, columns, depth) = (find.same(rows)?, find.same(columns)?, find.same(depth)?);
    let direct = direct(&mut find, (outer, inner), columns, result);
    let mut build = find.build;
    let none = build.int(0);
    let (left_start, right_at) = (x.rest.unwrap_or(none), y.rest.unwrap_or(none));
    // Everything is known: pieces of rows, contracted and then walked, or contracted to where they are stored.
    let (into, start, base) = match &direct {
        Some(to) => (to.into, to.start, to.at),
        None => {
            let origin = if stands == Stands::Parallel { Origin::Own } else { Origin::Scratch };
            (build.nest.array(origin, 8, slots), None, None)
        }
    };
    let neutral = Op::Const(Ty::F64, Ty::F64.bits_of(Joining::Add.neutral()));
    let start = start.unwrap_or_else(|| build.set(Ty::F64, neutral));
    let height = build.int(ROWS);
    let more = build.int(ROWS - 1);
    let padded = build.binary(Binary::Add, rows, more);
    let pieces = build.binary(Binary::DivUnsigned, padded, height);
    let piece = build.reg(Ty::I64);
    let front = std::mem::take(&mut build.stmts);
    let first = build.binary(Binary::Mul, piece, height);
    let end = build.binary(Binary::Add, first, height);
    let end = build.least(end, rows);
    let here = build.binary(Binary::Sub, end, first);
    let at = build.binary(Binary::Mul, first, columns);
    let at = base.map_or(at, |base| build.binary(Binary::Add, base, at));
    let skipped = build.binary(Binary::Mul, first, left_row);
    let left_at = build.binary(Binary::Add, left_start, skipped);
    build.stmts.push(Stmt::Contract(Contraction {
        fused,
        shared: stands == Stands::AtTheTop,
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
    if direct.is_none() {
        let rounds = walked(&mut build, outer, (row, column, result), (into, columns));
        let label = build.label();
        build.stmts.push(Stmt::For { label, index: rounds.0, low: first, high: end, body: rounds.1 });
    }
    let body = std::mem::replace(&mut build.stmts, front);
    let label = build.label();
    build.stmts.push(match stands {
        Stands::AtTheTop => Stmt::Each { index: piece, count: pieces, body },
        _ => Stmt::For { label, index: piece, low: none, high: pieces, body },
    });
    Some(build.stmts)
}

/// The rounds over rows, with the sum read from where it was contracted to; and their index.
fn walked(
    build: &mut Build<'_>,
    outer: &[Stmt],
    (row, column, result): (Reg, Reg, Reg),
    (into, columns): (Array, Reg),
) -> (Reg, Vec<Stmt>) {
    let mut copy = Copy::new(build.nest);
    let index = copy.fresh(row);
    let mut rounds = copy.stmts(outer);
    let (column, result) = (copy.reg(column), copy.reg(result));
    read_sum(build.nest, &mut rounds, result, (into, index, columns, column));
    (index, rounds)
}

/// Where sums are stored side by side.
struct Direct {
    into: Array,
    /// The slot of the first, but for what is 0.
    at: Option<Reg>,
    /// What they are added to, if to anything.
    start: Option<Reg>,
}

/// Where the sums go, if the loops do nothing but store each, rows of so many `columns` one after the other: `outer` is the body
/// over rows, `inner` that over columns.
fn direct(
    find: &mut Finder<'_, '_>,
    (outer, inner): (&[Stmt], &[Stmt]),
    columns: Reg,
    result: Reg,
) -> Option<Direct> {
    let works = |stmt: &&Stmt| !matches!(stmt, Stmt::Let(..));
    let (mut others, mut of_columns) = (outer.iter().filter(works), inner.iter().filter(works));
    let (Some(Stmt::For { .. }), None) = (others.next(), others.next()) else { return None };
    let (Some(Stmt::Total { .. }), Some(Stmt::Store(into, at, value)), None) =
        (of_columns.next(), of_columns.next(), of_columns.next())
    else {
        return None;
    };
    let start = match find.ops.get(value) {
        _ if *value == result => None,
        Some(Op::Binary(Binary::Add, start, sum)) if *sum == result => Some(find.same(*start)?),
        _ => return None,
    };
    let place = find.linear(*at)?;
    let beside = find.build.nest.constants.get(&place.column?) == Some(&1);
    let whole = find.alike(place.row?, columns) && find.build.nest.arrays[*into as usize].width == 8;
    if !beside || place.step.is_some() || !whole {
        return None;
    }
    Some(Direct { into: *into, at: place.rest, start })
}

/// Puts what was contracted in the place of a sum.
fn read_sum(nest: &mut Nest, stmts: &mut Vec<Stmt>, sum: Reg, place: (Array, Reg, Reg, Reg)) {
    for i in 0..stmts.len() {
        if matches!(stmts[i], Stmt::Total { result, .. } if result == sum) {
            let (into, row, columns, column) = place;
            let mut build = Build::new(nest);
            let start = build.binary(Binary::Mul, row, columns);
            let at = build.binary(Binary::Add, start, column);
            build.stmts.push(Stmt::Let(sum, Op::Load(into, at, Ty::F64)));
            let read = build.stmts;
            stmts.splice(i..=i, read);
            return;
        }
        for body in stmts[i].bodies_mut() {
            read_sum(nest, body, sum, place);
        }
    }
}
