//! Dates, times and durations of RFC 3339.

/// `full-date`.
pub(super) fn is_date(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some([b'-', month @ .., b'-']), Some(day)) = (bytes.get(4..8), bytes.get(8..)) else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(&bytes[..4]), digits(month), digits(day)) else {
        return false;
    };
    bytes.len() == 10 && (1..=days(year, month)).contains(&day)
}

/// `full-time`. A leap second is one at 23:59:60 UTC, on any day.
pub(super) fn is_time(text: &str) -> bool {
    let bytes = text.as_bytes();
    let (Some([hour @ .., b':']), Some([minute @ .., b':']), Some(second)) =
        (bytes.get(..3), bytes.get(3..6), bytes.get(6..8))
    else {
        return false;
    };
    let (Some(hour), Some(minute), Some(second)) = (digits(hour), digits(minute), digits(second)) else {
        return false;
    };
    let rest = match &bytes[8..] {
        [b'.', fraction @ ..] => {
            let length = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if length == 0 {
                return false;
            }
            &fraction[length..]
        }
        rest => rest,
    };
    // Minutes from UTC to the local time.
    let offset = match rest {
        [b'Z' | b'z'] => 0,
        [sign @ (b'+' | b'-'), h1, h2, b':', m1, m2] => match (digits(&[*h1, *h2]), digits(&[*m1, *m2])) {
            (Some(hours @ 0..=23), Some(minutes @ 0..=59)) if *sign == b'+' => hours * 60 + minutes,
            (Some(hours @ 0..=23), Some(minutes @ 0..=59)) => -(hours * 60 + minutes),
            _ => return false,
        },
        _ => return false,
    };
    let in_utc = (hour * 60 + minute - offset).rem_euclid(24 * 60);
    hour <= 23 && minute <= 59 && (second <= 59 || (second == 60 && in_utc == 23 * 60 + 59))
}

/// `date-time`.
pub(super) fn is_date_time(text: &str) -> bool {
    let Some((date, rest)) = text.split_at_checked(10) else {
        return false;
    };
    rest.strip_prefix(['T', 't'])
        .is_some_and(|time| is_date(date) && is_time(time))
}

/// `duration` of appendix A: units in order, none left out between two, weeks alone.
pub(super) fn is_duration(text: &str) -> bool {
    let Some(text) = text.strip_prefix('P') else {
        return false;
    };
    match text.split_once('T') {
        Some((date, time)) => (date.is_empty() || are_units(date, "YMD")) && are_units(time, "HMS"),
        None => are_units(text, "YMD") || are_units(text, "W"),
    }
}

/// Whether a text is numbers, at least one, with consecutive units of these.
fn are_units(text: &str, units: &str) -> bool {
    let mut units = units.bytes();
    let mut rest = text.as_bytes();
    let mut first = true;
    while !rest.is_empty() {
        let length = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        let Some(unit) = rest.get(length) else {
            return false;
        };
        let follows = if first {
            units.any(|u| u == *unit)
        } else {
            units.next() == Some(*unit)
        };
        if length == 0 || !follows {
            return false;
        }
        rest = &rest[length + 1..];
        first = false;
    }
    !first
}

/// The number that ASCII digits spell, at most four.
fn digits(bytes: &[u8]) -> Option<i32> {
    let digit = |b: &u8| b.is_ascii_digit().then(|| i32::from(b - b'0'));
    bytes
        .iter()
        .take(5)
        .try_fold(0, |number, b| Some(number * 10 + digit(b)?))
}

/// How many days a month has; none when there is no such month.
fn days(year: i32, month: i32) -> i32 {
    match month {
        2 if year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    }
}
