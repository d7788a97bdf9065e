//! Intervals of floats, for [`value_ranges`](super::value_ranges).
//!
//! A number that is computed from indices, as the place in a picture that is resized, has bounds as
//! the indices have. Operations round to the nearest number, and rounding keeps the order, so the
//! bounds of a result are what the same operation gives for bounds of the operands. An interval has
//! no NaN: of an operation that may give one, nothing is known.

use super::super::{Binary, Compare, Unary};

/// All numbers from the first to the last, infinities among them, zeros of both signs, and no NaN.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct FloatInterval {
    low: f64,
    high: f64,
}

impl FloatInterval {
    const ALL: FloatInterval = FloatInterval { low: f64::NEG_INFINITY, high: f64::INFINITY };

    /// The interval from the smallest to the largest of some numbers, unless one is NaN.
    pub fn of(numbers: impl IntoIterator<Item = f64>) -> Option<FloatInterval> {
        let mut numbers = numbers.into_iter();
        let first = numbers.next()?;
        let first = (!first.is_nan()).then_some(FloatInterval { low: first, high: first })?;
        numbers.try_fold(first, |all, x| {
            (!x.is_nan()).then(|| FloatInterval { low: all.low.min(x), high: all.high.max(x) })
        })
    }

    /// The interval of its numbers rounded to binary32.
    pub fn rounded_to_single(self) -> FloatInterval {
        FloatInterval { low: f64::from(self.low as f32), high: f64::from(self.high as f32) }
    }

    /// The integers toward 0 of the bounds, those beyond a word cut off.
    pub fn whole(self) -> (i64, i64) {
        (self.low as i64, self.high as i64)
    }

    /// The interval of all numbers of two.
    pub fn union(self, other: FloatInterval) -> FloatInterval {
        FloatInterval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    fn is_finite(self) -> bool {
        self.low.is_finite() && self.high.is_finite()
    }

    fn has_zero(self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }

    /// The interval of an operation on one number.
    pub fn unary(self, kind: Unary) -> Option<FloatInterval> {
        let both = |f: fn(f64) -> f64| FloatInterval::of([f(self.low), f(self.high)]);
        match kind {
            Unary::Neg => both(|x| -x),
            Unary::Floor => both(f64::floor),
            Unary::Ceil => both(f64::ceil),
            Unary::Trunc => both(f64::trunc),
            Unary::Sqrt if self.low >= 0.0 => both(f64::sqrt),
            _ => None,
        }
    }

    /// The interval of an operation on two numbers.
    pub fn binary(self, kind: Binary, other: FloatInterval) -> Option<FloatInterval> {
        let (a, b) = (self, other);
        let each = |f: fn(f64, f64) -> f64| {
            FloatInterval::of([f(a.low, b.low), f(a.low, b.high), f(a.high, b.low), f(a.high, b.high)])
        };
        match kind {
            Binary::Add => each(|a, b| a + b),
            Binary::Sub => each(|a, b| a - b),
            // 0 times an infinity may be in between.
            Binary::Mul if a.is_finite() && b.is_finite() => each(|a, b| a * b),
            Binary::DivFloat if a.is_finite() && b.is_finite() && !b.has_zero() => each(|a, b| a / b),
            Binary::Min => each(f64::min),
            Binary::Max => each(f64::max),
            _ => None,
        }
    }
}

/// The answer to a comparison, if it is the same for all numbers of two intervals.
pub(super) fn decided(kind: Compare, a: FloatInterval, b: FloatInterval) -> Option<bool> {
    let known = |yes: bool, no: bool| (yes || no).then_some(yes);
    match kind {
        Compare::Lt | Compare::LtUnsigned => known(a.high < b.low, a.low >= b.high),
        Compare::Le | Compare::LeUnsigned => known(a.high <= b.low, a.low > b.high),
        Compare::Eq | Compare::Ne => {
            let apart = a.high < b.low || b.high < a.low;
            let equal = a.low == a.high && b.low == b.high && a.low == b.low;
            known(equal, apart).map(|equal| equal == (kind == Compare::Eq))
        }
    }
}

/// The intervals of two numbers of which a comparison holds or does not, as far as something is
/// known of them then. What is known of a number before says that it is not NaN, and so does a
/// comparison that holds.
pub(super) fn narrowed(
    kind: Compare,
    holds: bool,
    a: Option<FloatInterval>,
    b: Option<FloatInterval>,
) -> (Option<FloatInterval>, Option<FloatInterval>) {
    let at_most = |a: FloatInterval, b: FloatInterval| {
        let low = FloatInterval { high: a.high.min(b.high), ..a };
        let high = FloatInterval { low: b.low.max(a.low), ..b };
        // Where nothing is left the statements are not reached.
        match low.low <= low.high && high.low <= high.high {
            true => (Some(low), Some(high)),
            false => (Some(a), Some(b)),
        }
    };
    let swapped = |(b, a)| (a, b);
    match (kind, holds) {
        (Compare::Lt | Compare::LtUnsigned | Compare::Le | Compare::LeUnsigned, true) => {
            at_most(a.unwrap_or(FloatInterval::ALL), b.unwrap_or(FloatInterval::ALL))
        }
        (Compare::Lt | Compare::LtUnsigned | Compare::Le | Compare::LeUnsigned, false) => match (a, b) {
            (Some(a), Some(b)) => swapped(at_most(b, a)),
            both => both,
        },
        (Compare::Eq, true) | (Compare::Ne, false) => {
            let (a, b) = (a.unwrap_or(FloatInterval::ALL), b.unwrap_or(FloatInterval::ALL));
            let both = FloatInterval { low: a.low.max(b.low), high: a.high.min(b.high) };
            if both.low <= both.high { (Some(both), Some(both)) } else { (Some(a), Some(b)) }
        }
        _ => (a, b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [f64; 11] =
        [f64::NEG_INFINITY, -1e308, -2.5, -1.0, -0.0, 0.0, 5e-324, 0.1, 3.7, 1e308, f64::INFINITY];

    /// All intervals between the numbers, each with the numbers in it.
    fn intervals() -> impl Iterator<Item = (FloatInterval, &'static [f64])> {
        let ends = (0..NUMBERS.len()).flat_map(|low| (low..NUMBERS.len()).map(move |high| (low, high)));
        ends.map(|(low, high)| {
            (FloatInterval { low: NUMBERS[low], high: NUMBERS[high] }, &NUMBERS[low..=high])
        })
    }

    fn contains(interval: FloatInterval, x: f64) -> bool {
        interval.low <= x && x <= interval.high
    }

    #[test]
    fn results_are_in_the_interval() {
        type Meaning = fn(f64, f64) -> f64;
        let kinds: [(Binary, Meaning); 6] = [
            (Binary::Add, |a, b| a + b),
            (Binary::Sub, |a, b| a - b),
            (Binary::Mul, |a, b| a * b),
            (Binary::DivFloat, |a, b| a / b),
            (Binary::Min, f64::min),
            (Binary::Max, f64::max),
        ];
        let mut known = 0;
        for (a, xs) in intervals() {
            for (b, ys) in intervals() {
                for (kind, meaning) in kinds {
                    let Some(result) = a.binary(kind, b) else { continue };
                    known += 1;
                    for (x, y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (*x, *y))) {
                        let value = meaning(x, y);
                        assert!(contains(result, value), "{kind:?} {x} {y}: {value} is not in {result:?}");
                    }
                }
            }
            for (kind, meaning) in [
                (Unary::Neg, (|x| -x) as fn(f64) -> f64),
                (Unary::Floor, f64::floor),
                (Unary::Ceil, f64::ceil),
                (Unary::Trunc, f64::trunc),
                (Unary::Sqrt, f64::sqrt),
            ] {
                let Some(result) = a.unary(kind) else { continue };
                assert!(xs.iter().all(|x| contains(result, meaning(*x))), "{kind:?} {a:?} {result:?}");
            }
            let (low, high) = a.whole();
            assert!(xs.iter().all(|x| (low..=high).contains(&(*x as i64))));
        }
        assert!(known > 10_000, "{known}");
    }

    #[test]
    fn comparisons_hold_for_all_numbers_of_the_intervals() {
        let compare = |kind, x: f64, y: f64| match kind {
            Compare::Eq => x == y,
            Compare::Ne => x != y,
            Compare::Lt | Compare::LtUnsigned => x < y,
            Compare::Le | Compare::LeUnsigned => x <= y,
        };
        // An operand of which nothing is known may be NaN.
        let unknown: Vec<f64> = NUMBERS.into_iter().chain([f64::NAN]).collect();
        let operands = || intervals().map(|(a, xs)| (Some(a), xs.to_vec())).chain([(None, unknown.clone())]);
        for ((a, xs), (b, ys)) in operands().flat_map(|a| operands().map(move |b| (a.clone(), b))) {
            for kind in [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le] {
                let answer = a.zip(b).and_then(|(a, b)| decided(kind, a, b));
                for (x, y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (*x, *y))) {
                    let holds = compare(kind, x, y);
                    assert!(answer.is_none_or(|answer| answer == holds), "{kind:?} {x} {y}");
                    let (a, b) = narrowed(kind, holds, a, b);
                    assert!(a.is_none_or(|a| contains(a, x)) && b.is_none_or(|b| contains(b, y)));
                }
            }
        }
    }
}
