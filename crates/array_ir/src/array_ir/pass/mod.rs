//! Passes over the array IR: each takes a program and gives one that means the same.
//!
//! [`PASSES`] is the whole list, in order. A pass is a function of the program; it keeps the value
//! of each function to the bit, the site that fails with the values shown, and the output. The
//! program that it gives is valid, which tests and debug builds check after each pass.
//!
//! **Work.** A pass may spend [`Pass::units`] units of work for each unit of [`weight`] of the
//! program, and is declined beyond that: no program makes a pass take more than linear time.

mod commute;
mod filters;
mod fuse;
mod licm;
mod simplify;

use super::visit::{Part, PartMut};
use super::{Block, Function, Op, Program, print, validate};

/// A pass.
pub struct Pass {
    /// The name: of its file and of the folder of its golden files.
    pub name: &'static str,
    /// Units of work for each unit of the program's weight.
    pub units: u64,
    /// The transformation.
    pub run: fn(&Program, &mut Work) -> Result<Program, Declined>,
}

/// All passes, in the order in which they run. What an element of an array of arrays is takes the
/// place of the element first, then what is read of it: so arrays are fused again. A map of what a
/// filter keeps is there before it is fused. Invariants are moved when what is read once has gone to
/// where it is read.
pub const PASSES: &[Pass] = &[
    Pass { name: "simplify", units: 32, run: simplify::run },
    Pass { name: "filters", units: 8, run: filters::run },
    Pass { name: "fuse", units: 64, run: fuse::run },
    Pass { name: "simplify", units: 32, run: simplify::run },
    Pass { name: "filters", units: 8, run: filters::run },
    Pass { name: "commute", units: 8, run: commute::run },
    Pass { name: "licm", units: 64, run: licm::run },
    Pass { name: "fuse", units: 64, run: fuse::run },
    Pass { name: "simplify", units: 32, run: simplify::run },
    Pass { name: "fuse", units: 64, run: fuse::run },
    Pass { name: "simplify", units: 32, run: simplify::run },
    Pass { name: "fuse", units: 64, run: fuse::run },
    Pass { name: "simplify", units: 32, run: simplify::run },
];

/// The reason why a pass gives no program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Declined {
    /// The budget of work is spent.
    Work,
}

/// The work that a pass may still do.
#[derive(Debug)]
pub struct Work {
    left: u64,
    spent: u64,
}

impl Work {
    /// The budget of a pass for a program.
    pub fn new(pass: &Pass, program: &Program) -> Work {
        Work { left: pass.units.saturating_mul(weight(program)), spent: 0 }
    }

    /// Spends units.
    ///
    /// # Errors
    /// The budget is smaller.
    pub fn spend(&mut self, units: u64) -> Result<(), Declined> {
        self.left = self.left.checked_sub(units).ok_or(Declined::Work)?;
        self.spent += units;
        Ok(())
    }

    /// The units spent so far.
    pub fn spent(&self) -> u64 {
        self.spent
    }
}

/// The length of a program: of its statements, of what they mention, and of its blocks with their
/// parameters.
pub fn weight(program: &Program) -> u64 {
    let mut count = 1;
    for function in &program.functions {
        function.body.for_each_block(&mut |block| {
            count += 2 + block.params.len() as u64;
            for stmt in &block.stmts {
                count += op_weight(&stmt.op);
            }
        });
    }
    count
}

/// The length of an operation without blocks inside.
fn op_weight(op: &Op) -> u64 {
    let mut count = 1;
    op.for_each_part(&mut |part| count += u64::from(!matches!(part, Part::Block(_))));
    count
}

/// Calls `f` on each block of an operation.
fn for_each_block_mut(op: &mut Op, f: &mut dyn FnMut(&mut Block)) {
    op.for_each_part_mut(&mut |part| {
        if let PartMut::Block(block) = part {
            f(block);
        }
    });
}

/// The number above those of all values of a function.
fn next_value(function: &Function) -> u32 {
    let mut next = 0;
    function.body.for_each_block(&mut |block| {
        let defined = block.params.iter().map(|param| param.0).chain(block.stmts.iter().map(|s| s.value));
        next = defined.map(|value| value.0 + 1).fold(next, u32::max);
    });
    next
}

/// Runs all passes. One that stands in the list again is left out if nothing has changed since it
/// changed nothing.
///
/// # Errors
/// The pass that is declined.
pub fn run(program: &Program) -> Result<Program, (&'static str, Declined)> {
    let mut program = program.clone();
    let mut idle: Vec<&str> = Vec::new();
    for pass in PASSES {
        if idle.contains(&pass.name) {
            continue;
        }
        let mut work = Work::new(pass, &program);
        let next = (pass.run)(&program, &mut work).map_err(|declined| (pass.name, declined))?;
        if next == program {
            idle.push(pass.name);
            continue;
        }
        idle.clear();
        program = next;
        if cfg!(debug_assertions)
            && let Err(why) = validate::validate(&program)
        {
            panic!("{} gives an invalid program: {why}\n{}", pass.name, print::program(&program));
        }
    }
    Ok(program)
}
