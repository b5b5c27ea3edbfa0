//! Exact decimal arithmetic on the decimals that canonical forms spell (verification.md, section 6).
//!
//! Two canonical forms compare as their doubles do, so order and equality need nothing from here. Sums,
//! tolerances and `multipleOf` do: 0.1 + 0.2 equals 0.3, and 0.3 is a multiple of 0.1.

#![allow(
    clippy::cast_sign_loss,
    clippy::cast_possible_wrap,
    clippy::float_cmp,
    reason = "digits, exponents and limbs of doubles never fill a word; and only the very same double will do"
)]

use crate::canonical::number_text;
use crate::json::Number;
use std::cmp::Ordering;
use std::fmt::Write;

/// The decimal `±digits × 10^exponent` that a number's canonical form spells: at most 17 digits from the
/// shortest spelling, or up to 21 where an integer is written out, then with trailing zeros removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Decimal {
    negative: bool,
    digits: u64,
    exponent: i32,
}

impl Decimal {
    fn of(number: Number) -> Self {
        let value = number.value();
        if number.is_integer() && value.abs() < 1e15 {
            return Decimal {
                negative: value < 0.0,
                digits: value.abs() as u64,
                exponent: 0,
            };
        }
        if let Some(short) = Decimal::short(value) {
            return short;
        }
        let text = number_text(number);
        let (mantissa, written) = text.split_once('e').unwrap_or((&text, "0"));
        let mut exponent: i32 = written.parse().expect("ryu prints a small exponent");
        let mut digits: u64 = 0;
        let mut zeros = 0;
        let mut after_point = false;
        for byte in mantissa.bytes() {
            match byte {
                b'.' => after_point = true,
                b'0'..=b'9' => {
                    exponent -= i32::from(after_point);
                    // Trailing zeros wait until a digit follows, so that `digits` holds significant ones alone.
                    if byte == b'0' {
                        zeros += 1;
                    } else {
                        digits = digits * 10u64.pow(zeros + 1) + u64::from(byte - b'0');
                        zeros = 0;
                    }
                }
                _ => {}
            }
        }
        Decimal {
            negative: value < 0.0,
            digits,
            exponent: exponent + zeros as i32,
        }
    }

    /// The decimal of a fraction with few places, as money has, or of some billionths, as tolerances are. At
    /// most 15 digits that read back as the same double are the shortest spelling of it: no other decimal of 15
    /// digits does.
    fn short(value: f64) -> Option<Self> {
        const SCALES: [(f64, i32); 4] = [(10.0, 1), (100.0, 2), (1e3, 3), (1e4, 4)];
        let size = value.abs();
        let scales: &[(f64, i32)] = if size < 1e-4 { &[(1e9, 9)] } else { &SCALES };
        scales.iter().find_map(|(scale, places)| {
            let digits = (size * scale + 0.5) as u64;
            let is_it =
                digits < 1_000_000_000_000_000 && digits as f64 / scale == size && !digits.is_multiple_of(10);
            is_it.then_some(Decimal {
                negative: value < 0.0,
                digits,
                exponent: -places,
            })
        })
    }

    /// The decimal as a whole number of 10^`exponent`, if it is one and fits.
    fn in_units_of(self, exponent: i32) -> Option<i128> {
        let scale = POWERS.get(usize::try_from(self.exponent - exponent).ok()?)?;
        let units = scale.checked_mul(i128::from(self.digits))?;
        Some(if self.negative { -units } else { units })
    }
}

/// The powers of ten that an `i128` holds.
const POWERS: [i128; 39] = {
    let mut powers = [1; 39];
    let mut index = 1;
    while index < powers.len() {
        powers[index] = powers[index - 1] * 10;
        index += 1;
    }
    powers
};

/// Whether `value` is a whole multiple of `divisor`, decided on the decimals. False when `divisor` is 0.
pub fn is_multiple(value: Number, divisor: Number) -> bool {
    let (value, divisor) = (Decimal::of(value), Decimal::of(divisor));
    if divisor.digits == 0 {
        return false;
    }
    if value.digits == 0 {
        return true;
    }
    let shift = value.exponent - divisor.exponent;
    if shift < 0 {
        // value / divisor = digits / (divisor.digits × 10^-shift); `digits` is below 10^18.
        let scale = 10u128.checked_pow(shift.unsigned_abs());
        let divisor = scale.and_then(|scale| scale.checked_mul(u128::from(divisor.digits)));
        return divisor.is_some_and(|divisor| u128::from(value.digits) % divisor == 0);
    }
    let modulus = u128::from(divisor.digits);
    let mut rest = u128::from(value.digits) % modulus;
    let (mut power, mut base) = (shift, 10 % modulus);
    while power > 0 {
        if power & 1 == 1 {
            rest = rest * base % modulus;
        }
        base = base * base % modulus;
        power >>= 1;
    }
    rest == 0
}

/// The least double that spells a decimal of at least `a - b`; infinite where no finite one does, or all do.
///
/// So `x >= a - b` on the decimals is `x >= difference_up(a, b)` on doubles, and a tolerance reaches from `b` up
/// to `a` if it is at least `difference_up(a, b)`.
pub fn difference_up(a: Number, b: Number) -> f64 {
    if let Some(short) = short_difference(Decimal::of(a), Decimal::of(b)) {
        return short;
    }
    let mut exact = Sum::default();
    exact.add(a);
    exact.subtract(b);
    let nearest = exact.nearest();
    if nearest.is_infinite() {
        return nearest;
    }
    // Shortest spellings lie within half a step of their doubles, as `exact` does: no more than one step is
    // missing.
    exact.subtract(Number::new(nearest, false));
    if exact.sign() == Ordering::Greater {
        nearest.next_up()
    } else {
        nearest
    }
}

/// A difference of at most 15 digits: its nearest double spells it exactly.
fn short_difference(a: Decimal, b: Decimal) -> Option<f64> {
    let exponent = a.exponent.min(b.exponent);
    let difference = a.in_units_of(exponent)?.checked_sub(b.in_units_of(exponent)?)?;
    let scale = POWERS.get(usize::try_from(-exponent).ok()?)?;
    // Both are exact doubles, so the division rounds once.
    let short = difference.unsigned_abs() < 1_000_000_000_000_000 && exponent >= -22;
    short.then(|| difference as f64 / *scale as f64)
}

/// The exponent of the unit in which a [`Sum`] starts: sums up to 10^20 with 18 decimals.
const UNIT: i32 = -2 * LIMB_DIGITS;
/// Decimal digits of one limb of a [`Wide`] sum.
const LIMB_DIGITS: i32 = 9;
const LIMB: i64 = 1_000_000_000;
/// The exponent of the lowest limb's unit: no double spells a digit below 10^-342.
const LOWEST: i32 = -38 * LIMB_DIGITS;
/// From 10^-342 up to 10^342: a million of the largest doubles fit.
const LIMBS: usize = 76;

/// An exact sum of numbers: as wide as it takes (section 6, item 5).
#[derive(Clone)]
pub struct Sum {
    /// The sum in units of 10^[`UNIT`], while every addend fits.
    units: i128,
    /// The whole sum, from the first addend that does not fit.
    wide: Option<Box<Wide>>,
    all_integer_literals: bool,
}

impl Default for Sum {
    fn default() -> Self {
        Sum {
            units: 0,
            wide: None,
            all_integer_literals: true,
        }
    }
}

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, number: Number) {
        self.add_decimal(Decimal::of(number));
        self.all_integer_literals &= number.is_integer_literal();
    }

    /// Subtracts a number.
    pub fn subtract(&mut self, number: Number) {
        let decimal = Decimal::of(number);
        self.add_decimal(Decimal {
            negative: !decimal.negative,
            ..decimal
        });
        self.all_integer_literals &= number.is_integer_literal();
    }

    fn add_decimal(&mut self, decimal: Decimal) {
        let Some(wide) = &mut self.wide else {
            let sum = decimal
                .in_units_of(UNIT)
                .and_then(|units| self.units.checked_add(units));
            match sum {
                Some(sum) => self.units = sum,
                None => self.widened().add(decimal),
            }
            return;
        };
        wide.add(decimal);
    }

    fn widened(&mut self) -> &mut Wide {
        let units = self.units;
        self.wide.get_or_insert_with(|| {
            let mut wide = Box::new(Wide { limbs: [0; LIMBS] });
            wide.add_at(units.unsigned_abs(), UNIT, units < 0);
            wide
        })
    }

    /// How the sum compares with 0.
    pub fn sign(&self) -> Ordering {
        match &self.wide {
            None => self.units.cmp(&0),
            Some(wide) => wide.normalised().0,
        }
    }

    /// Whether the sum lies within `limit` of 0. `limit` must not be negative.
    pub fn is_within(&self, limit: Number) -> bool {
        if self.wide.is_none()
            && let Some(limit) = Decimal::of(limit).in_units_of(UNIT)
        {
            return self.units.unsigned_abs() <= limit.unsigned_abs();
        }
        let mut rest = self.clone();
        match &mut rest.wide {
            None => rest.units = rest.units.saturating_abs(),
            Some(wide) => wide.limbs = wide.normalised().1,
        }
        rest.subtract(limit);
        rest.sign() != Ordering::Greater
    }

    /// Hands over the sign, the digits of the absolute value without leading zeros, and the exponent of the last
    /// of them.
    fn with_digits<T>(&self, take: impl FnOnce(Ordering, &str, i32) -> T) -> T {
        let Some(wide) = &self.wide else {
            let mut buffer = itoa::Buffer::new();
            let digits = buffer.format(self.units.unsigned_abs());
            return take(self.units.cmp(&0), digits.trim_start_matches('0'), UNIT);
        };
        let (sign, limbs) = wide.normalised();
        let mut digits = String::with_capacity(LIMBS * LIMB_DIGITS as usize);
        for limb in limbs.iter().rev() {
            // Writing to a String cannot fail.
            let _ = write!(digits, "{limb:09}");
        }
        take(sign, digits.trim_start_matches('0'), LOWEST)
    }

    /// The double nearest to the sum, ties to even; infinite beyond the largest.
    fn nearest(&self) -> f64 {
        self.with_digits(|sign, digits, exponent| {
            let text = format!("0{digits}e{exponent}");
            let nearest: f64 = text.parse().expect("digits and an exponent");
            if sign == Ordering::Less { -nearest } else { nearest }
        })
    }

    /// The sum as texts show it (section 6, item 7): an integer if every addend was an integer literal, else
    /// with at least one decimal; over 40 characters in scientific form with 17 significant digits.
    pub fn text(&self) -> String {
        self.with_digits(|sign, digits, exponent| spell(sign, digits, exponent, self.all_integer_literals))
    }
}

/// Spells `digits × 10^exponent`; the exponent is not positive.
fn spell(sign: Ordering, digits: &str, exponent: i32, as_integer: bool) -> String {
    let minus = if sign == Ordering::Less { "-" } else { "" };
    let places = exponent.unsigned_abs() as usize;
    let (whole, fraction) = digits.split_at(digits.len().saturating_sub(places));
    let mut plain = String::with_capacity(48);
    plain.push_str(minus);
    plain.push_str(if whole.is_empty() { "0" } else { whole });
    let zeros = places - fraction.len();
    match fraction.trim_end_matches('0') {
        "" if as_integer => {}
        "" => plain.push_str(".0"),
        fraction => {
            plain.push('.');
            plain.extend(std::iter::repeat_n('0', zeros));
            plain.push_str(fraction);
        }
    }
    if plain.len() <= 40 {
        return plain;
    }
    let first = digits.len() as i32 - 1 + exponent;
    let (digits, first) = round_to_17(digits, first);
    let mark = if first < 0 { '-' } else { '+' };
    let (one, others) = digits.split_at(1);
    format!("{minus}{one}.{others}e{mark}{}", first.unsigned_abs())
}

/// A fixed-point number 684 digits wide, since sums of doubles need no more.
#[derive(Clone)]
struct Wide {
    /// Each limb may have either sign and run over until it is normalised; a million additions cannot
    /// overflow it.
    limbs: [i64; LIMBS],
}

impl Wide {
    fn add(&mut self, decimal: Decimal) {
        self.add_at(u128::from(decimal.digits), decimal.exponent, decimal.negative);
    }

    /// Adds `size × 10^exponent`. `size` fits in 64 bits, or `exponent` is that of a limb.
    fn add_at(&mut self, size: u128, exponent: i32, negative: bool) {
        let sign = if negative { -1 } else { 1 };
        let shift = exponent - LOWEST;
        let mut limb = (shift / LIMB_DIGITS) as usize;
        let mut rest = size * 10u128.pow((shift % LIMB_DIGITS) as u32);
        while rest > 0 {
            self.limbs[limb] += sign * (rest % LIMB as u128) as i64;
            rest /= LIMB as u128;
            limb += 1;
        }
    }

    /// The sign, and the limbs of the absolute value, each in `0..LIMB`.
    fn normalised(&self) -> (Ordering, [i64; LIMBS]) {
        let mut limbs = self.limbs;
        carry(&mut limbs);
        let highest = limbs.iter().rev().find(|limb| **limb != 0).copied().unwrap_or(0);
        if highest < 0 {
            for limb in &mut limbs {
                *limb = -*limb;
            }
            carry(&mut limbs);
        }
        (highest.cmp(&0), limbs)
    }
}

fn carry(limbs: &mut [i64; LIMBS]) {
    let highest = limbs.iter().rposition(|limb| *limb != 0).unwrap_or(0);
    let negative = limbs[highest] < 0;
    for index in 0..LIMBS - 1 {
        // All limbs below the highest take its sign, so that the sign of the whole can be read off it.
        let (mut up, mut rest) = (limbs[index] / LIMB, limbs[index] % LIMB);
        if rest < 0 && !negative {
            (up, rest) = (up - 1, rest + LIMB);
        } else if rest > 0 && negative {
            (up, rest) = (up + 1, rest - LIMB);
        }
        if index >= highest && up == 0 {
            limbs[index] = rest;
            break;
        }
        limbs[index] = rest;
        limbs[index + 1] += up;
    }
}

/// The first 17 digits, rounded half to even, and the exponent of the first of them.
fn round_to_17(digits: &str, exponent: i32) -> (String, i32) {
    let padded = format!("{digits:0<18}");
    let (kept, rest) = padded.split_at(17);
    let mut number: u64 = kept.parse().expect("17 digits fit in 64 bits");
    let half = rest.bytes().next().cmp(&Some(b'5')).then_with(|| {
        if rest[1..].bytes().all(|b| b == b'0') {
            Ordering::Equal
        } else {
            Ordering::Greater
        }
    });
    if half == Ordering::Greater || (half == Ordering::Equal && number % 2 == 1) {
        number += 1;
    }
    match number.to_string() {
        over if over.len() > 17 => (over[..17].to_owned(), exponent + 1),
        text => (text, exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::read;

    fn number(text: &str) -> Number {
        read(text.as_bytes()).unwrap().as_number().unwrap()
    }

    fn sum(texts: &[&str]) -> Sum {
        let mut sum = Sum::default();
        for text in texts {
            sum.add(number(text));
        }
        sum
    }

    #[test]
    fn multiples_are_decided_on_decimals() {
        let rows = [
            ("4.02", "0.01", true),
            ("-0.059", "0.001", true),
            ("1070468.14", "0.01", true),
            ("1070468.141", "0.01", false),
            ("0.3", "0.1", true),
            ("1e308", "1e-308", true),
            ("1e-308", "1e308", false),
            ("0", "0.1", true),
            ("9", "2", false),
            ("1.5", "0.5", true),
            ("0.0075", "0.0001", true),
            ("0.00751", "0.0001", false),
            ("123456789", "1e-8", true),
            ("1e308", "0.123456789", false),
            ("12", "-4", true),
            ("5e-324", "5e-324", true),
            ("1", "3", false),
            ("1", "0", false),
            ("100000000000000000000", "30", false),
            ("300000000000000000000", "30", true),
        ];
        for (value, divisor, expected) in rows {
            assert_eq!(
                is_multiple(number(value), number(divisor)),
                expected,
                "{value} of {divisor}"
            );
        }
    }

    #[test]
    fn sums_are_exact_and_spelled_as_section_6_says() {
        let rows: [(&[&str], &str); 16] = [
            (&["0.1", "0.2"], "0.3"),
            (&["185.76", "14.29"], "200.05"),
            (&["87.0", "42.5"], "129.5"),
            (&["1", "2"], "3"),
            (&["1", "2.0"], "3.0"),
            (&[], "0"),
            (&["-1", "1"], "0"),
            (&["-1.0", "1"], "0.0"),
            (&["1e300"], "1.0000000000000000e+300"),
            (&["8468852.54", "2254372.60"], "10723225.14"),
            (&["5e-324"], "5.0000000000000000e-324"),
            (&["-0.5", "0.25"], "-0.25"),
            (&["1e21", "-1"], "999999999999999999999.0"),
            (&["1000000000", "-1"], "999999999"),
            (&["-1000000000", "1"], "-999999999"),
            (
                &["1.7976931348623157e308", "1.7976931348623157e308"],
                "3.5953862697246314e+308",
            ),
        ];
        for (addends, expected) in rows {
            assert_eq!(sum(addends).text(), expected, "{addends:?}");
        }
    }

    #[test]
    fn scientific_form_rounds_half_to_even() {
        let rows: [(&[&str], &str); 4] = [
            (&["1e40", "5e23"], "1.0000000000000000e+40"),
            (&["1e40", "5e23", "1e-300"], "1.0000000000000001e+40"),
            (&["1e40", "15e23"], "1.0000000000000002e+40"),
            (&["1e41", "-1e23"], "1.0000000000000000e+41"),
        ];
        for (addends, expected) in rows {
            assert_eq!(sum(addends).text(), expected, "{addends:?}");
        }
    }

    #[test]
    fn tolerance_is_exact_at_its_edge() {
        let mut off = sum(&["0.1", "0.2"]);
        off.subtract(number("0.31"));
        assert!(off.is_within(number("0.01")));
        assert!(!off.is_within(number("0.009999999999999")));
        assert_eq!(off.sign(), Ordering::Less);
        let mut far = sum(&["1e308"]);
        far.subtract(number("5e-324"));
        assert_eq!(far.sign(), Ordering::Greater);
        assert!(far.is_within(number("1e308")));
        far.add(number("1e-323"));
        assert!(!far.is_within(number("1e308")));
    }

    #[test]
    fn a_sum_may_grow_wide_and_shrink_again() {
        let mut total = sum(&["0.1", "1e300", "0.2", "-1e300"]);
        assert_eq!(total.text(), "0.3");
        total.subtract(number("0.3"));
        assert_eq!(total.sign(), Ordering::Equal);
        let rows: [(&[&str], &str); 4] = [
            (
                &["99999999999999999999.0", "1e20", "1e20"],
                "300000000000000000000.0",
            ),
            (
                &["0.000000000000000001", "0.0000000000000000001"],
                "0.0000000000000000011",
            ),
            (
                &["-170000000000000000000", "-170000000000000000000"],
                "-340000000000000000000",
            ),
            (
                &["100000000000000000000", "0.1234567890123456", "-1.0"],
                "99999999999999999999.1234567890123456",
            ),
        ];
        for (addends, expected) in rows {
            assert_eq!(sum(addends).text(), expected, "{addends:?}");
        }
    }

    #[test]
    fn differences_are_rounded_up_to_a_double_that_spells_enough() {
        let rows = [
            ("1", "0.9", "0.1"),
            ("0.3", "0.1", "0.2"),
            ("-0.1", "0.2", "-0.3"),
            ("5", "5.0", "0"),
            ("1e21", "1", "1e21"),
            ("5e-324", "0", "5e-324"),
            ("1.5e-323", "1e-323", "5e-324"),
            ("1", "1e-300", "1"),
            ("1", "-1e-300", "1.0000000000000002"),
            ("0.12345678901234566", "0.1", "0.02345678901234566"),
            ("1.7976931348623157e308", "-1e-300", "inf"),
            ("1e308", "-1e308", "inf"),
            ("-1e308", "1e308", "-inf"),
        ];
        for (a, b, expected) in rows {
            let expected: f64 = expected.parse().unwrap();
            assert_eq!(difference_up(number(a), number(b)), expected, "{a} - {b}");
        }
    }

    #[test]
    fn a_difference_rounded_up_parts_the_doubles_as_the_exact_one_does() {
        let reaches = |x: f64, a: Number, b: Number| {
            let mut missing = Sum::default();
            missing.add(a);
            missing.subtract(b);
            missing.subtract(Number::new(x, false));
            missing.sign() != Ordering::Greater
        };
        let mut state: u64 = 1;
        let mut next = |spread: u64| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let digits = (state >> 11) % 10u64.pow((state >> 60) as u32 % 15 + 2);
            let exponent = (state >> 20) % spread;
            let sign = if state >> 63 == 0 { "" } else { "-" };
            number(&format!("{sign}{digits}.0e-{exponent}"))
        };
        for round in 0..20_000 {
            let spread = [20, 40, 330][round % 3];
            let (a, b) = (next(spread), next(spread));
            let edge = difference_up(a, b);
            assert!(reaches(edge, a, b), "{a:?} - {b:?} = {edge}");
            assert!(!reaches(edge.next_down(), a, b), "{a:?} - {b:?} = {edge}");
        }
    }

    #[test]
    fn short_decimals_are_what_the_spelling_says() {
        let mut value = 0.0001;
        for step in 0..30_000u32 {
            value = value * 1.000_123 + f64::from(step % 7) / 1000.0;
            for value in [
                value,
                -(value * 100.0).round() / 100.0,
                (value * 10_000.0).round() / 10_000.0,
            ] {
                let number = Number::new(value, false);
                let decimal = Decimal::of(number);
                let minus = if decimal.negative { "-" } else { "" };
                let spelled = format!("{minus}{}e{}", decimal.digits, decimal.exponent);
                assert_eq!(spelled.parse::<f64>().unwrap(), value, "{spelled}");
                let digits = number_text(number).bytes().filter(u8::is_ascii_digit).count();
                assert!(decimal.digits.to_string().len() <= digits, "{spelled} of {value}");
            }
        }
    }

    #[test]
    fn long_sums_do_not_run_over() {
        let mut total = Sum::default();
        (0..600_000).for_each(|_| total.add(number("999999999.999999999")));
        (0..600_000).for_each(|_| total.subtract(number("999999999.999999999")));
        assert_eq!(total.sign(), Ordering::Equal);
        (0..1000).for_each(|_| total.subtract(number("0.001")));
        assert_eq!(total.text(), "-1.0");
    }
}
