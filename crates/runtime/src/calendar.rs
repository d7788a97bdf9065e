//! Days as numbers and as texts.
//!
//! A day is the number of days since 1970-01-01 of the Gregorian calendar, before 1582 too, as the
//! type `date` of the library holds it. Texts have the years from -9999 to 9999.

use jiff::SignedDuration;
use jiff::civil::Date;

const EPOCH: Date = Date::constant(1970, 1, 1);

/// Returns the date of a day; `None` outside the years that texts have.
pub fn date_of_day(day: i64) -> Option<Date> {
    let hours = day.checked_mul(24)?;
    EPOCH.checked_add(SignedDuration::from_hours(hours)).ok()
}

/// Returns the day of a date.
pub fn day_of_date(date: Date) -> i64 {
    date.duration_since(EPOCH).as_hours() / 24
}

/// Returns the day of a text such as `2024-02-29`; `None` for any other text.
pub fn parse_day(text: &str) -> Option<i64> {
    let (sign, digits) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let parts: Vec<&str> = digits.split('-').collect();
    let [year, month, day] = parts[..] else { return None };
    let is_number = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    if (year.len(), month.len(), day.len()) != (4, 2, 2) || ![year, month, day].into_iter().all(is_number) {
        return None;
    }
    let date = Date::new(sign * year.parse::<i16>().ok()?, month.parse().ok()?, day.parse().ok()?);
    date.ok().map(day_of_date)
}

/// Returns the text of a day, which [`parse_day`] reads; `None` outside the years that texts have.
pub fn day_text(day: i64) -> Option<String> {
    let date = date_of_day(day)?;
    let sign = if date.year() < 0 { "-" } else { "" };
    Some(format!("{sign}{:04}-{:02}-{:02}", date.year().unsigned_abs(), date.month(), date.day()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_and_dates_are_inverse() {
        for day in [-719_162, -1, 0, 59, 60, 19_782, 2_932_896] {
            assert_eq!(date_of_day(day).map(day_of_date), Some(day));
            assert_eq!(day_text(day).and_then(|text| parse_day(&text)), Some(day));
        }
        assert_eq!(date_of_day(0), Some(EPOCH));
        assert_eq!((date_of_day(i64::MAX), day_text(i64::MIN)), (None, None));
    }

    #[test]
    fn texts_are_whole_dates() {
        assert_eq!(parse_day("2024-02-29"), Some(19_782));
        assert_eq!(day_text(parse_day("-0044-03-15").unwrap()).as_deref(), Some("-0044-03-15"));
        for text in [
            "2023-02-29",
            "2024-2-9",
            "20240229",
            "2024-02-29T10:00",
            " 2024-02-29",
            "2024-060",
            "+2024-02-29",
            "--024-02-29",
            "",
        ] {
            assert_eq!(parse_day(text), None, "{text}");
        }
    }
}
