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
//! The sums of [`ROWS`] rows are contracted into working memory; then the loops run with `t` read from there. At the top those
//! pieces run at the same time; inside a parallel loop each of its pieces has memory of its own. Sums
//! keep their lanes, so nothing changes in any bit. Strides are numbers that stay the same throughout; sizes that are
//! constants (small ones) are left alone: there plain loops are as good.

use super::super::{
    Array, Binary, Contraction, Item, Joining, Nest, Op, Origin, Reg, Stmt, Ty, for_each_stmt,
};
use super::Build;
use super::copy::Copy;
use std::collections::{HashMap, HashSet};

/// Rows that are contracted at a time, by one thread.
const ROWS: i64 = 256;

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
                let mut scale = |a: Option<Reg>| a.map(|a| self.build.binary(Binary::Mul, a, by));
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
    let (column, columns, total) = outer.iter().find_map(|stmt| match stmt {
        Stmt::For { index, low, high, body, .. } if zero(nest, low) => {
            let total = body.iter().find(|stmt| matches!(stmt, Stmt::Total { .. }))?;
            Some((*index, *high, total))
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
    let mut stored = HashSet::new();
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
    let mut find = Finder { build, ops, before, same: HashMap::new(), row, column, step: *step };
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
    let mut build = find.build;
    let none = build.int(0);
    let (left_start, right_at) = (x.rest.unwrap_or(none), y.rest.unwrap_or(none));
    // Everything is known: pieces of rows, contracted and then walked.
    let origin = if stands == Stands::Parallel { Origin::Own } else { Origin::Scratch };
    let into = build.nest.array(origin, 8, slots);
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
    let skipped = build.binary(Binary::Mul, first, left_row);
    let left_at = build.binary(Binary::Add, left_start, skipped);
    build.stmts.push(Stmt::Contract(Contraction {
        fused,
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
    }));
    let mut copy = Copy::new(build.nest);
    let index = copy.fresh(row);
    let mut rounds = copy.stmts(outer);
    let (column, result) = (copy.reg(column), copy.reg(result));
    read_sum(build.nest, &mut rounds, result, (into, index, columns, column));
    let label = build.label();
    build.stmts.push(Stmt::For { label, index, low: first, high: end, body: rounds });
    let body = std::mem::replace(&mut build.stmts, front);
    let label = build.label();
    build.stmts.push(match stands {
        Stands::AtTheTop => Stmt::Each { index: piece, count: pieces, body },
        _ => Stmt::For { label, index: piece, low: none, high: pieces, body },
    });
    Some(build.stmts)
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
