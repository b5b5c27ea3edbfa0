//! ISO 8601 dates as rules and bounds compare them (verification.md, sections 10 and 27).

/// A point in time. Compares exactly, whatever the length of its fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Date<'t> {
    /// Seconds from 1970-01-01T00:00:00 UTC, none of them a leap second: 23:59:60 is the next midnight.
    seconds: i64,
    /// The digits after the point, without trailing zeros: as texts they stand in the order of their values.
    fraction: &'t str,
}

impl<'t> Date<'t> {
    /// Reads `YYYY-MM-DD` (midnight UTC) or `YYYY-MM-DDTHH:MM[:SS[.fraction]]` with `Z`, an offset `±HH:MM` or
    /// nothing (UTC). The year 0000 is unreadable, and so is second 60 except at 23:59 UTC.
    pub(crate) fn parse(text: &'t str) -> Option<Date<'t>> {
        let bytes = text.as_bytes();
        let (day, rest) = bytes.split_first_chunk::<10>()?;
        let [y0, y1, y2, y3, b'-', m0, m1, b'-', d0, d1] = *day else {
            return None;
        };
        let year = two(y0, y1)? * 100 + two(y2, y3)?;
        let days = days_from_epoch(year, two(m0, m1)?, two(d0, d1)?)?;
        let midnight = Date {
            seconds: days * 86_400,
            fraction: "",
        };
        if rest.is_empty() {
            return Some(midnight);
        }
        let (clock, rest) = rest.split_first_chunk::<6>()?;
        let [b'T', h0, h1, b':', n0, n1] = *clock else {
            return None;
        };
        let (hour, minute) = (within(two(h0, h1)?, 23)?, within(two(n0, n1)?, 59)?);
        let (second, rest) = match *rest {
            [b':', s0, s1, ref rest @ ..] => (Some(within(two(s0, s1)?, 60)?), rest),
            _ => (None, rest),
        };
        let (fraction, rest) = match rest {
            [b'.', rest @ ..] if second.is_some() => {
                let length = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let start = text.len() - rest.len();
                if length == 0 {
                    return None;
                }
                (&text[start..start + length], &rest[length..])
            }
            _ => ("", rest),
        };
        let minute = hour * 60 + minute - offset_minutes(rest)?;
        let second = second.unwrap_or(0);
        if second == 60 && minute.rem_euclid(24 * 60) != 24 * 60 - 1 {
            return None;
        }
        Some(Date {
            seconds: midnight.seconds + minute * 60 + second,
            fraction: fraction.trim_end_matches('0'),
        })
    }
}

fn two(tens: u8, ones: u8) -> Option<i64> {
    let both = tens.is_ascii_digit() && ones.is_ascii_digit();
    both.then(|| i64::from(tens - b'0') * 10 + i64::from(ones - b'0'))
}

fn within(value: i64, max: i64) -> Option<i64> {
    (value <= max).then_some(value)
}

fn offset_minutes(text: &[u8]) -> Option<i64> {
    match *text {
        [] | [b'Z'] => Some(0),
        [sign @ (b'+' | b'-'), h0, h1, b':', m0, m1] => {
            let minutes = within(two(h0, h1)?, 23)? * 60 + within(two(m0, m1)?, 59)?;
            Some(if sign == b'-' { -minutes } else { minutes })
        }
        _ => None,
    }
}

/// Days from 1970-01-01 in the Gregorian calendar.
fn days_from_epoch(year: i64, month: i64, day: i64) -> Option<i64> {
    /// Days of the year before each month, and of the whole year.
    const BEFORE: [i64; 13] = [0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334, 365];
    if year == 0 || !(1..=12).contains(&month) || day == 0 {
        return None;
    }
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let leap_day = i64::from(leap && month == 2);
    let passed_leap_day = i64::from(leap && month > 2);
    let month = usize::try_from(month).ok()?;
    within(day, BEFORE[month] - BEFORE[month - 1] + leap_day)?;
    let past = year - 1;
    let days =
        past * 365 + past / 4 - past / 100 + past / 400 + BEFORE[month - 1] + passed_leap_day + day - 1;
    Some(days - 719_162)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seconds(text: &str) -> Option<i64> {
        Date::parse(text).map(|date| date.seconds)
    }

    #[test]
    fn dates_are_read_as_points_in_time() {
        let rows = [
            ("1970-01-01", 0),
            ("1970-01-01T00:00Z", 0),
            ("1970-01-01T00:01", 60),
            ("1970-01-01T00:00:01", 1),
            ("1970-01-01T01:00:00+01:00", 0),
            ("1969-12-31T23:30:00-00:30", 0),
            ("1970-01-01T00:00:00-00:00", 0),
            ("2026-10-01T01:01:09Z", 1_790_816_469),
            ("2000-02-29", 951_782_400),
            ("2000-03-01", 951_868_800),
            ("2024-12-31", 1_735_603_200),
            ("2016-12-31T23:59:60Z", 1_483_228_800),
            ("2017-01-01", 1_483_228_800),
            ("2017-01-01T00:59:60+01:00", 1_483_228_800),
            ("2016-12-31T18:59:60-05:00", 1_483_228_800),
            ("2016-12-31T23:59:60", 1_483_228_800),
            ("2026-05-05T23:59:60Z", 1_778_025_600),
            ("1970-01-01T00:00:00+23:59", -86_340),
            ("0001-01-01", -62_135_596_800),
            ("0001-01-01T00:00:00+01:00", -62_135_600_400),
            ("9999-12-31T23:59:59Z", 253_402_300_799),
        ];
        for (text, expected) in rows {
            assert_eq!(seconds(text), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_date_is_unreadable() {
        let rows = [
            "",
            "2026",
            "2026-10",
            "2026-1-01",
            "20261001",
            "2026-10-01 ",
            " 2026-10-01",
            "2026-10-01T",
            "2026-10-01Z",
            "2026-10-01T12",
            "2026-10-01T12Z",
            "2026-10-01 12:00",
            "2026-10-01t12:00:00Z",
            "2026-10-01T12:00:00z",
            "2026-10-01T24:00:00Z",
            "2026-10-01T12:60:00Z",
            "2026-10-01T12:00:61Z",
            "2026-10-01T12:00:60Z",
            "2026-10-01T22:59:60Z",
            "2016-12-31T23:59:60+01:00",
            "2016-12-31T24:59:60+01:00",
            "2026-10-01T12:00:00.",
            "2026-10-01T12:00:00.Z",
            "2026-10-01T12:00:00,5Z",
            "2026-10-01T12:00.5Z",
            "2026-10-01T12:00:00+01",
            "2026-10-01T12:00:00+0100",
            "2026-10-01T12:00:00+24:00",
            "2026-10-01T12:00:00+01:60",
            "2026-10-01T12:00:00 Z",
            "2026-10-01T12:00:00ZZ",
            "2026-10-01T12:00:0Z",
            "0000-01-01",
            "2026-00-01",
            "2026-13-01",
            "2026-01-00",
            "2026-01-32",
            "2026-04-31",
            "2026-02-29",
            "1900-02-29",
            "2026-02-30",
            "-2026-01-01",
            "+002026-01-01",
            "2026-W01-1",
            "2026-001",
            "２０２６-01-01",
            "2026-10-01T12:00:00−01:00",
            "2026-10-01T12:00:00.5é",
            "15:04:05",
        ];
        for text in rows {
            assert_eq!(Date::parse(text), None, "{text}");
        }
    }

    #[test]
    fn points_in_time_compare_exactly() {
        let ordered = [
            "2026-09-30T23:59:59.999999999999999999999",
            "2026-10-01",
            "2026-10-01T00:00:00.0000000000000000000000001Z",
            "2026-10-01T00:00:00.09",
            "2026-10-01T00:00:00.1",
            "2026-10-01T00:00:00.11",
            "2026-10-01T00:00:00.9",
            "2026-10-01T00:00:01",
            "2026-10-01T23:59:60.5Z",
            "2026-10-02T00:00:01Z",
        ];
        assert!(ordered.is_sorted_by(|a, b| Date::parse(a).unwrap() < Date::parse(b).unwrap()));
        let equal = [
            ("2026-10-01", "2026-10-01T00:00:00.000Z"),
            ("2026-10-01T00:00:00.10", "2026-10-01T02:00:00.1+02:00"),
            ("2026-10-01T23:59:60Z", "2026-10-02"),
            ("2026-10-01T23:59:60.25Z", "2026-10-02T00:00:00.25Z"),
        ];
        for (a, b) in equal {
            assert_eq!(Date::parse(a).unwrap(), Date::parse(b).unwrap(), "{a} {b}");
        }
    }
}
