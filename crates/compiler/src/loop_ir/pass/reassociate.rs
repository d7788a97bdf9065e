//! Reassociation: what a round of a loop computes from the round before is combined last.
//!
//! ```text
//! for j in low..<high                   for j in low..<high
//!   r0 = v                                r0 = v
//!   r1 = min(a[j], r0)          =>        r1 = min(a[j], b[j])
//!   r2 = min(r1, b[j])                    r2 = min(r0, r1)
//!   v := r2                               v := r2
//! ```
//!
//! A recurrence takes as long as the operations between two of its values; others are done
//! meanwhile (D. Kuck, *The structure of computers and computations*, 1978: height reduction).
//! Only operations that are associative and commutative to the last bit take part: extremes, bits,
//! and sums and products of whole words.
//!
//! Costs time in proportion to the statements, and for each chain to its length.

use super::super::{Binary, Kernel, Op, Reg, ScalarType, Stmt, for_each_stmt};
use super::{Builder, rewrite, set_variables, variable_dependents};
use crate::hash::HashMap;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut uses: HashMap<Reg, u32> = HashMap::default();
    let mut count = |reg: Reg| *uses.entry(reg).or_default() += 1;
    kernel.scalar_results.iter().copied().for_each(&mut count);
    for_each_stmt(&kernel.body, &mut |stmt| stmt.for_each_read(&mut count));
    rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if let Stmt::For { body, .. } = stmt {
                *body = reassociated(kernel, &uses, std::mem::take(body));
            }
        }
        stmts
    });
}

/// The body of a loop with the operands from the round before last in each chain.
fn reassociated(kernel: &mut Kernel, uses: &HashMap<Reg, u32>, body: Vec<Stmt>) -> Vec<Stmt> {
    let carried = variable_dependents(&set_variables(&body), &body);
    if carried.is_empty() {
        return body;
    }
    // The operations of the body so far that may be taken apart.
    let mut chains: HashMap<Reg, (Binary, Reg, Reg)> = HashMap::default();
    let mut build = Builder::new(kernel);
    for stmt in body {
        let Stmt::Let(reg, Op::Binary(op, a, b)) = stmt else {
            build.stmts.push(stmt);
            continue;
        };
        let (mut a, mut b) = (a, b);
        if is_associative(op, build.kernel.regs[reg]) && carried.contains(&reg) {
            if carried.contains(&b) {
                std::mem::swap(&mut a, &mut b);
            }
            // Now `a` is from the round before; of a chain, its first operand is.
            while !carried.contains(&b)
                && let Some((_, first, second)) =
                    chains.get(&a).filter(|chain| chain.0 == op && uses.get(&a) == Some(&1)).copied()
            {
                b = build.binary(op, second, b);
                a = first;
            }
            if carried.contains(&a) && !carried.contains(&b) {
                chains.insert(reg, (op, a, b));
            }
        }
        build.stmts.push(Stmt::Let(reg, Op::Binary(op, a, b)));
    }
    build.stmts
}

/// Returns true for operations that give the same bits in any order.
fn is_associative(op: Binary, ty: ScalarType) -> bool {
    match op {
        Binary::Min | Binary::Max | Binary::And | Binary::Or | Binary::Xor => true,
        Binary::Add | Binary::Mul => ty == ScalarType::I64,
        _ => false,
    }
}
