//! Bounds of integers: those of the result of an operator, from those of its operands. Unbounded
//! integers whose bounds are within a word are calculated in words.

use super::Op;

/// The least and the greatest value of an integer.
pub type Range = (i128, i128);

/// The bounds of the result of an arithmetic operator on integers with bounds: they are within 64
/// bits with a sign. The second operand of a negation is not looked at. `None` beyond, and for
/// other operators.
pub fn result_range(op: Op, (a_low, a_high): Range, (b_low, b_high): Range) -> Option<Range> {
    let corners = |f: &dyn Fn(i128, i128) -> i128| {
        let all = [f(a_low, b_low), f(a_low, b_high), f(a_high, b_low), f(a_high, b_high)];
        all.iter().fold((all[0], all[0]), |(low, high), n| (low.min(*n), high.max(*n)))
    };
    let magnitude = |low: i128, high: i128| low.abs().max(high.abs());
    let range = match op {
        Op::Neg(_) => (-a_high, -a_low),
        Op::Add(_) => corners(&|a, b| a + b),
        Op::Sub(_) => corners(&|a, b| a - b),
        Op::Mul(_) => corners(&|a, b| a * b),
        // A quotient is furthest from 0 where the divisor is nearest.
        Op::Div(_) if b_low > 0 || b_high < 0 => corners(&|a, b| a / b),
        Op::Div(_) => (-magnitude(a_low, a_high), magnitude(a_low, a_high)),
        Op::Rem(_) => {
            let most = magnitude(a_low, a_high).min(magnitude(b_low, b_high) - 1).max(0);
            (if a_low < 0 { -most } else { 0 }, if a_high > 0 { most } else { 0 })
        }
        _ => return None,
    };
    is_word(range).then_some(range)
}

/// Returns true for bounds within 64 bits with a sign.
pub fn is_word((low, high): Range) -> bool {
    low >= i128::from(i64::MIN) && high <= i128::from(i64::MAX)
}
