//! Intervals of integers, for [`value_ranges`](super::value_ranges): interval arithmetic (Moore,
//! *Interval analysis*, 1966) on signed numbers of 64 bits, and what comparisons say of intervals.

use super::super::{Binary, Compare};

/// All numbers from the first to the last.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Interval {
    /// The first.
    pub low: i64,
    /// The last.
    pub high: i64,
}

impl Interval {
    /// All numbers of 64 bits.
    pub const ALL: Interval = Interval { low: i64::MIN, high: i64::MAX };

    /// One number.
    pub fn exactly(n: i64) -> Interval {
        Interval { low: n, high: n }
    }

    /// The interval of these numbers, if none is beyond a word.
    pub fn of(numbers: impl IntoIterator<Item = i128>) -> Interval {
        let (low, high) = numbers.into_iter().fold((i128::MAX, i128::MIN), |(l, h), n| (l.min(n), h.max(n)));
        match (i64::try_from(low), i64::try_from(high)) {
            (Ok(low), Ok(high)) => Interval { low, high },
            _ => Interval::ALL,
        }
    }

    /// Returns true if no number is negative.
    pub fn is_natural(self) -> bool {
        self.low >= 0
    }

    /// The smallest interval that has the numbers of both.
    pub fn union(self, other: Interval) -> Interval {
        Interval { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// The numbers in both. `None` if there are none.
    pub fn intersection(self, other: Interval) -> Option<Interval> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Interval { low, high })
    }
}

/// The answer to a comparison, if it is the same for all numbers of two intervals.
pub(super) fn decided(kind: Compare, a: Interval, b: Interval) -> Option<bool> {
    let less = |a: Interval, b: Interval| match () {
        () if a.high < b.low => Some(true),
        () if a.low >= b.high => Some(false),
        () => None,
    };
    match kind {
        Compare::Lt => less(a, b),
        Compare::Le => less(b, a).map(|less| !less),
        Compare::LtUnsigned if a.is_natural() && b.is_natural() => less(a, b),
        Compare::LeUnsigned if a.is_natural() && b.is_natural() => less(b, a).map(|less| !less),
        Compare::LtUnsigned | Compare::LeUnsigned => None,
        Compare::Eq | Compare::Ne => {
            let equal = match () {
                () if a.low == a.high && a == b => Some(true),
                () if a.intersection(b).is_none() => Some(false),
                () => None,
            };
            equal.map(|equal| equal == (kind == Compare::Eq))
        }
    }
}

/// The intervals of two numbers of which a comparison holds or does not; `None` if that cannot be.
pub(super) fn narrowed(kind: Compare, holds: bool, a: Interval, b: Interval) -> Option<(Interval, Interval)> {
    let less = |a: Interval, b: Interval| {
        let a = a.intersection(Interval { low: i64::MIN, high: b.high.checked_sub(1)? })?;
        Some((a, b.intersection(Interval { low: a.low.checked_add(1)?, high: i64::MAX })?))
    };
    let at_most = |a: Interval, b: Interval| {
        let a = a.intersection(Interval { low: i64::MIN, high: b.high })?;
        Some((a, b.intersection(Interval { low: a.low, high: i64::MAX })?))
    };
    let swapped = |(b, a): (Interval, Interval)| (a, b);
    // Below a natural number without sign is natural.
    let unsigned = |a: Interval| match b.is_natural() && holds {
        true => a.intersection(Interval { low: 0, high: i64::MAX }),
        false => None,
    };
    match (kind, holds) {
        (Compare::Lt, true) => less(a, b),
        (Compare::Lt, false) => at_most(b, a).map(swapped),
        (Compare::Le, true) => at_most(a, b),
        (Compare::Le, false) => less(b, a).map(swapped),
        (Compare::LtUnsigned, true) => unsigned(a).map_or(Some((a, b)), |a| less(a, b)),
        (Compare::LeUnsigned, true) => unsigned(a).map_or(Some((a, b)), |a| at_most(a, b)),
        (Compare::Eq, true) | (Compare::Ne, false) => a.intersection(b).map(|both| (both, both)),
        _ => Some((a, b)),
    }
}

/// The indices of a loop whose ends are in these intervals.
pub(super) fn rounds(low: Interval, high: Interval) -> Interval {
    match high.high.checked_sub(1) {
        Some(last) if low.low <= last => Interval { low: low.low, high: last },
        // There is no round.
        _ => Interval::ALL,
    }
}

/// The interval of an operation on two numbers.
pub(super) fn binary(kind: Binary, a: Interval, b: Interval) -> Interval {
    let each = |f: fn(i128, i128) -> i128| {
        let ends = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
        Interval::of(ends.map(|(a, b)| f(i128::from(a), i128::from(b))))
    };
    let natural = a.is_natural() && b.is_natural();
    match kind {
        Binary::Add => each(|a, b| a + b),
        Binary::Sub => each(|a, b| a - b),
        Binary::Mul => each(|a, b| a * b),
        Binary::DivSigned | Binary::DivUnsigned if natural && b.low > 0 => each(|a, b| a / b),
        Binary::RemUnsigned | Binary::RemSigned if natural && b.low > 0 => {
            Interval { low: 0, high: a.high.min(b.high - 1) }
        }
        Binary::RemSigned if b.low > 0 => {
            Interval { low: a.low.max(1 - b.high).min(0), high: a.high.min(b.high - 1).max(0) }
        }
        Binary::And if a.low == a.high && b.low == b.high => Interval::exactly(a.low & b.low),
        Binary::And if natural => Interval { low: 0, high: a.high.min(b.high) },
        Binary::And if a.is_natural() => Interval { low: 0, high: a.high },
        Binary::And if b.is_natural() => Interval { low: 0, high: b.high },
        Binary::Or | Binary::Xor if natural => {
            let bits = 64 - (a.high | b.high).leading_zeros();
            Interval { low: 0, high: ((1u64 << bits) - 1) as i64 }
        }
        Binary::Shr if a.is_natural() && b.low == b.high && (0..64).contains(&b.low) => {
            Interval { low: a.low >> b.low, high: a.high >> b.low }
        }
        _ => Interval::ALL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All intervals of numbers from -4 to 5.
    fn intervals() -> impl Iterator<Item = Interval> {
        (-4..6).flat_map(|low| (low..6).map(move |high| Interval { low, high }))
    }

    fn compare(kind: Compare, a: i64, b: i64) -> bool {
        kind.holds(a as u64, b as u64)
    }

    const COMPARISONS: [Compare; 6] =
        [Compare::Eq, Compare::Ne, Compare::Lt, Compare::Le, Compare::LtUnsigned, Compare::LeUnsigned];

    #[test]
    fn comparisons_hold_for_all_numbers_of_the_intervals() {
        for (a, b) in intervals().flat_map(|a| intervals().map(move |b| (a, b))) {
            for kind in COMPARISONS {
                let pairs = || (a.low..=a.high).flat_map(|x| (b.low..=b.high).map(move |y| (x, y)));
                if let Some(answer) = decided(kind, a, b) {
                    assert!(pairs().all(|(x, y)| compare(kind, x, y) == answer), "{kind:?} {a:?} {b:?}");
                }
                for holds in [true, false] {
                    let narrow = narrowed(kind, holds, a, b);
                    for (x, y) in pairs().filter(|(x, y)| compare(kind, *x, *y) == holds) {
                        let (a, b) = narrow.unwrap_or_else(|| panic!("{kind:?} {holds} {a:?} {b:?}"));
                        assert!((a.low..=a.high).contains(&x) && (b.low..=b.high).contains(&y));
                    }
                }
            }
        }
    }

    #[test]
    fn results_are_in_the_interval() {
        type Meaning = fn(i64, i64) -> Option<i64>;
        let kinds: [(Binary, Meaning); 10] = [
            (Binary::Add, |a, b| Some(a + b)),
            (Binary::Sub, |a, b| Some(a - b)),
            (Binary::Mul, |a, b| Some(a * b)),
            (Binary::DivSigned, |a, b| a.checked_div(b)),
            (Binary::DivUnsigned, |a, b| Some((a as u64).checked_div(b as u64)? as i64)),
            (Binary::RemSigned, |a, b| a.checked_rem(b)),
            (Binary::RemUnsigned, |a, b| Some((a as u64).checked_rem(b as u64)? as i64)),
            (Binary::And, |a, b| Some(a & b)),
            (Binary::Or, |a, b| Some(a | b)),
            (Binary::Xor, |a, b| Some(a ^ b)),
        ];
        for (a, b) in intervals().flat_map(|a| intervals().map(move |b| (a, b))) {
            for (kind, meaning) in kinds {
                let result = binary(kind, a, b);
                for (x, y) in (a.low..=a.high).flat_map(|x| (b.low..=b.high).map(move |y| (x, y))) {
                    let Some(value) = meaning(x, y) else { continue };
                    assert!((result.low..=result.high).contains(&value), "{kind:?} {x} {y} {result:?}");
                }
            }
        }
    }
}
