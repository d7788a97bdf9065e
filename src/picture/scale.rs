//! Scales: values to places along an axis, and the round numbers that are written beside it.
//!
//! Computes with halves of bounds, so that a range from one end of the floats to the other has a width.

/// The values between two bounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
}

/// The most numbers beside an axis.
const MOST_TICKS: f64 = 12.0;

impl Scale {
    /// The scale from the least to the greatest of finite values; around one value if all are it.
    pub fn of(values: impl Iterator<Item = f64>) -> Scale {
        let (low, high) =
            values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), v| (low.min(v), high.max(v)));
        if low > high {
            return Scale { low: 0.0, high: 1.0 };
        }
        if low < high {
            return Scale { low, high };
        }
        let around = (low.abs() / 2.0).clamp(0.5, f64::MAX / 4.0);
        Scale { low: (low - around).max(-f64::MAX), high: (high + around).min(f64::MAX) }
    }

    /// A scale with a part of its width more at each end.
    pub fn wider(self, part: f64) -> Scale {
        let more = self.half_width() * 2.0 * part;
        let low = (self.low - more).max(-f64::MAX);
        let high = (self.high + more).min(f64::MAX);
        // Around tiny values nothing is gained.
        if more.is_finite() && low < high { Scale { low, high } } else { self }
    }

    fn half_width(self) -> f64 {
        let half = self.high / 2.0 - self.low / 2.0;
        // Half of the least float is none.
        if half > 0.0 { half } else { f64::MIN_POSITIVE }
    }

    /// Where a value is: 0 at the low end, 1 at the high one.
    pub fn place(self, value: f64) -> f64 {
        ((value / 2.0 - self.low / 2.0) / self.half_width()).clamp(0.0, 1.0)
    }

    /// The value at a place.
    pub fn value(self, place: f64) -> f64 {
        if place >= 1.0 {
            return self.high;
        }
        (self.low / 2.0 + self.half_width() * place) * 2.0
    }

    /// Round numbers along the scale, some `wanted` of them, as text.
    pub fn ticks(self, wanted: f64) -> Vec<(f64, String)> {
        let rough = self.half_width() * 2.0 / wanted;
        let rough = if rough.is_finite() { rough } else { f64::MAX / wanted };
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= 0.75 * rough);
        let (first, last) = match step.filter(|step| step.is_normal()) {
            Some(step) => ((self.low / step).ceil(), (self.high / step).floor()),
            None => (0.0, f64::MAX),
        };
        let step = step.unwrap_or(power);
        // Neighbours that no float divides, or bounds that are very far out.
        if last - first > MOST_TICKS || last < first || first.abs() > 1e12 || last.abs() > 1e12 {
            return [self.low, self.high].map(|v| (v, format!("{v:.6e}"))).to_vec();
        }
        let count = (last - first) as usize;
        let values = (0..=count).map(|i| (first + i as f64) * step);
        values.map(|v| (v, tick_text(v, step))).collect()
    }
}

/// A multiple of a step as people write it.
fn tick_text(value: f64, step: f64) -> String {
    let size = value.abs().max(step);
    if size >= 1e6 || step < 1e-4 {
        if value == 0.0 {
            return "0".to_string();
        }
        let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 15.0) as usize;
        return format!("{value:.digits$e}");
    }
    let digits = (-step.log10().floor()).clamp(0.0, 15.0) as usize;
    let text = format!("{value:.digits$}");
    if text.trim_start_matches('-').chars().all(|c| matches!(c, '0' | '.')) {
        text.trim_start_matches('-').to_string()
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(low: f64, high: f64) -> Vec<String> {
        Scale { low, high }.ticks(5.0).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn round_numbers() {
        assert_eq!(texts(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-3.0, 12.0), ["0", "5", "10"]);
        assert_eq!(texts(0.0, 2e7), ["0", "5e6", "1.0e7", "1.5e7", "2.0e7"]);
        assert_eq!(texts(-0.3, 0.3), ["-0.2", "-0.1", "0.0", "0.1", "0.2"]);
    }

    #[test]
    fn every_range_has_ticks_inside() {
        for (low, high) in [
            (-f64::MAX, f64::MAX),
            (0.0, 5e-324),
            (1e17, 1e17 + 16.0),
            (1.0, 1.0 + f64::EPSILON),
            (-1e-310, 1e-310),
            (f64::MAX / 2.0, f64::MAX),
        ] {
            let scale = Scale { low, high };
            let ticks = scale.ticks(5.0);
            assert!((1..20).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            for (value, _) in ticks {
                assert!((low..=high).contains(&value), "{value} in {low} {high}");
                assert!((0.0..=1.0).contains(&scale.place(value)));
            }
        }
    }
}
