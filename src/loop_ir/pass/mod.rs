//! Passes over the loop form: each takes loops and gives loops that compute the same, to the last bit.
//!
//! [`PASSES`] is the whole list, in order. A pass that finds nothing changes nothing. Tests validate the nest
//! after each of them ([`run`]).

mod clone_stmts;
mod copy_propagation;
mod dce;
mod gemm;
mod index_set_splitting;
mod interchange_tile;
mod privatize_histogram;
mod unroll;
mod unroll_and_jam;

use super::{Kernel, Op, Reg, ScalarType, Stmt};

/// A pass.
pub struct Pass {
    /// What it is called.
    pub name: &'static str,
    /// Does it.
    pub run: fn(&mut Kernel),
}

/// All passes, in the order in which they run.
pub const PASSES: &[Pass] = &[
    Pass { name: "dce", run: dce::run },
    Pass { name: "index_set_splitting", run: index_set_splitting::run },
    Pass { name: "unroll", run: unroll::run },
    Pass { name: "copy_propagation", run: copy_propagation::run },
    Pass { name: "gemm", run: gemm::run },
    Pass { name: "interchange_tile", run: interchange_tile::run },
    Pass { name: "privatize_histogram", run: privatize_histogram::run },
    Pass { name: "unroll_and_jam", run: unroll_and_jam::run },
    Pass { name: "dce", run: dce::run },
];

/// Runs all passes; then loops have their costs.
pub fn run(nest: &mut Kernel) {
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
    nest: &'n mut Kernel,
    stmts: Vec<Stmt>,
}

impl<'n> Build<'n> {
    fn new(nest: &'n mut Kernel) -> Build<'n> {
        Build { nest, stmts: Vec::new() }
    }

    fn reg(&mut self, ty: ScalarType) -> Reg {
        self.nest.regs.push(ty);
        self.nest.regs.len() as Reg - 1
    }

    fn set(&mut self, ty: ScalarType, op: Op) -> Reg {
        let reg = self.reg(ty);
        if let Op::Const(_, bits) = op {
            self.nest.constants.insert(reg, bits);
        }
        self.stmts.push(Stmt::Let(reg, op));
        reg
    }

    fn int(&mut self, n: i64) -> Reg {
        self.set(ScalarType::I64, Op::Const(ScalarType::I64, n as u64))
    }

    fn binary(&mut self, op: super::Binary, a: Reg, b: Reg) -> Reg {
        let ty = self.nest.regs[a as usize];
        self.set(ty, Op::Binary(op, a, b))
    }

    /// The smaller of two signed integers.
    fn least(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.set(ScalarType::I64, Op::Compare(super::Compare::Lt, a, b));
        self.set(ScalarType::I64, Op::Select(less, a, b))
    }

    /// The larger of two signed integers.
    fn most(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.set(ScalarType::I64, Op::Compare(super::Compare::Lt, a, b));
        self.set(ScalarType::I64, Op::Select(less, b, a))
    }

    fn label(&mut self) -> super::Label {
        self.nest.labels += 1;
        self.nest.labels - 1
    }
}

/// What replaces a list of statements; whether it is that of the nest itself.
type Rewrite<'f> = dyn FnMut(&mut Kernel, Vec<Stmt>, bool) -> Vec<Stmt> + 'f;

/// Rewrites the statements of a nest, lists inside others first; `list` may replace a whole list.
fn rewrite(nest: &mut Kernel, list: &mut Rewrite<'_>) {
    fn walk(nest: &mut Kernel, stmts: Vec<Stmt>, top: bool, list: &mut Rewrite<'_>) -> Vec<Stmt> {
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
