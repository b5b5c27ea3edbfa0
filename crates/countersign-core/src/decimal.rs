//! Exact decimal arithmetic on the decimals that canonical forms spell (verification.md, section 6).
//!
//! Two canonical forms compare as their doubles do, so order and equality need nothing from here. Sums,
//! tolerances and `multipleOf` do: 0.1 + 0.2 equals 0.3, and 0.3 is a multiple of 0.1.

use crate::canonical::number_text;
use crate::json::Number;
use std::cmp::Ordering;

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
}

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

/// Decimal digits of one limb of a [`Sum`].
const LIMB_DIGITS: i32 = 9;
const LIMB: i64 = 1_000_000_000;
/// The exponent of the lowest limb's unit: no double spells a digit below 10^-342.
const LOWEST: i32 = -38 * LIMB_DIGITS;
/// From 10^-342 up to 10^342: a million of the largest doubles fit.
const LIMBS: usize = 76;

/// An exact sum of numbers: fixed point, 684 digits wide, since doubles need no more (section 6, item 5).
#[derive(Clone)]
pub struct Sum {
    /// Each limb may have either sign and run over until it is normalised; a million additions cannot
    /// overflow it.
    limbs: [i64; LIMBS],
    all_integer_literals: bool,
}

impl Default for Sum {
    fn default() -> Self {
        Sum {
            limbs: [0; LIMBS],
            all_integer_literals: true,
        }
    }
}

impl Sum {
    /// Adds a number.
    pub fn add(&mut self, number: Number) {
        self.add_decimal(Decimal::of(number), 1);
        self.all_integer_literals &= number.is_integer_literal();
    }

    /// Subtracts a number.
    pub fn subtract(&mut self, number: Number) {
        self.add_decimal(Decimal::of(number), -1);
        self.all_integer_literals &= number.is_integer_literal();
    }

    fn add_decimal(&mut self, decimal: Decimal, sign: i64) {
        let sign = if decimal.negative { -sign } else { sign };
        let shift = decimal.exponent - LOWEST;
        let mut limb = (shift / LIMB_DIGITS) as usize;
        let scale = 10u128.pow((shift % LIMB_DIGITS) as u32);
        let mut rest = u128::from(decimal.digits) * scale;
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
            limbs.iter_mut().for_each(|limb| *limb = -*limb);
            carry(&mut limbs);
        }
        (highest.cmp(&0), limbs)
    }

    /// How the sum compares with 0.
    pub fn sign(&self) -> Ordering {
        self.normalised().0
    }

    /// Whether the sum lies within `limit` of 0. `limit` must not be negative.
    pub fn is_within(&self, limit: Number) -> bool {
        let mut rest = Sum {
            limbs: self.normalised().1,
            all_integer_literals: true,
        };
        rest.subtract(limit);
        rest.sign() != Ordering::Greater
    }

    /// The sum as texts show it (section 6, item 7): an integer if every addend was an integer literal, else
    /// with at least one decimal; over 40 characters in scientific form with 17 significant digits.
    pub fn text(&self) -> String {
        let (sign, limbs) = self.normalised();
        let minus = if sign == Ordering::Less { "-" } else { "" };
        let all: String = limbs.iter().rev().map(|limb| format!("{limb:09}")).collect();
        let (whole, fraction) = all.split_at(all.len() - (-LOWEST) as usize);
        let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
        let whole_shown = if whole.is_empty() { "0" } else { whole };
        let plain = match fraction {
            "" if self.all_integer_literals => format!("{minus}{whole_shown}"),
            "" => format!("{minus}{whole_shown}.0"),
            fraction => format!("{minus}{whole_shown}.{fraction}"),
        };
        if plain.len() <= 40 {
            return plain;
        }
        let digits = all.trim_start_matches('0');
        let exponent = digits.len() as i32 - 1 + LOWEST;
        let (digits, exponent) = round_to_17(digits, exponent);
        let mark = if exponent < 0 { '-' } else { '+' };
        format!(
            "{minus}{}.{}e{mark}{}",
            &digits[..1],
            &digits[1..],
            exponent.unsigned_abs()
        )
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
        texts.iter().for_each(|text| sum.add(number(text)));
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
    fn long_sums_do_not_run_over() {
        let mut total = Sum::default();
        (0..600_000).for_each(|_| total.add(number("999999999.999999999")));
        (0..600_000).for_each(|_| total.subtract(number("999999999.999999999")));
        assert_eq!(total.sign(), Ordering::Equal);
        (0..1000).for_each(|_| total.subtract(number("0.001")));
        assert_eq!(total.text(), "-1.0");
    }
}
