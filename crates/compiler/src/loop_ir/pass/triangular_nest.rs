//! Loops over the places of a triangle become a loop over its rows around one over columns.
//!
//! Place `c` of a triangle is in row `r = (√(8c + 1) ± 1) / 2`. The first place of that row is
//! `r (r ∓ 1) / 2`. A loop over `c` that computes row and column takes a root and divisions for
//! each place, and what it reads by the column has no stride:
//!
//! ```text
//! for c in low..high               for r in row(low)..=row(high - 1)
//!   r = row(c)                =>     for k in the part of row r in low..high
//!   k = c - r (r - 1) / 2              c = r (r - 1) / 2 + k
//!   S                                  S
//! ```
//!
//! **Method.** The row is recognized by its formula, for indices below 2^49, where the root is
//! exact (`build/triangle.rs` of the array IR says why), and so are the column and the remainders
//! of both by the number of rows, which the end of the range must fit: rows and columns are less. The places come
//! in the order in which they came. A parallel loop is cut into pieces of [`PIECE`] places, each of
//! which is such a nest; a reduction keeps its lanes, in memory, and place `low + i` joins lane
//! `i % 8` as before.
//!
//! Costs two copies of the row's formula for each loop.

use super::super::{
    Binary, Cast, Compare, Kernel, Op, Origin, Reg, ScalarType, Stmt, Summand, Unary, identity_bits,
};
use super::clone_stmts::Cloner;
use super::{Builder, Position, rewrite};
use crate::core::reduction::{LANES, combine_lanes};
use crate::hash::HashMap;

/// Places of a piece of a parallel loop.
const PIECE: i64 = 1 << 13;
/// Places of the largest triangle whose rows have exact roots.
const MAX_PLACES: u64 = 1 << 49;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut roots = false;
    super::super::for_each_stmt(&kernel.body, &mut |stmt| {
        roots |= matches!(stmt, Stmt::Let(_, Op::Unary(Unary::Sqrt, _)));
    });
    if !roots {
        return;
    }
    let mut sizes: HashMap<Reg, u64> = HashMap::default();
    let mut ends: HashMap<Reg, Op> = HashMap::default();
    super::super::for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(reg, op) = stmt {
            match op {
                Op::Size(n) => drop(sizes.insert(*reg, kernel.sizes[*n as usize])),
                Op::Const(ScalarType::I64, bits) => drop(sizes.insert(*reg, *bits)),
                _ => {}
            }
            ends.insert(*reg, op.clone());
        }
    });
    rewrite(kernel, &mut |kernel, stmts, position| {
        let mut out = Vec::new();
        for stmt in stmts {
            match Triangle::of(&stmt, &sizes, &ends) {
                Some(triangle) => out.extend(triangle.nest(kernel, &stmt, position)),
                None => out.push(stmt),
            }
        }
        out
    });
}

/// A loop over places of a triangle.
struct Triangle {
    /// The number that is added to the root: 1 of a triangle without its diagonal, -1 of one with
    /// it. The product of the row and the row less this number is twice the row's first place.
    sign: i64,
    /// Registers that hold the row.
    rows: Vec<Reg>,
    /// Registers that hold the column.
    columns: Vec<Reg>,
}

impl Triangle {
    fn of(stmt: &Stmt, sizes: &HashMap<Reg, u64>, ends: &HashMap<Reg, Op>) -> Option<Triangle> {
        let (index, high, body) = match stmt {
            Stmt::For { index, high, body, .. } | Stmt::Reduce { index, high, body, .. } => {
                (*index, *high, body)
            }
            Stmt::ParallelFor { index, count, body } => (*index, *count, body),
            _ => return None,
        };
        let known = |reg: &Reg| sizes.get(reg).map(|bits| *bits as i64);
        let ops: HashMap<Reg, &Op> = body.iter().filter_map(Stmt::as_definition).collect();
        let leaves = |stmt: &Stmt| matches!(stmt, Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail);
        let mut simple = true;
        super::super::for_each_stmt(body, &mut |stmt| simple &= !leaves(stmt));
        if !simple {
            return None;
        }
        let sum = |reg: Reg| match ops.get(&reg)? {
            Op::Binary(Binary::Add, a, b) => match (known(a), known(b)) {
                (None, Some(by)) => Some((*a, by)),
                (Some(by), None) => Some((*b, by)),
                _ => None,
            },
            Op::Binary(Binary::Sub, a, b) => Some((*a, known(b)?.checked_neg()?)),
            _ => None,
        };
        let product = |reg: Reg| match ops.get(&reg)? {
            Op::Binary(Binary::Mul, a, b) => Some((*a, *b)),
            _ => None,
        };
        let half = |reg: Reg| match ops.get(&reg)? {
            Op::Binary(Binary::DivSigned, a, b) if known(b) == Some(2) => Some(*a),
            _ => None,
        };
        // (√(8c + 1) + sign) / 2
        let row_sign = |reg: Reg| {
            let (root, sign) = sum(half(reg)?)?;
            let Op::Cast(Cast::FloatToSigned, _, root) = ops.get(&root)? else { return None };
            let Op::Unary(Unary::Sqrt, square) = ops.get(root)? else { return None };
            let Op::Cast(Cast::SignedToFloat, ScalarType::F64, square) = ops.get(square)? else {
                return None;
            };
            let (scaled, 1) = sum(*square)? else { return None };
            let (a, b) = product(scaled)?;
            let of_index = a == index && known(&b) == Some(8) || b == index && known(&a) == Some(8);
            (of_index && sign.abs() == 1).then_some(sign)
        };
        let mut found: Option<Triangle> = None;
        for stmt in body {
            let Stmt::Let(reg, op) = stmt else { continue };
            if let Some(sign) = row_sign(*reg) {
                let triangle = found.get_or_insert(Triangle { sign, rows: Vec::new(), columns: Vec::new() });
                if triangle.sign == sign {
                    triangle.rows.push(*reg);
                }
            }
            let Some(triangle) = &mut found else { continue };
            match op {
                // c - r (r - sign) / 2
                Op::Binary(Binary::Sub, a, first) if *a == index => {
                    let of_row = |(row, other): (Reg, Reg)| {
                        triangle.rows.contains(&row) && sum(other) == Some((row, -triangle.sign))
                    };
                    let factors = half(*first).and_then(product);
                    if factors.is_some_and(|(a, b)| of_row((a, b)) || of_row((b, a))) {
                        triangle.columns.push(*reg);
                    }
                }
                Op::Binary(Binary::RemUnsigned, of, rows) => {
                    let rows = known(rows)?;
                    let places = (rows as u64).checked_mul((rows - triangle.sign) as u64)? / 2;
                    let is_below = |reg: &Reg| sizes.get(reg).is_some_and(|end| *end <= places);
                    // The end of the range, or the smaller of it and another.
                    let fits = is_below(&high)
                        || matches!(ends.get(&high), Some(Op::Select(less, x, end))
                            if is_below(end) && ends.get(less) == Some(&Op::Compare(Compare::Lt, *x, *end)));
                    if fits && triangle.rows.contains(of) {
                        triangle.rows.push(*reg);
                    } else if fits && triangle.columns.contains(of) {
                        triangle.columns.push(*reg);
                    }
                }
                _ => {}
            }
        }
        let is_exact = |reg: &Reg| sizes.get(reg).is_some_and(|end| *end < MAX_PLACES);
        let exact =
            is_exact(&high) || matches!(ends.get(&high), Some(Op::Select(_, _, end)) if is_exact(end));
        found.filter(|_| exact)
    }

    /// The row of a place.
    fn row(&self, build: &mut Builder<'_>, place: Reg) -> Reg {
        let [one, two, eight, sign] = [1, 2, 8, self.sign].map(|n| build.int(n));
        let scaled = build.binary(Binary::Mul, place, eight);
        let square = build.binary(Binary::Add, scaled, one);
        let square = build.define(ScalarType::F64, Op::Cast(Cast::SignedToFloat, ScalarType::F64, square));
        let root = build.define(ScalarType::F64, Op::Unary(Unary::Sqrt, square));
        let root = build.define(ScalarType::I64, Op::Cast(Cast::FloatToSigned, ScalarType::I64, root));
        let doubled = build.binary(Binary::Add, root, sign);
        build.binary(Binary::DivSigned, doubled, two)
    }

    /// The loops in the place of one.
    fn nest(&self, kernel: &mut Kernel, stmt: &Stmt, position: Position) -> Vec<Stmt> {
        let mut build = Builder::new(kernel);
        match stmt {
            Stmt::For { index, low, high, body, .. } => {
                let nest = self.rows_and_columns(&mut build, (*low, *high), |build, place| {
                    place.copied(build.kernel, *index, self).stmts(body)
                });
                build.stmts.push(nest);
            }
            Stmt::ParallelFor { index, count, body } => {
                let (piece, more) = (build.int(PIECE), build.int(PIECE - 1));
                let padded = build.binary(Binary::Add, *count, more);
                let pieces = build.binary(Binary::DivUnsigned, padded, piece);
                let number = build.reg(ScalarType::I64);
                let outer = std::mem::take(&mut build.stmts);
                let low = build.binary(Binary::Mul, number, piece);
                let end = build.binary(Binary::Add, low, piece);
                let high = build.min(end, *count);
                let nest = self.rows_and_columns(&mut build, (low, high), |build, place| {
                    place.copied(build.kernel, *index, self).stmts(body)
                });
                build.stmts.push(nest);
                let body = std::mem::replace(&mut build.stmts, outer);
                let (label, low) = (build.label(), build.int(0));
                build.stmts.push(match position {
                    Position::Parallel => Stmt::For { label, index: number, low, high: pieces, body },
                    _ => Stmt::ParallelFor { index: number, count: pieces, body },
                });
            }
            Stmt::Reduce { index, low, high, body, item, result } => {
                self.reduction(&mut build, (*index, *low, *high), body, *item, *result);
            }
            other => unreachable!("no loop: {other:?}"),
        }
        build.stmts
    }

    /// A reduction whose lanes are in memory.
    fn reduction(
        &self,
        build: &mut Builder<'_>,
        (index, low, high): (Reg, Reg, Reg),
        body: &[Stmt],
        item: Summand,
        result: Reg,
    ) {
        let ty = item.ty(build.kernel);
        let lanes = build.kernel.add_array(Origin::Stack(LANES as u32), ty.bytes() as u8, LANES as u64);
        let identity = build.define(ty, Op::Const(ty, identity_bits(item.op(), ty)));
        let places: [Reg; LANES] = std::array::from_fn(|lane| build.int(lane as i64));
        build.stmts.extend(places.map(|place| Stmt::Store(lanes, place, identity)));
        let nest = self.rows_and_columns(build, (low, high), |build, place| {
            let mut copy = place.copied(build.kernel, index, self);
            let stmts = copy.stmts(body);
            let item = item.map(|reg| copy.reg(reg));
            let outer = std::mem::replace(&mut build.stmts, stmts);
            let from = build.binary(Binary::Sub, place.index, low);
            let mask = build.int(LANES as i64 - 1);
            let lane = build.binary(Binary::And, from, mask);
            let old = build.define(ty, Op::Load(lanes, lane, ty));
            let new = build.define(ty, item.accumulate(old));
            build.stmts.push(Stmt::Store(lanes, lane, new));
            std::mem::replace(&mut build.stmts, outer)
        });
        build.stmts.push(nest);
        let values = places.map(|place| build.define(ty, Op::Load(lanes, place, ty)));
        combine_lanes(values, |a, b| build.binary(item.op().into(), a, b));
        // The total, which is set last, has the register of the reduction.
        let Some(Stmt::Let(_, op)) = build.stmts.pop() else { unreachable!("lanes are joined") };
        build.stmts.push(Stmt::Let(result, op));
    }

    /// The loops over rows and columns of the places from `low` up to `high`.
    fn rows_and_columns(
        &self,
        build: &mut Builder<'_>,
        (low, high): (Reg, Reg),
        round: impl FnOnce(&mut Builder<'_>, &Place) -> Vec<Stmt>,
    ) -> Stmt {
        let any = build.define(ScalarType::I64, Op::Compare(Compare::Lt, low, high));
        let outer = std::mem::take(&mut build.stmts);
        let [one, two, sign] = [1, 2, -self.sign].map(|n| build.int(n));
        let first_row = self.row(build, low);
        let last = build.binary(Binary::Sub, high, one);
        let last_row = self.row(build, last);
        let end_row = build.binary(Binary::Add, last_row, one);
        let row = build.reg(ScalarType::I64);
        let front = std::mem::take(&mut build.stmts);

        let other = build.binary(Binary::Add, row, sign);
        let product = build.binary(Binary::Mul, row, other);
        let first = build.binary(Binary::DivSigned, product, two);
        let zero = build.int(0);
        let skipped = build.binary(Binary::Sub, low, first);
        let from = build.max(skipped, zero);
        let width = match self.sign {
            1 => row,
            _ => build.binary(Binary::Add, row, one),
        };
        let left = build.binary(Binary::Sub, high, first);
        let to = build.min(left, width);
        let column = build.reg(ScalarType::I64);
        let row_stmts = std::mem::take(&mut build.stmts);
        let index = build.binary(Binary::Add, first, column);
        let mut body = std::mem::take(&mut build.stmts);
        body.extend(round(build, &Place { index, row, column }));

        build.stmts = row_stmts;
        let label = build.label();
        build.stmts.push(Stmt::For { label, index: column, low: from, high: to, body });
        let body = std::mem::replace(&mut build.stmts, front);
        let label = build.label();
        build.stmts.push(Stmt::For { label, index: row, low: first_row, high: end_row, body });
        let nest = std::mem::replace(&mut build.stmts, outer);
        Stmt::If(any, nest, Vec::new())
    }
}

/// The registers of a place.
struct Place {
    index: Reg,
    row: Reg,
    column: Reg,
}

impl Place {
    /// A copy of a round under way, in which its index, row and column are those of the place.
    fn copied<'k>(&self, kernel: &'k mut Kernel, index: Reg, triangle: &Triangle) -> Cloner<'k> {
        let mut copy = Cloner::new(kernel);
        let rows = triangle.rows.iter().map(|reg| (*reg, self.row));
        let columns = triangle.columns.iter().map(|reg| (*reg, self.column));
        copy.names.known_registers.extend(rows.chain(columns));
        copy.names.regs.insert(index, self.index);
        copy
    }
}
