//! Primitives on times: texts of formats, and time zones.
//!
//! Takes days since 1970-01-01, nanoseconds and offsets from UTC; gives texts, and what texts say.
//! Calendar arithmetic is the library's own. Zones are those of the database that is built in (its
//! version is in the book): a function gives the same on every machine.

use crate::calendar::{date_of_day, day_of_date};
use crate::value::{Buffer, Value};
use jiff::Timestamp;
use jiff::civil::{Date, DateTime, Time};
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone, TimeZoneDatabase};
use std::sync::OnceLock;

/// The nanoseconds of a day.
const DAY_NANOSECONDS: i64 = 86_400_000_000_000;

/// The answer for a zone that is not in the database: no offset.
pub(super) const NO_ZONE: i64 = 100_000;

/// Returns the zone of a name.
fn zone(name: &str) -> Option<TimeZone> {
    static ZONES: OnceLock<TimeZoneDatabase> = OnceLock::new();
    ZONES.get_or_init(TimeZoneDatabase::bundled).get(name).ok()
}

/// Returns the time of nanoseconds of a day.
fn time(nanoseconds: i64) -> Option<Time> {
    let seconds = nanoseconds.checked_div(1_000_000_000)?;
    let [hour, minute, second] = [seconds / 3600, seconds / 60 % 60, seconds % 60];
    let small = |n: i64| i8::try_from(n).ok();
    let rest = i32::try_from(nanoseconds % 1_000_000_000).ok()?;
    Time::new(small(hour)?, small(minute)?, small(second)?, rest).ok()
}

/// Returns the nanoseconds of a day of a time.
fn nanoseconds_of(time: Time) -> i64 {
    let seconds = i64::from(time.hour()) * 3600 + i64::from(time.minute()) * 60 + i64::from(time.second());
    seconds * 1_000_000_000 + i64::from(time.subsec_nanosecond())
}

/// Returns a day, the time of the day, an offset and a zone as a format says.
///
/// # Errors
///
/// A description of what is wrong with the format or with the day.
pub(super) fn format_time(
    format: &str,
    day: i64,
    nanoseconds: i64,
    offset: i64,
    name: &str,
) -> Result<String, String> {
    let outside = || Err("the year is not one from -9999 to 9999".to_string());
    let (Some(date), Some(time)) = (date_of_day(day), time(nanoseconds)) else { return outside() };
    let shown = DateTime::from_parts(date, time);
    let offset = i32::try_from(offset).ok().and_then(|seconds| Offset::from_seconds(seconds).ok());
    let mut broken = BrokenDownTime::from(shown);
    if let Some(offset) = offset {
        broken.set_offset(Some(offset));
        if let Some(zone) = zone(name).filter(|_| !name.is_empty()) {
            let Ok(timestamp) = offset.to_timestamp(shown) else { return outside() };
            broken = BrokenDownTime::from(&timestamp.to_zoned_datetime(zone));
        }
    }
    broken.to_string(format).map_err(|error| one_line(&error.to_string()))
}

/// Parses a text of a format, in which `%z` is an offset with or without a colon, or `Z` for UTC.
fn parsed(format: &str, text: &str) -> Option<BrokenDownTime> {
    let own = strtime::parse(format, text);
    if !format.contains("%z") {
        return own.ok();
    }
    let with_colon = |text: &str| strtime::parse(format.replace("%z", "%:z"), text);
    let of_utc = || Some(format!("{}+00:00", text.strip_suffix(['Z', 'z'])?));
    own.or_else(|_| with_colon(text)).ok().or_else(|| with_colon(&of_utc()?).ok())
}

/// Returns what a text of a format says: day, nanoseconds and offset, each behind 1 if it is
/// stated; nothing if the text is none.
pub(super) fn parse_time(format: &str, text: &str) -> Vec<i64> {
    let Some(found) = parsed(format, text) else { return Vec::new() };
    let timestamp = found.timestamp();
    if let Some(timestamp) = timestamp {
        let shown = Offset::UTC.to_datetime(timestamp);
        return vec![1, day_of_date(shown.date()), 1, nanoseconds_of(shown.time()), 1, 0];
    }
    let zone_offset = |date: Date, time: Time| {
        let zone = zone(found.iana_time_zone()?)?;
        let ambiguous = zone.to_ambiguous_timestamp(DateTime::from_parts(date, time));
        let timestamp = ambiguous.compatible().ok()?;
        Some(zone.to_offset(timestamp))
    };
    // Parts that contradict each other, such as a date and another day of the week, are no date.
    let states_date = found.year().is_some() || found.iso_week_year().is_some();
    let states_time = found.hour().is_some();
    let (date, time) = (found.to_date().ok(), found.to_time().ok());
    if (states_date && date.is_none()) || (states_time && time.is_none()) {
        return Vec::new();
    }
    let time = time.filter(|_| states_time);
    let offset = found.offset().or_else(|| zone_offset(date?, time?));
    let stated = |value: Option<i64>| [i64::from(value.is_some()), value.unwrap_or(0)];
    let parts =
        [date.map(day_of_date), time.map(nanoseconds_of), offset.map(|offset| i64::from(offset.seconds()))];
    parts.into_iter().flat_map(stated).collect()
}

/// Returns the offset of a zone in seconds at an instant; [`NO_ZONE`] if there is no such zone.
pub(super) fn zone_offset(name: &str, instant: i64) -> i64 {
    let Some(zone) = zone(name) else { return NO_ZONE };
    let Ok(timestamp) = Timestamp::from_nanosecond(i128::from(instant)) else { return 0 };
    i64::from(zone.to_offset(timestamp).seconds())
}

/// Returns the number of instants at which a zone shows a day and nanoseconds of the day, and these
/// instants: two where clocks are set back. Where clocks are set forward the number is 0, and the
/// instant is as far behind the jump as the time is behind the moment before. Returns -1 for an
/// unknown zone, nothing for years that zones do not have.
pub(super) fn zone_times(name: &str, day: i64, nanoseconds: i64) -> Vec<i64> {
    let Some(zone) = zone(name) else { return vec![-1] };
    let (Some(date), Some(time)) = (date_of_day(day), time(nanoseconds)) else { return Vec::new() };
    let instant = |offset: Offset| {
        let local = i128::from(day) * i128::from(DAY_NANOSECONDS) + i128::from(nanoseconds);
        i64::try_from(local - i128::from(offset.seconds()) * 1_000_000_000).ok()
    };
    let (count, offsets) = match zone.to_ambiguous_timestamp(DateTime::from_parts(date, time)).offset() {
        AmbiguousOffset::Unambiguous { offset } => (1, vec![offset]),
        AmbiguousOffset::Gap { before, .. } => (0, vec![before]),
        AmbiguousOffset::Fold { before, after } => (2, vec![before, after]),
    };
    let instants: Option<Vec<i64>> = offsets.into_iter().map(instant).collect();
    instants.map_or_else(Vec::new, |instants| std::iter::once(count).chain(instants).collect())
}

/// Returns a vector of integers of unknown length.
pub(super) fn int_vector(numbers: Vec<i64>) -> Value {
    let buffer = Buffer::Word(numbers.into_iter().map(|number| number as u64).collect());
    super::existential_prims::sized_vector(buffer)
}

/// Returns a text in one line.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_have_gaps_and_folds() {
        let day = day_of_date(Date::constant(2024, 3, 31));
        let hour = 3_600_000_000_000;
        // An hour behind two is three, which clocks show right after the jump.
        let after_jump = zone_times("Europe/Berlin", day, 3 * hour);
        assert_eq!(after_jump[0], 1);
        assert_eq!(zone_times("Europe/Berlin", day, 2 * hour), [0, after_jump[1]]);
        let day = day_of_date(Date::constant(2024, 10, 27));
        let [2, first, second] = zone_times("Europe/Berlin", day, 2 * hour)[..] else {
            panic!("two instants")
        };
        assert_eq!(second - first, hour);
        assert_eq!(zone_times("Nowhere/Here", day, 0), [-1]);
        assert_eq!(zone_offset("Europe/Berlin", first), 7200);
        assert_eq!(zone_offset("Nowhere", 0), NO_ZONE);
    }

    #[test]
    fn texts_say_what_is_stated() {
        assert_eq!(parse_time("%Y-%m-%d", "1970-01-03"), [1, 2, 0, 0, 0, 0]);
        assert_eq!(parse_time("%H:%M", "01:30"), [0, 0, 1, 5_400_000_000_000, 0, 0]);
        assert_eq!(parse_time("%Y-%m-%d %H:%M %z", "1970-01-01 00:00 +0100"), [1, 0, 1, 0, 1, 3600]);
        assert_eq!(parse_time("%H:%M%z", "00:00+01:30"), [0, 0, 1, 0, 1, 5400]);
        assert_eq!(parse_time("%Y-%m-%dT%H:%M:%S%z", "1970-01-01T00:00:00Z"), [1, 0, 1, 0, 1, 0]);
        assert_eq!(parse_time("%Y-%m-%d%z", "1970-01-01"), [] as [i64; 0]);
        assert_eq!(parse_time("%s", "86400"), [1, 1, 1, 0, 1, 0]);
        for (format, text) in
            [("%Y-%m-%d", "2023-02-29"), ("%Y-%m-%d", "x"), ("%Q%", ""), ("%A %Y-%m-%d", "Monday 1970-01-01")]
        {
            assert_eq!(parse_time(format, text), [] as [i64; 0], "{format} {text}");
        }
    }
}
