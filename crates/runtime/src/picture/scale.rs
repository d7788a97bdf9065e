//! Scales of axes, and round numbers as their ticks.
//!
//! Computes with halves of bounds, so that the range of all finite floats has a width.

/// A linear scale between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    low: f64,
    high: f64,
}

/// The largest number of ticks.
const MAX_TICKS: f64 = 12.0;
/// The relative width below which ticks are written as differences from a base: the full numbers
/// would be too long.
const MIN_RELATIVE_WIDTH: f64 = 1e-5;

/// The ticks of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Ticks {
    /// Values with their texts.
    pub labels: Vec<(f64, String)>,
    /// The number that the texts are relative to, if they are differences.
    pub base: Option<String>,
}

impl Ticks {
    /// Returns the name of the axis, with the base of the ticks.
    pub fn name(&self, axis: &str) -> String {
        match (&self.base, axis) {
            (None, axis) => axis.to_string(),
            (Some(base), "") => format!("{base} + …"),
            (Some(base), axis) => format!("{axis}: {base} + …"),
        }
    }
}

impl Scale {
    /// Returns the scale from the least to the greatest of finite values; around the value if all
    /// are equal.
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

    /// Returns the scale extended at both ends by a part of its width. With `ground`, an end at 0
    /// stays.
    pub fn widened(self, part: f64, ground: bool) -> Scale {
        let more = self.half_width() * 2.0 * part;
        let stays = |end: f64| ground && end == 0.0;
        let low = if stays(self.low) { self.low } else { (self.low - more).max(-f64::MAX) };
        let high = if stays(self.high) { self.high } else { (self.high + more).min(f64::MAX) };
        // The width of tiny scales underflows: they stay.
        if more.is_finite() && low < high { Scale { low, high } } else { self }
    }

    /// Returns half the width of the scale, at least the least normal float.
    fn half_width(self) -> f64 {
        let half = self.high / 2.0 - self.low / 2.0;
        // Half of the least positive float underflows.
        if half > 0.0 { half } else { f64::MIN_POSITIVE }
    }

    /// Returns the position of a value: 0 at the low end, 1 at the high end.
    pub fn position(self, value: f64) -> f64 {
        ((value / 2.0 - self.low / 2.0) / self.half_width()).clamp(0.0, 1.0)
    }

    /// Returns the value at a position.
    pub fn value(self, place: f64) -> f64 {
        if place >= 1.0 {
            return self.high;
        }
        (self.low / 2.0 + self.half_width() * place) * 2.0
    }

    /// Returns about `wanted` ticks at round numbers.
    pub fn ticks(self, wanted: f64) -> Ticks {
        let Some(base) = self.base() else { return Ticks { labels: self.round_ticks(wanted), base: None } };
        // Differences of close numbers are exact (Sterbenz 1974).
        let apart = Scale { low: self.low - base, high: self.high - base };
        let mut labels: Vec<(f64, String)> =
            apart.round_ticks(wanted).into_iter().map(|(value, text)| (base + value, text)).collect();
        // Between adjacent floats there is no round number.
        let inside = |value: f64| (self.low..=self.high).contains(&value);
        if !labels.iter().all(|(value, _)| inside(*value))
            || labels.windows(2).any(|two| two[0].0 == two[1].0)
        {
            labels = [self.low, self.high].map(|end| (end, short_number(end - base))).to_vec();
        }
        Ticks { labels, base: Some(short_number(base)) }
    }

    /// Returns about `wanted` ticks of a scale of decimal logarithms, at round numbers: powers of
    /// ten, also 2 and 5 times these if there are few, and otherwise as on a linear scale. The
    /// values of ticks are logarithms, their texts are numbers.
    pub fn log_ticks(self, wanted: f64) -> Ticks {
        let (first, last) = (self.low.ceil() as i32, self.high.floor() as i32);
        let powers = |factors: &'static [u8], step: usize| -> Vec<(f64, String)> {
            let exponents = (first - 1..=last).rev().step_by(step).flat_map(move |exponent| {
                // A decimal that is read is exact where a power that is computed is not.
                factors.iter().filter_map(move |factor| format!("{factor}e{exponent}").parse::<f64>().ok())
            });
            let mut ticks: Vec<(f64, String)> =
                exponents.map(|value| (value.log10(), short_number(value))).collect();
            ticks.retain(|(place, _)| (self.low..=self.high).contains(place));
            ticks.sort_by(|a, b| a.0.total_cmp(&b.0));
            ticks
        };
        let decades = (last - first + 1).max(0) as f64;
        let step = (decades / wanted.max(1.0) / 1.5).ceil().max(1.0) as usize;
        let mut labels = powers(&[1], step);
        if labels.len() < 3 {
            labels = powers(&[1, 2, 5], 1);
        }
        if labels.len() < 3 {
            let numbers = Scale { low: 10f64.powf(self.low), high: 10f64.powf(self.high) };
            let all = numbers.ticks(wanted);
            if all.base.is_none() {
                labels = all.labels.into_iter().map(|(value, text)| (value.log10(), text)).collect();
                labels.retain(|(place, _)| (self.low..=self.high).contains(place));
            }
        }
        if labels.is_empty() {
            labels = [self.low, self.high].map(|end| (end, short_number(10f64.powf(end)))).to_vec();
        }
        Ticks { labels, base: None }
    }

    /// Returns a short number near values that are close together.
    fn base(self) -> Option<f64> {
        let size = self.low.abs().max(self.high.abs());
        let width = self.half_width() * 2.0;
        if !size.is_normal() || width >= MIN_RELATIVE_WIDTH * size {
            return None;
        }
        let middle = self.low + width / 2.0;
        // The shortest decimal that is as near as the values are to each other.
        let rounded = |digits: usize| format!("{middle:.digits$e}").parse::<f64>().ok();
        (0..=17).filter_map(rounded).find(|base| (base - middle).abs() <= 1.5 * width)
    }

    /// Returns ticks at multiples of a round step; both ends if there is no such step.
    fn round_ticks(self, wanted: f64) -> Vec<(f64, String)> {
        let rough = self.half_width() * 2.0 / wanted;
        let rough = if rough.is_finite() { rough } else { f64::MAX / wanted };
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|n| n * power).into_iter().find(|step| *step >= 0.75 * rough);
        let (first, last) = match step.filter(|step| step.is_normal()) {
            Some(step) => ((self.low / step).ceil(), (self.high / step).floor()),
            None => (0.0, f64::MAX),
        };
        let step = step.unwrap_or(power);
        // Adjacent floats, or bounds of very large magnitude.
        if last - first > MAX_TICKS || last < first || first.abs() > 1e12 || last.abs() > 1e12 {
            return [self.low, self.high].map(|v| (v, short_number(v))).to_vec();
        }
        let count = (last - first) as usize;
        let values = (0..=count).map(|i| (first + i as f64) * step);
        values.map(|v| (v, tick_text(v, step))).collect()
    }
}

/// Returns a number with few digits.
fn short_number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e6).contains(&value.abs()) {
        return scientific(value, 6);
    }
    format!("{value}")
}

/// Returns a number with at most `places` decimals and a power of ten.
fn scientific(value: f64, places: usize) -> String {
    let text = format!("{value:.places$e}");
    let (digits, power) = text.split_once('e').unwrap_or((&text, "0"));
    let digits =
        if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits };
    format!("{digits}e{power}")
}

/// Returns a multiple of a step as text.
fn tick_text(value: f64, step: f64) -> String {
    let size = value.abs().max(step);
    if size >= 1e6 || step < 1e-4 {
        if value == 0.0 {
            return "0".to_string();
        }
        let digits = (size.log10().floor() - step.log10().floor()).clamp(0.0, 15.0) as usize;
        return scientific(value, digits);
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
        let ticks = Scale { low, high }.ticks(5.0);
        ticks.base.into_iter().chain(ticks.labels.into_iter().map(|(_, text)| text)).collect()
    }

    #[test]
    fn round_numbers() {
        assert_eq!(texts(0.0, 1.0), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(texts(-3.0, 12.0), ["0", "5", "10"]);
        assert_eq!(texts(0.0, 2e7), ["0", "5e6", "1e7", "1.5e7", "2e7"]);
        assert_eq!(texts(-0.3, 0.3), ["-0.2", "-0.1", "0.0", "0.1", "0.2"]);
    }

    #[test]
    fn logarithms() {
        let texts = |low: f64, high: f64| {
            let scale = Scale { low: low.log10(), high: high.log10() };
            let ticks = scale.log_ticks(5.0).labels;
            for (place, _) in &ticks {
                assert!((0.0..=1.0).contains(&scale.position(*place)));
            }
            ticks.into_iter().map(|(_, text)| text).collect::<Vec<_>>()
        };
        assert_eq!(texts(1.0, 1000.0), ["1", "10", "100", "1000"]);
        assert_eq!(texts(0.5, 30.0), ["0.5", "1", "2", "5", "10", "20"]);
        assert_eq!(texts(1e-12, 1e12), ["1e-12", "1e-8", "0.0001", "1", "10000", "1e8", "1e12"]);
        assert_eq!(texts(2.1, 4.4), ["2.5", "3.0", "3.5", "4.0"]);
        assert_eq!(texts(3.0, 3.0 + 1e-12).len(), 2);
        assert!(!texts(f64::MIN_POSITIVE, f64::MAX).is_empty());
        assert!(!texts(5e-324, 1e-320).is_empty());
    }

    #[test]
    fn very_large_and_very_small_numbers() {
        assert_eq!(texts(0.0, 1e-300), ["0", "2e-301", "4e-301", "6e-301", "8e-301", "1e-300"]);
        assert_eq!(texts(0.0, 1e300), ["0", "2e299", "4e299", "6e299", "8e299", "1e300"]);
        assert_eq!(texts(-1e300, 1e300), ["-1e300", "-5e299", "0", "5e299", "1e300"]);
    }

    #[test]
    fn numbers_that_are_close_together_are_told_apart() {
        assert_eq!(texts(1.0 - 1e-12, 1.0 + 1e-12), ["1", "-5e-13", "0", "5e-13", "1e-12"]);
        assert_eq!(texts(1e17, 1e17 + 64.0), ["1e17", "0", "64"]);
        let low = -7.0 - 2f64.powi(-20);
        assert_eq!(texts(low, -7.0), ["-7", "-8e-7", "-6e-7", "-4e-7", "-2e-7", "0"]);
        assert_eq!(texts(1.0, 1.0 + f64::EPSILON), ["1", "0", "2.220446e-16"]);
        let ticks = Scale { low: 1.0, high: 1.0 + 1e-9 }.ticks(5.0);
        assert_eq!((ticks.name(""), ticks.name("time")), ("1 + …".to_string(), "time: 1 + …".to_string()));
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
            let ticks = scale.ticks(5.0).labels;
            assert!((1..20).contains(&ticks.len()), "{low} {high}: {ticks:?}");
            for (value, _) in ticks {
                assert!((low..=high).contains(&value), "{value} in {low} {high}");
                assert!((0.0..=1.0).contains(&scale.position(value)));
            }
        }
    }
}
