//! Factors in place of divisors: the quotient of a natural number is the whole part of its product
//! with a factor over a power of two (Granlund and Montgomery, *Division by invariant integers
//! using multiplication*, 1994).
//!
//! For `n` up to `N`, `n / d` is the whole part of `n * m / 2^k`, where `m` is `2^k / d` rounded up
//! by `e / d`, if `e * N < 2^k`: the excess `n * e / (d * 2^k)` is less than the `1 / d` that lies
//! between a quotient and the next whole number.

use std::ops::Range;

/// The factor and the shift, the first one of `shifts`, that divide numbers up to `bound` by
/// `divisor`; `None` if there is none with a factor up to `limit`. Divisor and bound are at most
/// 2^63, shifts below 127.
pub fn reciprocal(divisor: u64, bound: u64, shifts: Range<u32>, limit: u64) -> Option<(u64, u32)> {
    let (divisor, bound) = (u128::from(divisor), u128::from(bound));
    shifts.into_iter().find_map(|shift| {
        let power = 1u128 << shift;
        let factor = power.div_ceil(divisor);
        let excess = factor * divisor - power;
        let fits = excess * bound < power && factor <= u128::from(limit);
        fits.then_some((factor as u64, shift))
    })
}
