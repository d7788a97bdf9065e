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

#[cfg(test)]
mod tests {
    use super::{Range, is_word, result_range};
    use crate::core::{Num, Op};

    /// Computes an operator; `None` for a division by zero.
    fn compute(op: Op, a: i128, b: i128) -> Option<i128> {
        match op {
            Op::Neg(_) => Some(-a),
            Op::Add(_) => Some(a + b),
            Op::Sub(_) => Some(a - b),
            Op::Mul(_) => Some(a * b),
            Op::Div(_) => a.checked_div(b),
            Op::Rem(_) => a.checked_rem(b),
            _ => None,
        }
    }

    const OPS: [fn(Num) -> Op; 6] = [Op::Neg, Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem];

    /// Bounds hold for all operands within theirs. They are attained, but for those of a remainder
    /// and of a division by what may be 0.
    #[test]
    fn bounds_hold_for_all_operands() {
        let ranges: Vec<Range> = (-4..=4).flat_map(|low| (low..=4).map(move |high| (low, high))).collect();
        for op in OPS.map(|op| op(Num::Bigint)) {
            for &a in &ranges {
                for &b in &ranges {
                    let results: Vec<i128> = (a.0..=a.1)
                        .flat_map(|x| (b.0..=b.1).filter_map(move |y| compute(op, x, y)))
                        .collect();
                    let (low, high) = result_range(op, a, b).expect("small numbers");
                    let context = format!("{op:?} of {a:?} and {b:?}: {low} to {high}");
                    assert!(results.iter().all(|result| (low..=high).contains(result)), "{context}");
                    let inexact =
                        matches!(op, Op::Rem(_)) || matches!(op, Op::Div(_)) && b.0 <= 0 && b.1 >= 0;
                    if !inexact {
                        let attained = (results.iter().min(), results.iter().max());
                        assert_eq!(attained, (Some(&low), Some(&high)), "{context}");
                    }
                }
            }
        }
    }

    #[test]
    fn bounds_beyond_a_word_are_none() {
        let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
        assert!(is_word((least, most)) && !is_word((least - 1, most)) && !is_word((least, most + 1)));
        let range = |op: fn(Num) -> Op, a, b| result_range(op(Num::Bigint), a, b);
        assert_eq!(range(Op::Add, (0, most), (0, 0)), Some((0, most)));
        assert_eq!(range(Op::Add, (0, most), (0, 1)), None);
        assert_eq!(range(Op::Neg, (least + 1, most), (0, 0)), Some((-most, most)));
        assert_eq!(range(Op::Neg, (least, 0), (0, 0)), None);
        assert_eq!(range(Op::Div, (least, least), (-1, -1)), None);
        assert_eq!(range(Op::Mul, (0, 1 << 32), (0, 1 << 31)), None);
        // Powers have no bounds here.
        assert_eq!(range(Op::Pow, (0, 1), (0, 1)), None);
    }
}
