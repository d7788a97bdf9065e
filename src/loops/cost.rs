//! What loops cost, by a rough estimate: so that small ones are not cut into pieces.

use super::{Binary, Nest, Op, Reg, Stmt};
use std::collections::HashMap;

/// Rounds of a loop whose number is not known.
pub const ROUNDS: f64 = 16.0;

/// Nanoseconds that one round of each [`Stmt::Each`] takes, in their order.
pub fn costs(nest: &Nest) -> Vec<f64> {
    let mut known: HashMap<Reg, f64> = HashMap::new();
    super::for_each_stmt(&nest.body, &mut |stmt| match stmt {
        Stmt::Let(reg, Op::Const(_, bits)) => {
            known.insert(*reg, *bits as f64);
        }
        Stmt::Let(reg, Op::Size(n)) => {
            known.insert(*reg, nest.sizes[*n as usize] as f64);
        }
        _ => {}
    });
    let each = nest.body.iter().filter_map(|stmt| match stmt {
        Stmt::Each { body, .. } => Some(cost(body, &known)),
        _ => None,
    });
    each.collect()
}

/// Nanoseconds that an operation takes.
pub fn op(op: &Op) -> f64 {
    match op {
        Op::Const(..) | Op::Size(_) | Op::Scalar(_) | Op::Get(_) => 0.0,
        Op::Call(..) => 8.0,
        Op::Load(..) => 0.5,
        Op::Binary(Binary::DivSigned | Binary::DivUnsigned | Binary::RemSigned | Binary::RemUnsigned, ..) => {
            4.0
        }
        _ => 0.25,
    }
}

fn cost(stmts: &[Stmt], known: &HashMap<Reg, f64>) -> f64 {
    stmts.iter().map(|stmt| one(stmt, known)).sum()
}

fn one(stmt: &Stmt, known: &HashMap<Reg, f64>) -> f64 {
    let rounds = |low: &Reg, high: &Reg| match (known.get(low), known.get(high)) {
        (Some(low), Some(high)) => (high - low).max(0.0),
        // A chunk of a reduction.
        _ => ROUNDS,
    };
    match stmt {
        Stmt::Let(_, op) => self::op(op),
        Stmt::Set(..) | Stmt::Store(..) => 0.5,
        Stmt::If(_, then, otherwise) => 0.5 + cost(then, known).max(cost(otherwise, known)),
        Stmt::For { low, high, body, .. } => rounds(low, high) * (0.5 + cost(body, known)),
        Stmt::Total { low, high, body, .. } => {
            let rounds = match (known.get(low), known.get(high)) {
                (Some(low), Some(high)) => high - low,
                _ => crate::core::reduction::CHUNK as f64,
            };
            rounds * (0.25 + cost(body, known) / 2.0)
        }
        Stmt::Loop(_, body) => ROUNDS * (0.5 + cost(body, known)),
        Stmt::Block(_, body) => cost(body, known),
        Stmt::Each { body, .. } => cost(body, known),
        Stmt::Contract(c) => {
            let size = |reg: &Reg| known.get(reg).copied().unwrap_or(ROUNDS * ROUNDS);
            size(&c.rows) * size(&c.columns) * size(&c.depth) * 0.05
        }
        Stmt::Break(_) | Stmt::Continue(_) | Stmt::Fail => 0.0,
    }
}
