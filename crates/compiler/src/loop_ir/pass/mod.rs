//! Passes over the loop form: each takes a kernel and gives one that computes the same, to the last
//! bit.
//!
//! [`PASSES`] is the whole list, in order. A pass that finds nothing changes nothing. Tests
//! validate the kernel after each of them ([`run`]).

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
    /// The name of the pass: of its file and of the folder of its golden files.
    pub name: &'static str,
    /// Transforms a kernel.
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

/// Runs all passes, and estimates the costs of loops.
pub fn run(kernel: &mut Kernel) {
    for pass in PASSES {
        (pass.run)(kernel);
        if cfg!(debug_assertions)
            && let Err(why) = super::validate::validate(kernel)
        {
            panic!("{} gives an invalid kernel: {why}\n{}", pass.name, super::print::kernel(kernel));
        }
    }
    kernel.iteration_costs = super::cost::iteration_costs(kernel);
}

/// Statements under construction: sets fresh registers of a kernel.
struct Builder<'n> {
    kernel: &'n mut Kernel,
    stmts: Vec<Stmt>,
}

impl<'n> Builder<'n> {
    fn new(kernel: &'n mut Kernel) -> Builder<'n> {
        Builder { kernel, stmts: Vec::new() }
    }

    fn reg(&mut self, ty: ScalarType) -> Reg {
        self.kernel.regs.push(ty)
    }

    fn define(&mut self, ty: ScalarType, op: Op) -> Reg {
        let reg = self.reg(ty);
        if let Op::Const(_, bits) = op {
            self.kernel.constants.insert(reg, bits);
        }
        self.stmts.push(Stmt::Let(reg, op));
        reg
    }

    fn int(&mut self, n: i64) -> Reg {
        self.define(ScalarType::I64, Op::Const(ScalarType::I64, n as u64))
    }

    fn binary(&mut self, op: super::Binary, a: Reg, b: Reg) -> Reg {
        let ty = self.kernel.regs[a];
        self.define(ty, Op::Binary(op, a, b))
    }

    /// The smaller of two signed integers.
    fn min(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.define(ScalarType::I64, Op::Compare(super::Compare::Lt, a, b));
        self.define(ScalarType::I64, Op::Select(less, a, b))
    }

    /// The larger of two signed integers.
    fn max(&mut self, a: Reg, b: Reg) -> Reg {
        let less = self.define(ScalarType::I64, Op::Compare(super::Compare::Lt, a, b));
        self.define(ScalarType::I64, Op::Select(less, b, a))
    }

    fn label(&mut self) -> super::Label {
        self.kernel.new_label()
    }
}

/// A function that replaces a list of statements; the flag says that the list is the body of the
/// kernel.
type Rewrite<'f> = dyn FnMut(&mut Kernel, Vec<Stmt>, bool) -> Vec<Stmt> + 'f;

/// Rewrites the statements of a kernel, lists inside others first; `list` may replace a whole list.
fn rewrite(kernel: &mut Kernel, list: &mut Rewrite<'_>) {
    fn walk(kernel: &mut Kernel, stmts: Vec<Stmt>, top: bool, list: &mut Rewrite<'_>) -> Vec<Stmt> {
        let stmts = stmts.into_iter().map(|mut stmt| {
            for body in stmt.bodies_mut() {
                *body = walk(kernel, std::mem::take(body), false, list);
            }
            stmt
        });
        let stmts = stmts.collect();
        list(kernel, stmts, top)
    }
    let body = std::mem::take(&mut kernel.body);
    kernel.body = walk(kernel, body, true, list);
}
