//! Points in time as the contract writes them. Core has no clock; it is handed these.

use std::fmt;
use std::ops::Range;

/// Microseconds since 1970-01-01T00:00:00 UTC. Displays as `2026-10-01T01:01:09.606993+00:00`: always six
/// fractional digits (section 18).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

const MICROS_PER_DAY: i64 = 86_400_000_000;

impl Timestamp {
    /// The timestamp's text.
    #[allow(clippy::cast_sign_loss, reason = "remainders are not negative")]
    pub fn ascii(self) -> [u8; 32] {
        let (days, micros) = (
            self.0.div_euclid(MICROS_PER_DAY),
            self.0.rem_euclid(MICROS_PER_DAY),
        );
        let (year, month, day) = civil_from_days(days);
        let (seconds, micros) = ((micros / 1_000_000) as u32, (micros % 1_000_000) as u32);
        let mut text = *b"0000-00-00T00:00:00.000000+00:00";
        put(&mut text[0..4], year);
        put(&mut text[5..7], month);
        put(&mut text[8..10], day);
        put(&mut text[11..13], seconds / 3600);
        put(&mut text[14..16], seconds / 60 % 60);
        put(&mut text[17..19], seconds % 60);
        put(&mut text[20..26], micros);
        text
    }

    /// Reads the one spelling that [`Timestamp`] displays as, of the years 0000 to 9999.
    pub fn parse(text: &str) -> Option<Timestamp> {
        let digits = |range: Range<usize>| -> Option<i64> { text.get(range)?.parse().ok() };
        let days = days_from_civil(digits(0..4)?, digits(5..7)?, digits(8..10)?);
        let seconds = digits(11..13)? * 3600 + digits(14..16)? * 60 + digits(17..19)?;
        let time = Timestamp(days * MICROS_PER_DAY + seconds * 1_000_000 + digits(20..26)?);
        // Whatever is misspelt, out of range or behind the end would be written otherwise.
        (text.as_bytes() == time.ascii()).then_some(time)
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(std::str::from_utf8(&self.ascii()).map_err(|_| fmt::Error)?)
    }
}

fn put(digits: &mut [u8], mut number: u32) {
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (number % 10) as u8;
        number /= 10;
    }
}

/// The proleptic Gregorian date of a day number counted from 1970-01-01. Years are counted from March, so that
/// the leap day is the last of its year; 719,468 days lie between 0000-03-01 and 1970-01-01.
#[allow(clippy::cast_sign_loss, reason = "no year that is written has a sign")]
fn civil_from_days(days: i64) -> (u32, u32, u32) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month_from_march = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    let month = if month_from_march < 10 {
        month_from_march + 3
    } else {
        month_from_march - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    (year as u32, month as u32, day as u32)
}

/// The day number of a date, counted from 1970-01-01; the reverse of [`civil_from_days`].
fn days_from_civil(year: i64, month: i64, day: i64) -> i64 {
    let (year, month_from_march) = if month > 2 {
        (year, month - 3)
    } else {
        (year - 1, month + 9)
    };
    let (era, year_of_era) = (year.div_euclid(400), year.rem_euclid(400));
    let day_of_year = (153 * month_from_march + 2) / 5 + day - 1;
    era * 146_097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_have_six_fractional_digits() {
        let rows = [
            (0, "1970-01-01T00:00:00.000000+00:00"),
            (1_790_816_469_606_993, "2026-10-01T01:01:09.606993+00:00"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001+00:00"),
            (-1, "1969-12-31T23:59:59.999999+00:00"),
            (4_102_444_799_999_999, "2099-12-31T23:59:59.999999+00:00"),
        ];
        for (micros, expected) in rows {
            assert_eq!(Timestamp(micros).to_string(), expected);
            assert_eq!(Timestamp::parse(expected), Some(Timestamp(micros)));
        }
    }

    #[test]
    fn every_day_reads_back() {
        for day in -719_528..2_932_897 {
            let time = Timestamp(day * MICROS_PER_DAY + day.rem_euclid(MICROS_PER_DAY));
            assert_eq!(Timestamp::parse(&time.to_string()), Some(time), "{time}");
        }
    }

    #[test]
    fn another_spelling_of_a_time_is_none() {
        let rows = [
            "",
            "2026-10-01",
            "2026-10-01T01:01:09.606993Z",
            "2026-10-01T01:01:09.606993-00:00",
            "2026-10-01T01:01:09.606993+01:00",
            "2026-10-01T01:01:09.60699+00:00",
            "2026-10-01T01:01:09.6069930+00:00",
            "2026-10-01t01:01:09.606993+00:00",
            "2026-10-01 01:01:09.606993+00:00",
            " 2026-10-01T01:01:09.606993+00:00",
            "2026-10-01T01:01:09.606993+00:00 ",
            "2026-02-29T01:01:09.606993+00:00",
            "2026-13-01T01:01:09.606993+00:00",
            "2026-00-01T01:01:09.606993+00:00",
            "2026-10-01T24:00:00.000000+00:00",
            "2026-10-01T23:59:60.000000+00:00",
            "+026-10-01T01:01:09.606993+00:00",
            "2026-+1-01T01:01:09.606993+00:00",
            "2026-10-01T01:01:09.-06993+00:00",
            "２026-10-01T01:01:09.606993+00:00",
        ];
        for text in rows {
            assert_eq!(Timestamp::parse(text), None, "{text}");
        }
    }
}
