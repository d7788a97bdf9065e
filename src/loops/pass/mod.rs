//! Passes over the loop form: each takes loops and gives loops that compute the same, to the last bit.
//!
//! [`PASSES`] is the whole list, in order. A pass that finds nothing changes nothing. Tests validate the nest
//! after each of them ([`run`]).

mod bins;
mod columns;
mod contract;
mod copy;
mod forward;
mod jam;
mod prune;
mod split;
mod unroll;

use super::{Nest, Op, Reg, Stmt, Ty};

/// A pass.
pub struct Pass {
    /// What it is called.
    pub name: &'static str,
    /// Does it.
    pub run: fn(&mut Nest),
}

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass { name: "prune", run: prune::run },
    Pass { name: "split", run: split::run },
    Pass { name: "unroll", run: unroll::run },
    Pass { name: "forward", run: forward::run },
    Pass { name: "contract", run: contract::run },
    Pass { name: "columns", run: columns::run },
    Pass { name: "bins", run: bins::run },
    Pass { name: "jam", run: jam::run },
    Pass { name: "prune", run: prune::run },
];

/// Runs all passes; then loops have their costs.
pub fn run(nest: &mut Nest) {
    for pass in PASSES {
        (pass.run)(nest);
        if cfg!(debug_assertions)
            && let Err(why) = super::validate::validate(nest)
        {
            panic!("{} gives an invalid nest: {why}\n{}", pass.name, super::print::nest(nest));
        }
    }
    nest.costs = super::cost::costs(nest);
}

/// Statements under construction: sets fresh registers of a nest.
struct Build<'n> {
    nest: &'n mut Nest,
    stmts: Vec<Stmt>,
}

impl<'n> Build<'n> {
    fn new(nest: &'n mut Nest) -> Build<'n> {
        Build { nest, stmts: Vec::new() }
    }

    fn reg(&mut self, ty: Ty) -> Reg {
        self.nest.regs.push(ty);
        self.nest.regs.len() as Reg - 1
    }

    fn set(&mut self, ty: Ty, op: Op) -> Reg {
        let reg = self.reg(ty);
        if let Op::Const(_, bits) = op {
            self.nest.constants.insert(reg, bits);
        }
        self.stmts.push(Stmt::Let(reg, op));
        reg
    }

    fn int(&mut self, n: i64) -> Reg {
        self.set(Ty::I64, Op::Const(Ty::I64, n as u64))
    }

    fn binary(&mut self, op: super::Binary, a: Reg, b: Reg) -> Reg {
        let ty = self.nest.regs[a as usize];
        self.set(ty, Op::Binary(op, a, b))
    }

    /// The smaller of two signed integers.
    fn least(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.set(Ty::I64, Op::Compare(super::Compare::Lt, a, b));
        self.set(Ty::I64, Op::Select(less, a, b))
    }

    /// The larger of two signed integers.
    fn most(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.set(Ty::I64, Op::Compare(super::Compare::Lt, a, b));
        self.set(Ty::I64, Op::Select(less, b, a))
    }

    fn label(&mut self) -> super::Label {
        self.nest.labels += 1;
        self.nest.labels - 1
    }
}

/// What replaces a list of statements; whether it is that of the nest itself.
type Rewrite<'f> = dyn FnMut(&mut Nest, Vec<Stmt>, bool) -> Vec<Stmt> + 'f;

/// Rewrites the statements of a nest, lists inside others first; `list` may replace a whole list.
fn rewrite(nest: &mut Nest, list: &mut Rewrite<'_>) {
    fn walk(nest: &mut Nest, stmts: Vec<Stmt>, top: bool, list: &mut Rewrite<'_>) -> Vec<Stmt> {
        let stmts = stmts.into_iter().map(|mut stmt| {
            for body in stmt.bodies_mut() {
                *body = walk(nest, std::mem::take(body), false, list);
            }
            stmt
        });
        let stmts = stmts.collect();
        list(nest, stmts, top)
    }
    let body = std::mem::take(&mut nest.body);
    nest.body = walk(nest, body, true, list);
}
