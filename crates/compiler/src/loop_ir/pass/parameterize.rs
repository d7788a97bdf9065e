//! Parameterization: numbers beside a size become sizes.
//!
//! The last index of an axis of 40 indices is the constant 39 once its interval is known, so the
//! kernel of an axis of 42 would be another one. Such a number becomes a parameter, as sizes are:
//! kernels of one structure share their machine code whatever the sizes are ([`Kernel::key`]).
//!
//! **Why nothing changes.** The register is equal to the same number.
//!
//! **When.** The number is beyond those that are always constants, and at most [`MAX_DISTANCE`]
//! from a size or from twice a size, as the ends of a mirrored axis are, the product of a
//! size and such a number, as the place of the last row is, or a multiple of [`LANES`], as blocks
//! of loops and their lanes are: at one of these sizes and numbers may be equal by chance. And it
//! chooses no instruction: a quotient by a constant is a product, and shifts and masks come from
//! powers of two. It comes after all that numbers decide.

use super::super::{Binary, Kernel, MAX_CONSTANT_SIZE, Op, Reg, ScalarType, Stmt, for_each_stmt};
use crate::hash::HashSet;

/// The distance of a number from a size: a few times the widths of two halos.
const MAX_DISTANCE: u64 = 16;

/// Lanes of a loop.
const LANES: u64 = 8;

/// Parameters of a kernel, sizes included: an unrolled loop may have many numbers.
const MAX_PARAMETERS: usize = 64;

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut choosing: HashSet<Reg> = HashSet::default();
    for_each_stmt(&kernel.body, &mut |stmt| {
        if let Stmt::Let(_, Op::Binary(kind, a, b)) = stmt
            && (kind.is_integer_division()
                || matches!(kind, Binary::Shl | Binary::Shr | Binary::And | Binary::Or | Binary::Xor))
        {
            choosing.extend([*a, *b]);
        }
    });
    let sizes = kernel.sizes.clone();
    let near = |n: u64| {
        let is_near = |size: u64| size.abs_diff(n) <= MAX_DISTANCE;
        n > MAX_CONSTANT_SIZE && sizes.iter().any(|size| is_near(*size) || is_near(size.saturating_mul(2)))
    };
    let is_product = |n: u64| sizes.iter().any(|size| *size > 0 && n.is_multiple_of(*size) && near(n / size));
    let is_parameter = |n: u64| {
        let is_used = n.is_multiple_of(LANES) || near(n) || is_product(n);
        n > MAX_CONSTANT_SIZE && n <= i64::MAX as u64 && is_used
    };
    if sizes.is_empty() {
        return;
    }
    super::rewrite(kernel, &mut |kernel, mut stmts, _| {
        for stmt in &mut stmts {
            if let Stmt::Let(reg, op) = stmt
                && let Op::Const(ScalarType::I64, number) = *op
                && is_parameter(number)
                && !choosing.contains(reg)
                && kernel.sizes.len() < MAX_PARAMETERS
            {
                // Equal numbers are parameters of their own: they may differ at other sizes.
                *op = Op::Size(kernel.sizes.len() as u32);
                kernel.sizes.push(number);
                kernel.constants.remove(reg);
            }
        }
        stmts
    });
}
