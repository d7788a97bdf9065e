//! Strength reduction of divisions by constants: of natural numbers by a power of two they are
//! shifts and masks, of natural numbers of 32 bits products and shifts ([`reciprocal`]).
//!
//! ```text
//! r1 = div_signed r0 7       =>     r1 = shr (mul r0 2454267027) 34
//! r2 = rem_signed r0 8       =>     r2 = and r0 7
//! ```
//!
//! A division takes tens of cycles, a product and a shift four, and vectors have both.
//!
//! **Method.** The interval of the dividend ([`value_ranges`](super::value_ranges)) says whether it
//! is natural, and below 2^12, 2^16, 2^31 or 2^32. A word must hold the product. A remainder is the
//! dividend without the product of quotient and divisor. The bound is one of four numbers, so that
//! kernels of many sizes share code.
//!
//! Runs after the passes that look for divisions. Costs time in proportion to the statements.

use super::super::reciprocal::reciprocal;
use super::super::{Binary, Kernel, Op, Reg, ScalarType, Stmt, for_each_stmt};
use super::integer_ranges::Interval;
use super::value_ranges::definition_intervals;
use super::{Builder, rewrite};

/// The bounds of dividends that are told apart. Up to the first two, products have 32 bits, which
/// [`demanded_bits`](super::demanded_bits) finds.
const BOUNDS: [u64; 4] = [(1 << 12) - 1, (1 << 16) - 1, (1 << 31) - 1, (1 << 32) - 1];

/// Runs the pass.
pub(super) fn run(kernel: &mut Kernel) {
    let mut any = false;
    for_each_stmt(&kernel.body, &mut |stmt| {
        any |= matches!(stmt, Stmt::Let(_, op) if division(kernel, op).is_some());
    });
    if !any {
        return;
    }
    let intervals = definition_intervals(kernel);
    rewrite(kernel, &mut |kernel, stmts, _| {
        let mut build = Builder::new(kernel);
        for stmt in stmts {
            if let Stmt::Let(reg, op) = &stmt
                && let Some(divided) = division(build.kernel, op)
                && let Some(interval) = intervals.get(&divided.dividend)
                && let Some(op) = reduced(&mut build, divided, *interval)
            {
                build.stmts.push(Stmt::Let(*reg, op));
            } else {
                build.stmts.push(stmt);
            }
        }
        build.stmts
    });
}

/// A division of words by a constant above 1.
#[derive(Clone, Copy)]
struct Division {
    dividend: Reg,
    divisor: u64,
    remainder: bool,
}

fn division(kernel: &Kernel, op: &Op) -> Option<Division> {
    let Op::Binary(kind, dividend, divisor) = op else { return None };
    let remainder = match kind {
        Binary::DivSigned | Binary::DivUnsigned => false,
        Binary::RemSigned | Binary::RemUnsigned => true,
        _ => return None,
    };
    let divisor = *kernel.constants.get(divisor)?;
    let is_word = kernel.regs[*dividend] == ScalarType::I64;
    let division = Division { dividend: *dividend, divisor, remainder };
    (is_word && (2..1 << 63).contains(&divisor)).then_some(division)
}

/// The last operation of what a division of a number in an interval is; those before are set.
fn reduced(build: &mut Builder<'_>, division: Division, dividend: Interval) -> Option<Op> {
    let Division { dividend: n, divisor, remainder } = division;
    if dividend.low < 0 {
        return None;
    }
    if divisor.is_power_of_two() {
        return Some(match remainder {
            true => {
                let mask = build.int(divisor as i64 - 1);
                Op::Binary(Binary::And, n, mask)
            }
            false => {
                let bits = build.int(i64::from(divisor.trailing_zeros()));
                Op::Binary(Binary::Shr, n, bits)
            }
        });
    }
    let mut bounds = BOUNDS.into_iter().filter(|bound| dividend.high as u64 <= *bound);
    let (factor, shift) = bounds.find_map(|bound| factor_and_shift(divisor, bound))?;
    let (factor, shift) = (build.int(factor as i64), build.int(i64::from(shift)));
    let product = build.binary(Binary::Mul, n, factor);
    if !remainder {
        return Some(Op::Binary(Binary::Shr, product, shift));
    }
    let quotient = build.binary(Binary::Shr, product, shift);
    let divisor = build.int(divisor as i64);
    let whole = build.binary(Binary::Mul, quotient, divisor);
    Some(Op::Binary(Binary::Sub, n, whole))
}

/// The factor and the shift that divide numbers up to `bound` by `divisor`, which is no power of
/// two, if a word holds the products, or half of one those of small numbers.
fn factor_and_shift(divisor: u64, bound: u64) -> Option<(u64, u32)> {
    match bound >> 16 {
        0 => reciprocal(divisor, bound, 0..32, u64::from(u32::MAX) / bound),
        _ => reciprocal(divisor, bound, 32..64, u64::MAX / bound),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotients_are_whole_parts() {
        let mut state = 1u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            state >> 33
        };
        for divisor in (3u64..2_000).chain((0..2_000).map(|i| (1 << 31) - 1 - i * i)) {
            if divisor.is_power_of_two() {
                continue;
            }
            for bound in BOUNDS {
                let Some((factor, shift)) = factor_and_shift(divisor, bound) else {
                    assert!(bound != BOUNDS[2], "all divisors of 31 bits have a factor, but {divisor}");
                    continue;
                };
                if divisor > bound {
                    continue;
                }
                let multiple = bound / divisor * divisor;
                let few = [0, 1, divisor - 1, divisor, multiple - 1, multiple, bound - 1, bound];
                for n in few.into_iter().chain((0..20).map(|_| random() * 2 % (bound + 1))) {
                    assert_eq!((n * factor) >> shift, n / divisor, "{n} / {divisor}");
                }
            }
        }
    }
}
